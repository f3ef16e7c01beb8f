/* Writes results into a copy of an AnnData .h5ad file. SPDX-License-Identifier: BSD-3-Clause
 *
 * The file is copied byte for byte, and these items are added to the copy in the form that anndata writes; everything
 * else in the file is unchanged:
 *
 *     obs/kindred               categories (since anndata 0.8; texts in the files of 0.7)
 *     obs/kindred_title         the same with the titles of clusters
 *     obs/kindred_confidence    numbers
 *     obs/kindred_second        the second choice, in the same categories
 *     obs/kindred_match         probability that the cluster is the same group in all data sets
 *     obs/kindred_unlike_source rank of a sample by how little it resembles the source, 0 to 1; only of transfers
 *     obsm/X_kindred            rows x 2 numbers: the map
 *     obsm/X_kindred_rep        rows x at most 50 numbers: the samples in a space that all data sets share
 *
 * where another key may replace kindred, and obs's list of columns, `column-order`, gets their names. Those of an earlier run are replaced. */
#include "io/hdf5/h5ad_write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/system.h"
#include "io/hdf5/h5.h"

/* Names with their folder. */
enum {
	COLUMN,
	TITLE,
	SURENESS,
	DOUBT,
	MATCH,
	UNLIKENESS,
	NOVELTY, /* of version 0.2: only removed */
	COLUMNS,
	POINTS = COLUMNS,
	SHARED,
	ITEMS,
	FOLDER = 4 /* obs/ */
};
typedef struct item_names {
	char of[ITEMS][KDRI_H5AD_KEY + 40];
} item_names;

static item_names names_of(const kdri_h5ad_notes *n)
{
	static const char *const forms[ITEMS] = {
		"obs/%.*s",       "obs/%.*s_title",         "obs/%.*s_confidence", "obs/%.*s_second",
		"obs/%.*s_match", "obs/%.*s_unlike_source", "obs/%.*s_may_be_new", "obsm/X_%.*s",
		"obsm/X_%.*s_rep"
	};
	item_names names;
	for (int i = 0; i < ITEMS; i++)
		kdri_snprintf(names.of[i], sizeof names.of[i], forms[i], (int)KDRI_H5AD_KEY,
		              n->key ? n->key : "kindred");
	return names;
}

/* --- pieces as anndata writes them ------------------------------------------------------------------------- */

static kdr_status h5ad_write_encode(kdr_context *ctx, const kdri_h5 *h5, const char *name, const char *type,
                                    const char *version)
{
	KDRI_DO(kdri_h5_set_text(ctx, h5, name, "encoding-type", type));
	return kdri_h5_set_text(ctx, h5, name, "encoding-version", version);
}

static kdr_status write_numbers(kdr_context *ctx, const kdri_h5 *h5, const char *name, hid_t type, int ndim,
                                const int64_t *shape, const void *values)
{
	KDRI_DO(kdri_h5_write_array(ctx, h5, name, type, ndim, shape, values));
	return h5ad_write_encode(ctx, h5, name, "array", "0.2.0");
}

static kdr_status write_texts(kdr_context *ctx, const kdri_h5 *h5, const char *name, const char *const *texts,
                              int64_t count)
{
	KDRI_DO(kdri_h5_write_strings(ctx, h5, name, texts, count));
	return h5ad_write_encode(ctx, h5, name, "string-array", "0.2.0");
}

/* A Boolean type as in h5py: an enumeration of FALSE and TRUE. */
static kdr_status set_false(kdr_context *ctx, const kdri_h5 *h5, const char *name, const char *attribute)
{
	static const int8_t no = 0, yes = 1;
	hid_t type = H5Tenum_create(H5T_NATIVE_INT8);
	H5Tenum_insert(type, "FALSE", &no);
	H5Tenum_insert(type, "TRUE", &yes);
	kdr_status st = kdri_h5_set_attribute(ctx, h5, name, attribute, type, 0, NULL, &no);
	kdri_h5_drop(type);
	return st;
}

static kdr_status remove_link(kdr_context *ctx, const kdri_h5 *h5, const char *name)
{
	if (kdri_h5_what(h5, name) == KDRI_H5_NONE || H5Ldelete(h5->file, name, h5->links) >= 0)
		return KDR_OK;
	return kdri_h5_fail(ctx, h5, KDR_ERR_WRITE, name, "cannot be replaced");
}

/* --- the columns of obs -------------------------------------------------------------------------------------- */

/* Room for the names of an attribute, which HDF5 allocates. */
typedef struct order {
	char **names;
	hssize_t count;
	hid_t type, space;
} order;

/* The existing names; none if the attribute is not a list of texts, which h5py writes if there are no columns. */
static void read_order(const kdri_h5 *h5, order *o)
{
	hid_t id = H5Aopen_by_name(h5->file, "obs", "column-order", H5P_DEFAULT, h5->links);
	*o = (order){ .type = -1, .space = -1 };
	if (id < 0)
		return;
	hid_t type = H5Aget_type(id);
	o->space = H5Aget_space(id);
	hssize_t n = o->space < 0 ? 0 : H5Sget_simple_extent_npoints(o->space);
	bool texts = type >= 0 && H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) > 0;
	if (texts && n > 0 && n < 1 << 20) {
		o->names = calloc((size_t)n, sizeof(char *));
		o->type = H5Tcopy(H5T_C_S1);
		if (o->names && o->type >= 0 && H5Tset_size(o->type, H5T_VARIABLE) >= 0 &&
		    H5Tset_cset(o->type, H5Tget_cset(type)) >= 0 && H5Aread(id, o->type, o->names) >= 0)
			o->count = n;
	}
	kdri_h5_drop(type);
	H5Aclose(id);
}

static bool is_ours(const item_names *names, const char *column)
{
	for (int c = 0; c < COLUMNS; c++)
		if (strcmp(names->of[c] + FOLDER, column) == 0)
			return true;
	return false;
}

static kdr_status extend_order(kdr_context *ctx, const kdri_h5 *h5, const kdri_h5ad_notes *notes,
                               const item_names *names)
{
	kdr_status st = KDR_OK;
	order o;
	const char **all = NULL;
	int64_t n = 0;
	read_order(h5, &o);
	KDRI_TRY(KDRI_NEW(ctx, &all, o.count + COLUMNS));
	for (hssize_t i = 0; i < o.count; i++)
		if (o.names[i] && !is_ours(names, o.names[i]))
			all[n++] = o.names[i];
	const bool has[COLUMNS] = { true,
		                    notes->titles != NULL,
		                    notes->confidence != NULL,
		                    notes->second != NULL,
		                    notes->match != NULL,
		                    notes->unlike_source != NULL };
	for (int c = 0; c < COLUMNS; c++)
		if (has[c])
			all[n++] = names->of[c] + FOLDER;
	st = kdri_h5_set_texts(ctx, h5, "obs", "column-order", all, n);
done:
	if (o.count > 0)
		H5Dvlen_reclaim(o.type, o.space, H5P_DEFAULT, o.names);
	free(o.names);
	kdri_h5_drop(o.type);
	kdri_h5_drop(o.space);
	kdri_free(ctx, all);
	return st;
}

/* `name` is that of the column with its folder. */
static kdr_status add_categories(kdr_context *ctx, const kdri_h5 *h5, const kdri_h5ad_notes *n,
                                 const char *name, const char *const *categories, const int32_t *codes)
{
	char part[KDRI_H5AD_KEY + 60];
	KDRI_DO(kdri_h5_make_group(ctx, h5, name));
	KDRI_DO(h5ad_write_encode(ctx, h5, name, "categorical", "0.2.0"));
	KDRI_DO(set_false(ctx, h5, name, "ordered"));
	snprintf(part, sizeof part, "%s/codes", name);
	KDRI_DO(write_numbers(ctx, h5, part, H5T_NATIVE_INT32, 1, &n->rows, codes));
	snprintf(part, sizeof part, "%s/categories", name);
	return write_texts(ctx, h5, part, categories, n->ncategories);
}

/* Frames of anndata 0.7 have categories elsewhere: plain texts will do, "" where nothing is known. */
static kdr_status add_plain(kdr_context *ctx, const kdri_h5 *h5, const kdri_h5ad_notes *n, const char *name,
                            const char *const *categories, const int32_t *codes)
{
	kdr_status st;
	const char **texts = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &texts, n->rows));
	for (int64_t i = 0; i < n->rows; i++)
		texts[i] = codes[i] < 0 ? "" : categories[codes[i]];
	KDRI_TRY(kdri_h5_write_strings(ctx, h5, name, texts, n->rows));
done:
	kdri_free(ctx, texts);
	return st;
}

/* An array of obsm. */
static kdr_status add_array(kdr_context *ctx, const kdri_h5 *h5, const char *name, int64_t rows,
                            int64_t width, const double *values)
{
	const int64_t shape[2] = { rows, width };
	if (!values)
		return KDR_OK;
	if (kdri_h5_what(h5, "obsm") == KDRI_H5_NONE) {
		KDRI_DO(kdri_h5_make_group(ctx, h5, "obsm"));
		KDRI_DO(h5ad_write_encode(ctx, h5, "obsm", "dict", "0.1.0"));
	}
	KDRI_DO(remove_link(ctx, h5, name));
	return write_numbers(ctx, h5, name, H5T_NATIVE_DOUBLE, 2, shape, values);
}

static kdr_status add_notes(kdr_context *ctx, const kdri_h5 *h5, const kdri_h5ad_notes *n)
{
	char version[32] = "";
	const item_names names = names_of(n);
	if (kdri_h5_what(h5, "obs") != KDRI_H5_GROUP)
		return kdri_fail(
		        ctx, KDR_ERR_UNSUPPORTED,
		        "%s: obs is stored in the format of anndata before 0.7; write the file again with a newer version",
		        h5->path);
	if (n->codes) {
		for (int c = 0; c < COLUMNS; c++)
			KDRI_DO(remove_link(ctx, h5, names.of[c]));
		KDRI_DO(remove_link(ctx, h5, names.of[SHARED]));
	}
	bool old = kdri_h5_text(h5, "obs", "encoding-version", version, sizeof version) &&
	           strcmp(version, "0.1.0") == 0;
	if (n->codes) {
		KDRI_DO((old ? add_plain : add_categories)(ctx, h5, n, names.of[COLUMN], n->categories,
		                                           n->codes));
		if (n->titles)
			KDRI_DO((old ? add_plain : add_categories)(ctx, h5, n, names.of[TITLE], n->titles,
			                                           n->codes));
		if (n->second)
			KDRI_DO((old ? add_plain : add_categories)(ctx, h5, n, names.of[DOUBT], n->categories,
			                                           n->second));
		if (n->confidence)
			KDRI_DO(write_numbers(ctx, h5, names.of[SURENESS], H5T_NATIVE_DOUBLE, 1, &n->rows,
			                      n->confidence));
		if (n->match)
			KDRI_DO(write_numbers(ctx, h5, names.of[MATCH], H5T_NATIVE_DOUBLE, 1, &n->rows,
			                      n->match));
		if (n->unlike_source)
			KDRI_DO(write_numbers(ctx, h5, names.of[UNLIKENESS], H5T_NATIVE_DOUBLE, 1, &n->rows,
			                      n->unlike_source));
		KDRI_DO(extend_order(ctx, h5, n, &names));
	}
	KDRI_DO(add_array(ctx, h5, names.of[POINTS], n->rows, 2, n->xy));
	return add_array(ctx, h5, names.of[SHARED], n->rows, n->width, n->shared);
}

/* --- a file of our own ------------------------------------------------------------------------------------------ */

/* obs or var: only names, or numbers from 0 if there are none. */
static kdr_status write_frame(kdr_context *ctx, const kdri_h5 *h5, const char *frame, char *const *names,
                              int64_t count)
{
	kdr_status st;
	char index[32], *numbers = NULL;
	const char **all = NULL;
	enum { WIDTH = 24 };
	static const double nothing = 0;
	snprintf(index, sizeof index, "%s/_index", frame);
	KDRI_TRY(KDRI_NEW(ctx, &all, count));
	if (!names)
		KDRI_TRY(KDRI_NEW(ctx, &numbers, count * WIDTH));
	for (int64_t i = 0; i < count; i++) {
		if (!names)
			snprintf(numbers + i * WIDTH, WIDTH, "%lld", (long long)i);
		all[i] = names ? names[i] : numbers + i * WIDTH;
	}
	KDRI_TRY(kdri_h5_make_group(ctx, h5, frame));
	KDRI_TRY(h5ad_write_encode(ctx, h5, frame, "dataframe", "0.2.0"));
	KDRI_TRY(kdri_h5_set_text(ctx, h5, frame, "_index", "_index"));
	KDRI_TRY(kdri_h5_set_reals(ctx, h5, frame, "column-order", &nothing, 0)); /* as h5py leaves it */
	KDRI_TRY(write_texts(ctx, h5, index, all, count));
done:
	KDRI_FREE(ctx, all, numbers);
	return st;
}

static kdr_status write_new(kdr_context *ctx, const kdri_h5 *h5, const kdr_data *d)
{
	KDRI_DO(h5ad_write_encode(ctx, h5, "/", "anndata", "0.1.0"));
	KDRI_DO(kdri_h5_write_matrix(ctx, h5, "X", d));
	KDRI_DO(write_frame(ctx, h5, "obs", d->ids, d->rows));
	return write_frame(ctx, h5, "var", d->features, d->cols);
}

/* --- entire files
 * --------------------------------------------------------------------------------------------------- */

typedef struct task {
	const char *path, *temporary;
	const char *input; /* of which the file is a copy */
	const kdr_data *data;
	const kdri_h5ad_notes *notes; /* NULL: a model gets other names */
	const char *list;             /* "classes" or "names" */
	const char *const *names;
	int64_t count;
} task;

static kdr_status rename_list(kdr_context *ctx, const kdri_h5 *h5, const task *t)
{
	if (kdri_h5_what(h5, t->list) != KDRI_H5_NONE)
		KDRI_DO(remove_link(ctx, h5, t->list));
	KDRI_DO(kdri_h5_write_strings(ctx, h5, t->list, t->names, t->count));
	return kdri_h5_seal(ctx, h5);
}

/* A copy that cannot be changed although the disk takes it: this is due to its input, which the message then names. */
static kdr_status blame_input(kdr_context *ctx, const task *t, kdr_status st)
{
	char why[sizeof ctx->error];
	const size_t n = strlen(t->path);
	if (t->data || st == KDR_ERR_MEMORY || kdri_h5_disk_failed() || strncmp(ctx->error, t->path, n) != 0)
		return st;
	snprintf(why, sizeof why, "%s", ctx->error + n);
	return st == KDR_ERR_WRITE
	               ? kdri_fail(ctx, KDR_ERR_FORMAT, "%s%s; the file is damaged", t->input, why)
	               : kdri_fail(ctx, st, "%s%s", t->input, why);
}

static kdr_status change(kdr_context *ctx, const void *user, void *result)
{
	(void)result;
	const task *t = user;
	kdr_status st;
	kdri_h5 h5 = { 0 };
	KDRI_TRY(t->data ? kdri_h5_create(ctx, t->path, t->temporary, &h5)
	                 : kdri_h5_reopen(ctx, t->path, t->temporary, &h5));
	if (t->data)
		KDRI_TRY(write_new(ctx, &h5, t->data));
	KDRI_TRY(t->notes ? add_notes(ctx, &h5, t->notes) : rename_list(ctx, &h5, t));
	KDRI_TRY(kdri_h5_finish(ctx, &h5));
done:
	kdri_h5_close(&h5);
	return st == KDR_OK ? st : blame_input(ctx, t, st);
}

static kdr_status copy_file(kdr_context *ctx, const char *from, const char *to, double *bytes)
{
	enum { BLOCK = 1 << 20 };
	kdr_status st = KDR_OK;
	char *block = NULL;
	ssize_t n = 0;
	int in = kdri_open(from, O_RDONLY), out = kdri_open(to, O_WRONLY | O_TRUNC);
	*bytes = 0;
	if (in < 0 || out < 0)
		KDRI_FAIL(ctx, in < 0 ? KDR_ERR_READ : KDR_ERR_WRITE, "%s: cannot open: %s",
		          in < 0 ? from : to, strerror(errno));
	KDRI_TRY(KDRI_NEW(ctx, &block, BLOCK));
	while ((n = read(in, block, BLOCK)) > 0 || (n < 0 && errno == EINTR))
		for (ssize_t at = 0, wrote; at < n; at += wrote) {
			wrote = write(out, block + at, (size_t)(n - at));
			if (wrote < 0 && errno != EINTR)
				KDRI_FAIL(ctx, KDR_ERR_WRITE, "%s: cannot write: %s", to, strerror(errno));
			wrote = KDRI_MAX(wrote, 0);
			*bytes += (double)wrote;
		}
	if (n < 0)
		st = kdri_fail(ctx, KDR_ERR_READ, "%s: cannot read: %s", from, strerror(errno));
done:
	kdri_free(ctx, block);
	if (in >= 0)
		close(in);
	if (out >= 0)
		close(out);
	return st;
}

static kdr_status write_changed(kdr_context *ctx, const char *path, const char *input, task t, bool force)
{
	kdr_status st;
	kdri_output *o = NULL;
	kdri_handed handed = { 0 };
	double bytes = 0;
	const kdr_data *data = t.data;
	KDRI_TRY(kdri_output_open(ctx, path, force, &o));
	t.path = path;
	t.input = input;
	t.temporary = kdri_output_temporary(o);
	if (!data)
		KDRI_TRY(copy_file(ctx, input, t.temporary, &bytes));
	/* A file that is new cannot be damaged. */
	const kdri_child_job job = {
		.path = data ? path : input, .file_bytes = bytes, .changes = true, .run = change, .user = &t
	};
	KDRI_TRY(data ? change(ctx, &t, NULL) : kdri_run_apart(ctx, &job, NULL, &handed));
done:
	kdri_handed_free(&handed);
	return kdri_output_finish(ctx, o, st);
}

kdr_status kdri_h5ad_annotate(kdr_context *ctx, const char *path, const char *input, const kdr_data *data,
                              const kdri_h5ad_notes *notes, bool force)
{
	return write_changed(ctx, path, input, (task){ .data = data, .notes = notes }, force);
}

kdr_status kdri_model_rename(kdr_context *ctx, const char *path, const char *input, const char *list,
                             const char *const *names, int64_t count, bool force)
{
	return write_changed(ctx, path, input, (task){ .list = list, .names = names, .count = count }, force);
}
