/* Columns of tables in preprocessing. SPDX-License-Identifier: BSD-3-Clause
 *
 * Data sets that were read from tables keep a description of their columns (kdri_sheet). This file makes several data
 * sets, and new samples later, consistent:
 *
 *   dates       days since the first date of all data sets: features are shifted as rows are loaded
 *   categories  a category of m texts is m features; together they should have the weight of one number. With p_c the
 *               proportion of text c, their variances add up to sum_c p_c (1 - p_c) =: v, and all are scaled by one
 *               divisor:
 *                 standard        sqrt(v): their variances add up to 1                                          (E1)
 *                 minmax, none    sqrt(2): rows of different texts are 1 apart, as the ends of a range are      (E2)
 *   constants   if some column is not a number, features with one value in all data sets are skipped
 *   holes       a column that one data set skips because of missing values is skipped in all; the replacements for
 *               missing values are stored for each data set and used for new samples
 *   reading     the kinds of columns, in the form of kdr_read_options.columns, for tables of new samples */
#include "comm/comm.h"
#include "prepare/prep.h"

#include <stdio.h>

/* The column of the table that feature j was; NULL: none. */
static const kdr_column *source_of(const kdr_data *d, int64_t j)
{
	return d->sheet && d->sheet->source ? &d->sheet->columns[d->sheet->source[j]] : NULL;
}

bool kdri_data_mixed(const kdr_data *d, bool text)
{
	for (int64_t c = 0; d->sheet && d->sheet->source && c < d->sheet->ncolumns; c++) {
		kdr_column_kind kind = d->sheet->columns[c].kind;
		if (kind == KDR_COLUMN_CATEGORY || kind == KDR_COLUMN_DATE ||
		    (text && kind == KDR_COLUMN_TEXT))
			return true;
	}
	return false;
}

/* --- skipped columns ---------------------------------------------------------------------------- */

/* Whether feature j has one value, and that is *value where one is known. */
static bool one_value(const kdr_data *d, int64_t j, bool *known, double *value)
{
	if (d->kind != KDR_MAT_DENSE)
		return false;
	for (int64_t i = 0; i < d->rows; i++) {
		double x = d->dense[i * d->cols + j];
		if (isnan(x)) /* missing values stay */
			continue;
		if (!*known)
			*value = x;
		*known = true;
		if (x != *value)
			return false;
	}
	return true;
}

/* The same of the rows of all ranks: a column varies where it does on one of them, or where their values differ. */
static kdr_status join_values(kdr_context *ctx, int64_t cols, bool *varies, const bool *known, double *value)
{
	kdr_status st;
	double *ends = NULL; /* the largest value, the least, and whether it varies, of each column */
	if (!kdri_together(ctx))
		return KDR_OK;
	KDRI_TRY(KDRI_NEW(ctx, &ends, 3 * cols));
	for (int64_t u = 0; u < cols; u++) {
		ends[3 * u] = known[u] ? value[u] : -INFINITY;
		ends[3 * u + 1] = known[u] ? -value[u] : -INFINITY;
		ends[3 * u + 2] = varies[u];
	}
	KDRI_TRY(kdri_max(ctx, ends, 3 * cols));
	for (int64_t u = 0; u < cols; u++) {
		varies[u] = ends[3 * u + 2] > 0 || ends[3 * u] != -ends[3 * u + 1];
		value[u] = isfinite(ends[3 * u]) ? ends[3 * u] : 0;
	}
done:
	kdri_free(ctx, ends);
	return st;
}

/* Whether --columns names the category that aligned column u is a text of, and some task has only other texts of it. */
static bool asked_level(kdr_data *const *tasks, int64_t count, const kdri_columns *columns, const char *name,
                        int64_t u)
{
	for (int64_t t = 0; t < count; t++) {
		const kdri_sheet *sheet = tasks[t]->sheet;
		const int64_t c = kdri_category_of(tasks[t], name);
		if (c >= 0 && sheet->asked && sheet->asked[c] &&
		    !kdri_has_column(&columns[t], tasks[t]->cols, u))
			return true;
	}
	return false;
}

/* Marks aligned columns with one value in all tasks. */
static kdr_status mark_constants(kdr_context *ctx, const kdr_prep *prep, kdr_data *const *tasks,
                                 int64_t count, const kdri_columns *columns, bool *drop)
{
	kdr_status st;
	bool *varies = NULL, *known = NULL, mixed = false, left = false;
	double *value = NULL;
	int64_t *with = NULL;
	for (int64_t t = 0; t < count; t++)
		mixed = mixed || kdri_data_mixed(tasks[t], true);
	KDRI_TRY(kdri_any(
	        ctx,
	        &mixed)); /* of ranks with files of their own one may have texts where another has none */
	if (!mixed)
		goto done;
	KDRI_TRY(KDRI_NEW0(ctx, &varies, prep->cols));
	KDRI_TRY(KDRI_NEW0(ctx, &known, prep->cols));
	KDRI_TRY(KDRI_NEW0(ctx, &value, prep->cols));
	KDRI_TRY(KDRI_NEW0(ctx, &with, prep->cols));
	for (int64_t t = 0; t < count; t++)
		for (int64_t j = 0; j < tasks[t]->cols; j++) {
			int64_t u = columns[t].to[j];
			if (u < 0)
				continue;
			with[u]++;
			varies[u] = varies[u] || !source_of(tasks[t], j) ||
			            !one_value(tasks[t], j, &known[u], &value[u]);
		}
	KDRI_TRY(join_values(ctx, prep->cols, varies, known, value));
	for (int64_t u = 0; u < prep->cols; u++) {
		/* A task without the column has zeros instead or, with scale table, missing values. */
		varies[u] = varies[u] ||
		            (with[u] < count && value[u] != 0 &&
		             (prep->options.scale != KDR_SCALE_TABLE ||
		              (prep->names && asked_level(tasks, count, columns, prep->names[u], u))));
		left = left || (varies[u] && !drop[u]);
	}
	for (int64_t u = 0; u < prep->cols && left; u++)
		drop[u] = drop[u] || !varies[u];
done:
	KDRI_FREE(ctx, varies, known, value, with);
	return st;
}

static kdr_status leave_out(kdr_context *ctx, kdr_prep *prep, kdr_data *const *tasks, int64_t count,
                            kdri_columns *columns)
{
	kdr_status st;
	bool *drop = NULL;
	int64_t *number = NULL, kept = 0, old = prep->cols;
	KDRI_TRY(KDRI_NEW0(ctx, &drop, old));
	KDRI_TRY(KDRI_NEW(ctx, &number, old));
	/* Marks the columns that some task skipped because of missing values. */
	for (int64_t t = 0; t < count && prep->names; t++) {
		const kdri_sheet *s = tasks[t]->sheet;
		if (!s || !s->missing || strcmp(s->missing, "drop-column") != 0)
			continue;
		for (int64_t c = 0; c < s->ncolumns; c++) {
			size_t n = strlen(s->columns[c].name);
			if (s->columns[c].kind != KDR_COLUMN_LEFT_OUT || s->columns[c].missing == 0)
				continue;
			for (int64_t u = 0; u < prep->cols; u++)
				drop[u] =
				        drop[u] || (strncmp(prep->names[u], s->columns[c].name, n) == 0 &&
				                    (prep->names[u][n] == '\0' || prep->names[u][n] == '='));
		}
	}
	KDRI_TRY(mark_constants(ctx, prep, tasks, count, columns, drop));
	KDRI_TRY(kdri_apart_mark(ctx, prep, tasks, count, columns, drop));
	for (int64_t u = 0; u < old; u++)
		number[u] = drop[u] ? -1 : kept++;
	if (kept == old)
		goto done;
	if (kept == 0)
		KDRI_FAIL(
		        ctx, KDR_ERR_DATA,
		        "every column has missing values in some data set; use --missing mean or zero to fill them");
	for (int64_t u = 0; u < old && prep->names; u++)
		if (drop[u])
			kdri_free(ctx, prep->names[u]);
		else
			prep->names[number[u]] = prep->names[u];
	prep->cols = kept;
	for (int64_t t = 0; t < count; t++) {
		for (int64_t j = 0; j < tasks[t]->cols; j++)
			columns[t].to[j] = columns[t].to[j] < 0 ? -1 : number[columns[t].to[j]];
		kdri_columns_order(&columns[t], tasks[t]->cols, prep->cols);
	}
done:
	KDRI_FREE(ctx, drop, number);
	return st;
}

/* --- what tasks agree on ------------------------------------------------------------------------------------ */

/* The first aligned column of each category, and the day that dates are counted from. */
static kdr_status find_groups(kdr_context *ctx, kdr_prep *prep, kdr_data *const *tasks, int64_t count,
                              const kdri_columns *columns)
{
	kdr_status st = KDR_OK;
	int64_t *leader = NULL, most = 0;
	kdri_names names = { .borrows = true };
	bool categories = false, dates = false;
	for (int64_t t = 0; t < count; t++)
		for (int64_t j = 0; j < tasks[t]->cols && tasks[t]->sheet; j++) {
			const kdr_column *c = source_of(tasks[t], j);
			most += c != NULL; /* aligned by position, each task may have its own name for it */
			categories = categories || (c && c->kind == KDR_COLUMN_CATEGORY);
			dates = dates || (c && c->kind == KDR_COLUMN_DATE);
		}
	if (!categories && !dates)
		return KDR_OK;
	KDRI_TRY(KDRI_NEW(ctx, &prep->group, prep->cols));
	KDRI_TRY(KDRI_NEW0(ctx, &prep->origin, prep->cols));
	KDRI_TRY(KDRI_NEW(ctx, &leader, most));
	for (int64_t u = 0; u < prep->cols; u++) {
		prep->group[u] = -1;
		prep->origin[u] = INFINITY;
	}
	for (int64_t i = 0; i < most; i++)
		leader[i] = -1;
	for (int64_t t = 0; t < count; t++)
		for (int64_t j = 0; j < tasks[t]->cols; j++) {
			const kdr_column *c = source_of(tasks[t], j);
			int64_t u = columns[t].to[j], index;
			if (u < 0 || !c)
				continue;
			if (c->kind == KDR_COLUMN_DATE)
				prep->origin[u] = KDRI_MIN(
				        prep->origin[u], tasks[t]->sheet->origin[tasks[t]->sheet->source[j]]);
			if (c->kind != KDR_COLUMN_CATEGORY)
				continue;
			KDRI_TRY(kdri_names_add(ctx, &names, c->name, strlen(c->name), &index));
			if (leader[index] < 0)
				leader[index] = u;
			prep->group[u] = leader[index];
		}
	for (int64_t u = 0; u < prep->cols; u++)
		prep->origin[u] = isfinite(prep->origin[u]) ? prep->origin[u] : 0;
done:
	kdri_names_free(ctx, &names);
	kdri_free(ctx, leader);
	return st;
}

kdr_status kdri_kinds_shift(kdr_context *ctx, const kdr_prep *prep, const kdr_data *d, kdri_columns *columns)
{
	bool any = false;
	if (!prep->origin || !d->sheet || !d->sheet->source)
		return KDR_OK;
	KDRI_DO(KDRI_NEW0(ctx, &columns->shift, d->cols));
	for (int64_t j = 0; j < d->cols; j++) {
		const kdr_column *c = source_of(d, j);
		if (columns->to[j] < 0 || c->kind != KDR_COLUMN_DATE)
			continue;
		columns->shift[j] = d->sheet->origin[d->sheet->source[j]] - prep->origin[columns->to[j]];
		any = any || columns->shift[j] != 0;
	}
	if (any) {
		columns->identity = false; /* values change */
	} else {
		kdri_free(ctx, columns->shift);
		columns->shift = NULL;
	}
	return KDR_OK;
}

/* What fills the holes of each task. */
static kdr_status keep_fills(kdr_context *ctx, kdr_prep *prep, kdr_data *const *tasks, int64_t count,
                             const kdri_columns *columns)
{
	int64_t size;
	bool any = false;
	for (int64_t t = 0; t < count; t++)
		any = any || (tasks[t]->sheet && tasks[t]->sheet->fill && tasks[t]->sheet->source);
	if (!any)
		return KDR_OK;
	KDRI_DO(kdri_mul(ctx, count, prep->cols, &size));
	KDRI_DO(KDRI_NEW0(ctx, &prep->fill, size));
	for (int64_t t = 0; t < count; t++) {
		const kdri_sheet *s = tasks[t]->sheet;
		for (int64_t j = 0; s && s->fill && s->source && j < tasks[t]->cols; j++)
			if (columns[t].to[j] >= 0)
				prep->fill[t * prep->cols + columns[t].to[j]] =
				        s->fill[j] + (columns[t].shift ? columns[t].shift[j] : 0);
	}
	return KDR_OK;
}

kdr_status kdri_kinds_refill(kdr_context *ctx, const kdr_prep *prep, int64_t task,
                             const kdri_columns *columns, kdr_data *d)
{
	const kdri_sheet *s = d->sheet;
	if (!prep->fill || !s || !s->source || s->nholes == 0 || d->kind != KDR_MAT_DENSE || task < 0 ||
	    task >= prep->tasks)
		return KDR_OK;
	kdr_status st = kdri_data_own(ctx, d);
	for (int64_t h = 0; h < s->nholes && st == KDR_OK; h++) {
		int64_t j = s->hole_feature[h], u = columns->to[j];
		if (u >= 0) /* the shift of a date is added as the row is loaded */
			d->dense[s->hole_row[h] * d->cols + j] =
			        prep->fill[task * prep->cols + u] - (columns->shift ? columns->shift[j] : 0);
	}
	return st;
}

/* Dates are counted from the day that all tasks share. Columns that are left out get the reason. */
kdr_status kdri_kinds_since(kdr_context *ctx, const kdr_prep *prep, const kdr_data *d, kdri_columns *columns)
{
	const kdri_sheet *s = d->sheet;
	if (!s || !s->source || (!prep->origin && !columns->apart))
		return KDR_OK;
	KDRI_DO(KDRI_NEW0(ctx, &columns->since, s->nfeatures));
	columns->nsince = s->nfeatures;
	for (int64_t j = 0; j < s->nfeatures; j++) {
		char text[64];
		if (columns->apart && columns->apart[j]) {
			KDRI_DO(kdri_strdup(ctx, "it distinguishes the data sets", &columns->since[j]));
			continue;
		}
		if (!prep->origin || columns->to[j] < 0 || s->columns[s->source[j]].kind != KDR_COLUMN_DATE)
			continue;
		kdri_days_text(prep->origin[columns->to[j]], text, sizeof text);
		KDRI_DO(kdri_strdup(ctx, text, &columns->since[j]));
	}
	return KDR_OK;
}

static void move_origin(const kdr_prep *prep, const kdri_columns *columns, int64_t j, kdr_data *d)
{
	kdri_sheet *s = d->sheet;
	kdr_column *c = &s->columns[s->source[j]];
	if (!columns->since || !columns->since[j])
		return;
	if (prep->origin && columns->to[j] >= 0)
		s->origin[s->source[j]] = prep->origin[columns->to[j]];
	kdri_free_with(&d->allocator, (char *)c->why);
	c->why = columns->since[j];
	columns->since[j] = NULL;
}

void kdri_kinds_done(const kdr_prep *prep, const kdri_columns *columns, kdr_data *d)
{
	kdri_sheet *s = d->sheet;
	if (!s || !s->source)
		return;
	for (int64_t c = 0; c < s->ncolumns; c++)
		s->columns[c].features = 0;
	for (int64_t j = 0; j < s->nfeatures; j++) {
		s->columns[s->source[j]].features += columns->to[j] >= 0;
		move_origin(prep, columns, j, d);
	}
	kdri_free_with(&d->allocator, s->source);
	s->source = NULL; /* features have moved */
}

/* --- reading new samples ------------------------------------------------------------------------------------- */

enum { LISTED_MOST = 4096 };

typedef struct words {
	char *bytes;
	int64_t used, room;
} words;

static kdr_status kinds_put(kdr_context *ctx, words *to, const char *bytes, size_t n)
{
	KDRI_DO(KDRI_ROOM(ctx, &to->bytes, &to->room, to->used + (int64_t)n + 1));
	memcpy(to->bytes + to->used, bytes, n);
	to->used += (int64_t)n;
	to->bytes[to->used] = '\0';
	return KDR_OK;
}

/* `"city"?:category,` */
static kdr_status put_column(kdr_context *ctx, words *to, const kdri_sheet *s, int64_t c)
{
	static const char *const kinds[] = {
		[KDR_COLUMN_NUMBER] = ":number", [KDR_COLUMN_CATEGORY] = ":category",
		[KDR_COLUMN_DATE] = ":date",     [KDR_COLUMN_ID] = ":id",
		[KDR_COLUMN_LABEL] = ":text",    [KDR_COLUMN_TEXT] = ":text",
		[KDR_COLUMN_EMPTY] = "",         [KDR_COLUMN_LEFT_OUT] = "",
	};
	const char *name = s->columns[c].name, *kind = kinds[s->columns[c].kind];
	if (s->columns[c].kind == KDR_COLUMN_DATE && s->order[c] != 0)
		kind = s->order[c] == 1 ? ":dmy" : ":mdy";
	if (kind[0] == '\0')
		KDRI_DO(kinds_put(ctx, to, "-", 1));
	KDRI_DO(kinds_put(ctx, to, "\"", 1));
	for (const char *p = name; *p; p++)
		KDRI_DO(kinds_put(ctx, to, *p == '"' ? "\"\"" : p, *p == '"' ? 2 : 1));
	KDRI_DO(kinds_put(ctx, to, "\"?", 2));
	KDRI_DO(kinds_put(ctx, to, kind, strlen(kind)));
	return kinds_put(ctx, to, ",", 1);
}

/* What the columns of all tasks are: of several with one name the first counts. */
static kdr_status keep_reading(kdr_context *ctx, kdr_prep *prep, kdr_data *const *tasks, int64_t count)
{
	kdr_status st = KDR_OK;
	kdri_names seen = { .borrows = true };
	words spec = { 0 };
	bool any = false, plain = true;
	const kdri_sheet *first = NULL;
	int64_t index;
	for (int64_t t = 0; t < count; t++) {
		const kdri_sheet *s = tasks[t]->sheet;
		if (tasks[t]->texts && !prep->reading_texts)
			KDRI_TRY(kdri_strdup(ctx, tasks[t]->texts, &prep->reading_texts));
		if (!prep->vectors)
			prep->vectors = kdri_vectors_share(tasks[t]->vectors);
		first = first ? first : s;
		any = any || s;
		plain = plain && !kdri_data_mixed(tasks[t], true);
		for (int64_t c = 0; s && c < s->ncolumns && s->ncolumns <= LISTED_MOST; c++)
			plain = plain && s->columns[c].kind == KDR_COLUMN_NUMBER;
	}
	if (!any)
		goto done;
	for (int64_t t = 0; t < count; t++) {
		const kdri_sheet *s = tasks[t]->sheet;
		for (int64_t c = 0; s && c < s->ncolumns; c++) {
			int64_t before = seen.count;
			if (s->columns[c].kind == KDR_COLUMN_NUMBER && plain)
				continue;
			KDRI_TRY(kdri_names_add(ctx, &seen, s->columns[c].name, strlen(s->columns[c].name),
			                        &index));
			if (index == before)
				KDRI_TRY(put_column(ctx, &spec, s, c));
		}
	}
	KDRI_TRY(plain ? kinds_put(ctx, &spec, "*:number", 8) : kinds_put(ctx, &spec, "-*", 2));
	prep->reading_columns = spec.bytes;
	spec.bytes = NULL;
	if (first->missing)
		KDRI_TRY(kdri_strdup(ctx, first->missing, &prep->reading_missing));
	KDRI_TRY(kdri_strings_copy(ctx, first->na, first->nna, &prep->reading_na));
	prep->reading_nna = first->nna;
	KDRI_TRY(kdri_strings_copy(ctx, first->rename, first->nrename, &prep->reading_rename));
	prep->reading_nrename = first->nrename;
	KDRI_TRY(kdri_strings_copy(ctx, first->recode, first->nrecode, &prep->reading_recode));
	prep->reading_nrecode = first->nrecode;
done:
	kdri_free(ctx, spec.bytes);
	kdri_names_free(ctx, &seen);
	return st;
}

kdr_status kdri_kinds_fit(kdr_context *ctx, kdr_prep *prep, kdr_data *const *tasks, int64_t count,
                          kdri_columns *columns)
{
	KDRI_DO(leave_out(ctx, prep, tasks, count, columns));
	KDRI_DO(find_groups(ctx, prep, tasks, count, columns));
	KDRI_DO(kdri_table_order(ctx, prep, tasks, count, columns));
	for (int64_t t = 0; t < count; t++)
		KDRI_DO(kdri_kinds_shift(ctx, prep, tasks[t], &columns[t]));
	KDRI_DO(keep_fills(ctx, prep, tasks, count, columns));
	return keep_reading(ctx, prep, tasks, count);
}
