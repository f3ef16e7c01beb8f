/* An allocator that fails on purpose, for tests of readers. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_TESTS_FAILING_H
#define KDRI_TESTS_FAILING_H

#include "tests/unit/unit.h"

typedef struct failing {
	long allowed, made, live;
} failing;

static inline void *failing_alloc(void *user, size_t size)
{
	failing *f = user;
	void *p = f->made++ >= f->allowed ? NULL : malloc(size);
	f->live += p != NULL;
	return p;
}

static inline void *failing_realloc(void *user, void *ptr, size_t size)
{
	failing *f = user;
	return f->made++ >= f->allowed ? NULL : realloc(ptr, size);
}

static inline void failing_free(void *user, void *ptr)
{
	((failing *)user)->live -= ptr != NULL;
	free(ptr);
}

/* Runs with 0, 1, 2, ... allocations allowed until it succeeds: before that every run must say
 * KDR_ERR_MEMORY, and every run must give back what it took. */
static inline void failing_all(kdr_status (*run)(kdr_context *ctx, const char *path), const char *path)
{
	for (long allowed = 0;; allowed++) {
		failing f = { .allowed = allowed };
		kdr_allocator allocator = { failing_alloc, failing_realloc, failing_free, &f };
		kdr_context *ctx = NULL;
		kdr_status st = kdr_context_new(&ctx, &allocator);
		if (st == KDR_OK)
			st = run(ctx, path);
		if (st != (f.made > allowed ? KDR_ERR_MEMORY : KDR_OK))
			fail_msg("%s: %ld allocations allowed: %s (%s)", path, allowed, kdr_strerror(st),
			         kdr_context_error(ctx));
		kdr_context_free(ctx);
		assert_int_equal(f.live, 0);
		if (st == KDR_OK)
			return;
	}
}

#endif
