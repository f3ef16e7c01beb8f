/* Double to the shortest text that reads back as the same number. SPDX-License-Identifier: BSD-3-Clause
 *
 * Schubfach [Giulietti, "The Schubfach way to render doubles", 2021]: the result is the nearest of the decimals with
 * the largest power of ten that still falls into the interval rounding to the double. It takes three products with a
 * 128-bit power of ten, rounded to odd so that comparisons are exact. */
#include "core/internal.h"
#include "core/numbers.h"

/* The high 64 bits of g x c (g of 128 bits), its lowest bit set if anything was lost. */
static uint64_t round_to_odd(uint64_t high, uint64_t low, uint64_t c)
{
	uint64_t carry = (uint64_t)(((kdri_u128)low * c) >> 64);
	kdri_u128 y = (kdri_u128)high * c + carry;
	return (uint64_t)(y >> 64) | ((uint64_t)y > 1);
}

/* Shortest significand and exponent of c x 2^q; `closer` if the double below is only half as far. */
static uint64_t shortest(uint64_t c, int q, bool closer, int *exponent)
{
	uint64_t odd = c & 1;
	/* floor(log10 of the interval's width), floor(log2 10^-k), by multiplication */
	int k = (q * 1262611 - (closer ? 524031 : 0)) >> 22;
	int h = q + ((-k * 1741647) >> 19) + 1;
	uint64_t high = kdri_pow5(-k)[0], low = kdri_pow5(-k)[1];
	/* The table is cut off outside 5^-27 .. 5^55; here it has to be rounded up. */
	if ((-k < -27 || -k > 55) && ++low == 0)
		high++;
	uint64_t lower = round_to_odd(high, low, (4 * c - 2 + closer) << h) + odd;
	uint64_t middle = round_to_odd(high, low, (4 * c) << h);
	uint64_t upper = round_to_odd(high, low, (4 * c + 2) << h) - odd;
	uint64_t s = middle / 4;
	*exponent = k;
	if (s >= 10) {
		uint64_t tenth = s / 10;
		bool down = lower <= 40 * tenth, up = 40 * tenth + 40 <= upper;
		if (down != up) {
			*exponent = k + 1;
			return tenth + up;
		}
	}
	bool down = lower <= 4 * s, up = 4 * s + 4 <= upper;
	if (down != up)
		return s + up;
	return s + (middle > 4 * s + 2 || (middle == 4 * s + 2 && (s & 1)));
}

/* Digits of v, without leading zeros; returns how many. */
static int put_digits(uint64_t v, char *out)
{
	char text[20];
	int n = 0;
	do {
		text[n++] = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	for (int i = 0; i < n; i++)
		out[i] = text[n - 1 - i];
	return n;
}

/* Plain notation for 1e-4 <= |value| < 1e16, as "0.001" or "1200"; else as "1.5e-7". */
static int place_point(const char *digits, int n, int exponent, char *out)
{
	int scientific = exponent + n - 1, used = 0;
	if (scientific >= 16 || scientific < -4) {
		out[used++] = digits[0];
		if (n > 1) {
			out[used++] = '.';
			memcpy(out + used, digits + 1, (size_t)n - 1);
			used += n - 1;
		}
		out[used++] = 'e';
		if (scientific < 0)
			out[used++] = '-';
		return used + put_digits((uint64_t)(scientific < 0 ? -scientific : scientific), out + used);
	}
	if (exponent >= 0) {
		memcpy(out, digits, (size_t)n);
		memset(out + n, '0', (size_t)exponent);
		return n + exponent;
	}
	int whole = n + exponent;
	if (whole > 0) {
		memcpy(out, digits, (size_t)whole);
		used = whole;
		out[used++] = '.';
	} else {
		out[used++] = '0';
		out[used++] = '.';
		memset(out + used, '0', (size_t)-whole);
		used -= whole;
		whole = 0;
	}
	memcpy(out + used, digits + whole, (size_t)(n - whole));
	return used + n - whole;
}

int kdri_print_double(double value, char *buffer)
{
	uint64_t bits;
	char digits[20], *out = buffer;
	memcpy(&bits, &value, sizeof bits);
	uint64_t fraction = bits & (((uint64_t)1 << 52) - 1);
	int e = (int)(bits >> 52) & 0x7ff;
	if (e == 0x7ff) {
		strcpy(buffer, fraction ? "nan" : bits >> 63 ? "-inf" : "inf");
		return (int)strlen(buffer);
	}
	if (bits >> 63)
		*out++ = '-';
	double size = fabs(value);
	if (size < 0x1p53 && size == (double)(uint64_t)size) {
		out += put_digits((uint64_t)size, out);
	} else {
		int exponent;
		uint64_t m = e ? shortest(fraction | (uint64_t)1 << 52, e - 1075, fraction == 0 && e > 1,
		                          &exponent)
		               : shortest(fraction, -1074, false, &exponent);
		for (; m % 10 == 0; m /= 10)
			exponent++;
		out += place_point(digits, put_digits(m, digits), exponent, out);
	}
	*out = '\0';
	return (int)(out - buffer);
}
