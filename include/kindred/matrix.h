/* Borrowed matrices. SPDX-License-Identifier: BSD-3-Clause
 *
 * Small structs that are passed by pointer or by value and own nothing. Rows are samples, columns are features. All structs
 * of this header are frozen, and all functions cost O(1). */
#ifndef KINDRED_MATRIX_H
#define KINDRED_MATRIX_H

#include <stddef.h>
#include <stdint.h>

/* A dense matrix in row-major order: entry (i, j) is data[i * stride + j], with stride >= cols. */
typedef struct kdr_dense {
	const double *data;
	int64_t rows, cols, stride;
} kdr_dense;

/* A sparse matrix in compressed rows: row i holds the entries col[p], val[p] for rowptr[i] <= p < rowptr[i + 1]. Column
 * indices increase strictly within a row. They have 32 bits, because sparse kernels are limited by memory bandwidth. */
typedef struct kdr_csr {
	int64_t rows, cols;
	const int64_t *rowptr;
	const int32_t *col;
	const double *val;
} kdr_csr;

typedef enum kdr_mat_kind { KDR_MAT_DENSE = 0, KDR_MAT_CSR = 1 } kdr_mat_kind;

/* A matrix of either kind. */
typedef struct kdr_mat {
	kdr_mat_kind kind;
	union {
		kdr_dense dense;
		kdr_csr csr;
	} as;
} kdr_mat;

/* Describes a dense matrix without gaps between its rows. Functions that take the matrix refuse a NULL `data`, unless the
 * matrix has no entries. */
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

/* Describes a sparse matrix; `rowptr` has rows + 1 entries. */
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

/* Returns the number of rows. */
static inline int64_t kdr_mat_rows(const kdr_mat *m)
{
	return m->kind == KDR_MAT_DENSE ? m->as.dense.rows : m->as.csr.rows;
}

/* Returns the number of columns. */
static inline int64_t kdr_mat_cols(const kdr_mat *m)
{
	return m->kind == KDR_MAT_DENSE ? m->as.dense.cols : m->as.csr.cols;
}

/* Returns the number of stored entries: rows x cols for a dense matrix. */
static inline int64_t kdr_mat_nnz(const kdr_mat *m)
{
	return m->kind == KDR_MAT_DENSE ? m->as.dense.rows * m->as.dense.cols
	                                : m->as.csr.rowptr[m->as.csr.rows];
}

#endif
