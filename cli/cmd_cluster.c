/* kindred cluster. SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"

#include <string.h>

static const cli_option own_options[] = {
	CLI_JOB("method clusters set features-from features-set transfer pooled"),
	CLI_VALUE("init", "FILE[,FILE...]",
	          "initial labels of each data set, one number per line; the method runs once, starting "
	          "from these labels"),
	CLI_VALUE("known", "FILE[,FILE...]",
	          "methods auto and kmeans: classes of some samples of each data set, which steer and name "
	          "the clusters: one line per sample, '?' if unknown; or a CSV file with id and class of "
	          "some samples, one for all data sets or one each. '?' instead of FILE for a data set "
	          "without known classes"),
	CLI_VALUE("known-column", "NAME",
	          "methods auto and kmeans: the column of the data files, or of AnnData's obs, that has the "
	          "known classes, empty if unknown; it is not a feature"),
	CLI_EXPLAIN_OPTION,
	CLI_VALUE("truth", "FILE[,FILE...]",
	          "known classes of each data set, one per line; used only for scoring"),
	CLI_FLAG("score", "score against the known classes in <stem>.labels next to each data file"),
	CLI_JOB("quality resamples"),
	CLI_INTO_OPTION,
	CLI_JOB("*main"),
	CLI_NAMES_OPTION,
	CLI_H5AD_OPTION,
	CLI_TABLE_OPTION,
	CLI_FLAG("strict", "exit with status 5 if the method did not converge"),
	CLI_OPTIONS_END,
};

/* Reads the command line, before any file is read. */
static kdr_job_options *cluster_parse(cli_run *run)
{
	const cli_args *args = run->args;
	const char *k = cli_get(args, "clusters", NULL);
	const bool into = cli_get(args, "into", NULL) != NULL;
	const int count = cli_positional_count(args);
	kdr_job_options *o = cli_job_read(run);
	if (into && !(cli_job_algo(run->job)->flags & KDR_ALGO_AUTO_K))
		cli_usage_error("--into adds data sets with method auto; remove -m %s",
		                cli_job_algo(run->job)->id);
	if (into && k && strcmp(k, "auto") == 0)
		cli_usage_error(
		        "-k auto cannot be combined with --into; omit -k to use the number of clusters of the model, or give a number");
	if (!into && !k)
		cli_usage_error(
		        "cluster needs -k: the number of clusters, or auto to let kindred suggest it");
	/* How many tasks a column of them gives is known when it is read. */
	if (o->neach_k && count > 0 && o->neach_k != count && !cli_get(args, "task-column", NULL) &&
	    !cli_get(args, "batch-key", NULL))
		cli_usage_error("-k has %lld values for %s; give one value for all, or one for each",
		                (long long)o->neach_k, cli_count(count, "data set"));
	return o;
}

static void cluster_run(cli_run *run)
{
	const cli_tasks *tasks = &run->tasks;
	cli_session_open(run);
	cli_ranks_join(run);
	kdr_job_options *o = cluster_parse(run);
	cli_tasks_into(run);
	cli_names_read(run);
	cli_tasks_read_positional(run);
	cli_tasks_explain(run);
	cli_tasks_truth(run);
	cli_tasks_init(run);
	cli_tasks_known(run);
	cli_job_ready(run);
	o->score = tasks->scored;
	o->init = tasks->start;
	o->known_files = tasks->known;
	o->known_in_data = cli_get(run->args, "known-column", NULL) != NULL;
	o->nknown_files = tasks->known ? tasks->count : 0;
	o->into = tasks->model;
	cli_check(kdr_cluster(run->ctx, tasks->data, tasks->count, o, &run->result));
	cli_names_read(run);
	cli_job_finish(run);
}

cli_command cli_cluster = {
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
	.groups = { { "Main options", own_options }, { "Output", cli_output_options }, CLI_DATA_GROUPS },
	.completes_files = true,
	.run = cluster_run,
};
