/* BLAS on one thread, with its own integers. SPDX-License-Identifier: BSD-3-Clause */
#include "matrix/blas.h"

#include <limits.h>

int kdri_serial_begin(void)
{
#ifdef _OPENMP
	int before = omp_get_max_threads();
	omp_set_num_threads(1);
	return before;
#else
	return 1;
#endif
}

void kdri_serial_end(int before)
{
#ifdef _OPENMP
	omp_set_num_threads(before);
#else
	(void)before;
#endif
}

kdr_status kdri_blas_int(kdr_context *ctx, int64_t size, const char *what)
{
	if (size < 0 || size > INT_MAX)
		return kdri_fail(ctx, KDR_ERR_SIZE, "%s is %lld, but BLAS allows 0 to %d", what,
		                 (long long)size, INT_MAX);
	return KDR_OK;
}

kdr_status kdri_eigen_stopped(kdr_context *ctx)
{
	return kdri_fail(ctx, KDR_ERR_NUMERIC, "eigenvalues: the computation was stopped");
}

KDRI_KERNEL
void kdri_add_floats(const float *restrict x, float *restrict y, int64_t n)
{
#pragma omp simd
	for (int64_t i = 0; i < n; i++)
		y[i] += x[i];
}
