/* Columns that options name: their specifications, and the columns of all files of a job. SPDX-License-Identifier: BSD-3-Clause
 *
 *   items = item { "," item }
 *   item  = name                 these columns and no others
 *         | "+" name             also this column, although it would be skipped or used as row names
 *         | "-" name             skipped
 *         | ["+"] name ":" kind  of this kind: number, category, date, dmy, mdy, id, text
 *         | "-*"                 columns that are not named are skipped
 *         | "*:number"           columns that are not named are numbers
 *
 * A name with a comma or colon is written in quotes, which are doubled inside; a "?" after the closing quote marks an
 * optional column. A column without a title is named by its number, from 1, or x1, x2, ... */
#include <stdio.h>

#include "core/system.h"
#include "io/table/table.h"

static const struct {
	const char *word;
	int kind;
	unsigned order;
} kinds[] = {
	{ "number", KDR_COLUMN_NUMBER, 0 },
	{ "category", KDR_COLUMN_CATEGORY, 0 },
	{ "date", KDR_COLUMN_DATE, 0 },
	{ "dmy", KDR_COLUMN_DATE, KDRI_DAY_FIRST },
	{ "mdy", KDR_COLUMN_DATE, KDRI_MONTH_FIRST },
	{ "id", KDR_COLUMN_ID, 0 },
	{ "text", KDR_COLUMN_TEXT, 0 },
};

void kdri_column_specs_free(kdr_context *ctx, kdri_column_specs *w)
{
	for (int64_t i = 0; i < w->count; i++)
		kdri_free(ctx, w->items[i].name);
	kdri_free(ctx, w->items);
	*w = (kdri_column_specs){ 0 };
}

/* The name at *p, in quotes or up to a comma or colon. */
static kdr_status take_name(kdr_context *ctx, const char **p, kdri_column_spec *item)
{
	kdr_status st = KDR_OK;
	const char *q = *p;
	if (*q != '"') {
		size_t n = strcspn(q, ",:");
		while (n > 0 && kdri_is_blank(q[n - 1]))
			n--;
		st = kdri_strndup(ctx, q, n, &item->name);
		*p = q + strcspn(q, ",:");
		return st;
	}
	char *to;
	KDRI_TRY(kdri_strdup(ctx, q, &item->name)); /* long enough */
	to = item->name;
	for (q++; *q && (*q != '"' || q[1] == '"'); q++) {
		*to++ = *q;
		q += *q == '"';
	}
	*to = '\0';
	if (*q != '"')
		return kdri_fail(ctx, KDR_ERR_OPTION, "columns: '%.60s': missing closing quote", *p);
	q++;
	item->optional = *q == '?';
	*p = q + item->optional;
done:
	return st;
}

static kdr_status take_kind(kdr_context *ctx, const char **p, kdri_column_spec *item)
{
	size_t n = strcspn(*p, ",");
	for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
		if (strlen(kinds[k].word) == n && memcmp(kinds[k].word, *p, n) == 0) {
			item->kind = kinds[k].kind;
			item->order = kinds[k].order;
			*p += n;
			return KDR_OK;
		}
	return kdri_fail(
	        ctx, KDR_ERR_OPTION,
	        "columns: unknown type '%.*s' of column '%.60s'; use number, category, date, dmy, mdy, id or text",
	        (int)KDRI_MIN(n, 40), *p, item->name);
}

static kdr_status take_item(kdr_context *ctx, const char **p, kdri_column_specs *w)
{
	kdr_status st;
	kdri_column_spec item = { .kind = -1 };
	while (kdri_is_blank(**p))
		(*p)++;
	const char *start = *p;
	item.leave = **p == '-';
	item.keep = **p == '+';
	*p += item.leave || item.keep;
	bool quoted = **p == '"', colon = false;
	KDRI_TRY(take_name(ctx, p, &item));
	if (**p == ':') {
		colon = true;
		(*p)++;
		KDRI_TRY(take_kind(ctx, p, &item));
	}
	if (**p != ',' && **p != '\0') {
		st = kdri_fail(ctx, KDR_ERR_OPTION, "columns: a comma is expected before '%.40s'", *p);
	} else if (!quoted && strcmp(item.name, "*") == 0) {
		w->only = w->only || item.leave;
		w->numbers = w->numbers || (colon && item.kind == KDR_COLUMN_NUMBER);
		if (!item.leave && !(colon && item.kind == KDR_COLUMN_NUMBER))
			st = kdri_fail(
			        ctx, KDR_ERR_OPTION,
			        "columns: '%.20s' is not valid; with *, only -* and *:number are allowed",
			        start);
	} else if (item.name[0] == '\0' && !quoted) {
		st = kdri_fail(ctx, KDR_ERR_OPTION, "columns: '%.40s' has no column name", start);
	} else if (item.leave && colon) {
		st = kdri_fail(ctx, KDR_ERR_OPTION, "columns: '%.40s': a skipped column cannot have a type",
		               start);
	} else {
		w->only = w->only || (!colon && !item.leave && !item.keep);
		w->items[w->count++] = item;
		item.name = NULL;
	}
done:
	kdri_free(ctx, item.name);
	return st;
}

kdr_status kdri_column_specs_read(kdr_context *ctx, const char *text, kdri_column_specs *out)
{
	kdr_status st = KDR_OK;
	int64_t most = 1;
	kdri_column_specs w = { 0 };
	if (!text || !text[0])
		return KDR_OK;
	for (const char *p = text; *p; p++)
		most += *p == ',';
	KDRI_TRY(KDRI_NEW0(ctx, &w.items, most));
	for (const char *p = text;; p++) {
		KDRI_TRY(take_item(ctx, &p, &w));
		if (*p == '\0')
			break;
	}
	*out = w;
	w = (kdri_column_specs){ 0 };
done:
	kdri_column_specs_free(ctx, &w);
	return st;
}

/* Columns that options name, over all files of a job. */

/* --- new names ------------------------------------------------------------------------------------------ */

/* Blanks around a name do not count. */
static void trim(const char **p, size_t *n)
{
	while (*n > 0 && kdri_is_blank(**p)) {
		(*p)++;
		(*n)--;
	}
	while (*n > 0 && kdri_is_blank((*p)[*n - 1]))
		(*n)--;
}

static kdr_status add_pair(kdr_context *ctx, kdri_named *named, const char *old, size_t length,
                           const char *to, size_t to_length, bool listed)
{
	kdr_status st;
	int64_t index, before = named->old.count;
	trim(&old, &length);
	trim(&to, &to_length);
	if (length == 0 || to_length == 0)
		return kdri_fail(ctx, KDR_ERR_OPTION,
		                 "rename: '%.*s=%.*s' is not valid; an old and a new name are needed",
		                 (int)KDRI_MIN(length, 60), old, (int)KDRI_MIN(to_length, 60), to);
	KDRI_TRY(kdri_names_add(ctx, &named->old, old, length, &index));
	if (index < before) {
		const char *other = named->to[index];
		if (strlen(other) != to_length || memcmp(other, to, to_length) != 0)
			st = kdri_fail(ctx, KDR_ERR_OPTION,
			               "rename: column '%.60s' has two new names, '%.60s' and '%.*s'",
			               named->old.names[index], other, (int)KDRI_MIN(to_length, 60), to);
		named->listed[index] = named->listed[index] && listed;
		goto done;
	}
	if (named->old.count > named->room) {
		int64_t room = 2 * named->room + 16;
		KDRI_TRY(KDRI_GROW(ctx, &named->to, room));
		KDRI_TRY(KDRI_GROW(ctx, &named->listed, room));
		KDRI_TRY(KDRI_GROW(ctx, &named->used, room));
		named->room = room;
	}
	named->to[index] = NULL;
	KDRI_TRY(kdri_strndup(ctx, to, to_length, &named->to[index]));
	named->listed[index] = listed;
	named->used[index] = false;
done:
	return st;
}

/* A line of a table of names. */
static kdr_status add_row(kdr_context *ctx, kdri_named *named, const char *path, const char *p,
                          const char *next, int64_t line)
{
	kdr_status st;
	char *old = NULL, *to = NULL;
	kdri_csv_cell a = { 0 }, b = { 0 };
	bool two = false;
	for (const char *c = ",;\t|"; *c && !two; c++) { /* the first that gives two cells */
		if (kdri_csv_row_end(p, next, *c) != next)
			continue; /* a quote that does not close on this line */
		a = kdri_csv_cell_at(p, *c);
		two = *a.stop == *c;
		if (two)
			b = kdri_csv_cell_at(a.stop + 1, *c);
		two = two && *b.stop == '\n';
	}
	if (!two)
		return kdri_fail(ctx, KDR_ERR_FORMAT,
		                 "%s: line %lld: two columns are needed, the old and the new name", path,
		                 (long long)line);
	KDRI_TRY(kdri_csv_text(ctx, &a, &old));
	KDRI_TRY(kdri_csv_text(ctx, &b, &to));
	if (old[0] && to[0]) /* a name without a counterpart */
		KDRI_TRY(add_pair(ctx, named, old, strlen(old), to, strlen(to), true));
done:
	KDRI_FREE(ctx, old, to);
	return st;
}

static kdr_status add_table(kdr_context *ctx, kdri_named *named, const char *path)
{
	kdr_status st;
	kdri_input *in = NULL;
	kdri_window w = { 0 };
	size_t whole;
	KDRI_TRY(kdri_input_open(ctx, path, &in));
	KDRI_TRY(kdri_window_open(ctx, in, &w));
	for (bool first = true;; first = false) {
		KDRI_TRY(kdri_window_lines(ctx, &w, &whole));
		if (whole == 0)
			break;
		const char *p = w.data + w.begin, *end = w.data + whole, *next;
		if (first && end - p > 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0)
			p += 3; /* a byte order mark */
		for (; p < end; p = next) {
			next = (const char *)memchr(p, '\n', (size_t)(end - p)) + 1;
			w.line++;
			if (!kdri_at_newline(kdri_skip_blanks(p)))
				KDRI_TRY(add_row(ctx, named, path, p, next, w.line));
		}
		w.begin = whole;
	}
done:
	kdri_window_close(ctx, &w);
	kdri_input_close(ctx, in);
	return st;
}

/* "Old=new", "\"Old\"=new", or the path of a table of names. */
static kdr_status add_item(kdr_context *ctx, kdri_named *named, const char *item)
{
	kdr_status st;
	kdri_file info;
	char *old = NULL;
	const char *equals = strchr(item, '=');
	if (item[0] != '"' && kdri_file_at(item, &info) && !info.folder)
		return add_table(ctx, named, item);
	if (item[0] == '"') {
		const char *p = item + 1;
		size_t n = 0;
		KDRI_TRY(kdri_strdup(ctx, item, &old)); /* long enough */
		for (; *p && (*p != '"' || p[1] == '"'); p++) {
			old[n++] = *p;
			p += *p == '"';
		}
		equals = *p == '"' && p[1] == '=' ? p + 1 : NULL;
		if (equals)
			KDRI_TRY(add_pair(ctx, named, old, n, equals + 1, strlen(equals + 1), false));
	} else if (equals) {
		KDRI_TRY(add_pair(ctx, named, item, (size_t)(equals - item), equals + 1, strlen(equals + 1),
		                  false));
	}
	st = equals ? KDR_OK
	            : kdri_fail(ctx, KDR_ERR_OPTION,
	                        "rename: '%.80s' is neither OLD=NEW nor a file with two columns", item);
done:
	kdri_free(ctx, old);
	return st;
}

kdr_status kdri_named_begin(kdr_context *ctx, const kdr_read_options *options, bool several, kdri_named *out)
{
	*out = (kdri_named){ .several = several };
	ctx->named = out;
	for (const char *const *item = options->rename; item && *item; item++)
		KDRI_DO(add_item(ctx, out, *item));
	return KDR_OK;
}

void kdri_named_end(kdr_context *ctx, kdri_named *named)
{
	/* A pair whose new name could not be allocated has NULL instead. */
	kdri_strings_free(&ctx->allocator, named->to, KDRI_MIN(named->old.count, named->room));
	kdri_names_free(ctx, &named->old);
	KDRI_FREE(ctx, named->listed, named->used, named->found);
	*named = (kdri_named){ 0 };
	ctx->named = NULL;
}

bool kdri_named_is_old(const kdri_named *named, const char *text, size_t length)
{
	return named && named->old.count > 0 && kdri_names_find_text(&named->old, text, length) >= 0;
}

kdr_status kdri_named_rename(kdr_context *ctx, const char *path, char **names, int64_t count)
{
	kdr_status st = KDR_OK;
	kdri_named *named = ctx->named;
	kdri_names after = { .borrows = true };
	int64_t *first = NULL, index;
	char *copy = NULL;
	if (!named || named->old.count == 0)
		return KDR_OK;
	KDRI_TRY(KDRI_NEW(ctx, &first, count));
	for (int64_t j = 0; j < count; j++) {
		int64_t own = kdri_names_find(&named->old, names[j]), before = after.count;
		const char *name = own >= 0 ? named->to[own] : names[j];
		KDRI_TRY(kdri_names_add(ctx, &after, name, strlen(name), &index));
		if (index == before) {
			first[index] = j;
		} else if (own >= 0 || kdri_names_find(&named->old, names[first[index]]) >= 0) {
			KDRI_FAIL(
			        ctx, KDR_ERR_DATA,
			        "%s: columns '%.60s' and '%.60s' would both be called '%.60s'; give them different new names",
			        path, names[first[index]], names[j], name);
		}
	}
	for (int64_t j = 0; j < count; j++) {
		int64_t own = kdri_names_find(&named->old, names[j]);
		if (own < 0)
			continue;
		KDRI_TRY(kdri_strdup(ctx, named->to[own], &copy));
		kdri_free(ctx, names[j]);
		names[j] = copy;
		named->used[own] = true;
	}
done:
	kdri_names_free(ctx, &after);
	kdri_free(ctx, first);
	return st;
}

/* --- what no file has ----------------------------------------------------------------------------------- */

kdr_status kdri_named_remark(kdr_context *ctx, const kdri_column_specs *specs, const kdri_csv_layout *l,
                             kdr_findings *findings)
{
	const kdri_named *named = ctx->named;
	static const char no_column[] = "there is no column '%.80s'";
	for (int64_t i = 0; i < specs->count; i++)
		if (!specs->items[i].optional && kdri_csv_field(l, specs->items[i].name) < 0)
			KDRI_DO(kdri_finding_add(ctx, findings, 0, false, "--columns has no effect for it",
			                         no_column, specs->items[i].name));
	for (int64_t i = 0; named && i < named->old.count; i++)
		if (!named->listed[i] && !named->used[i])
			KDRI_DO(kdri_finding_add(ctx, findings, 0, false, "--rename has no effect for it",
			                         no_column, named->old.names[i]));
	return KDR_OK;
}

/* Names of columns of all data sets, of the table or of the matrix; to be freed. */
static kdr_status all_columns(kdr_context *ctx, kdr_data *const *sets, int64_t count, const char ***out,
                              int64_t *total)
{
	const char **names = NULL;
	int64_t n = 0;
	for (int64_t t = 0; t < count; t++)
		n += sets[t]->sheet ? sets[t]->sheet->ncolumns : sets[t]->cols;
	KDRI_DO(kdri_calloc(ctx, &names, n, sizeof *names));
	n = 0;
	for (int64_t t = 0; t < count; t++) {
		const kdri_sheet *sheet = sets[t]->sheet;
		for (int64_t j = 0; j < (sheet ? sheet->ncolumns : sets[t]->cols); j++)
			if (sheet || sets[t]->features)
				names[n++] = sheet ? sheet->columns[j].name : sets[t]->features[j];
	}
	*out = names;
	*total = n;
	return KDR_OK;
}

/* The error for a column that no file has, with the nearest names. */
static kdr_status no_file_has(kdr_context *ctx, const char *option, const char *wanted, kdr_data *const *sets,
                              int64_t count)
{
	enum { NEAREST = 3 };
	kdr_status st;
	const char **names = NULL, *nearest[NEAREST];
	char list[240] = "";
	int64_t n = 0;
	size_t found;
	KDRI_TRY(all_columns(ctx, sets, count, &names, &n));
	found = kdr_suggest(wanted, names, (size_t)n, nearest, NEAREST);
	for (size_t i = 0; i < found; i++) {
		bool before = false; /* files share names */
		for (size_t j = 0; j < i; j++)
			before = before || strcmp(nearest[i], nearest[j]) == 0;
		if (!before)
			kdri_list_add(list, sizeof list, "'%.60s'", nearest[i]);
	}
	for (int64_t j = 0; found == 0 && j < n && strlen(list) < 120; j++)
		kdri_list_add(list, sizeof list, "'%.60s'", names[j]);
	st = kdri_fail(ctx, KDR_ERR_DATA, "%s: no file has a column '%.80s'; %s %s%s", option, wanted,
	               found     ? "did you mean"
	               : list[0] ? "the columns are"
	                         : "the columns have no names",
	               list, found ? "?" : "");
done:
	kdri_free(ctx, names);
	return st;
}

kdr_status kdri_named_check(kdr_context *ctx, const kdr_read_options *options, kdr_data *const *sets,
                            int64_t count)
{
	kdr_status st = KDR_OK;
	const kdri_named *named = ctx->named;
	kdri_column_specs specs = { 0 };
	int64_t listed = 0, used = 0;
	if (ctx->comm) /* other processes may have read other files */
		return KDR_OK;
	for (int64_t i = 0; i < named->old.count; i++) {
		listed += named->listed[i];
		used += named->listed[i] && named->used[i];
		if (!named->listed[i] && !named->used[i])
			return no_file_has(ctx, "rename", named->old.names[i], sets, count);
	}
	if (listed > 0 && used == 0)
		return kdri_fail(
		        ctx, KDR_ERR_DATA,
		        "rename: no file has a column with one of the %lld old names, such as '%.80s'",
		        (long long)listed, named->old.names[0]);
	if (listed > 0)
		kdri_message(ctx, "rename: %lld of %lld old names were found", (long long)used,
		             (long long)listed);
	if (!named->found)
		return KDR_OK;
	KDRI_TRY(kdri_column_specs_read(ctx, options->columns, &specs));
	for (int64_t i = 0; i < specs.count && st == KDR_OK; i++)
		if (!named->found[i] && !specs.items[i].optional)
			st = no_file_has(ctx, "columns", specs.items[i].name, sets, count);
done:
	kdri_column_specs_free(ctx, &specs);
	return st;
}
