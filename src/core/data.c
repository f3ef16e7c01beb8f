/* Owned data sets. SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "core/internal.h"
#include "core/names.h"
#include "core/system.h"

kdr_status kdri_data_new(kdr_context *ctx, const char *name, const char *path, kdr_data **out)
{
	kdr_status st;
	kdr_data *d = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &d, 1));
	d->allocator = ctx->allocator;
	KDRI_TRY(kdri_strdup(ctx, name, &d->name));
	KDRI_TRY(kdri_strdup(ctx, path, &d->path));
	*out = d;
	d = NULL;
done:
	kdr_data_free(d);
	return st;
}

static void free_matrix(const kdr_data *d)
{
	if (d->borrowed)
		return;
	KDRI_FREE_WITH(&d->allocator, d->dense, d->rowptr, d->col, d->val);
}

void kdr_data_free(kdr_data *d)
{
	if (!d)
		return;
	kdr_allocator a = d->allocator;
	KDRI_FREE_WITH(&a, d->name, d->path, d->texts, d->texts_note, d->compared);
	free_matrix(d);
	kdri_free_with(&a, d->mapped);
	kdri_strings_free(&a, d->features, d->cols);
	kdri_strings_free(&a, d->ids, d->rows);
	kdri_strings_free(&a, d->excerpts, d->rows);
	kdri_free_with(&a, d->labels);
	kdri_strings_free(&a, d->classes, d->nclasses);
	kdri_sheet_free(&a, d->sheet);
	for (int64_t i = 0; i < d->nleft_out; i++) {
		KDRI_FREE_WITH(&a, (char *)d->left_out[i].id, (char *)d->left_out[i].reason);
	}
	KDRI_FREE_WITH(&a, d->left_out, d->groups.of);
	kdri_strings_free(&a, d->groups.names, d->groups.count);
	kdri_free_with(&a, d->origin);
	kdri_original_free(&a, &d->original);
	kdr_data_free(d->view);
	kdr_data_free(d->alone);
	kdri_vectors_release(d->vectors);
	kdri_free_with(&a, d);
}

kdr_status kdri_vectors_new(kdr_context *ctx, int64_t count, int64_t dim, kdri_vectors **out)
{
	kdr_status st;
	kdri_vectors *v = NULL;
	int64_t size;
	KDRI_TRY(kdri_mul(ctx, count, dim, &size));
	KDRI_TRY(KDRI_NEW0(ctx, &v, 1));
	v->allocator = ctx->allocator;
	v->users = 1;
	v->count = count;
	v->dim = dim;
	KDRI_TRY(KDRI_NEW0(ctx, &v->words, count));
	KDRI_TRY(KDRI_NEW(ctx, &v->idf, count));
	KDRI_TRY(KDRI_NEW(ctx, &v->values, size));
	*out = v;
	v = NULL;
done:
	kdri_vectors_release(v);
	return st;
}

kdri_vectors *kdri_vectors_share(kdri_vectors *v)
{
	if (v)
		v->users++;
	return v;
}

void kdri_vectors_release(kdri_vectors *v)
{
	if (!v || --v->users > 0)
		return;
	const kdr_allocator a = v->allocator;
	kdri_strings_free(&a, v->words, v->count);
	KDRI_FREE_WITH(&a, v->idf, v->values, v);
}

void kdri_original_free(const kdr_allocator *allocator, kdri_original *original)
{
	KDRI_FREE_WITH(allocator, original->values, original->unit, original->origin);
	*original = (kdri_original){ 0 };
}

kdr_mat kdr_data_mat(const kdr_data *d)
{
	if (!d)
		return kdr_mat_from_dense(NULL, 0, 0);
	return d->kind == KDR_MAT_DENSE ? kdr_mat_from_dense(d->dense, d->rows, d->cols)
	                                : kdr_mat_from_csr(d->rows, d->cols, d->rowptr, d->col, d->val);
}

bool kdr_data_streamed(const kdr_data *d)
{
	return d && d->streamed;
}

const char *kdr_data_name(const kdr_data *d)
{
	return d ? d->name : NULL;
}

const char *kdr_data_path(const kdr_data *d)
{
	return d ? d->path : NULL;
}

const char *const *kdr_data_features(const kdr_data *d)
{
	return d ? (const char *const *)d->features : NULL;
}

const char *const *kdr_data_ids(const kdr_data *d)
{
	return d ? (const char *const *)d->ids : NULL;
}

const char *const *kdr_data_excerpts(const kdr_data *d)
{
	return d ? (const char *const *)d->excerpts : NULL;
}

const char *kdr_data_text_note(const kdr_data *d)
{
	return d ? d->texts_note : NULL;
}

const int64_t *kdr_data_labels(const kdr_data *d)
{
	return d ? d->labels : NULL;
}

const char *const *kdr_data_classes(const kdr_data *d, int64_t *count)
{
	if (count)
		*count = d ? d->nclasses : 0;
	return d ? (const char *const *)d->classes : NULL;
}

static void take_shape(const kdr_mat *x, kdr_data *d)
{
	d->kind = x->kind;
	d->rows = kdr_mat_rows(x);
	d->cols = kdr_mat_cols(x);
}

static kdr_status copy_matrix(kdr_context *ctx, const kdr_mat *x, kdr_data *d)
{
	if (x->kind == KDR_MAT_DENSE) {
		const kdr_dense *a = &x->as.dense;
		int64_t count;
		KDRI_DO(kdri_mul(ctx, d->rows, d->cols, &count));
		KDRI_DO(KDRI_NEW(ctx, &d->dense, count));
		for (int64_t i = 0; i < d->rows; i++)
			memcpy(d->dense + i * d->cols, a->data + i * a->stride,
			       (size_t)d->cols * sizeof *d->dense);
	} else {
		const kdr_csr *a = &x->as.csr;
		int64_t nnz = a->rowptr[a->rows];
		KDRI_DO(KDRI_NEW(ctx, &d->rowptr, d->rows + 1));
		KDRI_DO(KDRI_NEW(ctx, &d->col, nnz));
		KDRI_DO(KDRI_NEW(ctx, &d->val, nnz));
		memcpy(d->rowptr, a->rowptr, (size_t)(d->rows + 1) * sizeof *d->rowptr);
		memcpy(d->col, a->col, (size_t)nnz * sizeof *d->col);
		memcpy(d->val, a->val, (size_t)nnz * sizeof *d->val);
	}
	return KDR_OK;
}

/* The arrays of `from` are those of d from now on. */
static void take_arrays(kdr_data *d, kdr_data *from)
{
	d->dense = from->dense;
	d->rowptr = from->rowptr;
	d->col = from->col;
	d->val = from->val;
	d->borrowed = false;
	*from = (kdr_data){ 0 };
}

kdr_status kdri_data_no_rows(kdr_context *ctx, kdr_data *d, kdr_mat_kind kind, int64_t cols)
{
	kdr_status st;
	kdr_data none = { 0 };
	if (kind == KDR_MAT_DENSE) {
		KDRI_TRY(KDRI_NEW(ctx, &none.dense, 0));
	} else {
		KDRI_TRY(KDRI_NEW0(ctx, &none.rowptr, 1));
		KDRI_TRY(KDRI_NEW(ctx, &none.col, 0));
		KDRI_TRY(KDRI_NEW(ctx, &none.val, 0));
	}
	free_matrix(d);
	take_arrays(d, &none);
	d->kind = kind;
	d->rows = 0;
	d->cols = cols;
done:
	KDRI_FREE(ctx, none.dense, none.rowptr, none.col, none.val);
	return st;
}

void kdri_data_columns(kdr_data *d, int64_t cols, int64_t *rowptr, int32_t *col, double *val)
{
	kdr_data_free(d->alone);
	d->alone = NULL;
	kdri_strings_free(&d->allocator, d->features, d->cols);
	kdri_sheet_free(&d->allocator, d->sheet);
	kdri_free_with(&d->allocator, d->texts);
	kdri_original_free(&d->allocator, &d->original);
	free_matrix(d);
	take_arrays(d, &(kdr_data){ .rowptr = rowptr, .col = col, .val = val });
	d->kind = KDR_MAT_CSR;
	d->cols = cols;
	d->features = NULL;
	d->sheet = NULL;
	d->texts = NULL;
}

kdr_status kdri_data_own(kdr_context *ctx, kdr_data *d)
{
	kdr_status st;
	kdr_data copy = { .rows = d->rows, .cols = d->cols };
	if (!d->borrowed)
		return KDR_OK;
	const kdr_mat x = kdr_data_mat(d);
	bool before = kdri_spool_begin(ctx, d->streamed);
	st = copy_matrix(ctx, &x, &copy);
	kdri_spool_begin(ctx, before);
	if (st != KDR_OK)
		goto done;
	take_arrays(d, &copy);
done:
	KDRI_FREE(ctx, copy.dense, copy.rowptr, copy.col, copy.val);
	return st;
}

kdr_status kdr_data_new(kdr_context *ctx, const char *name, const kdr_mat *x, const char *const *features,
                        kdr_data **out)
{
	KDRI_NEED(ctx, name && x && out);
	kdr_status st;
	kdr_data *d = NULL;
	KDRI_TRY(kdri_check_mat(ctx, name, x));
	KDRI_TRY(kdri_data_new(ctx, name, "", &d));
	take_shape(x, d);
	KDRI_TRY(copy_matrix(ctx, x, d));
	KDRI_TRY(kdri_strings_copy(ctx, features, d->cols, &d->features));
	*out = d;
	d = NULL;
done:
	kdr_data_free(d);
	return st;
}

void kdr_data_show_ids(kdr_data *data)
{
	if (data)
		data->ids_title = "id";
}

kdr_status kdr_data_borrow(kdr_context *ctx, const char *name, const kdr_mat *x, const char *const *features,
                           const char *const *ids, kdr_data **out)
{
	KDRI_NEED(ctx, name && x && out);
	kdr_status st;
	kdr_data *d = NULL;
	KDRI_TRY(kdri_check_mat(ctx, name, x));
	KDRI_TRY(kdri_data_new(ctx, name, "", &d));
	take_shape(x, d);
	if (x->kind == KDR_MAT_DENSE && x->as.dense.stride != d->cols) {
		KDRI_TRY(copy_matrix(ctx, x, d));
	} else {
		/* Never written to while `borrowed` is set. */
		d->borrowed = true;
		if (x->kind == KDR_MAT_DENSE) {
			d->dense = (double *)x->as.dense.data;
		} else {
			d->rowptr = (int64_t *)x->as.csr.rowptr;
			d->col = (int32_t *)x->as.csr.col;
			d->val = (double *)x->as.csr.val;
		}
	}
	KDRI_TRY(kdri_strings_copy(ctx, features, d->cols, &d->features));
	KDRI_TRY(kdri_strings_copy(ctx, ids, d->rows, &d->ids));
	*out = d;
	d = NULL;
done:
	kdr_data_free(d);
	return st;
}

kdr_status kdr_data_view(kdr_context *ctx, const kdr_data *data, const char *name, kdr_data **out)
{
	KDRI_NEED(ctx, data && out);
	kdr_status st;
	kdr_data *d = NULL;
	const kdr_mat x = kdr_data_mat(data);
	if (data->streamed)
		KDRI_TRY(kdri_spool_enable(ctx));
	KDRI_TRY(kdr_data_borrow(ctx, name ? name : data->name, &x, kdr_data_features(data),
	                         kdr_data_ids(data), &d));
	KDRI_TRY(kdri_strings_copy(ctx, kdr_data_excerpts(data), d->rows, &d->excerpts));
	kdri_free(ctx, d->path);
	d->path = NULL;
	KDRI_TRY(kdri_strdup(ctx, data->path, &d->path));
	if (data->labels)
		KDRI_TRY(kdr_data_set_labels(ctx, d, data->labels, (const char *const *)data->classes,
		                             data->nclasses));
	if (data->sheet)
		KDRI_TRY(kdri_sheet_copy(ctx, data->sheet, NULL, 0, &d->sheet));
	for (int64_t i = 0; i < data->nleft_out; i++)
		KDRI_TRY(kdri_data_leave_out(ctx, d, data->left_out[i].row, data->left_out[i].id,
		                             data->left_out[i].reason));
	if (data->origin) {
		KDRI_TRY(KDRI_NEW(ctx, &d->origin, data->rows));
		memcpy(d->origin, data->origin, (size_t)data->rows * sizeof *d->origin);
	}
	d->file_rows = data->file_rows;
	d->dialect = data->dialect;
	if (data->texts)
		KDRI_TRY(kdri_strdup(ctx, data->texts, &d->texts));
	if (data->texts_note)
		KDRI_TRY(kdri_strdup(ctx, data->texts_note, &d->texts_note));
	if (data->compared)
		KDRI_TRY(kdri_strdup(ctx, data->compared, &d->compared));
	d->vectors = kdri_vectors_share(data->vectors);
	d->streamed = data->streamed && d->allocator.free == data->allocator.free;
	if (data->view)
		KDRI_TRY(kdr_data_view(ctx, data->view, NULL, &d->view));
	if (data->alone)
		KDRI_TRY(kdr_data_view(ctx, data->alone, NULL, &d->alone));
	*out = d;
	d = NULL;
done:
	kdr_data_free(d);
	return st;
}

const char *kdr_data_table(const kdr_data *data)
{
	for (; data; data = data->view)
		if (data->dialect.delimiter || data->dialect.workbook)
			return data->path;
	return NULL;
}

const int64_t *kdr_data_origin(const kdr_data *data, int64_t *file_rows)
{
	if (file_rows)
		*file_rows = !data ? 0 : data->origin ? data->file_rows : data->rows + data->nleft_out;
	return data ? data->origin : NULL;
}

/* Data sets: subsets of rows, and classes. */

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

kdr_status kdri_data_part(kdr_context *ctx, const kdr_data *data, const int64_t *rows, int64_t n,
                          kdr_data **out)
{
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
	/* Names and classes of the rows that were taken. */
	KDRI_TRY(kdri_strings_copy(ctx, data->features, data->cols, &d->features));
	KDRI_TRY(kdri_strings_pick(ctx, kdr_data_ids(data), rows, n, &d->ids));
	KDRI_TRY(kdri_strings_pick(ctx, kdr_data_excerpts(data), rows, n, &d->excerpts));
	if (data->labels) {
		KDRI_TRY(KDRI_NEW(ctx, &d->labels, n));
		for (int64_t i = 0; i < n; i++)
			d->labels[i] = data->labels[rows[i]];
		KDRI_TRY(kdri_strings_copy(ctx, data->classes, data->nclasses, &d->classes));
		d->nclasses = data->nclasses;
	}
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
	if (data->compared)
		KDRI_TRY(kdri_strdup(ctx, data->compared, &d->compared));
	d->vectors = kdri_vectors_share(data->vectors);
	d->combined = data->combined;
	*out = d;
	d = NULL;
done:
	kdri_free(ctx, origin);
	kdr_data_free(d);
	return st;
}

kdr_status kdr_data_rows(kdr_context *ctx, const kdr_data *data, const int64_t *rows, int64_t n,
                         kdr_data **out)
{
	KDRI_NEED(ctx, data && rows && out);
	kdr_status st;
	kdr_data *d = NULL;
	KDRI_TRY(kdri_data_part(ctx, data, rows, n, &d));
	if (data->view)
		KDRI_TRY(kdri_data_part(ctx, data->view, rows, n, &d->view));
	if (data->alone)
		KDRI_TRY(kdri_data_part(ctx, data->alone, rows, n, &d->alone));
	*out = d;
	d = NULL;
done:
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

/* Splits a data set by a name for each row. */

/* The caller's names as groups. */
static kdr_status split_group(kdr_context *ctx, const char *const *names, int64_t rows, kdri_groups *out)
{
	kdr_status st;
	kdri_names table = { 0 };
	int64_t *of = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &of, rows));
	for (int64_t i = 0; i < rows; i++)
		KDRI_TRY(kdri_names_add(ctx, &table, names[i], strlen(names[i]), &of[i]));
	*out = (kdri_groups){ .of = of, .names = table.names, .count = table.count };
	of = NULL;
	table.names = NULL;
done:
	kdri_free(ctx, of);
	kdri_names_free(ctx, &table);
	return st;
}

/* Task names are used as file names. */
static kdr_status name_task(kdr_context *ctx, const char *prefix, const char *name, char **out)
{
	size_t before = prefix ? strlen(prefix) : 0, room = before + strlen(name) + 1;
	char *text = NULL;
	KDRI_DO(KDRI_NEW(ctx, &text, room));
	snprintf(text, room, "%s%s", prefix ? prefix : "", name);
	for (char *p = text + before; *p; p++)
		if (strchr(kdri_not_in_names, *p))
			*p = '_';
	*out = text;
	return KDR_OK;
}

/* The rows of group g, which are order[0 .. n-1]. */
static kdr_status split_take(kdr_context *ctx, const kdr_data *data, const char *prefix, const char *name,
                             const int64_t *order, int64_t n, kdr_data **out)
{
	kdr_status st;
	kdr_data *d = NULL;
	char *text = NULL;
	KDRI_TRY(kdr_data_rows(ctx, data, order, n, &d));
	KDRI_TRY(name_task(ctx, prefix, name, &text));
	kdri_free(ctx, d->name);
	d->name = text;
	*out = d;
	d = NULL;
done:
	kdr_data_free(d);
	return st;
}

kdr_status kdri_data_split(kdr_context *ctx, const kdr_data *data, const char *const *names,
                           const char *prefix, kdr_data ***out, int64_t *count)
{
	kdr_status st = KDR_OK;
	kdri_groups own = { 0 };
	kdri_names taken = { .borrows = true };
	kdr_data **sets = NULL;
	char called[KDRI_ROW_NAME];
	int64_t *begin = NULL, *order = NULL, *first = NULL, made = 0;
	if (!ctx)
		return KDR_ERR_ARGUMENT;
	if (!data || !out || !count || (!names && !data->groups.of))
		return kdri_fail(ctx, KDR_ERR_ARGUMENT,
		                 "split: a data set with a task column or one name per row is needed");
	if (names)
		KDRI_TRY(split_group(ctx, names, data->rows, &own));
	const kdri_groups *g = names ? &own : &data->groups;
	if (data->rows == 0 && !g->all)
		KDRI_FAIL(ctx, KDR_ERR_DATA, "%s: the file has no rows, so its task column is empty",
		          data->path[0] ? data->path : data->name);
	KDRI_TRY(KDRI_NEW0(ctx, &begin, g->count + 1));
	KDRI_TRY(KDRI_NEW(ctx, &order, data->rows));
	KDRI_TRY(KDRI_NEW(ctx, &first, g->count));
	KDRI_TRY(kdri_calloc(ctx, &sets, g->count, sizeof(kdr_data *)));
	for (int64_t i = 0; i < data->rows; i++) {
		if (g->of[i] < 0)
			KDRI_FAIL(ctx, KDR_ERR_DATA,
			          "%s: %s has no value in the task column; every row needs one",
			          data->path[0] ? data->path : data->name, kdri_row_name(data, i, called));
		begin[g->of[i] + 1]++;
	}
	for (int64_t k = 0; k < g->count; k++)
		begin[k + 1] += begin[k];
	for (int64_t i = 0; i < data->rows; i++)
		order[begin[g->of[i]]++] = i;
	for (; g->all && made < g->count; made++)
		first[made] = made;
	/* Each begin is now the end of its group: the next one's begin was this. */
	for (int64_t i = 0; !g->all && i < data->rows; i++) {
		int64_t k = g->of[i], from = k > 0 ? begin[k - 1] : 0;
		if (order[from] == i) /* in order of first appearance */
			first[made++] = k;
	}
	for (int64_t t = 0; t < made; t++) {
		int64_t k = first[t], from = k > 0 ? begin[k - 1] : 0, same;
		KDRI_TRY(split_take(ctx, data, prefix, g->names[k], order + from, begin[k] - from, &sets[t]));
		KDRI_TRY(kdri_names_add(ctx, &taken, sets[t]->name, strlen(sets[t]->name), &same));
		if (same < t)
			KDRI_FAIL(
			        ctx, KDR_ERR_DATA,
			        "%s: the data sets '%s' and '%s' of the task column would both be called '%s', because file names cannot contain any of %.*s; rename one of them",
			        data->path[0] ? data->path : data->name, g->names[first[same]], g->names[k],
			        sets[t]->name, (int)strcspn(kdri_not_in_names, "\1\n"), kdri_not_in_names);
	}
	/* The tasks of skipped rows are unknown: the first data set lists them. */
	for (int64_t i = 0; i < data->nleft_out; i++)
		KDRI_TRY(kdri_data_leave_out(ctx, sets[0], data->left_out[i].row, data->left_out[i].id,
		                             data->left_out[i].reason));
	*out = sets;
	*count = made;
	sets = NULL;
done:
	kdri_names_free(ctx, &taken);
	for (int64_t t = 0; sets && t < made; t++)
		kdr_data_free(sets[t]);
	KDRI_FREE(ctx, sets, begin, order, first, own.of);
	kdri_strings_free(&ctx->allocator, own.names, own.count);
	return st;
}
