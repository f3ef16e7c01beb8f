/* One task of a Bregman clustering: data, labels, centroids. SPDX-License-Identifier: BSD-3-Clause
 *
 * Data. A sample of the model is x~ = R (s_i x_i + t 1): s_i and t smooth the rows for the simplex or raise zeros to a
 * floor, R whitens; they are applied to sums and centroids, never to the matrix. Sparse data therefore stay sparse, and
 * smoothed sparse data are sparse plus rank one.
 *
 * Assignment. With a reference point m (the mean) and G_z = grad c_z - grad m,
 *     (E1)  d(x || c_z) = d(x || m) + v_z,   v_z = d(m || c_z) + <G_z, m> - <G_z, x>
 * so that all divergences need the same product of rows and a table of k vectors as k-means does. The loss of a cluster
 * of n_z samples with mean mu_z follows without a pass over the data:
 *     (E2)  sum over its samples of d(x || c_z) = sum d(x || m) + n_z (d(m || c_z) - <G_z, mu_z - m>)
 * Squared Euclidean distances are computed by the k-means engine with its bounds, the others by bregman_assign.c. */
#ifndef KDRI_BREGMAN_TASK_H
#define KDRI_BREGMAN_TASK_H

#include "engine/kmeans/kmeans_work.h"
#include "methods/mbc/bregman.h"

/* What the data of a divergence need; the defaults of the methods' options are theirs. */
typedef struct kdri_breg_domain {
	const kdri_divergence *divergence;
	double smooth; /* simplex: fraction of the uniform distribution mixed into every row */
	double floor;  /* positive: smaller entries are raised to it; 0: an error */
	const double *whitening, *unwhitening; /* R and its inverse (d x d), or NULL: see kdri_whitening */
} kdri_breg_domain;

enum { KDRI_BREG_SCRATCH = 2 + KDRI_TWO_POINT_ROOM };

typedef struct kdri_breg {
	kdr_context *ctx;
	const char *name;
	kdri_breg_domain domain;
	int64_t n, d, k;
	kdr_mat x;              /* borrowed, or with the values below */
	double *values;         /* raised to the floor, less the floor if sparse; or NULL */
	double add;             /* t */
	kdri_km km;             /* labels, sums; table and offsets */
	bool euclidean;         /* the engine's own distances and bounds */
	double *points, *dual;  /* k x d in the model's space: c_z (euclidean: the engine's own), G_z */
	double *means;          /* mu_z, only if whitened; otherwise see kdri_breg_mean */
	double *base;           /* d(m || c_z) */
	double *centre, *slope; /* m and its gradient */
	double *apart;          /* d(x_i || m), n */
	double total;           /* their sum */
	double *room;           /* k x d, only where whitened */
	double *scratch;        /* KDRI_BREG_SCRATCH x d for each thread */
	double *parts;          /* k */
	double *cross;          /* euclidean: blocks of features x k x 2 */
	double *starts;         /* k: see kdri_two_point */
	bool fresh;             /* the next assignment must not use the bounds of earlier ones */

	/* Bounds: bregman_assign.c. */
	double *origin;                 /* m as the rows see it, less t: not whitened */
	double *gap, *reach;            /* n */
	double *base_before, *drift;    /* k */
	double *lose_base, *lose_reach; /* k */
	double error_base, error_reach; /* rounding of v_z: at most error_base + error_reach * reach_i */
} kdri_breg;

/* Checks the data against the domain and makes room. `t->name` names the task in errors. */
kdr_status kdri_breg_open(kdr_context *ctx, const kdr_task *t, const kdri_breg_domain *domain, kdri_breg *b);
void kdri_breg_close(kdri_breg *b);
/* Starts from labels: means, and centroids at the means. A cluster without samples starts at m. All tasks in one exchange;
 * `room`: for one pointer a task. */
kdr_status kdri_breg_begin(kdri_breg *tasks, int64_t count, int64_t *const *labels, kdri_km **room);
/* Assigns every sample to its nearest centroid and updates the means, also for all tasks in one exchange. */
kdr_status kdri_breg_assign(kdri_breg *tasks, int64_t count, kdri_km **room);
/* The mean of a cluster with samples is by * at[f] + add, so that it need not be stored. */
typedef struct kdri_breg_mean {
	const double *at;
	double by, add;
} kdri_breg_mean;
kdri_breg_mean kdri_breg_mean_of(const kdri_breg *b, int64_t z);
/* Features f0..f1-1 of it. */
void kdri_breg_to_mean(const kdri_breg *b, int64_t z, int64_t f0, int64_t f1, double *out);
/* New centroids of a Euclidean task, features f0..f1-1 of cluster z at a time, in one pass that also gives the loss
 * before and after. For sparse data, passes over k x d numbers take most of the time. */
typedef void kdri_breg_fill(void *user, int64_t z, int64_t f0, int64_t f1, const double *now, double *out);
void kdri_breg_renew(kdri_breg *b, kdri_breg_fill *fill, void *user, double *before, double *after);
/* Makes b->points the centroids and updates everything that depends on them. Euclidean: the next assignment must not use
 * earlier bounds. */
kdr_status kdri_breg_place(kdri_breg *b);
/* Mean divergence of samples from their centroids. */
double kdri_breg_loss(kdri_breg *b);
/* Labels by centroids in the space of the data; a label does not depend on the other samples of the call. */
kdr_status kdri_breg_classify(kdri_breg *b, const double *centroids, int64_t *labels);
/* Centroids in the space of the data, k x d. */
kdr_status kdri_breg_centroids(kdri_breg *b, double *out);

/* bregman_assign.c, for divergences that are not Euclidean: |x_i - m| once; table and offsets from b->dual; labels from
 * them. */
kdr_status kdri_breg_load(kdri_breg *b);
void kdri_breg_reach(kdri_breg *b);
void kdri_breg_nearest(kdri_breg *b);

/* bregman_start.c: labels of a random partition without empty clusters, or around samples spread out by
 * k-means++ (with divergences instead of squared distances), of several tasks in step. */
kdr_status kdri_breg_random(kdri_breg *b, kdri_rng *rng, int64_t *labels);
kdr_status kdri_breg_plusplus(kdri_breg *const *b, kdri_rng *rng, int64_t count, int64_t *const *labels);

/* bregman_whiten.c: R with R' R = (S + ridge tr(S)/d I)^-1 and its inverse, S the covariance of all tasks
 * about their common mean. Both d x d; the caller frees them. */
kdr_status kdri_whitening(kdr_context *ctx, const kdr_task *tasks, int64_t count, double ridge,
                          double **whitening, double **inverse);

#endif
