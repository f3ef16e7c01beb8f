/* Memory for BLAS if the address space is limited. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_RESERVE_H
#define KDRI_RESERVE_H

#include "core/internal.h"

/* Call it before work that multiplies matrices: if RLIMIT_AS is set, it allocates BLAS's buffers while there is room and
 * lowers the context's number of threads accordingly. Returns KDR_ERR_MEMORY if there is not even room for one. */
kdr_status kdri_blas_reserve(kdr_context *ctx);

#endif
