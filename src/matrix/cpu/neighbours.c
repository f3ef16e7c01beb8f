/* Nearest neighbours on the CPU. SPDX-License-Identifier: BSD-3-Clause
 *
 * Products are computed by matrix/rows.c, and each row keeps the k best in a sorted list. After the first few
 * thousand products hardly one beats the k-th, so the scan is one comparison per product. Scores are computed for a
 * window of products and compared GROUP at a time with the k-th best so far; only groups with a better one are examined.
 *
 * The first windows would change the list most often. For small k their scores are therefore first divided into parts: k of
 * them are at least as good as the k-th best of the parts' maxima, so that no lower score can be among the k best. */
/* Nearest neighbours of dense rows, by products in single precision.
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
 * The lists are those that the search by doubles finds. If many scores are equal, most of them are needed: after the first row
 * with too many candidates, the other products of its block are computed as doubles. */
#include "matrix/blas.h"
#include "matrix/cpu/cpu.h"
#include "matrix/linalg.h"

enum { GROUP = 16, WINDOW = 512 };

/* Loops of 16 or fewer steps are unrolled before the compiler could vectorise them. */
enum { FEW_LANES = 32, LANES = 64 };

/* NAME(s, count, k): at least k of s[0..count-1] are at least as large as the result; -INFINITY if that is not certain. Scores are
 * divided into parts, the more the larger k is. */
#define NN_FLOOR(NAME, REAL) \
	static inline __attribute__((always_inline)) \
	REAL NAME##_of(const int lanes, const REAL *s, int64_t count, int64_t k) \
	{ \
		REAL most[LANES], above[LANES], least = -INFINITY; \
		for (int l = 0; l < lanes; l++) { \
			most[l] = -INFINITY; \
			above[l] = 0; \
		} \
		for (int64_t j = 0; j + lanes <= count; j += lanes) \
			for (int l = 0; l < lanes; l++) \
				most[l] = s[j + l] > most[l] ? s[j + l] : most[l]; \
		for (int i = 0; i < lanes; i++) \
			for (int l = 0; l < lanes; l++) \
				above[l] += most[i] > most[l] ? 1 : 0; \
		for (int l = 0; l < lanes; l++) \
			least = above[l] >= (REAL)(k - 1) && most[l] > least ? most[l] : least; \
		return least; \
	} \
	KDRI_KERNEL static REAL NAME##_few(const REAL *s, int64_t count, int64_t k) \
	{ \
		return NAME##_of(FEW_LANES, s, count, k); \
	} \
	KDRI_KERNEL static REAL NAME##_many(const REAL *s, int64_t count, int64_t k) \
	{ \
		return NAME##_of(LANES, s, count, k); \
	} \
	static REAL NAME(const REAL *s, int64_t count, int64_t k) \
	{ \
		if (2 * k <= FEW_LANES && count >= 2 * FEW_LANES) \
			return NAME##_few(s, count, k); \
		return 2 * k <= LANES && count >= 2 * LANES ? NAME##_many(s, count, k) : -(REAL)INFINITY; \
	}

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
NN_FLOOR(first_floor, double)

/* Inserts number j with score s after those at least as good; the last entry of a full list is removed. */
static void nn_insert(const kdri_nn *q, int64_t row, int64_t j, double s)
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
			nn_insert(q, row, first + good[g], s[good[g]]);
}

/* Compares the products of one query row, candidates col .. col + cols - 1, with its list; user: a kdri_nn. */
static void nn_scan(void *user, int64_t row, int64_t col, int64_t cols, const double *piece)
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

/* --- by floats --- */

enum { ROWS = 128, COLS = 512, FLOAT_GROUP = 32, MOST_COLUMNS = 1024 };
static const double roundoff = 0x1p-24, least_square = 1e-20, most_square = 1e20;

typedef struct search {
	const kdri_nn *nn;
	const kdr_dense *x, *y;
	bool scaled;    /* rows are scaled; otherwise they have one more column */
	double longest; /* Y of (E1) */
	double *tiles;  /* ROWS x COLS for each thread */
	float *floats;  /* for each thread: the same, and ROWS and COLS rows */
} search;

NN_FLOOR(float_floor, float)

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
	for (int64_t g = 0; g * FLOAT_GROUP < count; g++) {
		int any = (g + 1) * FLOAT_GROUP > count;
		for (int64_t j = g * FLOAT_GROUP;
		     j < (g + 1) * FLOAT_GROUP && !((g + 1) * FLOAT_GROUP > count); j++)
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

/* The same as nn_scan, for floats. False, and nothing is done, if there are too many candidates. */
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
	for (int64_t c = 0; c < cols && found; c += FLOAT_GROUP, found >>= 1)
		for (int64_t j = c; (found & 1) && j < KDRI_MIN(cols, c + FLOAT_GROUP); j++) {
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
			nn_insert(nn, row, nn->from + j, s);
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
			nn_scan((void *)q->nn, row + i + r, col, cols, tile + r * COLS);
	}
}

/* Whether floats can hold the scores; finds Y of (E1). */
static bool floats_suffice(search *q)
{
	const kdri_nn *nn = q->nn;
	double most = 0, own = 0;
	q->longest = 1;
	if (nn->score == KDRI_NN_SHIFTED || q->x->cols > MOST_COLUMNS || 2 * (nn->k + 1) > LANES)
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

/* The neighbours of dense rows. *able: whether floats can find them; otherwise nothing is done. */
static kdr_status nn_by_floats(kdr_context *ctx, const kdr_dense *x, const kdr_dense *y, const kdri_nn *nn,
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

/* --- the operation --- */

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
		KDRI_TRY(nn_by_floats(ctx, &p.x.as.dense, &p.y.as.dense, &q, &able));
		if (able)
			goto done;
	}
	KDRI_TRY(kdri_products_rows(ctx, &p, 0, rows.rows, nn_scan, &q));
done:
	kdri_free(ctx, p.sums);
	return st;
}
