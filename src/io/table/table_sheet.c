/* The description of a table's columns that a data set keeps. SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "io/table/table.h"

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
	KDRI_DO(KDRI_NEW(ctx, &s->source, l->cols));
	s->ncolumns = l->fields;
	s->nfeatures = l->cols;
	s->latin = l->latin && !o->encoding;
	s->header = l->header;
	for (int64_t j = 0; j < l->fields; j++) {
		KDRI_DO(describe_field(ctx, l, t, j, k, &s->columns[j]));
		s->origin[j] = l->roles[j].origin;
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
	return KDR_OK;
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
