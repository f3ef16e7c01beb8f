/* Combines files that the ranks have read, each its own, into one task. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_PLACE_H
#define KDRI_PLACE_H

#include "core/internal.h"

/* Between kdri_enter and kdri_leave, on all ranks. See kdr_mpi_place in kindred/mpi.h. */
kdr_status kdri_data_place(kdr_context *ctx, kdr_data *data);

#endif
