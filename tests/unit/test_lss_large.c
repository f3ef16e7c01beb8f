/* The shared subspace of data too large for all of their directions: more than 3000 samples and features. */
#include "matrix/range.h"
#include "tests/unit/unit.h"

enum { GROUPS = 4, BLOCK = 40, WORDS = 12, MOST = 3200 };

/* Sparse rows about GROUPS subjects: words of the subject's own block, and one word that no other row has, so
 * that the rank is full. */
typedef struct data {
	int64_t n, d, rowptr[MOST + 1], labels[MOST];
	int32_t col[MOST * (WORDS + 1)];
	double val[MOST * (WORDS + 1)];
} data;

static void make(data *x, kdri_rng *rng, int64_t n, int64_t d)
{
	int64_t at = 0;
	x->n = n;
	x->d = d;
	x->rowptr[0] = 0;
	for (int64_t i = 0; i < n; i++) {
		int64_t group = x->labels[i] = i % GROUPS, word = kdri_rng_below(rng, 3);
		for (int w = 0; w < WORDS; w++) {
			x->col[at] = (int32_t)(group * BLOCK + word);
			x->val[at++] = 1 + kdri_rng_uniform(rng);
			word += 1 + kdri_rng_below(rng, 3);
		}
		x->col[at] = (int32_t)(GROUPS * BLOCK + i % (d - GROUPS * BLOCK));
		x->val[at++] = 0.5;
		x->rowptr[i + 1] = at;
	}
}

static kdr_mat mat_of(const data *x)
{
	return kdr_mat_from_csr(x->n, x->d, x->rowptr, x->col, x->val);
}

/* X'X */
static kdr_status square(kdr_context *ctx, const kdri_op *op, const double *x, int64_t k, int64_t ldx,
                         double *y, int64_t ldy)
{
	kdr_status st;
	const kdr_mat *m = op->data;
	double *between = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &between, kdr_mat_rows(m) * k));
	KDRI_TRY(kdri_mat_mul(ctx, m, x, k, ldx, between, k));
	KDRI_TRY(kdri_mat_tmul(ctx, m, between, k, k, y, ldy));
done:
	kdri_free(ctx, between);
	return st;
}

static void range__more_than_3000__leading_directions(void **state)
{
	(void)state;
	static data x;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(1, "large", 0);
	for (int wide = 0; wide < 2; wide++) {
		make(&x, &rng, wide ? 3010 : 3190, wide ? 3190 : 3010);
		kdr_mat m = mat_of(&x);
		kdri_range range = { 0 };
		assert_false(kdri_range_is_whole(ctx, &m));
		assert_ok(ctx, kdri_range_new(ctx, &m, 1, &range));
		assert_true(range.capped && range.by_rows == wide);
		assert_int_equal(range.rank, 256);
		assert_true(range.energy > 0.5 && range.energy < 1);
		/* The values of the subjects are far above the rest: these are exact. */
		double s[GROUPS];
		const kdri_op op = { x.d, x.d, square, NULL, &m };
		double *v = malloc((size_t)(x.d * GROUPS) * sizeof *v);
		assert_ok(ctx, kdri_eigsh(ctx, &op, GROUPS, KDRI_LARGEST, 1e-12, s, v));
		free(v);
		assert_true(range.s[GROUPS] < range.s[GROUPS - 1] / 2);
		for (int g = 0; g < GROUPS; g++)
			assert_near(range.s[g], sqrt(s[g]), 1e-9 * sqrt(s[g]));
		for (int64_t j = 1; j < range.rank; j++)
			assert_true(range.s[j] <= range.s[j - 1]);
		/* U' U = I on some directions, the last among them. */
		enum { K = 3 };
		double *a = calloc((size_t)(range.rank * K), sizeof *a),
		       *b = malloc((size_t)(x.d * K) * sizeof *b),
		       *back = malloc((size_t)(range.rank * K) * sizeof *back);
		for (int j = 0; j < K; j++)
			a[(j == 2 ? range.rank - 1 : j) * K + j] = 1;
		assert_ok(ctx, kdri_range_from(ctx, &range, a, K, b));
		assert_ok(ctx, kdri_range_to(ctx, &range, b, K, back));
		for (int64_t i = 0; i < range.rank * K; i++)
			assert_near(back[i], a[i], 1e-6);
		free(a);
		free(b);
		free(back);
		kdri_range_free(ctx, &range);
	}
	kdr_context_free(ctx);
}

static kdr_result *fit(kdr_context *ctx, const data *x, const char *energy)
{
	kdr_task tasks[] = { { .name = "a", .x = mat_of(&x[0]), .k = GROUPS },
		             { .name = "b", .x = mat_of(&x[1]), .k = GROUPS } };
	kdr_problem problem = { .size = sizeof(kdr_problem), .tasks = tasks, .ntasks = 2 };
	kdr_options *options = NULL;
	kdr_result *r = NULL;
	assert_ok(ctx, kdr_options_new(ctx, "lssmtc", &options));
	assert_ok(ctx, kdr_options_set(ctx, options, "eps", "0"));
	assert_ok(ctx, kdr_options_set(ctx, options, "energy", energy));
	assert_ok(ctx, kdr_options_set(ctx, options, "max_iter", "5"));
	assert_ok(ctx, kdr_fit(ctx, "lssmtc", &problem, options, &r));
	kdr_options_free(options);
	return r;
}

static double field(const kdr_result *r, const char *name, const char **text)
{
	for (int64_t i = 0; i < kdr_result_field_count(r); i++) {
		double value;
		if (strcmp(kdr_result_field_at(r, i, &value, text), name) == 0)
			return value;
	}
	fail_msg("no field %s", name);
	return NAN;
}

/* One cluster for each subject, the same in both tasks. */
static void assert_subjects(const kdr_result *r, const data *x)
{
	int64_t of[GROUPS] = { 0 }, n;
	for (int64_t t = 0; t < 2; t++) {
		const int64_t *labels = kdr_result_labels(r, t, &n);
		for (int64_t i = 0; i < n; i++) {
			int64_t group = x[t].labels[i];
			if (t == 0 && i < GROUPS)
				of[group] = labels[i];
			assert_int_equal(labels[i], of[group]);
		}
	}
	for (int g = 0; g < GROUPS; g++)
		for (int h = 0; h < g; h++)
			assert_true(of[g] != of[h]);
}

static void lssmtc__more_than_3000__cut_and_said(void **state)
{
	(void)state;
	static data x[2];
	static const char *const energies[] = { "1", "0.5" };
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(2, "large", 0);
	make(&x[0], &rng, 1520, 3040);
	make(&x[1], &rng, 1560, 3040);
	for (int e = 0; e < 2; e++) {
		kdr_result *r = fit(ctx, x, energies[e]);
		const char *how = NULL, *unused;
		int64_t n;
		field(r, "w_step", &how);
		double energy = field(r, "energy", &unused), rank = field(r, "rank", &unused);
		/* The full energy is not available, with a warning; half of it is. */
		assert_string_equal(how, e == 0 ? "cut" : "factored");
		assert_int_equal(kdr_result_warning_count(r), e == 0);
		if (e == 0)
			assert_non_null(strstr(kdr_result_warning_at(r, 0), "256 leading directions"));
		assert_true(e == 0 ? rank == 256 : rank < 256 && energy >= 0.5);
		const double *trace = kdr_result_objective(r, &n);
		for (int64_t i = 1; i < n; i++)
			assert_true(trace[i] <= trace[i - 1] * (1 + 1e-9));
		assert_subjects(r, x);
		kdr_result_free(r);
	}
	kdr_context_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(range__more_than_3000__leading_directions),
		cmocka_unit_test(lssmtc__more_than_3000__cut_and_said),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
