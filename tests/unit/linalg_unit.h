/* Random matrices and naive loops to compare with. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_TESTS_LINALG_UNIT_H
#define KDRI_TESTS_LINALG_UNIT_H

#include "matrix/linalg.h"
#include "tests/unit/unit.h"

static inline double *unit_doubles(int64_t n)
{
	double *p = malloc((size_t)(n > 0 ? n : 1) * sizeof *p);
	assert_non_null(p);
	return p;
}

static inline double *unit_random(kdri_rng *rng, int64_t n)
{
	double *p = unit_doubles(n);
	for (int64_t i = 0; i < n; i++)
		p[i] = kdri_rng_normal(rng);
	return p;
}

/* The same matrix twice: dense with a stride above its columns, and sparse. */
typedef struct unit_pair {
	double *data, *val;
	int64_t *rowptr;
	int32_t *col;
	kdr_mat dense, csr;
} unit_pair;

static inline unit_pair unit_pair_new(kdri_rng *rng, int64_t rows, int64_t cols, double density)
{
	unit_pair p;
	int64_t stride = cols + 3, at = 0;
	p.data = unit_random(rng, rows * stride);
	p.val = unit_doubles(rows * cols);
	p.rowptr = malloc((size_t)(rows + 1) * sizeof *p.rowptr);
	p.col = malloc((size_t)(rows * cols + 1) * sizeof *p.col);
	assert_true(p.rowptr && p.col);
	p.rowptr[0] = 0;
	for (int64_t i = 0; i < rows; i++) {
		for (int64_t j = 0; j < cols; j++) {
			if (kdri_rng_uniform(rng) >= density) {
				p.data[i * stride + j] = 0;
				continue;
			}
			p.col[at] = (int32_t)j;
			p.val[at++] = p.data[i * stride + j];
		}
		p.rowptr[i + 1] = at;
	}
	p.dense = kdr_mat_from_dense(p.data, rows, cols);
	p.dense.as.dense.stride = stride;
	p.csr = kdr_mat_from_csr(rows, cols, p.rowptr, p.col, p.val);
	return p;
}

static inline void unit_pair_free(unit_pair *p)
{
	free(p->data);
	free(p->val);
	free(p->rowptr);
	free(p->col);
}

static inline double unit_at(const kdr_mat *m, int64_t i, int64_t j)
{
	if (m->kind == KDR_MAT_DENSE)
		return m->as.dense.data[i * m->as.dense.stride + j];
	for (int64_t p = m->as.csr.rowptr[i]; p < m->as.csr.rowptr[i + 1]; p++)
		if (m->as.csr.col[p] == j)
			return m->as.csr.val[p];
	return 0;
}

/* Bit for bit, so that -0 and 0 or two NaNs are distinguished too. */
static inline void assert_same_bits(const double *a, const double *b, int64_t n)
{
	assert_memory_equal(a, b, (size_t)n * sizeof *a);
}

/* An allocator that fails its nth call: what "every allocation failed in turn" needs. */
typedef struct unit_fuse {
	int left;
} unit_fuse;

static inline void *unit_fuse_realloc(void *user, void *ptr, size_t size)
{
	unit_fuse *f = user;
	return f->left-- > 0 ? realloc(ptr, size) : NULL;
}

static inline void *unit_fuse_alloc(void *user, size_t size)
{
	return unit_fuse_realloc(user, NULL, size);
}

static inline void unit_fuse_free(void *user, void *ptr)
{
	(void)user;
	free(ptr);
}

/* Runs `call` (which uses `ctx`) with 0, 1, 2, .. allocations granted until it succeeds. A leak shows
 * under AddressSanitizer. */
#define assert_survives_no_memory(call) \
	do { \
		unit_fuse fuse = { 1 }; \
		kdr_allocator unit_a = { unit_fuse_alloc, unit_fuse_realloc, unit_fuse_free, &fuse }; \
		kdr_context *ctx = NULL; \
		assert_int_equal(kdr_context_new(&ctx, &unit_a), KDR_OK); \
		kdr_status unit_s = KDR_ERR_MEMORY; \
		int unit_n = 0; \
		for (; unit_s == KDR_ERR_MEMORY && unit_n < 2000; unit_n++) { \
			fuse.left = unit_n; \
			unit_s = (call); \
		} \
		assert_int_equal(unit_s, KDR_OK); \
		assert_true(unit_n > 1); \
		kdr_context_free(ctx); \
	} while (0)

#endif
