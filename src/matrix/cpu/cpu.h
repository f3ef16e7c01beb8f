/* The CPU implementation of the table of operations. SPDX-License-Identifier: BSD-3-Clause
 *
 * One function per operation, as described in matrix/device.h. Unless a comment says otherwise, a function is the
 * operation with its name. */
#ifndef KDRI_CPU_H
#define KDRI_CPU_H

#include "matrix/block.h"

/* layers.c */
kdr_status kdri_cpu_centre(kdr_context *ctx, kdri_block a, const double *mean, double shift,
                           const double *scale, kdri_block to);
kdr_status kdri_cpu_moments(kdr_context *ctx, kdri_block a, double limit, double *sum, double *squares,
                            int64_t *beyond);
kdr_status kdri_cpu_tanh(kdr_context *ctx, kdri_block y, const double *lean, const double *mean,
                         const double *offset, kdri_block h);
kdr_status kdri_cpu_tanh_rows(kdr_context *ctx, kdri_block y, const kdri_sparse *x, const double *lean,
                              const double *mean, double q, const double *offset, kdri_block h);
kdr_status kdri_cpu_adjust(kdr_context *ctx, kdri_block c, const double *a, bool outer, double constant,
                           double scale, const double *diagonal);
kdr_status kdri_cpu_complement(kdr_context *ctx, kdri_block a, const double *scale, double q);
/* tanh.c: v[0..count-1] <- tanh(v). */
void kdri_tanh(double *v, int64_t count);
void kdri_tanhf(float *v, int64_t count);

/* kernel_sums.c */
kdr_status kdri_cpu_kernel_sums(kdr_context *ctx, kdri_block k, const double *square, const int64_t *begin,
                                int64_t ntasks, double factor, double *sums);

/* factors.c */
kdr_status kdri_cpu_column_dots(kdr_context *ctx, kdri_block a, kdri_block b, double *out);
kdr_status kdri_cpu_ratio_step(kdr_context *ctx, kdri_block y, kdri_block n, kdri_block d, bool careful,
                               kdri_block to);

/* neighbours.c */
kdr_status kdri_cpu_neighbours(kdr_context *ctx, kdri_drows rows, kdri_drows others, const kdri_nn *nn);

/* What both searches for nearest neighbours on the CPU share. */

/* neighbours.c: compares the products of one query row, candidates col .. col + cols - 1, with its list; user: a kdri_nn. */
void kdri_nn_scan(void *user, int64_t row, int64_t col, int64_t cols, const double *piece);
/* Inserts number j with score s after those at least as good; the last entry of a full list is removed. */
void kdri_nn_insert(const kdri_nn *q, int64_t row, int64_t j, double s);

/* neighbours_float.c: the neighbours of dense rows. *able: whether it can find them; otherwise nothing is done. */
kdr_status kdri_nn_by_floats(kdr_context *ctx, const kdr_dense *x, const kdr_dense *y, const kdri_nn *nn,
                             bool *able);

/* Loops of 16 or fewer steps are unrolled before the compiler could vectorise them. */
enum { KDRI_NN_FEW_LANES = 32, KDRI_NN_LANES = 64 };

/* NAME(s, count, k): at least k of s[0..count-1] are at least as large as the result; -INFINITY if that is not certain. Scores are
 * divided into parts, the more the larger k is. */
#define KDRI_NN_FLOOR(NAME, REAL) \
	static inline __attribute__((always_inline)) \
	REAL NAME##_of(const int lanes, const REAL *s, int64_t count, int64_t k) \
	{ \
		REAL most[KDRI_NN_LANES], above[KDRI_NN_LANES], least = -INFINITY; \
		for (int l = 0; l < lanes; l++) { \
			most[l] = -INFINITY; \
			above[l] = 0; \
		} \
		for (int64_t j = 0; j + lanes <= count; j += lanes) \
			for (int l = 0; l < lanes; l++) \
				most[l] = s[j + l] > most[l] ? s[j + l] : most[l]; \
		for (int i = 0; i < lanes; i++) \
			for (int l = 0; l < lanes; l++) \
				above[l] += most[i] > most[l] ? 1 : 0; \
		for (int l = 0; l < lanes; l++) \
			least = above[l] >= (REAL)(k - 1) && most[l] > least ? most[l] : least; \
		return least; \
	} \
	KDRI_KERNEL static REAL NAME##_few(const REAL *s, int64_t count, int64_t k) \
	{ \
		return NAME##_of(KDRI_NN_FEW_LANES, s, count, k); \
	} \
	KDRI_KERNEL static REAL NAME##_many(const REAL *s, int64_t count, int64_t k) \
	{ \
		return NAME##_of(KDRI_NN_LANES, s, count, k); \
	} \
	static REAL NAME(const REAL *s, int64_t count, int64_t k) \
	{ \
		if (2 * k <= KDRI_NN_FEW_LANES && count >= 2 * KDRI_NN_FEW_LANES) \
			return NAME##_few(s, count, k); \
		return 2 * k <= KDRI_NN_LANES && count >= 2 * KDRI_NN_LANES ? NAME##_many(s, count, k) \
		                                                            : -(REAL)INFINITY; \
	}

#endif
