/* What the files of auto for transfer share. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_AUTO_TRANSFER_H
#define KDRI_AUTO_TRANSFER_H

#include "api/method.h"
#include "engine/ensemble/members.h"
#include "engine/graph/landmarks.h"
#include "engine/linear/linear.h"
#include "methods/common/labelled.h"

/* Number of rows used to find the directions of E and the costs of classifiers if samples are joined to landmarks. */
enum { KDRI_TRANSFER_TELLING = 32768 };

/* What samples are joined to. */
typedef struct kdri_transfer_joins {
	kdri_joins to;     /* auto: landmarks if there are too many samples for an exact neighbour search */
	int64_t neighbors; /* number of neighbours; with landmarks, twice as many for words and half as many for
			      other data */
	int64_t landmarks;
} kdri_transfer_joins;

typedef struct kdri_transfer_graph {
	kdri_own edges;           /* n x n: near rows; n x m: near landmarks */
	bool landmarks;           /* the latter */
	kdri_landmarks_walk walk; /* of it */
} kdri_transfer_graph;

/* The last task of the domains is the target. Borrows the domains. */
typedef struct kdri_transfer_views {
	const kdri_domains *d;
	bool words;     /* mostly zeros, none negative: the mean stays */
	bool negative;  /* some entry is */
	bool few;       /* few features, mostly not zero: lengths are as informative as directions */
	kdri_own unit;  /* n x d: rows of unit length, or unchanged if there are few features */
	double scale;   /* of Z against those rows */
	kdri_own z;     /* n x d: Z, with the pooled mean subtracted from dense rows */
	bool free_bias; /* Z needs a constant of any size, which has the effect of centring */
	double *mean;   /* d: of `unit`, pooled */
	double *e;      /* n x width: E, or NULL; it is large and exists only while members use it */
	int64_t width;
	const double *share; /* class proportions for the sources' means; NULL: unchanged */
	kdri_transfer_joins joins;
	kdri_transfer_graph joint; /* of all rows, on E */
	kdri_transfer_graph graph; /* of the target's rows, on Z */
} kdri_transfer_views;

/* Everything except E and the joint graph. If stopped early, graphs have fewer edges. */
kdr_status kdri_transfer_views_new(kdr_context *ctx, const kdri_domains *d, const kdri_transfer_joins *joins,
                                   kdri_transfer_views *out);
/* The cohesion (views.c) of n rows, each joined to its nearest neighbours among them; 0 <= labels < classes. NaN: there is only one
 * class. */
kdr_status kdri_transfer_cohesion(kdr_context *ctx, const kdri_transfer_views *v, const int64_t *rows,
                                  const int32_t *labels, int64_t n, double *out);
/* Computes E and, if requested, the joint graph, unless they exist. The graph is that of the first E. */
kdr_status kdri_transfer_views_align(kdr_context *ctx, kdri_transfer_views *v, bool joint);
/* Frees E. */
void kdri_transfer_views_part(kdr_context *ctx, kdri_transfer_views *v);
/* Frees Z, if it is a copy, while rows are not used; and restores it. */
void kdri_transfer_views_rest(kdr_context *ctx, kdri_transfer_views *v);
kdr_status kdri_transfer_views_return(kdr_context *ctx, kdri_transfer_views *v);
/* The next E uses the sources' means as they would be with these class proportions (one per class, borrowed), which are
 * those of the target. The graphs stay, because neighbours hardly change. */
void kdri_transfer_views_reweigh(kdr_context *ctx, kdri_transfer_views *v, const double *share);
void kdri_transfer_views_free(kdr_context *ctx, kdri_transfer_views *v);

/* Rows of the target: the first, and their number. */
static inline int64_t kdri_transfer_first(const kdri_domains *d)
{
	return d->begin[d->ntasks - 1];
}
static inline int64_t kdri_transfer_count(const kdri_domains *d)
{
	return d->n - kdri_transfer_first(d);
}

/* The graphs of a transfer's samples. */

kdri_transfer_graph kdri_transfer_graph_empty(void);
/* W, of rows that are joined; borrows the graph, which must stay where it is. */
kdri_op kdri_transfer_graph_op(const kdri_transfer_graph *g);

/* The members of a transfer's ensemble. */

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

/* Trains a classifier, one class against the rest, on the labelled samples; p is set to its scores (n x classes). */
kdr_status kdri_transfer_classify(kdr_context *ctx, const kdri_domains *d, const kdr_mat *x, kdri_loss loss,
                                  double cost, bool free_bias, double *p);

/* The same with a logistic regression of all classes jointly, whose constant is not penalised. */
kdr_status kdri_transfer_logistic(kdr_context *ctx, const kdri_domains *d, const kdr_mat *x, double cost,
                                  double *p);

/* kdri_cost_by_folds; if samples are joined to landmarks, on a limited number of labelled rows. */
kdr_status kdri_transfer_folds(kdr_context *ctx, const kdri_transfer_views *v, const kdri_rest *r,
                               const double *costs, int64_t count, double *best, double *right);

/* features.c: p from a classifier on Z and features that undo noise. */
kdr_status kdri_transfer_layers(kdr_context *ctx, kdri_transfer_work *t, double *p);
double kdri_transfer_layers_cells(const kdri_transfer_work *t); /* numbers in these features */
bool kdri_transfer_layers_able(const kdri_transfer_work *t);
/* features.c: p from feature clusters that source and target share. */
kdr_status kdri_transfer_factors(kdr_context *ctx, kdri_transfer_work *t, double *p);

/* Members that vote on tables only. */

/* Ranks of n values (stride apart) from 0 to 1: (values below + half of the equal ones) / n. */
kdr_status kdri_mid_ranks(kdr_context *ctx, const double *values, int64_t n, int64_t stride, double *ranks);

/* How well members of a transfer's ensemble predict held-out source samples. */

typedef struct kdri_transfer_gate {
	bool done;                              /* false: the other members are not set */
	double accuracy[KDRI_TRANSFER_MEMBERS]; /* on held-out samples; NaN: the member did not run */
	double majority;                        /* proportion of the largest class */
	/* classes of the problem, squared: entry (j, k) counts the held-out samples of class k for which most of svm, logreg and msda
	 * vote j */
	double *confusion;
} kdri_transfer_gate;

typedef struct kdri_transfer_options {
	kdri_transfer_joins joins;
	int64_t rounds;
	bool follow_shares; /* members are run again if class proportions have changed */
	int64_t only;       /* use only this member, or -1 */
	bool plain;         /* also run plain classifiers, and measure the distance between the data sets */
	bool tables;        /* columns have different units: the members for tables also vote */
	bool gate;          /* members that predict held-out source samples poorly do not vote */
} kdri_transfer_options;

/* `problem` has sources and one target, which is not used. The gate is skipped (not done) if there are too few labelled
 * samples, and if the time limit is near. Only running out of memory is a failure, which the
 * caller ignores if the reason is the limit on memory. */
kdr_status kdri_transfer_gate_new(kdr_context *ctx, const kdr_problem *problem,
                                  const kdri_transfer_options *options, kdri_transfer_gate *out);
void kdri_transfer_gate_free(kdr_context *ctx, kdri_transfer_gate *g);

/* Why a member does not vote. */
typedef enum kdri_transfer_exclusion {
	KDRI_TRANSFER_VOTES,
	KDRI_TRANSFER_INACCURATE, /* on held-out source samples: gate.c */
	KDRI_TRANSFER_NO_LEAD,    /* excluded because it would only vote if it led: gate.c */
	KDRI_TRANSFER_OVERLAP,    /* it centres each data set, and source and target overlap: shares.c */
} kdri_transfer_exclusion;

/* Which of `count` members do not vote, by their accuracy (NaN: it votes unless it must lead). must_lead: members that vote only if they
 * lead; excluded: KDRI_TRANSFER_VOTES, _INACCURATE or _NO_LEAD. */
void kdri_transfer_gate_exclude(const double *accuracy, const bool *must_lead, int64_t count, double majority,
                                kdri_transfer_exclusion *excluded);

/* Class shares of the target, and whether source and target overlap. */

/* A (classes x classes): column k has the shares of each vote among samples of class k. q: vote shares in the target. pi: the shares
 * to start from, and the estimate on return. */
kdr_status kdri_shares_estimate(kdr_context *ctx, const double *a, const double *q, int64_t classes,
                                double *pi);

/* The weighted area under the ROC curve: how often a positive row has a larger score than another row. Ties count half. NaN if
 * one of the two groups has no weight. */
kdr_status kdri_weighted_auc(kdr_context *ctx, const double *score, const bool *positive,
                             const double *weight, int64_t n, double *out);

/* 2 AUC - 1 of a classifier that separates source from target on Z, by two-fold cross-validation: 0 = indistinguishable, 1 = fully
 * separable. weight: of each class of the source; NULL: ones. NaN if there are too few rows. */
kdr_status kdri_transfer_separation(kdr_context *ctx, const kdri_transfer_views *v, const double *weight,
                                    double *out);

/* Whether classes that some members miss are in the target. */

/* Everything is borrowed. The last task of the views is the target, which has n rows. */
typedef struct kdri_absence {
	const kdri_transfer_views *v;
	const int32_t *aligned; /* n: the class that most members that centre each data set vote for */
	const double *plain;    /* classes: share of each in the votes of the other members */
} kdri_absence;

/* Whether class k is in dispute: the members that centre each data set find it (share `aligned` of their votes), and the
 * others (`plain`) hardly do, compared with its share of the source. */
bool kdri_transfer_disputed(double source, double plain, double aligned);
/* The gap of the classes in dispute, from about 0 (they are absent) to about 1 (as separate as in the source). NaN: no class
 * is in dispute, or its gap cannot be measured. */
kdr_status kdri_transfer_gap(kdr_context *ctx, const kdri_absence *p, double *gap);

/* Which target samples differ from the source, and which a person should label. */

enum { KDRI_TRANSFER_CLUSTERINGS = 2 };

typedef struct kdri_transfer_tally {
	kdr_context *ctx;
	const kdri_transfer_options *o;
	kdri_frame frame;
	kdri_domains d;
	kdri_transfer_views v;
	kdri_transfer_work shared;
	int64_t first, n, c;                       /* the target's rows, and classes that have samples */
	double *posteriors[KDRI_TRANSFER_MEMBERS]; /* n x c each */
	int32_t *votes[KDRI_TRANSFER_MEMBERS], *clusters[KDRI_TRANSFER_CLUSTERINGS];
	int64_t k[KDRI_TRANSFER_CLUSTERINGS], clusterings;
	bool was_run[KDRI_TRANSFER_MEMBERS];
	int64_t round, rounds; /* this is one of several rounds of all members, for progress */
	double *p, *mean;      /* all rows x c; n x c: mean of the posteriors */
	double *vote, *near;   /* n x c */
} kdri_transfer_tally;

enum { KDRI_PLAIN_SVM, KDRI_PLAIN_LOGREG, KDRI_PLAIN };

/* Classes are those of the problem. */
typedef struct kdri_transfer_verdict {
	int64_t n, classes;
	int64_t *answer;                      /* n */
	int64_t *votes;                       /* members x n; -1 for skipped members */
	double *posterior;                    /* n x classes: mean over the members */
	double *confidence;                   /* n: estimated probability that the answer is right */
	double *shares;                       /* classes x 2: of the labelled samples, of the answers */
	bool used[KDRI_TRANSFER_MEMBERS];     /* members that voted */
	char name[KDRI_TRANSFER_MEMBERS][96]; /* their names */
	double agreement
	        [KDRI_TRANSFER_MEMBERS];       /* fraction of samples for which each agrees with the answer */
	double heldout[KDRI_TRANSFER_MEMBERS]; /* of excluded members: accuracy on held-out source samples */
	kdri_transfer_exclusion excluded[KDRI_TRANSFER_MEMBERS];
	int64_t *plain[KDRI_PLAIN]; /* n: the labels of these classifiers */
	double *pi;                 /* classes: estimated shares in the target; NULL: not estimated */
	double right; /* accuracy of the svm in cross-validation on the labelled samples; NaN: not computed */
	double distance; /* A-distance of source and target; NaN: not computed */
	bool late;       /* members were skipped because of the time limit */
	bool followed; /* class proportions have changed, and the members based on class means were run again */
	bool absent;   /* this was because classes appear to be absent from the target: shares.c */
	bool few;
	double *unlike; /* n: rank by how little each sample is like the source, 0 to 1; NULL: not found */
	int64_t *cluster, clusters; /* n: its cluster in the target, one of `clusters`; NULL: not found */
} kdri_transfer_verdict;

/* Sets v->unlike, v->cluster and v->clusters; v->unlike stays NULL if time has run out or no class has a source sample. */
kdr_status kdri_transfer_unlike(kdri_transfer_tally *w, kdri_transfer_verdict *v);

/* The score before it becomes a rank: (E1) of report.c for each of the target's rows of e, which are those from `first` on; labels of the
 * other rows: classes, -1 for rows that are ignored. out: n - first. */
kdr_status kdri_unlike_distances(kdr_context *ctx, const kdr_mat *e, int64_t first, const int64_t *labels,
                                 int64_t classes, double *out);
/* Values to the share of the other values that are smaller, ties counted half. */
kdr_status kdri_unlike_ranks(kdr_context *ctx, double *values, int64_t n);

/* What samples to label next are chosen from. */
typedef struct kdri_ask_problem {
	int64_t n, classes, clusters;
	const double *posterior; /* n x classes */
	const int64_t *answer;   /* n */
	const int64_t *known;    /* n: a class, or -1; NULL: all are unknown */
	const int64_t *cluster;  /* n: 0..clusters-1; NULL: all samples are in one */
} kdri_ask_problem;
/* How much more probable the answer of sample i is than the best other class; negative if it is less probable. */
double kdri_ask_margin(const kdri_ask_problem *p, int64_t i);
/* (E3) of report.c: `count` different samples of unknown class; there must be as many. */
kdr_status kdri_ask_choose(kdr_context *ctx, const kdri_ask_problem *p, int64_t count, int64_t *rows);

/* The votes on one target, and their result. */

/* Domains, views and room for votes; `problem` has sources and one target, its last task. */
kdr_status kdri_transfer_tally_begin(kdri_transfer_tally *w, const kdr_problem *problem);
/* gate.c: runs the members that are wanted and takes their votes. A member that fails is skipped, and one that is not
 * suitable for the data is not run. */
kdr_status kdri_transfer_tally_ask(kdri_transfer_tally *w, const bool *wanted);
/* The class that most of svm, logreg and msda vote for, svm's if all differ; -1 without a vote of svm. */
int64_t kdri_transfer_tally_majority(const kdri_transfer_tally *w, int64_t i);

/* Allocates the votes; domains and views must be set. */
kdr_status kdri_transfer_tally_room(kdr_context *ctx, kdri_transfer_tally *w);
void kdri_transfer_tally_free(kdr_context *ctx, kdri_transfer_tally *w);
/* An empty tally, which is safe to free. */
kdri_transfer_tally kdri_transfer_tally_empty(kdr_context *ctx, const kdri_transfer_options *options,
                                              kdr_result *result);

/* Makes p, all rows x c, the vote of member m; rows of known class vote for it. */
kdr_status kdri_transfer_tally_take(kdri_transfer_tally *w, int64_t m, const double *p);
/* Clusters the target, unless this was done before, and votes. */
kdr_status kdri_transfer_tally_vote(kdri_transfer_tally *w);
/* Stores everything in the verdict that follows from the votes. */
kdr_status kdri_transfer_tally_fill(kdri_transfer_tally *w, kdri_transfer_verdict *v);

/* The result of an ensemble for one target. */

/* `problem` has sources and one target, its last task. Members that fail are skipped with a warning in `result` (unless
 * NULL). It fails only if memory runs out or no member succeeds. */
kdr_status kdri_transfer_verdict_new(kdr_context *ctx, const kdr_problem *problem,
                                     const kdri_transfer_options *options, kdr_result *result,
                                     kdri_transfer_verdict *out);
void kdri_transfer_verdict_free(kdr_context *ctx, kdri_transfer_verdict *v);

/* What the ensemble of a transfer reports in addition to labels. */

/* Stores labels and arrays of task `target`, and advice on their reliability. `abstain`: fraction of samples without a
 * class. */
kdr_status kdri_transfer_report(kdr_context *ctx, const kdr_problem *problem, int64_t target,
                                const kdri_transfer_verdict *v, double abstain, bool tables,
                                kdr_result *result);

/* The `count` samples of task `target` that a person should label next. */
kdr_status kdri_transfer_report_ask(kdr_context *ctx, const kdr_problem *problem, int64_t target,
                                    const kdri_transfer_verdict *v, int64_t count, kdr_result *result);

/* Reports which members voted and how they agree with the labels, over all targets; v: one per task. */
kdr_status kdri_transfer_report_members(kdr_context *ctx, const kdr_problem *problem,
                                        const kdri_transfer_verdict *v, kdr_result *result);

/* Reports the contribution of source `s`: the vote with it and without it; `without` NULL: not available. */
kdr_status kdri_transfer_report_source(kdr_context *ctx, const kdr_problem *problem, int64_t target,
                                       int64_t s, const kdri_transfer_verdict *v,
                                       const kdri_transfer_verdict *without, kdr_result *result);

#endif
