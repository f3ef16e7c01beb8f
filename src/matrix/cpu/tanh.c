/* tanh of many numbers. SPDX-License-Identifier: BSD-3-Clause
 *
 * A layer of n samples and d features takes n d of them, and the library's tanh() about 10 ns for each: a tenth of
 * the time of the layer. These functions have no branches, so that loops are vectorised (the file is compiled without
 * support for floating-point exception flags), and take 1 to 2 ns. Their error is at most 2 units in the last place.
 *
 *   (E1)  tanh x = x + x^3 R(x^2)                 |x| < 0.625     R of Cephes, S. L. Moshier
 *   (E2)  tanh x = sign(x) (1 - 2 / (e^(2|x|) + 1))    elsewhere */
#include "matrix/cpu/cpu.h"
#include "matrix/logexp.h"

/* (E1) and (E2), both as a + b / c, so that there is one division. */
static inline double tanh_of(double x)
{
	double s = x * x, side = fabs(x), sign = copysign(1, x);
	double top =
	        (-9.64399179425052238628e-1 * s - 9.92877231001918586564e1) * s - 1.61468768441708447952e3;
	double bottom = ((s + 1.12811678491632931402e2) * s + 2.23548839060100448583e3) * s +
	                4.84406305325125486048e3;
	double power = kdri_exp(2 * (side < 20 ? side : 20));
	double a = side < 0.625 ? x : sign, b = side < 0.625 ? x * s * top : -2 * sign;
	double c = side < 0.625 ? bottom : power + 1, y = a + b / c;
	return x == x ? y : x;
}

static inline float tanhf_of(float x)
{
	float a = fabsf(x), s = x * x;
	float near =
	        x + x * s *
	                    ((((-5.70498872745e-3f * s + 2.06390887954e-2f) * s - 5.37397155531e-2f) * s +
	                      1.33314422036e-1f) *
	                             s -
	                     3.33332819422e-1f);
	float far = copysignf(1 - 2 / (kdri_expf(2 * (a < 10 ? a : 10)) + 1), x);
	return a < 0.625f ? near : far;
}

KDRI_KERNEL
void kdri_tanh(double *v, int64_t count)
{
#pragma omp simd
	for (int64_t i = 0; i < count; i++)
		v[i] = tanh_of(v[i]);
}

KDRI_KERNEL
void kdri_tanhf(float *v, int64_t count)
{
#pragma omp simd
	for (int64_t i = 0; i < count; i++)
		v[i] = tanhf_of(v[i]);
}
