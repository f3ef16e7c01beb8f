/* What sets each cluster apart, for people. SPDX-License-Identifier: BSD-3-Clause
 *
 * A line a cluster: what it has more of than the rest of its task, and less of, by size of the difference in standard
 * deviations; of counts also which share of the samples has the feature, inside and outside. */
#include "cli.h"

#include <math.h>
#include <string.h>

enum { MOST_TASKS = 4, MOST_CLUSTERS = 12, HIGH = 4, LOW = 2, LONGEST = 24 };

/* Effects of one sign, at most `most`. Returns how many were printed. */
static int print_side(FILE *out, const kdr_result *r, int64_t task, const kdr_cluster_profile *p, int sign,
                      int most)
{
	const char *const *names = kdr_result_features(r, task);
	int count = 0;
	for (int64_t i = 0; i < p->nfeatures && count < most; i++) {
		const kdr_feature_effect *f = &p->features[i];
		if (f->effect * sign <= 0)
			continue;
		fputs(count++ ? ", " : sign > 0 ? "high " : "low ", out);
		if (names)
			fprintf(out, "%.*s", LONGEST, names[f->column]);
		else
			fprintf(out, "column %lld", (long long)f->column + 1);
		fprintf(out, " %+.1f", f->effect);
		if (isfinite(f->share_inside))
			fprintf(out, " (%.0f%% | %.0f%%)", 100 * f->share_inside, 100 * f->share_outside);
	}
	return count;
}

static void print_cluster(FILE *out, const kdr_result *r, int64_t task, int64_t c)
{
	int64_t nclasses;
	const char *const *classes = kdr_result_classes(r, &nclasses);
	kdr_cluster_profile p = kdr_result_profile(r, task, c);
	if (classes && c < nclasses)
		fprintf(out, "  %s: ", classes[c]);
	else
		fprintf(out, "  %s %lld: ", kdr_result_task_name(r, task), (long long)c);
	if (p.size == 0) {
		fputs("empty\n", out);
		return;
	}
	int high = print_side(out, r, task, &p, 1, HIGH);
	if (high && p.nfeatures > high)
		fputs("; ", out);
	int low = print_side(out, r, task, &p, -1, high ? LOW : HIGH);
	fputs(high || low ? "\n" : "nothing by 0.2 or more\n", out);
}

static bool has_profiles(const kdr_result *r, int64_t task)
{
	for (int64_t c = 0; c < kdr_result_k(r, task); c++)
		if (kdr_result_profile(r, task, c).nfeatures > 0)
			return true;
	return false;
}

static bool has_shares(const kdr_result *r, int64_t task)
{
	for (int64_t c = 0; c < kdr_result_k(r, task); c++) {
		kdr_cluster_profile p = kdr_result_profile(r, task, c);
		if (p.nfeatures > 0)
			return isfinite(p.features[0].share_inside);
	}
	return false;
}

const char *cli_groups(const kdr_result *r)
{
	return kdr_result_algo(r)->family == KDR_FAMILY_TRANSFER ? "classes" : "clusters";
}

void cli_clusters(FILE *out, const kdr_result *r)
{
	int64_t shown = 0, left = 0;
	for (int64_t t = 0; t < kdr_result_ntasks(r); t++) {
		int64_t k = kdr_result_k(r, t);
		if (!has_profiles(r, t))
			continue;
		if (shown == MOST_TASKS) {
			left++;
			continue;
		}
		fprintf(out, "\nwhat sets %s of %s apart, in standard deviations%s\n", cli_groups(r),
		        kdr_result_task_name(r, t),
		        has_shares(r, t) ? " (share of the samples that have it: inside | outside)" : "");
		for (int64_t c = 0; c < k && (c < MOST_CLUSTERS || k == MOST_CLUSTERS + 1); c++)
			print_cluster(out, r, t, c);
		if (k > MOST_CLUSTERS + 1)
			fprintf(out, "  ... (%lld more)\n", (long long)(k - MOST_CLUSTERS));
		shown++;
	}
	if (left)
		fprintf(out, "\n... and %lld more task%s: see features.csv\n", (long long)left,
		        left == 1 ? "" : "s");
}
