/* Labels spread over a graph: what gfhf and llgc share. SPDX-License-Identifier: BSD-3-Clause */
#include "algo/spread/spread.h"
#include "api/method.h"

static kdr_status run(kdr_context *ctx, const kdr_problem *problem, const kdr_options *options,
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
	if (g.similarity == KDRI_SIMILARITY_GAUSS)
		KDRI_TRY(kdri_result_number(ctx, result, "sigma", graph.sigma));
	kdri_result_stop(result, stop, iterations);
done:
	kdri_labelled_free(ctx, &set);
	kdri_graph_free(ctx, &graph);
	kdri_free(ctx, f);
	return st;
}

kdr_status kdri_spread_fit(kdr_context *ctx, const kdr_problem *problem, const kdr_options *options,
                           kdri_spread *spread, kdr_result *result)
{
	const char *stage = kdr_options_algo(options)->id;
	kdri_stage_start(ctx, stage, kdri_opt_int(options, "max_iter"));
	kdr_status st = run(ctx, problem, options, spread, result);
	kdri_stage_end(ctx, stage);
	return st;
}
