/* kindred evaluate. SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"

#include <string.h>

static const cli_option own_options[] = {
	{ .name = "json", .help = "print JSON" },
	{ .name = "emd",
	  .value = "DATA",
	  .help = "the data both files label: also tell how far the two partitions are apart" },
	CLI_OPTIONS_END,
};

static const cli_option_group groups[] = {
	{ "Options", own_options },
	{ "Reading DATA", cli_reading_options },
	{ "Common", cli_common_options },
	{ NULL, NULL },
};

/* The counts, with names; for people only where they fit a screen. */
typedef struct table {
	int64_t *counts, *clusters, *classes, nclusters, nclasses;
} table;

/* How far the partitions are apart; given only with --emd. */
typedef struct distance {
	bool known;
	double uniform, proportional;
} distance;

static void print_json(const kdr_scores *s, const table *t, const distance *d, const kdr_labels *labels,
                       const kdr_labels *truth)
{
	kdri_json j = { 0 };
	kdri_json_object(&j, NULL);
	kdri_json_int(&j, "n", s->n);
	kdri_json_int(&j, "clusters", s->clusters);
	kdri_json_int(&j, "classes", s->classes);
	kdri_json_real(&j, "acc", s->acc);
	kdri_json_real(&j, "nmi", s->nmi);
	kdri_json_real(&j, "nmi_arithmetic", s->nmi_arithmetic);
	kdri_json_real(&j, "nmi_max", s->nmi_max);
	kdri_json_real(&j, "ari", s->ari);
	kdri_json_real(&j, "purity", s->purity);
	kdri_json_real(&j, "homogeneity", s->homogeneity);
	kdri_json_real(&j, "completeness", s->completeness);
	kdri_json_real(&j, "v_measure", s->v_measure);
	if (d->known) {
		kdri_json_object(&j, "emd");
		kdri_json_real(&j, "uniform", d->uniform);
		kdri_json_real(&j, "proportional", d->proportional);
		kdri_json_end_object(&j);
	}
	kdri_json_object(&j, "contingency");
	kdri_json_array(&j, "rows");
	for (int64_t i = 0; i < t->nclusters; i++)
		kdri_json_string(&j, NULL, labels->names[t->clusters[i]]);
	kdri_json_end_array(&j);
	kdri_json_array(&j, "columns");
	for (int64_t i = 0; i < t->nclasses; i++)
		kdri_json_string(&j, NULL, truth->names[t->classes[i]]);
	kdri_json_end_array(&j);
	kdri_json_array(&j, "counts");
	for (int64_t i = 0; i < t->nclusters; i++) {
		kdri_json_array(&j, NULL);
		for (int64_t c = 0; c < t->nclasses; c++)
			kdri_json_int(&j, NULL, t->counts[i * t->nclasses + c]);
		kdri_json_end_array(&j);
	}
	kdri_json_end_array(&j);
	kdri_json_end_object(&j);
	kdri_json_end_object(&j);
	if (j.failed)
		cli_error("out of memory");
	else
		puts(j.text);
	kdri_json_free(&j);
}

/* The width of a column that holds `name` too, within reason. */
static int wider(int width, const char *name)
{
	int length = (int)strlen(name);
	return length <= width ? width : length < 24 ? length : 24;
}

static void print_text(const kdr_scores *s, const table *t, const distance *d, const kdr_labels *labels,
                       const kdr_labels *truth)
{
	cli_printf("%lld samples, %lld clusters, %lld classes\n\n", (long long)s->n, (long long)s->clusters,
	           (long long)s->classes);
	cli_printf("acc             %.6f  best one-to-one map of clusters to classes\n", s->acc);
	cli_printf("nmi             %.6f  mutual information over the geometric mean of entropies\n", s->nmi);
	cli_printf("nmi_arithmetic  %.6f  over the arithmetic mean\n", s->nmi_arithmetic);
	cli_printf("nmi_max         %.6f  over the larger entropy\n", s->nmi_max);
	cli_printf("ari             %.6f  adjusted Rand index\n", s->ari);
	cli_printf("purity          %.6f\n", s->purity);
	cli_printf("homogeneity     %.6f\n", s->homogeneity);
	cli_printf("completeness    %.6f\n", s->completeness);
	cli_printf("v_measure       %.6f\n", s->v_measure);
	if (d->known) {
		cli_printf("emd             %.6g  between the clusters' means, clusters weighted by size\n",
		           d->proportional);
		cli_printf("emd_uniform     %.6g  clusters weighted alike\n", d->uniform);
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

/* Reads --emd DATA and finds the distance. Exit status. */
static int find_distance(kdr_context *ctx, const cli_args *args, const kdr_labels *labels,
                         const kdr_labels *truth, distance *out)
{
	const char *path = cli_get(args, "emd", NULL);
	kdr_read_options reading;
	kdr_data *data = NULL;
	int code = EXIT_DONE;
	cli_reading(args, &reading);
	kdr_status st = kdr_read(ctx, path, &reading, &data);
	if (st != KDR_OK)
		return cli_fail_reading(ctx, st);
	kdr_mat x = kdr_data_mat(data);
	if (kdr_mat_rows(&x) != labels->n) {
		cli_error("%s has %lld samples but %s has %lld labels: one for each sample is needed", path,
		          (long long)kdr_mat_rows(&x), cli_positional(args, 0), (long long)labels->n);
		code = EXIT_DATA;
	} else {
		st = kdr_emd(ctx, &x, labels->values, truth->values, &out->uniform, &out->proportional);
		out->known = st == KDR_OK;
		code = st == KDR_OK ? EXIT_DONE : cli_fail(ctx, st);
	}
	kdr_data_free(data);
	return code;
}

static int run(cli_args *args)
{
	int code;
	distance apart = { 0 };
	kdr_labels *labels = NULL, *truth = NULL;
	kdr_scores scores;
	table t = { 0 };
	if (cli_positional_count(args) != 2) {
		cli_error("evaluate needs two files, LABELS and TRUTH; %d given", cli_positional_count(args));
		return EXIT_USAGE;
	}
	kdr_context *ctx = cli_session_open(args, &code);
	if (!ctx)
		return code;
	kdr_status st = kdr_read_labels(ctx, cli_positional(args, 0), &labels);
	if (st == KDR_OK)
		st = kdr_read_labels(ctx, cli_positional(args, 1), &truth);
	if (st != KDR_OK) {
		code = cli_fail_reading(ctx, st);
		goto done;
	}
	if (labels->n != truth->n) {
		cli_error("%s has %lld labels but %s has %lld: one for each sample is needed",
		          cli_positional(args, 0), (long long)labels->n, cli_positional(args, 1),
		          (long long)truth->n);
		code = EXIT_DATA;
		goto done;
	}
	if (cli_get(args, "emd", NULL) &&
	    (code = find_distance(ctx, args, labels, truth, &apart)) != EXIT_DONE)
		goto done;
	st = kdr_evaluate(ctx, labels->values, truth->values, labels->n, &scores);
	/* Too many clusters and classes for a dense table: the scores stand by themselves. */
	if (st == KDR_OK && scores.clusters * (double)scores.classes <= 1e6)
		st = kdr_contingency(ctx, labels->values, truth->values, labels->n, &t.counts, &t.clusters,
		                     &t.nclusters, &t.classes, &t.nclasses);
	if (st != KDR_OK) {
		code = cli_fail(ctx, st);
		goto done;
	}
	(cli_flag(args, "json") ? print_json : print_text)(&scores, &t, &apart, labels, truth);
done:
	kdr_free(ctx, t.counts);
	kdr_free(ctx, t.clusters);
	kdr_free(ctx, t.classes);
	kdr_labels_free(labels);
	kdr_labels_free(truth);
	cli_session_close(ctx);
	return cli_finish(code);
}

const cli_command cli_evaluate = {
	.name = "evaluate",
	.usage = "[--json] [--emd DATA] LABELS TRUTH",
	.summary = "score a partition against known classes",
	.description =
	        "Both files hold one label a line, a line a sample. Prints accuracy under the best one-to-one map of "
	        "clusters to classes, normalised mutual information (three denominators), adjusted Rand index, purity, "
	        "homogeneity, completeness, V-measure, and the contingency table.\n\n"
	        "With --emd it also prints the earth mover's distance between the two partitions: "
	        "the least cost of carrying the means of one's clusters to those of the other's, at squared distances.",
	.example = "kindred evaluate out/cornell.labels cornell.labels",
	.groups = groups,
	.completes_files = true,
	.run = run,
};
