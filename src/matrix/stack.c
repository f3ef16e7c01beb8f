/* Matrices made from others: stacked, transposed, rows taken. SPDX-License-Identifier: BSD-3-Clause */
#include "comm/comm.h"
#include "matrix/linalg.h"

void kdri_own_free(kdr_context *ctx, kdri_own *m)
{
	if (!m)
		return;
	for (int i = 0; i < 3; i++)
		kdri_free(ctx, m->parts[i]);
	*m = (kdri_own){ .view = kdr_mat_from_dense(NULL, 0, 0) };
}

kdri_own kdri_own_csr(int64_t rows, int64_t cols, int64_t **rowptr, int32_t **col, double **val)
{
	kdri_own m = { kdr_mat_from_csr(rows, cols, *rowptr, *col, *val), { *rowptr, *col, *val } };
	*rowptr = NULL;
	*col = NULL;
	*val = NULL;
	return m;
}

/* Owned storage for a dense matrix; *data is its writable face. */
static kdr_status own_dense(kdr_context *ctx, int64_t rows, int64_t cols, kdri_own *out, double **data)
{
	int64_t size;
	kdr_status st = kdri_mul(ctx, rows, cols, &size);
	if (st == KDR_OK)
		st = KDRI_NEW(ctx, data, size);
	if (st == KDR_OK)
		*out = (kdri_own){ kdr_mat_from_dense(*data, rows, cols), { *data, NULL, NULL } };
	return st;
}

bool kdri_copies_begin(kdr_context *ctx, const kdr_mat *const *parts, int64_t count)
{
	bool wanted = kdri_spool_on(ctx);
	for (int64_t t = 0; t < count && !wanted; t++)
		wanted = kdri_spooled(parts[t]->kind == KDR_MAT_DENSE ? (const void *)parts[t]->as.dense.data
		                                                      : (const void *)parts[t]->as.csr.val);
	return kdri_spool_begin(ctx, wanted);
}

typedef struct csr_storage {
	int64_t *rowptr;
	int32_t *col;
	double *val;
} csr_storage;

/* Owned storage for a sparse matrix with `nnz` entries. */
static kdr_status own_csr(kdr_context *ctx, int64_t rows, int64_t cols, int64_t nnz, kdri_own *out,
                          csr_storage *s)
{
	kdr_status st;
	*s = (csr_storage){ NULL, NULL, NULL };
	if (cols > INT32_MAX)
		return kdri_fail(ctx, KDR_ERR_SIZE,
		                 "%lld columns are too many; a sparse matrix can have at most %d",
		                 (long long)cols, INT32_MAX);
	KDRI_TRY(KDRI_NEW(ctx, &s->rowptr, rows + 1));
	KDRI_TRY(KDRI_NEW(ctx, &s->col, nnz));
	KDRI_TRY(KDRI_NEW(ctx, &s->val, nnz));
	*out = (kdri_own){ kdr_mat_from_csr(rows, cols, s->rowptr, s->col, s->val),
		           { s->rowptr, s->col, s->val } };
	return KDR_OK;
done:
	KDRI_FREE(ctx, s->rowptr, s->col);
	return st;
}

/* --- storage by content ------------------------------------------------------------------------- */

static kdr_status own_dense_of(kdr_context *ctx, const kdr_mat *x, kdri_own *out)
{
	double *to = NULL;
	int64_t n = kdr_mat_rows(x), d = kdr_mat_cols(x);
	kdr_status st = own_dense(ctx, n, d, out, &to);
	for (int64_t i = 0; st == KDR_OK && i < n; i++) {
		kdri_entries r = kdri_row_entries(x, i);
		memset(to + i * d, 0, (size_t)d * sizeof *to);
		for (int64_t p = 0; p < r.count; p++)
			to[i * d + kdri_entry_column(&r, p)] += r.val[p];
	}
	return st;
}

static kdr_status own_csr_of(kdr_context *ctx, const kdr_mat *x, int64_t nonzero, kdri_own *out)
{
	csr_storage s;
	int64_t n = kdr_mat_rows(x), at = 0;
	kdr_status st = own_csr(ctx, n, kdr_mat_cols(x), nonzero, out, &s);
	for (int64_t i = 0; st == KDR_OK && i < n; i++) {
		kdri_entries r = kdri_row_entries(x, i);
		s.rowptr[i] = at;
		for (int64_t p = 0; p < r.count; p++)
			if (r.val[p] != 0) {
				s.col[at] = (int32_t)kdri_entry_column(&r, p);
				s.val[at++] = r.val[p];
			}
	}
	if (st == KDR_OK)
		s.rowptr[n] = at;
	return st;
}

bool kdri_stored_dense(double nonzero, double rows, double cols)
{
	return nonzero >= 0.1 * rows * cols;
}

kdr_status kdri_mat_by_content(kdr_context *ctx, const kdr_mat *x, kdri_own *out)
{
	int64_t n = kdr_mat_rows(x), nonzero = 0;
	for (int64_t i = 0; i < n; i++) {
		kdri_entries r = kdri_row_entries(x, i);
		for (int64_t p = 0; p < r.count; p++)
			nonzero += r.val[p] != 0;
	}
	const bool dense = kdri_stored_dense((double)nonzero, (double)n, (double)kdr_mat_cols(x));
	*out = (kdri_own){ .view = *x };
	if (dense == (x->kind == KDR_MAT_DENSE))
		return KDR_OK;
	return dense ? own_dense_of(ctx, x, out) : own_csr_of(ctx, x, nonzero, out);
}

/* --- a part ------------------------------------------------------------------------------------- */

kdr_status kdri_rows_own(kdr_context *ctx, const kdr_mat *x, int64_t begin, int64_t end, kdri_own *out)
{
	const kdr_mat part = kdri_rows(x, begin, end);
	int64_t n = end - begin, *rowptr = NULL, first = part.kind == KDR_MAT_CSR ? part.as.csr.rowptr[0] : 0;
	if (first == 0) {
		*out = (kdri_own){ .view = part };
		return KDR_OK;
	}
	KDRI_DO(KDRI_NEW(ctx, &rowptr, n + 1));
	for (int64_t i = 0; i <= n; i++)
		rowptr[i] = part.as.csr.rowptr[i] - first;
	*out = (kdri_own){ kdr_mat_from_csr(n, kdr_mat_cols(x), rowptr, part.as.csr.col + first,
		                            part.as.csr.val + first),
		           { rowptr } };
	return KDR_OK;
}

/* --- rows below each other ------------------------------------------------------------------ */

static int64_t count_nonzeros(const kdr_dense *a)
{
	int64_t n = 0;
	for (int64_t i = 0; i < a->rows; i++)
		for (int64_t j = 0; j < a->cols; j++)
			n += a->data[i * a->stride + j] != 0;
	return n;
}

static void append_dense(const kdr_dense *a, int64_t row, csr_storage *s)
{
	int64_t at = s->rowptr[row];
	for (int64_t i = 0; i < a->rows; i++) {
		const double *v = a->data + i * a->stride;
		for (int64_t j = 0; j < a->cols; j++)
			if (v[j] != 0) {
				s->col[at] = (int32_t)j;
				s->val[at++] = v[j];
			}
		s->rowptr[row + i + 1] = at;
	}
}

static void append_csr(const kdr_csr *a, int64_t row, csr_storage *s)
{
	int64_t at = s->rowptr[row], first = a->rowptr[0], nnz = a->rowptr[a->rows] - first;
	for (int64_t i = 0; i < a->rows; i++)
		s->rowptr[row + i + 1] = at + a->rowptr[i + 1] - first;
	if (nnz > 0) {
		memcpy(s->col + at, a->col + first, (size_t)nnz * sizeof *s->col);
		memcpy(s->val + at, a->val + first, (size_t)nnz * sizeof *s->val);
	}
}

static void copy_row(const double *from, double *to, int64_t n)
{
	if (n > 0)
		memcpy(to, from, (size_t)n * sizeof *to);
}

static kdr_status stack(kdr_context *ctx, const kdr_mat *const *parts, int64_t count, kdri_own *out)
{
	int64_t rows = 0, cols = count > 0 ? kdr_mat_cols(parts[0]) : 0, nnz = 0, at = 0;
	bool sparse = false;
	for (int64_t t = 0; t < count; t++) {
		if (kdr_mat_cols(parts[t]) != cols)
			return kdri_fail(
			        ctx, KDR_ERR_DATA,
			        "matrix %lld has %lld columns, but the first has %lld; only matrices with equally many columns can be stacked",
			        (long long)t + 1, (long long)kdr_mat_cols(parts[t]), (long long)cols);
		rows += kdr_mat_rows(parts[t]);
		sparse = sparse || parts[t]->kind == KDR_MAT_CSR;
	}
	if (!sparse) {
		double *data = NULL;
		KDRI_DO(own_dense(ctx, rows, cols, out, &data));
		for (int64_t t = 0; t < count; t++) {
			const kdr_dense *a = &parts[t]->as.dense;
#pragma omp parallel for num_threads(kdri_team(ctx)) if (a->rows * cols > 1 << 14)
			for (int64_t i = 0; i < a->rows; i++)
				copy_row(a->data + i * a->stride, data + (at + i) * cols, cols);
			at += a->rows;
		}
		return KDR_OK;
	}
	for (int64_t t = 0; t < count; t++) {
		const kdr_csr *a = &parts[t]->as.csr;
		nnz += parts[t]->kind == KDR_MAT_DENSE ? count_nonzeros(&parts[t]->as.dense)
		                                       : a->rowptr[a->rows] - a->rowptr[0];
	}
	csr_storage s;
	KDRI_DO(own_csr(ctx, rows, cols, nnz, out, &s));
	s.rowptr[0] = 0;
	for (int64_t t = 0; t < count; t++) {
		if (parts[t]->kind == KDR_MAT_DENSE)
			append_dense(&parts[t]->as.dense, at, &s);
		else
			append_csr(&parts[t]->as.csr, at, &s);
		at += kdr_mat_rows(parts[t]);
	}
	return KDR_OK;
}

kdr_status kdri_mat_stack(kdr_context *ctx, const kdr_mat *const *parts, int64_t count, kdri_own *out)
{
	bool before = kdri_copies_begin(ctx, parts, count);
	kdr_status st = stack(ctx, parts, count, out);
	kdri_spool_begin(ctx, before);
	return st;
}

/* --- some of the rows ----------------------------------------------------------------------- */

static kdr_status stack_take(kdr_context *ctx, const kdr_mat *x, const int64_t *rows, int64_t n,
                             kdri_own *out)
{
	int64_t cols = kdr_mat_cols(x);
	for (int64_t i = 0; i < n; i++)
		if (rows[i] < 0 || rows[i] >= kdr_mat_rows(x))
			return kdri_fail(ctx, KDR_ERR_ARGUMENT,
			                 "row %lld does not exist; the matrix has %lld rows",
			                 (long long)rows[i] + 1, (long long)kdr_mat_rows(x));
	if (x->kind == KDR_MAT_DENSE) {
		double *data = NULL;
		KDRI_DO(own_dense(ctx, n, cols, out, &data));
#pragma omp parallel for num_threads(kdri_team(ctx)) if (n * cols > 1 << 14)
		for (int64_t i = 0; i < n; i++)
			copy_row(x->as.dense.data + rows[i] * x->as.dense.stride, data + i * cols, cols);
		return KDR_OK;
	}
	const kdr_csr *a = &x->as.csr;
	int64_t nnz = 0;
	for (int64_t i = 0; i < n; i++)
		nnz += a->rowptr[rows[i] + 1] - a->rowptr[rows[i]];
	csr_storage s;
	KDRI_DO(own_csr(ctx, n, cols, nnz, out, &s));
	s.rowptr[0] = 0;
	for (int64_t i = 0; i < n; i++) {
		kdr_csr one = { 1, cols, a->rowptr + rows[i], a->col, a->val };
		append_csr(&one, i, &s);
	}
	return KDR_OK;
}

kdr_status kdri_mat_take(kdr_context *ctx, const kdr_mat *x, const int64_t *rows, int64_t n, kdri_own *out)
{
	bool before = kdri_copies_begin(ctx, &x, 1);
	kdr_status st = stack_take(ctx, x, rows, n, out);
	kdri_spool_begin(ctx, before);
	return st;
}

/* --- transposed ----------------------------------------------------------------------------- */

/* Tiles of 32 x 32 doubles: 16 KiB in and out, so that both stay in the first cache. A thread takes the tiles of HEIGHT rows at once:
 * data with few columns have few panels of tiles. */
enum { TILE = 32, HEIGHT = 64 * TILE };

static void transpose_dense(kdr_context *ctx, const kdr_dense *a, double *out)
{
	const int64_t panels = (a->cols + TILE - 1) / TILE, heights = (a->rows + HEIGHT - 1) / HEIGHT;
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic) if (a->rows * a->cols > 1 << 16)
	for (int64_t u = 0; u < panels * heights; u++) {
		const int64_t j0 = u / heights * TILE, j1 = KDRI_MIN(a->cols, j0 + TILE);
		const int64_t begin = u % heights * HEIGHT, end = KDRI_MIN(a->rows, begin + HEIGHT);
		for (int64_t i0 = begin; i0 < end; i0 += TILE) {
			const int64_t i1 = KDRI_MIN(end, i0 + TILE);
			for (int64_t j = j0; j < j1; j++)
				for (int64_t i = i0; i < i1; i++)
					out[j * a->rows + i] = a->data[i * a->stride + j];
		}
	}
}

static kdr_status stack_transpose(kdr_context *ctx, const kdr_mat *x, kdri_own *out)
{
	int64_t rows = kdr_mat_rows(x), cols = kdr_mat_cols(x);
	if (x->kind == KDR_MAT_DENSE) {
		double *data = NULL;
		KDRI_DO(own_dense(ctx, cols, rows, out, &data));
		transpose_dense(ctx, &x->as.dense, data);
	} else {
		const kdr_csr *a = &x->as.csr;
		csr_storage s;
		KDRI_DO(own_csr(ctx, cols, rows, a->rowptr[a->rows] - a->rowptr[0], out, &s));
		/* Counting sort by column; rows are visited in order, so the new columns increase. */
		memset(s.rowptr, 0, (size_t)(a->cols + 1) * sizeof *s.rowptr);
		for (int64_t p = a->rowptr[0]; p < a->rowptr[a->rows]; p++)
			s.rowptr[a->col[p] + 1]++;
		for (int64_t j = 0; j < a->cols; j++)
			s.rowptr[j + 1] += s.rowptr[j];
		for (int64_t i = 0; i < a->rows; i++)
			for (int64_t p = a->rowptr[i]; p < a->rowptr[i + 1]; p++) {
				int64_t at = s.rowptr[a->col[p]]++;
				s.col[at] = (int32_t)i;
				s.val[at] = a->val[p];
			}
		/* Every pointer is now at the beginning of the next row: move them back by one. */
		memmove(s.rowptr + 1, s.rowptr, (size_t)a->cols * sizeof *s.rowptr);
		s.rowptr[0] = 0;
	}
	return KDR_OK;
}

kdr_status kdri_mat_transpose(kdr_context *ctx, const kdr_mat *x, kdri_own *out)
{
	bool before = kdri_copies_begin(ctx, &x, 1);
	kdr_status st = stack_transpose(ctx, x, out);
	kdri_spool_begin(ctx, before);
	return st;
}

/* Copies some rows of all ranks to every rank.
 *
 * A row is on one rank and the others add zeros, so the sum is exact. Sparse rows stay sparse: their lengths are
 * exchanged first, then their entries. */

static kdr_status share_dense(kdr_context *ctx, const kdr_dense *x, const int64_t *here, int64_t n,
                              kdri_own *out)
{
	kdr_status st;
	double *to = NULL;
	int64_t size;
	KDRI_TRY(kdri_mul(ctx, n, x->cols, &size));
	KDRI_TRY(KDRI_NEW0(ctx, &to, size));
	for (int64_t i = 0; i < n; i++)
		if (here[i] >= 0)
			memcpy(to + i * x->cols, x->data + here[i] * x->stride, (size_t)x->cols * sizeof *to);
	KDRI_TRY(kdri_sum(ctx, to, size));
	*out = (kdri_own){ kdr_mat_from_dense(to, n, x->cols), { to } };
	to = NULL;
done:
	kdri_free(ctx, to);
	return st;
}

static kdr_status share_sparse(kdr_context *ctx, const kdr_csr *x, const int64_t *here, int64_t n,
                               kdri_own *out)
{
	kdr_status st;
	int64_t *rowptr = NULL, *wide = NULL;
	int32_t *col = NULL;
	double *val = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &rowptr, n + 1));
	for (int64_t i = 0; i < n; i++)
		if (here[i] >= 0)
			rowptr[i + 1] = x->rowptr[here[i] + 1] - x->rowptr[here[i]];
	KDRI_TRY(kdri_sum_int(ctx, rowptr, n + 1));
	for (int64_t i = 0; i < n; i++)
		rowptr[i + 1] += rowptr[i];
	KDRI_TRY(KDRI_NEW(ctx, &col, rowptr[n]));
	KDRI_TRY(KDRI_NEW0(ctx, &wide, rowptr[n]));
	KDRI_TRY(KDRI_NEW0(ctx, &val, rowptr[n]));
	for (int64_t i = 0; i < n; i++)
		for (int64_t p = rowptr[i]; here[i] >= 0 && p < rowptr[i + 1]; p++) {
			int64_t from = x->rowptr[here[i]] + p - rowptr[i];
			wide[p] = x->col[from];
			val[p] = x->val[from];
		}
	KDRI_TRY(kdri_sum_int(ctx, wide, rowptr[n]));
	KDRI_TRY(kdri_sum(ctx, val, rowptr[n]));
	for (int64_t p = 0; p < rowptr[n]; p++)
		col[p] = (int32_t)wide[p];
	*out = kdri_own_csr(n, x->cols, &rowptr, &col, &val);
done:
	KDRI_FREE(ctx, rowptr, wide, col, val);
	return st;
}

kdr_status kdri_mat_share(kdr_context *ctx, const kdr_mat *x, const int64_t *here, int64_t n, kdri_own *out)
{
	return x->kind == KDR_MAT_DENSE ? share_dense(ctx, &x->as.dense, here, n, out)
	                                : share_sparse(ctx, &x->as.csr, here, n, out);
}

kdr_status kdri_mat_take_all(kdr_context *ctx, const kdr_mat *x, const int64_t *rows, int64_t n,
                             kdri_own *out)
{
	kdr_status st;
	int64_t *here = NULL, start, all, own = kdr_mat_rows(x);
	if (!kdri_together(ctx))
		return kdri_mat_take(ctx, x, rows, n, out);
	KDRI_TRY(KDRI_NEW(ctx, &here, n));
	KDRI_TRY(kdri_part(ctx, own, &start, &all));
	for (int64_t i = 0; i < n; i++)
		here[i] = rows[i] >= start && rows[i] < start + own ? rows[i] - start : -1;
	KDRI_TRY(kdri_mat_share(ctx, x, here, n, out));
done:
	kdri_free(ctx, here);
	return st;
}
