/* Numbers parse and print exactly: against strtod over random bit patterns and over the cases known to
 * be hard. */
#include <locale.h>

#include "core/numbers.h"
#include "io/io.h"
#include "tests/unit/unit.h"

static uint64_t bits_of(double v)
{
	uint64_t b;
	memcpy(&b, &v, sizeof b);
	return b;
}

static double parse(const char *text)
{
	double v = -77;
	const char *end = text + strlen(text), *stop = kdri_parse_double(text, end, &v);
	if (stop != end)
		fail_msg("'%s': stopped at %td", text, stop ? stop - text : -1);
	return v;
}

static void assert_as_strtod(const char *text)
{
	double v = parse(text), expected = strtod(text, NULL);
	if (bits_of(v) != bits_of(expected))
		fail_msg("'%s': %a, strtod has %a", text, v, expected);
}

static double random_double(kdri_rng *rng)
{
	double v;
	do {
		uint64_t b = kdri_rng_u64(rng);
		memcpy(&v, &b, sizeof v);
	} while (!isfinite(v));
	return v;
}

static void parse__random_bits_at_many_precisions__as_strtod(void **state)
{
	(void)state;
	kdri_rng rng = kdri_rng_stream(1, "numbers", 0);
	char text[1200];
	for (int i = 0; i < 60000; i++) {
		double v = random_double(&rng);
		if (i % 3 == 1) /* the sizes people have */
			v = kdri_rng_normal(&rng) * pow(10, (double)kdri_rng_below(&rng, 12) - 6);
		snprintf(text, sizeof text, "%.*g", (int)(1 + kdri_rng_below(&rng, 40)), v);
		assert_as_strtod(text);
		if (fabs(v) < 1e30) {
			snprintf(text, sizeof text, "%.*f", (int)kdri_rng_below(&rng, 30), v);
			assert_as_strtod(text);
		}
	}
}

static void assert_17_as_printf(double v)
{
	char text[KDRI_PRINT_17], expected[64];
	const int n = kdri_print_17(v, text);
	snprintf(expected, sizeof expected, "%.17g", v);
	if (strcmp(text, expected) != 0 || n != (int)strlen(expected))
		fail_msg("%a: '%s', printf has '%s'", v, text, expected);
}

static void print_17__random_and_hard_numbers__as_printf(void **state)
{
	(void)state;
	kdri_rng rng = kdri_rng_stream(5, "numbers", 0);
	static const double hard[] = { 0,
		                       -0.0,
		                       0.5,
		                       1,
		                       -1,
		                       0.1,
		                       1e16,
		                       1e17,
		                       99999999999999999.,
		                       123456,
		                       1e-4,
		                       1e-5,
		                       5e-324,
		                       1.7e308,
		                       1e22,
		                       1e23,
		                       9.5e-5,
		                       0.000999,
		                       2.5e15,
		                       1e15,
		                       0x1p53,
		                       1e100,
		                       0.3,
		                       1 / 3.,
		                       2 / 3.,
		                       0x1p-1022,
		                       0x1p1023,
		                       9007199254740993,
		                       4.35 };
	for (size_t i = 0; i < sizeof hard / sizeof *hard; i++)
		assert_17_as_printf(hard[i]);
	for (int q = -1074; q < 1024; q++) {
		assert_17_as_printf(ldexp(1, q));
		assert_17_as_printf(nextafter(ldexp(1, q), 0));
	}
	for (int q = -300; q <= 300; q++) {
		assert_17_as_printf(pow(10, q));
		assert_17_as_printf(nextafter(pow(10, q), 0));
	}
	for (int i = 0; i < 200000; i++) {
		assert_17_as_printf(random_double(&rng));
		assert_17_as_printf(kdri_rng_uniform(&rng));
		assert_17_as_printf(kdri_rng_normal(&rng) * pow(10, (double)kdri_rng_below(&rng, 40) - 20));
		assert_17_as_printf((double)kdri_rng_below(&rng, 1000000) /
		                    1000); /* few digits: exact results */
		assert_17_as_printf((double)kdri_rng_below(&rng, INT64_C(1) << 40) / 256);
	}
}

static void print_int__limits_and_random__as_printf(void **state)
{
	(void)state;
	kdri_rng rng = kdri_rng_stream(6, "numbers", 0);
	int64_t v[] = { 0, 1, -1, 9, 10, -10, INT64_MAX, INT64_MIN, 0 };
	for (int i = 0; i < 1000; i++) {
		char text[32], expected[32];
		v[8] = (int64_t)(kdri_rng_u64(&rng) >> (i % 64)) * (i % 2 ? -1 : 1);
		const int64_t one = v[KDRI_MIN(i, 8)];
		const int n = kdri_print_int(one, text);
		snprintf(expected, sizeof expected, "%lld", (long long)one);
		assert_string_equal(text, expected);
		assert_int_equal(n, strlen(expected));
	}
}

static void parse__random_digit_strings__as_strtod(void **state)
{
	(void)state;
	kdri_rng rng = kdri_rng_stream(2, "numbers", 0);
	char text[1200];
	for (int i = 0; i < 60000; i++) {
		int n = (int)(1 + kdri_rng_below(&rng, i % 50 == 0 ? 900 : 30)), used = 0;
		int point = (int)kdri_rng_below(&rng, n + 1);
		if (kdri_rng_below(&rng, 2))
			text[used++] = '-';
		for (int j = 0; j < n; j++) {
			if (j == point)
				text[used++] = '.';
			text[used++] = (char)('0' + (kdri_rng_below(&rng, 3) ? kdri_rng_below(&rng, 10) : 0));
		}
		sprintf(text + used, "e%d", (int)kdri_rng_below(&rng, 700) - 350);
		assert_as_strtod(text);
	}
}

/* The point half-way between two doubles, exactly, a little above and a little below. */
static void parse__half_way_points__ties_to_even(void **state)
{
	(void)state;
	kdri_rng rng = kdri_rng_stream(3, "numbers", 0);
	char text[1600];
	for (int i = 0; i < 3000; i++) {
		double v = fabs(random_double(&rng));
		if (i % 4 == 0)
			v = ldexp(v, -1000); /* many of them subnormal */
		if (i % 10 == 1)
			v = ldexp((double)(1 + kdri_rng_below(&rng, (int64_t)1 << 53)),
			          (int)kdri_rng_below(&rng, 60) - 40);
		double up = nextafter(v, INFINITY);
		if (v < 1e-4000L || !isfinite(up))
			continue;
		long double half = ((long double)v + (long double)up) / 2; /* exact: 64 bits hold it */
		int n = snprintf(text, sizeof text - 2, "%.1200Lg", half);
		assert_as_strtod(text);
		if (!strchr(text, 'e') && strchr(text, '.')) {
			strcpy(text + n, "1"); /* just above */
			assert_as_strtod(text);
			text[n - 1]--; /* the last digit is 5: just below */
			assert_as_strtod(text);
		}
	}
}

static void parse__hard_cases__as_strtod(void **state)
{
	(void)state;
	static const char *const hard[] = {
		"0",
		"-0",
		"0.0",
		"-0.0e5",
		"1",
		"+1",
		"1.",
		".5",
		"-.5e1",
		"1e5",
		"1E+5",
		"1e-5",
		"00012",
		"1e22",
		"1e23",
		"9007199254740993",
		"9007199254740993.0000000000000000000000000001",
		"9007199254740992.99999999999999",
		"1.7976931348623157e308",
		"1.7976931348623158e308",
		"1.7976931348623159e308",
		"1e309",
		"-1e400",
		"17976931348623158079372897140530341507993413271003782693617377898044496829276475094664901797"
		"75872070963302864166928879109465555478519404026306574886715058206819089020007083836762738548"
		"45817711531764475730270069855571366959622842914819860834936475292719074168444365510704342711559699508093042880",
		"2.2250738585072014e-308",
		"2.2250738585072012e-308",
		"2.2250738585072011e-308",
		"4.9e-324",
		"2.5e-324",
		"2.4703282292062327e-324",
		"2.4703282292062328e-324",
		"2.47032822920623272088284396434110686182e-324",
		"1e-325",
		"1e-400",
		"0e99999999999999999999",
		"1e99999999999999999999",
		"1e-99999999999999999999",
		"123456789012345678901234567890",
		"0.000000000000000000000000000000000000000000000123456789012345678901",
		"10000000000000000000000000000000000000000",
		"6.631236846766476e-316",
		"3.2378839133029012895883524125015321748630094e-319",
		"7.2057594037927933e16",
		"1.00000000000000011102230246251565404236316680908203125",
		"1.00000000000000011102230246251565404236316680908203124",
		"1.00000000000000011102230246251565404236316680908203126",
		"8.98846567431158e307",
		"5e-324",
		"18446744073709551615",
		"18446744073709551616",
		"99999999999999999999",
	};
	for (size_t i = 0; i < sizeof hard / sizeof hard[0]; i++)
		assert_as_strtod(hard[i]);
	/* Thousands of digits that hardly matter. */
	static char text[5000];
	memset(text, '0', sizeof text);
	memcpy(text, "0.5", 3);
	strcpy(text + sizeof text - 2, "1");
	assert_as_strtod(text);
	memcpy(text, "9007199254740993.", 17);
	assert_as_strtod(text);
	text[sizeof text - 2] = '0';
	assert_as_strtod(text);
}

static void parse__not_a_number__null_or_stops_early(void **state)
{
	(void)state;
	static const char *const none[] = { "", "-", "+", ".", "-.", "e5", "abc", "--1", " 1", "na", "in" };
	double v;
	for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
		assert_null(kdri_parse_double(none[i], none[i] + strlen(none[i]), &v));
	const char *text = "1e+x";
	assert_ptr_equal(kdri_parse_double(text, text + 4, &v), text + 1);
	text = "1.5,2";
	assert_ptr_equal(kdri_parse_double(text, text + 5, &v), text + 3);
	assert_ptr_equal(kdri_parse_double(text, text + 2, &v), text + 2); /* not beyond the end */
	assert_true(v == 1);
	text = "1,5";
	assert_ptr_equal(kdri_parse_decimal(text, text + 3, ',', &v), text + 3);
	assert_true(v == 1.5);
	assert_true(isnan(parse("NaN")) && parse("-INF") == -INFINITY && parse("+infinity") == INFINITY);
}

static void parse_int__range__exact_or_null(void **state)
{
	(void)state;
	static const char *const good[] = { "0", "-0", "+7", "9223372036854775807", "-9223372036854775808" };
	static const int64_t values[] = { 0, 0, 7, INT64_MAX, INT64_MIN };
	static const char *const bad[] = {
		"", "-", "x", "9223372036854775808", "-9223372036854775809", "99999999999999999999999"
	};
	int64_t v;
	for (int i = 0; i < 5; i++) {
		assert_ptr_equal(kdri_parse_int(good[i], good[i] + strlen(good[i]), &v),
		                 good[i] + strlen(good[i]));
		assert_true(v == values[i]);
	}
	for (int i = 0; i < 6; i++)
		assert_null(kdri_parse_int(bad[i], bad[i] + strlen(bad[i]), &v));
}

static void print__random_bits__shortest_that_reads_back(void **state)
{
	(void)state;
	kdri_rng rng = kdri_rng_stream(4, "numbers", 0);
	char text[32], other[40];
	for (int i = 0; i < 100000; i++) {
		double v = i % 2 ? random_double(&rng) : kdri_rng_normal(&rng);
		if (i % 5 == 0)
			v = strtod((snprintf(other, sizeof other, "%.*g", (int)(1 + kdri_rng_below(&rng, 16)),
			                     v),
			            other),
			           NULL);
		if (i % 7 == 0)
			v = ldexp(1, (int)kdri_rng_below(&rng, 2098) - 1074); /* uneven neighbours */
		int n = kdri_print_double(v, text), digits = 0;
		assert_true(n == (int)strlen(text) && n <= 24);
		if (bits_of(strtod(text, NULL)) != bits_of(v) || bits_of(parse(text)) != bits_of(v))
			fail_msg("%a printed as '%s'", v, text);
		/* No shorter %g form reads back. */
		int precision = 1;
		while (precision < 17 &&
		       (snprintf(other, sizeof other, "%.*g", precision, v), strtod(other, NULL) != v))
			precision++;
		/* significant digits: without leading and trailing zeros */
		int zeros = 0;
		for (const char *p = text; *p && *p != 'e'; p++)
			if (*p == '0' && digits > 0) {
				zeros++;
			} else if (*p >= '1' && *p <= '9') {
				digits += 1 + zeros;
				zeros = 0;
			}
		if (digits > precision)
			fail_msg("'%s' has %d digits, %d are enough", text, digits, precision);
	}
}

static void print__known_values__as_expected(void **state)
{
	(void)state;
	static const struct {
		double v;
		const char *text;
	} known[] = {
		{ 0, "0" },
		{ -0.0, "-0" },
		{ 3, "3" },
		{ -17, "-17" },
		{ 0.1, "0.1" },
		{ 1e15, "1000000000000000" },
		{ 9007199254740991, "9007199254740991" },
		{ 9007199254740992, "9007199254740992" },
		{ 1e16, "1e16" },
		{ 1e23, "1e23" },
		{ 1e-4, "0.0001" },
		{ 1.5e-5, "1.5e-5" },
		{ 5e-324, "5e-324" },
		{ -1.25, "-1.25" },
		{ 1.7976931348623157e308, "1.7976931348623157e308" },
		{ -2.2250738585072014e-308, "-2.2250738585072014e-308" },
		{ INFINITY, "inf" },
		{ 123456.789, "123456.789" },
		{ 0.00012345678901234567, "0.00012345678901234567" },
	};
	char text[32];
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
		kdri_print_double(known[i].v, text);
		assert_string_equal(text, known[i].text);
	}
}

/* A locale with a decimal comma must change nothing. Where none is installed one is made. */
static void parse_and_print__comma_locale__unchanged(void **state)
{
	(void)state;
	char folder[] = "/tmp/kindred-locale-XXXXXX", command[160];
	assert_non_null(mkdtemp(folder));
	snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >/dev/null 2>&1",
	         folder);
	if (system(command) == 0)
		setenv("LOCPATH", folder, 1);
	const char *set = setlocale(LC_NUMERIC, "de_DE.UTF-8");
	bool comma = set && strcmp(localeconv()->decimal_point, ",") == 0;
	char text[32];
	kdri_print_double(0.5, text);
	double v = parse("1.5"), w = parse("0.30000000000000004440892098500626");
	setlocale(LC_NUMERIC, "C");
	snprintf(command, sizeof command, "rm -rf %s", folder);
	assert_int_equal(system(command), 0);
	assert_string_equal(text, "0.5");
	assert_true(v == 1.5 && w == 0.30000000000000004);
	if (!comma) {
		print_message("no locale with a decimal comma could be made\n");
		skip(); /* what was asserted is then true of the C locale alone */
	}
}

/* --- powers of five ----------------------------------------------------------------------------------------- */

enum { WORDS = 32 }; /* of 32 bits, lowest first */

static void multiply(uint32_t a[WORDS], const uint32_t b[WORDS])
{
	uint32_t product[WORDS] = { 0 };
	for (int i = 0; i < WORDS; i++) {
		uint64_t carry = 0;
		for (int j = 0; i + j < WORDS; j++) {
			carry += (uint64_t)a[i] * b[j] + product[i + j];
			product[i + j] = (uint32_t)carry;
			carry >>= 32;
		}
	}
	memcpy(a, product, sizeof product);
}

static int length_of(const uint32_t a[WORDS])
{
	for (int i = WORDS - 1; i >= 0; i--)
		if (a[i])
			return 32 * i + 32 - __builtin_clz(a[i]);
	return 0;
}

static bool bit(const uint32_t a[WORDS], int i)
{
	return i >= 0 && (a[i / 32] >> (i % 32) & 1);
}

/* Powers by squaring. A positive one is compared bit by bit; a negative one, c, by c 5^n <= 2^b < (c + 1) 5^n. */
static void pow5__computed_table__is_what_the_definition_says(void **state)
{
	(void)state;
	for (int q = KDRI_POW5_LOW; q <= KDRI_POW5_HIGH; q++) {
		const uint64_t *t = kdri_pow5(q);
		uint32_t power[WORDS] = { 1 }, square[WORDS] = { 5 };
		for (int n = abs(q); n > 0; n /= 2) {
			if (n % 2)
				multiply(power, square);
			if (n > 1)
				multiply(square, square);
		}
		const int bits = length_of(power);
		if (q >= 0) {
			for (int i = 0; i < 128; i++)
				assert_int_equal(t[i / 64] >> (63 - i % 64) & 1, bit(power, bits - 1 - i));
			continue;
		}
		/* From 5^-27 on the table has the next larger integer. */
		const kdri_u128 c = ((kdri_u128)t[0] << 64 | t[1]) - (q >= -27);
		uint32_t low[WORDS] = { 0 }, high[WORDS] = { 0 };
		for (int i = 0; i < 4; i++) {
			low[i] = (uint32_t)(c >> (32 * i));
			high[i] = (uint32_t)((c + 1) >> (32 * i));
		}
		high[4] = c + 1 == 0;
		multiply(low, power);
		multiply(high, power);
		const int b = bits + 127;         /* 2^b / 5^n has 128 bits */
		assert_true(length_of(low) <= b); /* below 2^b, which no multiple of five equals */
		assert_true(length_of(high) > b);
	}
	/* Some of them as they are in [Lemire 2021]. */
	assert_true(kdri_pow5(-342)[0] == 0xeef453d6923bd65au && kdri_pow5(-342)[1] == 0x113faa2906a13b3fu);
	assert_true(kdri_pow5(-1)[0] == 0xccccccccccccccccu && kdri_pow5(-1)[1] == 0xcccccccccccccccdu);
	assert_true(kdri_pow5(0)[0] == 0x8000000000000000u && kdri_pow5(0)[1] == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pow5__computed_table__is_what_the_definition_says),
		cmocka_unit_test(parse__random_bits_at_many_precisions__as_strtod),
		cmocka_unit_test(print_17__random_and_hard_numbers__as_printf),
		cmocka_unit_test(print_int__limits_and_random__as_printf),
		cmocka_unit_test(parse__random_digit_strings__as_strtod),
		cmocka_unit_test(parse__half_way_points__ties_to_even),
		cmocka_unit_test(parse__hard_cases__as_strtod),
		cmocka_unit_test(parse__not_a_number__null_or_stops_early),
		cmocka_unit_test(parse_int__range__exact_or_null),
		cmocka_unit_test(print__random_bits__shortest_that_reads_back),
		cmocka_unit_test(print__known_values__as_expected),
		cmocka_unit_test(parse_and_print__comma_locale__unchanged),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
