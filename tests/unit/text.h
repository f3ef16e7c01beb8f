/* Texts for tests of readers, read from memory. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_TESTS_TEXT_H
#define KDRI_TESTS_TEXT_H

#include "io/text.h"
#include "tests/unit/bytes.h"

typedef enum text_format { TEXT_CSV, TEXT_TSV, TEXT_MTX, TEXT_SVMLIGHT } text_format;

/* Reads `size` bytes; on failure *data stays NULL. The file is called "t". */
static inline kdr_status text_load_bytes(kdr_context *ctx, text_format format, const void *bytes, size_t size,
                                         const kdr_read_options *options, kdr_data **data)
{
	kdr_status st;
	kdri_input *in = NULL;
	*data = NULL;
	KDRI_TRY(kdri_input_from_memory(ctx, bytes, size, "t", &in));
	KDRI_TRY(kdri_data_new(ctx, "t", "t", data));
	switch (format) {
	case TEXT_CSV: st = kdri_csv_read(ctx, in, options, '\0', *data); break;
	case TEXT_TSV: st = kdri_csv_read(ctx, in, options, '\t', *data); break;
	case TEXT_MTX: st = kdri_mtx_read(ctx, in, NULL, *data); break;
	case TEXT_SVMLIGHT: st = kdri_svmlight_read(ctx, in, NULL, *data); break;
	}
done:
	kdri_input_close(ctx, in);
	if (st != KDR_OK) {
		kdr_data_free(*data);
		*data = NULL;
	}
	return st;
}

static inline kdr_status text_load(kdr_context *ctx, text_format format, const char *text,
                                   const kdr_read_options *options, kdr_data **data)
{
	return text_load_bytes(ctx, format, text, strlen(text), options, data);
}

/* A malformed text: its status and some words of its message. */
typedef struct text_bad {
	const char *text;
	kdr_status status;
	const char *words;
} text_bad;

static inline void text_assert_bad(text_format format, const text_bad *cases, size_t count)
{
	kdr_context *ctx = unit_context();
	for (size_t i = 0; i < count; i++) {
		kdr_data *d;
		kdr_status st = text_load(ctx, format, cases[i].text, NULL, &d);
		if (st != cases[i].status || !strstr(kdr_context_error(ctx), cases[i].words))
			fail_msg("\"%s\": status %d, \"%s\"; expected %d, \"%s\"", cases[i].text, (int)st,
			         kdr_context_error(ctx), (int)cases[i].status, cases[i].words);
		assert_null(d);
	}
	kdr_context_free(ctx);
}

/* Entry (i, j), whatever the kind. */
static inline double text_at(const kdr_data *d, int64_t i, int64_t j)
{
	if (d->kind == KDR_MAT_DENSE)
		return d->dense[i * d->cols + j];
	for (int64_t p = d->rowptr[i]; p < d->rowptr[i + 1]; p++)
		if (d->col[p] == j)
			return d->val[p];
	return 0;
}

static inline void text_assert_matrix(const kdr_data *d, int64_t rows, int64_t cols, const double *expected)
{
	assert_int_equal(d->rows, rows);
	assert_int_equal(d->cols, cols);
	for (int64_t i = 0; i < rows; i++)
		for (int64_t j = 0; j < cols; j++)
			if (text_at(d, i, j) != expected[i * cols + j])
				fail_msg("(%d, %d) is %.17g, expected %.17g", (int)i, (int)j,
				         text_at(d, i, j), expected[i * cols + j]);
}

/* Bit for bit the same matrix (dense, or with the same pattern). */
static inline void text_assert_same(const kdr_data *a, const kdr_data *b)
{
	assert_int_equal(a->kind, b->kind);
	assert_int_equal(a->rows, b->rows);
	assert_int_equal(a->cols, b->cols);
	if (a->kind == KDR_MAT_DENSE) {
		assert_memory_equal(a->dense, b->dense, (size_t)(a->rows * a->cols) * sizeof(double));
		return;
	}
	size_t nnz = (size_t)a->rowptr[a->rows];
	assert_memory_equal(a->rowptr, b->rowptr, (size_t)(a->rows + 1) * sizeof(int64_t));
	assert_memory_equal(a->col, b->col, nnz * sizeof(int32_t));
	assert_memory_equal(a->val, b->val, nnz * sizeof(double));
}

/* A random number that is hard to print: any finite double, or a small integer. */
static inline double text_random(kdri_rng *rng)
{
	double v;
	if (kdri_rng_below(rng, 2))
		return (double)kdri_rng_below(rng, 2000) - 1000;
	do {
		uint64_t bits = kdri_rng_u64(rng);
		memcpy(&v, &bits, sizeof v);
	} while (!isfinite(v));
	return v;
}

/* Fails the n-th allocation (from 1), and counts them. */
typedef struct text_failing {
	int64_t count, fail_at;
} text_failing;

static inline void *text_failing_alloc(void *user, size_t size)
{
	text_failing *f = user;
	return ++f->count == f->fail_at ? NULL : malloc(size);
}

static inline void *text_failing_realloc(void *user, void *ptr, size_t size)
{
	text_failing *f = user;
	return ++f->count == f->fail_at ? NULL : realloc(ptr, size);
}

static inline void text_failing_free(void *user, void *ptr)
{
	(void)user;
	free(ptr);
}

/* Every allocation of reading `text` failed in turn: KDR_ERR_MEMORY each time, and no leak (which the
 * sanitizer sees). */
static inline void text_assert_no_memory(text_format format, const char *text,
                                         const kdr_read_options *options)
{
	for (int64_t n = 1;; n++) {
		text_failing f = { 0, 0 };
		kdr_allocator a = { text_failing_alloc, text_failing_realloc, text_failing_free, &f };
		kdr_context *ctx = NULL;
		kdr_data *d;
		assert_int_equal(kdr_context_new(&ctx, &a), KDR_OK);
		f.count = 0;
		f.fail_at = n;
		kdr_status st = text_load(ctx, format, text, options, &d);
		kdr_data_free(d);
		kdr_context_free(ctx);
		if (st == KDR_OK) {
			assert_true(f.count < n);
			return;
		}
		assert_int_equal(st, KDR_ERR_MEMORY);
	}
}

#endif
