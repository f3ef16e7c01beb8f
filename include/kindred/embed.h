/* Samples as points of a plane. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KINDRED_EMBED_H
#define KINDRED_EMBED_H

#include "kindred/data.h"
#include "kindred/job.h"

typedef enum kdr_embed_layout {
	KDR_EMBED_FORCES,    /* neighbours attract, others repel: what belongs together lies together */
	KDR_EMBED_DIRECTIONS /* the two leading directions of all tasks, each less its mean */
} kdr_embed_layout;

/* Zero means the default. */
typedef struct kdr_embed_options {
	kdr_embed_layout layout;
	int64_t neighbors; /* that attract a sample; default 15, fewer where there are few samples */
	int64_t sweeps;    /* of the forces; default 300 to 500, by the number of samples */
	bool centre; /* samples are compared less their task's mean even where most entries are zero (kdr_recipe) */
	kdr_prep_options prep;  /* these two: of kdr_embed alone */
	kdr_prep_choice choice; /* default: by what the data look like, unless something is told */
} kdr_embed_options;
KDR_API void kdr_embed_options_init(kdr_embed_options *options);

/* Coordinates of the samples of `count` tasks, as they are: xy[t] gets two numbers for each row of x[t]. Tasks whose
 * columns mean the same are drawn on common axes, so that what corresponds lies in the same place; tasks of different
 * width each on its own. The same seed gives the same coordinates on any number of threads; asked to stop, it gives
 * those reached so far. `options` may be NULL. After the search for neighbours O(rows x neighbours) a sweep. */
KDR_API kdr_status kdr_embed_matrices(kdr_context *ctx, const kdr_mat *x, int64_t count,
                                      const kdr_embed_options *options, double *const *xy);

/* Such coordinates, and what was done to the data before. */
typedef struct kdr_embedding kdr_embedding;

/* Aligns and preprocesses the tasks in place (as kdr_cluster does), then lays them out. */
KDR_API kdr_status kdr_embed(kdr_context *ctx, kdr_data *const *tasks, int64_t count,
                             const kdr_embed_options *options, kdr_embedding **out);
KDR_API void kdr_embedding_free(kdr_embedding *embedding);
KDR_API int64_t kdr_embedding_ntasks(const kdr_embedding *embedding);
/* Two numbers for each sample of a task; NULL where there is no such task. `n`, unless NULL: its samples. */
KDR_API const double *kdr_embedding_task(const kdr_embedding *embedding, int64_t task, int64_t *n);
KDR_API const kdr_prep *kdr_embedding_prep(const kdr_embedding *embedding);
KDR_API kdr_data_kind kdr_embedding_kind(const kdr_embedding *embedding);

#endif
