/* The eigenvalues of a diagonal matrix plus one of rank one. SPDX-License-Identifier: BSD-3-Clause
 *
 * Eigenvalue j of diag(d) + rho z z', d ascending and rho > 0, is the root between d_j and d_j+1 (after the last:
 * within rho ||z||^2) of
 *
 *   (E1)  f(x) = 1 + psi(x) + phi(x),   psi(x) = sum over i <= j of w_i / (d_i - x),  phi the same over i > j,  w_i = rho z_i^2
 *
 * which increases there from -oo to oo. x = d_o + t is measured from the nearer of the two poles, o, so that the
 * differences d_i - x, from which the eigenvectors are computed, are as accurate as t. From a guess, f is replaced by
 *
 *   (E2)  c + s / (d_j - x) + S / (d_j+1 - x)
 *
 * with the derivative of psi in the second and that of phi in the third term. Its root is the next guess [the middle way of Li,
 * Solving secular equations stably and efficiently, LAPACK working note 89, 1993]. A guess outside of the interval in which the
 * root is known to lie is replaced by its middle. For the last root both poles are on the same side. */
#include "matrix/builtin/builtin.h"

#include <float.h>

enum { LANES = 8, MOST_STEPS = 200 };

static inline double sum_lanes(const double *s)
{
	return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

/* out[0] += sum of w_i / delta_i and out[1] += sum of w_i / delta_i^2, with delta_i = gap_i - t. */
KDRI_KERNEL
static void pole_sums(int64_t n, const double *restrict gap, const double *restrict w, double t,
                      double *restrict delta, double *out)
{
	double s[LANES] = { 0 }, q[LANES] = { 0 };
	int64_t i = 0;
	for (; i + LANES <= n; i += LANES) {
#pragma omp simd
		for (int l = 0; l < LANES; l++) {
			double apart = gap[i + l] - t, part = w[i + l] / apart;
			delta[i + l] = apart;
			s[l] += part;
			q[l] += part / apart;
		}
	}
	for (int l = 0; i < n; i++, l++) {
		delta[i] = gap[i] - t;
		s[l] += w[i] / delta[i];
		q[l] += w[i] / delta[i] / delta[i];
	}
	out[0] = sum_lanes(s);
	out[1] = sum_lanes(q);
}

/* f and what its model needs, at d_o + t. */
typedef struct point {
	double f, slope, error; /* error: what rounding does to f */
	double psi[2], phi[2];  /* values and derivatives */
} point;

static point evaluate(int64_t k, int64_t left, const double *gap, const double *w, double t, double *delta)
{
	point p;
	pole_sums(left, gap, w, t, delta, p.psi);
	pole_sums(k - left, gap + left, w + left, t, delta + left, p.phi);
	p.f = 1 + p.psi[0] + p.phi[0]; /* (E1) */
	p.slope = p.psi[1] + p.phi[1];
	p.error = DBL_EPSILON * (8 * (1 + fabs(p.psi[0]) + fabs(p.phi[0])) + fabs(t) * p.slope);
	return p;
}

/* The step from a point to the root of (E2), whose poles are at distance d1 and d2. */
static double model_step(const point *p, double d1, double d2, bool last)
{
	double c = p->f - d1 * p->psi[1] - d2 * p->phi[1], a = (d1 + d2) * p->f - d1 * d2 * p->slope,
	       b = d1 * d2 * p->f;
	double root = sqrt(fabs(a * a - 4 * b * c));
	if (last)
		return a >= 0 ? (a + root) / (2 * fabs(c)) : 2 * b / (a - root);
	return a <= 0 ? (a - root) / (2 * c) : 2 * b / (a + root);
}

/* The first guess between two poles: f with the terms of all other poles at their value in the middle, `rest`. */
static double first_guess(double gap, double rest, double w1, double w2, bool from_left)
{
	double a = (from_left ? 1 : -1) * rest * gap + w1 + w2, b = (from_left ? w1 : w2) * gap;
	double root = sqrt(fabs(a * a - (from_left ? 4 : -4) * rest * b));
	double t = a > 0 ? 2 * b / (a + root) : (from_left ? 1 : -1) * (a - root) / (2 * rest);
	return from_left ? t : -fabs(t);
}

double kdri_secular_root(int64_t k, const double *d, const double *w, int64_t j, double *gap, double *delta)
{
	const bool last = j == k - 1;
	const int64_t left = last ? k - 1 : j + 1;
	int64_t origin = j;
	double low = 0, high = 0, t;
	if (k == 1) {
		delta[0] = -w[0];
		return d[0] + w[0];
	}
	for (int64_t i = 0; i < k; i++)
		gap[i] = d[i] - d[j];
	if (last) {
		for (int64_t i = 0; i < k; i++)
			high += w[i];
		high *= 1 + 4 * DBL_EPSILON;
		t = high / 2;
	} else {
		double between = gap[j + 1];
		point middle = evaluate(k, left, gap, w, between / 2, delta);
		double rest = middle.f - 2 * (w[j + 1] - w[j]) / between;
		high = between / 2;
		if (middle.f < 0) {
			origin = j + 1;
			for (int64_t i = 0; i < k; i++)
				gap[i] = d[i] - d[origin];
			low = -between / 2;
			high = 0;
		}
		t = first_guess(between, rest, w[j], w[j + 1], origin == j);
	}
	for (int step = 0; step < MOST_STEPS; step++) {
		if (!(t > low && t < high))
			t = low + (high - low) / 2;
		if (t == 0 || t == low || t == high) /* no number is left between the ends */
			t = low == 0 ? high : low;
		point p = evaluate(k, left, gap, w, t, delta);
		if (fabs(p.f) <= p.error || t == low || t == high)
			break;
		*(p.f < 0 ? &low : &high) = t;
		double move = model_step(&p, delta[left - 1], delta[left], last);
		if (!(p.f * move < 0))
			move = -p.f / p.slope;
		if (t + move == t)
			break;
		t += move;
		if (step > 20 && step % 3 == 0) /* the model is of no use here */
			t = NAN;
	}
	return d[origin] + t;
}
