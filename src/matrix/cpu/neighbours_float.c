/* Nearest neighbours of dense rows on the CPU, by products in single precision. SPDX-License-Identifier: BSD-3-Clause
 *
 * Hardly one product in a hundred belongs to a neighbour. Products are therefore computed as floats, in half the time,
 * and scores s only for the pairs whose floats t are large enough. Rows are scaled (cosine), or get one more column
 * (Euclidean: 1 and -f), so that t is the score. With d columns, u = 2^-24, X the length of the query row, Y the
 * largest length of a candidate row (both 1 by cosine) and g the grid of the scores,
 *
 *   (E1)  |t - s| <= e = (d + 8) u (X Y + Y^2 / 2) + g,     for any order of the sum
 *
 * A score above the k-th best so far has t > best - e. As long as there are fewer than k, m takes the place of the k-th
 * best: k floats of the first tile are at least m, so that the k best have t >= m - 2 e.
 *
 * The lists are those that neighbours.c finds. If many scores are equal, most of them are needed: after the first row
 * with too many candidates, the other products of its block are computed as doubles. */
#include "matrix/cpu/cpu.h"

#include "matrix/blas.h"

enum { ROWS = 128, COLS = 512, GROUP = 32, MOST_COLUMNS = 1024 };
static const double roundoff = 0x1p-24, least_square = 1e-20, most_square = 1e20;

typedef struct search {
	const kdri_nn *nn;
	const kdr_dense *x, *y;
	bool scaled;    /* rows are scaled; otherwise they have one more column */
	double longest; /* Y of (E1) */
	double *tiles;  /* ROWS x COLS for each thread */
	float *floats;  /* for each thread: the same, and ROWS and COLS rows */
} search;

KDRI_NN_FLOOR(float_floor, float)

static int64_t float_columns(const search *q)
{
	return q->x->cols + !q->scaled;
}

/* Rows begin .. begin + count - 1 as floats, with `last` times their factor in the additional column, or 1 if that is 0. */
KDRI_KERNEL
static void narrow_rows(const kdr_dense *x, const double *factor, int64_t begin, int64_t count, bool scaled,
                        double last, float *to)
{
	for (int64_t i = begin; i < begin + count; i++) {
		const double *row = x->data + i * x->stride, f = scaled ? factor[i] : 1;
		for (int64_t t = 0; t < x->cols; t++)
			to[t] = (float)(row[t] * f);
		to += x->cols;
		if (!scaled)
			*to++ = last == 0 ? 1 : (float)(last * factor[i]);
	}
}

/* The set of groups in which any float is at least `floor`. */
KDRI_KERNEL
static uint32_t float_groups(const float *s, int64_t count, float floor)
{
	uint32_t found = 0;
	for (int64_t g = 0; g * GROUP < count; g++) {
		int any = (g + 1) * GROUP > count;
		for (int64_t j = g * GROUP; j < (g + 1) * GROUP && !((g + 1) * GROUP > count); j++)
			any |= s[j] >= floor;
		found |= (uint32_t)any << g;
	}
	return found;
}

/* The score of a pair, on the grid. */
static double score_pair(const search *q, int64_t row, int64_t j)
{
	const kdri_nn *nn = q->nn;
	const double p = kdri_dot(q->x->data + row * q->x->stride, q->y->data + j * q->y->stride, q->x->cols);
	return (q->scaled ? p * nn->factor[j] * nn->own_factor[row] + nn->magic
	                  : p - nn->factor[j] + nn->magic) -
	       nn->magic;
}

/* e of (E1) */
static double slack_of(const search *q, int64_t row)
{
	const double y = q->longest, x = q->scaled ? 1 : sqrt(2 * q->nn->own_factor[row]);
	return (double)(q->x->cols + 8) * roundoff * (x * y + y * y / 2) + q->nn->magic * 0x1p-52;
}

/* The same as kdri_nn_scan, for floats. False, and nothing is done, if there are too many candidates. */
static bool scan_floats(const search *q, int64_t row, int64_t col, int64_t cols, const float *piece)
{
	const kdri_nn *nn = q->nn;
	const double *worst = nn->best + row * nn->k + nn->k - 1, slack = slack_of(q, row);
	const int64_t most = cols / 8 + 2 * nn->k;
	double floor = -INFINITY;
	int16_t list[COLS] = { 0 };
	int64_t count = 0;
	if (nn->held[row] >= nn->k)
		floor = *worst - 2 * slack;
	else if (nn->held[row] == 0) /* one more than k, as a row is not its own neighbour */
		floor = (double)float_floor(piece, cols, nn->k + 1) - 3 * slack;
	uint32_t found = float_groups(piece, cols, (float)floor);
	for (int64_t c = 0; c < cols && found; c += GROUP, found >>= 1)
		for (int64_t j = c; (found & 1) && j < KDRI_MIN(cols, c + GROUP); j++) {
			list[count] = (int16_t)j;
			count += piece[j] >= (float)floor;
		}
	if (count > most)
		return false;
	for (int64_t e = 0; e < count; e++) {
		const int64_t j = col + list[e];
		const bool full = nn->held[row] >= nn->k;
		if (nn->from + j == nn->myself + row || (full && piece[list[e]] < *worst - 2 * slack))
			continue;
		const double s = score_pair(q, row, j);
		if (!full || s > *worst)
			kdri_nn_insert(nn, row, nn->from + j, s);
	}
	return true;
}

/* Rows `row` .. `row + rows - 1` and all candidates. */
static void search_block(const search *q, int64_t row, int64_t rows)
{
	const int64_t wide = float_columns(q), thread = kdri_thread(), m = q->y->rows;
	double *tile = q->tiles + thread * ROWS * COLS;
	float *found = q->floats + thread * (ROWS * COLS + (ROWS + COLS) * wide), *x = found + ROWS * COLS,
	      *y = x + ROWS * wide;
	bool plain = false; /* not shared by blocks: results would depend on which one comes first */
	narrow_rows(q->x, q->nn->own_factor, row, rows, q->scaled, 0, x);
	for (int64_t col = 0; col < m; col += COLS) {
		const int64_t cols = KDRI_MIN(m - col, COLS);
		int64_t i = 0;
		if (!plain) {
			narrow_rows(q->y, q->nn->factor, col, cols, q->scaled, -1, y);
			kdri_sgemm(false, true, rows, cols, wide, 1, x, wide, y, wide, 0, found, COLS);
			while (i < rows && scan_floats(q, row + i, col, cols, found + i * COLS))
				i++;
		}
		if (i == rows)
			continue;
		plain = true;
		kdri_dgemm(false, true, rows - i, cols, q->x->cols, 1, q->x->data + (row + i) * q->x->stride,
		           q->x->stride, q->y->data + col * q->y->stride, q->y->stride, 0, tile, COLS);
		for (int64_t r = 0; r < rows - i; r++)
			kdri_nn_scan((void *)q->nn, row + i + r, col, cols, tile + r * COLS);
	}
}

/* Whether floats can hold the scores; finds Y of (E1). */
static bool floats_suffice(search *q)
{
	const kdri_nn *nn = q->nn;
	double most = 0, own = 0;
	q->longest = 1;
	if (nn->score == KDRI_NN_SHIFTED || q->x->cols > MOST_COLUMNS || 2 * (nn->k + 1) > KDRI_NN_LANES)
		return false;
	if (q->scaled)
		return true;
	for (int64_t j = 0; j < q->y->rows; j++)
		most = KDRI_MAX(most, 2 * nn->factor[j]);
	for (int64_t i = 0; i < q->x->rows; i++)
		own = KDRI_MAX(own, 2 * nn->own_factor[i]);
	q->longest = sqrt(most);
	return most >= least_square && most <= most_square && own <= most_square;
}

kdr_status kdri_nn_by_floats(kdr_context *ctx, const kdr_dense *x, const kdr_dense *y, const kdri_nn *nn,
                             bool *able)
{
	kdr_status st = KDR_OK;
	const int64_t blocks = (x->rows + ROWS - 1) / ROWS, threads = ctx->threads;
	search q = { .nn = nn, .x = x, .y = y, .scaled = nn->score == KDRI_NN_COSINE };
	*able = floats_suffice(&q);
	if (!*able)
		return KDR_OK;
	KDRI_TRY(kdri_blas_int(ctx, KDRI_MAX(x->stride, y->stride), "the stride of a matrix"));
	KDRI_TRY(KDRI_NEW(ctx, &q.tiles, threads * ROWS * COLS));
	KDRI_TRY(KDRI_NEW(ctx, &q.floats, threads * (ROWS * COLS + (ROWS + COLS) * float_columns(&q))));
	const int before = kdri_serial_begin();
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic)
	for (int64_t block = 0; block < blocks; block++)
		search_block(&q, block * ROWS, KDRI_MIN(x->rows - block * ROWS, ROWS));
	kdri_serial_end(before);
done:
	KDRI_FREE(ctx, q.tiles, q.floats);
	return st;
}
