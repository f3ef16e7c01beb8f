/* The table of divergences. SPDX-License-Identifier: BSD-3-Clause
 *
 *     name         phi(p)             d(p || q)                    grad phi    domain
 *     sqeuclidean  |p|^2              |p - q|^2                    2 p         all
 *     mahalanobis  the same, of whitened points
 *     kl           sum p ln p - p     sum p ln(p/q) - p + q        ln p        p > 0, sum p = 1
 *     is           - sum ln p         sum p/q - ln(p/q) - 1        -1/p        p > 0
 *
 * Centroids, minimisers of (E2) of mbc.h:
 * symmetric   c = (a left + b right) / (a + b)
 *     [ZZ10, eq. 15]
 * is          (E3)  (b / right) c^2 + (a - b) c - a left = 0, the positive root of each coordinate, in the
 *     form that does not cancel.
 * kl          (E4)  a left / c = b (ln(c / right) + tau), sum c = 1: kl.c.
 * DEVIATION: [ZZ10] walks the geodesic between left and right for divergences that are not symmetric. The
 * minimiser does not lie on it for d > 1 and the objective can rise; (E3) and (E4) are exact. The walk is
 * kept as an option:
 *     (E5)  f'(s) = a <c - left, D> - b (1 - s) <c', D>,   D = grad right - grad left,
 *           grad c(s) = grad left + s D. */
#include "matrix/linalg.h"
#include "matrix/logexp.h"
#include "methods/mbc/mbc.h"

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

/* --- Itakura-Saito ---------------------------------------------------------------------------- */

static double is_term(double p, double q)
{
	return p / q - log(p / q) - 1;
}

KDRI_KERNEL
static double is_between(const double *p, const double *q, int64_t d)
{
	double sum = 0;
#pragma omp simd reduction(+ : sum)
	for (int64_t f = 0; f < d; f++) {
		double ratio = p[f] / q[f];
		sum += ratio - kdri_ln(ratio) - 1;
	}
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

KDRI_KERNEL
static void is_centroid(const kdri_two_point *w, double *c)
{
	const double *left = w->left, *right = w->right, a = w->a, b = w->b, linear = a - b;
	int64_t d = w->d;
#pragma omp simd
	for (int64_t f = 0; f < d; f++) { /* (E3) */
		double square = b / right[f], constant = a * left[f];
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
	              .term = kdri_kl_term,
	              .between = kdri_kl_between,
	              .between_by = kdri_kl_between_by,
	              .gradient = kdri_kl_gradient,
	              .inverse = kdri_kl_inverse,
	              .tangent = kdri_kl_tangent,
	              .centroid = kdri_kl_centroid /* (E4) */ },
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
	/* Bisection cannot resolve more than 2^-52 of the interval. */
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
