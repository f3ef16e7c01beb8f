/* The progress of a job and its remaining time. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_PROGRESS_H
#define KDRI_PROGRESS_H

#include "kindred/context.h"

/* The stage whose fraction is reported. A stage that starts with a total, or whose iterations have one, contains all other stages
 * until it ends: their iterations do not change the fraction. Without such a stage, every stage is counted separately. */
typedef struct kdri_progress {
	char open[32], counted[32]; /* the stage started last; the stage that is counted */
	bool contains;              /* the open stage is counted until it ends */
	bool at_most;               /* it may converge before its last iteration */
	double since, last;         /* seconds: when it began, and of the last event */
	double fraction, remaining; /* NaN: not known */
	int64_t part, parts;        /* the open stage runs once for each data set; 0 parts: once */
} kdri_progress;

/* Takes an event at that time into account and sets its fields counted, fraction, remaining and at_most. */
void kdri_progress_update(kdri_progress *progress, kdr_event *event, double now);

#endif
