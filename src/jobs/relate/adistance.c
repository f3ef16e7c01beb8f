/* A-distance: how well a classifier separates two data sets. SPDX-License-Identifier: BSD-3-Clause
 *
 *   (E1)  A = max(0, 2 (1 - 2 e))                                                   [TSZY15, eq. 2]
 *
 * with e the error of a linear classifier that predicts the data set of a sample. 0: it is no better than chance; 2:
 * it makes no error.
 *
 * DEVIATION: the paper uses the smallest error on the training samples, which on text is near 0 for any two sets
 * (A of 1.8 to 1.95). Here e is measured on held-out samples: sample i of each set is in fold i mod `folds`, which is
 * not used to train its classifier. The two sets have equal weights, whatever their sizes:
 *
 *   (E2)  e = (wrong in a / n_a + wrong in b / n_b) / 2
 *   (E3)  min over w, w0   ridge |w|^2 / 2 + sum_i c_i log(1 + exp(-y_i (<w, x_i> + w0))),
 *         c_i = n / (2 n_side(i)), y_i = 1 in a and -1 in b
 *
 * solved in engine/linear/linear.c, with all costs divided by ridge; w0 is not penalised. Rows may be on several ranks: i is
 * then a sample's number among those of all. */
#include "comm/comm.h"
#include "engine/linear/linear.h"
#include "jobs/relate/relate.h"

static const double tolerance = 1e-9;
enum { MOST_STEPS = 200 };

/* Samples of both sets below each other, the first na of them of a. */
typedef struct pair {
	kdri_own x;
	int64_t na, n;
	int64_t first[2]; /* of all samples of each set those here begin with */
} pair;

static int64_t fold_of(const pair *p, int64_t i, int64_t folds)
{
	return (i < p->na ? p->first[0] + i : p->first[1] + i - p->na) % folds;
}

/* (E3) for each fold, all at once, so that a product reads the samples once for all of them; a sample has cost 0 in
 * its own fold. w: (cols + 1) x folds. */
static kdr_status adistance_train(kdr_context *ctx, const pair *p, double ridge, int64_t folds, double *w)
{
	kdr_status st;
	double *cost = NULL;
	kdri_linear_report report;
	const kdri_linear_options o = { .loss = KDRI_LOSS_LOGISTIC,
		                        .bias = 1,
		                        .free_bias = true,
		                        .tol = tolerance,
		                        .max_iter = MOST_STEPS,
		                        .stage = "a-distance" };
	int64_t size;
	KDRI_TRY(kdri_mul(ctx, p->n, folds, &size));
	KDRI_TRY(KDRI_NEW(ctx, &cost, size));
	for (int64_t k = 0; k < folds; k++) {
		int64_t used[2] = { 0, 0 };
		for (int64_t i = 0; i < p->n; i++)
			used[i >= p->na] += fold_of(p, i, folds) != k;
		KDRI_TRY(kdri_sum_int(ctx, used, 2));
		double all = (double)(used[0] + used[1]);
		for (int64_t i = 0; i < p->n; i++) {
			double c = 0.5 * all / (double)used[i >= p->na] / ridge;
			bool held = fold_of(p, i, folds) == k;
			cost[i * folds + k] = held ? 0 : i < p->na ? c : -c;
		}
	}
	memset(w, 0, (size_t)((kdr_mat_cols(&p->x.view) + 1) * folds) * sizeof *w);
	KDRI_TRY(kdri_linear_train(ctx, &p->x.view, folds, cost, &o, w, &report));
done:
	kdri_free(ctx, cost);
	return st;
}

static kdr_status pair_new(kdr_context *ctx, const kdr_mat *a, const kdr_mat *b, pair *out)
{
	const kdr_mat *both[2] = { a, b };
	*out = (pair){ .x.view = kdr_mat_from_dense(NULL, 0, 0), .na = kdr_mat_rows(a) };
	out->n = out->na + kdr_mat_rows(b);
	return kdri_mat_stack(ctx, both, 2, &out->x);
}

kdr_status kdri_a_distance(kdr_context *ctx, const kdr_mat *a, const kdr_mat *b, double ridge, int64_t folds,
                           double *out)
{
	kdr_status st;
	int64_t na, nb, first[2], wrong[2] = { 0, 0 };
	double *w = NULL, *scores = NULL;
	pair p = { .x.view = kdr_mat_from_dense(NULL, 0, 0) };
	KDRI_TRY(kdri_part(ctx, kdr_mat_rows(a), &first[0], &na));
	KDRI_TRY(kdri_part(ctx, kdr_mat_rows(b), &first[1], &nb));
	if (na < 2 || nb < 2) {
		*out = NAN;
		return KDR_OK;
	}
	folds = KDRI_MIN(folds, KDRI_MIN(na, nb));
	KDRI_TRY(pair_new(ctx, a, b, &p));
	memcpy(p.first, first, sizeof first);
	KDRI_TRY(KDRI_NEW(ctx, &w, (kdr_mat_cols(a) + 1) * folds));
	KDRI_TRY(adistance_train(ctx, &p, ridge, folds, w));
	KDRI_TRY(KDRI_NEW(ctx, &scores, p.n * folds));
	KDRI_TRY(kdri_linear_scores(ctx, &p.x.view, folds, 1, w, scores));
	for (int64_t i = 0; i < p.n; i++)
		wrong[i >= p.na] += (scores[i * folds + fold_of(&p, i, folds)] > 0) != (i < p.na);
	KDRI_TRY(kdri_sum_int(ctx, wrong, 2));
	double e = ((double)wrong[0] / (double)na + (double)wrong[1] / (double)nb) / 2; /* (E2) */
	*out = fmax(0, 2 * (1 - 2 * e));                                                /* (E1) */
done:
	kdri_own_free(ctx, &p.x);
	KDRI_FREE(ctx, w, scores);
	return st;
}
