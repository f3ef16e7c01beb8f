/* What fits of the same data with other numbers of clusters can use again. SPDX-License-Identifier: BSD-3-Clause
 *
 * A job that fits several numbers of clusters attaches a kdri_kept to what it has inspected (traits.h). The first fits, one or two, are
 * complete: they keep what does not depend on the number of clusters, such as nearest neighbours, and the partitions of their members.
 * The fits after them may derive their labels from those partitions. The first of these keeps what the others need as well; the others, which
 * may run at the same time, only look. Without a kdri_kept nothing is kept or looked for. Values are found by name and by a hash of all that they depend on. */
#ifndef KDRI_KEPT_H
#define KDRI_KEPT_H

#include "core/internal.h"

enum { KDRI_COMPLETE_FITS = 2 }; /* at most */

typedef struct kdri_kept {
	int fits;      /* complete fits that are over */
	bool deriving; /* all of them are */
	bool looking;  /* nothing more is kept, because fits may run at the same time */
	double bytes;  /* of all values */
	struct kdri_kept_value *last;
	/* Moves the numbers of clusters that a fit has found to numbers that are wanted; NULL: all are. order: the caller's number of each task; NULL: the same. */
	void (*enter)(const void *ranges, const int64_t *order, int64_t ntasks, int64_t *k);
	const void *ranges;
} kdri_kept;

void kdri_kept_free(kdr_context *ctx, kdri_kept *kept);

/* Whether anything can be kept or found here. */
bool kdri_keeps(const kdr_context *ctx);
/* Whether this is one of the fits after the first, of which only labels and confidence are wanted. */
bool kdri_repeats(const kdr_context *ctx);
/* The number of complete fits before this one. */
int kdri_fits_before(const kdr_context *ctx);
/* Whether complete fits are over, so that a fit may derive its labels from what they have kept. */
bool kdri_derives(const kdr_context *ctx);
/* Whether a fit that finds the numbers of clusters has to find them in a range. */
bool kdri_has_range(const kdr_context *ctx);
/* For a fit that has found the number of clusters k[t] of each task: changes them if others are wanted; true: it did. */
bool kdri_enter_range(const kdr_context *ctx, const int64_t *order, int64_t ntasks, int64_t *k);
/* A copy of a value of so many bytes; false: there is none. */
bool kdri_kept_find(const kdr_context *ctx, const char *name, uint64_t key, void *out, size_t bytes);
/* Keeps a copy, unless all values together would be too large or the fit was stopped. */
kdr_status kdri_kept_put(kdr_context *ctx, const char *name, uint64_t key, const void *value, size_t bytes);

/* A value of several arrays, which are found or kept together; those without data are skipped. */
typedef struct kdri_kept_part {
	void *data;
	size_t bytes;
} kdri_kept_part;
bool kdri_kept_find_parts(const kdr_context *ctx, const char *name, uint64_t key, const kdri_kept_part *parts,
                          int count);
kdr_status kdri_kept_put_parts(kdr_context *ctx, const char *name, uint64_t key, const kdri_kept_part *parts,
                               int count);

/* A hash of the entries and the shape of x, and of what came before. */
uint64_t kdri_mat_hash(const kdr_mat *x, uint64_t before);
uint64_t kdri_hash_number(uint64_t number, uint64_t before);

#endif
