/* New centres and their traits, for one kind of machine (matrix/each_machine.h). SPDX-License-Identifier: BSD-3-Clause
 *
 * Feature f belongs to sum f mod 8 of each trait, whatever the width of a register: every machine without fused
 * multiply-adds gets the same bits. */
#define PARTS (KDRI_LANES / KDRI_WIDTH)
typedef double KDRI_NAME(vec) __attribute__((vector_size(8 * KDRI_WIDTH), aligned(8), may_alias));
#define vec KDRI_NAME(vec)

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

#undef PARTS
#undef vec
