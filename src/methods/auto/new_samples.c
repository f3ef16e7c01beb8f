/* New samples among those that a model keeps. SPDX-License-Identifier: BSD-3-Clause
 *
 * With the kept samples y_j of a data set, their mean m, the centroids c_z and a new sample x, all of unit length if they are
 * compared by cosine:
 *
 *     (E1)  a_z = sum of cos(x, y_j) over those of the 20 nearest y_j that are in cluster z, divided by the sum over z;
 *           b_z the same with x - m and y_j - m instead of x and y_j
 *     (E2)  p_z = softmax of -|x - c_z|^2 / s;  q_z = softmax of cos(x - m, c_z - m) / r
 *           s, r: the standard deviations of these numbers over all y_j and z
 *     (E3)  share of z: (a_z + b_z + p_z + q_z) / 4
 *
 * If samples are compared by distance, neighbours have equal weights and the share is (a_z + p_z) / 2. Kept samples that
 * equal x do not vote: a model returns the label of a sample of the fit anyway (api/known.h), and so the same rule measures on
 * the samples of the fit how well it would label new ones. docs/notes/auto.md compares the rule with others. */
#include "methods/auto/new_samples.h"

#include "engine/graph/knn.h"
#include "engine/graph/views.h"
#include "matrix/linalg.h"

enum { NEIGHBOURS = 20 };
static const double equal = 1e-12, least = 1e-6;

/* What does not depend on the new samples. */
typedef struct kept {
	kdri_own y;             /* rows of unit length for cosines */
	kdri_own both;          /* new and kept rows, if they were not stored in the same way */
	const int64_t *labels;  /* of these */
	const double *centroid; /* k x d */
	double *mean;           /* d */
	double *by_column;      /* d x k: the centroids */
	int64_t k, d;
	bool cosine;
} kept;

/* (E2): n x k numbers before they are divided by s or r. `shifted`: those of q. */
static kdr_status to_centroids(kdr_context *ctx, const kept *m, const kdr_mat *x, bool shifted, double *out)
{
	kdr_status st;
	const int64_t n = kdr_mat_rows(x), k = m->k;
	double *norm = NULL, *product = NULL, *own = NULL, *with = NULL, square = 0;
	KDRI_TRY(KDRI_NEW(ctx, &norm, n));
	KDRI_TRY(KDRI_NEW(ctx, &product, n));
	KDRI_TRY(KDRI_NEW(ctx, &own, k));
	KDRI_TRY(KDRI_NEW(ctx, &with, k));
	KDRI_TRY(kdri_mat_mul(ctx, x, m->by_column, k, k, out, k));
	KDRI_TRY(kdri_mat_mul(ctx, x, m->mean, 1, 1, product, 1));
	KDRI_TRY(kdri_mat_row_norms(ctx, x, norm));
	square = kdri_nrm2sq(m->mean, m->d);
	for (int64_t z = 0; z < k; z++) {
		const double *c = m->centroid + z * m->d;
		own[z] = kdri_nrm2sq(c, m->d);
		with[z] = kdri_dot(c, m->mean, m->d);
	}
	for (int64_t i = 0; i < n; i++) {
		const double length = sqrt(KDRI_MAX(norm[i] - 2 * product[i] + square, 0));
		for (int64_t z = 0; z < k; z++) {
			double *to = &out[i * k + z];
			const double theirs = sqrt(KDRI_MAX(own[z] - 2 * with[z] + square, 0));
			if (!shifted)
				*to = 2 * *to - own[z] - norm[i];
			else
				*to = length > 0 && theirs > 0
				              ? (*to - product[i] - with[z] + square) / length / theirs
				              : 0;
		}
	}
done:
	KDRI_FREE(ctx, norm, product, own, with);
	return st;
}

/* (E2), added to `share`. */
static kdr_status add_centroids(kdr_context *ctx, const kept *m, const kdr_mat *x, bool shifted,
                                double *share)
{
	kdr_status st;
	const int64_t n = kdr_mat_rows(x), rows = kdr_mat_rows(&m->y.view), k = m->k;
	double *theirs = NULL, *s = NULL, mean = 0, spread = 0;
	KDRI_TRY(KDRI_NEW(ctx, &theirs, rows * k));
	KDRI_TRY(KDRI_NEW(ctx, &s, n * k));
	KDRI_TRY(to_centroids(ctx, m, &m->y.view, shifted, theirs));
	KDRI_TRY(to_centroids(ctx, m, x, shifted, s));
	for (int64_t i = 0; i < rows * k; i++)
		mean += theirs[i] / (double)(rows * k);
	for (int64_t i = 0; i < rows * k; i++)
		spread += (theirs[i] - mean) * (theirs[i] - mean) / (double)(rows * k);
	spread = spread > 0 ? sqrt(spread) : 1;
	for (int64_t i = 0; i < n; i++) {
		double *row = s + i * k, most = row[0], sum = 0;
		for (int64_t z = 1; z < k; z++)
			most = KDRI_MAX(most, row[z]);
		for (int64_t z = 0; z < k; z++)
			sum += row[z] = exp((row[z] - most) / spread);
		for (int64_t z = 0; z < k; z++)
			share[i * k + z] += row[z] / sum;
	}
done:
	KDRI_FREE(ctx, theirs, s);
	return st;
}

/* (E1), added to `share`. */
static kdr_status add_neighbours(kdr_context *ctx, const kept *m, const kdr_mat *x, bool shifted,
                                 double *share)
{
	kdr_status st;
	const int64_t n = kdr_mat_rows(x), rows = kdr_mat_rows(&m->y.view), k = m->k;
	const kdri_metric metric = m->cosine ? KDRI_METRIC_COSINE : KDRI_METRIC_EUCLIDEAN;
	kdri_knn_shift here = { 0 }, there = { 0 };
	kdri_knn knn = { 0 };
	if (shifted) {
		KDRI_TRY(kdri_knn_shift_new(ctx, x, m->mean, &here));
		KDRI_TRY(kdri_knn_shift_new(ctx, &m->y.view, m->mean, &there));
	}
	KDRI_TRY(kdri_knn_among(ctx, x, shifted ? &here : NULL, &m->y.view, shifted ? &there : NULL,
	                        KDRI_MIN(NEIGHBOURS, rows), metric, &knn));
	for (int64_t i = 0; i < n; i++) {
		double sum = 0;
		for (int pass = 0; pass < 2; pass++)
			for (int64_t p = 0; p < knn.k; p++) {
				const double value = knn.value[i * knn.k + p];
				const int64_t j = knn.index[i * knn.k + p];
				const bool same = m->cosine ? value >= 1 - equal : value <= equal * equal;
				const double weight = m->cosine ? KDRI_MAX(value, least) : 1;
				if (j < 0 || same)
					continue;
				if (pass == 0)
					sum += weight;
				else
					share[i * k + m->labels[j]] += weight / sum;
			}
	}
done:
	kdri_knn_shift_free(ctx, &here);
	kdri_knn_shift_free(ctx, &there);
	kdri_knn_free(ctx, &knn);
	return st;
}

/* Rows of x, and those of the kept samples y in the same kind of storage; of unit length for cosines. */
static kdr_status take_rows(kdr_context *ctx, const kdr_mat *x, const kdr_mat *y, kept *m, kdri_own *rows)
{
	const int64_t n = kdr_mat_rows(x);
	if (m->cosine) {
		KDRI_DO(kdri_unit_rows(ctx, x, rows));
		KDRI_DO(kdri_unit_rows(ctx, y, &m->y));
	}
	if (x->kind == y->kind)
		return KDR_OK;
	KDRI_DO(kdri_mat_stack(ctx, (const kdr_mat *const[]){ &rows->view, &m->y.view }, 2, &m->both));
	kdri_own_free(ctx, rows);
	kdri_own_free(ctx, &m->y);
	KDRI_DO(kdri_rows_own(ctx, &m->both.view, 0, n, rows));
	return kdri_rows_own(ctx, &m->both.view, n, n + kdr_mat_rows(y), &m->y);
}

kdr_status kdri_new_samples_shares(kdr_context *ctx, const kdr_result *fitted, int64_t task, const kdr_mat *x,
                                   double **out, int64_t *k)
{
	kdr_status st;
	const kdr_array c = kdr_result_array(fitted, "centroids", task),
	                unit = kdr_result_array(fitted, "unit_rows", task);
	const kdr_data *d = kdri_result_remembered(fitted, task);
	const int64_t n = kdr_mat_rows(x);
	kdri_own rows = { .view = *x };
	kept m = { 0 };
	double *share = NULL;
	int64_t size;
	if (!d || d->rows < 2 || !c.data || c.ndim != 2 || c.type != KDR_FLOAT64 ||
	    c.shape[1] != kdr_mat_cols(x) || d->cols != c.shape[1] || !unit.data || unit.type != KDR_INT64 ||
	    kdri_result_exponent(fitted) != 0)
		return KDR_OK;
	for (int64_t i = 0; i < d->rows; i++)
		if (d->labels[i] >= c.shape[0])
			return KDR_OK;
	m.k = c.shape[0];
	m.d = c.shape[1];
	m.centroid = c.data;
	m.labels = d->labels;
	m.cosine = *(const int64_t *)unit.data != 0;
	const kdr_mat y = kdr_data_mat(d);
	m.y = (kdri_own){ .view = y };
	KDRI_TRY(kdri_mul(ctx, n, m.k, &size));
	KDRI_TRY(KDRI_NEW0(ctx, &share, size));
	KDRI_TRY(take_rows(ctx, x, &y, &m, &rows));
	KDRI_TRY(KDRI_NEW(ctx, &m.mean, m.d));
	KDRI_TRY(KDRI_NEW(ctx, &m.by_column, m.d * m.k));
	KDRI_TRY(kdri_mat_col_means(ctx, &m.y.view, m.mean));
	for (int64_t z = 0; z < m.k; z++)
		for (int64_t j = 0; j < m.d; j++)
			m.by_column[j * m.k + z] = m.centroid[z * m.d + j];
	for (int shifted = 0; shifted < (m.cosine ? 2 : 1); shifted++) {
		KDRI_TRY(add_neighbours(ctx, &m, &rows.view, shifted, share));
		KDRI_TRY(add_centroids(ctx, &m, &rows.view, shifted, share));
	}
	for (int64_t i = 0; i < n; i++) { /* (E3) */
		double sum = 0;
		for (int64_t z = 0; z < m.k; z++)
			sum += share[i * m.k + z];
		for (int64_t z = 0; z < m.k; z++)
			share[i * m.k + z] /= sum;
	}
	*out = share;
	*k = m.k;
	share = NULL;
done:
	kdri_own_free(ctx, &m.y);
	kdri_own_free(ctx, &m.both);
	KDRI_FREE(ctx, m.mean, m.by_column);
	kdri_own_free(ctx, &rows);
	kdri_free(ctx, share);
	return st;
}
