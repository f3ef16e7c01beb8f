/* The presets: plans that are built in, and all their rows. SPDX-License-Identifier: BSD-3-Clause */
#include "bench.h"
#include "core/system.h"

#include <stdlib.h>
#include <string.h>

int bench_presets_list(void)
{
	const char *text, *name;
	size_t size;
	for (int i = 0; (name = bench_preset(i, &text, &size)); i++) {
		bench_plan plan;
		int code = bench_plan_parse(name, text, size, "", &plan);
		if (code != EXIT_DONE)
			return code;
		cli_printf("%-22s %s\n", name, plan.title);
		bench_plan_free(&plan);
	}
	return cli_finish(EXIT_DONE);
}

int bench_preset_find(const char *wanted, const char **text, size_t *size)
{
	const char *names[64], *name, *nearest[1];
	size_t n = 0;
	for (int i = 0; (name = bench_preset(i, text, size)) && n < 64; i++) {
		if (strcmp(name, wanted) == 0)
			return EXIT_DONE;
		names[n++] = name;
	}
	if (kdr_suggest(wanted, names, n, nearest, 1))
		cli_error("unknown preset '%s'; did you mean %s?", wanted, nearest[0]);
	else
		cli_error("unknown preset '%s'; 'kindred bench --list' lists the presets", wanted);
	return EXIT_USAGE;
}

static bool has_data(const bench_table *t)
{
	return t->design || kdri_exists(t->data[0].path);
}

/* Presets name their data below the folder KINDRED_DATA. */
int bench_preset_read(const char *name, bench_plan *plan)
{
	const char *text, *folder = getenv("KINDRED_DATA");
	size_t size;
	int code = bench_preset_find(name, &text, &size);
	if (code != EXIT_DONE)
		return code;
	if ((code = bench_plan_parse(name, text, size, folder ? folder : "", plan)) != EXIT_DONE)
		return code;
	for (int t = 0; t < plan->ntables; t++)
		if (!has_data(&plan->tables[t])) {
			cli_error(
			        "preset %s needs %s, which was not found; set KINDRED_DATA to the folder with the data sets",
			        name, plan->tables[t].data[0].path);
			bench_plan_free(plan);
			return EXIT_DATA;
		}
	return EXIT_DONE;
}

/* --- rows of presets ------------------------------------------------------------------------------------ */

void bench_set_of_rows_free(bench_set_of_rows *s)
{
	for (int i = 0; i < s->nplans; i++)
		bench_plan_free(&s->plans[i]);
	free(s->plans);
	free(s->names);
	free(s->units);
	*s = (bench_set_of_rows){ 0 };
}

/* Every preset of a paper, less the tables whose data are not here. */
static int add_papers(bench_set_of_rows *s, int *absent)
{
	const char *text, *name, *folder = getenv("KINDRED_DATA");
	size_t size;
	*absent = 0;
	for (int i = 0; (name = bench_preset(i, &text, &size)); i++) {
		bench_plan *plan = &s->plans[s->nplans];
		int code = bench_plan_parse(name, text, size, folder ? folder : "", plan);
		if (code != EXIT_DONE)
			return code;
		if (!plan->paper) {
			bench_plan_free(plan);
			continue;
		}
		s->names[s->nplans++] = name;
		for (int t = 0; t < plan->ntables; t++)
			for (int r = 0; !has_data(&plan->tables[t]) && r < plan->tables[t].nrows; r++)
				*absent += plan->tables[t].rows[r].method != NULL;
	}
	return EXIT_DONE;
}

static int add_named(const cli_args *args, bench_set_of_rows *s)
{
	for (int i = 0; i < cli_positional_count(args); i++) {
		int code = bench_preset_read(cli_positional(args, i), &s->plans[s->nplans]);
		if (code != EXIT_DONE)
			return code;
		s->names[s->nplans++] = cli_positional(args, i);
	}
	return EXIT_DONE;
}

/* Whether --only, if it is given, wants the row. */
static bool wanted(const cli_args *args, const bench_unit *u)
{
	char path[2048];
	const char *part;
	int i = 0;
	if (!bench_unit_path(u, "", path, sizeof path))
		return true;
	for (; (part = cli_get_nth(args, "only", i)); i++)
		if (strstr(path + 1, part))
			return true;
	return i == 0;
}

int bench_set_of_rows_read(const cli_args *args, bool all, bench_set_of_rows *out)
{
	enum { MOST_PRESETS = 64 };
	bench_set_of_rows s = { 0 };
	int absent = 0, most = all ? MOST_PRESETS : cli_positional_count(args);
	int64_t seed = 1;
	if (!cli_get_int(args, "seed", 0, INT64_MAX / 2, &seed))
		return EXIT_USAGE;
	s.plans = calloc((size_t)most + 1, sizeof *s.plans);
	s.names = calloc((size_t)most + 1, sizeof *s.names);
	int code = !s.plans || !s.names ? bench_no_memory()
	           : all                ? add_papers(&s, &absent)
	                                : add_named(args, &s);
	int rows = 0;
	for (int p = 0; p < s.nplans && code == EXIT_DONE; p++) {
		code = bench_plan_adjust(args, &s.plans[p]);
		for (int t = 0; t < s.plans[p].ntables; t++)
			rows += s.plans[p].tables[t].nrows;
	}
	if (code == EXIT_DONE && !(s.units = calloc((size_t)rows + 1, sizeof *s.units)))
		code = bench_no_memory();
	for (int p = 0; p < s.nplans && code == EXIT_DONE; p++)
		for (int t = 0; t < s.plans[p].ntables; t++)
			for (int r = 0; has_data(&s.plans[p].tables[t]) && r < s.plans[p].tables[t].nrows;
			     r++)
				if (s.plans[p].tables[t].rows[r].method) {
					bench_unit u = { .preset = s.names[p],
						         .plan = &s.plans[p],
						         .table = t,
						         .row = r,
						         .quick = cli_flag(args, "quick"),
						         .seed = (uint64_t)seed };
					if (wanted(args, &u))
						s.units[s.nunits++] = u;
				}
	if (code == EXIT_DONE && rows && s.nunits == 0 && cli_get(args, "only", NULL)) {
		cli_error(
		        "--only %s: no row matches; rows are named PRESET/TABLE/ROW.json, as in the folder of -o",
		        cli_get(args, "only", NULL));
		code = EXIT_USAGE;
	}
	if (code == EXIT_DONE && absent)
		cli_warn("%d row%s skipped; set KINDRED_DATA to the folder with the data sets", absent,
		         absent == 1 ? " was" : "s were");
	if (code == EXIT_DONE)
		*out = s;
	else
		bench_set_of_rows_free(&s);
	return code;
}
