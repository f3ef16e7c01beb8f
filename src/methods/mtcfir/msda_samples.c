/* A layer of mSDA through a matrix of samples x samples. SPDX-License-Identifier: BSD-3-Clause
 *
 * With G, R and Delta of msda_run.c, rows of X being samples:
 *
 *   (E8)   G = q^2 Xc diag(Delta)^-1 Xc',   R = (I + G)^-1                     in one place
 *   (E9)   g = Xc diag(Delta)^-1 xbar,   u = R g,   c = xbar + p q Xc' u
 *   (E10)  H = tanh((Xc - R Xc) / q + 1 c')                                    the training rows
 *   (E11)  H = tanh(E R Xc + 1 xbar'),   E = q Y diag(Delta)^-1 Xc',   Y = X - q 1 xbar'    all other rows
 *
 * and on dense layers, so that X is read as it is and not centred first,
 *
 *   (E12)  H = tanh(P X - (P 1) xbar' + 1 c'),  P = (I - R) / q;   H = tanh(E R X + (1 - E R 1) xbar')
 *
 * (E10) follows from (E2), (E3) of msda_run.c: W (x - q xbar) with x - q xbar = xc + p xbar. n^2 d flops for (E8)
 * and n^3 for the inverse, 2 n^2 d for (E10). On a sparse X these are products of sparse rows, and 2 nnz n. Dense layers
 * are taken in blocks of columns, as many as make a scratch of about `scratch` bytes. */
#include "methods/mtcfir/msda_work.h"

enum { PANEL = 64, STRIP = 8 };
static const int64_t scratch = 8 << 20;

static int64_t block_width(const kdri_msda *w)
{
	int64_t size = w->h.floats ? (int64_t)sizeof(float) : (int64_t)sizeof(double);
	return KDRI_MIN(w->d, KDRI_MAX(KDRI_MSDA_BLOCK, scratch / (size * w->m)));
}

/* A layer's own arrays. */
typedef struct dual {
	kdri_block r;      /* n x n: G, then R */
	kdri_block e;      /* (m - n) x n: E, then E R; in the precision of h */
	double *g, *u;     /* n; g is m long on a sparse X */
	double *root;      /* d: Delta^-1/2 */
	double *shift;     /* d: xbar Delta^-1/2 */
	double *ratio;     /* d: xbar / Delta */
	double *lean;      /* m: how much of xbar the rows of h get in (E12) */
	double mean_ratio; /* sum of xbar^2 / Delta */
} dual;

/* --- the sparse first layer --------------------------------------------------------------------------- */

/* G of (E8), from X Delta^-1 X' and a = X Delta^-1 xbar in s->g. */
static kdr_status fill_sparse_gram(kdri_msda *w, dual *s, const double *inverse)
{
	kdr_status st;
	double q2 = w->q * w->q, *g = s->r.data;
	int64_t n = w->n;
	kdr_csr rows = w->x->as.csr;
	rows.rows = n;
	KDRI_TRY(kdri_sparse_gram(w->ctx, &rows, &w->xt.view.as.csr, inverse, &s->r));
#pragma omp parallel for num_threads(w->ctx->threads) schedule(static)
	for (int64_t i = 0; i < n; i++)
		for (int64_t k = 0; k <= i; k++)
			g[i * n + k] = q2 * (g[i * n + k] - s->g[i] - s->g[k] + s->mean_ratio);
done:
	return st;
}

/* (E8), g of (E9) and E of (E11); of a layer that is known, E alone. */
static kdr_status fill_sparse(kdri_msda *w, dual *s)
{
	kdr_status st;
	double *inverse = NULL;
	int64_t n = w->n;
	KDRI_TRY(KDRI_NEW(w->ctx, &inverse, w->d));
	for (int64_t j = 0; j < w->d; j++)
		inverse[j] = 1 / w->delta[j];
	KDRI_TRY(kdri_mat_mul(w->ctx, w->x, s->ratio, 1, 1, s->g, 1));
	if (!w->known)
		KDRI_TRY(fill_sparse_gram(w, s, inverse));
	if (w->m > n) {
		kdr_mat others = kdri_rows(w->x, n, w->m);
		KDRI_TRY(kdri_sparse_cross(w->ctx, &others.as.csr, &w->xt.view.as.csr, inverse, &s->e));
		for (int64_t i = 0; i < w->m - n; i++)
			for (int64_t k = 0; k < n; k++) {
				double v = kdri_block_get(&s->e, i, k) - w->q * s->g[k] - s->g[n + i] +
				           w->q * s->mean_ratio;
				kdri_block_set(&s->e, i, k, w->q * v);
			}
	}
	for (int64_t i = 0; i < n; i++)
		s->g[i] -= s->mean_ratio;
done:
	kdri_free(w->ctx, inverse);
	return st;
}

/* Rows begin.. of h, from Y = X' B, B holding columns of R (n x count) or of (E R)'. `sum` are B's column sums.
 * (E10): (x_ij - xbar_j - Y_ji + sum_i xbar_j) / q + c_j; (E11): Y_ji - sum_i xbar_j + xbar_j. */
static void put_panel(const kdri_msda *w, int64_t begin, int64_t count, const double *y, const double *sum,
                      double *room)
{
	const kdr_csr *x = &w->x->as.csr;
	/* A line of Y holds STRIP columns: they are used while it is near. */
#pragma omp parallel for num_threads(w->ctx->threads) schedule(static)
	for (int64_t first = 0; first < count; first += STRIP) {
		int64_t end = KDRI_MIN(count, first + STRIP);
		for (int64_t j = 0; j < w->d; j++)
			for (int64_t c = first; c < end; c++) {
				double v = y[j * PANEL + c], mean = w->mean[j];
				room[c * w->d + j] = begin + c < w->n
				                             ? ((sum[c] - 1) * mean - v) / w->q + w->offset[j]
				                             : v + (1 - sum[c]) * mean;
			}
		for (int64_t c = first; c < end; c++) {
			int64_t i = begin + c;
			for (int64_t p = x->rowptr[i]; p < x->rowptr[i + 1] && i < w->n; p++)
				room[c * w->d + x->col[p]] += x->val[p] / w->q;
			kdri_msda_put(&w->h, i, 0, w->d, room + c * w->d);
		}
	}
}

static kdr_status msda_samples_apply_sparse(kdri_msda *w, const dual *s)
{
	kdr_status st;
	double *y = NULL, *room = NULL, *b = NULL, sum[PANEL];
	int64_t n = w->n, count;
	kdr_mat rows = kdri_rows(w->x, 0, n);
	KDRI_TRY(KDRI_NEW(w->ctx, &y, w->d * PANEL));
	KDRI_TRY(KDRI_NEW(w->ctx, &room, w->d * PANEL));
	KDRI_TRY(KDRI_NEW(w->ctx, &b, n * PANEL));
	for (int64_t i = 0; i < w->m; i += count) {
		count = KDRI_MIN(PANEL, (i < n ? n : w->m) - i);
		for (int64_t c = 0; c < count; c++) {
			sum[c] = 0;
			for (int64_t k = 0; k < n; k++) {
				double v = i < n ? kdri_block_get(&s->r, i + c, k) /* R is symmetric */
				                 : kdri_block_get(&s->e, i + c - n, k);
				b[k * PANEL + c] = v;
				sum[c] += v;
			}
		}
		KDRI_TRY(kdri_mat_tmul(w->ctx, &rows, b, count, PANEL, y, PANEL));
		put_panel(w, i, count, y, sum, room);
	}
done:
	kdri_free(w->ctx, y);
	kdri_free(w->ctx, room);
	kdri_free(w->ctx, b);
	return st;
}

/* --- dense layers ------------------------------------------------------------------------------------- */

/* (E8), g and E, a block of columns at a time; of a layer that is known, E alone. */
static kdr_status msda_samples_fill_dense(kdri_msda *w, dual *s)
{
	kdr_status st;
	int64_t n = w->n, width = block_width(w);
	KDRI_TRY(kdri_msda_room(w, w->m, width));
	memset(s->g, 0, (size_t)w->m * sizeof *s->g);
	for (int64_t j = 0; j < w->d; j += width) {
		int64_t cols = KDRI_MIN(width, w->d - j);
		kdri_block in = kdri_block_part(&w->room, 0, 0, n, cols);
		kdri_block other = kdri_block_part(&w->room, n, 0, w->m - n, cols);
		kdri_msda_centre(w, 0, j, 1, s->root, &in);
		if (!w->known) {
			KDRI_TRY(kdri_block_syrk(w->ctx, false, w->q * w->q, &in, j > 0, &s->r));
			KDRI_TRY(kdri_block_mul(w->ctx, &in, s->shift + j, 1, 1, s->u, 1));
			kdri_axpy(1, s->u, s->g, n);
		}
		if (w->m > n) {
			kdri_msda_centre(w, n, j, w->q, s->root, &other);
			KDRI_TRY(kdri_block_gemm(w->ctx, false, true, w->q, &other, &in, j > 0, &s->e));
		}
	}
	w->flops += w->known ? 0 : (double)n * (double)n * (double)w->d;
done:
	return st;
}

/* P in the place of R, and what its row sums and those of E R make of xbar in (E12). */
static void fill_map(const kdri_msda *w, dual *s)
{
	int64_t n = w->n;
#pragma omp parallel for num_threads(w->ctx->threads) schedule(static)
	for (int64_t i = 0; i < w->m; i++) {
		double sum = 0;
		for (int64_t k = 0; k < n; k++) {
			if (i < n)
				kdri_block_set(&s->r, i, k, ((i == k) - kdri_block_get(&s->r, i, k)) / w->q);
			sum += i < n ? kdri_block_get(&s->r, i, k) : kdri_block_get(&s->e, i - n, k);
		}
		s->lean[i] = i < n ? -sum : 1 - sum;
	}
}

/* (E12) for a piece of a row: tanh(out + lean mean + c); c NULL: 0. */
KDRI_KERNEL
static void shift_row(const double *out, double lean, const double *mean, const double *c, int64_t count,
                      double *to)
{
	for (int64_t j = 0; j < count; j++)
		to[j] = out[j] + lean * mean[j] + (c ? c[j] : 0);
}

KDRI_KERNEL
static void shift_rowf(const float *out, double lean, const double *mean, const double *c, int64_t count,
                       float *to)
{
	for (int64_t j = 0; j < count; j++)
		to[j] = (float)((double)out[j] + lean * mean[j] + (c ? c[j] : 0));
}

/* (E12) for columns j.. of h, from the products. */
static void put_block(const kdri_msda *w, const dual *s, int64_t j, const kdri_block *out)
{
#pragma omp parallel for num_threads(w->ctx->threads) schedule(static)
	for (int64_t i = 0; i < w->m; i++) {
		const double *c = i < w->n ? w->offset + j : NULL;
		kdri_block from = kdri_block_part(out, i, 0, 1, out->cols);
		kdri_block to = kdri_block_part(&w->h, i, j, 1, out->cols);
		if (w->h.floats) {
			shift_rowf(from.data, s->lean[i], w->mean + j, c, out->cols, to.data);
			kdri_tanhf(to.data, out->cols);
		} else {
			shift_row(from.data, s->lean[i], w->mean + j, c, out->cols, to.data);
			kdri_tanh(to.data, out->cols);
		}
	}
}

static kdr_status msda_samples_apply_dense(kdri_msda *w, const dual *s)
{
	kdr_status st;
	int64_t n = w->n, width = block_width(w);
	KDRI_TRY(kdri_msda_room(w, w->m, width));
	for (int64_t j = 0; j < w->d; j += width) {
		int64_t cols = KDRI_MIN(width, w->d - j);
		kdri_block in = kdri_block_part(&w->h, 0, j, n, cols);
		kdri_block out = kdri_block_part(&w->room, 0, 0, w->m, cols);
		kdri_block trained = kdri_block_part(&out, 0, 0, n, cols);
		kdri_block others = kdri_block_part(&out, n, 0, w->m - n, cols);
		KDRI_TRY(kdri_block_gemm(w->ctx, false, false, 1, &s->r, &in, 0, &trained));
		if (w->m > n)
			KDRI_TRY(kdri_block_gemm(w->ctx, false, false, 1, &s->e, &in, 0, &others));
		put_block(w, s, j, &out);
	}
	w->flops += 2 * (double)n * (double)w->m * (double)w->d;
done:
	return st;
}

/* --- both --------------------------------------------------------------------------------------------- */

/* offset = c of (E9). */
static kdr_status fill_offset(kdri_msda *w, dual *s)
{
	kdr_status st;
	int64_t n = w->n;
	double total = 0;
	KDRI_TRY(kdri_block_mul(w->ctx, &s->r, s->g, 1, 1, s->u, 1));
	for (int64_t i = 0; i < n; i++)
		total += s->u[i];
	if (w->sparse) {
		kdr_mat rows = kdri_rows(w->x, 0, n);
		KDRI_TRY(kdri_mat_tmul(w->ctx, &rows, s->u, 1, 1, w->offset, 1));
	} else {
#pragma omp parallel for num_threads(w->ctx->threads) schedule(static)
		for (int64_t b = 0; b < w->d; b += KDRI_BLOCK) {
			int64_t end = KDRI_MIN(w->d, b + KDRI_BLOCK);
			memset(w->offset + b, 0, (size_t)(end - b) * sizeof *w->offset);
			for (int64_t i = 0; i < n; i++)
				for (int64_t j = b; j < end; j++)
					w->offset[j] += s->u[i] * kdri_block_get(&w->h, i, j);
		}
	}
	for (int64_t j = 0; j < w->d; j++)
		w->offset[j] = w->mean[j] + w->p * w->q * (w->offset[j] - total * w->mean[j]);
done:
	return st;
}

/* E <- E R; R is narrowed to the precision of h where it meets h. */
static kdr_status fill_others(kdri_msda *w, dual *s)
{
	kdr_status st;
	kdri_block er = { 0 };
	KDRI_TRY(kdri_block_new(w->ctx, w->m - w->n, w->n, s->e.floats, &er));
	KDRI_TRY(kdri_block_gemm(w->ctx, false, false, 1, &s->e, &s->r, 0, &er));
	kdri_block_free(w->ctx, &s->e);
	s->e = er;
	er = (kdri_block){ 0 };
done:
	kdri_block_free(w->ctx, &er);
	return st;
}

/* R from G (E8), and c. */
static kdr_status msda_samples_learn(kdri_msda *w, dual *s)
{
	kdr_status st;
	int64_t n = w->n;
	double *r = s->r.data;
	for (int64_t i = 0; i < n; i++)
		r[i * n + i] += 1;
	KDRI_TRY(kdri_cholesky(w->ctx, n, r, n));
	KDRI_TRY(kdri_cholesky_inverse(w->ctx, n, r, n));
	w->flops += (double)n * (double)n * (double)n;
	KDRI_TRY(fill_offset(w, s));
done:
	return st;
}

kdr_status kdri_msda_by_samples(kdri_msda *w)
{
	kdr_status st;
	dual s = { 0 };
	int64_t n = w->n;
	KDRI_TRY(kdri_block_new(w->ctx, n, n, false, &s.r));
	KDRI_TRY(kdri_block_new(w->ctx, w->m - n, n, w->h.floats && !w->sparse, &s.e));
	KDRI_TRY(KDRI_NEW(w->ctx, &s.g, w->m));
	KDRI_TRY(KDRI_NEW(w->ctx, &s.u, n));
	KDRI_TRY(KDRI_NEW(w->ctx, &s.lean, w->m));
	KDRI_TRY(KDRI_NEW(w->ctx, &s.root, w->d));
	KDRI_TRY(KDRI_NEW(w->ctx, &s.shift, w->d));
	KDRI_TRY(KDRI_NEW(w->ctx, &s.ratio, w->d));
	for (int64_t j = 0; j < w->d; j++) {
		s.root[j] = 1 / sqrt(w->delta[j]);
		s.shift[j] = w->mean[j] * s.root[j];
		s.ratio[j] = w->mean[j] / w->delta[j];
		s.mean_ratio += w->mean[j] * s.ratio[j];
	}
	KDRI_TRY(w->sparse ? fill_sparse(w, &s) : msda_samples_fill_dense(w, &s));
	if (w->known) {
		kdri_msda_recall(w, s.r.data, n);
	} else {
		KDRI_TRY(msda_samples_learn(w, &s));
		kdri_msda_keep(w, s.r.data, n);
	}
	if (w->h.floats && !w->sparse)
		kdri_block_narrow(&s.r);
	if (w->m > n)
		KDRI_TRY(fill_others(w, &s));
	if (!w->sparse)
		fill_map(w, &s);
	KDRI_TRY(w->sparse ? msda_samples_apply_sparse(w, &s) : msda_samples_apply_dense(w, &s));
done:
	kdri_block_free(w->ctx, &s.r);
	kdri_block_free(w->ctx, &s.e);
	kdri_free(w->ctx, s.g);
	kdri_free(w->ctx, s.u);
	kdri_free(w->ctx, s.lean);
	kdri_free(w->ctx, s.root);
	kdri_free(w->ctx, s.shift);
	kdri_free(w->ctx, s.ratio);
	return st;
}
