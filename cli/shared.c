/* Features that source and target share. SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"

#include <string.h>

enum { MOST_CLASSES = 10, WORDS = 8 };

/* The feature cluster shared with the target in which the class has the largest share; NULL if there is none. */
static const kdri_json_value *best_of(const kdri_json_value *list, const char *class)
{
	const kdri_json_value *best = NULL;
	for (int64_t i = 0; i < kdri_json_count(list); i++) {
		const kdri_json_value *f = kdri_json_at(list, i);
		const char *of = kdri_json_text(kdri_json_get(f, "class"), NULL);
		if (strcmp(kdri_json_text(kdri_json_get(f, "shared_with"), NULL), "target") == 0 && of &&
		    strcmp(of, class) == 0 &&
		    kdri_json_number(kdri_json_get(f, "share"), 0) >
		            kdri_json_number(kdri_json_get(best, "share"), 0))
			best = f;
	}
	return best;
}

void cli_shared(FILE *out, const cli_run *run)
{
	int64_t nclasses;
	const kdri_json_value *list = kdri_json_get(run->about, "feature_clusters");
	const char *const *classes = kdr_result_classes(run->result, &nclasses);
	/* Those shared with the target come last. Features without names are numbers. */
	const kdri_json_value *last = kdri_json_at(list, kdri_json_count(list) - 1);
	const char *with = kdri_json_text(kdri_json_get(last, "shared_with"), NULL);
	if (!with || strcmp(with, "target") != 0 || !classes ||
	    !kdri_json_text(kdri_json_at(kdri_json_get(last, "features"), 0), NULL))
		return;
	fprintf(out, "\nfeatures shared with the target that are typical of a class:\n");
	for (int64_t class = 0; class < nclasses && class < MOST_CLASSES; class ++) {
		const kdri_json_value *words = kdri_json_get(best_of(list, classes[class]), "features");
		fprintf(out, "  %s:", classes[class]);
		for (int64_t i = 0; i < kdri_json_count(words) && i < WORDS; i++)
			fprintf(out, " %s", kdri_json_text(kdri_json_at(words, i), NULL));
		fprintf(out, kdri_json_count(words) ? "\n" : " (none)\n");
	}
}
