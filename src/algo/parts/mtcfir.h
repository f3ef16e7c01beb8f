/* What mtcfir's fit and predict share. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_MTCFIR_H
#define KDRI_MTCFIR_H

#include "algo/parts/consistent.h"
#include "algo/parts/msda.h"

enum { KDRI_MTCFIR_FULL, KDRI_MTCFIR_NF, KDRI_MTCFIR_NI, KDRI_MTCFIR_NR };

/* The options of the layers, none with variant nF. */
kdri_msda_options kdri_mtcfir_layers(const kdr_options *options, int64_t samples);

/* The samples of each task go into the model: predict learns the layers from them anew. */
kdr_status kdri_mtcfir_keep(kdr_context *ctx, const kdr_problem *problem, kdr_result *result);
#define KDRI_FIELDS_TRAIN                                                                           \
	{ .name = "train_rowptr",                                                                   \
	  .type = KDR_INT64,                                                                        \
	  .per_task = true,                                                                         \
	  .in_model = true,                                                                         \
	  .shape = "n + 1",                                                                         \
	  .help = "the task's samples in compressed rows, where they are sparse: starts of rows" }, \
	        { .name = "train_col",                                                              \
		  .type = KDR_INT64,                                                                \
		  .per_task = true,                                                                 \
		  .in_model = true,                                                                 \
		  .shape = "entries",                                                               \
		  .help = "the task's samples: columns" },                                          \
	        { .name = "train_val",                                                              \
		  .type = KDR_FLOAT64,                                                              \
		  .per_task = true,                                                                 \
		  .in_model = true,                                                                 \
		  .shape = "entries",                                                               \
		  .help = "the task's samples: values" },                                           \
	{                                                                                           \
		.name = "train_x", .type = KDR_FLOAT64, .per_task = true, .in_model = true,         \
		.shape = "n x d", .help = "the task's samples, where they are dense"                \
	}

kdr_status kdri_mtcfir_predict(kdr_context *ctx, const kdr_result *fitted, const kdr_options *options,
                               int64_t task, const kdr_mat *x, int64_t *labels);

#endif
