/* The progress of a job and its remaining time. SPDX-License-Identifier: BSD-3-Clause
 *
 * If a share f of a stage took t seconds, the rest takes
 *
 *   (E1)  r = t (1 - f) / f
 *
 * seconds. Steps take unequal time, so that r is averaged with the last figure, less the seconds since then. */
#include "core/progress.h"
#include "core/internal.h"

static void count_stage(kdri_progress *p, const char *stage, double since)
{
	kdri_snprintf(p->counted, sizeof p->counted, "%s", stage);
	p->since = since;
	p->fraction = p->remaining = NAN;
	p->at_most = false;
}

static void estimate_remaining(kdri_progress *p, double now)
{
	static const double patience = 2, memory = 3; /* seconds */
	const double elapsed = now - p->since, step = now - p->last;
	if (!(p->fraction > 0) || elapsed < patience)
		return;
	const double rest = elapsed * (1 - p->fraction) / p->fraction; /* (E1) */
	const double before = isnan(p->remaining) ? rest : KDRI_MAX(p->remaining - step, 0);
	p->remaining = before + (rest - before) * step / (step + memory);
}

void kdri_progress_update(kdri_progress *p, kdr_event *e, double now)
{
	const bool start = e->kind == KDR_EVENT_START, iteration = e->kind == KDR_EVENT_ITERATION;
	if (start && !p->contains) {
		kdri_snprintf(p->open, sizeof p->open, "%s", e->stage);
		count_stage(p, e->stage, now);
		p->contains = e->total > 0;
		p->fraction = p->contains ? 0 : NAN;
	}
	const bool own = strncmp(e->stage, p->open, sizeof p->open - 1) == 0;
	if (iteration && (own || !p->contains)) {
		double fraction = e->total > 0 ? (double)e->iteration / (double)e->total : NAN;
		if (own && p->parts > 0)
			fraction = ((double)p->part + fraction) / (double)p->parts;
		/* A fraction below the last one: the stage runs again. */
		if (strncmp(e->stage, p->counted, sizeof p->counted - 1) != 0 || fraction < p->fraction)
			count_stage(p, e->stage, p->last);
		p->contains |= own && e->total > 0;
		p->at_most |= isfinite(e->objective);
		p->fraction = fraction > 1 ? 1 : fraction;
	}
	if (start || iteration)
		estimate_remaining(p, now);
	p->last = now;
	e->counted = start || iteration ? p->counted : "";
	e->fraction = start || iteration ? p->fraction : NAN;
	e->remaining = start || iteration ? p->remaining : NAN;
	e->at_most = p->at_most;
	if (e->kind == KDR_EVENT_END && own)
		*p = (kdri_progress){ .last = now, .fraction = NAN, .remaining = NAN };
}
