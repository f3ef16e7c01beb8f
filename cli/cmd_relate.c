/* kindred relate. SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const cli_option own_options[] = {
	{ .name = "json", .help = "print JSON" },
	{ .name = "rare",
	  .value = "SHARE",
	  .help = "complexity: a feature is rare if fewer than this share of the samples have it (default 0.1)" },
	{ .name = "folds",
	  .value = "N",
	  .help = "A-distance: the classifier's error is measured on N parts held out in turn (default 5)" },
	{ .name = "most-rows",
	  .value = "N",
	  .help = "Gaussian MMD: use at most N samples of each task, a fixed choice (default 4000)" },
	{ .name = "mmd", .negatable = true, .help = "leave the MMD out with --no-mmd" },
	{ .name = "output", .letter = 'o', .value = "DIR", .help = "write result.json to DIR" },
	{ .name = "force", .help = "replace an existing result" },
	CLI_OPTIONS_END,
};

static const cli_option_group groups[] = {
	{ "Options", own_options },
	{ "Preprocessing, in this order", cli_prep_options },
	{ "Reading", cli_reading_options },
	{ "Common", cli_common_options },
	{ NULL, NULL },
};

typedef struct relation {
	cli_tasks tasks;
	kdr_relate_task *measures;
	kdr_relate_pair *pairs;
	int64_t npairs;
	double *nearness;                /* tasks x tasks */
	char (*advice)[KDR_ADVICE_ROOM]; /* a sentence a task */
} relation;

static bool read_options(const cli_args *args, kdr_relate_options *o)
{
	kdr_relate_default(o);
	o->no_mmd = strcmp(cli_get(args, "mmd", "1"), "0") == 0;
	return cli_get_real(args, "rare", 0, 1, &o->rare) && cli_get_int(args, "folds", 2, 1000, &o->folds) &&
	       cli_get_int(args, "most-rows", 2, INT64_MAX, &o->most_rows);
}

static int measure(kdr_context *ctx, const kdr_relate_options *o, relation *r)
{
	int64_t count = r->tasks.count;
	kdr_mat *x = calloc((size_t)count, sizeof *x);
	r->npairs = count * (count - 1) / 2;
	r->measures = calloc((size_t)count, sizeof *r->measures);
	r->pairs = calloc((size_t)r->npairs + 1, sizeof *r->pairs);
	r->nearness = calloc((size_t)(count * count), sizeof *r->nearness);
	r->advice = calloc((size_t)count, sizeof *r->advice);
	const char **names = calloc((size_t)count, sizeof *names);
	int code = EXIT_OTHER;
	if (x && r->measures && r->pairs && r->nearness && r->advice && names) {
		for (int64_t i = 0; i < count; i++) {
			x[i] = kdr_data_mat(r->tasks.data[i]);
			names[i] = kdr_data_name(r->tasks.data[i]);
		}
		cli_session_limit(ctx);
		kdr_status st = kdr_relate(ctx, x, count, o, r->measures, r->pairs);
		if (st == KDR_OK)
			st = kdr_relate_advice(ctx, x, names, count, r->nearness, r->advice);
		code = cli_interrupted() ? EXIT_INTERRUPTED : st == KDR_OK ? EXIT_DONE : cli_fail(ctx, st);
		if (code == EXIT_INTERRUPTED)
			cli_error("interrupted");
	} else {
		cli_error("out of memory");
	}
	free(names);
	free(x);
	return code;
}

/* --- output -------------------------------------------------------------------------------------- */

static void build_json(cli_json *j, const relation *r)
{
	cli_json_object(j, NULL);
	cli_json_string(j, "kindred", kdr_version());
	cli_json_string(j, "command", "relate");
	cli_json_string(j, "preprocessing", kdr_prep_describe(r->tasks.prep));
	cli_json_array(j, "tasks");
	for (int64_t i = 0; i < r->tasks.count; i++) {
		const kdr_relate_task *t = &r->measures[i];
		cli_json_object(j, NULL);
		cli_json_string(j, "name", kdr_data_name(r->tasks.data[i]));
		cli_json_string(j, "path", kdr_data_path(r->tasks.data[i]));
		cli_json_int(j, "n", t->samples);
		cli_json_int(j, "d", t->features);
		cli_json_int(j, "observed_features", t->observed);
		cli_json_real(j, "complexity", t->complexity);
		cli_json_real(j, "complexity_observed", t->complexity_observed);
		cli_json_string(j, "advice", r->advice[i]);
		cli_json_end_object(j);
	}
	cli_json_end_array(j);
	cli_json_array(j, "pairs");
	for (int64_t k = 0; k < r->npairs; k++) {
		const kdr_relate_pair *p = &r->pairs[k];
		cli_json_object(j, NULL);
		cli_json_string(j, "from", kdr_data_name(r->tasks.data[p->a]));
		cli_json_string(j, "to", kdr_data_name(r->tasks.data[p->b]));
		cli_json_int(j, "shared_features", p->shared);
		cli_json_real(j, "overlap", p->overlap);
		cli_json_real(j, "a_distance", p->a_distance);
		cli_json_real(j, "mmd_linear", p->mmd_linear);
		cli_json_real(j, "mmd_gaussian", p->mmd_gaussian);
		cli_json_real(j, "bandwidth", p->bandwidth);
		cli_json_real(j, "nearness", r->nearness[p->a * r->tasks.count + p->b]);
		cli_json_real(j, "nearness_back", r->nearness[p->b * r->tasks.count + p->a]);
		cli_json_end_object(j);
	}
	cli_json_end_array(j);
	cli_json_array(j, "warnings");
	for (int64_t i = 0; i < kdr_prep_warning_count(r->tasks.prep); i++)
		cli_json_string(j, NULL, kdr_prep_warning_at(r->tasks.prep, i));
	cli_json_end_array(j);
	cli_json_end_object(j);
}

static int name_width(const relation *r)
{
	int widest = 4;
	for (int64_t i = 0; i < r->tasks.count; i++) {
		int length = (int)strlen(kdr_data_name(r->tasks.data[i]));
		widest = length > widest ? length : widest;
	}
	return widest;
}

/* A number, or a dash where it is not defined. */
static void print_real(int width, int digits, double value)
{
	if (isfinite(value))
		printf("  %*.*f", width, digits, value);
	else
		printf("  %*s", width, "-");
}

static void print_text(const relation *r, bool mmd)
{
	int w = name_width(r);
	printf("preprocessing: %s\n\n", kdr_prep_describe(r->tasks.prep));
	printf("%-*s  %9s  %9s  %10s  %s\n", w, "task", "samples", "features", "complexity",
	       "among observed");
	for (int64_t i = 0; i < r->tasks.count; i++) {
		const kdr_relate_task *t = &r->measures[i];
		printf("%-*s  %9lld  %9lld", w, kdr_data_name(r->tasks.data[i]), (long long)t->samples,
		       (long long)t->observed);
		print_real(10, 3, t->complexity);
		print_real(14, 3, t->complexity_observed);
		printf("\n");
	}
	if (r->npairs == 0)
		return;
	printf("\n%-*s  %-*s  %9s  %7s  %10s", w, "task", w, "task", "shared", "overlap", "A-distance");
	printf(mmd ? "  %10s  %12s\n" : "\n", "MMD linear", "MMD gaussian");
	for (int64_t k = 0; k < r->npairs; k++) {
		const kdr_relate_pair *p = &r->pairs[k];
		printf("%-*s  %-*s  %9lld", w, kdr_data_name(r->tasks.data[p->a]), w,
		       kdr_data_name(r->tasks.data[p->b]), (long long)p->shared);
		print_real(7, 3, p->overlap);
		print_real(10, 3, p->a_distance);
		if (mmd) {
			print_real(10, 5, p->mmd_linear);
			print_real(12, 5, p->mmd_gaussian);
		}
		printf("\n");
	}
	printf("\n");
	for (int64_t i = 0; i < r->tasks.count; i++)
		printf("%s\n", r->advice[i]);
	for (int64_t i = 0; i < kdr_prep_warning_count(r->tasks.prep); i++)
		printf("warning: %s\n", kdr_prep_warning_at(r->tasks.prep, i));
}

static int write_result(kdr_context *ctx, const cli_args *args, const char *folder, const cli_json *j)
{
	size_t room = strlen(folder) + 16;
	char *path = malloc(room);
	int code = path ? cli_make_folder(folder) : EXIT_OTHER;
	if (code == EXIT_DONE) {
		snprintf(path, room, "%s/result.json", folder);
		kdr_status st = kdr_write_file(ctx, path, j->text, j->used, cli_flag(args, "force"));
		code = st == KDR_OK ? EXIT_DONE : cli_fail(ctx, st);
	}
	free(path);
	return code;
}

static int put(kdr_context *ctx, const cli_args *args, const relation *r, bool mmd)
{
	const char *folder = cli_get(args, "output", NULL);
	cli_json j = { 0 };
	int code = EXIT_DONE;
	build_json(&j, r);
	if (j.failed) {
		cli_error("out of memory");
		code = EXIT_OTHER;
	} else if (folder) {
		code = write_result(ctx, args, folder, &j);
	}
	if (code == EXIT_DONE && cli_flag(args, "json"))
		puts(j.text);
	else if (code == EXIT_DONE && !(folder && cli_quiet(args)))
		print_text(r, mmd);
	cli_json_free(&j);
	return code;
}

static int run(cli_args *args)
{
	int code;
	relation r = { 0 };
	kdr_relate_options o;
	if (!read_options(args, &o))
		return EXIT_USAGE;
	kdr_context *ctx = cli_session_open(args, &code);
	if (!ctx)
		return code;
	code = cli_outputs_check(ctx, args, &r.tasks, false);
	if (code == EXIT_DONE)
		code = cli_tasks_read_positional(ctx, args, &r.tasks);
	if (code == EXIT_DONE)
		code = measure(ctx, &o, &r);
	if (code == EXIT_DONE)
		code = put(ctx, args, &r, !o.no_mmd);
	free(r.measures);
	free(r.pairs);
	free(r.nearness);
	free(r.advice);
	cli_tasks_free(&r.tasks);
	cli_session_close(ctx);
	return cli_finish(code);
}

const cli_command cli_relate = {
	.name = "relate",
	.usage = "[--json] [OPTION...] TASK...",
	.summary = "say how related data sets are",
	.description =
	        "For each task: its complexity, the share of its features that are rare (of all features, and of "
	        "those the task has). For each pair: the features both have, alone and as a share of those "
	        "either has; the A-distance, from 0 (a classifier cannot tell the tasks apart) to 2 (it never errs on "
	        "samples it has not seen); and the squared maximum mean discrepancies with a linear kernel (the "
	        "distance of the means) and a Gaussian one as wide as the median distance.\n\n"
	        "Last comes a sentence for each task on whether the others can help it, from how near its samples are "
	        "to theirs, as a share of how near they are to each other.\n\n"
	        "The measures say how alike the samples look, not whether their classes match: a small distance is "
	        "no promise that transfer helps.",
	.example = "kindred relate --weight tfidf --norm l2 books.mtx dvd.mtx electronics.mtx kitchen.mtx",
	.groups = groups,
	.completes_files = true,
	.run = run,
};
