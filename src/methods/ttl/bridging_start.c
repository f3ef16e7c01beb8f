/* Initial labels of a bridged transfer, and the sweeps from them. SPDX-License-Identifier: BSD-3-Clause
 *
 * The start determines which column of G is which class: from uninformative labels, sweeps end with the classes right or
 * swapped by chance. By default G therefore starts from a chain of logistic regressions, one class against the rest:
 * trained on the source and applied to the bridge, then trained on the bridge's likeliest classes and applied to the
 * target. However weak, it tilts the balance. Zeros would stay zeros: each row is mixed with the uniform one,
 *
 *   (E1)  g = (1 - mix) p + mix / c.
 *
 * The constant of a regression does not suit other data: if half of its words are missing, all scores are biased to one
 * side, and the chain would pass on only that class. The classes therefore keep their proportions: with q_k the share of
 * class k in the training labels,
 *
 *   (E2)  p_ik <- r_k p_ik / sum over k of r_k p_ik,   r such that the mean of column k is q_k.
 *
 * On the newsgroups' tasks this lifts the chain from 47-64 % of right classes to 58-92 %. Then the rows predicted so
 * far are used for training:
 *
 *   (E3)  rows and classes by p_ik / q_k, the largest first: row i gets class k unless it has one or k has its share of the rows; of
 *         each class the first half of them join the labelled rows, then four fifths, then all, and the regression is
 *         trained again each time
 *
 * at each step of the chain: words that the labelled set lacks can only be learnt in this way. On the newsgroups'
 * tasks: 87-98 %. Using the likeliest class instead of shares leaves small classes without a row: with four classes,
 * one of which has half of all rows, all rows end in that class.
 *
 * Rows may be held by several ranks: shares and means are then those of all of them, and everything else is the same on
 * each. */
/* Which class is which after the sweeps.
 *
 * The sweeps find classes of the target, but only the start determines which is which. If source and target share
 * nothing, the start is weak: sometimes the classes end up swapped and nearly all labels are wrong. The assignment is
 * therefore checked afterwards, on random halves of the features: m_a the mean of class a of the bridge after the
 * sweeps (without a bridge, of the source), t_b that of class b of the target, m and t those of all rows, v_j the
 * mean square of feature j in the target,
 *
 *   (E4)  e^r_ab = sum over features j of half r of (m_aj - m_j) (t_bj - t_j) / v_j, and map_r the one-to-one map of largest sum
 *   (E5)  a -> b: the one-to-one map of largest sum of  10 (n_ab / n - n_a. n_.b / n^2) + sum_r [map_r(a) = b] / (halves c);
 *         class a of the answer is class b of the sweeps
 *   (E6)  sure = mean over the halves, the start and the classes of [its own best map sends a to the same class as
 *         (E5)]
 *
 * with n_ab the rows whose class was a by the start (the likeliest) and is b by the sweeps, n_a. and n_.b the totals
 * of each. (E4) does not depend on the means of the data sets, so that differences between them do not mislead; and a
 * word counts by the difference of the classes in it, not by its frequency. The start decides unless it is near
 * chance: on 240 splits of newsgroups it is right in two thirds of the rows or more, even if the sweeps ended with
 * swapped classes (rec - talk), while halves match the wrong classes if few words distinguish them (seven of 40
 * splits of sci - talk). If, for two classes, it agrees with the sweeps in .45 to .55 of the rows, halves that agree
 * with each other decide. If the class of some rows is known, or initial labels are given, nothing is changed. Means
 * and counts are those of the rows of all ranks. */
#include "api/method.h"
#include "comm/comm.h"
#include "engine/linear/linear.h"
#include "engine/metrics/metrics.h"
#include "matrix/device_use.h"
#include "methods/ttl/ttl.h"

enum { HALVES = 8 };
static const double unsure = 0.8, by_start = 10;

typedef struct work {
	int64_t c, n, d, all_rows; /* n rows here */
	const int64_t *found;      /* n: classes of the sweeps */
	double *from, *to;         /* c x d: means of classes, less that of all */
	double *square;            /* d: v */
	int64_t *start;            /* n: likeliest classes of the start */
	double *own, *all;         /* c x c: (E4) of one half; (E5)'s sums */
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

/* The contribution of the start in (E5). */
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

/* Columns of g as (E5) has them; whether any moved. */
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
		        (double)((HALVES + 1) * w->c); /* (E6) */
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
	/* (E4) of one half after the other. */
	for (int64_t r = 0; r < HALVES; r++) {
		kdri_rng rng = kdri_rng_stream(ctx->seed, "identity", (uint64_t)r);
		memset(w.own, 0, (size_t)(w.c * w.c) * sizeof *w.own);
		for (int64_t j = 0; j < w.d; j++) {
			bool kept = kdri_rng_uniform(&rng) < 0.5;
			for (int64_t k = 0; kept && w.square[j] > 0 && k < w.c * w.c; k++)
				w.own[k] += w.from[k / w.c * w.d + j] * w.to[k % w.c * w.d + j] / w.square[j];
		}
		KDRI_TRY(best_map(ctx, &w, w.own, w.half_maps + r * w.c));
		for (int64_t a = 0; a < w.c; a++)
			w.all[a * w.c + w.half_maps[r * w.c + a]] += 1 / (double)(HALVES * w.c);
	}
	KDRI_TRY(ask_start(ctx, &w));
	KDRI_TRY(best_map(ctx, &w, w.all, w.map)); /* (E5) */
	KDRI_TRY(bridging_identity_say(ctx, &w, put_back(&w, g_target), result));
done:
	KDRI_FREE(ctx, found, bridge, w.start, w.from, w.to, w.square, w.own, w.all, w.cost, w.map,
	          w.half_maps);
	return st;
}

static const double mix = 0.02;
enum { ROUNDS = 500 };
/* Initial labels given by the user become one-hot plus this constant, scaled to sum 1, as in the other methods. */
static const double soften = 0.2;

/* Rows to sum 1; their mean over all ranks into `mean`. */
static kdr_status bridging_start_scale_rows(kdr_context *ctx, const kdri_bridging_rows *rows, int64_t c,
                                            double *p, double *mean)
{
	memset(mean, 0, (size_t)c * sizeof *mean);
	for (int64_t i = 0; i < rows->n; i++) {
		double sum = 0;
		for (int64_t k = 0; k < c; k++)
			sum += p[i * c + k];
		for (int64_t k = 0; k < c; k++) {
			p[i * c + k] /= sum;
			mean[k] += p[i * c + k] / (double)rows->all;
		}
	}
	return kdri_sum(ctx, mean, c);
}

/* Class proportions among the labelled rows of all ranks. */
static kdr_status find_shares(kdr_context *ctx, const int64_t *labels, int64_t n, int64_t c, double *share)
{
	double known = 0;
	memset(share, 0, (size_t)c * sizeof *share);
	for (int64_t i = 0; i < n; i++)
		if (labels[i] >= 0)
			share[labels[i]]++;
	KDRI_DO(kdri_sum(ctx, share, c)); /* of integers: exact */
	for (int64_t k = 0; k < c; k++)
		known += share[k];
	for (int64_t k = 0; k < c; k++)
		share[k] /= known;
	return KDR_OK;
}

/* (E2) by scaling columns and rows in turn, which converges as the shares are positive. `mean`: room for c numbers. */
static kdr_status match_shares(kdr_context *ctx, const kdri_bridging_rows *rows, const double *share,
                               int64_t c, double *p, double *mean)
{
	for (int round = 0; round < ROUNDS; round++) {
		double off = 0;
		KDRI_DO(bridging_start_scale_rows(ctx, rows, c, p, mean));
		for (int64_t k = 0; k < c; k++) {
			double ratio = share[k] > 0 ? share[k] / mean[k] : 1;
			off = fmax(off, fabs(ratio - 1));
			for (int64_t i = 0; i < rows->n; i++)
				p[i * c + k] *= ratio;
		}
		if (off < 1e-6)
			break;
	}
	return bridging_start_scale_rows(ctx, rows, c, p, mean);
}

/* Probabilities (rows of x, by class) from a logistic regression, one class against the rest, on labelled rows. */
static kdr_status chain_step(kdr_context *ctx, const kdr_mat *from, const int64_t *labels, int64_t classes,
                             const kdr_mat *x, const kdri_bridging_rows *of, double *p)
{
	kdr_status st;
	int64_t m = kdri_linear_outputs(classes), n = kdr_mat_rows(from), rows = of->n;
	double *cost = NULL, *w = NULL, *scores = NULL, *share = NULL;
	kdri_linear_report report;
	const kdri_linear_options o = {
		.loss = KDRI_LOSS_LOGISTIC, .bias = 1, .tol = 1e-6, .max_iter = 200, .stage = "logreg"
	};
	KDRI_TRY(KDRI_NEW(ctx, &cost, n * m));
	KDRI_TRY(KDRI_NEW0(ctx, &w, (kdr_mat_cols(from) + 1) * m));
	KDRI_TRY(KDRI_NEW(ctx, &scores, rows * m));
	KDRI_TRY(KDRI_NEW(ctx, &share, 2 * classes));
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j < m; j++)
			cost[i * m + j] = labels[i] < 0                                ? 0
			                  : labels[i] == kdri_linear_class(classes, j) ? 1
			                                                               : -1;
	KDRI_TRY(kdri_linear_train(ctx, from, m, cost, &o, w, &report));
	KDRI_TRY(kdri_linear_scores(ctx, x, m, o.bias, w, scores));
	kdri_linear_spread(ctx, rows, classes, scores, p);
	for (int64_t i = 0; i < rows * classes; i++)
		p[i] = 1 / (1 + exp(-p[i]));
	KDRI_TRY(find_shares(ctx, labels, n, classes, share));
	KDRI_TRY(match_shares(ctx, of, share, classes, p, share + classes));
	for (int64_t i = 0; i < rows * classes; i++)
		p[i] = (1 - mix) * p[i] + mix / (double)classes; /* (E1) */
done:
	KDRI_FREE(ctx, cost, w, scores, share);
	return st;
}

void kdri_likeliest(const double *p, int64_t n, int64_t c, int64_t *labels)
{
	for (int64_t i = 0; i < n; i++) {
		labels[i] = 0;
		for (int64_t k = 1; k < c; k++)
			if (p[i * c + k] > p[i * c + labels[i]])
				labels[i] = k;
	}
}

/* Labelled rows teach those of `to`, whose surest answers then teach the others. known: classes of rows of `to`, or -1. */
static kdr_status teach(kdr_context *ctx, const kdr_mat *from, const int64_t *labels, const kdr_mat *to,
                        const kdri_bridging_rows *of, const int64_t *known, int64_t classes, double *p)
{
	static const double shares[] = { 0, 0.5, 0.8, 1 };
	enum { STEPS = sizeof shares / sizeof shares[0] };
	kdr_status st;
	int64_t n = kdr_mat_rows(from), rows = of->n, *all = NULL;
	double *share = NULL;
	const kdr_mat *both[2] = { from, to };
	kdri_own stack = { .view = kdr_mat_from_dense(NULL, 0, 0) };
	KDRI_TRY(KDRI_NEW(ctx, &all, n + rows));
	KDRI_TRY(KDRI_NEW(ctx, &share, classes));
	KDRI_TRY(kdri_mat_stack(ctx, both, 2, &stack));
	memcpy(all, labels, (size_t)n * sizeof *all);
	KDRI_TRY(find_shares(ctx, labels, n, classes, share));
	for (int r = 0; r < STEPS && (r == 0 || (!ctx->cancelled && !ctx->timed_out)); r++) {
		for (int64_t i = 0; i < rows; i++)
			all[n + i] = -1;
		if (shares[r] > 0)
			KDRI_TRY(kdri_bridging_surest(ctx, of, p, classes, share, shares[r],
			                              all + n)); /* (E3) */
		for (int64_t i = 0; known && i < rows; i++)
			all[n + i] = known[i] >= 0 ? known[i] : all[n + i];
		KDRI_TRY(chain_step(ctx, &stack.view, all, classes, to, of, p));
	}
done:
	kdri_own_free(ctx, &stack);
	KDRI_FREE(ctx, all, share);
	return st;
}

kdr_status kdri_bridging_teach(kdr_context *ctx, const kdri_bridging *s, const int64_t *labels, double *p)
{
	return teach(ctx, &s->view[1], labels, &s->target.view, &s->target_rows, s->known, s->classes, p);
}

static kdr_status start_chain(kdr_context *ctx, const kdri_bridging *s, double *g_bridge, double *g_target)
{
	kdr_status st;
	int64_t *labels = NULL;
	if (s->bridge < 0)
		return teach(ctx, &s->source.view, s->labels, &s->target.view, &s->target_rows, s->known,
		             s->classes, g_target);
	int64_t n = s->bridge_rows.n;
	KDRI_TRY(KDRI_NEW(ctx, &labels, n));
	KDRI_TRY(teach(ctx, &s->source.view, s->labels, &s->view[0], &s->bridge_rows, NULL, s->classes,
	               g_bridge));
	kdri_likeliest(g_bridge, n, s->classes, labels);
	KDRI_TRY(kdri_bridging_teach(ctx, s, labels, g_target));
done:
	kdri_free(ctx, labels);
	return st;
}

/* Numbers of rows that other ranks have: all draw from one stream. */
static void skip_rows(kdri_rng *rng, int64_t rows, int64_t c)
{
	for (int64_t i = 0; i < rows * c; i++)
		(void)kdri_rng_uniform(rng);
}

static void start_random(kdri_rng *rng, const kdri_bridging_rows *rows, int64_t c, double *g)
{
	int64_t next = 0;
	for (int64_t i = 0; i < rows->n; i++) {
		double sum = 0;
		skip_rows(rng, rows->number[i] - next, c);
		next = rows->number[i] + 1;
		for (int64_t k = 0; k < c; k++)
			sum += g[i * c + k] = kdri_rng_uniform(rng) + mix;
		for (int64_t k = 0; k < c; k++)
			g[i * c + k] /= sum;
	}
	skip_rows(rng, rows->all - next, c);
}

static void start_alike(const kdri_bridging_rows *rows, int64_t c, double *g)
{
	for (int64_t i = 0; i < rows->n * c; i++)
		g[i] = 1 / (double)c;
}

static void start_given(const int64_t *init, int64_t n, int64_t c, double *g)
{
	for (int64_t i = 0; i < n; i++)
		for (int64_t k = 0; k < c; k++)
			g[i * c + k] = ((init[i] == k) + soften) / (1 + soften * (double)c);
}

/* All initial labels are given. */
static bool all_given(const kdri_bridging *s)
{
	for (int64_t t = 0; t < s->problem->ntasks; t++) {
		const kdr_task *task = &s->problem->tasks[t];
		if ((t == s->bridge || task->role == KDR_ROLE_TARGET) && !task->init)
			return false;
	}
	return true;
}

kdr_status kdri_bridging_start(kdr_context *ctx, const kdri_bridging *s, const kdr_options *options,
                               double *g_bridge, double *g_target)
{
	int init = kdri_opt_choice(options, "init");
	int64_t c = s->classes, at = 0;
	kdri_rng rng = kdri_rng_stream(ctx->seed, "labels", 0);
	if (init == KDRI_BRIDGING_LOGREG && !all_given(s)) {
		KDRI_DO(start_chain(ctx, s, g_bridge, g_target));
	} else if (init == KDRI_BRIDGING_RANDOM) {
		start_random(&rng, &s->bridge_rows, c, g_bridge);
		start_random(&rng, &s->target_rows, c, g_target);
	} else if (init == KDRI_BRIDGING_HALF) {
		start_alike(&s->bridge_rows, c, g_bridge);
		start_alike(&s->target_rows, c, g_target);
	}
	for (int64_t t = 0; t < s->problem->ntasks; t++) {
		const kdr_task *task = &s->problem->tasks[t];
		int64_t n = kdr_mat_rows(&task->x);
		if (t == s->bridge && task->init)
			start_given(task->init, n, c, g_bridge);
		if (task->role != KDR_ROLE_TARGET)
			continue;
		if (task->init)
			start_given(task->init, n, c, g_target + at * c);
		at += n;
	}
	return KDR_OK;
}

static bool row_is_empty(const kdr_mat *x, int64_t i)
{
	kdri_entries row = kdri_row_entries(x, i);
	for (int64_t p = 0; p < row.count; p++)
		if (row.val[p] != 0)
			return false;
	return true;
}

void kdri_bridging_put(kdri_tri *t, int set, const kdr_mat *x, const int64_t *known, const double *start)
{
	kdri_tri_set *s = &t->set[set];
	for (int64_t i = 0; i < s->n; i++) {
		bool given = known && known[i] >= 0;
		s->fixed[i] = given || row_is_empty(x, i);
		for (int64_t k = 0; k < t->c; k++)
			s->g[i * t->c + k] = given ? known[i] == k : s->fixed[i] ? 0 : start[i * t->c + k];
	}
}

void kdri_bridging_fill(kdri_tri *t, int set, const double *start)
{
	kdri_tri_set *s = &t->set[set];
	for (int64_t i = 0; i < s->n; i++) {
		double sum = 0;
		for (int64_t k = 0; k < t->c; k++)
			sum += s->g[i * t->c + k];
		for (int64_t k = 0; k < t->c && !(sum > 0); k++)
			s->g[i * t->c + k] = start[i * t->c + k];
	}
}

/* --- sweeps ---------------------------------------------------------------------------------------- */

/* F, A and G of a run, to be restored later. */
typedef struct saved {
	double *f[KDRI_TRI_SIDES], *a[KDRI_TRI_SIDES], *g[KDRI_TRI_SETS], *start[KDRI_TRI_SETS], *trace,
	        *best;
	int64_t count;
} saved;

static kdr_status saved_new(kdr_context *ctx, const kdri_tri *t, int64_t sweeps, bool several, saved *v)
{
	KDRI_DO(KDRI_NEW(ctx, &v->trace, sweeps));
	if (!several)
		return KDR_OK;
	KDRI_DO(KDRI_NEW(ctx, &v->best, sweeps));
	for (int s = 0; s < t->sides; s++) {
		KDRI_DO(KDRI_NEW(ctx, &v->f[s], t->side[s].panels * KDRI_TRI_LANES * t->q));
		KDRI_DO(KDRI_NEW(ctx, &v->a[s], t->q * t->c));
	}
	for (int k = 0; k < t->sets; k++) {
		KDRI_DO(KDRI_NEW(ctx, &v->g[k], t->set[k].n * t->c));
		KDRI_DO(KDRI_NEW(ctx, &v->start[k], t->set[k].n * t->c));
		memcpy(v->start[k], t->set[k].g, (size_t)(t->set[k].n * t->c) * sizeof *v->start[k]);
	}
	return KDR_OK;
}

static void bridging_start_copy(double *to, const double *from, int64_t count)
{
	memcpy(to, from, (size_t)count * sizeof *to);
}

static void bridging_start_keep(const kdri_tri *t, saved *v, bool back)
{
	for (int s = 0; s < t->sides; s++) {
		int64_t size = t->side[s].panels * KDRI_TRI_LANES * t->q;
		bridging_start_copy(back ? t->side[s].f : v->f[s], back ? v->f[s] : t->side[s].f, size);
		bridging_start_copy(back ? t->side[s].a : v->a[s], back ? v->a[s] : t->side[s].a,
		                    t->q * t->c);
	}
	for (int k = 0; k < t->sets; k++)
		bridging_start_copy(back ? t->set[k].g : v->g[k], back ? v->g[k] : t->set[k].g,
		                    t->set[k].n * t->c);
}

/* One run; v->trace gets the values. */
static kdr_status run_once(kdr_context *ctx, kdri_tri *t, const kdr_options *options, const char *stage,
                           uint64_t stream, saved *v, kdri_bridging_report *r)
{
	int64_t most = kdri_opt_int(options, "max_iter");
	double tol = kdri_opt_real(options, "tol");
	kdri_tri_random(ctx, t, stream);
	KDRI_DO(kdri_tri_start(ctx, t));
	*r = (kdri_bridging_report){ .start = kdri_tri_objective(t), .stop = KDR_STOP_MAX_ITER };
	r->value = r->start;
	while (r->iterations < most) {
		double before = r->value;
		KDRI_DO(kdri_tri_sweep(ctx, t));
		v->trace[r->iterations++] = r->value = kdri_tri_objective(t);
		if (!isfinite(r->value))
			return kdri_fail(ctx, KDR_ERR_NUMERIC,
			                 "the objective is not a number after iteration %lld; scale the data",
			                 (long long)r->iterations);
		if (kdri_iteration(ctx, stage, r->iterations, most, r->value)) {
			r->stop = kdri_stop_reason(ctx);
			break;
		}
		if (fabs(before - r->value) <= tol * before) {
			r->stop = KDR_STOP_CONVERGED;
			break;
		}
	}
	return KDR_OK;
}

/* A device that computes the products of the sweeps stores the matrices that they multiply; X' is a separate
 * matrix. */
static kdr_status hold(kdr_context *ctx, const kdri_tri *t, double sweeps, kdri_held *held[2 * KDRI_TRI_DATA])
{
	for (int d = 0; d < t->datas; d++) {
		const kdri_tri_data *data = &t->data[d];
		double flops = 2 * sweeps * (double)t->c * kdri_held_flops(&data->x);
		if (t->set[data->set].constant)
			continue;
		KDRI_DO(kdri_hold(ctx, &data->x, false, t->c, flops, &held[2 * d]));
		if (data->columns.parts[0] && held[2 * d])
			KDRI_DO(kdri_hold(ctx, &data->columns.view, false, t->c, flops, &held[2 * d + 1]));
	}
	return KDR_OK;
}

kdr_status kdri_bridging_sweeps(kdr_context *ctx, kdri_tri *t, const kdr_options *options, const char *stage,
                                kdr_result *trace, kdri_bridging_report *report)
{
	kdr_status st;
	int64_t runs = kdri_opt_int(options, "n_init");
	saved v = { 0 };
	kdri_bridging_report best = { 0 };
	kdri_held *held[2 * KDRI_TRI_DATA] = { NULL };
	KDRI_TRY(saved_new(ctx, t, kdri_opt_int(options, "max_iter"), runs > 1, &v));
	KDRI_TRY(hold(ctx, t, (double)runs * kdri_opt_real(options, "max_iter"), held));
	for (int64_t run = 0; run < runs; run++) {
		kdri_bridging_report r;
		for (int k = 0; k < t->sets && run > 0; k++)
			bridging_start_copy(t->set[k].g, v.start[k], t->set[k].n * t->c);
		KDRI_TRY(run_once(ctx, t, options, stage, (uint64_t)run, &v, &r));
		if (run == 0 || r.value < best.value) {
			best = r;
			if (runs > 1) {
				bridging_start_keep(t, &v, false);
				bridging_start_copy(v.best, v.trace, r.iterations);
			}
		}
		if (r.stop == KDR_STOP_CANCELLED || r.stop == KDR_STOP_TIME) {
			best.stop = r.stop;
			break;
		}
	}
	if (runs > 1)
		bridging_start_keep(t, &v, true);
	for (int64_t i = 0; trace && i < best.iterations; i++)
		KDRI_TRY(kdri_result_objective(ctx, trace, runs > 1 ? v.best[i] : v.trace[i]));
	*report = best;
done:
	for (int d = 0; d < 2 * KDRI_TRI_DATA; d++)
		kdri_unhold(ctx, held[d]);
	for (int s = 0; s < KDRI_TRI_SIDES; s++) {
		KDRI_FREE(ctx, v.f[s], v.a[s]);
	}
	for (int k = 0; k < KDRI_TRI_SETS; k++) {
		KDRI_FREE(ctx, v.g[k], v.start[k]);
	}
	KDRI_FREE(ctx, v.trace, v.best);
	return st;
}
