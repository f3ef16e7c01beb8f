/* The assignment step of k-means with exact bounds. SPDX-License-Identifier: BSD-3-Clause
 *
 * Bounds. For a sample x with centre a, u >= |x - c_a|, and for each group g of centres
 * l_g <= min over j in g, j != a, of |x - c_j|. When centre j moves by delta_j,
 *     (E3)  u <- u + delta_a,   l_g <- max(0, l_g - max_{j in g, j != a} delta_j)
 * stay bounds. If (l_g - u)(l_g + u) > 2 E for all g, with E of (E2) in kmeans_work.h, then even the
 * computed v of every other centre is larger than that of a: the label is kept without reading the data. Otherwise u
 * is made tight by computing one distance; if that does not suffice, the groups that still fail are computed in full.
 * The label's own group is among them only if its own bound fails: the distance that made u tight replaces it, unless
 * it is within rounding of the best that was found. u is only ever rounded up and l_g down, so that a skip is
 * certain: the partition is that of plain Lloyd from the same centres, bit for bit. One group is Hamerly's algorithm,
 * one per centre would be Elkan's; between them is Yinyang k-means. A group is never smaller than what the kernels
 * compute at once (kdri_km_reach), since fewer would cost the same.
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

/* One step up and down from a computed sum, with room for two roundings. */
#define UP   (1 + 4 * 0x1p-52)
#define DOWN (1 - 4 * 0x1p-52)

static double upper_of(const kdri_km *w, int64_t i, double v)
{
	return sqrt(KDRI_MAX(0.0, w->norm[i] + v + kdri_km_error(w, i))) * UP;
}

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
		w->upper[i] = upper_of(w, i, s->best[r]);
		if (w->bounds)
			w->lower[i * t + w->lane[winner[r]] / lanes] = lower_of(w, i, s->second[r]);
	}
}

static void assign_block(kdri_km *w, int64_t block, bool fresh, const space *s)
{
	int64_t begin = block * KDRI_BLOCK, end = KDRI_MIN(w->n, begin + KDRI_BLOCK), count = 0;
	int64_t rows[KDRI_BLOCK] = { 0 };
	bool all = fresh || !w->bounds;
	rows[0] = begin; /* the list may stay empty */
	if (all) {
		for (int64_t i = begin; i < end; i++)
			rows[count++] = i;
	} else {
		count = filter_by_drift(w, begin, end, rows);
		count = filter_by_distance(w, count, rows, s->own, s->need);
	}
	compute_groups(w, count, rows, s, all);
	int64_t moved = 0;
	for (int64_t r = 0; r < count; r++)
		moved += w->label[rows[r]] != w->before[rows[r]];
	w->moved[block] = moved;
}

void kdri_km_assign(kdri_km *w, bool fresh)
{
	int64_t blocks = kdri_km_blocks(w);
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
		for (int64_t b = 0; b < blocks; b++)
			assign_block(w, b, fresh, &s);
	}
}
