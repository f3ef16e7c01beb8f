/* CellRanger's .h5. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_H5_TENX_H
#define KDRI_H5_TENX_H

#include "io/hdf5/h5.h"

/* Whether a group contains the counts of CellRanger 2 or 3. */
bool kdri_h5_is_tenx(const kdri_h5 *h5, const char *group);
/* The only 10x group directly below the root, or "" if there is none; several give KDR_ERR_DATA. */
kdr_status kdri_h5_find_tenx(kdr_context *ctx, const kdri_h5 *h5, char *group, size_t room);
/* Cells in rows, genes in columns, with their names. */
kdr_status kdri_h5_read_tenx(kdr_context *ctx, const kdri_h5 *h5, const char *group, kdr_data *data);

#endif
