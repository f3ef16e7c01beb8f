/* What a device is worth: made-up data, one line of figures. SPDX-License-Identifier: BSD-3-Clause
 *
 *     gpu kmeans DEVICE N D K ITERATIONS       time of the iterations alone, and of the whole call
 *     gpu neighbours DEVICE N D K              exact neighbours of all rows, by distance
 *     gpu text-kmeans DEVICE N D K ITERATIONS  the same of N sparse rows of D words, about 120 in each
 *     gpu text-neighbours DEVICE N D K         and their exact neighbours by cosine
 *     gpu lists DEVICE N D K                   what the device alone takes for that
 *     gpu mtcfir DEVICE N D K PRECISION        two tasks of N / 2 dense rows each
 *     gpu text DEVICE N D K PRECISION          two tasks of N / 2 sparse rows of D words, about 120 in each
 *     gpu auto DEVICE N D K                    two tasks of N / 2 dense rows each
 *     gpu nmtf DEVICE N D K                    N / 2 labelled sparse rows of D words and as many to be labelled, 20 sweeps
 *     gpu directions DEVICE N D K              K leading directions of N dense rows
 *     gpu rates DEVICE N                       products, symmetric products and inverses of N x N
 *
 * DEVICE: cpu, cuda, ... Data are the same on every machine. bench/gpu.py runs these beside their peers. */
#include "engine/graph/knn.h"
#include "engine/kmeans/lloyd.h"
#include "matrix/device_held.h"
#include "matrix/range.h"

#include <stdio.h>
#include <stdlib.h>

/* Room for rows x cols things of `size` bytes, zeroed, or the end. */
static void *room(int64_t rows, int64_t cols, size_t size)
{
	void *p = rows > 0 && cols > 0 ? calloc((size_t)(rows * cols), size) : NULL;
	if (!p) {
		fprintf(stderr, "gpu: no memory for %lld x %lld\n", (long long)rows, (long long)cols);
		exit(1);
	}
	return p;
}

/* Points of `groups` Gaussian clouds, made by many threads, each row from its own stream. */
static double *points(int64_t n, int64_t d, int64_t groups)
{
	double *x = room(n, d, sizeof *x), *c = room(groups, d, sizeof *c);
	kdri_rng rng = kdri_rng_stream(1, "centres", 0);
	for (int64_t i = 0; i < groups * d; i++)
		c[i] = kdri_rng_normal(&rng);
#pragma omp parallel for schedule(static)
	for (int64_t i = 0; i < n; i++) {
		kdri_rng own = kdri_rng_stream(2, "row", (uint64_t)i);
		const double *centre = c + kdri_rng_below(&own, groups) * d;
		for (int64_t j = 0; j < d; j++)
			x[i * d + j] = centre[j] + kdri_rng_normal(&own);
	}
	free(c);
	return x;
}

static void fail(kdr_context *ctx, kdr_status st)
{
	if (st == KDR_OK)
		return;
	fprintf(stderr, "gpu: %s: %s\n", kdr_strerror(st), kdr_context_error(ctx));
	exit(1);
}

/* When the iterations of a stage began and ended. */
typedef struct stages {
	const char *wanted;
	double first, last;
	int64_t from, to;
	bool verbose;
	char stage[32];
	double since;
} stages;

static int on_event(void *user, const kdr_event *e)
{
	stages *s = user;
	if (e->kind == KDR_EVENT_ITERATION && strcmp(e->stage, s->wanted) == 0) {
		s->last = e->seconds;
		s->to = e->iteration;
		if (s->from == 0) {
			s->first = e->seconds;
			s->from = e->iteration;
		}
	}
	if (e->kind == KDR_EVENT_ITERATION && s->verbose &&
	    (strcmp(e->stage, s->stage) != 0 || strcmp(e->stage, "features") == 0)) {
		fprintf(stderr, "  %8.3f s  %s %lld of %lld\n", e->seconds, e->stage, (long long)e->iteration,
		        (long long)e->total);
		snprintf(s->stage, sizeof s->stage, "%s", e->stage);
	}
	if (e->kind == KDR_EVENT_WARNING)
		fprintf(stderr, "gpu: %s\n", e->message);
	return 0;
}

static void sum_up(const char *what, const int64_t *labels, int64_t n, double seconds)
{
	uint64_t hash = kdri_fnv1a((const char *)labels, (size_t)n * sizeof *labels);
	printf("%s: %.3f s, labels %016llx\n", what, seconds, (unsigned long long)hash);
}

/* Words by Zipf's law, a few hundred of them favoured by each topic; counts as tf-idf leaves them, rows of length 1. One row, of at
 * most WORDS words; how many it has. */
enum { WORDS = 120 };
static int64_t text_row(kdri_rng *rng, int64_t d, int64_t topics, int32_t *col, double *val)
{
	if (d < 1)
		return 0;
	int64_t topic = kdri_rng_below(rng, topics), count = 0;
	double square = 0;
	for (int w = 0; w < WORDS; w++) {
		double u = kdri_rng_uniform(rng);
		int64_t word = (int64_t)pow((double)d, u) - 1, p = count;
		if (kdri_rng_uniform(rng) < 0.3)
			word = (word * topics + topic) % d;
		while (p > 0 && col[p - 1] >= word)
			p--;
		if (p < count && col[p] == word)
			continue;
		memmove(col + p + 1, col + p, (size_t)(count - p) * sizeof *col);
		memmove(val + p + 1, val + p, (size_t)(count - p) * sizeof *val);
		col[p] = (int32_t)word;
		val[p] = log(2 + (double)word);
		count++;
	}
	for (int64_t p = 0; p < count; p++)
		square += val[p] * val[p];
	for (int64_t p = 0; p < count; p++)
		val[p] /= sqrt(square);
	return count;
}

static kdr_mat text(int64_t n, int64_t d, int64_t topics, uint64_t task)
{
	int64_t *rowptr = room(n + 1, 1, sizeof *rowptr);
	int32_t *col = room(n, WORDS, sizeof *col);
	double *val = room(n, WORDS, sizeof *val);
#pragma omp parallel for schedule(static)
	for (int64_t i = 0; i < n; i++) {
		kdri_rng rng = kdri_rng_stream(5 + task, "text", (uint64_t)i);
		rowptr[i + 1] = text_row(&rng, d, topics, col + i * WORDS, val + i * WORDS);
	}
	for (int64_t i = 0; i < n; i++) { /* together */
		int64_t count = rowptr[i + 1], at = rowptr[i];
		memmove(col + at, col + i * WORDS, (size_t)count * sizeof *col);
		memmove(val + at, val + i * WORDS, (size_t)count * sizeof *val);
		rowptr[i + 1] = at + count;
	}
	return kdr_mat_from_csr(n, d, rowptr, col, val);
}

static void text_free(kdr_mat x)
{
	free((void *)(uintptr_t)x.as.csr.rowptr);
	free((void *)(uintptr_t)x.as.csr.col);
	free((void *)(uintptr_t)x.as.csr.val);
}

static void run_kmeans(kdr_context *ctx, bool sparse, int64_t n, int64_t d, int64_t k, int64_t iterations,
                       stages *s)
{
	double *x = sparse ? NULL : points(n, d, k);
	kdr_mat m = sparse ? text(n, d, k, 0) : kdr_mat_from_dense(x, n, d);
	kdri_kmeans_options o = kdri_kmeans_defaults(k);
	kdri_kmeans_result r = { 0 };
	o.start = KDRI_START_RANDOM;
	o.n_init = 1;
	o.max_iter = iterations;
	o.tol = 0;
	s->wanted = "kmeans";
	for (int round = 0; round < 2; round++) { /* the first one opens the device */
		s->from = 0;
		kdr_context_set_time_limit(ctx, 0);
		double start = kdri_now();
		fail(ctx, kdri_kmeans(ctx, &m, NULL, &o, &r));
		double all = kdri_now() - start, steps = (double)(s->to - s->from);
		printf("kmeans %lld x %lld, k = %lld: %lld iterations %.4f s (%.2f ms each), whole call %.3f s, objective %.10g\n",
		       (long long)n, (long long)d, (long long)k, (long long)r.iterations,
		       (s->last - s->first) / steps * (double)iterations, 1e3 * (s->last - s->first) / steps,
		       all, r.objective);
		sum_up("kmeans", r.labels, n, all);
		kdri_kmeans_free(ctx, &r);
	}
	if (sparse)
		text_free(m);
	free(x);
}

static void run_neighbours(kdr_context *ctx, bool sparse, int64_t n, int64_t d, int64_t k)
{
	double *x = sparse ? NULL : points(n, d, 100), products;
	kdr_mat m = sparse ? text(n, d, 20, 0) : kdr_mat_from_dense(x, n, d);
	kdri_knn knn = { 0 };
	fail(ctx, kdri_knn_products(ctx, &m, &products));
	double start = kdri_now();
	fail(ctx, kdri_knn_find(ctx, &m, k, sparse ? KDRI_METRIC_COSINE : KDRI_METRIC_EUCLIDEAN, &knn));
	double all = kdri_now() - start;
	uint64_t hash = kdri_fnv1a((const char *)knn.index, (size_t)(n * k) * sizeof *knn.index);
	printf("neighbours %lld of %lld x %lld: %.3f s, %.3g products, indices %016llx\n", (long long)k,
	       (long long)n, (long long)d, all, products, (unsigned long long)hash);
	kdri_knn_free(ctx, &knn);
	if (sparse)
		text_free(m);
	free(x);
}

static void run_method(kdr_context *ctx, const char *method, int64_t n, int64_t d, int64_t k, bool sparse,
                       const char *precision, stages *s)
{
	kdr_task tasks[2] = { { .name = "a", .k = k }, { .name = "b", .k = k } };
	kdr_problem problem = { .tasks = tasks, .ntasks = 2 };
	kdr_options *o = NULL;
	kdr_result *r = NULL;
	double *x = sparse ? NULL : points(n, d, k);
	for (int t = 0; t < 2; t++)
		tasks[t].x = sparse ? text(n / 2, d, k, (uint64_t)t)
		                    : kdr_mat_from_dense(x + t * (n / 2) * d, n / 2, d);
	for (int64_t i = 0; !sparse && precision && i < n * d; i++)
		x[i] = 1 / (1 + exp(-x[i]));
	fail(ctx, kdr_options_new(ctx, method, &o));
	if (precision)
		fail(ctx, kdr_options_set(ctx, o, "precision", precision));
	s->wanted = "features";
	s->verbose = true;
	kdr_context_set_time_limit(ctx, 0);
	double start = kdri_now();
	fail(ctx, kdr_fit(ctx, method, &problem, o, &r));
	double all = kdri_now() - start;
	double gflop = 0, value = 0;
	const char *words = NULL;
	for (int64_t i = 0; i < kdr_result_field_count(r); i++)
		if (strcmp(kdr_result_field_at(r, i, &value, &words), "dense_gflop") == 0)
			gflop = value;
	printf("%s %lld x %lld, %s: %.3f s", method, (long long)n, (long long)d,
	       precision ? precision : "auto", all);
	if (gflop > 0)
		printf(", %.1f Tflop, %.1f Tflop/s", 1e-3 * gflop, 1e-3 * gflop / all);
	printf("\n");
	for (int t = 0; t < 2; t++) {
		int64_t rows;
		const int64_t *labels = kdr_result_labels(r, t, &rows);
		sum_up(t ? "task b" : "task a", labels, rows, all);
	}
	kdr_result_free(r);
	kdr_options_free(o);
}

/* The topic of a row of text(), drawn first. */
static int64_t topic_of(int64_t i, int64_t topics, uint64_t task)
{
	kdri_rng rng = kdri_rng_stream(5 + task, "text", (uint64_t)i);
	return kdri_rng_below(&rng, topics);
}

static void run_nmtf(kdr_context *ctx, int64_t n, int64_t d, int64_t k)
{
	int64_t *labels = room(n / 2, 1, sizeof *labels), rows, right = 0;
	kdr_task tasks[2] = {
		{ .name = "a", .x = text(n / 2, d, k, 0), .labels = labels, .role = KDR_ROLE_SOURCE },
		{ .name = "b", .x = text(n / 2, d, k, 1), .role = KDR_ROLE_TARGET }
	};
	kdr_problem problem = { .tasks = tasks, .ntasks = 2, .classes = k };
	kdr_options *o = NULL;
	kdr_result *r = NULL;
	for (int64_t i = 0; i < n / 2; i++)
		labels[i] = topic_of(i, k, 0);
	fail(ctx, kdr_options_new(ctx, "nmtf", &o));
	fail(ctx, kdr_options_set(ctx, o, "init", "half")); /* the sweeps alone */
	fail(ctx, kdr_options_set(ctx, o, "max_iter", "20"));
	fail(ctx, kdr_options_set(ctx, o, "tol", "0"));
	double start = kdri_now();
	fail(ctx, kdr_fit(ctx, "nmtf", &problem, o, &r));
	double all = kdri_now() - start;
	const int64_t *found = kdr_result_labels(r, 1, &rows);
	for (int64_t i = 0; i < rows; i++)
		right += found[i] == topic_of(i, k, 1);
	printf("nmtf %lld x %lld, %lld classes, %lld entries: %.3f s, %.3f right\n", (long long)n,
	       (long long)d, (long long)k, (long long)tasks[1].x.as.csr.rowptr[n / 2], all,
	       (double)right / (double)rows);
	sum_up("nmtf", found, rows, all);
	kdr_result_free(r);
	kdr_options_free(o);
	free(labels);
}

static void run_directions(kdr_context *ctx, int64_t n, int64_t d, int64_t k)
{
	const int rounds = 4;
	double *x = points(n, d, 2 * k), *s = room(k, 1, sizeof *s), *v = room(k, d, sizeof *v);
	kdr_mat m = kdr_mat_from_dense(x, n, d);
	const kdri_op op = kdri_op_mat(&m);
	for (int round = 0; round < 2; round++) {
		kdri_held *held = NULL;
		double start = kdri_now();
		fail(ctx, kdri_hold_leading(ctx, &m, k, rounds, &held));
		double sent = kdri_now() - start;
		fail(ctx, kdri_leading(ctx, &op, k, rounds, NULL, s, v));
		printf("directions %lld of %lld x %lld: %.3f s, %.3f of them to send the rows; largest %.10g, last %.10g\n",
		       (long long)k, (long long)n, (long long)d, kdri_now() - start, sent, s[0], s[k - 1]);
		kdri_unhold(ctx, held);
	}
	free(x);
	free(s);
	free(v);
}

/* Neighbours of sparse rows, the table's operation by itself. */
static void run_lists(kdr_context *ctx, int64_t n, int64_t d, int64_t k)
{
	kdri_device *dev = kdri_device_take(ctx, 1e18);
	kdr_mat x = text(n, d, 20, 0);
	kdri_own turned = { .view = kdr_mat_from_dense(NULL, 0, 0) };
	kdri_dcsr rows = { 0 }, lists = { 0 };
	kdri_nn nn = { .score = KDRI_NN_COSINE, .magic = 1536, .k = k, .fresh = true };
	double *ones = room(n, 1, sizeof *ones), products, last;
	if (!dev)
		exit(1);
	for (int64_t i = 0; i < n; i++)
		ones[i] = 1;
	double start = kdri_now();
	fail(ctx, kdri_mat_transpose(ctx, &x, &turned));
	printf("lists: turned in %.3f s", kdri_now() - start);
	fail(ctx, kdri_knn_products(ctx, &x, &products));
	start = kdri_now();
	fail(ctx, kdri_dcsr_of(ctx, dev, &x.as.csr, &rows));
	fail(ctx, kdri_dcsr_of(ctx, dev, &turned.view.as.csr, &lists));
	fail(ctx, kdri_dbuf_new(ctx, dev, n, sizeof *ones, &nn.factor));
	fail(ctx, kdri_dbuf_put(ctx, dev, nn.factor, ones, n, sizeof *ones));
	fail(ctx, kdri_dbuf_new(ctx, dev, n * k, sizeof(int32_t), &nn.index));
	fail(ctx, kdri_dbuf_new(ctx, dev, n * k, sizeof(double), &nn.best));
	printf(", sent in %.3f s", kdri_now() - start);
	start = kdri_now();
	fail(ctx, kdri_device_status(ctx, dev, dev->neighbours_sparse(dev, rows, lists, &nn)));
	fail(ctx, kdri_device_status(ctx, dev, dev->get(dev, nn.best, 0, 0, &last, 0, sizeof last, 1)));
	double seconds = kdri_now() - start;
	printf(", %lld of %lld x %lld: %.3f s, %.3g products a second\n", (long long)k, (long long)n,
	       (long long)d, seconds, products / seconds);
	kdri_buf *owned[] = { nn.factor, nn.index, nn.best };
	for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
		dev->release(dev, owned[i]);
	kdri_dcsr_free(dev, &rows);
	kdri_dcsr_free(dev, &lists);
	kdri_own_free(ctx, &turned);
	kdri_device_leave(dev);
	text_free(x);
	free(ones);
}

/* Seconds of the best of three. */
static double best(kdri_device *d, kdr_context *ctx, int what, kdri_dmat a, kdri_dmat b, kdri_dmat c)
{
	double least = INFINITY, one;
	for (int i = 0; i < 4; i++) {
		double start = kdri_now();
		kdri_dstatus ds = what == 0   ? d->gemm(d, false, false, 1, a, b, 0, c, KDRI_SHARP_DOUBLE)
		                  : what == 1 ? d->gemm(d, false, false, 1, a, b, 0, c, KDRI_SHARP_SINGLE)
		                  : what == 2 ? d->syrk(d, false, 1, a, 0, c, KDRI_SHARP_DOUBLE)
		                  : what == 3 ? d->syrk(d, false, 1, a, 0, c, KDRI_SHARP_SINGLE)
		                              : d->affine(d, c, NULL, NULL, 1e-3, 1e4);
		if (what == 4 && ds == KDRI_D_OK)
			ds = d->inverse(d, c);
		fail(ctx, kdri_device_status(ctx, d, ds));
		fail(ctx, kdri_device_status(ctx, d, d->get(d, c.buf, 0, 0, &one, 0, 8, 1)));
		if (i)
			least = KDRI_MIN(least, kdri_now() - start);
	}
	return least;
}

static void run_rates(kdr_context *ctx, int64_t n)
{
	static const char *const names[] = { "gemm double", "gemm single", "syrk double", "syrk single",
		                             "inverse" };
	kdri_device *d = kdri_device_take(ctx, 1e18);
	kdri_dmat a = { 0 }, b = { 0 }, c = { 0 };
	if (!d)
		exit(1);
	double *x = points(n, n, 10), n3 = (double)n * (double)n * (double)n;
	fail(ctx, kdri_dmat_of(ctx, d, x, n, n, n, &a));
	fail(ctx, kdri_dmat_of(ctx, d, x, n, n, n, &b));
	fail(ctx, kdri_dmat_new(ctx, d, n, n, &c));
	for (int what = 0; what < 5; what++) {
		double seconds = best(d, ctx, what, a, b, c), flops = what < 2 ? 2 * n3 : n3;
		printf("%s %lld: %.4f s, %.1f Tflop/s\n", names[what], (long long)n, seconds,
		       1e-12 * flops / seconds);
	}
	kdri_dmat_free(d, &a);
	kdri_dmat_free(d, &b);
	kdri_dmat_free(d, &c);
	kdri_device_leave(d);
	free(x);
}

int main(int argc, char **argv)
{
	kdr_context *ctx = NULL;
	stages s = { .wanted = "" };
	int64_t v[4] = { 0 };
	if (argc < 4)
		return 2;
	for (int i = 3; i < argc && i < 7; i++)
		v[i - 3] = strtoll(argv[i], NULL, 10);
	if (kdr_context_new(&ctx, NULL) != KDR_OK)
		return 1;
	kdr_context_set_progress(ctx, on_event, &s);
	double start = kdri_now();
	fail(ctx, kdr_context_set_device(ctx, argv[2]));
	if (kdri_now() - start > 0.01)
		fprintf(stderr, "  the device was opened in %.3f s\n", kdri_now() - start);
	const char *what = argv[1], *precision = argc > 6 ? argv[6] : "auto";
	if (strcmp(what, "kmeans") == 0)
		run_kmeans(ctx, false, v[0], v[1], v[2], v[3], &s);
	else if (strcmp(what, "text-kmeans") == 0)
		run_kmeans(ctx, true, v[0], v[1], v[2], v[3], &s);
	else if (strcmp(what, "neighbours") == 0)
		run_neighbours(ctx, false, v[0], v[1], v[2]);
	else if (strcmp(what, "text-neighbours") == 0)
		run_neighbours(ctx, true, v[0], v[1], v[2]);
	else if (strcmp(what, "mtcfir") == 0)
		run_method(ctx, "mtcfir", v[0], v[1], v[2], false, precision, &s);
	else if (strcmp(what, "text") == 0)
		run_method(ctx, "mtcfir", v[0], v[1], v[2], true, precision, &s);
	else if (strcmp(what, "auto") == 0)
		run_method(ctx, "auto", v[0], v[1], v[2], false, NULL, &s);
	else if (strcmp(what, "nmtf") == 0)
		run_nmtf(ctx, v[0], v[1], v[2]);
	else if (strcmp(what, "directions") == 0)
		run_directions(ctx, v[0], v[1], v[2]);
	else if (strcmp(what, "lists") == 0)
		run_lists(ctx, v[0], v[1], v[2]);
	else if (strcmp(what, "rates") == 0)
		run_rates(ctx, v[0]);
	else
		return 2;
	kdr_context_free(ctx);
	return 0;
}
