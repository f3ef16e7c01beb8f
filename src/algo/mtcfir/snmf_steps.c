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
 * Entries below 1e-100 become 0; 0/0 leaves an entry as it is.
 *
 * A product with few columns is as slow as the memory that M is read from. So several starts go in step: their Y
 * stand side by side in one matrix, and M is read once for all. A start that has ended leaves it. Y'Y and Y (Y'Y)
 * are single products too, with what lies between two starts set to 0. The width is a multiple of 4, as the sparse
 * product likes it, by columns of 0. */
#include "algo/mtcfir/snmf_steps.h"

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

/* Where the starts at work stand: Y with its N, Y'Y and J. */
typedef struct state {
	double *y, *n;     /* rows x ld: start s has columns s k .. s k + k - 1 */
	double *gram;      /* ld x ld, 0 between starts */
	double *objective; /* slots */
} state;

typedef struct work {
	kdr_context *ctx;
	const kdri_op *m;
	double square;
	int64_t rows, k;
	int64_t slots, ld; /* starts still at work, and columns they take */
	int64_t *run;      /* slots: the start's number */
	bool *flag;        /* slots: to be done again, then ended */
	double *d;         /* rows x ld: D */
	double *sums;      /* KDRI_CHUNKS x ld */
	state now, next;
	kdri_snmf_result *results;
} work;

static int64_t width_of(int64_t slots, int64_t k)
{
	return (slots * k + 3) / 4 * 4;
}

/* sum[c] += the sum of a_ic b_ic over rows. */
KDRI_KERNEL
static void add_products(const double *restrict a, const double *restrict b, int64_t rows, int64_t ld,
                         double *restrict sum)
{
	for (int64_t i = 0; i < rows; i++)
		for (int64_t c = 0; c < ld; c++)
			sum[c] += a[i * ld + c] * b[i * ld + c];
}

/* sums[c] = column c of Y times that of N. */
static void find_products(work *w, const state *s)
{
	int64_t chunks = kdri_chunks(w->rows), ld = w->ld;
	memset(w->sums, 0, (size_t)(chunks * ld) * sizeof *w->sums);
#pragma omp parallel for num_threads(w->ctx->threads) schedule(static) if (w->rows * ld > 1 << 14)
	for (int64_t c = 0; c < chunks; c++) {
		int64_t begin = kdri_chunk_begin(w->rows, chunks, c);
		add_products(s->y + begin * ld, s->n + begin * ld,
		             kdri_chunk_begin(w->rows, chunks, c + 1) - begin, ld, w->sums + c * ld);
	}
	for (int64_t c = 1; c < chunks; c++)
		kdri_axpy(1, w->sums + c * ld, w->sums, ld);
}

/* N, Y'Y and (E1) of s->y. */
static kdr_status evaluate(work *w, state *s)
{
	kdr_status st;
	int64_t n = w->rows, k = w->k, ld = w->ld;
	KDRI_TRY(w->m->apply(w->ctx, w->m, s->y, ld, ld, s->n, ld));
	KDRI_TRY(kdri_gemm(w->ctx, true, false, ld, ld, n, 1, s->y, ld, s->y, ld, 0, s->gram, ld));
	find_products(w, s);
	for (int64_t slot = 0; slot < w->slots; slot++) {
		double product = 0, square = 0;
		for (int64_t a = slot * k; a < (slot + 1) * k; a++) {
			double *row = s->gram + a * ld;
			product += w->sums[a];
			square += kdri_nrm2sq(row + slot * k, k);
			memset(row, 0, (size_t)(slot * k) * sizeof *row);
			memset(row + (slot + 1) * k, 0, (size_t)(ld - (slot + 1) * k) * sizeof *row);
		}
		s->objective[slot] = KDRI_MAX(0, w->square - 2 * product + square);
	}
done:
	return st;
}

/* (E2), e = 1/2. */
KDRI_KERNEL
static void step_entries(const double *restrict y, const double *restrict top, const double *restrict bottom,
                         int64_t count, double *restrict to)
{
	for (int64_t i = 0; i < count; i++) {
		double share = bottom[i] > 0 ? top[i] / bottom[i] : 1, v = y[i] * sqrt(share);
		to[i] = v < vanishing ? 0 : v;
	}
}

/* (E2) from now to next. */
static void step(work *w)
{
	int64_t count = w->rows * w->ld, piece = KDRI_BLOCK * w->ld;
#pragma omp parallel for num_threads(w->ctx->threads) schedule(static) if (count > 1 << 14)
	for (int64_t at = 0; at < count; at += piece)
		step_entries(w->now.y + at, w->now.n + at, w->d + at, KDRI_MIN(piece, count - at),
		             w->next.y + at);
}

/* The same with e = 1/4, for the starts that are flagged. */
static void step_carefully(work *w)
{
	int64_t k = w->k;
	for (int64_t slot = 0; slot < w->slots; slot++)
		for (int64_t i = 0; i < w->rows && w->flag[slot]; i++)
			for (int64_t at = i * w->ld + slot * k; at < i * w->ld + (slot + 1) * k; at++) {
				double y = w->now.y[at];
				if (w->d[at] > 0)
					y *= sqrt(sqrt(w->now.n[at] / w->d[at]));
				w->next.y[at] = y < vanishing ? 0 : y;
			}
}

/* One iteration of all starts at work: next from now. */
static kdr_status advance(work *w)
{
	kdr_status st;
	bool again = false;
	int64_t ld = w->ld;
	/* J is a difference of sums of the size of |M|^2: this much of a rise is rounding. */
	double rounding = 1e-13 * w->square;
	KDRI_TRY(kdri_gemm(w->ctx, false, false, w->rows, ld, ld, 1, w->now.y, ld, w->now.gram, ld, 0, w->d,
	                   ld));
	step(w);
	KDRI_TRY(evaluate(w, &w->next));
	for (int64_t slot = 0; slot < w->slots; slot++) {
		w->flag[slot] = w->next.objective[slot] > w->now.objective[slot] + rounding;
		w->results[w->run[slot]].careful += w->flag[slot];
		again = again || w->flag[slot];
	}
	if (again) {
		step_carefully(w);
		KDRI_TRY(evaluate(w, &w->next));
	}
done:
	return st;
}

static bool same(const work *w, int64_t slot)
{
	for (int64_t i = 0; i < w->rows; i++)
		if (memcmp(w->now.y + i * w->ld + slot * w->k, w->next.y + i * w->ld + slot * w->k,
		           (size_t)w->k * sizeof *w->now.y) != 0)
			return false;
	return true;
}

/* Takes `next` for `now`; flags the starts that have ended. Returns the least objective. */
static double accept(work *w, double tol)
{
	double least = INFINITY;
	for (int64_t slot = 0; slot < w->slots; slot++) {
		kdri_snmf_result *r = &w->results[w->run[slot]];
		double before = w->now.objective[slot], after = w->next.objective[slot];
		w->flag[slot] = tol > 0 ? before - after <= tol * before : same(w, slot);
		r->trace[r->iterations++] = after;
		least = KDRI_MIN(least, after);
	}
	state old = w->now;
	w->now = w->next;
	w->next = old;
	return least;
}

/* Columns of start `slot`, rows x from, to slot `place` of rows x to. */
static void move_columns(const work *w, const double *y, int64_t from, int64_t slot, double *out, int64_t to,
                         int64_t place)
{
	for (int64_t i = 0; i < w->rows; i++)
		memcpy(out + i * to + place * w->k, y + i * from + slot * w->k, (size_t)w->k * sizeof *y);
}

/* Starts that are flagged hand in their Y and leave; the others move together. */
static kdr_status retire(work *w, kdr_stop stop)
{
	kdr_status st = KDR_OK;
	int64_t k = w->k, left = 0, place = 0;
	for (int64_t slot = 0; slot < w->slots; slot++)
		left += !w->flag[slot];
	if (left == w->slots)
		return KDR_OK;
	int64_t ld = width_of(left, k);
	memset(w->next.y, 0, (size_t)(w->rows * ld) * sizeof *w->next.y);
	memset(w->next.n, 0, (size_t)(w->rows * ld) * sizeof *w->next.n);
	memset(w->next.gram, 0, (size_t)(ld * ld) * sizeof *w->next.gram);
	for (int64_t slot = 0; slot < w->slots; slot++) {
		if (w->flag[slot]) {
			kdri_snmf_result *r = &w->results[w->run[slot]];
			KDRI_TRY(KDRI_NEW(w->ctx, &r->y, w->rows * k));
			move_columns(w, w->now.y, w->ld, slot, r->y, k, 0);
			r->stop = stop;
			continue;
		}
		move_columns(w, w->now.y, w->ld, slot, w->next.y, ld, place);
		move_columns(w, w->now.n, w->ld, slot, w->next.n, ld, place);
		for (int64_t a = 0; a < k; a++)
			memcpy(w->next.gram + (place * k + a) * ld + place * k,
			       w->now.gram + (slot * k + a) * w->ld + slot * k, (size_t)k * sizeof(double));
		w->next.objective[place] = w->now.objective[slot];
		w->run[place++] = w->run[slot];
	}
	state old = w->now;
	w->now = w->next;
	w->next = old;
	w->slots = left;
	w->ld = ld;
done:
	return st;
}

static kdr_status retire_all(work *w, kdr_stop stop)
{
	for (int64_t slot = 0; slot < w->slots; slot++)
		w->flag[slot] = true;
	return retire(w, stop);
}

static kdr_status iterate(work *w, const kdri_snmf_options *o)
{
	kdr_status st;
	int64_t room = 0;
	KDRI_TRY(evaluate(w, &w->now));
	for (int64_t slot = 0; slot < w->slots; slot++)
		w->results[w->run[slot]].start = w->now.objective[slot];
	for (int64_t it = 0; it < o->max_iter && w->slots > 0; it++) {
		if (it == room) {
			room = KDRI_MIN(o->max_iter, KDRI_MAX(64, 2 * room));
			for (int64_t slot = 0; slot < w->slots; slot++)
				KDRI_TRY(KDRI_GROW(w->ctx, &w->results[w->run[slot]].trace, room));
		}
		KDRI_TRY(advance(w));
		double least = accept(w, o->tol);
		if (o->stage && kdri_iteration(w->ctx, o->stage, it + 1, o->max_iter, least))
			KDRI_TRY(retire_all(w, kdri_stop_reason(w->ctx)));
		else
			KDRI_TRY(retire(w, KDR_STOP_CONVERGED));
	}
	KDRI_TRY(retire_all(w, KDR_STOP_MAX_ITER));
done:
	return st;
}

static kdr_status state_new(const work *w, state *s)
{
	kdr_status st;
	KDRI_TRY(KDRI_NEW0(w->ctx, &s->y, w->rows * w->ld));
	KDRI_TRY(KDRI_NEW0(w->ctx, &s->n, w->rows * w->ld));
	KDRI_TRY(KDRI_NEW0(w->ctx, &s->gram, w->ld * w->ld));
	KDRI_TRY(KDRI_NEW(w->ctx, &s->objective, w->slots));
done:
	return st;
}

static void state_free(const work *w, state *s)
{
	kdri_free(w->ctx, s->y);
	kdri_free(w->ctx, s->n);
	kdri_free(w->ctx, s->gram);
	kdri_free(w->ctx, s->objective);
}

kdr_status kdri_snmf(kdr_context *ctx, const kdri_op *m, double square, const double *starts, int64_t runs,
                     const kdri_snmf_options *o, kdri_snmf_result *results)
{
	kdr_status st;
	int64_t n = m->rows, k = o->k, size;
	work w = { .ctx = ctx, .m = m, .square = square, .rows = n, .k = k, .slots = runs };
	w.ld = width_of(runs, k);
	KDRI_TRY(kdri_mul(ctx, n, w.ld, &size));
	KDRI_TRY(KDRI_NEW0(ctx, &w.results, runs));
	KDRI_TRY(KDRI_NEW(ctx, &w.run, runs));
	KDRI_TRY(KDRI_NEW(ctx, &w.flag, runs));
	KDRI_TRY(KDRI_NEW(ctx, &w.d, size));
	KDRI_TRY(KDRI_NEW(ctx, &w.sums, KDRI_CHUNKS * w.ld));
	KDRI_TRY(state_new(&w, &w.now));
	KDRI_TRY(state_new(&w, &w.next));
	for (int64_t q = 0; q < runs; q++) {
		w.run[q] = q;
		move_columns(&w, starts + q * n * k, k, 0, w.now.y, w.ld, q);
	}
	KDRI_TRY(iterate(&w, o));
	for (int64_t q = 0; q < runs; q++) {
		results[q] = w.results[q];
		w.results[q] = (kdri_snmf_result){ 0 };
	}
done:
	for (int64_t q = 0; q < runs && w.results; q++)
		kdri_snmf_free(ctx, &w.results[q]);
	kdri_free(ctx, w.results);
	kdri_free(ctx, w.run);
	kdri_free(ctx, w.flag);
	kdri_free(ctx, w.d);
	kdri_free(ctx, w.sums);
	state_free(&w, &w.now);
	state_free(&w, &w.next);
	return st;
}
