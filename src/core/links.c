/* What a user knows about samples before they are clustered. SPDX-License-Identifier: BSD-3-Clause
 *
 * Must-links are transitive: their connected components are groups (union-find with the lowest sample as the root). Cannot-links
 * are checked against groups and classes. */
#include "core/links.h"

bool kdri_has_links(const kdr_problem *problem)
{
	bool any = problem->nlinks > 0;
	for (int64_t t = 0; t < problem->ntasks; t++)
		any = any || problem->tasks[t].labels;
	return any;
}

void kdri_links_free(kdr_context *ctx, kdri_links *l)
{
	KDRI_FREE(ctx, l->known, l->group, l->apart);
	*l = (kdri_links){ 0 };
}

void kdri_sample_text(const kdr_problem *problem, kdr_data *const *sets, int64_t task, int64_t row,
                      char out[KDRI_SAMPLE_TEXT])
{
	const char *set = problem->tasks[task].name;
	char number[32] = "";
	if (!set)
		kdri_snprintf(number, sizeof number, "%lld", (long long)task + 1);
	if (sets && sets[task]->ids)
		kdri_snprintf(out, KDRI_SAMPLE_TEXT, "'%.80s'", sets[task]->ids[row]);
	else if (problem->ntasks > 1)
		kdri_snprintf(out, KDRI_SAMPLE_TEXT, "row %lld of data set %.60s", (long long)row + 1,
		              set ? set : number);
	else
		kdri_snprintf(out, KDRI_SAMPLE_TEXT, "row %lld", (long long)row + 1);
}

/* --- contradictions ------------------------------------------------------------------------------------ */

typedef struct closing {
	const kdr_problem *problem;
	kdr_data *const *sets;
	int64_t first, count; /* data sets */
	int64_t *begin;       /* count + 1: their first samples among all */
	kdri_links *out;
	int64_t wrong; /* contradictions, of which the first is described */
	char text[512];
} closing;

static void describe_sample(const closing *c, int64_t i, char out[KDRI_SAMPLE_TEXT])
{
	int64_t t = 0;
	while (i >= c->begin[t + 1])
		t++;
	kdri_sample_text(c->problem, c->sets, c->first + t, i - c->begin[t], out);
}

static void describe_class(const closing *c, int64_t class, char out[KDRI_SAMPLE_TEXT])
{
	if (c->problem->class_names)
		kdri_snprintf(out, KDRI_SAMPLE_TEXT, "'%.80s'", c->problem->class_names[class]);
	else
		kdri_snprintf(out, KDRI_SAMPLE_TEXT, "%lld", (long long)class);
}

static void contradiction(closing *c, int64_t i, int64_t j, const char *what)
{
	char a[KDRI_SAMPLE_TEXT], b[KDRI_SAMPLE_TEXT];
	if (c->wrong++ > 0)
		return;
	describe_sample(c, i, a);
	describe_sample(c, j, b);
	kdri_snprintf(c->text, sizeof c->text, "%s and %s %s", a, b, what);
}

/* --- groups -------------------------------------------------------------------------------------------- */

static int64_t root_of(int64_t *group, int64_t i)
{
	while (group[i] != i)
		i = group[i] = group[group[i]];
	return i;
}

static kdr_status join(kdr_context *ctx, closing *c)
{
	const kdr_problem *p = c->problem;
	int64_t *group = c->out->group;
	for (int64_t l = 0; l < p->nlinks; l++) {
		const kdr_link *link = &p->links[l];
		if (link->task < 0 || link->task >= p->ntasks)
			return kdri_fail(ctx, KDR_ERR_ARGUMENT,
			                 "link %lld is about data set %lld, but there are %lld",
			                 (long long)l + 1, (long long)link->task + 1, (long long)p->ntasks);
		const int64_t t = link->task - c->first, n = kdr_mat_rows(&p->tasks[link->task].x);
		if (link->row < 0 || link->row >= n || link->other < 0 || link->other >= n)
			return kdri_fail(
			        ctx, KDR_ERR_ARGUMENT,
			        "link %lld is about rows %lld and %lld, but data set %s has %lld rows",
			        (long long)l + 1, (long long)link->row + 1, (long long)link->other + 1,
			        kdri_task_name(&p->tasks[link->task]), (long long)n);
		if (t < 0 || t >= c->count)
			continue;
		if (link->apart) {
			int64_t *pair = c->out->apart + 2 * c->out->napart++;
			pair[0] = c->begin[t] + link->row;
			pair[1] = c->begin[t] + link->other;
			continue;
		}
		const int64_t a = root_of(group, c->begin[t] + link->row),
		              b = root_of(group, c->begin[t] + link->other);
		group[KDRI_MAX(a, b)] = KDRI_MIN(a, b);
	}
	for (int64_t i = 0; i < c->out->n; i++)
		group[i] = root_of(group, i);
	return KDR_OK;
}

/* The class of a group is that of its members. */
static void share_classes(closing *c)
{
	kdri_links *l = c->out;
	char one[KDRI_SAMPLE_TEXT], other[KDRI_SAMPLE_TEXT], what[2 * KDRI_SAMPLE_TEXT + 80];
	int64_t *from = l->known + l->n; /* by root: the member whose class the group has, -1: none */
	for (int64_t i = 0; i < l->n; i++)
		from[i] = -1;
	for (int64_t i = 0; i < l->n; i++) {
		int64_t *first = &from[l->group[i]];
		if (l->known[i] < 0)
			continue;
		if (*first < 0)
			*first = i;
		else if (l->known[*first] != l->known[i]) {
			describe_class(c, l->known[*first], one);
			describe_class(c, l->known[i], other);
			kdri_snprintf(what, sizeof what,
			              "must be in one cluster, but their known classes are %s and %s", one,
			              other);
			contradiction(c, *first, i, what);
		}
	}
	for (int64_t i = 0; i < l->n; i++)
		if (from[l->group[i]] >= 0)
			l->known[i] = l->known[from[l->group[i]]];
	for (int64_t i = 0; i < l->n; i++) {
		l->nknown += l->known[i] >= 0;
		from[i] = 0; /* now: members of a group */
	}
	for (int64_t i = 0; i < l->n; i++)
		l->ngroups += ++from[l->group[i]] == 2;
}

static void check_apart(closing *c)
{
	const kdri_links *l = c->out;
	char class[KDRI_SAMPLE_TEXT], what[KDRI_SAMPLE_TEXT + 80];
	for (int64_t p = 0; p < l->napart; p++) {
		const int64_t i = l->apart[2 * p], j = l->apart[2 * p + 1];
		if (i == j) {
			contradiction(c, i, j, "cannot be in different clusters: they are the same sample");
		} else if (l->group[i] == l->group[j]) {
			contradiction(c, i, j,
			              "must be in different clusters, but must-links put them in one");
		} else if (l->known[i] >= 0 && l->known[i] == l->known[j]) {
			describe_class(c, l->known[i], class);
			kdri_snprintf(what, sizeof what,
			              "must be in different clusters, but the known class of both is %s",
			              class);
			contradiction(c, i, j, what);
		}
	}
}

kdr_status kdri_links_new(kdr_context *ctx, const kdr_problem *problem, int64_t first, int64_t count,
                          kdr_data *const *sets, kdri_links *out)
{
	kdr_status st;
	kdri_links l = { 0 };
	closing c = { .problem = problem, .sets = sets, .first = first, .count = count, .out = &l };
	int64_t apart = 0;
	KDRI_TRY(KDRI_NEW(ctx, &c.begin, count + 1));
	for (int64_t t = 0; t < count; t++) {
		c.begin[t] = l.n;
		l.n += kdr_mat_rows(&problem->tasks[first + t].x);
	}
	c.begin[count] = l.n;
	for (int64_t i = 0; i < problem->nlinks; i++)
		apart += problem->links[i].apart;
	KDRI_TRY(KDRI_NEW(ctx, &l.known, 2 * l.n)); /* the second half is for share_classes */
	KDRI_TRY(KDRI_NEW(ctx, &l.group, l.n));
	KDRI_TRY(KDRI_NEW(ctx, &l.apart, 2 * apart));
	for (int64_t t = 0; t < count; t++)
		for (int64_t i = c.begin[t]; i < c.begin[t + 1]; i++) {
			const int64_t *labels = problem->tasks[first + t].labels;
			l.group[i] = i;
			l.known[i] = labels ? labels[i - c.begin[t]] : -1;
		}
	KDRI_TRY(join(ctx, &c));
	share_classes(&c);
	check_apart(&c);
	if (c.wrong > 1)
		st = kdri_fail(
		        ctx, KDR_ERR_DATA,
		        "contradiction: samples %s; the known classes and links have %lld contradictions",
		        c.text, (long long)c.wrong);
	else if (c.wrong)
		st = kdri_fail(ctx, KDR_ERR_DATA, "contradiction: samples %s", c.text);
	if (st == KDR_OK) {
		*out = l;
		l = (kdri_links){ 0 };
	}
done:
	kdri_links_free(ctx, &l);
	kdri_free(ctx, c.begin);
	return st;
}
