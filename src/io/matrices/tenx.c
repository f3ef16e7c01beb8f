/* Folders of 10x Genomics: a matrix of molecule counts, and files with the names of cells and genes.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *     matrix.mtx      genes in rows, cells in columns: transposed
 *     barcodes.tsv    one line per cell: the names of the rows
 *     features.tsv    one line per gene: identifier, symbol, kind; genes.tsv before version 3: identifier, symbol
 *
 * each also with .gz and, as in repositories, with a prefix ("GSM1_matrix.mtx.gz") if the matrix is named and the format
 * specified. Gene symbols become the column names, because people know them and they are the same in files of different
 * references; duplicate symbols are made distinct as AnnData does. */
#include "io/binary.h"

#include <stdio.h>

#include "core/names.h"
#include "core/system.h"
#include "io/text.h"

/* --- names of files --------------------------------------------------------------------------------- */

static const char matrix_name[] = "matrix.mtx";

/* "<prefix><name>" or the same with .gz, whichever exists; false: neither. */
static bool find_file(const char *prefix, size_t length, const char *name, char *out, size_t room)
{
	kdri_file info;
	for (int gz = 0; gz < 2; gz++) {
		int n = snprintf(out, room, "%.*s%s%s", (int)length, prefix, name, gz ? ".gz" : "");
		if (n > 0 && (size_t)n < room && kdri_file_at(out, &info) && !info.folder)
			return true;
	}
	return false;
}

/* The prefix of "matrix.mtx" in the name of the matrix. */
static size_t prefix_of(const char *matrix)
{
	size_t n = strlen(matrix) - (kdri_ends_with(matrix, ".gz") ? 3 : 0), own = sizeof matrix_name - 1;
	return n >= own && strncmp(matrix + n - own, matrix_name, own) == 0 ? n - own : 0;
}

enum { PATH_ROOM = 4096 };

bool kdri_is_tenx(const char *folder)
{
	char prefix[PATH_ROOM], path[PATH_ROOM];
	int n = snprintf(prefix, sizeof prefix, "%s/", folder);
	return n > 0 && (size_t)n < sizeof prefix &&
	       find_file(prefix, (size_t)n, matrix_name, path, sizeof path);
}

static bool find_features(const char *prefix, size_t length, char *out, size_t room)
{
	return find_file(prefix, length, "features.tsv", out, room) ||
	       find_file(prefix, length, "genes.tsv", out, room);
}

bool kdri_beside_tenx(const char *matrix)
{
	char path[PATH_ROOM];
	size_t n = prefix_of(matrix);
	return (n > 0 || strncmp(matrix, matrix_name, sizeof matrix_name - 1) == 0) &&
	       find_file(matrix, n, "barcodes.tsv", path, sizeof path) &&
	       find_features(matrix, n, path, sizeof path);
}

/* --- names of cells and genes ------------------------------------------------------------------------- */

kdr_status kdri_names_distinct(kdr_context *ctx, char **names, int64_t count)
{
	kdr_status st = KDR_OK;
	kdri_names table = { 0 };
	int64_t *used = NULL, index;
	char *next = NULL;
	/* All of them first: a name that is made must be no other's. */
	for (int64_t i = 0; i < count; i++)
		KDRI_TRY(kdri_names_add(ctx, &table, names[i], strlen(names[i]), &index));
	if (table.count == count)
		goto done;
	KDRI_TRY(KDRI_NEW0(ctx, &used, table.count)); /* 0: not met; else 1 + the last number given */
	int64_t known = table.count;
	for (int64_t i = 0; i < count; i++) {
		int64_t own = kdri_names_find(&table, names[i]), number;
		if (used[own]++ == 0)
			continue;
		for (number = used[own] - 1;; number++) {
			size_t room = strlen(names[i]) + 24;
			KDRI_TRY(KDRI_NEW(ctx, &next, room));
			snprintf(next, room, "%s-%lld", names[i], (long long)number);
			KDRI_TRY(kdri_names_add(ctx, &table, next, strlen(next), &index));
			if (index == known)
				break;
			kdri_free(ctx, next);
			next = NULL;
		}
		known++;
		used[own] = number + 1;
		kdri_free(ctx, names[i]);
		names[i] = next;
		next = NULL;
	}
done:
	KDRI_FREE(ctx, used, next);
	kdri_names_free(ctx, &table);
	return st;
}

/* Columns whose `to` is -1 go; the others move up. Nothing can fail. */
static void keep_columns(kdr_data *d, const int32_t *to, int64_t kept)
{
	int64_t out = 0, begin = 0;
	for (int64_t i = 0; i < d->rows; i++) {
		int64_t end = d->rowptr[i + 1];
		for (int64_t p = begin; p < end; p++)
			if (to[d->col[p]] >= 0) {
				d->val[out] = d->val[p];
				d->col[out++] = to[d->col[p]];
			}
		begin = end;
		d->rowptr[i + 1] = out;
	}
	for (int64_t j = 0; j < d->cols; j++) {
		if (to[j] < 0) {
			kdri_free_with(&d->allocator, d->features[j]);
			continue;
		}
		d->features[to[j]] = d->features[j];
	}
	d->cols = kept;
}

kdr_status kdri_tenx_finish(kdr_context *ctx, char *const *types, kdr_data *data)
{
	static const char genes[] = "Gene Expression";
	kdr_status st = KDR_OK;
	int32_t *to = NULL;
	int64_t kept = 0, cols = data->cols;
	for (int64_t j = 0; types && j < cols; j++)
		kept += strcmp(types[j], genes) == 0;
	if (kept > 0 && kept < cols && data->kind == KDR_MAT_CSR) {
		KDRI_TRY(KDRI_NEW(ctx, &to, cols));
		kept = 0;
		for (int64_t j = 0; j < cols; j++)
			to[j] = strcmp(types[j], genes) == 0 ? (int32_t)kept++ : -1;
		keep_columns(data, to, kept);
		kdri_message(
		        ctx,
		        "%s: %lld features that are not genes (such as antibodies and guides) were skipped",
		        data->path, (long long)(cols - kept));
	}
	KDRI_TRY(kdri_names_distinct(ctx, data->features, data->cols));
done:
	kdri_free(ctx, to);
	return st;
}

/* --- tables of names ------------------------------------------------------------------------------------ */

/* The lines of a table; their number must be `expected`. */
static kdr_status read_lines(kdr_context *ctx, const char *path, int64_t expected, const char *what,
                             char ***out)
{
	kdr_status st;
	char **lines = NULL;
	int64_t count = 0;
	st = kdri_lines_read(ctx, path, expected, &lines, &count);
	if (st == KDR_ERR_DATA)
		st = kdri_fail(
		        ctx, KDR_ERR_FORMAT,
		        "%s: has a blank line, or more lines than the %lld %s of the matrix in the same folder",
		        path, (long long)expected, what);
	else if (st == KDR_OK && count != expected)
		st = kdri_fail(ctx, KDR_ERR_FORMAT,
		               "%s: has %lld lines for the %lld %s of the matrix in the same folder", path,
		               (long long)count, (long long)expected, what);
	if (st != KDR_OK)
		goto done;
	*out = lines;
	lines = NULL;
done:
	kdri_strings_free(&ctx->allocator, lines, count);
	return st;
}

/* Cuts every line down to its field `field` (from 0), or the last it has before. */
static void cut_field(char **lines, int64_t count, int field)
{
	for (int64_t i = 0; i < count; i++) {
		char *p = lines[i], *tab;
		for (int f = 0; f < field && (tab = strchr(p, '\t')) && tab[1] && tab[1] != '\t'; f++)
			p = tab + 1;
		if ((tab = strchr(p, '\t')))
			*tab = '\0';
		memmove(lines[i], p, strlen(p) + 1);
	}
}

/* Names of the columns, and their kinds if the table has a third column. */
static kdr_status tenx_read_features(kdr_context *ctx, const char *path, kdr_data *d, char ***types)
{
	KDRI_DO(read_lines(ctx, path, d->cols, "genes", &d->features));
	const char *tab = strchr(d->features[0], '\t');
	if (tab && strchr(tab + 1, '\t')) {
		KDRI_DO(kdri_strings_copy(ctx, d->features, d->cols, types));
		cut_field(*types, d->cols, 2);
	}
	cut_field(d->features, d->cols, 1);
	return KDR_OK;
}

/* --- entire folders -------------------------------------------------------------------------------------------- */

/* Finds the three files: `path` is the folder, or the matrix in it. */
static kdr_status find_files(kdr_context *ctx, const char *path, char *matrix, char *barcodes, char *features)
{
	kdri_file info;
	char prefix[PATH_ROOM];
	int n;
	if (kdri_file_at(path, &info) && info.folder) {
		n = snprintf(prefix, sizeof prefix, "%s%s", path, kdri_ends_with(path, "/") ? "" : "/");
		if (n < 0 || (size_t)n >= sizeof prefix ||
		    !find_file(prefix, (size_t)n, matrix_name, matrix, PATH_ROOM))
			return kdri_fail(ctx, KDR_ERR_READ, "%s: has no matrix.mtx or matrix.mtx.gz", path);
	} else {
		n = snprintf(matrix, PATH_ROOM, "%s", path);
		if (n < 0 || n >= PATH_ROOM)
			return kdri_fail(ctx, KDR_ERR_READ, "%.100s...: the name is too long", path);
		n = snprintf(prefix, sizeof prefix, "%.*s", (int)prefix_of(path), path);
	}
	if (!find_file(prefix, (size_t)n, "barcodes.tsv", barcodes, PATH_ROOM))
		return kdri_fail(ctx, KDR_ERR_READ,
		                 "%s: there is no %sbarcodes.tsv or .gz in the same folder", matrix, prefix);
	if (!find_features(prefix, (size_t)n, features, PATH_ROOM))
		return kdri_fail(ctx, KDR_ERR_READ,
		                 "%s: there is no %sfeatures.tsv, genes.tsv or .gz in the same folder",
		                 matrix, prefix);
	return KDR_OK;
}

static kdr_status read_tenx(kdr_context *ctx, const char *path, const kdr_read_options *options,
                            kdr_data *data)
{
	kdr_status st;
	char matrix[PATH_ROOM], barcodes[PATH_ROOM], features[PATH_ROOM], **types = NULL;
	kdri_input *in = NULL;
	KDRI_TRY(find_files(ctx, path, matrix, barcodes, features));
	KDRI_TRY(kdri_input_open(ctx, matrix, &in));
	KDRI_TRY(kdri_mtx_read(ctx, in, options, data));
	KDRI_TRY(kdri_data_transpose(ctx, data));
	int64_t cols = data->cols;
	st = read_lines(ctx, barcodes, data->rows, "cells", &data->ids);
	if (st == KDR_OK)
		cut_field(data->ids, data->rows, 0);
	if (st == KDR_OK)
		st = tenx_read_features(ctx, features, data, &types);
	if (st == KDR_OK)
		st = kdri_tenx_finish(ctx, types, data);
	kdri_strings_free(&ctx->allocator, types, cols);
done:
	kdri_input_close(ctx, in);
	return st;
}

static const char *const endings[] = { NULL };

const kdri_format kdri_format_tenx = {
	.id = "10x",
	.endings = endings,
	.read = read_tenx,
	.help = "10x Genomics: a folder with matrix.mtx, barcodes.tsv and features.tsv or genes.tsv",
};
