/* Newton directions of linear classifiers, many at a time. SPDX-License-Identifier: BSD-3-Clause
 *
 *     (E1)  (I + U' diag(h_j) U) s_j = -g_j,   j = 1..m      (a row of I is zero where the bias is free)
 *
 * are solved by conjugate gradients, stopped at |r_j| <= 0.1 |g_j|. A tenth is sufficient: a closer solution helps
 * only if the quadratic model is accurate that far. Measured on 20 Newsgroups (squared hinge, to 1e-6): 88 products,
 * against 103 with a fraction that shrinks with the gradient.
 *
 * A product reads the data once for all outputs. Two things keep it short. Outputs that have converged are removed
 * from the blocks. And a sample with h_ij = 0 for all active outputs adds nothing: beyond the margin the squared
 * hinge is flat, so that late steps need few samples. A fused pass (matrix/pass.h) skips the others; if they are most of
 * the data, and in other passes if there are fewer than three in four to use, those are copied together. */
#include "engine/linear/direction.h"

#include "comm/comm.h"

#include "matrix/vectors.h"

static const double share = 0.1;

kdr_status kdri_direction_open(kdr_context *ctx, const kdr_mat *x, kdri_pass *pass, int64_t held,
                               int64_t outputs, kdri_direction *t)
{
	int64_t dm, n = kdr_mat_rows(x), d = kdr_mat_cols(x) + 1;
	*t = (kdri_direction){ .x = x, .pass = pass, .n = n, .d = d, .held = held, .m = outputs };
	KDRI_DO(kdri_mul(ctx, d, outputs, &dm));
	KDRI_DO(KDRI_NEW(ctx, &t->r, dm));
	KDRI_DO(KDRI_NEW(ctx, &t->p, dm));
	KDRI_DO(KDRI_NEW(ctx, &t->hp, dm));
	KDRI_DO(KDRI_NEW(ctx, &t->partial, KDRI_CHUNKS * outputs));
	KDRI_DO(KDRI_NEW(ctx, &t->rr, 5 * outputs));
	KDRI_DO(KDRI_NEW(ctx, &t->live, 2 * outputs));
	KDRI_DO(KDRI_NEW(ctx, &t->rows, n));
	t->limit = t->rr + outputs;
	t->old = t->limit + outputs;
	t->alpha = t->old + outputs;
	t->beta = t->alpha + outputs;
	t->keep = t->live + outputs;
	return KDR_OK;
}

void kdri_direction_close(kdr_context *ctx, kdri_direction *t)
{
	void *all[] = { t->r, t->p, t->hp, t->partial, t->rr, t->live, t->rows };
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
		kdri_free(ctx, all[i]);
}

/* Samples that count for an active output: chunks find theirs, which are then moved together. */
static int64_t find_rows(kdr_context *ctx, kdri_direction *t, const double *h)
{
	const int64_t chunks = kdri_chunks(t->n);
	int64_t found[KDRI_CHUNKS], count = 0;
#pragma omp parallel for num_threads(kdri_team(ctx)) if (t->n * t->m > 1 << 12)
	for (int64_t k = 0; k < chunks; k++) {
		const int64_t begin = kdri_chunk_begin(t->n, chunks, k),
		              end = kdri_chunk_begin(t->n, chunks, k + 1);
		int64_t *rows = t->rows + begin, own = 0;
		for (int64_t i = begin; i < end; i++) {
			bool any = false;
			for (int64_t c = 0; c < t->width; c++)
				any |= h[i * t->m + t->live[c]] > 0;
			rows[own] = i;
			own += any;
		}
		found[k] = own;
	}
	for (int64_t k = 0; k < chunks; k++) {
		memmove(t->rows + count, t->rows + kdri_chunk_begin(t->n, chunks, k),
		        (size_t)found[k] * sizeof *t->rows);
		count += found[k];
	}
	return count;
}

/* Columns keep[0..width-1] of a block that had `was`. */
static void close_up(const kdri_direction *t, int64_t was, double *block)
{
	for (int64_t i = 0; i < t->d; i++)
		for (int64_t c = 0; c < t->width; c++)
			block[i * t->width + c] = block[i * was + t->keep[c]];
}

static void drop_finished(kdri_direction *t)
{
	int64_t was = t->width, left = 0;
	for (int64_t c = 0; c < was; c++)
		if (t->rr[c] > t->limit[c]) {
			t->rr[left] = t->rr[c];
			t->limit[left] = t->limit[c];
			t->live[left] = t->live[c];
			t->keep[left++] = c;
		}
	t->width = left;
	if (left == was)
		return;
	close_up(t, was, t->r);
	close_up(t, was, t->p);
}

/* Rows of U p times those of h. */
static void weigh_rows(void *user, int64_t chunk, int64_t begin, int64_t end, double *z)
{
	const kdri_direction *t = user;
	const int64_t w = t->width;
	(void)chunk;
	for (int64_t i = begin; i < end; i++, z += w) {
		const double *h = t->h + (t->used ? t->used[i] : i) * t->m;
		if (w == t->m)
			for (int64_t c = 0; c < w; c++)
				z[c] *= h[c];
		else
			for (int64_t c = 0; c < w; c++)
				z[c] *= h[t->live[c]];
	}
}

/* hp = (I + U' diag(h) U) p, of n rows */
static kdr_status direction_apply(kdr_context *ctx, kdri_direction *t, const kdr_mat *x, const int64_t *rows,
                                  int64_t n)
{
	KDRI_DO(kdri_pass_run(ctx, t->pass, x, rows, n, t->width, t->p, weigh_rows, t, t->hp));
	KDRI_DO(kdri_sum(ctx, t->hp, t->d * t->width));
	for (int64_t q = 0; q < t->held * t->width; q++)
		t->hp[q] += t->p[q]; /* (E1) */
	return KDR_OK;
}

static kdr_status direction_solve(kdr_context *ctx, kdri_direction *t, const kdr_mat *x, const int64_t *rows,
                                  int64_t n, double *s)
{
	int64_t most = KDRI_MAX(2 * t->d, 50);
	for (int64_t iteration = 0; iteration < most; iteration++) {
		drop_finished(t);
		int64_t w = t->width;
		if (!w)
			break;
		KDRI_DO(direction_apply(ctx, t, x, rows, n));
		kdri_vectors_dot(ctx, t->d, w, t->p, t->hp, t->partial, t->alpha);
		for (int64_t c = 0; c < w; c++)
			t->alpha[c] = t->alpha[c] > 0 ? t->rr[c] / t->alpha[c] : 0;
		for (int64_t q = 0; q < t->d; q++)
			for (int64_t c = 0; c < w; c++)
				s[q * t->m + t->live[c]] += t->alpha[c] * t->p[q * w + c];
		for (int64_t c = 0; c < w; c++)
			t->alpha[c] = -t->alpha[c];
		kdri_vectors_combine(ctx, t->d, w, NULL, t->alpha, t->hp, t->r);
		memcpy(t->old, t->rr, (size_t)w * sizeof *t->old);
		kdri_vectors_dot(ctx, t->d, w, t->r, t->r, t->partial, t->rr);
		for (int64_t c = 0; c < w; c++) {
			t->beta[c] = t->rr[c] / t->old[c];
			t->alpha[c] = 1;
		}
		kdri_vectors_combine(ctx, t->d, w, t->beta, t->alpha, t->r, t->p);
		/* Any iterate is a direction of descent. Ranks must stop together: they do so between directions. */
		if (!kdri_together(ctx) && kdri_leave_off(ctx, "direction", iteration, most))
			break;
	}
	return KDR_OK;
}

kdr_status kdri_direction_find(kdr_context *ctx, kdri_direction *t, const double *h, const double *g,
                               const double *gg, const bool *active, double *s)
{
	kdr_status st;
	kdri_own few = { .view = kdr_mat_from_dense(NULL, 0, 0) };
	memset(s, 0, (size_t)(t->d * t->m) * sizeof *s);
	t->width = 0;
	for (int64_t j = 0; j < t->m; j++)
		if (active[j]) {
			t->rr[t->width] = gg[j];
			t->limit[t->width] = share * share * gg[j];
			t->live[t->width++] = j;
		}
	const int64_t w = t->width, count = find_rows(ctx, t, h), scarce = t->pass->fused ? 1 : 3;
	const bool some = count < t->n, copy = 4 * count < scarce * t->n,
	           listed = t->pass->fused && some && !copy;
	if (copy)
		KDRI_TRY(kdri_mat_take(ctx, t->x, t->rows, count, &few));
	t->h = h;
	t->used = copy || listed ? t->rows : NULL;
	for (int64_t q = 0; q < t->d; q++)
		for (int64_t c = 0; c < w; c++)
			t->r[q * w + c] = t->p[q * w + c] = -g[q * t->m + t->live[c]];
	KDRI_TRY(direction_solve(ctx, t, copy ? &few.view : t->x, listed ? t->rows : NULL,
	                         t->used ? count : t->n, s));
done:
	kdri_own_free(ctx, &few);
	return st;
}
