/* Prints which clusters of different data sets match. SPDX-License-Identifier: BSD-3-Clause
 *
 * For any method that relates clusters: the best match of each cluster by weight, the estimated chance that both belong together
 * and, if features have names, the distinguishing features of both. */
#include "cli.h"

#include <string.h>

enum { MOST_PAIRS = 3, MOST_ROWS = 12, WORDS = 4, LONGEST = 24 };

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
				                         LONGEST,
				                         kdri_json_text(kdri_json_get(f, "name"), NULL));
		}
}

/* Whether the task has labels, and features with names: features without one are called "column 1", "column 2", ... */
static bool has_words(const cli_run *run, int64_t task)
{
	const kdri_json_value *clusters = kdri_json_get(cli_about_task(run, task), "clusters");
	for (int64_t c = 0; c < kdri_json_count(clusters); c++) {
		const kdri_json_value *features = kdri_json_get(kdri_json_at(clusters, c), "features");
		if (kdri_json_count(features) > 0)
			return strncmp(kdri_json_text(kdri_json_get(kdri_json_at(features, 0), "name"), NULL),
			               "column ", 7) != 0;
	}
	return false;
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
