/* Notes on how a table's columns were interpreted, one line each. SPDX-License-Identifier: BSD-3-Clause
 *
 * There is no note for plain numbers. More than LINES columns of a kind share one line. */
#include "core/internal.h"

#include <stdio.h>

enum { LINES = 4, NAMES = 6 };

typedef enum note {
	NOTE_NONE,
	NOTE_ID,
	NOTE_CATEGORY,
	NOTE_DATE,
	NOTE_NUMBER,
	NOTE_CONSTANT,
	NOTE_TEXT,
	NOTE_LEFT_OUT
} note;

static const struct {
	const char *what, *hint; /* * stands for the column */
} notes[] = {
	[NOTE_ID] = { "row names", "; use --columns '+*' to make it a feature" },
	[NOTE_CATEGORY] = { "category", "" },
	[NOTE_DATE] = { "date", "" },
	[NOTE_NUMBER] = { "number", "" },
	[NOTE_CONSTANT] = { "constant, skipped", "" },
	[NOTE_TEXT] = { "text, skipped",
	                "; use --text-column '*' to compare its words instead, or --columns '*:category' to keep it" },
	[NOTE_LEFT_OUT] = { "skipped", "" },
};

static note note_of(const kdr_column *c)
{
	switch (c->kind) {
	case KDR_COLUMN_ID: return c->why[0] ? NOTE_ID : NOTE_NONE; /* specified, or without a title */
	case KDR_COLUMN_TEXT: return NOTE_TEXT;
	case KDR_COLUMN_EMPTY:
	case KDR_COLUMN_LEFT_OUT: return NOTE_LEFT_OUT;
	case KDR_COLUMN_LABEL: return NOTE_NONE;
	default: break;
	}
	if (c->features == 0)
		return c->constant ? NOTE_CONSTANT : NOTE_LEFT_OUT;
	return c->kind == KDR_COLUMN_CATEGORY ? NOTE_CATEGORY
	       : c->kind == KDR_COLUMN_DATE   ? NOTE_DATE
	       : c->why[0]                    ? NOTE_NUMBER
	                                      : NOTE_NONE;
}

static kdr_status sheet_notes_add(kdr_context *ctx, const char *text, char ***list, int64_t *count)
{
	kdr_status st = kdri_strings_append(ctx, list, count, text);
	if (st == KDR_OK)
		kdri_one_line((*list)[*count - 1]);
	return st;
}

/* The columns with one note: one line each, or one for all. */
static kdr_status add_columns(kdr_context *ctx, const kdri_sheet *s, note which, char ***list, int64_t *count)
{
	int64_t found = 0, listed = 0;
	char text[480], names[300] = "";
	for (int64_t c = 0; c < s->ncolumns; c++)
		found += note_of(&s->columns[c]) == which;
	for (int64_t c = 0; c < s->ncolumns && found > 0; c++) {
		const kdr_column *x = &s->columns[c];
		if (note_of(x) != which)
			continue;
		if (found > LINES) {
			if (listed < NAMES && strlen(names) + 44 < sizeof names) {
				kdri_list_add(names, sizeof names, "%.40s", x->name);
				listed++;
			}
			continue;
		}
		int n = snprintf(text, sizeof text, "%.60s: %s%s%s%s", x->name, notes[which].what,
		                 x->why[0] ? " (" : "", x->why, x->why[0] ? ")" : "");
		for (const char *hint = notes[which].hint; *hint; hint += *hint == '*') {
			const int plain = (int)strcspn(hint, "*");
			n += snprintf(text + n, sizeof text - (size_t)n, "%.*s%.60s", plain, hint,
			              hint[plain] ? x->name : "");
			hint += plain;
		}
		KDRI_DO(sheet_notes_add(ctx, text, list, count));
	}
	if (found > LINES) {
		char more[40] = "";
		if (listed < found)
			snprintf(more, sizeof more, " and %lld more", (long long)(found - listed));
		snprintf(text, sizeof text, "%lld columns: %s: %s%s", (long long)found, notes[which].what,
		         names, more);
		KDRI_DO(sheet_notes_add(ctx, text, list, count));
	}
	return KDR_OK;
}

kdr_status kdri_sheet_notes(kdr_context *ctx, const kdr_data *data, char ***out, int64_t *count)
{
	kdr_status st = KDR_OK;
	const kdri_sheet *s = data->sheet;
	char **list = NULL, text[200];
	int64_t n = 0;
	if (data->texts_note)
		KDRI_TRY(sheet_notes_add(ctx, data->texts_note, &list, &n));
	for (int which = NOTE_ID; s && which <= NOTE_LEFT_OUT; which++)
		KDRI_TRY(add_columns(ctx, s, (note)which, &list, &n));
	int64_t cells = 0, columns = 0;
	for (int64_t c = 0; s && c < s->ncolumns; c++)
		if (s->columns[c].features > 0 && s->columns[c].missing > 0) {
			cells += s->columns[c].missing;
			columns++;
		}
	if (data->nleft_out > 0)
		snprintf(text, sizeof text, "%lld row%s skipped: missing values", (long long)data->nleft_out,
		         data->nleft_out == 1 ? "" : "s");
	else
		snprintf(text, sizeof text,
		         "%lld missing value%s in %lld column%s; handled with --missing %s", (long long)cells,
		         cells == 1 ? "" : "s", (long long)columns, columns == 1 ? "" : "s",
		         s && s->missing ? s->missing : "");
	if (data->nleft_out > 0 || cells > 0)
		KDRI_TRY(sheet_notes_add(ctx, text, &list, &n));
	if (s && s->latin)
		KDRI_TRY(sheet_notes_add(
		        ctx,
		        "the text is not UTF-8 and was read as Latin-1 (Windows-1252); use --encoding to specify another encoding",
		        &list, &n));
	*out = list;
	*count = n;
	list = NULL;
done:
	kdri_strings_free(&ctx->allocator, list, n);
	return st;
}
