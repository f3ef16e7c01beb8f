/* LSSTTC: classes of a target from labelled sources, through a subspace they share.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * [GZ09] Q. Gu, J. Zhou: Learning the shared subspace for multi-task clustering and transductive transfer
 * classification. ICDM 2009.
 *
 * Objective (E1) of lss.c with the P of every source one-hot and constant, and the own terms of the targets only
 * [GZ09, eq. 20]. Any number of sources and targets. This file finds the start:
 *
 *   (E6)  P of a target = one-hot of k-means labels + soften                       [GZ09, algorithm 2]
 *
 * DEVIATION: k-means on the target starts from the sources' class means (`start` = source), so that cluster
 * j is class j. Plain k-means labels (`kmeans`, the literal reading) carry no class and mostly fail.
 * DEVIATION: algorithm 2 prints W' in M(2); eq. 20 has the d-dimensional mean, as here.
 * Rows of a source whose class is unknown are excluded. T = 20 iterations are the paper's rule, as in lssmtc.c. */
#include "api/method.h"
#include "engine/kmeans/kmeans.h"
#include "methods/common/tasks.h"
#include "methods/lss/lss.h"

static const char stage[] = "lssttc";

enum { START_SOURCE, START_KMEANS };
static const char *const starts[] = { "source", "kmeans", NULL };

static const kdr_option_desc options_table[] = {
	KDRI_LSS_OPTIONS,
	KDRI_CHOICE(
	        "start", START_SOURCE, starts,
	        "k-means that initialises P of a target: source: starting from the sources' class means; kmeans: with starts of its own"),
	KDRI_MAX_ITER(20),
	KDRI_TOL(1e-6),
	KDRI_INT("n_init", 10, 1, 1e6, "number of runs of k-means with start=kmeans; the best is kept"),
	{ .name = NULL },
};

static const kdr_field_desc fields_table[] = { KDRI_LSS_FIELDS };

static const char *const references_table[] = {
	"Q. Gu, J. Zhou: Learning the shared subspace for multi-task clustering and transductive transfer "
	"classification. ICDM 2009.",
	NULL,
};

/* The tasks in the form that the engine needs: sources without their unlabelled rows, all stacked. */
typedef struct tasks {
	kdr_task *list; /* a copy whose x may point into `taken` */
	kdri_own *taken;
	int64_t **classes; /* of the rows left of each source */
	bool *fixed;
	kdri_stack stack;
	int64_t *labels; /* of all rows stacked */
	int64_t ntasks;
} tasks;

static kdr_status lssttc_check(kdr_context *ctx, const kdr_problem *problem)
{
	int64_t sources = 0, targets = 0, d = kdr_mat_cols(&problem->tasks[0].x);
	for (int64_t t = 0; t < problem->ntasks; t++) {
		const kdr_task *task = &problem->tasks[t];
		sources += task->role == KDR_ROLE_SOURCE;
		targets += task->role == KDR_ROLE_TARGET;
		if (task->role != KDR_ROLE_SOURCE && task->role != KDR_ROLE_TARGET)
			return kdri_fail(
			        ctx, KDR_ERR_UNSUPPORTED,
			        "data set %s: method 'lssttc' needs sources and targets and cannot use a bridge",
			        kdri_task_name(task));
		if (task->role == KDR_ROLE_SOURCE && !task->labels)
			return kdri_fail(ctx, KDR_ERR_ARGUMENT, "source %s has no labels",
			                 kdri_task_name(task));
		if (kdr_mat_cols(&task->x) != d)
			return kdri_fail(
			        ctx, KDR_ERR_DATA,
			        "data set %s has %lld columns, but data set %s has %lld; align them first",
			        kdri_task_name(task), (long long)kdr_mat_cols(&task->x),
			        kdri_task_name(&problem->tasks[0]), (long long)d);
	}
	if (!sources || !targets || problem->classes < 1)
		return kdri_fail(
		        ctx, KDR_ERR_ARGUMENT,
		        "got %lld sources, %lld targets and %lld classes; at least one of each is needed",
		        (long long)sources, (long long)targets, (long long)problem->classes);
	return KDR_OK;
}

/* Keeps the labelled rows of source t. */
static kdr_status take_labelled(kdr_context *ctx, const kdr_task *from, int64_t t, tasks *s)
{
	kdr_status st;
	int64_t n = kdr_mat_rows(&from->x), kept = 0, *rows = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &rows, n));
	KDRI_TRY(KDRI_NEW(ctx, &s->classes[t], n));
	for (int64_t i = 0; i < n; i++)
		if (from->labels[i] >= 0) {
			s->classes[t][kept] = from->labels[i];
			rows[kept++] = i;
		}
	if (kept == 0)
		KDRI_FAIL(ctx, KDR_ERR_DATA, "source %s has no labelled row", kdri_task_name(from));
	if (kept < n) {
		KDRI_TRY(kdri_mat_take(ctx, &from->x, rows, kept, &s->taken[t]));
		s->list[t].x = s->taken[t].view;
	}
done:
	kdri_free(ctx, rows);
	return st;
}

static kdr_status tasks_new(kdr_context *ctx, const kdr_problem *problem, tasks *s)
{
	s->ntasks = problem->ntasks;
	KDRI_DO(KDRI_NEW(ctx, &s->list, s->ntasks));
	KDRI_DO(KDRI_NEW0(ctx, &s->taken, s->ntasks));
	KDRI_DO(KDRI_NEW0(ctx, &s->classes, s->ntasks));
	KDRI_DO(KDRI_NEW0(ctx, &s->fixed, s->ntasks));
	for (int64_t t = 0; t < s->ntasks; t++) {
		s->list[t] = problem->tasks[t];
		s->fixed[t] = problem->tasks[t].role == KDR_ROLE_SOURCE;
		if (s->fixed[t])
			KDRI_DO(take_labelled(ctx, &problem->tasks[t], t, s));
	}
	const kdr_problem reduced = { .size = sizeof(kdr_problem), .tasks = s->list, .ntasks = s->ntasks };
	KDRI_DO(kdri_stack_new(ctx, &reduced, &s->stack));
	KDRI_DO(KDRI_NEW0(ctx, &s->labels, s->stack.begin[s->ntasks]));
	for (int64_t t = 0; t < s->ntasks; t++)
		if (s->fixed[t])
			memcpy(s->labels + s->stack.begin[t], s->classes[t],
			       (size_t)(s->stack.begin[t + 1] - s->stack.begin[t]) * sizeof *s->labels);
	return KDR_OK;
}

/* Means (c x d) of the classes over all sources. */
static kdr_status class_means(kdr_context *ctx, const tasks *s, int64_t c, double *means)
{
	kdr_status st;
	int64_t d = kdr_mat_cols(&s->stack.x), n = s->stack.begin[s->ntasks];
	double *member = NULL, *sums = NULL, *count = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &member, n * c));
	KDRI_TRY(KDRI_NEW0(ctx, &count, c));
	KDRI_TRY(KDRI_NEW(ctx, &sums, d * c));
	for (int64_t t = 0; t < s->ntasks; t++)
		for (int64_t i = s->stack.begin[t]; s->fixed[t] && i < s->stack.begin[t + 1]; i++) {
			member[i * c + s->labels[i]] = 1;
			count[s->labels[i]]++;
		}
	for (int64_t j = 0; j < c; j++)
		if (count[j] == 0)
			KDRI_FAIL(ctx, KDR_ERR_DATA, "class %lld of %lld has no sample in any source",
			          (long long)j, (long long)c);
	KDRI_TRY(kdri_mat_tmul(ctx, &s->stack.x, member, c, c, sums, c));
	for (int64_t j = 0; j < c; j++)
		for (int64_t i = 0; i < d; i++)
			means[j * d + i] = sums[i * c + j] / count[j];
done:
	KDRI_FREE(ctx, member, count, sums);
	return st;
}

/* (E6) for target t. */
static kdr_status start_target(kdr_context *ctx, const kdr_options *options, const tasks *s, int64_t t,
                               int64_t c, const double *means)
{
	kdr_status st = KDR_OK;
	int64_t begin = s->stack.begin[t], n = s->stack.begin[t + 1] - begin, *labels = s->labels + begin;
	kdr_mat x = kdri_rows(&s->stack.x, begin, begin + n);
	kdri_kmeans_options o = kdri_kmeans_defaults(c);
	kdri_kmeans_result r = { 0 };
	if (s->list[t].init) {
		memcpy(labels, s->list[t].init, (size_t)n * sizeof *labels);
		return KDR_OK;
	}
	if (n < c) /* too few for k-means: to the nearest class */
		return kdri_kmeans_assign(ctx, &x, means, c, false, labels);
	o.n_init = kdri_opt_int(options, "n_init");
	o.stream = (uint64_t)t;
	if (kdri_opt_choice(options, "start") == START_SOURCE)
		o.init_centres = means;
	KDRI_TRY(kdri_kmeans(ctx, &x, NULL, &o, &r));
	memcpy(labels, r.labels, (size_t)n * sizeof *labels);
done:
	kdri_kmeans_free(ctx, &r);
	return st;
}

static kdr_status lssttc_fit(kdr_context *ctx, const kdr_problem *problem, const kdr_options *options,
                             kdr_result *result)
{
	kdr_status st;
	tasks s = { .stack.own.view = kdr_mat_from_dense(NULL, 0, 0) };
	kdri_lss answer = { 0 };
	int64_t c = problem->classes, *numbers = NULL, d = kdr_mat_cols(&problem->tasks[0].x);
	double *means = NULL;
	kdri_lss_options o = kdri_lss_read_options(options, c, stage);
	KDRI_TRY(lssttc_check(ctx, problem));
	KDRI_TRY(tasks_new(ctx, problem, &s));
	KDRI_TRY(KDRI_NEW(ctx, &means, c * d));
	KDRI_TRY(KDRI_NEW(ctx, &numbers, s.ntasks));
	KDRI_TRY(class_means(ctx, &s, c, means));
	for (int64_t t = 0; t < s.ntasks; t++) {
		numbers[t] = t;
		if (!s.fixed[t])
			KDRI_TRY(start_target(ctx, options, &s, t, c, means));
	}
	const kdri_lss_problem p = { &s.stack.x, s.ntasks, c, s.stack.begin, s.labels, s.fixed };
	KDRI_TRY(kdri_lss_run(ctx, &p, &o, &answer));
	for (int64_t t = 0; t < s.ntasks; t++) {
		int64_t *to = NULL, n = s.stack.begin[t + 1] - s.stack.begin[t];
		kdri_result_set_k(result, t, c);
		if (s.fixed[t])
			continue;
		KDRI_TRY(kdri_result_labels(ctx, result, t, &to));
		memcpy(to, answer.labels + s.stack.begin[t], (size_t)n * sizeof *to);
	}
	KDRI_TRY(kdri_lss_put(ctx, &p, &answer, numbers, result));
done:
	kdri_lss_free(ctx, &answer);
	for (int64_t t = 0; s.taken && t < s.ntasks; t++)
		kdri_own_free(ctx, &s.taken[t]);
	for (int64_t t = 0; s.classes && t < s.ntasks; t++)
		kdri_free(ctx, s.classes[t]);
	KDRI_FREE(ctx, s.list, s.taken, s.classes, s.fixed);
	kdri_stack_free(ctx, &s.stack);
	kdri_free(ctx, s.labels);
	KDRI_FREE(ctx, means, numbers);
	return st;
}

const kdri_algo kdri_algo_lssttc = {
	.info = { .id = "lssttc",
	          .class_name = "LSSTTC",
	          .title = "Shared-subspace transductive transfer classification",
	          .summary = "labels targets from labelled sources by clustering all in one shared subspace",
	          .objective =
	                  "J = lambda sum_t |X_t - P_t M_t|^2 + (1 - lambda) sum_s ( |X_s W - P_s M|^2 - eps |X_s W|^2 )\n"
	                  "t      targets\n"
	                  "s      all data sets; P_s of a source is its classes, one-hot and constant\n"
	                  "X_t    samples of a data set, one per row\n"
	                  "P_t    memberships of the samples, >= 0 (array P)\n"
	                  "M_t    cluster centres of target t in the feature space (array centres)\n"
	                  "W      directions of the shared subspace, W'W = I (array W)\n"
	                  "M      cluster centres in the subspace, the same for all data sets (array shared_centres)\n"
	                  "lambda weight of the data sets' own part (option lambda); within and across are the two sums without weights\n"
	                  "eps    reward for variance in the subspace (option eps); 0 is the paper's objective",
	          .steps =
	                  "1. M and M_t: least squares for the current P and W\n"
	                  "2. P_t of the targets: multiply each entry by the square root of the ratio of the gradient's negative and positive parts\n"
	                  "3. W: the l lowest eigenvectors of (1 - eps) X'X - Z Z', Z = X'P (P'P)^-1/2",
	          .use = "Sources and targets whose classes form clusters. It reproduces the paper; compare it with auto.",
	          .cost = "2 nnz (2 classes + l) operations per iteration, and the eigenvectors.",
	          .place = KDR_PLACE_PAPER,
	          .family = KDR_FAMILY_TRANSFER,
	          .flags = KDR_ALGO_JOINT | KDR_ALGO_MONOTONE | KDR_ALGO_PREDICT | KDR_ALGO_SWEEPS,
	          .options = options_table,
	          .fields = fields_table,
	          .references = references_table },
	.fit = lssttc_fit,
	.predict = kdri_lss_predict,
};
