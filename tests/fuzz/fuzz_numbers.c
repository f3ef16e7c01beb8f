/* libFuzzer target: any bytes as a number: the same result as strtod, and a printed form that reads back.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data, *stop;
	double v, again, expected;
	char buffer[32], *copy, *expected_stop;
	/* strtod also takes blanks before a number, hexadecimal and "nan(...)". */
	if (size == 0 || size > 4000 || memchr(data, 'x', size) || memchr(data, 'X', size) ||
	    memchr(data, '(', size) || strchr(" \t\n\v\f\r", text[0]))
		return 0;
	copy = malloc(size + 1);
	FUZZ_CHECK(copy);
	memcpy(copy, data, size);
	copy[size] = '\0';
	expected = strtod(copy, &expected_stop);
	stop = kdri_parse_double(text, text + size, &v);
	FUZZ_CHECK(stop ? stop - text == expected_stop - copy : expected_stop == copy);
	free(copy);
	if (!stop)
		return 0;
	FUZZ_CHECK(isnan(v) ? isnan(expected) : memcmp(&v, &expected, sizeof v) == 0);
	int length = kdri_print_double(v, buffer);
	FUZZ_CHECK(length == (int)strlen(buffer) && length <= 24);
	FUZZ_CHECK(kdri_parse_double(buffer, buffer + length, &again) == buffer + length);
	FUZZ_CHECK(isnan(v) ? isnan(again) : memcmp(&v, &again, sizeof v) == 0);
	return 0;
}
