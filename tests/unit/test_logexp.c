/* ln, exp and tanh against those of the C library, and where they end. */
#include "matrix/cpu/cpu.h"
#include "matrix/linalg.h"
#include "matrix/logexp.h"
#include "tests/unit/unit.h"

/* Through arrays, as the library uses them: so that it is the vector code that is tested. */
KDRI_KERNEL
static void take_ln(const double *x, int64_t n, double *y)
{
#pragma omp simd
	for (int64_t i = 0; i < n; i++)
		y[i] = kdri_ln(x[i]);
}

KDRI_KERNEL
static void take_exp(const double *x, int64_t n, double *y)
{
#pragma omp simd
	for (int64_t i = 0; i < n; i++)
		y[i] = kdri_exp(x[i]);
}

enum { N = 100000 };
static double x[N], y[N];

/* Half a unit is rounding's own; the C library's may err by another. */
static void assert_ulps(double got, double expected, double at, double ulps)
{
	double unit = nextafter(fabs(expected), INFINITY) - fabs(expected);
	if (!(fabs(got - expected) <= ulps * unit))
		fail_msg("at %.17g: %.17g, expected %.17g", at, got, expected);
}

static void ln__any_positive_number__within_two_units(void **state)
{
	(void)state;
	kdri_rng rng = kdri_rng_stream(1, "ln", 0);
	for (int round = 0; round < 4; round++) {
		for (int i = 0; i < N; i++) {
			double u = kdri_rng_uniform(&rng);
			/* Everywhere; around 1; next to 1; subnormal. */
			x[i] = round == 0   ? exp(1400 * u - 700)
			       : round == 1 ? 0.5 + u
			       : round == 2 ? 1 + (u - 0.5) * 1e-6
			                    : ldexp(u + 0x1p-30, -1030);
		}
		take_ln(x, N, y);
		for (int i = 0; i < N; i++)
			assert_ulps(y[i], log(x[i]), x[i], 2);
	}
}

static void ln__ends__as_in_c(void **state)
{
	(void)state;
	double ends[] = { 0, INFINITY, 1, 0x1p-1074, 0x1.fffffffffffffp1023, -1, -INFINITY, NAN }, out[8];
	take_ln(ends, 8, out);
	assert_true(out[0] == -INFINITY && out[1] == INFINITY && out[2] == 0);
	assert_ulps(out[3], log(ends[3]), ends[3], 2);
	assert_ulps(out[4], log(ends[4]), ends[4], 2);
	assert_true(isnan(out[5]) && isnan(out[6]) && isnan(out[7]));
}

static void exp__within_range__within_two_units(void **state)
{
	(void)state;
	kdri_rng rng = kdri_rng_stream(2, "exp", 0);
	for (int round = 0; round < 3; round++) {
		double range = round == 0 ? 708 : round == 1 ? 1 : 1e-8;
		for (int i = 0; i < N; i++)
			x[i] = range * (2 * kdri_rng_uniform(&rng) - 1);
		take_exp(x, N, y);
		for (int i = 0; i < N; i++)
			assert_ulps(y[i], exp(x[i]), x[i], 2);
	}
}

static void exp__ends__as_in_c(void **state)
{
	(void)state;
	double ends[] = { 0, -0.0, INFINITY, -INFINITY, 800, -800, 709.4, NAN }, out[8];
	take_exp(ends, 8, out);
	assert_true(out[0] == 1 && out[1] == 1 && out[2] == INFINITY && out[3] == 0);
	assert_true(out[4] == INFINITY && out[5] == 0 && isnan(out[7]));
	assert_ulps(out[6], exp(709.4), 709.4, 2);
}

KDRI_KERNEL
static void take_expf(const float *from, int64_t n, float *to)
{
#pragma omp simd
	for (int64_t i = 0; i < n; i++)
		to[i] = kdri_expf(from[i]);
}

static float single[N], taken[N];

static void expf__within_range__within_two_units(void **state)
{
	(void)state;
	kdri_rng rng = kdri_rng_stream(1, "expf", 0);
	for (int i = 0; i < N; i++)
		single[i] = (float)((2 * kdri_rng_uniform(&rng) - 1) * (i % 2 ? 87 : 1));
	take_expf(single, N, taken);
	for (int i = 0; i < N; i++)
		assert_near(taken[i] / exp(single[i]), 1, 2 * 0x1p-23);
}

static void tanh__both_precisions__within_three_units(void **state)
{
	(void)state;
	static const double widest[] = { 1e-9, 0.7, 3, 30 };
	kdri_rng rng = kdri_rng_stream(1, "tanh", 0);
	for (int round = 0; round < 4; round++) {
		for (int i = 0; i < N; i++) {
			x[i] = y[i] = (2 * kdri_rng_uniform(&rng) - 1) * widest[round];
			single[i] = taken[i] = (float)x[i];
		}
		kdri_tanh(y, N);
		kdri_tanhf(taken, N);
		for (int i = 0; i < N; i++) {
			assert_ulps(y[i], tanh(x[i]), x[i], 3);
			assert_near(taken[i] / tanh(single[i]), 1, 3 * 0x1p-23);
		}
	}
	double ends[] = { 0, INFINITY, -INFINITY, NAN };
	kdri_tanh(ends, 4);
	assert_true(ends[0] == 0 && ends[1] == 1 && ends[2] == -1 && isnan(ends[3]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ln__any_positive_number__within_two_units),
		cmocka_unit_test(ln__ends__as_in_c),
		cmocka_unit_test(exp__within_range__within_two_units),
		cmocka_unit_test(exp__ends__as_in_c),
		cmocka_unit_test(expf__within_range__within_two_units),
		cmocka_unit_test(tanh__both_precisions__within_three_units),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
