/* The partition nearest to a predicted coincidence matrix, by moving one sample at a time.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_MIGRATE_H
#define KDRI_MIGRATE_H

#include "methods/trec/pairs.h"

/* A symmetric n x n matrix of zeros and ones, which is computed row by row and never stored. */
typedef struct kdri_coincidence kdri_coincidence;
struct kdri_coincidence {
	int64_t n;
	/* Fills row i; entry i is ignored. Called from several threads at a time. */
	void (*row)(const kdri_coincidence *z, int64_t i, uint8_t *out);
	const void *data;
};

/* The decisions of the rule for all pairs of an ensemble; borrows both. */
typedef struct kdri_predicted {
	const kdri_ensemble *e;
	const kdri_pair_table *table;
} kdri_predicted;
kdri_coincidence kdri_coincidence_predicted(const kdri_predicted *predicted);

/* Owned by the caller: kdri_migration_free. */
typedef struct kdri_migration {
	double start; /* Q of the labels given */
	int64_t count;
	int64_t *moves; /* count x 3: sample, from, to */
	double *q;      /* count: Q after each move */
	kdr_stop stop;  /* converged: no move helps, or Q < q_min */
} kdri_migration;

/* Moves samples between k clusters, in place, until Q < q_min, it_max moves, or no move helps. */
kdr_status kdri_migrate(kdr_context *ctx, const kdri_coincidence *z, int64_t k, double q_min, int64_t it_max,
                        int64_t *labels, kdri_migration *out);
void kdri_migration_free(kdr_context *ctx, kdri_migration *m);

#endif
