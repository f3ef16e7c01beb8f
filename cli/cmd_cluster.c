/* kindred cluster. SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char cli_cluster_method[] = "auto";

static const cli_option own_options[] = {
	{ .name = "method",
	  .letter = 'm',
	  .value = "METHOD",
	  .help = "the method (default auto); 'kindred methods' lists them" },
	{ .name = "clusters",
	  .letter = 'k',
	  .value = "K[,K2,...]",
	  .help = "number of clusters: one for all tasks, or one for each; auto where the method can find it" },
	{ .name = "set",
	  .value = "NAME=VALUE",
	  .repeats = true,
	  .help = "set an option of the method; 'kindred methods METHOD' lists them" },
	CLI_FEATURES_OPTIONS,
	{ .name = "transfer",
	  .negatable = true,
	  .help = "auto: let tasks learn from each other (default); --no-transfer: each by itself" },
	{ .name = "pooled", .help = "stack all tasks into one and cluster that" },
	{ .name = "init",
	  .value = "FILE[,FILE...]",
	  .help = "initial labels of each task: one run from just there" },
	{ .name = "truth",
	  .value = "FILE[,FILE...]",
	  .help = "known classes of each task, used for scoring alone" },
	{ .name = "score", .help = "score against <task>.labels beside each task" },
	{ .name = "strict", .help = "exit with status 5 if the method did not converge" },
	CLI_OPTIONS_END,
};

static const cli_option_group groups[] = {
	{ "What to do", own_options },
	{ "Output", cli_output_options },
	{ "Preprocessing, in this order", cli_prep_options },
	{ "Reading", cli_reading_options },
	{ "Common", cli_common_options },
	{ NULL, NULL },
};

/* -k 4 or -k 3,4,5: one number for each task; "auto" (0) where the method can find k. */
static bool parse_k(const char *text, const char *method, int64_t ntasks, int64_t *k)
{
	bool automatic = kdr_algo_find(method)->flags & KDR_ALGO_AUTO_K;
	cli_list list;
	bool ok = true;
	if (!cli_list_split(text, &list))
		return false;
	if (list.count != 1 && list.count != ntasks) {
		cli_error("-k gives %d numbers for %lld tasks: one for all, or one for each", list.count,
		          (long long)ntasks);
		ok = false;
	}
	for (int64_t t = 0; t < ntasks && ok; t++) {
		const char *item = list.items[list.count == 1 ? 0 : t];
		char *end;
		errno = 0;
		if (strcmp(item, "auto") == 0) {
			if (!automatic)
				cli_error(
				        "-k auto: method '%s' cannot find k; 'kindred methods' lists those that can",
				        method);
			ok = automatic;
			k[t] = 0;
			continue;
		}
		long long value = strtoll(item, &end, 10);
		if (end == item || *end || errno || value < 1) {
			cli_error("-k: '%s' is not allowed: a whole number from 1%s", item,
			          automatic ? ", or auto" : "");
			ok = false;
		}
		k[t] = value;
	}
	cli_list_free(&list);
	return ok;
}

/* Whether --set says something about an option of the method. */
static bool is_set(const cli_args *args, const char *name)
{
	const char *setting;
	size_t length = strlen(name);
	for (int i = 0; (setting = cli_get_nth(args, "set", i)); i++)
		if (strncmp(setting, name, length) == 0 && setting[length] == '=')
			return true;
	return false;
}

/* What the command line says about 'auto' besides --set. */
static int options_of_auto(kdr_context *ctx, const cli_args *args, const char *method, kdr_options *options)
{
	const char *transfer = cli_get(args, "transfer", NULL), *k = cli_get(args, "clusters", "");
	kdr_status st = KDR_OK;
	if (strcmp(method, "auto") != 0) {
		if (transfer)
			cli_error("--[no-]transfer is for method 'auto', not for '%s'", method);
		return transfer ? EXIT_USAGE : EXIT_DONE;
	}
	if (transfer)
		st = kdr_options_set(ctx, options, "transfer", transfer);
	/* "auto" finds one k for all tasks, "auto,auto" one for each. */
	if (st == KDR_OK && strchr(k, ',') && !is_set(args, "same_k"))
		st = kdr_options_set(ctx, options, "same_k", "0");
	return st == KDR_OK ? EXIT_DONE : cli_fail(ctx, st);
}

/* Counts of molecules are compared less their mean even where most of them are zero. */
static int centre_counts(kdr_context *ctx, const cli_run *run, kdr_options *options)
{
	const char *kind = run->tasks->kind;
	kdr_status st = KDR_OK;
	if (kind && strcmp(kind, "counts of molecules") == 0 && !is_set(run->args, "centre"))
		st = kdr_options_set(ctx, options, "centre", "yes");
	return st == KDR_OK ? EXIT_DONE : cli_fail(ctx, st);
}

static int fit(kdr_context *ctx, const cli_args *args, cli_run *run, const int64_t *k, kdr_result **result)
{
	const cli_tasks *tasks = run->tasks;
	kdr_task *list = calloc((size_t)tasks->count, sizeof *list);
	if (!list) {
		cli_error("out of memory");
		return EXIT_OTHER;
	}
	for (int64_t i = 0; i < tasks->count; i++)
		list[i] = (kdr_task){
			.name = kdr_data_name(tasks->data[i]),
			.role = KDR_ROLE_TASK,
			.x = kdr_data_mat(tasks->data[i]),
			.k = k[i],
			.init = tasks->init[i] ? tasks->init[i]->integer : NULL,
		};
	kdr_problem problem = { .tasks = list, .ntasks = tasks->count, .pooled = cli_flag(args, "pooled") };
	double start = cli_now();
	cli_session_limit(ctx);
	int code = cli_features_learn(ctx, run, list, problem.ntasks);
	if (code == EXIT_DONE) {
		kdr_status st = kdr_fit(ctx, run->method, &problem, run->options, result);
		code = st == KDR_OK ? EXIT_DONE : cli_fail(ctx, st);
	}
	run->seconds_fit = cli_now() - start;
	free(list);
	return code;
}

static int run(cli_args *args)
{
	int code;
	cli_tasks tasks = { 0 };
	kdr_options *options = NULL;
	kdr_result *result = NULL;
	int64_t *k = NULL;
	cli_run job = { .args = args,
		        .command = "cluster",
		        .method = cli_get(args, "method", cli_cluster_method),
		        .tasks = &tasks,
		        .seconds_start = cli_now() };
	const char *k_text = cli_get(args, "clusters", NULL);
	kdr_context *ctx = cli_session_open(args, &code);
	if (!ctx)
		return code;
	/* Everything about the command line itself is settled before any file is read. */
	if ((code = cli_method_check(job.method, KDR_FAMILY_CLUSTER)) != EXIT_DONE ||
	    (code = cli_method_options(ctx, args, job.method, &options)) != EXIT_DONE ||
	    (code = cli_features_check(ctx, args, &job)) != EXIT_DONE ||
	    (code = options_of_auto(ctx, args, job.method, options)) != EXIT_DONE)
		goto done;
	job.options = options;
	if (!k_text) {
		cli_error("cluster needs -k K: the number of clusters, or auto to have it suggested");
		code = EXIT_USAGE;
		goto done;
	}
	k = calloc((size_t)cli_positional_count(args) + 1, sizeof *k);
	if (!k ||
	    (cli_positional_count(args) > 0 && !parse_k(k_text, job.method, cli_positional_count(args), k))) {
		code = k ? EXIT_USAGE : EXIT_OTHER;
		goto done;
	}
	if ((code = cli_tasks_read_positional(ctx, args, &tasks)) != EXIT_DONE ||
	    (code = cli_tasks_labels(ctx, args, &tasks)) != EXIT_DONE ||
	    (code = cli_outputs_check(ctx, args, &tasks, true)) != EXIT_DONE ||
	    (code = centre_counts(ctx, &job, options)) != EXIT_DONE ||
	    (code = fit(ctx, args, &job, k, &result)) != EXIT_DONE)
		goto done;
	job.result = result;
	if ((code = cli_score(ctx, &job)) != EXIT_DONE)
		goto done;
	if ((code = cli_outputs_finish(ctx, &job)) != EXIT_DONE)
		goto done;
	code = cli_method_exit(args, result);
done:
	free(job.scores);
	cli_features_free(&job);
	free(k);
	kdr_result_free(result);
	kdr_options_free(options);
	cli_tasks_free(&tasks);
	cli_session_close(ctx);
	return cli_finish(code);
}

const cli_command cli_cluster = {
	.name = "cluster",
	.usage = "[-m METHOD] -k K[,K2,...] [OPTION...] TASK...",
	.summary = "cluster one or more related data sets",
	.description =
	        "A TASK is a data file, or name=file: samples in rows, features in columns. Several tasks are "
	        "taken to be related; their columns are matched by name where they have names, else by position.\n\n"
	        "Unless -m names another, the method is auto: several methods cluster each task, alone and with "
	        "the others, and vote. It chooses the preprocessing by what the data look like, unless "
	        "--weight, --norm or --scale is given, and says what it took them for.\n\n"
	        "Without -o the result (JSON) goes to standard output. With -o DIR it is written there, with one "
	        "<task>.labels file for each task: the cluster of each sample, from 0, a line a sample.",
	.example = "# two sets of counts of words, four clusters each, with a report to open\n"
	           "kindred cluster -k 4 -o out --report cornell.mtx texas.mtx\n"
	           "# a table with a header; compare with classes known from elsewhere\n"
	           "kindred cluster -k 3 --truth species.txt iris.csv",
	.groups = groups,
	.completes_files = true,
	.run = run,
};
