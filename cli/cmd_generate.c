/* kindred generate. SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"
#include "core/system.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const designs[] = { "blobs", "topics", "berikov", "tables", NULL };
static const char *const formats[] = { "csv", "mtx", "npy", NULL };

static const cli_option own_options[] = {
	CLI_VALUE("design", "NAME", "kind of data to generate (default blobs)", .choices = designs),
	CLI_VALUE("output", "DIR", "folder to write task1, task2, ... to (required)", .letter = 'o'),
	CLI_VALUE("to", "FORMAT", "output format (default csv; topics: mtx; tables: csv only)",
	          .choices = formats),
	CLI_VALUE("tasks", "T", "number of data sets (default 2)"),
	CLI_VALUE("clusters", "K", "number of clusters or topics (default 3)", .letter = 'k'),
	CLI_VALUE("samples", "N[,N2,...]",
	          "number of samples: one value for all data sets, or one each (default 200)", .letter = 'n'),
	CLI_VALUE("missing", "M", "number of clusters missing in each data set after the first (default 0)"),
	CLI_FLAG("force", "replace existing files"),
	CLI_OPTIONS_END,
};

static const cli_option blob_options[] = {
	CLI_VALUE("dimensions", "D", "number of informative features (default 2; tables: 10)", .letter = 'd'),
	CLI_VALUE("noise-features", "D", "number of pure noise features (default 0; tables: 3)"),
	CLI_VALUE("separation", "S",
	          "spread of the cluster centres, relative to the spread within a cluster; berikov: a "
	          "factor for the initial distance of the classes (default 3; berikov: 1; tables: 1)"),
	CLI_VALUE("spread", "S", "standard deviation within a cluster (default 1)"),
	CLI_VALUE("shift", "S",
	          "standard deviation of the shift of each centre in each data set (default 0.5; tables: "
	          "0.2)"),
	CLI_VALUE("rotation", "DEGREES", "rotation of each data set relative to the one before (default 15)"),
	CLI_VALUE("imbalance", "B",
	          "0: equal cluster sizes; 1: sizes decrease linearly to almost 0 (default 0; tables: 0.6, "
	          "with a different order in each table)"),
	CLI_OPTIONS_END,
};

static const cli_option topic_options[] = {
	CLI_VALUE("words", "W", "vocabulary size (default 2000)"),
	CLI_VALUE("length", "L", "mean number of words per document (default 100)"),
	CLI_VALUE("purity", "P", "fraction of words from the topic of the document, 0 to 1 (default 0.4)"),
	CLI_VALUE("domain", "P",
	          "fraction of words from the data set's own vocabulary, 0 to 1 (default 0.2)"),
	CLI_OPTIONS_END,
};

static const cli_option table_options[] = {
	CLI_VALUE("own-columns", "D",
	          "number of columns in each table that the other tables lack (default 1); the first, "
	          "third, ... is noise"),
	CLI_VALUE("missing-cells", "P", "fraction of missing values, 0 to 1 (default 0.03)"),
	CLI_FLAG("unrelated", "give each table its own segments (default: all tables share the segments)"),
	CLI_OPTIONS_END,
};

static cli_option_group groups[] = {
	{ "Options", own_options },  { "Blobs and tables", blob_options }, { "Topics", topic_options },
	{ "Tables", table_options }, { "Common", cli_common_options },     { NULL, NULL },
};

static bool parse_samples(const char *text, int64_t tasks, int64_t *out)
{
	cli_list list;
	bool ok = true;
	if (!cli_list_split(text, &list))
		return false;
	if (list.count != 1 && list.count != tasks) {
		cli_error(
		        "--samples has %d values for %lld data sets; give one value for all, or one for each",
		        list.count, (long long)tasks);
		ok = false;
	}
	for (int64_t t = 0; t < tasks && ok; t++) {
		const char *item = list.items[list.count == 1 ? 0 : t];
		char *end;
		errno = 0;
		long long value = strtoll(item, &end, 10);
		if (end == item || *end || errno || value < 1) {
			cli_error("--samples: '%s' is not valid; use a whole number, 1 or larger", item);
			ok = false;
		}
		out[t] = value;
	}
	cli_list_free(&list);
	return ok;
}

static bool read_blobs(const cli_args *args, kdr_design *b)
{
	const double inf = INFINITY;
	return cli_get_int(args, "dimensions", 1, 1 << 24, &b->features) &&
	       cli_get_int(args, "noise-features", 0, 1 << 24, &b->noise_features) &&
	       cli_get_real(args, "separation", 0, inf, &b->separation) &&
	       cli_get_real(args, "spread", 0, inf, &b->spread) &&
	       cli_get_real(args, "shift", 0, inf, &b->shift) &&
	       cli_get_real(args, "rotation", -360, 360, &b->rotation) &&
	       cli_get_real(args, "imbalance", 0, 1, &b->imbalance);
}

static bool read_topics(const cli_args *args, kdr_design *t)
{
	return cli_get_int(args, "words", 1, 1 << 24, &t->words) &&
	       cli_get_real(args, "length", 1, 1e9, &t->length) &&
	       cli_get_real(args, "purity", 0, 1, &t->purity) &&
	       cli_get_real(args, "domain", 0, 1, &t->domain);
}

static bool read_tables(const cli_args *args, kdr_design *t)
{
	t->unrelated = cli_flag(args, "unrelated");
	return read_blobs(args, t) && cli_get_int(args, "own-columns", 0, 10000, &t->own_features) &&
	       cli_get_real(args, "missing-cells", 0, 1, &t->missing_cells);
}

/* The file of a data set: DIR/task1.csv, or DIR/source.csv of the design berikov. */
static void file_of(const cli_args *args, bool berikov, int64_t t, const char *ending, char *out, size_t room)
{
	const char *folder = cli_get(args, "output", NULL);
	if (berikov)
		snprintf(out, room, "%s/%s.%s", folder, t == 0 ? "source" : "target", ending);
	else
		snprintf(out, room, "%s/task%lld.%s", folder, (long long)t + 1, ending);
}

static kdr_status write_task(kdr_context *ctx, const cli_args *args, kdr_generator *g, bool berikov,
                             int64_t t, const char *format)
{
	char path[4096], labels[4096];
	file_of(args, berikov, t, format, path, sizeof path);
	file_of(args, berikov, t, "labels", labels, sizeof labels);
	return kdr_generator_write(ctx, g, berikov ? 0 : t, path, labels, cli_flag(args, "force"));
}

/* Puts the files in place. */
static int finish_tasks(kdr_context *ctx, const cli_args *args, kdr_status st, bool berikov, int64_t tasks,
                        const char *format)
{
	char path[4096], labels[4096];
	if (st == KDR_OK)
		st = kdr_outputs_end(ctx, KDR_OK);
	for (int64_t t = 0; t < tasks && st == KDR_OK && !cli_quiet(args); t++) {
		file_of(args, berikov, t, format, path, sizeof path);
		file_of(args, berikov, t, "labels", labels, sizeof labels);
		cli_printf("written: %s, %s\n", path, labels);
	}
	return cli_code(ctx, st);
}

static int write_tasks(kdr_context *ctx, const cli_args *args, kdr_generator *g, int64_t tasks,
                       const char *format)
{
	const char *folder = cli_get(args, "output", NULL);
	CLI_DO(cli_make_folder(folder));
	kdr_status st = kdr_outputs_begin(ctx, NULL);
	for (int64_t t = 0; t < tasks && st == KDR_OK; t++)
		st = write_task(ctx, args, g, false, t, format);
	if (st == KDR_OK && strcmp(format, "csv") != 0) { /* CSV files have a header with the names */
		char path[4096];
		snprintf(path, sizeof path, "%s/features.txt", folder);
		st = kdr_generator_write_features(ctx, g, path, cli_flag(args, "force"));
	}
	return finish_tasks(ctx, args, st, false, tasks, format);
}

/* The two data sets of the design have features of their own: source and target, one generator each. */
static int write_berikov(kdr_context *ctx, const cli_args *args, kdr_design spec, const char *format)
{
	CLI_DO(cli_make_folder(cli_get(args, "output", NULL)));
	kdr_status st = kdr_outputs_begin(ctx, NULL);
	for (int t = 0; t < 2 && st == KDR_OK; t++) {
		kdr_generator *g = NULL;
		spec.target = t == 1;
		st = kdr_generate(ctx, &spec, &g);
		if (st == KDR_OK)
			st = write_task(ctx, args, g, true, t, format);
		kdr_generator_free(g);
	}
	return finish_tasks(ctx, args, st, true, 2, format);
}

static int run_berikov(const cli_args *args)
{
	kdr_design spec;
	kdr_design_init(&spec, KDR_DESIGN_BERIKOV);
	if (!cli_get_real(args, "separation", 0, INFINITY, &spec.separation))
		return EXIT_USAGE;
	kdr_context *ctx;
	CLI_DO(cli_session_open(args, &ctx));
	return cli_session_close(ctx, write_berikov(ctx, args, spec, formats[cli_get_choice(args, "to", 0)]));
}

static int generate_run(cli_args *args)
{
	kdr_design spec;
	kdr_generator *g = NULL;
	int design = cli_get_choice(args, "design", KDR_DESIGN_BLOBS);
	bool text = design == KDR_DESIGN_TOPICS;
	kdr_design_init(&spec, (kdr_design_kind)design);
	spec.k = 3;
	if (cli_positional_count(args) > 0)
		return cli_usage_error("unexpected argument '%s'; generate takes only options",
		                       cli_positional(args, 0));
	if (!cli_get(args, "output", NULL))
		return cli_usage_error("generate needs -o DIR: the folder to write to");
	if (design == KDR_DESIGN_TABLES && cli_get_choice(args, "to", 0) != 0)
		return cli_usage_error("--to %s is not available with --design tables; use --to csv",
		                       cli_get(args, "to", ""));
	if (design == KDR_DESIGN_BERIKOV)
		return run_berikov(args);
	if (!cli_get_int(args, "tasks", 1, 10000, &spec.tasks) ||
	    !cli_get_int(args, "clusters", 1, 1 << 20, &spec.k) ||
	    !cli_get_int(args, "missing", 0, 1 << 20, &spec.missing) ||
	    !(text                          ? read_topics(args, &spec)
	      : design == KDR_DESIGN_TABLES ? read_tables(args, &spec)
	                                    : read_blobs(args, &spec)))
		return EXIT_USAGE;
	int64_t *samples = calloc((size_t)spec.tasks, sizeof *samples);
	kdr_context *ctx = NULL;
	int code = EXIT_USAGE;
	if (samples && parse_samples(cli_get(args, "samples", "200"), spec.tasks, samples))
		code = cli_session_open(args, &ctx);
	spec.samples = samples;
	if (code == EXIT_DONE)
		code = cli_code(ctx, kdr_generate(ctx, &spec, &g));
	if (code == EXIT_DONE)
		code = write_tasks(ctx, args, g, spec.tasks,
		                   formats[cli_get_choice(args, "to", text ? 1 : 0)]);
	kdr_generator_free(g);
	free(samples);
	return ctx ? cli_session_close(ctx, code) : code;
}

const cli_command cli_generate = {
	.name = "generate",
	.usage = "[--design blobs|topics|berikov|tables] -o DIR [OPTION...]",
	.summary = "generate synthetic data sets",
	.description =
	        "Generates synthetic data sets with known clusters: task1, task2, ... and their labels. Rows are written "
	        "one by one, so the size is not limited by memory. The same seed gives the same data.\n\n"
	        "--design blobs: Gaussian clusters. All data sets have the same cluster centres, but each can shift "
	        "or rotate them, or lack some.\n\n"
	        "--design topics: word counts of documents. All data sets share the topics, and each also has words of its "
	        "own.\n\n"
	        "--design berikov: a labelled source and a target with no common feature and four classes each (Berikov "
	        "2019, section 3), written as source and target.\n\n"
	        "--design tables: numbers in different units (some skewed, some with outliers), grades, yes/no columns, "
	        "categories and dates. All tables share the segments.",
	.example = "# three related data sets; the second and third lack a cluster and are rotated\n"
	           "kindred generate --tasks 3 -k 4 -n 300,100,50 --missing 1 -o data\n"
	           "kindred generate --design topics --words 5000 -n 1000 -o text\n"
	           "kindred generate --design tables --tasks 3 -k 4 -n 500 -o customers",
	.groups = groups,
	.run = generate_run,
};
