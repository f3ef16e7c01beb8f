/* k-means: counting, sorting and adding. SPDX-License-Identifier: BSD-3-Clause
 *
 * Rows are sorted by cluster by counting: each warp counts the rows of its range, the counts are added up cluster by
 * cluster, and each warp writes its rows to their positions. A cluster's rows are then added by blocks, each for some
 * of the features, one row after the other, with many memory reads in progress at a time. If sums are exact (units),
 * their order does not matter, and several blocks share a cluster's rows. */
#include "cuda.cuh"

#include <cstring>
#include <memory>
#include <new>

/* Exclusive sums of v, in place, followed by the total. One block of 1024 threads. */
static __global__ void add_before(int64_t *v, int64_t count)
{
	__shared__ int64_t part[32];
	int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	int64_t each = (count + 1023) / 1024, from = threadIdx.x * each, to = from + each < count ? from + each : count;
	int64_t own = 0;
	for (int64_t i = from; i < to; i++)
		own += v[i];
	int64_t upto = own;
	for (int by = 1; by < 32; by *= 2) {
		int64_t other = __shfl_up_sync(~0u, upto, by);
		upto += lane >= by ? other : 0;
	}
	if (lane == 31)
		part[warp] = upto;
	__syncthreads();
	if (warp == 0) {
		int64_t all = part[lane];
		for (int by = 1; by < 32; by *= 2) {
			int64_t other = __shfl_up_sync(~0u, all, by);
			all += lane >= by ? other : 0;
		}
		part[lane] = all;
	}
	__syncthreads();
	int64_t sum = upto - own + (warp ? part[warp - 1] : 0);
	for (int64_t i = from; i < to; i++) {
		int64_t here = v[i];
		v[i] = sum;
		sum += here;
	}
	if (threadIdx.x == 0)
		v[count] = part[31];
}

kdr_status sums_before(kdri_device *d, const char *what, int64_t *v, int64_t count)
{
	add_before<<<1, 1024, 0, self_of(d)->stream>>>(v, count);
	return launched(d, what);
}

static __global__ void count_labels(const int32_t *label, const int32_t *before, int64_t n, int64_t k,
                                    unsigned long long *out)
{
	extern __shared__ unsigned here[]; /* k + 1 where that fits */
	bool local = k < 8192;
	unsigned moved = 0;
	if (local) {
		for (int64_t j = threadIdx.x; j < k; j += blockDim.x)
			here[j] = 0;
		__syncthreads();
	}
	for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x) {
		moved += label[i] != before[i];
		if (local)
			atomicAdd(&here[label[i]], 1u);
		else
			atomicAdd(&out[label[i]], 1ull);
	}
	for (int by = 16; by > 0; by /= 2)
		moved += __shfl_down_sync(~0u, moved, by);
	if (threadIdx.x % 32 == 0 && moved)
		atomicAdd(&out[k], (unsigned long long)moved);
	if (!local)
		return;
	__syncthreads();
	for (int64_t j = threadIdx.x; j < k; j += blockDim.x)
		if (here[j])
			atomicAdd(&out[j], (unsigned long long)here[j]);
}

static kdr_status cuda_changed(kdr_context *, kdri_device *d, const int32_t *label, const int32_t *before, int64_t n,
                               int64_t k, int64_t *moved, int64_t *counts)
{
	ENTER(d, "changed");
	cuda_scratch room(d);
	TRY_D(room.take((size_t)(k + 1) * 8));
	TRY_CUDA(d, "changed", cudaMemsetAsync(room.data, 0, (size_t)(k + 1) * 8, self_of(d)->stream));
	int64_t blocks = parts_of(n, 2048);
	count_labels<<<(unsigned)(blocks < 1 ? 1 : blocks > 1056 ? 1056 : blocks), 256, k < 8192 ? (size_t)k * 4 : 0,
	               self_of(d)->stream>>>(label, before, n, k,
	                                     room.as<unsigned long long>());
	TRY_LAUNCH(d, "changed");
	std::unique_ptr<int64_t[]> both(new (std::nothrow) int64_t[k + 1]); /* one way, not two */
	if (!both) {
		snprintf(d->error, sizeof d->error, "changed: the host is out of memory");
		return KDR_ERR_MEMORY;
	}
	TRY_D(fetch(d, "changed", both.get(), room.data, (size_t)(k + 1) * 8));
	memcpy(counts, both.get(), (size_t)k * 8);
	*moved = both[k];
	return KDR_OK;
}

/* --- order ------------------------------------------------------------------------------------------------------------- */

/* Rows of a warp: enough warps for the card, few enough to be added up. */
static int64_t stretch_of(int64_t n)
{
	return n < (1 << 17) ? 128 : 1024;
}

/* tally: stretches x k. For each range and cluster, the number of rows that join or leave; or, with `list`, their
 * positions. */
static __global__ void order_rows(const int32_t *label, const int32_t *before, int64_t n, int64_t k, bool all,
                                  int64_t stretch, unsigned *tally, int32_t *list)
{
	int lane = threadIdx.x;
	int64_t s = (int64_t)blockIdx.x * blockDim.y + threadIdx.y, from = s * stretch;
	int64_t to = from + stretch < n ? from + stretch : n;
	if (from >= n)
		return;
	unsigned *mine = tally + s * k;
	for (int64_t i0 = from; i0 < to; i0 += 32) {
		int64_t i = i0 + lane;
		int32_t in = i < to ? label[i] : -1, out = i < to && !all ? before[i] : -1;
		if (in == out)
			in = out = -1;
		if (!list) {
			if (in >= 0)
				atomicAdd(&mine[in], 1u);
			if (out >= 0)
				atomicAdd(&mine[out], 1u);
			continue;
		}
		/* The number of rows before this one, among these 32, that join or leave the same cluster. */
		unsigned before_in = 0, before_out = 0, all_in = 0, all_out = 0;
		for (int o = 0; o < 32; o++) {
			int32_t other_in = __shfl_sync(~0u, in, o), other_out = __shfl_sync(~0u, out, o);
			unsigned hits_in = in >= 0 ? (other_in == in) + (other_out == in) : 0;
			unsigned hits_out = out >= 0 ? (other_in == out) + (other_out == out) : 0;
			all_in += hits_in;
			all_out += hits_out;
			before_in += o < lane ? hits_in : 0;
			before_out += o < lane ? hits_out : 0;
		}
		unsigned at_in = in >= 0 ? mine[in] : 0, at_out = out >= 0 ? mine[out] : 0;
		__syncwarp();
		if (in >= 0) {
			list[at_in + before_in] = (int32_t)(i + 1);
			if (before_in == 0)
				mine[in] = at_in + all_in;
		}
		if (out >= 0) {
			list[at_out + before_out] = (int32_t) - (i + 1);
			if (before_out == 0)
				mine[out] = at_out + all_out;
		}
		__syncwarp();
	}
}

/* Exclusive sums over stretches for each cluster; totals[j]. A warp has a cluster, 32 stretches at a time. */
static __global__ void add_stretches(unsigned *tally, int64_t stretches, int64_t k, int64_t *totals)
{
	int lane = threadIdx.x;
	for (int64_t j = (int64_t)blockIdx.x * blockDim.y + threadIdx.y; j < k; j += (int64_t)gridDim.x * blockDim.y) {
		unsigned sum = 0;
		for (int64_t s0 = 0; s0 < stretches; s0 += 32) {
			int64_t s = s0 + lane;
			unsigned here = s < stretches ? tally[s * k + j] : 0, upto = here;
			for (int by = 1; by < 32; by *= 2) {
				unsigned other = __shfl_up_sync(~0u, upto, by);
				upto += lane >= by ? other : 0;
			}
			if (s < stretches)
				tally[s * k + j] = sum + upto - here;
			sum += __shfl_sync(~0u, upto, 31);
		}
		if (lane == 0)
			totals[j] = sum;
	}
}

static __global__ void add_starts(unsigned *tally, int64_t stretches, int64_t k, const int64_t *starts)
{
	for (int64_t p = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; p < stretches * k;
	     p += (int64_t)gridDim.x * blockDim.x)
		tally[p] += (unsigned)starts[p % k];
}

kdr_status order_rows_by(kdri_device *d, const int32_t *label, int32_t *before, int64_t n, int64_t k, bool all, int32_t *list,
                         int64_t *begin)
{
	cudaStream_t stream = self_of(d)->stream;
	int64_t stretch = stretch_of(n), stretches = parts_of(n, stretch);
	cuda_scratch tally(d), starts(d);
	TRY_D(tally.take((size_t)(stretches * k) * sizeof(unsigned)));
	TRY_D(starts.take((size_t)(k + 1) * 8));
	TRY_CUDA(d, "order", cudaMemsetAsync(tally.data, 0, (size_t)(stretches * k) * sizeof(unsigned), stream));
	dim3 shape(32, 8);
	unsigned blocks = (unsigned)parts_of(stretches, 8);
	unsigned *t = tally.as<unsigned>();
	order_rows<<<blocks, shape, 0, stream>>>(label, before, n, k, all, stretch, t, nullptr);
	add_stretches<<<blocks_for(k, 2), dim3(32, 2), 0, stream>>>(t, stretches, k, starts.as<int64_t>());
	TRY_D(sums_before(d, "order", starts.as<int64_t>(), k));
	add_starts<<<blocks_for(stretches * k, 256), 256, 0, stream>>>(t, stretches, k, starts.as<int64_t>());
	order_rows<<<blocks, shape, 0, stream>>>(label, before, n, k, all, stretch, t, list);
	TRY_LAUNCH(d, "order");
	TRY_CUDA(d, "order",
	         cudaMemcpyAsync(before, label, (size_t)n * 4, cudaMemcpyDeviceToDevice, stream));
	return fetch(d, "order", begin, starts.data, (size_t)(k + 1) * 8);
}

static kdr_status cuda_order(kdr_context *, kdri_device *d, const int32_t *label, int32_t *before, int64_t n, int64_t k,
                             bool all, int32_t *list, int64_t *begin)
{
	ENTER(d, "order");
	return order_rows_by(d, label, before, n, k, all, list, begin);
}

/* --- sums -------------------------------------------------------------------------------------------------------------- */

enum { FEATURES = 64, AHEAD = 16, MOST_BLOCKS = 132 * 24 };

/* Adds features of one cluster, one thread per feature, over the rows of this block; AHEAD rows are prefetched before
 * the first is added. */
static __global__ void __launch_bounds__(FEATURES) add_rows(const double *x, int64_t stride, int64_t cols,
                                                            const int32_t *list, const int64_t *begin,
                                                            const double *coef, const double *unit,
                                                            double ratio, bool add, double *sums,
                                                            int64_t lds)
{
	int64_t j = blockIdx.x, f = (int64_t)blockIdx.y * FEATURES + threadIdx.x, end = begin[j + 1];
	int64_t share = parts_of(parts_of(end - begin[j], gridDim.z), AHEAD) * AHEAD;
	int64_t from = begin[j] + blockIdx.z * share;
	bool shared = gridDim.z > 1; /* with units: the sums are 0 at first, or those to be added to */
	end = from + share < end ? from + share : end;
	if (f >= cols || (shared && from >= end))
		return;
	double high = add && !shared ? sums[j * lds + f] : 0, low = add && !shared && unit ? sums[j * lds + cols + f] : 0;
	const double big = unit ? unit[f] : 0, small = big * ratio;
	for (int64_t p = from; p < end; p += AHEAD) {
		double v[AHEAD], w[AHEAD];
#pragma unroll
		for (int u = 0; u < AHEAD; u++) {
			int32_t row = p + u < end ? list[p + u] : 0;
			int64_t i = (row < 0 ? -(int64_t)row : (int64_t)row) - 1;
			v[u] = row ? x[i * stride + f] : 0;
			w[u] = row ? (coef ? coef[i] : 1.0) * (row < 0 ? -1 : 1) : 0;
		}
#pragma unroll
		for (int u = 0; u < AHEAD; u++)
			if (p + u < end) {
				double term = __dmul_rn(w[u], v[u]);
				double h = unit ? __dsub_rn(__dadd_rn(term, big), big) : term;
				high = __dadd_rn(high, h);
				if (unit)
					low = __dadd_rn(low, __dsub_rn(__dadd_rn(__dsub_rn(term, h), small), small));
			}
	}
	if (shared) {
		atomicAdd(&sums[j * lds + f], high);
		atomicAdd(&sums[j * lds + cols + f], low);
		return;
	}
	sums[j * lds + f] = high;
	if (unit)
		sums[j * lds + cols + f] = low;
}

kdr_status sums_of_rows(kdri_device *d, kdri_block x, const int32_t *list, const int64_t *begin, const double *coef,
                        const double *unit, double ratio, bool add, kdri_block sums)
{
	cuda_sent<int64_t> starts(d);
	if (sums.rows == 0 || sums.cols == 0)
		return KDR_OK;
	TRY_D(starts.of("sums", begin, sums.rows + 1));
	int64_t across = parts_of(x.cols, FEATURES), share = begin[sums.rows] / (sums.rows * 2 * AHEAD);
	int64_t shares = MOST_BLOCKS / (sums.rows * across);
	shares = !unit || shares < 1 || share < 1 ? 1 : shares < share ? shares : share;
	if (shares > 1 && !add)
		TRY_D(fill_block(d, sums, 0));
	add_rows<<<dim3((unsigned)sums.rows, (unsigned)across, (unsigned)shares), FEATURES, 0, self_of(d)->stream>>>(
		at(x), x.stride, x.cols, list, starts.data, coef, unit, ratio, add, at(sums), sums.stride);
	return launched(d, "sums");
}

static kdr_status cuda_sums(kdr_context *, kdri_drows x, const int32_t *list, const int64_t *begin, const double *coef,
                            const double *unit, double ratio, bool add, kdri_block sums)
{
	BEGIN(sums, "sums");
	return x.sparse ? sums_of_sparse(d, &x.csr, list, begin, coef, unit, ratio, add, sums)
	                : sums_of_rows(d, x.dense, list, begin, coef, unit, ratio, add, sums);
}

static kdr_status cuda_join(kdr_context *, kdri_block sums, kdri_block to)
{
	BEGIN(sums, "join");
	const view from(sums), out(to);
	int64_t cols = to.cols;
	return each(d, "join", to.rows, cols,
	            [=] __device__(int64_t j, int64_t f) { out(j, f) = __dadd_rn(from(j, f), from(j, cols + f)); });
}

/* --- through the Gram matrix ------------------------------------------------------------------------------------------- */

static kdr_status cuda_group_rows(kdr_context *, kdri_block a, const int32_t *label, const int32_t *before, kdri_block sums)
{
	BEGIN(sums, "group_rows");
	int64_t n = a.rows, k = sums.rows;
	cuda_sent<int32_t> labels(d), old(d);
	cuda_scratch list(d);
	std::unique_ptr<int64_t[]> begin(new (std::nothrow) int64_t[k + 1]);
	if (!begin) {
		snprintf(d->error, sizeof d->error, "group_rows: the host is out of memory");
		return KDR_ERR_MEMORY;
	}
	TRY_D(labels.of("group_rows", label, n));
	TRY_D(old.of("group_rows", before ? before : label, n));
	TRY_D(list.take((size_t)(2 * n) * sizeof(int32_t)));
	TRY_D(order_rows_by(d, labels.data, old.data, n, k, !before, list.as<int32_t>(), begin.get()));
	return sums_of_rows(d, a, list.as<int32_t>(), begin.get(), nullptr, nullptr, 0, before != nullptr, sums);
}

static kdr_status cuda_group_own(kdr_context *, kdri_block sums, const int32_t *label, double *out)
{
	BEGIN(sums, "group_own");
	cuda_sent<int32_t> labels(d);
	cuda_scratch to(d);
	if (sums.cols == 0)
		return KDR_OK;
	TRY_D(labels.of("group_own", label, sums.cols));
	TRY_D(to.take((size_t)sums.cols * 8));
	const view v(sums);
	const int32_t *l = labels.data;
	double *own = to.as<double>();
	TRY_D(each(d, "group_own", 1, sums.cols, [=] __device__(int64_t, int64_t i) { own[i] = v(l[i], i); }));
	return fetch(d, "group_own", out, to.data, (size_t)sums.cols * 8);
}

static __global__ void closest_of(const double *a, int64_t stride, int64_t n, int64_t k, const double *diagonal,
                                  const double *sizes, const double *self, int32_t *next, double *away)
{
	int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n)
		return;
	double least = INFINITY, here = diagonal[i];
	int32_t best = 0;
#pragma unroll 4
	for (int64_t j = 0; j < k; j++) {
		double m = sizes[j];
		double v = __dadd_rn(__dsub_rn(here, __ddiv_rn(2 * a[j * stride + i], m)), __ddiv_rn(self[j], __dmul_rn(m, m)));
		if (m > 0 && v < least) {
			least = v;
			best = (int32_t)j;
		}
	}
	next[i] = best;
	away[i] = least > 0 ? least : 0;
}

static kdr_status cuda_group_closest(kdr_context *, kdri_block sums, const double *diagonal, const double *size,
                                     const double *self, int32_t *next, double *away)
{
	BEGIN(sums, "group_closest");
	int64_t n = sums.cols, k = sums.rows;
	cuda_sent<double> diagonals(d), sizes(d), selves(d);
	cuda_scratch found(d), far(d);
	if (n == 0)
		return KDR_OK;
	TRY_D(diagonals.of("group_closest", diagonal, n));
	TRY_D(sizes.of("group_closest", size, k));
	TRY_D(selves.of("group_closest", self, k));
	TRY_D(found.take((size_t)n * sizeof *next));
	TRY_D(far.take((size_t)n * sizeof *away));
	closest_of<<<(unsigned)parts_of(n, 64), 64, 0, self_of(d)->stream>>>(at(sums), sums.stride, n, k, diagonals.data,
	                                                                    sizes.data, selves.data, found.as<int32_t>(),
	                                                                    far.as<double>());
	TRY_LAUNCH(d, "group_closest");
	TRY_D(fetch(d, "group_closest", next, found.data, (size_t)n * sizeof *next));
	return fetch(d, "group_closest", away, far.data, (size_t)n * sizeof *away);
}

void cuda_kmeans(kdri_device *d)
{
	d->group_rows = cuda_group_rows;
	d->group_own = cuda_group_own;
	d->group_closest = cuda_group_closest;
	d->changed = cuda_changed;
	d->order = cuda_order;
	d->sums = cuda_sums;
	d->join = cuda_join;
}
