/* The transportation problem. SPDX-License-Identifier: BSD-3-Clause
 *
 * (E1) min sum_ij c_ij x_ij, sum_j x_ij = s_i, sum_i x_ij = d_j, x >= 0
 * (E2) max sum_i s_i u_i + sum_j d_j v_j, u_i + v_j <= c_ij
 *
 * The marginals are converted to integer units, so flows are exact. As many rows as columns, all
 * of the same mass, are an assignment (assign.c); all other problems are solved by the simplex method.
 * Lines without mass are excluded: their duals are computed afterwards, as the largest that (E2) allows. */
/* The network simplex method for transportation problems in whole units.
 *
 * (E3) min sum_ij c_ij x_ij, sum_j x_ij = s_i, sum_i x_ij = d_j, x >= 0
 * (E4) max sum_i s_i u_i + sum_j d_j v_j, u_i + v_j <= c_ij
 *
 * Rows and columns are the nodes of a graph, and a basis is a spanning tree of it: flows x on the tree
 * follow from (E3), potentials from u_i + v_j = c_ij on the tree. A pivot lets a pair (i, j) with
 * u_i + v_j > c_ij into the tree; flow is pushed around the cycle this closes until an arc runs empty
 * and leaves. At the end (E4) holds for all pairs, and both values are equal.
 *
 * Termination. Flows are whole numbers, so ties are recognised exactly. The tree is kept strongly
 * feasible [Cunningham 1976]: every empty arc points towards the root, so from every node some flow
 * could be sent to the root. Of the arcs that block a pivot the last one leaves, going round the cycle
 * from its apex along the entering arc; this keeps the property and rules out cycling. Potentials
 * are recomputed down the part of the tree that moved and never drift. Pairs enter only if they violate
 * (E4) by more than the rounding of their numbers; if that bound is ever too small for the given costs, it is raised
 * after a number of pivots that no ordinary problem takes, so the method ends.
 *
 * Work. Pairs are priced in blocks of sqrt(rows cols), the worst violation of a block enters; a pivot
 * costs a block, a path and the subtree that moves. */
#include <float.h>

#include "engine/metrics/metrics.h"

/* Marginals in integer units.
 *
 * A transportation problem solved in floating point has flows that should be 0 but are 1e-17. With integers this does
 * not happen: the solver terminates, and the flows are exact.
 *
 * Marginals that come from counts (1/K each, or n_z/n) are multiples of a common unit: with p the fraction of the
 * total, continued fractions give the smallest a/q within rounding of p, and the unit is one over the least common
 * multiple of all q. Uniform marginals of K and L lines get K L / gcd(K, L) units. Other marginals have no such unit
 * and are put on a grid of 2^-60 of their total, far below the rounding they already carry; the difference of the
 * totals is added to the largest demand. */

/* What a share can be off by after it and the total were each rounded, twice over. */
static const double share_error = 8 * DBL_EPSILON;
static const double most_denominator = 0x1p24, most_units = 0x1p40;
enum { GRID_BITS = 60 };

static kdr_status units_add_up(kdr_context *ctx, const double *x, int64_t n, const char *what, double *total)
{
	kdri_neumaier s = { 0 };
	for (int64_t i = 0; i < n; i++) {
		if (!(x[i] >= 0 && x[i] <= 1e300))
			return kdri_fail(ctx, KDR_ERR_DATA, "%s %lld is %g; use 0 to 1e300", what,
			                 (long long)i + 1, x[i]);
		kdri_neumaier_add(&s, x[i]);
	}
	*total = kdri_neumaier_value(&s);
	return KDR_OK;
}

/* The smallest q with a/q within rounding of p in (0, 1]; 0 if there is none up to the limit. */
static double denominator(double p)
{
	double x = p, a0 = 1, q0 = 0, a1 = floor(x), q1 = 1;
	while (fabs(a1 - p * q1) > share_error * p * q1) {
		double rest = x - floor(x);
		if (rest <= 0)
			return 0;
		x = 1 / rest;
		double a2 = floor(x) * a1 + a0, q2 = floor(x) * q1 + q0;
		a0 = a1, q0 = q1, a1 = a2, q1 = q2;
		if (!(q1 <= most_denominator))
			return 0;
	}
	return q1;
}

static double gcd(double a, double b)
{
	while (b > 0) {
		double r = fmod(a, b);
		a = b;
		b = r;
	}
	return a;
}

static bool is_multiple(double share, double units)
{
	double t = share * units;
	return fabs(t - nearbyint(t)) <= share_error * t;
}

/* Extends *units so that all shares are multiples of 1 / *units. */
static bool common_unit(const double *x, int64_t n, double total, double *units)
{
	for (int64_t i = 0; i < n; i++) {
		double p = x[i] / total;
		if (x[i] == 0 || is_multiple(p, *units))
			continue;
		double q = denominator(p);
		if (q == 0)
			return false;
		*units *= q / gcd(*units, q);
		if (*units > most_units || !is_multiple(p, *units))
			return false;
	}
	return true;
}

/* True if the rounded shares add up to all units. */
static bool round_shares(const double *x, int64_t n, double total, double units, int64_t *whole)
{
	int64_t sum = 0;
	for (int64_t i = 0; i < n; i++) {
		whole[i] = (int64_t)nearbyint(x[i] / total * units);
		sum += whole[i];
	}
	return sum == (int64_t)units;
}

/* Marginals in integer units, with equal totals; q units are q * total / units. */
typedef struct kdri_units {
	int64_t *supply, *demand;
	double total, units;
} kdri_units;

static void put_on_grid(const double *supply, int64_t rows, double supplied, const double *demand,
                        int64_t cols, double demanded, kdri_units *out)
{
	int exponent;
	frexp(supplied, &exponent); /* supplied < 2^exponent */
	int64_t gap = 0, largest = 0;
	for (int64_t i = 0; i < rows; i++) {
		out->supply[i] = (int64_t)nearbyint(ldexp(supply[i], GRID_BITS - exponent));
		gap += out->supply[i];
	}
	for (int64_t j = 0; j < cols; j++) {
		double d = supplied == demanded ? demand[j] : demand[j] * (supplied / demanded);
		out->demand[j] = (int64_t)nearbyint(ldexp(d, GRID_BITS - exponent));
		gap -= out->demand[j];
		if (out->demand[j] > out->demand[largest])
			largest = j;
	}
	out->demand[largest] += gap;
	out->total = ldexp(1, exponent);
	out->units = ldexp(1, GRID_BITS);
}

/* Finds a unit of which all marginals are multiples (up to rounding), or uses one of about 2^-60 of the total. Fills
 * out->supply (rows) and out->demand (cols), which the caller provides. Fails for negative or non-finite marginals and
 * totals that differ by more than 1e-9 of the larger. */
static kdr_status units_find(kdr_context *ctx, const double *supply, int64_t rows, const double *demand,
                             int64_t cols, kdri_units *out)
{
	double supplied = 0, demanded = 0, units = 1;
	KDRI_DO(units_add_up(ctx, supply, rows, "supply", &supplied));
	KDRI_DO(units_add_up(ctx, demand, cols, "demand", &demanded));
	if (!(fabs(supplied - demanded) <= 1e-9 * KDRI_MAX(supplied, demanded)))
		return kdri_fail(
		        ctx, KDR_ERR_DATA,
		        "the supplies add up to %.17g and the demands to %.17g; they must be equal (to 1e-9)",
		        supplied, demanded);
	if (supplied == 0 || demanded == 0) {
		memset(out->supply, 0, (size_t)rows * sizeof *out->supply);
		memset(out->demand, 0, (size_t)cols * sizeof *out->demand);
		out->total = 0;
		out->units = 1;
	} else if (common_unit(supply, rows, supplied, &units) &&
	           common_unit(demand, cols, demanded, &units) &&
	           round_shares(supply, rows, supplied, units, out->supply) &&
	           round_shares(demand, cols, demanded, units, out->demand)) {
		out->total = supplied;
		out->units = units;
	} else {
		put_on_grid(supply, rows, supplied, demand, cols, demanded, out);
	}
	return KDR_OK;
}

typedef struct node {
	int64_t parent, depth, child, next, prev; /* -1: none */
	int64_t flow;                             /* on the arc between this node and its parent */
	double potential;                         /* u_i or v_j */
} node;

typedef struct tree {
	const double *cost; /* rows x cols */
	int64_t rows, cols, root;
	node *node; /* rows, then columns */
	double tolerance;
	int64_t at; /* where pricing continues: row * cols + column */
} tree;

static double arc_cost(const tree *t, int64_t k)
{
	int64_t p = t->node[k].parent;
	return k < t->rows ? t->cost[k * t->cols + p - t->rows] : t->cost[p * t->cols + k - t->rows];
}

static void detach(tree *t, int64_t k)
{
	node *n = &t->node[k];
	if (n->prev >= 0)
		t->node[n->prev].next = n->next;
	else
		t->node[n->parent].child = n->next;
	if (n->next >= 0)
		t->node[n->next].prev = n->prev;
}

static void attach(tree *t, int64_t k, int64_t parent, int64_t flow)
{
	node *n = &t->node[k];
	n->parent = parent;
	n->flow = flow;
	n->prev = -1;
	n->next = t->node[parent].child;
	if (n->next >= 0)
		t->node[n->next].prev = k;
	t->node[parent].child = k;
}

/* Depth and potential of `top` and all below it, from those of its parent. */
static void refresh(tree *t, int64_t top)
{
	int64_t k = top;
	for (;;) {
		node *n = &t->node[k];
		n->depth = t->node[n->parent].depth + 1;
		n->potential = arc_cost(t, k) - t->node[n->parent].potential;
		if (n->child >= 0) {
			k = n->child;
			continue;
		}
		while (k != top && t->node[k].next < 0)
			k = t->node[k].parent;
		if (k == top)
			return;
		k = t->node[k].next;
	}
}

/* Restores the order of a heap of columns, cheapest first, below place `at`. */
static void simplex_sift(int64_t *heap, int64_t size, int64_t at, const double *c)
{
	int64_t moving = heap[at];
	for (int64_t child; (child = 2 * at + 1) < size; at = child) {
		if (child + 1 < size && c[heap[child + 1]] < c[heap[child]])
			child++;
		if (!(c[heap[child]] < c[moving]))
			break;
		heap[at] = heap[child];
	}
	heap[at] = moving;
}

typedef struct kdri_arc {
	int64_t row, col, flow;
} kdri_arc;

/* A first strongly feasible tree, whose flows satisfy (E3). Each row in turn fills its cheapest open columns. A
 * column that is full is closed, also when the row has nothing left: the row is then linked to its next column by an
 * empty arc that points away from it. The last open column takes the remaining supply and is the root. `unmet` are
 * the demands, used up; `heap` has room for all columns. O(rows cols + (rows + cols) log cols).
 */
static int64_t first_arcs(const tree *t, const int64_t *supply, int64_t *unmet, int64_t *heap, kdri_arc *arcs)
{
	int64_t count = 0, open = t->cols;
	for (int64_t j = 0; j < t->cols; j++)
		heap[j] = j;
	for (int64_t i = 0; i < t->rows; i++) {
		const double *c = t->cost + i * t->cols;
		int64_t left = supply[i];
		for (int64_t k = open / 2 - 1; k >= 0; k--)
			simplex_sift(heap, open, k, c);
		for (;;) {
			int64_t j = heap[0];
			bool fills = open > 1 && left >= unmet[j];
			int64_t flow = fills ? unmet[j] : left;
			arcs[count++] = (kdri_arc){ i, j, flow };
			left -= flow;
			unmet[j] -= flow;
			if (!fills)
				break;
			heap[0] = heap[--open];
			simplex_sift(heap, open, 0, c);
		}
	}
	return heap[0];
}

/* Hangs the arcs on the root, from it outwards: `queue` holds the nodes reached, `first` the arcs of
 * each node in `incident` (compressed rows over nodes). */
static void grow_tree(tree *t, const kdri_arc *arcs, int64_t *first, int64_t *incident, int64_t *queue)
{
	int64_t nodes = t->rows + t->cols, count = nodes - 1;
	for (int64_t a = 0; a < count; a++) {
		first[arcs[a].row + 1]++;
		first[t->rows + arcs[a].col + 1]++;
	}
	for (int64_t k = 0; k < nodes; k++)
		first[k + 1] += first[k];
	for (int64_t a = count - 1; a >= 0; a--) {
		incident[--first[arcs[a].row + 1]] = a;
		incident[--first[t->rows + arcs[a].col + 1]] = a;
	}
	/* first[k + 1] is now where k begins, and first[k + 2] where it ends. */
	for (int64_t k = 0; k < nodes; k++)
		t->node[k] = (node){ .parent = -1, .depth = -1, .child = -1, .next = -1, .prev = -1 };
	int64_t head = 0, tail = 0;
	t->node[t->root].depth = 0;
	queue[tail++] = t->root;
	while (head < tail) {
		int64_t k = queue[head++], end = k + 2 <= nodes ? first[k + 2] : 2 * count;
		for (int64_t p = first[k + 1]; p < end; p++) {
			const kdri_arc *a = &arcs[incident[p]];
			int64_t other = k == a->row ? t->rows + a->col : a->row;
			if (t->node[other].depth >= 0)
				continue;
			attach(t, other, k, a->flow);
			t->node[other].depth = t->node[k].depth + 1;
			t->node[other].potential = arc_cost(t, other) - t->node[k].potential;
			queue[tail++] = other;
		}
	}
}

/* Finds a pair that violates (E4), the worst of the first block that has one; false if none has. */
static bool price(tree *t, int64_t block, int64_t *row, int64_t *col)
{
	int64_t all = t->rows * t->cols, seen = 0, at = t->at;
	const node *column = t->node + t->rows;
	double worst = 0;
	while (seen < all) {
		int64_t block_end = KDRI_MIN(all, seen + block);
		while (seen < block_end) {
			int64_t i = at / t->cols, j = at % t->cols;
			int64_t end = KDRI_MIN(t->cols, j + block_end - seen);
			const double *c = t->cost + i * t->cols;
			double u = t->node[i].potential;
			seen += end - j;
			at += end - j;
			for (; j < end; j++) {
				double r = c[j] - u - column[j].potential;
				if (r >= worst)
					continue;
				double size = KDRI_MAX(fabs(c[j]), fabs(u));
				size = KDRI_MAX(size, fabs(column[j].potential));
				if (-r <= t->tolerance * size)
					continue;
				worst = r;
				*row = i;
				*col = j;
			}
			if (at == all)
				at = 0;
		}
		if (worst < 0) {
			t->at = at;
			return true;
		}
	}
	return false;
}

/* Adds the pair (row, col) to the tree. Flow grows along row -> col, so it falls on arcs of the row's path that
 * belong to rows, and on arcs of the column's path that belong to columns. */
static void pivot(tree *t, int64_t row, int64_t col)
{
	node *n = t->node;
	int64_t entering[2] = { row, t->rows + col }, a = entering[0], b = entering[1];
	while (a != b) {
		if (n[a].depth >= n[b].depth)
			a = n[a].parent;
		else
			b = n[b].parent;
	}
	int64_t apex = a, leave = -1, delta = INT64_MAX;
	for (int64_t k = entering[0]; k != apex; k = n[k].parent)
		if (k < t->rows && n[k].flow < delta) {
			delta = n[k].flow;
			leave = k;
		}
	int inside = 0; /* which end of the pair is cut off when `leave` is removed */
	for (int64_t k = entering[1]; k != apex; k = n[k].parent)
		if (k >= t->rows &&
		    n[k].flow <= delta) { /* the last blocking arc: ties go towards the apex */
			delta = n[k].flow;
			leave = k;
			inside = 1;
		}
	if (delta > 0) {
		for (int64_t k = entering[0]; k != apex; k = n[k].parent)
			n[k].flow += k < t->rows ? -delta : delta;
		for (int64_t k = entering[1]; k != apex; k = n[k].parent)
			n[k].flow += k >= t->rows ? -delta : delta;
	}
	/* Reverse the path from the inner end up to `leave`, and attach it to the outer end. */
	int64_t k = entering[inside], parent = entering[1 - inside], flow = delta;
	for (;;) {
		int64_t old_parent = n[k].parent, old_flow = n[k].flow;
		detach(t, k);
		attach(t, k, parent, flow);
		if (k == leave)
			break;
		parent = k;
		flow = old_flow;
		k = old_parent;
	}
	refresh(t, entering[inside]);
}

/* Least-cost flow between lines that all have mass: rows + cols - 1 arcs into `flow`, some of which may
 * be empty, and the duals. */
static kdr_status simplex(kdr_context *ctx, const double *cost, int64_t rows, int64_t cols,
                          const int64_t *supply, const int64_t *demand, kdri_arc *flow, double *u, double *v)
{
	kdr_status st;
	int64_t nodes = rows + cols, row = 0, col = 0;
	tree t = { .cost = cost, .rows = rows, .cols = cols, .tolerance = 16 * DBL_EPSILON };
	int64_t *first = NULL, *incident = NULL, *queue = NULL, *unmet = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &t.node, nodes));
	KDRI_TRY(KDRI_NEW0(ctx, &first, nodes + 1));
	KDRI_TRY(KDRI_NEW(ctx, &incident, 2 * nodes));
	KDRI_TRY(KDRI_NEW(ctx, &queue, nodes));
	KDRI_TRY(KDRI_NEW(ctx, &unmet, cols));
	memcpy(unmet, demand, (size_t)cols * sizeof *unmet);
	t.root = rows + first_arcs(&t, supply, unmet, queue, flow);
	grow_tree(&t, flow, first, incident, queue);
	int64_t block = KDRI_MAX(16, (int64_t)sqrt((double)rows * (double)cols));
	int64_t patience = 1000000 + 1000 * nodes;
	for (int64_t pivots = 1; price(&t, block, &row, &col); pivots++) {
		pivot(&t, row, col);
		if (pivots % patience == 0)
			t.tolerance *= 16;
	}
	int64_t count = 0;
	for (int64_t k = 0; k < nodes; k++) {
		int64_t p = t.node[k].parent;
		if (p >= 0)
			flow[count++] =
			        (kdri_arc){ k < rows ? k : p, (k < rows ? p : k) - rows, t.node[k].flow };
	}
	for (int64_t i = 0; i < rows; i++)
		u[i] = t.node[i].potential;
	for (int64_t j = 0; j < cols; j++)
		v[j] = t.node[rows + j].potential;
done:
	KDRI_FREE(ctx, t.node, first, incident, queue, unmet);
	return st;
}

/* Every line has the same mass: the flow is an assignment. */
static kdr_status one_to_one(kdr_context *ctx, const double *cost, int64_t size, int64_t mass, kdri_arc *flow,
                             double *u, double *v)
{
	kdr_status st;
	int64_t *map = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &map, size));
	KDRI_TRY(kdri_assign(ctx, cost, size, size, map, u, v));
	for (int64_t i = 0; i < size; i++)
		flow[i] = (kdri_arc){ i, map[i], mass };
done:
	kdri_free(ctx, map);
	return st;
}

/* Moves the lines with mass to the front of `mass` and stores their numbers in `line`. */
static int64_t keep_lines(int64_t *mass, int64_t n, int64_t *line)
{
	int64_t kept = 0;
	for (int64_t i = 0; i < n; i++)
		if (mass[i] > 0) {
			line[kept] = i;
			mass[kept++] = mass[i];
		}
	return kept;
}

static bool all_equal(const int64_t *a, int64_t na, const int64_t *b, int64_t nb)
{
	for (int64_t i = 0; i < na; i++)
		if (a[i] != a[0])
			return false;
	for (int64_t j = 0; j < nb; j++)
		if (b[j] != a[0])
			return false;
	return true;
}

/* (E1) in integer units, with its solution. */
typedef struct transport {
	kdri_units units;
	int64_t rows, cols;       /* lines with mass */
	int64_t *row_id, *col_id; /* which lines of the caller's they are */
	double *u, *v;            /* of all the caller's lines in the end */
	kdri_arc *flow;
	int64_t flow_count;
} transport;

/* The lines with mass alone, the longer side as rows: then each of many rows chooses among few columns,
 * which makes a far better first tree than the other way round. */
static kdr_status solve_lines(kdr_context *ctx, const double *cost, int64_t stride, transport *t, double *u,
                              double *v)
{
	kdr_status st;
	double *c = NULL;
	int64_t rows = t->rows, cols = t->cols, *supply = t->units.supply, *demand = t->units.demand;
	bool flip = rows < cols;
	KDRI_TRY(KDRI_NEW(ctx, &c, rows * cols));
	for (int64_t i = 0; i < rows; i++)
		for (int64_t j = 0; j < cols; j++)
			c[flip ? j * rows + i : i * cols + j] = cost[t->row_id[i] * stride + t->col_id[j]];
	if (rows == cols && all_equal(supply, rows, demand, cols)) {
		KDRI_TRY(one_to_one(ctx, c, rows, supply[0], t->flow, u, v));
		t->flow_count = rows;
		goto done;
	}
	if (flip)
		KDRI_TRY(simplex(ctx, c, cols, rows, demand, supply, t->flow, v, u));
	else
		KDRI_TRY(simplex(ctx, c, rows, cols, supply, demand, t->flow, u, v));
	t->flow_count = rows + cols - 1;
	for (int64_t k = 0; flip && k < t->flow_count; k++)
		t->flow[k] = (kdri_arc){ t->flow[k].col, t->flow[k].row, t->flow[k].flow };
done:
	kdri_free(ctx, c);
	return st;
}

static kdr_status transport_solve(kdr_context *ctx, const double *cost, int64_t rows, int64_t cols,
                                  transport *t)
{
	kdr_status st;
	double *u = NULL, *v = NULL;
	t->rows = keep_lines(t->units.supply, rows, t->row_id);
	t->cols = keep_lines(t->units.demand, cols, t->col_id);
	KDRI_TRY(KDRI_NEW(ctx, &t->flow, t->rows + t->cols));
	KDRI_TRY(KDRI_NEW(ctx, &u, t->rows));
	KDRI_TRY(KDRI_NEW(ctx, &v, t->cols));
	if (t->rows > 0)
		KDRI_TRY(solve_lines(ctx, cost, cols, t, u, v));
	/* (E2) The largest v that columns without mass may have, then the largest u given all v: this also
	 * takes the last rounding out of the other rows' u. */
	for (int64_t j = 0; j < cols; j++)
		t->v[j] = t->rows > 0 ? INFINITY : 0;
	for (int64_t i = 0; i < t->rows; i++)
		for (int64_t j = 0; j < cols; j++)
			t->v[j] = fmin(t->v[j], cost[t->row_id[i] * cols + j] - u[i]);
	for (int64_t j = 0; j < t->cols; j++)
		t->v[t->col_id[j]] = v[j];
	for (int64_t i = 0; i < rows; i++) {
		t->u[i] = cols > 0 ? INFINITY : 0;
		for (int64_t j = 0; j < cols; j++)
			t->u[i] = fmin(t->u[i], cost[i * cols + j] - t->v[j]);
	}
done:
	KDRI_FREE(ctx, u, v);
	return st;
}

/* Multiplying first keeps integers exact; dividing first avoids overflow. */
static double amount(const kdri_units *units, int64_t q)
{
	if (units->total < 1e250)
		return (double)q * units->total / units->units;
	return (double)q / units->units * units->total;
}

kdr_status kdri_transport(kdr_context *ctx, const double *cost, int64_t rows, int64_t cols,
                          const double *supply, const double *demand, double *flow, double *u, double *v,
                          double *total)
{
	kdr_status st;
	transport t = { 0 };
	if (!cost || !supply || !demand || !flow)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT, "transport: an argument is NULL");
	KDRI_TRY(kdri_check_costs(ctx, cost, rows, cols));
	KDRI_TRY(KDRI_NEW(ctx, &t.units.supply, rows));
	KDRI_TRY(KDRI_NEW(ctx, &t.units.demand, cols));
	KDRI_TRY(KDRI_NEW(ctx, &t.row_id, rows));
	KDRI_TRY(KDRI_NEW(ctx, &t.col_id, cols));
	KDRI_TRY(KDRI_NEW(ctx, &t.u, rows));
	KDRI_TRY(KDRI_NEW(ctx, &t.v, cols));
	KDRI_TRY(units_find(ctx, supply, rows, demand, cols, &t.units));
	KDRI_TRY(transport_solve(ctx, cost, rows, cols, &t));
	memset(flow, 0, (size_t)(rows * cols) * sizeof *flow);
	kdri_neumaier value = { 0 };
	for (int64_t k = 0; k < t.flow_count; k++) {
		int64_t i = t.row_id[t.flow[k].row], j = t.col_id[t.flow[k].col];
		/* A supply with a single destination is passed on unchanged, to the last bit. */
		bool whole = t.flow[k].flow == t.units.supply[t.flow[k].row];
		double x = whole ? supply[i] : amount(&t.units, t.flow[k].flow);
		flow[i * cols + j] = x;
		kdri_neumaier_add(&value, x * cost[i * cols + j]);
	}
	if (u)
		memcpy(u, t.u, (size_t)rows * sizeof *u);
	if (v)
		memcpy(v, t.v, (size_t)cols * sizeof *v);
	if (total)
		*total = kdri_neumaier_value(&value);
done:
	KDRI_FREE(ctx, t.units.supply, t.units.demand, t.row_id, t.col_id, t.u, t.v, t.flow);
	return st;
}
