/* The header of NumPy's array format. SPDX-License-Identifier: BSD-3-Clause
 *
 * "\x93NUMPY", two bytes of version, a length (16 bits in version 1, 32 after), and that many bytes of
 * a Python literal such as {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }. The literal is
 * parsed, not evaluated: strings, True, False and tuples of numbers are all that can occur for the
 * arrays read here. */
#include "io/binary.h"

#include <stdio.h>

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
