/* The vote on a graph of samples and landmarks: against A written out, and with the samples on several ranks.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/unit.h"

#include "engine/ensemble/vote.h"
#include "tests/unit/ranks.h"

enum { N = 300, D = 5, K = 3, M = 40, NEAR = 4, COUNT = 5, CUTS = 4 };

typedef struct fixture {
	double x[N * D];
	int32_t label[N * COUNT];
	const int *cut;
	bool alone;
	/* of all samples */
	int64_t labels[N];
	double agreement[N], ncut, rows[N * K];
} fixture;

static const int cuts[CUTS][5] = { { 2, 50, 50 }, { 3, 34, 1, 65 }, { 3, 0, 100, 0 }, { 4, 2, 0, 97, 1 } };

/* K clouds, and partitions that each err on some of the samples; the last one saw other tasks. */
static void set_up(fixture *f)
{
	kdri_rng rng = kdri_rng_stream(9, "test", 0);
	memset(f, 0, sizeof *f);
	for (int i = 0; i < N; i++) {
		for (int j = 0; j < D; j++)
			f->x[i * D + j] = 2.5 * (j % K == i % K) + kdri_rng_normal(&rng);
		for (int m = 0; m < COUNT; m++)
			f->label[i * COUNT + m] =
			        (int32_t)(kdri_rng_below(&rng, 5) ? i % K : kdri_rng_below(&rng, K + m));
	}
}

static void fill_ballot(const fixture *f, int64_t first, kdri_ballot *b)
{
	memcpy(b->label, f->label + first * COUNT, (size_t)(b->n * COUNT) * sizeof *b->label);
	for (int m = 0; m < COUNT; m++)
		b->weight[m] = 1 + 0.25 * m;
	b->transfer[COUNT - 1] = true;
}

static void work(kdr_context *ctx, int rank, void *user)
{
	fixture *f = user;
	int sum = 0;
	for (int r = 0; r < rank; r++)
		sum += f->cut[r + 1];
	const int64_t first = N * sum / 100, n = N * (sum + f->cut[rank + 1]) / 100 - first;
	kdr_mat x = kdr_mat_from_dense(f->x + first * D, n, D);
	kdri_landmarks l = { .rows.view = kdr_mat_from_dense(NULL, 0, 0) };
	kdri_own z = { .view = kdr_mat_from_dense(NULL, 0, 0) };
	kdri_ballot b = { 0 };
	kdri_verdict v = { 0 };
	const kdri_landmarks_options how = { .weight = KDRI_LANDMARKS_TUNED,
		                             .least = 1e-6,
		                             .neighbors = NEAR };
	const kdri_verdict_options o = {
		.k = K, .n_init = 3, .max_iter = 100, .alone = f->alone, .landmarks = &l
	};
	kdri_enter(ctx);
	assert_ok(ctx, kdri_landmarks_new(ctx, &x, NULL, 1, M, 0, &l));
	assert_ok(ctx, kdri_landmarks_graph(ctx, &x, &l, &how, &z));
	assert_ok(ctx, kdri_ballot_new(ctx, n, COUNT, &b));
	fill_ballot(f, first, &b);
	assert_ok(ctx, kdri_verdict_new(ctx, &b, &z.view, &o, &v));
	assert_ok(ctx, kdri_verdict_embed(ctx, &b, &z.view.as.csr, f->alone, K, f->rows + first * K));
	memcpy(f->labels + first, v.labels, (size_t)n * sizeof *v.labels);
	memcpy(f->agreement + first, v.agreement, (size_t)n * sizeof *v.agreement);
	if (rank == 0)
		f->ncut = v.ncut;
	assert_int_equal(kdri_leave(ctx, KDR_OK), KDR_OK);
	kdri_verdict_free(ctx, &v);
	kdri_ballot_free(ctx, &b);
	kdri_own_free(ctx, &z);
	kdri_landmarks_free(ctx, &l);
}

static void alone(fixture *f, bool without)
{
	static const int whole[] = { 1, 100 };
	kdr_context *ctx = unit_context();
	set_up(f);
	f->cut = whole;
	f->alone = without;
	work(ctx, 0, f);
	kdr_context_free(ctx);
}

static void verdict__samples_on_ranks__same_bits(void **state)
{
	(void)state;
	fixture *one = malloc(sizeof *one), *many = malloc(sizeof *many);
	for (int without = 0; without < 2; without++) {
		alone(one, without);
		int right = 0;
		for (int i = 0; i < N; i++)
			right += one->labels[i] == one->labels[i % K];
		assert_true(right > N * 9 / 10); /* each partition has some 85 % */
		for (int c = 0; c < CUTS; c++) {
			set_up(many);
			many->cut = cuts[c];
			many->alone = without;
			crew_run(cuts[c][0], work, many, NULL);
			assert_memory_equal(one->rows, many->rows, sizeof one->rows);
			assert_memory_equal(one->labels, many->labels, sizeof one->labels);
			assert_memory_equal(one->agreement, many->agreement, sizeof one->agreement);
			assert_true(one->ncut == many->ncut);
		}
	}
	free(one);
	free(many);
}

/* Z L^-1 Z' + t co, n x n, and the leading eigenvectors of what it is when normalised: their unit rows have the same angles. */
static void embed__A_written_out__same_angles(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	fixture *f = malloc(sizeof *f);
	double *a = calloc((size_t)N * N, sizeof *a), *co = calloc((size_t)N * N, sizeof *co),
	       column[M] = { 0 }, degree[N] = { 0 }, values[N], edges = 0, all = 0;
	kdri_landmarks l = { .rows.view = kdr_mat_from_dense(NULL, 0, 0) };
	kdri_own z = { .view = kdr_mat_from_dense(NULL, 0, 0) };
	kdri_ballot b = { 0 };
	set_up(f);
	kdr_mat x = kdr_mat_from_dense(f->x, N, D);
	const kdri_landmarks_options how = { .weight = KDRI_LANDMARKS_COSINE, .neighbors = NEAR };
	assert_ok(ctx, kdri_landmarks_new(ctx, &x, NULL, 1, M, 0, &l));
	assert_ok(ctx, kdri_landmarks_graph(ctx, &x, &l, &how, &z));
	assert_ok(ctx, kdri_ballot_new(ctx, N, COUNT, &b));
	fill_ballot(f, 0, &b);
	assert_ok(ctx, kdri_verdict_embed(ctx, &b, &z.view.as.csr, false, K, f->rows));
	const kdr_csr *c = &z.view.as.csr;
	for (int64_t p = 0; p < c->rowptr[N]; p++) {
		column[c->col[p]] += c->val[p];
		edges += c->val[p];
	}
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++) {
			for (int m = 0; m < COUNT; m++)
				co[i * N + j] +=
				        f->label[i * COUNT + m] == f->label[j * COUNT + m] ? b.weight[m] : 0;
			for (int64_t p = c->rowptr[i]; p < c->rowptr[i + 1]; p++)
				for (int64_t q = c->rowptr[j]; q < c->rowptr[j + 1]; q++)
					if (c->col[p] == c->col[q])
						a[i * N + j] += c->val[p] * c->val[q] / column[c->col[p]];
			all += co[i * N + j];
		}
	for (int i = 0; i < N * N; i++) {
		a[i] += 0.01 * edges / all * co[i];
		degree[i / N] += a[i];
	}
	for (int i = 0; i < N * N; i++)
		a[i] /= sqrt(degree[i / N] * degree[i % N]);
	assert_ok(ctx, kdri_eigh(ctx, N, a, N, values));
	for (int i = 0; i < N; i++) {
		double length = sqrt(kdri_nrm2sq(a + i * N + N - K, K));
		for (int j = N - K; j < N; j++)
			a[i * N + j] /= length;
	}
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			assert_near(kdri_dot(f->rows + i * K, f->rows + j * K, K),
			            kdri_dot(a + i * N + N - K, a + j * N + N - K, K), 1e-3);
	kdri_ballot_free(ctx, &b);
	kdri_own_free(ctx, &z);
	kdri_landmarks_free(ctx, &l);
	free(a);
	free(co);
	free(f);
	kdr_context_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(verdict__samples_on_ranks__same_bits),
		cmocka_unit_test(embed__A_written_out__same_angles),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
