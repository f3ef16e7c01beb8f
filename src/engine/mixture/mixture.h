/* Mixtures of numbers and categories, fitted by EM; equations are those of mixture.c. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_MIXTURE_H
#define KDRI_MIXTURE_H

#include "core/internal.h"

/* Rows of one or several tables, one below the other; borrowed. */
typedef struct kdri_mixture_data {
	int64_t n, tables;
	const int64_t *begin;          /* tables + 1: the rows of each table */
	int64_t numbers, categories;   /* columns of each kind */
	const double *x;               /* n x numbers; NaN: missing */
	const int32_t *code;           /* n x categories: 0 .. levels - 1; -1: missing */
	const int64_t *levels;         /* of each category */
	const double *number_weight;   /* u of each number; NULL: 1 */
	const double *category_weight; /* u of each category; NULL: 1 */
} kdri_mixture_data;

/* The parameters; owned. */
typedef struct kdri_mixture {
	int64_t k, tables, numbers, categories;
	double *share;    /* tables x k: pi */
	double *mean;     /* k x numbers */
	double *variance; /* k x numbers */
	double *theta;    /* sum of levels x k: of each category, the share of each level in each cluster */
	double loglik;    /* (E5), of these parameters */
	int64_t iterations;
	double *values; /* (E6) after each iteration: it never decreases */
	kdr_stop stop;
} kdri_mixture;

typedef struct kdri_mixture_options {
	int64_t k;
	bool shared; /* one variance per number for all clusters; false: each cluster has its own */
	int64_t max_iter;
	double tol;
	const char *stage; /* name for progress events; NULL: no events */
} kdri_mixture_options;
/* Own variances, at most 100 iterations, tolerance 1e-5, no events. */
kdri_mixture_options kdri_mixture_defaults(int64_t k);

/* EM from labels (0 .. k - 1, one per row). `labels` gets the most probable cluster of each row, `posterior` (n x k, or
 * NULL) the probabilities. If rows are distributed over ranks, all ranks make the call with their own rows of every
 * table. */
kdr_status kdri_mixture_fit(kdr_context *ctx, const kdri_mixture_data *data, const kdri_mixture_options *o,
                            const int64_t *start, kdri_mixture *out, int64_t *labels, double *posterior);
/* EM from parameters instead of labels: the first step is (E4). */
kdr_status kdri_mixture_refit(kdr_context *ctx, const kdri_mixture_data *data, const kdri_mixture_options *o,
                              const kdri_mixture *from, kdri_mixture *out, int64_t *labels,
                              double *posterior);
/* (E4) and (E5) with known parameters: clusters of new rows, all of table t, or (-1) of the tables given by data->begin.
 * Either output may be NULL. */
kdr_status kdri_mixture_assign(kdr_context *ctx, const kdri_mixture_data *data, const kdri_mixture *m,
                               int64_t t, int64_t *labels, double *posterior);
void kdri_mixture_free(kdr_context *ctx, kdri_mixture *m);

/* -2 LL + P ln n with the P free parameters of (E7) of mixture.c; levels_less_one: the sum of L - 1 over the categories;
 * centres: M of (E7). */
double kdri_mixture_bic(double loglik, int64_t k, int64_t tables, int64_t centres, int64_t numbers,
                        int64_t levels_less_one, int64_t rows);

#endif
