/* The description that a data set keeps of the table it was read from. SPDX-License-Identifier: BSD-3-Clause */
#include "core/internal.h"

#include <stdio.h>

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

/* (E1) of io/table/table_date.c the other way round. */
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

void kdri_sheet_free(const kdr_allocator *a, kdri_sheet *t)
{
	if (!t)
		return;
	for (int64_t j = 0; t->columns && j < t->ncolumns; j++) {
		KDRI_FREE_WITH(a, (char *)t->columns[j].name, (char *)t->columns[j].why);
	}
	KDRI_FREE_WITH(a, t->columns, t->origin, t->order, t->source, t->missing);
	kdri_strings_free(a, t->na, t->nna);
	KDRI_FREE_WITH(a, t->fill, t->hole_row, t->hole_feature, t);
}

static kdr_status copy_columns(kdr_context *ctx, const kdri_sheet *from, kdri_sheet *to)
{
	KDRI_DO(KDRI_NEW0(ctx, &to->columns, from->ncolumns));
	KDRI_DO(KDRI_NEW(ctx, &to->origin, from->ncolumns));
	KDRI_DO(KDRI_NEW(ctx, &to->order, from->ncolumns));
	to->ncolumns = from->ncolumns;
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
