/* A last row that sums up the others. SPDX-License-Identifier: BSD-3-Clause
 *
 * Spreadsheets often end in a row of sums or means, which is no sample. The last row is left out
 *
 *   if one of its cells says so, such as "Total" or "Mittelwert", and at least half of its numbers are within LOOSE of the sum or the mean
 *   of their column, because numbers may be rounded, and means of percentages are not sums;
 *   or, without such a word, if all its numbers are the sums, or all are the means, of at least COLUMNS_LEAST columns whose sums differ and of
 *   at least ROWS_LEAST rows. */
#include <stdio.h>

#include "io/table/table.h"

enum { COLUMNS_LEAST = 3, ROWS_LEAST = 6, FEWEST = 2 };
static const double LOOSE = 0.005, EXACT = 1e-9, ROUNDING = 1e-13;

bool kdri_says_total(const char *text, size_t length)
{
	static const char *const words[] = { "total",       "totals",  "sum",        "sums",
		                             "summe",       "summen",  "gesamt",     "insgesamt",
		                             "gesamtsumme", "mean",    "means",      "average",
		                             "avg",         "mittel",  "mittelwert", "durchschnitt",
		                             "somme",       "moyenne", "totale",     "media",
		                             "suma",        "grand",   "\xc3\x98",   NULL };
	size_t n = 0;
	while (n < length && !strchr(" \t:.(", text[n]))
		n++;
	for (int i = 0; words[i] && n > 0; i++)
		if (kdri_same_word(text, n, words[i]))
			return true;
	return false;
}

/* How the last row compares with the sums and means of the others. */
typedef struct comparison {
	int64_t numbers;     /* of the last row */
	int64_t loose;       /* near the sum or the mean of their column */
	int64_t sums, means; /* exactly the sum, or the mean */
	int64_t sums_differ; /* columns with another sum than the one before, and not zero */
} comparison;

static comparison compare(const kdri_csv_layout *l, const kdri_csv_table *t)
{
	comparison c = { 0 };
	const int64_t last = t->rows - 1;
	double before = 0;
	for (int64_t j = 0, k = 0; j < l->fields; k += l->roles[j++].features) {
		const double x = l->roles[j].kind == KDR_COLUMN_NUMBER ? t->values[last * l->cols + k] : NAN;
		double sum = 0, size = 0;
		int64_t n = 0;
		for (int64_t i = 0; i < last && isfinite(x); i++) {
			const double value = t->values[i * l->cols + k];
			sum += isfinite(value) ? value : 0;
			size += isfinite(value) ? fabs(value) : 0;
			n += isfinite(value);
		}
		if (n == 0)
			continue;
		c.numbers++;
		if (!isfinite(size))
			continue;
		const double mean = sum / (double)n, rounding = ROUNDING * size;
		c.sums += fabs(x - sum) <= EXACT * fabs(sum) + rounding;
		c.means += fabs(x - mean) <= EXACT * fabs(mean) + rounding / (double)n;
		c.loose += fabs(x - sum) <= LOOSE * fabs(sum) || fabs(x - mean) <= LOOSE * fabs(mean);
		c.sums_differ += sum != 0 && sum != before;
		before = sum;
	}
	return c;
}

bool kdri_may_be_total(const kdri_csv_layout *l, const kdri_csv_table *t, bool *without_word)
{
	*without_word = false;
	if (t->rows <= FEWEST)
		return false;
	const comparison c = compare(l, t);
	*without_word = c.numbers >= COLUMNS_LEAST && c.sums_differ >= COLUMNS_LEAST &&
	                t->rows > ROWS_LEAST && (c.sums == c.numbers || c.means == c.numbers);
	return *without_word || (c.numbers > 0 && 2 * c.loose >= c.numbers);
}

/* Removes texts of a category that no row has any more; `first`: its column of the matrix. */
static kdr_status drop_texts(kdr_context *ctx, kdri_csv_layout *l, kdri_csv_table *t, int64_t j,
                             int64_t first)
{
	kdr_status st = KDR_OK;
	kdri_role *role = &l->roles[j];
	kdri_names left = { 0 };
	int64_t index, cols = l->cols;
	for (int64_t f = role->features - 1; f >= 0; f--) {
		bool any = false;
		for (int64_t i = 0; i < t->rows && !any; i++)
			any = t->values[i * cols + first + f] > 0;
		if (any || role->features == 1)
			continue;
		for (int64_t i = 0, to = 0; i < t->rows; i++)
			for (int64_t k = 0; k < cols; k++)
				if (k != first + f)
					t->values[to++] = t->values[i * cols + k];
		cols--;
		left = (kdri_names){ 0 };
		for (int64_t g = 0; g < role->features; g++)
			if (g != f)
				KDRI_TRY(kdri_names_add(ctx, &left, role->texts.names[g],
				                        strlen(role->texts.names[g]), &index));
		kdri_names_free(ctx, &role->texts);
		role->texts = left;
		left = (kdri_names){ 0 };
		role->features--;
		l->cols = cols;
		role->constant = role->texts.count == 1 && role->missing == 0;
		snprintf(role->why, sizeof role->why, "%lld different text%s", (long long)role->texts.count,
		         role->texts.count == 1 ? "" : "s");
	}
done:
	kdri_names_free(ctx, &left);
	return st;
}

kdr_status kdri_drop_last(kdr_context *ctx, kdri_csv_layout *l, kdri_csv_table *t, char **id)
{
	t->rows--;
	*id = t->ids ? t->ids[t->rows] : NULL;
	if (t->ids)
		t->ids[t->rows] = NULL;
	for (int64_t j = 0, k = 0; j < l->fields; k += l->roles[j++].features)
		if (l->roles[j].kind == KDR_COLUMN_CATEGORY)
			KDRI_DO(drop_texts(ctx, l, t, j, k));
	if (t->labels)
		KDRI_DO(kdri_keep_names(ctx, t->rows, t->labels, &t->classes));
	return t->task_of ? kdri_keep_names(ctx, t->rows, t->task_of, &t->tasks) : KDR_OK;
}
