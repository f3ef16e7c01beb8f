/* Symmetric non-negative matrix factorisation. SPDX-License-Identifier: BSD-3-Clause
 *
 *   (E1)  J = |M - Y Y'|^2 = |M|^2 - 2 tr(Y' M Y) + |Y'Y|^2,   Y >= 0 (n x k)              [ZZL19, eq. 21]
 *   (E2)  Y_ij <- Y_ij (N_ij / D_ij)^e,   N = M Y,   D = Y (Y'Y)                           [ZZL19, eq. 25]
 *   (E3)  Y = one-hot of labels + 0.2 at the start
 *
 * DEVIATION: with the paper's exponent e = 1/2 J can rise (the golden file has a 3 x 3 case, 1.237 to 1.315); with e =
 * 1/4 it cannot. A step of 1/2 that would make it rise is repeated with 1/4. In practice this was never needed when
 * starting from (E3).
 *
 * An iteration is one product M Y, used by (E1) and by the next (E2): 2 nnz k flops, plus O(n k^2). Entries below
 * 1e-100 become 0; 0/0 leaves an entry unchanged.
 *
 * A product with few columns is limited by the memory bandwidth for reading M. Several starts therefore run in step:
 * their Y are adjacent in one matrix, and M is read once for all. A start that has ended is removed. Y'Y and Y (Y'Y) are
 * also single products, with entries between two starts set to 0. The width is padded with zero columns to a multiple of
 * 4, which suits the sparse product.
 *
 * M, Y, N and D are on a device; Y'Y, which is small, is copied to the host for the objective and back. There are two
 * alternating states: the current one and the next.
 *
 * N sums non-negative products, so that single precision gives every entry a relative error of about 1e-7. J is a
 * difference of sums over all entries, whose errors mostly cancel: the observed error is 1e-9 |M|^2. */
/* Cosines of samples that have no negative entry, as a product that is never formed.
 *
 * Words, molecules and pixels are counted: no sample has a negative entry, and no cosine of two samples is negative.
 * Then max(cos, 0) changes nothing, and with U the samples scaled to unit length (n x d, rows of zeros are unchanged)
 *
 *   (E4)  M = U U',   M Y = U (U' Y)
 *   (E5)  |M|^2 = |U' U|^2 if U is dense and d x d is smaller; sparse: sum over i of |U u_i|^2, one row of M at a
 *         time
 *   (E6)  U U' = F F' + diag(own), F the columns with two entries or more, own_i the sum of squares of row i of the others
 *
 * (E4) takes 4 e k flops for e entries instead of 2 n^2 k: a twenty-fifth of them for five thousand texts of a hundred
 * words each, and the n x n matrix is never formed. (E5) is computed once. The results are those of M up to rounding.
 *
 * Most words of a complete vocabulary occur in one text or none (E6).
 *
 * U   u, F if columns are dropped      U'  turned      U' Y  room      |M|^2  square */
#include "engine/graph/views.h"
#include "methods/mtcfir/mtcfir.h"

static const double start_softening = 0.2;

void kdri_snmf_free(kdr_context *ctx, kdri_snmf_result *r)
{
	KDRI_FREE(ctx, r->y, r->trace);
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

/* --- M ------------------------------------------------------------------------------------------------ */

static kdr_status multiply_dense(kdr_context *ctx, const void *data, kdri_block y, kdri_block n)
{
	const kdri_block *m = data;
	return kdri_device_status(ctx, m->dev, m->dev->apply(ctx, *m, y, n));
}

static kdr_status multiply_sparse(kdr_context *ctx, const void *data, kdri_block y, kdri_block n)
{
	const kdri_sparse *m = data;
	return kdri_device_status(ctx, m->dev, m->dev->multiply(ctx, m, false, y, n));
}

kdri_snmf_matrix kdri_snmf_dense(const kdri_block *m, double square)
{
	return (kdri_snmf_matrix){ m->dev, m->rows, square, m->floats, multiply_dense, m };
}

kdri_snmf_matrix kdri_snmf_sparse(const kdri_sparse *m, double square)
{
	return (kdri_snmf_matrix){ m->dev, m->x.rows, square, false, multiply_sparse, m };
}

/* --- starts in step --------------------------------------------------------------------------------------- */

/* Start `slot` has columns slot k .. slot k + k - 1 of the ld columns of Y, N and D. */
typedef struct runs {
	kdr_context *ctx;
	const kdri_snmf_matrix *m;
	int64_t k;
	int64_t slots, ld;        /* starts still at work, and columns they take */
	int now;                  /* the current state */
	kdri_block y[2], n[2], d; /* rows x ld, with room for all starts */
	kdri_block small;         /* ld x ld: Y'Y on the device */
	double *gram[2];          /* ld x ld, 0 between starts */
	double *objective[2];     /* slots */
	double *products;         /* ld */
	double *piece[2];         /* PIECE x k */
	int64_t *run;             /* slots: the start's number */
	bool *flag;               /* slots: to be done again, then ended */
	kdri_snmf_result *results;
} runs;

enum { PIECE = 256 };

static int64_t snmf_width(int64_t slots, int64_t k)
{
	return (slots * k + 3) / 4 * 4;
}

/* The view of rows x ld on a block that was made for more columns. */
static kdri_block shaped(kdri_block a, int64_t rows, int64_t ld)
{
	a.rows = rows;
	a.cols = a.stride = ld;
	return a;
}

static kdri_block whole(const runs *w, kdri_block a)
{
	return shaped(a, w->m->rows, w->ld);
}

/* Columns of a start. */
static kdri_block columns(const runs *w, kdri_block a, int64_t slot)
{
	return kdri_block_part(whole(w, a), 0, slot * w->k, w->m->rows, w->k);
}

static kdr_status snmf_open(runs *w, const double *starts, int64_t count)
{
	kdr_context *ctx = w->ctx;
	kdri_device *dev = w->m->dev;
	int64_t rows = w->m->rows;
	w->slots = count;
	w->ld = snmf_width(count, w->k);
	KDRI_DO(KDRI_NEW0(ctx, &w->results, count));
	KDRI_DO(KDRI_NEW(ctx, &w->run, count));
	KDRI_DO(KDRI_NEW(ctx, &w->flag, count));
	KDRI_DO(KDRI_NEW(ctx, &w->products, w->ld));
	KDRI_DO(kdri_block_new(ctx, dev, w->ld, w->ld, false, &w->small));
	KDRI_DO(kdri_block_new(ctx, dev, rows, w->ld, false, &w->d));
	for (int which = 0; which < 2; which++) {
		KDRI_DO(KDRI_NEW0(ctx, &w->gram[which], w->ld * w->ld));
		KDRI_DO(KDRI_NEW(ctx, &w->objective[which], count));
		KDRI_DO(KDRI_NEW(ctx, &w->piece[which], PIECE * w->k));
		KDRI_DO(kdri_block_new(ctx, dev, rows, w->ld, false, &w->y[which]));
		KDRI_DO(kdri_block_new(ctx, dev, rows, w->ld, false, &w->n[which]));
	}
	KDRI_DO_OP(ctx, dev, fill, whole(w, w->y[0]), 0);
	for (int64_t q = 0; q < count; q++) {
		w->run[q] = q;
		KDRI_DO(kdri_block_send(ctx, columns(w, w->y[0], q), starts + q * rows * w->k, w->k));
	}
	return KDR_OK;
}

static void snmf_close(runs *w, int64_t count)
{
	for (int64_t q = 0; q < count && w->results; q++)
		kdri_snmf_free(w->ctx, &w->results[q]);
	KDRI_FREE(w->ctx, w->results, w->run, w->flag, w->products);
	kdri_block_free(w->ctx, &w->small);
	kdri_block_free(w->ctx, &w->d);
	for (int which = 0; which < 2; which++) {
		KDRI_FREE(w->ctx, w->gram[which], w->objective[which], w->piece[which]);
		kdri_block_free(w->ctx, &w->y[which]);
		kdri_block_free(w->ctx, &w->n[which]);
	}
}

/* N, Y'Y and (E1) of a state. */
static kdr_status snmf_evaluate(runs *w, int which)
{
	kdri_device *dev = w->m->dev;
	kdri_block y = whole(w, w->y[which]), n = whole(w, w->n[which]),
	           small = shaped(w->small, w->ld, w->ld);
	int64_t k = w->k, ld = w->ld;
	KDRI_DO(w->m->multiply(w->ctx, w->m->data, y, n));
	KDRI_DO_OP(w->ctx, dev, gemm, true, false, 1, y, y, 0, small);
	KDRI_DO_OP(w->ctx, dev, column_dots, y, n, w->products);
	KDRI_DO(kdri_block_fetch(w->ctx, small, w->gram[which], ld));
	for (int64_t slot = 0; slot < w->slots; slot++) {
		double product = 0, square = 0;
		for (int64_t a = slot * k; a < (slot + 1) * k; a++) {
			double *row = w->gram[which] + a * ld;
			product += w->products[a];
			square += kdri_nrm2sq(row + slot * k, k);
			memset(row, 0, (size_t)(slot * k) * sizeof *row);
			memset(row + (slot + 1) * k, 0, (size_t)(ld - (slot + 1) * k) * sizeof *row);
		}
		w->objective[which][slot] = KDRI_MAX(0, w->m->square - 2 * product + square);
	}
	return KDR_OK;
}

/* One iteration of all starts at work. */
static kdr_status snmf_advance(runs *w)
{
	bool again = false;
	int now = w->now, next = !now;
	/* J is a difference of sums of the size of |M|^2: this much of a rise is rounding. */
	double rounding = (w->m->single ? 1e-8 : 1e-13) * w->m->square;
	/* Y of the next state, with e = 1/2. */
	kdri_device *dev = w->m->dev;
	kdri_block y = whole(w, w->y[w->now]), d = whole(w, w->d), small = shaped(w->small, w->ld, w->ld);
	KDRI_DO(kdri_block_send(w->ctx, small, w->gram[w->now], w->ld));
	KDRI_DO_OP(w->ctx, dev, gemm, false, false, 1, y, small, 0, d);
	KDRI_DO_OP(w->ctx, dev, ratio_step, y, whole(w, w->n[w->now]), d, false,
	           whole(w, w->y[!w->now])); /* (E2) */
	KDRI_DO(snmf_evaluate(w, next));
	for (int64_t slot = 0; slot < w->slots; slot++) {
		w->flag[slot] = w->objective[next][slot] > w->objective[now][slot] + rounding;
		w->results[w->run[slot]].careful += w->flag[slot];
		again = again || w->flag[slot];
		if (w->flag[slot])
			KDRI_DO_OP(w->ctx, w->m->dev, ratio_step, columns(w, w->y[now], slot),
			           columns(w, w->n[now], slot), columns(w, w->d, slot), true,
			           columns(w, w->y[next], slot));
	}
	if (again)
		KDRI_DO(snmf_evaluate(w, next));
	return KDR_OK;
}

/* Whether Y of a start is the same in both states. */
static kdr_status snmf_same(runs *w, int64_t slot, bool *out)
{
	*out = true;
	for (int64_t i = 0; i < w->m->rows && *out; i += PIECE) {
		int64_t rows = KDRI_MIN(PIECE, w->m->rows - i);
		for (int which = 0; which < 2; which++)
			KDRI_DO(kdri_block_fetch(
			        w->ctx, kdri_block_part(columns(w, w->y[which], slot), i, 0, rows, w->k),
			        w->piece[which], w->k));
		*out = memcmp(w->piece[0], w->piece[1], (size_t)(rows * w->k) * sizeof **w->piece) == 0;
	}
	return KDR_OK;
}

/* Makes the next state the current one and flags the starts that have ended. *least: the lowest objective. */
static kdr_status snmf_accept(runs *w, double tol, double *least)
{
	*least = INFINITY;
	for (int64_t slot = 0; slot < w->slots; slot++) {
		kdri_snmf_result *r = &w->results[w->run[slot]];
		double before = w->objective[w->now][slot], after = w->objective[!w->now][slot];
		w->flag[slot] = before - after <= tol * before;
		if (tol == 0)
			KDRI_DO(snmf_same(w, slot, &w->flag[slot]));
		r->trace[r->iterations++] = after;
		*least = KDRI_MIN(*least, after);
	}
	w->now = !w->now;
	return KDR_OK;
}

/* Y, N and Y'Y of a start move to place `to` of the next state, which has ld columns. */
static kdr_status snmf_move(runs *w, int64_t slot, int64_t to, int64_t ld)
{
	int now = w->now, next = !now;
	int64_t rows = w->m->rows, k = w->k;
	kdri_device *dev = w->m->dev;
	KDRI_DO_OP(w->ctx, dev, copy, columns(w, w->y[now], slot),
	           kdri_block_part(shaped(w->y[next], rows, ld), 0, to * k, rows, k));
	KDRI_DO_OP(w->ctx, dev, copy, columns(w, w->n[now], slot),
	           kdri_block_part(shaped(w->n[next], rows, ld), 0, to * k, rows, k));
	for (int64_t a = 0; a < k; a++)
		memcpy(w->gram[next] + (to * k + a) * ld + to * k,
		       w->gram[now] + (slot * k + a) * w->ld + slot * k, (size_t)k * sizeof(double));
	w->objective[next][to] = w->objective[now][slot];
	w->run[to] = w->run[slot];
	return KDR_OK;
}

/* Starts that are flagged hand in their Y and leave; the others move together. */
static kdr_status snmf_retire(runs *w, kdr_stop stop)
{
	int now = w->now, next = !now;
	int64_t left = 0, to = 0, rows = w->m->rows;
	for (int64_t slot = 0; slot < w->slots; slot++)
		left += !w->flag[slot];
	if (left == w->slots)
		return KDR_OK;
	int64_t ld = snmf_width(left, w->k);
	if (left > 0) {
		memset(w->gram[next], 0, (size_t)(ld * ld) * sizeof *w->gram[next]);
		KDRI_DO_OP(w->ctx, w->m->dev, fill, shaped(w->y[next], rows, ld), 0);
		KDRI_DO_OP(w->ctx, w->m->dev, fill, shaped(w->n[next], rows, ld), 0);
	}
	for (int64_t slot = 0; slot < w->slots; slot++) {
		if (w->flag[slot]) {
			kdri_snmf_result *r = &w->results[w->run[slot]];
			KDRI_DO(KDRI_NEW(w->ctx, &r->y, rows * w->k));
			KDRI_DO(kdri_block_fetch(w->ctx, columns(w, w->y[now], slot), r->y, w->k));
			r->stop = stop;
			continue;
		}
		KDRI_DO(snmf_move(w, slot, to++, ld));
	}
	w->now = next;
	w->slots = left;
	w->ld = ld;
	return KDR_OK;
}

static kdr_status snmf_retire_all(runs *w, kdr_stop stop)
{
	for (int64_t slot = 0; slot < w->slots; slot++)
		w->flag[slot] = true;
	return snmf_retire(w, stop);
}

static kdr_status snmf_iterate(runs *w, const kdri_snmf_options *o)
{
	int64_t room = 0;
	double least;
	KDRI_DO(snmf_evaluate(w, w->now));
	for (int64_t slot = 0; slot < w->slots; slot++)
		w->results[w->run[slot]].start = w->objective[w->now][slot];
	for (int64_t it = 0; it < o->max_iter && w->slots > 0; it++) {
		if (it == room) {
			room = KDRI_MIN(o->max_iter, KDRI_MAX(64, 2 * room));
			for (int64_t slot = 0; slot < w->slots; slot++)
				KDRI_DO(KDRI_GROW(w->ctx, &w->results[w->run[slot]].trace, room));
		}
		KDRI_DO(snmf_advance(w));
		KDRI_DO(snmf_accept(w, o->tol, &least));
		if (o->stage && kdri_iteration(w->ctx, o->stage, it + 1, o->max_iter, least))
			KDRI_DO(snmf_retire_all(w, kdri_stop_reason(w->ctx)));
		else
			KDRI_DO(snmf_retire(w, KDR_STOP_CONVERGED));
	}
	return snmf_retire_all(w, KDR_STOP_MAX_ITER);
}

kdr_status kdri_snmf(kdr_context *ctx, const kdri_snmf_matrix *m, const double *starts, int64_t count,
                     const kdri_snmf_options *o, kdri_snmf_result *results)
{
	kdr_status st;
	runs w = { .ctx = ctx, .m = m, .k = o->k };
	KDRI_TRY(snmf_open(&w, starts, count));
	KDRI_TRY(snmf_iterate(&w, o));
	for (int64_t q = 0; q < count; q++) {
		results[q] = w.results[q];
		w.results[q] = (kdri_snmf_result){ 0 };
	}
done:
	snmf_close(&w, count);
	return st;
}

/* Time of an entry relative to that in a product of dense matrices. */
static const double sparse_times = 2, dense_times = 1.5;

bool kdri_cosines_pay(const kdr_mat *x)
{
	const double n = (double)kdr_mat_rows(x), entries = (double)kdr_mat_nnz(x);
	return 2 * entries * (x->kind == KDR_MAT_DENSE ? dense_times : sparse_times) < n * n &&
	       kdri_mat_nonnegative(x);
}

/* (E5) */
static kdr_status find_square(kdr_context *ctx, kdri_cosines *c)
{
	kdr_status st;
	const kdr_mat *u = &c->u.view;
	int64_t d = kdr_mat_cols(u), size;
	double *gram = NULL;
	if (u->kind == KDR_MAT_CSR)
		return kdri_sparse_gram_square(ctx, &u->as.csr, &c->turned.view.as.csr, &c->square);
	KDRI_TRY(kdri_mul(ctx, d, d, &size));
	KDRI_TRY(KDRI_NEW(ctx, &gram, size));
	KDRI_TRY(kdri_syrk(ctx, true, d, u->as.dense.rows, u->as.dense.data, u->as.dense.stride, gram, d));
	c->square = kdri_nrm2sq(gram, size);
done:
	kdri_free(ctx, gram);
	return st;
}

/* (E6), if it drops half of all columns or more. */
static kdr_status drop_rare(kdr_context *ctx, kdri_cosines *c)
{
	kdr_status st;
	kdri_own some = { .view = kdr_mat_from_dense(NULL, 0, 0) }, u = some;
	const kdr_csr *t = &c->turned.view.as.csr;
	int64_t count = 0, *list = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &list, t->rows));
	for (int64_t j = 0; j < t->rows; j++)
		if (t->rowptr[j + 1] > t->rowptr[j] + 1)
			list[count++] = j;
	if (2 * count > t->rows || count == 0)
		goto done;
	KDRI_TRY(KDRI_NEW0(ctx, &c->own, t->cols));
	for (int64_t j = 0; j < t->rows; j++)
		if (t->rowptr[j + 1] == t->rowptr[j] + 1)
			c->own[t->col[t->rowptr[j]]] += t->val[t->rowptr[j]] * t->val[t->rowptr[j]];
	KDRI_TRY(kdri_mat_take(ctx, &c->turned.view, list, count, &some));
	KDRI_TRY(kdri_mat_transpose(ctx, &some.view, &u));
	kdri_own_free(ctx, &c->turned);
	kdri_own_free(ctx, &c->u);
	c->turned = some;
	c->u = u;
	some = u = (kdri_own){ .view = kdr_mat_from_dense(NULL, 0, 0) };
done:
	kdri_own_free(ctx, &some);
	kdri_own_free(ctx, &u);
	kdri_free(ctx, list);
	return st;
}

kdr_status kdri_cosines_new(kdr_context *ctx, const kdr_mat *x, int64_t columns, kdri_cosines *out)
{
	kdr_status st;
	int64_t size;
	const kdri_own none = { .view = kdr_mat_from_dense(NULL, 0, 0) };
	kdri_cosines c = { .u = none, .turned = none, .columns = columns };
	KDRI_TRY(kdri_unit_rows(ctx, x, &c.u));
	if (x->kind == KDR_MAT_CSR)
		KDRI_TRY(kdri_mat_transpose(ctx, &c.u.view, &c.turned));
	KDRI_TRY(find_square(ctx, &c));
	if (x->kind == KDR_MAT_CSR)
		KDRI_TRY(drop_rare(ctx, &c));
	KDRI_TRY(kdri_mul(ctx, kdr_mat_cols(&c.u.view), columns, &size));
	KDRI_TRY(KDRI_NEW(ctx, &c.room, size));
	*out = c;
	c = (kdri_cosines){ .u = none, .turned = none };
done:
	kdri_cosines_free(ctx, &c);
	return st;
}

void kdri_cosines_free(kdr_context *ctx, kdri_cosines *c)
{
	kdri_own_free(ctx, &c->u);
	kdri_own_free(ctx, &c->turned);
	KDRI_FREE(ctx, c->room, c->own);
	c->room = c->own = NULL;
}

/* (E4) */
static kdr_status cosines_multiply(kdr_context *ctx, const void *data, kdri_block y, kdri_block n)
{
	const kdri_cosines *c = data;
	const bool sparse = c->u.view.kind == KDR_MAT_CSR;
	for (int64_t j = 0; j < y.cols; j += c->columns) {
		int64_t wide = KDRI_MIN(c->columns, y.cols - j);
		const double *from = (const double *)y.data + j;
		if (sparse)
			KDRI_DO(kdri_mat_mul(ctx, &c->turned.view, from, wide, y.stride, c->room, wide));
		else
			KDRI_DO(kdri_mat_tmul(ctx, &c->u.view, from, wide, y.stride, c->room, wide));
		KDRI_DO(kdri_mat_mul(ctx, &c->u.view, c->room, wide, wide, (double *)n.data + j, n.stride));
	}
	for (int64_t i = 0; c->own && i < y.rows; i++)
		kdri_axpy(c->own[i], (const double *)y.data + i * y.stride, (double *)n.data + i * n.stride,
		          y.cols);
	return KDR_OK;
}

kdri_snmf_matrix kdri_snmf_cosines(const kdri_cosines *c)
{
	return (kdri_snmf_matrix){ .dev = &kdri_cpu,
		                   .rows = kdr_mat_rows(&c->u.view),
		                   .square = c->square,
		                   .multiply = cosines_multiply,
		                   .data = c };
}
