/* Seeded synthetic tasks. SPDX-License-Identifier: BSD-3-Clause
 *
 * A design says what to make: start from its _init. Unlike in options, zero means zero: no shift, no turn. */
#ifndef KINDRED_GENERATE_H
#define KINDRED_GENERATE_H

#include "kindred/data.h"

/* Related Gaussian tasks: every task draws from the same k centres, moved by `shift`, turned by
 * `rotation` and thinned by `missing`; `noise_features` columns of pure noise are appended. */
typedef struct kdr_blobs {
	int64_t tasks, k, features, noise_features;
	const int64_t *samples; /* one a task; NULL: 300 each */
	double separation;      /* standard deviation of the centres' coordinates, in units of spread; in
	                           few dimensions centres that fall together are drawn again */
	double spread;          /* standard deviation within a cluster */
	double shift;           /* standard deviation of a task's own move of each centre */
	double rotation;        /* degrees by which each task is turned against the one before it */
	int64_t missing;        /* clusters left out of each task after the first */
	double imbalance;       /* 0: equal sizes; 1: sizes fall off linearly to near nothing */
} kdr_blobs;
KDR_API void kdr_blobs_init(kdr_blobs *spec);

/* Text-like tasks over one vocabulary: k topics shared by all tasks, each task mixing in words of
 * its own. Rows are counts of words. */
typedef struct kdr_topics {
	int64_t tasks, k, words;
	const int64_t *samples; /* one a task; NULL: 300 each */
	double length;          /* mean number of words in a document */
	double purity;          /* share of a document's words that come from its topic, 0..1 */
	double domain;          /* share of words that come from the task's own vocabulary, 0..1 */
	int64_t missing;        /* topics left out of each task after the first */
} kdr_topics;
KDR_API void kdr_topics_init(kdr_topics *spec);

/* The Monte-Carlo design of V. Berikov, Heterogeneous transfer learning in ensemble clustering, 2019: four
 * classes, two balls and two strips, as a source (16 features, 100 samples) or a target (24, 80) that have
 * no feature in common. One generator makes one of the two. */
typedef struct kdr_berikov {
	bool target;
	double separation; /* scales how far apart the classes start; 1 is the paper's */
} kdr_berikov;
KDR_API void kdr_berikov_init(kdr_berikov *spec);

/* Rows are made one by one and never held together: a generator is a stream. Each row depends only
 * on (seed, task, row). Rows of one generator may be made in several threads at a time. */
typedef struct kdr_generator kdr_generator;
KDR_API kdr_status kdr_generate_blobs(kdr_context *ctx, const kdr_blobs *spec, kdr_generator **out);
KDR_API kdr_status kdr_generate_topics(kdr_context *ctx, const kdr_topics *spec, kdr_generator **out);
KDR_API kdr_status kdr_generate_berikov(kdr_context *ctx, const kdr_berikov *spec, kdr_generator **out);
KDR_API void kdr_generator_free(kdr_generator *generator);
KDR_API int64_t kdr_generator_tasks(const kdr_generator *generator);
KDR_API int64_t kdr_generator_samples(const kdr_generator *generator, int64_t task);
KDR_API int64_t kdr_generator_features(const kdr_generator *generator);
/* Class c of all tasks is the same centre or topic, and is called "c<c>". */
KDR_API int64_t kdr_generator_classes(const kdr_generator *generator);
KDR_API bool kdr_generator_sparse(const kdr_generator *generator);
/* Name of a column, valid until the next call. */
KDR_API const char *kdr_generator_feature_name(kdr_generator *generator, int64_t column);
/* Fills `row` (features values) and the class of that row. */
KDR_API kdr_status kdr_generator_row(kdr_generator *generator, int64_t task, int64_t index, double *row,
                                     int64_t *label);
/* The same as column numbers (increasing) and values, for generators that are sparse. Both arrays need
 * room for kdr_generator_room() entries. */
KDR_API kdr_status kdr_generator_sparse_row(kdr_generator *generator, int64_t task, int64_t index,
                                            int32_t *cols, double *vals, int64_t *nnz, int64_t *label);
KDR_API int64_t kdr_generator_room(const kdr_generator *generator);
/* The whole of one task in memory, with labels. */
KDR_API kdr_status kdr_generator_data(kdr_context *ctx, kdr_generator *generator, int64_t task,
                                      kdr_data **out);
/* Streams one task to a file (.csv, .mtx, .npy, each with .gz where usual) and its classes, a line a row, to
 * `labels_path` (may be NULL). Rows are never held together. */
KDR_API kdr_status kdr_generator_write(kdr_context *ctx, kdr_generator *generator, int64_t task,
                                       const char *path, const char *labels_path, bool force);

/* The next of a sequence of random numbers (splitmix64), for the caller's own choices: rows to draw, a start. `state` begins as
 * any number. */
KDR_API uint64_t kdr_random(uint64_t *state);

#endif
