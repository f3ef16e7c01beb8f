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

/* See kdri_km_try: half a tile of candidates from `first` on, in registers of at most that width. */
#define HALF       (KDRI_LANES / 2)
#define HALF_WIDTH (KDRI_WIDTH < HALF ? KDRI_WIDTH : HALF)
#define HALF_PARTS (HALF / HALF_WIDTH)
typedef double KDRI_NAME(half) __attribute__((vector_size(8 * HALF_WIDTH), aligned(8), may_alias));
typedef int64_t KDRI_NAME(ihalf) __attribute__((vector_size(8 * HALF_WIDTH), aligned(8), may_alias));
#define half               KDRI_NAME(half)
#define ihalf              KDRI_NAME(ihalf)
#define CHOOSE(mask, a, b) ((half)(((ihalf)(a) & (mask)) | ((ihalf)(b) & ~(mask))))
/* Below the rounding error of a distance two rows are the same point, whose distance is 0. This is rare: `careful` is a
 * constant, and without it the least distance is returned, to find out whether it was needed. */
KDRI_TARGET static inline __attribute__((always_inline)) double KDRI_NAME(try_rows)(const kdri_km_trial *t,
                                                                                    int64_t count,
                                                                                    int64_t first,
                                                                                    const bool careful)
{
	half high[HALF_PARTS], low[HALF_PARTS], most[HALF_PARTS], offset[HALF_PARTS], least[HALF_PARTS];
	const kdri_km_trial own = *t; /* what is stored below cannot change it */
	const double *norms = own.norm, *twice = own.twice, *weights = own.weight, *nearest = own.near,
	             *dots = own.dots + first;
	double *restrict out = own.out + first;
	for (int i = 0; i < HALF_PARTS; i++) {
		high[i] = low[i] = most[i] = (half){ 0 };
		least[i] = (half){ 0 } + INFINITY;
		offset[i] = ((const half *)(own.offset + first))[i];
	}
	for (int64_t r = 0; r < count; r++, dots += own.ldo, out += own.lanes) {
		const double norm = norms[r], two = twice ? twice[r] : 2, weight = weights[r];
		const half near = (half){ 0 } + nearest[r];
		for (int i = 0; i < HALF_PARTS; i++) {
			half v = norm + (offset[i] - two * ((const half *)dots)[i]);
			if (careful) {
				ihalf apart = v > own.unit * (6 * (norm + offset[i]) + own.base);
				v = (half)((ihalf)v & apart);
			} else {
				ihalf below = v < least[i];
				least[i] = CHOOSE(below, v, least[i]);
			}
			ihalf less = v < near;
			v = CHOOSE(less, v, near);
			((half *)out)[i] = v;
			half term = weight * v, h = (term + own.big) - own.big;
			ihalf more = term > most[i];
			high[i] += h;
			low[i] += ((term - h) + own.small) - own.small;
			most[i] = CHOOSE(more, term, most[i]);
		}
	}
	double smallest = INFINITY;
	for (int i = 0; i < HALF_PARTS; i++) {
		((half *)(t->high + first))[i] = high[i];
		((half *)(t->low + first))[i] = low[i];
		((half *)(t->most + first))[i] = most[i];
		for (int j = 0; j < HALF_WIDTH; j++)
			smallest = KDRI_MIN(smallest, least[i][j]);
	}
	return smallest;
}

KDRI_TARGET static void KDRI_NAME(try_half)(const kdri_km_trial *t, int64_t count, int64_t first)
{
	if (!(KDRI_NAME(try_rows)(t, count, first, false) > t->limit))
		(void)KDRI_NAME(try_rows)(t, count, first, true);
}
#undef CHOOSE
#undef HALF
#undef HALF_WIDTH
#undef HALF_PARTS
#undef half
#undef ihalf

#undef PARTS
#undef vec
#undef ivec
