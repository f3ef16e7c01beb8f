/* Several tasks as one matrix, several runs as one trace. SPDX-License-Identifier: BSD-3-Clause */
#include "methods/common/tasks.h"
#include "api/method.h"
#include "engine/kmeans/kmeans.h"

void kdri_stack_free(kdr_context *ctx, kdri_stack *s)
{
	kdri_own_free(ctx, &s->own);
	kdri_free(ctx, s->begin);
	s->begin = NULL;
}

kdr_status kdri_stack_new(kdr_context *ctx, const kdr_problem *problem, kdri_stack *out)
{
	kdr_status st;
	const kdr_mat **parts = NULL;
	kdri_stack s = { .ntasks = problem->ntasks, .own.view = kdr_mat_from_dense(NULL, 0, 0) };
	KDRI_TRY(KDRI_NEW(ctx, &parts, s.ntasks));
	KDRI_TRY(KDRI_NEW(ctx, &s.begin, s.ntasks + 1));
	s.begin[0] = 0;
	for (int64_t t = 0; t < s.ntasks; t++) {
		parts[t] = &problem->tasks[t].x;
		s.begin[t + 1] = s.begin[t] + kdr_mat_rows(parts[t]);
	}
	if (s.ntasks > 1)
		KDRI_TRY(kdri_mat_stack(ctx, parts, s.ntasks, &s.own));
	s.x = s.ntasks > 1 ? s.own.view : *parts[0];
	*out = s;
	s = (kdri_stack){ .own.view = kdr_mat_from_dense(NULL, 0, 0) };
done:
	kdri_free(ctx, parts);
	kdri_stack_free(ctx, &s);
	return st;
}

kdr_status kdri_stack_init(kdr_context *ctx, const kdr_problem *problem, const kdri_stack *stack,
                           int64_t **out)
{
	int64_t *labels = NULL, given = 0;
	for (int64_t t = 0; t < problem->ntasks; t++)
		given += problem->tasks[t].init != NULL;
	if (given == 0) {
		*out = NULL;
		return KDR_OK;
	}
	if (given < problem->ntasks)
		return kdri_fail(
		        ctx, KDR_ERR_ARGUMENT,
		        "initial labels are given for %lld of %lld data sets; give them for all or none",
		        (long long)given, (long long)problem->ntasks);
	KDRI_DO(KDRI_NEW(ctx, &labels, stack->begin[stack->ntasks]));
	for (int64_t t = 0; t < problem->ntasks; t++)
		memcpy(labels + stack->begin[t], problem->tasks[t].init,
		       (size_t)(stack->begin[t + 1] - stack->begin[t]) * sizeof *labels);
	*out = labels;
	return KDR_OK;
}

kdr_status kdri_put_same_clusters(kdr_context *ctx, int64_t ntasks, int64_t k, kdr_result *result)
{
	for (int64_t from = 0; from < ntasks; from++)
		for (int64_t to = from + 1; to < ntasks; to++) {
			double *matrix = NULL;
			if (!kdri_pair_reported(ntasks, from, to))
				continue;
			KDRI_DO(kdri_result_correspondence(ctx, result, from, to, k, k, &matrix));
			for (int64_t j = 0; j < k; j++)
				matrix[j * k + j] = 1;
		}
	return KDR_OK;
}

kdr_status kdri_trace_push(kdr_context *ctx, double **trace, int64_t *iterations, int64_t *room, double value)
{
	kdr_status st = KDRI_ROOM(ctx, trace, room, *iterations + 1);
	if (st == KDR_OK)
		(*trace)[(*iterations)++] = value;
	return st;
}

kdr_status kdri_put_traces(kdr_context *ctx, const kdri_trace *traces, int64_t count, kdr_result *result)
{
	static const kdr_stop order[] = { KDR_STOP_CONVERGED, KDR_STOP_STALLED, KDR_STOP_MAX_ITER,
		                          KDR_STOP_TIME, KDR_STOP_CANCELLED };
	int64_t longest = 0;
	double start = 0;
	int worst = 0;
	for (int64_t t = 0; t < count; t++) {
		longest = KDRI_MAX(longest, traces[t].iterations);
		start += traces[t].start;
		for (int s = worst; s < 5; s++)
			if (traces[t].stop == order[s])
				worst = s;
	}
	for (int64_t i = 0; i < longest; i++) {
		double sum = 0;
		for (int64_t t = 0; t < count; t++) {
			int64_t last = KDRI_MIN(i, traces[t].iterations - 1);
			sum += last < 0 ? traces[t].start : traces[t].values[last * traces[t].step];
		}
		KDRI_DO(kdri_result_objective(ctx, result, sum));
	}
	KDRI_DO(kdri_result_number(ctx, result, "objective_start", start));
	kdri_result_stop(result, order[worst], longest);
	return KDR_OK;
}

kdr_status kdri_run_tasks(kdr_context *ctx, const kdr_problem *problem, const kdr_options *options,
                          const kdri_runner *how, kdr_result *result)
{
	kdr_status st;
	kdri_stack stack = { .own.view = kdr_mat_from_dense(NULL, 0, 0) };
	int64_t parts = problem->pooled ? 1 : problem->ntasks, *init = NULL, size;
	unsigned char *runs = NULL;
	kdri_trace *traces = NULL;
	KDRI_TRY(kdri_mul(ctx, parts, (int64_t)how->size, &size));
	KDRI_TRY(KDRI_NEW0(ctx, &runs, size));
	KDRI_TRY(KDRI_NEW0(ctx, &traces, parts));
	if (problem->pooled) {
		KDRI_TRY(kdri_stack_new(ctx, problem, &stack));
		KDRI_TRY(kdri_stack_init(ctx, problem, &stack, &init));
	}
	for (int64_t i = 0; i < parts; i++) {
		const kdr_task *task = &problem->tasks[i];
		void *left = runs + (size_t)i * how->size;
		ctx->stages.part = i;
		ctx->stages.parts = parts;
		KDRI_TRY(how->run(ctx, problem->pooled ? &stack.x : &task->x, task->k,
		                  problem->pooled ? init : task->init, (uint64_t)i, options, left));
		traces[i] = how->trace(left);
		KDRI_TRY(how->report(ctx, left, options, result));
	}
	for (int64_t t = 0, at = 0; t < problem->ntasks; t++) {
		KDRI_TRY(how->put(ctx, problem, runs + (problem->pooled ? 0 : (size_t)t * how->size), t, at,
		                  result));
		if (problem->pooled)
			at += kdr_mat_rows(&problem->tasks[t].x);
	}
	KDRI_TRY(kdri_put_traces(ctx, traces, parts, result));
done:
	ctx->stages.parts = 0;
	for (int64_t i = 0; runs && i < parts; i++)
		how->release(ctx, runs + (size_t)i * how->size);
	KDRI_FREE(ctx, runs, traces, init);
	kdri_stack_free(ctx, &stack);
	return st;
}
