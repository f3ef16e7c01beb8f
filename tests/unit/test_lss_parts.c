/* The W step and what it is made of, against dense decompositions. */
#include "matrix/ritz.h"
#include "methods/lss/lss.h"
#include "tests/unit/unit.h"

static double *normals(kdri_rng *rng, int64_t count)
{
	double *a = malloc((size_t)(count ? count : 1) * sizeof *a);
	for (int64_t i = 0; i < count; i++)
		a[i] = kdri_rng_normal(rng);
	return a;
}

/* max |a' a - I| for a of rows x cols. */
static double off_orthonormal(const double *a, int64_t rows, int64_t cols)
{
	double worst = 0;
	for (int64_t p = 0; p < cols; p++)
		for (int64_t q = 0; q < cols; q++) {
			double sum = p == q ? -1 : 0;
			for (int64_t i = 0; i < rows; i++)
				sum += a[i * cols + p] * a[i * cols + q];
			worst = fmax(worst, fabs(sum));
		}
	return worst;
}

/* max |a a' - b b'| for a, b of rows x cols. */
static double projector_gap(const double *a, const double *b, int64_t rows, int64_t cols)
{
	double worst = 0;
	for (int64_t i = 0; i < rows; i++)
		for (int64_t j = 0; j <= i; j++) {
			double sum = 0;
			for (int64_t q = 0; q < cols; q++)
				sum += a[i * cols + q] * a[j * cols + q] - b[i * cols + q] * b[j * cols + q];
			worst = fmax(worst, fabs(sum));
		}
	return worst;
}

/* D - Z Z' as it comes at eps = 0: Z = S Y with Y of orthonormal columns, so that 0 is c-fold. */
static void singular_lowrank(kdr_context *ctx, kdri_rng *rng, int64_t r, int64_t c, double **d, double **z)
{
	int64_t kept;
	*z = normals(rng, r * c);
	assert_ok(ctx, kdri_orthonormalise(ctx, r, c, *z, c, &kept));
	assert_int_equal(kept, c);
	*d = malloc((size_t)r * sizeof **d);
	for (int64_t i = 0; i < r; i++) {
		double s = pow(10, -2.0 * (double)i / (double)r) * (1 + 0.1 * kdri_rng_uniform(rng));
		(*d)[i] = s * s;
		for (int64_t j = 0; j < c; j++)
			(*z)[i * c + j] *= s;
	}
}

static void lowrank__multiple_eigenvalues__as_dense(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(5, "lowrank", 0);
	const int64_t shapes[][3] = { { 1, 1, 1 },   { 7, 2, 3 },   { 60, 3, 8 }, { 300, 4, 4 },
		                      { 300, 4, 2 }, { 400, 5, 9 }, { 250, 3, 3 } };
	for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
		int64_t r = shapes[i][0], c = shapes[i][1], l = shapes[i][2];
		double *d = NULL, *z = NULL;
		singular_lowrank(ctx, &rng, r, c, &d, &z);
		kdri_lowrank a = { r, c, d, z };
		double *w = malloc((size_t)l * sizeof *w), *v = malloc((size_t)(r * l) * sizeof *v);
		double *wd = malloc((size_t)l * sizeof *w), *vd = malloc((size_t)(r * l) * sizeof *v);
		assert_ok(ctx, kdri_lowrank_lowest(ctx, &a, l, NULL, w, v));
		assert_ok(ctx, kdri_lowrank_dense(ctx, &a, l, wd, vd));
		for (int64_t j = 0; j < l; j++)
			assert_near(w[j], wd[j], 1e-10);
		assert_true(off_orthonormal(v, r, l) < 1e-9);
		if (l >= c) /* below the multiplicity of 0 the subspace is not unique */
			assert_true(projector_gap(v, vd, r, l) < 1e-6);
		/* From a guess: the same answer. */
		assert_ok(ctx, kdri_lowrank_lowest(ctx, &a, l, vd, w, v));
		for (int64_t j = 0; j < l; j++)
			assert_near(w[j], wd[j], 1e-10);
		free(d);
		free(z);
		free(w);
		free(v);
		free(wd);
		free(vd);
	}
	kdr_context_free(ctx);
}

static kdr_status dense_apply(kdr_context *ctx, const kdri_op *op, const double *x, int64_t k, int64_t ldx,
                              double *y, int64_t ldy)
{
	return kdri_gemm(ctx, false, false, op->rows, k, op->rows, 1, op->data, op->rows, x, ldx, 0, y, ldy);
}

static void ritz__random_and_degenerate_operators__as_dense(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(7, "ritz", 0);
	for (int trial = 0; trial < 24; trial++) {
		int64_t n = 1 + kdri_rng_below(&rng, trial < 12 ? 12 : 260),
		        count = 1 + kdri_rng_below(&rng, KDRI_MIN(n, 6));
		double *a = malloc((size_t)(n * n) * sizeof *a), *g = normals(&rng, n * n);
		/* Every third: zero, or a multiple of the identity. */
		for (int64_t i = 0; i < n; i++)
			for (int64_t j = 0; j < n; j++)
				a[i * n + j] = trial % 3 == 2 ? (i == j && trial % 2 ? 3 : 0)
				                              : g[i * n + j] + g[j * n + i];
		kdri_op op = { n, n, dense_apply, NULL, a };
		kdri_ritz_options o = { .count = count, .tol = 1e-10 };
		double *w = malloc((size_t)n * sizeof *w), *v = malloc((size_t)(n * count) * sizeof *v);
		double *all = malloc((size_t)n * sizeof *all);
		bool converged;
		assert_ok(ctx, kdri_ritz_lowest(ctx, &op, &o, w, v, &converged));
		assert_true(converged);
		assert_true(off_orthonormal(v, n, count) < 1e-10);
		memcpy(g, a, (size_t)(n * n) * sizeof *a);
		assert_ok(ctx, kdri_eigh(ctx, n, g, n, all));
		for (int64_t j = 0; j < count; j++)
			assert_near(w[j], all[j], 1e-8 * (double)(n + 1));
		free(a);
		free(g);
		free(w);
		free(v);
		free(all);
	}
	kdr_context_free(ctx);
}

/* A sparse copy of a dense matrix; free the three arrays. */
static kdr_mat sparse_copy(const double *x, int64_t n, int64_t d, int64_t **rowptr, int32_t **col,
                           double **val)
{
	int64_t nnz = 0;
	*rowptr = calloc((size_t)n + 1, sizeof **rowptr);
	*col = malloc((size_t)(n * d) * sizeof **col);
	*val = malloc((size_t)(n * d) * sizeof **val);
	for (int64_t i = 0; i < n; i++) {
		for (int64_t j = 0; j < d; j++)
			if (x[i * d + j] != 0) {
				(*col)[nnz] = (int32_t)j;
				(*val)[nnz++] = x[i * d + j];
			}
		(*rowptr)[i + 1] = nnz;
	}
	return kdr_mat_from_csr(n, d, *rowptr, *col, *val);
}

static void range__dense_and_sparse_of_any_shape__spans_the_data(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(8, "range", 0);
	const int64_t shapes[][3] = { { 5, 9, 5 },  { 9, 5, 5 },  { 12, 12, 3 },
		                      { 20, 7, 2 }, { 7, 20, 4 }, { 3, 3, 0 } };
	for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
		for (int kind = 0; kind < 2; kind++) {
			int64_t n = shapes[i][0], d = shapes[i][1], rank = shapes[i][2];
			double *left = normals(&rng, n * rank), *right = normals(&rng, rank * d);
			double *x = calloc((size_t)(n * d), sizeof *x), *val;
			int64_t *rowptr;
			int32_t *col;
			assert_ok(ctx, kdri_gemm(ctx, false, false, n, d, rank, 1, left, KDRI_MAX(rank, 1),
			                         right, d, 0, x, d));
			kdr_mat sparse = sparse_copy(x, n, d, &rowptr, &col, &val);
			kdr_mat m = kind ? sparse : kdr_mat_from_dense(x, n, d);
			kdri_range r = { 0 };
			assert_ok(ctx, kdri_range_new(ctx, &m, 1, &r));
			assert_int_equal(r.rank, rank);
			assert_false(r.capped);
			if (rank > 0) {
				double *eye = calloc((size_t)(rank * rank), sizeof *eye);
				double *u = malloc((size_t)(d * rank) * sizeof *u);
				double *back = malloc((size_t)(rank * rank) * sizeof *back);
				double *y = malloc((size_t)(n * rank) * sizeof *y);
				double *again = malloc((size_t)(n * d) * sizeof *again);
				for (int64_t j = 0; j < rank; j++)
					eye[j * rank + j] = 1;
				assert_ok(ctx, kdri_range_from(ctx, &r, eye, rank, u));
				assert_true(off_orthonormal(u, d, rank) < 1e-8);
				assert_ok(ctx, kdri_range_to(ctx, &r, u, rank, back));
				for (int64_t j = 0; j < rank * rank; j++)
					assert_near(back[j], eye[j], 1e-8);
				assert_ok(ctx, kdri_range_data(ctx, &r, y));
				assert_ok(ctx, kdri_gemm(ctx, false, true, n, d, rank, 1, y, rank, u, rank, 0,
				                         again, d));
				for (int64_t j = 0; j < n * d; j++)
					assert_near(again[j], x[j], 1e-9);
				free(eye);
				free(u);
				free(back);
				free(y);
				free(again);
			}
			kdri_range_free(ctx, &r);
			free(left);
			free(right);
			free(x);
			free(rowptr);
			free(col);
			free(val);
		}
	kdr_context_free(ctx);
}

static void leading__falling_spectrum__as_the_whole_decomposition(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(9, "leading", 0);
	enum { N = 80, D = 50, COUNT = 5 };
	double *x = normals(&rng, N * D), s[COUNT], *u = NULL, v[D * COUNT];
	for (int64_t i = 0; i < N * D; i++)
		x[i] *= pow(0.5, (double)(i % D));
	kdr_mat m = kdr_mat_from_dense(x, N, D);
	kdri_op op = kdri_op_mat(&m);
	kdri_range r = { 0 };
	assert_ok(ctx, kdri_range_new(ctx, &m, 1, &r));
	assert_ok(ctx, kdri_leading(ctx, &op, COUNT, 4, &u, s, v));
	assert_true(off_orthonormal(u, N, COUNT) < 1e-10);
	assert_true(off_orthonormal(v, D, COUNT) < 1e-10);
	for (int j = 0; j < COUNT; j++)
		assert_near(s[j], r.s[j], 1e-9 * r.s[0]);
	kdri_range_free(ctx, &r);
	kdri_free(ctx, u);
	free(x);
	kdr_context_free(ctx);
}

/* W of the fast step against the l lowest eigenvectors of the d x d matrix, by the objective and W W'. */
static void check_step(kdr_context *ctx, kdri_rng *rng, int64_t n, int64_t d, int64_t c, int64_t l,
                       double eps, bool sparse, bool direct, bool mixed)
{
	double *x = normals(rng, n * d), *z = malloc((size_t)(d * c) * sizeof *z), *val;
	double *p = calloc((size_t)(n * c), sizeof *p), *a = malloc((size_t)(d * d) * sizeof *a);
	double *w = calloc((size_t)(d * l), sizeof *w), *wd = malloc((size_t)(d * l) * sizeof *wd);
	double *all = malloc((size_t)d * sizeof *all);
	int64_t *rowptr;
	int32_t *col;
	/* Clusters along the first features. `mixed`: memberships that know nothing of them, far from the origin,
	 * so that one eigenvalue is a thousand times the others. */
	int64_t *label = malloc((size_t)n * sizeof *label), *size = calloc((size_t)c, sizeof *size);
	for (int64_t i = 0; i < n; i++) {
		label[i] = mixed && i >= c ? kdri_rng_below(rng, c) : i % c;
		size[label[i]]++;
		for (int64_t j = 0; j < d; j++)
			x[i * d + j] = x[i * d + j] * (kdri_rng_uniform(rng) < 0.3 ? 1 : 0) +
			               (j == i % c ? 6 + (double)j : 0) + (mixed && j % 2 ? 4 : 0);
	}
	for (int64_t i = 0; i < n; i++)
		p[i * c + label[i]] = 1 / sqrt((double)size[label[i]]);
	free(label);
	free(size);
	kdr_mat csr = sparse_copy(x, n, d, &rowptr, &col, &val),
	        m = sparse ? csr : kdr_mat_from_dense(x, n, d);
	assert_ok(ctx, kdri_mat_tmul(ctx, &m, p, c, c, z, c));
	kdri_subspace_options o = { .l = l, .c = c, .eps = eps, .energy = 1 };
	kdri_subspace s = { 0 };
	assert_ok(ctx, kdri_subspace_new(ctx, &m, &o, &s));
	assert_int_equal(s.direct, direct);
	int64_t dim = kdri_subspace_dim(&s);
	double *zc = malloc((size_t)(dim * c) * sizeof *zc), *wc = calloc((size_t)(dim * l), sizeof *wc);
	assert_ok(ctx, kdri_mat_tmul(ctx, kdri_subspace_data(&s), p, c, c, zc, c));
	assert_ok(ctx, kdri_subspace_solve(ctx, &s, zc, wc));
	assert_ok(ctx, kdri_subspace_features(ctx, &s, wc, w));
	/* All eigenvectors; d <= n and full rank, or the shift moves eigenvectors outside the range to the end. */
	assert_ok(ctx, kdri_gemm(ctx, true, false, d, d, n, 1 - eps, x, d, x, d, 0, a, d));
	assert_ok(ctx, kdri_gemm(ctx, false, true, d, d, c, -1, z, c, z, c, 1, a, d));
	double scale = 0, got = 0, want = 0;
	if (d > n) { /* + big (I - projector on the range) */
		kdri_range r = { 0 };
		kdr_mat dense = kdr_mat_from_dense(x, n, d);
		assert_ok(ctx, kdri_range_new(ctx, &dense, 1, &r));
		double *eye = calloc((size_t)(d * d), sizeof *eye),
		       *in = malloc((size_t)(r.rank * d) * sizeof *in);
		double *out = malloc((size_t)(d * d) * sizeof *out);
		for (int64_t i = 0; i < d; i++)
			eye[i * d + i] = 1;
		assert_ok(ctx, kdri_range_to(ctx, &r, eye, d, in));
		assert_ok(ctx, kdri_range_from(ctx, &r, in, d, out));
		for (int64_t i = 0; i < d * d; i++)
			a[i] += 1e3 * (eye[i] - out[i]);
		kdri_range_free(ctx, &r);
		free(eye);
		free(in);
		free(out);
	}
	assert_ok(ctx, kdri_eigh(ctx, d, a, d, all));
	for (int64_t i = 0; i < d; i++)
		for (int64_t j = 0; j < l; j++)
			wd[i * l + j] = a[i * d + j];
	for (int64_t j = 0; j < d; j++)
		scale = fmax(scale, fabs(all[j]));
	for (int64_t j = 0; j < l; j++)
		want += all[j];
	double *xw = malloc((size_t)(n * l) * sizeof *xw), *zw = malloc((size_t)(c * l) * sizeof *zw);
	assert_ok(ctx, kdri_gemm(ctx, false, false, n, l, d, 1, x, d, w, l, 0, xw, l));
	assert_ok(ctx, kdri_gemm(ctx, true, false, c, l, d, 1, z, c, w, l, 0, zw, l));
	got = (1 - eps) * kdri_nrm2sq(xw, n * l) - kdri_nrm2sq(zw, c * l);
	assert_near(got, want, 1e-9 * scale);
	assert_true(off_orthonormal(w, d, l) < 1e-8);
	if (all[l] - all[l - 1] > 1e-6 * scale)
		assert_true(projector_gap(w, wd, d, l) < (direct ? 1e-4 : 1e-6));
	kdri_subspace_free(ctx, &s);
	free(x);
	free(z);
	free(p);
	free(a);
	free(w);
	free(wd);
	free(all);
	free(rowptr);
	free(col);
	free(val);
	free(zc);
	free(wc);
	free(xw);
	free(zw);
}

static void w_step__every_way__as_dense_decomposition(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(10, "wstep", 0);
	for (int sparse = 0; sparse < 2; sparse++) {
		check_step(ctx, &rng, 40, 12, 3, 2, 0, sparse, false, false);
		check_step(ctx, &rng, 40, 12, 3, 3, 0.5, sparse, false, false);
		check_step(ctx, &rng, 15, 40, 3, 3, 0, sparse, false, false);
		check_step(ctx, &rng, 15, 40, 3, 6, 0.5, sparse, false, false);
		check_step(ctx, &rng, 300, 220, 4, 4, 0, sparse, false, false); /* beyond the dense way */
		check_step(ctx, &rng, 210, 320, 4, 4, 0, sparse, false, false);
		check_step(ctx, &rng, 300, 220, 4, 7, 0.5, sparse, false, false);
		check_step(ctx, &rng, 300, 220, 4, 4, 0.5, sparse, true, false);
		check_step(ctx, &rng, 210, 320, 4, 3, 0.5, sparse, true, false);
		check_step(ctx, &rng, 300, 220, 3, 3, 0.5, sparse, true, true);
		check_step(ctx, &rng, 300, 220, 3, 2, 0.6, sparse, true, true);
	}
	kdr_context_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lowrank__multiple_eigenvalues__as_dense),
		cmocka_unit_test(ritz__random_and_degenerate_operators__as_dense),
		cmocka_unit_test(range__dense_and_sparse_of_any_shape__spans_the_data),
		cmocka_unit_test(leading__falling_spectrum__as_the_whole_decomposition),
		cmocka_unit_test(w_step__every_way__as_dense_decomposition),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
