/* Rows times a block and back, for one kind of machine (matrix/each_machine.h). SPDX-License-Identifier: BSD-3-Clause
 *
 * A tile has HIGH rows (forward) or HIGH columns of x (backward), and one register of columns of the block for each of
 * them. Every entry of x is used by one instruction per register of the block. The sums of an entry are in the same order in
 * tiles of any height. */
#define HIGH 8
typedef double KDRI_NAME(pass_vec)
        __attribute__((vector_size(8 * KDRI_WIDTH), aligned(sizeof(double)), may_alias));
#define vec KDRI_NAME(pass_vec)

/* z (rows x k, from column `at` on) = bias times the last row of p + rows times p. */
KDRI_TARGET static inline __attribute__((always_inline)) void KDRI_NAME(forward_tile)(
        const int height, const double *const *rows, int64_t cols, const double *p, int64_t wide, double bias,
        int64_t k, int64_t at, double *z)
{
	vec sum[HIGH];
	const double *own[HIGH];
	for (int r = 0; r < height; r++) {
		own[r] = rows[r];
		sum[r] = bias * *(const vec *)(p + cols * wide + at);
	}
	for (int64_t q = 0; q < cols; q++) {
		const vec lanes = *(const vec *)(p + q * wide + at);
		for (int r = 0; r < height; r++)
			sum[r] += own[r][q] * lanes;
	}
	if (k - at >= KDRI_WIDTH)
		for (int r = 0; r < height; r++)
			*(vec *)(z + r * k + at) = sum[r];
	else
		for (int r = 0; r < height; r++)
			for (int64_t j = at; j < k; j++)
				z[r * k + j] = sum[r][j - at];
}

KDRI_TARGET static void KDRI_NAME(forward)(const double *const *rows, int64_t n, int64_t cols,
                                           const double *p, int64_t wide, double bias, int64_t k, double *z)
{
	for (int64_t i = 0, step; i < n; i += step) {
		step = n - i >= HIGH ? HIGH : n - i >= HIGH / 2 ? HIGH / 2 : 1;
		for (int64_t at = 0; at < k; at += KDRI_WIDTH) {
			double *to = z + i * k;
			if (step == HIGH) {
				KDRI_NAME(forward_tile)(HIGH, rows + i, cols, p, wide, bias, k, at, to);
			} else if (step == HIGH / 2) {
				KDRI_NAME(forward_tile)(HIGH / 2, rows + i, cols, p, wide, bias, k, at, to);
			} else {
				KDRI_NAME(forward_tile)(1, rows + i, cols, p, wide, bias, k, at, to);
			}
		}
	}
}

/* y (`height` rows, `wide` apart) += columns q.. of the rows, transposed, times a (n x k). Behind column k there are numbers
 * that nobody uses. */
KDRI_TARGET static inline __attribute__((always_inline)) void KDRI_NAME(backward_tile)(
        const int height, const double *const *rows, int64_t n, int64_t q, const double *a, int64_t k,
        double *y, int64_t wide)
{
	vec sum[HIGH];
	for (int r = 0; r < height; r++)
		sum[r] = *(const vec *)(y + r * wide);
	for (int64_t i = 0; i < n; i++) {
		const vec lanes = *(const vec *)(a + i * k);
		const double *row = rows[i] + q;
		for (int r = 0; r < height; r++)
			sum[r] += row[r] * lanes;
	}
	for (int r = 0; r < height; r++)
		*(vec *)(y + r * wide) = sum[r];
}

/* The last row of y is the sum of the rows of a. */
KDRI_TARGET static void KDRI_NAME(backward)(const double *const *rows, int64_t n, int64_t cols,
                                            const double *a, int64_t k, double *y, int64_t wide)
{
	for (int64_t at = 0; at < k; at += KDRI_WIDTH) {
		vec sum = *(const vec *)(y + cols * wide + at);
		for (int64_t q = 0, step; q < cols; q += step) {
			double *to = y + q * wide + at;
			step = cols - q >= HIGH ? HIGH : cols - q >= HIGH / 2 ? HIGH / 2 : 1;
			if (step == HIGH) {
				KDRI_NAME(backward_tile)(HIGH, rows, n, q, a + at, k, to, wide);
			} else if (step == HIGH / 2) {
				KDRI_NAME(backward_tile)(HIGH / 2, rows, n, q, a + at, k, to, wide);
			} else {
				KDRI_NAME(backward_tile)(1, rows, n, q, a + at, k, to, wide);
			}
		}
		for (int64_t i = 0; i < n; i++)
			sum += *(const vec *)(a + i * k + at);
		*(vec *)(y + cols * wide + at) = sum;
	}
}

#undef HIGH
#undef vec
