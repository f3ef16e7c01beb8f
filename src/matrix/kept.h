/* What fits of the same data with other numbers of clusters can use again. SPDX-License-Identifier: BSD-3-Clause
 *
 * A job that fits several numbers of clusters attaches a kdri_kept to what it has inspected (traits.h). The first fit keeps what does not
 * depend on the number of clusters, such as nearest neighbours; the fits after it, which may run at the same time, only look. Without a
 * kdri_kept nothing is kept or looked for. Values are found by name and by a hash of all that they depend on. */
#ifndef KDRI_KEPT_H
#define KDRI_KEPT_H

#include "core/internal.h"

typedef struct kdri_kept {
	bool looking; /* the first fit is over */
	double bytes; /* of all values */
	struct kdri_kept_value *last;
} kdri_kept;

void kdri_kept_free(kdr_context *ctx, kdri_kept *kept);

/* Whether anything can be kept or found here. */
bool kdri_keeps(const kdr_context *ctx);
/* Whether this is one of the fits after the first, of which only labels and confidence are wanted. */
bool kdri_repeats(const kdr_context *ctx);
/* A copy of a value of so many bytes; false: there is none. */
bool kdri_kept_find(const kdr_context *ctx, const char *name, uint64_t key, void *out, size_t bytes);
/* Keeps a copy, if there is memory for it and the fit was not stopped. */
void kdri_kept_put(const kdr_context *ctx, const char *name, uint64_t key, const void *value, size_t bytes);

/* A hash of the entries and the shape of x, and of what came before. */
uint64_t kdri_mat_hash(const kdr_mat *x, uint64_t before);
uint64_t kdri_hash_number(uint64_t number, uint64_t before);

#endif
