/* Dense products on single-threaded BLAS, in double or single precision. SPDX-License-Identifier: BSD-3-Clause
 *
 * C is cut into tiles, each done by one thread, so that nothing depends on the number of threads: tiles follow from the
 * shape alone. A tile of 384 x 768 with inner dimension k costs 2 * 384 * 768 k flops for 8 * 1152 k bytes: 64 flops
 * per byte. BLAS first copies its input to its own layout, which takes a tenth of the time; if C is large enough to
 * give every thread many tiles, they are up to three times as long and wide. All tiles have about the same size: 592
 * rows are 2 x 304, not 384 + 208.
 *
 * If C is small and the inner dimension is long (X' X of a tall X), the inner dimension is divided too: split s > 0
 * of C is computed in a separate buffer, and the buffers are added to C in order.
 *
 * A tile with a long inner dimension is computed in steps of a fraction of a second: between them the context is
 * checked for a request to stop.
 *
 * Symmetric products compute the tiles of the lower triangle, and half of the tiles on the diagonal. If A is single
 * and C is double, a tile is first computed in a buffer of its thread. */
/* The Gram matrix of sparse rows.
 *
 *   (E1)  c_ik = sum over j in row i of x_ij w_j x_kj,   k <= i, from column j of X, a row of its transpose
 *
 * An entry of X is multiplied by the earlier entries of its column: sum_j nnz_j^2 multiply-adds, half of that by
 * symmetry, each a scattered access to one row of c, which stays in the cache. Every number is one sum in
 * increasing j.
 *
 * The sum of the squares of all c_ik does not need to store them: it is computed one row at a time, counting entries
 * left of the diagonal twice.
 *
 * Rows are skipped if it is time to stop and the caller can do without the result (`abandon` in the context). */
#include "matrix/blas.h"
#include "matrix/block.h"

enum {
	SMALL_TILE = 384,
	LARGE_TILE = 1152,
	MANY = 32,
	MOST_SPLITS = 16,
	SPLIT_LENGTH = 1024,
	STEP = 2 * SPLIT_LENGTH
};

/* Products of fewer flops are done before the threads are awake. */
static const double serial_flops = 1e5;

/* Tiles of high x wide, down times across of them, and `splits` parts of the inner dimension of `length`. */
typedef struct cut {
	int64_t high, wide, down, across, length, splits;
} cut;

/* The side of a tile of C (m x n), so that there are MANY of them or they are small. */
static int64_t tile_of(int64_t m, int64_t n)
{
	int64_t side = (int64_t)sqrt((double)m * (double)n / MANY);
	return KDRI_MIN(LARGE_TILE, KDRI_MAX(SMALL_TILE, side));
}

static int64_t product_pieces(int64_t size, int64_t piece)
{
	return (size + piece - 1) / piece;
}

/* Divides a length of `size` into as many pieces as there would be of length `side`, all of about the same size. */
static int64_t even(int64_t size, int64_t side)
{
	enum { ROUND = 16 }; /* what a kernel of BLAS takes at once */
	int64_t count = KDRI_MAX(1, product_pieces(size, side));
	return KDRI_MAX(1, product_pieces(product_pieces(size, count), ROUND)) * ROUND;
}

/* The inner dimension k in parts: enough to give MOST_SPLITS units of work, as long as each keeps SPLIT_LENGTH. So the buffers
 * hold at most MOST_SPLITS tiles. */
static void cut_inner(cut *c, int64_t tiles, int64_t k)
{
	int64_t splits = KDRI_MAX(KDRI_MIN(MOST_SPLITS / KDRI_MAX(tiles, 1), k / SPLIT_LENGTH), 1);
	c->length = product_pieces(k, splits);
	c->splits = product_pieces(k, c->length);
}

static cut cut_of(int64_t m, int64_t n, int64_t k)
{
	/* BLAS, which computes the transposes, is faster with long rows of C: they may be twice the side. */
	int64_t side = tile_of(m, n);
	cut c = { .high = even(m, side), .wide = even(n, 2 * side) };
	c.down = product_pieces(m, c.high);
	c.across = product_pieces(n, c.wide);
	cut_inner(&c, c.down * c.across, k);
	return c;
}

static cut cut_symmetric(int64_t n, int64_t k)
{
	int64_t side = even(n, tile_of(n, n)), down = product_pieces(n, side);
	cut c = { .high = side, .wide = side, .down = down, .across = down };
	cut_inner(&c, down * (down + 1) / 2, k);
	return c;
}

static kdr_status product_check_sizes(kdr_context *ctx, int64_t k, const kdri_block *a, const kdri_block *b,
                                      const kdri_block *c)
{
	KDRI_DO(kdri_blas_int(ctx, k, "the inner dimension of a product"));
	return kdri_blas_int(ctx, KDRI_MAX(KDRI_MAX(a->stride, b->stride), c->stride),
	                     "the stride of a matrix");
}

/* op(A)[i.., l..] of `rows` x `inner`. */
static kdri_block op_part(const kdri_block *a, bool trans, int64_t i, int64_t rows, int64_t l, int64_t inner)
{
	return trans ? kdri_block_part(*a, l, i, inner, rows) : kdri_block_part(*a, i, l, rows, inner);
}

/* C = alpha op(A) op(B) + beta C for a step of one tile; the blocks are the operands' parts. */
static void multiply_step(bool trans_a, bool trans_b, int64_t k, double alpha, const kdri_block *a,
                          const kdri_block *b, double beta, const kdri_block *c)
{
	if (c->floats)
		kdri_sgemm(trans_a, trans_b, c->rows, c->cols, k, (float)alpha, a->data, a->stride, b->data,
		           b->stride, (float)beta, c->data, c->stride);
	else if (c->cols == 1) /* a matrix times a vector: BLAS' gemm would copy the matrix for one use */
		kdri_dgemv(trans_a, a->rows, a->cols, alpha, a->data, a->stride, b->data,
		           trans_b ? 1 : b->stride, beta, c->data, c->stride);
	else
		kdri_dgemm(trans_a, trans_b, c->rows, c->cols, k, alpha, a->data, a->stride, b->data,
		           b->stride, beta, c->data, c->stride);
}

/* The lower triangle of C = alpha A A' + beta C (trans: A' A) for a step of a tile on the diagonal. */
static void square_step(bool trans, int64_t k, double alpha, const kdri_block *a, double beta,
                        const kdri_block *c)
{
	if (c->floats)
		kdri_ssyrk(trans, c->rows, k, (float)alpha, a->data, a->stride, (float)beta, c->data,
		           c->stride);
	else
		kdri_dsyrk(trans, c->rows, k, alpha, a->data, a->stride, beta, c->data, c->stride);
}

/* Which unit of how many is at work, for those who wait. */
typedef struct place {
	kdr_context *ctx;
	int64_t unit, units;
} place;

/* Whether the computation is abandoned; also checks for a request to stop. */
static bool given_up(const place *p)
{
	return kdri_leave_off(p->ctx, "product", p->unit, p->units) && p->ctx->abandon;
}

/* C = alpha op(A) op(B) + beta C for one tile, `lower`: the triangle of A A' or A' A alone. */
static void product_multiply(const place *p, bool trans_a, bool trans_b, int64_t k, double alpha,
                             const kdri_block *a, const kdri_block *b, double beta, const kdri_block *c,
                             bool lower)
{
	int64_t step = product_pieces(k, product_pieces(k, STEP));
	for (int64_t l = 0; l < k && !given_up(p); l += step) {
		int64_t inner = KDRI_MIN(step, k - l);
		kdri_block left = op_part(a, trans_a, 0, c->rows, l, inner);
		kdri_block right = op_part(b, !trans_b, 0, c->cols, l, inner);
		if (lower)
			square_step(trans_a, inner, alpha, &left, l > 0 ? 1 : beta, c);
		else
			multiply_step(trans_a, trans_b, inner, alpha, &left, &right, l > 0 ? 1 : beta, c);
	}
}

/* Where split s of C is summed up: C itself, or part s - 1 of the buffers below each other. */
static kdri_block sum_of(const kdri_block *c, const kdri_block *parts, int64_t s)
{
	return s == 0 ? *c : kdri_block_part(*parts, (s - 1) * c->rows, 0, c->rows, c->cols);
}

/* C += the buffers of splits 1, 2, .., in this order; of a symmetric C the lower triangle. */
static void add_splits(kdr_context *ctx, const kdri_block *parts, int64_t splits, const kdri_block *c,
                       bool lower)
{
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic, 64) if (c->rows * c->cols > 1 << 14)
	for (int64_t i = 0; i < c->rows; i++) {
		int64_t cols = lower ? i + 1 : c->cols;
		kdri_block to = kdri_block_part(*c, i, 0, 1, cols);
		for (int64_t s = 1; s < splits; s++) {
			kdri_block from = kdri_block_part(*parts, (s - 1) * c->rows + i, 0, 1, cols);
			if (c->floats)
				kdri_add_floats(from.data, to.data, cols);
			else
				kdri_axpy(1, from.data, to.data, cols);
		}
	}
}

/* C = beta C. */
static void scale_only(double beta, const kdri_block *c)
{
	for (int64_t i = 0; i < c->rows; i++)
		for (int64_t j = 0; j < c->cols; j++)
			kdri_block_set(c, i, j, beta == 0 ? 0 : beta * kdri_block_get(c, i, j));
}

kdr_status kdri_block_gemm(kdr_context *ctx, bool trans_a, bool trans_b, double alpha, kdri_block a,
                           kdri_block b, double beta, kdri_block c)
{
	kdr_status st;
	kdri_block parts = { 0 };
	int64_t k = trans_a ? a.rows : a.cols, m = c.rows, n = c.cols;
	if (m == 0 || n == 0)
		return KDR_OK;
	if (k == 0 || alpha == 0) {
		scale_only(beta, &c);
		return KDR_OK;
	}
	KDRI_TRY(product_check_sizes(ctx, k, &a, &b, &c));
	const cut t = cut_of(m, n, k);
	const int64_t tiles = t.down * t.across;
	KDRI_TRY(kdri_block_new(ctx, &kdri_cpu, (t.splits - 1) * m, n, c.floats, &parts));
	int before = kdri_serial_begin();
#pragma omp parallel for num_threads(kdri_team(ctx)) \
        schedule(dynamic) if (2.0 * (double)m * (double)n * (double)k > serial_flops)
	for (int64_t u = 0; u < tiles * t.splits; u++) {
		const place at = { ctx, u, tiles * t.splits };
		int64_t s = u / tiles, i = u % tiles / t.across * t.high, j = u % tiles % t.across * t.wide;
		int64_t rows = KDRI_MIN(t.high, m - i), cols = KDRI_MIN(t.wide, n - j);
		int64_t l = s * t.length, inner = KDRI_MIN(t.length, k - l);
		kdri_block left = op_part(&a, trans_a, i, rows, l, inner);
		kdri_block right = op_part(&b, !trans_b, j, cols, l, inner);
		kdri_block sum = sum_of(&c, &parts, s), to = kdri_block_part(sum, i, j, rows, cols);
		product_multiply(&at, trans_a, trans_b, inner, alpha, &left, &right, s == 0 ? beta : 0, &to,
		                 false);
	}
	st = kdri_abandoned(ctx);
	if (st == KDR_OK)
		add_splits(ctx, &parts, t.splits, &c, false);
	kdri_serial_end(before);
done:
	kdri_block_free(ctx, &parts);
	return st;
}

/* C = beta C + T, T in single precision; of a tile on the diagonal the lower triangle. */
static void add_tile(const kdri_block *c, double beta, const kdri_block *t, bool lower)
{
	for (int64_t i = 0; i < c->rows; i++) {
		double *to = (double *)c->data + i * c->stride;
		for (int64_t j = 0; j < (lower ? i + 1 : c->cols); j++)
			to[j] = (beta == 0 ? 0 : beta * to[j]) +
			        (double)((const float *)t->data)[i * t->stride + j];
	}
}

/* One tile of a symmetric product, of columns j.. and rows i.. of C; `own` is the thread's buffer where A is single and C is
 * double. */
static void square_tile(const place *p, bool trans, double alpha, const kdri_block *left,
                        const kdri_block *right, int64_t inner, double beta, const kdri_block *to,
                        const kdri_block *own)
{
	bool mixed = left->floats && !to->floats, diagonal = left->data == right->data;
	kdri_block tile = mixed ? kdri_block_part(*own, 0, 0, to->rows, to->cols) : *to;
	product_multiply(p, trans, !trans, inner, alpha, left, right, mixed ? 0 : beta, &tile, diagonal);
	if (mixed)
		add_tile(to, beta, &tile, diagonal);
}

kdr_status kdri_block_syrk(kdr_context *ctx, bool trans, double alpha, kdri_block a, double beta,
                           kdri_block c)
{
	kdr_status st;
	kdri_block parts = { 0 }, own = { 0 };
	int64_t n = c.rows, k = trans ? a.rows : a.cols;
	bool mixed = a.floats && !c.floats;
	if (k == 0) {
		scale_only(beta, &c);
		return KDR_OK;
	}
	KDRI_TRY(product_check_sizes(ctx, k, &a, &a, &c));
	const cut t = cut_symmetric(n, k);
	const int64_t tiles = t.down * (t.down + 1) / 2;
	KDRI_TRY(kdri_block_new(ctx, &kdri_cpu, (t.splits - 1) * n, n, c.floats, &parts));
	KDRI_TRY(kdri_block_new(ctx, &kdri_cpu, mixed ? ctx->threads * t.high : 0, t.wide, true, &own));
	int before = kdri_serial_begin();
#pragma omp parallel for num_threads(kdri_team(ctx)) \
        schedule(dynamic) if ((double)n * (double)n * (double)k > serial_flops)
	for (int64_t u = 0; u < tiles * t.splits; u++) {
		const place at = { ctx, u, tiles * t.splits };
		/* Tiles (row, col) of the lower triangle, counted along its rows. */
		int64_t s = u / tiles, row = 0, col = u % tiles;
		for (; col > row; row++)
			col -= row + 1;
		int64_t i = row * t.high, j = col * t.wide, l = s * t.length;
		int64_t rows = KDRI_MIN(t.high, n - i), cols = KDRI_MIN(t.wide, n - j);
		int64_t inner = KDRI_MIN(t.length, k - l);
		kdri_block left = op_part(&a, trans, i, rows, l, inner);
		kdri_block right = op_part(&a, trans, j, cols, l, inner);
		kdri_block sum = sum_of(&c, &parts, s), to = kdri_block_part(sum, i, j, rows, cols);
		kdri_block room = own;
		if (mixed)
			room = kdri_block_part(own, kdri_thread() * t.high, 0, t.high, t.wide);
		square_tile(&at, trans, alpha, &left, &right, inner, s == 0 ? beta : 0, &to, &room);
	}
	st = kdri_abandoned(ctx);
	if (st == KDR_OK)
		add_splits(ctx, &parts, t.splits, &c, true);
	kdri_serial_end(before);
done:
	kdri_block_free(ctx, &parts);
	kdri_block_free(ctx, &own);
	return st;
}

/* --- on plain rows of doubles ------------------------------------------------------------------------- */

kdr_status kdri_gemm(kdr_context *ctx, bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k,
                     double alpha, const double *a, int64_t lda, const double *b, int64_t ldb, double beta,
                     double *c, int64_t ldc)
{
	if (m == 1 && n > 1) /* a row: the transposed product is a matrix times a vector */
		return kdri_gemm(ctx, !trans_b, !trans_a, n, 1, k, alpha, b, ldb, a, lda, beta, c, 1);
	kdri_block left = trans_a ? kdri_block_of(a, k, m, lda) : kdri_block_of(a, m, k, lda);
	kdri_block right = trans_b ? kdri_block_of(b, n, k, ldb) : kdri_block_of(b, k, n, ldb);
	kdri_block to = kdri_block_of(c, m, n, ldc);
	return kdri_block_gemm(ctx, trans_a, trans_b, alpha, left, right, beta, to);
}

kdr_status kdri_syrk(kdr_context *ctx, bool trans, int64_t n, int64_t k, const double *a, int64_t lda,
                     double *c, int64_t ldc)
{
	kdri_block from = trans ? kdri_block_of(a, k, n, lda) : kdri_block_of(a, n, k, lda),
	           to = kdri_block_of(c, n, n, ldc);
	KDRI_DO(kdri_block_syrk(ctx, trans, 1, from, 0, to));
	return kdri_cpu.mirror(ctx, to);
}

/* row[k] = (E1) for k <= last, of row i of y. */
static void gram_row(const kdr_csr *y, int64_t i, const kdr_csr *xt, const double *weight, int64_t last,
                     double *row)
{
	memset(row, 0, (size_t)(last + 1) * sizeof *row);
	for (int64_t p = y->rowptr[i]; p < y->rowptr[i + 1]; p++) {
		int32_t j = y->col[p];
		double v = y->val[p] * (weight ? weight[j] : 1);
		for (int64_t s = xt->rowptr[j]; s < xt->rowptr[j + 1] && xt->col[s] <= last; s++)
			row[xt->col[s]] += v * xt->val[s];
	}
}

/* Whether the remaining rows are skipped; also checks the caller's context. */
static bool gram_given_up(kdr_context *ctx, int64_t row, int64_t rows)
{
	return kdri_leave_off(ctx, "product", row, rows) && ctx->abandon;
}

/* Rows of c from those of y, each up to the diagonal (lower) or in full. */
static kdr_status products(kdr_context *ctx, const kdr_csr *y, const kdr_csr *xt, const double *weight,
                           bool lower, kdri_block c)
{
	kdr_status st;
	double *room = NULL;
	int64_t size;
	KDRI_TRY(kdri_mul(ctx, c.cols, ctx->threads, &size));
	KDRI_TRY(KDRI_NEW(ctx, &room, size));
	/* The last rows are the longest, so they are processed first. */
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic, 16) if (y->rows > 64)
	for (int64_t back = 0; back < y->rows; back++) {
		if (gram_given_up(ctx, back, y->rows))
			continue;
		int64_t thread = kdri_thread();
		int64_t i = y->rows - 1 - back, last = lower ? i : c.cols - 1;
		double *row = room + thread * c.cols;
		gram_row(y, i, xt, weight, last, row);
		kdri_block_write(&c, i, 0, last + 1, row);
	}
	st = kdri_abandoned(ctx);
done:
	kdri_free(ctx, room);
	return st;
}

kdr_status kdri_sparse_gram(kdr_context *ctx, const kdr_csr *x, const kdr_csr *xt, const double *weight,
                            kdri_block c)
{
	return products(ctx, x, xt, weight, true, c);
}

kdr_status kdri_sparse_gram_square(kdr_context *ctx, const kdr_csr *x, const kdr_csr *xt, double *out)
{
	kdr_status st;
	double *room = NULL, *part = NULL, sum = 0;
	int64_t size;
	KDRI_TRY(kdri_mul(ctx, x->rows, ctx->threads, &size));
	KDRI_TRY(KDRI_NEW(ctx, &room, size));
	KDRI_TRY(KDRI_NEW(ctx, &part, x->rows));
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic, 16) if (x->rows > 64)
	for (int64_t back = 0; back < x->rows; back++) {
		if (gram_given_up(ctx, back, x->rows))
			continue;
		int64_t i = x->rows - 1 - back;
		double *row = room + kdri_thread() * x->rows;
		gram_row(x, i, xt, NULL, i, row); /* (E1) */
		part[i] = 2 * kdri_nrm2sq(row, i) + row[i] * row[i];
	}
	KDRI_TRY(kdri_abandoned(ctx));
	for (int64_t i = 0; i < x->rows; i++)
		sum += part[i];
	*out = sum;
done:
	KDRI_FREE(ctx, room, part);
	return st;
}

kdr_status kdri_sparse_cross(kdr_context *ctx, const kdr_csr *y, const kdr_csr *xt, const double *weight,
                             kdri_block c)
{
	return products(ctx, y, xt, weight, false, c);
}

/* A B' a tile at a time, for products too large to be stored.
 *
 * A block of ROWS rows of A meets all rows of B, COLS at a time. A tile (512 KB) stays in the cache of
 * the thread that made it until `use` has read it, so that memory sees A and B alone: with k columns,
 * 2 ROWS COLS k flops for 8 k COLS bytes of B, 32 flops a byte. Tiles depend on the shape alone. */

enum { ROWS = 128, COLS = 512 };

kdr_status kdri_gemm_tiles(kdr_context *ctx, int64_t m, int64_t n, int64_t k, const double *a, int64_t lda,
                           const double *b, int64_t ldb, kdri_tile_fn *use, void *user)
{
	kdr_status st;
	double *tiles = NULL;
	int64_t blocks = (m + ROWS - 1) / ROWS;
	KDRI_TRY(kdri_blas_int(ctx, KDRI_MAX(KDRI_MAX(lda, ldb), k), "the stride of a matrix"));
	KDRI_TRY(KDRI_NEW(ctx, &tiles, (int64_t)ctx->threads * ROWS * COLS));
	int before = kdri_serial_begin();
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic)
	for (int64_t block = 0; block < blocks; block++) {
		int64_t thread = kdri_thread();
		double *tile = tiles + (int64_t)thread * ROWS * COLS;
		int64_t row = block * ROWS, rows = KDRI_MIN(m - row, ROWS);
		for (int64_t col = 0; col < n; col += COLS) {
			int64_t cols = KDRI_MIN(n - col, COLS);
			kdri_dgemm(false, true, rows, cols, k, 1, a + row * lda, lda, b + col * ldb, ldb, 0,
			           tile, COLS);
			for (int64_t i = 0; i < rows; i++)
				use(user, row + i, col, cols, tile + i * COLS);
		}
	}
	kdri_serial_end(before);
done:
	kdri_free(ctx, tiles);
	return st;
}
