/* kindred relate. SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"

#include <math.h>
#include <string.h>

static const cli_option own_options[] = {
	CLI_FLAG("json", "print JSON"),
	CLI_VALUE("rare", "FRACTION",
	          "complexity: a feature is rare if less than this fraction of the samples have it (default "
	          "0.1)"),
	CLI_VALUE("folds", "N",
	          "A-distance: number of cross-validation folds for the classifier (default 5)"),
	CLI_VALUE("most-rows", "N",
	          "Gaussian MMD: use at most N samples of each data set, always the same ones (default "
	          "4000)"),
	CLI_SWITCH("mmd", "compute the two MMD columns (default); --no-mmd skips them"),
	CLI_VALUE("output", "DIR", "also write result.json to this folder", .letter = 'o'),
	CLI_FLAG("force", "replace an existing result.json"),
	CLI_OPTIONS_END,
};

static kdr_relate_options read_options(const cli_args *args)
{
	kdr_relate_options o;
	kdr_relate_options_init(&o);
	o.no_mmd = cli_switch(args, "mmd") == 2;
	cli_get_real(args, "rare", 0, 1, &o.rare);
	cli_get_int(args, "folds", 2, 1000, &o.folds);
	cli_get_int(args, "most-rows", 2, INT64_MAX, &o.most_rows);
	return o;
}

/* --- output -------------------------------------------------------------------------------------- */

static int name_width(const kdri_json_value *tasks)
{
	int widest = 8;
	for (int64_t i = 0; i < kdri_json_count(tasks); i++) {
		int length = (int)strlen(cli_text_at(kdri_json_at(tasks, i), "name"));
		widest = length > widest ? length : widest;
	}
	return widest;
}

/* A number of `object`, or a dash if it is not defined. */
static void print_real(int width, int digits, const kdri_json_value *object, const char *key)
{
	double value = kdri_json_number(kdri_json_get(object, key), NAN);
	if (isfinite(value))
		cli_printf("  %*.*f", width, digits, value);
	else
		cli_printf("  %*s", width, "-");
}

static void print_int(int width, const kdri_json_value *object, const char *key)
{
	cli_printf("  %*lld", width, (long long)kdri_json_integer(kdri_json_get(object, key), 0));
}

static void print_pairs(const kdri_json_value *pairs, int w, bool mmd)
{
	cli_printf("\n%-*s  %-*s  %9s  %7s  %10s", w, "data set", w, "data set", "shared", "overlap",
	           "A-distance");
	cli_printf(mmd ? "  %10s  %12s\n" : "\n", "MMD linear", "MMD gaussian");
	for (int64_t k = 0; k < kdri_json_count(pairs); k++) {
		const kdri_json_value *p = kdri_json_at(pairs, k);
		cli_printf("%-*s  %-*s", w, cli_text_at(p, "from"), w, cli_text_at(p, "to"));
		print_int(9, p, "shared_features");
		print_real(7, 3, p, "overlap");
		print_real(10, 3, p, "a_distance");
		if (mmd) {
			print_real(10, 5, p, "mmd_linear");
			print_real(12, 5, p, "mmd_gaussian");
		}
		cli_printf("\n");
	}
	cli_printf("overlap: shared features as a fraction of all features of both, 0 to 1\n"
	           "A-distance: 0 = indistinguishable, 2 = fully separable\n");
	if (mmd)
		cli_printf("MMD: squared maximum mean discrepancy, 0 = no difference\n");
}

static void print_direction(const kdri_json_value *p, int w, const char *from, const char *to,
                            const char *key)
{
	cli_printf("%-*s  %-*s", w, cli_text_at(p, from), w, cli_text_at(p, to));
	print_real(8, 2, p, key);
	cli_printf("\n");
}

/* How far the samples of each data set are from those of each other one. */
static void print_apart(const kdri_json_value *pairs, int w)
{
	cli_printf("\n%-*s  %-*s  %8s\n", w, "data set", w, "other", "distance");
	for (int64_t k = 0; k < kdri_json_count(pairs); k++) {
		print_direction(kdri_json_at(pairs, k), w, "from", "to", "apart");
		print_direction(kdri_json_at(pairs, k), w, "to", "from", "apart_back");
	}
	cli_printf(
	        "distance of its samples from the other: 0.5 = as near as those are to each other, 1 = all farther\n");
}

/* The features that make each pair differ most. */
static void print_differences(const kdri_json_value *pairs)
{
	bool begun = false;
	for (int64_t k = 0; k < kdri_json_count(pairs); k++) {
		const kdri_json_value *p = kdri_json_at(pairs, k), *list = kdri_json_get(p, "differences");
		if (kdri_json_count(list) == 0)
			continue;
		if (!begun)
			cli_printf(
			        "\nfeatures that differ most (difference of the means in standard deviations, at most 2)\n");
		begun = true;
		cli_printf("  %s, %s:", cli_text_at(p, "from"), cli_text_at(p, "to"));
		for (int64_t i = 0; i < kdri_json_count(list); i++) {
			const kdri_json_value *x = kdri_json_at(list, i);
			double by = kdri_json_number(kdri_json_get(x, "difference"), 0);
			cli_printf("%s %s (%.2f higher in %s)", i ? "," : "", cli_text_at(x, "feature"),
			           fabs(by), cli_text_at(p, by > 0 ? "to" : "from"));
		}
		cli_printf("\n");
	}
}

static void relate_print_text(const kdri_json_value *r, bool mmd)
{
	const kdri_json_value *tasks = kdri_json_get(r, "tasks"), *warnings = kdri_json_get(r, "warnings");
	int w = name_width(tasks);
	cli_printf("preprocessing: %s", cli_text_at(r, "preprocessing"));
	if (cli_text_at(r, "data"))
		cli_printf("\n  chosen because the data appear to be %s", cli_text_at(r, "data"));
	cli_printf("\n\n%-*s  %9s  %9s  %10s  %s\n", w, "data set", "samples", "features", "complexity",
	           "(observed)");
	for (int64_t i = 0; i < kdri_json_count(tasks); i++) {
		const kdri_json_value *t = kdri_json_at(tasks, i);
		cli_printf("%-*s", w, cli_text_at(t, "name"));
		print_int(9, t, "n");
		print_int(9, t, "observed_features");
		print_real(10, 3, t, "complexity");
		print_real(10, 3, t, "complexity_observed");
		cli_printf("\n");
	}
	cli_printf(
	        "complexity: fraction of features that are rare (observed: among those in the data set)\n");
	if (kdri_json_count(tasks) < 2)
		return;
	print_pairs(kdri_json_get(r, "pairs"), w, mmd);
	print_apart(kdri_json_get(r, "pairs"), w);
	print_differences(kdri_json_get(r, "pairs"));
	cli_printf("\n");
	for (int64_t i = 0; i < kdri_json_count(tasks); i++)
		cli_printf("%s\n", cli_text_at(kdri_json_at(tasks, i), "advice"));
	for (int64_t i = 0; i < kdri_json_count(warnings); i++)
		cli_printf("warning: %s\n", kdri_json_text(kdri_json_at(warnings, i), NULL));
}

static void relate_put(const cli_run *run, const char *text, bool mmd)
{
	const char *folder = cli_get(run->args, "output", NULL);
	if (folder) {
		const cli_path to = cli_join(folder, "result", ".json");
		cli_make_folder(folder);
		cli_check(
		        kdr_write_file(run->ctx, to.path, text, strlen(text), cli_flag(run->args, "force")));
	}
	if (cli_flag(run->args, "json")) {
		puts(text);
	} else if (!folder || !cli_quiet(run->args)) {
		kdri_json_value *relation = NULL;
		cli_check(kdri_json_parse(run->ctx, "result.json", 1, text, strlen(text), &relation));
		relate_print_text(relation, mmd);
		kdri_json_value_free(relation);
	}
}

static void relate_run(cli_run *run)
{
	char *relation = NULL;
	kdr_relate_options o = read_options(run->args);
	cli_session_open(run);
	const kdr_job_options *job = cli_job_read(run);
	cli_outputs_check(run, false);
	cli_tasks_read_positional(run);
	o.prep = job->prep;
	o.choice = job->choice;
	cli_session_limit(run->ctx);
	const kdr_status st = kdr_relate(run->ctx, run->tasks.data, run->tasks.count, &o, &relation, NULL);
	if (cli_interrupted())
		cli_stop(EXIT_INTERRUPTED, "interrupted");
	cli_check(st);
	relate_put(run, relation, !o.no_mmd);
	kdr_free(run->ctx, relation);
}

cli_command cli_relate = {
	.name = "relate",
	.usage = "[--json] [OPTION...] TASK...",
	.summary = "measure how related data sets are",
	.description =
	        "Measures how related data sets are.\n\n"
	        "For each data set, it prints the complexity: the fraction of features that are rare, among all features and among "
	        "those that occur in the data set (observed).\n\n"
	        "For each pair, it prints the number of features that both have, and the overlap: this number as a fraction of the "
	        "features that either has. The A-distance is 0 if a classifier cannot distinguish the data sets, and 2 if it makes no "
	        "errors on samples it has not seen. The MMD columns are squared maximum mean discrepancies (0 = no difference): with a "
	        "linear kernel, which compares the means, and with a Gaussian kernel, whose width is the median distance.\n\n"
	        "For each data set and each other one, it prints the distance of the samples: the fraction of the other data set's samples "
	        "that have their third nearest neighbour nearer than a sample of this one has, on average. "
	        "cluster can carry clusters over to a small data set if the distance is below "
	        "0.65; it preprocesses the two data sets as a pair for that, so its value can differ a little.\n\n"
	        "Then it prints the five features in which each pair differs most. The difference of the means is given in standard "
	        "deviations of both data sets together, from 0 (equal means) to 2 (no overlap).\n\n"
	        "The last lines name the nearest data set for each one, with the nearness of their samples as a fraction of "
	        "the nearness within the data set.\n\n"
	        "These measures compare samples, not classes: a small distance does not guarantee that transfer helps.",
	.example = "kindred relate --weight tfidf --norm l2 books.mtx dvd.mtx kitchen.mtx",
	.groups = { { "Options", own_options }, CLI_DATA_GROUPS },
	.completes_files = true,
	.run = relate_run,
};
