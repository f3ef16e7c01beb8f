/* What the jobs share: method, preprocessing, fit. SPDX-License-Identifier: BSD-3-Clause */
#include "jobs/job.h"
#include "comm/comm.h"
#include "core/system.h"

#include "api/model.h"
#include "api/remembered.h"
#include "matrix/linalg.h"
#include "matrix/traits.h"
#include "prepare/prep.h"

#include <stdio.h>

static const char *const default_methods[] = {
	[KDR_FAMILY_CLUSTER] = "auto",
	[KDR_FAMILY_TRANSFER] = "auto",
	[KDR_FAMILY_FEATURES] = "msda",
};

/* --- the method ----------------------------------------------------------------------------------- */

kdr_status kdr_algo_require(kdr_context *ctx, const char *id, kdr_family family, const kdr_algo **out)
{
	static const char *const verbs[] = { "cluster", "transfer labels", "learn features" };
	if ((int)family < 0 || family > KDR_FAMILY_FEATURES)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT, "family %d is not one of kdr_family", (int)family);
	if (!id)
		id = default_methods[family];
	const kdr_algo *algo = kdri_algo_find_in(family, id);
	if (algo) {
		if (out)
			*out = algo;
		return KDR_OK;
	}
	if (kdr_algo_find(id))
		return kdri_fail(ctx, KDR_ERR_ARGUMENT,
		                 "method '%s' does not %s; 'kindred methods' shows the family of each method",
		                 id, verbs[family]);
	return kdri_algo_unknown(ctx, id, &family);
}

/* A copy of the settings of a method, or its defaults. */
static kdr_status take_options(kdr_context *ctx, const kdr_algo *algo, const kdr_options *settings,
                               kdr_options **out)
{
	if (!settings)
		return kdri_options_new(ctx, kdri_algo_of(algo), NULL, out);
	if (kdr_options_algo(settings) != algo)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT, "the options are for method '%s', not '%s'",
		                 kdr_options_algo(settings)->id, algo->id);
	return kdri_options_copy(ctx, settings, out);
}

kdr_status kdri_job_take(kdr_context *ctx, const kdr_job_options *given, kdr_job_options *out,
                         kdr_prep_options *prep)
{
	KDRI_DO(KDRI_TAKE(ctx, kdr_job_options, given, out));
	KDRI_DO(KDRI_TAKE(ctx, kdr_prep_options, out->prep, prep));
	out->prep = prep;
	if (!out->model && (out->model_size > 0 || out->model_without_samples))
		return kdri_fail(
		        ctx, KDR_ERR_ARGUMENT,
		        "--model-size and --model-without-samples have no effect without --save-model; add it, or remove them");
	return KDR_OK;
}

kdr_status kdri_features_possible(kdr_context *ctx, const kdr_algo *algo)
{
	return !(algo->flags & KDR_ALGO_OWN_FEATURES)
	               ? KDR_OK
	               : kdri_fail(
	                         ctx, KDR_ERR_ARGUMENT,
	                         "features cannot be learned for method '%s', whose data sets may have different features; use another method",
	                         algo->id);
}

kdr_status kdri_job_open(kdr_context *ctx, const kdr_job_options *wanted, kdr_family family, kdri_job *job)
{
	const kdr_algo *features = NULL;
	const char *method = wanted->method     ? wanted->method
	                     : wanted->settings ? kdr_options_algo(wanted->settings)->id
	                                        : NULL;
	*job = (kdri_job){ .wanted = wanted };
	KDRI_DO(kdr_algo_require(ctx, method, family, &job->algo));
	KDRI_DO(kdri_check_ranks(ctx, kdri_algo_of(job->algo)));
	KDRI_DO(take_options(ctx, job->algo, wanted->settings, &job->options));
	if (wanted->model)
		KDRI_DO(kdri_model_possible(ctx, job->options, "model"));
	if (wanted->model_size > 0 && !kdri_remembers(job->algo))
		return kdri_fail(
		        ctx, KDR_ERR_ARGUMENT,
		        "--model-size has no effect: models of method '%s' contain no samples; remove it",
		        job->algo->id);
	for (const kdr_field_desc *f = job->algo->fields;
	     wanted->model && wanted->model_without_samples && f && f->name; f++)
		if (strncmp(f->name, "train_", 6) == 0)
			return kdri_fail(
			        ctx, KDR_ERR_ARGUMENT,
			        "method '%s' labels new samples by those of the fit, so its models cannot be without samples; use another method",
			        job->algo->id);
	if (wanted->features_from) {
		KDRI_DO(kdri_features_possible(ctx, job->algo));
		KDRI_DO(kdr_algo_require(ctx, wanted->features_from, KDR_FAMILY_FEATURES, &features));
		KDRI_DO(take_options(ctx, features, wanted->feature_settings, &job->feature_options));
	}
	return KDR_OK;
}

kdr_status kdri_job_alone(kdr_context *ctx, const char *what, bool wanted)
{
	if (!wanted || kdri_ranks(ctx) == 1)
		return KDR_OK;
	return kdri_fail(
	        ctx, KDR_ERR_UNSUPPORTED,
	        "%s is not available under mpirun, because no process has all rows; fit first, then start a single process",
	        what);
}

void kdri_job_close(kdri_job *job)
{
	kdr_options_free(job->options);
	kdr_options_free(job->feature_options);
	kdr_prep_free(job->prep);
}

kdr_status kdri_job_set(kdr_context *ctx, kdri_job *job, const char *name, const char *value)
{
	if (!kdri_options_has(job->options, name) || kdri_options_is_set(job->options, name))
		return KDR_OK;
	return kdr_options_set(ctx, job->options, name, value);
}

/* --- preprocessing --------------------------------------------------------------------------------- */

bool kdri_prep_chosen(const kdr_prep_options *wanted, kdr_prep_choice choice)
{
	bool said = wanted->weight != KDR_WEIGHT_NONE || wanted->norm != KDR_NORM_NONE ||
	            wanted->scale != KDR_SCALE_NONE;
	return choice == KDR_PREP_BY_DATA || (choice == KDR_PREP_DEFAULT && !said);
}

const kdr_column *kdri_missing_column(const kdr_data *d)
{
	const kdri_sheet *s = d->sheet;
	for (int64_t c = 0; s && s->missing && strcmp(s->missing, "keep") == 0 && c < s->ncolumns; c++)
		if (s->columns[c].features > 0 && s->columns[c].missing > 0)
			return &s->columns[c];
	return NULL;
}

static kdr_status refuse_missing(kdr_context *ctx, kdr_data *const *sets, int64_t count)
{
	const kdr_column *c;
	for (int64_t t = 0; t < count; t++)
		if ((c = kdri_missing_column(sets[t])))
			return kdri_fail(
			        ctx, KDR_ERR_DATA,
			        "%s: column '%.60s' has %lld missing value%s; use --missing mean, median, zero, drop-row or drop-column",
			        sets[t]->name, c->name, (long long)c->missing, c->missing == 1 ? "" : "s");
	return KDR_OK;
}

/* Without a limit: the system may swap. */
static const double times_machine = 2;

kdr_status kdri_check_columns(kdr_context *ctx, kdr_data *const *sets, int64_t count, int64_t k)
{
	/* Alignment, preprocessing and cluster profiles; smaller amounts are not checked. */
	static const double each = 6, shared = 6, least = 1 << 26;
	kdr_status st = KDR_OK;
	int32_t *used = NULL;
	int64_t found = 0;
	const kdr_data *widest = sets[0];
	for (int64_t t = 1; t < count; t++)
		widest = sets[t]->cols > widest->cols ? sets[t] : widest;
	const bool limited = ctx->max_memory > 0;
	const double arrays = each * (double)count + shared + 2 * (double)KDRI_MAX(k, 1),
	             bytes = 8 * arrays * (double)widest->cols,
	             most = limited ? ctx->max_memory : times_machine * kdri_memory_total();
	const kdr_mat x = kdr_data_mat(widest);
	if (ctx->comm || x.kind != KDR_MAT_CSR || bytes < least || !(most > 0) || bytes <= most)
		return KDR_OK;
	KDRI_TRY(kdri_columns_used(ctx, &x, &used, &found));
	st = kdri_fail(
	        ctx, KDR_ERR_MEMORY,
	        "%s has %lld columns, %lld of them with values; statistics of the columns need %.3g GB of memory, more than "
	        "%s; renumber the columns with values",
	        widest->name, (long long)widest->cols, (long long)found, bytes / 1e9,
	        limited ? "--max-memory allows" : "this machine has");
done:
	kdri_free(ctx, used);
	return st;
}

/* Squares of values from 2^128 on may overflow in sums of products: such measurements are scaled, as if their units differed. */
static kdr_status scale_huge(kdr_context *ctx, kdr_data *const *sets, int64_t count, kdr_recipe *recipe)
{
	double largest = 0;
	for (int64_t t = 0; t < count; t++) {
		const kdr_mat x = kdr_data_mat(sets[t]);
		largest = KDRI_MAX(largest, kdri_traits_here(ctx, &x).magnitude);
	}
	KDRI_DO(kdri_max(ctx, &largest, 1));
	if (largest > 0x1p128 && (recipe->kind == KDR_DATA_DENSE || recipe->kind == KDR_DATA_MEASUREMENTS))
		*recipe = (kdr_recipe){ .kind = KDR_DATA_UNITS, .scale = KDR_SCALE_STANDARD };
	return KDR_OK;
}

/* Whether the data sets count molecules of features with names that are not the same in all. A zero is a measurement: it cannot stand for a gene
 * that a data set does not have. `recipe` NULL: to be found. */
static kdr_status are_molecules(kdr_context *ctx, kdr_data *const *sets, int64_t count,
                                const kdr_recipe *recipe, bool *out)
{
	kdr_recipe own = { .kind = KDR_DATA_UNKNOWN };
	bool same = true, named = true;
	for (int64_t t = 0; t < count; t++) {
		named = named && sets[t]->features;
		same = same && named && sets[0]->cols == sets[t]->cols;
		for (int64_t j = 0; same && t > 0 && j < sets[t]->cols; j++)
			same = strcmp(sets[0]->features[j], sets[t]->features[j]) == 0;
	}
	bool asked = named && !same;
	KDRI_DO(kdri_any(ctx, &asked));
	if (asked && !recipe)
		KDRI_DO(kdri_recipe_find(ctx, sets, count, false, &own));
	*out = asked && (recipe ? recipe : &own)->kind == KDR_DATA_MOLECULES;
	return KDR_OK;
}

kdr_status kdri_prepare_sets(kdr_context *ctx, kdr_data **sets, int64_t count, int64_t split, bool own,
                             const kdr_prep_options *wanted, kdri_prep_source from, bool tables,
                             kdr_recipe *recipe, kdr_prep **out)
{
	kdr_status st = KDR_OK;
	kdr_prep_options options = *wanted;
	kdr_prep *first = NULL;
	bool molecules = false;
	if (from != KDRI_PREP_SPECIFIED) {
		KDRI_TRY(kdri_recipe_find(ctx, sets, count, from == KDRI_PREP_WIDE_RECIPE, recipe));
		KDRI_TRY(scale_huge(ctx, sets, count, recipe));
		if (tables)
			KDRI_TRY(kdri_recipe_table(ctx, sets, count, recipe));
		options.weight = recipe->weight;
		options.norm = recipe->norm;
		options.scale = recipe->scale;
	}
	if (options.scale != KDR_SCALE_TABLE)
		KDRI_TRY(refuse_missing(ctx, sets, count));
	/* In a transfer between tables, a column that one lacks would be zero there, which is far from every value of the other. */
	bool named = !own && from == KDRI_PREP_WIDE_RECIPE && recipe->kind == KDR_DATA_UNITS &&
	             options.scale != KDR_SCALE_TABLE && options.align == KDR_ALIGN_DEFAULT;
	for (int64_t i = 0; i < count; i++)
		named = named && sets[i]->features && sets[i]->sheet;
	if (!own && count > 1 && options.align == KDR_ALIGN_DEFAULT)
		KDRI_TRY(are_molecules(ctx, sets, count, from == KDRI_PREP_SPECIFIED ? NULL : recipe,
		                       &molecules));
	options.align = named || molecules ? KDR_ALIGN_INTERSECT : options.align;
	/* Data sets with different features are not aligned; the preparation of the first is used in the
	 * description. */
	for (int64_t i = 0; own && i < count; i++)
		KDRI_TRY(kdr_prepare(ctx, &sets[i], 1, &options, i == 0 ? &first : NULL));
	if (!own)
		KDRI_TRY(kdr_prepare(ctx, sets, split ? split : count, &options, &first));
	if (!own && split)
		KDRI_TRY(kdr_prepare(ctx, sets + split, count - split, &options, NULL));
	for (int64_t i = 0; i < count && !tables; i++)
		KDRI_TRY(kdri_table_encode(ctx, first, i, sets[i]));
	*out = first;
	first = NULL;
done:
	kdr_prep_free(first);
	return st;
}

/* The method's divergence; "": it has none. */
static const char *divergence_of(const kdri_job *job)
{
	for (const kdr_option_desc *o = job->algo->options; o && o->name; o++)
		if (strcmp(o->name, "divergence") == 0)
			return o->choices[kdri_opt_choice(job->options, o->name)];
	return "";
}

/* Kullback-Leibler and Itakura-Saito compare counts. */
static bool compares_counts(const char *divergence)
{
	return strcmp(divergence, "kl") == 0 || strcmp(divergence, "is") == 0;
}

/* The scaling that gives columns one weight: "" where the method gives them one itself. */
static const char *scaling_for(const kdri_job *job)
{
	const char *divergence = divergence_of(job);
	/* Itakura-Saito compares ratios, and scaling to [0, 1] would make zeros, which have none. */
	if (strcmp(divergence, "mahalanobis") == 0 || strcmp(divergence, "is") == 0)
		return "";
	/* Methods for numbers that are not negative. */
	return (job->algo->flags & KDR_ALGO_NONNEG) || compares_counts(divergence) ? "minmax" : "standard";
}

static void name_column(const kdri_spread *s, char *out, size_t room)
{
	if (s->name)
		snprintf(out, room, "'%.60s'", s->name);
	else
		snprintf(out, room, "column %lld", (long long)s->column + 1);
}

/* A method that uses unscaled data weights columns by their spread: there is a warning if one spread is five times
 * another. */
static kdr_status hint(kdr_context *ctx, kdri_job *job, kdr_data **sets, int64_t count)
{
	bool mixed;
	kdri_spread ends[2];
	char least[80], most[80];
	const char *scaling = scaling_for(job);
	if (!scaling[0])
		return KDR_OK;
	KDRI_DO(kdri_units_mixed(ctx, sets, count, &mixed, ends));
	if (!mixed)
		return KDR_OK;
	name_column(&ends[0], least, sizeof least);
	name_column(&ends[1], most, sizeof most);
	kdri_snprintf(
	        job->hint, sizeof job->hint,
	        "column standard deviations range from %.3g (%s) to %.3g (%s), and %s weights columns by them; if the units "
	        "differ, add --scale %s to give all columns equal weight",
	        ends[0].deviation, least, ends[1].deviation, most, job->algo->id, scaling);
	return KDR_OK;
}

/* Whether scaling to [0, 1] could make a row of zeros: one that has the lowest value of every column, of which none is negative. The
 * other data sets and ranks can only prevent it. */
static kdr_status may_empty_rows(kdr_context *ctx, kdr_data *const *sets, int64_t count, bool *out)
{
	kdr_status st = KDR_OK;
	double *lowest = NULL;
	*out = false;
	for (int64_t t = 0; t < count && !*out; t++) {
		const kdr_mat x = kdr_data_mat(sets[t]);
		KDRI_TRY(KDRI_GROW(ctx, &lowest, sets[t]->cols));
		for (int64_t j = 0; j < sets[t]->cols; j++)
			lowest[j] = x.kind == KDR_MAT_DENSE ? INFINITY : 0;
		for (int pass = 0; pass < 2; pass++)
			for (int64_t i = 0; i < sets[t]->rows && !*out; i++) {
				const kdri_entries row = kdri_row_entries(&x, i);
				bool all = pass == 1;
				for (int64_t p = 0; p < row.count; p++) {
					double *low = &lowest[kdri_entry_column(&row, p)];
					all = all && row.val[p] <= *low;
					*low = KDRI_MIN(*low, row.val[p]);
				}
				*out = all;
			}
	}
	KDRI_TRY(kdri_any(ctx, out));
done:
	kdri_free(ctx, lowest);
	return st;
}

/* Chooses weight, norm and scale for a method that does not scale data: the same as auto for counts, histograms and
 * columns in different units, with a scaling that suits the method. Data with negative values were scaled or centred
 * on purpose and are not changed, except for tables with categories or dates; neither are intensities and weighted
 * data, which auto would scale to unit length. Methods that are defined on counts get them unweighted. */
static kdr_status choose_plain(kdr_context *ctx, kdri_job *job, kdr_data **sets, int64_t count,
                               kdr_prep_options *out)
{
	kdri_traits traits = { 0 };
	bool table = false, empty = false;
	const char *scaling = scaling_for(job);
	KDRI_DO(kdri_recipe_find(ctx, sets, count, job->algo->family == KDR_FAMILY_TRANSFER, &job->recipe));
	const kdr_recipe *r = &job->recipe;
	for (int64_t t = 0; t < count; t++) {
		const kdr_mat x = kdr_data_mat(sets[t]);
		table = table || kdri_data_mixed(sets[t], false);
		KDRI_DO(kdri_traits_add(ctx, &x, &traits));
	}
	KDRI_DO(kdri_any(ctx, &table));
	const bool scaled = r->kind == KDR_DATA_UNITS && scaling[0] && (table || !traits.negative);
	if (scaled && strcmp(divergence_of(job), "kl") == 0)
		KDRI_DO(may_empty_rows(ctx, sets, count, &empty));
	if (empty) {
		kdri_snprintf(
		        job->hint, sizeof job->hint,
		        "columns are not scaled, because a sample with the lowest value of every column would become a row of zeros, "
		        "which divergence kl cannot compare");
	} else if (scaled) {
		out->scale = strcmp(scaling, "minmax") == 0 ? KDR_SCALE_MINMAX : KDR_SCALE_STANDARD;
	} else if (r->weight != KDR_WEIGHT_NONE && !(job->algo->flags & KDR_ALGO_COUNTS) &&
	           !compares_counts(divergence_of(job))) {
		out->weight = r->weight;
		out->norm = r->norm;
	} else if (r->kind == KDR_DATA_UNITS) {
		KDRI_DO(hint(ctx, job, sets, count));
	}
	return KDR_OK;
}

kdr_status kdri_job_prepare(kdr_context *ctx, kdri_job *job, kdr_data **sets, int64_t count, int64_t split)
{
	double start = kdri_now();
	const kdr_job_options *wanted = job->wanted;
	kdr_prep_options prep = *wanted->prep;
	kdri_prep_source from = KDRI_PREP_SPECIFIED;
	/* Features that are learnt first are learnt from distances. */
	const bool tables = (job->algo->flags & KDR_ALGO_TABLES) && !job->feature_options && !split &&
	                    wanted->prep->top_features == 0;
	for (int64_t i = 0; i < count; i++)
		job->seconds.read += sets[i]->seconds;
	KDRI_DO(kdri_check_columns(ctx, sets, count, wanted->k));
	if (kdri_prep_chosen(wanted->prep, wanted->choice)) {
		if (wanted->choice == KDR_PREP_BY_DATA || (job->algo->flags & KDR_ALGO_RECIPE))
			from = job->algo->family == KDR_FAMILY_TRANSFER ? KDRI_PREP_WIDE_RECIPE
			                                                : KDRI_PREP_RECIPE;
		else
			KDRI_DO(choose_plain(ctx, job, sets, count, &prep));
		if (!(job->algo->flags & KDR_ALGO_OWN_FEATURES) && !split)
			KDRI_DO(kdri_recipe_mismatch(ctx, sets, count, job->hint, sizeof job->hint));
	}
	KDRI_DO(kdri_prepare_sets(ctx, sets, count, split, job->algo->flags & KDR_ALGO_OWN_FEATURES, &prep,
	                          from, tables, &job->recipe, &job->prep));
	job->encoded = !tables;
	if (job->recipe.centre &&
	    strcmp(job->algo->id, "auto") == 0) /* the mixture has an option of that name */
		KDRI_DO(kdri_job_set(ctx, job, "centre", "both"));
	if (job->recipe.kind == KDR_DATA_UNITS)
		KDRI_DO(kdri_job_set(ctx, job, "tables", "yes"));
	job->seconds.prepare = kdri_now() - start;
	return KDR_OK;
}

kdr_status kdri_job_encode(kdr_context *ctx, kdri_job *job, kdr_data **sets, int64_t count)
{
	for (int64_t t = 0; t < count && !job->encoded; t++)
		KDRI_DO(kdri_table_encode(ctx, job->prep, t, sets[t]));
	job->encoded = true;
	return KDR_OK;
}

void kdri_job_finish(kdri_job *job, kdr_result *result)
{
	result->prep = job->prep;
	job->prep = NULL;
	result->kind = job->recipe.kind;
	result->seconds = job->seconds;
	/* Computed once, so that all outputs of a result agree. */
	result->peak_rss_bytes = (int64_t)kdri_memory_peak();
}
