/* What sets each cluster apart. SPDX-License-Identifier: BSD-3-Clause
 *
 * One line per cluster. If the data are in the user's units: the means and shares that describe it, each with its difference
 * from the rest of the data set in standard deviations. Otherwise the features it has more of than the rest, and less of; for
 * counts also the share of the samples that have the feature, inside and outside. */
#include "cli.h"

#include <math.h>
#include <string.h>

enum { MOST_TASKS = 4, MOST_CLUSTERS = 12, HIGH = 4, LOW = 2, LONGEST = 24 };

static double number_at(const kdri_json_value *object, const char *key)
{
	return kdri_json_number(kdri_json_get(object, key), NAN);
}

/* Prints the effects of one sign, at most `most`, and returns their number. */
static int print_side(FILE *out, const kdri_json_value *features, int sign, int most)
{
	int count = 0;
	for (int64_t i = 0; i < kdri_json_count(features) && count < most; i++) {
		const kdri_json_value *f = kdri_json_at(features, i);
		double effect = number_at(f, "effect"), inside = number_at(f, "share_inside");
		if (!(effect * sign > 0))
			continue;
		fprintf(out, "%s%.*s %+.1f",
		        count++    ? ", "
		        : sign > 0 ? "high "
		                   : "low ",
		        LONGEST, kdri_json_text(kdri_json_get(f, "name"), NULL), effect);
		if (isfinite(inside))
			fprintf(out, " (%.0f%% | %.0f%%)", 100 * inside, 100 * number_at(f, "share_outside"));
	}
	return count;
}

static void print_cluster(FILE *out, const char *task, const kdri_json_value *cluster)
{
	const kdri_json_value *features = kdri_json_get(cluster, "features");
	const char *class = kdri_json_text(kdri_json_get(cluster, "class"), NULL);
	const char *name = kdri_json_text(kdri_json_get(cluster, "name"), NULL);
	if (class)
		fprintf(out, "  %s: ", class);
	else
		fprintf(out, "  %s %lld%s%s%s: ", task,
		        (long long)kdri_json_integer(kdri_json_get(cluster, "number"), 0), name ? " (" : "",
		        name ? name : "", name ? ")" : "");
	if (kdri_json_integer(kdri_json_get(cluster, "size"), 0) == 0) {
		fputs("empty\n", out);
		return;
	}
	const kdri_json_value *described = kdri_json_get(cluster, "described");
	for (int64_t i = 0; i < kdri_json_count(described); i++) {
		const kdri_json_value *f =
		        kdri_json_at(features, kdri_json_integer(kdri_json_at(described, i), 0));
		fprintf(out, "%s%s (%+.1f)", i ? ", " : "", kdri_json_text(kdri_json_get(f, "text"), NULL),
		        number_at(f, "effect"));
	}
	if (kdri_json_count(described) > 0) {
		fputs("\n", out);
		return;
	}
	int high = print_side(out, features, 1, HIGH);
	if (high && kdri_json_count(features) > high)
		fputs("; ", out);
	int low = print_side(out, features, -1, high ? LOW : HIGH);
	fputs(high || low ? "\n" : "no difference of 0.2 or more\n", out);
}

/* The first feature of any cluster; NULL if nothing sets the clusters apart. */
static const kdri_json_value *first_feature(const kdri_json_value *clusters)
{
	for (int64_t c = 0; c < kdri_json_count(clusters); c++) {
		const kdri_json_value *features = kdri_json_get(kdri_json_at(clusters, c), "features");
		if (kdri_json_count(features) > 0)
			return kdri_json_at(features, 0);
	}
	return NULL;
}

bool cli_has_classes(const kdr_result *r)
{
	const kdr_algo *algo = kdr_result_algo(r);
	return algo->family == KDR_FAMILY_TRANSFER && !(algo->flags & KDR_ALGO_CLUSTERS_TARGET);
}

const char *cli_groups(const kdr_result *r)
{
	return cli_has_classes(r) ? "classes" : "clusters";
}

/* What the figures of a feature are. */
static const char *explain(const kdri_json_value *feature)
{
	static const char described[] =
	        "mean or percentage in the group, and its difference from the other samples in standard deviations";
	static const char counted[] =
	        "difference from the other samples in standard deviations;\n"
	        " percentage of the samples that have the feature, inside | outside the group";
	static const char plain[] = "difference from the other samples in standard deviations";
	return kdri_json_get(feature, "text")                 ? described
	       : isfinite(number_at(feature, "share_inside")) ? counted
	                                                      : plain;
}

void cli_clusters(FILE *out, const cli_run *run)
{
	const char *explained = NULL; /* what was printed last */
	int64_t shown = 0, left = 0;
	for (int64_t t = 0; t < kdr_result_ntasks(run->result); t++) {
		const kdri_json_value *clusters = kdri_json_get(cli_about_task(run, t), "clusters");
		const kdri_json_value *first = first_feature(clusters);
		const char *name = kdr_result_task_name(run->result, t);
		int64_t k = kdri_json_count(clusters);
		if (!first)
			continue;
		if (shown == MOST_TASKS) {
			left++;
			continue;
		}
		fprintf(out, "\nfeatures that distinguish the %s of %s\n", cli_groups(run->result), name);
		const char *meaning = explain(first);
		if (meaning != explained)
			fprintf(out, "(%s)\n", meaning);
		explained = meaning;
		for (int64_t c = 0; c < k && (c < MOST_CLUSTERS || k == MOST_CLUSTERS + 1); c++)
			print_cluster(out, name, kdri_json_at(clusters, c));
		if (k > MOST_CLUSTERS + 1)
			fprintf(out, "  ... (%lld more)\n", (long long)(k - MOST_CLUSTERS));
		shown++;
	}
	if (left)
		fprintf(out, "\n... and %lld more data set%s, see features.csv\n", (long long)left,
		        CLI_S(left));
}
