/* The summary a person reads. SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *stop_in_words(const kdr_result *r)
{
	switch (kdr_result_stop(r)) {
	case KDR_STOP_CONVERGED: return "converged after";
	case KDR_STOP_MAX_ITER: return kdr_result_complete(r) ? "after" : "not converged: stopped at";
	case KDR_STOP_TIME: return "out of time: stopped at";
	case KDR_STOP_CANCELLED: return "interrupted: stopped at";
	case KDR_STOP_STALLED: return "stalled after";
	}
	return "stopped after";
}

/* "83 61 50 32", the largest few where there are many. */
static void sizes_text(const kdr_result *result, int64_t task, char *out, size_t room)
{
	int64_t k;
	const int64_t *sizes = kdr_result_sizes(result, task, &k);
	size_t used = 0;
	snprintf(out, room, "%s", sizes ? "" : "-");
	for (int64_t c = 0; sizes && c < k && used + 24 < room; c++) {
		if (c == 8 && k > 9) {
			snprintf(out + used, room - used, " ... (%lld more)", (long long)(k - c));
			break;
		}
		used += (size_t)snprintf(out + used, room - used, "%s%lld", c ? " " : "",
		                         (long long)sizes[c]);
	}
}

/* Whether the task has a note of that text. */
static bool has_note(const kdr_result *r, int64_t task, const char *text)
{
	const char *note;
	for (int64_t n = 0; (note = kdr_result_note(r, task, n)); n++)
		if (strcmp(note, text) == 0)
			return true;
	return false;
}

/* What the columns of tables were taken for: a line that is the same for several tasks once. */
static void print_notes(FILE *out, const kdr_result *r)
{
	const char *note;
	int64_t ntasks = kdr_result_ntasks(r);
	for (int64_t t = 0; t < ntasks; t++)
		for (int64_t n = 0; (note = kdr_result_note(r, t, n)); n++) {
			int64_t with = 0, before = 0;
			for (int64_t u = 0; u < ntasks; u++) {
				bool has = has_note(r, u, note);
				with += has;
				before += has && u < t;
			}
			if (before > 0)
				continue;
			fprintf(out, "\n");
			if (with < ntasks || (ntasks > 1 && with == 1))
				for (int64_t u = t, said = 0; u < ntasks; u++)
					if (has_note(r, u, note) && said++ < 4)
						fprintf(out, "%s%s", said > 1 ? ", " : "",
						        said > 3 ? "..." : kdr_result_task_name(r, u));
			fprintf(out, "%s%s", with < ntasks || (ntasks > 1 && with == 1) ? ": " : "", note);
		}
}

static void print_head(FILE *out, const cli_run *run)
{
	const kdr_result *r = run->result;
	int64_t iterations = kdr_result_iterations(r), ntasks = kdr_result_ntasks(r), count, columns;
	const double *objective = kdr_result_objective(r, &count);
	double seconds = cli_now() - run->start;
	const char *members = kdr_result_task_text(r, -1, "members");
	const kdr_algo *learner = kdr_result_features_from(r, &columns);
	fprintf(out, "%s on %lld task%s: ", kdr_result_algo(r)->title, (long long)ntasks,
	        ntasks == 1 ? "" : "s");
	if (members) {
		kdr_stop stop = kdr_result_stop(r);
		fprintf(out, "%.2f s%s\nvotes: %s", seconds,
		        stop == KDR_STOP_TIME        ? ", out of time"
		        : stop == KDR_STOP_CANCELLED ? ", interrupted"
		                                     : "",
		        members);
	} else {
		fprintf(out, "%s %lld iteration%s, %.2f s", stop_in_words(r), (long long)iterations,
		        iterations == 1 ? "" : "s", seconds);
		if (count > 0)
			fprintf(out, ", objective %.6g", objective[count - 1]);
	}
	fprintf(out, "\npreprocessing: %s", kdr_prep_describe(kdr_result_prep(r)));
	if (kdr_result_kind(r) != KDR_DATA_TABLE && kdr_result_kind(r) != KDR_DATA_UNKNOWN)
		fprintf(out, " (the data look like %s)", kdr_data_kind_name(kdr_result_kind(r)));
	print_notes(out, r);
	if (learner)
		fprintf(out, "\nfeatures from %s: %lld columns", learner->id, (long long)columns);
	fprintf(out, "\n\n");
}

static void print_table(FILE *out, const kdr_result *r)
{
	int64_t ntasks = kdr_result_ntasks(r);
	bool scored = false, confident = false;
	int widest = 4;
	for (int64_t i = 0; i < ntasks; i++) {
		int length = (int)strlen(kdr_result_task_name(r, i));
		widest = length > widest ? length : widest;
		scored = scored || kdr_result_scores(r, i);
		confident = confident || isfinite(kdr_result_task_number(r, i, "confidence"));
	}
	fprintf(out, "%-*s  %9s  %9s  %4s", widest, "task", "samples", "features", "k");
	if (confident)
		fprintf(out, "  %10s", "confidence");
	if (scored)
		fprintf(out, "  %6s  %6s  %6s", "acc", "nmi", "ari");
	fprintf(out, "  sizes of %s\n", cli_groups(r));
	for (int64_t i = 0; i < ntasks; i++) {
		kdr_shape x = kdr_result_task_shape(r, i);
		const kdr_scores *s = kdr_result_scores(r, i);
		double confidence = kdr_result_task_number(r, i, "confidence");
		char sizes[256];
		sizes_text(r, i, sizes, sizeof sizes);
		fprintf(out, "%-*s  %9lld  %9lld  %4lld", widest, kdr_result_task_name(r, i),
		        (long long)x.rows, (long long)x.cols, (long long)kdr_result_k(r, i));
		if (confident && isfinite(confidence))
			fprintf(out, "  %10.2f", confidence);
		else if (confident)
			fprintf(out, "  %10s", "-");
		if (s)
			fprintf(out, "  %6.3f  %6.3f  %6.3f", s->acc, s->nmi, s->ari);
		else if (scored)
			fprintf(out, "  %6s  %6s  %6s", "-", "-", "-");
		fprintf(out, "  %s\n", sizes);
	}
}

static void print_calibration(FILE *out, const kdr_result *r)
{
	const kdr_calibration *c = kdr_result_calibration(r);
	if (!c)
		return;
	if (c->held_out > 0)
		fprintf(out, "\n%lld samples of the sources held out: accuracy %.3f, log loss %.3f\n%s\n",
		        (long long)c->held_out, c->accuracy, c->log_loss, kdr_calibration_note());
}

static void print_left_out(FILE *out, const kdr_result *r)
{
	for (int64_t t = 0; t < kdr_result_ntasks(r); t++) {
		int64_t count;
		const kdr_left_out *list = kdr_result_left_out(r, t, &count);
		if (count > 0)
			fprintf(out,
			        "\n%s: %lld row%s of the file left out, the first of them %lld (%s): see left_out in result.json\n",
			        kdr_result_task_name(r, t), (long long)count, count == 1 ? "" : "s",
			        (long long)list[0].row, list[0].reason);
	}
}

/* What the method says of k, and what is said of each task. */
static void print_words(FILE *out, const kdr_result *r)
{
	bool begun = false;
	for (int64_t i = -1; i < kdr_result_ntasks(r); i++) {
		const char *text = kdr_result_task_text(r, i, "k_evidence");
		const char *name = i < 0 ? "" : kdr_result_task_name(r, i);
		if (text)
			fprintf(out, "%s%s%s%s\n", begun ? "" : "\n", name, i < 0 ? "" : ": ", text);
		begun = begun || text;
	}
	cli_relatedness(out, r);
	begun = kdr_result_relatedness(r) && !kdr_result_task_text(r, 0, "advice");
	for (int64_t i = 0; i < kdr_result_ntasks(r); i++) {
		const char *text;
		for (int64_t a = 0; (text = kdr_result_advice(r, i, a)); a++) {
			fprintf(out, "%s%s\n", begun ? "" : "\n", text);
			begun = true;
		}
	}
}

static void print_files(FILE *out, const cli_run *run)
{
	const char *folder = cli_get(run->args, "output", NULL);
	int listed = 0; /* tasks the method does not label, such as sources, have no file */
	if (!folder)
		return;
	fprintf(out, "\nwritten to %s: result.json", folder);
	for (int64_t i = 0; i < kdr_result_ntasks(run->result); i++)
		if (kdr_result_labels(run->result, i, NULL) && ++listed <= 4)
			fprintf(out, ", %s.labels", kdr_result_task_name(run->result, i));
	fprintf(out, "%s, *.samples.csv, features.csv%s%s\n", listed > 4 ? ", ..." : "",
	        kdr_result_calibration(run->result) ? ", *.probabilities.csv" : "",
	        cli_flag(run->args, "report") ? ", report.html" : "");
}

void cli_summary(FILE *out, const cli_run *run)
{
	const kdr_result *r = run->result;
	print_head(out, run);
	print_table(out, r);
	print_left_out(out, r);
	cli_clusters(out, r);
	cli_quality(out, r);
	print_calibration(out, r);
	cli_matches(out, r);
	print_words(out, r);
	cli_bridges_table(out, r);
	cli_shared(out, r);
	for (int64_t i = 0; i < kdr_result_warning_count(r); i++)
		fprintf(out, "warning: %s\n", kdr_result_warning_at(r, i));
	print_files(out, run);
}
