/* Detects the kind of data and chooses the preprocessing. SPDX-License-Identifier: BSD-3-Clause
 *
 * The decision uses counts over all tasks: the fraction of entries that are not zero, whether they are integers and
 * none is negative, the totals and largest entries of rows, and the spread of columns. In this order:
 *
 *   tables with dates or categories               measurements in different units: columns brought to one spread
 *   few features (at most 64), mostly not zero    measurements: unchanged or, if columns' spreads differ
 *                                                 more than fivefold, in all tasks together or in most of them,
 *                                                 and they are not intensities on a scale, brought to one spread
 *   none negative, whole, rows of a thousand      counts of molecules: cpm, unit rows; of words, if most
 *     and more in all that differ, no common      features are named like words: square roots, unit rows
 *     largest entry
 *   none negative, whole, under a tenth not zero  counts of words: tf-idf, unit rows
 *   none negative, and whole without a common     histograms: square roots, unit rows
 *     largest entry, or rows of one total in each
 *     task
 *   dense, 64 to 4,096 columns of similar         embeddings: unchanged, unit rows
 *     scale, both signs
 *   anything else                                 unchanged, unit rows; for transfer, data mostly not zero, no
 *                                                 intensities on a scale, whose columns' spreads differ more
 *                                                 than fivefold are brought to one spread
 *
 * A common largest entry (that of most rows is the largest of all) marks intensities on a scale, such as
 * pixels from 0 to 255. Rows of zeros are excluded from all counts of rows. If the rows are distributed over ranks,
 * counts and spreads are those of all rows, spreads up to rounding. */
#include "comm/comm.h"
#include "core/names.h"
#include "engine/graph/similarity.h"
#include "jobs/column_sums.h"
#include "jobs/job.h"
#include "matrix/linalg.h"
#include "prepare/prep.h"

/* Number, sum and sum of squares of the values of a column. */
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

/* Whether the standard deviations of columns differ more than fivefold, and which are the least and the largest; constant
 * columns do not count. */
static bool differ_fivefold(const spread *all, int64_t count, kdri_spread *ends)
{
	double least = INFINITY, most = 0;
	for (int64_t j = 0; j < count; j++) {
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
	return most > 25 * least;
}

/* The number, sums and sums of squares of the columns of one task after the other, over the rows of all ranks. *fit: the ranks
 * have the same columns; otherwise kdr_prepare reports the difference. */
static kdr_status sum_columns(kdr_context *ctx, kdr_data *const *tasks, int64_t count, int64_t total,
                              double *out, bool *fit)
{
	uint64_t hash = 0;
	*fit = true;
	for (int64_t t = 0; t < count; t++) {
		const kdr_data *d = tasks[t];
		const kdr_mat x = kdr_data_mat(d);
		const kdri_column_sums sums = { .missing = out,
			                        .sum = out + d->cols,
			                        .square = out + 2 * d->cols };
		kdri_column_sums_add(ctx, &x, NULL, d->rows, &sums);
		for (int64_t j = 0; j < d->cols; j++) {
			out[j] = (double)d->rows - out[j];
			hash = hash * 31 +
			       (d->features ? kdri_fnv1a(d->features[j], strlen(d->features[j])) : 0);
		}
		out += 3 * d->cols;
	}
	if (!kdri_together(ctx))
		return KDR_OK;
	int64_t word = (int64_t)(hash >> 2), ends[] = { total, word, -total, -word };
	KDRI_DO(kdri_max_int(ctx, ends, 4));
	*fit = ends[0] == -ends[2] && ends[1] == -ends[3];
	if (*fit)
		KDRI_DO(kdri_sum(ctx, out - 3 * total, 3 * total));
	return KDR_OK;
}

/* Whether the columns' standard deviations differ more than fivefold, in all tasks together or in most of them, and which
 * columns of all have the least and the largest. Columns are aligned, each over the rows of the tasks that have it: zeros
 * added by alignment give no information about the data. */
static kdr_status spreads_differ(kdr_context *ctx, kdr_data *const *tasks, int64_t count, bool *out,
                                 kdri_spread *ends)
{
	kdr_status st = KDR_OK;
	spread *all = NULL, *own = NULL; /* columns of all tasks, and of one */
	double *sums = NULL;
	kdri_names names = { .borrows = true };
	kdri_spread own_ends[2];
	int64_t total = 0, votes = 0;
	bool named = true, fit = true;
	for (int64_t t = 0; t < count; t++) {
		total += tasks[t]->cols;
		named = named && tasks[t]->features;
	}
	KDRI_TRY(KDRI_NEW0(ctx, &sums, 3 * total));
	KDRI_TRY(KDRI_NEW0(ctx, &all, total));
	KDRI_TRY(KDRI_NEW0(ctx, &own, total));
	KDRI_TRY(sum_columns(ctx, tasks, count, total, sums, &fit));
	const double *from = sums;
	for (int64_t t = 0; t < count && fit; t++) {
		const kdr_data *d = tasks[t];
		for (int64_t j = 0; j < d->cols; j++) {
			int64_t at = j;
			if (named)
				KDRI_TRY(kdri_names_add(ctx, &names, d->features[j], strlen(d->features[j]),
				                        &at));
			own[j] = (spread){ from[j], from[d->cols + j], from[2 * d->cols + j],
				           named ? d->features[j] : NULL };
			all[at] = (spread){ all[at].n + own[j].n, all[at].sum + own[j].sum,
				            all[at].square + own[j].square, own[j].name };
		}
		votes += differ_fivefold(own, d->cols, own_ends);
		from += 3 * d->cols;
	}
	*out = differ_fivefold(all, fit ? total : 0, ends) || 2 * votes > count;
done:
	kdri_names_free(ctx, &names);
	KDRI_FREE(ctx, sums, all, own);
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
		[KDR_DATA_EMBEDDINGS] = "embeddings",
	};
	return (int)kind < 0 || (size_t)kind >= sizeof names / sizeof names[0] ? "" : names[kind];
}

/* Whether the row sums of each task vary by less than a twentieth, as for relative abundances of one sequencing depth, perhaps
 * without the rarest columns. The molecules counted in cells vary by a fifth and more. */
static kdr_status totals_equal(kdr_context *ctx, kdr_data *const *tasks, int64_t count, bool *out)
{
	*out = true;
	for (int64_t t = 0; t < count; t++) {
		const kdr_mat x = kdr_data_mat(tasks[t]);
		double moments[3] = { 0 }; /* of the sums of rows that are not zero */
		for (int64_t i = 0; i < tasks[t]->rows; i++) {
			const kdri_entries row = kdri_row_entries(&x, i);
			double sum = 0;
			for (int64_t p = 0; p < row.count; p++)
				sum += row.val[p];
			moments[0] += sum > 0;
			moments[1] += sum;
			moments[2] += sum * sum;
		}
		KDRI_DO(kdri_sum(ctx, moments, 3));
		*out = *out && moments[2] * moments[0] <= (1 + 0.05 * 0.05) * moments[1] * moments[1];
	}
	return KDR_OK;
}

static bool is_word(const char *name)
{
	const char *c = name;
	while ((*c >= 'a' && *c <= 'z') || (unsigned char)*c >= 0x80 ||
	       (c > name && *c && strchr(" _'-", *c)))
		c++;
	return c > name && !*c;
}

/* Whether features are words: of data sets made from texts, or because more than 60 % of the names have small letters only. Names of
 * genes have capitals or digits. */
static bool named_as_words(kdr_data *const *tasks, int64_t count)
{
	double words = 0, all = 0;
	for (int64_t t = 0; t < count; t++) {
		const kdr_data *d = tasks[t];
		all += (double)d->cols;
		for (int64_t j = 0; d->features && j < d->cols; j++)
			words += d->texts || is_word(d->features[j]);
	}
	return words > 0.6 * all;
}

/* Sets *kind if the data appear to be embeddings: nine tenths of 64 to 4,096 columns have a standard deviation within a factor of five
 * around the median, and half of them have values on both sides of 0. Removing the mean of each data set, or leading directions,
 * does not improve clusters (docs/notes/embeddings.md). */
static kdr_status find_embeddings(kdr_context *ctx, kdr_data *const *tasks, int64_t count,
                                  kdr_data_kind *kind)
{
	enum { LEAST = 64, MOST = 4096 };
	kdr_status st = KDR_OK;
	const int64_t d = tasks[0]->cols;
	double *sums = NULL, *deviation = NULL;
	int64_t similar = 0, both = 0, total = 0;
	bool fit = d >= LEAST && d <= MOST;
	for (int64_t t = 0; t < count; t++) {
		fit = fit && tasks[t]->kind == KDR_MAT_DENSE && tasks[t]->cols == d;
		total += tasks[t]->cols;
	}
	bool other = !fit;
	KDRI_DO(kdri_any(ctx, &other));
	if (other)
		return KDR_OK;
	KDRI_TRY(KDRI_NEW0(ctx, &sums, 3 * total));
	KDRI_TRY(KDRI_NEW(ctx, &deviation, 2 * d));
	KDRI_TRY(sum_columns(ctx, tasks, count, total, sums, &fit));
	for (int64_t j = 0; j < d && fit; j++) {
		double n = 0, sum = 0, square = 0;
		for (const double *s = sums; s < sums + 3 * total; s += 3 * d) {
			n += s[j];
			sum += s[d + j];
			square += s[2 * d + j];
		}
		const double mean = sum / n, variance = square / n - mean * mean;
		deviation[j] = deviation[d + j] = sqrt(KDRI_MAX(variance, 0));
		both += fabs(mean) <
		        0.8 * deviation[j]; /* counts, too, have smaller means than 2 deviations */
	}
	if (!fit)
		goto done;
	const double middle = kdri_median(deviation, d);
	for (int64_t j = 0; j < d; j++)
		similar += deviation[d + j] <= 5 * middle && deviation[d + j] >= middle / 5;
	if (middle > 0 && 10 * similar >= 9 * d && 2 * both >= d)
		*kind = KDR_DATA_EMBEDDINGS;
done:
	KDRI_FREE(ctx, sums, deviation);
	return st;
}

/* Whether the rows of each task have one total, such as 1 in one task and 100 in another. */
static kdr_status has_one_total(kdr_context *ctx, kdr_data *const *tasks, int64_t count, bool *out)
{
	*out = true;
	for (int64_t t = 0; t < count; t++) {
		kdri_traits c = { 0 };
		const kdr_mat x = kdr_data_mat(tasks[t]);
		KDRI_DO(kdri_traits_add(ctx, &x, &c));
		*out = *out && c.rows > 1 && c.most_sum - c.least_sum <= 0.01 * c.most_sum;
	}
	return KDR_OK;
}

/* *is_long: they are words of texts of a thousand words and more. */
static kdr_status recipe_look(kdr_context *ctx, kdr_data *const *tasks, int64_t count, bool wide,
                              kdr_data_kind *kind, kdri_spread *ends, bool *is_long)
{
	kdri_traits c = { 0 };
	bool differ = false, mixed = false, equal = false;
	if (tasks[0]->vectors || tasks[0]->combined) { /* of words; rows of unit length */
		*kind = KDR_DATA_EMBEDDINGS;
		return KDR_OK;
	}
	for (int64_t t = 0; t < count; t++) {
		const kdr_mat x = kdr_data_mat(tasks[t]);
		mixed = mixed || kdri_data_mixed(tasks[t], false);
		KDRI_DO(kdri_traits_add(ctx, &x, &c));
	}
	KDRI_DO(kdri_any(ctx, &mixed));
	bool counts = !c.fractional && !c.negative && c.rows > 0, words = kdri_looks_like_words(&c);
	bool scale = c.largest > 1 && 2 * c.at_largest >= c.rows;
	if (mixed) {
		*kind = KDR_DATA_UNITS;
	} else if (kdri_looks_like_measurements(&c)) {
		KDRI_DO(spreads_differ(ctx, tasks, count, &differ, ends));
		*kind = differ && !(counts && scale) ? KDR_DATA_UNITS : KDR_DATA_MEASUREMENTS;
	} else if (counts && !scale && 2 * c.thousand >= c.rows) {
		KDRI_DO(totals_equal(ctx, tasks, count, &equal));
		*is_long = !equal && named_as_words(tasks, count);
		*kind = equal ? KDR_DATA_HISTOGRAMS : *is_long ? KDR_DATA_WORDS : KDR_DATA_MOLECULES;
	} else if (counts && words) {
		*kind = KDR_DATA_WORDS;
	} else {
		if (!c.negative && (!counts || scale))
			KDRI_DO(has_one_total(ctx, tasks, count, &equal));
		*kind = (counts && !scale) || equal ? KDR_DATA_HISTOGRAMS
		        : words                     ? KDR_DATA_SPARSE
		                                    : KDR_DATA_DENSE;
	}
	c.cols =
	        0; /* measurements but for the number of columns, and no intensities on a scale, whole or not */
	if (*kind == KDR_DATA_DENSE && wide && kdri_looks_like_measurements(&c) &&
	    (c.negative || 2 * c.at_largest < c.rows)) {
		KDRI_DO(spreads_differ(ctx, tasks, count, &differ, ends));
		*kind = differ ? KDR_DATA_UNITS : KDR_DATA_DENSE;
	}
	if ((*kind == KDR_DATA_DENSE || *kind == KDR_DATA_MEASUREMENTS) && c.negative && c.fractional &&
	    !c.infinite)
		KDRI_DO(find_embeddings(ctx, tasks, count, kind));
	return KDR_OK;
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
		[KDR_DATA_EMBEDDINGS] = { .norm = KDR_NORM_L2 },
	};
	kdr_status st;
	kdr_data_kind kind = KDR_DATA_UNKNOWN;
	kdri_spread ends[2] = { 0 };
	bool is_long = false;
	KDRI_NEED(ctx, out);
	if ((st = kdri_check_sets(ctx, "kdr_recipe_find", tasks, count, 1)) != KDR_OK)
		return st;
	kdri_enter(ctx);
	st = kdri_leave(ctx, recipe_look(ctx, tasks, count, wide, &kind, ends, &is_long));
	if (st != KDR_OK)
		return st;
	*out = recipes[kind];
	out->kind = kind;
	if (is_long) /* in which most words occur: how rare they are means little */
		out->weight = KDR_WEIGHT_SQRT;
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
	bool two = false, unlike = recipe->kind != KDR_DATA_UNITS && recipe->kind != KDR_DATA_MEASUREMENTS;
	for (int64_t t = 0; t < count; t++)
		unlike = unlike || tasks[t]->kind != KDR_MAT_DENSE || table_columns(tasks[t]) > TABLE_COLUMNS;
	KDRI_DO(kdri_any(ctx, &unlike));
	if (unlike)
		return KDR_OK;
	if (recipe->kind != KDR_DATA_UNITS)
		KDRI_DO(kdri_table_yes_no(ctx, tasks, count, &two));
	if (recipe->kind == KDR_DATA_UNITS || two)
		*recipe = (kdr_recipe){ .kind = KDR_DATA_TABLE, .scale = KDR_SCALE_TABLE };
	return KDR_OK;
}

kdr_status kdri_units_mixed(kdr_context *ctx, kdr_data *const *tasks, int64_t count, bool *out,
                            kdri_spread ends[2])
{
	kdr_data_kind kind = KDR_DATA_UNKNOWN;
	bool mixed = false, is_long = false;
	for (int64_t t = 0; t < count; t++)
		mixed = mixed || kdri_data_mixed(tasks[t], false);
	KDRI_DO(kdri_any(ctx, &mixed));
	if (mixed) { /* units differ; whether spreads do is left to see */
		return spreads_differ(ctx, tasks, count, out, ends);
	}
	KDRI_DO(recipe_look(ctx, tasks, count, false, &kind, ends, &is_long));
	*out = kind == KDR_DATA_UNITS;
	return KDR_OK;
}

/* Whole numbers in one data set and fractions in another have no preprocessing in common. Numbers in a few columns can be
 * whole by chance. */
kdr_status kdri_recipe_mismatch(kdr_context *ctx, kdr_data *const *tasks, int64_t count, char *text,
                                size_t room)
{
	kdr_data_kind kind[2];
	int64_t first[2] = { -1, -1 }; /* data set with whole numbers, and with others */
	kdri_spread ends[2];
	bool is_long = false;
	for (int64_t t = 0; t < count && count > 1; t++) {
		kdri_traits c = { 0 };
		const kdr_mat x = kdr_data_mat(tasks[t]);
		KDRI_DO(kdri_traits_add(ctx, &x, &c));
		int64_t *to = &first[c.fractional || c.negative];
		*to = c.rows > 0 && *to < 0 ? t : *to;
	}
	if (first[0] < 0 || first[1] < 0)
		return KDR_OK;
	for (int i = 0; i < 2; i++) {
		KDRI_DO(recipe_look(ctx, &tasks[first[i]], 1, false, &kind[i], ends, &is_long));
		if (kind[i] == KDR_DATA_MEASUREMENTS || kind[i] == KDR_DATA_UNITS)
			return KDR_OK;
	}
	if (kind[0] != kind[1])
		kdri_snprintf(
		        text, room,
		        "%.60s has whole numbers (%s), but %.60s does not (%s), so they are not comparable; use the same "
		        "kind of values in all data sets, for example counts",
		        tasks[first[0]]->name, kdri_data_kind_name(kind[0]), tasks[first[1]]->name,
		        kdri_data_kind_name(kind[1]));
	return KDR_OK;
}
