/* Gathers a result whose rows are on several ranks on rank 0. SPDX-License-Identifier: BSD-3-Clause
 *
 * Everything with one entry per sample (labels etc., never the data) is sent to rank 0, one rank after the other, in the
 * order of the rows. Everything else is the same on all ranks, except for counts, which are added up. */
#include "api/gather.h"
#include "api/method.h"
#include "api/result.h"
#include "comm/comm.h"

/* n numbers of 8 bytes in *v, or NULL on all ranks, become those of all ranks on rank 0. */
static kdr_status gather_all(kdr_context *ctx, void *v, int64_t numbers)
{
	double *own, *all = NULL; /* integers have the same size */
	int64_t bytes;
	memcpy(&own, v, sizeof own);
	bool present = own != NULL;
	KDRI_DO(kdri_any(ctx, &present));
	if (!present)
		return KDR_OK;
	KDRI_DO(kdri_gather(ctx, own, own ? numbers * (int64_t)sizeof *own : 0, &all, &bytes));
	if (all) {
		kdri_free(ctx, own);
		memcpy(v, &all, sizeof all);
	}
	return KDR_OK;
}

/* Names of samples: as one text of strings ended by zeros. */
static kdr_status gather_names(kdr_context *ctx, char ***names, int64_t n)
{
	kdr_status st = KDR_OK;
	char *text = NULL, *all = NULL, **list = NULL;
	int64_t length = 0, bytes, count = n, at = 0;
	bool present = *names != NULL;
	KDRI_TRY(kdri_any(ctx, &present));
	if (!present)
		return KDR_OK;
	for (int64_t i = 0; *names && i < n; i++)
		length += (int64_t)strlen((*names)[i]) + 1;
	KDRI_TRY(KDRI_NEW(ctx, &text, length));
	for (int64_t i = 0; *names && i < n; i++) {
		size_t size = strlen((*names)[i]) + 1;
		memcpy(text + at, (*names)[i], size);
		at += (int64_t)size;
	}
	KDRI_TRY(kdri_gather(ctx, text, length, &all, &bytes));
	KDRI_TRY(kdri_sum_int(ctx, &count, 1));
	if (!all)
		goto done;
	KDRI_TRY(KDRI_NEW0(ctx, &list, count));
	at = 0;
	for (int64_t i = 0; i < count && at < bytes; i++, at += (int64_t)strlen(all + at) + 1)
		KDRI_TRY(kdri_strdup(ctx, all + at, &list[i]));
	kdri_strings_free(&ctx->allocator, *names, n);
	*names = list;
	list = NULL;
done:
	kdri_strings_free(&ctx->allocator, list, count);
	KDRI_FREE(ctx, text, all);
	return st;
}

/* The axis of an array that has an entry for each sample, by the method's table; -1: none. */
int kdri_sample_axis(const kdr_result *r, const kdr_array *a)
{
	for (const kdr_field_desc *f = r->algo->fields; f && f->name; f++)
		if (strcmp(f->name, a->name) == 0) {
			size_t length = strlen(f->shape);
			if (f->shape[0] == 'n' && (length == 1 || f->shape[1] == ' '))
				return 0;
			return a->ndim == 2 && length > 4 && strcmp(f->shape + length - 4, " x n") == 0 ? 1
			                                                                                : -1;
		}
	return -1;
}

/* Rows x n numbers, n of them here, become rows x *all on rank 0, where ranks follow each other in every row. */
static kdr_status gather_columns(kdr_context *ctx, void *v, int64_t rows, int64_t n, int64_t *all)
{
	kdr_status st;
	double *own, *parts = NULL, *whole = NULL; /* integers have the same size */
	int64_t *each = NULL, bytes, from = 0, before = 0;
	memcpy(&own, v, sizeof own);
	KDRI_TRY(KDRI_NEW(ctx, &each, kdri_ranks(ctx)));
	KDRI_TRY(kdri_each(ctx, n, each));
	KDRI_TRY(kdri_gather(ctx, own, rows * n * (int64_t)sizeof *own, &parts, &bytes));
	*all = 0;
	for (int r = 0; r < kdri_ranks(ctx); r++)
		*all += each[r];
	if (!parts)
		goto done;
	KDRI_TRY(KDRI_NEW(ctx, &whole, rows * *all));
	for (int r = 0; r < kdri_ranks(ctx); before += each[r++])
		for (int64_t i = 0; i < rows; i++, from += each[r])
			memcpy(whole + i * *all + before, parts + from, (size_t)each[r] * sizeof *whole);
	kdri_free(ctx, own);
	memcpy(v, &whole, sizeof whole);
done:
	KDRI_FREE(ctx, each, parts);
	return st;
}

kdr_status kdri_result_gather(kdr_context *ctx, kdr_result *r)
{
	for (int64_t i = 0; i < r->array_count; i++) {
		kdr_array *a = &r->arrays[i];
		int64_t rows = a->shape[0], width = 1;
		int axis = kdri_sample_axis(r, a);
		if (axis == 1) {
			int64_t all;
			KDRI_DO(gather_columns(ctx, &a->data, rows, a->shape[1], &all));
			a->shape[1] = kdri_rank(ctx) == 0 ? all : a->shape[1];
		}
		if (axis != 0)
			continue;
		for (int d = 1; d < a->ndim; d++)
			width *= a->shape[d];
		KDRI_DO(gather_all(ctx, &a->data, rows * width));
		KDRI_DO(kdri_sum_int(ctx, &rows, 1));
		if (kdri_rank(ctx) == 0)
			a->shape[0] = rows;
	}
	for (int64_t t = 0; t < r->ntasks; t++) {
		kdri_task_result *task = &r->tasks[t];
		int64_t counts[] = { task->n, task->nnz };
		KDRI_DO(gather_all(ctx, &task->labels, task->n));
		KDRI_DO(gather_all(ctx, &task->confidence, task->n));
		KDRI_DO(gather_all(ctx, &task->second, task->n));
		KDRI_DO(gather_all(ctx, &task->probabilities, task->n * KDRI_MAX(r->nclasses, 1)));
		KDRI_DO(gather_names(ctx, &task->ids, task->n));
		KDRI_DO(kdri_sum_int(ctx, counts, 2));
		if (kdri_rank(ctx) == 0) {
			task->n = counts[0];
			task->nnz = counts[1];
			task->first = 0;
		}
	}
	r->parted = false;
	return KDR_OK;
}

#ifdef KDRI_HAVE_MPI
#include "kindred/mpi.h"

kdr_status kdr_result_gather(kdr_context *ctx, kdr_result *result)
{
	if (!ctx || !result)
		return KDR_ERR_ARGUMENT;
	kdri_enter(ctx);
	return kdri_leave(ctx, kdri_together(ctx) ? kdri_result_gather(ctx, result) : KDR_OK);
}
#endif
