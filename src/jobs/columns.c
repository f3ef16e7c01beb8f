/* Refuses sparse data with more columns than memory can hold numbers for. SPDX-License-Identifier: BSD-3-Clause */
#include "core/system.h"
#include "jobs/job.h"
#include "matrix/rows.h"

/* Without a limit: the system may swap. */
static const double times_machine = 2;

kdr_status kdri_check_columns(kdr_context *ctx, kdr_data *const *sets, int64_t count, int64_t k)
{
	/* Alignment, preprocessing and cluster profiles; smaller amounts are not checked. */
	static const double each = 6, shared = 6, least = 1 << 26;
	kdr_status st = KDR_OK;
	int32_t *used = NULL;
	int64_t found = 0;
	const kdr_data *widest = sets[0];
	for (int64_t t = 1; t < count; t++)
		widest = sets[t]->cols > widest->cols ? sets[t] : widest;
	const bool limited = ctx->max_memory > 0;
	const double arrays = each * (double)count + shared + 2 * (double)KDRI_MAX(k, 1),
	             bytes = 8 * arrays * (double)widest->cols,
	             most = limited ? ctx->max_memory : times_machine * kdri_memory_total();
	const kdr_mat x = kdr_data_mat(widest);
	if (ctx->comm || x.kind != KDR_MAT_CSR || bytes < least || !(most > 0) || bytes <= most)
		return KDR_OK;
	KDRI_TRY(kdri_columns_used(ctx, &x, &used, &found));
	st = kdri_fail(
	        ctx, KDR_ERR_MEMORY,
	        "%s has %lld columns, %lld of them with values; statistics of the columns need %.3g GB of memory, more than "
	        "%s; renumber the columns with values",
	        widest->name, (long long)widest->cols, (long long)found, bytes / 1e9,
	        limited ? "--max-memory allows" : "this machine has");
done:
	kdri_free(ctx, used);
	return st;
}
