/* A device for unit tests: the stand-in with limits, or the accelerator that KINDRED_TEST_DEVICE names.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_TESTS_FAKE_H
#define KDRI_TESTS_FAKE_H

#include "matrix/device_use.h"
#include "tests/device/standin.h"
#include "tests/unit/unit.h"

typedef struct fake {
	kdr_context *ctx; /* computes on the device */
	kdr_context *own; /* where a fake's memory comes from */
	standin_limits limits;
	kdri_device *device; /* the fake; NULL: an accelerator */
} fake;

static inline const char *fake_real(void)
{
	return getenv("KINDRED_TEST_DEVICE");
}

/* `most` bytes for all buffers; 0: no limit. An accelerator takes no notice of it. */
static inline void fake_open(fake *f, size_t most)
{
	*f = (fake){ .limits.most = most };
	f->ctx = unit_context();
	f->own = unit_context();
	if (fake_real()) {
		assert_ok(f->ctx, kdr_context_set_device(f->ctx, fake_real()));
		return;
	}
	assert_ok(f->own, standin_new(f->own, &f->limits, &f->device));
	kdri_device_use(f->ctx, f->device);
}

/* Everything that was taken must be back. */
static inline void fake_close(fake *f)
{
	if (f->device) {
		assert_int_equal(f->limits.buffers, 0);
		assert_int_equal(f->limits.bytes, 0);
		assert_int_equal(f->limits.pins, 0);
		f->device->close(f->device);
	}
	kdr_context_free(f->ctx);
	kdr_context_free(f->own);
}

static inline kdri_device *fake_device(fake *f)
{
	return f->device ? f->device : f->ctx->device;
}

/* Runs with the 1st, 2nd, ... call of the device failing until all went well: each time before that the failure must
 * come out, and everything be given back. Not more than `most` of them, evenly spread. */
static inline void fake_failing(kdr_status (*run)(kdr_context *ctx, void *user), void *user, int64_t most)
{
	fake f;
	if (fake_real())
		return;
	fake_open(&f, 0);
	assert_ok(f.ctx, run(f.ctx, user));
	int64_t calls = f.limits.calls, step = KDRI_MAX(1, calls / most);
	fake_close(&f);
	assert_true(calls > 0);
	for (int64_t at = 1; at <= calls; at += step) {
		fake_open(&f, 0);
		f.limits.fail_at = at;
		f.limits.fail_with = at % 2 ? KDR_ERR_MEMORY : KDR_ERR_INTERNAL;
		kdr_status st = run(f.ctx, user);
		if (st != (at % 2 ? KDR_ERR_MEMORY : KDR_ERR_INTERNAL))
			fail_msg("call %lld of %lld failed: %s (%s)", (long long)at, (long long)calls,
			         kdr_strerror(st), kdr_context_error(f.ctx));
		fake_close(&f);
	}
	/* Left to the library, the processor goes on. */
	fake_open(&f, 0);
	f.limits.fail_at = calls;
	f.limits.fail_with = KDR_ERR_INTERNAL;
	f.ctx->device_choice = KDRI_DEVICE_NAMED;
	assert_int_equal(run(f.ctx, user), KDR_ERR_INTERNAL);
	fake_close(&f);
}

/* n x d numbers around `groups` centres. */
static inline double *fake_points(int64_t n, int64_t d, int64_t groups, double spread, uint64_t seed)
{
	double *x = malloc((size_t)(n * d) * sizeof *x), *c = malloc((size_t)(groups * d) * sizeof *c);
	kdri_rng rng = kdri_rng_stream(seed, "fake", 0);
	assert_non_null(x);
	assert_non_null(c);
	for (int64_t i = 0; i < groups * d; i++)
		c[i] = kdri_rng_normal(&rng);
	for (int64_t i = 0; i < n * d; i++)
		x[i] = c[i / d % groups * d + i % d] + spread * kdri_rng_normal(&rng);
	free(c);
	return x;
}

#endif
