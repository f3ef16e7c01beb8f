/* The passes of a tri-factorisation over the rows of F. SPDX-License-Identifier: BSD-3-Clause
 *
 * All steps of F are local to a row (a feature), given A (q x c), B = X'G and S = G'G: with f1 the shared part of the
 * row, f2 its part for one data set, and sums over the two data sets l of the side,
 *
 *   (E1)  h_l = f1 A1 + f2_l A2_l                                    the row of F A
 *   (E2)  f1_j   <- f1_j   <A1_j, sum w_l b_l> / <A1_j, sum w_l h_l S_l>
 *   (E3)  f2_l,j <- f2_l,j <A2_l,j, b_l> / <A2_l,j, h_l S_l>,         h_l with the new f1
 *
 * One pass does them all, and makes the sums that the steps of A need. So F is read three times a sweep, and all
 * that is derived from it stays in registers or the first cache: some 5 (p1 + 2 p2) c multiplications a row in all, and
 * 8 (p1 + 2 p2) bytes read and written.
 *
 * Eight rows, a panel, are worked on at once, a lane each: F lies in panels, so that every operation on a cluster of
 * eight rows is one on a vector, and no sum runs across lanes but at the very end. Fused multiply-adds are allowed here: every
 * product is of non-negative numbers, so that nothing cancels. */
#include "algo/ttl/trifactor_rows.h"

enum { LANES = KDRI_TRI_LANES };
typedef double lanes __attribute__((vector_size(8 * LANES), aligned(8), may_alias));

/* Below this a denominator is no number to divide by: the entry stays as it is. */
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

/* The passes are written for any number of classes and compiled twice: for two, where the compiler unrolls all that runs over
 * classes, and for more. */
#define INLINE static inline __attribute__((always_inline))

/* Eight rows of B (m x c) into c lanes; rows past the end are 0. */
INLINE void load(const double *b, int64_t m, int64_t c, int64_t row, lanes *out)
{
	for (int64_t k = 0; k < c; k++)
		for (int r = 0; r < LANES; r++)
			((double *)&out[k])[r] = row + r < m ? b[(row + r) * c + k] : 0;
}

/* out_k = sum_j f_j A_jk over `count` clusters; at is A' from the first of them on. */
INLINE void times_a(const lanes *f, const double *at, int64_t q, int64_t count, int64_t c, lanes *out)
{
	for (int64_t k = 0; k < c; k++) {
		lanes sum = { 0 };
		for (int64_t j = 0; j < count; j++)
			sum += f[j] * at[k * q + j];
		out[k] = sum;
	}
}

/* out = (x + y) S times weight, added to what is there if `add`. */
INLINE void times_s(const lanes *x, const lanes *y, const double *s, int64_t c, double weight, bool add,
                    lanes *out)
{
	for (int64_t k = 0; k < c; k++) {
		lanes sum = { 0 };
		for (int64_t i = 0; i < c; i++)
			sum += (x[i] + y[i]) * s[i * c + k];
		out[k] = add ? out[k] + weight * sum : weight * sum;
	}
}

/* f_j <- f_j <A_j, num> / <A_j, den>: (E2), (E3). */
INLINE void step(lanes *f, const double *at, int64_t q, int64_t count, int64_t c, const lanes *num,
                 const lanes *den)
{
	for (int64_t j = 0; j < count; j++) {
		lanes top = { 0 }, bottom = { 0 };
		for (int64_t k = 0; k < c; k++) {
			top += num[k] * at[k * q + j];
			bottom += den[k] * at[k * q + j];
		}
		double *to = (double *)&f[j];
#pragma omp simd
		for (int r = 0; r < LANES; r++) {
			double over = bottom[r] > least ? top[r] : 1,
			       under = bottom[r] > least ? bottom[r] : 1;
			double x = to[r] * (over / under);
			to[r] = x < vanishing ? 0 : x;
		}
	}
}

/* sums_jk += f_j x_k */
INLINE void outer(const lanes *f, int64_t count, const lanes *x, int64_t c, lanes *sums)
{
	for (int64_t j = 0; j < count; j++)
		for (int64_t k = 0; k < c; k++)
			sums[j * c + k] += f[j] * x[k];
}

/* Asks for the next panel while this one is worked on: F is too large for the near caches, and each pass reads it anew. */
INLINE void fetch_next(const kdri_tri_pass *p, int64_t panel, int64_t end)
{
	const double *next = p->f + (panel + 1) * p->q * LANES;
	for (int64_t j = 0; j < p->q && panel + 1 < end; j++)
		__builtin_prefetch(next + j * LANES, 1);
}

/* Where the parts of a side begin among the clusters. */
static inline int64_t own(const kdri_tri_pass *p, int l)
{
	return p->p1 + l * p->p2;
}

static void zero(double *room, int64_t at, int64_t count)
{
	memset(room + at * LANES, 0, (size_t)(count * LANES) * sizeof *room);
}

INLINE void pass1(const kdri_tri_pass *p, int64_t begin, int64_t end, const kdri_tri_sums *sums, lanes *room,
                  const int64_t c)
{
	const int64_t q = p->q;
	lanes *shared = room + sums->work, *mine[2] = { shared + c, shared + 2 * c },
	      *b[2] = { shared + 3 * c, shared + 4 * c };
	lanes *u = shared + 5 * c, *v = shared + 6 * c;
	for (int64_t panel = begin; panel < end; panel++) {
		fetch_next(p, panel, end);
		lanes *f = (lanes *)(p->f + panel * q * LANES);
		for (int l = 0; l < 2; l++) {
			load(p->b[l], p->m, c, panel * LANES, b[l]);
			times_a(f + own(p, l), p->at + own(p, l), q, p->p2, c, mine[l]);
		}
		for (int64_t k = 0; k < c; k++)
			u[k] = p->weight[0] * b[0][k] + p->weight[1] * b[1][k];
		times_a(f, p->at, q, p->p1, c, shared); /* (E1) */
		if (p->steps & KDRI_TRI_F1) {
			times_s(shared, mine[0], p->s[0], c, p->weight[0], false, v);
			times_s(shared, mine[1], p->s[1], c, p->weight[1], true, v);
			step(f, p->at, q, p->p1, c, u, v); /* (E2) */
			times_a(f, p->at, q, p->p1, c, shared);
		}
		for (int l = 0; l < 2; l++)
			if (p->steps & (l ? KDRI_TRI_F2B : KDRI_TRI_F2A)) {
				times_s(shared, mine[l], p->s[l], c, 1, false, v);
				step(f + own(p, l), p->at + own(p, l), q, p->p2, c, b[l], v); /* (E3) */
				times_a(f + own(p, l), p->at + own(p, l), q, p->p2, c, mine[l]);
			}
		times_s(shared, mine[0], p->s[0], c, p->weight[0], false, v);
		times_s(shared, mine[1], p->s[1], c, p->weight[1], true, v);
		outer(f, p->p1, u, c, room + sums->num1);
		outer(f, p->p1, v, c, room + sums->den1);
		for (int l = 0; l < 2; l++)
			outer(f + own(p, l), p->p2, b[l], c, room + sums->num2[l]);
		for (int64_t j = 0; j < q; j++)
			room[sums->columns + j] += f[j];
	}
}

KDRI_KERNEL
static void run_pass1_two(const kdri_tri_pass *p, int64_t begin, int64_t end, const kdri_tri_sums *sums,
                          lanes *room)
{
	pass1(p, begin, end, sums, room, 2);
}

KDRI_KERNEL
static void run_pass1(const kdri_tri_pass *p, int64_t begin, int64_t end, const kdri_tri_sums *sums,
                      lanes *room)
{
	pass1(p, begin, end, sums, room, p->c);
}

INLINE void pass2(const kdri_tri_pass *p, int64_t begin, int64_t end, const kdri_tri_sums *sums, lanes *room,
                  const int64_t c)
{
	const int64_t q = p->q;
	lanes *shared = room + sums->work, *mine = shared + c, *v = shared + 2 * c;
	for (int64_t panel = begin; panel < end; panel++) {
		fetch_next(p, panel, end);
		const lanes *f = (const lanes *)(p->f + panel * q * LANES);
		times_a(f, p->at, q, p->p1, c, shared);
		for (int l = 0; l < 2; l++) {
			times_a(f + own(p, l), p->at + own(p, l), q, p->p2, c, mine);
			times_s(shared, mine, p->s[l], c, 1, false, v);
			outer(f + own(p, l), p->p2, v, c, room + sums->den2[l]);
		}
	}
}

KDRI_KERNEL
static void run_pass2_two(const kdri_tri_pass *p, int64_t begin, int64_t end, const kdri_tri_sums *sums,
                          lanes *room)
{
	pass2(p, begin, end, sums, room, 2);
}

KDRI_KERNEL
static void run_pass2(const kdri_tri_pass *p, int64_t begin, int64_t end, const kdri_tri_sums *sums,
                      lanes *room)
{
	pass2(p, begin, end, sums, room, p->c);
}

INLINE void pass3(const kdri_tri_pass *p, int64_t begin, int64_t end, const kdri_tri_sums *sums, lanes *room,
                  const int64_t c)
{
	const int64_t q = p->q;
	lanes *shared = room + sums->work, *mine = shared + c;
	for (int64_t panel = begin; panel < end; panel++) {
		fetch_next(p, panel, end);
		lanes *f = (lanes *)(p->f + panel * q * LANES);
		const int64_t row = panel * LANES, rows = KDRI_MIN(p->m - row, LANES);
		for (int64_t j = 0; j < q; j++)
			f[j] *= p->scale[j];
		times_a(f, p->at, q, p->p1, c, shared);
		for (int l = 0; l < 2; l++) {
			times_a(f + own(p, l), p->at + own(p, l), q, p->p2, c, mine);
			for (int64_t k = 0; k < c; k++) {
				mine[k] += shared[k]; /* (E1) */
				for (int64_t r = 0; r < rows; r++)
					p->h[l][(row + r) * c + k] = ((const double *)&mine[k])[r];
			}
			outer(mine, c, mine, c, room + sums->gram[l]);
		}
	}
}

KDRI_KERNEL
static void run_pass3_two(const kdri_tri_pass *p, int64_t begin, int64_t end, const kdri_tri_sums *sums,
                          lanes *room)
{
	pass3(p, begin, end, sums, room, 2);
}

KDRI_KERNEL
static void run_pass3(const kdri_tri_pass *p, int64_t begin, int64_t end, const kdri_tri_sums *sums,
                      lanes *room)
{
	pass3(p, begin, end, sums, room, p->c);
}

void kdri_tri_pass1(const kdri_tri_pass *p, int64_t begin, int64_t end, const kdri_tri_sums *sums,
                    double *room)
{
	zero(room, sums->num1, 2 * p->p1 * p->c);
	for (int l = 0; l < 2; l++)
		zero(room, sums->num2[l], p->p2 * p->c);
	zero(room, sums->columns, p->q);
	(p->c == 2 ? run_pass1_two : run_pass1)(p, begin, end, sums, (lanes *)room);
}

void kdri_tri_pass2(const kdri_tri_pass *p, int64_t begin, int64_t end, const kdri_tri_sums *sums,
                    double *room)
{
	for (int l = 0; l < 2; l++)
		zero(room, sums->den2[l], p->p2 * p->c);
	(p->c == 2 ? run_pass2_two : run_pass2)(p, begin, end, sums, (lanes *)room);
}

void kdri_tri_pass3(const kdri_tri_pass *p, int64_t begin, int64_t end, const kdri_tri_sums *sums,
                    double *room)
{
	for (int l = 0; l < 2; l++)
		zero(room, sums->gram[l], p->c * p->c);
	(p->c == 2 ? run_pass3_two : run_pass3)(p, begin, end, sums, (lanes *)room);
}
