/* --features-from: features learnt before the method sees the data. SPDX-License-Identifier: BSD-3-Clause
 *
 * All data sets of the run are given to a method of the features family together; what it learns takes the place
 * of their columns. Names of columns, and everything printed about the data, stay those of the data. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

int cli_features_check(kdr_context *ctx, const cli_args *args, cli_run *run)
{
	const char *id = cli_get(args, "features-from", NULL), *method = run->method;
	if (!id) {
		if (!cli_get_nth(args, "features-set", 0))
			return EXIT_DONE;
		cli_error("--features-set: there is no --features-from METHOD whose option it could be");
		return EXIT_USAGE;
	}
	int code = cli_method_check(id, KDR_FAMILY_FEATURES);
	if (code != EXIT_DONE)
		return code;
	if (cli_get(args, "save-model", NULL)) {
		cli_error(
		        "--save-model: 'predict' cannot repeat what --features-from learns; leave out one of both");
		return EXIT_USAGE;
	}
	if (kdr_algo_find(method)->flags & KDR_ALGO_OWN_FEATURES) {
		cli_error(
		        "--features-from: method '%s' takes tasks with features of their own, which have none to learn together",
		        method);
		return EXIT_USAGE;
	}
	return cli_method_settings(ctx, args, "features-set", id, &run->feature_options);
}

int cli_features_learn(kdr_context *ctx, cli_run *run, kdr_task *tasks, int64_t count)
{
	if (!run->feature_options)
		return EXIT_DONE;
	const char *id = kdr_options_algo(run->feature_options)->id;
	kdr_task *plain = calloc((size_t)count, sizeof *plain);
	if (!plain) {
		cli_error("out of memory");
		return EXIT_OTHER;
	}
	for (int64_t t = 0; t < count; t++)
		plain[t] = (kdr_task){ .name = tasks[t].name, .x = tasks[t].x };
	kdr_problem problem = { .tasks = plain, .ntasks = count };
	kdr_status st = kdr_fit(ctx, id, &problem, run->feature_options, &run->features);
	free(plain);
	if (st != KDR_OK)
		return cli_fail(ctx, st);
	for (int64_t t = 0; t < count; t++) {
		kdr_array a = kdr_result_array(run->features, "features", t);
		tasks[t].x = kdr_mat_from_dense(a.data, a.shape[0], a.shape[1]);
	}
	return EXIT_DONE;
}

void cli_features_free(cli_run *run)
{
	kdr_result_free(run->features);
	kdr_options_free(run->feature_options);
	run->features = NULL;
	run->feature_options = NULL;
}
