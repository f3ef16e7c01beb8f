/* Fields and their roles: what the readers of tables share. SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "io/table/named.h"
#include "io/table/table.h"

const char kdri_missing_help[] = "use --missing zero, mean, median, drop-row or drop-column";

bool kdri_name_of_ids(const char *name)
{
	static const char *const names[] = { "id",        "ids",      "nr",     "no",      "num", "index",
		                             "idx",       "uid",      "uuid",   "guid",    "row", "name",
		                             "sample",    "#",        "row_id", "rowid",   "nr.", "no.",
		                             "sample_id", "sampleid", "nummer", "barcode", NULL };
	size_t n = strlen(name);
	for (int i = 0; names[i]; i++)
		if (kdri_same_word(name, n, names[i]))
			return true;
	/* customer_id, customerId, customer-nr */
	return (n > 3 &&
	        (name[n - 3] == '_' || name[n - 3] == '-' || name[n - 3] == ' ' || name[n - 3] == '.') &&
	        (kdri_same_word(name + n - 2, 2, "id") || kdri_same_word(name + n - 2, 2, "nr"))) ||
	       (n > 2 && (strcmp(name + n - 2, "Id") == 0 || strcmp(name + n - 2, "ID") == 0 ||
	                  strcmp(name + n - 2, "Nr") == 0));
}

const char *kdri_place(const kdri_csv_layout *l, int64_t line, int64_t field, char room[160])
{
	char at[40] = "", title[68] = "";
	if (line > 0)
		snprintf(at, sizeof at, "line %lld, ", (long long)line);
	if (l->names && field < l->fields && l->names[field][0]) /* a row may be longer than the titles */
		snprintf(title, sizeof title, " (%.60s)", l->names[field]);
	snprintf(room, 160, "%scolumn %lld%s", at, (long long)field + 1, title);
	return room;
}

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

void kdri_missing_text(const kdri_csv_layout *l, int64_t line, int64_t field, char *text, size_t room)
{
	int64_t cells = 0, columns = 0, listed = 0;
	char list[200] = "", title[24], place[160];
	for (int64_t j = 0; j < l->fields; j++) {
		const kdri_role *role = &l->roles[j];
		if (role->features == 0 || role->missing == 0)
			continue;
		cells += role->missing;
		columns++;
		if (listed < 6 && strlen(list) + 60 < sizeof list) {
			kdri_list_add(list, sizeof list, "%.32s %lld", kdri_csv_title(l, j, title),
			              (long long)role->missing);
			listed++;
		}
	}
	const size_t used =
	        (size_t)snprintf(text, room, "%s: missing value", kdri_place(l, line, field, place));
	if (cells > 1 && used < room)
		snprintf(text + used, room - used, " (%lld in total: %s%s)", (long long)cells, list,
		         listed < columns ? ", ..." : "");
}
