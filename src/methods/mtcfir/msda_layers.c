/* Layers of mSDA in a model. SPDX-License-Identifier: BSD-3-Clause
 *
 * A layer is kept in the form in which it was learnt. By features this is the map itself, h = tanh(x W' + b). By samples
 * the map also needs the layer's input, (E10) and (E11) of msda_samples.c, which is computed from the samples in the
 * model, layer after layer; R is kept because it is more expensive to compute than products. */
#include "methods/mtcfir/msda_layers.h"
#include "api/method.h"

/* Three layers of 3,300 features, or samples if fewer: more would make model files that are awkward to pass on, and
 * what follows from the samples in the model can be learnt from them again. */
static const double most_bytes = 256.0 * 1024 * 1024;

double kdri_layers_bytes(const kdri_msda_options *o, int64_t train, int64_t d)
{
	double side = (double)kdri_msda_side(o, train, d);
	double bytes = 8 * (double)o->layers * (side * side + (double)d);
	return bytes <= most_bytes ? bytes : 0;
}

kdr_status kdri_layers_keep(kdr_context *ctx, kdr_result *result, int64_t train, int64_t d,
                            kdri_layers *layers, kdri_msda_options *o)
{
	int64_t side = kdri_msda_side(o, train, d);
	bool kept = kdri_layers_bytes(o, train, d) > 0;
	KDRI_DO(kdri_result_number(ctx, result, "layers_kept", kept ? (double)o->layers : 0));
	if (!kept)
		return KDR_OK;
	*layers = (kdri_layers){ .known = false };
	KDRI_DO(kdri_result_array(ctx, result, "layers", -1, KDR_FLOAT64, 3,
	                          (int64_t[]){ o->layers, side, side }, &layers->map));
	KDRI_DO(kdri_result_array(ctx, result, "layer_bias", -1, KDR_FLOAT64, 2, (int64_t[]){ o->layers, d },
	                          &layers->bias));
	o->kept = layers;
	return KDR_OK;
}

kdr_status kdri_layers_find(kdr_context *ctx, const kdr_result *fitted, int64_t train, int64_t d,
                            kdri_layers *layers, kdri_msda_options *o)
{
	int64_t side = kdri_msda_side(o, train, d);
	kdr_array map = kdr_result_array(fitted, "layers", -1),
	          bias = kdr_result_array(fitted, "layer_bias", -1);
	if (o->layers == 0 || (!map.data && !bias.data))
		return KDR_OK;
	if (!map.data || map.ndim != 3 || map.shape[0] != o->layers || map.shape[1] != side ||
	    map.shape[2] != side)
		return kdri_fail(ctx, KDR_ERR_DATA, "the model's layers are not %lld x %lld x %lld numbers",
		                 (long long)o->layers, (long long)side, (long long)side);
	if (!bias.data || bias.ndim != 2 || bias.shape[0] != o->layers || bias.shape[1] != d)
		return kdri_fail(ctx, KDR_ERR_DATA,
		                 "the model's biases of layers are not %lld x %lld numbers",
		                 (long long)o->layers, (long long)d);
	*layers = (kdri_layers){ (double *)map.data, (double *)bias.data, .known = true };
	o->kept = layers;
	return KDR_OK;
}
