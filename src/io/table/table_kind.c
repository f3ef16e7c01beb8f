/* The kinds of the columns of a table. SPDX-License-Identifier: BSD-3-Clause
 *
 * The kind of a column is determined from all its cells (table_survey.c), unless it is specified:
 *
 *   nothing in it                         empty: skipped
 *   numbers                               number; row names if it counts from 0 or 1 over KDRI_RUNNING_LEAST rows or
 *                                         more, or has a title such as id or nr, and no number twice
 *   digits, with leading zeros in some    category, as codes are (01067), if some repeat and at most CATEGORIES_MOST differ
 *   dates                                 date
 *   half of it numbers, or dates          an error: the rest is more likely wrong than a category
 *   text, different in every row          row names: the first such column; others are skipped
 *   text, each twice or more on average,  category
 *     and at most CATEGORIES_MOST
 *   other text                            text: skipped
 *
 * Long texts with few other columns are probably what the table is about: if no option says what to do with them, this is an error.
 *
 * Only one column has the row names: columns with a title such as id come before others, and text before numbers. If
 * the decimal sign of a column is ambiguous, the other columns determine it (table_values.c). */
#include <stdio.h>

#include "io/table/table.h"

enum { CATEGORIES_MOST = 64 };

/* The input of the decision, and its result. */
typedef struct decision {
	kdr_context *ctx;
	const kdr_read_options *options;
	const kdri_survey *survey;
	kdri_csv_layout *l;
	kdr_findings *findings;
} decision;

static bool is_category(const kdri_evidence *e)
{
	int64_t present = e->cells - e->missing, most = KDRI_MAX(2, KDRI_MIN(CATEGORIES_MOST, present / 2));
	return !e->many && e->texts.count <= most;
}

/* A column whose cells are mostly of a kind, and some are not. */
static kdr_status not_all(const decision *d, int64_t j, bool dates)
{
	const kdri_evidence *e = &d->survey->fields[j];
	char place[160], title[24], then[400];
	const char *name = kdri_csv_title(d->l, j, title), *text = dates ? e->undated : e->text;
	int64_t line = dates ? e->undated_line : e->text_line, others = dates ? e->dates : e->numbers;
	snprintf(
	        then, sizeof then,
	        "use --na '%.40s' to treat it as missing, or --columns '%.60s:category' or '%.60s:text' to set the type of the column",
	        text, name, name);
	const char *where = kdri_place(d->l, line, j, place);
	if (!dates && kdri_says_total(text, strlen(text)))
		snprintf(then, sizeof then, "remove the row if it sums up others; --na '%.40s' would keep it",
		         text);
	if (others == 0) /* the kind was specified with --columns */
		return kdri_finding_add(d->ctx, d->findings, line, true, then,
		                        "%s: '%.40s' is not a %s, and no other cell is", where, text,
		                        dates ? "date" : "number");
	return kdri_finding_add(d->ctx, d->findings, line, true, then,
	                        "%s: '%.40s' is not a %s, but %lld other %s", where, text,
	                        dates ? "date" : "number", (long long)others,
	                        others == 1 ? "cell in this column is" : "cells in this column are");
}

static kdr_status take_date(const decision *d, int64_t j, unsigned order)
{
	const kdri_evidence *e = &d->survey->fields[j];
	kdri_role *role = &d->l->roles[j];
	char place[160], title[24], then[300];
	const char *name = kdri_csv_title(d->l, j, title);
	role->kind = KDR_COLUMN_DATE;
	role->ordered = e->either || e->orders != (KDRI_DAY_FIRST | KDRI_MONTH_FIRST);
	if (e->dates < e->cells - e->missing)
		return not_all(d, j, true);
	role->order = order                                              ? order
	              : e->orders == (KDRI_DAY_FIRST | KDRI_MONTH_FIRST) ? KDRI_DAY_FIRST
	                                                                 : e->orders;
	if (order ? (e->orders & order) != 0
	          : e->orders != 0 && !(e->either && e->orders == (KDRI_DAY_FIRST | KDRI_MONTH_FIRST)))
		return KDR_OK;
	snprintf(
	        then, sizeof then,
	        "specify the order with --columns '%.60s:dmy' or '%.60s:mdy', or skip the column with '%.60s:text'",
	        name, name, name);
	return kdri_finding_add(
	        d->ctx, d->findings, e->text_line, true, then,
	        e->orders ? "%s: dates such as '%.40s' are ambiguous: day first or month first"
	                  : "%s: dates such as '%.40s' are not all in the same order of day and month",
	        kdri_place(d->l, e->text_line, j, place), e->text);
}

/* Words such as none are texts of a category if no cell is empty, or if they are frequent; otherwise they are missing values. */
static kdr_status take_words(const decision *d, int64_t j)
{
	enum { FREQUENT = 50 }; /* more than one of 50 cells */
	kdri_evidence *e = &d->survey->fields[j];
	kdri_role *role = &d->l->roles[j];
	char title[24], then[200];
	const char *name = kdri_csv_title(d->l, j, title);
	int64_t index;
	role->words = e->words > 0 && (e->missing == e->words || e->words * FREQUENT > e->cells);
	if (e->words > 0 && !role->words) {
		snprintf(then, sizeof then, "use --recode '%.60s:%.40s=NEW' to make it a category", name,
		         e->word_texts.names[0]);
		KDRI_DO(kdri_finding_add(d->ctx, d->findings, 0, false, then,
		                         "column '%.60s': '%.40s' is treated as missing (%lld of %lld cells)",
		                         name, e->word_texts.names[0], (long long)e->words,
		                         (long long)e->cells));
	}
	for (int64_t i = 0; role->words && i < e->word_texts.count; i++)
		KDRI_DO(kdri_names_add(d->ctx, &e->texts, e->word_texts.names[i],
		                       strlen(e->word_texts.names[i]), &index));
	role->missing -= role->words ? e->words : 0;
	role->constant = e->texts.count == 1 && role->missing == 0;
	return KDR_OK;
}

static kdr_status take_category(const decision *d, int64_t j)
{
	kdri_evidence *e = &d->survey->fields[j];
	kdri_role *role = &d->l->roles[j];
	char place[160], title[24], then[300];
	role->kind = KDR_COLUMN_CATEGORY;
	if (e->many || e->texts.count == 0) {
		const char *name = kdri_csv_title(d->l, j, title);
		snprintf(then, sizeof then, "use --columns '%.60s:text' to skip it", name);
		return kdri_finding_add(
		        d->ctx, d->findings, 0, true, then,
		        e->texts.count
		                ? "%s has long texts, or more than 256 different ones, which is too many for a category"
		                : "%s has no text for a category",
		        kdri_place(d->l, 0, j, place));
	}
	KDRI_DO(take_words(d, j));
	role->texts = e->texts; /* the evidence has served */
	e->texts = (kdri_names){ 0 };
	snprintf(role->why, sizeof role->why, "%lld different text%s", (long long)role->texts.count,
	         role->texts.count == 1 ? "" : "s");
	if (e->words > 0) {
		const size_t used = strlen(role->why);
		snprintf(role->why + used, sizeof role->why - used,
		         role->words ? ", '%.20s' is one" : "; '%.20s' is missing (%lld)",
		         e->word_texts.names[0], (long long)e->words);
	}
	return KDR_OK;
}

/* Whether most texts are numbers with a unit, such as "76 min". */
static bool has_units(const kdri_evidence *e)
{
	int64_t found = 0;
	for (int64_t i = 0; i < e->texts.count; i++) {
		const char *text = e->texts.names[i], *unit = text + strspn(text, "+-0123456789.,' ");
		found += strcspn(text, "0123456789") < (size_t)(unit - text) && *unit && strlen(unit) <= 8 &&
		         unit[strcspn(unit, " 0123456789")] == '\0';
	}
	return found > 0 && 5 * found >= 4 * e->texts.count;
}

static void take_text(const decision *d, int64_t j)
{
	const kdri_evidence *e = &d->survey->fields[j];
	kdri_role *role = &d->l->roles[j];
	role->kind = KDR_COLUMN_TEXT;
	if (has_units(e))
		snprintf(role->why, sizeof role->why, "numbers with a unit, such as %.40s",
		         e->texts.names[0]);
	else if (!e->repeats && !e->unwatched && e->missing == 0)
		snprintf(role->why, sizeof role->why, "different in every row");
	else if (e->many)
		snprintf(role->why, sizeof role->why, "long texts, or more than %d different ones",
		         KDRI_TEXTS_MOST);
	else
		snprintf(role->why, sizeof role->why, "%lld different texts in %lld rows",
		         (long long)e->texts.count, (long long)e->cells);
}

static kdr_status take_kind(const decision *d, int64_t j, int kind, unsigned order)
{
	const kdri_evidence *e = &d->survey->fields[j];
	kdri_role *role = &d->l->roles[j];
	if (e->cells == e->missing && kind != KDR_COLUMN_ID && kind != KDR_COLUMN_TEXT) {
		role->kind = KDR_COLUMN_EMPTY;
		snprintf(role->why, sizeof role->why, "all values are missing");
		return KDR_OK;
	}
	switch (kind) {
	case KDR_COLUMN_NUMBER:
		role->kind = KDR_COLUMN_NUMBER;
		return e->numbers < e->cells - e->missing ? not_all(d, j, false) : KDR_OK;
	case KDR_COLUMN_DATE: return take_date(d, j, order);
	case KDR_COLUMN_CATEGORY: return take_category(d, j);
	case KDR_COLUMN_TEXT: take_text(d, j); return KDR_OK;
	default: role->kind = (kdr_column_kind)kind; return KDR_OK;
	}
}

/* Digits with leading zeros, such as post codes: they name something. */
static const char codes[] = "leading zeros, ";

static kdr_status find_kind_of_codes(const decision *d, int64_t j, bool keep)
{
	const kdri_evidence *e = &d->survey->fields[j];
	kdri_role *role = &d->l->roles[j];
	int64_t present = e->cells - e->missing, different = e->texts.count;
	if (e->many || different > CATEGORIES_MOST || different == present) {
		if (keep) /* too many for a category: the numbers they are */
			return KDR_OK;
		take_text(d, j);
		snprintf(role->why, sizeof role->why, "%s%s", codes,
		         different == present ? "different in every row" : "many different codes");
		return KDR_OK;
	}
	kdr_status st = take_category(d, j);
	if (st == KDR_OK && role->texts.count > 0)
		snprintf(role->why, sizeof role->why, "%s%lld different code%s", codes, (long long)different,
		         different == 1 ? "" : "s");
	return st;
}

/* A column without a specification. */
static kdr_status find_kind(const decision *d, int64_t j, bool keep)
{
	const kdri_evidence *e = &d->survey->fields[j];
	kdri_role *role = &d->l->roles[j];
	int64_t present = e->cells - e->missing, rows = d->survey->rows;
	bool unique = !e->repeats && !e->unwatched && e->missing == 0 && rows > 1;
	if (present == 0) {
		role->kind = KDR_COLUMN_EMPTY;
		snprintf(role->why, sizeof role->why, "all values are missing");
		return KDR_OK;
	}
	if (e->numbers == present) {
		role->kind = KDR_COLUMN_NUMBER;
		if (!keep && e->running && rows >= KDRI_RUNNING_LEAST)
			snprintf(role->why, sizeof role->why, "consecutive numbers");
		else if (!keep && e->named_ids && e->whole && unique)
			snprintf(role->why, sizeof role->why, "unique whole numbers");
		else if (e->padded && e->digits)
			return find_kind_of_codes(d, j, keep);
		else
			return KDR_OK;
		role->kind = KDR_COLUMN_ID;
		return KDR_OK;
	}
	if (e->dates == present)
		return take_date(d, j, 0);
	if (unique && e->named_ids && !keep) {
		role->kind = KDR_COLUMN_ID;
		snprintf(role->why, sizeof role->why, "different in every row");
		return KDR_OK;
	}
	if (2 * e->numbers >= present || 2 * e->dates >= present)
		return 2 * e->numbers >= present ? not_all(d, j, false) : not_all(d, j, true);
	if (unique && !keep && !has_units(e)) {
		role->kind = KDR_COLUMN_ID;
		snprintf(role->why, sizeof role->why, "different in every row");
		return KDR_OK;
	}
	if (is_category(e) || keep)
		return take_category(d, j);
	take_text(d, j);
	return KDR_OK;
}

/* One of the columns that could be row names is chosen: other columns of text become text, and the rest are
 * skipped. */
static void choose_ids(const decision *d, bool specified)
{
	kdri_csv_layout *l = d->l;
	int64_t best = specified ? l->id : -1, most = 0, features = 0;
	for (int64_t j = 0; j < l->fields; j++) {
		const kdri_evidence *e = &d->survey->fields[j];
		kdr_column_kind kind = l->roles[j].kind;
		features +=
		        kind == KDR_COLUMN_NUMBER || kind == KDR_COLUMN_CATEGORY || kind == KDR_COLUMN_DATE;
		int64_t rank = kind != KDR_COLUMN_ID ? 0 : 1 + 2 * e->named_ids + (e->numbers == 0);
		if (!specified && rank > most) {
			best = j;
			most = rank;
		}
	}
	const bool none = features == 0;
	for (int64_t j = 0; j < l->fields; j++) {
		const kdri_evidence *e = &d->survey->fields[j];
		if (none && l->roles[j].kind == KDR_COLUMN_TEXT &&
		    strncmp(l->roles[j].why, codes, strlen(codes)) == 0) {
			l->roles[j].kind = KDR_COLUMN_NUMBER; /* fixed-width numbers, and nothing else */
			l->roles[j].why[0] = '\0';
			features++;
		}
		if (l->roles[j].kind != KDR_COLUMN_ID || j == l->id)
			continue;
		if (features == 0 && e->numbers > 0) { /* the only numbers */
			l->roles[j].kind = KDR_COLUMN_NUMBER;
			l->roles[j].why[0] = '\0';
			best = best == j ? -1 : best;
			features++;
		} else if (j != best && e->numbers == 0) {
			take_text(d, j);
		}
	}
	l->id = best;
}

bool kdri_are_prose(char *const *texts, int64_t n)
{
	enum { LEAST = 5, WORDS = 5, LENGTH = 30 };
	int64_t words = 0, length = 0;
	for (int64_t i = 0; i < n; i++) {
		const char *text = texts[i];
		length += (int64_t)strlen(text);
		words++;
		for (; *text; text++)
			words += *text == ' ';
	}
	return n >= LEAST && words >= WORDS * n && length >= LENGTH * n;
}

/* Nearly all different, and of several words each. */
static bool is_prose(const kdri_evidence *e)
{
	const int64_t n = e->texts.count;
	return kdri_are_prose(e->texts.names, n) &&
	       (n >= KDRI_TEXTS_MOST || 10 * n >= 8 * (e->cells - e->missing));
}

/* Such texts would be skipped, or taken as row names, and the clusters be those of the few columns beside them. */
static kdr_status check_prose(const decision *d, const kdri_column_specs *specs)
{
	enum { FEW = 3 };
	const kdri_csv_layout *l = d->l;
	int64_t prose = -1, others = 0;
	char title[24], place[160], then[300], names[160] = "";
	for (int64_t j = 0; j < l->fields; j++) {
		const kdri_role *role = &l->roles[j];
		if ((role->kind == KDR_COLUMN_TEXT || (role->kind == KDR_COLUMN_ID && !role->asked)) &&
		    prose < 0 && is_prose(&d->survey->fields[j]))
			prose = j;
		if (role->kind != KDR_COLUMN_NUMBER && role->kind != KDR_COLUMN_CATEGORY &&
		    role->kind != KDR_COLUMN_DATE)
			continue;
		others++;
		kdri_list_add(names, sizeof names, "'%.40s'", kdri_csv_title(l, j, title));
	}
	if (prose < 0 || others == 0 || others > FEW || specs->count > 0 || specs->numbers ||
	    d->options->terms)
		return KDR_OK;
	const char *name = kdri_csv_text_column(l, prose, title);
	snprintf(
	        then, sizeof then,
	        "use --text-column '%.60s' to compare the texts, or --columns '%.60s:text' to use only the other columns",
	        name, name);
	return kdri_finding_add(d->ctx, d->findings, 0, true, then,
	                        "%s has long texts; the other columns are %s", kdri_place(l, 0, prose, place),
	                        names);
}

static kdr_status decide_all(const decision *d, const kdri_column_specs *specs,
                             const kdri_column_spec *const *spec)
{
	kdri_csv_layout *l = d->l;
	bool id_specified = l->id >= 0;
	for (int64_t j = 0; j < l->fields; j++) {
		kdri_role *role = &l->roles[j];
		const kdri_column_spec *w = spec[j];
		role->asked = w && !w->leave;
		role->missing = d->survey->fields[j].missing;
		role->constant = d->survey->fields[j].texts.count == 1 && role->missing == 0;
		if (j == l->label) {
			role->kind = KDR_COLUMN_LABEL;
		} else if (j == l->tasks) {
			role->kind = KDR_COLUMN_LEFT_OUT;
			snprintf(role->why, sizeof role->why, "task column");
		} else if (j == l->id) {
			role->kind = KDR_COLUMN_ID;
		} else if (w ? w->leave : specs->only) {
			role->kind = KDR_COLUMN_LEFT_OUT;
			snprintf(role->why, sizeof role->why, "as specified");
		} else if (w && w->kind >= 0) {
			KDRI_DO(take_kind(d, j, w->kind, w->order));
			if (w->kind == KDR_COLUMN_ID && l->id < 0)
				l->id = j;
			id_specified = id_specified || w->kind == KDR_COLUMN_ID;
		} else if (!w && specs->numbers) {
			KDRI_DO(take_kind(d, j, KDR_COLUMN_NUMBER, 0));
		} else {
			KDRI_DO(find_kind(d, j, w && (w->keep || !w->leave)));
		}
	}
	choose_ids(d, id_specified);
	return id_specified && l->id >= 0 && is_prose(&d->survey->fields[l->id]) ? KDR_OK
	                                                                         : check_prose(d, specs);
}

/* An error: there is nothing to compute with. */
static kdr_status no_columns(const decision *d, const char *path)
{
	const kdri_csv_layout *l = d->l;
	char title[24], place[160], names[160] = "", what[200] = "none has values";
	char then[200] = "specify the columns to use with --columns";
	for (int64_t j = l->fields - 1; j >= 0; j--)
		if (l->roles[j].kind == KDR_COLUMN_TEXT ||
		    (l->roles[j].kind == KDR_COLUMN_ID && l->fields == 1)) {
			snprintf(what, sizeof what, "%s is free text", kdri_place(l, 0, j, place));
			snprintf(
			        then, sizeof then,
			        l->header
			                ? "use --text-column '%.60s' to count its words"
			                : "use --text-column %.60s to count its words, or its title if the first row has titles",
			        kdri_csv_text_column(l, j, title));
		}
	for (int64_t j = 0; j < KDRI_MIN(l->fields, 3); j++)
		kdri_list_add(names, sizeof names, "'%.40s'", kdri_csv_title(l, j, title));
	if (d->options->terms)
		return kdri_fail(
		        d->ctx, KDR_ERR_DATA,
		        "%s has none of the model's columns: it has %s%s, the model '%.40s'%s; use --rename OLD=NEW",
		        path, names, l->fields > 3 ? ", ..." : "", d->options->terms[0],
		        d->options->nterms > 1 ? ", ..." : "");
	return kdri_finding_add(d->ctx, d->findings, 0, true, then, "no usable column: %s", what);
}

kdr_status kdri_kinds_decide(kdr_context *ctx, const char *path, const kdr_read_options *options,
                             const kdri_column_specs *specs, kdri_survey *survey, kdri_csv_layout *l,
                             kdr_findings *findings)
{
	kdr_status st;
	const kdri_column_spec **spec = NULL;
	decision d = { ctx, options, survey, l, findings };
	char place[160];
	if (survey->unclosed_line)
		KDRI_TRY(kdri_finding_add(ctx, findings, survey->unclosed_line, true, "fix the file",
		                          "line %lld: missing closing quote",
		                          (long long)survey->unclosed_line));
	if (survey->ragged)
		KDRI_TRY(kdri_finding_add(
		        ctx, findings, survey->ragged_line, true,
		        "fix the file, or set the separator with --delimiter",
		        "line %lld has %lld field%s, expected %lld (%lld such line%s in the file)",
		        (long long)survey->ragged_line, (long long)survey->ragged_fields,
		        survey->ragged_fields == 1 ? "" : "s", (long long)l->fields,
		        (long long)survey->ragged, survey->ragged == 1 ? "" : "s"));
	if (survey->torn)
		KDRI_TRY(kdri_finding_add(
		        ctx, findings, survey->torn_line, true, "fix the file",
		        "%s: unexpected text after the closing quote (%lld such cell%s in the file)",
		        kdri_place(l, survey->torn_line, survey->torn_field, place), (long long)survey->torn,
		        survey->torn == 1 ? "" : "s"));
	KDRI_TRY(kdri_column_specs_match(ctx, path, specs, l, &spec));
	KDRI_TRY(KDRI_NEW0(ctx, &l->roles, l->fields));
	if (l->guessed) /* a guess by the first rows: now all are known */
		l->id = -1;
	KDRI_TRY(decide_all(&d, specs, spec));
	l->dressed = true;
	KDRI_TRY(kdri_roles_settle(ctx, l));
	KDRI_TRY(kdri_decimals_decide(ctx, survey, l, findings));
	if (l->cols < 1)
		KDRI_TRY(no_columns(&d, path));
done:
	kdri_free(ctx, spec);
	return st;
}
