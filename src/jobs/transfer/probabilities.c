/* Class probabilities of any transfer method. SPDX-License-Identifier: BSD-3-Clause
 *
 * The samples of each class of each source are divided into FOLDS folds: of each FOLDS consecutive samples, each fold
 * gets one, in random order, so that ranks, which share the rows of a source, divide them as one process does. The
 * method is fitted FOLDS more times, each time on the sources without one fold, with that fold as the target. The
 * results for these samples, whose class was not used, calibrate (calibrate.c) the results for the targets. A class
 * keeps a sample in every fit.
 *
 * A probability of .8 is therefore right for four of five samples from the sources' own distribution. Held-out
 * samples of a source give no information about differences between target and sources (shift): if they differ, the
 * true proportions are usually lower. */
#include "comm/comm.h"
#include "jobs/job.h"
#include "jobs/say/say.h"
#include "jobs/transfer/calibrate.h"
#include "jobs/transfer/transfer.h"

enum { FOLDS = 3 };

typedef struct part {
	kdr_data *rest, *fold;
} part;

/* The folds of the samples of a class from number FOLDS * group on, in the order they were drawn in. */
static void shuffle(const kdr_context *ctx, int64_t source, int64_t class, int64_t group, int64_t *fold)
{
	kdri_rng rng = kdri_rng_stream(ctx->seed, "held-out", (uint64_t)source);
	rng = kdri_rng_stream(kdri_rng_u64(&rng), "class", (uint64_t) class);
	rng = kdri_rng_stream(kdri_rng_u64(&rng), "fold", (uint64_t)group);
	for (int64_t f = 0; f < FOLDS; f++)
		fold[f] = f;
	for (int64_t i = FOLDS - 1; i > 0; i--) {
		int64_t j = kdri_rng_below(&rng, i + 1), keep = fold[i];
		fold[i] = fold[j];
		fold[j] = keep;
	}
}

/* The fold of each row; -1: none. */
static kdr_status probabilities_deal(kdr_context *ctx, const kdr_data *d, int64_t classes, int64_t source,
                                     int64_t *fold)
{
	kdr_status st;
	int64_t *size = NULL, *next = NULL, *drawn = NULL, before = 0, all;
	KDRI_TRY(KDRI_NEW0(ctx, &size, classes));
	KDRI_TRY(KDRI_NEW(ctx, &next, classes));
	KDRI_TRY(KDRI_NEW(ctx, &drawn, FOLDS * classes));
	for (int64_t i = 0; i < d->rows; i++)
		if (d->labels[i] >= 0 && d->labels[i] < classes)
			size[d->labels[i]]++;
	KDRI_TRY(kdri_parts(ctx, size, classes, next, &all)); /* as if rows were sorted by class */
	KDRI_TRY(kdri_sum_int(ctx, size, classes));
	for (int64_t c = 0; c < classes; before += size[c++]) {
		next[c] -= before;
		shuffle(ctx, source, c, next[c] / FOLDS, drawn + FOLDS * c);
	}
	for (int64_t i = 0; i < d->rows; i++) {
		int64_t c = d->labels[i];
		fold[i] = -1;
		if (c < 0 || c >= classes || size[c] < 2)
			continue;
		if (next[c] % FOLDS == 0)
			shuffle(ctx, source, c, next[c] / FOLDS, drawn + FOLDS * c);
		fold[i] = drawn[FOLDS * c + next[c]++ % FOLDS];
	}
done:
	KDRI_FREE(ctx, size, next, drawn);
	return st;
}

/* The rows of a source in fold f, and the others. */
static kdr_status probabilities_split(kdr_context *ctx, const kdr_data *d, const int64_t *fold, int64_t f,
                                      part *out)
{
	kdr_status st;
	int64_t *in = NULL, *rest = NULL, nin = 0, nrest = 0;
	KDRI_TRY(KDRI_NEW(ctx, &in, d->rows));
	KDRI_TRY(KDRI_NEW(ctx, &rest, d->rows));
	for (int64_t i = 0; i < d->rows; i++)
		if (fold[i] == f)
			in[nin++] = i;
		else
			rest[nrest++] = i;
	KDRI_TRY(kdri_data_part(ctx, d, rest, nrest, &out->rest));
	bool any = nin > 0;
	KDRI_TRY(kdri_any(ctx, &any));
	if (any)
		KDRI_TRY(kdri_data_part(ctx, d, in, nin, &out->fold));
done:
	KDRI_FREE(ctx, in, rest);
	return st;
}

/* The results of the fit for the samples of one held-out fold. */
static void probabilities_collect(const kdr_result *r, int64_t task, const kdr_data *fold, kdri_held_out *h)
{
	kdr_scoring kind;
	kdr_array a = kdri_result_scoring(r, task, &kind);
	bool scored = a.data && a.shape[1] == h->classes;
	for (int64_t i = 0; i < fold->rows; i++) {
		kdri_calibrate_row(scored ? (const double *)a.data + i * h->classes : NULL, h->classes, kind,
		                   r->tasks[task].labels[i], h->s + h->n * h->classes);
		h->label[h->n] = r->tasks[task].labels[i];
		h->truth[h->n++] = fold->labels[i];
	}
}

/* Whether this rank or another is to stop. */
static kdr_status probabilities_stopped(kdr_context *ctx, bool *out)
{
	*out = ctx->cancelled || ctx->timed_out;
	return kdri_any(ctx, out);
}

static kdr_status fit_fold(kdr_context *ctx, kdri_job *job, const kdri_calibration *c, int64_t **folds,
                           int64_t f, kdri_held_out *h)
{
	kdr_status st;
	part *parts = NULL;
	kdr_task *tasks = NULL;
	kdr_data **data = NULL;
	kdr_result *result = NULL;
	int64_t count = 2 * c->nsources + c->nbridges, n = 0, first;
	KDRI_TRY(KDRI_NEW0(ctx, &parts, c->nsources));
	KDRI_TRY(KDRI_NEW0(ctx, &tasks, count));
	KDRI_TRY(KDRI_NEW(ctx, &data, count));
	for (int64_t s = 0; s < c->nsources; s++) {
		KDRI_TRY(probabilities_split(ctx, c->sources[s], folds[s], f, &parts[s]));
		data[n] = parts[s].rest;
		tasks[n++] = (kdr_task){ .role = KDR_ROLE_SOURCE, .labels = parts[s].rest->labels };
	}
	for (int64_t b = 0; b < c->nbridges; b++) {
		data[n] = c->bridges[b];
		tasks[n++] = (kdr_task){ .role = KDR_ROLE_BRIDGE };
	}
	first = n;
	for (int64_t s = 0; s < c->nsources; s++)
		if (parts[s].fold) {
			data[n] = parts[s].fold;
			tasks[n++] = (kdr_task){ .role = KDR_ROLE_TARGET };
		}
	for (int64_t t = 0; t < n; t++) {
		tasks[t].name = data[t]->name;
		tasks[t].x = kdr_data_mat(data[t]);
		tasks[t].k = c->classes;
	}
	const kdr_problem about = { .size = sizeof(kdr_problem),
		                    .ntasks = n,
		                    .classes = c->classes,
		                    .class_names = (const char *const *)c->sources[0]->classes };
	if (n > first)
		KDRI_TRY(kdri_job_fit(ctx, job, tasks, data, &about, NULL, &result));
	bool stop;
	KDRI_TRY(probabilities_stopped(ctx, &stop));
	for (int64_t t = first; t < n && !stop; t++)
		probabilities_collect(result, t, data[t], h);
done:
	kdr_result_free(result);
	for (int64_t s = 0; parts && s < c->nsources; s++) {
		kdr_data_free(parts[s].rest);
		kdr_data_free(parts[s].fold);
	}
	KDRI_FREE(ctx, parts, tasks, data);
	return st;
}

static kdr_status hold_out(kdr_context *ctx, kdri_job *job, const kdri_calibration *c, kdri_held_out *h)
{
	kdr_status st;
	int64_t **folds = NULL, rows = 0;
	bool stop;
	KDRI_TRY(KDRI_NEW0(ctx, &folds, c->nsources));
	for (int64_t s = 0; s < c->nsources; s++) {
		KDRI_TRY(KDRI_NEW(ctx, &folds[s], c->sources[s]->rows));
		KDRI_TRY(probabilities_deal(ctx, c->sources[s], c->classes, s, folds[s]));
		rows += c->sources[s]->rows;
	}
	KDRI_TRY(KDRI_NEW(ctx, &h->s, rows * c->classes));
	KDRI_TRY(KDRI_NEW(ctx, &h->label, rows));
	KDRI_TRY(KDRI_NEW(ctx, &h->truth, rows));
	KDRI_TRY(probabilities_stopped(ctx, &stop));
	for (int64_t f = 0; f < FOLDS && !stop; f++) {
		KDRI_TRY(fit_fold(ctx, job, c, folds, f, h));
		KDRI_TRY(probabilities_stopped(ctx, &stop));
	}
done:
	for (int64_t s = 0; folds && s < c->nsources; s++)
		kdri_free(ctx, folds[s]);
	kdri_free(ctx, folds);
	return st;
}

/* The probabilities of one target. */
static kdr_status probabilities_put(kdr_context *ctx, const kdri_calibration *c, kdr_result *r, int64_t task,
                                    const int64_t *known)
{
	kdr_status st;
	kdri_task_result *t = &r->tasks[task];
	kdr_scoring kind;
	kdr_array a = kdri_result_scoring(r, task, &kind);
	bool scored = a.data && a.shape[1] == c->classes;
	double *s = NULL, *sure = NULL;
	int64_t size;
	KDRI_TRY(kdri_mul(ctx, t->n, c->classes, &size));
	KDRI_TRY(KDRI_NEW(ctx, &s, c->classes));
	KDRI_TRY(KDRI_NEW(ctx, &sure, t->n));
	KDRI_TRY(KDRI_NEW0(ctx, &t->probabilities, size));
	for (int64_t i = 0; i < t->n; i++) {
		double *p = t->probabilities + i * c->classes;
		if (known && known[i] >= 0) {
			p[known[i]] = 1;
		} else {
			kdri_calibrate_row(scored ? (const double *)a.data + i * c->classes : NULL,
			                   c->classes, kind, t->labels[i], s);
			kdri_calibrated(s, c->classes, t->labels[i], r->calibration.temperature,
			                r->calibration.label, p);
		}
		sure[i] = 0;
		for (int64_t k = 0; k < c->classes;
		     k++) /* of the label; of the best class if it was withheld */
			sure[i] = k == t->labels[i] || t->labels[i] < 0 ? KDRI_MAX(sure[i], p[k]) : sure[i];
	}
	/* One number for how sure a label is, not two. */
	kdri_free(ctx, t->confidence);
	t->confidence = sure;
	t->confidence_from = "probability";
	sure = NULL;
done:
	KDRI_FREE(ctx, s, sure);
	return st;
}

kdr_status kdri_job_probabilities(kdr_context *ctx, kdri_job *job, const kdri_calibration *c, int64_t first,
                                  const int64_t *known, kdr_result *r)
{
	kdr_status st;
	kdri_held_out h = { .classes = c->classes };
	int64_t right = 0, all;
	kdr_calibration *out = &r->calibration;
	*out = (kdr_calibration){ .temperature = 1, .accuracy = NAN, .log_loss = NAN };
	st = hold_out(ctx, job, c, &h);
	if (st == KDR_ERR_MEMORY ||
	    (st != KDR_OK && kdri_together(ctx))) /* ranks that failed go no further together */
		goto done;
	all = h.n;
	if (st == KDR_OK)
		KDRI_TRY(kdri_sum_int(ctx, &all, 1));
	if (st != KDR_OK || all == 0) {
		KDRI_TRY(kdri_result_warn(ctx, r, "probabilities are not calibrated: %s",
		                          st != KDR_OK ? kdr_context_error(ctx)
		                                       : "no time was left, or no sample could be held out"));
		all = 0;
	} else {
		KDRI_TRY(kdri_calibrate(ctx, &h, &out->temperature, &out->label, &out->log_loss));
		for (int64_t i = 0; i < h.n; i++)
			right += h.label[i] == h.truth[i];
		KDRI_TRY(kdri_sum_int(ctx, &right, 1));
		out->accuracy = (double)right / (double)all;
	}
	out->held_out = all;
	r->calibrated = true;
	for (int64_t t = first; t < r->ntasks; t++)
		KDRI_TRY(probabilities_put(ctx, c, r, t, t == first ? known : NULL));
done:
	KDRI_FREE(ctx, h.s, h.label, h.truth);
	return st;
}
