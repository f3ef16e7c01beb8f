/* Labels spread over a graph: what gfhf and llgc share. SPDX-License-Identifier: BSD-3-Clause */
#include "methods/spread/spread.h"
#include "api/method.h"

/* Of so few samples one class is no surprise. */
enum { FEW = 10 };

/* Adds a warning if all unlabelled samples of a task got the same class although the labelled ones have several. */
static kdr_status warn_one_class(kdr_context *ctx, const kdri_labelled *set, const kdr_problem *problem,
                                 kdr_result *result)
{
	int64_t at = 0, several = 0;
	for (int64_t j = 0; j < set->classes; j++)
		several += set->counts[j] > 0;
	for (int64_t t = 0; t < problem->ntasks; t++) {
		const kdr_task *task = &problem->tasks[t];
		int64_t n = kdr_mat_rows(&task->x), length, first = -1, unknown = 0;
		const int64_t *labels =
		        task->role == KDR_ROLE_SOURCE ? NULL : kdr_result_labels(result, t, &length);
		bool same = labels != NULL;
		for (int64_t i = 0; labels && i < n; i++) {
			if (set->labels[at + i] >= 0)
				continue;
			first = unknown++ ? first : labels[i];
			same = same && labels[i] == first;
		}
		at += n;
		if (several > 1 && same && unknown >= FEW)
			KDRI_DO(kdri_result_warn(
			        ctx, result,
			        "all %lld unlabelled samples of data set %s got the same class, so labels probably spread too far; try fewer neighbours, a smaller alpha (llgc) or another method",
			        (long long)unknown, task->name ? task->name : ""));
	}
	return KDR_OK;
}

kdr_status kdri_spread_fit(kdr_context *ctx, const kdr_problem *problem, const kdr_options *options,
                           kdri_spread *spread, kdr_result *result)
{
	kdr_status st;
	kdri_labelled set = { .x.view = kdr_mat_from_dense(NULL, 0, 0) };
	kdri_graph graph = { .w.view = set.x.view };
	kdri_graph_options g = kdri_graph_options_of(options);
	double *f = NULL;
	int64_t size, iterations;
	kdr_stop stop;
	KDRI_TRY(kdri_labelled_new(ctx, problem, result, &set));
	KDRI_TRY(kdri_mul(ctx, set.n, set.classes, &size));
	KDRI_TRY(KDRI_NEW0(ctx, &f, size));
	KDRI_TRY(kdri_graph_new(ctx, &set.x.view, &g, &graph));
	KDRI_TRY(spread(ctx, &set, &graph.w.view, options, f, &iterations, &stop));
	KDRI_TRY(kdri_labelled_warn_unreached(ctx, &set, f, result));
	KDRI_TRY(kdri_labelled_put(ctx, &set, f, "scores", result));
	KDRI_TRY(warn_one_class(ctx, &set, problem, result));
	if (g.similarity == KDRI_SIMILARITY_GAUSS)
		KDRI_TRY(kdri_result_number(ctx, result, "sigma", graph.sigma));
	if (graph.candidates)
		KDRI_TRY(kdri_result_number(ctx, result, "neighbour_candidates", (double)graph.candidates));
	kdri_result_stop(result, stop, iterations);
done:
	kdri_labelled_free(ctx, &set);
	kdri_graph_free(ctx, &graph);
	kdri_free(ctx, f);
	return st;
}
