/* How many clusters a task has. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_K_FOUND_H
#define KDRI_K_FOUND_H

#include "api/method.h"
#include "engine/graph/spectrum.h"
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

/* The number of clusters of `rows` samples if known classes are evidence, too: that of the classes instead of `k`, if k is smaller or `prefer`. */
int64_t kdri_k_with_classes(int64_t k, bool prefer, int64_t classes, int64_t rows);
/* What is said about a number of clusters. */
typedef struct kdri_k_words {
	int64_t k, found;  /* the number; that of the evidence without known classes */
	int64_t low, high; /* numbers with nearly the same evidence */
	int64_t classes;   /* known ones */
	int right;         /* percentage of test data sets for which it was right: docs/notes/statements.md */
	const char *tests; /* static: these data sets */
	double agreement;  /* of repeated clusterings, 1 = fully */
} kdri_k_words;
/* The evidence for the number of clusters of a task. */
typedef struct kdri_k_found {
	kdri_k_words words;   /* k 0: none; it was moved into a range, or time was out */
	bool sure, identical; /* identical: all samples are */
	int64_t next;         /* the second best number; 0: there is none */
	kdri_k_curves curves;
	double *bic, *strength; /* of a table instead: `scores` numbers each, from k = 2 on */
	int64_t scores;
} kdri_k_found;
/* Reports it about task t, or about all (-1): numbers and words; the curves of task t; those of a table. */
kdr_status kdri_k_report(kdr_context *ctx, kdr_result *result, int64_t t, const kdri_k_found *found);
kdr_status kdri_k_report_curves(kdr_context *ctx, kdr_result *result, int64_t t, const kdri_k_found *found);
kdr_status kdri_k_report_scores(kdr_context *ctx, kdr_result *result, int64_t t, const kdri_k_found *found);
void kdri_k_found_free(kdr_context *ctx, kdri_k_found *found);

#endif
