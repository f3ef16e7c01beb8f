/* Options of jobs by name: the table, values, and what is refused. */
#include "tests/unit/bytes.h"

/* A new job of a family. */
static kdr_job *new_job(kdr_context *ctx, kdr_family family)
{
	kdr_job *job = NULL;
	assert_ok(ctx, kdr_job_new(ctx, family, &job));
	return job;
}

static void table__every_option__is_complete(void **state)
{
	(void)state;
	const kdr_job_option *o;
	for (size_t i = 0; (o = kdr_job_option_at(i)); i++) {
		assert_true(o->families != 0 && o->help && !strpbrk(o->name, "_ "));
		assert_int_equal(o->kind == KDR_JOB_FLAG, o->value == NULL);
		assert_int_equal(o->kind == KDR_JOB_CHOICE, kdr_choices(o->name) != NULL);
		assert_true((o->kind == KDR_JOB_INT || o->kind == KDR_JOB_REAL) == (o->max > 0));
		/* The help names the default. */
		assert_true(!o->initial ||
		            (strstr(o->help, "default") && (!o->value || strstr(o->help, o->initial))));
		assert_true(!o->because || o->excludes);
	}
}

static void set__values__fill_the_options(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_job *job = new_job(ctx, KDR_FAMILY_CLUSTER);
	kdr_job_options *o = kdr_job_options_of(job);
	static const char *const values[][2] = {
		{ "method", "kmeans" },      { "set", "max_iter=7" }, { "clusters", "4" },
		{ "pooled", "true" },        { "quality", "1" },      { "resamples", "0" },
		{ "report-features", "3" },  { "norm", "l2" },        { "top-features", "10" },
		{ "top-by", "variance" },    { "fit-on", "each" },    { "new-clusters", "no" },
		{ "features-from", "msda" },
	};
	assert_string_equal(o->method, "auto");
	for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
		assert_ok(ctx, kdr_job_set(ctx, job, values[i][0], values[i][1]));
	assert_string_equal(o->method, "kmeans");
	assert_float_equal(kdr_options_get(o->settings, "max_iter"), 7, 0);
	assert_true(o->k == 4 && !o->each_k && !o->k_to && o->pooled && o->quality);
	assert_int_equal(o->resamples, -1); /* 0 is the default of the struct */
	assert_int_equal(o->report_features, 3);
	assert_int_equal(o->prep->norm, KDR_NORM_L2);
	assert_int_equal(o->prep->top_features, 10);
	assert_int_equal(o->prep->top_by, KDR_TOP_VARIANCE);
	assert_true(o->prep->fit_each);
	assert_int_equal(o->new_clusters, KDR_NEW_CLUSTERS_NO);
	assert_string_equal(o->features_from, "msda");
	kdr_job_free(job);
	kdr_context_free(ctx);
}

static void set__preprocessing__is_chosen_by_who_specifies_a_step(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_job *job = new_job(ctx, KDR_FAMILY_CLUSTER), *other = new_job(ctx, KDR_FAMILY_CLUSTER);
	assert_ok(ctx, kdr_job_set(ctx, job, "weight", "none"));
	assert_ok(ctx, kdr_job_set(ctx, job, "preprocess", "default"));
	assert_int_equal(kdr_job_options_of(job)->choice, KDR_PREP_NONE);
	assert_ok(ctx, kdr_job_set(ctx, other, "preprocess", "by-data"));
	assert_ok(ctx, kdr_job_set(ctx, other, "scale", "standard"));
	assert_int_equal(kdr_job_options_of(other)->choice, KDR_PREP_BY_DATA);
	kdr_job_free(job);
	kdr_job_free(other);
	kdr_context_free(ctx);
}

static void set__clusters__numbers_ranges_and_auto(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_job *job = new_job(ctx, KDR_FAMILY_CLUSTER);
	kdr_job_options *o = kdr_job_options_of(job);
	assert_ok(ctx, kdr_job_set(ctx, job, "clusters", "3-8"));
	assert_true(o->k == 3 && o->k_to == 8 && !o->each_k && !o->neach_k);
	assert_ok(ctx, kdr_job_set(ctx, job, "clusters", "3,auto"));
	assert_true(o->neach_k == 2 && o->each_k[0] == 3 && o->each_k[1] == 0 && !o->each_k_to && !o->k_to);
	assert_ok(ctx, kdr_job_set(ctx, job, "clusters", "3,4-6"));
	assert_true(o->each_k_to[0] == 3 && o->each_k[1] == 4 && o->each_k_to[1] == 6);
	/* What is refused changes nothing. */
	static const char *const wrong[] = { "",     "0",  "-1",    "2.5", "8-3",
		                             "1-99", "3,", "3-4-5", "x",   "99999999999999999999" };
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
		assert_fails(ctx, kdr_job_set(ctx, job, "clusters", wrong[i]), KDR_ERR_OPTION, "-k: ");
	assert_fails(ctx, kdr_job_set(ctx, job, "clusters", "3-4,auto"), KDR_ERR_OPTION,
	             "cannot be combined");
	assert_true(o->neach_k == 2 && o->each_k_to[1] == 6);
	assert_ok(ctx, kdr_job_set(ctx, job, "method", "kmeans"));
	assert_fails(ctx, kdr_job_set(ctx, job, "clusters", "auto"), KDR_ERR_OPTION,
	             "-k auto: method 'kmeans'");
	kdr_job_free(job);
	kdr_context_free(ctx);
}

static void set__bad_values__are_refused(void **state)
{
	(void)state;
	static const struct {
		const char *name, *value, *says;
	} wrong[] = {
		{ "abstain", "1", "--abstain: '1' is not valid; use a number from 0 to below 1" },
		{ "abstain", "some", "use a number from 0 to below 1" },
		{ "ask", "0", "--ask: '0' is not valid; use a whole number, 1 or larger" },
		{ "report-features", "100001", "use a whole number from 0 to 100000" },
		{ "weight", "tf", "--weight: 'tf' is not valid; use one of: none, binary" },
		{ "probabilities", "maybe", "use true or false" },
		{ "set", "max_iter", "--set: 'max_iter' is not valid; use NAME=VALUE" },
		{ "set", "max=1", "has no option 'max'" },
		{ "features-set", "noise=0.2", "without --features-from" },
		{ "guard", "true",
		  "--guard is not available with method auto; 'kindred methods auto-transfer'" },
		{ "method", "kmeans", "does not transfer labels" },
		{ "clusters", "3", "there is no option --clusters" },
		{ "wieght", "none", "there is no option --wieght" },
	};
	kdr_context *ctx = unit_context();
	kdr_job *job = new_job(ctx, KDR_FAMILY_TRANSFER);
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		const kdr_status st = kdr_job_set(ctx, job, wrong[i].name, wrong[i].value);
		assert_true(st == KDR_ERR_OPTION || st == KDR_ERR_ARGUMENT);
		assert_non_null(strstr(kdr_context_error(ctx), wrong[i].says));
	}
	assert_ok(ctx, kdr_job_set(ctx, job, "abstain", "0.25"));
	assert_float_equal(kdr_options_get(kdr_job_options_of(job)->settings, "abstain"), 0.25, 0);
	assert_fails(ctx, kdr_job_set(ctx, job, "method", "svm"), KDR_ERR_OPTION,
	             "before options of the method");
	assert_fails(ctx, kdr_job_set(ctx, NULL, "method", "svm"), KDR_ERR_ARGUMENT, "must not be NULL");
	kdr_job_free(job);
	kdr_job_free(NULL);
	kdr_context_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table__every_option__is_complete),
		cmocka_unit_test(set__values__fill_the_options),
		cmocka_unit_test(set__preprocessing__is_chosen_by_who_specifies_a_step),
		cmocka_unit_test(set__clusters__numbers_ranges_and_auto),
		cmocka_unit_test(set__bad_values__are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
