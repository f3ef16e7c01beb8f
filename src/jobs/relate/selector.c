/* kdr_train_selector: learning which bridges help, from labelled data sets. SPDX-License-Identifier: BSD-3-Clause */
#include "jobs/job.h"
#include "jobs/relate/relate.h"
#include "prepare/prep.h"

kdr_status kdr_train_selector(kdr_context *ctx, kdr_data *const *sets, int64_t count,
                              const kdr_prep_options *prep, kdr_selector *out)
{
	kdr_status st;
	kdr_data **own = NULL;
	kdr_mat *x = NULL;
	const int64_t **known = NULL;
	int64_t classes = 0;
	if (!ctx || !out)
		return KDR_ERR_ARGUMENT;
	if (!sets || count < 3)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT,
		                 "a selection model needs at least 3 data sets; %lld given",
		                 (long long)count);
	KDRI_TRY(kdri_check_sets(ctx, "a selection model", sets, count, 3));
	KDRI_TRY(KDRI_NEW(ctx, &own, count));
	KDRI_TRY(KDRI_NEW(ctx, &x, count));
	KDRI_TRY(KDRI_NEW(ctx, &known, count));
	memcpy(own, sets, (size_t)count * sizeof(kdr_data *));
	for (int64_t i = 0; i < count; i++)
		if (!kdr_data_labels(own[i]))
			KDRI_FAIL(ctx, KDR_ERR_ARGUMENT,
			          "data set '%s' has no classes; a selection model needs labelled data sets",
			          kdr_data_name(own[i]));
	KDRI_TRY(kdr_data_merge_classes(ctx, own, count));
	KDRI_TRY(kdr_prepare(ctx, own, count, prep, NULL));
	for (int64_t i = 0; i < count; i++) {
		x[i] = kdr_data_mat(own[i]);
		known[i] = kdr_data_labels(own[i]);
		kdr_data_classes(own[i], &classes);
	}
	KDRI_TRY(kdri_selector_train(ctx, x, known, count, classes, NULL, out));
done:
	KDRI_FREE(ctx, own, x, known);
	return st;
}
