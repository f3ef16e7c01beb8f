/* Memory for BLAS if the address space is limited. SPDX-License-Identifier: BSD-3-Clause
 *
 * OpenBLAS allocates a large buffer for each product that runs at the same time, keeps it, and retries for ever if there
 * is no address space (ulimit -v). With such a limit, the buffers are therefore allocated before the work begins: as
 * many as fit into half of the remaining space, one per thread, and only as many threads are used as there are buffers.
 * Without a limit nothing is done. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#endif
#include "matrix/blas.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>

enum { SIZE = 96, ROUNDS = 3 };
#ifdef __aarch64__
static const size_t buffer_bytes = (size_t)34 << 20;
#else
static const size_t buffer_bytes = (size_t)130 << 20;
#endif

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
static int reserved; /* buffers that were taken */

static bool reserve_fits(size_t bytes)
{
	void *at = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		return false;
	munmap(at, bytes);
	return true;
}

/* Products on `threads` threads at once, `work` having three matrices for each. */
static void reserve_take(int threads, double *work)
{
	(void)threads; /* without OpenMP */
#pragma omp parallel for num_threads(threads) schedule(static, 1)
	for (int t = 0; t < threads; t++) {
		double *a = work + (size_t)t * 3 * SIZE * SIZE;
		for (int round = 0; round < ROUNDS; round++)
			kdri_dgemm(false, true, SIZE, SIZE, SIZE, 1, a, SIZE, a + SIZE * SIZE, SIZE, 0,
			           a + 2 * SIZE * SIZE, SIZE);
	}
}

kdr_status kdri_blas_reserve(kdr_context *ctx)
{
	kdr_status st = KDR_OK;
	struct rlimit limit;
	double *work = NULL;
	if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
		return KDR_OK;
	pthread_mutex_lock(&one_at_a_time);
	if (reserved < ctx->threads) {
		int threads = ctx->threads;
		while (threads > KDRI_MAX(1, reserved) && !reserve_fits(2 * (size_t)threads * buffer_bytes))
			threads--;
		if (reserved == 0 && !reserve_fits(2 * buffer_bytes))
			KDRI_FAIL(
			        ctx, KDR_ERR_MEMORY,
			        "the limit on address space (ulimit -v) leaves less than the %.0f MB that linear algebra needs; raise it",
			        2 * (double)buffer_bytes / 1e6);
		KDRI_TRY(KDRI_NEW0(ctx, &work, (int64_t)threads * 3 * SIZE * SIZE));
		reserve_take(threads, work);
		reserved = ctx->threads = threads;
	}
done:
	pthread_mutex_unlock(&one_at_a_time);
	kdri_free(ctx, work);
	return st;
}
