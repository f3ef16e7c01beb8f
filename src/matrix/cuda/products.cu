/* Products and solves. SPDX-License-Identifier: BSD-3-Clause
 *
 * Symmetric products are done in strips of rows up to the diagonal, each one dgemm: half of the work except for the
 * diagonal, at the speed of dgemm.
 *
 * Single precision. Hopper multiplies numbers of 11 bits eight times as fast as doubles. A number is the sum of two
 * such, hi and lo, with 22 bits together, as in single precision, and
 *
 *   (E1)  a b = hi hi' + hi lo' + lo hi'      without lo lo', which is below the last bit kept
 *
 * Sums are single within SLICE terms, as the tensor cores add, and double beyond.
 *
 * Inverses are computed by recursive halving, which only needs products: with W = A21 A11^-1 and S = A22 - W A21',
 *
 *   (E2)  the inverse of A is  [ A11^-1 + W' S^-1 W,  (-S^-1 W)' ;  -S^-1 W,  S^-1 ]
 *
 * n^3 operations, as many as by a factorisation. Halves below LEAF are factorised by cuSOLVER. */
#include "cuda.cuh"

enum { STRIP = 2048, SLICE = 8192 };

/* --- double ------------------------------------------------------------------------------------------------------ */

static kdr_status gemm_double(kdri_device *d, bool trans_a, bool trans_b, double alpha, const double *a,
                                int64_t lda, const double *b, int64_t ldb, double beta, double *c, int64_t ldc,
                                int64_t m, int64_t n, int64_t k)
{
	TRY_LIB(d, "gemm",
	        cublasDgemm_64(self_of(d)->blas, trans_b ? CUBLAS_OP_T : CUBLAS_OP_N,
	                       trans_a ? CUBLAS_OP_T : CUBLAS_OP_N, n, m, k, &alpha, b, ldb, a, lda, &beta, c,
	                       ldc));
	return KDR_OK;
}

/* --- single ------------------------------------------------------------------------------------------------------ */

/* The upper 11 bits of x, rounded. */
static __device__ float upper_bits(float x)
{
	unsigned u = __float_as_uint(x);
	u = (u + 0x0fffu + ((u >> 13) & 1u)) & 0xffffe000u;
	return __uint_as_float(u);
}

/* Singles are kept in sizes that tensor cores take at once, filled up with zeros. */
static int64_t padded(int64_t size)
{
	return parts_of(size, 32) * 32;
}

/* hi and lo of (E1), with zeros beyond rows x cols. */
static __global__ void split(const double *a, int64_t stride, int64_t rows, int64_t cols, float *hi, float *lo,
                             int64_t high, int64_t wide)
{
	for (int64_t i = blockIdx.y; i < high; i += gridDim.y)
		for (int64_t j = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; j < wide;
		     j += (int64_t)gridDim.x * blockDim.x) {
			double v = i < rows && j < cols ? a[i * stride + j] : 0;
			float h = upper_bits((float)v);
			hi[i * wide + j] = h;
			lo[i * wide + j] = upper_bits((float)(v - (double)h));
		}
}

/* C = beta C + alpha T, T single with stride `ldt`. */
static __global__ void add_single(double *c, int64_t stride, int64_t rows, int64_t cols, double alpha, double beta,
                                  const float *t, int64_t ldt)
{
	for (int64_t i = blockIdx.y; i < rows; i += gridDim.y)
		for (int64_t j = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; j < cols;
		     j += (int64_t)gridDim.x * blockDim.x) {
			double v = alpha * (double)t[i * ldt + j];
			c[i * stride + j] = beta == 0 ? v : beta * c[i * stride + j] + v;
		}
}

static dim3 by_rows(int64_t rows, int64_t cols)
{
	return dim3((unsigned)(parts_of(cols, 256) < 16 ? parts_of(cols, 256) : 16),
	            (unsigned)(rows < 32768 ? rows : 32768));
}

struct halves {
	cuda_scratch hi, lo;
	int64_t ld = 0;
	explicit halves(kdri_device *d) : hi(d), lo(d)
	{
	}
	kdr_status take(size_t most)
	{
		TRY_D(hi.take(most * sizeof(float)));
		return lo.take(most * sizeof(float));
	}
	kdr_status fill(kdri_device *d, const double *a, int64_t stride, int64_t rows, int64_t width)
	{
		ld = padded(width);
		split<<<by_rows(padded(rows), ld), 256, 0, self_of(d)->stream>>>(a, stride, rows, width, hi.as<float>(),
		                                                               lo.as<float>(), padded(rows), ld);
		TRY_LAUNCH(d, "gemm");
		return KDR_OK;
	}
};

/* T = op(A) op(B) of parts: rows from `a0` of op(A), columns from `b0` of op(B); all sizes are padded. */
static kdr_status three_products(kdri_device *d, bool trans_a, bool trans_b, const halves &a, int64_t a0,
                                   const halves &b, int64_t b0, int64_t m, int64_t n, int64_t k, float *t, int64_t ldt)
{
	const float one = 1, zero = 0;
	/* The small ones first. */
	const float *left[3] = { (const float *)a.lo.data, (const float *)a.hi.data, (const float *)a.hi.data };
	const float *right[3] = { (const float *)b.hi.data, (const float *)b.lo.data, (const float *)b.hi.data };
	for (int i = 0; i < 3; i++) /* (E1) */
		TRY_LIB(d, "gemm",
		        cublasGemmEx_64(self_of(d)->blas, trans_b ? CUBLAS_OP_T : CUBLAS_OP_N,
		                        trans_a ? CUBLAS_OP_T : CUBLAS_OP_N, n, m, k, &one,
		                        right[i] + b0 * (trans_b ? b.ld : 1), CUDA_R_32F, b.ld,
		                        left[i] + a0 * (trans_a ? 1 : a.ld), CUDA_R_32F, a.ld, i ? &one : &zero,
		                        t, CUDA_R_32F, ldt, CUBLAS_COMPUTE_32F_FAST_TF32, CUBLAS_GEMM_DEFAULT));
	return KDR_OK;
}

static kdr_status gemm_single(kdri_device *d, bool trans_a, bool trans_b, double alpha, kdri_block a,
                                kdri_block b, double beta, kdri_block c, int64_t k)
{
	int64_t m = c.rows, n = c.cols, slice = k < SLICE ? k : SLICE;
	halves left(d), right(d);
	cuda_scratch t(d);
	TRY_D(left.take((size_t)(padded(m) * padded(slice))));
	TRY_D(right.take((size_t)(padded(n) * padded(slice))));
	TRY_D(t.take((size_t)(padded(m) * padded(n)) * sizeof(float)));
	for (int64_t l = 0; l < k; l += slice) {
		int64_t part = k - l < slice ? k - l : slice;
		TRY_D(trans_a ? left.fill(d, at(a) + l * a.stride, a.stride, part, m)
		              : left.fill(d, at(a) + l, a.stride, m, part));
		TRY_D(trans_b ? right.fill(d, at(b) + l, b.stride, n, part)
		              : right.fill(d, at(b) + l * b.stride, b.stride, part, n));
		TRY_D(three_products(d, trans_a, trans_b, left, 0, right, 0, padded(m), padded(n), padded(part), t.as<float>(),
		                     padded(n)));
		add_single<<<by_rows(m, n), 256, 0, self_of(d)->stream>>>(
			at(c), c.stride, m, n, alpha, l ? 1.0 : beta, t.as<float>(), padded(n));
		TRY_LAUNCH(d, "gemm");
	}
	return KDR_OK;
}

/* --- the table's ------------------------------------------------------------------------------------------------- */

/* For small products this is not faster. */
static bool single_pays(int64_t m, int64_t n, int64_t k)
{
	return m >= 512 && n >= 512 && k >= 256;
}

static kdr_status cuda_gemm(kdr_context *, bool trans_a, bool trans_b, double alpha, kdri_block a, kdri_block b,
                            double beta, kdri_block c)
{
	BEGIN(c, "gemm");
	int64_t k = trans_a ? a.rows : a.cols;
	if (c.rows == 0 || c.cols == 0)
		return KDR_OK;
	if (k == 0)
		return beta == 0 ? fill_block(d, c, 0) : KDR_OK;
	if (a.single && single_pays(c.rows, c.cols, k))
		return gemm_single(d, trans_a, trans_b, alpha, a, b, beta, c, k);
	return gemm_double(d, trans_a, trans_b, alpha, at(a), a.stride, at(b), b.stride, beta, at(c), c.stride, c.rows,
	                   c.cols, k);
}

static kdr_status syrk_single(kdri_device *d, bool trans, double alpha, kdri_block a, double beta, kdri_block c,
                                int64_t k)
{
	int64_t n = c.rows, slice = k < SLICE ? k : SLICE;
	halves both(d);
	cuda_scratch t(d);
	TRY_D(both.take((size_t)(padded(n) * padded(slice))));
	TRY_D(t.take((size_t)((n < STRIP ? padded(n) : STRIP) * padded(n)) * sizeof(float)));
	for (int64_t l = 0; l < k; l += slice) {
		int64_t part = k - l < slice ? k - l : slice;
		TRY_D(trans ? both.fill(d, at(a) + l * a.stride, a.stride, part, n)
		            : both.fill(d, at(a) + l, a.stride, n, part));
		for (int64_t i = 0; i < n; i += STRIP) {
			int64_t rows = n - i < STRIP ? n - i : STRIP;
			TRY_D(three_products(d, trans, !trans, both, i, both, 0, padded(rows), padded(i + rows), padded(part),
			                     t.as<float>(), padded(n)));
			add_single<<<by_rows(rows, i + rows), 256, 0, self_of(d)->stream>>>(
				at(c) + i * c.stride, c.stride, rows, i + rows, alpha, l ? 1.0 : beta, t.as<float>(), padded(n));
			TRY_LAUNCH(d, "syrk");
		}
	}
	return KDR_OK;
}

static kdr_status cuda_syrk(kdr_context *, bool trans, double alpha, kdri_block a, double beta, kdri_block c)
{
	BEGIN(c, "syrk");
	int64_t n = c.rows, k = trans ? a.rows : a.cols;
	if (n == 0)
		return KDR_OK;
	if (k == 0)
		return beta == 0 ? fill_block(d, c, 0) : KDR_OK;
	if (a.single && single_pays(n, n, k))
		return syrk_single(d, trans, alpha, a, beta, c, k);
	for (int64_t i = 0; i < n; i += STRIP) {
		int64_t rows = n - i < STRIP ? n - i : STRIP;
		const double *strip = at(a) + (trans ? i : i * a.stride);
		TRY_D(gemm_double(d, trans, !trans, alpha, strip, a.stride, at(a), a.stride, beta,
		                  at(c) + i * c.stride, c.stride, rows, i + rows, k));
	}
	return KDR_OK;
}

/* --- entries ----------------------------------------------------------------------------------------------------- */

kdr_status fill_block(kdri_device *d, kdri_block a, double value)
{
	const view v(a);
	return each(d, "fill", a.rows, a.cols, [=] __device__(int64_t i, int64_t j) { v(i, j) = value; });
}

static kdr_status cuda_fill(kdr_context *, kdri_block a, double value)
{
	BEGIN(a, "fill");
	return fill_block(d, a, value);
}

static kdr_status cuda_copy(kdr_context *, kdri_block from, kdri_block to)
{
	BEGIN(to, "copy");
	if (from.rows == 0 || from.cols == 0)
		return KDR_OK;
	TRY_CUDA(d, "copy",
	         cudaMemcpy2DAsync(at(to), (size_t)to.stride * 8, at(from), (size_t)from.stride * 8,
	                           (size_t)from.cols * 8, (size_t)from.rows, cudaMemcpyDeviceToDevice,
	                           self_of(d)->stream));
	return KDR_OK;
}

/* Tiles of the lower triangle are written transposed. */
static __global__ void mirror_tiles(double *a, int64_t stride, int64_t n)
{
	__shared__ double tile[32][33];
	int64_t i0 = (int64_t)blockIdx.y * 32, j0 = (int64_t)blockIdx.x * 32;
	if (j0 > i0)
		return;
	for (int r = threadIdx.y; r < 32; r += blockDim.y)
		if (i0 + r < n && j0 + threadIdx.x < n)
			tile[r][threadIdx.x] = a[(i0 + r) * stride + j0 + threadIdx.x];
	__syncthreads();
	for (int r = threadIdx.y; r < 32; r += blockDim.y) {
		int64_t i = j0 + r, j = i0 + threadIdx.x; /* of the upper triangle */
		if (i < n && j < n && j > i)
			a[i * stride + j] = tile[threadIdx.x][r];
	}
}

static kdr_status mirror_square(kdri_device *d, double *a, int64_t stride, int64_t n)
{
	unsigned tiles = (unsigned)parts_of(n, 32);
	if (!tiles)
		return KDR_OK;
	mirror_tiles<<<dim3(tiles, tiles), dim3(32, 8), 0, self_of(d)->stream>>>(a, stride, n);
	return launched(d, "mirror");
}

static kdr_status cuda_mirror(kdr_context *, kdri_block a)
{
	BEGIN(a, "mirror");
	return mirror_square(d, at(a), a.stride, a.rows);
}

/* --- inverses ------------------------------------------------------------------------------------------------------ */

enum { LEAF = 1536 };

static kdr_status invert_leaf(kdri_device *d, double *a, int64_t stride, int64_t n)
{
	cuda_self *s = self_of(d);
	if (!s->solver) {
		TRY_LIB(d, "inverse", cusolverDnCreate(&s->solver));
		TRY_LIB(d, "inverse", cusolverDnSetStream(s->solver, s->stream));
	}
	int first = 0, second = 0, info = 0, *found = (int *)s->tally;
	/* The lower triangle by rows is the upper one by columns. */
	TRY_LIB(d, "inverse",
	        cusolverDnDpotrf_bufferSize(s->solver, CUBLAS_FILL_MODE_UPPER, (int)n, a, (int)stride, &first));
	TRY_LIB(d, "inverse",
	        cusolverDnDpotri_bufferSize(s->solver, CUBLAS_FILL_MODE_UPPER, (int)n, a, (int)stride, &second));
	int most = first > second ? first : second;
	cuda_scratch room(d);
	TRY_D(room.take((size_t)most * 8));
	TRY_LIB(d, "inverse",
	        cusolverDnDpotrf(s->solver, CUBLAS_FILL_MODE_UPPER, (int)n, a, (int)stride, room.as<double>(), most,
	                         found));
	TRY_D(fetch(d, "inverse", &info, found, sizeof info));
	if (info != 0) {
		snprintf(d->error, sizeof d->error, "not positive definite: pivot %d", info);
		return KDR_ERR_NUMERIC;
	}
	TRY_LIB(d, "inverse",
	        cusolverDnDpotri(s->solver, CUBLAS_FILL_MODE_UPPER, (int)n, a, (int)stride, room.as<double>(), most,
	                         found));
	return KDR_OK;
}

/* The lower triangle of C += alpha A B (trans: A' B), n x n, A and B packed with inner dimension k. */
static kdr_status lower_product(kdri_device *d, bool trans_a, bool trans_b, double alpha, const double *a,
                                  int64_t lda, const double *b, int64_t ldb, int64_t k, double *c, int64_t ldc,
                                  int64_t n)
{
	for (int64_t i = 0; i < n; i += STRIP) {
		int64_t rows = n - i < STRIP ? n - i : STRIP;
		TRY_D(gemm_double(d, trans_a, trans_b, alpha, a + (trans_a ? i : i * lda), lda, b, ldb, 1, c + i * ldc, ldc,
		                  rows, i + rows, k));
	}
	return KDR_OK;
}

/* All of the inverse from the lower triangle. */
static kdr_status invert(kdri_device *d, double *a, int64_t stride, int64_t n)
{
	if (n <= LEAF) {
		TRY_D(invert_leaf(d, a, stride, n));
		return mirror_square(d, a, stride, n);
	}
	int64_t h = (n / 2 + 63) / 64 * 64, r = n - h;
	double *a21 = a + h * stride, *a22 = a21 + h;
	cuda_scratch room(d);
	TRY_D(room.take((size_t)(2 * r * h) * 8)); /* h is a multiple of 64 */
	double *w = room.as<double>(), *sw = w + r * h;
	TRY_D(invert(d, a, stride, h));
	TRY_D(gemm_double(d, false, false, 1, a21, stride, a, stride, 0, w, h, r, h, h));
	TRY_D(lower_product(d, false, true, -1, w, h, a21, stride, h, a22, stride, r));
	TRY_D(invert(d, a22, stride, r));
	TRY_D(gemm_double(d, false, false, 1, a22, stride, w, h, 0, sw, h, r, h, r));
	TRY_D(lower_product(d, true, false, 1, w, h, sw, h, r, a, stride, h)); /* (E2) */
	TRY_D(each(d, "inverse", r, h, [=] __device__(int64_t i, int64_t j) { a21[i * stride + j] = -sw[i * h + j]; }));
	return mirror_square(d, a, stride, n);
}

/* The diagonal is scaled to ones before and scaled back afterwards, because halving loses digits if the diagonal is
 * uneven. */
static kdr_status cuda_inverse(kdr_context *, kdri_block a)
{
	BEGIN(a, "inverse");
	cuda_scratch room(d);
	int64_t n = a.rows;
	TRY_D(room.take((size_t)n * 8));
	const view v(a);
	double *s = room.as<double>();
	auto scale = [=] __device__(int64_t i, int64_t j) { v(i, j) *= s[i] * s[j]; };
	TRY_D(each(d, "inverse", 1, n, [=] __device__(int64_t, int64_t j) { s[j] = v(j, j) > 0 ? 1 / sqrt(v(j, j)) : 1; }));
	TRY_D(each(d, "inverse", n, n, scale));
	TRY_D(n ? invert(d, at(a), a.stride, n) : KDR_OK);
	return each(d, "inverse", n, n, scale);
}

/* --- vectors -------------------------------------------------------------------------------------------------------- */

static kdr_status cuda_apply(kdr_context *, kdri_block a, kdri_block b, kdri_block c)
{
	BEGIN(c, "apply");
	if (c.rows == 0 || c.cols == 0)
		return KDR_OK;
	return gemm_double(d, false, false, 1, at(a), a.stride, at(b), b.stride, 0, at(c), c.stride, c.rows, c.cols, a.cols);
}

/* y = A x, or A'x, of vectors on the device. */
static kdr_status vector_product(kdri_device *d, const char *what, kdri_block a, bool trans, const double *x, double *y)
{
	const double one = 1, zero = 0;
	TRY_LIB(d, what,
	        cublasDgemv_64(self_of(d)->blas, trans ? CUBLAS_OP_N : CUBLAS_OP_T, a.cols, a.rows, &one, at(a), a.stride, x, 1,
	                       &zero, y, 1));
	return KDR_OK;
}

static kdr_status cuda_times(kdr_context *, kdri_block a, bool trans, const double *x, double *y)
{
	BEGIN(a, "times");
	int64_t in = trans ? a.rows : a.cols, out = trans ? a.cols : a.rows;
	cuda_sent<double> from(d);
	cuda_scratch to(d);
	TRY_D(from.of("times", x, in));
	TRY_D(to.take((size_t)out * 8));
	if (in == 0 || out == 0)
		TRY_CUDA(d, "times", cudaMemsetAsync(to.data, 0, (size_t)out * 8, self_of(d)->stream));
	else
		TRY_D(vector_product(d, "times", a, trans, from.data, to.as<double>()));
	return fetch(d, "times", y, to.data, (size_t)out * 8);
}

static kdr_status cuda_row_dots(kdr_context *, kdri_block a, const double *v, double *out)
{
	BEGIN(a, "row_dots");
	cuda_sent<double> from(d);
	cuda_scratch ones(d), to(d);
	TRY_D(from.of("row_dots", v, a.cols));
	TRY_D(to.take((size_t)a.rows * 8));
	if (!v) {
		TRY_D(ones.take((size_t)a.cols * 8));
		double *one = ones.as<double>();
		TRY_D(each(d, "row_dots", 1, a.cols, [=] __device__(int64_t, int64_t j) { one[j] = 1; }));
	}
	TRY_D(vector_product(d, "row_dots", a, false, v ? from.data : ones.as<double>(), to.as<double>()));
	return fetch(d, "row_dots", out, to.data, (size_t)a.rows * 8);
}

/* --- sparse -------------------------------------------------------------------------------------------------------- */

/* A row of X and some columns of B, one for each thread along x. */
static __global__ void csr_times(const int64_t *rowptr, const int32_t *col, const double *val, int64_t rows,
                                 const double *b, int64_t ldb, int64_t cols, double *y, int64_t ldy)
{
	for (int64_t i = (int64_t)blockIdx.x * blockDim.y + threadIdx.y; i < rows;
	     i += (int64_t)gridDim.x * blockDim.y)
		for (int64_t c = (int64_t)blockIdx.y * blockDim.x + threadIdx.x; c < cols;
		     c += (int64_t)gridDim.y * blockDim.x) {
			double sum = 0;
			int64_t p = rowptr[i], end = rowptr[i + 1];
			for (; p + 8 <= end; p += 8) { /* eight on their way at a time */
				double v[8];
#pragma unroll
				for (int u = 0; u < 8; u++)
					v[u] = b[col[p + u] * ldb + c];
#pragma unroll
				for (int u = 0; u < 8; u++)
					sum += val[p + u] * v[u];
			}
			for (; p < end; p++)
				sum += val[p] * b[col[p] * ldb + c];
			y[i * ldy + c] = sum;
		}
}

enum { NARROW = 16, LONG = 2048, TEAM = 512 };

/* Of `lanes` threads that share a row of X, each entry by `wide` of them, wide a power of two that is at least cols: the sum of column
 * lane % wide, in the first `wide` lanes of each warp. */
static __device__ double narrow_sum(const int32_t *col, const double *val, int64_t begin, int64_t end, int lane, int lanes,
                                    int wide, const double *b, int64_t ldb, int64_t cols)
{
	int c = lane % wide;
	double sum = 0;
#pragma unroll 4
	for (int64_t p = begin + lane / wide; p < end; p += lanes / wide)
		sum += c < cols ? val[p] * b[col[p] * ldb + c] : 0;
	for (int by = 16; by >= wide; by /= 2)
		sum += __shfl_down_sync(~0u, sum, by);
	return sum;
}

/* B with few columns: one warp per row, whose lanes process several entries at a time. Rows above LONG are left to
 * csr_times_long. */
static __global__ void csr_times_narrow(const int64_t *rowptr, const int32_t *col, const double *val, int64_t rows, int wide,
                                        const double *b, int64_t ldb, int64_t cols, double *y, int64_t ldy)
{
	int lane = threadIdx.x;
	for (int64_t i = (int64_t)blockIdx.x * blockDim.y + threadIdx.y; i < rows; i += (int64_t)gridDim.x * blockDim.y) {
		int64_t begin = rowptr[i], end = rowptr[i + 1];
		if (end - begin > LONG)
			continue;
		double sum = narrow_sum(col, val, begin, end, lane, 32, wide, b, ldb, cols);
		if (lane < cols)
			y[i * ldy + lane] = sum;
	}
}

/* One block per row. */
static __global__ void __launch_bounds__(TEAM)
	csr_times_long(const int64_t *rowptr, const int32_t *col, const double *val, int64_t rows, int wide, const double *b,
                       int64_t ldb, int64_t cols, double *y, int64_t ldy)
{
	__shared__ double part[TEAM / 32][NARROW];
	int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	for (int64_t i = blockIdx.x; i < rows; i += gridDim.x) {
		int64_t begin = rowptr[i], end = rowptr[i + 1];
		if (end - begin <= LONG)
			continue;
		double sum = narrow_sum(col, val, begin, end, threadIdx.x, TEAM, wide, b, ldb, cols);
		if (lane < wide)
			part[warp][lane] = sum;
		__syncthreads();
		if (warp == 0 && lane < cols) {
			for (int w = 1; w < TEAM / 32; w++)
				sum += part[w][lane];
			y[i * ldy + lane] = sum;
		}
		__syncthreads();
	}
}

static kdr_status multiply_narrow(kdri_device *d, const kdr_csr &x, int64_t entries, kdri_block b, kdri_block y)
{
	int wide = 1;
	while (wide < y.cols)
		wide *= 2;
	csr_times_narrow<<<blocks_for(y.rows, 8), dim3(32, 8), 0, self_of(d)->stream>>>(
		x.rowptr, x.col, x.val, x.rows, wide, at(b), b.stride, y.cols, at(y), y.stride);
	TRY_LAUNCH(d, "multiply");
	if (entries > LONG)
		csr_times_long<<<blocks_for(y.rows, 1), TEAM, 0, self_of(d)->stream>>>(
			x.rowptr, x.col, x.val, x.rows, wide, at(b), b.stride, y.cols, at(y), y.stride);
	return launched(d, "multiply");
}

static kdr_status multiply(kdri_device *d, const kdr_csr &x, int64_t entries, kdri_block b, kdri_block y)
{
	/* The columns of B that are worked on at a time stay in the second cache. */
	unsigned wide = y.cols > 32 ? 64 : 32, high = 256 / wide;
	int64_t across = parts_of(y.cols, wide), down = parts_of(y.rows, high);
	if (!across || !down)
		return KDR_OK;
	if (y.cols <= NARROW)
		return multiply_narrow(d, x, entries, b, y);
	dim3 grid((unsigned)(down < (1 << 20) ? down : 1 << 20), (unsigned)(across < 65535 ? across : 65535));
	csr_times<<<grid, dim3(wide, high), 0, self_of(d)->stream>>>(x.rowptr, x.col, x.val, x.rows, at(b), b.stride, y.cols,
	                                                            at(y), y.stride);
	return launched(d, "multiply");
}

static kdr_status cuda_multiply(kdr_context *, const kdri_sparse *x, bool turned, kdri_block b, kdri_block y)
{
	BEGIN(y, "multiply");
	return multiply(d, turned ? x->turned : x->x, x->entries, b, y);
}

/* Rows first .. first + rows - 1 of X, each times its weights, as columns. */
static __global__ void scatter(const int64_t *rowptr, const int32_t *col, const double *val, int64_t first,
                               int64_t rows, const double *weight, double *to, int64_t stride)
{
	for (int64_t i = (int64_t)blockIdx.x * blockDim.y + threadIdx.y; i < rows;
	     i += (int64_t)gridDim.x * blockDim.y)
		for (int64_t p = rowptr[first + i] + threadIdx.x; p < rowptr[first + i + 1]; p += blockDim.x) {
			int64_t j = col[p];
			to[j * stride + i] = val[p] * (weight ? weight[j] : 1);
		}
}

/* Some rows at a time, spread out as columns, are multiplied by all: the full product, of which half is needed. */
static kdr_status cuda_gram(kdr_context *, const kdri_sparse *s, bool turned, const double *weight, kdri_block c)
{
	BEGIN(c, "gram");
	const kdr_csr x = turned ? s->turned : s->x;
	int64_t most = (int64_t)(d->room(d) / 64), wide = most / (x.cols < 1 ? 1 : x.cols);
	cuda_sent<double> weights(d);
	cuda_scratch room(d);
	wide = wide > 1024 ? 1024 : wide;
	wide = wide > x.rows ? x.rows : wide;
	wide = wide < 1 ? 1 : wide < 128 ? wide : wide / 32 * 32;
	TRY_D(weights.of("gram", weight, x.cols));
	TRY_D(room.take((size_t)(x.cols * wide) * 8));
	for (int64_t i = 0; i < x.rows; i += wide) {
		int64_t cols = x.rows - i < wide ? x.rows - i : wide;
		kdri_block from = c, to = c;
		from.rows = x.cols;
		to.rows = x.rows;
		from.cols = to.cols = cols;
		from.stride = wide;
		from.data = room.data;
		to.data = at(c) + i;
		TRY_D(fill_block(d, from, 0));
		scatter<<<blocks_for(cols, 8), dim3(32, 8), 0, self_of(d)->stream>>>(x.rowptr, x.col, x.val, i, cols, weights.data,
		                                                                    at(from), from.stride);
		TRY_LAUNCH(d, "gram");
		TRY_D(multiply(d, x, s->entries, from, to));
	}
	return KDR_OK;
}

void cuda_products(kdri_device *d)
{
	d->gemm = cuda_gemm;
	d->syrk = cuda_syrk;
	d->inverse = cuda_inverse;
	d->apply = cuda_apply;
	d->times = cuda_times;
	d->row_dots = cuda_row_dots;
	d->multiply = cuda_multiply;
	d->gram = cuda_gram;
	d->fill = cuda_fill;
	d->copy = cuda_copy;
	d->mirror = cuda_mirror;
}
