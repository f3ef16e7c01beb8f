/* The samples of a transfer problem, by data set, and which of them are known. SPDX-License-Identifier: BSD-3-Clause
 *
 * The samples that kdri_labelled stacks, without classes that have no sample: 0..classes-1 are those that have some. */
#ifndef KDRI_DOMAINS_H
#define KDRI_DOMAINS_H

#include "methods/common/labelled.h"

typedef struct kdri_domains {
	kdri_labelled set;
	int64_t ntasks, *begin; /* task t has rows begin[t] .. begin[t + 1] - 1 of set.x */
	int64_t n, classes;
	int64_t *class_of; /* classes: their numbers in the problem */
	int64_t *labels;   /* n: a class, or -1 */
	bool *source;      /* n: of a source; a sample of the target may have a label, too */
	bool *unlabelled;  /* n: of no source, and without a label */
	int64_t known, wanted;
	double *share; /* classes: of the labelled rows */
} kdri_domains;

kdr_status kdri_domains_new(kdr_context *ctx, const kdr_problem *problem, kdr_result *result,
                            kdri_domains *out);
void kdri_domains_free(kdr_context *ctx, kdri_domains *d);

/* Stores labels from a posterior (n x classes) in the result, and the posterior as array `name` with the problem's
 * classes. */
kdr_status kdri_domains_put(kdr_context *ctx, const kdri_domains *d, const double *posterior,
                            const char *name, kdr_result *result);

#endif
