/* The table of operations on host memory: sparse rows. SPDX-License-Identifier: BSD-3-Clause
 *
 * Equations are those of device.h. */
#include "matrix/host.h"

#include "matrix/linalg.h"

bool kdri_host_csr(kdri_device *d, const char *name, kdri_dcsr x, kdr_csr *out)
{
	out->rows = x.rows;
	out->cols = x.cols;
	out->rowptr = kdri_host_vector(d, name, x.rowptr, x.rows + 1, sizeof(int64_t));
	out->col = kdri_host_vector(d, name, x.col, x.entries, sizeof(int32_t));
	out->val = kdri_host_vector(d, name, x.val, x.entries, sizeof(double));
	return out->rowptr && out->col && out->val;
}

static kdri_dstatus host_multiply(kdri_device *d, kdri_dcsr x, kdri_dmat b, bool add, kdri_dmat y)
{
	kdr_csr m = { 0 };
	KDRI_HOST_ENTER(d, "multiply");
	const double *from = kdri_host_view(d, "multiply", b);
	double *to = kdri_host_view(d, "multiply", y);
	KDRI_HOST_NEED(kdri_host_csr(d, "multiply", x, &m) && from && to);
	if (b.rows != x.cols || y.rows != x.rows || y.cols != b.cols)
		return kdri_host_misfit(d, "multiply");
	for (int64_t i = 0; i < m.rows; i++) { /* (E14) */
		double *row = to + i * y.stride;
		if (!add)
			memset(row, 0, (size_t)y.cols * sizeof *row);
		for (int64_t p = m.rowptr[i]; p < m.rowptr[i + 1]; p++)
			kdri_axpy(m.val[p], from + m.col[p] * b.stride, row, y.cols);
	}
	return KDRI_D_OK;
}

static kdri_dstatus host_spread(kdri_device *d, kdri_dcsr x, int64_t first, const kdri_buf *weight,
                                bool transposed, kdri_dmat to)
{
	kdr_csr m = { 0 };
	KDRI_HOST_ENTER(d, "spread");
	int64_t rows = transposed ? to.cols : to.rows;
	double *t = kdri_host_view(d, "spread", to);
	KDRI_HOST_NEED(kdri_host_csr(d, "spread", x, &m) && t);
	const double *w = weight ? kdri_host_vector(d, "spread", weight, x.cols, sizeof *w) : NULL;
	KDRI_HOST_NEED(!weight || w);
	if (first < 0 || first + rows > x.rows || (transposed ? to.rows : to.cols) != x.cols)
		return kdri_host_misfit(d, "spread");
	for (int64_t i = 0; i < to.rows; i++)
		memset(t + i * to.stride, 0, (size_t)to.cols * sizeof *t);
	for (int64_t i = 0; i < rows; i++) /* (E15) */
		for (int64_t p = m.rowptr[first + i]; p < m.rowptr[first + i + 1]; p++) {
			double v = m.val[p] * (w ? w[m.col[p]] : 1);
			t[transposed ? m.col[p] * to.stride + i : i * to.stride + m.col[p]] = v;
		}
	return KDRI_D_OK;
}

static kdri_dstatus host_nearest_sparse(kdri_device *d, kdri_dcsr x, kdri_dmat c, const kdri_buf *offset,
                                        const kdri_buf *twice, const kdri_buf *norm, double error_row,
                                        double error_base, kdri_buf *label, kdri_buf *value, kdri_buf *doubt,
                                        int64_t *doubts)
{
	kdri_host *h = d->self;
	kdri_host_near to;
	kdr_csr m = { 0 };
	double *dots = NULL;
	KDRI_HOST_ENTER(d, "nearest_sparse");
	const double *q = kdri_host_view(d, "nearest_sparse", c);
	KDRI_HOST_NEED(q && kdri_host_csr(d, "nearest_sparse", x, &m) &&
	               kdri_host_nearest_of(d, x.rows, c.cols, offset, twice, norm, error_row, error_base,
	                                    label, value, doubt, &to));
	if (c.rows != x.cols)
		return kdri_host_misfit(d, "nearest_sparse");
	kdr_status st = KDRI_NEW(h->ctx, &dots, c.cols);
	for (int64_t i = 0; st == KDR_OK && i < m.rows; i++) { /* (E17) */
		memset(dots, 0, (size_t)c.cols * sizeof *dots);
		for (int64_t p = m.rowptr[i]; p < m.rowptr[i + 1]; p++)
			kdri_axpy(m.val[p], q + m.col[p] * c.stride, dots, c.cols);
		kdri_host_nearest_row(&to, i, c.cols, dots);
	}
	*doubts = to.doubts;
	kdri_free(h->ctx, dots);
	return kdri_host_status(d, st);
}

static kdri_dstatus host_sums_sparse(kdri_device *d, kdri_dcsr x, const kdri_buf *list, const int64_t *begin,
                                     const kdri_buf *coef, const kdri_buf *unit, double ratio, bool add,
                                     kdri_dmat sums)
{
	kdr_csr m = { 0 };
	kdri_host_groups g;
	KDRI_HOST_ENTER(d, "sums_sparse");
	KDRI_HOST_NEED(kdri_host_csr(d, "sums_sparse", x, &m) &&
	               kdri_host_vector(d, "sums_sparse", unit, x.cols, sizeof(double)) &&
	               kdri_host_groups_of(d, "sums_sparse", x.rows, x.cols, list, begin, coef, unit, ratio,
	                                   add, sums, &g));
	for (int64_t j = 0; j < sums.rows; j++)
		for (int64_t at = begin[j]; at < begin[j + 1]; at++) { /* (E19) */
			double w;
			int64_t i = kdri_host_listed(&g, at, &w);
			for (int64_t p = m.rowptr[i]; p < m.rowptr[i + 1]; p++)
				kdri_host_add(&g, j, m.col[p], w * m.val[p]);
		}
	return KDRI_D_OK;
}

static kdri_dstatus host_neighbours_sparse(kdri_device *d, kdri_dcsr rows, kdri_dcsr lists, const kdri_nn *nn)
{
	kdri_host *h = d->self;
	kdri_host_lists to;
	kdr_csr a = { 0 }, b = { 0 };
	double *sums = NULL;
	KDRI_HOST_ENTER(d, "neighbours_sparse");
	KDRI_HOST_NEED(kdri_host_csr(d, "neighbours_sparse", rows, &a) &&
	               kdri_host_csr(d, "neighbours_sparse", lists, &b) &&
	               kdri_host_lists_of(d, nn, rows.rows, lists.cols, &to));
	if (rows.cols != lists.rows)
		return kdri_host_misfit(d, "neighbours_sparse");
	kdr_status st = KDRI_NEW(h->ctx, &sums, KDRI_MAX(b.cols, 1));
	for (int64_t r = 0; st == KDR_OK && r < a.rows; r++) {
		memset(sums, 0, (size_t)b.cols * sizeof *sums);
		for (int64_t p = a.rowptr[r]; p < a.rowptr[r + 1]; p++)
			for (int64_t q = b.rowptr[a.col[p]]; q < b.rowptr[a.col[p] + 1]; q++)
				sums[b.col[q]] += a.val[p] * b.val[q];
		for (int64_t q = 0; q < b.cols; q++)
			kdri_host_meet(&to, r, q, sums[q]); /* (E20) */
	}
	kdri_free(h->ctx, sums);
	return kdri_host_status(d, st);
}

void kdri_host_sparse(kdri_device *d)
{
	d->multiply = host_multiply;
	d->spread = host_spread;
	d->nearest_sparse = host_nearest_sparse;
	d->sums_sparse = host_sums_sparse;
	d->neighbours_sparse = host_neighbours_sparse;
}
