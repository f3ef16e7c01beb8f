/* Tables of kindred bench: means, deviations, paired tests, summaries. SPDX-License-Identifier: BSD-3-Clause
 *
 * {"summary": {"row": "auto", "against": ["svm", "logreg"]}} in a plan ends it with one table of all: a line for each collection
 * (tables written as pairs are of one, those from all other sets are one more) and one for all, a column for each row, and how
 * far `row` is below each of `against` on the table where that is worst. Figures are means of the first score over repeats and tasks. */
#include "bench.h"
#include "system.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The value of one repeat: of a task, or the mean over tasks (task -1). */
static double bench_print_value(const bench_outcome *o, const bench_line *line, int repeat, int score,
                                int task)
{
	const double *v = line->values + (size_t)((repeat * o->table->nscores + score) * o->ntasks);
	double sum = 0;
	if (task >= 0)
		return v[task];
	for (int i = 0; i < o->ntasks; i++)
		sum += v[i];
	return sum / o->ntasks;
}

void bench_summarise(const bench_outcome *o, const bench_line *line, int score, int task, double *mean,
                     double *deviation)
{
	double sum = 0, squares = 0;
	int n = 0;
	for (int r = 0; r < o->repeats; r++)
		if (!isnan(bench_print_value(o, line, r, score, task))) {
			sum += bench_print_value(o, line, r, score, task);
			n++;
		}
	*mean = n ? sum / n : NAN;
	for (int r = 0; r < o->repeats; r++)
		if (!isnan(bench_print_value(o, line, r, score, task)))
			squares += pow(bench_print_value(o, line, r, score, task) - *mean, 2);
	*deviation = n > 1 ? sqrt(squares / (n - 1)) : n ? 0 : NAN;
}

/* --- the paired t-test ------------------------------------------------------------------------------ */

/* The regularised incomplete beta function by its continued fraction (Lentz) [DLMF 8.17.22], for
 * x < (a + 1) / (a + b + 2). */
static double beta_fraction(double a, double b, double x)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1);
	d = 1 / (fabs(d) < tiny ? tiny : d);
	double h = d;
	for (int m = 1; m < 1000; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		const double steps[] = { even, odd };
		double change = 1;
		for (int i = 0; i < 2; i++) {
			d = 1 + steps[i] * d;
			c = 1 + steps[i] / c;
			d = 1 / (fabs(d) < tiny ? tiny : d);
			c = fabs(c) < tiny ? tiny : c;
			change = d * c;
			h *= change;
		}
		if (fabs(change - 1) < 1e-15)
			break;
	}
	return exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)) * h / a;
}

static double beta_share(double a, double b, double x)
{
	if (x <= 0 || x >= 1)
		return x <= 0 ? 0 : 1;
	return x < (a + 1) / (a + b + 2) ? beta_fraction(a, b, x) : 1 - beta_fraction(b, a, 1 - x);
}

double bench_paired_p(const bench_outcome *o, const bench_line *a, const bench_line *b)
{
	double sum = 0, squares = 0;
	int n = 0;
	for (int pass = 0; pass < 2; pass++)
		for (int r = 0; r < o->repeats; r++) {
			double d = bench_print_value(o, a, r, 0, -1) - bench_print_value(o, b, r, 0, -1);
			if (isnan(d))
				continue;
			if (pass == 0) {
				sum += d;
				n++;
			} else {
				squares += pow(d - sum / n, 2);
			}
		}
	if (n < 2)
		return NAN;
	double mean = sum / n, error = sqrt(squares / (n - 1) / n);
	if (error == 0)
		return mean == 0 ? 1 : 0;
	double t = mean / error, f = n - 1;
	return beta_share(f / 2, 0.5, f / (f + t * t)); /* two-sided */
}

/* --- for reading --------------------------------------------------------------------------------------- */

/* The line of a row that is shown in the table: with "pick": "truth", the best mean of the first score. */
static bool shown(const bench_outcome *o, int index)
{
	const bench_line *line = &o->lines[index];
	double mine, other, unused;
	if (o->some && line->runs == 0)
		return false;
	if (o->table->pick == BENCH_PICK_NONE)
		return true;
	bench_summarise(o, line, 0, -1, &mine, &unused);
	for (int i = 0; i < o->nlines; i++)
		if (i != index && o->lines[i].row == line->row) {
			bench_summarise(o, &o->lines[i], 0, -1, &other, &unused);
			if (other > mine || (isnan(mine) && !isnan(other)) ||
			    (i < index && (other == mine || (isnan(mine) && isnan(other)))))
				return false;
		}
	return true;
}

/* "0.860 ± 0.000 (paper 0.85)". */
static void cell_text(char *text, size_t room, const bench_outcome *o, const bench_line *line, int score,
                      int task)
{
	double mean, deviation;
	bool any = false;
	bench_summarise(o, line, score, task, &mean, &deviation);
	size_t used = isnan(mean) ? (size_t)snprintf(text, room, "-")
	                          : (size_t)snprintf(text, room, "%.3f ± %.3f", mean, deviation);
	for (int i = 0; i < line->row->nreferences && task >= 0 && used < room; i++) {
		double figure = line->row->references[i].values[score * o->ntasks + task];
		if (isnan(figure))
			continue;
		used += (size_t)snprintf(text + used, room - used, "%s%s %.3g", any ? ", " : " (",
		                         line->row->references[i].label, figure);
		any = true;
	}
	if (any && used < room)
		snprintf(text + used, room - used, ")");
}

/* The notes above a table, except for its title, one per line. */
static void print_notes(FILE *out, const bench_outcome *o)
{
	const bench_table *t = o->table;
	if (t->note)
		fprintf(out, "%s\n\n", t->note);
	fprintf(out, "Mean ± standard deviation of %d repeat%s", o->repeats, CLI_S(o->repeats));
	if (o->repeats < t->repeats)
		fprintf(out, " (stopped before all %d)", t->repeats);
	if (t->sample)
		fprintf(out, "; at most %lld samples per data set, drawn again for each",
		        (long long)t->sample);
	if (t->start == BENCH_START_RANDOM)
		fputs("; all methods of a repeat start from the same random labels", out);
	fputs(".\n", out);
	if (t->pick == BENCH_PICK_TRUTH)
		fprintf(out,
		        "For each grid, the setting with the best %s: CHOSEN BY THE KNOWN CLASSES, as in the papers.\n",
		        bench_score_names[t->scores[0]]);
	if (t->paired)
		fprintf(out,
		        "p: two-sided paired t-test of %s against '%s', not corrected for the number of rows.\n",
		        bench_score_names[t->scores[0]], t->paired);
}

/* What stands below it: the runs that failed. */
static void print_failures(FILE *out, const bench_outcome *o)
{
	for (int l = 0; l < o->nlines; l++)
		if (o->lines[l].failed)
			fprintf(out, "%s%s%s: %d of %d runs failed: %s\n\n", o->lines[l].row->name,
			        o->lines[l].setting[0] ? ", " : "", o->lines[l].setting, o->lines[l].failed,
			        o->lines[l].runs, o->lines[l].error ? o->lines[l].error : "out of memory");
}

/* The row that the others are compared with; NULL: none. */
static const bench_line *base_line(const bench_outcome *o)
{
	for (int i = 0; o->table->paired && i < o->nlines; i++)
		if (strcmp(o->lines[i].row->name, o->table->paired) == 0 && shown(o, i))
			return &o->lines[i];
	return NULL;
}

static bool has_settings(const bench_outcome *o)
{
	bool settings = false;
	for (int i = 0; i < o->nlines; i++)
		settings |= o->lines[i].setting[0] != '\0';
	return settings;
}

/* The texts that `print` prints, in the sheet's format. */
static void put_text(bench_sheet *s, void (*print)(FILE *out, const bench_outcome *o), const bench_outcome *o)
{
	cli_text t;
	if (!cli_text_open(&t))
		return;
	print(t.stream, o);
	char *text = cli_text_close(&t);
	if (text)
		bench_sheet_text(s, text);
	free(text);
}

/* One line per row, data set and score. */
static void print_values(FILE *out, const bench_outcome *o, bool first)
{
	const bench_table *t = o->table;
	bench_sheet s = { .out = out, .format = BENCH_CSV };
	static const char *const titles[] = { "table", "row",     "setting", "data_set", "score",      "mean",
		                              "std",   "repeats", "failed",  "seconds",  "references", NULL };
	for (int i = 0; first && titles[i]; i++)
		bench_sheet_cell(&s, titles[i]);
	if (first)
		bench_sheet_end_row(&s);
	for (int l = 0; l < o->nlines; l++)
		for (int c = 0; shown(o, l) && c < t->nscores; c++)
			for (int at = 0; at < o->ntasks + (o->ntasks > 1); at++) {
				const int i = at < o->ntasks ? at : -1;
				const bench_line *line = &o->lines[l];
				double mean, deviation;
				char text[256] = "";
				size_t used = 0;
				bench_summarise(o, line, c, i, &mean, &deviation);
				bench_sheet_cell(&s, t->title);
				bench_sheet_cell(&s, line->row->name);
				bench_sheet_cell(&s, line->setting);
				bench_sheet_cell(&s, i < 0 ? "mean" : o->tasks[i]);
				bench_sheet_cell(&s, bench_score_names[t->scores[c]]);
				bench_sheet_number(&s, "%.17g", mean);
				bench_sheet_number(&s, "%.17g", deviation);
				bench_sheet_number(&s, "%.0f", o->repeats);
				bench_sheet_number(&s, "%.0f", line->failed);
				bench_sheet_number(&s, "%.6g", line->runs ? line->seconds / line->runs : NAN);
				for (int r = 0; i >= 0 && r < line->row->nreferences && used < sizeof text;
				     r++) {
					double figure = line->row->references[r].values[c * o->ntasks + i];
					if (!isnan(figure))
						used += (size_t)snprintf(text + used, sizeof text - used,
						                         "%s%s %.3g", used ? ", " : "",
						                         line->row->references[r].label,
						                         figure);
				}
				bench_sheet_cell(&s, text);
				bench_sheet_end_row(&s);
			}
}

void bench_print(FILE *out, const bench_outcome *o, bench_format format, bool first)
{
	const bench_table *t = o->table;
	const bool settings = has_settings(o);
	const bench_line *base = base_line(o);
	bench_sheet s = { .out = out, .format = format };
	char text[1024];
	if (format == BENCH_CSV) {
		print_values(out, o, first);
		return;
	}
	bench_sheet_title(&s, t->title);
	put_text(&s, print_notes, o);
	int columns = t->nscores * (o->ntasks + (o->ntasks > 1)) + 1 + (base != NULL);
	bench_sheet_begin(&s, settings ? 2 : 1, columns);
	bench_sheet_cell(&s, "method");
	if (settings)
		bench_sheet_cell(&s, "setting");
	for (int c = 0; c < t->nscores; c++)
		for (int i = 0; i < o->ntasks + (o->ntasks > 1); i++) {
			snprintf(text, sizeof text, "%s %s", i < o->ntasks ? o->tasks[i] : "mean",
			         bench_score_names[t->scores[c]]);
			bench_sheet_cell(&s, text);
		}
	if (base)
		bench_sheet_cell(&s, "p");
	bench_sheet_cell(&s, "seconds");
	bench_sheet_end_row(&s);
	for (int l = 0; l < o->nlines; l++) {
		const bench_line *line = &o->lines[l];
		if (!shown(o, l))
			continue;
		bench_sheet_cell(&s, line->row->name);
		if (settings)
			bench_sheet_cell(&s, line->setting);
		for (int c = 0; c < t->nscores; c++)
			for (int i = 0; i < o->ntasks + (o->ntasks > 1); i++) {
				cell_text(text, sizeof text, o, line, c, i < o->ntasks ? i : -1);
				bench_sheet_cell(&s, text);
			}
		if (base)
			bench_sheet_number(&s, "%.1e", line == base ? NAN : bench_paired_p(o, line, base));
		bench_sheet_number(&s, "%.3g", line->runs ? line->seconds / line->runs : 0);
		bench_sheet_end_row(&s);
	}
	bench_sheet_finish(&s);
	put_text(&s, print_failures, o);
}

/* --- for programs -------------------------------------------------------------------------------------- */

/* The lines above the table. */
static void put_notes(kdri_json *j, const bench_outcome *o)
{
	char *text = NULL, *rest = NULL;
	cli_text t;
	if (cli_text_open(&t)) {
		print_notes(t.stream, o);
		text = cli_text_close(&t);
	}
	kdri_json_array(j, "notes");
	if (text)
		for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
			kdri_json_string(j, NULL, line);
	kdri_json_end_array(j);
	free(text);
}

/* Published figures: a list for each score, null if unknown. */
static void put_references(kdri_json *j, const bench_outcome *o, const bench_row *row)
{
	const bench_table *t = o->table;
	kdri_json_object(j, "references");
	for (int r = 0; r < row->nreferences; r++) {
		kdri_json_object(j, row->references[r].label);
		for (int c = 0; c < t->nscores; c++)
			kdri_json_reals(j, bench_score_names[t->scores[c]],
			                row->references[r].values + (size_t)(c * o->ntasks), o->ntasks);
		kdri_json_end_object(j);
	}
	kdri_json_end_object(j);
}

/* Means over data sets, as the table has them: their deviation is that of the mean of each repeat. */
static void put_means(kdri_json *j, const bench_outcome *o, const bench_line *line)
{
	kdri_json_object(j, "means");
	for (int c = 0; c < o->table->nscores; c++) {
		double mean, deviation;
		bench_summarise(o, line, c, -1, &mean, &deviation);
		kdri_json_object(j, bench_score_names[o->table->scores[c]]);
		kdri_json_real(j, "mean", mean);
		kdri_json_real(j, "std", deviation);
		kdri_json_end_object(j);
	}
	kdri_json_end_object(j);
}

void bench_json(kdri_json *j, const bench_outcome *o)
{
	const bench_table *t = o->table;
	const bench_line *base = base_line(o);
	kdri_json_object(j, NULL);
	kdri_json_string(j, "title", t->title);
	kdri_json_int(j, "repeats", o->repeats);
	kdri_json_bool(j, "picked_on_truth", t->pick == BENCH_PICK_TRUTH);
	put_notes(j, o);
	kdri_json_strings(j, "tasks", o->tasks, o->ntasks);
	kdri_json_array(j, "rows");
	for (int l = 0; l < o->nlines; l++) {
		const bench_line *line = &o->lines[l];
		kdri_json_object(j, NULL);
		kdri_json_string(j, "name", line->row->name);
		kdri_json_string(j, "method", line->row->method ? line->row->method : "");
		kdri_json_string(j, "setting", line->setting);
		kdri_json_bool(j, "shown", shown(o, l));
		kdri_json_real(j, "seconds", line->runs ? line->seconds / line->runs : 0);
		kdri_json_int(j, "failed", line->failed);
		if (base && line != base)
			kdri_json_real(j, "p", bench_paired_p(o, line, base));
		if (line->row->nreferences > 0)
			put_references(j, o, line->row);
		put_means(j, o, line);
		kdri_json_object(j, "scores");
		for (int c = 0; c < t->nscores; c++) {
			kdri_json_array(j, bench_score_names[t->scores[c]]);
			for (int i = 0; i < o->ntasks; i++) {
				double mean, deviation;
				bench_summarise(o, line, c, i, &mean, &deviation);
				kdri_json_object(j, NULL);
				kdri_json_string(j, "task", o->tasks[i]);
				kdri_json_real(j, "mean", mean);
				kdri_json_real(j, "std", deviation);
				kdri_json_array(j, "values");
				for (int r = 0; r < o->repeats; r++)
					kdri_json_real(j, NULL, bench_print_value(o, line, r, c, i));
				kdri_json_end_array(j);
				kdri_json_end_object(j);
			}
			kdri_json_end_array(j);
		}
		kdri_json_end_object(j);
		kdri_json_end_object(j);
	}
	kdri_json_end_array(j);
	kdri_json_end_object(j);
}

/* --- summary ------------------------------------------------------------------------------------------ */

void bench_summary_free(bench_summary *s)
{
	free(s->means);
	free(s->done);
	*s = (bench_summary){ 0 };
}

int bench_summary_new(const bench_plan *plan, bench_summary *out)
{
	*out = (bench_summary){ .plan = plan, .rows = plan->tables[0].nrows };
	out->means = calloc((size_t)plan->ntables * (size_t)out->rows + 1, sizeof *out->means);
	out->done = calloc((size_t)plan->ntables + 1, sizeof *out->done);
	if (out->means && out->done)
		return EXIT_DONE;
	bench_summary_free(out);
	return bench_no_memory();
}

void bench_summary_add(bench_summary *s, int table, const bench_outcome *o)
{
	double unused;
	s->done[table] = o->repeats > 0;
	for (int r = 0; r < s->rows; r++)
		for (int l = 0; l < o->nlines; l++)
			if (o->lines[l].row == &o->table->rows[r])
				bench_summarise(o, &o->lines[l], 0, -1, &s->means[table * s->rows + r],
				                &unused);
}

static int row_called(const bench_summary *s, const char *name)
{
	int r = 0;
	while (r < s->rows && strcmp(s->plan->tables[0].rows[r].name, name) != 0)
		r++;
	return r;
}

/* The line of a collection; of all tables if group is NULL. */
static void print_group(bench_sheet *out, const bench_summary *s, const char *group)
{
	const bench_plan *p = s->plan;
	const int row = row_called(s, p->summary);
	int tables = 0;
	for (int pass = -1; pass < s->rows + p->nagainst; pass++) {
		/* pass -1 counts tables; then means of the rows, and the worst difference from each of `against` */
		int other = pass < s->rows ? pass : row_called(s, p->against[pass - s->rows]);
		double sum = 0, count = 0, worst = NAN;
		for (int t = 0; t < p->ntables; t++) {
			const double *means = s->means + (size_t)(t * s->rows);
			if (!s->done[t] ||
			    (group && (!p->tables[t].group || strcmp(p->tables[t].group, group) != 0)))
				continue;
			tables += pass < 0;
			if (pass < 0 || isnan(means[other]))
				continue;
			sum += means[other];
			count++;
			worst = fmin(worst, means[row] - means[other]);
		}
		if (pass < 0 && tables == 0)
			return;
		if (pass < 0) {
			bench_sheet_cell(out, group ? group : "all");
			bench_sheet_number(out, "%.0f", tables);
		} else if (pass < s->rows) {
			bench_sheet_number(out, "%.3f", count > 0 ? sum / count : NAN);
		} else {
			bench_sheet_number(out, "%+.3f", worst);
		}
	}
	bench_sheet_end_row(out);
}

void bench_summary_print(FILE *out, const bench_summary *s, bench_format format)
{
	const bench_plan *p = s->plan;
	bench_sheet sheet = { .out = out, .format = format, .missing = "-" };
	char text[512];
	if (format == BENCH_CSV) /* its figures are means of those printed */
		return;
	bench_sheet_title(&sheet, p->title);
	snprintf(
	        text, sizeof text,
	        "Means of %s over tables; worst: the lowest difference of '%s' minus the other on one table.\n",
	        bench_score_names[p->tables[0].scores[0]], p->summary);
	bench_sheet_text(&sheet, text);
	bench_sheet_begin(&sheet, 1, 1 + s->rows + p->nagainst);
	bench_sheet_cell(&sheet, "collection");
	bench_sheet_cell(&sheet, "tables");
	for (int r = 0; r < s->rows; r++)
		bench_sheet_cell(&sheet, p->tables[0].rows[r].name);
	for (int a = 0; a < p->nagainst; a++) {
		snprintf(text, sizeof text, "worst against %s", p->against[a]);
		bench_sheet_cell(&sheet, text);
	}
	bench_sheet_end_row(&sheet);
	for (int t = 0; t < p->ntables; t++) {
		const char *group = p->tables[t].group;
		bool seen = !group;
		for (int i = 0; i < t && !seen; i++)
			seen = p->tables[i].group && strcmp(p->tables[i].group, group) == 0;
		if (!seen)
			print_group(&sheet, s, group);
	}
	print_group(&sheet, s, NULL);
	bench_sheet_finish(&sheet);
}
