/* Runs of k-means, and the best of them. SPDX-License-Identifier: BSD-3-Clause
 *
 * One iteration assigns every sample to its nearest centre, gives empty clusters a sample, and moves
 * the centres to the means. It has converged when no label changes. */
#include "device/use.h"
#include "engine/kmeans/kmeans_work.h"

typedef kdri_km_run run;

kdri_kmeans_options kdri_kmeans_defaults(int64_t k)
{
	return (kdri_kmeans_options){ .k = k, .n_init = 10, .max_iter = 300, .tol = 1e-6, .stage = "kmeans" };
}

void kdri_kmeans_free(kdr_context *ctx, kdri_kmeans_result *r)
{
	kdri_free(ctx, r->labels);
	kdri_free(ctx, r->centres);
	kdri_free(ctx, r->trace);
	*r = (kdri_kmeans_result){ 0 };
}

kdr_status kdri_km_record(kdri_km *w, kdri_km_run *r, double value)
{
	if (r->length == r->room) {
		int64_t room = r->room ? 2 * r->room : 32;
		kdr_status st = KDRI_GROW(w->ctx, &r->trace, room);
		if (st != KDR_OK)
			return st;
		r->room = room;
	}
	/* (E5) of kmeans_update.c is exact to rounding of the total; a rise within that is none. */
	double last = r->length ? r->trace[r->length - 1] : INFINITY;
	r->objective = r->trace[r->length++] = KDRI_MIN(value, last);
	return KDR_OK;
}

/* Labels that differ from those before, of all ranks. */
static kdr_status count_moved(const kdri_km *w, int64_t *out)
{
	int64_t moved = 0;
	for (int64_t b = 0; b < kdri_km_blocks(w); b++)
		for (int64_t i = b * KDRI_BLOCK; w->moved[b] && i < KDRI_MIN(w->n, (b + 1) * KDRI_BLOCK); i++)
			moved += w->label[i] != w->before[i];
	*out = moved;
	return kdri_sum_int(w->ctx, out, 1);
}

/* Clusters without samples get one; *moved as of now. */
static kdr_status fill_empty(kdri_km *w, int64_t *moved)
{
	kdr_status st = KDR_OK;
	int64_t filled = 0, empty = 0;
	for (int64_t j = 0; j < w->k; j++)
		empty += !w->filled[j];
	if (empty > 0)
		KDRI_TRY(kdri_km_fill_empty(w, &filled));
	if (filled > 0)
		KDRI_TRY(count_moved(w, moved));
done:
	return st;
}

/* Start from labels: their means are the first centres. */
static kdr_status start_from_labels(kdri_km *w, const int64_t *labels)
{
	kdr_status st;
	int64_t moved = 0;
	for (int64_t i = 0; i < w->n; i++) {
		w->label[i] = w->before[i] = (int32_t)labels[i];
		w->upper[i] = INFINITY;
	}
	memset(w->moved, 0, (size_t)kdri_km_blocks(w) * sizeof *w->moved);
	KDRI_TRY(kdri_km_count(w, true, NULL));
	KDRI_TRY(kdri_km_update(w, true));
	KDRI_TRY(fill_empty(w, &moved));
	if (moved > 0)
		KDRI_TRY(kdri_km_update(w, true));
	kdri_km_group(w);
done:
	return st;
}

kdr_status kdri_km_start(kdri_km *w, const kdri_kmeans_options *o, int64_t index)
{
	kdr_status st = KDR_OK;
	if (o->init_labels)
		return start_from_labels(w, o->init_labels);
	kdri_rng rng = kdri_rng_stream(w->ctx->seed, "kmeans", (o->stream << 20) + (uint64_t)index);
	if (o->init_centres) {
		memcpy(w->centres, o->init_centres, (size_t)(w->k * w->d) * sizeof *w->centres);
		for (int64_t j = 0; j < w->k && w->spherical; j++) {
			double *c = w->centres + j * w->d, sum = 0;
			for (int64_t f = 0; f < w->d; f++)
				sum += c[f] * c[f];
			for (int64_t f = 0; f < w->d && sum > 0; f++)
				c[f] /= sqrt(sum);
		}
	} else if (o->start == KDRI_START_RANDOM) {
		KDRI_TRY(kdri_km_random(w, &rng));
	} else {
		KDRI_TRY(kdri_km_plusplus(w, &rng));
	}
	memset(w->sums, 0, (size_t)(w->k * w->d) * sizeof *w->sums);
	kdri_km_load_centres(w);
	kdri_km_group(w);
	for (int64_t i = 0; i < w->n; i++)
		w->before[i] = -1;
done:
	return st;
}

static kdr_status one_run(kdri_km *w, const kdri_kmeans_options *o, int64_t index, int64_t runs, run *r)
{
	kdr_status st = KDR_OK;
	bool labelled = o->init_labels, first = !labelled, fresh = true;
	r->length = 0;
	r->stop = KDR_STOP_MAX_ITER;
	KDRI_TRY(kdri_km_start(w, o, index));
	if (labelled)
		r->start = r->objective = kdri_km_objective(w);
	while (r->length < o->max_iter || first) {
		int64_t moved;
		kdri_km_assign(w, fresh);
		KDRI_TRY(kdri_km_count(w, first, &moved));
		if (first) {
			for (int64_t i = 0; i < w->n; i++)
				w->distance[i] = w->upper[i] * w->upper[i];
			KDRI_TRY(kdri_km_total(w, w->distance, &r->start));
			r->objective = r->start;
			if (o->max_iter == 0)
				break;
		}
		KDRI_TRY(fill_empty(w, &moved));
		if (!moved) {
			KDRI_TRY(kdri_km_record(w, r, kdri_km_objective(w)));
			r->stop = KDR_STOP_CONVERGED;
			break;
		}
		KDRI_TRY(kdri_km_update(w, first || 4 * moved > w->all));
		first = fresh = false;
		double last = r->objective;
		KDRI_TRY(kdri_km_record(w, r, kdri_km_objective(w)));
		if (o->stage && kdri_iteration(w->ctx, o->stage, index * o->max_iter + r->length,
		                               runs * o->max_iter, r->objective)) {
			r->stop = kdri_stop_reason(w->ctx);
			break;
		}
		if (o->tol > 0 && last - r->objective <= o->tol * last) {
			r->stop = KDR_STOP_CONVERGED;
			break;
		}
	}
done:
	return st;
}

/* The run's labels, centres and trace become the result's; the objective is summed from distances. */
static kdr_status hand_over(kdri_km *w, run *r, kdri_kmeans_result *out)
{
	kdr_status st;
	KDRI_TRY(KDRI_NEW(w->ctx, &out->labels, w->n));
	for (int64_t i = 0; i < w->n; i++)
		out->labels[i] = w->label[i];
	kdri_km_distances(w, w->distance);
	KDRI_TRY(kdri_km_total(w, w->distance, &out->objective));
	/* The last value is this one; earlier ones, from (E5) of kmeans_update.c, give way to it where rounding differs. */
	if (r->length)
		r->trace[r->length - 1] = out->objective;
	for (int64_t i = r->length - 2; i >= 0; i--)
		r->trace[i] = KDRI_MAX(r->trace[i], r->trace[i + 1]);
	out->objective_start = r->length ? KDRI_MAX(r->start, r->trace[0]) : out->objective;
	out->iterations = r->length;
	out->stop = r->stop;
	out->distinct = w->distinct;
	KDRI_TRY(kdri_km_count(w, true, NULL));
	for (int64_t j = 0; j < w->k; j++)
		out->nonempty += w->filled[j] > 0;
	out->centres = w->centres;
	w->centres = NULL;
	out->trace = r->trace;
	r->trace = NULL;
done:
	return st;
}

/* On a device where `dev` is one. */
static kdr_status kmeans(kdr_context *ctx, kdri_device *dev, const kdr_mat *x, const double *weights,
                         const kdri_kmeans_options *o, kdri_kmeans_result *result)
{
	kdr_status st;
	kdri_km w = { .ctx = ctx };
	kdri_km_device *carried = NULL;
	run best = { 0 }, now = { 0 };
	kdri_kmeans_result out = { 0 };
	int64_t runs = o->init_labels || o->init_centres ? 1 : o->n_init;
	int64_t all;
	KDRI_TRY(kdri_part(ctx, kdr_mat_rows(x), NULL, &all));
	if (o->k < 1 || o->k > all || o->k >= INT32_MAX)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT, "k-means: k is %lld: 1 to %lld is allowed",
		                 (long long)o->k, (long long)all);
	const kdri_km_plan plan = { .k = o->k,
		                    .spherical = o->spherical,
		                    .algorithm = dev ? KDRI_KMEANS_LLOYD : o->algorithm,
		                    .groups = dev ? 1 : o->groups,
		                    .rows_of = o->rows_of,
		                    .tasks = o->tasks };
	KDRI_TRY(kdri_km_open(ctx, x, weights, &plan, &w));
	if (dev)
		KDRI_TRY(kdri_km_device_open(&w, dev, &carried));
	KDRI_TRY(kdri_rows_distinct(ctx, x, weights, w.k, &w.distinct));
	if (runs > 1) {
		KDRI_TRY(KDRI_NEW(ctx, &w.best_label, w.n));
		KDRI_TRY(KDRI_NEW(ctx, &w.best_centres, w.k * w.d));
	}
	for (int64_t i = 0; i < runs; i++) {
		if (carried)
			KDRI_TRY(kdri_km_device_run(&w, carried, o, i, runs, &now));
		else
			KDRI_TRY(one_run(&w, o, i, runs, &now));
		bool stop = now.stop == KDR_STOP_TIME || now.stop == KDR_STOP_CANCELLED;
		kdr_stop reason = now.stop;
		if (i == 0 || now.objective < best.objective) {
			run swap = best;
			best = now;
			now = swap;
			out.best_run = i;
			if (runs > 1) {
				memcpy(w.best_label, w.label, (size_t)w.n * sizeof *w.label);
				memcpy(w.best_centres, w.centres, (size_t)(w.k * w.d) * sizeof *w.centres);
			}
		}
		if (stop) {
			best.stop = reason;
			break;
		}
	}
	if (runs > 1) {
		memcpy(w.label, w.best_label, (size_t)w.n * sizeof *w.label);
		memcpy(w.centres, w.best_centres, (size_t)(w.k * w.d) * sizeof *w.centres);
		kdri_km_load_centres(&w);
	}
	KDRI_TRY(hand_over(&w, &best, &out));
	*result = out;
	out = (kdri_kmeans_result){ 0 };
done:
	kdri_free(ctx, best.trace);
	kdri_free(ctx, now.trace);
	kdri_kmeans_free(ctx, &out);
	kdri_km_device_close(&w, carried);
	kdri_km_close(&w);
	return st;
}

kdr_status kdri_kmeans(kdr_context *ctx, const kdr_mat *x, const double *weights,
                       const kdri_kmeans_options *o, kdri_kmeans_result *result)
{
	/* An iteration; most problems take dozens of them. Centres go and sums come back: of sparse rows these may be more. */
	double moved = x->kind == KDR_MAT_CSR ? 16.0 * (double)kdr_mat_cols(x) : 0;
	double flops = 40.0 * ((double)kdr_mat_nnz(x) - moved) * (double)o->k;
	kdri_device *dev = !kdri_together(ctx) && kdri_km_device_can(x, weights, o)
	                           ? kdri_device_take(ctx, flops)
	                           : NULL;
	if (dev) {
		kdr_status st = kmeans(ctx, dev, x, weights, o, result);
		kdri_device_leave(dev);
		if (!kdri_device_gave_up(ctx, st))
			return st;
	}
	return kmeans(ctx, NULL, x, weights, o, result);
}

/* Like the fit, measures from the mean where that is far away; but from the mean of the centres, so that
 * a sample's label never depends on the samples that come with it. */
static void shift_to_centres(kdri_km *w)
{
	double square = 0, spread = 0;
	memset(w->mean, 0, (size_t)w->d * sizeof *w->mean);
	for (int64_t j = 0; j < w->k; j++)
		for (int64_t f = 0; f < w->d; f++)
			w->mean[f] += w->centres[j * w->d + f] / (double)w->k;
	for (int64_t f = 0; f < w->d; f++)
		square += w->mean[f] * w->mean[f];
	for (int64_t j = 0; j < w->k; j++)
		for (int64_t f = 0; f < w->d; f++) {
			double e = w->centres[j * w->d + f] - w->mean[f];
			spread += e * e;
		}
	bool far = !w->spherical && (double)w->k * square > 16 * spread;
	w->shift = far ? w->mean : NULL;
	w->shift_norm = far ? square : 0;
}

kdr_status kdri_kmeans_assign(kdr_context *ctx, const kdr_mat *x, const double *centres, int64_t k,
                              bool spherical, int64_t *labels)
{
	kdr_status st;
	kdri_km w = { .ctx = ctx };
	const kdri_km_plan plan = {
		.k = k, .spherical = spherical, .algorithm = KDRI_KMEANS_LLOYD, .groups = 1
	};
	KDRI_TRY(kdri_km_open(ctx, x, NULL, &plan, &w));
	memcpy(w.centres, centres, (size_t)(k * w.d) * sizeof *centres);
	shift_to_centres(&w);
	memset(w.sums, 0, (size_t)(k * w.d) * sizeof *w.sums);
	memset(w.before, 0, (size_t)w.n * sizeof *w.before);
	kdri_km_load_centres(&w);
	kdri_km_assign(&w, true);
	for (int64_t i = 0; i < w.n; i++)
		labels[i] = w.label[i];
done:
	kdri_km_close(&w);
	return st;
}
