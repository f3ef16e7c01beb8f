/* Features that source and target share, for people. SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"

enum { MOST_CLASSES = 10, WORDS = 8 };

/* The cluster shared with the target that is most the class's own; ncolumns 0 where there is none. */
static kdr_shared_features best_of(const kdr_result *r, int64_t class)
{
	kdr_shared_features best = { .ncolumns = 0 };
	for (int64_t i = 0; i < kdr_result_shared_count(r); i++) {
		kdr_shared_features f = kdr_result_shared_at(r, i);
		if (f.with_target && f.class_index == class && f.share > best.share)
			best = f;
	}
	return best;
}

void cli_shared(FILE *out, const kdr_result *r)
{
	int64_t nclasses, count = kdr_result_shared_count(r);
	const char *const *classes = kdr_result_classes(r, &nclasses);
	/* Those shared with the target come last. */
	kdr_shared_features last = kdr_result_shared_at(r, count - 1);
	const char *const *names = kdr_result_features(r, last.task);
	if (count == 0 || !last.with_target || !names || !classes || kdr_result_features_from(r, NULL))
		return;
	fprintf(out, "\nfeatures shared with the target, most of one class:\n");
	for (int64_t class = 0; class < nclasses && class < MOST_CLASSES; class ++) {
		kdr_shared_features best = best_of(r, class);
		fprintf(out, "  %s:", classes[class]);
		for (int64_t i = 0; i < best.ncolumns && i < WORDS; i++)
			fprintf(out, " %s", names[best.columns[i]]);
		fprintf(out, best.ncolumns ? "\n" : " (none)\n");
	}
}
