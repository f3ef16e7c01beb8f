/* Row names among columns of numbers. SPDX-License-Identifier: BSD-3-Clause
 *
 * A table of plain numbers has been read in one pass. A column that counts its rows, or one with a title such as id
 * and distinct integers, is not a feature: the table is then read again with that column as row names, so that they
 * are exactly as in the file (007 is not 7). */
#include <stdio.h>
#include <stdlib.h>

#include "core/numbers.h"
#include "io/table/table.h"

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
		bool named = l->names && kdri_name_of_ids(l->names[j]),
		     running = !spec[j] && counts(t, cols, k);
		different = false;
		if (!spec[j] && !running && named)
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
