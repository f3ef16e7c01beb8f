/* kdr_relate: how related data sets are. SPDX-License-Identifier: BSD-3-Clause */
#include "jobs/job.h"
#include "core/json_write.h"
#include "engine/graph/knn.h"
#include "jobs/relate/relate.h"
#include "prepare/prep.h"

#include <stdio.h>

typedef struct relation {
	int64_t count, npairs;
	kdr_data **sets;
	kdr_mat *x;
	const char **names;
	kdri_relate_task *tasks;
	kdri_relate_pair *pairs;
	double *nearness;                 /* count x count */
	double *apart;                    /* count x count: of the samples of a row from those of a column */
	char (*advice)[KDRI_ADVICE_ROOM]; /* one sentence per data set */
	kdr_prep *prep;
	kdr_data_kind kind;
} relation;

static void relation_release(kdr_context *ctx, relation *r)
{
	KDRI_FREE(ctx, r->sets, r->x, r->names, r->tasks, r->pairs, r->nearness, r->apart, r->advice);
	kdr_prep_free(r->prep);
}

static kdr_status relation_new(kdr_context *ctx, kdr_data *const *sets, int64_t count, relation *r)
{
	r->count = count;
	r->npairs = count * (count - 1) / 2;
	KDRI_DO(KDRI_NEW(ctx, &r->sets, count));
	KDRI_DO(KDRI_NEW(ctx, &r->x, count));
	KDRI_DO(KDRI_NEW(ctx, &r->names, count));
	KDRI_DO(KDRI_NEW0(ctx, &r->tasks, count));
	KDRI_DO(KDRI_NEW0(ctx, &r->pairs, r->npairs));
	KDRI_DO(KDRI_NEW0(ctx, &r->nearness, count * count));
	KDRI_DO(KDRI_NEW0(ctx, &r->apart, count * count));
	KDRI_DO(KDRI_NEW0(ctx, &r->advice, count));
	memcpy(r->sets, sets, (size_t)count * sizeof(kdr_data *));
	for (int64_t t = 0; t < count; t++)
		r->names[t] = sets[t]->name;
	return KDR_OK;
}

/* The number of samples with each feature, if zeros have become other values: after centring, those that differ from a centred
 * zero; in a table, those with a value, or with this level of a category. NULL: zeros are zeros. */
static kdr_status count_samples(kdr_context *ctx, const relation *r, int64_t ***out)
{
	const kdr_prep *p = r->prep;
	const bool table = p->options.scale == KDR_SCALE_TABLE;
	const int64_t d = r->sets[0]->cols;
	if (!p->centred && !table)
		return KDR_OK;
	KDRI_DO(KDRI_NEW0(ctx, out, r->count));
	for (int64_t t = 0; t < r->count; t++) {
		int64_t set = p->fit_each ? t * p->cols : 0;
		KDRI_DO(KDRI_NEW0(ctx, &(*out)[t], d));
		for (int64_t j = 0; j < d; j++) {
			int64_t at = set + (p->kept ? p->kept[j] : j);
			double zero = table ? p->column_kind[at - set] == KDRI_TABLE_LEVEL ? 0 : NAN
			                    : (0 - p->offset[at]) / p->divisor[at];
			for (int64_t i = 0; i < r->sets[t]->rows; i++) {
				double x = r->sets[t]->dense[i * d + j];
				(*out)[t][j] += !isnan(x) && x != zero;
			}
		}
	}
	return KDR_OK;
}

/* --- JSON ---------------------------------------------------------------------------------------------- */

static void put_tasks(kdri_json *j, const relation *r)
{
	kdri_json_array(j, "tasks");
	for (int64_t i = 0; i < r->count; i++) {
		const kdri_relate_task *t = &r->tasks[i];
		kdri_json_object(j, NULL);
		kdri_json_string(j, "name", r->names[i]);
		kdri_json_string(j, "path", r->sets[i]->path);
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

static void put_pairs(kdri_json *j, const relation *r)
{
	kdri_json_array(j, "pairs");
	for (int64_t k = 0; k < r->npairs; k++) {
		const kdri_relate_pair *p = &r->pairs[k];
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
		kdri_json_real(j, "apart", r->apart[p->a * r->count + p->b]);
		kdri_json_real(j, "apart_back", r->apart[p->b * r->count + p->a]);
		kdri_json_array(j, "differences");
		for (int i = 0; i < p->ndifferences; i++) {
			char number[24];
			snprintf(number, sizeof number, "x%lld", (long long)p->differences[i].feature + 1);
			kdri_json_object(j, NULL);
			kdri_json_string(j, "feature",
			                 r->sets[0]->features
			                         ? r->sets[0]->features[p->differences[i].feature]
			                         : number);
			kdri_json_real(j, "difference", p->differences[i].value);
			kdri_json_end_object(j);
		}
		kdri_json_end_array(j);
		kdri_json_end_object(j);
	}
	kdri_json_end_array(j);
}

static kdr_status relation_json(kdr_context *ctx, const relation *r, char **text, size_t *length)
{
	kdri_json j = { .allocator = &ctx->allocator };
	kdri_json_object(&j, NULL);
	kdri_json_string(&j, "kindred", kdr_version());
	kdri_json_string(&j, "command", "relate");
	if (r->kind != KDR_DATA_UNKNOWN)
		kdri_json_string(&j, "data", kdri_data_kind_name(r->kind));
	kdri_json_string(&j, "preprocessing", kdri_prep_describe(r->prep));
	put_tasks(&j, r);
	put_pairs(&j, r);
	kdri_json_array(&j, "warnings");
	for (int64_t i = 0; i < kdri_prep_warning_count(r->prep); i++)
		kdri_json_string(&j, NULL, kdri_prep_warning_at(r->prep, i));
	kdri_json_end_array(&j);
	kdri_json_end_object(&j);
	return kdri_json_take_text(ctx, &j, KDR_OK, "the JSON result of relate", text, length);
}

kdr_status kdr_relate(kdr_context *ctx, kdr_data *const *tasks, int64_t count,
                      const kdr_relate_options *options, char **json, size_t *length)
{
	kdr_status st;
	relation r = { 0 };
	int64_t **counts = NULL;
	bool holes =
	        false; /* which only scale table keeps; otherwise a column that one data set lacks differs */
	kdr_recipe recipe = { .kind = KDR_DATA_UNKNOWN };
	kdr_relate_options o;
	kdr_prep_options prep;
	KDRI_NEED(ctx, json);
	KDRI_TRY(kdri_check_sets(ctx, "relate", tasks, count, 1));
	KDRI_TRY(KDRI_TAKE(ctx, kdr_relate_options, options, &o));
	KDRI_TRY(KDRI_TAKE(ctx, kdr_prep_options, o.prep, &prep));
	KDRI_TRY(relation_new(ctx, tasks, count, &r));
	KDRI_TRY(kdri_check_columns(ctx, r.sets, count, 0));
	for (int64_t t = 0; t < count; t++)
		holes = holes || kdri_missing_column(r.sets[t]);
	KDRI_TRY(kdri_prepare_sets(ctx, r.sets, count, 0, false, &prep,
	                           kdri_prep_chosen(&prep, o.choice) ? KDRI_PREP_RECIPE : KDRI_PREP_SPECIFIED,
	                           holes, &recipe, &r.prep));
	r.kind = recipe.kind;
	KDRI_TRY(count_samples(ctx, &r, &counts));
	for (int64_t t = 0; t < count; t++) {
		KDRI_TRY(kdri_table_encode(ctx, r.prep, t, r.sets[t]));
		r.x[t] = kdr_data_mat(r.sets[t]);
	}
	KDRI_TRY(kdri_relate_matrices(ctx, r.x, count, &o, r.tasks, r.pairs));
	KDRI_TRY(kdri_relate_differences(ctx, r.x, count, r.pairs));
	for (int64_t t = 0; counts && t < count; t++)
		kdri_relate_task_counts(counts[t], r.sets[t]->cols, kdri_relate_resolve(&o).rare,
		                        &r.tasks[t]);
	for (int64_t k = 0; counts && k < r.npairs; k++)
		kdri_relate_pair_counts(counts, r.sets[0]->cols, &r.pairs[k]);
	KDRI_TRY(kdri_relate_advice(ctx, r.x, r.names, count, r.pairs, r.nearness, r.advice));
	for (int64_t t = 0; t < count; t++)
		for (int64_t s = 0; s < count; s++)
			if (s != t)
				KDRI_TRY(kdri_apart_find(ctx, &r.x[t], &r.x[s], &r.apart[t * count + s]));
	for (int64_t k = 0; k < r.npairs; k++) /* zeros stand for the features of the other */
		if (r.pairs[k].shared == 0)
			r.apart[r.pairs[k].a * count + r.pairs[k].b] =
			        r.apart[r.pairs[k].b * count + r.pairs[k].a] = 1;
	KDRI_TRY(relation_json(ctx, &r, json, length));
done:
	for (int64_t t = 0; counts && t < count; t++)
		kdri_free(ctx, counts[t]);
	kdri_free(ctx, counts);
	relation_release(ctx, &r);
	return st;
}
