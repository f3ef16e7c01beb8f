/* Sums that do not depend on the order of their terms. SPDX-License-Identifier: BSD-3-Clause
 *
 * Addition of floating-point numbers rounds, so a sum depends on its order, and therefore on the distribution of the
 * rows over processes. It does not if every partial sum is exact. A term x is split into multiples of two units,
 *
 *     (E101)  h = (x + t) - t,   l = ((x - h) + t') - t'        t = 3/2 2^p,   t' = 3/2 2^p'
 *
 * with every operation rounded to the nearest number: h is x rounded to a multiple of u = 2^(p-52), x - h is exact and at
 * most u/2, and l is that rounded to a multiple of u' = 2^(p'-52) [Rump, Ogita, Oishi: Accurate floating-point summation,
 * SIAM J. Sci. Comput. 31, 2008; Demmel, Nguyen: Parallel reproducible summation, IEEE Trans. Comput. 64, 2015]. With
 *
 *     (E102)  2^p >= n max |x|,   2^p' >= n u / 2
 *
 * any sum of up to 2n such h, with either sign, is below 2^(p+1) = 2^53 u: a number, exactly; and likewise for l. So
 *
 *     (E103)  sum x = sum h + sum l,    within n u' / 2 < n^3 2^-100 max |x|, and one rounding at the end
 *
 * comes out the same for any order, any number of threads and processes, and what is taken out again (-x) leaves no trace.
 * For a million terms that is 2^-40 times the largest term where all errors have one sign, where a plain sum may lose
 * 2^-13 of it. Beyond 2^25 terms each is rounded more coarsely than by its own 2^-53. It costs six additions a term, which
 * loops over rows in memory hardly notice. The compiler must not know better: no -ffast-math, no fused multiplication
 * in x. */
#ifndef KDRI_EXACT_H
#define KDRI_EXACT_H

#include "core/internal.h"

/* t of (E101) for up to `count` terms of up to `largest`; 0 for 0, which splits zeros rightly. */
static inline double kdri_exact_big(double largest, int64_t count)
{
	int n = 0, e = 0;
	if (!(largest > 0))
		return 0;
	(void)frexp((double)KDRI_MAX(count, 1), &n); /* count < 2^n */
	(void)frexp(largest, &e);                    /* largest < 2^e */
	return ldexp(1.5, n + e + 1);
}

/* t' / t: n u / 2 = n 2^(p - 53), and one more for the count's own rounding up. */
static inline double kdri_exact_ratio(int64_t count)
{
	int n = 0;
	(void)frexp((double)KDRI_MAX(count, 1), &n);
	return ldexp(1, n + 1 - 53);
}

/* A sum in two parts. */
typedef struct kdri_exact {
	double high, low;
} kdri_exact;

/* (E101), added up. */
static inline void kdri_exact_add(kdri_exact *sum, double big, double small, double x)
{
	double h = (x + big) - big;
	sum->high += h;
	sum->low += ((x - h) + small) - small;
}

#endif
