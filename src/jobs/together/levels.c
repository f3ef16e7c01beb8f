/* Several numbers of clusters in one call. SPDX-License-Identifier: BSD-3-Clause
 *
 * The data are read and preprocessed once, then every number of clusters (a level) is fitted. The suggested level has
 * the labels that a call with that number alone would find. Methods that combine members (auto) derive the other levels
 * from the members of this level and of the largest one; other methods are fitted for each number. With n_ab the number of samples in cluster a of a
 * level and in cluster b of the next one:
 *
 *     (E1)  clusters are numbered by the assignment of numbers to clusters b with the largest sum of n_ab, so that a cluster keeps
 *           its number while it does not split; the other clusters get the remaining numbers, in their order
 *     (E2)  the parent of b is the cluster a with the largest n_ab
 *
 * One level is suggested and becomes the main result. A method that finds k is fitted without k first, and the number that
 * it finds is suggested, or the nearest number in the range. For other methods, the largest number is fitted first and
 * the level with the largest mean simplified silhouette is suggested. What does not depend on the number of clusters, such
 * as nearest neighbours, and the partitions of members are kept from these fits for the others (matrix/kept.h). Derived levels have one
 * vote, so that the eigenvectors of the largest of them contain those of the others.
 *
 * The first level keeps the numbers of its fit; with -k auto, the level of the k that was found keeps them. If the method matches the clusters of
 * data sets, (E1) is one assignment for all of them, so that counterparts still have the same number.
 *
 * Cost: one fit per level, or two fits and a vote per level; O(k^3) for (E1). levels_splits.c finds what distinguishes the sides of splits. */
#include "jobs/together/levels.h"

#include "api/number.h"
#include "comm/comm.h"
#include "core/side_by_side.h"
#include "engine/metrics/metrics.h"
#include "jobs/together/runs.h"

#include <stdio.h>
#include <stdlib.h>

/* --- the numbers of clusters ------------------------------------------------------------------------------ */

kdr_status kdri_k_ranges_take(kdr_context *ctx, int64_t count, kdr_job_options *o, kdri_k_ranges *out)
{
	if (o->neach_k && o->neach_k != count)
		return kdri_fail(
		        ctx, KDR_ERR_ARGUMENT,
		        "-k has %lld values for %lld data set%s; give one value for all, or one for each",
		        (long long)o->neach_k, (long long)count, count == 1 ? "" : "s");
	if (!o->k_to && !o->each_k_to)
		return KDR_OK;
	if (o->init)
		return kdri_fail(
		        ctx, KDR_ERR_ARGUMENT,
		        "--init has the labels of one number of clusters, but k is a range; give one number");
	if (o->each_k && !o->each_k_to)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT, "each_k needs each_k_to, not k_to");
	KDRI_DO(KDRI_NEW(ctx, &out->from, count));
	KDRI_DO(KDRI_NEW(ctx, &out->to, count));
	for (int64_t t = 0; t < count; t++) {
		const int64_t from = o->each_k ? o->each_k[t] : o->k,
		              to = o->each_k_to ? o->each_k_to[t] : o->k_to;
		if (from < 1 || to < from || to - from >= KDR_LEVELS_MOST)
			return kdri_fail(
			        ctx, KDR_ERR_ARGUMENT,
			        "k is %lld to %lld: a range begins at 1 or above, ends at its beginning or above, and has at most %d numbers",
			        (long long)from, (long long)to, KDR_LEVELS_MOST);
		out->from[t] = from;
		out->to[t] = to;
		out->span = KDRI_MAX(out->span, to - from + 1);
	}
	o->k = out->to[0];
	o->each_k = o->each_k_to ? out->to : NULL;
	return KDR_OK;
}

static void levels_end(kdr_context *ctx, kdri_k_ranges *levels)
{
	kdri_inspect_end(ctx, &levels->seen);
	kdri_kept_free(ctx, &levels->kept);
}

void kdri_k_ranges_free(kdr_context *ctx, kdri_k_ranges *levels)
{
	kdri_free(ctx, levels->from);
	kdri_free(ctx, levels->to);
	levels_end(ctx, levels);
}

static bool is_widest(const kdri_k_ranges *l, int64_t t)
{
	return l->to[t] - l->from[t] + 1 == l->span;
}

/* The data set whose numbers of clusters name the levels. */
static int64_t widest_range(const kdri_k_ranges *l)
{
	int64_t widest = 0;
	while (!is_widest(l, widest))
		widest++;
	return widest;
}

/* The number of clusters of data set t at level `at`, from 0, of a range. */
static int64_t range_k(const kdri_k_ranges *l, int64_t t, int64_t at)
{
	return KDRI_MIN(l->from[t] + at, l->to[t]);
}

/* The level, from 0, that is nearest to k clusters of data set t. */
static int64_t level_near(const kdri_k_ranges *l, int64_t t, int64_t k)
{
	return KDRI_MAX(0, KDRI_MIN(k, l->to[t]) - l->from[t]);
}

/* From numbers that a fit has found to the nearest level of the range. Of the longest ranges, that of the largest data set decides, which is the
 * last in the order of the fit. */
static void enter_level(const void *ranges, const int64_t *order, int64_t ntasks, int64_t *k)
{
	const kdri_k_ranges *l = ranges;
	int64_t at = -1;
	for (int64_t i = ntasks - 1; i >= 0 && at < 0; i--) {
		const int64_t t = order ? order[i] : i;
		if (is_widest(l, t))
			at = level_near(l, t, k[i]);
	}
	for (int64_t i = 0; i < ntasks; i++)
		k[i] = range_k(l, order ? order[i] : i, at);
}

kdr_status kdri_levels_begin(kdr_context *ctx, kdri_job *job, kdr_task *tasks, int64_t count,
                             const kdr_job_options *o, kdri_k_ranges *levels)
{
	const kdr_problem problem = { .tasks = tasks, .ntasks = count };
	bool several = levels->span > 1;
	levels->finds_k = several && (kdr_options_algo(job->options)->flags & KDR_ALGO_AUTO_K);
	if (levels->finds_k) { /* larger numbers need not be tried; ec uses k_max otherwise */
		char most[24];
		int64_t to = 2;
		for (int64_t t = 0; t < count; t++)
			to = KDRI_MAX(to, levels->to[t]);
		snprintf(most, sizeof most, "%lld", (long long)to);
		if (kdri_options_has(job->options, "same_k"))
			KDRI_DO(kdri_job_set(ctx, job, "k_max", most));
	}
	for (int64_t t = 0; t < count; t++) {
		several = several || (o->neighbours && tasks[t].k == 0);
		if (levels->finds_k && levels->from[t] < levels->to[t])
			tasks[t].k = 0;
	}
	/* With a limit on memory, nothing is kept between fits. */
	if (!several || kdri_together(ctx) || ctx->max_memory > 0)
		return KDR_OK;
	KDRI_DO(kdri_inspect(ctx, &problem, &levels->seen));
	levels->seen.kept = &levels->kept;
	if (levels->finds_k) {
		levels->kept.enter = enter_level;
		levels->kept.ranges = levels;
	}
	return KDR_OK;
}

/* What is fitted besides the main result. */
typedef struct plan {
	kdri_job *job;
	kdr_data *const *sets;
	const kdr_job_options *o;
	kdri_runs *runs; /* which have the labels of every level; or NULL */
	int64_t ntasks, count;
	bool derived;     /* the method derives these levels from those before */
	int64_t *k;       /* count x ntasks */
	int64_t *level;   /* count: as kdr_result.level */
	kdr_result **out; /* count; NULL: out of time */
} plan;

static void plan_free(kdr_context *ctx, plan *p)
{
	for (int64_t i = 0; p->out && i < p->count; i++)
		kdr_result_free(p->out[i]);
	kdri_free(ctx, p->k);
	kdri_free(ctx, p->level);
	kdri_free(ctx, p->out);
}

static kdr_status plan_new(kdr_context *ctx, int64_t count, plan *p)
{
	KDRI_DO(KDRI_NEW(ctx, &p->k, count * p->ntasks));
	KDRI_DO(KDRI_NEW(ctx, &p->level, count));
	KDRI_DO(KDRI_NEW0(ctx, &p->out, count));
	p->count = count;
	return KDR_OK;
}

/* All levels of a range but the one that the main result is; large ones first, which take longest. */
static kdr_status plan_range(kdr_context *ctx, const kdri_k_ranges *l, kdr_result *result, plan *p)
{
	const int64_t widest = widest_range(l), main = result->tasks[widest].k - l->from[widest];
	int64_t i = 0;
	result->level = l->from[widest] + main;
	KDRI_DO(plan_new(ctx, l->span - 1, p));
	for (int64_t at = l->span - 1; at >= 0; at--) {
		if (at == main)
			continue;
		p->level[i] = l->from[widest] + at;
		for (int64_t t = 0; t < p->ntasks; t++)
			p->k[i * p->ntasks + t] = range_k(l, t, at);
		i++;
	}
	return KDR_OK;
}

/* One cluster more, and one fewer, in the data sets whose k the method found. */
static kdr_status plan_neighbours(kdr_context *ctx, kdr_result *result, plan *p)
{
	int64_t first = -1, count = 0;
	bool fewer = true, more = true;
	for (int64_t t = 0; t < p->ntasks; t++) {
		const kdri_task_result *task = &result->tasks[t];
		if ((p->o->each_k ? p->o->each_k[t] : p->o->k) > 0)
			continue;
		first = first < 0 ? t : first;
		fewer = fewer && task->k > 2 && (!p->job->known || task->k > p->job->known->classes);
		more = more && task->k > 1 && task->k < task->all;
	}
	if (first < 0)
		return KDR_OK;
	result->level = result->tasks[first].k;
	KDRI_DO(plan_new(ctx, (int64_t)more + fewer, p));
	for (int step = 1; step >= -1; step -= 2) {
		if (!(step > 0 ? more : fewer))
			continue;
		p->level[count] = result->level + step;
		for (int64_t t = 0; t < p->ntasks; t++) {
			const int64_t given = p->o->each_k ? p->o->each_k[t] : p->o->k;
			p->k[count * p->ntasks + t] = given > 0 ? given : result->tasks[t].k + step;
		}
		count++;
	}
	return KDR_OK;
}

/* --- fits -------------------------------------------------------------------------------------------------- */

static kdr_status level_tasks(kdr_context *ctx, kdr_data *const *sets, int64_t count, const int64_t *k,
                              kdr_task **out)
{
	KDRI_DO(KDRI_NEW0(ctx, out, count));
	for (int64_t t = 0; t < count; t++)
		(*out)[t] = (kdr_task){
			.name = sets[t]->name, .role = KDR_ROLE_TASK, .x = kdr_data_mat(sets[t]), .k = k[t]
		};
	return KDR_OK;
}

/* A fit of all data sets with these numbers of clusters, and the labels of the runs alone, where these have them. */
static kdr_status fit_numbers(kdr_context *ctx, const plan *p, kdri_job *job, const int64_t *k,
                              kdr_result **out)
{
	kdr_status st;
	kdr_task *tasks = NULL;
	const kdr_problem about = { .size = sizeof(kdr_problem),
		                    .ntasks = p->ntasks,
		                    .pooled = p->o->pooled };
	KDRI_TRY(level_tasks(ctx, p->sets, p->ntasks, k, &tasks));
	if (p->runs)
		KDRI_TRY(kdri_runs_level(ctx, p->runs, k));
	KDRI_TRY(kdri_job_fit(ctx, job, tasks, p->sets, &about, p->runs ? kdri_runs_evidence(p->runs) : NULL,
	                      out));
done:
	kdri_free(ctx, tasks);
	return st;
}

static kdr_status fit_level(kdr_context *ctx, void *user, int64_t i, int worker)
{
	plan *p = user;
	kdri_job job = *p->job;
	bool late = ctx->cancelled || kdri_late(ctx);
	(void)worker;
	KDRI_DO(kdri_any(ctx, &late));
	if (late || p->out[i])
		return KDR_OK;
	KDRI_DO(fit_numbers(ctx, p, &job, p->k + i * p->ntasks, &p->out[i]));
	p->out[i]->level = p->level[i];
	const kdr_stop stop = p->out[i]->stop;
	if (p->derived && (stop == KDR_STOP_TIME || stop == KDR_STOP_CANCELLED)) {
		kdr_result_free(p->out[i]); /* it has no members of its own to fall back on */
		p->out[i] = NULL;
	}
	return KDR_OK;
}

/* The first level that is derived, which is the largest of them. It keeps the eigenvectors of the vote for the others. */
static kdr_status fit_first_derived(kdr_context *ctx, plan *p)
{
	int64_t i = 0;
	while (i < p->count && p->out[i])
		i++;
	return p->derived && i < p->count ? fit_level(ctx, p, i, 0) : KDR_OK;
}

/* Fits that are small enough run at the same time: by four copies of the data, and a number for each pair of samples of a
 * data set. On a device, under a memory limit and with several ranks each runs alone. */
static kdr_status fit_all(kdr_context *ctx, plan *p, kdri_k_ranges *levels, const kdr_result *result)
{
	double data = 0, pairs = 0; /* bytes */
	for (int64_t t = 0; t < p->ntasks; t++) {
		const double n = (double)result->tasks[t].n;
		data += 8 * (double)result->tasks[t].nnz;
		pairs = KDRI_MAX(pairs, 8 * n * n);
	}
	const int workers = ctx->device || ctx->device_choice == KDRI_DEVICE_NAMED || ctx->max_memory > 0 ||
	                                    kdri_together(ctx) || p->runs
	                            ? 1
	                            : kdri_workers(ctx, p->count, 4 * data + pairs, data);
	const double start = kdri_now();
	const bool before = ctx->cancelled;
	KDRI_DO(fit_first_derived(ctx, p));
	levels->kept.looking = true;
	if (workers > 1)
		KDRI_DO(kdri_side_by_side(ctx, &(kdri_side){ .count = p->count,
		                                             .workers = workers,
		                                             .run = fit_level,
		                                             .user = p,
		                                             .stage = "levels",
		                                             .total = p->count }));
	for (int64_t i = 0; i < p->count && workers == 1; i++)
		KDRI_DO(fit_level(ctx, p, i, 0));
	p->job->seconds.fit += kdri_now() - start;
	if (!ctx->timed_out || before)
		return KDR_OK;
	/* When time is out, fits that run at the same time are stopped as if the user had asked for it. */
	ctx->cancelled = false;
	for (int64_t i = 0; i < p->count; i++)
		if (p->out[i] && p->out[i]->stop == KDR_STOP_CANCELLED)
			p->out[i]->stop = KDR_STOP_TIME;
	return KDR_OK;
}

/* --- the level that is suggested ---------------------------------------------------------------------------- */

/* After a fit that has found k: moves to the nearest level of the range, which is a further fit if k is not one of its
 * numbers. */
static kdr_status enter_range(kdr_context *ctx, const plan *p, const kdri_k_ranges *l, kdr_result **result)
{
	kdr_status st = KDR_OK;
	bool inside = true;
	int64_t *k = NULL, lead = widest_range(l);
	kdr_result *own = NULL;
	const kdri_task_result *found = (*result)->tasks;
	KDRI_TRY(KDRI_NEW(ctx, &k, p->ntasks));
	for (int64_t t = 0; t < p->ntasks; t++)
		lead = is_widest(l, t) && found[t].all > found[lead].all ? t : lead;
	for (int64_t t = 0; t < p->ntasks; t++) {
		k[t] = range_k(l, t, level_near(l, lead, found[lead].k));
		inside = inside && k[t] == found[t].k;
	}
	if (inside)
		goto done;
	KDRI_TRY(fit_numbers(ctx, p, p->job, k, &own));
	kdr_result_free(*result);
	*result = own;
done:
	kdri_free(ctx, k);
	return st;
}

/* The mean silhouette over the samples of all data sets; those in one cluster count as 0. */
static kdr_status level_silhouette(kdr_context *ctx, const plan *p, const kdr_result *level, double *out)
{
	double sum = 0, all = 0, mean = 0;
	for (int64_t t = 0; t < p->ntasks; t++) {
		const kdri_task_result *task = &level->tasks[t];
		const kdr_mat x = kdr_data_mat(p->sets[t]);
		if (task->k > 1)
			KDRI_DO(kdri_silhouette(ctx, &x, task->labels, KDR_SILHOUETTE_SIMPLIFIED, NULL,
			                        &mean));
		sum += task->k > 1 && isfinite(mean) ? mean * (double)task->all : 0;
		all += (double)task->all;
	}
	*out = sum / all;
	return KDR_OK;
}

/* Exchanges the main result with the level that has the largest silhouette, the fewest clusters if several have it. */
static kdr_status choose_main(kdr_context *ctx, plan *p, kdr_result **result)
{
	int64_t best = -1; /* the main result */
	double most, own;
	KDRI_DO(level_silhouette(ctx, p, *result, &most));
	for (int64_t i = 0; i < p->count; i++) {
		if (!p->out[i])
			continue;
		KDRI_DO(level_silhouette(ctx, p, p->out[i], &own));
		if (own >= most) {
			best = i;
			most = own;
		}
	}
	if (best >= 0) {
		kdr_result *before = *result;
		*result = p->out[best];
		p->out[best] = before;
		p->level[best] = before->level;
	}
	return KDR_OK;
}

/* --- numbers ----------------------------------------------------------------------------------------------- */

/* Adds the samples in cluster a of `x` and b of `y` to table[a * columns + b]. */
static kdr_status add_overlap(kdr_context *ctx, const kdri_task_result *x, const kdri_task_result *y,
                              int64_t columns, int64_t *table)
{
	kdr_status st;
	int64_t *here = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &here, x->k * y->k));
	for (int64_t i = 0; i < x->n; i++)
		here[x->labels[i] * y->k + y->labels[i]]++;
	KDRI_TRY(kdri_sum_int(ctx, here, x->k * y->k));
	for (int64_t a = 0; a < x->k; a++)
		for (int64_t b = 0; b < y->k; b++)
			table[a * columns + b] += here[a * y->k + b];
done:
	kdri_free(ctx, here);
	return st;
}

/* The number of such a cluster is that of a known class, at every level. */
static bool is_named(const kdr_result *r, int64_t task, int64_t cluster)
{
	const kdri_task_result *t = &r->tasks[task];
	return t->names && cluster < t->k && t->names[cluster];
}

/* (E1) for the data sets first .. end - 1 together: the new number of each cluster of `moving`, up to the largest k of them. A number
 * that some of the data sets do not have stays one that they do not have. */
static kdr_status choose_numbers(kdr_context *ctx, const kdr_result *fixed, const kdr_result *moving,
                                 int64_t first, int64_t end, int64_t *now)
{
	kdr_status st;
	int64_t k = 0, columns = 0, *table = NULL;
	double *cost = NULL, all = 1;
	for (int64_t t = first; t < end; t++) {
		k = KDRI_MAX(k, moving->tasks[t].k);
		columns = KDRI_MAX(columns, fixed->tasks[t].k);
		all += (double)moving->tasks[t].all;
	}
	KDRI_TRY(KDRI_NEW0(ctx, &table, k * columns));
	KDRI_TRY(KDRI_NEW0(ctx, &cost, k * k));
	for (int64_t t = first; t < end; t++)
		KDRI_TRY(add_overlap(ctx, &moving->tasks[t], &fixed->tasks[t], columns, table));
	const double order = 0.4 / ((double)k * (double)k * (double)k); /* in all less than one sample */
	for (int64_t z = 0; z < k; z++)
		for (int64_t m = 0; m < k; m++) {
			bool allowed = true;
			for (int64_t t = first; t < end; t++)
				allowed = allowed && (z < moving->tasks[t].k) == (m < moving->tasks[t].k) &&
				          (z == m || !(is_named(moving, t, z) || is_named(moving, t, m)));
			cost[z * k + m] =
			        !allowed ? all
			                 : -order * (double)z * (double)m -
			                           (m < columns ? (double)table[z * columns + m] : 0);
		}
	KDRI_TRY(kdri_assign(ctx, cost, k, k, now, NULL, NULL));
done:
	kdri_free(ctx, table);
	kdri_free(ctx, cost);
	return st;
}

static kdr_status match_level(kdr_context *ctx, const kdr_result *fixed, kdr_result *moving)
{
	kdr_status st;
	const bool linked = moving->shared_clusters || moving->match_count > 0;
	int64_t total = 0, most = 0, at = 0, *now = NULL, *own = NULL;
	for (int64_t t = 0; t < moving->ntasks; t++) {
		total += moving->tasks[t].k;
		most = KDRI_MAX(most, moving->tasks[t].k);
	}
	KDRI_TRY(KDRI_NEW(ctx, &now, total));
	KDRI_TRY(KDRI_NEW(ctx, &own, most));
	for (int64_t t = 0; t < moving->ntasks; t++) {
		if (t == 0 || !linked)
			KDRI_TRY(choose_numbers(ctx, fixed, moving, t, linked ? moving->ntasks : t + 1, own));
		memcpy(now + at, own, (size_t)moving->tasks[t].k * sizeof *now);
		at += moving->tasks[t].k;
	}
	KDRI_TRY(kdri_renumber(ctx, now, moving));
done:
	kdri_free(ctx, now);
	kdri_free(ctx, own);
	return st;
}

/* (E2) */
static kdr_status put_parents(kdr_context *ctx, const kdr_result *before, kdr_result *level)
{
	kdr_status st = KDR_OK;
	int64_t *table = NULL;
	for (int64_t t = 0; t < level->ntasks; t++) {
		const kdri_task_result *old = &before->tasks[t];
		kdri_task_result *task = &level->tasks[t];
		KDRI_TRY(KDRI_NEW0(ctx, &table, task->k * old->k));
		KDRI_TRY(add_overlap(ctx, task, old, old->k, table));
		KDRI_TRY(KDRI_NEW(ctx, &task->parents, task->k));
		for (int64_t b = 0; b < task->k; b++) {
			const int64_t *row = table + b * old->k;
			int64_t best = 0;
			for (int64_t a = 1; a < old->k; a++)
				best = row[a] > row[best] ? a : best;
			task->parents[b] = row[best] > 0 ? best : -1;
		}
		kdri_free(ctx, table);
		table = NULL;
	}
done:
	kdri_free(ctx, table);
	return st;
}

/* Only the main result needs these, and they are large. */
static void drop_extras(kdr_context *ctx, kdr_result *level)
{
	for (int64_t t = 0; t < level->ntasks; t++) {
		kdri_task_result *task = &level->tasks[t];
		if (!task->borrowed)
			kdri_strings_free(&level->allocator, task->features, task->d);
		kdri_free(ctx, task->known);
		task->features = NULL;
		task->known = NULL;
		task->nknown = 0;
	}
}

/* Warns if some levels were not fitted. */
static kdr_status warn_missing(kdr_context *ctx, const plan *p, kdr_result *result)
{
	int64_t least = INT64_MAX, most = 0;
	for (int64_t i = 0; i < p->count; i++)
		if (!p->out[i]) {
			least = KDRI_MIN(least, p->level[i]);
			most = KDRI_MAX(most, p->level[i]);
		}
	if (most == 0)
		return KDR_OK;
	if (least == most)
		return kdri_result_warn(ctx, result, "stopped before k = %lld was fitted", (long long)most);
	return kdri_result_warn(ctx, result, "stopped before all of k = %lld to %lld were fitted",
	                        (long long)least, (long long)most);
}

static int by_level(const void *a, const void *b)
{
	const kdr_result *const *x = a, *const *y = b;
	return ((*x)->level > (*y)->level) - ((*x)->level < (*y)->level);
}

/* The levels that were fitted, into the main result, in the order of their k. */
static kdr_status collect(kdr_context *ctx, plan *p, kdr_result *result)
{
	kdr_result **all = NULL;
	int64_t count = 0;
	KDRI_DO(warn_missing(ctx, p, result));
	KDRI_DO(KDRI_NEW(ctx, &all, p->count + 1));
	for (int64_t i = 0; i < p->count; i++)
		if (p->out[i]) {
			drop_extras(ctx, p->out[i]);
			all[count++] = p->out[i];
			p->out[i] = NULL;
		}
	all[count++] = result;
	qsort(all, (size_t)count, sizeof *all, by_level);
	for (int64_t i = 0; i < count; i++)
		result->main_level = all[i] == result ? i : result->main_level;
	result->levels = all;
	result->level_count = count;
	return KDR_OK;
}

kdr_status kdri_levels_fit(kdr_context *ctx, kdri_job *job, kdr_data *const *sets, const kdr_job_options *o,
                           kdri_runs *runs, kdri_k_ranges *levels, kdr_result **main)
{
	kdr_status st = KDR_OK;
	plan p = { .job = job, .sets = sets, .o = o, .ntasks = (*main)->ntasks };
	p.runs = runs && runs->ranges ? runs : NULL;
	const bool range = levels->from != NULL;
	if (!range && !o->neighbours)
		return KDR_OK;
	levels->kept.fits = 1;
	if (range && levels->finds_k)
		KDRI_TRY(enter_range(ctx, &p, levels, main));
	if (range)
		KDRI_TRY(plan_range(ctx, levels, *main, &p));
	else
		KDRI_TRY(plan_neighbours(ctx, *main, &p));
	if (p.count == 0 && !range) {
		levels_end(ctx, levels);
		goto done;
	}
	if (p.count > 0 && p.level[0] > (*main)->level) /* the other complete fit */
		KDRI_TRY(fit_level(ctx, &p, 0, 0));
	levels->kept.deriving = !p.runs;
	p.derived = levels->kept.deriving && levels->seen.kept &&
	            (kdr_options_algo(job->options)->flags & KDR_ALGO_AUTO_K);
	KDRI_TRY(fit_all(ctx, &p, levels, *main));
	levels_end(ctx, levels); /* the data may change from here on */
	if (range && !levels->finds_k && p.count > 0)
		KDRI_TRY(choose_main(ctx, &p, main));
	kdr_result *result = *main;
	KDRI_TRY(collect(ctx, &p, result));
	const int64_t anchor = range ? 0 : result->main_level;
	for (int64_t i = anchor + 1; i < result->level_count; i++)
		KDRI_TRY(match_level(ctx, result->levels[i - 1], result->levels[i]));
	for (int64_t i = anchor; i > 0; i--)
		KDRI_TRY(match_level(ctx, result->levels[i], result->levels[i - 1]));
	for (int64_t i = 1; i < result->level_count; i++)
		KDRI_TRY(put_parents(ctx, result->levels[i - 1], result->levels[i]));
done:
	plan_free(ctx, &p);
	return st;
}
