/* Row by row: order statistics, sums, and what is below a limit. SPDX-License-Identifier: BSD-3-Clause
 *
 * Equations are those of device.h. A block has a row, or a warp. */
#include "cuda.cuh"

enum { ROW_THREADS = 256 };

/* --- sums ------------------------------------------------------------------------------------------------------------ */

/* The sum of v over a block, in an order that depends on nothing; thread 0 has it. */
static __device__ double block_sum(double v)
{
	__shared__ double part[ROW_THREADS / 32];
	for (int by = 16; by > 0; by /= 2)
		v += __shfl_down_sync(~0u, v, by);
	if (threadIdx.x % 32 == 0)
		part[threadIdx.x / 32] = v;
	__syncthreads();
	v = 0;
	for (int w = 0; w < ROW_THREADS / 32; w++)
		v += part[w];
	__syncthreads();
	return v;
}

static __global__ void squares_of_rows(const double *a, int64_t stride, int64_t rows, int64_t cols, double weight,
                                       double beta, double *out)
{
	for (int64_t i = blockIdx.x; i < rows; i += gridDim.x) {
		double sum = 0;
		for (int64_t j = threadIdx.x; j < cols; j += ROW_THREADS)
			sum += a[i * stride + j] * a[i * stride + j];
		sum = block_sum(sum);
		if (threadIdx.x == 0) /* (E12) */
			out[i] = (beta == 0 ? 0 : beta * out[i]) + weight * sum;
	}
}

static kdri_dstatus cuda_row_sums(kdri_device *d, kdri_dmat a, double weight, double beta, kdri_buf *out)
{
	ENTER(d, "row_sums");
	squares_of_rows<<<blocks_for(a.rows, 1), ROW_THREADS, 0, self_of(d)->stream>>>(at(a), a.stride, a.rows, a.cols,
	                                                                              weight, beta, vec<double>(out));
	TRY_LAUNCH(d, "row_sums");
	return KDRI_D_OK;
}

static __global__ void kernel_of_rows(const double *k, int64_t stride, int64_t rows, int64_t cols, const double *s,
                                      const double *t, double factor, double *out)
{
	for (int64_t i = blockIdx.x; i < rows; i += gridDim.x) {
		double sum = 0;
		for (int64_t j = threadIdx.x; j < cols; j += ROW_THREADS) {
			double v = k[i * stride + j], gap = s[i] + t[j] - 2 * v;
			sum += factor > 0 ? exp(-factor * (gap > 0 ? gap : 0)) : v;
		}
		sum = block_sum(sum);
		if (threadIdx.x == 0)
			out[i] = sum;
	}
}

static __global__ void sum_all(const double *v, int64_t count, double *out)
{
	double sum = 0;
	for (int64_t i = threadIdx.x; i < count; i += ROW_THREADS)
		sum += v[i];
	sum = block_sum(sum);
	if (threadIdx.x == 0)
		*out = sum;
}

static kdri_dstatus cuda_kernel_sum(kdri_device *d, kdri_dmat k, kdri_dmat s, kdri_dmat t, double factor, double *out)
{
	ENTER(d, "kernel_sum");
	cudaStream_t stream = self_of(d)->stream;
	cuda_scratch room(d);
	TRY_D(room.take((size_t)(k.rows + 1) * 8));
	double *each = room.as<double>();
	kernel_of_rows<<<blocks_for(k.rows, 1), ROW_THREADS, 0, stream>>>(at(k), k.stride, k.rows, k.cols, at(s), at(t),
	                                                                 factor, each); /* (E10) */
	sum_all<<<1, ROW_THREADS, 0, stream>>>(each, k.rows, each + k.rows);
	TRY_LAUNCH(d, "kernel_sum");
	return fetch(d, "kernel_sum", out, each + k.rows, sizeof *out);
}

static __global__ void count_least(const double *a, int64_t stride, int64_t rows, int64_t cols, double least,
                                   unsigned long long *out)
{
	unsigned long long count = 0;
	for (int64_t i = blockIdx.x; i < rows; i += gridDim.x)
		for (int64_t j = threadIdx.x; j < cols; j += ROW_THREADS)
			count += a[i * stride + j] >= least;
	for (int by = 16; by > 0; by /= 2)
		count += __shfl_down_sync(~0u, count, by);
	if (threadIdx.x % 32 == 0 && count)
		atomicAdd(out, count);
}

static kdri_dstatus cuda_count_from(kdri_device *d, kdri_dmat a, double least, int64_t *out)
{
	ENTER(d, "count_from");
	unsigned long long *count = (unsigned long long *)self_of(d)->tally;
	TRY_CUDA(d, "count_from", cudaMemsetAsync(count, 0, sizeof *count, self_of(d)->stream));
	count_least<<<blocks_for(a.rows, 1), ROW_THREADS, 0, self_of(d)->stream>>>(at(a), a.stride, a.rows, a.cols, least,
	                                                                          count);
	TRY_LAUNCH(d, "count_from");
	return fetch(d, "count_from", out, count, sizeof *out);
}

/* --- order statistics ------------------------------------------------------------------------------------------------ */

/* Doubles as whole numbers in the same order. */
static __device__ unsigned long long key_of(double v)
{
	long long bits = __double_as_longlong(v);
	return (unsigned long long)bits ^ (bits < 0 ? ~0ull : 0x8000000000000000ull);
}

static __device__ double value_of(unsigned long long key)
{
	return __longlong_as_double((long long)(key & 0x8000000000000000ull ? key ^ 0x8000000000000000ull : ~key));
}

/* Byte by byte from the top: how many there are of each, and in which of them the place lies. */
static __global__ void nth_of_rows(const double *a, int64_t stride, int64_t rows, int64_t cols, int64_t place,
                                   int64_t first, double *out)
{
	__shared__ unsigned bins[256];
	__shared__ unsigned long long prefix;
	__shared__ long long left;
	for (int64_t i = blockIdx.x; i < rows; i += gridDim.x) {
		const double *row = a + i * stride;
		int64_t own = first >= 0 ? first + i : -1;
		if (threadIdx.x == 0) {
			prefix = 0;
			left = place;
		}
		for (int shift = 56; shift >= 0; shift -= 8) {
			for (int b = threadIdx.x; b < 256; b += ROW_THREADS)
				bins[b] = 0;
			__syncthreads();
			unsigned long long before = prefix;
			for (int64_t j = threadIdx.x; j < cols; j += ROW_THREADS) {
				unsigned long long key = key_of(j == own ? INFINITY : row[j]);
				if (shift == 56 || (key >> (shift + 8)) == before)
					atomicAdd(&bins[(key >> shift) & 255], 1u);
			}
			__syncthreads();
			if (threadIdx.x == 0) {
				long long at = left;
				int b = 0;
				for (; b < 255 && at >= (long long)bins[b]; b++)
					at -= bins[b];
				left = at;
				prefix = before << 8 | (unsigned)b;
			}
			__syncthreads();
		}
		if (threadIdx.x == 0) /* (E11) */
			out[i] = value_of(prefix);
		__syncthreads();
	}
}

static kdri_dstatus cuda_row_nth(kdri_device *d, kdri_dmat a, int64_t place, int64_t first, kdri_buf *out)
{
	ENTER(d, "row_nth");
	nth_of_rows<<<blocks_for(a.rows, 1), ROW_THREADS, 0, self_of(d)->stream>>>(at(a), a.stride, a.rows, a.cols, place,
	                                                                          first, vec<double>(out));
	TRY_LAUNCH(d, "row_nth");
	return KDRI_D_OK;
}

/* --- what is below a limit ------------------------------------------------------------------------------------------- */

/* A warp has a row: 32 entries at a time, so that they keep their order. */
static __global__ void pick_of_rows(const double *a, int64_t stride, int64_t rows, int64_t cols, int64_t first,
                                    const double *limit, int64_t *starts, int32_t *col, double *val)
{
	int lane = threadIdx.x;
	for (int64_t i = (int64_t)blockIdx.x * blockDim.y + threadIdx.y; i < rows;
	     i += (int64_t)gridDim.x * blockDim.y) {
		int64_t count = 0, at = col ? starts[i] : 0;
		double most = limit[i];
		for (int64_t j0 = 0; j0 < cols; j0 += 32) {
			int64_t j = j0 + lane;
			double v = j < cols ? a[i * stride + j] : INFINITY;
			bool in = j < cols && v < most && j != first + i; /* (E13) */
			unsigned mask = __ballot_sync(~0u, in);
			if (in && col) {
				int64_t to = at + count + __popc(mask & ((1u << lane) - 1));
				col[to] = (int32_t)j;
				val[to] = v;
			}
			count += __popc(mask);
		}
		if (!col && lane == 0)
			starts[i] = count;
	}
}

static kdri_dstatus cuda_pick(kdri_device *d, kdri_dmat a, int64_t first, const kdri_buf *limit, kdri_buf *starts,
                              kdri_buf *col, kdri_buf *val)
{
	ENTER(d, "pick");
	pick_of_rows<<<blocks_for(a.rows, 8), dim3(32, 8), 0, self_of(d)->stream>>>(
		at(a), a.stride, a.rows, a.cols, first, vec<double>(limit), vec<int64_t>(starts), vec<int32_t>(col),
		vec<double>(val));
	TRY_LAUNCH(d, "pick");
	return KDRI_D_OK;
}

void cuda_rows(kdri_device *d)
{
	d->row_sums = cuda_row_sums;
	d->kernel_sum = cuda_kernel_sum;
	d->count_from = cuda_count_from;
	d->row_nth = cuda_row_nth;
	d->pick = cuda_pick;
}
