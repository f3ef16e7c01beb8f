/* Sparse rows: nearest centres, sums, neighbours. SPDX-License-Identifier: BSD-3-Clause
 *
 * Each row is processed by one warp.
 *
 * Neighbours. The candidate rows are given as lists, one per column, of the rows with an entry in it. They are
 * processed SPAN rows at a time, with their sums in the shared memory of a warp. The warp reads the entries of its
 * row in order and adds one section of a list at a time: no two lanes add to the same sum, and each sum runs over
 * increasing columns. The beginnings of the sections are found for all columns at once, before each span. */
#include "lists.cuh"

/* --- nearest centres ------------------------------------------------------------------------------------------------- */

struct two_values {
	double best, second;
	int32_t arg;
};

static __device__ two_values both_of(two_values a, two_values b)
{
	if (b.best < a.best || (b.best == a.best && b.arg < a.arg)) {
		two_values c = a;
		a = b;
		b = c;
	}
	a.second = a.second < b.best ? a.second : b.best;
	return a;
}

/* `wide` lanes have a centre each, REGS times over; the entries of the row are shared by the 32 / wide of them that have the same. */
template <int REGS>
static __global__ void __launch_bounds__(256)
	nearest_of_rows(kdr_csr x, int64_t rows, const double *c, int64_t ldc, int64_t k, int wide, nearest_job job)
{
	int lane = threadIdx.x, own = lane % wide, share = lane / wide, shares = 32 / wide;
	for (int64_t i = (int64_t)blockIdx.x * blockDim.y + threadIdx.y; i < rows; i += (int64_t)gridDim.x * blockDim.y) {
		int64_t begin = x.rowptr[i], end = x.rowptr[i + 1];
		double twice = job.twice ? job.twice[i] : 2;
		two_values n = { INFINITY, INFINITY, INT32_MAX };
		for (int64_t j0 = 0; j0 < k; j0 += 32 * REGS) {
			double sum[REGS];
#pragma unroll
			for (int q = 0; q < REGS; q++)
				sum[q] = 0;
#pragma unroll 4
			for (int64_t p = begin + share; p < end; p += shares) {
				const double *centres = c + x.col[p] * ldc + j0 + own;
				double v = x.val[p];
#pragma unroll
				for (int q = 0; q < REGS; q++)
					sum[q] += j0 + q * 32 + own < k ? v * centres[q * 32] : 0;
			}
			for (int by = wide; by < 32; by *= 2)
				sum[0] += __shfl_xor_sync(~0u, sum[0], by);
#pragma unroll
			for (int q = 0; q < REGS; q++) {
				int64_t j = j0 + q * 32 + own;
				double v = j < k ? job.offset[j] - twice * sum[q] : INFINITY;
				if (v < n.best) {
					n.second = n.best;
					n.best = v;
					n.arg = (int32_t)j;
				} else if (v < n.second) {
					n.second = v;
				}
			}
		}
		for (int by = wide / 2; by > 0; by /= 2)
			n = both_of(n, { __shfl_xor_sync(~0u, n.best, by), __shfl_xor_sync(~0u, n.second, by),
			                 __shfl_xor_sync(~0u, n.arg, by) });
		if (lane > 0)
			continue;
		job.label[i] = n.arg < INT32_MAX ? n.arg : 0;
		if (job.value)
			job.value[i] = n.best;
		job.flag[i] = !(n.second - n.best > 2.01 * (job.error_row * job.norm[i] + job.error_base));
	}
}

kdr_status nearest_of_sparse(kdri_device *d, const kdri_sparse *x, kdri_nearest *out)
{
	kdri_block c = out->centres;
	cuda_scratch flags(d);
	int64_t k = c.cols, rows = x->x.rows;
	int wide = 1;
	out->doubts = 0;
	if (rows == 0)
		return KDR_OK;
	TRY_D(flags.take((size_t)rows));
	nearest_job job = { out->offset, out->twice, out->norm, out->error_row, out->error_base, out->label, out->value,
		            flags.as<unsigned char>() };
	while (wide < 32 && wide < k)
		wide *= 2;
	auto find = k > 32 ? nearest_of_rows<4> : nearest_of_rows<1>;
	find<<<blocks_for(rows, 8), dim3(32, 8), 0, self_of(d)->stream>>>(x->x, rows, at(c), c.stride, k, wide, job);
	TRY_LAUNCH(d, "nearest");
	return flagged_rows(d, job.flag, rows, out->doubt, &out->doubts);
}

/* --- sums -------------------------------------------------------------------------------------------------------------- */

/* Exact, so in any order: a warp for each row of the list, its entries to the sums of its cluster. */
static __global__ void add_sparse(kdr_csr x, const int32_t *list, const int64_t *begin, int64_t k, const double *coef,
                                  const double *unit, double ratio, double *sums, int64_t lds, int64_t cols)
{
	int64_t count = begin[k];
	for (int64_t p = (int64_t)blockIdx.x * blockDim.y + threadIdx.y; p < count; p += (int64_t)gridDim.x * blockDim.y) {
		int64_t low = 0, high = k, row = list[p], i = (row < 0 ? -row : row) - 1;
		double w = (coef ? coef[i] : 1.0) * (row < 0 ? -1 : 1);
		while (high - low > 1) { /* the last cluster that begins here or before */
			int64_t middle = (low + high) / 2;
			if (begin[middle] <= p)
				low = middle;
			else
				high = middle;
		}
		for (int64_t e = x.rowptr[i] + threadIdx.x; e < x.rowptr[i + 1]; e += 32) {
			int64_t f = x.col[e];
			double term = __dmul_rn(w, x.val[e]), big = unit[f], small = __dmul_rn(big, ratio);
			double h = __dsub_rn(__dadd_rn(term, big), big);
			double l = __dsub_rn(__dadd_rn(__dsub_rn(term, h), small), small);
			if (h != 0)
				atomicAdd(&sums[low * lds + f], h);
			if (l != 0)
				atomicAdd(&sums[low * lds + cols + f], l);
		}
	}
}

kdr_status sums_of_sparse(kdri_device *d, const kdri_sparse *x, const int32_t *list, const int64_t *begin,
                          const double *coef, const double *unit, double ratio, bool add, kdri_block sums)
{
	cuda_sent<int64_t> starts(d);
	if (sums.rows == 0 || sums.cols == 0)
		return KDR_OK;
	if (!add)
		TRY_D(fill_block(d, sums, 0));
	if (begin[sums.rows] == 0)
		return KDR_OK;
	TRY_D(starts.of("sums", begin, sums.rows + 1));
	add_sparse<<<blocks_for(begin[sums.rows], 8), dim3(32, 8), 0, self_of(d)->stream>>>(
		x->x, list, starts.data, sums.rows, coef, unit, ratio, at(sums), sums.stride, x->x.cols);
	return launched(d, "sums");
}

/* --- neighbours -------------------------------------------------------------------------------------------------------- */

enum { SPAN = 512, WARPS = 8, AT_ONCE = 4 }; /* the fastest of 512 to 4096, by a little */

/* Where the entries of each list from `now` on reach row `upto`: no more than SPAN of them are before it. */
static __global__ void advance(const int64_t *rowptr, const int32_t *row, int64_t lists, const int64_t *now, int64_t upto,
                               int64_t *next)
{
	for (int64_t t = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; t < lists; t += (int64_t)gridDim.x * blockDim.x) {
		int64_t low = now[t], end = rowptr[t + 1], high = low + SPAN < end ? low + SPAN : end;
		while (low < high) {
			int64_t middle = (low + high) / 2;
			if (row[middle] < upto)
				low = middle + 1;
			else
				high = middle;
		}
		next[t] = low;
	}
}

/* Compares the query rows with rows c0 .. c0 + cols - 1 of the lists, whose sections are now .. next - 1. */
template <int REGS>
static __global__ void __launch_bounds__(32 * WARPS) scan_lists(kdr_csr asking, int64_t rows, kdr_csr lists, const int64_t *now,
                                                                const int64_t *next, int64_t c0, int cols, nn_job job)
{
	extern __shared__ double room[];
	const unsigned all = ~0u;
	double *sums = room + threadIdx.y * SPAN;
	int lane = threadIdx.x;
	int64_t r = (int64_t)blockIdx.x * WARPS + threadIdx.y;
	if (r >= rows)
		return;
	for (int c = lane; c < cols; c += 32)
		sums[c] = 0;
	__syncwarp();
	for (int64_t p0 = asking.rowptr[r], end = asking.rowptr[r + 1]; p0 < end; p0 += 32) {
		/* 32 entries of the row, one in each lane; lists with nothing here are passed over. */
		int64_t p = p0 + lane, from = 0, to = 0;
		double value = 0;
		if (p < end) {
			int32_t t = asking.col[p];
			value = asking.val[p];
			from = now[t];
			to = next[t];
		}
		unsigned left = __ballot_sync(all, from < to);
		while (left) {
			int o = __ffs((int)left) - 1;
			left &= left - 1;
			double v = __shfl_sync(all, value, o);
			int64_t begin = __shfl_sync(all, from, o), stop = __shfl_sync(all, to, o);
			for (int64_t q0 = begin + lane; q0 < stop; q0 += 32 * AT_ONCE) {
				int at[AT_ONCE];
				double w[AT_ONCE];
#pragma unroll
				for (int u = 0; u < AT_ONCE; u++) {
					int64_t q = q0 + 32 * u;
					at[u] = q < stop ? (int)(lists.col[q] - c0) : -1;
					w[u] = q < stop ? lists.val[q] : 0;
				}
#pragma unroll
				for (int u = 0; u < AT_ONCE; u++)
					if (at[u] >= 0)
						sums[at[u]] = __dadd_rn(sums[at[u]], __dmul_rn(v, w[u]));
			}
			__syncwarp();
		}
	}
	nn_list<REGS> list;
	list.load(job, r, lane);
	for (int c1 = 0; c1 < cols; c1 += 32) {
		int c = c1 + lane;
		double s = c < cols && job.from + c != job.myself + r ? list.score(job, c, sums[c]) : -INFINITY;
		list.meet(s, job.from + c1, lane);
	}
	list.store(job, r, lane);
}

kdr_status neighbours_of_sparse(kdri_device *d, const kdri_sparse *rows, const kdri_sparse *others, nn_job all)
{
	cudaStream_t stream = self_of(d)->stream;
	const int shared = (int)(WARPS * SPAN * sizeof(double));
	const kdr_csr lists = others->turned;
	cuda_scratch places(d);
	if (rows->x.rows == 0 || lists.cols == 0)
		return KDR_OK;
	auto scan = all.k > 32 ? scan_lists<2> : scan_lists<1>;
	TRY_CUDA(d, "neighbours", cudaFuncSetAttribute(scan, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
	TRY_D(places.take((size_t)(2 * lists.rows) * 8));
	const int64_t *now = lists.rowptr;
	for (int64_t c0 = 0, turn = 0; c0 < lists.cols; c0 += SPAN, turn ^= 1) {
		int64_t *next = places.as<int64_t>() + turn * lists.rows;
		int64_t cols = lists.cols - c0 < SPAN ? lists.cols - c0 : SPAN;
		nn_job job = all.part(0, c0);
		advance<<<blocks_for(lists.rows, 256), 256, 0, stream>>>(lists.rowptr, lists.col, lists.rows, now, c0 + cols, next);
		scan<<<(unsigned)parts_of(rows->x.rows, WARPS), dim3(32, WARPS), (size_t)shared, stream>>>(
			rows->x, rows->x.rows, lists, now, next, c0, (int)cols, job);
		TRY_LAUNCH(d, "neighbours");
		now = next;
	}
	return KDR_OK;
}
