/* Places and findings in tables, and policies for missing values. SPDX-License-Identifier: BSD-3-Clause */
#include "io/table/table.h"

#include <stdio.h>

const char kdri_missing_help[] = "use --missing zero, mean, median, drop-row or drop-column";

const char *const kdri_missing_names[] = { "error",    "zero",        "mean", "median",
	                                   "drop-row", "drop-column", "keep", NULL };

kdr_status kdri_missing_read(kdr_context *ctx, const char *text, kdri_missing *out)
{
	char list[100] = "";
	const int i = text ? kdri_word_index(kdri_missing_names, text) : KDRI_MISSING_ERROR;
	*out = (kdri_missing)KDRI_MAX(i, 0);
	if (i >= 0)
		return KDR_OK;
	for (const char *const *name = kdri_missing_names; *name; name++)
		kdri_list_add(list, sizeof list, "%s", *name);
	return kdri_fail(ctx, KDR_ERR_OPTION, "missing: '%s' is not valid; use one of: %s", text, list);
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

kdr_status kdri_finding_add(kdr_context *ctx, kdr_findings *list, int64_t line, bool fatal, const char *then,
                            const char *format, ...)
{
	kdr_status st;
	char text[480], *found = NULL, *what = NULL;
	va_list args;
	va_start(args, format);
	kdri_vsnprintf(text, sizeof text, format, args);
	va_end(args);
	kdri_one_line(text);
	KDRI_TRY(kdri_strdup(ctx, text, &found));
	KDRI_TRY(kdri_strdup(ctx, then, &what));
	KDRI_TRY(KDRI_GROW(ctx, &list->items, list->count + 1));
	list->items[list->count++] = (kdr_finding){ line, found, what, fatal };
	found = what = NULL;
done:
	KDRI_FREE(ctx, found, what);
	return st;
}

void kdr_findings_free(kdr_findings *list)
{
	if (!list)
		return;
	kdr_allocator a = list->allocator;
	for (int64_t i = 0; i < list->count; i++) {
		KDRI_FREE_WITH(&a, (char *)list->items[i].found, (char *)list->items[i].then);
	}
	KDRI_FREE_WITH(&a, list->items, list);
}

const kdr_finding *kdr_findings_at(const kdr_findings *list, int64_t index)
{
	return list && index >= 0 && index < list->count ? &list->items[index] : NULL;
}

/* The treatment of a column that is not a plain number, and how to change it. */
static kdr_status remark_column(kdr_context *ctx, const kdri_csv_layout *l, int64_t j, kdr_findings *findings)
{
	const kdri_role *role = &l->roles[j];
	char place[160], then[300], title[24];
	const char *name = kdri_csv_title(l, j, title);
	kdri_place(l, 0, j, place);
	switch (role->kind) {
	case KDR_COLUMN_ID:
		snprintf(then, sizeof then, "%s; use --columns '+%.60s' to make it a feature",
		         j == l->id ? "used as row names" : "skipped", name);
		break;
	case KDR_COLUMN_CATEGORY:
		snprintf(then, sizeof then,
		         "becomes one feature per value; use --columns '-%.60s' to skip it", name);
		break;
	case KDR_COLUMN_DATE:
		snprintf(then, sizeof then,
		         "converted to days since the earliest; use --columns '-%.60s' to skip it", name);
		break;
	case KDR_COLUMN_TEXT:
		snprintf(
		        then, sizeof then,
		        "skipped; use --text-column '%.60s' to compare its words instead, or --columns '%.60s:category' to keep it",
		        kdri_csv_text_column(l, j, title), name);
		break;
	case KDR_COLUMN_EMPTY: snprintf(then, sizeof then, "skipped"); break;
	case KDR_COLUMN_NUMBER:
		if (!role->why[0])
			return KDR_OK;
		snprintf(
		        then, sizeof then,
		        "read as numbers; use --decimal to set the decimal separator, or --columns '-%.60s' to skip it",
		        name);
		break;
	default: return KDR_OK;
	}
	return kdri_finding_add(ctx, findings, 0, false, then, "%s: %s%s%s", place,
	                        role->kind == KDR_COLUMN_DATE ? "dates" : kdr_column_kind_name(role->kind),
	                        role->why[0] ? ": " : "", role->why);
}

kdr_status kdri_table_remark(kdr_context *ctx, kdri_missing policy, const kdri_survey *survey,
                             const kdri_csv_layout *l, kdr_findings *findings)
{
	char text[480];
	int64_t first = -1; /* the field with the first missing cell */
	for (int64_t j = 0; j < l->fields; j++)
		if (l->roles[j].features > 0 && l->roles[j].missing > 0 &&
		    (first < 0 || survey->fields[j].missing_line < survey->fields[first].missing_line))
			first = j;
	if (first >= 0) {
		bool refused = policy == KDRI_MISSING_ERROR;
		int64_t line = survey->fields[first].missing_line;
		kdri_missing_text(l, line, first, text, sizeof text);
		KDRI_DO(kdri_finding_add(ctx, findings, line, refused,
		                         refused ? kdri_missing_help
		                                 : kdri_missing_done(kdri_missing_names[policy]),
		                         "%s", text));
	}
	if (l->latin)
		KDRI_DO(kdri_finding_add(
		        ctx, findings, 0, false,
		        "read as Latin-1 (Windows-1252); use --encoding to specify another encoding",
		        "the text is not UTF-8"));
	for (int64_t j = 0; j < l->fields; j++)
		KDRI_DO(remark_column(ctx, l, j, findings));
	return KDR_OK;
}
