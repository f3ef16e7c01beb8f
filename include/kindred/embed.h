/* Two-dimensional maps of samples. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KINDRED_EMBED_H
#define KINDRED_EMBED_H

#include "kindred/data.h"
#include "kindred/job.h"

typedef enum kdr_embed_layout {
	KDR_EMBED_FORCES,    /* neighbours attract and others repel, so that similar samples lie together */
	KDR_EMBED_DIRECTIONS /* the two leading principal directions of all data sets, each minus its mean */
} kdr_embed_layout;

/* Zero means the default. */
typedef struct kdr_embed_options {
	size_t size;
	kdr_embed_layout layout;
	int64_t neighbors; /* that attract a sample; default 15, fewer for few samples */
	int64_t sweeps;    /* of the forces; default 300 to 500, by the number of samples */
	bool centre;       /* subtract the mean of each data set even if the data are sparse (kdr_recipe) */
	const kdr_prep_options *prep; /* NULL: none specified */
	kdr_prep_choice choice;
} kdr_embed_options;
KDR_DEFINE_INIT(kdr_embed_options)

/* Coordinates of the samples of some data sets. */
typedef struct kdr_embedding kdr_embedding;

/* Aligns and preprocesses `count` data sets in place, as kdr_cluster does, and computes a two-dimensional map of their
 * samples. Data sets with the same features share axes, so that similar samples are close together; others have their
 * own axes. The same seed gives the same coordinates on any number of threads. A cancelled call gives the coordinates
 * reached so far. `options` may be NULL. Free *out with kdr_embedding_free. Cost: the nearest-neighbour search, at most
 * O(n nnz) time, then O(n x neighbors) per sweep; O(n x neighbors) memory. */
KDR_API kdr_status kdr_embed(kdr_context *ctx, kdr_data *const *tasks, int64_t count,
                             const kdr_embed_options *options, kdr_embedding **out);
KDR_API void kdr_embedding_free(kdr_embedding *embedding);
/* Returns two numbers for each sample of a data set; NULL if there is no such data set. `n`, unless NULL, gets the number of
 * samples. Cost: O(1). */
KDR_API const double *kdr_embedding_task(const kdr_embedding *embedding, int64_t task, int64_t *n);
/* Returns one line that describes the preprocessing, such as "features: union (3 data sets, 2500 columns); tfidf; l2".
 * Cost: O(1). */
KDR_API const char *kdr_embedding_preprocessing(const kdr_embedding *embedding);

#endif
