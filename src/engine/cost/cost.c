/* What the parts of methods take. SPDX-License-Identifier: BSD-3-Clause
 *
 * Work is counted in units, of which each machine does its own number a second (api/estimate.c measures them):
 *
 *   (E1)  products   multiply-adds of dense matrix products and factorisations
 *   (E2)  sweeps     multiply-adds of passes over dense data and vectors: an entry with c columns counts (c + 4) / 2
 *   (E3)  near, far  those of entries with an index, which counts 8 more: c + 8 of sparse data with c columns. What the index points to is
 *                    in a table of d c numbers, which a cache near the core holds, or does not: between 200 kB and 6 MB a share that
 *                    grows with the logarithm of its size is far
 *   (E4)  steps      of loops that follow indices, compare and branch
 *
 * Iterations are those that data of that size took: k-means 8 + log2 n for five clusters, of which bounds spare half the
 * work; on points well apart it takes a third of that, on those that overlap twice as many. Where the data are at hand a
 * sample tells which (api/estimate.c). The factors in front were fitted to bench/estimates.py's measurements on the sets it calls choose;
 * docs/scale.md says how far estimates are from what came. Memory is what is allocated, array by array. */
#include "engine/cost/cost.h"

/* --- sizes --------------------------------------------------------------------------------------- */

kdri_extent kdri_extent_dense(double n, double d)
{
	return (kdri_extent){ .n = n, .d = d, .entries = n * d, .dense = true };
}

kdri_extent kdri_extent_of(const kdr_task_shape *t)
{
	double n = (double)t->rows, d = (double)t->cols;
	return (kdri_extent){ .n = n,
		              .d = d,
		              .entries = t->dense ? n * d : (double)t->entries,
		              .dense = t->dense,
		              .streamed = t->streamed };
}

static kdri_extent sum(const kdri_sizes *s, int role)
{
	kdri_extent all = { .dense = true, .common = s->common };
	for (int64_t t = 0; t < s->ntasks; t++) {
		if (role >= 0 && (int)s->tasks[t].role != role)
			continue;
		kdri_extent x = kdri_extent_of(&s->tasks[t]);
		all.n += x.n;
		all.entries += x.entries;
		all.d = KDRI_MAX(all.d, x.d);
		all.dense &= x.dense;
		all.streamed |= x.streamed;
	}
	return all;
}

kdri_extent kdri_extent_all(const kdri_sizes *s)
{
	return sum(s, -1);
}

kdri_extent kdri_extent_role(const kdri_sizes *s, kdr_role role)
{
	return sum(s, (int)role);
}

double kdri_extent_bytes(const kdri_extent *x)
{
	if (x->streamed)
		return 0;
	return x->dense ? 8 * x->entries : 12 * x->entries + 8 * x->n;
}

int64_t kdri_sizes_parts(const kdri_sizes *s)
{
	return s->pooled ? 1 : s->ntasks;
}

double kdri_sizes_k(const kdri_sizes *s)
{
	enum { USUAL = 5 };
	double k = (double)s->classes;
	for (int64_t t = 0; t < s->ntasks; t++)
		k = KDRI_MAX(k, (double)s->tasks[t].k);
	return k > 0 ? k : USUAL;
}

kdri_extent kdri_sizes_part(const kdri_sizes *s, int64_t i, double *k)
{
	*k = !s->pooled && s->tasks[i].k > 0 ? (double)s->tasks[i].k : kdri_sizes_k(s);
	kdri_extent one = s->pooled ? kdri_extent_all(s) : kdri_extent_of(&s->tasks[i]);
	one.common = s->common;
	return one;
}

/* --- memory ---------------------------------------------------------------------------------------- */

void kdri_cost_hold(kdri_cost *c, double bytes)
{
	c->held += bytes;
	c->bytes = KDRI_MAX(c->bytes, c->held);
}

void kdri_cost_drop(kdri_cost *c, double bytes)
{
	c->held -= bytes;
}

void kdri_cost_start(const kdri_sizes *s, kdri_cost *c)
{
	kdri_extent all = kdri_extent_all(s);
	kdri_cost_hold(c, 8 * all.n + (s->pooled && s->ntasks > 1 ? kdri_extent_bytes(&all) : 0));
	c->sweeps += 4 * all.entries; /* checks of kdr_fit */
}

/* --- work ------------------------------------------------------------------------------------------- */

void kdri_cost_pass(kdri_cost *c, const kdri_extent *x, double columns, double times)
{
	if (x->dense)
		c->sweeps += times * x->entries * (columns + 4) / 2; /* (E2) */
	else
		kdri_cost_fetch(c, times * x->entries * (columns + 8), 8 * x->d * columns);
}

void kdri_cost_fetch(kdri_cost *c, double multiply_adds, double table)
{
	static const double small = 2e5, large = 6.4e6;
	const double share = KDRI_MIN(KDRI_MAX(log(KDRI_MAX(table, 1) / small) / log(large / small), 0), 1);
	c->near += (1 - share) * multiply_adds; /* (E3) */
	c->far += share * multiply_adds;
}

void kdri_cost_product(kdri_cost *c, double multiply_adds)
{
	c->products += multiply_adds; /* (E1) */
}

/* Tridiagonal form, by vectors and by blocks, and all vectors back. */
void kdri_cost_eigen(kdri_cost *c, double side)
{
	c->products += 9 * side * side * side;
}

static double log2_of(double n)
{
	return log2(KDRI_MAX(n, 2.0));
}

/* Iterations of k-means on so many rows; more clusters settle later: of points that overlap in proportion, of texts
 * less. */
static double settling(double n, double k, bool dense)
{
	double later = dense ? KDRI_MAX(KDRI_MIN(pow(k / 5, 1.3), 4), 0.6) : 1.25 * pow(k / 5, 0.7);
	return KDRI_MIN((6 + log2_of(n)) * later, 3 + 4 * n / k); /* few rows a cluster have nowhere to go */
}

double kdri_cost_slower(const kdri_cost *c, bool dense)
{
	/* A thousand texts settle in some six iterations; many take longer, all alike. */
	double usual = dense ? settling(c->tried, c->tried_k, true) : 6 * pow(c->tried_k / 5, 0.3);
	double ratio = c->tried > 0 ? (c->took + 2) / (usual + 2) : 1;
	return KDRI_MAX(KDRI_MIN(pow(ratio, 0.75), 2.5), 0.3);
}

void kdri_cost_kmeans(kdri_cost *c, const kdri_extent *x, double k, double runs, double most)
{
	enum { LANES = 8, NUMBERS = 96 /* bytes a row, all its vectors */ };
	double lanes = LANES * ceil(k / LANES),
	       iterations = KDRI_MIN(settling(x->n, k, x->dense) * kdri_cost_slower(c, x->dense), most) + 2;
	double bytes = NUMBERS * x->n + 8 * x->d * (3 * k + lanes) +
	               8 * x->n * (x->dense ? KDRI_MIN(k / 4, 15.0) : 0);
	kdri_cost_pass(c, x, lanes, runs * iterations * (x->dense ? 0.4 : 0.5));
	c->sweeps += runs * iterations * (x->dense ? 15 : 8) * x->d * lanes;
	c->steps += runs * iterations * (x->dense ? 10 : 12) * x->n; /* (E4) */
	kdri_cost_hold(c, bytes);
	kdri_cost_drop(c, bytes - 8 * x->d * k - 16 * x->n);
}

/* COMMON: of texts, where nobody looked. A_PAIR: multiply-adds of a product of lists. */
enum { COMMON = 40, A_PAIR = 18 };

static double common_of(const kdri_extent *x)
{
	return x->common > 0 ? x->common : COMMON;
}

/* Products of all pairs of rows. */
static double pairs_of(const kdri_extent *x)
{
	return x->dense ? x->n * x->entries : x->entries * x->entries / KDRI_MAX(x->d, 1.0) * common_of(x);
}

void kdri_cost_pairs(kdri_cost *c, const kdri_extent *x, double share)
{
	if (x->dense)
		kdri_cost_product(c, share * pairs_of(x));
	else
		kdri_cost_fetch(c, A_PAIR * share * pairs_of(x), 8 * x->n);
}

void kdri_cost_cosines(kdri_cost *c, const kdri_extent *x, double columns, double times)
{
	enum { BLOCKS = 16 }; /* vectors that are read or written beside the products */
	kdri_cost_pass(c, x, columns, 2 * times);
	c->sweeps += BLOCKS * times * (x->n + x->d) * columns;
}

bool kdri_cost_graph_exact(const kdri_extent *x, double most)
{
	if (x->dense)
		return pairs_of(x) <= most;
	return most > KDRI_COST_SEARCH ? pairs_of(x) <= most / 40 : pairs_of(x) + x->n * x->n <= 0.3 * most;
}

void kdri_cost_graph(kdri_cost *c, const kdri_extent *x, double neighbours, double most)
{
	enum { ROUNDS = 8, SPARE = 6, LEAST = 16 }; /* lists and rounds as in knn_descent.c */
	double list = KDRI_MAX(neighbours + SPARE, LEAST), a_row = x->entries / KDRI_MAX(x->n, 1.0),
	       edges = 2 * neighbours * x->n;
	if (kdri_cost_graph_exact(x, most)) {
		kdri_cost_pairs(c, x, 1);
		c->steps += 0.2 * x->n * x->n + 60 * x->n * neighbours;
	} else {
		c->steps += x->n * ROUNDS * 2 * list * list * (5 + a_row / (x->dense ? 20 : 4));
		kdri_cost_hold(c, x->n * (36 * list + 30 * 8));
		kdri_cost_drop(c, x->n * (36 * list + 30 * 8));
	}
	kdri_cost_hold(c, 36 * edges);
	kdri_cost_drop(c, 20 * edges);
}

void kdri_cost_landmarks(kdri_cost *c, const kdri_extent *x, double landmarks, double r)
{
	double m = KDRI_MIN(landmarks, x->n), edges = x->n * KDRI_MIN(r, m),
	       entries = m / KDRI_MAX(x->n, 1.0) * x->entries;
	if (x->dense)
		kdri_cost_product(c, m * x->entries);
	else
		kdri_cost_fetch(c, A_PAIR * entries / KDRI_MAX(x->d, 1.0) * x->entries * common_of(x), 8 * m);
	c->steps += 0.2 * x->n * m + 60 * edges;
	kdri_cost_hold(c, 24 * edges + 40 * x->n + 16 * entries);
	kdri_cost_drop(c, 12 * edges + 40 * x->n);
}

void kdri_cost_landmarks_spectrum(kdri_cost *c, double n, double landmarks, double r, double vectors)
{
	double m = KDRI_MIN(landmarks, n), square = 10 * m * m;
	c->sweeps += 3 * n * r * r + n * r * vectors + 4 * m * m; /* sums over pairs; rows of the vectors */
	kdri_cost_hold(c, square + 8 * n * vectors);
	kdri_cost_spectrum(c, m, m / 20, vectors);
	kdri_cost_drop(c, square + 8 * m * vectors);
}

double kdri_cost_spectrum_bytes(double n, double vectors)
{
	enum {
		BLOCKS = 6,
		LEAST = 40,
		SMALL = 2000,
		A_ROW = 700 /* of coarser graphs, where there are any */
	};
	double room = KDRI_MAX(BLOCKS * (vectors + 3), LEAST);
	return n < SMALL ? 32 * n * (3 * vectors + 10) : n * (8 * (2 * room + 4 * vectors) + A_ROW);
}

void kdri_cost_spectrum(kdri_cost *c, double n, double neighbours, double vectors)
{
	double block = 3 * vectors + 10, rounds = 10 * log2_of(n),
	       bytes = kdri_cost_spectrum_bytes(n, vectors);
	kdri_cost_fetch(c, rounds * n * (2 * neighbours + 8) * vectors, 8 * n * vectors);
	kdri_cost_product(c, rounds * n * block * vectors);
	kdri_cost_hold(c, bytes);
	kdri_cost_drop(c, bytes - 8 * n * vectors);
}

void kdri_cost_linear(kdri_cost *c, const kdri_extent *x, double outputs, double times)
{
	enum { STEPS = 10, INNER = 8 };
	double bytes = 8 * outputs * (12 * x->n + 8 * x->d);
	/* Steps are more on sparse rows, whose columns are many and ill-matched in scale. */
	kdri_cost_pass(c, x, outputs, times * STEPS * (2 * INNER + 2) * (x->dense ? 1 : 1.6));
	c->sweeps += times * STEPS * INNER * (x->dense ? 35 : 12) * outputs * (x->n + x->d);
	kdri_cost_hold(c, bytes);
	kdri_cost_drop(c, bytes - 8 * outputs * x->d);
}

void kdri_cost_directions(kdri_cost *c, const kdri_extent *x, double r)
{
	enum { ROUNDS = 6 };
	kdri_cost_pass(c, x, r, 2 * ROUNDS);
	/* To orthonormal columns, which is slower than products are. */
	kdri_cost_product(c, ROUNDS * 4 * (x->n + x->d) * r * r);
	c->sweeps += ROUNDS * (x->dense ? 40 : 200) * (x->n + x->d) * r;
	kdri_cost_hold(c, 8 * r * 2 * (x->n + x->d));
	kdri_cost_drop(c, 8 * r * (x->n + x->d));
}
