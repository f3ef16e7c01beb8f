/* The description that a data set keeps of the table it was read from. SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "core/internal.h"

const char *kdr_column_kind_name(kdr_column_kind kind)
{
	static const char *const names[] = {
		[KDR_COLUMN_NUMBER] = "number", [KDR_COLUMN_CATEGORY] = "category",
		[KDR_COLUMN_DATE] = "date",     [KDR_COLUMN_ID] = "id",
		[KDR_COLUMN_LABEL] = "label",   [KDR_COLUMN_TEXT] = "text",
		[KDR_COLUMN_EMPTY] = "empty",   [KDR_COLUMN_LEFT_OUT] = "skipped",
	};
	return (int)kind < 0 || (size_t)kind >= sizeof names / sizeof names[0] ? "" : names[kind];
}

/* (E1) of io/table/table_values.c the other way round. */
void kdri_days_text(double days, char *text, size_t room)
{
	int64_t z = (int64_t)days + 719468, era = (z >= 0 ? z : z - 146096) / 146097, day = z - era * 146097;
	int64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
	int64_t rest = day - (365 * year + year / 4 - year / 100), month = (5 * rest + 2) / 153;
	int64_t of_month = rest - (153 * month + 2) / 5 + 1;
	int64_t number = month < 10 ? month + 3 : month - 9;
	year += era * 400 + (number <= 2);
	snprintf(text, room, "days since %04lld-%02lld-%02lld", (long long)year, (long long)number,
	         (long long)of_month);
}

const kdr_column *kdr_data_column_at(const kdr_data *data, int64_t index)
{
	const kdri_sheet *sheet = data ? data->sheet : NULL;
	return sheet && index >= 0 && index < sheet->ncolumns ? &sheet->columns[index] : NULL;
}

const kdr_left_out *kdr_data_left_out_at(const kdr_data *data, int64_t index)
{
	return data && index >= 0 && index < data->nleft_out ? &data->left_out[index] : NULL;
}

kdr_status kdri_data_leave_out(kdr_context *ctx, kdr_data *data, int64_t row, const char *id,
                               const char *reason)
{
	kdr_status st;
	char *own = NULL, *why = NULL;
	/* Grown by doubling: a power of two is full. */
	if ((data->nleft_out & (data->nleft_out - 1)) == 0)
		KDRI_TRY(KDRI_GROW(ctx, &data->left_out, KDRI_MAX(2 * data->nleft_out, 1)));
	KDRI_TRY(kdri_strdup(ctx, id, &own));
	KDRI_TRY(kdri_strdup(ctx, reason, &why));
	data->left_out[data->nleft_out++] = (kdr_left_out){ row, own, why };
	own = why = NULL;
done:
	KDRI_FREE(ctx, own, why);
	return st;
}

kdr_status kdri_sheet_note(kdr_context *ctx, kdri_sheet *sheet, const char *format, ...)
{
	char text[900];
	va_list args;
	va_start(args, format);
	kdri_vsnprintf(text, sizeof text, format, args);
	va_end(args);
	kdri_one_line(text);
	return kdri_strings_append(ctx, &sheet->notes, &sheet->nnotes, text);
}

const char *kdr_data_note_at(const kdr_data *data, int64_t index)
{
	const kdri_sheet *sheet = data ? data->sheet : NULL;
	return sheet && index >= 0 && index < sheet->nnotes ? sheet->notes[index] : NULL;
}

void kdri_sheet_free(const kdr_allocator *a, kdri_sheet *t)
{
	if (!t)
		return;
	for (int64_t j = 0; t->columns && j < t->ncolumns; j++) {
		KDRI_FREE_WITH(a, (char *)t->columns[j].name, (char *)t->columns[j].why);
	}
	KDRI_FREE_WITH(a, t->columns, t->origin, t->asked, t->order, t->source, t->missing);
	kdri_strings_free(a, t->na, t->nna);
	kdri_strings_free(a, t->rename, t->nrename);
	kdri_strings_free(a, t->recode, t->nrecode);
	kdri_strings_free(a, t->notes, t->nnotes);
	KDRI_FREE_WITH(a, t->fill, t->hole_row, t->hole_feature, t);
}

static kdr_status copy_columns(kdr_context *ctx, const kdri_sheet *from, kdri_sheet *to)
{
	KDRI_DO(KDRI_NEW0(ctx, &to->columns, from->ncolumns));
	KDRI_DO(KDRI_NEW(ctx, &to->origin, from->ncolumns));
	KDRI_DO(KDRI_NEW(ctx, &to->order, from->ncolumns));
	to->ncolumns = from->ncolumns;
	if (from->asked) {
		KDRI_DO(KDRI_NEW(ctx, &to->asked, from->ncolumns));
		memcpy(to->asked, from->asked, (size_t)from->ncolumns * sizeof *to->asked);
	}
	for (int64_t j = 0; j < from->ncolumns; j++) {
		char *name = NULL, *why = NULL;
		to->columns[j] = from->columns[j];
		to->columns[j].name = to->columns[j].why = NULL;
		to->origin[j] = from->origin[j];
		to->order[j] = from->order[j];
		KDRI_DO(kdri_strdup(ctx, from->columns[j].name, &name));
		to->columns[j].name = name;
		KDRI_DO(kdri_strdup(ctx, from->columns[j].why, &why));
		to->columns[j].why = why;
	}
	KDRI_DO(kdri_strings_copy(ctx, from->na, from->nna, &to->na));
	to->nna = from->nna;
	KDRI_DO(kdri_strings_copy(ctx, from->rename, from->nrename, &to->rename));
	to->nrename = from->nrename;
	KDRI_DO(kdri_strings_copy(ctx, from->recode, from->nrecode, &to->recode));
	to->nrecode = from->nrecode;
	if (from->missing)
		KDRI_DO(kdri_strdup(ctx, from->missing, &to->missing));
	return KDR_OK;
}

/* The missing values of the given rows. A row may occur several times, so that they are searched row by row. */
static kdr_status copy_holes(kdr_context *ctx, const kdri_sheet *from, const int64_t *rows, int64_t n,
                             kdri_sheet *to)
{
	kdr_status st;
	int64_t *begin = NULL, most = -1, count = 0;
	if (from->nholes == 0)
		return KDR_OK;
	for (int64_t h = 0; h < from->nholes; h++)
		most = KDRI_MAX(most, from->hole_row[h]);
	for (int64_t i = 0; rows && i < n; i++)
		most = KDRI_MAX(most, rows[i]);
	KDRI_TRY(KDRI_NEW0(ctx, &begin, most + 2));
	for (int64_t h = 0; h < from->nholes; h++) /* holes are in the order of rows */
		begin[from->hole_row[h] + 1]++;
	for (int64_t i = 0; i <= most; i++)
		begin[i + 1] += begin[i];
	for (int64_t i = 0; rows && i < n; i++)
		count += begin[rows[i] + 1] - begin[rows[i]];
	if (!rows)
		count = from->nholes;
	KDRI_TRY(KDRI_NEW(ctx, &to->hole_row, count));
	KDRI_TRY(KDRI_NEW(ctx, &to->hole_feature, count));
	for (int64_t i = 0; i < (rows ? n : most + 1); i++) {
		int64_t row = rows ? rows[i] : i;
		for (int64_t h = begin[row]; h < begin[row + 1]; h++) {
			to->hole_row[to->nholes] = i;
			to->hole_feature[to->nholes++] = from->hole_feature[h];
		}
	}
done:
	kdri_free(ctx, begin);
	return st;
}

kdr_status kdri_sheet_copy(kdr_context *ctx, const kdri_sheet *from, const int64_t *rows, int64_t n,
                           kdri_sheet **out)
{
	kdr_status st;
	kdri_sheet *t = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &t, 1));
	KDRI_TRY(copy_columns(ctx, from, t));
	for (int64_t i = 0; i < from->nnotes; i++)
		KDRI_TRY(kdri_strings_append(ctx, &t->notes, &t->nnotes, from->notes[i]));
	t->nfeatures = from->nfeatures;
	t->latin = from->latin;
	t->header = from->header;
	if (from->source) {
		KDRI_TRY(KDRI_NEW(ctx, &t->source, from->nfeatures));
		memcpy(t->source, from->source, (size_t)from->nfeatures * sizeof *t->source);
	}
	if (from->fill) {
		KDRI_TRY(KDRI_NEW(ctx, &t->fill, from->nfeatures));
		memcpy(t->fill, from->fill, (size_t)from->nfeatures * sizeof *t->fill);
	}
	KDRI_TRY(copy_holes(ctx, from, rows, n, t));
	*out = t;
	t = NULL;
done:
	kdri_sheet_free(&ctx->allocator, t);
	return st;
}

/* Notes on how a table's columns were interpreted, one line each.
 *
 * There is no note for plain numbers. More than LINES columns of a kind share one line. */

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
		/* Columns of texts without a title have a number, which is x2 without the x. */
		const char *called = x->name + (which == NOTE_TEXT && !s->header);
		int n = snprintf(text, sizeof text, "%.60s: %s%s%s%s", x->name, notes[which].what,
		                 x->why[0] ? " (" : "", x->why, x->why[0] ? ")" : "");
		for (const char *hint = notes[which].hint; *hint; hint += *hint == '*') {
			const int plain = (int)strcspn(hint, "*");
			n += snprintf(text + n, sizeof text - (size_t)n, "%.*s%.60s", plain, hint,
			              hint[plain] ? called : "");
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

const char *kdri_missing_done(const char *policy)
{
	static const char *const done[][2] = { { "zero", "replaced by 0" },
		                               { "mean", "replaced by column means" },
		                               { "median", "replaced by column medians" } };
	for (size_t i = 0; policy && i < sizeof done / sizeof done[0]; i++)
		if (strcmp(policy, done[i][0]) == 0)
			return done[i][1];
	return "skipped";
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
	int64_t cells = 0;
	for (int64_t c = 0; s && c < s->ncolumns; c++)
		cells += s->columns[c].features > 0 ? s->columns[c].missing : 0;
	int64_t dropped = data->nleft_out; /* without a row of totals, which has a note */
	for (int64_t i = 0; i < data->nleft_out; i++)
		dropped -= strncmp(data->left_out[i].reason, "missing", strlen("missing")) != 0;
	if (dropped > 0)
		snprintf(text, sizeof text, "%lld row%s skipped: missing values", (long long)dropped,
		         dropped == 1 ? "" : "s");
	else
		snprintf(text, sizeof text, "%lld missing value%s, %s", (long long)cells,
		         cells == 1 ? "" : "s", kdri_missing_done(s ? s->missing : NULL));
	if (dropped > 0 || cells > 0)
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
