/* Mixtures in models: model.c. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_MIXTURE_MODEL_H
#define KDRI_MIXTURE_MODEL_H

#include "api/method.h"
#include "engine/mixture/mixed.h"

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

#endif
