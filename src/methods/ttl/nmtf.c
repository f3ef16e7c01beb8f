/* NMTF: two data sets that share feature clusters. SPDX-License-Identifier: BSD-3-Clause
 *
 * A single tri-factorisation, two of which are coupled in ttl [TSZY15, eq. 6]:
 *
 *   (E1)  min  w_s |X_s' - [F1 F2s] [A1; A2s] G_s'|^2 + w_t |X_t' - [F1 F2t] [A1; A2t] G_t'|^2
 *
 * over F, A, G >= 0 with G_s one-hot and constant, by the steps of trifactor.c. Without a bridge this is the paper's setting ST.
 * With one it is SIT: (E1) for source and bridge first, then, with the bridge's likeliest classes treated as known,
 * for bridge and target. Unlike in ttl, nothing flows back from the target.
 *
 * F1, F2   side.f      A1, A2   side.a     G   set.g      p1, p2  options      w   *_weight */
#include "api/method.h"
#include "methods/ttl/ttl.h"

static const char stage[] = "nmtf";

static const kdr_option_desc options_table[] = {
	KDRI_OPTIONS_BRIDGING,
	KDRI_OPTION_TERM("source_weight", "labelled data set"),
	KDRI_OPTION_TERM("target_weight", "unlabelled data set"),
	{ .name = NULL },
};

static const kdr_field_desc fields_table[] = {
	KDRI_ARRAY("probabilities", KDR_FLOAT64, "n x classes",
	           "probability of each class, for targets and the bridge", .per_task = true,
	           .scoring = KDR_SCORING_SHARES),
	KDRI_FIELDS_CLUSTERS("target", "the target and the data set it is labelled from"),
	{ .name = NULL },
};

static const char *const references_table[] = {
	"B. Tan, Y. Song, E. Zhong, Q. Yang: Transitive transfer learning. KDD 2015.",
	NULL,
};

/* One stage: labelled rows to others. g: the start on entry, the labels on return. */
typedef struct leg {
	const kdr_mat *from, *to;
	const int64_t *labels, *known; /* known may be NULL */
	double *g;
} leg;

static kdr_status run_leg(kdr_context *ctx, const leg *l, int64_t classes, const kdr_options *options,
                          bool last, kdr_result *result, kdri_bridging_report *report)
{
	kdr_status st;
	kdri_tri t = { 0 };
	const kdri_tri_shape shape = {
		.classes = classes,
		.p1 = kdri_opt_int(options, "p1"),
		.p2 = kdri_opt_int(options, "p2"),
		.norm = (kdri_tri_norm)kdri_opt_choice(options, "norm"),
		.sides = 1,
		.sets = 2,
		.datas = 2,
		.data = { { l->from, 0 }, { l->to, 1 } },
		.side = { { { 0, 1 },
		            { kdri_opt_real(options, "source_weight"),
		              kdri_opt_real(options, "target_weight") } } },
		.constant = { true, false },
	};
	KDRI_TRY(kdri_tri_new(ctx, &shape, &t));
	for (int64_t i = 0; i < t.set[0].n; i++)
		t.set[0].g[i * t.c + l->labels[i]] = 1;
	kdri_bridging_put(&t, 1, l->to, l->known, l->g);
	KDRI_TRY(kdri_bridging_sweeps(ctx, &t, options, stage, last ? result : NULL, report)); /* (E1) */
	kdri_bridging_fill(&t, 1, l->g);
	memcpy(l->g, t.set[1].g, (size_t)(t.set[1].n * t.c) * sizeof *l->g);
	if (last)
		KDRI_TRY(kdri_bridging_clusters(ctx, &t, 0, "target", result));
done:
	kdri_tri_free(ctx, &t);
	return st;
}

static kdr_status nmtf_fit(kdr_context *ctx, const kdr_problem *problem, const kdr_options *options,
                           kdr_result *result)
{
	kdr_status st;
	kdri_bridging s = { .source.view = kdr_mat_from_dense(NULL, 0, 0),
		            .target.view = kdr_mat_from_dense(NULL, 0, 0) };
	double *bridge = NULL, *target = NULL, *start = NULL;
	int64_t *labels = NULL;
	kdri_bridging_report first = { .stop = KDR_STOP_CONVERGED }, report;
	KDRI_TRY(kdri_bridging_new(ctx, problem, false, &s));
	int64_t n = s.bridge >= 0 ? kdr_mat_rows(&s.view[0]) : 0;
	KDRI_TRY(KDRI_NEW(ctx, &bridge, n * s.classes));
	KDRI_TRY(KDRI_NEW(ctx, &labels, n));
	KDRI_TRY(KDRI_NEW(ctx, &target, kdr_mat_rows(&s.target.view) * s.classes));
	KDRI_TRY(kdri_bridging_start(ctx, &s, options, bridge, target));
	leg l = { &s.source.view, &s.target.view, s.labels, s.known, target };
	if (s.bridge >= 0) {
		const leg before = { &s.source.view, &s.view[0], s.labels, NULL, bridge };
		KDRI_TRY(run_leg(ctx, &before, s.classes, options, false, result, &first));
		kdri_likeliest(bridge, n, s.classes, labels);
		l.from = &s.view[1];
		l.labels = labels;
		if (kdri_opt_choice(options, "init") == KDRI_BRIDGING_LOGREG)
			KDRI_TRY(kdri_bridging_teach(ctx, &s, labels, target));
	}
	int64_t size = kdr_mat_rows(&s.target.view) * s.classes;
	KDRI_TRY(KDRI_NEW(ctx, &start, size));
	memcpy(start, target, (size_t)size * sizeof *start);
	KDRI_TRY(run_leg(ctx, &l, s.classes, options, true, result, &report));
	if (kdri_opt_choice(options, "init") == KDRI_BRIDGING_LOGREG && report.iterations > 0)
		KDRI_TRY(kdri_bridging_identity(ctx, &s, bridge, start, target, result));
	KDRI_TRY(kdri_bridging_result(ctx, &s, bridge, target, result));
	KDRI_TRY(kdri_result_number(ctx, result, "objective_start", report.start));
	if (s.bridge >= 0)
		KDRI_TRY(kdri_result_number(ctx, result, "bridge_iterations", (double)first.iterations));
	kdri_result_stop(result, first.stop > report.stop ? first.stop : report.stop, report.iterations);
done:
	KDRI_FREE(ctx, bridge, target, start, labels);
	kdri_bridging_free(ctx, &s);
	return st;
}

const kdri_algo kdri_algo_nmtf = {
	.info = { .id = "nmtf",
	          .class_name = "NMTF",
	          .title = "Non-negative matrix tri-factorisation",
	          .summary =
	                  "labels a target through feature clusters shared with the source; with a bridge, in two stages",
	          .objective =
	                  "J = w_s |X_s - [F1 F2_s] [A1; A2_s] G_s'|^2 + w_t |X_t - [F1 F2_t] [A1; A2_t] G_t'|^2, all factors >= 0\n"
	                  "with a bridge: first for source and bridge, then for bridge and target\n"
	                  "X      data sets in columns (features x samples): s source, t target\n"
	                  "F      feature clusters: F1 shared by both data sets of a pair, F2 of one data set\n"
	                  "A      classes of the feature clusters: A1 shared, A2 of one data set\n"
	                  "G      classes of the samples; G_s is one-hot and constant\n"
	                  "w      weights (options source_weight and so on; 1 by default)",
	          .steps =
	                  "1. F, then A: multiply each entry by the ratio of the gradient's negative and positive parts\n"
	                  "2. G_t in the same way\n"
	                  "3. divide the columns of F by their sums, and multiply the rows of A by them",
	          .use = "Word counts: documents of source and target use common groups of words.",
	          .cost = "O(nnz c + (d + n) p c) operations per sweep, c classes and p feature clusters; memory O(nnz + (d + n) (p + c)).",
	          .family = KDR_FAMILY_TRANSFER,
	          .flags = KDR_ALGO_JOINT | KDR_ALGO_NONNEG | KDR_ALGO_BRIDGE | KDR_ALGO_SWEEPS,
	          .options = options_table,
	          .fields = fields_table,
	          .references = references_table },
	.fit = nmtf_fit,
	.ranks = true,
};
