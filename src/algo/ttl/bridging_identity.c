/* Which class is which after the sweeps. SPDX-License-Identifier: BSD-3-Clause
 *
 * The sweeps find classes of the target, but which is which was settled by the start alone, and where source and target share
 * nothing the start is weak: now and then they end with the classes swapped and nearly all labels wrong. So they are asked again afterwards: logistic regressions on random halves of the features, from the bridge's final
 * classes (or the source's, without a bridge) to the target, and the start itself; p^r_ia how sure chain r is of class a, and
 * b_i the class that the sweeps gave row i,
 *
 *   (E1)  e_ab = sum over chains and rows of p^r_ia [b_i = b]
 *   (E2)  a -> b: the one-to-one map of largest sum e; class a of the answer is class b of the sweeps
 *   (E3)  sure = mean over chains and classes of [chain's own best map sends a where (E2) does]
 *
 * Rows whose class is known, or labels given to start from, settle the matter: nothing is moved. */
#include "algo/ttl/bridging.h"
#include "metrics/metrics.h"

enum { CHAINS = 8 };
static const double unsure = 0.8;

typedef struct work {
	int64_t c, n;
	const int64_t *found; /* n: classes of the sweeps */
	double *p;            /* n x c */
	double *own, *all;    /* c x c: (E1) of one chain, and of all of them */
	double *cost;
	int64_t *map, *chain_maps; /* c; (CHAINS + 1) x c */
} work;

/* x with a random half of its columns, the others 0. */
static kdr_status half_of(kdr_context *ctx, const kdr_mat *x, uint64_t number, kdri_own *out)
{
	kdr_status st;
	int64_t n = kdr_mat_rows(x), d = kdr_mat_cols(x), nnz = kdr_mat_nnz(x);
	bool dense = x->kind == KDR_MAT_DENSE, *kept = NULL;
	double *val = NULL;
	kdri_rng rng = kdri_rng_stream(ctx->seed, "identity", number);
	KDRI_TRY(KDRI_NEW(ctx, &kept, d));
	KDRI_TRY(KDRI_NEW(ctx, &val, nnz));
	for (int64_t j = 0; j < d; j++)
		kept[j] = kdri_rng_uniform(&rng) < 0.5;
	for (int64_t i = 0; i < n && dense; i++)
		for (int64_t j = 0; j < d; j++)
			val[i * d + j] = kept[j] ? x->as.dense.data[i * x->as.dense.stride + j] : 0;
	for (int64_t p = 0; p < nnz && !dense; p++)
		val[p] = kept[x->as.csr.col[p]] ? x->as.csr.val[p] : 0;
	*out = (kdri_own){ dense ? kdr_mat_from_dense(val, n, d)
		                 : kdr_mat_from_csr(n, d, x->as.csr.rowptr, x->as.csr.col, val),
		           { val } };
	val = NULL;
done:
	kdri_free(ctx, kept);
	kdri_free(ctx, val);
	return st;
}

/* The best map of e (c x c). */
static kdr_status best_map(kdr_context *ctx, const work *w, const double *e, int64_t *map)
{
	double most = 0;
	for (int64_t k = 0; k < w->c * w->c; k++)
		most = KDRI_MAX(most, e[k]);
	for (int64_t k = 0; k < w->c * w->c; k++)
		w->cost[k] = most - e[k];
	return kdri_assign(ctx, w->cost, w->c, w->c, map, NULL, NULL);
}

/* (E1) of a chain's p. */
static kdr_status add_chain(kdr_context *ctx, const work *w, const double *p, int64_t chain)
{
	memset(w->own, 0, (size_t)(w->c * w->c) * sizeof *w->own);
	for (int64_t i = 0; i < w->n; i++)
		for (int64_t a = 0; a < w->c; a++)
			w->own[a * w->c + w->found[i]] += p[i * w->c + a];
	kdri_axpy(1, w->own, w->all, w->c * w->c);
	return best_map(ctx, w, w->own, w->chain_maps + chain * w->c);
}

static kdr_status ask_chains(kdr_context *ctx, const kdri_bridging *s, const int64_t *bridge,
                             const double *start, const work *w)
{
	kdr_status st;
	const kdr_mat *from = s->bridge >= 0 ? &s->view[1] : &s->source.view;
	const int64_t *labels = s->bridge >= 0 ? bridge : s->labels;
	KDRI_TRY(add_chain(ctx, w, start, CHAINS));
	for (int64_t r = 0; r < CHAINS; r++) {
		kdri_own half = { .view = kdr_mat_from_dense(NULL, 0, 0) };
		KDRI_TRY(half_of(ctx, from, (uint64_t)r, &half));
		st = kdri_chain_step(ctx, &half.view, labels, w->c, &s->target.view, w->p);
		kdri_own_free(ctx, &half);
		if (st == KDR_OK)
			st = add_chain(ctx, w, w->p, r);
		if (st != KDR_OK)
			break;
	}
done:
	return st;
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

static kdr_status say(kdr_context *ctx, const work *w, bool moved, kdr_result *result)
{
	kdr_status st;
	double sure = 0;
	for (int64_t k = 0; k < (CHAINS + 1) * w->c; k++)
		sure += (double)(w->chain_maps[k] == w->map[k % w->c]) /
		        (double)((CHAINS + 1) * w->c); /* (E3) */
	KDRI_TRY(kdri_result_number(ctx, result, "identity", sure));
	if (moved)
		KDRI_TRY(kdri_result_warn(
		        ctx, result,
		        "the sweeps had swapped classes of the target; regressions from the labelled side put them back"));
	if (sure < unsure)
		KDRI_TRY(kdri_result_warn(
		        ctx, result,
		        "which class of the target is which is not sure: of %d regressions on halves of the features %.0f %% agree; "
		        "check some samples",
		        CHAINS + 1, 100 * sure));
done:
	return st;
}

kdr_status kdri_bridging_identity(kdr_context *ctx, const kdri_bridging *s, const double *g_bridge,
                                  const double *start, double *g_target, kdr_result *result)
{
	kdr_status st = KDR_OK;
	work w = { .c = s->classes, .n = kdr_mat_rows(&s->target.view) };
	int64_t *found = NULL, *bridge = NULL, nb = s->bridge >= 0 ? kdr_mat_rows(&s->view[0]) : 0;
	for (int64_t i = 0; i < w.n; i++)
		if (s->known[i] >= 0)
			return KDR_OK;
	for (int64_t t = 0; t < s->problem->ntasks; t++)
		if (s->problem->tasks[t].init)
			return KDR_OK;
	KDRI_TRY(KDRI_NEW(ctx, &found, w.n));
	KDRI_TRY(KDRI_NEW(ctx, &bridge, nb));
	KDRI_TRY(KDRI_NEW(ctx, &w.p, w.n * w.c));
	KDRI_TRY(KDRI_NEW(ctx, &w.own, KDRI_MAX(w.c, 2) * w.c));
	KDRI_TRY(KDRI_NEW0(ctx, &w.all, w.c * w.c));
	KDRI_TRY(KDRI_NEW(ctx, &w.cost, w.c * w.c));
	KDRI_TRY(KDRI_NEW(ctx, &w.map, w.c));
	KDRI_TRY(KDRI_NEW(ctx, &w.chain_maps, (CHAINS + 1) * w.c));
	kdri_likeliest(g_target, w.n, w.c, found);
	if (nb > 0)
		kdri_likeliest(g_bridge, nb, w.c, bridge);
	w.found = found;
	KDRI_TRY(ask_chains(ctx, s, bridge, start, &w));
	KDRI_TRY(best_map(ctx, &w, w.all, w.map)); /* (E2) */
	KDRI_TRY(say(ctx, &w, put_back(&w, g_target), result));
done:
	kdri_free(ctx, found);
	kdri_free(ctx, bridge);
	kdri_free(ctx, w.p);
	kdri_free(ctx, w.own);
	kdri_free(ctx, w.all);
	kdri_free(ctx, w.cost);
	kdri_free(ctx, w.map);
	kdri_free(ctx, w.chain_maps);
	return st;
}
