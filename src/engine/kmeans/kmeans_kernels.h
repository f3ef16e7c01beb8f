/* The inner loops of k-means. SPDX-License-Identifier: BSD-3-Clause
 *
 * Leaf functions without threads. Rows are given as lists, because bounds exclude many rows. Centres are stored
 * transposed in tiles of 8: lane j of tile t and feature f is table[t * tile_step + f * feature_step + j].
 * Equations are those of kmeans_work.h. */
#ifndef KDRI_KMEANS_KERNELS_H
#define KDRI_KMEANS_KERNELS_H

#include "core/internal.h"

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
/* most[f] = max(most[f], |coef[i] x[i][f]|) over rows begin <= i < end; coef NULL: ones. */
void kdri_km_most(const kdr_mat *x, int64_t begin, int64_t end, const double *coef, double *most);

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
	const double *offset; /* of each lane: the constant of a distance, b in kmeans_work.h */
	double unit, base;    /* distances up to unit (6 (norm + offset) + base) are zero */
	double limit;         /* at least that of any row and candidate */
	double big, small;    /* t and t' of comm/exact.h */
	double *high, *low,
	        *most; /* of each lane: the sum of weighted distances in two parts, and the largest */
} kdri_km_trial;
void kdri_km_try(const kdri_km_trial *t, int64_t count);

/* out[i] = |x_i - shift|^2, rows begin <= i < end; shift NULL: 0. shift_norm = |shift|^2. */
void kdri_km_norms(const kdr_mat *x, int64_t begin, int64_t end, const double *shift, double shift_norm,
                   double *out);

#endif
