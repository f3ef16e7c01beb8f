/* A tile of a product, for one kind of machine (matrix/each_machine.h). SPDX-License-Identifier: BSD-3-Clause
 *
 * HIGH x WIDE registers hold the sums of HIGH rows and WIDE * LANES columns of C. The two panels have HIGH entries of A and
 * WIDE * LANES entries of B for each step of the inner dimension, one step after the other:
 *     512 bits   8 x 3 = 24 sums of 32 registers
 *     256 bits   4 x 3 = 12 sums of 16 registers
 *     128 bits   8 x 3 = 24 sums of 32 registers (arm64), 4 x 2 = 8 sums of 16 registers (x86-64, and WebAssembly, which
 *                is run there), where a product needs one of its own
 * Tiles at the edge of C have half as many rows or fewer registers of columns. */
#define LANES (8 * KDRI_WIDTH / (int)sizeof(REAL))
#if KDRI_WIDTH == 8 || (KDRI_WIDTH == 2 && KDRI_REGISTERS == 32)
#define HIGH 8
#define WIDE 3
#elif KDRI_WIDTH == 4
#define HIGH 4
#define WIDE 3
#else
#define HIGH 4
#define WIDE 2
#endif

typedef REAL KDRI_NAME(vec) __attribute__((vector_size(8 * KDRI_WIDTH), aligned(sizeof(REAL)), may_alias));
#define vec KDRI_NAME(vec)

/* Row r of A is at rows[r], or, if rows is NULL, A is a panel; which of both is a constant wherever this is inlined. */
KDRI_TARGET static inline __attribute__((always_inline)) void KDRI_NAME(sums)(const int height,
                                                                              const int width, int64_t k,
                                                                              const REAL *const *rows,
                                                                              const REAL *a, const REAL *b,
                                                                              REAL *out)
{
	vec sum[HIGH][WIDE];
	for (int r = 0; r < height; r++)
		for (int i = 0; i < width; i++)
			sum[r][i] = (vec){ 0 };
	for (int64_t l = 0; l < k; l++) {
		vec lanes[WIDE];
		for (int i = 0; i < width; i++)
			lanes[i] = *(const vec *)(b + (l * width + i) * LANES);
		for (int r = 0; r < height; r++)
			for (int i = 0; i < width; i++)
				sum[r][i] += (rows ? rows[r][l] : a[l * height + r]) * lanes[i];
	}
	for (int r = 0; r < height; r++)
		for (int i = 0; i < width; i++)
			*(vec *)(out + r * MOST_WIDE + i * LANES) = sum[r][i];
}

/* `height` is HIGH or HIGH / 2, `width` 1 .. WIDE. */
KDRI_TARGET static void KDRI_NAME(tile)(int height, int width, int64_t k, const REAL *a, const REAL *b,
                                        REAL *out)
{
	if (height == HIGH && width == WIDE)
		KDRI_NAME(sums)(HIGH, WIDE, k, NULL, a, b, out);
	else if (height == HIGH && width == WIDE - 1)
		KDRI_NAME(sums)(HIGH, WIDE - 1, k, NULL, a, b, out);
	else if (height == HIGH)
		KDRI_NAME(sums)(HIGH, 1, k, NULL, a, b, out);
	else if (width == WIDE)
		KDRI_NAME(sums)(HIGH / 2, WIDE, k, NULL, a, b, out);
	else if (width == WIDE - 1)
		KDRI_NAME(sums)(HIGH / 2, WIDE - 1, k, NULL, a, b, out);
	else
		KDRI_NAME(sums)(HIGH / 2, 1, k, NULL, a, b, out);
}

/* The same, of HIGH rows that lie anywhere. */
KDRI_TARGET static void KDRI_NAME(tile_of_rows)(const REAL *const *rows, int width, int64_t k, const REAL *b,
                                                REAL *out)
{
	const REAL *own[HIGH];
	memcpy(own, rows, sizeof own);
	if (width == WIDE)
		KDRI_NAME(sums)(HIGH, WIDE, k, own, NULL, b, out);
	else if (width == WIDE - 1)
		KDRI_NAME(sums)(HIGH, WIDE - 1, k, own, NULL, b, out);
	else
		KDRI_NAME(sums)(HIGH, 1, k, own, NULL, b, out);
}

static const kernel KDRI_NAME(kernel) = { KDRI_NAME(tile), KDRI_NAME(tile_of_rows), HIGH, WIDE, LANES };

#undef LANES
#undef HIGH
#undef WIDE
#undef vec
