/* What the files of ttl and nmtf share. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_TTL_H
#define KDRI_TTL_H

#include "api/method.h"
#include "matrix/linalg.h"

/* The input of a pass: one side, with its current A and G'G. */
typedef struct kdri_tri_pass {
	const double *at;    /* c x q: A transposed */
	const double *b[2];  /* m x c: X'G */
	const double *s[2];  /* c x c: G'G */
	const double *scale; /* q: what F is multiplied with in the last pass */
	double weight[2];
	double *f, *h[2];
	int64_t m, c, p1, p2, q;
	unsigned steps;
} kdri_tri_pass;

/* Room for the sums of one chunk, and how they follow each other. */
typedef struct kdri_tri_sums {
	int64_t num1, den1;       /* p1 x c: F1' sum w B and F1' sum w H S */
	int64_t num2[2], den2[2]; /* p2 x c: F2'B and F2'HS of each data set */
	int64_t columns;          /* q */
	int64_t gram[2];          /* c x c: H'H */
	int64_t work;             /* beyond the sums: 10 c, for one panel */
	int64_t size;
} kdri_tri_sums;
kdri_tri_sums kdri_tri_sums_of(int64_t c, int64_t p1, int64_t p2);

/* Lanes of a sum on this machine, at most KDRI_TRI_LANES. */
int kdri_tri_sum_lanes(void);

/* Panels begin..end-1. `room` has sums.size times KDRI_TRI_LANES numbers, where sum i begins at number
 * i kdri_tri_sum_lanes(); each pass zeroes and fills its own:
 * 1  F steps, then num1, den1, num2 and columns    2  den2    3  F scaled, H written, gram */
void kdri_tri_pass1(const kdri_tri_pass *p, int64_t begin, int64_t end, const kdri_tri_sums *sums,
                    double *room);
void kdri_tri_pass2(const kdri_tri_pass *p, int64_t begin, int64_t end, const kdri_tri_sums *sums,
                    double *room);
void kdri_tri_pass3(const kdri_tri_pass *p, int64_t begin, int64_t end, const kdri_tri_sums *sums,
                    double *room);

/* Coupled non-negative tri-factorisations.
 *
 * A side is two data sets that share feature clusters; a set of labels may belong to data sets of both sides and thereby
 * couples them. ttl has two sides (source with bridge, bridge with target), nmtf one.
 *
 *     kdri_tri t = { 0 };
 *     KDRI_TRY(kdri_tri_new(ctx, &shape, &t));
 *     ... fill t.side[s].f and .a with kdri_tri_put_*, or kdri_tri_random, and t.set[k].g
 *     KDRI_TRY(kdri_tri_start(ctx, &t));
 *     KDRI_TRY(kdri_tri_sweep(ctx, &t));   again and again; kdri_tri_objective(&t) after each
 *     kdri_tri_free(ctx, &t); */

typedef enum kdri_tri_norm {
	KDRI_TRI_RESCALE_G, /* column sums of F go into A; rows of G are scaled to sum 1 */
	KDRI_TRI_RESCALE,   /* only the first: the objective never increases */
	KDRI_TRI_MM,        /* G moves within the simplex: the objective never increases */
	KDRI_TRI_PAPER      /* F and G are scaled without compensation */
} kdri_tri_norm;

enum { KDRI_TRI_SIDES = 2, KDRI_TRI_SETS = 3, KDRI_TRI_DATA = 4 };

/* What is to be factorised; matrices are borrowed. */
typedef struct kdri_tri_shape {
	int64_t classes, p1, p2;
	kdri_tri_norm norm;
	int sides, sets, datas;
	struct {
		const kdr_mat *x;
		int set; /* the labels of its rows */
	} data[KDRI_TRI_DATA];
	struct {
		int data[2];
		double weight[2];
	} side[KDRI_TRI_SIDES];
	bool constant[KDRI_TRI_SETS]; /* labels that never change */
} kdri_tri_shape;

/* One factorised matrix. */
typedef struct kdri_tri_data {
	kdr_mat x;
	kdri_own columns; /* sparse x that is multiplied in every sweep: x' */
	double square;    /* |X|^2 */
	double *b;        /* m x c: X'G; stored after its set's G'G */
	int set;
} kdri_tri_data;

/* F in panels: feature i, cluster j at ((i / LANES) q + j) LANES + i % LANES. The q = p1 + 2 p2 clusters are the shared
 * ones, those of the first data set, those of the second. A: q x c. */
enum { KDRI_TRI_LANES = 8 };
typedef struct kdri_tri_side {
	int64_t m, panels;
	int data[2];
	double weight[2];
	double *f, *a;
	double *h[2];       /* m x c: F A of each data set */
	double *gram[2];    /* c x c: H'H */
	double *column_sum; /* q: of F */
} kdri_tri_side;

typedef struct kdri_tri_set {
	int64_t n;
	bool constant;
	bool *fixed;     /* n: rows that are fixed */
	double *g, *num; /* n x c */
	double *gram;    /* c x c: G'G */
	int64_t sums;    /* numbers from there on that are sums over rows */
} kdri_tri_set;

typedef struct kdri_tri {
	int64_t c, p1, p2, q;
	kdri_tri_norm norm;
	int sides, sets, datas;
	kdri_tri_data data[KDRI_TRI_DATA];
	kdri_tri_side side[KDRI_TRI_SIDES];
	kdri_tri_set set[KDRI_TRI_SETS];
	double *at;               /* c x q: A transposed */
	double *partial;          /* sums of chunks */
	double *spare;            /* m x c of the widest data set */
	double *other;            /* n x c of the longest */
	double *quadratic, *rows; /* c x c; 2 c for each block of rows */
} kdri_tri;

kdr_status kdri_tri_new(kdr_context *ctx, const kdri_tri_shape *shape, kdri_tri *out);
void kdri_tri_free(kdr_context *ctx, kdri_tri *t);

/* F and A of all sides from (seed, "trifactor", stream): F uniform with columns that sum to 1, A uniform. */
void kdri_tri_random(kdr_context *ctx, kdri_tri *t, uint64_t stream);
/* Columns begin.. of F (m x count, row-major). */
void kdri_tri_get_f(const kdri_tri *t, int side, int64_t begin, int64_t count, double *f);

/* After F, A and G were set: everything derived from them. */
kdr_status kdri_tri_start(kdr_context *ctx, kdri_tri *t);
/* One sweep: the steps of each side, of each set of labels, and the normalisation. */
kdr_status kdri_tri_sweep(kdr_context *ctx, kdri_tri *t);
double kdri_tri_objective(const kdri_tri *t);

/* The pieces of a sweep, for tests: any of these steps of a side in this order; the normalisation. (A set's G:
 * ttl.h.) After each, kdri_tri_objective is up to date. */
enum {
	KDRI_TRI_F1 = 1,
	KDRI_TRI_F2A = 2,
	KDRI_TRI_F2B = 4,
	KDRI_TRI_A1 = 8,
	KDRI_TRI_A2A = 16,
	KDRI_TRI_A2B = 32,
	KDRI_TRI_ALL = 63
};
void kdri_tri_side_step(kdr_context *ctx, kdri_tri *t, int side, unsigned steps);
kdr_status kdri_tri_normalise(kdr_context *ctx, kdri_tri *t);

/* The labels of a tri-factorisation. */

/* G of a set from the F and A of its data sets; rows that are fixed stay. */
kdr_status kdri_tri_update_g(kdr_context *ctx, kdri_tri *t, int set);
/* G'G, and X'G of every data set with these labels, over the rows of all ranks. */
kdr_status kdri_tri_refresh(kdr_context *ctx, kdri_tri *t, int set);

/* Sources, bridge and targets in the form that the tri-factorisations of ttl and nmtf need. */

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
/* bridging.c: labels of the rows whose class is certain enough according to p (n x c) to be used for training, a
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

/* bridging_start.c: checks after the sweeps which class of the target is which and reorders columns of g_target that
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
