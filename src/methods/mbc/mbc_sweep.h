/* Joint iterations of several Bregman clusterings; the equations are in methods/mbc/mbc.c. SPDX-License-Identifier:
 * BSD-3-Clause */
#ifndef KDRI_MBC_SWEEP_H
#define KDRI_MBC_SWEEP_H

#include "methods/mbc/bregman_task.h"

typedef struct kdri_mbc {
	kdr_context *ctx;
	int64_t ntasks;
	kdri_breg *tasks;
	kdri_breg_domain domain;
	double *whitening, *unwhitening; /* owned; NULL unless whitened */
	double lambda;                   /* 0 for one task */
	bool geodesic;
	double **cost;     /* [t * ntasks + s]: d(u_z^t || u_l^s), K^t x K^s; NULL where t = s */
	double **weight;   /* the same: W^ts */
	double *local;     /* loss of each task */
	double *ones;      /* marginals: two of the largest K */
	double *offset;    /* largest K x d: u^t - m^s */
	double *partial;   /* sums over blocks of features */
	kdri_km **engines; /* room for those of the tasks */
} kdri_mbc;

/* A start and the sweeps from it. */
typedef struct kdri_mbc_run {
	double start;  /* objective before the first sweep */
	double *steps; /* objective after W, H and U of each sweep: sweeps x 3; owned */
	int64_t sweeps, room;
	kdr_stop stop;
} kdri_mbc_run;

typedef struct kdri_mbc_limits {
	int64_t max_iter;
	double tol;
	const char *stage;   /* of progress events */
	int64_t done, total; /* sweeps of earlier runs, and of all */
} kdri_mbc_limits;

/* `domain` has no whitening, which is computed here. Call kdri_mbc_close even after a failure. */
kdr_status kdri_mbc_open(kdr_context *ctx, const kdr_task *tasks, int64_t ntasks,
                         const kdri_breg_domain *domain, double ridge, double lambda, bool geodesic,
                         kdri_mbc *m);
void kdri_mbc_close(kdri_mbc *m);
/* Sweeps from labels[t][i]; the state is left in the tasks. W is that of the last W step. */
kdr_status kdri_mbc_sweep(kdri_mbc *m, int64_t *const *labels, const kdri_mbc_limits *limits,
                          kdri_mbc_run *run);
/* Computes costs, weights and losses of the current centroids and labels. may_stop: weights of some pairs may stay
 * unchanged. */
kdr_status kdri_mbc_match(kdri_mbc *m, bool may_stop);
/* d_M of tasks t and s: optimal transport of centroids, with equal cluster weights or weights by size. */
kdr_status kdri_mbc_distance(kdri_mbc *m, int64_t t, int64_t s, bool by_size, double *out);

#endif
