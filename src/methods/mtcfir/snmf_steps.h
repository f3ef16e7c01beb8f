/* Symmetric non-negative factorisation M ~ Y Y'. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_SNMF_STEPS_H
#define KDRI_SNMF_STEPS_H

#include "matrix/block.h"

/* M: symmetric, entries >= 0. */
typedef struct kdri_snmf_matrix {
	kdri_device *dev;
	int64_t rows;
	double square; /* the sum of the squares of all entries */
	bool single;   /* products with M are single: J is known to 1e-8 |M|^2, else to 1e-13 */
	/* N = M Y, both rows x any number of columns, of doubles. */
	kdr_status (*multiply)(kdr_context *ctx, const void *data, kdri_block y, kdri_block n);
	const void *data;
} kdri_snmf_matrix;

/* A block or a sparse matrix as M; borrowed. */
kdri_snmf_matrix kdri_snmf_dense(const kdri_block *m, double square);
kdri_snmf_matrix kdri_snmf_sparse(const kdri_sparse *m, double square);

typedef struct kdri_snmf_options {
	int64_t k, max_iter;
	double tol; /* stop when the objective decreases by at most this fraction; 0: when nothing changes */
	const char *stage; /* name for progress events; NULL: no events */
} kdri_snmf_options;

/* Owned by the caller: free it with kdri_snmf_free. */
typedef struct kdri_snmf_result {
	double *y;     /* n x k */
	double start;  /* the objective at the start */
	double *trace; /* after each iteration; never increases except by rounding */
	int64_t iterations;
	int64_t careful; /* iterations that needed the smaller step */
	kdr_stop stop;
} kdri_snmf_result;

/* y = one-hot labels + 0.2. */
void kdri_snmf_start(const int64_t *labels, int64_t n, int64_t k, double *y);

/* Iterates from each of `runs` starts (n x k, >= 0, one after the other) in step; events report the lowest objective. On
 * failure results[0..runs-1] are unchanged; being stopped is not a failure. */
kdr_status kdri_snmf(kdr_context *ctx, const kdri_snmf_matrix *m, const double *starts, int64_t runs,
                     const kdri_snmf_options *options, kdri_snmf_result *results);
void kdri_snmf_free(kdr_context *ctx, kdri_snmf_result *result);

/* labels[i] = the largest entry of row i, ties to the lowest index. */
void kdri_snmf_labels(const double *y, int64_t n, int64_t k, int64_t *labels);

#endif
