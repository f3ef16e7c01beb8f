/* kindred cluster. SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
	{ .name = "quality",
	  .help = "also say how good clusters are without truth: silhouette, Davies-Bouldin, Calinski-Harabasz, and "
	          "stability under resampling, which takes five more fits; with several data sets also how well they mix: iLISI, "
	          "kBET, batch ASW, and the data sets in each cluster" },
	{ .name = "resamples",
	  .value = "N",
	  .help = "--quality: fits on parts of the data for the stability (default 5; 0: none)" },
	CLI_H5AD_OPTION,
	CLI_TABLE_OPTION,
	{ .name = "strict", .help = "exit with status 5 if the method did not converge" },
	CLI_OPTIONS_END,
};

static const cli_option_group groups[] = {
	{ "What to do", own_options },
	{ "Output", cli_output_options },
	{ "Preprocessing, in this order", cli_prep_options },
	{ "Reading", cli_reading_options },
	CLI_TEXT_GROUPS,
	{ "Common", cli_common_options },
	{ NULL, NULL },
};

static bool check_k(int64_t given, int64_t ntasks)
{
	if (given == 1 || given == ntasks)
		return true;
	cli_error("-k gives %lld numbers for %lld tasks: one for all, or one for each", (long long)given,
	          (long long)ntasks);
	return false;
}

/* -k 4 or -k 3,4,5: one number for each task; "auto" (0) where the method can find k. *k: to be freed; *given: how many. */
static bool parse_k(const char *text, const kdr_algo *algo, int64_t **k, int64_t *given)
{
	bool automatic = algo->flags & KDR_ALGO_AUTO_K;
	cli_list list;
	bool ok = true;
	if (!cli_list_split(text, &list))
		return false;
	*given = list.count;
	*k = calloc((size_t)list.count, sizeof **k);
	if (!*k) {
		cli_error("out of memory");
		ok = false;
	}
	for (int64_t t = 0; t < list.count && ok; t++) {
		const char *item = list.items[t];
		char *end;
		errno = 0;
		if (strcmp(item, "auto") == 0) {
			if (!automatic)
				cli_error(
				        "-k auto: method '%s' cannot find k; 'kindred methods' lists those that can",
				        algo->id);
			ok = automatic;
			(*k)[t] = 0;
			continue;
		}
		long long value = strtoll(item, &end, 10);
		if (end == item || *end || errno || value < 1) {
			cli_error("-k: '%s' is not allowed: a whole number from 1%s", item,
			          automatic ? ", or auto" : "");
			ok = false;
		}
		(*k)[t] = value;
	}
	cli_list_free(&list);
	return ok;
}

/* All that the command line says, before any file is read. `k`: to be freed. */
static int cluster_parse(kdr_context *ctx, const cli_args *args, cli_job *job, kdr_job_options *o,
                         int64_t **k, int64_t *given)
{
	const char *text = cli_get(args, "clusters", NULL), *transfer = cli_get(args, "transfer", NULL);
	int count = cli_positional_count(args);
	int code = cli_job_read(ctx, args, KDR_FAMILY_CLUSTER, job);
	if (code == EXIT_DONE && transfer)
		code = cli_job_switch(ctx, "--[no-]transfer", "transfer", transfer, job);
	if (code != EXIT_DONE)
		return code;
	if (!text) {
		cli_error("cluster needs -k K: the number of clusters, or auto to have it suggested");
		return EXIT_USAGE;
	}
	/* How many tasks a column of them gives is known when it is read. */
	bool counted = count > 0 && !cli_get(args, "task-column", NULL) && !cli_get(args, "batch-key", NULL);
	if (!parse_k(text, job->algo, k, given) || (counted && !check_k(*given, count)))
		return EXIT_USAGE;
	*o = job->wanted;
	o->k = (*k)[0];
	o->each_k = *given == 1 ? NULL : *k;
	o->pooled = cli_flag(args, "pooled");
	o->quality = cli_flag(args, "quality");
	return cli_resamples(args, &o->resamples) ? EXIT_DONE : EXIT_USAGE;
}

/* Reads the data sets and checks the outputs. */
static int cluster_read(kdr_context *ctx, const cli_args *args, int64_t given, cli_tasks *tasks)
{
	int code = cli_tasks_read_positional(ctx, args, tasks);
	if (code == EXIT_DONE && !check_k(given, tasks->count))
		code = EXIT_USAGE;
	if (code == EXIT_DONE)
		code = cli_tasks_truth(ctx, args, 0, tasks);
	if (code == EXIT_DONE)
		code = cli_tasks_init(ctx, args, tasks);
	if (code != EXIT_DONE || cli_rank() > 0) /* only the first rank writes */
		return code;
	code = cli_outputs_check(ctx, args, tasks, true);
	return code == EXIT_DONE ? cli_write_back(ctx, args, tasks, 0, NULL, NULL) : code;
}

static int cluster_run(cli_args *args)
{
	int code;
	cli_tasks tasks = { 0 };
	cli_job job = { 0 };
	kdr_job_options o;
	int64_t *k = NULL, given = 1;
	cli_run done = { .args = args, .start = cli_now() };
	kdr_context *ctx = cli_session_open(args, &code);
	if (!ctx)
		return code;
	code = cli_ranks_join(ctx, args);
	if (code == EXIT_DONE)
		code = cluster_parse(ctx, args, &job, &o, &k, &given);
	if (code == EXIT_DONE)
		code = cluster_read(ctx, args, given, &tasks);
	code = cli_ranks_agree(code);
	if (code != EXIT_DONE)
		goto done;
	o.score = tasks.scored;
	o.init = tasks.start;
	cli_session_limit(ctx);
	kdr_status st = kdr_cluster(ctx, tasks.data, tasks.count, &o, &done.result);
	code = st == KDR_OK ? cli_outputs_finish(ctx, &done) : cli_fail(ctx, st);
	if (code != EXIT_DONE)
		goto done;
	code = cli_write_back(ctx, args, &tasks, 0, done.result, NULL);
	if (code == EXIT_DONE)
		code = cli_job_exit(args, done.result);
done:
	code = cli_ranks_agree(code);
	free(k);
	kdr_result_free(done.result);
	cli_job_free(&job);
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
	        "the others, and vote. With every method the preprocessing is chosen by the kind of data, unless "
	        "--weight, --norm or --scale is given; --weight none turns it off. The summary reports it.\n\n"
	        "Without -o the result (JSON) goes to standard output. With -o DIR it is written there, with one "
	        "<task>.labels file for each task: the cluster of each sample, from 0, a line a sample.",
	.example = "# two sets of counts of words, four clusters each, with a report to open\n"
	           "kindred cluster -k 4 -o out --report cornell.mtx texas.mtx\n"
	           "# a table with a header; compare with classes known from elsewhere\n"
	           "kindred cluster -k 3 --truth species.txt iris.csv",
	.groups = groups,
	.completes_files = true,
	.run = cluster_run,
};
