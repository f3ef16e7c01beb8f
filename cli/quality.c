/* How good clusters are without truth, for people. SPDX-License-Identifier: BSD-3-Clause */
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
	print_line(out, "silhouette", q->silhouette,
	           q->silhouette_kind == KDR_SILHOUETTE_EXACT
	                   ? "-1 to 1, the larger the better"
	                   : "-1 to 1, the larger the better; simplified: by distances to means");
	print_line(out, "davies_bouldin", q->davies_bouldin, "from 0, the smaller the better");
	print_line(out, "calinski_harabasz", q->calinski_harabasz, "the larger the better");
	snprintf(words, sizeof words, "up to 1: mean ARI with %lld fits on 4/5 of the samples",
	         (long long)q->resamples);
	if (q->resamples > 0)
		print_line(out, "stability", q->stability, words);
}

void cli_quality(FILE *out, const kdr_result *r)
{
	bool any = false;
	for (int64_t t = 0; t < kdr_result_ntasks(r); t++) {
		const kdr_quality *q = kdr_result_quality(r, t);
		if (!q)
			continue;
		fprintf(out, "\nhow good clusters of %s are, without truth\n", kdr_result_task_name(r, t));
		cli_quality_lines(out, q);
		any = true;
	}
	if (any)
		fprintf(out, "%s\n", kdri_quality_note());
}
