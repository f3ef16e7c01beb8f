/* A layout by forces: neighbours attract, samples of all others repel. SPDX-License-Identifier: BSD-3-Clause
 *
 * Two-dimensional points y_i such that neighbours in the data are also neighbours in the map, for each task t with n
 * samples, whose graph has weights a_ij = 1 between neighbours:
 *
 *   (E1)  p_ij = a_ij / sum a           q_ij = w_ij / Z,  w_ij = 1 / (1 + |y_i - y_j|^2),  Z = sum_{i != j} w_ij
 *   (E2)  minimise sum_t KL(P_t | Q_t) + c_t sum_anchors log(1 + |y_i - s y_j|^2)
 *
 * [L. van der Maaten, G. Hinton: Visualizing data using t-SNE, JMLR 9, 2008]; uniform weights on a neighbour graph do as
 * well as widths fitted to each sample [J. N. Boehm, P. Berens, D. Kobak: Attraction-repulsion spectrum in neighbor
 * embeddings, JMLR 23, 2022]. Anchors are pairs of samples of two tasks that choose each other (links.c). Tasks do not
 * repel each other: they are drawn on the same axes, each in a panel of its own, and anchors bring what corresponds to
 * the same place. s = r_t / r_u is the ratio of the tasks' radii: a larger task takes up more space and is drawn
 * smaller
 *
 *   (E3)  y_i <- y_i / r_t,  r_t^2 = mean |y_i|^2                                              at the end.
 *
 * A step follows n times the negative gradient; its factor 4 is part of the step length:
 *
 *   (E4)  f_i = e (sum_j n p_ij w_ij (y_j - y_i) + b mean_anchors w (s y_j - y_i)) - (n / Z) sum_j w_ij^2 (y_j - y_i)
 *
 * The second sum has n terms. Those of i's neighbours are computed exactly, because w^2 is large there. The others
 * are estimated from m samples S_i of all points, excluding the neighbours, which is unbiased:
 *
 *   (E5)  sum_j w_ij^2 (y_j - y_i) ~ sum_{j in N_i} w_ij^2 (y_j - y_i) + (n / m) sum_{j in S_i \ N_i} w_ij^2 (y_j - y_i)
 *
 * and so is Z, a sum of n terms for each point. A sweep therefore costs O(edges + n m), as in LargeVis [J. Tang et
 * al., WWW 2016] and UMAP [L. McInnes, J. Healy, J. Melville, 2018]. Steps have a little momentum,
 *
 *   (E6)  v <- v / 2 + h f,   y <- y + v.
 *
 * More momentum, or the gains usual in t-SNE, would amplify the noise of (E5).
 *
 * Attraction is exaggerated, e > 1, in the first sweeps, so that clusters form before they are in each other's way, and
 * steps shorten in the last ones, so that the noise of (E5) dies down. All points move at once: the step of a point
 * depends only on the last sweep and its own random stream, and sums over points are added in order. The layout is
 * therefore the same for any number of threads. */
#include "engine/embed/embed.h"

enum { SAMPLES = 8, FEW = 5000, LEAST_SWEEPS = 300, MOST_SWEEPS = 500 };
static const double exaggeration = 12, early = 0.25, late = 0.4, start_spread = 1e-2, length = 0.5;
static const double longest = 5; /* a step, in the units of w */
static const double anchored = 0.3;
static const double least_spread = 1e-6; /* of a task around its mean */

typedef struct work {
	const kdri_forces *of;
	double *y, *v; /* two a point */
	double *attract, *repel, *z;
	double *radius, *norm; /* of each task: r_t, and n / Z */
	int32_t *task;         /* of each point; NULL: one task */
	uint64_t *near;        /* of each point: bit j % 64 is set where it has a neighbour j */
	uint64_t seed;
} work;

static bool is_neighbour(const kdr_csr *g, int64_t i, int64_t j)
{
	int64_t low = g->rowptr[i], high = g->rowptr[i + 1];
	while (low < high) {
		int64_t mid = low + (high - low) / 2;
		if (g->col[mid] == j)
			return true;
		if (g->col[mid] < j)
			low = mid + 1;
		else
			high = mid;
	}
	return false;
}

/* The forces of the neighbours and of a sample of the other points on point i of task t: (E4) and (E5) without their
 * factors. */
static void push_and_pull(const work *w, int64_t t, int64_t i, uint64_t sweep)
{
	const kdr_csr *g = &w->of->graphs[t];
	int64_t n = g->rows, at = w->of->begin[t] + i;
	const double *y = w->y + 2 * w->of->begin[t];
	double x0 = y[2 * i], y0 = y[2 * i + 1], a0 = 0, a1 = 0, r0 = 0, r1 = 0, z = 0;
	for (int64_t p = g->rowptr[i]; p < g->rowptr[i + 1]; p++) {
		int64_t j = g->col[p];
		double dx = y[2 * j] - x0, dy = y[2 * j + 1] - y0, k = 1 / (1 + dx * dx + dy * dy);
		a0 += k * dx;
		a1 += k * dy;
		r0 += k * k * dx;
		r1 += k * k * dy;
		z += k;
	}
	/* Below so few points all of them are seen. */
	int64_t m = n - 1 <= SAMPLES ? n : SAMPLES;
	double s0 = 0, s1 = 0, sz = 0;
	uint64_t state = w->seed ^ (sweep * 0x9e3779b97f4a7c15u) ^ ((uint64_t)at << 20), bits = 0;
	for (int64_t s = 0; s < m; s++) {
		bits = s % 2 ? bits >> 32 : kdri_random(&state);
		int64_t j = m == n ? s : (int64_t)(((bits & 0xffffffffu) * (uint64_t)n) >> 32);
		/* one bit excludes most of them */
		if (j == i || (w->near[at] >> (j % 64) & 1 && is_neighbour(g, i, j)))
			continue;
		double dx = y[2 * j] - x0, dy = y[2 * j + 1] - y0, k = 1 / (1 + dx * dx + dy * dy);
		s0 += k * k * dx;
		s1 += k * k * dy;
		sz += k;
	}
	double times = (double)n / (double)m; /* (E5) */
	w->attract[2 * at] = a0;
	w->attract[2 * at + 1] = a1;
	w->repel[2 * at] = r0 + times * s0;
	w->repel[2 * at + 1] = r1 + times * s1;
	w->z[at] = z + times * sz;
}

/* The last part of (E2): point `at` towards its anchors, wherever their tasks' radii put them. */
static void add_anchors(const work *w, int64_t at, double *fx, double *fy)
{
	const kdr_csr *g = w->of->anchors;
	int64_t begin = g->rowptr[at], end = g->rowptr[at + 1];
	double sx = 0, sy = 0;
	for (int64_t p = begin; p < end; p++) {
		int64_t j = g->col[p];
		double s = w->radius[w->task[at]] / w->radius[w->task[j]];
		double dx = s * w->y[2 * j] - w->y[2 * at], dy = s * w->y[2 * j + 1] - w->y[2 * at + 1];
		double k = 1 / (1 + dx * dx + dy * dy);
		sx += k * dx;
		sy += k * dy;
	}
	if (end > begin) {
		*fx += anchored * sx / (double)(end - begin);
		*fy += anchored * sy / (double)(end - begin);
	}
}

/* (E6), of one coordinate. */
static void forces_step(double *v, double force, double h)
{
	*v = KDRI_MIN(KDRI_MAX(*v / 2 + h * force, -longest), longest);
}

/* A graph without clusters contracts under exaggerated attraction, until rounding makes its points equal and no force
 * can separate them again. Enlarges task t about its mean before that. */
static void keep_apart(const work *w, int64_t t)
{
	int64_t begin = w->of->begin[t], end = w->of->begin[t + 1];
	double n = (double)(end - begin), mean[2] = { 0, 0 }, square = 0;
	for (int64_t i = 2 * begin; i < 2 * end; i++)
		mean[i % 2] += w->y[i] / n;
	for (int64_t i = 2 * begin; i < 2 * end; i++)
		square += (w->y[i] - mean[i % 2]) * (w->y[i] - mean[i % 2]);
	double spread = sqrt(square / n), times = least_spread / spread;
	for (int64_t i = 2 * begin; i < 2 * end && spread > 0 && times > 1; i++)
		w->y[i] = mean[i % 2] + times * (w->y[i] - mean[i % 2]);
}

/* Z and the radius of each task, summed in order of points. */
static void task_sums(const work *w)
{
	for (int64_t t = 0; t < w->of->ntasks; t++) {
		int64_t begin = w->of->begin[t], end = w->of->begin[t + 1];
		double z = 0, square = 0;
		for (int64_t i = begin; i < end; i++) {
			z += w->z[i];
			square += w->y[2 * i] * w->y[2 * i] + w->y[2 * i + 1] * w->y[2 * i + 1];
		}
		w->norm[t] = z > 0 ? (double)(end - begin) / z : 0;
		w->radius[t] = KDRI_MAX(sqrt(square / (double)(end - begin)), least_spread);
	}
}

static void sweep(kdr_context *ctx, const work *w, int64_t number, double e, double h)
{
	const kdri_forces *f = w->of;
	for (int64_t t = 0; t < f->ntasks; t++) {
		int64_t n = f->begin[t + 1] - f->begin[t];
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) if (n > KDRI_BLOCK)
		for (int64_t i = 0; i < n; i++)
			push_and_pull(w, t, i, (uint64_t)number);
	}
	task_sums(w);
	for (int64_t t = 0; t < f->ntasks; t++) {
		int64_t begin = f->begin[t], end = f->begin[t + 1];
		double edges = (double)f->graphs[t].rowptr[end - begin];
		double times = edges > 0 ? (double)(end - begin) / edges : 0; /* (E1): n p_ij */
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) if (end - begin > KDRI_BLOCK)
		for (int64_t i = begin; i < end; i++) {
			double fx = times * w->attract[2 * i], fy = times * w->attract[2 * i + 1];
			if (f->anchors)
				add_anchors(w, i, &fx, &fy);
			fx = e * fx - w->norm[t] * w->repel[2 * i]; /* (E4) */
			fy = e * fy - w->norm[t] * w->repel[2 * i + 1];
			forces_step(&w->v[2 * i], fx, h);
			forces_step(&w->v[2 * i + 1], fy, h);
		}
	}
	/* only now, because anchors use the previous positions */
	for (int64_t i = 0; i < 2 * f->begin[f->ntasks]; i++)
		w->y[i] += w->v[i];
	for (int64_t t = 0; t < f->ntasks; t++)
		keep_apart(w, t);
}

/* Points of a task to mean 0; (E3). */
static void forces_settle(const work *w)
{
	for (int64_t t = 0; t < w->of->ntasks; t++) {
		int64_t begin = w->of->begin[t], end = w->of->begin[t + 1];
		double n = (double)(end - begin), mean[2] = { 0, 0 }, square = 0;
		for (int64_t i = 2 * begin; i < 2 * end; i++)
			mean[i % 2] += w->y[i];
		for (int64_t i = 2 * begin; i < 2 * end; i++) {
			w->y[i] -= mean[i % 2] / n;
			square += w->y[i] * w->y[i];
		}
		double radius = sqrt(square / n);
		for (int64_t i = 2 * begin; i < 2 * end && radius > 0; i++)
			w->y[i] /= radius; /* (E3) */
	}
}

/* The start: as wide as is good for (E4), whatever the data's units. */
static void forces_shrink(const work *w)
{
	forces_settle(w);
	for (int64_t i = 0; i < 2 * w->of->begin[w->of->ntasks]; i++)
		w->y[i] *= start_spread;
}

static int64_t sweeps_for(int64_t n)
{
	double factor = (double)FEW / (double)KDRI_MAX(n, FEW);
	return LEAST_SWEEPS + (int64_t)((MOST_SWEEPS - LEAST_SWEEPS) * factor);
}

kdr_status kdri_forces_run(kdr_context *ctx, const kdri_forces *f, double *y)
{
	kdr_status st;
	int64_t n = f->begin[f->ntasks], sweeps = f->sweeps ? f->sweeps : sweeps_for(n);
	work w = { .of = f };
	kdri_rng rng = kdri_rng_stream(ctx->seed, "embed", 0);
	w.seed = kdri_rng_u64(&rng);
	w.y = y;
	KDRI_TRY(KDRI_NEW0(ctx, &w.v, 2 * n));
	KDRI_TRY(KDRI_NEW(ctx, &w.attract, 2 * n));
	KDRI_TRY(KDRI_NEW(ctx, &w.repel, 2 * n));
	KDRI_TRY(KDRI_NEW(ctx, &w.z, n));
	KDRI_TRY(KDRI_NEW(ctx, &w.radius, f->ntasks));
	KDRI_TRY(KDRI_NEW(ctx, &w.norm, f->ntasks));
	KDRI_TRY(KDRI_NEW(ctx, &w.task, n));
	KDRI_TRY(KDRI_NEW0(ctx, &w.near, n));
	for (int64_t t = 0; t < f->ntasks; t++)
		for (int64_t i = f->begin[t]; i < f->begin[t + 1]; i++) {
			const kdr_csr *g = &f->graphs[t];
			w.task[i] = (int32_t)t;
			for (int64_t p = g->rowptr[i - f->begin[t]]; p < g->rowptr[i - f->begin[t] + 1]; p++)
				w.near[i] |= (uint64_t)1 << (g->col[p] % 64);
		}
	forces_shrink(&w);
	for (int64_t s = 0; s < sweeps; s++) {
		double part = (double)s / (double)sweeps;
		bool first = part < early;
		double left = KDRI_MIN(1, (1 - part) / late);
		sweep(ctx, &w, s, first ? exaggeration : 1, first ? 1 / exaggeration : length * left);
		if (kdri_iteration(ctx, "layout", s + 1, sweeps, NAN))
			break;
	}
	forces_settle(&w);
done:
	KDRI_FREE(ctx, w.v, w.attract, w.repel, w.z, w.radius, w.norm, w.task, w.near);
	return st;
}
