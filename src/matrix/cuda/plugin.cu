/* The plug-in: devices and their memory. SPDX-License-Identifier: BSD-3-Clause */
#include "cuda.cuh"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

kdr_status cuda_failed(kdri_device *d, const char *what, cudaError_t e)
{
	snprintf(d->error, sizeof d->error, "%s: %s", what, cudaGetErrorString(e));
	(void)cudaGetLastError();
	return e == cudaErrorMemoryAllocation ? KDR_ERR_MEMORY : KDR_ERR_INTERNAL;
}

kdr_status cuda_failed_in(kdri_device *d, const char *what, int code)
{
	snprintf(d->error, sizeof d->error, "%s: error %d of cuBLAS or cuSOLVER", what, code);
	return code == CUBLAS_STATUS_ALLOC_FAILED ? KDR_ERR_MEMORY : KDR_ERR_INTERNAL;
}

static kdr_status cuda_alloc(kdr_context *, kdri_device *d, size_t bytes, void **out)
{
	ENTER(d, "alloc");
	TRY_CUDA(d, "alloc", cudaMallocAsync(out, bytes ? bytes : 1, self_of(d)->stream));
	return KDR_OK;
}

static void cuda_release(kdr_context *, kdri_device *d, void *data)
{
	if (!data)
		return;
	(void)cudaSetDevice(self_of(d)->index);
	(void)cudaFreeAsync(data, self_of(d)->stream);
}

static size_t cuda_room(kdri_device *d)
{
	cuda_self *s = self_of(d);
	size_t free_bytes = 0, all = 0;
	uint64_t reserved = 0, used = 0;
	(void)cudaSetDevice(s->index);
	(void)cudaStreamSynchronize(s->stream);
	if (cudaMemGetInfo(&free_bytes, &all) != cudaSuccess)
		return 0;
	(void)cudaMemPoolGetAttribute(s->pool, cudaMemPoolAttrReservedMemCurrent, &reserved);
	(void)cudaMemPoolGetAttribute(s->pool, cudaMemPoolAttrUsedMemCurrent, &used);
	size_t available = free_bytes + (size_t)(reserved - used);
	size_t left = s->most > used ? s->most - (size_t)used : 0;
	return (s->most && left < available ? left : available) / (size_t)(d->users > 1 ? d->users : 1);
}

enum { BOUNCE = 1 << 20 };

kdr_status send(kdri_device *d, const char *what, void *to, const void *from, size_t bytes)
{
	cuda_self *s = self_of(d);
	if (bytes > BOUNCE) {
		TRY_CUDA(d, what, cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, s->stream));
		TRY_CUDA(d, what, cudaStreamSynchronize(s->stream));
		return KDR_OK;
	}
	int at = s->turn ^= 1;
	TRY_CUDA(d, what, cudaEventSynchronize(s->free[at]));
	memcpy(s->bounce[at], from, bytes);
	TRY_CUDA(d, what, cudaMemcpyAsync(to, s->bounce[at], bytes, cudaMemcpyHostToDevice, s->stream));
	TRY_CUDA(d, what, cudaEventRecord(s->free[at], s->stream));
	return KDR_OK;
}

kdr_status fetch(kdri_device *d, const char *what, void *to, const void *from, size_t bytes)
{
	cuda_self *s = self_of(d);
	bool small = bytes <= BOUNCE;
	int at = s->turn ^= 1;
	if (small)
		TRY_CUDA(d, what, cudaEventSynchronize(s->free[at]));
	TRY_CUDA(d, what,
	         cudaMemcpyAsync(small ? s->bounce[at] : to, from, bytes, cudaMemcpyDeviceToHost, s->stream));
	TRY_CUDA(d, what, cudaStreamSynchronize(s->stream));
	if (small)
		memcpy(to, s->bounce[at], bytes);
	return KDR_OK;
}

static kdr_status move_pieces(kdri_device *d, const char *what, void *to, size_t to_pitch, const void *from,
                                size_t from_pitch, size_t width, size_t rows, cudaMemcpyKind kind)
{
	cudaStream_t stream = self_of(d)->stream;
	if (!rows || !width)
		return KDR_OK;
	if (rows == 1 || (to_pitch == width && from_pitch == width))
		return kind == cudaMemcpyHostToDevice ? send(d, what, to, from, width * rows)
		                                      : fetch(d, what, to, from, width * rows);
	TRY_CUDA(d, what, cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, rows, kind, stream));
	/* The host's side is the caller's again when this returns. */
	TRY_CUDA(d, what, cudaStreamSynchronize(stream));
	return KDR_OK;
}

static kdr_status cuda_put(kdr_context *, kdri_device *d, void *to, size_t pitch, const void *from, size_t host_pitch,
                           size_t width, size_t rows)
{
	ENTER(d, "put");
	return move_pieces(d, "put", to, pitch, from, host_pitch, width, rows, cudaMemcpyHostToDevice);
}

static kdr_status cuda_get(kdr_context *, kdri_device *d, const void *from, size_t pitch, void *to, size_t host_pitch,
                           size_t width, size_t rows)
{
	ENTER(d, "get");
	return move_pieces(d, "get", to, host_pitch, from, pitch, width, rows, cudaMemcpyDeviceToHost);
}

/* Memory that cannot be pinned is used without pinning. */
static kdr_status cuda_pin(kdr_context *, kdri_device *d, const void *host, size_t bytes)
{
	ENTER(d, "pin");
	if (d->users > 1) /* another handle might end the pinning */
		return KDR_OK;
	for (const void *&place : self_of(d)->pinned) {
		if (place)
			continue;
		if (cudaHostRegister(const_cast<void *>(host), bytes, cudaHostRegisterDefault) == cudaSuccess)
			place = host;
		else
			(void)cudaGetLastError();
		break;
	}
	return KDR_OK;
}

static void cuda_unpin(kdri_device *d, const void *host)
{
	for (const void *&place : self_of(d)->pinned) {
		if (!host || place != host)
			continue;
		(void)cudaSetDevice(self_of(d)->index);
		(void)cudaHostUnregister(const_cast<void *>(host));
		place = nullptr;
	}
}

static void cuda_close(kdri_device *d)
{
	cuda_self *s = self_of(d);
	if (!s)
		return;
	(void)cudaSetDevice(s->index);
	if (s->solver)
		(void)cusolverDnDestroy(s->solver);
	if (s->blas)
		(void)cublasDestroy(s->blas);
	for (int i = 0; i < 2; i++) {
		if (s->free[i])
			(void)cudaEventDestroy(s->free[i]);
		if (s->bounce[i])
			(void)cudaFreeHost(s->bounce[i]);
	}
	if (s->tally)
		(void)cudaFree(s->tally);
	if (s->stream)
		(void)cudaStreamDestroy(s->stream);
	delete s;
	delete d;
}

/* --- the plug-in ---------------------------------------------------------------------------------------------- */

static int device_count(void)
{
	int count = 0;
	return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

static void device_describe(int index, char *text, size_t room)
{
	cudaDeviceProp p;
	if (cudaGetDeviceProperties(&p, index) != cudaSuccess)
		snprintf(text, room, "does not answer");
	else
		snprintf(text, room, "%s, %.0f GB, compute %d.%d", p.name, 1e-9 * (double)p.totalGlobalMem, p.major,
		         p.minor);
}

static kdr_status open_parts(kdri_device *d)
{
	cuda_self *s = self_of(d);
	uint64_t keep = UINT64_MAX; /* memory that was freed is soon wanted again */
	TRY_CUDA(d, "open", cudaSetDevice(s->index));
	TRY_CUDA(d, "open", cudaStreamCreateWithFlags(&s->stream, cudaStreamNonBlocking));
	TRY_CUDA(d, "open", cudaDeviceGetDefaultMemPool(&s->pool, s->index));
	TRY_CUDA(d, "open", cudaMemPoolSetAttribute(s->pool, cudaMemPoolAttrReleaseThreshold, &keep));
	TRY_CUDA(d, "open", cudaMalloc(&s->tally, 64 * sizeof *s->tally));
	for (int i = 0; i < 2; i++) {
		TRY_CUDA(d, "open", cudaMallocHost((void **)&s->bounce[i], BOUNCE));
		TRY_CUDA(d, "open", cudaEventCreateWithFlags(&s->free[i], cudaEventDisableTiming));
	}
	TRY_LIB(d, "open", cublasCreate(&s->blas));
	TRY_LIB(d, "open", cublasSetStream(s->blas, s->stream));
	return KDR_OK;
}

static kdri_device *device_open(int index, char *error, size_t room)
{
	kdri_device *d = new (std::nothrow) kdri_device();
	cuda_self *s = new (std::nothrow) cuda_self();
	if (!d || !s) {
		snprintf(error, room, "the host is out of memory");
		delete d;
		delete s;
		return nullptr;
	}
	s->index = index;
	const char *most = getenv("KINDRED_DEVICE_ROOM");
	s->most = most ? strtoull(most, nullptr, 10) : 0;
	s->clear = getenv("KINDRED_CUDA_CLEAR") != nullptr;
	d->abi = KDRI_DEVICE_ABI;
	d->kind = "cuda";
	d->self = s;
	d->most_columns = 256;
	d->alloc = cuda_alloc;
	d->release = cuda_release;
	d->room = cuda_room;
	d->put = cuda_put;
	d->get = cuda_get;
	d->pin = cuda_pin;
	d->unpin = cuda_unpin;
	d->close = cuda_close;
	cuda_products(d);
	cuda_entries(d);
	cuda_rows(d);
	cuda_kmeans(d);
	cuda_nearest(d);
	cuda_neighbours(d);
	if (open_parts(d) != KDR_OK) {
		snprintf(error, room, "%s", d->error);
		cuda_close(d);
		return nullptr;
	}
	return d;
}

extern "C" __attribute__((visibility("default"))) const kdri_plugin *kdri_plugin_of(int abi)
	__asm__(KDRI_PLUGIN_SYMBOL);

const kdri_plugin *kdri_plugin_of(int abi)
{
	static const kdri_plugin plugin = { KDRI_DEVICE_ABI, "cuda", device_count, device_describe, device_open };
	return abi == KDRI_DEVICE_ABI ? &plugin : nullptr;
}
