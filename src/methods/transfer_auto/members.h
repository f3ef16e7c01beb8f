/* The members of a transfer's ensemble. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_TRANSFER_MEMBERS_H
#define KDRI_TRANSFER_MEMBERS_H

#include "api/method.h"
#include "engine/linear/rest.h"
#include "methods/transfer_auto/views.h"

/* Values shared by the members, computed by the first that needs them. */
typedef struct kdri_transfer_work {
	const kdri_domains *d;
	const kdri_transfer_views *v;
	const double *share; /* classes: estimated proportions in the target */
	double *w, *scores;  /* the svm on Z: weights; n x classes */
	double cost, right;  /* its cost, and its accuracy in cross-validation on the labelled samples */
	int32_t *first_e;    /* n: predictions of a logistic regression of cost 10 on E */
	bool quick;          /* held-out samples are predicted: smaller forests suffice */
	bool tables;         /* columns are in different units */
} kdri_transfer_work;
void kdri_transfer_work_free(kdr_context *ctx, kdri_transfer_work *t);

typedef struct kdri_transfer_member {
	const char *name; /* for people */
	/* p: n x classes; fills the rows of the target with class probabilities that sum to 1. */
	kdr_status (*run)(kdr_context *ctx, kdri_transfer_work *t, double *p);
	bool centres; /* it centres each data set; means move with the class shares */
	bool on_e;    /* it uses E */
	bool joint;   /* and the graph of E */
	bool tables;  /* it votes on tables, and its vote counts twice there */
	bool curved; /* it finds classes of any shape; on dense data that are not a table it votes only if it leads
		        (gate.c) */
	/* Whether it can run; NULL: always. */
	bool (*able)(const kdri_transfer_work *t);
} kdri_transfer_member;

/* Every member by its symbol and its name in the option that selects a single one. Fast members come first. */
#define KDRI_TRANSFER_EACH(X) \
	X(SVM, "svm") \
	X(LOGREG, "logreg") \
	X(SELF_TRAINING, "self-training") \
	X(SHIFTED, "shifted") \
	X(ALIGNED, "aligned") \
	X(RIDGE, "ridge") \
	X(KMEANS, "kmeans") \
	X(PROTOTYPES, "prototypes") \
	X(NMTF, "nmtf") \
	X(MSDA, "msda") \
	X(LOGREG_RAW, "logreg-raw") \
	X(FOREST, "forest") \
	X(FOREST_STANDARD, "forest-standard") \
	X(EXTRA_TREES, "extra-trees") \
	X(FOREST_SELF, "forest-self") \
	X(NEIGHBOURS, "neighbours")
enum {
#define KDRI_TRANSFER_SYMBOL(symbol, id) KDRI_TRANSFER_##symbol,
	KDRI_TRANSFER_EACH(KDRI_TRANSFER_SYMBOL)
#undef KDRI_TRANSFER_SYMBOL
	        KDRI_TRANSFER_MEMBERS
};
extern const kdri_transfer_member kdri_transfer_members[KDRI_TRANSFER_MEMBERS];

/* How often the vote of member m counts. */
static inline int64_t kdri_transfer_weight(bool tables, int64_t m)
{
	return tables && kdri_transfer_members[m].tables ? 2 : 1;
}

/* Trains a classifier, one class against the rest, on the labelled samples; p is set to its scores (n x classes). */
kdr_status kdri_transfer_classify(kdr_context *ctx, const kdri_domains *d, const kdr_mat *x, kdri_loss loss,
                                  double cost, bool free_bias, double *p);

/* The same with a logistic regression of all classes jointly, whose constant is not penalised. */
kdr_status kdri_transfer_logistic(kdr_context *ctx, const kdri_domains *d, const kdr_mat *x, double cost,
                                  double *p);

/* kdri_cost_by_folds; if samples are joined to landmarks, on a limited number of labelled rows. */
kdr_status kdri_transfer_folds(kdr_context *ctx, const kdri_transfer_views *v, const kdri_rest *r,
                               const double *costs, int64_t count, double *best, double *right);

/* layers.c: p from a classifier on Z and features that undo noise. */
kdr_status kdri_transfer_layers(kdr_context *ctx, kdri_transfer_work *t, double *p);
double kdri_transfer_layers_cells(const kdri_transfer_work *t); /* numbers in these features */
bool kdri_transfer_layers_able(const kdri_transfer_work *t);
/* factors.c: p from feature clusters that source and target share. */
kdr_status kdri_transfer_factors(kdr_context *ctx, kdri_transfer_work *t, double *p);

#endif
