/* kindred transfer. SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"
#include "core/system.h"

#include <string.h>

static const cli_option own_options[] = {
	CLI_JOB("method"),
	CLI_VALUE("source", "[NAME=]FILE", "a labelled data set; may be given several times",
	          .repeats = true),
	CLI_VALUE("labels", "FILE", "classes of a source, one per line; give one file for each --source",
	          .repeats = true),
	CLI_VALUE("target", "[NAME=]FILE",
	          "a data set to label; may be given several times, then each is named after its file; it "
	          "need not have the --label-column",
	          .repeats = true),
	CLI_VALUE("bridge", "FILE",
	          "an unlabelled data set between source and target, or two views of it (FILE,FILE: with "
	          "the features of the source, with those of the target); of several, the best is used if "
	          "the method uses only one",
	          .repeats = true),
	CLI_JOB("bridge-all"),
	CLI_VALUE("selector", "FILE", "rank bridges with a trained selection model instead of fitting each"),
	CLI_VALUE("train-selector", "FILE",
	          "train a selection model on three or more --source with --labels, and save it"),
	CLI_VALUE("target-labels", "FILE",
	          "known classes of the target, which stay fixed: one line per sample, '?' if unknown; or a "
	          "file that --ask wrote, with classes filled in (may be given several times)",
	          .repeats = true),
	CLI_JOB("set features-from features-set"),
	CLI_EXPLAIN_OPTION,
	CLI_VALUE("truth", "FILE[,FILE...]",
	          "known classes of each target, one per line; used only for scoring"),
	CLI_JOB("*main"),
	CLI_FLAG("score", "score against the known classes in <stem>.labels next to each target"),
	CLI_INTO_OPTION,
	CLI_H5AD_OPTION,
	CLI_TABLE_OPTION,
	CLI_FLAG("strict", "exit with status 5 if the method did not converge"),
	CLI_OPTIONS_END,
};

typedef struct bridge_list {
	int count;  /* candidates */
	bool views; /* each is two files: the same samples in the source's features and in the target's */
	const char **path; /* count x (1 + views): first views, then second ones */
} bridge_list;

/* The data sets of one run: sources first, then bridges, then targets. */
typedef struct transfer {
	int sources, bridges, targets;
	bridge_list candidates;
	bool several;    /* the method takes as many bridges as there are */
	bool one_bridge; /* the method takes one: it is chosen among the candidates */
	kdr_task_path *list;
	kdr_selector selector;
} transfer;

static int count_of(const cli_args *args, const char *option)
{
	int n = 0;
	while (cli_get_nth(args, option, n))
		n++;
	return n;
}

/* The name in NAME=FILE, or "source", then "source2", "source3". Several targets have the names of their files, a single one is "target".
 * Only sources need classes. */
static void transfer_fill(kdr_task_path *to, const cli_args *args, const char *option, int count)
{
	for (int i = 0; i < count; i++) {
		to[i] = cli_task_at(cli_get_nth(args, option, i));
		to[i].may_lack_labels = strcmp(option, "source") != 0;
		if (!to[i].name && !(count > 1 && strcmp(option, "target") == 0))
			to[i].name = i == 0 ? option : cli_format("%s%d", option, i + 1);
	}
}

/* Reads every --bridge. */
static void parse_bridges(const cli_args *args, bridge_list *out)
{
	int single = 0;
	out->count = count_of(args, "bridge");
	out->path = cli_new((size_t)out->count * 2, sizeof *out->path);
	for (int k = 0; k < out->count; k++) {
		const char *text = cli_get_nth(args, "bridge", k);
		/* A file whose own name holds a comma is still one file. */
		cli_list files = cli_list_split(text);
		const bool two = files.count > 1 && !kdri_exists(text);
		if (two && files.count > 2)
			cli_usage_error(
			        "--bridge %s: give one file, or two files with two views of the same samples",
			        text);
		out->path[k] = two ? files.items[0] : text;
		out->path[out->count + k] = two ? files.items[1] : NULL;
		single += !two;
	}
	out->views = out->count > 0 && single == 0;
	if (single > 0 && single < out->count)
		cli_usage_error(
		        "--bridge: %d of %d bridges have two views; give two views for all of them, or for none",
		        out->count - single, out->count);
}

/* Number of files. */
static int bridge_files(const bridge_list *b)
{
	return b->count * (b->views ? 2 : 1);
}

/* Bridges are named like sources; candidates to choose from by their files. */
static void fill_bridges(kdr_task_path *to, const bridge_list *b)
{
	for (int i = 0; i < bridge_files(b); i++)
		to[i] = (kdr_task_path){ b->path[i],
			                 b->count > 1 ? NULL
			                 : i > 0      ? "bridge-view2"
			                              : "bridge",
			                 true };
}

static void check_counts(const cli_args *args, const transfer *t)
{
	bool training = cli_get(args, "train-selector", NULL);
	if (cli_get(args, "into", NULL)) {
		if (training || t->sources > 0 || t->bridges > 0 || t->targets == 0)
			cli_usage_error(
			        "transfer --into MODEL takes the source from the model: give one or more targets, and no --source, --bridge or --train-selector");
		return;
	}
	if (training && (t->targets > 0 || t->bridges > 0 || t->sources < 3))
		cli_usage_error(
		        "--train-selector needs three or more --source with --labels, and no --target or --bridge");
	if (!training && (t->sources == 0 || t->targets == 0))
		cli_usage_error("transfer needs %s%s%s", t->sources ? "" : "--source FILE",
		                t->sources || t->targets ? "" : " and ", t->targets ? "" : "--target FILE");
	if (t->candidates.views && !t->one_bridge && !t->several)
		cli_usage_error(
		        "--bridge %s,...: this method does not use two views of a bridge; use the default method, or give one file",
		        t->candidates.path[0]);
	if ((cli_flag(args, "bridge-all") || cli_get(args, "selector", NULL)) &&
	    !(t->one_bridge && t->candidates.count > 1))
		cli_usage_error(
		        "--bridge-all and --selector need several --bridge and a method that uses one of them");
}

static void transfer_collect(const cli_args *args, transfer *t)
{
	const bool into = cli_get(args, "into", NULL) != NULL;
	const int further = into ? cli_positional_count(args) : 0, labels = count_of(args, "labels");
	parse_bridges(args, &t->candidates);
	t->sources = count_of(args, "source");
	t->bridges = bridge_files(&t->candidates);
	t->targets = count_of(args, "target") + further;
	bool split = cli_get(args, "task-column", NULL) || cli_get(args, "batch-key", NULL);
	check_counts(args, t);
	if (labels != t->sources && labels != 0)
		cli_usage_error("%d --labels for %d --source; give one --labels FILE for each, in order",
		                labels, t->sources);
	if (split && t->bridges > 0)
		cli_usage_error(
		        "--bridge cannot be combined with --task-column or --batch-key, because a bridge is one data set");
	if (cli_positional_count(args) > further)
		cli_usage_error(
		        "unexpected argument '%s'; specify data sets with --source, --bridge and --target",
		        cli_positional(args, 0));
	t->list = cli_new((size_t)t->sources + (size_t)t->bridges + (size_t)t->targets, sizeof *t->list);
	transfer_fill(t->list, args, "source", t->sources);
	if (t->one_bridge || t->several)
		fill_bridges(t->list + t->sources, &t->candidates);
	else
		transfer_fill(t->list + t->sources, args, "bridge", t->bridges);
	kdr_task_path *target = t->list + t->sources + t->bridges;
	if (!into)
		transfer_fill(target, args, "target", t->targets);
	/* named after their files: the model has its own names */
	for (int i = 0; into && i < t->targets; i++) {
		target[i] = cli_task_at(i < further ? cli_positional(args, i)
		                                    : cli_get_nth(args, "target", i - further));
		target[i].may_lack_labels = true;
	}
}

/* Files that a column of tasks made several of are as many sources, or targets. */
static void count_tasks(transfer *t, cli_run *run)
{
	int files = t->sources, all = t->sources + t->bridges;
	t->sources = t->targets = 0;
	for (int64_t i = 0; i < run->tasks.count; i++) {
		t->sources += run->tasks.from[i] < files;
		t->targets += run->tasks.from[i] >= all;
	}
	run->first = t->sources + t->bridges;
}

/* Classes of the sources and, where known, of the targets; the selector. */
static void read_classes(cli_run *run, transfer *t)
{
	const cli_tasks *tasks = &run->tasks;
	const char *path, *selector = cli_get(run->args, "selector", NULL);
	for (int i = 0; i < t->sources; i++)
		if ((path = cli_get_nth(run->args, "labels", (int)tasks->from[i])))
			cli_check_reading(kdr_data_read_labels(run->ctx, tasks->data[i], path));
		else if (!kdr_data_labels(tasks->data[i]))
			cli_usage_error(
			        "--source %s has no classes: add --labels FILE or --label-column NAME",
			        t->list[tasks->from[i]].path);
	cli_tasks_truth(run);
	if (selector)
		cli_check_reading(kdr_selector_load(run->ctx, selector, &t->selector));
}

/* --ask and --target-labels. */
static void transfer_labelling(const cli_args *args, kdr_job_options *o)
{
	if (cli_get(args, "ask", NULL) && !cli_get(args, "output", NULL))
		cli_usage_error("--ask needs -o DIR to write <target>.ask.csv to");
	o->nknown_files = count_of(args, "target-labels");
	const char **files = o->nknown_files ? cli_new((size_t)o->nknown_files, sizeof *files) : NULL;
	for (int i = 0; i < o->nknown_files; i++)
		files[i] = cli_get_nth(args, "target-labels", i);
	o->known_files = files;
}

/* All that is read and checked before the work. */
static kdr_job_options *transfer_prepare(cli_run *run, transfer *t)
{
	kdr_job_options *o = cli_job_read(run);
	t->one_bridge = cli_job_algo(run->job)->flags & KDR_ALGO_BRIDGE;
	t->several = cli_job_algo(run->job)->flags & KDR_ALGO_BRIDGES;
	transfer_collect(run->args, t);
	cli_tasks_into(run);
	transfer_labelling(run->args, o);
	cli_tasks_read(run, t->list, t->sources + t->bridges + t->targets);
	count_tasks(t, run);
	cli_tasks_explain(run);
	read_classes(run, t);
	return o;
}

/* Fits a selection model on labelled data sets and saves it. */
static void train_selector(const cli_run *run, const char *path)
{
	kdr_selector model = { 0 };
	kdr_status st = kdr_train_selector(run->ctx, run->tasks.data, run->tasks.count,
	                                   kdr_job_options_of(run->job)->prep, &model);
	if (st == KDR_OK && !cli_interrupted())
		st = kdr_selector_save(run->ctx, path, &model, cli_flag(run->args, "force"));
	if (cli_interrupted())
		cli_end(EXIT_INTERRUPTED);
	cli_check(st);
	if (!cli_quiet(run->args))
		cli_printf(
		        "selection model trained on %lld triples; the bridge helps in %lld of them\nwritten: %s\n",
		        (long long)model.triples, (long long)model.helpful, path);
}

static void transfer_run(cli_run *run)
{
	transfer t = { 0 };
	cli_session_open(run);
	cli_ranks_join(run);
	kdr_job_options *o = transfer_prepare(run, &t);
	if (cli_get(run->args, "train-selector", NULL)) {
		train_selector(run, cli_get(run->args, "train-selector", NULL));
		return;
	}
	cli_job_ready(run);
	kdr_data **data = run->tasks.data;
	const int bridges = t.candidates.count;
	const kdr_transfer_sets sets = { .size = sizeof sets,
		                         .sources = data,
		                         .nsources = t.sources,
		                         .bridges = data + t.sources,
		                         .nbridges = bridges,
		                         .views = t.candidates.views ? data + t.sources + bridges : NULL,
		                         .targets = data + run->first,
		                         .ntargets = t.targets };
	o->score = run->tasks.scored;
	o->into = run->tasks.model;
	o->selector = cli_get(run->args, "selector", NULL) ? &t.selector : NULL;
	cli_check(kdr_transfer(run->ctx, &sets, o, &run->result));
	cli_job_finish(run);
}

cli_command cli_transfer = {
	.name = "transfer",
	.usage =
	        "[-m METHOD] (--source FILE --labels FILE --target FILE [--bridge FILE]... | --into MODEL TARGET...) [OPTION...]",
	.summary = "label a data set with the classes of a labelled one",
	.description =
	        "Labels the target with the classes of the source. The classes are in a file (--labels, one line per sample) or in a "
	        "column (--label-column). Columns are matched by name if all data sets have names, otherwise by position.\n\n"
	        "Some methods reach a distant target through a bridge. With several --bridge options, kindred uses the best one: the "
	        "bridge over which most of the source's classes are recovered from the target, or the one that --selector ranks as "
	        "most likely to help. A table shows the reasons. If source and target have different features, use --bridge A,B: "
	        "two views of the same samples.\n\n"
	        "Without -o, the result is printed to standard output as JSON. With -o DIR, it is written to DIR, together with "
	        "target.labels: one line per sample with its class. Several targets have one file each, named after the target's "
	        "file.",
	.example = "kindred transfer --source books.mtx --labels books.labels \\\n"
	           "    --target kitchen.mtx --weight tfidf --norm l2 -o out",
	.groups = { { "Main options", own_options }, { "Output", cli_output_options }, CLI_DATA_GROUPS },
	.run = transfer_run,
};
