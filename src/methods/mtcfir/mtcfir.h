/* What mtcfir's fit and predict share. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_MTCFIR_H
#define KDRI_MTCFIR_H

#include "methods/mtcfir/consistent.h"
#include "methods/mtcfir/msda.h"

enum { KDRI_MTCFIR_FULL, KDRI_MTCFIR_NF, KDRI_MTCFIR_NI, KDRI_MTCFIR_NR };

/* The options of the layers, none with variant nF. */
kdri_msda_options kdri_mtcfir_layers(const kdr_options *options, int64_t samples);

kdr_status kdri_mtcfir_predict(kdr_context *ctx, const kdr_result *fitted, const kdr_options *options,
                               int64_t task, const kdr_mat *x, int64_t *labels);

#endif
