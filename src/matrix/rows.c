/* Rows of a matrix: parts, hashes, equality; distinct rows and columns; products of pairs. SPDX-License-Identifier: BSD-3-Clause */
/* Inner products of pairs of rows.
 *
 * Products are those of the rows of X with the rows of Y, which may be X itself; below, Y = X.
 *
 * Dense rows: tiles of X X' by BLAS (matrix/product.c), 2 n^2 d flops.
 *
 * Sparse rows: the features' lists of rows (X', made once). Row i adds x_it x_jt to the sum of j for each
 * of its features t and each row j in the list of t,
 *
 *   (E1)  <x_i, x_j> = sum over t in i of x_it x_jt,
 *
 * one multiplication for each pair of rows and feature they share: sum_t df_t^2 in all, df_t the
 * length of list t. Text has about 10 n^2 of them, where dense products would need n^2 d. Lists are read in order,
 * and the n sums of a row stay in the second-level cache up to about 100,000 rows. Each sum runs over t in increasing
 * order, for any number of threads. */
#include <stdlib.h>

#include "comm/comm.h"
#include "matrix/linalg.h"

static int by_column(const void *a, const void *b)
{
	const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
	return (x > y) - (x < y);
}

kdr_status kdri_columns_used(kdr_context *ctx, const kdr_mat *x, int32_t **list, int64_t *count)
{
	const kdr_csr *s = &x->as.csr;
	const int64_t begin = s->rowptr[0], all = s->rowptr[s->rows] - begin;
	int32_t *used = NULL;
	int64_t found = 0;
	KDRI_DO(KDRI_NEW(ctx, &used, all));
	memcpy(used, s->col + begin, (size_t)all * sizeof *used);
	qsort(used, (size_t)all, sizeof *used, by_column);
	for (int64_t p = 0; p < all; p++)
		if (p == 0 || used[p] != used[found - 1])
			used[found++] = used[p];
	*list = used;
	*count = found;
	return KDR_OK;
}

static uint64_t bits_of(double value)
{
	uint64_t bits;
	memcpy(&bits, &value, sizeof bits);
	return bits;
}

uint64_t kdri_entries_hash(const kdri_entries *row)
{
	uint64_t hash = 0x9e3779b97f4a7c15u;
	for (int64_t p = 0; p < row->count; p++) {
		if (row->val[p] == 0)
			continue;
		uint64_t state = hash ^ (uint64_t)kdri_entry_column(row, p) * 0xff51afd7ed558ccdu ^
		                 bits_of(row->val[p]);
		hash = kdri_random(&state);
	}
	return hash;
}

static int64_t next_nonzero(const kdri_entries *row, int64_t p)
{
	while (p < row->count && row->val[p] == 0)
		p++;
	return p;
}

bool kdri_entries_equal(const kdri_entries *a, const kdri_entries *b)
{
	int64_t p = next_nonzero(a, 0), q = next_nonzero(b, 0);
	while (p < a->count && q < b->count) {
		if (kdri_entry_column(a, p) != kdri_entry_column(b, q) ||
		    bits_of(a->val[p]) != bits_of(b->val[q]))
			return false;
		p = next_nonzero(a, p + 1);
		q = next_nonzero(b, q + 1);
	}
	return p == a->count && q == b->count;
}

bool kdri_mat_nonnegative(const kdr_mat *x)
{
	bool nonnegative = true;
	for (int64_t i = 0; i < kdr_mat_rows(x) && nonnegative; i++) {
		kdri_entries row = kdri_row_entries(x, i);
		nonnegative = row.count == 0 || kdri_least(row.val, row.count) >= 0;
	}
	return nonnegative;
}

/* Distinct columns of a matrix.
 *
 * Most words of a large vocabulary occur in no text of a sample, or in one: for 999 newsgroup texts and 59,000 words,
 * 21,600 occur and 11,400 columns are distinct, because words that occur once, in the same text only, are the same
 * column. Sums over columns can use each distinct column once, with a weight.
 *
 * It uses a hash set of the rows of the transpose; rows with equal hashes are compared. */

/* Writes the distinct rows of t to `list` and the number of equal rows of each to `copies`; rows of zeros are
 * excluded. */
static kdr_status columns_group(kdr_context *ctx, const kdr_mat *t, int64_t *list, double *copies,
                                int64_t *count)
{
	kdr_status st;
	int64_t *slots = NULL, size = 16, found = 0; /* a slot holds the number of a group + 1, or 0 */
	while (size < 2 * kdr_mat_rows(t))
		size *= 2;
	KDRI_TRY(KDRI_NEW0(ctx, &slots, size));
	for (int64_t j = 0; j < kdr_mat_rows(t); j++) {
		kdri_entries row = kdri_row_entries(t, j), none = { 0 };
		uint64_t at = kdri_entries_hash(&row) & (uint64_t)(size - 1);
		if (kdri_entries_equal(&row, &none))
			continue;
		for (;; at = (at + 1) & (uint64_t)(size - 1)) {
			if (!slots[at]) {
				slots[at] = found + 1;
				copies[found] = 1;
				list[found++] = j;
				break;
			}
			kdri_entries other = kdri_row_entries(t, list[slots[at] - 1]);
			if (kdri_entries_equal(&row, &other)) {
				copies[slots[at] - 1]++;
				break;
			}
		}
	}
	*count = found;
done:
	kdri_free(ctx, slots);
	return st;
}

kdr_status kdri_columns_once(kdr_context *ctx, const kdr_mat *x, kdri_column_set *out, bool *fewer)
{
	kdr_status st;
	const kdri_own none = { .view = kdr_mat_from_dense(NULL, 0, 0) };
	kdri_own turned = none, differ = none;
	kdri_column_set c = { .x = none };
	int64_t d = kdr_mat_cols(x), count = 0, *list = NULL;
	*fewer = false;
	KDRI_TRY(kdri_mat_transpose(ctx, x, &turned));
	KDRI_TRY(KDRI_NEW(ctx, &list, d));
	KDRI_TRY(KDRI_NEW(ctx, &c.copies, d));
	KDRI_TRY(columns_group(ctx, &turned.view, list, c.copies, &count));
	if (2 * count > d || count == 0)
		goto done;
	KDRI_TRY(kdri_mat_take(ctx, &turned.view, list, count, &differ));
	KDRI_TRY(kdri_mat_transpose(ctx, &differ.view, &c.x));
	*out = c;
	*fewer = true;
	c = (kdri_column_set){ .x = none };
done:
	kdri_own_free(ctx, &turned);
	kdri_own_free(ctx, &differ);
	kdri_column_set_free(ctx, &c);
	kdri_free(ctx, list);
	return st;
}

/* The least number of entries that a listed row of t may have; *ties: how many rows with just this number are listed. */
static kdr_status columns_limit(kdr_context *ctx, const kdr_csr *t, int64_t count, int64_t *ties,
                                int64_t *out)
{
	kdr_status st;
	int64_t *rows = NULL, limit = t->cols; /* rows[e]: the number of rows with e entries */
	KDRI_TRY(KDRI_NEW0(ctx, &rows, t->cols + 1));
	for (int64_t j = 0; j < t->rows; j++)
		rows[t->rowptr[j + 1] - t->rowptr[j]]++;
	for (*ties = count; limit > 0 && rows[limit] < *ties; limit--)
		*ties -= rows[limit];
	*out = limit;
done:
	kdri_free(ctx, rows);
	return st;
}

kdr_status kdri_columns_most(kdr_context *ctx, const kdr_mat *x, const double *copies, int64_t count,
                             kdri_column_set *out)
{
	kdr_status st;
	const kdri_own none = { .view = kdr_mat_from_dense(NULL, 0, 0) };
	kdri_own turned = none, most = none;
	kdri_column_set c = { .x = none };
	int64_t limit, ties, found = 0, *list = NULL;
	KDRI_TRY(kdri_mat_transpose(ctx, x, &turned));
	KDRI_TRY(KDRI_NEW(ctx, &list, count));
	KDRI_TRY(KDRI_NEW(ctx, &c.copies, count));
	const kdr_csr *t = &turned.view.as.csr;
	KDRI_TRY(columns_limit(ctx, t, count, &ties, &limit));
	for (int64_t j = 0; j < t->rows && found < count; j++) {
		const int64_t entries = t->rowptr[j + 1] - t->rowptr[j];
		if (entries < limit || (entries == limit && ties-- <= 0))
			continue;
		c.copies[found] = copies ? copies[j] : 1;
		list[found++] = j;
	}
	KDRI_TRY(kdri_mat_take(ctx, &turned.view, list, found, &most));
	KDRI_TRY(kdri_mat_transpose(ctx, &most.view, &c.x));
	*out = c;
	c = (kdri_column_set){ .x = none };
done:
	kdri_own_free(ctx, &turned);
	kdri_own_free(ctx, &most);
	kdri_column_set_free(ctx, &c);
	kdri_free(ctx, list);
	return st;
}

void kdri_column_set_free(kdr_context *ctx, kdri_column_set *c)
{
	kdri_own_free(ctx, &c->x);
	kdri_free(ctx, c->copies);
	c->copies = NULL;
}

/* Counts distinct rows.
 *
 * It uses a hash set of rows, which stops growing at the requested number: for ordinary data after little more than
 * `most` rows. Rows of several ranks are compared by 64 bits of hash. */

static int by_size(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

/* How many of all ranks' hashes differ, `mine` of which are here. */
static kdr_status count_all(kdr_context *ctx, const int64_t *hashes, int64_t mine, int64_t most, int64_t *out)
{
	kdr_status st;
	int64_t start, all, enough = mine, *list = NULL, found = 0;
	KDRI_TRY(kdri_max_int(ctx, &enough, 1));
	if (enough >= most) {
		*out = enough;
		return KDR_OK;
	}
	KDRI_TRY(kdri_part(ctx, mine, &start, &all));
	KDRI_TRY(KDRI_NEW0(ctx, &list, all));
	memcpy(list + start, hashes, (size_t)mine * sizeof *list);
	KDRI_TRY(kdri_sum_int(ctx, list, all));
	qsort(list, (size_t)all, sizeof *list, by_size);
	for (int64_t i = 0; i < all; i++)
		found += i == 0 || list[i] != list[i - 1];
	*out = KDRI_MIN(found, most);
done:
	kdri_free(ctx, list);
	return st;
}

/* The slot of row i among `size` slots, a power of two: it holds the number + 1 of an equal row, or 0. */
static int64_t *slot_of(const kdr_mat *x, int64_t i, int64_t *slots, int64_t size, uint64_t *hash)
{
	kdri_entries r = kdri_row_entries(x, i);
	*hash = kdri_entries_hash(&r);
	for (uint64_t at = *hash & (uint64_t)(size - 1);; at = (at + 1) & (uint64_t)(size - 1)) {
		if (!slots[at])
			return &slots[at];
		kdri_entries other = kdri_row_entries(x, slots[at] - 1);
		if (kdri_entries_equal(&r, &other))
			return &slots[at];
	}
}

kdr_status kdri_rows_first(kdr_context *ctx, const kdr_mat *x, int64_t **first)
{
	kdr_status st;
	int64_t n = kdr_mat_rows(x), *slots = NULL, *found = NULL, size = 16, distinct = 0;
	uint64_t hash;
	*first = NULL;
	while (size < 2 * n)
		size *= 2;
	KDRI_TRY(KDRI_NEW0(ctx, &slots, size));
	KDRI_TRY(KDRI_NEW(ctx, &found, n));
	for (int64_t i = 0; i < n; i++) {
		int64_t *slot = slot_of(x, i, slots, size, &hash);
		distinct += *slot == 0;
		*slot = *slot ? *slot : i + 1;
		found[i] = *slot - 1;
	}
	if (distinct > 1 && distinct < n) {
		*first = found;
		found = NULL;
	}
done:
	KDRI_FREE(ctx, slots, found);
	return st;
}

kdr_status kdri_rows_distinct(kdr_context *ctx, const kdr_mat *x, const double *weights, int64_t most,
                              int64_t *out)
{
	kdr_status st;
	int64_t *slots = NULL, *hashes = NULL, size = 16,
	        found = 0; /* a slot holds a row's number + 1, or 0 */
	while (size < 2 * KDRI_MIN(most, kdr_mat_rows(x)))
		size *= 2;
	KDRI_TRY(KDRI_NEW0(ctx, &slots, size));
	KDRI_TRY(KDRI_NEW(ctx, &hashes, size));
	for (int64_t i = 0; i < kdr_mat_rows(x) && found < most; i++) {
		if (weights && !(weights[i] > 0))
			continue;
		uint64_t hash;
		int64_t *slot = slot_of(x, i, slots, size, &hash);
		if (!*slot) {
			*slot = i + 1;
			hashes[found++] = (int64_t)hash;
		}
	}
	if (kdri_together(ctx))
		KDRI_TRY(count_all(ctx, hashes, found, most, &found));
	*out = found;
done:
	KDRI_FREE(ctx, slots, hashes);
	return st;
}

/* Weights of the nearest neighbours of a sample. */

kdri_limits kdri_limits_of(const double *a, int64_t n, int64_t self, int64_t place, double tie, double *room)
{
	memcpy(room, a, (size_t)n * sizeof *a);
	if (self >= 0)
		room[self] = INFINITY;
	kdri_limits l = { .least = kdri_least(room, n) };
	l.bound = kdri_nth(room, n, place);
	l.tied = l.bound - l.least <= tie;
	return l;
}

KDRI_KERNEL
static int64_t fill_weights(const double *a, int64_t n, double least, double bound, double *weight)
{
	int64_t count = 0;
	double range = bound - least;
#pragma omp simd reduction(+ : count)
	for (int64_t j = 0; j < n; j++) {
		double v = (bound - a[j]) / range;
		weight[j] = v > 0 ? v : 0;
		count += v > 0;
	}
	return count;
}

int64_t kdri_weigh(const kdri_limits *l, const double *a, int64_t n, int64_t self, double tie, double *weight)
{
	int64_t count = 0;
	if (!l->tied)
		count = fill_weights(a, n, l->least, l->bound, weight);
	for (int64_t j = 0; j < n && l->tied; j++) {
		weight[j] = a[j] <= l->bound + tie;
		count += weight[j] > 0;
	}
	if (self >= 0) {
		count -= weight[self] > 0;
		weight[self] = 0;
	}
	return count;
}

/* Rows of x with rows of y: both dense or both sparse, of the same width. */
static kdr_status products_between(kdr_context *ctx, const kdr_mat *x, const kdr_mat *y, kdri_products *out)
{
	kdr_status st = KDR_OK;
	kdri_products p = { .x = *x, .y = *y };
	if (x->kind == KDR_MAT_CSR) {
		int64_t size;
		KDRI_TRY(kdri_mat_transpose(ctx, y, &p.columns));
		KDRI_TRY(kdri_mul(ctx, kdr_mat_rows(y), ctx->threads, &size));
		KDRI_TRY(KDRI_NEW(ctx, &p.sums, size));
	}
	*out = p;
	p = (kdri_products){ 0 };
done:
	kdri_products_free(ctx, &p);
	return st;
}

kdr_status kdri_products_new(kdr_context *ctx, const kdr_mat *x, kdri_products *out)
{
	return products_between(ctx, x, x, out);
}

void kdri_products_free(kdr_context *ctx, kdri_products *p)
{
	if (!p)
		return;
	kdri_own_free(ctx, &p->columns);
	kdri_free(ctx, p->sums);
	*p = (kdri_products){ 0 };
}

/* sums[j] = <x_i, y_j> for all j (E1). */
static void sparse_row(const kdr_csr *x, const kdr_csr *lists, int64_t i, double *sums)
{
	memset(sums, 0, (size_t)lists->cols * sizeof *sums);
	for (int64_t p = x->rowptr[i]; p < x->rowptr[i + 1]; p++) {
		const double v = x->val[p];
		const int32_t t = x->col[p], *row = lists->col;
		for (int64_t q = lists->rowptr[t]; q < lists->rowptr[t + 1]; q++)
			sums[row[q]] += v * lists->val[q];
	}
}

typedef struct shifted {
	kdri_tile_fn *use;
	void *user;
	int64_t begin;
} shifted;

static void use_shifted(void *user, int64_t row, int64_t col, int64_t cols, const double *piece)
{
	const shifted *s = user;
	s->use(s->user, row + s->begin, col, cols, piece);
}

kdr_status kdri_products_rows(kdr_context *ctx, const kdri_products *p, int64_t begin, int64_t end,
                              kdri_tile_fn *use, void *user)
{
	if (p->x.kind == KDR_MAT_DENSE) {
		const kdr_dense *a = &p->x.as.dense, *b = &p->y.as.dense;
		shifted s = { use, user, begin };
		return kdri_gemm_tiles(ctx, end - begin, b->rows, a->cols, a->data + begin * a->stride,
		                       a->stride, b->data, b->stride, use_shifted, &s);
	}
	const kdr_csr *x = &p->x.as.csr, *lists = &p->columns.view.as.csr;
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic, 8)
	for (int64_t i = begin; i < end; i++) {
		int64_t thread = kdri_thread();
		double *sums = p->sums + thread * lists->cols;
		sparse_row(x, lists, i, sums);
		use(user, i, 0, lists->cols, sums);
	}
	return KDR_OK;
}
