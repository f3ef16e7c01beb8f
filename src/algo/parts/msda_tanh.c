/* tanh of many numbers. SPDX-License-Identifier: BSD-3-Clause
 *
 * A layer of n samples and d features takes n d of them, and the library's tanh() about 10 ns for each: a tenth of
 * the whole layer. These have no branches, so that loops become vector code (the file is compiled without regard
 * to the flags of floating-point exceptions), and take 1 to 2. They err by at most 2 units in the last place.
 *
 *   (E1)  tanh x = x + x^3 R(x^2)                 |x| < 0.625     R of Cephes, S. L. Moshier
 *   (E2)  tanh x = sign(x) (1 - 2 / (e^(2|x|) + 1))    elsewhere */
#include "algo/parts/msda_work.h"
#include "linalg/logexp.h"

static inline double tanh_of(double x)
{
	double a = fabs(x), s = x * x;
	double top =
	        (-9.64399179425052238628e-1 * s - 9.92877231001918586564e1) * s - 1.61468768441708447952e3;
	double bottom = ((s + 1.12811678491632931402e2) * s + 2.23548839060100448583e3) * s +
	                4.84406305325125486048e3;
	double near = x + x * s * (top / bottom); /* (E1) */
	double far = copysign(1 - 2 / (kdri_exp(2 * (a < 20 ? a : 20)) + 1), x);
	double y = a < 0.625 ? near : far;
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
