/* Text to double, correctly rounded in any locale. SPDX-License-Identifier: BSD-3-Clause
 *
 * A decimal w x 10^q with w < 10^19 is converted in one of three ways:
 *  1. w <= 2^53 and 0 <= q <= 22: both are doubles, one rounding (Clinger 1990).
 *  2. else one or two 64 x 64 bit products with a 128-bit power of five give the rounded result
 *     [Lemire, "Number parsing at a gigabyte per second", 2021; Mushtak and Lemire, "Fast number
 *     parsing without fallback", 2023, prove that no further check is needed].
 *  3. With more than 19 digits the value lies in [w, w + 1) x 10^q. Nearly always both ends round to
 *     the same double; else the digits are compared, as big integers, with the point half-way. */
#include "core/numbers.h"
#include "core/internal.h"

typedef struct decimal {
	uint64_t w; /* the first 19 significant digits */
	int64_t q;  /* power of ten of w's last digit */
	bool cut;   /* digits other than zero were omitted from w */
	const char *digits, *digits_end;
} decimal;

static double from_bits(uint64_t bits)
{
	double value;
	memcpy(&value, &bits, sizeof value);
	return value;
}

static const double tens[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
	                       1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };

/* Way 2, without sign. */
static inline double eisel_lemire(uint64_t w, int64_t q)
{
#ifdef __wasm__ /* a product of 128 bits takes longer than the division of way 1, which is rounded once, too */
	if (w <= (uint64_t)1 << 53 && q <= 0 && q >= -22)
		return (double)(int64_t)w / tens[-q];
#endif
	if (w == 0 || q < KDRI_POW5_LOW)
		return 0;
	if (q > 308)
		return INFINITY;
	const uint64_t *t = kdri_pow5(q);
	int zeros = __builtin_clzll(w);
	w <<= zeros;
	kdri_u128 product = (kdri_u128)w * t[0];
	uint64_t high = (uint64_t)(product >> 64), low = (uint64_t)product;
	/* The low half of the power matters only if its carry could reach the 55 bits wanted. */
	if ((high & 0x1ff) == 0x1ff) {
		uint64_t carry = (uint64_t)(((kdri_u128)w * t[1]) >> 64);
		low += carry;
		high += carry > low;
	}
	int top = (int)(high >> 63);
	int shift = top + 64 - 52 - 3;
	uint64_t m = high >> shift;
	/* floor(log2 10^q) by multiplication */
	int64_t exponent = ((217706 * q) >> 16) + 63 + top - zeros + 1023;
	if (exponent <= 0) {
		if (-exponent + 1 >= 64)
			return 0;
		m >>= -exponent + 1;
		m += m & 1;
		m >>= 1; /* may round up to the smallest normal number, whose bits these then are */
		return from_bits(m);
	}
	/* Exactly half-way: possible only for powers of five that fit 64 bits. */
	if (low <= 1 && q >= -4 && q <= 23 && (m & 3) == 1 && m << shift == high)
		m &= ~(uint64_t)1;
	m += m & 1;
	m >>= 1;
	if (m >= (uint64_t)2 << 52) {
		m = (uint64_t)1 << 52;
		exponent++;
	}
	if (exponent >= 0x7ff)
		return INFINITY;
	return from_bits((m & ~((uint64_t)1 << 52)) | (uint64_t)exponent << 52);
}

/* --- way 3: big integers ---------------------------------------------------------------------- */

/* Of more digits than DIGITS the rest cannot move the value across a half-way point, which has at
 * most 767; that they are not all zero is kept as one more digit. The largest product then has about
 * 3640 bits. */
enum { DIGITS = 768, LIMBS = 64 };

typedef struct big {
	int n;
	uint64_t limb[LIMBS];
} big;

static void big_multiply_add(big *a, uint64_t factor, uint64_t carry)
{
	for (int i = 0; i < a->n; i++) {
		kdri_u128 x = (kdri_u128)a->limb[i] * factor + carry;
		a->limb[i] = (uint64_t)x;
		carry = (uint64_t)(x >> 64);
	}
	if (carry && a->n < LIMBS)
		a->limb[a->n++] = carry;
}

static void big_multiply_pow5(big *a, int64_t power)
{
	const uint64_t five27 = 7450580596923828125u;
	for (; power >= 27; power -= 27)
		big_multiply_add(a, five27, 0);
	for (; power > 0; power--)
		big_multiply_add(a, 5, 0);
}

static void big_shift_left(big *a, int64_t bits)
{
	int limbs = (int)(bits / 64);
	big_multiply_add(a, (uint64_t)1 << (bits % 64), 0);
	if (limbs == 0 || a->n + limbs > LIMBS)
		return;
	memmove(a->limb + limbs, a->limb, (size_t)a->n * sizeof a->limb[0]);
	memset(a->limb, 0, (size_t)limbs * sizeof a->limb[0]);
	a->n += limbs;
}

static int big_compare(const big *a, const big *b)
{
	if (a->n != b->n)
		return a->n < b->n ? -1 : 1;
	for (int i = a->n - 1; i >= 0; i--)
		if (a->limb[i] != b->limb[i])
			return a->limb[i] < b->limb[i] ? -1 : 1;
	return 0;
}

/* All significant digits of `d` (at most DIGITS, and one that represents the rest) as an integer; *q is the power of ten
 * of its last digit. */
static void big_from_digits(const decimal *d, char point, big *a, int64_t *q)
{
	int64_t taken = 0, left_out = 0;
	bool rest = false;
	a->n = 0;
	for (const char *p = d->digits; p < d->digits_end; p++) {
		if (*p == point || (taken == 0 && *p == '0'))
			continue;
		if (taken < DIGITS) {
			if (a->n == 0) {
				a->n = 1;
				a->limb[0] = 0;
			}
			big_multiply_add(a, 10, (uint64_t)(*p - '0'));
			taken++;
		} else {
			rest |= *p != '0';
			left_out++;
		}
	}
	/* w holds the first 19 digits, so the last digit taken is taken - 19 places below w's last. */
	*q = d->q - (taken - 19);
	if (left_out > 0) {
		big_multiply_add(a, 10, rest);
		*q -= 1;
	}
}

/* The double nearest to `d`, which lies between `low` and the next double above it. */
static double nearer(const decimal *d, char point, double low)
{
	uint64_t bits;
	memcpy(&bits, &low, sizeof bits);
	int64_t e = (int64_t)(bits >> 52), q;
	uint64_t m = bits & (((uint64_t)1 << 52) - 1);
	if (e > 0)
		m |= (uint64_t)1 << 52;
	else
		e = 1;
	/* half-way: (2m + 1) x 2^(e - 1076), against digits x 10^q; both made integers */
	big a, b = { 1, { 2 * m + 1 } };
	big_from_digits(d, point, &a, &q);
	int64_t shift = (e - 1076) - q;
	if (q >= 0)
		big_multiply_pow5(&a, q);
	else
		big_multiply_pow5(&b, -q);
	if (shift >= 0)
		big_shift_left(&b, shift);
	else
		big_shift_left(&a, -shift);
	int order = big_compare(&a, &b);
	return from_bits(bits + (order > 0 || (order == 0 && (m & 1))));
}

/* --- scanning --------------------------------------------------------------------------------- */

static inline bool is_digit(char c)
{
	return (unsigned char)(c - '0') < 10;
}

/* Eight characters, the first in the lowest byte, less '0' each. */
static inline uint64_t eight_at(const char *p)
{
	uint64_t v;
	memcpy(&v, p, sizeof v);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = __builtin_bswap64(v);
#endif
	return v ^ 0x3030303030303030u;
}

/* The number that eight digits are, by Lemire's three multiplications. */
static inline uint64_t eight_digits(uint64_t v)
{
	v = v * 10 + (v >> 8);
	v = ((v & 0x000000ff000000ffu) * 0x000f424000000064u +
	     ((v >> 16) & 0x000000ff000000ffu) * 0x0000271000000001u) >>
	    32;
	return (uint32_t)v;
}

/* Eight at a time. The number of remaining digits varies from cell to cell, and a loop over them would cause a branch
 * misprediction in each. They are therefore also processed at once, moved to the end of eight digits, the others of
 * which are zeros. */
static inline const char *take_digits(const char *p, const char *end, uint64_t *w)
{
	static const uint32_t power[] = { 1, 10, 100, 1000, 10000, 100000, 1000000, 10000000 };
	for (; end - p >= 8; p += 8) {
		uint64_t v = eight_at(p);
		/* The lowest bit set is that of the first character beyond 9; what a carry does above it is no matter. */
		uint64_t other = ((v + 0x7676767676767676u) | v) & 0x8080808080808080u;
		if (other) {
			int n = __builtin_ctzll(other) / 8;
			*w = *w * power[n] + eight_digits(v << 8 << (56 - 8 * n));
			return p + n;
		}
		*w = *w * 100000000 + eight_digits(v);
	}
	for (; p < end && is_digit(*p); p++)
		*w = *w * 10 + (uint64_t)(*p - '0');
	return p;
}

/* Parses the exponent at p ("e-12"); returns p itself if there is none. */
static const char *take_exponent(const char *p, const char *end, int64_t *exponent)
{
	const char *start = p;
	bool negative = false;
	int64_t e = 0;
	if (p == end || (*p != 'e' && *p != 'E'))
		return start;
	p++;
	if (p < end && (*p == '+' || *p == '-'))
		negative = *p++ == '-';
	if (p == end || (unsigned char)(*p - '0') >= 10)
		return start;
	for (; p < end && (unsigned char)(*p - '0') < 10; p++)
		if (e < (int64_t)1 << 40)
			e = e * 10 + (*p - '0');
	*exponent += negative ? -e : e;
	return p;
}

/* More than 19 digits: takes the first 19 that count again. */
static void cut_digits(decimal *d, char point, int64_t exponent)
{
	int taken = 0;
	bool after_point = false;
	d->w = 0;
	d->q = exponent;
	for (const char *p = d->digits; p < d->digits_end; p++) {
		if (*p == point) {
			after_point = true;
			continue;
		}
		if (taken > 0 || *p != '0') {
			if (taken < 19) {
				d->w = d->w * 10 + (uint64_t)(*p - '0');
				taken++;
			} else {
				d->cut |= *p != '0';
				d->q += !after_point;
				continue;
			}
		}
		d->q -= after_point;
	}
}

static const char *take_word(const char *p, const char *end, bool negative, double *value)
{
	size_t room = (size_t)(end - p);
	double v;
	size_t length;
	if (room >= 3 && kdri_same_word(p, 3, "nan")) {
		v = NAN;
		length = 3;
	} else if (room >= 3 && kdri_same_word(p, 3, "inf")) {
		v = INFINITY;
		length = room >= 8 && kdri_same_word(p, 8, "infinity") ? 8 : 3;
	} else {
		return NULL;
	}
	*value = negative ? -v : v;
	return p + length;
}

/* The value of digits that were read into w and q, and of an exponent that is in q. */
static inline double numbers_value_of(uint64_t w, int64_t q)
{
	/* Way 1 would divide if q < 0, which takes as long as way 2, and switching between the two causes branch
	 * mispredictions. */
	return w <= (uint64_t)1 << 53 && q >= 0 && q <= 22 ? (double)w * tens[q] : eisel_lemire(w, q);
}

/* Way 3, without sign: the digits [begin, end) are more than 19. */
static double long_value(const char *begin, const char *end, char point, int64_t exponent)
{
	decimal d = { .digits = begin, .digits_end = end };
	cut_digits(&d, point, exponent);
	double v = numbers_value_of(d.w, d.q);
	return d.cut && v != eisel_lemire(d.w + 1, d.q) ? nearer(&d, point, v) : v;
}

/* A number of any form; `digits` is past its sign. */
__attribute__((noinline)) static const char *any_number(const char *digits, const char *end, char point,
                                                        bool negative, double *value)
{
	uint64_t w = 0;
	int64_t q = 0, exponent = 0;
	const char *p = take_digits(digits, end, &w);
	int64_t count = p - digits;
	if (p < end && *p == point) {
		const char *fraction = p + 1;
		p = take_digits(fraction, end, &w);
		q = fraction - p;
		count -= q;
	}
	if (count == 0)
		return take_word(digits, end, negative, value);
	const char *digits_end = p;
	if (p < end && (*p | 0x20) == 'e')
		p = take_exponent(p, end, &exponent);
	double v = count > 19 ? long_value(digits, digits_end, point, exponent)
	                      : numbers_value_of(w, q + exponent);
	*value = negative ? -v : v;
	return p;
}

const char *kdri_parse_decimal(const char *p, const char *end, char point, double *value)
{
	bool negative = p < end && *p == '-', positive = p < end && *p == '+';
	p += negative | positive;
	/* What most cells of a table are: a digit, the point, at most 18 digits; without a call to anything. */
	if (end - p > 2 && p[1] == point && is_digit(p[0]) && is_digit(p[2])) {
		uint64_t w = (uint64_t)(p[0] - '0');
		const char *fraction = p + 2, *stop = take_digits(fraction, end, &w);
		if (stop - fraction <= 18 && (stop == end || (*stop | 0x20) != 'e')) {
			double v = eisel_lemire(w, fraction - stop);
			*value = negative ? -v : v;
			return stop;
		}
	}
	return any_number(p, end, point, negative, value);
}

const char *kdri_parse_double(const char *p, const char *end, double *value)
{
	return kdri_parse_decimal(p, end, '.', value);
}

const char *kdri_parse_int(const char *p, const char *end, int64_t *value)
{
	bool negative = false;
	uint64_t v = 0;
	if (p < end && (*p == '-' || *p == '+'))
		negative = *p++ == '-';
	const char *digits = p;
	for (; p < end && (unsigned char)(*p - '0') < 10; p++) {
		uint64_t digit = (uint64_t)(*p - '0');
		if (v > ((uint64_t)INT64_MAX + negative - digit) / 10)
			return NULL;
		v = v * 10 + digit;
	}
	if (p == digits)
		return NULL;
	*value = negative ? (int64_t)(0 - v) : (int64_t)v;
	return p;
}

int kdri_compare_doubles(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}
