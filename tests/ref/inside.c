/* The library with some of its inner functions, for the scripts in this folder. SPDX-License-Identifier:
 * BSD-3-Clause */
#include "engine/metrics/metrics.h"

KDR_API kdr_status kdr_assign(kdr_context *ctx, const double *cost, int64_t rows, int64_t cols, int64_t *to,
                              double *total);
KDR_API kdr_status kdr_transport(kdr_context *ctx, const double *cost, int64_t rows, int64_t cols,
                                 const double *supply, const double *demand, double *flow, double *u,
                                 double *v, double *total);
KDR_API kdr_status kdr_silhouette(kdr_context *ctx, const kdr_mat *x, const int64_t *labels,
                                  kdr_silhouette_kind kind, double *values, double *mean);

kdr_status kdr_assign(kdr_context *ctx, const double *cost, int64_t rows, int64_t cols, int64_t *to,
                      double *total)
{
	return kdri_assign_checked(ctx, cost, rows, cols, to, total);
}

kdr_status kdr_transport(kdr_context *ctx, const double *cost, int64_t rows, int64_t cols,
                         const double *supply, const double *demand, double *flow, double *u, double *v,
                         double *total)
{
	return kdri_transport(ctx, cost, rows, cols, supply, demand, flow, u, v, total);
}

kdr_status kdr_silhouette(kdr_context *ctx, const kdr_mat *x, const int64_t *labels, kdr_silhouette_kind kind,
                          double *values, double *mean)
{
	return kdri_silhouette(ctx, x, labels, kind, values, mean);
}
