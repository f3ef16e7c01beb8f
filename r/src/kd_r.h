/* The library for R: handles, sessions and conversions. SPDX-License-Identifier: BSD-3-Clause
 *
 * R's errors are longjmps, so that no function here may own C memory when it calls R. Everything the library allocates
 * therefore belongs to a handle, an external pointer with a finalizer that exists before the library is called. Arrays that
 * are needed during one call come from R_alloc.
 *
 * A function that fails returns NULL, and the session keeps the status and the message: R code raises the condition. */
#ifndef KD_R_H
#define KD_R_H

#define R_NO_REMAP
#include <R.h>
#include <Rinternals.h>
#include <stdbool.h>

#include <kindred/kindred.h>

/* Settings and memory of one call from R. */
typedef struct kd_session {
	kdr_context *ctx;
	kdr_status status; /* of the call that failed first */
	bool interrupted;
	double checked, shown; /* when interrupts were checked and progress was shown last, in seconds */
	SEXP callback;         /* a function of R that receives events, or NULL; R code keeps it alive */
	char **warnings;
	size_t nwarnings;
	/* owned by the session while a call needs them */
	kdr_job *job;
	char *text;
	struct kdri_json_value *json;
	kdr_data **sets;
	int64_t *from;
	int64_t nsets; /* of `sets`, those that still belong to the session */
	kdr_embedding *embedding;
	kdr_generator *generator;
} kd_session;

/* A data set, and the arrays that it borrows. */
typedef struct kd_data {
	kdr_data *data;
	double *dense, *val;
	int64_t *rowptr;
	int32_t *col;
} kd_data;

/* --- handles ------------------------------------------------------------------------------------------------------ */

kd_session *kd_session_of(SEXP handle);
/* A handle without a data set. `keep` is an R object that must live as long; or R_NilValue. */
SEXP kd_new_data(SEXP keep, kd_data **out);
kd_data *kd_data_of(SEXP handle);
kdr_data *kd_open_data(SEXP handle);
/* A handle for a result or a model, with *out NULL. */
SEXP kd_new_result(kdr_result ***out);
kdr_result *kd_result_of(SEXP handle);
SEXP kd_new_model(SEXP keep, kdr_model ***out);
kdr_model *kd_model_of(SEXP handle);

/* Records a failure. Returns whether `status` is success. */
bool kd_ok(kd_session *s, kdr_status status);
/* Keeps a warning of the call. */
void kd_session_warn(kd_session *s, const char *message);
/* Frees what the session owns for a call. */
void kd_session_clear(kd_session *s);

/* --- conversions -------------------------------------------------------------------------------------------------- */

/* The first string of a character vector as UTF-8; NULL for R_NilValue and NA. */
const char *kd_text(SEXP x);
/* All strings of a character vector, NULL-terminated; NULL for R_NilValue. NA becomes "". */
const char *const *kd_texts(SEXP x);
/* An entry of a named list; R_NilValue if there is none. */
SEXP kd_get(SEXP list, const char *name);
/* Numbers of a named list, or `otherwise`. */
double kd_number(SEXP list, const char *name, double otherwise);
bool kd_flag(SEXP list, const char *name);

SEXP kd_string(const char *text);
/* A character vector of `n` strings; R_NilValue for NULL. */
SEXP kd_strings(const char *const *texts, int64_t n);
/* An integer vector; values below 0 become NA. R_NilValue for NULL. */
SEXP kd_integers(const int64_t *values, int64_t n);
SEXP kd_doubles(const double *values, int64_t n);
/* A matrix of R from a row-major one. */
SEXP kd_matrix(const double *values, int64_t rows, int64_t cols);
/* A list with names, from an array of names that ends with NULL. */
SEXP kd_list(const char *const *names);

/* --- functions of the package -------------------------------------------------------------------------------------- */

SEXP kd_session_new(SEXP settings, SEXP callback);
SEXP kd_session_state(SEXP session);
SEXP kd_session_free(SEXP session);

SEXP kd_data_dense(SEXP session, SEXP name, SEXP x, SEXP transposed, SEXP features, SEXP ids);
SEXP kd_data_sparse(SEXP session, SEXP name, SEXP p, SEXP i, SEXP x, SEXP dim, SEXP transposed, SEXP features,
                    SEXP ids);
SEXP kd_data_explain(SEXP session, SEXP data, SEXP view);
SEXP kd_data_combine(SEXP session, SEXP sets);
SEXP kd_data_copy(SEXP session, SEXP data, SEXP name);
SEXP kd_data_release(SEXP data);
SEXP kd_data_info(SEXP data);
SEXP kd_data_values(SEXP data);
SEXP kd_data_classify(SEXP session, SEXP data, SEXP codes, SEXP classes);
SEXP kd_read_sets(SEXP session, SEXP paths, SEXP names, SEXP may_lack, SEXP how, SEXP memory, SEXP model);
SEXP kd_make_sets(SEXP session, SEXP design, SEXP spec);
SEXP kd_write_data(SEXP session, SEXP data, SEXP path, SEXP force);

SEXP kd_run_cluster(SEXP session, SEXP sets, SEXP how);
SEXP kd_run_transfer(SEXP session, SEXP sources, SEXP targets, SEXP bridges, SEXP views, SEXP how);
SEXP kd_run_relate(SEXP session, SEXP sets, SEXP how);
SEXP kd_run_embed(SEXP session, SEXP sets, SEXP how);
SEXP kd_run_predict(SEXP session, SEXP model, SEXP data, SEXP task);
SEXP kd_run_evaluate(SEXP session, SEXP labels, SEXP truth);

SEXP kd_result_info(SEXP result);
SEXP kd_result_named_array(SEXP result, SEXP name, SEXP task);
SEXP kd_result_text(SEXP session, SEXP result, SEXP samples);
SEXP kd_result_parsed(SEXP session, SEXP result);
SEXP kd_result_save(SEXP session, SEXP result, SEXP path, SEXP force);
SEXP kd_result_page(SEXP session, SEXP result, SEXP path, SEXP force);
SEXP kd_file_page(SEXP session, SEXP from, SEXP path, SEXP force);
SEXP kd_result_ask(SEXP session, SEXP result, SEXP task, SEXP path, SEXP force);
SEXP kd_result_rename(SEXP session, SEXP result, SEXP numbers, SEXP names);
SEXP kd_result_input(SEXP session, SEXP result, SEXP level, SEXP task, SEXP columns, SEXP path, SEXP force);
SEXP kd_apply_edits(SEXP session, SEXP result, SEXP edits, SEXP folder, SEXP how, SEXP force);
SEXP kd_model_make(SEXP session, SEXP result);
SEXP kd_model_read(SEXP session, SEXP path);
SEXP kd_model_write(SEXP session, SEXP result, SEXP path, SEXP force);
SEXP kd_model_info(SEXP model);

SEXP kd_algorithms(void);
SEXP kd_values(SEXP name);
SEXP kd_build(void);
SEXP kd_is_alive(SEXP handle);

#endif
