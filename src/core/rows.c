/* Data sets: subsets of rows, and classes. SPDX-License-Identifier: BSD-3-Clause */
#include "core/internal.h"
#include "core/names.h"

/* --- rows ------------------------------------------------------------------------------------------- */

static kdr_status copy_rows(kdr_context *ctx, const kdr_data *from, const int64_t *rows, int64_t n,
                            kdr_data *to)
{
	kdr_status st;
	int64_t nnz = 0, size;
	to->streamed = from->streamed && to->allocator.free == from->allocator.free;
	bool before = kdri_spool_begin(ctx, to->streamed);
	to->kind = from->kind;
	to->rows = n;
	to->cols = from->cols;
	if (from->kind == KDR_MAT_DENSE) {
		KDRI_TRY(kdri_mul(ctx, n, from->cols, &size));
		KDRI_TRY(KDRI_NEW(ctx, &to->dense, size));
		for (int64_t i = 0; i < n; i++)
			memcpy(to->dense + i * from->cols, from->dense + rows[i] * from->cols,
			       (size_t)from->cols * sizeof *to->dense);
		goto done;
	}
	for (int64_t i = 0; i < n; i++)
		nnz += from->rowptr[rows[i] + 1] - from->rowptr[rows[i]];
	KDRI_TRY(KDRI_NEW(ctx, &to->rowptr, n + 1));
	KDRI_TRY(KDRI_NEW(ctx, &to->col, nnz));
	KDRI_TRY(KDRI_NEW(ctx, &to->val, nnz));
	to->rowptr[0] = 0;
	for (int64_t i = 0; i < n; i++) {
		int64_t begin = from->rowptr[rows[i]], count = from->rowptr[rows[i] + 1] - begin;
		memcpy(to->col + to->rowptr[i], from->col + begin, (size_t)count * sizeof *to->col);
		memcpy(to->val + to->rowptr[i], from->val + begin, (size_t)count * sizeof *to->val);
		to->rowptr[i + 1] = to->rowptr[i] + count;
	}
done:
	kdri_spool_begin(ctx, before);
	return st;
}

/* Names and classes of the rows that were taken. */
static kdr_status rows_copy_names(kdr_context *ctx, const kdr_data *from, const int64_t *rows, int64_t n,
                                  kdr_data *to)
{
	KDRI_DO(kdri_strings_copy(ctx, from->features, from->cols, &to->features));
	KDRI_DO(kdri_strings_pick(ctx, kdr_data_ids(from), rows, n, &to->ids));
	KDRI_DO(kdri_strings_pick(ctx, kdr_data_excerpts(from), rows, n, &to->excerpts));
	if (from->labels) {
		KDRI_DO(KDRI_NEW(ctx, &to->labels, n));
		for (int64_t i = 0; i < n; i++)
			to->labels[i] = from->labels[rows[i]];
		KDRI_DO(kdri_strings_copy(ctx, from->classes, from->nclasses, &to->classes));
		to->nclasses = from->nclasses;
	}
	return KDR_OK;
}

kdr_status kdri_data_origin(kdr_context *ctx, const kdr_data *data, int64_t **out, int64_t *file_rows)
{
	int64_t *origin = NULL, left = 0, at = 0;
	KDRI_DO(KDRI_NEW(ctx, &origin, data->rows));
	for (int64_t i = 0; i < data->rows; i++, at++) {
		/* Skipped rows are counted from 1, in the order of the file. */
		while (!data->origin && left < data->nleft_out && data->left_out[left].row == at + 1) {
			left++;
			at++;
		}
		origin[i] = data->origin ? data->origin[i] : at;
	}
	*out = origin;
	*file_rows = data->origin ? data->file_rows : data->rows + data->nleft_out;
	return KDR_OK;
}

kdr_status kdr_data_rows(kdr_context *ctx, const kdr_data *data, const int64_t *rows, int64_t n,
                         kdr_data **out)
{
	KDRI_NEED(ctx, data && rows && out);
	kdr_status st;
	kdr_data *d = NULL;
	int64_t *origin = NULL;
	for (int64_t i = 0; i < n; i++)
		if (rows[i] < 0 || rows[i] >= data->rows)
			return kdri_fail(ctx, KDR_ERR_ARGUMENT,
			                 "%s: row %lld does not exist; rows are numbered from 0 to %lld",
			                 data->name, (long long)rows[i], (long long)data->rows - 1);
	KDRI_TRY(kdri_data_new(ctx, data->name, data->path, &d));
	KDRI_TRY(copy_rows(ctx, data, rows, n, d));
	KDRI_TRY(rows_copy_names(ctx, data, rows, n, d));
	if (data->sheet)
		KDRI_TRY(kdri_sheet_copy(ctx, data->sheet, rows, n, &d->sheet));
	KDRI_TRY(kdri_data_origin(ctx, data, &origin, &d->file_rows));
	KDRI_TRY(KDRI_NEW(ctx, &d->origin, n));
	for (int64_t i = 0; i < n; i++)
		d->origin[i] = origin[rows[i]];
	d->seconds = data->seconds;
	d->dialect = data->dialect;
	if (data->texts)
		KDRI_TRY(kdri_strdup(ctx, data->texts, &d->texts));
	if (data->texts_note)
		KDRI_TRY(kdri_strdup(ctx, data->texts_note, &d->texts_note));
	*out = d;
	d = NULL;
done:
	kdri_free(ctx, origin);
	kdr_data_free(d);
	return st;
}

/* --- classes ------------------------------------------------------------------------------------------- */

/* Replaces the previous classes; this cannot fail. */
static void put_classes(kdr_data *d, int64_t *labels, char **names, int64_t count)
{
	kdri_free_with(&d->allocator, d->labels);
	kdri_strings_free(&d->allocator, d->classes, d->nclasses);
	d->labels = labels;
	d->classes = names;
	d->nclasses = count;
}

kdr_status kdr_data_set_labels(kdr_context *ctx, kdr_data *data, const int64_t *labels,
                               const char *const *classes, int64_t count)
{
	KDRI_NEED(ctx, data && labels && classes);
	kdr_status st;
	int64_t *own = NULL;
	char **names = NULL;
	for (int64_t i = 0; i < data->rows; i++)
		if (labels[i] < -1 || labels[i] >= count)
			return kdri_fail(ctx, KDR_ERR_ARGUMENT,
			                 "%s: class number %lld in row %lld is not valid; use -1 to %lld",
			                 data->name, (long long)labels[i], (long long)i + 1,
			                 (long long)count - 1);
	KDRI_TRY(KDRI_NEW(ctx, &own, data->rows));
	memcpy(own, labels, (size_t)data->rows * sizeof *own);
	KDRI_TRY(kdri_strings_copy(ctx, classes, count, &names));
	put_classes(data, own, names, count);
	own = NULL;
	names = NULL;
done:
	kdri_free(ctx, own);
	kdri_strings_free(&ctx->allocator, names, count);
	return st;
}

/* What one data set gets. */
typedef struct merged {
	int64_t *labels;
	char **names;
} merged;

static kdr_status relabel(kdr_context *ctx, const kdr_data *d, const kdri_names *table, merged *to)
{
	KDRI_DO(KDRI_NEW(ctx, &to->labels, d->rows));
	for (int64_t i = 0; i < d->rows; i++)
		to->labels[i] = d->labels[i] < 0 ? -1 : kdri_names_find(table, d->classes[d->labels[i]]);
	return kdri_strings_copy(ctx, table->names, table->count, &to->names);
}

kdr_status kdr_data_merge_classes(kdr_context *ctx, kdr_data *const *sets, int64_t count)
{
	kdr_status st;
	kdri_names table = { .borrows = true };
	merged *to = NULL;
	int64_t index;
	KDRI_NEED(ctx, sets);
	if ((st = kdri_check_sets(ctx, "kdr_data_merge_classes", sets, count, 0)) != KDR_OK)
		return st;
	for (int64_t t = 0; t < count; t++)
		if (!sets[t]->labels)
			return kdri_fail(ctx, KDR_ERR_DATA, "%s has no known classes", sets[t]->name);
	KDRI_TRY(KDRI_NEW0(ctx, &to, count));
	for (int64_t t = 0; t < count; t++)
		for (int64_t c = 0; c < sets[t]->nclasses; c++)
			if (strcmp(sets[t]->classes[c], "?") != 0)
				KDRI_TRY(kdri_names_add(ctx, &table, sets[t]->classes[c],
				                        strlen(sets[t]->classes[c]), &index));
	for (int64_t t = 0; t < count; t++)
		KDRI_TRY(relabel(ctx, sets[t], &table, &to[t]));
	/* The table's names are still those of the sets: all copies are made. */
	for (int64_t t = 0; t < count; t++) {
		put_classes(sets[t], to[t].labels, to[t].names, table.count);
		to[t] = (merged){ 0 };
	}
done:
	for (int64_t t = 0; to && t < count; t++) {
		kdri_free(ctx, to[t].labels);
		kdri_strings_free(&ctx->allocator, to[t].names, table.count);
	}
	kdri_free(ctx, to);
	kdri_names_free(ctx, &table);
	return st;
}
