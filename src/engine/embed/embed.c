/* Two-dimensional maps of the samples of related tasks. SPDX-License-Identifier: BSD-3-Clause
 *
 * Rows minus their task's mean are compared as in the ensemble (engine/graph/views.c: by cosine or distance). Their
 * leading directions are the start of a layout by forces, or the layout itself. */
/* The pairs of samples that attract each other in a layout.
 *
 * Within a task: nearest neighbours, as the ensemble finds them (engine/graph/views.c). Between tasks t and u: samples
 * that choose each other, in the space of the leading directions z that rows less their task's mean share,
 *
 *   (E1)  i of t and j of u are anchors if j is among the CHOSEN samples of u nearest to i, and i among those of t
 *         nearest to j
 *
 * [L. Haghverdi et al.: Batch effects in single-cell RNA-sequencing data are corrected by matching mutual nearest
 * neighbors, Nature Biotechnology 36, 2018]. Samples without a counterpart in the other task are not chosen and stay
 * free. In a large task, only LANDMARKS evenly spaced samples can be anchors: this suffices to align it, at O(n)
 * cost. */
/* A layout by forces: neighbours attract, samples of all others repel.
 *
 * Two-dimensional points y_i such that neighbours in the data are also neighbours in the map, for each task t with n
 * samples, whose graph has weights a_ij = 1 between neighbours:
 *
 *   (E2)  p_ij = a_ij / sum a           q_ij = w_ij / Z,  w_ij = 1 / (1 + |y_i - y_j|^2),  Z = sum_{i != j} w_ij
 *   (E3)  minimise sum_t KL(P_t | Q_t) + c_t sum_anchors log(1 + |y_i - s y_j|^2)
 *
 * [L. van der Maaten, G. Hinton: Visualizing data using t-SNE, JMLR 9, 2008]; uniform weights on a neighbour graph do as
 * well as widths fitted to each sample [J. N. Boehm, P. Berens, D. Kobak: Attraction-repulsion spectrum in neighbor
 * embeddings, JMLR 23, 2022]. Anchors are pairs of samples of two tasks that choose each other. Tasks do not
 * repel each other: they are drawn on the same axes, each in a panel of its own, and anchors bring what corresponds to
 * the same place. s = r_t / r_u is the ratio of the tasks' radii: a larger task takes up more space and is drawn
 * smaller
 *
 *   (E4)  y_i <- y_i / r_t,  r_t^2 = mean |y_i|^2                                              at the end.
 *
 * A step follows n times the negative gradient; its factor 4 is part of the step length:
 *
 *   (E5)  f_i = e (sum_j n p_ij w_ij (y_j - y_i) + b mean_anchors w (s y_j - y_i)) - (n / Z) sum_j w_ij^2 (y_j - y_i)
 *
 * The second sum has n terms. Those of i's neighbours are computed exactly, because w^2 is large there. The others
 * are estimated from m samples S_i of all points, excluding the neighbours, which is unbiased:
 *
 *   (E6)  sum_j w_ij^2 (y_j - y_i) ~ sum_{j in N_i} w_ij^2 (y_j - y_i) + (n / m) sum_{j in S_i \ N_i} w_ij^2 (y_j - y_i)
 *
 * and so is Z, a sum of n terms for each point. A sweep therefore costs O(edges + n m), as in LargeVis [J. Tang et
 * al., WWW 2016] and UMAP [L. McInnes, J. Healy, J. Melville, 2018]. Steps have a little momentum,
 *
 *   (E7)  v <- v / 2 + h f,   y <- y + v.
 *
 * More momentum, or the gains usual in t-SNE, would amplify the noise of (E6).
 *
 * Attraction is exaggerated, e > 1, in the first sweeps, so that clusters form before they are in each other's way, and
 * steps shorten in the last ones, so that the noise of (E6) dies down. All points move at once: the step of a point
 * depends only on the last sweep and its own random stream, and sums over points are added in order. The layout is
 * therefore the same for any number of threads. */
#include "engine/embed/embed.h"

enum { LANDMARKS = 1500, CHOSEN = 5 };

/* The neighbours of a task's samples as a graph with weights 1. Samples without a direction, which have no neighbours by
 * cosine, are neighbours of each other. */
static kdr_status embed_graph(kdr_context *ctx, const kdri_views_task *task, kdri_own *out)
{
	kdr_status st;
	const kdri_knn *found = &task->knn;
	int64_t n = found->rows, k = found->k, size = n * k, lost = 0;
	double *weight = NULL;
	int64_t *without = NULL;
	kdri_knn knn = { .rows = n, .k = k };
	KDRI_TRY(KDRI_NEW(ctx, &weight, size));
	KDRI_TRY(KDRI_NEW(ctx, &knn.index, size));
	KDRI_TRY(KDRI_NEW(ctx, &without, n));
	for (int64_t i = 0; i < n; i++) {
		bool any = false;
		for (int64_t p = i * k; p < (i + 1) * k; p++) {
			knn.index[p] = found->index[p];
			/* a cosine of 0 is that of samples without direction, or without a common feature */
			weight[p] = !task->cosine || found->value[p] != 0;
			any |= weight[p] > 0 && found->index[p] >= 0;
		}
		if (!any)
			without[lost++] = i;
	}
	for (int64_t a = 0; a < lost; a++)
		for (int64_t p = 0; p < k; p++) {
			int64_t at = without[a] * k + p;
			knn.index[at] = p + 1 < lost ? (int32_t)without[(a + p + 1) % lost] : -1;
			weight[at] = 1;
		}
	KDRI_TRY(kdri_knn_graph(ctx, &knn, weight, out));
done:
	KDRI_FREE(ctx, weight, knn.index, without);
	return st;
}

/* --- anchors ------------------------------------------------------------------------------------------ */

typedef struct nearest {
	int32_t index;
	double distance;
} nearest;

typedef struct side {
	int64_t begin, n, count; /* rows of the task; landmarks */
	nearest *best;           /* count x CHOSEN, of the other side's landmarks */
	int64_t held;            /* of CHOSEN */
} side;

static int64_t landmark(const side *s, int64_t i)
{
	return s->begin + (int64_t)((double)i * (double)s->n / (double)s->count);
}

/* The CHOSEN nearest landmarks of `to`, for each of `from`. */
static void links_choose(kdr_context *ctx, const double *z, int64_t width, const side *to, side *from)
{
	from->held = KDRI_MIN(CHOSEN, to->count);
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) if (from->count > KDRI_BLOCK)
	for (int64_t i = 0; i < from->count; i++) {
		const double *row = z + landmark(from, i) * width;
		nearest *best = from->best + i * CHOSEN;
		int64_t held = 0;
		for (int64_t j = 0; j < to->count; j++) {
			const double *other = z + landmark(to, j) * width;
			double d = 0;
			for (int64_t c = 0; c < width; c++)
				d += (row[c] - other[c]) * (row[c] - other[c]);
			if (held == from->held && d >= best[held - 1].distance)
				continue;
			int64_t at = held < from->held ? held++ : held - 1;
			for (; at > 0 && best[at - 1].distance > d; at--)
				best[at] = best[at - 1];
			best[at] = (nearest){ (int32_t)j, d };
		}
	}
}

static bool has_chosen(const side *s, int64_t i, int64_t j)
{
	for (int64_t c = 0; c < s->held; c++)
		if (s->best[i * CHOSEN + c].index == j)
			return true;
	return false;
}

typedef struct pair {
	int32_t a, b;
} pair;

/* (E1) */
static int64_t mutual(const side *a, const side *b, pair *pairs)
{
	int64_t count = 0;
	for (int64_t i = 0; i < a->count; i++)
		for (int64_t c = 0; c < a->held; c++) {
			int64_t j = a->best[i * CHOSEN + c].index;
			if (has_chosen(b, j, i))
				pairs[count++] = (pair){ (int32_t)landmark(a, i), (int32_t)landmark(b, j) };
		}
	return count;
}

/* Both directions of all pairs, as rows; a row's entries in the order of pairs. */
static kdr_status to_rows(kdr_context *ctx, int64_t n, const pair *pairs, int64_t count, kdri_own *out)
{
	kdr_status st;
	int64_t *rowptr = NULL;
	int32_t *col = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &rowptr, n + 1));
	KDRI_TRY(KDRI_NEW(ctx, &col, 2 * count));
	for (int64_t p = 0; p < count; p++) {
		rowptr[pairs[p].a]++;
		rowptr[pairs[p].b]++;
	}
	for (int64_t i = 0, sum = 0; i <= n; i++) {
		int64_t own = rowptr[i];
		rowptr[i] = sum;
		sum += own;
	}
	for (int64_t p = 0; p < count; p++) {
		col[rowptr[pairs[p].a]++] = pairs[p].b;
		col[rowptr[pairs[p].b]++] = pairs[p].a;
	}
	memmove(rowptr + 1, rowptr, (size_t)n * sizeof *rowptr);
	rowptr[0] = 0;
	*out = (kdri_own){ kdr_mat_from_csr(n, n, rowptr, col, NULL), { rowptr, col } };
	rowptr = NULL;
	col = NULL;
done:
	KDRI_FREE(ctx, rowptr, col);
	return st;
}

/* Samples of different tasks that choose each other: rows of `shared` (all samples, `width` numbers per row) in order
 * of tasks. Over all samples, symmetric, without weights. */
static kdr_status embed_anchors(kdr_context *ctx, const kdri_views *v, const double *shared, int64_t width,
                                kdri_own *out)
{
	kdr_status st = KDR_OK;
	side a = { 0 }, b = { 0 };
	pair *pairs = NULL;
	int64_t count = 0;
	KDRI_TRY(KDRI_NEW(ctx, &a.best, LANDMARKS * CHOSEN));
	KDRI_TRY(KDRI_NEW(ctx, &b.best, LANDMARKS * CHOSEN));
	for (int64_t t = 0; t < v->ntasks; t++)
		for (int64_t u = t + 1; u < v->ntasks; u++) {
			a.begin = v->begin[t];
			b.begin = v->begin[u];
			a.n = v->begin[t + 1] - a.begin;
			b.n = v->begin[u + 1] - b.begin;
			a.count = KDRI_MIN(a.n, LANDMARKS);
			b.count = KDRI_MIN(b.n, LANDMARKS);
			KDRI_TRY(KDRI_GROW(ctx, &pairs, count + a.count * CHOSEN));
			links_choose(ctx, shared, width, &b, &a);
			links_choose(ctx, shared, width, &a, &b);
			count += mutual(&a, &b, pairs + count);
			if (kdri_iteration(ctx, "anchors", t + 1, v->ntasks, NAN))
				goto enough;
		}
enough:
	KDRI_TRY(to_rows(ctx, v->begin[v->ntasks], pairs, count, out));
done:
	KDRI_FREE(ctx, a.best, b.best, pairs);
	return st;
}

enum { SAMPLES = 8, FEW = 5000, LEAST_SWEEPS = 300, MOST_SWEEPS = 500 };
static const double exaggeration = 12, early = 0.25, late = 0.4, start_spread = 1e-2, step_length = 0.5;
static const double longest = 5; /* a step, in the units of w */
static const double anchored = 0.3;
static const double least_spread = 1e-6; /* of a task around its mean */

typedef struct kdri_forces {
	int64_t ntasks;
	const int64_t *begin;   /* task t has points begin[t] .. begin[t + 1] - 1 */
	const kdr_csr *graphs;  /* of each task */
	const kdr_csr *anchors; /* between tasks; NULL: none */
	int64_t sweeps;         /* 0: by the number of points */
} kdri_forces;

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

/* The last part of (E3): point `at` towards its anchors, wherever their tasks' radii put them. */
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

/* (E7), of one coordinate. */
static void forces_step(double *v, double force, double h)
{
	*v = KDRI_MIN(KDRI_MAX(*v / 2 + h * force, -longest), longest);
}

/* The forces of the neighbours and of a sample of the other points on point i of task t: (E5) and (E6) without their
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
	double times = (double)n / (double)m; /* (E6) */
	w->attract[2 * at] = a0;
	w->attract[2 * at + 1] = a1;
	w->repel[2 * at] = r0 + times * s0;
	w->repel[2 * at + 1] = r1 + times * s1;
	w->z[at] = z + times * sz;
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
	/* Z and the radius of each task, summed in order of points. */
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
	for (int64_t t = 0; t < f->ntasks; t++) {
		int64_t begin = f->begin[t], end = f->begin[t + 1];
		double edges = (double)f->graphs[t].rowptr[end - begin];
		double times = edges > 0 ? (double)(end - begin) / edges : 0; /* (E2): n p_ij */
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) if (end - begin > KDRI_BLOCK)
		for (int64_t i = begin; i < end; i++) {
			double fx = times * w->attract[2 * i], fy = times * w->attract[2 * i + 1];
			if (f->anchors)
				add_anchors(w, i, &fx, &fy);
			fx = e * fx - w->norm[t] * w->repel[2 * i]; /* (E5) */
			fy = e * fy - w->norm[t] * w->repel[2 * i + 1];
			forces_step(&w->v[2 * i], fx, h);
			forces_step(&w->v[2 * i + 1], fy, h);
		}
	}
	/* only now, because anchors use the previous positions */
	for (int64_t i = 0; i < 2 * f->begin[f->ntasks]; i++)
		w->y[i] += w->v[i];
	for (int64_t t = 0; t < f->ntasks; t++) {
		/* A graph without clusters contracts under exaggerated attraction, until rounding makes its points equal and no force
		 * can separate them again. Enlarges task t about its mean before that. */
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
}

/* Points of a task to mean 0; (E4). */
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
			w->y[i] /= radius; /* (E4) */
	}
}

static int64_t sweeps_for(int64_t n)
{
	double factor = (double)FEW / (double)KDRI_MAX(n, FEW);
	return LEAST_SWEEPS + (int64_t)((MOST_SWEEPS - LEAST_SWEEPS) * factor);
}

/* y: x and y of each point, the start, then the layout. */
static kdr_status forces_run(kdr_context *ctx, const kdri_forces *f, double *y)
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
	/* The start: as wide as is good for (E5), whatever the data's units. */
	forces_settle(&w);
	for (int64_t i = 0; i < 2 * w.of->begin[w.of->ntasks]; i++)
		w.y[i] *= start_spread;
	for (int64_t s = 0; s < sweeps; s++) {
		double part = (double)s / (double)sweeps;
		bool first = part < early;
		double left = KDRI_MIN(1, (1 - part) / late);
		sweep(ctx, &w, s, first ? exaggeration : 1, first ? 1 / exaggeration : step_length * left);
		if (kdri_iteration(ctx, "layout", s + 1, sweeps, NAN))
			break;
	}
	forces_settle(&w);
done:
	KDRI_FREE(ctx, w.v, w.attract, w.repel, w.z, w.radius, w.norm, w.task, w.near);
	return st;
}

enum { NEIGHBORS = 15, SHARED_WIDTH = 20 };

typedef struct plane {
	kdri_views views;
	double *shared; /* all rows x width: along leading directions */
	int64_t width;
	kdri_own *graphs, anchors;
	kdr_csr *csr;
	double *y; /* two per row */
} plane;

static void plane_free(kdr_context *ctx, plane *p)
{
	for (int64_t t = 0; p->graphs && t < p->views.ntasks; t++)
		kdri_own_free(ctx, &p->graphs[t]);
	kdri_own_free(ctx, &p->anchors);
	KDRI_FREE(ctx, p->graphs, p->csr, p->shared, p->y);
	kdri_views_free(ctx, &p->views);
}

/* Where the cosine compares, by it: anchors are chosen by direction. */
static void unit(plane *p)
{
	int64_t n = p->views.begin[p->views.ntasks];
	for (int64_t i = 0; i < n && p->views.tasks[0].cosine; i++) {
		double *row = p->shared + i * p->width, length = sqrt(kdri_nrm2sq(row, p->width));
		for (int64_t c = 0; c < p->width && length > 0; c++)
			row[c] /= length;
	}
}

static kdr_status forces(kdr_context *ctx, plane *p, int64_t sweeps)
{
	const kdri_views *v = &p->views;
	KDRI_DO(KDRI_NEW0(ctx, &p->graphs, v->ntasks));
	KDRI_DO(KDRI_NEW0(ctx, &p->csr, v->ntasks));
	for (int64_t t = 0; t < v->ntasks; t++) {
		KDRI_DO(embed_graph(ctx, &v->tasks[t], &p->graphs[t]));
		p->csr[t] = p->graphs[t].view.as.csr;
	}
	kdri_forces f = { .ntasks = v->ntasks, .begin = v->begin, .graphs = p->csr, .sweeps = sweeps };
	if (v->ntasks > 1) {
		unit(p);
		KDRI_DO(embed_anchors(ctx, v, p->shared, p->width, &p->anchors));
		f.anchors = &p->anchors.view.as.csr;
	}
	return forces_run(ctx, &f, p->y);
}

kdr_status kdri_embed_shared(kdr_context *ctx, const kdr_mat *x, int64_t count, int64_t most, double **out,
                             int64_t *width)
{
	kdr_status st;
	kdr_task *tasks = NULL;
	plane p = { 0 };
	KDRI_TRY(KDRI_NEW0(ctx, &tasks, count));
	for (int64_t t = 0; t < count; t++)
		tasks[t].x = x[t];
	const kdr_problem problem = { .size = sizeof(kdr_problem), .tasks = tasks, .ntasks = count };
	const kdri_views_options looks = { .together = true, .later = true };
	KDRI_TRY(kdri_views_new(ctx, &problem, &looks, &p.views));
	p.width = KDRI_MIN(most, KDRI_MIN(p.views.begin[count], kdr_mat_cols(&x[0])));
	KDRI_TRY(kdri_views_pooled(ctx, &p.views, p.width, &p.shared));
	unit(&p);
	*out = p.shared;
	*width = p.width;
	p.shared = NULL;
done:
	kdri_free(ctx, tasks);
	plane_free(ctx, &p);
	return st;
}

/* Tasks of equal width. */
static kdr_status embed_together(kdr_context *ctx, const kdr_mat *x, int64_t count,
                                 const kdr_embed_options *o, double *const *xy)
{
	kdr_status st;
	kdr_task *tasks = NULL;
	plane p = { 0 };
	int64_t fewest = INT64_MAX, neighbors = o->neighbors ? o->neighbors : NEIGHBORS;
	KDRI_TRY(KDRI_NEW0(ctx, &tasks, count));
	for (int64_t t = 0; t < count; t++) {
		tasks[t].x = x[t];
		fewest = KDRI_MIN(fewest, kdr_mat_rows(&x[t]));
	}
	/* If all samples are neighbours of each other, the graph has no structure to show. */
	if (!o->neighbors)
		neighbors = KDRI_MAX(1, KDRI_MIN(neighbors, (fewest - 1) / 3));
	kdr_problem problem = { .size = sizeof(kdr_problem), .tasks = tasks, .ntasks = count };
	kdri_views_options looks = { .together = true,
		                     .one_graph = true,
		                     .centre = o->centre ? KDRI_CHOICE_YES : KDRI_CHOICE_AUTO,
		                     .neighbors = neighbors,
		                     .searched = neighbors };
	KDRI_TRY(kdri_views_new(ctx, &problem, &looks, &p.views));
	p.width = KDRI_MIN(count > 1 ? SHARED_WIDTH : 2,
	                   KDRI_MIN(p.views.begin[count], kdr_mat_cols(&p.views.tasks[0].rows.view)));
	KDRI_TRY(kdri_views_pooled(ctx, &p.views, p.width, &p.shared));
	/* The first two directions, or fewer if there are not as many. The largest entry of each is made positive because its
	 * sign is arbitrary otherwise. */
	int64_t n = p.views.begin[p.views.ntasks];
	KDRI_TRY(KDRI_NEW0(ctx, &p.y, 2 * n));
	for (int64_t c = 0; c < KDRI_MIN(2, p.width); c++) {
		double largest = 0;
		for (int64_t i = 0; i < n; i++)
			if (fabs(p.shared[i * p.width + c]) > fabs(largest))
				largest = p.shared[i * p.width + c];
		for (int64_t i = 0; i < n; i++)
			p.y[2 * i + c] = largest < 0 ? -p.shared[i * p.width + c] : p.shared[i * p.width + c];
	}
	if (o->layout == KDR_EMBED_FORCES)
		KDRI_TRY(forces(ctx, &p, o->sweeps));
	for (int64_t t = 0; t < count; t++)
		memcpy(xy[t], p.y + 2 * p.views.begin[t], 2 * (size_t)kdr_mat_rows(&x[t]) * sizeof **xy);
done:
	kdri_free(ctx, tasks);
	plane_free(ctx, &p);
	return st;
}

kdr_status kdri_embed(kdr_context *ctx, const kdr_mat *x, int64_t count, const kdr_embed_options *options,
                      double *const *xy)
{
	bool alike = true;
	for (int64_t t = 1; t < count; t++)
		alike = alike && kdr_mat_cols(&x[t]) == kdr_mat_cols(&x[0]);
	if (alike)
		KDRI_DO(embed_together(ctx, x, count, options, xy));
	for (int64_t t = 0; t < count && !alike; t++)
		KDRI_DO(embed_together(ctx, &x[t], 1, options, &xy[t]));
	return KDR_OK;
}
