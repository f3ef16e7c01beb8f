/* The passes over the panels of F, for one kind of machine (matrix/each_machine.h). SPDX-License-Identifier:
 * BSD-3-Clause
 *
 * A cluster of a panel has eight lanes, in PARTS registers. Loops over classes or clusters are tiled, so that several
 * sums are computed at the same time without waiting for each other, and share their loads. A sum over rows has only
 * KDRI_WIDTH lanes: the parts of a panel are added up in it, which saves loads and stores. The equations are in
 * trifactor_rows.c. */
#define PARTS  (LANES / KDRI_WIDTH)
#define INLINE KDRI_TARGET static inline __attribute__((always_inline))
/* Classes of a product (WIDE x PARTS sums), clusters of a sum over rows (HIGH x WIDE) and of a step (2 STEP x PARTS). */
#if KDRI_WIDTH == 2 && KDRI_REGISTERS == 16
#define WIDE 2
#define HIGH 4
#define STEP 1
#else
#define WIDE 4
#define HIGH (KDRI_REGISTERS / 8)
#define STEP (KDRI_WIDTH == 8 ? 4 : 2)
#endif

typedef double KDRI_NAME(vec) __attribute__((vector_size(8 * KDRI_WIDTH), aligned(8), may_alias));
typedef int64_t KDRI_NAME(ivec) __attribute__((vector_size(8 * KDRI_WIDTH), aligned(8), may_alias));
#define vec  KDRI_NAME(vec)
#define ivec KDRI_NAME(ivec)

/* Part i of the lanes at x. */
#define PART(x, i) (((vec *)(x))[i])

/* Calls CALL(first, count) with constant counts that make up 0..total-1. */
#define IN_TILES(total, CALL) \
	do { \
		int64_t first = 0; \
		for (; first + WIDE <= (total); first += WIDE) \
			CALL(first, WIDE); \
		if (WIDE > 2 && first + 2 <= (total)) { \
			CALL(first, 2); \
			first += 2; \
		} \
		if (first < (total)) \
			CALL(first, 1); \
	} while (0)

/* out_k = weight sum_j f_j a[k ka + j ja], k < width, added to the present value if `add`. */
INLINE void KDRI_NAME(combine)(const double *f, int64_t count, const double *a, int64_t ka, int64_t ja,
                               const int width, const double weight, const bool add, double *out)
{
	vec sum[WIDE][PARTS];
	for (int k = 0; k < width; k++)
		for (int i = 0; i < PARTS; i++)
			sum[k][i] = (vec){ 0 };
	for (int64_t j = 0; j < count; j++)
		for (int i = 0; i < PARTS; i++) {
			vec lanes = PART(f + j * LANES, i);
			for (int k = 0; k < width; k++)
				sum[k][i] += a[k * ka + j * ja] * lanes;
		}
	for (int k = 0; k < width; k++)
		for (int i = 0; i < PARTS; i++) {
			vec *to = &PART(out + k * LANES, i);
			*to = add ? *to + weight * sum[k][i] : weight * sum[k][i];
		}
}

/* out = f A of `count` clusters; at is A' from the first of them on. */
INLINE void KDRI_NAME(times_a)(const double *f, const double *at, int64_t q, int64_t count, int64_t c,
                               double *out)
{
#define TILE(k, width) KDRI_NAME(combine)(f, count, at + (k)*q, q, 1, width, 1, false, out + (k)*LANES)
	IN_TILES(c, TILE);
#undef TILE
}

/* out = (x + y) S times weight, added to the present value if `add`; `sum` is space for x + y. */
INLINE void KDRI_NAME(times_s)(const double *x, const double *y, const double *s, int64_t c, double weight,
                               const bool add, double *sum, double *out)
{
	for (int64_t i = 0; i < c * PARTS; i++)
		PART(sum, i) = PART(x, i) + PART(y, i);
#define TILE(k, width) KDRI_NAME(combine)(sum, c, s + (k), 1, c, width, weight, add, out + (k)*LANES)
	IN_TILES(c, TILE);
#undef TILE
}

/* f_j <- f_j <A_j, num> / <A_j, den> for `height` clusters: (E2), (E3). */
INLINE void KDRI_NAME(step_tile)(double *f, const double *at, int64_t q, const int height, int64_t c,
                                 const double *num, const double *den)
{
	vec top[STEP][PARTS], bottom[STEP][PARTS];
	for (int j = 0; j < height; j++)
		for (int i = 0; i < PARTS; i++)
			top[j][i] = bottom[j][i] = (vec){ 0 };
	for (int64_t k = 0; k < c; k++)
		for (int i = 0; i < PARTS; i++) {
			vec over = PART(num + k * LANES, i), under = PART(den + k * LANES, i);
			for (int j = 0; j < height; j++) {
				top[j][i] += at[k * q + j] * over;
				bottom[j][i] += at[k * q + j] * under;
			}
		}
	for (int j = 0; j < height; j++)
		for (int i = 0; i < PARTS; i++) {
			const vec one = (vec){ 0 } + 1;
			vec *to = &PART(f + j * LANES, i);
			ivec some = bottom[j][i] > least;
			vec over = (vec)(((ivec)top[j][i] & some) | ((ivec)one & ~some));
			vec under = (vec)(((ivec)bottom[j][i] & some) | ((ivec)one & ~some));
			vec x = *to * (over / under);
			*to = (vec)((ivec)x & ~(x < vanishing));
		}
}

INLINE void KDRI_NAME(step)(double *f, const double *at, int64_t q, int64_t count, int64_t c,
                            const double *num, const double *den)
{
	int64_t j = 0;
	for (; j + STEP <= count; j += STEP)
		KDRI_NAME(step_tile)(f + j * LANES, at + j, q, STEP, c, num, den);
	for (; j < count; j++)
		KDRI_NAME(step_tile)(f + j * LANES, at + j, q, 1, c, num, den);
}

/* sums_jk += f_j x_k for `height` clusters and `width` classes. */
INLINE void KDRI_NAME(outer_tile)(const double *f, const int height, const double *x, const int width,
                                  int64_t c, vec *sums)
{
	vec sum[HIGH][WIDE];
	for (int j = 0; j < height; j++)
		for (int k = 0; k < width; k++)
			sum[j][k] = sums[j * c + k];
	for (int i = 0; i < PARTS; i++)
		for (int j = 0; j < height; j++)
			for (int k = 0; k < width; k++)
				sum[j][k] += PART(f + j * LANES, i) * PART(x + k * LANES, i);
	for (int j = 0; j < height; j++)
		for (int k = 0; k < width; k++)
			sums[j * c + k] = sum[j][k];
}

INLINE void KDRI_NAME(outer)(const double *f, int64_t count, const double *x, int64_t c, vec *sums)
{
	int64_t j = 0;
	for (; j + HIGH <= count; j += HIGH) {
#define TILE(k, width) KDRI_NAME(outer_tile)(f + j * LANES, HIGH, x + (k)*LANES, width, c, sums + j * c + (k))
		IN_TILES(c, TILE);
#undef TILE
	}
	for (; j < count; j++) {
#define TILE(k, width) KDRI_NAME(outer_tile)(f + j * LANES, 1, x + (k)*LANES, width, c, sums + j * c + (k))
		IN_TILES(c, TILE);
#undef TILE
	}
}

INLINE void KDRI_NAME(pass1)(const kdri_tri_pass *p, int64_t begin, int64_t end, const kdri_tri_sums *sums,
                             vec *room, const int64_t c)
{
	const int64_t q = p->q, size = c * LANES;
	double *shared = (double *)(room + sums->work), *mine[2] = { shared + size, shared + 2 * size },
	       *b[2] = { shared + 3 * size, shared + 4 * size };
	double *u = shared + 5 * size, *v = shared + 6 * size, *both = shared + 7 * size;
	for (int64_t panel = begin; panel < end; panel++) {
		double *f = p->f + panel * q * LANES;
		fetch_next(p, panel, end);
		for (int l = 0; l < 2; l++) {
			trifactor_rows_load(p->b[l], p->m, c, panel * LANES, b[l]);
			KDRI_NAME(times_a)(f + own(p, l) * LANES, p->at + own(p, l), q, p->p2, c, mine[l]);
		}
		for (int64_t i = 0; i < c * PARTS; i++)
			PART(u, i) = p->weight[0] * PART(b[0], i) + p->weight[1] * PART(b[1], i);
		KDRI_NAME(times_a)(f, p->at, q, p->p1, c, shared); /* (E1) */
		if (p->steps & KDRI_TRI_F1) {
			KDRI_NAME(times_s)(shared, mine[0], p->s[0], c, p->weight[0], false, both, v);
			KDRI_NAME(times_s)(shared, mine[1], p->s[1], c, p->weight[1], true, both, v);
			KDRI_NAME(step)(f, p->at, q, p->p1, c, u, v); /* (E2) */
			KDRI_NAME(times_a)(f, p->at, q, p->p1, c, shared);
		}
		for (int l = 0; l < 2; l++)
			if (p->steps & (l ? KDRI_TRI_F2B : KDRI_TRI_F2A)) {
				double *mine_f = f + own(p, l) * LANES;
				KDRI_NAME(times_s)(shared, mine[l], p->s[l], c, 1, false, both, v);
				KDRI_NAME(step)(mine_f, p->at + own(p, l), q, p->p2, c, b[l], v); /* (E3) */
				KDRI_NAME(times_a)(mine_f, p->at + own(p, l), q, p->p2, c, mine[l]);
			}
		KDRI_NAME(times_s)(shared, mine[0], p->s[0], c, p->weight[0], false, both, v);
		KDRI_NAME(times_s)(shared, mine[1], p->s[1], c, p->weight[1], true, both, v);
		KDRI_NAME(outer)(f, p->p1, u, c, room + sums->num1);
		KDRI_NAME(outer)(f, p->p1, v, c, room + sums->den1);
		for (int l = 0; l < 2; l++)
			KDRI_NAME(outer)(f + own(p, l) * LANES, p->p2, b[l], c, room + sums->num2[l]);
		for (int64_t j = 0; j < q; j++) {
			vec sum[PARTS];
			for (int i = 0; i < PARTS; i++)
				sum[i] = PART(f + j * LANES, i);
			for (int t = PARTS / 2; t > 0; t /= 2)
				for (int i = 0; i < t; i++)
					sum[i] += sum[i + t];
			room[sums->columns + j] += sum[0];
		}
	}
}

INLINE void KDRI_NAME(pass2)(const kdri_tri_pass *p, int64_t begin, int64_t end, const kdri_tri_sums *sums,
                             vec *room, const int64_t c)
{
	const int64_t q = p->q, size = c * LANES;
	double *shared = (double *)(room + sums->work), *mine = shared + size, *v = shared + 2 * size,
	       *both = shared + 3 * size;
	for (int64_t panel = begin; panel < end; panel++) {
		const double *f = p->f + panel * q * LANES;
		fetch_next(p, panel, end);
		KDRI_NAME(times_a)(f, p->at, q, p->p1, c, shared);
		for (int l = 0; l < 2; l++) {
			const double *mine_f = f + own(p, l) * LANES;
			KDRI_NAME(times_a)(mine_f, p->at + own(p, l), q, p->p2, c, mine);
			KDRI_NAME(times_s)(shared, mine, p->s[l], c, 1, false, both, v);
			KDRI_NAME(outer)(mine_f, p->p2, v, c, room + sums->den2[l]);
		}
	}
}

INLINE void KDRI_NAME(pass3)(const kdri_tri_pass *p, int64_t begin, int64_t end, const kdri_tri_sums *sums,
                             vec *room, const int64_t c)
{
	const int64_t q = p->q, size = c * LANES;
	double *shared = (double *)(room + sums->work), *mine = shared + size;
	for (int64_t panel = begin; panel < end; panel++) {
		double *f = p->f + panel * q * LANES;
		const int64_t row = panel * LANES, rows = KDRI_MIN(p->m - row, LANES);
		fetch_next(p, panel, end);
		for (int64_t j = 0; j < q; j++)
			for (int i = 0; i < PARTS; i++)
				PART(f + j * LANES, i) *= p->scale[j];
		KDRI_NAME(times_a)(f, p->at, q, p->p1, c, shared);
		for (int l = 0; l < 2; l++) {
			KDRI_NAME(times_a)(f + own(p, l) * LANES, p->at + own(p, l), q, p->p2, c, mine);
			for (int64_t i = 0; i < c * PARTS; i++)
				PART(mine, i) += PART(shared, i); /* (E1) */
			for (int64_t r = 0; r < rows; r++)
				for (int64_t k = 0; k < c; k++)
					p->h[l][(row + r) * c + k] = mine[k * LANES + r];
			KDRI_NAME(outer)(mine, c, mine, c, room + sums->gram[l]);
		}
	}
}

/* For two classes the compiler unrolls all that runs over classes. */
#define RUN(pass) \
	KDRI_TARGET static void KDRI_NAME(run_##pass)(const kdri_tri_pass *p, int64_t begin, int64_t end, \
	                                              const kdri_tri_sums *sums, double *room) \
	{ \
		if (p->c == 2) \
			KDRI_NAME(pass)(p, begin, end, sums, (vec *)room, 2); \
		else \
			KDRI_NAME(pass)(p, begin, end, sums, (vec *)room, p->c); \
	}
RUN(pass1)
RUN(pass2)
RUN(pass3)

/* Lanes of a sum. */
KDRI_TARGET static int KDRI_NAME(lanes)(void)
{
	return KDRI_WIDTH;
}

#undef PARTS
#undef INLINE
#undef WIDE
#undef HIGH
#undef STEP
#undef vec
#undef ivec
#undef PART
#undef IN_TILES
#undef RUN
