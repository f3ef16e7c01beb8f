/* matrix/linalg.h: columns that are equal, once; and mtcfir, which learns features from those alone. */
#include "tests/unit/unit.h"

#include "matrix/linalg.h"

/* Counts of `words` columns, of which every third is empty and the others are drawn from `kinds` different ones. */
typedef struct counts {
	int64_t n, d, *rowptr;
	int32_t *col;
	double *val;
	kdr_mat x;
} counts;

static counts make(uint64_t index, int64_t n, int64_t words, int64_t kinds)
{
	kdri_rng rng = kdri_rng_stream(17, "columns", index);
	counts m = { .n = n, .d = words };
	int64_t nnz = 0, *kind = malloc((size_t)words * sizeof *kind);
	double *value = calloc((size_t)(n * kinds), sizeof *value);
	m.rowptr = calloc((size_t)n + 1, sizeof *m.rowptr);
	m.col = calloc((size_t)(n * words), sizeof *m.col);
	m.val = calloc((size_t)(n * words), sizeof *m.val);
	for (int64_t j = 0; j < words; j++)
		kind[j] = j % 3 == 1 ? -1 : kdri_rng_below(&rng, kinds);
	for (int64_t i = 0; i < n * kinds; i++)
		if (kdri_rng_uniform(&rng) < (i / kinds % 3 == i % kinds % 3 ? 0.6 : 0.15))
			value[i] = 0.1 * (double)(1 + kdri_rng_below(&rng, 5));
	for (int64_t i = 0; i < n; i++) {
		for (int64_t j = 0; j < words; j++) {
			double v = kind[j] < 0 ? 0 : value[i * kinds + kind[j]];
			bool zero = v == 0 && (i + j) % 11 == 0; /* stored all the same */
			if (v == 0 && !zero)
				continue;
			m.col[nnz] = (int32_t)j;
			m.val[nnz++] = v;
		}
		m.rowptr[i + 1] = nnz;
	}
	m.x = kdr_mat_from_csr(n, words, m.rowptr, m.col, m.val);
	free(kind);
	free(value);
	return m;
}

static void counts_free(counts *m)
{
	free(m->rowptr);
	free(m->col);
	free(m->val);
}

static void once__equal_and_empty_columns__products_of_rows_stay(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	for (uint64_t trial = 0; trial < 20; trial++) {
		counts m = make(trial, 30, 60 + 7 * (int64_t)trial, 9);
		kdri_column_set c = { .x.view = kdr_mat_from_dense(NULL, 0, 0) };
		bool fewer = false;
		double *a = calloc((size_t)m.d, sizeof *a), *b = calloc((size_t)m.d, sizeof *b), total = 0;
		assert_ok(ctx, kdri_columns_once(ctx, &m.x, &c, &fewer));
		assert_true(fewer);
		int64_t d = kdr_mat_cols(&c.x.view);
		assert_true(d <= 9);
		for (int64_t j = 0; j < d; j++)
			total += c.copies[j];
		assert_true((int64_t)total <= m.d - m.d / 3);
		for (int64_t i = 0; i < m.n; i++)
			for (int64_t k = 0; k < m.n; k++) {
				kdri_entries p = kdri_row_entries(&m.x, i), q = kdri_row_entries(&m.x, k);
				double whole = 0, few = 0;
				memset(a, 0, (size_t)m.d * sizeof *a);
				for (int64_t e = 0; e < p.count; e++)
					a[kdri_entry_column(&p, e)] = p.val[e];
				for (int64_t e = 0; e < q.count; e++)
					whole += a[kdri_entry_column(&q, e)] * q.val[e];
				p = kdri_row_entries(&c.x.view, i);
				q = kdri_row_entries(&c.x.view, k);
				memset(b, 0, (size_t)m.d * sizeof *b);
				for (int64_t e = 0; e < p.count; e++)
					b[kdri_entry_column(&p, e)] = p.val[e];
				for (int64_t e = 0; e < q.count; e++)
					few += c.copies[kdri_entry_column(&q, e)] *
					       b[kdri_entry_column(&q, e)] * q.val[e];
				assert_near(whole, few, 1e-11);
			}
		kdri_column_set_free(ctx, &c);
		counts_free(&m);
		free(a);
		free(b);
	}
	kdr_context_free(ctx);
}

static void once__columns_that_differ__nothing_is_made(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	double val[] = { 1, 2, 3, 4, 5, 6 };
	int64_t rowptr[] = { 0, 3, 6 };
	int32_t col[] = { 0, 1, 2, 0, 1, 2 };
	kdr_mat x = kdr_mat_from_csr(2, 3, rowptr, col, val);
	kdri_column_set c = { .x.view = kdr_mat_from_dense(NULL, 0, 0) };
	bool fewer = true;
	assert_ok(ctx, kdri_columns_once(ctx, &x, &c, &fewer));
	assert_false(fewer);
	assert_null(c.copies);
	kdr_context_free(ctx);
}

/* Whether column j has more entries than column i, or as many and comes first. */
static bool precedes(const int64_t *entries, int64_t j, int64_t i)
{
	return entries[j] > entries[i] || (entries[j] == entries[i] && j < i);
}

static void most__any_count__those_with_the_most_entries(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	counts m = make(3, 30, 90, 12);
	int64_t *entries = calloc((size_t)m.d, sizeof *entries), *to = calloc((size_t)m.d, sizeof *to);
	double *copies = calloc((size_t)m.d, sizeof *copies);
	for (int64_t p = 0; p < m.rowptr[m.n]; p++)
		entries[m.col[p]]++;
	for (int64_t j = 0; j < m.d; j++)
		copies[j] = 1 + (double)(j % 4);
	for (int64_t count = 1; count <= m.d; count += 8) {
		kdri_column_set c = { .x.view = kdr_mat_from_dense(NULL, 0, 0) };
		int64_t found = 0;
		assert_ok(ctx, kdri_columns_most(ctx, &m.x, count % 3 ? copies : NULL, count, &c));
		assert_int_equal(kdr_mat_cols(&c.x.view), count);
		for (int64_t i = 0; i < m.d; i++) {
			int64_t before = 0;
			for (int64_t j = 0; j < m.d; j++)
				before += precedes(entries, j, i);
			to[i] = before < count ? found++ : -1;
			if (to[i] >= 0)
				assert_true(c.copies[to[i]] == (count % 3 ? copies[i] : 1));
		}
		for (int64_t i = 0; i < m.n; i++) {
			kdri_entries p = kdri_row_entries(&m.x, i), q = kdri_row_entries(&c.x.view, i);
			int64_t at = 0;
			for (int64_t e = 0; e < p.count; e++) {
				const int64_t place = to[kdri_entry_column(&p, e)];
				if (place < 0)
					continue;
				assert_int_equal(kdri_entry_column(&q, at), place);
				assert_true(q.val[at++] == p.val[e]);
			}
			assert_int_equal(at, q.count);
		}
		kdri_column_set_free(ctx, &c);
	}
	free(entries);
	free(to);
	free(copies);
	counts_free(&m);
	kdr_context_free(ctx);
}

/* The work reported in the result, in GFlop. */
static double work_of(const kdr_result *result)
{
	double number = 0;
	for (int64_t i = 0; i < kdr_result_field_count(result); i++) {
		const char *text, *name = kdr_result_field_at(result, i, &number, &text);
		if (strcmp(name, "dense_gflop") == 0)
			return number;
	}
	fail_msg("no dense_gflop");
	return 0;
}

static kdr_result *fit_within(kdr_context *ctx, const counts *a, const counts *b, const char *keep,
                              const char *precision, double gflop)
{
	kdr_task tasks[2] = { { .x = a->x, .k = 3 }, { .x = b->x, .k = 3 } };
	kdr_problem problem = { .size = sizeof(kdr_problem), .tasks = tasks, .ntasks = 2 };
	kdr_options *options = NULL;
	kdr_result *result = NULL;
	assert_ok(ctx, kdr_options_new(ctx, "mtcfir", &options));
	assert_ok(ctx, kdr_options_set(ctx, options, "keep", keep));
	assert_ok(ctx, kdr_options_set(ctx, options, "precision", precision));
	assert_ok(ctx, kdr_options_set(ctx, options, "final", "ncut"));
	assert_ok(ctx, kdr_options_set_number(ctx, options, "max_gflop", gflop));
	assert_ok(ctx, kdr_fit(ctx, "mtcfir", &problem, options, &result));
	kdr_options_free(options);
	return result;
}

static kdr_result *fit(kdr_context *ctx, const counts *a, const counts *b, const char *keep,
                       const char *precision)
{
	return fit_within(ctx, a, b, keep, precision, 0);
}

/* With keep=no equal columns are learnt from once: the features' products, and all that follows, are the same. Fewer columns that
 * differ than samples, and more. */
static void mtcfir__equal_columns__as_with_all_of_them(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	for (int trial = 0; trial < 6; trial++) {
		int64_t kinds = trial % 2 ? 20 : 150;
		bool single = trial >= 4;
		/* One vocabulary: the same columns are equal in both tasks. */
		counts all = make(40 + (uint64_t)trial, 100, 600, kinds), a = all, b = all;
		kdri_own first, second;
		assert_ok(ctx, kdri_rows_own(ctx, &all.x, 0, 60, &first));
		assert_ok(ctx, kdri_rows_own(ctx, &all.x, 60, 100, &second));
		a.x = first.view;
		b.x = second.view;
		kdr_result *whole = fit(ctx, &a, &b, "true", single ? "single" : "double"),
		           *once = fit(ctx, &a, &b, "false", single ? "single" : "double");
		for (int t = 0; t < 2; t++) {
			int64_t n, m, differ = 0;
			const int64_t *p = kdr_result_labels(whole, t, &n),
			              *q = kdr_result_labels(once, t, &m);
			for (int64_t i = 0; i < n; i++)
				differ += p[i] != q[i];
			assert_true(differ <= (single ? n / 10 : 0));
		}
		kdr_array p = kdr_result_array(whole, "thresholds", -1),
		          q = kdr_result_array(once, "thresholds", -1);
		for (int t = 0; t < 2; t++)
			assert_near(((const double *)p.data)[t], ((const double *)q.data)[t],
			            single ? 1e-4 : 1e-10);
		/* That fewer columns were used is seen by the work. */
		assert_true(work_of(once) < work_of(whole) / 2);
		kdr_result_free(whole);
		kdr_result_free(once);
		kdri_own_free(ctx, &first);
		kdri_own_free(ctx, &second);
		counts_free(&all);
	}
	kdr_context_free(ctx);
}

static int64_t count_different(const kdr_result *a, const kdr_result *b)
{
	int64_t n, m, differ = 0;
	for (int t = 0; t < 2; t++) {
		const int64_t *p = kdr_result_labels(a, t, &n), *q = kdr_result_labels(b, t, &m);
		for (int64_t i = 0; i < n; i++)
			differ += p[i] != q[i];
	}
	return differ;
}

/* A limit that is not reached changes nothing; below it the work of the features stays within the limit, with the same labels for any
 * number of threads. */
static void mtcfir__max_gflop__bounds_the_work(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context(), *other = unit_context();
	kdr_context_set_threads(ctx, 1);
	kdr_context_set_threads(other, 3);
	counts all = make(71, 100, 600, 300), a = all, b = all;
	kdri_own first, second;
	assert_ok(ctx, kdri_rows_own(ctx, &all.x, 0, 60, &first));
	assert_ok(ctx, kdri_rows_own(ctx, &all.x, 60, 100, &second));
	a.x = first.view;
	b.x = second.view;
	kdr_result *whole = fit(ctx, &a, &b, "false", "double"),
	           *free_of_it = fit_within(ctx, &a, &b, "false", "double", 1000);
	assert_int_equal(count_different(whole, free_of_it), 0);
	assert_true(work_of(whole) == work_of(free_of_it));
	for (double gflop = 0.01; gflop > 1e-3; gflop /= 2) {
		kdr_result *few = fit_within(ctx, &a, &b, "false", "double", gflop),
		           *again = fit_within(other, &a, &b, "false", "double", gflop);
		/* The work after the features does not depend on the columns: 60^2 x 100 + 40^2 x 100. */
		assert_true(work_of(few) <= gflop + 0.00052);
		assert_true(work_of(few) < work_of(whole));
		assert_int_equal(count_different(few, again), 0);
		kdr_result_free(few);
		kdr_result_free(again);
	}
	kdr_result_free(whole);
	kdr_result_free(free_of_it);
	kdri_own_free(ctx, &first);
	kdri_own_free(ctx, &second);
	counts_free(&all);
	kdr_context_free(ctx);
	kdr_context_free(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(once__equal_and_empty_columns__products_of_rows_stay),
		cmocka_unit_test(once__columns_that_differ__nothing_is_made),
		cmocka_unit_test(most__any_count__those_with_the_most_entries),
		cmocka_unit_test(mtcfir__equal_columns__as_with_all_of_them),
		cmocka_unit_test(mtcfir__max_gflop__bounds_the_work),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
