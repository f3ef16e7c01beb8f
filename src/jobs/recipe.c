/* Detects the kind of data and chooses the preprocessing. SPDX-License-Identifier: BSD-3-Clause
 *
 * The decision uses counts over all tasks: the fraction of entries that are not zero, whether they are integers and
 * none is negative, the totals and largest entries of rows, and the spread of columns. In this order:
 *
 *   tables with dates or categories               measurements in different units: columns brought to one spread
 *   few features (at most 64), mostly not zero    measurements: unchanged or, if columns' spreads differ
 *                                                 more than fivefold and they are not intensities on a scale,
 *                                                 brought to one spread
 *   none negative, whole, rows of a thousand      counts of molecules: cpm, unit rows
 *     and more in all, no common largest entry
 *   none negative, whole, under a tenth not zero  counts of words: tf-idf, unit rows
 *   none negative, and whole without a common     histograms: square roots, unit rows
 *     largest entry, or rows of one total
 *   anything else                                 unchanged, unit rows; for transfer, data mostly not zero, no
 *                                                 intensities on a scale, whose columns' spreads differ more
 *                                                 than fivefold are brought to one spread
 *
 * A common largest entry (that of most rows is the largest of all) marks intensities on a scale, such as
 * pixels from 0 to 255. Rows of zeros are excluded from all counts of rows. If the rows are distributed over ranks,
 * counts and spreads are those of all rows, spreads up to rounding. */
#include "comm/comm.h"
#include "core/names.h"
#include "engine/graph/policy.h"
#include "jobs/column_sums.h"
#include "jobs/job.h"
#include "prepare/prep.h"

/* Columns of all tasks as they will be aligned, each over the rows of the tasks that have it: zeros added by
 * alignment give no information about the data. */
typedef struct spread {
	double n, sum, square;
	const char *name; /* borrowed; NULL: none */
} spread;

static void take_spread(kdri_spread *s, double variance, int64_t column, const char *name)
{
	s->deviation = sqrt(variance);
	s->column = column;
	s->name = name;
}

/* The same for the rows of all ranks. *fit: they have the same columns; otherwise kdr_prepare reports the
 * difference. */
static kdr_status join_spreads(kdr_context *ctx, spread *all, int64_t total, bool *fit)
{
	kdr_status st = KDR_OK;
	double *packed = NULL;
	uint64_t hash = 0;
	*fit = true;
	if (!kdri_together(ctx))
		return KDR_OK;
	for (int64_t j = 0; j < total; j++)
		hash = hash * 31 + (all[j].name ? kdri_fnv1a(all[j].name, strlen(all[j].name)) : 0);
	int64_t word = (int64_t)(hash >> 2), ends[] = { total, word, -total, -word };
	KDRI_TRY(kdri_max_int(ctx, ends, 4));
	*fit = ends[0] == -ends[2] && ends[1] == -ends[3];
	if (!*fit)
		goto done;
	KDRI_TRY(KDRI_NEW(ctx, &packed, 3 * total));
	for (int64_t j = 0; j < total; j++) {
		packed[3 * j] = all[j].n;
		packed[3 * j + 1] = all[j].sum;
		packed[3 * j + 2] = all[j].square;
	}
	KDRI_TRY(kdri_sum(ctx, packed, 3 * total));
	for (int64_t j = 0; j < total; j++) {
		all[j].n = packed[3 * j];
		all[j].sum = packed[3 * j + 1];
		all[j].square = packed[3 * j + 2];
	}
done:
	kdri_free(ctx, packed);
	return st;
}

/* Whether the columns' standard deviations differ more than fivefold, and which have the least and the largest; constant
 * columns do not count. */
static kdr_status spreads_differ(kdr_context *ctx, kdr_data *const *tasks, int64_t count, bool *out,
                                 kdri_spread *ends)
{
	kdr_status st = KDR_OK;
	spread *all = NULL;
	double *own = NULL; /* sums of the columns of one task */
	kdri_names names = { .borrows = true };
	double least = INFINITY, most = 0;
	int64_t total = 0;
	bool named = true, fit = true;
	for (int64_t t = 0; t < count; t++) {
		total += tasks[t]->cols;
		named = named && tasks[t]->features;
	}
	KDRI_TRY(KDRI_NEW(ctx, &own, 3 * total));
	KDRI_TRY(KDRI_NEW0(ctx, &all, total));
	for (int64_t t = 0; t < count; t++) {
		const kdr_data *d = tasks[t];
		const kdr_mat x = kdr_data_mat(d);
		memset(own, 0, (size_t)(3 * d->cols) * sizeof *own);
		const kdri_column_sums sums = { .sum = own,
			                        .square = own + d->cols,
			                        .missing = own + 2 * d->cols };
		kdri_column_sums_add(ctx, &x, NULL, d->rows, &sums);
		for (int64_t j = 0; j < d->cols; j++) {
			int64_t at = j;
			if (named)
				KDRI_TRY(kdri_names_add(ctx, &names, d->features[j], strlen(d->features[j]),
				                        &at));
			spread *to = &all[at];
			to->n += (double)d->rows - sums.missing[j];
			to->name = named ? d->features[j] : NULL;
			to->sum += sums.sum[j];
			to->square += sums.square[j];
		}
	}
	KDRI_TRY(join_spreads(ctx, all, total, &fit));
	for (int64_t j = 0; j < total && fit; j++) {
		double n = all[j].n, mean = n > 0 ? all[j].sum / n : 0;
		double variance = n > 0 ? all[j].square / n - mean * mean : 0;
		if (!isfinite(variance)) /* squares overflow: no spread is wider */
			variance = INFINITY;
		else if (!(variance > 1e-12 * all[j].square / n))
			continue;
		if (variance < least)
			take_spread(&ends[0], least = variance, j, all[j].name);
		if (variance > most)
			take_spread(&ends[1], most = variance, j, all[j].name);
	}
	*out = most > 25 * least;
done:
	kdri_names_free(ctx, &names);
	KDRI_FREE(ctx, own, all);
	return st;
}

const char *kdri_data_kind_name(kdr_data_kind kind)
{
	static const char *const names[] = {
		[KDR_DATA_UNKNOWN] = "",
		[KDR_DATA_DENSE] = "dense data",
		[KDR_DATA_SPARSE] = "sparse data",
		[KDR_DATA_MEASUREMENTS] = "measurements",
		[KDR_DATA_UNITS] = "measurements in different units",
		[KDR_DATA_WORDS] = "word counts",
		[KDR_DATA_MOLECULES] = "molecule counts",
		[KDR_DATA_HISTOGRAMS] = "histograms",
		[KDR_DATA_TABLE] = "a table",
	};
	return (int)kind < 0 || (size_t)kind >= sizeof names / sizeof names[0] ? "" : names[kind];
}

static kdr_status recipe_look(kdr_context *ctx, kdr_data *const *tasks, int64_t count, bool wide,
                              kdr_data_kind *kind, kdri_spread *ends)
{
	kdr_status st = KDR_OK;
	kdri_traits c = { 0 };
	bool differ = false, mixed = false;
	for (int64_t t = 0; t < count; t++) {
		const kdr_mat x = kdr_data_mat(tasks[t]);
		mixed = mixed || kdri_data_mixed(tasks[t], false);
		KDRI_TRY(kdri_traits_add(ctx, &x, &c));
	}
	KDRI_TRY(kdri_any(ctx, &mixed));
	bool counts = !c.fractional && !c.negative && c.rows > 0, words = kdri_looks_like_words(&c);
	bool scale = c.largest > 1 && 2 * c.at_largest >= c.rows;
	bool one_total = c.rows > 1 && !c.negative && c.most_sum - c.least_sum <= 1e-6 * c.most_sum;
	if (mixed) {
		*kind = KDR_DATA_UNITS;
	} else if (kdri_looks_like_measurements(&c)) {
		KDRI_TRY(spreads_differ(ctx, tasks, count, &differ, ends));
		*kind = differ && !(counts && scale) ? KDR_DATA_UNITS : KDR_DATA_MEASUREMENTS;
	} else if (counts && !scale && 2 * c.thousand >= c.rows) {
		*kind = KDR_DATA_MOLECULES;
	} else if (counts && words) {
		*kind = KDR_DATA_WORDS;
	} else if ((counts && !scale) || one_total) {
		*kind = KDR_DATA_HISTOGRAMS;
	} else {
		*kind = words ? KDR_DATA_SPARSE : KDR_DATA_DENSE;
	}
	c.cols =
	        0; /* measurements but for the number of columns, and no intensities on a scale, whole or not */
	if (*kind == KDR_DATA_DENSE && wide && kdri_looks_like_measurements(&c) &&
	    (c.negative || 2 * c.at_largest < c.rows)) {
		KDRI_TRY(spreads_differ(ctx, tasks, count, &differ, ends));
		*kind = differ ? KDR_DATA_UNITS : KDR_DATA_DENSE;
	}
done:
	return st;
}

kdr_status kdr_recipe_find(kdr_context *ctx, kdr_data *const *tasks, int64_t count, kdr_recipe *out)
{
	return kdri_recipe_find(ctx, tasks, count, false, out);
}

kdr_status kdri_recipe_find(kdr_context *ctx, kdr_data *const *tasks, int64_t count, bool wide,
                            kdr_recipe *out)
{
	static const kdr_recipe recipes[] = {
		[KDR_DATA_DENSE] = { .norm = KDR_NORM_L2 },
		[KDR_DATA_SPARSE] = { .norm = KDR_NORM_L2 },
		[KDR_DATA_MEASUREMENTS] = { .norm = KDR_NORM_NONE },
		[KDR_DATA_UNITS] = { .scale = KDR_SCALE_STANDARD },
		[KDR_DATA_WORDS] = { .weight = KDR_WEIGHT_TFIDF, .norm = KDR_NORM_L2 },
		[KDR_DATA_MOLECULES] = { .weight = KDR_WEIGHT_CPM, .norm = KDR_NORM_L2, .centre = true },
		[KDR_DATA_HISTOGRAMS] = { .weight = KDR_WEIGHT_SQRT, .norm = KDR_NORM_L2 },
	};
	kdr_status st;
	kdr_data_kind kind = KDR_DATA_UNKNOWN;
	kdri_spread ends[2] = { 0 };
	KDRI_NEED(ctx, out);
	if ((st = kdri_check_sets(ctx, "kdr_recipe_find", tasks, count, 1)) != KDR_OK)
		return st;
	kdri_enter(ctx);
	st = kdri_leave(ctx, recipe_look(ctx, tasks, count, wide, &kind, ends));
	if (st != KDR_OK)
		return st;
	*out = recipes[kind];
	out->kind = kind;
	return KDR_OK;
}

enum { TABLE_COLUMNS = 64 };

/* Columns of its table, or of its matrix. */
static int64_t table_columns(const kdr_data *d)
{
	int64_t n = 0;
	for (int64_t c = 0; d->sheet && c < d->sheet->ncolumns; c++)
		n += d->sheet->columns[c].features > 0;
	return d->sheet ? n : d->cols;
}

kdr_status kdri_recipe_table(kdr_context *ctx, kdr_data *const *tasks, int64_t count, kdr_recipe *recipe)
{
	kdr_status st = KDR_OK;
	bool two = false, unlike = recipe->kind != KDR_DATA_UNITS && recipe->kind != KDR_DATA_MEASUREMENTS;
	for (int64_t t = 0; t < count; t++)
		unlike = unlike || tasks[t]->kind != KDR_MAT_DENSE || table_columns(tasks[t]) > TABLE_COLUMNS;
	KDRI_TRY(kdri_any(ctx, &unlike));
	if (unlike)
		goto done;
	if (recipe->kind != KDR_DATA_UNITS)
		KDRI_TRY(kdri_table_yes_no(ctx, tasks, count, &two));
	if (recipe->kind == KDR_DATA_UNITS || two)
		*recipe = (kdr_recipe){ .kind = KDR_DATA_TABLE, .scale = KDR_SCALE_TABLE };
done:
	return st;
}

kdr_status kdri_units_mixed(kdr_context *ctx, kdr_data *const *tasks, int64_t count, bool *out,
                            kdri_spread ends[2])
{
	kdr_status st;
	kdr_data_kind kind = KDR_DATA_UNKNOWN;
	bool mixed = false;
	for (int64_t t = 0; t < count; t++)
		mixed = mixed || kdri_data_mixed(tasks[t], false);
	KDRI_TRY(kdri_any(ctx, &mixed));
	if (mixed) { /* units differ; whether spreads do is left to see */
		KDRI_TRY(spreads_differ(ctx, tasks, count, out, ends));
		goto done;
	}
	KDRI_TRY(recipe_look(ctx, tasks, count, false, &kind, ends));
	*out = kind == KDR_DATA_UNITS;
done:
	return st;
}
