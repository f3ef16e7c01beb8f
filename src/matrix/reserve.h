/* Room for BLAS where the address space is limited. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_RESERVE_H
#define KDRI_RESERVE_H

#include "core/internal.h"

/* To be called before work that multiplies matrices: where RLIMIT_AS is set, takes BLAS's buffers while there
 * is room, and lowers the context's threads to as many; KDR_ERR_MEMORY if there is not even room for one. */
kdr_status kdri_blas_reserve(kdr_context *ctx);

#endif
