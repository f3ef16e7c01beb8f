/* kdr_transfer: labels targets with the classes of sources. SPDX-License-Identifier: BSD-3-Clause
 *
 * Sets are kept in one list: sources, bridges, their second views, targets. A method that uses one bridge gets the
 * best of several: all bridges are candidates. With a selector they are ranked before any is fitted; otherwise all
 * are fitted, and the one through which most of the sources' classes are recovered is the best (bridge_recovery.c). */
#include "jobs/transfer/transfer.h"
#include "comm/comm.h"
#include "jobs/content.h"
#include "jobs/known.h"
#include "jobs/model/into.h"
#include "jobs/model/model.h"
#include "jobs/relate/relate.h"
#include "jobs/say/say.h"

typedef struct transfer {
	const kdr_transfer_sets *sets;
	const kdr_job_options *o;
	kdri_job job;
	kdr_data **given[2];     /* sources and targets: own lists */
	kdri_content content[2]; /* of both; of sources only if they are not those of a model */
	kdr_data **kept;         /* of the model that targets are added to, its samples; or NULL */
	kdr_data **all;
	int64_t count, target; /* where the targets begin */
	int64_t classes;       /* of the sources */
	int64_t *known;        /* of the first target, or NULL */
	int64_t candidates;    /* bridges to choose from; 0: no choice */
	kdri_bridge_score *scores;
	double *accuracy;
	int64_t chosen;
} transfer;

static void transfer_release(kdr_context *ctx, transfer *t)
{
	kdri_job_close(&t->job);
	for (int i = 0; i < 2; i++) {
		kdri_content_free(ctx, &t->content[i]);
		kdri_free(ctx, t->given[i]);
	}
	for (int64_t i = 0; t->kept && i < kdr_model_ntasks(t->o->into); i++)
		kdr_data_free(t->kept[i]);
	KDRI_FREE(ctx, t->kept, t->all, t->known, t->scores, t->accuracy);
}

static kdr_status transfer_collect(kdr_context *ctx, transfer *t)
{
	const kdr_transfer_sets *s = t->sets;
	const struct {
		kdr_data *const *list;
		int64_t count;
	} parts[] = {
		{ s->sources, s->nsources },
		{ s->bridges, s->nbridges },
		{ s->views, s->views ? s->nbridges : 0 },
		{ s->targets, s->ntargets },
	};
	bool one = t->job.algo->flags & KDR_ALGO_BRIDGE;
	if (!s->sources || s->nsources < 1 || !s->targets || s->ntargets < 1)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT, "a transfer needs a source and a target");
	for (int p = 0; p < 4; p++)
		KDRI_DO(kdri_check_sets(ctx, "transfer", parts[p].count > 0 ? parts[p].list : s->sources,
		                        parts[p].count, 0));
	if (s->views && !one && !(t->job.algo->flags & KDR_ALGO_BRIDGES))
		return kdri_fail(
		        ctx, KDR_ERR_UNSUPPORTED,
		        "method '%s' does not use two views of a bridge; give one data set per bridge",
		        t->job.algo->id);
	t->target = s->nsources + s->nbridges * (s->views ? 2 : 1);
	KDRI_DO(KDRI_NEW(ctx, &t->all, t->target + s->ntargets));
	for (int p = 0; p < 4; p++)
		for (int64_t i = 0; i < parts[p].count; i++)
			t->all[t->count++] = parts[p].list[i];
	t->candidates = one && s->nbridges > 1 ? s->nbridges : 0;
	return KDR_OK;
}

/* --- classes -------------------------------------------------------------------------------------- */

static bool has_class(const kdr_data *d, int64_t c)
{
	for (int64_t i = 0; i < d->rows; i++)
		if (d->labels[i] == c)
			return true;
	return false;
}

/* A class without rows can neither be learnt nor predicted. */
static kdr_status transfer_check_classes(kdr_context *ctx, const transfer *t)
{
	const kdr_data *first = t->all[0];
	if (t->classes < 2)
		return kdri_fail(ctx, KDR_ERR_DATA, "the sources have %lld class%s; at least two are needed",
		                 (long long)t->classes, t->classes == 1 ? "" : "es");
	for (int64_t c = 0; (t->job.algo->flags & KDR_ALGO_BRIDGE) && c < t->classes; c++) {
		bool found = false;
		for (int64_t i = 0; i < t->sets->nsources && !found; i++)
			found = has_class(t->all[i], c);
		KDRI_DO(kdri_any(ctx, &found));
		if (!found)
			return kdri_fail(
			        ctx, KDR_ERR_DATA,
			        "no source sample has the class '%s', which the labels name; remove this class, or use other sources",
			        first->classes[c]);
	}
	return KDR_OK;
}

/* The first target as it was given, with all its rows. */
static kdr_data *first_target(const transfer *t)
{
	return t->content[1].count > 0 ? t->content[1].sets[0].given : t->all[t->target];
}

static kdr_status take_known(kdr_context *ctx, transfer *t, const kdr_labels *known)
{
	kdr_status st = KDR_OK;
	const kdr_data *target = first_target(t), *source = t->all[0];
	int64_t *map = NULL;
	const int64_t *row = NULL;
	KDRI_TRY(kdri_known_rows(ctx, known, target, &row));
	KDRI_TRY(KDRI_NEW(ctx, &map, known->count));
	for (int64_t c = 0; c < known->count; c++) {
		int64_t to = 0;
		while (to < t->classes && strcmp(known->names[c], source->classes[to]) != 0)
			to++;
		if (to == t->classes && strcmp(known->names[c], "?") != 0)
			KDRI_FAIL(
			        ctx, KDR_ERR_DATA,
			        "known classes of %s: no source has the class '%s'; use a class of the sources, or '?'",
			        target->name, known->names[c]);
		map[c] = to < t->classes ? to : -1;
	}
	KDRI_TRY(KDRI_NEW(ctx, &t->known, target->rows));
	for (int64_t i = 0; i < target->rows; i++)
		t->known[i] = map[known->values[row ? row[i] : i]];
	kdri_content_ints(&t->content[1], 0, t->known);
done:
	kdri_free(ctx, map);
	return st;
}

/* One list of classes: those of the sources in the order of their samples, then what only targets have. */
static kdr_status take_classes(kdr_context *ctx, transfer *t)
{
	kdr_status st = KDR_OK;
	kdr_data *given = first_target(t);
	kdr_data **labelled = NULL;
	kdr_labels *read = NULL;
	int64_t n = 0;
	KDRI_TRY(KDRI_NEW(ctx, &labelled, t->count));
	for (int64_t i = 0; i < t->sets->nsources; i++) {
		if (!t->all[i]->labels)
			KDRI_FAIL(ctx, KDR_ERR_DATA,
			          "%s has no classes; give them with --labels or --label-column",
			          t->all[i]->path[0] ? t->all[i]->path : t->all[i]->name);
		labelled[n++] = t->all[i];
	}
	KDRI_TRY(kdr_data_merge_classes(ctx, labelled, n));
	t->classes = t->all[0]->nclasses;
	for (int64_t i = t->target; i < t->count; i++)
		if (t->all[i]->labels)
			labelled[n++] = t->all[i];
	KDRI_TRY(kdr_data_merge_classes(ctx, labelled, n));
	KDRI_TRY(kdri_job_same_classes(ctx, t->all[0]));
	KDRI_TRY(kdri_job_order_classes(ctx, labelled, n, t->sets->nsources, t->classes));
	KDRI_TRY(transfer_check_classes(ctx, t));
	if (t->o->nknown_files > 0)
		KDRI_TRY(kdri_answers_read(ctx, t->o->known_files, t->o->nknown_files, &given, 1, 0, &read));
	if (read || t->o->known)
		KDRI_TRY(take_known(ctx, t, read ? read : t->o->known));
done:
	kdri_free(ctx, labelled);
	kdr_labels_free(read);
	return st;
}

/* --- fit -------------------------------------------------------------------------------------------- */

/* Whether set i belongs to the run with candidate k; k < 0: all do. */
static bool takes_part(const transfer *t, int64_t i, int64_t k)
{
	int64_t at = i - t->sets->nsources;
	return k < 0 || at < 0 || i >= t->target || at % t->candidates == k;
}

/* The first of two views of a bridge has the features of the sources, which are used for the target here. */
static kdr_status put_probabilities(kdr_context *ctx, transfer *t, int64_t k, int64_t first, kdr_result *r)
{
	bool one = k >= 0;
	const kdri_calibration c = { .sources = t->all,
		                     .nsources = t->sets->nsources,
		                     .bridges = t->all + t->sets->nsources + (one ? k : 0),
		                     .nbridges = one ? 1 : t->sets->nbridges,
		                     .classes = t->classes };
	return kdri_job_probabilities(ctx, &t->job, &c, first, t->known, r);
}

/* The sets of the run with candidate k; where the targets begin. */
static int64_t list_tasks(const transfer *t, int64_t k, kdr_task *tasks, kdr_data **data, int64_t *first)
{
	int64_t n = 0;
	for (int64_t i = 0; i < t->count; i++) {
		bool source = i < t->sets->nsources;
		if (!takes_part(t, i, k))
			continue;
		*first = i == t->target ? n : *first;
		data[n] = t->all[i];
		tasks[n++] = (kdr_task){ .name = t->all[i]->name,
			                 .role = source          ? KDR_ROLE_SOURCE
			                         : i < t->target ? KDR_ROLE_BRIDGE
			                                         : KDR_ROLE_TARGET,
			                 .x = kdr_data_mat(t->all[i]),
			                 .k = t->classes,
			                 .labels = source           ? t->all[i]->labels
			                           : i == t->target ? t->known
			                                            : NULL };
	}
	return n;
}

static kdr_status transfer_fit(kdr_context *ctx, transfer *t, int64_t k, kdr_result **out)
{
	kdr_status st;
	kdr_task *tasks = NULL;
	kdr_data **data = NULL;
	kdr_result *result = NULL;
	int64_t first = 0;
	bool named = !(t->job.algo->flags & KDR_ALGO_CLUSTERS_TARGET);
	KDRI_TRY(KDRI_NEW0(ctx, &tasks, t->count));
	KDRI_TRY(KDRI_NEW(ctx, &data, t->count));
	int64_t n = list_tasks(t, k, tasks, data, &first);
	const kdr_problem about = { .size = sizeof(kdr_problem),
		                    .ntasks = n,
		                    .classes = t->classes,
		                    .class_names = (const char *const *)t->all[0]->classes,
		                    .views = t->sets->views != NULL };
	KDRI_TRY(KDRI_TIMED("fit", kdri_job_fit(ctx, &t->job, tasks, data, &about, NULL, &result)));
	for (int64_t i = first; i < n && t->o->score; i++)
		KDRI_TRY(kdri_job_score(ctx, result, i, data[i], named, t->classes));
	if (t->accuracy)
		t->accuracy[k] = result->tasks[first].scores.n > 0 ? result->tasks[first].scores.acc : NAN;
	if (t->candidates && !t->o->selector) {
		int64_t rows;
		KDRI_TRY(kdri_bridge_recovery(ctx, t->job.algo, tasks, n, first, t->classes,
		                              kdr_result_labels(result, first, &rows), &t->scores[k].back));
	}
	*out = result;
	result = NULL;
done:
	kdr_result_free(result);
	KDRI_FREE(ctx, tasks, data);
	return st;
}

/* Words about the result that is kept. */
static kdr_status describe(kdr_context *ctx, transfer *t, int64_t k, kdr_result *result)
{
	kdr_status st;
	kdr_task *tasks = NULL;
	kdr_data **data = NULL;
	int64_t first = 0;
	KDRI_TRY(KDRI_NEW0(ctx, &tasks, t->count));
	KDRI_TRY(KDRI_NEW(ctx, &data, t->count));
	list_tasks(t, k, tasks, data, &first);
	KDRI_TRY(kdri_job_choices(ctx, result, data));
	for (int64_t i = 0; i < t->sets->nsources; i++)
		KDRI_TRY(kdri_job_remember(ctx, &t->job, data[i], data[i]->labels, t->classes,
		                           &result->tasks[i]));
	KDRI_TRY(kdri_job_agreement(ctx, &t->job, data, result));
	if (t->o->probabilities)
		KDRI_TRY(put_probabilities(ctx, t, k, first, result));
	KDRI_TRY(kdri_job_encode(ctx, &t->job, t->all, t->count));
	list_tasks(t, k, tasks, data, &first);
	KDRI_TRY(kdri_job_words(ctx, result, data, t->job.recipe.kind));
	KDRI_TRY(kdri_job_markers(ctx, result, data));
	KDRI_TRY(kdri_job_shared(ctx, result, first));
	KDRI_TRY(kdri_job_shown(ctx, result, data));
	KDRI_TRY(kdri_job_representation(ctx, &t->job, result, data));
	KDRI_TRY(kdri_job_map(ctx, &t->job, result, data));
done:
	KDRI_FREE(ctx, tasks, data);
	return st;
}

static kdr_status transfer_rank(kdr_context *ctx, transfer *t)
{
	kdr_status st;
	kdri_bridge_candidate *list = NULL;
	int64_t first = t->sets->nsources;
	KDRI_TRY(KDRI_NEW(ctx, &list, t->candidates));
	KDRI_TRY(KDRI_NEW0(ctx, &t->scores, t->candidates));
	KDRI_TRY(KDRI_NEW(ctx, &t->accuracy, t->candidates));
	for (int64_t k = 0; k < t->candidates; k++) {
		list[k].source_view = kdr_data_mat(t->all[first + k]);
		list[k].target_view = kdr_data_mat(t->all[first + (t->sets->views ? t->candidates : 0) + k]);
		t->accuracy[k] = NAN;
	}
	kdr_mat source = kdr_data_mat(t->all[0]), target = kdr_data_mat(t->all[t->target]);
	KDRI_TRY(kdri_bridge_rank(ctx, &source, &target, list, t->candidates, t->o->selector, NULL,
	                          t->scores));
done:
	kdri_free(ctx, list);
	return st;
}

/* The candidates as they were ranked. */
static kdr_status put_bridges(kdr_context *ctx, const transfer *t, kdr_result *r)
{
	KDRI_DO(KDRI_NEW0(ctx, &r->bridges, t->candidates));
	r->bridge_count = t->candidates;
	for (int64_t k = 0; k < t->candidates; k++) {
		const kdr_data *d = t->all[t->sets->nsources + k];
		kdri_bridge *b = &r->bridges[t->scores[k].rank];
		b->score = t->scores[k];
		b->accuracy = t->accuracy[k];
		KDRI_DO(kdri_strdup(ctx, d->name, &b->name));
		KDRI_DO(kdri_strdup(ctx, d->path, &b->path));
	}
	return KDR_OK;
}

/* Bridges that were not tried, or without a value, are last. */
static double worth(const kdri_bridge_score *s)
{
	return isnan(s->back) ? -1 : s->back;
}

/* Ranks by the proportion recovered, equal ones by their previous ranks. */
static kdr_status rank_back(kdr_context *ctx, const transfer *t)
{
	kdr_status st;
	int64_t *before = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &before, t->candidates));
	for (int64_t k = 0; k < t->candidates; k++) {
		kdri_bridge_score *s = &t->scores[k];
		before[k] = s->rank;
		s->score = worth(s);
		if (!isnan(s->back))
			kdri_snprintf(
			        s->reason, sizeof s->reason,
			        "%.1f %% of the source's classes are recovered from the target over this bridge",
			        100 * s->back);
	}
	for (int64_t k = 0; k < t->candidates; k++) {
		t->scores[k].rank = 0;
		for (int64_t o = 0; o < t->candidates; o++)
			t->scores[k].rank +=
			        t->scores[o].score > t->scores[k].score ||
			        (t->scores[o].score == t->scores[k].score && before[o] < before[k]);
	}
done:
	kdri_free(ctx, before);
	return st;
}

/* The candidate of this rank. */
static int64_t ranked(const transfer *t, int64_t rank)
{
	int64_t k = 0;
	while (t->scores[k].rank != rank)
		k++;
	return k;
}

/* In the order of their ranks, so that the most promising ones are fitted if time runs out. */
static kdr_status fit_best(kdr_context *ctx, transfer *t, kdr_result **out)
{
	kdr_status st;
	kdr_result *best = NULL, *result = NULL;
	bool all = t->o->every_bridge || !t->o->selector;
	KDRI_TRY(transfer_rank(ctx, t));
	for (int64_t r = 0; r < (all ? t->candidates : 1); r++) {
		int64_t k = ranked(t, r);
		bool stop = ctx->cancelled || ctx->timed_out;
		KDRI_TRY(kdri_any(ctx, &stop));
		if (best && stop)
			break;
		KDRI_TRY(transfer_fit(ctx, t, k, &result));
		if (!best || (!t->o->selector && worth(&t->scores[k]) > worth(&t->scores[t->chosen]))) {
			kdr_result_free(best);
			best = result;
			t->chosen = k;
		} else {
			kdr_result_free(result);
		}
		result = NULL;
	}
	if (!t->o->selector)
		KDRI_TRY(rank_back(ctx, t));
	KDRI_TRY(describe(ctx, t, t->chosen, best));
	KDRI_TRY(put_bridges(ctx, t, best));
	*out = best;
	best = NULL;
done:
	kdr_result_free(best);
	kdr_result_free(result);
	return st;
}

/* Leaves out samples without content; bridges may have two views with the same rows, and have no labels. */
static kdr_status transfer_content(kdr_context *ctx, transfer *t, kdr_transfer_sets *sets)
{
	kdr_data *const **lists[] = { &sets->sources, &sets->targets };
	const int64_t counts[] = { sets->nsources, sets->ntargets };
	for (int i = 0; i < 2; i++) {
		if (!*lists[i] || counts[i] < 1)
			continue;
		KDRI_DO(kdri_check_sets(ctx, "transfer", *lists[i], counts[i], 1));
		KDRI_DO(KDRI_NEW(ctx, &t->given[i], counts[i]));
		memcpy(t->given[i], *lists[i], (size_t)counts[i] * sizeof **t->given);
		*lists[i] = t->given[i];
		KDRI_DO(kdri_content_take(ctx, t->given[i], counts[i], false, &t->content[i]));
	}
	return KDR_OK;
}

/* The sources are the samples that a model keeps. */
static kdr_status transfer_into(kdr_context *ctx, transfer *t, kdr_transfer_sets *sets)
{
	int64_t n = 0;
	if (sets->nsources > 0 || sets->nbridges > 0)
		return kdri_fail(
		        ctx, KDR_ERR_ARGUMENT,
		        "a transfer into a model takes its source from the model; give only targets");
	KDRI_DO(kdri_check_sets(ctx, "transfer", sets->targets, sets->ntargets, 1));
	KDRI_DO(kdri_into_prepare(ctx, &t->job, (kdr_data **)sets->targets, sets->ntargets, &t->kept));
	for (int64_t i = 0; i < kdr_model_ntasks(t->o->into); i++)
		if (t->kept[i]) { /* sources first; targets have none */
			kdr_data *d = t->kept[i];
			t->kept[i] = NULL;
			t->kept[n++] = d;
		}
	sets->sources = t->kept;
	sets->nsources = n;
	return KDR_OK;
}

kdr_status kdr_transfer(kdr_context *ctx, const kdr_transfer_sets *sets, const kdr_job_options *options,
                        kdr_result **out)
{
	kdr_status st;
	kdr_transfer_sets own_sets;
	kdr_job_options own;
	kdr_prep_options prep;
	transfer t = { .sets = &own_sets, .o = &own };
	kdr_result *result = NULL;
	KDRI_NEED(ctx, out && sets);
	kdri_enter(ctx);
	KDRI_TRY(KDRI_TAKE(ctx, kdr_transfer_sets, sets, &own_sets));
	KDRI_TRY(kdri_job_take(ctx, options, &own, &prep));
	sets = &own_sets;
	KDRI_TRY(kdri_job_alone(ctx, "a map of the samples (--report)", t.o->map));
	KDRI_TRY(kdri_job_alone(ctx, "--features-from", t.o->features_from != NULL));
	KDRI_TRY(kdri_job_open(ctx, t.o, KDR_FAMILY_TRANSFER, &t.job));
	if (t.o->probabilities && (t.job.algo->flags & KDR_ALGO_CLUSTERS_TARGET))
		KDRI_FAIL(
		        ctx, KDR_ERR_ARGUMENT,
		        "--probabilities is not available with method '%s', which finds clusters instead of classes",
		        t.job.algo->id);
	KDRI_TRY(transfer_content(ctx, &t, &own_sets));
	if (t.o->into)
		KDRI_TRY(transfer_into(ctx, &t, &own_sets));
	KDRI_TRY(transfer_collect(ctx, &t));
	KDRI_TRY(kdri_check_columns(ctx, t.all, t.count, 0));
	/* Through bridges a target may have nothing in common with the sources. */
	if (sets->nbridges == 0 && !(t.job.algo->flags & KDR_ALGO_OWN_FEATURES))
		KDRI_TRY(kdri_check_overlap(ctx, t.all, sets->nsources, t.all + t.target, sets->ntargets,
		                            t.o->prep->align));
	KDRI_TRY(take_classes(ctx, &t));
	/* Two views: source and first views have their features, second views and target theirs. */
	if (t.o->into)
		KDRI_TRY(kdri_into_reweigh(ctx, t.job.prep, t.all, sets->nsources, t.count, NULL));
	else
		KDRI_TRY(KDRI_TIMED("preparation",
		                    kdri_job_prepare(ctx, &t.job, t.all, t.count,
		                                     sets->views ? sets->nsources + sets->nbridges : 0)));
	if (t.candidates) {
		KDRI_TRY(fit_best(ctx, &t, &result));
	} else {
		KDRI_TRY(transfer_fit(ctx, &t, -1, &result));
		KDRI_TRY(KDRI_TIMED("description", describe(ctx, &t, -1, result)));
	}
	kdri_job_finish(&t.job, result);
	KDRI_TRY(kdri_content_put(ctx, &t.content[0], 0, result));
	KDRI_TRY(kdri_content_put(ctx, &t.content[1], result->ntasks - sets->ntargets, result));
done:
	st = kdri_leave(ctx, st);
	if (st == KDR_OK) {
		*out = result;
		result = NULL;
	}
	kdr_result_free(result);
	transfer_release(ctx, &t);
	return st;
}
