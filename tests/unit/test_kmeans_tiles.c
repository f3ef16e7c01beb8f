/* The tiles of k-means on each kind of machine, against plain loops. SPDX-License-Identifier: BSD-3-Clause */
#include "engine/kmeans/kmeans_work.h"
#include "unit.h"

static double add_lanes(const double *v)
{
	return ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]));
}

#define KDRI_BODY "engine/kmeans/kmeans_renew.h"
#include "matrix/each_machine.h"
#define KDRI_BODY "engine/kmeans/kmeans_tiles.h"
#include "matrix/each_machine.h"

/* What a machine offers; `bits` of registers it must have. */
typedef struct machine {
	int bits;
	int64_t (*reach)(bool dense);
	void (*dense_dots)(const kdr_dense *, const int64_t *, int64_t, const double *, int64_t, int64_t,
	                   double *, int64_t);
	void (*sparse_dots)(const kdr_csr *, const int64_t *, int64_t, const double *, int64_t, int64_t,
	                    double *, int64_t);
	void (*scan)(const double *, int64_t, int64_t, int64_t, const double *, const double *, double *,
	             double *, int32_t *);
	void (*dense_own)(const kdr_dense *, const int64_t *, int64_t, const double *, const int32_t *,
	                  const double *, double *);
	kdri_traits (*renew)(double *, const double *, double, const double *, const double *, double *,
	                     int64_t, int64_t);
	void (*try_half)(const kdri_km_trial *, int64_t, int64_t);
} machine;

#define MACHINE(bits, m) \
	{ \
		bits, reach_##m, dense_dots_##m, sparse_dots_##m, scan_##m, dense_own_##m, renew_##m, \
		        try_half_##m \
	}
static const machine machines[] = {
#ifdef KDR_HAVE_TARGET_CLONES
	MACHINE(512, 512),
	MACHINE(256, 256),
#endif
	MACHINE(0, base),
};
enum {
	MACHINES = sizeof machines / sizeof machines[0],
	ROWS = 30,
	MOST = 5,
	WIDEST = MOST * KDRI_LANES,
	DEEPEST = 70
};

/* Rows with a third of zeros, as both kinds; centres in both tables. Small whole numbers: all sums are exact. */
typedef struct sample {
	int64_t d, tiles, count, rows[ROWS];
	double x[ROWS * DEEPEST], centres[WIDEST * DEEPEST], val[ROWS * DEEPEST];
	double by_tile[WIDEST * DEEPEST], by_feature[WIDEST * DEEPEST];
	int64_t rowptr[ROWS + 1];
	int32_t col[ROWS * DEEPEST];
	kdr_dense dense;
	kdr_csr csr;
} sample;

static void draw(kdri_rng *rng, sample *s)
{
	s->d = kdri_rng_below(rng, DEEPEST) + 1;
	s->tiles = kdri_rng_below(rng, MOST) + 1;
	s->count = kdri_rng_below(rng, ROWS) + 1;
	int64_t nnz = 0;
	for (int64_t i = 0; i < ROWS; i++) {
		s->rowptr[i] = nnz;
		for (int64_t f = 0; f < s->d; f++) {
			double v = kdri_rng_below(rng, 3) ? (double)kdri_rng_below(rng, 19) - 9 : 0;
			s->x[i * s->d + f] = v;
			if (v != 0) {
				s->val[nnz] = v;
				s->col[nnz++] = (int32_t)f;
			}
		}
	}
	s->rowptr[ROWS] = nnz;
	for (int64_t j = 0; j < s->tiles * KDRI_LANES; j++)
		for (int64_t f = 0; f < s->d; f++) {
			double v = (double)kdri_rng_below(rng, 19) - 9;
			s->centres[j * s->d + f] = v;
			s->by_tile[(j / KDRI_LANES * s->d + f) * KDRI_LANES + j % KDRI_LANES] = v;
			s->by_feature[f * s->tiles * KDRI_LANES + j] = v;
		}
	for (int64_t r = 0; r < s->count; r++)
		s->rows[r] = kdri_rng_below(rng, ROWS);
	s->dense = (kdr_dense){ .data = s->x, .rows = ROWS, .cols = s->d, .stride = s->d };
	s->csr = (kdr_csr){ .rows = ROWS, .cols = s->d, .rowptr = s->rowptr, .col = s->col, .val = s->val };
}

static void dots__of_any_shape__equal_those_of_plain_loops(void **state)
{
	(void)state;
	kdri_rng rng = kdri_rng_stream(1, "test_kmeans_tiles", 0);
	static sample s;
	for (int round = 0; round < 300; round++) {
		draw(&rng, &s);
		int64_t width = s.tiles * KDRI_LANES, ldo = width + round % 3;
		for (int m = 0; m < MACHINES; m++) {
			if (machines[m].bits > kdri_machine())
				continue;
			double a[ROWS * (WIDEST + 2)], b[ROWS * (WIDEST + 2)];
			machines[m].dense_dots(&s.dense, s.rows, s.count, s.by_tile, KDRI_LANES * s.d, width,
			                       a, ldo);
			machines[m].sparse_dots(&s.csr, s.rows, s.count, s.by_feature, width, width, b, ldo);
			for (int64_t r = 0; r < s.count; r++)
				for (int64_t j = 0; j < width; j++) {
					double sum = 0;
					for (int64_t f = 0; f < s.d; f++)
						sum += s.x[s.rows[r] * s.d + f] * s.centres[j * s.d + f];
					assert_true(a[r * ldo + j] == sum);
					assert_true(b[r * ldo + j] == sum);
				}
		}
	}
}

/* What a machine does with half a tile, it does with either half. */
static void dots__of_half_a_tile__equal_those_of_plain_loops(void **state)
{
	(void)state;
	enum { HALF = KDRI_LANES / 2 };
	kdri_rng rng = kdri_rng_stream(1, "test_kmeans_tiles", 4);
	static sample s;
	for (int round = 0; round < 300; round++) {
		draw(&rng, &s);
		int64_t first = kdri_rng_below(&rng, 2 * s.tiles) * HALF, ldo = HALF + round % 3;
		const double *from = s.by_tile + first / KDRI_LANES * KDRI_LANES * s.d + first % KDRI_LANES;
		for (int m = 0; m < MACHINES; m++) {
			if (machines[m].bits > kdri_machine() || machines[m].reach(true) > HALF)
				continue;
			double a[ROWS * (HALF + 2)];
			machines[m].dense_dots(&s.dense, s.rows, s.count, from, KDRI_LANES * s.d, HALF, a,
			                       ldo);
			for (int64_t r = 0; r < s.count; r++)
				for (int64_t j = 0; j < HALF; j++) {
					double sum = 0;
					for (int64_t f = 0; f < s.d; f++)
						sum += s.x[s.rows[r] * s.d + f] *
						       s.centres[(first + j) * s.d + f];
					assert_true(a[r * ldo + j] == sum);
				}
		}
	}
}

static void scan__with_ties__finds_the_lowest_index_and_the_second(void **state)
{
	(void)state;
	kdri_rng rng = kdri_rng_stream(1, "test_kmeans_tiles", 1);
	for (int round = 0; round < 2000; round++) {
		bool half = kdri_rng_below(&rng, 4) == 0;
		int64_t width = half ? KDRI_LANES / 2 : (kdri_rng_below(&rng, MOST) + 1) * KDRI_LANES,
		        used = width - kdri_rng_below(&rng, half ? 4 : 8);
		double dots[WIDEST], offset[WIDEST], twice = 3, best, second;
		int32_t arg, at = 0;
		for (int64_t j = 0; j < width; j++) {
			dots[j] = (double)kdri_rng_below(&rng, 6);
			offset[j] = j < used ? (double)kdri_rng_below(&rng, 6) : INFINITY;
		}
		double low = INFINITY, next = INFINITY, by = round % 2 ? twice : 2;
		for (int64_t j = 0; j < width; j++) {
			double v = offset[j] - by * dots[j];
			if (v < low) {
				next = low;
				low = v;
				at = (int32_t)j;
			} else {
				next = KDRI_MIN(next, v);
			}
		}
		for (int m = 0; m < MACHINES; m++) {
			if (machines[m].bits > kdri_machine() || (half && machines[m].reach(true) > width))
				continue;
			machines[m].scan(dots, width, 1, width, offset, round % 2 ? &twice : NULL, &best,
			                 &second, &arg);
			assert_true(best == low);
			assert_true(second == next);
			assert_int_equal(arg, at);
		}
	}
}

static void own__of_any_width__is_the_squared_distance(void **state)
{
	(void)state;
	kdri_rng rng = kdri_rng_stream(1, "test_kmeans_tiles", 2);
	static sample s;
	for (int round = 0; round < 200; round++) {
		draw(&rng, &s);
		int32_t label[ROWS];
		double scale[ROWS], out[ROWS];
		for (int64_t i = 0; i < ROWS; i++) {
			label[i] = (int32_t)kdri_rng_below(&rng, s.tiles * KDRI_LANES);
			scale[i] = (double)kdri_rng_below(&rng, 4);
		}
		for (int m = 0; m < MACHINES; m++) {
			if (machines[m].bits > kdri_machine())
				continue;
			machines[m].dense_own(&s.dense, s.rows, s.count, s.centres, label,
			                      round % 2 ? scale : NULL, out);
			for (int64_t r = 0; r < s.count; r++) {
				int64_t i = s.rows[r];
				double sum = 0;
				for (int64_t f = 0; f < s.d; f++) {
					double e = (round % 2 ? scale[i] : 1) * s.x[i * s.d + f] -
					           s.centres[label[i] * s.d + f];
					sum += e * e;
				}
				assert_true(out[r] == sum);
			}
		}
	}
}

static void renew__of_any_count__gives_the_centre_its_lane_and_its_traits(void **state)
{
	(void)state;
	kdri_rng rng = kdri_rng_stream(1, "test_kmeans_tiles", 3);
	for (int round = 0; round < 300; round++) {
		int64_t count = kdri_rng_below(&rng, DEEPEST) + 1, step = 1 + kdri_rng_below(&rng, 3);
		double c[DEEPEST] = { 0 }, s[DEEPEST], shift[DEEPEST], mean[DEEPEST],
		       mass = (double)kdri_rng_below(&rng, 3);
		bool shifted = kdri_rng_below(&rng, 2), about = kdri_rng_below(&rng, 2);
		kdri_traits t = { 0 };
		double value[DEEPEST];
		for (int64_t f = 0; f < count; f++) {
			c[f] = (double)kdri_rng_below(&rng, 19) - 9;
			s[f] = (double)kdri_rng_below(&rng, 19) - 9;
			shift[f] = shifted ? (double)kdri_rng_below(&rng, 9) : 0;
			mean[f] = (double)kdri_rng_below(&rng, 9);
			double v = value[f] = mass > 0 ? s[f] / mass : c[f];
			t.moved += (v - c[f]) * (v - c[f]);
			t.square += v * v;
			t.offset += (v - shift[f]) * (v - shift[f] + 2 * shift[f]);
			t.spread += about ? (v - mean[f]) * (v - mean[f]) : v * s[f];
		}
		for (int m = 0; m < MACHINES; m++) {
			if (machines[m].bits > kdri_machine())
				continue;
			double now[DEEPEST], lane[3 * DEEPEST];
			memcpy(now, c, sizeof now);
			kdri_traits u = machines[m].renew(now, s, mass, shifted ? shift : NULL,
			                                  about ? mean : NULL, lane, step, count);
			assert_true(u.moved == t.moved);
			assert_true(u.square == t.square);
			assert_true(u.offset == t.offset);
			assert_true(u.spread == t.spread);
			for (int64_t f = 0; f < count; f++) {
				assert_true(now[f] == value[f]);
				assert_true(lane[f * step] == value[f] - shift[f]);
			}
		}
	}
}

/* Distances are small whole numbers, so that sums are exact and the parts below `big` are zero. */
static void try_half__of_any_count__keeps_the_smaller_distance_and_adds_it_up(void **state)
{
	(void)state;
	kdri_rng rng = kdri_rng_stream(1, "test_kmeans_tiles", 5);
	for (int round = 0; round < 300; round++) {
		const int64_t count = kdri_rng_below(&rng, ROWS) + 1, ldo = 2 * KDRI_LANES,
		              half = KDRI_LANES / 2, first = half * (round % 3), lanes = 3 * half;
		const double far = round % 4 ? 0 : 100; /* no distance is within rounding of 0 */
		double norm[ROWS], twice[ROWS], weight[ROWS], near[ROWS], dots[ROWS * 2 * KDRI_LANES],
		        offset[2 * KDRI_LANES];
		for (int64_t r = 0; r < count; r++) {
			norm[r] = (double)kdri_rng_below(&rng, 9);
			twice[r] = (double)kdri_rng_below(&rng, 3);
			weight[r] = (double)kdri_rng_below(&rng, 4);
			near[r] = far + (double)kdri_rng_below(&rng, 12);
			for (int64_t j = 0; j < ldo; j++)
				dots[r * ldo + j] = (double)kdri_rng_below(&rng, 7) - 3;
		}
		for (int64_t j = 0; j < ldo; j++)
			offset[j] = far + (double)kdri_rng_below(&rng, 9);
		for (int m = 0; m < MACHINES; m++) {
			if (machines[m].bits > kdri_machine())
				continue;
			double out[ROWS * 3 * KDRI_LANES / 2], high[2 * KDRI_LANES], low[2 * KDRI_LANES],
			        most[2 * KDRI_LANES];
			const double *two = round % 2 ? twice : NULL;
			memset(out, 0, sizeof out);
			machines[m].try_half(&(kdri_km_trial){ .norm = norm,
			                                       .twice = two,
			                                       .weight = weight,
			                                       .near = near,
			                                       .dots = dots,
			                                       .ldo = ldo,
			                                       .out = out,
			                                       .lanes = lanes,
			                                       .offset = offset,
			                                       .unit = 0.01,
			                                       .base = 100,
			                                       .limit = 10,
			                                       .big = 0x1.8p52,
			                                       .small = 1,
			                                       .high = high,
			                                       .low = low,
			                                       .most = most },
			                     count, first);
			for (int64_t j = first; j < first + half; j++) {
				double sum = 0, largest = 0;
				for (int64_t r = 0; r < count; r++) {
					double v =
					        norm[r] + offset[j] - (two ? two[r] : 2) * dots[r * ldo + j];
					v = v > 0.01 * (6 * (norm[r] + offset[j]) + 100) ? v : 0;
					v = KDRI_MIN(v, near[r]);
					assert_true(out[r * lanes + j] == v);
					sum += weight[r] * v;
					largest = KDRI_MAX(largest, weight[r] * v);
				}
				assert_true(high[j] == sum && low[j] == 0 && most[j] == largest);
			}
			for (int64_t r = 0; r < count; r++) /* other lanes are not touched */
				for (int64_t j = 0; j < lanes; j++)
					assert_true(out[r * lanes + j] == 0 ||
					            (j >= first && j < first + half));
		}
	}
}

static void reach__of_each_machine__is_what_the_products_take_at_once(void **state)
{
	(void)state;
	for (int m = 0; m < MACHINES; m++) {
		if (machines[m].bits > kdri_machine())
			continue;
		assert_in_range(machines[m].reach(true), KDRI_LANES / 2, 2 * KDRI_LANES);
		assert_in_range(machines[m].reach(false), 2 * KDRI_LANES, 4 * KDRI_LANES);
	}
	assert_int_equal(kdri_km_reach(KDR_MAT_DENSE), KDRI_PICK(reach)(true));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dots__of_any_shape__equal_those_of_plain_loops),
		cmocka_unit_test(dots__of_half_a_tile__equal_those_of_plain_loops),
		cmocka_unit_test(scan__with_ties__finds_the_lowest_index_and_the_second),
		cmocka_unit_test(own__of_any_width__is_the_squared_distance),
		cmocka_unit_test(renew__of_any_count__gives_the_centre_its_lane_and_its_traits),
		cmocka_unit_test(try_half__of_any_count__keeps_the_smaller_distance_and_adds_it_up),
		cmocka_unit_test(reach__of_each_machine__is_what_the_products_take_at_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
