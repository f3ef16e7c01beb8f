/* Sessions: settings, progress, interrupts, errors; and small conversions. SPDX-License-Identifier: BSD-3-Clause */
#include "kd_r.h"

#include <stdlib.h>
#include <string.h>

#include "core/json_read.h"

enum { WARNINGS_MOST = 1000 };
static const double check_seconds = 0.05, show_seconds = 0.1;

/* --- events ------------------------------------------------------------------------------------------------------- */

static void check_interrupt(void *unused)
{
	(void)unused;
	R_CheckUserInterrupt();
}

/* One event on its way to a function of R. */
typedef struct event_call {
	SEXP callback;
	const kdr_event *event;
	bool stop;
} event_call;

static void call_back(void *user)
{
	static const char *const names[] = { "kind",      "stage",   "message",  "iteration", "total",
		                             "objective", "seconds", "fraction", "remaining", NULL };
	static const char *const kinds[] = { "start", "iteration", "message", "end", "warning" };
	event_call *call = user;
	const kdr_event *e = call->event;
	SEXP list = PROTECT(kd_list(names));
	SET_VECTOR_ELT(list, 0, kd_string(kinds[e->kind]));
	SET_VECTOR_ELT(list, 1, kd_string(e->stage ? e->stage : ""));
	SET_VECTOR_ELT(list, 2, kd_string(e->message ? e->message : ""));
	SET_VECTOR_ELT(list, 3, Rf_ScalarReal((double)e->iteration));
	SET_VECTOR_ELT(list, 4, Rf_ScalarReal((double)e->total));
	SET_VECTOR_ELT(list, 5, Rf_ScalarReal(e->objective));
	SET_VECTOR_ELT(list, 6, Rf_ScalarReal(e->seconds));
	SET_VECTOR_ELT(list, 7, Rf_ScalarReal(e->fraction));
	SET_VECTOR_ELT(list, 8, Rf_ScalarReal(e->remaining));
	SEXP expression = PROTECT(Rf_lang2(call->callback, list));
	SEXP answer = PROTECT(Rf_eval(expression, R_GlobalEnv));
	call->stop = Rf_isLogical(answer) && Rf_length(answer) == 1 && LOGICAL(answer)[0] == TRUE;
	UNPROTECT(3);
}

void kd_session_warn(kd_session *s, const char *message)
{
	if (s->nwarnings >= WARNINGS_MOST)
		return;
	char *copy = malloc(strlen(message) + 1);
	char **more = copy ? realloc(s->warnings, (s->nwarnings + 1) * sizeof *more) : NULL;
	if (!more) {
		free(copy);
		return;
	}
	strcpy(copy, message);
	s->warnings = more;
	s->warnings[s->nwarnings++] = copy;
}

/* Runs on the thread that called the library. A non-zero value stops it. */
static int on_event(void *user, const kdr_event *event)
{
	kd_session *s = user;
	if (event->kind == KDR_EVENT_WARNING && event->message)
		kd_session_warn(s, event->message);
	if (s->interrupted)
		return 1;
	if (event->seconds < s->checked || event->seconds >= s->checked + check_seconds) {
		s->checked = event->seconds;
		s->interrupted = !R_ToplevelExec(check_interrupt, NULL);
	}
	const bool due = event->kind != KDR_EVENT_ITERATION || event->seconds >= s->shown + show_seconds;
	if (!s->interrupted && due && s->callback != R_NilValue) {
		event_call call = { .callback = s->callback, .event = event };
		s->shown = event->seconds;
		if (!R_ToplevelExec(call_back, &call))
			s->interrupted = true;
		else if (call.stop)
			return 1;
	}
	return s->interrupted;
}

/* --- the session -------------------------------------------------------------------------------------------------- */

void kd_session_clear(kd_session *s)
{
	kdr_job_free(s->job);
	kdr_free(s->ctx, s->text);
	kdri_json_value_free(s->json);
	for (int64_t t = 0; t < s->nsets; t++)
		kdr_data_free(s->sets[t]);
	kdr_free(s->ctx, s->sets);
	kdr_free(s->ctx, s->from);
	kdr_embedding_free(s->embedding);
	kdr_generator_free(s->generator);
	s->job = NULL;
	s->text = NULL;
	s->json = NULL;
	s->sets = NULL;
	s->from = NULL;
	s->nsets = 0;
	s->embedding = NULL;
	s->generator = NULL;
}

static void session_finalize(SEXP handle)
{
	kd_session *s = R_ExternalPtrAddr(handle);
	if (!s)
		return;
	R_ClearExternalPtr(handle);
	kd_session_clear(s);
	for (size_t i = 0; i < s->nwarnings; i++)
		free(s->warnings[i]);
	free(s->warnings);
	kdr_context_free(s->ctx);
	free(s);
}

SEXP kd_session_new(SEXP settings, SEXP callback)
{
	SEXP handle = PROTECT(R_MakeExternalPtr(NULL, R_NilValue, callback));
	R_RegisterCFinalizerEx(handle, session_finalize, TRUE);
	const double seed = kd_number(settings, "seed", 1), threads = kd_number(settings, "threads", 0);
	const double limit = kd_number(settings, "time_limit", 0),
	             memory = kd_number(settings, "max_memory", 0),
	             unpacked = kd_number(settings, "max_unpacked", 0);
	kd_session *s = calloc(1, sizeof *s);
	if (!s)
		Rf_error("not enough memory");
	R_SetExternalPtrAddr(handle, s);
	s->callback = callback;
	s->checked = s->shown = -1;
	s->status = kdr_context_new(&s->ctx, NULL);
	if (s->status == KDR_OK)
		s->status = kdr_context_protect_inputs(s->ctx);
	if (s->status == KDR_OK) {
		kdr_context_set_seed(s->ctx, (uint64_t)seed);
		kdr_context_set_threads(s->ctx, (int)threads);
		kdr_context_set_progress(s->ctx, on_event, s);
		if (memory > 0)
			kdr_context_set_max_memory(s->ctx, memory);
		kdr_context_set_max_unpacked(s->ctx, unpacked);
		kdr_context_set_time_limit(s->ctx, limit);
	}
	UNPROTECT(1);
	return handle;
}

kd_session *kd_session_of(SEXP handle)
{
	kd_session *s = R_ExternalPtrAddr(handle);
	if (!s)
		Rf_error("the session has ended");
	return s;
}

bool kd_ok(kd_session *s, kdr_status status)
{
	if (s->status == KDR_OK)
		s->status = status;
	return status == KDR_OK;
}

/* What happened since the last call of this function: status, message, whether the user interrupted, warnings. */
SEXP kd_session_state(SEXP session)
{
	static const char *const names[] = { "status", "message", "interrupted", "warnings", NULL };
	kd_session *s = kd_session_of(session);
	SEXP list = PROTECT(kd_list(names));
	const char *message = s->status == KDR_OK ? "" : s->ctx ? kdr_context_error(s->ctx) : "";
	if (s->status != KDR_OK && !*message)
		message = kdr_strerror(s->status);
	SET_VECTOR_ELT(list, 0, Rf_ScalarInteger(s->status));
	SET_VECTOR_ELT(list, 1, kd_string(message));
	SET_VECTOR_ELT(list, 2, Rf_ScalarLogical(s->interrupted));
	SET_VECTOR_ELT(list, 3, kd_strings((const char *const *)s->warnings, (int64_t)s->nwarnings));
	for (size_t i = 0; i < s->nwarnings; i++)
		free(s->warnings[i]);
	s->nwarnings = 0;
	s->status = KDR_OK;
	UNPROTECT(1);
	return list;
}

SEXP kd_session_free(SEXP session)
{
	session_finalize(session);
	return R_NilValue;
}

/* --- conversions -------------------------------------------------------------------------------------------------- */

const char *kd_text(SEXP x)
{
	if (!Rf_isString(x) || Rf_length(x) < 1 || STRING_ELT(x, 0) == NA_STRING)
		return NULL;
	return Rf_translateCharUTF8(STRING_ELT(x, 0));
}

const char *const *kd_texts(SEXP x)
{
	if (!Rf_isString(x))
		return NULL;
	const R_xlen_t n = Rf_xlength(x);
	const char **out = (const char **)R_alloc((size_t)n + 1, sizeof *out);
	for (R_xlen_t i = 0; i < n; i++) {
		SEXP one = STRING_ELT(x, i);
		out[i] = one == NA_STRING ? "" : Rf_translateCharUTF8(one);
	}
	out[n] = NULL;
	return out;
}

SEXP kd_get(SEXP list, const char *name)
{
	SEXP names = Rf_getAttrib(list, R_NamesSymbol);
	for (R_xlen_t i = 0; i < Rf_xlength(names); i++)
		if (strcmp(CHAR(STRING_ELT(names, i)), name) == 0)
			return VECTOR_ELT(list, i);
	return R_NilValue;
}

double kd_number(SEXP list, const char *name, double otherwise)
{
	SEXP x = kd_get(list, name);
	if (!(Rf_isReal(x) || Rf_isInteger(x) || Rf_isLogical(x)) || Rf_length(x) < 1)
		return otherwise;
	const double value = Rf_asReal(x);
	return ISNAN(value) ? otherwise : value;
}

bool kd_flag(SEXP list, const char *name)
{
	return kd_number(list, name, 0) != 0;
}

SEXP kd_string(const char *text)
{
	SEXP out = PROTECT(Rf_allocVector(STRSXP, 1));
	SET_STRING_ELT(out, 0, text ? Rf_mkCharCE(text, CE_UTF8) : NA_STRING);
	UNPROTECT(1);
	return out;
}

SEXP kd_strings(const char *const *texts, int64_t n)
{
	if (!texts && n > 0)
		return R_NilValue;
	SEXP out = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)n));
	for (int64_t i = 0; i < n; i++)
		SET_STRING_ELT(out, (R_xlen_t)i, Rf_mkCharCE(texts[i], CE_UTF8));
	UNPROTECT(1);
	return out;
}

SEXP kd_integers(const int64_t *values, int64_t n)
{
	if (!values)
		return R_NilValue;
	SEXP out = PROTECT(Rf_allocVector(INTSXP, (R_xlen_t)n));
	int *to = INTEGER(out);
	for (int64_t i = 0; i < n; i++)
		to[i] = values[i] < 0 ? NA_INTEGER : (int)values[i];
	UNPROTECT(1);
	return out;
}

SEXP kd_doubles(const double *values, int64_t n)
{
	if (!values)
		return R_NilValue;
	SEXP out = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)n));
	if (n > 0)
		memcpy(REAL(out), values, (size_t)n * sizeof *values);
	UNPROTECT(1);
	return out;
}

SEXP kd_matrix(const double *values, int64_t rows, int64_t cols)
{
	if (!values)
		return R_NilValue;
	SEXP out = PROTECT(Rf_allocMatrix(REALSXP, (int)rows, (int)cols));
	double *to = REAL(out);
	for (int64_t i = 0; i < rows; i++)
		for (int64_t j = 0; j < cols; j++)
			to[j * rows + i] = values[i * cols + j];
	UNPROTECT(1);
	return out;
}

SEXP kd_list(const char *const *names)
{
	R_xlen_t n = 0;
	while (names[n])
		n++;
	SEXP out = PROTECT(Rf_allocVector(VECSXP, n));
	SEXP titles = PROTECT(Rf_allocVector(STRSXP, n));
	for (R_xlen_t i = 0; i < n; i++)
		SET_STRING_ELT(titles, i, Rf_mkChar(names[i]));
	Rf_setAttrib(out, R_NamesSymbol, titles);
	UNPROTECT(2);
	return out;
}
