/* Members that vote on tables only. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_TRANSFER_TABLES_H
#define KDRI_TRANSFER_TABLES_H

#include "methods/transfer_auto/members.h"

/* Ranks of n values (stride apart) from 0 to 1: (values below + half of the equal ones) / n. */
kdr_status kdri_mid_ranks(kdr_context *ctx, const double *values, int64_t n, int64_t stride, double *ranks);

kdr_status kdri_transfer_forest(kdr_context *ctx, kdri_transfer_work *t, double *p);
kdr_status kdri_transfer_forest_standard(kdr_context *ctx, kdri_transfer_work *t, double *p);
kdr_status kdri_transfer_extra_trees(kdr_context *ctx, kdri_transfer_work *t, double *p);
kdr_status kdri_transfer_forest_self(kdr_context *ctx, kdri_transfer_work *t, double *p);
kdr_status kdri_transfer_logreg_raw(kdr_context *ctx, kdri_transfer_work *t, double *p);

#endif
