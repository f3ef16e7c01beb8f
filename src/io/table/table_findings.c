/* Lists findings about a table. SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "io/table/table.h"

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
		        name, name);
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
		                         refused ? kdri_missing_help : "handled as specified with --missing",
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
