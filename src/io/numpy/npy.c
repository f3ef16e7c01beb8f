/* NumPy's .npy: arrays in and out. SPDX-License-Identifier: BSD-3-Clause
 *
 * Elements are read through a block of fixed size into their final place, so that the peak memory is the matrix and that
 * block. A streamed matrix of doubles in C order is the mapped file itself. Fortran order is transposed a group of
 * columns at a time: each pass writes runs of the group's width into every row, which keeps the stores within few cache
 * lines. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "core/system.h"
#include "io/binary.h"

/* The header of NumPy's array format.
 *
 * "\x93NUMPY", two bytes of version, a length (16 bits in version 1, 32 after), and that many bytes of
 * a Python literal such as {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }. The literal is
 * parsed, not evaluated: strings, True, False and tuples of numbers are all that can occur for the
 * arrays read here. */

/* NumPy itself refuses more than 10000 by default; a header is some 100 bytes. */
enum { HEADER_MOST = 1 << 16 };

typedef struct cursor {
	const char *p, *end;
} cursor;

static void skip_spaces(cursor *c)
{
	while (c->p < c->end && (*c->p == ' ' || *c->p == '\t' || *c->p == '\n' || *c->p == '\r'))
		c->p++;
}

static bool npy_header_take(cursor *c, char wanted)
{
	skip_spaces(c);
	if (c->p == c->end || *c->p != wanted)
		return false;
	c->p++;
	return true;
}

static bool take_word(cursor *c, const char *word)
{
	size_t n = strlen(word);
	skip_spaces(c);
	if ((size_t)(c->end - c->p) < n || memcmp(c->p, word, n) != 0)
		return false;
	c->p += n;
	return true;
}

/* A quoted string without escapes, cut to the room. */
static bool take_string(cursor *c, char *out, size_t room)
{
	size_t used = 0;
	skip_spaces(c);
	if (c->p == c->end || (*c->p != '\'' && *c->p != '"'))
		return false;
	for (char quote = *c->p++; c->p < c->end && *c->p != quote; c->p++) {
		if (*c->p == '\\')
			return false;
		if (used + 1 < room)
			out[used++] = *c->p;
	}
	out[used] = '\0';
	if (c->p == c->end)
		return false;
	c->p++;
	return true;
}

static kdr_status take_shape(kdr_context *ctx, const char *label, cursor *c, kdri_npy_header *h)
{
	h->ndim = 0;
	if (!npy_header_take(c, '('))
		goto damaged;
	while (!npy_header_take(c, ')')) {
		int64_t size = 0;
		skip_spaces(c);
		if (c->p < c->end && *c->p == '-')
			return kdri_fail(ctx, KDR_ERR_FORMAT, "%s: the array's shape has a negative size",
			                 label);
		if (c->p == c->end || *c->p < '0' || *c->p > '9')
			goto damaged;
		for (; c->p < c->end && *c->p >= '0' && *c->p <= '9'; c->p++) {
			if (size > (INT64_MAX - 9) / 10)
				return kdri_fail(ctx, KDR_ERR_SIZE,
				                 "%s: the array's shape is larger than any memory", label);
			size = 10 * size + (*c->p - '0');
		}
		if (c->p < c->end && *c->p == 'L') /* Python 2 wrote long integers so */
			c->p++;
		if (h->ndim < 3)
			h->shape[h->ndim] = size;
		h->ndim++;
		if (!npy_header_take(c, ',')) {
			if (!npy_header_take(c, ')'))
				goto damaged;
			break;
		}
	}
	return KDR_OK;
damaged:
	return kdri_fail(ctx, KDR_ERR_FORMAT,
	                 "%s: the array's shape cannot be read; (rows, columns) is expected", label);
}

static kdr_status decode_type(kdr_context *ctx, const char *label, const char *descr, kdri_npy_header *h)
{
	static const struct {
		char code[3];
		kdri_element type;
	} numbers[] = { { "i1", KDRI_ELEMENT_I1 }, { "i2", KDRI_ELEMENT_I2 }, { "i4", KDRI_ELEMENT_I4 },
		        { "i8", KDRI_ELEMENT_I8 }, { "u1", KDRI_ELEMENT_U1 }, { "u2", KDRI_ELEMENT_U2 },
		        { "u4", KDRI_ELEMENT_U4 }, { "u8", KDRI_ELEMENT_U8 }, { "f2", KDRI_ELEMENT_F2 },
		        { "f4", KDRI_ELEMENT_F4 }, { "f8", KDRI_ELEMENT_F8 }, { "b1", KDRI_ELEMENT_BOOL } };
	const char *type = descr;
	bool little = kdri_little_endian();
	if (*type == '<' || *type == '>' || *type == '|' || *type == '=')
		type++;
	h->swapped = descr[0] == (little ? '>' : '<');
	for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
		if (strcmp(type, numbers[i].code) == 0) {
			h->kind = 'n';
			h->type = numbers[i].type;
			h->width = (int64_t)kdri_element_size(h->type);
			return KDR_OK;
		}
	if (type[0] == 'S' || type[0] == 'U') {
		int64_t n = 0;
		for (const char *p = type + 1; *p >= '0' && *p <= '9' && n < 1 << 20; p++)
			n = 10 * n + (*p - '0');
		h->kind = type[0];
		h->width = type[0] == 'U' ? 4 * n : n;
		return KDR_OK;
	}
	const char *what = type[0] == 'O'                     ? "Python objects"
	                   : type[0] == 'c'                   ? "complex numbers"
	                   : type[0] == 'M' || type[0] == 'm' ? "dates or times"
	                   : type[0] == 'f'                   ? "extended floating-point numbers"
	                   : type[0] == 'V'                   ? "raw records"
	                                                      : "an unknown type";
	return kdri_fail(
	        ctx, type[0] == 'f' ? KDR_ERR_UNSUPPORTED : KDR_ERR_FORMAT,
	        "%s: the array contains %s (dtype '%s'); integers, booleans and floats of up to 64 bits are supported",
	        label, what, descr);
}

static kdr_status npy_header_parse(kdr_context *ctx, const char *label, cursor *c, kdri_npy_header *h)
{
	kdr_status st = KDR_OK;
	bool seen_descr = false, seen_order = false, seen_shape = false;
	char key[32], descr[32];
	if (!npy_header_take(c, '{'))
		goto damaged;
	while (!npy_header_take(c, '}')) {
		if (!take_string(c, key, sizeof key) || !npy_header_take(c, ':'))
			goto damaged;
		if (strcmp(key, "descr") == 0) {
			if (npy_header_take(c, '['))
				return kdri_fail(
				        ctx, KDR_ERR_FORMAT,
				        "%s: the array contains records (a structured dtype); only plain numbers are supported",
				        label);
			if (!take_string(c, descr, sizeof descr))
				goto damaged;
			KDRI_TRY(decode_type(ctx, label, descr, h));
			seen_descr = true;
		} else if (strcmp(key, "fortran_order") == 0) {
			h->fortran = take_word(c, "True");
			if (!h->fortran && !take_word(c, "False"))
				goto damaged;
			seen_order = true;
		} else if (strcmp(key, "shape") == 0) {
			KDRI_TRY(take_shape(ctx, label, c, h));
			seen_shape = true;
		} else {
			goto damaged;
		}
		if (!npy_header_take(c, ',')) {
			if (!npy_header_take(c, '}'))
				goto damaged;
			break;
		}
	}
	if (!seen_descr || !seen_order || !seen_shape)
		goto damaged;
done:
	return st;
damaged:
	return kdri_fail(ctx, KDR_ERR_FORMAT,
	                 "%s: the array's header cannot be read; descr, fortran_order and shape are expected",
	                 label);
}

/* The size, known not to overflow and not beyond what the source can give. */
static kdr_status check_size(kdr_context *ctx, const kdri_source *s, int64_t header_bytes, kdri_npy_header *h)
{
	kdr_status st = KDR_OK;
	int64_t bytes;
	h->count = 1;
	for (int i = 0; i < h->ndim && i < 3; i++)
		if (kdri_mul(ctx, h->count, h->shape[i], &h->count) != KDR_OK)
			goto too_large;
	if (kdri_mul(ctx, h->count, KDRI_MAX(h->width, (int64_t)sizeof(double)), &bytes) != KDR_OK)
		goto too_large;
	bytes = h->count * h->width;
	if (s->most >= 0 && bytes > s->most - header_bytes)
		return kdri_fail(
		        ctx, KDR_ERR_FORMAT,
		        "%s: the header of the array claims %lld bytes, but at most %lld can follow; the file is truncated or damaged",
		        s->label, (long long)bytes, (long long)KDRI_MAX(0, s->most - header_bytes));
	return st;
too_large:
	return kdri_fail(ctx, KDR_ERR_SIZE, "%s: the array's shape is larger than any memory", s->label);
}

kdr_status kdri_source_exactly(kdr_context *ctx, const kdri_source *source, void *buffer, size_t size)
{
	size_t got = 0;
	kdr_status st = source->read(ctx, source->user, buffer, size, &got);
	if (st == KDR_OK && got < size)
		return kdri_fail(ctx, KDR_ERR_FORMAT,
		                 "%s: ends in the middle of an array; the file is truncated", source->label);
	return st;
}

kdr_status kdri_npy_read_header(kdr_context *ctx, const kdri_source *source, kdri_npy_header *out)
{
	kdr_status st;
	kdri_npy_header h = { .kind = 'n' };
	unsigned char start[12];
	char *text = NULL;
	size_t got = 0;
	KDRI_TRY(source->read(ctx, source->user, start, 10, &got));
	if (got < 10 || memcmp(start, "\x93NUMPY", 6) != 0)
		KDRI_FAIL(ctx, KDR_ERR_FORMAT, "%s: is not a NumPy array (it does not begin with \\x93NUMPY)",
		          source->label);
	int version = start[6];
	if (version < 1 || version > 3)
		KDRI_FAIL(ctx, KDR_ERR_FORMAT,
		          "%s: version %d of the NumPy format is not supported; 1 to 3 are", source->label,
		          version);
	size_t length = (size_t)start[8] | (size_t)start[9] << 8, prefix = 10;
	if (version > 1) {
		KDRI_TRY(kdri_source_exactly(ctx, source, start + 10, 2));
		length |= (size_t)start[10] << 16 | (size_t)start[11] << 24;
		prefix = 12;
	}
	if (length > HEADER_MOST || (source->most >= 0 && (int64_t)length > source->most))
		KDRI_FAIL(ctx, KDR_ERR_FORMAT,
		          "%s: an array header of %zu bytes is too long or exceeds the file", source->label,
		          length);
	KDRI_TRY(KDRI_NEW(ctx, &text, length));
	KDRI_TRY(kdri_source_exactly(ctx, source, text, length));
	cursor c = { text, text + length };
	KDRI_TRY(npy_header_parse(ctx, source->label, &c, &h));
	h.begin = (int64_t)(prefix + length);
	KDRI_TRY(check_size(ctx, source, h.begin, &h));
	*out = h;
done:
	kdri_free(ctx, text);
	return st;
}

size_t kdri_npy_make_header(const char *descr, int ndim, const int64_t *shape,
                            unsigned char out[KDRI_NPY_HEADER_ROOM])
{
	char sizes[80] = "";
	int used = 0;
	for (int i = 0; i < ndim; i++)
		used += snprintf(sizes + used, sizeof sizes - (size_t)used, "%s%lld", i ? ", " : "",
		                 (long long)shape[i]);
	/* Python writes a tuple of one with a trailing comma. */
	int n = snprintf((char *)out + 10, KDRI_NPY_HEADER_ROOM - 10,
	                 "{'descr': '%s%s', 'fortran_order': False, 'shape': (%s%s), }",
	                 descr[0] == 'S'        ? "|"
	                 : kdri_little_endian() ? "<"
	                                        : ">",
	                 descr, sizes, ndim == 1 ? "," : "");
	size_t length = (size_t)n + 11, total = (length + 63) / 64 * 64;
	memset(out + 10 + n, ' ', total - 11 - (size_t)n);
	out[total - 1] = '\n';
	static const unsigned char version_1[8] = { 0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0 };
	memcpy(out, version_1, sizeof version_1);
	out[8] = (unsigned char)(total - 10);
	out[9] = (unsigned char)((total - 10) >> 8);
	return total;
}

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
