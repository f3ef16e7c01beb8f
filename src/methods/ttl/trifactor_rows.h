/* The passes of a tri-factorisation over the rows of F. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_TRIFACTOR_ROWS_H
#define KDRI_TRIFACTOR_ROWS_H

#include "methods/ttl/trifactor.h"

/* The input of a pass: one side, with its current A and G'G. */
typedef struct kdri_tri_pass {
	const double *at;    /* c x q: A transposed */
	const double *b[2];  /* m x c: X'G */
	const double *s[2];  /* c x c: G'G */
	const double *scale; /* q: what F is multiplied with in the last pass */
	double weight[2];
	double *f, *h[2];
	int64_t m, c, p1, p2, q;
	unsigned steps;
} kdri_tri_pass;

/* Room for the sums of one chunk, and how they follow each other. */
typedef struct kdri_tri_sums {
	int64_t num1, den1;       /* p1 x c: F1' sum w B and F1' sum w H S */
	int64_t num2[2], den2[2]; /* p2 x c: F2'B and F2'HS of each data set */
	int64_t columns;          /* q */
	int64_t gram[2];          /* c x c: H'H */
	int64_t work;             /* beyond the sums: 10 c, for one panel */
	int64_t size;
} kdri_tri_sums;
kdri_tri_sums kdri_tri_sums_of(int64_t c, int64_t p1, int64_t p2);

/* Lanes of a sum on this machine, at most KDRI_TRI_LANES. */
int kdri_tri_sum_lanes(void);

/* Panels begin..end-1. `room` has sums.size times KDRI_TRI_LANES numbers, where sum i begins at number
 * i kdri_tri_sum_lanes(); each pass zeroes and fills its own:
 * 1  F steps, then num1, den1, num2 and columns    2  den2    3  F scaled, H written, gram */
void kdri_tri_pass1(const kdri_tri_pass *p, int64_t begin, int64_t end, const kdri_tri_sums *sums,
                    double *room);
void kdri_tri_pass2(const kdri_tri_pass *p, int64_t begin, int64_t end, const kdri_tri_sums *sums,
                    double *room);
void kdri_tri_pass3(const kdri_tri_pass *p, int64_t begin, int64_t end, const kdri_tri_sums *sums,
                    double *room);

#endif
