/* Marker features of clusters: tests of the features that distinguish a cluster, and their means and shares in every
 * cluster. SPDX-License-Identifier: BSD-3-Clause
 *
 * For each column that is not constant, and each cluster with n1 of the n samples, n2 = n - n1, R the sum of the ranks of its samples
 * in the column, equal values having their mean rank, and tie groups of t samples:
 *
 * (E1) U = R - n1 (n1 + 1) / 2                                                  Wilcoxon's rank-sum test [Mann & Whitney 1947]
 * (E2) s^2 = n1 n2 / 12 (n + 1 - sum over tie groups of (t^3 - t) / (n (n - 1)))
 * (E3) p = 2 P(Z > (|U - n1 n2 / 2| - 1/2) / s), at most 1, Z standard normal: two-sided, with correction for continuity
 * (E4) adjusted p of the i-th smallest of m p-values = min over j >= i of p_j m / j     [Benjamini & Hochberg 1995], m columns
 *
 * Adjustment is over all columns of a cluster. P-values are exploratory: the clusters were made from the same data, so that even
 * clusters of noise have small ones. In data sets with more than MOST_ENTRIES entries or MOST_ROWS rows, only every
 * second, third, ... sample of each cluster is tested. Rows on several ranks are not tested.
 *
 * Markers for the report are the features with the largest positive effect of each cluster, with the mean and the share of samples
 * that have the feature in every cluster: an entry other than 0 in data such as counts (words.c), else a stored one above the column's
 * mean.
 *
 * Time: O(nnz log n + k d log d), memory: a copy of the tested entries, and 8 bytes for each column and cluster up to MOST_VALUES. */
#include "comm/comm.h"
#include "core/numbers.h"
#include "jobs/job.h"
#include "jobs/say/say.h"
#include "matrix/linalg.h"

#include <stdlib.h>

enum { MOST_ENTRIES = 2000000, MOST_ROWS = 200000, MOST_VALUES = 1 << 24, MOST_EACH = 3, MOST_MARKERS = 48 };

/* Numbers of a cache line, or more. */
enum { CACHE_LINE = 16 };

/* --- ranks ---------------------------------------------------------------------------------------------- */

typedef struct ranked {
	double value; /* first: sorted by it */
	int64_t cluster;
} ranked;

typedef struct tests {
	kdr_context *ctx;
	int64_t n, d, k;
	int64_t *rows, *cluster,
	        *size;             /* tested samples, their clusters, and how many a cluster has of them */
	kdri_own taken, turned;    /* these rows; columns as rows */
	int64_t first, count;      /* the clusters at work */
	double *p;                 /* count x d; NaN: a constant column */
	ranked *room;              /* 2 n for each thread */
	double *sums;              /* k for each thread */
	double *sorted, *adjusted; /* d */
} tests;

static void tests_free(tests *w)
{
	KDRI_FREE(w->ctx, w->rows, w->cluster, w->size);
	kdri_own_free(w->ctx, &w->taken);
	kdri_own_free(w->ctx, &w->turned);
	KDRI_FREE(w->ctx, w->p, w->room, w->sums, w->sorted, w->adjusted);
}

/* The p-value from the sum of the ranks and that of t^3 - t. */
static double rank_sum_p(double rank_sum, double n1, double n, double ties)
{
	double n2 = n - n1, u = rank_sum - n1 * (n1 + 1) / 2;            /* (E1) */
	double variance = n1 * n2 / 12 * (n + 1 - ties / (n * (n - 1))); /* (E2) */
	if (!(n1 > 0 && n2 > 0 && variance > 0))
		return NAN;
	return KDRI_MIN(1, erfc((fabs(u - n1 * n2 / 2) - 0.5) / sqrt(2 * variance))); /* (E3) */
}

/* The bits of a value as a number that is larger for larger values. */
static uint64_t order_of(double value)
{
	uint64_t bits;
	memcpy(&bits, &value, sizeof bits);
	return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

/* Sorts by value, the lowest byte first if there are many; returns the sorted list, which is either of the two. */
static ranked *sort_values(ranked *list, ranked *spare, int64_t n)
{
	enum { BYTES = 8, BITS = 8, DIGITS = 1 << BITS, FEW = 1000 };
	int64_t count[BYTES][DIGITS] = { { 0 } };
	if (n < FEW) {
		qsort(list, (size_t)n, sizeof *list, kdri_compare_doubles);
		return list;
	}
	for (int64_t i = 0; i < n; i++)
		for (int b = 0; b < BYTES; b++)
			count[b][order_of(list[i].value) >> (BITS * b) & (DIGITS - 1)]++;
	for (int b = 0; b < BYTES; b++) {
		int64_t *to = count[b], at = 0;
		if (to[order_of(list[0].value) >> (BITS * b) & (DIGITS - 1)] == n)
			continue; /* they all have the same */
		for (int v = 0; v < DIGITS; v++) {
			const int64_t here = to[v];
			to[v] = at;
			at += here;
		}
		for (int64_t i = 0; i < n; i++)
			spare[to[order_of(list[i].value) >> (BITS * b) & (DIGITS - 1)]++] = list[i];
		ranked *swap = list;
		list = spare;
		spare = swap;
	}
	return list;
}

/* Tests of one column. Entries that are not stored are zeros, a tie group of their own. */
static void test_column(const tests *w, int64_t j, ranked *list, double *sums)
{
	const kdri_entries r = kdri_row_entries(&w->turned.view, j);
	int64_t stored = 0, below = 0;
	for (int64_t p = 0; p < r.count; p++)
		if (r.val[p] != 0) {
			list[stored++] = (ranked){ r.val[p], w->cluster[kdri_entry_column(&r, p)] };
			below += r.val[p] < 0;
		}
	const double zeros = (double)(w->n - stored), zero_rank = (double)below + (zeros + 1) / 2;
	double ties = zeros * zeros * zeros - zeros;
	list = sort_values(list, list + w->n, stored);
	for (int64_t c = 0; c < w->k; c++)
		sums[c] = zero_rank * (double)w->size[c]; /* as if all were zeros */
	for (int64_t i = 0, end; i < stored; i = end) {
		for (end = i + 1; end < stored && list[end].value == list[i].value; end++)
			;
		double t = (double)(end - i), rank = (double)i + (t + 1) / 2 + (i >= below ? zeros : 0);
		ties += t * t * t - t;
		for (int64_t p = i; p < end; p++)
			sums[list[p].cluster] += rank - zero_rank;
	}
	for (int64_t c = 0; c < w->count; c++)
		w->p[c * w->d + j] =
		        rank_sum_p(sums[w->first + c], (double)w->size[w->first + c], (double)w->n, ties);
}

/* Every stride-th sample of each cluster. */
static kdr_status choose_samples(tests *w, const kdri_task_result *t, const kdr_mat *x)
{
	kdr_status st;
	const int64_t stride = KDRI_MAX(1 + (kdr_mat_nnz(x) - 1) / MOST_ENTRIES, 1 + (t->n - 1) / MOST_ROWS);
	int64_t *seen = NULL;
	KDRI_TRY(KDRI_NEW0(w->ctx, &seen, w->k));
	KDRI_TRY(KDRI_NEW(w->ctx, &w->rows, t->n));
	KDRI_TRY(KDRI_NEW(w->ctx, &w->cluster, t->n));
	KDRI_TRY(KDRI_NEW0(w->ctx, &w->size, w->k));
	for (int64_t i = 0; i < t->n; i++) {
		int64_t c = t->labels[i];
		if (c < 0 || c >= w->k || seen[c]++ % stride != 0)
			continue;
		w->rows[w->n] = i;
		w->cluster[w->n++] = c;
		w->size[c]++;
	}
done:
	kdri_free(w->ctx, seen);
	return st;
}

/* (E4) of the features of one cluster, whose p-values are `p`. */
static void adjust(const tests *w, const double *p, kdri_cluster_profile *profile)
{
	kdri_feature_effect *features = (kdri_feature_effect *)profile->features;
	int64_t m = 0;
	for (int64_t j = 0; j < w->d; j++)
		if (isfinite(p[j]))
			w->sorted[m++] = p[j];
	qsort(w->sorted, (size_t)m, sizeof *w->sorted, kdri_compare_doubles);
	double least = 1;
	for (int64_t j = m; j > 0; j--)
		w->adjusted[j - 1] = least = KDRI_MIN(least, w->sorted[j - 1] * (double)m / (double)j);
	for (int64_t f = 0; f < profile->nfeatures; f++) {
		double own = p[features[f].column];
		int64_t low = 0, high = m; /* the first that is not smaller, so that ties agree */
		while (low < high) {
			int64_t middle = low + (high - low) / 2;
			if (w->sorted[middle] < own)
				low = middle + 1;
			else
				high = middle;
		}
		features[f].p = own;
		features[f].p_adjusted = low < m && isfinite(own) ? w->adjusted[low] : NAN;
	}
}

static kdr_status test_all(tests *w, kdri_task_result *t)
{
	const int threads = w->ctx->threads;
	const int64_t at_once = KDRI_MIN(w->k, KDRI_MAX(1, MOST_VALUES / KDRI_MAX(w->d, 1)));
	KDRI_DO(KDRI_NEW(w->ctx, &w->p, at_once * w->d));
	KDRI_DO(KDRI_NEW(w->ctx, &w->sorted, w->d));
	KDRI_DO(KDRI_NEW(w->ctx, &w->adjusted, w->d));
	KDRI_DO(KDRI_NEW(w->ctx, &w->room, 2 * threads * w->n));
	KDRI_DO(KDRI_NEW(w->ctx, &w->sums, threads * w->k));
	for (w->first = 0; w->first < w->k; w->first += w->count) {
		w->count = KDRI_MIN(at_once, w->k - w->first);
#pragma omp parallel for num_threads(threads) schedule(static) if (w->n * w->d > 1 << 14)
		for (int part = 0; part < threads; part++)
			for (int64_t j = part; j < w->d; j += threads)
				test_column(w, j, w->room + 2 * part * w->n, w->sums + part * w->k);
		for (int64_t c = 0; c < w->count; c++)
			adjust(w, w->p + c * w->d, &t->profiles[w->first + c]);
	}
	return KDR_OK;
}

static kdr_status test_features(kdr_context *ctx, kdri_task_result *t, const kdr_mat *x)
{
	kdr_status st;
	tests w = { .ctx = ctx, .d = kdr_mat_cols(x), .k = t->k };
	if (kdri_several(ctx) || ctx->cancelled || ctx->timed_out || w.d > MOST_ENTRIES || t->n < 2 ||
	    t->k < 2)
		return KDR_OK;
	KDRI_TRY(choose_samples(&w, t, x));
	const bool all = w.n == t->n;
	if (!all)
		KDRI_TRY(kdri_mat_take(ctx, x, w.rows, w.n, &w.taken));
	KDRI_TRY(kdri_mat_transpose(ctx, all ? x : &w.taken.view, &w.turned));
	kdri_own_free(ctx, &w.taken);
	KDRI_TRY(test_all(&w, t));
done:
	tests_free(&w);
	return st;
}

/* --- markers for the report ------------------------------------------------------------------------------ */

/* At most MOST_EACH features of each cluster, the strongest first, each once. */
static kdr_status choose_markers(kdr_context *ctx, const kdri_task_result *t, kdri_markers *m)
{
	const int64_t each = KDRI_MAX(1, KDRI_MIN(MOST_EACH, MOST_MARKERS / KDRI_MAX(t->k, 1)));
	KDRI_DO(KDRI_NEW(ctx, &m->columns, MOST_MARKERS));
	for (int64_t c = 0; c < t->k; c++) {
		const kdri_cluster_profile *profile = &t->profiles[c];
		int64_t taken = 0;
		for (int64_t f = 0; f < profile->nfeatures && taken < each && m->count < MOST_MARKERS; f++) {
			bool known = profile->features[f].effect <= 0;
			/* The share of a column of yes and no is its mean. */
			m->counts = m->counts || (isfinite(profile->features[f].share_inside) &&
			                          profile->features[f].unit != KDRI_UNIT_SHARE);
			for (int64_t i = 0; i < m->count; i++)
				known = known || m->columns[i] == profile->features[f].column;
			if (known)
				continue;
			m->columns[m->count++] = profile->features[f].column;
			taken++;
		}
	}
	return KDR_OK;
}

/* What the markers are added up from, and by. */
typedef struct marker_sums {
	const kdri_task_result *t;
	const kdr_mat *x;
	const kdri_markers *m;
	int32_t *slot;      /* of each column: its marker, or -1 */
	double *above;      /* of each marker: its mean over all samples */
	double *by_cluster; /* for each cluster, width apart: those of two clusters are never in one cache line */
	int64_t width;
} marker_sums;

/* Adds a value of a marker, or counts it if it is above the mean (not 0, for data such as counts). */
static void add_marker(const marker_sums *s, bool shares, int64_t at, double value, double *to)
{
	if (!shares)
		to[at] += value;
	else
		to[at] += s->m->counts ? value != 0 : value > s->above[at];
}

static void add_sample(const marker_sums *s, bool shares, int64_t i, double *to)
{
	const kdri_entries r = kdri_row_entries(s->x, i);
	if (!r.col) {
		for (int64_t at = 0; at < s->m->count; at++)
			add_marker(s, shares, at, r.val[s->m->columns[at]], to);
		return;
	}
	for (int64_t p = 0; p < r.count; p++)
		if (s->slot[r.col[p]] >= 0)
			add_marker(s, shares, s->slot[r.col[p]], r.val[p], to);
}

/* Adds up the values of the markers by cluster, or counts them. Each cluster belongs to one thread. */
static kdr_status add_up(kdr_context *ctx, const marker_sums *s, bool shares, double *out)
{
	const kdri_task_result *t = s->t;
	const int64_t parts = KDRI_MIN(ctx->threads, t->k), count = s->m->count;
	memset(s->by_cluster, 0, (size_t)(t->k * s->width) * sizeof *s->by_cluster);
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static, 1) if (t->n > 1 << 10)
	for (int64_t part = 0; part < parts; part++)
		for (int64_t i = 0; i < t->n; i++) {
			const int64_t c = t->labels[i];
			if (c >= 0 && c < t->k && (parts == 1 || c % parts == part))
				add_sample(s, shares, i, s->by_cluster + c * s->width);
		}
	for (int64_t c = 0; c < t->k; c++)
		memcpy(out + c * count, s->by_cluster + c * s->width, (size_t)count * sizeof *out);
	return kdri_sum(ctx, out, t->k * count);
}

static kdr_status fill_markers(kdr_context *ctx, const kdri_task_result *t, const kdr_mat *x, kdri_markers *m)
{
	kdr_status st;
	marker_sums s = { .t = t, .x = x, .m = m, .width = m->count + CACHE_LINE };
	const int64_t d = kdr_mat_cols(x), cells = t->k * m->count;
	KDRI_TRY(KDRI_NEW(ctx, &s.slot, d));
	KDRI_TRY(KDRI_NEW0(ctx, &s.above, m->count));
	KDRI_TRY(KDRI_NEW(ctx, &s.by_cluster, t->k * s.width));
	KDRI_TRY(KDRI_NEW(ctx, &m->mean, cells));
	KDRI_TRY(KDRI_NEW0(ctx, &m->share, cells));
	for (int64_t j = 0; j < d; j++)
		s.slot[j] = -1;
	for (int64_t i = 0; i < m->count; i++)
		s.slot[m->columns[i]] = (int32_t)i;
	KDRI_TRY(add_up(ctx, &s, false, m->mean));
	for (int64_t i = 0; i < cells; i++)
		s.above[i % m->count] += m->mean[i] / (double)t->all;
	KDRI_TRY(add_up(ctx, &s, true, m->share));
	for (int64_t i = 0; i < cells; i++) {
		double size = (double)KDRI_MAX(t->sizes[i / m->count], 1);
		m->mean[i] /= size;
		m->share[i] /= size;
	}
done:
	KDRI_FREE(ctx, s.slot, s.above, s.by_cluster);
	return st;
}

kdr_status kdri_job_markers(kdr_context *ctx, kdr_result *r, kdr_data *const *data)
{
	for (int64_t i = 0; i < r->ntasks; i++) {
		kdri_task_result *t = &r->tasks[i];
		if (!t->profiles)
			continue;
		const kdr_mat x = kdr_data_mat(kdri_shown(data[i]));
		KDRI_DO(test_features(ctx, t, &x));
		KDRI_DO(KDRI_NEW0(ctx, &t->markers, 1));
		KDRI_DO(choose_markers(ctx, t, t->markers));
		if (t->markers->count > 0)
			KDRI_DO(fill_markers(ctx, t, &x, t->markers));
	}
	return KDR_OK;
}
