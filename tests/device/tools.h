/* Blocks of random numbers on a device, for tests of the table of operations. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_TEST_DEVICE_TOOLS_H
#define KDRI_TEST_DEVICE_TOOLS_H

#include "tests/device/fake.h"

/* Sizes that are no multiple of anything, and 1. */
static const int64_t shapes[][3] = {
	{ 1, 1, 1 }, { 37, 41, 29 }, { 130, 67, 257 }, { 5, 300, 2 }, { 600, 520, 300 }
};
enum { ALL_SHAPES = sizeof shapes / sizeof *shapes };
/* A tool that looks at every access takes minutes over the last one: KINDRED_TEST_SMALL leaves it out. */
#define SHAPES (getenv("KINDRED_TEST_SMALL") ? ALL_SHAPES - 1 : ALL_SHAPES)

typedef struct tools {
	fake f;
	kdr_context *ctx;
	kdri_device *d;
	kdri_rng rng;
} tools;

static inline void open_tools(tools *t)
{
	fake_open(&t->f, 0);
	t->ctx = t->f.ctx;
	t->d = fake_device(&t->f);
	t->rng = kdri_rng_stream(3, "device", 0);
}

static inline double *numbers(tools *t, int64_t count)
{
	double *v = malloc((size_t)(count + 1) * sizeof *v);
	assert_non_null(v);
	for (int64_t i = 0; i < count; i++)
		v[i] = kdri_rng_normal(&t->rng);
	return v;
}

static inline double *zeros(int64_t count)
{
	double *v = calloc((size_t)count + 1, sizeof *v);
	assert_non_null(v);
	return v;
}

#define DO(t, op, ...) \
	assert_ok((t)->ctx, kdri_device_status((t)->ctx, (t)->d, (t)->d->op((t)->ctx, __VA_ARGS__)))

/* A view with a stride and a start of its own, so that both count. */
static inline kdri_block send(tools *t, const double *v, int64_t rows, int64_t cols)
{
	kdri_block a = { 0 };
	assert_ok(t->ctx, kdri_block_new(t->ctx, t->d, rows + 1, cols + 3, false, &a));
	DO(t, fill, a, 77);
	a = kdri_block_part(a, 1, 2, rows, cols);
	assert_ok(t->ctx, kdri_block_send(t->ctx, a, v, cols));
	return a;
}

static inline void drop(tools *t, kdri_block a)
{
	t->d->release(t->ctx, t->d, kdri_block_part(a, -1, -2, 0, 0).data);
}

static inline double *fetch(tools *t, kdri_block a)
{
	double *v = zeros(a.rows * a.cols);
	assert_ok(t->ctx, kdri_block_fetch(t->ctx, a, v, a.cols));
	return v;
}

/* A vector of the device. */
static inline void *send_vector(tools *t, const void *v, int64_t count, size_t size)
{
	void *to = NULL;
	assert_ok(t->ctx, kdri_device_alloc(t->ctx, t->d, &to, count, size));
	assert_ok(t->ctx, kdri_device_send(t->ctx, t->d, to, v, (size_t)count * size));
	return to;
}

static inline void drop_all(tools *t, void *const *vectors, int count)
{
	for (int i = 0; i < count; i++)
		t->d->release(t->ctx, t->d, vectors[i]);
}

static inline double entry(const double *a, bool trans, int64_t ld, int64_t i, int64_t j)
{
	return trans ? a[j * ld + i] : a[i * ld + j];
}

#endif
