/* kindred generate. SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"
#include "core/system.h"

#include <math.h>
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

static const int64_t *parse_samples(const char *text, int64_t tasks)
{
	const cli_list list = cli_list_split(text);
	int64_t *out = cli_new((size_t)tasks, sizeof *out);
	if (list.count != 1 && list.count != tasks)
		cli_usage_error(
		        "--samples has %d values for %lld data sets; give one value for all, or one for each",
		        list.count, (long long)tasks);
	for (int64_t t = 0; t < tasks; t++)
		out[t] = cli_positive("--samples", list.items[list.count == 1 ? 0 : t]);
	return out;
}

/* The options of all designs; those of other designs are refused (effects.c). */
static void read_design(const cli_args *args, kdr_design *d)
{
	const double inf = INFINITY;
	cli_get_int(args, "tasks", 1, 10000, &d->tasks);
	cli_get_int(args, "clusters", 1, 1 << 20, &d->k);
	cli_get_int(args, "missing", 0, 1 << 20, &d->missing);
	cli_get_int(args, "words", 1, 1 << 24, &d->words);
	cli_get_real(args, "length", 1, 1e9, &d->length);
	cli_get_real(args, "purity", 0, 1, &d->purity);
	cli_get_real(args, "domain", 0, 1, &d->domain);
	cli_get_int(args, "dimensions", 1, 1 << 24, &d->features);
	cli_get_int(args, "noise-features", 0, 1 << 24, &d->noise_features);
	cli_get_real(args, "separation", 0, inf, &d->separation);
	cli_get_real(args, "spread", 0, inf, &d->spread);
	cli_get_real(args, "shift", 0, inf, &d->shift);
	cli_get_real(args, "rotation", -360, 360, &d->rotation);
	cli_get_real(args, "imbalance", 0, 1, &d->imbalance);
	cli_get_int(args, "own-columns", 0, 10000, &d->own_features);
	cli_get_real(args, "missing-cells", 0, 1, &d->missing_cells);
	d->unrelated = cli_flag(args, "unrelated");
}

/* The file of a data set: DIR/task1.csv, or DIR/source.csv of the design berikov. */
static const char *file_of(const cli_args *args, bool berikov, int64_t t, const char *ending)
{
	const char *folder = cli_get(args, "output", NULL);
	return berikov ? cli_format("%s/%s.%s", folder, t == 0 ? "source" : "target", ending)
	               : cli_format("%s/task%lld.%s", folder, (long long)t + 1, ending);
}

static void write_task(const cli_run *run, kdr_generator *g, bool berikov, int64_t t, const char *format)
{
	const cli_args *args = run->args;
	cli_check(kdr_generator_write(run->ctx, g, berikov ? 0 : t, file_of(args, berikov, t, format),
	                              file_of(args, berikov, t, "labels"), cli_flag(args, "force")));
}

static void write_tasks(const cli_run *run, kdr_design *spec, const char *format)
{
	kdr_generator *g = NULL;
	spec->samples = parse_samples(cli_get(run->args, "samples", "200"), spec->tasks);
	cli_check(kdr_generate(run->ctx, spec, &g));
	for (int64_t t = 0; t < spec->tasks; t++)
		write_task(run, g, false, t, format);
	if (strcmp(format, "csv") != 0) { /* CSV files have a header with the names */
		const cli_path path = cli_join(cli_get(run->args, "output", NULL), "features", ".txt");
		cli_check(kdr_generator_write_features(run->ctx, g, path.path, cli_flag(run->args, "force")));
	}
	kdr_generator_free(g);
}

/* The two data sets of the design have features of their own: source and target, one generator each. */
static void write_berikov(const cli_run *run, kdr_design *spec, const char *format)
{
	for (int t = 0; t < 2; t++) {
		kdr_generator *g = NULL;
		spec->target = t == 1;
		cli_check(kdr_generate(run->ctx, spec, &g));
		write_task(run, g, true, t, format);
		kdr_generator_free(g);
	}
}

static void generate_run(cli_run *run)
{
	const cli_args *args = run->args;
	const int design = cli_get_choice(args, "design", KDR_DESIGN_BLOBS);
	const bool berikov = design == KDR_DESIGN_BERIKOV;
	const char *format = formats[cli_get_choice(args, "to", design == KDR_DESIGN_TOPICS ? 1 : 0)];
	kdr_design spec;
	kdr_design_init(&spec, (kdr_design_kind)design);
	if (!berikov)
		spec.k = 3;
	if (cli_positional_count(args) > 0)
		cli_usage_error("unexpected argument '%s'; generate takes only options",
		                cli_positional(args, 0));
	if (!cli_get(args, "output", NULL))
		cli_usage_error("generate needs -o DIR: the folder to write to");
	if (design == KDR_DESIGN_TABLES && cli_get_choice(args, "to", 0) != 0)
		cli_usage_error("--to %s is not available with --design tables; use --to csv",
		                cli_get(args, "to", ""));
	read_design(args, &spec);
	cli_session_open(run);
	cli_make_folder(cli_get(args, "output", NULL));
	cli_check(kdr_outputs_begin(run->ctx, NULL));
	(berikov ? write_berikov : write_tasks)(run, &spec, format);
	cli_check(kdr_outputs_end(run->ctx, KDR_OK));
	for (int64_t t = 0; t < (berikov ? 2 : spec.tasks) && !cli_quiet(args); t++)
		cli_printf("written: %s, %s\n", file_of(args, berikov, t, format),
		           file_of(args, berikov, t, "labels"));
}

cli_command cli_generate = {
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
	.groups = { { "Options", own_options },
	            { "Blobs and tables", blob_options },
	            { "Topics", topic_options },
	            { "Tables", table_options },
	            CLI_COMMON },
	.run = generate_run,
};
