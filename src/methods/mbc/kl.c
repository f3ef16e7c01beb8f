/* The Kullback-Leibler divergence on the simplex. SPDX-License-Identifier: BSD-3-Clause
 *
 *     (E1)  d(p || q) = sum p ln(p/q) - p + q,   grad phi(p) = ln p up to a constant.
 * The centroid, the minimiser of a d(left || c) + b d(c || right) with sum c = 1, is
 *     (E2)  u + ln u = z,   z = ln q + tau,   q = a left / (b right),   c = a left / (b u)
 * with tau = (a + nu) / b and nu the multiplier of the sum. If e^z is zero, for example if left = 0, then c = right
 * exp(-tau).
 *
 * tau. c falls with it, and with y = 1/(1 + u)
 *     (E3)  c' = -y c,   c'' = y^2 (2 - y) c,   u' = u y,   u'' = u y^3
 * so that ln sum c is convex, and Newton's method on it converges from anywhere; a step to the left, which may
 * overshoot, is limited. The root is below a/b, as KL(c || right) = a/b - tau; the tau of the previous sweep is a
 * better start. Near the root, Halley's method is used: its error is of the third order in the step, and so is that
 * of c when (E3) extrapolates it over the last step. u. It starts within 2 % of the root at
 *     (E4)  e (1 + A e) / (1 + (1 + A) e + B e^2) with e = e^z for z <= 1,   z - ln(z) z / (1 + z) above
 * (A, B fitted; ln and exp here need three digits only). From then on (E3) extrapolates it from one tau to the next,
 * and each pass improves it by the step of fourth order of [FSC]
 *     (E5)  r = z - u - ln u,   s = 2 (1 + u)(1 + u + 2 r/3),   u *= 1 + r (s - r) / ((1 + u)(s - 2 r)).
 * A coordinate costs a logarithm and two divisions per pass, all of them vectorised, and two passes if tau is that of
 * the previous sweep.
 *
 * [FSC] F. N. Fritsch, R. E. Shafer, W. P. Crowley: Algorithm 443: solution of the transcendental equation
 *       w e^w = x. Comm. ACM 16:123-124, 1973. */
#include "matrix/linalg.h"
#include "matrix/logexp.h"
#include "methods/mbc/mbc.h"

double kdri_kl_term(double p, double q)
{
	return p > 0 ? p * log(p / q) - p + q : q;
}

KDRI_KERNEL
double kdri_kl_between(const double *p, const double *q, int64_t d)
{
	double sum = 0;
#pragma omp simd reduction(+ : sum)
	for (int64_t f = 0; f < d; f++) { /* (E1) */
		double gain = p[f] * kdri_ln(p[f] / q[f]);
		sum += (p[f] > 0 ? gain - p[f] : 0) + q[f];
	}
	return sum < 0 ? 0 : sum; /* NaN stays NaN */
}

KDRI_KERNEL
double kdri_kl_between_by(const double *p, const double *q, const double *by, int64_t d)
{
	double sum = 0;
#pragma omp simd reduction(+ : sum)
	for (int64_t f = 0; f < d; f++) {   /* (E1), ln(p/q) = -by */
		double gain = p[f] * by[f]; /* outside the choice: a load inside it would be a branch */
		sum += (q[f] - p[f]) - (p[f] > 0 ? gain : 0);
	}
	return sum < 0 ? 0 : sum;
}

KDRI_KERNEL
void kdri_kl_gradient(const double *p, int64_t d, double *g)
{
#pragma omp simd
	for (int64_t f = 0; f < d; f++)
		g[f] = kdri_ln(p[f]);
}

/* On the simplex gradients count up to a constant. */
KDRI_KERNEL
void kdri_kl_inverse(const double *g, int64_t d, double *p)
{
	double top = kdri_greatest(g, d), sum = 0;
#pragma omp simd reduction(+ : sum)
	for (int64_t f = 0; f < d; f++) {
		p[f] = kdri_exp(g[f] - top);
		sum += p[f];
	}
#pragma omp simd
	for (int64_t f = 0; f < d; f++)
		p[f] /= sum;
}

void kdri_kl_tangent(const double *p, const double *by, int64_t d, double *out)
{
	double mean = 0;
	for (int64_t f = 0; f < d; f++)
		mean += p[f] * by[f];
	for (int64_t f = 0; f < d; f++)
		out[f] = p[f] * (by[f] - mean);
}

/* --- the centroid ---------------------------------------------------------------------------------- */

#define SMALL 4e-6     /* whose third power is rounding */
#define NEAR  1e-4     /* a change of u after which the next is rounding */
#define NIL   (-460.0) /* e^z below 1e-199 counts as 0 */

typedef struct search {
	const kdri_two_point *w;
	double ratio; /* a / b */
	double tau;
	double *offset;           /* ln q */
	double *u, *y;            /* (E2), (E3) */
	double sum, slope, curve; /* of c, -c' and c'' */
	int64_t rough;            /* how many u changed by more than NEAR of it in the last pass */
} search;

/* ln x for 1 <= x and e^x for NIL <= x <= 1, to three digits. */
static inline double rough_ln(double x)
{
	uint64_t u = kdri_bits(x);
	double k = kdri_from_bits((u >> 52) | kdri_bits(0x1p52)) - (0x1p52 + 1023);
	double f = kdri_from_bits((u & 0x000fffffffffffff) | kdri_bits(1)) - 1;
	return k * 0.693147 + f * (0.693147 + (1 - f) * (0.291721 - f * 0.108399));
}

static inline double rough_exp(double x)
{
	double t = x * 1.4426950408889634 + 0x1.8p52, r = x - (t - 0x1.8p52) * 0.6931471805599453;
	uint64_t k = kdri_bits(t) - kdri_bits(0x1.8p52);
	return (1 + r * (1 + r * (0.5 + r * (0.166667 + r * 0.0416667)))) * kdri_from_bits((k + 1023) << 52);
}

KDRI_KERNEL
static void find_offsets(search *s)
{
	const double *left = s->w->left, *right = s->w->right;
	double *to = s->offset, ratio = s->ratio;
	int64_t d = s->w->d;
#pragma omp simd
	for (int64_t f = 0; f < d; f++)
		to[f] = kdri_ln(ratio * left[f] / right[f]);
}

KDRI_KERNEL
static void guess_roots(search *s)
{
	const double *offset = s->offset;
	double *u = s->u, tau = s->tau;
	int64_t d = s->w->d;
#pragma omp simd
	for (int64_t f = 0; f < d; f++) { /* (E4) */
		double z = offset[f] + tau, low = z > NIL ? z : NIL, high = z > 1 ? z : 1;
		double e = rough_exp(low < 1 ? low : 1), l = rough_ln(high);
		double over = z > 1 ? z * (1 + z - l) : e * (1 + 0.823 * e);
		double under = z > 1 ? 1 + z : 1 + e * (1.823 + 0.3894 * e);
		u[f] = over / under;
		s->y[f] = 0;
	}
}

/* Carries every u over the step that led to tau, improves it, and sums what follows. */
KDRI_KERNEL
static void improve_roots(search *s, double step)
{
	const double *offset = s->offset, *left = s->w->left, *right = s->w->right;
	double *u = s->u, *y = s->y, tau = s->tau, ratio = s->ratio, fall = exp(-s->tau);
	double sum = 0, slope = 0, curve = 0, half = step / 2;
	int64_t d = s->w->d, rough = 0;
#pragma omp simd reduction(+ : sum, slope, curve, rough)
	for (int64_t f = 0; f < d; f++) {
		double z = offset[f] + tau, by = y[f];
		double old = z > NIL ? u[f] * (1 + by * step * (1 + by * by * half)) : 1; /* (E3) */
		double r = z - old - kdri_ln(old), p = 1 + old, q = 2 * p * (p + 2.0 / 3 * r);
		/* (E5) is u = over / under; one division gives u, 1/u and y. */
		double under = p * (q - 2 * r), over = old * (under + r * (q - r)), both = over + under;
		double part = 1 / (under * over * both), new = part *over *(over * both);
		double c = ratio * left[f] * (part * under * (under * both)), nil = right[f] * fall;
		by = part * under * (under * over);
		double change = z > NIL ? fabs(r) * by : 0;
		c = z > NIL ? c : nil;
		by = z > NIL ? by : 1;
		u[f] = z > NIL ? new : 0;
		y[f] = by;
		rough += change > NEAR;
		sum += c;
		slope += c * by;
		curve += c * by * by * (2 - by);
	}
	s->sum = sum;
	s->slope = slope;
	s->curve = curve;
	s->rough = rough;
}

/* c for the tau found, carried over a last small step. */
KDRI_KERNEL
static void take_roots(const search *s, double step, double *c)
{
	const double *left = s->w->left, *right = s->w->right, *u = s->u, *y = s->y;
	double ratio = s->ratio, fall = exp(-s->tau);
	int64_t d = s->w->d;
#pragma omp simd
	for (int64_t f = 0; f < d; f++) {
		double root = ratio * left[f] / u[f], nil = right[f] * fall, by = step * y[f];
		c[f] = (u[f] > 0 ? root : nil) * (1 - by + by * by * (2 - y[f]) / 2); /* (E3) */
	}
}

/* The step to the root of l = ln(sum c): Newton's, or Halley's where that is near. */
static double next_step(const search *s)
{
	double l = log(s->sum), first = -s->slope / s->sum, second = s->curve / s->sum - first * first;
	double step = -l / first;
	if (fabs(step) < 0.1)
		step /= 1 + step * second / (2 * first);
	return KDRI_MAX(step, -8.0);
}

void kdri_kl_centroid(const kdri_two_point *w, double *c)
{
	search s = { .w = w, .ratio = w->a / w->b };
	double step = 0;
	if (!(s.ratio <
	      1e20)) { /* what the right side does is rounding, and (E5) would overflow in the end */
		memcpy(c, w->left, (size_t)w->d * sizeof *c);
		return;
	}
	s.offset = w->room;
	s.u = s.offset + w->d;
	s.y = s.u + w->d;
	s.tau = w->start && isfinite(*w->start) ? *w->start : s.ratio;
	find_offsets(&s);
	guess_roots(&s);
	for (int i = 0; i < 100; i++) {
		improve_roots(&s, fabs(step) > 0.5 ? 0 : step);
		step = next_step(&s);
		/* Sums of many numbers have errors of this size, so that tau cannot be more accurate. */
		bool still = fabs(s.sum - 1) <= 1e-15;
		if (s.rough == 0 && (still || fabs(step) <= SMALL))
			break;
		s.tau += step;
		if (fabs(step) > 0.5)
			guess_roots(&s);
	}
	take_roots(&s, fabs(step) <= SMALL ? step : 0, c);
	if (w->start)
		*w->start = s.tau + step;
}
