/* Cosines of samples that have no negative entry, as a product that is never formed. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_COSINES_H
#define KDRI_COSINES_H

#include "api/method.h"
#include "methods/mtcfir/snmf_steps.h"

typedef struct kdri_cosines {
	kdri_own u, turned; /* U; sparse: U' as well */
	double *room;       /* d x columns: U' Y */
	double *own;        /* n: of columns that are not in U because they have one entry; NULL: none */
	int64_t columns;
	double square; /* the sum of the squares of all cosines */
} kdri_cosines;

/* Whether products with the factors are cheaper than with the n x n cosines; none of these is negative then. */
bool kdri_cosines_pay(const kdr_mat *x);
/* For products with at most `columns` vectors, on the processor. Borrows x. */
kdr_status kdri_cosines_new(kdr_context *ctx, const kdr_mat *x, int64_t columns, kdri_cosines *out);
void kdri_cosines_free(kdr_context *ctx, kdri_cosines *c);
/* The matrix to be factorised; borrowed, and for one thread at a time. */
kdri_snmf_matrix kdri_snmf_cosines(const kdri_cosines *c);

#endif
