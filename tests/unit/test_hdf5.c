/* HDF5 data sets and model files: round trips, full disks, failing allocations. */
#include "tests/unit/bytes.h"
#include "tests/unit/failing.h"

#include <hdf5.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

static const char *const names[] = { "alpha", "b\xc3\xa4r", "" };
static const double values[12] = { 1, -0.0, 5e-324, 4, 5, 6, NAN, INFINITY, 9, 10, 11, 12 };
static const int64_t rowptr[5] = { 0, 2, 2, 3, 5 };
static const int32_t col[5] = { 0, 2, 1, 0, 1 };

static kdr_data *make(kdr_context *ctx, bool sparse)
{
	kdr_mat x = sparse ? kdr_mat_from_csr(4, 3, rowptr, col, values) : kdr_mat_from_dense(values, 4, 3);
	kdr_data *d = NULL;
	assert_ok(ctx, kdr_data_new(ctx, "x", &x, names, &d));
	return d;
}

static void write__dense_and_sparse__reads_back_bit_for_bit(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	for (int sparse = 0; sparse < 2; sparse++) {
		kdr_data *d = make(ctx, sparse), *back;
		const char *path = bytes_path("x.h5");
		assert_ok(ctx, kdri_format_hdf5.write(ctx, path, d, true));
		assert_ok(ctx, bytes_load(ctx, &kdri_format_hdf5, path, NULL, &back));
		assert_int_equal(back->kind, sparse ? KDR_MAT_CSR : KDR_MAT_DENSE);
		assert_int_equal(back->rows, 4);
		assert_int_equal(back->cols, 3);
		if (sparse) {
			assert_memory_equal(back->rowptr, rowptr, sizeof rowptr);
			assert_memory_equal(back->col, col, sizeof col);
			assert_memory_equal(back->val, values, 5 * sizeof *values);
		} else {
			assert_memory_equal(back->dense, values, sizeof values);
		}
		for (int j = 0; j < 3; j++)
			assert_string_equal(back->features[j], names[j]);
		kdr_data_free(d);
		kdr_data_free(back);
	}
	kdr_context_free(ctx);
}

static void write__twice__same_bytes(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_data *d = make(ctx, true);
	size_t n[2];
	unsigned char *file[2];
	for (int i = 0; i < 2; i++) {
		assert_ok(ctx, kdri_format_hdf5.write(ctx, bytes_path("same.h5"), d, true));
		file[i] = bytes_read(bytes_path("same.h5"), &n[i]);
	}
	assert_int_equal(n[0], n[1]);
	assert_memory_equal(file[0], file[1], n[0]);
	free(file[0]);
	free(file[1]);
	kdr_data_free(d);
	kdr_context_free(ctx);
}

static void open__any_file__error_printing_is_as_before(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_data *d;
	H5E_auto2_t before, after;
	void *data_before, *data_after;
	H5Eget_auto2(H5E_DEFAULT, &before, &data_before);
	bytes_write(bytes_path("not.h5"), "not HDF5", 8);
	assert_fails(ctx, bytes_load(ctx, &kdri_format_hdf5, bytes_path("not.h5"), NULL, &d), KDR_ERR_FORMAT,
	             "not an HDF5 file");
	H5Eget_auto2(H5E_DEFAULT, &after, &data_after);
	assert_true(before == after && data_before == data_after);
	assert_int_equal(H5Fget_obj_count(H5F_OBJ_ALL, H5F_OBJ_ALL), 0);
	kdr_context_free(ctx);
}

/* Writes a file that does not fit; never returns. A process of its own, since HDF5 may fail once more when
 * the limit still holds at its end. */
static void write_too_much(const char *path)
{
	kdr_context *ctx = NULL;
	kdr_data *big = NULL;
	double *zeros = calloc(1 << 16, sizeof *zeros);
	kdr_mat x = kdr_mat_from_dense(zeros, 1 << 12, 1 << 4);
	/* No file may grow beyond 64 KiB: what a full disk looks like. */
	struct rlimit limit = { 1 << 16, 1 << 16 };
	signal(SIGXFSZ, SIG_IGN);
	if (kdr_context_new(&ctx, NULL) != KDR_OK || kdr_data_new(ctx, "big", &x, NULL, &big) != KDR_OK ||
	    setrlimit(RLIMIT_FSIZE, &limit) != 0)
		_exit(0);
	_exit(kdri_format_hdf5.write(ctx, path, big, true));
}

static void write__disk_full__old_file_stays(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_data *d = make(ctx, false);
	const char *path = bytes_path("full/x.h5");
	char command[256];
	size_t before, after;
	int status;
	assert_int_equal(mkdir(bytes_path("full"), 0777), 0);
	assert_ok(ctx, kdri_format_hdf5.write(ctx, path, d, true));
	unsigned char *first = bytes_read(path, &before), *second;
	pid_t child = fork();
	if (child == 0)
		write_too_much(path);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), KDR_ERR_WRITE);
	second = bytes_read(path, &after);
	assert_int_equal(before, after);
	assert_memory_equal(first, second, before);
	snprintf(command, sizeof command, "test \"$(ls -A '%s')\" = x.h5", bytes_path("full"));
	assert_int_equal(system(command), 0);
	free(first);
	free(second);
	kdr_data_free(d);
	kdr_context_free(ctx);
}

static kdr_status read_back(kdr_context *ctx, const char *path)
{
	kdr_data *d = NULL;
	kdr_status st = bytes_load(ctx, &kdri_format_hdf5, path, NULL, &d);
	if (st == KDR_OK)
		st = kdri_format_hdf5.write(ctx, bytes_path("again.h5"), d, true);
	kdr_data_free(d);
	return st;
}

static void read_and_write__every_allocation_failed__no_leak(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	for (int sparse = 0; sparse < 2; sparse++) {
		kdr_data *d = make(ctx, sparse);
		assert_ok(ctx, kdri_format_hdf5.write(ctx, bytes_path("oom.h5"), d, true));
		kdr_data_free(d);
		failing_all(read_back, bytes_path("oom.h5"));
		assert_int_equal(H5Fget_obj_count(H5F_OBJ_ALL, H5F_OBJ_ALL), 0);
	}
	kdr_context_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(write__dense_and_sparse__reads_back_bit_for_bit),
		cmocka_unit_test(write__twice__same_bytes),
		cmocka_unit_test(open__any_file__error_printing_is_as_before),
		cmocka_unit_test(read_and_write__every_allocation_failed__no_leak),
		cmocka_unit_test(write__disk_full__old_file_stays),
	};
	return cmocka_run_group_tests(tests, NULL, bytes_clean);
}
