/* Sources, bridge and targets in the form that the tri-factorisations of ttl and nmtf need. SPDX-License-Identifier:
 * BSD-3-Clause */
#ifndef KDRI_BRIDGING_H
#define KDRI_BRIDGING_H

#include "api/method.h"
#include "methods/ttl/trifactor.h"

/* Rows to be labelled: those of this rank, their numbers among those of all ranks, and the total. */
typedef struct kdri_bridging_rows {
	int64_t n, all;
	int64_t *number;
} kdri_bridging_rows;

/* All sources below each other without their unlabelled rows, all targets below each other. The bridge has one
 * matrix for the source's features and one for the target's: two views of the same samples, or the same matrix. Of each set
 * these are the rows of this rank (comm/comm.h). */
typedef struct kdri_bridging {
	const kdr_problem *problem;
	int64_t classes;
	kdri_own source, target;
	int64_t *labels; /* of the source's rows */
	int64_t *known;  /* of the target's rows: a class, or -1 */
	int64_t bridge;  /* the task that is the bridge, or its first view; -1: there is none */
	kdr_mat view[2]; /* of the bridge: in the source's features, in the target's */
	bool same;       /* both views are one matrix */
	kdri_bridging_rows bridge_rows, target_rows;
} kdri_bridging;

/* Returns KDR_ERR_DATA or KDR_ERR_ARGUMENT with a message if something is wrong. needs_bridge: true for ttl. */
kdr_status kdri_bridging_new(kdr_context *ctx, const kdr_problem *problem, bool needs_bridge,
                             kdri_bridging *out);
void kdri_bridging_free(kdr_context *ctx, kdri_bridging *s);

/* The options of both methods. The default is twenty sweeps: starting from the chain, more sweeps make results worse
 * (docs/notes/through-a-bridge.md); starting from random classes, more are needed. */
enum { KDRI_BRIDGING_LOGREG, KDRI_BRIDGING_RANDOM, KDRI_BRIDGING_HALF };
extern const char *const kdri_bridging_norms[], *const kdri_bridging_inits[];
/* clang-format off */
#define KDRI_OPTIONS_BRIDGING \
	KDRI_INT("p1", 15, 1, 1e6, "number of feature clusters that two data sets share", .symbol = "p1"), \
	KDRI_INT("p2", 15, 0, 1e6, "number of feature clusters of each data set alone; 0: all are shared", .symbol = "p2"), \
	KDRI_CHOICE("norm", KDRI_TRI_RESCALE_G, kdri_bridging_norms, \
	            "rescaleG: move F's column sums into A and scale G's rows; rescale: leave G free; mm: keep G in the simplex; paper: only scale F and G"), \
	KDRI_CHOICE("init", KDRI_BRIDGING_LOGREG, kdri_bridging_inits, \
	            "initial classes: from logistic regressions along the chain, at random, or all equal"), \
	KDRI_MAX_ITER(20), \
	KDRI_TOL(1e-6), \
	KDRI_N_INIT(1)
/* clang-format on */

#define KDRI_OPTION_TERM(key, of) \
	KDRI_REAL(key, 1, 0, 1e6, "weight of the " of " in the objective", .open_min = true)

/* G (n x c) that a set starts from; every row sums to 1 and has no zero. */
kdr_status kdri_bridging_start(kdr_context *ctx, const kdri_bridging *s, const kdr_options *options,
                               double *g_bridge, double *g_target);
/* The target's G from the bridge's classes, as one step of that chain. */
kdr_status kdri_bridging_teach(kdr_context *ctx, const kdri_bridging *s, const int64_t *labels,
                               double *g_target);
/* bridging_surest.c: labels of the rows whose class is certain enough according to p (n x c) to be used for training, a
 * fraction `part` of each class; -1 for other rows. */
kdr_status kdri_bridging_surest(kdr_context *ctx, const kdri_bridging_rows *rows, const double *p, int64_t c,
                                const double *share, double part, int64_t *labels);
/* The likeliest class of each row, the first of equals. */
void kdri_likeliest(const double *p, int64_t n, int64_t c, int64_t *labels);

/* Fills a set of labels from `start` (n x c): known rows become one-hot and fixed; rows of x without an entry become 0
 * and fixed, because they carry no information. `known` may be NULL. */
void kdri_bridging_put(kdri_tri *t, int set, const kdr_mat *x, const int64_t *known, const double *start);

/* Restores the start of rows that the sweeps cannot label. */
void kdri_bridging_fill(kdri_tri *t, int set, const double *start);

typedef struct kdri_bridging_report {
	double start, value; /* objective */
	int64_t iterations;
	kdr_stop stop;
} kdri_bridging_report;
/* Sweeps from random F and A and the labels in t until the objective changes by less than tol or max_iter is reached; of
 * n_init such runs the one with the lowest objective stays in t. `trace` gets its values, or is NULL. */
kdr_status kdri_bridging_sweeps(kdr_context *ctx, kdri_tri *t, const kdr_options *options, const char *stage,
                                kdr_result *trace, kdri_bridging_report *report);

/* bridging_identity.c: checks after the sweeps which class of the target is which and reorders columns of g_target that
 * were swapped. start: the initial labels. Stores the number "identity", the certainty from 0 to 1. */
kdr_status kdri_bridging_identity(kdr_context *ctx, const kdri_bridging *s, const double *g_bridge,
                                  const double *start, double *g_target, kdr_result *result);

/* Labels and probabilities of targets and bridge from their G, whose rows need not sum to 1. */
kdr_status kdri_bridging_result(kdr_context *ctx, const kdri_bridging *s, const double *g_bridge,
                                const double *g_target, kdr_result *result);
/* clang-format off */
#define KDRI_FIELDS_CLUSTERS(of, between) \
	KDRI_ARRAY("shared_" of, KDR_FLOAT64, "d x p1", \
	           "weight of each feature in the clusters shared by " between), \
	KDRI_ARRAY("association_" of, KDR_FLOAT64, "p1 x classes", \
	           "weight of those clusters in each class"), \
	KDRI_ARRAY("top_" of, KDR_INT64, "p1 x 10", \
	           "the features with the largest weights in those clusters, as column numbers from 0")
/* clang-format on */
/* F1, A1 and the heaviest features of each shared cluster of a side, as arrays shared_<name>, association_<name>,
 * top_<name>. */
kdr_status kdri_bridging_clusters(kdr_context *ctx, const kdri_tri *t, int side, const char *name,
                                  kdr_result *result);

#endif
