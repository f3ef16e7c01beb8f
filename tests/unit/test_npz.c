/* Zip archives of arrays: round trips, and archives that lie. */
#include "tests/unit/bytes.h"
#include "tests/unit/failing.h"

#include "tests/unit/gzip.h"

static kdr_data *random_csr(kdr_context *ctx, uint64_t seed, int64_t rows, int64_t cols)
{
	kdri_rng rng = kdri_rng_stream(seed, "test", 0);
	int64_t *rowptr = calloc((size_t)rows + 1, sizeof *rowptr);
	int32_t *col = calloc((size_t)(rows * cols), sizeof *col);
	double *val = calloc((size_t)(rows * cols), sizeof *val);
	for (int64_t i = 0; i < rows; i++) {
		rowptr[i + 1] = rowptr[i];
		for (int64_t j = 0; j < cols; j++)
			if (kdri_rng_uniform(&rng) < 0.3) {
				col[rowptr[i + 1]] = (int32_t)j;
				val[rowptr[i + 1]++] = kdri_rng_normal(&rng);
			}
	}
	kdr_mat x = kdr_mat_from_csr(rows, cols, rowptr, col, val);
	kdr_data *d = NULL;
	assert_ok(ctx, kdr_data_new(ctx, "x", &x, NULL, &d));
	free(rowptr);
	free(col);
	free(val);
	return d;
}

static void write__sparse__reads_back_bit_for_bit(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(5, "test", 1);
	for (uint64_t round = 0; round < 50; round++) {
		kdr_data *d = random_csr(ctx, round, 1 + kdri_rng_below(&rng, 30),
		                         1 + kdri_rng_below(&rng, 30)),
		         *back;
		const char *path = bytes_path("s.npz");
		int64_t nnz = d->rowptr[d->rows];
		assert_ok(ctx, kdri_format_npz.write(ctx, path, d, true));
		assert_ok(ctx, bytes_load(ctx, &kdri_format_npz, path, NULL, &back));
		assert_int_equal(back->kind, KDR_MAT_CSR);
		assert_int_equal(back->rows, d->rows);
		assert_int_equal(back->cols, d->cols);
		assert_memory_equal(back->rowptr, d->rowptr, (size_t)(d->rows + 1) * sizeof *d->rowptr);
		assert_memory_equal(back->col, d->col, (size_t)nnz * sizeof *d->col);
		assert_memory_equal(back->val, d->val, (size_t)nnz * sizeof *d->val);
		kdr_data_free(d);
		kdr_data_free(back);
	}
	kdr_context_free(ctx);
}

/* --- archives made by hand -------------------------------------------------------------------------- */

typedef struct archive {
	unsigned char bytes[1 << 16], directory[1 << 12];
	size_t size, directory_size, count;
} archive;

static void put(unsigned char *p, uint64_t value, int bytes)
{
	for (int i = 0; i < bytes; i++, value >>= 8)
		p[i] = (unsigned char)value;
}

/* Adds a member; sizes as claimed, the bytes as given. */
static void add(archive *a, const char *name, int method, const void *data, size_t size, uint32_t claimed,
                uint32_t crc)
{
	unsigned char *p = a->bytes + a->size, *q = a->directory + a->directory_size;
	size_t n = strlen(name);
	memset(p, 0, 30);
	memset(q, 0, 46);
	memcpy(p, "PK\3\4", 4);
	put(p + 8, (uint64_t)method, 2);
	put(p + 26, n, 2);
	memcpy(p + 30, name, n);
	memcpy(p + 30 + n, data, size);
	memcpy(q, "PK\1\2", 4);
	put(q + 10, (uint64_t)method, 2);
	put(q + 16, crc, 4);
	put(q + 20, size, 4);
	put(q + 24, claimed, 4);
	put(q + 28, n, 2);
	put(q + 42, a->size, 4);
	memcpy(q + 46, name, n);
	a->size += 30 + n + size;
	a->directory_size += 46 + n;
	a->count++;
}

static const char *finish(archive *a, const char *name)
{
	unsigned char *p = a->bytes + a->size;
	memcpy(p, a->directory, a->directory_size);
	p += a->directory_size;
	memset(p, 0, 22);
	memcpy(p, "PK\5\6", 4);
	put(p + 10, a->count, 2);
	put(p + 12, a->directory_size, 4);
	put(p + 16, a->size, 4);
	const char *path = bytes_path(name);
	bytes_write(path, a->bytes, a->size + a->directory_size + 22);
	return path;
}

/* A version 1 .npy in `out`; returns its size. */
static size_t npy(unsigned char *out, const char *descr, const char *shape, const void *data, size_t size)
{
	int n = snprintf((char *)out + 10, 200, "{'descr':'%s','fortran_order':False,'shape':%s}", descr,
	                 shape);
	memcpy(out, "\x93NUMPY\1\0", 8);
	put(out + 8, (uint64_t)n, 2);
	memcpy(out + 10 + n, data, size);
	return 10 + (size_t)n + size;
}

static void add_npy(archive *a, const char *name, const char *descr, const char *shape, const void *data,
                    size_t size)
{
	unsigned char raw[4096];
	size_t n = npy(raw, descr, shape, data, size);
	add(a, name, 0, raw, n, (uint32_t)n, (uint32_t)crc32(0, raw, (uInt)n));
}

static void read__archives_that_lie__clear_errors(void **state)
{
	(void)state;
	unit_needs("zlib");
	kdr_context *ctx = unit_context();
	kdr_data *d;
	archive *a = calloc(1, sizeof *a);
	unsigned char raw[512];
	static const double one = 1;
	size_t n = npy(raw, "<f8", "(1,1)", &one, 8);
	uint32_t crc = (uint32_t)crc32(0, raw, (uInt)n);
#define TRY(status, words) \
	do { \
		assert_fails(ctx, bytes_load(ctx, &kdri_format_npz, finish(a, "lie.npz"), NULL, &d), status, \
		             words); \
		memset(a, 0, sizeof *a); \
	} while (0)
	add(a, "x.npy", 0, raw, n, (uint32_t)n, crc ^ 1);
	TRY(KDR_ERR_FORMAT, "checksum");
	add(a, "x.npy", 0, raw, n, (uint32_t)n + 1, crc);
	TRY(KDR_ERR_FORMAT, "cannot result from");
	add(a, "x.npy", 8, raw, n, 0xfffffff0u, crc); /* a bomb: 4 GB of some hundred bytes */
	TRY(KDR_ERR_FORMAT, "cannot result from");
	add(a, "x.npy", 8, raw, n, (uint32_t)n, crc);
	TRY(KDR_ERR_FORMAT, "damaged");
	add(a, "x.npy", 14, raw, n, (uint32_t)n, crc);
	TRY(KDR_ERR_UNSUPPORTED, "method 14");
	add(a, "x.npy", 0, raw, n, (uint32_t)n, crc);
	put(a->directory + 8, 1, 2);
	TRY(KDR_ERR_UNSUPPORTED, "encrypted");
	add(a, "x.npy", 0, raw, n, (uint32_t)n, crc);
	put(a->directory + 42, 0xffffff, 4);
	TRY(KDR_ERR_FORMAT, "cannot result from");
	add(a, "x.npy", 0, raw, n, (uint32_t)n, crc);
	put(a->directory + 42, 5, 4);
	TRY(KDR_ERR_FORMAT, "position");
	add(a, "x.npy", 0, raw, n, (uint32_t)n, crc);
	put(a->directory + 28, 0xffff, 2);
	TRY(KDR_ERR_FORMAT, "directory");
	add(a, "x.npy", 0, raw, n, (uint32_t)n, crc);
	a->count = 1000;
	TRY(KDR_ERR_FORMAT, "directory");
	TRY(KDR_ERR_DATA, "0 arrays");
	bytes_write(bytes_path("lie.npz"), "PK", 2);
	assert_fails(ctx, bytes_load(ctx, &kdri_format_npz, bytes_path("lie.npz"), NULL, &d), KDR_ERR_FORMAT,
	             "short");
	memset(raw, 'x', sizeof raw);
	bytes_write(bytes_path("lie.npz"), raw, sizeof raw);
	assert_fails(ctx, bytes_load(ctx, &kdri_format_npz, bytes_path("lie.npz"), NULL, &d), KDR_ERR_FORMAT,
	             "does not end with a directory");
	assert_fails(ctx, bytes_load(ctx, &kdri_format_npz, bytes_folder(), NULL, &d), KDR_ERR_READ,
	             "directory");
	assert_fails(ctx, bytes_load(ctx, &kdri_format_npz, bytes_path("none.npz"), NULL, &d), KDR_ERR_READ,
	             "none.npz");
	free(a);
	kdr_context_free(ctx);
}

/* A deflated array whose header promises far more than follows fails before memory is asked for. */
static void read__deflated_bomb__fails_by_its_header(void **state)
{
	(void)state;
	unit_needs("zlib");
	kdr_context *ctx = unit_context();
	kdr_data *d;
	archive *a = calloc(1, sizeof *a);
	unsigned char raw[512], packed[1024];
	z_stream z = { 0 };
	size_t n = npy(raw, "<f8", "(1099511627776,)", "", 0);
	assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_in = raw;
	z.avail_in = (uInt)n;
	z.next_out = packed;
	z.avail_out = sizeof packed;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	deflateEnd(&z);
	add(a, "x.npy", 8, packed, z.total_out, (uint32_t)n, (uint32_t)crc32(0, raw, (uInt)n));
	assert_fails(ctx, bytes_load(ctx, &kdri_format_npz, finish(a, "b.npz"), NULL, &d), KDR_ERR_FORMAT,
	             "claims");
	free(a);
	kdr_context_free(ctx);
}

static void read__sparse_that_contradicts_itself__clear_errors(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_data *d;
	archive *a = calloc(1, sizeof *a);
	static const struct {
		const char *format, *words;
		int64_t shape[2];
		int32_t indptr[3], indices[2];
		int nptr, nindices;
		kdr_status status;
	} cases[] = {
		{ "csr", NULL, { 2, 3 }, { 0, 1, 2 }, { 2, 0 }, 3, 2, KDR_OK },
		{ "csc", NULL, { 3, 2 }, { 0, 1, 2 }, { 2, 0 }, 3, 2, KDR_OK },
		{ "csr", "index 3", { 2, 3 }, { 0, 1, 2 }, { 3, 0 }, 3, 2, KDR_ERR_FORMAT },
		{ "csr", "index -1", { 2, 3 }, { 0, 1, 2 }, { -1, 0 }, 3, 2, KDR_ERR_FORMAT },
		{ "csc", "index 2", { 2, 2 }, { 0, 1, 2 }, { 2, 0 }, 3, 2, KDR_ERR_FORMAT },
		{ "csr", "increase", { 2, 3 }, { 0, 3, 2 }, { 2, 0 }, 3, 2, KDR_ERR_FORMAT },
		{ "csr", "increase", { 2, 3 }, { 0, 1, 3 }, { 2, 0 }, 3, 2, KDR_ERR_FORMAT },
		{ "csr", "increase", { 2, 3 }, { -1, 1, 2 }, { 2, 0 }, 3, 2, KDR_ERR_FORMAT },
		{ "csr", "3 pointers", { 3, 3 }, { 0, 1, 2 }, { 2, 0 }, 3, 2, KDR_ERR_FORMAT },
		{ "csr", "1 indices", { 2, 3 }, { 0, 1, 2 }, { 2, 0 }, 3, 1, KDR_ERR_FORMAT },
		{ "csr", "empty", { 2, 0 }, { 0, 1, 2 }, { 2, 0 }, 3, 2, KDR_ERR_DATA },
		{ "csr", "empty", { -2, 3 }, { 0, 1, 2 }, { 2, 0 }, 3, 2, KDR_ERR_DATA },
		{ "csr", "columns", { 2, INT64_MAX }, { 0, 1, 2 }, { 2, 0 }, 3, 2, KDR_ERR_SIZE },
		{ "csr", "pointers", { INT64_MAX, 3 }, { 0, 1, 2 }, { 2, 0 }, 3, 2, KDR_ERR_FORMAT },
		{ "csc", "rows", { INT32_MAX, 2 }, { 0, 1, 2 }, { 2, 0 }, 3, 2, KDR_ERR_SIZE },
		{ "bsr", "'bsr'", { 2, 3 }, { 0, 1, 2 }, { 2, 0 }, 3, 2, KDR_ERR_UNSUPPORTED },
	};
	static const double values[2] = { 1.5, -2.5 };
	for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
		char shape[16];
		memset(a, 0, sizeof *a);
		add_npy(a, "format.npy", "|S3", "()", cases[c].format, 3);
		add_npy(a, "shape.npy", "<i8", "(2,)", cases[c].shape, 16);
		snprintf(shape, sizeof shape, "(%d,)", cases[c].nptr);
		add_npy(a, "indptr.npy", "<i4", shape, cases[c].indptr, (size_t)cases[c].nptr * 4);
		snprintf(shape, sizeof shape, "(%d,)", cases[c].nindices);
		add_npy(a, "indices.npy", "<i4", shape, cases[c].indices, (size_t)cases[c].nindices * 4);
		add_npy(a, "data.npy", "<f8", "(2,)", values, 16);
		const char *path = finish(a, "c.npz");
		if (cases[c].status != KDR_OK) {
			assert_fails(ctx, bytes_load(ctx, &kdri_format_npz, path, NULL, &d), cases[c].status,
			             cases[c].words);
			continue;
		}
		assert_ok(ctx, bytes_load(ctx, &kdri_format_npz, path, NULL, &d));
		assert_int_equal(d->rowptr[d->rows], 2);
		assert_true(d->val[0] == (c == 0 ? 1.5 : -2.5));
		kdr_data_free(d);
	}
	free(a);
	kdr_context_free(ctx);
}

static kdr_status read_back(kdr_context *ctx, const char *path)
{
	kdr_data *d = NULL;
	kdr_status st = bytes_load(ctx, &kdri_format_npz, path, NULL, &d);
	if (st == KDR_OK)
		st = kdri_format_npz.write(ctx, bytes_path("again.npz"), d, true);
	kdr_data_free(d);
	return st;
}

static void read_and_write__every_allocation_failed__no_leak(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_data *d = random_csr(ctx, 3, 9, 7);
	const char *path = bytes_path("oom.npz");
	assert_ok(ctx, kdri_format_npz.write(ctx, path, d, true));
	failing_all(read_back, path);
	kdr_data_free(d);
	kdr_context_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(write__sparse__reads_back_bit_for_bit),
		cmocka_unit_test(read__archives_that_lie__clear_errors),
		cmocka_unit_test(read__deflated_bomb__fails_by_its_header),
		cmocka_unit_test(read__sparse_that_contradicts_itself__clear_errors),
		cmocka_unit_test(read_and_write__every_allocation_failed__no_leak),
	};
	return cmocka_run_group_tests(tests, NULL, bytes_clean);
}
