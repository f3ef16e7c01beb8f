/* Which members of auto of transfer vote: class shares, separation, absent classes, the gate, and members for tables. */
#include "api/method.h"
#include "engine/linear/linear.h"
#include "methods/transfer_auto/auto_transfer.h"
#include "tests/unit/unit.h"

enum { N = 240, D = 6 };

static void shares__votes_with_known_confusion__are_recovered(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	static const double a[] = { 0.8, 0.1, 0.2, 0.15, 0.7, 0.1, 0.05, 0.2, 0.7 };
	static const double truths[][3] = { { 0.2, 0.5, 0.3 }, { 0.9, 0.05, 0.05 }, { 0.6, 0.4, 0 } };
	for (int t = 0; t < 3; t++) {
		double q[3], pi[3] = { 1.0 / 3, 1.0 / 3, 1.0 / 3 };
		for (int j = 0; j < 3; j++)
			q[j] = kdri_dot(a + 3 * j, truths[t], 3);
		assert_ok(ctx, kdri_shares_estimate(ctx, a, q, 3, pi));
		for (int k = 0; k < 3; k++)
			assert_near(pi[k], truths[t][k], 1e-2); /* slow where a share is 0 */
	}
	kdr_context_free(ctx);
}

static void shares__vote_that_no_class_explains__is_ignored(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	static const double a[] = { 1, 0, 0, 0, 1, 0, 0, 0, 0 }, q[] = { 0.6, 0.2, 0.2 };
	double pi[] = { 0.5, 0.5, 0 };
	assert_ok(ctx, kdri_shares_estimate(ctx, a, q, 3, pi));
	assert_near(pi[0], 0.75, 1e-9);
	assert_near(pi[1], 0.25, 1e-9);
	assert_near(pi[2], 0, 1e-12);
	kdr_context_free(ctx);
}

static void auc__weights_and_ties__count_as_pairs(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	static const double score[] = { 2, 1, 1.5, 0, 1 }, weight[] = { 1, 1, 3, 1, 2 };
	static const bool positive[] = { true, true, false, false, false };
	static const double equal[] = { 1, 1, 1, 1, 1 };
	double auc;
	assert_ok(ctx, kdri_weighted_auc(ctx, score, positive, NULL, 5, &auc));
	assert_near(auc, (3 + 1.5) / 6, 1e-12);
	assert_ok(ctx, kdri_weighted_auc(ctx, score, positive, weight, 5, &auc));
	assert_near(auc, (6 + 1 + 1.0) / 12, 1e-12);
	assert_ok(ctx, kdri_weighted_auc(ctx, equal, positive, weight, 5, &auc));
	assert_near(auc, 0.5, 1e-12);
	assert_ok(ctx, kdri_weighted_auc(ctx, score, positive, NULL, 2, &auc)); /* no negative row */
	assert_true(isnan(auc));
	kdr_context_free(ctx);
}

static void ranks__ties__share_the_middle(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	static const double values[] = { 3, -9, 1, -9, 3, -9, 2, -9 };
	double ranks[8] = { 0 };
	assert_ok(ctx, kdri_mid_ranks(ctx, values, 4, 2, ranks));
	assert_near(ranks[0], 0.75, 1e-12);
	assert_near(ranks[2], 0.125, 1e-12);
	assert_near(ranks[4], 0.75, 1e-12);
	assert_near(ranks[6], 0.375, 1e-12);
	assert_near(ranks[1], 0, 0); /* other columns stay */
	kdr_context_free(ctx);
}

static void gate__members_with_half_the_best_lead__vote(void **state)
{
	(void)state;
	const double accuracy[] = { 0.9, 0.8, 0.74, 0.3, NAN }, level[] = { 0.61, 0.2, 0.615, 0.3, NAN };
	const bool none[5] = { false };
	kdri_transfer_exclusion excluded[5];
	kdri_transfer_gate_exclude(accuracy, none, 5, 0.6, excluded);
	assert_int_equal(excluded[0], KDRI_TRANSFER_VOTES);
	assert_int_equal(excluded[1], KDRI_TRANSFER_VOTES);
	assert_int_equal(excluded[2], KDRI_TRANSFER_INACCURATE);
	assert_int_equal(excluded[3], KDRI_TRANSFER_INACCURATE);
	assert_int_equal(excluded[4], KDRI_TRANSFER_VOTES); /* it did not run */
	kdri_transfer_gate_exclude(level, none, 5, 0.6, excluded);
	for (int m = 0; m < 5; m++)
		assert_int_equal(excluded[m], KDRI_TRANSFER_VOTES); /* no member has learnt much */
}

static void gate__members_that_must_lead__vote_only_then(void **state)
{
	(void)state;
	const bool must[] = { false, false, true, true, true };
	const double behind[] = { 0.9, 0.8, 0.92, 0.5, NAN }, ahead[] = { 0.9, 0.8, 0.94, 0.92, NAN };
	kdri_transfer_exclusion excluded[5];
	kdri_transfer_gate_exclude(behind, must, 5, 0.3, excluded);
	assert_int_equal(excluded[0], KDRI_TRANSFER_VOTES);
	assert_int_equal(excluded[1], KDRI_TRANSFER_VOTES);
	for (int m = 2; m < 5; m++)
		assert_int_equal(excluded[m], KDRI_TRANSFER_NO_LEAD);
	kdri_transfer_gate_exclude(ahead, must, 5, 0.3, excluded);
	assert_int_equal(excluded[0], KDRI_TRANSFER_INACCURATE); /* 0.04 below the best */
	assert_int_equal(excluded[1], KDRI_TRANSFER_INACCURATE);
	assert_int_equal(excluded[2], KDRI_TRANSFER_VOTES);
	assert_int_equal(excluded[3], KDRI_TRANSFER_VOTES);
	assert_int_equal(excluded[4], KDRI_TRANSFER_NO_LEAD);
}

typedef struct table {
	double x[N * D];
	int64_t labels[N];
} table;

/* A rare class, `share` of the rows, where one column is large; two loud columns have nothing to do with it. One column is a flag. */
static void fill_table(table *t, uint64_t set, double share, double shift)
{
	kdri_rng rng = kdri_rng_stream(5, "table", set);
	for (int64_t i = 0; i < N; i++) {
		double *row = t->x + i * D, group = kdri_rng_uniform(&rng) < 0.5 ? 2 : -2;
		t->labels[i] = kdri_rng_uniform(&rng) < share;
		row[0] = 2.5 * (double)t->labels[i] + kdri_rng_normal(&rng) + shift;
		row[1] = group + kdri_rng_normal(&rng) / 4;
		row[2] = group + kdri_rng_normal(&rng) / 4;
		row[3] = kdri_rng_uniform(&rng) < 0.5;
		row[4] = kdri_rng_normal(&rng) + shift;
		row[5] = kdri_rng_normal(&rng);
	}
}

static double separation(kdr_context *ctx, const table *source, const table *target, const double *weight)
{
	const kdr_task tasks[] = { { .role = KDR_ROLE_SOURCE,
		                     .x = kdr_mat_from_dense(source->x, N, D),
		                     .labels = source->labels },
		                   { .role = KDR_ROLE_TARGET, .x = kdr_mat_from_dense(target->x, N, D) } };
	const kdr_problem p = { .size = sizeof(kdr_problem), .tasks = tasks, .ntasks = 2, .classes = 2 };
	const kdri_transfer_joins joins = { .to = KDRI_JOINS_NEIGHBOURS, .neighbors = 5 };
	kdri_domains d;
	kdri_transfer_views v;
	double found;
	assert_ok(ctx, kdri_domains_new(ctx, &p, NULL, &d));
	assert_ok(ctx, kdri_transfer_views_new(ctx, &d, &joins, &v));
	assert_ok(ctx, kdri_transfer_separation(ctx, &v, weight, &found));
	kdri_transfer_views_free(ctx, &v);
	kdri_domains_free(ctx, &d);
	return found;
}

static void separation__shift_and_shares__are_told_apart(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	static table source, same, far, moved;
	fill_table(&source, 0, 0.2, 0);
	fill_table(&same, 1, 0.2, 0);
	fill_table(&far, 2, 0.2, 4);
	fill_table(&moved, 3, 0.9, 0);
	const double weight[] = { 0.1 / 0.8, 0.9 / 0.2 };
	assert_true(fabs(separation(ctx, &source, &same, NULL)) < 0.25);
	assert_true(separation(ctx, &source, &far, NULL) > 0.95);
	assert_true(separation(ctx, &source, &moved, NULL) > 0.5);
	assert_true(separation(ctx, &source, &moved, weight) < 0.3);
	kdr_context_free(ctx);
}

/* Two separate classes, similar to two species of iris; `only` one of them if it is not negative. */
static void fill_flowers(table *t, uint64_t set, int64_t only, double shift)
{
	static const double mean[2][4] = { { 5.0, 3.4, 1.5, 0.25 }, { 5.9, 2.8, 4.3, 1.3 } },
	                    spread[2][4] = { { 0.35, 0.38, 0.17, 0.1 }, { 0.5, 0.3, 0.47, 0.2 } };
	kdri_rng rng = kdri_rng_stream(7, "flowers", set);
	for (int64_t i = 0; i < N; i++) {
		double *row = t->x + i * D;
		const int64_t k = t->labels[i] = only >= 0 ? only : i % 2;
		for (int64_t j = 0; j < D; j++)
			row[j] = j < 4 ? mean[k][j] + spread[k][j] * kdri_rng_normal(&rng)
			               : 0.1 * kdri_rng_normal(&rng);
		row[0] += shift;
		row[2] += shift / 2;
	}
}

/* The gap if the members that centre each data set vote `aligned`, and the others give the first class the share `first`. */
static double gap_of(kdr_context *ctx, const table *source, const table *target, const int32_t *aligned,
                     double first)
{
	const kdr_task tasks[] = { { .role = KDR_ROLE_SOURCE,
		                     .x = kdr_mat_from_dense(source->x, N, D),
		                     .labels = source->labels },
		                   { .role = KDR_ROLE_TARGET, .x = kdr_mat_from_dense(target->x, N, D) } };
	const kdr_problem p = { .size = sizeof(kdr_problem), .tasks = tasks, .ntasks = 2, .classes = 2 };
	const kdri_transfer_joins joins = { .to = KDRI_JOINS_NEIGHBOURS, .neighbors = 5 };
	kdri_domains d;
	kdri_transfer_views v;
	double found;
	assert_ok(ctx, kdri_domains_new(ctx, &p, NULL, &d));
	assert_ok(ctx, kdri_transfer_views_new(ctx, &d, &joins, &v));
	const kdri_absence a = { .v = &v, .aligned = aligned, .plain = (double[]){ first, 1 - first } };
	assert_ok(ctx, kdri_transfer_gap(ctx, &a, &found));
	kdri_transfer_views_free(ctx, &v);
	kdri_domains_free(ctx, &d);
	return found;
}

static void gap__class_that_is_absent_or_shifted__is_told(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	static table source, both, one;
	int32_t truth[N], split[N];
	fill_flowers(&source, 0, -1, 0);
	fill_flowers(&both, 1, -1, 3);
	fill_flowers(&one, 2, 1, 3);
	for (int64_t i = 0; i < N; i++) {
		truth[i] = (int32_t)both.labels[i];
		split[i] = one.x[i * D + 2] > 4.3 + 1.5;
	}
	assert_near(gap_of(ctx, &source, &both, truth, 0.01), 1, 0.15);
	const double absent = gap_of(ctx, &source, &one, split, 0.01);
	assert_true(absent > 0 && absent < 0.5);
	assert_true(
	        isnan(gap_of(ctx, &source, &both, truth, 0.3))); /* both kinds of members find both classes */
	source.labels[0] = 1; /* a class with one sample cannot be held out */
	for (int64_t i = 2; i < N; i += 2)
		source.labels[i] = i == 2 ? 0 : 1;
	assert_true(isnan(gap_of(ctx, &source, &one, split, 0.0001)));
	kdr_context_free(ctx);
}

/* Four rows, of which two and two are equal, with one neighbour each: two edges. */
static void cohesion__labels_of_two_edges__as_by_hand(void **state)
{
	(void)state;
	enum { ROWS = 4, COLS = 12 };
	kdr_context *ctx = unit_context();
	double x[ROWS][COLS] = { { 1, 1 }, { 1, 1 }, { 0, 0, 1, 1 }, { 0, 0, 1, 1 } }, found;
	const int64_t classes[ROWS] = { 0, 0, 1, 1 }, rows[ROWS] = { 0, 1, 2, 3 };
	const kdr_task tasks[] = {
		{ .role = KDR_ROLE_SOURCE, .x = kdr_mat_from_dense(x[0], ROWS, COLS), .labels = classes },
		{ .role = KDR_ROLE_TARGET, .x = kdr_mat_from_dense(x[0], ROWS, COLS) }
	};
	const kdr_problem p = { .size = sizeof(kdr_problem), .tasks = tasks, .ntasks = 2, .classes = 2 };
	const kdri_transfer_joins joins = { .to = KDRI_JOINS_NEIGHBOURS, .neighbors = 1 };
	kdri_domains d;
	kdri_transfer_views v;
	assert_ok(ctx, kdri_domains_new(ctx, &p, NULL, &d));
	assert_ok(ctx, kdri_transfer_views_new(ctx, &d, &joins, &v));
	assert_ok(ctx, kdri_transfer_cohesion(ctx, &v, rows, (int32_t[]){ 0, 0, 1, 1 }, ROWS, &found));
	assert_near(found, 1, 1e-12);
	assert_ok(ctx, kdri_transfer_cohesion(ctx, &v, rows, (int32_t[]){ 0, 1, 0, 1 }, ROWS, &found));
	assert_near(found, -1, 1e-12);
	assert_ok(ctx, kdri_transfer_cohesion(ctx, &v, rows, (int32_t[]){ 0, 0, 0, 1 }, ROWS, &found));
	assert_near(found, (1. / 2 - 5. / 8) / (3. / 8), 1e-12);
	assert_ok(ctx, kdri_transfer_cohesion(ctx, &v, rows, (int32_t[]){ 1, 1, 1, 1 }, ROWS, &found));
	assert_true(isnan(found)); /* one class */
	assert_ok(ctx, kdri_transfer_cohesion(ctx, &v, rows, (int32_t[]){ 1 }, 1, &found));
	assert_true(isnan(found)); /* one row */
	kdri_transfer_views_free(ctx, &v);
	kdri_domains_free(ctx, &d);
	kdr_context_free(ctx);
}

static void gap__dispute__needs_both_shares(void **state)
{
	(void)state;
	assert_true(kdri_transfer_disputed(0.5, 0.1, 0.4));
	assert_false(kdri_transfer_disputed(0.5, 0.3, 0.9));
	assert_false(kdri_transfer_disputed(0.5, 0.1, 0.15));
}

static kdr_result *fit_as(kdr_context *ctx, const table *source, const table *target, const char *tables,
                          const char *gate, const char *member)
{
	const kdr_task tasks[] = {
		{ .name = "a",
		  .role = KDR_ROLE_SOURCE,
		  .x = kdr_mat_from_dense(source->x, N, D),
		  .labels = source->labels },
		{ .name = "b", .role = KDR_ROLE_TARGET, .x = kdr_mat_from_dense(target->x, N, D) }
	};
	const kdr_problem p = { .size = sizeof(kdr_problem), .tasks = tasks, .ntasks = 2, .classes = 2 };
	kdr_options *o = NULL;
	kdr_result *r = NULL;
	assert_ok(ctx, kdr_options_new(ctx, "auto-transfer", &o));
	assert_ok(ctx, kdr_options_set(ctx, o, "tables", tables));
	assert_ok(ctx, kdr_options_set(ctx, o, "gate", gate));
	assert_ok(ctx, kdr_options_set(ctx, o, "member", member));
	assert_ok(ctx, kdr_fit(ctx, "auto-transfer", &p, o, &r));
	kdr_options_free(o);
	return r;
}

static kdr_result *fit_table(kdr_context *ctx, const table *source, const table *target, const char *gate,
                             const char *member)
{
	return fit_as(ctx, source, target, "yes", gate, member);
}

static double right_share(const kdr_result *r, const int64_t *truth)
{
	int64_t n;
	const int64_t *labels = kdr_result_labels(r, 1, &n);
	double right = 0;
	for (int64_t i = 0; i < n; i++)
		right += (labels[i] == truth[i]) / (double)N;
	return right;
}

static const char *text_of(const kdr_result *r, const char *key)
{
	for (int64_t i = 0; i < kdr_result_field_count(r); i++) {
		double number;
		const char *text = NULL;
		if (strcmp(kdr_result_field_at(r, i, &number, &text), key) == 0)
			return text;
	}
	return "";
}

static void auto_transfer__table_with_a_rare_class__poor_members_do_not_vote(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	static table source, target;
	fill_table(&source, 0, 0.2, 0);
	fill_table(&target, 1, 0.2, 0);
	kdr_context_set_threads(ctx, 1);
	kdr_result *r = fit_table(ctx, &source, &target, "yes", "all"),
	           *open = fit_table(ctx, &source, &target, "no", "all");
	kdr_context_set_threads(ctx, 4);
	kdr_result *many = fit_table(ctx, &source, &target, "yes", "all");
	kdr_array votes = kdr_result_array(r, "votes", 1), same = kdr_result_array(many, "votes", 1);
	assert_int_equal(votes.shape[0], KDRI_TRANSFER_MEMBERS);
	assert_memory_equal(votes.data, same.data, KDRI_TRANSFER_MEMBERS * N * sizeof(int64_t));
	assert_true(((const int64_t *)votes.data)[KDRI_TRANSFER_KMEANS * N] < 0);
	assert_non_null(strstr(text_of(r, "excluded.b"), "k-means from the classes 0."));
	assert_non_null(strstr(text_of(r, "members"), "extra trees"));
	assert_non_null(strstr(text_of(open, "members"), "k-means from the classes"));
	assert_string_equal(text_of(open, "excluded.b"), "");
	assert_true(right_share(r, target.labels) > 0.88);
	assert_true(right_share(r, target.labels) >= right_share(open, target.labels));
	kdr_result_free(r);
	kdr_result_free(open);
	kdr_result_free(many);
	kdr_context_free(ctx);
}

static bool warns(const kdr_result *r, const char *text)
{
	bool found = false;
	for (int64_t i = 0; i < kdr_result_warning_count(r); i++)
		found = found || strstr(kdr_result_warning_at(r, i), text);
	return found;
}

static void auto_transfer__shifted_target_of_one_class__no_other_is_found(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	static table source, target;
	static const char *const tables[] = { "no", "yes" };
	fill_flowers(&source, 0, -1, 0);
	for (int64_t only = -1; only < 2; only++)
		for (int t = 0; t < 2; t++) {
			fill_flowers(&target, 1, only, 1);
			kdr_result *r = fit_as(ctx, &source, &target, tables[t], "yes", "all");
			assert_true(right_share(r, target.labels) > 0.98);
			assert_true(only >= 0 || !strstr(text_of(r, "advice.b"), "absent"));
			if (only == 1 && t == 0) {
				assert_non_null(
				        strstr(text_of(r, "advice.b"), "classes appear to be absent"));
				assert_true(warns(r, "appears to have few such samples, or none"));
			}
			kdr_result_free(r);
		}
	kdr_context_free(ctx);
}

static void auto_transfer__members_for_tables__label_alone(void **state)
{
	(void)state;
	static const char *const members[] = { "forest", "forest-standard", "extra-trees", "forest-self",
		                               "logreg-raw" };
	kdr_context *ctx = unit_context();
	static table source, target;
	fill_table(&source, 0, 0.3, 0);
	fill_table(&target, 1, 0.3, 0);
	for (size_t m = 0; m < sizeof members / sizeof members[0]; m++) {
		kdr_result *r = fit_table(ctx, &source, &target, "yes", members[m]);
		assert_true(right_share(r, target.labels) > 0.8);
		kdr_result_free(r);
	}
	kdr_context_free(ctx);
}

static void shift__labelled_rows_of_the_target__are_not_the_sources(void **state)
{
	(void)state;
	double x[4] = { 0 }, scores[] = { 1, 0, 3, 0, 10, 0, 20, 0 };
	const kdr_mat rows = kdr_mat_from_dense(x, 4, 1);
	const int64_t labels[] = { 0, 1, 1, -1 };
	const bool source[] = { true, true, false, false }, unlabelled[] = { false, false, false, true };
	const kdri_self_training s = { .rest = { .x = &rows, .labels = labels, .classes = 2 },
		                       .unlabelled = unlabelled };
	kdr_context *ctx = unit_context();
	assert_int_equal(kdri_self_shift(ctx, &s, source, NULL, scores), KDR_OK);
	kdr_context_free(ctx);
	assert_near(scores[0], 1, 0);
	assert_near(scores[2], 3, 0);
	assert_near(scores[4], 10 + 2 - 15, 1e-12); /* the sources' mean is 2, the target's 15 */
	assert_near(scores[6], 20 + 2 - 15, 1e-12);
}

/* The class is whether two columns have the same sign: no line separates that. */
static void fill_curved(table *t, uint64_t set)
{
	kdri_rng rng = kdri_rng_stream(6, "curved", set);
	for (int64_t i = 0; i < N; i++) {
		for (int64_t j = 0; j < D; j++)
			t->x[i * D + j] = kdri_rng_normal(&rng) * (j < 2 ? 1 : 0.3);
		t->labels[i] = (t->x[i * D] > 0) == (t->x[i * D + 1] > 0);
	}
}

static void auto_transfer__curved_classes__only_members_that_lead_vote(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	static table source, target, straight, straight_target;
	fill_curved(&source, 0);
	fill_curved(&target, 1);
	fill_table(&straight, 0, 0.5, 0);
	fill_table(&straight_target, 1, 0.5, 0);
	kdr_result *r = fit_as(ctx, &source, &target, "no", "yes", "all"),
	           *open = fit_as(ctx, &source, &target, "no", "no", "all"),
	           *line = fit_as(ctx, &straight, &straight_target, "no", "yes", "all");
	assert_non_null(strstr(text_of(r, "excluded.b"), "svm 0."));
	assert_true(right_share(r, target.labels) > 0.85);
	assert_true(right_share(open, target.labels) < 0.75);
	assert_null(strstr(text_of(line, "members"), "nearest neighbours"));
	assert_null(strstr(text_of(line, "members"), "forest"));
	assert_null(strstr(text_of(line, "excluded.b"), "neighbours"));
	kdr_result_free(r);
	kdr_result_free(open);
	kdr_result_free(line);
	kdr_context_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares__votes_with_known_confusion__are_recovered),
		cmocka_unit_test(shares__vote_that_no_class_explains__is_ignored),
		cmocka_unit_test(auc__weights_and_ties__count_as_pairs),
		cmocka_unit_test(ranks__ties__share_the_middle),
		cmocka_unit_test(gate__members_with_half_the_best_lead__vote),
		cmocka_unit_test(gate__members_that_must_lead__vote_only_then),
		cmocka_unit_test(auto_transfer__curved_classes__only_members_that_lead_vote),
		cmocka_unit_test(shift__labelled_rows_of_the_target__are_not_the_sources),
		cmocka_unit_test(separation__shift_and_shares__are_told_apart),
		cmocka_unit_test(gap__class_that_is_absent_or_shifted__is_told),
		cmocka_unit_test(gap__dispute__needs_both_shares),
		cmocka_unit_test(cohesion__labels_of_two_edges__as_by_hand),
		cmocka_unit_test(auto_transfer__shifted_target_of_one_class__no_other_is_found),
		cmocka_unit_test(auto_transfer__table_with_a_rare_class__poor_members_do_not_vote),
		cmocka_unit_test(auto_transfer__members_for_tables__label_alone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
