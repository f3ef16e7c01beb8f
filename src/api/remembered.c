/* Samples that a model keeps, so that data sets can be added to it later. SPDX-License-Identifier: BSD-3-Clause
 *
 * With n samples with a label, n_c of them in cluster c of k, and room for M of them, n > M:
 *
 *     (E1)  f_c = min(n_c, floor(M / 10 k))                       of each cluster in any case
 *     (E2)  f_c + floor((M - sum f) (n_c - f_c) / (n - sum f))    are kept, drawn without replacement */
#include "api/remembered.h"

#include "matrix/linalg.h"

enum { RESERVED = 10 };

bool kdri_remembers(const kdr_algo *algo)
{
	return strcmp(algo->called ? algo->called : algo->id, "auto") == 0;
}

/* (E1) and (E2) */
void kdri_remember_quotas(const int64_t *size, int64_t k, int64_t most, int64_t *quota)
{
	int64_t reserved = 0, n = 0;
	for (int64_t c = 0; c < k; c++) {
		quota[c] = KDRI_MIN(size[c], most / RESERVED / k);
		reserved += quota[c];
		n += size[c];
	}
	for (int64_t c = 0; c < k; c++)
		quota[c] = n <= most ? size[c]
		                     : quota[c] + (int64_t)((double)(most - reserved) *
		                                            (double)(size[c] - quota[c]) /
		                                            (double)KDRI_MAX(n - reserved, 1));
}

kdr_status kdri_remember(kdr_context *ctx, const kdr_data *data, const int64_t *labels, int64_t k,
                         int64_t most, kdr_data **out)
{
	kdr_status st;
	int64_t *size = NULL, *quota = NULL, *rows = NULL, *kept = NULL, count = 0;
	kdr_data *some = NULL;
	kdri_own x = { .view = kdr_mat_from_dense(NULL, 0, 0) };
	const kdr_mat all = kdr_data_mat(data);
	KDRI_TRY(KDRI_NEW0(ctx, &size, k));
	KDRI_TRY(KDRI_NEW0(ctx, &quota, k));
	KDRI_TRY(KDRI_NEW(ctx, &rows, data->rows));
	for (int64_t i = 0; i < data->rows; i++)
		if (labels[i] >= 0)
			size[labels[i]]++;
	kdri_remember_quotas(size, k, most, quota);
	kdri_rng rng = kdri_rng_stream(ctx->seed, "remember", 0);
	for (int64_t i = 0; i < data->rows; i++) {
		const int64_t c = labels[i];
		/* Each of the size[c] rows that are left of the cluster is among the quota[c] with the same probability. */
		if (c < 0 || kdri_rng_below(&rng, size[c]--) >= quota[c])
			continue;
		quota[c]--;
		rows[count++] = i;
	}
	KDRI_TRY(kdri_mat_take(ctx, &all, rows, count, &x));
	KDRI_TRY(kdr_data_new(ctx, data->name, &x.view, NULL, &some));
	KDRI_TRY(KDRI_NEW(ctx, &kept, count));
	for (int64_t i = 0; i < count; i++)
		kept[i] = labels[rows[i]];
	some->labels = kept;
	kept = NULL;
	*out = some;
	some = NULL;
done:
	kdr_data_free(some);
	kdri_own_free(ctx, &x);
	KDRI_FREE(ctx, size, quota, rows, kept);
	return st;
}
