/* What is in a data set, and what is odd about it. SPDX-License-Identifier: BSD-3-Clause
 *
 * One pass over the entries for counts and ranges. Duplicated rows are found by hash: rows are sorted by a
 * 64-bit hash of their non-zero (column, value) pairs, and those that share one are compared in full, so that
 * a collision costs time but no truth. O(nnz + n log n), memory O(n + d). */
#include "core/internal.h"

#include <stdlib.h>

typedef struct hashed {
	uint64_t hash;
	int64_t row;
} hashed;

/* The entries of a row, dense or sparse, as (column, value) pairs. */
typedef struct row_view {
	const double *val;
	const int32_t *col; /* NULL: dense, entry p is column p */
	int64_t count;
} row_view;

static row_view row_of(const kdr_data *d, int64_t i)
{
	if (d->kind == KDR_MAT_DENSE)
		return (row_view){ d->dense + i * d->cols, NULL, d->cols };
	int64_t begin = d->rowptr[i];
	return (row_view){ d->val + begin, d->col + begin, d->rowptr[i + 1] - begin };
}

static int64_t column(const row_view *r, int64_t p)
{
	return r->col ? r->col[p] : p;
}

static uint64_t bits_of(double value)
{
	uint64_t bits;
	memcpy(&bits, &value, sizeof bits);
	return bits;
}

static uint64_t hash_row(const row_view *r)
{
	uint64_t h = 0x9e3779b97f4a7c15u;
	for (int64_t p = 0; p < r->count; p++) {
		if (r->val[p] == 0)
			continue;
		uint64_t state = h ^ (uint64_t)column(r, p) * 0xff51afd7ed558ccdu ^ bits_of(r->val[p]);
		h = kdri_splitmix64(&state);
	}
	return h;
}

/* Bit for bit, so that NaN equals itself. */
static bool same_row(const row_view *a, const row_view *b)
{
	int64_t p = 0, q = 0;
	for (;;) {
		while (p < a->count && a->val[p] == 0)
			p++;
		while (q < b->count && b->val[q] == 0)
			q++;
		if (p == a->count || q == b->count)
			return p == a->count && q == b->count;
		if (column(a, p) != column(b, q) || bits_of(a->val[p]) != bits_of(b->val[q]))
			return false;
		p++;
		q++;
	}
}

static int by_hash(const void *x, const void *y)
{
	const hashed *a = x, *b = y;
	if (a->hash != b->hash)
		return a->hash < b->hash ? -1 : 1;
	return a->row < b->row ? -1 : a->row > b->row;
}

/* Sorted by hash, equal rows stand in one run; each is compared with the earlier distinct rows of its run. */
static int64_t count_duplicates(const kdr_data *d, hashed *rows)
{
	int64_t found = 0;
	qsort(rows, (size_t)d->rows, sizeof *rows, by_hash);
	for (int64_t begin = 0, end; begin < d->rows; begin = end) {
		int64_t distinct = begin + 1; /* rows[begin..distinct-1] differ from each other */
		for (end = begin + 1; end < d->rows && rows[end].hash == rows[begin].hash; end++) {
			row_view mine = row_of(d, rows[end].row);
			bool equal = false;
			for (int64_t e = begin; e < distinct && !equal; e++) {
				row_view other = row_of(d, rows[e].row);
				equal = same_row(&mine, &other);
			}
			if (equal)
				found++;
			else
				rows[distinct++] = rows[end];
		}
	}
	return found;
}

static int by_name(const void *x, const void *y)
{
	return strcmp(*(const char *const *)x, *(const char *const *)y);
}

static kdr_status count_names(kdr_context *ctx, const kdr_data *d, int64_t *out)
{
	const char **sorted = NULL;
	*out = 0;
	if (!d->features)
		return KDR_OK;
	kdr_status st = kdri_alloc(ctx, &sorted, d->cols, sizeof *sorted);
	if (st != KDR_OK)
		return st;
	memcpy(sorted, d->features, (size_t)d->cols * sizeof *sorted);
	qsort(sorted, (size_t)d->cols, sizeof *sorted, by_name);
	for (int64_t j = 1; j < d->cols; j++)
		*out += strcmp(sorted[j], sorted[j - 1]) == 0;
	kdri_free(ctx, sorted);
	return KDR_OK;
}

/* What is known of a column while rows go by. */
typedef struct column_state {
	int64_t nonzeros;
	double first; /* of its non-zero values */
	bool varies;  /* two of them differ */
} column_state;

static void take_value(kdr_inspection *s, column_state *c, double v, int64_t row, int64_t col, bool *first)
{
	if (!isfinite(v)) {
		if (s->nonfinite++ == 0) {
			s->bad_row = row;
			s->bad_col = col;
		}
		c->nonzeros++;
		c->varies = true;
		return;
	}
	s->min = *first ? v : KDRI_MIN(s->min, v);
	s->max = *first ? v : KDRI_MAX(s->max, v);
	*first = false;
	if (v == 0)
		return;
	s->nonzeros++;
	s->negatives += v < 0;
	s->integers = s->integers && v == floor(v);
	if (c->nonzeros++ == 0)
		c->first = v;
	else if (c->first != v)
		c->varies = true;
}

kdr_status kdr_inspect(kdr_context *ctx, const kdr_data *d, kdr_inspection *out)
{
	kdr_status st;
	hashed *rows = NULL;
	column_state *cols = NULL;
	kdr_inspection s = {
		.rows = d->rows, .cols = d->cols, .integers = true, .bad_row = -1, .bad_col = -1
	};
	bool first = true;
	KDRI_TRY(KDRI_NEW(ctx, &rows, d->rows));
	KDRI_TRY(KDRI_NEW0(ctx, &cols, d->cols));
	for (int64_t i = 0; i < d->rows; i++) {
		row_view r = row_of(d, i);
		int64_t before = s.nonzeros + s.nonfinite;
		for (int64_t p = 0; p < r.count; p++)
			take_value(&s, &cols[column(&r, p)], r.val[p], i, column(&r, p), &first);
		s.empty_rows += s.nonzeros + s.nonfinite == before;
		rows[i] = (hashed){ hash_row(&r), i };
	}
	/* What is not stored is zero. */
	if (d->kind == KDR_MAT_CSR && (double)d->rowptr[d->rows] < (double)d->rows * (double)d->cols) {
		s.min = first ? 0 : KDRI_MIN(s.min, 0);
		s.max = first ? 0 : KDRI_MAX(s.max, 0);
	}
	for (int64_t j = 0; j < d->cols; j++) {
		s.empty_cols += cols[j].nonzeros == 0;
		s.constant_cols += cols[j].nonzeros == 0 || (cols[j].nonzeros == d->rows && !cols[j].varies);
	}
	s.duplicate_rows = count_duplicates(d, rows);
	KDRI_TRY(count_names(ctx, d, &s.duplicate_names));
	*out = s;
done:
	kdri_free(ctx, rows);
	kdri_free(ctx, cols);
	return st;
}
