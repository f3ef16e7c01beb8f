/* The vote that learns members' errors, against numbers computed by another program (tests/golden/vote.json). */
#include "core/json_read.h"
#include "engine/ensemble/vote.h"
#include "tests/unit/golden.h"

typedef struct ballot {
	kdri_vote_problem p;
	kdri_own graph;
	kdri_op near;
	int32_t *labels[32];
	const int32_t *votes[16], *clusters[16];
	int64_t k[16];
} ballot;

static int32_t *labels_of(const kdri_json_value *list, int64_t *n, int64_t *k)
{
	int64_t *values = golden_integers(list, n);
	int32_t *labels = calloc((size_t)*n, sizeof *labels);
	*k = 0;
	for (int64_t i = 0; i < *n; i++) {
		labels[i] = (int32_t)values[i];
		*k = KDRI_MAX(*k, values[i] + 1);
	}
	free(values);
	return labels;
}

/* Coordinates, sorted by rows, as a sparse matrix. */
static void graph_of(kdr_context *ctx, const kdri_json_value *g, int64_t n, kdri_own *out)
{
	int64_t count, *row = golden_integers(kdri_json_get(g, "row"), &count),
	               *col = golden_integers(kdri_json_get(g, "col"), NULL), *rowptr = NULL;
	double *value = golden_numbers(kdri_json_get(g, "value"), NULL), *val = NULL;
	int32_t *index = NULL;
	assert_ok(ctx, KDRI_NEW0(ctx, &rowptr, n + 1));
	assert_ok(ctx, KDRI_NEW(ctx, &index, count));
	assert_ok(ctx, KDRI_NEW(ctx, &val, count));
	for (int64_t p = 0; p < count; p++) {
		rowptr[row[p] + 1]++;
		index[p] = (int32_t)col[p];
		val[p] = value[p];
	}
	for (int64_t i = 0; i < n; i++)
		rowptr[i + 1] += rowptr[i];
	*out = (kdri_own){ kdr_mat_from_csr(n, n, rowptr, index, val), { rowptr, index, val } };
	free(row);
	free(col);
	free(value);
}

static void ballot_of(kdr_context *ctx, const kdri_json_value *g, ballot *b)
{
	const kdri_json_value *votes = kdri_json_get(g, "votes"), *clusters = kdri_json_get(g, "clusters");
	int64_t k, used = 0;
	*b = (ballot){ .p = { .classes = (int64_t)golden_number(g, "classes"),
		              .members = kdri_json_count(votes),
		              .clusterings = kdri_json_count(clusters),
		              .rounds = (int64_t)golden_number(g, "iterations") } };
	for (int64_t m = 0; m < b->p.members; m++, used++)
		b->votes[m] = b->labels[used] = labels_of(kdri_json_at(votes, m), &b->p.n, &k);
	for (int64_t z = 0; z < b->p.clusterings; z++, used++)
		b->clusters[z] = b->labels[used] = labels_of(kdri_json_at(clusters, z), &b->p.n, &b->k[z]);
	graph_of(ctx, kdri_json_get(g, "graph"), b->p.n, &b->graph);
	b->p.votes = b->votes;
	b->p.clusters = b->clusters;
	b->p.k = b->k;
	b->near = kdri_op_mat(&b->graph.view);
	b->p.graph = &b->near;
}

static void ballot_free(kdr_context *ctx, ballot *b)
{
	for (int i = 0; i < 32; i++)
		free(b->labels[i]);
	kdri_own_free(ctx, &b->graph);
}

static int64_t likeliest(const double *p, int64_t c)
{
	int64_t best = 0;
	for (int64_t k = 1; k < c; k++)
		if (p[k] > p[best])
			best = k;
	return best;
}

static void vote__golden_cases__same_posterior_and_answers(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	const kdri_json_value *root = golden_load("vote.json");
	for (int64_t g = 0; g < kdri_json_count(root); g++) {
		const kdri_json_value *one = kdri_json_at(root, g),
		                      *after = kdri_json_get(one, "answer_after_each");
		ballot b;
		char name[32];
		snprintf(name, sizeof name, "case %zu", g);
		ballot_of(ctx, one, &b);
		int64_t n = b.p.n, c = b.p.classes, rounds = b.p.rounds;
		double *p = calloc((size_t)(n * c), sizeof *p);
		for (int64_t r = 1; r <= rounds; r++) {
			int64_t *want = golden_integers(kdri_json_at(after, (size_t)r - 1), NULL);
			b.p.rounds = r;
			assert_ok(ctx, kdri_vote(ctx, &b.p, p, NULL));
			for (int64_t i = 0; i < n; i++)
				assert_int_equal(likeliest(p + i * c, c), want[i]);
			free(want);
		}
		golden_close(name, "posterior", p, kdri_json_get(one, "posterior"), 1e-12);
		free(p);
		ballot_free(ctx, &b);
	}
	golden_free(root);
	kdr_context_free(ctx);
}

static void vote__known_samples_and_no_neighbours__stay_and_are_left_out(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	const kdri_json_value *root = golden_load("vote.json");
	ballot b;
	ballot_of(ctx, kdri_json_at(root, 1), &b);
	int64_t n = b.p.n, c = b.p.classes, *known = calloc((size_t)n, sizeof *known);
	double *p = calloc((size_t)(2 * n * c), sizeof *p), *near = p + n * c;
	for (int64_t i = 0; i < n; i++)
		known[i] = i % 7 == 0 ? (b.votes[0][i] + 1) % c : -1;
	/* Sample 1 loses its neighbours. */
	kdr_csr *w = &b.graph.view.as.csr;
	double *val = b.graph.parts[2];
	for (int64_t i = 0; i < n; i++)
		for (int64_t q = w->rowptr[i]; q < w->rowptr[i + 1]; q++)
			if (i == 1 || w->col[q] == 1)
				val[q] = 0;
	b.p.known = known;
	assert_ok(ctx, kdri_vote(ctx, &b.p, p, near));
	for (int64_t i = 0; i < n; i++) {
		double sum = 0, mass = 0;
		for (int64_t k = 0; k < c; k++) {
			sum += p[i * c + k];
			mass += near[i * c + k];
		}
		assert_near(sum, 1, 1e-12);
		assert_near(mass, i != 1, 1e-12);
		if (known[i] >= 0)
			assert_true(p[i * c + known[i]] == 1);
	}
	free(known);
	free(p);
	ballot_free(ctx, &b);
	golden_free(root);
	kdr_context_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vote__golden_cases__same_posterior_and_answers),
		cmocka_unit_test(vote__known_samples_and_no_neighbours__stay_and_are_left_out),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
