/* The training samples that a model keeps. SPDX-License-Identifier: BSD-3-Clause
 *
 * Methods that label a new sample by similar samples need them. They are kept in their original storage, sparse or
 * dense. A model file cannot be trusted: its values are checked here before they are used as indices. */
#include "methods/mtcfir/train.h"
#include "api/method.h"

#include <stdio.h>

/* --- into the model ----------------------------------------------------------------------------------- */

kdr_status kdri_put_csr(kdr_context *ctx, kdr_result *result, const char *name, int64_t t, const kdr_csr *x)
{
	char key[64];
	int64_t n = x->rows, entries = x->rowptr[n], *rowptr = NULL, *col = NULL;
	double *val = NULL;
	snprintf(key, sizeof key, "%s_rowptr", name);
	KDRI_DO(kdri_result_array(ctx, result, key, t, KDR_INT64, 1, (int64_t[]){ n + 1 }, &rowptr));
	snprintf(key, sizeof key, "%s_col", name);
	KDRI_DO(kdri_result_array(ctx, result, key, t, KDR_INT64, 1, (int64_t[]){ entries }, &col));
	snprintf(key, sizeof key, "%s_val", name);
	KDRI_DO(kdri_result_array(ctx, result, key, t, KDR_FLOAT64, 1, (int64_t[]){ entries }, &val));
	memcpy(rowptr, x->rowptr, (size_t)(n + 1) * sizeof *rowptr);
	if (entries) /* none: x->val may be NULL */
		memcpy(val, x->val, (size_t)entries * sizeof *val);
	for (int64_t p = 0; p < entries; p++)
		col[p] = x->col[p];
	return KDR_OK;
}

kdr_status kdri_train_keep(kdr_context *ctx, const kdr_problem *problem, kdr_result *result)
{
	for (int64_t t = 0; t < problem->ntasks; t++) {
		const kdr_mat *x = &problem->tasks[t].x;
		double *to = NULL;
		int64_t n = kdr_mat_rows(x), d = kdr_mat_cols(x);
		if (x->kind == KDR_MAT_CSR) {
			KDRI_DO(kdri_put_csr(ctx, result, "train", t, &x->as.csr));
			continue;
		}
		KDRI_DO(kdri_result_array(ctx, result, "train_x", t, KDR_FLOAT64, 2, (int64_t[]){ n, d },
		                          &to));
		for (int64_t i = 0; i < n; i++)
			memcpy(to + i * d, x->as.dense.data + i * x->as.dense.stride, (size_t)d * sizeof *to);
	}
	return KDR_OK;
}

/* --- and back ----------------------------------------------------------------------------------------- */

/* Whether each row starts where the previous one ends, from 0 to `entries`. */
static bool sound_starts(const int64_t *rowptr, int64_t rows, int64_t entries)
{
	bool sound = rowptr[0] == 0 && rowptr[rows] == entries;
	for (int64_t i = 0; i < rows && sound; i++)
		sound = rowptr[i] <= rowptr[i + 1];
	return sound;
}

/* Task t's samples from the model; `col` holds the columns of all tasks narrowed, from *used on. */
static kdr_status train_take(kdr_context *ctx, const kdr_result *fitted, int64_t t, int64_t d, int32_t *col,
                             int64_t *used, kdr_mat *out)
{
	kdr_array dense = kdr_result_array(fitted, "train_x", t),
	          rows = kdr_result_array(fitted, "train_rowptr", t),
	          cols = kdr_result_array(fitted, "train_col", t),
	          vals = kdr_result_array(fitted, "train_val", t);
	if (dense.data && dense.ndim == 2 && dense.shape[1] == d) {
		*out = kdr_mat_from_dense(dense.data, dense.shape[0], d);
		return KDR_OK;
	}
	if (!rows.data || !cols.data || !vals.data || rows.shape[0] < 2 || cols.shape[0] != vals.shape[0] ||
	    !sound_starts(rows.data, rows.shape[0] - 1, cols.shape[0]))
		return kdri_fail(
		        ctx, KDR_ERR_DATA,
		        "the model does not have the samples of data set number %lld, or they do not have %lld columns",
		        (long long)t + 1, (long long)d);
	const int64_t *from = cols.data, *start = rows.data;
	for (int64_t i = 0; i + 1 < rows.shape[0]; i++)
		for (int64_t p = start[i]; p < start[i + 1]; p++) {
			if (from[p] < 0 || from[p] >= d || (p > start[i] && from[p] <= from[p - 1]))
				return kdri_fail(
				        ctx, KDR_ERR_DATA,
				        "the model's samples of data set number %lld have column %lld; 1 to %lld in increasing order are allowed",
				        (long long)t + 1, (long long)from[p] + 1, (long long)d);
			col[*used + p] = (int32_t)from[p];
		}
	*out = kdr_mat_from_csr(rows.shape[0] - 1, d, rows.data, col + *used, vals.data);
	*used += cols.shape[0];
	return KDR_OK;
}

kdr_status kdri_train_stack(kdr_context *ctx, const kdr_result *fitted, int64_t first, int64_t count,
                            const kdr_mat *x, kdri_own *all, int64_t *begin)
{
	kdr_status st;
	int64_t room = 0, used = 0;
	int32_t *col = NULL;
	kdr_mat *parts = NULL;
	const kdr_mat **list = NULL;
	for (int64_t t = 0; t < count; t++)
		room += kdr_result_array(fitted, "train_col", first + t).shape[0];
	KDRI_TRY(KDRI_NEW(ctx, &col, room));
	KDRI_TRY(KDRI_NEW(ctx, &parts, count));
	KDRI_TRY(KDRI_NEW(ctx, &list, count + 1));
	begin[0] = 0;
	for (int64_t t = 0; t < count; t++) {
		KDRI_TRY(train_take(ctx, fitted, first + t, kdr_mat_cols(x), col, &used, &parts[t]));
		list[t] = &parts[t];
		begin[t + 1] = begin[t] + kdr_mat_rows(&parts[t]);
	}
	list[count] = x;
	KDRI_TRY(kdri_mat_stack(ctx, list, count + 1, all));
done:
	kdri_free(ctx, col);
	kdri_free(ctx, parts);
	kdri_free(ctx, list);
	return st;
}

kdr_status kdri_train_memberships(kdr_context *ctx, const kdr_result *fitted, int64_t t, int64_t n,
                                  const double **out)
{
	kdr_array y = kdr_result_array(fitted, "memberships", t);
	int64_t k = kdr_result_k(fitted, t);
	if (!y.data || y.ndim != 2 || y.shape[0] != n || y.shape[1] != k)
		return kdri_fail(
		        ctx, KDR_ERR_DATA,
		        "the model does not have the memberships of %lld samples in %lld clusters for data set number %lld",
		        (long long)n, (long long)k, (long long)t + 1);
	*out = y.data;
	return KDR_OK;
}
