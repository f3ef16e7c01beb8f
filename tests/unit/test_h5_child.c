/* HDF5 read in a child process: the same data, and a child that crashes, hangs or is not wanted any more. */
#include "io/hdf5/h5_child.h"
#include "tests/unit/bytes.h"
#include "tests/unit/failing.h"

#include <dirent.h>
#include <signal.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROWS = 300, COLS = 20 };
static const double patience = 60;

/* A file with every kind of thing the readers ask for. */
static const char *annotated(kdr_context *ctx, bool sparse)
{
	static const char *const kinds[] = { "B cell", "b\xc3\xa4r", "" };
	static double values[ROWS * COLS], val[ROWS * COLS];
	static int64_t rowptr[ROWS + 1], codes[ROWS];
	static int32_t col[ROWS * COLS];
	static char text[ROWS][20];
	const char *ids[ROWS];
	const int64_t rows = ROWS;
	int64_t nnz = 0;
	for (int i = 0; i < ROWS; i++) {
		for (int j = 0; j < COLS; j++) {
			values[i * COLS + j] = sin(i * COLS + j);
			if ((i + j) % 7 == 0) {
				val[nnz] = values[i * COLS + j];
				col[nnz++] = j;
			}
		}
		rowptr[i + 1] = nnz;
		codes[i] = i % 4 - 1;
		snprintf(text[i], sizeof text[i], "cell %d", i);
		ids[i] = text[i];
	}
	kdr_mat x = sparse ? kdr_mat_from_csr(ROWS, COLS, rowptr, col, val)
	                   : kdr_mat_from_dense(values, ROWS, COLS);
	const char *path = bytes_path(sparse ? "sparse.h5ad" : "dense.h5ad");
	kdr_data *d = NULL;
	kdri_h5 h5 = { 0 };
	assert_ok(ctx, kdr_data_new(ctx, "x", &x, NULL, &d));
	assert_ok(ctx, kdri_h5_create(ctx, path, path, &h5));
	assert_ok(ctx, kdri_h5_write_matrix(ctx, &h5, "X", d));
	assert_ok(ctx, kdri_h5_make_group(ctx, &h5, "obs"));
	assert_ok(ctx, kdri_h5_set_text(ctx, &h5, "obs", "_index", "id"));
	assert_ok(ctx, kdri_h5_write_strings(ctx, &h5, "obs/id", ids, ROWS));
	assert_ok(ctx, kdri_h5_make_group(ctx, &h5, "var"));
	assert_ok(ctx, kdri_h5_write_strings(ctx, &h5, "var/_index", ids, COLS));
	assert_ok(ctx, kdri_h5_make_group(ctx, &h5, "obs/kind"));
	assert_ok(ctx, kdri_h5_write_array(ctx, &h5, "obs/kind/codes", H5T_NATIVE_INT64, 1, &rows, codes));
	assert_ok(ctx, kdri_h5_write_strings(ctx, &h5, "obs/kind/categories", kinds, 3));
	assert_ok(ctx, kdri_h5_finish(ctx, &h5));
	kdr_data_free(d);
	return path;
}

static void same_strings(char **a, char **b, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		assert_string_equal(a[i], b[i]);
}

static void read__in_a_child__the_same_data(void **state)
{
	(void)state;
	static const kdr_read_options options = { .label_column = "kind" };
	kdr_context *ctx = unit_context();
	for (int sparse = 0; sparse < 2; sparse++) {
		kdr_data *d[2];
		const char *path = annotated(ctx, sparse);
		for (int i = 0; i < 2; i++) {
			kdr_context_set_isolation(ctx, i * patience);
			assert_ok(ctx, bytes_load(ctx, &kdri_format_h5ad, path, &options, &d[i]));
		}
		assert_true(d[1]->kind == d[0]->kind && d[1]->rows == ROWS && d[1]->cols == COLS);
		if (sparse) {
			const size_t nnz = (size_t)d[0]->rowptr[ROWS];
			assert_memory_equal(d[1]->rowptr, d[0]->rowptr, (ROWS + 1) * sizeof(int64_t));
			assert_memory_equal(d[1]->col, d[0]->col, nnz * sizeof(int32_t));
			assert_memory_equal(d[1]->val, d[0]->val, nnz * sizeof(double));
		} else {
			assert_memory_equal(d[1]->dense, d[0]->dense, ROWS * COLS * sizeof(double));
		}
		same_strings(d[1]->ids, d[0]->ids, ROWS);
		same_strings(d[1]->features, d[0]->features, COLS);
		assert_int_equal(d[1]->nclasses, 3);
		same_strings(d[1]->classes, d[0]->classes, 3);
		assert_memory_equal(d[1]->labels, d[0]->labels, ROWS * sizeof(int64_t));
		kdr_data_free(d[0]);
		kdr_data_free(d[1]);
	}
	kdr_context_free(ctx);
}

static void read__wrong_in_any_way__the_same_words(void **state)
{
	(void)state;
	static const struct {
		const char *member, *column;
	} asked[] = { { ":/nothing", NULL }, { ":obs", NULL }, { ":obs/id", NULL }, { "", "colour" } };
	kdr_context *ctx = unit_context();
	char path[300], words[2][512];
	const char *file = annotated(ctx, true);
	for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
		const kdr_read_options options = { .label_column = asked[i].column };
		kdr_status st[2];
		kdr_data *d;
		snprintf(path, sizeof path, "%s%s", file, asked[i].member);
		for (int child = 0; child < 2; child++) {
			kdr_context_set_isolation(ctx, child * patience);
			st[child] = bytes_load(ctx, &kdri_format_h5ad, path, &options, &d);
			snprintf(words[child], sizeof words[child], "%s", kdr_context_error(ctx));
		}
		assert_int_not_equal(st[0], KDR_OK);
		assert_int_equal(st[1], st[0]);
		assert_string_equal(words[1], words[0]);
	}
	bytes_write(bytes_path("not.h5"), "not HDF5", 8);
	kdr_data *d;
	assert_fails(ctx, bytes_load(ctx, &kdri_format_hdf5, bytes_path("not.h5"), NULL, &d), KDR_ERR_FORMAT,
	             "is not an HDF5 file");
	kdr_context_free(ctx);
}

/* The only child of this process, by the fourth field of what /proc tells of each. */
static pid_t child(void)
{
	DIR *all = opendir("/proc");
	pid_t found = 0;
	assert_non_null(all);
	for (struct dirent *d; (d = readdir(all));) {
		long pid = strtol(d->d_name, NULL, 10), parent = 0;
		char path[64], line[256] = "";
		snprintf(path, sizeof path, "/proc/%ld/stat", pid);
		FILE *f = pid > 0 ? fopen(path, "r") : NULL;
		const char *after = f && fgets(line, sizeof line, f) ? strrchr(line, ')') : NULL;
		if (after && sscanf(after, ") %*c %ld", &parent) == 1 && parent == (long)getpid())
			found = (pid_t)pid;
		if (f)
			fclose(f);
	}
	closedir(all);
	assert_true(found > 0);
	return found;
}

/* A child that was sent a signal after it opened the file; then everything is asked that can be. */
static void ask_after(kdr_context *ctx, int signal_number, const char *words)
{
	kdri_h5 h5 = { 0 };
	kdri_h5_array a = { 0 };
	char text[8] = "";
	double values[ROWS * COLS];
	assert_ok(ctx, kdri_h5_open(ctx, annotated(ctx, false), &h5));
	assert_ok(ctx, kdri_h5_array_open(ctx, &h5, "X", &a));
	assert_int_equal(kill(child(), signal_number), 0);
	assert_fails(ctx, kdri_h5_rows_double(ctx, &a, 0, ROWS, values), KDR_ERR_FORMAT, words);
	assert_int_equal(kdri_h5_what(&h5, "X"), KDRI_H5_NONE);
	assert_false(kdri_h5_text(&h5, "obs", "_index", text, sizeof text));
	assert_fails(ctx, kdri_h5_array_open(ctx, &h5, "X", &a), KDR_ERR_FORMAT, words);
	kdri_h5_array_close(&a);
	/* Not even a reader that takes missing answers for an empty file gets away with it. */
	assert_fails(ctx, kdri_h5_end(ctx, &h5, KDR_OK), KDR_ERR_FORMAT, words);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* and no process is left */
}

static void child__killed__says_the_file_is_damaged(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_context_set_isolation(ctx, patience);
	ask_after(ctx, SIGSEGV, "the file is damaged: the HDF5 library crashes on it (signal 11)");
	kdr_context_free(ctx);
}

static void child__stopped__given_up_in_time(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_context_set_isolation(ctx, .2);
	ask_after(ctx, SIGSTOP, "the HDF5 library finds no end reading it");
	kdr_context_free(ctx);
}

static int stop(void *user, const kdr_event *event)
{
	(void)user;
	return event->kind == KDR_EVENT_ITERATION;
}

static void child__caller_cancels__ends_at_once(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_context_set_isolation(ctx, 1e6);
	kdr_context_set_progress(ctx, stop, NULL);
	ask_after(ctx, SIGSTOP, "interrupted");
	kdr_context_free(ctx);
}

static kdr_status read_isolated(kdr_context *ctx, const char *path)
{
	static const kdr_read_options options = { .label_column = "kind" };
	kdr_data *d = NULL;
	kdr_context_set_isolation(ctx, patience);
	kdr_status st = bytes_load(ctx, &kdri_format_h5ad, path, &options, &d);
	kdr_data_free(d);
	return st;
}

static void read__every_allocation_failed__no_leak(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_h5 h5 = { 0 };
	const char *path = bytes_path("small.h5ad"), *const names[] = { "a", "b" };
	const double x[] = { 1, 2, 3, 4 };
	const int64_t two = 2, codes[] = { 1, 0 }, shape[] = { 2, 2 };
	assert_ok(ctx, kdri_h5_create(ctx, path, path, &h5));
	assert_ok(ctx, kdri_h5_write_array(ctx, &h5, "X", H5T_NATIVE_DOUBLE, 2, shape, x));
	assert_ok(ctx, kdri_h5_make_group(ctx, &h5, "obs"));
	assert_ok(ctx, kdri_h5_write_strings(ctx, &h5, "obs/_index", names, 2));
	assert_ok(ctx, kdri_h5_make_group(ctx, &h5, "obs/kind"));
	assert_ok(ctx, kdri_h5_write_array(ctx, &h5, "obs/kind/codes", H5T_NATIVE_INT64, 1, &two, codes));
	assert_ok(ctx, kdri_h5_write_strings(ctx, &h5, "obs/kind/categories", names, 2));
	assert_ok(ctx, kdri_h5_finish(ctx, &h5));
	failing_all(read_isolated, path);
	kdr_context_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(read__in_a_child__the_same_data),
		cmocka_unit_test(read__wrong_in_any_way__the_same_words),
		cmocka_unit_test(child__killed__says_the_file_is_damaged),
		cmocka_unit_test(child__stopped__given_up_in_time),
		cmocka_unit_test(child__caller_cancels__ends_at_once),
		cmocka_unit_test(read__every_allocation_failed__no_leak),
	};
	return cmocka_run_group_tests(tests, NULL, bytes_clean);
}
