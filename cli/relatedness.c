/* Prints how much the data sets use each other. SPDX-License-Identifier: BSD-3-Clause
 *
 * Row t of the matrix has the weight of every data set for data set t; its own weight is 1. */
#include "cli.h"

#include <string.h>

enum { MOST_TASKS = 12 };

/* The advice of methods that have one contains more than this matrix. */
static bool advises(const cli_run *run)
{
	for (int64_t t = 0; t < kdr_result_ntasks(run->result); t++)
		if (cli_about_field(run, t, "advice"))
			return true;
	return false;
}

void cli_relatedness(FILE *out, const cli_run *run)
{
	const kdr_result *r = run->result;
	const double *matrix = kdr_result_relatedness(r);
	int64_t count = kdr_result_ntasks(r);
	int widest = 6;
	if (!matrix || count < 2 || count > MOST_TASKS || advises(run))
		return;
	for (int64_t t = 0; t < count; t++) {
		int length = (int)strlen(kdr_result_task_name(r, t));
		widest = length > widest ? length : widest;
	}
	fprintf(out,
	        "\nrelatedness: how much each data set (row) uses each other one (column); its own weight is 1\n%-*s",
	        widest, "");
	for (int64_t s = 0; s < count; s++)
		fprintf(out, "  %*s", widest, kdr_result_task_name(r, s));
	fputc('\n', out);
	for (int64_t t = 0; t < count; t++) {
		fprintf(out, "%-*s", widest, kdr_result_task_name(r, t));
		for (int64_t s = 0; s < count; s++)
			fprintf(out, "  %*.2f", widest, matrix[t * count + s]);
		fputc('\n', out);
	}
}
