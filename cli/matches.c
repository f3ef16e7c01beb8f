/* Which clusters of one task match which of another, for people. SPDX-License-Identifier: BSD-3-Clause
 *
 * For any method that relates clusters: each cluster's best match by weight, how good it is and, where features have
 * names, what stands out in both. */
#include "cli.h"

#include <string.h>

enum { MOST_PAIRS = 3, MOST_ROWS = 12, WORDS = 4, LONGEST = 24 };

/* "orbit, launch, moon, nasa": what cluster z has more of than the rest of its task; what it has less of where there is
 * nothing it has more of. */
static void top_features(const kdr_result *r, int64_t task, int64_t z, char *out, size_t room)
{
	const char *const *names = kdr_result_features(r, task);
	kdr_cluster_profile p = kdr_result_profile(r, task, z);
	int count = 0;
	size_t used = 0;
	out[0] = '\0';
	for (int sign = 1; sign >= -1 && count == 0; sign -= 2)
		for (int64_t i = 0; i < p.nfeatures && count < WORDS && used + LONGEST + 8 < room; i++)
			if (p.features[i].effect * sign > 0)
				used += (size_t)snprintf(out + used, room - used, "%s%.*s",
				                         count++    ? ", "
				                         : sign < 0 ? "little "
				                                    : "",
				                         LONGEST, names[p.features[i].column]);
}

static bool has_words(const kdr_result *r, int64_t task)
{
	return kdr_result_features(r, task) && kdr_result_labels(r, task, NULL);
}

static void print_pair(FILE *out, const kdr_result *r, const kdr_correspondence *c)
{
	const char *a = kdr_result_task_name(r, c->from), *b = kdr_result_task_name(r, c->to);
	bool words = has_words(r, c->from) && has_words(r, c->to);
	for (int64_t z = 0; z < c->rows; z++) {
		int64_t best = 0;
		double total = 0;
		const double *w = c->matrix + z * c->cols;
		if (z == MOST_ROWS && c->rows > MOST_ROWS + 1) {
			fprintf(out, "  ... (%lld more)\n", (long long)(c->rows - z));
			break;
		}
		for (int64_t l = 0; l < c->cols; l++) {
			total += w[l] > 0 ? w[l] : 0;
			if (w[l] > w[best])
				best = l;
		}
		if (!(w[best] > 0)) {
			fprintf(out, "  %s %lld  no counterpart\n", a, (long long)z);
			continue;
		}
		char left[160], right[160];
		fprintf(out, "  %s %lld = %s %lld", a, (long long)z, b, (long long)best);
		if (c->quality)
			fprintf(out, " (%.2f)", c->quality[z]);
		/* Split between several clusters: how much of it this one has. */
		if (w[best] < 0.995 * total)
			fprintf(out, " (%.0f%% of it)", 100 * w[best] / total);
		if (words) {
			top_features(r, c->from, z, left, sizeof left);
			top_features(r, c->to, best, right, sizeof right);
			fprintf(out, ": %s | %s", left, right);
		}
		fputc('\n', out);
	}
}

void cli_matches(FILE *out, const kdr_result *r)
{
	int64_t count = kdr_result_correspondence_count(r), printed = 0, left = 0;
	for (int64_t i = 0; i < count; i++) {
		kdr_correspondence c = kdr_result_correspondence_at(r, i);
		if (c.from > c.to) /* the other direction of a pair that was shown */
			continue;
		if (printed == MOST_PAIRS) {
			left++;
			continue;
		}
		fprintf(out, "\nclusters of %s and those of %s they match best%s\n",
		        kdr_result_task_name(r, c.from), kdr_result_task_name(r, c.to),
		        has_words(r, c.from) && has_words(r, c.to) ? ": what stands out in both" : "");
		print_pair(out, r, &c);
		printed++;
	}
	if (left)
		fprintf(out, "\n... and %lld more pair%s of tasks: see correspondence in result.json\n",
		        (long long)left, left == 1 ? "" : "s");
}
