/* The registry of methods and their options. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KINDRED_ALGORITHM_H
#define KINDRED_ALGORITHM_H

#include <stdbool.h>
#include <stddef.h>

#include "kindred/context.h"

typedef enum kdr_option_type {
	KDR_OPTION_INT,
	KDR_OPTION_REAL,
	KDR_OPTION_BOOL,
	KDR_OPTION_CHOICE,
	KDR_OPTION_REALS /* one number, or one for each task, separated by commas */
} kdr_option_type;

/* One option of a method. Defaults, validation, help, manual pages and bindings all come from here. */
typedef struct kdr_option_desc {
	const char *name;
	kdr_option_type type;
	double initial;  /* the default: a number, 0 or 1, or the index of a choice */
	double min, max; /* numbers only; both ends allowed unless open_* is set */
	bool open_min, open_max;
	const char *const *choices; /* NULL-terminated; choices only */
	const char *automatic;      /* if not NULL: what the default means, such as "k" */
	const char *symbol;         /* the letter used in the paper, or NULL */
	const char *help;           /* one sentence, lower case, no full stop */
} kdr_option_desc;

typedef enum kdr_family { KDR_FAMILY_CLUSTER, KDR_FAMILY_TRANSFER, KDR_FAMILY_FEATURES } kdr_family;

enum {
	KDR_ALGO_JOINT = 1 << 0,           /* tasks are treated together, not one by one */
	KDR_ALGO_SAME_K = 1 << 1,          /* all tasks must have the same k */
	KDR_ALGO_POOLED = 1 << 2,          /* --pooled is allowed: all tasks stacked into one */
	KDR_ALGO_MONOTONE = 1 << 3,        /* the objective never rises */
	KDR_ALGO_PREDICT = 1 << 4,         /* a saved model labels new samples */
	KDR_ALGO_WEIGHTS = 1 << 5,         /* sample weights are honoured */
	KDR_ALGO_NONNEG = 1 << 6,          /* entries must not be negative */
	KDR_ALGO_AUTO_K = 1 << 7,          /* k = 0 is allowed: the method finds k */
	KDR_ALGO_OWN_FEATURES = 1 << 8,    /* tasks have features of their own: they are not aligned */
	KDR_ALGO_CLUSTERS_TARGET = 1 << 9, /* transfer: labels are clusters of the target, not classes */
	KDR_ALGO_BRIDGE = 1 << 10,         /* transfer: takes one data set between source and target */
	KDR_ALGO_BRIDGES = 1 << 14, /* transfer: takes any number of these, or of pairs of their views */
	KDR_ALGO_SHARED_CLUSTERS = 1 << 11, /* cluster z of one task is cluster z of every other */
	KDR_ALGO_RECIPE = 1 << 12,    /* preprocessing is chosen by what the data look like unless told */
	KDR_ALGO_INDUCTIVE = 1 << 13, /* transfer: learns from the source alone; the target may be any */
	KDR_ALGO_TABLES =
	        1
	        << 16, /* NaN is a missing value, and columns may be levels of categories: kdr_problem.category */
	KDR_ALGO_SWEEPS = 1 << 15 /* max_iter is how many rounds it makes, not a limit, unless tol is set */
};

typedef enum kdr_dtype { KDR_FLOAT64, KDR_INT64 } kdr_dtype;

/* What an array with a row a sample and a column a class (or cluster) says of them. */
typedef enum kdr_scoring {
	KDR_SCORING_NONE,
	KDR_SCORING_SHARES, /* >= 0, of which a row's sum is shared out: probabilities, memberships */
	KDR_SCORING_MARGINS /* the larger the likelier, on any scale: only differences within a row count */
} kdr_scoring;

/* One array a method leaves in its result. */
typedef struct kdr_field_desc {
	const char *name;
	kdr_dtype type;
	bool per_task; /* one array a task; else one in all */
	bool in_model; /* needed by predict: saved in model files */
	const char *
	        shape; /* axes between " x "; one called k has an entry for each cluster, in the order of their
	                      numbers */
	const char *
	        holds; /* integers: "k" where they are numbers of clusters; one word a column, such as "n k k";
	                      NULL: no such numbers */
	const char *help;
	kdr_scoring scoring; /* of one array a method: where second choices and probabilities come from */
} kdr_field_desc;

/* A registered method. This struct and the two above belong to the library, and grow at their ends from version to
 * version: hold pointers to them, do not copy them, and go through options and fields with the functions below. */
typedef struct kdr_algo {
	const char *id, *title, *summary;
	const char *called; /* what its family calls it, where that is not its id; else NULL */
	kdr_family family;
	unsigned flags;
	const kdr_option_desc *options; /* ends with a NULL name */
	const kdr_field_desc *fields;   /* ends with a NULL name */
	const char *const *references;  /* NULL-terminated */
	const char *class_name;         /* for bindings: in capitals of its words, such as "KMeans" */
} kdr_algo;

KDR_API size_t kdr_algo_count(void);
KDR_API const kdr_algo *kdr_algo_at(size_t index);     /* NULL past the end */
KDR_API const kdr_algo *kdr_algo_find(const char *id); /* NULL if there is none */
/* The method that goes by this name among those of a family: `auto` is auto among clustering methods, and auto-transfer
 * among those of transfer. NULL if there is none. */
KDR_API const kdr_algo *kdr_algo_find_in(kdr_family family, const char *name);
/* The same, with an error where it is not of that family or, naming the nearest, where there is none. `out` may be
 * NULL. */
KDR_API kdr_status kdr_algo_require(kdr_context *ctx, const char *id, kdr_family family,
                                    const kdr_algo **out);

/* An option or an array of a method; NULL past the end. */
KDR_API const kdr_option_desc *kdr_algo_option_at(const kdr_algo *algo, size_t index);
KDR_API const kdr_field_desc *kdr_algo_field_at(const kdr_algo *algo, size_t index);

/* Options in force for one method: opaque, set by name, so that a new option changes no ABI. */
typedef struct kdr_options kdr_options;

KDR_API kdr_status kdr_options_new(kdr_context *ctx, const char *algo_id, kdr_options **out);
KDR_API void kdr_options_free(kdr_options *options);
/* Sets `name` from text, as on the command line; the error names the allowed values or, for an
 * unknown name, the nearest right ones. */
KDR_API kdr_status kdr_options_set(kdr_context *ctx, kdr_options *options, const char *name,
                                   const char *value);
KDR_API kdr_status kdr_options_set_number(kdr_context *ctx, kdr_options *options, const char *name,
                                          double value);
/* The same for KDR_OPTION_REALS with several numbers; any other option takes one. */
KDR_API kdr_status kdr_options_set_numbers(kdr_context *ctx, kdr_options *options, const char *name,
                                           const double *values, int64_t count);
/* The value in force: a number, 0 or 1, or the index of a choice; the first of several; NaN if `name` is
 * unknown. */
KDR_API double kdr_options_get(const kdr_options *options, const char *name);
/* All numbers in force and how many, which is 1 but for KDR_OPTION_REALS; NULL and 0 if `name` is unknown. Good
 * until the option is set anew. */
KDR_API const double *kdr_options_numbers(const kdr_options *options, const char *name, int64_t *count);
KDR_API const kdr_algo *kdr_options_algo(const kdr_options *options);

/* The entries of `words` nearest to `word` in spelling, at most `most`, nearest first; returns how
 * many were written to `out`. Words too far away to be a slip are left out. */
KDR_API size_t kdr_suggest(const char *word, const char *const *words, size_t count, const char **out,
                           size_t most);

#endif
