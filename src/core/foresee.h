/* Estimates held against what there is. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_FORESEE_H
#define KDRI_FORESEE_H

#include "core/internal.h"

/* KDR_ERR_MEMORY, with the numbers, where the estimate of `what` ("method 'ncut'") is above what is allowed, or, where nobody
 * said, `doubt` times what the machine has. */
kdr_status kdri_estimate_check(kdr_context *ctx, const char *what, const kdr_estimate *estimate,
                               double doubt);
/* Before the work: said where it is long, refused where it is too much; without a limit only what is sure not to fit is, as
 * estimates may be twice what comes. Adds `beside`, bytes that are held and not the data's, and what else the process has. */
kdr_status kdri_foresee(kdr_context *ctx, const char *what, double beside, kdr_estimate *estimate);

#endif
