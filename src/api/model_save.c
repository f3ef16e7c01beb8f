/* Writing model files; docs/model-file.md has their layout. SPDX-License-Identifier: BSD-3-Clause */
#include "api/model.h"
#include "api/moments.h"
#include "api/result.h"
#include "io/hdf5/h5.h"
#include "prepare/prep.h"

#include <stdio.h>

static const kdr_field_desc *find_field(const kdr_algo *algo, const char *name)
{
	for (const kdr_field_desc *f = algo->fields; f && f->name; f++)
		if (strcmp(f->name, name) == 0)
			return f;
	return NULL;
}

/* What clusters are called, by number; "" for none. */
static kdr_status save_titles(kdr_context *ctx, const kdri_h5 *h5, const kdr_result *r)
{
	kdr_status st;
	const char **titles = NULL, **names = NULL;
	int64_t span = r->titles ? r->numbers : 0;
	bool named = false;
	for (int64_t t = 0; t < r->ntasks; t++)
		span = KDRI_MAX(span, kdri_cluster_span(&r->tasks[t]));
	KDRI_TRY(KDRI_NEW(ctx, &titles, span));
	KDRI_TRY(KDRI_NEW(ctx, &names, span));
	for (int64_t n = 0; n < span; n++) {
		titles[n] = r->titles && n < r->numbers && r->titles[n] ? r->titles[n] : "";
		names[n] = "";
		for (int64_t t = 0; t < r->ntasks && !names[n][0]; t++) {
			const int64_t c = r->tasks[t].names ? kdri_cluster_at(&r->tasks[t], n) : -1;
			if (c >= 0 && r->tasks[t].names[c])
				names[n] = r->tasks[t].names[c];
		}
		named = named || names[n][0];
	}
	if (r->titles && r->numbers > 0)
		KDRI_TRY(kdri_h5_write_strings(ctx, h5, "titles", titles, r->numbers));
	if (named)
		KDRI_TRY(kdri_h5_write_strings(ctx, h5, "names", names, span));
done:
	KDRI_FREE(ctx, titles, names);
	return st;
}

static kdr_status save_root(kdr_context *ctx, const kdri_h5 *h5, const kdr_result *r)
{
	const kdri_task_result *first = &r->tasks[0]; /* columns are aligned: all tasks have the same */
	const int64_t version = KDRI_MODEL_VERSION, seed = (int64_t)r->seed, exponent = r->exponent;
	KDRI_DO(kdri_h5_set_text(ctx, h5, "/", "format", KDRI_MODEL_FORMAT));
	KDRI_DO(kdri_h5_set_integers(ctx, h5, "/", "format_version", &version, 1));
	KDRI_DO(kdri_h5_set_text(ctx, h5, "/", "kindred_version", kdr_version()));
	KDRI_DO(kdri_h5_set_text(ctx, h5, "/", "method", r->algo->id));
	KDRI_DO(kdri_h5_set_integers(ctx, h5, "/", "seed", &seed, 1));
	KDRI_DO(kdri_h5_set_integers(ctx, h5, "/", "columns", &first->d, 1));
	if (exponent != 0)
		KDRI_DO(kdri_h5_set_integers(ctx, h5, "/", "exponent", &exponent, 1));
	if (first->features)
		KDRI_DO(kdri_h5_write_strings(ctx, h5, "features", (const char *const *)first->features,
		                              first->d));
	if (r->classes)
		KDRI_DO(kdri_h5_write_strings(ctx, h5, "classes", (const char *const *)r->classes,
		                              r->nclasses));
	return r->classes ? KDR_OK : save_titles(ctx, h5, r);
}

static kdr_status save_options(kdr_context *ctx, const kdri_h5 *h5, const kdr_options *options)
{
	KDRI_DO(kdri_h5_make_group(ctx, h5, "options"));
	for (const kdr_option_desc *d = kdr_options_algo(options)->options; d && d->name; d++) {
		int64_t count = 1;
		const double *values = kdri_options_numbers(options, d->name, &count);
		const bool real = d->type == KDR_OPTION_REAL || d->type == KDR_OPTION_REALS;
		const int64_t integer = real ? 0 : (int64_t)values[0];
		if (d->type == KDR_OPTION_CHOICE)
			KDRI_DO(kdri_h5_set_text(ctx, h5, "options", d->name, d->choices[integer]));
		else if (real)
			KDRI_DO(kdri_h5_set_reals(ctx, h5, "options", d->name, values, count));
		else
			KDRI_DO(kdri_h5_set_integers(ctx, h5, "options", d->name, &integer, 1));
	}
	return KDR_OK;
}

static kdr_status save_tasks(kdr_context *ctx, const kdri_h5 *h5, const kdr_result *result)
{
	char name[64];
	KDRI_DO(kdri_h5_make_group(ctx, h5, "tasks"));
	for (int64_t t = 0; t < kdr_result_ntasks(result); t++) {
		const int64_t k = kdr_result_k(result, t);
		snprintf(name, sizeof name, "tasks/%lld", (long long)t);
		KDRI_DO(kdri_h5_make_group(ctx, h5, name));
		KDRI_DO(kdri_h5_set_text(ctx, h5, name, "name", result->tasks[t].name));
		KDRI_DO(kdri_h5_set_integers(ctx, h5, name, "k", &k, 1));
		if (result->tasks[t].sizes && k > 0)
			KDRI_DO(kdri_h5_set_integers(ctx, h5, name, "sizes", result->tasks[t].sizes, k));
		if (result->tasks[t].number && k > 0)
			KDRI_DO(kdri_h5_set_integers(ctx, h5, name, "numbers", result->tasks[t].number, k));
	}
	return KDR_OK;
}

static kdr_status save_arrays(kdr_context *ctx, const kdri_h5 *h5, const kdr_result *result)
{
	char name[256];
	KDRI_DO(kdri_h5_make_group(ctx, h5, "arrays"));
	for (int64_t i = 0; i < kdr_result_array_count(result); i++) {
		kdr_array a = kdr_result_array_at(result, i);
		const kdr_field_desc *field = find_field(kdr_result_algo(result), a.name);
		if (!field || !field->in_model)
			continue;
		snprintf(name, sizeof name, "arrays/%s", a.name);
		if (a.task >= 0) {
			if (kdri_h5_what(h5, name) == KDRI_H5_NONE)
				KDRI_DO(kdri_h5_make_group(ctx, h5, name));
			snprintf(name, sizeof name, "arrays/%s/%lld", a.name, (long long)a.task);
		}
		KDRI_DO(kdri_h5_write_array(ctx, h5, name,
		                            a.type == KDR_INT64 ? H5T_NATIVE_INT64 : H5T_NATIVE_DOUBLE,
		                            a.ndim, a.shape, a.data));
	}
	return KDR_OK;
}

static kdr_status save_known(kdr_context *ctx, const kdri_h5 *h5, const kdr_result *result)
{
	char name[64];
	KDRI_DO(kdri_h5_make_group(ctx, h5, "known"));
	for (int64_t t = 0; t < result->ntasks; t++) {
		const kdri_task_result *task = &result->tasks[t];
		snprintf(name, sizeof name, "known/%lld", (long long)t);
		if (task->nknown > 0)
			KDRI_DO(kdri_h5_write_array(ctx, h5, name, H5T_NATIVE_INT64, 2,
			                            (int64_t[]){ task->nknown, 2 }, task->known));
	}
	return KDR_OK;
}

static kdr_status save_part(kdr_context *ctx, const kdri_h5 *h5, int64_t t, const char *part, hid_t type,
                            int64_t rows, int64_t cols, const void *data)
{
	char name[64];
	snprintf(name, sizeof name, "remembered/%lld/%s", (long long)t, part);
	return kdri_h5_write_array(ctx, h5, name, type, cols > 0 ? 2 : 1, (int64_t[]){ rows, cols }, data);
}

/* Sparse samples as in AnnData: data, indices, indptr. */
static kdr_status save_remembered(kdr_context *ctx, const kdri_h5 *h5, const kdr_result *result)
{
	char name[64];
	KDRI_DO(kdri_h5_make_group(ctx, h5, "remembered"));
	for (int64_t t = 0; t < result->ntasks; t++) {
		const kdr_data *d = result->tasks[t].remembered;
		if (!d || d->rows == 0 || d->cols == 0)
			continue;
		snprintf(name, sizeof name, "remembered/%lld", (long long)t);
		KDRI_DO(kdri_h5_make_group(ctx, h5, name));
		KDRI_DO(save_part(ctx, h5, t, "labels", H5T_NATIVE_INT64, d->rows, 0, d->labels));
		if (d->kind == KDR_MAT_DENSE) {
			KDRI_DO(save_part(ctx, h5, t, "x", H5T_NATIVE_DOUBLE, d->rows, d->cols, d->dense));
			continue;
		}
		KDRI_DO(save_part(ctx, h5, t, "indptr", H5T_NATIVE_INT64, d->rows + 1, 0, d->rowptr));
		if (d->rowptr[d->rows] == 0)
			continue;
		KDRI_DO(save_part(ctx, h5, t, "indices", H5T_NATIVE_INT32, d->rowptr[d->rows], 0, d->col));
		KDRI_DO(save_part(ctx, h5, t, "data", H5T_NATIVE_DOUBLE, d->rowptr[d->rows], 0, d->val));
	}
	return KDR_OK;
}

static kdr_status save_moments(kdr_context *ctx, const kdri_h5 *h5, const kdr_result *result)
{
	char name[64];
	KDRI_DO(kdri_h5_make_group(ctx, h5, "moments"));
	for (int64_t t = 0; t < result->ntasks; t++) {
		const kdri_moments *m = result->tasks[t].moments;
		if (!m || m->d == 0)
			continue;
		snprintf(name, sizeof name, "moments/%lld", (long long)t);
		KDRI_DO(kdri_h5_make_group(ctx, h5, name));
		KDRI_DO(kdri_h5_set_integers(ctx, h5, name, "draws", m->draws, m->k));
		KDRI_DO(kdri_h5_set_integers(ctx, h5, name, "sparse", &(int64_t){ m->sparse }, 1));
		const struct {
			const char *name;
			const double *data;
			int64_t shape[3];
		} parts[] = { { "mean", m->mean, { m->k, m->d } },
			      { "variance", m->variance, { m->k, m->d } },
			      { "missing", m->missing, { m->k, m->d } },
			      { "directions", m->direction, { m->k, m->rank, m->d } } };
		for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
			snprintf(name, sizeof name, "moments/%lld/%s", (long long)t, parts[i].name);
			if (parts[i].data)
				KDRI_DO(kdri_h5_write_array(ctx, h5, name, H5T_NATIVE_DOUBLE, i == 3 ? 3 : 2,
				                            parts[i].shape, parts[i].data));
		}
	}
	return KDR_OK;
}

static kdr_status save_prep(kdr_context *ctx, const kdri_h5 *h5, const kdr_prep *prep)
{
	kdri_prep_dump dump;
	char name[128];
	KDRI_DO(kdri_prep_export(ctx, prep, &dump));
	KDRI_DO(kdri_h5_make_group(ctx, h5, "prep"));
	for (int i = 0; i < dump.narrays; i++) {
		const kdri_dump_array *a = &dump.arrays[i];
		snprintf(name, sizeof name, "prep/%s", a->name);
		KDRI_DO(kdri_h5_write_array(ctx, h5, name,
		                            a->type == KDR_INT64 ? H5T_NATIVE_INT64 : H5T_NATIVE_DOUBLE, 1,
		                            &a->count, a->data));
	}
	for (int i = 0; i < dump.nstrings; i++) {
		snprintf(name, sizeof name, "prep/%s", dump.strings[i].name);
		KDRI_DO(kdri_h5_write_strings(ctx, h5, name, dump.strings[i].strings, dump.strings[i].count));
	}
	return KDR_OK;
}

kdr_status kdr_model_save(kdr_context *ctx, const char *path, const kdr_result *result, bool force)
{
	KDRI_NEED(ctx, path && result);
	kdr_status st;
	kdri_output *o = NULL;
	kdri_h5 h5 = { 0 };
	KDRI_TRY(kdri_model_check(ctx, result, path));
	KDRI_TRY(kdri_output_open(ctx, path, force, &o));
	KDRI_TRY(kdri_h5_create(ctx, path, kdri_output_temporary(o), &h5));
	KDRI_TRY(save_root(ctx, &h5, result));
	KDRI_TRY(save_options(ctx, &h5, result->options));
	KDRI_TRY(save_tasks(ctx, &h5, result));
	KDRI_TRY(save_arrays(ctx, &h5, result));
	KDRI_TRY(save_known(ctx, &h5, result));
	KDRI_TRY(save_remembered(ctx, &h5, result));
	KDRI_TRY(save_moments(ctx, &h5, result));
	if (result->prep)
		KDRI_TRY(save_prep(ctx, &h5, result->prep));
	KDRI_TRY(kdri_h5_seal(ctx, &h5));
	KDRI_TRY(kdri_h5_finish(ctx, &h5));
done:
	kdri_h5_close(&h5);
	return kdri_output_finish(ctx, o, st);
}
