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

/* --- 17 digits ------------------------------------------------------------------------------------------ */

/* The 17 digits of c x 2^q, c of 53 bits with the highest set, that printf gives, and the power of ten of the first; 0: they
 * cannot be determined with certainty. The product with a power of ten of 128 bits is off by less than 4 in its last place, which
 * matters only if it is as close as that to the middle between two results. */
static uint64_t seventeen(uint64_t c, int q, int *first)
{
	const uint64_t least = 10000000000000000u, most = 10 * least;
	int e = (int)(((q + 52) * (int64_t)78913) >> 18); /* floor(log10), or one less */
	for (int attempt = 0; attempt < 2; attempt++, e++) {
		const int k = 16 - e;
		const uint64_t *t = kdri_pow5(k);
		const int binary = (int)((152170 * (int64_t)k) >> 16); /* floor(log2 5^k) */
		const uint64_t m = c << 11;
		const kdri_u128 product = (kdri_u128)m * t[0] + (((kdri_u128)m * t[1]) >> 64);
		/* value x 10^k = product x 2^(q - 11 + k + binary - 63) */
		const int shift = 63 + 11 - q - k - binary;
		if (shift < 64 || shift > 80)
			return 0;
		const kdri_u128 half = (kdri_u128)1 << (shift - 1), rest = product & (2 * half - 1);
		uint64_t digits = (uint64_t)(product >> shift);
		if (digits >= most)
			continue; /* the exponent was one too small */
		if (rest + 4 >= half && rest <= half + 4)
			return 0;
		digits += rest > half;
		*first = e + (digits == most);
		return digits == most ? least : digits >= least ? digits : 0;
	}
	return 0;
}

int kdri_print_17(double value, char *buffer)
{
	uint64_t bits, digits;
	int first = 0, n = 17, used = 0;
	char text[20];
	memcpy(&bits, &value, sizeof bits);
	const int biased = (int)(bits >> 52 & 0x7ff);
	const uint64_t c = (bits & (((uint64_t)1 << 52) - 1)) | (uint64_t)1 << 52;
	if (bits << 1 == 0) {
		memcpy(buffer, bits ? "-0" : "0", bits ? 3 : 2);
		return bits ? 2 : 1;
	}
	if (biased == 0 || biased == 0x7ff || (digits = seventeen(c, biased - 1075, &first)) == 0)
		return kdri_snprintf(buffer, KDRI_PRINT_17, "%.17g", value);
	put_digits(digits, text);
	while (text[n - 1] == '0')
		n--;
	if (bits >> 63)
		buffer[used++] = '-';
	if (first < -4 || first > 16) {
		const int power = first < 0 ? -first : first;
		buffer[used++] = text[0];
		if (n > 1) {
			buffer[used++] = '.';
			memcpy(buffer + used, text + 1, (size_t)n - 1);
			used += n - 1;
		}
		buffer[used++] = 'e';
		buffer[used++] = first < 0 ? '-' : '+';
		if (power < 10)
			buffer[used++] = '0';
		used += put_digits((uint64_t)power, buffer + used);
	} else if (first < 0) {
		memcpy(buffer + used, "0.0000", 6);
		used += 1 - first;
		memcpy(buffer + used, text, (size_t)n);
		used += n;
	} else {
		const int before = KDRI_MIN(n, first + 1);
		memcpy(buffer + used, text, (size_t)before);
		memset(buffer + used + before, '0', (size_t)(first + 1 - before));
		used += first + 1;
		if (n > before) {
			buffer[used++] = '.';
			memcpy(buffer + used, text + before, (size_t)(n - before));
			used += n - before;
		}
	}
	buffer[used] = 0;
	return used;
}

int kdri_print_int(int64_t value, char *buffer)
{
	const int sign = value < 0;
	buffer[0] = '-';
	const int n = sign + put_digits(sign ? 0 - (uint64_t)value : (uint64_t)value, buffer + sign);
	buffer[n] = 0;
	return n;
}
