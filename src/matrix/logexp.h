/* ln and exp that compilers can vectorise. SPDX-License-Identifier: BSD-3-Clause
 *
 * A call of log() or exp() keeps a loop scalar: about 8 ns per element, while these take 1 to 2 ns. They have no
 * branches and no tables, so that compilers vectorise loops over them on every machine (`#pragma omp simd`,
 * KDRI_KERNEL). The error of both is less than 1 unit in the last place (tests/unit/test_logexp.c).
 *
 * ln: x = 2^k (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)), and with s = f / (2 + f)
 *     ln(1 + f) = 2 atanh(s) = f - f^2/2 + s (f^2/2 + R(s^2)),
 * R the polynomial of Sun's fdlibm (e_log.c), its error below 2^-58. exp: x = k ln 2 + r, |r| <= ln(2) / 2, and the
 * rational form of fdlibm (e_exp.c). */
#ifndef KDRI_LOGEXP_H
#define KDRI_LOGEXP_H

#include <math.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t kdri_bits(double x)
{
	uint64_t u;
	memcpy(&u, &x, sizeof u);
	return u;
}

static inline double kdri_from_bits(uint64_t u)
{
	double x;
	memcpy(&x, &u, sizeof x);
	return x;
}

/* ln x; -infinity at 0, NaN below. */
static inline double kdri_ln(double x)
{
	const double two52 = 0x1p52;
	const uint64_t half_root = 0x3fe6a09e667f3bcd; /* sqrt(1/2) */
	double small = x < 0x1p-1022 ? 54 : 0;         /* subnormal: scaled up first */
	double normal = x < 0x1p-1022 ? x * 0x1p54 : x;
	uint64_t u = kdri_bits(normal) + (0x3ff0000000000000 - half_root);
	/* The exponent is converted to a number through the low bits of 2^52 + exponent. */
	double k = kdri_from_bits((u >> 52) | kdri_bits(two52)) - (two52 + 1023 + small);
	double f = kdri_from_bits((u & 0x000fffffffffffff) + half_root) - 1;
	double s = f / (2 + f), z = s * s, w = z * z;
	double odd = w * (3.999999999940941908e-01 +
	                  w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01));
	double even = z * (6.666666666666735130e-01 +
	                   w * (2.857142874366239149e-01 +
	                        w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01)));
	double square = 0.5 * f * f;
	double y = k * 6.93147180369123816490e-01 -
	           ((square - (s * (square + (odd + even)) + k * 1.90821492927058770002e-10)) - f);
	y = x > 0 ? y : NAN;
	y = x == 0 ? -INFINITY : y;
	return x == INFINITY ? x : y;
}

/* e^x; 0 below -708, where the result would be subnormal. */
static inline double kdri_exp(double x)
{
	const double shift = 0x1.8p52; /* adding it rounds to an integer, stored in the low bits */
	double in = x < -708 ? -708 : x;
	in = in > 709.5 ? 709.5 : in;
	double t = in * 1.44269504088896338700 + shift, k = t - shift;
	double hi = in - k * 6.93147180369123816490e-01, lo = k * 1.90821492927058770002e-10, r = hi - lo;
	double w = r * r;
	double c = r - w * (1.66666666666666019037e-01 +
	                    w * (-2.77777777770155933842e-03 +
	                         w * (6.61375632143793436117e-05 +
	                              w * (-1.65339022054652515390e-06 + w * 4.13813679705723846039e-08))));
	double y = 1 + (r * c / (2 - c) - lo + hi);
	/* 2^k in two factors, because 2^1024 is not representable. */
	uint64_t n = kdri_bits(t) - kdri_bits(shift);
	y = y * kdri_from_bits((n + 1022) << 52) * 2;
	y = x < -708 ? 0 : y;
	y = x > 709.5 ? INFINITY : y;
	return x == x ? y : x;
}

/* e^x in single precision, for use in vector loops; 0 <= |x| <= 87. x = k ln 2 + r with |r| <= ln(2) / 2, and the
 * polynomial of Cephes (expf.c, S. L. Moshier); less than 1.5 units in the last place. */
static inline float kdri_expf(float x)
{
	const float shift = 0x1.8p23f; /* as in kdri_exp */
	float t = x * 1.44269504089f + shift, k = t - shift;
	float r = (x - k * 0.693359375f) + k * 2.12194440e-4f;
	float y = (((((1.9875691500e-4f * r + 1.3981999507e-3f) * r + 8.3334519073e-3f) * r +
	             4.1665795894e-2f) *
	                    r +
	            1.6666665459e-1f) *
	                   r +
	           5.0000001201e-1f) *
	                  r * r +
	          r + 1;
	uint32_t n;
	float power;
	memcpy(&n, &t, sizeof n);
	n = (n - 0x4b400000 + 127) << 23; /* less the bits of shift */
	memcpy(&power, &n, sizeof power);
	return y * power;
}

#endif
