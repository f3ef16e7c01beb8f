/* HDF5 read in a child process: the same data, and a child that crashes, hangs or is not wanted any more. */
#include "io/hdf5/h5.h"
#include "tests/unit/damage.h"
#include "tests/unit/failing.h"

#include <fcntl.h>
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
	static const kdr_read_options options = { .size = sizeof(kdr_read_options), .label_column = "kind" };
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
		const kdr_read_options options = { .size = sizeof(kdr_read_options),
			                           .label_column = asked[i].column };
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

/* --- a child that fails -------------------------------------------------------------------------------- */

static kdr_status do_crash(kdr_context *ctx, const void *user, void *result)
{
	(void)ctx, (void)user, (void)result;
	raise(SIGSEGV);
	return KDR_OK;
}

static kdr_status do_exit(kdr_context *ctx, const void *user, void *result)
{
	(void)ctx, (void)user, (void)result;
	_exit(0);
	return KDR_OK;
}

static kdr_status do_nothing_for_ever(kdr_context *ctx, const void *user, void *result)
{
	(void)ctx, (void)user, (void)result;
	while (pause() != 0)
		;
	return KDR_OK;
}

static kdr_status do_allocate(kdr_context *ctx, const void *user, void *result)
{
	(void)user;
	return kdri_alloc(ctx, result, (int64_t)1 << 30, 1);
}

static void fails_in_child(kdr_context *ctx, kdri_child_run run, kdr_status expected, const char *words)
{
	void *result = NULL;
	kdri_handed handed = { 0 };
	const kdri_child_job job = {
		.path = "x.h5", .file_bytes = 1000, .run = run, .result_size = sizeof result
	};
	assert_fails(ctx, kdri_run_apart(ctx, &job, &result, &handed), expected, words);
	assert_null(result);
	kdri_handed_free(&handed);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no process is left */
}

static void child__crashes__says_the_file_is_damaged(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_context_set_isolation(ctx, patience);
	fails_in_child(ctx, do_crash, KDR_ERR_FORMAT,
	               "x.h5: the file is damaged: the HDF5 library crashes on it (signal 11)");
	fails_in_child(ctx, do_exit, KDR_ERR_FORMAT,
	               "x.h5: the file is damaged: the HDF5 library failed while reading it");
	kdr_context_free(ctx);
}

static void child__hangs__given_up_in_time(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_context_set_isolation(ctx, .2);
	fails_in_child(ctx, do_nothing_for_ever, KDR_ERR_FORMAT,
	               "the HDF5 library did not finish reading it");
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
	fails_in_child(ctx, do_nothing_for_ever, KDR_ERR_FORMAT, "x.h5: interrupted");
	kdr_context_free(ctx);
}

/* A file of 1000 bytes cannot hold a gigabyte; nor may a child take more than the limit. */
static void child__allocates_too_much__out_of_memory(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_context_set_isolation(ctx, patience);
	fails_in_child(ctx, do_allocate, KDR_ERR_MEMORY, "out of memory: cannot allocate another 1073.7 MB");
	kdr_context_free(ctx);
}

/* --- leftovers of a child process ------------------------------------------------------------------------- */

typedef struct left {
	double *large, *small, *outside;
	char **texts;
} left;

enum { LARGE_COUNT = 1 << 16, SMALL_COUNT = 10 };

static kdr_status leave(kdr_context *ctx, const void *user, void *result)
{
	static double elsewhere[SMALL_COUNT];
	(void)user;
	kdr_status st;
	left *l = result;
	KDRI_TRY(KDRI_NEW0(ctx, &l->large, LARGE_COUNT));
	KDRI_TRY(KDRI_NEW0(ctx, &l->small, SMALL_COUNT));
	KDRI_TRY(KDRI_NEW0(ctx, &l->texts, 2));
	KDRI_TRY(kdri_strdup(ctx, "one", &l->texts[0]));
	l->texts[1] = (char *)elsewhere;
	l->outside = elsewhere;
	l->large[LARGE_COUNT - 1] = l->small[0] = 3;
	kdri_message(ctx, "a message");
done:
	return st;
}

static int count_messages(void *user, const kdr_event *event)
{
	if (event->kind == KDR_EVENT_MESSAGE && strcmp(event->message, "a message") == 0)
		(*(int *)user)++;
	return 0;
}

static void handed__pointers__checked_before_they_are_used(void **state)
{
	(void)state;
	int messages = 0;
	kdr_context *ctx = unit_context();
	left l = { 0 };
	kdri_handed h = { 0 };
	double *large = NULL, *small = NULL, *other = NULL;
	char **texts = NULL;
	const char damaged[] = "x.h5: the file is damaged";
	const kdri_child_job job = {
		.path = "x.h5", .file_bytes = 1000, .run = leave, .result_size = sizeof l
	};
	kdr_context_set_isolation(ctx, patience);
	kdr_context_set_progress(ctx, count_messages, &messages);
	assert_ok(ctx, kdri_run_apart(ctx, &job, &l, &h));
	assert_int_equal(messages, 1);
	assert_ok(ctx, kdri_handed_array(ctx, &h, l.large, LARGE_COUNT, sizeof *large, &large));
	assert_ptr_equal(large, l.large); /* where it is */
	assert_fails(ctx, kdri_handed_array(ctx, &h, l.large, LARGE_COUNT, sizeof *large, &other),
	             KDR_ERR_FORMAT, damaged); /* only once */
	assert_ok(ctx, kdri_handed_array(ctx, &h, l.small, SMALL_COUNT, sizeof *small, &small));
	assert_ptr_not_equal(small, l.small);
	assert_fails(ctx, kdri_handed_array(ctx, &h, l.outside, SMALL_COUNT, sizeof *small, &other),
	             KDR_ERR_FORMAT, damaged);
	assert_fails(ctx, kdri_handed_array(ctx, &h, l.small, INT64_MAX / 8, sizeof *small, &other),
	             KDR_ERR_FORMAT, damaged);
	assert_fails(ctx, kdri_handed_strings(ctx, &h, l.texts, 2, &texts), KDR_ERR_FORMAT, damaged);
	assert_ok(ctx, kdri_handed_strings(ctx, &h, l.texts, 1, &texts));
	kdri_handed_free(&h);
	assert_true(large[LARGE_COUNT - 1] == 3 && small[0] == 3 && !other);
	large[0] = 1; /* an array like any other, also when it grows */
	assert_ok(ctx, KDRI_GROW(ctx, &large, 2 * LARGE_COUNT));
	assert_true(large[0] == 1 && large[LARGE_COUNT - 1] == 3);
	assert_string_equal(texts[0], "one");
	kdri_free(ctx, large);
	kdri_free(ctx, small);
	kdri_strings_free(&ctx->allocator, texts, 1);
	kdr_context_free(ctx);
}

/* --- descriptors ---------------------------------------------------------------------------------------- */

static void read__standard_descriptors_closed__the_same_data(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	const char *path = annotated(ctx, true);
	kdr_data *d = NULL;
	int kept[3];
	kdr_context_set_isolation(ctx, patience);
	fflush(NULL);
	for (int i = 0; i < 3; i++) {
		kept[i] = fcntl(i, F_DUPFD_CLOEXEC, 3);
		close(i);
	}
	kdr_status st = bytes_load(ctx, &kdri_format_h5ad, path, NULL, &d);
	for (int i = 0; i < 3; i++)
		if (kept[i] >= 0) {
			dup2(kept[i], i);
			close(kept[i]);
		}
	assert_ok(ctx, st);
	assert_int_equal(d->rows, ROWS);
	kdr_data_free(d);
	kdr_context_free(ctx);
}

/* --- sizes ----------------------------------------------------------------------------------------------- */

static void read__claims_beyond_the_file__refused(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	const char *path = annotated(ctx, false);
	kdr_data *d = NULL;
	unwritten(path, "X", 2, (hsize_t[]){ 20000, 1000 });
	for (int i = 0; i < 2; i++) {
		kdr_context_set_isolation(ctx, i * patience);
		assert_fails(ctx, bytes_load(ctx, &kdri_format_h5ad, path, NULL, &d), KDR_ERR_SIZE,
		             "X: claims 160 MB, which a file of 0.0");
	}
	kdr_context_free(ctx);
}

static kdr_status read_isolated(kdr_context *ctx, const char *path)
{
	static const kdr_read_options options = { .size = sizeof(kdr_read_options), .label_column = "kind" };
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
		cmocka_unit_test(child__crashes__says_the_file_is_damaged),
		cmocka_unit_test(child__hangs__given_up_in_time),
		cmocka_unit_test(child__caller_cancels__ends_at_once),
		cmocka_unit_test(child__allocates_too_much__out_of_memory),
		cmocka_unit_test(handed__pointers__checked_before_they_are_used),
		cmocka_unit_test(read__standard_descriptors_closed__the_same_data),
		cmocka_unit_test(read__claims_beyond_the_file__refused),
		cmocka_unit_test(read__every_allocation_failed__no_leak),
	};
	return cmocka_run_group_tests(tests, NULL, bytes_clean);
}
