/* Sparse products; called through kdri_mat_mul and kdri_mat_tmul. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_SPARSE_H
#define KDRI_SPARSE_H

#include "matrix/linalg.h"

/* Y (rows x k) = X B. */
void kdri_csr_mul(kdr_context *ctx, const kdr_csr *x, const double *b, int64_t k, int64_t ldb, double *y,
                  int64_t ldy);
/* Y (cols x k) = X' B. */
void kdri_csr_tmul(kdr_context *ctx, const kdr_csr *x, const double *b, int64_t k, int64_t ldb, double *y,
                   int64_t ldy);

#endif
