/* Jobs: one function for each command of the program. SPDX-License-Identifier: BSD-3-Clause
 *
 * Jobs align and preprocess data sets in place, even if the call fails afterwards; pass views (kdr_data_view) to keep
 * the originals. In all options zero and NULL mean the default or automatic detection. */
#ifndef KINDRED_JOB_H
#define KINDRED_JOB_H

#include "kindred/bridge.h"
#include "kindred/data.h"
#include "kindred/model.h"
#include "kindred/result.h"

/* Who chooses weight, norm and scale if they are not specified. */
typedef enum kdr_prep_choice {
	KDR_PREP_DEFAULT, /* the library, unless one of them is specified */
	KDR_PREP_BY_DATA, /* the library, by the kind of data (kdr_recipe_find) */
	KDR_PREP_NONE     /* nobody: only what the caller specifies is applied */
} kdr_prep_choice;

/* Which clusters of a data set that is added to a model get new numbers. */
typedef enum kdr_new_clusters {
	KDR_NEW_CLUSTERS_AUTO, /* those that are unlike every cluster of the model: cosine below 0.11 */
	KDR_NEW_CLUSTERS_YES,  /* below 0.35 */
	KDR_NEW_CLUSTERS_NO    /* none */
} kdr_new_clusters;

/* --- cluster and transfer --------------------------------------------------------------------------------------------- */

/* The options of kdr_cluster, kdr_stability and kdr_transfer. Members for another job are ignored. */
typedef struct kdr_job_options {
	size_t size;
	const char *method;           /* NULL: the default of the job, auto */
	const kdr_options *settings;  /* options of the method; NULL: its defaults */
	const kdr_prep_options *prep; /* NULL: none specified */
	kdr_prep_choice choice;
	const char *features_from; /* a method that learns features on all data sets first; NULL: none */
	const kdr_options *feature_settings;
	bool score; /* compare labels with the classes of the data, which are never used for fitting */
	bool map;   /* also compute a two-dimensional map of the samples, for the report */
	/* cluster */
	bool pooled;                /* stack all data sets into one and cluster that */
	bool quality;               /* also compute scores that need no true classes: kdr_result_quality */
	int64_t k;                  /* clusters of each data set; 0: the method finds k */
	const int64_t *each_k;      /* or one number per data set; k is then not used */
	const int64_t *const *init; /* initial labels 0..k-1 of each data set, or NULL */
	int64_t resamples;          /* quality: number of resamples of kdr_stability; 0: 5; below 0: none */
	/* transfer */
	const kdr_labels
	        *known; /* known classes of the first target, "?" for the others; they stay fixed. Or NULL */
	const kdr_selector
	        *selector;  /* ranks bridges; NULL: by how many of the source's labels return through each */
	bool every_bridge;  /* with a selector: fit every bridge; the result is that of the best one */
	bool probabilities; /* class probabilities, calibrated on samples of the sources in three more fits */
	/* both */
	bool model; /* a model will be saved: an error if the method has none; also compare its predictions for the samples
	               with their labels (predict_agreement in result.json) */
	/* transfer */
	const char *const *
	        known_files; /* NULL; or, instead of `known`, files with these classes: one with a label per line, one CSV file with id
	                        and class, or tables that KDR_TABLE_ASK wrote, with classes filled in */
	int64_t nknown_files;
	/* cluster */
	int64_t k_to; /* fit every number of clusters from k to k_to, at most KDR_LEVELS_MOST: kdr_result_level_at; 0: only k */
	const int64_t *each_k_to; /* or one number per data set, with each_k */
	bool neighbours; /* if the method finds k, also fit one cluster fewer and one more: kdr_result_level_at */
	/* both */
	int64_t report_features; /* map: features whose values the report gets; 0: 200; below 0: none */
	/* cluster, methods with KDR_ALGO_KNOWN. known_files has one file per data set, "?" for a data set without known classes;
	 * a CSV file with ids and classes may be the one of several */
	const kdr_labels *const
	        *each_known; /* NULL; or known classes of each data set, "?" for unknown ones, or NULL */
	int64_t model_size; /* model: keep at most N samples of each data set, to add other data sets later; 0: 2000 */
	bool model_without_samples; /* model: keep no samples and no hashes of samples; auto: means and covariances of the clusters */
	const kdr_model *
	        into; /* NULL; or a model of method auto: the data sets are added to it. They get its preprocessing and are
	                 clustered together with the samples that it keeps; existing clusters keep their numbers. In a transfer, the samples
	                 that it keeps are the sources */
	kdr_new_clusters new_clusters; /* cluster with into */
	/* both */
	bool no_model; /* neither predictions nor arrays of the result will be needed: a method may skip arrays that only predictions
	                  use (fields with in_model). Ignored with `model` */
	/* cluster */
	int64_t neach_k; /* length of each_k, an error if it is not the number of data sets; 0: not checked */
	bool known_in_data; /* the known classes are the classes of the data sets, -1, "?" and "" for unknown ones */
	/* both */
	bool representation; /* also compute coordinates in a common space: kdr_result_representation */
} kdr_job_options;
KDR_DEFINE_INIT(kdr_job_options)

/* --- options by name ----------------------------------------------------------------------------------------------------- */

typedef enum kdr_job_kind {
	KDR_JOB_FLAG,     /* true or false, also 1, yes, on, 0, no, off */
	KDR_JOB_INT,      /* a whole number from min to max */
	KDR_JOB_REAL,     /* a number from min to below max */
	KDR_JOB_CHOICE,   /* one of the words that kdr_choices lists for its name */
	KDR_JOB_METHOD,   /* the name of a method */
	KDR_JOB_SETTING,  /* NAME=VALUE, an option of the method; may be set several times */
	KDR_JOB_CLUSTERS, /* numbers of clusters: 4, 3-8, auto, or such values separated by commas */
	KDR_JOB_FILE      /* a path, which must live as long as the job */
} kdr_job_kind;

/* One option of a job. Help, manual pages and checks of the program and arguments of the bindings come from here. May grow. */
typedef struct kdr_job_option {
	const char *name; /* as on the command line, without dashes */
	char letter;      /* its short form, or 0 */
	kdr_job_kind kind;
	unsigned families;   /* 1 << KDR_FAMILY_CLUSTER, 1 << KDR_FAMILY_TRANSFER, or both */
	const char *group;   /* in the help: "main", "preprocessing", "output"; NULL: only for bindings */
	const char *value;   /* placeholder of the value in the help; NULL: a flag */
	const char *initial; /* the default; NULL: described in the help, or false */
	int64_t min, max;    /* numbers only */
	const char *needs;   /* it has no effect without one of these options, separated by blanks; or NULL */
	const char *excludes; /* it has no effect with any of these options; or NULL */
	const char *because;  /* with excludes: why; or NULL */
	const char *help;     /* one sentence, lower case, no full stop */
} kdr_job_option;

/* Returns option number `index` of cluster and transfer, from 0; NULL past the end. Cost: O(1). */
KDR_API const kdr_job_option *kdr_job_option_at(size_t index);

/* The options of one job, set by name. */
typedef struct kdr_job kdr_job;

/* Creates the options of a job of KDR_FAMILY_CLUSTER or KDR_FAMILY_TRANSFER: the defaults of the program. Free *out with
 * kdr_job_free. Cost: O(options). */
KDR_API kdr_status kdr_job_new(kdr_context *ctx, kdr_family family, kdr_job **out);
/* Sets an option from text, as on the command line. Set the method before its options. The error message begins with the
 * option, as --name, and has the values that are allowed. Cost: O(options). */
KDR_API kdr_status kdr_job_set(kdr_context *ctx, kdr_job *job, const char *name, const char *value);
/* Returns the options for kdr_cluster and the other jobs. The caller may set members that are no options by name, such as
 * and init. Valid until the next kdr_job_set and kdr_job_free. Cost: O(1). */
KDR_API kdr_job_options *kdr_job_options_of(kdr_job *job);
KDR_API void kdr_job_free(kdr_job *job);

/* --- the jobs ------------------------------------------------------------------------------------------------------------ */

/* Clusters `count` related data sets. `options` may be NULL. Free *out with kdr_result_free.
 * Cost: O(nnz) for preprocessing, then the method's: see kdr_fit. */
KDR_API kdr_status kdr_cluster(kdr_context *ctx, kdr_data *const *tasks, int64_t count,
                               const kdr_job_options *options, kdr_result **out);

/* Measures how stable a clustering is under resampling. For each resample the method clusters 4/5 of the samples, drawn
 * without replacement, with another seed and as many clusters; out[t] is the mean adjusted Rand index between labels[t] and
 * these clusterings, NaN if there are too few samples. `options` (may be NULL) select the method; k and init are not used.
 * *resamples is the number wanted (0: 5) and becomes the number made, which a time limit can reduce.
 * Cost: *resamples fits. Reference: von Luxburg, Clustering stability, 2010. */
KDR_API kdr_status kdr_stability(kdr_context *ctx, kdr_data *const *tasks, int64_t count,
                                 const int64_t *const *labels, const kdr_job_options *options,
                                 int64_t *resamples, double *out);

/* The data sets of a transfer. */
typedef struct kdr_transfer_sets {
	size_t size;
	kdr_data *const *sources; /* with classes */
	int64_t nsources;
	kdr_data *const *targets; /* to be labelled */
	int64_t ntargets;
	kdr_data *const *bridges; /* between them; a method that takes one bridge gets the best of several */
	int64_t nbridges;
	kdr_data *const *
	        views; /* NULL; or, if source and target have different features, the samples of the bridges in the
	                           target's features */
} kdr_transfer_sets;
KDR_DEFINE_INIT(kdr_transfer_sets)

/* Labels the targets with the classes of the sources, which are merged into one list in order of first appearance. The data
 * sets of the result are the sources, the bridges that took part (and their views) and the targets, in this order. `options`
 * may be NULL. Free *out with kdr_result_free. Cost: as for kdr_cluster; one fit per bridge to choose one without a selector,
 * and three more for probabilities. */
KDR_API kdr_status kdr_transfer(kdr_context *ctx, const kdr_transfer_sets *sets,
                                const kdr_job_options *options, kdr_result **out);

/* --- predict ----------------------------------------------------------------------------------------------------------- */

typedef struct kdr_predict_options {
	size_t size;
	const char *
	        task; /* the data set of the model that the samples belong to; NULL: the only one, or by a column */
} kdr_predict_options;
KDR_DEFINE_INIT(kdr_predict_options)

/* Labels samples that a model has not seen; the result has one data set. If the model has several, each row of data that were
 * read with kdr_read_options.task_column is labelled as a sample of the data set named there, unless options->task names one
 * for all. `options` may be NULL. Free *out with kdr_result_free. Cost: O(nnz k) time and O(n) memory for most methods. */
KDR_API kdr_status kdr_predict(kdr_context *ctx, const kdr_model *model, kdr_data *data,
                               const kdr_predict_options *options, kdr_result **out);

/* --- relate ------------------------------------------------------------------------------------------------------------ */

typedef struct kdr_relate_options {
	size_t size;
	double rare; /* complexity: a feature is rare if fewer than this share of the samples have it; default 0.1 */
	double ridge;  /* of the classifier behind the A-distance; default 1 */
	int64_t folds; /* its error is measured on held-out samples; default 5 */
	int64_t most_rows; /* use at most N samples of each data set, a fixed choice, for the Gaussian discrepancy; default 4000 */
	bool no_mmd;                  /* skip the maximum mean discrepancies */
	const kdr_prep_options *prep; /* NULL: none specified */
	kdr_prep_choice choice;
} kdr_relate_options;
KDR_DEFINE_INIT(kdr_relate_options)

/* Measures how related `count` data sets are and gives the result as JSON text, as 'kindred relate --json' prints it: the
 * complexity of each data set, and the overlap of features, the A-distance, the maximum mean discrepancies and the five features that
 * differ most of each pair.
 * `options` may be NULL; `length` (may be NULL) gets the length of the text. Free *json with kdr_free.
 * Cost: O(nnz) per classifier step and O(most_rows^2 d) per pair; O(nnz) memory.
 * References: Ben-David et al., A theory of learning from different domains, 2010; Gretton et al., A kernel two-sample test,
 * 2012. */
KDR_API kdr_status kdr_relate(kdr_context *ctx, kdr_data *const *tasks, int64_t count,
                              const kdr_relate_options *options, char **json, size_t *length);

#endif
