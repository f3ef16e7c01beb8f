/* Products of matrices of REAL. SPDX-License-Identifier: BSD-3-Clause
 *
 * The usual blocks [Goto and van de Geijn, Anatomy of high-performance matrix multiplication, ACM TOMS 34, 2008]: the inner dimension is
 * cut into pieces of INNER. A piece of B with up to MOST_COLS columns is copied into panels as wide as a tile, and a
 * piece of A with up to MOST_ROWS rows into panels as high as a tile, so that a tile (gemm_tile.h) reads both in
 * order. A panel of B stays in the first-level cache while it is multiplied by all panels of A, which stay in the
 * second-level cache. Transposes only affect the copying.
 *
 * An entry of C is the sum of its pieces in order, each of which is one chain of multiply-adds in order, regardless
 * of its position in C and of the space for the copies. */

enum {
	INNER = 256,
	MOST_HIGH = 8,
	MOST_WIDE = 3 * 64 / (int)sizeof(REAL), /* columns of a tile, with registers of 512 bits */
	MOST_ROWS = 96,
	MOST_COLS = 768,
	FIRST_CACHE = 1 << 15,  /* bytes of it that a copy may take */
	SECOND_CACHE = 1 << 19, /* and of this */
	TURNED = 16,            /* entries of a row that are copied before the next row's */
	SMALL = INNER * (MOST_HIGH + MOST_WIDE)
};
_Static_assert(INNER *MOST_WIDE <= SMALL && FIRST_CACHE <= SMALL * sizeof(REAL),
               "a narrow product needs no other room");
_Static_assert(INNER *(MOST_ROWS + MOST_COLS) * sizeof(REAL) <= KDRI_ROOM_BYTES, "a product's room");

typedef struct kernel {
	void (*tile)(int height, int width, int64_t k, const REAL *a, const REAL *b, REAL *out);
	void (*tile_of_rows)(const REAL *const *rows, int width, int64_t k, const REAL *b, REAL *out);
	int high, wide, lanes;
} kernel;

#define KDRI_BODY "matrix/builtin/gemm_tile.h"
#include "matrix/each_machine.h"

/* An operand: entry (i, l) is at data[i * down + l * across]; down or across is 1. */
typedef struct operand {
	const REAL *data;
	int64_t down, across;
} operand;

/* Rows 0 .. count - 1 and inner entries 0 .. k - 1 as panels of `height` rows, the last one of `last` rows and padded with zeros. */
static void copy_panels(operand x, int64_t count, int64_t height, int64_t last, int64_t k, REAL *restrict to)
{
	const int64_t whole = (count - 1) / height * height; /* rows before the last panel */
	if (count - whole < last)
		memset(to + whole * k, 0, (size_t)(last * k) * sizeof *to);
	if (x.across == 1) {
		for (int64_t p = 0; p < count; p += height) {
			const int64_t rows = KDRI_MIN(height, count - p), step = p < whole ? height : last;
			REAL *panel = to + p * k;
			for (int64_t begin = 0; begin < k; begin += TURNED)
				for (int64_t i = 0; i < rows; i++) {
					const REAL *from = x.data + (p + i) * x.down;
					for (int64_t l = begin; l < KDRI_MIN(k, begin + TURNED); l++)
						panel[l * step + i] = from[l];
				}
		}
		return;
	}
	for (int64_t l = 0; l < k; l++) { /* one row of memory after the other, all panels at a time */
		const REAL *from = x.data + l * x.across;
		for (int64_t p = 0; p < whole; p += height)
			memcpy(to + p * k + l * height, from + p, (size_t)height * sizeof *to);
		memcpy(to + whole * k + l * last, from + whole, (size_t)(count - whole) * sizeof *to);
	}
}

static int height_of(const kernel *kn, int64_t rows)
{
	return rows > kn->high / 2 ? kn->high : kn->high / 2;
}

/* In registers. */
static int width_of(const kernel *kn, int64_t cols)
{
	return (int)KDRI_MIN(kn->wide, (cols + kn->lanes - 1) / kn->lanes);
}

/* C = alpha S + beta C for rows x cols of the tile S whose corner is at (i, j) of the entire C, as far as they belong to `part`. */
KDRI_KERNEL
static void add_tile(kdri_part part, int64_t i, int64_t j, int64_t rows, int64_t cols, REAL alpha,
                     const REAL *restrict s, REAL beta, REAL *restrict c, int64_t ldc)
{
	for (int64_t r = 0; r < rows; r++) {
		const REAL *from = s + r * MOST_WIDE;
		REAL *to = c + r * ldc;
		int64_t begin = part == KDRI_PART_UPPER ? KDRI_MAX(0, i + r - j) : 0;
		int64_t end = part == KDRI_PART_LOWER ? KDRI_MIN(cols, i + r - j + 1) : cols;
		if (beta == 0)
			for (int64_t q = begin; q < end; q++)
				to[q] = alpha * from[q];
		else
			for (int64_t q = begin; q < end; q++)
				to[q] = alpha * from[q] + beta * to[q];
	}
}

/* Whether rows i .. i + rows - 1 and columns j .. j + cols - 1 have entries of `part`. */
static bool meets(kdri_part part, int64_t i, int64_t rows, int64_t j, int64_t cols)
{
	return part == KDRI_PART_ALL || (part == KDRI_PART_LOWER ? j < i + rows : j + cols > i);
}

/* One block of C, at (i, j), from panels of A (rows x k) and of B (k x cols). Tiles go down the columns, so that a panel of B stays in the
 * first cache; if all of B stays in the second, they go along the rows, as C is stored. */
static void multiply_block(const kernel *kn, kdri_part part, int64_t i, int64_t rows, int64_t j, int64_t cols,
                           int64_t k, REAL alpha, const REAL *a, const REAL *b, REAL beta, REAL *c,
                           int64_t ldc)
{
	_Alignas(64) REAL sums[MOST_HIGH * MOST_WIDE];
	const int64_t across = (int64_t)kn->wide * kn->lanes;
	const int64_t down = (rows + kn->high - 1) / kn->high, along = (cols + across - 1) / across;
	const bool by_rows = k * cols * (int64_t)sizeof(REAL) <= SECOND_CACHE;
	for (int64_t t = 0; t < down * along; t++) {
		const int64_t p = (by_rows ? t / along : t % down) * kn->high,
		              q = (by_rows ? t % along : t / down) * across;
		const int64_t high = KDRI_MIN(kn->high, rows - p), wide = KDRI_MIN(across, cols - q);
		if (!meets(part, i + p, high, j + q, wide))
			continue;
		kn->tile(height_of(kn, high), width_of(kn, wide), k, a + p * k, b + q * k, sums);
		add_tile(part, i + p, j + q, high, wide, alpha, sums, beta, c + (i + p) * ldc + j + q, ldc);
	}
}

/* The same for a B of few columns, which stays in the first cache: each entry of A is used for them at once, and not copied. */
static void multiply_narrow(const kernel *kn, kdri_part part, int64_t m, int64_t n, int64_t k, REAL alpha,
                            operand a, const REAL *b, REAL beta, REAL *c, int64_t ldc)
{
	_Alignas(64) REAL sums[MOST_HIGH * MOST_WIDE];
	const int64_t across = (int64_t)kn->wide * kn->lanes;
	for (int64_t p = 0; p < m; p += kn->high) {
		int64_t high = KDRI_MIN(kn->high, m - p);
		const REAL *rows[MOST_HIGH];
		for (int64_t r = 0; r < kn->high; r++) /* values beyond the last row are not used */
			rows[r] = a.data + (p + KDRI_MIN(r, high - 1)) * a.down;
		for (int64_t q = 0; q < n; q += across) {
			const int64_t wide = KDRI_MIN(across, n - q);
			if (!meets(part, p, high, q, wide))
				continue;
			kn->tile_of_rows(rows, width_of(kn, wide), k, b + q * k, sums);
			add_tile(part, p, q, high, wide, alpha, sums, beta, c + p * ldc + q, ldc);
		}
	}
}

static void scale(kdri_part part, int64_t m, int64_t n, REAL beta, REAL *c, int64_t ldc)
{
	for (int64_t i = 0; i < m; i++)
		for (int64_t j = part == KDRI_PART_UPPER ? i : 0;
		     j < (part == KDRI_PART_LOWER ? KDRI_MIN(n, i + 1) : n); j++)
			c[i * ldc + j] = beta == 0 ? 0 : beta * c[i * ldc + j];
}

static int64_t round_up(int64_t size, int64_t step)
{
	return (size + step - 1) / step * step;
}

static void multiply(kdri_part part, int64_t m, int64_t n, int64_t k, REAL alpha, operand a, operand b,
                     REAL beta, REAL *c, int64_t ldc)
{
	_Alignas(64) REAL small[SMALL];
	const kernel picked = KDRI_PICK(kernel), *kn = &picked;
	const int64_t across = (int64_t)kn->wide * kn->lanes, longest = KDRI_MIN(k, INNER);
	int64_t high = KDRI_MIN(round_up(m, kn->high), MOST_ROWS / kn->high * kn->high);
	int64_t wide = round_up(n, across);
	const bool narrow =
	        a.across == 1 && (n <= across || wide * longest * (int64_t)sizeof(REAL) <= FIRST_CACHE);
	void *room = NULL;
	int slot = -1;
	if (k == 0 || alpha == 0) {
		scale(part, m, n, beta, c, ldc);
		return;
	}
	if (narrow)
		high = 0;
	else if (m <= high && b.across == 1) /* A fits: each panel of B is used as soon as it is copied */
		wide = across;
	else
		wide = KDRI_MIN(wide, MOST_COLS / across * across);
	if ((high + wide) * longest > SMALL) {
		slot = kdri_room_take(&room);
		if (!room) {
			high = kn->high;
			wide = across;
		}
	}
	REAL *left = room ? room : small, *right = left + high * longest;
	for (int64_t l = 0; l < k; l += INNER) {
		int64_t inner = KDRI_MIN(INNER, k - l);
		for (int64_t j = 0; j < n; j += wide) {
			int64_t cols = KDRI_MIN(wide, n - j);
			operand panels = { b.data + j * b.down + l * b.across, b.down, b.across };
			int64_t last = cols - (cols - 1) / across * across;
			copy_panels(panels, cols, across, (int64_t)width_of(kn, last) * kn->lanes, inner,
			            right);
			if (narrow) {
				operand from = { a.data + l, a.down, 1 };
				multiply_narrow(kn, part, m, n, inner, alpha, from, right, l > 0 ? 1 : beta,
				                c, ldc);
				continue;
			}
			for (int64_t i = 0; i < m; i += high) {
				int64_t rows = KDRI_MIN(high, m - i);
				if (!meets(part, i, rows, j, cols))
					continue;
				if (j == 0 || m > high) {
					operand from = { a.data + i * a.down + l * a.across, a.down,
						         a.across };
					last = rows - (rows - 1) / kn->high * kn->high;
					copy_panels(from, rows, kn->high, height_of(kn, last), inner, left);
				}
				multiply_block(kn, part, i, rows, j, cols, inner, alpha, left, right,
				               l > 0 ? 1 : beta, c, ldc);
			}
		}
	}
	kdri_room_return(slot);
}

/* The operand of op(X), whose rows are numbered along the rows of C (left) or along its columns (right). */
static operand operand_of(const REAL *x, int64_t ld, bool along)
{
	return along ? (operand){ x, 1, ld } : (operand){ x, ld, 1 };
}
