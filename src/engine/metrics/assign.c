/* The assignment problem, by shortest augmenting paths. SPDX-License-Identifier: BSD-3-Clause
 *
 * (E1) min sum_i c_{i,m(i)} over one-to-one maps m of the rows into the columns, rows <= cols
 * (E2) max sum_i u_i + sum_j v_j, u_i + v_j <= c_ij, v_j <= 0
 *
 * are equal, with u_i + v_j = c_ij where m(i) = j and v_j = 0 for the remaining columns. As in [Jonker and Volgenant
 * 1987], the solver stores v and the map, and u is implied (u_i = min_j c_ij - v_j), and has two stages. First rows
 * bid: a row takes its best column and lowers its v by the margin to the second best, displacing the row that had it.
 * This assigns most rows but may progress in small steps, so the number of steps is limited. Then each row that is
 * still free grows a tree of shortest paths in the reduced costs
 *
 * (E3) d_j = min over rows i in the tree of d(i) + (c_ij - v_j) - (c_{i,m(i)} - v_{m(i)})
 *
 * until it meets a free column, D away; the path is flipped and v_j += d_j - D for columns of the tree.
 * At most O(rows^2 cols). The v of columns that remain free was never lowered, so rectangular problems need no
 * padding. Ties are resolved in favour of free columns, then of the first found: the map depends only on the
 * costs. */
/* The matching of largest weight in a sparse bipartite graph of counts, for the accuracy.
 *
 * Partitions into 10^5 parts meet in few cells, so the graph is kept sparse. With w_ij the samples in
 * row i and column j, the matching M of largest weight and its dual are
 *
 * (E4) max sum_{ij in M} w_ij = min sum_i u_i + sum_j v_j, u_i + v_j >= w_ij, u >= 0, v >= 0
 *
 * with equality in u_i + v_j >= w_ij for pairs of M, and u_i = 0, v_j = 0 for rows and columns outside M.
 * Rows enter one at a time. Each searches for the shortest path in the reduced costs u_i + v_j - w_ij >= 0
 * from itself to an end: a column that is still free (v_j = 0), or a row that can be excluded at the cost of its u_i.
 * Flipping the path and moving the duals by
 *
 * (E5) u_i -= D - d_i, v_j += D - d_j for rows and columns nearer than the end's distance D
 *
 * keeps (E4) for the rows that have entered [Kuhn 1955; Edmonds and Karp 1972]. All numbers are
 * integers: the result is exact. The shorter side are the rows, so singletons against few classes
 * cost one pass over the cells per class. */
#include "engine/metrics/metrics.h"

typedef struct solver {
	const double *cost;
	int64_t rows, cols;
	int64_t *col_of, *row_of; /* -1: none */
	double *v;
	int64_t *free_rows;
	/* One tree: distance (E3), the preceding row on its path, and the columns: tree first, then the others. */
	double *distance;
	int64_t *from, *order;
} solver;

/* Best and second best column of a row, by c_ij - v_j. */
static void two_best(const solver *s, int64_t row, int64_t best[2], double value[2])
{
	const double *c = s->cost + row * s->cols;
	best[0] = best[1] = -1;
	value[0] = value[1] = INFINITY;
	for (int64_t j = 0; j < s->cols; j++) {
		double r = c[j] - s->v[j];
		if (r < value[1]) {
			bool first = r < value[0];
			best[1] = first ? best[0] : j;
			value[1] = first ? value[0] : r;
			if (first) {
				best[0] = j;
				value[0] = r;
			}
		}
	}
}

/* Rows bid for columns. Returns how many rows stay free, listed in free_rows. */
static int64_t bid(solver *s)
{
	int64_t free_count = s->rows, steps_left = 6 * s->rows;
	for (int64_t i = 0; i < s->rows; i++)
		s->free_rows[i] = i;
	for (int pass = 0; pass < 2; pass++) {
		int64_t next = 0, still_free = 0;
		while (next < free_count) {
			int64_t row = s->free_rows[next], best[2];
			double value[2];
			if (steps_left-- <= 0) {
				s->free_rows[still_free++] = row;
				next++;
				continue;
			}
			two_best(s, row, best, value);
			int64_t take = best[0], out = s->row_of[take];
			bool strict = value[0] < value[1];
			if (strict && best[1] >= 0) {
				s->v[take] -= value[1] - value[0];
			} else if (out >= 0 && best[1] >= 0) {
				take = best[1];
				out = s->row_of[take];
			}
			s->row_of[take] = row;
			s->col_of[row] = take;
			next++;
			if (out < 0)
				continue;
			s->col_of[out] = -1;
			if (strict)
				s->free_rows[--next] = out; /* it bids at once */
			else
				s->free_rows[still_free++] = out;
		}
		free_count = still_free;
	}
	return free_count;
}

/* Grows the tree of shortest paths from a free row to the nearest free column, and flips the path. */
static void augment(solver *s, int64_t row)
{
	for (int64_t j = 0; j < s->cols; j++) {
		s->distance[j] = INFINITY;
		s->order[j] = j;
	}
	int64_t done = 0, last = -1, i = row;
	double base = 0;
	for (;;) {
		const double *c = s->cost + i * s->cols;
		int64_t best = done;
		double reach = INFINITY;
		for (int64_t k = done; k < s->cols; k++) {
			int64_t j = s->order[k];
			double d = base + (c[j] - s->v[j]);
			if (d < s->distance[j]) {
				s->distance[j] = d;
				s->from[j] = i;
			}
			if (s->distance[j] < reach || (s->distance[j] == reach && s->row_of[j] < 0)) {
				reach = s->distance[j];
				best = k;
			}
		}
		last = s->order[best];
		s->order[best] = s->order[done];
		s->order[done] = last;
		i = s->row_of[last];
		if (i < 0)
			break;
		done++;
		base = reach - (s->cost[i * s->cols + last] - s->v[last]); /* (E3) */
	}
	for (int64_t k = 0; k < done; k++)
		s->v[s->order[k]] += s->distance[s->order[k]] - s->distance[last];
	for (int64_t j = last; j >= 0;) {
		int64_t r = s->from[j], next = s->col_of[r];
		s->row_of[j] = r;
		s->col_of[r] = j;
		j = next;
	}
}

/* (E1) and (E2), with rows <= cols. */
static kdr_status assign_solve(kdr_context *ctx, const double *cost, int64_t rows, int64_t cols,
                               int64_t *col_of, double *u, double *v)
{
	kdr_status st;
	solver s = { .cost = cost, .rows = rows, .cols = cols, .col_of = col_of, .v = v };
	KDRI_TRY(KDRI_NEW(ctx, &s.row_of, cols));
	KDRI_TRY(KDRI_NEW(ctx, &s.free_rows, rows));
	KDRI_TRY(KDRI_NEW(ctx, &s.distance, cols));
	KDRI_TRY(KDRI_NEW(ctx, &s.from, cols));
	KDRI_TRY(KDRI_NEW(ctx, &s.order, cols));
	for (int64_t j = 0; j < cols; j++) {
		s.row_of[j] = -1;
		v[j] = 0;
	}
	for (int64_t i = 0; i < rows; i++)
		col_of[i] = -1;
	int64_t left = bid(&s);
	for (int64_t k = 0; k < left; k++)
		augment(&s, s.free_rows[k]);
	for (int64_t i = 0; i < rows; i++)
		u[i] = cost[i * cols + col_of[i]] - v[col_of[i]];
done:
	KDRI_FREE(ctx, s.row_of, s.free_rows, s.distance, s.from, s.order);
	return st;
}

kdr_status kdri_assign(kdr_context *ctx, const double *cost, int64_t rows, int64_t cols, int64_t *row_to_col,
                       double *u, double *v)
{
	kdr_status st;
	bool flip = rows > cols;
	int64_t few = flip ? cols : rows, many = flip ? rows : cols;
	double *turned = NULL, *short_dual = NULL, *long_dual = NULL;
	int64_t *map = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &map, few));
	KDRI_TRY(KDRI_NEW(ctx, &short_dual, few));
	KDRI_TRY(KDRI_NEW(ctx, &long_dual, many));
	if (flip) {
		KDRI_TRY(KDRI_NEW(ctx, &turned, rows * cols));
		for (int64_t i = 0; i < rows; i++)
			for (int64_t j = 0; j < cols; j++)
				turned[j * rows + i] = cost[i * cols + j];
	}
	if (few > 0)
		KDRI_TRY(assign_solve(ctx, flip ? turned : cost, few, many, map, short_dual, long_dual));
	else
		memset(long_dual, 0, (size_t)many * sizeof *long_dual);
	for (int64_t i = 0; i < rows; i++)
		row_to_col[i] = flip ? -1 : map[i];
	for (int64_t j = 0; flip && j < cols; j++)
		row_to_col[map[j]] = j;
	if (u)
		memcpy(u, flip ? long_dual : short_dual, (size_t)rows * sizeof *u);
	if (v)
		memcpy(v, flip ? short_dual : long_dual, (size_t)cols * sizeof *v);
done:
	KDRI_FREE(ctx, turned, short_dual, long_dual, map);
	return st;
}

kdr_status kdri_check_costs(kdr_context *ctx, const double *cost, int64_t rows, int64_t cols)
{
	int64_t all;
	if (rows < 0 || cols < 0)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT,
		                 "assignment: %lld x %lld costs; sizes must not be negative", (long long)rows,
		                 (long long)cols);
	kdr_status st = kdri_mul(ctx, rows, cols, &all);
	if (st != KDR_OK)
		return st;
	/* Below 1e300 the solvers' sums of costs cannot overflow. */
	for (int64_t k = 0; k < all; k++)
		if (!(fabs(cost[k]) <= 1e300))
			return kdri_fail(
			        ctx, KDR_ERR_DATA,
			        "assignment: the cost in row %lld, column %lld is %g; use finite numbers up to 1e300",
			        (long long)(k / cols) + 1, (long long)(k % cols) + 1, cost[k]);
	return KDR_OK;
}

kdr_status kdri_assign_checked(kdr_context *ctx, const double *cost, int64_t rows, int64_t cols,
                               int64_t *row_to_col, double *total)
{
	if (!cost || !row_to_col)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT, "assignment: an argument is NULL");
	KDRI_DO(kdri_check_costs(ctx, cost, rows, cols));
	KDRI_DO(kdri_assign(ctx, cost, rows, cols, row_to_col, NULL, NULL));
	if (total) {
		double sum = 0;
		for (int64_t i = 0; i < rows; i++)
			if (row_to_col[i] >= 0)
				sum += cost[i * cols + row_to_col[i]];
		*total = sum;
	}
	return KDR_OK;
}

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
	m->u[row] -= m->best; /* (E5) */
	for (int64_t f = 0; f < m->finished_count; f++) {
		int64_t j = m->finished[f], move = m->best - m->distance[j];
		m->v[j] += move;
		m->u[m->row_of[j]] -= move;
	}
	int64_t j = m->best_col;
	if (m->best_drop >= 0)
		m->col_of[m->best_drop] = -1;
	while (j >= 0) {
		int64_t r = m->from[j], next = m->col_of[r]; /* the row that entered has none */
		m->row_of[j] = r;
		m->col_of[r] = j;
		j = next;
	}
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
	/* (E4): the dual value is the weight of the matching. */
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
