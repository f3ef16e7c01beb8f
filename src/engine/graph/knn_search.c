/* Nearest neighbours among all rows, or among some of them. SPDX-License-Identifier: BSD-3-Clause
 *
 * policy.c decides how many rows are searched. If these are not all, they are drawn like landmarks (landmarks.c): one
 * from each run of about equal length. A graph of such lists joins every sample to its nearest candidates, and
 * samples to each other through candidates. */
#include "engine/graph/landmarks.h"
#include "engine/graph/policy.h"

kdr_status kdri_knn_products(kdr_context *ctx, const kdr_mat *x, double *out)
{
	kdr_status st = KDR_OK;
	int64_t n = kdr_mat_rows(x), d = kdr_mat_cols(x), *rows_with = NULL;
	double products = 0;
	if (x->kind == KDR_MAT_DENSE) {
		*out = (double)n * (double)n * (double)d;
		return KDR_OK;
	}
	KDRI_TRY(KDRI_NEW(ctx, &rows_with, d));
	kdri_mat_col_counts(ctx, x, rows_with);
	for (int64_t j = 0; j < d; j++)
		products += (double)rows_with[j] * (double)rows_with[j];
	*out = products;
done:
	kdri_free(ctx, rows_with);
	return st;
}

/* The first k of the lists `found`, whose indices are landmarks, without the rows themselves. */
static void take_candidates(const kdri_knn *found, const kdri_landmarks *l, kdri_knn *out)
{
	for (int64_t i = 0; i < found->rows; i++)
		for (int64_t p = 0, at = 0; p < found->k && at < out->k; p++) {
			const int32_t a = found->index[i * found->k + p];
			const int64_t j = a < 0 ? -1 : l->number[a];
			if (j == i)
				continue;
			out->index[i * out->k + at] = (int32_t)j;
			out->value[i * out->k + at++] = found->value[i * found->k + p];
		}
}

kdr_status kdri_knn_find_some(kdr_context *ctx, const kdr_mat *x, int64_t k, int64_t count,
                              kdri_metric metric, const kdri_knn_shift *shift, kdri_knn *out)
{
	kdr_status st;
	kdri_landmarks l = { .rows.view = kdr_mat_from_dense(NULL, 0, 0) };
	kdri_knn found = { 0 }, lists = { .rows = kdr_mat_rows(x), .k = KDRI_MIN(k, count - 1) };
	kdri_knn_shift theirs = { .square = shift ? shift->square : 0 };
	int64_t size;
	KDRI_TRY(kdri_landmarks_new(ctx, x, NULL, 1, count, 0, &l));
	KDRI_TRY(KDRI_NEW(ctx, &theirs.products, count));
	for (int64_t a = 0; a < count && shift; a++)
		theirs.products[a] = shift->products[l.number[a]];
	KDRI_TRY(kdri_knn_among(ctx, x, shift, &l.rows.view, shift ? &theirs : NULL, lists.k + 1, metric,
	                        &found));
	KDRI_TRY(kdri_mul(ctx, lists.rows, lists.k, &size));
	KDRI_TRY(KDRI_NEW(ctx, &lists.index, size));
	KDRI_TRY(KDRI_NEW(ctx, &lists.value, size));
	take_candidates(&found, &l, &lists);
	*out = lists;
	lists = (kdri_knn){ 0 };
done:
	kdri_landmarks_free(ctx, &l);
	kdri_knn_shift_free(ctx, &theirs);
	kdri_knn_free(ctx, &found);
	kdri_knn_free(ctx, &lists);
	return st;
}

kdr_status kdri_knn_search(kdr_context *ctx, const kdr_mat *x, int64_t k, kdri_metric metric,
                           const kdri_knn_shift *shift, kdri_knn *out, int64_t *candidates)
{
	kdr_status st = kdri_search_candidates(ctx, x, metric, candidates);
	if (st != KDR_OK)
		return st;
	return k < 1 || *candidates == kdr_mat_rows(x)
	               ? kdri_knn_find_shifted(ctx, x, k, metric, shift, out)
	               : kdri_knn_find_some(ctx, x, k, *candidates, metric, shift, out);
}
