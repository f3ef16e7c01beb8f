/* The assignment step of k-means with exact bounds. SPDX-License-Identifier: BSD-3-Clause
 *
 * Bounds. For a sample x with centre a, u >= |x - c_a|, and for each group g of centres
 * l_g <= min over j in g, j != a, of |x - c_j|. When centre j moves by delta_j,
 *     (E3)  u <- u + delta_a,   l_g <- max(0, l_g - max_{j in g, j != a} delta_j)
 * stay bounds. If (l_g - u)(l_g + u) > 2 E for all g, with E of (E2) in kmeans_work.h, then even the
 * computed v of every other centre is larger than that of a: the label stands without a look at the
 * data. Else u is made tight by one distance; else the groups that still fail, and a's own, are
 * computed in full. u is only ever rounded up and l_g down, so that a skip is certain: the partition
 * is that of plain Lloyd from the same centres, bit for bit.
 * One group is Hamerly's algorithm, one per centre would be Elkan's; between them is Yinyang k-means.
 * A group is never less than what the kernels compute in one go (16 centres dense, 32 sparse), since
 * fewer would cost the same.
 *
 * Measured: processor time of one thread of a 512-bit Xeon to convergence from random labels, best of 5, on
 * a busy machine (so to about 10%):
 *     dense 9298 x 256, k = 10, 45 iterations    plain 188 ms, bounds 83 (16 lanes: one group)
 *     dense 9298 x 256, k = 100, 38 iterations   plain 588 ms, 1 group 264, 2: 246, 4: 230, 7: 235
 *     sparse 18845 x 59030, k = 20, 38 its.      plain 683 ms, bounds 557; in another sitting, without the
 *                                                tight u 605 ms, with it 761
 * So dense data get a group for each pair of tiles, up to 8 (a group costs n numbers), sparse data one;
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

static bool certain(double u, double l, double error)
{
	return (l - u) * (l + u) > 2.01 * error;
}

/* (E3) for rows begin..end-1; lists those that are not certain. */
static int64_t filter_by_drift(const kdri_km *w, int64_t begin, int64_t end, int64_t *rows)
{
	int64_t t = w->groups, count = 0;
	for (int64_t i = begin; i < end; i++) {
		int32_t a = w->label[i];
		double u = (w->upper[i] + w->drift[a]) * UP, least = INFINITY, *l = w->lower + i * t;
		for (int64_t g = 0; g < t; g++) {
			double by = w->top_at[g] == a ? w->runner[g] : w->top[g];
			l[g] = KDRI_MAX(0.0, (l[g] - by) * DOWN);
			least = KDRI_MIN(least, l[g]);
		}
		w->upper[i] = u;
		rows[count] = i;
		count += !certain(u, least, kdri_km_error(w, i));
	}
	return count;
}

/* Makes u tight, where that pays, and keeps the rows for which some group is still open; marks the open
 * groups. */
static int64_t filter_by_distance(const kdri_km *w, int64_t count, int64_t *rows, double *room, uint8_t *need)
{
	int64_t t = w->groups, kept = 0, lanes = w->group_tiles * KDRI_LANES;
	/* A sparse row's own distance touches as many cache lines as a tile: see above. */
	bool tight = w->x->kind == KDR_MAT_DENSE || w->tiles > 4;
	if (tight)
		kdri_km_own(w->x, rows, count, w->centres, w->squares, w->label, w->scale, room);
	for (int64_t r = 0; r < count; r++) {
		int64_t i = rows[r];
		double error = kdri_km_error(w, i), u = w->upper[i];
		const double *l = w->lower + i * t;
		bool open = false;
		if (tight)
			w->upper[i] = u = KDRI_MIN(u, sqrt(room[r] + error) * UP);
		for (int64_t g = 0; g < t; g++) {
			need[kept * t + g] = !certain(u, l[g], error);
			open |= need[kept * t + g];
		}
		need[kept * t + w->label[i] / lanes] = 1;
		rows[kept] = i;
		kept += open;
	}
	return kept;
}

/* Computes the needed groups of the listed rows; new labels and bounds. */
static void compute_groups(const kdri_km *w, int64_t count, const int64_t *rows, double *room,
                           const uint8_t *need)
{
	int64_t t = w->groups, lanes = w->group_tiles * KDRI_LANES;
	double *second = room, *best = second + KDRI_BLOCK, *group_best = best + KDRI_BLOCK,
	       *group_second = group_best + KDRI_BLOCK, *twice = group_second + KDRI_BLOCK,
	       *dots = twice + KDRI_BLOCK;
	int64_t some[KDRI_BLOCK] = { 0 };
	int32_t slot[KDRI_BLOCK] = { 0 }, arg[KDRI_BLOCK] = { 0 };
	for (int64_t r = 0; r < count; r++) {
		best[r] = second[r] = INFINITY;
		w->label[rows[r]] = 0;
	}
	for (int64_t g = 0; g < t; g++) {
		int64_t m = 0, first = g * w->group_tiles, tiles = KDRI_MIN(w->group_tiles, w->tiles - first);
		for (int64_t r = 0; r < count; r++) {
			some[m] = rows[r];
			slot[m] = (int32_t)r;
			m += !need || need[r * t + g];
		}
		if (w->twice)
			for (int64_t q = 0; q < m; q++)
				twice[q] = w->twice[some[q]];
		kdri_km_dots(w->x, some, m, &w->table, first, tiles, dots, lanes);
		kdri_km_scan(dots, lanes, m, tiles * KDRI_LANES, w->offset + g * lanes,
		             w->twice ? twice : NULL, group_best, group_second, arg);
		for (int64_t q = 0; q < m; q++) {
			int64_t r = slot[q], i = some[q];
			if (w->bounds)
				w->lower[i * t + g] = lower_of(w, i, group_best[q]);
			if (group_best[q] < best[r]) {
				best[r] = group_best[q];
				second[r] = group_second[q];
				w->label[i] = (int32_t)(g * lanes + arg[q]);
			}
		}
	}
	for (int64_t r = 0; r < count; r++) {
		int64_t i = rows[r];
		w->upper[i] = upper_of(w, i, best[r]);
		if (w->bounds)
			w->lower[i * t + w->label[i] / lanes] = lower_of(w, i, second[r]);
	}
}

static void assign_block(kdri_km *w, int64_t block, bool fresh, double *room, uint8_t *need)
{
	int64_t begin = block * KDRI_BLOCK, end = KDRI_MIN(w->n, begin + KDRI_BLOCK), count = 0;
	int64_t rows[KDRI_BLOCK] = { 0 };
	rows[0] = begin; /* the list may stay empty */
	if (fresh || !w->bounds) {
		for (int64_t i = begin; i < end; i++)
			rows[count++] = i;
		need = NULL;
	} else {
		count = filter_by_drift(w, begin, end, rows);
		count = filter_by_distance(w, count, rows, room, need);
	}
	compute_groups(w, count, rows, room, need);
	int64_t moved = 0;
	for (int64_t r = 0; r < count; r++)
		moved += w->label[rows[r]] != w->before[rows[r]];
	w->moved[block] = moved;
}

int64_t kdri_km_assign(kdri_km *w, bool fresh)
{
	int64_t blocks = kdri_km_blocks(w), moved = 0;
#pragma omp parallel num_threads(w->threads) if (w->threads > 1)
	{
		int64_t me = kdri_km_thread();
		double *room = w->scratch + me * w->scratch_size;
		uint8_t *need = w->need + me * KDRI_BLOCK * w->groups;
#pragma omp for schedule(dynamic, 1)
		for (int64_t b = 0; b < blocks; b++)
			assign_block(w, b, fresh, room, need);
	}
	for (int64_t b = 0; b < blocks; b++)
		moved += w->moved[b];
	return moved;
}
