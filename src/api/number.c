/* Numbering of clusters. SPDX-License-Identifier: BSD-3-Clause
 *
 * The numbers a method gives its clusters come from random starts and from the signs of eigenvectors, which the last
 * bits of a sum can change. So that the same partition has the same labels on every machine, kdr_fit renumbers clusters
 * after the method has finished:
 *
 *   (E1)  one list of clusters for all tasks (pooled, or KDR_ALGO_SHARED_CLUSTERS): by first appearance in the
 *         tasks' rows, one task after the other
 *   (E2)  else cluster z of task t takes the number of its counterpart in the first task, else in the second,
 *         ..., as far as task t has that number; a and z are counterparts where the correspondence of their
 *         tasks has its largest entry of row a and of column z there, and nowhere else
 *   (E3)  clusters without one: the numbers left over, by first appearance in the task's rows; empty ones last
 *
 * Tasks with initial labels keep the numbers given. A cluster whose class is known (kdr_task.labels) keeps its number, that of the
 * class, and gets the class's name; its counterparts in other tasks get both before anything else. What belongs to clusters is known from the method's field table: an
 * axis called "k" in an array's shape, entries called "k" in what it holds. */
#include "api/number.h"
#include "api/result.h"
#include "comm/comm.h"

typedef struct numbering {
	int64_t ntasks;
	int64_t *begin; /* ntasks + 1: where a task's clusters begin below */
	int64_t *now;   /* the new number of each cluster; -1: none yet */
	bool *taken;    /* whether a cluster has the number */
} numbering;

/* The part of one task. */
typedef struct naming {
	int64_t k, *now;
	bool *taken;
} naming;

static naming naming_of(const numbering *n, int64_t task)
{
	int64_t at = n->begin[task];
	return (naming){ n->begin[task + 1] - at, n->now + at, n->taken + at };
}

static void numbering_free(kdr_context *ctx, numbering *n)
{
	KDRI_FREE(ctx, n->begin, n->now, n->taken);
}

static kdr_status numbering_new(kdr_context *ctx, const kdr_result *result, numbering *out)
{
	kdr_status st;
	numbering n = { .ntasks = kdr_result_ntasks(result) };
	KDRI_TRY(KDRI_NEW(ctx, &n.begin, n.ntasks + 1));
	n.begin[0] = 0;
	for (int64_t t = 0; t < n.ntasks; t++)
		n.begin[t + 1] = n.begin[t] + kdr_result_k(result, t);
	KDRI_TRY(KDRI_NEW(ctx, &n.now, n.begin[n.ntasks]));
	KDRI_TRY(KDRI_NEW0(ctx, &n.taken, n.begin[n.ntasks]));
	for (int64_t i = 0; i < n.begin[n.ntasks]; i++)
		n.now[i] = -1;
	*out = n;
	n = (numbering){ 0 };
done:
	numbering_free(ctx, &n);
	return st;
}

/* --- choosing the numbers ---------------------------------------------------------------------------- */

static void give(naming *c, int64_t cluster, int64_t number)
{
	c->now[cluster] = number;
	c->taken[number] = true;
}

static void number_keep(naming *c)
{
	for (int64_t z = 0; z < c->k; z++)
		give(c, z, z);
}

/* The least number no cluster has, from `from` on. */
static int64_t next_free(const naming *c, int64_t from)
{
	while (c->taken[from])
		from++;
	return from;
}

/* The number of the first row, of all ranks, that each of k clusters has; INT64_MAX: it has none. */
static kdr_status first_rows(kdr_context *ctx, const int64_t *labels, int64_t rows, int64_t k, int64_t *first)
{
	int64_t start, all;
	KDRI_DO(kdri_part(ctx, labels ? rows : 0, &start, &all));
	for (int64_t z = 0; z < k; z++)
		first[z] = INT64_MAX;
	for (int64_t i = 0; labels && i < rows; i++)
		if (first[labels[i]] == INT64_MAX)
			first[labels[i]] = start + i;
	return kdri_min_int(ctx, first, k);
}

/* Numbers for the clusters that have none, in the order in which the rows show them. */
static kdr_status by_appearance(kdr_context *ctx, const int64_t *labels, int64_t rows, naming *c)
{
	kdr_status st;
	int64_t *first = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &first, c->k));
	KDRI_TRY(first_rows(ctx, labels, rows, c->k, first));
	for (int64_t next = 0;;) {
		int64_t best = -1;
		for (int64_t z = 0; z < c->k; z++)
			if (c->now[z] < 0 && first[z] < INT64_MAX && (best < 0 || first[z] < first[best]))
				best = z;
		if (best < 0)
			break;
		next = next_free(c, next);
		give(c, best, next);
	}
done:
	kdri_free(ctx, first);
	return st;
}

static void empty_last(naming *c)
{
	for (int64_t z = 0, next = 0; z < c->k; z++)
		if (c->now[z] < 0) {
			next = next_free(c, next);
			give(c, z, next);
		}
}

/* How clusters of task `from` match those of task `to`: an entry at [a * down + z * across]. */
typedef struct match {
	const double *at;
	int64_t rows, cols, down, across;
} match;

/* The correspondences of each task with earlier ones. */
typedef struct matches {
	int64_t *begin; /* ntasks + 1: where a task's begin in `order` */
	int64_t *order; /* indices of correspondences */
	int64_t *with;  /* by earlier task, 1 + index of the correspondence of the current task; 0: none */
} matches;

static void matches_free(kdr_context *ctx, matches *m)
{
	KDRI_FREE(ctx, m->begin, m->order, m->with);
}

static kdr_status matches_new(kdr_context *ctx, const kdr_result *result, matches *m)
{
	int64_t T = kdr_result_ntasks(result), count = kdr_result_correspondence_count(result);
	KDRI_DO(KDRI_NEW0(ctx, &m->begin, T + 2));
	KDRI_DO(KDRI_NEW(ctx, &m->order, count));
	KDRI_DO(KDRI_NEW0(ctx, &m->with, T));
	for (int64_t i = 0; i < count; i++) {
		kdr_correspondence c = kdr_result_correspondence_at(result, i);
		m->begin[KDRI_MAX(c.from, c.to) + 2]++;
	}
	for (int64_t t = 0; t < T; t++)
		m->begin[t + 2] += m->begin[t + 1];
	for (int64_t i = 0; i < count; i++) {
		kdr_correspondence c = kdr_result_correspondence_at(result, i);
		m->order[m->begin[KDRI_MAX(c.from, c.to) + 1]++] = i;
	}
	return KDR_OK;
}

/* Fills `with` for a task. If both directions are available, the one from the earlier task is used. */
static void matches_of(const kdr_result *result, int64_t task, const matches *m)
{
	memset(m->with, 0, (size_t)task * sizeof *m->with);
	for (int64_t i = m->begin[task]; i < m->begin[task + 1]; i++) {
		kdr_correspondence c = kdr_result_correspondence_at(result, m->order[i]);
		int64_t *with = &m->with[KDRI_MIN(c.from, c.to)];
		if (*with == 0 || kdr_result_correspondence_at(result, *with - 1).from == task)
			*with = m->order[i] + 1;
	}
}

static match find_match(const kdr_result *result, const matches *m, int64_t from)
{
	kdr_correspondence c = kdr_result_correspondence_at(result, m->with[from] - 1);
	return c.from == from ? (match){ c.matrix, c.rows, c.cols, c.cols, 1 }
	                      : (match){ c.matrix, c.cols, c.rows, 1, c.cols };
}

int64_t kdri_only_largest(const double *at, int64_t count, int64_t step)
{
	int64_t best = -1, times = 0;
	for (int64_t i = 0; i < count; i++) {
		double v = at[i * step], most = best < 0 ? 0 : at[best * step];
		if (v > most) {
			best = i;
			times = 1;
		} else if (v == most) {
			times++;
		}
	}
	return times == 1 ? best : -1;
}

/* (E2) for the clusters of one task and of one before it. */
static void by_match(const match *m, const naming *theirs, naming *c)
{
	for (int64_t z = 0; z < c->k; z++) {
		int64_t a = c->now[z] < 0 ? kdri_only_largest(m->at + z * m->across, m->rows, m->down) : -1;
		if (a < 0 || kdri_only_largest(m->at + a * m->down, m->cols, m->across) != z)
			continue;
		if (theirs->now[a] < c->k && !c->taken[theirs->now[a]])
			give(c, z, theirs->now[a]);
	}
}

/* Names of the clusters of each task; the names belong to the problem. */
static kdr_status name_cluster(kdr_context *ctx, const kdr_problem *problem, kdri_task_result *task,
                               int64_t c)
{
	char number[24];
	if (!task->names)
		KDRI_DO(KDRI_NEW0(ctx, &task->names, task->k));
	kdri_snprintf(number, sizeof number, "%lld", (long long)c);
	if (!task->names[c])
		KDRI_DO(kdri_strdup(ctx, problem->class_names ? problem->class_names[c] : number,
		                    &task->names[c]));
	return KDR_OK;
}

/* Clusters of known classes keep their numbers. If tasks share their clusters, a class of one is a class of all. */
static kdr_status keep_known(kdr_context *ctx, const kdr_problem *problem, kdr_result *result, numbering *n)
{
	for (int64_t t = 0; t < n->ntasks; t++) {
		const int64_t *known = problem->tasks[t].labels;
		for (int64_t i = 0; known && i < kdr_mat_rows(&problem->tasks[t].x); i++)
			for (int64_t s = result->shared_clusters ? 0 : t;
			     known[i] >= 0 && s < (result->shared_clusters ? n->ntasks : t + 1); s++) {
				naming c = naming_of(n, s);
				if (c.taken[known[i]])
					continue;
				give(&c, known[i], known[i]);
				KDRI_DO(name_cluster(ctx, problem, &result->tasks[s], known[i]));
			}
	}
	return KDR_OK;
}

/* Counterparts of these clusters in tasks that do not know their class. */
static kdr_status match_known(kdr_context *ctx, const kdr_problem *problem, kdr_result *result, numbering *n)
{
	for (int64_t i = 0; i < kdr_result_correspondence_count(result); i++) {
		const kdr_correspondence m = kdr_result_correspondence_at(result, i);
		naming from = naming_of(n, m.from), to = naming_of(n, m.to);
		for (int64_t a = 0; a < m.rows; a++) {
			const int64_t z = kdri_only_largest(m.matrix + a * m.cols, m.cols, 1);
			if (from.now[a] != a || !result->tasks[m.from].names ||
			    !result->tasks[m.from].names[a] || z < 0 || a >= to.k || to.now[z] >= 0 ||
			    to.taken[a] || kdri_only_largest(m.matrix + z, m.rows, m.cols) != a)
				continue;
			give(&to, z, a);
			KDRI_DO(name_cluster(ctx, problem, &result->tasks[m.to], a));
		}
	}
	return KDR_OK;
}

static kdr_status choose_shared(kdr_context *ctx, const kdr_problem *problem, const kdr_result *result,
                                numbering *n)
{
	naming first = naming_of(n, 0);
	bool given = false;
	for (int64_t t = 0; t < n->ntasks; t++)
		given |= problem->tasks[t].init != NULL;
	if (given)
		number_keep(&first);
	for (int64_t t = 0; t < n->ntasks; t++) {
		int64_t rows = 0;
		const int64_t *labels = kdr_result_labels(result, t, &rows);
		KDRI_DO(by_appearance(ctx, labels, rows, &first)); /* (E1) */
	}
	empty_last(&first);
	for (int64_t t = 1; t < n->ntasks; t++) {
		naming c = naming_of(n, t);
		for (int64_t z = 0; z < c.k; z++)
			give(&c, z, first.now[z]);
	}
	return KDR_OK;
}

static kdr_status choose_each(kdr_context *ctx, const kdr_problem *problem, const kdr_result *result,
                              numbering *n)
{
	kdr_status st;
	matches all = { 0 };
	KDRI_TRY(matches_new(ctx, result, &all));
	for (int64_t t = 0; t < n->ntasks; t++) {
		naming c = naming_of(n, t);
		int64_t rows = 0;
		const int64_t *labels = kdr_result_labels(result, t, &rows);
		if (!labels || problem->tasks[t].init) {
			number_keep(&c);
			continue;
		}
		matches_of(result, t, &all);
		for (int64_t s = 0; s < t; s++) {
			match m = find_match(result, &all, s);
			naming theirs = naming_of(n, s);
			if (m.at)
				by_match(&m, &theirs, &c);
		}
		KDRI_TRY(by_appearance(ctx, labels, rows, &c)); /* (E3) */
		empty_last(&c);
	}
done:
	matches_free(ctx, &all);
	return st;
}

/* --- carrying them out -------------------------------------------------------------------------------- */

/* Moves block z of `size` numbers to place now[z], for each of `outer` lists of k blocks. Numbers of either type
 * have 8 bytes; spare has room for k * size of them. */
static void number_permute(void *data, int64_t outer, int64_t k, int64_t size, const int64_t *now,
                           void *spare)
{
	const size_t bytes = (size_t)size * sizeof(double);
	unsigned char *from = data, *to = spare;
	for (int64_t o = 0; o < outer; o++, from += (size_t)k * bytes) {
		for (int64_t z = 0; z < k; z++)
			memcpy(to + (size_t)now[z] * bytes, from + (size_t)z * bytes, bytes);
		memcpy(from, to, (size_t)k * bytes);
	}
}

static void rename_labels(int64_t *labels, int64_t count, const int64_t *now)
{
	for (int64_t i = 0; i < count; i++)
		labels[i] = labels[i] < 0 ? -1 : now[labels[i]];
}

/* The next word of a list such as "n x k": its length, with *text set to its end; 0 at the end. */
static size_t next_word(const char **text, const char *between, const char **word)
{
	*word = *text + strspn(*text, between);
	size_t length = strcspn(*word, between);
	*text = *word + length;
	return length;
}

/* The axis of an array with one entry per cluster, or -1. Axes are separated by " x ". */
static int cluster_axis(const char *shape)
{
	for (int axis = 0; shape; axis++) {
		const char *end = strstr(shape, " x ");
		size_t length = end ? (size_t)(end - shape) : strlen(shape);
		if (length == 1 && *shape == 'k')
			return axis;
		shape = end ? end + 3 : NULL;
	}
	return -1;
}

static kdr_status move_axis(kdr_context *ctx, const kdr_array *a, int axis, const naming *c)
{
	kdr_status st;
	int64_t outer = 1, inner = 1, count;
	double *spare = NULL;
	if (axis >= a->ndim || a->shape[axis] != c->k)
		return kdri_fail(ctx, KDR_ERR_INTERNAL, "array '%s' does not have %lld clusters", a->name,
		                 (long long)c->k);
	for (int i = 0; i < axis; i++)
		outer *= a->shape[i];
	for (int i = axis + 1; i < a->ndim; i++)
		inner *= a->shape[i];
	KDRI_TRY(kdri_mul(ctx, c->k, inner, &count));
	KDRI_TRY(KDRI_NEW(ctx, &spare, count));
	number_permute((void *)a->data, outer, c->k, inner, c->now, spare);
done:
	kdri_free(ctx, spare);
	return st;
}

/* Entries that are numbers of clusters themselves: `holds` has a word for each column, "k" for theirs. */
static void rename_entries(const kdr_array *a, const char *holds, const int64_t *now)
{
	int64_t words = 0, count = 1, *entry = (int64_t *)a->data;
	const char *word, *rest = holds;
	while (next_word(&rest, " ", &word))
		words++;
	for (int i = 0; i < a->ndim; i++)
		count *= a->shape[i];
	rest = holds;
	for (int64_t w = 0; w < words; w++)
		if (next_word(&rest, " ", &word) == 1 && *word == 'k')
			for (int64_t i = w; i < count; i += words)
				rename_labels(entry + i, 1, now);
}

static kdr_status renumber_array(kdr_context *ctx, const kdr_result *result, const kdr_array *a,
                                 const numbering *n)
{
	const kdr_field_desc *f = kdr_result_algo(result)->fields;
	while (f->name && strcmp(f->name, a->name) != 0)
		f++;
	/* An array for all tasks belongs to clusters that all of them share. */
	naming c = naming_of(n, KDRI_MAX(a->task, 0));
	int axis = f->name ? cluster_axis(f->shape) : -1;
	if (f->name && f->holds && a->type == KDR_INT64)
		rename_entries(a, f->holds, c.now);
	return axis < 0 ? KDR_OK : move_axis(ctx, a, axis, &c);
}

static kdr_status renumber_match(kdr_context *ctx, const kdr_correspondence *c, const numbering *n)
{
	kdr_status st;
	naming down = naming_of(n, c->from), across = naming_of(n, c->to);
	double *spare = NULL;
	int64_t count;
	if (down.k != c->rows || across.k != c->cols)
		return kdri_fail(ctx, KDR_ERR_INTERNAL, "a correspondence does not have %lld x %lld clusters",
		                 (long long)down.k, (long long)across.k);
	KDRI_TRY(kdri_mul(ctx, c->rows, c->cols, &count));
	KDRI_TRY(KDRI_NEW(ctx, &spare, count));
	number_permute((void *)c->matrix, 1, c->rows, c->cols, down.now, spare);
	number_permute((void *)c->matrix, c->rows, c->cols, 1, across.now, spare);
done:
	kdri_free(ctx, spare);
	return st;
}

kdr_status kdri_array_renumbered(kdr_context *ctx, const kdr_array *a, const int64_t *now, int64_t before,
                                 int64_t k, int64_t task, kdr_result *to)
{
	const kdr_field_desc *f = kdr_result_algo(to)->fields;
	kdr_array copy = *a;
	double *storage = NULL; /* int64_t has the same size */
	int64_t outer = 1, inner = 1;
	while (f->name && strcmp(f->name, a->name) != 0)
		f++;
	const int axis = f->name ? cluster_axis(f->shape) : -1;
	if (axis >= 0 && (axis >= a->ndim || a->shape[axis] != before))
		return kdri_fail(ctx, KDR_ERR_DATA, "array '%s' does not have %lld clusters", a->name,
		                 (long long)before);
	if (axis >= 0)
		copy.shape[axis] = k;
	KDRI_DO(kdri_result_array(ctx, to, a->name, task, a->type, a->ndim, copy.shape, &storage));
	for (int i = 0; i < a->ndim; i++)
		*(i <= axis ? &outer : &inner) *= a->shape[i];
	for (int64_t o = 0; o < outer; o++) {
		const int64_t at = axis < 0 ? o : o / before * k + now[o % before];
		memcpy(storage + at * inner, (const double *)a->data + o * inner,
		       (size_t)inner * sizeof *storage);
	}
	copy.data = storage;
	if (f->name && f->holds && a->type == KDR_INT64)
		rename_entries(&copy, f->holds, now);
	return KDR_OK;
}

static bool changes(const numbering *n)
{
	for (int64_t t = 0; t < n->ntasks; t++) {
		naming c = naming_of(n, t);
		for (int64_t z = 0; z < c.k; z++)
			if (c.now[z] != z)
				return true;
	}
	return false;
}

static kdr_status carry_out(kdr_context *ctx, const numbering *n, kdr_result *result)
{
	for (int64_t i = 0; i < kdr_result_array_count(result); i++) {
		kdr_array a = kdr_result_array_at(result, i);
		KDRI_DO(renumber_array(ctx, result, &a, n));
	}
	for (int64_t i = 0; i < kdr_result_correspondence_count(result); i++) {
		kdr_correspondence c = kdr_result_correspondence_at(result, i);
		KDRI_DO(renumber_match(ctx, &c, n));
	}
	for (int64_t t = 0; t < n->ntasks; t++) {
		int64_t rows = 0, *labels = NULL;
		if (!kdr_result_labels(result, t, &rows))
			continue;
		KDRI_DO(kdri_result_labels(ctx, result, t, &labels));
		rename_labels(labels, rows, naming_of(n, t).now);
	}
	return KDR_OK;
}

kdr_status kdri_renumber(kdr_context *ctx, const int64_t *now, kdr_result *result)
{
	kdr_status st;
	numbering n = { 0 };
	int64_t *spare = NULL;
	KDRI_TRY(numbering_new(ctx, result, &n));
	memcpy(n.now, now, (size_t)n.begin[n.ntasks] * sizeof *now);
	if (!changes(&n))
		goto done;
	KDRI_TRY(KDRI_NEW(ctx, &spare, n.begin[n.ntasks]));
	KDRI_TRY(carry_out(ctx, &n, result));
	for (int64_t t = 0; t < n.ntasks; t++) {
		kdri_task_result *task = &result->tasks[t];
		const naming c = naming_of(&n, t);
		if (task->sizes)
			number_permute(task->sizes, 1, c.k, 1, c.now, spare);
		if (task->names)
			number_permute(task->names, 1, c.k, 1, c.now, spare);
		for (int64_t i = 0; i < task->nknown; i++)
			task->known[2 * i + 1] = c.now[task->known[2 * i + 1]];
	}
done:
	kdri_free(ctx, spare);
	numbering_free(ctx, &n);
	return st;
}

kdr_status kdri_number_clusters(kdr_context *ctx, const kdr_problem *problem, kdr_result *result)
{
	kdr_status st;
	numbering n = { 0 };
	const kdr_algo *algo = kdr_result_algo(result);
	if (algo->family != KDR_FAMILY_CLUSTER && !(algo->flags & KDR_ALGO_CLUSTERS_TARGET))
		return KDR_OK;
	KDRI_TRY(numbering_new(ctx, result, &n));
	result->shared_clusters = problem->pooled || (algo->flags & KDR_ALGO_SHARED_CLUSTERS);
	if (algo->family == KDR_FAMILY_CLUSTER) {
		KDRI_TRY(keep_known(ctx, problem, result, &n));
		KDRI_TRY(match_known(ctx, problem, result, &n));
	}
	if (result->shared_clusters)
		KDRI_TRY(choose_shared(ctx, problem, result, &n));
	else
		KDRI_TRY(choose_each(ctx, problem, result, &n));
	if (changes(&n))
		KDRI_TRY(carry_out(ctx, &n, result));
done:
	numbering_free(ctx, &n);
	return st;
}
