/* auto on tables of numbers and categories. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_AUTO_TABLES_H
#define KDRI_AUTO_TABLES_H

#include "api/method.h"
#include "engine/ensemble/given.h"
#include "engine/mixture/model.h"
#include "engine/mixture/starts.h"

/* The members: first those that use one table, then those that use all. */
typedef enum kdri_tables_member {
	KDRI_MIX_SHARED,        /* mixture of one table, one variance of each number for all clusters */
	KDRI_MIX_OWN,           /* the same, each cluster with its own variances */
	KDRI_MIX_KMEANS_B,      /* k-means on encoding B */
	KDRI_MIX_KMEANS_H,      /* k-means on encoding H */
	KDRI_MIX_POOLED_SHARED, /* one mixture of all tables, each minus its own means */
	KDRI_MIX_POOLED_OWN,
	KDRI_MIX_FROM_POOLED, /* KDRI_MIX_OWN started from the labels of KDRI_MIX_POOLED_OWN */
	KDRI_MIX_MEMBERS
} kdri_tables_member;

/* Labels of one member, and the mixture they come from. */
typedef struct kdri_tables_vote {
	int64_t *labels;       /* n, rows of all tables; NULL: it does not vote */
	kdri_mixture *mixture; /* one for each table, or one for all; NULL: k-means */
	int64_t nmixtures;
} kdri_tables_vote;

/* The state of a run. */
typedef struct kdri_tables {
	const kdr_problem *problem;
	const kdr_options *options;
	kdr_result *result;
	int64_t *k;     /* of each table */
	kdri_mixed all; /* the rows of this rank */
	kdri_mixed
	        some; /* rows from which starts and draws are taken, the same on every rank; empty: all rows */
	bool whole;   /* `some` are all rows */
	int64_t *start; /* tables: the number of this rank's first row among all rows */
	double *means;  /* tables x numbers: means that were subtracted before pooling */
	kdri_tables_vote votes[KDRI_MIX_MEMBERS];
	double bic_gain; /* the guard's g: [BIC(pooled) - sum of BIC(alone)] / N */
	double loss;     /* 2 (sum of LL(alone) - LL(pooled)) / N */
	bool together;   /* the tables share their clusters */
	int64_t *answer,
	        *alone; /* n: the vote; that without members that used other tables, NULL if it is not needed */
	double *confidence; /* n */
	double *estimate;   /* tables: estimated ARI of the answer */
	double *agreement;  /* tables: mean ARI of the members with the answer */
	bool *clear;        /* tables: BIC(k) < BIC(1) */
} kdri_tables;

/* The rows from which starts and draws are taken. */
static inline const kdri_mixed *kdri_tables_some(const kdri_tables *t)
{
	return t->some.n > 0 ? &t->some : &t->all;
}

/* Whether a problem is a table: it has a category, or a column of two values, or missing cells. */
bool kdri_is_table(const kdr_problem *problem);

kdr_status kdri_tables_fit(kdr_context *ctx, const kdr_problem *problem, const kdr_options *options,
                           kdr_result *result);

/* How many votes a member has: (E3) of tables.c. */
int64_t kdri_tables_weight(const kdri_tables *t, kdri_tables_member m);

/* --- tables_members.c --- */

kdr_status kdri_tables_members(kdr_context *ctx, kdri_tables *t);

/* --- tables_k.c --- */
kdr_status kdri_tables_find_k(kdr_context *ctx, kdri_tables *t);

/* --- tables_confidence.c --- */
kdr_status kdri_tables_confidence(kdr_context *ctx, kdri_tables *t);
/* The map from clusters of b to clusters of a that agrees on most of n rows: to[c] for each of k. */
kdr_status kdri_align_labels(kdr_context *ctx, const int64_t *a, const int64_t *b, int64_t n, int64_t k,
                             int64_t *to);

#endif
