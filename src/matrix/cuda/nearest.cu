/* k-means: the nearest centre. SPDX-License-Identifier: BSD-3-Clause
 *
 * Products of rows and centres are computed in large pieces (in measurements, one of a gigabyte was faster than many
 * that fit into the second-level cache), then the smallest of each row is found.
 *
 * For most rows, half precision suffices to determine the nearest centre; its products cost a tenth of those in
 * double precision. With y = x - s, s a vector near the rows' mean, y^ and c^ in half precision, r = |y - y^|, R =
 * max |c| and q = max |c - c^|,
 *
 *   (E1)  <x, c> = <y, c> + <s, c>,     |<y, c> - <y^, c^>| <= r R + (|y| + r) q
 *
 * and sums of d products in single precision have an additional error of at most
 *
 *   (E2)  (d + 64) 2^-22 (|y| + r) (R + q)
 *
 * If the two smallest values of a row differ by more than both bounds and the error of doubles together, its label is
 * certain. The other rows are gathered and compared in double precision, so that labels and uncertain rows are those
 * of double precision. Norms of rows are rounded up to single precision. Numbers are scaled to the range of half
 * precision by powers of two. */
#include "cuda.cuh"

#include <cuda_fp16.h>

enum { SHARES = 8 }; /* threads that share the centres of a row */

/* The half-precision data of x, stored consecutively in a buffer. */
struct rough_rows {
	__half *y; /* rows x wide */
	float2 *norms; /* of each row: |y| and r */
	double *mean;  /* s */
	double *top;   /* the largest |y_ij|, and of centres |c_ij|; R; q */
	int64_t wide;
};

static const size_t LINE = 256;

static size_t lines(size_t bytes)
{
	return (bytes + LINE - 1) / LINE * LINE;
}

static rough_rows rough_on(void *data, int64_t rows, int64_t cols, size_t *bytes)
{
	rough_rows r;
	char *at = static_cast<char *>(data);
	r.wide = parts_of(cols, 8) * 8;
	size_t first = lines((size_t)(rows * r.wide) * sizeof *r.y), second = lines((size_t)rows * sizeof *r.norms);
	r.y = reinterpret_cast<__half *>(at);
	r.norms = reinterpret_cast<float2 *>(at + first);
	r.mean = reinterpret_cast<double *>(at + first + second);
	r.top = reinterpret_cast<double *>(at + first + second + lines((size_t)cols * 8));
	*bytes = first + second + lines((size_t)cols * 8) + LINE;
	return r;
}

/* The power of two that brings `top` to 2^13 .. 2^14. */
static __device__ double half_scale(double top)
{
	int e = top > 0 ? ilogb(top) : 0;
	return scalbn(1.0, 13 - (e < -900 ? -900 : e));
}

/* Of numbers that are not negative, whose bits are in order. */
static __device__ void atomic_max(double *to, double v)
{
	atomicMax(reinterpret_cast<unsigned long long *>(to), (unsigned long long)__double_as_longlong(v));
}

static __global__ void largest(const double *a, int64_t stride, int64_t rows, int64_t cols, const double *mean, double *top)
{
	double most = 0;
	for (int64_t i = blockIdx.y; i < rows; i += gridDim.y)
		for (int64_t j = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; j < cols; j += (int64_t)gridDim.x * blockDim.x)
			most = fmax(most, fabs(a[i * stride + j] - (mean ? mean[j] : 0)));
	for (int by = 16; by > 0; by /= 2)
		most = fmax(most, __shfl_down_sync(~0u, most, by));
	if (threadIdx.x % 32 == 0 && most > 0)
		atomic_max(top, most);
}

static __device__ double warp_sum(double v)
{
	for (int by = 16; by > 0; by /= 2)
		v += __shfl_down_sync(~0u, v, by);
	return v;
}

/* One warp per row: y^ with zeros up to `wide`, and the norms, rounded up. */
static __global__ void make_rough(const double *x, int64_t stride, int64_t rows, int64_t cols, rough_rows r)
{
	int lane = threadIdx.x;
	const double scale = half_scale(r.top[0]), back = 1 / scale;
	for (int64_t i = (int64_t)blockIdx.x * blockDim.y + threadIdx.y; i < rows; i += (int64_t)gridDim.x * blockDim.y) {
		double all = 0, rest = 0;
		for (int64_t j = lane; j < r.wide; j += 32) {
			double v = j < cols ? x[i * stride + j] - r.mean[j] : 0;
			__half h = __double2half(v * scale);
			double gone = v - (double)__half2float(h) * back;
			r.y[i * r.wide + j] = h;
			all += v * v;
			rest += gone * gone;
		}
		all = warp_sum(all);
		rest = warp_sum(rest);
		if (lane == 0) /* the error of these sums is less than the millionth that is added */
			r.norms[i] = make_float2(__double2float_ru(1.000001 * sqrt(all)), __double2float_ru(1.000001 * sqrt(rest)));
	}
}

/* A block for a centre: c^, <s, c>; R and q. Rows from k to `high` are zeros. */
static __global__ void rough_centres(const double *c, int64_t stride, int64_t k, int64_t cols, rough_rows r, __half *to,
                                     double *with_mean)
{
	__shared__ double part[3][32];
	int64_t i = blockIdx.x;
	int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
	const double scale = half_scale(r.top[1]), back = 1 / scale;
	double all = 0, rest = 0, dot = 0;
	for (int64_t j = threadIdx.x; j < r.wide; j += blockDim.x) {
		double v = i < k && j < cols ? c[i * stride + j] : 0;
		__half h = __double2half(v * scale);
		double gone = v - (double)__half2float(h) * back;
		to[i * r.wide + j] = h;
		all += v * v;
		rest += gone * gone;
		dot += j < cols ? v * r.mean[j] : 0;
	}
	all = warp_sum(all);
	rest = warp_sum(rest);
	dot = warp_sum(dot);
	if (lane == 0) {
		part[0][warp] = all;
		part[1][warp] = rest;
		part[2][warp] = dot;
	}
	__syncthreads();
	if (threadIdx.x > 0 || i >= k)
		return;
	for (int w = 1; w < warps; w++) {
		all += part[0][w];
		rest += part[1][w];
		dot += part[2][w];
	}
	atomic_max(&r.top[2], 1.000001 * sqrt(all));
	atomic_max(&r.top[3], 1.000001 * sqrt(rest));
	with_mean[i] = dot;
}

struct nearest_two {
	double best, second;
	int32_t arg;
};

/* The two smallest values of row i of `dots`, k x m (so that threads of neighbouring rows read together), found by SHARES
 * threads; the first of them returns true. */
template <typename T>
static __device__ bool two_smallest(const T *dots, int64_t ld, int64_t m, int64_t i, int64_t k, const double *offset,
                                    double two, double unit, const double *with_mean, nearest_two *out)
{
	__shared__ double bests[SHARES][32], seconds[SHARES][32];
	__shared__ int32_t args[SHARES][32];
	int lane = threadIdx.x, share = threadIdx.y;
	double best = INFINITY, second = INFINITY;
	int32_t arg = 0;
	for (int64_t j = share; j < k && i < m; j += SHARES) { /* (E1) */
		double dot = (double)dots[j * ld + i];
		double v = offset[j] - two * (with_mean ? dot * unit + with_mean[j] : dot);
		if (v < best) {
			second = best;
			best = v;
			arg = (int32_t)j;
		} else if (v < second) {
			second = v;
		}
	}
	bests[share][lane] = best;
	seconds[share][lane] = second;
	args[share][lane] = arg;
	__syncthreads();
	if (share > 0 || i >= m)
		return false;
	for (int q = 1; q < SHARES; q++) {
		double v = bests[q][lane];
		if (v < best || (v == best && args[q][lane] < arg && v < INFINITY)) {
			second = best < seconds[q][lane] ? best : seconds[q][lane];
			best = v;
			arg = args[q][lane];
		} else if (v < second) {
			second = v;
		}
	}
	*out = { best, second, arg };
	return true;
}

/* Rows first .. of x, or those of a list. */
static __global__ void __launch_bounds__(32 * SHARES)
	compare(const double *dots, int64_t m, int64_t first, const int32_t *list, int64_t k, nearest_job job)
{
	int64_t i = (int64_t)blockIdx.x * 32 + threadIdx.x, row = i < m ? (list ? list[first + i] : first + i) : 0;
	nearest_two n;
	if (!two_smallest(dots, m, m, i, k, job.offset, job.twice ? job.twice[row] : 2, 1, (const double *)nullptr, &n))
		return;
	job.label[row] = n.arg;
	if (job.value)
		job.value[row] = n.best;
	job.flag[row] = !(n.second - n.best > 2.01 * (job.error_row * job.norm[row] + job.error_base));
}

static __global__ void __launch_bounds__(32 * SHARES)
	compare_rough(const float *dots, int64_t ld, int64_t m, int64_t first, int64_t k, const double *with_mean, rough_rows r,
                      double adding, nearest_job job)
{
	int64_t i = (int64_t)blockIdx.x * 32 + threadIdx.x, row = i < m ? first + i : 0;
	double two = job.twice ? job.twice[row] : 2, unit = 1 / (half_scale(r.top[0]) * half_scale(r.top[1]));
	nearest_two n;
	if (!two_smallest(dots, ld, m, i, k, job.offset, two, unit, with_mean, &n))
		return;
	double y = r.norms[row].x, rest = r.norms[row].y, radius = r.top[2], off = r.top[3];
	double error = rest * radius + (y + rest) * off + adding * (y + rest) * (radius + off); /* (E1), (E2) */
	job.label[row] = n.arg;
	job.flag[row] = !(n.second - n.best > 2.01 * (two * error + job.error_row * job.norm[row] + job.error_base));
}

/* --- rows that are flagged ------------------------------------------------------------------------------------------- */

enum { STRETCH = 256 }; /* rows of a warp */

/* How many rows of each stretch are flagged; then the rows, in order. */
static __global__ void count_flags(const unsigned char *flag, int64_t n, int64_t *counts, const int64_t *starts,
                                   int32_t *list)
{
	int lane = threadIdx.x;
	int64_t s = (int64_t)blockIdx.x * blockDim.y + threadIdx.y, from = s * STRETCH;
	int64_t to = from + STRETCH < n ? from + STRETCH : n, count = 0;
	if (from >= n)
		return;
	for (int64_t i0 = from; i0 < to; i0 += 32) {
		int64_t i = i0 + lane;
		bool in = i < to && flag[i];
		unsigned mask = __ballot_sync(~0u, in);
		if (in && list)
			list[starts[s] + count + __popc(mask & ((1u << lane) - 1))] = (int32_t)i;
		count += __popc(mask);
	}
	if (lane == 0 && counts)
		counts[s] = count;
}

kdr_status flagged_rows(kdri_device *d, const unsigned char *flag, int64_t n, int32_t *list, int64_t *found)
{
	cudaStream_t stream = self_of(d)->stream;
	int64_t stretches = parts_of(n, STRETCH);
	cuda_scratch room(d);
	dim3 shape(32, 8);
	unsigned blocks = (unsigned)parts_of(stretches, 8);
	TRY_D(room.take((size_t)(stretches + 1) * 8));
	int64_t *counts = room.as<int64_t>();
	count_flags<<<blocks, shape, 0, stream>>>(flag, n, counts, nullptr, nullptr);
	TRY_LAUNCH(d, "nearest");
	TRY_D(sums_before(d, "nearest", counts, stretches));
	TRY_D(fetch(d, "nearest", found, counts + stretches, sizeof *found));
	if (*found > 0)
		count_flags<<<blocks, shape, 0, stream>>>(flag, n, nullptr, counts, list);
	return launched(d, "nearest");
}

static __global__ void gather(const double *x, int64_t stride, int64_t cols, const int32_t *list, int64_t m, double *to)
{
	for (int64_t i = (int64_t)blockIdx.x * blockDim.y + threadIdx.y; i < m; i += (int64_t)gridDim.x * blockDim.y)
		for (int64_t j = threadIdx.x; j < cols; j += blockDim.x)
			to[i * cols + j] = x[list[i] * stride + j];
}

/* --- the table's ------------------------------------------------------------------------------------------------------- */

/* The number of rows of a piece whose products take at most the given number of bytes. */
static int64_t piece_of(int64_t n, int64_t cols, int64_t k)
{
	/* Products take as much room as half of the rows, at most. */
	int64_t most = n * cols / 2;
	most = most < (3 << 20) ? 3 << 20 : most > (1 << 27) ? 1 << 27 : most;
	int64_t piece = most / k;
	piece = piece < 4096 ? 4096 : (piece / 128) * 128;
	return piece < n ? piece : n;
}

/* All rows, or `count` of a list, in double. */
static kdr_status in_double(kdri_device *d, kdri_block x, kdri_block c, const int32_t *list, int64_t count, nearest_job job)
{
	cudaStream_t stream = self_of(d)->stream;
	const double one = 1, zero = 0;
	int64_t k = c.rows, piece = piece_of(count, x.cols, k);
	cuda_scratch dots(d), rows(d);
	TRY_D(dots.take((size_t)(piece * k) * 8));
	if (list)
		TRY_D(rows.take((size_t)(piece * x.cols) * 8));
	for (int64_t i = 0; i < count; i += piece) {
		int64_t m = count - i < piece ? count - i : piece, ld = list ? x.cols : x.stride;
		const double *from = list ? rows.as<double>() : at(x) + i * x.stride;
		if (list) {
			gather<<<blocks_for(m, 4), dim3(64, 4), 0, stream>>>(at(x), x.stride, x.cols, list + i, m,
			                                                     rows.as<double>());
			TRY_LAUNCH(d, "nearest");
		}
		/* k x m by rows is m x k by columns: X C' there is (X')' C'. */
		TRY_LIB(d, "nearest",
		        cublasDgemm_64(self_of(d)->blas, CUBLAS_OP_T, CUBLAS_OP_N, m, k, x.cols, &one, from, ld, at(c), c.stride,
		                       &zero, dots.as<double>(), m));
		compare<<<(unsigned)parts_of(m, 32), dim3(32, SHARES), 0, stream>>>(dots.as<double>(), m, i, list, k, job);
		TRY_LAUNCH(d, "nearest");
	}
	return KDR_OK;
}

/* All rows, roughly: labels, and flags where they are not certain. */
static kdr_status in_half(kdri_device *d, kdri_block x, kdri_block c, const void *rough, nearest_job job)
{
	cudaStream_t stream = self_of(d)->stream;
	const float one = 1, zero = 0;
	size_t bytes;
	rough_rows r = rough_on(const_cast<void *>(rough), x.rows, x.cols, &bytes);
	int64_t k = c.rows, high = parts_of(k, 8) * 8, piece = parts_of(piece_of(x.rows, x.cols, high), 8) * 8;
	cuda_scratch dots(d), centres(d), with_mean(d);
	TRY_D(dots.take((size_t)(piece * high) * sizeof(float)));
	TRY_D(centres.take((size_t)(high * r.wide) * sizeof(__half)));
	TRY_D(with_mean.take((size_t)k * 8));
	if (self_of(d)->clear)
		TRY_CUDA(d, "nearest", cudaMemsetAsync(dots.data, 0, (size_t)(piece * high) * sizeof(float), stream));
	TRY_CUDA(d, "nearest", cudaMemsetAsync(r.top + 1, 0, 3 * sizeof *r.top, stream));
	largest<<<dim3((unsigned)parts_of(x.cols, 256) < 16 ? (unsigned)parts_of(x.cols, 256) : 16, (unsigned)(k < 1024 ? k : 1024)),
	          256, 0, stream>>>(at(c), c.stride, k, x.cols, nullptr, r.top + 1);
	rough_centres<<<(unsigned)high, 256, 0, stream>>>(at(c), c.stride, k, x.cols, r, centres.as<__half>(),
	                                                  with_mean.as<double>());
	TRY_LAUNCH(d, "nearest");
	for (int64_t i = 0; i < x.rows; i += piece) {
		int64_t m = x.rows - i < piece ? x.rows - i : piece;
		TRY_LIB(d, "nearest",
		        cublasGemmEx_64(self_of(d)->blas, CUBLAS_OP_T, CUBLAS_OP_N, m, high, r.wide, &one, r.y + i * r.wide,
		                        CUDA_R_16F, r.wide, centres.data, CUDA_R_16F, r.wide, &zero, dots.data, CUDA_R_32F,
		                        piece, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
		compare_rough<<<(unsigned)parts_of(m, 32), dim3(32, SHARES), 0, stream>>>(
			dots.as<float>(), piece, m, i, k, with_mean.as<double>(), r, (double)(r.wide + 64) * 0x1p-22, job);
		TRY_LAUNCH(d, "nearest");
	}
	return KDR_OK;
}

static kdr_status cuda_nearest_rows(kdr_context *, kdri_drows rows, kdri_nearest *out)
{
	kdri_block x = rows.dense, c = out->centres;
	BEGIN(c, "nearest");
	if (rows.sparse)
		return nearest_of_sparse(d, &rows.csr, out);
	int64_t n = rows.rows, unsure = n;
	cuda_scratch flags(d), list(d);
	out->doubts = 0;
	if (n == 0)
		return KDR_OK;
	TRY_D(flags.take((size_t)n));
	nearest_job job = { out->offset, out->twice, out->norm, out->error_row, out->error_base, out->label, out->value,
		            flags.as<unsigned char>() };
	if (out->rough && !out->value) {
		TRY_D(list.take((size_t)n * sizeof(int32_t)));
		TRY_D(in_half(d, x, c, out->rough, job));
		TRY_D(flagged_rows(d, job.flag, n, list.as<int32_t>(), &unsure));
	}
	if (unsure > n / 2) /* to gather them would cost more */
		TRY_D(in_double(d, x, c, nullptr, n, job));
	else if (unsure > 0)
		TRY_D(in_double(d, x, c, list.as<int32_t>(), unsure, job));
	return unsure > 0 ? flagged_rows(d, job.flag, n, out->doubt, &out->doubts) : KDR_OK;
}

static kdr_status cuda_rough(kdr_context *ctx, kdri_block x, const double *mean, void **out)
{
	BEGIN(x, "rough");
	cudaStream_t stream = self_of(d)->stream;
	size_t bytes;
	void *data = nullptr;
	(void)rough_on(nullptr, x.rows, x.cols, &bytes);
	*out = nullptr;
	if (x.rows < 4096 || x.cols < 16 || bytes > d->room(d) / 4)
		return KDR_OK;
	TRY_D(d->alloc(ctx, d, bytes, &data));
	rough_rows r = rough_on(data, x.rows, x.cols, &bytes);
	int64_t across = parts_of(x.cols, 256);
	kdr_status st = send(d, "rough", r.mean, mean, (size_t)x.cols * 8);
	if (st != KDR_OK) {
		d->release(ctx, d, data);
		return st;
	}
	cudaError_t e = cudaMemsetAsync(r.top, 0, 4 * sizeof *r.top, stream);
	if (e == cudaSuccess) {
		largest<<<dim3((unsigned)(across < 16 ? across : 16), 4096), 256, 0, stream>>>(at(x), x.stride, x.rows, x.cols,
		                                                                              r.mean, r.top);
		make_rough<<<blocks_for(x.rows, 8), dim3(32, 8), 0, stream>>>(at(x), x.stride, x.rows, x.cols, r);
		e = cudaGetLastError();
	}
	if (e != cudaSuccess) {
		d->release(ctx, d, data);
		return cuda_failed(d, "rough", e);
	}
	*out = data;
	return KDR_OK;
}

void cuda_nearest(kdri_device *d)
{
	d->nearest = cuda_nearest_rows;
	d->rough = cuda_rough;
}
