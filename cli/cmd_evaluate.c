/* kindred evaluate. SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"

#include <stdlib.h>
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

static cli_option_group groups[] = {
	{ "Options", own_options },
	{ "Preprocessing of --data, in this order", cli_prep_options },
	{ "Input files (DATA and TASK)", cli_reading_options },
	CLI_TEXT_GROUPS,
	{ "Common", cli_common_options },
	{ NULL, NULL },
};

/* The counts, with names; printed only if they fit on a screen. */
typedef struct table {
	int64_t *counts, *clusters, *classes, nclusters, nclasses;
} table;

/* How far the partitions are apart; given only with --emd. */
typedef struct distance {
	bool known;
	double uniform, proportional;
} distance;

/* What there is against the truth. */
static void put_scores(kdri_json *j, const kdr_scores *s, const table *t, const distance *d,
                       const kdr_labels *labels, const kdr_labels *truth)
{
	kdri_json_int(j, "classes", s->classes);
	kdri_json_scores(j, s);
	if (d->known) {
		kdri_json_object(j, "emd");
		kdri_json_real(j, "uniform", d->uniform);
		kdri_json_real(j, "proportional", d->proportional);
		kdri_json_end_object(j);
	}
	kdri_json_object(j, "contingency");
	kdri_json_array(j, "rows");
	for (int64_t i = 0; i < t->nclusters; i++)
		kdri_json_string(j, NULL, labels->names[t->clusters[i]]);
	kdri_json_end_array(j);
	kdri_json_array(j, "columns");
	for (int64_t i = 0; i < t->nclasses; i++)
		kdri_json_string(j, NULL, truth->names[t->classes[i]]);
	kdri_json_end_array(j);
	kdri_json_array(j, "counts");
	for (int64_t i = 0; i < t->nclusters; i++)
		kdri_json_ints(j, NULL, t->counts + i * t->nclasses, t->nclasses);
	kdri_json_end_array(j);
	kdri_json_end_object(j);
}

static void evaluate_print_json(const kdr_scores *s, const table *t, const distance *d,
                                const kdr_labels *labels, const kdr_labels *truth, const kdr_quality *q)
{
	kdri_json j = { 0 };
	kdri_json_object(&j, NULL);
	kdri_json_int(&j, "n", labels->n);
	kdri_json_int(&j, "clusters", q ? q->clusters : s->clusters);
	if (truth)
		put_scores(&j, s, t, d, labels, truth);
	if (q)
		kdri_json_quality(&j, q);
	kdri_json_end_object(&j);
	cli_print_json(&j);
}

/* The width of a column that holds `name` too, within reason. */
static int wider(int width, const char *name)
{
	int length = (int)strlen(name);
	return length <= width ? width : length < 24 ? length : 24;
}

static void print_scores(const kdr_scores *s, const table *t, const distance *d, const kdr_labels *labels,
                         const kdr_labels *truth)
{
	cli_printf("%lld sample%s, %lld cluster%s, %lld class%s\n\n", (long long)s->n, CLI_S(s->n),
	           (long long)s->clusters, CLI_S(s->clusters), (long long)s->classes, CLI_ES(s->classes));
	cli_printf("acc             %.6f  accuracy under the best one-to-one match of clusters and classes\n",
	           s->acc);
	cli_printf(
	        "nmi             %.6f  normalised mutual information: by the geometric mean of the entropies\n",
	        s->nmi);
	cli_printf("nmi_arithmetic  %.6f  the same: by the arithmetic mean\n", s->nmi_arithmetic);
	cli_printf("nmi_max         %.6f  the same: by the larger entropy\n", s->nmi_max);
	cli_printf("ari             %.6f  adjusted Rand index; 0 is expected by chance\n", s->ari);
	cli_printf("purity          %.6f  fraction of samples in the largest class of their cluster\n",
	           s->purity);
	cli_printf("homogeneity     %.6f  1 if every cluster has samples of one class only\n",
	           s->homogeneity);
	cli_printf("completeness    %.6f  1 if every class is in one cluster only\n", s->completeness);
	cli_printf("v_measure       %.6f  harmonic mean of homogeneity and completeness\n", s->v_measure);
	cli_printf("higher scores are better; 1 is the maximum\n");
	if (d->known) {
		cli_printf(
		        "\nemd             %.6g  distance of the clusterings, clusters weighted by size; 0 = equal\n",
		        d->proportional);
		cli_printf("emd_uniform     %.6g  the same, clusters weighted equally\n", d->uniform);
	}
	if (t->nclusters > 40 || t->nclasses > 12)
		return;
	int first = 8, width = 8;
	for (int64_t i = 0; i < t->nclusters; i++)
		first = wider(first, labels->names[t->clusters[i]]);
	for (int64_t c = 0; c < t->nclasses; c++)
		width = wider(width, truth->names[t->classes[c]]);
	cli_printf("\n%-*s", first, "cluster");
	for (int64_t c = 0; c < t->nclasses; c++)
		cli_printf("  %*.*s", width, width, truth->names[t->classes[c]]);
	putchar('\n');
	for (int64_t i = 0; i < t->nclusters; i++) {
		cli_printf("%-*.*s", first, first, labels->names[t->clusters[i]]);
		for (int64_t c = 0; c < t->nclasses; c++)
			cli_printf("  %*lld", width, (long long)t->counts[i * t->nclasses + c]);
		putchar('\n');
	}
}

static void evaluate_print_text(const kdr_scores *s, const table *t, const distance *d,
                                const kdr_labels *labels, const kdr_labels *truth, const kdr_quality *q)
{
	if (truth)
		print_scores(s, t, d, labels, truth);
	if (!q)
		return;
	if (truth)
		putchar('\n');
	cli_printf("%lld sample%s, %lld cluster%s; scores that need no known classes\n\n", (long long)q->n,
	           CLI_S(q->n), (long long)q->clusters, CLI_S(q->clusters));
	cli_quality_lines(stdout, q);
	cli_printf("\n%s\n", kdri_quality_note());
}

/* Samples that have a label in both files: '?' is none. */
typedef struct samples {
	int64_t *rows; /* NULL: all have one */
	int64_t count, all;
} samples;

/* Keeps only these in the labels. Exit status. */
static int keep_labelled(const cli_args *args, kdr_labels *labels, kdr_labels *truth, samples *s)
{
	*s = (samples){ .all = labels->n };
	if (truth && labels->n != truth->n)
		return cli_fail_with(
		        EXIT_DATA,
		        "%s has %lld label%s, but %s has %lld; give one label per sample in both files",
		        cli_positional(args, 0), (long long)labels->n, CLI_S(labels->n),
		        cli_positional(args, 1), (long long)truth->n);
	s->rows = malloc((size_t)(labels->n + 1) * sizeof *s->rows);
	if (!s->rows)
		return cli_no_memory();
	for (int64_t i = 0; i < labels->n; i++)
		if (strcmp(labels->names[labels->values[i]], "?") != 0 &&
		    (!truth || strcmp(truth->names[truth->values[i]], "?") != 0))
			s->rows[s->count++] = i;
	if (s->count == 0 && labels->n > 0)
		return cli_fail_with(EXIT_DATA, "%s: no sample has a label%s; '?' is none",
		                     cli_positional(args, 0), truth ? " in both files" : "");
	for (int64_t i = 0; i < s->count; i++) {
		labels->values[i] = labels->values[s->rows[i]];
		if (truth)
			truth->values[i] = truth->values[s->rows[i]];
	}
	labels->n = s->count;
	if (truth)
		truth->n = s->count;
	if (s->count == s->all) {
		free(s->rows);
		s->rows = NULL;
	}
	return EXIT_DONE;
}

/* Replaces DATA or TASK, which need one row for each label, by the rows that have one. Exit status. */
static int keep_rows(kdr_context *ctx, const cli_args *args, const char *path, const samples *s,
                     kdr_data **data)
{
	const kdr_mat x = kdr_data_mat(*data);
	const int64_t rows = kdr_mat_rows(&x);
	kdr_data *some = NULL;
	if (rows != s->all)
		return cli_fail_with(
		        EXIT_DATA, "%s has %lld sample%s, but %s has %lld label%s; give one label per sample",
		        path, (long long)rows, CLI_S(rows), cli_positional(args, 0), (long long)s->all,
		        CLI_S(s->all));
	if (!s->rows)
		return EXIT_DONE;
	CLI_DO(cli_code(ctx, kdr_data_rows(ctx, *data, s->rows, s->count, &some)));
	kdr_data_free(*data);
	*data = some;
	return EXIT_DONE;
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

/* Reads --data TASK and finds how good labels are by themselves. Exit status. */
static int find_quality(kdr_context *ctx, const cli_args *args, const kdr_labels *labels, const samples *s,
                        kdr_quality *out)
{
	cli_task_arg task = { .name = "" };
	kdr_job *job = NULL;
	cli_tasks tasks = { 0 };
	cli_task_split(cli_get(args, "data", NULL), task.name, sizeof task.name, &task.path);
	int code = cli_job_read(ctx, args, &job);
	if (code == EXIT_DONE)
		code = cli_tasks_read(ctx, args, &task, 1, &tasks);
	if (code != EXIT_DONE)
		goto done;
	if (tasks.count != 1) {
		code = cli_usage_error(
		        "--data: %s has %lld data sets, but LABELS belong to one; give a file with one data set",
		        task.path, (long long)tasks.count);
		goto done;
	}
	code = keep_rows(ctx, args, task.path, s, &tasks.data[0]);
	if (code == EXIT_DONE)
		code = cli_code(ctx, judge(ctx, tasks.data[0], labels, job, out));
done:
	kdr_job_free(job);
	cli_tasks_free(&tasks);
	return code;
}

/* --- against the truth ---------------------------------------------------------------------------------- */

/* Reads --emd DATA and finds the distance. Exit status. */
static int find_distance(kdr_context *ctx, const cli_args *args, const kdr_labels *labels,
                         const kdr_labels *truth, const samples *s, distance *out)
{
	const char *path = cli_get(args, "emd", NULL);
	kdr_read_options reading;
	kdr_data *data = NULL;
	cli_reading(args, &reading);
	CLI_DO(cli_code_reading(ctx, kdr_read(ctx, path, &reading, &data)));
	int code = keep_rows(ctx, args, path, s, &data);
	kdr_mat x = kdr_data_mat(data);
	if (code == EXIT_DONE)
		code = cli_code(ctx, kdr_emd(ctx, &x, labels->values, truth->values, &out->uniform,
		                             &out->proportional));
	out->known = code == EXIT_DONE;
	kdr_data_free(data);
	return code;
}

/* All that compares with TRUTH. Exit status. */
static int evaluate_compare(kdr_context *ctx, const cli_args *args, const kdr_labels *labels,
                            const kdr_labels *truth, const samples *s, kdr_scores *scores, table *t,
                            distance *apart)
{
	int code = EXIT_DONE;
	if (cli_get(args, "emd", NULL) &&
	    (code = find_distance(ctx, args, labels, truth, s, apart)) != EXIT_DONE)
		return code;
	kdr_status st = kdr_evaluate(ctx, labels->values, truth->values, labels->n, scores);
	/* Too many clusters and classes for a dense table: the scores stand by themselves. */
	if (st == KDR_OK && scores->clusters * (double)scores->classes <= 1e6)
		st = kdr_contingency(ctx, labels->values, truth->values, labels->n, &t->counts, &t->clusters,
		                     &t->nclusters, &t->classes, &t->nclasses);
	return cli_code(ctx, st);
}

static bool check_usage(const cli_args *args)
{
	int count = cli_positional_count(args);
	bool data = cli_get(args, "data", NULL);
	if (count == 2 || (count == 1 && data && !cli_get(args, "emd", NULL)))
		return true;
	if (count == 1 && data)
		cli_error("--emd compares LABELS with TRUTH; give both files");
	else
		cli_error(
		        "evaluate needs two files, LABELS and TRUTH, or LABELS and --data FILE (got %d file%s)",
		        count, count == 1 ? "" : "s");
	return false;
}

static int evaluate_run(cli_args *args)
{
	distance apart = { 0 };
	kdr_labels *labels = NULL, *truth = NULL;
	kdr_scores scores = { 0 };
	kdr_quality quality = { 0 };
	table t = { 0 };
	samples some = { 0 };
	bool data = cli_get(args, "data", NULL);
	if (!check_usage(args))
		return EXIT_USAGE;
	kdr_context *ctx;
	CLI_DO(cli_session_open(args, &ctx));
	kdr_status st = kdr_read_labels(ctx, cli_positional(args, 0), &labels);
	if (st == KDR_OK && cli_positional_count(args) == 2)
		st = kdr_read_labels(ctx, cli_positional(args, 1), &truth);
	int code = cli_code_reading(ctx, st);
	if (code == EXIT_DONE)
		code = keep_labelled(args, labels, truth, &some);
	if (code == EXIT_DONE && truth)
		code = evaluate_compare(ctx, args, labels, truth, &some, &scores, &t, &apart);
	if (code == EXIT_DONE && data)
		code = find_quality(ctx, args, labels, &some, &quality);
	if (code == EXIT_DONE)
		(cli_flag(args, "json") ? evaluate_print_json : evaluate_print_text)(
		        &scores, &t, &apart, labels, truth, data ? &quality : NULL);
	free(some.rows);
	kdr_free(ctx, t.counts);
	kdr_free(ctx, t.clusters);
	kdr_free(ctx, t.classes);
	kdr_labels_free(labels);
	kdr_labels_free(truth);
	return cli_session_close(ctx, code);
}

const cli_command cli_evaluate = {
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
	.groups = groups,
	.completes_files = true,
	.run = evaluate_run,
};
