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
#include "engine/graph/landmarks.h"

#include "comm/comm.h"

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
