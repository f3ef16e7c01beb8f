/* MATLAB v7.3 files: HDF5 with MATLAB's own attributes. SPDX-License-Identifier: BSD-3-Clause
 *
 * MATLAB stores columns first, so a matrix appears transposed. MATLAB_class names the class; a sparse
 * matrix is a group of data, ir and jc whose attribute MATLAB_sparse is the number of rows. */
#include "io/hdf5/h5.h"
#include "io/matlab/mat.h"

#include <stdio.h>

/* The reason why a variable is not a matrix of numbers; NULL if it is one. */
static const char *problem_of(const kdri_h5 *h5, const char *name)
{
	char class_name[32];
	int64_t number;
	bool classed = kdri_h5_text(h5, name, "MATLAB_class", class_name, sizeof class_name);
	if (kdri_h5_integers(h5, name, "MATLAB_empty", 1, &number) && number != 0)
		return "empty";
	if (classed && strcmp(class_name, "char") == 0)
		return "text";
	if (classed && strcmp(class_name, "cell") == 0)
		return "cell array";
	if (classed && strcmp(class_name, "struct") == 0)
		return "struct";
	if (kdri_h5_what(h5, name) == KDRI_H5_GROUP)
		return kdri_h5_integers(h5, name, "MATLAB_sparse", 1, &number) ? NULL : "struct";
	return kdri_h5_is_matrix(h5, name) ? NULL : "not a real matrix";
}

static bool note_variable(void *user, const kdri_h5 *h5, const char *name, kdri_h5_kind kind)
{
	(void)kind;
	const char *base = strrchr(name, '/') + 1;
	if (base[0] != '#') /* MATLAB's own */
		kdri_mat_note(user, base, problem_of(h5, name));
	return true;
}

static kdr_status mat73_read_sparse(kdr_context *ctx, const kdri_h5 *h5, const char *name, kdr_data *data)
{
	static const char *const names[3] = { "data", "ir", "jc" };
	kdr_status st;
	kdri_h5_array jc = { 0 };
	char part[300];
	int64_t rows;
	if (!kdri_h5_integers(h5, name, "MATLAB_sparse", 1, &rows))
		return kdri_fail(ctx, KDR_ERR_FORMAT, "%s:%s: is a struct; a matrix of numbers is needed",
		                 h5->path, name);
	snprintf(part, sizeof part, "%s/data", name);
	/* A sparse matrix without entries has no data at all. */
	if (kdri_h5_what(h5, part) != KDRI_H5_DATASET)
		return kdri_fail(ctx, KDR_ERR_DATA, "%s:%s: is a sparse matrix without entries", h5->path,
		                 name);
	snprintf(part, sizeof part, "%s/jc", name);
	KDRI_TRY(kdri_h5_array_open(ctx, h5, part, &jc));
	KDRI_TRY(kdri_h5_read_compressed(ctx, h5, name, names, true, rows, jc.count - 1, NULL, data));
done:
	kdri_h5_array_close(&jc);
	return st;
}

static kdr_status mat73_read_open(kdr_context *ctx, const kdri_h5 *h5, const char *wanted,
                                  const kdr_read_options *options, kdr_data *data)
{
	(void)options;
	kdr_status st = KDR_OK;
	kdri_h5_array a = { 0 };
	kdri_mat_search search = { 0 };
	if (!wanted || kdri_h5_what(h5, wanted) == KDRI_H5_NONE) {
		KDRI_TRY(kdri_h5_walk(ctx, h5, "/", 0, note_variable, &search));
		KDRI_TRY(kdri_mat_choose(ctx, h5->path, wanted, &search));
	}
	const char *name = wanted ? wanted : search.name, *problem = problem_of(h5, name);
	if (problem) {
		st = kdri_fail(ctx, KDR_ERR_FORMAT, "%s:%s: is %s; a real matrix of two dimensions is needed",
		               h5->path, name, problem);
	} else if (kdri_h5_what(h5, name) == KDRI_H5_GROUP) {
		st = mat73_read_sparse(ctx, h5, name, data);
	} else {
		KDRI_TRY(kdri_h5_array_open(ctx, h5, name, &a));
		KDRI_TRY(kdri_h5_read_dense(ctx, &a, true, NULL, data));
	}
done:
	kdri_h5_array_close(&a);
	return st;
}

kdr_status kdri_mat73_read(kdr_context *ctx, const char *path, kdr_data *data)
{
	return kdri_h5_read(ctx, path, NULL, mat73_read_open, data);
}
