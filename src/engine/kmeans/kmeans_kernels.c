/* The inner loops of k-means. SPDX-License-Identifier: BSD-3-Clause
 *
 * Products of rows and centres are vectorised across centres: a vector holds one feature of some centres,
 * and a row's entry is broadcast. Each (row, centre) therefore has one accumulator that adds the features in
 * increasing order, which makes results independent of blocking, threads and the width of a register, and equal for
 * dense and sparse rows: a zero entry leaves the accumulator unchanged, with or without fused multiply-add.
 *
 * The tiles are in kmeans_tiles.h. Sparse rows load 64 bytes per tile for every stored entry, so that loop is bound
 * by the cache that holds the table. This file is compiled with -ffp-contract=fast; the compiler contracts the
 * products in all tile shapes or in none, which the tests of dense against sparse check. */
#include "engine/kmeans/kmeans_work.h"

#define KDRI_BODY "engine/kmeans/kmeans_tiles.h"
#include "matrix/each_machine.h"

int64_t kdri_km_reach(kdr_mat_kind kind)
{
	return KDRI_PICK(reach)(kind == KDR_MAT_DENSE);
}

void kdri_km_dots(const kdr_mat *x, const int64_t *rows, int64_t count, const kdri_km_table *table,
                  int64_t first, int64_t lanes, double *out, int64_t ldo)
{
	const double *at = table->at + first / KDRI_LANES * table->tile_step + first % KDRI_LANES;
	if (x->kind == KDR_MAT_DENSE)
		KDRI_PICK(dense_dots)(&x->as.dense, rows, count, at, table->tile_step, lanes, out, ldo);
	else
		KDRI_PICK(sparse_dots)(&x->as.csr, rows, count, at, table->feature_step, lanes, out, ldo);
}

void kdri_km_scan(const double *dots, int64_t ldo, int64_t count, int64_t width, const double *offset,
                  const double *twice, double *best, double *second, int32_t *arg)
{
	KDRI_PICK(scan)(dots, ldo, count, width, offset, twice, best, second, arg);
}

KDRI_KERNEL
static void sparse_own(const kdr_csr *x, const int64_t *rows, int64_t count, const double *centres,
                       const double *norms, const int32_t *label, const double *scale, double *out)
{
	for (int64_t r = 0; r < count; r++) {
		int64_t i = rows[r], p = x->rowptr[i], end = x->rowptr[i + 1];
		const double s = scale ? scale[i] : 1, *c = centres + label[i] * x->cols;
		/* Four sums, because a single one would wait for its previous addition. */
		double sum[4] = { 0 };
		for (; p + 4 <= end; p += 4)
			for (int t = 0; t < 4; t++) {
				double v = s * x->val[p + t];
				sum[t] += v * (v - 2 * c[x->col[p + t]]);
			}
		for (; p < end; p++) {
			double v = s * x->val[p];
			sum[0] += v * (v - 2 * c[x->col[p]]);
		}
		double q = norms[label[i]] + ((sum[0] + sum[1]) + (sum[2] + sum[3]));
		out[r] = q > 0 ? q : 0;
	}
}

void kdri_km_own(const kdr_mat *x, const int64_t *rows, int64_t count, const double *centres,
                 const double *norms, const int32_t *label, const double *scale, double *out)
{
	if (x->kind == KDR_MAT_DENSE)
		KDRI_PICK(dense_own)(&x->as.dense, rows, count, centres, label, scale, out);
	else
		sparse_own(&x->as.csr, rows, count, centres, norms, label, scale, out);
}
