/* Entry by entry, and sums over columns. SPDX-License-Identifier: BSD-3-Clause */
#include "cuda.cuh"

static kdr_status cuda_clip(kdr_context *, kdri_block a)
{
	BEGIN(a, "clip");
	const view v(a);
	return each(d, "clip", a.rows, a.cols, [=] __device__(int64_t i, int64_t j) { v(i, j) = v(i, j) > 0 ? v(i, j) : 0; });
}

static kdr_status cuda_centre(kdr_context *, kdri_block a, const double *mean, double shift, const double *scale,
                              kdri_block to)
{
	BEGIN(a, "centre");
	cuda_sent<double> means(d), scales(d);
	TRY_D(means.of("centre", mean, a.cols));
	TRY_D(scales.of("centre", scale, a.cols));
	const view from(a), out(to);
	const double *m = means.data, *s = scales.data;
	return each(d, "centre", a.rows, a.cols,
	            [=] __device__(int64_t i, int64_t j) { out(i, j) = (from(i, j) - shift * m[j]) * (s ? s[j] : 1); });
}

static kdr_status cuda_tanh(kdr_context *, kdri_block y, const double *lean, const double *mean, const double *offset,
                            kdri_block h)
{
	BEGIN(h, "tanh");
	cuda_sent<double> leans(d), means(d), offsets(d);
	TRY_D(leans.of("tanh", lean, h.rows));
	TRY_D(means.of("tanh", lean ? mean : nullptr, h.cols));
	TRY_D(offsets.of("tanh", offset, h.cols));
	const view from(y), to(h);
	const double *l = leans.data, *m = means.data, *c = offsets.data;
	return each(d, "tanh", h.rows, h.cols, [=] __device__(int64_t i, int64_t j) {
		to(i, j) = tanh(from(i, j) + (l ? l[i] * m[j] : 0) + (c ? c[j] : 0));
	});
}

/* h = (lean mean - y') / q + offset; without offset tanh(y' + lean mean). */
static __global__ void turned_all(view y, const double *lean, const double *mean, double q, const double *offset, view h,
                                  int64_t rows, int64_t cols)
{
	__shared__ double tile[32][33];
	for (int64_t i0 = (int64_t)blockIdx.y * 32; i0 < rows; i0 += (int64_t)gridDim.y * 32)
		for (int64_t j0 = (int64_t)blockIdx.x * 32; j0 < cols; j0 += (int64_t)gridDim.x * 32) {
			for (int r = threadIdx.y; r < 32; r += blockDim.y)
				if (j0 + r < cols && i0 + threadIdx.x < rows)
					tile[r][threadIdx.x] = y(j0 + r, i0 + threadIdx.x);
			__syncthreads();
			for (int r = threadIdx.y; r < 32; r += blockDim.y) {
				int64_t i = i0 + r, j = j0 + threadIdx.x;
				if (i < rows && j < cols) {
					double v = tile[threadIdx.x][r], by = lean[i] * mean[j];
					h(i, j) = offset ? (by - v) / q + offset[j] : tanh(v + by);
				}
			}
			__syncthreads();
		}
}

/* One warp per row: h += x / q. */
static __global__ void add_sparse_rows(kdr_csr x, double q, view h)
{
	for (int64_t i = (int64_t)blockIdx.x * blockDim.y + threadIdx.y; i < x.rows; i += (int64_t)gridDim.x * blockDim.y)
		for (int64_t p = x.rowptr[i] + threadIdx.x; p < x.rowptr[i + 1]; p += 32)
			h(i, x.col[p]) += x.val[p] / q;
}

static kdr_status cuda_tanh_rows(kdr_context *ctx, kdri_block y, const kdri_sparse *x, const double *lean,
                                 const double *mean, double q, const double *offset, kdri_block h)
{
	BEGIN(h, "tanh_rows");
	cudaStream_t stream = self_of(d)->stream;
	cuda_sent<double> leans(d), means(d), offsets(d);
	TRY_D(leans.of("tanh_rows", lean, h.rows));
	TRY_D(means.of("tanh_rows", mean, h.cols));
	TRY_D(offsets.of("tanh_rows", x ? offset : nullptr, h.cols));
	int64_t across = parts_of(h.cols, 32), down = parts_of(h.rows, 32);
	dim3 grid((unsigned)(across < 1 ? 1 : across > 4096 ? 4096 : across),
	          (unsigned)(down < 1 ? 1 : down > 4096 ? 4096 : down));
	turned_all<<<grid, dim3(32, 8), 0, stream>>>(view(y), leans.data, means.data, q, offsets.data, view(h), h.rows, h.cols);
	TRY_LAUNCH(d, "tanh_rows");
	if (!x)
		return KDR_OK;
	add_sparse_rows<<<blocks_for(h.rows, 8), dim3(32, 8), 0, stream>>>(x->x, q, view(h));
	TRY_LAUNCH(d, "tanh_rows");
	return cuda_tanh(ctx, h, nullptr, nullptr, nullptr, h);
}

static kdr_status cuda_adjust(kdr_context *, kdri_block c, const double *a, bool outer, double constant, double scale,
                              const double *diagonal)
{
	BEGIN(c, "adjust");
	cuda_sent<double> as(d), diagonals(d);
	TRY_D(as.of("adjust", a, c.rows));
	TRY_D(diagonals.of("adjust", diagonal, c.rows));
	const view v(c);
	const double *u = as.data, *own = diagonals.data;
	return each(d, "adjust", c.rows, c.cols, [=] __device__(int64_t i, int64_t j) {
		double g = !u ? 0 : outer ? constant * u[i] * u[j] : u[i] + u[j] - constant;
		if (j <= i) /* the lower triangle */
			v(i, j) = scale * (v(i, j) - g) + (i == j ? (own ? own[i] : 1) : 0);
	});
}

static kdr_status cuda_complement(kdr_context *, kdri_block a, const double *scale, double q)
{
	BEGIN(a, "complement");
	cuda_sent<double> scales(d);
	TRY_D(scales.of("complement", scale, a.cols));
	const view v(a);
	const double *s = scales.data;
	return each(d, "complement", a.rows, a.cols,
	            [=] __device__(int64_t i, int64_t j) { v(i, j) = ((i == j) - v(i, j) * (s ? s[j] : 1)) / q; });
}

static kdr_status cuda_similarity(kdr_context *ctx, kdri_block k, const double *square, double factor)
{
	BEGIN(k, "similarity");
	cuda_sent<double> squares(d);
	TRY_D(squares.of("similarity", square, k.rows));
	const view v(k);
	const double *s = squares.data;
	TRY_D(each(d, "similarity", k.rows, k.cols, [=] __device__(int64_t i, int64_t j) {
		double gap = s[i] + s[j] - 2 * v(i, j), lengths = sqrt(s[i]) * sqrt(s[j]);
		if (j < i && factor >= 0)
			v(i, j) = exp(-factor * (gap > 0 ? gap : 0));
		else if (j < i)
			v(i, j) = lengths > 0 ? v(i, j) / lengths : 0;
		else if (i == j)
			v(i, j) = factor >= 0 || s[i] > 0;
	}));
	return d->mirror(ctx, k);
}

static kdr_status cuda_ratio_step(kdr_context *, kdri_block y, kdri_block n, kdri_block den, bool careful, kdri_block to)
{
	BEGIN(y, "ratio_step");
	const view from(y), top(n), bottom(den), out(to);
	return each(d, "ratio_step", y.rows, y.cols, [=] __device__(int64_t i, int64_t j) {
		double root = sqrt(bottom(i, j) > 0 ? top(i, j) / bottom(i, j) : 1), v = from(i, j) * (careful ? sqrt(root) : root);
		out(i, j) = v < 1e-100 ? 0 : v;
	});
}

static kdr_status cuda_take(kdr_context *, kdri_block a, const int64_t *index, int64_t count, double *out)
{
	BEGIN(a, "take");
	cuda_sent<int64_t> places(d);
	cuda_scratch room(d);
	size_t bytes = (size_t)(count * count) * sizeof *out;
	TRY_D(places.of("take", index, count));
	TRY_D(room.take(bytes));
	const view v(a);
	const int64_t *at = places.data;
	double *to = room.as<double>();
	TRY_D(each(d, "take", count, count,
	           [=] __device__(int64_t i, int64_t j) { to[i * count + j] = v(at[i], at[j]); }));
	return count ? fetch(d, "take", out, to, bytes) : KDR_OK;
}

/* --- sums over columns --------------------------------------------------------------------------------------------- */

enum { SUM_PARTS = 64 };

/* Part blockIdx.y of the rows: sum of a and of a b, 32 columns a block. `b` NULL: a a. */
static __global__ void column_parts(const double *a, int64_t lda, const double *b, int64_t ldb, int64_t rows,
                                    int64_t cols, double limit, double *sums, double *products,
                                    unsigned long long *beyond)
{
	__shared__ double s[8][33], q[8][33];
	__shared__ unsigned long long far;
	int64_t j = (int64_t)blockIdx.x * 32 + threadIdx.x;
	int64_t from = rows * blockIdx.y / gridDim.y, to = rows * (blockIdx.y + 1) / gridDim.y;
	double sum = 0, product = 0;
	unsigned long long count = 0;
	if (threadIdx.x == 0 && threadIdx.y == 0)
		far = 0;
	for (int64_t i = from + threadIdx.y; j < cols && i < to; i += 8) {
		double v = a[i * lda + j];
		sum += v;
		product += v * (b ? b[i * ldb + j] : v);
		count += fabs(v) > limit;
	}
	s[threadIdx.y][threadIdx.x] = sum;
	q[threadIdx.y][threadIdx.x] = product;
	__syncthreads();
	if (beyond && count)
		atomicAdd(&far, count);
	__syncthreads();
	if (threadIdx.y == 0 && j < cols) {
		for (int r = 1; r < 8; r++) {
			sum += s[r][threadIdx.x];
			product += q[r][threadIdx.x];
		}
		if (sums)
			sums[(int64_t)blockIdx.y * cols + j] = sum;
		products[(int64_t)blockIdx.y * cols + j] = product;
		if (beyond && threadIdx.x == 0 && far)
			atomicAdd(beyond, far);
	}
}

static __global__ void add_parts(const double *parts, int64_t count, int64_t cols, double *out)
{
	for (int64_t j = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; j < cols;
	     j += (int64_t)gridDim.x * blockDim.x) {
		double sum = 0;
		for (int64_t p = 0; p < count; p++)
			sum += parts[p * cols + j];
		out[j] = sum;
	}
}

/* sum may be NULL, together with beyond. */
static kdr_status column_sums(kdri_device *d, const char *what, kdri_block a, const double *b, int64_t ldb,
                                double limit, double *sum, double *products, unsigned long long *beyond)
{
	cudaStream_t stream = self_of(d)->stream;
	cuda_scratch room(d);
	unsigned parts = (unsigned)(a.rows < SUM_PARTS * 8 ? 1 : SUM_PARTS);
	if (a.cols == 0)
		return KDR_OK;
	TRY_D(room.take((size_t)(2 * parts * a.cols) * 8));
	double *s = room.as<double>(), *q = s + parts * a.cols;
	column_parts<<<dim3((unsigned)parts_of(a.cols, 32), parts), dim3(32, 8), 0, stream>>>(
		at(a), a.stride, b, ldb, a.rows, a.cols, limit, sum ? s : nullptr, q, beyond);
	TRY_LAUNCH(d, what);
	if (sum)
		add_parts<<<blocks_for(a.cols, 256), 256, 0, stream>>>(s, parts, a.cols, sum);
	add_parts<<<blocks_for(a.cols, 256), 256, 0, stream>>>(q, parts, a.cols, products);
	return launched(d, what);
}

static kdr_status cuda_moments(kdr_context *, kdri_block a, double limit, double *sum, double *squares, int64_t *beyond)
{
	BEGIN(a, "moments");
	unsigned long long *far = (unsigned long long *)self_of(d)->tally;
	cuda_scratch both(d);
	size_t bytes = (size_t)a.cols * sizeof *sum;
	TRY_D(both.take(2 * bytes));
	double *first = both.as<double>();
	TRY_CUDA(d, "moments", cudaMemsetAsync(far, 0, sizeof *far, self_of(d)->stream));
	TRY_D(column_sums(d, "moments", a, nullptr, 0, limit, first, first + a.cols, far));
	TRY_D(fetch(d, "moments", sum, first, bytes));
	TRY_D(fetch(d, "moments", squares, first + a.cols, bytes));
	return fetch(d, "moments", beyond, far, sizeof *beyond);
}

static kdr_status cuda_column_dots(kdr_context *, kdri_block a, kdri_block b, double *out)
{
	BEGIN(a, "column_dots");
	cuda_scratch room(d);
	size_t bytes = (size_t)a.cols * sizeof *out;
	TRY_D(room.take(bytes));
	TRY_D(column_sums(d, "column_dots", a, at(b), b.stride, 0, nullptr, room.as<double>(), nullptr));
	return fetch(d, "column_dots", out, room.data, bytes);
}

void cuda_entries(kdri_device *d)
{
	d->clip = cuda_clip;
	d->centre = cuda_centre;
	d->moments = cuda_moments;
	d->tanh = cuda_tanh;
	d->tanh_rows = cuda_tanh_rows;
	d->adjust = cuda_adjust;
	d->complement = cuda_complement;
	d->similarity = cuda_similarity;
	d->ratio_step = cuda_ratio_step;
	d->take = cuda_take;
	d->column_dots = cuda_column_dots;
}
