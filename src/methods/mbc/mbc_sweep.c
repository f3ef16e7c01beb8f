/* Sweeps of multitask Bregman clustering; the equations are in methods/mbc/mbc.c. SPDX-License-Identifier:
 * BSD-3-Clause
 *
 * A sweep is W, H, U. The divergences between centroids are computed once per sweep, after U: both the objective
 * after U and the next W use them. */
#include "comm/comm.h"
#include "engine/metrics/metrics.h"
#include "methods/mbc/mbc.h"

/* Features of a block of differences between centroids: all of them then stay in the cache. */
enum { FEATURES = 512 };

/* --- room ---------------------------------------------------------------------------------------- */

void kdri_mbc_close(kdri_mbc *m)
{
	for (int64_t t = 0; m->tasks && t < m->ntasks; t++)
		kdri_breg_close(&m->tasks[t]);
	for (int64_t p = 0; p < m->ntasks * m->ntasks; p++) {
		if (m->cost)
			kdri_free(m->ctx, m->cost[p]);
		if (m->weight)
			kdri_free(m->ctx, m->weight[p]);
	}
	KDRI_FREE(m->ctx, m->tasks, m->cost, m->weight, m->local, m->ones, m->offset, m->partial,
	          m->whitening, m->unwhitening, m->engines);
}

static int64_t feature_blocks(const kdri_mbc *m)
{
	return (m->tasks[0].d + FEATURES - 1) / FEATURES;
}

static kdr_status mbc_sweep_make_room(kdri_mbc *m)
{
	int64_t most = 1, size, T = m->ntasks;
	for (int64_t t = 0; t < T; t++)
		most = KDRI_MAX(most, m->tasks[t].k);
	KDRI_DO(KDRI_NEW0(m->ctx, &m->cost, T * T));
	KDRI_DO(KDRI_NEW0(m->ctx, &m->weight, T * T));
	KDRI_DO(KDRI_NEW0(m->ctx, &m->local, T));
	KDRI_DO(KDRI_NEW(m->ctx, &m->ones, 2 * most));
	for (int64_t t = 0; t < T; t++)
		for (int64_t s = 0; s < T; s++)
			if (t != s) {
				KDRI_DO(kdri_mul(m->ctx, m->tasks[t].k, m->tasks[s].k, &size));
				KDRI_DO(KDRI_NEW0(m->ctx, &m->cost[t * T + s], size));
				KDRI_DO(KDRI_NEW0(m->ctx, &m->weight[t * T + s], size));
			}
	if (m->domain.divergence->symmetric) {
		KDRI_DO(kdri_mul(m->ctx, most, most, &size));
		KDRI_DO(kdri_mul(m->ctx, size, T > 1 ? feature_blocks(m) : 0, &size));
		KDRI_DO(KDRI_NEW(m->ctx, &m->partial, size));
	} else {
		KDRI_DO(KDRI_NEW(m->ctx, &m->offset, most * m->tasks[0].d));
	}
	return KDR_OK;
}

kdr_status kdri_mbc_open(kdr_context *ctx, const kdr_task *tasks, int64_t ntasks,
                         const kdri_breg_domain *domain, double ridge, double lambda, bool geodesic,
                         kdri_mbc *m)
{
	*m = (kdri_mbc){ .ctx = ctx,
		         .ntasks = ntasks,
		         .domain = *domain,
		         .lambda = ntasks > 1 ? lambda : 0,
		         .geodesic = geodesic && !domain->divergence->symmetric };
	if (domain->divergence->whitened) {
		KDRI_DO(kdri_whitening(ctx, tasks, ntasks, ridge, &m->whitening, &m->unwhitening));
		m->domain.whitening = m->whitening;
		m->domain.unwhitening = m->unwhitening;
	}
	KDRI_DO(KDRI_NEW(ctx, &m->engines, ntasks));
	KDRI_DO(KDRI_NEW0(ctx, &m->tasks, ntasks));
	for (int64_t t = 0; t < ntasks; t++)
		m->tasks[t].ctx = ctx;
	for (int64_t t = 0; t < ntasks; t++)
		KDRI_DO(kdri_breg_open(ctx, &tasks[t], &m->domain, &m->tasks[t]));
	return mbc_sweep_make_room(m);
}

/* --- divergences between centroids ------------------------------------------------------------------ */

/* Block p of the features. */
static void partial_costs(kdri_mbc *m, const kdri_breg *a, const kdri_breg *b, int64_t p)
{
	int64_t d = a->d, pairs = a->k * b->k, f = p * FEATURES, count = KDRI_MIN(FEATURES, d - f);
	for (int64_t z = 0; z < a->k; z++)
		for (int64_t l = 0; l < b->k; l++)
			m->partial[p * pairs + z * b->k + l] = m->domain.divergence->between(
			        a->points + z * d + f, b->points + l * d + f, count);
}

/* By differences, features in blocks. */
static void symmetric_costs(kdri_mbc *m, const kdri_breg *a, const kdri_breg *b, double *cost, double *turned)
{
	int64_t blocks = feature_blocks(m), pairs = a->k * b->k;
	if (kdri_team(m->ctx) > 1 && (double)pairs * (double)a->d > 1e6) {
#pragma omp parallel for schedule(static) num_threads(kdri_team(m->ctx))
		for (int64_t p = 0; p < blocks; p++)
			partial_costs(m, a, b, p);
	} else { /* entering a parallel region takes longer than a few small centroids */
		for (int64_t p = 0; p < blocks; p++)
			partial_costs(m, a, b, p);
	}
	memset(cost, 0, (size_t)pairs * sizeof *cost);
	for (int64_t p = 0; p < blocks; p++)
		for (int64_t i = 0; i < pairs; i++)
			cost[i] += m->partial[p * pairs + i];
	for (int64_t z = 0; z < a->k; z++)
		for (int64_t l = 0; l < b->k; l++)
			turned[l * a->k + z] = cost[z * b->k + l];
}

/* (E1) of mbc.h with a's centroids as samples of b: one product. */
static kdr_status directed_costs(kdri_mbc *m, const kdri_breg *a, kdri_breg *b, double *cost)
{
	const kdri_divergence *v = m->domain.divergence;
	int64_t d = a->d;
#pragma omp parallel for schedule(static) num_threads(kdri_km_team(&a->km)) if (a->km.threads > 1)
	for (int64_t z = 0; z < a->k; z++) {
		for (int64_t f = 0; f < d; f++)
			m->offset[z * d + f] = a->points[z * d + f] - b->centre[f];
		a->parts[z] = v->between(a->points + z * d, b->centre, d);
	}
	KDRI_DO(kdri_gemm(m->ctx, false, true, a->k, b->k, d, -1, m->offset, d, b->dual, d, 0, cost, b->k));
	for (int64_t z = 0; z < a->k; z++)
		for (int64_t l = 0; l < b->k; l++) {
			double *c = &cost[z * b->k + l];
			*c = KDRI_MAX(*c + a->parts[z] + b->base[l], 0.0);
		}
	return KDR_OK;
}

static kdr_status find_costs(kdri_mbc *m)
{
	int64_t T = m->ntasks;
	for (int64_t t = 0; t < T; t++)
		for (int64_t s = 0; s < T; s++) {
			if (m->domain.divergence->symmetric && t < s)
				symmetric_costs(m, &m->tasks[t], &m->tasks[s], m->cost[t * T + s],
				                m->cost[s * T + t]);
			else if (!m->domain.divergence->symmetric && t != s)
				KDRI_DO(directed_costs(m, &m->tasks[t], &m->tasks[s], m->cost[t * T + s]));
		}
	return KDR_OK;
}

/* --- W ------------------------------------------------------------------------------------------------ */

/* (E3) in integer units, K^s per row and K^t per column, so that W is exact. */
static kdr_status mbc_sweep_match(kdri_mbc *m, int64_t t, int64_t s)
{
	kdr_status st;
	int64_t T = m->ntasks, a = m->tasks[t].k, b = m->tasks[s].k;
	int64_t *map = NULL;
	double *w = m->weight[t * T + s], *supply = m->ones, *demand = m->ones + a;
	if (a ==
	    b) { /* one to one: what kdri_transport finds, without its bookkeeping, which takes longer for few clusters */
		KDRI_TRY(KDRI_NEW(m->ctx, &map, a));
		KDRI_TRY(kdri_check_costs(m->ctx, m->cost[t * T + s], a, b));
		KDRI_TRY(kdri_assign(m->ctx, m->cost[t * T + s], a, b, map, NULL, NULL));
		memset(w, 0, (size_t)(a * b) * sizeof *w);
		for (int64_t z = 0; z < a; z++)
			w[z * b + map[z]] = (double)b;
	} else {
		for (int64_t z = 0; z < a; z++)
			supply[z] = (double)b;
		for (int64_t l = 0; l < b; l++)
			demand[l] = (double)a;
		KDRI_TRY(kdri_transport(m->ctx, m->cost[t * T + s], a, b, supply, demand, w, NULL, NULL,
		                        NULL)); /* (E4) */
	}
	for (int64_t i = 0; i < a * b; i++)
		w[i] /= (double)a * (double)b;
	for (int64_t z = 0; m->domain.divergence->symmetric && z < a; z++)
		for (int64_t l = 0; l < b; l++)
			m->weight[s * T + t][l * a + z] = w[z * b + l];
done:
	kdri_free(m->ctx, map);
	return st;
}

/* Whether to stop; ranks stop after a sweep. */
static bool mbc_sweep_stops(const kdri_mbc *m, int64_t t)
{
	return !kdri_together(m->ctx) && kdri_leave_off(m->ctx, "matches", t, m->ntasks);
}

/* *stopped: the other pairs keep their W, which does not make J rise. If the run should stop but must not, only the
 * pairs that are reported are matched. */
static kdr_status match_all(kdri_mbc *m, bool may_stop, bool *stopped)
{
	bool late = false;
	*stopped = false;
	for (int64_t t = 0; t < m->ntasks && !*stopped; t++) {
		late = late || mbc_sweep_stops(m, t);
		*stopped = may_stop && late;
		for (int64_t s = 0; s < m->ntasks && !*stopped; s++)
			if ((t < s || (t > s && !m->domain.divergence->symmetric)) &&
			    (!late || kdri_pair_reported(m->ntasks, t, s)))
				KDRI_DO(mbc_sweep_match(m, t, s));
	}
	return KDR_OK;
}

kdr_status kdri_mbc_distance(kdri_mbc *m, int64_t t, int64_t s, bool by_size, double *out)
{
	kdr_status st;
	int64_t a = m->tasks[t].k, b = m->tasks[s].k;
	double *supply = m->ones, *demand = m->ones + a, *flow = NULL, value = 0;
	const double *cost = m->cost[t * m->ntasks + s];
	for (int64_t z = 0; z < a; z++)
		supply[z] = by_size ? (double)m->tasks[t].km.filled[z] / (double)m->tasks[t].km.all
		                    : 1 / (double)a;
	for (int64_t l = 0; l < b; l++)
		demand[l] = by_size ? (double)m->tasks[s].km.filled[l] / (double)m->tasks[s].km.all
		                    : 1 / (double)b;
	KDRI_TRY(KDRI_NEW(m->ctx, &flow, a * b));
	KDRI_TRY(kdri_transport(m->ctx, cost, a, b, supply, demand, flow, NULL, NULL, &value)); /* (E8) */
	*out = value;
done:
	kdri_free(m->ctx, flow);
	return st;
}

/* --- U ------------------------------------------------------------------------------------------------ */

KDRI_KERNEL
static void scale_mean(kdri_breg_mean mean, double by, int64_t d, double *c)
{
	double factor = by * mean.by, add = by * mean.add;
	for (int64_t f = 0; f < d; f++)
		c[f] = factor * mean.at[f] + add;
}

/* share times features f0..f1-1 of the mean of cluster z, or 0 where it has no samples. */
static void begin_with_mean(const kdri_breg *b, int64_t z, double share, int64_t f0, int64_t f1, double *c)
{
	kdri_breg_mean mean = kdri_breg_mean_of(b, z);
	mean.at += f0;
	if (b->km.filled[z])
		scale_mean(mean, share, f1 - f0, c);
	else
		memset(c, 0, (size_t)(f1 - f0) * sizeof *c);
}

/* The attraction of cluster z of task t: adds the contribution of the other tasks to (E6) to c, whose features are
 * f0..f1-1.
 */
static void attract(const kdri_mbc *m, int64_t t, int64_t z, double sum, int64_t f0, int64_t f1, double *c)
{
	int64_t T = m->ntasks, d = m->tasks[t].d;
	for (int64_t s = 0; s < T; s++)
		for (int64_t l = 0; s != t && l < m->tasks[s].k; l++) {
			double w = m->weight[t * T + s][z * m->tasks[s].k + l];
			if (w > 0)
				kdri_axpy(2 * m->lambda / (double)(T - 1) * w / sum,
				          m->tasks[s].points + l * d + f0, c, f1 - f0);
		}
}

/* (E6) for some features of a centroid; lambda = 0: the mean, or the current value for a cluster without samples. */
typedef struct place {
	const kdri_mbc *m;
	int64_t t;
} place;

static void fill_symmetric(void *user, int64_t z, int64_t f0, int64_t f1, const double *now, double *out)
{
	const place *p = user;
	const kdri_breg *b = &p->m->tasks[p->t];
	int64_t count = f1 - f0, size = b->km.filled[z];
	double share = (double)size / (double)b->km.all, sum = share + 2 * p->m->lambda / (double)b->k;
	if (p->m->lambda > 0) {
		begin_with_mean(b, z, share / sum, f0, f1, out);
		attract(p->m, p->t, z, sum, f0, f1, out);
	} else if (size > 0) {
		kdri_breg_to_mean(b, z, f0, f1, out);
	} else {
		memcpy(out, now, (size_t)count * sizeof *out);
	}
}

static void renew_directed(const kdri_mbc *m, int64_t t, int64_t z, double *room, double *c)
{
	const kdri_breg *b = &m->tasks[t];
	const kdri_divergence *v = m->domain.divergence;
	int64_t T = m->ntasks, d = b->d;
	double share = (double)b->km.filled[z] / (double)b->km.all, pull = m->lambda / (double)b->k;
	double *left = room, *right = room + d, *new = room + 2 * d;
	kdri_two_point both = { .a = share + pull,
		                .b = pull,
		                .left = left,
		                .right = right,
		                .d = d,
		                .room = new,
		                .start = &b->starts[z] };
	begin_with_mean(b, z, share / both.a, 0, d, left);
	memset(right, 0, (size_t)d * sizeof *right);
	for (int64_t s = 0; s < T; s++) {
		const kdri_breg *o = &m->tasks[s];
		double slope = 0;
		for (int64_t l = 0; s != t && l < o->k; l++) {
			double in = m->weight[s * T + t][l * b->k + z],
			       out = m->weight[t * T + s][z * o->k + l];
			double e = m->lambda / (double)(T - 1) * in / both.a;
			double g = m->lambda / (double)(T - 1) * out / both.b;
			if (in > 0)
				kdri_axpy(e, o->points + l * d, left, d);
			if (out > 0)
				kdri_axpy(g, o->dual + l * d, right, d);
			slope += g;
		}
		if (slope > 0) /* a gradient is G + slope */
			kdri_axpy(slope, o->slope, right, d);
	}
	v->inverse(right, d, new);
	memcpy(right, new, (size_t)d * sizeof *right);
	if (!m->geodesic) {
		v->centroid(&both, c); /* (E7) */
		return;
	}
	/* The walk may end above where it began: then the centroid stays. */
	double before = kdri_two_point_value(v, &both, c);
	memcpy(b->dual + z * d, c, (size_t)d * sizeof *c);
	kdri_geodesic_centroid(v, &both, c);
	if (!(kdri_two_point_value(v, &both, c) < before))
		memcpy(c, b->dual + z * d, (size_t)d * sizeof *c);
}

/* New centroids of a task; its loss before and after. */
static kdr_status renew_task(kdri_mbc *m, int64_t t, double *before, double *after)
{
	kdri_breg *b = &m->tasks[t];
	place p = { m, t };
	int64_t d = b->d;
	if (b->euclidean) {
		kdri_breg_renew(b, fill_symmetric, &p, before, after);
		return KDR_OK;
	}
	*before = kdri_breg_loss(b);
#pragma omp parallel for schedule(dynamic, 1) num_threads(kdri_km_team(&b->km)) if (b->km.threads > 1)
	for (int64_t z = 0; z < b->k; z++) {
		double *c = b->points + z * d, *room = b->scratch + kdri_thread() * KDRI_BREG_SCRATCH * d;
		if (m->lambda > 0 && !m->domain.divergence->symmetric)
			renew_directed(m, t, z, room, c);
		else
			fill_symmetric(&p, z, 0, d, c, c);
	}
	KDRI_DO(kdri_breg_place(b));
	*after = kdri_breg_loss(b);
	return KDR_OK;
}

/* --- sweeps --------------------------------------------------------------------------------------------- */

/* (E1), with the losses of the tasks in m->local. */
static double objective(const kdri_mbc *m)
{
	double sum = 0, coupling = 0;
	int64_t T = m->ntasks;
	for (int64_t t = 0; t < T; t++) {
		sum += m->local[t];
		for (int64_t s = 0; s < T; s++)
			for (int64_t i = 0; s != t && i < m->tasks[t].k * m->tasks[s].k; i++)
				coupling += m->weight[t * T + s][i] * m->cost[t * T + s][i];
	}
	return m->lambda > 0 ? sum + m->lambda / (double)(T - 1) * coupling : sum;
}

kdr_status kdri_mbc_match(kdri_mbc *m, bool may_stop)
{
	bool stopped;
	for (int64_t t = 0; t < m->ntasks; t++)
		m->local[t] = kdri_breg_loss(&m->tasks[t]); /* (E2) */
	KDRI_DO(find_costs(m));
	return match_all(m, may_stop, &stopped);
}

static kdr_status one_sweep(kdri_mbc *m, double *steps)
{
	bool stopped = false;
	if (m->lambda > 0)
		KDRI_DO(match_all(m, true, &stopped));
	steps[0] = objective(m);
	if (stopped) {
		steps[1] = steps[2] = steps[0];
		return KDR_OK;
	}
	double last = 0, before = 0, relations;
	for (int64_t t = 0; t < m->ntasks; t++)
		last += m->local[t];
	KDRI_DO(kdri_breg_assign(m->tasks, m->ntasks, m->engines)); /* (E5) */
	relations = steps[0] - last;
	for (int64_t t = 0; t < m->ntasks; t++) {
		double loss;
		KDRI_DO(renew_task(m, t, &loss, &m->local[t]));
		before += loss;
	}
	steps[1] = before + relations;
	if (m->lambda > 0)
		KDRI_DO(find_costs(m));
	steps[2] = objective(m);
	return KDR_OK;
}

kdr_status kdri_mbc_sweep(kdri_mbc *m, int64_t *const *labels, const kdri_mbc_limits *limits,
                          kdri_mbc_run *run)
{
	KDRI_DO(kdri_breg_begin(m->tasks, m->ntasks, labels, m->engines));
	KDRI_DO(kdri_mbc_match(m, true));
	double last = run->start = objective(m);
	run->sweeps = 0;
	run->stop = KDR_STOP_MAX_ITER;
	while (run->sweeps < limits->max_iter) {
		KDRI_DO(KDRI_ROOM(m->ctx, &run->steps, &run->room, 3 * (run->sweeps + 1)));
		double *steps = run->steps + 3 * run->sweeps++;
		KDRI_DO(one_sweep(m, steps));
		if (kdri_iteration_met(m->ctx, limits->stage, limits->done + run->sweeps, limits->total,
		                       steps[2])) {
			run->stop = kdri_stop_reason(m->ctx);
			break;
		}
		if (last - steps[2] <= limits->tol * fabs(last)) {
			run->stop = KDR_STOP_CONVERGED;
			break;
		}
		last = steps[2];
	}
	return KDR_OK;
}
