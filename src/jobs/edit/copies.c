/* Edited labels as columns of the files that data sets were read from. SPDX-License-Identifier: BSD-3-Clause */
#include "jobs/edit/relabel.h"

static kdr_status copies_take(const kdri_edited *e, int64_t task, kdri_edited_copies *c)
{
	kdr_context *ctx = e->ctx;
	const kdri_edited_task *t = &e->tasks[task];
	kdri_copied *to = &c->sets[task];
	int64_t *origin = NULL, *second = NULL;
	double *confidence = NULL;
	kdr_status st = kdri_copied_table(ctx, e->result, t->json, t->n, to, &origin);
	to->origin = origin;
	to->n = t->n;
	to->k = e->numbers;
	to->labels = t->labels;
	KDRI_DO(st);
	if (t->second) {
		KDRI_DO(KDRI_NEW(ctx, &second, t->n));
		to->second = second;
	}
	if (t->confidence) {
		KDRI_DO(KDRI_NEW(ctx, &confidence, t->n));
		to->confidence = confidence;
	}
	for (int64_t i = 0; i < t->n; i++) {
		if (second)
			second[i] = kdri_edited_second(e, t, i);
		if (confidence)
			confidence[i] = kdri_json_number(kdri_json_at(t->confidence, i), NAN);
	}
	KDRI_DO(KDRI_NEW(ctx, &to->label, to->k));
	KDRI_DO(KDRI_NEW(ctx, &to->name, to->k));
	for (int64_t n = 0; n < to->k; n++) {
		to->label[n] = e->classes ? kdri_edited_name(e, task, n) : c->number[n];
		to->name[n] = kdri_edited_called(e, task, n);
	}
	return KDR_OK;
}

kdr_status kdri_edited_copies_new(const kdri_edited *e, kdri_edited_copies *out)
{
	KDRI_DO(KDRI_NEW0(e->ctx, &out->sets, e->ntasks));
	KDRI_DO(kdri_copied_numbers(e->ctx, e->numbers, &out->numbers, &out->number));
	for (int64_t t = 0; t < e->ntasks; t++) {
		out->sets[t].task = e->tasks[t].name;
		if (e->tasks[t].n > 0)
			KDRI_DO(copies_take(e, t, out));
	}
	return KDR_OK;
}

void kdri_edited_copies_free(const kdri_edited *e, kdri_edited_copies *c)
{
	for (int64_t t = 0; c->sets && t < e->ntasks; t++) {
		kdri_copied *s = &c->sets[t];
		KDRI_FREE(e->ctx, (void *)s->origin, (void *)s->second, (void *)s->confidence, s->label,
		          s->name);
	}
	KDRI_FREE(e->ctx, c->sets, c->numbers, c->number);
}
