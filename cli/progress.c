/* How far a job is, as a line for a terminal. SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void cli_progress_text(const kdr_event *e, double elapsed, double limit, char *text, size_t room)
{
	enum { WIDTH = 12, MINUTES = 100, HOURS = 6000 };
	char bar[WIDTH + 1] = "", done[48] = "", objective[48] = "", most[48] = "", left[48] = "";
	const bool itself = strcmp(e->stage, e->counted) == 0;
	double rest = e->remaining;
	for (int i = 0; i < WIDTH; i++)
		bar[i] = (i + 1) <= e->fraction * WIDTH ? '#' : '.';
	if (!isnan(e->fraction))
		snprintf(done, sizeof done, "  [%s] %.0f %%", bar, floor(100 * e->fraction));
	else if (e->iteration > 0)
		snprintf(done, sizeof done, " %lld", (long long)e->iteration);
	if (itself && isfinite(e->objective))
		snprintf(objective, sizeof objective, "  objective %.6g", e->objective);
	if (limit > 0) {
		snprintf(most, sizeof most, " of at most %.0f s", limit);
		rest = rest > limit - elapsed ? fmax(limit - elapsed, 0) : rest;
	}
	if (!isnan(rest))
		snprintf(left, sizeof left, "  %s %.0f %s left", e->at_most ? "at most" : "about",
		         rest < MINUTES ? ceil(rest)
		         : rest < HOURS ? rest / 60
		                        : rest / 3600,
		         rest < MINUTES ? "s"
		         : rest < HOURS ? "min"
		                        : "h");
	snprintf(text, room, "%s%s%s  %.1f s%s%s", e->counted, done, objective, elapsed, most, left);
}
