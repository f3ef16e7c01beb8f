/* Prototypes by transport, as a method. SPDX-License-Identifier: BSD-3-Clause
 *
 * Tasks are projected on the directions they share, each minus its own mean (engine/linear/aligned.c). The sources'
 * class means are the first prototypes. The targets' samples are transported to them, and each prototype moves to the
 * mean of the samples it received, for several rounds (engine/transport/prototypes.c):
 *     (E1)  the plan's row of a sample, scaled to sum 1, has the probability of each class. */
#include "engine/transport/prototypes.h"
#include "methods/aligned/aligned_tasks.h"

static const kdr_option_desc options_table[] = {
	KDRI_OPTION_DIRECTIONS,
	KDRI_REAL(
	        "blur", 0.1, 0, 1e6,
	        "weight of the transport plan's entropy relative to its cost; if large, all classes are equally likely",
	        .open_min = true),
	KDRI_INT("rounds", 8, 1, 1e6, "number of times the prototypes are moved"),
	KDRI_INT("steps", 50, 1, 1e6, "number of steps of each transport computation"),
	{ .name = NULL },
};

static const kdr_field_desc fields_table[] = {
	KDRI_ARRAY("probabilities", KDR_FLOAT64, "n x classes", "probability of each class", .per_task = true,
	           .scoring = KDR_SCORING_SHARES),
	{ .name = NULL },
};

static const char *const references_table[] = {
	"M. Cuturi: Sinkhorn distances: lightspeed computation of optimal transport. NIPS 2013.",
	"N. Courty, R. Flamary, D. Tuia, A. Rakotomamonjy: Optimal transport for domain adaptation. IEEE TPAMI "
	"39:1853-1865, 2017.",
	NULL,
};

static kdr_status ot_prototypes_fit(kdr_context *ctx, const kdr_problem *problem, const kdr_options *options,
                                    kdr_result *result)
{
	kdr_status st;
	kdri_aligned_tasks t = { .d.set.x.view = kdr_mat_from_dense(NULL, 0, 0) };
	double *mu = NULL, *unlabelled = NULL, *p = NULL, *found = NULL;
	int64_t at = 0;
	KDRI_TRY(kdri_aligned_tasks_new(ctx, problem, kdri_opt_int(options, "directions"), result, &t));
	int64_t c = t.d.classes, w = t.width;
	KDRI_TRY(KDRI_NEW0(ctx, &mu, c * w));
	KDRI_TRY(KDRI_NEW(ctx, &unlabelled, KDRI_MAX(t.d.wanted, 1) * w));
	KDRI_TRY(KDRI_NEW0(ctx, &p, t.d.n * c));
	KDRI_TRY(KDRI_NEW(ctx, &found, KDRI_MAX(t.d.wanted, 1) * c));
	for (int64_t i = 0; i < t.d.n; i++) {
		if (t.d.labels[i] >= 0)
			kdri_axpy(1, t.e + i * w, mu + t.d.labels[i] * w, w);
		if (t.d.unlabelled[i])
			memcpy(unlabelled + at++ * w, t.e + i * w, (size_t)w * sizeof *unlabelled);
	}
	const kdri_prototypes o = { .e = unlabelled,
		                    .n = t.d.wanted,
		                    .width = w,
		                    .classes = c,
		                    .share = t.d.share,
		                    .blur = kdri_opt_real(options, "blur"),
		                    .rounds = kdri_opt_int(options, "rounds"),
		                    .steps = kdri_opt_int(options, "steps") };
	if (t.d.wanted > 0)
		KDRI_TRY(kdri_prototypes_run(ctx, &o, mu, found));
	at = 0;
	for (int64_t i = 0; i < t.d.n; i++)
		for (int64_t k = 0; t.d.unlabelled[i] && k < c; k++)
			p[i * c + k] = found[at++]; /* (E1) */
	KDRI_TRY(kdri_domains_put(ctx, &t.d, p, "probabilities", result));
	bool stopped = ctx->cancelled || ctx->timed_out;
	kdri_result_stop(result, stopped ? kdri_stop_reason(ctx) : KDR_STOP_CONVERGED, o.rounds);
done:
	kdri_aligned_tasks_free(ctx, &t);
	KDRI_FREE(ctx, mu, unlabelled, p, found);
	return st;
}

const kdri_algo kdri_algo_ot_prototypes = {
	.info = { .id = "ot-prototypes",
	          .class_name = "OTPrototypes",
	          .title = "Prototypes by optimal transport",
	          .summary =
	                  "optimal transport of the target's samples to class prototypes, which are then moved to them",
	          .family = KDR_FAMILY_TRANSFER,
	          .options = options_table,
	          .fields = fields_table,
	          .references = references_table },
	.fit = ot_prototypes_fit,
};
