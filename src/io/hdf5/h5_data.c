/* A data set from an HDF5 file, read in this process or in a child. SPDX-License-Identifier: BSD-3-Clause */
#include "io/hdf5/h5.h"

typedef struct request {
	const char *file, *member;
	const kdr_read_options *options;
	kdri_h5_reader reader;
} request;

static kdr_status read_file(kdr_context *ctx, const void *user, void *result)
{
	const request *r = user;
	kdr_status st;
	kdri_h5 h5 = { 0 };
	kdr_data *data = result;
	data->allocator = ctx->allocator;
	KDRI_TRY(kdri_h5_open(ctx, r->file, &h5));
	KDRI_TRY(r->reader(ctx, &h5, r->member, r->options, data));
done:
	kdri_h5_close(&h5);
	return st;
}

/* Whether indices into a list of `count` names, -1 for none, are sound. */
static bool sound_indices(const int64_t *of, int64_t rows, int64_t count)
{
	for (int64_t i = 0; of && i < rows; i++)
		if (of[i] < -1 || of[i] >= count)
			return false;
	return true;
}

/* Whether sparse rows are what kdr_csr promises. */
static bool sound_rows(const kdr_data *d)
{
	for (int64_t i = 0; i < d->rows; i++)
		for (int64_t p = d->rowptr[i], before = -1; p < d->rowptr[i + 1]; before = d->col[p++])
			if (d->col[p] <= before || d->col[p] >= d->cols)
				return false;
	return true;
}

static kdr_status take_matrix(kdr_context *ctx, kdri_handed *h, const kdr_data *got, kdr_data *d)
{
	int64_t cells = 0;
	KDRI_DO(kdri_mul(ctx, got->rows, got->cols, &cells));
	d->rows = got->rows;
	d->cols = got->cols;
	d->kind = got->dense ? KDR_MAT_DENSE : KDR_MAT_CSR;
	if (got->dense)
		return kdri_handed_array(ctx, h, got->dense, cells, sizeof *d->dense, &d->dense);
	KDRI_DO(kdri_handed_array(ctx, h, got->rowptr, d->rows + 1, sizeof *d->rowptr, &d->rowptr));
	bool sound = d->rowptr && d->rowptr[0] == 0 && got->col && got->val;
	for (int64_t i = 0; sound && i < d->rows; i++)
		sound = d->rowptr[i + 1] >= d->rowptr[i];
	if (!sound)
		return kdri_handed_damaged(ctx, h);
	const int64_t nnz = d->rowptr[d->rows];
	KDRI_DO(kdri_handed_array(ctx, h, got->col, nnz, sizeof *d->col, &d->col));
	KDRI_DO(kdri_handed_array(ctx, h, got->val, nnz, sizeof *d->val, &d->val));
	if (!sound_rows(d))
		return kdri_handed_damaged(ctx, h);
	return KDR_OK;
}

/* Takes over what a child has read into `got`. */
static kdr_status take_data(kdr_context *ctx, kdri_handed *h, const kdr_data *got, kdr_data *d)
{
	kdr_status st;
	const kdri_groups *g = &got->groups;
	const int64_t rows = got->rows;
	KDRI_TRY(take_matrix(ctx, h, got, d));
	KDRI_TRY(kdri_handed_strings(ctx, h, got->features, d->cols, &d->features));
	KDRI_TRY(kdri_handed_strings(ctx, h, got->ids, rows, &d->ids));
	KDRI_TRY(kdri_handed_strings(ctx, h, got->classes, got->nclasses, &d->classes));
	d->nclasses = d->classes ? got->nclasses : 0;
	KDRI_TRY(kdri_handed_array(ctx, h, got->labels, rows, sizeof *d->labels, &d->labels));
	KDRI_TRY(kdri_handed_strings(ctx, h, g->names, g->count, &d->groups.names));
	d->groups.count = d->groups.names ? g->count : 0;
	d->groups.all = g->all;
	KDRI_TRY(kdri_handed_array(ctx, h, g->of, rows, sizeof *d->groups.of, &d->groups.of));
	KDRI_TRY(kdri_handed_array(ctx, h, got->origin, rows, sizeof *d->origin, &d->origin));
	d->file_rows = got->file_rows;
	if (!sound_indices(d->labels, rows, d->nclasses) ||
	    !sound_indices(d->groups.of, rows, d->groups.count) ||
	    !sound_indices(d->origin, rows, d->file_rows))
		st = kdri_handed_damaged(ctx, h);
done:
	return st;
}

kdr_status kdri_h5_read(kdr_context *ctx, const char *path, const kdr_read_options *options,
                        kdri_h5_reader reader, kdr_data *data)
{
	kdr_status st;
	char *file = NULL, *member = NULL;
	int64_t bytes = 0;
	kdri_handed handed = { 0 };
	kdr_data got = *data;
	KDRI_TRY(kdri_split_member(ctx, path, &file, &member));
	KDRI_TRY(kdri_h5_check_file(ctx, file, &bytes));
	const request r = { file, member, options, reader };
	const kdri_child_job job = { .path = file,
		                     .file_bytes = (double)bytes,
		                     .run = read_file,
		                     .user = &r,
		                     .result_size = sizeof got };
	st = kdri_run_apart(ctx, &job, &got, &handed);
	if (ctx->isolation <= 0)
		*data = got; /* the caller frees what was allocated */
	else if (st == KDR_OK)
		st = take_data(ctx, &handed, &got, data);
	data->allocator = ctx->allocator; /* which may now free arrays that were taken over */
done:
	kdri_handed_free(&handed);
	KDRI_FREE(ctx, file, member);
	return st;
}
