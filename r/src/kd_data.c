/* Data sets: from matrices, files and text in memory, and back. SPDX-License-Identifier: BSD-3-Clause */
#include "kd_r.h"

#include <stdlib.h>
#include <string.h>

/* --- handles ------------------------------------------------------------------------------------------------------ */

static void data_clear(kd_data *d)
{
	kdr_data_free(d->data);
	free(d->dense);
	free(d->val);
	free(d->rowptr);
	free(d->col);
	memset(d, 0, sizeof *d);
}

static void data_finalize(SEXP handle)
{
	kd_data *d = R_ExternalPtrAddr(handle);
	if (!d)
		return;
	R_ClearExternalPtr(handle);
	data_clear(d);
	free(d);
}

SEXP kd_new_data(SEXP keep, kd_data **out)
{
	SEXP handle = PROTECT(R_MakeExternalPtr(NULL, R_NilValue, keep));
	R_RegisterCFinalizerEx(handle, data_finalize, TRUE);
	*out = calloc(1, sizeof **out);
	if (!*out)
		Rf_error("not enough memory");
	R_SetExternalPtrAddr(handle, *out);
	UNPROTECT(1);
	return handle;
}

kd_data *kd_data_of(SEXP handle)
{
	kd_data *d = TYPEOF(handle) == EXTPTRSXP ? R_ExternalPtrAddr(handle) : NULL;
	if (!d || !d->data)
		Rf_error(
		        "the data set is no longer in memory: read it again (data sets cannot be saved with saveRDS)");
	return d;
}

kdr_data *kd_open_data(SEXP handle)
{
	return kd_data_of(handle)->data;
}

/* Gives a data set the view that explains it. The handle of the view keeps what the view borrows. */
SEXP kd_data_explain(SEXP session, SEXP data, SEXP view)
{
	kd_session *s = kd_session_of(session);
	kd_data *d = kd_data_of(data), *v = kd_data_of(view);
	if (kd_ok(s, kdr_data_explain(s->ctx, &d->data, v->data))) {
		v->data = NULL;
		R_SetExternalPtrTag(data, view);
	}
	return R_NilValue;
}

/* Lets the samples of a list of data sets be compared by both views. */
SEXP kd_data_combine(SEXP session, SEXP sets)
{
	kd_session *s = kd_session_of(session);
	const R_xlen_t n = XLENGTH(sets);
	kdr_data **list = (kdr_data **)R_alloc((size_t)n, sizeof *list);
	for (R_xlen_t i = 0; i < n; i++)
		list[i] = kd_open_data(VECTOR_ELT(sets, i));
	kd_ok(s, kdr_data_combine(s->ctx, list, (int64_t)n));
	return R_NilValue;
}

SEXP kd_data_release(SEXP data)
{
	data_finalize(data);
	return R_NilValue;
}

SEXP kd_is_alive(SEXP handle)
{
	return Rf_ScalarLogical(TYPEOF(handle) == EXTPTRSXP && R_ExternalPtrAddr(handle) != NULL);
}

/* --- from R ------------------------------------------------------------------------------------------------------- */

/* A numeric matrix. R stores columns, the library rows: the matrix is transposed once, in blocks that fit the cache, unless
 * `transposed` is set, in which case samples are columns and a matrix of doubles is used as it is. */
SEXP kd_data_dense(SEXP session, SEXP name, SEXP x, SEXP transposed, SEXP features, SEXP ids)
{
	enum { BLOCK = 64 };
	kd_session *s = kd_session_of(session);
	const bool across = Rf_asLogical(transposed);
	const int *dim = INTEGER(Rf_getAttrib(x, R_DimSymbol));
	const int64_t down = dim[0], right = dim[1];
	const int64_t rows = across ? right : down, cols = across ? down : right;
	kd_data *d = NULL;
	SEXP handle = PROTECT(kd_new_data(x, &d));
	const char *const *columns = kd_texts(features), *const *names = kd_texts(ids);
	const char *called = kd_text(name);
	const double *values = TYPEOF(x) == REALSXP ? REAL(x) : NULL;
	if (!across || !values) {
		d->dense = malloc((size_t)(rows * cols > 0 ? rows * cols : 1) * sizeof *d->dense);
		if (!d->dense) {
			kd_ok(s, KDR_ERR_MEMORY);
			UNPROTECT(1);
			return R_NilValue;
		}
		const int *whole = values ? NULL : TYPEOF(x) == LGLSXP ? LOGICAL(x) : INTEGER(x);
		for (int64_t i0 = 0; i0 < down; i0 += BLOCK)
			for (int64_t j0 = 0; j0 < right; j0 += BLOCK)
				for (int64_t j = j0; j < right && j < j0 + BLOCK; j++)
					for (int64_t i = i0; i < down && i < i0 + BLOCK; i++) {
						const int64_t at = j * down + i;
						d->dense[across ? at : i * cols + j] =
						        values                    ? values[at]
						        : whole[at] == NA_INTEGER ? NA_REAL
						                                  : whole[at];
					}
		values = d->dense;
	}
	const kdr_mat m = kdr_mat_from_dense(values, rows, cols);
	const bool ok = kd_ok(s, kdr_data_borrow(s->ctx, called, &m, columns, names, &d->data));
	UNPROTECT(1);
	return ok ? handle : R_NilValue;
}

/* A sparse matrix in compressed columns (dgCMatrix). If samples are columns, or the matrix is in compressed rows, its values and indices
 * are used as they are; otherwise the matrix is transposed once. */
SEXP kd_data_sparse(SEXP session, SEXP name, SEXP p, SEXP i, SEXP x, SEXP dim, SEXP transposed, SEXP features,
                    SEXP ids)
{
	kd_session *s = kd_session_of(session);
	const bool across = Rf_asLogical(transposed);
	const int64_t outer = XLENGTH(p) - 1, nnz = INTEGER(p)[outer];
	const int64_t rows = INTEGER(dim)[across ? 1 : 0], cols = INTEGER(dim)[across ? 0 : 1];
	const int *start = INTEGER(p), *inner = INTEGER(i);
	const double *values = REAL(x);
	kd_data *d = NULL;
	SEXP keep = PROTECT(Rf_list2(i, x)), handle = PROTECT(kd_new_data(across ? keep : R_NilValue, &d));
	const char *const *columns = kd_texts(features), *const *names = kd_texts(ids);
	const char *called = kd_text(name);
	kdr_mat m;
	d->rowptr = calloc((size_t)rows + 2, sizeof *d->rowptr);
	if (!across) {
		d->col = malloc((size_t)(nnz > 0 ? nnz : 1) * sizeof *d->col);
		d->val = malloc((size_t)(nnz > 0 ? nnz : 1) * sizeof *d->val);
	}
	if (!d->rowptr || (!across && (!d->col || !d->val))) {
		kd_ok(s, KDR_ERR_MEMORY);
		UNPROTECT(2);
		return R_NilValue;
	}
	if (across) {
		for (int64_t r = 0; r <= rows; r++)
			d->rowptr[r] = start[r];
		m = kdr_mat_from_csr(rows, cols, d->rowptr, inner, values);
	} else {
		/* Counts of each row, one place further on, then starts, which move to the ends while rows are filled. */
		for (int64_t q = 0; q < nnz; q++)
			d->rowptr[inner[q] + 2]++;
		for (int64_t r = 0; r <= rows; r++)
			d->rowptr[r + 1] += d->rowptr[r];
		for (int64_t j = 0; j < outer; j++)
			for (int q = start[j]; q < start[j + 1]; q++) {
				const int64_t to = d->rowptr[inner[q] + 1]++;
				d->col[to] = (int32_t)j;
				d->val[to] = values[q];
			}
		m = kdr_mat_from_csr(rows, cols, d->rowptr, d->col, d->val);
	}
	const bool ok = kd_ok(s, kdr_data_borrow(s->ctx, called, &m, columns, names, &d->data));
	UNPROTECT(2);
	return ok ? handle : R_NilValue;
}

/* A second data set with the same values, for a job. */
SEXP kd_data_copy(SEXP session, SEXP data, SEXP name)
{
	kd_session *s = kd_session_of(session);
	kdr_data *from = kd_open_data(data);
	kd_data *d = NULL;
	SEXP handle = PROTECT(kd_new_data(data, &d));
	const bool ok = kd_ok(s, kdr_data_view(s->ctx, from, kd_text(name), &d->data));
	UNPROTECT(1);
	return ok ? handle : R_NilValue;
}

SEXP kd_data_classify(SEXP session, SEXP data, SEXP codes, SEXP classes)
{
	kd_session *s = kd_session_of(session);
	kdr_data *d = kd_open_data(data);
	const R_xlen_t n = Rf_xlength(codes);
	int64_t *labels = (int64_t *)R_alloc((size_t)n + 1, sizeof *labels);
	for (R_xlen_t i = 0; i < n; i++)
		labels[i] = INTEGER(codes)[i] == NA_INTEGER ? -1 : INTEGER(codes)[i] - 1;
	kd_ok(s, kdr_data_set_labels(s->ctx, d, labels, kd_texts(classes), Rf_xlength(classes)));
	return R_NilValue;
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

static void reading_options(SEXP how, kdr_read_options *o)
{
	kdr_read_options_init(o);
	o->format = kd_text(kd_get(how, "format"));
	o->label_column = kd_text(kd_get(how, "label_column"));
	o->id_column = kd_text(kd_get(how, "id_column"));
	o->task_column = kd_text(kd_get(how, "task_column"));
	o->text_column = kd_text(kd_get(how, "text_column"));
	o->missing = kd_text(kd_get(how, "missing"));
	o->decimal = kd_text(kd_get(how, "decimal"));
	o->thousands = kd_text(kd_get(how, "thousands"));
	o->skip_rows = kd_text(kd_get(how, "skip_rows"));
	o->sheet = kd_text(kd_get(how, "sheet"));
	o->columns = kd_text(kd_get(how, "columns"));
	o->na = kd_texts(kd_get(how, "na"));
	o->rename = kd_texts(kd_get(how, "rename"));
	o->recode = kd_texts(kd_get(how, "recode"));
	o->model_rename = kd_texts(kd_get(how, "model_rename"));
	o->delimiter = kd_text(kd_get(how, "delimiter"));
	o->encoding = kd_text(kd_get(how, "encoding"));
	o->feature_names = kd_text(kd_get(how, "feature_names"));
	o->texts = kd_text(kd_get(how, "texts"));
	o->transpose = kd_flag(how, "transpose");
	o->typed = kd_flag(how, "typed");
	o->may_lack_labels = kd_flag(how, "may_lack_labels");
	o->may_lack_columns = kd_flag(how, "may_lack_columns");
	o->temporary = kd_flag(how, "temporary");
	o->together_only = kd_flag(how, "together_only");
	const double header = kd_number(how, "header", -1), stream = kd_number(how, "stream", -1);
	o->header = header < 0 ? KDR_HEADER_FIND_OUT : header > 0 ? KDR_HEADER_YES : KDR_HEADER_NO;
	o->stream = stream < 0 ? KDR_STREAM_BY_SIZE : stream > 0 ? KDR_STREAM_YES : KDR_STREAM_NO;
}

/* Moves the data sets of the session to handles, in a list with the index of the path of each. */
static SEXP take_sets(kd_session *s, int64_t count)
{
	static const char *const names[] = { "sets", "from", NULL };
	SEXP out = PROTECT(kd_list(names)), list = PROTECT(Rf_allocVector(VECSXP, (R_xlen_t)count));
	SET_VECTOR_ELT(out, 0, list);
	SET_VECTOR_ELT(out, 1, kd_integers(s->from, s->from ? count : 0));
	for (int64_t t = 0; t < count; t++) {
		kd_data *d = NULL;
		SET_VECTOR_ELT(list, (R_xlen_t)t, kd_new_data(R_NilValue, &d));
		d->data = s->sets[t];
		s->sets[t] = NULL;
	}
	kd_session_clear(s);
	UNPROTECT(2);
	return out;
}

/* Reads paths, or the text of a table (`memory`, a raw vector; the path is then its name), as the tables of a model if one is given. */
SEXP kd_read_sets(SEXP session, SEXP paths, SEXP names, SEXP may_lack, SEXP how, SEXP memory, SEXP model)
{
	kd_session *s = kd_session_of(session);
	const R_xlen_t n = Rf_xlength(paths);
	kdr_task_path *list = (kdr_task_path *)R_alloc((size_t)n + 1, sizeof *list);
	for (R_xlen_t i = 0; i < n; i++)
		list[i] = (kdr_task_path){
			.path = Rf_translateCharUTF8(STRING_ELT(paths, i)),
			.name = STRING_ELT(names, i) == NA_STRING
			                ? NULL
			                : Rf_translateCharUTF8(STRING_ELT(names, i)),
			.may_lack_labels = LOGICAL(may_lack)[i] == TRUE,
		};
	kdr_read_options o;
	reading_options(how, &o);
	if (memory != R_NilValue) {
		o.memory = RAW(memory);
		o.memory_bytes = (size_t)XLENGTH(memory);
	}
	if (model != R_NilValue)
		kdr_model_reading(kd_model_of(model), &o);
	int64_t count = 0;
	kd_session_clear(s);
	if (!kd_ok(s, kdr_read_tasks(s->ctx, list, n, &o, &s->sets, &s->from, &count)))
		return R_NilValue;
	s->nsets = count;
	const char *note;
	for (int64_t t = 0; t < count; t++)
		for (int64_t i = 0; (note = kdr_data_note_at(s->sets[t], i)); i++)
			kd_session_warn(s, note);
	return take_sets(s, count);
}

/* Generated data sets. */
SEXP kd_make_sets(SEXP session, SEXP design, SEXP spec)
{
	kd_session *s = kd_session_of(session);
	static const char *const kinds[] = { "blobs", "topics", "berikov", "tables" };
	const char *kind = kd_text(design);
	kdr_design d;
	kdr_design_init(&d, KDR_DESIGN_BLOBS);
	for (int i = 0; i < 4; i++)
		if (kind && strcmp(kind, kinds[i]) == 0)
			kdr_design_init(&d, (kdr_design_kind)i);
	d.tasks = (int64_t)kd_number(spec, "tasks", (double)d.tasks);
	d.k = (int64_t)kd_number(spec, "k", (double)d.k);
	d.missing = (int64_t)kd_number(spec, "missing", (double)d.missing);
	d.features = (int64_t)kd_number(spec, "features", (double)d.features);
	d.noise_features = (int64_t)kd_number(spec, "noise_features", (double)d.noise_features);
	d.separation = kd_number(spec, "separation", d.separation);
	d.spread = kd_number(spec, "spread", d.spread);
	d.shift = kd_number(spec, "shift", d.shift);
	d.rotation = kd_number(spec, "rotation", d.rotation);
	d.imbalance = kd_number(spec, "imbalance", d.imbalance);
	d.words = (int64_t)kd_number(spec, "words", (double)d.words);
	d.length = kd_number(spec, "length", d.length);
	d.purity = kd_number(spec, "purity", d.purity);
	d.domain = kd_number(spec, "domain", d.domain);
	d.target = kd_flag(spec, "target");
	d.own_features = (int64_t)kd_number(spec, "own_features", (double)d.own_features);
	d.missing_cells = kd_number(spec, "missing_cells", d.missing_cells);
	d.unrelated = kd_flag(spec, "unrelated");
	SEXP samples = kd_get(spec, "samples");
	if (Rf_xlength(samples) > 0 && d.tasks > 0 && d.tasks < 1000000) {
		int64_t *sizes = (int64_t *)R_alloc((size_t)d.tasks, sizeof *sizes);
		for (int64_t t = 0; t < d.tasks; t++)
			sizes[t] = (int64_t)REAL(samples)[t % Rf_xlength(samples)];
		d.samples = sizes;
	}
	kd_session_clear(s);
	if (!kd_ok(s, kdr_generate(s->ctx, &d, &s->generator)))
		return R_NilValue;
	const int64_t count = kdr_generator_tasks(s->generator);
	SEXP out = PROTECT(Rf_allocVector(VECSXP, (R_xlen_t)count));
	for (int64_t t = 0; t < count; t++) {
		kd_data *data = NULL;
		SET_VECTOR_ELT(out, (R_xlen_t)t, kd_new_data(R_NilValue, &data));
		if (!kd_ok(s, kdr_generator_data(s->ctx, s->generator, t, &data->data)))
			break;
	}
	kd_session_clear(s);
	UNPROTECT(1);
	return out;
}

SEXP kd_write_data(SEXP session, SEXP data, SEXP path, SEXP force)
{
	kd_session *s = kd_session_of(session);
	kd_ok(s, kdr_write(s->ctx, kd_text(path), NULL, kd_open_data(data), Rf_asLogical(force) == TRUE));
	return R_NilValue;
}

/* --- to R --------------------------------------------------------------------------------------------------------- */

/* The columns of a table as a list of vectors; R_NilValue if the data were not read from a table. */
static SEXP table_columns(const kdr_data *d)
{
	static const char *const names[] = { "name", "kind", "features", "missing", "why", NULL };
	int n = 0;
	while (kdr_data_column_at(d, n))
		n++;
	if (n == 0)
		return R_NilValue;
	SEXP out = PROTECT(kd_list(names));
	for (int i = 0; i < 5; i++)
		SET_VECTOR_ELT(out, i, Rf_allocVector(i == 2 || i == 3 ? INTSXP : STRSXP, n));
	for (int i = 0; i < n; i++) {
		const kdr_column *c = kdr_data_column_at(d, i);
		SET_STRING_ELT(VECTOR_ELT(out, 0), i, Rf_mkCharCE(c->name, CE_UTF8));
		SET_STRING_ELT(VECTOR_ELT(out, 1), i, Rf_mkChar(kdr_column_kind_name(c->kind)));
		INTEGER(VECTOR_ELT(out, 2))[i] = (int)c->features;
		INTEGER(VECTOR_ELT(out, 3))[i] = (int)c->missing;
		SET_STRING_ELT(VECTOR_ELT(out, 4), i, Rf_mkCharCE(c->why ? c->why : "", CE_UTF8));
	}
	UNPROTECT(1);
	return out;
}

SEXP kd_data_info(SEXP data)
{
	static const char *const names[] = { "name",   "dim",      "sparse",     "features",
		                             "ids",    "labels",   "classes",    "columns",
		                             "origin", "left_out", "table_rows", NULL };
	kdr_data *d = kd_open_data(data);
	const kdr_mat m = kdr_data_mat(d);
	const int64_t rows = kdr_mat_rows(&m), cols = kdr_mat_cols(&m);
	int64_t count = 0, file_rows = 0;
	SEXP out = PROTECT(kd_list(names));
	SET_VECTOR_ELT(out, 0, kd_string(kdr_data_name(d)));
	SEXP dim = Rf_allocVector(INTSXP, 2);
	SET_VECTOR_ELT(out, 1, dim);
	INTEGER(dim)[0] = (int)rows;
	INTEGER(dim)[1] = (int)cols;
	SET_VECTOR_ELT(out, 2, Rf_ScalarLogical(m.kind == KDR_MAT_CSR));
	const char *const *features = kdr_data_features(d), *const *ids = kdr_data_ids(d);
	SET_VECTOR_ELT(out, 3, features ? kd_strings(features, cols) : R_NilValue);
	SET_VECTOR_ELT(out, 4, ids ? kd_strings(ids, rows) : R_NilValue);
	SET_VECTOR_ELT(out, 5, kd_integers(kdr_data_labels(d), rows));
	const char *const *classes = kdr_data_classes(d, &count);
	SET_VECTOR_ELT(out, 6, classes ? kd_strings(classes, count) : R_NilValue);
	SET_VECTOR_ELT(out, 7, table_columns(d));
	SET_VECTOR_ELT(out, 8, kd_integers(kdr_data_origin(d, &file_rows), rows));
	int64_t skipped = 0;
	while (kdr_data_left_out_at(d, skipped))
		skipped++;
	SEXP left = Rf_allocVector(INTSXP, (R_xlen_t)skipped);
	SET_VECTOR_ELT(out, 9, left);
	for (int64_t i = 0; i < skipped; i++)
		INTEGER(left)[i] = (int)kdr_data_left_out_at(d, i)->row;
	SET_VECTOR_ELT(out, 10, Rf_ScalarInteger((int)file_rows));
	UNPROTECT(1);
	return out;
}

/* A matrix, or the parts p, j, x of a matrix in compressed rows. */
SEXP kd_data_values(SEXP data)
{
	static const char *const names[] = { "p", "j", "x", NULL };
	const kdr_mat m = kdr_data_mat(kd_open_data(data));
	if (kdr_data_streamed(kd_open_data(data)))
		Rf_error(
		        "the data set stays on disk because it is large: use it with kd_cluster() and the other functions directly");
	const int64_t rows = kdr_mat_rows(&m), cols = kdr_mat_cols(&m);
	if (m.kind == KDR_MAT_DENSE) {
		const kdr_dense *d = &m.as.dense;
		SEXP out = PROTECT(Rf_allocMatrix(REALSXP, (int)rows, (int)cols));
		for (int64_t i = 0; i < rows; i++)
			for (int64_t j = 0; j < cols; j++)
				REAL(out)[j * rows + i] = d->data[i * d->stride + j];
		UNPROTECT(1);
		return out;
	}
	const kdr_csr *c = &m.as.csr;
	const int64_t nnz = c->rowptr[rows];
	if (nnz > INT32_MAX)
		Rf_error("the data set has %lld entries, but sparse matrices of R hold at most %d",
		         (long long)nnz, INT32_MAX);
	SEXP out = PROTECT(kd_list(names));
	SEXP p = Rf_allocVector(INTSXP, (R_xlen_t)rows + 1);
	SET_VECTOR_ELT(out, 0, p);
	for (int64_t i = 0; i <= rows; i++)
		INTEGER(p)[i] = (int)c->rowptr[i];
	SEXP j = Rf_allocVector(INTSXP, (R_xlen_t)nnz);
	SET_VECTOR_ELT(out, 1, j);
	if (nnz > 0)
		memcpy(INTEGER(j), c->col, (size_t)nnz * sizeof *c->col);
	SET_VECTOR_ELT(out, 2, kd_doubles(c->val, nnz));
	UNPROTECT(1);
	return out;
}
