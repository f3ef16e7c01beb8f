/* Statistics of a data set. SPDX-License-Identifier: BSD-3-Clause
 *
 * One pass over the entries for counts and ranges. Duplicated rows are found by hash: rows are sorted by a 64-bit hash
 * of their non-zero (column, value) pairs, and rows with the same hash are compared in full, so that a collision costs
 * time but does not change the result. O(nnz + n log n), memory O(n + d), or O(n + nnz) if that is less. */
#include <stdio.h>
#include <stdlib.h>

#include "matrix/linalg.h"
#include "prepare/prep.h"

/* Piles of rows, by the upper eight bits of their hashes. */
enum { PILES = 256 };
#define PILE_WIDTH ((uint64_t)1 << 56)

typedef struct hashed {
	uint64_t hash;
	int64_t row;
} hashed;

static int by_hash(const void *x, const void *y)
{
	const hashed *a = x, *b = y;
	if (a->hash != b->hash)
		return a->hash < b->hash ? -1 : 1;
	return a->row < b->row ? -1 : a->row > b->row;
}

/* Sorted by hash, equal rows are in one run; each is compared with the earlier distinct rows of its run. */
static int64_t count_duplicates_of(const kdr_mat *x, hashed *rows, int64_t n)
{
	int64_t found = 0;
	qsort(rows, (size_t)n, sizeof *rows, by_hash);
	for (int64_t begin = 0, end; begin < n; begin = end) {
		int64_t distinct = begin + 1; /* rows[begin..distinct-1] differ from each other */
		for (end = begin + 1; end < n && rows[end].hash == rows[begin].hash; end++) {
			kdri_entries mine = kdri_row_entries(x, rows[end].row);
			bool equal = false;
			for (int64_t e = begin; e < distinct && !equal; e++) {
				kdri_entries other = kdri_row_entries(x, rows[e].row);
				equal = kdri_entries_equal(&mine, &other);
			}
			if (equal)
				found++;
			else
				rows[distinct++] = rows[end];
		}
	}
	return found;
}

/* Rows are first dealt out by the upper bits of the hash; equal rows are then in one pile, and piles are independent of each other. */
static kdr_status count_duplicates(kdr_context *ctx, const kdr_mat *x, const hashed *rows, int64_t *out)
{
	int64_t n = kdr_mat_rows(x), start[PILES + 1] = { 0 }, next[PILES], found = 0;
	hashed *dealt = NULL;
	kdr_status st = KDRI_NEW(ctx, &dealt, n);
	if (st != KDR_OK)
		return st;
	for (int64_t i = 0; i < n; i++)
		start[rows[i].hash / PILE_WIDTH + 1]++;
	for (int p = 0; p < PILES; p++) {
		start[p + 1] += start[p];
		next[p] = start[p];
	}
	for (int64_t i = 0; i < n; i++)
		dealt[next[rows[i].hash / PILE_WIDTH]++] = rows[i];
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic) reduction(+ : found)
	for (int p = 0; p < PILES; p++)
		found += count_duplicates_of(x, dealt + start[p], start[p + 1] - start[p]);
	kdri_free(ctx, dealt);
	*out = found;
	return KDR_OK;
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

/* The state of a column while rows are read. */
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

/* The states of the columns: of all, or of those with entries if there are fewer entries than columns. */
typedef struct column_states {
	column_state *list;
	int64_t count;
	int32_t *used; /* count columns, increasing; NULL: all */
} column_states;

static column_state *state_of(const column_states *s, int64_t column)
{
	int64_t low = 0, high = s->count;
	if (!s->used)
		return &s->list[column];
	while (high - low > 1) {
		const int64_t middle = low + (high - low) / 2;
		if (s->used[middle] <= column)
			low = middle;
		else
			high = middle;
	}
	return &s->list[low];
}

/* The statistics of some rows, and of the columns in them. */
typedef struct inspect_part {
	kdr_inspection s;
	bool first; /* no finite value was seen */
	column_states cols;
} inspect_part;

static void inspect_rows(const kdr_mat *x, int64_t begin, int64_t end, inspect_part *part, hashed *rows)
{
	kdr_inspection *s = &part->s;
	for (int64_t i = begin; i < end; i++) {
		kdri_entries r = kdri_row_entries(x, i);
		int64_t before = s->nonzeros + s->nonfinite;
		for (int64_t p = 0; p < r.count; p++)
			take_value(s, state_of(&part->cols, kdri_entry_column(&r, p)), r.val[p], i,
			           kdri_entry_column(&r, p), &part->first);
		s->empty_rows += s->nonzeros + s->nonfinite == before;
		rows[i] = (hashed){ kdri_entries_hash(&r), i };
	}
}

/* Adds the statistics of the rows after those of `to`. */
static void inspect_add(inspect_part *to, const inspect_part *from)
{
	kdr_inspection *s = &to->s;
	if (s->nonfinite == 0) {
		s->bad_row = from->s.bad_row;
		s->bad_col = from->s.bad_col;
	}
	if (!from->first) {
		s->min = to->first ? from->s.min : KDRI_MIN(s->min, from->s.min);
		s->max = to->first ? from->s.max : KDRI_MAX(s->max, from->s.max);
		to->first = false;
	}
	s->nonfinite += from->s.nonfinite;
	s->nonzeros += from->s.nonzeros;
	s->negatives += from->s.negatives;
	s->empty_rows += from->s.empty_rows;
	s->integers = s->integers && from->s.integers;
	for (int64_t j = 0; j < to->cols.count; j++) {
		column_state *c = &to->cols.list[j];
		const column_state *d = &from->cols.list[j];
		if (c->nonzeros == 0)
			c->first = d->first;
		else
			c->varies = c->varies || (d->nonzeros > 0 && c->first != d->first);
		c->varies = c->varies || d->varies;
		c->nonzeros += d->nonzeros;
	}
}

kdr_status kdr_inspect(kdr_context *ctx, const kdr_data *d, kdr_inspection *out)
{
	KDRI_NEED(ctx, d && out);
	kdr_status st;
	hashed *rows = NULL;
	column_states cols = { 0 };
	column_state *others = NULL;
	inspect_part *parts = NULL;
	kdr_mat x = kdr_data_mat(d);
	KDRI_TRY(KDRI_NEW(ctx, &rows, d->rows));
	cols.count = kdr_mat_cols(&x);
	if (x.kind == KDR_MAT_CSR && kdr_mat_nnz(&x) < cols.count)
		KDRI_TRY(kdri_columns_used(ctx, &x, &cols.used, &cols.count));
	KDRI_TRY(KDRI_NEW0(ctx, &cols.list, cols.count));
	/* No more parts than that their states take less memory than the data. */
	const int64_t count =
	        KDRI_MAX(1, KDRI_MIN(ctx->threads, kdr_mat_nnz(&x) / KDRI_MAX(8 * cols.count, 1)));
	KDRI_TRY(KDRI_NEW(ctx, &parts, count));
	KDRI_TRY(KDRI_NEW0(ctx, &others, (count - 1) * cols.count));
	for (int64_t i = 0; i < count; i++) {
		parts[i] = (inspect_part){ .s = { .rows = d->rows,
			                          .cols = d->cols,
			                          .integers = true,
			                          .bad_row = -1,
			                          .bad_col = -1 },
			                   .first = true,
			                   .cols = cols };
		if (i > 0)
			parts[i].cols.list = others + (i - 1) * cols.count;
	}
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static, 1)
	for (int64_t i = 0; i < count; i++)
		inspect_rows(&x, d->rows / count * i + KDRI_MIN(i, d->rows % count),
		             d->rows / count * (i + 1) + KDRI_MIN(i + 1, d->rows % count), &parts[i], rows);
	for (int64_t i = 1; i < count; i++)
		inspect_add(&parts[0], &parts[i]);
	kdr_inspection s = parts[0].s;
	/* Entries that are not stored are zero. */
	if (d->kind == KDR_MAT_CSR && (double)d->rowptr[d->rows] < (double)d->rows * (double)d->cols) {
		s.min = parts[0].first ? 0 : KDRI_MIN(s.min, 0);
		s.max = parts[0].first ? 0 : KDRI_MAX(s.max, 0);
	}
	s.empty_cols = s.constant_cols = d->cols - cols.count;
	for (int64_t j = 0; j < cols.count; j++) {
		const column_state *c = &cols.list[j];
		s.empty_cols += c->nonzeros == 0;
		s.constant_cols += c->nonzeros == 0 || (c->nonzeros == d->rows && !c->varies);
	}
	KDRI_TRY(count_duplicates(ctx, &x, rows, &s.duplicate_rows));
	KDRI_TRY(count_names(ctx, d, &s.duplicate_names));
	*out = s;
done:
	KDRI_FREE(ctx, rows, cols.list, cols.used, others, parts);
	return st;
}

/* Detects samples in columns from names.
 *
 * Shapes are not informative, because texts and genes usually have more columns than rows. Names are; without
 * informative names there is no warning. A task appears to be transposed if
 *
 *   its columns are named like cells (nine in ten contain a run of twelve letters A, C, G and T: barcodes), or its rows like
 *   genes (ENSG00000141510), but not also the other way round; or
 *   most of another task's columns have the names of its rows, and not of its columns; or
 *   it and another task have most row names in common, but hardly any column name.
 *
 * Numbers do not count as names: rows numbered from 1 have the same names in all tables. */

enum { FEWEST = 5, LOOK = 2000, TABLE_MOST = 1 << 18 };

static bool is_barcode(const char *name)
{
	int run = 0;
	for (; *name && run < 12; name++)
		run = strchr("ACGT", *name) ? run + 1 : 0;
	return run >= 12;
}

bool kdri_is_gene(const char *name)
{
	if (strncmp(name, "ENS", 3) != 0)
		return false;
	const char *g = strpbrk(name, "0123456789");
	return g && g > name + 3 && g[-1] == 'G' && g - name <= 8 && strspn(g, "0123456789") >= 6;
}

static bool is_number(const char *name)
{
	return name[0] && name[strspn(name, "0123456789+-.eE")] == '\0';
}

/* The fraction of names, in a sample of them, that have the property. */
static double orientation_share(char *const *names, int64_t n, bool (*is)(const char *name))
{
	int64_t step = KDRI_MAX(1, n / LOOK), seen = 0, found = 0;
	for (int64_t i = 0; names && i < n; i += step, seen++)
		found += is(names[i]);
	return seen > 0 ? (double)found / (double)seen : 0;
}

static bool by_itself(const kdr_data *d, char *text, size_t room)
{
	if (!d->features || d->cols < FEWEST)
		return false;
	bool cells = orientation_share(d->features, d->cols, is_barcode) > 0.9 &&
	             orientation_share(d->ids, d->rows, is_barcode) < 0.1;
	bool genes = d->rows >= FEWEST && orientation_share(d->ids, d->rows, kdri_is_gene) > 0.9 &&
	             orientation_share(d->features, d->cols, kdri_is_gene) < 0.1;
	if (cells || genes)
		snprintf(
		        text, room,
		        "data set %.40s appears to be transposed: its %s are named like %s, such as %.40s; if so, add --transpose",
		        d->name, cells ? "columns" : "rows", cells ? "cells" : "genes",
		        cells ? d->features[0] : d->ids[0]);
	return cells || genes;
}

/* The fraction of names that are in the table, relative to the smaller list. */
static double common(char *const *names, int64_t n, const kdri_names *table)
{
	int64_t step = KDRI_MAX(1, n / LOOK), seen = 0, found = 0;
	for (int64_t i = 0; i < n; i += step, seen++)
		found += kdri_names_find(table, names[i]) >= 0;
	/* All names of a small table may be among the many. */
	double all = (double)found / (double)KDRI_MAX(seen, 1) * (double)n;
	return all / (double)KDRI_MAX(KDRI_MIN(n, table->count), 1);
}

static kdr_status orientation_fill(kdr_context *ctx, char *const *names, int64_t n, kdri_names *table)
{
	int64_t index;
	for (int64_t i = 0; i < n; i++)
		KDRI_DO(kdri_names_add(ctx, table, names[i], strlen(names[i]), &index));
	return KDR_OK;
}

static bool has_names(const kdr_data *d)
{
	return d->features && d->ids && d->cols >= FEWEST && d->rows >= FEWEST && d->rows <= TABLE_MOST &&
	       d->cols <= TABLE_MOST && orientation_share(d->ids, d->rows, is_number) < 0.5 &&
	       orientation_share(d->features, d->cols, is_number) < 0.5;
}

/* Compares task d with the first one, whose row and column names are in the tables. */
static bool orientation_beside(const kdr_data *a, const kdri_names *rows, const kdri_names *columns,
                               const kdr_data *d, char *text, size_t room)
{
	double same = common(d->features, d->cols, columns), turned = common(d->ids, d->rows, columns),
	       other = common(d->features, d->cols, rows), ids = common(d->ids, d->rows, rows);
	if (same >= 0.05)
		return false;
	if (turned > 0.5 || other > 0.5)
		snprintf(
		        text, room,
		        "data set %.40s appears to be transposed: its %s have the names of the %s of data set %.40s; if so, add --transpose",
		        d->name, turned > 0.5 ? "rows" : "columns", turned > 0.5 ? "columns" : "rows",
		        a->name);
	else if (ids > 0.5)
		snprintf(
		        text, room,
		        "data sets %.40s and %.40s appear to be transposed: their rows have the same names, but their columns do not; if so, add --transpose",
		        a->name, d->name);
	return turned > 0.5 || other > 0.5 || ids > 0.5;
}

kdr_status kdri_orientation(kdr_context *ctx, kdr_data *const *tasks, int64_t count, char *text, size_t room)
{
	kdr_status st = KDR_OK;
	kdri_names rows = { .borrows = true }, columns = { .borrows = true };
	text[0] = '\0';
	for (int64_t t = 0; t < count; t++)
		if (by_itself(tasks[t], text, room))
			return KDR_OK;
	if (count < 2 || !has_names(tasks[0]))
		return KDR_OK;
	KDRI_TRY(orientation_fill(ctx, tasks[0]->ids, tasks[0]->rows, &rows));
	KDRI_TRY(orientation_fill(ctx, tasks[0]->features, tasks[0]->cols, &columns));
	for (int64_t t = 1; t < count; t++)
		if (has_names(tasks[t]) &&
		    orientation_beside(tasks[0], &rows, &columns, tasks[t], text, room))
			break;
done:
	kdri_names_free(ctx, &rows);
	kdri_names_free(ctx, &columns);
	return st;
}
