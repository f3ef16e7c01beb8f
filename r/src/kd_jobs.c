/* Jobs: cluster, transfer, relate, embed, predict. SPDX-License-Identifier: BSD-3-Clause */
#include "kd_r.h"

#include <string.h>

#include "core/json_read.h"

/* --- JSON as lists ------------------------------------------------------------------------------------------------ */

static SEXP from_json(const kdri_json_value *v);

/* Arrays of numbers, texts or truth values become vectors, in which null is NA; others become lists. */
static SEXP array_from_json(const kdri_json_value *v)
{
	const int64_t n = kdri_json_count(v);
	int64_t numbers = 0, texts = 0, bools = 0, nulls = 0;
	for (int64_t i = 0; i < n; i++) {
		const kdri_json_value *one = kdri_json_at(v, i);
		numbers += kdri_json_is_number(one);
		texts += kdri_json_is(one, KDRI_JSON_TEXT);
		bools += kdri_json_is_bool(one);
		nulls += kdri_json_is(one, KDRI_JSON_NULL);
	}
	SEXP out = R_NilValue;
	if (n > 0 && numbers + nulls == n) {
		out = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)n));
		for (int64_t i = 0; i < n; i++)
			REAL(out)[i] = kdri_json_number(kdri_json_at(v, i), NA_REAL);
	} else if (texts > 0 && texts + nulls == n) {
		out = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)n));
		for (int64_t i = 0; i < n; i++) {
			const char *text = kdri_json_text(kdri_json_at(v, i), NULL);
			SET_STRING_ELT(out, (R_xlen_t)i, text ? Rf_mkCharCE(text, CE_UTF8) : NA_STRING);
		}
	} else if (bools > 0 && bools + nulls == n) {
		out = PROTECT(Rf_allocVector(LGLSXP, (R_xlen_t)n));
		for (int64_t i = 0; i < n; i++) {
			const kdri_json_type type = kdri_json_typeof(kdri_json_at(v, i));
			LOGICAL(out)[i] = type == KDRI_JSON_NULL ? NA_LOGICAL : type == KDRI_JSON_TRUE;
		}
	} else {
		out = PROTECT(Rf_allocVector(VECSXP, (R_xlen_t)n));
		for (int64_t i = 0; i < n; i++)
			SET_VECTOR_ELT(out, (R_xlen_t)i, from_json(kdri_json_at(v, i)));
	}
	UNPROTECT(1);
	return out;
}

static SEXP from_json(const kdri_json_value *v)
{
	switch (kdri_json_typeof(v)) {
	case KDRI_JSON_FALSE:
	case KDRI_JSON_TRUE: return Rf_ScalarLogical(kdri_json_is(v, KDRI_JSON_TRUE));
	case KDRI_JSON_INTEGER:
	case KDRI_JSON_REAL: return Rf_ScalarReal(kdri_json_number(v, NA_REAL));
	case KDRI_JSON_TEXT: return kd_string(kdri_json_text(v, NULL));
	case KDRI_JSON_ARRAY: return array_from_json(v);
	case KDRI_JSON_OBJECT: {
		const int64_t n = kdri_json_count(v);
		SEXP out = PROTECT(Rf_allocVector(VECSXP, (R_xlen_t)n));
		SEXP names = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)n));
		for (int64_t i = 0; i < n; i++) {
			const kdri_json_value *one = kdri_json_at(v, i);
			SET_STRING_ELT(names, (R_xlen_t)i, Rf_mkCharCE(kdri_json_key(one), CE_UTF8));
			SET_VECTOR_ELT(out, (R_xlen_t)i, from_json(one));
		}
		Rf_setAttrib(out, R_NamesSymbol, names);
		UNPROTECT(2);
		return out;
	}
	default: return R_NilValue;
	}
}

/* The JSON text that the session holds, as an object of R. */
static SEXP parsed(kd_session *s, size_t length)
{
	if (!kd_ok(s, kdri_json_parse(s->ctx, "result", 1, s->text, length, &s->json)))
		return R_NilValue;
	SEXP out = PROTECT(from_json(s->json));
	kd_session_clear(s);
	UNPROTECT(1);
	return out;
}

/* --- options ------------------------------------------------------------------------------------------------------ */

/* The handles of a list of data sets. */
static kdr_data **open_sets(SEXP sets)
{
	const R_xlen_t n = Rf_xlength(sets);
	kdr_data **out = (kdr_data **)R_alloc((size_t)n + 1, sizeof *out);
	for (R_xlen_t t = 0; t < n; t++)
		out[t] = kd_open_data(VECTOR_ELT(sets, t));
	return out;
}

static const int64_t *whole_numbers(SEXP x)
{
	const R_xlen_t n = Rf_xlength(x);
	int64_t *out = (int64_t *)R_alloc((size_t)n + 1, sizeof *out);
	for (R_xlen_t i = 0; i < n; i++)
		out[i] = INTEGER(x)[i];
	return out;
}

/* Known classes: list(values = integers from 0, names = classes), or NULL. */
static const kdr_labels *known_classes(SEXP one)
{
	if (one == R_NilValue)
		return NULL;
	kdr_labels *out = (kdr_labels *)R_alloc(1, sizeof *out);
	SEXP values = kd_get(one, "values"), names = kd_get(one, "names");
	*out = (kdr_labels){ .n = Rf_xlength(values),
		             .values = (int64_t *)whole_numbers(values),
		             .names = (char **)kd_texts(names),
		             .count = Rf_xlength(names) };
	return out;
}

/* Files with known classes, one for each data set or target. */
static void known_files(SEXP how, kdr_job_options *o)
{
	SEXP files = kd_get(how, "known_files");
	o->known_files = kd_texts(files);
	o->nknown_files = Rf_xlength(files);
}

/* Known classes of the samples of `n` data sets. */
static void known_samples(SEXP how, R_xlen_t n, kdr_job_options *o)
{
	SEXP known = kd_get(how, "known");
	known_files(how, o);
	o->known_in_data = kd_flag(how, "known_in_data");
	if (known != R_NilValue) {
		const kdr_labels **each = (const kdr_labels **)R_alloc((size_t)n, sizeof *each);
		for (R_xlen_t t = 0; t < n; t++)
			each[t] = known_classes(VECTOR_ELT(known, t));
		o->each_known = each;
	}
}

/* Options by name, as on the command line: a character vector. They belong to the session. NULL: one is not valid. */
static kdr_job_options *options_by_name(kd_session *s, kdr_family family, SEXP how)
{
	SEXP words = kd_get(how, "options"), names = Rf_getAttrib(words, R_NamesSymbol);
	kd_session_clear(s);
	if (!kd_ok(s, kdr_job_new(s->ctx, family, &s->job)))
		return NULL;
	for (R_xlen_t i = 0; i < Rf_xlength(words); i++)
		if (!kd_ok(s, kdr_job_set(s->ctx, s->job, Rf_translateCharUTF8(STRING_ELT(names, i)),
		                          Rf_translateCharUTF8(STRING_ELT(words, i)))))
			return NULL;
	return kdr_job_options_of(s->job);
}

/* Options that cluster and transfer have in common. */
static kdr_job_options *job_options(kd_session *s, kdr_family family, SEXP how)
{
	kdr_job_options *o = options_by_name(s, family, how);
	if (!o)
		return NULL;
	o->map = kd_flag(how, "map");
	o->representation = kd_flag(how, "representation");
	o->model = kd_flag(how, "model");
	o->score = kd_flag(how, "score");
	if (kd_get(how, "into") != R_NilValue)
		o->into = kd_model_of(kd_get(how, "into"));
	return o;
}

/* --- jobs --------------------------------------------------------------------------------------------------------- */

SEXP kd_run_cluster(SEXP session, SEXP sets, SEXP how)
{
	kd_session *s = kd_session_of(session);
	kdr_data **tasks = open_sets(sets);
	const R_xlen_t n = Rf_xlength(sets);
	kdr_result **result = NULL;
	SEXP handle = PROTECT(kd_new_result(&result)), init = kd_get(how, "init");
	kdr_job_options *o = job_options(s, KDR_FAMILY_CLUSTER, how);
	if (o && init != R_NilValue) {
		const int64_t **starts = (const int64_t **)R_alloc((size_t)n, sizeof *starts);
		for (R_xlen_t t = 0; t < n; t++)
			starts[t] = whole_numbers(VECTOR_ELT(init, t));
		o->init = starts;
	}
	if (o)
		known_samples(how, n, o);
	const bool ok = o && kd_ok(s, kdr_cluster(s->ctx, tasks, n, o, result));
	kd_session_clear(s);
	UNPROTECT(1);
	return ok ? handle : R_NilValue;
}

SEXP kd_run_transfer(SEXP session, SEXP sources, SEXP targets, SEXP bridges, SEXP views, SEXP how)
{
	kd_session *s = kd_session_of(session);
	kdr_transfer_sets sets;
	kdr_result **result = NULL;
	SEXP handle = PROTECT(kd_new_result(&result));
	kdr_transfer_sets_init(&sets);
	sets.sources = open_sets(sources);
	sets.nsources = Rf_xlength(sources);
	sets.targets = open_sets(targets);
	sets.ntargets = Rf_xlength(targets);
	sets.bridges = open_sets(bridges);
	sets.nbridges = Rf_xlength(bridges);
	sets.views = Rf_xlength(views) > 0 ? open_sets(views) : NULL;
	kdr_job_options *o = job_options(s, KDR_FAMILY_TRANSFER, how);
	if (o) {
		known_files(how, o);
		o->known = known_classes(kd_get(how, "known"));
	}
	const bool ok = o && kd_ok(s, kdr_transfer(s->ctx, &sets, o, result));
	kd_session_clear(s);
	UNPROTECT(1);
	return ok ? handle : R_NilValue;
}

SEXP kd_run_predict(SEXP session, SEXP model, SEXP data, SEXP task)
{
	kd_session *s = kd_session_of(session);
	kdr_predict_options o;
	kdr_result **result = NULL;
	SEXP handle = PROTECT(kd_new_result(&result));
	kdr_predict_options_init(&o);
	o.task = kd_text(task);
	const bool ok = kd_ok(s, kdr_predict(s->ctx, kd_model_of(model), kd_open_data(data), &o, result));
	UNPROTECT(1);
	return ok ? handle : R_NilValue;
}

SEXP kd_run_relate(SEXP session, SEXP sets, SEXP how)
{
	kd_session *s = kd_session_of(session);
	kdr_data **tasks = open_sets(sets);
	const kdr_job_options *given = options_by_name(s, KDR_FAMILY_CLUSTER, how);
	kdr_relate_options o;
	size_t length = 0;
	if (!given)
		return R_NilValue;
	kdr_relate_options_init(&o);
	o.prep = given->prep;
	o.choice = given->choice;
	if (!kd_ok(s, kdr_relate(s->ctx, tasks, Rf_xlength(sets), &o, &s->text, &length)))
		return R_NilValue;
	return parsed(s, length);
}

SEXP kd_run_embed(SEXP session, SEXP sets, SEXP how)
{
	kd_session *s = kd_session_of(session);
	kdr_data **tasks = open_sets(sets);
	const R_xlen_t count = Rf_xlength(sets);
	const kdr_job_options *given = options_by_name(s, KDR_FAMILY_CLUSTER, how);
	kdr_embed_options o;
	if (!given)
		return R_NilValue;
	kdr_embed_options_init(&o);
	o.layout = (kdr_embed_layout)kd_number(how, "layout", 0);
	o.neighbors = (int64_t)kd_number(how, "neighbors", 0);
	o.sweeps = (int64_t)kd_number(how, "sweeps", 0);
	o.prep = given->prep;
	o.choice = given->choice;
	if (!kd_ok(s, kdr_embed(s->ctx, tasks, count, &o, &s->embedding)))
		return R_NilValue;
	SEXP out = PROTECT(Rf_allocVector(VECSXP, count));
	for (R_xlen_t t = 0; t < count; t++) {
		int64_t n = 0;
		const double *xy = kdr_embedding_task(s->embedding, t, &n);
		SET_VECTOR_ELT(out, t, kd_matrix(xy, n, 2));
	}
	kd_session_clear(s);
	UNPROTECT(1);
	return out;
}

/* Scores of labels against known classes; both are integers. */
SEXP kd_run_evaluate(SEXP session, SEXP labels, SEXP truth)
{
	static const char *const names[] = { "acc",         "nmi",          "ari",       "purity",
		                             "homogeneity", "completeness", "v_measure", NULL };
	kd_session *s = kd_session_of(session);
	kdr_scores scores;
	if (!kd_ok(s, kdr_evaluate(s->ctx, whole_numbers(labels), whole_numbers(truth), Rf_xlength(labels),
	                           &scores)))
		return R_NilValue;
	const double values[] = { scores.acc,         scores.nmi,          scores.ari,      scores.purity,
		                  scores.homogeneity, scores.completeness, scores.v_measure };
	SEXP out = PROTECT(kd_list(names));
	for (int i = 0; i < 7; i++)
		SET_VECTOR_ELT(out, i, Rf_ScalarReal(values[i]));
	UNPROTECT(1);
	return out;
}

/* --- results as JSON, pages and models ------------------------------------------------------------------------------ */

static bool result_json(kd_session *s, SEXP result, bool samples, size_t *length)
{
	kd_session_clear(s);
	return kd_ok(s, kdr_result_json(s->ctx, kd_result_of(result), samples, &s->text, length));
}

SEXP kd_result_text(SEXP session, SEXP result, SEXP samples)
{
	kd_session *s = kd_session_of(session);
	size_t length = 0;
	if (!result_json(s, result, Rf_asLogical(samples) == TRUE, &length))
		return R_NilValue;
	SEXP out = PROTECT(kd_string(s->text));
	kd_session_clear(s);
	UNPROTECT(1);
	return out;
}

SEXP kd_result_parsed(SEXP session, SEXP result)
{
	kd_session *s = kd_session_of(session);
	size_t length = 0;
	return result_json(s, result, false, &length) ? parsed(s, length) : R_NilValue;
}

SEXP kd_result_save(SEXP session, SEXP result, SEXP path, SEXP force)
{
	kd_session *s = kd_session_of(session);
	kd_ok(s, kdr_result_write(s->ctx, kd_result_of(result), kd_text(path), Rf_asLogical(force) == TRUE));
	return R_NilValue;
}

SEXP kd_result_page(SEXP session, SEXP result, SEXP path, SEXP force)
{
	kd_session *s = kd_session_of(session);
	kd_ok(s, kdr_report_result(s->ctx, kd_result_of(result), kd_text(path), Rf_asLogical(force) == TRUE));
	return R_NilValue;
}

SEXP kd_file_page(SEXP session, SEXP from, SEXP path, SEXP force)
{
	kd_session *s = kd_session_of(session);
	kd_ok(s, kdr_report(s->ctx, kd_text(from), kd_text(path), Rf_asLogical(force) == TRUE));
	return R_NilValue;
}

/* The samples of a target that a person should label next, as CSV. */
SEXP kd_result_ask(SEXP session, SEXP result, SEXP task, SEXP path, SEXP force)
{
	kd_session *s = kd_session_of(session);
	kd_ok(s, kdr_result_write_table(s->ctx, kd_result_of(result), KDR_TABLE_ASK, Rf_asInteger(task),
	                                kd_text(path), Rf_asLogical(force) == TRUE));
	return R_NilValue;
}

/* The file that a data set was read from, with more columns; `columns` may be NULL. `level`: of several, from 0; NULL: the result. */
SEXP kd_result_input(SEXP session, SEXP result, SEXP level, SEXP task, SEXP columns, SEXP path, SEXP force)
{
	kd_session *s = kd_session_of(session);
	const kdr_result *r = kd_result_of(result);
	if (level != R_NilValue)
		r = kdr_result_level_at(r, Rf_asInteger(level));
	kd_ok(s, kdr_result_write_input(s->ctx, r, Rf_asInteger(task), kd_text(columns), kd_text(path),
	                                Rf_asLogical(force) == TRUE));
	return R_NilValue;
}

SEXP kd_apply_edits(SEXP session, SEXP result, SEXP edits, SEXP folder, SEXP how, SEXP force)
{
	kd_session *s = kd_session_of(session);
	const kdr_relabel_options o = { .size = sizeof o,
		                        .h5ad = kd_text(kd_get(how, "h5ad")),
		                        .key = kd_text(kd_get(how, "key")),
		                        .table = kd_text(kd_get(how, "table")),
		                        .columns = kd_text(kd_get(how, "columns")),
		                        .model = kd_text(kd_get(how, "model")) };
	kd_ok(s, kdr_relabel(s->ctx, kd_text(result), kd_text(edits), kd_text(folder), &o,
	                     Rf_asLogical(force) == TRUE));
	return R_NilValue;
}

SEXP kd_model_make(SEXP session, SEXP result)
{
	kd_session *s = kd_session_of(session);
	kdr_model **model = NULL;
	kdr_result *from = kd_result_of(result);
	SEXP handle = PROTECT(kd_new_model(result, &model));
	const bool ok = kd_ok(s, kdr_model_new(s->ctx, from, model));
	UNPROTECT(1);
	return ok ? handle : R_NilValue;
}

SEXP kd_model_read(SEXP session, SEXP path)
{
	kd_session *s = kd_session_of(session);
	kdr_model **model = NULL;
	SEXP handle = PROTECT(kd_new_model(R_NilValue, &model));
	const bool ok = kd_ok(s, kdr_model_load(s->ctx, kd_text(path), model));
	UNPROTECT(1);
	return ok ? handle : R_NilValue;
}

SEXP kd_model_write(SEXP session, SEXP result, SEXP path, SEXP force)
{
	kd_session *s = kd_session_of(session);
	kd_ok(s, kdr_model_save(s->ctx, kd_text(path), kd_result_of(result), Rf_asLogical(force) == TRUE));
	return R_NilValue;
}
