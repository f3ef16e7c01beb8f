/* Sums and combinations of columns. SPDX-License-Identifier: BSD-3-Clause */
#include "matrix/vectors.h"

enum { SERIAL_WORK = 1 << 15 };

void kdri_vectors_add(int64_t chunks, int64_t m, const double *partial, double *out)
{
	for (int64_t j = 0; j < m; j++) {
		double sum = 0;
		for (int64_t c = 0; c < chunks; c++)
			sum += partial[c * m + j];
		out[j] = sum;
	}
}

void kdri_vectors_dot(kdr_context *ctx, int64_t rows, int64_t m, const double *a, const double *b,
                      double *partial, double *out)
{
	int64_t chunks = kdri_chunks(rows);
#pragma omp parallel for num_threads(kdri_team(ctx)) if (rows * m > SERIAL_WORK)
	for (int64_t c = 0; c < chunks; c++) {
		double *sum = partial + c * m;
		memset(sum, 0, (size_t)m * sizeof *sum);
		for (int64_t i = kdri_chunk_begin(rows, chunks, c); i < kdri_chunk_begin(rows, chunks, c + 1);
		     i++)
			for (int64_t j = 0; j < m; j++)
				sum[j] += a[i * m + j] * (b ? b[i * m + j] : 1);
	}
	kdri_vectors_add(chunks, m, partial, out);
}

void kdri_vectors_combine(kdr_context *ctx, int64_t rows, int64_t m, const double *scale, const double *alpha,
                          const double *x, double *y)
{
#pragma omp parallel for num_threads(kdri_team(ctx)) if (rows * m > SERIAL_WORK)
	for (int64_t i = 0; i < rows; i++)
		for (int64_t j = 0; j < m; j++)
			y[i * m + j] =
			        (scale ? scale[j] * y[i * m + j] : y[i * m + j]) + alpha[j] * x[i * m + j];
}
