/* kindred transfer. SPDX-License-Identifier: BSD-3-Clause */
#include "bridges.h"
#include "clusters.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char cli_transfer_method[] = "auto";

static const cli_option own_options[] = {
	{ .name = "method",
	  .letter = 'm',
	  .value = "METHOD",
	  .help = "the method (default auto); 'kindred methods' lists them" },
	{ .name = "source",
	  .value = "FILE",
	  .repeats = true,
	  .help = "a labelled data set; may be given several times" },
	{ .name = "labels",
	  .value = "FILE",
	  .repeats = true,
	  .help = "classes of a source, a line a sample; one for each --source" },
	{ .name = "target",
	  .value = "FILE",
	  .repeats = true,
	  .help = "a data set to label; may be given several times" },
	{ .name = "bridge",
	  .value = "FILE",
	  .repeats = true,
	  .help = "an unlabelled set between source and target, or two views of it (FILE,FILE: in the source's "
	          "features, in the target's); of several the best is taken (ttl, nmtf)" },
	{ .name = "bridge-all", .help = "try each bridge, and report each; the best by rank is written" },
	{ .name = "selector",
	  .value = "FILE",
	  .help = "rank bridges by a trained selection model instead of the distances" },
	{ .name = "train-selector",
	  .value = "FILE",
	  .help = "train such a model on three or more --source with --labels, and save it" },
	{ .name = "target-labels",
	  .value = "FILE",
	  .help = "classes of the target where they are known, '?' elsewhere; they stay fixed" },
	{ .name = "set",
	  .value = "NAME=VALUE",
	  .repeats = true,
	  .help = "set an option of the method; 'kindred methods METHOD' lists them" },
	CLI_FEATURES_OPTIONS,
	{ .name = "truth",
	  .value = "FILE[,FILE...]",
	  .help = "known classes of each target, used for scoring alone" },
	{ .name = "guard",
	  .help = "keep the partition found without the source where the transfer is not trusted" },
	{ .name = "score", .help = "score against <target>.labels beside each target" },
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

/* The data sets of one run: sources first, then bridges, then targets. */
typedef struct transfer {
	int sources, bridges, targets;
	cli_bridges candidates;
	bool one_bridge; /* the method takes one: it is chosen among the candidates */
	const kdr_result *result;
	cli_tasks tasks;
	char **classes; /* names, in order of first appearance in the sources */
	int64_t nclasses;
	int64_t **labels; /* per task: class of each row, -1 unknown, or NULL */
} transfer;

static int count_of(const cli_args *args, const char *option)
{
	int n = 0;
	while (cli_get_nth(args, option, n))
		n++;
	return n;
}

/* "target", then "target2", "target3". */
static void fill(cli_task_arg *to, const cli_args *args, const char *option, int count)
{
	for (int i = 0; i < count; i++) {
		to[i].path = cli_get_nth(args, option, i);
		if (i == 0)
			snprintf(to[i].name, sizeof to[i].name, "%s", option);
		else
			snprintf(to[i].name, sizeof to[i].name, "%s%d", option, i + 1);
	}
}

/* Bridges are named like sources; candidates to choose from by their files. */
static void fill_bridges(cli_task_arg *to, const cli_bridges *b)
{
	for (int i = 0; i < cli_bridges_files(b); i++) {
		to[i].path = b->path[i];
		if (b->count == 1)
			snprintf(to[i].name, sizeof to[i].name, i ? "bridge-view2" : "bridge");
	}
}

static int check_counts(const cli_args *args, const transfer *t)
{
	bool training = cli_get(args, "train-selector", NULL);
	if (training && (t->targets > 0 || t->bridges > 0 || t->sources < 3)) {
		cli_error(
		        "--train-selector needs three or more --source with --labels, and no --target or --bridge");
		return EXIT_USAGE;
	}
	if (!training && (t->sources == 0 || t->targets == 0)) {
		cli_error("transfer needs --source FILE and --target FILE");
		return EXIT_USAGE;
	}
	if (t->candidates.views && !t->one_bridge) {
		cli_error("--bridge %s,...: only methods 'ttl' and 'nmtf' take two views of a bridge",
		          t->candidates.path[0]);
		return EXIT_USAGE;
	}
	if ((cli_flag(args, "bridge-all") || cli_get(args, "selector", NULL)) &&
	    !(t->one_bridge && t->candidates.count > 1)) {
		cli_error(
		        "--bridge-all and --selector need a method that takes one bridge (ttl, nmtf) and several --bridge");
		return EXIT_USAGE;
	}
	return EXIT_DONE;
}

static int collect(const cli_args *args, transfer *t, cli_task_arg **out)
{
	int code = cli_bridges_parse(args, &t->candidates);
	if (code != EXIT_DONE)
		return code;
	t->sources = count_of(args, "source");
	t->bridges = cli_bridges_files(&t->candidates);
	t->targets = count_of(args, "target");
	int labels = count_of(args, "labels");
	if ((code = check_counts(args, t)) != EXIT_DONE)
		return code;
	if (labels != t->sources && !(labels == 0 && cli_get(args, "label-column", NULL))) {
		cli_error(
		        "transfer needs the classes of each source: %d --labels for %d --source (or --label-column)",
		        labels, t->sources);
		return EXIT_USAGE;
	}
	if (cli_positional_count(args) > 0) {
		cli_error("'%s' stands alone: data sets are named with --source, --bridge and --target",
		          cli_positional(args, 0));
		return EXIT_USAGE;
	}
	cli_task_arg *list =
	        calloc((size_t)t->sources + (size_t)t->bridges + (size_t)t->targets, sizeof *list);
	if (!list) {
		cli_error("out of memory");
		return EXIT_OTHER;
	}
	fill(list, args, "source", t->sources);
	if (t->one_bridge)
		fill_bridges(list + t->sources, &t->candidates);
	else
		fill(list + t->sources, args, "bridge", t->bridges);
	fill(list + t->sources + t->bridges, args, "target", t->targets);
	*out = list;
	return EXIT_DONE;
}

/* The index of a class, added if it is new and `add`; -1 if unknown, -2 without memory. */
static int64_t class_index(transfer *t, const char *name, bool add)
{
	for (int64_t c = 0; c < t->nclasses; c++)
		if (strcmp(t->classes[c], name) == 0)
			return c;
	if (!add)
		return -1;
	char **grown = realloc(t->classes, (size_t)(t->nclasses + 1) * sizeof *grown);
	if (!grown)
		return -2;
	t->classes = grown;
	size_t size = strlen(name) + 1;
	char *copy = malloc(size);
	if (!copy)
		return -2;
	memcpy(copy, name, size);
	t->classes[t->nclasses] = copy;
	return t->nclasses++;
}

/* Translates labels (indices into `names`) to classes of the run. */
static int take_labels(transfer *t, int task, const int64_t *values, int64_t n, const char *const *names,
                       int64_t count, bool add)
{
	int64_t *map = malloc((size_t)(count + 1) * sizeof *map), *out = calloc((size_t)n + 1, sizeof *out);
	int code = map && out ? EXIT_DONE : EXIT_OTHER;
	for (int64_t c = 0; c < count && code == EXIT_DONE; c++) {
		bool unknown = strcmp(names[c], "?") == 0;
		map[c] = unknown ? -1 : class_index(t, names[c], add);
		if (map[c] == -2) {
			code = EXIT_OTHER;
		} else if (map[c] == -1 && !unknown) {
			cli_error("--target-labels: no source has the class '%s'", names[c]);
			code = EXIT_DATA;
		}
	}
	for (int64_t i = 0; i < n && code == EXIT_DONE; i++)
		out[i] = values[i] < 0 ? -1 : map[values[i]];
	if (code == EXIT_OTHER)
		cli_error("out of memory");
	if (code == EXIT_DONE)
		t->labels[task] = out;
	else
		free(out);
	free(map);
	return code;
}

/* A class that no row has can neither be learnt nor given. */
static int check_classes(const transfer *t)
{
	for (int64_t c = 0; t->one_bridge && c < t->nclasses; c++) {
		bool found = false;
		for (int i = 0; i < t->sources && !found; i++) {
			kdr_mat x = kdr_data_mat(t->tasks.data[i]);
			for (int64_t r = 0; r < kdr_mat_rows(&x) && !found; r++)
				found = t->labels[i][r] == c;
		}
		if (!found) {
			cli_error("class '%s' is named in the labels, but no row of a source has it",
			          t->classes[c]);
			return EXIT_DATA;
		}
	}
	return EXIT_DONE;
}

static int read_classes(kdr_context *ctx, const cli_args *args, transfer *t)
{
	int code = EXIT_DONE;
	t->labels = calloc((size_t)t->tasks.count, sizeof *t->labels);
	if (!t->labels) {
		cli_error("out of memory");
		return EXIT_OTHER;
	}
	for (int i = 0; i < t->sources && code == EXIT_DONE; i++) {
		const char *path = cli_get_nth(args, "labels", i);
		const kdr_data *data = t->tasks.data[i];
		if (path) {
			kdr_labels *l = NULL;
			code = cli_labels_read(ctx, path, data, "classes", &l);
			if (code == EXIT_DONE)
				code = take_labels(t, i, l->values, l->n, (const char *const *)l->names,
				                   l->count, true);
			kdr_labels_free(l);
		} else {
			int64_t count;
			const char *const *names = kdr_data_classes(data, &count);
			kdr_mat x = kdr_data_mat(data);
			if (!kdr_data_labels(data)) {
				cli_error("%s has no classes: give --labels or --label-column",
				          kdr_data_path(data));
				return EXIT_DATA;
			}
			code = take_labels(t, i, kdr_data_labels(data), kdr_mat_rows(&x), names, count, true);
		}
	}
	if (code == EXIT_DONE && t->nclasses < 2) {
		cli_error("the sources have %lld class%s: at least two are needed", (long long)t->nclasses,
		          t->nclasses == 1 ? "" : "es");
		return EXIT_DATA;
	}
	if (code == EXIT_DONE)
		code = check_classes(t);
	const char *known = cli_get(args, "target-labels", NULL);
	if (code == EXIT_DONE && known) {
		int target = t->sources + t->bridges;
		kdr_labels *l = NULL;
		code = cli_labels_read(ctx, known, t->tasks.data[target], "known classes", &l);
		if (code == EXIT_DONE)
			code = take_labels(t, target, l->values, l->n, (const char *const *)l->names,
			                   l->count, false);
		kdr_labels_free(l);
	}
	return code;
}

/* Whether task i belongs to the run with candidate k; k < 0: all do. */
static bool takes_part(const transfer *t, int64_t i, int k)
{
	int64_t at = i - t->sources;
	return k < 0 || at < 0 || at >= t->bridges || at % t->candidates.count == k;
}

/* Fits with candidate k as the bridge, or with all bridges there are. */
static int fit(kdr_context *ctx, const transfer *t, int k, cli_run *run, kdr_result **result)
{
	kdr_task *list = calloc((size_t)t->tasks.count, sizeof *list);
	int64_t count = 0;
	if (!list) {
		cli_error("out of memory");
		return EXIT_OTHER;
	}
	for (int64_t i = 0; i < t->tasks.count; i++) {
		if (!takes_part(t, i, k))
			continue;
		list[count++] = (kdr_task){
			.name = kdr_data_name(t->tasks.data[i]),
			.role = i < t->sources                ? KDR_ROLE_SOURCE
			        : i < t->sources + t->bridges ? KDR_ROLE_BRIDGE
			                                      : KDR_ROLE_TARGET,
			.x = kdr_data_mat(t->tasks.data[i]),
			.k = t->nclasses,
			.labels = t->labels[i],
		};
	}
	kdr_problem problem = { .tasks = list,
		                .ntasks = count,
		                .classes = t->nclasses,
		                .class_names = (const char *const *)t->classes };
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

/* --- scoring: classes keep their names, so accuracy is the share of equal ones ---------------------------
 */

/* Known classes of the targets as read by the shared code, moved to the targets' places. */
static int read_truth(kdr_context *ctx, const cli_args *args, transfer *t)
{
	int64_t first = t->sources + t->bridges;
	cli_tasks targets = t->tasks;
	targets.data += first;
	targets.truth += first;
	targets.init += first;
	targets.count = t->targets;
	return cli_tasks_labels(ctx, args, &targets);
}

/* Share of rows of task i that `labels` puts into their true class; NaN without truth. */
static double accuracy(const transfer *t, int64_t i, const int64_t *labels, int64_t n)
{
	const kdr_labels *truth = t->tasks.truth[i];
	int64_t right = 0;
	if (!truth || !labels)
		return NAN;
	for (int64_t r = 0; r < n; r++)
		right += strcmp(truth->names[truth->values[r]], t->classes[labels[r]]) == 0;
	return (double)right / (double)n;
}

/* Chooses the bridge, fits, and forgets the tasks that had no part in the result. */
static int fit_with_bridge(kdr_context *ctx, const cli_args *args, transfer *t, cli_run *run,
                           kdr_result **result)
{
	cli_bridges *b = &t->candidates;
	bool all = cli_flag(args, "bridge-all");
	int code = cli_bridges_rank(ctx, args, &t->tasks, t->sources, b);
	double seconds = 0;
	for (int k = 0; k < b->count && code == EXIT_DONE; k++) {
		kdr_result *r = NULL;
		int64_t n;
		if (!all && k != b->chosen)
			continue;
		code = fit(ctx, t, k, run, &r);
		seconds += run->seconds_fit;
		if (code == EXIT_DONE) {
			int64_t place = t->sources + (b->views ? 2 : 1);
			const int64_t *labels = kdr_result_labels(r, place, &n);
			b->accuracy[k] = accuracy(t, t->sources + t->bridges, labels, n);
		}
		if (code == EXIT_DONE && k == b->chosen)
			*result = r;
		else
			kdr_result_free(r);
	}
	run->seconds_fit = seconds;
	for (int64_t i = t->tasks.count - 1; i >= 0 && code == EXIT_DONE; i--) {
		if (takes_part(t, i, b->chosen))
			continue;
		free(t->labels[i]);
		for (int64_t k = i; k + 1 < t->tasks.count; k++)
			t->labels[k] = t->labels[k + 1];
		cli_tasks_drop(&t->tasks, i);
	}
	if (code == EXIT_DONE)
		t->bridges = b->views ? 2 : 1;
	return code;
}

static int score(kdr_context *ctx, const transfer *t, cli_run *run)
{
	int code = cli_score(ctx, run);
	for (int64_t i = t->sources + t->bridges; i < t->tasks.count && code == EXIT_DONE; i++) {
		const kdr_labels *truth = t->tasks.truth[i];
		int64_t n;
		const int64_t *labels = kdr_result_labels(run->result, i, &n);
		if (!truth || !labels)
			continue;
		run->scores[i].acc = accuracy(t, i, labels, n);
		for (int64_t c = 0; c < truth->count; c++) {
			bool known = false;
			for (int64_t k = 0; k < t->nclasses && !known; k++)
				known = strcmp(truth->names[c], t->classes[k]) == 0;
			if (!known)
				cli_warn(
				        "class '%s' of the truth of %s is in no source: its samples count as wrong",
				        truth->names[c], kdr_data_name(t->tasks.data[i]));
		}
	}
	return code;
}

/* --- what this command adds to the result ------------------------------------------------------------ */

static cli_clusters clusters_of(const transfer *t)
{
	return (cli_clusters){ .result = t->result,
		               .features = { kdr_data_features(t->tasks.data[0]),
		                             kdr_data_features(t->tasks.data[t->sources + t->bridges]) },
		               .classes = (const char *const *)t->classes,
		               .nclasses = t->nclasses };
}

static void more_json(cli_json *j, const void *more)
{
	const transfer *t = more;
	cli_clusters c = clusters_of(t);
	cli_bridges_json(j, &t->candidates);
	cli_clusters_json(j, &c);
}

static void more_summary(FILE *out, const void *more)
{
	const transfer *t = more;
	cli_clusters c = clusters_of(t);
	cli_bridges_table(out, &t->candidates);
	cli_clusters_summary(out, &c);
}

static void release(transfer *t)
{
	cli_bridges_free(&t->candidates);
	for (int64_t i = 0; t->labels && i < t->tasks.count; i++)
		free(t->labels[i]);
	for (int64_t c = 0; c < t->nclasses; c++)
		free(t->classes[c]);
	free(t->labels);
	free(t->classes);
	cli_tasks_free(&t->tasks);
}

static int run(cli_args *args)
{
	int code;
	transfer t = { 0 };
	kdr_options *options = NULL;
	kdr_result *result = NULL;
	cli_task_arg *list = NULL;
	cli_run job = { .args = args,
		        .command = "transfer",
		        .method = cli_method_id(cli_get(args, "method", cli_transfer_method),
		                                KDR_FAMILY_TRANSFER),
		        .tasks = &t.tasks,
		        .seconds_start = cli_now() };
	kdr_context *ctx = cli_session_open(args, &code);
	if (!ctx)
		return code;
	if ((code = cli_method_check(job.method, KDR_FAMILY_TRANSFER)) != EXIT_DONE)
		goto done;
	t.one_bridge = kdr_algo_find(job.method)->flags & KDR_ALGO_BRIDGE;
	if ((code = cli_method_options(ctx, args, job.method, &options)) != EXIT_DONE ||
	    (code = cli_features_check(ctx, args, &job)) != EXIT_DONE ||
	    (code = collect(args, &t, &list)) != EXIT_DONE)
		goto done;
	job.options = options;
	if (cli_flag(args, "guard")) {
		kdr_status st = kdr_options_set(ctx, options, "guard", "true");
		if (st != KDR_OK) {
			cli_error("--guard: method '%s' has no such option", job.method);
			code = EXIT_USAGE;
			goto done;
		}
	}
	/* Two views: source and first views have their features, second views and target theirs. */
	int split = t.candidates.views ? t.sources + t.candidates.count : 0;
	if ((code = cli_tasks_read_split(ctx, args, list, t.sources + t.bridges + t.targets, split,
	                                 &t.tasks)) != EXIT_DONE ||
	    (code = read_classes(ctx, args, &t)) != EXIT_DONE)
		goto done;
	if (cli_get(args, "train-selector", NULL)) {
		code = cli_train_selector(ctx, args, &t.tasks, t.labels, t.nclasses);
		goto done;
	}
	if ((code = read_truth(ctx, args, &t)) != EXIT_DONE ||
	    (code = cli_outputs_check(ctx, args, &t.tasks, true)) != EXIT_DONE ||
	    (code = t.one_bridge && t.candidates.count > 1 ? fit_with_bridge(ctx, args, &t, &job, &result)
	                                                   : fit(ctx, &t, -1, &job, &result)) != EXIT_DONE)
		goto done;
	job.result = t.result = result;
	job.more = &t;
	job.more_json = more_json;
	job.more_summary = more_summary;
	/* Clusters of the target have no names, and are scored by the best map. */
	bool named = !(kdr_algo_find(job.method)->flags & KDR_ALGO_CLUSTERS_TARGET);
	if (named) {
		job.classes = (const char *const *)t.classes;
		job.nclasses = t.nclasses;
	}
	if ((code = named ? score(ctx, &t, &job) : cli_score(ctx, &job)) != EXIT_DONE ||
	    (code = cli_outputs_finish(ctx, &job)) != EXIT_DONE)
		goto done;
	code = cli_method_exit(args, result);
done:
	free(list);
	free(job.scores);
	cli_features_free(&job);
	kdr_result_free(result);
	kdr_options_free(options);
	release(&t);
	cli_session_close(ctx);
	return cli_finish(code);
}

const cli_command cli_transfer = {
	.name = "transfer",
	.usage = "[-m METHOD] --source FILE --labels FILE --target FILE [--bridge FILE]... [OPTION...]",
	.summary = "label a data set from a labelled one",
	.description =
	        "Learns from the source, whose classes are in --labels (a line a sample) or in a column (--label-column), and "
	        "labels the target. Columns are matched by name where all sets have names, else by position.\n\n"
	        "Methods ttl and nmtf reach a distant target through a bridge. Of several --bridge the best is taken: the one "
	        "whose larger A-distance to source and target is smallest, or the likeliest by a --selector; a table says why. "
	        "Where source and target have different features, --bridge A,B gives two views of the same samples.\n\n"
	        "Without -o the result (JSON) goes to standard output; with -o DIR it is written there, with target.labels: "
	        "the class of each sample, a line a sample.",
	.example =
	        "kindred transfer --source books.mtx --labels books.labels --target kitchen.mtx --weight tfidf --norm l2 -o out",
	.groups = groups,
	.run = run,
};
