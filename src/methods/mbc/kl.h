/* The Kullback-Leibler divergence on the simplex: kl.c. SPDX-License-Identifier: BSD-3-Clause
 *
 * The functions of an entry of the table in bregman.c; bregman.h describes what each does. */
#ifndef KDRI_KL_H
#define KDRI_KL_H

#include "methods/mbc/bregman.h"

double kdri_kl_term(double p, double q);
double kdri_kl_between(const double *p, const double *q, int64_t d);
double kdri_kl_between_by(const double *p, const double *q, const double *by, int64_t d);
void kdri_kl_gradient(const double *p, int64_t d, double *g);
void kdri_kl_inverse(const double *g, int64_t d, double *p);
void kdri_kl_tangent(const double *p, const double *by, int64_t d, double *out);
void kdri_kl_centroid(const kdri_two_point *pull, double *c);

#endif
