/* Column specifications: the option --columns. SPDX-License-Identifier: BSD-3-Clause
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
