/* Files that ranks have read, each its own: parts without rows, and where rows are among those of all. */
#include "api/place.h"
#include "tests/unit/bytes.h"
#include "tests/unit/failing.h"
#include "tests/unit/ranks.h"

enum { RANKS = 3 };

/* The first rank has no rows and knows of titles alone; the last has none either. */
typedef struct parts {
	const char *text[RANKS];
	char path[RANKS][256];
	kdr_read_options reading;
	kdr_status st[RANKS];
	char error[RANKS][512];
	int64_t rows[RANKS], cols[RANKS], classes[RANKS], first[RANKS], all[RANKS], numbered[RANKS];
	char feature[RANKS][32];
	kdr_column_kind kind[RANKS];
} parts;

static void work(kdr_context *ctx, int rank, void *user)
{
	parts *p = user;
	kdr_data *d = NULL;
	kdr_status st = kdr_read(ctx, p->path[rank], &p->reading, &d);
	kdri_enter(ctx);
	p->st[rank] = kdri_leave(ctx, st);
	if (p->st[rank] == KDR_OK) {
		kdri_enter(ctx);
		p->st[rank] = kdri_leave(ctx, kdri_data_place(ctx, d));
	}
	snprintf(p->error[rank], sizeof p->error[rank], "%s", kdr_context_error(ctx));
	if (p->st[rank] == KDR_OK) {
		const int64_t *origin = kdr_data_origin(d, &p->all[rank]);
		kdr_mat x = kdr_data_mat(d);
		p->rows[rank] = kdr_mat_rows(&x);
		p->cols[rank] = kdr_mat_cols(&x);
		p->first[rank] = origin && p->rows[rank] > 0 ? origin[0] : -1;
		kdr_data_classes(d, &p->classes[rank]);
		const kdr_column *third = kdr_data_column_at(d, 2);
		while (kdr_data_column_at(d, p->numbered[rank]))
			p->numbered[rank]++;
		p->kind[rank] = third ? third->kind : KDR_COLUMN_EMPTY;
		if (kdr_data_features(d))
			snprintf(p->feature[rank], sizeof p->feature[rank], "%s",
			         kdr_data_features(d)[p->cols[rank] - 1]);
	}
	kdr_data_free(d);
}

static void place_all(parts *p, const kdr_allocator *const *allocators)
{
	for (int r = 0; r < RANKS; r++) {
		snprintf(p->path[r], sizeof p->path[r], "%s/part%d.csv", bytes_folder(), r);
		bytes_write(p->path[r], p->text[r], strlen(p->text[r]));
	}
	crew_run(RANKS, work, p, allocators);
}

static const char *const title = "id,a,colour,class\n";
static const char *const table = "id,a,colour,class\nu,1,red,A\nv,2,blue,B\nw,4,red,A\n";

static void place__parts_without_rows__columns_of_the_others(void **state)
{
	(void)state;
	parts p = {
		.text = { title, table, title },
		.reading = { .size = sizeof(kdr_read_options), .may_be_empty = true, .label_column = "class" }
	};
	place_all(&p, NULL);
	for (int r = 0; r < RANKS; r++) {
		if (p.st[r] != KDR_OK)
			fail_msg("rank %d: %s", r, p.error[r]);
		assert_int_equal(p.rows[r], r == 1 ? 3 : 0);
		assert_int_equal(p.cols[r], 3); /* a, and two colours */
		assert_int_equal(p.classes[r], 2);
		assert_int_equal(p.all[r], 3);
		assert_int_equal(p.numbered[r], 4);
		assert_int_equal(p.kind[r], KDR_COLUMN_CATEGORY);
		assert_string_equal(p.feature[r], "colour=blue");
	}
	assert_int_equal(p.first[1], 0);
	/* The rows of the second follow those of the first. */
	p = (parts){ .text = { table, title, table },
		     .reading = { .size = sizeof(kdr_read_options), .may_be_empty = true } };
	place_all(&p, NULL);
	assert_int_equal(p.st[0], KDR_OK);
	assert_int_equal(p.all[1], 6);
	assert_int_equal(p.first[2], 3);
}

static void place__parts_that_do_not_fit__all_say_so(void **state)
{
	(void)state;
	static const struct {
		const char *text[RANKS], *missing, *says;
	} cases[] = {
		{ { title, title, title }, NULL, "no rank has a row" },
		{ { table, table, "id,a,color,class\n" }, NULL, "rank 2: " },
		{ { table, table, "id,a\n" }, NULL, "its columns differ from those of the file of rank 0" },
		{ { table, table, title }, "median", "--missing median" },
		{ { "a,d\n1,2020-01-02\n2,2020-01-03\n", "a,d\n", "a,d\n" }, NULL, "dates" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		parts p = { .reading = { .size = sizeof(kdr_read_options),
			                 .may_be_empty = true,
			                 .missing = cases[i].missing } };
		memcpy(p.text, cases[i].text, sizeof p.text);
		place_all(&p, NULL);
		for (int r = 0; r < RANKS; r++) {
			assert_int_not_equal(p.st[r], KDR_OK);
			assert_int_equal(p.st[r], p.st[0]);
			if (!strstr(p.error[r], cases[i].says))
				fail_msg("rank %d: '%s' is not in '%s'", r, cases[i].says, p.error[r]);
		}
	}
}

/* Of the rank that takes columns over, and of the one that they are taken from. */
static void place__one_rank_without_memory__all_say_so(void **state)
{
	(void)state;
	for (int poor = 0; poor < 2; poor++)
		for (long allowed = 2;; allowed++) {
			failing fails = { .allowed = allowed };
			kdr_allocator bad = { failing_alloc, failing_realloc, failing_free, &fails };
			const kdr_allocator *allocators[RANKS] = { NULL };
			parts p = { .text = { title, table, title },
				    .reading = { .size = sizeof(kdr_read_options),
				                 .may_be_empty = true,
				                 .label_column = "class" } };
			allocators[poor] = &bad;
			place_all(&p, allocators);
			assert_int_equal(fails.live, 0);
			for (int r = 0; r < RANKS; r++)
				assert_int_equal(p.st[r], fails.made > allowed ? KDR_ERR_MEMORY : KDR_OK);
			if (p.st[0] == KDR_OK)
				break;
		}
}

static kdr_status read_empty(kdr_context *ctx, const char *path)
{
	const kdr_read_options reading = { .size = sizeof(kdr_read_options), .may_be_empty = true };
	kdr_data *d = NULL;
	kdr_status st = kdr_read(ctx, path, &reading, &d);
	kdr_data_free(d);
	return st;
}

static void read__no_rows__only_where_that_is_allowed(void **state)
{
	(void)state;
	static const struct {
		const char *name, *text, *says;
	} files[] = {
		{ "none.csv", "a,b\n", "no rows" },
		{ "none.tsv", "a\tb\n", "no rows" },
		{ "none.mtx", "%%MatrixMarket matrix coordinate real general\n0 2 0\n", "0 x 2" },
		{ "none.mtx", "%%MatrixMarket matrix array real general\n0 2\n", "0 x 2" },
	};
	kdr_context *ctx = unit_context();
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		const char *path = bytes_path(files[i].name);
		kdr_data *d = NULL;
		kdr_read_options reading = { .size = sizeof(kdr_read_options) };
		bytes_write(path, files[i].text, strlen(files[i].text));
		assert_int_equal(kdr_read(ctx, path, &reading, &d), KDR_ERR_DATA);
		assert_non_null(strstr(kdr_context_error(ctx), files[i].says));
		reading.may_be_empty = true;
		assert_ok(ctx, kdr_read(ctx, path, &reading, &d));
		kdr_mat x = kdr_data_mat(d);
		assert_int_equal(kdr_mat_rows(&x), 0);
		kdr_data_free(d);
		d = NULL;
		failing_all(read_empty, path);
		/* What would be columns are rows of the file there. */
		reading.transpose = true;
		assert_int_equal(kdr_read(ctx, path, &reading, &d), KDR_ERR_DATA);
	}
	kdr_context_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(place__parts_without_rows__columns_of_the_others),
		cmocka_unit_test(place__parts_that_do_not_fit__all_say_so),
		cmocka_unit_test(place__one_rank_without_memory__all_say_so),
		cmocka_unit_test(read__no_rows__only_where_that_is_allowed),
	};
	return cmocka_run_group_tests(tests, NULL, bytes_clean);
}
