/* Mixtures in models: what they keep, and how they label new rows. SPDX-License-Identifier: BSD-3-Clause
 *
 * A model has the columns of the tables and, for every data set, one or several mixtures. A new row has the label of the largest mean
 * posterior, (E4) of mixture.c. */
#include "engine/mixture/mixture.h"

#include "api/method.h"
#include "matrix/linalg.h"

/* How new rows are read: the columns of numbers, and of categories the first column, how many columns, and, of one column of two
 * values, the larger one. */
kdr_status kdri_mixture_save_columns(kdr_context *ctx, const kdri_mixed *m, kdr_result *result)
{
	int64_t *numbers = NULL, *categories = NULL;
	double *weights = NULL, *larger = NULL;
	/* Arrays of models are never empty. */
	KDRI_DO(kdri_result_array(ctx, result, "table_weights", -1, KDR_FLOAT64, 1,
	                          (int64_t[]){ KDRI_MAX(m->numbers + m->categories, 1) }, &weights));
	memcpy(weights, m->number_weight, (size_t)m->numbers * sizeof *weights);
	memcpy(weights + m->numbers, m->category_weight, (size_t)m->categories * sizeof *weights);
	if (m->numbers > 0) {
		KDRI_DO(kdri_result_array(ctx, result, "table_numbers", -1, KDR_INT64, 1,
		                          (int64_t[]){ m->numbers }, &numbers));
		memcpy(numbers, m->number_column, (size_t)m->numbers * sizeof *numbers);
	}
	if (m->categories > 0) {
		KDRI_DO(kdri_result_array(ctx, result, "table_categories", -1, KDR_INT64, 2,
		                          (int64_t[]){ m->categories, 2 }, &categories));
		KDRI_DO(kdri_result_array(ctx, result, "table_larger", -1, KDR_FLOAT64, 1,
		                          (int64_t[]){ m->categories }, &larger));
	}
	for (int64_t j = 0; j < m->categories; j++) {
		categories[2 * j] = m->category_column[j];
		categories[2 * j + 1] = isnan(m->larger[j]) ? m->levels[j] : 1;
		larger[j] = isnan(m->larger[j]) ? 0 : m->larger[j];
	}
	return KDR_OK;
}

/* The mixture of member m for table s among all columns. `means`: of the table's numbers, subtracted before
 * pooling. */
static void save_mixture(const kdri_mixed *a, int64_t s, const kdri_mixture_member *m, const double *means,
                         double *share, double *mean, double *variance, double *level)
{
	const kdri_mixture *from = m->mixture;
	const int64_t k = from->k, p = a->numbers;
	int64_t at = 0, l = 0;
	for (int64_t c = 0; c < k; c++)
		share[m->to ? m->to[c] : c] = from->share[(m->pooled ? s : 0) * k + c];
	for (int64_t j = 0; mean && variance && j < p;
	     j++) { /* a variance of 0: the table does not have this column */
		const bool has = a->has_number[s * p + j];
		for (int64_t c = 0; c < k && has; c++) {
			const int64_t to = m->to ? m->to[c] : c;
			mean[to * p + j] = from->mean[c * from->numbers + (m->pooled ? j : at)] +
			                   (m->pooled ? means[j] : 0);
			variance[to * p + j] = from->variance[c * from->numbers + (m->pooled ? j : at)];
		}
		at += has;
	}
	for (int64_t j = 0; level && j < a->categories; j++) {
		const bool has = a->has_category[s * a->categories + j];
		for (int64_t i = a->offset[j]; i < a->offset[j + 1]; i++) {
			for (int64_t c = 0; c < k && (has || m->pooled); c++)
				level[i * k + (m->to ? m->to[c] : c)] =
				        from->theta[(m->pooled ? i : l) * k + c];
			l += has;
		}
	}
}

kdr_status kdri_mixture_save(kdr_context *ctx, const kdri_mixed *a, int64_t s,
                             const kdri_mixture_member *members, int64_t count, const double *means,
                             kdr_result *result)
{
	const int64_t k = members[0].mixture->k, p = a->numbers, levels = a->offset[a->categories];
	double *share = NULL, *mean = NULL, *variance = NULL, *level = NULL;
	KDRI_DO(kdri_result_array(ctx, result, "table_shares", s, KDR_FLOAT64, 2, (int64_t[]){ count, k },
	                          &share));
	if (p > 0) {
		KDRI_DO(kdri_result_array(ctx, result, "table_means", s, KDR_FLOAT64, 3,
		                          (int64_t[]){ count, k, p }, &mean));
		KDRI_DO(kdri_result_array(ctx, result, "table_variances", s, KDR_FLOAT64, 3,
		                          (int64_t[]){ count, k, p }, &variance));
	}
	if (levels > 0)
		KDRI_DO(kdri_result_array(ctx, result, "table_levels", s, KDR_FLOAT64, 3,
		                          (int64_t[]){ count, levels, k }, &level));
	for (int64_t i = 0; i < count; i++)
		save_mixture(a, s, &members[i], means, share + i * k, p > 0 ? mean + i * k * p : NULL,
		             p > 0 ? variance + i * k * p : NULL, levels > 0 ? level + i * levels * k : NULL);
	return KDR_OK;
}

/* Arrays of a model, checked against each other: it may come from a damaged file. */
typedef struct saved {
	const int64_t *number, *category;
	const double *larger, *weight, *share, *mean, *variance, *level;
	int64_t numbers, categories, levels, members, k;
} saved;

static bool is_shape(const kdr_array *a, int64_t first, int64_t second, int64_t third)
{
	return a->data && a->ndim == 3 && a->shape[0] == first && a->shape[1] == second &&
	       a->shape[2] == third;
}

static kdr_status load_model(kdr_context *ctx, const kdr_result *fitted, int64_t task, int64_t cols, saved *m)
{
	kdr_array number = kdr_result_array(fitted, "table_numbers", -1),
	          category = kdr_result_array(fitted, "table_categories", -1),
	          larger = kdr_result_array(fitted, "table_larger", -1),
	          weight = kdr_result_array(fitted, "table_weights", -1),
	          share = kdr_result_array(fitted, "table_shares", task),
	          mean = kdr_result_array(fitted, "table_means", task),
	          variance = kdr_result_array(fitted, "table_variances", task),
	          level = kdr_result_array(fitted, "table_levels", task);
	*m = (saved){ .number = number.data,
		      .category = category.data,
		      .larger = larger.data,
		      .weight = weight.data,
		      .share = share.data,
		      .mean = mean.data,
		      .variance = variance.data,
		      .level = level.data };
	bool sound = (!number.data || number.ndim == 1) &&
	             (!category.data || (category.ndim == 2 && category.shape[1] == 2)) && weight.data &&
	             weight.ndim == 1 && share.data && share.ndim == 2;
	if (sound) {
		m->numbers = number.data ? number.shape[0] : 0;
		m->categories = category.data ? category.shape[0] : 0;
		m->members = share.shape[0];
		m->k = share.shape[1];
		for (int64_t j = 0; j < m->categories && sound; j++) {
			const int64_t first = m->category[2 * j], width = m->category[2 * j + 1];
			sound = width >= 1 && width <= cols && first >= 0 && first <= cols - width;
			m->levels += KDRI_MAX(width, 2);
		}
		for (int64_t j = 0; j < m->numbers && sound; j++)
			sound = m->number[j] >= 0 && m->number[j] < cols;
		sound = sound && m->members > 0 && m->k > 0 &&
		        weight.shape[0] == KDRI_MAX(m->numbers + m->categories, 1) &&
		        (m->categories == 0 ||
		         (larger.data && larger.ndim == 1 && larger.shape[0] == m->categories)) &&
		        (m->numbers == 0 || (is_shape(&mean, m->members, m->k, m->numbers) &&
		                             is_shape(&variance, m->members, m->k, m->numbers))) &&
		        (m->levels == 0 || is_shape(&level, m->members, m->levels, m->k));
	}
	return sound ? KDR_OK
	             : kdri_fail(
	                       ctx, KDR_ERR_DATA,
	                       "the model has no mixtures for a table of %lld columns for data set number %lld",
	                       (long long)cols, (long long)task + 1);
}

kdr_status kdri_mixture_predict(kdr_context *ctx, const kdr_result *fitted, int64_t task, const kdr_mat *x,
                                int64_t *labels, double *probability)
{
	kdr_status st;
	saved m;
	const int64_t n = kdr_mat_rows(x), begin[] = { 0, n };
	double *values = NULL, *posterior = NULL, *sum = NULL;
	int32_t *code = NULL;
	int64_t *levels = NULL;
	KDRI_TRY(load_model(ctx, fitted, task, kdr_mat_cols(x), &m));
	KDRI_TRY(KDRI_NEW(ctx, &values, n * m.numbers));
	KDRI_TRY(KDRI_NEW(ctx, &code, n * m.categories));
	KDRI_TRY(KDRI_NEW(ctx, &levels, m.categories));
	KDRI_TRY(KDRI_NEW(ctx, &posterior, n * m.k));
	KDRI_TRY(KDRI_NEW0(ctx, &sum, n * m.k));
	for (int64_t i = 0; i < n; i++) {
		for (int64_t j = 0; j < m.numbers; j++)
			values[i * m.numbers + j] = kdri_mixed_cell(x, i, m.number[j]);
		for (int64_t j = 0; j < m.categories; j++)
			code[i * m.categories + j] =
			        kdri_mixed_level(x, i, m.category[2 * j], m.category[2 * j + 1],
			                         m.category[2 * j + 1] > 1 ? NAN : m.larger[j]);
	}
	for (int64_t j = 0; j < m.categories; j++)
		levels[j] = KDRI_MAX(m.category[2 * j + 1], 2);
	const kdri_mixture_data d = { .n = n,
		                      .tables = 1,
		                      .begin = begin,
		                      .numbers = m.numbers,
		                      .categories = m.categories,
		                      .x = values,
		                      .code = code,
		                      .levels = levels,
		                      .number_weight = m.weight,
		                      .category_weight = m.weight + m.numbers };
	for (int64_t i = 0; i < m.members; i++) {
		const kdri_mixture mixture = {
			.k = m.k,
			.tables = 1,
			.numbers = m.numbers,
			.categories = m.categories,
			.share = (double *)m.share + i * m.k,
			.mean = m.numbers ? (double *)m.mean + i * m.k * m.numbers : NULL,
			.variance = m.numbers ? (double *)m.variance + i * m.k * m.numbers : NULL,
			.theta = m.levels ? (double *)m.level + i * m.levels * m.k : NULL
		};
		KDRI_TRY(kdri_mixture_assign(ctx, &d, &mixture, 0, NULL, posterior));
		kdri_axpy(1, posterior, sum, n * m.k);
	}
	for (int64_t i = 0; i < n; i++) {
		labels[i] = 0;
		for (int64_t c = 1; c < m.k; c++)
			if (sum[i * m.k + c] > sum[i * m.k + labels[i]])
				labels[i] = c;
		for (int64_t c = 0; probability && c < m.k; c++)
			probability[i * m.k + c] = sum[i * m.k + c] / (double)m.members;
	}
done:
	KDRI_FREE(ctx, values, code, levels, posterior, sum);
	return st;
}
