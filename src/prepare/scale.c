/* Fitting of scales, and the moments of columns. SPDX-License-Identifier: BSD-3-Clause
 *
 * Column statistics in one pass over the rows, for each chunk of rows separately (Welford 1962):
 *
 *   mean' = mean + (x - mean) / n,   m2' = m2 + (x - mean)(x - mean')                    (E1)
 *
 * and two parts a, b joined in order of rows (Chan, Golub & LeVeque 1983), d = mean_b - mean_a:
 *
 *   mean = mean_a + d n_b / n,   m2 = m2_a + m2_b + d^2 n_a n_b / n                      (E2)
 *
 * Sparse rows update (E1) only for stored entries; the other rows of the chunk are joined as a part of zeros by (E2).
 * The cost is therefore proportional to the stored entries.
 *
 * standard: divisor = sqrt(m2 / n), or 1 if the column is constant up to rounding by scikit-learn's rule; offset =
 * mean if all tasks are dense, else 0. minmax: offset = min, divisor = max - min, or 1 if that is 0. Columns of
 * a category have one divisor, (E1) and (E2) of kinds.c.
 *
 * The parts of several ranks are joined by (E2), all at once: mean = sum n_r mean_r / n, m2 = sum (m2_r + n_r (mean_r -
 * mean)^2). The last bits of mean and m2 then depend on the distribution of the rows; ranges are exact.
 *
 * Columns with entries whose squares overflow are added up as x 2^-e, and the results are multiplied by 2^e again
 * (E3). */
#include "comm/comm.h"
#include "prepare/prep.h"

#include <float.h>
#include <stdlib.h>

/* Statistics of all columns over `rows` rows: mean and m2 in a and b, or min and max. */
typedef struct stats {
	bool range;    /* min and max; else mean and m2 */
	double rows;   /* the value of every count if that is NULL */
	double *count; /* entries a column has so far: sparse chunks alone */
	double *a, *b;
	const int *exponent; /* (E3): one a column, or NULL: none */
	bool counts;         /* of what the logarithm of the weight was taken of */
} stats;

static void scale_clear(stats *s, int64_t cols)
{
	s->rows = 0;
	for (int64_t j = 0; j < cols; j++) {
		s->a[j] = s->range ? INFINITY : 0;
		s->b[j] = s->range ? -INFINITY : 0;
	}
	if (s->count)
		memset(s->count, 0, (size_t)cols * sizeof *s->count);
}

static void add_dense(stats *s, const double *restrict x, int64_t cols)
{
	double *restrict a = s->a, *restrict b = s->b, part = 1 / (s->rows += 1);
	if (s->range)
		for (int64_t j = 0; j < cols; j++) {
			a[j] = x[j] < a[j] ? x[j] : a[j];
			b[j] = x[j] > b[j] ? x[j] : b[j];
		}
	else
		for (int64_t j = 0; j < cols; j++) {
			double d = x[j] - a[j];
			a[j] += d * part; /* (E1) */
			b[j] += d * (x[j] - a[j]);
		}
}

static void scale_add_sparse(stats *s, const kdri_row *row)
{
	s->rows += 1;
	for (int64_t p = 0; p < row->n; p++) {
		int32_t j = row->col[p];
		double x = row->val[p], n = s->count[j] += 1;
		if (s->range) {
			s->a[j] = x < s->a[j] ? x : s->a[j];
			s->b[j] = x > s->b[j] ? x : s->b[j];
		} else {
			double d = x - s->a[j];
			s->a[j] += d / n; /* (E1) */
			s->b[j] += d * (x - s->a[j]);
		}
	}
}

/* (E3) */
static void scale_shrink(const int *exponent, kdri_row *row)
{
	for (int64_t p = 0; p < row->n; p++) {
		int e = exponent[row->col ? row->col[p] : p];
		if (e != 0)
			row->val[p] = ldexp(row->val[p], -e);
	}
}

/* Joins the zeros of a sparse chunk. */
static void add_zeros(stats *s, int64_t cols)
{
	for (int64_t j = 0; j < cols; j++) {
		double n = s->count[j], zeros = s->rows - n;
		if (zeros == 0)
			continue;
		if (s->range) {
			s->a[j] = KDRI_MIN(s->a[j], 0);
			s->b[j] = KDRI_MAX(s->b[j], 0);
		} else {
			s->b[j] += s->a[j] * s->a[j] * (n * zeros / s->rows); /* (E2) */
			s->a[j] *= n / s->rows;
		}
	}
}

static void scale_join(stats *s, const stats *part, int64_t cols)
{
	double n = s->rows + part->rows;
	if (part->rows == 0)
		return;
	for (int64_t j = 0; j < cols; j++)
		if (s->range) {
			s->a[j] = KDRI_MIN(s->a[j], part->a[j]);
			s->b[j] = KDRI_MAX(s->b[j], part->b[j]);
		} else {
			double d = part->a[j] - s->a[j];
			s->a[j] += d * (part->rows / n); /* (E2) */
			s->b[j] += part->b[j] + d * d * (s->rows * part->rows / n);
		}
	s->rows = n;
}

/* Joins the statistics of one task to `total`: of its aligned rows, unchanged or weighted by the
 * numbers of `set` where that is not -1. */
static kdr_status add_task(kdr_context *ctx, const kdr_prep *prep, int64_t set, const kdr_data *d,
                           const kdri_columns *columns, stats *total)
{
	kdr_status st;
	kdri_row_chunks chunks = { 0 };
	stats *parts = NULL;
	double *storage = NULL;
	int64_t cols = prep->cols, size, arrays = d->kind == KDR_MAT_CSR ? 3 : 2;
	KDRI_TRY(kdri_row_chunks_new(ctx, prep, d, &chunks));
	KDRI_TRY(kdri_mul(ctx, chunks.count * arrays, cols, &size));
	KDRI_TRY(KDRI_NEW0(ctx, &parts, chunks.count));
	KDRI_TRY(KDRI_NEW(ctx, &storage, size));
	for (int64_t c = 0; c < chunks.count; c++) {
		double *own = storage + c * arrays * cols;
		parts[c] = (stats){ .range = total->range, .a = own, .b = own + cols };
		parts[c].count = chunks.sparse ? own + 2 * cols : NULL;
	}
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic) if (chunks.count > 1)
	for (int64_t c = 0; c < chunks.count; c++) {
		kdri_row row = kdri_row_chunk_row(&chunks, c);
		scale_clear(&parts[c], cols);
		for (int64_t i = kdri_row_chunk_begin(&chunks, c); i < kdri_row_chunk_begin(&chunks, c + 1);
		     i++) {
			kdri_row_load(d, columns, i, cols, &row);
			if (set >= 0)
				kdri_row_weigh(prep, set, &row);
			if (total->exponent)
				scale_shrink(total->exponent, &row);
			for (int64_t p = 0; total->counts && p < row.n; p++)
				row.val[p] = expm1(row.val[p]);
			if (chunks.sparse)
				scale_add_sparse(&parts[c], &row);
			else
				add_dense(&parts[c], row.val, cols);
		}
		if (chunks.sparse)
			add_zeros(&parts[c], cols);
	}
	for (int64_t c = 0; c < chunks.count; c++)
		scale_join(total, &parts[c], cols);
done:
	kdri_row_chunks_free(ctx, &chunks);
	KDRI_FREE(ctx, parts, storage);
	return st;
}

/* The statistics of this rank's rows become those of all ranks. */
static kdr_status join_ranks(kdr_context *ctx, stats *s, int64_t cols)
{
	kdr_status st = KDR_OK;
	double own = s->rows, *mean = NULL;
	if (!kdri_together(ctx))
		return KDR_OK;
	KDRI_TRY(kdri_sum(ctx, &s->rows, 1));
	if (s->range) {
		for (int64_t j = 0; j < cols; j++)
			s->a[j] = -s->a[j];
		KDRI_TRY(kdri_max(ctx, s->a, cols));
		KDRI_TRY(kdri_max(ctx, s->b, cols));
		for (int64_t j = 0; j < cols; j++)
			s->a[j] = -s->a[j];
		goto done;
	}
	KDRI_TRY(KDRI_NEW(ctx, &mean, cols));
	for (int64_t j = 0; j < cols; j++)
		mean[j] = own * s->a[j];
	KDRI_TRY(kdri_sum(ctx, mean, cols));
	for (int64_t j = 0; j < cols; j++) { /* (E2) */
		mean[j] = s->rows > 0 ? mean[j] / s->rows : 0;
		s->b[j] += own * (s->a[j] - mean[j]) * (s->a[j] - mean[j]);
		s->a[j] = mean[j];
	}
	KDRI_TRY(kdri_sum(ctx, s->b, cols));
done:
	kdri_free(ctx, mean);
	return st;
}

/* --- scale ------------------------------------------------------------------------------------- */

enum { LARGEST_EXPONENT = 480 }; /* squares of 2^480, added up 2^60 times, are finite */

static bool squares_fit(const kdr_data *d)
{
	int64_t count = d->kind == KDR_MAT_CSR ? d->rowptr[d->rows] : d->rows * d->cols;
	const double *x = d->kind == KDR_MAT_CSR ? d->val : d->dense;
	double largest = 0;
	for (int64_t p = 0; p < count; p++)
		largest = KDRI_MAX(largest, fabs(x[p]));
	return largest <= ldexp(1, LARGEST_EXPONENT);
}

/* e of (E3) for the tasks first..last-1; *out stays NULL where no column needs one. */
static kdr_status find_exponents(kdr_context *ctx, const kdr_prep *prep, kdr_data *const *tasks,
                                 int64_t first, int64_t last, const kdri_columns *columns, int **out)
{
	kdr_status st = KDR_OK;
	stats ends = { .range = true };
	int *exponent = NULL;
	bool fit = true;
	for (int64_t t = first; t < last; t++)
		fit = fit && squares_fit(tasks[t]);
	bool large = !fit;
	KDRI_TRY(kdri_any(ctx, &large));
	if (!large)
		return KDR_OK;
	KDRI_TRY(KDRI_NEW(ctx, &ends.a, prep->cols));
	KDRI_TRY(KDRI_NEW(ctx, &ends.b, prep->cols));
	KDRI_TRY(KDRI_NEW0(ctx, &exponent, prep->cols));
	scale_clear(&ends, prep->cols);
	for (int64_t t = first; t < last; t++)
		KDRI_TRY(add_task(ctx, prep, prep->fit_each ? t : 0, tasks[t], &columns[t], &ends));
	KDRI_TRY(join_ranks(ctx, &ends, prep->cols));
	for (int64_t j = 0; j < prep->cols && ends.rows > 0; j++) {
		(void)frexp(KDRI_MAX(fabs(ends.a[j]), fabs(ends.b[j])), &exponent[j]);
		exponent[j] = exponent[j] > LARGEST_EXPONENT ? exponent[j] + 1 : 0;
	}
	*out = exponent;
	exponent = NULL;
done:
	KDRI_FREE(ctx, ends.a, ends.b, exponent);
	return st;
}

/* (E3) the other way; a range beyond all numbers is the largest one. */
static void scale_enlarge(const int *exponent, int64_t cols, double *offset, double *divisor)
{
	for (int64_t j = 0; j < cols; j++)
		if (exponent[j] != 0) {
			offset[j] = ldexp(offset[j], exponent[j]);
			divisor[j] = divisor[j] == 1 ? 1 : KDRI_MIN(ldexp(divisor[j], exponent[j]), DBL_MAX);
		}
}

/* From mean and m2 to offset and divisor, in place. */
static void finish_standard(const kdr_prep *prep, double rows, double *offset, double *divisor)
{
	for (int64_t j = 0; j < prep->cols; j++) {
		double mean = offset[j], variance = rows > 0 ? divisor[j] / rows : 0;
		/* What rounding alone can leave of the variance of a constant column. */
		double noise = rows * DBL_EPSILON * variance + pow(rows * mean * DBL_EPSILON, 2);
		divisor[j] = variance > noise ? variance : 0;
		offset[j] = prep->centred ? mean : 0;
	}
	if (prep->group) {
		/* The root of what the variances of a category's columns add up to, for all of them; those of constant columns are 0. */
		for (int64_t j = 0; j < prep->cols; j++) /* the first column of a group precedes the others */
			if (prep->group[j] >= 0 && prep->group[j] != j)
				divisor[prep->group[j]] += divisor[j];
		for (int64_t j = prep->cols; j-- > 0;)
			if (prep->group[j] >= 0)
				divisor[j] = divisor[prep->group[j]]; /* (E1) of kinds.c */
	}
	for (int64_t j = 0; j < prep->cols; j++)
		divisor[j] = divisor[j] > 0 ? sqrt(divisor[j]) : 1;
}

/* From min and max to offset and divisor, in place. */
static void finish_minmax(const kdr_prep *prep, double rows, double *offset, double *divisor)
{
	for (int64_t j = 0; j < prep->cols; j++) {
		double min = rows > 0 ? offset[j] : 0, range = rows > 0 ? divisor[j] - min : 0;
		offset[j] = min;
		divisor[j] = range < 10 * DBL_EPSILON ? 1 : range;
		if (prep->group && prep->group[j] >= 0) {
			offset[j] = 0;
			divisor[j] = sqrt(2); /* (E2) of kinds.c */
		}
	}
}

/* Without scaling: categories alone, (E2) of kinds.c. */
static kdr_status scale_categories(kdr_context *ctx, kdr_prep *prep)
{
	int64_t size;
	KDRI_DO(kdri_mul(ctx, prep->sets, prep->cols, &size));
	KDRI_DO(KDRI_NEW0(ctx, &prep->offset, size));
	KDRI_DO(KDRI_NEW(ctx, &prep->divisor, size));
	for (int64_t i = 0; i < size; i++)
		prep->divisor[i] = prep->group[i % prep->cols] >= 0 ? sqrt(2) : 1;
	return KDR_OK;
}

kdr_status kdri_fit_scale(kdr_context *ctx, kdr_prep *prep, kdr_data *const *tasks, int64_t count,
                          const kdri_columns *columns)
{
	kdr_status st;
	int64_t size, sparse = 0;
	int *exponent = NULL;
	if (prep->options.scale == KDR_SCALE_TABLE)
		return kdri_fit_table(ctx, prep, tasks, count, columns);
	if (prep->options.scale == KDR_SCALE_NONE)
		return prep->group ? scale_categories(ctx, prep) : KDR_OK;
	KDRI_TRY(kdri_mul(ctx, prep->sets, prep->cols, &size));
	KDRI_TRY(KDRI_NEW(ctx, &prep->offset, size));
	KDRI_TRY(KDRI_NEW(ctx, &prep->divisor, size));
	for (int64_t t = 0; t < count; t++)
		sparse += tasks[t]->kind == KDR_MAT_CSR;
	bool standard = prep->options.scale == KDR_SCALE_STANDARD;
	prep->centred = standard && sparse == 0;
	if (standard && sparse == count)
		KDRI_TRY(kdri_prep_warn(
		        ctx, prep,
		        "scale standard: the data are sparse, so they were scaled but not centred"));
	else if (standard && sparse > 0)
		KDRI_TRY(kdri_prep_warn(
		        ctx, prep,
		        "scale standard: some data sets are sparse, so all were scaled but not centred"));
	stats total = { .range = !standard };
	for (int64_t t = 0; t < count; t++) {
		int64_t set = prep->fit_each ? t : 0;
		if (t == 0 || prep->fit_each) {
			total.a = prep->offset + set * prep->cols;
			total.b = prep->divisor + set * prep->cols;
			scale_clear(&total, prep->cols);
			kdri_free(ctx, exponent);
			exponent = NULL;
			KDRI_TRY(find_exponents(ctx, prep, tasks, t, prep->fit_each ? t + 1 : count, columns,
			                        &exponent));
			total.exponent = exponent;
		}
		KDRI_TRY(add_task(ctx, prep, set, tasks[t], &columns[t], &total));
		if (!prep->fit_each && t + 1 < count)
			continue;
		KDRI_TRY(join_ranks(ctx, &total, prep->cols));
		if (standard)
			finish_standard(prep, total.rows, total.a, total.b);
		else
			finish_minmax(prep, total.rows, total.a, total.b);
		if (exponent)
			scale_enlarge(exponent, prep->cols, total.a, total.b);
	}
done:
	kdri_free(ctx, exponent);
	return st;
}

/* --- zeros of sparse data ---------------------------------------------------------------------- */

static bool moves_zero(const kdr_prep *prep, const double *offset, int64_t j)
{
	return offset[j] != 0 && (!prep->place || prep->place[j] >= 0);
}

/* The first column that moves zeros and that row i does not store. */
static int64_t lost_zero(const kdr_prep *prep, const double *offset, const kdr_data *d,
                         const kdri_columns *columns, int64_t i)
{
	for (int64_t j = 0; j < prep->cols; j++) {
		bool stored = false;
		for (int64_t p = d->rowptr[i]; p < d->rowptr[i + 1] && !stored; p++)
			stored = columns->to[d->col[p]] == j;
		if (!stored && moves_zero(prep, offset, j))
			return j;
	}
	return -1;
}

kdr_status kdri_check_zeros(kdr_context *ctx, const kdr_prep *prep, int64_t set, const kdr_data *d,
                            const kdri_columns *columns)
{
	if (!prep->offset || d->kind != KDR_MAT_CSR)
		return KDR_OK;
	const double *offset = prep->offset + set * prep->cols;
	char called[KDRI_ROW_NAME];
	int64_t needed = 0;
	for (int64_t j = 0; j < prep->cols; j++)
		needed += moves_zero(prep, offset, j);
	for (int64_t i = 0; i < d->rows && needed > 0; i++) {
		int64_t has = 0;
		for (int64_t p = d->rowptr[i]; p < d->rowptr[i + 1]; p++) {
			int64_t j = columns->to[d->col[p]];
			has += j >= 0 && moves_zero(prep, offset, j);
		}
		if (has == needed)
			continue;
		int64_t j = lost_zero(prep, offset, d, columns, i);
		const char *name = prep->names ? prep->names[j] : "";
		return kdri_fail(
		        ctx, KDR_ERR_UNSUPPORTED,
		        "data set %s is sparse, and scale %s would turn the zero in %s, column %lld%s%.60s%s into %g (the column's %s is %g); dense data are needed",
		        d->name, kdri_scale_names[prep->options.scale], kdri_row_name(d, i, called),
		        (long long)j + 1, *name ? " ('" : "", name, *name ? "')" : "",
		        -offset[j] / prep->divisor[set * prep->cols + j],
		        prep->centred ? "mean" : "smallest value", offset[j]);
	}
	return KDR_OK;
}

/* --- moments ----------------------------------------------------------------------------------- */

kdr_status kdri_column_moments(kdr_context *ctx, const kdr_prep *prep, kdr_data *const *tasks, int64_t count,
                               const kdri_columns *columns, kdri_moments_of what, double *rows, double *mean,
                               double *m2)
{
	stats total = { .counts = what == KDRI_MOMENTS_COUNTS };
	total.a = mean;
	total.b = m2;
	scale_clear(&total, prep->cols);
	for (int64_t t = 0; t < count; t++) {
		int64_t set = what == KDRI_MOMENTS_RAW ? -1 : prep->fit_each ? t : 0;
		KDRI_DO(add_task(ctx, prep, set, tasks[t], &columns[t], &total));
	}
	KDRI_DO(join_ranks(ctx, &total, prep->cols));
	*rows = total.rows;
	return KDR_OK;
}
