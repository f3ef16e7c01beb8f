/* An allocator that tracks the current and the peak memory. */
#ifndef TESTS_METER_H
#define TESTS_METER_H

#include "tests/unit/unit.h"

typedef struct meter {
	double held, most;
} meter;
enum { METER_HEAD = 64 };

static void *meter_alloc(void *user, size_t size)
{
	meter *m = user;
	char *p = malloc(size + METER_HEAD);
	if (!p)
		return NULL;
	memcpy(p, &size, sizeof size);
#pragma omp critical(meter)
	{
		m->held += (double)size;
		m->most = KDRI_MAX(m->most, m->held);
	}
	return p + METER_HEAD;
}

static void meter_free(void *user, void *ptr)
{
	meter *m = user;
	size_t size;
	if (!ptr)
		return;
	memcpy(&size, (char *)ptr - METER_HEAD, sizeof size);
#pragma omp critical(meter)
	m->held -= (double)size;
	free((char *)ptr - METER_HEAD);
}

static void *meter_realloc(void *user, void *ptr, size_t size)
{
	size_t old;
	void *p = meter_alloc(user, size);
	if (!p || !ptr)
		return p;
	memcpy(&old, (char *)ptr - METER_HEAD, sizeof old);
	memcpy(p, ptr, KDRI_MIN(old, size));
	meter_free(user, ptr);
	return p;
}

static inline kdr_allocator meter_allocator(meter *m)
{
	return (kdr_allocator){ meter_alloc, meter_realloc, meter_free, m };
}

#endif
