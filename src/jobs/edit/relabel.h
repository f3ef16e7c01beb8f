/* The labels of a result.json as its files have them, also after edits: names, merges, marks and notes. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_RELABEL_H
#define KDRI_RELABEL_H

#include "core/names.h"
#include "jobs/say/names.h"
#include "jobs/write/input_copy.h"
#include "jobs/write/result_file.h"

/* Names of at most so many characters, notes of so many, and cluster numbers below the limit. */
enum { KDRI_EDIT_NAME = KDRI_NAME_MOST, KDRI_EDIT_NOTE = 2000, KDRI_EDIT_NUMBERS = 1000000 };

/* A cluster of a data set, or a class. */
typedef struct kdri_edited_cluster {
	bool exists;
	bool changed;     /* it has other samples than in the result */
	const char *name; /* NULL: none. Borrowed from the result or the edits, as notes are. */
	const char *note;
	int64_t size;                /* samples */
	const kdri_json_value *json; /* of the result; NULL: none */
} kdri_edited_cluster;

typedef struct kdri_edited_task {
	const kdri_json_value *json, *ids, *confidence,
	        *second; /* of the result, and lists of it; NULL: none */
	const char *name;
	int64_t n;                     /* labelled samples; 0: the data set has no labels */
	int64_t *labels;               /* -1: none */
	int64_t *into;                 /* for each number of the result: the cluster it belongs to now */
	kdri_edited_cluster *clusters; /* by number */
	unsigned char *wrong;
	const char **notes; /* of samples; NULL: none */
} kdri_edited_task;

typedef struct kdri_edited {
	kdr_context *ctx;
	const char *result, *file; /* paths, for errors */
	const kdri_json_value *root, *edits;
	const kdri_json_value *level; /* has the labels instead of the result; or NULL */
	const kdri_name_list *list;   /* names instead of edits; NULL: none */
	kdri_edited_task *tasks;
	int64_t ntasks;
	bool classes;        /* labels are names of classes; else numbers of clusters */
	kdri_names names;    /* of the classes of the result; their indices are labels */
	int64_t numbers;     /* labels are below it */
	bool merged, marked; /* whether some edit did */
} kdri_edited;

/* state.c: the labels of a result, or of one of its levels, before any edit. kdri_edited_close also after a failure. */
kdr_status kdri_edited_open(kdr_context *ctx, const char *path, const kdri_json_value *root,
                            const kdri_json_value *level, kdri_edited *out);
void kdri_edited_close(kdri_edited *e);
/* What a cluster is called: its name, or NULL. */
const char *kdri_edited_name(const kdri_edited *e, int64_t task, int64_t number);
/* The same, else its title, if it still has the samples that it had. */
const char *kdri_edited_called(const kdri_edited *e, int64_t task, int64_t number);
/* The cluster that a label of the result belongs to now; -1: none. */
int64_t kdri_edited_now(const kdri_edited *e, const kdri_edited_task *t, const kdri_json_value *label);
/* The probabilities of a sample by class, from its row in the result: those of merged classes are added. */
void kdri_edited_probabilities(const kdri_edited *e, const kdri_edited_task *t, const kdri_json_value *row,
                               double *p);
/* The second choice of sample i; -1: none. */
int64_t kdri_edited_second(const kdri_edited *e, const kdri_edited_task *t, int64_t i);

/* relabel.c: NAME.labels and NAME.samples.csv of a data set. */
typedef kdr_status kdri_edited_fill(const kdri_edited *e, int64_t task, kdri_output *out);
kdri_edited_fill kdri_edited_labels, kdri_edited_samples;
kdr_status kdri_edited_write(const kdri_edited *e, int64_t task, kdri_edited_fill *fill, const char *path,
                             bool force);

/* edits.c: checks an edits file and applies it. Errors name its line. */
kdr_status kdri_edits_apply(kdri_edited *e, const char *file, const kdri_json_value *edits);
/* Gives clusters other names, which must live as long as `e`. */
kdr_status kdri_edits_names(kdri_edited *e, const char *file, const kdri_name_list *list);

/* json.c: the edited result, which will be at `path`. The tree shares what is unchanged, and may not live longer than `e`. */
kdr_status kdri_edited_tree(const kdri_edited *e, const char *path, kdri_json_value **root);

/* copies.c: the edited labels of each data set as columns of the file it was read from. */
typedef struct kdri_edited_copies {
	kdri_copied *sets; /* of each data set of the result */
	char (*numbers)[24];
	const char **number; /* texts of labels that are numbers */
} kdri_edited_copies;
/* kdri_edited_copies_free also after a failure. */
kdr_status kdri_edited_copies_new(const kdri_edited *e, kdri_edited_copies *out);
void kdri_edited_copies_free(const kdri_edited *e, kdri_edited_copies *c);

/* hdf5.c: a copy of the .h5ad input with the edited labels, and of a model with the classes' names. Without `write`, checks
 * whether it is possible. */
kdr_status kdri_edited_h5ad(const kdri_edited *e, const kdri_edited_copies *c, const char *path,
                            const char *key, bool write, bool force);
kdr_status kdri_edited_model(const kdri_edited *e, const char *model, const char *path, bool write,
                             bool force);

#endif
