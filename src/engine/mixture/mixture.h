/* Tables of numbers and categories, and mixtures fitted to them by EM. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_MIXTURE_H
#define KDRI_MIXTURE_H

#include "api/method.h"
#include "core/internal.h"

/* Rows of one or several tables, one below the other; borrowed. */
typedef struct kdri_mixture_data {
	int64_t n, tables;
	const int64_t *begin;          /* tables + 1: the rows of each table */
	int64_t numbers, categories;   /* columns of each kind */
	const double *x;               /* n x numbers; NaN: missing */
	const int32_t *code;           /* n x categories: 0 .. levels - 1; -1: missing */
	const int64_t *levels;         /* of each category */
	const double *number_weight;   /* u of each number; NULL: 1 */
	const double *category_weight; /* u of each category; NULL: 1 */
} kdri_mixture_data;

/* The parameters; owned. */
typedef struct kdri_mixture {
	int64_t k, tables, numbers, categories;
	double *share;    /* tables x k: pi */
	double *mean;     /* k x numbers */
	double *variance; /* k x numbers */
	double *theta;    /* sum of levels x k: of each category, the share of each level in each cluster */
	double loglik;    /* (E5) of mixture.c, of these parameters */
	int64_t iterations;
	double *values; /* (E6) of mixture.c after each iteration: it never decreases */
	kdr_stop stop;
} kdri_mixture;

typedef struct kdri_mixture_options {
	int64_t k;
	bool shared; /* one variance per number for all clusters; false: each cluster has its own */
	int64_t max_iter;
	double tol;
	const char *stage; /* name for progress events; NULL: no events */
} kdri_mixture_options;
/* Own variances, at most 100 iterations, tolerance 1e-5, no events. */
kdri_mixture_options kdri_mixture_defaults(int64_t k);

/* EM from labels (0 .. k - 1, one per row). `labels` gets the most probable cluster of each row, `posterior` (n x k, or
 * NULL) the probabilities. If rows are distributed over ranks, all ranks make the call with their own rows of every
 * table. */
kdr_status kdri_mixture_fit(kdr_context *ctx, const kdri_mixture_data *data, const kdri_mixture_options *o,
                            const int64_t *start, kdri_mixture *out, int64_t *labels, double *posterior);
/* EM from parameters instead of labels: the first step is (E4) of mixture.c. */
kdr_status kdri_mixture_refit(kdr_context *ctx, const kdri_mixture_data *data, const kdri_mixture_options *o,
                              const kdri_mixture *from, kdri_mixture *out, int64_t *labels,
                              double *posterior);
/* (E4) and (E5) of mixture.c with known parameters: clusters of new rows, all of table t, or (-1) of the tables given by data->begin.
 * Either output may be NULL. */
kdr_status kdri_mixture_assign(kdr_context *ctx, const kdri_mixture_data *data, const kdri_mixture *m,
                               int64_t t, int64_t *labels, double *posterior);
void kdri_mixture_free(kdr_context *ctx, kdri_mixture *m);

/* -2 LL + P ln n with the P free parameters of (E7) of mixture.c; levels_less_one: the sum of L - 1 over the categories;
 * centres: M of (E7) of mixture.c. */
double kdri_mixture_bic(double loglik, int64_t k, int64_t tables, int64_t centres, int64_t numbers,
                        int64_t levels_less_one, int64_t rows);

/* Tables: columns of numbers and of categories, some cells missing; equations are those of mixed.c and mixed_part.c.
 *
 * The rows of all tasks of a problem, decoded from its matrices: a category is a group of columns of which a row has a 1 in
 * one (kdr_problem.category), a column of two values is a category as well, everything else is a number; NaN is missing. */

typedef struct kdri_mixed {
	int64_t n, tables;
	bool centred;   /* pooled: each table's own means are subtracted: kdri_mixed_find_centring */
	int64_t *begin; /* tables + 1 */
	int64_t numbers, categories;
	int64_t *number_column;   /* of each number: its column of the matrices */
	int64_t *category_column; /* of each category: its first column */
	double *x;                /* n x numbers; NaN: missing */
	int32_t *code;            /* n x categories; -1: missing */
	double *larger; /* of each category that is a column of two values: the larger one, level 1; else NaN */
	int64_t *levels, *offset; /* of each category, and the levels before it; categories + 1 */
	bool *has_number;         /* tables x numbers: some cell of the table has a value, and they differ */
	bool *has_category;       /* tables x categories: some cell has a value */
	double *share;            /* offset[categories]: of each level among the rows that have a value */
	double *number_weight,
	        *category_weight; /* (E1) of mixed.c: columns that repeat each other share one vote */
} kdri_mixed;

/* Reads the tasks of a problem, including weights. */
kdr_status kdri_mixed_new(kdr_context *ctx, const kdr_problem *problem, kdri_mixed *out);
void kdri_mixed_free(kdr_context *ctx, kdri_mixed *t);
/* Some rows, in increasing order, as a separate table; proportions and weights stay those of all rows. columns: of each
 * column, numbers first, whether it is kept; NULL: all. */
kdr_status kdri_mixed_take(kdr_context *ctx, const kdri_mixed *from, const int64_t *rows, int64_t n,
                           const bool *columns, kdri_mixed *out);

/* At most `most` evenly spaced rows of this rank of each table, or of one table (otherwise -1) as a separate table. */
kdr_status kdri_mixed_sample(kdr_context *ctx, const kdri_mixed *from, int64_t table, int64_t most,
                             kdri_mixed *out);

/* At most `most` rows of each table, evenly spaced in the order of the rows of all ranks, on every rank. *whole: they
 * are all rows; in that case, without other ranks, nothing is copied and *out is empty: use `t` itself. */
kdr_status kdri_mixed_some(kdr_context *ctx, const kdri_mixed *t, int64_t most, kdri_mixed *out, bool *whole);

/* The part of one table that a mixture uses: the columns it has. The arrays are owned by the caller of kdri_mixed_part. */
typedef struct kdri_mixed_part {
	kdri_mixture_data data;
	int64_t begin[2], *levels;
	double *x, *number_weight, *category_weight;
	int32_t *code;
	int64_t *number, *category; /* which columns of the table these are */
} kdri_mixed_part;
kdr_status kdri_mixed_part_new(kdr_context *ctx, const kdri_mixed *t, int64_t table, kdri_mixed_part *out);
void kdri_mixed_part_free(kdr_context *ctx, kdri_mixed_part *p);
/* All tables, minus their own means if t->centred. */
kdr_status kdri_mixed_pool_new(kdr_context *ctx, const kdri_mixed *t, kdri_mixed_part *out);

/* What pooling subtracts: the mean of each number of each table over present cells, of the rows of all ranks (tables x numbers);
 * 0 if a table has none, or if tables are not centred. */
kdr_status kdri_mixed_means(kdr_context *ctx, const kdri_mixed *t, double *means);
/* A cell; and the level of a category in row i: the column from `first` on that has a 1, or, of a column of two
 * values, whether it is the larger one; -1: missing, or an unseen level. */
double kdri_mixed_cell(const kdr_mat *x, int64_t i, int64_t j);
int32_t kdri_mixed_level(const kdr_mat *x, int64_t i, int64_t first, int64_t levels, double larger);

/* Weight of the levels of a category in distances, L their number, p their proportions: (E2) of mixed_part.c. */
typedef enum kdri_encoding {
	KDRI_ENCODE_B, /* sqrt(.7 L / (L - 1)) */
	KDRI_ENCODE_H, /* 1 / sqrt 2 */
	KDRI_ENCODE_V, /* 1 / sqrt(sum p (1 - p)) */
	KDRI_ENCODINGS
} kdri_encoding;
/* How the cells of tables are encoded as numbers for distances: standardised numbers, and indicators minus proportions
 * times the factor above. Missing cells get the table's own mean or proportions; columns that a table does not have are
 * 0. */
typedef struct kdri_encoder {
	int64_t width;
	int64_t *column, *level; /* of each place: number or category, and its level; -1: a number */
	double *centre, *scale;  /* of each place: (value - centre) scale */
	double *fill;            /* tables x width: the value of a missing cell */
	double *less;            /* tables x width: subtracted at the end */
} kdri_encoder;
/* Computed from the rows of t; pooled: minus what pooling subtracts. */
kdr_status kdri_encoder_new(kdr_context *ctx, const kdri_mixed *t, kdri_encoding encoding, bool pooled,
                            kdri_encoder *out);
void kdri_encoder_free(kdr_context *ctx, kdri_encoder *b);
/* Rows begin .. end - 1 of t, which has the same columns and tables: (end - begin) x width. */
void kdri_encode(const kdri_encoder *b, const kdri_mixed *t, int64_t begin, int64_t end, double *out);

/* BIC of a mixture with k clusters of one table, or of all (-1), that have `rows` rows on all ranks. */
double kdri_mixed_bic(const kdri_mixed *t, int64_t table, int64_t k, double loglik, int64_t rows);

/* Starts of mixtures: starts.c. */

/* Rows `begin` and following of tables in each encoding; pooled: minus what pooling subtracts. */
typedef struct kdri_encoded {
	int64_t begin;
	kdri_encoder encoder[KDRI_ENCODINGS];
	double *rows[KDRI_ENCODINGS]; /* n x width */
} kdri_encoded;
kdr_status kdri_encoded_new(kdr_context *ctx, const kdri_mixed *m, bool pooled, int64_t begin, int64_t end,
                            kdri_encoded *e);
void kdri_encoded_free(kdr_context *ctx, kdri_encoded *e);
/* k-means of encoded rows begin .. end - 1, `runs` times, or once from the labels `start` if these are not NULL. `centres` (k x
 * width) may be NULL. */
kdr_status kdri_encoded_kmeans(kdr_context *ctx, const kdri_encoded *e, int i, int64_t begin, int64_t end,
                               int64_t k, int64_t runs, uint64_t stream, const int64_t *start,
                               int64_t *labels, double *centres);

typedef struct kdri_starts {
	int64_t count, n, *labels; /* count x n */
} kdri_starts;
/* Initial partitions of rows begin .. end - 1; `stream` must differ between tables; few: one seed instead of two. Free s->labels. */
kdr_status kdri_starts_new(kdr_context *ctx, const kdri_encoded *e, int64_t begin, int64_t end, int64_t k,
                           bool ward, bool few, uint64_t stream, kdri_starts *s);
/* One start: the clusters 0 .. from - 1 that `labels` has, joined until k remain. */
kdr_status kdri_starts_join(kdr_context *ctx, const kdri_encoded *e, int64_t begin, int64_t end, int64_t from,
                            const int64_t *labels, int64_t k, kdri_starts *s);
/* The best mixture of all starts. */
kdr_status kdri_best_mixture(kdr_context *ctx, const kdri_mixture_data *d, const kdri_mixture_options *o,
                             const kdri_starts *s, kdri_mixture *out, int64_t *labels);

/* What a mixture of all tables together with shared variances found: labels of the rows, and what it started from. */
typedef struct kdri_pooled {
	int64_t *labels; /* NULL: nothing */
	kdri_starts starts;
	kdri_mixture mixture;
} kdri_pooled;
/* *out: { 0 } before, to be freed also after a failure. */
kdr_status kdri_mixture_of(kdr_context *ctx, const kdri_mixed *m, int64_t k, bool few, kdri_pooled *out);
void kdri_pooled_free(kdr_context *ctx, kdri_pooled *p);

/* Whether each table's own means are subtracted before pooling: by the BIC of a mixture of k clusters with shared
 * variances. Tables with different proportions of the clusters have different means for that reason alone; subtracting
 * these would separate what belongs together. *found ({ 0 } before; NULL: not wanted): what that has found of all tables, empty if it did
 * not use all rows. */
kdr_status kdri_mixed_find_centring(kdr_context *ctx, const kdri_mixed *m, int64_t k, bool *centred,
                                    kdri_pooled *found);
/* Continues a mixture that was fitted on some of the rows with all rows. */
kdr_status kdri_mixture_continue(kdr_context *ctx, const kdri_mixture_data *d, const kdri_mixture_options *o,
                                 kdri_mixture *m, int64_t *labels);
/* Defaults with a stage name: every iteration checks whether to stop. */
kdri_mixture_options kdri_mixture_options_of(int64_t k, bool shared);

/* Mixtures in models: model.c. */

/* The arrays of a model, for the field tables of methods. */
#define KDRI_MIXTURE_FIELDS \
	KDRI_ARRAY("table_numbers", KDR_INT64, "numbers", "tables: the numeric columns", .in_model = true), \
	        KDRI_ARRAY("table_categories", KDR_INT64, "categories x 2", \
	                   "tables: the first column of each category, and its number of columns", \
	                   .in_model = true), \
	        KDRI_ARRAY( \
	                "table_larger", KDR_FLOAT64, "categories", \
	                "tables: for a category stored in one column with two values, the larger value; otherwise 0", \
	                .in_model = true), \
	        KDRI_ARRAY("table_weights", KDR_FLOAT64, "numbers + categories", \
	                   "tables: weight of each column", .in_model = true), \
	        KDRI_ARRAY("table_shares", KDR_FLOAT64, "mixtures x k", \
	                   "tables: proportion of each cluster in each mixture", .per_task = true, \
	                   .in_model = true), \
	        KDRI_ARRAY("table_means", KDR_FLOAT64, "mixtures x k x numbers", \
	                   "tables: means of the numeric columns", .per_task = true, .in_model = true), \
	        KDRI_ARRAY( \
	                "table_variances", KDR_FLOAT64, "mixtures x k x numbers", \
	                "tables: variances of the numeric columns; 0: the table does not have the column", \
	                .per_task = true, .in_model = true), \
	        KDRI_ARRAY("table_levels", KDR_FLOAT64, "mixtures x levels x k", \
	                   "tables: proportion of each level of each category in each cluster", \
	                   .per_task = true, .in_model = true)

typedef struct kdri_mixture_member {
	const kdri_mixture *mixture;
	bool pooled;       /* of all tables, each minus its own means */
	const int64_t *to; /* the number of each of its clusters in the result; NULL: the same */
} kdri_mixture_member;

/* Columns, once; and the mixtures of table s, `means` those of its numbers (kdri_mixed_means). */
kdr_status kdri_mixture_save_columns(kdr_context *ctx, const kdri_mixed *m, kdr_result *result);
kdr_status kdri_mixture_save(kdr_context *ctx, const kdri_mixed *m, int64_t s,
                             const kdri_mixture_member *members, int64_t count, const double *means,
                             kdr_result *result);
/* `probability` (n x k) may be NULL. */
kdr_status kdri_mixture_predict(kdr_context *ctx, const kdr_result *fitted, int64_t task, const kdr_mat *x,
                                int64_t *labels, double *probability);

/* Ward's hierarchical clustering. */

#endif
