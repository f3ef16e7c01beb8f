/* Idle OpenMP threads. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_WAITING_H
#define KDRI_WAITING_H

#ifdef _OPENMP
/* Called before parallel regions of `threads` threads: lets idle threads sleep early, unless the environment says otherwise. */
void kdri_wait_asleep(int threads);
#endif

#endif
