/* The inner loops of k-means. SPDX-License-Identifier: BSD-3-Clause
 *
 * Products of rows and centres are vectorised across centres: a vector holds one feature of 8 centres,
 * and a row's entry is broadcast. So each (row, centre) has one accumulator that meets the features in
 * increasing order, which makes results independent of blocking and threads, and equal for dense and
 * sparse rows: a zero entry leaves the accumulator as it is, fused multiply-add or not.
 *
 * Dense rows go 8 at a time through two tiles: 16 accumulators of 8 lanes, 16 multiply-adds for 10
 * loads a feature, which fills both multiply-add units of a 512-bit core. Sparse rows go one at a time
 * through up to 4 tiles: every stored entry loads 64 bytes a tile, so that loop is bound by the cache
 * that holds the table. This file is compiled with -ffp-contract=fast; the compiler contracts
 * the products below in all tile shapes or in none, which the tests of dense against sparse check. */
#include "engine/kmeans/kmeans_kernels.h"
#include "linalg/linalg.h"

typedef double vec __attribute__((vector_size(8 * KDRI_LANES), aligned(8), may_alias));
typedef int64_t ivec __attribute__((vector_size(8 * KDRI_LANES), aligned(8), may_alias));
#define INLINE static inline __attribute__((always_inline))

/* `height` rows times `width` tiles; both are constants wherever this is inlined. */
INLINE void dense_tile(const double *const *x, const int height, const int width, int64_t d, const double *c0,
                       const double *c1, double *out, int64_t ldo)
{
	vec acc[8][2];
	for (int r = 0; r < height; r++)
		for (int t = 0; t < width; t++)
			acc[r][t] = (vec){ 0 };
	for (int64_t f = 0; f < d; f++) {
		vec a = *(const vec *)(c0 + KDRI_LANES * f), b = { 0 };
		if (width > 1)
			b = *(const vec *)(c1 + KDRI_LANES * f);
		for (int r = 0; r < height; r++) {
			acc[r][0] += x[r][f] * a;
			if (width > 1)
				acc[r][1] += x[r][f] * b;
		}
	}
	for (int r = 0; r < height; r++)
		for (int t = 0; t < width; t++)
			*(vec *)(out + r * ldo + t * KDRI_LANES) = acc[r][t];
}

/* A list's tail is padded with its last row, whose results go to a place nobody reads. */
INLINE void dense_dots(const kdr_dense *x, const int64_t *rows, int64_t count, const double *table,
                       int64_t step, int64_t tiles, double *out, int64_t ldo)
{
	for (int64_t r = 0; r < count;) {
		int64_t left = count - r, height = left > 4 ? 8 : 4, take = KDRI_MIN(left, height);
		const double *p[8];
		double spare[8 * 2 * KDRI_LANES];
		for (int64_t i = 0; i < 8; i++)
			p[i] = x->data + rows[r + KDRI_MIN(i, take - 1)] * x->stride;
		for (int64_t t = 0; t < tiles; t += 2) {
			const double *c = table + t * step;
			bool two = t + 1 < tiles, whole = take == height;
			double *to = whole ? out + r * ldo + t * KDRI_LANES : spare;
			int64_t ld = whole ? ldo : 2 * KDRI_LANES;
			if (two && height == 8)
				dense_tile(p, 8, 2, x->cols, c, c + step, to, ld);
			else if (two)
				dense_tile(p, 4, 2, x->cols, c, c + step, to, ld);
			else if (height == 8)
				dense_tile(p, 8, 1, x->cols, c, c, to, ld);
			else
				dense_tile(p, 4, 1, x->cols, c, c, to, ld);
			if (!whole)
				for (int64_t i = 0; i < take; i++)
					memcpy(out + (r + i) * ldo + t * KDRI_LANES, spare + i * ld,
					       (two ? 2 : 1) * KDRI_LANES * sizeof *spare);
		}
		r += take;
	}
}

INLINE void sparse_tile(const double *val, const int32_t *col, int64_t count, const int width,
                        const double *table, int64_t step, double *out)
{
	vec acc[4];
	for (int t = 0; t < width; t++)
		acc[t] = (vec){ 0 };
	for (int64_t p = 0; p < count; p++) {
		const double *c = table + col[p] * step;
		for (int t = 0; t < width; t++)
			acc[t] += val[p] * *(const vec *)(c + t * KDRI_LANES);
	}
	for (int t = 0; t < width; t++)
		*(vec *)(out + t * KDRI_LANES) = acc[t];
}

INLINE void sparse_dots(const kdr_csr *x, const int64_t *rows, int64_t count, const double *table,
                        int64_t step, int64_t tiles, double *out, int64_t ldo)
{
	for (int64_t r = 0; r < count; r++) {
		int64_t begin = x->rowptr[rows[r]], n = x->rowptr[rows[r] + 1] - begin;
		const double *val = x->val + begin;
		const int32_t *col = x->col + begin;
		for (int64_t t = 0; t < tiles; t += 4) {
			const double *c = table + t * KDRI_LANES;
			double *to = out + r * ldo + t * KDRI_LANES;
			switch (KDRI_MIN(tiles - t, 4)) {
			case 1: sparse_tile(val, col, n, 1, c, step, to); break;
			case 2: sparse_tile(val, col, n, 2, c, step, to); break;
			case 3: sparse_tile(val, col, n, 3, c, step, to); break;
			default: sparse_tile(val, col, n, 4, c, step, to);
			}
		}
	}
}

KDRI_KERNEL
void kdri_km_dots(const kdr_mat *x, const int64_t *rows, int64_t count, const kdri_km_table *table,
                  int64_t first, int64_t tiles, double *out, int64_t ldo)
{
	const double *at = table->at + first * table->tile_step;
	if (x->kind == KDR_MAT_DENSE)
		dense_dots(&x->as.dense, rows, count, at, table->tile_step, tiles, out, ldo);
	else
		sparse_dots(&x->as.csr, rows, count, at, table->feature_step, tiles, out, ldo);
}

/* Where mask, a; else b. A macro, since a vector as argument would fix a calling convention. */
#define PICK(mask, a, b) ((vec)(((ivec)(a) & (mask)) | ((ivec)(b) & ~(mask))))

KDRI_KERNEL
void kdri_km_scan(const double *dots, int64_t ldo, int64_t count, int64_t width, const double *offset,
                  const double *twice, double *best, double *second, int32_t *arg)
{
	for (int64_t r = 0; r < count; r++) {
		const double *s = dots + r * ldo;
		double m = twice ? twice[r] : 2;
		vec low = *(const vec *)offset - m * *(const vec *)s;
		vec next = (vec){ 0 } + INFINITY, at = { 0 };
		for (int64_t j = KDRI_LANES; j < width; j += KDRI_LANES) {
			vec v = *(const vec *)(offset + j) - m * *(const vec *)(s + j);
			ivec less = v < low, below = v < next;
			next = PICK(below, v, next);
			next = PICK(less, low, next);
			at = PICK(less, (vec){ 0 } + (double)j, at);
			low = PICK(less, v, low);
		}
		/* Across the lanes: of equal values the lowest index wins. */
		double b = low[0], b2 = next[0], a = at[0];
		for (int l = 1; l < KDRI_LANES; l++) {
			double v = low[l], index = at[l] + l;
			bool less = v < b || (v == b && index < a);
			b2 = KDRI_MIN(KDRI_MIN(b2, next[l]), less ? b : v);
			a = less ? index : a;
			b = less ? v : b;
		}
		best[r] = b;
		second[r] = b2;
		arg[r] = (int32_t)a;
	}
}

INLINE double dense_distance(const double *x, const double *c, double s, int64_t d)
{
	vec acc[4] = { { 0 }, { 0 }, { 0 }, { 0 } };
	int64_t f = 0;
	for (; f + 32 <= d; f += 32)
		for (int t = 0; t < 4; t++) {
			vec e = s * *(const vec *)(x + f + 8 * t) - *(const vec *)(c + f + 8 * t);
			acc[t] += e * e;
		}
	for (; f + 8 <= d; f += 8) {
		vec e = s * *(const vec *)(x + f) - *(const vec *)(c + f);
		acc[0] += e * e;
	}
	double lanes[KDRI_LANES], sum = 0;
	*(vec *)lanes = (acc[0] + acc[1]) + (acc[2] + acc[3]);
	for (; f < d; f++) {
		double e = s * x[f] - c[f];
		sum += e * e;
	}
	return sum + (((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) +
	              ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7])));
}

INLINE double sparse_distance(const kdr_csr *x, int64_t i, const double *c, double s, double norm)
{
	/* Four sums, since one would wait for its own last addition. */
	double sum[4] = { 0 };
	int64_t p = x->rowptr[i], end = x->rowptr[i + 1];
	for (; p + 4 <= end; p += 4)
		for (int t = 0; t < 4; t++) {
			double v = s * x->val[p + t];
			sum[t] += v * (v - 2 * c[x->col[p + t]]);
		}
	for (; p < end; p++) {
		double v = s * x->val[p];
		sum[0] += v * (v - 2 * c[x->col[p]]);
	}
	double q = norm + ((sum[0] + sum[1]) + (sum[2] + sum[3]));
	return q > 0 ? q : 0;
}

KDRI_KERNEL
void kdri_km_own(const kdr_mat *x, const int64_t *rows, int64_t count, const double *centres,
                 const double *norms, const int32_t *label, const double *scale, double *out)
{
	int64_t d = kdr_mat_cols(x);
	for (int64_t r = 0; r < count; r++) {
		int64_t i = rows[r], a = label[i];
		double s = scale ? scale[i] : 1;
		out[r] = x->kind == KDR_MAT_DENSE
		                 ? dense_distance(x->as.dense.data + i * x->as.dense.stride, centres + a * d,
		                                  s, d)
		                 : sparse_distance(&x->as.csr, i, centres + a * d, s, norms[a]);
	}
}
