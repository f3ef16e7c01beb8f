/* The members of a transfer's ensemble. SPDX-License-Identifier: BSD-3-Clause
 *
 * Half of them use Z, where source and target are not moved, and half use E, where each is centred;
 * docs/notes/transfer.md explains why both are needed. The posterior of an SVM with scores s is softmax(2 s). */
#include <stdlib.h>

#include "core/numbers.h"
#include "engine/forest/forest.h"
#include "engine/graph/knn.h"
#include "engine/kmeans/kmeans.h"
#include "engine/linear/aligned.h"
#include "engine/linear/linear.h"
#include "matrix/linalg.h"
#include "methods/transfer_auto/auto_transfer.h"

/* Members that vote on tables only: columns in different units.
 *
 *   forest             random forest on the original columns
 *   forest-standard    the same, numbers standardised in each data set
 *   extra-trees        extremely random trees, d/3 columns per split, on the columns and their ranks in each data set
 *   forest-self        random forest on the same columns, self-trained: the most certain half of the target's
 *                      predictions, then 0.8 of each predicted class
 *   logreg-raw         logistic regression of cost 1, columns standardised on the sources, rows not scaled
 *
 * Numbers are columns with more than two values; the others are categories or flags, which are not standardised.
 * Forests balance the classes and have leaves of at least 5 rows. They have 500 trees, or 100 to predict held-out
 * samples and data other than tables, and fewer for many rows: trees times labelled rows stay below 1e7, except for
 * the first 50 trees. */

enum { TREES = 500, QUICK_TREES = 100, LEAST_TREES = 50 };
static const double most_tree_rows = 1e7;

/* --- columns --------------------------------------------------------------------------------------------- */

/* The number of sorted values below v, or up to v. */
static int64_t count_below(const double *sorted, int64_t n, double v, bool equal)
{
	int64_t low = 0, high = n;
	while (low < high) {
		int64_t middle = low + (high - low) / 2;
		if (sorted[middle] < v || (equal && sorted[middle] == v))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

kdr_status kdri_mid_ranks(kdr_context *ctx, const double *values, int64_t n, int64_t stride, double *ranks)
{
	kdr_status st;
	double *sorted = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &sorted, n));
	for (int64_t i = 0; i < n; i++)
		sorted[i] = values[i * stride];
	qsort(sorted, (size_t)n, sizeof *sorted, kdri_compare_doubles);
	for (int64_t i = 0; i < n; i++) {
		double v = values[i * stride];
		ranks[i * stride] =
		        (double)(count_below(sorted, n, v, false) + count_below(sorted, n, v, true)) /
		        (2 * (double)n);
	}
done:
	kdri_free(ctx, sorted);
	return st;
}

/* Whether column j of x (n x width) has more than two values. */
static bool is_number(const double *x, int64_t n, int64_t width, int64_t j)
{
	double first = x[j], second = first;
	for (int64_t i = 1; i < n; i++) {
		double v = x[i * width + j];
		if (v == first || v == second)
			continue;
		if (second != first)
			return true;
		second = v;
	}
	return false;
}

/* Column j of rows begin .. end - 1 by the mean and standard deviation of rows from .. to - 1. */
static void standardise(double *x, int64_t width, int64_t j, int64_t from, int64_t to, int64_t begin,
                        int64_t end)
{
	double mean = 0, square = 0, count = (double)(to - from);
	for (int64_t i = from; i < to; i++)
		mean += x[i * width + j] / count;
	for (int64_t i = from; i < to; i++)
		square += (x[i * width + j] - mean) * (x[i * width + j] - mean) / count;
	for (int64_t i = begin; i < end; i++)
		x[i * width + j] = (x[i * width + j] - mean) / (square > 0 ? sqrt(square) : 1);
}

typedef enum columns { STANDARD_EACH, STANDARD_ON_SOURCES, WITH_RANKS } columns;

/* The stacked rows as a dense matrix, with the requested columns. */
static kdr_status table_columns(kdr_context *ctx, const kdri_domains *d, columns kind, kdri_own *out)
{
	kdr_status st;
	const kdr_mat *from = &d->set.x.view;
	int64_t n = d->n, cols = kdr_mat_cols(from), width = kind == WITH_RANKS ? 2 * cols : cols, size,
	        first = kdri_transfer_first(d);
	double *x = NULL;
	KDRI_TRY(kdri_mul(ctx, n, width, &size));
	KDRI_TRY(KDRI_NEW0(ctx, &x, size));
	for (int64_t i = 0; i < n; i++) {
		kdri_entries row = kdri_row_entries(from, i);
		for (int64_t e = 0; e < row.count; e++)
			x[i * width + kdri_entry_column(&row, e)] = row.val[e];
	}
	for (int64_t j = 0; j < cols; j++) {
		if (kind == STANDARD_ON_SOURCES) {
			/* The target's rows last: the sources' own are needed until then. */
			standardise(x, width, j, 0, first, first, n);
			standardise(x, width, j, 0, first, 0, first);
			continue;
		}
		if (!is_number(x, n, width, j))
			continue; /* its ranks stay zeros, which no tree can split */
		for (int64_t t = 0; t < d->ntasks; t++) {
			int64_t begin = d->begin[t], end = d->begin[t + 1];
			if (kind == STANDARD_EACH)
				standardise(x, width, j, begin, end, begin, end);
			else
				KDRI_TRY(kdri_mid_ranks(ctx, x + begin * width + j, end - begin, width,
				                        x + begin * width + cols + j));
		}
	}
	*out = (kdri_own){ kdr_mat_from_dense(x, n, width), { x } };
	x = NULL;
done:
	kdri_free(ctx, x);
	return st;
}

/* --- members --------------------------------------------------------------------------------------------- */

typedef struct grove {
	const kdri_transfer_work *t;
	const kdr_mat *x;
	kdri_forest_options o;
} grove;

static const char stage[] = "members";

static kdri_forest_options forest_options(const kdri_transfer_work *t, uint64_t stream)
{
	kdri_forest_options o = kdri_forest_defaults();
	const double room = most_tree_rows / (double)KDRI_MAX(t->d->known, 1);
	o.trees = t->quick || !t->tables ? QUICK_TREES : TREES;
	o.trees = KDRI_MIN(o.trees, (int64_t)KDRI_MAX(room, LEAST_TREES));
	o.stage = "trees";
	o.stream = stream;
	return o;
}

static kdr_status grow_and_predict(kdr_context *ctx, void *user, const int64_t *labels, const double *weights,
                                   double *p)
{
	kdr_status st;
	const grove *g = user;
	kdri_forest f = { 0 };
	KDRI_TRY(kdri_forest_fit(ctx, g->x, labels, weights, g->t->d->classes, &g->o, &f));
	KDRI_TRY(kdri_forest_predict(ctx, &f, g->x, p));
done:
	kdri_forest_free(ctx, &f);
	return st;
}

static kdr_status transfer_forest(kdr_context *ctx, kdri_transfer_work *t, double *p)
{
	grove g = { t, &t->d->set.x.view, forest_options(t, KDRI_TRANSFER_FOREST) };
	return grow_and_predict(ctx, &g, t->d->labels, NULL, p);
}

static kdr_status transfer_forest_standard(kdr_context *ctx, kdri_transfer_work *t, double *p)
{
	kdr_status st;
	kdri_own x = { .view = kdr_mat_from_dense(NULL, 0, 0) };
	grove g = { t, &x.view, forest_options(t, KDRI_TRANSFER_FOREST_STANDARD) };
	KDRI_TRY(table_columns(ctx, t->d, STANDARD_EACH, &x));
	KDRI_TRY(grow_and_predict(ctx, &g, t->d->labels, NULL, p));
done:
	kdri_own_free(ctx, &x);
	return st;
}

static kdr_status transfer_extra_trees(kdr_context *ctx, kdri_transfer_work *t, double *p)
{
	kdr_status st;
	kdri_own x = { .view = kdr_mat_from_dense(NULL, 0, 0) };
	grove g = { t, &x.view, forest_options(t, KDRI_TRANSFER_EXTRA_TREES) };
	g.o.bootstrap = false;
	g.o.random_splits = true;
	g.o.features = 1.0 / 3;
	KDRI_TRY(table_columns(ctx, t->d, WITH_RANKS, &x));
	KDRI_TRY(grow_and_predict(ctx, &g, t->d->labels, NULL, p));
done:
	kdri_own_free(ctx, &x);
	return st;
}

static kdr_status transfer_forest_self(kdr_context *ctx, kdri_transfer_work *t, double *p)
{
	static const double shares[] = { 0.5, 0.8 };
	kdr_status st;
	kdri_own x = { .view = kdr_mat_from_dense(NULL, 0, 0) };
	grove g = { t, &x.view, forest_options(t, KDRI_TRANSFER_FOREST_SELF) };
	KDRI_TRY(table_columns(ctx, t->d, WITH_RANKS, &x));
	KDRI_TRY(grow_and_predict(ctx, &g, t->d->labels, NULL, p));
	const kdri_self_training s = {
		.rest = { .x = &x.view, .labels = t->d->labels, .classes = t->d->classes, .stage = "trees" },
		.unlabelled = t->d->unlabelled,
		.shares = shares,
		.rounds = sizeof shares / sizeof shares[0],
		.train = grow_and_predict,
		.user = &g,
	};
	KDRI_TRY(kdri_self_train(ctx, &s, NULL, p));
done:
	kdri_own_free(ctx, &x);
	return st;
}

static kdr_status transfer_logreg_raw(kdr_context *ctx, kdri_transfer_work *t, double *p)
{
	kdr_status st;
	int64_t c = t->d->classes;
	kdri_own x = { .view = kdr_mat_from_dense(NULL, 0, 0) };
	KDRI_TRY(table_columns(ctx, t->d, STANDARD_ON_SOURCES, &x));
	KDRI_TRY(kdri_transfer_logistic(ctx, t->d, &x.view, 1, p));
	kdri_rest_soften(ctx, p, t->d->n, c, c == 2 ? 0.5 : 1); /* of two classes the scores are z and -z */
done:
	kdri_own_free(ctx, &x);
	return st;
}
static const double costs[] = { 0.03, 0.1, 0.3, 1 };
enum { COSTS = sizeof costs / sizeof costs[0] };
static const double svm_steepness = 2, cosine_steepness = 6, first_cost = 10;

void kdri_transfer_work_free(kdr_context *ctx, kdri_transfer_work *t)
{
	KDRI_FREE(ctx, t->w, t->scores, t->first_e);
}

static kdri_rest rest_of(const kdri_domains *d, const kdr_mat *x, kdri_loss loss, double cost, bool free_bias)
{
	return (kdri_rest){ .x = x,
		            .labels = d->labels,
		            .weights = NULL,
		            .classes = d->classes,
		            .loss = loss,
		            .cost = cost,
		            .free_bias = free_bias,
		            .stage = stage };
}

static kdr_status classify(kdr_context *ctx, kdri_rest r, double *p)
{
	kdr_status st;
	double *w = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &w, kdri_rest_size(&r)));
	KDRI_TRY(kdri_rest_train(ctx, &r, w));
	KDRI_TRY(kdri_rest_scores(ctx, &r, w, p));
done:
	kdri_free(ctx, w);
	return st;
}

kdr_status kdri_transfer_classify(kdr_context *ctx, const kdri_domains *d, const kdr_mat *x, kdri_loss loss,
                                  double cost, bool free_bias, double *p)
{
	return classify(ctx, rest_of(d, x, loss, cost, free_bias), p);
}

kdr_status kdri_transfer_logistic(kdr_context *ctx, const kdri_domains *d, const kdr_mat *x, double cost,
                                  double *p)
{
	kdri_rest r = rest_of(d, x, KDRI_LOSS_LOGISTIC, cost, true);
	r.joint = true;
	return classify(ctx, r, p);
}

/* One row of each of `most` runs of about equal length of the labelled ones: x and labels of these. */
static kdr_status take_labelled(kdr_context *ctx, const kdri_rest *r, int64_t known, int64_t most,
                                kdri_own *x, int64_t *labels)
{
	kdr_status st;
	int64_t *rows = NULL, n = kdr_mat_rows(r->x), at = 0, count = 0;
	kdri_rng rng = kdri_rng_stream(ctx->seed, "labelled", 0);
	KDRI_TRY(KDRI_NEW(ctx, &rows, most));
	for (int64_t i = 0, next = -1; i < n && count < most; i++) {
		if (r->labels[i] < 0)
			continue;
		if (next < kdri_chunk_begin(known, most, count))
			next = kdri_chunk_draw(&rng, known, most, count);
		if (at++ == next) {
			labels[count] = r->labels[i];
			rows[count++] = i;
		}
	}
	KDRI_TRY(kdri_mat_take(ctx, r->x, rows, most, x));
done:
	kdri_free(ctx, rows);
	return st;
}

kdr_status kdri_transfer_folds(kdr_context *ctx, const kdri_transfer_views *v, const kdri_rest *r,
                               const double *cost, int64_t count, double *best, double *right)
{
	kdr_status st;
	kdri_own x = { .view = kdr_mat_from_dense(NULL, 0, 0) };
	int64_t *labels = NULL, known = 0;
	for (int64_t i = 0; i < kdr_mat_rows(r->x); i++)
		known += r->labels[i] >= 0;
	if (!v->graph.landmarks || known <= KDRI_TRANSFER_TELLING)
		return kdri_cost_by_folds(ctx, r, cost, count, best, right);
	kdri_rest some = *r;
	KDRI_TRY(KDRI_NEW(ctx, &labels, KDRI_TRANSFER_TELLING));
	KDRI_TRY(take_labelled(ctx, r, known, KDRI_TRANSFER_TELLING, &x, labels));
	some.x = &x.view;
	some.labels = labels;
	KDRI_TRY(kdri_cost_by_folds(ctx, &some, cost, count, best, right));
done:
	kdri_own_free(ctx, &x);
	kdri_free(ctx, labels);
	return st;
}

/* --- nearest neighbours ------------------------------------------------------------------------------ */

/* The proportion of each class among the nearest labelled rows of Z, at most MOST_KNOWN of which are searched. */
static kdr_status neighbours(kdr_context *ctx, kdri_transfer_work *t, double *p)
{
	enum { NEAREST = 5, MOST_KNOWN = 20000 };
	kdr_status st;
	const int64_t c = t->d->classes, first = kdri_transfer_first(t->d), n = kdri_transfer_count(t->d),
	              some = KDRI_MIN(t->d->known, MOST_KNOWN), k = KDRI_MIN(some, NEAREST);
	const kdri_rest r = rest_of(t->d, &t->v->z.view, KDRI_LOSS_LOGISTIC, 1, false);
	const kdr_mat target = kdri_rows(&t->v->z.view, first, first + n);
	kdri_own known = { .view = kdr_mat_from_dense(NULL, 0, 0) };
	int64_t *labels = NULL;
	kdri_knn found = { 0 };
	KDRI_TRY(KDRI_NEW(ctx, &labels, some));
	KDRI_TRY(take_labelled(ctx, &r, t->d->known, some, &known, labels));
	KDRI_TRY(kdri_knn_among(ctx, &target, NULL, &known.view, NULL, k, KDRI_METRIC_EUCLIDEAN, &found));
	memset(p + first * c, 0, (size_t)(n * c) * sizeof *p);
	for (int64_t i = 0; i < n; i++)
		for (int64_t e = 0; e < k; e++) {
			const int32_t near = found.index[i * k + e];
			if (near >= 0)
				p[(first + i) * c + labels[near]] += 1 / (double)k;
		}
done:
	kdri_knn_free(ctx, &found);
	kdri_own_free(ctx, &known);
	kdri_free(ctx, labels);
	return st;
}

static void members_copy(double *to, const double *from, int64_t count)
{
	memcpy(to, from, (size_t)count * sizeof *to);
}

static kdr_mat rows_e(const kdri_transfer_work *t)
{
	return kdr_mat_from_dense(t->v->e, t->d->n, t->v->width);
}

/* --- on Z -------------------------------------------------------------------------------------------- */

static kdr_status need_svm(kdr_context *ctx, kdri_transfer_work *t)
{
	kdr_status st = KDR_OK;
	kdri_rest r = rest_of(t->d, &t->v->z.view, KDRI_LOSS_SQUARED_HINGE, 1, t->v->free_bias);
	double *w = NULL, *scores = NULL, right[COSTS];
	if (t->scores)
		return KDR_OK;
	KDRI_TRY(KDRI_NEW0(ctx, &w, kdri_rest_size(&r)));
	KDRI_TRY(KDRI_NEW(ctx, &scores, t->d->n * t->d->classes));
	KDRI_TRY(kdri_transfer_folds(ctx, t->v, &r, costs, COSTS, &r.cost, right));
	for (int k = 0; k < COSTS; k++)
		if (costs[k] == r.cost)
			t->right = right[k];
	KDRI_TRY(kdri_rest_train(ctx, &r, w));
	KDRI_TRY(kdri_rest_scores(ctx, &r, w, scores));
	t->cost = r.cost;
	t->w = w;
	t->scores = scores;
	w = scores = NULL;
done:
	KDRI_FREE(ctx, w, scores);
	return st;
}

static kdr_status svm(kdr_context *ctx, kdri_transfer_work *t, double *p)
{
	KDRI_DO(need_svm(ctx, t));
	members_copy(p, t->scores, t->d->n * t->d->classes);
	kdri_rest_soften(ctx, p, t->d->n, t->d->classes, svm_steepness);
	return KDR_OK;
}

static kdr_status logreg(kdr_context *ctx, kdri_transfer_work *t, double *p)
{
	int64_t c = t->d->classes;
	KDRI_DO(kdri_transfer_logistic(ctx, t->d, &t->v->z.view, 1, p));
	kdri_rest_soften(ctx, p, t->d->n, c, c == 2 ? 0.5 : 1); /* of two classes the scores are z and -z */
	return KDR_OK;
}

static kdri_self_training self_of(const kdri_transfer_work *t, const kdri_rest *r, const double *shares,
                                  int64_t rounds)
{
	return (kdri_self_training){
		.rest = *r, .unlabelled = t->d->unlabelled, .shares = shares, .rounds = rounds
	};
}

static kdr_status self_z(kdr_context *ctx, kdri_transfer_work *t, const double *shares, bool shifted,
                         double *p)
{
	kdr_status st;
	double *w = NULL;
	KDRI_TRY(need_svm(ctx, t));
	kdri_rest r = rest_of(t->d, &t->v->z.view, KDRI_LOSS_SQUARED_HINGE, t->cost, t->v->free_bias);
	const kdri_self_training s = self_of(t, &r, shares, 3);
	KDRI_TRY(KDRI_NEW(ctx, &w, kdri_rest_size(&r)));
	members_copy(w, t->w, kdri_rest_size(&r));
	members_copy(p, t->scores, t->d->n * t->d->classes);
	if (shifted)
		KDRI_TRY(kdri_self_shift(ctx, &s, t->d->source, t->share, p));
	KDRI_TRY(kdri_self_train(ctx, &s, w, p));
	kdri_rest_soften(ctx, p, t->d->n, t->d->classes, svm_steepness);
done:
	kdri_free(ctx, w);
	return st;
}

static kdr_status self_training(kdr_context *ctx, kdri_transfer_work *t, double *p)
{
	static const double shares[] = { 0.5, 0.8, 1 };
	return self_z(ctx, t, shares, false, p);
}

static kdr_status shifted_self_training(kdr_context *ctx, kdri_transfer_work *t, double *p)
{
	static const double shares[] = { 0.3, 0.6, 0.9 };
	return self_z(ctx, t, shares, true, p);
}

/* --- on E -------------------------------------------------------------------------------------------- */

static kdr_status aligned_self_training(kdr_context *ctx, kdri_transfer_work *t, double *p)
{
	static const double shares[] = { 0.2, 0.4, 0.6, 0.8, 0.9 };
	kdr_status st;
	kdr_mat e = rows_e(t);
	kdri_rest r = rest_of(t->d, &e, KDRI_LOSS_SQUARED_HINGE, 1, false);
	double *w = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &w, kdri_rest_size(&r)));
	KDRI_TRY(kdri_transfer_folds(ctx, t->v, &r, costs, COSTS, &r.cost, NULL));
	KDRI_TRY(kdri_rest_train(ctx, &r, w));
	KDRI_TRY(kdri_rest_scores(ctx, &r, w, p));
	const kdri_self_training s = self_of(t, &r, shares, 5);
	KDRI_TRY(kdri_self_train(ctx, &s, w, p));
	kdri_rest_soften(ctx, p, t->d->n, t->d->classes, svm_steepness);
done:
	kdri_free(ctx, w);
	return st;
}

static kdr_status aligned_ridge(kdr_context *ctx, kdri_transfer_work *t, double *p)
{
	kdr_mat e = rows_e(t);
	const kdri_op graph = kdri_transfer_graph_op(&t->v->joint);
	if (!t->first_e)
		KDRI_DO(KDRI_NEW(ctx, &t->first_e, t->d->n));
	KDRI_DO(kdri_transfer_logistic(ctx, t->d, &e, first_cost, p));
	kdri_rest_answer(ctx, p, t->d->n, t->d->classes, t->first_e);
	const kdri_aligned_ridge a = { .e = t->v->e,
		                       .n = t->d->n,
		                       .width = t->v->width,
		                       .classes = t->d->classes,
		                       .labels = t->d->labels,
		                       .source = t->d->source,
		                       .unlabelled = t->d->unlabelled,
		                       .start = t->first_e,
		                       .graph = &graph,
		                       .smooth = 0.1,
		                       .ridge = 0.1,
		                       .rounds = 5 };
	return kdri_aligned_ridge_run(ctx, &a, p);
}

/* Sums of E over the known rows of each class: directions are all that counts. */
static kdr_status class_sums(kdr_context *ctx, const kdri_transfer_work *t, double **out)
{
	int64_t r = t->v->width;
	double *sums = NULL;
	KDRI_DO(KDRI_NEW0(ctx, &sums, t->d->classes * r));
	for (int64_t i = 0; i < t->d->n; i++)
		if (t->d->labels[i] >= 0)
			kdri_axpy(1, t->v->e + i * r, sums + t->d->labels[i] * r, r);
	*out = sums;
	return KDR_OK;
}

/* Cosine k-means of the target, started from the source's classes. */
static kdr_status seeded_kmeans(kdr_context *ctx, kdri_transfer_work *t, double *p)
{
	kdr_status st;
	int64_t c = t->d->classes, r = t->v->width, first = kdri_transfer_first(t->d),
	        n = kdri_transfer_count(t->d);
	double *centres = NULL;
	kdri_kmeans_result found = { 0 };
	kdr_mat x = kdr_mat_from_dense(t->v->e + first * r, n, r);
	kdri_kmeans_options o = kdri_kmeans_defaults(c);
	KDRI_TRY(class_sums(ctx, t, &centres));
	for (int64_t k = 0; k < c; k++) {
		double length = sqrt(kdri_nrm2sq(centres + k * r, r));
		for (int64_t j = 0; j < r; j++)
			centres[k * r + j] /= length > 0 ? length : 1;
	}
	if (n >= c) {
		o.spherical = true;
		o.init_centres = centres;
		o.stage = NULL;
		KDRI_TRY(kdri_kmeans(ctx, &x, NULL, &o, &found));
		members_copy(centres, found.centres, c * r);
	}
	KDRI_TRY(
	        kdri_gemm(ctx, false, true, n, c, r, 1, x.as.dense.data, r, centres, r, 0, p + first * c, c));
	kdri_rest_soften(ctx, p + first * c, n, c, cosine_steepness);
done:
	kdri_kmeans_free(ctx, &found);
	kdri_free(ctx, centres);
	return st;
}

static kdr_status prototypes(kdr_context *ctx, kdri_transfer_work *t, double *p)
{
	kdr_status st;
	int64_t r = t->v->width, first = kdri_transfer_first(t->d);
	double *mu = NULL;
	KDRI_TRY(class_sums(ctx, t, &mu));
	const kdri_prototypes o = { .e = t->v->e + first * r,
		                    .n = kdri_transfer_count(t->d),
		                    .width = r,
		                    .classes = t->d->classes,
		                    .share = t->share,
		                    .blur = 0.1,
		                    .rounds = 8,
		                    .steps = 50 };
	KDRI_TRY(kdri_prototypes_run(ctx, &o, mu, p + first * t->d->classes));
done:
	kdri_free(ctx, mu);
	return st;
}

/* --- the table --------------------------------------------------------------------------------------- */

const kdri_transfer_member kdri_transfer_members[KDRI_TRANSFER_MEMBERS] = {
	[KDRI_TRANSFER_SVM] = { .name = "svm", .run = svm },
	[KDRI_TRANSFER_LOGREG] = { .name = "logistic regression", .run = logreg },
	[KDRI_TRANSFER_SELF_TRAINING] = { .name = "self-training", .run = self_training },
	[KDRI_TRANSFER_SHIFTED] = { .name = "self-training, shifted",
	                            .centres = true,
	                            .run = shifted_self_training },
	[KDRI_TRANSFER_ALIGNED] = { .name = "self-training, aligned",
	                            .centres = true,
	                            .on_e = true,
	                            .run = aligned_self_training },
	[KDRI_TRANSFER_RIDGE] = { .name = "aligned ridge",
	                          .centres = true,
	                          .on_e = true,
	                          .joint = true,
	                          .run = aligned_ridge },
	[KDRI_TRANSFER_KMEANS] = { .name = "k-means from the classes",
	                           .centres = true,
	                           .on_e = true,
	                           .run = seeded_kmeans },
	[KDRI_TRANSFER_PROTOTYPES] = { .name = "prototypes by transport",
	                               .centres = true,
	                               .on_e = true,
	                               .run = prototypes },
	[KDRI_TRANSFER_NMTF] = { .name = "tri-factorisation", .run = kdri_transfer_factors },
	[KDRI_TRANSFER_MSDA] = { .name = "denoised features",
	                         .run = kdri_transfer_layers,
	                         .able = kdri_transfer_layers_able },
	[KDRI_TRANSFER_LOGREG_RAW] = { .name = "logistic regression, rows not scaled",
	                               .tables = true,
	                               .run = transfer_logreg_raw },
	[KDRI_TRANSFER_FOREST] = { .name = "random forest",
	                           .tables = true,
	                           .curved = true,
	                           .run = transfer_forest },
	[KDRI_TRANSFER_FOREST_STANDARD] = { .name = "random forest, standardised",
	                                    .tables = true,
	                                    .centres = true,
	                                    .run = transfer_forest_standard },
	[KDRI_TRANSFER_EXTRA_TREES] = { .name = "extra trees", .tables = true, .run = transfer_extra_trees },
	[KDRI_TRANSFER_FOREST_SELF] = { .name = "random forest, self-trained",
	                                .tables = true,
	                                .run = transfer_forest_self },
	[KDRI_TRANSFER_NEIGHBOURS] = { .name = "nearest neighbours", .curved = true, .run = neighbours },
};
