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
 * product likes it, by columns of 0.
 *
 * N sums products that are none of them negative, so that single precision gives every entry to some 1e-7 of itself; J is a
 * difference of sums over all entries, whose errors cancel for the most part: 1e-9 |M|^2 is what was seen. */
#include "methods/mtcfir/snmf_runs.h"

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
	return kdri_block_mul_positive(ctx, op->data, x, k, ldx, y, ldy);
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

/* --- on the processor ------------------------------------------------------------------------------------- */

typedef struct work {
	const kdri_op *m;
	double *y[2], *n[2]; /* rows x ld, of each state */
	double *d;           /* rows x ld: D */
	double *sums;        /* KDRI_CHUNKS x ld */
} work;

static int64_t snmf_steps_width(int64_t slots, int64_t k)
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

static kdr_status snmf_steps_multiply(kdri_snmf_runs *w, int which, double *gram, double *products)
{
	kdr_status st;
	work *v = w->user;
	int64_t chunks = kdri_chunks(w->rows), ld = w->ld;
	const double *y = v->y[which], *n = v->n[which];
	KDRI_TRY(v->m->apply(w->ctx, v->m, y, ld, ld, v->n[which], ld));
	KDRI_TRY(kdri_gemm(w->ctx, true, false, ld, ld, w->rows, 1, y, ld, y, ld, 0, gram, ld));
	memset(v->sums, 0, (size_t)(chunks * ld) * sizeof *v->sums);
#pragma omp parallel for num_threads(w->ctx->threads) schedule(static) if (w->rows * ld > 1 << 14)
	for (int64_t c = 0; c < chunks; c++) {
		int64_t begin = kdri_chunk_begin(w->rows, chunks, c);
		add_products(y + begin * ld, n + begin * ld, kdri_chunk_begin(w->rows, chunks, c + 1) - begin,
		             ld, v->sums + c * ld);
	}
	for (int64_t c = 1; c < chunks; c++)
		kdri_axpy(1, v->sums + c * ld, v->sums, ld);
	memcpy(products, v->sums, (size_t)ld * sizeof *products);
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

static kdr_status snmf_steps_step(kdri_snmf_runs *w, int which, const double *gram)
{
	kdr_status st;
	work *v = w->user;
	int64_t ld = w->ld, count = w->rows * ld, piece = KDRI_BLOCK * ld;
	KDRI_TRY(kdri_gemm(w->ctx, false, false, w->rows, ld, ld, 1, v->y[which], ld, gram, ld, 0, v->d, ld));
#pragma omp parallel for num_threads(w->ctx->threads) schedule(static) if (count > 1 << 14)
	for (int64_t at = 0; at < count; at += piece)
		step_entries(v->y[which] + at, v->n[which] + at, v->d + at, KDRI_MIN(piece, count - at),
		             v->y[!which] + at);
done:
	return st;
}

static kdr_status step_carefully(kdri_snmf_runs *w, int which, int64_t slot)
{
	work *v = w->user;
	for (int64_t i = 0; i < w->rows; i++)
		for (int64_t at = i * w->ld + slot * w->k; at < i * w->ld + (slot + 1) * w->k; at++) {
			double y = v->y[which][at];
			if (v->d[at] > 0)
				y *= sqrt(sqrt(v->n[which][at] / v->d[at]));
			v->y[!which][at] = y < vanishing ? 0 : y;
		}
	return KDR_OK;
}

static kdr_status snmf_steps_same(kdri_snmf_runs *w, int64_t slot, bool *out)
{
	work *v = w->user;
	*out = true;
	for (int64_t i = 0; i < w->rows && *out; i++)
		*out = memcmp(v->y[0] + i * w->ld + slot * w->k, v->y[1] + i * w->ld + slot * w->k,
		              (size_t)w->k * sizeof **v->y) == 0;
	return KDR_OK;
}

/* Columns of start `slot`, rows x from, to slot `place` of rows x to. */
static void move_columns(const kdri_snmf_runs *w, const double *y, int64_t from, int64_t slot, double *out,
                         int64_t to, int64_t place)
{
	for (int64_t i = 0; i < w->rows; i++)
		memcpy(out + i * to + place * w->k, y + i * from + slot * w->k, (size_t)w->k * sizeof *y);
}

static kdr_status hand_in(kdri_snmf_runs *w, int which, int64_t slot, double *y)
{
	move_columns(w, ((work *)w->user)->y[which], w->ld, slot, y, w->k, 0);
	return KDR_OK;
}

static kdr_status snmf_steps_clear(kdri_snmf_runs *w, int which, int64_t ld)
{
	work *v = w->user;
	memset(v->y[which], 0, (size_t)(w->rows * ld) * sizeof **v->y);
	memset(v->n[which], 0, (size_t)(w->rows * ld) * sizeof **v->n);
	return KDR_OK;
}

static kdr_status snmf_steps_move(kdri_snmf_runs *w, int which, int64_t slot, int64_t place, int64_t ld)
{
	work *v = w->user;
	move_columns(w, v->y[which], w->ld, slot, v->y[!which], ld, place);
	move_columns(w, v->n[which], w->ld, slot, v->n[!which], ld, place);
	return KDR_OK;
}

static const kdri_snmf_place here = { snmf_steps_width, snmf_steps_multiply, snmf_steps_step,
	                              step_carefully,   snmf_steps_same,     hand_in,
	                              snmf_steps_clear, snmf_steps_move };

kdr_status kdri_snmf(kdr_context *ctx, const kdri_op *m, double square, const double *starts, int64_t runs,
                     const kdri_snmf_options *o, kdri_snmf_result *results)
{
	kdr_status st;
	int64_t n = m->rows, k = o->k;
	work v = { .m = m };
	kdri_snmf_runs w = { .ctx = ctx, .place = &here, .user = &v, .square = square, .rows = n, .k = k };
	KDRI_TRY(kdri_snmf_runs_open(&w, runs));
	KDRI_TRY(KDRI_NEW(ctx, &v.d, n * w.ld));
	KDRI_TRY(KDRI_NEW(ctx, &v.sums, KDRI_CHUNKS * w.ld));
	for (int which = 0; which < 2; which++) {
		KDRI_TRY(KDRI_NEW0(ctx, &v.y[which], n * w.ld));
		KDRI_TRY(KDRI_NEW0(ctx, &v.n[which], n * w.ld));
	}
	for (int64_t q = 0; q < runs; q++)
		move_columns(&w, starts + q * n * k, k, 0, v.y[0], w.ld, q);
	KDRI_TRY(kdri_snmf_runs_go(&w, runs, o, results));
done:
	kdri_snmf_runs_close(&w, runs);
	kdri_free(ctx, v.d);
	kdri_free(ctx, v.sums);
	for (int which = 0; which < 2; which++) {
		kdri_free(ctx, v.y[which]);
		kdri_free(ctx, v.n[which]);
	}
	return st;
}
