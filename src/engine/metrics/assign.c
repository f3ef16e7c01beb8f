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
