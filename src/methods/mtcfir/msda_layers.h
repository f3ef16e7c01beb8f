/* Layers of mSDA in a model. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_MSDA_LAYERS_H
#define KDRI_MSDA_LAYERS_H

#include "methods/mtcfir/msda.h"

/* The bytes that the layers take in a model; 0 if none are kept because there are none or they are too large. */
double kdri_layers_bytes(const kdri_msda_options *options, int64_t train, int64_t d);

/* Allocates the layers in `result`, if they are to be kept, and lets the run with `options` fill them; `layers` must
 * live as long as the run. Stores their number as "layers_kept". */
kdr_status kdri_layers_keep(kdr_context *ctx, kdr_result *result, int64_t train, int64_t d,
                            kdri_layers *layers, kdri_msda_options *options);

/* Lets the run use the layers of a model. If it has none, `options` are unchanged. */
kdr_status kdri_layers_find(kdr_context *ctx, const kdr_result *fitted, int64_t train, int64_t d,
                            kdri_layers *layers, kdri_msda_options *options);

/* For field tables. */
/* clang-format off */
#define KDRI_FIELDS_LAYERS \
	KDRI_ARRAY("layers", KDR_FLOAT64, "layers x m x m", \
	           "the layers, if small: W' for m features, or R for m samples if there are fewer samples", \
	           .in_model = true), \
	KDRI_ARRAY("layer_bias", KDR_FLOAT64, "layers x d", \
	           "what each layer adds before tanh: b, or c with R", .in_model = true)
/* clang-format on */

#endif
