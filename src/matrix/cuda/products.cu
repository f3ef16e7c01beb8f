/* Products and solves. SPDX-License-Identifier: BSD-3-Clause
 *
 * Symmetric products are done in strips of rows up to the diagonal, each one dgemm: half of the work but for the diagonal,
 * at the speed of dgemm.
 *
 * Single sharpness. Hopper multiplies numbers of 11 bits eight times as fast as doubles. A number is the sum of two such, hi and
 * lo, with 22 bits together, as in single precision, and
 *
 *   (E1)  a b = hi hi' + hi lo' + lo hi'      but for lo lo', which is below the last bit kept
 *
 * Sums are single within SLICE terms, as the tensor cores add, and double beyond.
 *
 * Inverses are found by halves, which is all products: with W = A21 A11^-1 and S = A22 - W A21',
 *
 *   (E2)  the inverse of A is  [ A11^-1 + W' S^-1 W,  (-S^-1 W)' ;  -S^-1 W,  S^-1 ]
 *
 * n^3 operations, as many as by a factorisation. Halves below LEAF are factorised by cuSOLVER. */
#include "cuda.cuh"

enum { STRIP = 2048, SLICE = 8192 };

/* --- double ------------------------------------------------------------------------------------------------------ */

static kdri_dstatus gemm_double(kdri_device *d, bool trans_a, bool trans_b, double alpha, const double *a,
                                int64_t lda, const double *b, int64_t ldb, double beta, double *c, int64_t ldc,
                                int64_t m, int64_t n, int64_t k)
{
	TRY_LIB(d, "gemm",
	        cublasDgemm_64(self_of(d)->blas, trans_b ? CUBLAS_OP_T : CUBLAS_OP_N,
	                       trans_a ? CUBLAS_OP_T : CUBLAS_OP_N, n, m, k, &alpha, b, ldb, a, lda, &beta, c,
	                       ldc));
	return KDRI_D_OK;
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
	kdri_dstatus take(size_t most)
	{
		TRY_D(hi.take(most * sizeof(float)));
		return lo.take(most * sizeof(float));
	}
	kdri_dstatus fill(kdri_device *d, const double *a, int64_t stride, int64_t rows, int64_t width)
	{
		ld = padded(width);
		split<<<by_rows(padded(rows), ld), 256, 0, self_of(d)->stream>>>(a, stride, rows, width, hi.as<float>(),
		                                                               lo.as<float>(), padded(rows), ld);
		TRY_LAUNCH(d, "gemm");
		return KDRI_D_OK;
	}
};

/* T = op(A) op(B) of parts: rows from `a0` of op(A), columns from `b0` of op(B); all sizes are padded. */
static kdri_dstatus three_products(kdri_device *d, bool trans_a, bool trans_b, const halves &a, int64_t a0,
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
	return KDRI_D_OK;
}

static kdri_dstatus gemm_single(kdri_device *d, bool trans_a, bool trans_b, double alpha, kdri_dmat a,
                                kdri_dmat b, double beta, kdri_dmat c, int64_t k)
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
	return KDRI_D_OK;
}

/* --- the table's ------------------------------------------------------------------------------------------------- */

/* Small products are not worth the detour. */
static bool single_pays(int64_t m, int64_t n, int64_t k)
{
	return m >= 512 && n >= 512 && k >= 256;
}

static kdri_dstatus cuda_fill(kdri_device *d, kdri_dmat a, double value);

static kdri_dstatus cuda_gemm(kdri_device *d, bool trans_a, bool trans_b, double alpha, kdri_dmat a, kdri_dmat b,
                              double beta, kdri_dmat c, kdri_sharp sharp)
{
	ENTER(d, "gemm");
	int64_t k = trans_a ? a.rows : a.cols;
	if (c.rows == 0 || c.cols == 0)
		return KDRI_D_OK;
	if (k == 0)
		return beta == 0 ? cuda_fill(d, c, 0) : KDRI_D_OK;
	if (sharp == KDRI_SHARP_SINGLE && single_pays(c.rows, c.cols, k))
		return gemm_single(d, trans_a, trans_b, alpha, a, b, beta, c, k);
	return gemm_double(d, trans_a, trans_b, alpha, at(a), a.stride, at(b), b.stride, beta, at(c), c.stride, c.rows,
	                   c.cols, k); /* (E1) of device.h */
}

static kdri_dstatus syrk_single(kdri_device *d, bool trans, double alpha, kdri_dmat a, double beta, kdri_dmat c,
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
	return KDRI_D_OK;
}

static kdri_dstatus cuda_syrk(kdri_device *d, bool trans, double alpha, kdri_dmat a, double beta, kdri_dmat c,
                              kdri_sharp sharp)
{
	ENTER(d, "syrk");
	int64_t n = c.rows, k = trans ? a.rows : a.cols;
	if (n == 0)
		return KDRI_D_OK;
	if (k == 0)
		return beta == 0 ? cuda_fill(d, c, 0) : KDRI_D_OK;
	if (sharp == KDRI_SHARP_SINGLE && single_pays(n, n, k))
		return syrk_single(d, trans, alpha, a, beta, c, k);
	for (int64_t i = 0; i < n; i += STRIP) { /* (E2) of device.h */
		int64_t rows = n - i < STRIP ? n - i : STRIP;
		const double *strip = at(a) + (trans ? i : i * a.stride);
		TRY_D(gemm_double(d, trans, !trans, alpha, strip, a.stride, at(a), a.stride, beta,
		                  at(c) + i * c.stride, c.stride, rows, i + rows, k));
	}
	return KDRI_D_OK;
}

/* --- entries ----------------------------------------------------------------------------------------------------- */

static __global__ void fill_all(double *a, int64_t stride, int64_t rows, int64_t cols, double value)
{
	int64_t count = rows * cols, step = (int64_t)gridDim.x * blockDim.x;
	for (int64_t p = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; p < count; p += step)
		a[p / cols * stride + p % cols] = value;
}

static kdri_dstatus cuda_fill(kdri_device *d, kdri_dmat a, double value)
{
	ENTER(d, "fill");
	if (a.rows == 0 || a.cols == 0)
		return KDRI_D_OK;
	fill_all<<<blocks_for(a.rows * a.cols, 1024), 256, 0, self_of(d)->stream>>>(at(a), a.stride, a.rows, a.cols,
	                                                                           value);
	TRY_LAUNCH(d, "fill");
	return KDRI_D_OK;
}

static kdri_dstatus cuda_copy(kdri_device *d, kdri_dmat from, kdri_dmat to)
{
	ENTER(d, "copy");
	if (from.rows == 0 || from.cols == 0)
		return KDRI_D_OK;
	TRY_CUDA(d, "copy",
	         cudaMemcpy2DAsync(at(to), (size_t)to.stride * 8, at(from), (size_t)from.stride * 8,
	                           (size_t)from.cols * 8, (size_t)from.rows, cudaMemcpyDeviceToDevice,
	                           self_of(d)->stream));
	return KDRI_D_OK;
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

static kdri_dstatus cuda_mirror(kdri_device *d, kdri_dmat a)
{
	ENTER(d, "mirror");
	unsigned tiles = (unsigned)parts_of(a.rows, 32);
	if (!tiles)
		return KDRI_D_OK;
	mirror_tiles<<<dim3(tiles, tiles), dim3(32, 8), 0, self_of(d)->stream>>>(at(a), a.stride, a.rows);
	TRY_LAUNCH(d, "mirror");
	return KDRI_D_OK;
}

/* --- inverses ------------------------------------------------------------------------------------------------------ */

enum { LEAF = 1536 };

static kdri_dstatus invert_leaf(kdri_device *d, double *a, int64_t stride, int64_t n)
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
		return KDRI_D_NUMERIC;
	}
	TRY_LIB(d, "inverse",
	        cusolverDnDpotri(s->solver, CUBLAS_FILL_MODE_UPPER, (int)n, a, (int)stride, room.as<double>(), most,
	                         found));
	return KDRI_D_OK;
}

/* The lower triangle of C += alpha A B (trans: A' B), n x n, A and B packed with inner dimension k. */
static kdri_dstatus lower_product(kdri_device *d, bool trans_a, bool trans_b, double alpha, const double *a,
                                  int64_t lda, const double *b, int64_t ldb, int64_t k, double *c, int64_t ldc,
                                  int64_t n)
{
	for (int64_t i = 0; i < n; i += STRIP) {
		int64_t rows = n - i < STRIP ? n - i : STRIP;
		TRY_D(gemm_double(d, trans_a, trans_b, alpha, a + (trans_a ? i : i * lda), lda, b, ldb, 1, c + i * ldc, ldc,
		                  rows, i + rows, k));
	}
	return KDRI_D_OK;
}

static kdri_dstatus mirror_square(kdri_device *d, double *a, int64_t stride, int64_t n)
{
	unsigned tiles = (unsigned)parts_of(n, 32);
	mirror_tiles<<<dim3(tiles, tiles), dim3(32, 8), 0, self_of(d)->stream>>>(a, stride, n);
	TRY_LAUNCH(d, "mirror");
	return KDRI_D_OK;
}

/* to = -from, rows x cols packed. */
static __global__ void negate(const double *from, int64_t rows, int64_t cols, double *to, int64_t stride)
{
	int64_t count = rows * cols, step = (int64_t)gridDim.x * blockDim.x;
	for (int64_t p = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; p < count; p += step)
		to[p / cols * stride + p % cols] = -from[p];
}

/* All of the inverse from the lower triangle. */
static kdri_dstatus invert(kdri_device *d, double *a, int64_t stride, int64_t n)
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
	negate<<<blocks_for(r * h, 1024), 256, 0, self_of(d)->stream>>>(sw, r, h, a21, stride);
	TRY_LAUNCH(d, "inverse");
	return mirror_square(d, a, stride, n);
}

static kdri_dstatus cuda_inverse(kdri_device *d, kdri_dmat a)
{
	ENTER(d, "inverse");
	return a.rows ? invert(d, at(a), a.stride, a.rows) : KDRI_D_OK; /* (E3) of device.h */
}

/* --- sparse -------------------------------------------------------------------------------------------------------- */

/* A row of X and some columns of B, one for each thread along x. */
static __global__ void csr_times(const int64_t *rowptr, const int32_t *col, const double *val, int64_t rows,
                                 const double *b, int64_t ldb, int64_t cols, bool add, double *y, int64_t ldy)
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
			y[i * ldy + c] = add ? y[i * ldy + c] + sum : sum;
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

/* B with few columns: a warp for a row, its lanes for several entries at a time. Rows above LONG are left to csr_times_long. */
static __global__ void csr_times_narrow(const int64_t *rowptr, const int32_t *col, const double *val, int64_t rows, int wide,
                                        const double *b, int64_t ldb, int64_t cols, bool add, double *y, int64_t ldy)
{
	int lane = threadIdx.x;
	for (int64_t i = (int64_t)blockIdx.x * blockDim.y + threadIdx.y; i < rows; i += (int64_t)gridDim.x * blockDim.y) {
		int64_t begin = rowptr[i], end = rowptr[i + 1];
		if (end - begin > LONG)
			continue;
		double sum = narrow_sum(col, val, begin, end, lane, 32, wide, b, ldb, cols);
		if (lane < cols)
			y[i * ldy + lane] = add ? y[i * ldy + lane] + sum : sum;
	}
}

/* A block for a row. */
static __global__ void __launch_bounds__(TEAM)
	csr_times_long(const int64_t *rowptr, const int32_t *col, const double *val, int64_t rows, int wide, const double *b,
                       int64_t ldb, int64_t cols, bool add, double *y, int64_t ldy)
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
			y[i * ldy + lane] = add ? y[i * ldy + lane] + sum : sum;
		}
		__syncthreads();
	}
}

static kdri_dstatus multiply_narrow(kdri_device *d, kdri_dcsr x, kdri_dmat b, bool add, kdri_dmat y)
{
	int wide = 1;
	while (wide < y.cols)
		wide *= 2;
	csr_times_narrow<<<blocks_for(y.rows, 8), dim3(32, 8), 0, self_of(d)->stream>>>(
		vec<int64_t>(x.rowptr), vec<int32_t>(x.col), vec<double>(x.val), x.rows, wide, at(b), b.stride, y.cols, add, at(y),
		y.stride);
	TRY_LAUNCH(d, "multiply");
	if (x.entries > LONG)
		csr_times_long<<<blocks_for(y.rows, 1), TEAM, 0, self_of(d)->stream>>>(
			vec<int64_t>(x.rowptr), vec<int32_t>(x.col), vec<double>(x.val), x.rows, wide, at(b), b.stride, y.cols, add,
			at(y), y.stride);
	TRY_LAUNCH(d, "multiply");
	return KDRI_D_OK;
}

static kdri_dstatus cuda_multiply(kdri_device *d, kdri_dcsr x, kdri_dmat b, bool add, kdri_dmat y)
{
	ENTER(d, "multiply");
	/* The columns of B that are worked on at a time stay in the second cache. */
	unsigned wide = y.cols > 32 ? 64 : 32, high = 256 / wide;
	int64_t across = parts_of(y.cols, wide), down = parts_of(y.rows, high);
	if (!across || !down)
		return KDRI_D_OK;
	if (y.cols <= NARROW)
		return multiply_narrow(d, x, b, add, y); /* (E14) of device.h */
	dim3 grid((unsigned)(down < (1 << 20) ? down : 1 << 20), (unsigned)(across < 65535 ? across : 65535));
	csr_times<<<grid, dim3(wide, high), 0, self_of(d)->stream>>>(
		vec<int64_t>(x.rowptr), vec<int32_t>(x.col), vec<double>(x.val), x.rows, at(b), b.stride, y.cols, add, at(y),
		y.stride); /* (E14) of device.h */
	TRY_LAUNCH(d, "multiply");
	return KDRI_D_OK;
}

static __global__ void scatter(const int64_t *rowptr, const int32_t *col, const double *val, int64_t first,
                               int64_t rows, const double *weight, bool transposed, double *to, int64_t stride)
{
	for (int64_t i = (int64_t)blockIdx.x * blockDim.y + threadIdx.y; i < rows;
	     i += (int64_t)gridDim.x * blockDim.y)
		for (int64_t p = rowptr[first + i] + threadIdx.x; p < rowptr[first + i + 1]; p += blockDim.x) {
			int64_t j = col[p];
			to[transposed ? j * stride + i : i * stride + j] = val[p] * (weight ? weight[j] : 1);
		}
}

static kdri_dstatus cuda_spread(kdri_device *d, kdri_dcsr x, int64_t first, const kdri_buf *weight, bool transposed,
                                kdri_dmat to)
{
	ENTER(d, "spread");
	int64_t rows = transposed ? to.cols : to.rows;
	TRY_D(cuda_fill(d, to, 0));
	if (rows == 0)
		return KDRI_D_OK;
	scatter<<<blocks_for(rows, 8), dim3(32, 8), 0, self_of(d)->stream>>>(
		vec<int64_t>(x.rowptr), vec<int32_t>(x.col), vec<double>(x.val), first, rows, vec<double>(weight), transposed,
		at(to), to.stride); /* (E15) of device.h */
	TRY_LAUNCH(d, "spread");
	return KDRI_D_OK;
}

void cuda_products(kdri_device *d)
{
	d->gemm = cuda_gemm;
	d->syrk = cuda_syrk;
	d->inverse = cuda_inverse;
	d->multiply = cuda_multiply;
	d->spread = cuda_spread;
	d->fill = cuda_fill;
	d->copy = cuda_copy;
	d->mirror = cuda_mirror;
}
