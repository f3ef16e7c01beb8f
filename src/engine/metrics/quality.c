/* Compactness and separation of clusters, without true classes. SPDX-License-Identifier: BSD-3-Clause
 *
 * Of n samples x_i in k clusters of n_c samples with means m_c, and the mean m of all:
 *
 * (E1) S_c = the mean of |x_i - m_c| over the samples of c
 * (E2) Davies-Bouldin [1979] = the mean over c of the largest (S_c + S_e) / |m_c - m_e|, e != c; means that coincide
 *      count for nothing; 0 where all S are 0, or all means coincide
 * (E3) Calinski-Harabasz [1974] = (sum_c n_c |m_c - m|^2 / (k - 1)) / (sum_i |x_i - m_c(i)|^2 / (n - k)); 1 where the
 *      second sum is 0
 * (E4) |x - m|^2 = |m|^2 + sum over the entries of x of (x_j - m_j)^2 - m_j^2, of sparse rows
 *
 * Silhouettes are in silhouette.c: exact up to MOST_EXACT samples, simplified above. All are those of scikit-learn. Time
 * O(nnz + k^2 d) in addition to silhouettes, memory k x d. If rows are distributed over ranks, the scores are those of
 * all rows, up to rounding, and silhouettes are simplified, because pairs of samples would be on different ranks. */
#include "comm/comm.h"
#include "engine/metrics/metrics.h"
#include "matrix/linalg.h"

enum { MOST_EXACT = 20000 };

typedef struct work {
	kdr_context *ctx;
	const kdr_mat *x;
	int64_t n, d, k, all; /* all: rows of all ranks */
	int64_t *code, *size;
	double *mean;   /* k x d */
	double *norm;   /* squared, of the means */
	double *middle; /* d: the mean of all rows */
	double *apart;  /* k: S of (E1) */
	double within;
} work;

static kdr_status quality_find_means(work *w)
{
	int64_t cells;
	KDRI_DO(kdri_mul(w->ctx, w->k, w->d, &cells));
	KDRI_DO(KDRI_NEW0(w->ctx, &w->mean, cells));
	KDRI_DO(KDRI_NEW0(w->ctx, &w->middle, w->d));
	KDRI_DO(KDRI_NEW0(w->ctx, &w->size, w->k));
	KDRI_DO(KDRI_NEW(w->ctx, &w->norm, w->k));
	KDRI_DO(KDRI_NEW0(w->ctx, &w->apart, w->k));
	for (int64_t i = 0; i < w->n; i++) {
		kdri_entries r = kdri_row_entries(w->x, i);
		double *mean = w->mean + w->code[i] * w->d;
		for (int64_t p = 0; p < r.count; p++)
			mean[kdri_entry_column(&r, p)] += r.val[p];
		w->size[w->code[i]]++;
	}
	KDRI_DO(kdri_sum(w->ctx, w->mean, cells));
	KDRI_DO(kdri_sum_int(w->ctx, w->size, w->k));
	for (int64_t c = 0; c < w->k; c++) {
		double *mean = w->mean + c * w->d;
		kdri_axpy(1 / (double)w->all, mean, w->middle, w->d);
		for (int64_t j = 0; j < w->d; j++)
			mean[j] /= (double)w->size[c];
		w->norm[c] = kdri_nrm2sq(mean, w->d);
	}
	return KDR_OK;
}

static double quality_gap(const double *a, const double *b, int64_t d)
{
	double sum = 0;
	for (int64_t j = 0; j < d; j++)
		sum += (a[j] - b[j]) * (a[j] - b[j]);
	return sum;
}

/* |x_i - m|^2. */
static double square_to(const work *w, int64_t i, int64_t c)
{
	kdri_entries r = kdri_row_entries(w->x, i);
	const double *mean = w->mean + c * w->d;
	double sum = 0, own = 0;
	if (!r.col)
		return quality_gap(r.val, mean, w->d);
	for (int64_t p = 0; p < r.count; p++) {
		double m = mean[r.col[p]], v = r.val[p];
		sum += v * (v - 2 * m); /* (E4) */
		own += v * v;
	}
	sum += w->norm[c];
	if (sum > 0x1p-9 * (own + w->norm[c]))
		return sum;
	/* It cancels: from the differences. */
	sum = 0;
	for (int64_t j = 0, p = 0; j < w->d; j++) {
		double v = p < r.count && r.col[p] == j ? r.val[p++] : 0;
		sum += (v - mean[j]) * (v - mean[j]);
	}
	return sum;
}

static double davies_bouldin(const work *w)
{
	double sum = 0, widest = 0, farthest = 0;
	for (int64_t c = 0; c < w->k; c++) {
		double worst = 0;
		widest = KDRI_MAX(widest, w->apart[c]);
		for (int64_t e = 0; e < w->k; e++) {
			double far =
			        e == c ? 0 : sqrt(quality_gap(w->mean + c * w->d, w->mean + e * w->d, w->d));
			farthest = KDRI_MAX(farthest, far);
			if (far > 0)
				worst = KDRI_MAX(worst, (w->apart[c] + w->apart[e]) / far);
		}
		sum += worst;
	}
	/* As in scikit-learn, values within 1e-8 of 0 count as 0. */
	return widest <= 1e-8 || farthest <= 1e-8 ? 0 : sum / (double)w->k; /* (E2) */
}

static double calinski_harabasz(const work *w)
{
	double between = 0;
	for (int64_t c = 0; c < w->k; c++)
		between += (double)w->size[c] * quality_gap(w->mean + c * w->d, w->middle, w->d);
	if (w->within == 0)
		return 1;
	return between / (double)(w->k - 1) / (w->within / (double)(w->all - w->k)); /* (E3) */
}

kdr_status kdr_quality_find(kdr_context *ctx, const kdr_mat *x, const int64_t *labels, kdr_quality *out)
{
	kdr_status st;
	work w = { .ctx = ctx, .x = x };
	kdr_quality q = {
		.silhouette = NAN, .davies_bouldin = NAN, .calinski_harabasz = NAN, .stability = NAN
	};
	KDRI_NEED(ctx, x && labels && out);
	const bool several = kdri_several(ctx);
	int64_t *names = NULL;
	w.n = kdr_mat_rows(x);
	KDRI_TRY(kdri_part(ctx, w.n, NULL, &w.all));
	q.n = w.all;
	w.d = kdr_mat_cols(x);
	KDRI_TRY(kdri_mat_check_finite(ctx, x, "quality"));
	KDRI_TRY(KDRI_NEW(ctx, &w.code, KDRI_MAX(w.n, 0)));
	KDRI_TRY(kdri_labels_compact_all(ctx, labels, w.n, w.code, &names, &w.k));
	q.clusters = w.k;
	q.silhouette_kind =
	        w.all <= MOST_EXACT && !several ? KDR_SILHOUETTE_EXACT : KDR_SILHOUETTE_SIMPLIFIED;
	if (w.k >= 2 && w.k < w.all) {
		KDRI_TRY(kdri_silhouette(ctx, x, labels, q.silhouette_kind, NULL, &q.silhouette));
		KDRI_TRY(quality_find_means(&w));
		kdri_neumaier within = { 0 };
		for (int64_t i = 0; i < w.n; i++) {
			double square = square_to(&w, i, w.code[i]);
			kdri_neumaier_add(&within, square);
			w.apart[w.code[i]] += sqrt(square);
		}
		w.within = kdri_neumaier_value(&within);
		KDRI_TRY(kdri_sum(w.ctx, &w.within, 1));
		KDRI_TRY(kdri_sum(w.ctx, w.apart, w.k));
		for (int64_t c = 0; c < w.k; c++)
			w.apart[c] /= (double)w.size[c]; /* (E1) */
		q.davies_bouldin = davies_bouldin(&w);
		q.calinski_harabasz = calinski_harabasz(&w);
	}
	*out = q;
done:
	kdri_free(ctx, names);
	KDRI_FREE(w.ctx, w.code, w.size, w.mean, w.norm, w.middle, w.apart);
	return st;
}
