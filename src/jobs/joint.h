/* The fit of a job in two halves. SPDX-License-Identifier: BSD-3-Clause
 *
 * For method auto the job itself begins a poll of all data sets and, when the numbers of clusters are known, has it answered. Between the
 * halves it may look at each data set alone (together/alone.c), which adds to the evidence. Other methods run in the second half. */
#ifndef KDRI_JOINT_H
#define KDRI_JOINT_H

#include "api/fitting.h"
#include "engine/ensemble/poll.h"
#include "jobs/job.h"

typedef struct kdri_joint {
	kdri_job *job;
	kdr_data *const *data;
	kdr_problem problem;
	kdri_inspected seen;
	kdr_result *learnt; /* features, if the job learns them first */
	kdri_fitting fitting;
	kdri_poll poll;
	bool polls; /* the method is auto */
	int64_t *k; /* of each data set; 0: not known yet, with other methods than auto */
	double start;
} kdri_joint;

/* What is passed stays where it is until the end. `about`: the problem without the tasks. evidence NULL: no job looks at each data set
 * alone. */
kdr_status kdri_joint_begin(kdr_context *ctx, kdri_job *job, kdr_task *tasks, kdr_data *const *data,
                            const kdr_problem *about, const kdri_evidence *evidence, kdri_joint *out);
/* The result, which also learns about the data, and the end. heard, unless NULL: what the poll of all data sets can use of this one data
 * set. */
kdr_status kdri_joint_answer(kdr_context *ctx, kdri_joint *j, kdri_alone *heard, kdr_result **out);
/* If it was not answered, because of a failure, which the other ranks learn. Nothing remains to do otherwise. */
kdr_status kdri_joint_end(kdr_context *ctx, kdri_joint *j, kdr_status st);

#endif
