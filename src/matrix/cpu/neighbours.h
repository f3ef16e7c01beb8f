/* What both searches for nearest neighbours on the CPU share. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_CPU_NEIGHBOURS_H
#define KDRI_CPU_NEIGHBOURS_H

#include "matrix/cpu/cpu.h"

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
