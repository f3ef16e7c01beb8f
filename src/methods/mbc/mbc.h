/* What the files of mbc and bregman share. SPDX-License-Identifier: BSD-3-Clause */
/* Bregman divergences and the centroids they define.
 *
 * For a convex function phi,
 *     (E1)  d(p || q) = phi(p) - phi(q) - <grad phi(q), p - q>  >= 0.
 * A centroid c is attracted from two sides by
 *     (E2)  f(c) = a d(left || c) + b d(c || right),   a > 0, b > 0.
 * A new divergence is one entry of the table in bregman.c; no other code lists the divergences. */
/* One task of a Bregman clustering: data, labels, centroids.
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
#ifndef KDRI_MBC_H
#define KDRI_MBC_H

#include "core/internal.h"
#include "engine/kmeans/kmeans_work.h"

/* The two sides of (E2), points of d coordinates. */
typedef struct kdri_two_point {
	double a, b;
	const double *left, *right;
	int64_t d;
	double *room; /* KDRI_TWO_POINT_ROOM x d numbers of scratch */
	double *start; /* kl: where the search for its multiplier begins (NaN: anywhere) and, on return, where it
		          ended; or NULL */
} kdri_two_point;
enum { KDRI_TWO_POINT_ROOM = 4 };

typedef struct kdri_divergence {
	const char *name;
	bool symmetric; /* d(p || q) = d(q || p) */
	bool whitened;  /* points are first multiplied by the inverse square root of the pooled covariance */
	bool simplex;   /* points are distributions: data are scaled to sum 1 and smoothed */
	bool positive;  /* entries must be > 0 */
	double (*term)(double p, double q); /* the part of one coordinate in (E1) */
	double (*between)(const double *p, const double *q, int64_t d);
	/* The same if by = grad q - grad p is known, which saves work; or NULL. */
	double (*between_by)(const double *p, const double *q, const double *by, int64_t d);
	void (*gradient)(const double *p, int64_t d, double *g);
	void (*inverse)(const double *g, int64_t d, double *p); /* of the gradient, into the domain */
	/* out = change of the point whose gradient changes by `by`; NULL if symmetric. */
	void (*tangent)(const double *p, const double *by, int64_t d, double *out);
	void (*centroid)(const kdri_two_point *pull, double *c); /* the minimiser of (E2) */
} kdri_divergence;

typedef enum kdri_divergence_id {
	KDRI_SQEUCLIDEAN,
	KDRI_MAHALANOBIS,
	KDRI_KL,
	KDRI_ITAKURA_SAITO,
	KDRI_DIVERGENCES
} kdri_divergence_id;
extern const kdri_divergence kdri_divergences[KDRI_DIVERGENCES];
/* Their names in that order, ended by NULL: the choices of an option. */
extern const char *const kdri_divergence_names[KDRI_DIVERGENCES + 1];

/* f(c) of (E2). */
double kdri_two_point_value(const kdri_divergence *v, const kdri_two_point *pull, const double *c);
/* Minimises (E2) on the geodesic from left to right by bisection of its derivative. Returns the position on the
 * geodesic, 0 (left) to 1 (right). */
double kdri_geodesic_centroid(const kdri_divergence *v, const kdri_two_point *pull, double *c);

/* The Kullback-Leibler divergence on the simplex: kl.c.
 *
 * The functions of an entry of the table in bregman.c; mbc.h describes what each does. */

double kdri_kl_term(double p, double q);
double kdri_kl_between(const double *p, const double *q, int64_t d);
double kdri_kl_between_by(const double *p, const double *q, const double *by, int64_t d);
void kdri_kl_gradient(const double *p, int64_t d, double *g);
void kdri_kl_inverse(const double *g, int64_t d, double *p);
void kdri_kl_tangent(const double *p, const double *by, int64_t d, double *out);
void kdri_kl_centroid(const kdri_two_point *pull, double *c);

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

/* bregman_assign.c: labels of a random partition without empty clusters, or around samples spread out by
 * k-means++ (with divergences instead of squared distances), of several tasks in step. */
kdr_status kdri_breg_random(kdri_breg *b, kdri_rng *rng, int64_t *labels);
kdr_status kdri_breg_plusplus(kdri_breg *const *b, kdri_rng *rng, int64_t count, int64_t *const *labels);

/* bregman_task.c: R with R' R = (S + ridge tr(S)/d I)^-1 and its inverse, S the covariance of all tasks
 * about their common mean. Both d x d; the caller frees them. */
kdr_status kdri_whitening(kdr_context *ctx, const kdr_task *tasks, int64_t count, double ridge,
                          double **whitening, double **inverse);

/* Joint iterations of several Bregman clusterings; the equations are in methods/mbc/mbc.c. */

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
