/* What tasks draw on each other, for people. SPDX-License-Identifier: BSD-3-Clause
 *
 * Row t of the matrix has what task t draws on every task, its own weight being 1. */
#include "cli.h"

#include <string.h>

enum { MOST_TASKS = 12 };

/* Below this share of its own weight another task hardly counts. */
static const double negligible = 0.05;

static void print_words(FILE *out, const cli_run *run, const double *row, int64_t t)
{
	int64_t best = -1, count = run->tasks->count;
	for (int64_t s = 0; s < count; s++)
		if (s != t && (best < 0 || row[s] > row[best]))
			best = s;
	if (row[best] < negligible)
		fprintf(out, "%s draws on hardly any other task\n", kdr_data_name(run->tasks->data[t]));
	else
		fprintf(out, "%s draws mostly on %s (%.2f)\n", kdr_data_name(run->tasks->data[t]),
		        kdr_data_name(run->tasks->data[best]), row[best]);
}

void cli_relatedness(FILE *out, const cli_run *run)
{
	const double *matrix = kdr_result_relatedness(run->result);
	int64_t count = run->tasks->count;
	int widest = 6;
	if (!matrix || count < 2 || count > MOST_TASKS)
		return;
	for (int64_t t = 0; t < count; t++) {
		int length = (int)strlen(kdr_data_name(run->tasks->data[t]));
		widest = length > widest ? length : widest;
	}
	fprintf(out, "\nrelatedness: what each task draws on, beside itself\n%-*s", widest, "");
	for (int64_t s = 0; s < count; s++)
		fprintf(out, "  %*s", widest, kdr_data_name(run->tasks->data[s]));
	fputc('\n', out);
	for (int64_t t = 0; t < count; t++) {
		fprintf(out, "%-*s", widest, kdr_data_name(run->tasks->data[t]));
		for (int64_t s = 0; s < count; s++)
			fprintf(out, "  %*.2f", widest, matrix[t * count + s]);
		fputc('\n', out);
	}
	for (int64_t t = 0; t < count; t++)
		print_words(out, run, matrix + t * count, t);
}
