/* The divergences: a table, and what stands in it. SPDX-License-Identifier: BSD-3-Clause
 *
 *     name         phi(p)             d(p || q)                    grad phi    domain
 *     sqeuclidean  |p|^2              |p - q|^2                    2 p         all
 *     mahalanobis  the same, of whitened points
 *     kl           sum p ln p - p     sum p ln(p/q) - p + q        ln p        p > 0, sum p = 1
 *     is           - sum ln p         sum p/q - ln(p/q) - 1        -1/p        p > 0
 *
 * Centroids, minimisers of (E2) of bregman.h:
 * symmetric   c = (a left + b right) / (a + b)
 *     [ZZ10, eq. 15]
 * is          (E3)  (b / right) c^2 + (a - b) c - a left = 0, the positive root of each coordinate, in the
 *     form that does not cancel.
 * kl          (E4)  u + ln u = ln(a left / (b right)) + tau,   c = a left / (b u),   sum c = 1
 *     with tau = (a + nu) / b and nu the multiplier of the sum; where left is 0, c = right exp(-tau). The sum
 *     falls with tau and is convex: d sum / d tau = - sum c / (1 + u), so Newton's method converges from
 *     anywhere. So does the one for u, begun at or below the root.
 * DEVIATION: [ZZ10] walks the geodesic between left and right for divergences that are not symmetric. The
 * minimiser does not lie on it for d > 1 and the objective can rise; (E3) and (E4) are exact. The walk is
 * kept as an option:
 *     (E5)  f'(s) = a <c - left, D> - b (1 - s) <c', D>,   D = grad right - grad left,
 *           grad c(s) = grad left + s D. */
#include "algo/parts/bregman.h"
#include "linalg/linalg.h"

/* --- squared Euclidean ---------------------------------------------------------------------- */

static double square_term(double p, double q)
{
	return (p - q) * (p - q);
}

KDRI_KERNEL
static double square_between(const double *p, const double *q, int64_t d)
{
	double sum = 0;
#pragma omp simd reduction(+ : sum)
	for (int64_t f = 0; f < d; f++)
		sum += (p[f] - q[f]) * (p[f] - q[f]);
	return sum;
}

static void square_gradient(const double *p, int64_t d, double *g)
{
	for (int64_t f = 0; f < d; f++)
		g[f] = 2 * p[f];
}

static void square_inverse(const double *g, int64_t d, double *p)
{
	for (int64_t f = 0; f < d; f++)
		p[f] = g[f] / 2;
}

static void square_centroid(const kdri_two_point *w, double *c)
{
	for (int64_t f = 0; f < w->d; f++)
		c[f] = (w->a * w->left[f] + w->b * w->right[f]) / (w->a + w->b);
}

static void square_tangent(const double *p, const double *by, int64_t d, double *out)
{
	(void)p;
	for (int64_t f = 0; f < d; f++)
		out[f] = by[f] / 2;
}

/* --- Kullback-Leibler ------------------------------------------------------------------------ */

static double kl_term(double p, double q)
{
	return p > 0 ? p * log(p / q) - p + q : q;
}

static double kl_between(const double *p, const double *q, int64_t d)
{
	double sum = 0;
	for (int64_t f = 0; f < d; f++)
		sum += kl_term(p[f], q[f]);
	return sum < 0 ? 0 : sum; /* NaN stays NaN */
}

static void kl_gradient(const double *p, int64_t d, double *g)
{
	for (int64_t f = 0; f < d; f++)
		g[f] = log(p[f]);
}

/* On the simplex gradients count up to a constant. */
static void kl_inverse(const double *g, int64_t d, double *p)
{
	double top = g[0], sum = 0;
	for (int64_t f = 1; f < d; f++)
		top = g[f] > top ? g[f] : top;
	for (int64_t f = 0; f < d; f++)
		sum += p[f] = exp(g[f] - top);
	for (int64_t f = 0; f < d; f++)
		p[f] /= sum;
}

static void kl_tangent(const double *p, const double *by, int64_t d, double *out)
{
	double mean = 0;
	for (int64_t f = 0; f < d; f++)
		mean += p[f] * by[f];
	for (int64_t f = 0; f < d; f++)
		out[f] = p[f] * (by[f] - mean);
}

/* The root of u + ln u = r from `u`, a guess; 0: none. Newton: u <- u (1 + r - ln u) / (1 + u). */
static double log_root(double r, double u)
{
	if (!(u > 0))
		u = r > 1 ? r - log(r) : exp(r - 1);
	for (int i = 0; i < 64 && u > 0; i++) {
		double next = u * (1 + r - log(u)) / (1 + u);
		if (!(next > 0))
			next = u / 16;
		double move = fabs(next - u);
		u = next;
		/* Quadratic: the next step would move it by the square of this. */
		if (move <= 1e-8 * u)
			break;
	}
	return u;
}

static void kl_centroid(const kdri_two_point *w, double *c)
{
	const double ratio = w->a / w->b;
	double *offset = w->room, *u = w->room + w->d, tau = ratio;
	for (int64_t f = 0; f < w->d; f++) {
		offset[f] = w->left[f] > 0 ? log(ratio * w->left[f] / w->right[f]) : 0;
		u[f] = 0;
	}
	for (int i = 0; i < 100; i++) { /* (E4) */
		double sum = -1, slope = 0;
		for (int64_t f = 0; f < w->d; f++) {
			if (w->left[f] > 0)
				u[f] = log_root(offset[f] + tau, u[f]);
			c[f] = u[f] > 0 ? ratio * w->left[f] / u[f] : w->right[f] * exp(-tau);
			sum += c[f];
			slope += c[f] / (1 + u[f]);
		}
		double step = sum / slope;
		tau += step;
		if (!(fabs(step) > 4e-16 * (1 + fabs(tau))))
			break;
		/* A small step changes u as its derivative says: u / (1 + u). */
		if (fabs(step) < 0.5)
			for (int64_t f = 0; f < w->d; f++)
				u[f] += step * u[f] / (1 + u[f]);
	}
}

/* --- Itakura-Saito ---------------------------------------------------------------------------- */

static double is_term(double p, double q)
{
	return p / q - log(p / q) - 1;
}

static double is_between(const double *p, const double *q, int64_t d)
{
	double sum = 0;
	for (int64_t f = 0; f < d; f++)
		sum += is_term(p[f], q[f]);
	return sum < 0 ? 0 : sum; /* NaN stays NaN */
}

static void is_gradient(const double *p, int64_t d, double *g)
{
	for (int64_t f = 0; f < d; f++)
		g[f] = -1 / p[f];
}

static void is_tangent(const double *p, const double *by, int64_t d, double *out)
{
	for (int64_t f = 0; f < d; f++)
		out[f] = p[f] * p[f] * by[f];
}

static void is_centroid(const kdri_two_point *w, double *c)
{
	double linear = w->a - w->b;
	for (int64_t f = 0; f < w->d; f++) { /* (E3) */
		double square = w->b / w->right[f], constant = w->a * w->left[f];
		double root = sqrt(linear * linear + 4 * square * constant);
		c[f] = linear >= 0 ? 2 * constant / (linear + root) : (root - linear) / (2 * square);
	}
}

/* --- the table --------------------------------------------------------------------------------- */

const kdri_divergence kdri_divergences[KDRI_DIVERGENCES] = {
	[KDRI_SQEUCLIDEAN] = { .name = "sqeuclidean",
	                       .symmetric = true,
	                       .term = square_term,
	                       .between = square_between,
	                       .gradient = square_gradient,
	                       .inverse = square_inverse,
	                       .tangent = square_tangent,
	                       .centroid = square_centroid },
	[KDRI_MAHALANOBIS] = { .name = "mahalanobis",
	                       .symmetric = true,
	                       .whitened = true,
	                       .term = square_term,
	                       .between = square_between,
	                       .gradient = square_gradient,
	                       .inverse = square_inverse,
	                       .tangent = square_tangent,
	                       .centroid = square_centroid },
	[KDRI_KL] = { .name = "kl",
	              .simplex = true,
	              .term = kl_term,
	              .between = kl_between,
	              .gradient = kl_gradient,
	              .inverse = kl_inverse,
	              .tangent = kl_tangent,
	              .centroid = kl_centroid },
	[KDRI_ITAKURA_SAITO] = { .name = "is",
	                         .positive = true,
	                         .term = is_term,
	                         .between = is_between,
	                         .gradient = is_gradient,
	                         .inverse = is_gradient, /* its own inverse */
	                         .tangent = is_tangent,
	                         .centroid = is_centroid },
};

const char *const kdri_divergence_names[KDRI_DIVERGENCES + 1] = { "sqeuclidean", "mahalanobis", "kl", "is",
	                                                          NULL };

/* --- two points ---------------------------------------------------------------------------------- */

double kdri_two_point_value(const kdri_divergence *v, const kdri_two_point *w, const double *c)
{
	return w->a * v->between(w->left, c, w->d) + w->b * v->between(c, w->right, w->d);
}

double kdri_geodesic_centroid(const kdri_divergence *v, const kdri_two_point *w, double *c)
{
	int64_t d = w->d;
	double *from = w->room, *way = from + d, *at = way + d, *turn = at + d, low = 0, high = 1;
	v->gradient(w->left, d, from);
	v->gradient(w->right, d, way);
	for (int64_t f = 0; f < d; f++)
		way[f] -= from[f];
	/* 2^-52 of the way is as far as bisection can see. */
	for (int i = 0; i < 60 && high - low > 0x1p-52; i++) {
		double s = low + (high - low) / 2, left = 0, right = 0;
		for (int64_t f = 0; f < d; f++)
			at[f] = from[f] + s * way[f];
		v->inverse(at, d, c);
		v->tangent(c, way, d, turn);
		for (int64_t f = 0; f < d; f++) {
			left += (c[f] - w->left[f]) * way[f];
			right += turn[f] * way[f];
		}
		if (w->a * left - w->b * (1 - s) * right > 0) /* (E5) */
			high = s;
		else
			low = s;
	}
	double s = low + (high - low) / 2;
	for (int64_t f = 0; f < d; f++)
		at[f] = from[f] + s * way[f];
	v->inverse(at, d, c);
	return s;
}
