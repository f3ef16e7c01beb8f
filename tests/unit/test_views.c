/* The forms of the data that members of an ensemble use: few samples with many columns. SPDX-License-Identifier: BSD-3-Clause */
#include "engine/graph/views.h"
#include "tests/unit/unit.h"

enum { FEW = 2, WIDE = 120 };

/* Two data sets of 20 and 15 samples; each has a few values in every third column, the second not in the same ones. */
static void make_few(kdri_rng *rng, kdri_own *sparse, kdr_task *tasks, kdr_context *ctx)
{
	static const int64_t rows[FEW] = { 20, 15 };
	for (int64_t t = 0; t < FEW; t++) {
		const int64_t n = rows[t];
		int64_t *rowptr = NULL, at = 0;
		int32_t *col = NULL;
		double *val = NULL;
		assert_ok(ctx, KDRI_NEW0(ctx, &rowptr, n + 1));
		assert_ok(ctx, KDRI_NEW(ctx, &col, n * WIDE));
		assert_ok(ctx, KDRI_NEW(ctx, &val, n * WIDE));
		for (int64_t i = 0; i < n; i++) {
			for (int64_t f = t; f < WIDE; f += 3)
				if (i == 0 || kdri_rng_below(rng, 8) == 0) {
					col[at] = (int32_t)f;
					val[at++] = 0.1 + kdri_rng_uniform(rng);
				}
			rowptr[i + 1] = at;
		}
		sparse[t] = kdri_own_csr(n, WIDE, &rowptr, &col, &val);
		tasks[t] = (kdr_task){ .x = sparse[t].view, .k = 2 };
	}
}

static void views__few_rows__coordinates_have_the_products_of_centred_rows(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(9, "few", 0);
	kdri_own sparse[FEW];
	kdr_task tasks[FEW];
	static const int64_t k[FEW] = { 2, 2 };
	make_few(&rng, sparse, tasks, ctx);
	const kdr_problem problem = { .size = sizeof problem, .tasks = tasks, .ntasks = FEW };
	const kdri_views_options o = { .together = true, .neighbors = 3, .searched = 3 };
	kdri_views v = { 0 };
	assert_ok(ctx, kdri_views_new(ctx, &problem, &o, &v));
	assert_ok(ctx, kdri_views_directions(ctx, &v, k, true));
	const int64_t n = v.begin[FEW], width = v.directions;
	assert_int_equal(width, n);
	double *x = calloc((size_t)(n * WIDE), sizeof *x);
	for (int64_t t = 0; t < FEW; t++) { /* rows of unit length minus the mean of their data set */
		const kdr_csr *rows = &v.tasks[t].rows.view.as.csr;
		double mean[WIDE] = { 0 };
		for (int64_t i = 0; i < rows->rows; i++)
			for (int64_t p = rows->rowptr[i]; p < rows->rowptr[i + 1]; p++) {
				x[(v.begin[t] + i) * WIDE + rows->col[p]] = rows->val[p];
				mean[rows->col[p]] += rows->val[p] / (double)rows->rows;
			}
		for (int64_t i = v.begin[t]; i < v.begin[t + 1]; i++)
			for (int64_t f = 0; f < WIDE; f++)
				x[i * WIDE + f] -= mean[f];
	}
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j < n; j++)
			assert_near(kdri_dot(v.centred + i * width, v.centred + j * width, width),
			            kdri_dot(x + i * WIDE, x + j * WIDE, WIDE), 1e-9);
	free(x);
	kdri_views_free(ctx, &v);
	for (int64_t t = 0; t < FEW; t++)
		kdri_own_free(ctx, &sparse[t]);
	kdr_context_free(ctx);
}

static void views__columns_without_values__are_left_out_of_its_own(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(9, "own", 0);
	kdri_own sparse[FEW];
	kdr_task tasks[FEW];
	make_few(&rng, sparse, tasks, ctx);
	const kdr_problem problem = { .size = sizeof problem, .tasks = tasks, .ntasks = FEW };
	const kdri_views_options o = { .neighbors = 3, .searched = 3 };
	kdri_views v = { 0 };
	assert_ok(ctx, kdri_views_new(ctx, &problem, &o, &v));
	for (int64_t t = 0; t < FEW; t++) {
		const kdr_mat rows = kdri_views_of(&v, KDRI_VIEW_ROWS, t),
		              own = kdri_views_of(&v, KDRI_VIEW_OWN, t);
		assert_int_equal(kdr_mat_cols(&own), WIDE / 3);
		for (int64_t p = 0; p < kdr_mat_nnz(&rows); p++) {
			assert_int_equal(own.as.csr.col[p], (rows.as.csr.col[p] - t) / 3);
			assert_true(own.as.csr.val[p] == rows.as.csr.val[p]);
		}
	}
	/* Stored densely, they are the same. */
	double *dense[FEW];
	kdri_views w = { 0 };
	for (int64_t t = 0; t < FEW; t++) {
		const kdr_csr *x = &sparse[t].view.as.csr;
		dense[t] = calloc((size_t)(x->rows * WIDE), sizeof **dense);
		for (int64_t i = 0; i < x->rows; i++)
			for (int64_t p = x->rowptr[i]; p < x->rowptr[i + 1]; p++)
				dense[t][i * WIDE + x->col[p]] = x->val[p];
		tasks[t].x = kdr_mat_from_dense(dense[t], x->rows, WIDE);
	}
	assert_ok(ctx, kdri_views_new(ctx, &problem, &o, &w));
	for (int64_t t = 0; t < FEW; t++) {
		const kdr_csr a = kdri_views_of(&v, KDRI_VIEW_OWN, t).as.csr,
		              b = kdri_views_of(&w, KDRI_VIEW_OWN, t).as.csr;
		assert_int_equal(a.cols, b.cols);
		assert_memory_equal(a.rowptr, b.rowptr, (size_t)(a.rows + 1) * sizeof *a.rowptr);
		assert_memory_equal(a.col, b.col, (size_t)a.rowptr[a.rows] * sizeof *a.col);
		for (int64_t p = 0; p < a.rowptr[a.rows]; p++)
			assert_near(a.val[p], b.val[p], 1e-15);
		free(dense[t]);
	}
	kdri_views_free(ctx, &w);
	kdri_views_free(ctx, &v);
	/* Nearly all columns have a value, or none has. */
	const kdr_mat parts[] = { sparse[0].view, sparse[1].view }, *const list[] = { &parts[0], &parts[1] };
	kdri_own both, nothing = { kdr_mat_from_csr(2, WIDE, (int64_t[]){ 0, 0, 0 }, NULL, NULL), { 0 } };
	assert_ok(ctx, kdri_mat_stack(ctx, list, FEW, &both));
	tasks[0].x = both.view;
	tasks[1].x = nothing.view;
	assert_ok(ctx, kdri_views_new(ctx, &problem, &o, &v));
	for (int64_t t = 0; t < FEW; t++) {
		const kdr_mat own = kdri_views_of(&v, KDRI_VIEW_OWN, t);
		assert_int_equal(kdr_mat_cols(&own), WIDE);
	}
	kdri_views_free(ctx, &v);
	kdri_own_free(ctx, &both);
	for (int64_t t = 0; t < FEW; t++)
		kdri_own_free(ctx, &sparse[t]);
	kdr_context_free(ctx);
}

/* Exactly a tenth of the entries, or one fewer, in dense storage: both rules of what is sparse agree. */
static void views__a_tenth_of_the_entries__is_no_border_case(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	for (int64_t n = 2; n <= 12; n++)
		for (int64_t d = 20; d <= 70; d += 5)
			for (int64_t less = 0; less < 2; less++) {
				const int64_t count = (n * d + 9) / 10 - less;
				double *x = calloc((size_t)(n * d), sizeof *x);
				for (int64_t i = 0; i < count; i++)
					x[i % n * d + i / n] = 1 + (double)i;
				kdr_task task = { .x = kdr_mat_from_dense(x, n, d), .k = 2 };
				const kdr_problem problem = { .size = sizeof problem,
					                      .tasks = &task,
					                      .ntasks = 1 };
				const kdri_views_options o = { .neighbors = 1, .searched = 1 };
				kdri_views v = { 0 };
				assert_ok(ctx, kdri_views_new(ctx, &problem, &o, &v));
				const kdr_mat own = kdri_views_of(&v, KDRI_VIEW_OWN, 0);
				assert_int_equal(own.kind == KDR_MAT_CSR, v.tasks[0].sparse);
				assert_int_equal(kdr_mat_cols(&own),
				                 v.tasks[0].sparse ? (count + n - 1) / n : d);
				kdri_views_free(ctx, &v);
				free(x);
			}
	kdr_context_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(views__few_rows__coordinates_have_the_products_of_centred_rows),
		cmocka_unit_test(views__columns_without_values__are_left_out_of_its_own),
		cmocka_unit_test(views__a_tenth_of_the_entries__is_no_border_case),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
