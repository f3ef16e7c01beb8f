/* The jobs of the program, one call each: what a command does to the data it has read.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Data sets are aligned and preprocessed in place, also where the call then fails. In the options zero and NULL mean the
 * default, or "find out"; start from the _init function all the same, so that fields to come have their defaults. */
#ifndef KINDRED_JOB_H
#define KINDRED_JOB_H

#include "kindred/bridge.h"
#include "kindred/data.h"
#include "kindred/model.h"
#include "kindred/relate.h"
#include "kindred/result.h"

/* Who chooses weight, norm and scale. */
typedef enum kdr_prep_choice {
	KDR_PREP_DEFAULT, /* the library, unless one of them is told, or a method is that leaves it to its user */
	KDR_PREP_BY_DATA, /* the library, by what the data look like (kdr_recipe_find) */
	KDR_PREP_AS_TOLD  /* the caller, be it nothing at all */
} kdr_prep_choice;

/* What cluster and transfer share. */
typedef struct kdr_job_options {
	const char *method;          /* NULL: the default of the job, auto */
	const kdr_options *settings; /* of that method; NULL: its defaults */
	kdr_prep_options prep;
	kdr_prep_choice choice;
	const char *features_from; /* a method that learns features on all data sets first; NULL: none */
	const kdr_options *feature_settings;
	bool score; /* compare labels with classes the data came with; these are never used for fitting */
	bool map;   /* also lay the samples out in two dimensions, for the report: kdr_embed */
} kdr_job_options;

/* The method a job uses where none is named. */
KDR_API const char *kdr_default_method(kdr_family family);

typedef struct kdr_cluster_options {
	kdr_job_options job;
	int64_t k;                  /* clusters of each task; 0: the method finds out */
	const int64_t *each_k;      /* or one number a task; then k is not used */
	const int64_t *const *init; /* initial labels 0..k-1 of each task, or NULL */
	bool pooled;                /* stack all tasks into one and cluster that */
	bool quality;               /* also say how good clusters are without truth: kdr_result_quality */
	int64_t resamples;          /* of kdr_stability, then; 0: 5; below 0: none */
} kdr_cluster_options;
KDR_API void kdr_cluster_options_init(kdr_cluster_options *options);

/* Clusters `count` related data sets. `options` may be NULL. */
KDR_API kdr_status kdr_cluster(kdr_context *ctx, kdr_data *const *tasks, int64_t count,
                               const kdr_cluster_options *options, kdr_result **out);

/* How stable partitions are under resampling: the mean, over so many parts of 4/5 of the samples drawn without putting
 * back, of the adjusted Rand index between `labels` (of each task) and what a method finds in the part, with another seed
 * and as many clusters. One number a task into `out`; NaN where there are too few samples. `options` (may be NULL) say
 * which method; their k and init are not used. *resamples: how many are wanted (0: 5), then how many there were, which a
 * time limit can make fewer. */
KDR_API kdr_status kdr_stability(kdr_context *ctx, kdr_data *const *tasks, int64_t count,
                                 const int64_t *const *labels, const kdr_cluster_options *options,
                                 int64_t *resamples, double *out);

/* The data sets of a transfer. */
typedef struct kdr_transfer_sets {
	kdr_data *const *sources; /* with classes */
	int64_t nsources;
	kdr_data *const *targets; /* to be labelled */
	int64_t ntargets;
	kdr_data *const *bridges; /* between them; of several a method that takes one gets the best */
	int64_t nbridges;
	kdr_data *const
	        *views; /* NULL; or, where source and target have different features, the same samples as the
	                           bridges in the target's */
} kdr_transfer_sets;

typedef struct kdr_transfer_options {
	kdr_job_options job;
	const kdr_labels
	        *known; /* classes of the first target that are known, "?" elsewhere: they stay fixed */
	const kdr_selector *selector; /* ranks bridges; NULL: by what comes back over each */
	bool every_bridge; /* with a selector: fit each bridge; the result is still that of the best by rank */
	bool probabilities; /* of classes, calibrated on samples of the sources held out in three more fits */
} kdr_transfer_options;
KDR_API void kdr_transfer_options_init(kdr_transfer_options *options);

/* Labels the targets from the classes of the sources, which become one list in order of first appearance. Tasks of the
 * result: sources, then the bridges that took part (and their views), then targets. `options` may be NULL. */
KDR_API kdr_status kdr_transfer(kdr_context *ctx, const kdr_transfer_sets *sets,
                                const kdr_transfer_options *options, kdr_result **out);

/* Learns from labelled data sets which bridges help (kdr_selector_train): classes become one list, columns are aligned, and
 * preprocessing is as told (NULL: none). The data sets are changed by it. At least three are needed. */
KDR_EXPERIMENTAL KDR_API kdr_status kdr_train_selector(kdr_context *ctx, kdr_data *const *sets, int64_t count,
                                                       const kdr_prep_options *prep, kdr_selector *out);

typedef struct kdr_predict_options {
	const char *
	        task; /* which of the model's tasks the samples belong to; NULL: the only one, or a column says so */
} kdr_predict_options;
KDR_API void kdr_predict_options_init(kdr_predict_options *options);

/* Labels samples a model has not seen: a result with one task. Where the model has several, each row of data that were read with
 * a column of tasks (kdr_read_options.task_column) is labelled by the task named there, unless options->task names one for
 * all. `options` may be NULL. */
KDR_API kdr_status kdr_predict(kdr_context *ctx, const kdr_model *model, kdr_data *data,
                               const kdr_predict_options *options, kdr_result **out);

/* Memory that a job without a method needs for tasks of these sizes, with its defaults: "predict" with a model and one task,
 * "relate" or "embed". k and role are ignored. */
KDR_EXPERIMENTAL KDR_API kdr_status kdr_estimate_bytes_job(kdr_context *ctx, const char *job,
                                                           const kdr_model *model,
                                                           const kdr_task_shape *tasks, int64_t ntasks,
                                                           kdr_estimate *out);

/* How related data sets are: what is said of each task and pair, and a sentence for each task. */
typedef struct kdr_relation kdr_relation;

typedef struct kdr_relation_options {
	kdr_relate_options measures;
	kdr_prep_options prep;
	kdr_prep_choice choice;
} kdr_relation_options;
KDR_API void kdr_relation_options_init(kdr_relation_options *options);

KDR_API kdr_status kdr_relate(kdr_context *ctx, kdr_data *const *tasks, int64_t count,
                              const kdr_relation_options *options, kdr_relation **out);
KDR_API void kdr_relation_free(kdr_relation *relation);
KDR_API int64_t kdr_relation_ntasks(const kdr_relation *relation);
KDR_API const char *kdr_relation_task_name(const kdr_relation *relation, int64_t task);
KDR_API const kdr_relate_task *kdr_relation_task(const kdr_relation *relation, int64_t task);
/* The pair (a, b), a != b; NULL where there is none. */
KDR_API const kdr_relate_pair *kdr_relation_pair(const kdr_relation *relation, int64_t a, int64_t b);
/* How near samples of task a are to task b: kdr_relate_advice. */
KDR_API double kdr_relation_nearness(const kdr_relation *relation, int64_t a, int64_t b);
KDR_API const char *kdr_relation_advice(const kdr_relation *relation, int64_t task);
KDR_API const kdr_prep *kdr_relation_prep(const kdr_relation *relation);
KDR_API kdr_data_kind kdr_relation_kind(const kdr_relation *relation);
/* As 'kindred relate --json' writes it. Free *text with kdr_free; `length` may be NULL. */
KDR_API kdr_status kdr_relation_json(kdr_context *ctx, const kdr_relation *relation, char **text,
                                     size_t *length);

#endif
