/* Columns that distinguish data sets. SPDX-License-Identifier: BSD-3-Clause
 *
 * The number of a customer, a city or the year of a file says little about the samples of one data set, but makes data sets look unrelated. Of columns
 * that two or more data sets have, with LEAST values or more in each, these are skipped:
 *
 *   (A1) constant in each data set, with different values
 *   (A2) categories of which no two data sets have a text in common; if the texts are yes and no in other words, hints.c says how to match them
 *   (A3) dates whose ranges do not overlap in any two data sets
 *   (A4) whole numbers whose ranges do not overlap in any two data sets, if the title suggests ids, or if they rise or fall from each row to the next
 *
 * Columns that --columns names stay. Other numbers whose ranges do not overlap may be measurements: they stay, and a warning names them. */
#include "comm/comm.h"
#include "prepare/prep.h"

#include <stdio.h>

enum { LEAST = 10, COLUMNS_MOST = 256 };

/* What is known about an aligned column in one data set. The largest number of all ranks counts. */
enum { MINUS_LOW, HIGH, FRACTION, FALLS, RISES, DATE, CATEGORY, ASKED, HAS, FACTS };

typedef struct search {
	const kdr_prep *prep;
	kdr_data *const *tasks;
	int64_t count, cols;
	double *facts;                          /* count x cols x FACTS */
	double *values;                         /* count x cols: how many */
	int64_t *category;                      /* cols: number of the category's name, or -1 */
	kdri_names names;                       /* of categories */
	bool *apart;                            /* cols: to be left out */
	char left[300], kept[300], option[300]; /* names, for the warnings */
	int64_t nleft, nkept;
} search;

static const double *facts_at(const search *s, int64_t t, int64_t u)
{
	return s->facts + (t * s->cols + u) * FACTS;
}

static void look_at(const kdr_data *d, int64_t j, double origin, double *facts, double *values)
{
	double before = NAN;
	for (int64_t i = 0; i < d->rows; i++) {
		const double x = d->dense[i * d->cols + j] + origin;
		if (isnan(x))
			continue;
		(*values)++;
		facts[MINUS_LOW] = KDRI_MAX(facts[MINUS_LOW], -x);
		facts[HIGH] = KDRI_MAX(facts[HIGH], x);
		if (x != floor(x))
			facts[FRACTION] = 1;
		if (x <= before)
			facts[FALLS] = 1;
		if (x >= before)
			facts[RISES] = 1;
		before = x;
	}
}

/* Fills the facts about the columns of one data set. */
static kdr_status look_at_task(kdr_context *ctx, search *s, int64_t t, const kdri_columns *columns)
{
	const kdr_data *d = s->tasks[t];
	const kdri_sheet *sheet = d->sheet && d->sheet->source ? d->sheet : NULL;
	for (int64_t j = 0; j < d->cols; j++) {
		const int64_t u = columns->to[j], c = sheet ? sheet->source[j] : -1;
		if (u < 0)
			continue;
		double *facts = s->facts + (t * s->cols + u) * FACTS;
		const kdr_column *column = c >= 0 ? &sheet->columns[c] : NULL;
		facts[HAS] = 1;
		facts[DATE] = column && column->kind == KDR_COLUMN_DATE;
		facts[CATEGORY] = column && column->kind == KDR_COLUMN_CATEGORY;
		facts[ASKED] = column && sheet->asked && sheet->asked[c];
		if (column && column->kind == KDR_COLUMN_CATEGORY)
			KDRI_DO(kdri_names_add(ctx, &s->names, column->name, strlen(column->name),
			                       &s->category[u]));
		look_at(d, j, column && column->kind == KDR_COLUMN_DATE ? sheet->origin[c] : 0, facts,
		        &s->values[t * s->cols + u]);
	}
	return KDR_OK;
}

static bool is_table(const kdr_data *d)
{
	const kdri_sheet *sheet = d->sheet && d->sheet->source ? d->sheet : NULL;
	int64_t columns = 0;
	for (int64_t j = 0; j < d->cols; j++)
		columns += !sheet || j == 0 || sheet->source[j] != sheet->source[j - 1];
	return d->kind == KDR_MAT_DENSE && !d->streamed && columns <= COLUMNS_MOST;
}

/* --- numbers and dates --------------------------------------------------------------------------------------------------- */

typedef struct ranges {
	int64_t with;        /* data sets that have the column */
	bool few;            /* one of them has too few values of it */
	bool constant, same; /* in each; of all */
	bool overlap;        /* of two data sets */
	bool fraction, rises, falls, date, asked;
} ranges;

static ranges ranges_of(const search *s, int64_t u)
{
	ranges r = { .constant = true, .same = true, .rises = true, .falls = true };
	const double *first = NULL;
	for (int64_t t = 0; t < s->count; t++) {
		const double *f = facts_at(s, t, u);
		if (f[HAS] == 0)
			continue;
		first = first ? first : f;
		r.with++;
		r.few = r.few || s->values[t * s->cols + u] < LEAST;
		r.constant = r.constant && f[HIGH] == -f[MINUS_LOW];
		r.same = r.same && f[HIGH] == first[HIGH];
		r.fraction = r.fraction || f[FRACTION] > 0;
		r.rises = r.rises && f[FALLS] == 0;
		r.falls = r.falls && f[RISES] == 0;
		r.date = r.date || f[DATE] > 0;
		r.asked = r.asked || f[ASKED] > 0;
		for (int64_t o = 0; o < t; o++) {
			const double *g = facts_at(s, o, u);
			r.overlap = r.overlap ||
			            (g[HAS] > 0 && f[HIGH] >= -g[MINUS_LOW] && g[HIGH] >= -f[MINUS_LOW]);
		}
	}
	return r;
}

static void add_name(char *list, size_t room, const char *name, int64_t *count)
{
	if ((*count)++ < 6)
		kdri_list_add(list, room, "'%.40s'", name);
}

static void leave_name(search *s, const char *name)
{
	if (s->nleft < 6)
		kdri_list_add(s->option, sizeof s->option, "+%.40s", name);
	add_name(s->left, sizeof s->left, name, &s->nleft);
}

static void judge_number(search *s, int64_t u)
{
	const ranges r = ranges_of(s, u);
	const char *name = s->prep->names[u];
	if (r.with < 2 || r.few || r.asked)
		return;
	if ((r.constant && !r.same) /* (A1) */
	    ||
	    (!r.overlap && (r.date                                                                  /* (A3) */
	                    || (!r.fraction && (kdri_name_of_ids(name) || r.rises || r.falls))))) { /* (A4) */
		s->apart[u] = true;
		leave_name(s, name);
	} else if (!r.overlap) {
		add_name(s->kept, sizeof s->kept, name, &s->nkept);
	}
}

/* --- categories ------------------------------------------------------------------------------------------------------------ */

/* The texts of category g in all data sets. */
static void judge_category(search *s, int64_t g)
{
	int64_t with = 0;
	bool few = false, one = true, shared = false, answers = true, all = true, asked = false;
	for (int64_t t = 0; t < s->count; t++) {
		double rows = 0;
		int64_t texts = 0;
		bool has = false;
		for (int64_t u = 0; u < s->cols; u++) {
			const double *f = facts_at(s, t, u);
			if (s->category[u] != g || f[HAS] == 0)
				continue;
			has = true;
			asked = asked || f[ASKED] > 0;
			texts += f[HIGH] > 0;
			rows = KDRI_MAX(rows, s->values[t * s->cols + u]);
		}
		with += has;
		few = few || (has && rows < LEAST);
		one = one && (!has || texts == 1);
	}
	for (int64_t u = 0; u < s->cols; u++) {
		int64_t used = 0;
		if (s->category[u] != g)
			continue;
		const char *text = s->prep->names[u] + strlen(s->names.names[g]) + 1; /* after "name=" */
		answers = answers && kdri_yes_or_no(text, strlen(text)) >= 0;
		for (int64_t t = 0; t < s->count; t++)
			used += facts_at(s, t, u)[HAS] > 0 && facts_at(s, t, u)[HIGH] > 0;
		shared = shared || used > 1;
		all = all && used == with;
	}
	if (with < 2 || few || asked || (shared && !one) || (!one && answers) || all)
		return;
	for (int64_t u = 0; u < s->cols; u++) /* (A1), (A2) */
		s->apart[u] = s->apart[u] || s->category[u] == g;
	leave_name(s, s->names.names[g]);
}

/* --- all columns ----------------------------------------------------------------------------------------------------------- */

static kdr_status find(kdr_context *ctx, search *s, const kdri_columns *columns)
{
	const int64_t all = s->count * s->cols;
	int64_t ncategories;
	KDRI_DO(KDRI_NEW0(ctx, &s->facts, all * FACTS));
	KDRI_DO(KDRI_NEW0(ctx, &s->values, all));
	KDRI_DO(KDRI_NEW(ctx, &s->category, s->cols));
	KDRI_DO(KDRI_NEW0(ctx, &s->apart, s->cols));
	for (int64_t i = 0; i < all; i++)
		s->facts[i * FACTS + MINUS_LOW] = s->facts[i * FACTS + HIGH] = -INFINITY;
	for (int64_t u = 0; u < s->cols; u++)
		s->category[u] = -1;
	for (int64_t t = 0; t < s->count; t++)
		KDRI_DO(look_at_task(ctx, s, t, &columns[t]));
	KDRI_DO(kdri_max(ctx, s->facts, all * FACTS));
	KDRI_DO(kdri_sum(ctx, s->values, all));
	ncategories = s->names.count;
	for (int64_t u = 0; u < s->cols; u++)
		if (s->category[u] < 0)
			judge_number(s, u);
	for (int64_t g = 0; g < ncategories; g++)
		judge_category(s, g);
	return KDR_OK;
}

static kdr_status tell(kdr_context *ctx, kdr_prep *prep, const search *s)
{
	char more[40] = "";
	if (s->nleft > 6)
		snprintf(more, sizeof more, " and %lld more", (long long)s->nleft - 6);
	if (s->nleft > 0)
		KDRI_DO(kdri_prep_warn(
		        ctx, prep,
		        "skipped: %s%s, which only distinguish%s the data sets (constant in each, or no value in common); use --columns '%s' to keep %s",
		        s->left, more, s->nleft == 1 ? "es" : "", s->option, s->nleft == 1 ? "it" : "them"));
	if (s->nkept > 6)
		snprintf(more, sizeof more, " and %lld more", (long long)s->nkept - 6);
	if (s->nkept > 0)
		KDRI_DO(kdri_prep_warn(
		        ctx, prep,
		        "the values of %s%s do not overlap, so %s distinguishes the data sets; use --columns -NAME to skip a column",
		        s->kept, s->nkept > 6 ? more : "", s->nkept == 1 ? "it" : "each of these columns"));
	return KDR_OK;
}

kdr_status kdri_apart_mark(kdr_context *ctx, kdr_prep *prep, kdr_data *const *tasks, int64_t count,
                           kdri_columns *columns, bool *drop)
{
	kdr_status st;
	search s = {
		.prep = prep, .tasks = tasks, .count = count, .cols = prep->cols, .names = { .borrows = true }
	};
	bool other = count < 2 || !prep->names || prep->options.align == KDR_ALIGN_POSITION, stays = false;
	for (int64_t t = 0; t < count; t++)
		other = other || !is_table(tasks[t]);
	KDRI_DO(kdri_any(ctx, &other));
	if (other)
		return KDR_OK;
	KDRI_TRY(find(ctx, &s, columns));
	for (int64_t u = 0; u < s.cols; u++)
		stays = stays || !(drop[u] || s.apart[u]);
	if (!stays)
		goto done;
	KDRI_TRY(tell(ctx, prep, &s));
	for (int64_t t = 0; t < count && s.nleft > 0; t++) {
		KDRI_TRY(KDRI_NEW0(ctx, &columns[t].apart, tasks[t]->cols));
		for (int64_t j = 0; j < tasks[t]->cols; j++)
			columns[t].apart[j] = columns[t].to[j] >= 0 && s.apart[columns[t].to[j]];
	}
	for (int64_t u = 0; u < s.cols; u++)
		drop[u] = drop[u] || s.apart[u];
done:
	kdri_names_free(ctx, &s.names);
	KDRI_FREE(ctx, s.facts, s.values, s.category, s.apart);
	return st;
}
