/* The transportation problem. SPDX-License-Identifier: BSD-3-Clause
 *
 * (E1) min sum_ij c_ij x_ij, sum_j x_ij = s_i, sum_i x_ij = d_j, x >= 0
 * (E2) max sum_i s_i u_i + sum_j d_j v_j, u_i + v_j <= c_ij
 *
 * The marginals are converted to integer units (units.c), so flows are exact. As many rows as columns, all
 * of the same mass, are an assignment (assign.c); all other problems are solved by the simplex method (simplex.c).
 * Lines without mass are excluded: their duals are computed afterwards, as the largest that (E2) allows. */
#include "engine/metrics/metrics.h"

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
		KDRI_TRY(kdri_simplex(ctx, c, cols, rows, demand, supply, t->flow, v, u));
	else
		KDRI_TRY(kdri_simplex(ctx, c, rows, cols, supply, demand, t->flow, u, v));
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
	KDRI_TRY(kdri_units_find(ctx, supply, rows, demand, cols, &t.units));
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
