/* Prints quality scores that need no known classes. SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"

#include <math.h>

bool cli_resamples(const cli_args *args, int64_t *out)
{
	int64_t value = -1;
	if (!cli_get_int(args, "resamples", 0, 1000, &value))
		return false;
	*out = value < 0 ? 0 : value == 0 ? -1 : value;
	return true;
}

static void print_line(FILE *out, const char *name, double value, const char *words)
{
	if (isfinite(value))
		fprintf(out, "%-18s %10.4g  %s\n", name, value, words);
	else
		fprintf(out, "%-18s %10s  %s\n", name, "-", words);
}

void cli_quality_lines(FILE *out, const kdr_quality *q)
{
	char words[96];
	print_line(
	        out, "silhouette", q->silhouette,
	        q->silhouette_kind == KDR_SILHOUETTE_EXACT
	                ? "-1 to 1, higher is better"
	                : "-1 to 1, higher is better; simplified: computed from distances to the cluster means");
	print_line(out, "davies_bouldin", q->davies_bouldin, "0 or more, lower is better");
	print_line(out, "calinski_harabasz", q->calinski_harabasz, "0 or more, higher is better");
	snprintf(words, sizeof words,
	         "at most 1: mean adjusted Rand index with %lld fit%s on 4/5 of the samples",
	         (long long)q->resamples, CLI_S(q->resamples));
	if (q->resamples > 0)
		print_line(out, "stability", q->stability, words);
}

enum { MOST_CLUSTERS = 12 };

/* Which data sets, and which known classes, the clusters have. */
static void print_shares(FILE *out, const kdri_json_value *clusters)
{
	const int64_t count = kdri_json_count(clusters),
	              most = count > MOST_CLUSTERS + 1 ? MOST_CLUSTERS : count;
	bool known = false;
	for (int64_t c = 0; c < count; c++)
		known = known || kdri_json_get(kdri_json_at(clusters, c), "purity");
	fprintf(out, "\ncluster  samples  data sets  largest  entropy%s\n", known ? "  purity" : "");
	for (int64_t c = 0; c < most; c++) {
		const kdri_json_value *own = kdri_json_at(clusters, c);
		fprintf(out, "%7lld  %7lld  %9lld  %7.2f  %7.2f",
		        (long long)kdri_json_integer(kdri_json_get(own, "number"), 0),
		        (long long)kdri_json_integer(kdri_json_get(own, "size"), 0),
		        (long long)kdri_json_count(kdri_json_get(own, "samples")),
		        kdri_json_number(kdri_json_get(own, "largest"), 0),
		        kdri_json_number(kdri_json_get(own, "entropy"), 0));
		double purity = kdri_json_number(kdri_json_get(own, "purity"), NAN);
		if (known && isfinite(purity))
			fprintf(out, "  %6.2f", purity);
		fputc('\n', out);
	}
	if (most < count)
		fprintf(out, "... (%lld more, see mixing in result.json)\n", (long long)(count - most));
	fprintf(out,
	        "largest: fraction of the cluster that is from the most frequent data set\n"
	        "entropy: of these fractions; 0 = one data set only, 1 = all data sets equally\n%s",
	        known ? "purity: fraction of the cluster that is of the most frequent known class\n" : "");
}

static void print_mixing(FILE *out, const kdri_json_value *mixing)
{
	const char *space = kdri_json_text(kdri_json_get(mixing, "space"), NULL);
	if (!mixing)
		return;
	fprintf(out, "\nhow well the data sets mix\n");
	print_line(out, "ilisi", kdri_json_number(kdri_json_get(mixing, "ilisi"), NAN),
	           "0 to 1, higher is better mixed: number of data sets among the neighbours of a sample");
	print_line(
	        out, "kbet", kdri_json_number(kdri_json_get(mixing, "kbet"), NAN),
	        "0 to 1, higher is better mixed: fraction of neighbourhoods with the same data set proportions as all samples");
	print_line(out, "batch_asw", kdri_json_number(kdri_json_get(mixing, "batch_asw"), NAN),
	           "0 to 1, higher is better mixed: 1 - |silhouette by data set|, mean over the clusters");
	if (space)
		fprintf(out, "computed on %s\n", space);
	print_shares(out, kdri_json_get(mixing, "clusters"));
}

void cli_quality(FILE *out, const cli_run *run)
{
	const kdr_result *r = run->result;
	bool any = false;
	for (int64_t t = 0; t < kdr_result_ntasks(r); t++) {
		const kdr_quality *q = kdr_result_quality(r, t);
		if (!q)
			continue;
		fprintf(out, "\nquality of the clusters of %s (without known classes)\n",
		        kdr_result_task_name(r, t));
		cli_quality_lines(out, q);
		any = true;
	}
	if (any)
		fprintf(out, "%s\n", kdri_quality_note());
	print_mixing(out, kdri_json_get(run->about, "mixing"));
}
