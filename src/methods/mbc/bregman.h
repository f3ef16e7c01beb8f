/* Bregman divergences and the centroids they define. SPDX-License-Identifier: BSD-3-Clause
 *
 * For a convex function phi,
 *     (E1)  d(p || q) = phi(p) - phi(q) - <grad phi(q), p - q>  >= 0.
 * A centroid c is attracted from two sides by
 *     (E2)  f(c) = a d(left || c) + b d(c || right),   a > 0, b > 0.
 * A new divergence is one entry of the table in bregman.c; no other code lists the divergences. */
#ifndef KDRI_BREGMAN_H
#define KDRI_BREGMAN_H

#include "core/internal.h"

/* The two sides of (E2), points of d coordinates. */
typedef struct kdri_two_point {
	double a, b;
	const double *left, *right;
	int64_t d;
	double *room; /* KDRI_TWO_POINT_ROOM x d numbers of scratch */
	double *start; /* kl: where the search for its multiplier begins (NaN: anywhere) and, on return, where it
		          ended; or NULL */
} kdri_two_point;
enum { KDRI_TWO_POINT_ROOM = 4 };

typedef struct kdri_divergence {
	const char *name;
	bool symmetric; /* d(p || q) = d(q || p) */
	bool whitened;  /* points are first multiplied by the inverse square root of the pooled covariance */
	bool simplex;   /* points are distributions: data are scaled to sum 1 and smoothed */
	bool positive;  /* entries must be > 0 */
	double (*term)(double p, double q); /* the part of one coordinate in (E1) */
	double (*between)(const double *p, const double *q, int64_t d);
	/* The same if by = grad q - grad p is known, which saves work; or NULL. */
	double (*between_by)(const double *p, const double *q, const double *by, int64_t d);
	void (*gradient)(const double *p, int64_t d, double *g);
	void (*inverse)(const double *g, int64_t d, double *p); /* of the gradient, into the domain */
	/* out = change of the point whose gradient changes by `by`; NULL if symmetric. */
	void (*tangent)(const double *p, const double *by, int64_t d, double *out);
	void (*centroid)(const kdri_two_point *pull, double *c); /* the minimiser of (E2) */
} kdri_divergence;

typedef enum kdri_divergence_id {
	KDRI_SQEUCLIDEAN,
	KDRI_MAHALANOBIS,
	KDRI_KL,
	KDRI_ITAKURA_SAITO,
	KDRI_DIVERGENCES
} kdri_divergence_id;
extern const kdri_divergence kdri_divergences[KDRI_DIVERGENCES];
/* Their names in that order, ended by NULL: the choices of an option. */
extern const char *const kdri_divergence_names[KDRI_DIVERGENCES + 1];

/* f(c) of (E2). */
double kdri_two_point_value(const kdri_divergence *v, const kdri_two_point *pull, const double *c);
/* Minimises (E2) on the geodesic from left to right by bisection of its derivative. Returns the position on the
 * geodesic, 0 (left) to 1 (right). */
double kdri_geodesic_centroid(const kdri_divergence *v, const kdri_two_point *pull, double *c);

#endif
