/* Declarations shared by the files of the plug-in. SPDX-License-Identifier: BSD-3-Clause
 *
 * Matrices are row-major here and column-major in cuBLAS and cuSOLVER, which therefore see their transposes. All work of
 * a handle is on one stream, in order. Blocks store doubles; products with blocks marked as single are computed in
 * single precision, which is faster. */
#ifndef KDRI_CUDA_CUH
#define KDRI_CUDA_CUH

#include <cstdio>
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cusolverDn.h>

extern "C" {
#include "matrix/device.h"
}

struct cuda_self {
	int index;
	cudaStream_t stream;
	cublasHandle_t blas;
	cusolverDnHandle_t solver; /* made when it is first needed */
	cudaMemPool_t pool;
	int64_t *tally; /* a few integers in which kernels count */
	char *bounce[2];     /* host memory that the device can access, used in turn for small transfers */
	cudaEvent_t free[2]; /* when the device has finished with each */
	int turn;
	const void *pinned[16]; /* of the host */
	size_t most; /* KINDRED_DEVICE_ROOM: report at most this many bytes of device memory as available; 0: all */
	bool clear; /* KINDRED_CUDA_CLEAR: clear the memory of products, because compute-sanitizer's initcheck does
		       not see everything that cuBLAS writes */
};

static inline cuda_self *self_of(kdri_device *d)
{
	return static_cast<cuda_self *>(d->self);
}

/* Failures store their reason in d->error. */
kdr_status cuda_failed(kdri_device *d, const char *what, cudaError_t e);
kdr_status cuda_failed_in(kdri_device *d, const char *what, int code);

#define TRY_CUDA(d, what, call) \
	do { \
		cudaError_t e_ = (call); \
		if (e_ != cudaSuccess) \
			return cuda_failed((d), (what), e_); \
	} while (0)
#define TRY_LIB(d, what, call) \
	do { \
		int e_ = (int)(call); \
		if (e_ != 0) \
			return cuda_failed_in((d), (what), e_); \
	} while (0)
#define TRY_D(call) \
	do { \
		kdr_status s_ = (call); \
		if (s_ != KDR_OK) \
			return s_; \
	} while (0)
/* After a launch. */
#define TRY_LAUNCH(d, what) TRY_CUDA(d, what, cudaGetLastError())
static inline kdr_status launched(kdri_device *d, const char *what)
{
	TRY_LAUNCH(d, what);
	return KDR_OK;
}

/* Makes the device current for this thread, which may be a new one. */
#define ENTER(d, what) TRY_CUDA(d, what, cudaSetDevice(self_of(d)->index))
/* Begins an operation on the device of a block. */
#define BEGIN(block, what) \
	kdri_device *d = (block).dev; \
	ENTER(d, what)

static inline double *at(kdri_block a)
{
	return static_cast<double *>(a.data);
}

/* Scratch memory that is released at the end of its scope, in the order of the stream. */
struct cuda_scratch {
	kdri_device *d;
	void *data = nullptr;
	explicit cuda_scratch(kdri_device *device) : d(device)
	{
	}
	cuda_scratch(const cuda_scratch &) = delete;
	cuda_scratch &operator=(const cuda_scratch &) = delete;
	kdr_status take(size_t bytes)
	{
		TRY_CUDA(d, "scratch", cudaMallocAsync(&data, bytes ? bytes : 1, self_of(d)->stream));
		return KDR_OK;
	}
	template <typename T> T *as()
	{
		return static_cast<T *>(data);
	}
	~cuda_scratch()
	{
		if (data)
			cudaFreeAsync(data, self_of(d)->stream);
	}
};

/* Transfers from and to the host: plugin.cu. The caller may reuse the source buffer immediately. */
kdr_status send(kdri_device *d, const char *what, void *to, const void *from, size_t bytes);
kdr_status fetch(kdri_device *d, const char *what, void *to, const void *from, size_t bytes);

/* A copy of a vector of the host; of NULL it is NULL. */
template <typename T> struct cuda_sent {
	cuda_scratch room;
	T *data = nullptr;
	explicit cuda_sent(kdri_device *device) : room(device)
	{
	}
	kdr_status of(const char *what, const T *host, int64_t count)
	{
		if (!host)
			return KDR_OK;
		TRY_D(room.take((size_t)count * sizeof(T)));
		data = room.as<T>();
		return count ? send(room.d, what, data, host, (size_t)count * sizeof(T)) : KDR_OK;
	}
};

static inline __host__ __device__ int64_t parts_of(int64_t size, int64_t part)
{
	return (size + part - 1) / part;
}

/* A grid whose threads stride over all elements, so that no dimension is too large. */
static inline unsigned blocks_for(int64_t work, int64_t threads)
{
	int64_t b = parts_of(work, threads);
	return (unsigned)(b < 1 ? 1 : b > 132 * 64 ? 132 * 64 : b);
}

/* A block as kernels use it. */
struct view {
	double *data;
	int64_t stride;
	explicit view(kdri_block a) : data(at(a)), stride(a.stride)
	{
	}
	__device__ double &operator()(int64_t i, int64_t j) const
	{
		return data[i * stride + j];
	}
};

template <typename F> static __global__ void for_each(int64_t rows, int64_t cols, F f)
{
	for (int64_t i = (int64_t)blockIdx.y * blockDim.y + threadIdx.y; i < rows; i += (int64_t)gridDim.y * blockDim.y)
		for (int64_t j = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; j < cols; j += (int64_t)gridDim.x * blockDim.x)
			f(i, j);
}

/* Calls f(i, j) for all i < rows and j < cols; adjacent elements of a row are processed by adjacent threads. */
template <typename F> static kdr_status each(kdri_device *d, const char *what, int64_t rows, int64_t cols, F f)
{
	int64_t x = parts_of(cols, 128), y = parts_of(rows, 2);
	if (x == 0 || y == 0)
		return KDR_OK;
	for_each<<<dim3((unsigned)(x > 1024 ? 1024 : x), (unsigned)(y > 32768 ? 32768 : y)), dim3(128, 2), 0,
	           self_of(d)->stream>>>(rows, cols, f);
	return launched(d, what);
}

/* Exclusive prefix sums of `count` numbers, in place, followed by their total: kmeans.cu. */
kdr_status sums_before(kdri_device *d, const char *what, int64_t *v, int64_t count);

/* What a search for the nearest centre writes; flag: the row is in doubt. */
struct nearest_job {
	const double *offset, *twice, *norm;
	double error_row, error_base;
	int32_t *label;
	double *value;
	unsigned char *flag;
};
/* Rows that are flagged, in increasing order: nearest.cu. */
kdr_status flagged_rows(kdri_device *d, const unsigned char *flag, int64_t n, int32_t *list, int64_t *found);

/* Rows by cluster, and the sums of clusters (unit NULL: plain sums), as in the table but with other arguments:
 * kmeans.cu. */
kdr_status order_rows_by(kdri_device *d, const int32_t *label, int32_t *before, int64_t n, int64_t k, bool all, int32_t *list,
                         int64_t *begin);
kdr_status sums_of_rows(kdri_device *d, kdri_block x, const int32_t *list, const int64_t *begin, const double *coef,
                        const double *unit, double ratio, bool add, kdri_block sums);
kdr_status sums_of_sparse(kdri_device *d, const kdri_sparse *x, const int32_t *list, const int64_t *begin,
                          const double *coef, const double *unit, double ratio, bool add, kdri_block sums);
/* The nearest centres of sparse rows: sparse.cu. */
kdr_status nearest_of_sparse(kdri_device *d, const kdri_sparse *x, kdri_nearest *n);
/* Neighbours of sparse rows: sparse.cu. */
struct nn_job;
kdr_status neighbours_of_sparse(kdri_device *d, const kdri_sparse *rows, const kdri_sparse *others, nn_job job);
/* A fill, for other operations: products.cu. */
kdr_status fill_block(kdri_device *d, kdri_block a, double value);

/* Adds the operations of the other files to the table. */
void cuda_products(kdri_device *d);
void cuda_entries(kdri_device *d);
void cuda_rows(kdri_device *d);
void cuda_kmeans(kdri_device *d);
void cuda_nearest(kdri_device *d);
void cuda_neighbours(kdri_device *d);

#endif
