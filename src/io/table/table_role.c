/* Fields and their roles: what the readers of tables share. SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>

#include "core/numbers.h"
#include "io/table/table.h"

kdr_status kdri_roles_settle(kdr_context *ctx, kdri_csv_layout *l)
{
	if (!l->how)
		KDRI_DO(KDRI_NEW(ctx, &l->how, l->fields));
	if (!l->points)
		KDRI_DO(KDRI_NEW(ctx, &l->points, l->fields));
	l->cols = 0;
	for (int64_t j = 0; j < l->fields; j++) {
		kdri_role *role = &l->roles[j];
		bool text = j == l->id || j == l->label || j == l->tasks;
		role->features = role->kind == KDR_COLUMN_NUMBER || role->kind == KDR_COLUMN_DATE ? 1
		                 : role->kind == KDR_COLUMN_CATEGORY ? role->texts.count
		                                                     : 0;
		l->cols += role->features;
		l->points[j] = l->point;
		l->how[j] = text                                ? KDRI_HOW_TEXT
		            : role->kind == KDR_COLUMN_NUMBER   ? KDRI_HOW_NUMBER
		            : role->kind == KDR_COLUMN_DATE     ? KDRI_HOW_DATE
		            : role->kind == KDR_COLUMN_CATEGORY ? KDRI_HOW_CATEGORY
		                                                : KDRI_HOW_SKIP;
	}
	return KDR_OK;
}

kdr_status kdri_column_specs_match(kdr_context *ctx, const char *path, const kdri_column_specs *specs,
                                   const kdri_csv_layout *l, const kdri_column_spec ***out)
{
	kdr_status st;
	const kdri_column_spec **spec = NULL;
	kdri_names titles = { .borrows = true };
	int64_t *field = NULL, index;
	kdri_named *named = ctx->named;
	if (named && !named->found)
		KDRI_TRY(KDRI_NEW0(ctx, &named->found, specs->count));
	KDRI_TRY(kdri_calloc(ctx, &spec, l->fields, sizeof *spec));
	KDRI_TRY(KDRI_NEW(ctx, &field, l->fields));
	/* By a table: a model may name thousands. Of equal titles the first is meant. */
	for (int64_t j = 0; l->names && specs->count > 0 && j < l->fields; j++) {
		int64_t before = titles.count;
		KDRI_TRY(kdri_names_add(ctx, &titles, l->names[j], strlen(l->names[j]), &index));
		if (index == before)
			field[index] = j;
	}
	for (int64_t i = 0; i < specs->count; i++) {
		const kdri_column_spec *w = &specs->items[i];
		int64_t at = kdri_names_find(&titles, w->name);
		at = at >= 0 ? field[at] : l->names && w->optional ? -1 : kdri_csv_field(l, w->name);
		if (named)
			named->found[i] = named->found[i] || at >= 0;
		if (at >= 0) {
			spec[at] = w;
		} else if (!w->optional && !(named && named->several)) {
			st = kdri_csv_no_column(ctx, path, l, w->name, "");
			goto done;
		}
	}
	*out = spec;
	spec = NULL;
done:
	kdri_names_free(ctx, &titles);
	KDRI_FREE(ctx, field, spec);
	return st;
}

kdr_status kdri_kinds_plain(kdr_context *ctx, const char *path, const kdri_column_specs *specs,
                            kdri_csv_layout *l, bool *plain)
{
	kdr_status st;
	const kdri_column_spec **spec = NULL;
	*plain = true;
	KDRI_TRY(kdri_column_specs_match(ctx, path, specs, l, &spec));
	KDRI_TRY(KDRI_NEW0(ctx, &l->roles, l->fields));
	for (int64_t j = 0; j < l->fields; j++) {
		const kdri_column_spec *w = spec ? spec[j] : NULL;
		bool number = w && !w->leave && (w->kind < 0 || w->kind == KDR_COLUMN_NUMBER);
		/* An option that names the guessed column of row names overrides the guess. */
		if (j == l->id && l->guessed && (w || specs->only || specs->numbers))
			*plain = false;
		l->roles[j].kind = j == l->id      ? KDR_COLUMN_ID
		                   : j == l->label ? KDR_COLUMN_LABEL
		                   : j == l->tasks ? KDR_COLUMN_LEFT_OUT
		                                   : KDR_COLUMN_NUMBER;
		l->roles[j].asked = w && !w->leave;
		if (j == l->tasks)
			snprintf(l->roles[j].why, sizeof l->roles[j].why, "task column");
		if (j == l->id || j == l->label || j == l->tasks || number)
			continue;
		if (w ? w->leave : specs->only) {
			l->roles[j].kind = KDR_COLUMN_LEFT_OUT;
			snprintf(l->roles[j].why, sizeof l->roles[j].why, "as specified");
		} else if (w) {
			*plain = false; /* a kind that needs the entire column */
		}
	}
	KDRI_TRY(kdri_roles_settle(ctx, l));
	*plain = *plain && l->cols > 0;
done:
	kdri_free(ctx, spec);
	return st;
}

/* Row names among columns of numbers.
 *
 * A table of plain numbers has been read in one pass. A column that counts its rows, or one with a title such as id
 * and distinct integers, is not a feature: the table is then read again with that column as row names, so that they
 * are exactly as in the file (007 is not 7). */

static bool counts(const kdri_csv_table *t, int64_t cols, int64_t k)
{
	const double *x = t->values + k;
	bool running = t->rows >= KDRI_RUNNING_LEAST && (x[0] == 0 || x[0] == 1);
	for (int64_t i = 1; i < t->rows && running; i++)
		running = x[i * cols] == x[0] + (double)i;
	return running;
}

/* Whether all values are integers and no two are equal. */
static kdr_status all_different(kdr_context *ctx, const kdri_csv_table *t, int64_t cols, int64_t k, bool *out)
{
	kdr_status st;
	double *sorted = NULL;
	bool different = t->rows > 1;
	KDRI_TRY(KDRI_NEW(ctx, &sorted, t->rows));
	for (int64_t i = 0; i < t->rows && different; i++) {
		sorted[i] = t->values[i * cols + k];
		different = sorted[i] == floor(sorted[i]);
	}
	if (different)
		qsort(sorted, (size_t)t->rows, sizeof *sorted, kdri_compare_doubles);
	for (int64_t i = 1; i < t->rows && different; i++)
		different = sorted[i] != sorted[i - 1];
	*out = different;
done:
	kdri_free(ctx, sorted);
	return st;
}

kdr_status kdri_table_find_ids(kdr_context *ctx, const char *path, const kdri_column_specs *specs,
                               kdri_csv_layout *l, const kdri_csv_table *t, bool *found)
{
	kdr_status st;
	const kdri_column_spec **spec = NULL;
	int64_t cols = l->cols, left = l->cols, k = 0, best = -1;
	bool best_named = false, different;
	*found = false;
	if (specs->numbers)
		return KDR_OK;
	KDRI_TRY(kdri_column_specs_match(ctx, path, specs, l, &spec));
	for (int64_t j = 0; j < l->fields; j++) {
		kdri_role *role = &l->roles[j];
		if (role->features == 0)
			continue;
		const bool specified = spec && spec[j], named = l->names && kdri_name_of_ids(l->names[j]),
		           running = !specified && counts(t, cols, k);
		different = false;
		if (!specified && !running && named)
			KDRI_TRY(all_different(ctx, t, cols, k, &different));
		k++;
		if ((!running && !different) || left == 1) /* something has to be left to work with */
			continue;
		role->kind = KDR_COLUMN_ID;
		snprintf(role->why, sizeof role->why, "%s",
		         running ? "consecutive numbers" : "unique whole numbers");
		left--;
		if (best < 0 || (named && !best_named)) {
			best = j;
			best_named = named;
		}
	}
	if (best >= 0) {
		if (l->id < 0)
			l->id = best;
		KDRI_TRY(kdri_roles_settle(ctx, l));
		*found = true;
	}
done:
	kdri_free(ctx, spec);
	return st;
}

kdr_status kdri_ids_differ(kdr_context *ctx, const kdri_csv_table *t, bool *out)
{
	kdr_status st = KDR_OK;
	kdri_names names = { .borrows = true };
	int64_t index;
	*out = true;
	for (int64_t i = 0; i < t->rows && *out; i++) {
		KDRI_TRY(kdri_names_add(ctx, &names, t->ids[i], strlen(t->ids[i]), &index));
		*out = index == i;
	}
done:
	kdri_names_free(ctx, &names);
	return st;
}

/* The description of a table's columns that a data set keeps. */

static bool is_constant(const kdri_csv_table *t, int64_t cols, int64_t k)
{
	for (int64_t i = 1; i < t->rows; i++)
		if (t->values[i * cols + k] != t->values[k])
			return false;
	return true;
}

static kdr_status describe_field(kdr_context *ctx, kdri_csv_layout *l, const kdri_csv_table *t, int64_t j,
                                 int64_t k, kdr_column *c)
{
	kdri_role *role = &l->roles[j];
	char title[24], *name = NULL, *why = NULL;
	if (role->kind == KDR_COLUMN_DATE)
		kdri_days_text(role->origin, role->why, sizeof role->why);
	if (role->features == 1 && !t->part)
		role->constant = is_constant(t, l->cols, k);
	*c = (kdr_column){ .number = j + 1,
		           .kind = role->kind,
		           .features = role->features,
		           .missing = role->missing,
		           .constant = role->constant };
	KDRI_DO(kdri_strdup(ctx, kdri_csv_title(l, j, title), &name));
	c->name = name;
	KDRI_DO(kdri_strdup(ctx, role->why, &why));
	c->why = why;
	return KDR_OK;
}

kdr_status kdri_table_describe(kdr_context *ctx, const kdr_read_options *o, kdri_csv_layout *l,
                               const kdri_csv_table *t, kdri_sheet *s)
{
	int64_t k = 0;
	KDRI_DO(KDRI_NEW0(ctx, &s->columns, l->fields));
	KDRI_DO(KDRI_NEW0(ctx, &s->origin, l->fields));
	KDRI_DO(KDRI_NEW0(ctx, &s->order, l->fields));
	KDRI_DO(KDRI_NEW0(ctx, &s->asked, l->fields));
	KDRI_DO(KDRI_NEW(ctx, &s->source, l->cols));
	s->ncolumns = l->fields;
	s->nfeatures = l->cols;
	s->latin = l->latin && !o->encoding;
	s->header = l->header;
	for (int64_t j = 0; j < l->fields; j++) {
		KDRI_DO(describe_field(ctx, l, t, j, k, &s->columns[j]));
		s->origin[j] = l->roles[j].origin;
		s->asked[j] = l->roles[j].asked;
		if (l->roles[j].kind == KDR_COLUMN_DATE && l->roles[j].ordered)
			s->order[j] = l->roles[j].order;
		for (int64_t f = 0; f < l->roles[j].features; f++)
			s->source[k++] = j;
	}
	if (o->missing)
		KDRI_DO(kdri_strdup(ctx, o->missing, &s->missing));
	int64_t tokens = 0;
	while (o->na && o->na[tokens])
		tokens++;
	KDRI_DO(kdri_strings_copy(ctx, o->na, tokens, &s->na));
	s->nna = tokens;
	return kdri_named_keep(ctx, s);
}

kdr_status kdri_table_titles(kdr_context *ctx, const kdri_csv_layout *l, kdri_sheet *s)
{
	char title[24], *text = NULL;
	KDRI_DO(KDRI_NEW0(ctx, &s->columns, l->fields));
	s->ncolumns = l->fields;
	for (int64_t j = 0; j < l->fields; j++) {
		s->columns[j] = (kdr_column){ .number = j + 1, .kind = KDR_COLUMN_EMPTY };
		KDRI_DO(kdri_strdup(ctx, kdri_csv_title(l, j, title), &text));
		s->columns[j].name = text;
		KDRI_DO(kdri_strdup(ctx, "", &text));
		s->columns[j].why = text;
	}
	return KDR_OK;
}
