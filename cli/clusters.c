/* Prints what sets each cluster apart, which clusters match, and how they split. SPDX-License-Identifier: BSD-3-Clause
 *
 * The summary has one entry per cluster: its size in each data set and the features that say most about it; of many clusters, only titles. Clusters of several
 * data sets share an entry if they have the same number and are each other's counterparts.
 *
 * With -v, one line per cluster and data set. If the data are in the user's units: the means and shares that describe it, each with its difference
 * from the rest of the data set in standard deviations. Otherwise the features it has more of than the rest, and less of; for
 * counts also the share of the samples that have the feature, inside and outside.
 *
 * For any method that relates clusters of different data sets: the best match of each cluster by weight, the estimated chance
 * that both belong together and, if features have names, the distinguishing features of both. */
#include "cli.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
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

void cli_profiles(FILE *out, const cli_run *run)
{
	const char *explained = NULL; /* what was printed last */
	int64_t shown = 0, left = 0;
	for (int64_t t = 0; t < kdr_result_ntasks(run->result); t++) {
		const kdri_json_value *clusters = cli_about(run, t, "clusters");
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
		fprintf(out, "\n... and %s, see features.csv\n", cli_count(left, "more data set"));
}

/* --- the summary's table ------------------------------------------------------------------------------ */

enum { WIDTH = 80, MOST_SIZES = 36, NAMED = 20, FEW_FEATURES = 3, FEW_ENTRIES = 8 };

/* The line that is being printed. */
typedef struct line {
	FILE *out;
	int used, indent, lines; /* columns; where the next line begins; finished ones */
} line;

/* Prints a part of a list, on the next line if it does not fit; not on a third one. */
static void put_part(line *l, const char *separator, const char *part)
{
	const int length = cli_width(separator) + cli_width(part);
	if (l->used + length > WIDTH - 1 && l->used > l->indent) {
		if (l->lines++ == 0)
			fprintf(l->out, "%s\n%*s%s", separator[0] ? "," : "", l->indent, "", part);
		l->used = l->lines == 1 ? l->indent + cli_width(part) : WIDTH;
		return;
	}
	fprintf(l->out, "%s%s", separator, part);
	l->used += length;
}

/* The cluster with this number. */
static const kdri_json_value *cluster_at(const cli_run *run, int64_t task, int64_t z)
{
	const kdri_json_value *clusters = cli_about(run, task, "clusters");
	for (int64_t i = 0; i < kdri_json_count(clusters); i++)
		if (cli_integer_at(kdri_json_at(clusters, i), "number") == z)
			return kdri_json_at(clusters, i);
	return NULL;
}

static int64_t count_sizes(const cli_run *run, int64_t task)
{
	return kdri_json_count(cli_about(run, task, "sizes"));
}

static long long size_at(const cli_run *run, int64_t task, int64_t z)
{
	return kdri_json_integer(kdri_json_at(cli_about(run, task, "sizes"), z), 0);
}

/* "income 1,900 (others 3,200)", "orbit 45 % (others 3 %)" or, if that says little, "column 7 +1.2 sd". */
static void feature_text(const kdri_json_value *f, char *out, size_t room)
{
	const char *text = cli_text_at(f, "text"), *name = cli_text_at(f, "name");
	const double inside = cli_number_at(f, "share_inside"), outside = cli_number_at(f, "share_outside");
	if (text)
		snprintf(out, room, "%s", text);
	else if (fabs(inside - outside) >= 0.1 || (fmax(inside, outside) >= 0.02 && inside >= 2 * outside))
		snprintf(out, room, "%.*s %.0f %% (others %.0f %%)", LONGEST, name, 100 * inside,
		         100 * outside);
	else
		snprintf(out, room, "%.*s %+.1f sd", LONGEST, name, cli_number_at(f, "effect"));
}

/* The features that say most about a cluster: those that describe it in the user's units, else those it has more of. */
static void put_features(line *l, const kdri_json_value *cluster)
{
	const kdri_json_value *features = kdri_json_get(cluster, "features"),
	                      *described = kdri_json_get(cluster, "described");
	char text[256];
	int count = 0;
	for (int64_t i = 0; i < kdri_json_count(described) && count < FEW_FEATURES; i++) {
		feature_text(kdri_json_at(features, kdri_json_integer(kdri_json_at(described, i), 0)), text,
		             sizeof text);
		put_part(l, count++ ? ", " : "", text);
	}
	for (int sign = 1; sign >= -1 && kdri_json_count(described) == 0; sign -= 2)
		for (int64_t i = 0; i < kdri_json_count(features) && count < FEW_FEATURES; i++) {
			const kdri_json_value *f = kdri_json_at(features, i);
			if (cli_number_at(f, "effect") * sign <= 0)
				continue;
			feature_text(f, text, sizeof text);
			put_part(l, count++ ? ", " : "", text);
		}
	if (count == 0)
		put_part(l, "", "no feature differs much from the other samples");
}

/* The phrases of a title that fit on the line; unless it is alone, features get the next one. */
static void put_title(line *l, const char *title, bool alone)
{
	for (const char *p = title; *p;) {
		const size_t n = strcspn(p, ","), separator = p > title ? 2 : 0;
		if (p > title && l->used + (int)(n + separator) > WIDTH - 1)
			break;
		l->used += fprintf(l->out, "%s%.*s", p > title ? ", " : "", (int)n, p);
		p += n + (p[n] ? 2 : 0);
	}
	if (alone)
		return;
	fprintf(l->out, "\n%*s", l->indent, "");
	l->used = l->indent;
	l->lines = 1;
}

/* A cluster of some data sets: all that have it, or one. */
typedef struct entry {
	int64_t z, first; /* its number; the first data set that has it */
	double match;     /* kdr_result_match */
} entry;

static bool belongs(const cli_run *run, const entry *e, int64_t t)
{
	return t >= e->first && size_at(run, t, e->z) > 0;
}

/* Whether an earlier data set has the cluster, so that it has an entry already. */
static bool is_listed(const cli_run *run, int64_t t, int64_t z)
{
	for (int64_t s = 0; s < t; s++)
		if (kdr_result_labels(run->result, s, NULL) && size_at(run, s, z) > 0)
			return true;
	return false;
}

/* The columns of the table. */
typedef struct columns {
	int name;  /* width of the first */
	int *size; /* of each task; NULL: one column for all */
} columns;

static void put_entry(FILE *out, const cli_run *run, const columns *c, const entry *e, bool brief)
{
	const kdr_result *r = run->result;
	const kdri_json_value *own = cluster_at(run, e->first, e->z);
	const char *class = cli_text_at(own, "class"), *name = cli_text_at(own, "name"),
	           *title = cli_text_at(own, "title");
	int64_t largest = e->first, sum = 0, ntasks = kdr_result_ntasks(r);
	line l = { .out = out };
	if (class)
		l.used = cli_put_cell(out, c->name, NAMED, class);
	else
		l.used = fprintf(out, "%*lld%s", 7, (long long)e->z, c->name > 7 ? " " : "");
	if (!class && c->name > 8)
		l.used += cli_put_cell(out, c->name - 8, NAMED, name ? name : "");
	for (int64_t t = 0; t < ntasks; t++) {
		if (!kdr_result_labels(r, t, NULL))
			continue;
		const bool here = belongs(run, e, t);
		const long long size = here ? size_at(run, t, e->z) : 0;
		sum += size;
		largest = size > size_at(run, largest, e->z) ? t : largest;
		if (c->size && here)
			l.used += fprintf(out, "  %*lld", c->size[t], size);
		else if (c->size)
			l.used += fprintf(out, "  %*s", c->size[t], "-");
	}
	if (!c->size)
		l.used += fprintf(out, "  %9lld", (long long)sum);
	l.used += fprintf(out, "  ");
	l.indent = l.used;
	if (e->match < 0.8)
		l.used += fprintf(out, e->match < 0.5 ? "(doubtful match, %.0f %%) " : "(match %.0f %%) ",
		                  100 * e->match);
	if (title)
		put_title(&l, title, brief);
	if (!title || !brief)
		put_features(&l, cluster_at(run, largest, e->z));
	fputc('\n', out);
}

static void print_entries(FILE *out, const cli_run *run, const columns *c)
{
	const kdr_result *r = run->result;
	int64_t printed = 0, left = 0, ntasks = kdr_result_ntasks(r), most = 0, entries = 0;
	bool unsure = false, several = false;
	for (int64_t t = 0; t < ntasks; t++)
		most = count_sizes(run, t) > most ? count_sizes(run, t) : most;
	for (int64_t z = 0; z < most; z++)
		for (int64_t t = 0; t < ntasks; t++)
			entries += kdr_result_labels(r, t, NULL) && size_at(run, t, z) > 0 &&
			           !is_listed(run, t, z);
	for (int64_t z = 0; z < most; z++)
		for (int64_t t = 0; t < ntasks; t++) {
			entry e = { z, t, kdr_result_match(r, z) };
			if (!kdr_result_labels(r, t, NULL) || size_at(run, t, z) == 0 || is_listed(run, t, z))
				continue;
			for (int64_t u = t + 1; u < ntasks; u++)
				several = several || (kdr_result_labels(r, u, NULL) && belongs(run, &e, u));
			if (printed == MOST_CLUSTERS) {
				left++;
				continue;
			}
			put_entry(out, run, c, &e, entries > FEW_ENTRIES);
			unsure = unsure || e.match < 0.8;
			printed++;
		}
	if (left)
		fprintf(out, "... (%lld more, see features.csv)\n", (long long)left);
	if (unsure)
		fputs("match: probability that all data sets have the same group; printed if below 80 %\n",
		      out);
	if (several && entries <= FEW_ENTRIES)
		fputs("features: inside the cluster (others: outside), in its largest data set\n", out);
}

void cli_clusters(FILE *out, const cli_run *run)
{
	const kdr_result *r = run->result;
	int64_t ntasks = kdr_result_ntasks(r);
	columns c = { .name = 7 };
	int total = 0;
	bool any = false;
	int *size = calloc((size_t)ntasks, sizeof *size);
	for (int64_t t = 0; t < ntasks; t++) {
		const kdri_json_value *clusters = cli_about(run, t, "clusters");
		any = any || first_feature(clusters);
		for (int64_t z = 0; z < kdri_json_count(clusters); z++) {
			const kdri_json_value *own = kdri_json_at(clusters, z);
			const char *class = cli_text_at(own, "class"), *name = cli_text_at(own, "name");
			const int length = class ? cli_width(class) : name ? 8 + cli_width(name) : 0;
			const int digits = snprintf(NULL, 0, "%lld", size_at(run, t, z));
			c.name = length > c.name ? length : c.name;
			if (size && digits > size[t])
				size[t] = digits;
		}
		const int name = cli_width(kdr_result_task_name(r, t));
		if (size && kdr_result_labels(r, t, NULL))
			total += 2 + (size[t] = name > size[t] ? name : size[t]);
	}
	c.name = c.name > 8 + NAMED ? 8 + NAMED : c.name;
	c.size = size && total <= MOST_SIZES ? size : NULL;
	if (any) {
		fprintf(out, "\n%-*s", c.name, cli_has_classes(r) ? "class" : "cluster");
		for (int64_t t = 0; t < ntasks && c.size; t++)
			if (kdr_result_labels(r, t, NULL)) {
				fputs("  ", out);
				cli_put_cell(out, -c.size[t], INT_MAX, kdr_result_task_name(r, t));
			}
		fprintf(out, c.size ? "\n" : "  %9s\n", "samples");
		print_entries(out, run, &c);
	}
	free(size);
}

/* --- matches -------------------------------------------------------------------------------------- */

enum { MOST_PAIRS = 3, MOST_ROWS = 12, WORDS = 4 };

/* "orbit, launch, moon, nasa": what cluster z has more of than the rest of its task; what it has less of if there is nothing it
 * has more of. */
static void top_features(const cli_run *run, int64_t task, int64_t z, char *out, size_t room)
{
	const kdri_json_value *features = kdri_json_get(cluster_at(run, task, z), "features");
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
	const kdri_json_value *first = first_feature(cli_about(run, task, "clusters"));
	return first && strncmp(cli_text_at(first, "name"), "column ", 7) != 0;
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
		const int64_t number = kdr_result_number(r, c->from, z);
		if (number < count_sizes(run, c->from) && size_at(run, c->from, number) == 0)
			continue;
		for (int64_t l = 0; l < c->cols; l++) {
			total += w[l] > 0 ? w[l] : 0;
			if (w[l] > w[best])
				best = l;
		}
		if (!(w[best] > 0))
			continue;
		char left[160], right[160];
		fprintf(out, "  %s %lld = %s %lld", a, (long long)number, b,
		        (long long)kdr_result_number(r, c->to, best));
		if (c->quality)
			fprintf(out, " (%.0f %%)", 100 * c->quality[z]);
		/* Split between several clusters: how much of it this one has. */
		if (w[best] < 0.995 * total)
			fprintf(out, " (%.0f %% of its weight)", 100 * w[best] / total);
		if (words) {
			top_features(run, c->from, number, left, sizeof left);
			top_features(run, c->to, kdr_result_number(r, c->to, best), right, sizeof right);
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
		        (long long)left, left == 1 ? "" : "s");
}

/* --- numbers of clusters -------------------------------------------------------------------------- */

enum { MOST_LINES = 16, FEW_LINES = 4, MOST_FEATURES = 3 };

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
	const kdri_json_value *samples = kdri_json_get(split, "samples");
	fprintf(out, "cluster %lld splits into %lld (%lld of its %lld samples) and %lld (%lld)",
	        cli_integer_at(split, "of"), left, (long long)kdri_json_integer(kdri_json_at(samples, 0), 0),
	        (long long)kdri_json_integer(kdri_json_at(samples, 2), 0), right,
	        (long long)kdri_json_integer(kdri_json_at(samples, 1), 0));
	for (int64_t f = 0; f < kdri_json_count(features) && f < MOST_FEATURES; f++)
		fprintf(out, "%s%s", f ? ", " : "; they differ in ",
		        cli_text_at(kdri_json_at(features, f), "name"));
	fputc('\n', out);
}

void cli_levels(FILE *out, const cli_run *run)
{
	const kdri_json_value *levels = kdri_json_get(run->about, "levels");
	const int64_t count = kdri_json_count(levels);
	const char *k = cli_get(run->args, "clusters", "");
	int64_t lines = 0, most = cli_flag(run->args, "verbose") ? MOST_LINES
	                          : strchr(k, '-')               ? FEW_LINES
	                                                         : 0;
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
				if (lines++ < most)
					print_split(out, cli_integer_at(level, "k"), task,
					            kdri_json_count(tasks) > 1, kdri_json_at(splits, s));
		}
	}
	if (lines > most && most > 0)
		fprintf(out, "  and %lld more: result.json lists all under levels\n",
		        (long long)(lines - most));
}
