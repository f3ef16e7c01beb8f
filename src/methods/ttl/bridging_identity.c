/* Which class is which after the sweeps. SPDX-License-Identifier: BSD-3-Clause
 *
 * The sweeps find classes of the target, but only the start determines which is which. If source and target share
 * nothing, the start is weak: sometimes the classes end up swapped and nearly all labels are wrong. The assignment is
 * therefore checked afterwards, on random halves of the features: m_a the mean of class a of the bridge after the
 * sweeps (without a bridge, of the source), t_b that of class b of the target, m and t those of all rows, v_j the
 * mean square of feature j in the target,
 *
 *   (E1)  e^r_ab = sum over features j of half r of (m_aj - m_j) (t_bj - t_j) / v_j, and map_r the one-to-one map of largest sum
 *   (E2)  a -> b: the one-to-one map of largest sum of  10 (n_ab / n - n_a. n_.b / n^2) + sum_r [map_r(a) = b] / (halves c);
 *         class a of the answer is class b of the sweeps
 *   (E3)  sure = mean over the halves, the start and the classes of [its own best map sends a to the same class as
 *         (E2)]
 *
 * with n_ab the rows whose class was a by the start (the likeliest) and is b by the sweeps, n_a. and n_.b the totals
 * of each. (E1) does not depend on the means of the data sets, so that differences between them do not mislead; and a
 * word counts by the difference of the classes in it, not by its frequency. The start decides unless it is near
 * chance: on 240 splits of newsgroups it is right in two thirds of the rows or more, even if the sweeps ended with
 * swapped classes (rec - talk), while halves match the wrong classes if few words distinguish them (seven of 40
 * splits of sci - talk). If, for two classes, it agrees with the sweeps in .45 to .55 of the rows, halves that agree
 * with each other decide. If the class of some rows is known, or initial labels are given, nothing is changed. Means
 * and counts are those of the rows of all ranks. */
#include "comm/comm.h"
#include "engine/metrics/metrics.h"
#include "methods/ttl/bridging.h"

enum { HALVES = 8 };
static const double unsure = 0.8, by_start = 10;

typedef struct work {
	int64_t c, n, d, all_rows; /* n rows here */
	const int64_t *found;      /* n: classes of the sweeps */
	double *from, *to;         /* c x d: means of classes, less that of all */
	double *square;            /* d: v */
	int64_t *start;            /* n: likeliest classes of the start */
	double *own, *all;         /* c x c: (E1) of one half; (E2)'s sums */
	double *cost;
	int64_t *map, *half_maps; /* c; (HALVES + 1) x c, the last by the start */
} work;

/* Means of classes minus that of all rows; a class without rows has a row of zeros. square: mean squares of features,
 * or NULL. */
static kdr_status bridging_identity_find_means(kdr_context *ctx, const kdr_mat *x, const int64_t *labels,
                                               int64_t c, double *means, double *square)
{
	kdr_status st;
	int64_t n = kdr_mat_rows(x), d = kdr_mat_cols(x), all;
	double *mean = NULL, *count = NULL;
	KDRI_TRY(kdri_part(ctx, n, NULL, &all));
	KDRI_TRY(KDRI_NEW0(ctx, &mean, d));
	KDRI_TRY(KDRI_NEW0(ctx, &count, c));
	memset(means, 0, (size_t)(c * d) * sizeof *means);
	for (int64_t j = 0; square && j < d; j++)
		square[j] = 0;
	for (int64_t i = 0; i < n; i++) {
		kdri_entries row = kdri_row_entries(x, i);
		double *own = means + labels[i] * d;
		count[labels[i]]++;
		for (int64_t p = 0; p < row.count; p++) {
			int64_t j = row.col ? row.col[p] : p;
			own[j] += row.val[p];
			mean[j] += row.val[p] / (double)all;
			if (square)
				square[j] += row.val[p] * row.val[p] / (double)all;
		}
	}
	KDRI_TRY(kdri_sum(ctx, means, c * d));
	KDRI_TRY(kdri_sum(ctx, mean, d));
	KDRI_TRY(kdri_sum(ctx, count, c));
	if (square)
		KDRI_TRY(kdri_sum(ctx, square, d));
	for (int64_t a = 0; a < c; a++)
		for (int64_t j = 0; j < d; j++)
			means[a * d + j] = count[a] > 0 ? means[a * d + j] / count[a] - mean[j] : 0;
done:
	KDRI_FREE(ctx, mean, count);
	return st;
}

/* The best map of e (c x c). */
static kdr_status best_map(kdr_context *ctx, const work *w, const double *e, int64_t *map)
{
	double most = e[0];
	for (int64_t k = 1; k < w->c * w->c; k++)
		most = KDRI_MAX(most, e[k]);
	for (int64_t k = 0; k < w->c * w->c; k++)
		w->cost[k] = most - e[k];
	return kdri_assign(ctx, w->cost, w->c, w->c, map, NULL, NULL);
}

/* (E1) of one half after the other. */
static kdr_status ask_halves(kdr_context *ctx, const work *w)
{
	for (int64_t r = 0; r < HALVES; r++) {
		kdri_rng rng = kdri_rng_stream(ctx->seed, "identity", (uint64_t)r);
		memset(w->own, 0, (size_t)(w->c * w->c) * sizeof *w->own);
		for (int64_t j = 0; j < w->d; j++) {
			bool kept = kdri_rng_uniform(&rng) < 0.5;
			for (int64_t k = 0; kept && w->square[j] > 0 && k < w->c * w->c; k++)
				w->own[k] += w->from[k / w->c * w->d + j] * w->to[k % w->c * w->d + j] /
				             w->square[j];
		}
		KDRI_DO(best_map(ctx, w, w->own, w->half_maps + r * w->c));
		for (int64_t a = 0; a < w->c; a++)
			w->all[a * w->c + w->half_maps[r * w->c + a]] += 1 / (double)(HALVES * w->c);
	}
	return KDR_OK;
}

/* The contribution of the start in (E2). */
static kdr_status ask_start(kdr_context *ctx, const work *w)
{
	int64_t c = w->c;
	const double share = 1 / (double)w->all_rows;
	double *rows = w->cost,
	       *cols = w->cost + c; /* c x c suffices for both: there are at least two classes */
	memset(w->own, 0, (size_t)(c * c) * sizeof *w->own);
	memset(w->cost, 0, (size_t)(2 * c) * sizeof *w->cost);
	for (int64_t i = 0; i < w->n; i++)
		w->own[w->start[i] * c + w->found[i]]++;
	KDRI_DO(kdri_sum(ctx, w->own, c * c)); /* of integers: exact */
	for (int64_t k = 0; k < c * c; k++) {
		w->own[k] *= share;
		rows[k / c] += w->own[k];
		cols[k % c] += w->own[k];
	}
	for (int64_t k = 0; k < c * c; k++)
		w->own[k] = by_start * (w->own[k] - rows[k / c] * cols[k % c]);
	kdri_axpy(1, w->own, w->all, c * c);
	return best_map(ctx, w, w->own, w->half_maps + HALVES * c);
}

/* Columns of g as (E2) has them; whether any moved. */
static bool put_back(const work *w, double *g)
{
	bool moved = false;
	for (int64_t a = 0; a < w->c; a++)
		moved = moved || w->map[a] != a;
	for (int64_t i = 0; i < w->n && moved; i++) {
		memcpy(w->own, g + i * w->c, (size_t)w->c * sizeof *g);
		for (int64_t a = 0; a < w->c; a++)
			g[i * w->c + a] = w->own[w->map[a]];
	}
	return moved;
}

static kdr_status bridging_identity_say(kdr_context *ctx, const work *w, bool moved, kdr_result *result)
{
	double sure = 0;
	for (int64_t k = 0; k < (HALVES + 1) * w->c; k++)
		sure += (double)(w->half_maps[k] == w->map[k % w->c]) /
		        (double)((HALVES + 1) * w->c); /* (E3) */
	KDRI_DO(kdri_result_number(ctx, result, "identity", sure));
	if (moved)
		KDRI_DO(kdri_result_warn(
		        ctx, result,
		        "the iterations had swapped classes of the target; this was corrected with features that distinguish the classes of the labelled data"));
	if (sure < unsure)
		KDRI_DO(kdri_result_warn(
		        ctx, result,
		        "the assignment of class names in the target is uncertain: of %d random halves of the features and the initial labels, %.0f %% agree; check some samples",
		        HALVES, 100 * sure));
	return KDR_OK;
}

kdr_status kdri_bridging_identity(kdr_context *ctx, const kdri_bridging *s, const double *g_bridge,
                                  const double *start, double *g_target, kdr_result *result)
{
	kdr_status st = KDR_OK;
	const kdr_mat *from = s->bridge >= 0 ? &s->view[1] : &s->source.view;
	work w = { .c = s->classes,
		   .n = s->target_rows.n,
		   .all_rows = s->target_rows.all,
		   .d = kdr_mat_cols(&s->target.view) };
	int64_t *found = NULL, *bridge = NULL, nb = s->bridge_rows.n, size;
	bool settled = ctx->cancelled || ctx->timed_out; /* few sweeps, or none, since the start */
	for (int64_t i = 0; i < w.n; i++)
		settled = settled || s->known[i] >= 0;
	KDRI_TRY(kdri_any(ctx, &settled));
	if (settled)
		return KDR_OK;
	for (int64_t t = 0; t < s->problem->ntasks; t++)
		if (s->problem->tasks[t].init)
			return KDR_OK;
	KDRI_TRY(kdri_mul(ctx, w.c, w.d, &size));
	KDRI_TRY(KDRI_NEW(ctx, &found, w.n));
	KDRI_TRY(KDRI_NEW(ctx, &bridge, nb));
	KDRI_TRY(KDRI_NEW(ctx, &w.start, w.n));
	KDRI_TRY(KDRI_NEW(ctx, &w.from, size));
	KDRI_TRY(KDRI_NEW(ctx, &w.to, size));
	KDRI_TRY(KDRI_NEW(ctx, &w.square, w.d));
	KDRI_TRY(KDRI_NEW(ctx, &w.own, KDRI_MAX(w.c, 2) * w.c));
	KDRI_TRY(KDRI_NEW0(ctx, &w.all, w.c * w.c));
	KDRI_TRY(KDRI_NEW(ctx, &w.cost, w.c * w.c));
	KDRI_TRY(KDRI_NEW(ctx, &w.map, w.c));
	KDRI_TRY(KDRI_NEW(ctx, &w.half_maps, (HALVES + 1) * w.c));
	kdri_likeliest(g_target, w.n, w.c, found);
	kdri_likeliest(start, w.n, w.c, w.start);
	kdri_likeliest(g_bridge, nb, w.c, bridge);
	w.found = found;
	KDRI_TRY(bridging_identity_find_means(ctx, from, s->bridge >= 0 ? bridge : s->labels, w.c, w.from,
	                                      NULL));
	KDRI_TRY(bridging_identity_find_means(ctx, &s->target.view, found, w.c, w.to, w.square));
	KDRI_TRY(ask_halves(ctx, &w));
	KDRI_TRY(ask_start(ctx, &w));
	KDRI_TRY(best_map(ctx, &w, w.all, w.map)); /* (E2) */
	KDRI_TRY(bridging_identity_say(ctx, &w, put_back(&w, g_target), result));
done:
	KDRI_FREE(ctx, found, bridge, w.start, w.from, w.to, w.square, w.own, w.all, w.cost, w.map,
	          w.half_maps);
	return st;
}
