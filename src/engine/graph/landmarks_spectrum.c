/* The spectrum of a graph of samples and landmarks. SPDX-License-Identifier: BSD-3-Clause
 *
 * Rows joined to the same landmark are joined to each other. With Z (n x m, >= 0) and one step to a landmark and back,
 *
 *   (E1)  W = Z L^-1 Z',  L = diag(Z'1),  D = diag(Z 1) = diag(W 1)
 *
 * [Dhillon 2001; Liu, He, Chang: Large graph construction for scalable semi-supervised learning, ICML 2010]. W is n x n and never formed:
 * D^-1/2 W D^-1/2 = B B' with B = D^-1/2 Z L^-1/2, and B B' has the eigenvalues of B'B other than 0. Now
 *
 *   (E2)  B'B = L^-1/2 G L^-1/2,  G = Z' D^-1 Z,  G 1 = Z'1
 *
 * is the normalised matrix of a graph, too: that of the landmarks, m x m, joined by the rows they share. Its degrees are L. So
 * spectrum.c finds its eigenvectors v, with all components and multiplicities, and those of the rows are
 *
 *   (E3)  u = D^-1/2 Z L^-1/2 v / sqrt(value)
 *
 * a product for each rank's own rows. The cut of clusters c needs the sums of their rows alone:
 *
 *   (E4)  Z_ca = sum of z_ia over i in c,   within_c = sum_a Z_ca^2 / L_a,   volume_c = sum_a Z_ca
 *
 * G and (E4) are sums over rows. Their terms are at most the largest z, since z_ia z_ib / d_i <= min(z_ia, z_ib), so
 * that they can be exact (comm/exact.h) and the same for any distribution of the rows and any number of threads. Rank
 * 0 finds v for all. */
#include "engine/graph/landmarks.h"

#include "comm/rows.h"
#include "engine/graph/similarity.h"

/* Below that an eigenvalue is rounding: nothing is known of its vector. */
static const double least_value = 1e-10;

/* Entries that one thread is done with before others are awake. */
enum { SERIAL = 1 << 14 };

/* The bounds that exact sums over rows need. */
typedef struct grid {
	double big, small;
} grid;

static kdr_status grid_of(kdr_context *ctx, const kdr_csr *z, grid *out)
{
	double largest = 0;
	int64_t all, entries = z->rowptr[z->rows];
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) \
        reduction(max \
                  : largest) if (entries > SERIAL)
	for (int64_t p = 0; p < entries; p++)
		largest = KDRI_MAX(largest, z->val[p]);
	KDRI_DO(kdri_max(ctx, &largest, 1));
	KDRI_DO(kdri_part(ctx, z->rows, NULL, &all));
	out->big = kdri_exact_big(largest, all);
	out->small = out->big * kdri_exact_ratio(all);
	return KDR_OK;
}

/* Where entry (a, b), a <= b, of a symmetric m x m matrix is. */
static int64_t packed(int64_t m, int64_t a, int64_t b)
{
	return a * m - a * (a - 1) / 2 + b - a;
}

/* G of (E2), the upper triangle. Each thread has columns of its own. */
static kdr_status landmark_sums(kdr_context *ctx, const kdr_csr *z, const double *degree, kdri_exact *g)
{
	grid e;
	KDRI_DO(grid_of(ctx, z, &e));
	const int team = kdri_team(ctx);
#pragma omp parallel for num_threads(team) schedule(static)
	for (int thread = 0; thread < team; thread++) {
		int64_t from = z->cols * thread / team, to = z->cols * (thread + 1) / team;
		for (int64_t i = 0; i < z->rows; i++)
			for (int64_t p = z->rowptr[i]; p < z->rowptr[i + 1] && z->col[p] < to; p++) {
				if (z->col[p] < from || !(degree[i] > 0))
					continue;
				double share = z->val[p] / degree[i];
				kdri_exact *row = g + packed(z->cols, z->col[p], z->col[p]) - z->col[p];
				for (int64_t q = p; q < z->rowptr[i + 1]; q++)
					kdri_exact_add(&row[z->col[q]], e.big, e.small, share * z->val[q]);
			}
	}
	return kdri_sum(ctx, &g->high, z->cols * (z->cols + 1));
}

static double weight_between(const kdri_exact *g, int64_t m, int64_t a, int64_t b)
{
	const kdri_exact *sum = &g[a <= b ? packed(m, a, b) : packed(m, b, a)];
	return sum->high + sum->low;
}

/* The graph of landmarks, sparse. */
static kdr_status unpack(kdr_context *ctx, const kdri_exact *g, int64_t m, kdri_own *out)
{
	kdr_status st;
	int64_t *rowptr = NULL;
	int32_t *col = NULL;
	double *val = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &rowptr, m + 1));
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) if (m * m > SERIAL)
	for (int64_t a = 0; a < m; a++)
		for (int64_t b = 0; b < m; b++)
			rowptr[a + 1] += weight_between(g, m, a, b) > 0;
	for (int64_t a = 0; a < m; a++)
		rowptr[a + 1] += rowptr[a];
	KDRI_TRY(KDRI_NEW(ctx, &col, rowptr[m]));
	KDRI_TRY(KDRI_NEW(ctx, &val, rowptr[m]));
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) if (m * m > SERIAL)
	for (int64_t a = 0; a < m; a++)
		for (int64_t b = 0, at = rowptr[a]; at < rowptr[a + 1]; b++) {
			const double weight = weight_between(g, m, a, b);
			if (!(weight > 0))
				continue;
			col[at] = (int32_t)b;
			val[at++] = weight;
		}
	*out = kdri_own_csr(m, m, &rowptr, &col, &val);
done:
	KDRI_FREE(ctx, rowptr, col, val);
	return st;
}

static kdr_status landmark_graph(kdr_context *ctx, const kdr_csr *z, const double *degree, kdri_own *out)
{
	kdr_status st;
	kdri_exact *g = NULL;
	int64_t size;
	KDRI_TRY(kdri_mul(ctx, z->cols, z->cols + 1, &size));
	KDRI_TRY(KDRI_NEW0(ctx, &g, size / 2));
	KDRI_TRY(landmark_sums(ctx, z, degree, g));
	KDRI_TRY(unpack(ctx, g, z->cols, out));
done:
	kdri_free(ctx, g);
	return st;
}

/* The spectrum of the landmarks, by rank 0 for all. */
static kdr_status find_for_all(kdr_context *ctx, const kdr_mat *g, int64_t k, kdri_spectrum *s)
{
	kdr_status st = KDR_OK;
	const bool mine = !kdri_together(ctx) || kdri_rank(ctx) == 0;
	const int64_t m = kdr_mat_rows(g);
	int64_t sent[2] = { 0, 0 }, size = 0; /* whether it was stopped, components */
	if (mine) {
		kdri_apart(ctx);
		st = kdri_spectrum_new(ctx, g, k, s);
		kdri_rejoin(ctx);
		if (st == KDR_ERR_NUMERIC && (ctx->cancelled || ctx->timed_out)) {
			sent[0] = 1;
			st = KDR_OK;
		}
		sent[1] = s->components;
	} else {
		st = kdri_mul(ctx, m, k, &size);
		st = st == KDR_OK ? KDRI_NEW0(ctx, &s->values, k) : st;
		st = st == KDR_OK ? KDRI_NEW0(ctx, &s->vectors, size) : st;
	}
	KDRI_TRY(kdri_agree(ctx, st));
	KDRI_TRY(kdri_share(ctx, sent, (int64_t)sizeof sent, 0));
	if (sent[0] || !s->values || !s->vectors) {
		(void)kdri_iteration(ctx, "eigenvalues", 0, 0, NAN); /* so that all ranks have it */
		KDRI_FAIL(ctx, KDR_ERR_NUMERIC, "eigenvalues: the computation was stopped");
	}
	s->components = sent[1];
	KDRI_TRY(kdri_share(ctx, s->values, k * (int64_t)sizeof *s->values, 0));
	KDRI_TRY(kdri_share(ctx, s->vectors, m * k * (int64_t)sizeof *s->vectors, 0));
done:
	return st;
}

/* (E3) */
static kdr_status landmarks_spectrum_rows_of(kdr_context *ctx, const kdr_mat *z, const double *degree,
                                             const double *of_landmark, kdri_spectrum *landmarks, int64_t k,
                                             double *out)
{
	const int64_t n = kdr_mat_rows(z), m = kdr_mat_cols(z);
	for (int64_t a = 0; a < m; a++)
		for (int64_t j = 0; j < k; j++) {
			double value = landmarks->values[j];
			landmarks->vectors[a * k + j] *= of_landmark[a] > 0 && value > least_value
			                                         ? 1 / sqrt(of_landmark[a] * value)
			                                         : 0;
		}
	KDRI_DO(kdri_mat_mul(ctx, z, landmarks->vectors, k, k, out, k));
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) if (n * k > SERIAL)
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j < k; j++)
			out[i * k + j] = degree[i] > 0 ? out[i * k + j] / sqrt(degree[i]) : 0;
	return KDR_OK;
}

kdr_status kdri_landmarks_spectrum(kdr_context *ctx, const kdr_mat *z, int64_t k, kdri_spectrum *out)
{
	kdr_status st;
	const int64_t n = kdr_mat_rows(z), m = kdr_mat_cols(z);
	kdri_spectrum landmarks = { 0 }, s = { 0 };
	kdri_own g = { .view = kdr_mat_from_dense(NULL, 0, 0) };
	double *degree = NULL, *of_landmark = NULL;
	int64_t size;
	KDRI_TRY(KDRI_NEW0(ctx, &degree, n));
	KDRI_TRY(KDRI_NEW0(ctx, &of_landmark, m));
	KDRI_TRY(kdri_mul(ctx, n, k, &size));
	KDRI_TRY(KDRI_NEW0(ctx, &s.vectors, size));
	KDRI_TRY(KDRI_NEW0(ctx, &s.values, k));
	KDRI_TRY(kdri_graph_degrees(ctx, z, degree)); /* D of (E1) */
	for (int64_t i = 0; i < n; i++)
		s.isolated += !(degree[i] > 0);
	KDRI_TRY(kdri_sum_int(ctx, &s.isolated, 1));
	if (m == 0) { /* no graph, no vectors */
		*out = s;
		s = (kdri_spectrum){ 0 };
		goto done;
	}
	KDRI_TRY(landmark_graph(ctx, &z->as.csr, degree, &g)); /* (E2) */
	KDRI_TRY(kdri_graph_degrees(ctx, &g.view, of_landmark));
	KDRI_TRY(find_for_all(ctx, &g.view, k, &landmarks));
	for (int64_t j = 0; j < k; j++)
		s.values[j] = landmarks.values[j] > least_value ? landmarks.values[j] : 0;
	s.components = landmarks.components;
	KDRI_TRY(landmarks_spectrum_rows_of(ctx, z, degree, of_landmark, &landmarks, k, s.vectors));
	*out = s;
	s = (kdri_spectrum){ 0 };
done:
	kdri_spectrum_free(ctx, &landmarks);
	kdri_spectrum_free(ctx, &s);
	kdri_own_free(ctx, &g);
	KDRI_FREE(ctx, degree, of_landmark);
	return st;
}

/* --- cuts -------------------------------------------------------------------------------------------- */

kdr_status kdri_landmarks_cut(kdr_context *ctx, const kdr_mat *z, const int64_t *labels, int64_t k,
                              double *within, double *volume)
{
	kdr_status st;
	const kdr_csr *c = &z->as.csr;
	const int64_t m = c->cols;
	kdri_exact *sums = NULL;
	int64_t size;
	grid e;
	KDRI_TRY(kdri_mul(ctx, k, m, &size));
	KDRI_TRY(KDRI_NEW0(ctx, &sums, size));
	KDRI_TRY(grid_of(ctx, c, &e));
	for (int64_t i = 0; i < c->rows; i++)
		for (int64_t p = c->rowptr[i]; p < c->rowptr[i + 1]; p++)
			kdri_exact_add(&sums[labels[i] * m + c->col[p]], e.big, e.small, c->val[p]);
	KDRI_TRY(kdri_sum(ctx, &sums->high, 2 * size));
	memset(within, 0, (size_t)k * sizeof *within);
	memset(volume, 0, (size_t)k * sizeof *volume);
	for (int64_t a = 0; a < m; a++) {
		double all = 0;
		for (int64_t q = 0; q < k; q++)
			all += sums[q * m + a].high + sums[q * m + a].low;
		for (int64_t q = 0; q < k && all > 0; q++) { /* (E4) */
			double own = sums[q * m + a].high + sums[q * m + a].low;
			volume[q] += own;
			within[q] += own * own / all;
		}
	}
done:
	kdri_free(ctx, sums);
	return st;
}

kdr_status kdri_landmarks_ncut(kdr_context *ctx, const kdr_mat *z, const int64_t *labels, int64_t k,
                               double *out)
{
	kdr_status st;
	double *within = NULL, *volume = NULL, total = 0;
	KDRI_TRY(KDRI_NEW(ctx, &within, k));
	KDRI_TRY(KDRI_NEW(ctx, &volume, k));
	KDRI_TRY(kdri_landmarks_cut(ctx, z, labels, k, within, volume));
	for (int64_t q = 0; q < k; q++)
		total += volume[q] > 0 ? KDRI_MAX(volume[q] - within[q], 0) / volume[q] : 0;
	*out = total;
done:
	KDRI_FREE(ctx, within, volume);
	return st;
}
