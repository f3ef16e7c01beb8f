/* NumPy's .npy: arrays in and out. SPDX-License-Identifier: BSD-3-Clause
 *
 * Elements are read through a block of fixed size into their final place, so that the peak memory is the matrix and that
 * block. A streamed matrix of doubles in C order is the mapped file itself. Fortran order is transposed a group of
 * columns at a time: each pass writes runs of the group's width into every row, which keeps the stores within few cache
 * lines. */
#include "core/system.h"
#include "io/binary.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { BLOCK = 1 << 16 /* elements */, GROUP_BYTES = 1 << 24 };

/* A source of unknown length is believed only as far as it has delivered; so much is granted at once. */
static const int64_t unknown_most = (int64_t)1 << 27;

/* Reads `count` elements as doubles. */
static kdr_status read_block(kdr_context *ctx, const kdri_source *s, const kdri_npy_header *h,
                             unsigned char *raw, int64_t count, double *out)
{
	if (h->width == sizeof(double)) {
		KDRI_DO(kdri_source_exactly(ctx, s, out, (size_t)count * sizeof *out));
		kdri_element_to_double(h->type, h->swapped, out, count, out);
		return KDR_OK;
	}
	for (int64_t i = 0; i < count; i += BLOCK) {
		int64_t n = KDRI_MIN(BLOCK, count - i);
		KDRI_DO(kdri_source_exactly(ctx, s, raw, (size_t)(n * h->width)));
		kdri_element_to_double(h->type, h->swapped, raw, n, out + i);
	}
	return KDR_OK;
}

static kdr_status need_numbers(kdr_context *ctx, const kdri_source *s, const kdri_npy_header *h,
                               bool integers)
{
	if (h->kind != 'n')
		return kdri_fail(ctx, KDR_ERR_FORMAT, "%s: the array contains text; numbers are expected",
		                 s->label);
	if (integers && !kdri_element_integer(h->type))
		return kdri_fail(ctx, KDR_ERR_FORMAT, "%s: the array does not contain integers", s->label);
	return KDR_OK;
}

kdr_status kdri_npy_read_doubles(kdr_context *ctx, const kdri_source *s, const kdri_npy_header *h,
                                 double **out)
{
	kdr_status st;
	unsigned char *raw = NULL;
	double *values = NULL;
	int64_t room = s->most >= 0 ? h->count : KDRI_MIN(h->count, unknown_most), have = 0;
	KDRI_TRY(need_numbers(ctx, s, h, false));
	KDRI_TRY(kdri_alloc(ctx, &raw, BLOCK, (size_t)h->width));
	KDRI_TRY(KDRI_NEW(ctx, &values, room));
	for (;;) {
		KDRI_TRY(read_block(ctx, s, h, raw, room - have, values + have));
		have = room;
		if (have == h->count)
			break;
		room = h->count - have > have ? 2 * have : h->count;
		KDRI_TRY(KDRI_GROW(ctx, &values, room));
	}
	*out = values;
	values = NULL;
done:
	KDRI_FREE(ctx, raw, values);
	return st;
}

kdr_status kdri_npy_read_int64(kdr_context *ctx, const kdri_source *s, const kdri_npy_header *h,
                               int64_t **out)
{
	kdr_status st;
	unsigned char *raw = NULL;
	int64_t *values = NULL;
	KDRI_TRY(need_numbers(ctx, s, h, true));
	KDRI_TRY(kdri_alloc(ctx, &raw, BLOCK, (size_t)h->width));
	KDRI_TRY(KDRI_NEW(ctx, &values, h->count));
	for (int64_t i = 0; i < h->count; i += BLOCK) {
		int64_t n = KDRI_MIN(BLOCK, h->count - i);
		KDRI_TRY(kdri_source_exactly(ctx, s, raw, (size_t)(n * h->width)));
		if (!kdri_element_to_int64(h->type, h->swapped, raw, n, values + i))
			KDRI_FAIL(ctx, KDR_ERR_SIZE, "%s: an integer is larger than 2^63", s->label);
	}
	*out = values;
	values = NULL;
done:
	KDRI_FREE(ctx, raw, values);
	return st;
}

kdr_status kdri_npy_read_indices(kdr_context *ctx, const kdri_source *s, const kdri_npy_header *h,
                                 int64_t bound, int32_t **out)
{
	kdr_status st;
	unsigned char *raw = NULL;
	int64_t *wide = NULL;
	int32_t *values = NULL;
	KDRI_TRY(need_numbers(ctx, s, h, true));
	KDRI_TRY(kdri_alloc(ctx, &raw, BLOCK, (size_t)h->width));
	KDRI_TRY(KDRI_NEW(ctx, &wide, BLOCK));
	KDRI_TRY(KDRI_NEW(ctx, &values, h->count));
	for (int64_t i = 0; i < h->count; i += BLOCK) {
		int64_t n = KDRI_MIN(BLOCK, h->count - i);
		KDRI_TRY(kdri_source_exactly(ctx, s, raw, (size_t)(n * h->width)));
		bool fits = kdri_element_to_int64(h->type, h->swapped, raw, n, wide);
		for (int64_t j = 0; j < n; j++) {
			if (!fits || wide[j] < 0 || wide[j] >= bound)
				KDRI_FAIL(ctx, KDR_ERR_FORMAT,
				          "%s: index %lld is outside the range from 0 to %lld", s->label,
				          (long long)wide[j], (long long)(bound - 1));
			values[i + j] = (int32_t)wide[j];
		}
	}
	*out = values;
	values = NULL;
done:
	KDRI_FREE(ctx, raw, wide, values);
	return st;
}

static kdr_status read_fortran(kdr_context *ctx, const kdri_source *s, const kdri_npy_header *h, int64_t rows,
                               int64_t cols, double **out)
{
	kdr_status st;
	unsigned char *raw = NULL;
	double *group = NULL, *values = NULL;
	int64_t width = KDRI_MAX(1, KDRI_MIN(cols, GROUP_BYTES / (int64_t)sizeof(double) / rows));
	if (s->most < 0 && h->count > unknown_most)
		return kdri_fail(
		        ctx, KDR_ERR_UNSUPPORTED,
		        "%s: an array in Fortran order of more than 1 GiB cannot be read from a pipe; use a file",
		        s->label);
	KDRI_TRY(kdri_alloc(ctx, &raw, BLOCK, (size_t)h->width));
	KDRI_TRY(KDRI_NEW(ctx, &group, width * rows));
	KDRI_TRY(KDRI_NEW(ctx, &values, h->count));
	for (int64_t j = 0; j < cols; j += width) {
		int64_t w = KDRI_MIN(width, cols - j);
		KDRI_TRY(read_block(ctx, s, h, raw, w * rows, group));
#pragma omp parallel for schedule(static) num_threads(kdri_team(ctx))
		for (int64_t i = 0; i < rows; i++)
			for (int64_t l = 0; l < w; l++)
				values[i * cols + j + l] = group[l * rows + i];
	}
	*out = values;
	values = NULL;
done:
	KDRI_FREE(ctx, raw, group, values);
	return st;
}

kdr_status kdri_npy_read_matrix(kdr_context *ctx, const kdri_source *s, const kdri_npy_header *h,
                                kdr_data *data)
{
	double *values = NULL;
	KDRI_DO(need_numbers(ctx, s, h, false));
	if (h->ndim != 1 && h->ndim != 2)
		return kdri_fail(ctx, KDR_ERR_FORMAT, "%s: the array has %d dimensions; 1 or 2 are supported",
		                 s->label, h->ndim);
	int64_t rows = h->shape[0], cols = h->ndim == 2 ? h->shape[1] : 1;
	if (h->count == 0)
		return kdri_fail(
		        ctx, KDR_ERR_DATA,
		        "%s: the array is empty (%lld x %lld); at least one row and one column are needed",
		        s->label, (long long)rows, (long long)cols);
	if (h->fortran && rows > 1 && cols > 1)
		KDRI_DO(read_fortran(ctx, s, h, rows, cols, &values));
	else
		KDRI_DO(kdri_npy_read_doubles(ctx, s, h, &values));
	data->kind = KDR_MAT_DENSE;
	data->rows = rows;
	data->cols = cols;
	data->dense = values;
	return KDR_OK;
}

static kdr_status input_read(kdr_context *ctx, void *user, void *buffer, size_t want, size_t *got)
{
	return kdri_input_read(ctx, user, buffer, want, got);
}

/* Whether the file holds the matrix as memory would. */
static bool as_in_memory(const kdri_input *in, const kdri_npy_header *h)
{
	return !kdri_input_compressed(in) && kdri_input_size(in) >= 0 && h->kind == 'n' &&
	       h->type == KDRI_ELEMENT_F8 && !h->swapped && h->begin % (int64_t)sizeof(double) == 0 &&
	       h->count > 0 &&
	       (h->ndim == 1 || (h->ndim == 2 && (!h->fortran || h->shape[0] == 1 || h->shape[1] == 1)));
}

/* The header was checked against the size of the file. */
static kdr_status map_matrix(kdr_context *ctx, const char *path, const kdri_npy_header *h, kdr_data *data)
{
	kdr_status st;
	int fd = kdri_open(path, O_RDONLY);
	if (fd < 0)
		return kdri_fail(ctx, KDR_ERR_READ, "%s: cannot open: %s", path, strerror(errno));
	KDRI_TRY(kdri_spool_map(ctx, fd, h->begin, h->count * h->width, path, &data->mapped));
	data->kind = KDR_MAT_DENSE;
	data->rows = h->shape[0];
	data->cols = h->ndim == 2 ? h->shape[1] : 1;
	data->dense = data->mapped;
	data->borrowed = true;
done:
	close(fd);
	return st;
}

/* Only the rows of `range` are left of header and source. */
static kdr_status npy_cut(kdr_context *ctx, const kdri_source *s, kdri_input *in, kdri_range range,
                          kdri_npy_header *h)
{
	if (h->fortran && h->ndim == 2 && h->shape[0] > 1 && h->shape[1] > 1)
		return kdri_fail(ctx, KDR_ERR_UNSUPPORTED,
		                 "%s: an array in Fortran order cannot be read in parts; save it in C order",
		                 s->label);
	int64_t cols = h->count / KDRI_MAX(h->shape[0], 1);
	KDRI_DO(kdri_input_skip(ctx, in, range.first * cols * h->width));
	h->begin += range.first * cols * h->width;
	h->shape[0] = range.last - range.first;
	h->count = h->shape[0] * cols;
	return KDR_OK;
}

static kdr_status read_npy(kdr_context *ctx, const char *path, const kdr_read_options *options,
                           kdr_data *data)
{
	kdr_status st;
	kdri_input *in = NULL;
	kdri_npy_header header;
	KDRI_TRY(kdri_input_open(ctx, path, &in));
	kdri_source source = { input_read, in, kdri_input_path(in), kdri_input_size(in) };
	if (kdri_input_compressed(in) && source.most >= 0)
		source.most = source.most > INT64_MAX / KDRI_DEFLATE_MOST ? INT64_MAX
		                                                          : source.most * KDRI_DEFLATE_MOST;
	KDRI_TRY(kdri_npy_read_header(ctx, &source, &header));
	int64_t rows = header.shape[0];
	kdri_range range = kdri_range_of(options, rows);
	if (range.last - range.first < rows)
		KDRI_TRY(npy_cut(ctx, &source, in, range, &header));
	bool columns = header.ndim == 1 || (header.ndim == 2 && header.shape[1] > 0);
	if (range.last == range.first && columns && (rows > 0 || kdri_may_be_empty(options))) {
		KDRI_TRY(kdri_data_no_rows(ctx, data, KDR_MAT_DENSE, header.ndim == 2 ? header.shape[1] : 1));
	} else if (data->streamed && as_in_memory(in, &header)) {
		KDRI_TRY(map_matrix(ctx, path, &header, data));
	} else {
		KDRI_TRY(kdri_npy_read_matrix(ctx, &source, &header, data));
	}
	KDRI_TRY(kdri_range_note(ctx, options, range, rows, data));
done:
	kdri_input_close(ctx, in);
	return st;
}

/* --- out ---------------------------------------------------------------------------------------- */

/* A sparse data set is written as a dense file one row at a time, without forming a dense matrix. */
static kdr_status write_npy(kdr_context *ctx, const char *path, const kdr_data *data, bool force)
{
	kdr_status st;
	kdri_output *o = NULL;
	double *row = NULL;
	unsigned char header[KDRI_NPY_HEADER_ROOM];
	const int64_t shape[2] = { data->rows, data->cols };
	KDRI_TRY(kdri_output_open(ctx, path, force, &o));
	KDRI_TRY(kdri_output_write(ctx, o, header, kdri_npy_make_header("f8", 2, shape, header)));
	if (data->kind == KDR_MAT_DENSE) {
		KDRI_TRY(kdri_output_write(ctx, o, data->dense,
		                           (size_t)data->rows * (size_t)data->cols * sizeof(double)));
	} else {
		KDRI_TRY(KDRI_NEW0(ctx, &row, data->cols));
		for (int64_t i = 0; i < data->rows; i++) {
			for (int64_t p = data->rowptr[i]; p < data->rowptr[i + 1]; p++)
				row[data->col[p]] = data->val[p];
			KDRI_TRY(kdri_output_write(ctx, o, row, (size_t)data->cols * sizeof *row));
			for (int64_t p = data->rowptr[i]; p < data->rowptr[i + 1]; p++)
				row[data->col[p]] = 0;
		}
	}
done:
	kdri_free(ctx, row);
	return kdri_output_finish(ctx, o, st);
}

static const char *const endings[] = { ".npy", ".npy.gz", NULL };

const kdri_format kdri_format_npy = {
	.id = "npy",
	.endings = endings,
	.read = read_npy,
	.write = write_npy,
	.help = "NumPy array: numbers of any type and byte order, C or Fortran order",
	.parts = true,
};
