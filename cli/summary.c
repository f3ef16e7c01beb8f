/* Prints the summary of a job. SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"
#include "system.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *stop_in_words(const kdr_result *r)
{
	switch (kdr_result_stop(r)) {
	case KDR_STOP_CONVERGED: return "converged after";
	case KDR_STOP_MAX_ITER: return kdr_result_complete(r) ? "ran" : "not converged: stopped after";
	case KDR_STOP_TIME: return "time limit: stopped after";
	case KDR_STOP_CANCELLED: return "interrupted: stopped after";
	case KDR_STOP_STALLED: return "stalled after";
	}
	return "stopped after";
}

const kdri_json_value *cli_about(const cli_run *run, int64_t task, const char *key)
{
	return kdri_json_get(kdri_json_at(kdri_json_get(run->about, "tasks"), task), key);
}

static const kdri_json_value *about_field(const cli_run *run, int64_t task, const char *name)
{
	const kdri_json_value *fields = kdri_json_get(run->about, "method_fields");
	char key[512];
	if (task < 0)
		return kdri_json_get(fields, name);
	snprintf(key, sizeof key, "%s.%s", name, kdr_result_task_name(run->result, task));
	return kdri_json_get(fields, key);
}

const char *cli_text_at(const kdri_json_value *object, const char *key)
{
	return kdri_json_text(kdri_json_get(object, key), NULL);
}

double cli_number_at(const kdri_json_value *object, const char *key)
{
	return kdri_json_number(kdri_json_get(object, key), NAN);
}

long long cli_integer_at(const kdri_json_value *object, const char *key)
{
	return kdri_json_integer(kdri_json_get(object, key), 0);
}

bool cli_has_classes(const kdr_result *r)
{
	const kdr_algo *algo = kdr_result_algo(r);
	return algo->family == KDR_FAMILY_TRANSFER && !(algo->flags & KDR_ALGO_CLUSTERS_TARGET);
}

/* Note number `n` on the columns of a task; NULL past the last. */
static const char *note_at(const cli_run *run, int64_t task, int64_t n)
{
	return kdri_json_text(kdri_json_at(cli_about(run, task, "notes"), n), NULL);
}

/* Whether the task has a note of that text. */
static bool has_note(const cli_run *run, int64_t task, const char *text)
{
	const char *note;
	for (int64_t n = 0; (note = note_at(run, task, n)); n++)
		if (strcmp(note, text) == 0)
			return true;
	return false;
}

/* How the columns of tables are treated: a line that is the same for several tasks once. */
static void print_notes(FILE *out, const cli_run *run)
{
	const char *note;
	int64_t ntasks = kdr_result_ntasks(run->result);
	for (int64_t t = 0; t < ntasks; t++)
		for (int64_t n = 0; (note = note_at(run, t, n)); n++) {
			int64_t with = 0, before = 0;
			for (int64_t u = 0; u < ntasks; u++) {
				bool has = has_note(run, u, note);
				with += has;
				before += has && u < t;
			}
			if (before > 0)
				continue;
			fprintf(out, "\n");
			if (with < ntasks || (ntasks > 1 && with == 1))
				for (int64_t u = t, said = 0; u < ntasks; u++)
					if (has_note(run, u, note) && said++ < 4)
						fprintf(out, "%s%s", said > 1 ? ", " : "",
						        said > 3 ? "..."
						                 : kdr_result_task_name(run->result, u));
			fprintf(out, "%s%s", with < ntasks || (ntasks > 1 && with == 1) ? ": " : "", note);
		}
}

/* The number of data sets with labels. */
static int64_t labelled(const kdr_result *r)
{
	int64_t count = 0;
	for (int64_t t = 0; t < kdr_result_ntasks(r); t++)
		count += kdr_result_labels(r, t, NULL) != NULL;
	return count;
}

/* -v: how the method ended, who voted, and how the data were prepared. */
static void print_details(FILE *out, const cli_run *run)
{
	const kdr_result *r = run->result;
	int64_t count;
	const double *objective = kdr_result_objective(r, &count);
	const char *members = kdri_json_text(about_field(run, -1, "members"), NULL);
	const char *kind = cli_text_at(run->about, "data");
	const kdri_json_value *learner = kdri_json_get(run->about, "features_from");
	if (members) {
		fprintf(out, "\nmethods (%s): %s\n",
		        cli_has_classes(r) ? "agreement with the final labels, 0 to 1" : "votes", members);
	} else {
		fprintf(out, "\n%s: %s %s", kdr_result_algo(r)->title, stop_in_words(r),
		        cli_count(kdr_result_iterations(r), "iteration"));
		if (count > 0)
			fprintf(out, ", objective %.6g", objective[count - 1]);
		fputc('\n', out);
	}
	fprintf(out, "preprocessing: %s", cli_text_at(run->about, "preprocessing"));
	if (kind && strcmp(kind, "a table") != 0)
		fprintf(out, "\n  chosen because the data appear to be %s", kind);
	print_notes(out, run);
	if (learner)
		fprintf(out, "\nfeatures learned by %s: %lld columns", cli_text_at(learner, "method"),
		        cli_integer_at(learner, "columns"));
	fputc('\n', out);
}

/* A number, or a dash if it is unknown. */
static void print_number(FILE *out, int width, int digits, double value)
{
	if (isfinite(value))
		fprintf(out, "  %*.*f", width, digits, value);
	else
		fprintf(out, "  %*s", width, "-");
}

int cli_width(const char *text)
{
	int count = 0;
	for (; *text; text++)
		count += ((unsigned char)*text & 0xc0) != 0x80;
	return count;
}

int cli_put_cell(FILE *out, int width, int most, const char *text)
{
	int count = 0;
	const char *end = text;
	for (; *end && (count < most || ((unsigned char)*end & 0xc0) == 0x80); end++)
		count += ((unsigned char)*end & 0xc0) != 0x80;
	const int room = abs(width) > count ? abs(width) - count : 0;
	fprintf(out, "%*s%.*s%*s", width < 0 ? room : 0, "", (int)(end - text), text, width < 0 ? 0 : room,
	        "");
	return count + room;
}

/* The width of a column for names of data sets, at least `widest`. */
static int name_width(const kdr_result *r, int widest)
{
	for (int64_t t = 0; t < kdr_result_ntasks(r); t++) {
		int length = cli_width(kdr_result_task_name(r, t));
		widest = length > widest ? length : widest;
	}
	return widest;
}

/* The mean confidence of a task; NaN if it is unknown. */
static double confidence_of(const cli_run *run, int64_t task)
{
	int64_t n = 0;
	double sum = 0, known = 0;
	const double *sure = kdr_result_confidence(run->result, task, NULL);
	if (!kdr_result_calibration(run->result) || !kdr_result_labels(run->result, task, &n) || !sure)
		return kdri_json_number(about_field(run, task, "confidence"), NAN);
	for (int64_t i = 0; i < n; i++)
		if (isfinite(sure[i])) {
			sum += sure[i];
			known++;
		}
	return sum / known;
}

/* What the other data sets did to a task, in a few words, and the end of the line. */
static void print_effect(FILE *out, const cli_run *run, int64_t task)
{
	const char *from = cli_text_at(cli_about(run, task, "sharing"), "from");
	const char *name = kdr_result_task_name(run->result, task),
	           *said = kdr_result_advice(run->result, task, 0);
	const double moved = kdri_json_number(about_field(run, task, "moved"), NAN);
	if (from)
		fprintf(out, "  clusters carried over from %s", from);
	else if (isfinite(moved))
		fprintf(out, "  %s moved", cli_count((int64_t)moved, "sample"));
	else if (said && strncmp(said, name, strlen(name)) == 0 && !cli_has_classes(run->result) &&
	         kdr_result_ntasks(run->result) > 1)
		fprintf(out, "  %.*s", (int)strcspn(said + strlen(name) + 2, ",;:("),
		        said + strlen(name) + 2);
	fputc('\n', out);
}

/* "clustered separately, because ...", if the advice on a task says so. */
static const char *reason_at(const cli_run *run, int64_t task)
{
	const char *said = kdr_result_advice(run->result, task, 0);
	return said && strstr(said, "separately, because ") ? strstr(said, "clustered separately") : NULL;
}

static void print_table(FILE *out, const cli_run *run)
{
	const kdr_result *r = run->result;
	const bool classes = cli_has_classes(r);
	const int64_t ntasks = kdr_result_ntasks(r);
	bool scored = false, confident = false, moved = false;
	const char *compared = NULL, *separate = NULL;
	const int widest = name_width(r, 8);
	for (int64_t i = 0; i < ntasks; i++) {
		if (!compared)
			compared = kdri_json_text(cli_about(run, i, "compared_by"), NULL);
		scored = scored || kdri_json_count(cli_about(run, i, "metrics")) > 0;
		confident = confident || isfinite(confidence_of(run, i));
		moved = moved || isfinite(kdri_json_number(about_field(run, i, "moved"), NAN));
	}
	fprintf(out, "%s %s with method %s in %.2f s\n", classes ? "Labelled" : "Clustered",
	        cli_count(labelled(r), "data set"),
	        kdr_result_algo(r)->called ? kdr_result_algo(r)->called : kdr_result_algo(r)->id,
	        cli_now() - run->start);
	fprintf(out, "%-*s  %9s", widest, "data set", "samples");
	if (confident)
		fprintf(out, "  %10s", "confidence");
	if (scored)
		fprintf(out, "  %6s  %6s  %6s", "acc", "nmi", "ari");
	fprintf(out, moved ? "  compared with alone\n" : "\n");
	for (int64_t i = 0; i < ntasks; i++) {
		const kdri_json_value *s = cli_about(run, i, "metrics");
		cli_put_cell(out, widest, INT_MAX, kdr_result_task_name(r, i));
		fprintf(out, "  %9lld", (long long)kdr_result_task_shape(r, i).rows);
		if (confident)
			print_number(out, 10, 2, confidence_of(run, i));
		if (kdri_json_count(s) > 0)
			fprintf(out, "  %6.3f  %6.3f  %6.3f", cli_number_at(s, "acc"),
			        cli_number_at(s, "nmi"), cli_number_at(s, "ari"));
		else if (scored)
			fprintf(out, "  %6s  %6s  %6s", "-", "-", "-");
		separate = separate ? separate : reason_at(run, i);
		print_effect(out, run, i);
	}
	if (separate)
		fprintf(out, "%s\n", separate);
	if (compared)
		fprintf(out, "%s are compared by %s\n",
		        strcmp(compared, "both views") == 0 ? "samples" : "texts", compared);
	if (confident)
		fprintf(out, "confidence: estimated fraction of samples %s, 0 to 1\n",
		        classes ? "with the right class" : "in the right cluster");
	if (scored)
		fprintf(out, "acc, nmi, ari: agreement with the known classes, 1 is perfect\n");
}

static void print_calibration(FILE *out, const cli_run *run)
{
	const kdri_json_value *c = kdri_json_get(run->about, "calibration");
	int64_t held_out = cli_integer_at(c, "held_out");
	if (held_out > 0)
		fprintf(out, "\non %s: accuracy %.3f, log loss %.3f (lower is better)\n%s\n",
		        cli_count(held_out, "held-out source sample"), cli_number_at(c, "accuracy"),
		        cli_number_at(c, "log_loss"), cli_text_at(c, "note"));
}

/* Returns whether rows were skipped. */
static bool print_left_out(FILE *out, const cli_run *run)
{
	bool any = false;
	for (int64_t t = 0; t < kdr_result_ntasks(run->result); t++) {
		const kdr_left_out *first = kdr_result_left_out_at(run->result, t, 0);
		int64_t count = kdri_json_count(cli_about(run, t, "left_out"));
		any = any || first;
		if (first)
			fprintf(out,
			        "%s: %lld row%s skipped, the first is row %lld (%s); left_out in result.json lists all\n",
			        kdr_result_task_name(run->result, t), (long long)count,
			        count == 1 ? " was" : "s were", (long long)first->row, first->reason);
	}
	return any;
}

/* Why a column is skipped, if that was not asked for and nothing else shows it; otherwise NULL. */
static const char *skipped_because(const kdri_json_value *column)
{
	const char *kind = cli_text_at(column, "kind"), *why = cli_text_at(column, "why");
	if (!kind || cli_integer_at(column, "features") > 0 || strcmp(kind, "id") == 0 ||
	    strcmp(kind, "label") == 0)
		return NULL;
	if (why && (strcmp(why, "as specified") == 0 || strcmp(why, "task column") == 0 ||
	            strcmp(why, "it distinguishes the data sets") == 0))
		return NULL;
	if (strcmp(kind, "text") == 0)
		return why && strncmp(why, "numbers with", 12) == 0 ? why : "text";
	if (strcmp(kind, "empty") == 0)
		return "empty";
	if (kdri_json_is(kdri_json_get(column, "constant"), KDRI_JSON_TRUE))
		return "constant";
	return why && *why && strcmp(kind, "skipped") == 0 ? why : "not in all data sets";
}

static bool has_skipped(const cli_run *run, int64_t task, int64_t before, const char *name)
{
	const kdri_json_value *columns = cli_about(run, task, "columns");
	for (int64_t c = 0; c < kdri_json_count(columns) && c < before; c++) {
		const char *other = cli_text_at(kdri_json_at(columns, c), "name");
		if (other && strcmp(other, name) == 0 && skipped_because(kdri_json_at(columns, c)))
			return true;
	}
	return false;
}

/* Skipped columns of all data sets, in one line. Returns whether there are any. */
static bool print_skipped(FILE *out, const cli_run *run)
{
	enum { ROOM = 44 }; /* of a line of 80 characters */
	int64_t found = 0, shown = 0;
	int used = 0;
	for (int64_t t = 0; t < kdr_result_ntasks(run->result); t++) {
		const kdri_json_value *columns = cli_about(run, t, "columns");
		for (int64_t c = 0; c < kdri_json_count(columns); c++) {
			const kdri_json_value *column = kdri_json_at(columns, c);
			const char *why = skipped_because(column), *name = cli_text_at(column, "name");
			bool listed = !why || !name || has_skipped(run, t, c, name);
			for (int64_t u = 0; u < t && !listed; u++)
				listed = has_skipped(run, u, INT64_MAX, name);
			if (listed || (found++ > 0 && used + cli_width(name) + cli_width(why) + 5 > ROOM))
				continue;
			shown++;
			used += fprintf(out, "%s%.60s (%s)", found == 1 ? "skipped: " : ", ", name, why);
		}
	}
	if (found > shown)
		fprintf(out, " and %lld more", (long long)(found - shown));
	if (found > 0)
		fprintf(out, "%s\n", cli_flag(run->args, "verbose") ? "" : " (more with -v)");
	return found > 0;
}

/* The advice of methods that have one contains more than this matrix. */
static bool advises(const cli_run *run)
{
	for (int64_t t = 0; t < kdr_result_ntasks(run->result); t++)
		if (about_field(run, t, "advice"))
			return true;
	return false;
}

/* How much the data sets use each other. Row t of the matrix has the weight of every data set for data set t. */
static void print_relatedness(FILE *out, const cli_run *run)
{
	const kdr_result *r = run->result;
	enum { MOST_TASKS = 12 };
	const double *matrix = kdr_result_relatedness(r);
	int64_t count = kdr_result_ntasks(r);
	const int widest = name_width(r, 6);
	if (!matrix || count < 2 || count > MOST_TASKS || advises(run))
		return;
	fprintf(out,
	        "\nrelatedness: how much each data set (row) uses each other one (column); its own weight is 1\n%-*s",
	        widest, "");
	for (int64_t s = 0; s < count; s++) {
		fputs("  ", out);
		cli_put_cell(out, -widest, INT_MAX, kdr_result_task_name(r, s));
	}
	fputc('\n', out);
	for (int64_t t = 0; t < count; t++) {
		cli_put_cell(out, widest, INT_MAX, kdr_result_task_name(r, t));
		for (int64_t s = 0; s < count; s++)
			fprintf(out, "  %*.2f", widest, matrix[t * count + s]);
		fputc('\n', out);
	}
}

/* Whether the text is the reason for k, which print_attention has printed. */
static bool is_reason_for_k(const cli_run *run, int64_t task, const char *text)
{
	const char *own = kdri_json_text(about_field(run, task, "k_evidence"), NULL),
	           *all = kdri_json_text(about_field(run, -1, "k_evidence"), NULL);
	return (own && strcmp(own, text) == 0) || (all && strcmp(all, text) == 0);
}

/* -v: the advice for each task. */
static void print_advice(FILE *out, const cli_run *run)
{
	const kdr_result *r = run->result;
	bool begun = false;
	print_relatedness(out, run);
	for (int64_t i = 0; i < kdr_result_ntasks(r); i++) {
		const char *text;
		for (int64_t a = 0; (text = kdr_result_advice(r, i, a)); a++) {
			if (is_reason_for_k(run, i, text))
				continue;
			fprintf(out, "%s%s%s\n", begun ? "" : "\n", a > 0 ? "  " : "", text);
			begun = true;
		}
	}
}

/* What needs attention, the most important first: an early end, warnings, skipped rows, a doubtful k. Returns whether there is anything. */
static bool print_attention(FILE *out, const cli_run *run)
{
	enum { FEW_WARNINGS = 5 };
	const kdr_result *r = run->result;
	const kdr_stop stop = kdr_result_stop(r);
	const int64_t warnings = kdr_result_warning_count(r),
	              most = cli_flag(run->args, "verbose") ? warnings : FEW_WARNINGS;
	bool any = warnings > 0;
	if (stop != KDR_STOP_CONVERGED && !(stop == KDR_STOP_MAX_ITER && kdr_result_complete(r))) {
		if (stop == KDR_STOP_TIME || stop == KDR_STOP_CANCELLED)
			fprintf(out, "warning: %s; this is the best result so far\n",
			        stop == KDR_STOP_TIME ? "stopped at the time limit" : "interrupted");
		else
			fprintf(out, "warning: %s %s\n", stop_in_words(r),
			        cli_count(kdr_result_iterations(r), "iteration"));
		any = true;
	}
	for (int64_t i = 0; i < warnings && i < most; i++)
		fprintf(out, "warning: %s\n", kdr_result_warning_at(r, i));
	if (warnings > most)
		fprintf(out, "... (%lld more with -v)\n", (long long)(warnings - most));
	any = print_left_out(out, run) || any;
	any = print_skipped(out, run) || any;
	for (int64_t i = -1; i < kdr_result_ntasks(r); i++) {
		const char *text = kdri_json_text(about_field(run, i, "k_evidence"), NULL);
		const char *name = i < 0 ? "" : kdr_result_task_name(r, i);
		if (text)
			fprintf(out, "%s%s%s\n", name, i < 0 ? "" : ": ", text);
		any = any || text;
	}
	return any;
}

/* The clusters of each target that are least like the source. */
static void print_least_like(FILE *out, const cli_run *run)
{
	enum { SHOWN = 3 };
	for (int64_t t = 0; t < kdr_result_ntasks(run->result); t++) {
		const kdri_json_value *list = cli_about(run, t, "least_like_source");
		if (kdri_json_count(list) == 0)
			continue;
		fprintf(out, "\n%s: clusters least like the source (mean of unlike_source, from 0 to 1)\n",
		        kdr_result_task_name(run->result, t));
		for (int64_t c = 0; c < kdri_json_count(list) && c < SHOWN; c++) {
			const kdri_json_value *one = kdri_json_at(list, c);
			const char *class = cli_text_at(one, "class");
			fprintf(out, "  cluster %lld: %.2f, %s", cli_integer_at(one, "target_cluster"),
			        cli_number_at(one, "mean_unlike_source"),
			        cli_count(cli_integer_at(one, "size"), "sample"));
			if (class)
				fprintf(out, ", %.0f %% labelled %s", 100 * cli_number_at(one, "class_share"),
				        class);
			fprintf(out, "\n");
		}
	}
}

/* How well the rule for new samples repeats the labels of these. */
static void print_model(FILE *out, const cli_run *run)
{
	bool begun = false;
	for (int64_t t = 0; cli_get(run->args, "save-model", NULL) && t < kdr_result_ntasks(run->result);
	     t++) {
		double share = kdri_json_number(about_field(run, t, "predict_agreement"), 1);
		if (share < 1)
			fprintf(out,
			        "%ssaved model: if the samples were new, %.1f %% of those of %s would get the same label\n",
			        begun ? "" : "\n", floor(1000 * share) / 10,
			        kdr_result_task_name(run->result, t));
		begun = begun || share < 1;
	}
}

static void print_files(FILE *out, const cli_run *run)
{
	const char *folder = cli_get(run->args, "output", NULL);
	bool asked = false;
	int listed = 0; /* tasks the method does not label, such as sources, have no file */
	if (!folder)
		return;
	fprintf(out, "\nwritten to %s: result.json", folder);
	for (int64_t i = 0; i < kdr_result_ntasks(run->result); i++)
		if (kdr_result_labels(run->result, i, NULL) && ++listed <= 4)
			fprintf(out, ", %s.labels", kdr_result_task_name(run->result, i));
	for (int64_t i = 0; i < kdr_result_ntasks(run->result); i++)
		asked = asked || kdri_json_count(cli_about(run, i, "ask")) > 0;
	fprintf(out, "%s, *.samples.csv, features.csv%s%s%s\n", listed > 4 ? ", ..." : "",
	        kdr_result_calibration(run->result) ? ", *.probabilities.csv" : "",
	        asked ? ", *.ask.csv" : "", cli_flag(run->args, "report") ? ", report.html" : "");
	if (asked)
		fprintf(out,
		        "next: fill in the column 'class' of *.ask.csv, and run again with --target-labels FILE\n");
}

/* --- quality scores that need no known classes ---------------------------------------------------- */

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
	snprintf(words, sizeof words, "at most 1: mean adjusted Rand index with %s on 4/5 of the samples",
	         cli_count(q->resamples, "fit"));
	if (q->resamples > 0)
		print_line(out, "stability", q->stability, words);
}

static void print_quality(FILE *out, const cli_run *run)
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
}

/* --- features and bridges of a transfer ----------------------------------------------------------- */

/* The feature cluster shared with the target in which the class has the largest share; NULL if there is none. */
static const kdri_json_value *best_of(const kdri_json_value *list, const char *class)
{
	const kdri_json_value *best = NULL;
	for (int64_t i = 0; i < kdri_json_count(list); i++) {
		const kdri_json_value *f = kdri_json_at(list, i);
		const char *of = cli_text_at(f, "class");
		if (strcmp(cli_text_at(f, "shared_with"), "target") == 0 && of && strcmp(of, class) == 0 &&
		    kdri_json_number(kdri_json_get(f, "share"), 0) >
		            kdri_json_number(kdri_json_get(best, "share"), 0))
			best = f;
	}
	return best;
}

/* For each class, the most typical features shared with the target. */
static void print_shared(FILE *out, const cli_run *run)
{
	enum { MOST_CLASSES = 10, WORDS = 8 };
	int64_t nclasses;
	const kdri_json_value *list = kdri_json_get(run->about, "feature_clusters");
	const char *const *classes = kdr_result_classes(run->result, &nclasses);
	/* Those shared with the target come last. Features without names are numbers. */
	const kdri_json_value *last = kdri_json_at(list, kdri_json_count(list) - 1);
	const char *with = cli_text_at(last, "shared_with");
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

/* The ranking of the bridges, if there were several. */
static void print_bridges(FILE *out, const cli_run *run)
{
	const kdri_json_value *list = kdri_json_get(run->about, "bridges"), *first = kdri_json_at(list, 0);
	int64_t count = kdri_json_count(list);
	int widest = 6;
	bool scored = false;
	if (count == 0)
		return;
	for (int64_t k = 0; k < count; k++) {
		int length = cli_width(cli_text_at(kdri_json_at(list, k), "name"));
		widest = length > widest ? length : widest;
		scored = scored || isfinite(cli_number_at(kdri_json_at(list, k), "acc"));
	}
	bool trained = isfinite(cli_number_at(first, "probability"));
	fprintf(out,
	        "\nbridges, the best first (A: A-distance, 0 = indistinguishable, 2 = fully separable)\nA(source, target) = %.3f\n",
	        cli_number_at(first, "a_source_target"));
	fprintf(out, "%-*s  %10s  %17s  %17s", widest, "bridge", "complexity", "A(source, bridge)",
	        "A(bridge, target)");
	fprintf(out, trained ? "  %11s" : "  %9s", trained ? "probability" : "recovered");
	fprintf(out, scored ? "  %6s\n" : "\n", "acc");
	for (int64_t k = 0; k < count; k++) {
		const kdri_json_value *b = kdri_json_at(list, k);
		cli_put_cell(out, widest, INT_MAX, cli_text_at(b, "name"));
		fprintf(out, "  %10.3f  %17.3f  %17.3f", cli_number_at(b, "complexity_bridge"),
		        cli_number_at(b, "a_source_bridge"), cli_number_at(b, "a_bridge_target"));
		if (trained)
			fprintf(out, "  %11.3f", cli_number_at(b, "probability"));
		else
			print_number(out, 9, 3, cli_number_at(b, "back"));
		if (scored)
			print_number(out, 6, 3, cli_number_at(b, "acc"));
		fprintf(out, "\n");
	}
	fprintf(out, "chosen bridge: %s (%s)\n", cli_text_at(first, "name"), cli_text_at(first, "reason"));
}

/* The verdict on each target, if there are a few, or on the only data set. */
static void print_verdicts(FILE *out, const cli_run *run)
{
	enum { MOST = 4 };
	const kdr_result *r = run->result;
	const bool one = kdr_result_ntasks(r) == 1;
	for (int64_t t = 0, said = 0; t < kdr_result_ntasks(r) && (one || cli_has_classes(r)); t++) {
		const char *verdict = kdr_result_labels(r, t, NULL) ? kdr_result_advice(r, t, 0) : NULL;
		if (verdict && !is_reason_for_k(run, t, verdict) && said++ < MOST)
			fprintf(out, "%s%s\n", said == 1 ? "\n" : "", verdict);
	}
}

void cli_summary(FILE *to, const cli_run *run)
{
	const bool verbose = cli_flag(run->args, "verbose");
	cli_text t;
	if (!cli_text_open(&t))
		return;
	FILE *out = t.stream;
	if (print_attention(out, run))
		fputc('\n', out);
	print_table(out, run);
	cli_clusters(out, run);
	if (cli_get(run->args, "into", NULL) && !verbose)
		print_advice(out, run);
	else if (!verbose)
		print_verdicts(out, run);
	cli_levels(out, run);
	print_quality(out, run);
	print_calibration(out, run);
	print_bridges(out, run);
	if (verbose) {
		print_details(out, run);
		cli_profiles(out, run);
		cli_matches(out, run);
		print_advice(out, run);
		print_least_like(out, run);
		print_shared(out, run);
	}
	print_model(out, run);
	print_files(out, run);
	char *text = cli_text_close(&t);
	if (text)
		cli_print_safely(to, text, t.length);
	free(text);
}
