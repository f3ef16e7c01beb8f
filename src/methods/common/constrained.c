/* k-means that follows known classes. SPDX-License-Identifier: BSD-3-Clause
 *
 * Constrained k-means: known samples keep their class in every assignment, the others join the nearest centre, and centres are the
 * means of their samples. It starts from the clusters of k-means, matched with the classes, and, if every cluster has known samples,
 * also from their means; the lower objective counts.
 *
 * Reference: S. Basu, A. Banerjee, R. Mooney: Semi-supervised clustering by seeding. ICML 2002. */
#include "methods/common/tasks.h"

#include "engine/ensemble/vote.h"
#include "engine/graph/views.h"
#include "matrix/linalg.h"

typedef struct constrained {
	const kdr_mat *x; /* unit rows if spherical */
	const double *weights;
	const kdri_kmeans_options *o;
	const kdri_known_classes *known;
	int64_t n, d, k;
	double *squares; /* n: of the length of each row */
	double *members; /* n x k: weights by cluster, then scores */
	double *centres; /* d x k */
	double *lengths; /* k: squared, of the centres */
} constrained;

static double weight_of(const constrained *c, int64_t i)
{
	return c->weights ? c->weights[i] : 1;
}

/* The means of the samples with labels that are not negative. A cluster without samples keeps its centre. */
static kdr_status find_centres(kdr_context *ctx, const constrained *c, const int64_t *labels)
{
	kdr_status st;
	double *sums = NULL, *total = NULL;
	int64_t size;
	KDRI_TRY(kdri_mul(ctx, c->d, c->k, &size));
	KDRI_TRY(KDRI_NEW(ctx, &sums, size));
	KDRI_TRY(KDRI_NEW0(ctx, &total, c->k));
	memset(c->members, 0, (size_t)(c->n * c->k) * sizeof *c->members);
	for (int64_t i = 0; i < c->n; i++)
		if (labels[i] >= 0) {
			c->members[i * c->k + labels[i]] = weight_of(c, i);
			total[labels[i]] += weight_of(c, i);
		}
	KDRI_TRY(kdri_mat_tmul(ctx, c->x, c->members, c->k, c->k, sums, c->k));
	for (int64_t z = 0; z < c->k; z++) {
		double length = 0;
		for (int64_t j = 0; j < c->d && total[z] > 0; j++) {
			c->centres[j * c->k + z] = sums[j * c->k + z] / total[z];
			length += c->centres[j * c->k + z] * c->centres[j * c->k + z];
		}
		for (int64_t j = 0; j < c->d && c->o->spherical && length > 0; j++)
			c->centres[j * c->k + z] /= sqrt(length);
		c->lengths[z] = total[z] > 0 ? (c->o->spherical && length > 0 ? 1 : length) : c->lengths[z];
	}
done:
	KDRI_FREE(ctx, sums, total);
	return st;
}

/* Scores are minus weighted squared distances. */
static kdr_status assign(kdr_context *ctx, const constrained *c, int64_t *labels, double *objective)
{
	const int64_t k = c->k;
	KDRI_DO(kdri_mat_mul(ctx, c->x, c->centres, k, k, c->members, k));
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) if (c->n > KDRI_BLOCK)
	for (int64_t i = 0; i < c->n; i++) {
		double *s = c->members + i * k;
		int64_t best = 0;
		for (int64_t z = 0; z < k; z++) {
			const double distance = c->squares[i] - 2 * s[z] + c->lengths[z];
			s[z] = -weight_of(c, i) * KDRI_MAX(distance, 0);
			best = s[z] > s[best] ? z : best;
		}
		labels[i] = c->known->known[i] >= 0 ? c->known->known[i] : best;
	}
	*objective = 0;
	for (int64_t i = 0; i < c->n; i++)
		*objective -= c->members[i * k + labels[i]];
	return KDR_OK;
}

/* One descent. */
typedef struct descent {
	int64_t *labels; /* n */
	double *trace;   /* the objective of each assignment */
	int64_t count, room;
	kdr_stop stop;
} descent;

/* From the centres, until the objective no longer falls. */
static kdr_status descend(kdr_context *ctx, const constrained *c, descent *run)
{
	kdr_status st;
	int64_t *next = NULL;
	double before = INFINITY, now;
	run->count = 0;
	run->stop = KDR_STOP_MAX_ITER;
	KDRI_TRY(KDRI_NEW(ctx, &next, c->n));
	for (int64_t i = 0; i <= c->o->max_iter; i++) {
		KDRI_TRY(assign(ctx, c, next, &now));
		if (!(now < before)) {
			run->stop = KDR_STOP_CONVERGED;
			break;
		}
		KDRI_TRY(KDRI_ROOM(ctx, &run->trace, &run->room, run->count + 1));
		memcpy(run->labels, next, (size_t)c->n * sizeof *next);
		run->trace[run->count++] = now;
		if (kdri_iteration(ctx, "kmeans", i, c->o->max_iter, now)) {
			run->stop = kdri_stop_reason(ctx);
			break;
		}
		if (now >= (1 - c->o->tol) * before) {
			run->stop = KDR_STOP_CONVERGED;
			break;
		}
		before = now;
		KDRI_TRY(find_centres(ctx, c, run->labels));
	}
done:
	kdri_free(ctx, next);
	return st;
}

/* Moves a descent into the result if it is better than the one there. */
static void take_descent(const constrained *c, descent *run, bool first, kdri_kmeans_result *r)
{
	if (!first && !(run->trace[run->count - 1] < r->objective))
		return;
	double *before = r->trace;
	memcpy(r->labels, run->labels, (size_t)c->n * sizeof *run->labels);
	r->trace = run->trace;
	r->iterations = run->count;
	r->objective_start = run->trace[0];
	r->objective = run->trace[run->count - 1];
	r->stop = run->stop;
	r->best_run = !first;
	run->trace = before;
	run->room = 0;
}

static bool every_class(const constrained *c)
{
	bool all = true;
	for (int64_t z = 0; z < c->k && all; z++) {
		bool found = false;
		for (int64_t i = 0; i < c->n && !found; i++)
			found = c->known->known[i] == z;
		all = found;
	}
	return all;
}

static kdr_status constrained_run(kdr_context *ctx, constrained *c, kdri_kmeans_result *r)
{
	kdr_status st;
	descent first = { 0 }, second = { 0 };
	int64_t *now = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &now, c->k));
	KDRI_TRY(KDRI_NEW(ctx, &first.labels, c->n));
	KDRI_TRY(KDRI_NEW(ctx, &second.labels, c->n));
	KDRI_TRY(kdri_steer_numbers(ctx, c->known, r->labels, c->k, now));
	for (int64_t i = 0; i < c->n; i++)
		first.labels[i] = c->known->known[i] >= 0 ? c->known->known[i] : now[r->labels[i]];
	KDRI_TRY(find_centres(ctx, c, first.labels));
	KDRI_TRY(descend(ctx, c, &first));
	take_descent(c, &first, true, r);
	if (every_class(c) && !c->o->init_labels && !ctx->cancelled && !ctx->timed_out) {
		KDRI_TRY(find_centres(ctx, c, c->known->known));
		KDRI_TRY(descend(ctx, c, &second));
		take_descent(c, &second, false, r);
	}
	KDRI_TRY(find_centres(ctx, c, r->labels));
	for (int64_t z = 0; z < c->k; z++)
		for (int64_t j = 0; j < c->d; j++)
			r->centres[z * c->d + j] = c->centres[j * c->k + z];
done:
	KDRI_FREE(ctx, now, first.labels, first.trace, second.labels, second.trace);
	return st;
}

kdr_status kdri_constrain(kdr_context *ctx, const kdr_mat *x, const double *weights,
                          const kdri_kmeans_options *options, const kdri_known_classes *known,
                          kdri_kmeans_result *result)
{
	kdr_status st;
	kdri_own rows = { .view = *x };
	constrained c = { .weights = weights,
		          .o = options,
		          .known = known,
		          .n = kdr_mat_rows(x),
		          .d = kdr_mat_cols(x),
		          .k = options->k };
	int64_t size;
	if (options->spherical)
		KDRI_TRY(kdri_unit_rows(ctx, x, &rows));
	c.x = &rows.view;
	KDRI_TRY(kdri_mul(ctx, c.n, c.k, &size));
	KDRI_TRY(KDRI_NEW(ctx, &c.members, size));
	KDRI_TRY(kdri_mul(ctx, c.d, c.k, &size));
	KDRI_TRY(KDRI_NEW0(ctx, &c.centres, size));
	KDRI_TRY(KDRI_NEW0(ctx, &c.lengths, c.k));
	KDRI_TRY(KDRI_NEW(ctx, &c.squares, c.n));
	for (int64_t i = 0; i < c.n; i++) {
		const kdri_entries row = kdri_row_entries(c.x, i);
		c.squares[i] = kdri_nrm2sq(row.val, row.count);
	}
	KDRI_TRY(constrained_run(ctx, &c, result));
done:
	kdri_own_free(ctx, &rows);
	KDRI_FREE(ctx, c.members, c.centres, c.lengths, c.squares);
	return st;
}
