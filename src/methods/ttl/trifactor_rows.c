/* The passes of a tri-factorisation over the rows of F. SPDX-License-Identifier: BSD-3-Clause
 *
 * All steps of F are local to a row (a feature), given A (q x c), B = X'G and S = G'G: with f1 the shared part of the
 * row, f2 its part for one data set, and sums over the two data sets l of the side,
 *
 *   (E1)  h_l = f1 A1 + f2_l A2_l                                    the row of F A
 *   (E2)  f1_j   <- f1_j   <A1_j, sum w_l b_l> / <A1_j, sum w_l h_l S_l>
 *   (E3)  f2_l,j <- f2_l,j <A2_l,j, b_l> / <A2_l,j, h_l S_l>,         h_l with the new f1
 *
 * One pass does them all, and makes the sums that the steps of A need. F is therefore read three times per sweep, and
 * everything derived from it stays in registers or the first-level cache: about 5 (p1 + 2 p2) c multiplications per
 * row in total, and 8 (p1 + 2 p2) bytes read and written.
 *
 * Eight rows, a panel, are processed at once, one lane each: F is stored in panels, so that every operation on a
 * cluster of eight rows is a vector operation (trifactor_panels.h), and sums across lanes occur only at the very end.
 * Fused multiply-adds are allowed here: every product is of non-negative numbers, so that nothing cancels. */
#include "methods/ttl/ttl.h"

enum { LANES = KDRI_TRI_LANES };

/* A denominator below this is not divided by: the entry is unchanged. */
static const double least = 1e-300;
/* Entries below it become 0: they would soon be denormal, which is slow. */
static const double vanishing = 1e-100;

kdri_tri_sums kdri_tri_sums_of(int64_t c, int64_t p1, int64_t p2)
{
	kdri_tri_sums s = { 0 };
	int64_t at = 0;
	s.num1 = at, at += p1 * c;
	s.den1 = at, at += p1 * c;
	for (int l = 0; l < 2; l++) {
		s.num2[l] = at, at += p2 * c;
		s.den2[l] = at, at += p2 * c;
		s.gram[l] = at, at += c * c;
	}
	s.columns = at, at += p1 + 2 * p2;
	s.work = at, at += 10 * c;
	s.size = at;
	return s;
}

/* Eight rows of B (m x c) into c lanes; rows past the end are 0. */
static inline void trifactor_rows_load(const double *b, int64_t m, int64_t c, int64_t row, double *out)
{
	const int64_t rows = KDRI_MIN(m - row, LANES);
	if (rows < LANES)
		memset(out, 0, (size_t)(c * LANES) * sizeof *out);
	for (int64_t r = 0; r < rows; r++)
		for (int64_t k = 0; k < c; k++)
			out[k * LANES + r] = b[(row + r) * c + k];
}

/* Prefetches the next panel while this one is processed: F is too large for the inner caches, and each pass reads it
 * again. */
static inline void fetch_next(const kdri_tri_pass *p, int64_t panel, int64_t end)
{
	const double *next = p->f + (panel + 1) * p->q * LANES;
	for (int64_t j = 0; j < p->q && panel + 1 < end; j++)
		__builtin_prefetch(next + j * LANES, 1);
}

/* The positions of the parts of a side among the clusters. */
static inline int64_t own(const kdri_tri_pass *p, int l)
{
	return p->p1 + l * p->p2;
}

#define KDRI_BODY "methods/ttl/trifactor_panels.h"
#include "matrix/each_machine.h"

int kdri_tri_sum_lanes(void)
{
	return KDRI_PICK(lanes)();
}

static void zero(double *room, int64_t at, int64_t count)
{
	int64_t lanes = kdri_tri_sum_lanes();
	memset(room + at * lanes, 0, (size_t)(count * lanes) * sizeof *room);
}

void kdri_tri_pass1(const kdri_tri_pass *p, int64_t begin, int64_t end, const kdri_tri_sums *sums,
                    double *room)
{
	zero(room, sums->num1, 2 * p->p1 * p->c);
	for (int l = 0; l < 2; l++)
		zero(room, sums->num2[l], p->p2 * p->c);
	zero(room, sums->columns, p->q);
	KDRI_PICK(run_pass1)(p, begin, end, sums, room);
}

void kdri_tri_pass2(const kdri_tri_pass *p, int64_t begin, int64_t end, const kdri_tri_sums *sums,
                    double *room)
{
	for (int l = 0; l < 2; l++)
		zero(room, sums->den2[l], p->p2 * p->c);
	KDRI_PICK(run_pass2)(p, begin, end, sums, room);
}

void kdri_tri_pass3(const kdri_tri_pass *p, int64_t begin, int64_t end, const kdri_tri_sums *sums,
                    double *room)
{
	for (int l = 0; l < 2; l++)
		zero(room, sums->gram[l], p->c * p->c);
	KDRI_PICK(run_pass3)(p, begin, end, sums, room);
}
