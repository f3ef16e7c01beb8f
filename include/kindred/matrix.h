/* Borrowed matrices. SPDX-License-Identifier: BSD-3-Clause
 *
 * Small structs passed by pointer or value; they own nothing. Rows are samples, columns features. */
#ifndef KINDRED_MATRIX_H
#define KINDRED_MATRIX_H

#include <stdint.h>

/* Row-major: entry (i, j) is data[i * stride + j], stride >= cols. */
typedef struct kdr_dense {
	const double *data;
	int64_t rows, cols, stride;
} kdr_dense;

/* Compressed rows: row i holds col[p], val[p] for rowptr[i] <= p < rowptr[i + 1], columns strictly
 * increasing. Column indices have 32 bits: sparse kernels are bound by memory, and no data set here
 * has 2^31 features. */
typedef struct kdr_csr {
	int64_t rows, cols;
	const int64_t *rowptr;
	const int32_t *col;
	const double *val;
} kdr_csr;

typedef enum kdr_mat_kind { KDR_MAT_DENSE = 0, KDR_MAT_CSR = 1 } kdr_mat_kind;

typedef struct kdr_mat {
	kdr_mat_kind kind;
	union {
		kdr_dense dense;
		kdr_csr csr;
	} as;
} kdr_mat;

static inline kdr_mat kdr_mat_from_dense(const double *data, int64_t rows, int64_t cols)
{
	kdr_mat m;
	m.kind = KDR_MAT_DENSE;
	m.as.dense.data = data;
	m.as.dense.rows = rows;
	m.as.dense.cols = cols;
	m.as.dense.stride = cols;
	return m;
}

static inline kdr_mat kdr_mat_from_csr(int64_t rows, int64_t cols, const int64_t *rowptr, const int32_t *col,
                                       const double *val)
{
	kdr_mat m;
	m.kind = KDR_MAT_CSR;
	m.as.csr.rows = rows;
	m.as.csr.cols = cols;
	m.as.csr.rowptr = rowptr;
	m.as.csr.col = col;
	m.as.csr.val = val;
	return m;
}

static inline int64_t kdr_mat_rows(const kdr_mat *m)
{
	return m->kind == KDR_MAT_DENSE ? m->as.dense.rows : m->as.csr.rows;
}

static inline int64_t kdr_mat_cols(const kdr_mat *m)
{
	return m->kind == KDR_MAT_DENSE ? m->as.dense.cols : m->as.csr.cols;
}

/* Stored entries: rows x cols for a dense matrix. */
static inline int64_t kdr_mat_nnz(const kdr_mat *m)
{
	return m->kind == KDR_MAT_DENSE ? m->as.dense.rows * m->as.dense.cols
	                                : m->as.csr.rowptr[m->as.csr.rows];
}

#endif
