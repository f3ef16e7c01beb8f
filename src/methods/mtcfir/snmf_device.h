/* Symmetric non-negative factorisation on a device. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_SNMF_DEVICE_H
#define KDRI_SNMF_DEVICE_H

#include "matrix/device_use.h"
#include "methods/mtcfir/snmf_steps.h"

/* kdri_snmf on a device, of `sparse` (here), or where that is NULL of `there`, whose squares are then added up here. */
kdr_status kdri_snmf_device(kdr_context *ctx, kdri_device *dev, const kdr_mat *sparse, kdri_dmat there,
                            double square, const double *starts, int64_t runs,
                            const kdri_snmf_options *options, kdri_snmf_result *results);

#endif
