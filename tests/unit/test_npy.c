/* NumPy arrays: every type, both byte orders, both orders of storage, and headers that lie. */
#include "tests/unit/bytes.h"

#include "tests/unit/gzip.h"

/* A .npy of the given version and header text, followed by `size` bytes; returns the path. */
static const char *make(const char *name, int version, const char *header, const void *data, size_t size)
{
	unsigned char file[4096] = "\x93NUMPY";
	size_t length = strlen(header), prefix = version == 1 ? 10 : 12;
	const char *path = bytes_path(name);
	file[6] = (unsigned char)version;
	file[8] = (unsigned char)length;
	file[9] = (unsigned char)(length >> 8);
	memcpy(file + prefix, header, length);
	memcpy(file + prefix + length, data, size);
	bytes_write(path, file, prefix + length + size);
	return path;
}

static void read__every_type_and_byte_order__same_values(void **state)
{
	(void)state;
	static const struct {
		const char *descr;
		int width;
		unsigned char little[2][8]; /* two elements */
		double value[2];
	} cases[] = {
		{ "i1", 1, { { 0xff }, { 0x7f } }, { -1, 127 } },
		{ "u1", 1, { { 0xff }, { 0 } }, { 255, 0 } },
		{ "b1", 1, { { 1 }, { 0 } }, { 1, 0 } },
		{ "i2", 2, { { 0xfe, 0xff }, { 0, 1 } }, { -2, 256 } },
		{ "u2", 2, { { 0xfe, 0xff }, { 0, 1 } }, { 65534, 256 } },
		{ "i4", 4, { { 0xfd, 0xff, 0xff, 0xff }, { 0, 0, 1, 0 } }, { -3, 65536 } },
		{ "u4", 4, { { 0xfd, 0xff, 0xff, 0xff }, { 0, 0, 1, 0 } }, { 4294967293.0, 65536 } },
		{ "i8", 8, { { 0, 0, 0, 0, 0, 0, 0, 0x80 }, { 1 } }, { -0x1p63, 1 } },
		{ "u8", 8, { { 0, 0, 0, 0, 0, 0, 0, 0x80 }, { 1 } }, { 0x1p63, 1 } },
		{ "f2", 2, { { 0x01, 0x00 }, { 0xff, 0xfb } }, { 0x1p-24, -65504 } },
		{ "f2", 2, { { 0x00, 0x7c }, { 0x55, 0x35 } }, { INFINITY, 0.333251953125 } },
		{ "f4", 4, { { 0xcd, 0xcc, 0xcc, 0x3d }, { 0, 0, 0x80, 0xff } }, { 0.1f, -INFINITY } },
		{ "f8",
		  8,
		  { { 0x9a, 0x99, 0x99, 0x99, 0x99, 0x99, 0xb9, 0x3f }, { 1 } },
		  { 0.1, 0x1p-1074 } },
	};
	kdr_context *ctx = unit_context();
	for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++)
		for (int big = 0; big < 2; big++)
			for (int version = 1; version <= 3; version++) {
				unsigned char raw[16];
				char header[128];
				int w = cases[c].width;
				for (int e = 0; e < 2; e++)
					for (int b = 0; b < w; b++)
						raw[e * w + b] = cases[c].little[e][big ? w - 1 - b : b];
				snprintf(header, sizeof header,
				         "{'descr': '%s%s', 'fortran_order': False, 'shape': (1, 2), }\n",
				         w == 1 ? "|"
				         : big  ? ">"
				                : "<",
				         cases[c].descr);
				const char *path = make("types.npy", version, header, raw, 2 * (size_t)w);
				kdr_data *d;
				assert_ok(ctx, bytes_load(ctx, &kdri_format_npy, path, NULL, &d));
				assert_int_equal(d->rows, 1);
				assert_int_equal(d->cols, 2);
				assert_memory_equal(d->dense, cases[c].value, sizeof cases[c].value);
				kdr_data_free(d);
			}
	kdr_context_free(ctx);
}

static void read__orders_and_dimensions__row_major(void **state)
{
	(void)state;
	static const unsigned char raw[6] = { 1, 2, 3, 4, 5, 6 };
	static const struct {
		const char *header;
		int64_t rows, cols;
		double value[6];
	} cases[] = {
		{ "{'descr':'|u1','fortran_order':False,'shape':(2,3)}", 2, 3, { 1, 2, 3, 4, 5, 6 } },
		{ "{'descr':'|u1','fortran_order':True,'shape':(2,3)}", 2, 3, { 1, 3, 5, 2, 4, 6 } },
		{ "{'descr':'|u1','fortran_order':True,'shape':(1,6)}", 1, 6, { 1, 2, 3, 4, 5, 6 } },
		{ "{\"shape\" : ( 6L , ) , \"fortran_order\":True, \"descr\": \"|u1\"} \n",
		  6,
		  1,
		  { 1, 2, 3, 4, 5, 6 } },
	};
	kdr_context *ctx = unit_context();
	for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
		kdr_data *d;
		assert_ok(ctx, bytes_load(ctx, &kdri_format_npy, make("o.npy", 1, cases[c].header, raw, 6),
		                          NULL, &d));
		assert_int_equal(d->rows, cases[c].rows);
		assert_int_equal(d->cols, cases[c].cols);
		assert_memory_equal(d->dense, cases[c].value, sizeof cases[c].value);
		kdr_data_free(d);
	}
	kdr_context_free(ctx);
}

static void read__hostile_header__fails_before_it_allocates(void **state)
{
	(void)state;
#define SHAPE(order, shape) "{'descr':'<f8','fortran_order':" order ",'shape':" shape "}"
#define DESCR(descr)        "{'descr':" descr ",'fortran_order':False,'shape':(1,1)}"
	static const struct {
		const char *header;
		kdr_status status;
		const char *words;
	} cases[] = {
		{ SHAPE("False", "(4611686018427387904, 4611686018427387904)"), KDR_ERR_SIZE,
		  "larger than any" },
		{ SHAPE("False", "(9223372036854775807,)"), KDR_ERR_SIZE, "larger than any" },
		{ SHAPE("False", "(99999999999999999999,)"), KDR_ERR_SIZE, "larger than any" },
		{ SHAPE("True", "(1099511627776, 2)"), KDR_ERR_FORMAT, "claims" },
		{ SHAPE("False", "(2, 1)"), KDR_ERR_FORMAT, "claims 16 bytes" },
		{ SHAPE("False", "(-1, 1)"), KDR_ERR_FORMAT, "negative" },
		{ SHAPE("False", "(0, 5)"), KDR_ERR_DATA, "empty (0 x 5)" },
		{ SHAPE("False", "()"), KDR_ERR_FORMAT, "0 dimensions" },
		{ SHAPE("False", "(1,1,1)"), KDR_ERR_FORMAT, "3 dimensions" },
		{ SHAPE("False", "(1,1,1,1,1)"), KDR_ERR_FORMAT, "5 dimensions" },
		{ SHAPE("False", "(1,"), KDR_ERR_FORMAT, "shape" },
		{ SHAPE("None", "(1,)"), KDR_ERR_FORMAT, "header" },
		{ DESCR("'|O'"), KDR_ERR_FORMAT, "Python objects" },
		{ DESCR("'<c16'"), KDR_ERR_FORMAT, "complex" },
		{ DESCR("'<f16'"), KDR_ERR_UNSUPPORTED, "extended" },
		{ DESCR("'<M8[ns]'"), KDR_ERR_FORMAT, "dates" },
		{ DESCR("'|V8'"), KDR_ERR_FORMAT, "records" },
		{ DESCR("'<U2'"), KDR_ERR_FORMAT, "text" },
		{ DESCR("[('a', '<f8')]"), KDR_ERR_FORMAT, "structured" },
		{ DESCR("'zz'"), KDR_ERR_FORMAT, "unknown" },
		{ "{'descr':'<f8','shape':(1,1)}", KDR_ERR_FORMAT, "expected" },
		{ "", KDR_ERR_FORMAT, "header" },
		{ "{'descr':'<f8", KDR_ERR_FORMAT, "header" },
	};
	static const double one = 1;
	kdr_context *ctx = unit_context();
	kdr_data *d;
	for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++)
		assert_fails(ctx,
		             bytes_load(ctx, &kdri_format_npy, make("bad.npy", 1, cases[c].header, &one, 8),
		                        NULL, &d),
		             cases[c].status, cases[c].words);
	/* Not an array at all; a version from the future; a header longer than the file. */
	bytes_write(bytes_path("bad.npy"), "\x93NUMPX\1\0\0\0", 10);
	assert_fails(ctx, bytes_load(ctx, &kdri_format_npy, bytes_path("bad.npy"), NULL, &d), KDR_ERR_FORMAT,
	             "does not begin with");
	bytes_write(bytes_path("bad.npy"), "\x93NUMPY\x04\0\0\0", 10);
	assert_fails(ctx, bytes_load(ctx, &kdri_format_npy, bytes_path("bad.npy"), NULL, &d), KDR_ERR_FORMAT,
	             "version 4");
	bytes_write(bytes_path("bad.npy"), "\x93NUMPY\2\0\xff\xff\xff\xff", 12);
	assert_fails(ctx, bytes_load(ctx, &kdri_format_npy, bytes_path("bad.npy"), NULL, &d), KDR_ERR_FORMAT,
	             "too long");
	bytes_write(bytes_path("bad.npy"), "", 0);
	assert_fails(ctx, bytes_load(ctx, &kdri_format_npy, bytes_path("bad.npy"), NULL, &d), KDR_ERR_FORMAT,
	             "does not begin with");
	assert_fails(ctx, bytes_load(ctx, &kdri_format_npy, bytes_path("none.npy"), NULL, &d), KDR_ERR_READ,
	             "none.npy");
	kdr_context_free(ctx);
}

static void write__dense_and_sparse__reads_back_bit_for_bit(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(3, "test", 0);
	for (int round = 0; round < 60; round++) {
		int64_t rows = 1 + kdri_rng_below(&rng, 40), cols = 1 + kdri_rng_below(&rng, 40);
		double *x = calloc((size_t)(rows * cols), sizeof *x), *val = calloc((size_t)(rows * cols), 8);
		int64_t *rowptr = calloc((size_t)rows + 1, sizeof *rowptr);
		int32_t *col = calloc((size_t)(rows * cols), sizeof *col);
		for (int64_t i = 0; i < rows; i++) {
			rowptr[i + 1] = rowptr[i];
			for (int64_t j = 0; j < cols; j++)
				if (kdri_rng_uniform(&rng) < 0.3) {
					uint64_t bits = kdri_rng_u64(&rng); /* NaNs and all */
					memcpy(&x[i * cols + j], &bits, 8);
					memcpy(&val[rowptr[i + 1]], &bits, 8);
					col[rowptr[i + 1]++] = (int32_t)j;
				}
		}
		kdr_mat mats[2] = { kdr_mat_from_dense(x, rows, cols),
			            kdr_mat_from_csr(rows, cols, rowptr, col, val) };
		for (int kind = 0; kind < 2; kind++)
			for (int gz = 0; gz < 2; gz++) {
				const char *path =
				        bytes_path(gz && kdr_build_has("zlib") ? "w.npy.gz" : "w.npy");
				kdr_data *d = NULL, *back = NULL;
				assert_ok(ctx, kdr_data_new(ctx, "x", &mats[kind], NULL, &d));
				assert_ok(ctx, kdri_format_npy.write(ctx, path, d, true));
				assert_ok(ctx, bytes_load(ctx, &kdri_format_npy, path, NULL, &back));
				assert_int_equal(back->rows, rows);
				assert_int_equal(back->cols, cols);
				assert_memory_equal(back->dense, x, (size_t)(rows * cols) * sizeof *x);
				kdr_data_free(d);
				kdr_data_free(back);
			}
		free(x);
		free(val);
		free(rowptr);
		free(col);
	}
	kdr_context_free(ctx);
}

static void read__fortran_order_wider_than_a_group__transposed(void **state)
{
	(void)state;
	/* More than GROUP_BYTES, so that several groups of columns are turned. */
	enum { ROWS = 1 << 17, COLS = 37 };
	kdr_context *ctx = unit_context();
	const char *path = bytes_path("f.npy");
	char header[128] = { 0 };
	size_t length = (size_t)snprintf(header + 10, sizeof header - 10,
	                                 "{'descr':'<u4','fortran_order':True,'shape':(%d,%d)}", ROWS, COLS);
	memcpy(header, "\x93NUMPY\1\0", 8);
	header[8] = (char)length;
	uint32_t *column = malloc(ROWS * sizeof *column);
	FILE *f = fopen(path, "wb");
	fwrite(header, 1, length + 10, f);
	for (uint32_t j = 0; j < COLS; j++) {
		for (uint32_t i = 0; i < ROWS; i++)
			column[i] = i * COLS + j;
		fwrite(column, sizeof *column, ROWS, f);
	}
	fclose(f);
	kdr_data *d;
	assert_ok(ctx, bytes_load(ctx, &kdri_format_npy, path, NULL, &d));
	for (int64_t i = 0; i < (int64_t)ROWS * COLS; i++)
		if (d->dense[i] != (double)i)
			fail_msg("entry %lld is %g", (long long)i, d->dense[i]);
	kdr_data_free(d);
	free(column);
	kdr_context_free(ctx);
}

static void read__gzip_that_promises_more_than_it_can_hold__fails(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	const char *path = bytes_path("bomb.npy.gz"), *header = SHAPE("False", "(1099511627776,)");
	unsigned char start[10] = "\x93NUMPY\1";
	start[8] = (unsigned char)strlen(header);
	gzFile f = gzopen(path, "wb");
	gzwrite(f, start, 10);
	gzwrite(f, header, (unsigned)strlen(header));
	gzclose(f);
	kdr_data *d;
	assert_fails(ctx, bytes_load(ctx, &kdri_format_npy, path, NULL, &d), KDR_ERR_FORMAT, "claims");
	kdr_context_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(read__every_type_and_byte_order__same_values),
		cmocka_unit_test(read__orders_and_dimensions__row_major),
		cmocka_unit_test(read__hostile_header__fails_before_it_allocates),
		cmocka_unit_test(read__fortran_order_wider_than_a_group__transposed),
		cmocka_unit_test(read__gzip_that_promises_more_than_it_can_hold__fails),
		cmocka_unit_test(write__dense_and_sparse__reads_back_bit_for_bit),
	};
	return cmocka_run_group_tests(tests, NULL, bytes_clean);
}
