/* Nearest neighbours on the CPU. SPDX-License-Identifier: BSD-3-Clause
 *
 * Products are computed by matrix/products.c, and each row keeps the k best in a sorted list. After the first few
 * thousand products hardly one beats the k-th, so the scan is one comparison per product, SCAN at a time. */
#include "matrix/cpu/cpu.h"

#include "matrix/products.h"

enum { SCAN = 16 };

/* s[j] = the scores on the grid; returns whether any is above `floor`. */
KDRI_KERNEL
static int score_cosine(const double *restrict p, const double *restrict inverse, double own, double magic,
                        double floor, double *restrict s, int64_t count)
{
	int any = 0;
	for (int64_t j = 0; j < count; j++) {
		double v = (p[j] * inverse[j] * own + magic) - magic;
		s[j] = v;
		any |= v > floor;
	}
	return any;
}

KDRI_KERNEL
static int score_shifted(const double *restrict p, const double *restrict inverse,
                         const double *restrict shift, double own, double own_shift, double magic,
                         double floor, double *restrict s, int64_t count)
{
	int any = 0;
	for (int64_t j = 0; j < count; j++) {
		double v = ((p[j] - shift[j] - own_shift) * inverse[j] * own + magic) - magic;
		s[j] = v;
		any |= v > floor;
	}
	return any;
}

KDRI_KERNEL
static int score_euclidean(const double *restrict p, const double *restrict half, double magic, double floor,
                           double *restrict s, int64_t count)
{
	int any = 0;
	for (int64_t j = 0; j < count; j++) {
		double v = (p[j] - half[j] + magic) - magic;
		s[j] = v;
		any |= v > floor;
	}
	return any;
}

/* Inserts number j with score s after those at least as good; the last entry of a full list is removed. */
static void insert(const kdri_nn *q, int64_t row, int64_t j, double s)
{
	double *best = q->best + row * q->k;
	int32_t *index = q->index + row * q->k;
	int64_t at = q->held[row] < q->k ? q->held[row]++ : q->k - 1;
	for (; at > 0 && best[at - 1] < s; at--) {
		best[at] = best[at - 1];
		index[at] = index[at - 1];
	}
	best[at] = s;
	index[at] = (int32_t)j;
}

static void scan(void *user, int64_t row, int64_t col, int64_t cols, const double *piece)
{
	const kdri_nn *q = user;
	double s[SCAN], *worst = q->best + row * q->k + q->k - 1;
	for (int64_t j = 0; j < cols; j += SCAN) {
		int64_t count = KDRI_MIN(cols - j, SCAN), from = col + j;
		double floor = q->held[row] < q->k ? -INFINITY : *worst;
		int any = q->score == KDRI_NN_SHIFTED
		                  ? score_shifted(piece + j, q->factor + from, q->shift + from,
		                                  q->own_factor[row], q->own_shift[row] - q->square, q->magic,
		                                  floor, s, count)
		          : q->score == KDRI_NN_COSINE
		                  ? score_cosine(piece + j, q->factor + from, q->own_factor[row], q->magic,
		                                 floor, s, count)
		                  : score_euclidean(piece + j, q->factor + from, q->magic, floor, s, count);
		/* A list that is not full accepts all candidates, also those that cannot be compared (overflow). */
		any = any || q->held[row] < q->k;
		for (int64_t c = 0; any && c < count; c++)
			if (q->from + from + c != q->myself + row && (q->held[row] < q->k || s[c] > *worst))
				insert(q, row, q->from + from + c, s[c]);
	}
}

static kdr_mat mat_of(const kdri_drows *r)
{
	kdr_mat m = { .kind = r->sparse ? KDR_MAT_CSR : KDR_MAT_DENSE };
	if (r->sparse)
		m.as.csr = r->csr.x;
	else
		m.as.dense = (kdr_dense){ r->dense.data, r->dense.rows, r->dense.cols, r->dense.stride };
	return m;
}

kdr_status kdri_cpu_neighbours(kdr_context *ctx, kdri_drows rows, kdri_drows others, const kdri_nn *nn)
{
	kdr_status st;
	kdri_nn q = *nn;
	kdri_products p = { .x = mat_of(&rows), .y = mat_of(&others), .threads = ctx->threads };
	int64_t size;
	if (rows.sparse) {
		p.columns.view = (kdr_mat){ .kind = KDR_MAT_CSR, .as.csr = others.csr.turned };
		KDRI_TRY(kdri_mul(ctx, others.rows, ctx->threads, &size));
		KDRI_TRY(KDRI_NEW(ctx, &p.sums, size));
	}
	if (nn->fresh)
		memset(q.held, 0, (size_t)rows.rows * sizeof *q.held);
	KDRI_TRY(kdri_products_rows(ctx, &p, 0, rows.rows, scan, &q));
done:
	kdri_free(ctx, p.sums);
	return st;
}
