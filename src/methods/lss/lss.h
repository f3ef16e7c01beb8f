/* Learning a shared subspace: what LSSMTC, LSSTTC and ASI share. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_LSS_H
#define KDRI_LSS_H

#include "api/method.h"
#include "matrix/range.h"

/* The W step of LSSMTC, LSSTTC and ASI: the subspace in which clusters are tight. */

typedef struct kdri_subspace_options {
	int64_t l;      /* directions wanted */
	int64_t c;      /* columns Z will have: clusters */
	bool automatic; /* l may be lowered to the rank of the data; false: a larger l is an error */
	double eps;     /* weight of the total scatter */
	bool full; /* search in the entire feature space, as in the paper; false: in the range of the data */
	double energy; /* fraction of |X|^2 that the range must contain */
} kdri_subspace_options;

typedef struct kdri_subspace {
	kdri_subspace_options options;
	const kdr_mat *x; /* the data, borrowed: n x d */
	int64_t l;        /* directions sought */
	bool direct;      /* directly on X, without factorisation */
	kdri_range range; /* else: the range of X */
	kdri_held *held;  /* X, if a device multiplies it */
	kdri_own rotated; /* X in the coordinates of its range, if that is smaller; otherwise empty */
	double *last;     /* the last result, from which the next search starts */
	bool has_last;
	bool tried;       /* the factorisation, after a direct step that found too few directions */
	bool unconverged; /* some step did not reach its tolerance */
} kdri_subspace;

kdr_status kdri_subspace_new(kdr_context *ctx, const kdr_mat *x, const kdri_subspace_options *options,
                             kdri_subspace *out);
void kdri_subspace_free(kdr_context *ctx, kdri_subspace *s);

/* The matrix to iterate on: the data themselves, or the data in fewer coordinates. `dim` columns. */
const kdr_mat *kdri_subspace_data(const kdri_subspace *s);
int64_t kdri_subspace_dim(const kdri_subspace *s);

/* W (dim x l): the l lowest eigenvectors of (1 - eps) X'X - Z Z', Z = X'P (P'P)^-1/2 of dim x c. */
kdr_status kdri_subspace_solve(kdr_context *ctx, kdri_subspace *s, const double *z, double *w);

/* W in features (d x l) from W in coordinates (dim x l); and back. */
kdr_status kdri_subspace_features(kdr_context *ctx, const kdri_subspace *s, const double *w, double *out);
kdr_status kdri_subspace_coordinates(kdr_context *ctx, const kdri_subspace *s, const double *w, double *out);

/* Numbers about the subspace of a task, or of all (-1): rank, energy, how it was found; and warnings. */
kdr_status kdri_subspace_report(kdr_context *ctx, const kdri_subspace *s, int64_t task, kdr_result *result);
kdr_status kdri_subspace_warn(kdr_context *ctx, const kdri_subspace *s, kdr_result *result);

/* Learning a shared subspace: the engine of LSSMTC and LSSTTC. */

/* All tasks stacked: task t has rows begin[t] .. begin[t + 1] - 1 of x. Everything is borrowed. */
typedef struct kdri_lss_problem {
	const kdr_mat *x;
	int64_t ntasks, c;
	const int64_t *begin;  /* ntasks + 1 */
	const int64_t *labels; /* one per row, 0..c-1: the initial P */
	const bool *fixed;     /* task t is a labelled source: its P is one-hot and fixed; NULL: no task is */
} kdri_lss_problem;

typedef struct kdri_lss_options {
	double lambda;
	kdri_subspace_options subspace;
	bool root;     /* the square root in the P step; false: as in the paper */
	double soften; /* added to the one-hot start */
	int64_t max_iter;
	double tol;
	const char *stage; /* name for progress events */
	const double *w0; /* d x l, orthonormal: W at the start; NULL: the W step applied to the start of P */
} kdri_lss_options;

typedef struct kdri_lss {
	int64_t l;
	double *p;        /* n x c */
	int64_t *labels;  /* n */
	double *w;        /* d x l */
	double *shared;   /* c x l: M', the shared centres */
	double *embedded; /* n x l: the samples in the subspace */
	double *start;    /* 3: objective, within, across at the start */
	double *trace;    /* iterations x 3 */
	int64_t iterations, room;
	kdr_stop stop;
	kdri_subspace subspace;
} kdri_lss;

kdr_status kdri_lss_run(kdr_context *ctx, const kdri_lss_problem *problem, const kdri_lss_options *options,
                        kdri_lss *out);
void kdri_lss_free(kdr_context *ctx, kdri_lss *run);

/* Multiplies memberships p (n x c) by the factor of the P step, given a = A (n x c) and b = B (c x c). */
kdr_status kdri_lss_update(kdr_context *ctx, int64_t n, int64_t c, const double *a, const double *b,
                           bool root, double *p);

/* --- the result: lss.c ------------------------------------------------------------------- */

extern const char *const kdri_subspace_choices[];

/* clang-format off */
#define KDRI_SUBSPACE_OPTIONS \
	KDRI_REAL("eps", 0.5, 0, 1, \
	          "reward for variance in the subspace, which avoids directions without any; 0: as in the paper", \
	          .symbol = "eps"), \
	KDRI_CHOICE("subspace", 0, kdri_subspace_choices, \
	            "where the subspace is searched: in the range of the data, or in the entire feature space as in the paper"), \
	KDRI_REAL("energy", 1, 0, 1, \
	          "fraction of the data's squared norm in the leading directions in which the subspace is searched", \
	          .open_min = true)
/* clang-format on */

/* Options, arrays and results that both methods share. */
/* clang-format off */
#define KDRI_LSS_OPTIONS \
	KDRI_REAL("lambda", 0.25, 0, 1, \
	          "weight of each data set's own clusters in the feature space; 1: the data sets share nothing", \
	          .symbol = "lambda"), \
	KDRI_INT("l", 0, 0, 1e6, \
	         "number of directions of the shared subspace; 0: the number of clusters", .automatic = "k", .symbol = "l"), \
	KDRI_SUBSPACE_OPTIONS, \
	KDRI_BOOL("root", 1, \
	          "take the square root in the update of P; false: as in the paper, which may oscillate for ever"), \
	KDRI_REAL("soften", 0.2, 0, 1, "added to the one-hot initial P, since zeros stay zero")
/* clang-format on */
/* clang-format off */
#define KDRI_LSS_FIELDS \
	KDRI_ARRAY("P", KDR_FLOAT64, "n x k", "memberships of the samples", .per_task = true, .scoring = KDR_SCORING_SHARES), \
	KDRI_ARRAY("W", KDR_FLOAT64, "d x l", "directions of the shared subspace", .in_model = true), \
	KDRI_ARRAY("shared_centres", KDR_FLOAT64, "k x l", \
	           "cluster centres in the shared subspace", .in_model = true), \
	KDRI_ARRAY("centres", KDR_FLOAT64, "k x d", \
	           "cluster centres of the data set in the feature space", .per_task = true, .in_model = true), \
	KDRI_ARRAY("embedding", KDR_FLOAT64, "n x l", "samples in the shared subspace", .per_task = true, .common_space = true), \
	KDRI_ARRAY("within", KDR_FLOAT64, "iterations + 1", \
	           "the data sets' own part of the objective, unweighted; the first value is the start"), \
	KDRI_ARRAY("across", KDR_FLOAT64, "iterations + 1", \
	           "the shared part of the objective, unweighted; the first value is the start"), \
	KDRI_ARRAY("top_direction", KDR_INT64, "l x 10", \
	           "features with the largest weights in each shared direction"), \
	KDRI_ARRAY("top_cluster", KDR_INT64, "k x 10", \
	           "features that distinguish each shared cluster from the mean of the clusters"), \
	{ .name = NULL }
/* clang-format on */

/* The engine's options as set; l 0 becomes `c`. */
kdri_lss_options kdri_lss_read_options(const kdr_options *options, int64_t c, const char *stage);
kdri_subspace_options kdri_subspace_read_options(const kdr_options *options, int64_t c);

/* Stores everything except labels and correspondence. tasks[t] is the result's number of stacked task t. */
kdr_status kdri_lss_put(kdr_context *ctx, const kdri_lss_problem *problem, const kdri_lss *run,
                        const int64_t *tasks, kdr_result *result);

/* Nearest in the mixed metric lambda |x - centre|^2 + (1 - lambda) |W'x - shared centre|^2. */
kdr_status kdri_lss_predict(kdr_context *ctx, const kdr_result *fitted, const kdr_options *options,
                            int64_t task, const kdr_mat *x, int64_t *labels);

#endif
