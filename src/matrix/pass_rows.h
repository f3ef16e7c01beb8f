/* Rows times a block and back, for one kind of machine (matrix/each_machine.h). SPDX-License-Identifier: BSD-3-Clause
 *
 * A tile has some rows (forward) or columns of x (backward), and for each of them one register of columns of the block, or
 * BROAD registers while as many columns remain. Every entry of x is loaded once for all registers of a tile: a tile of 4 x 4
 * registers loads 8 numbers for 16 multiply-adds, one of 8 x 1 registers 9 for 8. The sums of an entry are in the same
 * order in tiles of any shape. */
#define HIGH 8
#if KDRI_WIDTH == 8
#define BROAD      2
#define BROAD_HIGH 8
#elif KDRI_WIDTH == 2 && KDRI_REGISTERS == 32
#define BROAD      4
#define BROAD_HIGH 4
#else
#define BROAD      2
#define BROAD_HIGH 4
#endif
typedef double KDRI_NAME(pass_vec)
        __attribute__((vector_size(8 * KDRI_WIDTH), aligned(sizeof(double)), may_alias));
#define vec KDRI_NAME(pass_vec)

/* Calls TILE(height, parts) for rows or columns i .. i + step - 1 of n, with constants. */
#define PICK_TILE(TILE) \
	do { \
		const int64_t high = broad ? BROAD_HIGH : HIGH; \
		step = n - i >= high ? high : n - i >= high / 2 ? high / 2 : 1; \
		if (broad && step == BROAD_HIGH) \
			TILE(BROAD_HIGH, BROAD); \
		else if (broad && step == BROAD_HIGH / 2) \
			TILE(BROAD_HIGH / 2, BROAD); \
		else if (broad) \
			TILE(1, BROAD); \
		else if (step == HIGH) \
			TILE(HIGH, 1); \
		else if (step == HIGH / 2) \
			TILE(HIGH / 2, 1); \
		else \
			TILE(1, 1); \
	} while (0)

/* z (rows x k, from column `at` on) = bias times the last row of p + rows times p. */
KDRI_TARGET static inline __attribute__((always_inline)) void KDRI_NAME(forward_tile)(
        const int height, const int parts, const double *const *rows, int64_t cols, const double *p,
        int64_t wide, double bias, int64_t k, int64_t at, double *z)
{
	vec sum[HIGH][BROAD];
	const double *own[HIGH];
	for (int r = 0; r < height; r++) {
		own[r] = rows[r];
		for (int b = 0; b < parts; b++)
			sum[r][b] = bias * *(const vec *)(p + cols * wide + at + b * KDRI_WIDTH);
	}
	for (int64_t q = 0; q < cols; q++) {
		vec lanes[BROAD];
		for (int b = 0; b < parts; b++)
			lanes[b] = *(const vec *)(p + q * wide + at + b * KDRI_WIDTH);
		for (int r = 0; r < height; r++)
			for (int b = 0; b < parts; b++)
				sum[r][b] += own[r][q] * lanes[b];
	}
	if (k - at >= parts * KDRI_WIDTH)
		for (int r = 0; r < height; r++)
			for (int b = 0; b < parts; b++)
				*(vec *)(z + r * k + at + b * KDRI_WIDTH) = sum[r][b];
	else
		for (int r = 0; r < height; r++)
			for (int64_t j = at; j < k; j++)
				z[r * k + j] = sum[r][0][j - at];
}

KDRI_TARGET static void KDRI_NAME(forward)(const double *const *rows, int64_t n, int64_t cols,
                                           const double *p, int64_t wide, double bias, int64_t k, double *z)
{
#define FORWARD(height, parts) \
	KDRI_NAME(forward_tile)(height, parts, rows + i, cols, p, wide, bias, k, at, z + i * k)
	for (int64_t at = 0, lanes; at < k; at += lanes) {
		const bool broad = k - at >= BROAD * KDRI_WIDTH;
		lanes = broad ? BROAD * KDRI_WIDTH : KDRI_WIDTH;
		for (int64_t i = 0, step; i < n; i += step)
			PICK_TILE(FORWARD);
	}
#undef FORWARD
}

/* y (`height` rows, `wide` apart) += columns q.. of the rows, transposed, times a (n x k). Behind column k there are numbers
 * that nobody uses. */
KDRI_TARGET static inline __attribute__((always_inline)) void KDRI_NAME(backward_tile)(
        const int height, const int parts, const double *const *rows, int64_t n, int64_t q, const double *a,
        int64_t k, double *y, int64_t wide)
{
	vec sum[HIGH][BROAD];
	for (int r = 0; r < height; r++)
		for (int b = 0; b < parts; b++)
			sum[r][b] = *(const vec *)(y + r * wide + b * KDRI_WIDTH);
	for (int64_t i = 0; i < n; i++) {
		const double *row = rows[i] + q;
		vec lanes[BROAD];
		for (int b = 0; b < parts; b++)
			lanes[b] = *(const vec *)(a + i * k + b * KDRI_WIDTH);
		for (int r = 0; r < height; r++)
			for (int b = 0; b < parts; b++)
				sum[r][b] += row[r] * lanes[b];
	}
	for (int r = 0; r < height; r++)
		for (int b = 0; b < parts; b++)
			*(vec *)(y + r * wide + b * KDRI_WIDTH) = sum[r][b];
}

/* The last row of y is the sum of the rows of a. */
KDRI_TARGET static void KDRI_NAME(backward)(const double *const *rows, int64_t count, int64_t cols,
                                            const double *a, int64_t k, double *y, int64_t wide)
{
#define BACKWARD(height, parts) \
	KDRI_NAME(backward_tile)(height, parts, rows, count, i, a + at, k, y + i * wide + at, wide)
	const int64_t n = cols;
	for (int64_t at = 0, lanes; at < k; at += lanes) {
		const bool broad = k - at >= BROAD * KDRI_WIDTH;
		lanes = broad ? BROAD * KDRI_WIDTH : KDRI_WIDTH;
		for (int64_t i = 0, step; i < n; i += step)
			PICK_TILE(BACKWARD);
	}
#undef BACKWARD
	for (int64_t at = 0; at < k; at += KDRI_WIDTH) {
		vec sum = *(const vec *)(y + cols * wide + at);
		for (int64_t i = 0; i < count; i++)
			sum += *(const vec *)(a + i * k + at);
		*(vec *)(y + cols * wide + at) = sum;
	}
}

#undef HIGH
#undef BROAD
#undef BROAD_HIGH
#undef PICK_TILE
#undef vec
