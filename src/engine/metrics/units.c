/* Marginals in integer units. SPDX-License-Identifier: BSD-3-Clause
 *
 * A transportation problem solved in floating point has flows that should be 0 but are 1e-17. With integers this does
 * not happen: the solver terminates, and the flows are exact.
 *
 * Marginals that come from counts (1/K each, or n_z/n) are multiples of a common unit: with p the fraction of the
 * total, continued fractions give the smallest a/q within rounding of p, and the unit is one over the least common
 * multiple of all q. Uniform marginals of K and L lines get K L / gcd(K, L) units. Other marginals have no such unit
 * and are put on a grid of 2^-60 of their total, far below the rounding they already carry; the difference of the
 * totals is added to the largest demand. */
#include "engine/metrics/metrics.h"

#include <float.h>

/* What a share can be off by after it and the total were each rounded, twice over. */
static const double share_error = 8 * DBL_EPSILON;
static const double most_denominator = 0x1p24, most_units = 0x1p40;
enum { GRID_BITS = 60 };

static kdr_status units_add_up(kdr_context *ctx, const double *x, int64_t n, const char *what, double *total)
{
	kdri_neumaier s = { 0 };
	for (int64_t i = 0; i < n; i++) {
		if (!(x[i] >= 0 && x[i] <= 1e300))
			return kdri_fail(ctx, KDR_ERR_DATA, "%s %lld is %g; use 0 to 1e300", what,
			                 (long long)i + 1, x[i]);
		kdri_neumaier_add(&s, x[i]);
	}
	*total = kdri_neumaier_value(&s);
	return KDR_OK;
}

/* The smallest q with a/q within rounding of p in (0, 1]; 0 if there is none up to the limit. */
static double denominator(double p)
{
	double x = p, a0 = 1, q0 = 0, a1 = floor(x), q1 = 1;
	while (fabs(a1 - p * q1) > share_error * p * q1) {
		double rest = x - floor(x);
		if (rest <= 0)
			return 0;
		x = 1 / rest;
		double a2 = floor(x) * a1 + a0, q2 = floor(x) * q1 + q0;
		a0 = a1, q0 = q1, a1 = a2, q1 = q2;
		if (!(q1 <= most_denominator))
			return 0;
	}
	return q1;
}

static double gcd(double a, double b)
{
	while (b > 0) {
		double r = fmod(a, b);
		a = b;
		b = r;
	}
	return a;
}

static bool is_multiple(double share, double units)
{
	double t = share * units;
	return fabs(t - nearbyint(t)) <= share_error * t;
}

/* Extends *units so that all shares are multiples of 1 / *units. */
static bool common_unit(const double *x, int64_t n, double total, double *units)
{
	for (int64_t i = 0; i < n; i++) {
		double p = x[i] / total;
		if (x[i] == 0 || is_multiple(p, *units))
			continue;
		double q = denominator(p);
		if (q == 0)
			return false;
		*units *= q / gcd(*units, q);
		if (*units > most_units || !is_multiple(p, *units))
			return false;
	}
	return true;
}

/* True if the rounded shares add up to all units. */
static bool round_shares(const double *x, int64_t n, double total, double units, int64_t *whole)
{
	int64_t sum = 0;
	for (int64_t i = 0; i < n; i++) {
		whole[i] = (int64_t)nearbyint(x[i] / total * units);
		sum += whole[i];
	}
	return sum == (int64_t)units;
}

static void put_on_grid(const double *supply, int64_t rows, double supplied, const double *demand,
                        int64_t cols, double demanded, kdri_units *out)
{
	int exponent;
	frexp(supplied, &exponent); /* supplied < 2^exponent */
	int64_t gap = 0, largest = 0;
	for (int64_t i = 0; i < rows; i++) {
		out->supply[i] = (int64_t)nearbyint(ldexp(supply[i], GRID_BITS - exponent));
		gap += out->supply[i];
	}
	for (int64_t j = 0; j < cols; j++) {
		double d = supplied == demanded ? demand[j] : demand[j] * (supplied / demanded);
		out->demand[j] = (int64_t)nearbyint(ldexp(d, GRID_BITS - exponent));
		gap -= out->demand[j];
		if (out->demand[j] > out->demand[largest])
			largest = j;
	}
	out->demand[largest] += gap;
	out->total = ldexp(1, exponent);
	out->units = ldexp(1, GRID_BITS);
}

kdr_status kdri_units_find(kdr_context *ctx, const double *supply, int64_t rows, const double *demand,
                           int64_t cols, kdri_units *out)
{
	double supplied = 0, demanded = 0, units = 1;
	KDRI_DO(units_add_up(ctx, supply, rows, "supply", &supplied));
	KDRI_DO(units_add_up(ctx, demand, cols, "demand", &demanded));
	if (!(fabs(supplied - demanded) <= 1e-9 * KDRI_MAX(supplied, demanded)))
		return kdri_fail(
		        ctx, KDR_ERR_DATA,
		        "the supplies add up to %.17g and the demands to %.17g; they must be equal (to 1e-9)",
		        supplied, demanded);
	if (supplied == 0 || demanded == 0) {
		memset(out->supply, 0, (size_t)rows * sizeof *out->supply);
		memset(out->demand, 0, (size_t)cols * sizeof *out->demand);
		out->total = 0;
		out->units = 1;
	} else if (common_unit(supply, rows, supplied, &units) &&
	           common_unit(demand, cols, demanded, &units) &&
	           round_shares(supply, rows, supplied, units, out->supply) &&
	           round_shares(demand, cols, demanded, units, out->demand)) {
		out->total = supplied;
		out->units = units;
	} else {
		put_on_grid(supply, rows, supplied, demand, cols, demanded, out);
	}
	return KDR_OK;
}
