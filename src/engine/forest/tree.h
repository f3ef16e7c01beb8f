/* One tree of a forest. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_FOREST_TREE_H
#define KDRI_FOREST_TREE_H

#include "engine/forest/forest.h"

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
