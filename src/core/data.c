/* Owned data sets. SPDX-License-Identifier: BSD-3-Clause */
#include "core/internal.h"

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
	KDRI_FREE_WITH(&a, d->name, d->path, d->texts, d->texts_note);
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
	kdri_free_with(&a, d);
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
	d->streamed = data->streamed && d->allocator.free == data->allocator.free;
	*out = d;
	d = NULL;
done:
	kdr_data_free(d);
	return st;
}

bool kdr_data_is_table(const kdr_data *data)
{
	return data && (data->dialect.delimiter || data->dialect.workbook);
}

const int64_t *kdr_data_origin(const kdr_data *data, int64_t *file_rows)
{
	if (file_rows)
		*file_rows = !data ? 0 : data->origin ? data->file_rows : data->rows + data->nleft_out;
	return data ? data->origin : NULL;
}
