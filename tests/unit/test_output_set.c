/* Files that appear together, and temporary files. SPDX-License-Identifier: BSD-3-Clause */
#include "core/system.h"
#include "io/output/set.h"
#include "tests/unit/bytes.h"

#include <sys/wait.h>

static void put(kdr_context *ctx, const char *name, const char *text)
{
	assert_ok(ctx, kdr_write_file(ctx, bytes_path(name), text, strlen(text), true));
}

static void assert_text(const char *name, const char *text)
{
	char got[64] = "";
	FILE *f = kdri_fopen(bytes_path(name));
	assert_non_null(f);
	(void)fgets(got, sizeof got, f);
	fclose(f);
	assert_string_equal(got, text);
}

/* Temporary files in the folder. */
static int count_temporary(void)
{
	int count = 0;
	kdri_listing *listing = kdri_listing_open(bytes_path(""));
	assert_non_null(listing);
	for (const char *name; (name = kdri_listing_next(listing));)
		count += strncmp(name, ".tmp-", 5) == 0;
	kdri_listing_close(listing);
	return count;
}

static void set__files__appear_together(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	put(ctx, "a", "old");
	assert_ok(ctx, kdr_outputs_begin(ctx, NULL));
	assert_ok(ctx, kdr_outputs_begin(ctx, NULL)); /* sets within a set end with it */
	put(ctx, "result.json", "new");
	put(ctx, "a", "new");
	assert_ok(ctx, kdr_outputs_end(ctx, KDR_OK));
	assert_text("a", "old");
	assert_false(kdri_exists(bytes_path("result.json")));
	assert_int_equal(count_temporary(), 2);
	assert_true(strcmp(kdri_set_find(ctx, bytes_path("a")), bytes_path("a")) != 0);
	assert_ok(ctx, kdr_outputs_end(ctx, KDR_OK));
	assert_text("a", "new");
	assert_text("result.json", "new");
	assert_int_equal(count_temporary(), 0);
	kdr_context_free(ctx);
}

static void set__after_a_failure__has_no_file(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	put(ctx, "a", "old");
	assert_ok(ctx, kdr_outputs_begin(ctx, bytes_path("")));
	put(ctx, "a", "new");
	put(ctx, "b", "new");
	assert_int_equal(kdr_outputs_end(ctx, kdri_fail(ctx, KDR_ERR_WRITE, "disk full")), KDR_ERR_WRITE);
	assert_non_null(strstr(kdr_context_error(ctx), "disk full; the earlier result in"));
	assert_text("a", "old");
	assert_false(kdri_exists(bytes_path("b")));
	assert_int_equal(count_temporary(), 0);
	/* A file that has appeared meanwhile: nothing is renamed. */
	assert_ok(ctx, kdr_outputs_begin(ctx, NULL));
	put(ctx, "a", "new");
	assert_ok(ctx, kdr_write_file(ctx, bytes_path("b"), "new", 3, false));
	FILE *f = fopen(bytes_path("b"), "w");
	assert_non_null(f);
	fclose(f);
	assert_fails(ctx, kdr_outputs_end(ctx, KDR_OK), KDR_ERR_EXISTS, "already exists");
	assert_text("a", "old");
	assert_int_equal(count_temporary(), 0);
	(void)kdri_unlink(bytes_path("b"));
	/* A folder in the way, which is noticed only when a file is renamed. */
	assert_ok(ctx, kdr_outputs_begin(ctx, NULL));
	put(ctx, "a", "newer");
	put(ctx, "b", "new");
	assert_int_equal(kdri_mkdir(bytes_path("b")), 0);
	assert_fails(ctx, kdr_outputs_end(ctx, KDR_OK), KDR_ERR_WRITE, "1 of 2 files were replaced before");
	assert_int_equal(count_temporary(), 0);
	(void)rmdir(bytes_path("b"));
	kdr_context_free(ctx);
}

/* A process that is killed before its set ends. */
static void set__of_a_killed_process__is_removed_by_the_next(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context(), *other = unit_context();
	int status;
	put(ctx, "a", "old");
	assert_ok(ctx, kdr_outputs_begin(ctx, NULL));
	put(ctx, "b", "of a process that runs");
	const pid_t child = fork();
	if (child == 0) {
		kdr_context *own = NULL;
		bool done = kdr_context_new(&own, NULL) == KDR_OK && kdr_outputs_begin(own, NULL) == KDR_OK &&
		            kdr_write_file(own, bytes_path("a"), "new", 3, true) == KDR_OK;
		_exit(done ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_text("a", "old");
	assert_int_equal(count_temporary(), 2);
	put(other, "c", "the next run");
	kdr_context_free(other);
	assert_int_equal(count_temporary(), 1);
	assert_ok(ctx, kdr_outputs_end(ctx, KDR_OK));
	assert_text("b", "of a process that runs");
	kdr_context_free(ctx);
}

static void inputs__if_protected__are_not_replaced(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_labels *labels = NULL;
	put(ctx, "in", "1\n2\n");
	put(ctx, "out", "old");
	assert_ok(ctx, kdr_read_labels(ctx, bytes_path("in"), &labels));
	kdr_labels_free(labels);
	put(ctx, "in", "3\n4\n"); /* nothing is protected unless that is wanted */
	assert_ok(ctx, kdr_context_protect_inputs(ctx));
	assert_ok(ctx, kdr_read_labels(ctx, bytes_path("in"), &labels));
	kdr_labels_free(labels);
	assert_fails(ctx, kdr_write_check(ctx, bytes_path("in"), true), KDR_ERR_EXISTS, "was read");
	assert_fails(ctx, kdr_write_file(ctx, bytes_path("./in"), "x", 1, true), KDR_ERR_EXISTS, "was read");
	put(ctx, "out", "new");
	kdr_context_free(ctx);
}

/* A context that is freed with an open set leaves nothing. */
static void set__of_a_freed_context__has_no_file(void **state)
{
	(void)state;
	kdr_context *own = unit_context();
	assert_ok(own, kdr_outputs_begin(own, NULL));
	put(own, "d", "new");
	kdr_context_free(own);
	assert_int_equal(count_temporary(), 0);
	assert_false(kdri_exists(bytes_path("d")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(set__files__appear_together),
		cmocka_unit_test(set__after_a_failure__has_no_file),
		cmocka_unit_test(set__of_a_killed_process__is_removed_by_the_next),
		cmocka_unit_test(inputs__if_protected__are_not_replaced),
		cmocka_unit_test(set__of_a_freed_context__has_no_file),
	};
	return cmocka_run_group_tests(tests, NULL, bytes_clean);
}
