/* Text to double and back, correctly rounded in any locale. SPDX-License-Identifier: BSD-3-Clause
 *
 * A decimal w x 10^q with w < 10^19 is converted in one of three ways:
 *  1. w <= 2^53 and 0 <= q <= 22: both are doubles, one rounding (Clinger 1990).
 *  2. else one or two 64 x 64 bit products with a 128-bit power of five give the rounded result
 *     [Lemire, "Number parsing at a gigabyte per second", 2021; Mushtak and Lemire, "Fast number
 *     parsing without fallback", 2023, prove that no further check is needed].
 *  3. With more than 19 digits the value lies in [w, w + 1) x 10^q. Nearly always both ends round to
 *     the same double; else the digits are compared, as big integers, with the point half-way. */
#include <pthread.h>

#include "core/internal.h"
#include "core/numbers.h"

/* Powers of five to 128 bits, computed at first use.
 *
 * 5^q for q >= 0 is multiplied up, and 2^TOP / 5^-q divided down, as integers of LIMBS x 64 bits. The result is their
 * 128 bits from the highest one on: floor(floor(x / a) / b) = floor(x / (a b)), so that no precision is lost. */

/* 5^342 has 795 bits; a quotient needs 128 more than that. */
enum { LIMBS = 16, COUNT = KDRI_POW5_HIGH - KDRI_POW5_LOW + 1 };

uint64_t kdri_pow5_table[COUNT][2];
atomic_bool kdri_pow5_ready;

/* The 128 bits from the highest one on, high word first. */
static void take_top(const uint64_t limb[LIMBS], uint64_t out[2])
{
	int i = LIMBS - 1;
	while (i > 2 && limb[i] == 0)
		i--;
	const int shift = __builtin_clzll(limb[i]);
	for (int k = 0; k < 2; k++)
		out[k] = shift == 0 ? limb[i - k] : limb[i - k] << shift | limb[i - k - 1] >> (64 - shift);
}

static void fill_table(void)
{
	uint64_t up[LIMBS] = { [2] = 1 },
	         down[LIMBS] = { [LIMBS - 1] = 1 }; /* [2]: zeros below for take_top */
	for (int q = 0; q <= KDRI_POW5_HIGH; q++) {
		uint64_t carry = 0;
		take_top(up, kdri_pow5_table[q - KDRI_POW5_LOW]);
		for (int i = 0; i < LIMBS; i++) {
			const kdri_u128 x = (kdri_u128)up[i] * 5 + carry;
			up[i] = (uint64_t)x;
			carry = (uint64_t)(x >> 64);
		}
	}
	for (int q = -1; q >= KDRI_POW5_LOW; q--) {
		uint64_t rest = 0, *out = kdri_pow5_table[q - KDRI_POW5_LOW];
		for (int i = LIMBS - 1; i >= 0; i--) {
			const kdri_u128 x = (kdri_u128)rest << 64 | down[i];
			down[i] = (uint64_t)(x / 5);
			rest = (uint64_t)(x % 5);
		}
		take_top(down, out);
		if (q >= -27) /* here the quotient is rounded up, as both directions expect */
			out[0] += ++out[1] == 0;
	}
	atomic_store_explicit(&kdri_pow5_ready, true, memory_order_release);
}

void kdri_pow5_fill(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	(void)pthread_once(&once, fill_table);
}

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
enum { DIGITS = 768, NUMBERS_LIMBS = 64 };

typedef struct big {
	int n;
	uint64_t limb[NUMBERS_LIMBS];
} big;

static void big_multiply_add(big *a, uint64_t factor, uint64_t carry)
{
	for (int i = 0; i < a->n; i++) {
		kdri_u128 x = (kdri_u128)a->limb[i] * factor + carry;
		a->limb[i] = (uint64_t)x;
		carry = (uint64_t)(x >> 64);
	}
	if (carry && a->n < NUMBERS_LIMBS)
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
	if (limbs == 0 || a->n + limbs > NUMBERS_LIMBS)
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

/* Double to the shortest text that reads back as the same number.
 *
 * Schubfach [Giulietti, "The Schubfach way to render doubles", 2021]: the result is the nearest of the decimals with
 * the largest power of ten that still falls into the interval rounding to the double. It takes three products with a
 * 128-bit power of ten, rounded to odd so that comparisons are exact. */

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
