/* Fields and their roles: what the readers of tables share. SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "io/table/named.h"
#include "io/table/table.h"

const char kdri_missing_help[] = "--missing zero, mean, median, drop-row or drop-column says what to do";

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
	kdr_status st = KDR_OK;
	if (!l->how)
		KDRI_TRY(KDRI_NEW(ctx, &l->how, l->fields));
	if (!l->points)
		KDRI_TRY(KDRI_NEW(ctx, &l->points, l->fields));
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
done:
	return st;
}

kdr_status kdri_wishes_match(kdr_context *ctx, const char *path, const kdri_wishes *wishes,
                             const kdri_csv_layout *l, const kdri_wish ***out)
{
	kdr_status st;
	const kdri_wish **wish = NULL;
	kdri_names titles = { .borrows = true };
	int64_t *field = NULL, index;
	kdri_named *named = ctx->named;
	if (named && !named->found)
		KDRI_TRY(KDRI_NEW0(ctx, &named->found, wishes->count));
	KDRI_TRY(kdri_calloc(ctx, &wish, l->fields, sizeof *wish));
	KDRI_TRY(KDRI_NEW(ctx, &field, l->fields));
	/* By a table: a model may name thousands. Of equal titles the first is meant. */
	for (int64_t j = 0; l->names && wishes->count > 0 && j < l->fields; j++) {
		int64_t before = titles.count;
		KDRI_TRY(kdri_names_add(ctx, &titles, l->names[j], strlen(l->names[j]), &index));
		if (index == before)
			field[index] = j;
	}
	for (int64_t i = 0; i < wishes->count; i++) {
		const kdri_wish *w = &wishes->items[i];
		int64_t at = kdri_names_find(&titles, w->name);
		at = at >= 0 ? field[at] : l->names && w->optional ? -1 : kdri_csv_field(l, w->name);
		if (named)
			named->found[i] = named->found[i] || at >= 0;
		if (at >= 0) {
			wish[at] = w;
		} else if (!w->optional && !(named && named->several)) {
			st = kdri_csv_no_column(ctx, path, l, w->name, "");
			goto done;
		}
	}
	*out = wish;
	wish = NULL;
done:
	kdri_names_free(ctx, &titles);
	kdri_free(ctx, field);
	kdri_free(ctx, wish);
	return st;
}

kdr_status kdri_kinds_plain(kdr_context *ctx, const char *path, const kdri_wishes *wishes, kdri_csv_layout *l,
                            bool *plain)
{
	kdr_status st;
	const kdri_wish **wish = NULL;
	*plain = true;
	KDRI_TRY(kdri_wishes_match(ctx, path, wishes, l, &wish));
	KDRI_TRY(KDRI_NEW0(ctx, &l->roles, l->fields));
	for (int64_t j = 0; j < l->fields; j++) {
		const kdri_wish *w = wish ? wish[j] : NULL;
		bool number = w && !w->leave && (w->kind < 0 || w->kind == KDR_COLUMN_NUMBER);
		/* What is told of the guessed names undoes the guess. */
		if (j == l->id && l->guessed && (w || wishes->only || wishes->numbers))
			*plain = false;
		l->roles[j].kind = j == l->id      ? KDR_COLUMN_ID
		                   : j == l->label ? KDR_COLUMN_LABEL
		                   : j == l->tasks ? KDR_COLUMN_LEFT_OUT
		                                   : KDR_COLUMN_NUMBER;
		if (j == l->tasks)
			snprintf(l->roles[j].why, sizeof l->roles[j].why, "the tasks");
		if (j == l->id || j == l->label || j == l->tasks || number)
			continue;
		if (w ? w->leave : wishes->only) {
			l->roles[j].kind = KDR_COLUMN_LEFT_OUT;
			snprintf(l->roles[j].why, sizeof l->roles[j].why, "as told");
		} else if (w) {
			*plain = false; /* a kind that only the whole column can tell */
		}
	}
	KDRI_TRY(kdri_roles_settle(ctx, l));
	*plain = *plain && l->cols > 0;
done:
	kdri_free(ctx, wish);
	return st;
}

void kdri_missing_text(const kdri_csv_layout *l, int64_t line, int64_t field, char *text, size_t room)
{
	int64_t cells = 0, columns = 0, told = 0;
	char list[200] = "", title[24], place[160];
	for (int64_t j = 0; j < l->fields; j++) {
		const kdri_role *role = &l->roles[j];
		if (role->features == 0 || role->missing == 0)
			continue;
		cells += role->missing;
		columns++;
		if (told < 6 && strlen(list) + 60 < sizeof list) {
			kdri_list_add(list, sizeof list, "%.32s (%lld)", kdri_csv_title(l, j, title),
			              (long long)role->missing);
			told++;
		}
	}
	const size_t used =
	        (size_t)snprintf(text, room, "%s: the cell has no value", kdri_place(l, line, field, place));
	if (cells > 1 && used < room)
		snprintf(text + used, room - used, "; %lld cells have none, in column%s %s%s",
		         (long long)cells, columns == 1 ? "" : "s", list,
		         told < columns ? " and others" : "");
}
