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

/* A number or text the method left under a name, with the task's name behind it unless that is NULL. */
static bool field_of(const kdr_result *r, const char *what, const char *task, double *number,
                     const char **text)
{
	char key[512];
	snprintf(key, sizeof key, "%s%s%s", what, task ? "." : "", task ? task : "");
	for (int64_t i = 0; i < kdr_result_field_count(r); i++)
		if (strcmp(kdr_result_field_at(r, i, number, text), key) == 0)
			return true;
	return false;
}

static void print_head(FILE *out, const cli_run *run)
{
	const cli_tasks *tasks = run->tasks;
	const kdr_result *r = run->result;
	int64_t iterations = kdr_result_iterations(r), count;
	const double *objective = kdr_result_objective(r, &count);
	double seconds = cli_now() - run->seconds_start, number;
	const char *members;
	fprintf(out, "%s on %lld task%s: ", kdr_result_algo(r)->title, (long long)tasks->count,
	        tasks->count == 1 ? "" : "s");
	if (field_of(r, "members", NULL, &number, &members)) {
		kdr_stop stop = kdr_result_stop(r);
		fprintf(out, "%.2f s%s\nvotes: %s", seconds,
		        stop == KDR_STOP_TIME        ? ", out of time"
		        : stop == KDR_STOP_CANCELLED ? ", interrupted"
		                                     : "",
		        members);
	} else {
		fprintf(out, "%s %lld iteration%s, %.2f s", stop_in_words(kdr_result_stop(r)),
		        (long long)iterations, iterations == 1 ? "" : "s", seconds);
		if (count > 0)
			fprintf(out, ", objective %.6g", objective[count - 1]);
	}
	fprintf(out, "\npreprocessing: %s", kdr_prep_describe(tasks->prep));
	if (tasks->kind)
		fprintf(out, " (the data look like %s)", tasks->kind);
	if (run->features)
		fprintf(out, "\nfeatures from %s: %lld columns", kdr_result_algo(run->features)->id,
		        (long long)kdr_result_array(run->features, "features", 0).shape[1]);
	fprintf(out, "\n\n");
}

/* What the method says of k and of each task; whether it had advice. */
static bool print_words(FILE *out, const cli_run *run)
{
	double number;
	const char *text;
	bool begun = false;
	for (int64_t i = -1; i < run->tasks->count; i++) {
		const char *name = i < 0 ? NULL : kdr_data_name(run->tasks->data[i]);
		if (!field_of(run->result, "k_evidence", name, &number, &text) || !text)
			continue;
		fprintf(out, "%s%s%s%s\n", begun ? "" : "\n", name ? name : "", name ? ": " : "", text);
		begun = true;
	}
	begun = false;
	for (int64_t i = 0; i < run->tasks->count; i++)
		if (field_of(run->result, "advice", kdr_data_name(run->tasks->data[i]), &number, &text) &&
		    text) {
			fprintf(out, "%s%s\n", begun ? "" : "\n", text);
			begun = true;
		}
	return begun;
}

void cli_summary(FILE *out, const cli_run *run)
{
	const cli_tasks *tasks = run->tasks;
	const kdr_result *r = run->result;
	bool scored = false, confident = false;
	double number;
	const char *text;
	int widest = 4;
	for (int64_t i = 0; i < tasks->count; i++) {
		int length = (int)strlen(kdr_data_name(tasks->data[i]));
		widest = length > widest ? length : widest;
		scored = scored || run->scores[i].n > 0;
		confident =
		        confident || field_of(r, "confidence", kdr_data_name(tasks->data[i]), &number, &text);
	}
	print_head(out, run);
	fprintf(out, "%-*s  %9s  %9s  %4s", widest, "task", "samples", "features", "k");
	if (confident)
		fprintf(out, "  %10s", "confidence");
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
		if (confident)
			fprintf(out, "  %10.2f",
			        field_of(r, "confidence", kdr_data_name(tasks->data[i]), &number, &text)
			                ? number
			                : 0);
		if (scored && run->scores[i].n > 0)
			fprintf(out, "  %6.3f  %6.3f  %6.3f", run->scores[i].acc, run->scores[i].nmi,
			        run->scores[i].ari);
		else if (scored)
			fprintf(out, "  %6s  %6s  %6s", "-", "-", "-");
		fprintf(out, "  %s\n", sizes);
	}
	cli_matches(out, run);
	if (!print_words(out, run)) /* advice names the nearest task already */
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
