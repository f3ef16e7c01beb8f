/* New centres and their traits, and candidates for centres, for one kind of machine (matrix/each_machine.h). SPDX-License-Identifier: BSD-3-Clause
 *
 * Feature f belongs to sum f mod 8 of each trait, whatever the width of a register: every machine without fused
 * multiply-adds gets the same bits. Equations are those of kmeans_work.h. */
#define PARTS (KDRI_LANES / KDRI_WIDTH)
typedef double KDRI_NAME(vec) __attribute__((vector_size(8 * KDRI_WIDTH), aligned(8), may_alias));
typedef int64_t KDRI_NAME(ivec) __attribute__((vector_size(8 * KDRI_WIDTH), aligned(8), may_alias));
#define vec  KDRI_NAME(vec)
#define ivec KDRI_NAME(ivec)

/* See kdri_km_renew. */
KDRI_TARGET static kdri_traits KDRI_NAME(renew)(double *c, const double *s, double mass, const double *shift,
                                                const double *mean, double *lane, int64_t step, int64_t count)
{
	enum { MOVED, SQUARE, OFFSET, SPREAD, TRAITS };
	vec sums[TRAITS][PARTS];
	for (int t = 0; t < TRAITS; t++)
		for (int i = 0; i < PARTS; i++)
			sums[t][i] = (vec){ 0 };
	for (int64_t f = 0; f < count; f += KDRI_LANES) {
		int64_t m = KDRI_MIN(KDRI_LANES, count - f);
		double tail[4][KDRI_LANES] = { { 0 } }, near[KDRI_LANES], value[KDRI_LANES];
		const double *at[4] = { c + f, s + f, shift ? shift + f : tail[2],
			                mean ? mean + f : tail[3] };
		if (m < KDRI_LANES)
			for (int i = 0; i < 4; i++) {
				for (int64_t j = 0; j < m; j++)
					tail[i][j] = at[i][j];
				at[i] = tail[i];
			}
		for (int i = 0; i < PARTS; i++) {
			vec old = ((const vec *)at[0])[i], sum = ((const vec *)at[1])[i],
			    by = ((const vec *)at[2])[i];
			vec fresh = old;
			if (mass > 0)
				fresh = sum / mass;
			vec move = fresh - old, less = fresh - by, off = fresh - ((const vec *)at[3])[i];
			sums[MOVED][i] += move * move;
			sums[SQUARE][i] += fresh * fresh;
			sums[OFFSET][i] += less * (less + 2 * by);
			if (mean)
				sums[SPREAD][i] += off * off;
			else
				sums[SPREAD][i] += fresh * sum;
			((vec *)value)[i] = fresh;
			((vec *)near)[i] = less;
		}
		memcpy(c + f, value, (size_t)m * sizeof *c);
		for (int64_t j = 0; j < m; j++)
			lane[(f + j) * step] = near[j];
	}
	double all[TRAITS][KDRI_LANES];
	for (int t = 0; t < TRAITS; t++)
		for (int i = 0; i < PARTS; i++)
			((vec *)all[t])[i] = sums[t][i];
	return (kdri_traits){ .moved = add_lanes(all[MOVED]),
		              .square = add_lanes(all[SQUARE]),
		              .offset = add_lanes(all[OFFSET]),
		              .spread = add_lanes(all[SPREAD]) };
}

/* See kdri_km_try; a tile of candidates, or the first `parts` registers of it, a constant wherever this is inlined. */
KDRI_TARGET static inline __attribute__((always_inline)) void KDRI_NAME(try_parts)(const kdri_km_trial *t,
                                                                                   int64_t count,
                                                                                   int64_t first,
                                                                                   const int parts)
{
	vec high[PARTS], low[PARTS], most[PARTS], offset[PARTS];
	for (int i = 0; i < parts; i++) {
		high[i] = low[i] = most[i] = (vec){ 0 };
		offset[i] = ((const vec *)(t->offset + first))[i];
	}
	for (int64_t r = 0; r < count; r++) {
		const double norm = t->norm[r], two = t->twice ? t->twice[r] : 2, weight = t->weight[r];
		const vec near = (vec){ 0 } + t->near[r];
		double *dots = t->dots + r * t->ldo + first;
		for (int i = 0; i < parts; i++) {
			vec v = norm + (offset[i] - two * ((const vec *)dots)[i]);
			/* Below the rounding error of a distance they are the same point. */
			ivec apart = v > t->unit * (6 * (norm + offset[i]) + t->base);
			v = (vec)((ivec)v & apart);
			ivec less = v < near;
			v = (vec)(((ivec)v & less) | ((ivec)near & ~less));
			((vec *)dots)[i] = v;
			vec term = weight * v, h = (term + t->big) - t->big;
			ivec more = term > most[i];
			high[i] += h;
			low[i] += ((term - h) + t->small) - t->small;
			most[i] = (vec)(((ivec)term & more) | ((ivec)most[i] & ~more));
		}
	}
	for (int i = 0; i < parts; i++) {
		((vec *)(t->high + first))[i] = high[i];
		((vec *)(t->low + first))[i] = low[i];
		((vec *)(t->most + first))[i] = most[i];
	}
}

KDRI_TARGET static void KDRI_NAME(try_tile)(const kdri_km_trial *t, int64_t count, int64_t first,
                                            int64_t lanes)
{
	if (2 * lanes <= KDRI_LANES)
		KDRI_NAME(try_parts)(t, count, first, (PARTS + 1) / 2);
	else
		KDRI_NAME(try_parts)(t, count, first, PARTS);
}

#undef PARTS
#undef vec
#undef ivec
