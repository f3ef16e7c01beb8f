/* k-means that follows known classes and links. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_CONSTRAINED_H
#define KDRI_CONSTRAINED_H

#include "core/links.h"
#include "engine/kmeans/lloyd.h"

/* Changes the result of kdri_kmeans on x so that it follows what is known: class c is cluster c, known samples keep their class,
 * groups are in one cluster and samples that must not be together are apart if possible. Labels, centres, objective and trace are
 * those of the constrained clustering. */
kdr_status kdri_constrain(kdr_context *ctx, const kdr_mat *x, const double *weights,
                          const kdri_kmeans_options *options, const kdri_links *links,
                          kdri_kmeans_result *result);

#endif
