/* Runs of k-means, and the best of them. SPDX-License-Identifier: BSD-3-Clause
 *
 * One iteration assigns every sample to its nearest centre, gives empty clusters a sample, and moves the centres to the
 * means. It has converged when no label changes.
 *
 * If rows are on several ranks, several problems (tasks) run in step and share their exchanges, so that ranks wait for
 * each other as often as for one problem. Problems are independent of each other: each has the same result as alone. */
#include "core/side_by_side.h"
#include "engine/kmeans/kmeans_work.h"
#include "matrix/device_use.h"

typedef struct run {
	double start, objective;
	double *trace;
	int64_t length, room;
	kdr_stop stop;
} run;

/* Multiply-adds in an assignment of all starts below which threads cost more than they bring. */
static const double worth_a_team = 4e6;

kdri_kmeans_options kdri_kmeans_defaults(int64_t k)
{
	return (kdri_kmeans_options){ .k = k, .n_init = 10, .max_iter = 300, .tol = 1e-6, .stage = "kmeans" };
}

void kdri_kmeans_free(kdr_context *ctx, kdri_kmeans_result *r)
{
	KDRI_FREE(ctx, r->labels, r->centres, r->trace);
	*r = (kdri_kmeans_result){ 0 };
}

/* One more value of the trace. */
static kdr_status kmeans_run_record(kdri_km *w, run *r, double value)
{
	if (r->length == r->room) {
		int64_t room = r->room ? 2 * r->room : 32;
		KDRI_DO(KDRI_GROW(w->ctx, &r->trace, room));
		r->room = room;
	}
	/* (E5) of lloyd.c is exact to rounding of the total; a rise within that is none. */
	double last = r->length ? r->trace[r->length - 1] : INFINITY;
	r->objective = r->trace[r->length++] = KDRI_MIN(value, last);
	return KDR_OK;
}

/* Counts of the rows here, and sums on the processor; then those of all ranks. */
static kdr_status kmeans_run_tally(kdri_km *w, bool all)
{
	if (w->on_device)
		return kdri_km_device_count(w);
	kdri_km_tally(w, all);
	return KDR_OK;
}

/* Clusters without samples get one; the sums follow. */
static kdr_status kmeans_run_fill_empty(kdri_km *w)
{
	int64_t filled = 0, empty = 0;
	for (int64_t j = 0; j < w->k; j++)
		empty += !w->filled[j];
	if (empty > 0 && w->on_device)
		KDRI_DO(kdri_km_device_fetch(w, true));
	if (empty > 0)
		KDRI_DO(kdri_km_fill_empty(w, &filled));
	if (filled > 0) {
		if (w->on_device)
			KDRI_DO(kdri_km_device_send(w));
		KDRI_DO(kmeans_run_tally(w, true));
		KDRI_DO(kdri_km_join(&w, 1));
	}
	return KDR_OK;
}

/* Start from labels: their means are the first centres. */
static kdr_status start_from_labels(kdri_km *w, const int64_t *labels)
{
	for (int64_t i = 0; i < w->n; i++) {
		w->label[i] = w->before[i] = (int32_t)labels[i];
		w->upper[i] = INFINITY;
	}
	memset(w->moved, 0, (size_t)kdri_km_blocks(w) * sizeof *w->moved);
	kdri_km_tally(w, true);
	KDRI_DO(kdri_km_join(&w, 1));
	kdri_km_from_sums(w);
	KDRI_DO(kmeans_run_fill_empty(w));
	if (w->changed > 0) {
		kdri_km_from_sums(w);
		kdri_km_settle(w);
	}
	kdri_km_group(w);
	return KDR_OK;
}

/* Start from centres that are given. */
static void start_from_centres(kdri_km *w, const double *centres)
{
	memcpy(w->centres, centres, (size_t)(w->k * w->d) * sizeof *w->centres);
	for (int64_t j = 0; j < w->k && w->spherical; j++) {
		double *c = w->centres + j * w->d, sum = 0;
		for (int64_t f = 0; f < w->d; f++)
			sum += c[f] * c[f];
		for (int64_t f = 0; f < w->d && sum > 0; f++)
			c[f] /= sqrt(sum);
	}
}

static kdri_rng start_stream(const kdri_km *w, const kdri_kmeans_options *o, int64_t index)
{
	return kdri_rng_stream(w->ctx->seed, "kmeans", (o->stream << 20) + (uint64_t)index);
}

/* The centres of run `index`. Those of a batch of runs, whose first is a multiple of w->batch, are found together. */
static kdr_status seed_batch(kdri_km *w, const kdri_kmeans_options *o, int64_t index)
{
	kdri_km_seed seeds[KDRI_KM_STARTS];
	const int64_t first = index - index % w->batch, count = KDRI_MIN(w->batch, o->n_init - first),
	              size = w->k * w->d;
	if (w->seeded != first) {
		for (int64_t i = 0; i < count; i++)
			seeds[i] = (kdri_km_seed){ w, start_stream(w, o, first + i), w->seeds + i * size };
		KDRI_DO(kdri_km_plusplus(seeds, count));
		w->seeded = first;
	}
	memcpy(w->centres, w->seeds + (index - first) * size, (size_t)size * sizeof *w->centres);
	return KDR_OK;
}

/* Sets w->centres to the start of run `index`, or from labels; for several problems in step. */
static kdr_status kmeans_run_start(kdri_km *const *w, const kdri_kmeans_options *const *o, int64_t count,
                                   int64_t index)
{
	kdr_status st;
	kdri_km_seed *spread = NULL;
	int64_t many = 0;
	KDRI_TRY(KDRI_NEW(w[0]->ctx, &spread, count));
	for (int64_t p = 0; p < count; p++) {
		kdri_rng rng = start_stream(w[p], o[p], index);
		if (o[p]->init_labels)
			KDRI_TRY(start_from_labels(w[p], o[p]->init_labels));
		else if (o[p]->init_centres)
			start_from_centres(w[p], o[p]->init_centres);
		else if (o[p]->start == KDRI_START_RANDOM)
			KDRI_TRY(kdri_km_random(w[p], &rng, w[p]->centres));
		else if (w[p]->batch > 1)
			KDRI_TRY(seed_batch(w[p], o[p], index));
		else
			spread[many++] = (kdri_km_seed){ w[p], rng, w[p]->centres };
	}
	if (many > 0)
		KDRI_TRY(kdri_km_plusplus(spread, many));
	for (int64_t p = 0; p < count; p++) {
		if (o[p]->init_labels)
			continue;
		memset(w[p]->sums, 0, (size_t)(w[p]->k * w[p]->d) * sizeof *w[p]->sums);
		kdri_km_load_centres(w[p]);
		kdri_km_group(w[p]);
		for (int64_t i = 0; i < w[p]->n; i++)
			w[p]->before[i] = -1;
	}
done:
	kdri_free(w[0]->ctx, spread);
	return st;
}

/* --- runs ----------------------------------------------------------------------------------- */

/* A problem, its run and the best so far. */
typedef struct part {
	kdri_km w;
	const kdri_kmeans_options *o;
	int64_t runs;
	run best, now;
	bool kept;         /* a run has ended, so a best one exists */
	bool first, fresh; /* no labels yet; no bounds yet */
	bool going;        /* the run */
	kdri_kmeans_result out;
	struct kdri_km_device *on_device; /* in w while it runs; starts are found here */
} part;

static void kmeans_run_begin(part *p)
{
	p->first = !p->o->init_labels;
	p->fresh = true;
	p->now.length = 0;
	p->now.stop = KDR_STOP_MAX_ITER;
	if (!p->first)
		p->now.start = p->now.objective = kdri_km_objective(&p->w);
	p->going = p->o->max_iter > 0 || p->first;
}

/* The rest of an iteration once counts and sums are those of all ranks. */
static kdr_status kmeans_run_finish(part *p, int64_t index)
{
	kdri_km *w = &p->w;
	run *r = &p->now;
	const kdri_kmeans_options *o = p->o;
	p->going = false;
	if (p->first) {
		for (int64_t i = 0; i < w->n && !w->on_device; i++)
			w->distance[i] = w->upper[i] * w->upper[i];
		KDRI_DO(kdri_km_total(w, w->distance, &r->start));
		r->objective = r->start;
		if (o->max_iter == 0)
			return KDR_OK;
	}
	KDRI_DO(kmeans_run_fill_empty(w));
	if (!w->changed) {
		KDRI_DO(kmeans_run_record(w, r, kdri_km_objective(w)));
		r->stop = KDR_STOP_CONVERGED;
		return KDR_OK;
	}
	if (w->on_device)
		KDRI_DO(kdri_km_device_sums(w, p->first || 4 * w->changed > w->n));
	kdri_km_from_sums(w);
	if (!w->on_device)
		kdri_km_settle(w);
	p->first = p->fresh = false;
	double last = r->objective;
	KDRI_DO(kmeans_run_record(w, r, kdri_km_objective(w)));
	if (o->stage && kdri_iteration_met(w->ctx, o->stage, index * o->max_iter + r->length,
	                                   p->runs * o->max_iter, r->objective))
		r->stop = kdri_stop_reason(w->ctx);
	else if (o->tol > 0 && last - r->objective <= o->tol * last)
		r->stop = KDR_STOP_CONVERGED;
	else
		p->going = r->length < o->max_iter;
	return KDR_OK;
}

/* Run `index` of the problems that have at least this many runs. `list` and `options`: space for one entry per
 * problem. */
static kdr_status one_run(part *parts, int64_t count, int64_t index, kdri_km **list,
                          const kdri_kmeans_options **options)
{
	int64_t many = 0;
	for (int64_t p = 0; p < count; p++) {
		parts[p].going = index < parts[p].runs;
		if (!parts[p].going)
			continue;
		options[many] = parts[p].o;
		parts[p].w.on_device = NULL;
		list[many++] = &parts[p].w;
	}
	KDRI_DO(kmeans_run_start(list, options, many, index));
	for (int64_t p = 0; p < count; p++)
		if (parts[p].going) {
			kmeans_run_begin(&parts[p]);
			parts[p].w.on_device = parts[p].on_device;
			if (parts[p].on_device)
				KDRI_DO(kdri_km_device_begin(&parts[p].w, !parts[p].first));
		}
	for (;;) {
		many = 0;
		for (int64_t p = 0; p < count; p++)
			if (parts[p].going) {
				kdri_km *w = &parts[p].w;
				if (w->on_device)
					KDRI_DO(kdri_km_device_assign(w, parts[p].first));
				else
					kdri_km_assign(w, parts[p].fresh);
				KDRI_DO(kmeans_run_tally(w, parts[p].first));
				list[many++] = w;
			}
		if (many == 0)
			break;
		KDRI_DO(kdri_km_join(list, many));
		for (int64_t p = 0; p < count; p++)
			if (parts[p].going)
				KDRI_DO(kmeans_run_finish(&parts[p], index));
	}
	for (int64_t p = 0; p < count; p++)
		if (parts[p].w.on_device && index < parts[p].runs)
			KDRI_DO(kdri_km_device_fetch(&parts[p].w, false));
	return KDR_OK;
}

/* The run that has ended, if it is the best so far. */
static void kmeans_run_keep(part *p, int64_t index)
{
	kdri_km *w = &p->w;
	const kdr_stop reason = p->now.stop;
	if (!p->kept || p->now.objective < p->best.objective) {
		run swap = p->best;
		p->best = p->now;
		p->now = swap;
		p->out.best_run = index;
		p->kept = true;
		if (p->runs > 1) {
			memcpy(w->best_label, w->label, (size_t)w->n * sizeof *w->label);
			memcpy(w->best_centres, w->centres, (size_t)(w->k * w->d) * sizeof *w->centres);
		}
	}
	if (reason == KDR_STOP_TIME || reason == KDR_STOP_CANCELLED) {
		p->best.stop = reason;
		p->runs = index + 1;
	}
}

static void back_to_best(kdri_km *w)
{
	memcpy(w->label, w->best_label, (size_t)w->n * sizeof *w->label);
	memcpy(w->centres, w->best_centres, (size_t)(w->k * w->d) * sizeof *w->centres);
	kdri_km_load_centres(w);
}

/* The run's labels, centres and trace become the result's; the objective is summed from distances. */
static kdr_status kmeans_run_hand_over(kdri_km *w, run *r, kdri_kmeans_result *out)
{
	KDRI_DO(KDRI_NEW(w->ctx, &out->labels, w->n));
	for (int64_t i = 0; i < w->n; i++)
		out->labels[i] = w->label[i];
	kdri_km_distances(w, w->distance);
	KDRI_DO(kdri_km_total(w, w->distance, &out->objective));
	/* This is the last value. Earlier ones, from (E5) of lloyd.c, are adjusted to it if they differ by
	 * rounding. */
	if (r->length)
		r->trace[r->length - 1] = out->objective;
	for (int64_t i = r->length - 2; i >= 0; i--)
		r->trace[i] = KDRI_MAX(r->trace[i], r->trace[i + 1]);
	out->objective_start = r->length ? KDRI_MAX(r->start, r->trace[0]) : out->objective;
	out->iterations = r->length;
	out->stop = r->stop;
	out->distinct = w->distinct;
	KDRI_DO(kdri_km_count(w));
	for (int64_t j = 0; j < w->k; j++)
		out->nonempty += w->filled[j] > 0;
	out->centres = w->centres;
	w->centres = NULL;
	out->trace = r->trace;
	r->trace = NULL;
	return KDR_OK;
}

static kdr_status open_part(kdr_context *ctx, kdri_device *dev, const kdri_kmeans_problem *given,
                            int64_t batch, part *p)
{
	const kdri_kmeans_options *o = &given->o;
	const bool device = !kdri_is_cpu(dev);
	int64_t all;
	*p = (part){ .w.ctx = ctx, .o = o, .runs = o->init_labels || o->init_centres ? 1 : o->n_init };
	KDRI_DO(kdri_part(ctx, kdr_mat_rows(given->x), NULL, &all));
	if (o->k < 1 || o->k > all || o->k >= INT32_MAX)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT, "k-means: k is %lld, but 1 to %lld is allowed",
		                 (long long)o->k, (long long)all);
	const kdri_km_plan plan = { .k = o->k,
		                    .spherical = o->spherical,
		                    .algorithm = device ? KDRI_KMEANS_LLOYD : o->algorithm,
		                    .groups = device ? 1 : o->groups,
		                    .rows_of = o->rows_of,
		                    .tasks = o->tasks };
	KDRI_DO(kdri_km_open(ctx, given->x, given->weights, &plan, &p->w));
	KDRI_DO(kdri_rows_distinct(ctx, given->x, given->weights, p->w.k, &p->w.distinct));
	if (p->runs > 1) {
		p->w.seeded = -1;
		p->w.batch = batch;
		KDRI_DO(KDRI_NEW(ctx, &p->w.best_label, p->w.n));
		KDRI_DO(KDRI_NEW(ctx, &p->w.best_centres, p->w.k * p->w.d));
		KDRI_DO(KDRI_NEW(ctx, &p->w.seeds, p->w.batch * p->w.k * p->w.d));
	}
	if (device)
		KDRI_DO(kdri_km_device_open(&p->w, dev));
	p->on_device = p->w.on_device;
	return KDR_OK;
}

static void close_part(kdr_context *ctx, part *p)
{
	KDRI_FREE(ctx, p->best.trace, p->now.trace);
	kdri_kmeans_free(ctx, &p->out);
	if (!p->w.ctx)
		return;
	p->w.on_device = p->on_device ? p->on_device : p->w.on_device;
	kdri_km_device_close(&p->w);
	kdri_km_close(&p->w);
}

static bool is_interrupted(const part *p)
{
	return p->kept && (p->best.stop == KDR_STOP_TIME || p->best.stop == KDR_STOP_CANCELLED);
}

/* --- starts side by side ------------------------------------------------------------------------ */

typedef struct start_jobs {
	const kdri_kmeans_problem *problem;
	int64_t batch;
	part *parts; /* one per worker */
} start_jobs;

/* The runs of a batch. */
static kdr_status run_starts(kdr_context *ctx, void *user, int64_t job, int worker)
{
	const start_jobs *s = user;
	part *p = &s->parts[worker];
	kdri_km *list;
	const kdri_kmeans_options *options;
	const int64_t first = job * s->batch, end = KDRI_MIN(first + s->batch, s->problem->o.n_init);
	if (!p->w.ctx)
		KDRI_DO(open_part(ctx, &kdri_cpu, s->problem, s->batch, p));
	for (int64_t index = first; index < end && !is_interrupted(p); index++) {
		KDRI_DO(one_run(p, 1, index, &list, &options));
		kmeans_run_keep(p, index);
	}
	return KDR_OK;
}

/* The best run of all workers, the first of equal ones, as if one worker had run them in their order. */
static part *best_part(part *parts, int workers)
{
	part *best = NULL;
	kdr_stop stop = KDR_STOP_CONVERGED;
	for (int i = 0; i < workers; i++) {
		part *p = &parts[i];
		if (is_interrupted(p))
			stop = p->best.stop;
		if (p->kept &&
		    (!best || p->best.objective < best->best.objective ||
		     (p->best.objective == best->best.objective && p->out.best_run < best->out.best_run)))
			best = p;
	}
	if (best && stop != KDR_STOP_CONVERGED)
		best->best.stop = stop;
	return best;
}

/* Starts whose candidates share a pass: their distances to all rows are at most half as many numbers as the rows have, and
 * there are at least half as many batches as threads. Rows that are on disk leave no memory for several. */
static int64_t batch_for(const kdr_context *ctx, const kdri_kmeans_problem *p)
{
	const kdr_mat *x = p->x;
	if (kdri_together(ctx)) /* a rank may have no rows */
		return 1;
	const bool on_disk = kdri_spooled(x->kind == KDR_MAT_DENSE ? x->as.dense.data : x->as.csr.val);
	const double columns = 2 + (double)kdri_km_trials(p->o.k),
	             fit = on_disk ? 1 : (double)kdr_mat_nnz(x) / (2 * columns * (double)kdr_mat_rows(x));
	const int64_t starts = p->o.n_init, most = KDRI_MIN(KDRI_MIN(starts, KDRI_KM_STARTS), (int64_t)fit);
	return KDRI_MAX(1, KDRI_MIN(most, 2 * starts / kdri_team(ctx)));
}

static kdr_status kmeans_side_by_side(kdr_context *ctx, const kdri_kmeans_problem *problem, int workers,
                                      kdri_kmeans_result *result)
{
	kdr_status st;
	start_jobs s = { .problem = problem, .batch = batch_for(ctx, problem) };
	const int64_t batches = (problem->o.n_init + s.batch - 1) / s.batch;
	KDRI_TRY(KDRI_NEW0(ctx, &s.parts, workers));
	st = kdri_side_by_side(ctx, &(kdri_side){ .count = batches,
	                                          .workers = workers,
	                                          .run = run_starts,
	                                          .user = &s,
	                                          .stage = problem->o.stage,
	                                          .total = batches,
	                                          .steps = s.batch * problem->o.max_iter });
	for (int i = 0; i < workers; i++)
		if (s.parts[i].w.ctx) /* the worker's own context has gone */
			s.parts[i].w.ctx = ctx;
	KDRI_TRY(st);
	part *best = best_part(s.parts, workers);
	back_to_best(&best->w);
	KDRI_TRY(kmeans_run_hand_over(&best->w, &best->best, &best->out));
	*result = best->out;
	best->out = (kdri_kmeans_result){ 0 };
done:
	for (int i = 0; s.parts && i < workers; i++)
		close_part(ctx, &s.parts[i]);
	kdri_free(ctx, s.parts);
	return st;
}

/* Threads work on different starts if these are long enough; how many do is limited by the memory that they take. */
static int workers_for(const kdr_context *ctx, const kdri_kmeans_problem *p)
{
	const kdri_kmeans_options *o = &p->o;
	const bool random = !o->init_labels && !o->init_centres && o->max_iter > 0;
	const double work = (double)kdr_mat_nnz(p->x) * (double)o->k * (double)o->n_init;
	if (!random || o->n_init < 2 || work < worth_a_team || kdri_together(ctx))
		return 1;
	const double n = (double)kdr_mat_rows(p->x), d = (double)kdr_mat_cols(p->x);
	const int64_t batch = batch_for(ctx, p);
	/* The candidates of a start: their distances to all rows, and the centres. */
	const double candidates = 8 * (8 * n + (double)o->k * d);
	return kdri_workers(ctx, (o->n_init + batch - 1) / batch,
	                    kdri_kmeans_run_bytes(p->x, o->k) + (double)batch * candidates,
	                    8 * (double)kdr_mat_nnz(p->x));
}

/* Problems in step; an accelerator takes one problem. */
static kdr_status kmeans(kdr_context *ctx, kdri_device *dev, const kdri_kmeans_problem *problems,
                         int64_t count, kdri_kmeans_result *results)
{
	kdr_status st;
	part *parts = NULL;
	kdri_km **list = NULL;
	const kdri_kmeans_options **options = NULL;
	const int workers = count == 1 && kdri_is_cpu(dev) ? workers_for(ctx, &problems[0]) : 1;
	if (workers > 1)
		return kmeans_side_by_side(ctx, &problems[0], workers, results);
	KDRI_TRY(KDRI_NEW0(ctx, &parts, count));
	KDRI_TRY(KDRI_NEW(ctx, &list, count));
	KDRI_TRY(KDRI_NEW(ctx, &options, count));
	for (int64_t p = 0; p < count; p++)
		KDRI_TRY(open_part(ctx, dev, &problems[p], batch_for(ctx, &problems[p]), &parts[p]));
	for (int64_t i = 0, more = 1; more; i++) {
		KDRI_TRY(one_run(parts, count, i, list, options));
		more = 0;
		for (int64_t p = 0; p < count; p++) {
			if (i < parts[p].runs)
				kmeans_run_keep(&parts[p], i);
			more |= i + 1 < parts[p].runs;
		}
	}
	for (int64_t p = 0; p < count; p++) {
		if (parts[p].w.best_label)
			back_to_best(&parts[p].w);
		KDRI_TRY(kmeans_run_hand_over(&parts[p].w, &parts[p].best, &parts[p].out));
	}
	for (int64_t p = 0; p < count; p++) {
		results[p] = parts[p].out;
		parts[p].out = (kdri_kmeans_result){ 0 };
	}
done:
	for (int64_t p = 0; parts && p < count; p++)
		close_part(ctx, &parts[p]);
	KDRI_FREE(ctx, parts, list, options);
	return st;
}

/* A single problem, on an accelerator if it is large enough to benefit. */
static kdr_status alone(kdr_context *ctx, const kdri_kmeans_problem *p, kdri_kmeans_result *result)
{
	/* The cost of 20 iterations of every start; most take more. Centres are sent and sums are received, which for
	 * sparse rows may be more than the rows. */
	double moved = p->x->kind == KDR_MAT_CSR ? 16.0 * (double)kdr_mat_cols(p->x) : 0;
	double flops = 40.0 * ((double)kdr_mat_nnz(p->x) - moved) * (double)p->o.k *
	               (double)(p->o.init_labels || p->o.init_centres ? 1 : KDRI_MAX(p->o.n_init, 1));
	const bool can = !kdri_together(ctx) && kdri_km_device_can(p->x, p->weights, &p->o);
	kdri_device *dev = can ? kdri_device_take(ctx, flops) : &kdri_cpu;
	if (!dev)
		return KDR_ERR_UNSUPPORTED;
	const kdr_status st = kmeans(ctx, dev, p, 1, result);
	kdri_device_leave(dev);
	return kdri_device_gave_up(ctx, st) ? kmeans(ctx, &kdri_cpu, p, 1, result) : st;
}

kdr_status kdri_kmeans(kdr_context *ctx, const kdr_mat *x, const double *weights,
                       const kdri_kmeans_options *o, kdri_kmeans_result *result)
{
	return alone(ctx, &(kdri_kmeans_problem){ .x = x, .weights = weights, .o = *o }, result);
}

kdr_status kdri_kmeans_each(kdr_context *ctx, const kdri_kmeans_problem *problems, int64_t count,
                            kdri_kmeans_result *results)
{
	kdr_status st = KDR_OK;
	int64_t done = 0;
	if (kdri_several(ctx))
		return kmeans(ctx, &kdri_cpu, problems, count, results);
	for (; done < count; done++)
		KDRI_TRY(alone(ctx, &problems[done], &results[done]));
done:
	for (int64_t p = 0; st != KDR_OK && p < done; p++)
		kdri_kmeans_free(ctx, &results[p]);
	return st;
}

/* Like the fit, this subtracts the mean if it is far from the origin. It uses the mean of the centres, so that a
 * sample's label never depends on the other samples in the call. */
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

double kdri_kmeans_run_bytes(const kdr_mat *x, int64_t k)
{
	const double each_row = 24, each_centre = 8; /* numbers; a centre has one for each column */
	return 8 * (each_row * (double)kdr_mat_rows(x) + each_centre * (double)k * (double)kdr_mat_cols(x));
}
