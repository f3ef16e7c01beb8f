/* The table of formats. SPDX-License-Identifier: BSD-3-Clause */
#include "core/numbers.h"
#include "core/system.h"
#include "io/binary.h"

static const kdri_format *const formats[] = {
	&kdri_format_csv, &kdri_format_tsv,  &kdri_format_mtx,  &kdri_format_svmlight,
	&kdri_format_npy, &kdri_format_npz,  &kdri_format_hdf5, &kdri_format_h5ad,
	&kdri_format_mat, &kdri_format_tenx, &kdri_format_xlsx, &kdri_format_safetensors,
};

const kdri_format *kdri_format_at(int64_t index)
{
	return index >= 0 && index < (int64_t)(sizeof formats / sizeof formats[0]) ? formats[index] : NULL;
}

static bool ends_with(const char *text, size_t length, const char *ending)
{
	size_t n = strlen(ending);
	return length > n && kdri_same_word(text + length - n, n, ending);
}

static const kdri_format *find_ending(const char *path, size_t length)
{
	const kdri_format *f;
	for (int64_t i = 0; (f = kdri_format_at(i)); i++)
		for (const char *const *e = f->endings; *e; e++)
			if (ends_with(path, length, *e))
				return f;
	return NULL;
}

const kdri_format *kdri_format_find(const char *id, const char *path)
{
	const kdri_format *f;
	kdri_file info;
	if (!id) {
		if (kdri_file_at(path, &info) && info.folder)
			return kdri_is_tenx(path) ? &kdri_format_tenx : NULL;
		/* The entire name, or the part before a colon: "file.h5:/group/dataset". */
		f = find_ending(path, strlen(path));
		for (size_t i = strlen(path); !f && i > 0; i--)
			if (path[i - 1] == ':')
				f = find_ending(path, i - 1);
		return f;
	}
	for (int64_t i = 0; (f = kdri_format_at(i)); i++) {
		if (kdri_same_word(id, strlen(id), f->id))
			return f;
		/* An ending is as good a name: "libsvm", "h5". */
		for (const char *const *e = f->endings; *e; e++)
			if (kdri_same_word(id, strlen(id), *e + 1))
				return f;
	}
	return NULL;
}

unsigned kdr_format_holds(const char *format, const char *path)
{
	const kdri_format *f = format || path ? kdri_format_find(format, path) : NULL;
	return f ? f->holds | KDR_HOLDS_MATRIX : 0;
}

const char *kdri_format_elsewhere(const char *path)
{
	static const char *const known[][2] = {
		{ ".parquet", "Parquet" },   { ".pq", "Parquet" },       { ".feather", "Feather (Arrow)" },
		{ ".arrow", "Arrow" },       { ".ipc", "Arrow" },        { ".xls", "Excel before 2007" },
		{ ".xlsb", "binary Excel" }, { ".ods", "OpenDocument" },
	};
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		if (ends_with(path, strlen(path), known[i][0]))
			return known[i][1];
	return NULL;
}
