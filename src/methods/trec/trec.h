/* Pairs of samples, the rule that decides which belong together, and the partition nearest to it. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_TREC_H
#define KDRI_TREC_H

#include "engine/ensemble/ensemble.h"

/* Pairs of samples: their meta-features, a rule that decides which pairs belong together, and the rule as a table. */

/* Meta-features of pairs and whether each is of one class. Freed with kdri_pairs_free. */
typedef struct kdri_pairs {
	int64_t count, room, same; /* same: how many are of one class */
	double *p, *h;             /* mean silhouette of the two; co-association */
	bool *z;
} kdri_pairs;

/* Appends pairs of the listed rows: all if there are at most `most`; otherwise about that many, drawn at random from
 * evenly spaced intervals. */
kdr_status kdri_pairs_add(kdr_context *ctx, const kdri_ensemble *e, const int64_t *classes,
                          const int64_t *rows, int64_t count, int64_t most, kdri_rng *rng, kdri_pairs *pairs);
void kdri_pairs_free(kdr_context *ctx, kdri_pairs *pairs);

typedef enum kdri_meta { KDRI_META_BOTH, KDRI_META_COASSOCIATION, KDRI_META_SILHOUETTE } kdri_meta;

typedef struct kdri_rule_options {
	bool logistic;
	double sigma, cost; /* RBF width; penalty (logistic: the ridge is 1 / cost) */
	bool balanced;      /* both kinds of pairs have the same total weight */
	bool standardise;   /* meta-features in units of their standard deviation */
	kdri_meta meta;
} kdri_rule_options;

/* f(p, h) > 0: together. Owned by the caller: kdri_rule_free. */
typedef struct kdri_rule {
	double scale_p, scale_h; /* applied first; 0 ignores a meta-feature */
	bool logistic;
	double gamma, rho;
	int64_t count; /* support vectors, scaled */
	double *p, *h, *coef;
	double weight_p, weight_h; /* logistic: weight_p p + weight_h h - rho */
} kdri_rule;

kdr_status kdri_rule_new(kdr_context *ctx, const kdri_pairs *pairs, const kdri_rule_options *o,
                         kdri_rule *out);
kdr_status kdri_rule_train_svm(kdr_context *ctx, const kdri_pairs *pairs, const kdri_rule_options *o,
                               const double weight[2], kdri_rule *rule);
void kdri_rule_free(kdr_context *ctx, kdri_rule *rule);
double kdri_rule_value(const kdri_rule *rule, double p, double h);
/* The fraction of pairs that the rule classifies correctly. */
double kdri_rule_accuracy(kdr_context *ctx, const kdri_rule *rule, const kdri_pairs *pairs);

/* The rule for h = 0, 1/runs, ..., 1 and p in low .. high: the values of p at which its decision changes. */
typedef struct kdri_pair_table {
	int64_t levels, width;
	bool *below; /* levels: the decision below the first cut */
	double *cut; /* levels x width, increasing, filled up with infinities */
} kdri_pair_table;

kdr_status kdri_pair_table_new(kdr_context *ctx, const kdri_rule *rule, int64_t runs, double low, double high,
                               kdri_pair_table *out);
void kdri_pair_table_free(kdr_context *ctx, kdri_pair_table *table);
static inline bool kdri_pair_table_decide(const kdri_pair_table *t, int64_t level, double p)
{
	bool z = t->below[level];
	for (int64_t c = 0; c < t->width; c++)
		z ^= t->cut[level * t->width + c] < p;
	return z;
}

/* The partition nearest to a predicted coincidence matrix, by moving one sample at a time. */

/* A symmetric n x n matrix of zeros and ones, which is computed row by row and never stored. */
typedef struct kdri_coincidence kdri_coincidence;
struct kdri_coincidence {
	int64_t n;
	/* Fills row i; entry i is ignored. Called from several threads at a time. */
	void (*row)(const kdri_coincidence *z, int64_t i, uint8_t *out);
	const void *data;
};

/* The decisions of the rule for all pairs of an ensemble; borrows both. */
typedef struct kdri_predicted {
	const kdri_ensemble *e;
	const kdri_pair_table *table;
} kdri_predicted;
kdri_coincidence kdri_coincidence_predicted(const kdri_predicted *predicted);

/* Owned by the caller: kdri_migration_free. */
typedef struct kdri_migration {
	double start; /* Q of the labels given */
	int64_t count;
	int64_t *moves; /* count x 3: sample, from, to */
	double *q;      /* count: Q after each move */
	kdr_stop stop;  /* converged: no move helps, or Q < q_min */
} kdri_migration;

/* Moves samples between k clusters, in place, until Q < q_min, it_max moves, or no move helps. */
kdr_status kdri_migrate(kdr_context *ctx, const kdri_coincidence *z, int64_t k, double q_min, int64_t it_max,
                        int64_t *labels, kdri_migration *out);
void kdri_migration_free(kdr_context *ctx, kdri_migration *m);

#endif
