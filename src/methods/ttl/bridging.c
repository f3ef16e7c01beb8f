/* Sources, bridge and targets: checked, stacked, and put into the result. SPDX-License-Identifier: BSD-3-Clause */
/* The most certain predictions of each class, which are used for training.
 *
 * Row i claims class k by its lift l_ik = p_ik / q_k, q_k the share of the class. Claims are ordered by size, the
 * largest first, then by the lower row and the lower class;
 *
 *   (E1)  row i gets class k unless it has one, or k has ceil(q_k n) rows; the first ceil(part q_k n) of a class are
 *         used for training.
 *
 * Rows may be held by several ranks, so that no rank has the list of claims. It is not needed: as long as the same
 * classes are open, a row gets the class of its largest claim on one of them, and class k is full after the last
 * claim that it can accept. Therefore
 *
 *   (E2)  of these last claims the first is found, rows up to there get their classes, its class is closed, and the others
 *         claim the next: at most as often as there are classes
 *   (E3)  the w-th claim on k, of the largest first: byte by byte of (bits of the lift, n - 1 - row), since numbers that are not
 *         negative are ordered as their bits are; the counts of claims by their next byte determine that of the w-th
 *
 * which takes at most 16 counts over the rows, one exchange each, and gives exactly the result of (E1).
 *
 * l  key[0]      w  wanted      k  class */
#include <stdio.h>

#include "api/method.h"
#include "comm/comm.h"
#include "methods/ttl/ttl.h"

enum { BYTE = 256 };

/* The largest claim of each row here. */
typedef struct claims {
	int64_t n, c, all;
	uint64_t *key[2]; /* n: bits of the lift; rows after this one, so that the larger is first in both */
	int64_t *class;   /* n: -1: there is no claim */
	uint64_t *place[2];            /* c: keys of a claim on each class */
	bool *found;                   /* c: there is such a claim */
	int64_t *room, *teach, *spare; /* c: rows that a class has room for; that teach */
	int64_t *count;                /* c x BYTE */
} claims;

/* Whether the claim of row i comes after the place of class k. */
static inline bool is_after(const claims *v, int64_t i, int64_t k)
{
	return v->key[0][i] < v->place[0][k] ||
	       (v->key[0][i] == v->place[0][k] && v->key[1][i] < v->place[1][k]);
}

/* Whether the claim of row i has the bytes of the place that are known: those of word w above `shift`. */
static inline bool agrees(const claims *v, int64_t i, int64_t k, int w, int shift)
{
	return (w == 0 || v->key[0][i] == v->place[0][k]) &&
	       (v->key[w][i] & ~(uint64_t)0 << shift << 8) == v->place[w][k];
}

/* (E3) for all classes at once. */
static kdr_status find_places(kdr_context *ctx, const claims *v, const int64_t *wanted)
{
	int64_t *left = v->spare;
	memcpy(left, wanted, (size_t)v->c * sizeof *left);
	for (int w = 0; w < 2; w++) {
		int shift = 56;
		while (w == 1 && shift > 0 && v->all >> shift == 0)
			shift -= 8;
		memset(v->place[w], 0, (size_t)v->c * sizeof *v->place[w]);
		for (; shift >= 0; shift -= 8) {
			/* How many claims of all ranks on each class, of those that agree so far, have which byte next. */
			memset(v->count, 0, (size_t)(v->c * BYTE) * sizeof *v->count);
			for (int64_t i = 0; i < v->n; i++) {
				int64_t k = v->class[i];
				if (k >= 0 && agrees(v, i, k, w, shift))
					v->count[k * BYTE + (int64_t)(v->key[w][i] >> shift & (BYTE - 1))]++;
			}
			KDRI_DO(kdri_sum_int(ctx, v->count, v->c * BYTE));
			for (int64_t k = 0; k < v->c; k++) {
				uint64_t byte = BYTE - 1;
				for (; byte > 0 && v->count[k * BYTE + (int64_t)byte] < left[k]; byte--)
					left[k] -= v->count[k * BYTE + (int64_t)byte];
				v->place[w][k] |= byte << shift;
			}
		}
	}
	for (int64_t k = 0; k < v->c; k++)
		v->found[k] = left[k] <= v->count[k * BYTE + (int64_t)(v->place[1][k] & (BYTE - 1))];
	return KDR_OK;
}

/* The class whose last claim comes first; -1: all classes can accept all claims. */
static int64_t first_full(const claims *v)
{
	int64_t first = -1;
	for (int64_t k = 0; k < v->c; k++)
		if (v->room[k] > 0 && v->found[k] &&
		    (first < 0 || v->place[0][k] > v->place[0][first] ||
		     (v->place[0][k] == v->place[0][first] && v->place[1][k] > v->place[1][first])))
			first = k;
	return first;
}

/* (E2) into labels. */
static kdr_status give_out(kdr_context *ctx, const claims *v, const double *p, const double *share,
                           int64_t *labels)
{
	for (int64_t full = 0; full >= 0;) {
		/* Rows without a class claim the likeliest class that is still open. */
		for (int64_t i = 0; i < v->n; i++) {
			double most = 0;
			v->class[i] = -1;
			if (labels[i] >= 0)
				continue;
			for (int64_t k = 0; k < v->c; k++) {
				double lift = v->room[k] > 0 ? p[i * v->c + k] / share[k] : 0;
				if (lift > most) {
					most = lift;
					v->class[i] = k;
				}
			}
			memcpy(&v->key[0][i], &most, sizeof most);
		}
		KDRI_DO(find_places(ctx, v, v->room));
		full = first_full(v);
		memset(v->spare, 0, (size_t)v->c * sizeof *v->spare);
		for (int64_t i = 0; i < v->n; i++)
			if (v->class[i] >= 0 && (full < 0 || !is_after(v, i, full))) {
				labels[i] = v->class[i];
				v->spare[labels[i]]++;
			}
		KDRI_DO(kdri_sum_int(ctx, v->spare, v->c));
		for (int64_t k = 0; k < v->c; k++)
			v->room[k] -= v->spare[k];
	}
	return KDR_OK;
}

kdr_status kdri_bridging_surest(kdr_context *ctx, const kdri_bridging_rows *rows, const double *p, int64_t c,
                                const double *share, double part, int64_t *labels)
{
	kdr_status st;
	claims v = { .n = rows->n, .c = c, .all = rows->all };
	for (int w = 0; w < 2; w++) {
		KDRI_TRY(KDRI_NEW0(ctx, &v.key[w], v.n));
		KDRI_TRY(KDRI_NEW0(ctx, &v.place[w], v.c));
	}
	KDRI_TRY(KDRI_NEW0(ctx, &v.class, v.n));
	KDRI_TRY(KDRI_NEW0(ctx, &v.found, v.c));
	KDRI_TRY(KDRI_NEW0(ctx, &v.room, 3 * v.c));
	KDRI_TRY(KDRI_NEW0(ctx, &v.count, v.c * BYTE));
	v.teach = v.room + v.c;
	v.spare = v.teach + v.c;
	for (int64_t i = 0; i < v.n; i++)
		v.key[1][i] = (uint64_t)(v.all - 1 - rows->number[i]);
	for (int64_t k = 0; k < c; k++) {
		v.room[k] = (int64_t)ceil(share[k] * (double)v.all);
		v.teach[k] = (int64_t)ceil(part * share[k] * (double)v.all);
	}
	for (int64_t i = 0; i < v.n; i++)
		labels[i] = -1;
	KDRI_TRY(give_out(ctx, &v, p, share, labels));
	memcpy(v.class, labels, (size_t)v.n * sizeof *labels);
	KDRI_TRY(find_places(ctx, &v, v.teach));
	for (int64_t i = 0; i < v.n; i++) {
		int64_t k = labels[i];
		if (k >= 0 && v.found[k] && is_after(&v, i, k))
			labels[i] = -1; /* (E1) */
	}
done:
	for (int w = 0; w < 2; w++) {
		KDRI_FREE(ctx, v.key[w], v.place[w]);
	}
	KDRI_FREE(ctx, v.class, v.found, v.room, v.count);
	return st;
}

const char *const kdri_bridging_norms[] = { "rescaleG", "rescale", "mm", "paper", NULL };
const char *const kdri_bridging_inits[] = { "logreg", "random", "half", NULL };

static int64_t count_role(const kdr_problem *problem, kdr_role role)
{
	int64_t count = 0;
	for (int64_t t = 0; t < problem->ntasks; t++)
		count += problem->tasks[t].role == role;
	return count;
}

static const kdr_task *bridging_first_of(const kdr_problem *problem, kdr_role role)
{
	for (int64_t t = 0; t < problem->ntasks; t++)
		if (problem->tasks[t].role == role)
			return &problem->tasks[t];
	return NULL;
}

void kdri_bridging_free(kdr_context *ctx, kdri_bridging *s)
{
	if (!s)
		return;
	kdri_own_free(ctx, &s->source);
	kdri_own_free(ctx, &s->target);
	KDRI_FREE(ctx, s->labels, s->known, s->bridge_rows.number, s->target_rows.number);
}

/* --- checks ------------------------------------------------------------------------------------- */

static kdr_status check_roles(kdr_context *ctx, const kdr_problem *problem, bool needs_bridge)
{
	int64_t sources = count_role(problem, KDR_ROLE_SOURCE),
	        targets = count_role(problem, KDR_ROLE_TARGET);
	int64_t bridges = count_role(problem, KDR_ROLE_BRIDGE);
	if (sources < 1 || targets < 1)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT,
		                 "got %lld sources and %lld targets; at least one of each is needed",
		                 (long long)sources, (long long)targets);
	if (bridges == 0 && needs_bridge)
		return kdri_fail(
		        ctx, KDR_ERR_ARGUMENT,
		        "no bridge was given; method 'ttl' needs a data set between source and target ('nmtf' works without one)");
	if (bridges > 2)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT, "got %lld bridges; use one, or two views of one",
		                 (long long)bridges);
	return KDR_OK;
}

static kdr_status check_width(kdr_context *ctx, const kdr_task *t, const kdr_task *with)
{
	if (kdr_mat_cols(&t->x) == kdr_mat_cols(&with->x))
		return KDR_OK;
	return kdri_fail(ctx, KDR_ERR_DATA,
	                 "data set %s has %lld columns, but data set %s has %lld; align them first",
	                 kdri_task_name(t), (long long)kdr_mat_cols(&t->x), kdri_task_name(with),
	                 (long long)kdr_mat_cols(&with->x));
}

/* Tasks of a role have the columns of `with`. */
static kdr_status check_widths(kdr_context *ctx, const kdr_problem *problem, kdr_role role,
                               const kdr_task *with)
{
	for (int64_t t = 0; t < problem->ntasks; t++)
		if (problem->tasks[t].role == role)
			KDRI_DO(check_width(ctx, &problem->tasks[t], with));
	return KDR_OK;
}

static kdr_status check_not_empty(kdr_context *ctx, const char *what, const int64_t *counts, int64_t cols)
{
	for (int64_t j = 0; j < cols; j++)
		if (counts[j] > 0)
			return KDR_OK;
	return kdri_fail(ctx, KDR_ERR_DATA, "%s: all values are zero, so nothing can be learnt", what);
}

/* Checks that two data sets to be factorised together have features in common. */
static kdr_status check_shared(kdr_context *ctx, const kdr_mat *a, const char *name_a, const kdr_mat *b,
                               const char *name_b)
{
	kdr_status st;
	int64_t cols = kdr_mat_cols(a), *count[2] = { NULL, NULL }, shared = 0;
	KDRI_TRY(KDRI_NEW(ctx, &count[0], cols));
	KDRI_TRY(KDRI_NEW(ctx, &count[1], cols));
	kdri_mat_col_counts(ctx, a, count[0]);
	kdri_mat_col_counts(ctx, b, count[1]);
	for (int i = 0; i < 2; i++)
		KDRI_TRY(kdri_sum_int(ctx, count[i], cols));
	KDRI_TRY(check_not_empty(ctx, name_a, count[0], cols));
	KDRI_TRY(check_not_empty(ctx, name_b, count[1], cols));
	for (int64_t j = 0; j < cols; j++)
		shared += count[0][j] > 0 && count[1][j] > 0;
	if (shared == 0)
		st = kdri_fail(ctx, KDR_ERR_DATA,
		               "%s has no feature in common with %s, so no labels can be transferred", name_a,
		               name_b);
done:
	KDRI_FREE(ctx, count[0], count[1]);
	return st;
}

/* Checks that there are at least two classes and that each has a row. */
static kdr_status bridging_check_classes(kdr_context *ctx, const kdri_bridging *s)
{
	kdr_status st;
	int64_t *count = NULL, n = kdr_mat_rows(&s->source.view);
	if (s->classes < 2)
		return kdri_fail(ctx, KDR_ERR_DATA, "the sources have %lld class%s; at least two are needed",
		                 (long long)s->classes, s->classes == 1 ? "" : "es");
	KDRI_TRY(KDRI_NEW0(ctx, &count, s->classes));
	for (int64_t i = 0; i < n; i++)
		count[s->labels[i]]++;
	KDRI_TRY(kdri_sum_int(ctx, count, s->classes));
	for (int64_t c = 0; c < s->classes; c++)
		if (count[c] == 0) {
			st = kdri_fail(ctx, KDR_ERR_DATA, "class %lld of %lld has no row in any source",
			               (long long)c, (long long)s->classes);
			break;
		}
done:
	kdri_free(ctx, count);
	return st;
}

/* --- stacking ------------------------------------------------------------------------------------- */

/* Row after row, as a stack of it would be. */
static bool is_plain(const kdr_mat *x)
{
	return x->kind == KDR_MAT_DENSE ? x->as.dense.stride == x->as.dense.cols : x->as.csr.rowptr[0] == 0;
}

/* All tasks of a role stacked, or borrowed if there is only one; of sources only rows with a class. *labels: of those
 * rows (-1 unknown). */
static kdr_status stack_role(kdr_context *ctx, const kdr_problem *problem, kdr_role role, kdri_own *out,
                             int64_t **labels)
{
	kdr_status st;
	int64_t n = 0, kept = 0, all = 0, at = 0, *rows = NULL, *classes = NULL, count = 0;
	const kdr_mat **parts = NULL;
	kdri_own whole = { .view = kdr_mat_from_dense(NULL, 0, 0) };
	KDRI_TRY(KDRI_NEW(ctx, &parts, problem->ntasks));
	for (int64_t t = 0; t < problem->ntasks; t++)
		if (problem->tasks[t].role == role) {
			parts[count++] = &problem->tasks[t].x;
			n += kdr_mat_rows(&problem->tasks[t].x);
		}
	KDRI_TRY(KDRI_NEW(ctx, &rows, n));
	KDRI_TRY(KDRI_NEW(ctx, &classes, n));
	for (int64_t t = 0; t < problem->ntasks; t++) {
		const kdr_task *task = &problem->tasks[t];
		if (task->role != role)
			continue;
		for (int64_t i = 0; i < kdr_mat_rows(&task->x); i++, at++) {
			int64_t label = task->labels ? task->labels[i] : -1;
			if (label < 0 && role == KDR_ROLE_SOURCE)
				continue;
			classes[kept] = label;
			rows[kept++] = at;
		}
	}
	KDRI_TRY(kdri_part(ctx, kept, NULL, &all));
	if (all == 0)
		KDRI_FAIL(ctx, KDR_ERR_DATA,
		          "no row of a source has a class; at least two classes are needed");
	if (count == 1 && is_plain(parts[0]))
		whole.view = *parts[0];
	else
		KDRI_TRY(kdri_mat_stack(ctx, parts, count, &whole));
	if (kept < n) {
		KDRI_TRY(kdri_mat_take(ctx, &whole.view, rows, kept, out));
	} else {
		*out = whole;
		whole = (kdri_own){ .view = kdr_mat_from_dense(NULL, 0, 0) };
	}
	*labels = classes;
	classes = NULL;
done:
	kdri_own_free(ctx, &whole);
	KDRI_FREE(ctx, parts, rows, classes);
	return st;
}

/* Numbers of the rows of all tasks of a role, below each other, in the order of all ranks' rows; of bridges the first is meant. */
static kdr_status number_rows(kdr_context *ctx, const kdr_problem *problem, kdr_role role,
                              kdri_bridging_rows *out)
{
	kdr_status st;
	int64_t *mine = NULL, *start = NULL, count = 0;
	KDRI_TRY(KDRI_NEW(ctx, &mine, problem->ntasks));
	KDRI_TRY(KDRI_NEW(ctx, &start, problem->ntasks));
	for (int64_t t = 0; t < problem->ntasks && !(role == KDR_ROLE_BRIDGE && count > 0); t++)
		if (problem->tasks[t].role == role)
			out->n += mine[count++] = kdr_mat_rows(&problem->tasks[t].x);
	KDRI_TRY(kdri_parts(ctx, mine, count, start, &out->all));
	KDRI_TRY(KDRI_NEW(ctx, &out->number, out->n));
	for (int64_t g = 0, at = 0; g < count; g++)
		for (int64_t i = 0; i < mine[g]; i++)
			out->number[at++] = start[g] + i;
done:
	KDRI_FREE(ctx, mine, start);
	return st;
}

/* The bridge's two views; both are the same matrix where one task was given. */
static kdr_status find_views(kdr_context *ctx, const kdr_problem *problem, kdri_bridging *s)
{
	kdr_status st;
	const kdr_task *view[2] = { NULL, NULL };
	s->bridge = -1;
	for (int64_t t = 0; t < problem->ntasks; t++) {
		if (problem->tasks[t].role != KDR_ROLE_BRIDGE)
			continue;
		if (s->bridge < 0)
			s->bridge = t;
		view[view[0] != NULL] = &problem->tasks[t];
	}
	const kdr_task *source = bridging_first_of(problem, KDR_ROLE_SOURCE),
	               *target = bridging_first_of(problem, KDR_ROLE_TARGET);
	s->same = view[0] && !view[1];
	if (s->same)
		view[1] = view[0];
	KDRI_TRY(check_widths(ctx, problem, KDR_ROLE_SOURCE, view[0] ? view[0] : target));
	KDRI_TRY(check_widths(ctx, problem, KDR_ROLE_TARGET, view[1] ? view[1] : source));
	for (int v = 0; v < 2 && view[0]; v++)
		s->view[v] = view[v]->x;
	if (view[0] && kdr_mat_rows(&s->view[0]) != kdr_mat_rows(&s->view[1]))
		st = kdri_fail(
		        ctx, KDR_ERR_DATA,
		        "the bridge views %s and %s have %lld and %lld rows, but must be views of the same samples",
		        kdri_task_name(view[0]), kdri_task_name(view[1]),
		        (long long)kdr_mat_rows(&s->view[0]), (long long)kdr_mat_rows(&s->view[1]));
done:
	return st;
}

kdr_status kdri_bridging_new(kdr_context *ctx, const kdr_problem *problem, bool needs_bridge,
                             kdri_bridging *out)
{
	kdr_status st;
	kdri_bridging s = { .problem = problem,
		            .classes = problem->classes,
		            .source.view = kdr_mat_from_dense(NULL, 0, 0),
		            .target.view = kdr_mat_from_dense(NULL, 0, 0) };
	KDRI_TRY(check_roles(ctx, problem, needs_bridge));
	KDRI_TRY(find_views(ctx, problem, &s));
	KDRI_TRY(stack_role(ctx, problem, KDR_ROLE_SOURCE, &s.source, &s.labels));
	KDRI_TRY(stack_role(ctx, problem, KDR_ROLE_TARGET, &s.target, &s.known));
	KDRI_TRY(number_rows(ctx, problem, KDR_ROLE_BRIDGE, &s.bridge_rows));
	KDRI_TRY(number_rows(ctx, problem, KDR_ROLE_TARGET, &s.target_rows));
	KDRI_TRY(bridging_check_classes(ctx, &s));
	if (s.bridge >= 0) {
		KDRI_TRY(check_shared(ctx, &s.view[0], "the bridge", &s.source.view, "the source"));
		KDRI_TRY(check_shared(ctx, &s.target.view, "the target", &s.view[1], "the bridge"));
	} else {
		KDRI_TRY(check_shared(ctx, &s.target.view, "the target", &s.source.view, "the source"));
	}
	*out = s;
	s = (kdri_bridging){ .source.view = kdr_mat_from_dense(NULL, 0, 0),
		             .target.view = kdr_mat_from_dense(NULL, 0, 0) };
done:
	kdri_bridging_free(ctx, &s);
	return st;
}

/* --- results --------------------------------------------------------------------------------------- */

static kdr_status bridging_put_task(kdr_context *ctx, int64_t task, int64_t n, int64_t c, const double *g,
                                    kdr_result *result)
{
	int64_t *labels = NULL;
	double *p = NULL;
	KDRI_DO(kdri_result_labels(ctx, result, task, &labels));
	KDRI_DO(kdri_result_array(ctx, result, "probabilities", task, KDR_FLOAT64, 2, (int64_t[]){ n, c },
	                          &p));
	for (int64_t i = 0; i < n; i++) {
		double sum = 0;
		labels[i] = 0;
		for (int64_t k = 0; k < c; k++) {
			sum += g[i * c + k];
			if (g[i * c + k] > g[i * c + labels[i]])
				labels[i] = k;
		}
		for (int64_t k = 0; k < c; k++)
			p[i * c + k] = g[i * c + k] / sum;
	}
	return KDR_OK;
}

kdr_status kdri_bridging_result(kdr_context *ctx, const kdri_bridging *s, const double *g_bridge,
                                const double *g_target, kdr_result *result)
{
	int64_t c = s->classes, at = 0;
	for (int64_t t = 0; t < s->problem->ntasks; t++) {
		const kdr_task *task = &s->problem->tasks[t];
		int64_t n = kdr_mat_rows(&task->x);
		kdri_result_set_k(result, t, c);
		if (t == s->bridge)
			KDRI_DO(bridging_put_task(ctx, t, n, c, g_bridge, result));
		if (task->role != KDR_ROLE_TARGET)
			continue;
		KDRI_DO(bridging_put_task(ctx, t, n, c, g_target + at * c, result));
		at += n;
	}
	return KDR_OK;
}

enum { TOP = 10 };

kdr_status kdri_bridging_clusters(kdr_context *ctx, const kdri_tri *t, int side, const char *name,
                                  kdr_result *result)
{
	int64_t m = t->side[side].m, p1 = t->p1, count = KDRI_MIN(TOP, m), *top = NULL;
	char key[64];
	double *f = NULL, *a = NULL;
	snprintf(key, sizeof key, "shared_%s", name);
	KDRI_DO(kdri_result_array(ctx, result, key, -1, KDR_FLOAT64, 2, (int64_t[]){ m, p1 }, &f));
	snprintf(key, sizeof key, "association_%s", name);
	KDRI_DO(kdri_result_array(ctx, result, key, -1, KDR_FLOAT64, 2, (int64_t[]){ p1, t->c }, &a));
	snprintf(key, sizeof key, "top_%s", name);
	KDRI_DO(kdri_result_array(ctx, result, key, -1, KDR_INT64, 2, (int64_t[]){ p1, count }, &top));
	kdri_tri_get_f(t, side, 0, p1, f);
	memcpy(a, t->side[side].a, (size_t)(p1 * t->c) * sizeof *a);
	for (int64_t j = 0; j < p1; j++)
		for (int64_t i = 0, have = 0; i < m; i++) { /* insertion into the heaviest so far */
			int64_t at = have;
			while (at > 0 && f[i * p1 + j] > f[top[j * count + at - 1] * p1 + j])
				at--;
			if (at == count)
				continue;
			have = KDRI_MIN(have + 1, count);
			for (int64_t k = have - 1; k > at; k--)
				top[j * count + k] = top[j * count + k - 1];
			top[j * count + at] = i;
		}
	return KDR_OK;
}
