/* Class prototypes that samples are transported to. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_PROTOTYPES_H
#define KDRI_PROTOTYPES_H

#include "matrix/linalg.h"

typedef struct kdri_prototypes {
	const double *e; /* n x width, rows of unit length or zeros */
	int64_t n, width, classes;
	const double *share; /* classes: their estimated proportions, positive */
	double blur;         /* regularisation */
	int64_t rounds, steps;
} kdri_prototypes;

/* prototypes (classes x width): the start on entry, the last ones on return. posterior: n x classes. */
kdr_status kdri_prototypes_run(kdr_context *ctx, const kdri_prototypes *p, double *prototypes,
                               double *posterior);

#endif
