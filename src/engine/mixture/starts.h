/* Starts of mixtures: starts.c. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_MIXTURE_STARTS_H
#define KDRI_MIXTURE_STARTS_H

#include "api/method.h"
#include "engine/mixture/mixed.h"

/* Rows `begin` and following of tables in each encoding; pooled: minus what pooling subtracts. */
typedef struct kdri_encoded {
	int64_t begin;
	kdri_encoder encoder[KDRI_ENCODINGS];
	double *rows[KDRI_ENCODINGS]; /* n x width */
} kdri_encoded;
kdr_status kdri_encoded_new(kdr_context *ctx, const kdri_mixed *m, bool pooled, int64_t begin, int64_t end,
                            kdri_encoded *e);
void kdri_encoded_free(kdr_context *ctx, kdri_encoded *e);
/* k-means of encoded rows begin .. end - 1, `runs` times, or once from the labels `start` if these are not NULL. `centres` (k x
 * width) may be NULL. */
kdr_status kdri_encoded_kmeans(kdr_context *ctx, const kdri_encoded *e, int i, int64_t begin, int64_t end,
                               int64_t k, int64_t runs, uint64_t stream, const int64_t *start,
                               int64_t *labels, double *centres);

typedef struct kdri_starts {
	int64_t count, n, *labels; /* count x n */
} kdri_starts;
/* Initial partitions of rows begin .. end - 1; `stream` must differ between tables; few: one seed instead of two. Free s->labels. */
kdr_status kdri_starts_new(kdr_context *ctx, const kdri_encoded *e, int64_t begin, int64_t end, int64_t k,
                           bool ward, bool few, uint64_t stream, kdri_starts *s);
/* One start: the clusters 0 .. from - 1 that `labels` has, joined until k remain. */
kdr_status kdri_starts_join(kdr_context *ctx, const kdri_encoded *e, int64_t begin, int64_t end, int64_t from,
                            const int64_t *labels, int64_t k, kdri_starts *s);
/* The best mixture of all starts. */
kdr_status kdri_best_mixture(kdr_context *ctx, const kdri_mixture_data *d, const kdri_mixture_options *o,
                             const kdri_starts *s, kdri_mixture *out, int64_t *labels);

/* Both in one call, for one table of `m`, or for all (-1). *labels: of the rows of m, or of the table. */
kdr_status kdri_mixture_of(kdr_context *ctx, const kdri_mixed *m, int64_t table, int64_t k, bool shared,
                           kdri_mixture *out, int64_t *labels);
/* Whether each table's own means are subtracted before pooling: by the BIC of a mixture of k clusters with shared
 * variances. Tables with different proportions of the clusters have different means for that reason alone; subtracting
 * these would separate what belongs together. */
kdr_status kdri_mixed_find_centring(kdr_context *ctx, const kdri_mixed *m, int64_t k, bool *centred);
/* Continues a mixture that was fitted on some of the rows with all rows. */
kdr_status kdri_mixture_continue(kdr_context *ctx, const kdri_mixture_data *d, const kdri_mixture_options *o,
                                 kdri_mixture *m, int64_t *labels);
/* Defaults with a stage name: every iteration checks whether to stop. */
kdri_mixture_options kdri_mixture_options_of(int64_t k, bool shared);

#endif
