/* Synthetic tasks: what a row depends on, moments, missing classes, silly arguments. */
#include "tests/unit/bytes.h"
#include "tests/unit/unit.h"

#include "jobs/generate/synth.h"

static kdr_generator *blobs(kdr_context *ctx, const kdr_design *spec)
{
	kdr_generator *g = NULL;
	assert_ok(ctx, kdr_generate(ctx, spec, &g));
	return g;
}

static kdr_generator *topics(kdr_context *ctx, const kdr_design *spec)
{
	kdr_generator *g = NULL;
	assert_ok(ctx, kdr_generate(ctx, spec, &g));
	return g;
}

static kdr_data *data_of(kdr_context *ctx, kdr_generator *g, int64_t task)
{
	kdr_data *d = NULL;
	assert_ok(ctx, kdr_generator_data(ctx, g, task, &d));
	return d;
}

/* --- streams ----------------------------------------------------------------------------------- */

static void row__any_order_and_threads__same_as_in_data(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	const int64_t samples[] = { 40, 75 };
	kdr_design b;
	kdr_design s;
	kdr_design_init(&b, KDR_DESIGN_BLOBS);
	kdr_design_init(&s, KDR_DESIGN_TOPICS);
	b.samples = s.samples = samples;
	b.noise_features = 3;
	for (int sparse = 0; sparse < 2; sparse++)
		for (int threads = 1; threads <= 3; threads += 2) {
			kdr_context_set_threads(ctx, threads);
			kdr_generator *g = sparse ? topics(ctx, &s) : blobs(ctx, &b);
			int64_t d = g->features, room = g->most;
			double *row = malloc((size_t)d * sizeof *row),
			       *vals = malloc((size_t)(room + 1) * sizeof *vals);
			int32_t *cols = malloc((size_t)(room + 1) * sizeof *cols);
			assert_int_equal(g->design->sparse_row != NULL, sparse);
			for (int64_t t = 0; t < 2; t++) {
				kdr_data *all = data_of(ctx, g, t);
				assert_int_equal(all->rows, samples[t]);
				assert_int_equal(g->samples[t], samples[t]);
				for (int64_t i = all->rows - 1; i >= 0; i--) { /* backwards on purpose */
					int64_t label, nnz = 0;
					assert_int_equal(kdri_generator_row(g, t, i, row, &label), KDR_OK);
					assert_int_equal(label, all->labels[i]);
					if (!sparse) {
						assert_memory_equal(row, all->dense + i * d,
						                    (size_t)d * sizeof *row);
						continue;
					}
					assert_int_equal(
					        kdri_generator_sparse_row(g, t, i, cols, vals, &nnz, &label),
					        KDR_OK);
					assert_int_equal(nnz, all->rowptr[i + 1] - all->rowptr[i]);
					for (int64_t p = 0; p < nnz; p++) {
						assert_int_equal(cols[p], all->col[all->rowptr[i] + p]);
						assert_true(vals[p] == all->val[all->rowptr[i] + p]);
						assert_true(vals[p] == row[cols[p]]);
						assert_true(p == 0 || cols[p] > cols[p - 1]);
						row[cols[p]] = 0;
					}
					for (int64_t j = 0; j < d; j++)
						assert_true(row[j] == 0);
				}
				kdr_data_free(all);
			}
			free(row);
			free(vals);
			free(cols);
			kdr_generator_free(g);
		}
	kdr_context_free(ctx);
}

static void row__same_seed_more_rows__the_first_rows_stay(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_design b;
	kdr_design_init(&b, KDR_DESIGN_BLOBS);
	b.samples = (const int64_t[]){ 10, 10 };
	kdr_generator *few = blobs(ctx, &b);
	b.samples = (const int64_t[]){ 99, 1000 };
	kdr_generator *many = blobs(ctx, &b);
	kdr_context_set_seed(ctx, 2);
	kdr_generator *other = blobs(ctx, &b);
	for (int64_t t = 0; t < 2; t++)
		for (int64_t i = 0; i < 10; i++) {
			double x[2], y[2], z[2];
			int64_t lx, ly, lz;
			assert_int_equal(kdri_generator_row(few, t, i, x, &lx), KDR_OK);
			assert_int_equal(kdri_generator_row(many, t, i, y, &ly), KDR_OK);
			assert_int_equal(kdri_generator_row(other, t, i, z, &lz), KDR_OK);
			assert_true(x[0] == y[0] && x[1] == y[1] && lx == ly);
			assert_true(x[0] != z[0]);
		}
	assert_int_equal(kdri_generator_row(few, 0, 10, NULL, NULL), KDR_ERR_ARGUMENT);
	assert_int_equal(kdri_generator_row(few, 2, 0, NULL, NULL), KDR_ERR_ARGUMENT);
	kdr_generator_free(few);
	kdr_generator_free(many);
	kdr_generator_free(other);
	kdr_context_free(ctx);
}

/* --- blobs ------------------------------------------------------------------------------------- */

/* Means of the classes of one task: k x d. */
static void class_means(const kdr_data *d, int64_t k, double *means, int64_t *sizes)
{
	memset(means, 0, (size_t)(k * d->cols) * sizeof *means);
	memset(sizes, 0, (size_t)k * sizeof *sizes);
	for (int64_t i = 0; i < d->rows; i++) {
		sizes[d->labels[i]]++;
		for (int64_t j = 0; j < d->cols; j++)
			means[d->labels[i] * d->cols + j] += d->dense[i * d->cols + j];
	}
	for (int64_t c = 0; c < k; c++)
		for (int64_t j = 0; j < d->cols; j++)
			means[c * d->cols + j] /= (double)KDRI_MAX(sizes[c], 1);
}

static void blobs__many_rows__sizes_spread_and_noise_as_asked(void **state)
{
	(void)state;
	enum { K = 4, D = 7, N = 20000 };
	kdr_context *ctx = unit_context();
	kdr_design b;
	kdr_design_init(&b, KDR_DESIGN_BLOBS);
	b.tasks = 1;
	b.k = K;
	b.features = 5;
	b.noise_features = 2;
	b.spread = 2;
	b.samples = (const int64_t[]){ N };
	kdr_generator *g = blobs(ctx, &b);
	kdr_data *d = data_of(ctx, g, 0);
	double means[K * D];
	int64_t sizes[K];
	class_means(d, K, means, sizes);
	for (int c = 0; c < K; c++) {
		assert_in_range(sizes[c], N / K - 5, N / K + 5);
		assert_near(means[c * D + 5], 0, 0.15);
		assert_near(means[c * D + 6], 0, 0.15);
	}
	for (int j = 0; j < D; j++) {
		double sum = 0;
		for (int64_t i = 0; i < N; i++) {
			double e = d->dense[i * D + j] - means[d->labels[i] * D + j];
			sum += e * e;
		}
		assert_near(sqrt(sum / N), 2, 0.05);
	}
	assert_string_equal(d->features[4], "f5");
	assert_string_equal(d->features[5], "noise1");
	assert_string_equal(d->features[6], "noise2");
	assert_string_equal(d->classes[3], "c3");
	kdr_data_free(d);
	kdr_generator_free(g);
	kdr_context_free(ctx);
}

static void blobs__many_classes__centres_have_the_deviation_asked_for(void **state)
{
	(void)state;
	enum { K = 400, D = 30 };
	kdr_context *ctx = unit_context();
	kdr_design b;
	kdr_design_init(&b, KDR_DESIGN_BLOBS);
	b.tasks = 1;
	b.k = K;
	b.features = D;
	b.spread = 1e-3; /* rows are their centres */
	b.separation = 5000;
	b.shift = 0;
	b.samples = (const int64_t[]){ 4000 };
	kdr_generator *g = blobs(ctx, &b);
	kdr_data *d = data_of(ctx, g, 0);
	static double means[K * D];
	int64_t sizes[K];
	double sum = 0;
	class_means(d, K, means, sizes);
	for (int i = 0; i < K * D; i++)
		sum += means[i] * means[i];
	assert_near(sqrt(sum / (K * D)), 5, 0.1);
	kdr_data_free(d);
	kdr_generator_free(g);
	kdr_context_free(ctx);
}

static void blobs__rotation_alone__turns_every_centre_by_the_angle(void **state)
{
	(void)state;
	for (int64_t d = 1; d <= 6; d++) {
		kdr_context *ctx = unit_context();
		kdr_design b;
		kdr_design_init(&b, KDR_DESIGN_BLOBS);
		b.tasks = 3;
		b.features = d;
		b.spread = 1e-9;
		b.separation = 1e9;
		b.shift = 0;
		b.rotation = 25;
		kdr_generator *g = blobs(ctx, &b);
		double means[3][3 * 6];
		int64_t sizes[3];
		for (int t = 0; t < 3; t++) {
			kdr_data *x = data_of(ctx, g, t);
			class_means(x, 3, means[t], sizes);
			kdr_data_free(x);
		}
		for (int t = 1; t < 3; t++)
			for (int64_t c = 0; c < 3; c++) {
				double dot = 0, a = 0, z = 0, odd = 0;
				for (int64_t j = 0; j < d; j++) {
					double u = means[0][c * d + j], v = means[t][c * d + j];
					dot += u * v;
					a += u * u;
					z += v * v;
					if (d % 2 && fabs(u - v) < 1e-6)
						odd += u * u; /* the coordinate left without a partner */
				}
				assert_near(z, a, 1e-6 * a);
				assert_near(dot, odd + (a - odd) * cos(25 * t * 3.14159265358979 / 180),
				            1e-5 * a);
			}
		kdr_generator_free(g);
		kdr_context_free(ctx);
	}
}

static void blobs__missing_and_imbalance__after_the_first_task(void **state)
{
	(void)state;
	enum { K = 5, N = 1500 };
	kdr_context *ctx = unit_context();
	kdr_design b;
	kdr_design_init(&b, KDR_DESIGN_BLOBS);
	b.tasks = 4;
	b.k = K;
	b.missing = 2;
	b.imbalance = 1;
	b.samples = (const int64_t[]){ N, N, N, N };
	kdr_generator *g = blobs(ctx, &b);
	for (int t = 0; t < 4; t++) {
		kdr_data *d = data_of(ctx, g, t);
		int64_t sizes[K], last = N, rank = 0, m = t ? 3 : 5;
		double means[K * 2];
		class_means(d, K, means, sizes);
		for (int c = 0; c < K; c++) {
			if (sizes[c] == 0)
				continue;
			/* (1 - r / m) / sum of these, m (m + 1) / 2m */
			double share = (1 - (double)rank / (double)m) / ((double)(m + 1) / 2);
			assert_true(sizes[c] < last);
			assert_near((double)sizes[c] / N, share, 0.005);
			last = sizes[c];
			rank++;
		}
		assert_int_equal(rank, m);
		kdr_data_free(d);
	}
	kdr_generator_free(g);
	kdr_context_free(ctx);
}

/* --- topics ------------------------------------------------------------------------------------ */

static void topics__defaults__nearest_topic_across_tasks_is_right(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_design s;
	kdr_design_init(&s, KDR_DESIGN_TOPICS);
	kdr_generator *g = topics(ctx, &s);
	kdr_data *a = data_of(ctx, g, 0), *b = data_of(ctx, g, 1);
	double *profile = calloc((size_t)(s.k * s.words), sizeof *profile), words = 0;
	for (int64_t i = 0; i < a->rows; i++)
		for (int64_t p = a->rowptr[i]; p < a->rowptr[i + 1]; p++) {
			profile[a->labels[i] * s.words + a->col[p]] += a->val[p];
			words += a->val[p];
		}
	assert_near(words / (double)a->rows, s.length, 5);
	for (int64_t c = 0; c < s.k; c++) {
		double sum = 0;
		for (int64_t j = 0; j < s.words; j++)
			sum += profile[c * s.words + j];
		for (int64_t j = 0; j < s.words; j++)
			profile[c * s.words + j] = log((profile[c * s.words + j] + 0.5) / (sum + 0.5));
	}
	int64_t right = 0;
	for (int64_t i = 0; i < b->rows; i++) {
		double best = -INFINITY;
		int64_t label = -1;
		for (int64_t c = 0; c < s.k; c++) {
			double score = 0;
			for (int64_t p = b->rowptr[i]; p < b->rowptr[i + 1]; p++)
				score += b->val[p] * profile[c * s.words + b->col[p]];
			if (score > best) {
				best = score;
				label = c;
			}
		}
		right += label == b->labels[i];
	}
	assert_true(right > b->rows * 95 / 100);
	free(profile);
	kdr_data_free(a);
	kdr_data_free(b);
	kdr_generator_free(g);
	kdr_context_free(ctx);
}

static void topics__domain_words__only_in_their_task(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_design s;
	kdr_design_init(&s, KDR_DESIGN_TOPICS);
	s.words = 80;
	s.purity = 0;
	s.domain = 1;
	s.missing = 3;
	kdr_generator *g = topics(ctx, &s);
	kdr_data *d[2] = { data_of(ctx, g, 0), data_of(ctx, g, 1) };
	bool seen[2][80] = { { false } };
	for (int t = 0; t < 2; t++)
		for (int64_t p = 0; p < d[t]->rowptr[d[t]->rows]; p++)
			seen[t][d[t]->col[p]] = true;
	int count = 0;
	for (int j = 0; j < 80; j++) {
		assert_false(seen[0][j] && seen[1][j]);
		count += seen[0][j] + seen[1][j];
	}
	assert_int_equal(count, 20); /* a quarter of the vocabulary, all of it met in 300 documents */
	for (int64_t i = 1; i < d[1]->rows; i++)
		assert_int_equal(d[1]->labels[i], d[1]->labels[0]); /* one topic of four is left */
	kdr_data_free(d[0]);
	kdr_data_free(d[1]);
	kdr_generator_free(g);
	kdr_context_free(ctx);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void word__whole_vocabularies__all_different(void **state)
{
	(void)state;
	static const int64_t counts[] = { 1, 2, 100, 4900, 4901, 50000 };
	static char names[50000][16];
	for (size_t v = 0; v < sizeof counts / sizeof counts[0]; v++) {
		for (int64_t i = 0; i < counts[v]; i++)
			kdri_word(i, counts[v], names[i], sizeof names[i]);
		qsort(names, (size_t)counts[v], sizeof names[0], by_text);
		for (int64_t i = 1; i < counts[v]; i++)
			assert_string_not_equal(names[i], names[i - 1]);
	}
}

/* --- arguments and memory ---------------------------------------------------------------------- */

static void arguments__silly__refused_with_a_line(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_design ok, list[12];
	kdr_design fine, more[8];
	kdr_generator *g = NULL;
	kdr_design_init(&ok, KDR_DESIGN_BLOBS);
	kdr_design_init(&fine, KDR_DESIGN_TOPICS);
	for (int i = 0; i < 12; i++)
		list[i] = ok;
	list[0].tasks = 0;
	list[1].k = 0;
	list[2].features = 0;
	list[3].noise_features = -1;
	list[4].separation = -1;
	list[5].spread = 0;
	list[6].shift = NAN;
	list[7].rotation = INFINITY;
	list[8].missing = ok.k;
	list[9].missing = -1;
	list[10].imbalance = 1.01;
	list[11].samples = (const int64_t[]){ 5, 0 };
	for (int i = 0; i < 12; i++) {
		assert_int_equal(kdr_generate(ctx, &list[i], &g), KDR_ERR_ARGUMENT);
		assert_non_null(strstr(kdr_context_error(ctx), "generate blobs: "));
		assert_null(g);
	}
	for (int i = 0; i < 8; i++)
		more[i] = fine;
	more[0].words = 1;
	more[1].length = 0;
	more[2].purity = -0.1;
	more[3].domain = 1.1;
	more[4].purity = 0.9;
	more[5].missing = fine.k;
	more[6].words = 7;
	more[7].k = -3;
	for (int i = 0; i < 8; i++) {
		assert_int_equal(kdr_generate(ctx, &more[i], &g), KDR_ERR_ARGUMENT);
		assert_non_null(strstr(kdr_context_error(ctx), "generate topics: "));
		assert_null(g);
	}
	g = blobs(ctx, &ok);
	kdr_data *d = NULL;
	assert_int_equal(kdr_generator_data(ctx, g, 2, &d), KDR_ERR_ARGUMENT);
	kdr_generator_free(g);
	kdr_context_free(ctx);
}

static int64_t left, out;

static void *counted_alloc(void *user, size_t size)
{
	(void)user;
	if (left-- <= 0)
		return NULL;
	out++;
	return malloc(size);
}

static void *counted_realloc(void *user, void *ptr, size_t size)
{
	(void)user;
	return left-- <= 0 ? NULL : realloc(ptr, size);
}

static void counted_free(void *user, void *ptr)
{
	(void)user;
	out -= ptr != NULL;
	free(ptr);
}

static void generate__every_allocation_fails_in_turn__no_leak(void **state)
{
	(void)state;
	kdr_allocator allocator = { counted_alloc, counted_realloc, counted_free, NULL };
	kdr_context *ctx = NULL;
	kdr_design b;
	kdr_design s;
	kdr_design_init(&b, KDR_DESIGN_BLOBS);
	kdr_design_init(&s, KDR_DESIGN_TOPICS);
	s.words = 12;
	left = INT64_MAX;
	assert_int_equal(kdr_context_new(&ctx, &allocator), KDR_OK);
	for (int sparse = 0; sparse < 2; sparse++) {
		kdr_status st = KDR_ERR_MEMORY;
		for (int64_t n = 0; st != KDR_OK && n < 1000; n++) {
			kdr_generator *g = NULL;
			kdr_data *d = NULL;
			left = n;
			st = sparse ? kdr_generate(ctx, &s, &g) : kdr_generate(ctx, &b, &g);
			if (st == KDR_OK)
				st = kdr_generator_data(ctx, g, 0, &d);
			assert_true(st == KDR_OK || (st == KDR_ERR_MEMORY && !d));
			left = INT64_MAX;
			kdr_data_free(d);
			kdr_generator_free(g);
			assert_int_equal(out, 1);
		}
		assert_int_equal(st, KDR_OK);
	}
	kdr_context_free(ctx);
}

/* --- berikov -------------------------------------------------------------------------------------- */

static void berikov__many_seeds__moments_of_the_paper(void **state)
{
	(void)state;
	enum { SEEDS = 200 };
	kdr_context *ctx = unit_context();
	for (int target = 0; target < 2; target++) {
		kdr_design spec;
		kdr_design_init(&spec, KDR_DESIGN_BERIKOV);
		spec.target = target;
		spec.separation = 0.5;
		int64_t per = target ? 20 : 25, d = target ? 24 : 16;
		double mean = target ? 8 : 6, corner = target ? 6 : 5, variance = target ? 0.25 : 0.2;
		double sum[4][2] = { { 0 } },
		       square[4] = { 0 }; /* last row of each class, even and odd columns */
		for (int seed = 0; seed < SEEDS; seed++) {
			kdr_generator *g = NULL;
			kdr_context_set_seed(ctx, (uint64_t)seed);
			assert_ok(ctx, kdr_generate(ctx, &spec, &g));
			kdr_data *data = data_of(ctx, g, 0);
			assert_int_equal(data->rows, 4 * per);
			assert_int_equal(data->cols, d);
			for (int64_t i = 0; i < data->rows; i++)
				assert_int_equal(data->labels[i], i / per);
			for (int c = 0; c < 4; c++) {
				const double *row = data->dense + ((c + 1) * per - 1) * d;
				for (int64_t j = 0; j < d; j++)
					sum[c][j % 2] += row[j] / (double)(SEEDS * d / 2);
				/* Differences of columns two apart have mean zero and twice the variance. */
				for (int64_t j = 0; j + 2 < d; j += 4)
					square[c] += (row[j] - row[j + 2]) * (row[j] - row[j + 2]) /
					             (2.0 * SEEDS * (double)(d / 4));
			}
			kdr_data_free(data);
			kdr_generator_free(g);
		}
		double drift = (double)(per - 1) * 0.2, walk = (double)per * variance;
		for (int odd = 0; odd < 2; odd++) {
			double sign = odd ? 1 : -1;
			assert_near(sum[0][odd], 0, 0.15);
			assert_near(sum[1][odd], 0.5 * mean, 0.15);
			assert_near(sum[2][odd], 0.5 * sign * corner + drift, 0.3);
			assert_near(sum[3][odd], -0.5 * sign * corner + drift, 0.3);
		}
		for (int c = 0; c < 4; c++)
			assert_near(square[c], c < 2 ? 1 : walk, 0.15 * (c < 2 ? 1 : walk));
	}
	kdr_context_free(ctx);
}

/* Each step of a strip adds to the row before it. */
static void berikov__strips__steps_are_small(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_design spec;
	kdr_generator *g = NULL;
	kdr_design_init(&spec, KDR_DESIGN_BERIKOV);
	assert_ok(ctx, kdr_generate(ctx, &spec, &g));
	kdr_data *data = data_of(ctx, g, 0);
	for (int64_t i = 51; i < 75; i++)
		for (int64_t j = 0; j < 16; j++)
			assert_near(data->dense[i * 16 + j] - data->dense[(i - 1) * 16 + j], 0.2,
			            5 * sqrt(0.2));
	kdr_data_free(data);
	kdr_generator_free(g);
	g = NULL;
	spec.separation = -1;
	assert_int_equal(kdr_generate(ctx, &spec, &g), KDR_ERR_ARGUMENT);
	assert_null(g);
	kdr_context_free(ctx);
}

/* --- tables ------------------------------------------------------------------------------------ */

static int64_t feature_named(const kdr_data *d, const char *name)
{
	for (int64_t j = 0; j < d->cols; j++)
		if (strcmp(d->features[j], name) == 0)
			return j;
	return -1;
}

static void tables__in_memory__same_as_written_and_read(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_read_options o;
	kdr_design spec;
	char path[256];
	kdr_design_init(&spec, KDR_DESIGN_TABLES);
	kdr_read_options_init(&o);
	o.missing = "keep";
	spec.features = 14;
	spec.own_features = 3;
	spec.samples = (const int64_t[]){ 150, 90 };
	kdr_generator *g = blobs(ctx, &spec);
	for (int64_t t = 0; t < 2; t++) {
		kdr_data *made = data_of(ctx, g, t), *read = NULL;
		int64_t kinds[KDR_COLUMN_LEFT_OUT + 1] = { 0 }, holes = 0;
		snprintf(path, sizeof path, "%s", bytes_path("tables.csv"));
		assert_ok(ctx, kdr_generator_write(ctx, g, t, path, NULL, true));
		assert_ok(ctx, kdr_read(ctx, path, &o, &read));
		assert_int_equal(made->cols, read->cols);
		assert_int_equal(made->rows, spec.samples[t]);
		assert_int_equal(read->rows, spec.samples[t]);
		for (int64_t j = 0; j < made->cols; j++) {
			int64_t at = feature_named(read, made->features[j]);
			assert_true(at >= 0);
			for (int64_t i = 0; i < made->rows; i++) {
				double a = made->dense[i * made->cols + j],
				       b = read->dense[i * made->cols + at];
				assert_true(a == b || (isnan(a) && isnan(b)));
				holes += isnan(a);
			}
		}
		assert_true(holes > 0);
		for (int64_t c = 0; kdr_data_column_at(made, c); c++) {
			const kdr_column *a = kdr_data_column_at(made, c), *b = kdr_data_column_at(read, c);
			assert_string_equal(a->name, b->name);
			assert_int_equal(a->kind, b->kind);
			assert_int_equal(a->missing, b->missing);
			assert_int_equal(a->features, b->features);
			assert_string_equal(a->why, b->why);
			kinds[a->kind]++;
		}
		assert_null(kdr_data_column_at(made, 20));
		assert_true(kinds[KDR_COLUMN_NUMBER] > 0 && kinds[KDR_COLUMN_CATEGORY] > 0 &&
		            kinds[KDR_COLUMN_DATE] > 0);
		kdr_data_free(made);
		kdr_data_free(read);
	}
	assert_int_equal(kdr_generator_write(ctx, g, 0, "tables.npy", NULL, true), KDR_ERR_ARGUMENT);
	kdr_generator_free(g);
	kdr_context_free(ctx);
}

/* Shares of the segments in each table; `most` gets the most frequent one. */
static void segment_shares(kdr_context *ctx, const kdr_design *spec, int64_t task, double *shares,
                           int64_t *most)
{
	kdr_generator *g = blobs(ctx, spec);
	kdr_data *d = data_of(ctx, g, task);
	*most = 0;
	memset(shares, 0, (size_t)spec->k * sizeof *shares);
	for (int64_t i = 0; i < d->rows; i++)
		shares[d->labels[i]] += 1 / (double)d->rows;
	for (int64_t c = 1; c < spec->k; c++)
		if (shares[c] > shares[*most])
			*most = c;
	kdr_data_free(d);
	kdr_generator_free(g);
}

static void tables__imbalance__shares_differ_between_tables(void **state)
{
	(void)state;
	enum { TABLES = 6, K = 4 };
	kdr_context *ctx = unit_context();
	kdr_design spec;
	bool differ = false;
	int64_t first = 0, most;
	double shares[K];
	kdr_design_init(&spec, KDR_DESIGN_TABLES);
	spec.tasks = TABLES;
	spec.k = K;
	spec.imbalance = 0.8;
	spec.missing = 1;
	for (int64_t t = 0; t < TABLES; t++) {
		int absent = 0;
		double sum = 0;
		segment_shares(ctx, &spec, t, shares, &most);
		for (int c = 0; c < K; c++) {
			absent += shares[c] == 0;
			sum += shares[c];
		}
		assert_int_equal(absent, t > 0);
		assert_near(sum, 1, 1e-9);
		/* weights 1, 0.8, 0.6, 0.4, or 1, 0.73, 0.47 without a segment */
		assert_near(shares[most], t > 0 ? 1 / 2.2 : 1 / 2.8, 0.02);
		first = t == 0 ? most : first;
		differ = differ || most != first;
	}
	assert_true(differ);
	kdr_context_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(berikov__many_seeds__moments_of_the_paper),
		cmocka_unit_test(berikov__strips__steps_are_small),
		cmocka_unit_test(row__any_order_and_threads__same_as_in_data),
		cmocka_unit_test(row__same_seed_more_rows__the_first_rows_stay),
		cmocka_unit_test(blobs__many_rows__sizes_spread_and_noise_as_asked),
		cmocka_unit_test(blobs__many_classes__centres_have_the_deviation_asked_for),
		cmocka_unit_test(blobs__rotation_alone__turns_every_centre_by_the_angle),
		cmocka_unit_test(blobs__missing_and_imbalance__after_the_first_task),
		cmocka_unit_test(topics__defaults__nearest_topic_across_tasks_is_right),
		cmocka_unit_test(topics__domain_words__only_in_their_task),
		cmocka_unit_test(word__whole_vocabularies__all_different),
		cmocka_unit_test(arguments__silly__refused_with_a_line),
		cmocka_unit_test(tables__in_memory__same_as_written_and_read),
		cmocka_unit_test(tables__imbalance__shares_differ_between_tables),
		cmocka_unit_test(generate__every_allocation_fails_in_turn__no_leak),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
