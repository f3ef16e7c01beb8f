/* kindred cluster. SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const cli_option own_options[] = {
	{ .name = "method",
	  .letter = 'm',
	  .value = "METHOD",
	  .help = "clustering method (default auto); 'kindred methods' lists all methods" },
	{ .name = "clusters",
	  .letter = 'k',
	  .value = "K[,K2,...]",
	  .help = "number of clusters (required): one value for all data sets, or one each; auto if the method can choose it" },
	{ .name = "set",
	  .value = "NAME=VALUE",
	  .repeats = true,
	  .help = "set an option of the method; 'kindred methods METHOD' lists them" },
	CLI_FEATURES_OPTIONS,
	{ .name = "transfer",
	  .negatable = true,
	  .help = "method auto: let data sets learn from each other (default); --no-transfer clusters each separately" },
	{ .name = "pooled", .help = "pool all data sets and cluster them as one" },
	{ .name = "init",
	  .value = "FILE[,FILE...]",
	  .help = "initial labels of each data set, one number per line; the method runs once, starting from these labels" },
	{ .name = "truth",
	  .value = "FILE[,FILE...]",
	  .help = "known classes of each data set, one per line; used only for scoring" },
	{ .name = "score",
	  .help = "score against the known classes in <stem>.labels next to each data file" },
	{ .name = "quality",
	  .help = "also report quality scores that need no known classes: silhouette, Davies-Bouldin, Calinski-Harabasz, and "
	          "stability under resampling (five more fits); for several data sets also how well they mix: iLISI, "
	          "kBET, batch ASW, and the data sets in each cluster" },
	{ .name = "resamples",
	  .value = "N",
	  .help = "with --quality: number of fits for the stability score (default 5; 0 to skip it)" },
	CLI_H5AD_OPTION,
	CLI_TABLE_OPTION,
	{ .name = "strict", .help = "exit with status 5 if the method did not converge" },
	CLI_OPTIONS_END,
};

static const cli_option_group groups[] = {
	{ "Main options", own_options },
	{ "Output", cli_output_options },
	{ "Preprocessing, in this order", cli_prep_options },
	{ "Input files", cli_reading_options },
	CLI_TEXT_GROUPS,
	{ "Common", cli_common_options },
	{ NULL, NULL },
};

static bool check_k(int64_t given, int64_t ntasks)
{
	if (given == 1 || given == ntasks)
		return true;
	cli_error("-k has %lld values for %lld data set%s; give one value for all, or one for each",
	          (long long)given, (long long)ntasks, CLI_S(ntasks));
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
				        "-k auto: method '%s' cannot choose the number of clusters; give a number, or omit -m",
				        algo->id);
			ok = automatic;
			(*k)[t] = 0;
			continue;
		}
		long long value = strtoll(item, &end, 10);
		if (end == item || *end || errno || value < 1) {
			cli_error("-k: '%s' is not valid; use a whole number, 1 or larger%s", item,
			          automatic ? ", or auto" : "");
			ok = false;
		}
		(*k)[t] = value;
	}
	cli_list_free(&list);
	return ok;
}

/* Reads the command line, before any file is read. `k`: to be freed. */
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
		cli_error("cluster needs -k: the number of clusters, or auto to let kindred suggest it");
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
	        "Clusters one or more data sets. TASK is a data file, or name=file, with samples in rows and features in columns. "
	        "Several data sets are treated as related: their columns are matched by name if all have names, otherwise by "
	        "position.\n\n"
	        "The default method, auto, runs several methods on each data set, alone and together with the others, and "
	        "combines their results by voting. For every method, the preprocessing is chosen by the kind of data and printed "
	        "in the summary. Use --weight, --norm and --scale to choose it yourself; --weight none turns it off.\n\n"
	        "Without -o, the result is printed to standard output as JSON. With -o DIR, it is written to DIR, together with "
	        "one <task>.labels file per data set: one line per sample with its cluster number, starting at 0.",
	.example = "# two sets of word counts, four clusters each, with an HTML report\n"
	           "kindred cluster -k 4 -o out --report cornell.mtx texas.mtx\n"
	           "# a table with a header; compare the clusters with known classes\n"
	           "kindred cluster -k 3 --truth species.txt iris.csv",
	.groups = groups,
	.completes_files = true,
	.run = cluster_run,
};
