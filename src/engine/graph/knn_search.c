/* Nearest neighbours, exactly where that is soon done. SPDX-License-Identifier: BSD-3-Clause
 *
 * All pairs take
 *
 *   (E1)  w = n^2 d  of dense rows,   w = sum_j f_j^2 + n^2  of sparse ones, f_j rows in column j: products of columns that pairs
 *         share, and a comparison a pair
 *
 * steps. Beyond some number of them, half a minute or so of one core, the descent of knn_descent.c takes their place, which grows with
 * n log n, and says what share of the true neighbours it found. On x86-64 it overtakes all pairs of texts (20 words of 100,000,
 * 60 of 50,000 and 200 of 20,000) where w is 2.5e10 to 4e10, and then finds .64 to .99 of them; of 20, 50 and 200 dense columns near 8e10, where it finds .70
 * to .88. On arm64 all pairs of texts were faster as far as they were tried, to 1e10. */
#include "engine/graph/knn.h"
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
	bool exact = k < 1;
	if (!exact)
		KDRI_TRY(kdri_search_is_exact(ctx, x, metric, &exact));
	*recall = 1;
	if (exact)
		KDRI_TRY(kdri_knn_find(ctx, x, k, metric, out));
	else
		KDRI_TRY(kdri_knn_descent(ctx, x, k, metric, NULL, out, recall));
done:
	return st;
}

/* --- memory --------------------------------------------------------------------------------------- */

/* An edge may be in both directions: the graph has at most twice as many entries as the lists. */
double kdri_knn_graph_bytes(const kdri_extent *x, double k, kdri_metric metric, kdri_decided exact,
                            int threads, double *kept)
{
	const double lists = 12 * x->n * k,
	             making = 2 * lists + 16 * x->n * k, /* weights of edges, and edges by their end */
	        centred = metric == KDRI_METRIC_COSINE ? 0 : 8 * x->entries,
	             all = 16 * x->n + (x->dense ? centred : 12 * x->entries + 8 * x->n * threads),
	             some = kdri_knn_descent_bytes(x, k, threads);
	*kept = 2 * lists + 8 * x->n;
	return KDRI_MAX(*kept + making,
	                lists + KDRI_MAX(exact ? all : 0, exact == KDRI_DECIDED_YES ? 0 : some));
}
