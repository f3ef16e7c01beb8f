/* The part of cmocka that the unit tests use, for machines without it. SPDX-License-Identifier: BSD-3-Clause
 *
 * A failed assertion ends its test and prints its position, and the program continues with the next test. No leak
 * checks. */
#ifndef KDRI_TESTS_CMOCKA_LITE_H
#define KDRI_TESTS_CMOCKA_LITE_H

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CMUnitTest {
	const char *name;
	void (*run)(void **state);
};

static jmp_buf lite_end;

enum { LITE_FAILED = 1, LITE_SKIPPED = 2 };

#if defined(__GNUC__)
__attribute__((noreturn, unused, format(printf, 3, 4)))
#endif
static void
lite_fail(const char *file, int line, const char *format, ...)
{
	va_list args;
	fprintf(stderr, "%s:%d: error: ", file, line);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	longjmp(lite_end, LITE_FAILED);
}

#define fail_msg(...)      lite_fail(__FILE__, __LINE__, __VA_ARGS__)
#define fail()             lite_fail(__FILE__, __LINE__, "failed")
#define skip()             longjmp(lite_end, LITE_SKIPPED)
#define print_message(...) printf(__VA_ARGS__)
#define test_malloc        malloc
#define test_calloc        calloc
#define test_realloc       realloc
#define test_free          free
#define cmocka_unit_test(f) \
	{ \
#f, f \
	}

#define assert_true(c)             ((c) ? (void)0 : lite_fail(__FILE__, __LINE__, "%s", #c))
#define assert_false(c)            ((c) ? lite_fail(__FILE__, __LINE__, "not expected: %s", #c) : (void)0)
#define assert_null(p)             assert_true((p) == NULL)
#define assert_non_null(p)         assert_true((p) != NULL)
#define assert_ptr_equal(a, b)     assert_true((const void *)(a) == (const void *)(b))
#define assert_ptr_not_equal(a, b) assert_true((const void *)(a) != (const void *)(b))
#define assert_int_equal(a, b)     lite_compare(__FILE__, __LINE__, #a, #b, (int64_t)(a), (int64_t)(b), true)
#define assert_int_not_equal(a, b) lite_compare(__FILE__, __LINE__, #a, #b, (int64_t)(a), (int64_t)(b), false)
#define assert_in_range(v, low, high) \
	assert_true(lite_within((uint64_t)(v), (uint64_t)(low), (uint64_t)(high)))
#define assert_float_equal(a, b, tolerance) \
	assert_true((double)(a) - (double)(b) <= (tolerance) && (double)(b) - (double)(a) <= (tolerance))
#define assert_string_equal(a, b)        lite_text(__FILE__, __LINE__, (a), (b), true)
#define assert_string_not_equal(a, b)    lite_text(__FILE__, __LINE__, (a), (b), false)
#define assert_memory_equal(a, b, n)     assert_true(memcmp((a), (b), (n)) == 0)
#define assert_memory_not_equal(a, b, n) assert_true(memcmp((a), (b), (n)) != 0)

static inline bool lite_within(uint64_t v, uint64_t low, uint64_t high)
{
	return v >= low && v <= high;
}

static inline void lite_compare(const char *file, int line, const char *a, const char *b, int64_t x,
                                int64_t y, bool same)
{
	if ((x == y) != same)
		lite_fail(file, line, "%s = %" PRId64 ", %s = %" PRId64, a, x, b, y);
}

static inline void lite_text(const char *file, int line, const char *a, const char *b, bool same)
{
	if ((strcmp(a, b) == 0) != same)
		lite_fail(file, line, "\"%s\" and \"%s\"", a, b);
}

typedef int lite_fixture(void **state);

/* `setup` and `teardown` run once, before the first test and after the last; either may be NULL. */
static inline int lite_run(const char *group, const struct CMUnitTest *tests, size_t count,
                           lite_fixture *setup, lite_fixture *teardown)
{
	static volatile int failed, skipped; /* kept across longjmp */
	static volatile size_t i;
	void *shared = NULL;
	if (setup && setup(&shared) != 0)
		return 1;
	for (i = 0; i < count; i++) {
		void *state = NULL;
		int end = setjmp(lite_end);
		if (end == 0)
			tests[i].run(&state);
		else if (end == LITE_FAILED)
			failed++;
		else
			skipped++;
		printf("[ %s ] %s\n",
		       end == 0             ? "OK"
		       : end == LITE_FAILED ? "FAILED"
		                            : "SKIPPED",
		       tests[i].name);
		fflush(stdout);
	}
	if (teardown && teardown(&shared) != 0)
		failed++;
	printf("%s: %zu tests, %d failed, %d skipped\n", group, count, failed, skipped);
	return failed;
}
#define cmocka_run_group_tests(tests, setup, teardown) \
	lite_run(#tests, tests, sizeof(tests) / sizeof *(tests), setup, teardown)

#endif
