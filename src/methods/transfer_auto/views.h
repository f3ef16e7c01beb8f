/* The samples of a transfer in the forms that the members of its ensemble use. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_TRANSFER_VIEWS_H
#define KDRI_TRANSFER_VIEWS_H

#include "methods/common/domains.h"
#include "methods/transfer_auto/graphs.h"

/* Number of rows used to find the directions of E and the costs of classifiers if samples are joined to landmarks. */
enum { KDRI_TRANSFER_TELLING = 32768 };

/* The last task of the domains is the target. Borrows the domains. */
typedef struct kdri_transfer_views {
	const kdri_domains *d;
	bool words;     /* mostly zeros, none negative: the mean stays */
	bool negative;  /* some entry is */
	bool few;       /* few features, mostly not zero: lengths are as informative as directions */
	kdri_own unit;  /* n x d: rows of unit length, or unchanged if there are few features */
	double scale;   /* of Z against those rows */
	kdri_own z;     /* n x d: Z, with the pooled mean subtracted from dense rows */
	bool free_bias; /* Z needs a constant of any size, which has the effect of centring */
	double *mean;   /* d: of `unit`, pooled */
	double *e;      /* n x width: E, or NULL; it is large and exists only while members use it */
	int64_t width;
	const double *share; /* class proportions for the sources' means; NULL: unchanged */
	kdri_transfer_joins joins;
	kdri_transfer_graph joint; /* of all rows, on E */
	kdri_transfer_graph graph; /* of the target's rows, on Z */
} kdri_transfer_views;

/* Everything except E and the joint graph. If stopped early, graphs have fewer edges. */
kdr_status kdri_transfer_views_new(kdr_context *ctx, const kdri_domains *d, const kdri_transfer_joins *joins,
                                   kdri_transfer_views *out);
/* Computes E and, if requested, the joint graph, unless they exist. The graph is that of the first E. */
kdr_status kdri_transfer_views_align(kdr_context *ctx, kdri_transfer_views *v, bool joint);
/* Frees E. */
void kdri_transfer_views_part(kdr_context *ctx, kdri_transfer_views *v);
/* Frees Z, if it is a copy, while rows are not used; and restores it. */
void kdri_transfer_views_rest(kdr_context *ctx, kdri_transfer_views *v);
kdr_status kdri_transfer_views_return(kdr_context *ctx, kdri_transfer_views *v);
/* The next E uses the sources' means as they would be with these class proportions (one per class, borrowed), which are
 * those of the target. The graphs stay, because neighbours hardly change. */
void kdri_transfer_views_reweigh(kdr_context *ctx, kdri_transfer_views *v, const double *share);
void kdri_transfer_views_free(kdr_context *ctx, kdri_transfer_views *v);

/* Rows of the target: the first, and their number. */
static inline int64_t kdri_transfer_first(const kdri_domains *d)
{
	return d->begin[d->ntasks - 1];
}
static inline int64_t kdri_transfer_count(const kdri_domains *d)
{
	return d->n - kdri_transfer_first(d);
}

#endif
