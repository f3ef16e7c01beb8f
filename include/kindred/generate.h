/* Synthetic data sets. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KINDRED_GENERATE_H
#define KINDRED_GENERATE_H

#include "kindred/data.h"

typedef enum kdr_design_kind {
	/* Related Gaussian data sets: each draws from the same k centres, moved by `shift`, turned by `rotation` and thinned
	 * by `missing`; `noise_features` columns of pure noise are appended. */
	KDR_DESIGN_BLOBS,
	/* Word counts over one vocabulary: k topics shared by all data sets, each of which mixes in words of its own. */
	KDR_DESIGN_TOPICS,
	/* The Monte-Carlo design of V. Berikov, Heterogeneous transfer learning in ensemble clustering, 2019: four classes, two
	 * balls and two strips, as a source (16 features, 100 samples) or a target (24, 80) without common features. */
	KDR_DESIGN_BERIKOV,
	/* Tables with known segments: numbers in different units (some skewed, some with outliers), grades, yes/no columns,
	 * categories and dates, with missing cells, noise columns, and columns that only one table has. */
	KDR_DESIGN_TABLES
} kdr_design_kind;

/* What to generate. Start from kdr_design_init, which sets the defaults of a kind: zero means zero here, not "default".
 * Members that do not belong to the kind are ignored. */
typedef struct kdr_design {
	size_t size;
	kdr_design_kind kind;
	/* blobs, topics and tables */
	int64_t tasks, k;
	const int64_t *samples; /* one number per data set; NULL: 300 each */
	int64_t missing;        /* clusters or topics that are missing in each data set after the first */
	/* blobs and, except for spread and rotation, tables */
	int64_t features, noise_features;
	double separation; /* blobs: standard deviation of the centres' coordinates, in units of spread; in few dimensions
	                      coinciding centres are drawn again. tables: the same on the scale
	                      behind a column. berikov: scales the initial distance of the classes; 1 is
	                      the paper's */
	double spread;   /* standard deviation within a cluster */
	double shift;    /* standard deviation of the move of each centre in each data set */
	double rotation; /* degrees by which each data set is turned relative to the one before it */
	double imbalance; /* 0: equal cluster sizes; 1: sizes fall linearly to almost nothing, in tables in an order of their own */
	/* topics */
	int64_t words;
	double length; /* mean number of words in a document */
	double purity; /* share of a document's words that come from its topic, 0 to 1 */
	double domain; /* share of words that come from the data set's own vocabulary, 0 to 1 */
	/* berikov */
	bool target; /* generate the target, not the source */
	/* tables */
	int64_t own_features; /* columns that only one table has, in each table; every second one is noise */
	double missing_cells; /* share of cells without a value, 0 to 1 */
	bool unrelated; /* each table has segments of its own; their numbers then mean nothing across tables */
} kdr_design;
/* Sets the size and the defaults of a kind. */
static inline void kdr_design_init(kdr_design *design, kdr_design_kind kind)
{
	if (!design)
		return;
	memset(design, 0, sizeof *design);
	design->size = sizeof *design;
	design->kind = kind;
	design->tasks = 2;
	design->k = kind == KDR_DESIGN_TOPICS ? 4 : 3;
	design->features = kind == KDR_DESIGN_TABLES ? 10 : 2;
	design->separation = kind == KDR_DESIGN_BERIKOV || kind == KDR_DESIGN_TABLES ? 1 : 3;
	design->spread = 1;
	design->shift = 0.5;
	design->rotation = 15;
	design->words = 2000;
	design->length = 100;
	design->purity = 0.4;
	design->domain = 0.2;
	if (kind == KDR_DESIGN_TABLES) {
		design->noise_features = 3;
		design->shift = 0.2;
		design->imbalance = 0.6;
	}
	design->own_features = 1;
	design->missing_cells = 0.03;
}

/* Generates rows one by one, each of which depends on (seed, data set, row) only. Rows of one generator may be made in
 * several threads at a time. */
typedef struct kdr_generator kdr_generator;

/* Creates a generator with the seed of the context. Free *out with kdr_generator_free.
 * Cost: O(tasks k d) time and memory. */
KDR_API kdr_status kdr_generate(kdr_context *ctx, const kdr_design *design, kdr_generator **out);
KDR_API void kdr_generator_free(kdr_generator *generator);
/* Returns the number of data sets. Cost: O(1). */
KDR_API int64_t kdr_generator_tasks(const kdr_generator *generator);
/* Generates data set number `task`, from 0, with its classes, which are called c0, c1, ... and mean the same centre or topic in
 * all data sets. Free *out with kdr_data_free. Cost: O(nnz) time and memory. */
KDR_API kdr_status kdr_generator_data(kdr_context *ctx, kdr_generator *generator, int64_t task,
                                      kdr_data **out);
/* Writes data set number `task` to a file (.csv, .mtx, .npy, with .gz if the format allows it), and its classes, one per line,
 * to `labels_path` (may be NULL). `force` replaces existing files. Cost: O(nnz) time, O(d) memory. */
KDR_API kdr_status kdr_generator_write(kdr_context *ctx, kdr_generator *generator, int64_t task,
                                       const char *path, const char *labels_path, bool force);
/* Writes the column names to a file, one per line, for formats without names. Cost: O(d) time, O(1) memory. */
KDR_API kdr_status kdr_generator_write_features(kdr_context *ctx, kdr_generator *generator, const char *path,
                                                bool force);

#endif
