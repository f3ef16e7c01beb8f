/* Nearest neighbours on the CPU. SPDX-License-Identifier: BSD-3-Clause
 *
 * Products are computed by matrix/rows.c, and each row keeps the k best in a sorted list. After the first few
 * thousand products hardly one beats the k-th, so the scan is one comparison per product. Scores are computed for a
 * window of products and compared GROUP at a time with the k-th best so far; only groups with a better one are examined.
 *
 * The first windows would change the list most often. For small k their scores are therefore first divided into parts: k of
 * them are at least as good as the k-th best of the parts' maxima, so that no lower score can be among the k best. */
#include "matrix/cpu/cpu.h"

#include "matrix/linalg.h"

enum { GROUP = 16, WINDOW = 512 };

/* s[j] = the scores on the grid; returns the set of groups in which any is above `floor`. SCORE is an expression in j. */
#define SCORE_GROUPS(SCORE) \
	uint32_t found = 0; \
	int64_t g = 0; \
	for (; (g + 1) * GROUP <= count; g++) { \
		int any = 0; \
		for (int64_t j = g * GROUP; j < (g + 1) * GROUP; j++) { \
			double v = SCORE; \
			s[j] = v; \
			any |= v > floor; \
		} \
		found |= (uint32_t)any << g; \
	} \
	for (int64_t j = g * GROUP; j < count; j++) { \
		s[j] = SCORE; \
		found |= (uint32_t)(s[j] > floor) << g; \
	} \
	return found

KDRI_KERNEL
static uint32_t score_cosine(const double *restrict p, const double *restrict inverse, double own,
                             double magic, double floor, double *restrict s, int64_t count)
{
	SCORE_GROUPS((p[j] * inverse[j] * own + magic) - magic);
}

KDRI_KERNEL
static uint32_t score_shifted(const double *restrict p, const double *restrict inverse,
                              const double *restrict shift, double own, double own_shift, double magic,
                              double floor, double *restrict s, int64_t count)
{
	SCORE_GROUPS(((p[j] - shift[j] - own_shift) * inverse[j] * own + magic) - magic);
}

KDRI_KERNEL
static uint32_t score_euclidean(const double *restrict p, const double *restrict half, double magic,
                                double floor, double *restrict s, int64_t count)
{
	SCORE_GROUPS((p[j] - half[j] + magic) - magic);
}

/* The set of groups in which any score is at least `floor`. */
KDRI_KERNEL
static uint32_t groups_from(const double *s, int64_t count, double floor)
{
	uint32_t found = 0;
	for (int64_t g = 0; g * GROUP < count; g++) {
		int any = 0;
		if ((g + 1) * GROUP <= count)
			for (int64_t j = g * GROUP; j < (g + 1) * GROUP; j++)
				any |= s[j] >= floor;
		found |= (uint32_t)(any || (g + 1) * GROUP > count) << g;
	}
	return found;
}

/* A lower bound of the k-th best of a first window, or -INFINITY. */
KDRI_NN_FLOOR(first_floor, double)

void kdri_nn_insert(const kdri_nn *q, int64_t row, int64_t j, double s)
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

/* The scores of `count` products from `from` on, of which `piece` has the first. */
static uint32_t score(const kdri_nn *q, int64_t row, int64_t from, int64_t count, const double *piece,
                      double floor, double *s)
{
	if (q->score == KDRI_NN_SHIFTED)
		return score_shifted(piece, q->factor + from, q->shift + from, q->own_factor[row],
		                     q->own_shift[row] - q->square, q->magic, floor, s, count);
	if (q->score == KDRI_NN_COSINE)
		return score_cosine(piece, q->factor + from, q->own_factor[row], q->magic, floor, s, count);
	return score_euclidean(piece, q->factor + from, q->magic, floor, s, count);
}

/* Inserts those of `count` scores, numbered from `first` on, that are at least `floor` and good enough. Without a floor, a list that
 * is not full accepts all candidates, also those that cannot be compared (overflow). */
static void scan_group(const kdri_nn *q, int64_t row, int64_t first, int64_t count, const double *s,
                       double floor)
{
	const double *worst = q->best + row * q->k + q->k - 1;
	const bool all = floor == -INFINITY;
	int64_t good[GROUP] = { 0 }, found = 0;
	for (int64_t c = 0; c < count; c++) {
		good[found] = c;
		found += (s[c] >= floor) | all;
	}
	for (int64_t g = 0; g < found; g++)
		if (first + good[g] != q->myself + row && (q->held[row] < q->k || s[good[g]] > *worst))
			kdri_nn_insert(q, row, first + good[g], s[good[g]]);
}

void kdri_nn_scan(void *user, int64_t row, int64_t col, int64_t cols, const double *piece)
{
	const kdri_nn *q = user;
	double s[WINDOW], *worst = q->best + row * q->k + q->k - 1;
	for (int64_t j = 0, count; j < cols; j += count) {
		const int64_t from = col + j, first = q->from + from;
		const bool full = q->held[row] >= q->k;
		count = KDRI_MIN(cols - j, WINDOW);
		uint32_t found = score(q, row, from, count, piece + j, full ? *worst : -INFINITY, s);
		double floor = full ? *worst : -INFINITY;
		if (!full) {
			if (q->held[row] == 0) /* one more than k, as a row is not its own neighbour */
				floor = first_floor(s, count, q->k + 1);
			found = floor > -INFINITY ? groups_from(s, count, floor) : UINT32_MAX;
		}
		for (int64_t c = 0; c < count && found; c += GROUP, found >>= 1)
			if (found & 1)
				scan_group(q, row, first + c, KDRI_MIN(GROUP, count - c), s + c, floor);
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
	kdri_products p = { .x = mat_of(&rows), .y = mat_of(&others) };
	int64_t size;
	if (rows.sparse) {
		p.columns.view = (kdr_mat){ .kind = KDR_MAT_CSR, .as.csr = others.csr.turned };
		KDRI_TRY(kdri_mul(ctx, others.rows, ctx->threads, &size));
		KDRI_TRY(KDRI_NEW(ctx, &p.sums, size));
	}
	if (nn->fresh)
		memset(q.held, 0, (size_t)rows.rows * sizeof *q.held);
	if (!rows.sparse) {
		bool able;
		KDRI_TRY(kdri_nn_by_floats(ctx, &p.x.as.dense, &p.y.as.dense, &q, &able));
		if (able)
			goto done;
	}
	KDRI_TRY(kdri_products_rows(ctx, &p, 0, rows.rows, kdri_nn_scan, &q));
done:
	kdri_free(ctx, p.sums);
	return st;
}
