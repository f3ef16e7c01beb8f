/* Operations by row: order statistics, sums, and entries below a limit. SPDX-License-Identifier: BSD-3-Clause
 *
 * Each row is processed by one block or one warp. */
#include "cuda.cuh"

enum { ROW_THREADS = 256 };

/* --- sums ------------------------------------------------------------------------------------------------------------ */

/* The sum of v over a block, in a fixed order; thread 0 has the result. */
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

static __global__ void squares_of_rows(const double *a, int64_t stride, int64_t rows, int64_t cols, double *out)
{
	for (int64_t i = blockIdx.x; i < rows; i += gridDim.x) {
		double sum = 0;
		for (int64_t j = threadIdx.x; j < cols; j += ROW_THREADS)
			sum += a[i * stride + j] * a[i * stride + j];
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

static kdr_status cuda_row_squares(kdr_context *, kdri_block a, double *out)
{
	BEGIN(a, "row_squares");
	cuda_scratch each(d);
	TRY_D(each.take((size_t)a.rows * sizeof *out));
	squares_of_rows<<<blocks_for(a.rows, 1), ROW_THREADS, 0, self_of(d)->stream>>>(at(a), a.stride, a.rows, a.cols,
	                                                                              each.as<double>());
	TRY_LAUNCH(d, "row_squares");
	return fetch(d, "row_squares", out, each.data, (size_t)a.rows * sizeof *out);
}

static kdr_status cuda_square(kdr_context *, kdri_block a, double *out)
{
	BEGIN(a, "square");
	cuda_scratch room(d);
	TRY_D(room.take((size_t)(a.rows + 1) * sizeof *out));
	double *each = room.as<double>();
	squares_of_rows<<<blocks_for(a.rows, 1), ROW_THREADS, 0, self_of(d)->stream>>>(at(a), a.stride, a.rows, a.cols, each);
	sum_all<<<1, ROW_THREADS, 0, self_of(d)->stream>>>(each, a.rows, each + a.rows);
	TRY_LAUNCH(d, "square");
	return fetch(d, "square", out, each + a.rows, sizeof *out);
}

/* The kernel of row i with columns first .. first + cols - 1; `own`: with those before it twice, and with itself. */
static __global__ void kernel_of_rows(const double *k, int64_t stride, int64_t begin, int64_t rows, int64_t first,
                                      int64_t cols, bool own, const double *square, double factor, double *out)
{
	for (int64_t r = blockIdx.x; r < rows; r += gridDim.x) {
		int64_t i = begin + r, end = own ? i : first + cols;
		double sum = 0;
		for (int64_t j = first + threadIdx.x; j < end; j += ROW_THREADS) {
			double v = k[i * stride + j], gap = square[i] + square[j] - 2 * v;
			sum += factor > 0 ? exp(-factor * (gap > 0 ? gap : 0)) : v;
		}
		sum = block_sum(sum);
		if (threadIdx.x == 0)
			out[r] = own ? 2 * sum + (factor > 0 ? 1 : square[i]) : sum;
	}
}

static kdr_status cuda_kernel_sums(kdr_context *, kdri_block k, const double *square, const int64_t *begin, int64_t ntasks,
                                   double factor, double *sums)
{
	BEGIN(k, "kernel_sums");
	cudaStream_t stream = self_of(d)->stream;
	cuda_sent<double> squares(d);
	cuda_scratch room(d);
	TRY_D(squares.of("kernel_sums", square, k.rows));
	TRY_D(room.take((size_t)(k.rows + ntasks * ntasks) * sizeof *sums));
	double *each = room.as<double>(), *all = each + k.rows;
	TRY_CUDA(d, "kernel_sums", cudaMemsetAsync(all, 0, (size_t)(ntasks * ntasks) * sizeof *sums, stream));
	for (int64_t t = 0; t < ntasks; t++)
		for (int64_t s = 0; s <= t; s++) {
			int64_t rows = begin[t + 1] - begin[t];
			kernel_of_rows<<<blocks_for(rows, 1), ROW_THREADS, 0, stream>>>(
				at(k), k.stride, begin[t], rows, begin[s], begin[s + 1] - begin[s], s == t, squares.data, factor, each);
			sum_all<<<1, ROW_THREADS, 0, stream>>>(each, rows, all + t * ntasks + s);
			TRY_LAUNCH(d, "kernel_sums");
		}
	return fetch(d, "kernel_sums", sums, all, (size_t)(ntasks * ntasks) * sizeof *sums);
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

static kdr_status cuda_count_from(kdr_context *, kdri_block a, double least, int64_t *out)
{
	BEGIN(a, "count_from");
	unsigned long long *count = (unsigned long long *)self_of(d)->tally;
	TRY_CUDA(d, "count_from", cudaMemsetAsync(count, 0, sizeof *count, self_of(d)->stream));
	count_least<<<blocks_for(a.rows, 1), ROW_THREADS, 0, self_of(d)->stream>>>(at(a), a.stride, a.rows, a.cols, least,
	                                                                          count);
	TRY_LAUNCH(d, "count_from");
	return fetch(d, "count_from", out, count, sizeof *out);
}

/* --- order statistics ------------------------------------------------------------------------------------------------ */

/* Doubles as integers in the same order. */
static __device__ unsigned long long key_of(double v)
{
	long long bits = __double_as_longlong(v);
	return (unsigned long long)bits ^ (bits < 0 ? ~0ull : 0x8000000000000000ull);
}

static __device__ double value_of(unsigned long long key)
{
	return __longlong_as_double((long long)(key & 0x8000000000000000ull ? key ^ 0x8000000000000000ull : ~key));
}

/* Byte by byte from the most significant: counts the values of each byte and finds the one that contains the
 * position. */
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
		if (threadIdx.x == 0)
			out[i] = value_of(prefix);
		__syncthreads();
	}
}

static kdr_status cuda_row_nth(kdr_context *, kdri_block a, int64_t place, double *out)
{
	BEGIN(a, "row_nth");
	cuda_scratch each(d);
	TRY_D(each.take((size_t)a.rows * sizeof *out));
	nth_of_rows<<<blocks_for(a.rows, 1), ROW_THREADS, 0, self_of(d)->stream>>>(at(a), a.stride, a.rows, a.cols, place, -1,
	                                                                          each.as<double>());
	TRY_LAUNCH(d, "row_nth");
	return fetch(d, "row_nth", out, each.data, (size_t)a.rows * sizeof *out);
}

/* --- weights of neighbours ---------------------------------------------------------------------------------------------- */

struct limits_of_rows {
	const double *norm, *least, *bound;
	double tie;
	int64_t first;
};

/* One warp per row of distances, 32 entries at a time, so that they keep their order. Without `col` neighbours are
 * counted, otherwise they are written from starts[i] - base on. */
static __global__ void weigh_rows(const double *a, int64_t stride, int64_t rows, int64_t cols, limits_of_rows l,
                                  int64_t *starts, int64_t base, int32_t *col, double *val)
{
	int lane = threadIdx.x;
	for (int64_t i = (int64_t)blockIdx.x * blockDim.y + threadIdx.y; i < rows;
	     i += (int64_t)gridDim.x * blockDim.y) {
		int64_t count = 0, at = col ? starts[i] - base : 0;
		double tie = l.tie * l.norm[l.first + i], bound = l.bound[i], range = bound - l.least[i];
		bool tied = range <= tie;
		for (int64_t j0 = 0; j0 < cols; j0 += 32) {
			int64_t j = j0 + lane;
			double v = j < cols ? a[i * stride + j] : INFINITY;
			bool in = j < cols && j != l.first + i && (tied ? v <= bound + tie : v < bound);
			unsigned mask = __ballot_sync(~0u, in);
			if (in && col) {
				int64_t to = at + count + __popc(mask & ((1u << lane) - 1));
				col[to] = (int32_t)j;
				val[to] = tied ? 1 : (bound - v) / range;
			}
			count += __popc(mask);
		}
		if (!col && lane == 0)
			starts[i] = count;
	}
}

static kdr_status cuda_neighbour_limits(kdr_context *, kdri_block c, int64_t first, const double *norm, int64_t place,
                                        double tie, double *least, double *bound, int64_t *count)
{
	BEGIN(c, "neighbour_limits");
	cudaStream_t stream = self_of(d)->stream;
	size_t bytes = (size_t)c.rows * sizeof *least;
	unsigned blocks = blocks_for(c.rows, 1);
	cuda_sent<double> norms(d);
	cuda_scratch room(d);
	TRY_D(norms.of("neighbour_limits", norm, c.cols));
	TRY_D(room.take(3 * bytes));
	double *low = room.as<double>(), *high = low + c.rows;
	int64_t *counts = (int64_t *)(high + c.rows);
	const view v(c);
	const double *n = norms.data;
	TRY_D(each(d, "neighbour_limits", c.rows, c.cols, [=] __device__(int64_t i, int64_t j) {
		double a = n[first + i] + n[j] - 2 * v(i, j);
		v(i, j) = a > 0 ? a : 0;
	}));
	nth_of_rows<<<blocks, ROW_THREADS, 0, stream>>>(at(c), c.stride, c.rows, c.cols, 0, first, low);
	nth_of_rows<<<blocks, ROW_THREADS, 0, stream>>>(at(c), c.stride, c.rows, c.cols, place, first, high);
	weigh_rows<<<blocks_for(c.rows, 8), dim3(32, 8), 0, stream>>>(
		at(c), c.stride, c.rows, c.cols, limits_of_rows{ norms.data, low, high, tie, first }, counts, 0, nullptr, nullptr);
	TRY_LAUNCH(d, "neighbour_limits");
	TRY_D(fetch(d, "neighbour_limits", least, low, bytes));
	TRY_D(fetch(d, "neighbour_limits", bound, high, bytes));
	return fetch(d, "neighbour_limits", count, counts, bytes);
}

static kdr_status cuda_neighbour_weights(kdr_context *, kdri_block c, int64_t first, const double *norm, double tie,
                                         const double *least, const double *bound, const int64_t *starts, int32_t *col,
                                         double *val)
{
	BEGIN(c, "neighbour_weights");
	int64_t base = starts[0], total = starts[c.rows] - base;
	cuda_sent<double> norms(d), low(d), high(d);
	cuda_sent<int64_t> places(d);
	cuda_scratch cols(d), vals(d);
	if (total == 0)
		return KDR_OK;
	TRY_D(norms.of("neighbour_weights", norm, c.cols));
	TRY_D(low.of("neighbour_weights", least, c.rows));
	TRY_D(high.of("neighbour_weights", bound, c.rows));
	TRY_D(places.of("neighbour_weights", starts, c.rows));
	TRY_D(cols.take((size_t)total * sizeof *col));
	TRY_D(vals.take((size_t)total * sizeof *val));
	weigh_rows<<<blocks_for(c.rows, 8), dim3(32, 8), 0, self_of(d)->stream>>>(
		at(c), c.stride, c.rows, c.cols, limits_of_rows{ norms.data, low.data, high.data, tie, first }, places.data, base,
		cols.as<int32_t>(), vals.as<double>());
	TRY_LAUNCH(d, "neighbour_weights");
	TRY_D(fetch(d, "neighbour_weights", col + base, cols.data, (size_t)total * sizeof *col));
	return fetch(d, "neighbour_weights", val + base, vals.data, (size_t)total * sizeof *val);
}

void cuda_rows(kdri_device *d)
{
	d->row_squares = cuda_row_squares;
	d->square = cuda_square;
	d->kernel_sums = cuda_kernel_sums;
	d->count_from = cuda_count_from;
	d->row_nth = cuda_row_nth;
	d->neighbour_limits = cuda_neighbour_limits;
	d->neighbour_weights = cuda_neighbour_weights;
}
