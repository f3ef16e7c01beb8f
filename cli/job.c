/* Options of cluster and transfer for the method and the preprocessing. SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"

#include <math.h>
#include <string.h>

/* Applies every --OPTION name=value. */
static int set_options(kdr_context *ctx, const cli_args *args, const char *option, kdr_options *options)
{
	const char *setting;
	for (int i = 0; (setting = cli_get_nth(args, option, i)); i++) {
		const char *equals = strchr(setting, '=');
		char name[128];
		if (!equals || equals == setting || (size_t)(equals - setting) >= sizeof name)
			return cli_usage_error("--%s: '%s' is not valid; use NAME=VALUE", option, setting);
		memcpy(name, setting, (size_t)(equals - setting));
		name[equals - setting] = '\0';
		CLI_DO(cli_code(ctx, kdr_options_set(ctx, options, name, equals + 1)));
	}
	return EXIT_DONE;
}

/* The options of a method of that family. */
static int read_settings(kdr_context *ctx, const cli_args *args, const char *option, const char *method,
                         kdr_family family, kdr_options **out)
{
	const kdr_algo *algo = NULL;
	kdr_status st = kdr_algo_require(ctx, method, family, &algo);
	if (st == KDR_OK)
		st = kdr_options_new(ctx, algo->id, out);
	return st == KDR_OK ? set_options(ctx, args, option, *out) : cli_fail(ctx, st);
}

static int job_read_features(kdr_context *ctx, const cli_args *args, cli_job *job)
{
	const char *id = cli_get(args, "features-from", NULL);
	if (!id)
		return EXIT_DONE;
	if (cli_get(args, "save-model", NULL))
		return cli_usage_error(
		        "--save-model cannot be combined with --features-from, because 'predict' cannot compute the learned features; remove one of them");
	if (job->algo->flags & KDR_ALGO_OWN_FEATURES)
		return cli_usage_error(
		        "--features-from cannot be combined with method '%s', whose data sets may have different features; use another method, or remove it",
		        job->algo->id);
	job->wanted.features_from = id;
	return read_settings(ctx, args, "features-set", id, KDR_FAMILY_FEATURES, &job->feature_settings);
}

bool cli_prep_read(const cli_args *args, kdr_prep_options *out, kdr_prep_choice *choice)
{
	static const char *const said[] = { "weight", "norm", "scale" };
	int64_t top = 0;
	if (!cli_get_int(args, "top-features", 1, INT64_MAX, &top))
		return false;
	*out = (kdr_prep_options){
		.size = sizeof *out,
		.align = (kdr_align)cli_get_choice(args, "features", KDR_ALIGN_DEFAULT),
		.weight = (kdr_weight)cli_get_choice(args, "weight", KDR_WEIGHT_NONE),
		.norm = (kdr_norm)cli_get_choice(args, "norm", KDR_NORM_NONE),
		.scale = (kdr_scale)cli_get_choice(args, "scale", KDR_SCALE_NONE),
		.top_features = top,
		.top_by = (kdr_top)cli_get_choice(args, "top-by", KDR_TOP_DF),
		.fit_each = cli_get_choice(args, "fit-on", 0) == 1,
	};
	*choice = KDR_PREP_DEFAULT;
	for (int i = 0; i < 3; i++)
		if (cli_get(args, said[i], NULL))
			*choice = KDR_PREP_NONE;
	return true;
}

/* --report-features N; the library's 0 is the default and -1 is none. */
static bool job_read_report(const cli_args *args, int64_t *out)
{
	int64_t features = 0;
	if (!cli_get(args, "report-features", NULL))
		return true;
	if (!cli_get_int(args, "report-features", 0, 100000, &features))
		return false;
	*out = features ? features : -1;
	return true;
}

bool cli_resamples(const cli_args *args, int64_t *out)
{
	int64_t value = -1;
	if (!cli_get_int(args, "resamples", 0, 1000, &value))
		return false;
	*out = value < 0 ? 0 : value == 0 ? -1 : value;
	return true;
}

int cli_job_read(kdr_context *ctx, const cli_args *args, kdr_family family, cli_job *job)
{
	const char *method = cli_get(args, "method", NULL);
	*job = (cli_job){ .settings = NULL };
	kdr_job_options_init(&job->wanted);
	job->wanted.method = method;
	job->wanted.prep = &job->prep;
	CLI_DO(read_settings(ctx, args, "set", method, family, &job->settings));
	job->algo = kdr_options_algo(job->settings);
	CLI_DO(job_read_features(ctx, args, job));
	job->wanted.map = cli_flag(args, "report");
	job->wanted.model = cli_get(args, "save-model", NULL) != NULL;
	job->wanted.no_model = !job->wanted.model && !cli_get(args, "arrays", NULL);
	job->wanted.model_without_samples = cli_flag(args, "model-without-samples");
	job->wanted.settings = job->settings;
	job->wanted.feature_settings = job->feature_settings;
	return cli_prep_read(args, &job->prep, &job->wanted.choice) &&
	                       job_read_report(args, &job->wanted.report_features) &&
	                       cli_get_int(args, "model-size", 1, INT64_MAX, &job->wanted.model_size)
	               ? EXIT_DONE
	               : EXIT_USAGE;
}

int cli_job_switch(kdr_context *ctx, const char *flag, const char *name, const char *value, cli_job *job)
{
	if (isnan(kdr_options_get(job->settings, name))) {
		const char *called = job->wanted.method  ? job->wanted.method
		                     : job->algo->called ? job->algo->called
		                                         : job->algo->id;
		return cli_usage_error(
		        "%s is not available with method %s; 'kindred methods %s' lists its options", flag,
		        called, job->algo->id);
	}
	return cli_code(ctx, kdr_options_set(ctx, job->settings, name, value));
}

int cli_job_exit(const cli_args *args, const kdr_result *result)
{
	kdr_stop stop = kdr_result_stop(result);
	if (stop == KDR_STOP_CANCELLED)
		return EXIT_INTERRUPTED;
	if (!kdr_result_complete(result) && cli_flag(args, "strict"))
		return cli_fail_with(
		        EXIT_NOT_CONVERGED,
		        "--strict: the method did not converge (%s after %lld iteration%s); increase max_iter with --set, or remove --strict",
		        kdr_stop_name(stop), (long long)kdr_result_iterations(result),
		        CLI_S(kdr_result_iterations(result)));
	return EXIT_DONE;
}

void cli_job_free(cli_job *job)
{
	kdr_options_free(job->settings);
	kdr_options_free(job->feature_settings);
	*job = (cli_job){ 0 };
}
