/* Sums over the columns of some rows. SPDX-License-Identifier: BSD-3-Clause
 *
 * Threads take ranges of columns instead of rows: each sum is then made by one thread, in the order of the rows. A range
 * of dense columns is added up in local memory, because neighbouring threads would otherwise write to the same cache lines. */
#include "jobs/column_sums.h"
#include "matrix/linalg.h"

/* The number of columns of a dense range: at most WIDTH; fewer than a cache line's are not worth a thread. */
enum { WIDTH = 64, LEAST_WIDTH = 8 };

typedef struct dense_sums {
	double sum[WIDTH], square[WIDTH], present[WIDTH], missing[WIDTH], other[WIDTH];
} dense_sums;

static void add_values(const double *v, int64_t n, const kdri_column_sums *to, dense_sums *s)
{
	for (int64_t j = 0; j < n; j++)
		s->sum[j] += v[j];
	for (int64_t j = 0; j < n && to->square; j++)
		s->square[j] += v[j] * v[j];
	for (int64_t j = 0; j < n && to->present; j++)
		s->present[j] += v[j] != 0;
}

/* A sum that begins with 0 does not change if 0 is added instead of nothing. */
static void add_known(const double *v, int64_t n, const kdri_column_sums *to, dense_sums *s)
{
	for (int64_t j = 0; j < n; j++) {
		const bool known = !isnan(v[j]);
		s->sum[j] += known ? v[j] : 0;
		s->square[j] += known ? v[j] * v[j] : 0;
		s->missing[j] += !known;
	}
	for (int64_t j = 0; j < n && to->other; j++)
		s->other[j] += v[j] != 0 && v[j] != 1 && !isnan(v[j]);
}

static void take_sums(double *to, const double *from, int64_t n)
{
	for (int64_t j = 0; to && j < n; j++)
		to[j] = from[j];
}

static void load_sums(double *to, const double *from, int64_t n)
{
	for (int64_t j = 0; j < n; j++)
		to[j] = from ? from[j] : 0;
}

/* A part of the columns, from `first`. */
static kdri_column_sums sums_from(const kdri_column_sums *all, int64_t first)
{
	return (kdri_column_sums){ .sum = all->sum + first,
		                   .square = all->square ? all->square + first : NULL,
		                   .present = all->present ? all->present + first : NULL,
		                   .missing = all->missing ? all->missing + first : NULL,
		                   .other = all->other ? all->other + first : NULL };
}

static void add_dense(const kdr_dense *x, const int64_t *rows, int64_t count, int64_t first, int64_t end,
                      const kdri_column_sums *all)
{
	const int64_t n = end - first;
	const kdri_column_sums to = sums_from(all, first);
	dense_sums s;
	load_sums(s.sum, to.sum, n);
	load_sums(s.square, to.square, n);
	load_sums(s.present, to.present, n);
	load_sums(s.missing, to.missing, n);
	load_sums(s.other, to.other, n);
	for (int64_t i = 0; i < count; i++)
		(to.missing ? add_known : add_values)(x->data + (rows ? rows[i] : i) * x->stride + first, n,
		                                      &to, &s);
	take_sums(to.sum, s.sum, n);
	take_sums(to.square, s.square, n);
	take_sums(to.present, s.present, n);
	take_sums(to.missing, s.missing, n);
	take_sums(to.other, s.other, n);
}

/* The first entry of a row at or after a column. */
static int64_t entry_at(const kdri_entries *r, int64_t column)
{
	int64_t low = 0, high = r->count;
	while (low < high) {
		const int64_t middle = low + (high - low) / 2;
		if (r->col[middle] < column)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void add_sparse(const kdr_mat *x, const int64_t *rows, int64_t count, int64_t first, int64_t end,
                       const kdri_column_sums *to)
{
	for (int64_t i = 0; i < count; i++) {
		const kdri_entries r = kdri_row_entries(x, rows ? rows[i] : i);
		for (int64_t p = first > 0 ? entry_at(&r, first) : 0; p < r.count && r.col[p] < end; p++) {
			const int64_t j = r.col[p];
			if (to->missing && isnan(r.val[p])) {
				to->missing[j]++;
				continue;
			}
			to->sum[j] += r.val[p];
			if (to->square)
				to->square[j] += r.val[p] * r.val[p];
			if (to->present)
				to->present[j] += r.val[p] != 0;
		}
	}
}

void kdri_column_sums_add(kdr_context *ctx, const kdr_mat *x, const int64_t *rows, int64_t count,
                          const kdri_column_sums *to)
{
	const bool dense = x->kind == KDR_MAT_DENSE;
	const int64_t cols = kdr_mat_cols(x);
	const int64_t least = dense ? (cols + WIDTH - 1) / WIDTH : 1;
	const int64_t parts = KDRI_MAX(least, KDRI_MIN(kdri_team(ctx), cols / LEAST_WIDTH));
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic) if (count > 1 << 8)
	for (int64_t p = 0; p < parts; p++) {
		const int64_t first = cols * p / parts, end = cols * (p + 1) / parts;
		if (dense)
			add_dense(&x->as.dense, rows, count, first, end, to);
		else
			add_sparse(x, rows, count, first, end, to);
	}
}
