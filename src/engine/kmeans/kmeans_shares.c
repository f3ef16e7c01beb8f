/* Random rows, independent of their distribution over ranks. SPDX-License-Identifier: BSD-3-Clause
 *
 * So that a draw does not depend on the distribution of the rows over ranks, their weights are integer numbers of units,
 * of which all rows together have less than 2^62: sums of them are exact, and the cumulative sums are the same
 * everywhere. */
#include "engine/kmeans/kmeans_work.h"

kdr_status kdri_km_shares_new(const kdri_km *w, kdri_km_shares *s)
{
	*s = (kdri_km_shares){ 0 };
	KDRI_DO(KDRI_NEW(w->ctx, &s->share, w->n));
	KDRI_DO(KDRI_NEW0(w->ctx, &s->before, w->groups_of_rows));
	return KDRI_NEW0(w->ctx, &s->own, w->groups_of_rows);
}

void kdri_km_shares_free(const kdri_km *w, kdri_km_shares *s)
{
	KDRI_FREE(w->ctx, s->share, s->before, s->own);
}

double kdri_km_share_units(const kdri_km *w, double most)
{
	int exponent = 0, rows = 0;
	/* most < 2^exponent, all < 2^rows */
	(void)frexp(most, &exponent);
	(void)frexp((double)w->all, &rows);
	return ldexp(1, KDRI_MIN(61 - rows - exponent, 1000));
}

KDRI_KERNEL
int64_t kdri_km_shares_fill(const double *weights, int64_t n, double units, int64_t *share)
{
	int64_t sum = 0;
	for (int64_t i = 0; i < n; i++)
		sum += share[i] = kdri_km_share(weights[i], units);
	return sum;
}

kdr_status kdri_km_shares_set(const kdri_km *w, const double *weights, kdri_km_shares *s)
{
	double most = 0;
	for (int64_t i = 0; i < w->n; i++)
		most = KDRI_MAX(most, weights[i]);
	KDRI_DO(kdri_max(w->ctx, &most, 1));
	const double units = kdri_km_share_units(w, most);
	for (int64_t g = 0, i = 0; g < w->groups_of_rows; g++) {
		s->own[g] = kdri_km_shares_fill(weights + i, w->rows_of[g], units, s->share + i);
		i += w->rows_of[g];
	}
	return kdri_parts(w->ctx, s->own, w->groups_of_rows, s->before, &s->total);
}

int64_t kdri_km_shares_find(const kdri_km *w, const kdri_km_shares *s, int64_t at)
{
	for (int64_t g = 0, i = 0; g < w->groups_of_rows; i += w->rows_of[g++]) {
		int64_t left = at - s->before[g];
		if (left < 0 || left >= s->own[g])
			continue;
		while (left >= s->share[i])
			left -= s->share[i++];
		return i;
	}
	return -1;
}

int64_t kdri_km_shares_draw(const kdri_km *w, const kdri_km_shares *s, kdri_rng *rng)
{
	int64_t at = (int64_t)(kdri_rng_uniform(rng) * (double)s->total);
	return kdri_km_shares_find(w, s, KDRI_MIN(at, s->total - 1));
}

/* Places that are still in order are not stored, so that the entire list is not needed. */
int64_t kdri_shuffle_next(kdri_shuffle *s, int64_t j, int64_t count, kdri_rng *rng)
{
	/* Swaps the entries at positions `at` and j; position j is not used again. */
	int64_t at = j + kdri_rng_below(rng, count - j), found = at, here = j, seen = -1;
	for (int64_t c = 0; c < s->changed; c++) {
		if (s->place[c] == at) {
			found = s->is[c];
			seen = c;
		}
		if (s->place[c] == j)
			here = s->is[c];
	}
	seen = seen < 0 ? s->changed++ : seen;
	s->place[seen] = at;
	s->is[seen] = here;
	return found;
}
