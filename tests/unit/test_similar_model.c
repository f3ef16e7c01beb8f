/* Models of mtcfir and snmf: layers kept, samples kept, new samples labelled, and damage refused. */
#include "tests/unit/damage.h"

#include "api/model.h"
#include "methods/mtcfir/mtcfir.h"

/* --- data --------------------------------------------------------------------------------------------- */

enum { TASKS = 2, K = 3, MOST_N = 40, MOST_D = 60 };

/* Two tasks of n samples with d features in K clear clusters, dense and sparse alike, and as many new ones. */
typedef struct data {
	int64_t n, d;
	double x[2 * TASKS][MOST_N * MOST_D], val[2 * TASKS][MOST_N * MOST_D];
	int64_t rowptr[2 * TASKS][MOST_N + 1];
	int32_t col[2 * TASKS][MOST_N * MOST_D];
} data;

static data *data_new(int64_t n, int64_t d)
{
	data *m = calloc(1, sizeof *m);
	m->n = n;
	m->d = d;
	for (int t = 0; t < 2 * TASKS; t++) {
		kdri_rng rng = kdri_rng_stream(5, "model", (uint64_t)t);
		int64_t nnz = 0;
		for (int64_t i = 0; i < n; i++) {
			for (int64_t j = 0; j < d; j++) {
				double v = kdri_rng_uniform(&rng) < 0.3 ? 0.4 * kdri_rng_uniform(&rng) : 0;
				v += j * K / d == i % K ? 0.6 + 0.2 * kdri_rng_uniform(&rng) : 0;
				m->x[t][i * d + j] = v;
				m->col[t][nnz] = (int32_t)j;
				m->val[t][nnz] = v;
				nnz += v != 0;
			}
			m->rowptr[t][i + 1] = nnz;
		}
	}
	return m;
}

/* t < TASKS: a task; above: the new samples of task t - TASKS. */
static kdr_mat mat_of(const data *m, int t, bool sparse)
{
	return sparse ? kdr_mat_from_csr(m->n, m->d, m->rowptr[t], m->col[t], m->val[t])
	              : kdr_mat_from_dense(m->x[t], m->n, m->d);
}

/* --- layers: kept and used again ------------------------------------------------------------------------ */

/* All layers' outputs, one below the other. */
typedef struct outputs {
	int64_t size; /* of one */
	double *h;
} outputs;

static kdr_status collect(kdr_context *ctx, void *user, int64_t layer, const kdr_mat *x, const kdri_panels *h)
{
	outputs *o = user;
	(void)x;
	return h ? kdri_block_fetch(ctx, h->all, o->h + layer * o->size, h->d) : KDR_OK;
}

/* Outputs for `rows` rows of layers learnt from the first `train`, or known. */
static outputs run(kdr_context *ctx, kdr_mat x, int64_t rows, int64_t train, kdri_msda_options o)
{
	outputs out = { .size = rows * kdr_mat_cols(&x) };
	kdri_msda_info info;
	if (x.kind == KDR_MAT_CSR)
		x.as.csr.rows = rows;
	else
		x.as.dense.rows = rows;
	out.h = calloc((size_t)((o.layers + 1) * out.size), sizeof *out.h);
	assert_ok(ctx, kdri_msda_run(ctx, &kdri_cpu, &x, train, &o, collect, &out, &info));
	return out;
}

static void layers__kept_and_used_again__same_as_learnt_again(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	static const int64_t shapes[][2] = { { 30, 8 }, { 30, 25 }, { 25, 25 }, { 24, 25 }, { 12, 60 } };
	enum { LAYERS = 3 };
	for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
		int64_t train = shapes[s][0], d = shapes[s][1], rows = train + 7;
		data *m = data_new(rows, d);
		for (int way = 0; way < 4; way++) {
			bool sparse = way & 1, floats = way & 2;
			kdri_msda_options o = { .layers = LAYERS, .noise = 0.4, .single = floats };
			int64_t side = kdri_msda_side(&o, train, d);
			assert_int_equal(side, KDRI_MIN(train, d));
			kdri_layers kept = { calloc((size_t)(LAYERS * side * side), sizeof(double)),
				             calloc((size_t)(LAYERS * d), sizeof(double)), false };
			outputs learnt = run(ctx, mat_of(m, 0, sparse), rows, train, o);
			o.kept = &kept;
			outputs first = run(ctx, mat_of(m, 0, sparse), train, train, o);
			kept.known = true;
			outputs again = run(ctx, mat_of(m, 0, sparse), rows, train, o);
			for (int64_t l = 1; l <= LAYERS; l++)
				for (int64_t i = 0; i < rows * d; i++) {
					double h = again.h[l * again.size + i];
					assert_near(h, learnt.h[l * learnt.size + i], floats ? 2e-4 : 1e-11);
					if (i < train * d)
						assert_near(h, first.h[l * first.size + i],
						            floats ? 2e-4 : 1e-11);
				}
			/* The stored values are used: another bias, other features. */
			kept.bias[0] += 1;
			outputs other = run(ctx, mat_of(m, 0, sparse), rows, train, o);
			assert_true(fabs(other.h[other.size] - again.h[again.size]) > 1e-3);
			free(learnt.h);
			free(first.h);
			free(again.h);
			free(other.h);
			free(kept.map);
			free(kept.bias);
		}
		free(m);
	}
	kdr_context_free(ctx);
}

static void layers__too_large__not_kept(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_msda_options o = { .layers = 3, .noise = 0.5 };
	kdri_layers layers;
	assert_near(kdri_layers_bytes(&o, 100, 40), 8 * 3 * (40 * 40 + 40), 0);
	assert_near(kdri_layers_bytes(&o, 10, 40), 8 * 3 * (10 * 10 + 40), 0);
	assert_true(kdri_layers_bytes(&o, 13400, 3000) > 0);
	assert_true(kdri_layers_bytes(&o, 13400, 3400) == 0);
	assert_true(kdri_layers_bytes(&o, 18844, 59030) == 0);
	double x[2] = { 1, 2 };
	kdr_task task = { .x = kdr_mat_from_dense(x, 2, 1), .k = 1 };
	kdr_problem problem = { .size = sizeof(kdr_problem), .tasks = &task, .ntasks = 1 };
	kdr_result *r = NULL;
	assert_ok(ctx, kdri_result_new(ctx, kdr_algo_find("mtcfir"), &problem, &r));
	assert_ok(ctx, kdri_layers_keep(ctx, r, 13400, 3400, &layers, &o));
	assert_null(o.kept);
	assert_null(kdr_result_array(r, "layers", -1).data);
	o.layers = 0;
	assert_ok(ctx, kdri_layers_keep(ctx, r, 5, 5, &layers, &o));
	assert_null(o.kept);
	kdr_result_free(r);
	kdr_context_free(ctx);
}

/* --- models --------------------------------------------------------------------------------------------- */

/* Settings "a=b c=d". */
static kdr_options *options_of(kdr_context *ctx, const char *method, const char *settings)
{
	kdr_options *o = NULL;
	char text[200], *next = text;
	assert_ok(ctx, kdr_options_new(ctx, method, &o));
	snprintf(text, sizeof text, "%s", settings);
	while (*next) {
		char *name = next, *value = strchr(next, '=') + 1, *end = strchr(value, ' ');
		next = end ? end + 1 : value + strlen(value);
		if (end)
			*end = '\0';
		value[-1] = '\0';
		assert_ok(ctx, kdr_options_set(ctx, o, name, value));
	}
	return o;
}

static kdr_result *fit(kdr_context *ctx, const char *method, const kdr_options *o, const data *m, bool sparse)
{
	kdr_task tasks[TASKS];
	kdr_result *r = NULL;
	for (int t = 0; t < TASKS; t++)
		tasks[t] = (kdr_task){ .name = t ? "b" : "a", .x = mat_of(m, t, sparse), .k = K };
	kdr_problem problem = { .size = sizeof(kdr_problem), .tasks = tasks, .ntasks = TASKS };
	assert_ok(ctx, kdr_fit(ctx, method, &problem, o, &r));
	return r;
}

static const char *saved(kdr_context *ctx, const char *method, const char *settings, const data *m,
                         bool sparse)
{
	kdr_options *o = options_of(ctx, method, settings);
	kdr_result *r = fit(ctx, method, o, m, sparse);
	const char *path = bytes_path("m.h5");
	assert_ok(ctx, kdr_model_save(ctx, path, r, true));
	kdr_result_free(r);
	kdr_options_free(o);
	return path;
}

static kdr_status predict(kdr_context *ctx, const char *path, const data *m, int t, bool sparse,
                          int64_t *labels)
{
	kdr_model *model = NULL;
	kdr_data *fresh = NULL;
	kdr_mat x = mat_of(m, t, sparse);
	kdr_status st = kdr_model_load(ctx, path, &model);
	if (st == KDR_OK) {
		assert_ok(ctx, kdr_data_new(ctx, "new", &x, NULL, &fresh));
		st = kdri_model_apply(ctx, model, t % TASKS, fresh, labels);
	}
	kdr_data_free(fresh);
	kdr_model_free(model);
	return st;
}

/* Labels of samples in turn from K clusters. */
static void assert_clusters(const int64_t *labels, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		assert_int_equal(labels[i], labels[i % K]);
	assert_true(labels[0] != labels[1] && labels[1] != labels[2] && labels[0] != labels[2]);
}

static void predict__every_form__new_samples_as_their_cluster(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	static const char *const forms[][2] = {
		{ "mtcfir", "" },
		{ "mtcfir", "precision=single" },
		{ "mtcfir", "variant=nF" },
		{ "mtcfir", "variant=nI" },
		{ "mtcfir", "variant=nR final=ncut" },
		{ "mtcfir", "similarity=gauss" },
		{ "snmf", "" },
		{ "snmf", "precision=single" },
		{ "snmf", "similarity=gauss" },
		{ "snmf", "similarity=gauss sigma=2" },
		{ "snmf", "final=ncut" },
	};
	for (size_t f = 0; f < sizeof forms / sizeof forms[0]; f++)
		for (int way = 0; way < 8; way++) { /* shape, model sparse, new samples sparse */
			data *m = way & 1 ? data_new(20, 60) : data_new(36, 12);
			int64_t labels[MOST_N], old[MOST_N];
			const char *path = saved(ctx, forms[f][0], forms[f][1], m, way & 2);
			for (int t = 0; t < TASKS; t++) {
				assert_ok(ctx, predict(ctx, path, m, TASKS + t, way & 4, labels));
				assert_clusters(labels, m->n);
				assert_ok(ctx, predict(ctx, path, m, t, way & 4, old));
				assert_memory_equal(labels, old, K * sizeof *old);
			}
			free(m);
		}
	kdr_context_free(ctx);
}

static void predict__model_without_layers__learns_them_again(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	for (int way = 0; way < 8; way++) { /* shape, sparse, single */
		data *m = way & 1 ? data_new(20, 60) : data_new(36, 12);
		int64_t with[MOST_N], without[MOST_N];
		const char *path = saved(ctx, "mtcfir", way & 4 ? "precision=single" : "", m, way & 2);
		assert_ok(ctx, predict(ctx, path, m, TASKS, way & 2, with));
		removed(path, "arrays/layers");
		assert_fails(ctx, predict(ctx, path, m, TASKS, way & 2, without), KDR_ERR_DATA, "layers");
		removed(path, "arrays/layer_bias");
		assert_ok(ctx, predict(ctx, path, m, TASKS, way & 2, without));
		assert_memory_equal(with, without, (size_t)m->n * sizeof *with);
		free(m);
	}
	kdr_context_free(ctx);
}

static void model__layers__come_back_bit_by_bit(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	data *m = data_new(20, 60);
	kdr_result *r = fit(ctx, "mtcfir", NULL, m, true);
	kdr_array map = kdr_result_array(r, "layers", -1), bias = kdr_result_array(r, "layer_bias", -1);
	assert_int_equal(map.shape[0], 3);
	assert_int_equal(map.shape[1], 40);
	assert_int_equal(map.shape[2], 40);
	assert_int_equal(bias.shape[1], 60);
	const char *path = saved(ctx, "mtcfir", "", m, true);
	hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
	hid_t set = H5Dopen2(file, "arrays/layers", H5P_DEFAULT);
	double *back = calloc(3 * 40 * 40, sizeof *back);
	assert_true(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, back) >= 0);
	assert_memory_equal(back, map.data, 3 * 40 * 40 * sizeof *back);
	H5Dclose(set);
	H5Fclose(file);
	free(back);
	kdr_result_free(r);
	free(m);
	kdr_context_free(ctx);
}

static void model__neighbours_of_each_task__come_back(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	data *m = data_new(20, 12);
	kdr_model *model = NULL;
	int64_t count, labels[MOST_N];
	const char *path = saved(ctx, "mtcfir", "neighbors=5,0.25", m, false);
	assert_ok(ctx, kdr_model_load(ctx, path, &model));
	const double *v = kdri_options_numbers(model->options, "neighbors", &count);
	assert_true(count == 2 && v[0] == 5 && v[1] == 0.25);
	kdr_model_free(model);
	assert_ok(ctx, predict(ctx, path, m, TASKS, false, labels));
	assert_clusters(labels, m->n);
	/* Not one for each task, or out of range. */
	const struct {
		hsize_t count;
		double value;
		const char *says;
	} bad[] = { { 3, 4, "3 numbers" }, { 2, -4, "use a number above 0" }, { 2, NAN, "use a number" } };
	for (int i = 0; i < 3; i++) {
		double values[3] = { bad[i].value, bad[i].value, bad[i].value };
		hid_t file = open_to_change(path), group = H5Gopen2(file, "options", H5P_DEFAULT),
		      space = H5Screate_simple(1, &bad[i].count, NULL);
		H5Adelete(group, "neighbors");
		hid_t id = H5Acreate2(group, "neighbors", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT);
		assert_true(H5Awrite(id, H5T_NATIVE_DOUBLE, values) >= 0);
		H5Aclose(id);
		H5Sclose(space);
		H5Gclose(group);
		H5Fclose(file);
		assert_fails(ctx, predict(ctx, path, m, TASKS, false, labels),
		             i == 0 ? KDR_ERR_OPTION : KDR_ERR_FORMAT, bad[i].says);
	}
	free(m);
	kdr_context_free(ctx);
}

/* A model in which one array is replaced by another of `value`, and the resulting error. */
typedef struct change {
	const char *method, *settings, *array;
	int ndim;
	hsize_t shape[3];
	double value;
	kdr_status status;
	const char *says;
} change;

static void predict__damaged_arrays__one_clear_line(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	enum { N = 20, D = 12 }; /* 2 x 20 samples: by features */
	static const change changes[] = {
		{ "mtcfir", "", "layers", 3, { 3, D, D + 1 }, 0, KDR_ERR_DATA, "3 x 12 x 12" },
		{ "mtcfir", "", "layers", 3, { 3, 2 * N, 2 * N }, 0, KDR_ERR_DATA, "3 x 12 x 12" },
		{ "mtcfir", "", "layers", 3, { 2, D, D }, 0, KDR_ERR_DATA, "3 x 12 x 12" },
		{ "mtcfir", "", "layers", 2, { 3, D * D }, 0, KDR_ERR_DATA, "3 x 12 x 12" },
		{ "mtcfir", "", "layers", 3, { 3, D, D }, NAN, KDR_ERR_FORMAT, "not finite" },
		{ "mtcfir", "", "layer_bias", 2, { 3, D - 1 }, 0, KDR_ERR_DATA, "3 x 12" },
		{ "mtcfir", "", "layer_bias", 1, { 3 * D }, 0, KDR_ERR_DATA, "3 x 12" },
		{ "mtcfir", "", "alpha", 1, { 2 }, 1, KDR_ERR_DATA, "relatedness" },
		{ "mtcfir", "", "alpha", 2, { 2, 1 }, 1, KDR_ERR_DATA, "relatedness" },
		{ "mtcfir", "", "neighbors", 1, { 1 }, 1, KDR_ERR_DATA, "neighbours" },
		{ "mtcfir", "", "neighbors", 1, { 2 }, 0, KDR_ERR_DATA, "0 neighbours" },
		{ "mtcfir", "", "neighbors", 1, { 2 }, N - 1, KDR_ERR_DATA, "1 to 18 are allowed" },
		{ "mtcfir", "", "memberships/0", 2, { N, K + 1 }, 1, KDR_ERR_DATA, "memberships" },
		{ "mtcfir", "", "memberships/0", 2, { N - 1, K }, 1, KDR_ERR_DATA, "memberships" },
		{ "mtcfir",
		  "",
		  "train_rowptr/1",
		  1,
		  { N + 1 },
		  -7,
		  KDR_ERR_DATA,
		  "samples of data set number 2" },
		{ "mtcfir",
		  "",
		  "train_rowptr/1",
		  1,
		  { N + 1 },
		  1e9,
		  KDR_ERR_DATA,
		  "samples of data set number 2" },
		{ "mtcfir", "", "train_val/1", 1, { 5 }, 1, KDR_ERR_DATA, "samples of data set number 2" },
		{ "snmf", "", "memberships/0", 2, { N, K - 1 }, 1, KDR_ERR_DATA, "memberships" },
		{ "snmf", "", "memberships/0", 1, { N * K }, 1, KDR_ERR_DATA, "memberships" },
		{ "snmf", "", "train_rowptr/0", 1, { N }, 0, KDR_ERR_DATA, "samples of data set number 1" },
		{ "snmf", "similarity=gauss", "sigma/0", 1, { 1 }, -1, KDR_ERR_DATA, "Gaussian" },
	};
	data *m = data_new(N, D);
	int64_t labels[N];
	for (size_t c = 0; c < sizeof changes / sizeof changes[0]; c++) {
		const change *h = &changes[c];
		char name[64];
		const char *path = saved(ctx, h->method, h->settings, m, true);
		snprintf(name, sizeof name, "arrays/%s", h->array);
		reshaped(path, name, h->ndim, h->shape, h->value);
		assert_fails(ctx, predict(ctx, path, m, 0, false, labels), h->status, h->says);
	}
	/* Columns out of range, and the same one twice in a row. */
	for (int64_t value = -1; value <= D; value += D + 1) {
		const char *path = saved(ctx, "snmf", "", m, true);
		reshaped(path, "arrays/train_col/0", 1, (hsize_t[]){ (hsize_t)m->rowptr[0][N] },
		         (double)value);
		assert_fails(ctx, predict(ctx, path, m, 0, false, labels), KDR_ERR_DATA, "column");
	}
	const char *path = saved(ctx, "snmf", "", m, true);
	reshaped(path, "arrays/train_col/0", 1, (hsize_t[]){ (hsize_t)m->rowptr[0][N] }, 3);
	assert_fails(ctx, predict(ctx, path, m, 0, false, labels), KDR_ERR_DATA, "increasing order");
	free(m);
	kdr_context_free(ctx);
}

/* --- new samples in a factorisation --------------------------------------------------------------------- */

static void fold_in__rows_made_from_memberships__those_come_back(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(5, "fold", 0);
	enum { N = 50, ROWS = 40 };
	for (int64_t k = 1; k <= 6; k++) {
		double y[N * 6], s[ROWS * N];
		int64_t wanted[ROWS], labels[ROWS];
		/* One large cluster and a share of it in all others: plain votes would put all there. */
		for (int64_t i = 0; i < N; i++)
			for (int64_t c = 0; c < k; c++)
				y[i * k + c] = 0.3 * kdri_rng_uniform(&rng) + (c == (i < 2 * k ? i % k : 0));
		for (int64_t i = 0; i < ROWS; i++) {
			double mine[6];
			wanted[i] = i % k;
			for (int64_t c = 0; c < k; c++)
				mine[c] = c == wanted[i] ? 0.6 : 0.5 * kdri_rng_uniform(&rng);
			for (int64_t j = 0; j < N; j++)
				s[i * N + j] = kdri_dot(mine, y + j * k, k);
		}
		kdri_block block = kdri_block_of(s, ROWS, N, N);
		assert_ok(ctx, kdri_fold_in(ctx, block, y, k, labels));
		assert_memory_equal(labels, wanted, sizeof labels);
	}
	kdr_context_free(ctx);
}

static void fold_in__empty_clusters_or_no_similarity__in_range(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	double y[8] = { 0, 1, 0, 1, 0, 1, 0, 1 }, s[8] = { 1, 1, 0.5, 0, 0, 0, 0, 0 }, none[8] = { 0 };
	int64_t labels[2];
	kdri_block block = kdri_block_of(s, 2, 4, 4);
	assert_ok(ctx, kdri_fold_in(ctx, block, y, 2, labels));
	assert_int_equal(labels[0], 1);
	assert_int_equal(labels[1], 0);
	assert_ok(ctx, kdri_fold_in(ctx, block, none, 2, labels));
	assert_int_equal(labels[0], 0);
	kdr_context_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(layers__kept_and_used_again__same_as_learnt_again),
		cmocka_unit_test(layers__too_large__not_kept),
		cmocka_unit_test(predict__every_form__new_samples_as_their_cluster),
		cmocka_unit_test(predict__model_without_layers__learns_them_again),
		cmocka_unit_test(model__layers__come_back_bit_by_bit),
		cmocka_unit_test(model__neighbours_of_each_task__come_back),
		cmocka_unit_test(predict__damaged_arrays__one_clear_line),
		cmocka_unit_test(fold_in__rows_made_from_memberships__those_come_back),
		cmocka_unit_test(fold_in__empty_clusters_or_no_similarity__in_range),
	};
	return cmocka_run_group_tests(tests, NULL, bytes_clean);
}
