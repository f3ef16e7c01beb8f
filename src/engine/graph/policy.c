/* Decisions about graphs. SPDX-License-Identifier: BSD-3-Clause
 *
 * Words. Less than a tenth of the entries are not zero, and none is negative. Among the collections in docs/notes/auto.md,
 * texts have at most .037 of their entries, images and molecule counts at least .288.
 *
 * Measurements. At most 64 columns, and a quarter of the entries or more are not zero, or some are negative. The images
 * and molecule counts have 256 columns and more, so that any number between those of common tables and 256 gives the
 * same results.
 *
 * Exact search. All pairs of rows take
 *
 *   (E1)  w = n^2 d  for dense rows,  w = sum_j f_j^2 + n^2  for sparse ones, f_j rows in column j
 *
 * steps: products of the columns that pairs share, and a comparison for each pair. For clusters the search is exact up to
 * 10,000 dense rows or 5e9 steps of dense rows (10,000 samples of 50 columns) and 2e9 of sparse rows (some 20,000 texts of
 * 60 words). Beyond that, landmarks give the same NMI: .585 against .586 in the mean of 17 collections (docs/notes/auto.md). At these limits
 * both take about as long: auto takes 1.1 s of processor time with neighbours and 0.9 s with landmarks for 10,000 rows of 50
 * columns, 5.7 s and 2.3 s for 30,000, and 19 s for 20ng_full (1.6e9 steps) with either. The graphs of transfer join source and target, and
 * are exact up to 2e11 and 5e10 steps. The search is also exact if a tree makes it fast. A device does not change the
 * decision, so that labels do not depend on it.
 *
 * Candidates. Methods that need lists of neighbours (gfhf, llgc, aligned-ridge, maps, graph=neighbours) have no
 * substitute that is as good: among 2000 candidates gfhf loses .13 of its accuracy on 20ng_full (docs/notes/graphs.md).
 * So their search is exact up to 2e12 steps of dense rows (200,000 samples of 50 columns) and 2e11 of sparse rows,
 * minutes on one core. Beyond that it uses as many of the samples as keep the work at this limit, and at least 2000.
 *
 * Number of landmarks. 2000 (the default of the option), or 3 for each cluster if that is more: a cluster without
 * landmarks cannot be found. In the mean of the eight collections of docs/notes/auto.md that were measured with all three,
 * 1000 landmarks have an NMI of .516, 2000 of .530 and 4000 of .536, at eight times the work for their spectrum.
 *
 * Landmarks for each sample, compared with neighbours: twice as many for words, half as many for rows less their mean,
 * as many for all others. Two texts on the same subject have hardly more words in common with the nearest landmark than
 * with the twentieth: 20 instead of 10 raise the NMI of normalised cuts from .441 to .873 (20ng_comp_vs_sci). For
 * images less their mean, 5 give .748 and 10 give .703 (mnist_crop). Measurements and rows that are not centred keep
 * 10: overlapping blobs have .525 with 10 and .48 with 5. */
#include "engine/graph/similarity.h"

#include "engine/graph/knn.h"
#include "engine/graph/landmarks.h"

enum { FEW_COLUMNS = 64, LANDMARKS_A_CLUSTER = 3, LEAST_CANDIDATES = 2000, FEW_ROWS = 10000 };
static const double words_share = 0.1, measurements_share = 0.25;

bool kdri_looks_like_words(const kdri_traits *t)
{
	return !t->negative && t->nonzero < words_share * t->cells;
}

bool kdri_looks_like_measurements(const kdri_traits *t)
{
	return t->cols <= FEW_COLUMNS && (t->negative || t->nonzero >= measurements_share * t->cells);
}

static double most_steps(bool dense, double rows, kdri_instead instead)
{
	if (instead == KDRI_INSTEAD_CANDIDATES)
		return dense ? 2e12 : 2e11;
	if (instead == KDRI_INSTEAD_WALKS || (dense && rows <= FEW_ROWS))
		return dense ? 2e11 : 5e10;
	return dense ? 5e9 : 2e9;
}

/* The fraction of the rows that the search can use as candidates; 1: all of them. */
static kdr_status search_share(kdr_context *ctx, const kdr_mat *x, kdri_metric metric, kdri_instead instead,
                               double *out)
{
	const bool dense = x->kind == KDR_MAT_DENSE;
	const double n = (double)kdr_mat_rows(x);
	double steps;
	*out = 1;
	if (metric == KDRI_METRIC_EUCLIDEAN && kdri_knn_tree_pays(x))
		return KDR_OK;
	KDRI_DO(kdri_knn_products(ctx, x, &steps));
	steps += dense ? 0 : n * n; /* (E1) */
	*out = KDRI_MIN(1, most_steps(dense, n, instead) / steps);
	return KDR_OK;
}

kdr_status kdri_search_is_exact(kdr_context *ctx, const kdr_mat *x, kdri_metric metric, kdri_instead instead,
                                bool *out)
{
	double share = 0;
	kdr_status st = search_share(ctx, x, metric, instead, &share);
	*out = share == 1;
	return st;
}

kdr_status kdri_search_candidates(kdr_context *ctx, const kdr_mat *x, kdri_metric metric, int64_t *out)
{
	double share = 1;
	kdr_status st = search_share(ctx, x, metric, KDRI_INSTEAD_CANDIDATES, &share);
	const int64_t n = kdr_mat_rows(x);
	*out = share == 1 ? n : KDRI_MIN(n, KDRI_MAX(LEAST_CANDIDATES, (int64_t)((double)n * share)));
	return st;
}

int64_t kdri_landmark_count(int64_t requested, int64_t clusters)
{
	return KDRI_MAX(requested, LANDMARKS_A_CLUSTER * clusters);
}

int64_t kdri_landmarks_each(kdri_samples kind, int64_t neighbors)
{
	return kind == KDRI_SAMPLES_WORDS     ? 2 * neighbors
	       : kind == KDRI_SAMPLES_CENTRED ? KDRI_MAX(neighbors / 2, 1)
	                                      : neighbors;
}

/* Nearest neighbours among all rows, or among some of them.
 *
 * If not all rows are searched, the candidates are drawn like landmarks (landmarks.c): one
 * from each run of about equal length. A graph of such lists joins every sample to its nearest candidates, and
 * samples to each other through candidates. */

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
	/* The first k of the lists `found`, whose indices are landmarks, without the rows themselves. */
	for (int64_t i = 0; i < found.rows; i++)
		for (int64_t p = 0, at = 0; p < found.k && at < lists.k; p++) {
			const int32_t a = found.index[i * found.k + p];
			const int64_t j = a < 0 ? -1 : l.number[a];
			if (j == i)
				continue;
			lists.index[i * lists.k + at] = (int32_t)j;
			lists.value[i * lists.k + at++] = found.value[i * found.k + p];
		}
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
	               ? kdri_knn_find(ctx, x, k, metric, shift, out)
	               : kdri_knn_find_some(ctx, x, k, *candidates, metric, shift, out);
}
