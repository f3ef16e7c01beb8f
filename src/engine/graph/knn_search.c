/* Nearest neighbours, exactly where that is soon done. SPDX-License-Identifier: BSD-3-Clause
 *
 * All pairs take n^2 d multiplications, or as many as pairs of rows share columns; above what a core does in ten seconds or
 * so the descent of knn_descent.c takes their place, which grows with n log n, and says what share of the true neighbours it
 * found. */
#include "engine/graph/knn.h"
#include "engine/graph/knn_device.h"
#include "engine/graph/knn_tree.h"

static const double most_dense = 1e11, most_sparse = 5e9;

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
	kdri_mat_col_counts(x, rows_with);
	for (int64_t j = 0; j < d; j++)
		products += (double)rows_with[j] * (double)rows_with[j];
	*out = products;
done:
	kdri_free(ctx, rows_with);
	return st;
}

kdr_status kdri_knn_search(kdr_context *ctx, const kdr_mat *x, int64_t k, kdri_metric metric, kdri_knn *out,
                           double *recall)
{
	kdr_status st;
	bool exact = metric == KDRI_METRIC_EUCLIDEAN && kdri_knn_tree_pays(x);
	if (!exact) {
		double products;
		KDRI_TRY(kdri_knn_products(ctx, x, &products));
		exact = products <= (x->kind == KDR_MAT_DENSE ? most_dense : most_sparse);
	}
	*recall = 1;
	if (!exact && k > 0)
		KDRI_TRY(kdri_knn_device_pays(ctx, x, &exact));
	if (exact || k < 1)
		KDRI_TRY(kdri_knn_find(ctx, x, k, metric, out));
	else
		KDRI_TRY(kdri_knn_descent(ctx, x, k, metric, NULL, out, recall));
done:
	return st;
}
