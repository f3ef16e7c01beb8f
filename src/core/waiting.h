/* Idle OpenMP threads. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_WAITING_H
#define KDRI_WAITING_H

#ifdef _OPENMP
/* Call it before parallel regions of `threads` threads: it lets idle threads sleep early, unless environment variables
 * specify otherwise. */
void kdri_wait_asleep(int threads);
#endif

#endif
