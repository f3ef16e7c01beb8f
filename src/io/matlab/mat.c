/* MATLAB files: v5 is read here, v7.3 is HDF5. SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "io/archive/inflate.h"
#include "io/matlab/mat.h"

/* MATLAB v5 files.
 *
 * After a header of 128 bytes there is one element per variable: a tag (type, bytes) and its data. A compressed element
 * contains another element as a zlib stream. A matrix is an element of elements: flags, sizes, name, then the numbers by
 * columns, or row indices, column pointers and values of a sparse matrix. Numbers may be stored in a smaller type than
 * their class. Files are read as a stream; sizes are compared with the bytes that can still follow before memory is
 * allocated. */

enum {
	T_MATRIX = 14,
	T_COMPRESSED = 15,
	C_CELL = 1,
	C_STRUCT = 2,
	C_CHAR = 4,
	C_SPARSE = 5,
	C_UINT64 = 15,
	F_COMPLEX = 0x0800,
	BUFFER = 1 << 16,
	GROUP = 1 << 17, /* elements turned at once */
	ELEMENTS_AT_ONCE = 1 << 16
};

typedef struct reader {
	const char *path;
	kdri_input *in;
	bool swapped, packed, stream_open;
	int64_t left; /* bytes of the variable that the file still has */
	z_stream z;
	unsigned char buffer[BUFFER];
} reader;

typedef struct element {
	uint32_t type, size;
	bool small; /* the data are inside the tag */
	unsigned char data[4];
} element;

typedef struct variable {
	char name[256];
	uint32_t class_id, flags;
	int ndim;
	int64_t rows, cols;
} variable;

static kdr_status mat5_damaged(kdr_context *ctx, const reader *r)
{
	return kdri_fail(ctx, KDR_ERR_FORMAT, "%s: a variable is damaged or truncated", r->path);
}

/* Exactly `size` raw bytes of the variable. */
static kdr_status take_raw(kdr_context *ctx, reader *r, void *to, size_t size)
{
	size_t got = 0;
	if ((uint64_t)size > (uint64_t)r->left)
		return mat5_damaged(ctx, r);
	kdr_status st = kdri_input_read(ctx, r->in, to, size, &got);
	r->left -= (int64_t)got;
	return st == KDR_OK && got < size ? mat5_damaged(ctx, r) : st;
}

/* Reads exactly `size` bytes of the variable, decompressed if necessary. */
static kdr_status mat5_take(kdr_context *ctx, reader *r, void *to, size_t size)
{
	unsigned char *out = to;
	if (!r->packed)
		return take_raw(ctx, r, to, size);
	while (size > 0) {
		if (r->z.avail_in == 0 && r->left > 0) {
			size_t n = (size_t)KDRI_MIN(r->left, BUFFER);
			KDRI_DO(take_raw(ctx, r, r->buffer, n));
			r->z.next_in = r->buffer;
			r->z.avail_in = (uInt)n;
		}
		size_t room = KDRI_MIN(size, (size_t)1 << 30);
		r->z.next_out = out;
		r->z.avail_out = (uInt)room;
		int code = inflate(&r->z, Z_NO_FLUSH);
		size_t n = room - r->z.avail_out;
		if (code == Z_MEM_ERROR)
			return kdri_fail(ctx, KDR_ERR_MEMORY, "%s: out of memory while decompressing",
			                 r->path);
		if ((code != Z_OK && code != Z_STREAM_END) || (code == Z_STREAM_END && n < size))
			return mat5_damaged(ctx, r);
		out += n;
		size -= n;
	}
	return KDR_OK;
}

/* The maximum number of bytes that can still follow. */
static int64_t most(const reader *r)
{
	return r->packed ? (r->left + r->z.avail_in + 1) * KDRI_DEFLATE_MOST : r->left;
}

static kdr_status take_integers(kdr_context *ctx, reader *r, kdri_element type, int64_t count, int64_t *out)
{
	kdr_status st;
	unsigned char raw[64 * 8];
	KDRI_TRY(mat5_take(ctx, r, raw, (size_t)count * kdri_element_size(type)));
	if (!kdri_element_to_int64(type, r->swapped, raw, count, out))
		st = mat5_damaged(ctx, r);
done:
	return st;
}

static kdr_status take_tag(kdr_context *ctx, reader *r, element *e)
{
	kdr_status st;
	int64_t word;
	*e = (element){ 0 };
	KDRI_TRY(take_integers(ctx, r, KDRI_ELEMENT_U4, 1, &word));
	e->type = (uint32_t)word;
	if (word >> 16) {
		/* The small form: size and type share a word, up to four bytes of data follow. */
		e->small = true;
		e->type = (uint32_t)word & 0xffff;
		e->size = (uint32_t)(word >> 16);
		KDRI_TRY(mat5_take(ctx, r, e->data, 4));
		if (e->size > 4)
			st = mat5_damaged(ctx, r);
		goto done;
	}
	KDRI_TRY(take_integers(ctx, r, KDRI_ELEMENT_U4, 1, &word));
	e->size = (uint32_t)word;
	if ((int64_t)e->size > most(r))
		st = mat5_damaged(ctx, r);
done:
	return st;
}

/* Some of an element's bytes; the last of them with what pads it to a multiple of eight. */
static kdr_status take_data(kdr_context *ctx, reader *r, const element *e, uint32_t from, void *to,
                            size_t size)
{
	unsigned char padding[8];
	if (e->small) {
		memcpy(to, e->data + from, size);
		return KDR_OK;
	}
	KDRI_DO(mat5_take(ctx, r, to, size));
	if (from + size == e->size && e->size % 8)
		KDRI_DO(mat5_take(ctx, r, padding, 8 - e->size % 8));
	return KDR_OK;
}

/* --- variables ------------------------------------------------------------------------------------------ */

static void end_variable(reader *r)
{
	if (r->stream_open)
		inflateEnd(&r->z);
	r->stream_open = r->packed = false;
	r->z.avail_in = 0;
}

/* Flags, sizes and name. */
static kdr_status take_header(kdr_context *ctx, reader *r, variable *v)
{
	element e;
	unsigned char raw[64 * 4];
	int64_t words[64] = { 0 };
	*v = (variable){ 0 };
	KDRI_DO(take_tag(ctx, r, &e));
	if (e.small || e.size != 8)
		return mat5_damaged(ctx, r);
	KDRI_DO(take_integers(ctx, r, KDRI_ELEMENT_U4, 2, words));
	v->class_id = (uint32_t)words[0] & 0xff;
	v->flags = (uint32_t)words[0];
	KDRI_DO(take_tag(ctx, r, &e));
	if (e.size % 4 || e.size > sizeof raw)
		return mat5_damaged(ctx, r);
	KDRI_DO(take_data(ctx, r, &e, 0, raw, e.size));
	kdri_element_to_int64(KDRI_ELEMENT_I4, r->swapped, raw, e.size / 4, words);
	v->ndim = (int)(e.size / 4);
	v->rows = words[0];
	v->cols = words[1];
	KDRI_DO(take_tag(ctx, r, &e));
	if (e.size >= sizeof v->name)
		return mat5_damaged(ctx, r);
	return take_data(ctx, r, &e, 0, v->name, e.size);
}

/* The next variable of the file, up to its data; *found is false at the end. */
static kdr_status next_variable(kdr_context *ctx, reader *r, variable *v, bool *found)
{
	unsigned char tag[8];
	int64_t words[2] = { 0 };
	size_t got = 0;
	element inner;
	*found = false;
	KDRI_DO(kdri_input_read(ctx, r->in, tag, sizeof tag, &got));
	if (got == 0)
		return KDR_OK;
	if (got < sizeof tag)
		return mat5_damaged(ctx, r);
	kdri_element_to_int64(KDRI_ELEMENT_U4, r->swapped, tag, 2, words);
	r->left = words[1];
	if (words[0] == T_COMPRESSED) {
		KDRI_DO(kdri_inflate_open(ctx, 15, r->path, &r->z));
		r->packed = r->stream_open = true;
		KDRI_DO(take_tag(ctx, r, &inner));
		words[0] = inner.type;
	}
	if (words[0] != T_MATRIX)
		return mat5_damaged(ctx, r);
	KDRI_DO(take_header(ctx, r, v));
	*found = true;
	return KDR_OK;
}

/* The reason why a variable is not a matrix of numbers; NULL if it is one. */
static const char *problem_of(const variable *v)
{
	if (v->class_id == C_CHAR)
		return "text";
	if (v->class_id == C_CELL)
		return "a cell array";
	if (v->class_id == C_STRUCT)
		return "a struct";
	if (v->class_id < C_SPARSE || v->class_id > C_UINT64)
		return "an object";
	if (v->flags & F_COMPLEX)
		return "complex";
	if (v->ndim != 2 || v->rows < 0 || v->cols < 0)
		return "not of two dimensions";
	return v->rows == 0 || v->cols == 0 ? "empty" : NULL;
}

/* --- data ---------------------------------------------------------------------------------------------- */

/* An element of numbers: its type and how many. */
static kdr_status take_numbers(kdr_context *ctx, reader *r, element *e, kdri_element *type, int64_t *count)
{
	static const signed char types[] = { -1,
		                             KDRI_ELEMENT_I1,
		                             KDRI_ELEMENT_U1,
		                             KDRI_ELEMENT_I2,
		                             KDRI_ELEMENT_U2,
		                             KDRI_ELEMENT_I4,
		                             KDRI_ELEMENT_U4,
		                             KDRI_ELEMENT_F4,
		                             -1,
		                             KDRI_ELEMENT_F8,
		                             -1,
		                             -1,
		                             KDRI_ELEMENT_I8,
		                             KDRI_ELEMENT_U8 };
	KDRI_DO(take_tag(ctx, r, e));
	if (e->type >= sizeof types || types[e->type] < 0)
		return mat5_damaged(ctx, r);
	*type = (kdri_element)types[e->type];
	*count = (int64_t)(e->size / kdri_element_size(*type));
	if (e->size % kdri_element_size(*type))
		return mat5_damaged(ctx, r);
	if (r->packed)
		KDRI_DO(kdri_unpacked_check(ctx, r->path, e->size, (double)kdri_input_size(r->in),
		                            KDRI_ARCHIVE_TIMES));
	return KDR_OK;
}

static kdr_status read_dense(kdr_context *ctx, reader *r, const variable *v, kdr_data *data)
{
	kdr_status st;
	element e;
	kdri_element type = KDRI_ELEMENT_I1;
	unsigned char *raw = NULL;
	double *values = NULL, *group = NULL;
	int64_t count = 0, rows = v->rows, cols = v->cols;
	KDRI_TRY(take_numbers(ctx, r, &e, &type, &count));
	if (rows > INT64_MAX / cols || count != rows * cols)
		return mat5_damaged(ctx, r);
	if (cols == 1) { /* a column is stored like a row */
		cols = rows;
		rows = 1;
	}
	int64_t width = KDRI_MIN(cols, KDRI_MAX(1, GROUP / rows)), size = (int64_t)kdri_element_size(type);
	KDRI_TRY(KDRI_NEW(ctx, &values, count));
	KDRI_TRY(KDRI_NEW(ctx, &group, rows * width));
	KDRI_TRY(KDRI_NEW(ctx, &raw, rows * width * size));
	for (int64_t j = 0; j < cols; j += width) {
		int64_t w = KDRI_MIN(width, cols - j);
		KDRI_TRY(take_data(ctx, r, &e, (uint32_t)(j * rows * size), raw, (size_t)(w * rows * size)));
		kdri_element_to_double(type, r->swapped, raw, w * rows, group);
		for (int64_t i = 0; i < rows; i++)
			for (int64_t l = 0; l < w; l++)
				values[i * cols + j + l] = group[l * rows + i];
	}
	data->kind = KDR_MAT_DENSE;
	data->rows = v->rows;
	data->cols = v->cols;
	data->dense = values;
	values = NULL;
done:
	KDRI_FREE(ctx, raw, group, values);
	return st;
}

/* Reads an entire element of integers or of numbers, converted block by block; exactly one of the two results is
 * requested. */
static kdr_status take_array(kdr_context *ctx, reader *r, int64_t **integers, double **reals, int64_t *count)
{
	kdr_status st;
	element e;
	kdri_element type = KDRI_ELEMENT_I1;
	unsigned char *raw = NULL;
	int64_t *whole = NULL;
	double *real = NULL;
	KDRI_TRY(take_numbers(ctx, r, &e, &type, count));
	size_t width = kdri_element_size(type);
	KDRI_TRY(kdri_alloc(ctx, &raw, ELEMENTS_AT_ONCE, width));
	if (integers)
		KDRI_TRY(KDRI_NEW(ctx, &whole, *count));
	else
		KDRI_TRY(KDRI_NEW(ctx, &real, *count));
	/* An empty element still has its padding to be taken: one turn at least. */
	for (int64_t i = 0; i == 0 || i < *count; i += ELEMENTS_AT_ONCE) {
		int64_t n = KDRI_MIN(ELEMENTS_AT_ONCE, *count - i);
		KDRI_TRY(take_data(ctx, r, &e, (uint32_t)((size_t)i * width), raw, (size_t)n * width));
		if (real)
			kdri_element_to_double(type, r->swapped, raw, n, real + i);
		if (whole && !kdri_element_to_int64(type, r->swapped, raw, n, whole + i)) {
			st = mat5_damaged(ctx, r);
			goto done;
		}
	}
	if (integers)
		*integers = whole;
	if (reals)
		*reals = real;
	whole = NULL;
	real = NULL;
done:
	KDRI_FREE(ctx, raw, whole, real);
	return st;
}

/* Rows of the entries, pointers of the columns, values: each is brought to its final width before the next
 * is read. */
static kdr_status mat5_read_sparse(kdr_context *ctx, reader *r, const variable *v, kdr_data *data)
{
	kdr_status st;
	int64_t *rows = NULL, nrows = 0, nptr = 0, nvalues = 0, nnz;
	KDRI_TRY(take_array(ctx, r, &rows, NULL, &nrows));
	KDRI_TRY(take_array(ctx, r, &data->rowptr, NULL, &nptr));
	/* More entries may be reserved than exist: the last pointer gives their number. */
	nnz = nptr > 0 ? data->rowptr[nptr - 1] : 0;
	if (nnz < 0 || nnz > nrows) {
		st = mat5_damaged(ctx, r);
		goto done;
	}
	KDRI_TRY(kdri_compressed_check(ctx, r->path, v->rows, v->cols, true, nptr, nnz, nnz));
	KDRI_TRY(KDRI_NEW(ctx, &data->col, nnz));
	for (int64_t p = 0; p < nnz; p++) {
		if (rows[p] < 0 || rows[p] >= v->rows)
			KDRI_FAIL(ctx, KDR_ERR_FORMAT,
			          "%s:%s: index %lld is outside the range from 0 to %lld", r->path, v->name,
			          (long long)rows[p], (long long)(v->rows - 1));
		data->col[p] = (int32_t)rows[p];
	}
	kdri_free(ctx, rows);
	rows = NULL;
	KDRI_TRY(take_array(ctx, r, NULL, &data->val, &nvalues));
	if (nnz > nvalues) {
		st = mat5_damaged(ctx, r);
		goto done;
	}
	data->rows = v->rows;
	data->cols = v->cols;
	KDRI_TRY(kdri_compressed_finish(ctx, r->path, data, true, nnz));
done:
	kdri_free(ctx, rows);
	return st;
}

/* --- the file ------------------------------------------------------------------------------------------- */

static kdr_status open_file(kdr_context *ctx, reader *r)
{
	char header[128];
	size_t got = 0;
	end_variable(r);
	kdri_input_close(ctx, r->in);
	r->in = NULL;
	KDRI_DO(kdri_input_open(ctx, r->path, &r->in));
	KDRI_DO(kdri_input_read(ctx, r->in, header, sizeof header, &got));
	if (got < sizeof header)
		return mat5_damaged(ctx, r);
	r->swapped = (memcmp(header + 126, "IM", 2) == 0) != kdri_little_endian();
	return KDR_OK;
}

/* Finds the named variable, or searches all of them for the only matrix. */
static kdr_status mat5_find(kdr_context *ctx, reader *r, const char *wanted, kdri_mat_search *search,
                            variable *v)
{
	bool found;
	KDRI_DO(open_file(ctx, r));
	for (;;) {
		KDRI_DO(next_variable(ctx, r, v, &found));
		if (!found)
			break;
		if (wanted && strcmp(v->name, wanted) == 0)
			return KDR_OK;
		kdri_mat_note(search, v->name, problem_of(v));
		end_variable(r);
		while (r->left > 0)
			KDRI_DO(take_raw(ctx, r, r->buffer, (size_t)KDRI_MIN(r->left, BUFFER)));
	}
	return kdri_mat_choose(ctx, r->path, wanted, search);
}

kdr_status kdri_mat5_read(kdr_context *ctx, const char *path, const char *wanted, kdr_data *data)
{
	kdr_status st;
	reader *r = NULL;
	variable v = { 0 };
	kdri_mat_search search = { 0 }, again = { 0 };
	KDRI_TRY(KDRI_NEW0(ctx, &r, 1));
	r->path = path;
	KDRI_TRY(mat5_find(ctx, r, wanted, &search, &v));
	if (!wanted)
		KDRI_TRY(mat5_find(ctx, r, search.name, &again, &v));
	const char *problem = problem_of(&v);
	if (problem)
		KDRI_FAIL(ctx, KDR_ERR_FORMAT, "%s:%s: is %s; a real matrix of two dimensions is needed",
		          path, v.name, problem);
	KDRI_TRY(v.class_id == C_SPARSE ? mat5_read_sparse(ctx, r, &v, data) : read_dense(ctx, r, &v, data));
done:
	if (r) {
		end_variable(r);
		kdri_input_close(ctx, r->in);
	}
	kdri_free(ctx, r);
	return st;
}

void kdri_mat_note(kdri_mat_search *s, const char *name, const char *problem)
{
	if (!problem && s->count++ == 0)
		snprintf(s->name, sizeof s->name, "%s", name);
	kdri_list_add(s->others, sizeof s->others, "%s%s%s%s", name, problem ? " (" : "",
	              problem ? problem : "", problem ? ")" : "");
}

kdr_status kdri_mat_choose(kdr_context *ctx, const char *path, const char *wanted, kdri_mat_search *s)
{
	if (wanted)
		return kdri_fail(ctx, KDR_ERR_DATA, "%s: has no variable '%s'; its variables are: %s", path,
		                 wanted, s->others[0] ? s->others : "none");
	if (s->count != 1)
		return kdri_fail(ctx, KDR_ERR_DATA,
		                 "%s: has %lld matrices of numbers; specify one as file.mat:variable%s%s",
		                 path, (long long)s->count, s->others[0] ? ": " : "", s->others);
	return KDR_OK;
}

static kdr_status read_mat(kdr_context *ctx, const char *path, const kdr_read_options *options,
                           kdr_data *data)
{
	(void)options;
	kdr_status st;
	kdri_input *in = NULL;
	char *file = NULL, *member = NULL, start[128];
	size_t got = 0;
	KDRI_TRY(kdri_split_member(ctx, path, &file, &member));
	KDRI_TRY(kdri_input_open(ctx, file, &in)); /* sets the error for a file that cannot be read */
	KDRI_TRY(kdri_input_read(ctx, in, start, sizeof start, &got));
	/* Bytes 124 to 127 of the text header: the version, and "MI" as the writer's integers lie. v7.3 keeps
	 * that header in front of HDF5. */
	bool little = got == sizeof start && memcmp(start + 126, "IM", 2) == 0;
	bool big = got == sizeof start && memcmp(start + 126, "MI", 2) == 0;
	int version = little ? start[125] : big ? start[124] : 0;
	if (version == 2 || (got >= 8 && memcmp(start, "\x89HDF\r\n\x1a\n", 8) == 0))
		KDRI_TRY(kdri_mat73_read(ctx, path, data));
	else if (version == 1)
		KDRI_TRY(kdri_mat5_read(ctx, file, member, data));
	else
		st = kdri_fail(ctx, KDR_ERR_FORMAT, "%s: is not a MATLAB file of version 5 or 7.3", file);
done:
	kdri_input_close(ctx, in);
	KDRI_FREE(ctx, file, member);
	return st;
}

static const char *const endings[] = { ".mat", NULL };

const kdri_format kdri_format_mat = {
	.id = "mat",
	.endings = endings,
	.read = read_mat,
	.help = "MATLAB v5 and v7.3: the only matrix, or file.mat:variable",
};
