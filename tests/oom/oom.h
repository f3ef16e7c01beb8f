/* What the scenarios share. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KINDRED_TESTS_OOM_H
#define KINDRED_TESTS_OOM_H

#include "kindred/kindred.h"

/* A use of the public API from beginning to end. `step`: 1, every allocation fails in turn; more, every so-many-th, where
 * scenarios of their own make most of them. */
typedef struct oom_scenario {
	const char *name;
	kdr_status (*run)(kdr_context *ctx);
	int step;
} oom_scenario;

/* The scenarios, a table for each file; a row without a name ends it. */
extern const oom_scenario oom_cluster[], oom_transfer[], oom_jobs[], oom_out[], oom_tables[], oom_stream[],
        oom_device[], oom_scratch[];

/* Points in K groups, dense and (with rowptr and columns) sparse; labels_a are the groups, labels_b others. */
enum { N = 40, D = 3, K = 3 };
extern double points[N * D];
extern int64_t labels_a[N], labels_b[N], rowptr[N + 1];
extern int32_t columns[N * D];

/* The path of a file in the folder of this run; good for four at a time. The driver puts a.csv, a.labels, b.mtx.gz, c.npy and
 * result.json there. */
const char *file(const char *name);

/* Fits with options set: pairs of name and value up to a name of NULL; a value of NULL leaves its option alone. `out` NULL: the
 * result is thrown away. */
kdr_status fit_set(kdr_context *ctx, const char *method, const kdr_problem *problem,
                   const char *const (*settings)[2], kdr_result **out);

#endif
