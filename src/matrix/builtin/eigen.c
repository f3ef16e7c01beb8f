/* Symmetric eigenproblems. SPDX-License-Identifier: BSD-3-Clause
 *
 * The steps of LAPACK's dsyevd:
 *
 *   (E1)  A = Q T Q'    Householder reflections I - tau v v', PANEL rows at a time: a row is updated just before
 *                       it is used, the rest of A by A - V'W - W'V after each panel [LAPACK's dlatrd]
 *   (E2)  T = Z x Z'    divide and conquer (tridiagonal.c)
 *   (E3)  V = Q Z       BLOCK reflections at a time, as I - V'TV with T upper triangular
 *
 * Of A the upper triangle is read and overwritten: row r has the entries of v after the diagonal. A is first scaled
 * by a power of two, so that its largest entry lies between 1/2 and 1 and nothing overflows. */
#include "matrix/builtin/builtin.h"

enum { PANEL = 32, BLOCK = 64 };

typedef struct eigen_room {
	double *z, *e, *tau, *work, *vectors;
	int64_t *index;
} eigen_room;

static bool eigen_look_up(kdr_context *ctx, int64_t done, int64_t n)
{
	return n > KDRI_EIGEN_WHOLE && kdri_iteration(ctx, "eigenvectors", done, n, NAN);
}

/* The power of two that brings the largest entry to 1/2 .. 1; 1 if all are zero. */
static double scale_of(int64_t n, const double *a, int64_t lda)
{
	double most = 0;
	int exponent = 0;
	for (int64_t i = 0; i < n; i++)
		most = KDRI_MAX(most, KDRI_MAX(kdri_greatest(a + i * lda + i, n - i),
		                               -kdri_least(a + i * lda + i, n - i)));
	(void)frexp(most, &exponent);
	return ldexp(1, KDRI_MAX(-1000, KDRI_MIN(1000, -exponent)));
}

/* x becomes v with v_0 = 1, so that (I - tau v v') x = (end, 0 ..)'. */
static double reflect(int64_t n, double *x, double *end)
{
	double first = x[0], rest = sqrt(kdri_nrm2sq(x + 1, n - 1));
	x[0] = 1;
	*end = first;
	if (rest == 0)
		return 0;
	*end = -copysign(hypot(first, rest), first);
	double factor = 1 / (first - *end);
	for (int64_t i = 1; i < n; i++)
		x[i] *= factor;
	return (*end - first) / *end;
}

/* w = A v, less what the t earlier reflections of the panel would have changed. All begin at the same column. */
static void panel_product(int64_t n, const double *a, int64_t lda, int64_t t, const double *v,
                          const double *w, int64_t ld, const double *own, double *out)
{
	double in_w[PANEL], in_v[PANEL];
	kdri_symmetric_times(n, a, lda, own, out);
	kdri_dgemv(false, t, n, 1, w, ld, own, 1, 0, in_w, 1);
	kdri_dgemv(false, t, n, 1, v, ld, own, 1, 0, in_v, 1);
	kdri_dgemv(true, t, n, -1, v, ld, in_w, 1, 1, out, 1);
	kdri_dgemv(true, t, n, -1, w, ld, in_v, 1, 1, out, 1);
}

/* (E1) for `width` rows from row i on. `work` has V, W and V again, each of width x (n - i), columns as those of A. */
static void reduce_panel(int64_t n, double *a, int64_t lda, int64_t i, int64_t width, double *d,
                         const eigen_room *r)
{
	const int64_t ld = n - i;
	double *v = r->work, *w = v + width * ld, *again = w + width * ld;
	for (int64_t t = 0; t < width; t++) {
		const int64_t row = i + t, len = n - row - 1;
		double *at = a + row * lda + row, *vt = v + t * ld, *wt = w + t * ld;
		kdri_dgemv(true, t, len + 1, -1, w + t, ld, v + t, ld, 1, at, 1);
		kdri_dgemv(true, t, len + 1, -1, v + t, ld, w + t, ld, 1, at, 1);
		d[row] = at[0];
		double tau = reflect(len, at + 1, &r->e[row]);
		r->tau[row] = tau;
		memset(vt, 0, (size_t)(t + 1) * sizeof *vt);
		memset(wt, 0, (size_t)(t + 1) * sizeof *wt);
		memcpy(vt + t + 1, at + 1, (size_t)len * sizeof *vt);
		double *own = vt + t + 1, *out = wt + t + 1;
		panel_product(len, a + (row + 1) * lda + row + 1, lda, t, v + t + 1, w + t + 1, ld, own, out);
		double half = tau * tau / 2 * kdri_dot(out, own, len);
		for (int64_t c = 0; c < len; c++)
			out[c] = tau * out[c] - half * own[c];
	}
	memcpy(again, v, (size_t)(width * ld) * sizeof *v);
	const int64_t rest = ld - width;
	kdri_dgemm_part(KDRI_PART_UPPER, true, false, rest, rest, 2 * width, -1, v + width, ld, w + width, ld,
	                1, a + (i + width) * lda + i + width, lda);
}

static kdr_status reduce(kdr_context *ctx, int64_t n, double *a, int64_t lda, double *d, const eigen_room *r)
{
	for (int64_t i = 0, width; i < n - 1; i += width) {
		width = KDRI_MIN(PANEL, n - 1 - i);
		if (eigen_look_up(ctx, i, n))
			return kdri_eigen_stopped(ctx);
		reduce_panel(n, a, lda, i, width, d, r);
	}
	d[n - 1] = a[(n - 1) * lda + n - 1];
	r->e[n - 1] = 0;
	return KDR_OK;
}

/* T of (E3), width x width with zeros below the diagonal, from the products of reflections (G = V V', lower triangle). */
static void triangle_of(int64_t width, const double *tau, const double *g, double *t)
{
	memset(t, 0, (size_t)(width * width) * sizeof *t);
	for (int64_t j = 0; j < width; j++) {
		for (int64_t i = 0; i < j; i++) {
			double sum = 0;
			for (int64_t q = i; q < j; q++)
				sum += t[i * width + q] * g[j * width + q];
			t[i * width + j] = -tau[j] * sum;
		}
		t[j * width + j] = tau[j];
	}
}

/* (E3): rows of Z times Q'. */
static kdr_status apply_reflections(kdr_context *ctx, int64_t n, const double *a, int64_t lda,
                                    const eigen_room *r)
{
	for (int64_t i = (n - 2) / BLOCK * BLOCK; n > 1 && i >= 0; i -= BLOCK) {
		const int64_t width = KDRI_MIN(BLOCK, n - 1 - i), len = n - i - 1;
		double *v = r->work, *g = v + width * len, *t = g + width * width, *in = t + width * width,
		       *turned = in + n * width, *z = r->z + i + 1;
		if (eigen_look_up(ctx, n - i - width, n))
			return kdri_eigen_stopped(ctx);
		for (int64_t q = 0; q < width; q++) {
			memset(v + q * len, 0, (size_t)q * sizeof *v);
			memcpy(v + q * len + q, a + (i + q) * lda + i + q + 1, (size_t)(len - q) * sizeof *v);
		}
		kdri_dsyrk(false, width, len, 1, v, len, 0, g, width);
		triangle_of(width, r->tau + i, g, t);
		kdri_dgemm(false, true, n, width, len, 1, z, n, v, len, 0, in, width);
		kdri_dgemm(false, true, n, width, width, 1, in, width, t, width, 0, turned, width);
		kdri_dgemm(false, false, n, len, width, -1, turned, width, v, len, 1, z, n);
	}
	return KDR_OK;
}

kdr_status kdri_eigen_rows(kdr_context *ctx, int64_t n, double *a, int64_t lda, double *values, int *info)
{
	kdr_status st;
	eigen_room r = { 0 };
	const double scale = scale_of(n, a, lda);
	const int64_t block = KDRI_MIN(BLOCK, n);
	KDRI_TRY(KDRI_NEW(ctx, &r.z, n * n));
	KDRI_TRY(KDRI_NEW(ctx, &r.e, n));
	KDRI_TRY(KDRI_NEW(ctx, &r.tau, n));
	KDRI_TRY(KDRI_NEW(ctx, &r.work, KDRI_MAX(n * n + n, 3 * block * n + 2 * block * block)));
	KDRI_TRY(KDRI_NEW(ctx, &r.vectors, 8 * n));
	KDRI_TRY(KDRI_NEW(ctx, &r.index, 4 * n));
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = i; j < n; j++)
			a[i * lda + j] *= scale;
	KDRI_TRY(reduce(ctx, n, a, lda, values, &r));
	const kdri_tridiagonal t = { .ctx = ctx,
		                     .n = n,
		                     .d = values,
		                     .e = r.e,
		                     .z = r.z,
		                     .work = r.work,
		                     .vectors = r.vectors,
		                     .index = r.index };
	KDRI_TRY(kdri_tridiagonal_solve(&t, info)); /* (E2) */
	if (*info == 0)
		KDRI_TRY(apply_reflections(ctx, n, a, lda, &r));
	for (int64_t i = 0; i < n; i++) {
		memcpy(a + i * lda, r.z + i * n, (size_t)n * sizeof *a);
		values[i] /= scale;
	}
done:
	KDRI_FREE(ctx, r.z, r.e, r.tau, r.work, r.vectors, r.index);
	return st;
}
