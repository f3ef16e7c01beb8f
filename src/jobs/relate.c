/* kdr_relate: how related data sets are. SPDX-License-Identifier: BSD-3-Clause */
#include "jobs/relate/relate.h"
#include "core/json_write.h"
#include "jobs/job.h"
#include "prepare/prep.h"

struct kdr_relation {
	kdr_allocator allocator;
	int64_t count, npairs;
	char **names, **paths;
	kdr_relate_task *tasks;
	kdr_relate_pair *pairs;
	double *nearness;                /* count x count */
	char (*advice)[KDR_ADVICE_ROOM]; /* a sentence a task */
	kdr_prep *prep;
	kdr_data_kind kind;
};

void kdr_relation_options_init(kdr_relation_options *options)
{
	memset(options, 0, sizeof *options);
}

void kdr_relation_free(kdr_relation *r)
{
	if (!r)
		return;
	kdr_allocator a = r->allocator;
	kdri_strings_free(&a, r->names, r->count);
	kdri_strings_free(&a, r->paths, r->count);
	kdri_free_with(&a, r->tasks);
	kdri_free_with(&a, r->pairs);
	kdri_free_with(&a, r->nearness);
	kdri_free_with(&a, r->advice);
	kdr_prep_free(r->prep);
	kdri_free_with(&a, r);
}

static kdr_status relation_new(kdr_context *ctx, kdr_data *const *sets, int64_t count, kdr_relation **out)
{
	kdr_status st;
	kdr_relation *r = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &r, 1));
	r->allocator = ctx->allocator;
	r->count = count;
	r->npairs = count * (count - 1) / 2;
	KDRI_TRY(KDRI_NEW0(ctx, &r->names, count));
	KDRI_TRY(KDRI_NEW0(ctx, &r->paths, count));
	KDRI_TRY(KDRI_NEW0(ctx, &r->tasks, count));
	KDRI_TRY(KDRI_NEW0(ctx, &r->pairs, r->npairs));
	KDRI_TRY(KDRI_NEW0(ctx, &r->nearness, count * count));
	KDRI_TRY(KDRI_NEW0(ctx, &r->advice, count));
	for (int64_t t = 0; t < count; t++) {
		KDRI_TRY(kdri_strdup(ctx, sets[t]->name, &r->names[t]));
		KDRI_TRY(kdri_strdup(ctx, sets[t]->path, &r->paths[t]));
	}
	*out = r;
	r = NULL;
done:
	kdr_relation_free(r);
	return st;
}

/* Centring has made zeros something else: a sample has a feature where its value is not what zero became. */
static kdr_status recount(kdr_context *ctx, kdr_data *const *sets, double rare, kdr_relation *r)
{
	kdr_status st;
	const kdr_prep *p = r->prep;
	int64_t **counts = NULL, d = sets[0]->cols;
	KDRI_TRY(KDRI_NEW0(ctx, &counts, r->count));
	for (int64_t t = 0; t < r->count; t++) {
		int64_t set = p->fit_each ? t * p->cols : 0;
		KDRI_TRY(KDRI_NEW0(ctx, &counts[t], d));
		for (int64_t j = 0; j < d; j++) {
			int64_t at = set + (p->kept ? p->kept[j] : j);
			double zero = (0 - p->offset[at]) / p->divisor[at];
			for (int64_t i = 0; i < sets[t]->rows; i++)
				counts[t][j] += sets[t]->dense[i * d + j] != zero;
		}
		kdri_relate_task_counts(counts[t], d, rare, &r->tasks[t]);
	}
	for (int64_t k = 0; k < r->npairs; k++)
		kdri_relate_pair_counts(counts, d, &r->pairs[k]);
done:
	for (int64_t t = 0; counts && t < r->count; t++)
		kdri_free(ctx, counts[t]);
	kdri_free(ctx, counts);
	return st;
}

kdr_status kdr_relate(kdr_context *ctx, kdr_data *const *tasks, int64_t count,
                      const kdr_relation_options *options, kdr_relation **out)
{
	kdr_status st;
	kdr_relation *r = NULL;
	kdr_data **sets = NULL;
	kdr_mat *x = NULL;
	kdr_recipe recipe = { .kind = KDR_DATA_UNKNOWN };
	kdr_relation_options defaults;
	if (!ctx || !out)
		return KDR_ERR_ARGUMENT;
	if (!tasks || count < 1)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT, "no task was given: at least one is needed");
	kdr_relation_options_init(&defaults);
	if (!options)
		options = &defaults;
	KDRI_TRY(KDRI_NEW(ctx, &sets, count));
	KDRI_TRY(KDRI_NEW(ctx, &x, count));
	memcpy(sets, tasks, (size_t)count * sizeof *sets);
	KDRI_TRY(relation_new(ctx, sets, count, &r));
	KDRI_TRY(kdri_prepare_sets(ctx, sets, count, 0, false, &options->prep,
	                           kdri_prep_chosen(&options->prep, options->choice, true) ? KDRI_PREP_RECIPE
	                                                                                   : KDRI_PREP_TOLD,
	                           false, &recipe, &r->prep));
	r->kind = recipe.kind;
	for (int64_t t = 0; t < count; t++)
		x[t] = kdr_data_mat(sets[t]);
	KDRI_TRY(kdri_check_memory(ctx, "relate", NULL, sets, count));
	KDRI_TRY(kdr_relate_matrices(ctx, x, count, &options->measures, r->tasks, r->pairs));
	if (r->prep->centred)
		KDRI_TRY(recount(ctx, sets, options->measures.rare, r));
	KDRI_TRY(kdr_relate_advice(ctx, x, (const char *const *)r->names, count, r->nearness, r->advice));
	*out = r;
	r = NULL;
done:
	kdr_relation_free(r);
	kdri_free(ctx, sets);
	kdri_free(ctx, x);
	return st;
}

/* --- read by users ----------------------------------------------------------------------------------- */

static bool is_task(const kdr_relation *r, int64_t task)
{
	return task >= 0 && task < r->count;
}

int64_t kdr_relation_ntasks(const kdr_relation *r)
{
	return r->count;
}

const char *kdr_relation_task_name(const kdr_relation *r, int64_t task)
{
	return is_task(r, task) ? r->names[task] : NULL;
}

const kdr_relate_task *kdr_relation_task(const kdr_relation *r, int64_t task)
{
	return is_task(r, task) ? &r->tasks[task] : NULL;
}

const kdr_relate_pair *kdr_relation_pair(const kdr_relation *r, int64_t a, int64_t b)
{
	int64_t low = KDRI_MIN(a, b), high = KDRI_MAX(a, b);
	return a == b || !is_task(r, a) || !is_task(r, b) ? NULL : &r->pairs[high * (high - 1) / 2 + low];
}

double kdr_relation_nearness(const kdr_relation *r, int64_t a, int64_t b)
{
	return is_task(r, a) && is_task(r, b) ? r->nearness[a * r->count + b] : NAN;
}

const char *kdr_relation_advice(const kdr_relation *r, int64_t task)
{
	return is_task(r, task) ? r->advice[task] : NULL;
}

const kdr_prep *kdr_relation_prep(const kdr_relation *r)
{
	return r->prep;
}

kdr_data_kind kdr_relation_kind(const kdr_relation *r)
{
	return r->kind;
}

/* --- JSON ---------------------------------------------------------------------------------------------- */

static void put_tasks(kdri_json *j, const kdr_relation *r)
{
	kdri_json_array(j, "tasks");
	for (int64_t i = 0; i < r->count; i++) {
		const kdr_relate_task *t = &r->tasks[i];
		kdri_json_object(j, NULL);
		kdri_json_string(j, "name", r->names[i]);
		kdri_json_string(j, "path", r->paths[i]);
		kdri_json_int(j, "n", t->samples);
		kdri_json_int(j, "d", t->features);
		kdri_json_int(j, "observed_features", t->observed);
		kdri_json_real(j, "complexity", t->complexity);
		kdri_json_real(j, "complexity_observed", t->complexity_observed);
		kdri_json_string(j, "advice", r->advice[i]);
		kdri_json_end_object(j);
	}
	kdri_json_end_array(j);
}

static void put_pairs(kdri_json *j, const kdr_relation *r)
{
	kdri_json_array(j, "pairs");
	for (int64_t k = 0; k < r->npairs; k++) {
		const kdr_relate_pair *p = &r->pairs[k];
		kdri_json_object(j, NULL);
		kdri_json_string(j, "from", r->names[p->a]);
		kdri_json_string(j, "to", r->names[p->b]);
		kdri_json_int(j, "shared_features", p->shared);
		kdri_json_real(j, "overlap", p->overlap);
		kdri_json_real(j, "a_distance", p->a_distance);
		kdri_json_real(j, "mmd_linear", p->mmd_linear);
		kdri_json_real(j, "mmd_gaussian", p->mmd_gaussian);
		kdri_json_real(j, "bandwidth", p->bandwidth);
		kdri_json_real(j, "nearness", r->nearness[p->a * r->count + p->b]);
		kdri_json_real(j, "nearness_back", r->nearness[p->b * r->count + p->a]);
		kdri_json_end_object(j);
	}
	kdri_json_end_array(j);
}

kdr_status kdr_relation_json(kdr_context *ctx, const kdr_relation *r, char **text, size_t *length)
{
	if (!ctx || !r || !text)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT,
		                 "kdr_relation_json: a relation and a place are needed");
	kdri_json j = { .allocator = &ctx->allocator };
	kdri_json_object(&j, NULL);
	kdri_json_string(&j, "kindred", kdr_version());
	kdri_json_string(&j, "command", "relate");
	if (r->kind != KDR_DATA_UNKNOWN)
		kdri_json_string(&j, "data", kdr_data_kind_name(r->kind));
	kdri_json_string(&j, "preprocessing", kdr_prep_describe(r->prep));
	put_tasks(&j, r);
	put_pairs(&j, r);
	kdri_json_array(&j, "warnings");
	for (int64_t i = 0; i < kdr_prep_warning_count(r->prep); i++)
		kdri_json_string(&j, NULL, kdr_prep_warning_at(r->prep, i));
	kdri_json_end_array(&j);
	kdri_json_end_object(&j);
	if (j.failed) {
		kdri_json_free(&j);
		return kdri_fail(ctx, KDR_ERR_MEMORY, "no memory for the relation as JSON");
	}
	*text = j.text;
	if (length)
		*length = j.used;
	return KDR_OK;
}
