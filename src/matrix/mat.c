/* Matrices, dense or sparse, and as operators. SPDX-License-Identifier: BSD-3-Clause
 *
 * Everything here is one pass over the stored entries. Sums over rows are divided into at most KDRI_CHUNKS chunks of
 * rows. Their number depends only on the rows, never on the number of threads. */
/* Matrices as operators.
 *
 * The centred operator never forms X - 1 m' (m the column means), which would be dense:
 *
 *   (E1)  (X - 1 m') B  = X B  - 1 (m' B)
 *   (E2)  (X - 1 m')' B = X' B - m (1' B) */
#include <float.h>

#include "comm/comm.h"
#include "matrix/linalg.h"

/* Sparse times dense.
 *
 * Both products take k, the columns of B, in strips of a width W known to the compiler, so that the
 * strip lives in registers: 32 columns (eight AVX2 registers) while they last, then the largest multiple
 * of four down to 16, then all the rest.
 *
 * X B: the W sums of a row stay in registers while its entries are processed. An entry costs 2 W flops, 12
 * bytes of X and 8 W bytes of B, which are in a cache if cols x k fits; only the finished row is written. Compulsory
 * traffic: 12 nnz + 8 rows + 8 k (rows + cols) bytes.
 *
 * X' B: the W numbers of row i of B stay in registers while the entries (i, j) of the row add to rows j
 * of the output: 2 W flops, 12 bytes of X, and 8 W bytes of Y read and written. Threads own ranges
 * of output rows, that is of columns of X, chosen so that each has about the same number of entries; in each row a
 * binary search finds the start of a range. No memory is needed besides the output. The alternative is to add partial
 * outputs at the end: with 16 chunks it writes 16 cols x k more numbers, which for text (60000 columns, about 150
 * entries per row) is more traffic than the product itself.
 *
 * Rows of a mapped file (core/spool.c) are processed one piece at a time by all threads together, while the next
 * piece is prefetched. By default the kernel reads megabytes before and after each missing page, and if memory is
 * short, most of that is evicted before it is used.
 *
 * Every number of either output is one sum, in increasing column (X B) or row (X' B) order: the
 * association depends neither on the strips nor on the ranges nor on the threads. */

/* Below SERIAL_WORK multiplications the threads are not woken. */
enum { SERIAL_WORK = 1 << 15, WIDEST = 32, AHEAD = 8, PIECE = 1 << 17 /* entries */ };

/* Rows begin..end-1 and columns 0..W-1 of Y = X B. */
typedef void mul_strip(const kdr_csr *x, int64_t begin, int64_t end, const double *b, int64_t ldb, double *y,
                       int64_t ldy);
/* Rows low..high-1 and columns 0..W-1 of Y += X' B. */
typedef void tmul_strip(const kdr_csr *x, int32_t low, int32_t high, const double *b, int64_t ldb, double *y,
                        int64_t ldy);

/* The first of p..end-1 whose column is at least `low`, or end. Without branches, which no processor
 * could predict here. */
static inline int64_t first_from(const int32_t *col, int64_t p, int64_t end, int32_t low)
{
	int64_t left = end - p;
	while (left > 1) {
		int64_t half = left / 2;
		p += col[p + half - 1] < low ? half : 0;
		left -= half;
	}
	return p + (left == 1 && col[p] < low);
}

/* Prefetches the W numbers at `row`: rows of B or Y are visited in an order that the processor cannot predict. AHEAD
 * entries take about as long as the latency of the second-level cache. One to three columns mostly fit into that
 * cache, and the extra instructions would only take time. */
#define PREFETCH(row, W, write) \
	for (int line = 0; line < (W) && (W) > 3; line += 8) \
	__builtin_prefetch((row) + line, (write))

/* A vector register: of AVX2 on x86-64 (without it two of SSE2 take its place, slower), of NEON
 * elsewhere. */
#ifdef __x86_64__
enum { LANES = 4 };
#else
enum { LANES = 2 };
#endif
typedef double lanes __attribute__((vector_size(8 * LANES), aligned(8), may_alias));

/* The kernels for strips of W columns. They use explicit vectors, because compilers do not keep an array of sums in
 * registers across the loop over the entries. */
#define FULL(W) ((W) / LANES)
#define REST(W) ((W) % LANES)
#define KERNELS(W) \
	KDRI_KERNEL \
	static void mul_##W(const kdr_csr *x, int64_t begin, int64_t end, const double *b, int64_t ldb, \
	                    double *y, int64_t ldy) \
	{ \
		const int64_t *rowptr = x->rowptr; \
		const int32_t *col = x->col; \
		const double *val = x->val; \
		const int64_t last = rowptr[end] - 1; \
		for (int64_t i = begin; i < end; i++) { \
			lanes sum[FULL(W) + 1] = { { 0 } }; \
			double rest[REST(W) + 1] = { 0 }; \
			for (int64_t p = rowptr[i]; p < rowptr[i + 1]; p++) { \
				const double v = val[p], *from = b + col[p] * ldb; \
				PREFETCH(b + col[KDRI_MIN(p + AHEAD, last)] * ldb, W, 0); \
				for (int j = 0; j < FULL(W); j++) \
					sum[j] += v * *(const lanes *)(from + LANES * j); \
				for (int j = 0; j < REST(W); j++) \
					rest[j] += v * from[LANES * FULL(W) + j]; \
			} \
			double *to = y + i * ldy; \
			for (int j = 0; j < FULL(W); j++) \
				*(lanes *)(to + LANES * j) = sum[j]; \
			for (int j = 0; j < REST(W); j++) \
				to[LANES * FULL(W) + j] = rest[j]; \
		} \
	} \
	KDRI_KERNEL \
	static void tmul_##W(const kdr_csr *x, int32_t low, int32_t high, const double *b, int64_t ldb, \
	                     double *y, int64_t ldy) \
	{ \
		const int64_t *rowptr = x->rowptr; \
		const int32_t *col = x->col; \
		const double *val = x->val; \
		for (int64_t i = 0; i < x->rows; i++) { \
			lanes row[FULL(W) + 1]; \
			double rest[REST(W) + 1]; \
			int64_t end = rowptr[i + 1], p = first_from(col, rowptr[i], end, low); \
			for (int j = 0; j < FULL(W); j++) \
				row[j] = *(const lanes *)(b + i * ldb + LANES * j); \
			for (int j = 0; j < REST(W); j++) \
				rest[j] = b[i * ldb + LANES * FULL(W) + j]; \
			for (; p < end && col[p] < high; p++) { \
				const double v = val[p]; \
				double *to = y + col[p] * ldy; \
				PREFETCH(y + col[KDRI_MIN(p + AHEAD, end - 1)] * ldy, W, 1); \
				for (int j = 0; j < FULL(W); j++) \
					*(lanes *)(to + LANES * j) += v * row[j]; \
				for (int j = 0; j < REST(W); j++) \
					to[LANES * FULL(W) + j] += v * rest[j]; \
			} \
		} \
	}

/* clang-format off */
KERNELS(1) KERNELS(2) KERNELS(3) KERNELS(4) KERNELS(5) KERNELS(6) KERNELS(7) KERNELS(8)
KERNELS(9) KERNELS(10) KERNELS(11) KERNELS(12) KERNELS(13) KERNELS(14) KERNELS(15) KERNELS(16)
KERNELS(20) KERNELS(24) KERNELS(28) KERNELS(32)

/* By width; the holes are widths that strip_width never gives. */
static mul_strip *const mul_kernels[WIDEST + 1] = {
	NULL,   mul_1,  mul_2,  mul_3,  mul_4,  mul_5,  mul_6,  mul_7,  mul_8, mul_9, mul_10,
	mul_11, mul_12, mul_13, mul_14, mul_15, mul_16, [20] = mul_20, [24] = mul_24, [28] = mul_28, [32] = mul_32,
};
static tmul_strip *const tmul_kernels[WIDEST + 1] = {
	NULL,    tmul_1,  tmul_2,  tmul_3,  tmul_4,  tmul_5,  tmul_6,  tmul_7, tmul_8, tmul_9, tmul_10,
	tmul_11, tmul_12, tmul_13, tmul_14, tmul_15, tmul_16, [20] = tmul_20, [24] = tmul_24, [28] = tmul_28,
	[32] = tmul_32,
};
/* clang-format on */

/* The width of the next strip if `left` columns remain. */
static int strip_width(int64_t left)
{
	return left >= WIDEST ? WIDEST : left > 16 ? (int)(left / 4 * 4) : (int)left;
}

/* Whether X lies in a mapped file and is longer than a piece of it. */
static bool on_disk(const kdr_csr *x)
{
	return x->rowptr[x->rows] - x->rowptr[0] > PIECE && kdri_spooled(x->val);
}

/* The end of the piece that begins at row `begin`. */
static int64_t piece_end(const kdr_csr *x, int64_t begin)
{
	int64_t end = begin, most = x->rowptr[begin] + PIECE;
	while (end < x->rows && (end == begin || x->rowptr[end + 1] <= most))
		end++;
	return end;
}

/* Prefetches the piece that begins at row `begin`. */
static void ask_ahead(const kdr_csr *x, int64_t begin)
{
	int64_t from = x->rowptr[begin], count = x->rowptr[piece_end(x, begin)] - from;
	kdri_spool_ahead(x->col + from, (size_t)count * sizeof *x->col);
	kdri_spool_ahead(x->val + from, (size_t)count * sizeof *x->val);
}

static void mul_rows(kdr_context *ctx, const kdr_csr *x, int64_t first, int64_t last, const double *b,
                     int64_t k, int64_t ldb, double *y, int64_t ldy)
{
	int64_t blocks = (last - first + KDRI_BLOCK - 1) / KDRI_BLOCK;
	int64_t work = (x->rowptr[last] - x->rowptr[first] + last - first) * k;
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic) if (work > SERIAL_WORK)
	for (int64_t block = 0; block < blocks; block++) {
		int64_t begin = first + block * KDRI_BLOCK, end = KDRI_MIN(last, begin + KDRI_BLOCK);
		for (int64_t j = 0; j < k;) {
			int width = strip_width(k - j);
			mul_kernels[width](x, begin, end, b + j, ldb, y + j, ldy);
			j += width;
		}
	}
}

void kdri_csr_mul(kdr_context *ctx, const kdr_csr *x, const double *b, int64_t k, int64_t ldb, double *y,
                  int64_t ldy)
{
	if (!on_disk(x)) {
		mul_rows(ctx, x, 0, x->rows, b, k, ldb, y, ldy);
		return;
	}
	ask_ahead(x, 0);
	for (int64_t begin = 0, end; begin < x->rows; begin = end) {
		end = piece_end(x, begin);
		ask_ahead(x, end);
		mul_rows(ctx, x, begin, end, b, k, ldb, y, ldy);
	}
}

/* Divides the columns into `count` ranges with about the same number of entries, from a histogram of every 16th
 * entry. The ranges only distribute the work and never change a result. */
static void cut_columns(const kdr_csr *x, int64_t count, int32_t *cuts)
{
	enum { BINS = 1024, STEP = 16 };
	int64_t bins[BINS] = { 0 }, seen = 0, sofar = 0, at = 0;
	int64_t width = KDRI_MAX((x->cols + BINS - 1) / BINS, 1);
	cuts[0] = 0;
	cuts[count] = (int32_t)x->cols;
	if (count == 1)
		return;
	for (int64_t p = x->rowptr[0]; p < x->rowptr[x->rows]; p += STEP, seen++)
		bins[x->col[p] / width]++;
	for (int64_t c = 1; c < count; c++) {
		while (at < BINS && sofar * count < seen * c)
			sofar += bins[at++];
		cuts[c] = (int32_t)KDRI_MIN(at * width, x->cols);
	}
}

void kdri_csr_tmul(kdr_context *ctx, const kdr_csr *x, const double *b, int64_t k, int64_t ldb, double *y,
                   int64_t ldy)
{
	enum { MOST = 128 };
	int32_t cuts[MOST + 1];
	bool disk = on_disk(x);
	int64_t work = (x->rowptr[x->rows] - x->rowptr[0] + x->rows) * k, begin = 0;
	/* With fewer than four columns the searches take as long as the products. */
	int64_t ranges = work > SERIAL_WORK && k >= 4 ? KDRI_MIN(kdri_team(ctx), MOST) : 1;
	if (disk)
		ask_ahead(x, 0);
	do { /* once, for all rows, where they are in memory */
		int64_t end = disk ? piece_end(x, begin) : x->rows;
		kdr_csr piece = *x;
		piece.rowptr += begin;
		piece.rows = end - begin;
		if (disk)
			ask_ahead(x, end);
		if (begin == 0)
			cut_columns(&piece, ranges, cuts);
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic) if (ranges > 1)
		for (int64_t r = 0; r < ranges; r++) {
			for (int64_t j = begin == 0 ? cuts[r] : cuts[r + 1]; j < cuts[r + 1]; j++)
				for (int64_t c = 0; c < k; c++)
					y[j * ldy + c] = 0;
			for (int64_t j = 0; j < k && cuts[r] < cuts[r + 1];) {
				int width = strip_width(k - j);
				tmul_kernels[width](&piece, cuts[r], cuts[r + 1], b + begin * ldb + j, ldb,
				                    y + j, ldy);
				j += width;
			}
		}
		begin = end;
	} while (begin < x->rows);
}

/* Below this many entries a pass costs less than waking the threads. */
enum { SERIAL_ENTRIES = 1 << 14 };

static int64_t entries(const kdr_mat *x)
{
	return x->kind == KDR_MAT_DENSE ? x->as.dense.rows * x->as.dense.cols
	                                : x->as.csr.rowptr[x->as.csr.rows] - x->as.csr.rowptr[0];
}

/* Whether a provider that holds x has computed it. */
static bool done_elsewhere(kdr_context *ctx, const kdr_mat *x, bool transposed, const double *b, int64_t k,
                           int64_t ldb, double *y, int64_t ldy, kdr_status *st)
{
	for (kdri_held *h = ctx->held; h; h = h->next)
		if (h->product(ctx, h, x, transposed, b, k, ldb, y, ldy, st))
			return true;
	return false;
}

kdr_status kdri_mat_mul(kdr_context *ctx, const kdr_mat *x, const double *b, int64_t k, int64_t ldb,
                        double *y, int64_t ldy)
{
	const kdr_dense *a = &x->as.dense;
	kdr_status st;
	if (done_elsewhere(ctx, x, false, b, k, ldb, y, ldy, &st))
		return st;
	if (x->kind == KDR_MAT_DENSE)
		return kdri_gemm(ctx, false, false, a->rows, k, a->cols, 1, a->data, a->stride, b, ldb, 0, y,
		                 ldy);
	kdri_csr_mul(ctx, &x->as.csr, b, k, ldb, y, ldy);
	return KDR_OK;
}

kdr_status kdri_mat_tmul(kdr_context *ctx, const kdr_mat *x, const double *b, int64_t k, int64_t ldb,
                         double *y, int64_t ldy)
{
	const kdr_dense *a = &x->as.dense;
	kdr_status st;
	if (done_elsewhere(ctx, x, true, b, k, ldb, y, ldy, &st))
		return st;
	if (x->kind == KDR_MAT_DENSE)
		return kdri_gemm(ctx, true, false, a->cols, k, a->rows, 1, a->data, a->stride, b, ldb, 0, y,
		                 ldy);
	kdri_csr_tmul(ctx, &x->as.csr, b, k, ldb, y, ldy);
	return KDR_OK;
}

kdr_status kdri_mat_row_norms(kdr_context *ctx, const kdr_mat *x, double *out)
{
	int64_t rows = kdr_mat_rows(x), blocks = (rows + KDRI_BLOCK - 1) / KDRI_BLOCK;
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic) if (entries(x) > SERIAL_ENTRIES)
	for (int64_t b = 0; b < blocks; b++) {
		int64_t end = KDRI_MIN(rows, (b + 1) * KDRI_BLOCK);
		for (int64_t i = b * KDRI_BLOCK; i < end; i++) {
			kdri_entries row = kdri_row_entries(x, i);
			out[i] = kdri_nrm2sq(row.val, row.count);
		}
	}
	return KDR_OK;
}

/* Adds rows begin..end-1 to `sum`, row after row. */
static void add_rows(const kdr_mat *x, int64_t begin, int64_t end, double *sum)
{
	if (x->kind == KDR_MAT_DENSE) {
		const kdr_dense *a = &x->as.dense;
		for (int64_t i = begin; i < end; i++)
			kdri_axpy(1, a->data + i * a->stride, sum, a->cols);
	} else {
		const kdr_csr *a = &x->as.csr;
		for (int64_t p = a->rowptr[begin]; p < a->rowptr[end]; p++)
			sum[a->col[p]] += a->val[p];
	}
}

kdr_status kdri_mat_col_sums(kdr_context *ctx, const kdr_mat *x, double *out)
{
	kdr_status st;
	double *part = NULL;
	int64_t rows = kdr_mat_rows(x), cols = kdr_mat_cols(x), chunks = kdri_chunks(rows), size;
	KDRI_TRY(kdri_mul(ctx, KDRI_MAX(chunks - 1, 0), cols, &size));
	KDRI_TRY(KDRI_NEW0(ctx, &part, size));
	memset(out, 0, (size_t)cols * sizeof *out);
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic) if (entries(x) > SERIAL_ENTRIES)
	for (int64_t c = 0; c < chunks; c++)
		add_rows(x, kdri_chunk_begin(rows, chunks, c), kdri_chunk_begin(rows, chunks, c + 1),
		         c == 0 ? out : part + (c - 1) * cols);
	for (int64_t c = 1; c < chunks; c++)
		kdri_axpy(1, part + (c - 1) * cols, out, cols);
done:
	kdri_free(ctx, part);
	return st;
}

kdr_status kdri_mat_col_means(kdr_context *ctx, const kdr_mat *x, double *out)
{
	int64_t all;
	KDRI_DO(kdri_part(ctx, kdr_mat_rows(x), NULL, &all));
	KDRI_DO(kdri_mat_col_sums(ctx, x, out));
	KDRI_DO(kdri_sum(ctx, out, kdr_mat_cols(x)));
	for (int64_t j = 0; j < kdr_mat_cols(x); j++)
		out[j] /= (double)all;
	return KDR_OK;
}

KDRI_KERNEL
static bool all_finite(const double *v, int64_t n)
{
	int bad = 0;
#pragma omp simd reduction(| : bad)
	for (int64_t i = 0; i < n; i++)
		bad |= !(fabs(v[i]) <= DBL_MAX);
	return !bad;
}

/* The error for entry p of row i. */
static kdr_status not_finite(kdr_context *ctx, const char *what, const kdr_data *data, int64_t i,
                             const kdri_entries *row, int64_t p)
{
	char name[KDRI_ROW_NAME];
	const double v = row->val[p];
	kdri_snprintf(name, sizeof name, "row %lld", (long long)i + 1);
	return kdri_fail(ctx, KDR_ERR_DATA, "data set %s: %s, column %lld is %s", what,
	                 data ? kdri_row_name(data, i, name) : name, (long long)kdri_entry_column(row, p) + 1,
	                 isnan(v) ? "nan"
	                 : v > 0  ? "inf"
	                          : "-inf");
}

kdr_status kdri_mat_check_values(kdr_context *ctx, const kdr_mat *x, const char *what, const kdr_data *data,
                                 bool missing)
{
	int64_t rows = kdr_mat_rows(x), blocks = (rows + KDRI_BLOCK - 1) / KDRI_BLOCK, bad = blocks;
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic) \
        reduction(min \
                  : bad) if (entries(x) > SERIAL_ENTRIES)
	for (int64_t b = 0; b < blocks; b++) {
		int64_t end = KDRI_MIN(rows, (b + 1) * KDRI_BLOCK);
		for (int64_t i = b * KDRI_BLOCK; i < end && b < bad; i++) {
			kdri_entries row = kdri_row_entries(x, i);
			if (!all_finite(row.val, row.count))
				bad = b;
		}
	}
	for (int64_t i = bad * KDRI_BLOCK; i < rows; i++) {
		kdri_entries row = kdri_row_entries(x, i);
		for (int64_t p = 0; p < row.count; p++)
			if (!isfinite(row.val[p]) && !(missing && isnan(row.val[p])))
				return not_finite(ctx, what, data, i, &row, p);
	}
	return KDR_OK;
}

kdr_status kdri_mat_check_finite(kdr_context *ctx, const kdr_mat *x, const char *what)
{
	return kdri_mat_check_values(ctx, x, what, NULL, false);
}

void kdri_mat_col_counts(kdr_context *ctx, const kdr_mat *x, int64_t *counts)
{
	enum { MOST = 1024 }; /* columns of which every thread has counts on its stack */
	const int64_t rows = kdr_mat_rows(x), cols = kdr_mat_cols(x);
	(void)ctx; /* without OpenMP */
	memset(counts, 0, (size_t)cols * sizeof *counts);
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) \
        reduction(+ : counts[ : cols]) if (cols <= MOST && entries(x) > SERIAL_ENTRIES)
	for (int64_t i = 0; i < rows; i++) {
		kdri_entries row = kdri_row_entries(x, i);
		for (int64_t p = 0; p < row.count; p++)
			counts[kdri_entry_column(&row, p)] += fabs(row.val[p]) > 0;
	}
}

static kdr_status mat_apply(kdr_context *ctx, const kdri_op *op, const double *x, int64_t k, int64_t ldx,
                            double *y, int64_t ldy)
{
	return kdri_mat_mul(ctx, op->data, x, k, ldx, y, ldy);
}

static kdr_status mat_apply_t(kdr_context *ctx, const kdri_op *op, const double *x, int64_t k, int64_t ldx,
                              double *y, int64_t ldy)
{
	return kdri_mat_tmul(ctx, op->data, x, k, ldx, y, ldy);
}

kdri_op kdri_op_mat(const kdr_mat *x)
{
	return (kdri_op){ kdr_mat_rows(x), kdr_mat_cols(x), mat_apply, mat_apply_t, x };
}

static kdr_status centred_apply(kdr_context *ctx, const kdri_op *op, const double *x, int64_t k, int64_t ldx,
                                double *y, int64_t ldy)
{
	kdr_status st;
	const kdri_centred *c = op->data;
	double *shift = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &shift, k));
	KDRI_TRY(kdri_mat_mul(ctx, c->x, x, k, ldx, y, ldy));
	for (int64_t j = 0; j < op->cols; j++) /* (E1) */
		kdri_axpy(c->mean[j], x + j * ldx, shift, k);
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) if (op->rows > KDRI_BLOCK)
	for (int64_t i = 0; i < op->rows; i++)
		kdri_axpy(-1, shift, y + i * ldy, k);
done:
	kdri_free(ctx, shift);
	return st;
}

static kdr_status centred_apply_t(kdr_context *ctx, const kdri_op *op, const double *x, int64_t k,
                                  int64_t ldx, double *y, int64_t ldy)
{
	kdr_status st;
	const kdri_centred *c = op->data;
	double *total = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &total, k));
	KDRI_TRY(kdri_mat_tmul(ctx, c->x, x, k, ldx, y, ldy));
	const kdr_mat rows = { .kind = KDR_MAT_DENSE, .as.dense = { x, op->rows, k, ldx } };
	KDRI_TRY(kdri_mat_col_sums(ctx, &rows, total)); /* (E2) */
	for (int64_t j = 0; j < op->cols; j++)
		kdri_axpy(-c->mean[j], total, y + j * ldy, k);
done:
	kdri_free(ctx, total);
	return st;
}

kdri_op kdri_op_centred(const kdri_centred *c)
{
	return (kdri_op){ kdr_mat_rows(c->x), kdr_mat_cols(c->x), centred_apply, centred_apply_t, c };
}
