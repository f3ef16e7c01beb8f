/* Tables: columns of numbers and of categories, some cells missing. SPDX-License-Identifier: BSD-3-Clause
 *
 *   (E1)  Repeated columns. Categories a, b with at least 20 rows in common are linked if their mutual information, less its
 *         bias (La - 1)(Lb - 1) / (2 n), exceeds 0.7 of the smaller entropy; numbers if |r| > 0.999. Each of g columns that
 *         are linked, directly or through others, has weight u = 1 / g: log-likelihoods times u, distances times sqrt u. All pairs
 *         are compared, if there are at most 256 columns of a kind.
 *
 * L  levels     u  number_weight, category_weight */
#include "engine/mixture/mixture.h"

#include "comm/comm.h"
#include "matrix/linalg.h"

static const double same_information = 0.7, same_number = 0.999;
/* Pairs of columns that differ by more than this on the first rows are not compared on all of them. */
static const double perhaps_information = 0.4, perhaps_number = 0.98;
enum { LEAST_COMMON = 20, FIRST_ROWS = 2000, MOST_COMPARED = 256 };

void kdri_mixed_free(kdr_context *ctx, kdri_mixed *t)
{
	KDRI_FREE(ctx, t->larger, t->begin, t->number_column, t->category_column, t->x, t->code, t->levels,
	          t->offset, t->has_number, t->has_category, t->share, t->number_weight, t->category_weight);
	*t = (kdri_mixed){ 0 };
}

/* Whether the remaining rows are skipped, because it is time to stop and the caller can do without the result (`abandon` in the
 * context). */
static bool mixed_given_up(kdr_context *ctx, int64_t row, int64_t rows)
{
	return kdri_leave_off(ctx, "table", row, rows) && ctx->abandon;
}

/* --- types of columns ------------------------------------------------------------------------------------------- */

/* Properties of a column of the matrices. */
typedef struct column {
	double low, high; /* the least and the largest value */
	bool other;       /* some value is neither */
	bool missing;     /* some cell of it has none */
} column;

static void look_at_value(column *c, double v)
{
	if (isnan(v)) {
		c->missing = true;
	} else if (!(c->low <= c->high)) {
		c->low = c->high = v;
	} else if (v != c->low && v != c->high) {
		/* Records a third value, unless one was found before. */
		c->other = c->other || c->low < c->high;
		c->low = KDRI_MIN(c->low, v);
		c->high = KDRI_MAX(c->high, v);
	}
}

double kdri_mixed_cell(const kdr_mat *x, int64_t i, int64_t j)
{
	if (x->kind == KDR_MAT_DENSE)
		return x->as.dense.data[i * x->as.dense.stride + j];
	int64_t low = x->as.csr.rowptr[i], high = x->as.csr.rowptr[i + 1];
	while (low < high) {
		const int64_t middle = low + (high - low) / 2;
		if (x->as.csr.col[middle] == j)
			return x->as.csr.val[middle];
		if (x->as.csr.col[middle] < j)
			low = middle + 1;
		else
			high = middle;
	}
	return 0;
}

/* On several ranks, of the rows of all. */
static kdr_status look_at_columns(kdr_context *ctx, const kdr_problem *problem, int64_t d, column *c)
{
	kdr_status st;
	double *ends = NULL;
	for (int64_t j = 0; j < d; j++)
		c[j] = (column){ .low = INFINITY, .high = -INFINITY };
	for (int64_t t = 0; t < problem->ntasks; t++)
		for (int64_t i = 0, n = kdr_mat_rows(&problem->tasks[t].x);
		     i < n && !mixed_given_up(ctx, i, n); i++)
			for (int64_t j = 0; j < d; j++)
				look_at_value(&c[j], kdri_mixed_cell(&problem->tasks[t].x, i, j));
	if (!kdri_together(ctx))
		return KDR_OK;
	KDRI_TRY(KDRI_NEW(ctx, &ends, 4 * d));
	for (int64_t j = 0; j < d; j++) {
		ends[4 * j] = -c[j].low;
		ends[4 * j + 1] = c[j].high;
	}
	for (int64_t j = 0; j < d; j++) {
		ends[4 * j + 2] = c[j].other;
		ends[4 * j + 3] = c[j].missing;
	}
	KDRI_TRY(kdri_max(ctx, ends, 4 * d));
	for (int64_t j = 0; j < d; j++) {
		/* Two values here and others elsewhere are more than two. */
		bool others = c[j].low <= c[j].high &&
		              ((c[j].low != -ends[4 * j] && c[j].low != ends[4 * j + 1]) ||
		               (c[j].high != -ends[4 * j] && c[j].high != ends[4 * j + 1]));
		ends[4 * j + 2] = ends[4 * j + 2] != 0 || others;
		c[j] = (column){ -ends[4 * j], ends[4 * j + 1], false, ends[4 * j + 3] != 0 };
	}
	KDRI_TRY(kdri_max(ctx, ends, 4 * d));
	for (int64_t j = 0; j < d; j++)
		c[j].other = ends[4 * j + 2] != 0;
done:
	kdri_free(ctx, ends);
	return st;
}

/* Numbers and categories: columns of a group are levels of one category, a column of two values is a category with
 * two levels, and constants are ignored. Counts them, or lists them once memory is allocated. */
static void list_columns(const kdr_problem *problem, const column *c, int64_t d, kdri_mixed *t)
{
	t->numbers = t->categories = 0;
	for (int64_t j = 0, width; j < d; j += width) {
		const int64_t *group = problem->category;
		for (width = 1; group && group[j] >= 0 && j + width < d && group[j + width] == group[j];)
			width++;
		bool constant = !(c[j].low < c[j].high), several = width > 1 || (group && group[j] >= 0);
		for (int64_t l = 1; l < width; l++)
			constant = constant && !(c[j + l].low < c[j + l].high);
		if (constant)
			continue;
		if (several || !c[j].other) {
			if (t->category_column) {
				t->category_column[t->categories] = j;
				t->levels[t->categories] = width > 1 ? width : 2;
				t->larger[t->categories] = width > 1 ? NAN : c[j].high;
			}
			t->categories++;
		} else {
			if (t->number_column)
				t->number_column[t->numbers] = j;
			t->numbers++;
		}
	}
}

/* --- cells ------------------------------------------------------------------------------------------------------------------ */

int32_t kdri_mixed_level(const kdr_mat *x, int64_t i, int64_t first, int64_t levels, double larger)
{
	double v = kdri_mixed_cell(x, i, first);
	if (isnan(v))
		return -1;
	if (!isnan(larger))
		return v == larger;
	for (int64_t l = 0; l < levels; l++)
		if (kdri_mixed_cell(x, i, first + l) > 0)
			return (int32_t)l;
	return -1;
}

/* Which columns each table has, and the shares of levels; of the rows of all ranks. */
static kdr_status look_at_tables(kdr_context *ctx, kdri_mixed *t)
{
	kdr_status st;
	const int64_t p = t->numbers, c = t->categories, levels = t->offset[c];
	double *ends = NULL, *counts = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &ends, 2 * t->tables * p));
	KDRI_TRY(KDRI_NEW0(ctx, &counts, levels + t->tables * c));
	for (int64_t i = 0; i < 2 * t->tables * p; i++)
		ends[i] = -INFINITY;
	for (int64_t s = 0; s < t->tables; s++)
		for (int64_t i = t->begin[s]; i < t->begin[s + 1] && !mixed_given_up(ctx, i, t->n); i++) {
			for (int64_t j = 0; j < p; j++) {
				double v = t->x[i * p + j], *end = ends + 2 * (s * p + j);
				if (!isnan(v)) {
					end[0] = KDRI_MAX(end[0], v);
					end[1] = KDRI_MAX(end[1], -v);
				}
			}
			for (int64_t j = 0; j < c; j++)
				if (t->code[i * c + j] >= 0) {
					counts[t->offset[j] + t->code[i * c + j]]++;
					counts[levels + s * c + j]++;
				}
		}
	KDRI_TRY(kdri_max(ctx, ends, 2 * t->tables * p));
	KDRI_TRY(kdri_sum(ctx, counts, levels + t->tables * c));
	for (int64_t i = 0; i < t->tables * p; i++)
		t->has_number[i] = ends[2 * i] > -ends[2 * i + 1];
	for (int64_t i = 0; i < t->tables * c; i++)
		t->has_category[i] = counts[levels + i] > 0;
	for (int64_t j = 0; j < c; j++) {
		double sum = 0;
		for (int64_t l = t->offset[j]; l < t->offset[j + 1]; l++)
			sum += counts[l];
		for (int64_t l = t->offset[j]; l < t->offset[j + 1]; l++)
			t->share[l] = sum > 0 ? counts[l] / sum : 0;
	}
done:
	KDRI_FREE(ctx, ends, counts);
	return st;
}

/* --- repeated columns (E1) ------------------------------------------------------------------------------------------------ */

static double entropy(const double *counts, int64_t n, double total)
{
	double sum = 0;
	for (int64_t i = 0; i < n; i++)
		if (counts[i] > 0)
			sum -= counts[i] / total * log(counts[i] / total);
	return sum;
}

/* Whether categories a and b are redundant on the first `rows` rows: their mutual information is at least `least` of the
 * smaller entropy; `counts` has room for both and for all pairs of their levels. */
static kdr_status same_category(kdr_context *ctx, const kdri_mixed *t, int64_t a, int64_t b, int64_t rows,
                                double least, double *counts, bool *out)
{
	const int64_t la = t->levels[a], lb = t->levels[b];
	double *of_a = counts, *of_b = counts + la, *of_both = counts + la + lb, n = 0;
	memset(counts, 0, (size_t)(la + lb + la * lb) * sizeof *counts);
	for (int64_t i = 0; i < rows; i++) {
		int32_t x = t->code[i * t->categories + a], y = t->code[i * t->categories + b];
		if (x >= 0 && y >= 0)
			of_both[x * lb + y]++;
	}
	KDRI_DO(kdri_sum(ctx, of_both, la * lb));
	for (int64_t x = 0; x < la; x++)
		for (int64_t y = 0; y < lb; y++) {
			of_a[x] += of_both[x * lb + y];
			of_b[y] += of_both[x * lb + y];
			n += of_both[x * lb + y];
		}
	*out = false;
	if (n < LEAST_COMMON)
		return KDR_OK;
	double ha = entropy(of_a, la, n), hb = entropy(of_b, lb, n),
	       information = ha + hb - entropy(of_both, la * lb, n);
	*out = information - (double)((la - 1) * (lb - 1)) / (2 * n) > least * KDRI_MIN(ha, hb);
	return KDR_OK;
}

static kdr_status same_numbers(kdr_context *ctx, const kdri_mixed *t, int64_t a, int64_t b, int64_t rows,
                               double least, bool *out)
{
	double v[6] = { 0 }; /* n, and sums; numbers are standardised or nearly so */
	for (int64_t i = 0; i < rows; i++) {
		double x = t->x[i * t->numbers + a], y = t->x[i * t->numbers + b];
		if (isnan(x) || isnan(y))
			continue;
		const double add[] = { 1, x, y, x * x, y * y, x * y };
		for (int k = 0; k < 6; k++)
			v[k] += add[k];
	}
	KDRI_DO(kdri_sum(ctx, v, 6));
	double sxx = v[3] - v[1] * v[1] / v[0], syy = v[4] - v[2] * v[2] / v[0],
	       sxy = v[5] - v[1] * v[2] / v[0];
	*out = v[0] >= LEAST_COMMON && sxx > 0 && syy > 0 && fabs(sxy) > least * sqrt(sxx * syy);
	return KDR_OK;
}

static int64_t root_of(const int64_t *parent, int64_t i)
{
	while (parent[i] != i)
		i = parent[i];
	return i;
}

/* 1 / g for each of `count` columns; *linked has one entry per pair. */
static void share_votes(int64_t *parent, int64_t count, double *weight)
{
	for (int64_t i = 0; i < count; i++)
		weight[i] = 0;
	for (int64_t i = 0; i < count; i++)
		weight[root_of(parent, i)]++;
	for (int64_t i = count; i-- > 0;) /* a root precedes its members */
		weight[i] = 1 / weight[root_of(parent, i)];
}

static kdr_status find_weights(kdr_context *ctx, kdri_mixed *t)
{
	kdr_status st = KDR_OK;
	const int64_t most = KDRI_MAX(t->numbers, t->categories);
	int64_t *parent = NULL, largest = 0, room;
	double *counts = NULL;
	bool same;
	for (int64_t j = 0; j < t->categories; j++)
		largest = KDRI_MAX(largest, t->levels[j]);
	KDRI_TRY(kdri_mul(ctx, largest, largest + 2, &room));
	KDRI_TRY(KDRI_NEW(ctx, &parent, most));
	KDRI_TRY(KDRI_NEW(ctx, &counts, room));
	for (int kind = 0; kind < 2; kind++) {
		int64_t count = kind ? t->categories : t->numbers;
		for (int64_t i = 0; i < count; i++)
			parent[i] = i;
		for (int64_t a = 0; a < count && count <= MOST_COMPARED; a++)
			for (int64_t b = 0; b < a; b++) {
				const int64_t some = KDRI_MIN(t->n, FIRST_ROWS);
				KDRI_TRY(kind ? same_category(ctx, t, a, b, some, perhaps_information, counts,
				                              &same)
				              : same_numbers(ctx, t, a, b, some, perhaps_number, &same));
				if (same)
					KDRI_TRY(kind ? same_category(ctx, t, a, b, t->n, same_information,
					                              counts, &same)
					              : same_numbers(ctx, t, a, b, t->n, same_number, &same));
				if (same) {
					int64_t x = root_of(parent, a), y = root_of(parent, b);
					parent[KDRI_MAX(x, y)] = KDRI_MIN(x, y);
				}
			}
		share_votes(parent, count, kind ? t->category_weight : t->number_weight);
	}
done:
	KDRI_FREE(ctx, parent, counts);
	return st;
}

/* --- tables ---------------------------------------------------------------------------------------------------------------------- */

static kdr_status table_room(kdr_context *ctx, kdri_mixed *t, int64_t levels)
{
	int64_t size;
	KDRI_DO(kdri_mul(ctx, t->n, t->numbers, &size));
	KDRI_DO(KDRI_NEW(ctx, &t->x, size));
	KDRI_DO(kdri_mul(ctx, t->n, t->categories, &size));
	KDRI_DO(KDRI_NEW(ctx, &t->code, size));
	KDRI_DO(KDRI_NEW0(ctx, &t->has_number, t->tables * t->numbers));
	KDRI_DO(KDRI_NEW0(ctx, &t->has_category, t->tables * t->categories));
	KDRI_DO(KDRI_NEW(ctx, &t->share, levels));
	KDRI_DO(KDRI_NEW(ctx, &t->number_weight, t->numbers));
	return KDRI_NEW(ctx, &t->category_weight, t->categories);
}

static kdr_status columns_room(kdr_context *ctx, kdri_mixed *t)
{
	KDRI_DO(KDRI_NEW(ctx, &t->number_column, t->numbers));
	KDRI_DO(KDRI_NEW(ctx, &t->category_column, t->categories));
	KDRI_DO(KDRI_NEW(ctx, &t->levels, t->categories));
	KDRI_DO(KDRI_NEW(ctx, &t->larger, t->categories));
	return KDRI_NEW0(ctx, &t->offset, t->categories + 1);
}

static void find_offsets(kdri_mixed *t)
{
	for (int64_t j = 0; j < t->categories; j++)
		t->offset[j + 1] = t->offset[j] + t->levels[j];
}

kdr_status kdri_mixed_new(kdr_context *ctx, const kdr_problem *problem, kdri_mixed *out)
{
	kdr_status st;
	const int64_t d = kdr_mat_cols(&problem->tasks[0].x);
	kdri_mixed t = { .tables = problem->ntasks, .centred = true };
	column *c = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &c, d));
	KDRI_TRY(look_at_columns(ctx, problem, d, c));
	KDRI_TRY(kdri_abandoned(ctx));
	list_columns(problem, c, d, &t);
	KDRI_TRY(columns_room(ctx, &t));
	list_columns(problem, c, d, &t);
	find_offsets(&t);
	KDRI_TRY(KDRI_NEW0(ctx, &t.begin, t.tables + 1));
	for (int64_t s = 0; s < t.tables; s++)
		t.begin[s + 1] = t.begin[s] + kdr_mat_rows(&problem->tasks[s].x);
	t.n = t.begin[t.tables];
	KDRI_TRY(table_room(ctx, &t, t.offset[t.categories]));
	for (int64_t s = 0, at = 0; s < t.tables; s++) {
		const kdr_mat *x = &problem->tasks[s].x;
		for (int64_t i = 0; i < kdr_mat_rows(x) && !mixed_given_up(ctx, at, t.n); i++, at++) {
			for (int64_t j = 0; j < t.numbers; j++)
				t.x[at * t.numbers + j] = kdri_mixed_cell(x, i, t.number_column[j]);
			for (int64_t j = 0; j < t.categories; j++)
				t.code[at * t.categories + j] = kdri_mixed_level(x, i, t.category_column[j],
				                                                 t.levels[j], t.larger[j]);
		}
	}
	KDRI_TRY(look_at_tables(ctx, &t));
	KDRI_TRY(kdri_abandoned(ctx));
	KDRI_TRY(find_weights(ctx, &t));
	*out = t;
	t = (kdri_mixed){ 0 };
done:
	kdri_mixed_free(ctx, &t);
	kdri_free(ctx, c);
	return st;
}

kdr_status kdri_mixed_take(kdr_context *ctx, const kdri_mixed *from, const int64_t *rows, int64_t n,
                           const bool *columns, kdri_mixed *out)
{
	kdr_status st;
	const int64_t p = from->numbers, c = from->categories;
	kdri_mixed t = { .n = n, .tables = from->tables, .centred = from->centred };
	int64_t at = 0;
	for (int64_t j = 0; j < p; j++)
		t.numbers += !columns || columns[j];
	for (int64_t j = 0; j < c; j++)
		t.categories += !columns || columns[p + j];
	KDRI_TRY(columns_room(ctx, &t));
	for (int64_t j = 0; j < p; j++)
		if (!columns || columns[j])
			t.number_column[at++] = from->number_column[j];
	at = 0;
	for (int64_t j = 0; j < c; j++)
		if (!columns || columns[p + j]) {
			t.category_column[at] = from->category_column[j];
			t.larger[at] = from->larger[j];
			t.levels[at++] = from->levels[j];
		}
	find_offsets(&t);
	KDRI_TRY(KDRI_NEW0(ctx, &t.begin, t.tables + 1));
	KDRI_TRY(table_room(ctx, &t, t.offset[t.categories]));
	for (int64_t s = 0, i = 0; s < t.tables; s++) {
		while (i < n && rows[i] < from->begin[s + 1])
			i++;
		t.begin[s + 1] = i;
	}
	at = 0;
	for (int64_t j = 0; j < p; j++) {
		if (columns && !columns[j])
			continue;
		t.number_weight[at] = from->number_weight[j];
		for (int64_t i = 0; i < n; i++)
			t.x[i * t.numbers + at] = from->x[rows[i] * p + j];
		at++;
	}
	at = 0;
	for (int64_t j = 0; j < c; j++) {
		if (columns && !columns[p + j])
			continue;
		t.category_weight[at] = from->category_weight[j];
		for (int64_t i = 0; i < n; i++)
			t.code[i * t.categories + at] = from->code[rows[i] * c + j];
		at++;
	}
	KDRI_TRY(look_at_tables(ctx, &t));
	*out = t;
	t = (kdri_mixed){ 0 };
done:
	kdri_mixed_free(ctx, &t);
	return st;
}

kdr_status kdri_mixed_sample(kdr_context *ctx, const kdri_mixed *m, int64_t s, int64_t most, kdri_mixed *out)
{
	kdr_status st;
	int64_t *rows = NULL, n = 0;
	KDRI_TRY(KDRI_NEW(ctx, &rows, m->n));
	for (int64_t t = 0; t < m->tables; t++) {
		const int64_t all = m->begin[t + 1] - m->begin[t], count = KDRI_MIN(all, most);
		for (int64_t i = 0; i < count && (s < 0 || s == t); i++)
			rows[n++] = m->begin[t] + kdri_chunk_begin(all, count, i);
	}
	KDRI_TRY(kdri_mixed_take(ctx, m, rows, n, NULL, out));
	if (s >= 0) { /* the tables before and after it are empty: one remains */
		out->begin[0] = 0;
		out->begin[1] = n;
		memmove(out->has_number, out->has_number + s * m->numbers,
		        (size_t)m->numbers * sizeof *out->has_number);
		memmove(out->has_category, out->has_category + s * m->categories,
		        (size_t)m->categories * sizeof *out->has_category);
		out->tables = 1;
	}
done:
	kdri_free(ctx, rows);
	return st;
}

/* Rows of one table as one matrix, so that ranks can share them: numbers, then codes. */
static kdr_status pack_rows(kdr_context *ctx, const kdri_mixed *t, int64_t table, double **out)
{
	const int64_t p = t->numbers, c = t->categories, n = t->begin[table + 1] - t->begin[table];
	int64_t size;
	KDRI_DO(kdri_mul(ctx, n, p + c, &size));
	KDRI_DO(KDRI_NEW(ctx, out, size));
	for (int64_t i = 0; i < n; i++) {
		double *row = *out + i * (p + c);
		memcpy(row, t->x + (t->begin[table] + i) * p, (size_t)p * sizeof *row);
		for (int64_t j = 0; j < c; j++)
			row[p + j] = t->code[(t->begin[table] + i) * c + j];
	}
	return KDR_OK;
}

static void unpack_rows(const kdr_mat *from, int64_t first, kdri_mixed *t)
{
	const int64_t p = t->numbers, c = t->categories;
	for (int64_t i = 0; i < kdr_mat_rows(from); i++)
		for (int64_t j = 0; j < p + c; j++) {
			double v = kdri_mixed_cell(from, i, j);
			if (j < p)
				t->x[(first + i) * p + j] = v;
			else
				t->code[(first + i) * c + j - p] = (int32_t)v;
		}
}

/* A table of the same columns, with room for n rows, shares and weights copied. */
static kdr_status same_columns(kdr_context *ctx, const kdri_mixed *t, int64_t n, kdri_mixed *out)
{
	const int64_t levels = t->offset[t->categories];
	*out = (kdri_mixed){ .n = n,
		             .tables = t->tables,
		             .centred = t->centred,
		             .numbers = t->numbers,
		             .categories = t->categories };
	KDRI_DO(columns_room(ctx, out));
	KDRI_DO(KDRI_NEW0(ctx, &out->begin, t->tables + 1));
	KDRI_DO(table_room(ctx, out, levels));
	memcpy(out->number_column, t->number_column, (size_t)t->numbers * sizeof *t->number_column);
	memcpy(out->category_column, t->category_column, (size_t)t->categories * sizeof *t->category_column);
	memcpy(out->larger, t->larger, (size_t)t->categories * sizeof *t->larger);
	memcpy(out->levels, t->levels, (size_t)t->categories * sizeof *t->levels);
	memcpy(out->offset, t->offset, (size_t)(t->categories + 1) * sizeof *t->offset);
	memcpy(out->number_weight, t->number_weight, (size_t)t->numbers * sizeof *t->number_weight);
	memcpy(out->category_weight, t->category_weight, (size_t)t->categories * sizeof *t->category_weight);
	memcpy(out->has_number, t->has_number, (size_t)(t->tables * t->numbers) * sizeof *t->has_number);
	memcpy(out->has_category, t->has_category,
	       (size_t)(t->tables * t->categories) * sizeof *t->has_category);
	memcpy(out->share, t->share, (size_t)levels * sizeof *t->share);
	return KDR_OK;
}

kdr_status kdri_mixed_some(kdr_context *ctx, const kdri_mixed *t, int64_t most, kdri_mixed *out, bool *whole)
{
	kdr_status st = KDR_OK;
	kdri_mixed some = { 0 };
	kdri_own taken = { .view = kdr_mat_from_dense(NULL, 0, 0) };
	double *packed = NULL;
	int64_t *rows = NULL, *all = NULL, n = 0;
	KDRI_TRY(KDRI_NEW(ctx, &all, t->tables));
	*whole = true;
	for (int64_t s = 0; s < t->tables; s++) {
		KDRI_TRY(kdri_part(ctx, t->begin[s + 1] - t->begin[s], NULL, &all[s]));
		*whole = *whole && all[s] <= most;
		n += KDRI_MIN(all[s], most);
	}
	if (*whole && !kdri_together(ctx))
		goto done;
	KDRI_TRY(same_columns(ctx, t, n, &some));
	KDRI_TRY(KDRI_NEW(ctx, &rows, KDRI_MAX(n, 1)));
	for (int64_t s = 0; s < t->tables; s++) {
		const int64_t count = KDRI_MIN(all[s], most), width = t->numbers + t->categories;
		for (int64_t i = 0; i < count; i++)
			rows[i] = kdri_chunk_begin(all[s], count, i);
		KDRI_TRY(pack_rows(ctx, t, s, &packed));
		const kdr_mat x = kdr_mat_from_dense(packed, t->begin[s + 1] - t->begin[s], width);
		KDRI_TRY(kdri_mat_take_all(ctx, &x, rows, count, &taken));
		unpack_rows(&taken.view, some.begin[s], &some);
		some.begin[s + 1] = some.begin[s] + count;
		kdri_own_free(ctx, &taken);
		taken.view = kdr_mat_from_dense(NULL, 0, 0);
		kdri_free(ctx, packed);
		packed = NULL;
	}
	*out = some;
	some = (kdri_mixed){ 0 };
done:
	kdri_mixed_free(ctx, &some);
	kdri_own_free(ctx, &taken);
	KDRI_FREE(ctx, packed, rows, all);
	return st;
}
