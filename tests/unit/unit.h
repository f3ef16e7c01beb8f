/* What every unit test includes. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_TESTS_UNIT_H
#define KDRI_TESTS_UNIT_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef KDRI_HAVE_CMOCKA
#include <cmocka.h>
#else
#include "tests/unit/cmocka_lite.h"
#endif

#include "api/method.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define UNIT_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define UNIT_SANITIZED 1
#endif
#endif
#ifndef UNIT_SANITIZED
#define UNIT_SANITIZED 0
#endif

/* How often to draw a random case: a quarter of it where a sanitizer makes each take ten times as long. */
static inline int unit_turns(int times)
{
	return UNIT_SANITIZED ? (times + 3) / 4 : times;
}

/* A context for one test; free it with kdr_context_free. */
/* With KINDRED_UNIT_DEVICE it computes on that device, so that all tests can be run on an accelerator. */
static inline kdr_context *unit_context(void)
{
	kdr_context *ctx = NULL;
	const char *device = getenv("KINDRED_UNIT_DEVICE");
	assert_int_equal(kdr_context_new(&ctx, NULL), KDR_OK);
	if (device)
		assert_int_equal(kdr_context_set_device(ctx, device), KDR_OK);
	return ctx;
}

/* Skips the test in a build without this part. */
static inline void unit_needs(const char *part)
{
	if (!kdr_build_has(part))
		skip();
}

/* Fails with the library's own words. */
#define assert_ok(ctx, call) \
	do { \
		kdr_status unit_st = (call); \
		if (unit_st != KDR_OK) \
			fail_msg("%s: %s (%s)", #call, kdr_context_error(ctx), kdr_strerror(unit_st)); \
	} while (0)

#define assert_near(a, b, tol) \
	do { \
		double unit_a = (a), unit_b = (b); \
		if (!(fabs(unit_a - unit_b) <= (tol))) \
			fail_msg("%s = %.17g, expected %.17g +- %g", #a, unit_a, unit_b, (double)(tol)); \
	} while (0)

#endif
