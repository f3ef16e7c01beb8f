/* Declarations shared by the files of the k-means engine. SPDX-License-Identifier: BSD-3-Clause
 *
 * Distances. With rows x, centres c and a fixed point m (0, or the data's mean if it is far from the origin, to avoid
 * cancellation), c' = c - m:
 *     (E1)  |x - c|^2 = |x - m|^2 + v,     v = b - 2 x . c',     b = |c'|^2 + 2 m . c'
 * so that comparing centres needs v alone. v is computed the same way everywhere, and a sample's label is the lowest
 * index of the smallest computed v: this defines the partition, to the last bit.
 *
 * Rounding. In (E1) a product of d terms errs by at most d u |x| |c'|, u = 2^-53, and the other terms likewise. With |x|
 * <= |x - m| + |m|, M = |m| and R = max |c'| all of it together stays below
 *     (E2)  E = C (a |x - m|^2 + b0),   C = (d + 8) 2^-52
 *           dense:  a = 2, b0 = 3 R^2 + 4 M R
 *           sparse: a = 6, b0 = 6 R^2 + 12 M^2   (here |x - m|^2 itself comes from a product)
 * twice what the sum of the bounds needs.
 *
 * The rows may be a part of those to be clustered, with the others on other ranks (comm/comm.h): n local rows, `all`
 * in total. Everything about centres and all rows is then the same on every rank: sums of rows do not depend on their
 * order (comm/exact.h), so that labels, centres and objectives are the same for any number of ranks, bit for bit.
 * Ranks synchronise once per iteration: between assigning rows and new centres, with counts and sums of the rows they
 * have (kdri_km_join). */
#ifndef KDRI_KMEANS_WORK_H
#define KDRI_KMEANS_WORK_H

#include "comm/comm.h"
#include "engine/kmeans/kmeans.h"
#include "matrix/linalg.h"

/* --- inner loops: leaf functions without threads ------------------------------------------------ */

/* Rows are given as lists, because bounds exclude many rows. Centres are stored transposed in tiles of 8: lane j of tile t
 * and feature f is table[t * tile_step + f * feature_step + j]. */
enum { KDRI_LANES = 8 };

/* Starts on a cache line, so that a tile's feature is one line: see kdri_km_table_new. */
typedef struct kdri_km_table {
	double *at;
	double *room; /* the allocated memory */
	int64_t tile_step, feature_step;
} kdri_km_table;

/* The number of lanes that the products below process at a time on this machine, half a tile or complete tiles; fewer
 * lanes cost the same. */
int64_t kdri_km_reach(kdr_mat_kind kind);

/* Allocates `tiles` zeroed tiles of d features: tile after tile for dense rows, which pass along one tile; feature after
 * feature for sparse rows, whose entries need all tiles of a feature. */
kdr_status kdri_km_table_new(kdr_context *ctx, kdr_mat_kind kind, int64_t d, int64_t tiles,
                             kdri_km_table *out);

/* out[r * ldo + j] = row rows[r] . centre of lane first + j, for `lanes` lanes: complete tiles or, for dense rows if
 * the reach is half a tile, half of one. Each value is one sum over the features in increasing order: it does not
 * depend on the other rows, and is the same for a dense row and for the sparse row of its non-zero entries. */
void kdri_km_dots(const kdr_mat *x, const int64_t *rows, int64_t count, const kdri_km_table *table,
                  int64_t first, int64_t lanes, double *out, int64_t ldo);

/* Smallest and second smallest of v_j = offset[j] - twice[r] * dots[r * ldo + j], j < width, and the
 * lowest index that attains the smallest. `twice` NULL: all 2. */
void kdri_km_scan(const double *dots, int64_t ldo, int64_t count, int64_t width, const double *offset,
                  const double *twice, double *best, double *second, int32_t *arg);

/* out[r] = |s x_i - c_a|^2 for i = rows[r], a = label[i], s = scale[i] (NULL: 1). Dense: by differences.
 * Sparse: as sum s x (s x - 2 c) + norms[a], norms[a] = |c_a|^2, cut off at 0. */
void kdri_km_own(const kdr_mat *x, const int64_t *rows, int64_t count, const double *centres,
                 const double *norms, const int32_t *label, const double *scale, double *out);

/* A vector of sums in two parts, as comm/exact.h has them. */
typedef struct kdri_km_sums {
	const double *unit; /* t of each feature */
	double ratio;       /* t' / t */
	double *high, *low;
} kdri_km_sums;

/* to[f] += coef[r] * x[rows[r]][f] for all r; features f0 <= f < f1 (sparse: all of them). */
void kdri_km_add(const kdr_mat *x, const int64_t *rows, const double *coef, int64_t count, int64_t f0,
                 int64_t f1, const kdri_km_sums *to);

/* Traits of a centre, summed over some of its features. */
typedef struct kdri_traits {
	double moved;  /* |new - old|^2 */
	double square; /* |c|^2 */
	double offset; /* |c - shift|^2 + 2 shift . (c - shift) */
	double spread; /* |c - mean|^2, or s . c if mean is NULL */
} kdri_traits;

/* For count features: c = s / mass (mass 0: c stays), and c - shift (NULL: 0) into the table's lane. */
kdri_traits kdri_km_renew(double *c, const double *s, double mass, const double *shift, const double *mean,
                          double *lane, int64_t step, int64_t count);

/* Rows compared with candidates for a centre, each in a lane of a tile. */
typedef struct kdri_km_trial {
	const double *norm, *twice, *weight,
	        *near;      /* of each row: |x - m|^2; `twice` NULL: all 2; the least distance so far */
	const double *dots; /* rows x ldo: products */
	int64_t ldo;
	double *out;          /* rows x lanes: the least distances with each candidate */
	int64_t lanes;        /* a multiple of half a tile */
	const double *offset; /* of each lane: the constant of a distance, b of (E1) */
	double unit, base;    /* distances up to unit (6 (norm + offset) + base) are zero */
	double limit;         /* at least that of any row and candidate */
	double big, small;    /* t and t' of comm/exact.h */
	double *high, *low,
	        *most; /* of each lane: the sum of weighted distances in two parts, and the largest */
} kdri_km_trial;
void kdri_km_try(const kdri_km_trial *t, int64_t count);

/* --- a problem --------------------------------------------------------------------------------- */

/* Features of a centre that one thread renews at a time. */
enum { KDRI_KM_FEATURES = 256 };

typedef struct kdri_km {
	kdr_context *ctx;
	const kdr_mat *x;
	const double *weights; /* or NULL */
	int64_t n, d, k;
	int64_t all; /* rows of all ranks */
	int64_t groups_of_rows, *rows_of,
	        *first; /* of each group of local rows: their number, and the first one among all */
	int threads;    /* at most in a team; 1 if the work is too small for several */
	bool spherical, bounds;
	bool tight; /* a row's own distance costs less than a tile: lloyd.c */

	/* Of the data, fixed. */
	double *scale;       /* spherical: 1 / |x_i|, 0 for a zero row; else NULL */
	double *twice;       /* spherical: 2 scale; else NULL (all 2) */
	double *norm;        /* |x_i - m|^2; spherical: 1, or 0 for a zero row */
	double *mean;        /* of the rows, weighted */
	const double *shift; /* m of (E1): mean or NULL */
	double shift_norm;   /* |m|^2 */
	double total;        /* sum of w_i |x_i - mean|^2; spherical: sum of w_i (|x_i|^2 + 1) */
	double error_unit;   /* C of (E2) */
	int64_t distinct;    /* different rows, counted up to k */

	/* Of the centres. */
	double *centres, *sums, *best_centres; /* k x d */
	double *mass;                          /* total weight of each cluster */
	double *unit;           /* d + 1: t of (E101) in comm/exact.h for each feature, and for weights */
	double ratio;           /* t' / t there */
	double *exact;          /* k x 2 (d + 1): high and low parts of sums and mass, of the rows here */
	int64_t *here;          /* of `filled` those here */
	int64_t *filled;        /* samples of positive weight in each cluster */
	int64_t changed;        /* labels that differ from `before`, of all ranks */
	kdri_km_table table;    /* c', transposed */
	int32_t *lane, *centre; /* a centre's place in the table, and whose place it is */
	double *offset;         /* b of (E1), by place; infinite in the padding */
	double *squares;        /* |c|^2 */
	double *spread;         /* |c - mean|^2; spherical: s . c with s the cluster's sum */
	double *drift;          /* how far each centre moved, rounded up */
	kdri_traits *partial;   /* blocks of features x k */
	double radius;          /* R of (E2) */
	double error_row, error_base; /* a C and b0 C of (E2) */

	/* Of the samples. */
	int32_t *label, *before, *best_label;
	int64_t tiles, groups, group_lanes;
	double *upper, *lower; /* bounds, n and n x groups */
	double *top, *runner;  /* largest and second largest drift in each group */
	int32_t *top_at;       /* the centre with the largest */
	int64_t *moved;        /* per block of rows: labels that changed */

	/* Room for one thread each (scratch) and for the update. */
	double *scratch;
	int64_t scratch_size;
	uint8_t *need;
	int64_t *list; /* n rows, by cluster */
	double *coef;
	int64_t *begin; /* k + 1 */
	uint8_t *touched;
	double *distance; /* n, for relocation and the objective */

	/* The centres of starts from `seeded` on, `batch` of them at a time. */
	double *seeds;
	int64_t batch, seeded;

	struct kdri_km_device *on_device; /* rows and labels on an accelerator, or NULL */
} kdri_km;

/* The number of threads for a parallel region. */
static inline int kdri_km_team(const kdri_km *w)
{
	return w->threads > 1 ? kdri_team(w->ctx) : 1;
}

static inline int64_t kdri_km_blocks(const kdri_km *w)
{
	return (w->n + KDRI_BLOCK - 1) / KDRI_BLOCK;
}

static inline double kdri_km_weight(const kdri_km *w, int64_t i)
{
	return w->weights ? w->weights[i] : 1;
}

/* Whether row i can be, or define, a centre. */
static inline bool kdri_km_counts(const kdri_km *w, int64_t i)
{
	return (!w->weights || w->weights[i] > 0) && (!w->scale || w->scale[i] > 0);
}

/* E of (E2). */
static inline double kdri_km_error(const kdri_km *w, int64_t i)
{
	return w->error_row * w->norm[i] + w->error_base;
}

/* kmeans_data.c: allocation, norms, mean. kdri_km_close accepts the result of a failed kdri_km_open. */
typedef struct kdri_km_plan {
	int64_t k;
	bool spherical;
	kdri_kmeans_algorithm algorithm;
	int64_t groups; /* of bounds; 0: chosen */
	const int64_t *
	        rows_of; /* the rows are those of `tasks` tasks, one after the other, with rows_of[t] rows each;
			    NULL: of one */
	int64_t tasks;
} kdri_km_plan;
kdr_status kdri_km_open(kdr_context *ctx, const kdr_mat *x, const double *weights, const kdri_km_plan *plan,
                        kdri_km *w);
void kdri_km_close(kdri_km *w);
/* Updates the bounds of the terms of sums after w->scale was set from outside. */
kdr_status kdri_km_units(kdri_km *w);
/* out[i] = |x_i - c_label(i)|^2 for all rows. */
void kdri_km_distances(kdri_km *w, double *out);
/* Sum of w_i s_i x_i over the rows of all ranks, s_i of w->scale: d numbers. */
kdr_status kdri_km_row_sum(kdri_km *w, double *out);
/* Sum of w_i v[i] over the rows of all ranks. */
kdr_status kdri_km_total(const kdri_km *w, const double *v, double *out);

/* lloyd.c: assigns every row of this rank; `fresh` discards all bounds. */
void kdri_km_assign(kdri_km *w, bool fresh);
/* Groups nearby centres, which share bounds from now on. Call it before the first assignment. */
void kdri_km_group(kdri_km *w);
/* Brings table, offsets and error bounds in line with w->centres. */
void kdri_km_load_centres(kdri_km *w);
/* Gives clusters without samples the samples farthest from their centres; *moved: their number. */
kdr_status kdri_km_fill_empty(kdri_km *w, int64_t *moved);
/* Counts, sums and `touched` of the rows here from the labels: from scratch, or from those that differ from `before`, which
 * gives the same bits. */
void kdri_km_tally(kdri_km *w, bool all);
/* Then those of all ranks, with sums as numbers, masses and `changed`: of several problems in one exchange. Centres stay. */
kdr_status kdri_km_join(kdri_km *const *w, int64_t count);
/* `before` becomes the labels. */
void kdri_km_settle(kdri_km *w);
/* Only w->filled, from scratch. */
kdr_status kdri_km_count(kdri_km *w);
/* Centres from elsewhere (not spherical): fill() writes features f0..f1-1 of centre j, at most
 * KDRI_KM_FEATURES of them, to `out`; `now` are those it has now. Sets drift, so that bounds hold on. */
typedef void kdri_km_fill(void *user, int64_t j, int64_t f0, int64_t f1, const double *now, double *out);
void kdri_km_place(kdri_km *w, kdri_km_fill *fill, void *user);
/* New centres from w->sums, w->mass and w->touched. Sets drift. */
void kdri_km_from_sums(kdri_km *w);
/* The objective of labels and centres, in O(k). */
double kdri_km_objective(const kdri_km *w);

/* kmeans_device.c: rows and labels on an accelerator; used instead of kdri_km_assign, kdri_km_tally and kdri_km_settle. */
bool kdri_km_device_can(const kdr_mat *x, const double *weights, const kdri_kmeans_options *o);
kdr_status kdri_km_device_open(kdri_km *w, struct kdri_device *dev);
void kdri_km_device_close(kdri_km *w); /* accepts one that was never opened */
/* At the start of a run; `labelled`: from labels. */
kdr_status kdri_km_device_begin(kdri_km *w, bool labelled);
/* `first`: w->distance becomes the distance of each row, rounded up as in lloyd.c. */
kdr_status kdri_km_device_assign(kdri_km *w, bool first);
/* w->here and w->changed, from the labels on the device. */
kdr_status kdri_km_device_count(kdri_km *w);
/* w->sums, w->mass and w->touched: from scratch, or from the labels that changed. Then `before` is the labels. */
kdr_status kdri_km_device_sums(kdri_km *w, bool all);
/* Labels (and those before) to the host, and back. */
kdr_status kdri_km_device_fetch(kdri_km *w, bool before);
kdr_status kdri_km_device_send(kdri_km *w);

/* kmeanspp.c: rows drawn at random. */
typedef struct kdri_km_shares {
	int64_t *share; /* of each row here: its weight in units */
	int64_t *
	        before; /* of each group of rows here: the shares before it, in the order of all ranks' rows */
	int64_t *own;   /* and its own */
	int64_t total;  /* of all rows */
} kdri_km_shares;
kdr_status kdri_km_shares_new(const kdri_km *w, kdri_km_shares *s);
void kdri_km_shares_free(const kdri_km *w, kdri_km_shares *s);
/* Shares in proportion to n weights. */
kdr_status kdri_km_shares_set(const kdri_km *w, const double *weights, kdri_km_shares *s);
/* A row of this rank with probability share / total; -1: it belongs to another rank. */
int64_t kdri_km_shares_draw(const kdri_km *w, const kdri_km_shares *s, kdri_rng *rng);

/* The first few of a random order of many. */
typedef struct kdri_shuffle {
	int64_t *place, *is; /* provided by the caller, need not be zeroed: as many as will be requested */
	int64_t changed;     /* 0 at first */
} kdri_shuffle;
/* Element j of a random order of 0 .. count - 1; call it for j = 0, 1, ... in turn. */
int64_t kdri_shuffle_next(kdri_shuffle *s, int64_t j, int64_t count, kdri_rng *rng);

/* k start centres each, of several problems, or starts of a problem, in step. */
typedef struct kdri_km_seed {
	kdri_km *w;
	kdri_rng rng;
	double *centres; /* k x d */
} kdri_km_seed;
kdr_status kdri_km_plusplus(const kdri_km_seed *seeds, int64_t count);
kdr_status kdri_km_random(kdri_km *w, kdri_rng *rng, double *centres);
/* At most this many starts of a problem share a pass over its rows. */
enum { KDRI_KM_STARTS = 4 };
/* Candidates for a centre. */
static inline int64_t kdri_km_trials(int64_t k)
{
	return 2 + (int64_t)log((double)k);
}

#endif
