/* Allocation for k-means, and the statistics of the data that it needs. SPDX-License-Identifier: BSD-3-Clause */
#include "engine/kmeans/kmeans_work.h"

/* Multiply-adds in one assignment below which a team of threads costs more than it brings. */
static const double share_above = 4e6;
/* Samples are summed in this many parts at most, each by one thread. */
enum { PARTS = 16, ROWS_PER_PART = 4096 };

void kdri_km_close(kdri_km *w)
{
	KDRI_FREE(w->ctx, w->scale, w->twice, w->norm, w->mean, w->centres, w->sums, w->mass, w->filled,
	          w->table.room, w->offset, w->squares, w->spread, w->drift, w->partial, w->label, w->before,
	          w->upper, w->lower, w->top, w->runner, w->top_at, w->moved, w->scratch, w->need, w->list,
	          w->coef, w->begin, w->touched, w->distance, w->best_centres, w->best_label, w->lane,
	          w->centre, w->unit, w->exact, w->here, w->rows_of, w->first, w->seeds);
}

/* --- how the work is cut -------------------------------------------------------------------- */

static void plan(kdri_km *w, const kdri_km_plan *p)
{
	int64_t groups = p->groups;
	bool dense = w->x->kind == KDR_MAT_DENSE;
	w->tiles = (w->k + KDRI_LANES - 1) / KDRI_LANES;
	double work = (double)kdr_mat_nnz(w->x) * (double)w->tiles * KDRI_LANES;
	w->threads = work > share_above ? w->ctx->threads : 1;
	w->tight = dense || w->tiles > 4;
	w->bounds = p->algorithm != KDRI_KMEANS_LLOYD && w->k > 1;
	int64_t least = kdri_km_reach(w->x->kind), lanes = w->tiles * KDRI_LANES;
	int64_t most = (w->k + least - 1) / least;
	if (groups < 1)
		groups = dense ? 16 : 1;
	groups = KDRI_MIN(groups, most);
	w->group_lanes = (w->k + groups - 1) / groups;
	w->group_lanes = (w->group_lanes + least - 1) / least * least;
	if (w->group_lanes > least) /* halves of tiles are used alone */
		w->group_lanes = (w->group_lanes + KDRI_LANES - 1) / KDRI_LANES * KDRI_LANES;
	w->group_lanes = KDRI_MIN(w->group_lanes, lanes);
	w->groups = (w->k + w->group_lanes - 1) / w->group_lanes;
}

static kdr_status kmeans_data_make_room(kdri_km *w)
{
	kdr_context *ctx = w->ctx;
	int64_t n = w->n, k = w->k, d = w->d, kp = w->tiles * KDRI_LANES, kd, bounds, features;
	int64_t exact;
	KDRI_DO(kdri_mul(ctx, k, d, &kd));
	KDRI_DO(kdri_mul(ctx, k, 2 * (d + 1), &exact));
	KDRI_DO(kdri_mul(ctx, n, w->bounds ? w->groups : 0, &bounds));
	KDRI_DO(kdri_mul(ctx, d / KDRI_KM_FEATURES + 1, k, &features));
	w->scratch_size = KDRI_BLOCK * ((w->groups == 1 ? kp : w->group_lanes) + 6);
	KDRI_DO(KDRI_NEW(ctx, &w->norm, n));
	KDRI_DO(KDRI_NEW0(ctx, &w->mean, d));
	KDRI_DO(KDRI_NEW0(ctx, &w->centres, kd));
	KDRI_DO(KDRI_NEW(ctx, &w->sums, kd));
	KDRI_DO(KDRI_NEW0(ctx, &w->mass, k));
	KDRI_DO(KDRI_NEW0(ctx, &w->filled, k));
	KDRI_DO(KDRI_NEW0(ctx, &w->here, k));
	KDRI_DO(KDRI_NEW0(ctx, &w->unit, d + 1));
	KDRI_DO(KDRI_NEW0(ctx, &w->exact, exact));
	KDRI_DO(kdri_km_table_new(ctx, w->x->kind, d, w->tiles, &w->table));
	KDRI_DO(KDRI_NEW(ctx, &w->lane, k));
	KDRI_DO(KDRI_NEW(ctx, &w->centre, kp));
	KDRI_DO(KDRI_NEW(ctx, &w->offset, kp));
	KDRI_DO(KDRI_NEW0(ctx, &w->squares, k));
	KDRI_DO(KDRI_NEW0(ctx, &w->spread, k));
	KDRI_DO(KDRI_NEW0(ctx, &w->drift, k));
	KDRI_DO(KDRI_NEW(ctx, &w->partial, features));
	KDRI_DO(KDRI_NEW(ctx, &w->label, n));
	KDRI_DO(KDRI_NEW(ctx, &w->before, n));
	KDRI_DO(KDRI_NEW(ctx, &w->upper, n));
	KDRI_DO(KDRI_NEW(ctx, &w->lower, bounds));
	KDRI_DO(KDRI_NEW(ctx, &w->top, w->groups));
	KDRI_DO(KDRI_NEW(ctx, &w->runner, w->groups));
	KDRI_DO(KDRI_NEW(ctx, &w->top_at, w->groups));
	KDRI_DO(KDRI_NEW(ctx, &w->moved, kdri_km_blocks(w)));
	KDRI_DO(KDRI_NEW(ctx, &w->scratch, w->threads * w->scratch_size));
	KDRI_DO(KDRI_NEW(ctx, &w->need, w->threads * KDRI_BLOCK * w->groups));
	KDRI_DO(KDRI_NEW(ctx, &w->list, n));
	KDRI_DO(KDRI_NEW(ctx, &w->coef, n));
	KDRI_DO(KDRI_NEW(ctx, &w->begin, k + 1));
	KDRI_DO(KDRI_NEW(ctx, &w->touched, k));
	KDRI_DO(KDRI_NEW(ctx, &w->distance, KDRI_MAX(n, k)));
	if (w->spherical) {
		KDRI_DO(KDRI_NEW(ctx, &w->scale, n));
		KDRI_DO(KDRI_NEW(ctx, &w->twice, n));
	}
	for (int64_t j = 0; j < kp; j++)
		w->offset[j] = INFINITY;
	for (int64_t j = 0; j < kp; j++)
		w->centre[j] = (int32_t)j;
	memcpy(w->lane, w->centre, (size_t)k * sizeof *w->lane);
	return KDR_OK;
}

/* --- constant data -------------------------------------------------------------------------- */

/* Squared norms of the rows about `shift`, and the sum of them with weights. */
static kdr_status kmeans_data_find_norms(kdri_km *w, double *sum)
{
	int64_t blocks = kdri_km_blocks(w);
#pragma omp parallel for schedule(static) num_threads(kdri_km_team(w)) if (w->threads > 1)
	for (int64_t b = 0; b < blocks; b++)
		kdri_km_norms(w->x, b * KDRI_BLOCK, KDRI_MIN(w->n, (b + 1) * KDRI_BLOCK), w->shift,
		              w->shift_norm, w->norm);
	return kdri_km_total(w, w->norm, sum);
}

/* Row i's factor in sums. */
static double factor(const kdri_km *w, int64_t i)
{
	return kdri_km_weight(w, i) * (w->scale ? w->scale[i] : 1);
}

kdr_status kdri_km_units(kdri_km *w)
{
	kdr_status st;
	int64_t n = w->n, d = w->d, parts = KDRI_MIN(PARTS, n / ROWS_PER_PART + 1), size;
	double *most = NULL;
	KDRI_TRY(kdri_mul(w->ctx, parts, d + 1, &size));
	KDRI_TRY(KDRI_NEW0(w->ctx, &most, size));
	bool plain = !w->weights && !w->scale;
	for (int64_t i = 0; i < n && !plain; i++)
		w->coef[i] = factor(w, i);
#pragma omp parallel for schedule(static) num_threads(kdri_km_team(w)) if (w->threads > 1)
	for (int64_t p = 0; p < parts; p++) {
		int64_t begin = n * p / parts, end = n * (p + 1) / parts;
		kdri_km_most(w->x, begin, end, plain ? NULL : w->coef, most + p * (d + 1));
		for (int64_t i = begin; i < end; i++)
			most[p * (d + 1) + d] = KDRI_MAX(most[p * (d + 1) + d], kdri_km_weight(w, i));
	}
	for (int64_t p = 1; p < parts; p++)
		for (int64_t f = 0; f <= d; f++)
			most[f] = KDRI_MAX(most[f], most[p * (d + 1) + f]);
	KDRI_TRY(kdri_max(w->ctx, most, d + 1));
	for (int64_t f = 0; f <= d; f++)
		w->unit[f] = kdri_exact_big(most[f], w->all);
	w->ratio = kdri_exact_ratio(w->all);
done:
	kdri_free(w->ctx, most);
	return st;
}

kdr_status kdri_km_row_sum(kdri_km *w, double *out)
{
	kdr_status st;
	int64_t n = w->n, d = w->d, parts = KDRI_MIN(PARTS, n / ROWS_PER_PART + 1), size;
	double *sums = NULL;
	KDRI_TRY(kdri_mul(w->ctx, parts, 2 * d, &size));
	KDRI_TRY(KDRI_NEW0(w->ctx, &sums, size));
	for (int64_t i = 0; i < n; i++) {
		w->list[i] = i;
		w->coef[i] = factor(w, i);
	}
#pragma omp parallel for schedule(static) num_threads(kdri_km_team(w)) if (w->threads > 1)
	for (int64_t p = 0; p < parts; p++) {
		int64_t begin = n * p / parts, end = n * (p + 1) / parts;
		kdri_km_sums to = { w->unit, w->ratio, sums + 2 * p * d, sums + (2 * p + 1) * d };
		kdri_km_add(w->x, w->list + begin, w->coef + begin, end - begin, 0, d, &to);
	}
	for (int64_t p = 1; p < parts; p++)
		for (int64_t f = 0; f < 2 * d; f++)
			sums[f] += sums[2 * p * d + f];
	KDRI_TRY(kdri_sum(w->ctx, sums, 2 * d));
	for (int64_t f = 0; f < d; f++)
		out[f] = sums[f] + sums[d + f];
done:
	kdri_free(w->ctx, sums);
	return st;
}

/* The weighted mean of all rows, and their total weight. */
static kdr_status find_mean(kdri_km *w, double *weight)
{
	for (int64_t i = 0; i < w->n; i++)
		w->coef[i] = kdri_km_weight(w, i);
	KDRI_DO(kdri_rows_sum(w->ctx, NULL, w->coef, w->n, w->all, weight));
	KDRI_DO(kdri_km_row_sum(w, w->mean));
	for (int64_t f = 0; f < w->d; f++)
		w->mean[f] = *weight > 0 ? w->mean[f] / *weight : 0;
	return KDR_OK;
}

static kdr_status too_large(kdri_km *w)
{
	return kdri_fail(w->ctx, KDR_ERR_NUMERIC,
	                 "k-means: the squares of the values overflow; scale the data down");
}

static kdr_status kmeans_data_look(kdri_km *w)
{
	double weight = 0, sum;
	KDRI_DO(kmeans_data_find_norms(w, &sum));
	if (!isfinite(sum))
		return too_large(w);
	if (w->spherical) {
		for (int64_t i = 0; i < w->n; i++) {
			double size = sqrt(w->norm[i]);
			w->scale[i] = size > 0 && isfinite(1 / size) ? 1 / size : 0;
			w->twice[i] = 2 * w->scale[i];
			w->norm[i] = w->scale[i] > 0;
			w->distance[i] = 1 + w->norm[i];
		}
		KDRI_DO(kdri_km_units(w));
		return kdri_km_total(w, w->distance, &w->total);
	}
	KDRI_DO(kdri_km_units(w));
	KDRI_DO(find_mean(w, &weight));
	double square = 0;
	for (int64_t f = 0; f < w->d; f++)
		square += w->mean[f] * w->mean[f];
	w->total = KDRI_MAX(0.0, sum - weight * square);
	/* Measuring from the origin is exact for small integers and keeps their ties; from the mean it is
	 * sharper, which counts if the origin is far away. */
	if (weight * square > 16 * w->total) {
		w->shift = w->mean;
		w->shift_norm = square;
		KDRI_DO(kmeans_data_find_norms(w, &w->total));
	}
	return KDR_OK;
}

/* The position of the local rows among those of all ranks. */
static kdr_status place_rows(kdri_km *w, const kdri_km_plan *p)
{
	w->groups_of_rows = p->rows_of ? p->tasks : 1;
	KDRI_DO(KDRI_NEW(w->ctx, &w->rows_of, w->groups_of_rows));
	KDRI_DO(KDRI_NEW(w->ctx, &w->first, w->groups_of_rows));
	for (int64_t g = 0; g < w->groups_of_rows; g++)
		w->rows_of[g] = p->rows_of ? p->rows_of[g] : w->n;
	return kdri_parts(w->ctx, w->rows_of, w->groups_of_rows, w->first, &w->all);
}

int64_t kdri_km_number(const kdri_km *w, int64_t i)
{
	int64_t g = 0;
	for (; i >= w->rows_of[g]; g++)
		i -= w->rows_of[g];
	return w->first[g] + i;
}

kdr_status kdri_km_open(kdr_context *ctx, const kdr_mat *x, const double *weights, const kdri_km_plan *p,
                        kdri_km *w)
{
	*w = (kdri_km){ .ctx = ctx,
		        .x = x,
		        .weights = weights,
		        .n = kdr_mat_rows(x),
		        .d = kdr_mat_cols(x),
		        .k = p->k,
		        .spherical = p->spherical };
	w->error_unit = (double)(w->d + 8) * 0x1p-52;
	plan(w, p);
	KDRI_DO(place_rows(w, p));
	KDRI_DO(kmeans_data_make_room(w));
	return kmeans_data_look(w);
}

/* --- distances ------------------------------------------------------------------------------ */

void kdri_km_distances(kdri_km *w, double *out)
{
	int64_t blocks = kdri_km_blocks(w);
	for (int64_t i = 0; i < w->n; i++)
		w->list[i] = i;
#pragma omp parallel for schedule(static) num_threads(kdri_km_team(w)) if (w->threads > 1)
	for (int64_t b = 0; b < blocks; b++) {
		int64_t at = b * KDRI_BLOCK;
		kdri_km_own(w->x, w->list + at, KDRI_MIN(KDRI_BLOCK, w->n - at), w->centres, w->squares,
		            w->label, w->scale, out + at);
	}
}

kdr_status kdri_km_total(const kdri_km *w, const double *v, double *out)
{
	return kdri_rows_sum(w->ctx, w->weights, v, w->n, w->all, out);
}
