/* Products in double precision. SPDX-License-Identifier: BSD-3-Clause */
#include "matrix/builtin/builtin.h"

#define REAL double
#include "matrix/builtin/gemm_of.h"

void kdri_dgemm_part(kdri_part part, bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k,
                     double alpha, const double *a, int64_t lda, const double *b, int64_t ldb, double beta,
                     double *c, int64_t ldc)
{
	multiply(part, m, n, k, alpha, operand_of(a, lda, trans_a), operand_of(b, ldb, !trans_b), beta, c,
	         ldc);
}

void kdri_dgemm(bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k, double alpha, const double *a,
                int64_t lda, const double *b, int64_t ldb, double beta, double *c, int64_t ldc)
{
	if (n == 1)
		kdri_dgemv(trans_a, trans_a ? k : m, trans_a ? m : k, alpha, a, lda, b, trans_b ? 1 : ldb,
		           beta, c, ldc);
	else if (m == 1)
		kdri_dgemv(!trans_b, trans_b ? n : k, trans_b ? k : n, alpha, b, ldb, a, trans_a ? lda : 1,
		           beta, c, 1);
	else
		kdri_dgemm_part(KDRI_PART_ALL, trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c,
		                ldc);
}

void kdri_dsyrk(bool trans, int64_t n, int64_t k, double alpha, const double *a, int64_t lda, double beta,
                double *c, int64_t ldc)
{
	kdri_dgemm_part(KDRI_PART_LOWER, trans, !trans, n, n, k, alpha, a, lda, a, lda, beta, c, ldc);
}
