/* Entries of a sparse matrix in any order, sorted in place. SPDX-License-Identifier: BSD-3-Clause
 *
 * Triples of 16 bytes become compressed rows of 12, so that a copy would take more than twice the memory of the result.
 * Instead, an American flag sort [McIlroy, Bostic, McIlroy 1993] permutes them in place: the key is (row, column) in as
 * few bits as the shape needs, each level sorts by eight bits from the top, and small pieces are finished by insertion
 * sort. It works in O(n x bytes of the key) on any input. The first level is sequential, its 256 pieces are independent
 * of each other and sorted in parallel. */
#include "io/text.h"

enum { SMALL = 32, PIECES = 256 };

typedef struct entries {
	int32_t *row; /* NULL: the key is the column alone */
	int32_t *col;
	double *val;
	int col_bits;
} entries;

static inline uint64_t entries_key(const entries *e, int64_t i)
{
	return e->row ? (uint64_t)e->row[i] << e->col_bits | (uint64_t)e->col[i] : (uint64_t)e->col[i];
}

static inline void entries_swap(const entries *e, int64_t a, int64_t b)
{
	int32_t c = e->col[a];
	double v = e->val[a];
	e->col[a] = e->col[b];
	e->val[a] = e->val[b];
	e->col[b] = c;
	e->val[b] = v;
	if (e->row) {
		int32_t r = e->row[a];
		e->row[a] = e->row[b];
		e->row[b] = r;
	}
}

static void insertion(const entries *e, int64_t from, int64_t to)
{
	for (int64_t i = from + 1; i < to; i++)
		for (int64_t j = i; j > from && entries_key(e, j - 1) > entries_key(e, j); j--)
			entries_swap(e, j - 1, j);
}

/* Deals [from, to) out by the eight key bits at `shift`; start[p] .. start[p + 1] is piece p. */
static void entries_deal(const entries *e, int64_t from, int64_t to, int shift, int64_t *start)
{
	int64_t head[PIECES], count[PIECES] = { 0 };
	for (int64_t i = from; i < to; i++)
		count[(entries_key(e, i) >> shift) & 255]++;
	start[0] = from;
	for (int p = 0; p < PIECES; p++) {
		head[p] = start[p];
		start[p + 1] = start[p] + count[p];
	}
	for (int p = 0; p < PIECES; p++)
		while (head[p] < start[p + 1]) {
			int home = (int)((entries_key(e, head[p]) >> shift) & 255);
			if (home == p)
				head[p]++;
			else
				entries_swap(e, head[p], head[home]++);
		}
}

/* `bits` of the key are still to be sorted by. At most eight levels deep. */
static void entries_sort(const entries *e, int64_t from, int64_t to, int bits)
{
	int64_t start[PIECES + 1];
	if (to - from <= SMALL) {
		insertion(e, from, to);
		return;
	}
	if (bits <= 0)
		return;
	int shift = KDRI_MAX(bits - 8, 0);
	entries_deal(e, from, to, shift, start);
	for (int p = 0; p < PIECES; p++)
		if (start[p + 1] - start[p] > 1)
			entries_sort(e, start[p], start[p + 1], shift);
}

/* Bits that hold 0 .. count - 1. */
static int bits_for(int64_t count)
{
	int bits = 0;
	while (bits < 32 && (int64_t)1 << bits < count)
		bits++;
	return bits;
}

void kdri_entries_sort(const kdr_context *ctx, int64_t rows, int64_t cols, int64_t *count, int32_t *row,
                       int32_t *col, double *val)
{
	entries e = { row, col, val, bits_for(cols) };
	int64_t n = *count, start[PIECES + 1], kept = 0;
	bool sorted = true, clean = true;
	(void)ctx; /* without OpenMP */
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) reduction(&& : sorted, clean)
	for (int64_t i = 0; i < n; i++) {
		sorted = sorted && (i == 0 || entries_key(&e, i - 1) < entries_key(&e, i));
		clean = clean && val[i] != 0;
	}
	if (sorted && clean)
		return;
	if (!sorted) {
		int shift = KDRI_MAX(bits_for(rows) + e.col_bits - 8, 0);
		entries_deal(&e, 0, n, shift, start);
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic)
		for (int p = 0; p < PIECES; p++)
			entries_sort(&e, start[p], start[p + 1], shift);
	}
	for (int64_t i = 0; i < n;) {
		double sum = val[i];
		int64_t j = i + 1;
		for (; j < n && row[j] == row[i] && col[j] == col[i]; j++)
			sum += val[j];
		if (sum != 0) {
			row[kept] = row[i];
			col[kept] = col[i];
			val[kept++] = sum;
		}
		i = j;
	}
	*count = kept;
}

kdr_status kdri_entries_to_rows(kdr_context *ctx, int64_t rows, int64_t cols, int64_t *count, int32_t *row,
                                int32_t *col, double *val, int64_t **rowptr)
{
	int64_t *begin = NULL;
	kdri_entries_sort(ctx, KDRI_MAX(rows, 1), cols, count, row, col, val);
	kdr_status st = KDRI_NEW0(ctx, &begin, rows + 1);
	if (st != KDR_OK)
		return st;
		/* Where an entry of another row than the one before it is, the rows after that one begin, up to its own. */
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static)
	for (int64_t p = 0; p <= *count; p++) {
		const int64_t from = p > 0 ? row[p - 1] + 1 : 0, to = p < *count ? row[p] : rows;
		for (int64_t i = from; i <= to; i++)
			begin[i] = p;
	}
	*rowptr = begin;
	return KDR_OK;
}

void kdri_entries_sort_row(int64_t count, int32_t *col, double *val)
{
	entries e = { 0 };
	e.col = col;
	e.val = val;
	for (int64_t i = 1; i < count; i++)
		if (col[i - 1] > col[i]) {
			entries_sort(&e, 0, count, 31);
			return;
		}
}
