/* kdr_read, kdr_write and kdr_read_labels: formats by name, files that cannot be read, features.txt. */
#include "tests/unit/gzip.h"
#include <fcntl.h>
#include <sys/stat.h>

#include "matrix/linalg.h"
#include "tests/unit/text.h"

static void put(const char *name, const char *text)
{
	bytes_write(bytes_path(name), text, strlen(text));
}

static void put_gzip(const char *name, const char *text)
{
	gzFile f = gzopen(bytes_path(name), "wb");
	assert_non_null(f);
	assert_int_equal(gzwrite(f, text, (unsigned)strlen(text)), (int)strlen(text));
	assert_int_equal(gzclose(f), Z_OK);
}

static void formats__names_and_ids__found(void **state)
{
	(void)state;
	static const struct {
		const char *id, *path, *expected;
	} cases[] = {
		{ NULL, "a/b.csv", "csv" },
		{ NULL, "B.CSV", "csv" },
		{ NULL, "b.csv.gz", "csv" },
		{ NULL, "b.tsv", "tsv" },
		{ NULL, "b.mtx.gz", "mtx" },
		{ NULL, "b.svmlight", "svmlight" },
		{ NULL, "b.libsvm", "svmlight" },
		{ NULL, "b.npy", "npy" },
		{ NULL, "b.npz", "npz" },
		{ NULL, "b.mat:x", "mat" },
		{ NULL, "b.h5ad", "h5ad" },
		{ NULL, "b.txt", NULL },
		{ NULL, "csv", NULL },
		{ NULL, ".csv", NULL },
		{ NULL, "a.csv/b", NULL },
		{ "mtx", "b.csv", "mtx" },
		{ "libsvm", "-", "svmlight" },
		{ "foo", "b.csv", NULL },
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const kdri_format *f = kdri_format_find(cases[i].id, cases[i].path);
		if (cases[i].expected ? !f || strcmp(f->id, cases[i].expected) != 0 : f != NULL)
			fail_msg("%s: %s", cases[i].path, f ? f->id : "none");
	}
}

static void read__unknown_format__lists_the_known(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_data *d = NULL;
	put("a.foo", "1,2\n");
	assert_fails(ctx, kdr_read(ctx, bytes_path("a.foo"), NULL, &d), KDR_ERR_FORMAT,
	             "a.foo: unknown format; specify it with --format (one of: csv, tsv, mtx, svmlight, npy");
	assert_fails(ctx, kdr_read(ctx, "-", NULL, &d), KDR_ERR_ARGUMENT,
	             "standard input: specify the format");
	kdr_read_options o = { .size = sizeof(kdr_read_options), .format = "foo" };
	assert_fails(ctx, kdr_read(ctx, bytes_path("a.foo"), &o, &d), KDR_ERR_ARGUMENT, "'foo'");
	o.format = "csv";
	assert_ok(ctx, kdr_read(ctx, bytes_path("a.foo"), &o, &d));
	assert_string_equal(kdr_data_name(d), "a");
	kdr_data_free(d);
	d = NULL;
	assert_fails(ctx, kdr_read(ctx, NULL, NULL, &d), KDR_ERR_ARGUMENT, "path and out");
	assert_null(d);
	kdr_context_free(ctx);
}

static void read__a_table_in_memory__as_from_a_file(void **state)
{
	(void)state;
	static const char table[] = "city,size\nRome,1.5\nParis,2\nRome,3\nParis,oops\n";
	kdr_context *ctx = unit_context();
	kdr_data *d = NULL, **sets = NULL;
	int64_t count = 0;
	kdr_read_options o = { .size = sizeof(kdr_read_options),
		               .memory = table,
		               .memory_bytes = strlen("city,size\nRome,1.5\nParis,2\nRome,3\n"),
		               .name = "shops" };
	assert_ok(ctx, kdr_read(ctx, "shops", &o, &d)); /* though there is no such file */
	assert_string_equal(kdr_data_name(d), "shops");
	assert_string_equal(kdr_data_path(d), "");
	assert_string_equal(kdr_data_features(d)[0], "city=Rome");
	assert_float_equal(kdr_data_mat(d).as.dense.data[2], 1.5, 0);
	kdr_data_free(d);
	d = NULL;
	o.memory_bytes = sizeof table - 1;
	assert_fails(ctx, kdr_read(ctx, "shops", &o, &d), KDR_ERR_FORMAT,
	             "shops: line 5, column 2 (size): 'oops'");
	o.format = "npy";
	assert_fails(ctx, kdr_read(ctx, "shops", &o, &d), KDR_ERR_UNSUPPORTED,
	             "npy cannot be read from memory");
	o.format = NULL;
	kdr_task_path paths[2] = { { .path = "a" }, { .path = "b" } };
	assert_fails(ctx, kdr_read_tasks(ctx, paths, 2, &o, &sets, NULL, &count), KDR_ERR_ARGUMENT,
	             "must be the only input");
	o.task_column = "city";
	o.memory_bytes = strlen("city,size\nRome,1.5\nParis,2\nRome,3\n");
	assert_ok(ctx, kdr_read_tasks(ctx, paths, 1, &o, &sets, NULL, &count));
	assert_int_equal(count, 2);
	for (int64_t i = 0; i < count; i++)
		kdr_data_free(sets[i]);
	kdr_free(ctx, sets);
	kdr_context_free(ctx);
}

static void read__files_that_cannot_be__said_so(void **state)
{
	(void)state;
	static const char *const names[] = { "x.csv", "x.tsv", "x.mtx", "x.svmlight", "x.foo" };
	kdr_context *ctx = unit_context();
	kdr_data *d = NULL;
	kdr_labels *l = NULL;
	for (int i = 0; i < 5; i++) {
		const char *path = bytes_path(names[i]);
		assert_fails(ctx, kdr_read(ctx, path, NULL, &d), KDR_ERR_READ, "cannot open");
		assert_int_equal(mkdir(path, 0700), 0);
		assert_fails(ctx, kdr_read(ctx, path, NULL, &d), KDR_ERR_READ, "is a directory");
		assert_fails(ctx, kdr_read_labels(ctx, path, &l), KDR_ERR_READ, "is a directory");
		assert_int_equal(rmdir(path), 0);
		if (geteuid() != 0) {
			put(names[i], "1\n");
			assert_int_equal(chmod(path, 0), 0);
			assert_fails(ctx, kdr_read(ctx, path, NULL, &d), KDR_ERR_READ, "cannot open");
			assert_int_equal(unlink(path), 0);
		}
	}
	assert_null(d);
	assert_null(l);
	kdr_context_free(ctx);
}

static void read__gzip__undone_and_damage_seen(void **state)
{
	(void)state;
	static const struct {
		const char *name, *text;
	} cases[] = {
		{ "g.csv.gz", "a,b\n1,2\n3,4\n" },
		{ "g.tsv.gz", "1\t2\n3\t4\n" },
		{ "g.svmlight.gz", "1 1:1 2:2\n1 1:3 2:4\n" },
		{ "g.mtx.gz",
		  "%%MatrixMarket matrix coordinate real general\n2 2 4\n1 1 1\n1 2 2\n2 1 3\n2 2 4\n" },
		{ "g.csv", "1,2\n3,4\n" }, /* the bytes tell, not the name */
	};
	static const double expected[] = { 1, 2, 3, 4 };
	kdr_context *ctx = unit_context();
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const char *path = bytes_path(cases[i].name);
		kdr_data *d = NULL;
		size_t size;
		put_gzip(cases[i].name, cases[i].text);
		assert_ok(ctx, kdr_read(ctx, path, NULL, &d));
		text_assert_matrix(d, 2, 2, expected);
		kdr_data_free(d);
		d = NULL;
		unsigned char *bytes = bytes_read(path, &size);
		bytes_write(path, bytes, size - 9);
		assert_fails(ctx, kdr_read(ctx, path, NULL, &d), KDR_ERR_FORMAT, "truncated");
		bytes[size - 6] ^= 1; /* the checksum */
		bytes_write(path, bytes, size);
		assert_fails(ctx, kdr_read(ctx, path, NULL, &d), KDR_ERR_FORMAT, "damaged");
		assert_null(d);
		free(bytes);
	}
	kdr_context_free(ctx);
}

/* A small file that unpacks to much must not take memory: a line without end, or entries never declared. */
static void read__gzip_bomb__stops(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_data *d = NULL;
	static char block[1 << 20];
	memset(block, '1', sizeof block);
	gzFile f = gzopen(bytes_path("bomb.csv.gz"), "wb1");
	for (int i = 0; i < 300; i++)
		assert_int_equal(gzwrite(f, block, sizeof block), (int)sizeof block);
	assert_int_equal(gzclose(f), Z_OK);
	assert_fails(ctx, kdr_read(ctx, bytes_path("bomb.csv.gz"), NULL, &d), KDR_ERR_FORMAT,
	             "longer than 256 MB");
	for (size_t i = 0; i < sizeof block; i += 4)
		memcpy(block + i, "1 1\n", 4);
	f = gzopen(bytes_path("bomb.mtx.gz"), "wb1");
	gzputs(f, "%%MatrixMarket matrix coordinate pattern general\n9 9 9\n");
	for (int i = 0; i < 100; i++)
		assert_int_equal(gzwrite(f, block, sizeof block), (int)sizeof block);
	assert_int_equal(gzclose(f), Z_OK);
	assert_fails(ctx, kdr_read(ctx, bytes_path("bomb.mtx.gz"), NULL, &d), KDR_ERR_FORMAT,
	             "more than the declared 9");
	kdr_context_free(ctx);
}

static void read__features_beside__used_if_they_fit(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_data *d = NULL;
	put("f.mtx", "%%MatrixMarket matrix coordinate real general\n1 2 1\n1 1 1\n");
	put("f.csv", "u,v\n1,2\n");
	static const struct {
		const char *text, *first;
	} cases[] = { { "alpha\nbeta\n", "alpha" }, { "alpha\r\nbeta\r\n\r\n", "alpha" },
		      { "a\nb\nc\n", NULL },        { "a\n", NULL },
		      { "a\n\nb\n", NULL },         { "", NULL } };
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		put("features.txt", cases[i].text);
		assert_ok(ctx, kdr_read(ctx, bytes_path("f.mtx"), NULL, &d));
		if (cases[i].first)
			assert_string_equal(kdr_data_features(d)[0], cases[i].first);
		else
			assert_null(kdr_data_features(d));
		kdr_data_free(d);
	}
	put("features.txt", "alpha\nbeta\n");
	assert_ok(ctx, kdr_read(ctx, bytes_path("f.csv"), NULL, &d)); /* its own names win */
	assert_string_equal(kdr_data_features(d)[0], "u");
	kdr_data_free(d);
	assert_int_equal(unlink(bytes_path("features.txt")), 0);
	assert_int_equal(mkdir(bytes_path("features.txt"), 0700), 0);
	assert_ok(ctx, kdr_read(ctx, bytes_path("f.mtx"), NULL, &d));
	assert_null(kdr_data_features(d));
	kdr_data_free(d);
	assert_int_equal(rmdir(bytes_path("features.txt")), 0);
	kdr_context_free(ctx);
}

static int stop_at_once(void *user, const kdr_event *event)
{
	int *events = user;
	events[event->kind]++;
	return event->kind == KDR_EVENT_ITERATION;
}

static void read__cancelled__says_so(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_data *d = NULL;
	int events[4] = { 0 };
	put("c.csv", "1,2\n");
	kdr_context_set_progress(ctx, stop_at_once, events);
	assert_fails(ctx, kdr_read(ctx, bytes_path("c.csv"), NULL, &d), KDR_ERR_READ, "stopped");
	assert_int_equal(events[KDR_EVENT_START], 1);
	assert_int_equal(events[KDR_EVENT_END], 1);
	kdr_context_free(ctx);
}

static void write__names_and_existing_files__respected(void **state)
{
	(void)state;
	static double x[] = { 1, 2 };
	kdr_data d = { .kind = KDR_MAT_DENSE, .rows = 1, .cols = 2, .dense = x };
	kdr_context *ctx = unit_context();
	size_t size;
	assert_fails(ctx, kdr_write(ctx, bytes_path("w.foo"), NULL, &d, false), KDR_ERR_ARGUMENT,
	             "one of: csv, tsv");
	assert_fails(ctx, kdr_write(ctx, bytes_path("w.csv"), "bar", &d, false), KDR_ERR_ARGUMENT, "'bar'");
	assert_fails(ctx, kdr_write(ctx, "/dev/null/w.csv", NULL, &d, false), KDR_ERR_WRITE, "cannot create");
	/* Asking leaves nothing; folders on the way are made. */
	assert_fails(ctx, kdr_write_check(ctx, "/dev/null/w.csv", true), KDR_ERR_WRITE, "cannot create");
	assert_ok(ctx, kdr_write_check(ctx, bytes_path("deep/er/w.csv"), false));
	assert_int_equal(access(bytes_path("deep/er"), F_OK), 0);
	assert_int_not_equal(access(bytes_path("deep/er/w.csv"), F_OK), 0);
	assert_ok(ctx, kdr_write(ctx, bytes_path("w.csv"), NULL, &d, false));
	assert_fails(ctx, kdr_write(ctx, bytes_path("w.csv"), NULL, &d, false), KDR_ERR_EXISTS, "exists");
	assert_fails(ctx, kdr_write_check(ctx, bytes_path("w.csv"), false), KDR_ERR_EXISTS, "exists");
	assert_ok(ctx, kdr_write_check(ctx, bytes_path("w.csv"), true));
	assert_ok(ctx, kdr_write(ctx, bytes_path("w.csv"), "tsv", &d, true));
	unsigned char *bytes = bytes_read(bytes_path("w.csv"), &size);
	assert_int_equal(size, 4);
	assert_memory_equal(bytes, "1\t2\n", 4);
	free(bytes);
	kdr_context_free(ctx);
}

/* --- labels ----------------------------------------------------------------------------------- */

static kdr_status load_labels(kdr_context *ctx, const char *text, kdr_labels **l)
{
	kdri_input *in = NULL;
	kdr_status st;
	KDRI_TRY(kdri_input_from_memory(ctx, text, strlen(text), "l", &in));
	KDRI_TRY(kdri_labels_read(ctx, in, l));
done:
	kdri_input_close(ctx, in);
	return st;
}

static void labels__words__in_order_of_appearance(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_labels *l;
	assert_ok(ctx, load_labels(ctx,
	                           "\xef\xbb\xbf"
	                           "b\r\n a b \n7\nb",
	                           &l));
	assert_int_equal(l->n, 4);
	assert_int_equal(l->count, 3);
	assert_false(l->integers);
	assert_null(l->integer);
	assert_string_equal(l->names[0], "b");
	assert_string_equal(l->names[1], "a b");
	assert_int_equal(l->values[2], 2);
	assert_int_equal(l->values[3], 0);
	kdr_labels_free(l);
	kdr_context_free(ctx);
}

static void labels__integers__sorted_by_value(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_labels *l;
	assert_ok(ctx, load_labels(ctx, "10\n-1\n9\n+9\n010\n\n\n", &l));
	assert_int_equal(l->n, 5);
	assert_int_equal(l->count, 3);
	assert_true(l->integers);
	static const int64_t integers[] = { 10, -1, 9, 9, 10 }, values[] = { 2, 0, 1, 1, 2 };
	assert_memory_equal(l->integer, integers, sizeof integers);
	assert_memory_equal(l->values, values, sizeof values);
	assert_string_equal(l->names[2], "10");
	kdr_labels_free(l);
	/* Beyond 64 bits an integer is a word. */
	assert_ok(ctx, load_labels(ctx, "99999999999999999999\n1\n", &l));
	assert_false(l->integers);
	kdr_labels_free(l);
	kdr_context_free(ctx);
}

static void labels__empty_or_gaps__errors(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_labels *l = NULL;
	assert_fails(ctx, load_labels(ctx, "", &l), KDR_ERR_DATA, "l: the file is empty");
	assert_fails(ctx, load_labels(ctx, "\n\r\n", &l), KDR_ERR_DATA, "one label per line");
	assert_fails(ctx, load_labels(ctx, "a\n \n\nb\n", &l), KDR_ERR_FORMAT, "l: line 2 is empty");
	assert_null(l);
	put_gzip("l.labels.gz", "x\ny\n");
	assert_ok(ctx, kdr_read_labels(ctx, bytes_path("l.labels.gz"), &l));
	assert_int_equal(l->count, 2);
	kdr_labels_free(l);
	kdr_labels_free(NULL);
	kdr_context_free(ctx);
}

static void labels__many_classes__as_a_plain_search_finds(void **state)
{
	(void)state;
	const int n = 20000;
	kdri_rng rng = kdri_rng_stream(1, "labels", 0);
	char *text = malloc((size_t)n * 8);
	int *number = malloc((size_t)n * sizeof *number), *seen = malloc((size_t)n * sizeof *seen), count = 0;
	size_t used = 0;
	for (int i = 0; i < n; i++)
		seen[i] = -1;
	kdr_context *ctx = unit_context();
	kdr_labels *l;
	for (int i = 0; i < n; i++) {
		number[i] = (int)kdri_rng_below(&rng, 5000);
		used += (size_t)sprintf(text + used, "c%d\n", number[i]);
	}
	text[used] = '\0';
	assert_ok(ctx, load_labels(ctx, text, &l));
	for (int i = 0; i < n; i++) {
		if (seen[number[i]] < 0)
			seen[number[i]] = count++;
		assert_int_equal(l->values[i], seen[number[i]]);
	}
	assert_int_equal(l->count, count);
	kdr_labels_free(l);
	kdr_context_free(ctx);
	free(text);
	free(number);
	free(seen);
}

static void labels__every_allocation_failed__memory_error(void **state)
{
	(void)state;
	for (int64_t n = 1;; n++) {
		text_failing f = { 0, 0 };
		kdr_allocator a = { text_failing_alloc, text_failing_realloc, text_failing_free, &f };
		kdr_context *ctx = NULL;
		kdr_labels *l = NULL;
		assert_int_equal(kdr_context_new(&ctx, &a), KDR_OK);
		f.count = 0;
		f.fail_at = n;
		kdr_status st = load_labels(ctx, "3\n2\n3\n", &l);
		kdr_labels_free(l);
		kdr_context_free(ctx);
		if (st == KDR_OK)
			return;
		assert_int_equal(st, KDR_ERR_MEMORY);
	}
}

/* The same over kdr_read, with a features.txt, and kdr_write. */
static void read_and_write__every_allocation_failed__memory_error(void **state)
{
	(void)state;
	put("m.mtx", "%%MatrixMarket matrix coordinate real general\n1 2 1\n1 1 1\n");
	put("features.txt", "alpha\nbeta\n");
	const char *in = bytes_path("m.mtx"),
	           *outs[] = { bytes_path("m.csv"), bytes_path("m.svm"), bytes_path("n.mtx") };
	for (int64_t n = 1;; n++) {
		text_failing f = { 0, 0 };
		kdr_allocator a = { text_failing_alloc, text_failing_realloc, text_failing_free, &f };
		kdr_context *ctx = NULL;
		kdr_data *d = NULL;
		assert_int_equal(kdr_context_new(&ctx, &a), KDR_OK);
		f.count = 0;
		f.fail_at = n;
		kdr_status st = kdr_read(ctx, in, NULL, &d);
		for (int i = 0; i < 3 && st == KDR_OK; i++)
			st = kdr_write(ctx, outs[i], NULL, d, true);
		bool named = d && kdr_data_features(d);
		kdr_data_free(d);
		kdr_context_free(ctx);
		if (st == KDR_OK) {
			assert_true(named);
			break;
		}
		assert_int_equal(st, KDR_ERR_MEMORY);
	}
	assert_int_equal(unlink(bytes_path("features.txt")), 0);
}

/* --- parts of the rows -------------------------------------------------------------------------------- */

static void same_row(const kdr_data *whole, int64_t row, const kdr_data *part, int64_t i, const char *name)
{
	kdr_mat a = kdr_data_mat(whole), b = kdr_data_mat(part);
	kdri_entries x = kdri_row_entries(&a, row), y = kdri_row_entries(&b, i);
	if (x.count != y.count || memcmp(x.val, y.val, (size_t)x.count * sizeof *x.val) != 0 ||
	    (x.col && memcmp(x.col, y.col, (size_t)x.count * sizeof *x.col) != 0))
		fail_msg("%s: row %lld is another", name, (long long)row);
	if (!whole->ids != !part->ids || (whole->ids && strcmp(whole->ids[row], part->ids[i]) != 0))
		fail_msg("%s: row %lld has another id", name, (long long)row);
	int64_t rows;
	assert_int_equal(kdr_data_origin(part, &rows)[i], row);
	assert_int_equal(rows, whole->rows);
}

/* The parts of a file below each other are the file, for any number of them. */
static void same_in_parts(const char *name, const kdr_read_options *reading)
{
	kdr_context *ctx = unit_context();
	kdr_read_options o = *reading;
	kdr_data *whole = NULL;
	assert_ok(ctx, kdr_read(ctx, bytes_path(name), &o, &whole));
	for (o.parts = 1; o.parts <= whole->rows + 2; o.parts += 1 + o.parts / 3) {
		int64_t row = 0;
		for (o.part = 0; o.part < o.parts; o.part++) {
			kdr_data *part = NULL;
			assert_ok(ctx, kdr_read(ctx, bytes_path(name), &o, &part));
			assert_int_equal(part->cols, whole->cols);
			assert_int_equal(part->kind, whole->kind);
			assert_true(part->rows - whole->rows / o.parts <= 1);
			for (int64_t j = 0; whole->features && j < whole->cols; j++)
				assert_string_equal(part->features[j], whole->features[j]);
			for (int64_t i = 0; i < part->rows; i++)
				same_row(whole, row++, part, i, name);
			kdr_data_free(part);
		}
		assert_int_equal(row, whole->rows);
	}
	kdr_data_free(whole);
	kdr_context_free(ctx);
}

static void read__parts_of_tables__are_the_whole(void **state)
{
	(void)state;
	const kdr_read_options plain = { .size = sizeof(kdr_read_options) },
	                       zero = { .size = sizeof(kdr_read_options), .missing = "zero" };
	put("p1.csv", "a,b\n1,2\n3,4\n\n5,6\n7,8.5\n  \n9,10\n");
	same_in_parts("p1.csv", &plain);
	/* Names with line breaks in quotes, a category, a text that only the last part shows, and no newline at the end. */
	put("p2.csv",
	    "name,x,colour,y\n\"a\nb\",1,red,2\nc,3,green,4\n\"d \"\"q\"\"\n\",5,red,6\ne,7,green,8\nf,9,blue,10\n"
	    "g,11,red,12\nh,13,blue,14");
	same_in_parts("p2.csv", &plain);
	put_gzip("p3.tsv.gz", "1\t2\n3\t\n5\t6\n7\t8\n");
	same_in_parts("p3.tsv.gz", &zero);
	/* More than a window of text. */
	char *text = malloc(1 << 22), *p = text;
	for (int i = 0; i < 60000; i++)
		p += sprintf(p, "%d,%d.25,\"%d\"%s", i, i % 97, i % 7, i % 1000 ? "\n" : "\n\n");
	bytes_write(bytes_path("p4.csv"), text, (size_t)(p - text));
	free(text);
	kdr_context *ctx = unit_context();
	int64_t rows = 0;
	for (int64_t part = 0; part < 3; part++) {
		const kdr_read_options o = { .size = sizeof(kdr_read_options), .part = part, .parts = 3 };
		kdr_data *d = NULL;
		assert_ok(ctx, kdr_read(ctx, bytes_path("p4.csv"), &o, &d));
		assert_int_equal(d->rows, 20000);
		for (int64_t i = 0; i < d->rows; i++, rows++) {
			assert_int_equal(strtol(d->ids[i], NULL, 10),
			                 rows); /* a running number is names of rows */
			assert_true(d->dense[i * d->cols] == (double)(rows % 97) + 0.25);
		}
		kdr_data_free(d);
	}
	kdr_context_free(ctx);
}

static void read__parts_of_hdf5__are_the_whole(void **state)
{
	(void)state;
	if (!kdr_build_has("hdf5"))
		skip();
	kdr_context *ctx = unit_context();
	const kdr_read_options plain = { .size = sizeof(kdr_read_options) };
	kdr_data *d = NULL;
	put("q.csv", "a,b\n1,2\n3,4\n5,6\n7,8.5\n9,10\n");
	assert_ok(ctx, kdr_read(ctx, bytes_path("q.csv"), NULL, &d));
	assert_ok(ctx, kdr_write(ctx, bytes_path("dense.h5"), NULL, d, true));
	kdr_data_free(d);
	put("q.mtx",
	    "%%MatrixMarket matrix coordinate real general\n6 3 7\n1 1 5\n2 2 4\n3 1 5.5\n3 3 1\n5 1 2\n5 2 1\n6 3 9\n");
	assert_ok(ctx, kdr_read(ctx, bytes_path("q.mtx"), NULL, &d));
	assert_ok(ctx, kdr_write(ctx, bytes_path("sparse.h5"), NULL, d, true));
	kdr_data_free(d);
	kdr_context_free(ctx);
	same_in_parts("dense.h5", &plain);
	same_in_parts("sparse.h5", &plain);
	put("q.ids", "a\nb\nc\nd\ne\nf\n"); /* a file of names has those of all rows */
	same_in_parts("q.mtx", &plain);
}

static void read__parts_that_need_all_rows__are_refused(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_data *d = NULL;
	const kdr_read_options mean = { .size = sizeof(kdr_read_options), .parts = 2, .missing = "mean" },
	                       plain = { .size = sizeof plain, .parts = 2 },
	                       label = { .size = sizeof label, .parts = 2, .label_column = "x" };
	put("r.csv", "x,day\n1,2021-03-04\n2,2021-03-05\n3,2021-03-06\n");
	assert_fails(ctx, kdr_read(ctx, bytes_path("r.csv"), &mean, &d), KDR_ERR_UNSUPPORTED,
	             "--missing mean");
	assert_fails(ctx, kdr_read(ctx, bytes_path("r.csv"), &plain, &d), KDR_ERR_UNSUPPORTED,
	             "column 2 (day) has dates");
	assert_fails(ctx, kdr_read(ctx, bytes_path("r.csv"), &label, &d), KDR_ERR_UNSUPPORTED,
	             "label and task columns");
	/* An error anywhere is reported for every part. */
	put("s.csv", "1,2\n3,4\n5,6\n7\n");
	assert_fails(ctx, kdr_read(ctx, bytes_path("s.csv"), &plain, &d), KDR_ERR_FORMAT, "line 4");
	kdr_context_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(read__parts_of_tables__are_the_whole),
		cmocka_unit_test(read__parts_of_hdf5__are_the_whole),
		cmocka_unit_test(read__parts_that_need_all_rows__are_refused),
		cmocka_unit_test(formats__names_and_ids__found),
		cmocka_unit_test(read__unknown_format__lists_the_known),
		cmocka_unit_test(read__a_table_in_memory__as_from_a_file),
		cmocka_unit_test(read__files_that_cannot_be__said_so),
		cmocka_unit_test(read__gzip__undone_and_damage_seen),
		cmocka_unit_test(read__gzip_bomb__stops),
		cmocka_unit_test(read__features_beside__used_if_they_fit),
		cmocka_unit_test(read__cancelled__says_so),
		cmocka_unit_test(write__names_and_existing_files__respected),
		cmocka_unit_test(labels__words__in_order_of_appearance),
		cmocka_unit_test(labels__integers__sorted_by_value),
		cmocka_unit_test(labels__empty_or_gaps__errors),
		cmocka_unit_test(labels__many_classes__as_a_plain_search_finds),
		cmocka_unit_test(labels__every_allocation_failed__memory_error),
		cmocka_unit_test(read_and_write__every_allocation_failed__memory_error),
	};
	return cmocka_run_group_tests(tests, NULL, bytes_clean);
}
