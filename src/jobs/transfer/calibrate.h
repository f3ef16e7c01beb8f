/* From scores to probabilities. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_CALIBRATE_H
#define KDRI_CALIBRATE_H

#include "core/internal.h"

/* Samples whose class is known, and the predictions of a method that did not use it. */
typedef struct kdri_held_out {
	int64_t n, classes;
	double *s;              /* n x classes: kdri_calibrate_row */
	int64_t *label, *truth; /* a label may be -1 */
} kdri_held_out;

/* Scores of one sample as they are calibrated, none larger than that of its label; `from` NULL: the method has none. */
void kdri_calibrate_row(const double *from, int64_t classes, kdr_scoring kind, int64_t label, double *s);
/* Temperature a and weight b of the label, and the mean log loss with them. */
kdr_status kdri_calibrate(kdr_context *ctx, const kdri_held_out *h, double *a, double *b, double *loss);
/* The probabilities of one sample. */
void kdri_calibrated(const double *s, int64_t classes, int64_t label, double a, double b, double *p);

#endif
