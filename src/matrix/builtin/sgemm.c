/* Products in single precision. SPDX-License-Identifier: BSD-3-Clause */
#include "matrix/builtin/builtin.h"

#define REAL float
#include "matrix/builtin/gemm_of.h"

void kdri_sgemm(bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k, float alpha, const float *a,
                int64_t lda, const float *b, int64_t ldb, float beta, float *c, int64_t ldc)
{
	multiply(KDRI_PART_ALL, m, n, k, alpha, operand_of(a, lda, trans_a), operand_of(b, ldb, !trans_b),
	         beta, c, ldc);
}

void kdri_ssyrk(bool trans, int64_t n, int64_t k, float alpha, const float *a, int64_t lda, float beta,
                float *c, int64_t ldc)
{
	multiply(KDRI_PART_LOWER, n, n, k, alpha, operand_of(a, lda, trans), operand_of(a, lda, trans), beta,
	         c, ldc);
}
