/* What the files of the plug-in share. SPDX-License-Identifier: BSD-3-Clause
 *
 * Equations are those of device.h. Matrices are row-major here and column-major in cuBLAS and cuSOLVER, where they are their own
 * transposes. All work of a device is on one stream, in order. */
#ifndef KDRI_CUDA_CUH
#define KDRI_CUDA_CUH

#include <cstdio>
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cusolverDn.h>

extern "C" {
#include "matrix/device.h"
}

struct kdri_buf {
	size_t bytes;
	void *data;
};

struct cuda_self {
	int index;
	cudaStream_t stream;
	cublasHandle_t blas;
	cusolverDnHandle_t solver; /* made when it is first needed */
	cudaMemPool_t pool;
	int64_t *tally; /* a few whole numbers: what kernels count */
	char *bounce[2];     /* the host's, where the device reaches it: small transfers go by way of them, in turn */
	cudaEvent_t free[2]; /* when the device has done with each */
	int turn;
	const void *pinned[16]; /* of the host */
	size_t most; /* KINDRED_DEVICE_ROOM: so many bytes of the card at most are spoken of as there; 0: all */
	bool clear; /* KINDRED_CUDA_CLEAR: room for products is cleared; compute-sanitizer's initcheck does not see all that cuBLAS writes */
};

static inline cuda_self *self_of(kdri_device *d)
{
	return static_cast<cuda_self *>(d->self);
}

/* Failures: what failed, in d->error. */
kdri_dstatus cuda_failed(kdri_device *d, const char *what, cudaError_t e);
kdri_dstatus cuda_failed_in(kdri_device *d, const char *what, int code);

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
		kdri_dstatus s_ = (call); \
		if (s_ != KDRI_D_OK) \
			return s_; \
	} while (0)
/* After a launch. */
#define TRY_LAUNCH(d, what) TRY_CUDA(d, what, cudaGetLastError())

/* The device belongs to a thread, and threads come and go. */
#define ENTER(d, what) TRY_CUDA(d, what, cudaSetDevice(self_of(d)->index))

static inline double *at(kdri_dmat a)
{
	return static_cast<double *>(a.buf->data) + a.at;
}

template <typename T> static inline T *vec(const kdri_buf *b)
{
	return b ? static_cast<T *>(b->data) : nullptr;
}

/* Scratch that goes back with its scope, in the order of the stream. */
struct cuda_scratch {
	kdri_device *d;
	void *data = nullptr;
	explicit cuda_scratch(kdri_device *device) : d(device)
	{
	}
	cuda_scratch(const cuda_scratch &) = delete;
	cuda_scratch &operator=(const cuda_scratch &) = delete;
	kdri_dstatus take(size_t bytes)
	{
		TRY_CUDA(d, "scratch", cudaMallocAsync(&data, bytes ? bytes : 1, self_of(d)->stream));
		return KDRI_D_OK;
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

static inline __host__ __device__ int64_t parts_of(int64_t size, int64_t part)
{
	return (size + part - 1) / part;
}

/* A grid that strides over everything: no dimension of it can be too large. */
static inline unsigned blocks_for(int64_t work, int64_t threads)
{
	int64_t b = parts_of(work, threads);
	return (unsigned)(b < 1 ? 1 : b > 132 * 64 ? 132 * 64 : b);
}

/* From and to the host: plugin.cu. What is sent is the caller's again at once. */
kdri_dstatus send(kdri_device *d, const char *what, void *to, const void *from, size_t bytes);
kdri_dstatus fetch(kdri_device *d, const char *what, void *to, const void *from, size_t bytes);

/* Exclusive sums of `count` numbers, in place, their total behind them: kmeans.cu. */
kdri_dstatus sums_before(kdri_device *d, const char *what, int64_t *v, int64_t count);

/* What a search for the nearest centre writes; flag: the row is in doubt. */
struct nearest_job {
	const double *offset, *twice, *norm;
	double error_row, error_base;
	int32_t *label;
	double *value;
	unsigned char *flag;
};
/* Rows that are flagged, in increasing order: nearest.cu. */
kdri_dstatus flagged_rows(kdri_device *d, const unsigned char *flag, int64_t n, int32_t *list, int64_t *found);

/* The operations of the other files go into the table. */
void cuda_products(kdri_device *d);
void cuda_entries(kdri_device *d);
void cuda_rows(kdri_device *d);
void cuda_kmeans(kdri_device *d);
void cuda_nearest(kdri_device *d);
void cuda_neighbours(kdri_device *d);
void cuda_sparse(kdri_device *d);

#endif
