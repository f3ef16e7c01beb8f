/* The matching of largest weight in a sparse bipartite graph of counts, for the accuracy.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Partitions into 10^5 parts meet in few cells, so the graph is kept sparse. With w_ij the samples in
 * row i and column j, the matching M of largest weight and its dual are
 *
 * (E1) max sum_{ij in M} w_ij = min sum_i u_i + sum_j v_j, u_i + v_j >= w_ij, u >= 0, v >= 0
 *
 * with equality in u_i + v_j >= w_ij for pairs of M, and u_i = 0, v_j = 0 for rows and columns outside M.
 * Rows enter one at a time. Each searches for the shortest path in the reduced costs u_i + v_j - w_ij >= 0
 * from itself to an end: a column that is still free (v_j = 0), or a row that can be excluded at the cost of its u_i.
 * Flipping the path and moving the duals by
 *
 * (E2) u_i -= D - d_i, v_j += D - d_j for rows and columns nearer than the end's distance D
 *
 * keeps (E1) for the rows that have entered [Kuhn 1955; Edmonds and Karp 1972]. All numbers are
 * integers: the result is exact. The shorter side are the rows, so singletons against few classes
 * cost one pass over the cells per class. */
#include "engine/metrics/metrics.h"

typedef struct entry {
	int64_t distance, col;
} entry;

typedef struct matching {
	int64_t rows, cols;
	const int64_t *rowptr, *col, *weight;
	int64_t *u, *v;
	int64_t *col_of, *row_of; /* the matching, -1: none */
	/* One search: distance of columns (INT64_MAX: not seen), the row each was seen from, the columns
	 * seen, those done in order of distance, and those to do: as near as the last one done (tables of
	 * small counts are full of ties), and a heap of the others, which may hold stale entries. */
	int64_t *distance, *from, *seen, *finished, *near;
	int64_t seen_count, finished_count, near_count, heap_size;
	entry *heap;
	int64_t best, best_col, best_drop; /* nearest end: its distance, column, and excluded row or -1 */
} matching;

static bool match_before(entry a, entry b)
{
	return a.distance < b.distance || (a.distance == b.distance && a.col < b.col);
}

static void heap_push(matching *m, entry e)
{
	int64_t at = m->heap_size++;
	while (at > 0 && match_before(e, m->heap[(at - 1) / 2])) {
		m->heap[at] = m->heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	m->heap[at] = e;
}

static entry heap_pop(matching *m)
{
	entry top = m->heap[0], last = m->heap[--m->heap_size];
	int64_t at = 0;
	for (;;) {
		int64_t child = 2 * at + 1;
		if (child >= m->heap_size)
			break;
		if (child + 1 < m->heap_size && match_before(m->heap[child + 1], m->heap[child]))
			child++;
		if (!match_before(m->heap[child], last))
			break;
		m->heap[at] = m->heap[child];
		at = child;
	}
	m->heap[at] = last;
	return top;
}

static void relax(matching *m, int64_t row, int64_t base)
{
	for (int64_t p = m->rowptr[row]; p < m->rowptr[row + 1]; p++) {
		int64_t j = m->col[p], d = base + m->u[row] + m->v[j] - m->weight[p];
		if (d >= m->distance[j] || d >= m->best)
			continue;
		if (m->distance[j] == INT64_MAX)
			m->seen[m->seen_count++] = j;
		m->distance[j] = d;
		m->from[j] = row;
		if (m->row_of[j] < 0) {
			m->best = d;
			m->best_col = j;
			m->best_drop = -1;
		} else if (d == base) {
			m->near[m->near_count++] = j;
		} else {
			heap_push(m, (entry){ d, j });
		}
	}
}

static void flip_path(matching *m)
{
	int64_t j = m->best_col;
	if (m->best_drop >= 0)
		m->col_of[m->best_drop] = -1;
	while (j >= 0) {
		int64_t r = m->from[j], next = m->col_of[r]; /* the row that entered has none */
		m->row_of[j] = r;
		m->col_of[r] = j;
		j = next;
	}
}

static void enter_row(matching *m, int64_t row)
{
	m->seen_count = m->finished_count = m->near_count = m->heap_size = 0;
	m->best = m->u[row]; /* leaving the row itself out */
	m->best_col = m->best_drop = -1;
	relax(m, row, 0);
	int64_t reach = 0;
	while (m->near_count > 0 || m->heap_size > 0) {
		entry e = m->near_count > 0 ? (entry){ reach, m->near[--m->near_count] } : heap_pop(m);
		reach = e.distance;
		if (e.distance >= m->best)
			break;
		if (e.distance > m->distance[e.col])
			continue;
		int64_t r = m->row_of[e.col];
		m->finished[m->finished_count++] = e.col;
		if (e.distance + m->u[r] < m->best) {
			m->best = e.distance + m->u[r];
			m->best_col = e.col;
			m->best_drop = r;
		}
		relax(m, r, e.distance);
	}
	m->u[row] -= m->best; /* (E2) */
	for (int64_t f = 0; f < m->finished_count; f++) {
		int64_t j = m->finished[f], move = m->best - m->distance[j];
		m->v[j] += move;
		m->u[m->row_of[j]] -= move;
	}
	flip_path(m);
	for (int64_t s = 0; s < m->seen_count; s++)
		m->distance[m->seen[s]] = INT64_MAX;
}

/* The table's columns as rows. */
static void match_transpose(const kdri_table *t, int64_t *rowptr, int64_t *col, int64_t *weight)
{
	for (int64_t p = 0; p < t->cells; p++)
		rowptr[t->col[p] + 1]++;
	for (int64_t j = 0; j < t->cols; j++)
		rowptr[j + 1] += rowptr[j];
	for (int64_t i = 0; i < t->rows; i++)
		for (int64_t p = t->rowptr[i]; p < t->rowptr[i + 1]; p++) {
			int64_t at = rowptr[t->col[p]]++;
			col[at] = i;
			weight[at] = t->count[p];
		}
	memmove(rowptr + 1, rowptr, (size_t)t->cols * sizeof *rowptr);
	rowptr[0] = 0;
}

kdr_status kdri_match(kdr_context *ctx, const kdri_table *t, int64_t *covered)
{
	kdr_status st;
	int64_t *rowptr = NULL, *col = NULL, *weight = NULL;
	matching m = {
		.rows = t->rows, .cols = t->cols, .rowptr = t->rowptr, .col = t->col, .weight = t->count
	};
	if (t->rows > t->cols) {
		KDRI_TRY(KDRI_NEW0(ctx, &rowptr, t->cols + 1));
		KDRI_TRY(KDRI_NEW(ctx, &col, t->cells));
		KDRI_TRY(KDRI_NEW(ctx, &weight, t->cells));
		match_transpose(t, rowptr, col, weight);
		m = (matching){
			.rows = t->cols, .cols = t->rows, .rowptr = rowptr, .col = col, .weight = weight
		};
	}
	KDRI_TRY(KDRI_NEW0(ctx, &m.u, m.rows));
	KDRI_TRY(KDRI_NEW0(ctx, &m.v, m.cols));
	KDRI_TRY(KDRI_NEW(ctx, &m.col_of, m.rows));
	KDRI_TRY(KDRI_NEW(ctx, &m.row_of, m.cols));
	KDRI_TRY(KDRI_NEW(ctx, &m.distance, m.cols));
	KDRI_TRY(KDRI_NEW(ctx, &m.from, m.cols));
	KDRI_TRY(KDRI_NEW(ctx, &m.seen, m.cols));
	KDRI_TRY(KDRI_NEW(ctx, &m.finished, m.cols));
	KDRI_TRY(KDRI_NEW(ctx, &m.near, m.cols));
	KDRI_TRY(KDRI_NEW(ctx, &m.heap,
	                  t->cells)); /* a row is relaxed once per search, so each cell enters once */
	for (int64_t j = 0; j < m.cols; j++) {
		m.row_of[j] = -1;
		m.distance[j] = INT64_MAX;
	}
	for (int64_t i = 0; i < m.rows; i++) {
		m.col_of[i] = -1;
		for (int64_t p = m.rowptr[i]; p < m.rowptr[i + 1]; p++)
			m.u[i] = KDRI_MAX(m.u[i], m.weight[p]);
	}
	for (int64_t i = 0; i < m.rows; i++)
		enter_row(&m, i);
	/* (E1): the dual value is the weight of the matching. */
	*covered = 0;
	for (int64_t i = 0; i < m.rows; i++)
		*covered += m.u[i];
	for (int64_t j = 0; j < m.cols; j++)
		*covered += m.v[j];
done:
	KDRI_FREE(ctx, rowptr, col, weight, m.u, m.v, m.col_of, m.row_of, m.distance, m.from, m.seen,
	          m.finished, m.near, m.heap);
	return st;
}
