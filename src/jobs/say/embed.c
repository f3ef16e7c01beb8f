/* kdr_embed: the samples of data sets as points of a plane. SPDX-License-Identifier: BSD-3-Clause */
#include "engine/embed/embed.h"
#include "jobs/job.h"
#include "jobs/say/say.h"
#include "prepare/prep.h"

struct kdr_embedding {
	kdr_allocator allocator;
	int64_t count, *rows;
	double **xy;
	kdr_prep *prep;
	char about[384]; /* the preprocessing */
};

void kdr_embedding_free(kdr_embedding *e)
{
	if (!e)
		return;
	kdr_allocator a = e->allocator;
	for (int64_t t = 0; e->xy && t < e->count; t++)
		kdri_free_with(&a, e->xy[t]);
	KDRI_FREE_WITH(&a, e->xy, e->rows);
	kdr_prep_free(e->prep);
	kdri_free_with(&a, e);
}

static kdr_status embed_check(kdr_context *ctx, const kdr_mat *x, int64_t count, const kdr_embed_options *o)
{
	char name[32];
	if (o->neighbors < 0 || o->neighbors > 1000)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT,
		                 "neighbors: %lld is not valid; use 1 to 1000, or 0 for the default",
		                 (long long)o->neighbors);
	if (o->sweeps < 0 || o->sweeps > 1000000)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT,
		                 "sweeps: %lld is not valid; use 1 to 1000000, or 0 for the default",
		                 (long long)o->sweeps);
	if ((int)o->layout < KDR_EMBED_FORCES || o->layout > KDR_EMBED_DIRECTIONS)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT, "layout: %d is not one of kdr_embed_layout",
		                 (int)o->layout);
	for (int64_t t = 0; t < count; t++) {
		kdri_snprintf(name, sizeof name, "data set %lld", (long long)t + 1);
		if (kdr_mat_rows(&x[t]) < 1 || kdr_mat_cols(&x[t]) < 1)
			return kdri_fail(ctx, KDR_ERR_DATA, "%s has no samples or no features", name);
		KDRI_DO(kdri_mat_check_finite(ctx, &x[t], name));
	}
	return KDR_OK;
}

kdr_status kdri_embed_matrices(kdr_context *ctx, const kdr_mat *x, int64_t count,
                               const kdr_embed_options *options, double *const *xy)
{
	const kdr_embed_options defaults = { .size = sizeof(kdr_embed_options) };
	if (!ctx)
		return KDR_ERR_ARGUMENT;
	if (!x || !xy || count < 1)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT, "no data set was given; at least one is needed");
	if (!options)
		options = &defaults;
	KDRI_DO(embed_check(ctx, x, count, options));
	return kdri_embed(ctx, x, count, options, xy);
}

static kdr_status embedding_new(kdr_context *ctx, kdr_data *const *sets, int64_t count, kdr_embedding **out)
{
	kdr_status st;
	kdr_embedding *e = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &e, 1));
	e->allocator = ctx->allocator;
	e->count = count;
	KDRI_TRY(KDRI_NEW(ctx, &e->rows, count));
	KDRI_TRY(KDRI_NEW0(ctx, &e->xy, count));
	for (int64_t t = 0; t < count; t++) {
		e->rows[t] = sets[t]->rows;
		KDRI_TRY(KDRI_NEW(ctx, &e->xy[t], 2 * sets[t]->rows));
	}
	*out = e;
	e = NULL;
done:
	kdr_embedding_free(e);
	return st;
}

kdr_status kdr_embed(kdr_context *ctx, kdr_data *const *tasks, int64_t count,
                     const kdr_embed_options *options, kdr_embedding **out)
{
	kdr_status st;
	kdr_embedding *e = NULL;
	kdr_data **sets = NULL;
	kdr_mat *x = NULL;
	kdr_recipe recipe = { .kind = KDR_DATA_UNKNOWN };
	kdr_embed_options o;
	kdr_prep_options prep;
	KDRI_NEED(ctx, out);
	KDRI_TRY(kdri_check_sets(ctx, "embed", tasks, count, 1));
	KDRI_TRY(KDRI_TAKE(ctx, kdr_embed_options, options, &o));
	KDRI_TRY(KDRI_TAKE(ctx, kdr_prep_options, o.prep, &prep));
	KDRI_TRY(KDRI_NEW(ctx, &sets, count));
	KDRI_TRY(KDRI_NEW(ctx, &x, count));
	memcpy(sets, tasks, (size_t)count * sizeof *sets);
	KDRI_TRY(embedding_new(ctx, sets, count, &e));
	KDRI_TRY(kdri_check_columns(ctx, sets, count, 0));
	KDRI_TRY(kdri_prepare_sets(ctx, sets, count, 0, false, &prep,
	                           kdri_prep_chosen(&prep, o.choice) ? KDRI_PREP_RECIPE : KDRI_PREP_SPECIFIED,
	                           true, &recipe, &e->prep));
	for (int64_t t = 0; t < count; t++)
		KDRI_TRY(kdri_table_encode(ctx, e->prep, t, sets[t]));
	kdri_snprintf(e->about, sizeof e->about,
	              recipe.kind == KDR_DATA_UNKNOWN ? "%s" : "%s; chosen because the data appear to be %s",
	              kdri_prep_describe(e->prep), kdri_data_kind_name(recipe.kind));
	o.centre |= recipe.centre;
	for (int64_t t = 0; t < count; t++)
		x[t] = kdr_data_mat(sets[t]);
	ctx->stage = "embed";
	KDRI_TRY(kdri_embed_matrices(ctx, x, count, &o, e->xy));
	*out = e;
	e = NULL;
done:
	if (ctx)
		ctx->stage = NULL;
	kdr_embedding_free(e);
	KDRI_FREE(ctx, sets, x);
	return st;
}

const double *kdr_embedding_task(const kdr_embedding *e, int64_t task, int64_t *n)
{
	const bool has = e && task >= 0 && task < e->count;
	if (n)
		*n = has ? e->rows[task] : 0;
	return has ? e->xy[task] : NULL;
}

const char *kdr_embedding_preprocessing(const kdr_embedding *e)
{
	return e ? e->about : NULL;
}
