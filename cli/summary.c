/* The summary a person reads. SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

static const char *stop_in_words(kdr_stop stop)
{
	switch (stop) {
	case KDR_STOP_CONVERGED: return "converged after";
	case KDR_STOP_MAX_ITER: return "not converged: stopped at";
	case KDR_STOP_TIME: return "out of time: stopped at";
	case KDR_STOP_CANCELLED: return "interrupted: stopped at";
	case KDR_STOP_STALLED: return "stalled after";
	}
	return "stopped after";
}

/* "83 61 50 32", the largest few where there are many. */
static void sizes_text(const kdr_result *result, int64_t task, char *out, size_t room)
{
	int64_t n, k = kdr_result_k(result, task);
	const int64_t *labels = kdr_result_labels(result, task, &n);
	int64_t *sizes = calloc((size_t)(k > 0 ? k : 1), sizeof *sizes);
	size_t used = 0;
	snprintf(out, room, "%s", labels ? "" : "-");
	for (int64_t i = 0; sizes && labels && i < n; i++)
		sizes[labels[i]]++;
	for (int64_t c = 0; sizes && labels && c < k && used + 24 < room; c++) {
		if (c == 8 && k > 9) {
			snprintf(out + used, room - used, " ... (%lld more)", (long long)(k - c));
			break;
		}
		used += (size_t)snprintf(out + used, room - used, "%s%lld", c ? " " : "",
		                         (long long)sizes[c]);
	}
	free(sizes);
}

void cli_summary(FILE *out, const cli_run *run)
{
	const cli_tasks *tasks = run->tasks;
	const kdr_result *r = run->result;
	int64_t iterations = kdr_result_iterations(r), count;
	const double *objective = kdr_result_objective(r, &count);
	bool scored = false;
	int widest = 4;
	for (int64_t i = 0; i < tasks->count; i++) {
		int length = (int)strlen(kdr_data_name(tasks->data[i]));
		widest = length > widest ? length : widest;
		scored = scored || run->scores[i].n > 0;
	}
	fprintf(out, "%s on %lld task%s: %s %lld iteration%s, %.2f s", kdr_result_algo(r)->title,
	        (long long)tasks->count, tasks->count == 1 ? "" : "s", stop_in_words(kdr_result_stop(r)),
	        (long long)iterations, iterations == 1 ? "" : "s", cli_now() - run->seconds_start);
	if (count > 0)
		fprintf(out, ", objective %.6g", objective[count - 1]);
	fprintf(out, "\npreprocessing: %s\n", kdr_prep_describe(tasks->prep));
	if (run->features)
		fprintf(out, "features from %s: %lld columns\n", kdr_result_algo(run->features)->id,
		        (long long)kdr_result_array(run->features, "features", 0).shape[1]);
	fputc('\n', out);
	fprintf(out, "%-*s  %9s  %9s  %4s", widest, "task", "samples", "features", "k");
	if (scored)
		fprintf(out, "  %6s  %6s  %6s", "acc", "nmi", "ari");
	fprintf(out, "  sizes of clusters\n");
	for (int64_t i = 0; i < tasks->count; i++) {
		kdr_mat x = kdr_data_mat(tasks->data[i]);
		char sizes[256];
		sizes_text(r, i, sizes, sizeof sizes);
		fprintf(out, "%-*s  %9lld  %9lld  %4lld", widest, kdr_data_name(tasks->data[i]),
		        (long long)kdr_mat_rows(&x), (long long)kdr_mat_cols(&x),
		        (long long)kdr_result_k(r, i));
		if (scored && run->scores[i].n > 0)
			fprintf(out, "  %6.3f  %6.3f  %6.3f", run->scores[i].acc, run->scores[i].nmi,
			        run->scores[i].ari);
		else if (scored)
			fprintf(out, "  %6s  %6s  %6s", "-", "-", "-");
		fprintf(out, "  %s\n", sizes);
	}
	cli_matches(out, run);
	cli_relatedness(out, run);
	if (run->more_summary)
		run->more_summary(out, run->more);
	for (int64_t i = 0; i < kdr_prep_warning_count(tasks->prep); i++)
		fprintf(out, "warning: %s\n", kdr_prep_warning_at(tasks->prep, i));
	for (int64_t i = 0; run->features && i < kdr_result_warning_count(run->features); i++)
		fprintf(out, "warning: %s\n", kdr_result_warning_at(run->features, i));
	for (int64_t i = 0; i < kdr_result_warning_count(r); i++)
		fprintf(out, "warning: %s\n", kdr_result_warning_at(r, i));
	const char *folder = cli_get(run->args, "output", NULL);
	if (folder) {
		fprintf(out, "\nwritten to %s: result.json", folder);
		int listed = 0; /* tasks the method does not label, such as sources, have no file */
		for (int64_t i = 0; i < tasks->count; i++)
			if (kdr_result_labels(r, i, NULL) && ++listed <= 4)
				fprintf(out, ", %s.labels", kdr_data_name(tasks->data[i]));
		fprintf(out, "%s%s\n", listed > 4 ? ", ..." : "",
		        cli_flag(run->args, "report") ? ", report.html" : "");
	}
}
