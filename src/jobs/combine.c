/* Samples that are compared by both of their views. SPDX-License-Identifier: BSD-3-Clause
 *
 *     (E1)  x_i = u_i / |u_i|,  u_i = [ a_i / (|a_i| sqrt(s_a)), b_i / (|b_i| sqrt(s_b)) ]
 *
 * a_i    row i of the data             b_i    row i of the view (jobs/say/explain.c), each preprocessed by its own kind of data
 * s_a    standard deviation of the cosines of two samples, from at most MOST samples; s_b: that of the view
 *
 * The cosine of two samples is a mean of their cosines in both views, which differ equally much among samples: those of words are close to 0,
 * those of embeddings are not, and would decide alone. A row of zeros in one of the views leaves the other.
 * Cost: that of preprocessing, a copy of both, and MOST^2 / 2 cosines. */
#include "jobs/job.h"
#include "matrix/linalg.h"
#include "prepare/prep.h"

static kdr_status check(kdr_context *ctx, const kdr_data *d)
{
	if (!d->view)
		return kdri_fail(ctx, KDR_ERR_DATA,
		                 "data set %s has no second view, so samples cannot be compared by both",
		                 d->name);
	if (d->combined || d->vectors)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT,
		                 "data set %s: %s, so they cannot be compared by both views", d->name,
		                 d->combined ? "samples are compared by both views already"
		                             : "texts are compared by word vectors");
	if (d->cols > INT32_MAX - d->view->cols)
		return kdri_fail(ctx, KDR_ERR_UNSUPPORTED,
		                 "data set %s: both views have more than %d columns", d->name, INT32_MAX);
	return KDR_OK;
}

static double length_of(const kdri_entries *row)
{
	double sum = 0;
	for (int64_t p = 0; p < row->count; p++)
		sum += row->val[p] * row->val[p];
	return sqrt(sum);
}

/* Adds the cosines of row i of x and of every `step`th row of y from `from` on to the number, sum and sum of squares. `work` is 0. */
static void add_cosines(const kdr_mat *x, int64_t i, const kdr_mat *y, int64_t from, int64_t step,
                        double *work, double sums[3])
{
	const kdri_entries one = kdri_row_entries(x, i);
	const double length = length_of(&one);
	for (int64_t p = 0; p < one.count; p++)
		work[kdri_entry_column(&one, p)] = one.val[p];
	for (int64_t j = from; j < kdr_mat_rows(y); j += step) {
		const kdri_entries other = kdri_row_entries(y, j);
		const double both = length * length_of(&other);
		double product = 0;
		for (int64_t p = 0; p < other.count; p++)
			product += other.val[p] * work[kdri_entry_column(&other, p)];
		if (both > 0) {
			sums[0]++;
			sums[1] += product / both;
			sums[2] += product / both * (product / both);
		}
	}
	for (int64_t p = 0; p < one.count; p++)
		work[kdri_entry_column(&one, p)] = 0;
}

/* s_a of (E1), on evenly spaced rows of all data sets; 1 if all cosines are equal. */
static kdr_status find_spread(kdr_context *ctx, kdr_data *const *sets, int64_t count, double *out)
{
	enum { MOST = 600 };
	double *work = NULL, sums[3] = { 0 };
	int64_t rows = 0;
	for (int64_t t = 0; t < count; t++)
		rows += sets[t]->rows;
	const int64_t step = (rows + MOST - 1) / MOST;
	KDRI_DO(KDRI_NEW0(ctx, &work, sets[0]->cols));
	for (int64_t t = 0; t < count; t++) {
		const kdr_mat x = kdr_data_mat(sets[t]);
		for (int64_t i = 0; i < sets[t]->rows; i += step)
			for (int64_t o = t; o < count; o++) {
				const kdr_mat y = kdr_data_mat(sets[o]);
				add_cosines(&x, i, &y, o == t ? i + step : 0, step, work, sums);
			}
	}
	kdri_free(ctx, work);
	const double mean = sums[1] / KDRI_MAX(sums[0], 1), square = sums[2] / KDRI_MAX(sums[0], 1),
	             variance = square - mean * mean;
	*out = variance > 1e-12 * square ? sqrt(variance) : 1;
	return KDR_OK;
}

/* Adds row i of x with this length, and with its columns moved by `first`. Returns the end of the row. */
static int64_t put_row(const kdr_mat *x, int64_t i, double length, int64_t first, int32_t *col, double *val,
                       int64_t end)
{
	const kdri_entries row = kdri_row_entries(x, i);
	const double now = length_of(&row);
	for (int64_t p = 0; p < row.count; p++)
		if (row.val[p] != 0) {
			col[end] = (int32_t)(first + kdri_entry_column(&row, p));
			val[end++] = row.val[p] * (length / now);
		}
	return end;
}

static int64_t count_entries(const kdr_mat *x)
{
	int64_t count = 0;
	for (int64_t i = 0; i < kdr_mat_rows(x); i++)
		count += kdri_row_entries(x, i).count;
	return count;
}

/* (E1); spread: s_a, s_b */
static kdr_status join(kdr_context *ctx, kdr_data *d, const kdr_data *view, const double spread[2])
{
	kdr_status st;
	const kdr_mat a = kdr_data_mat(d), b = kdr_data_mat(view);
	const int64_t room = count_entries(&a) + count_entries(&b);
	int64_t *rowptr = NULL;
	int32_t *col = NULL;
	double *val = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &rowptr, d->rows + 1));
	KDRI_TRY(KDRI_NEW(ctx, &col, room));
	KDRI_TRY(KDRI_NEW(ctx, &val, room));
	const double la = 1 / sqrt(spread[0]), lb = 1 / sqrt(spread[1]), all = sqrt(la * la + lb * lb);
	for (int64_t i = 0; i < d->rows; i++) {
		const kdri_entries own = kdri_row_entries(&a, i), other = kdri_row_entries(&b, i);
		const bool both = length_of(&own) > 0 && length_of(&other) > 0;
		const int64_t half = put_row(&a, i, both ? la / all : 1, 0, col, val, rowptr[i]);
		rowptr[i + 1] = put_row(&b, i, both ? lb / all : 1, d->cols, col, val, half);
	}
	if (!d->compared)
		KDRI_TRY(kdri_strdup(ctx, "both views", &d->compared));
	kdri_data_columns(d, d->cols + view->cols, rowptr, col, val);
	d->combined = true;
	rowptr = NULL;
	col = NULL;
	val = NULL;
done:
	KDRI_FREE(ctx, rowptr, col, val);
	return st;
}

kdr_status kdr_data_combine(kdr_context *ctx, kdr_data *const *sets, int64_t count)
{
	kdr_status st;
	kdr_data **own = NULL, **views = NULL;
	kdr_prep *prep = NULL, *other = NULL;
	kdr_recipe recipe = { 0 };
	double spread[2];
	kdr_prep_options wanted;
	KDRI_NEED(ctx, sets);
	KDRI_DO(kdri_check_sets(ctx, "combine", sets, count, 1));
	kdr_prep_options_init(&wanted);
	KDRI_TRY(kdri_job_alone(ctx, "comparing samples by both views", true));
	KDRI_TRY(KDRI_NEW0(ctx, &own, count));
	KDRI_TRY(KDRI_NEW0(ctx, &views, count));
	for (int64_t t = 0; t < count; t++) {
		KDRI_TRY(check(ctx, sets[t]));
		KDRI_TRY(kdr_data_view(ctx, sets[t]->view, NULL, &views[t]));
		own[t] = sets[t];
	}
	KDRI_TRY(kdri_prepare_sets(ctx, own, count, 0, false, &wanted, KDRI_PREP_RECIPE, false, &recipe,
	                           &prep));
	KDRI_TRY(kdri_prepare_sets(ctx, views, count, 0, false, &wanted, KDRI_PREP_RECIPE, false, &recipe,
	                           &other));
	KDRI_TRY(find_spread(ctx, own, count, &spread[0]));
	KDRI_TRY(find_spread(ctx, views, count, &spread[1]));
	for (int64_t t = 0; t < count; t++)
		KDRI_TRY(join(ctx, sets[t], views[t], spread));
done:
	for (int64_t t = 0; views && t < count; t++)
		kdr_data_free(views[t]);
	kdr_prep_free(prep);
	kdr_prep_free(other);
	KDRI_FREE(ctx, own, views);
	return st;
}
