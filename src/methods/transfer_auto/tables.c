/* Members that vote on tables only: columns in different units. SPDX-License-Identifier: BSD-3-Clause
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
#include "methods/transfer_auto/tables.h"

#include "core/numbers.h"
#include "engine/forest/forest.h"
#include "engine/linear/self_training.h"
#include "matrix/rows.h"

#include <stdlib.h>

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

kdr_status kdri_transfer_forest(kdr_context *ctx, kdri_transfer_work *t, double *p)
{
	grove g = { t, &t->d->set.x.view, forest_options(t, KDRI_TRANSFER_FOREST) };
	return grow_and_predict(ctx, &g, t->d->labels, NULL, p);
}

kdr_status kdri_transfer_forest_standard(kdr_context *ctx, kdri_transfer_work *t, double *p)
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

kdr_status kdri_transfer_extra_trees(kdr_context *ctx, kdri_transfer_work *t, double *p)
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

kdr_status kdri_transfer_forest_self(kdr_context *ctx, kdri_transfer_work *t, double *p)
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

kdr_status kdri_transfer_logreg_raw(kdr_context *ctx, kdri_transfer_work *t, double *p)
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
