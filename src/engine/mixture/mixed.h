/* Tables: columns of numbers and of categories, some cells missing; equations are those of mixed.c and mixed_encode.c.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The rows of all tasks of a problem, decoded from its matrices: a category is a group of columns of which a row has a 1 in
 * one (kdr_problem.category), a column of two values is a category as well, everything else is a number; NaN is missing. */
#ifndef KDRI_MIXED_H
#define KDRI_MIXED_H

#include "engine/mixture/mixture.h"

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

/* Weight of the levels of a category in distances, L their number, p their proportions: (E2). */
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

#endif
