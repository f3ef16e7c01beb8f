/* Code shared by the scores: compact labels, sparse contingency tables, and the assignment solvers with their duals.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_METRICS_H
#define KDRI_METRICS_H

#include "api/method.h"

/* --- scores.c ---------------------------------------------------------------------------- */

/* codes[i] is the rank of labels[i] among the distinct labels in increasing order. *values (owned by the caller; may be
 * NULL) are those labels, *count is their number. O(n). */
kdr_status kdri_labels_compact(kdr_context *ctx, const int64_t *labels, int64_t n, int64_t *codes,
                               int64_t **values, int64_t *count);

/* The same of the labels of all ranks, which are not negative; *values is wanted. */
kdr_status kdri_labels_compact_all(kdr_context *ctx, const int64_t *labels, int64_t n, int64_t *codes,
                                   int64_t **values, int64_t *count);

/* Counts by (row, column) in compressed rows: only non-empty cells are stored, so that partitions into singletons cost
 * O(n) and not O(n^2). Columns increase within a row; no row or column is empty. */
typedef struct kdri_table {
	int64_t n, rows, cols, cells;
	int64_t *row_label, *col_label; /* the compacted labels, increasing */
	int64_t *row_total, *col_total;
	int64_t *rowptr, *col, *count; /* rows + 1, cells, cells */
} kdri_table;

/* Rows are the distinct values of `a`, columns those of `b`. Refuses n < 1. */
kdr_status kdri_table_new(kdr_context *ctx, const int64_t *a, const int64_t *b, int64_t n, kdri_table *out);
void kdri_table_free(kdr_context *ctx, kdri_table *t);

/* --- scores.c ------------------------------------------------------------------------------- */

/* Only the nmi of kdr_evaluate, without the assignment that acc needs. */
kdr_status kdri_nmi(kdr_context *ctx, const int64_t *a, const int64_t *b, int64_t n, double *out);
/* The same from a table of counts, rows x cols: rows and columns of zeros are ignored. */
kdr_status kdri_nmi_counts(kdr_context *ctx, const int64_t *counts, int64_t rows, int64_t cols, double *out);
/* kdr_evaluate from such a table. */
kdr_status kdri_evaluate_counts(kdr_context *ctx, const int64_t *counts, int64_t rows, int64_t cols,
                                kdr_scores *out);

/* --- silhouette.c --------------------------------------------------------------------------- */

/* Simplified silhouettes, over the rows of all ranks, and for each sample the other cluster whose centroid is nearest; -1 where each sample is alone
 * in its cluster. */
kdr_status kdri_silhouette_next(kdr_context *ctx, const kdr_mat *x, const int64_t *labels, double *values,
                                int64_t *next);

/* --- assign.c -------------------------------------------------------------------------------- */

/* The largest number of samples that a one-to-one map of rows to columns can cover. */
kdr_status kdri_match(kdr_context *ctx, const kdri_table *t, int64_t *covered);

/* --- assign.c ------------------------------------------------------------------------------- */

/* kdri_assign_checked without the checks, and with the duals: u_i + v_j <= cost_ij, equal where i is assigned
 * to j; the unassigned lines (of the longer side) have dual 0 and all of that side are <= 0. u and v
 * may be NULL. */
kdr_status kdri_assign(kdr_context *ctx, const double *cost, int64_t rows, int64_t cols, int64_t *row_to_col,
                       double *u, double *v);
/* KDR_ERR_ARGUMENT or KDR_ERR_DATA unless the costs are rows x cols finite numbers. */
kdr_status kdri_check_costs(kdr_context *ctx, const double *cost, int64_t rows, int64_t cols);

/* --- transport.c -------------------------------------------------------------------------------- */

/* --- transport.c ------------------------------------------------------------------------------ */

/* --- mmd.c ---------------------------------------------------------------------------------- */

/* Maximum mean discrepancies, squared and biased; >= 0. */
typedef struct kdri_mmd_value {
	double linear;    /* kernel <a, b>: the squared distance of the means */
	double gaussian;  /* kernel exp(-|a - b|^2 / (2 bandwidth^2)) */
	double bandwidth; /* the median distance of two pooled rows; 0: all rows are equal */
	bool sampled;     /* the bandwidth is computed from a fixed sample of the rows */
} kdri_mmd_value;
/* Of the rows of x and y, which must have equally many columns. O(n^2) time, O(n) memory in addition to a copy of the
 * rows; sparse rows stay sparse. */
kdr_status kdri_mmd(kdr_context *ctx, const kdr_mat *x, const kdr_mat *y, kdri_mmd_value *out);
/* Only the linear one, O(nnz). */
kdr_status kdri_mmd_linear(kdr_context *ctx, const kdr_mat *x, const kdr_mat *y, double *out);

/* --- sums ----------------------------------------------------------------------------------- */

/* A compensated sum (Neumaier 1974). */
typedef struct kdri_neumaier {
	double value, lost;
} kdri_neumaier;

static inline void kdri_neumaier_add(kdri_neumaier *s, double x)
{
	double t = s->value + x;
	s->lost += fabs(s->value) >= fabs(x) ? (s->value - t) + x : (x - t) + s->value;
	s->value = t;
}

static inline double kdri_neumaier_value(const kdri_neumaier *s)
{
	return s->value + s->lost;
}

/* Minimum-cost assignment of rows to columns, rows x cols costs in row-major order. row_to_col[i]
 * is the column of row i, or -1 (rows > cols). Costs must be finite. */
kdr_status kdri_assign_checked(kdr_context *ctx, const double *cost, int64_t rows, int64_t cols,
                               int64_t *row_to_col, double *total);

/* Transportation problem: min sum cost_ij flow_ij with row sums `supply` and column sums `demand`
 * (positive or zero, equal totals to 1e-9 relative). `flow` is rows x cols; the dual potentials u
 * (rows), v (cols) satisfy u_i + v_j <= cost_ij and may be NULL, as may `total`. */
kdr_status kdri_transport(kdr_context *ctx, const double *cost, int64_t rows, int64_t cols,
                          const double *supply, const double *demand, double *flow, double *u, double *v,
                          double *total);

/* Writes one value per sample to `values` (may be NULL) and their mean to `mean` (may be NULL). A sample alone in its
 * cluster has 0. Needs at least two clusters. */
kdr_status kdri_silhouette(kdr_context *ctx, const kdr_mat *x, const int64_t *labels,
                           kdr_silhouette_kind kind, double *values, double *mean);

#endif
