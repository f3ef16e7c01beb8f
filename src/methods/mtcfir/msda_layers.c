/* A layer of mSDA, by features or by samples. SPDX-License-Identifier: BSD-3-Clause
 *
 * With Q, Delta and W of msda.c, rows of X being samples:
 *
 *   (E4)  Q = q^2 Xc'Xc + diag(Delta)         sparse: X'X - n xbar xbar'; dense: from centred blocks of rows
 *   (E5)  W' = (I - Q^-1 diag(Delta)) / q     stored in place of Q
 *   (E6)  b = xbar - q W xbar
 *   (E7)  H = tanh(X W' + 1 b')               sparse X times dense W', or blocks of rows
 *
 * n d^2 flops for (E4), d^3 for (E5), 2 n d^2 for (E7); on a sparse X only (E5) and 2 nnz d. Q and its inverse
 * are double in any precision, and W' is single only if H is its other factor. */
/* A layer of mSDA through a matrix of samples x samples.
 *
 * With G, R and Delta of msda.c, rows of X being samples:
 *
 *   (E15)   G = q^2 Xc diag(Delta)^-1 Xc',   R = (I + G)^-1                     in one place
 *   (E16)   g = Xc diag(Delta)^-1 xbar,   u = R g,   c = xbar + p q Xc' u
 *   (E17)  H = tanh((Xc - R Xc) / q + 1 c')                                    the training rows
 *   (E18)  H = tanh(E R Xc + 1 xbar'),   E = q Y diag(Delta)^-1 Xc',   Y = X - q 1 xbar'    all other rows
 *
 * and for dense layers, so that X is read without centring it first,
 *
 *   (E19)  H = tanh(P X - (P 1) xbar' + 1 c'),  P = (I - R) / q;   H = tanh(E R X + (1 - E R 1) xbar')
 *
 * (E17) follows from (E3), (E4) of msda.c: W (x - q xbar) with x - q xbar = xc + p xbar. n^2 d flops for (E15)
 * and n^3 for the inverse, 2 n^2 d for (E17). On a sparse X these are products of sparse rows, and 2 nnz n. Dense layers
 * are taken in panels of columns (msda.c). The other rows are available on the CPU only. */
#include "methods/mtcfir/mtcfir.h"

enum { SPARSE_ROWS = 4096 };

/* The training rows, with their transpose. */
static kdri_sparse msda_train(const kdri_msda *w)
{
	kdri_sparse train = w->rows;
	train.x.rows = w->n;
	return train;
}

/* (E4), the lower triangle */
static kdr_status fill_q(kdri_msda *w, kdri_block q)
{
	int64_t d = w->d, high = w->h.high;
	if (w->sparse) {
		const kdri_sparse train = msda_train(w);
		KDRI_DO_OP(w->ctx, w->dev, gram, &train, true, NULL, q);
	} else {
		KDRI_DO(kdri_msda_room(w, high, d));
		for (int64_t i = 0; i < w->n; i += high) {
			int64_t rows = KDRI_MIN(high, w->n - i);
			kdri_block in, centred = kdri_block_part(w->room, 0, 0, rows, d);
			KDRI_DO(kdri_panels_load(&w->h, i, 0, rows, d, &in));
			KDRI_DO_OP(w->ctx, w->dev, centre, in, w->mean, 1, NULL, centred);
			KDRI_DO_OP(w->ctx, w->dev, syrk, true, 1, centred, i > 0, q);
		}
		w->flops += (double)w->n * (double)d * (double)d;
	}
	KDRI_DO_OP(w->ctx, w->dev, adjust, q, w->sparse ? w->mean : NULL, true, (double)w->n, w->q * w->q,
	           w->delta);
	return KDR_OK;
}

/* Columns of a product with sparse rows whose other side is d long. */
static int64_t msda_strip(const kdri_msda *w)
{
	return KDRI_MAX(1, KDRI_MIN(2 * w->dev->most_columns, w->h.most / kdri_stride(w->d)));
}

/* (E7) on a sparse X. A panel of columns of W' is contiguous while all rows of X are multiplied by it: spread over d
 * rows, it would be in d pages of memory. */
static kdr_status msda_features_apply_sparse(kdri_msda *w, kdri_block weights)
{
	kdr_status st;
	kdri_block panel = { 0 }, part = { 0 };
	int64_t d = w->d, wide = KDRI_MIN(msda_strip(w), d);
	int64_t block = KDRI_MIN(KDRI_MIN(w->m, SPARSE_ROWS), KDRI_MAX(1, w->h.most / kdri_stride(wide)));
	KDRI_TRY(kdri_block_new(w->ctx, w->dev, d, wide, false, &panel));
	KDRI_TRY(kdri_block_new(w->ctx, w->dev, block, wide, false, &part));
	for (int64_t j = 0; j < d; j += wide) {
		int64_t cols = KDRI_MIN(wide, d - j);
		kdri_block from = kdri_block_part(panel, 0, 0, d, cols);
		KDRI_OP(w->ctx, w->dev, copy, kdri_block_part(weights, 0, j, d, cols), from);
		for (int64_t i = 0; i < w->m; i += block) {
			int64_t rows = KDRI_MIN(block, w->m - i);
			const kdri_sparse x = kdri_sparse_rows(&w->rows, i, i + rows);
			kdri_block y = kdri_block_part(part, 0, 0, rows, cols),
			           h = kdri_panels_view(&w->h, i, j, rows, cols);
			KDRI_OP(w->ctx, w->dev, multiply, &x, false, from, y);
			KDRI_OP(w->ctx, w->dev, tanh, y, NULL, NULL, w->offset + j, h);
			KDRI_TRY(kdri_panels_store(&w->h, i, j, h));
		}
	}
done:
	kdri_block_free(w->ctx, &panel);
	kdri_block_free(w->ctx, &part);
	return st;
}

kdr_status kdri_msda_by_features(kdri_msda *w)
{
	kdr_status st;
	kdri_block q = { 0 };
	KDRI_TRY(kdri_block_new(w->ctx, w->dev, w->d, w->d, false, &q));
	if (w->known) {
		KDRI_TRY(kdri_msda_recall(w, q));
	} else {
		/* (E4)-(E6): W' in the block, and b. */
		int64_t d = w->d;
		KDRI_TRY(fill_q(w, q));
		KDRI_OP(w->ctx, w->dev, inverse, q);
		w->flops += (double)d * (double)d * (double)d;
		/* (W xbar)_i = (xbar_i - delta_i (Q^-1 xbar)_i) / q (E6) */
		KDRI_OP(w->ctx, w->dev, row_dots, q, w->mean, w->offset);
		for (int64_t i = 0; i < d; i++)
			w->offset[i] *= w->delta[i];
		KDRI_OP(w->ctx, w->dev, complement, q, w->delta, w->q); /* (E5) */
		KDRI_TRY(kdri_msda_keep(w, q));
	}
	if (w->sparse) {
		KDRI_TRY(msda_features_apply_sparse(w, q));
	} else {
		if (w->h.all.single || w->h.room.single)
			kdri_block_narrow(&q);
		/* (E7) on H, in place */
		int64_t d = w->d, high = w->h.high;
		KDRI_TRY(kdri_msda_room(w, high, d));
		for (int64_t i = 0; i < w->m; i += high) {
			int64_t rows = KDRI_MIN(high, w->m - i);
			kdri_block h, y = kdri_block_part(w->room, 0, 0, rows, d);
			KDRI_TRY(kdri_panels_load(&w->h, i, 0, rows, d, &h));
			KDRI_OP(w->ctx, w->dev, gemm, false, false, 1, h, q, 0, y);
			KDRI_OP(w->ctx, w->dev, tanh, y, NULL, NULL, w->offset, h);
			KDRI_TRY(kdri_panels_store(&w->h, i, 0, h));
		}
		w->flops += 2 * (double)w->m * (double)d * (double)d;
	}
done:
	kdri_block_free(w->ctx, &q);
	return st;
}

/* A layer's own arrays; vectors are the host's. */
typedef struct dual {
	kdri_block r;      /* n x n: G, then R */
	kdri_block e;      /* (m - n) x n: E, then E R; in the precision of h */
	double *g, *u;     /* n; g is m long on a sparse X */
	double *root;      /* d: Delta^-1/2 */
	double *shift;     /* d: xbar Delta^-1/2 */
	double *ratio;     /* d: xbar / Delta */
	double *lean;      /* m: how much of xbar the rows of h get in (E19), or in (E17) and (E18) */
	double mean_ratio; /* sum of xbar^2 / Delta */
} dual;

/* --- the sparse first layer --------------------------------------------------------------------------- */

/* I + G of (E15), g of (E16) and E of (E18); of a layer that is known, E alone. */
static kdr_status fill_sparse(kdri_msda *w, dual *s)
{
	kdr_status st;
	double *inverse = NULL;
	const kdri_sparse train = msda_train(w);
	KDRI_TRY(KDRI_NEW(w->ctx, &inverse, w->d));
	for (int64_t j = 0; j < w->d; j++)
		inverse[j] = 1 / w->delta[j];
	KDRI_TRY(kdri_mat_mul(w->ctx, w->x, s->ratio, 1, 1, s->g, 1));
	if (!w->known) {
		KDRI_OP(w->ctx, w->dev, gram, &train, false, inverse, s->r);
		KDRI_OP(w->ctx, w->dev, adjust, s->r, s->g, false, s->mean_ratio, w->q * w->q, NULL);
	}
	if (w->m > w->n) {
		/* E of (E18), from Y Delta^-1 X' and s->g. */
		int64_t n = w->n;
		kdr_mat others = kdri_rows(w->x, n, w->m);
		KDRI_TRY(kdri_sparse_cross(w->ctx, &others.as.csr, &w->xt.view.as.csr, inverse, s->e));
		for (int64_t i = 0; i < w->m - n; i++)
			for (int64_t k = 0; k < n; k++) {
				double v = kdri_block_get(&s->e, i, k) - w->q * s->g[k] - s->g[n + i] +
				           w->q * s->mean_ratio;
				kdri_block_set(&s->e, i, k, w->q * v);
			}
	}
	for (int64_t i = 0; i < w->n; i++)
		s->g[i] -= s->mean_ratio;
done:
	kdri_free(w->ctx, inverse);
	return st;
}

/* Rows of h from Y = X' B, B holding columns of R, which is symmetric (E17), or of (E R)' (E18). */
static kdr_status msda_samples_apply_sparse(kdri_msda *w, dual *s)
{
	kdr_status st;
	kdri_block y = { 0 }, turned = { 0 };
	const kdri_sparse train = msda_train(w);
	int64_t n = w->n, strip = msda_strip(w), count;
	KDRI_TRY(kdri_block_new(w->ctx, w->dev, w->d, KDRI_MIN(strip, w->m), false, &y));
	KDRI_TRY(kdri_block_new(w->ctx, w->dev, w->m > n ? n : 0, strip, false, &turned));
	for (int64_t i = 0; i < w->m; i += count) {
		bool trained = i < n;
		count = KDRI_MIN(strip, (trained ? n : w->m) - i);
		kdri_block to = kdri_block_part(y, 0, 0, w->d, count),
		           from = kdri_block_part(trained ? s->r : turned, 0, trained ? i : 0, n, count),
		           h = kdri_panels_view(&w->h, i, 0, count, w->d);
		for (int64_t c = 0; c < count && !trained; c++)
			for (int64_t k = 0; k < n; k++)
				kdri_block_set(&turned, k, c, kdri_block_get(&s->e, i + c - n, k));
		const kdri_sparse x = kdri_sparse_rows(&train, trained ? i : 0, trained ? i + count : 0);
		KDRI_OP(w->ctx, w->dev, multiply, &train, true, from, to);
		KDRI_OP(w->ctx, w->dev, tanh_rows, to, trained ? &x : NULL, s->lean + i, w->mean, w->q,
		        w->offset, h);
		KDRI_TRY(kdri_panels_store(&w->h, i, 0, h));
	}
done:
	kdri_block_free(w->ctx, &y);
	kdri_block_free(w->ctx, &turned);
	return st;
}

/* --- dense layers ------------------------------------------------------------------------------------- */

/* I + G of (E15), g and E, a panel of columns at a time; of a layer that is known, E alone. */
static kdr_status msda_samples_fill_dense(kdri_msda *w, dual *s)
{
	int64_t n = w->n, wide = w->h.wide;
	KDRI_DO(kdri_msda_room(w, w->m, wide));
	memset(s->g, 0, (size_t)w->m * sizeof *s->g);
	for (int64_t j = 0; j < w->d; j += wide) {
		int64_t cols = KDRI_MIN(wide, w->d - j);
		kdri_block h, in = kdri_block_part(w->room, 0, 0, n, cols),
		              other = kdri_block_part(w->room, n, 0, w->m - n, cols);
		KDRI_DO(kdri_panels_load(&w->h, 0, j, w->m, cols, &h));
		KDRI_DO_OP(w->ctx, w->dev, centre, kdri_block_part(h, 0, 0, n, cols), w->mean + j, 1,
		           s->root + j, in);
		if (!w->known) {
			KDRI_DO_OP(w->ctx, w->dev, syrk, false, w->q * w->q, in, j > 0, s->r);
			KDRI_DO_OP(w->ctx, w->dev, times, in, false, s->shift + j, s->u);
			kdri_axpy(1, s->u, s->g, n);
		}
		if (w->m > n) {
			KDRI_DO_OP(w->ctx, w->dev, centre, kdri_block_part(h, n, 0, w->m - n, cols),
			           w->mean + j, w->q, s->root + j, other);
			KDRI_DO_OP(w->ctx, w->dev, gemm, false, true, w->q, other, in, j > 0, s->e);
		}
	}
	if (!w->known)
		KDRI_DO_OP(w->ctx, w->dev, adjust, s->r, NULL, false, 0, 1, NULL);
	w->flops += w->known ? 0 : (double)n * (double)n * (double)w->d;
	return KDR_OK;
}

static kdr_status msda_samples_apply_dense(kdri_msda *w, const dual *s)
{
	int64_t n = w->n, wide = w->h.wide;
	KDRI_DO(kdri_msda_room(w, w->m, wide));
	for (int64_t j = 0; j < w->d; j += wide) {
		int64_t cols = KDRI_MIN(wide, w->d - j);
		kdri_block h, out = kdri_block_part(w->room, 0, 0, w->m, cols);
		KDRI_DO(kdri_panels_load(&w->h, 0, j, w->m, cols, &h));
		kdri_block in = kdri_block_part(h, 0, 0, n, cols),
		           trained = kdri_block_part(out, 0, 0, n, cols),
		           others = kdri_block_part(out, n, 0, w->m - n, cols);
		KDRI_DO_OP(w->ctx, w->dev, gemm, false, false, 1, s->r, in, 0, trained);
		if (w->m > n)
			KDRI_DO_OP(w->ctx, w->dev, gemm, false, false, 1, s->e, in, 0, others);
		KDRI_DO_OP(w->ctx, w->dev, tanh, trained, s->lean, w->mean + j, w->offset + j,
		           in); /* (E19) */
		if (w->m > n)
			KDRI_DO_OP(w->ctx, w->dev, tanh, others, s->lean + n, w->mean + j, NULL,
			           kdri_block_part(h, n, 0, w->m - n, cols));
		KDRI_DO(kdri_panels_store(&w->h, 0, j, h));
	}
	w->flops += 2 * (double)n * (double)w->m * (double)w->d;
	return KDR_OK;
}

/* --- both --------------------------------------------------------------------------------------------- */

/* offset = c of (E16). */
static kdr_status fill_offset(kdri_msda *w, dual *s)
{
	int64_t n = w->n, wide = kdri_panels_span(&w->h);
	double total = 0;
	KDRI_DO_OP(w->ctx, w->dev, times, s->r, false, s->g, s->u);
	for (int64_t i = 0; i < n; i++)
		total += s->u[i];
	if (w->sparse) {
		kdr_mat rows = kdri_rows(w->x, 0, n);
		KDRI_DO(kdri_mat_tmul(w->ctx, &rows, s->u, 1, 1, w->offset, 1));
	}
	for (int64_t j = 0; j < w->d && !w->sparse; j += wide) {
		kdri_block part;
		KDRI_DO(kdri_panels_load(&w->h, 0, j, n, KDRI_MIN(wide, w->d - j), &part));
		KDRI_DO_OP(w->ctx, w->dev, times, part, true, s->u, w->offset + j);
	}
	for (int64_t j = 0; j < w->d; j++)
		w->offset[j] = w->mean[j] + w->p * w->q * (w->offset[j] - total * w->mean[j]);
	return KDR_OK;
}

/* E <- E R; R is narrowed to the precision of h where it meets h. */
static kdr_status fill_others(kdri_msda *w, dual *s)
{
	kdr_status st;
	kdri_block er = { 0 };
	KDRI_TRY(kdri_block_new(w->ctx, w->dev, w->m - w->n, w->n, s->e.single, &er));
	KDRI_OP(w->ctx, w->dev, gemm, false, false, 1, s->e, s->r, 0, er);
	kdri_block_free(w->ctx, &s->e);
	s->e = er;
	er = (kdri_block){ 0 };
done:
	kdri_block_free(w->ctx, &er);
	return st;
}

kdr_status kdri_msda_by_samples(kdri_msda *w)
{
	kdr_status st;
	dual s = { 0 };
	int64_t n = w->n;
	const bool single = (w->h.all.single || w->h.room.single) && !w->sparse;
	KDRI_TRY(kdri_block_new(w->ctx, w->dev, n, n, false, &s.r));
	KDRI_TRY(kdri_block_new(w->ctx, w->dev, w->m - n, n, single, &s.e));
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
		KDRI_TRY(kdri_msda_recall(w, s.r));
	} else {
		/* R from I + G (E15), and c. */
		KDRI_OP(w->ctx, w->dev, inverse, s.r);
		w->flops += (double)w->n * (double)w->n * (double)w->n;
		KDRI_TRY(fill_offset(w, &s));
		KDRI_TRY(kdri_msda_keep(w, s.r));
	}
	if (single)
		kdri_block_narrow(&s.r);
	if (w->m > n)
		KDRI_TRY(fill_others(w, &s));
	/* The coefficients of xbar from the row sums of R and E R; on dense layers P first replaces R (E19). */
	if (!w->sparse)
		KDRI_OP(w->ctx, w->dev, complement, s.r, NULL, w->q);
	KDRI_OP(w->ctx, w->dev, row_dots, s.r, NULL, s.lean);
	for (int64_t i = 0; i < w->n; i++)
		s.lean[i] = w->sparse ? s.lean[i] - 1 : -s.lean[i];
	if (w->m > w->n)
		KDRI_OP(w->ctx, w->dev, row_dots, s.e, NULL, s.lean + w->n);
	for (int64_t i = w->n; i < w->m; i++)
		s.lean[i] = 1 - s.lean[i];
	KDRI_TRY(w->sparse ? msda_samples_apply_sparse(w, &s) : msda_samples_apply_dense(w, &s));
done:
	kdri_block_free(w->ctx, &s.r);
	kdri_block_free(w->ctx, &s.e);
	KDRI_FREE(w->ctx, s.g, s.u, s.lean, s.root, s.shift, s.ratio);
	return st;
}
