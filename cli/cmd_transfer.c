/* kindred transfer. SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"
#include "core/system.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static cli_option_group groups[] = {
	{ "Main options", own_options },
	{ "Output", cli_output_options },
	{ "Preprocessing, in this order", cli_prep_options },
	{ "Input files", cli_reading_options },
	CLI_TEXT_GROUPS,
	{ "Common", cli_common_options },
	{ NULL, NULL },
};

typedef struct bridge_list {
	int count;   /* candidates */
	bool views;  /* each is two files: the same samples in the source's features and in the target's */
	char **path; /* count x (1 + views): first views, then second ones */
} bridge_list;

/* The data sets of one run: sources first, then bridges, then targets. */
typedef struct transfer {
	int sources, bridges, targets;
	bridge_list candidates;
	bool several;    /* the method takes as many bridges as there are */
	bool one_bridge; /* the method takes one: it is chosen among the candidates */
	cli_task_arg *list;
	cli_tasks tasks;
	const char **known; /* --target-labels */
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
static void transfer_fill(cli_task_arg *to, const cli_args *args, const char *option, int count)
{
	for (int i = 0; i < count; i++) {
		cli_task_split(cli_get_nth(args, option, i), to[i].name, sizeof to[i].name, &to[i].path);
		to[i].may_lack_labels = strcmp(option, "source") != 0;
		if (to[i].name[0] || (count > 1 && strcmp(option, "target") == 0))
			continue;
		if (i == 0)
			snprintf(to[i].name, sizeof to[i].name, "%s", option);
		else
			snprintf(to[i].name, sizeof to[i].name, "%s%d", option, i + 1);
	}
}

/* Reads every --bridge. Exit status. */
static int parse_bridges(const cli_args *args, bridge_list *out)
{
	int single = 0;
	out->count = count_of(args, "bridge");
	out->path = calloc((size_t)out->count * 2 + 1, sizeof *out->path);
	if (!out->path)
		return cli_no_memory();
	for (int k = 0; k < out->count; k++) {
		const char *text = cli_get_nth(args, "bridge", k), *comma = strchr(text, ',');
		/* A file whose own name holds a comma is still one file. */
		const bool two = comma && !kdri_exists(text);
		if (two && strchr(comma + 1, ','))
			return cli_usage_error(
			        "--bridge %s: give one file, or two files with two views of the same samples",
			        text);
		out->path[k] = strdup(text);
		out->path[out->count + k] = two ? strdup(comma + 1) : NULL;
		if (!out->path[k] || (two && !out->path[out->count + k]))
			return cli_no_memory();
		if (two)
			out->path[k][comma - text] = '\0';
		single += !two;
	}
	out->views = out->count > 0 && single == 0;
	if (single > 0 && single < out->count)
		return cli_usage_error(
		        "--bridge: %d of %d bridges have two views; give two views for all of them, or for none",
		        out->count - single, out->count);
	return EXIT_DONE;
}

/* Number of files. */
static int bridge_files(const bridge_list *b)
{
	return b->count * (b->views ? 2 : 1);
}

/* Bridges are named like sources; candidates to choose from by their files. */
static void fill_bridges(cli_task_arg *to, const bridge_list *b)
{
	for (int i = 0; i < bridge_files(b); i++) {
		to[i].path = b->path[i];
		to[i].may_lack_labels = true;
		if (b->count == 1)
			snprintf(to[i].name, sizeof to[i].name, i ? "bridge-view2" : "bridge");
	}
}

static int check_counts(const cli_args *args, const transfer *t)
{
	bool training = cli_get(args, "train-selector", NULL);
	if (cli_get(args, "into", NULL)) {
		if (training || t->sources > 0 || t->bridges > 0 || t->targets == 0)
			return cli_usage_error(
			        "transfer --into MODEL takes the source from the model: give one or more targets, and no --source, --bridge or --train-selector");
		return EXIT_DONE;
	}
	if (training && (t->targets > 0 || t->bridges > 0 || t->sources < 3))
		return cli_usage_error(
		        "--train-selector needs three or more --source with --labels, and no --target or --bridge");
	if (!training && (t->sources == 0 || t->targets == 0))
		return cli_usage_error("transfer needs %s%s%s", t->sources ? "" : "--source FILE",
		                       t->sources || t->targets ? "" : " and ",
		                       t->targets ? "" : "--target FILE");
	if (t->candidates.views && !t->one_bridge && !t->several)
		return cli_usage_error(
		        "--bridge %s,...: this method does not use two views of a bridge; use the default method, or give one file",
		        t->candidates.path[0]);
	if ((cli_flag(args, "bridge-all") || cli_get(args, "selector", NULL)) &&
	    !(t->one_bridge && t->candidates.count > 1))
		return cli_usage_error(
		        "--bridge-all and --selector need several --bridge and a method that uses one of them");
	return EXIT_DONE;
}

static int transfer_collect(const cli_args *args, transfer *t)
{
	CLI_DO(parse_bridges(args, &t->candidates));
	t->sources = count_of(args, "source");
	t->bridges = bridge_files(&t->candidates);
	t->targets = count_of(args, "target");
	const int further = cli_get(args, "into", NULL) ? cli_positional_count(args) : 0;
	t->targets += further;
	int labels = count_of(args, "labels");
	bool split = cli_get(args, "task-column", NULL) || cli_get(args, "batch-key", NULL);
	CLI_DO(check_counts(args, t));
	if (labels != t->sources && labels != 0)
		return cli_usage_error(
		        "%d --labels for %d --source; give one --labels FILE for each, in order", labels,
		        t->sources);
	if (split && t->bridges > 0)
		return cli_usage_error(
		        "--bridge cannot be combined with --task-column or --batch-key, because a bridge is one data set");
	if (cli_positional_count(args) > further)
		return cli_usage_error(
		        "unexpected argument '%s'; specify data sets with --source, --bridge and --target",
		        cli_positional(args, 0));
	cli_task_arg *list =
	        calloc((size_t)t->sources + (size_t)t->bridges + (size_t)t->targets, sizeof *list);
	t->list = list;
	if (!list)
		return cli_no_memory();
	transfer_fill(list, args, "source", t->sources);
	if (t->one_bridge || t->several)
		fill_bridges(list + t->sources, &t->candidates);
	else
		transfer_fill(list + t->sources, args, "bridge", t->bridges);
	cli_task_arg *target = list + t->sources + t->bridges;
	if (!cli_get(args, "into", NULL))
		transfer_fill(target, args, "target", t->targets);
	for (int i = 0; cli_get(args, "into", NULL) && i < t->targets;
	     i++) { /* named after their files: the model has its own names */
		const char *text =
		        i < further ? cli_positional(args, i) : cli_get_nth(args, "target", i - further);
		cli_task_split(text, target[i].name, sizeof target[i].name, &target[i].path);
		target[i].may_lack_labels = true;
	}
	return EXIT_DONE;
}

/* Files that a column of tasks made several of are as many sources, or targets. */
static void count_tasks(transfer *t)
{
	int files = t->sources, all = t->sources + t->bridges;
	t->sources = t->targets = 0;
	for (int64_t i = 0; i < t->tasks.count; i++) {
		t->sources += t->tasks.from[i] < files;
		t->targets += t->tasks.from[i] >= all;
	}
}

/* Classes of the sources and, where known, of the targets; the selector. */
static int read_classes(kdr_context *ctx, const cli_args *args, transfer *t)
{
	const char *selector = cli_get(args, "selector", NULL);
	const char *path;
	int code = EXIT_DONE;
	kdr_status st = KDR_OK;
	for (int i = 0; i < t->sources && code == EXIT_DONE; i++) {
		if ((path = cli_get_nth(args, "labels", (int)t->tasks.from[i])))
			code = cli_labels_read(ctx, path, t->tasks.data[i]);
		else if (!kdr_data_labels(t->tasks.data[i]))
			code = cli_usage_error(
			        "--source %s has no classes: add --labels FILE or --label-column NAME",
			        t->list[t->tasks.from[i]].path);
	}
	if (code == EXIT_DONE)
		code = cli_tasks_truth(ctx, args, t->sources + t->bridges, &t->tasks);
	if (code == EXIT_DONE && selector)
		st = kdr_selector_load(ctx, selector, &t->selector);
	return st == KDR_OK ? code : cli_code_reading(ctx, st);
}

static void transfer_release(transfer *t)
{
	for (int k = 0; t->candidates.path && k < 2 * t->candidates.count; k++)
		free(t->candidates.path[k]);
	free(t->candidates.path);
	free(t->known);
	free(t->list);
	cli_tasks_free(&t->tasks);
}

/* Data, job and truth to labels of the targets. */
static kdr_status label(kdr_context *ctx, const cli_args *args, transfer *t, kdr_job *job, kdr_result **out)
{
	kdr_data **data = t->tasks.data;
	int bridges = t->candidates.count;
	const kdr_transfer_sets sets = { .size = sizeof sets,
		                         .sources = data,
		                         .nsources = t->sources,
		                         .bridges = data + t->sources,
		                         .nbridges = bridges,
		                         .views = t->candidates.views ? data + t->sources + bridges : NULL,
		                         .targets = data + t->sources + t->bridges,
		                         .ntargets = t->targets };
	kdr_job_options *o = kdr_job_options_of(job);
	o->score = t->tasks.scored;
	o->into = t->tasks.model;
	o->known_files = t->known;
	o->nknown_files = t->known ? count_of(args, "target-labels") : 0;
	o->selector = cli_get(args, "selector", NULL) ? &t->selector : NULL;
	cli_session_limit(ctx);
	return kdr_transfer(ctx, &sets, o, out);
}

/* --ask and --target-labels. Exit status. */
static int transfer_labelling(const cli_args *args, transfer *t)
{
	const int files = count_of(args, "target-labels");
	if (cli_get(args, "ask", NULL) && !cli_get(args, "output", NULL))
		return cli_usage_error("--ask needs -o DIR to write <target>.ask.csv to");
	if (files > 0 && !(t->known = calloc((size_t)files, sizeof *t->known)))
		return cli_no_memory();
	for (int i = 0; i < files; i++)
		t->known[i] = cli_get_nth(args, "target-labels", i);
	return EXIT_DONE;
}

/* All that is read and checked before the work. Exit status; *first: where the targets begin. */
static int transfer_prepare(kdr_context *ctx, const cli_args *args, kdr_job **job, transfer *t,
                            int64_t *first)
{
	CLI_DO(cli_job_read(ctx, args, job));
	t->one_bridge = cli_job_algo(*job)->flags & KDR_ALGO_BRIDGE;
	t->several = cli_job_algo(*job)->flags & KDR_ALGO_BRIDGES;
	CLI_DO(transfer_collect(args, t));
	CLI_DO(cli_tasks_into(ctx, args, &t->tasks));
	CLI_DO(transfer_labelling(args, t));
	CLI_DO(cli_tasks_read(ctx, args, t->list, t->sources + t->bridges + t->targets, &t->tasks));
	count_tasks(t);
	CLI_DO(cli_tasks_explain(ctx, args, t->sources + t->bridges, &t->tasks));
	CLI_DO(read_classes(ctx, args, t));
	if (cli_get(args, "train-selector", NULL) || cli_rank() > 0)
		return EXIT_DONE;
	*first = t->sources + t->bridges;
	CLI_DO(cli_outputs_check(ctx, args, &t->tasks, true));
	return cli_write_back(ctx, args, &t->tasks, *first, NULL, NULL);
}

/* Fits a selection model on labelled data sets and saves it. Exit status. */
static int train_selector(kdr_context *ctx, const cli_args *args, const cli_tasks *tasks, kdr_job *job)
{
	const char *path = cli_get(args, "train-selector", NULL);
	kdr_selector model = { 0 };
	kdr_status st =
	        kdr_train_selector(ctx, tasks->data, tasks->count, kdr_job_options_of(job)->prep, &model);
	if (st == KDR_OK && !cli_interrupted())
		st = kdr_selector_save(ctx, path, &model, cli_flag(args, "force"));
	if (cli_interrupted())
		return EXIT_INTERRUPTED;
	if (st != KDR_OK)
		return cli_fail(ctx, st);
	if (!cli_quiet(args))
		cli_printf(
		        "selection model trained on %lld triples; the bridge helps in %lld of them\nwritten: %s\n",
		        (long long)model.triples, (long long)model.helpful, path);
	return EXIT_DONE;
}

static int transfer_run(cli_args *args)
{
	transfer t = { 0 };
	kdr_job *job = NULL;
	cli_run done = { .args = args, .tasks = &t.tasks, .start = cli_now() };
	kdr_context *ctx;
	CLI_DO(cli_session_open(args, &ctx));
	int code = cli_ranks_join(ctx, args);
	if (code == EXIT_DONE)
		code = transfer_prepare(ctx, args, &job, &t, &done.first);
	if ((code = cli_ranks_agree(code)) != EXIT_DONE)
		goto done;
	if (cli_get(args, "train-selector", NULL)) {
		code = train_selector(ctx, args, &t.tasks, job);
		goto done;
	}
	kdr_status st = label(ctx, args, &t, job, &done.result);
	code = st == KDR_OK ? cli_outputs_finish(ctx, &done) : cli_fail(ctx, st);
	if (code == EXIT_DONE)
		code = cli_job_exit(args, done.result);
done:
	code = cli_ranks_agree(code);
	kdr_result_free(done.result);
	kdr_job_free(job);
	transfer_release(&t);
	return cli_session_close(ctx, code);
}

const cli_command cli_transfer = {
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
	.groups = groups,
	.run = transfer_run,
};
