/* What the files of mtcfir, msda and snmf share. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_MTCFIR_H
#define KDRI_MTCFIR_H

#include "api/method.h"
#include "engine/graph/similarity.h"
#include "matrix/block.h"
#include "matrix/device_use.h"
#include "matrix/linalg.h"
#include "methods/common/tasks.h"

/* rows x d numbers. If the device has no room for all of them, they are kept on the host, and one panel at a time is on
 * the device. */
typedef struct kdri_panels {
	kdr_context *ctx;
	kdri_device *dev;
	int64_t rows, d;
	int64_t wide, high; /* columns of a panel of all rows; rows of a panel of all columns */
	int64_t most;       /* entries that a panel, or scratch of its size, may have */
	kdri_block all;     /* if memory allows */
	double *host;       /* else: rows x d */
	kdri_block room;    /* else: for a panel */
} kdri_panels;

/* Rows row.. and columns col.. as a view; the previous view becomes invalid. */
kdri_block kdri_panels_view(const kdri_panels *p, int64_t row, int64_t col, int64_t rows, int64_t cols);
/* The same with their entries. */
kdr_status kdri_panels_load(const kdri_panels *p, int64_t row, int64_t col, int64_t rows, int64_t cols,
                            kdri_block *out);
/* The entries of a view become those of rows row.. and columns col.. */
kdr_status kdri_panels_store(const kdri_panels *p, int64_t row, int64_t col, kdri_block view);
/* Columns of a panel that needs no scratch: all of them if all are on the device. */
static inline int64_t kdri_panels_span(const kdri_panels *p)
{
	return p->host ? p->wide : p->d;
}

/* Features by marginalised denoising: stacked layers in closed form.
 *
 * Layer i maps the output of layer i - 1 to equally many features; layer 0 is the data. The layers are fitted on the
 * first `train` rows. The following rows pass through the fitted layers without influencing them. */

/* Which of two equivalent ways is used to compute a layer: by a matrix of features x features or of samples x samples. */
typedef enum kdri_side { KDRI_SIDE_SMALLER, KDRI_SIDE_FEATURES, KDRI_SIDE_SAMPLES } kdri_side;

/* Learnt layers, which can be used again. A map has side x side numbers and a bias d numbers: W' and b, (E5) and (E6) of
 * msda_layers.c, if a side counts features; R and c, (E15) and (E16) of msda_layers.c, if it counts training rows. */
typedef struct kdri_layers {
	double *map, *bias; /* layers x side x side, layers x d */
	bool known;         /* true: they are given, and nothing is learnt; false: they are to be filled */
} kdri_layers;

typedef struct kdri_msda_options {
	int64_t layers;
	double noise;         /* probability that a feature is set to zero, in (0, 1) */
	double ridge;         /* added to the diagonal, >= 0 */
	bool single;          /* layers in single precision */
	const double *copies; /* d: equal features that each represents, (E5) of msda.c; NULL: one */
	kdri_side side;
	const kdri_layers *kept; /* NULL: layers are learnt and forgotten */
} kdri_msda_options;

typedef struct kdri_msda_info {
	int64_t layers;   /* number of layers computed: fewer than requested if it was stopped */
	double saturated; /* the largest fraction, over layers, of outputs with |h| > 0.99 */
	double flops;     /* of the dense products and factorisations */
} kdri_msda_info;

/* Receives each layer's output, rows x d: layer 0 as `x` if it is sparse, with `h` NULL; otherwise as `h`. */
typedef kdr_status kdri_layer_fn(kdr_context *ctx, void *user, int64_t layer, const kdr_mat *x,
                                 const kdri_panels *h);

/* Reports each layer as an iteration of stage "features". Rows that are not for training and known layers are only
 * supported on the CPU. */
kdr_status kdri_msda_run(kdr_context *ctx, kdri_device *dev, const kdr_mat *x, int64_t train,
                         const kdri_msda_options *options, kdri_layer_fn *use, void *user,
                         kdri_msda_info *info);

/* For `use`: the lower triangle of K (rows x rows) = sum over layers of h diag(copies) h'; copies NULL: ones. */
kdr_status kdri_msda_add_gram(kdr_context *ctx, kdri_block gram, int64_t layer, const kdr_mat *x,
                              const kdri_panels *h, const double *copies);

/* Warns if most of the learnt features are saturated. */
kdr_status kdri_msda_warn(kdr_context *ctx, const kdri_msda_info *info, kdr_result *result);

/* The side of a layer's matrix: all `d` features, or the `train` rows if there are fewer. */
int64_t kdri_msda_side(const kdri_msda_options *options, int64_t train, int64_t d);

/* The options of a method with such layers, for its table, and their current values (`single` depends on `samples`). */
extern const char *const kdri_precision_names[];
bool kdri_precision_single(const kdr_options *options, int64_t samples);
kdri_msda_options kdri_msda_options_of(const kdr_options *options, int64_t samples);
/* clang-format off */
#define KDRI_OPTIONS_MSDA \
	KDRI_INT("layers", 3, 0, 100, "number of feature layers; 0: only the data", .symbol = "g"), \
	KDRI_REAL("noise", 0.5, 0, 1, \
	          "probability that a feature is set to zero; the layers learn to restore it", \
	          .open_min = true, .open_max = true, .symbol = "p"), \
	KDRI_REAL("ridge", 0, 0, 1e300, \
	          "added to the diagonal of each layer's equations")
/* clang-format on */
#define KDRI_OPTION_PRECISION \
	KDRI_CHOICE( \
	        "precision", 0, kdri_precision_names, \
	        "precision of the large products; auto: single above 4096 samples in total, otherwise double")

/* What the files of msda share. */

/* The state while a layer is computed. Its input is `x` while that is sparse, otherwise `h`, which its output replaces. */
typedef struct kdri_msda {
	kdr_context *ctx;
	kdri_device *dev;
	double p, q; /* noise, and 1 - noise */
	double ridge;
	const double *copies; /* d, or NULL */
	int64_t n, m, d;      /* training rows, all rows, features */
	const kdr_mat *x;     /* m rows */
	kdri_own xt;          /* the training rows transposed; only if x is sparse */
	kdri_sparse rows;     /* x on the device, and the transpose of the training rows */
	bool sparse;
	kdri_panels h;                          /* m x d */
	double *mean, *square, *delta, *offset; /* d: xbar, s, Delta, and what tanh is shifted by */
	kdri_block room;                        /* scratch of the dense layers: a panel */
	double *map, *bias;                     /* where this layer is kept, or NULL */
	bool known;                             /* it is known from there and need not be learnt */
	double flops;
} kdri_msda;

/* Allocates w->room once for all layers, because freeing and allocating it again takes time. */
kdr_status kdri_msda_room(kdri_msda *w, int64_t rows, int64_t cols);

/* Reads the input in w->x or w->h and leaves the output in w->h; statistics have been computed before. */
kdr_status kdri_msda_by_features(kdri_msda *w);
kdr_status kdri_msda_by_samples(kdri_msda *w);

/* Copies a newly learnt layer, `map` and w->offset, to where it is kept, if anywhere; and back. */
kdr_status kdri_msda_keep(const kdri_msda *w, kdri_block map);
kdr_status kdri_msda_recall(const kdri_msda *w, kdri_block map);

/* Layers of mSDA in a model. */

/* The bytes that the layers take in a model; 0 if none are kept because there are none or they are too large. */
double kdri_layers_bytes(const kdri_msda_options *options, int64_t train, int64_t d);

/* Allocates the layers in `result`, if they are to be kept, and lets the run with `options` fill them; `layers` must
 * live as long as the run. Stores their number as "layers_kept". */
kdr_status kdri_layers_keep(kdr_context *ctx, kdr_result *result, int64_t train, int64_t d,
                            kdri_layers *layers, kdri_msda_options *options);

/* Lets the run use the layers of a model. If it has none, `options` are unchanged. */
kdr_status kdri_layers_find(kdr_context *ctx, const kdr_result *fitted, int64_t train, int64_t d,
                            kdri_layers *layers, kdri_msda_options *options);

/* Symmetric non-negative factorisation M ~ Y Y'. */

/* M: symmetric, entries >= 0. */
typedef struct kdri_snmf_matrix {
	kdri_device *dev;
	int64_t rows;
	double square; /* the sum of the squares of all entries */
	bool single;   /* products with M are single: J is known to 1e-8 |M|^2, else to 1e-13 */
	/* N = M Y, both rows x any number of columns, of doubles. */
	kdr_status (*multiply)(kdr_context *ctx, const void *data, kdri_block y, kdri_block n);
	const void *data;
} kdri_snmf_matrix;

/* A block or a sparse matrix as M; borrowed. */
kdri_snmf_matrix kdri_snmf_dense(const kdri_block *m, double square);
kdri_snmf_matrix kdri_snmf_sparse(const kdri_sparse *m, double square);

typedef struct kdri_snmf_options {
	int64_t k, max_iter;
	double tol; /* stop when the objective decreases by at most this fraction; 0: when nothing changes */
	const char *stage; /* name for progress events; NULL: no events */
} kdri_snmf_options;

/* Owned by the caller: free it with kdri_snmf_free. */
typedef struct kdri_snmf_result {
	double *y;     /* n x k */
	double start;  /* the objective at the start */
	double *trace; /* after each iteration; never increases except by rounding */
	int64_t iterations;
	int64_t careful; /* iterations that needed the smaller step */
	kdr_stop stop;
} kdri_snmf_result;

/* y = one-hot labels + 0.2. */
void kdri_snmf_start(const int64_t *labels, int64_t n, int64_t k, double *y);

/* Iterates from each of `runs` starts (n x k, >= 0, one after the other) in step; events report the lowest objective. On
 * failure results[0..runs-1] are unchanged; being stopped is not a failure. */
kdr_status kdri_snmf(kdr_context *ctx, const kdri_snmf_matrix *m, const double *starts, int64_t runs,
                     const kdri_snmf_options *options, kdri_snmf_result *results);
void kdri_snmf_free(kdr_context *ctx, kdri_snmf_result *result);

/* labels[i] = the largest entry of row i, ties to the lowest index. */
void kdri_snmf_labels(const double *y, int64_t n, int64_t k, int64_t *labels);

/* Cosines of samples that have no negative entry, as a product that is never formed. */

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

/* Clusters of one task from the similarities of its samples. */

extern const char *const kdri_final_names[];
typedef enum kdri_final { KDRI_FINAL_SNMF, KDRI_FINAL_NCUT } kdri_final;

/* Exactly one of `sparse`, `dense` and `cosines` is set: symmetric, entries >= 0. */
typedef struct kdri_snmf_task {
	int64_t task, k;
	const char *name;
	kdri_device *dev;      /* device on which it is factorised */
	const kdr_mat *sparse; /* of the host */
	const kdri_block *dense;
	const kdri_cosines *cosines; /* only for final=snmf */
	const int64_t *starts;       /* runs x n labels */
	int64_t runs;
	bool apart; /* each start gives a task, from `task` on; only for final=snmf. Otherwise the best
		       is kept */
	bool given; /* the start was given by the user */
	const kdr_options *options;
	const char *stage;
} kdri_snmf_task;

/* `runs` starts of n labels each, by k-means on the full Gram matrix. Duplicate starts are dropped, so that fewer may
 * remain: *found. */
kdr_status kdri_snmf_starts(kdr_context *ctx, kdri_block gram, int64_t k, int64_t runs, int64_t task,
                            int64_t *starts, int64_t *found);

/* Stores labels, memberships (or embedding) and trace of the task in `result`. traces[0], or with `apart` one per start:
 * their values belong to `result`. */
kdr_status kdri_snmf_task_run(kdr_context *ctx, const kdri_snmf_task *task, kdr_result *result,
                              kdri_trace *traces);

/* For a task that was not clustered before it was time to stop: `labels`, or, if NULL, the initial labels of the task or those of
 * k-means, which is quick, with memberships of 1. */
kdr_status kdri_snmf_give_up(kdr_context *ctx, const kdr_problem *problem, int64_t task,
                             const int64_t *labels, kdr_result *result);
/* The warning for `count` of these tasks; none for 0. */
kdr_status kdri_snmf_warn_given_up(kdr_context *ctx, const kdr_problem *problem, int64_t count,
                                   kdr_result *result);

/* For option and field tables. */
#define KDRI_OPTION_FINAL \
	KDRI_CHOICE( \
	        "final", KDRI_FINAL_SNMF, kdri_final_names, \
	        "how clusters are found from the similarities: symmetric non-negative factorisation, or the normalised cut, which is often better for sparse similarities")
/* clang-format off */
#define KDRI_FIELDS_FINAL \
	KDRI_ARRAY("memberships", KDR_FLOAT64, "n x k", \
	           "Y: membership of each sample in each cluster; one-hot with final=ncut", \
	           .per_task = true, .scoring = KDR_SCORING_SHARES, .in_model = true), \
	KDRI_ARRAY("trace", KDR_FLOAT64, "iterations", \
	           "objective of the data set after each iteration of the best run", .per_task = true), \
	KDRI_ARRAY("embedding", KDR_FLOAT64, "n x vectors", \
	           "rows of the k leading eigenvectors, scaled to length 1; final=ncut only", .per_task = true), \
	KDRI_ARRAY("eigenvalues", KDR_FLOAT64, "vectors", \
	           "k leading eigenvalues of the normalised similarities; final=ncut only", .per_task = true)
/* clang-format on */

/* k-means that uses only the Gram matrix of the samples. */

/* One run from k-means++ on `gram` (n x n, symmetric) with k of 1 .. n clusters; `stream`: which random stream of the context's seed. */
kdr_status kdri_gram_kmeans(kdr_context *ctx, kdri_block gram, int64_t k, int64_t max_iter, uint64_t stream,
                            int64_t *labels);

/* New samples in a factorisation of similarities. */

/* labels[i]: the cluster in which a new sample with similarities s[i] to the n training samples has the largest
 * membership. s (rows x n): entries >= 0. y (n x k): the training samples' memberships. */
kdr_status kdri_fold_in(kdr_context *ctx, kdri_block s, const double *y, int64_t k, int64_t *labels);

/* The samples a model was made from, kept in it. */

/* Stores a sparse matrix as the arrays NAME_rowptr, NAME_col and NAME_val of task t. */
kdr_status kdri_put_csr(kdr_context *ctx, kdr_result *result, const char *name, int64_t t, const kdr_csr *x);

/* Stores the samples of every task in the model. */
kdr_status kdri_train_keep(kdr_context *ctx, const kdr_problem *problem, kdr_result *result);

/* Stacks the samples of tasks first .. first + count - 1 of the model, then x; begin[0..count] are the tasks' first
 * rows, the last one that of x. The contents of the model are checked. */
kdr_status kdri_train_stack(kdr_context *ctx, const kdr_result *fitted, int64_t first, int64_t count,
                            const kdr_mat *x, kdri_own *all, int64_t *begin);

/* The memberships of task t in the model, n x k; an error if their size is wrong. */
kdr_status kdri_train_memberships(kdr_context *ctx, const kdr_result *fitted, int64_t t, int64_t n,
                                  const double **out);

/* For field tables. */
/* clang-format off */
#define KDRI_FIELDS_TRAIN \
	KDRI_ARRAY("train_rowptr", KDR_INT64, "n + 1", \
	           "the samples as a sparse matrix (CSR), if they are sparse: row pointers", \
	           .per_task = true, .in_model = true), \
	KDRI_ARRAY("train_col", KDR_INT64, "entries", \
	           "the samples as a sparse matrix (CSR): columns", .per_task = true, .in_model = true), \
	KDRI_ARRAY("train_val", KDR_FLOAT64, "entries", \
	           "the samples as a sparse matrix (CSR): values", .per_task = true, .in_model = true), \
	KDRI_ARRAY("train_x", KDR_FLOAT64, "n x d", \
	           "the samples, if they are dense", .per_task = true, .in_model = true)
/* clang-format on */

/* Relatedness of tasks, and one similarity per task that is consistent across all tasks. */

/* All samples of all tasks: v (N x N, on a device), task t holding rows begin[t] .. begin[t + 1] - 1. */
typedef struct kdri_pool {
	kdri_block v;
	int64_t ntasks;
	const int64_t *begin;
} kdri_pool;

static inline int64_t kdri_pool_size(const kdri_pool *p, int64_t t)
{
	return p->begin[t + 1] - p->begin[t];
}

/* The rows of task t and the columns of task s. */
static inline kdri_block kdri_pool_pair(const kdri_pool *p, int64_t t, int64_t s)
{
	return kdri_block_part(p->v, p->begin[t], p->begin[s], kdri_pool_size(p, t), kdri_pool_size(p, s));
}

/* Median distance between two samples from the lower triangle of a Gram matrix; of 1000 evenly spaced samples if there
 * are more. */
kdr_status kdri_gram_median(kdr_context *ctx, kdri_block gram, double *out);

/* Turns the Gram matrix into the full matrix of similarities in place, from its lower triangle: cosines (0 with a sample
 * of length 0, 1 with itself otherwise) or exp(-distance^2 / (2 sigma^2)). */
kdr_status kdri_gram_similarity(kdr_context *ctx, kdri_block gram, kdri_similarity similarity, double sigma);

/* out (ntasks x ntasks): squared maximum mean discrepancy of each pair of tasks, biased, with the linear kernel (sigma 0) or
 * exp(-distance^2 / (2 sigma^2)). Task t holds rows begin[t] .. begin[t + 1] - 1 of `gram`, whose lower triangle is read. */
kdr_status kdri_gram_mmd(kdr_context *ctx, kdri_block gram, const int64_t *begin, int64_t ntasks,
                         double sigma, double *out);

/* eps (ntasks) and alpha (ntasks x ntasks: row t has how much task t draws on each task). */
kdr_status kdri_relate(kdr_context *ctx, const kdri_pool *pool, const int64_t *neighbours, double *eps,
                       double *alpha);

/* Row i of `sharp` has the neighbours of sample i and their weights, of which the largest is 1; on the host. */
typedef struct kdri_consistent {
	kdri_own sharp;
	kdri_own m; /* (sharp + sharp') / 2 */
} kdri_consistent;

/* `alpha`: ntasks weights. `neighbours`: 1 .. n - 2. `most`: bytes that the distances may take at a time; if they need
 * more, they are computed in blocks of rows. */
kdr_status kdri_consistent_new(kdr_context *ctx, const kdri_pool *pool, int64_t task, const double *alpha,
                               int64_t neighbours, int64_t most, kdri_consistent *out);
void kdri_consistent_free(kdr_context *ctx, kdri_consistent *c);

/* Distances that differ by at most this fraction of their size count as equal. */
static inline double kdri_consistent_tie(bool single)
{
	return single ? 2e-6 : 1e-12;
}

/* What mtcfir's fit and predict share. */

enum { KDRI_MTCFIR_FULL, KDRI_MTCFIR_NF, KDRI_MTCFIR_NI, KDRI_MTCFIR_NR };

/* The options of the layers, none with variant nF. */
kdri_msda_options kdri_mtcfir_layers(const kdr_options *options, int64_t samples);

kdr_status kdri_mtcfir_predict(kdr_context *ctx, const kdr_result *fitted, const kdr_options *options,
                               int64_t task, const kdr_mat *x, int64_t *labels);

#endif
