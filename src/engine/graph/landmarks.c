/* Samples joined to landmarks. SPDX-License-Identifier: BSD-3-Clause
 *
 * m of the n rows are landmarks [Chen, Cai: Large scale spectral clustering with landmark-based representation, AAAI 2011]. The
 * rows, in the order of all ranks, are cut into m runs of about equal length, and one row of each is drawn:
 *
 *   (E1)  a_j = b_j + u_j,  b_j = floor(j n / m) or so,  u_j uniform on 0 .. b_(j+1) - b_j - 1
 *
 * which takes no memory for n and follows whatever order the rows are in. A row is joined to its r nearest landmarks, found
 * among all of them, n m products:
 *
 *   (E2)  z_ia = max(cos(x_i - c, x_a - c), least)                    c: the mean, or 0
 *   (E3)  z_ia = exp(-|x_i - x_a|^2 / (s_i s_a)),  s the distance to the last of r landmarks  [Zelnik-Manor, Perona 2004]
 *   (E4)  z_ia = exp(-|x_i - x_a|^2 / (2 sigma^2))
 *
 * A landmark is a row like any other and joined to itself, too. */
/* Steps between samples that share landmarks.
 *
 * Z (n x m, >= 0) joins samples to landmarks, and through them to each other. A sample is not
 * its own neighbour, so the weights of the other samples are
 *
 *   (E5)  W = Z L^-1 Z' - diag(s),  L = diag(Z'1),  s_i = sum_a z_ia^2 / L_a
 *   (E6)  W x = Z (L^-1 (Z'x)) - s x
 *
 * in O(n) for a fixed number of landmarks per sample, although W itself has up to n^2 entries. A sample that shares its
 * landmarks with no other has a row of zeros, which (E6) would reproduce only up to rounding. */
/* The spectrum of a graph of samples and landmarks.
 *
 * Rows joined to the same landmark are joined to each other. With Z (n x m, >= 0) and one step to a landmark and back,
 *
 *   (E7)  W = Z L^-1 Z',  L = diag(Z'1),  D = diag(Z 1) = diag(W 1)
 *
 * [Dhillon 2001; Liu, He, Chang: Large graph construction for scalable semi-supervised learning, ICML 2010]. W is n x n and never formed:
 * D^-1/2 W D^-1/2 = B B' with B = D^-1/2 Z L^-1/2, and B B' has the eigenvalues of B'B other than 0. Now
 *
 *   (E8)  B'B = L^-1/2 G L^-1/2,  G = Z' D^-1 Z,  G 1 = Z'1
 *
 * is the normalised matrix of a graph, too: that of the landmarks, m x m, joined by the rows they share. Its degrees are L. So
 * spectrum.c finds its eigenvectors v, with all components and multiplicities, and those of the rows are
 *
 *   (E9)  u = D^-1/2 Z L^-1/2 v / sqrt(value)
 *
 * a product for each rank's own rows. The cut of clusters c needs the sums of their rows alone:
 *
 *   (E10)  Z_ca = sum of z_ia over i in c,   within_c = sum_a Z_ca^2 / L_a,   volume_c = sum_a Z_ca
 *
 * G and (E10) are sums over rows. Their terms are at most the largest z, since z_ia z_ib / d_i <= min(z_ia, z_ib), so
 * that they can be exact (comm/exact.h) and the same for any distribution of the rows and any number of threads. Rank
 * 0 finds v for all. */
#include "engine/graph/landmarks.h"
#include "comm/comm.h"
#include "engine/graph/similarity.h"

const char *const kdri_joins_names[] = { "auto", "neighbours", "landmarks", NULL };

kdr_status kdri_joins_check(kdr_context *ctx, kdri_joins joins)
{
	if (joins != KDRI_JOINS_NEIGHBOURS || !kdri_several(ctx))
		return KDR_OK;
	return kdri_fail(ctx, KDR_ERR_UNSUPPORTED,
	                 "graph=neighbours needs all rows in one process; under mpirun, use graph=landmarks");
}

void kdri_landmarks_free(kdr_context *ctx, kdri_landmarks *l)
{
	if (!l)
		return;
	KDRI_FREE(ctx, l->number, l->here);
	kdri_own_free(ctx, &l->rows);
	*l = (kdri_landmarks){ .rows.view = kdr_mat_from_dense(NULL, 0, 0) };
}

/* --- the choice ------------------------------------------------------------------------------------ */

/* (E1), and which of them lie here. */
static kdr_status landmarks_draw(kdr_context *ctx, const int64_t *rows_of, int64_t tasks, int64_t most,
                                 uint64_t stream, kdri_landmarks *l)
{
	kdr_status st;
	kdri_rng rng = kdri_rng_stream(ctx->seed, "landmarks", stream);
	int64_t *start = NULL, all = 0;
	KDRI_TRY(KDRI_NEW(ctx, &start, tasks));
	KDRI_TRY(kdri_parts(ctx, rows_of, tasks, start, &all));
	l->count = KDRI_MIN(most, all);
	KDRI_TRY(KDRI_NEW(ctx, &l->number, l->count));
	KDRI_TRY(KDRI_NEW(ctx, &l->here, l->count));
	for (int64_t j = 0; j < l->count; j++) {
		int64_t row = 0;
		l->number[j] = kdri_chunk_draw(&rng, all, l->count, j);
		l->here[j] = -1;
		for (int64_t t = 0; t < tasks; row += rows_of[t++])
			if (l->number[j] >= start[t] && l->number[j] < start[t] + rows_of[t])
				l->here[j] = row + l->number[j] - start[t];
	}
done:
	kdri_free(ctx, start);
	return st;
}

kdr_status kdri_landmarks_new(kdr_context *ctx, const kdr_mat *x, const int64_t *rows_of, int64_t tasks,
                              int64_t most, uint64_t stream, kdri_landmarks *out)
{
	kdr_status st;
	const int64_t n = kdr_mat_rows(x);
	kdri_landmarks l = { .rows.view = kdr_mat_from_dense(NULL, 0, 0) };
	KDRI_TRY(landmarks_draw(ctx, rows_of ? rows_of : &n, rows_of ? tasks : 1, most, stream, &l));
	KDRI_TRY(kdri_mat_share(ctx, x, l.here, l.count, &l.rows));
	*out = l;
	l = (kdri_landmarks){ .rows.view = kdr_mat_from_dense(NULL, 0, 0) };
done:
	kdri_landmarks_free(ctx, &l);
	return st;
}

kdr_status kdri_landmarks_share(kdr_context *ctx, const kdri_landmarks *l, const int64_t *from, int64_t each,
                                int64_t *to)
{
	for (int64_t a = 0; a < l->count; a++)
		for (int64_t j = 0; j < each; j++)
			to[a * each + j] = l->here[a] >= 0 ? from[l->here[a] * each + j] : 0;
	return kdri_sum_int(ctx, to, l->count * each);
}

/* --- the graph -------------------------------------------------------------------------------------- */

typedef struct weighing {
	const kdri_landmarks_options *o;
	const double *scale; /* (E3): s_a^2 of the landmarks */
} weighing;

/* (E2) to (E4) for entry p of row i. */
static double weight_of(const weighing *w, const kdri_knn *knn, int64_t i, int64_t p)
{
	const double value = knn->value[i * knn->k + p], least = w->o->least;
	if (w->o->weight == KDRI_LANDMARKS_COSINE)
		return KDRI_MAX(value, least); /* (E2) */
	if (value == 0)                        /* copies of one sample are as near as can be */
		return 1;
	if (w->o->weight == KDRI_LANDMARKS_GAUSS)
		return KDRI_MAX(exp(-value / (2 * w->o->sigma * w->o->sigma)), least); /* (E4) */
	double theirs = w->scale ? w->scale[knn->index[i * knn->k + p]] : 0;
	double scale = sqrt(knn->value[i * knn->k + knn->k - 1] * theirs);
	return KDRI_MAX(scale > 0 ? exp(-value / scale) : 0, least); /* (E3) */
}

/* Row i of Z in order of columns; returns how many it has. */
static int64_t fill_row(const kdri_knn *knn, const weighing *w, int64_t i, int32_t *col, double *val)
{
	int64_t count = 0;
	if (w->o->weight == KDRI_LANDMARKS_COSINE && !kdri_knn_has_direction(knn, i))
		return 0;
	for (int64_t p = 0; p < knn->k; p++) {
		int32_t a = knn->index[i * knn->k + p];
		double weight = a >= 0 ? weight_of(w, knn, i, p) : 0;
		/* A cosine of exactly 0 is that of a landmark without direction, or of one with nothing in common. */
		if (!(weight > 0) ||
		    (w->o->weight == KDRI_LANDMARKS_COSINE && knn->value[i * knn->k + p] == 0))
			continue;
		int64_t to = count++;
		for (; to > 0 && col[to - 1] > a; to--) {
			col[to] = col[to - 1];
			val[to] = val[to - 1];
		}
		col[to] = a;
		val[to] = weight;
	}
	return count;
}

/* The lists as rows of Z. */
static kdr_status landmarks_fill(kdr_context *ctx, const kdri_knn *knn, int64_t m, const weighing *w,
                                 kdri_own *out)
{
	kdr_status st;
	int64_t *rowptr = NULL, size;
	int32_t *col = NULL;
	double *val = NULL;
	KDRI_TRY(kdri_mul(ctx, knn->rows, knn->k, &size));
	KDRI_TRY(KDRI_NEW(ctx, &rowptr, knn->rows + 1));
	KDRI_TRY(KDRI_NEW(ctx, &col, size));
	KDRI_TRY(KDRI_NEW(ctx, &val, size));
	rowptr[0] = 0;
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) if (knn->rows > KDRI_BLOCK)
	for (int64_t i = 0; i < knn->rows; i++)
		rowptr[i + 1] = fill_row(knn, w, i, col + i * knn->k, val + i * knn->k);
	for (int64_t i = 0; i < knn->rows; i++) { /* closes gaps */
		const size_t count = (size_t)rowptr[i + 1];
		if (rowptr[i] < i * knn->k) {
			memmove(col + rowptr[i], col + i * knn->k, count * sizeof *col);
			memmove(val + rowptr[i], val + i * knn->k, count * sizeof *val);
		}
		rowptr[i + 1] += rowptr[i];
	}
	*out = kdri_own_csr(knn->rows, m, &rowptr, &col, &val);
done:
	KDRI_FREE(ctx, rowptr, col, val);
	return st;
}

/* s_a^2 of (E3): the landmarks as rows. Every rank has them all and searches separately. */
static kdr_status scales(kdr_context *ctx, const kdr_mat *y, int64_t r, double *out)
{
	kdri_knn knn = { 0 };
	r = KDRI_MIN(r, kdr_mat_rows(y) - 1); /* a row is not its own neighbour */
	kdri_apart(ctx);
	kdr_status st = kdri_knn_among(ctx, y, NULL, y, NULL, r, KDRI_METRIC_EUCLIDEAN, &knn);
	kdri_rejoin(ctx);
	for (int64_t a = 0; st == KDR_OK && a < knn.rows; a++)
		out[a] = r > 0 ? knn.value[a * r + r - 1] : 0;
	if (st == KDR_OK && kdri_together(ctx)) /* if the time limit stopped one rank, all are informed */
		(void)kdri_iteration(ctx, "neighbours", 1, 1, NAN);
	kdri_knn_free(ctx, &knn);
	return st;
}

kdr_status kdri_landmarks_graph(kdr_context *ctx, const kdr_mat *x, const kdri_landmarks *l,
                                const kdri_landmarks_options *options, kdri_own *out)
{
	kdr_status st = KDR_OK;
	const kdr_mat *y = &l->rows.view;
	const int64_t r = KDRI_MIN(options->neighbors, l->count);
	kdri_knn_shift of_x = { 0 }, of_y = { 0 };
	kdri_knn knn = { 0 };
	double *scale = NULL;
	const bool cosine = options->weight == KDRI_LANDMARKS_COSINE;
	if (options->mean && cosine) {
		KDRI_TRY(kdri_knn_shift_new(ctx, x, options->mean, &of_x));
		KDRI_TRY(kdri_knn_shift_new(ctx, y, options->mean, &of_y));
	}
	const bool shifted = options->mean && cosine;
	KDRI_TRY(kdri_knn_among(ctx, x, shifted ? &of_x : NULL, y, shifted ? &of_y : NULL, r,
	                        cosine ? KDRI_METRIC_COSINE : KDRI_METRIC_EUCLIDEAN, &knn));
	if (options->weight == KDRI_LANDMARKS_TUNED && r > 0) {
		KDRI_TRY(KDRI_NEW(ctx, &scale, l->count));
		KDRI_TRY(scales(ctx, y, r, scale));
	}
	KDRI_TRY(landmarks_fill(ctx, &knn, l->count, &(weighing){ options, scale }, out));
done:
	kdri_knn_shift_free(ctx, &of_x);
	kdri_knn_shift_free(ctx, &of_y);
	kdri_knn_free(ctx, &knn);
	kdri_free(ctx, scale);
	return st;
}

/* Relative to a sample's edges: a smaller weight to others is rounding error. */
static const double least_shared = 1e-12;
enum { ALONE = -1 };

void kdri_landmarks_walk_free(kdr_context *ctx, kdri_landmarks_walk *w)
{
	KDRI_FREE(ctx, w->inverse, w->self);
	*w = (kdri_landmarks_walk){ .z = kdr_mat_from_dense(NULL, 0, 0) };
}

kdr_status kdri_landmarks_walk_new(kdr_context *ctx, const kdr_mat *z, kdri_landmarks_walk *out)
{
	kdr_status st;
	const kdr_csr *c = &z->as.csr;
	kdri_landmarks_walk w = { .z = *z };
	double *degree = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &w.inverse, c->cols));
	KDRI_TRY(KDRI_NEW0(ctx, &w.self, c->rows));
	KDRI_TRY(KDRI_NEW(ctx, &degree, c->rows));
	KDRI_TRY(kdri_graph_degrees(ctx, z, degree));
	KDRI_TRY(kdri_mat_col_sums(ctx, z, w.inverse));
	for (int64_t a = 0; a < c->cols; a++)
		w.inverse[a] = w.inverse[a] > 0 ? 1 / w.inverse[a] : 0;
	for (int64_t i = 0; i < c->rows; i++) {
		for (int64_t p = c->rowptr[i]; p < c->rowptr[i + 1]; p++)
			w.self[i] += c->val[p] * c->val[p] * w.inverse[c->col[p]]; /* (E5) */
		if (degree[i] - w.self[i] <= least_shared * degree[i])
			w.self[i] = ALONE;
	}
	*out = w;
	w = (kdri_landmarks_walk){ .z = *z };
done:
	kdri_free(ctx, degree);
	kdri_landmarks_walk_free(ctx, &w);
	return st;
}

/* (E6) */
static kdr_status landmarks_walk_apply(kdr_context *ctx, const kdri_op *op, const double *x, int64_t k,
                                       int64_t ldx, double *y, int64_t ldy)
{
	kdr_status st;
	const kdri_landmarks_walk *w = op->data;
	const int64_t m = kdr_mat_cols(&w->z);
	double *at_landmarks = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &at_landmarks, m * k));
	KDRI_TRY(kdri_mat_tmul(ctx, &w->z, x, k, ldx, at_landmarks, k));
	for (int64_t a = 0; a < m; a++)
		for (int64_t j = 0; j < k; j++)
			at_landmarks[a * k + j] *= w->inverse[a];
	KDRI_TRY(kdri_mat_mul(ctx, &w->z, at_landmarks, k, k, y, ldy));
	for (int64_t i = 0; i < op->rows; i++)
		for (int64_t j = 0; j < k; j++)
			y[i * ldy + j] =
			        w->self[i] == ALONE ? 0 : y[i * ldy + j] - w->self[i] * x[i * ldx + j];
done:
	kdri_free(ctx, at_landmarks);
	return st;
}

kdri_op kdri_op_landmarks(const kdri_landmarks_walk *walk)
{
	const int64_t n = kdr_mat_rows(&walk->z);
	return (kdri_op){ n, n, landmarks_walk_apply, NULL, walk };
}

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

/* G of (E8), the upper triangle. Each thread has columns of its own. */
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

/* (E9) */
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
	KDRI_TRY(kdri_graph_degrees(ctx, z, degree)); /* D of (E7) */
	for (int64_t i = 0; i < n; i++)
		s.isolated += !(degree[i] > 0);
	KDRI_TRY(kdri_sum_int(ctx, &s.isolated, 1));
	if (m == 0) { /* no graph, no vectors */
		*out = s;
		s = (kdri_spectrum){ 0 };
		goto done;
	}
	KDRI_TRY(landmark_graph(ctx, &z->as.csr, degree, &g)); /* (E8) */
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
		for (int64_t q = 0; q < k && all > 0; q++) { /* (E10) */
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
