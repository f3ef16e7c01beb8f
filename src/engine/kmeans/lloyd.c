/* The two steps of Lloyd's iteration: labels from centres, with exact bounds, and centres from labels. SPDX-License-Identifier: BSD-3-Clause
 *
 * Labels. For a sample x with centre a, u >= |x - c_a|, and for each group g of centres l_g <= min over j in g, j != a, of
 * |x - c_j|. When centre j moves by delta_j,
 *     (E3)  u <- u + delta_a,   l_g <- max(0, l_g - max_{j in g, j != a} delta_j)
 * stay bounds. If (l_g - u)(l_g + u) > 2 E for all g, with v of (E1) and E of (E2) in kmeans_work.h, then even the computed
 * v of every other centre is larger than that of a: the label is kept without reading the data. Otherwise u is made tight
 * by computing one distance; if that does not suffice, the groups that still fail are computed in full. The label's own
 * group is among them only if its own bound fails: the distance that made u tight replaces it, unless it is within
 * rounding of the best that was found. u is only ever rounded up and l_g down, so that a skip is certain: the partition is
 * that of plain Lloyd from the same centres, bit for bit. One group is Hamerly's algorithm, one per centre would be
 * Elkan's; between them is Yinyang k-means. A group is never smaller than what the kernels compute at once
 * (kdri_km_reach), since fewer would cost the same.
 *
 * Groups. A group's bound is that of its nearest centre, and falls by the largest drift among its centres: a group of
 * nearby centres is excluded at once, while a group of scattered centres hardly ever is. Each group therefore begins
 * with the free centre farthest from the mean of the data and takes the free centres nearest to it. A group's centres
 * are in increasing order, so that of equal distances the lowest number is still found first; no label depends on the
 * groups. On 9298 x 256, k = 100, from random rows, this leaves 2/3 of the products that groups by number need.
 *
 * Centres. For the samples of cluster j and their weights,
 *     (E4)  s_j = sum of w_i x_i,   c_j = s_j / sum of w_i
 *           spherical: x_i has unit length and c_j = s_j / |s_j|
 * Most iterations change few labels, so s_j is updated with the rows that joined or left the cluster. Sums are exact
 * until they are rounded once (comm/exact.h): adding and subtracting a row leaves them unchanged, and they do not
 * depend on the number of threads or ranks. Each rank therefore decides separately how to compute its own sums, and
 * an iteration needs one exchange. Rows are sorted by cluster, and one thread adds up a cluster (a range of features
 * of it, if dense).
 *
 * The objective needs no pass over the data. With the mean of all rows x and sizes W_j,
 *     (E5)  sum w_i |x_i - c_j|^2 = sum w_i |x_i - x|^2 - sum_j W_j |c_j - x|^2
 *           spherical: sum w_i (|x_i|^2 + 1) - 2 sum_j s_j . c_j
 * A cluster of no weight (or, spherical, with a sum of zero) keeps its centre.
 *
 * Measured: processor time of one thread of a 512-bit Xeon to convergence from random labels, best of 5, on
 * a busy machine (so to about 10%), before centres that lie together shared groups:
 *     dense 9298 x 256, k = 10, 45 iterations    plain 188 ms, bounds 83 (16 lanes: one group)
 *     dense 9298 x 256, k = 100, 38 iterations   plain 588 ms, 1 group 264, 2: 246, 4: 230, 7: 235
 *     sparse 18845 x 59030, k = 20, 38 its.      plain 683 ms, bounds 557; in another sitting, without the
 *                                                tight u 605 ms, with it 761
 * and of one thread of an arm64 Neoverse V1, where a group may be 8 centres, groups by number and by place:
 *     dense 9298 x 256, k = 100, 40 iterations   from random labels: 13 groups 251 ms, by place 242
 *                                49              from random rows: 227 ms, by place 202
 * and later, where a group may be 4 centres and rows are asked for ahead of their use:
 *     dense 9298 x 256, k = 10, 19 iterations    groups of 8: 38 ms, of 4: 35
 *     dense 9298 x 256, k = 100, 40 iterations   13 groups of 8: 226 ms, 25 of 4: 239
 * So dense data get a group for each reach of the kernels, up to 16 (a group costs n numbers), sparse data one;
 * and u is not made tight for sparse data of up to 4 tiles: one distance there costs a cache line an
 * entry, as a tile does. That sparse data want more groups for large k has not been measured.
 *
 * References: S. P. Lloyd, IEEE Trans. Inf. Theory 28:129-137, 1982. C. Elkan, ICML 2003. G. Hamerly,
 * SDM 2010. Y. Ding et al., ICML 2015. */
#include "engine/kmeans/kmeans_work.h"

/* --- labels --------------------------------------------------------------------------------- */

/* One step up and down from a computed sum, with room for two roundings. */
#define UP   (1 + 4 * 0x1p-52)
#define DOWN (1 - 4 * 0x1p-52)

static double lower_of(const kdri_km *w, int64_t i, double v)
{
	return sqrt(KDRI_MAX(0.0, w->norm[i] + v - kdri_km_error(w, i))) * DOWN;
}

/* The least lower bound that makes a label certain. */
static double needed(double u, double error)
{
	return sqrt(u * u + 2.01 * error) * UP;
}

/* (E3) for rows begin..end-1; lists those that are not certain. A centre is in one group: for all but that of its label
 * the largest drift of the group counts. */
static int64_t filter_by_drift(const kdri_km *w, int64_t begin, int64_t end, int64_t *rows)
{
	int64_t t = w->groups, count = 0, lanes = w->group_lanes;
	for (int64_t i = begin; i < end; i++) {
		int32_t a = w->label[i];
		int64_t own = w->lane[a] / lanes, open = 0;
		double u = (w->upper[i] + w->drift[a]) * UP, *l = w->lower + i * t;
		double least = needed(u, kdri_km_error(w, i));
		double mine = (l[own] - (w->top_at[own] == a ? w->runner[own] : w->top[own])) * DOWN;
		for (int64_t g = 0; g < t; g++)
			l[g] = (l[g] - w->top[g]) * DOWN;
		l[own] = mine;
		for (int64_t g = 0; g < t; g++)
			open += !(l[g] > least);
		w->upper[i] = u;
		rows[count] = i;
		count += open > 0;
	}
	return count;
}

/* Makes u tight, where that pays, and keeps the rows for which some group is still open; marks the open
 * groups. The square of a tight u is left in `own`. */
static int64_t filter_by_distance(const kdri_km *w, int64_t count, int64_t *rows, double *own, uint8_t *need)
{
	int64_t t = w->groups, kept = 0, lanes = w->group_lanes;
	if (w->tight)
		kdri_km_own(w->x, rows, count, w->centres, w->squares, w->label, w->scale, own);
	for (int64_t r = 0; r < count; r++) {
		int64_t i = rows[r];
		double error = kdri_km_error(w, i);
		const double *l = w->lower + i * t;
		bool open = false;
		if (w->tight)
			w->upper[i] = KDRI_MIN(w->upper[i], sqrt(own[r] + error) * UP);
		double least = needed(w->upper[i], error);
		for (int64_t g = 0; g < t; g++) {
			need[kept * t + g] = !(l[g] > least);
			open |= need[kept * t + g];
		}
		if (!w->tight)
			need[kept * t + w->lane[w->label[i]] / lanes] = 1;
		own[kept] = own[r];
		rows[kept] = i;
		kept += open;
	}
	return kept;
}

/* Room of one thread. */
typedef struct space {
	double *own, *best, *second, *group_best, *group_second, *twice,
	        *dots; /* one number per row, and the group's products */
	uint8_t *need; /* a row's groups */
} space;

/* Computes group g of the rows that need it: new lower bounds, and `winner` where it has a smaller v. */
static void compute_group(const kdri_km *w, int64_t g, int64_t count, const int64_t *rows, const space *s,
                          const uint8_t *need, int32_t *winner)
{
	int64_t t = w->groups, lanes = w->group_lanes, m = 0;
	int64_t first = g * lanes, width = KDRI_MIN(lanes, w->tiles * KDRI_LANES - first);
	int64_t some[KDRI_BLOCK] = { 0 };
	int32_t slot[KDRI_BLOCK] = { 0 }, arg[KDRI_BLOCK] = { 0 };
	for (int64_t r = 0; r < count; r++) {
		some[m] = rows[r];
		slot[m] = (int32_t)r;
		m += !need || need[r * t + g];
	}
	if (w->twice)
		for (int64_t q = 0; q < m; q++)
			s->twice[q] = w->twice[some[q]];
	kdri_km_dots(w->x, some, m, &w->table, first, width, s->dots, lanes);
	kdri_km_scan(s->dots, lanes, m, width, w->offset + first, w->twice ? s->twice : NULL, s->group_best,
	             s->group_second, arg);
	for (int64_t q = 0; q < m; q++) {
		int64_t r = slot[q], i = some[q];
		int32_t centre = w->centre[first + arg[q]];
		if (w->bounds)
			w->lower[i * t + g] = lower_of(w, i, s->group_best[q]);
		if (s->group_best[q] < s->best[r] || (s->group_best[q] == s->best[r] && centre < winner[r])) {
			s->best[r] = s->group_best[q];
			s->second[r] = s->group_second[q];
			winner[r] = centre;
		}
	}
}

/* Where the label's own group was not computed, its distance decides: a winner's v that is larger by more than rounding
 * loses, one that is smaller by that wins, and for the rest the group is computed after all. */
static void lloyd_settle(const kdri_km *w, int64_t count, const int64_t *rows, const space *s,
                         int32_t *winner)
{
	int64_t t = w->groups, lanes = w->group_lanes;
	for (int64_t r = 0; r < count; r++) {
		int64_t i = rows[r], g = w->lane[w->label[i]] / lanes;
		uint8_t *need = s->need + r * t;
		bool done = need[g];
		memset(need, 0, (size_t)t);
		if (done)
			continue;
		double error = kdri_km_error(w, i), by = w->norm[i] + s->best[r] - s->own[r];
		if (by > 2.01 * error) {
			winner[r] = -1;
		} else if (by < -2.01 * error) {
			double *l = w->lower + i * t + g, q = sqrt(KDRI_MAX(0.0, s->own[r] - error)) * DOWN;
			*l = KDRI_MIN(*l, q);
		} else {
			need[g] = 1;
		}
	}
	for (int64_t g = 0; g < t; g++) {
		bool any = false;
		for (int64_t r = 0; r < count; r++)
			any |= s->need[r * t + g];
		if (any)
			compute_group(w, g, count, rows, s, s->need, winner);
	}
}

/* Computes the needed groups of the listed rows, or all of them; new labels and bounds. */
static void compute_groups(const kdri_km *w, int64_t count, const int64_t *rows, const space *s, bool all)
{
	int64_t t = w->groups, lanes = w->group_lanes;
	int32_t winner[KDRI_BLOCK] = { 0 };
	for (int64_t r = 0; r < count; r++) {
		s->best[r] = s->second[r] = INFINITY;
		winner[r] = INT32_MAX;
	}
	for (int64_t g = 0; g < t; g++)
		compute_group(w, g, count, rows, s, all ? NULL : s->need, winner);
	if (!all && w->tight)
		lloyd_settle(w, count, rows, s, winner);
	for (int64_t r = 0; r < count; r++) {
		int64_t i = rows[r];
		if (winner[r] < 0)
			continue;
		w->label[i] = winner[r];
		w->upper[i] = sqrt(KDRI_MAX(0.0, w->norm[i] + s->best[r] + kdri_km_error(w, i))) * UP;
		if (w->bounds)
			w->lower[i * t + w->lane[winner[r]] / lanes] = lower_of(w, i, s->second[r]);
	}
}

void kdri_km_assign(kdri_km *w, bool fresh)
{
	const int64_t blocks = kdri_km_blocks(w);
	const bool all = fresh || !w->bounds;
#pragma omp parallel num_threads(kdri_km_team(w)) if (w->threads > 1)
	{
		int64_t me = kdri_thread();
		double *room = w->scratch + me * w->scratch_size;
		space s = { .own = room,
			    .best = room + KDRI_BLOCK,
			    .second = room + 2 * KDRI_BLOCK,
			    .group_best = room + 3 * KDRI_BLOCK,
			    .group_second = room + 4 * KDRI_BLOCK,
			    .twice = room + 5 * KDRI_BLOCK,
			    .dots = room + 6 * KDRI_BLOCK,
			    .need = w->need + me * KDRI_BLOCK * w->groups };
#pragma omp for schedule(dynamic, 1)
		for (int64_t b = 0; b < blocks; b++) {
			int64_t begin = b * KDRI_BLOCK, end = KDRI_MIN(w->n, begin + KDRI_BLOCK), count = 0;
			int64_t rows[KDRI_BLOCK] = { 0 }, moved = 0;
			rows[0] = begin; /* the list may stay empty */
			for (int64_t i = begin; i < end && all; i++)
				rows[count++] = i;
			if (!all) {
				count = filter_by_drift(w, begin, end, rows);
				count = filter_by_distance(w, count, rows, s.own, s.need);
			}
			compute_groups(w, count, rows, &s, all);
			for (int64_t r = 0; r < count; r++)
				moved += w->label[rows[r]] != w->before[rows[r]];
			w->moved[b] = moved;
		}
	}
}

/* --- groups of centres ---------------------------------------------------------------------- */

static double square_distance(const double *a, const double *b, int64_t d)
{
	double sum = 0;
	for (int64_t f = 0; f < d; f++)
		sum += (a[f] - b[f]) * (a[f] - b[f]);
	return sum;
}

void kdri_km_group(kdri_km *w)
{
	const int64_t k = w->k, d = w->d, size = w->group_lanes;
	if (!w->bounds || w->groups == 1)
		return;
	double *far = w->distance, *near = w->drift; /* free until the first assignment */
	for (int64_t j = 0; j < k; j++) {
		far[j] = square_distance(w->centres + j * d, w->mean, d);
		w->lane[j] = -1;
	}
	for (int64_t begin = 0; begin < k; begin += size) {
		int64_t end = KDRI_MIN(k, begin + size), seed = -1, at = begin;
		for (int64_t j = 0; j < k; j++)
			if (w->lane[j] < 0 && (seed < 0 || far[j] > far[seed]))
				seed = j;
		for (int64_t j = 0; j < k; j++)
			near[j] = w->lane[j] < 0
			                  ? square_distance(w->centres + j * d, w->centres + seed * d, d)
			                  : INFINITY;
		for (int64_t i = begin; i < end; i++) {
			int64_t next = -1;
			for (int64_t j = 0; j < k; j++)
				if (w->lane[j] < 0 && (next < 0 || near[j] < near[next]))
					next = j;
			w->lane[next] = (int32_t)begin; /* in use; its own lane follows */
		}
		for (int64_t j = 0; j < k; j++)
			if (w->lane[j] == begin && near[j] < INFINITY)
				w->centre[at++] = (int32_t)j;
		for (int64_t i = begin; i < end; i++)
			w->lane[w->centre[i]] = (int32_t)i;
	}
	kdri_km_load_centres(w);
}

enum { FEATURES = KDRI_KM_FEATURES, ADD_FEATURES = 256 };

/* --- sums ----------------------------------------------------------------------------------- */

/* Sorts (row, coefficient) pairs by cluster: all rows, or those whose label changed, once as leaving
 * and once as coming. */
static void sort_by_cluster(kdri_km *w, bool all)
{
	int64_t *begin = w->begin, blocks = kdri_km_blocks(w);
	memset(begin, 0, (size_t)(w->k + 1) * sizeof *begin);
	for (int pass = 0; pass < 2; pass++) {
		for (int64_t b = 0; b < blocks; b++) {
			if (!all && !w->moved[b])
				continue;
			int64_t end = KDRI_MIN(w->n, (b + 1) * KDRI_BLOCK);
			for (int64_t i = b * KDRI_BLOCK; i < end; i++) {
				int32_t to = w->label[i], from = w->before[i];
				if (!all && to == from)
					continue;
				if (pass == 0) {
					begin[to + 1]++;
					if (!all)
						begin[from + 1]++;
					continue;
				}
				double c = kdri_km_weight(w, i) * (w->scale ? w->scale[i] : 1);
				w->coef[begin[to]] = c;
				w->list[begin[to]++] = i;
				if (!all) {
					w->coef[begin[from]] = -c;
					w->list[begin[from]++] = i;
				}
			}
		}
		if (pass == 0)
			for (int64_t j = 0; j < w->k; j++)
				begin[j + 1] += begin[j];
	}
	/* The second pass moved every start to its end, which is the next one's start. */
	memmove(begin + 1, begin, (size_t)w->k * sizeof *begin);
	begin[0] = 0;
}

/* s_j of (E4) for the local rows in two parts, each followed by its mass. */
static void lloyd_add_up(kdri_km *w, bool all)
{
	const int64_t width = w->x->kind == KDR_MAT_DENSE ? ADD_FEATURES : w->d, step = w->d + 1;
	const int64_t pieces = (w->d + width - 1) / width;
#pragma omp parallel for collapse(2) schedule(dynamic, 1) num_threads(kdri_km_team(w)) if (w->threads > 1)
	for (int64_t j = 0; j < w->k; j++)
		for (int64_t p = 0; p < pieces; p++) {
			int64_t f0 = p * width, f1 = KDRI_MIN(w->d, f0 + width), at = w->begin[j];
			double *part = w->exact + j * 2 * step;
			kdri_km_sums to = { w->unit, w->ratio, part, part + step };
			if (all) {
				memset(to.high + f0, 0, (size_t)(f1 - f0) * sizeof *to.high);
				memset(to.low + f0, 0, (size_t)(f1 - f0) * sizeof *to.low);
			}
			kdri_km_add(w->x, w->list + at, w->coef + at, w->begin[j + 1] - at, f0, f1, &to);
		}
	for (int64_t j = 0; j < w->k; j++) {
		double *part = w->exact + j * 2 * step;
		kdri_exact mass = { all ? 0 : part[w->d], all ? 0 : part[step + w->d] };
		for (int64_t p = w->begin[j]; p < w->begin[j + 1]; p++) {
			double c = kdri_km_weight(w, w->list[p]);
			kdri_exact_add(&mass, w->unit[w->d], w->unit[w->d] * w->ratio,
			               w->coef[p] < 0 ? -c : c);
		}
		part[w->d] = mass.high;
		part[step + w->d] = mass.low;
		w->touched[j] = all || w->begin[j + 1] > w->begin[j];
	}
}

/* Samples in each cluster and labels that changed, of the rows here. */
static void count_here(kdri_km *w, bool all)
{
	if (all)
		memset(w->here, 0, (size_t)w->k * sizeof *w->here);
	w->changed = 0;
	for (int64_t b = 0; b < kdri_km_blocks(w); b++) {
		if (!all && !w->moved[b])
			continue;
		int64_t end = KDRI_MIN(w->n, (b + 1) * KDRI_BLOCK);
		for (int64_t i = b * KDRI_BLOCK; i < end; i++) {
			bool same = w->label[i] == w->before[i];
			w->changed += !same;
			if ((!all && same) || !kdri_km_counts(w, i))
				continue;
			w->here[w->label[i]]++;
			if (!all)
				w->here[w->before[i]]--;
		}
	}
}

void kdri_km_tally(kdri_km *w, bool all)
{
	count_here(w, all);
	all = all || 4 * w->changed > w->n;
	sort_by_cluster(w, all);
	lloyd_add_up(w, all);
}

void kdri_km_settle(kdri_km *w)
{
	for (int64_t b = 0, at = 0; b < kdri_km_blocks(w); b++, at += KDRI_BLOCK)
		if (w->moved[b])
			memcpy(w->before + at, w->label + at,
			       (size_t)KDRI_MIN(KDRI_BLOCK, w->n - at) * sizeof *w->label);
}

/* --- ranks ---------------------------------------------------------------------------------- */

/* Sums as numbers, from their parts. */
static void take_sums(kdri_km *w, const double *parts)
{
	const int64_t step = w->d + 1;
	for (int64_t j = 0; j < w->k; j++) {
		const double *part = parts + j * 2 * step;
		for (int64_t f = 0; f < w->d && w->touched[j]; f++)
			w->sums[j * w->d + f] = part[f] + part[step + f];
		w->mass[j] = w->filled[j] ? part[w->d] + part[step + w->d] : 0;
	}
}

/* What a problem puts into an exchange: parts of sums; counts, which are exact as numbers, too; how many labels changed. */
static int64_t room_of(const kdri_km *w)
{
	return w->k * 2 * (w->d + 1) + w->k + 1;
}

static void put_in(const kdri_km *w, double *room)
{
	const int64_t size = w->k * 2 * (w->d + 1);
	memcpy(room, w->exact, (size_t)size * sizeof *room);
	for (int64_t j = 0; j < w->k; j++)
		room[size + j] = (double)w->here[j];
	room[size + w->k] = (double)w->changed;
}

static void take_out(kdri_km *w, const double *room)
{
	const int64_t size = w->k * 2 * (w->d + 1);
	for (int64_t j = 0; j < w->k; j++)
		w->filled[j] = (int64_t)room[size + j];
	w->changed = (int64_t)room[size + w->k];
	memset(w->touched, 1, (size_t)w->k);
	take_sums(w, room);
}

kdr_status kdri_km_join(kdri_km *const *w, int64_t count)
{
	kdr_status st = KDR_OK;
	kdr_context *ctx = w[0]->ctx;
	double *room = NULL;
	int64_t size = 0;
	if (!kdri_together(ctx)) {
		for (int64_t p = 0; p < count; p++) {
			memcpy(w[p]->filled, w[p]->here, (size_t)w[p]->k * sizeof *w[p]->filled);
			if (!w[p]->on_device)
				take_sums(w[p], w[p]->exact);
		}
		return KDR_OK;
	}
	for (int64_t p = 0; p < count; p++)
		size += room_of(w[p]);
	KDRI_TRY(KDRI_NEW(ctx, &room, size));
	for (int64_t p = 0, at = 0; p < count; at += room_of(w[p++]))
		put_in(w[p], room + at);
	KDRI_TRY(kdri_sum(ctx, room, size));
	for (int64_t p = 0, at = 0; p < count; at += room_of(w[p++]))
		take_out(w[p], room + at);
done:
	kdri_free(ctx, room);
	return st;
}

kdr_status kdri_km_count(kdri_km *w)
{
	count_here(w, true);
	memcpy(w->filled, w->here, (size_t)w->k * sizeof *w->filled);
	return kdri_sum_int(w->ctx, w->filled, w->k);
}

/* --- centres -------------------------------------------------------------------------------- */

/* Updates the centres of the changed clusters, then the table and their traits. */
typedef enum source { FROM_SUMS, FROM_CENTRES, FROM_FILL } source;
typedef struct supply {
	source from;
	kdri_km_fill *fill;
	void *user;
} supply;

/* Features f0..f1-1 of centre j, c_j of (E4), and their share of its traits; `mass` of its sum (0: it stays). */
static kdri_traits renew(kdri_km *w, const supply *s, int64_t j, int64_t f0, int64_t f1, double mass)
{
	const kdri_km_table *t = &w->table;
	double room[FEATURES], *centre = w->centres + j * w->d + f0;
	const double *sums = w->sums + j * w->d + f0;
	int64_t at = w->lane[j];
	if (s->from == FROM_FILL) {
		s->fill(s->user, j, f0, f1, centre, room);
		sums = room;
		mass = 1;
	}
	return kdri_km_renew(centre, sums, mass, w->shift ? w->shift + f0 : NULL,
	                     w->spherical ? NULL : w->mean + f0,
	                     t->at + at / KDRI_LANES * t->tile_step + at % KDRI_LANES + f0 * t->feature_step,
	                     t->feature_step, f1 - f0);
}

/* Largest and second largest drift of each group (E3). */
static void rank_drifts(kdri_km *w)
{
	int64_t lanes = w->group_lanes;
	for (int64_t g = 0; g < w->groups; g++) {
		w->top[g] = w->runner[g] = 0;
		w->top_at[g] = -1;
		for (int64_t at = g * lanes; at < KDRI_MIN(w->k, (g + 1) * lanes); at++) {
			int32_t j = w->centre[at];
			double by = w->drift[j];
			if (by > w->top[g]) {
				w->runner[g] = w->top[g];
				w->top[g] = by;
				w->top_at[g] = j;
			} else if (by > w->runner[g]) {
				w->runner[g] = by;
			}
		}
	}
}

/* Length of each cluster's sum; spherical only. */
static void sum_lengths(kdri_km *w, double *length)
{
#pragma omp parallel for schedule(static) num_threads(kdri_km_team(w)) if (w->threads > 1)
	for (int64_t j = 0; j < w->k; j++) {
		const double *s = w->sums + j * w->d;
		double square = 0;
		for (int64_t f = 0; f < w->d; f++)
			square += s[f] * s[f];
		/* Opposite directions cancel up to rounding: then the sum has no direction to give. */
		double none = 0x1p-52 * (double)w->filled[j] * w->mass[j];
		length[j] = square > none * none ? sqrt(square) : 0;
	}
}

static void renew_centres(kdri_km *w, const supply *s)
{
	int64_t blocks = (w->d + FEATURES - 1) / FEATURES;
	double *length = w->drift; /* free until it is set below */
	kdri_traits *part = w->partial;
	if (s->from == FROM_SUMS && w->spherical)
		sum_lengths(w, length);
#pragma omp parallel for schedule(dynamic, 1) num_threads(kdri_km_team(w)) if (w->threads > 1 && blocks > 1)
	for (int64_t b = 0; b < blocks; b++)
		for (int64_t j = 0; j < w->k; j++)
			if (w->touched[j]) {
				double mass = s->from == FROM_CENTRES ? 0
				              : w->spherical          ? length[j]
				                                      : w->mass[j];
				part[b * w->k + j] = renew(w, s, j, b * FEATURES,
				                           KDRI_MIN(w->d, (b + 1) * FEATURES), mass);
			}
	for (int64_t j = 0; j < w->k; j++) {
		w->drift[j] = 0;
		if (!w->touched[j])
			continue;
		kdri_traits t = { 0 };
		for (int64_t b = 0; b < blocks; b++) {
			const kdri_traits *p = &part[b * w->k + j];
			t.moved += p->moved;
			t.offset += p->offset;
			t.square += p->square;
			t.spread += p->spread;
		}
		w->drift[j] = sqrt(t.moved) * (1 + w->error_unit);
		w->offset[w->lane[j]] = w->spherical ? 1 : t.offset;
		w->squares[j] = t.square;
		w->spread[j] = t.spread;
	}
	/* |c'| <= |c - mean| + |mean - m|, and m is the mean or 0. */
	double most = w->spherical ? 2 : 0;
	for (int64_t j = 0; j < w->k && !w->spherical; j++)
		most = KDRI_MAX(most, w->shift ? w->spread[j] : w->squares[j]);
	w->radius = sqrt(most) * (1 + w->error_unit);
	double r = w->radius, m = sqrt(w->shift_norm) * (1 + w->error_unit);
	bool dense = w->x->kind == KDR_MAT_DENSE;
	w->error_row = w->error_unit * (dense ? 2 : 6);
	w->error_base = w->error_unit * (dense ? 3 * r * r + 4 * m * r : 6 * r * r + 12 * m * m);
	rank_drifts(w);
}

void kdri_km_load_centres(kdri_km *w)
{
	memset(w->touched, 1, (size_t)w->k);
	renew_centres(w, &(supply){ .from = FROM_CENTRES });
}

void kdri_km_place(kdri_km *w, kdri_km_fill *fill, void *user)
{
	memset(w->touched, 1, (size_t)w->k);
	renew_centres(w, &(supply){ .from = FROM_FILL, .fill = fill, .user = user });
}

void kdri_km_from_sums(kdri_km *w)
{
	renew_centres(w, &(supply){ .from = FROM_SUMS });
}

double kdri_km_objective(const kdri_km *w)
{
	double sum = 0;
	for (int64_t j = 0; j < w->k; j++) /* (E5) */
		sum += w->spherical ? 2 * w->spread[j] : w->mass[j] * w->spread[j];
	return KDRI_MAX(0.0, w->total - sum);
}

/* --- empty clusters ------------------------------------------------------------------------- */

/* Squared distance of every row to its centre by (E1), as the assignment sees it. */
static void seen_distances(kdri_km *w)
{
#pragma omp parallel for schedule(static) num_threads(kdri_km_team(w)) if (w->threads > 1)
	for (int64_t i = 0; i < w->n; i++) {
		double dots[KDRI_LANES];
		int32_t a = w->lane[w->label[i]];
		kdri_km_dots(w->x, &i, 1, &w->table, a / KDRI_LANES * KDRI_LANES, KDRI_LANES, dots,
		             KDRI_LANES);
		w->distance[i] =
		        w->norm[i] + w->offset[a] - (w->twice ? w->twice[i] : 2) * dots[a % KDRI_LANES];
	}
}

/* The row here that is farthest from its centre and can leave it, or -1. `exact`: by differences. */
static int64_t farthest(const kdri_km *w, bool exact)
{
	int64_t far = -1;
	for (int64_t i = 0; i < w->n; i++) {
		int32_t a = w->label[i];
		/* A point this near may lie on its centre: rounding of (E1), or of a mean of N numbers. */
		double unit = 0x1p-52 * (double)w->filled[a];
		double none = exact ? unit * unit * (w->norm[i] + w->shift_norm) : 2 * kdri_km_error(w, i);
		if (kdri_km_counts(w, i) && w->filled[a] > 1 && w->distance[i] > none &&
		    (far < 0 || w->distance[i] > w->distance[far]))
			far = i;
	}
	return far;
}

/* The farthest of all ranks, of equals the first: *far is its row, or -1 elsewhere; *from its cluster, or -1: none can. */
static kdr_status farthest_of_all(const kdri_km *w, bool exact, int64_t *far, int64_t *from)
{
	int64_t mine = farthest(w, exact), number = INT64_MAX, own;
	double most = mine < 0 ? -1 : w->distance[mine];
	KDRI_DO(kdri_max(w->ctx, &most, 1));
	if (mine >= 0 && w->distance[mine] == most) { /* its number among the rows of all ranks */
		int64_t g = 0, i = mine;
		for (; i >= w->rows_of[g]; g++)
			i -= w->rows_of[g];
		number = w->first[g] + i;
	}
	own = number;
	KDRI_DO(kdri_min_int(w->ctx, &number, 1));
	*far = most >= 0 && own == number ? mine : -1;
	*from = *far < 0 ? -1 : w->label[*far];
	return kdri_max_int(w->ctx, from, 1);
}

kdr_status kdri_km_fill_empty(kdri_km *w, int64_t *moved)
{
	bool seen = false, exact = false;
	/* If (E1) gives a distance of 0, differences of dense rows may still give a positive one, unless the rows are
	 * equal. */
	bool sharper = w->x->kind == KDR_MAT_DENSE && w->distinct >= w->k;
	*moved = 0;
	for (int64_t j = 0; j < w->k; j++) {
		int64_t far, from;
		if (w->filled[j])
			continue;
		if (!seen)
			seen_distances(w);
		seen = true;
		KDRI_DO(farthest_of_all(w, exact, &far, &from));
		if (from < 0 && !exact && sharper) {
			kdri_km_distances(w, w->distance);
			exact = true;
			KDRI_DO(farthest_of_all(w, exact, &far, &from));
		}
		if (from < 0)
			break; /* every sample lies on its centre: fewer distinct samples than clusters */
		w->filled[from]--;
		w->filled[j] = 1;
		++*moved;
		if (far < 0)
			continue;
		w->label[far] = (int32_t)j;
		w->moved[far / KDRI_BLOCK]++;
		w->distance[far] = 0;
		w->upper[far] = INFINITY;
		if (w->bounds)
			memset(w->lower + far * w->groups, 0, (size_t)w->groups * sizeof *w->lower);
	}
	return KDR_OK;
}
