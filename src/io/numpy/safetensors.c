/* .safetensors: named arrays as Hugging Face's tools write them. SPDX-License-Identifier: BSD-3-Clause
 *
 * Eight bytes with the length of a JSON header, little-endian; the header, {"name": {"dtype": "F32", "shape": [rows, columns],
 * "data_offsets": [begin, end]}, "__metadata__": {...}}; then the elements of all arrays, in C order and little-endian. The matrix is the
 * only array with one or two dimensions, or the one named ("file.safetensors:name"). */
#include "core/json_read.h"
#include "core/words.h"
#include "io/binary.h"
#include "io/text.h"

/* Headers of language models with thousands of arrays have some 100 kB. */
enum { HEADER_MOST = 1 << 24, LENGTH = 8 };

static kdr_status read_json(kdr_context *ctx, const kdri_source *s, int64_t *length, kdri_json_value **out)
{
	kdr_status st;
	unsigned char raw[LENGTH];
	char *text = NULL;
	uint64_t size = 0;
	KDRI_TRY(kdri_source_exactly(ctx, s, raw, LENGTH));
	for (int i = LENGTH; i-- > 0;)
		size = size << 8 | raw[i];
	if (size < 2 || size > HEADER_MOST || (s->most >= 0 && (int64_t)size > s->most - LENGTH))
		KDRI_FAIL(ctx, KDR_ERR_FORMAT,
		          "%s: is not a .safetensors file: its header would have %llu bytes", s->label,
		          (unsigned long long)size);
	KDRI_TRY(KDRI_NEW(ctx, &text, (int64_t)size));
	KDRI_TRY(kdri_source_exactly(ctx, s, text, (size_t)size));
	KDRI_TRY(kdri_json_parse(ctx, s->label, 1, text, (size_t)size, out));
	if (!kdri_json_is(*out, KDRI_JSON_OBJECT))
		st = kdri_fail(ctx, KDR_ERR_FORMAT, "%s: the header is not a JSON object", s->label);
	*length = LENGTH + (int64_t)size;
done:
	kdri_free(ctx, text);
	return st;
}

/* "a, b": the arrays that can be a matrix; returns their number and the last one. */
static int64_t list_tensors(const kdri_json_value *root, const char *wanted, char *names, size_t room,
                            const kdri_json_value **found)
{
	int64_t count = 0;
	names[0] = '\0';
	for (int64_t i = 0; i < kdri_json_count(root); i++) {
		const kdri_json_value *one = kdri_json_at(root, i);
		const int64_t dims = kdri_json_count(kdri_json_get(one, "shape"));
		const bool metadata = strcmp(kdri_json_key(one), "__metadata__") == 0;
		if (metadata || (dims != 1 && dims != 2))
			continue;
		kdri_list_add(names, room, "%s", kdri_json_key(one));
		if (wanted && strcmp(kdri_json_key(one), wanted) != 0)
			continue;
		*found = one;
		count++;
	}
	return count;
}

static kdr_status find_tensor(kdr_context *ctx, const char *path, const kdri_json_value *root,
                              const char *wanted, const kdri_json_value **out)
{
	char names[256];
	const int64_t count = list_tensors(root, wanted, names, sizeof names, out);
	if (count == 1)
		return KDR_OK;
	if (!names[0])
		return kdri_fail(ctx, KDR_ERR_DATA, "%s: has no array with one or two dimensions", path);
	if (wanted)
		return kdri_fail(ctx, KDR_ERR_DATA, "%s: has no array '%s'; its arrays are: %s", path, wanted,
		                 names);
	return kdri_fail(ctx, KDR_ERR_DATA, "%s: has %lld arrays; specify one as file.safetensors:name: %s",
	                 path, (long long)count, names);
}

static kdr_status find_type(kdr_context *ctx, const char *path, const kdri_json_value *one,
                            kdri_npy_header *h)
{
	static const struct {
		const char *name;
		kdri_element type;
	} types[] = { { "F16", KDRI_ELEMENT_F2 },   { "BF16", KDRI_ELEMENT_BF2 }, { "F32", KDRI_ELEMENT_F4 },
		      { "F64", KDRI_ELEMENT_F8 },   { "I8", KDRI_ELEMENT_I1 },    { "I16", KDRI_ELEMENT_I2 },
		      { "I32", KDRI_ELEMENT_I4 },   { "I64", KDRI_ELEMENT_I8 },   { "U8", KDRI_ELEMENT_U1 },
		      { "U16", KDRI_ELEMENT_U2 },   { "U32", KDRI_ELEMENT_U4 },   { "U64", KDRI_ELEMENT_U8 },
		      { "BOOL", KDRI_ELEMENT_BOOL } };
	const char *name = kdri_json_text(kdri_json_get(one, "dtype"), NULL);
	for (size_t i = 0; name && i < sizeof types / sizeof types[0]; i++)
		if (strcmp(types[i].name, name) == 0) {
			h->kind = 'n';
			h->type = types[i].type;
			h->width = (int64_t)kdri_element_size(h->type);
			h->swapped = !kdri_little_endian();
			return KDR_OK;
		}
	return kdri_fail(
	        ctx, KDR_ERR_UNSUPPORTED,
	        "%s: array '%s' has the type '%.40s', which is not supported; use F16, BF16, F32, F64, BOOL or integers",
	        path, kdri_json_key(one), name ? name : "");
}

/* Type, shape and place of an array; `most`: bytes of the file, -1 if unknown, `header` of which are before the elements. */
static kdr_status take_tensor(kdr_context *ctx, const char *path, const kdri_json_value *one, int64_t most,
                              int64_t header, kdri_npy_header *h)
{
	const kdri_json_value *shape = kdri_json_get(one, "shape"),
	                      *offsets = kdri_json_get(one, "data_offsets");
	const int64_t begin = kdri_json_integer(kdri_json_at(offsets, 0), -1),
	              end = kdri_json_integer(kdri_json_at(offsets, 1), -1);
	int64_t bytes = 0;
	bool large = false;
	KDRI_DO(find_type(ctx, path, one, h));
	h->ndim = (int)kdri_json_count(shape);
	h->count = 1;
	for (int d = 0; d < h->ndim; d++) {
		h->shape[d] = kdri_json_integer(kdri_json_at(shape, d), -1);
		if (h->shape[d] < 0)
			return kdri_fail(ctx, KDR_ERR_FORMAT,
			                 "%s: array '%s' has a shape that is not of whole numbers", path,
			                 kdri_json_key(one));
		large = large || kdri_mul(ctx, h->count, h->shape[d], &h->count) != KDR_OK;
	}
	if (large || kdri_mul(ctx, h->count, h->width, &bytes) != KDR_OK)
		return kdri_fail(ctx, KDR_ERR_SIZE,
		                 "%s: array '%s' has a shape that is larger than any memory", path,
		                 kdri_json_key(one));
	if (begin < 0 || end < begin || end - begin != bytes || (most >= 0 && end > most - header))
		return kdri_fail(
		        ctx, KDR_ERR_FORMAT,
		        "%s: array '%s' has %lld bytes by its shape, but data_offsets [%lld, %lld] in a file of %lld bytes",
		        path, kdri_json_key(one), (long long)bytes, (long long)begin, (long long)end,
		        (long long)most);
	h->begin = begin;
	return KDR_OK;
}

static kdr_status input_read(kdr_context *ctx, void *user, void *buffer, size_t want, size_t *got)
{
	return kdri_input_read(ctx, user, buffer, want, got);
}

static kdr_status read_safetensors(kdr_context *ctx, const char *path, const kdr_read_options *options,
                                   kdr_data *data)
{
	kdr_status st;
	kdri_input *in = NULL;
	char *file = NULL, *member = NULL;
	kdri_json_value *root = NULL;
	const kdri_json_value *one = NULL;
	kdri_npy_header header = { 0 };
	int64_t length = 0;
	(void)options;
	KDRI_TRY(kdri_split_member(ctx, path, &file, &member));
	KDRI_TRY(kdri_input_open(ctx, file, &in));
	const int64_t size = kdri_input_compressed(in) ? -1 : kdri_input_size(in);
	const kdri_source source = { input_read, in, file, size };
	KDRI_TRY(read_json(ctx, &source, &length, &root));
	KDRI_TRY(find_tensor(ctx, file, root, member, &one));
	KDRI_TRY(take_tensor(ctx, file, one, size, length, &header));
	KDRI_TRY(kdri_input_skip(ctx, in, header.begin));
	KDRI_TRY(kdri_npy_read_matrix(ctx, &source, &header, data));
done:
	kdri_json_value_free(root);
	kdri_input_close(ctx, in);
	KDRI_FREE(ctx, file, member);
	return st;
}

static const char *const endings[] = { ".safetensors", ".safetensors.gz", NULL };

const kdri_format kdri_format_safetensors = {
	.id = "safetensors",
	.endings = endings,
	.read = read_safetensors,
	.help = "Hugging Face arrays: the only array, or file.safetensors:name",
};
