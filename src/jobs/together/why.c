/* Why a data set took over the clusters of another, or did not. SPDX-License-Identifier: BSD-3-Clause */
#include "engine/graph/knn.h"
#include "jobs/together/runs.h"

#include <stdio.h>

static void reason_of(const kdri_runs *s, int64_t t, int64_t n, int64_t k, char *out, size_t room)
{
	const kdri_runs_note *note = &s->notes[t];
	const char *near = note->nearest < 0 ? "" : s->names[note->nearest];
	if (s->evidence.count == 0)
		snprintf(out, room, "%s", s->why);
	else if (!s->transfer)
		snprintf(out, room, "transfer was switched off");
	else if (s->tables)
		snprintf(out, room, "clusters of tables are not carried over");
	else if (n > KDRI_SHARING_MOST)
		snprintf(out, room, "it has more than %d samples", KDRI_SHARING_MOST);
	else if (!s->carries)
		snprintf(out, room,
		         "clusters are not carried over with initial labels, known classes or a range of k");
	else if (n < KDRI_CARRY_LEAST)
		snprintf(out, room, "it has fewer than %d samples", KDRI_CARRY_LEAST);
	else if (n > KDRI_SHARING_PER_CLUSTER * k)
		snprintf(out, room, "it has more than %d samples per cluster", KDRI_SHARING_PER_CLUSTER);
	else if (note->nearest < 0)
		snprintf(out, room, "no other data set has %d times as many samples", KDRI_CARRY_TIMES);
	else if (note->apart >= KDRI_APART_RELATED)
		kdri_snprintf(out, room, "too different from %s (%.2f; carried over below %.2f)", near,
		              note->apart, KDRI_APART_RELATED);
	else if (note->excess >= KDRI_CARRY_EXCESS)
		kdri_snprintf(
		        out, room,
		        "the cluster proportions would differ from those of %s (by %.2f more than expected by chance; carried over below %.2f)",
		        near, note->excess, KDRI_CARRY_EXCESS);
	else
		kdri_snprintf(
		        out, room,
		        "it has %.3g samples per cluster, and they lie as near to those of %s as these to each other (%.2f; 0.5 = alike, 1 = apart)",
		        (double)n / (double)k, near, note->apart);
}

kdr_status kdri_runs_note_task(kdr_context *ctx, const kdri_runs *s, int64_t t, kdr_result *result)
{
	kdri_task_result *r = &result->tasks[t];
	const bool runs = s->evidence.count > 0;
	const kdri_carried *carried =
	        runs && s->evidence.carried[t].from >= 0 ? &s->evidence.carried[t] : NULL;
	const kdri_field *moved = kdri_result_field(result, t, "moved");
	char text[512];
	kdri_task_sharing *to = &r->sharing;
	reason_of(s, t, r->all, carried ? s->evidence.alone[t].k : r->k, text, sizeof text);
	KDRI_DO(kdri_strdup(ctx, text, &to->reason));
	if (carried)
		KDRI_DO(kdri_strdup(ctx, s->names[carried->from], &to->from));
	to->apart = s->notes ? s->notes[t].apart : NAN;
	to->moved = moved ? (int64_t)moved->number : runs && s->evidence.final[t] ? 0 : -1;
	return KDR_OK;
}
