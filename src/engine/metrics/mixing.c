/* How well samples of several data sets mix in a common space. SPDX-License-Identifier: BSD-3-Clause
 *
 * Of n samples x_i of B data sets, b(i) the data set of sample i and f_b the share of data set b in all samples:
 *
 * (E1) iLISI [Korsunsky et al. 2019]: p_ij is proportional to exp(-beta_i |x_i - x_j|) over the 90 nearest neighbours j of i, with the
 *      beta_i that gives the p_ij the entropy log 30; of fewer samples over all n - 1 others, with the logarithm of a third of them
 * (E2) LISI_i = 1 / sum_b (sum of p_ij over the neighbours j of data set b)^2, the number of data sets seen by the sample
 * (E3) iLISI = (median of LISI_i - 1) / (B - 1) [scaled as by Luecken et al. 2022]
 * (E4) kBET acceptance rate [Buettner et al. 2019]: the share of the samples whose neighbourhood passes a chi-square test with B - 1
 *      degrees of freedom at level 0.05; the statistic is sum_b (n_b - k0 f_b)^2 / (k0 f_b), for the n_b samples of data set b among
 *      the sample itself and its k0 - 1 nearest neighbours
 * (E5) k0 = a quarter of the mean size of the data sets, at least 10 and at most 70 [Luecken et al. 2022]
 * (E6) batch ASW [Luecken et al. 2022]: the mean over the clusters of the mean of 1 - |s_i|, for the silhouettes s_i of the cluster's
 *      samples by data set; without clusters that have samples of one data set only, or one sample of each
 *
 * The three figures are 0 if nothing mixes and 1 if all mixes; NaN if the figure is not defined. Of more than
 * MOST_TESTED samples an even choice of that many is tested in (E2) and (E4), with neighbours among all samples; of a
 * cluster of more than MOST_SILHOUETTES samples (E6) uses an even choice. Time: O(min(n, MOST_TESTED) n d) for
 * neighbours, O(MOST_SILHOUETTES d) per sample for (E6). */
#include "engine/graph/knn.h"
#include "engine/metrics/metrics.h"
#include "matrix/linalg.h"

enum { NEIGHBOURS = 90, LEAST_K0 = 10, MOST_K0 = 70, MOST_TESTED = 10000, MOST_SILHOUETTES = 5000 };
static const double level = 0.05;

typedef struct mixing {
	kdr_context *ctx;
	const kdri_pooled_sets *m;
	double *share;   /* f_b */
	int64_t present; /* B: data sets that have samples */
	int64_t stride, tested;
	int64_t *rows; /* those tested */
	kdri_own taken;
	kdri_knn knn;
	double *lisi;
	bool *passed;
} mixing;

/* --- chi-square ---------------------------------------------------------------------------------------- */

/* The chance that a chi-square variable with `degrees` degrees of freedom exceeds x. */
static double chi_square_above(double x, int64_t degrees)
{
	const double half = x / 2, first = degrees % 2 ? 0.5 : 0;
	double sum = degrees % 2 ? erfc(sqrt(half)) : 0;
	if (half <= 0)
		return 1;
	for (int64_t i = 0; i < degrees / 2; i++) {
		double power = (double)i + first;
		sum += exp(power * log(half) - half - lgamma(power + 1));
	}
	return sum;
}

double kdri_chi_square_critical(double chance, int64_t degrees)
{
	double low = 0, high = 1;
	while (chi_square_above(high, degrees) > chance)
		high *= 2;
	for (int i = 0; i < 200 && low < high; i++) {
		double middle = low + (high - low) / 2;
		if (chi_square_above(middle, degrees) > chance)
			low = middle;
		else
			high = middle;
	}
	return high;
}

/* --- neighbourhoods ------------------------------------------------------------------------------------- */

static int64_t mixing_k0(const mixing *w)
{
	const int64_t n = kdr_mat_rows(w->m->x), quarter = n / (4 * w->present);
	return KDRI_MIN(n, KDRI_MIN(MOST_K0, KDRI_MAX(LEAST_K0, quarter))); /* (E5) */
}

/* Enough neighbours for both; rows that are tested among all. */
static kdr_status find_neighbours(mixing *w)
{
	const kdr_mat *x = w->m->x;
	const int64_t k = KDRI_MIN(NEIGHBOURS, kdr_mat_rows(x) - 1);
	if (w->stride == 1) {
		return kdri_knn_find(w->ctx, x, k, KDRI_METRIC_EUCLIDEAN, &w->knn);
	}
	KDRI_DO(KDRI_NEW(w->ctx, &w->rows, w->tested));
	for (int64_t i = 0; i < w->tested; i++)
		w->rows[i] = i * w->stride;
	KDRI_DO(kdri_mat_take(w->ctx, x, w->rows, w->tested, &w->taken));
	return kdri_knn_among(w->ctx, &w->taken.view, NULL, x, NULL, k + 1, KDRI_METRIC_EUCLIDEAN, &w->knn);
}

/* The neighbours of a tested sample, without itself, nearest first: data sets and distances. The number is 0 if the search was
 * stopped before it came to the sample. */
static int64_t take_neighbours(const mixing *w, int64_t i, int64_t *set, double *distance)
{
	const int32_t *index = w->knn.index + i * w->knn.k;
	const double *square = w->knn.value + i * w->knn.k;
	int64_t count = 0;
	for (int64_t p = 0; p < w->knn.k && count < NEIGHBOURS; p++) {
		if (index[p] < 0)
			return 0;
		if (index[p] == i * w->stride)
			continue;
		set[count] = w->m->set[index[p]];
		distance[count++] = sqrt(KDRI_MAX(square[p], 0));
	}
	return count;
}

/* p of (E1), for distances in increasing order. */
static void find_weights(const double *distance, int64_t count, double *p)
{
	const double wanted = log((double)count / 3);
	double low = 0, high = INFINITY, beta = 1;
	/* In units of their mean: beta = 1 is then a fair start. */
	double mean = 0;
	for (int64_t j = 0; j < count; j++)
		mean += (distance[j] - distance[0]) / (double)count;
	for (int step = 0; step < 100; step++) {
		double sum = 0, moment = 0;
		for (int64_t j = 0; j < count; j++) {
			double far = mean > 0 ? (distance[j] - distance[0]) / mean : 0;
			p[j] = exp(-beta * far);
			sum += p[j];
			moment += far * p[j];
		}
		for (int64_t j = 0; j < count; j++)
			p[j] /= sum;
		double gap = log(sum) + beta * moment / sum - wanted;
		if (fabs(gap) < 1e-10)
			return;
		if (gap > 0)
			low = beta;
		else
			high = beta;
		beta = isfinite(high) ? (low + high) / 2 : 2 * beta;
		if (beta > 1e12) /* this many neighbours are equally near: only these count */
			return;
	}
}

/* (E2) */
static double lisi_of(const int64_t *set, const double *distance, int64_t count)
{
	double p[NEIGHBOURS], sum = 0;
	find_weights(distance, count, p);
	for (int64_t j = 0; j < count; j++)
		for (int64_t l = 0; l < count; l++)
			sum += set[j] == set[l] ? p[j] * p[l] : 0;
	return 1 / sum;
}

/* The statistic of (E4) is sum_b n_b^2 / (k0 f_b) - k0. */
static double kbet_statistic(const mixing *w, const int64_t *set, int64_t own, int64_t k0)
{
	int64_t around[MOST_K0];
	double sum = 0;
	memcpy(around, set, (size_t)(k0 - 1) * sizeof *around);
	around[k0 - 1] = own;
	for (int64_t j = 0; j < k0; j++) {
		int64_t same = 0;
		for (int64_t l = 0; l < k0; l++)
			same += around[l] == around[j];
		sum += (double)same / ((double)k0 * w->share[around[j]]);
	}
	return sum - (double)k0;
}

static kdr_status test_neighbourhoods(mixing *w, kdri_mixing_figures *out)
{
	const int64_t k0 = mixing_k0(w);
	const double critical = kdri_chi_square_critical(level, w->present - 1);
	int64_t seen = 0, passed = 0;
	KDRI_DO(find_neighbours(w));
	KDRI_DO(KDRI_NEW(w->ctx, &w->lisi, w->tested));
	KDRI_DO(KDRI_NEW(w->ctx, &w->passed, w->tested));
#pragma omp parallel for num_threads(kdri_team(w->ctx)) schedule(static) if (w->tested > 256)
	for (int64_t i = 0; i < w->tested; i++) {
		int64_t set[NEIGHBOURS], count;
		double distance[NEIGHBOURS];
		count = take_neighbours(w, i, set, distance);
		w->lisi[i] = count > 0 ? lisi_of(set, distance, count) : NAN;
		w->passed[i] =
		        count >= k0 - 1 && kbet_statistic(w, set, w->m->set[i * w->stride], k0) <= critical;
	}
	for (int64_t i = 0; i < w->tested; i++)
		if (isfinite(w->lisi[i])) {
			passed += w->passed[i];
			w->lisi[seen++] = w->lisi[i];
		}
	out->tested = seen;
	if (seen == 0)
		return KDR_OK;
	out->ilisi = (kdri_median(w->lisi, seen) - 1) / (double)(w->present - 1); /* (E3) */
	out->kbet = (double)passed / (double)seen;
	return KDR_OK;
}

/* --- silhouettes ----------------------------------------------------------------------------------------- */

/* The mean of 1 - |s| of some samples by data set; NaN if they are excluded from (E6). */
static kdr_status cluster_asw(mixing *w, const int64_t *rows, int64_t count, double *out)
{
	kdr_status st;
	kdri_own taken = { 0 };
	int64_t *set = NULL, *code = NULL, kinds;
	double *value = NULL, sum = 0;
	KDRI_TRY(KDRI_NEW(w->ctx, &set, count));
	KDRI_TRY(KDRI_NEW(w->ctx, &code, count));
	KDRI_TRY(KDRI_NEW(w->ctx, &value, count));
	for (int64_t i = 0; i < count; i++)
		set[i] = w->m->set[rows[i]];
	KDRI_TRY(kdri_labels_compact(w->ctx, set, count, code, NULL, &kinds));
	*out = NAN;
	if (kinds < 2 || kinds == count)
		goto done;
	KDRI_TRY(kdri_mat_take(w->ctx, w->m->x, rows, count, &taken));
	KDRI_TRY(kdri_silhouette(w->ctx, &taken.view, code, KDR_SILHOUETTE_EXACT, value, NULL));
	for (int64_t i = 0; i < count; i++)
		sum += 1 - fabs(value[i]);
	*out = sum / (double)count;
done:
	kdri_own_free(w->ctx, &taken);
	KDRI_FREE(w->ctx, set, code, value);
	return st;
}

static kdr_status find_asw(mixing *w, double *out)
{
	kdr_status st;
	const int64_t n = kdr_mat_rows(w->m->x);
	int64_t *start = NULL, *order = NULL, *code = NULL, k, used = 0;
	double sum = 0, one = NAN;
	KDRI_TRY(KDRI_NEW(w->ctx, &code, n));
	KDRI_TRY(kdri_labels_compact(w->ctx, w->m->cluster, n, code, NULL, &k));
	KDRI_TRY(KDRI_NEW0(w->ctx, &start, k + 2));
	KDRI_TRY(KDRI_NEW(w->ctx, &order, n));
	for (int64_t i = 0; i < n; i++)
		start[code[i] + 2]++;
	for (int64_t c = 0; c < k; c++)
		start[c + 2] += start[c + 1];
	for (int64_t i = 0; i < n; i++)
		order[start[code[i] + 1]++] = i;
	for (int64_t c = 0; c < k; c++) {
		int64_t *rows = order + start[c], size = start[c + 1] - start[c];
		int64_t stride = (size + MOST_SILHOUETTES - 1) / MOST_SILHOUETTES, count = 0;
		for (int64_t i = 0; i < size; i += stride)
			rows[count++] = rows[i];
		KDRI_TRY(cluster_asw(w, rows, count, &one));
		sum += isfinite(one) ? one : 0;
		used += isfinite(one);
	}
	*out = used > 0 ? sum / (double)used : NAN; /* (E6) */
done:
	KDRI_FREE(w->ctx, code, start, order);
	return st;
}

kdr_status kdri_mixing_find(kdr_context *ctx, const kdri_pooled_sets *m, kdri_mixing_figures *out)
{
	kdr_status st;
	mixing w = { .ctx = ctx, .m = m };
	kdri_mixing_figures f = { .ilisi = NAN, .kbet = NAN, .batch_asw = NAN };
	const int64_t n = kdr_mat_rows(w.m->x);
	KDRI_TRY(KDRI_NEW0(w.ctx, &w.share, w.m->sets));
	for (int64_t i = 0; i < n; i++)
		w.share[w.m->set[i]] += 1 / (double)n;
	for (int64_t b = 0; b < w.m->sets; b++)
		w.present += w.share[b] > 0;
	w.stride = (n + MOST_TESTED - 1) / MOST_TESTED;
	w.tested = w.stride > 0 ? (n + w.stride - 1) / w.stride : 0;
	if (w.present >= 2 && kdr_mat_rows(m->x) >= 4) {
		KDRI_TRY(test_neighbourhoods(&w, &f));
		KDRI_TRY(find_asw(&w, &f.batch_asw));
	}
	*out = f;
done:
	KDRI_FREE(w.ctx, w.share, w.rows);
	kdri_own_free(w.ctx, &w.taken);
	kdri_knn_free(w.ctx, &w.knn);
	KDRI_FREE(w.ctx, w.lisi, w.passed);
	return st;
}
