/* Damaged HDF5 files, read in a child process. SPDX-License-Identifier: BSD-3-Clause
 *
 *   h5_mutations FILE COUNT [FIRST]
 *
 * FILE is one of the sound files made below. Damage number i of it depends on its name and i alone: bytes
 * changed, cleared, copied about or cut off. Each damaged file is read (a model is applied too) with little
 * patience. HDF5 crashes on some and runs in circles on others; this process must not: it gets a sound data
 * set or a status with a line that gives the reason, and soon. A failure prints the number to pass as FIRST. */
#include "api/model.h"
#include "io/hdf5/h5.h"
#include "tests/fuzz/fuzz_h5.h"

enum { ROWS = 30, COLS = 6 };
static const double patience = 0.3, soon = 20;

static kdr_context *ctx;

static void must(bool done, const char *what)
{
	if (done)
		return;
	fprintf(stderr, "h5_mutations: cannot make the sound file: %s (%s)\n", what, kdr_context_error(ctx));
	exit(1);
}

/* --- sound files -------------------------------------------------------------------------------------- */

static kdr_data *sample(bool sparse)
{
	static double dense[ROWS * COLS], val[ROWS * COLS];
	static int64_t rowptr[ROWS + 1];
	static int32_t col[ROWS * COLS];
	static const char *const names[COLS] = { "one", "two", "three", "four", "five", "six" };
	kdr_data *data = NULL;
	int64_t nnz = 0;
	for (int i = 0; i < ROWS; i++) {
		for (int j = 0; j < COLS; j++) {
			dense[i * COLS + j] = (i + j) % 3 ? i % 2 * 5 + .25 * j + .01 * i : 0;
			if (dense[i * COLS + j] != 0) {
				val[nnz] = dense[i * COLS + j];
				col[nnz++] = j;
			}
		}
		rowptr[i + 1] = nnz;
	}
	kdr_mat x = sparse ? kdr_mat_from_csr(ROWS, COLS, rowptr, col, val)
	                   : kdr_mat_from_dense(dense, ROWS, COLS);
	must(kdr_data_new(ctx, "t", &x, names, &data) == KDR_OK, "data");
	return data;
}

static void make_dense(const char *path)
{
	kdr_data *data = sample(false);
	must(kdri_format_hdf5.write(ctx, path, data, true) == KDR_OK, "dense");
	kdr_data_free(data);
}

static void make_model(const char *path)
{
	kdr_data *data = sample(true);
	kdr_result *result = NULL;
	kdr_job_options o;
	kdr_job_options_init(&o);
	o.method = "kmeans";
	const kdr_prep_options prep = { .size = sizeof(kdr_prep_options),
		                        .weight = KDR_WEIGHT_TFIDF,
		                        .norm = KDR_NORM_L2,
		                        .top_features = 5 };
	o.prep = &prep;
	o.k = 2;
	must(kdr_cluster(ctx, &data, 1, &o, &result) == KDR_OK, "fit");
	must(kdr_model_save(ctx, path, result, true) == KDR_OK, "model");
	fuzz_unseal(path);
	kdr_result_free(result);
	kdr_data_free(data);
}

static void name_rows(const kdri_h5 *h5, const char *frame, const char *prefix, int64_t count)
{
	char text[ROWS][32], name[32];
	const char *strings[ROWS];
	for (int64_t i = 0; i < count; i++) {
		snprintf(text[i], sizeof text[i], "%s-%lld", prefix, (long long)i);
		strings[i] = text[i];
	}
	snprintf(name, sizeof name, "%s/_index", frame);
	must(kdri_h5_make_group(ctx, h5, frame) == KDR_OK &&
	             kdri_h5_set_text(ctx, h5, frame, "_index", "_index") == KDR_OK &&
	             kdri_h5_write_strings(ctx, h5, name, strings, count) == KDR_OK,
	     frame);
}

/* AnnData with compressed rows, names, and a column of classes: categories, or plain strings. */
static void make_annotated(const char *path, bool sparse)
{
	static const char *const kinds[] = { "B cell", "T cell", "neither" };
	kdr_data *data = sample(sparse);
	kdri_h5 h5 = { 0 };
	int64_t codes[ROWS], rows = ROWS, shape[2] = { ROWS, COLS };
	const char *plain[ROWS];
	hsize_t chunk[2] = { 7, COLS }, dims[2] = { ROWS, COLS };
	for (int i = 0; i < ROWS; i++) {
		codes[i] = i % 3;
		plain[i] = kinds[i % 3];
	}
	unlink(path);
	must(kdri_h5_create(ctx, path, path, &h5) == KDR_OK, "create");
	if (sparse) {
		must(kdri_h5_write_matrix(ctx, &h5, "X", data) == KDR_OK, "X");
	} else {
		hid_t made = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(2, dims, NULL);
		H5Pset_chunk(made, 2, chunk);
		H5Pset_deflate(made, 4);
		hid_t id = H5Dcreate2(h5.file, "X", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, made, H5P_DEFAULT);
		must(H5Dwrite(id, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data->dense) >= 0, "X");
		H5Dclose(id);
		H5Sclose(space);
		H5Pclose(made);
		must(kdri_h5_set_integers(ctx, &h5, "X", "shape", shape, 2) == KDR_OK, "shape");
	}
	name_rows(&h5, "obs", "cell", ROWS);
	name_rows(&h5, "var", "gene", COLS);
	if (sparse)
		must(kdri_h5_write_strings(ctx, &h5, "obs/kind", plain, ROWS) == KDR_OK, "kind");
	else
		must(kdri_h5_make_group(ctx, &h5, "obs/kind") == KDR_OK &&
		             kdri_h5_write_array(ctx, &h5, "obs/kind/codes", H5T_NATIVE_INT64, 1, &rows,
		                                 codes) == KDR_OK &&
		             kdri_h5_write_strings(ctx, &h5, "obs/kind/categories", kinds, 3) == KDR_OK,
		     "kind");
	must(kdri_h5_finish(ctx, &h5) == KDR_OK, "finish");
	kdr_data_free(data);
}

static void make_sparse_annotated(const char *path)
{
	make_annotated(path, true);
}

static void make_categories(const char *path)
{
	make_annotated(path, false);
}

/* MATLAB 7.3: its text header in front, the matrix by columns. */
static void make_matlab(const char *path)
{
	char header[512] = "MATLAB 7.3 MAT-file";
	memcpy(header + 124, "\0\2IM", 4);
	kdr_data *data = sample(false);
	hsize_t dims[2] = { COLS, ROWS };
	const char *class_name = "double";
	hid_t made = H5Pcreate(H5P_FILE_CREATE), space = H5Screate_simple(2, dims, NULL),
	      type = fuzz_text_type();
	H5Pset_userblock(made, sizeof header);
	hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, made, H5P_DEFAULT), one = H5Screate(H5S_SCALAR);
	hid_t id = H5Dcreate2(file, "X", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
	must(H5Dwrite(id, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data->dense) >= 0, "X");
	hid_t attribute = H5Acreate2(id, "MATLAB_class", type, one, H5P_DEFAULT, H5P_DEFAULT);
	must(H5Awrite(attribute, type, &class_name) >= 0, "MATLAB_class");
	H5Aclose(attribute);
	H5Dclose(id);
	H5Sclose(one);
	H5Tclose(type);
	H5Sclose(space);
	H5Pclose(made);
	H5Fclose(file);
	FILE *f = fopen(path, "r+b");
	must(f && fwrite(header, 1, sizeof header, f) == sizeof header && fclose(f) == 0, "header");
	kdr_data_free(data);
}

/* CellRanger 3: cells in compressed columns. */
static void make_cellranger(const char *path)
{
	static const char *const kinds[COLS] = { "Gene Expression", "Gene Expression", "Gene Expression",
		                                 "Gene Expression", "Gene Expression", "Antibody Capture" };
	kdr_data *data = sample(true);
	kdri_h5 h5 = { 0 };
	char barcodes[ROWS][20];
	const char *cells[ROWS];
	int64_t pointers = ROWS + 1, nnz = data->rowptr[ROWS], two = 2, shape[2] = { COLS, ROWS };
	for (int i = 0; i < ROWS; i++) {
		snprintf(barcodes[i], sizeof barcodes[i], "AC%d-1", i);
		cells[i] = barcodes[i];
	}
	unlink(path);
	must(kdri_h5_create(ctx, path, path, &h5) == KDR_OK &&
	             kdri_h5_make_group(ctx, &h5, "matrix") == KDR_OK &&
	             kdri_h5_make_group(ctx, &h5, "matrix/features") == KDR_OK,
	     "create");
	must(kdri_h5_write_array(ctx, &h5, "matrix/data", H5T_NATIVE_DOUBLE, 1, &nnz, data->val) == KDR_OK &&
	             kdri_h5_write_array(ctx, &h5, "matrix/indices", H5T_NATIVE_INT32, 1, &nnz, data->col) ==
	                     KDR_OK &&
	             kdri_h5_write_array(ctx, &h5, "matrix/indptr", H5T_NATIVE_INT64, 1, &pointers,
	                                 data->rowptr) == KDR_OK &&
	             kdri_h5_write_array(ctx, &h5, "matrix/shape", H5T_NATIVE_INT64, 1, &two, shape) ==
	                     KDR_OK &&
	             kdri_h5_write_strings(ctx, &h5, "matrix/barcodes", cells, ROWS) == KDR_OK &&
	             kdri_h5_write_strings(ctx, &h5, "matrix/features/name",
	                                   (const char *const *)data->features, COLS) == KDR_OK &&
	             kdri_h5_write_strings(ctx, &h5, "matrix/features/feature_type", kinds, COLS) == KDR_OK,
	     "matrix");
	must(kdri_h5_finish(ctx, &h5) == KDR_OK, "finish");
	kdr_data_free(data);
}

static const struct sound {
	const char *name;
	void (*make)(const char *path);
	const kdri_format *format; /* NULL: a model */
} files[] = {
	{ "model", make_model, NULL },
	{ "dense", make_dense, &kdri_format_hdf5 },
	{ "sparse", make_sparse_annotated, &kdri_format_h5ad },
	{ "categories", make_categories, &kdri_format_h5ad },
	{ "matlab", make_matlab, &kdri_format_mat },
	{ "cellranger", make_cellranger, &kdri_format_hdf5 },
};

/* --- damage ------------------------------------------------------------------------------------------- */

static void damage(const char *name, uint64_t number, const fuzz_copy *from, uint8_t *to, size_t *size)
{
	static const uint64_t odd[] = { 0,
		                        1,
		                        0x7f,
		                        0x80,
		                        0xff,
		                        0xffff,
		                        0x7fffffff,
		                        0xffffffff,
		                        (uint64_t)1 << 40,
		                        UINT64_MAX / 2,
		                        UINT64_MAX };
	kdri_rng rng = kdri_rng_stream(1, name, number);
	memcpy(to, from->bytes, from->size);
	*size = from->size;
	const int64_t n = (int64_t)from->size;
	for (int64_t times = 1 + kdri_rng_below(&rng, 4); times > 0; times--) {
		int64_t at = kdri_rng_below(&rng, n), other = kdri_rng_below(&rng, n);
		int64_t run = 1 + kdri_rng_below(&rng, 64), width = 1 << kdri_rng_below(&rng, 4);
		run = KDRI_MIN(run, n - KDRI_MAX(at, other));
		width = KDRI_MIN(width, n - at);
		uint64_t value = odd[kdri_rng_below(&rng, sizeof odd / sizeof odd[0])];
		switch (kdri_rng_below(&rng, 8)) {
		case 0: to[at] ^= (uint8_t)(1 << kdri_rng_below(&rng, 8)); break;
		case 1:
		case 2: to[at] = (uint8_t)kdri_rng_below(&rng, 256); break;
		case 3:
		case 4: memcpy(to + at, &value, (size_t)width); break;
		case 5: memset(to + at, (int)(value & 0xff), (size_t)run); break;
		case 6: memmove(to + at, to + other, (size_t)run); break;
		default:
			if (kdri_rng_below(&rng, 8) == 0)
				*size = (size_t)at;
			else
				to[at] ^= 0xff;
		}
	}
}

/* Reads one file; returns the result. */
static kdr_status try_file(const struct sound *file, const char *path)
{
	static const kdr_read_options options = { .size = sizeof(kdr_read_options),
		                                  .label_column = "kind",
		                                  .task_column = "kind" };
	kdr_status st;
	if (file->format) {
		kdr_data *data = NULL;
		must(kdri_data_new(ctx, "t", path, &data) == KDR_OK, "data");
		st = file->format->read(ctx, path, &options, data);
		if (st == KDR_OK)
			fuzz_check_data(data);
		kdr_data_free(data);
	} else {
		kdr_model *model = NULL;
		kdr_data *data = sample(true);
		int64_t labels[ROWS];
		st = kdr_model_load(ctx, path, &model);
		FUZZ_CHECK((st == KDR_OK) == (model != NULL));
		if (model)
			st = kdri_model_apply(ctx, model, 0, data, labels);
		kdr_model_free(model);
		kdr_data_free(data);
	}
	if (st != KDR_OK)
		FUZZ_CHECK(kdr_context_error(ctx)[0] && !strchr(kdr_context_error(ctx), '\n'));
	return st;
}

int main(int argc, char **argv)
{
	const struct sound *file = NULL;
	for (size_t i = 0; argc > 2 && i < sizeof files / sizeof files[0]; i++)
		if (strcmp(argv[1], files[i].name) == 0)
			file = &files[i];
	if (!file) {
		fputs("h5_mutations model|dense|sparse|categories|matlab|cellranger COUNT [FIRST]\n", stderr);
		return 2;
	}
	const long count = strtol(argv[2], NULL, 10), first = argc > 3 ? strtol(argv[3], NULL, 10) : 0;
	if (kdr_context_new(&ctx, NULL) != KDR_OK)
		return 1;
	kdr_context_set_threads(ctx, 1);
	kdr_context_set_isolation(ctx, patience);
	const char *path = fuzz_file((const uint8_t *)"", 0);
	fuzz_copy whole = { 0 };
	file->make(path);
	fuzz_keep(&whole, path);
	must(try_file(file, path) == KDR_OK, "it cannot be read");
	uint8_t *bytes = malloc(whole.size);
	if (!bytes)
		return 1;
	long read = 0, refused = 0, crashed = 0, endless = 0;
	double longest = 0;
	for (long i = first; i < first + count; i++) {
		size_t size;
		damage(file->name, (uint64_t)i, &whole, bytes, &size);
		fuzz_file(bytes, size);
		double start = kdri_now();
		kdr_status st = try_file(file, path);
		const char *why = kdr_context_error(ctx);
		longest = KDRI_MAX(longest, kdri_now() - start);
		if (st == KDR_OK)
			read++;
		else if (strstr(why, "the HDF5 library finds no end"))
			endless++;
		else if (strstr(why, "the HDF5 library"))
			crashed++;
		else
			refused++;
		if (longest > soon) {
			fprintf(stderr, "h5_mutations: %s %ld took %.1f s\n", file->name, i, longest);
			return 1;
		}
	}
	printf("%s, %zu bytes, damaged %ld times: %ld read, %ld refused, %ld crashed HDF5, %ld without end; "
	       "at most "
	       "%.1f s\n",
	       file->name, whole.size, count, read, refused, crashed, endless, longest);
	unlink(path);
	free(bytes);
	free(whole.bytes);
	kdr_context_free(ctx);
	return 0;
}
