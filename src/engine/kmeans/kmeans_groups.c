/* Groups of centres that share bounds. SPDX-License-Identifier: BSD-3-Clause
 *
 * A group's bound (lloyd.c) is that of its nearest centre, and falls by the largest drift among its centres: a group of
 * nearby centres is excluded at once, while a group of scattered centres hardly ever is. Each group therefore begins
 * with the free centre farthest from the mean of the data and takes the free centres nearest to it. A group's centres
 * are in increasing order, so that of equal distances the lowest number is still found first; no label depends on the
 * groups. On 9298 x 256, k = 100, from random rows, this leaves 2/3 of the products that groups by number need. */
#include "engine/kmeans/kmeans_work.h"

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
