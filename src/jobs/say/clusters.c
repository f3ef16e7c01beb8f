/* One list of clusters for all data sets: their numbers and titles. SPDX-License-Identifier: BSD-3-Clause
 *
 * Numbers. Clusters of several data sets are one cluster if the method has one list for all of them, or if they are each other's
 * counterparts (api/number.c gives these the same label). The first data set with label z has number z in it; a cluster of label z that is
 * no counterpart of these gets a number of its own, the next after the largest label. Data sets of a range of k have the same numbers for the
 * same labels at every level, as labels follow clusters from level to level.
 *
 * Titles. A phrase is a word that a cluster has more of, "column: value" of a category, or "column high". Its score in a cluster is the mean
 * over the cluster's data sets, weighted by samples, of the rank of the feature (jobs/say/words.c). Each phrase belongs to the cluster where its
 * score is highest, so that no two titles share one. A title has the three best phrases of its cluster, and up to two more whose score is at
 * least half of the best. If others have all phrases of a cluster, as among data sets that were clustered separately, its title has its three
 * best phrases nevertheless, and the name of its data set if another title is the same.
 *
 * Time: O(features of profiles), and O(T k) for the numbers. */
#include "api/number.h"
#include "core/names.h"
#include "jobs/job.h"
#include "jobs/say/say.h"

#include <stdlib.h>

/* --- numbers ------------------------------------------------------------------------------------------- */

/* Labels of all data sets, one data set after the other. */
typedef struct forest {
	int64_t *begin;  /* ntasks + 1 */
	int64_t *parent; /* a root is its own */
} forest;

static int64_t root_of(const forest *f, int64_t at)
{
	while (f->parent[at] != at)
		at = f->parent[at];
	return at;
}

static void join(const forest *f, int64_t a, int64_t b)
{
	const int64_t first = root_of(f, a), second = root_of(f, b);
	f->parent[KDRI_MAX(first, second)] = KDRI_MIN(first, second);
}

/* Clusters z of both data sets, if each is the other's best match and nothing matches as well. */
static void join_counterparts(const forest *f, const kdr_correspondence *c)
{
	for (int64_t z = 0; z < KDRI_MIN(c->rows, c->cols); z++)
		if (kdri_only_largest(c->matrix + z * c->cols, c->cols, 1) == z &&
		    kdri_only_largest(c->matrix + z, c->rows, c->cols) == z)
			join(f, f->begin[c->from] + z, f->begin[c->to] + z);
}

static kdr_status forest_new(kdr_context *ctx, const kdr_result *r, forest *f)
{
	KDRI_DO(KDRI_NEW0(ctx, &f->begin, r->ntasks + 1));
	for (int64_t t = 0; t < r->ntasks; t++)
		f->begin[t + 1] = f->begin[t] + r->tasks[t].k;
	KDRI_DO(KDRI_NEW(ctx, &f->parent, f->begin[r->ntasks]));
	for (int64_t i = 0; i < f->begin[r->ntasks]; i++)
		f->parent[i] = i;
	const bool one = r->shared_clusters || r->classes;
	for (int64_t t = 1; t < r->ntasks && one; t++)
		for (int64_t z = 0; z < r->tasks[t].k; z++)
			for (int64_t s = 0; s < t; s++)
				if (z < r->tasks[s].k) {
					join(f, f->begin[s] + z, f->begin[t] + z);
					break;
				}
	for (int64_t i = 0; i < r->match_count && !one; i++)
		join_counterparts(f, &r->matches[i]);
	return KDR_OK;
}

/* Numbers of label z of task t, where it is not z itself: 0 until it gets one. */
typedef struct further {
	int64_t *number; /* ntasks x k */
	int64_t k, next;
} further;

static kdr_status number_level(kdr_context *ctx, kdr_result *r, further *more)
{
	kdr_status st;
	forest f = { 0 };
	KDRI_TRY(forest_new(ctx, r, &f));
	for (int64_t t = 0; t < r->ntasks; t++) {
		kdri_task_result *task = &r->tasks[t];
		if (task->number)
			continue; /* those of a model */
		KDRI_TRY(KDRI_NEW(ctx, &task->number, task->k));
		for (int64_t z = 0; z < task->k; z++) {
			const int64_t root = root_of(&f, f.begin[t] + z);
			int64_t home = 0, before = -1;
			while (root >= f.begin[home + 1])
				home++;
			for (int64_t s = 0; s < t && before < 0; s++) /* the first that has this label */
				if (z < r->tasks[s].k && r->tasks[s].sizes && r->tasks[s].sizes[z] > 0)
					before = s;
			if (home < t) {
				task->number[z] = r->tasks[home].number[z];
				continue;
			}
			const bool own = before >= 0 && task->sizes && task->sizes[z] > 0;
			int64_t *to = &more->number[t * more->k + z];
			if (own && *to == 0)
				*to = more->next++;
			task->number[z] = own ? *to : z;
		}
	}
done:
	KDRI_FREE(ctx, f.begin, f.parent);
	return st;
}

kdr_status kdri_job_number(kdr_context *ctx, kdr_result *r)
{
	kdr_status st = KDR_OK;
	further more = { 0 };
	const int64_t levels = KDRI_MAX(r->level_count, 1);
	for (int64_t i = 0; i < levels; i++) {
		const kdr_result *level = r->level_count ? r->levels[i] : r;
		for (int64_t t = 0; t < level->ntasks; t++)
			more.k = KDRI_MAX(more.k,
			                  KDRI_MAX(level->tasks[t].k, kdri_cluster_span(&level->tasks[t])));
	}
	more.next = more.k;
	KDRI_TRY(KDRI_NEW0(ctx, &more.number, r->ntasks * more.k));
	for (int64_t i = 0; i < levels; i++)
		KDRI_TRY(number_level(ctx, r->level_count ? r->levels[i] : r, &more));
	if (r->titles && more.next > r->numbers) { /* those of a model */
		KDRI_TRY(kdri_realloc(ctx, &r->titles, more.next, sizeof *r->titles));
		for (int64_t n = r->numbers; n < more.next; n++)
			r->titles[n] = NULL;
	}
	r->numbers = r->titles ? KDRI_MAX(more.next, r->numbers) : more.next;
done:
	kdri_free(ctx, more.number);
	return st;
}

/* Labels and second choices become numbers. */
static void apply_level(kdr_result *r)
{
	for (int64_t t = 0; t < r->ntasks; t++) {
		kdri_task_result *task = &r->tasks[t];
		int64_t *const lists[] = { task->labels, task->second };
		for (int l = 0; l < 2; l++)
			for (int64_t i = 0; lists[l] && i < task->n; i++)
				if (lists[l][i] < task->k)
					lists[l][i] = kdri_cluster_number(task, lists[l][i]);
	}
}

void kdri_job_use_numbers(kdr_result *r)
{
	for (int64_t i = 0; i < r->level_count; i++)
		apply_level(r->levels[i]);
	if (r->level_count == 0)
		apply_level(r);
}

static bool has_samples(const kdri_task_result *task, int64_t number)
{
	const int64_t c = kdri_cluster_at(task, number);
	return task->labels && c >= 0 && (!task->sizes || task->sizes[c] > 0);
}

double kdr_result_match(const kdr_result *r, int64_t number)
{
	double lowest = NAN;
	int64_t from = -1;
	for (int64_t t = 0; r && !r->classes && t < r->ntasks; t++) {
		if (!has_samples(&r->tasks[t], number))
			continue;
		if (from < 0) {
			from = t;
			continue;
		}
		lowest = isnan(lowest) ? 1 : lowest;
		for (int64_t i = 0; i < r->match_count; i++) {
			const kdr_correspondence *m = &r->matches[i];
			const int64_t c = kdri_cluster_at(&r->tasks[from], number);
			if (m->from == from && m->to == t && m->quality && c < m->rows)
				lowest = KDRI_MIN(lowest, m->quality[c]);
		}
	}
	return lowest;
}

/* --- titles -------------------------------------------------------------------------------------------- */

enum { FEW = 3, MOST = 5, TITLE = 160, PHRASE = 80 };

/* A phrase that a cluster could have in its title. */
typedef struct candidate {
	int64_t number, phrase;
	double score;
	bool own; /* its score is higher in no other cluster */
} candidate;

static int by_cluster(const void *a, const void *b)
{
	const candidate *x = a, *y = b;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return (x->phrase > y->phrase) - (x->phrase < y->phrase);
}

static int by_score(const void *a, const void *b)
{
	const candidate *x = a, *y = b;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	if (x->own != y->own)
		return x->own ? -1 : 1;
	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	return (x->phrase > y->phrase) - (x->phrase < y->phrase);
}

/* What a feature says about a cluster; "": nothing that could be in a title. */
static void phrase_of(const kdri_task_result *t, const kdri_feature_effect *f, char out[PHRASE])
{
	char *const *features = kdri_shown_features(t);
	size_t length;
	const char *level = kdri_table_column(t, f->column, &length);
	const bool more = f->effect > 0;
	out[0] = '\0';
	if (!features || (level && !more))
		return;
	const char *name = features[f->column];
	if (level)
		kdri_snprintf(out, PHRASE, "%.*s: %.36s", (int)KDRI_MIN(length, 36), name, level);
	else if (f->known && f->unit == KDRI_UNIT_SHARE)
		kdri_snprintf(out, PHRASE, "%.60s: %s", name, more ? "yes" : "no");
	else if (f->known && f->unit == KDRI_UNIT_DATE)
		kdri_snprintf(out, PHRASE, "%.60s %s", name, more ? "late" : "early");
	else if (!isnan(f->share_inside)) /* counts */
		kdri_snprintf(out, PHRASE, "%.60s", more ? name : "");
	else
		kdri_snprintf(out, PHRASE, "%.60s %s", name, more ? "high" : "low");
	kdri_one_line(out);
}

/* All candidates of all clusters, one for each cluster and phrase. */
static kdr_status find_candidates(kdr_context *ctx, const kdr_result *r, kdri_names *phrases, candidate **out,
                                  int64_t *count)
{
	kdr_status st;
	candidate *list = NULL;
	double *size = NULL;
	int64_t room = 0, n = 0, merged = 0;
	KDRI_TRY(KDRI_NEW0(ctx, &size, r->numbers));
	for (int64_t t = 0; t < r->ntasks; t++)
		for (int64_t c = 0; r->tasks[t].profiles && c < r->tasks[t].k; c++) {
			room += r->tasks[t].profiles[c].nfeatures;
			size[r->tasks[t].number[c]] += (double)r->tasks[t].profiles[c].size;
		}
	KDRI_TRY(KDRI_NEW(ctx, &list, room));
	for (int64_t t = 0; t < r->ntasks; t++) {
		const kdri_task_result *task = &r->tasks[t];
		for (int64_t c = 0; task->profiles && c < task->k; c++) {
			const kdri_cluster_profile *p = &task->profiles[c];
			for (int64_t i = 0; i < p->nfeatures; i++) {
				char text[PHRASE];
				phrase_of(task, &p->features[i], text);
				if (!text[0])
					continue;
				list[n].number = task->number[c];
				list[n].score = p->features[i].rank * (double)p->size / size[list[n].number];
				KDRI_TRY(kdri_names_add(ctx, phrases, text, strlen(text), &list[n].phrase));
				n++;
			}
		}
	}
	qsort(list, (size_t)n, sizeof *list, by_cluster);
	for (int64_t i = 0; i < n; i++) {
		candidate *last = merged > 0 ? &list[merged - 1] : NULL;
		if (last && last->number == list[i].number && last->phrase == list[i].phrase)
			last->score += list[i].score;
		else
			list[merged++] = list[i];
	}
	*out = list;
	*count = merged;
	list = NULL;
done:
	KDRI_FREE(ctx, list, size);
	return st;
}

/* Finds the cluster where a phrase has its highest score. */
static kdr_status find_owners(kdr_context *ctx, candidate *list, int64_t count, int64_t nphrases)
{
	int64_t *owner = NULL;
	KDRI_DO(KDRI_NEW(ctx, &owner, nphrases));
	for (int64_t i = 0; i < nphrases; i++)
		owner[i] = -1;
	for (int64_t i = 0; i < count; i++) {
		int64_t *best = &owner[list[i].phrase];
		if (*best < 0 || list[i].score > list[*best].score)
			*best = i;
	}
	for (int64_t i = 0; i < count; i++)
		list[i].own = owner[list[i].phrase] == i;
	kdri_free(ctx, owner);
	return KDR_OK;
}

kdr_status kdri_job_take_titles(kdr_context *ctx, const kdr_result *from, kdr_result *to)
{
	if (!from->titles || to->titles)
		return KDR_OK;
	KDRI_DO(KDRI_NEW0(ctx, &to->titles, from->numbers));
	to->numbers = from->numbers;
	for (int64_t n = 0; n < from->numbers; n++)
		if (from->titles[n] && from->titles[n][0])
			KDRI_DO(kdri_strdup(ctx, from->titles[n], &to->titles[n]));
	return KDR_OK;
}

const char *kdri_cluster_name(const kdr_result *r, const kdri_task_result *task, int64_t number)
{
	const int64_t c = kdri_cluster_at(task, number);
	if (c >= 0 && task->names && task->names[c])
		return task->names[c];
	return r->titles && number >= 0 && number < r->numbers ? r->titles[number] : NULL;
}

/* The title of the cluster whose candidates begin at i; returns where those of the next begin. */
static int64_t write_title(const candidate *list, int64_t i, int64_t count, const kdri_names *phrases,
                           char text[TITLE])
{
	size_t used = 0;
	int64_t end;
	text[0] = '\0';
	for (end = i; end < count && list[end].number == list[i].number; end++) {
		const char *phrase = phrases->names[list[end].phrase];
		const bool more = list[i].own && end - i < MOST && 2 * list[end].score >= list[i].score;
		const bool wanted = list[end].own == list[i].own && (end - i < FEW || more);
		if (wanted && used + strlen(phrase) + 2 < (used > 0 ? TITLE / 2 : TITLE))
			used += (size_t)kdri_snprintf(text + used, TITLE - used, "%s%s", used > 0 ? ", " : "",
			                              phrase);
	}
	return end;
}

static bool has_title(const kdr_result *r, const char *title)
{
	for (int64_t n = 0; n < r->numbers; n++)
		if (r->titles[n] && strcmp(r->titles[n], title) == 0)
			return true;
	return false;
}

/* The first data set that has a cluster. */
static const kdri_task_result *first_with(const kdr_result *r, int64_t number)
{
	const kdri_task_result *task = r->tasks;
	while (task < r->tasks + r->ntasks - 1 && kdri_cluster_at(task, number) < 0)
		task++;
	return task;
}

kdr_status kdri_job_titles(kdr_context *ctx, kdr_result *r)
{
	kdr_status st;
	kdri_names phrases = { 0 };
	candidate *list = NULL;
	int64_t count = 0;
	if (r->classes || strcmp(r->command, "predict") == 0)
		return KDR_OK;
	if (!r->titles)
		KDRI_TRY(KDRI_NEW0(ctx, &r->titles, r->numbers));
	KDRI_TRY(find_candidates(ctx, r, &phrases, &list, &count));
	KDRI_TRY(find_owners(ctx, list, count, phrases.count));
	qsort(list, (size_t)count, sizeof *list, by_score);
	for (int own = 1; own >= 0 && phrases.names; own--)
		for (int64_t i = 0, end; i < count; i = end) {
			char text[TITLE];
			end = write_title(list, i, count, &phrases, text);
			if (list[i].own != own || r->titles[list[i].number]) /* those of a model stay */
				continue;
			const size_t used = strlen(text);
			if (!own && has_title(r, text))
				kdri_snprintf(text + used, sizeof text - used, " (%s)",
				              first_with(r, list[i].number)->name);
			KDRI_TRY(kdri_strdup(ctx, text, &r->titles[list[i].number]));
		}
	for (int64_t n = 0; n < r->numbers; n++)
		if (r->titles[n])
			goto done;
	kdri_free(ctx, r->titles); /* no cluster has one */
	r->titles = NULL;
done:
	kdri_names_free(ctx, &phrases);
	kdri_free(ctx, list);
	return st;
}
