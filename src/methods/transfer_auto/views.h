/* The samples of a transfer as the members of its ensemble see them. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_TRANSFER_VIEWS_H
#define KDRI_TRANSFER_VIEWS_H

#include "methods/common/domains.h"
#include "methods/transfer_auto/graphs.h"

/* Rows that tell the directions of E, and costs of classifiers, where samples are joined to landmarks. */
enum { KDRI_TRANSFER_TELLING = 32768 };

/* The last task of the domains is the target. Borrows the domains. */
typedef struct kdri_transfer_views {
	const kdri_domains *d;
	bool words;     /* mostly zeros, none negative: the mean stays */
	bool negative;  /* some entry is */
	bool few;       /* few features, mostly not zero: lengths tell as much as directions */
	kdri_own unit;  /* n x d: rows of unit length, or as they are where there are few features */
	double scale;   /* of Z against those rows */
	kdri_own z;     /* n x d: Z, the pooled mean taken away from dense rows */
	bool free_bias; /* Z wants a constant of any size: it is centred in effect */
	double *mean;   /* d: of `unit`, pooled */
	double *e;      /* n x width: E, or NULL: large, and there while members look at it */
	int64_t width;
	const double *share; /* of the classes, for the sources' means; NULL: as they are */
	kdri_transfer_joins joins;
	kdri_transfer_graph joint; /* of all rows, on E */
	kdri_transfer_graph graph; /* of the target's rows, on Z */
} kdri_transfer_views;

/* All but E and the joint graph. Stopped early, graphs lack edges. */
kdr_status kdri_transfer_views_new(kdr_context *ctx, const kdri_domains *d, const kdri_transfer_joins *joins,
                                   kdri_transfer_views *out);
/* E and, where it is wanted, the joint graph, unless they are there. The graph is that of the first E. */
kdr_status kdri_transfer_views_align(kdr_context *ctx, kdri_transfer_views *v, bool joint);
/* E goes. */
void kdri_transfer_views_part(kdr_context *ctx, kdri_transfer_views *v);
/* So does Z where it is a copy, while nobody looks at rows; and it is there again. */
void kdri_transfer_views_rest(kdr_context *ctx, kdri_transfer_views *v);
kdr_status kdri_transfer_views_return(kdr_context *ctx, kdri_transfer_views *v);
/* The next E has the sources' means as those of their classes in these shares (one a class, borrowed): what their means would be if
 * they had the target's shares. The graphs stay: who is near whom hardly changes. */
void kdri_transfer_views_reweigh(kdr_context *ctx, kdri_transfer_views *v, const double *share);
void kdri_transfer_views_free(kdr_context *ctx, kdri_transfer_views *v);

/* Rows of the target: first, and how many. */
static inline int64_t kdri_transfer_first(const kdri_domains *d)
{
	return d->begin[d->ntasks - 1];
}
static inline int64_t kdri_transfer_count(const kdri_domains *d)
{
	return d->n - kdri_transfer_first(d);
}

#endif
