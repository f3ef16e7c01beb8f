/* Missing values: dropped, filled, or an error. SPDX-License-Identifier: BSD-3-Clause
 *
 * The passes over the file store NaN for a missing value. A column without any value is skipped under every policy.
 * Means and medians are those of the file's own values, column by column, and do not depend on other data sets; those
 * of a category are the proportions of its texts, or 0 and 1. If the policy is one of them, they are kept for all
 * columns, because a model fills missing values of new samples with those of the training data. */
#include <stdio.h>
#include <stdlib.h>

#include "core/numbers.h"
#include "io/table/table.h"

/* The field of each column of the matrix. */
static kdr_status field_of(kdr_context *ctx, const kdri_csv_layout *l, int64_t **out)
{
	int64_t k = 0;
	kdr_status st = KDRI_NEW(ctx, out, l->cols);
	for (int64_t j = 0; st == KDR_OK && j < l->fields; j++)
		for (int64_t f = 0; f < l->roles[j].features; f++)
			(*out)[k++] = j;
	return st;
}

/* Removes the columns of fields whose role has changed. */
static kdr_status drop_columns(kdr_context *ctx, kdri_csv_layout *l, kdri_csv_table *t)
{
	kdr_status st;
	int64_t *field = NULL, cols = l->cols, to = 0;
	KDRI_TRY(field_of(ctx, l, &field));
	for (int64_t i = 0; i < t->rows; i++)
		for (int64_t k = 0; k < cols; k++) {
			kdr_column_kind kind = l->roles[field[k]].kind;
			if (kind != KDR_COLUMN_EMPTY && kind != KDR_COLUMN_LEFT_OUT)
				t->values[to++] = t->values[i * cols + k];
		}
	KDRI_TRY(kdri_roles_settle(ctx, l));
done:
	kdri_free(ctx, field);
	return st;
}

static kdr_status drop_fields(kdr_context *ctx, const char *path, kdri_missing policy, kdri_csv_layout *l,
                              kdri_csv_table *t)
{
	kdr_status st = KDR_OK;
	bool any = false;
	for (int64_t j = 0; j < l->fields; j++) {
		kdri_role *role = &l->roles[j];
		bool empty = role->features > 0 && role->missing == t->rows;
		if (role->features == 0 || role->missing == 0 ||
		    (!empty && policy != KDRI_MISSING_DROP_COLUMN))
			continue;
		role->kind = empty ? KDR_COLUMN_EMPTY : KDR_COLUMN_LEFT_OUT;
		if (empty)
			snprintf(role->why, sizeof role->why, "all values are missing");
		else
			snprintf(role->why, sizeof role->why, "%lld missing value%s",
			         (long long)role->missing, role->missing == 1 ? "" : "s");
		any = true;
	}
	if (any) {
		char *points = l->points; /* decided before: they stay */
		l->points = NULL;
		st = drop_columns(ctx, l, t);
		kdri_free(ctx, l->points);
		l->points = points;
	}
	if (st == KDR_OK && l->cols < 1)
		st = kdri_fail(ctx, KDR_ERR_DATA,
		               "%s: every column has missing values; use --missing mean or zero to fill them",
		               path);
	return st;
}

/* --- rows ------------------------------------------------------------------------------------------------ */

static void reason_of(const kdri_csv_layout *l, const double *row, char *text, size_t room)
{
	size_t used = (size_t)snprintf(text, room, "missing:");
	int64_t k = 0;
	char title[24];
	bool first = true;
	for (int64_t j = 0; j < l->fields && used + 44 < room; j++) {
		if (l->roles[j].features > 0 && isnan(row[k])) {
			used += (size_t)snprintf(text + used, room - used, "%s %.40s", first ? "" : ",",
			                         kdri_csv_title(l, j, title));
			first = false;
		}
		k += l->roles[j].features;
	}
}

kdr_status kdri_keep_names(kdr_context *ctx, int64_t rows, int64_t *of, kdri_names *names)
{
	kdr_status st = KDR_OK;
	kdri_names left = { 0 };
	for (int64_t i = 0; i < rows; i++)
		if (of[i] >= 0) {
			const char *name = names->names[of[i]];
			KDRI_TRY(kdri_names_add(ctx, &left, name, strlen(name), &of[i]));
		}
	kdri_names old = *names;
	*names = left;
	left = old;
done:
	kdri_names_free(ctx, &left);
	return st;
}

static kdr_status drop_rows(kdr_context *ctx, const char *path, const kdri_csv_layout *l, kdri_csv_table *t,
                            kdr_data *data)
{
	int64_t kept = 0, rows = t->rows;
	char reason[200];
	for (int64_t i = 0; i < rows; i++) {
		double *row = t->values + i * l->cols;
		bool hole = false;
		for (int64_t k = 0; k < l->cols; k++)
			hole |= isnan(row[k]) != 0;
		if (hole) {
			reason_of(l, row, reason, sizeof reason);
			KDRI_DO(kdri_data_leave_out(ctx, data, i + 1, t->ids ? t->ids[i] : "", reason));
			continue;
		}
		if (kept < i) {
			memcpy(t->values + kept * l->cols, row, (size_t)l->cols * sizeof *row);
			if (t->labels)
				t->labels[kept] = t->labels[i];
			if (t->task_of)
				t->task_of[kept] = t->task_of[i];
			if (t->ids) { /* swapped, so that each still exists once and can be freed */
				char *id = t->ids[kept];
				t->ids[kept] = t->ids[i];
				t->ids[i] = id;
			}
		}
		kept++;
	}
	if (kept == 0)
		return kdri_fail(
		        ctx, KDR_ERR_DATA,
		        "%s: no rows remain, because every row has a missing value; use --missing drop-column or mean",
		        path);
	for (int64_t i = kept; t->ids && i < rows; i++)
		kdri_free(ctx, t->ids[i]);
	t->rows = kept;
	if (t->labels)
		KDRI_DO(kdri_keep_names(ctx, t->rows, t->labels, &t->classes));
	if (t->task_of)
		KDRI_DO(kdri_keep_names(ctx, t->rows, t->task_of, &t->tasks));
	return KDR_OK;
}

/* --- filling ----------------------------------------------------------------------------------------------- */

/* The mean or median of the values of column k that are not missing. */
static double middle(const kdri_csv_table *t, int64_t cols, int64_t k, kdri_missing policy, double *values)
{
	int64_t n = 0;
	double sum = 0;
	for (int64_t i = 0; i < t->rows; i++)
		if (isfinite(t->values[i * cols + k]))
			values[n++] = t->values[i * cols + k];
	if (n == 0)
		return 0;
	if (policy == KDRI_MISSING_MEAN) {
		for (int64_t i = 0; i < n; i++)
			sum += values[i] / (double)n; /* no sum overflows */
		return sum;
	}
	qsort(values, (size_t)n, sizeof *values, kdri_compare_doubles);
	return n % 2 ? values[n / 2] : values[n / 2 - 1] / 2 + values[n / 2] / 2;
}

static kdr_status table_fill_fill(kdr_context *ctx, kdri_missing policy, const kdri_csv_layout *l,
                                  kdri_csv_table *t, kdri_sheet *sheet)
{
	kdr_status st = KDR_OK;
	double *values = NULL;
	int64_t cells = t->rows * l->cols, holes = 0;
	bool middles = policy == KDRI_MISSING_MEAN || policy == KDRI_MISSING_MEDIAN;
	if (middles) {
		KDRI_TRY(KDRI_NEW(ctx, &values, t->rows));
		KDRI_TRY(KDRI_NEW(ctx, &sheet->fill, l->cols));
		for (int64_t k = 0; k < l->cols; k++)
			sheet->fill[k] = middle(t, l->cols, k, policy, values);
	}
	for (int64_t i = 0; t->holes && i < cells; i++)
		holes += isnan(t->values[i]) != 0;
	if (middles && holes > 0) {
		KDRI_TRY(KDRI_NEW(ctx, &sheet->hole_row, holes));
		KDRI_TRY(KDRI_NEW(ctx, &sheet->hole_feature, holes));
	}
	for (int64_t i = 0; holes > 0 && i < cells; i++) {
		if (!isnan(t->values[i]))
			continue;
		t->values[i] = middles ? sheet->fill[i % l->cols] : 0;
		if (middles) {
			sheet->hole_row[sheet->nholes] = i / l->cols;
			sheet->hole_feature[sheet->nholes++] = i % l->cols;
		}
	}
done:
	kdri_free(ctx, values);
	return st;
}

/* Dates become days since the first. */
static void count_days(kdri_csv_layout *l, kdri_csv_table *t)
{
	int64_t k = 0;
	for (int64_t j = 0; j < l->fields; j++) {
		kdri_role *role = &l->roles[j];
		double first = INFINITY;
		for (int64_t i = 0; role->kind == KDR_COLUMN_DATE && i < t->rows; i++)
			first = fmin(first, t->values[i * l->cols + k]); /* NaN counts for nothing */
		if (isfinite(first)) {
			first = floor(first);
			for (int64_t i = 0; i < t->rows; i++)
				t->values[i * l->cols + k] -= first;
			role->origin = first;
		}
		k += role->features;
	}
}

kdr_status kdri_table_fill(kdr_context *ctx, const char *path, kdri_missing policy, kdri_csv_layout *l,
                           kdri_csv_table *t, kdri_sheet *sheet, kdr_data *data)
{
	char text[400];
	count_days(l, t);
	if (t->holes && !t->part) { /* of a part, columns were settled by all rows */
		/* Missing cells of each field, counted in its first column. */
		int64_t k = 0;
		for (int64_t j = 0; j < l->fields; j++) {
			kdri_role *role = &l->roles[j];
			if (role->features == 0)
				continue;
			role->missing = 0;
			for (int64_t i = 0; i < t->rows; i++)
				role->missing += isnan(t->values[i * l->cols + k]) != 0;
			k += role->features;
		}
		KDRI_DO(drop_fields(ctx, path, policy, l, t));
		bool left = false;
		for (int64_t j = 0; j < l->fields; j++)
			left = left || (l->roles[j].features > 0 && l->roles[j].missing > 0);
		t->holes = left;
	}
	if (t->holes && policy == KDRI_MISSING_ERROR) {
		if (l->keep_nonfinite)
			return KDR_OK;
		kdri_missing_text(l, t->hole_line, t->hole_field, text, sizeof text);
		return kdri_fail(ctx, KDR_ERR_DATA, "%s: %s; %s", path, text, kdri_missing_help);
	}
	if (policy == KDRI_MISSING_KEEP)
		return KDR_OK;
	if (t->holes && policy == KDRI_MISSING_DROP_ROW)
		KDRI_DO(drop_rows(ctx, path, l, t, data));
	else
		KDRI_DO(table_fill_fill(ctx, policy, l, t, sheet));
	return KDR_OK;
}
