/* Features by marginalised denoising: stacked layers in closed form. SPDX-License-Identifier: BSD-3-Clause
 *
 * Layer i maps what layer i - 1 gave, layer 0 being the data, to as many features again. The layers are
 * fitted on the first `train` rows; the rows after those go through the fitted layers without a say in them. */
#ifndef KDRI_MSDA_H
#define KDRI_MSDA_H

#include "api/method.h"
#include "methods/mtcfir/msda_panels.h"

/* Which of two equal ways a layer is computed: by a matrix of features x features or of samples x samples. */
typedef enum kdri_side { KDRI_SIDE_SMALLER, KDRI_SIDE_FEATURES, KDRI_SIDE_SAMPLES } kdri_side;

/* Layers as they were learnt, to be used again. A map is side x side numbers and a bias d numbers: W' and b, (E5)
 * and (E6) of msda_features.c, where one side is a feature; R and c, (E8) and (E9) of msda_samples.c, where it is a
 * training row. */
typedef struct kdri_layers {
	double *map, *bias; /* layers x side x side, layers x d */
	bool known;         /* they are there, and nothing is learnt; else they are to be filled */
} kdri_layers;

typedef struct kdri_msda_options {
	int64_t layers;
	double noise;         /* probability that a feature is set to zero, in (0, 1) */
	double ridge;         /* added to the diagonal, >= 0 */
	bool single;          /* layers in single precision */
	const double *copies; /* d: how many equal features each stands for, (E4) of msda_run.c; NULL: one */
	kdri_side side;
	const kdri_layers *kept; /* NULL: layers are learnt and forgotten */
} kdri_msda_options;

typedef struct kdri_msda_info {
	int64_t layers;   /* done: fewer than asked for if it was stopped */
	double saturated; /* the largest share, over layers, of outputs with |h| > 0.99 */
	double flops;     /* of the dense products and factorisations */
} kdri_msda_info;

/* Sees each layer's output, rows x d: layer 0 as `x`, where that is sparse and `h` is NULL; else as `h`. */
typedef kdr_status kdri_layer_fn(kdr_context *ctx, void *user, int64_t layer, const kdr_mat *x,
                                 const kdri_panels *h);

/* Reports each layer as an iteration of stage "features". Rows that are not for training, and layers that are known, are for the
 * processor alone. */
kdr_status kdri_msda_run(kdr_context *ctx, kdri_device *dev, const kdr_mat *x, int64_t train,
                         const kdri_msda_options *options, kdri_layer_fn *use, void *user,
                         kdri_msda_info *info);

/* For `use`: the lower triangle of K (rows x rows) = sum over layers of h diag(copies) h'; copies NULL: ones. */
kdr_status kdri_msda_add_gram(kdr_context *ctx, kdri_block gram, int64_t layer, const kdr_mat *x,
                              const kdri_panels *h, const double *copies);

/* Warns where most of what was learnt is saturated. */
kdr_status kdri_msda_warn(kdr_context *ctx, const kdri_msda_info *info, kdr_result *result);

/* What one side of a layer's matrix counts: all `d` features, or the `train` rows where those are fewer. */
int64_t kdri_msda_side(const kdri_msda_options *options, int64_t train, int64_t d);

/* Bytes that run needs at its peak on the processor, in addition to what `use` keeps; `train`: rows that layers are learnt from. */
double kdri_msda_bytes(const kdri_extent *x, double train, const kdri_msda_options *options);

/* Whether products of this many samples are done in single precision when that is left to the library. */
static inline bool kdri_single_above(int64_t samples)
{
	return samples > 4096;
}

/* The options of a method with such layers, for its table, and their values in force (single as `samples`
 * say). */
extern const char *const kdri_precision_names[];
bool kdri_precision_single(const kdr_options *options, int64_t samples);
kdri_msda_options kdri_msda_options_of(const kdr_options *options, int64_t samples);
/* clang-format off */
#define KDRI_OPTIONS_MSDA \
	KDRI_INT("layers", 3, 0, 100, "layers of features; 0: the data alone", .symbol = "g"), \
	KDRI_REAL("noise", 0.5, 0, 1, \
	          "probability that a feature is set to zero, which the layers learn to undo", \
	          .open_min = true, .open_max = true, .symbol = "p"), \
	KDRI_REAL("ridge", 0, 0, 1e300, \
	          "added to the diagonal of each layer's equations; features that are zero everywhere are left out, and nothing else needs it")
/* clang-format on */
#define KDRI_OPTION_PRECISION \
	KDRI_CHOICE("precision", 0, kdri_precision_names, \
	            "of the large products: auto is single above 4096 samples in all, double below")

#endif
