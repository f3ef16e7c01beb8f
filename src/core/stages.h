/* A record of the stages of a job. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_STAGES_H
#define KDRI_STAGES_H

/* If not NULL, it is called when a stage begins or ends, in the thread that runs it: the name of the thread, "begin" or "end", the name of
 * the stage. A worker of side_by_side.c is named after the thread that starts it: 0.2 is worker 2 of the first thread. Before that, the
 * thread itself reports "start" and the number of the worker: the stages of the worker are inside of its open ones. Set it before the
 * first job; it must be safe to call in several threads. */
extern void (*kdri_stage_hook)(const char *thread, const char *what, const char *stage);

#endif
