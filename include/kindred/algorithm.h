/* Methods and their options. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KINDRED_ALGORITHM_H
#define KINDRED_ALGORITHM_H

#include <stdbool.h>
#include <stddef.h>

#include "kindred/context.h"

/* --- methods -------------------------------------------------------------------------------------------------------- */

typedef enum kdr_option_type {
	KDR_OPTION_INT,
	KDR_OPTION_REAL,
	KDR_OPTION_BOOL,
	KDR_OPTION_CHOICE,
	KDR_OPTION_REALS /* one number, or one per data set, separated by commas */
} kdr_option_type;

/* One option of a method. Defaults, validation, help, manual pages and bindings all come from here. May grow. */
typedef struct kdr_option_desc {
	const char *name;
	kdr_option_type type;
	double initial;  /* the default: a number, 0 or 1, or the index of a choice */
	double min, max; /* numbers only; both ends are allowed unless open_* is set */
	bool open_min, open_max;
	const char *const *choices; /* NULL-terminated; choices only */
	const char *automatic;      /* if not NULL: what the default means, such as "k" */
	const char *symbol;         /* the letter used in the paper, or NULL */
	const char *help;           /* one sentence, lower case, no full stop */
} kdr_option_desc;

typedef enum kdr_family { KDR_FAMILY_CLUSTER, KDR_FAMILY_TRANSFER, KDR_FAMILY_FEATURES } kdr_family;

enum {
	KDR_ALGO_JOINT = 1 << 0,            /* data sets are treated together, not one by one */
	KDR_ALGO_SAME_K = 1 << 1,           /* all data sets must have the same k */
	KDR_ALGO_POOLED = 1 << 2,           /* pooling is allowed: all data sets stacked into one */
	KDR_ALGO_MONOTONE = 1 << 3,         /* the objective never rises */
	KDR_ALGO_PREDICT = 1 << 4,          /* a saved model labels new samples */
	KDR_ALGO_WEIGHTS = 1 << 5,          /* sample weights are used */
	KDR_ALGO_NONNEG = 1 << 6,           /* entries must not be negative */
	KDR_ALGO_AUTO_K = 1 << 7,           /* k = 0 is allowed: the method finds k */
	KDR_ALGO_OWN_FEATURES = 1 << 8,     /* data sets have features of their own, which are not aligned */
	KDR_ALGO_CLUSTERS_TARGET = 1 << 9,  /* transfer: labels are clusters of the target, not classes */
	KDR_ALGO_BRIDGE = 1 << 10,          /* transfer: takes one data set between source and target */
	KDR_ALGO_SHARED_CLUSTERS = 1 << 11, /* cluster z of one data set is cluster z of every other */
	KDR_ALGO_RECIPE = 1 << 12, /* rows of dense and weighted data are brought to unit length by default */
	KDR_ALGO_INDUCTIVE = 1 << 13, /* transfer: learns from the source alone, for any target */
	KDR_ALGO_BRIDGES = 1 << 14,   /* transfer: takes any number of bridges, or pairs of their views */
	KDR_ALGO_SWEEPS = 1 << 15,    /* max_iter is the number of rounds, not a limit, unless tol is set */
	KDR_ALGO_TABLES = 1 << 16, /* NaN is a missing value, columns may be levels: kdr_problem.category */
	KDR_ALGO_COUNTS = 1 << 17, /* defined on counts, which are therefore not weighted by default */
	KDR_ALGO_KNOWN = 1 << 18   /* clustering: uses known classes of samples */
};

typedef enum kdr_dtype { KDR_FLOAT64, KDR_INT64 } kdr_dtype;

/* The meaning of an array with one row per sample and one column per class or cluster. */
typedef enum kdr_scoring {
	KDR_SCORING_NONE,
	KDR_SCORING_SHARES, /* not negative; a row's values divide up its sum: probabilities, memberships */
	KDR_SCORING_MARGINS /* larger is more likely, on any scale: only differences within a row matter */
} kdr_scoring;

/* One array that a method leaves in its result. May grow. */
typedef struct kdr_field_desc {
	const char *name;
	kdr_dtype type;
	bool per_task;     /* one array per data set; else one in total */
	bool in_model;     /* needed by predict: saved in model files */
	const char *shape; /* axes joined by " x "; an axis called k has one entry per cluster, in order */
	const char *
	        holds; /* integers: "k" if they are cluster numbers; one word per column, such as "n k k"; or NULL */
	const char *help;
	kdr_scoring
	        scoring; /* of at most one array per method: the source of second choices and probabilities */
	bool common_space; /* rows are samples, and samples of different data sets can be compared */
} kdr_field_desc;

/* Where lists show a method: after all others, first, or with the methods of the papers that kindred implements. */
typedef enum kdr_place { KDR_PLACE_BASELINE, KDR_PLACE_START, KDR_PLACE_PAPER } kdr_place;

/* A registered method. It belongs to the library and is never freed. This struct and the two above may grow: hold pointers to
 * them and go through options and arrays with kdr_algo_option_at and kdr_algo_field_at. */
typedef struct kdr_algo {
	const char *id, *title, *summary;
	const char *called; /* the name within its family if that differs from the id; else NULL */
	kdr_family family;
	unsigned flags;                 /* KDR_ALGO_... */
	const kdr_option_desc *options; /* ends with a NULL name */
	const kdr_field_desc *fields;   /* ends with a NULL name */
	const char *const *references;  /* NULL-terminated */
	const char *class_name;         /* for bindings, such as "KMeans" */
	/* Lines of text: the objective, as the result's objective trace has it, and its symbols, one per line; or what the method does
	 * instead of minimising one. Then the steps of an iteration. */
	const char *objective, *steps;
	const char *use, *cost; /* when to use the method, and its time and memory: sentences */
	kdr_place place;        /* in lists of methods */
} kdr_algo;

/* Returns method number `index`, from 0; NULL past the end. Cost: O(1). */
KDR_API const kdr_algo *kdr_algo_at(size_t index);
/* Returns the number of methods. Cost: O(methods). */
static inline size_t kdr_algo_count(void)
{
	size_t count = 0;
	while (kdr_algo_at(count))
		count++;
	return count;
}

/* Returns the method with this id, or NULL. Cost: O(methods). */
KDR_API const kdr_algo *kdr_algo_find(const char *id);
/* Finds a method of a family by its id or by its name within the family: "auto" is the method auto for clustering and
 * auto-transfer for transfer. A NULL `name` gives the default of the family. Fails if the method belongs to another family
 * or does not exist; the message then suggests the nearest name. `ctx` may be NULL, and so may `out`.
 * Cost: O(methods). */
KDR_API kdr_status kdr_algo_require(kdr_context *ctx, const char *name, kdr_family family,
                                    const kdr_algo **out);

/* Returns option or array number `index` of a method, from 0; NULL past the end. Cost: O(1). */
KDR_API const kdr_option_desc *kdr_algo_option_at(const kdr_algo *algo, size_t index);
KDR_API const kdr_field_desc *kdr_algo_field_at(const kdr_algo *algo, size_t index);

/* --- options ------------------------------------------------------------------------------------------------------- */

/* The options of one method: opaque and set by name, so that a new option does not change the ABI. */
typedef struct kdr_options kdr_options;

/* Creates the options of a method with their defaults. Free *out with kdr_options_free. Cost: O(options). */
KDR_API kdr_status kdr_options_new(kdr_context *ctx, const char *algo_id, kdr_options **out);
KDR_API void kdr_options_free(kdr_options *options);
/* Sets an option from text, as on the command line. The error message names the allowed values or, for an unknown name, the
 * nearest existing ones. Cost: O(options). */
KDR_API kdr_status kdr_options_set(kdr_context *ctx, kdr_options *options, const char *name,
                                   const char *value);
/* Sets an option from `count` numbers: any number for KDR_OPTION_REALS, one for all others. Cost: O(options + count). */
KDR_API kdr_status kdr_options_set_numbers(kdr_context *ctx, kdr_options *options, const char *name,
                                           const double *values, int64_t count);
/* Sets an option from one number. Cost: O(options). */
static inline kdr_status kdr_options_set_number(kdr_context *ctx, kdr_options *options, const char *name,
                                                double value)
{
	return kdr_options_set_numbers(ctx, options, name, &value, 1);
}

/* Returns the value of an option: a number, 0 or 1, or the index of a choice; the first of several numbers; NaN if `name` is
 * unknown. Cost: O(options). */
KDR_API double kdr_options_get(const kdr_options *options, const char *name);
/* Returns the method that the options belong to. Cost: O(1). */
KDR_API const kdr_algo *kdr_options_algo(const kdr_options *options);

/* --- spelling ------------------------------------------------------------------------------------------------------ */

/* Writes the entries of `words` (`count` of them) that are nearest to `word` in spelling to `out`, at most `most`, nearest
 * first, and returns their number. Words that are too different to be typing errors are skipped.
 * Cost: O(count x length of the words squared). */
KDR_API size_t kdr_suggest(const char *word, const char *const *words, size_t count, const char **out,
                           size_t most);

#endif
