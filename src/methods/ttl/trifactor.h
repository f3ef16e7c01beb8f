/* Coupled non-negative tri-factorisations. SPDX-License-Identifier: BSD-3-Clause
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
#ifndef KDRI_TRIFACTOR_H
#define KDRI_TRIFACTOR_H

#include "matrix/linalg.h"

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
 * trifactor_labels.h.) After each, kdri_tri_objective is up to date. */
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

#endif
