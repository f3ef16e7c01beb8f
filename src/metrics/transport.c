/* The transportation problem, by the network simplex method. SPDX-License-Identifier: BSD-3-Clause
 *
 * (E1) min sum_ij c_ij x_ij, sum_j x_ij = s_i, sum_i x_ij = d_j, x >= 0
 * (E2) max sum_i s_i u_i + sum_j d_j v_j, u_i + v_j <= c_ij
 *
 * Rows and columns are the nodes of a graph, and a basis is a spanning tree of it: flows x on the tree
 * follow from (E1), potentials from u_i + v_j = c_ij on the tree. A pivot lets a pair (i, j) with
 * u_i + v_j > c_ij into the tree; flow is pushed around the cycle this closes until an arc runs empty
 * and leaves. At the end (E2) holds for all pairs, and both values are equal.
 *
 * Termination. Flows are whole numbers (units.c), so ties are seen as such. The tree is kept strongly
 * feasible [Cunningham 1976]: every empty arc points towards the root, so from every node some flow
 * could be sent to the root. Of the arcs that block a pivot the last one leaves, going round the cycle
 * from its apex along the entering arc; this keeps the property and rules out cycling. Potentials
 * are recomputed down the part of the tree that moved and never drift. Pairs enter only if they violate
 * (E2) by more than the rounding of their numbers; should that bound ever be too small for the costs at
 * hand, it is raised after a number of pivots that no ordinary problem takes, so the method ends.
 *
 * Work. Pairs are priced in blocks of sqrt(rows cols), the worst violation of a block enters; a pivot
 * costs a block, a path and the subtree that moves. Lines without mass take no part: their duals
 * are found afterwards, as the largest that (E2) allows. */
#include "metrics/metrics.h"

#include <float.h>

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
	int64_t at; /* where pricing goes on: row * cols + column */
} tree;

typedef struct arc {
	int64_t row, col, flow;
} arc;

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
static void sift(int64_t *heap, int64_t size, int64_t at, const double *c)
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

/* A first strongly feasible tree. Each row in turn fills its cheapest open columns. A column that is
 * full is closed, also when the row has nothing left: the row then hangs on to its next column by an
 * empty arc that points from it. The last open column takes all that is left, and is the root.
 * `heap` has room for all columns; O(rows cols + (rows + cols) log cols). */
static int64_t first_arcs(const tree *t, const int64_t *supply, int64_t *demand, int64_t *heap, arc *arcs)
{
	int64_t count = 0, open = t->cols;
	for (int64_t j = 0; j < t->cols; j++)
		heap[j] = j;
	for (int64_t i = 0; i < t->rows; i++) {
		const double *c = t->cost + i * t->cols;
		int64_t left = supply[i];
		for (int64_t k = open / 2 - 1; k >= 0; k--)
			sift(heap, open, k, c);
		for (;;) {
			int64_t j = heap[0];
			bool fills = open > 1 && left >= demand[j];
			int64_t flow = fills ? demand[j] : left;
			arcs[count++] = (arc){ i, j, flow };
			left -= flow;
			demand[j] -= flow;
			if (!fills)
				break;
			heap[0] = heap[--open];
			sift(heap, open, 0, c);
		}
	}
	return heap[0];
}

/* Hangs the arcs on the root, from it outwards: `queue` holds the nodes reached, `first` the arcs of
 * each node in `incident` (compressed rows over nodes). */
static void grow_tree(tree *t, const arc *arcs, int64_t *first, int64_t *incident, int64_t *queue)
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
			const arc *a = &arcs[incident[p]];
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

/* Finds a pair that violates (E2), the worst of the first block that has one; false if none has. */
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

/* Lets the pair (row, col) in. Flow grows along row -> col, so it falls on arcs of the row's path that
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
	int inside = 0; /* which end of the pair is cut off when `leave` goes */
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
	/* Turn the path from the inner end up to `leave` around, and hang it on the outer end. */
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

/* Solves for lines that all have mass; `flow` (rows x cols, zeroed) and the duals are filled. `demand`
 * is used up. */
static kdr_status simplex(kdr_context *ctx, const double *cost, int64_t rows, int64_t cols,
                          const int64_t *supply, int64_t *demand, arc *flow, double *u, double *v)
{
	kdr_status st;
	int64_t nodes = rows + cols, row, col;
	tree t = { .cost = cost, .rows = rows, .cols = cols, .tolerance = 16 * DBL_EPSILON };
	int64_t *first = NULL, *incident = NULL, *queue = NULL;
	KDR_TRY(KDRI_NEW(ctx, &t.node, nodes));
	KDR_TRY(KDRI_NEW0(ctx, &first, nodes + 1));
	KDR_TRY(KDRI_NEW(ctx, &incident, 2 * nodes));
	KDR_TRY(KDRI_NEW(ctx, &queue, nodes));
	t.root = rows + first_arcs(&t, supply, demand, queue, flow);
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
			flow[count++] = (arc){ k < rows ? k : p, (k < rows ? p : k) - rows, t.node[k].flow };
	}
	for (int64_t i = 0; i < rows; i++)
		u[i] = t.node[i].potential;
	for (int64_t j = 0; j < cols; j++)
		v[j] = t.node[rows + j].potential;
done:
	kdri_free(ctx, t.node);
	kdri_free(ctx, first);
	kdri_free(ctx, incident);
	kdri_free(ctx, queue);
	return st;
}

/* Every line has the same mass: the flow is an assignment. */
static kdr_status one_to_one(kdr_context *ctx, const double *cost, int64_t size, int64_t mass, arc *flow,
                             double *u, double *v)
{
	kdr_status st;
	int64_t *map = NULL;
	KDR_TRY(KDRI_NEW(ctx, &map, size));
	KDR_TRY(kdri_assign(ctx, cost, size, size, map, u, v));
	for (int64_t i = 0; i < size; i++)
		flow[i] = (arc){ i, map[i], mass };
done:
	kdri_free(ctx, map);
	return st;
}

/* Moves the lines with mass to the front of `mass`, and says in `line` which they were. */
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

/* The problem in whole units, with its solution. */
typedef struct transport {
	kdri_units units;
	int64_t rows, cols;       /* lines with mass */
	int64_t *row_id, *col_id; /* which lines of the caller's they are */
	double *cost;             /* their costs, if some lines were dropped */
	double *u, *v;            /* of all the caller's lines in the end */
	arc *flow;
	int64_t flow_count;
} transport;

static kdr_status solve(kdr_context *ctx, const double *cost, int64_t rows, int64_t cols, transport *t)
{
	kdr_status st = KDR_OK;
	const double *c = cost;
	double *u = NULL, *v = NULL;
	int64_t *supply = t->units.supply, *demand = t->units.demand;
	t->rows = keep_lines(supply, rows, t->row_id);
	t->cols = keep_lines(demand, cols, t->col_id);
	KDR_TRY(KDRI_NEW0(ctx, &t->flow, t->rows + t->cols + 1));
	KDR_TRY(KDRI_NEW0(ctx, &u, t->rows));
	KDR_TRY(KDRI_NEW0(ctx, &v, t->cols));
	if (t->rows < rows || t->cols < cols) {
		KDR_TRY(KDRI_NEW(ctx, &t->cost, t->rows * t->cols));
		for (int64_t i = 0; i < t->rows; i++)
			for (int64_t j = 0; j < t->cols; j++)
				t->cost[i * t->cols + j] = cost[t->row_id[i] * cols + t->col_id[j]];
		c = t->cost;
	}
	if (t->rows > 0 && t->rows == t->cols && all_equal(supply, t->rows, demand, t->cols)) {
		KDR_TRY(one_to_one(ctx, c, t->rows, supply[0], t->flow, u, v));
		t->flow_count = t->rows;
	} else if (t->rows > 0) {
		KDR_TRY(simplex(ctx, c, t->rows, t->cols, supply, demand, t->flow, u, v));
		t->flow_count = t->rows + t->cols - 1;
	}
	/* The largest v that (E2) allows columns without mass, then the largest u given all v: this also
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
	kdri_free(ctx, u);
	kdri_free(ctx, v);
	return st;
}

/* Multiplied first, whole numbers stay whole; divided first, nothing overflows. */
static double amount(const kdri_units *units, int64_t q)
{
	if (units->total < 1e250)
		return (double)q * units->total / units->units;
	return (double)q / units->units * units->total;
}

kdr_status kdr_transport(kdr_context *ctx, const double *cost, int64_t rows, int64_t cols,
                         const double *supply, const double *demand, double *flow, double *u, double *v,
                         double *total)
{
	kdr_status st;
	transport t = { 0 };
	if (!cost || !supply || !demand || !flow)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT, "transport: an argument is NULL");
	KDR_TRY(kdri_check_costs(ctx, cost, rows, cols));
	KDR_TRY(KDRI_NEW(ctx, &t.units.supply, rows));
	KDR_TRY(KDRI_NEW(ctx, &t.units.demand, cols));
	KDR_TRY(KDRI_NEW(ctx, &t.row_id, rows));
	KDR_TRY(KDRI_NEW(ctx, &t.col_id, cols));
	KDR_TRY(KDRI_NEW(ctx, &t.u, rows));
	KDR_TRY(KDRI_NEW(ctx, &t.v, cols));
	KDR_TRY(kdri_units_find(ctx, supply, rows, demand, cols, &t.units));
	KDR_TRY(solve(ctx, cost, rows, cols, &t));
	memset(flow, 0, (size_t)(rows * cols) * sizeof *flow);
	kdri_sum value = { 0 };
	for (int64_t k = 0; k < t.flow_count; k++) {
		int64_t i = t.row_id[t.flow[k].row], j = t.col_id[t.flow[k].col];
		/* A supply that goes to one place is passed on as it came, to the last bit. */
		bool whole = t.flow[k].flow == t.units.supply[t.flow[k].row];
		double x = whole ? supply[i] : amount(&t.units, t.flow[k].flow);
		flow[i * cols + j] = x;
		kdri_sum_add(&value, x * cost[i * cols + j]);
	}
	if (u)
		memcpy(u, t.u, (size_t)rows * sizeof *u);
	if (v)
		memcpy(v, t.v, (size_t)cols * sizeof *v);
	if (total)
		*total = kdri_sum_value(&value);
done:
	kdri_free(ctx, t.units.supply);
	kdri_free(ctx, t.units.demand);
	kdri_free(ctx, t.row_id);
	kdri_free(ctx, t.col_id);
	kdri_free(ctx, t.cost);
	kdri_free(ctx, t.u);
	kdri_free(ctx, t.v);
	kdri_free(ctx, t.flow);
	return st;
}
