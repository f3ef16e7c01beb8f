/* Synthetic data, inside the library. SPDX-License-Identifier: BSD-3-Clause
 *
 * One file per design (blobs.c, topics.c, berikov.c, table_design.c), each giving a kdri_design and a constructor;
 * generator.c has the common parts. Rows depend only on the random stream of (seed, task, row), and a generator does
 * not change once it is created, so rows may be requested in any order and from any thread. */
#ifndef KDRI_SYNTH_H
#define KDRI_SYNTH_H

#include "core/internal.h"

enum { KDRI_CELL = 48 };

typedef struct kdri_design {
	const char *stage; /* names the random streams of the rows */
	/* Fills one row of class `label` from its stream: all values, or (NULL unless the design is
	 * sparse) the columns, increasing, and their values. Both make the same draws. */
	void (*dense_row)(const kdr_generator *g, int64_t task, int64_t label, kdri_rng *rng, double *row);
	int64_t (*sparse_row)(const kdr_generator *g, int64_t task, int64_t label, kdri_rng *rng,
	                      int32_t *cols, double *vals);
	/* Sparse: at most how many entries the row that starts this stream needs room for. */
	int64_t (*room)(const kdr_generator *g, kdri_rng rng);
	/* A dense design whose rows depend on their position: the class of a row, and the row. NULL: as above. */
	int64_t (*place_class)(const kdr_generator *g, int64_t index);
	void (*place_row)(const kdr_generator *g, int64_t index, double *row);
	void (*feature_name)(const kdr_generator *g, int64_t task, int64_t column, char *name, size_t size);
	/* A design of tables: prints a cell (at most KDRI_CELL bytes) and returns its length; and turns a data set with its
	 * rows and classes into a matrix. NULL: values are numbers and rows are the matrix. */
	int (*print_cell)(const kdr_generator *g, int64_t task, int64_t column, double value, char *text);
	kdr_status (*fill)(kdr_context *ctx, const kdr_generator *g, int64_t task, kdr_data *data);
	void (*free_state)(const kdr_allocator *allocator, void *state);
} kdri_design;

struct kdr_generator {
	kdr_allocator allocator;
	const kdri_design *design;
	void *state; /* the design's own */
	uint64_t seed;
	int64_t tasks, k, features, most; /* most: room that any sparse row needs */
	int64_t *samples;                 /* one a task */
	double *bound;                    /* tasks x k: see classes.c */
	uint64_t *start;                  /* tasks */
};

/* --- generator.c ------------------------------------------------------------------------------- */

/* A generator without state and features. `samples` NULL: the same default for all tasks. */
kdr_status kdri_generator_new(kdr_context *ctx, const kdri_design *design, const char *what, int64_t tasks,
                              int64_t k, const int64_t *samples, kdr_generator **out);
/* KDR_ERR_ARGUMENT unless min <= value <= max; `what` names the design. */
kdr_status kdri_check_count(kdr_context *ctx, const char *what, const char *name, int64_t value, int64_t min,
                            int64_t max);
kdr_status kdri_check_real(kdr_context *ctx, const char *what, const char *name, double value, double min,
                           double max);

/* --- classes.c --------------------------------------------------------------------------------- */

/* Sets the size of each class in each task: `missing` random classes are omitted from each task after the first, and
 * the sizes of the others decrease by `imbalance`, in the order of the classes or, if `own_order`, in a random order
 * for each task. */
kdr_status kdri_classes_new(kdr_context *ctx, kdr_generator *g, int64_t missing, double imbalance,
                            bool own_order);
int64_t kdri_class_of(const kdr_generator *g, int64_t task, int64_t index);
/* 0 .. n-1 in random order. */
void kdri_shuffle(kdri_rng *rng, int32_t *order, int64_t n);

/* --- words.c ----------------------------------------------------------------------------------- */

/* The name of word `index` of a vocabulary of `count`: invented, pronounceable, all different. */
void kdri_word(int64_t index, int64_t count, char *name, size_t size);

/* Fills `row` (features values) and the class of that row. */
kdr_status kdri_generator_row(kdr_generator *generator, int64_t task, int64_t index, double *row,
                              int64_t *label);

/* The same as column numbers (increasing) and values, for generators that are sparse. Both arrays need
 * room for `most` entries. */
kdr_status kdri_generator_sparse_row(kdr_generator *generator, int64_t task, int64_t index, int32_t *cols,
                                     double *vals, int64_t *nnz, int64_t *label);

/* The same without checks: fills `row` and returns its class. */
int64_t kdri_generator_dense_row(const kdr_generator *g, int64_t task, int64_t index, double *row);

kdr_status kdri_generate_blobs(kdr_context *ctx, const kdr_design *spec, kdr_generator **out);
kdr_status kdri_generate_topics(kdr_context *ctx, const kdr_design *spec, kdr_generator **out);
kdr_status kdri_generate_berikov(kdr_context *ctx, const kdr_design *spec, kdr_generator **out);
kdr_status kdri_generate_tables(kdr_context *ctx, const kdr_design *spec, kdr_generator **out);

#endif
