/* Several starts of a symmetric factorisation, in step: the book-keeping. SPDX-License-Identifier: BSD-3-Clause
 *
 * Where Y and N = M Y are, and how they are multiplied, is the business of kdri_snmf_place: the processor's in snmf_steps.c, a device's in
 * snmf_device.c. There are two states, which take turns: what stands, and what comes of it. */
#ifndef KDRI_SNMF_RUNS_H
#define KDRI_SNMF_RUNS_H

#include "methods/mtcfir/snmf_steps.h"

typedef struct kdri_snmf_runs kdri_snmf_runs;

/* `which` is a state, 0 or 1. Start `slot` has columns slot k .. slot k + k - 1 of the runs' ld. */
typedef struct kdri_snmf_place {
	/* Columns that so many starts take. */
	int64_t (*width)(int64_t slots, int64_t k);
	/* N = M Y; gram (ld x ld) = Y'Y; products (ld): each column of Y times that of N. */
	kdr_status (*multiply)(kdri_snmf_runs *w, int which, double *gram, double *products);
	/* Y of the other state from this one, whose Y'Y is `gram`, with e = 1/2. */
	kdr_status (*step)(kdri_snmf_runs *w, int which, const double *gram);
	/* The same of one start with e = 1/4, after it. */
	kdr_status (*step_carefully)(kdri_snmf_runs *w, int which, int64_t slot);
	/* Whether Y of a start is the same in both. */
	kdr_status (*same)(kdri_snmf_runs *w, int64_t slot, bool *out);
	/* Y of a start (rows x k). */
	kdr_status (*hand_in)(kdri_snmf_runs *w, int which, int64_t slot, double *y);
	/* The other state becomes empty, of ld columns; then starts that go on move there, Y and N. */
	kdr_status (*clear)(kdri_snmf_runs *w, int which, int64_t ld);
	kdr_status (*move)(kdri_snmf_runs *w, int which, int64_t slot, int64_t place, int64_t ld);
} kdri_snmf_place;

struct kdri_snmf_runs {
	kdr_context *ctx;
	const kdri_snmf_place *place;
	void *user;
	double square; /* |M|^2 */
	int64_t rows, k;
	int64_t slots, ld;    /* starts still at work, and columns they take */
	int now;              /* the state that stands */
	int64_t *run;         /* slots: the start's number */
	bool *flag;           /* slots: to be done again, then ended */
	double *gram[2];      /* ld x ld, 0 between starts */
	double *objective[2]; /* slots */
	double *products;     /* ld */
	kdri_snmf_result *results;
};

/* ctx, place, user, rows, k are set; makes room for `runs` starts. kdri_snmf_runs_close accepts what a failed one left. */
kdr_status kdri_snmf_runs_open(kdri_snmf_runs *w, int64_t runs);
void kdri_snmf_runs_close(kdri_snmf_runs *w, int64_t runs);

/* From the Y of state 0 until every start has ended; results[0..runs-1] are handed over. */
kdr_status kdri_snmf_runs_go(kdri_snmf_runs *w, int64_t runs, const kdri_snmf_options *options,
                             kdri_snmf_result *results);

#endif
