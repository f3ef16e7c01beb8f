/* The network simplex method for transportation problems in whole units. SPDX-License-Identifier:
 * BSD-3-Clause
 *
 * (E1) min sum_ij c_ij x_ij, sum_j x_ij = s_i, sum_i x_ij = d_j, x >= 0
 * (E2) max sum_i s_i u_i + sum_j d_j v_j, u_i + v_j <= c_ij
 *
 * Rows and columns are the nodes of a graph, and a basis is a spanning tree of it: flows x on the tree
 * follow from (E1), potentials from u_i + v_j = c_ij on the tree. A pivot lets a pair (i, j) with
 * u_i + v_j > c_ij into the tree; flow is pushed around the cycle this closes until an arc runs empty
 * and leaves. At the end (E2) holds for all pairs, and both values are equal.
 *
 * Termination. Flows are whole numbers (units.c), so ties are recognised exactly. The tree is kept strongly
 * feasible [Cunningham 1976]: every empty arc points towards the root, so from every node some flow
 * could be sent to the root. Of the arcs that block a pivot the last one leaves, going round the cycle
 * from its apex along the entering arc; this keeps the property and rules out cycling. Potentials
 * are recomputed down the part of the tree that moved and never drift. Pairs enter only if they violate
 * (E2) by more than the rounding of their numbers; if that bound is ever too small for the given costs, it is raised
 * after a number of pivots that no ordinary problem takes, so the method ends.
 *
 * Work. Pairs are priced in blocks of sqrt(rows cols), the worst violation of a block enters; a pivot
 * costs a block, a path and the subtree that moves. */
#include "engine/metrics/metrics.h"

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

/* A first strongly feasible tree, whose flows satisfy (E1). Each row in turn fills its cheapest open columns. A
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

kdr_status kdri_simplex(kdr_context *ctx, const double *cost, int64_t rows, int64_t cols,
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
