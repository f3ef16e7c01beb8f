/* Entry by entry, and sums over columns. SPDX-License-Identifier: BSD-3-Clause
 *
 * Equations are those of device.h. */
#include "cuda.cuh"

/* Runs over all (i, j) of rows x cols; neighbours in a row go to neighbouring threads. */
#define EACH(rows, cols) \
	for (int64_t i = (int64_t)blockIdx.y * blockDim.y + threadIdx.y; i < (rows); \
	     i += (int64_t)gridDim.y * blockDim.y) \
		for (int64_t j = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; j < (cols); \
		     j += (int64_t)gridDim.x * blockDim.x)

static dim3 grid_of(int64_t rows, int64_t cols)
{
	int64_t x = parts_of(cols, 128), y = parts_of(rows, 2);
	return dim3((unsigned)(x < 1 ? 1 : x > 1024 ? 1024 : x), (unsigned)(y < 1 ? 1 : y > 32768 ? 32768 : y));
}
static const dim3 threads_of(128, 2);

static __global__ void affine_all(double *a, int64_t stride, int64_t rows, int64_t cols, const double *r,
                                  const double *c, double scale, double diagonal)
{
	EACH(rows, cols) /* (E4) */
		a[i * stride + j] = scale * (r ? r[i] : 1) * (c ? c[j] : 1) * a[i * stride + j] + (i == j ? diagonal : 0);
}

static kdri_dstatus cuda_affine(kdri_device *d, kdri_dmat a, const kdri_buf *r, const kdri_buf *c, double scale,
                                double diagonal)
{
	ENTER(d, "affine");
	affine_all<<<grid_of(a.rows, a.cols), threads_of, 0, self_of(d)->stream>>>(
		at(a), a.stride, a.rows, a.cols, vec<double>(r), vec<double>(c), scale, diagonal);
	TRY_LAUNCH(d, "affine");
	return KDRI_D_OK;
}

static __global__ void centre_all(const double *a, int64_t stride, int64_t rows, int64_t cols, const double *mean,
                                  double shift, const double *scale, double *to, int64_t ldt)
{
	EACH(rows, cols) /* (E5) */
		to[i * ldt + j] = (a[i * stride + j] - shift * mean[j]) * (scale ? scale[j] : 1);
}

static kdri_dstatus cuda_centre(kdri_device *d, kdri_dmat a, kdri_dmat mean, double shift, kdri_dmat scale,
                                kdri_dmat to)
{
	ENTER(d, "centre");
	centre_all<<<grid_of(a.rows, a.cols), threads_of, 0, self_of(d)->stream>>>(
		at(a), a.stride, a.rows, a.cols, at(mean), shift, scale.buf ? at(scale) : nullptr, at(to), to.stride);
	TRY_LAUNCH(d, "centre");
	return KDRI_D_OK;
}

static __global__ void tanh_all(const double *y, int64_t ldy, const double *lean, const double *mean,
                                const double *offset, double *h, int64_t ldh, int64_t rows, int64_t cols)
{
	EACH(rows, cols) /* (E7) */
		h[i * ldh + j] = tanh(y[i * ldy + j] + (lean ? lean[i] * mean[j] : 0) + offset[j]);
}

static __global__ void tanh_turned(const double *y, int64_t ldy, const double *lean, const double *mean,
                                   const double *offset, double *h, int64_t ldh, int64_t rows, int64_t cols)
{
	__shared__ double tile[32][33];
	for (int64_t i0 = (int64_t)blockIdx.y * 32; i0 < rows; i0 += (int64_t)gridDim.y * 32)
		for (int64_t j0 = (int64_t)blockIdx.x * 32; j0 < cols; j0 += (int64_t)gridDim.x * 32) {
			for (int r = threadIdx.y; r < 32; r += blockDim.y)
				if (j0 + r < cols && i0 + threadIdx.x < rows)
					tile[r][threadIdx.x] = y[(j0 + r) * ldy + i0 + threadIdx.x];
			__syncthreads();
			for (int r = threadIdx.y; r < 32; r += blockDim.y) {
				int64_t i = i0 + r, j = j0 + threadIdx.x;
				if (i < rows && j < cols)
					h[i * ldh + j] =
						tanh(tile[threadIdx.x][r] + (lean ? lean[i] * mean[j] : 0) + offset[j]);
			}
			__syncthreads();
		}
}

static kdri_dstatus cuda_tanh(kdri_device *d, kdri_dmat y, bool transposed, const kdri_buf *lean, kdri_dmat mean,
                              kdri_dmat offset, kdri_dmat h)
{
	ENTER(d, "tanh");
	const double *m = lean ? at(mean) : nullptr;
	if (transposed) {
		int64_t x = parts_of(h.cols, 32), z = parts_of(h.rows, 32);
		dim3 grid((unsigned)(x < 1 ? 1 : x > 4096 ? 4096 : x), (unsigned)(z < 1 ? 1 : z > 4096 ? 4096 : z));
		tanh_turned<<<grid, dim3(32, 8), 0, self_of(d)->stream>>>(
			at(y), y.stride, vec<double>(lean), m, at(offset), at(h), h.stride, h.rows, h.cols);
	} else {
		tanh_all<<<grid_of(h.rows, h.cols), threads_of, 0, self_of(d)->stream>>>(
			at(y), y.stride, vec<double>(lean), m, at(offset), at(h), h.stride, h.rows, h.cols);
	}
	TRY_LAUNCH(d, "tanh");
	return KDRI_D_OK;
}

static __device__ double gap_of(double v, double s, double t)
{
	double gap = s + t - 2 * v;
	return gap > 0 ? gap : 0;
}

static __global__ void gaps_all(double *k, int64_t stride, int64_t rows, int64_t cols, const double *s,
                                const double *t, double factor)
{
	EACH(rows, cols) { /* (E8), (E9) */
		double gap = gap_of(k[i * stride + j], s[i], t[j]);
		k[i * stride + j] = factor < 0 ? gap : exp(-factor * gap);
	}
}

static kdri_dstatus gaps(kdri_device *d, const char *what, kdri_dmat k, kdri_dmat s, kdri_dmat t, double factor)
{
	ENTER(d, what);
	gaps_all<<<grid_of(k.rows, k.cols), threads_of, 0, self_of(d)->stream>>>(at(k), k.stride, k.rows, k.cols, at(s),
	                                                                        at(t), factor);
	TRY_LAUNCH(d, what);
	return KDRI_D_OK;
}

static kdri_dstatus cuda_gauss(kdri_device *d, kdri_dmat k, kdri_dmat s, kdri_dmat t, double factor)
{
	return gaps(d, "gauss", k, s, t, factor);
}

static kdri_dstatus cuda_distances(kdri_device *d, kdri_dmat c, kdri_dmat s, kdri_dmat t)
{
	return gaps(d, "distances", c, s, t, -1);
}

static __global__ void ratio_all(const double *y, int64_t ldy, const double *n, int64_t ldn, const double *den,
                                 int64_t ldd, bool careful, double *to, int64_t ldt, int64_t rows, int64_t cols)
{
	EACH(rows, cols) { /* (E16) */
		double b = den[i * ldd + j], share = b > 0 ? n[i * ldn + j] / b : 1;
		double v = y[i * ldy + j] * (careful ? sqrt(sqrt(share)) : sqrt(share));
		to[i * ldt + j] = v < 1e-100 ? 0 : v;
	}
}

static kdri_dstatus cuda_ratio_step(kdri_device *d, kdri_dmat y, kdri_dmat n, kdri_dmat den, bool careful,
                                    kdri_dmat to)
{
	ENTER(d, "ratio_step");
	ratio_all<<<grid_of(y.rows, y.cols), threads_of, 0, self_of(d)->stream>>>(
		at(y), y.stride, at(n), n.stride, at(den), den.stride, careful, at(to), to.stride, y.rows, y.cols);
	TRY_LAUNCH(d, "ratio_step");
	return KDRI_D_OK;
}

static __global__ void take_all(const double *a, int64_t stride, const int64_t *index, double *to, int64_t ldt,
                                int64_t rows, int64_t cols)
{
	EACH(rows, cols)
		to[i * ldt + j] = a[index[i] * stride + index[j]];
}

static kdri_dstatus cuda_take(kdri_device *d, kdri_dmat a, const kdri_buf *index, kdri_dmat to)
{
	ENTER(d, "take");
	take_all<<<grid_of(to.rows, to.cols), threads_of, 0, self_of(d)->stream>>>(
		at(a), a.stride, vec<int64_t>(index), at(to), to.stride, to.rows, to.cols);
	TRY_LAUNCH(d, "take");
	return KDRI_D_OK;
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

/* sum may be NULL, and with it beyond. */
static kdri_dstatus column_sums(kdri_device *d, const char *what, kdri_dmat a, const double *b, int64_t ldb,
                                double limit, double *sum, double *products, unsigned long long *beyond)
{
	cudaStream_t stream = self_of(d)->stream;
	cuda_scratch room(d);
	unsigned parts = (unsigned)(a.rows < SUM_PARTS * 8 ? 1 : SUM_PARTS);
	if (a.cols == 0)
		return KDRI_D_OK;
	TRY_D(room.take((size_t)(2 * parts * a.cols) * 8));
	double *s = room.as<double>(), *q = s + parts * a.cols;
	column_parts<<<dim3((unsigned)parts_of(a.cols, 32), parts), dim3(32, 8), 0, stream>>>(
		at(a), a.stride, b, ldb, a.rows, a.cols, limit, sum ? s : nullptr, q, beyond);
	TRY_LAUNCH(d, what);
	if (sum)
		add_parts<<<blocks_for(a.cols, 256), 256, 0, stream>>>(s, parts, a.cols, sum);
	add_parts<<<blocks_for(a.cols, 256), 256, 0, stream>>>(q, parts, a.cols, products);
	TRY_LAUNCH(d, what);
	return KDRI_D_OK;
}

static kdri_dstatus cuda_moments(kdri_device *d, kdri_dmat a, double limit, kdri_buf *sum, kdri_buf *squares,
                                 int64_t *beyond)
{
	ENTER(d, "moments");
	unsigned long long *far = (unsigned long long *)self_of(d)->tally;
	TRY_CUDA(d, "moments", cudaMemsetAsync(far, 0, sizeof *far, self_of(d)->stream));
	TRY_D(column_sums(d, "moments", a, nullptr, 0, limit, vec<double>(sum), vec<double>(squares), far)); /* (E6) */
	return fetch(d, "moments", beyond, far, sizeof *beyond);
}

static kdri_dstatus cuda_column_dots(kdri_device *d, kdri_dmat a, kdri_dmat b, kdri_buf *out)
{
	ENTER(d, "column_dots");
	return column_sums(d, "column_dots", a, at(b), b.stride, 0, nullptr, vec<double>(out), nullptr);
}

void cuda_entries(kdri_device *d)
{
	d->affine = cuda_affine;
	d->centre = cuda_centre;
	d->moments = cuda_moments;
	d->tanh = cuda_tanh;
	d->gauss = cuda_gauss;
	d->distances = cuda_distances;
	d->ratio_step = cuda_ratio_step;
	d->take = cuda_take;
	d->column_dots = cuda_column_dots;
}
