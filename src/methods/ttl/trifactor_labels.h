/* The labels of a tri-factorisation. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_TRIFACTOR_LABELS_H
#define KDRI_TRIFACTOR_LABELS_H

#include "methods/ttl/trifactor.h"

/* G of a set from the F and A of its data sets; rows that are fixed stay. */
kdr_status kdri_tri_update_g(kdr_context *ctx, kdri_tri *t, int set);
/* Scales rows of G to sum 1; fixed rows and rows of zeros are unchanged. */
void kdri_tri_normalise_g(kdr_context *ctx, kdri_tri *t, int set);
/* G'G, and X'G of every data set with these labels, over the rows of all ranks. */
kdr_status kdri_tri_refresh(kdr_context *ctx, kdri_tri *t, int set);

#endif
