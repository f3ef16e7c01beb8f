/* Idle OpenMP threads that sleep. SPDX-License-Identifier: BSD-3-Clause
 *
 * Between two parallel regions the threads of gcc's OpenMP library, libgomp, spin for some milliseconds before they
 * sleep. On a busy machine they take the processors from threads that have work. OMP_WAIT_POLICY and GOMP_SPINCOUNT
 * control this, but libgomp reads them when it is loaded, and the environment belongs to the host process. libgomp also
 * shortens the spinning to about a microsecond while it manages more threads than there are processors. So this file
 * starts a thread that runs one parallel region and then sleeps for ever: its team counts, and costs only the address
 * space of the stacks. Other OpenMP libraries are not affected. */
#include "core/waiting.h"

#include "core/internal.h"
#include "core/system.h"

#ifdef _OPENMP
#include <omp.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t started = PTHREAD_COND_INITIALIZER, never = PTHREAD_COND_INITIALIZER;
static int spare; /* threads that sleep here and that libgomp counts */
static bool ready;

static void *sleep_with_team(void *more)
{
	int count = 0;
#pragma omp parallel num_threads(*(const int *)more + 1) reduction(+ : count)
	count++;
	(void)pthread_mutex_lock(&lock);
	spare += count - 1;
	ready = true;
	(void)pthread_cond_signal(&started);
	for (;;)
		(void)pthread_cond_wait(&never, &lock);
	return NULL;
}

void kdri_wait_asleep(int threads)
{
	static _Atomic int enough = 0; /* no team that is at least this large needs more */
	pthread_t thread;
	int more;
	if (threads < 2 || (enough > 0 && threads >= enough) || omp_in_parallel())
		return;
	if (getenv("OMP_WAIT_POLICY") || getenv("GOMP_SPINCOUNT")) { /* the user has decided */
		enough = 2;
		return;
	}
	(void)pthread_mutex_lock(&lock);
	more = KDRI_MAX(1, omp_get_num_procs() - threads + 1) - spare;
	ready = false;
	if (more > 0 && kdri_thread_start(&thread, sleep_with_team, &more)) {
		while (!ready)
			(void)pthread_cond_wait(&started, &lock);
		(void)pthread_detach(thread);
	}
	enough = threads; /* if no thread could be started, it will not be tried again */
	(void)pthread_mutex_unlock(&lock);
}
#endif
