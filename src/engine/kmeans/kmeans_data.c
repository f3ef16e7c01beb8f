/* The rows of k-means: memory, norms, means, and the loops that sum over rows. SPDX-License-Identifier: BSD-3-Clause
 *
 * These loops are separate from the products of kmeans_kernels.c: they are limited by memory bandwidth, and without fused
 * multiply-adds the loops for dense and sparse rows round in the same way, however the compiler arranges them. Sums of
 * rows are those of comm/exact.h. Equations are those of kmeans_work.h. */
#include "engine/kmeans/kmeans_work.h"

/* Multiply-adds in one assignment below which a team of threads costs more than it brings. */
static const double share_above = 4e6;

/* --- loops over rows ------------------------------------------------------------------------ */

/* (E101) of comm/exact.h for one term; its parts are passed as numbers, so that four rows can be added at a time. */
#define SPLIT(x, t, small, h, l) \
	double h = ((x) + (t)) - (t); \
	double l = (((x)-h) + (small)) - (small)

KDRI_KERNEL
static void add_four(const double *const v[4], const double *coef, int64_t f0, int64_t f1,
                     const double *restrict unit, double ratio, double *restrict high, double *restrict low)
{
	const double *restrict v0 = v[0], *restrict v1 = v[1], *restrict v2 = v[2], *restrict v3 = v[3];
	const double c0 = coef[0], c1 = coef[1], c2 = coef[2], c3 = coef[3];
	for (int64_t f = f0; f < f1; f++) {
		double t = unit[f], small = t * ratio;
		double x0 = c0 * v0[f], x1 = c1 * v1[f], x2 = c2 * v2[f], x3 = c3 * v3[f];
		SPLIT(x0, t, small, h0, l0);
		SPLIT(x1, t, small, h1, l1);
		SPLIT(x2, t, small, h2, l2);
		SPLIT(x3, t, small, h3, l3);
		high[f] += (h0 + h1) + (h2 + h3);
		low[f] += (l0 + l1) + (l2 + l3);
	}
}

KDRI_KERNEL
static void add_one(const double *restrict v, double coef, int64_t f0, int64_t f1,
                    const double *restrict unit, double ratio, double *restrict high, double *restrict low)
{
	for (int64_t f = f0; f < f1; f++) {
		double t = unit[f], small = t * ratio, x = coef * v[f];
		SPLIT(x, t, small, h, l);
		high[f] += h;
		low[f] += l;
	}
}

void kdri_km_add(const kdr_mat *x, const int64_t *rows, const double *coef, int64_t count, int64_t f0,
                 int64_t f1, const kdri_km_sums *to)
{
	if (x->kind == KDR_MAT_DENSE) {
		const kdr_dense *m = &x->as.dense;
		int64_t r = 0;
		enum { AHEAD = 8, LINE = 8 };
		/* Four rows at a time, so that four memory reads are in progress at once; later ones are asked for. */
		for (; r + 4 <= count; r += 4) {
			const double *v[4];
			for (int i = 0; i < 4; i++) {
				const double *later =
				        m->data + rows[KDRI_MIN(r + i + AHEAD, count - 1)] * m->stride;
				v[i] = m->data + rows[r + i] * m->stride;
				for (int64_t f = f0; f < f1; f += LINE)
					__builtin_prefetch(later + f);
			}
			add_four(v, coef + r, f0, f1, to->unit, to->ratio, to->high, to->low);
		}
		for (; r < count; r++)
			add_one(m->data + rows[r] * m->stride, coef[r], f0, f1, to->unit, to->ratio, to->high,
			        to->low);
		return;
	}
	const kdr_csr *s = &x->as.csr;
	for (int64_t r = 0; r < count; r++)
		for (int64_t p = s->rowptr[rows[r]]; p < s->rowptr[rows[r] + 1]; p++) {
			int32_t f = s->col[p];
			double t = to->unit[f], small = t * to->ratio, v = coef[r] * s->val[p];
			SPLIT(v, t, small, h, l);
			to->high[f] += h;
			to->low[f] += l;
		}
}

KDRI_KERNEL
static void most_of(const double *restrict v, double coef, int64_t d, double *restrict most)
{
	for (int64_t f = 0; f < d; f++) {
		double size = fabs(coef * v[f]);
		most[f] = size > most[f] ? size : most[f];
	}
}

/* most[f] = max(most[f], |coef[i] x[i][f]|) over rows begin <= i < end; coef NULL: ones. */
static void most_of_rows(const kdr_mat *x, int64_t begin, int64_t end, const double *coef, double *most)
{
	for (int64_t i = begin; i < end; i++) {
		double c = coef ? coef[i] : 1;
		if (x->kind == KDR_MAT_DENSE) {
			most_of(x->as.dense.data + i * x->as.dense.stride, c, x->as.dense.cols, most);
			continue;
		}
		const kdr_csr *s = &x->as.csr;
		for (int64_t p = s->rowptr[i]; p < s->rowptr[i + 1]; p++)
			most[s->col[p]] = KDRI_MAX(most[s->col[p]], fabs(c * s->val[p]));
	}
}

kdr_status kdri_km_table_new(kdr_context *ctx, kdr_mat_kind kind, int64_t d, int64_t tiles,
                             kdri_km_table *out)
{
	int64_t size;
	double *room = NULL;
	KDRI_DO(kdri_mul(ctx, d, tiles * KDRI_LANES, &size));
	KDRI_DO(KDRI_NEW0(ctx, &room, size + KDRI_LANES));
	uintptr_t line = KDRI_LANES * sizeof *room, past = (uintptr_t)room % line;
	out->room = room;
	out->at = room + (past ? (line - past) / sizeof *room : 0);
	out->tile_step = kind == KDR_MAT_DENSE ? KDRI_LANES * d : KDRI_LANES;
	out->feature_step = kind == KDR_MAT_DENSE ? KDRI_LANES : KDRI_LANES * tiles;
	return KDR_OK;
}

static double add_lanes(const double *v)
{
	return ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]));
}

/* out[i] = |x_i - shift|^2, rows begin <= i < end; shift NULL: 0. shift_norm = |shift|^2. Feature f belongs to sum f mod 8 in both loops, so that zeros make no difference. */
KDRI_KERNEL
static void norms_of_rows(const kdr_mat *x, int64_t begin, int64_t end, const double *shift,
                          double shift_norm, double *out)
{
	if (x->kind == KDR_MAT_DENSE) {
		int64_t d = x->as.dense.cols;
		for (int64_t i = begin; i < end; i++) {
			const double *v = x->as.dense.data + i * x->as.dense.stride;
			double lanes[KDRI_LANES] = { 0 };
			for (int64_t f = 0; f < d; f += KDRI_LANES)
				for (int64_t j = 0; j < KDRI_MIN(KDRI_LANES, d - f); j++) {
					double e = shift ? v[f + j] - shift[f + j] : v[f + j];
					lanes[j] += e * e;
				}
			out[i] = add_lanes(lanes);
		}
		return;
	}
	const kdr_csr *s = &x->as.csr;
	for (int64_t i = begin; i < end; i++) {
		double lanes[KDRI_LANES] = { 0 };
		for (int64_t p = s->rowptr[i]; p < s->rowptr[i + 1]; p++) {
			double e = shift ? s->val[p] - 2 * shift[s->col[p]] : s->val[p];
			lanes[s->col[p] % KDRI_LANES] += s->val[p] * e;
		}
		double sum = add_lanes(lanes);
		out[i] = shift ? KDRI_MAX(0.0, sum + shift_norm) : sum;
	}
}

#define KDRI_BODY "engine/kmeans/kmeans_renew.h"
#include "matrix/each_machine.h"

void kdri_km_try(const kdri_km_trial *t, int64_t count)
{
	for (int64_t first = 0; first < t->lanes; first += KDRI_LANES / 2)
		KDRI_PICK(try_half)(t, count, first);
}

kdri_traits kdri_km_renew(double *c, const double *s, double mass, const double *shift, const double *mean,
                          double *lane, int64_t step, int64_t count)
{
	return KDRI_PICK(renew)(c, s, mass, shift, mean, lane, step, count);
}

/* --- memory --------------------------------------------------------------------------------- */

void kdri_km_close(kdri_km *w)
{
	KDRI_FREE(w->ctx, w->scale, w->twice, w->norm, w->mean, w->centres, w->sums, w->mass, w->filled,
	          w->table.room, w->offset, w->squares, w->spread, w->drift, w->partial, w->label, w->before,
	          w->upper, w->lower, w->top, w->runner, w->top_at, w->moved, w->scratch, w->need, w->list,
	          w->coef, w->begin, w->touched, w->distance, w->best_centres, w->best_label, w->lane,
	          w->centre, w->unit, w->exact, w->here, w->rows_of, w->first, w->seeds);
}

/* How the work is divided: threads, and groups of centres that share bounds (lloyd.c). */
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
		norms_of_rows(w->x, b * KDRI_BLOCK, KDRI_MIN(w->n, (b + 1) * KDRI_BLOCK), w->shift,
		              w->shift_norm, w->norm);
	return kdri_km_total(w, w->norm, sum);
}

/* Samples are summed in this many parts at most, each by one thread. */
enum { PARTS = 16, ROWS_PER_PART = 4096 };

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
		most_of_rows(w->x, begin, end, plain ? NULL : w->coef, most + p * (d + 1));
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

static kdr_status kmeans_data_look(kdri_km *w)
{
	double weight = 0, square = 0, sum;
	KDRI_DO(kmeans_data_find_norms(w, &sum));
	if (!isfinite(sum))
		return kdri_fail(w->ctx, KDR_ERR_NUMERIC,
		                 "k-means: the squares of the values overflow; scale the data down");
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
	for (int64_t i = 0; i < w->n; i++)
		w->coef[i] = kdri_km_weight(w, i);
	KDRI_DO(kdri_rows_sum(w->ctx, NULL, w->coef, w->n, w->all, &weight));
	KDRI_DO(kdri_km_row_sum(w, w->mean));
	for (int64_t f = 0; f < w->d; f++) {
		w->mean[f] = weight > 0 ? w->mean[f] / weight : 0;
		square += w->mean[f] * w->mean[f];
	}
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
	w->groups_of_rows = p->rows_of ? p->tasks : 1;
	KDRI_DO(KDRI_NEW(ctx, &w->rows_of, w->groups_of_rows));
	KDRI_DO(KDRI_NEW(ctx, &w->first, w->groups_of_rows));
	for (int64_t g = 0; g < w->groups_of_rows; g++)
		w->rows_of[g] = p->rows_of ? p->rows_of[g] : w->n;
	KDRI_DO(kdri_parts(ctx, w->rows_of, w->groups_of_rows, w->first, &w->all));
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
