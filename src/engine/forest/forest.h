/* Forests of classification trees. SPDX-License-Identifier: BSD-3-Clause
 *
 *     kdri_forest_options o = kdri_forest_defaults();
 *     kdri_forest f = { 0 };
 *     KDRI_TRY(kdri_forest_fit(ctx, &x, labels, NULL, classes, &o, &f));
 *     KDRI_TRY(kdri_forest_predict(ctx, &f, &x, p));
 *     kdri_forest_free(ctx, &f);
 *
 * The result depends on the data, the options and the context's seed, but not on the number of threads. */
#ifndef KDRI_FOREST_H
#define KDRI_FOREST_H

#include "api/method.h"

typedef struct kdri_forest_options {
	int64_t trees;
	bool bootstrap;     /* each tree uses rows drawn with replacement; false: all rows */
	bool random_splits; /* one random threshold per feature that is tried (extremely randomised trees); false:
			       the best one */
	bool balanced;      /* classes have equal weight, whatever their number of rows */
	double features;   /* tried at each split, as a fraction of all; 0: the square root of their number */
	int64_t min_leaf;  /* minimum number of rows of a leaf */
	int64_t max_depth; /* 0: any */
	const char *stage; /* name for progress events; NULL: no events */
	uint64_t stream;   /* which random stream of the context's seed */
} kdri_forest_options;
/* 100 trees, bootstrap, best splits, balanced, square root, leaves of 5, any depth. */
kdri_forest_options kdri_forest_defaults(void);

/* A node of a tree. */
typedef struct kdri_forest_node {
	double threshold; /* rows up to it go left */
	int64_t feature;  /* -1: a leaf */
	int64_t child; /* number of the left child, which the right one follows; of a leaf: its row of `share` */
	int64_t missing_left; /* whether rows without a value go left */
} kdri_forest_node;

/* Owned. The nodes of all trees are stored one after the other. */
typedef struct kdri_forest {
	int64_t trees, classes, features, nodes, leaves;
	int64_t *root; /* of each tree */
	kdri_forest_node *node;
	double *share;      /* leaves x classes: the probability of each class, summing to 1 */
	double *importance; /* features: fraction of the decrease in Gini impurity due to splits on each; sums to
			       1, or 0 */
} kdri_forest;

/* x: rows x features; NaN is a missing value. labels: 0 .. classes - 1; rows with -1 are ignored. weights: of the rows,
 * above 0; NULL: ones. If the run is stopped, the forest has the trees grown so far, at least one. */
kdr_status kdri_forest_fit(kdr_context *ctx, const kdr_mat *x, const int64_t *labels, const double *weights,
                           int64_t classes, const kdri_forest_options *options, kdri_forest *out);
/* p (rows x classes): mean over the trees of the shares of the leaves each row falls into. */
kdr_status kdri_forest_predict(kdr_context *ctx, const kdri_forest *f, const kdr_mat *x, double *p);
/* Returns KDR_ERR_DATA if links between nodes are invalid, as in a damaged model. */
kdr_status kdri_forest_check(kdr_context *ctx, const kdri_forest *f);
void kdri_forest_free(kdr_context *ctx, kdri_forest *f);

/* One tree of a forest. */

/* The values of some rows as ranks, 16 bits each: what trees are grown on. */
typedef struct kdri_ranks {
	int64_t n, d;   /* rows; features */
	uint16_t *rank; /* d x n; 65535: no value */
	int64_t *count; /* different ranks of each feature */
	double **value; /* of each feature: value[r], the largest value of rank r */
	double **cut;   /* of each feature: cut[r], halfway between rank r and the next */
	int64_t most;   /* largest count */
} kdri_ranks;
/* Of rows rows[0..n-1] of x; an entry that a sparse x does not store is 0. */
kdr_status kdri_ranks_new(kdr_context *ctx, const kdr_mat *x, const int64_t *rows, int64_t n,
                          kdri_ranks *out);
void kdri_ranks_free(kdr_context *ctx, kdri_ranks *r);

/* What growing a tree needs, and the tree; one for each thread. */
typedef struct kdri_grower kdri_grower;
kdr_status kdri_grower_new(kdr_context *ctx, const kdri_ranks *r, const int32_t *label, const double *weight,
                           int64_t classes, const kdri_forest_options *o, kdri_grower **out);
void kdri_grower_free(kdr_context *ctx, kdri_grower *g);
/* Tree number t. Allocates nothing. */
void kdri_grow(kdr_context *ctx, kdri_grower *g, int64_t t);

/* A finished tree, in memory of exactly its size. */
typedef struct kdri_tree {
	kdri_forest_node *node;
	double *share, *importance;
	int64_t nodes, leaves;
} kdri_tree;
kdr_status kdri_tree_keep(kdr_context *ctx, const kdri_grower *g, kdri_tree *out);
void kdri_tree_free(kdr_context *ctx, kdri_tree *t);

#endif
