/* Preprocessing: kdr_prepare and kdr_prep_apply. SPDX-License-Identifier: BSD-3-Clause
 *
 * Dense and sparse tasks can be combined: each keeps its storage, the fitted numbers are shared, and standard scaling
 * then centres none of them. */
#include "comm/comm.h"
#include "prepare/prep.h"

#include <stdio.h>

const char *const kdri_align_names[] = { "default", "union", "intersect", "position", NULL };
const char *const kdri_weight_names[] = { "none", "binary", "log1p", "cpm", "tfidf", "sqrt", NULL };
const char *const kdri_norm_names[] = { "none", "l1", "l2", NULL };
const char *const kdri_scale_names[] = { "none", "standard", "minmax", "table", NULL };
const char *const kdri_top_names[] = { "df", "variance", "dispersion", NULL };

/* --- the fitted object ------------------------------------------------------------------------- */

kdr_status kdri_prep_new(kdr_context *ctx, const kdr_prep_options *options, int64_t tasks, kdr_prep **out)
{
	kdr_prep *p;
	kdr_status st = KDRI_NEW0(ctx, &p, 1);
	if (st != KDR_OK)
		return st;
	p->allocator = ctx->allocator;
	p->options = *options;
	p->tasks = tasks;
	p->fit_each = options->fit_each;
	p->sets = options->fit_each ? tasks : 1;
	*out = p;
	return KDR_OK;
}

void kdr_prep_free(kdr_prep *p)
{
	if (!p)
		return;
	kdr_allocator a = p->allocator;
	kdri_strings_free(&a, p->names, p->cols);
	KDRI_FREE_WITH(&a, p->idf, p->median, p->offset, p->divisor, p->column_kind, p->unit, p->low, p->high,
	               p->hole, p->kept, p->group, p->origin, p->fill, p->reading_columns, p->reading_missing,
	               p->reading_texts);
	kdri_strings_free(&a, p->reading_na, p->reading_nna);
	kdri_free_with(&a, p->place);
	kdri_strings_free(&a, p->warnings, p->nwarnings);
	kdri_free_with(&a, p);
}

kdr_status kdri_prep_warn(kdr_context *ctx, kdr_prep *p, const char *format, ...)
{
	char text[512];
	va_list args;
	va_start(args, format);
	kdri_vsnprintf(text, sizeof text, format, args);
	va_end(args);
	kdri_one_line(text);
	return kdri_strings_append(ctx, &p->warnings, &p->nwarnings, text);
}

int64_t kdri_prep_warning_count(const kdr_prep *p)
{
	return p ? p->nwarnings : 0;
}

const char *kdri_prep_warning_at(const kdr_prep *p, int64_t index)
{
	return p && index >= 0 && index < p->nwarnings ? p->warnings[index] : NULL;
}

kdr_status kdri_prep_keep(kdr_context *ctx, kdr_prep *p, int64_t *kept, int64_t nkept)
{
	int64_t *place = NULL;
	KDRI_DO(KDRI_NEW(ctx, &place, p->cols));
	for (int64_t j = 0; j < p->cols; j++)
		place[j] = -1;
	for (int64_t k = 0; k < nkept; k++)
		place[kept[k]] = k;
	p->kept = kept;
	p->nkept = nkept;
	p->place = place;
	return KDR_OK;
}

void kdri_prep_finish(kdr_prep *p)
{
	const kdr_prep_options *o = &p->options;
	if (!p->kept)
		p->nkept = p->cols;
	char *text = p->description;
	size_t size = sizeof p->description;
	int used = snprintf(text, size, "features: %s (%lld data set%s, %lld columns)",
	                    kdri_align_names[o->align], (long long)p->tasks, p->tasks == 1 ? "" : "s",
	                    (long long)p->cols);
	if (o->weight != KDR_WEIGHT_NONE)
		used += snprintf(text + used, size - (size_t)used, "; %s", kdri_weight_names[o->weight]);
	if (o->norm != KDR_NORM_NONE)
		used += snprintf(text + used, size - (size_t)used, "; %s", kdri_norm_names[o->norm]);
	if (o->scale != KDR_SCALE_NONE)
		used += snprintf(text + used, size - (size_t)used, "; %s%s", kdri_scale_names[o->scale],
		                 o->scale == KDR_SCALE_STANDARD && !p->centred ? " without centring" : "");
	if (p->column_kind) {
		kdri_table_sentence(p, text, size);
		return;
	}
	if (p->kept)
		used += snprintf(text + used, size - (size_t)used, "; top %lld%s%s", (long long)p->nkept,
		                 o->top_by == KDR_TOP_DF ? "" : " by ",
		                 o->top_by == KDR_TOP_DF ? "" : kdri_top_names[o->top_by]);
	if (p->fit_each)
		snprintf(text + used, size - (size_t)used, "; fitted on each data set");
}

const char *kdri_prep_describe(const kdr_prep *p)
{
	return p ? p->description : "";
}

/* --- prepare ----------------------------------------------------------------------------------- */

static kdr_status check_arguments(kdr_context *ctx, kdr_data *const *tasks, int64_t count,
                                  const kdr_prep_options *o)
{
	kdr_status st = kdri_check_sets(ctx, "preprocessing", tasks, count, 1);
	if (st != KDR_OK)
		return st;
	if ((int)o->align < 0 || o->align > KDR_ALIGN_POSITION || (int)o->weight < 0 ||
	    o->weight > KDR_WEIGHT_SQRT || (int)o->norm < 0 || o->norm > KDR_NORM_L2 || (int)o->scale < 0 ||
	    o->scale > KDR_SCALE_TABLE || (int)o->top_by < 0 || o->top_by > KDR_TOP_DISPERSION)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT,
		                 "preprocessing: unknown value of align, weight, norm, scale or top_by");
	if (o->top_features < 0)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT, "top features: %lld is negative; use 0 to keep all",
		                 (long long)o->top_features);
	for (int64_t t = 0; t < count; t++)
		for (int64_t s = 0; s < t; s++)
			if (tasks[s] == tasks[t])
				return kdri_fail(ctx, KDR_ERR_ARGUMENT,
				                 "data sets %lld and %lld are the same object",
				                 (long long)s + 1, (long long)t + 1);
	return KDR_OK;
}

static bool has_steps(const kdr_prep_options *o)
{
	return o->weight != KDR_WEIGHT_NONE || o->norm != KDR_NORM_NONE || o->scale != KDR_SCALE_NONE ||
	       o->top_features > 0;
}

/* All ranks must have the same columns: aligned columns that differ in number or name would be added up without an
 * error. */
static kdr_status check_ranks(kdr_context *ctx, const kdr_prep *prep)
{
	kdr_status st;
	uint64_t hash = 0;
	if (!kdri_together(ctx))
		return KDR_OK;
	for (int64_t j = 0; prep->names && j < prep->cols; j++)
		hash = hash * 31 + kdri_fnv1a(prep->names[j], strlen(prep->names[j]));
	int64_t word = (int64_t)(hash >> 2), ends[] = { prep->cols, word, -prep->cols, -word };
	KDRI_TRY(kdri_max_int(ctx, ends, 4));
	if (ends[0] != -ends[2])
		st = kdri_fail(
		        ctx, KDR_ERR_DATA,
		        "the parts of the data have %lld to %lld columns; all ranks need the same number",
		        (long long)-ends[2], (long long)ends[0]);
	else if (ends[1] != -ends[3])
		st = kdri_fail(ctx, KDR_ERR_DATA,
		               "the parts of the data have different column names; all ranks need the same");
done:
	return st;
}

static kdr_status prepare_fit(kdr_context *ctx, kdr_prep *prep, kdr_data *const *tasks, int64_t count,
                              kdri_columns *columns)
{
	kdr_status st;
	char sideways[300], why[sizeof ctx->error];
	KDRI_TRY(kdri_orientation(ctx, tasks, count, sideways, sizeof sideways));
	st = kdri_align(ctx, prep, tasks, count, columns);
	if (st == KDR_ERR_DATA && sideways[0]) {
		memcpy(why, ctx->error, sizeof why);
		st = kdri_fail(ctx, st, "%.250s; %s", why, sideways);
	}
	if (st == KDR_OK && sideways[0])
		st = kdri_prep_warn(ctx, prep, "%s", sideways);
	if (st != KDR_OK)
		goto done;
	KDRI_TRY(check_ranks(ctx, prep));
	KDRI_TRY(kdri_hints(ctx, prep, tasks, count));
	KDRI_TRY(kdri_kinds_fit(ctx, prep, tasks, count, columns));
	KDRI_TRY(check_ranks(ctx, prep)); /* of those that are left */
	for (int64_t t = 0; t < count; t++)
		KDRI_TRY(kdri_align_absent(ctx, prep, tasks[t], &columns[t]));
	if (has_steps(&prep->options) || prep->group) {
		for (int64_t t = 0; t < count; t++)
			KDRI_TRY(kdri_check_values(ctx, prep, tasks[t], &columns[t]));
		KDRI_TRY(kdri_fit_weight(ctx, prep, tasks, count, columns));
		KDRI_TRY(kdri_fit_top(ctx, prep, tasks, count, columns));
		KDRI_TRY(kdri_fit_scale(ctx, prep, tasks, count, columns));
		for (int64_t t = 0; t < count; t++)
			KDRI_TRY(kdri_check_zeros(ctx, prep, prep->fit_each ? t : 0, tasks[t], &columns[t]));
	}
	kdri_prep_finish(prep);
done:
	return st;
}

kdr_status kdr_prepare(kdr_context *ctx, kdr_data **tasks, int64_t count, const kdr_prep_options *options,
                       kdr_prep **out)
{
	kdr_status st;
	kdr_prep *prep = NULL;
	kdri_columns *columns = NULL;
	kdri_change *changes = NULL;
	kdr_prep_options own;
	if (!ctx)
		return KDR_ERR_ARGUMENT;
	kdri_enter(ctx);
	KDRI_TRY(KDRI_TAKE(ctx, kdr_prep_options, options, &own));
	options = &own;
	KDRI_TRY(check_arguments(ctx, tasks, count, options));
	KDRI_TRY(kdri_prep_new(ctx, options, count, &prep));
	KDRI_TRY(KDRI_NEW0(ctx, &columns, count));
	KDRI_TRY(KDRI_NEW0(ctx, &changes, count));
	KDRI_TRY(prepare_fit(ctx, prep, tasks, count, columns));
	for (int64_t t = 0; t < count; t++) {
		KDRI_TRY(kdri_kinds_since(ctx, prep, tasks[t], &columns[t]));
		KDRI_TRY(kdri_change_new(ctx, prep, tasks[t], &columns[t], &changes[t]));
		KDRI_TRY(kdri_original_keep(ctx, prep, &columns[t], &changes[t], tasks[t]));
	}
	KDRI_TRY(kdri_agree(ctx, KDR_OK));
	for (int64_t t = 0; t < count; t++) { /* from here on nothing can fail */
		kdri_change_write(ctx, prep, prep->fit_each ? t : 0, &columns[t], &changes[t], tasks[t]);
		kdri_kinds_done(prep, &columns[t], tasks[t]);
	}
	if (out) {
		*out = prep;
		prep = NULL;
	} else {
		for (int64_t i = 0; i < prep->nwarnings; i++)
			kdri_message(ctx, "%s", prep->warnings[i]);
	}
done:
	for (int64_t t = 0; t < count && columns; t++)
		kdri_align_free(ctx, &columns[t]);
	for (int64_t t = 0; t < count && changes; t++)
		kdri_change_free(ctx, &changes[t]);
	KDRI_FREE(ctx, columns, changes);
	kdr_prep_free(prep);
	return kdri_leave(ctx, st);
}

kdr_status kdr_prep_apply(kdr_context *ctx, const kdr_prep *prep, int64_t task, kdr_data *data)
{
	kdr_status st;
	kdri_columns columns = { 0 };
	kdri_change change = { 0 };
	KDRI_NEED(ctx, prep && data);
	if (prep->fit_each && (task < 0 || task >= prep->sets))
		return kdri_fail(
		        ctx, KDR_ERR_ARGUMENT,
		        "data set number %lld is out of range; the preprocessing was fitted on %lld data sets separately (0 to %lld)",
		        (long long)task, (long long)prep->sets, (long long)prep->sets - 1);
	int64_t set = prep->fit_each ? task : 0;
	if (prep->fill && prep->options.scale != KDR_SCALE_TABLE && data->kind == KDR_MAT_DENSE &&
	    task >= 0 && task < prep->tasks)
		columns.fill = prep->fill + task * prep->cols;
	KDRI_TRY(kdri_align_new(ctx, prep, data, &columns));
	KDRI_TRY(kdri_align_absent(ctx, prep, data, &columns));
	KDRI_TRY(kdri_kinds_shift(ctx, prep, data, &columns));
	KDRI_TRY(kdri_kinds_refill(ctx, prep, task, &columns, data));
	if (has_steps(&prep->options) || prep->divisor) {
		KDRI_TRY(kdri_check_values(ctx, prep, data, &columns));
		KDRI_TRY(kdri_check_zeros(ctx, prep, set, data, &columns));
	}
	KDRI_TRY(kdri_kinds_since(ctx, prep, data, &columns));
	KDRI_TRY(kdri_change_new(ctx, prep, data, &columns, &change));
	KDRI_TRY(kdri_original_keep(ctx, prep, &columns, &change, data));
	kdri_change_write(ctx, prep, set, &columns, &change, data);
	kdri_kinds_done(prep, &columns, data);
done:
	kdri_align_free(ctx, &columns);
	kdri_change_free(ctx, &change);
	return st;
}
