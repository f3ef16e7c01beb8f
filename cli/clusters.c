/* Prints what sets each cluster apart, which clusters match, and how they split. SPDX-License-Identifier: BSD-3-Clause
 *
 * One line per cluster. If the data are in the user's units: the means and shares that describe it, each with its difference
 * from the rest of the data set in standard deviations. Otherwise the features it has more of than the rest, and less of; for
 * counts also the share of the samples that have the feature, inside and outside.
 *
 * For any method that relates clusters of different data sets: the best match of each cluster by weight, the estimated chance
 * that both belong together and, if features have names, the distinguishing features of both. */
#include "cli.h"

#include <math.h>
#include <string.h>

enum { LONGEST = 24, MOST_TASKS = 4, MOST_CLUSTERS = 12, HIGH = 4, LOW = 2 };

/* Prints the effects of one sign, at most `most`, and returns their number. */
static int print_side(FILE *out, const kdri_json_value *features, int sign, int most)
{
	int count = 0;
	for (int64_t i = 0; i < kdri_json_count(features) && count < most; i++) {
		const kdri_json_value *f = kdri_json_at(features, i);
		double effect = cli_number_at(f, "effect"), inside = cli_number_at(f, "share_inside");
		if (!(effect * sign > 0))
			continue;
		fprintf(out, "%s%.*s %+.1f",
		        count++    ? ", "
		        : sign > 0 ? "high "
		                   : "low ",
		        LONGEST, cli_text_at(f, "name"), effect);
		if (isfinite(inside))
			fprintf(out, " (%.0f%% | %.0f%%)", 100 * inside,
			        100 * cli_number_at(f, "share_outside"));
	}
	return count;
}

static void print_cluster(FILE *out, const char *task, const kdri_json_value *cluster)
{
	const kdri_json_value *features = kdri_json_get(cluster, "features");
	const char *class = cli_text_at(cluster, "class"), *name = cli_text_at(cluster, "name");
	if (class)
		fprintf(out, "  %s: ", class);
	else
		fprintf(out, "  %s %lld%s%s%s: ", task, cli_integer_at(cluster, "number"), name ? " (" : "",
		        name ? name : "", name ? ")" : "");
	if (cli_integer_at(cluster, "size") == 0) {
		fputs("empty\n", out);
		return;
	}
	const kdri_json_value *described = kdri_json_get(cluster, "described");
	for (int64_t i = 0; i < kdri_json_count(described); i++) {
		const kdri_json_value *f =
		        kdri_json_at(features, kdri_json_integer(kdri_json_at(described, i), 0));
		fprintf(out, "%s%s (%+.1f)", i ? ", " : "", cli_text_at(f, "text"),
		        cli_number_at(f, "effect"));
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

/* What the figures of a feature are. */
static const char *explain(const kdri_json_value *feature)
{
	static const char described[] =
	        "mean or percentage in the group, and its difference from the other samples in standard deviations";
	static const char counted[] =
	        "difference from the other samples in standard deviations;\n"
	        " percentage of the samples that have the feature, inside | outside the group";
	static const char plain[] = "difference from the other samples in standard deviations";
	return kdri_json_get(feature, "text")                     ? described
	       : isfinite(cli_number_at(feature, "share_inside")) ? counted
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
		fprintf(out, "\nfeatures that distinguish the %s of %s\n",
		        cli_has_classes(run->result) ? "classes" : "clusters", name);
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

/* --- matches -------------------------------------------------------------------------------------- */

enum { MOST_PAIRS = 3, MOST_ROWS = 12, WORDS = 4 };

/* "orbit, launch, moon, nasa": what cluster z has more of than the rest of its task; what it has less of if there is nothing it
 * has more of. */
static void top_features(const cli_run *run, int64_t task, int64_t z, char *out, size_t room)
{
	const kdri_json_value *cluster =
	        kdri_json_at(kdri_json_get(cli_about_task(run, task), "clusters"), z);
	const kdri_json_value *features = kdri_json_get(cluster, "features");
	int count = 0;
	size_t used = 0;
	out[0] = '\0';
	for (int sign = 1; sign >= -1 && count == 0; sign -= 2)
		for (int64_t i = 0;
		     i < kdri_json_count(features) && count < WORDS && used + LONGEST + 8 < room; i++) {
			const kdri_json_value *f = kdri_json_at(features, i);
			if (kdri_json_number(kdri_json_get(f, "effect"), 0) * sign > 0)
				used += (size_t)snprintf(out + used, room - used, "%s%.*s",
				                         count++    ? ", "
				                         : sign < 0 ? "little "
				                                    : "",
				                         LONGEST, cli_text_at(f, "name"));
		}
}

/* Whether the task has labels, and features with names: features without one are called "column 1", "column 2", ... */
static bool has_words(const cli_run *run, int64_t task)
{
	const kdri_json_value *first = first_feature(kdri_json_get(cli_about_task(run, task), "clusters"));
	return first && strncmp(cli_text_at(first, "name"), "column ", 7) != 0;
}

static bool is_empty(const cli_run *run, int64_t task, int64_t z)
{
	const kdri_json_value *sizes = kdri_json_get(cli_about_task(run, task), "sizes");
	return z < kdri_json_count(sizes) && kdri_json_integer(kdri_json_at(sizes, z), 1) == 0;
}

static void print_pair(FILE *out, const cli_run *run, const kdr_correspondence *c)
{
	const kdr_result *r = run->result;
	const char *a = kdr_result_task_name(r, c->from), *b = kdr_result_task_name(r, c->to);
	bool words = has_words(run, c->from) && has_words(run, c->to);
	for (int64_t z = 0; z < c->rows; z++) {
		int64_t best = 0;
		double total = 0;
		const double *w = c->matrix + z * c->cols;
		if (z == MOST_ROWS && c->rows > MOST_ROWS + 1) {
			fprintf(out, "  ... (%lld more)\n", (long long)(c->rows - z));
			break;
		}
		if (is_empty(run, c->from, z))
			continue;
		for (int64_t l = 0; l < c->cols; l++) {
			total += w[l] > 0 ? w[l] : 0;
			if (w[l] > w[best])
				best = l;
		}
		if (!(w[best] > 0)) {
			fprintf(out, "  %s %lld: no counterpart\n", a, (long long)z);
			continue;
		}
		char left[160], right[160];
		fprintf(out, "  %s %lld = %s %lld", a, (long long)z, b, (long long)best);
		if (c->quality)
			fprintf(out, " (%.0f %%)", 100 * c->quality[z]);
		/* Split between several clusters: how much of it this one has. */
		if (w[best] < 0.995 * total)
			fprintf(out, " (%.0f %% of its weight)", 100 * w[best] / total);
		if (words) {
			top_features(run, c->from, z, left, sizeof left);
			top_features(run, c->to, best, right, sizeof right);
			fprintf(out, ": %s | %s", left, right);
		}
		fputc('\n', out);
	}
}

void cli_matches(FILE *out, const cli_run *run)
{
	const kdr_result *r = run->result;
	int64_t count = kdr_result_correspondence_count(r), printed = 0, left = 0;
	for (int64_t i = 0; i < count; i++) {
		kdr_correspondence c = kdr_result_correspondence_at(r, i);
		if (c.from > c.to) /* the other direction of a pair that was shown */
			continue;
		if (printed == MOST_PAIRS) {
			left++;
			continue;
		}
		fprintf(out, "\nbest matches between the clusters of %s and %s\n",
		        kdr_result_task_name(r, c.from), kdr_result_task_name(r, c.to));
		if (printed == 0 && c.quality)
			fputs("(estimated probability that both clusters belong together)\n", out);
		print_pair(out, run, &c);
		printed++;
	}
	if (left)
		fprintf(out, "\n... and %lld more pair%s of data sets, see correspondence in result.json\n",
		        (long long)left, CLI_S(left));
}

/* --- numbers of clusters -------------------------------------------------------------------------- */

enum { MOST_LINES = 16, MOST_FEATURES = 3 };

static long long size_of(const kdri_json_value *task, int64_t cluster)
{
	return kdri_json_integer(kdri_json_at(kdri_json_get(task, "sizes"), cluster), 0);
}

static void print_split(FILE *out, long long k, const kdri_json_value *task, bool named,
                        const kdri_json_value *split)
{
	const kdri_json_value *into = kdri_json_get(split, "into"),
	                      *features = kdri_json_get(split, "features");
	const long long left = kdri_json_integer(kdri_json_at(into, 0), 0),
	                right = kdri_json_integer(kdri_json_at(into, 1), 0);
	fprintf(out, "  k = %lld: ", k);
	if (named)
		fprintf(out, "%s: ", cli_text_at(task, "name"));
	fprintf(out, "cluster %lld splits into %lld (%lld samples) and %lld (%lld)",
	        cli_integer_at(split, "of"), left, size_of(task, left), right, size_of(task, right));
	for (int64_t f = 0; f < kdri_json_count(features) && f < MOST_FEATURES; f++)
		fprintf(out, "%s%s", f ? ", " : "; they differ in ",
		        cli_text_at(kdri_json_at(features, f), "name"));
	fputc('\n', out);
}

void cli_levels(FILE *out, const cli_run *run)
{
	const kdri_json_value *levels = kdri_json_get(run->about, "levels");
	const int64_t count = kdri_json_count(levels);
	int64_t lines = 0;
	if (count < 2)
		return;
	fprintf(out, "\nnumbers of clusters fitted:");
	for (int64_t i = 0; i < count; i++)
		fprintf(out, "%s %lld", i ? "," : "", cli_integer_at(kdri_json_at(levels, i), "k"));
	fprintf(out, "; suggested: %lld ('kindred cut' writes the clusters for another one)\n",
	        cli_integer_at(run->about, "level"));
	for (int64_t i = 1; i < count; i++) {
		const kdri_json_value *level = kdri_json_at(levels, i),
		                      *tasks = kdri_json_get(level, "tasks");
		for (int64_t t = 0; t < kdri_json_count(tasks); t++) {
			const kdri_json_value *task = kdri_json_at(tasks, t),
			                      *splits = kdri_json_get(task, "splits");
			for (int64_t s = 0; s < kdri_json_count(splits); s++)
				if (lines++ < MOST_LINES)
					print_split(out, cli_integer_at(level, "k"), task,
					            kdri_json_count(tasks) > 1, kdri_json_at(splits, s));
		}
	}
	if (lines > MOST_LINES)
		fprintf(out, "  and %lld more: result.json lists all under levels\n",
		        (long long)(lines - MOST_LINES));
}
