/* Tables of numbers and categories. SPDX-License-Identifier: BSD-3-Clause
 *
 * Scale `table` makes columns in different units comparable and keeps missing values. Statistics of a column are those of the cells
 * that have a value, in the data sets that have the column:
 *
 *   (E1)  a number without negative values and with a skewness m3 / m2^1.5 above 1 becomes ln x, or ln(1 + x / u) if zeros occur,
 *         u the median of the positive values; the skewness is that of all data sets together, or of most of them.
 *         Dates are days since the first, and with a skewness below -1 days before the last: -ln(b - x), b - x = u + days before it
 *   (E2)  numbers are clipped to [q1 - 1.5 I, q3 + 1.5 I], I = q3 - q1; if I = 0, to the 1st and 99th percentile, if they differ
 *   (E3)  then the mean is subtracted, and the result divided by the standard deviation
 *
 * Columns with exactly two values and levels of categories keep their values; a row without a value of a category has 0 in all
 * its levels. Methods that read tables (KDR_ALGO_TABLES) get these columns, with NaN for missing numbers. Everything that
 * compares samples by distances gets them encoded, with p the share of a level, L the number of levels of its category:
 *
 *   (E4)  level: (x - p) sqrt(0.7 L / (L - 1))
 *   (E5)  two values a < b, p the share of b: ((x - a) / (b - a) - p) sqrt(2.8), which is the same distance as (E4) with L = 2
 *   (E6)  missing: the mean of the data set's own encoded values; a column that the data set does not have: 0 */
#include "comm/comm.h"
#include "matrix/linalg.h"
#include "prepare/prep.h"

#include <stdio.h>

static const double most_skewness = 1, fence = 1.5, level_weight = 0.7;

/* --- one column -------------------------------------------------------------------------------------------------------- */

/* The data that a column is fitted on: its position in each data set, and its values on all ranks. */
typedef struct table_fit {
	kdr_prep *prep;
	kdr_data *const *tasks;
	const kdri_columns *columns;
	int64_t count;
	int64_t *from; /* count x cols: the column of the data set, or -1 */
	double *values;
	int64_t nvalues;
} table_fit;

static double cell_of(const table_fit *f, int64_t t, int64_t i, int64_t u)
{
	const kdr_data *d = f->tasks[t];
	const int64_t j = f->from[t * f->prep->cols + u];
	return d->dense[i * d->cols + j] + (f->columns[t].shift ? f->columns[t].shift[j] : 0);
}

/* The values of all ranks on every rank, since quantiles need them together. */
static kdr_status gather_values(kdr_context *ctx, table_fit *f)
{
	kdr_status st;
	double *all = NULL;
	int64_t total = 0;
	if (!kdri_together(ctx))
		return KDR_OK;
	KDRI_TRY(kdri_gather(ctx, f->values, f->nvalues * (int64_t)sizeof *f->values, &all, &total));
	KDRI_TRY(kdri_share(ctx, &total, sizeof total, 0));
	if (!all)
		KDRI_TRY(KDRI_NEW(ctx, &all, total / (int64_t)sizeof *all));
	KDRI_TRY(kdri_share(ctx, all, total, 0));
	kdri_free(ctx, f->values);
	f->values = all;
	f->nvalues = total / (int64_t)sizeof *all;
	all = NULL;
done:
	kdri_free(ctx, all);
	return st;
}

/* Values of column u in data sets first .. last - 1. */
static kdr_status collect_values(kdr_context *ctx, table_fit *f, int64_t first, int64_t last, int64_t u)
{
	int64_t room = 0;
	for (int64_t t = first; t < last; t++)
		room += f->from[t * f->prep->cols + u] >= 0 ? f->tasks[t]->rows : 0;
	kdri_free(ctx, f->values);
	f->values = NULL;
	f->nvalues = 0;
	KDRI_DO(KDRI_NEW(ctx, &f->values, KDRI_MAX(room, 1)));
	for (int64_t t = first; t < last; t++)
		for (int64_t i = 0; f->from[t * f->prep->cols + u] >= 0 && i < f->tasks[t]->rows; i++) {
			double v = cell_of(f, t, i, u);
			if (!isnan(v))
				f->values[f->nvalues++] = v;
		}
	return gather_values(ctx, f);
}

static bool has_two_values(const double *v, int64_t n, double *low, double *high)
{
	*low = INFINITY;
	*high = -INFINITY;
	for (int64_t i = 0; i < n; i++) {
		*low = KDRI_MIN(*low, v[i]);
		*high = KDRI_MAX(*high, v[i]);
	}
	for (int64_t i = 0; i < n; i++)
		if (v[i] != *low && v[i] != *high)
			return false;
	return *low < *high;
}

/* Mean, standard deviation and skewness; divided by the largest value, so that no power overflows. */
static void find_moments(const double *v, int64_t n, double *mean, double *deviation, double *skewness)
{
	double largest = 0, m1 = 0, m2 = 0, m3 = 0;
	for (int64_t i = 0; i < n; i++)
		largest = KDRI_MAX(largest, fabs(v[i]));
	largest = largest > 0 ? largest : 1;
	for (int64_t i = 0; i < n; i++)
		m1 += v[i] / largest;
	m1 /= (double)n;
	for (int64_t i = 0; i < n; i++) {
		double x = v[i] / largest - m1;
		m2 += x * x;
		m3 += x * x * x;
	}
	m2 /= (double)n;
	m3 /= (double)n;
	*mean = m1 * largest;
	*deviation = sqrt(m2) * largest;
	*skewness = m2 > 0 ? m3 / (m2 * sqrt(m2)) : 0;
}

/* The q-th quantile of n values, linear between order statistics; changes their order. */
static double quantile_of(double *v, int64_t n, double q)
{
	const double at = (double)(n - 1) * q;
	const int64_t i = (int64_t)at;
	const double a = kdri_select(v, n, i);
	double b = i + 1 < n ? INFINITY : a;
	for (int64_t j = i + 1; j < n; j++) /* these are not below a */
		b = KDRI_MIN(b, v[j]);
	return a + (b - a) * (at - (double)i);
}

static double median_of_positive(double *v, int64_t n)
{
	int64_t zeros = 0;
	for (int64_t i = 0; i < n; i++)
		if (!(v[i] > 0)) {
			double zero = v[i];
			v[i] = v[zeros];
			v[zeros++] = zero;
		}
	return quantile_of(v + zeros, n - zeros, 0.5);
}

/* (E1): unit -1: unchanged, 0: ln x, below -1: -ln(b - x) with b = -unit, else ln(1 + x / unit). New samples may be negative. */
static double take_logarithm(double x, double unit)
{
	if (unit < -1)
		return x < -unit ? -log(-unit - x) : INFINITY;
	if (unit < 0)
		return x;
	if (unit == 0)
		return x > 0 ? log(x) : -INFINITY;
	return x > -unit ? log1p(x / unit) : -INFINITY;
}

/* Whether column u has dates, on some rank. */
static kdr_status has_dates(kdr_context *ctx, const table_fit *f, int64_t u, bool *out)
{
	*out = false;
	for (int64_t t = 0; t < f->count; t++) {
		const kdri_sheet *s = f->tasks[t]->sheet;
		const int64_t j = f->from[t * f->prep->cols + u];
		*out = *out || (s && j >= 0 && s->columns[s->source[j]].kind == KDR_COLUMN_DATE);
	}
	return kdri_any(ctx, out);
}

/* Whether column u is skewed (1) in data sets first .. last - 1 together, or in most of those that have it: means that differ
 * between data sets can hide skewness. -1: skewed to the other side, if it has dates. */
static kdr_status is_skewed(kdr_context *ctx, table_fit *f, int64_t first, int64_t last, int64_t u, int *out)
{
	double mean, deviation, skewness;
	int64_t votes = 0, back = 0;
	bool dates;
	for (int64_t t = first; t < last && last > first + 1; t++) {
		KDRI_DO(collect_values(ctx, f, t, t + 1, u));
		find_moments(f->values, f->nvalues, &mean, &deviation, &skewness);
		votes += f->nvalues == 0 ? 0 : skewness > most_skewness ? 1 : -1;
		back += f->nvalues == 0 ? 0 : skewness < -most_skewness ? 1 : -1;
	}
	KDRI_DO(has_dates(ctx, f, u, &dates));
	KDRI_DO(collect_values(ctx, f, first, last, u));
	find_moments(f->values, f->nvalues, &mean, &deviation, &skewness);
	*out = skewness > most_skewness || votes > 0              ? 1
	       : dates && (skewness < -most_skewness || back > 0) ? -1
	                                                          : 0;
	return KDR_OK;
}

/* (E1) to (E3) for the current values, for column u of `set`. */
static void fit_number(const table_fit *f, int64_t at, int skewed)
{
	kdr_prep *p = f->prep;
	double *v = f->values, mean, deviation, skewness, low, high;
	const int64_t n = f->nvalues;
	(void)has_two_values(v, n, &low, &high);
	if (skewed < 0) {
		for (int64_t i = 0; i < n; i++)
			v[i] = high - v[i];
		p->unit[at] = -high - KDRI_MAX(median_of_positive(v, n), 1);
		for (int64_t i = 0; i < n; i++)
			v[i] = high - v[i];
	} else if (low >= 0 && skewed) {
		p->unit[at] = low > 0 ? 0 : median_of_positive(v, n);
	}
	if (p->unit[at] != -1) {
		for (int64_t i = 0; i < n; i++)
			v[i] = take_logarithm(v[i], p->unit[at]);
		low = take_logarithm(low, p->unit[at]);
		high = take_logarithm(high, p->unit[at]);
	}
	double q1 = quantile_of(v, n, 0.25), q3 = quantile_of(v, n, 0.75); /* (E2) */
	if (q1 < q3) {
		low = q1 - fence * (q3 - q1);
		high = q3 + fence * (q3 - q1);
	} else {
		q1 = quantile_of(v, n, 0.01);
		q3 = quantile_of(v, n, 0.99);
		low = q1 < q3 ? q1 : low;
		high = q1 < q3 ? q3 : high;
	}
	for (int64_t i = 0; i < n; i++)
		v[i] = KDRI_MIN(KDRI_MAX(v[i], low), high);
	find_moments(v, n, &mean, &deviation, &skewness);
	p->low[at] = low;
	p->high[at] = high;
	p->offset[at] = mean;
	p->divisor[at] = deviation > 0 ? deviation : 1;
}

/* (E5) */
static void fit_two_values(const table_fit *f, int64_t at, double low, double high)
{
	int64_t larger = 0;
	for (int64_t i = 0; i < f->nvalues; i++)
		larger += f->values[i] == high;
	f->prep->low[at] = low;
	f->prep->high[at] = high;
	f->prep->offset[at] = low + (high - low) * ((double)larger / (double)f->nvalues);
	f->prep->divisor[at] = (high - low) / sqrt(4 * level_weight);
}

/* --- categories ------------------------------------------------------------------------------------------------------------ */

/* The number of rows of data sets first .. last - 1 that have each level, on all ranks. */
static kdr_status count_levels(kdr_context *ctx, const table_fit *f, int64_t first, int64_t last,
                               double *ones)
{
	const int64_t cols = f->prep->cols;
	memset(ones, 0, (size_t)cols * sizeof *ones);
	for (int64_t t = first; t < last; t++)
		for (int64_t u = 0; u < cols; u++)
			for (int64_t i = 0; f->prep->column_kind[u] == KDRI_TABLE_LEVEL &&
			                    f->from[t * cols + u] >= 0 && i < f->tasks[t]->rows;
			     i++)
				ones[u] += cell_of(f, t, i, u) > 0;
	return kdri_sum(ctx, ones, cols);
}

/* The column after the last level of the category that begins at column u. */
static int64_t category_end(const kdr_prep *p, int64_t u)
{
	int64_t end = u + 1;
	while (end < p->cols && p->group[end] == p->group[u])
		end++;
	return end;
}

/* Shares instead of counts, category by category; 0 if no row has a value. */
static void levels_to_shares(const kdr_prep *p, double *ones)
{
	for (int64_t u = 0, end; u < p->cols; u = end) {
		end = u + 1;
		if (p->column_kind[u] != KDRI_TABLE_LEVEL)
			continue;
		double sum = 0;
		end = category_end(p, u);
		for (int64_t l = u; l < end; l++)
			sum += ones[l];
		for (int64_t l = u; l < end; l++)
			ones[l] = sum > 0 ? ones[l] / sum : 0;
	}
}

/* --- missing values ---------------------------------------------------------------------------------------------------------- */

static double table_scaled(const kdr_prep *p, int64_t at, double x)
{
	x = take_logarithm(x, p->unit[at]);
	x = KDRI_MIN(KDRI_MAX(x, p->low[at]), p->high[at]);
	return (x - p->offset[at]) / p->divisor[at];
}

/* (E6) of one data set. `mean` and `number` have room for all columns. */
static kdr_status fit_hole(kdr_context *ctx, const table_fit *f, int64_t t, double *mean, double *number)
{
	kdr_prep *p = f->prep;
	const int64_t cols = p->cols, set = p->fit_each ? t : 0;
	double *hole = p->hole + t * cols;
	KDRI_DO(count_levels(ctx, f, t, t + 1, mean));
	levels_to_shares(p, mean);
	memset(number, 0, (size_t)cols * sizeof *number);
	for (int64_t u = 0; u < cols; u++) {
		const int64_t at = set * cols + u;
		if (p->column_kind[u] == KDRI_TABLE_LEVEL) {
			hole[u] = (mean[u] - p->offset[at]) / p->divisor[at];
			continue;
		}
		hole[u] = 0;
		for (int64_t i = 0; f->from[t * cols + u] >= 0 && i < f->tasks[t]->rows; i++) {
			const double v = cell_of(f, t, i, u);
			if (!isnan(v)) {
				hole[u] += table_scaled(p, at, v);
				number[u]++;
			}
		}
	}
	for (int64_t u = 0; u < cols; u++)
		mean[u] = p->column_kind[u] == KDRI_TABLE_LEVEL ? 0 : hole[u];
	KDRI_DO(kdri_sum(ctx, mean, cols));
	KDRI_DO(kdri_sum(ctx, number, cols));
	for (int64_t u = 0, end; u < cols; u = end) {
		end = u + 1;
		if (p->column_kind[u] != KDRI_TABLE_LEVEL) {
			hole[u] = number[u] > 0 ? mean[u] / number[u] : 0;
			continue;
		}
		bool has = false;
		end = category_end(p, u);
		for (int64_t l = u; l < end; l++)
			has = has || f->from[t * cols + l] >= 0;
		for (int64_t l = u; l < end && !has; l++)
			hole[l] = 0;
	}
	return KDR_OK;
}

/* --- all columns --------------------------------------------------------------------------------------------------------------- */

static kdr_status table_room(kdr_context *ctx, kdr_prep *p)
{
	int64_t size, holes;
	KDRI_DO(kdri_mul(ctx, p->sets, p->cols, &size));
	KDRI_DO(kdri_mul(ctx, p->tasks, p->cols, &holes));
	KDRI_DO(KDRI_NEW(ctx, &p->unit, size));
	KDRI_DO(KDRI_NEW(ctx, &p->low, size));
	KDRI_DO(KDRI_NEW(ctx, &p->high, size));
	KDRI_DO(KDRI_NEW(ctx, &p->offset, size));
	KDRI_DO(KDRI_NEW(ctx, &p->divisor, size));
	KDRI_DO(KDRI_NEW(ctx, &p->hole, holes));
	KDRI_DO(KDRI_NEW(ctx, &p->column_kind, p->cols));
	if (!p->group) {
		KDRI_DO(KDRI_NEW(ctx, &p->group, p->cols));
		for (int64_t u = 0; u < p->cols; u++)
			p->group[u] = -1;
	}
	for (int64_t i = 0; i < size; i++) {
		p->unit[i] = -1;
		p->low[i] = p->high[i] = p->offset[i] = 0;
		p->divisor[i] = 1;
	}
	return KDR_OK;
}

static kdr_status fit_set(kdr_context *ctx, table_fit *f, int64_t set, double *shares)
{
	kdr_prep *p = f->prep;
	const int64_t first = p->fit_each ? set : 0, last = p->fit_each ? set + 1 : f->count;
	double low, high;
	int skewed;
	for (int64_t u = 0; u < p->cols; u++) {
		const int64_t at = set * p->cols + u;
		if (p->column_kind[u] == KDRI_TABLE_LEVEL)
			continue;
		KDRI_DO(is_skewed(ctx, f, first, last, u, &skewed));
		if (f->nvalues == 0)
			continue;
		if (p->column_kind[u] == KDRI_TABLE_NUMBER)
			fit_number(f, at, skewed);
		else if (has_two_values(f->values, f->nvalues, &low, &high))
			fit_two_values(f, at, low, high);
		else /* one of the two values here: no distance */
			p->low[at] = p->high[at] = p->offset[at] = low;
	}
	KDRI_DO(count_levels(ctx, f, first, last, shares));
	levels_to_shares(p, shares);
	/* (E4) */
	for (int64_t u = 0; u < p->cols; u++) {
		const int64_t at = set * p->cols + u;
		if (p->column_kind[u] != KDRI_TABLE_LEVEL)
			continue;
		const double levels = (double)(category_end(p, p->group[u]) - p->group[u]);
		p->low[at] = 0;
		p->high[at] = 1;
		p->offset[at] = shares[u];
		p->divisor[at] = levels > 1 ? 1 / sqrt(level_weight * levels / (levels - 1)) : 1;
	}
	return KDR_OK;
}

kdr_status kdri_fit_table(kdr_context *ctx, kdr_prep *prep, kdr_data *const *tasks, int64_t count,
                          const kdri_columns *columns)
{
	kdr_status st;
	table_fit f = { .prep = prep, .tasks = tasks, .columns = columns, .count = count };
	double *mean = NULL, *number = NULL;
	int64_t size;
	for (int64_t t = 0; t < count; t++)
		if (tasks[t]->kind != KDR_MAT_DENSE)
			return kdri_fail(ctx, KDR_ERR_UNSUPPORTED,
			                 "data set %s is sparse, but scale table needs dense data",
			                 tasks[t]->name);
	KDRI_TRY(table_room(ctx, prep));
	KDRI_TRY(kdri_mul(ctx, count, prep->cols, &size));
	KDRI_TRY(KDRI_NEW(ctx, &f.from, size));
	KDRI_TRY(KDRI_NEW(ctx, &mean, prep->cols));
	KDRI_TRY(KDRI_NEW(ctx, &number, prep->cols));
	for (int64_t i = 0; i < size; i++)
		f.from[i] = -1;
	for (int64_t t = 0; t < count; t++)
		for (int64_t j = 0; j < tasks[t]->cols; j++)
			if (columns[t].to[j] >= 0)
				f.from[t * prep->cols + columns[t].to[j]] = j;
	/* Which columns are levels, have two values, or are numbers. */
	kdr_prep *p = f.prep;
	double low, high;
	for (int64_t u = 0; u < p->cols; u++) {
		p->column_kind[u] = p->group[u] >= 0 ? KDRI_TABLE_LEVEL : KDRI_TABLE_NUMBER;
		if (p->column_kind[u] == KDRI_TABLE_LEVEL)
			continue;
		KDRI_TRY(collect_values(ctx, &f, 0, f.count, u));
		if (has_two_values(f.values, f.nvalues, &low, &high))
			p->column_kind[u] = KDRI_TABLE_TWO;
	}
	for (int64_t set = 0; set < prep->sets; set++)
		KDRI_TRY(fit_set(ctx, &f, set, mean));
	for (int64_t t = 0; t < count; t++)
		KDRI_TRY(fit_hole(ctx, &f, t, mean, number));
done:
	KDRI_FREE(ctx, f.from, f.values, mean, number);
	return st;
}

/* --- using it -------------------------------------------------------------------------------------------------------------------- */

void kdri_row_table(const kdr_prep *prep, int64_t set, kdri_row *row)
{
	for (int64_t u = 0; u < row->n; u++) {
		if (prep->column_kind[u] == KDRI_TABLE_NUMBER && !isnan(row->val[u]))
			row->val[u] = table_scaled(prep, set * prep->cols + u, row->val[u]);
		else if (prep->column_kind[u] == KDRI_TABLE_LEVEL && isnan(row->val[u]))
			row->val[u] = 0;
	}
}

kdr_status kdri_table_encode(kdr_context *ctx, const kdr_prep *p, int64_t task, kdr_data *d)
{
	if (!p || p->options.scale != KDR_SCALE_TABLE || d->rows == 0)
		return KDR_OK;
	KDRI_DO(kdri_data_own(ctx, d));
	const int64_t set = p->fit_each ? task : 0;
	const double *hole = p->hole + task * p->cols;
	for (int64_t i = 0; i < d->rows; i++) {
		double *x = d->dense + i * d->cols;
		for (int64_t u = 0, end; u < p->cols; u = end) {
			const int64_t at = set * p->cols + u;
			end = u + 1;
			bool missing = isnan(x[u]);
			if (p->column_kind[u] == KDRI_TABLE_LEVEL) {
				end = category_end(p, u);
				missing = true;
				for (int64_t l = u; l < end; l++)
					missing = missing && !(x[l] > 0);
			}
			for (int64_t l = u; l < end; l++) {
				if (missing)
					x[l] = hole[l];
				else if (p->column_kind[l] != KDRI_TABLE_NUMBER)
					x[l] = (x[l] - p->offset[at + l - u]) / p->divisor[at + l - u];
			}
		}
	}
	return KDR_OK;
}

/* Columns of one category side by side; the first one's place decides. */
kdr_status kdri_table_order(kdr_context *ctx, kdr_prep *p, kdr_data *const *tasks, int64_t count,
                            kdri_columns *columns)
{
	kdr_status st = KDR_OK;
	int64_t *number = NULL, *group = NULL, at = 0;
	char **names = NULL;
	double *origin = NULL;
	if (p->options.scale != KDR_SCALE_TABLE || !p->group)
		return KDR_OK;
	KDRI_TRY(KDRI_NEW(ctx, &number, p->cols));
	KDRI_TRY(KDRI_NEW(ctx, &group, p->cols));
	KDRI_TRY(KDRI_NEW(ctx, &names, p->cols));
	KDRI_TRY(KDRI_NEW(ctx, &origin, p->cols));
	for (int64_t u = 0; u < p->cols; u++) {
		if (p->group[u] >= 0 && p->group[u] != u)
			continue;
		number[u] = at++;
		for (int64_t v = u + 1; v < p->cols && p->group[u] == u; v++)
			if (p->group[v] == u)
				number[v] = at++;
	}
	for (int64_t u = 0; u < p->cols; u++) {
		group[number[u]] = p->group[u] < 0 ? -1 : number[p->group[u]];
		names[number[u]] = p->names ? p->names[u] : NULL;
		origin[number[u]] = p->origin[u];
	}
	memcpy(p->group, group, (size_t)p->cols * sizeof *group);
	memcpy(p->origin, origin, (size_t)p->cols * sizeof *origin);
	if (p->names)
		memcpy(p->names, names, (size_t)p->cols * sizeof *names);
	for (int64_t t = 0; t < count; t++) {
		for (int64_t j = 0; j < tasks[t]->cols; j++)
			if (columns[t].to[j] >= 0)
				columns[t].to[j] = number[columns[t].to[j]];
		kdri_columns_order(&columns[t], tasks[t]->cols, p->cols);
	}
done:
	KDRI_FREE(ctx, number, group, names, origin);
	return st;
}

/* The smallest and the largest value of a column so far, and whether there are others. */
typedef struct ends {
	double low, high;
	bool other;
} ends;

static void see_value(ends *e, double v)
{
	if (isnan(v) || v == e->low || v == e->high)
		return;
	e->other = e->other || e->low < e->high;
	e->low = KDRI_MIN(e->low, v);
	e->high = KDRI_MAX(e->high, v);
}

kdr_status kdri_table_yes_no(kdr_context *ctx, kdr_data *const *tasks, int64_t count, bool *out)
{
	kdr_status st;
	kdri_names names = { .borrows = true };
	ends *all = NULL;
	int64_t total = 0;
	bool named = true;
	for (int64_t t = 0; t < count; t++) {
		total += tasks[t]->cols;
		named = named && tasks[t]->features;
	}
	*out = false;
	KDRI_TRY(KDRI_NEW(ctx, &all, total));
	for (int64_t j = 0; j < total; j++)
		all[j] = (ends){ INFINITY, -INFINITY, false };
	for (int64_t t = 0; t < count; t++)
		for (int64_t j = 0; j < tasks[t]->cols; j++) {
			int64_t at = j;
			if (named)
				KDRI_TRY(kdri_names_add(ctx, &names, tasks[t]->features[j],
				                        strlen(tasks[t]->features[j]), &at));
			for (int64_t i = 0; i < tasks[t]->rows && !all[at].other; i++)
				see_value(&all[at], tasks[t]->dense[i * tasks[t]->cols + j]);
		}
	for (int64_t j = 0; j < total; j++)
		*out = *out || (all[j].low < all[j].high && !all[j].other);
	/* A rank that has a part of the rows may see two of three values: it counts only if all ranks find a yes/no column. */
	bool not_here = !*out;
	KDRI_TRY(kdri_any(ctx, &not_here));
	*out = !not_here;
done:
	kdri_names_free(ctx, &names);
	kdri_free(ctx, all);
	return st;
}

static int count_text(char *text, size_t room, const char *before, int64_t n, const char *one,
                      const char *many)
{
	return n > 0 ? kdri_snprintf(text, room, "%s%lld %s", before, (long long)n, n == 1 ? one : many) : 0;
}

void kdri_table_sentence(const kdr_prep *p, char *text, size_t room)
{
	int64_t numbers = 0, two = 0, categories = 0, logs = 0;
	for (int64_t u = 0, end; u < p->cols; u = end) {
		end = p->column_kind[u] == KDRI_TABLE_LEVEL ? category_end(p, u) : u + 1;
		numbers += p->column_kind[u] == KDRI_TABLE_NUMBER;
		logs += p->unit[u] != -1;
		two += p->column_kind[u] == KDRI_TABLE_TWO || end == u + 2;
		categories += end > u + 2;
	}
	size_t used = (size_t)kdri_snprintf(text, room, "treated as a table");
	const char *before = ": ";
	const struct {
		int64_t n;
		const char *one, *many;
	} parts[] = { { numbers, "number", "numbers" },
		      { two, "yes/no", "yes/no" },
		      { categories, "category", "categories" } };
	for (size_t i = 0; i < 3; i++) {
		used += (size_t)count_text(text + used, room - used, before, parts[i].n, parts[i].one,
		                           parts[i].many);
		before = parts[i].n > 0 ? ", " : before;
	}
	count_text(text + used, room - used, "; ", logs, "number on a log scale", "numbers on a log scale");
}
