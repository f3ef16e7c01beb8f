/* The lists of result.json that have an entry for each sample. SPDX-License-Identifier: BSD-3-Clause
 *
 * These are nearly all of its bytes. Several threads make their text (row_text.h). */
#include "core/json_write.h"
#include "jobs/job.h"
#include "jobs/say/say.h"
#include "jobs/write/json.h"
#include "jobs/write/pages.h"
#include "jobs/write/row_text.h"

/* The first failure that is not of memory. */
static void json_note(kdri_json *j, kdr_status st)
{
	kdri_pages *p = j->user;
	if (st == KDR_OK)
		return;
	p->failed = p->failed == KDR_OK ? st : p->failed;
	j->failed = true;
}

/* Lists with an entry for each sample: local entries are written between these two calls. Other ranks have more
 * (pages.h). */
static void begin_samples(kdri_json *j, const kdri_task_result *t, const char *key)
{
	kdri_pages *p = j->user;
	kdri_json_array(j, key);
	kdri_json_flush(j);
	json_note(j, kdri_pages_turn(p));
	if (p->turn)
		j->comma = t->first > 0;
}

static void end_samples(kdri_json *j, const kdri_task_result *t)
{
	kdri_pages *p = j->user;
	kdri_json_flush(j);
	if (p->turn) {
		json_note(j, kdri_pages_end_turn(p, KDR_OK));
		j->comma = t->all > 0;
	}
	kdri_json_end_array(j);
}

/* A list with an entry for each sample. */
typedef enum entry { LABEL, SECOND, INTEGER, REAL, TEXT, REALS } entry;
typedef struct sample_list {
	kdri_json *j;
	const kdr_result *r;
	const void *values; /* n, of REALS n x width */
	entry kind;
	int64_t width;
	bool comma; /* before the first entry here */
} sample_list;

static void put_label(kdri_json *j, const kdr_result *r, int64_t label)
{
	if (r->classes && label >= 0 && label < r->nclasses)
		kdri_json_string(j, NULL, r->classes[label]);
	else if (r->classes) /* the method left it out: it was not sure */
		kdri_json_string(j, NULL, "?");
	else
		kdri_json_int(j, NULL, label);
}

static void put_entry(kdri_json *j, const sample_list *l, int64_t i)
{
	const int64_t *integers = l->values;
	const double *reals = l->values;
	if (l->kind == SECOND && integers[i] < 0)
		kdri_json_null(j, NULL);
	else if (l->kind == LABEL || l->kind == SECOND)
		put_label(j, l->r, integers[i]);
	else if (l->kind == INTEGER)
		kdri_json_int(j, NULL, integers[i]);
	else if (l->kind == REAL)
		kdri_json_real(j, NULL, reals[i]);
	else if (l->kind == TEXT)
		kdri_json_string(j, NULL, ((char *const *)l->values)[i]);
	else
		kdri_json_reals(j, NULL, reals + i * l->width, l->width);
}

static kdr_status write_entries(void *user, int64_t first, int64_t end)
{
	const sample_list *l = user;
	for (int64_t i = first; i < end; i++)
		put_entry(l->j, l, i);
	return KDR_OK;
}

/* The text of a block stays where it is. */
static void *no_more_room(void *user, void *text, size_t size)
{
	(void)user, (void)text, (void)size;
	return NULL;
}

static bool make_entries(void *user, int thread, int64_t first, int64_t end, char *text, size_t room,
                         size_t *used)
{
	static const kdr_allocator none = { .realloc = no_more_room };
	const sample_list *l = user;
	kdri_json own = { .allocator = &none, .depth = l->j->depth, .comma = first > 0 || l->comma };
	(void)thread;
	own.text = text;
	own.room = room;
	for (int64_t i = first; i < end && !own.failed; i++)
		put_entry(&own, l, i);
	*used = own.used;
	return !own.failed;
}

static kdr_status take_entries(void *user, const char *text, size_t length)
{
	const sample_list *l = user;
	kdri_json_entries(l->j, text, length);
	return KDR_OK;
}

/* Writes a list unless it is NULL. */
static void put_list(kdri_json *j, const kdr_result *r, int64_t task, const char *key, entry kind,
                     const void *values)
{
	const kdri_task_result *t = &r->tasks[task];
	const kdri_pages *p = j->user;
	if (!values)
		return;
	begin_samples(j, t, key);
	sample_list l = { j, r, values, kind, t->k, j->comma };
	const kdri_row_text text = { &l, make_entries, take_entries, write_entries };
	json_note(j, j->tree ? write_entries(&l, 0, t->n) : kdri_row_text_write(p->ctx, &text, t->n));
	end_samples(j, t);
}

void kdri_json_labels(kdri_json *j, const kdr_result *r, int64_t task)
{
	const kdri_task_result *t = &r->tasks[task];
	const kdri_pages *p = j->user;
	kdri_json_array(j, "sizes"); /* of the clusters 0, 1, ... */
	for (int64_t n = 0, span = t->sizes ? kdri_cluster_span(t) : 0; n < span; n++) {
		const int64_t c = kdri_cluster_at(t, n);
		kdri_json_int(j, NULL, c >= 0 ? t->sizes[c] : 0);
	}
	kdri_json_end_array(j);
	if (p->brief)
		return;
	if (!t->labels)
		kdri_json_strings(j, "labels", NULL, 0);
	put_list(j, r, task, "labels", LABEL, t->labels);
}

void kdri_json_ids(kdri_json *j, const kdr_result *r, int64_t task)
{
	put_list(j, r, task, "ids", TEXT, r->tasks[task].ids);
	put_list(j, r, task, "probabilities", REALS, r->tasks[task].probabilities);
}

void kdri_json_choices(kdri_json *j, const kdr_result *r, int64_t task)
{
	const char *from;
	const double *sure = kdr_result_confidence(r, task, &from);
	put_list(j, r, task, "confidence", REAL, sure);
	if (sure)
		kdri_json_string(j, "confidence_from", from);
	put_list(j, r, task, "agreement", REAL, kdri_sample_array(r, "agreement", task, KDR_FLOAT64));
	put_list(j, r, task, "unlike_source", REAL, kdri_sample_array(r, "unlike_source", task, KDR_FLOAT64));
	put_list(j, r, task, "target_cluster", INTEGER,
	         kdri_sample_array(r, "target_clusters", task, KDR_INT64));
	put_list(j, r, task, "second", SECOND, r->tasks[task].second);
}
