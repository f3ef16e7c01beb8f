/* Symmetric non-negative matrix factorisation. SPDX-License-Identifier: BSD-3-Clause
 *
 *   (E1)  J = |M - Y Y'|^2 = |M|^2 - 2 tr(Y' M Y) + |Y'Y|^2,   Y >= 0 (n x k)              [ZZL19, eq. 21]
 *   (E2)  Y_ij <- Y_ij (N_ij / D_ij)^e,   N = M Y,   D = Y (Y'Y)                           [ZZL19, eq. 25]
 *   (E3)  Y = one-hot of labels + 0.2 at the start
 *
 * DEVIATION: with the paper's exponent e = 1/2 J can rise (the golden file has a 3 x 3 case, 1.237 to 1.315);
 * with e = 1/4 it cannot. A step of 1/2 that would make it rise is taken again with 1/4. From (E3) that has
 * not been seen to be needed.
 *
 * An iteration is one product M Y, used by (E1) and by the next (E2): 2 nnz k flops, and O(n k^2) beside.
 * Entries below 1e-100 become 0; 0/0 leaves an entry as it is. */
#include "algo/parts/snmf_steps.h"

static const double vanishing = 1e-100, start_softening = 0.2;

void kdri_snmf_free(kdr_context *ctx, kdri_snmf_result *r)
{
	kdri_free(ctx, r->y);
	kdri_free(ctx, r->trace);
	*r = (kdri_snmf_result){ 0 };
}

void kdri_snmf_start(const int64_t *labels, int64_t n, int64_t k, double *y)
{
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j < k; j++)
			y[i * k + j] = (labels[i] == j) + start_softening; /* (E3) */
}

void kdri_snmf_labels(const double *y, int64_t n, int64_t k, int64_t *labels)
{
	for (int64_t i = 0; i < n; i++) {
		labels[i] = 0;
		for (int64_t j = 1; j < k; j++)
			if (y[i * k + j] > y[i * k + labels[i]])
				labels[i] = j;
	}
}

static kdr_status apply_block(kdr_context *ctx, const kdri_op *op, const double *x, int64_t k, int64_t ldx,
                              double *y, int64_t ldy)
{
	return kdri_block_mul(ctx, op->data, x, k, ldx, y, ldy);
}

kdri_op kdri_op_block(const kdri_block *b)
{
	return (kdri_op){ .rows = b->rows, .cols = b->cols, .apply = apply_block, .data = b };
}

double kdri_block_square(kdr_context *ctx, const kdri_block *b)
{
	double part[KDRI_CHUNKS], sum = 0;
	int64_t chunks = kdri_chunks(b->rows);
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
	for (int64_t c = 0; c < chunks; c++) {
		part[c] = 0;
		for (int64_t i = kdri_chunk_begin(b->rows, chunks, c);
		     i < kdri_chunk_begin(b->rows, chunks, c + 1); i++)
			for (int64_t j = 0; j < b->cols; j++) {
				double v = kdri_block_get(b, i, j);
				part[c] += v * v;
			}
	}
	for (int64_t c = 0; c < chunks; c++)
		sum += part[c];
	return sum;
}

/* Where the iteration stands: Y with its N, Y'Y and J. */
typedef struct state {
	double *y, *n, *gram, objective;
} state;

typedef struct work {
	kdr_context *ctx;
	const kdri_op *m;
	double square;
	int64_t rows, k;
	double *d; /* rows x k: D */
	state now, next;
} work;

/* N, Y'Y and (E1) of s->y. */
static kdr_status evaluate(work *w, state *s)
{
	kdr_status st;
	int64_t n = w->rows, k = w->k;
	KDR_TRY(w->m->apply(w->ctx, w->m, s->y, k, k, s->n, k));
	KDR_TRY(kdri_gemm(w->ctx, true, false, k, k, n, 1, s->y, k, s->y, k, 0, s->gram, k));
	s->objective = KDRI_MAX(0, w->square - 2 * kdri_dot(s->y, s->n, n * k) + kdri_nrm2sq(s->gram, k * k));
done:
	return st;
}

/* (E2) from now to next, e = 1/2 or 1/4. */
static void step(work *w, bool careful)
{
	int64_t count = w->rows * w->k;
#pragma omp parallel for num_threads(w->ctx->threads) schedule(static) if (count > 1 << 14)
	for (int64_t i = 0; i < count; i++) {
		double top = w->now.n[i], bottom = w->d[i], y = w->now.y[i];
		if (bottom > 0) {
			double root = sqrt(top / bottom);
			y *= careful ? sqrt(root) : root;
		}
		w->next.y[i] = y < vanishing ? 0 : y;
	}
}

static bool same(const work *w)
{
	return memcmp(w->now.y, w->next.y, (size_t)(w->rows * w->k) * sizeof *w->now.y) == 0;
}

static kdr_status iterate(work *w, const kdri_snmf_options *o, kdri_snmf_result *r)
{
	kdr_status st;
	int64_t k = w->k, room = 0;
	/* J is a difference of sums of the size of |M|^2: this much of a rise is rounding. */
	double rounding = 1e-13 * w->square;
	KDR_TRY(evaluate(w, &w->now));
	r->start = w->now.objective;
	r->stop = KDR_STOP_MAX_ITER;
	while (r->iterations < o->max_iter) {
		if (r->iterations == room) {
			room = KDRI_MIN(o->max_iter, KDRI_MAX(64, 2 * room));
			KDR_TRY(KDRI_GROW(w->ctx, &r->trace, room));
		}
		KDR_TRY(kdri_gemm(w->ctx, false, false, w->rows, k, k, 1, w->now.y, k, w->now.gram, k, 0,
		                  w->d, k));
		step(w, false);
		KDR_TRY(evaluate(w, &w->next));
		if (w->next.objective > w->now.objective + rounding) {
			step(w, true);
			KDR_TRY(evaluate(w, &w->next));
			r->careful++;
		}
		double fall = w->now.objective - w->next.objective;
		bool ended = o->tol > 0 ? fall <= o->tol * w->now.objective : same(w);
		state before = w->now;
		w->now = w->next;
		w->next = before;
		r->trace[r->iterations++] = w->now.objective;
		if (o->stage &&
		    kdri_iteration(w->ctx, o->stage, r->iterations, o->max_iter, w->now.objective)) {
			r->stop = kdri_stop_reason(w->ctx);
			break;
		}
		if (ended) {
			r->stop = KDR_STOP_CONVERGED;
			break;
		}
	}
done:
	return st;
}

kdr_status kdri_snmf(kdr_context *ctx, const kdri_op *m, double square, const double *start,
                     const kdri_snmf_options *o, kdri_snmf_result *result)
{
	kdr_status st;
	int64_t n = m->rows, k = o->k, size;
	work w = { .ctx = ctx, .m = m, .square = square, .rows = n, .k = k };
	kdri_snmf_result r = { 0 };
	KDR_TRY(kdri_mul(ctx, n, k, &size));
	KDR_TRY(KDRI_NEW(ctx, &w.d, size));
	KDR_TRY(KDRI_NEW(ctx, &w.now.y, size));
	KDR_TRY(KDRI_NEW(ctx, &w.now.n, size));
	KDR_TRY(KDRI_NEW(ctx, &w.now.gram, k * k));
	KDR_TRY(KDRI_NEW(ctx, &w.next.y, size));
	KDR_TRY(KDRI_NEW(ctx, &w.next.n, size));
	KDR_TRY(KDRI_NEW(ctx, &w.next.gram, k * k));
	memcpy(w.now.y, start, (size_t)size * sizeof *start);
	KDR_TRY(iterate(&w, o, &r));
	r.y = w.now.y;
	w.now.y = NULL;
	*result = r;
	r = (kdri_snmf_result){ 0 };
done:
	kdri_snmf_free(ctx, &r);
	kdri_free(ctx, w.d);
	kdri_free(ctx, w.now.y);
	kdri_free(ctx, w.now.n);
	kdri_free(ctx, w.now.gram);
	kdri_free(ctx, w.next.y);
	kdri_free(ctx, w.next.n);
	kdri_free(ctx, w.next.gram);
	return st;
}
