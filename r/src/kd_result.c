/* Results, models and the list of methods as objects of R. SPDX-License-Identifier: BSD-3-Clause */
#include "kd_r.h"

#include <stdlib.h>

/* --- handles ------------------------------------------------------------------------------------------------------ */

static void result_finalize(SEXP handle)
{
	kdr_result **result = R_ExternalPtrAddr(handle);
	if (!result)
		return;
	R_ClearExternalPtr(handle);
	kdr_result_free(*result);
	free(result);
}

SEXP kd_new_result(kdr_result ***out)
{
	SEXP handle = PROTECT(R_MakeExternalPtr(NULL, R_NilValue, R_NilValue));
	R_RegisterCFinalizerEx(handle, result_finalize, TRUE);
	*out = calloc(1, sizeof **out);
	if (!*out)
		Rf_error("not enough memory");
	R_SetExternalPtrAddr(handle, *out);
	UNPROTECT(1);
	return handle;
}

kdr_result *kd_result_of(SEXP handle)
{
	kdr_result **result = TYPEOF(handle) == EXTPTRSXP ? R_ExternalPtrAddr(handle) : NULL;
	if (!result || !*result)
		Rf_error("the result is no longer in memory");
	return *result;
}

static void model_finalize(SEXP handle)
{
	kdr_model **model = R_ExternalPtrAddr(handle);
	if (!model)
		return;
	R_ClearExternalPtr(handle);
	kdr_model_free(*model);
	free(model);
}

SEXP kd_new_model(SEXP keep, kdr_model ***out)
{
	SEXP handle = PROTECT(R_MakeExternalPtr(NULL, R_NilValue, keep));
	R_RegisterCFinalizerEx(handle, model_finalize, TRUE);
	*out = calloc(1, sizeof **out);
	if (!*out)
		Rf_error("not enough memory");
	R_SetExternalPtrAddr(handle, *out);
	UNPROTECT(1);
	return handle;
}

kdr_model *kd_model_of(SEXP handle)
{
	kdr_model **model = TYPEOF(handle) == EXTPTRSXP ? R_ExternalPtrAddr(handle) : NULL;
	if (!model || !*model)
		Rf_error("the model is no longer in memory");
	return *model;
}

SEXP kd_model_info(SEXP model)
{
	static const char *const names[] = { "method", "tasks", "columns", "features", NULL };
	kdr_model *m = kd_model_of(model);
	const int64_t n = kdr_model_ntasks(m);
	kdr_read_options reading;
	kdr_read_options_init(&reading);
	kdr_model_reading(m, &reading);
	SEXP out = PROTECT(kd_list(names)), tasks = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)n));
	for (int64_t t = 0; t < n; t++)
		SET_STRING_ELT(tasks, (R_xlen_t)t, Rf_mkCharCE(kdr_model_task_name(m, t), CE_UTF8));
	SET_VECTOR_ELT(out, 0, kd_string(kdr_model_algo(m)->id));
	SET_VECTOR_ELT(out, 1, tasks);
	SET_VECTOR_ELT(out, 2, kd_string(reading.columns));
	SET_VECTOR_ELT(out, 3, reading.terms ? kd_strings(reading.terms, reading.nterms) : R_NilValue);
	UNPROTECT(2);
	return out;
}

/* --- results ------------------------------------------------------------------------------------------------------ */

static SEXP array_of(kdr_array a)
{
	if (!a.data)
		return R_NilValue;
	int64_t count = 1, stride[3] = { 0 };
	for (int i = a.ndim - 1; i >= 0; i--) {
		stride[i] = count;
		count *= a.shape[i];
	}
	SEXP out = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)count));
	/* R's order has the first axis fastest. */
	for (int64_t to = 0; to < count; to++) {
		int64_t rest = to, from = 0;
		for (int i = 0; i < a.ndim; i++) {
			from += rest % a.shape[i] * stride[i];
			rest /= a.shape[i];
		}
		REAL(out)
		[to] = a.type == KDR_FLOAT64 ? ((const double *)a.data)[from]
		                             : (double)((const int64_t *)a.data)[from];
	}
	if (a.ndim > 1) {
		SEXP dim = PROTECT(Rf_allocVector(INTSXP, a.ndim));
		for (int i = 0; i < a.ndim; i++)
			INTEGER(dim)[i] = (int)a.shape[i];
		Rf_setAttrib(out, R_DimSymbol, dim);
		UNPROTECT(1);
	}
	UNPROTECT(1);
	return out;
}

/* An array by its name; `task` counts from 0, or is -1 for arrays of all data sets. */
SEXP kd_result_named_array(SEXP result, SEXP name, SEXP task)
{
	return array_of(kdr_result_array(kd_result_of(result), kd_text(name), Rf_asInteger(task)));
}

/* Points of the map: x, y and the sample from 1. */
static SEXP map_of(const kdr_result *r, int64_t t)
{
	const kdr_map map = kdr_result_map(r, t);
	if (map.n == 0)
		return R_NilValue;
	SEXP out = PROTECT(Rf_allocMatrix(REALSXP, (int)map.n, 3));
	for (int64_t i = 0; i < map.n; i++) {
		REAL(out)[i] = map.x[i];
		REAL(out)[map.n + i] = map.y[i];
		REAL(out)[2 * map.n + i] = (double)(map.rows ? map.rows[i] : i) + 1;
	}
	UNPROTECT(1);
	return out;
}

/* What a data set has from the others; NULL: nothing is known. */
static SEXP sharing_of(const kdr_result *r, int64_t t)
{
	static const char *const names[] = { "from", "apart", "moved", "reason", NULL };
	const kdr_sharing s = kdr_result_sharing(r, t);
	if (!s.reason)
		return R_NilValue;
	SEXP out = PROTECT(kd_list(names));
	SET_VECTOR_ELT(out, 0, kd_string(s.from));
	SET_VECTOR_ELT(out, 1, Rf_ScalarReal(R_FINITE(s.apart) ? s.apart : NA_REAL));
	SET_VECTOR_ELT(out, 2, Rf_ScalarInteger(s.moved < 0 ? NA_INTEGER : (int)s.moved));
	SET_VECTOR_ELT(out, 3, kd_string(s.reason));
	UNPROTECT(1);
	return out;
}

static SEXP numbers_of(const kdr_result *r, int64_t t)
{
	const int64_t k = kdr_result_k(r, t);
	SEXP out = Rf_allocVector(INTSXP, (R_xlen_t)k);
	for (int64_t c = 0; c < k; c++)
		INTEGER(out)[c] = (int)kdr_result_number(r, t, c);
	return out;
}

/* 1 + the largest number of a cluster of a data set. */
static int64_t span_of(const kdr_result *r, int64_t t)
{
	const int64_t k = kdr_result_k(r, t);
	int64_t span = 0;
	for (int64_t c = 0; c < k; c++)
		span = kdr_result_number(r, t, c) >= span ? kdr_result_number(r, t, c) + 1 : span;
	return span;
}

/* The probability that each cluster is the same group in all data sets, by number; NA: it is in one. */
static SEXP match_of(const kdr_result *r, int64_t t)
{
	const int64_t span = span_of(r, t);
	SEXP out = Rf_allocVector(REALSXP, (R_xlen_t)span);
	for (int64_t n = 0; n < span; n++) {
		const double p = kdr_result_match(r, n);
		REAL(out)[n] = R_FINITE(p) ? p : NA_REAL;
	}
	return out;
}

/* What clusters are called, by number; NA: nothing, or the data set lacks the number. */
static SEXP names_of(const kdr_result *r, int64_t t)
{
	const int64_t k = kdr_result_k(r, t), span = span_of(r, t);
	SEXP out = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)span));
	for (int64_t n = 0; n < span; n++)
		SET_STRING_ELT(out, (R_xlen_t)n, NA_STRING);
	for (int64_t c = 0; c < k; c++) {
		const int64_t n = kdr_result_number(r, t, c);
		const char *name = kdr_result_name(r, n);
		if (name)
			SET_STRING_ELT(out, (R_xlen_t)n, Rf_mkCharCE(name, CE_UTF8));
	}
	UNPROTECT(1);
	return out;
}

/* Gives clusters other names: by number, or by a file. */
SEXP kd_result_rename(SEXP session, SEXP result, SEXP numbers, SEXP names)
{
	kd_session *s = kd_session_of(session);
	const R_xlen_t n = Rf_xlength(names);
	if (numbers == R_NilValue) {
		kd_ok(s, kdr_result_read_names(s->ctx, kd_result_of(result), kd_text(names)));
		return R_NilValue;
	}
	int64_t *list = (int64_t *)R_alloc((size_t)n + 1, sizeof *list);
	const char **texts = (const char **)R_alloc((size_t)n + 1, sizeof *texts);
	for (R_xlen_t i = 0; i < n; i++) {
		list[i] = INTEGER(numbers)[i];
		texts[i] = Rf_translateCharUTF8(STRING_ELT(names, i));
	}
	kd_ok(s, kdr_result_rename(s->ctx, kd_result_of(result), list, texts, n));
	return R_NilValue;
}

static SEXP task_of(const kdr_result *r, int64_t t)
{
	static const char *const names[] = { "name",           "dim",     "k",       "labels", "ids",
		                             "confidence",     "from",    "second",  "advice", "map",
		                             "probabilities",  "sharing", "numbers", "names",  "match",
		                             "representation", NULL };
	int64_t n = 0, classes = 0, lines = 0, columns = 0;
	const char *from = NULL;
	SEXP out = PROTECT(kd_list(names));
	const kdr_shape shape = kdr_result_task_shape(r, t);
	SET_VECTOR_ELT(out, 0, kd_string(kdr_result_task_name(r, t)));
	SEXP dim = Rf_allocVector(INTSXP, 2);
	SET_VECTOR_ELT(out, 1, dim);
	INTEGER(dim)[0] = (int)shape.rows;
	INTEGER(dim)[1] = (int)shape.cols;
	SET_VECTOR_ELT(out, 2, Rf_ScalarInteger((int)kdr_result_k(r, t)));
	const int64_t *labels = kdr_result_labels(r, t, &n);
	if (!labels)
		n = shape.rows;
	SET_VECTOR_ELT(out, 3, kd_integers(labels, n));
	const char *const *ids = kdr_result_ids(r, t);
	SET_VECTOR_ELT(out, 4, ids ? kd_strings(ids, n) : R_NilValue);
	SET_VECTOR_ELT(out, 5, kd_doubles(kdr_result_confidence(r, t, &from), n));
	SET_VECTOR_ELT(out, 6, kd_string(from));
	SET_VECTOR_ELT(out, 7, kd_integers(kdr_result_second(r, t), n));
	while (kdr_result_advice(r, t, lines))
		lines++;
	SEXP advice = Rf_allocVector(STRSXP, (R_xlen_t)lines);
	SET_VECTOR_ELT(out, 8, advice);
	for (int64_t i = 0; i < lines; i++)
		SET_STRING_ELT(advice, (R_xlen_t)i, Rf_mkCharCE(kdr_result_advice(r, t, i), CE_UTF8));
	SET_VECTOR_ELT(out, 9, map_of(r, t));
	const double *p = kdr_result_probabilities(r, t, &classes);
	SET_VECTOR_ELT(out, 10, kd_matrix(p, n, classes));
	SET_VECTOR_ELT(out, 11, sharing_of(r, t));
	SET_VECTOR_ELT(out, 12, numbers_of(r, t));
	SET_VECTOR_ELT(out, 13, names_of(r, t));
	SET_VECTOR_ELT(out, 14, match_of(r, t));
	const double *shared = kdr_result_representation(r, t, &columns);
	SET_VECTOR_ELT(out, 15, kd_matrix(shared, n, columns));
	UNPROTECT(1);
	return out;
}

static SEXP arrays_of(const kdr_result *r)
{
	static const char *const names[] = { "name", "task", NULL };
	const int64_t n = kdr_result_array_count(r);
	SEXP out = PROTECT(kd_list(names));
	SEXP titles = Rf_allocVector(STRSXP, (R_xlen_t)n);
	SET_VECTOR_ELT(out, 0, titles);
	SEXP tasks = Rf_allocVector(INTSXP, (R_xlen_t)n);
	SET_VECTOR_ELT(out, 1, tasks);
	for (int64_t i = 0; i < n; i++) {
		const kdr_array a = kdr_result_array_at(r, i);
		SET_STRING_ELT(titles, (R_xlen_t)i, Rf_mkChar(a.name));
		INTEGER(tasks)[i] = (int)a.task;
	}
	UNPROTECT(1);
	return out;
}

/* The labels of each level, if several numbers of clusters were fitted. */
static SEXP levels_of(const kdr_result *r, int64_t ntasks)
{
	static const char *const names[] = { "k", "labels", "confidence", "second", "numbers", NULL };
	int64_t count = 0;
	while (kdr_result_level_at(r, count))
		count++;
	if (count == 0)
		return R_NilValue;
	SEXP out = PROTECT(Rf_allocVector(VECSXP, (R_xlen_t)count));
	for (int64_t i = 0; i < count; i++) {
		const kdr_result *level = kdr_result_level_at(r, i);
		SEXP one = PROTECT(kd_list(names));
		SEXP k = Rf_allocVector(INTSXP, (R_xlen_t)ntasks);
		SET_VECTOR_ELT(one, 0, k);
		for (int field = 1; field < 5; field++)
			SET_VECTOR_ELT(one, field, Rf_allocVector(VECSXP, (R_xlen_t)ntasks));
		for (int64_t t = 0; t < ntasks; t++) {
			int64_t n = 0;
			const int64_t *values = kdr_result_labels(level, t, &n);
			INTEGER(k)[t] = (int)kdr_result_k(level, t);
			SET_VECTOR_ELT(VECTOR_ELT(one, 1), (R_xlen_t)t, kd_integers(values, n));
			SET_VECTOR_ELT(VECTOR_ELT(one, 2), (R_xlen_t)t,
			               kd_doubles(kdr_result_confidence(level, t, NULL), n));
			SET_VECTOR_ELT(VECTOR_ELT(one, 3), (R_xlen_t)t,
			               kd_integers(kdr_result_second(level, t), n));
			SET_VECTOR_ELT(VECTOR_ELT(one, 4), (R_xlen_t)t, numbers_of(level, t));
		}
		SET_VECTOR_ELT(out, (R_xlen_t)i, one);
		UNPROTECT(1);
	}
	UNPROTECT(1);
	return out;
}

/* Texts of the method by name, such as the evidence for the number of clusters. */
static SEXP texts_of(const kdr_result *r)
{
	const int64_t n = kdr_result_field_count(r);
	SEXP out = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)n)), names = Rf_allocVector(STRSXP, (R_xlen_t)n);
	Rf_setAttrib(out, R_NamesSymbol, names);
	for (int64_t i = 0; i < n; i++) {
		double number;
		const char *text = NULL;
		SET_STRING_ELT(names, (R_xlen_t)i,
		               Rf_mkCharCE(kdr_result_field_at(r, i, &number, &text), CE_UTF8));
		SET_STRING_ELT(out, (R_xlen_t)i, text ? Rf_mkCharCE(text, CE_UTF8) : NA_STRING);
	}
	UNPROTECT(1);
	return out;
}

SEXP kd_result_info(SEXP result)
{
	static const char *const names[] = { "method",     "classes",  "tasks",       "objective", "stop",
		                             "iterations", "complete", "relatedness", "warnings",  "arrays",
		                             "levels",     "texts",    NULL };
	const kdr_result *r = kd_result_of(result);
	const int64_t ntasks = kdr_result_ntasks(r), nwarnings = kdr_result_warning_count(r);
	int64_t count = 0, rounds = 0;
	SEXP out = PROTECT(kd_list(names));
	SET_VECTOR_ELT(out, 0, kd_string(kdr_result_algo(r)->id));
	const char *const *classes = kdr_result_classes(r, &count);
	SET_VECTOR_ELT(out, 1, classes ? kd_strings(classes, count) : R_NilValue);
	SEXP tasks = Rf_allocVector(VECSXP, (R_xlen_t)ntasks);
	SET_VECTOR_ELT(out, 2, tasks);
	for (int64_t t = 0; t < ntasks; t++)
		SET_VECTOR_ELT(tasks, (R_xlen_t)t, task_of(r, t));
	const double *objective = kdr_result_objective(r, &rounds);
	SET_VECTOR_ELT(out, 3, kd_doubles(objective, rounds));
	SET_VECTOR_ELT(out, 4, kd_string(kdr_stop_name(kdr_result_stop(r))));
	SET_VECTOR_ELT(out, 5, Rf_ScalarInteger((int)kdr_result_iterations(r)));
	SET_VECTOR_ELT(out, 6, Rf_ScalarLogical(kdr_result_complete(r)));
	SET_VECTOR_ELT(out, 7, kd_matrix(kdr_result_relatedness(r), ntasks, ntasks));
	SEXP warnings = Rf_allocVector(STRSXP, (R_xlen_t)nwarnings);
	SET_VECTOR_ELT(out, 8, warnings);
	for (int64_t i = 0; i < nwarnings; i++)
		SET_STRING_ELT(warnings, (R_xlen_t)i, Rf_mkCharCE(kdr_result_warning_at(r, i), CE_UTF8));
	SET_VECTOR_ELT(out, 9, arrays_of(r));
	SET_VECTOR_ELT(out, 10, levels_of(r, ntasks));
	SET_VECTOR_ELT(out, 11, texts_of(r));
	UNPROTECT(1);
	return out;
}

/* --- methods ------------------------------------------------------------------------------------------------------ */

static SEXP options_of(const kdr_algo *algo)
{
	static const char *const names[] = { "name", "type", "default", "choices", "help", NULL };
	static const char *const types[] = { "integer", "number", "logical", "choice", "numbers" };
	int n = 0;
	while (kdr_algo_option_at(algo, (size_t)n))
		n++;
	SEXP out = PROTECT(kd_list(names));
	for (int i = 0; i < 5; i++)
		SET_VECTOR_ELT(out, i, Rf_allocVector(STRSXP, n));
	for (int i = 0; i < n; i++) {
		const kdr_option_desc *o = kdr_algo_option_at(algo, (size_t)i);
		char text[256];
		size_t used = 0;
		if (o->automatic)
			snprintf(text, sizeof text, "%s", o->automatic);
		else if (o->type == KDR_OPTION_CHOICE)
			snprintf(text, sizeof text, "%s", o->choices[(int)o->initial]);
		else if (o->type == KDR_OPTION_BOOL)
			snprintf(text, sizeof text, "%s", o->initial != 0 ? "TRUE" : "FALSE");
		else
			snprintf(text, sizeof text, "%g", o->initial);
		SET_STRING_ELT(VECTOR_ELT(out, 0), i, Rf_mkChar(o->name));
		SET_STRING_ELT(VECTOR_ELT(out, 1), i, Rf_mkChar(types[o->type]));
		SET_STRING_ELT(VECTOR_ELT(out, 2), i, Rf_mkCharCE(text, CE_UTF8));
		text[0] = 0;
		for (int c = 0; o->choices && o->choices[c] && used < sizeof text; c++)
			used += (size_t)snprintf(text + used, sizeof text - used, c ? ", %s" : "%s",
			                         o->choices[c]);
		SET_STRING_ELT(VECTOR_ELT(out, 3), i, Rf_mkCharCE(text, CE_UTF8));
		SET_STRING_ELT(VECTOR_ELT(out, 4), i, Rf_mkCharCE(o->help, CE_UTF8));
	}
	UNPROTECT(1);
	return out;
}

/* One list for each method: id, family, title, summary, flags, options, references. */
SEXP kd_algorithms(void)
{
	static const char *const names[] = { "id",      "family", "title",      "summary", "flags",
		                             "options", "called", "references", NULL };
	static const char *const families[] = { "cluster", "transfer", "features" };
	const R_xlen_t n = (R_xlen_t)kdr_algo_count();
	SEXP out = PROTECT(Rf_allocVector(VECSXP, n));
	for (R_xlen_t i = 0; i < n; i++) {
		const kdr_algo *algo = kdr_algo_at((size_t)i);
		int64_t count = 0;
		SEXP one = PROTECT(kd_list(names));
		SET_VECTOR_ELT(one, 0, kd_string(algo->id));
		SET_VECTOR_ELT(one, 1, kd_string(families[algo->family]));
		SET_VECTOR_ELT(one, 2, kd_string(algo->title));
		SET_VECTOR_ELT(one, 3, kd_string(algo->summary));
		SET_VECTOR_ELT(one, 4, Rf_ScalarInteger((int)algo->flags));
		SET_VECTOR_ELT(one, 5, options_of(algo));
		SET_VECTOR_ELT(one, 6, kd_string(algo->called ? algo->called : algo->id));
		while (algo->references && algo->references[count])
			count++;
		SET_VECTOR_ELT(one, 7, kd_strings(algo->references, count));
		SET_VECTOR_ELT(out, i, one);
		UNPROTECT(1);
	}
	UNPROTECT(1);
	return out;
}

/* The values of an option of preprocessing. */
SEXP kd_values(SEXP name)
{
	const char *const *values = kdr_choices(kd_text(name));
	int64_t n = 0;
	while (values && values[n])
		n++;
	return kd_strings(values, n);
}

SEXP kd_build(void)
{
	static const char *const names[] = { "version", "info", NULL };
	SEXP out = PROTECT(kd_list(names));
	SET_VECTOR_ELT(out, 0, kd_string(kdr_version()));
	SET_VECTOR_ELT(out, 1, kd_string(kdr_build_info()));
	UNPROTECT(1);
	return out;
}
