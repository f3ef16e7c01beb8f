/* Tests whether a bridge transfers classes: the proportion that is recovered through it. SPDX-License-Identifier:
 * BSD-3-Clause
 *
 * Wrong predictions can seldom be transferred back. Therefore the target's predictions are used as known classes,
 * source and target are swapped, and the method's start (`max_iter` = 0: a fast chain of regressions) labels the
 * sources through the same bridge:
 *
 *   (E1)  back = proportion of the sources' labelled samples that get their own class
 *
 * Over 12 pairs of webkb and their two bridges each, the bridge with the larger (E1) is on average .002 below the
 * better one, and the one with the shorter path .023; docs/notes/through-a-bridge.md has other results. */
#include "comm/comm.h"
#include "jobs/job.h"
#include "jobs/transfer/transfer.h"

/* Classes that samples have, on any rank, numbered from 0 on: number[class], -1 of the others. */
static kdr_status number_classes(kdr_context *ctx, const int64_t *labels, int64_t n, int64_t classes,
                                 int64_t *number, int64_t *class_of, int64_t *found)
{
	int64_t count = 0;
	for (int64_t c = 0; c < classes; c++)
		number[c] = -1;
	for (int64_t i = 0; i < n; i++)
		if (labels[i] >= 0)
			number[labels[i]] = 0;
	KDRI_DO(kdri_max_int(ctx, number, classes));
	for (int64_t c = 0; c < classes; c++)
		if (number[c] == 0) {
			class_of[count] = c;
			number[c] = count++;
		}
	*found = count;
	return KDR_OK;
}

/* Sources as targets, the first target as source, views of the bridge the other way round. */
static int64_t turn_round(const kdr_task *tasks, int64_t count, int64_t target, int64_t classes,
                          const int64_t *labels, kdr_task *out)
{
	int64_t n = 0;
	out[n++] = (kdr_task){ .name = "target",
		               .role = KDR_ROLE_SOURCE,
		               .x = tasks[target].x,
		               .k = classes,
		               .labels = labels };
	for (int64_t t = count - 1; t >= 0; t--)
		if (tasks[t].role == KDR_ROLE_BRIDGE)
			out[n++] = tasks[t];
	for (int64_t t = 0; t < count; t++)
		if (tasks[t].role == KDR_ROLE_SOURCE)
			out[n++] = (kdr_task){
				.name = tasks[t].name, .role = KDR_ROLE_TARGET, .x = tasks[t].x, .k = classes
			};
	return n;
}

/* (E1): tasks of role target, in their order, are the sources. result NULL: all get the first class. */
static kdr_status count_back(kdr_context *ctx, const kdr_task *tasks, int64_t count, const kdr_result *result,
                             int64_t first, const int64_t *class_of, double *out)
{
	int64_t sums[2] = { 0, 0 }, at = first; /* known, right */
	for (int64_t t = 0; t < count; t++) {
		int64_t n = kdr_mat_rows(&tasks[t].x);
		if (tasks[t].role != KDR_ROLE_SOURCE)
			continue;
		const int64_t *found = result ? kdr_result_labels(result, at++, &n) : NULL;
		for (int64_t i = 0; i < n; i++) {
			sums[0] += tasks[t].labels[i] >= 0;
			sums[1] += tasks[t].labels[i] == class_of[found ? found[i] : 0];
		}
	}
	KDRI_DO(kdri_sum_int(ctx, sums, 2));
	*out = sums[0] ? (double)sums[1] / (double)sums[0] : 0;
	return KDR_OK;
}

kdr_status kdri_bridge_recovery(kdr_context *ctx, const kdr_algo *method, const kdr_task *tasks,
                                int64_t count, int64_t target, int64_t classes, const int64_t *answer,
                                double *out)
{
	kdr_status st;
	int64_t n = kdr_mat_rows(&tasks[target].x), *number = NULL, *class_of = NULL, *labels = NULL;
	kdr_task *back = NULL;
	kdr_options *options = NULL;
	kdr_result *result = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &number, classes));
	KDRI_TRY(KDRI_NEW0(ctx, &class_of, classes));
	KDRI_TRY(KDRI_NEW(ctx, &labels, n));
	KDRI_TRY(KDRI_NEW(ctx, &back, count));
	int64_t found;
	KDRI_TRY(number_classes(ctx, answer, n, classes, number, class_of, &found));
	for (int64_t i = 0; i < n; i++)
		labels[i] = answer[i] >= 0 ? number[answer[i]] : -1;
	if (found < 2) {
		st = count_back(ctx, tasks, count, NULL, 0, class_of, out);
		goto done;
	}
	KDRI_TRY(kdri_options_new(ctx, kdri_algo_of(method),
	                          (const kdri_setting[]){ { "max_iter", 0, NULL }, { 0 } }, &options));
	const kdr_problem problem = { .tasks = back,
		                      .ntasks = turn_round(tasks, count, target, found, labels, back),
		                      .classes = found };
	st = kdri_fit(ctx, &problem, options, &result);
	int64_t first = 0;
	while (first < problem.ntasks && back[first].role != KDR_ROLE_TARGET)
		first++;
	if (st == KDR_OK)
		st = count_back(ctx, tasks, count, result, first, class_of, out);
	else if (st != KDR_ERR_MEMORY && !kdri_together(ctx)) { /* ranks that failed go no further together */
		*out = NAN; /* impossible, for example if the bridge shares nothing with the target */
		st = KDR_OK;
	}
done:
	KDRI_FREE(ctx, number, class_of, labels, back);
	kdr_options_free(options);
	kdr_result_free(result);
	return st;
}
