/* All tables of a plan in one: means by collection, worst cases. SPDX-License-Identifier: BSD-3-Clause
 *
 * {"summary": {"row": "auto", "against": ["svm", "logreg"]}} in a plan: a line for each collection (tables written short
 * are of one, those from all other sets are one more) and one for all, a column for each row, and how far `row` is below
 * each of `against` on the table where that is worst. Figures are means of the first score over repeats and tasks. */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
	cli_error("out of memory");
	return EXIT_OTHER;
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

/* The tables of a collection; NULL: all. */
static bool belongs(const bench_summary *s, int table, const char *group)
{
	const char *own = s->plan->tables[table].group;
	return s->done[table] && (!group || (own && strcmp(own, group) == 0));
}

static double mean_of(const bench_summary *s, const char *group, int row)
{
	double sum = 0, count = 0;
	for (int t = 0; t < s->plan->ntables; t++)
		if (belongs(s, t, group) && !isnan(s->means[t * s->rows + row])) {
			sum += s->means[t * s->rows + row];
			count++;
		}
	return count > 0 ? sum / count : NAN;
}

static double worst_of(const bench_summary *s, const char *group, int row, int other)
{
	double worst = NAN;
	for (int t = 0; t < s->plan->ntables; t++)
		if (belongs(s, t, group))
			worst = fmin(worst, s->means[t * s->rows + row] - s->means[t * s->rows + other]);
	return worst;
}

static int tables_of(const bench_summary *s, const char *group)
{
	int count = 0;
	for (int t = 0; t < s->plan->ntables; t++)
		count += belongs(s, t, group);
	return count;
}

static int row_called(const bench_summary *s, const char *name)
{
	int r = 0;
	while (r < s->rows && strcmp(s->plan->tables[0].rows[r].name, name) != 0)
		r++;
	return r;
}

/* The collection of table t, where it is that one's first; past the last table: of all, NULL. */
static bool bench_summary_first_of(const bench_summary *s, int t, const char **group)
{
	*group = t < s->plan->ntables ? s->plan->tables[t].group : NULL;
	for (int i = 0; i < t && *group; i++) {
		const char *earlier = s->plan->tables[i].group;
		if (earlier && strcmp(earlier, *group) == 0)
			return false;
	}
	return tables_of(s, *group) > 0;
}

static void print_number(FILE *out, const char *format, double v)
{
	if (isnan(v))
		fputs(" - |", out);
	else
		fprintf(out, format, v);
}

void bench_summary_print(FILE *out, const bench_summary *s)
{
	const bench_plan *p = s->plan;
	const char *group;
	int row = row_called(s, p->summary);
	fprintf(out,
	        "## %s\n\nMeans of %s over tables; worst: '%s' less the other on one table.\n\n| collection | tables |",
	        p->title, bench_score_names[p->tables[0].scores[0]], p->summary);
	for (int r = 0; r < s->rows; r++)
		fprintf(out, " %s |", p->tables[0].rows[r].name);
	for (int a = 0; a < p->nagainst; a++)
		fprintf(out, " worst against %s |", p->against[a]);
	fputs("\n|---|---:|", out);
	for (int c = 0; c < s->rows + p->nagainst; c++)
		fputs("---:|", out);
	fputc('\n', out);
	for (int t = 0; t <= p->ntables; t++) {
		if (!bench_summary_first_of(s, t, &group))
			continue;
		fprintf(out, "| %s | %d |", group ? group : "all", tables_of(s, group));
		for (int r = 0; r < s->rows; r++)
			print_number(out, " %.3f |", mean_of(s, group, r));
		for (int a = 0; a < p->nagainst; a++)
			print_number(out, " %+.3f |", worst_of(s, group, row, row_called(s, p->against[a])));
		fputc('\n', out);
	}
	fputc('\n', out);
}
