/* How clusters split from one number of clusters to the next, for people. SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"

#include <string.h>

enum { MOST_LINES = 16, MOST_FEATURES = 3 };

static int64_t size_of(const kdri_json_value *task, int64_t cluster)
{
	return kdri_json_integer(kdri_json_at(kdri_json_get(task, "sizes"), cluster), 0);
}

static void print_split(FILE *out, int64_t k, const kdri_json_value *task, bool named,
                        const kdri_json_value *split)
{
	const kdri_json_value *into = kdri_json_get(split, "into"),
	                      *features = kdri_json_get(split, "features");
	const int64_t left = kdri_json_integer(kdri_json_at(into, 0), 0),
	              right = kdri_json_integer(kdri_json_at(into, 1), 0);
	fprintf(out, "  k = %lld: ", (long long)k);
	if (named)
		fprintf(out, "%s: ", kdri_json_text(kdri_json_get(task, "name"), NULL));
	fprintf(out, "cluster %lld splits into %lld (%lld samples) and %lld (%lld)",
	        (long long)kdri_json_integer(kdri_json_get(split, "of"), 0), (long long)left,
	        (long long)size_of(task, left), (long long)right, (long long)size_of(task, right));
	for (int64_t f = 0; f < kdri_json_count(features) && f < MOST_FEATURES; f++)
		fprintf(out, "%s%s", f ? ", " : "; they differ in ",
		        kdri_json_text(kdri_json_get(kdri_json_at(features, f), "name"), NULL));
	fputc('\n', out);
}

void cli_levels(FILE *out, const cli_run *run)
{
	const kdri_json_value *levels = kdri_json_get(run->about, "levels");
	const int64_t count = kdri_json_count(levels);
	int64_t lines = 0;
	if (count < 2)
		return;
	const int64_t suggested = kdri_json_integer(kdri_json_get(run->about, "level"), 0);
	fprintf(out, "\nnumbers of clusters fitted:");
	for (int64_t i = 0; i < count; i++)
		fprintf(out, "%s %lld", i ? "," : "",
		        (long long)kdri_json_integer(kdri_json_get(kdri_json_at(levels, i), "k"), 0));
	fprintf(out, "; suggested: %lld ('kindred cut' writes the clusters for another one)\n",
	        (long long)suggested);
	for (int64_t i = 1; i < count; i++) {
		const kdri_json_value *level = kdri_json_at(levels, i),
		                      *tasks = kdri_json_get(level, "tasks");
		for (int64_t t = 0; t < kdri_json_count(tasks); t++) {
			const kdri_json_value *task = kdri_json_at(tasks, t),
			                      *splits = kdri_json_get(task, "splits");
			for (int64_t s = 0; s < kdri_json_count(splits); s++)
				if (lines++ < MOST_LINES)
					print_split(out, kdri_json_integer(kdri_json_get(level, "k"), 0),
					            task, kdri_json_count(tasks) > 1,
					            kdri_json_at(splits, s));
		}
	}
	if (lines > MOST_LINES)
		fprintf(out, "  and %lld more: result.json lists all under levels\n",
		        (long long)(lines - MOST_LINES));
}
