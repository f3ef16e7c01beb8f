/* Maximum mean discrepancy: the distance of two sets of samples. SPDX-License-Identifier: BSD-3-Clause
 *
 * Squared and biased [Gretton, Borgwardt, Rasch, Schoelkopf & Smola, JMLR 13:723-773, 2012, eq. 5], for n rows x and m
 * rows y:
 *
 *   (E1)  MMD^2 = sum k(x, x') / n^2 + sum k(y, y') / m^2 - 2 sum k(x, y) / (n m), over all pairs, i = j too
 *   (E2)  linear    k(a, b) = <a, b>, so that MMD^2 = |mean x - mean y|^2: no pairs are needed
 *   (E3)  Gaussian  k(a, b) = exp(-|a - b|^2 / (2 s^2)), s the median distance of the pooled rows
 *   (E4)  |a - b|^2 = |a|^2 + |b|^2 - 2 <a, b>
 *
 * k is symmetric: only pairs j < i of the pooled rows are visited, (n + m)^2 / 2 of them, none stored. Products of dense
 * rows come in tiles from BLAS; the pooled rows are centred first, so that (E4) loses little. Products of a sparse row
 * with the rows above it are gathered from the lists of its features: one multiplication for each pair and feature they
 * share. The sums of a row are made by one thread in the order of j, and added in the order of the rows: they do not
 * depend on the number of threads.
 *
 * The median (E3) is exact for up to MEDIAN_ROWS pooled rows; above, it is that of as many rows, drawn with a seed of
 * its own, the same in every run. If it is 0 (most rows are equal), the mean distance is used. */
#include "engine/metrics/metrics.h"
#include "matrix/linalg.h"

enum { MEDIAN_ROWS = 1500, PANEL_ROWS = 1024 };

/* Called with <z_i, z_j> for j = begin .. begin + count - 1, all of them < i. */
typedef void pairs_fn(void *user, int64_t i, int64_t begin, int64_t count, const double *product);

/* The pooled rows, ready for products. */
typedef struct pool {
	kdr_context *ctx;
	kdr_mat z;
	kdri_own own, columns; /* columns: sparse z', the rows that hold each feature */
	double *norm;          /* squared, of each row */
	double *sums;          /* sparse: products of a row, for each thread */
	int64_t n;
} pool;

static void pool_free(pool *p)
{
	kdri_own_free(p->ctx, &p->own);
	kdri_own_free(p->ctx, &p->columns);
	KDRI_FREE(p->ctx, p->norm, p->sums);
}

/* Subtracts the column means from dense rows, which the pool owns. */
static kdr_status mmd_centre(kdr_context *ctx, kdri_own *own)
{
	kdr_status st = KDR_OK;
	double *mean = NULL, *data = own->parts[0];
	const kdr_dense *x = &own->view.as.dense;
	KDRI_TRY(KDRI_NEW(ctx, &mean, x->cols));
	KDRI_TRY(kdri_mat_col_sums(ctx, &own->view, mean));
	for (int64_t i = 0; i < x->rows; i++)
		for (int64_t j = 0; j < x->cols; j++)
			data[i * x->stride + j] -= mean[j] / (double)x->rows;
done:
	kdri_free(ctx, mean);
	return st;
}

/* Takes over *own. */
static kdr_status pool_new(kdr_context *ctx, kdri_own *own, pool *p)
{
	*p = (pool){ .ctx = ctx, .own = *own, .z = own->view, .n = kdr_mat_rows(&own->view) };
	*own = (kdri_own){ 0 };
	KDRI_DO(KDRI_NEW(ctx, &p->norm, p->n));
	if (p->z.kind == KDR_MAT_CSR) {
		int64_t size;
		KDRI_DO(kdri_mat_transpose(ctx, &p->z, &p->columns));
		KDRI_DO(kdri_mul(ctx, p->n, ctx->threads, &size));
		KDRI_DO(KDRI_NEW(ctx, &p->sums, size));
	} else {
		KDRI_DO(mmd_centre(ctx, &p->own));
	}
	return kdri_mat_row_norms(ctx, &p->z, p->norm);
}

typedef struct panel {
	pairs_fn *use;
	void *user;
	int64_t begin; /* first row of the panel */
} panel;

static void use_tile(void *user, int64_t row, int64_t col, int64_t cols, const double *piece)
{
	const panel *t = user;
	int64_t i = t->begin + row, count = KDRI_MIN(cols, i - col);
	if (count > 0)
		t->use(t->user, i, col, count, piece);
}

/* Visits all pairs j < i: for each i on one thread and in increasing order of j. */
static kdr_status visit_pairs(const pool *p, pairs_fn *use, void *user)
{
	if (p->z.kind == KDR_MAT_DENSE) {
		const kdr_dense *z = &p->z.as.dense;
		for (int64_t begin = 0; begin < p->n; begin += PANEL_ROWS) {
			int64_t end = KDRI_MIN(p->n, begin + PANEL_ROWS);
			panel t = { use, user, begin };
			KDRI_DO(kdri_gemm_tiles(p->ctx, end - begin, end, z->cols,
			                        z->data + begin * z->stride, z->stride, z->data, z->stride,
			                        use_tile, &t));
		}
		return KDR_OK;
	}
#pragma omp parallel for num_threads(kdri_team(p->ctx)) schedule(dynamic, 8)
	for (int64_t i = 1; i < p->n; i++) {
		int64_t thread = kdri_thread();
		double *sums = p->sums + thread * p->n;
		/* <z_i, z_j> for all j < i; lists are in increasing order of rows. */
		const kdr_csr *z = &p->z.as.csr, *lists = &p->columns.view.as.csr;
		memset(sums, 0, (size_t)i * sizeof *sums);
		for (int64_t e = z->rowptr[i]; e < z->rowptr[i + 1]; e++) {
			const double v = z->val[e];
			const int64_t end = lists->rowptr[z->col[e] + 1];
			for (int64_t q = lists->rowptr[z->col[e]]; q < end && lists->col[q] < i; q++)
				sums[lists->col[q]] += v * lists->val[q];
		}
		use(user, i, 0, i, sums);
	}
	return KDR_OK;
}

/* --- the median distance (E3) --------------------------------------------------------------- */

typedef struct gaps {
	const double *norm;
	double *square; /* of pair (i, j), j < i, at i (i - 1) / 2 + j */
} gaps;

static inline double mmd_gap(double a, double b, double product)
{
	return fmax(a + b - 2 * product, 0); /* (E4) */
}

static void store_gaps(void *user, int64_t i, int64_t begin, int64_t count, const double *product)
{
	const gaps *g = user;
	double *to = g->square + i * (i - 1) / 2 + begin;
	for (int64_t c = 0; c < count; c++)
		to[c] = mmd_gap(g->norm[i], g->norm[begin + c], product[c]);
}

static double median_distance(double *square, int64_t n)
{
	double upper = sqrt(kdri_select(square, n, n / 2)), median = upper, mean = 0;
	if (n % 2 == 0)
		median = (upper + sqrt(kdri_select(square, n / 2, n / 2 - 1))) / 2;
	if (median > 0)
		return median;
	for (int64_t k = 0; k < n; k++)
		mean += sqrt(square[k]);
	return mean / (double)n;
}

/* Rows of the pool without repetition, in increasing order. */
static void draw_rows(int64_t n, int64_t count, int64_t *rows)
{
	/* Selection sampling [Knuth, TAOCP 2, 3.4.2, algorithm S]. The seed is fixed: a measure of data must
	 * not change with the seed of a run. */
	kdri_rng rng = kdri_rng_stream(1, "mmd", (uint64_t)n);
	for (int64_t i = 0, taken = 0; taken < count; i++)
		if (kdri_rng_below(&rng, n - i) < count - taken)
			rows[taken++] = i;
}

static kdr_status bandwidth(const pool *all, double *out)
{
	kdr_status st = KDR_OK;
	kdr_context *ctx = all->ctx;
	pool part = { .ctx = ctx };
	kdri_own own = { 0 };
	int64_t *rows = NULL;
	gaps g = { 0 };
	const pool *p = all;
	if (all->n > MEDIAN_ROWS) {
		KDRI_TRY(KDRI_NEW(ctx, &rows, MEDIAN_ROWS));
		draw_rows(all->n, MEDIAN_ROWS, rows);
		KDRI_TRY(kdri_mat_take(ctx, &all->z, rows, MEDIAN_ROWS, &own));
		KDRI_TRY(pool_new(ctx, &own, &part));
		p = &part;
	}
	int64_t pairs = p->n * (p->n - 1) / 2;
	KDRI_TRY(KDRI_NEW(ctx, &g.square, pairs));
	g.norm = p->norm;
	KDRI_TRY(visit_pairs(p, store_gaps, &g));
	*out = median_distance(g.square, pairs);
done:
	KDRI_FREE(ctx, g.square, rows);
	kdri_own_free(ctx, &own);
	pool_free(&part);
	return st;
}

/* --- the sums (E1) -------------------------------------------------------------------------- */

typedef struct sums {
	const double *norm;
	double scale;   /* -1 / (2 s^2) */
	int64_t first;  /* rows of x among the pooled ones */
	double *kernel; /* n x 2: sums of row i over j < i in x, and in y */
} sums;

static void add_kernels(void *user, int64_t i, int64_t begin, int64_t count, const double *product)
{
	const sums *s = user;
	double part[2] = { 0, 0 };
	for (int64_t c = 0; c < count; c++)
		part[begin + c >= s->first] +=
		        exp(s->scale * mmd_gap(s->norm[i], s->norm[begin + c], product[c]));
	s->kernel[2 * i] += part[0];
	s->kernel[2 * i + 1] += part[1];
}

static kdr_status gaussian(const pool *p, int64_t nx, double width, double *out)
{
	kdr_status st = KDR_OK;
	sums s = { .norm = p->norm, .scale = -0.5 / (width * width), .first = nx };
	KDRI_TRY(KDRI_NEW0(p->ctx, &s.kernel, 2 * p->n));
	KDRI_TRY(visit_pairs(p, add_kernels, &s));
	kdri_neumaier xx = { 0, 0 }, xy = { 0, 0 }, yy = { 0, 0 };
	for (int64_t i = 0; i < p->n; i++) {
		kdri_neumaier_add(i < nx ? &xx : &xy, s.kernel[2 * i]);
		kdri_neumaier_add(&yy, s.kernel[2 * i + 1]); /* 0 for rows of x: all j < i are of x */
	}
	double n = (double)nx, m = (double)(p->n - nx);
	*out = fmax((2 * kdri_neumaier_value(&xx) + n) / (n * n) +
	                    (2 * kdri_neumaier_value(&yy) + m) / (m * m) -
	                    2 * kdri_neumaier_value(&xy) / (n * m),
	            0); /* (E1) */
done:
	kdri_free(p->ctx, s.kernel);
	return st;
}

kdr_status kdri_mmd_linear(kdr_context *ctx, const kdr_mat *x, const kdr_mat *y, double *out)
{
	kdr_status st = KDR_OK;
	int64_t d = kdr_mat_cols(x);
	double *a = NULL, *b = NULL;
	kdri_neumaier sum = { 0, 0 };
	KDRI_TRY(KDRI_NEW(ctx, &a, d));
	KDRI_TRY(KDRI_NEW(ctx, &b, d));
	KDRI_TRY(kdri_mat_col_sums(ctx, x, a));
	KDRI_TRY(kdri_mat_col_sums(ctx, y, b));
	for (int64_t j = 0; j < d; j++) {
		double gap = a[j] / (double)kdr_mat_rows(x) - b[j] / (double)kdr_mat_rows(y);
		kdri_neumaier_add(&sum, gap * gap); /* (E2) */
	}
	*out = kdri_neumaier_value(&sum);
done:
	KDRI_FREE(ctx, a, b);
	return st;
}

kdr_status kdri_mmd(kdr_context *ctx, const kdr_mat *x, const kdr_mat *y, kdri_mmd_value *out)
{
	kdr_status st = KDR_OK;
	const kdr_mat *both[2] = { x, y };
	kdri_own own = { 0 };
	pool p = { .ctx = ctx };
	kdri_mmd_value v = { 0 };
	if (kdr_mat_rows(x) < 1 || kdr_mat_rows(y) < 1 || kdr_mat_cols(x) != kdr_mat_cols(y))
		return kdri_fail(
		        ctx, KDR_ERR_ARGUMENT,
		        "maximum mean discrepancy: matrices of %lld x %lld and %lld x %lld; both need rows and the same number of columns",
		        (long long)kdr_mat_rows(x), (long long)kdr_mat_cols(x), (long long)kdr_mat_rows(y),
		        (long long)kdr_mat_cols(y));
	KDRI_TRY(kdri_mmd_linear(ctx, x, y, &v.linear));
	KDRI_TRY(kdri_mat_stack(ctx, both, 2, &own));
	KDRI_TRY(pool_new(ctx, &own, &p));
	KDRI_TRY(bandwidth(&p, &v.bandwidth));
	v.sampled = p.n > MEDIAN_ROWS;
	if (v.bandwidth > 0)
		KDRI_TRY(gaussian(&p, kdr_mat_rows(x), v.bandwidth, &v.gaussian));
	*out = v;
done:
	kdri_own_free(ctx, &own);
	pool_free(&p);
	return st;
}
