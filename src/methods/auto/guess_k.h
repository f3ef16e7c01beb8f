/* Suggests the number of clusters. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_GUESS_K_H
#define KDRI_GUESS_K_H

#include "api/method.h"
#include "engine/graph/spectral.h"
#include "engine/graph/views.h"

/* The largest k that is considered for n samples: the option k_max or, if that is 0, 20, and for more than 10,000 samples
 * sqrt(n) / 5, at most 40. The rule keeps the search affordable, because its time grows with the third power of the largest k. */
int64_t kdri_k_most(const kdr_options *options, double n);

/* The number of neighbours that the views must have. */
enum { KDRI_GUESS_NEIGHBOURS = 20 };

/* The evidence in one task: entry k - 2 is about k clusters, k = 2 .. most; NaN: not computed. */
typedef struct kdri_k_curves {
	int64_t count, tried; /* tried < count: stopped, only the first ones are known */
	double *gap;          /* eigenvalue k minus eigenvalue k + 1 of the graph of 20 neighbours */
	double *agreement;    /* mean adjusted Rand index of three kinds of partition into k */
	double *modularity;   /* of the first of them on that graph */
	kdri_spectrum wide;   /* of that graph; empty unless kdri_k_agreement may follow */
} kdri_k_curves;

/* `most` is lowered to what the samples allow; with fewer than 3 there are no curves. The agreement takes most of the time, but the guess does
 * not depend on it: with agreement_later, kdri_k_agreement computes it for the k that was chosen. */
kdr_status kdri_k_curves_new(kdr_context *ctx, const kdri_views_task *task, int64_t most,
                             bool agreement_later, kdri_k_curves *out);
kdr_status kdri_k_agreement(kdr_context *ctx, const kdri_views_task *task, int64_t k, kdri_k_curves *curves);
void kdri_k_curves_free(kdr_context *ctx, kdri_k_curves *curves);

/* Used if the time ends before anything is known. */
enum { KDRI_K_FALLBACK = 2 };
/* A warning that the number of clusters was chosen before the evidence was complete. */
kdr_status kdri_k_unfinished(kdr_context *ctx, kdr_result *result);

typedef struct kdri_k_guess {
	int64_t k, next; /* the best, and the second best; 0: there is none */
	double score, agreement;
	int64_t low, high; /* the smallest and the largest k with a score nearly as high */
	bool sure;
} kdri_k_guess;

/* The k with the highest mean score over `count` tasks, up to the length of the shortest of their curves; 1 if there is
 * none. */
kdri_k_guess kdri_k_guess_of(const kdri_k_curves *curves, int64_t count);

#endif
