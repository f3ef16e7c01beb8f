/* Multitask Bregman clustering: mbc, and its single-task form, bregman.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * [ZZ10] clusters T tasks over the same features, each into its own number of clusters, and learns which
 * clusters of one task correspond to which of another. It makes
 *     (E1)  J = sum_t L^t + lambda / (T - 1) sum_{t != s} sum_{z,l} w_zl^ts d(u_z^t || u_l^s)
 *     (E2)  L^t = 1/n^t sum_i d(x_i^t || u_{h(i)}^t)
 * small [ZZ10, eq. 9; the sum runs over all ordered pairs of tasks], where d is a Bregman divergence and
 *     (E3)  W^ts >= 0, rows sum to 1/K^t, columns to 1/K^s                        [ZZ10, eq. 6, relaxed]
 * by sweeps of three steps, none of which lets J rise:
 *     (E4)  W^ts = argmin sum_zl w_zl d(u_z^t || u_l^s) under (E3): transportation       [ZZ10, eq. 10]
 *     (E5)  h^t(i) = argmin_z d(x_i^t || u_z^t)                                          [ZZ10, eq. 12]
 *           u_z^t = argmin_u A d(mu_L || u) + B d(u || mu_R), tasks in turn          [ZZ10, eq. 13, 14]
 *           A = n_z/n + lambda/K, B = lambda/K, n_z the samples of cluster z
 *           mu_L = (1/n sum_{i in z} x_i + lambda/(T-1) sum_s sum_l w_lz^st u_l^s) / A
 *           mu_R = the point whose gradient is lambda/(B (T-1)) sum_s sum_l w_zl^ts grad u_l^s
 *     (E6)  d symmetric: u = (A mu_L + B mu_R) / (A + B)                                 [ZZ10, eq. 15]
 *     (E7)  else: exact, by (E3) and (E4) of bregman.c. DEVIATION: see there; u_step=geodesic is the
 *           paper's, used only if the value falls, so that J never rises with it either.
 * d_M, the distance between the partitions of two tasks, is
 *     (E8)  d_M = min sum_zl w_zl d(u_z^t || u_l^s), rows of w summing to 1/K^t or n_z^t/n^t, columns
 *           likewise                                                                      [ZZ10, eq. 8]
 * With lambda = 0 a cluster without samples keeps its centroid; else (E6), (E7) place it. W of the last sweep is
 * recomputed from the last centroids before it is reported.
 *
 * T    ntasks             x_i^t   rows of a task          w^ts    weight        d(u^t || u^s)  cost
 * K^t  tasks[t].k         u_z^t   tasks[t].points         h^t     km.label      J              objective()
 * n_z  km.filled          L^t     local                   mu      means         lambda         lambda
 *
 * [ZZ10] J. Zhang, C. Zhang: Multitask Bregman clustering. AAAI 2010. */
#include "methods/mbc/mbc.h"
#include "api/method.h"
#include "core/internal.h"
#include "engine/kmeans/kmeans.h"
#include "methods/common/tasks.h"

#include <stdio.h>

enum { START_PLUSPLUS, START_RANDOM };
static const char *const starts[] = { "kmeans++", "random", NULL };
static const char *const u_steps[] = { "exact", "geodesic", NULL };

#define OPTION_DIVERGENCE \
	KDRI_CHOICE( \
	        "divergence", KDRI_SQEUCLIDEAN, kdri_divergence_names, \
	        "distance of a sample from a centroid: squared Euclidean, Mahalanobis (pooled covariance), Kullback-Leibler (rows as distributions) or Itakura-Saito", \
	        .symbol = "d_phi")
#define OPTION_START \
	KDRI_CHOICE( \
	        "start", START_PLUSPLUS, starts, \
	        "how a run chooses its initial labels: around samples spread out by k-means++, or at random")
#define OPTION_SMOOTH \
	KDRI_REAL( \
	        "smooth", 1e-3, 0, 1, \
	        "kl: fraction of the uniform distribution mixed into every row, so that zeros have a finite cost", \
	        .open_max = true)
#define OPTION_RIDGE \
	KDRI_REAL("ridge", 1e-6, 0, 1e6, \
	          "mahalanobis: added to the covariance, in units of the mean variance")
#define OPTION_FLOOR \
	KDRI_REAL("floor", 0, 0, 1e300, \
	          "is: smaller values are raised to this one; 0: values that are not positive are an error")

static const kdr_option_desc mbc_options[] = {
	KDRI_REAL("lambda", 0.5, 0, 1e12,
	          "how strongly matching clusters of different data sets attract each other; 0: not at all",
	          .symbol = "lambda"),
	OPTION_DIVERGENCE,
	KDRI_CHOICE(
	        "u_step", 0, u_steps,
	        "centroids for kl and is: the exact minimiser, or the best point on the paper's geodesic"),
	OPTION_START,
	OPTION_SMOOTH,
	OPTION_RIDGE,
	OPTION_FLOOR,
	KDRI_BOOL(
	        "alone", 1,
	        "also cluster each data set separately from the same start, to report its loss without transfer"),
	KDRI_N_INIT(10),
	KDRI_MAX_ITER(100),
	KDRI_TOL(1e-6),
	{ .name = NULL },
};

static const kdr_option_desc bregman_options[] = {
	OPTION_DIVERGENCE, OPTION_START,       OPTION_SMOOTH,  OPTION_RIDGE,     OPTION_FLOOR,
	KDRI_N_INIT(10),   KDRI_MAX_ITER(100), KDRI_TOL(1e-6), { .name = NULL },
};

#define FIELD_CENTROIDS \
	KDRI_ARRAY("centroids", KDR_FLOAT64, "k x d", "cluster centroids; for kl, of the smoothed rows", \
	           .per_task = true, .in_model = true)
#define FIELD_LOSS \
	KDRI_ARRAY("local_loss", KDR_FLOAT64, "tasks", \
	           "mean divergence of each data set's samples from their centroids")

static const kdr_field_desc mbc_fields[] = {
	FIELD_CENTROIDS,
	KDRI_ARRAY("whitening", KDR_FLOAT64, "d x d",
	           "mahalanobis only: the matrix R in the distance |R (x - y)|^2", .in_model = true),
	KDRI_ARRAY("steps", KDR_FLOAT64, "iterations x 3",
	           "objective after the relations, the labels and the centroids of each iteration"),
	FIELD_LOSS,
	KDRI_ARRAY("local_loss_alone", KDR_FLOAT64, "tasks",
	           "the same for each data set clustered separately from the same start"),
	KDRI_ARRAY(
	        "d_m_uniform", KDR_FLOAT64, "tasks x tasks",
	        "distance between the data sets' clusterings, with equal cluster weights; up to 100 data sets"),
	KDRI_ARRAY(
	        "d_m_proportional", KDR_FLOAT64, "tasks x tasks",
	        "distance between the data sets' clusterings, with clusters weighted by size; up to 100 data sets"),
	{ .name = NULL },
};

static const kdr_field_desc bregman_fields[] = {
	FIELD_CENTROIDS,
	KDRI_ARRAY("whitening", KDR_FLOAT64, "d x d",
	           "mahalanobis only: the matrix R in the distance |R (x - y)|^2", .per_task = true,
	           .in_model = true),
	FIELD_LOSS,
	{ .name = NULL },
};

static const char *const mbc_references[] = {
	"J. Zhang, C. Zhang: Multitask Bregman clustering. AAAI 2010, 655-660.",
	"A. Banerjee, S. Merugu, I. S. Dhillon, J. Ghosh: Clustering with Bregman divergences. J. Machine "
	"Learning Research 6:1705-1749, 2005.",
	"F. Nielsen, R. Nock: Sided and symmetrized Bregman centroids. IEEE Trans. Information Theory 55:2882-2904, 2009.",
	NULL,
};

/* --- runs ------------------------------------------------------------------------------------------- */

/* Tasks with the best of their runs. */
typedef struct job {
	kdri_mbc m;
	kdri_mbc_run best, now;
	const char *stage;
	const kdr_task *given;
	int64_t first; /* of the problem's tasks: names the random streams, the same for mbc and bregman */
	int64_t runs, best_run, max_iter;
	double tol;
	int start;
	int64_t **labels; /* where a run starts */
	int32_t **kept;   /* labels and centroids of the best run */
	double **points;
} job;

static void job_close(kdr_context *ctx, job *j)
{
	for (int64_t t = 0; t < j->m.ntasks; t++) {
		if (j->labels)
			kdri_free(ctx, j->labels[t]);
		if (j->kept)
			kdri_free(ctx, j->kept[t]);
		if (j->points)
			kdri_free(ctx, j->points[t]);
	}
	KDRI_FREE(ctx, j->labels, j->kept, j->points, j->best.steps, j->now.steps);
	kdri_mbc_close(&j->m);
}

static kdri_breg_domain domain_of(const kdr_options *options)
{
	return (kdri_breg_domain){ .divergence = &kdri_divergences[kdri_opt_choice(options, "divergence")],
		                   .smooth = kdri_opt_real(options, "smooth"),
		                   .floor = kdri_opt_real(options, "floor") };
}

static kdr_status job_open(kdr_context *ctx, const char *stage, const kdr_task *tasks, int64_t ntasks,
                           int64_t first, const kdr_options *options, double lambda, bool geodesic, job *j)
{
	kdri_breg_domain domain = domain_of(options);
	bool given = true;
	*j = (job){ .m.ctx = ctx,
		    .stage = stage,
		    .given = tasks,
		    .first = first,
		    .max_iter = kdri_opt_int(options, "max_iter"),
		    .tol = kdri_opt_real(options, "tol"),
		    .start = kdri_opt_choice(options, "start") };
	KDRI_DO(kdri_mbc_open(ctx, tasks, ntasks, &domain, kdri_opt_real(options, "ridge"), lambda, geodesic,
	                      &j->m));
	KDRI_DO(KDRI_NEW0(ctx, &j->labels, ntasks));
	KDRI_DO(KDRI_NEW0(ctx, &j->kept, ntasks));
	KDRI_DO(KDRI_NEW0(ctx, &j->points, ntasks));
	for (int64_t t = 0; t < ntasks; t++) {
		const kdri_breg *b = &j->m.tasks[t];
		KDRI_DO(KDRI_NEW(ctx, &j->labels[t], b->n));
		KDRI_DO(KDRI_NEW(ctx, &j->kept[t], b->n));
		KDRI_DO(KDRI_NEW(ctx, &j->points[t], b->k * b->d));
		given &= tasks[t].init != NULL;
	}
	j->runs = given ? 1 : kdri_opt_int(options, "n_init");
	return KDR_OK;
}

/* The labels that run `index` starts from: those given, or drawn. */
static kdr_status find_start(kdr_context *ctx, job *j, int64_t index)
{
	kdr_status st;
	kdri_breg **spread = NULL;
	int64_t **labels = NULL, many = 0;
	kdri_rng *rng = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &spread, j->m.ntasks));
	KDRI_TRY(KDRI_NEW(ctx, &labels, j->m.ntasks));
	KDRI_TRY(KDRI_NEW(ctx, &rng, j->m.ntasks));
	for (int64_t t = 0; t < j->m.ntasks; t++) {
		kdri_breg *b = &j->m.tasks[t];
		rng[many] = kdri_rng_stream(ctx->seed, "bregman",
		                            ((uint64_t)(j->first + t) << 20) + (uint64_t)index);
		if (j->given[t].init) {
			memcpy(j->labels[t], j->given[t].init, (size_t)b->n * sizeof **j->labels);
		} else if (j->start == START_RANDOM) {
			KDRI_TRY(kdri_breg_random(b, &rng[many], j->labels[t]));
		} else {
			spread[many] = b;
			labels[many++] = j->labels[t];
		}
	}
	if (many > 0)
		KDRI_TRY(kdri_breg_plusplus(spread, rng, many, labels));
done:
	KDRI_FREE(ctx, spread, labels, rng);
	return st;
}

static double mbc_value_of(const kdri_mbc_run *r)
{
	return r->sweeps ? r->steps[3 * r->sweeps - 1] : r->start;
}

/* All runs; afterwards the best one's labels and centroids are kept. */
static kdr_status run_all(kdr_context *ctx, job *j, int64_t extra)
{
	for (int64_t i = 0; i < j->runs; i++) {
		kdri_mbc_limits limits = { .max_iter = j->max_iter,
			                   .tol = j->tol,
			                   .stage = j->stage,
			                   .done = i * j->max_iter,
			                   .total = (j->runs + extra) * j->max_iter };
		KDRI_DO(find_start(ctx, j, i));
		KDRI_DO(kdri_mbc_sweep(&j->m, j->labels, &limits, &j->now));
		kdr_stop stop = j->now.stop;
		/* Better by more than rounding: runs that end in the same place under other numbers are many. */
		if (i == 0 ||
		    mbc_value_of(&j->now) < mbc_value_of(&j->best) - 1e-12 * fabs(mbc_value_of(&j->best))) {
			kdri_mbc_run swap = j->best;
			j->best = j->now;
			j->now = swap;
			j->best_run = i;
			for (int64_t t = 0; t < j->m.ntasks; t++) {
				const kdri_breg *b = &j->m.tasks[t];
				memcpy(j->kept[t], b->km.label, (size_t)b->n * sizeof **j->kept);
				memcpy(j->points[t], b->points, (size_t)(b->k * b->d) * sizeof **j->points);
			}
		}
		if (stop == KDR_STOP_TIME || stop == KDR_STOP_CANCELLED) {
			j->best.stop = stop;
			break;
		}
	}
	return KDR_OK;
}

/* Puts the best run back into the tasks unless it is the last one; W of its centroids. */
static kdr_status restore(job *j, bool last)
{
	for (int64_t t = 0; !last && t < j->m.ntasks; t++)
		for (int64_t i = 0; i < j->m.tasks[t].n; i++)
			j->labels[t][i] = j->kept[t][i];
	if (!last)
		KDRI_DO(kdri_breg_begin(j->m.tasks, j->m.ntasks, j->labels, j->m.engines));
	for (int64_t t = 0; !last && t < j->m.ntasks; t++) {
		kdri_breg *b = &j->m.tasks[t];
		memcpy(b->points, j->points[t], (size_t)(b->k * b->d) * sizeof *b->points);
		KDRI_DO(kdri_breg_place(b));
	}
	return kdri_mbc_match(&j->m, false);
}

/* The losses of the tasks clustered separately from the start of the best run. */
static kdr_status run_alone(kdr_context *ctx, job *j, double *loss)
{
	kdr_status st;
	kdri_mbc_limits limits = { .max_iter = j->max_iter,
		                   .tol = j->tol,
		                   .stage = j->stage,
		                   .done = j->runs * j->max_iter,
		                   .total = (j->runs + 1) * j->max_iter };
	double lambda = j->m.lambda;
	KDRI_TRY(find_start(ctx, j, j->best_run));
	j->m.lambda = 0;
	st = kdri_mbc_sweep(&j->m, j->labels, &limits, &j->now);
	j->m.lambda = lambda;
	memcpy(loss, j->m.local, (size_t)j->m.ntasks * sizeof *loss);
done:
	return st;
}

/* --- results ------------------------------------------------------------------------------------------ */

static kdr_status put_pair(kdr_context *ctx, kdr_result *result, const char *what, const char *a,
                           const char *b, double value)
{
	char text[256];
	snprintf(text, sizeof text, "%s.%s.%s", what, a, b);
	return kdri_result_number(ctx, result, text, value);
}

/* Labels, centroids and whitening of the job's tasks. */
static kdr_status put_tasks(kdr_context *ctx, kdr_result *result, job *j)
{
	double *to = NULL;
	for (int64_t t = 0; t < j->m.ntasks; t++) {
		kdri_breg *b = &j->m.tasks[t];
		int64_t *labels = NULL, empty = 0;
		KDRI_DO(kdri_result_labels(ctx, result, j->first + t, &labels));
		for (int64_t i = 0; i < b->n; i++)
			labels[i] = b->km.label[i];
		KDRI_DO(kdri_result_array(ctx, result, "centroids", j->first + t, KDR_FLOAT64, 2,
		                          (int64_t[]){ b->k, b->d }, &to));
		KDRI_DO(kdri_breg_centroids(b, to));
		KDRI_DO(kdri_result_task_number(ctx, result, j->first + t, "local_loss", j->m.local[t]));
		for (int64_t z = 0; z < b->k; z++)
			empty += b->km.filled[z] == 0;
		if (empty)
			KDRI_DO(kdri_result_warn(ctx, result, "data set %s: %lld of %lld clusters are empty",
			                         b->name, (long long)empty, (long long)b->k));
	}
	return KDR_OK;
}

static kdr_status put_whitening(kdr_context *ctx, kdr_result *result, const job *j, int64_t task)
{
	double *to = NULL;
	int64_t d = j->m.tasks[0].d;
	if (!j->m.whitening)
		return KDR_OK;
	KDRI_DO(kdri_result_array(ctx, result, "whitening", task, KDR_FLOAT64, 2, (int64_t[]){ d, d }, &to));
	memcpy(to, j->m.whitening, (size_t)(d * d) * sizeof *to);
	return KDR_OK;
}

static kdr_status put_vector(kdr_context *ctx, kdr_result *result, const char *name, const double *from,
                             int64_t count)
{
	double *to = NULL;
	kdr_status st = kdri_result_array(ctx, result, name, -1, KDR_FLOAT64, 1, (int64_t[]){ count }, &to);
	if (st == KDR_OK)
		memcpy(to, from, (size_t)count * sizeof *to);
	return st;
}

/* Are the samples of both tasks the same? */
static bool same_samples(const kdr_mat *a, const kdr_mat *b)
{
	if (a->kind != b->kind || kdr_mat_rows(a) != kdr_mat_rows(b) || kdr_mat_nnz(a) != kdr_mat_nnz(b))
		return false;
	if (a->kind == KDR_MAT_DENSE) {
		const kdr_dense *x = &a->as.dense, *y = &b->as.dense;
		for (int64_t i = 0; i < x->rows; i++)
			if (memcmp(x->data + i * x->stride, y->data + i * y->stride,
			           (size_t)x->cols * sizeof *x->data) != 0)
				return false;
		return true;
	}
	const kdr_csr *x = &a->as.csr, *y = &b->as.csr;
	size_t nnz = (size_t)x->rowptr[x->rows];
	return memcmp(x->rowptr, y->rowptr, (size_t)(x->rows + 1) * sizeof *x->rowptr) == 0 &&
	       memcmp(x->col, y->col, nnz * sizeof *x->col) == 0 &&
	       memcmp(x->val, y->val, nnz * sizeof *x->val) == 0;
}

/* Relations, d_M and s_nmi of the pairs that are reported; d_M also as arrays if all are. */
static kdr_status put_pairs(kdr_context *ctx, kdr_result *result, job *j)
{
	kdri_mbc *m = &j->m;
	int64_t T = m->ntasks, n;
	double *uniform = NULL, *sized = NULL, *to = NULL;
	bool symmetric = m->domain.divergence->symmetric;
	const bool all = T <= KDRI_ALL_PAIRS;
	if (all) {
		KDRI_DO(kdri_result_array(ctx, result, "d_m_uniform", -1, KDR_FLOAT64, 2, (int64_t[]){ T, T },
		                          &uniform));
		KDRI_DO(kdri_result_array(ctx, result, "d_m_proportional", -1, KDR_FLOAT64, 2,
		                          (int64_t[]){ T, T }, &sized));
	}
	for (int64_t t = 0; t < T; t++)
		for (int64_t s = 0; s < T; s++) {
			const kdri_breg *a = &m->tasks[t], *b = &m->tasks[s];
			int64_t at = t * T + s, across = s * T + t;
			if (t == s)
				continue;
			if (symmetric && t > s) {
				if (all) {
					uniform[at] = uniform[across];
					sized[at] = sized[across];
				}
				continue;
			}
			if (!kdri_pair_reported(T, t, s))
				continue;
			KDRI_DO(kdri_result_correspondence(ctx, result, t, s, a->k, b->k, &to));
			memcpy(to, m->weight[at], (size_t)(a->k * b->k) * sizeof *to);
			/* d_M of a pair that is reported. */
			double value[2];
			for (int by_size = 0; by_size < 2; by_size++)
				KDRI_DO(kdri_mbc_distance(m, t, s, by_size, &value[by_size]));
			KDRI_DO(put_pair(ctx, result, "d_m_uniform", m->tasks[t].name, m->tasks[s].name,
			                 value[0]));
			KDRI_DO(put_pair(ctx, result, "d_m_proportional", m->tasks[t].name, m->tasks[s].name,
			                 value[1]));
			if (uniform)
				uniform[t * m->ntasks + s] = value[0];
			if (sized)
				sized[t * m->ntasks + s] = value[1];
			if (t < s && !kdri_together(ctx) && same_samples(&j->given[t].x, &j->given[s].x)) {
				kdr_scores scores;
				const int64_t *x = kdr_result_labels(result, t, &n),
				              *y = kdr_result_labels(result, s, &n);
				KDRI_DO(kdr_evaluate(ctx, x, y, n, &scores));
				KDRI_DO(put_pair(ctx, result, "s_nmi", a->name, b->name, scores.nmi));
			}
		}
	return KDR_OK;
}

/* --- the methods ---------------------------------------------------------------------------------------- */

static kdr_status fit_mbc(kdr_context *ctx, const kdr_problem *problem, const kdr_options *options,
                          kdr_result *result)
{
	kdr_status st;
	job j = { .m.ctx = ctx };
	double *alone = NULL;
	int64_t T = problem->ntasks;
	bool compare = kdri_opt_bool(options, "alone") && T > 1;
	KDRI_TRY(KDRI_NEW(ctx, &alone, T));
	KDRI_TRY(job_open(ctx, "mbc", problem->tasks, T, 0, options, kdri_opt_real(options, "lambda"),
	                  kdri_opt_choice(options, "u_step") == 1, &j));
	KDRI_TRY(run_all(ctx, &j, compare));
	compare = compare && j.best.stop != KDR_STOP_TIME && j.best.stop != KDR_STOP_CANCELLED;
	bool alone_ran = compare;
	if (compare) {
		KDRI_TRY(run_alone(ctx, &j, alone));
		compare = j.now.stop != KDR_STOP_TIME && j.now.stop != KDR_STOP_CANCELLED;
	}
	KDRI_TRY(restore(&j, j.runs == 1 && !alone_ran));
	KDRI_TRY(put_tasks(ctx, result, &j));
	KDRI_TRY(put_whitening(ctx, result, &j, -1));
	double *to = NULL;
	const kdri_mbc_run *r = &j.best;
	for (int64_t i = 0; i < r->sweeps; i++)
		KDRI_TRY(kdri_result_objective(ctx, result, r->steps[3 * i + 2]));
	KDRI_TRY(kdri_result_array(ctx, result, "steps", -1, KDR_FLOAT64, 2, (int64_t[]){ r->sweeps, 3 },
	                           &to));
	memcpy(to, r->steps, (size_t)(3 * r->sweeps) * sizeof *to);
	KDRI_TRY(kdri_result_number(ctx, result, "objective_start", r->start));
	KDRI_TRY(kdri_result_number(ctx, result, "best_run", (double)j.best_run));
	kdri_result_stop(result, r->stop, r->sweeps);
	KDRI_TRY(put_vector(ctx, result, "local_loss", j.m.local, T));
	if (compare) {
		KDRI_TRY(put_vector(ctx, result, "local_loss_alone", alone, T));
		for (int64_t t = 0; t < T; t++)
			KDRI_TRY(kdri_result_task_number(ctx, result, t, "local_loss_alone", alone[t]));
	}
	if (T > 1)
		KDRI_TRY(put_pairs(ctx, result, &j));
done:
	kdri_free(ctx, alone);
	job_close(ctx, &j);
	return st;
}

static kdr_status fit_bregman(kdr_context *ctx, const kdr_problem *problem, const kdr_options *options,
                              kdr_result *result)
{
	kdr_status st;
	job j = { .m.ctx = ctx };
	kdri_mbc_run *runs = NULL;
	kdri_trace *traces = NULL;
	double *loss = NULL;
	int64_t T = problem->ntasks;
	KDRI_TRY(KDRI_NEW0(ctx, &runs, T));
	KDRI_TRY(KDRI_NEW0(ctx, &traces, T));
	KDRI_TRY(KDRI_NEW(ctx, &loss, T));
	for (int64_t t = 0; t < T; t++) {
		KDRI_TRY(job_open(ctx, "bregman", &problem->tasks[t], 1, t, options, 0, false, &j));
		KDRI_TRY(run_all(ctx, &j, 0));
		KDRI_TRY(restore(&j, j.runs == 1));
		KDRI_TRY(put_tasks(ctx, result, &j));
		KDRI_TRY(put_whitening(ctx, result, &j, t));
		loss[t] = j.m.local[0];
		runs[t] = j.best;
		traces[t] = (kdri_trace){ runs[t].start, runs[t].sweeps ? runs[t].steps + 2 : NULL,
			                  runs[t].sweeps, runs[t].stop, 3 };
		j.best = (kdri_mbc_run){ 0 };
		job_close(ctx, &j);
		j = (job){ .m.ctx = ctx };
	}
	KDRI_TRY(put_vector(ctx, result, "local_loss", loss, T));
	KDRI_TRY(kdri_put_traces(ctx, traces, T, result));
done:
	for (int64_t t = 0; runs && t < T; t++)
		kdri_free(ctx, runs[t].steps);
	job_close(ctx, &j);
	KDRI_FREE(ctx, runs, traces, loss);
	return st;
}

static kdr_status mbc_predict(kdr_context *ctx, const kdr_result *fitted, const kdr_options *options,
                              int64_t task, const kdr_mat *x, int64_t *labels)
{
	kdr_status st;
	kdri_breg b = { .ctx = ctx };
	kdr_array c = kdr_result_array(fitted, "centroids", task),
	          r = kdr_result_array(fitted, "whitening", -1);
	kdri_breg_domain domain = domain_of(options);
	if (!r.data)
		r = kdr_result_array(fitted, "whitening", task);
	if (!c.data || c.ndim != 2)
		return kdri_fail(ctx, KDR_ERR_DATA, "the model has no centroids for data set number %lld",
		                 (long long)task + 1);
	int64_t k = c.shape[0], d = c.shape[1];
	if (d != kdr_mat_cols(x))
		return kdri_fail(ctx, KDR_ERR_DATA,
		                 "the data have %lld columns, but the model's centroids have %lld",
		                 (long long)kdr_mat_cols(x), (long long)d);
	if (domain.divergence->whitened && (!r.data || r.ndim != 2 || r.shape[0] != d || r.shape[1] != d))
		return kdri_fail(ctx, KDR_ERR_DATA, "the model has no whitening matrix for its %lld features",
		                 (long long)d);
	if (domain.divergence->symmetric && !domain.divergence->whitened)
		return kdri_kmeans_assign(ctx, x, c.data, k, false, labels);
	domain.whitening = domain.divergence->whitened ? r.data : NULL;
	kdr_task t = { .name = "(new samples)", .x = *x, .k = k };
	KDRI_TRY(kdri_breg_open(ctx, &t, &domain, &b));
	KDRI_TRY(kdri_breg_classify(&b, c.data, labels));
done:
	kdri_breg_close(&b);
	return st;
}

const kdri_algo kdri_algo_mbc = {
	.info = { .id = "mbc",
	          .class_name = "MBC",
	          .title = "Multitask Bregman clustering",
	          .summary =
	                  "clusters data sets together and learns which clusters correspond, with one of four divergences",
	          .objective =
	                  "J = sum_t L_t + lambda / (T - 1) sum_t sum_{s != t} sum_zl w_zl d(u_z, u_l)\n"
	                  "L_t = 1/n_t sum_i d(x_i, u_h(i)): the mean divergence of data set t (array local_loss)\n"
	                  "T      number of data sets; the pairs t, s are ordered, so that for two data sets and a symmetric d the second part is 2 lambda d_M\n"
	                  "d_M    sum_zl w_zl d(u_z, u_l) at the best w: the distance between two clusterings (array d_m_uniform)\n"
	                  "d      divergence (option divergence); mahalanobis: of whitened samples\n"
	                  "x_i    sample i of data set t; n_t: their number\n"
	                  "h(i)   cluster of sample i\n"
	                  "u_z    centroid of cluster z of data set t, u_l of cluster l of data set s (array centroids)\n"
	                  "w_zl   how strongly clusters z and l correspond, >= 0; rows sum to 1/k_t, columns to 1/k_s (correspondence in result.json)\n"
	                  "lambda option lambda",
	          .steps = "1. w: the cheapest transport between the centroids of each pair of data sets\n"
	                   "2. h(i): the cluster with the nearest centroid\n"
	                   "3. u_z: the minimum of J for these h and w, one data set after the other",
	          .use = "You want to know which clusters of one data set correspond to which of another, and each may have its own k.",
	          .cost = "One product of the data with the centroids per iteration, which bounds often avoid, and a transport problem of k_t x k_s per pair of data sets.",
	          .place = KDR_PLACE_PAPER,
	          .family = KDR_FAMILY_CLUSTER,
	          .flags = KDR_ALGO_JOINT | KDR_ALGO_MONOTONE | KDR_ALGO_PREDICT,
	          .options = mbc_options,
	          .fields = mbc_fields,
	          .references = mbc_references },
	.fit = fit_mbc,
	.predict = mbc_predict,
	.ranks = true,
};

const kdri_algo kdri_algo_bregman = {
	.info = { .id = "bregman", .class_name = "Bregman",
	          .title = "Bregman clustering",
	          .summary = "k-means with one of four divergences, for each data set separately",
	          .objective =
		"J = sum_t 1/n_t sum_i d(x_i, u_h(i))\n"
		"t      data set\n"
		"n_t    number of its samples\n"
		"x_i    sample i of data set t\n"
		"h(i)   cluster of sample i\n"
		"u_z    centroid of cluster z (array centroids)\n"
		"d      divergence (option divergence); mahalanobis: of whitened samples",
.steps =
		"1. h(i): the cluster with the nearest centroid\n"
		"2. u_z: the mean of the samples of cluster z",
.use = "A baseline for mbc: the same divergence without transfer.",
.cost = "One product of the data with the centroids per iteration, which bounds often avoid.",
.family = KDR_FAMILY_CLUSTER,
	          .flags = KDR_ALGO_MONOTONE | KDR_ALGO_PREDICT,
	          .options = bregman_options,
	          .fields = bregman_fields,
	          .references = mbc_references + 1,
	},
	.fit = fit_bregman,
	.predict = mbc_predict,
	.ranks = true,
};
