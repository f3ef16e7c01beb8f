/* kindred cluster. SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"
#include "core/words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const cli_option own_options[] = {
	CLI_VALUE("method", "METHOD", "clustering method (default auto); 'kindred methods' lists all methods",
	          .letter = 'm'),
	CLI_VALUE("clusters", "K[,K2,...]",
	          "number of clusters (required): one value for all data sets, or one each; a range such as "
	          "3-8 gives every number in it; auto if the method can choose it",
	          .letter = 'k'),
	CLI_VALUE("set", "NAME=VALUE", "set an option of the method; 'kindred methods METHOD' lists them",
	          .repeats = true),
	CLI_FEATURES_OPTIONS,
	CLI_SWITCH("transfer",
	           "method auto: let data sets learn from each other (default); --no-transfer clusters each "
	           "separately"),
	CLI_FLAG("pooled", "pool all data sets and cluster them as one"),
	CLI_VALUE("init", "FILE[,FILE...]",
	          "initial labels of each data set, one number per line; the method runs once, starting "
	          "from these labels"),
	CLI_VALUE("known", "FILE[,FILE...]",
	          "methods auto and kmeans: classes of some samples of each data set, which steer and name "
	          "the clusters: one line per sample, '?' if unknown; '?' instead of FILE for a data set "
	          "without known classes"),
	CLI_VALUE("must-link", "FILE",
	          "methods auto and kmeans: pairs of samples that are in the same cluster, two ids per line"),
	CLI_VALUE("cannot-link", "FILE",
	          "methods auto and kmeans: pairs of samples that are in different clusters, two ids per "
	          "line"),
	CLI_VALUE("truth", "FILE[,FILE...]",
	          "known classes of each data set, one per line; used only for scoring"),
	CLI_FLAG("score", "score against the known classes in <stem>.labels next to each data file"),
	CLI_FLAG("quality",
	         "also report quality scores that need no known classes: silhouette, Davies-Bouldin, "
	         "Calinski-Harabasz, and stability under resampling (five more fits); for several data sets "
	         "also how well they mix: iLISI, kBET, batch ASW, and the data sets in each cluster"),
	CLI_VALUE("resamples", "N",
	          "with --quality: number of fits for the stability score (default 5; 0 to skip it)"),
	CLI_INTO_OPTION,
	CLI_VALUE("new-clusters", "yes|no|auto",
	          "with --into: which clusters get new numbers. auto (default): those that probably "
	          "continue no cluster of the model; yes: also doubtful ones; no: none"),
	CLI_H5AD_OPTION,
	CLI_TABLE_OPTION,
	CLI_FLAG("strict", "exit with status 5 if the method did not converge"),
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

/* -k of each data set, or one for all. */
typedef struct clusters {
	int64_t *from, *to, given; /* to be freed; 0: the method finds k */
	bool range;
} clusters;

static int check_k(int64_t given, int64_t ntasks)
{
	if (given == 1 || given == ntasks)
		return EXIT_DONE;
	return cli_usage_error(
	        "-k has %lld values for %lld data set%s; give one value for all, or one for each",
	        (long long)given, (long long)ntasks, CLI_S(ntasks));
}

/* A whole number from 1, and what follows it. */
static bool read_number(const char *text, int64_t *out, char **end)
{
	errno = 0;
	*out = strtoll(text, end, 10);
	return *end != text && !errno && *out >= 1;
}

/* One number or range; false after an error was printed. */
static bool parse_item(const char *item, const kdr_algo *algo, int64_t *from, int64_t *to)
{
	const bool automatic = algo->flags & KDR_ALGO_AUTO_K;
	char *end;
	*from = *to = 0;
	if (strcmp(item, "auto") == 0) {
		if (!automatic)
			cli_error(
			        "-k auto: method '%s' cannot find k; 'kindred methods' lists those that can",
			        algo->id);
		return automatic;
	}
	bool ok = read_number(item, from, &end);
	if (ok && *end == '-')
		ok = read_number(end + 1, to, &end) && *to >= *from && *to - *from < KDR_LEVELS_MOST;
	else
		*to = *from;
	if (ok && !*end)
		return true;
	cli_error(
	        "-k: '%s' is not allowed: a whole number from 1, or a range of at most %d numbers from 1 such as 3-8%s",
	        item, KDR_LEVELS_MOST, automatic ? ", or auto" : "");
	return false;
}

/* -k 4, -k 3,4,5 or -k 3-8. False after an error was printed. */
static bool parse_k(const char *text, const kdr_algo *algo, clusters *k)
{
	cli_list list;
	if (!cli_list_split(text, &list))
		return false;
	bool ok = true, found = false;
	k->given = list.count;
	k->from = calloc((size_t)list.count, sizeof *k->from);
	k->to = calloc((size_t)list.count, sizeof *k->to);
	if (!k->from || !k->to) {
		cli_error("out of memory");
		ok = false;
	}
	for (int64_t t = 0; t < list.count && ok; t++) {
		ok = parse_item(list.items[t], algo, &k->from[t], &k->to[t]);
		found = found || k->from[t] == 0;
		k->range = k->range || strchr(list.items[t], '-');
	}
	if (ok && k->range && found) {
		cli_error(
		        "-k %s: a range and auto cannot be combined; give a number or a range for every data set",
		        text);
		ok = false;
	}
	cli_list_free(&list);
	return ok;
}

/* --into and --new-clusters. Exit status. */
static int cluster_into(const cli_args *args, kdr_job_options *o)
{
	static const char *const choices[] = { "auto", "yes", "no", NULL };
	const char *text = cli_get(args, "new-clusters", NULL);
	const int choice = text ? kdri_word_index(choices, text) : 0;
	if (choice < 0)
		return cli_usage_error("--new-clusters: '%s' is not allowed; use yes, no or auto", text);
	if (text)
		o->new_clusters = (kdr_new_clusters)choice;
	return EXIT_DONE;
}

/* Reads the command line, before any file is read. `k`: to be freed. */
static int cluster_parse(kdr_context *ctx, const cli_args *args, cli_job *job, kdr_job_options *o,
                         clusters *k)
{
	const char *text = cli_get(args, "clusters", NULL), *transfer = cli_get(args, "transfer", NULL);
	int count = cli_positional_count(args);
	CLI_DO(cli_job_read(ctx, args, KDR_FAMILY_CLUSTER, job));
	if (transfer)
		CLI_DO(cli_job_switch(ctx, "--[no-]transfer", "transfer", transfer, job));
	*o = job->wanted;
	CLI_DO(cluster_into(args, o));
	const bool into = cli_get(args, "into", NULL) != NULL;
	if (into && !(job->algo->flags & KDR_ALGO_AUTO_K))
		return cli_usage_error("--into adds data sets with method auto; remove -m %s",
		                       job->wanted.method);
	if (into && text && strcmp(text, "auto") == 0)
		return cli_usage_error(
		        "-k auto cannot be combined with --into; omit -k to use the number of clusters of the model, or give a number");
	if (!text && into)
		text = "auto"; /* the number of clusters of the model */
	if (!text)
		return cli_usage_error(
		        "cluster needs -k: the number of clusters, or auto to let kindred suggest it");
	/* How many tasks a column of them gives is known when it is read. */
	bool counted = count > 0 && !cli_get(args, "task-column", NULL) && !cli_get(args, "batch-key", NULL);
	if (!parse_k(text, job->algo, k))
		return EXIT_USAGE;
	if (counted)
		CLI_DO(check_k(k->given, count));
	if (k->range && cli_get(args, "init", NULL))
		return cli_usage_error(
		        "--init has the labels of one number of clusters, but -k %s is a range; give one number",
		        text);
	o->k = k->from[0];
	o->each_k = k->given == 1 ? NULL : k->from;
	o->k_to = k->range && k->given == 1 ? k->to[0] : 0;
	o->each_k_to = k->range && k->given > 1 ? k->to : NULL;
	o->neighbours = true;
	o->pooled = cli_flag(args, "pooled");
	o->quality = cli_flag(args, "quality");
	return cli_resamples(args, &o->resamples) ? EXIT_DONE : EXIT_USAGE;
}

/* Reads the data sets and checks the outputs. */
static int cluster_read(kdr_context *ctx, const cli_args *args, int64_t given, cli_tasks *tasks)
{
	CLI_DO(cli_tasks_read_positional(ctx, args, tasks));
	CLI_DO(check_k(given, tasks->count));
	CLI_DO(cli_tasks_truth(ctx, args, 0, tasks));
	CLI_DO(cli_tasks_init(ctx, args, tasks));
	CLI_DO(cli_tasks_known(args, tasks));
	if (cli_rank() > 0) /* only the first rank writes */
		return EXIT_DONE;
	CLI_DO(cli_outputs_check(ctx, args, tasks, true));
	return cli_write_back(ctx, args, tasks, 0, NULL, NULL);
}

static int cluster_run(cli_args *args)
{
	cli_tasks tasks = { 0 };
	cli_job job = { 0 };
	kdr_job_options o;
	clusters k = { 0 };
	cli_run done = { .args = args, .tasks = &tasks, .start = cli_now() };
	kdr_context *ctx;
	CLI_DO(cli_session_open(args, &ctx));
	int code = cli_ranks_join(ctx, args);
	if (code == EXIT_DONE)
		code = cluster_parse(ctx, args, &job, &o, &k);
	if (code == EXIT_DONE)
		code = cli_tasks_into(ctx, args, &tasks);
	if (code == EXIT_DONE)
		code = cluster_read(ctx, args, k.given, &tasks);
	code = cli_ranks_agree(code);
	if (code != EXIT_DONE)
		goto done;
	o.score = tasks.scored;
	o.init = tasks.start;
	o.known_files = tasks.known;
	o.nknown_files = tasks.known ? tasks.count : 0;
	o.must_link = cli_get(args, "must-link", NULL);
	o.cannot_link = cli_get(args, "cannot-link", NULL);
	o.into = tasks.model;
	cli_session_limit(ctx);
	kdr_status st = kdr_cluster(ctx, tasks.data, tasks.count, &o, &done.result);
	code = st == KDR_OK ? cli_outputs_finish(ctx, &done) : cli_fail(ctx, st);
	if (code == EXIT_DONE)
		code = cli_job_exit(args, done.result);
done:
	code = cli_ranks_agree(code);
	free(k.from);
	free(k.to);
	kdr_result_free(done.result);
	cli_job_free(&job);
	cli_tasks_free(&tasks);
	return cli_session_close(ctx, code);
}

const cli_command cli_cluster = {
	.name = "cluster",
	.usage = "[-m METHOD] (-k K[,K2,...] | --into MODEL) [OPTION...] TASK...",
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
	           "kindred cluster -k 3 --truth species.txt iris.csv\n"
	           "# a few known classes steer the clusters: one line per sample, '?' if unknown\n"
	           "kindred cluster -k 4 -o out --known some.txt customers.csv\n"
	           "# every number of clusters from 3 to 8, then the files for 5 of them\n"
	           "kindred cluster -k 3-8 -o out customers.csv\n"
	           "kindred cut -k 5 -o five out/result.json\n"
	           "# a further data set, in the clusters of a saved model\n"
	           "kindred cluster --into model.h5 --save-model model2.h5 -o out2 washington.mtx",
	.groups = groups,
	.completes_files = true,
	.run = cluster_run,
};
