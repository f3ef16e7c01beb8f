/* The tiles of k-means, for one kind of machine (matrix/each_machine.h). SPDX-License-Identifier: BSD-3-Clause
 *
 * Lanes are KDRI_LANES centres, in PARTS registers. Dense rows are multiplied HIGH at a time with WIDE tiles, so that
 * HIGH x WIDE x PARTS sums, the lanes of a feature and a row's entry fit the registers, and there are enough sums to
 * hide latency: two multiply-adds may start each cycle on x86-64 and four on arm64, and each takes four or five
 * cycles.
 *     512 bits   8 x 2 x 1 = 16 sums of 32 registers, 10 loads for 16 multiply-adds
 *     256 bits   6 x 1 x 2 = 12 sums of 16 registers,  8 loads for 12
 *     128 bits   4 x 1 x 4 = 16 sums of 32 registers (arm64),   8 loads for 16
 *                2 x 1 x 4 =  8 sums of 16 registers (x86-64), where a product needs one of its own
 * On 128 bits half a tile, of twice as many rows, costs half a tile's time, so that the bounds of lloyd.c may cover four
 * centres. Sparse rows are processed one at a time with up to LONG tiles, one sum per register. */
#define PARTS (KDRI_LANES / KDRI_WIDTH)
#if KDRI_WIDTH == 8
#define HIGH 8
#define WIDE 2
#define LONG 4
#elif KDRI_WIDTH == 4
#define HIGH 6
#define WIDE 1
#define LONG 4
#elif KDRI_REGISTERS == 32
#define HIGH 4
#define WIDE 1
#define LONG 4
#else
#define HIGH 2
#define WIDE 1
#define LONG 2
#endif
/* Prefetch distance in entries of a sparse row: the processor cannot predict the order of their features. */
#define AHEAD 8
/* Prefetch distance in rows, into the second-level cache: a list has gaps, and the first-level cache can wait for only a
 * few lines at a time. */
#define ROWS_AHEAD 8
/* Half a tile, with as many rows, if the registers suffice to take half the time. */
#if KDRI_WIDTH == 2
#define HALVES 1
#define TALL   (2 * HIGH)
#else
#define HALVES 0
#define TALL   HIGH
#endif
#define INLINE KDRI_TARGET static inline __attribute__((always_inline))

typedef double KDRI_NAME(vec) __attribute__((vector_size(8 * KDRI_WIDTH), aligned(8), may_alias));
typedef int64_t KDRI_NAME(ivec) __attribute__((vector_size(8 * KDRI_WIDTH), aligned(8), may_alias));
#define vec  KDRI_NAME(vec)
#define ivec KDRI_NAME(ivec)

/* Lanes i of the tile whose feature is at c. */
#define PART(c, i) (*(const vec *)((c) + KDRI_WIDTH * (i)))

/* `height` rows times `parts` registers of lanes, of tiles a step apart; both are constants wherever this is inlined. */
INLINE void KDRI_NAME(dense_tile)(const double *const *x, const int height, const int parts, int64_t d,
                                  const double *c, int64_t step, double *out, int64_t ldo)
{
	vec sum[TALL][WIDE * PARTS];
	for (int r = 0; r < height; r++)
		for (int i = 0; i < parts; i++)
			sum[r][i] = (vec){ 0 };
#ifdef __clang__
#pragma clang loop unroll_count(2)
#endif
	for (int64_t f = 0; f < d; f++) {
		vec lanes[WIDE * PARTS];
		for (int i = 0; i < parts; i++)
			lanes[i] = PART(c + i / PARTS * step + KDRI_LANES * f, i % PARTS);
		for (int r = 0; r < height; r++)
			for (int i = 0; i < parts; i++)
				sum[r][i] += x[r][f] * lanes[i];
	}
	for (int r = 0; r < height; r++)
		for (int i = 0; i < parts; i++)
			*(vec *)(out + r * ldo + KDRI_WIDTH * i) = sum[r][i];
}

/* Rows `high` at a time times all lanes, `wide` registers of them at a time: both constants here too. A list's tail is
 * padded with its last row, whose results are not used. */
INLINE void KDRI_NAME(dense_list)(const kdr_dense *x, const int64_t *rows, int64_t count, const int high,
                                  const int wide, const double *table, int64_t step, int64_t lanes,
                                  double *out, int64_t ldo)
{
	const int low = high / 2;
	for (int64_t r = 0; r < count;) {
		int64_t left = count - r, height = left > low ? high : low, take = KDRI_MIN(left, height);
		const double *p[TALL];
		double spare[TALL * WIDE * KDRI_LANES];
		for (int64_t i = 0; i < high; i++)
			p[i] = x->data + rows[r + KDRI_MIN(i, take - 1)] * x->stride;
		for (int64_t t = 0; t < lanes; t += wide * KDRI_WIDTH) {
			const double *c = table + t / KDRI_LANES * step;
			int64_t width = KDRI_MIN(lanes - t, wide * KDRI_WIDTH);
			bool whole = take == height, last = width < wide * KDRI_WIDTH;
			double *to = whole ? out + r * ldo + t : spare;
			int64_t ld = whole ? ldo : WIDE * KDRI_LANES;
			if (!last && height == high)
				KDRI_NAME(dense_tile)(p, high, wide, x->cols, c, step, to, ld);
			else if (!last)
				KDRI_NAME(dense_tile)(p, low, wide, x->cols, c, step, to, ld);
			else if (height == high)
				KDRI_NAME(dense_tile)(p, high, PARTS, x->cols, c, step, to, ld);
			else
				KDRI_NAME(dense_tile)(p, low, PARTS, x->cols, c, step, to, ld);
			if (!whole)
				for (int64_t i = 0; i < take; i++)
					memcpy(out + (r + i) * ldo + t, spare + i * ld,
					       (size_t)width * sizeof *spare);
		}
		r += take;
	}
}

KDRI_TARGET static void KDRI_NAME(dense_dots)(const kdr_dense *x, const int64_t *rows, int64_t count,
                                              const double *table, int64_t step, int64_t lanes, double *out,
                                              int64_t ldo)
{
#if HALVES
	if (lanes < KDRI_LANES)
		KDRI_NAME(dense_list)(x, rows, count, TALL, PARTS / 2, table, step, lanes, out, ldo);
	else
#endif
		KDRI_NAME(dense_list)(x, rows, count, HIGH, WIDE * PARTS, table, step, lanes, out, ldo);
}

INLINE void KDRI_NAME(sparse_tile)(const double *val, const int32_t *col, int64_t count, const int width,
                                   const double *table, int64_t step, double *out)
{
	vec sum[LONG * PARTS];
	for (int i = 0; i < width * PARTS; i++)
		sum[i] = (vec){ 0 };
	for (int64_t p = 0; p < count; p++) {
		const double *c = table + col[p] * step,
		             *next = table + col[KDRI_MIN(p + AHEAD, count - 1)] * step;
		for (int t = 0; t < width; t++)
			__builtin_prefetch(next + t * KDRI_LANES);
		for (int i = 0; i < width * PARTS; i++)
			sum[i] += val[p] * PART(c, i);
	}
	for (int i = 0; i < width * PARTS; i++)
		*(vec *)(out + KDRI_WIDTH * i) = sum[i];
}

KDRI_TARGET static void KDRI_NAME(sparse_dots)(const kdr_csr *x, const int64_t *rows, int64_t count,
                                               const double *table, int64_t step, int64_t lanes, double *out,
                                               int64_t ldo)
{
	const int64_t tiles = lanes / KDRI_LANES;
	for (int64_t r = 0; r < count; r++) {
		int64_t begin = x->rowptr[rows[r]], n = x->rowptr[rows[r] + 1] - begin;
		const double *val = x->val + begin;
		const int32_t *col = x->col + begin;
		for (int64_t t = 0; t < tiles; t += LONG) {
			const double *c = table + t * KDRI_LANES;
			double *to = out + r * ldo + t * KDRI_LANES;
			switch (KDRI_MIN(tiles - t, LONG)) {
			case 1: KDRI_NAME(sparse_tile)(val, col, n, 1, c, step, to); break;
#if LONG > 2
			case 2: KDRI_NAME(sparse_tile)(val, col, n, 2, c, step, to); break;
			case 3: KDRI_NAME(sparse_tile)(val, col, n, 3, c, step, to); break;
#endif
			default: KDRI_NAME(sparse_tile)(val, col, n, LONG, c, step, to);
			}
		}
	}
}

/* Where mask, a; else b. A macro, since a vector as argument would fix a calling convention. */
#define CHOOSE(mask, a, b) ((vec)(((ivec)(a) & (mask)) | ((ivec)(b) & ~(mask))))

/* `parts` (a constant) registers of the first lanes, and complete tiles after these. */
INLINE void KDRI_NAME(scan_rows)(const int parts, const double *dots, int64_t ldo, int64_t count,
                                 int64_t width, const double *offset, const double *twice, double *best,
                                 double *second, int32_t *arg)
{
	static const double index[KDRI_LANES] = { 0, 1, 2, 3, 4, 5, 6, 7 };
	for (int64_t r = 0; r < count; r++) {
		const double *s = dots + r * ldo;
		double m = twice ? twice[r] : 2;
		vec low[PARTS], next[PARTS], at[PARTS];
		for (int i = 0; i < parts; i++) {
			low[i] = PART(offset, i) - m * PART(s, i);
			next[i] = (vec){ 0 } + INFINITY;
			at[i] = PART(index, i);
		}
		for (int64_t j = KDRI_LANES; j < width; j += KDRI_LANES)
			for (int i = 0; i < parts; i++) {
				vec v = PART(offset + j, i) - m * PART(s + j, i);
				ivec less = v < low[i], below = v < next[i];
				next[i] = CHOOSE(below, v, next[i]);
				next[i] = CHOOSE(less, low[i], next[i]);
				at[i] = CHOOSE(less, PART(index, i) + (double)j, at[i]);
				low[i] = CHOOSE(less, v, low[i]);
			}
		/* Registers, then lanes, meet in pairs: of equal values the lowest index wins, and of the two that lose one is
		 * the second. */
		for (int t = parts / 2; t > 0; t /= 2)
			for (int i = 0; i < t; i++) {
				vec v = low[i + t], w = next[i + t];
				ivec less = (v < low[i]) | ((v == low[i]) & (at[i + t] < at[i]));
				vec lost = CHOOSE(less, low[i], v);
				next[i] = CHOOSE(w < next[i], w, next[i]);
				next[i] = CHOOSE(lost < next[i], lost, next[i]);
				at[i] = CHOOSE(less, at[i + t], at[i]);
				low[i] = CHOOSE(less, v, low[i]);
			}
		double b = low[0][0], b2 = next[0][0], a = at[0][0];
		for (int l = 1; l < KDRI_WIDTH; l++) {
			double v = low[0][l];
			bool less = v < b || (v == b && at[0][l] < a);
			b2 = KDRI_MIN(KDRI_MIN(b2, next[0][l]), less ? b : v);
			a = less ? at[0][l] : a;
			b = less ? v : b;
		}
		best[r] = b;
		second[r] = b2;
		arg[r] = (int32_t)a;
	}
}

KDRI_TARGET static void KDRI_NAME(scan)(const double *dots, int64_t ldo, int64_t count, int64_t width,
                                        const double *offset, const double *twice, double *best,
                                        double *second, int32_t *arg)
{
#if HALVES
	if (width < KDRI_LANES)
		KDRI_NAME(scan_rows)(PARTS / 2, dots, ldo, count, width, offset, twice, best, second, arg);
	else
#endif
		KDRI_NAME(scan_rows)(PARTS, dots, ldo, count, width, offset, twice, best, second, arg);
}

/* |s x - c|^2 of d features for `height` rows at once, in four registers of sums each. */
INLINE void KDRI_NAME(distances)(const double *const *x, const double *const *c, const double *s,
                                 const double *const *next, const int height, int64_t d, double *out)
{
	enum { SUMS = 4, STEP = SUMS * KDRI_WIDTH, LINE = 8 };
	vec sum[2][SUMS];
	int64_t f = 0;
	for (int r = 0; r < height; r++)
		for (int t = 0; t < SUMS; t++)
			sum[r][t] = (vec){ 0 };
	for (; f + STEP <= d; f += STEP)
		for (int r = 0; r < height; r++) {
			for (int t = 0; t < STEP; t += LINE)
				__builtin_prefetch(next[r] + f + t, 0, 2);
			for (int t = 0; t < SUMS; t++) {
				vec e = PART(c[r] + f, t) - s[r] * PART(x[r] + f, t);
				sum[r][t] += e * e;
			}
		}
	for (int r = 0; r < height; r++) {
		int64_t g = f;
		double total = 0;
		for (; g + KDRI_WIDTH <= d; g += KDRI_WIDTH) {
			vec e = PART(c[r] + g, 0) - s[r] * PART(x[r] + g, 0);
			sum[r][0] += e * e;
		}
		vec all = (sum[r][0] + sum[r][1]) + (sum[r][2] + sum[r][3]);
		for (; g < d; g++) {
			double e = c[r][g] - s[r] * x[r][g];
			total += e * e;
		}
		for (int i = 0; i < KDRI_WIDTH; i++)
			total += all[i];
		out[r] = total;
	}
}

/* Two rows at a time, so that memory is read from two places at once. */
KDRI_TARGET static void KDRI_NAME(dense_own)(const kdr_dense *x, const int64_t *rows, int64_t count,
                                             const double *centres, const int32_t *label, const double *scale,
                                             double *out)
{
	for (int64_t r = 0; r < count; r += 2) {
		const int64_t take = KDRI_MIN(count - r, 2);
		const double *row[2], *centre[2], *next[2];
		double s[2];
		for (int64_t t = 0; t < take; t++) {
			int64_t i = rows[r + t];
			row[t] = x->data + i * x->stride;
			next[t] = x->data + rows[KDRI_MIN(r + t + ROWS_AHEAD, count - 1)] * x->stride;
			centre[t] = centres + label[i] * x->cols;
			s[t] = scale ? scale[i] : 1;
		}
		if (take == 2)
			KDRI_NAME(distances)(row, centre, s, next, 2, x->cols, out + r);
		else
			KDRI_NAME(distances)(row, centre, s, next, 1, x->cols, out + r);
	}
}

/* The number of lanes that the products process at a time. */
KDRI_TARGET static int64_t KDRI_NAME(reach)(bool dense)
{
	return dense ? WIDE * KDRI_LANES / (1 + HALVES) : LONG * KDRI_LANES;
}

#undef PARTS
#undef HIGH
#undef WIDE
#undef LONG
#undef TALL
#undef HALVES
#undef ROWS_AHEAD
#undef AHEAD
#undef INLINE
#undef vec
#undef ivec
#undef PART
#undef CHOOSE
