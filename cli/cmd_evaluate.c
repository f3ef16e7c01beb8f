/* kindred evaluate. SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"

#include <string.h>

static const cli_option own_options[] = {
	CLI_FLAG("json", "print JSON"),
	CLI_VALUE("emd", "DATA",
	          "data that both files label: also compute the earth mover's distance between the two "
	          "clusterings"),
	CLI_VALUE("data", "TASK",
	          "data that LABELS belong to: also compute quality scores; TRUTH is then optional"),
	CLI_VALUE("method", "METHOD",
	          "with --data: method whose stability under resampling is measured (default auto)",
	          .letter = 'm'),
	CLI_VALUE("set", "NAME=VALUE",
	          "with --data: set an option of the method; 'kindred methods METHOD' lists them",
	          .repeats = true),
	CLI_JOB("features-from features-set"),
	CLI_VALUE("resamples", "N",
	          "with --data: number of fits for the stability score (default 5; 0 to skip it)"),
	CLI_OPTIONS_END,
};

/* The labels, and what is found about them. */
typedef struct evaluation {
	kdr_labels *labels, *truth; /* without samples that lack a label; truth NULL: not given */
	int64_t *rows, all;         /* which samples they are of; how many there are in the files */
	kdr_scores scores;
	int64_t *counts, *clusters, *classes, nclusters, nclasses; /* the contingency table */
	double uniform, proportional; /* with `emd`: how far the partitions are apart */
	kdr_quality quality;          /* with `data` */
	bool emd, data;               /* the options are given */
} evaluation;

/* What there is against the truth. */
static void put_scores(kdri_json *j, const evaluation *e)
{
	kdri_json_int(j, "classes", e->scores.classes);
	kdri_json_scores(j, &e->scores);
	if (e->emd) {
		kdri_json_object(j, "emd");
		kdri_json_real(j, "uniform", e->uniform);
		kdri_json_real(j, "proportional", e->proportional);
		kdri_json_end_object(j);
	}
	kdri_json_object(j, "contingency");
	kdri_json_array(j, "rows");
	for (int64_t i = 0; i < e->nclusters; i++)
		kdri_json_string(j, NULL, e->labels->names[e->clusters[i]]);
	kdri_json_end_array(j);
	kdri_json_array(j, "columns");
	for (int64_t i = 0; i < e->nclasses; i++)
		kdri_json_string(j, NULL, e->truth->names[e->classes[i]]);
	kdri_json_end_array(j);
	kdri_json_array(j, "counts");
	for (int64_t i = 0; i < e->nclusters; i++)
		kdri_json_ints(j, NULL, e->counts + i * e->nclasses, e->nclasses);
	kdri_json_end_array(j);
	kdri_json_end_object(j);
}

static void evaluate_print_json(const evaluation *e)
{
	kdri_json j = { 0 };
	kdri_json_object(&j, NULL);
	kdri_json_int(&j, "n", e->labels->n);
	kdri_json_int(&j, "clusters", e->data ? e->quality.clusters : e->scores.clusters);
	if (e->truth)
		put_scores(&j, e);
	if (e->data)
		kdri_json_quality(&j, &e->quality);
	kdri_json_end_object(&j);
	cli_print_json(&j);
}

/* The width of a column that holds `name` too, within reason. */
static int wider(int width, const char *name)
{
	int length = (int)strlen(name);
	return length <= width ? width : length < 24 ? length : 24;
}

static void print_scores(const evaluation *e)
{
	const kdr_scores *s = &e->scores;
	const struct {
		const char *name;
		double value;
		const char *words;
	} rows[] = {
		{ "acc", s->acc, "accuracy under the best one-to-one match of clusters and classes" },
		{ "nmi", s->nmi, "normalised mutual information: by the geometric mean of the entropies" },
		{ "nmi_arithmetic", s->nmi_arithmetic, "the same: by the arithmetic mean" },
		{ "nmi_max", s->nmi_max, "the same: by the larger entropy" },
		{ "ari", s->ari, "adjusted Rand index; 0 is expected by chance" },
		{ "purity", s->purity, "fraction of samples in the largest class of their cluster" },
		{ "homogeneity", s->homogeneity, "1 if every cluster has samples of one class only" },
		{ "completeness", s->completeness, "1 if every class is in one cluster only" },
		{ "v_measure", s->v_measure, "harmonic mean of homogeneity and completeness" },
	};
	cli_printf("%s, %s, %s\n\n", cli_count(s->n, "sample"), cli_count(s->clusters, "cluster"),
	           cli_count(s->classes, "class"));
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		cli_printf("%-14s  %.6f  %s\n", rows[i].name, rows[i].value, rows[i].words);
	cli_printf("higher scores are better; 1 is the maximum\n");
	if (e->emd)
		cli_printf(
		        "\nemd             %.6g  distance of the clusterings, clusters weighted by size; 0 = equal\n"
		        "emd_uniform     %.6g  the same, clusters weighted equally\n",
		        e->proportional, e->uniform);
	if (e->nclusters > 40 || e->nclasses > 12)
		return;
	int first = 8, width = 8;
	for (int64_t i = 0; i < e->nclusters; i++)
		first = wider(first, e->labels->names[e->clusters[i]]);
	for (int64_t c = 0; c < e->nclasses; c++)
		width = wider(width, e->truth->names[e->classes[c]]);
	cli_printf("\n%-*s", first, "cluster");
	for (int64_t c = 0; c < e->nclasses; c++)
		cli_printf("  %*.*s", width, width, e->truth->names[e->classes[c]]);
	putchar('\n');
	for (int64_t i = 0; i < e->nclusters; i++) {
		cli_printf("%-*.*s", first, first, e->labels->names[e->clusters[i]]);
		for (int64_t c = 0; c < e->nclasses; c++)
			cli_printf("  %*lld", width, (long long)e->counts[i * e->nclasses + c]);
		putchar('\n');
	}
}

static void evaluate_print_text(const evaluation *e)
{
	if (e->truth)
		print_scores(e);
	if (!e->data)
		return;
	cli_printf("%s%s, %s; scores that need no known classes\n\n", e->truth ? "\n" : "",
	           cli_count(e->quality.n, "sample"), cli_count(e->quality.clusters, "cluster"));
	cli_quality_lines(stdout, &e->quality);
	cli_printf("\n%s\n", kdri_quality_note());
}

/* Keeps only samples that have a label in both files: '?' is none. */
static void keep_labelled(const cli_args *args, evaluation *e)
{
	kdr_labels *labels = e->labels, *truth = e->truth;
	int64_t count = 0;
	e->all = labels->n;
	if (truth && labels->n != truth->n)
		cli_stop(EXIT_DATA, "%s has %s, but %s has %lld; give one label per sample in both files",
		         cli_positional(args, 0), cli_count(labels->n, "label"), cli_positional(args, 1),
		         (long long)truth->n);
	e->rows = cli_new((size_t)labels->n, sizeof *e->rows);
	for (int64_t i = 0; i < labels->n; i++) {
		if (strcmp(labels->names[labels->values[i]], "?") == 0 ||
		    (truth && strcmp(truth->names[truth->values[i]], "?") == 0))
			continue;
		labels->values[count] = labels->values[i];
		if (truth)
			truth->values[count] = truth->values[i];
		e->rows[count++] = i;
	}
	if (count == 0 && labels->n > 0)
		cli_stop(EXIT_DATA, "%s: no sample has a label%s; '?' is none", cli_positional(args, 0),
		         truth ? " in both files" : "");
	labels->n = count;
	if (truth)
		truth->n = count;
}

/* Replaces DATA or TASK, which need one row for each label, by the rows that have one. */
static void keep_rows(const cli_run *run, const char *path, const evaluation *e, kdr_data **data)
{
	const kdr_mat x = kdr_data_mat(*data);
	const int64_t rows = kdr_mat_rows(&x);
	kdr_data *some = NULL;
	if (rows != e->all)
		cli_stop(EXIT_DATA, "%s has %s, but %s has %s; give one label per sample", path,
		         cli_count(rows, "sample"), cli_positional(run->args, 0), cli_count(e->all, "label"));
	if (e->labels->n == e->all)
		return;
	cli_check(kdr_data_rows(run->ctx, *data, e->rows, e->labels->n, &some));
	kdr_data_free(*data);
	*data = some;
}

/* --- without truth -------------------------------------------------------------------------------------- */

/* The scores use the specified preprocessing; the stability uses that of the method unless one is specified. */
static kdr_status judge(kdr_context *ctx, kdr_data *data, const kdr_labels *labels, kdr_job *job,
                        kdr_quality *out)
{
	kdr_job_options *o = kdr_job_options_of(job);
	const int64_t *values = labels->values;
	int64_t resamples = o->resamples;
	double stability = 0;
	kdr_status st = kdr_prepare(ctx, &data, 1, o->prep, NULL);
	if (st != KDR_OK)
		return st;
	kdr_mat x = kdr_data_mat(data);
	st = kdr_quality_find(ctx, &x, values, out);
	if (st != KDR_OK || resamples < 0 || out->clusters < 2)
		return st;
	o->prep = NULL; /* that has been done */
	st = kdr_stability(ctx, &data, 1, &values, o, &resamples, &stability);
	if (st == KDR_OK) {
		out->stability = stability;
		out->resamples = resamples;
	}
	return st;
}

/* Reads --data TASK and finds how good labels are by themselves. */
static void find_quality(cli_run *run, evaluation *e)
{
	kdr_task_path task = cli_task_at(cli_get(run->args, "data", NULL));
	cli_job_read(run);
	cli_tasks_read(run, &task, 1);
	if (run->tasks.count != 1)
		cli_usage_error(
		        "--data: %s has %lld data sets, but LABELS belong to one; give a file with one data set",
		        task.path, (long long)run->tasks.count);
	keep_rows(run, task.path, e, &run->tasks.data[0]);
	cli_check(judge(run->ctx, run->tasks.data[0], e->labels, run->job, &e->quality));
}

/* --- against the truth ---------------------------------------------------------------------------------- */

/* Reads --emd DATA and finds the distance. */
static void find_distance(const cli_run *run, evaluation *e)
{
	const char *path = cli_get(run->args, "emd", NULL);
	kdr_read_options reading;
	kdr_data *data = NULL;
	cli_reading(run->args, &reading);
	cli_check_reading(kdr_read(run->ctx, path, &reading, &data));
	keep_rows(run, path, e, &data);
	kdr_mat x = kdr_data_mat(data);
	cli_check(kdr_emd(run->ctx, &x, e->labels->values, e->truth->values, &e->uniform, &e->proportional));
	kdr_data_free(data);
}

/* All that compares with TRUTH. */
static void evaluate_compare(const cli_run *run, evaluation *e)
{
	const int64_t *labels = e->labels->values, *truth = e->truth->values, n = e->labels->n;
	if (e->emd)
		find_distance(run, e);
	cli_check(kdr_evaluate(run->ctx, labels, truth, n, &e->scores));
	/* Too many clusters and classes for a dense table: the scores stand by themselves. */
	if (e->scores.clusters * (double)e->scores.classes <= 1e6)
		cli_check(kdr_contingency(run->ctx, labels, truth, n, &e->counts, &e->clusters, &e->nclusters,
		                          &e->classes, &e->nclasses));
}

static void evaluate_run(cli_run *run)
{
	const cli_args *args = run->args;
	const int count = cli_positional_count(args);
	evaluation e = { .emd = cli_get(args, "emd", NULL), .data = cli_get(args, "data", NULL) };
	if (count == 1 && e.data && e.emd)
		cli_usage_error("--emd compares LABELS with TRUTH; give both files");
	if (count != 2 && !(count == 1 && e.data))
		cli_usage_error(
		        "evaluate needs two files, LABELS and TRUTH, or LABELS and --data FILE (got %s)",
		        cli_count(count, "file"));
	cli_session_open(run);
	cli_check_reading(kdr_read_labels(run->ctx, cli_positional(args, 0), &e.labels));
	if (count == 2)
		cli_check_reading(kdr_read_labels(run->ctx, cli_positional(args, 1), &e.truth));
	keep_labelled(args, &e);
	if (e.truth)
		evaluate_compare(run, &e);
	if (e.data)
		find_quality(run, &e);
	(cli_flag(args, "json") ? evaluate_print_json : evaluate_print_text)(&e);
	kdr_free(run->ctx, e.counts);
	kdr_free(run->ctx, e.clusters);
	kdr_free(run->ctx, e.classes);
	kdr_labels_free(e.labels);
	kdr_labels_free(e.truth);
}

cli_command cli_evaluate = {
	.name = "evaluate",
	.usage = "[--json] [--data TASK] [--emd DATA] LABELS [TRUTH]",
	.summary = "score clusters, with or without known classes",
	.description =
	        "Compares the cluster labels in LABELS with the known classes in TRUTH. Both files have one line per "
	        "sample; samples with '?' are skipped. Prints the accuracy under the best one-to-one match of clusters and classes, the normalised "
	        "mutual information (with three kinds of normalisation), the adjusted Rand index, purity, homogeneity, "
	        "completeness and V-measure, and the contingency table.\n\n"
	        "With --emd, also prints the earth mover's distance between the two clusterings: the lowest cost of moving "
	        "the cluster means of one to those of the other, where a move costs the squared distance.\n\n"
	        "With --data, prints scores that need no known classes: silhouette (exact up to 20,000 samples), "
	        "Davies-Bouldin and Calinski-Harabasz, computed on the data as given or preprocessed with --weight, --norm "
	        "and --scale; and stability, the mean adjusted Rand index between LABELS and the clusters that METHOD "
	        "finds in random parts of the data, each with 4/5 of the samples.",
	.example = "kindred evaluate out/cornell.labels cornell.labels\n"
	           "kindred evaluate out/cornell.labels --data cornell.mtx --weight tfidf",
	.groups = { { "Options", own_options },
	            { "Preprocessing of --data, in this order", cli_prep_options },
	            { "Input files (DATA and TASK)", cli_reading_options },
	            CLI_TEXT_GROUPS,
	            CLI_COMMON },
	.completes_files = true,
	.run = evaluate_run,
};
