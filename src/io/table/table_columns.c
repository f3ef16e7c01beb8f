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

/* `given`: from an option, a table or a model. */
static kdr_status add_pair(kdr_context *ctx, kdri_changes *c, const char *old, size_t length, const char *to,
                           size_t to_length, kdri_change_from given)
{
	kdr_status st;
	int64_t index, before = c->old.count;
	const char *at = memchr(old, KDRI_COLUMN_END, length); /* of values: after the column */
	if (c->old.count == c->room) {
		int64_t room = 2 * c->room + 16;
		KDRI_DO(KDRI_GROW(ctx, &c->to, room));
		KDRI_DO(KDRI_GROW(ctx, &c->from, room));
		KDRI_DO(KDRI_GROW(ctx, &c->used, room));
		c->room = room;
	}
	KDRI_TRY(kdri_names_add(ctx, &c->old, old, length, &index));
	if (index < before) {
		const char *other = c->to[index];
		if (given != KDRI_CHANGE_MODEL &&
		    (strlen(other) != to_length || memcmp(other, to, to_length) != 0))
			st = at ? kdri_fail(
			                  ctx, KDR_ERR_OPTION,
			                  "recode: '%.60s' of column '%.*s' has two new values, '%.60s' and '%.*s'",
			                  at + 1, (int)KDRI_MIN(at - old, 60), old, other,
			                  (int)KDRI_MIN(to_length, 60), to)
			        : kdri_fail(ctx, KDR_ERR_OPTION,
			                    "rename: column '%.60s' has two new names, '%.60s' and '%.*s'",
			                    c->old.names[index], other, (int)KDRI_MIN(to_length, 60), to);
		c->from[index] = KDRI_MIN(c->from[index], given);
		goto done;
	}
	c->to[index] = NULL;
	c->from[index] = given;
	c->used[index] = false;
	KDRI_TRY(kdri_strndup(ctx, to, to_length, &c->to[index]));
done:
	return st;
}

static kdr_status add_name(kdr_context *ctx, kdri_named *named, const char *old, size_t length,
                           const char *to, size_t to_length, kdri_change_from given)
{
	trim(&old, &length);
	trim(&to, &to_length);
	if (length == 0 || to_length == 0)
		return kdri_fail(ctx, KDR_ERR_OPTION,
		                 "rename: '%.*s=%.*s' is not valid; an old and a new name are needed",
		                 (int)KDRI_MIN(length, 60), old, (int)KDRI_MIN(to_length, 60), to);
	return add_pair(ctx, &named->names, old, length, to, to_length, given);
}

/* An empty old value stands for empty cells, and an empty new one for a missing value. */
static kdr_status add_value(kdr_context *ctx, kdri_named *named, const char *column, const char *old,
                            const char *to, kdri_change_from given)
{
	char key[KDRI_RECODE_KEY];
	const char *part[3] = { column, old, to };
	size_t n[3];
	for (int i = 0; i < 3; i++) {
		n[i] = strlen(part[i]);
		trim(&part[i], &n[i]);
	}
	if (n[0] == 0 || n[0] > KDRI_COLUMN_LONGEST || n[1] > KDRI_TEXT_LONGEST || n[2] > KDRI_TEXT_LONGEST)
		return kdri_fail(
		        ctx, KDR_ERR_OPTION,
		        "recode: '%.60s:%.60s=%.60s' is not valid; use COLUMN:OLD=NEW with texts of at most %d characters",
		        column, old, to, KDRI_TEXT_LONGEST);
	const int length = snprintf(key, sizeof key, "%.*s%c%.*s", (int)n[0], part[0], KDRI_COLUMN_END,
	                            (int)n[1], part[1]);
	return add_pair(ctx, &named->values, key, (size_t)length, part[2], n[2], given);
}

/* A line of a table of names, or of columns with old and new values. */
static kdr_status add_row(kdr_context *ctx, kdri_named *named, const char *path, const char *p,
                          const char *next, int64_t line, int cells)
{
	kdr_status st = KDR_OK;
	char *text[3] = { NULL, NULL, NULL };
	kdri_csv_cell cell[3] = { { 0 } };
	int found = 0;
	for (const char *c = ",;\t|"; *c && found != cells; c++) { /* the first that gives so many cells */
		if (kdri_csv_row_end(p, next, *c) != next)
			continue; /* a quote that does not close on this line */
		cell[0] = kdri_csv_cell_at(p, *c);
		for (found = 1; found < cells && *cell[found - 1].stop == *c; found++)
			cell[found] = kdri_csv_cell_at(cell[found - 1].stop + 1, *c);
		found = *cell[found - 1].stop == '\n' ? found : 0;
	}
	if (found != cells)
		return kdri_fail(ctx, KDR_ERR_FORMAT, "%s: line %lld: %s", path, (long long)line,
		                 cells == 2 ? "two columns are needed, the old and the new name"
		                            : "three columns are needed: column, old and new value");
	for (int i = 0; i < cells; i++)
		KDRI_TRY(kdri_csv_text(ctx, &cell[i], &text[i]));
	if (cells == 2 && text[0][0] && text[1][0]) /* both, or a name without a counterpart */
		KDRI_TRY(add_name(ctx, named, text[0], strlen(text[0]), text[1], strlen(text[1]),
		                  KDRI_CHANGE_TABLE));
	if (cells == 3 && !(line == 1 && strcmp(text[0], "column") == 0 && strcmp(text[1], "old") == 0))
		KDRI_TRY(add_value(ctx, named, text[0], text[1], text[2], KDRI_CHANGE_TABLE));
done:
	KDRI_FREE(ctx, text[0], text[1], text[2]);
	return st;
}

static kdr_status add_table(kdr_context *ctx, kdri_named *named, const char *path, int cells)
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
				KDRI_TRY(add_row(ctx, named, path, p, next, w.line, cells));
		}
		w.begin = whole;
	}
done:
	kdri_window_close(ctx, &w);
	kdri_input_close(ctx, in);
	return st;
}

/* The text up to `stop`, or in quotes, which are doubled inside, and before `stop`. Returns what follows `stop`; NULL: it is not there. */
static const char *take_part(const char *p, char stop, char *out)
{
	if (*p != '"') {
		const char *end = strchr(p, stop);
		if (end) {
			memcpy(out, p, (size_t)(end - p));
			out[end - p] = '\0';
		}
		return end ? end + 1 : NULL;
	}
	for (p++; *p && (*p != '"' || p[1] == '"'); p++) {
		*out++ = *p;
		p += *p == '"';
	}
	*out = '\0';
	return *p == '"' && p[1] == stop ? p + 2 : NULL;
}

/* "Old=new" or "Column:old=new" with or without quotes, or the path of a table. */
static kdr_status add_item(kdr_context *ctx, kdri_named *named, const char *item, bool value,
                           kdri_change_from given)
{
	kdr_status st = KDR_OK;
	kdri_file info;
	char *column = NULL, *old = NULL;
	const char *rest = item;
	if (item[0] != '"' && given == KDRI_CHANGE_OPTION && kdri_file_at(item, &info) && !info.folder)
		return add_table(ctx, named, item, value ? 3 : 2);
	KDRI_TRY(kdri_strdup(ctx, item, &column)); /* long enough */
	KDRI_TRY(kdri_strdup(ctx, item, &old));
	if (value)
		rest = take_part(rest, ':', column);
	rest = rest ? take_part(rest, '=', old) : NULL;
	if (!rest)
		st = kdri_fail(
		        ctx, KDR_ERR_OPTION,
		        value ? "recode: '%.80s' is neither COLUMN:OLD=NEW nor a file with three columns"
		              : "rename: '%.80s' is neither OLD=NEW nor a file with two columns",
		        item);
	else if (value)
		st = add_value(ctx, named, column, old, rest, given);
	else
		st = add_name(ctx, named, old, strlen(old), rest, strlen(rest), given);
done:
	KDRI_FREE(ctx, column, old);
	return st;
}

static kdr_status add_items(kdr_context *ctx, kdri_named *named, const char *const *items, bool value,
                            kdri_change_from given)
{
	for (; items && *items; items++)
		KDRI_DO(add_item(ctx, named, *items, value, given));
	return KDR_OK;
}

kdr_status kdri_named_begin(kdr_context *ctx, const kdr_read_options *options, bool several, kdri_named *out)
{
	*out = (kdri_named){ .several = several };
	ctx->named = out;
	KDRI_DO(add_items(ctx, out, options->rename, false, KDRI_CHANGE_OPTION));
	KDRI_DO(add_items(ctx, out, options->recode, true, KDRI_CHANGE_OPTION));
	KDRI_DO(add_items(ctx, out, options->model_rename, false, KDRI_CHANGE_MODEL));
	return add_items(ctx, out, options->model_recode, true, KDRI_CHANGE_MODEL);
}

static void changes_free(kdr_context *ctx, kdri_changes *c)
{
	/* A change whose new text could not be allocated has NULL instead. */
	kdri_strings_free(&ctx->allocator, c->to, KDRI_MIN(c->old.count, c->room));
	kdri_names_free(ctx, &c->old);
	KDRI_FREE(ctx, c->from, c->used);
}

void kdri_named_end(kdr_context *ctx, kdri_named *named)
{
	changes_free(ctx, &named->names);
	changes_free(ctx, &named->values);
	kdri_free(ctx, named->found);
	*named = (kdri_named){ 0 };
	ctx->named = NULL;
}

bool kdri_named_is_old(const kdri_named *named, const char *text, size_t length)
{
	return named && named->names.old.count > 0 &&
	       kdri_names_find_text(&named->names.old, text, length) >= 0;
}

/* "\"Old\"=new" or "\"Column\":\"old\"=new", as options have them. */
static kdr_status quote_change(kdr_context *ctx, const kdri_changes *c, int64_t i, char **out)
{
	const char *old = c->old.names[i];
	char *text = NULL, *q;
	KDRI_DO(KDRI_NEW(ctx, &text, 2 * (int64_t)strlen(old) + (int64_t)strlen(c->to[i]) + 8));
	q = text;
	*q++ = '"';
	for (const char *p = old; *p; p++) {
		if (*p == KDRI_COLUMN_END) {
			*q++ = '"';
			*q++ = ':';
			*q++ = '"';
			continue;
		}
		if (*p == '"')
			*q++ = '"';
		*q++ = *p;
	}
	*q++ = '"';
	*q++ = '=';
	memcpy(q, c->to[i], strlen(c->to[i]) + 1);
	*out = text;
	return KDR_OK;
}

static kdr_status keep_changes(kdr_context *ctx, const kdri_changes *c, char ***out, int64_t *count)
{
	KDRI_DO(KDRI_NEW0(ctx, out, c->old.count + 1));
	for (int64_t i = 0; i < c->old.count; i++) {
		KDRI_DO(quote_change(ctx, c, i, &(*out)[i]));
		*count = i + 1;
	}
	return KDR_OK;
}

kdr_status kdri_named_keep(kdr_context *ctx, kdri_sheet *s)
{
	if (!ctx->named)
		return KDR_OK;
	KDRI_DO(keep_changes(ctx, &ctx->named->names, &s->rename, &s->nrename));
	return keep_changes(ctx, &ctx->named->values, &s->recode, &s->nrecode);
}

/* --- new values ----------------------------------------------------------------------------------------- */

kdr_status kdri_recode_begin(kdr_context *ctx, kdri_csv_layout *l)
{
	kdri_changes *c = ctx->named ? &ctx->named->values : NULL;
	char column[KDRI_COLUMN_LONGEST + 1];
	for (int64_t i = 0; c && i < c->old.count; i++) {
		const char *old = c->old.names[i];
		const size_t n = strcspn(old, (char[]){ KDRI_COLUMN_END, '\0' });
		memcpy(column, old, n);
		column[n] = '\0';
		const int64_t field = kdri_csv_field(l, column);
		if (field < 0)
			continue;
		if (!l->recoded)
			KDRI_DO(KDRI_NEW0(ctx, &l->recoded, l->fields));
		l->recoded[field] = old;
		l->changes = c;
		l->na_numbers = true;
	}
	return KDR_OK;
}

int64_t kdri_cell_recode(const kdri_csv_layout *l, int64_t field, kdri_csv_cell *cell)
{
	char key[KDRI_RECODE_KEY];
	if (!l->recoded || !l->recoded[field])
		return -1;
	const size_t n = strcspn(l->recoded[field], (char[]){ KDRI_COLUMN_END, '\0' }) + 1;
	memcpy(key, l->recoded[field], n);
	const size_t m = kdri_csv_copy(cell, key + n, KDRI_TEXT_LONGEST + 1);
	const int64_t at = kdri_names_find_text(&l->changes->old, key, n + m);
	if (at >= 0) {
		cell->begin = l->changes->to[at];
		cell->end = cell->begin + strlen(cell->begin);
		cell->quoted = false;
	}
	return at;
}

kdr_status kdri_named_rename(kdr_context *ctx, const char *path, char **names, int64_t count)
{
	kdr_status st = KDR_OK;
	kdri_named *named = ctx->named;
	kdri_names after = { .borrows = true };
	int64_t *first = NULL, index;
	char *copy = NULL;
	if (!named || named->names.old.count == 0)
		return KDR_OK;
	KDRI_TRY(KDRI_NEW(ctx, &first, count));
	for (int64_t j = 0; j < count; j++) {
		int64_t own = kdri_names_find(&named->names.old, names[j]), before = after.count;
		const char *name = own >= 0 ? named->names.to[own] : names[j];
		KDRI_TRY(kdri_names_add(ctx, &after, name, strlen(name), &index));
		if (index == before) {
			first[index] = j;
		} else if (own >= 0 || kdri_names_find(&named->names.old, names[first[index]]) >= 0) {
			KDRI_FAIL(
			        ctx, KDR_ERR_DATA,
			        "%s: columns '%.60s' and '%.60s' would both be called '%.60s'; give them different new names",
			        path, names[first[index]], names[j], name);
		}
	}
	for (int64_t j = 0; j < count; j++) {
		int64_t own = kdri_names_find(&named->names.old, names[j]);
		if (own < 0)
			continue;
		KDRI_TRY(kdri_strdup(ctx, named->names.to[own], &copy));
		kdri_free(ctx, names[j]);
		names[j] = copy;
		named->names.used[own] = true;
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
	for (int64_t i = 0; named && i < named->names.old.count; i++)
		if (named->names.from[i] == KDRI_CHANGE_OPTION && !named->names.used[i])
			KDRI_DO(kdri_finding_add(ctx, findings, 0, false, "--rename has no effect for it",
			                         no_column, named->names.old.names[i]));
	for (int64_t i = 0; named && i < named->values.old.count; i++)
		if (named->values.from[i] == KDRI_CHANGE_OPTION && !named->values.used[i]) {
			const char *old = named->values.old.names[i];
			const int n = (int)strcspn(old, (char[]){ KDRI_COLUMN_END, '\0' });
			KDRI_DO(kdri_finding_add(ctx, findings, 0, false, "--recode has no effect for it",
			                         "no cell of a column '%.*s' is '%.80s'", n, old,
			                         old + n + 1));
		}
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

/* The error for a value that no cell has, or its column. */
static kdr_status no_file_has_value(kdr_context *ctx, const char *key, kdr_data *const *sets, int64_t count)
{
	char column[KDRI_COLUMN_LONGEST + 1];
	const size_t n = strcspn(key, (char[]){ KDRI_COLUMN_END, '\0' });
	memcpy(column, key, n);
	column[n] = '\0';
	for (int64_t t = 0; t < count; t++)
		for (int64_t j = 0; sets[t]->sheet && j < sets[t]->sheet->ncolumns; j++)
			if (strcmp(sets[t]->sheet->columns[j].name, column) == 0)
				return kdri_fail(
				        ctx, KDR_ERR_DATA,
				        "recode: no cell of column '%.60s' is '%.60s'; write the old value as in the file",
				        column, key + n + 1);
	return no_file_has(ctx, "recode", column, sets, count);
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
	for (int64_t i = 0; i < named->names.old.count; i++) {
		listed += named->names.from[i] == KDRI_CHANGE_TABLE;
		used += named->names.from[i] == KDRI_CHANGE_TABLE && named->names.used[i];
		if (named->names.from[i] == KDRI_CHANGE_OPTION && !named->names.used[i])
			return no_file_has(ctx, "rename", named->names.old.names[i], sets, count);
	}
	if (listed > 0 && used == 0)
		return kdri_fail(
		        ctx, KDR_ERR_DATA,
		        "rename: no file has a column with one of the %lld old names, such as '%.80s'",
		        (long long)listed, named->names.old.names[0]);
	if (listed > 0)
		kdri_message(ctx, "rename: %lld of %lld old names were found", (long long)used,
		             (long long)listed);
	for (int64_t i = 0; i < named->values.old.count; i++)
		if (named->values.from[i] == KDRI_CHANGE_OPTION && !named->values.used[i])
			return no_file_has_value(ctx, named->values.old.names[i], sets, count);
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
