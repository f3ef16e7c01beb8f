/* Parts of transfer: each against the same mathematics written out slowly. */
#include "engine/linear/aligned.h"
#include "engine/linear/linear.h"
#include "tests/unit/unit.h"

enum { N = 60, KNOWN = 30, D = 7, C = 3 };

/* Two sets of three classes, the second moved; the first is labelled. */
typedef struct sample {
	double x[N * D];
	int64_t labels[N], truth[N];
	bool source[N], unlabelled[N];
} sample;

static sample sample_of(uint64_t seed)
{
	sample s;
	kdri_rng rng = kdri_rng_stream(seed, "parts", 0);
	for (int64_t i = 0; i < N; i++) {
		s.truth[i] = i % C;
		s.labels[i] = i < KNOWN ? s.truth[i] : -1;
		s.unlabelled[i] = i >= KNOWN;
		s.source[i] = !s.unlabelled[i];
		for (int64_t j = 0; j < D; j++)
			s.x[i * D + j] = 0.6 * kdri_rng_normal(&rng) + 2.0 * (double)(j % C == s.truth[i]) +
			                 (i < KNOWN ? 0 : 0.5 * (double)(j % 2));
	}
	return s;
}

/* A x = b by elimination with pivots, a and b spoilt. */
static void solve(int64_t n, int64_t k, double *a, double *b)
{
	for (int64_t p = 0; p < n; p++) {
		int64_t best = p;
		for (int64_t i = p; i < n; i++)
			if (fabs(a[i * n + p]) > fabs(a[best * n + p]))
				best = i;
		for (int64_t j = 0; j < n; j++) {
			double kept = a[p * n + j];
			a[p * n + j] = a[best * n + j];
			a[best * n + j] = kept;
		}
		for (int64_t j = 0; j < k; j++) {
			double kept = b[p * k + j];
			b[p * k + j] = b[best * k + j];
			b[best * k + j] = kept;
		}
		for (int64_t i = 0; i < n; i++) {
			double f = i == p ? 0 : a[i * n + p] / a[p * n + p];
			for (int64_t j = 0; j < n; j++)
				a[i * n + j] -= f * a[p * n + j];
			for (int64_t j = 0; j < k; j++)
				b[i * k + j] -= f * b[p * k + j];
		}
	}
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j < k; j++)
			b[i * k + j] /= a[i * n + i];
}

/* A ring: every row is near its two neighbours. */
static double ring(int64_t i, int64_t j)
{
	return (i + 1) % N == j ? 0.5 + 0.01 * (double)i : (j + 1) % N == i ? 0.5 + 0.01 * (double)j : 0;
}

/* One round of (E1) to (E3), with the Laplacian written out. */
static void slow_round(const sample *s, const int32_t *answer, double *p)
{
	enum { W = D + 1 };
	static double x[N * W], lap[N * N];
	double a[W * W] = { 0 }, b[W * C] = { 0 }, degree[N] = { 0 }, trace = 0;
	for (int64_t i = 0; i < N; i++) {
		memcpy(x + i * W, s->x + i * D, D * sizeof *x);
		x[i * W + D] = 1;
		for (int64_t j = 0; j < N; j++)
			degree[i] += ring(i, j);
	}
	for (int64_t i = 0; i < N; i++)
		for (int64_t j = 0; j < N; j++)
			lap[i * N + j] = (i == j) - ring(i, j) / sqrt(degree[i] * degree[j]);
	for (int64_t u = 0; u < W; u++)
		for (int64_t v = 0; v < W; v++)
			for (int64_t i = 0; i < N; i++) {
				if (s->labels[i] >= 0) {
					a[u * W + v] += x[i * W + u] * x[i * W + v];
					trace += u == v ? x[i * W + u] * x[i * W + u] : 0;
				}
				for (int64_t j = 0; j < N; j++)
					a[u * W + v] += 0.1 * x[i * W + u] * lap[i * N + j] * x[j * W + v];
			}
	for (int64_t u = 0; u < W; u++)
		a[u * W + u] += 0.1 * trace / W * (u < D ? 1 : 1e-6);
	for (int64_t k = -1; k < C; k++) {
		double gap[W] = { 0 }, count[2] = { 0 };
		for (int pass = 0; pass < 2; pass++)
			for (int64_t i = 0; i < N; i++) {
				bool known = s->labels[i] >= 0;
				if (k >= 0 && (known ? s->labels[i] : answer[i]) != k)
					continue;
				if (pass == 0)
					count[known]++;
				for (int64_t u = 0; pass == 1 && u < W; u++)
					gap[u] += (known ? 1 : -1) * x[i * W + u] / count[known];
			}
		for (int64_t u = 0; u < W && count[0] >= 3; u++)
			for (int64_t v = 0; v < W; v++)
				a[u * W + v] += N / (k < 0 ? 2.0 : (double)C) * gap[u] * gap[v];
	}
	for (int64_t i = 0; i < N; i++)
		for (int64_t u = 0; s->labels[i] >= 0 && u < W; u++)
			b[u * C + s->labels[i]] += x[i * W + u];
	solve(W, C, a, b);
	for (int64_t i = 0; i < N; i++) {
		double sum = 0;
		for (int64_t k = 0; k < C; k++) {
			double score = 0;
			for (int64_t u = 0; u < W; u++)
				score += x[i * W + u] * b[u * C + k];
			sum += p[i * C + k] = exp(6 * score);
		}
		for (int64_t k = 0; k < C; k++)
			p[i * C + k] /= sum;
	}
}

static void aligned_ridge__small_sets__equals_the_equations(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	sample s = sample_of(1);
	static double w[N * N], got[N * C], want[N * C];
	int32_t answer[N], start[N];
	for (int64_t i = 0; i < N; i++) {
		start[i] = answer[i] = (int32_t)((s.truth[i] + (i % 4 == 0)) % C);
		for (int64_t j = 0; j < N; j++)
			w[i * N + j] = ring(i, j);
	}
	for (int r = 0; r < 3; r++) {
		slow_round(&s, answer, want);
		kdri_rest_answer(ctx, want, N, C, answer);
	}
	kdr_mat dense = kdr_mat_from_dense(w, N, N);
	const kdri_op graph = kdri_op_mat(&dense);
	kdri_aligned_ridge p = { .e = s.x,
		                 .n = N,
		                 .width = D,
		                 .classes = C,
		                 .labels = s.labels,
		                 .source = s.source,
		                 .unlabelled = s.unlabelled,
		                 .start = start,
		                 .graph = &graph,
		                 .smooth = 0.1,
		                 .ridge = 0.1,
		                 .rounds = 3 };
	assert_ok(ctx, kdri_aligned_ridge_run(ctx, &p, got));
	for (int64_t i = 0; i < N * C; i++)
		assert_near(got[i], want[i], 1e-9);
	kdr_context_free(ctx);
}

/* Disjoint copies of one graph. */
static kdr_status apply_copies(kdr_context *ctx, const kdri_op *op, const double *x, int64_t k, int64_t ldx,
                               double *y, int64_t ldy)
{
	kdr_status st = KDR_OK;
	for (int64_t i = 0; i < op->rows && st == KDR_OK; i += N)
		st = kdri_mat_mul(ctx, op->data, x + i * ldx, k, ldx, y + i * ldy, ldy);
	return st;
}

/* More rows than are taken at a time: every term of the equations grows with the copies, so that answers stay. */
static void aligned_ridge__many_copies__each_gets_the_answers_of_one(void **state)
{
	(void)state;
	enum { COPIES = 65536 / N + 70, ROWS = COPIES * N };
	kdr_context *ctx = unit_context();
	sample s = sample_of(1);
	static double w[N * N], one[N * C];
	double *e = calloc(ROWS * D, sizeof *e), *all = calloc(ROWS * C, sizeof *all);
	int64_t *labels = calloc(ROWS, sizeof *labels);
	bool *unlabelled = calloc(ROWS, sizeof *unlabelled), *source = calloc(ROWS, sizeof *source);
	int32_t *start = calloc(ROWS, sizeof *start);
	for (int64_t i = 0; i < N; i++)
		for (int64_t j = 0; j < N; j++)
			w[i * N + j] = ring(i, j);
	for (int64_t i = 0; i < ROWS; i++) {
		memcpy(e + i * D, s.x + i % N * D, D * sizeof *e);
		labels[i] = s.labels[i % N];
		unlabelled[i] = s.unlabelled[i % N];
		source[i] = s.source[i % N];
		start[i] = (int32_t)((s.truth[i % N] + (i % N % 4 == 0)) % C);
	}
	kdr_mat dense = kdr_mat_from_dense(w, N, N);
	const kdri_op copies = { ROWS, ROWS, apply_copies, NULL, &dense }, graph = kdri_op_mat(&dense);
	kdri_aligned_ridge p = { .e = e,
		                 .n = N,
		                 .width = D,
		                 .classes = C,
		                 .labels = labels,
		                 .source = source,
		                 .unlabelled = unlabelled,
		                 .start = start,
		                 .graph = &graph,
		                 .smooth = 0.1,
		                 .ridge = 0.1,
		                 .rounds = 3 };
	assert_ok(ctx, kdri_aligned_ridge_run(ctx, &p, one));
	p.n = ROWS;
	p.graph = &copies;
	assert_ok(ctx, kdri_aligned_ridge_run(ctx, &p, all));
	for (int64_t i = 0; i < ROWS * C; i++)
		assert_near(all[i], one[i % (N * C)], 1e-8);
	free(e);
	free(all);
	free(labels);
	free(unlabelled);
	free(source);
	free(start);
	kdr_context_free(ctx);
}

static void prototypes__small_set__equals_the_equations(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	sample s = sample_of(2);
	static double e[N * D], got[N * C], k[N * C];
	double mu[C * D] = { 0 }, slow[C * D], share[C] = { 0.5, 0.3, 0.2 };
	for (int64_t i = 0; i < N; i++)
		for (int64_t j = 0; j < D; j++) {
			e[i * D + j] = s.x[i * D + j] / sqrt(kdri_nrm2sq(s.x + i * D, D));
			mu[s.truth[i] * D + j] += e[i * D + j];
		}
	memcpy(slow, mu, sizeof mu);
	for (int r = 0; r < 4; r++) {
		double q[C] = { 0 }, v[C] = { 1, 1, 1 }, u[N];
		for (int64_t i = 0; i < N; i++) {
			double sum = 0;
			for (int64_t c = 0; c < C; c++)
				sum += k[i * C + c] = exp(kdri_dot(e + i * D, slow + c * D, D) /
				                          sqrt(kdri_nrm2sq(slow + c * D, D)) / 0.1);
			for (int64_t c = 0; c < C; c++)
				q[c] += k[i * C + c] / sum / N / 2;
		}
		for (int step = 0; step <= 20; step++) {
			for (int64_t i = 0; i < N; i++) {
				u[i] = 0;
				for (int64_t c = 0; c < C; c++)
					u[i] += k[i * C + c] * v[c] * N;
				u[i] = 1 / u[i];
			}
			for (int64_t c = 0; c < C && step < 20; c++) {
				double sum = 0;
				for (int64_t i = 0; i < N; i++)
					sum += k[i * C + c] * u[i];
				v[c] = (q[c] + share[c] / 2) / sum;
			}
		}
		memset(slow, 0, sizeof slow);
		for (int64_t i = 0; i < N; i++)
			for (int64_t c = 0; c < C; c++) {
				k[i * C + c] *= u[i] * v[c];
				kdri_axpy(k[i * C + c], e + i * D, slow + c * D, D);
			}
	}
	kdri_prototypes p = { .e = e,
		              .n = N,
		              .width = D,
		              .classes = C,
		              .share = share,
		              .blur = 0.1,
		              .rounds = 4,
		              .steps = 20 };
	assert_ok(ctx, kdri_prototypes_run(ctx, &p, mu, got));
	for (int64_t i = 0; i < N * C; i++)
		assert_near(got[i], k[i] * N, 1e-9);
	for (int64_t i = 0; i < C * D; i++)
		assert_near(mu[i], slow[i], 1e-9);
	kdr_context_free(ctx);
}

static void self_training__one_round__learns_from_the_surest_of_each_class(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	sample s = sample_of(3);
	static double scores[N * C], want[N * C];
	double w[(D + 1) * C] = { 0 }, again[(D + 1) * C] = { 0 }, share = 0.35;
	kdr_mat x = kdr_mat_from_dense(s.x, N, D);
	kdri_self_training p = { .rest = { .x = &x,
		                           .labels = s.labels,
		                           .classes = C,
		                           .loss = KDRI_LOSS_SQUARED_HINGE,
		                           .cost = 0.3,
		                           .stage = "test" },
		                 .unlabelled = s.unlabelled,
		                 .shares = &share,
		                 .rounds = 1 };
	assert_ok(ctx, kdri_rest_train(ctx, &p.rest, w));
	assert_ok(ctx, kdri_rest_scores(ctx, &p.rest, w, scores));
	int64_t labels[N], counts[C] = { 0 };
	int32_t answer[N];
	kdri_rest_answer(ctx, scores, N, C, answer);
	for (int64_t i = 0; i < N; i++) {
		labels[i] = s.labels[i];
		counts[answer[i]] += s.unlabelled[i];
	}
	for (int64_t c = 0; c < C; c++) {
		assert_true(counts[c] > 0);
		for (int64_t taken = 0; (double)taken < share * (double)counts[c]; taken++) {
			int64_t best = -1;
			double most = -1;
			for (int64_t i = 0; i < N; i++) {
				double sum = 0;
				for (int64_t k = 0; k < C; k++)
					sum += exp(2 * (scores[i * C + k] - scores[i * C + c]));
				if (s.unlabelled[i] && answer[i] == c && labels[i] < 0 && 1 / sum > most) {
					most = 1 / sum;
					best = i;
				}
			}
			labels[best] = c;
		}
	}
	kdri_rest slow = p.rest;
	slow.labels = labels; /* as many known as asked for: all weights are 1 */
	assert_ok(ctx, kdri_self_train(ctx, &p, w, scores));
	assert_ok(ctx, kdri_rest_train(ctx, &slow, again));
	assert_ok(ctx, kdri_rest_scores(ctx, &slow, again, want));
	for (int64_t i = 0; i < N * C; i++)
		assert_near(scores[i], want[i], 0.02);
	kdr_context_free(ctx);
}

/* Many rows start from a part of them; one class is rare. Row 0 and some others have no class, and weights differ. */
static void rest_train__many_rows__weights_of_a_start_from_zeros(void **state)
{
	(void)state;
	enum { ROWS = 20000 };
	static double x[ROWS * D], weights[ROWS], cost[ROWS * C];
	static int64_t labels[ROWS];
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(2, "rest", 0);
	for (int64_t i = 0; i < ROWS; i++) {
		labels[i] = i % 10 == 0 ? -1 : i % 1000 == 1 ? C - 1 : kdri_rng_below(&rng, C - 1);
		weights[i] = 1 + (double)(i % 3);
		for (int64_t j = 0; j < D; j++)
			x[i * D + j] = (j == labels[i]) + kdri_rng_normal(&rng);
		for (int64_t c = 0; c < C; c++)
			cost[i * C + c] = labels[i] < 0 ? 0 : labels[i] == c ? weights[i] : -weights[i];
	}
	const kdr_mat m = kdr_mat_from_dense(x, ROWS, D);
	for (int joint = 0; joint < 2; joint++) {
		const kdri_rest r = { .x = &m,
			              .labels = labels,
			              .weights = weights,
			              .classes = C,
			              .loss = KDRI_LOSS_SQUARED_HINGE,
			              .joint = joint,
			              .cost = 1,
			              .stage = "test" };
		const kdri_linear_options o = {
			.loss = r.loss, .bias = 1, .tol = 1e-9, .max_iter = 200, .stage = "test"
		};
		kdri_linear_report report;
		double w[(D + 1) * C] = { 0 }, want[(D + 1) * C] = { 0 };
		assert_ok(ctx, kdri_rest_train(ctx, &r, w));
		if (joint)
			assert_ok(ctx, kdri_softmax_train(ctx, &m, C, labels, weights, &o, want, &report));
		else
			assert_ok(ctx, kdri_linear_train(ctx, &m, C, cost, &o, want, &report));
		for (int i = 0; i < (D + 1) * C; i++)
			assert_near(w[i], want[i], 2e-3);
	}
	kdr_context_free(ctx);
}

/* Labels that follow a cost's smoothing: the folds' answers are right for clean data, by chance for noise. */
static void cost_by_folds__clean_and_noise__right_and_by_chance(void **state)
{
	(void)state;
	static const double costs[] = { 0.01, 0.1, 1 };
	kdr_context *ctx = unit_context();
	sample s = sample_of(4);
	double best, right[3];
	kdr_mat x = kdr_mat_from_dense(s.x, N, D);
	kdri_rest p = {
		.x = &x, .labels = s.truth, .classes = C, .loss = KDRI_LOSS_SQUARED_HINGE, .stage = "test"
	};
	assert_ok(ctx, kdri_cost_by_folds(ctx, &p, costs, 3, &best, right));
	for (int k = 0; k < 3; k++)
		assert_true(right[k] > 0.85 && right[k] <= 1);
	int first = 0;
	for (int k = 1; k < 3; k++)
		first = right[k] > right[first] ? k : first;
	assert_true(best == costs[first]);
	int64_t noise[N];
	kdri_rng rng = kdri_rng_stream(9, "noise", 0);
	for (int64_t i = 0; i < N; i++)
		noise[i] = kdri_rng_below(&rng, C);
	p.labels = noise;
	assert_ok(ctx, kdri_cost_by_folds(ctx, &p, costs, 3, &best, right));
	for (int k = 0; k < 3; k++)
		assert_true(right[k] < 0.6);
	kdr_context_free(ctx);
}

/* Rows without a class or a cost do not count, a class without rows stays at 0, and the gradient vanishes: by the formula. */
static void softmax__rows_left_out_and_a_class_without_any__gradient_vanishes(void **state)
{
	(void)state;
	enum { K = C + 1, W = D + 1 };
	kdr_context *ctx = unit_context();
	sample s = sample_of(6);
	static double w[3][W * K], val[N * D], cost[N];
	int64_t rowptr[N + 1] = { 0 }, labels[N];
	int32_t col[N * D];
	for (int64_t i = 0; i < N; i++) {
		rowptr[i + 1] = (i + 1) * D;
		labels[i] = i % 7 == 3 ? -1 : s.truth[i];
		cost[i] = i % 5 == 2 ? 0 : 0.5 + (double)(i % 3);
		for (int64_t j = 0; j < D; j++) {
			col[i * D + j] = (int32_t)j;
			val[i * D + j] = s.x[i * D + j];
		}
	}
	for (int way = 0; way < 3; way++) {
		kdr_mat x =
		        way == 1 ? kdr_mat_from_csr(N, D, rowptr, col, val) : kdr_mat_from_dense(s.x, N, D);
		const kdri_linear_options o = {
			.bias = 1, .free_bias = true, .tol = 1e-11, .max_iter = 100, .stage = "test"
		};
		kdri_linear_report report;
		kdr_context_set_threads(ctx, way == 2 ? 4 : 1);
		memset(w[way], 0, sizeof w[way]);
		assert_ok(ctx, kdri_softmax_train(ctx, &x, K, labels, cost, &o, w[way], &report));
		assert_true(report.value < report.start && report.iterations < 100);
	}
	assert_memory_equal(w[0], w[2], sizeof w[0]);
	double gradient[W * K] = { 0 };
	for (int64_t q = 0; q < D * K; q++)
		gradient[q] = w[0][q];
	for (int64_t i = 0; i < N; i++) {
		double p[C], sum = 0;
		for (int64_t k = 0; k < C; k++) {
			double z = w[0][D * K + k];
			for (int64_t j = 0; j < D; j++)
				z += s.x[i * D + j] * w[0][j * K + k];
			sum += p[k] = exp(z);
		}
		for (int64_t k = 0; k < C && labels[i] >= 0; k++)
			for (int64_t j = 0; j < W; j++)
				gradient[j * K + k] += cost[i] * (p[k] / sum - (labels[i] == k)) *
				                       (j < D ? s.x[i * D + j] : 1);
	}
	for (int64_t q = 0; q < W * K; q++) {
		assert_near(w[0][q], w[1][q], 1e-8);
		assert_near(gradient[q], 0, 1e-7);
		if (q % K == C)
			assert_true(w[0][q] == 0);
	}
	kdr_context_free(ctx);
}

static void aligned__all_directions__keep_the_cosines_of_centred_rows(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	sample s = sample_of(5);
	static double y[N * D], val[N * D], means[2 * D];
	int64_t rowptr[N + 1] = { 0 }, begin[3] = { 0, KNOWN, N };
	int32_t col[N * D];
	double *e[2] = { NULL };
	for (int64_t i = 0; i < N; i++) {
		rowptr[i + 1] = (i + 1) * D;
		for (int64_t j = 0; j < D; j++) {
			means[(i >= KNOWN) * D + j] += s.x[i * D + j] / (i < KNOWN ? KNOWN : N - KNOWN);
			col[i * D + j] = (int32_t)j;
			val[i * D + j] = s.x[i * D + j];
		}
	}
	for (int64_t i = 0; i < N; i++) {
		for (int64_t j = 0; j < D; j++)
			y[i * D + j] = s.x[i * D + j] - means[(i >= KNOWN) * D + j];
		double length = sqrt(kdri_nrm2sq(y + i * D, D));
		for (int64_t j = 0; j < D; j++)
			y[i * D + j] /= length;
	}
	for (int sparse = 0; sparse < 2; sparse++) {
		double own[2 * D];
		kdr_mat x = sparse ? kdr_mat_from_csr(N, D, rowptr, col, val) : kdr_mat_from_dense(s.x, N, D);
		kdri_sets sets = { &x, 2, begin };
		assert_ok(ctx, kdri_sets_means(ctx, &sets, own));
		for (int64_t j = 0; j < 2 * D; j++)
			assert_near(own[j], means[j], 1e-12);
		assert_int_equal(kdri_aligned_width(&sets), D);
		/* Of some rows, too: D directions are all that there are. */
		for (int64_t most = 0; most <= N / 2; most += N / 2) {
			assert_ok(ctx, kdri_aligned_new(ctx, &sets, own, D, most, &e[sparse]));
			for (int64_t i = 0; i < N; i++)
				for (int64_t j = 0; j < N; j++)
					assert_near(kdri_dot(e[sparse] + i * D, e[sparse] + j * D, D),
					            kdri_dot(y + i * D, y + j * D, D), 1e-9);
			kdri_free(ctx, e[sparse]);
		}
	}
	kdr_context_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(aligned_ridge__small_sets__equals_the_equations),
		cmocka_unit_test(aligned_ridge__many_copies__each_gets_the_answers_of_one),
		cmocka_unit_test(prototypes__small_set__equals_the_equations),
		cmocka_unit_test(self_training__one_round__learns_from_the_surest_of_each_class),
		cmocka_unit_test(cost_by_folds__clean_and_noise__right_and_by_chance),
		cmocka_unit_test(rest_train__many_rows__weights_of_a_start_from_zeros),
		cmocka_unit_test(softmax__rows_left_out_and_a_class_without_any__gradient_vanishes),
		cmocka_unit_test(aligned__all_directions__keep_the_cosines_of_centred_rows),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
