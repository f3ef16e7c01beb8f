/* Folders of 10x and of texts, entries in any order, one data set made several: values, and failing allocations. */
#include "tests/unit/bytes.h"
#include "tests/unit/failing.h"

#include <sys/stat.h>

#include "io/binary.h"

static void put(const char *name, const char *text)
{
	bytes_write(bytes_path(name), text, strlen(text));
}

static const char *folder(const char *name)
{
	const char *path = bytes_path(name);
	mkdir(path, 0700);
	return path;
}

/* --- 10x ---------------------------------------------------------------------------------------------------- */

static const char *make_tenx(void)
{
	const char *path = folder("tenx");
	put("tenx/matrix.mtx",
	    "%%MatrixMarket matrix coordinate integer general\n%\n4 2 4\n1 1 5\n4 1 2\n2 2 7\n3 2 1\n");
	put("tenx/barcodes.tsv", "AAAC-1\nAAAG-1\n");
	put("tenx/features.tsv",
	    "E1\tA\tGene Expression\nE2\tB\tGene Expression\nE3\tprotein\tAntibody Capture\n"
	    "E4\tA\tGene Expression\n");
	return path;
}

static void read__tenx_folder__cells_in_rows(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_data *d = NULL;
	const char *path = make_tenx();
	assert_ok(ctx, kdr_read(ctx, path, NULL, &d));
	static const int64_t rowptr[] = { 0, 2, 3 };
	static const int32_t col[] = { 0, 2, 1 };
	static const double val[] = { 5, 2, 7 };
	assert_string_equal(d->name, "tenx");
	assert_int_equal(d->rows, 2);
	assert_int_equal(d->cols, 3);
	assert_memory_equal(d->rowptr, rowptr, sizeof rowptr);
	assert_memory_equal(d->col, col, sizeof col);
	assert_memory_equal(d->val, val, sizeof val);
	assert_string_equal(d->ids[1], "AAAG-1");
	assert_string_equal(d->features[0], "A");
	assert_string_equal(d->features[1], "B");
	assert_string_equal(d->features[2], "A-1");
	kdr_data_free(d);
	kdr_context_free(ctx);
}

static kdr_status read_path(kdr_context *ctx, const char *path)
{
	kdr_data *d = NULL;
	kdr_status st = kdr_read(ctx, path, NULL, &d);
	kdr_data_free(d);
	return st;
}

static kdr_status read_turned(kdr_context *ctx, const char *path)
{
	kdr_data *d = NULL;
	kdr_status st = kdr_read(
	        ctx, path, &(kdr_read_options){ .size = sizeof(kdr_read_options), .transpose = true }, &d);
	kdr_data_free(d);
	return st;
}

static void read__every_allocation_failed__no_leak(void **state)
{
	(void)state;
	const char *path = make_tenx();
	failing_all(read_path, path);
	failing_all(read_turned, path);
	failing_all(read_path, KDR_TEST_DATA "/fuzz/corpus/npz/coo.npz");
	failing_all(read_turned, KDR_TEST_DATA "/fuzz/corpus/npy/c.npy");
}

static void names__repeated__become_distinct(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	static const char *const given[] = { "A", "A", "A-1", "B", "A", "A-1" }, *const wanted[] = {
		"A", "A-2", "A-1", "B", "A-3", "A-1-1"
	};
	char *names[6] = { NULL };
	for (int i = 0; i < 6; i++)
		assert_ok(ctx, kdri_strdup(ctx, given[i], &names[i]));
	assert_ok(ctx, kdri_names_distinct(ctx, names, 6));
	for (int i = 0; i < 6; i++) {
		assert_string_equal(names[i], wanted[i]);
		kdri_free(ctx, names[i]);
	}
	kdr_context_free(ctx);
}

/* --- transposed --------------------------------------------------------------------------------------------- */

static void transpose__twice__is_the_same(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_data *d = NULL, *once = NULL;
	double x[70 * 41];
	for (int i = 0; i < 70 * 41; i++)
		x[i] = (i * 37 % 11) > 6 ? i : 0;
	kdr_mat m = kdr_mat_from_dense(x, 70, 41);
	assert_ok(ctx, kdr_data_new(ctx, "x", &m, NULL, &d));
	const char *paths[] = { bytes_path("t.npy"), bytes_path("t.mtx") };
	for (int k = 0; k < 2; k++) {
		assert_ok(ctx, kdr_write(ctx, paths[k], NULL, d, true));
		assert_ok(ctx,
		          kdr_read(ctx, paths[k],
		                   &(kdr_read_options){ .size = sizeof(kdr_read_options), .transpose = true },
		                   &once));
		assert_int_equal(once->rows, 41);
		assert_int_equal(once->cols, 70);
		assert_ok(ctx, kdri_data_transpose(ctx, once));
		for (int i = 0; once->kind == KDR_MAT_DENSE && i < 70 * 41; i++)
			assert_true(once->dense[i] == x[i]);
		for (int64_t i = 0; once->kind == KDR_MAT_CSR && i < 70; i++)
			for (int64_t p = once->rowptr[i]; p < once->rowptr[i + 1]; p++)
				assert_true(once->val[p] == x[i * 41 + once->col[p]]);
		kdr_data_free(once);
	}
	kdr_data_free(d);
	kdr_context_free(ctx);
}

/* --- several of one ------------------------------------------------------------------------------------------ */

enum { ROWS = 6 };

static kdr_data *make_table(kdr_context *ctx)
{
	static const double x[ROWS * 2] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 };
	static const char *const features[] = { "f", "g" }, *const ids[] = { "a", "b", "c", "d", "e", "f" },
	                         *const classes[] = { "no", "yes" };
	static const int64_t labels[ROWS] = { 0, 1, -1, 1, 0, 1 };
	kdr_data *d = NULL;
	kdr_mat m = kdr_mat_from_dense(x, ROWS, 2);
	if (kdr_data_borrow(ctx, "all", &m, features, ids, &d) != KDR_OK)
		return NULL;
	if (kdr_data_set_labels(ctx, d, labels, classes, 2) != KDR_OK) {
		kdr_data_free(d);
		return NULL;
	}
	return d;
}

static const char *const sites[ROWS] = { "north/1", "south", "north/1", "south", "south", "north/1" };

static kdr_status split(kdr_context *ctx, const char *path)
{
	(void)path;
	kdr_data *d = make_table(ctx), **sets = NULL;
	int64_t count = 0;
	if (!d)
		return KDR_ERR_MEMORY;
	kdr_status st = kdri_data_split(ctx, d, sites, "x-", &sets, &count);
	for (int64_t i = 0; i < count; i++)
		kdr_data_free(sets[i]);
	kdr_free(ctx, sets);
	kdr_data_free(d);
	return st;
}

static void split__by_names__rows_with_all_they_have(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_data *d = make_table(ctx), **sets = NULL;
	int64_t count = 0;
	assert_ok(ctx, kdri_data_split(ctx, d, sites, NULL, &sets, &count));
	assert_int_equal(count, 2);
	assert_string_equal(sets[0]->name, "north_1");
	assert_string_equal(sets[1]->name, "south");
	assert_int_equal(sets[0]->rows, 3);
	assert_string_equal(sets[0]->ids[2], "f");
	assert_true(sets[0]->dense[5] == 11);
	assert_int_equal(sets[0]->labels[1], -1);
	assert_int_equal(sets[1]->origin[2], 4);
	/* Classes of the entire file, or only of the rows. */
	put("whole.labels", "p\nq\np\nq\np\nq\n");
	put("part.labels", "p\nq\np\n");
	assert_ok(ctx, kdr_data_read_labels(ctx, sets[0], bytes_path("whole.labels")));
	assert_string_equal(sets[0]->classes[sets[0]->labels[0]], "p");
	assert_string_equal(sets[0]->classes[sets[0]->labels[2]], "q");
	assert_ok(ctx, kdr_data_read_labels(ctx, sets[0], bytes_path("part.labels")));
	assert_string_equal(sets[0]->classes[sets[0]->labels[1]], "q");
	for (int64_t i = 0; i < count; i++)
		kdr_data_free(sets[i]);
	kdr_free(ctx, sets);
	assert_fails(ctx, kdri_data_split(ctx, d, NULL, NULL, &sets, &count), KDR_ERR_ARGUMENT,
	             "one name per row");
	kdr_data_free(d);
	kdr_context_free(ctx);
	failing_all(split, "");
}

/* --- folders of texts ----------------------------------------------------------------------------------------- */

static kdr_status read_folders(kdr_context *ctx, const char *path)
{
	(void)path;
	kdr_data **sets = NULL;
	int64_t count = 0, *from = NULL;
	const kdr_task_path paths[] = { { .path = bytes_path("one") },
		                        { .path = bytes_path("tenx"), .name = "cells" },
		                        { .path = bytes_path("two") } };
	kdr_status st = kdr_read_tasks(ctx, paths, 3, NULL, &sets, &from, &count);
	if (st == KDR_OK) {
		assert_int_equal(count, 3);
		assert_string_equal(sets[0]->name, "one");
		assert_string_equal(sets[1]->name, "cells");
		assert_int_equal(from[2], 2);
		assert_int_equal(sets[0]->cols, 3);
		assert_int_equal(sets[2]->cols, 3);
		assert_string_equal(sets[2]->features[0], "fish");
		assert_string_equal(sets[0]->ids[1], "b.txt");
	}
	for (int64_t i = 0; i < count; i++)
		kdr_data_free(sets[i]);
	kdr_free(ctx, sets);
	kdr_free(ctx, from);
	return st;
}

static void read_tasks__folders__one_vocabulary(void **state)
{
	(void)state;
	unit_needs("utf8proc");
	folder("one");
	folder("two");
	make_tenx();
	put("one/a.txt", "fish and fish");
	put("one/b.txt", "fish");
	put("two/c.txt", "bird and fish");
	failing_all(read_folders, "");
}

/* --- given back ------------------------------------------------------------------------------------------------ */

static kdr_status give_back(kdr_context *ctx, const char *path)
{
	const char *out = bytes_path("back.h5ad");
	kdr_data *d = NULL, **sets = NULL;
	kdr_result *result = NULL;
	int64_t count = 0;
	kdr_job_options o;
	double xy[2 * ROWS] = { 0 };
	const double *points[] = { xy, xy };
	static const char *const sides[] = { "a", "b", "a", "b", "a", "b" };
	kdr_job_options_init(&o);
	o.method = "kmeans";
	o.k = 2;
	kdr_status st = kdr_read(ctx, path, NULL, &d);
	if (st == KDR_OK)
		st = kdri_data_split(ctx, d, sides, NULL, &sets, &count);
	if (st == KDR_OK)
		st = kdr_cluster(ctx, sets, count, &o, &result);
	if (st == KDR_OK)
		st = kdr_write_h5ad(ctx, out, path, NULL, sets, count, result, points, NULL, true);
	/* And again, as a copy of an AnnData file. */
	kdr_data_free(d);
	d = NULL;
	if (st == KDR_OK)
		st = kdr_read(
		        ctx, out,
		        &(kdr_read_options){ .size = sizeof(kdr_read_options), .label_column = "kindred" },
		        &d);
	if (st == KDR_OK) {
		assert_int_equal(d->rows, ROWS);
		assert_true(d->nclasses == 2 ||
		            d->nclasses == 4); /* k-means matches no clusters of two data sets */
		assert_true(d->labels[0] == d->labels[2] && d->labels[3] == d->labels[5]);
		st = kdr_write_h5ad(ctx, bytes_path("again.h5ad"), out, NULL, &d, 1, NULL, points, NULL,
		                    true);
	}
	for (int64_t i = 0; i < count; i++)
		kdr_data_free(sets[i]);
	kdr_free(ctx, sets);
	kdr_data_free(d);
	kdr_result_free(result);
	return st;
}

static void write_h5ad__every_allocation_failed__no_leak(void **state)
{
	(void)state;
	unit_needs("hdf5");
	put("six.csv", "x,y\n0,0.5\n0.1,0.4\n0.2,0.3\n9,9.5\n9.1,9.4\n9.2,9.25\n");
	char path[256]; /* longer than the next paths asked for */
	snprintf(path, sizeof path, "%s", bytes_path("six.csv"));
	failing_all(give_back, path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(read__tenx_folder__cells_in_rows),
		cmocka_unit_test(read__every_allocation_failed__no_leak),
		cmocka_unit_test(names__repeated__become_distinct),
		cmocka_unit_test(transpose__twice__is_the_same),
		cmocka_unit_test(split__by_names__rows_with_all_they_have),
		cmocka_unit_test(read_tasks__folders__one_vocabulary),
		cmocka_unit_test(write_h5ad__every_allocation_failed__no_leak),
	};
	return cmocka_run_group_tests(tests, NULL, bytes_clean);
}
