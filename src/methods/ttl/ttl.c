/* TTL: transitive transfer learning. SPDX-License-Identifier: BSD-3-Clause
 *
 * [TSZY15] B. Tan, Y. Song, E. Zhong, Q. Yang: Transitive transfer learning. KDD 2015.
 *
 * Transfers labels from a source to a target that have little or nothing in common, through a set of unlabelled samples,
 * the bridge, that has something in common with both. Source and bridge share feature clusters (hat), bridge and target
 * share others (tilde), and the bridge's labels are the same in both [TSZY15, eqs. 7 and 8]:
 *
 *   (E1)  min  w_s |X_s' - [F1^ F2s] [A1^; A2s] G_s'|^2 + w_i |X_i' - [F1^ F2i] [A1^; A2i] G_i'|^2
 *            + w_j |X_j' - [F1~ F2j] [A1~; A2j] G_i'|^2 + w_t |X_t' - [F1~ F2t] [A1~; A2t] G_t'|^2
 *
 * over F, A, G >= 0, columns of F and rows of G summing to 1; G_s is one-hot and constant, and so are rows of G_t whose
 * class is known. X_i and X_j are the bridge in the features of the source and in those of the target: one matrix, or
 * two views of the same samples (text and images). trifactor.c has the steps, bridging_start.c where they begin.
 *
 *   (E2)  a sweep: F1^, F2s, F2i, A1^, A2s, A2i; F1~, F2j, F2t, A1~, A2j, A2t; G_i; G_t; normalisation     [TSZY15, alg. 1]
 *   (E3)  class of a row: the largest entry of its row of G, the first of equals
 *
 * DEVIATION: norms in (E1) are squared, as assumed by the paper's rules (eqs. 9, 12); table 3's hats are tildes, eq.
 * 9's (s, t) are (i, j), table 7's N_T G_T is N_I G_I, and the missing rules of A~ are those of A^. DEVIATION: the
 * factors removed by the normalisation of F are moved to A: see trifactor.c. `norm` = paper is literal. DEVIATION: p
 * = 30 clusters are split 15 + 15, which is the steadiest split on the paper's tasks. Rows without an entry (empty
 * documents) carry no information: they are excluded and keep their initial labels.
 *
 * F1, F2   side.f      A1, A2   side.a     G   set.g      p1, p2  options      w   *_weight */
#include "methods/ttl/ttl.h"
#include "api/method.h"

static const char stage[] = "ttl";

static const kdr_option_desc options_table[] = {
	KDRI_OPTIONS_BRIDGING,
	KDRI_OPTION_TERM("source_weight", "source"),
	KDRI_OPTION_TERM("bridge_source_weight", "bridge paired with the source"),
	KDRI_OPTION_TERM("bridge_target_weight", "bridge paired with the target"),
	KDRI_OPTION_TERM("target_weight", "target"),
	{ .name = NULL },
};

static const kdr_field_desc fields_table[] = {
	KDRI_ARRAY("probabilities", KDR_FLOAT64, "n x classes",
	           "probability of each class, for targets and the bridge", .per_task = true,
	           .scoring = KDR_SCORING_SHARES),
	KDRI_FIELDS_CLUSTERS("source", "source and bridge"),
	KDRI_FIELDS_CLUSTERS("target", "bridge and target"),
	{ .name = NULL },
};

static const char *const references_table[] = {
	"B. Tan, Y. Song, E. Zhong, Q. Yang: Transitive transfer learning. KDD 2015.",
	NULL,
};

/* The two sides of (E1). */
static kdri_tri_shape shape_of(const kdri_bridging *s, const kdr_options *options)
{
	int second = s->same ? 1 : 2, last = second + 1;
	kdri_tri_shape shape = {
		.classes = s->classes,
		.p1 = kdri_opt_int(options, "p1"),
		.p2 = kdri_opt_int(options, "p2"),
		.norm = (kdri_tri_norm)kdri_opt_choice(options, "norm"),
		.sides = 2,
		.sets = 3,
		.datas = last + 1,
		.side = { { { 0, 1 },
		            { kdri_opt_real(options, "source_weight"),
		              kdri_opt_real(options, "bridge_source_weight") } },
		          { { second, last },
		            { kdri_opt_real(options, "bridge_target_weight"),
		              kdri_opt_real(options, "target_weight") } } },
		.constant = { true, false, false },
	};
	shape.data[0].x = &s->source.view;
	shape.data[0].set = 0;
	shape.data[1].x = &s->view[0];
	shape.data[1].set = 1;
	shape.data[second].x = &s->view[s->same ? 0 : 1];
	shape.data[second].set = 1;
	shape.data[last].x = &s->target.view;
	shape.data[last].set = 2;
	return shape;
}

static kdr_status ttl_fit(kdr_context *ctx, const kdr_problem *problem, const kdr_options *options,
                          kdr_result *result)
{
	kdr_status st;
	kdri_bridging s = { .source.view = kdr_mat_from_dense(NULL, 0, 0),
		            .target.view = kdr_mat_from_dense(NULL, 0, 0) };
	kdri_tri t = { 0 };
	double *start[3] = { NULL, NULL, NULL };
	kdri_bridging_report report;
	KDRI_TRY(kdri_bridging_new(ctx, problem, true, &s));
	const kdri_tri_shape shape = shape_of(&s, options);
	KDRI_TRY(kdri_tri_new(ctx, &shape, &t));
	for (int k = 1; k < 3; k++)
		KDRI_TRY(KDRI_NEW(ctx, &start[k], t.set[k].n * t.c));
	KDRI_TRY(kdri_bridging_start(ctx, &s, options, start[1], start[2]));
	for (int64_t i = 0; i < t.set[0].n; i++)
		t.set[0].g[i * t.c + s.labels[i]] = 1;
	kdri_bridging_put(&t, 1, &s.view[0], NULL, start[1]);
	kdri_bridging_put(&t, 2, &s.target.view, s.known, start[2]);
	KDRI_TRY(kdri_bridging_sweeps(ctx, &t, options, stage, result, &report)); /* (E2) */
	kdri_bridging_fill(&t, 1, start[1]);
	kdri_bridging_fill(&t, 2, start[2]);
	if (kdri_opt_choice(options, "init") == KDRI_BRIDGING_LOGREG && report.iterations > 0)
		KDRI_TRY(kdri_bridging_identity(ctx, &s, t.set[1].g, start[2], t.set[2].g, result));
	KDRI_TRY(kdri_bridging_result(ctx, &s, t.set[1].g, t.set[2].g, result)); /* (E3) */
	KDRI_TRY(kdri_bridging_clusters(ctx, &t, 0, "source", result));
	KDRI_TRY(kdri_bridging_clusters(ctx, &t, 1, "target", result));
	KDRI_TRY(kdri_result_number(ctx, result, "objective_start", report.start));
	kdri_result_stop(result, report.stop, report.iterations);
done:
	for (int k = 1; k < 3; k++)
		kdri_free(ctx, start[k]);
	kdri_tri_free(ctx, &t);
	kdri_bridging_free(ctx, &s);
	return st;
}

const kdri_algo kdri_algo_ttl = {
	.info = { .id = "ttl",
	          .class_name = "TTL",
	          .title = "Transitive transfer learning",
	          .summary =
	                  "labels a distant target from a source, through a bridge that has something in common with both",
	          .objective =
	                  "J = w_s |X_s - [F1 F2_s] [A1; A2_s] G_s'|^2 + w_i |X_i - [F1 F2_i] [A1; A2_i] G_i'|^2\n"
	                  "  + w_j |X_j - [F3 F2_j] [A3; A2_j] G_i'|^2 + w_t |X_t - [F3 F2_t] [A3; A2_t] G_t'|^2, all factors >= 0\n"
	                  "i, j   the bridge, in the features of the source and in those of the target: one matrix or two views, with the same G_i\n"
	                  "F3, A3 shared by bridge and target, as F1 and A1 are by source and bridge\n"
	                  "X      data sets in columns (features x samples): s source, t target\n"
	                  "F      feature clusters: F1 shared by both data sets of a pair, F2 of one data set\n"
	                  "A      classes of the feature clusters: A1 shared, A2 of one data set\n"
	                  "G      classes of the samples; G_s is one-hot and constant\n"
	                  "w      weights (options source_weight and so on; 1 by default)",
	          .steps =
	                  "1. F, then A of both pairs: multiply each entry by the ratio of the gradient's negative and positive parts\n"
	                  "2. G_i, G_t in the same way\n"
	                  "3. divide the columns of F by their sums, and multiply the rows of A by them",
	          .use = "Source and target share few or no features, and a bridge shares features with both.",
	          .cost = "O(nnz c + (d + n) p c) operations per sweep, c classes and p feature clusters; memory O(nnz + (d + n) (p + c)).",
	          .place = KDR_PLACE_PAPER,
	          .family = KDR_FAMILY_TRANSFER,
	          .flags = KDR_ALGO_JOINT | KDR_ALGO_NONNEG | KDR_ALGO_BRIDGE | KDR_ALGO_SWEEPS,
	          .options = options_table,
	          .fields = fields_table,
	          .references = references_table },
	.fit = ttl_fit,
	.ranks = true,
};
