/* Features by marginalised denoising: stacked layers in closed form. SPDX-License-Identifier: BSD-3-Clause
 *
 * Layer i maps the output of layer i - 1 to equally many features; layer 0 is the data. The layers are fitted on the
 * first `train` rows. The following rows pass through the fitted layers without influencing them. */
#ifndef KDRI_MSDA_H
#define KDRI_MSDA_H

#include "api/method.h"
#include "methods/mtcfir/msda_panels.h"

/* Which of two equivalent ways is used to compute a layer: by a matrix of features x features or of samples x samples. */
typedef enum kdri_side { KDRI_SIDE_SMALLER, KDRI_SIDE_FEATURES, KDRI_SIDE_SAMPLES } kdri_side;

/* Learnt layers, which can be used again. A map has side x side numbers and a bias d numbers: W' and b, (E5) and (E6) of
 * msda_features.c, if a side counts features; R and c, (E8) and (E9) of msda_samples.c, if it counts training rows. */
typedef struct kdri_layers {
	double *map, *bias; /* layers x side x side, layers x d */
	bool known;         /* true: they are given, and nothing is learnt; false: they are to be filled */
} kdri_layers;

typedef struct kdri_msda_options {
	int64_t layers;
	double noise;         /* probability that a feature is set to zero, in (0, 1) */
	double ridge;         /* added to the diagonal, >= 0 */
	bool single;          /* layers in single precision */
	const double *copies; /* d: equal features that each represents, (E4) of msda_run.c; NULL: one */
	kdri_side side;
	const kdri_layers *kept; /* NULL: layers are learnt and forgotten */
} kdri_msda_options;

typedef struct kdri_msda_info {
	int64_t layers;   /* number of layers computed: fewer than requested if it was stopped */
	double saturated; /* the largest fraction, over layers, of outputs with |h| > 0.99 */
	double flops;     /* of the dense products and factorisations */
} kdri_msda_info;

/* Receives each layer's output, rows x d: layer 0 as `x` if it is sparse, with `h` NULL; otherwise as `h`. */
typedef kdr_status kdri_layer_fn(kdr_context *ctx, void *user, int64_t layer, const kdr_mat *x,
                                 const kdri_panels *h);

/* Reports each layer as an iteration of stage "features". Rows that are not for training and known layers are only
 * supported on the CPU. */
kdr_status kdri_msda_run(kdr_context *ctx, kdri_device *dev, const kdr_mat *x, int64_t train,
                         const kdri_msda_options *options, kdri_layer_fn *use, void *user,
                         kdri_msda_info *info);

/* For `use`: the lower triangle of K (rows x rows) = sum over layers of h diag(copies) h'; copies NULL: ones. */
kdr_status kdri_msda_add_gram(kdr_context *ctx, kdri_block gram, int64_t layer, const kdr_mat *x,
                              const kdri_panels *h, const double *copies);

/* Warns if most of the learnt features are saturated. */
kdr_status kdri_msda_warn(kdr_context *ctx, const kdri_msda_info *info, kdr_result *result);

/* The side of a layer's matrix: all `d` features, or the `train` rows if there are fewer. */
int64_t kdri_msda_side(const kdri_msda_options *options, int64_t train, int64_t d);

/* Whether products of this many samples use single precision by default. */
static inline bool kdri_single_above(int64_t samples)
{
	return samples > 4096;
}

/* The options of a method with such layers, for its table, and their current values (`single` depends on `samples`). */
extern const char *const kdri_precision_names[];
bool kdri_precision_single(const kdr_options *options, int64_t samples);
kdri_msda_options kdri_msda_options_of(const kdr_options *options, int64_t samples);
/* clang-format off */
#define KDRI_OPTIONS_MSDA \
	KDRI_INT("layers", 3, 0, 100, "number of feature layers; 0: only the data", .symbol = "g"), \
	KDRI_REAL("noise", 0.5, 0, 1, \
	          "probability that a feature is set to zero; the layers learn to restore it", \
	          .open_min = true, .open_max = true, .symbol = "p"), \
	KDRI_REAL("ridge", 0, 0, 1e300, \
	          "added to the diagonal of each layer's equations")
/* clang-format on */
#define KDRI_OPTION_PRECISION \
	KDRI_CHOICE( \
	        "precision", 0, kdri_precision_names, \
	        "precision of the large products; auto: single above 4096 samples in total, otherwise double")

#endif
