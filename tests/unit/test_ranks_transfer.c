/* Transfers with rows on several ranks: probabilities, a choice of bridges and known classes are those of one process. */
#include "api/gather.h"
#include "api/result.h"
#include "tests/unit/failing.h"
#include "tests/unit/ranks.h"
#include "tests/unit/unit.h"

enum { N = 130, D = 12, K = 3, SETS = 4, CUTS = 4 }; /* a source, a target, two bridges */

/* How many rows of 100 the ranks have. */
static const int cuts[CUTS][5] = { { 1, 100 }, { 2, 50, 50 }, { 3, 0, 99, 1 }, { 4, 30, 5, 0, 65 } };

typedef struct moved {
	const char *method;
	int64_t bridges;
	bool probabilities, known;
	const int *cut;
	double x[SETS][N * D];
	int64_t classes[SETS][N];
	kdr_status st[MOST_RANKS];
	char error[MOST_RANKS][512];
	/* what rank 0 has in the end */
	int64_t labels[N], held_out, stop;
	double probability[N * K], temperature, accuracy, loss, back[2], score[2];
	char chosen[16];
} moved;

static void set_up(moved *m)
{
	kdri_rng rng = kdri_rng_stream(8, "test", 0);
	memset(m, 0, sizeof *m);
	for (int s = 0; s < SETS; s++)
		for (int i = 0; i < N; i++) {
			int class = (int)kdri_rng_below(&rng, K);
			m->classes[s][i] = class;
			for (int j = 0; j < D; j++)
				m->x[s][i * D + j] = fabs((j % K == class) * 1.5 + 0.2 * s * (j > 8) +
				                          (s == 3 ? 2 : 1) * kdri_rng_normal(&rng));
		}
}

static kdr_status make(kdr_context *ctx, const moved *m, int s, int rank, kdr_data **out)
{
	static const char *const names[] = { "source", "target", "near", "far" };
	static const char *const classes[] = { "u", "v", "w" };
	int sum = 0;
	kdr_status st;
	for (int r = 0; r < rank; r++)
		sum += m->cut[r + 1];
	int64_t first = N * sum / 100, rows = N * (sum + m->cut[rank + 1]) / 100 - first;
	kdr_mat x = kdr_mat_from_dense(m->x[s] + first * D, rows, D);
	KDRI_TRY(kdr_data_new(ctx, names[s], &x, NULL, out));
	if (s == 0)
		KDRI_TRY(kdr_data_set_labels(ctx, *out, m->classes[s] + first, classes, K));
	KDRI_TRY(KDRI_NEW(ctx, &(*out)->origin, rows));
	for (int64_t i = 0; i < rows; i++)
		(*out)->origin[i] = first + i;
	(*out)->file_rows = N;
done:
	return st;
}

static void keep(kdr_context *ctx, moved *m, kdr_result *r)
{
	int64_t n = 0, task = kdr_result_ntasks(r) - 1, k;
	if (kdri_rank(ctx) > 0)
		return;
	const int64_t *labels = kdr_result_labels(r, task, &n);
	const char *const *names = kdr_result_classes(r, &k);
	assert_int_equal(n, N);
	for (int i = 0; i < N; i++)
		m->labels[i] = names[labels[i]][0] -
		               'u'; /* classes are numbered in the order of the source's rows */
	m->stop = kdr_result_stop(r);
	if (m->probabilities) {
		const kdr_calibration *c = kdr_result_calibration(r);
		m->held_out = c->held_out;
		m->temperature = c->temperature;
		m->accuracy = c->accuracy;
		m->loss = c->log_loss;
		memcpy(m->probability, kdr_result_probabilities(r, task, &k), sizeof m->probability);
	}
	for (int64_t b = 0; b < r->bridge_count; b++) {
		const kdri_bridge *o = &r->bridges[b];
		m->back[b] = o->score.back;
		m->score[b] = o->score.features[3] + 10 * o->score.features[5] + 100 * o->score.features[1];
		if (b == 0)
			snprintf(m->chosen, sizeof m->chosen, "%s", o->name);
	}
}

static void work(kdr_context *ctx, int rank, void *user)
{
	moved *m = user;
	kdr_data *sets[SETS] = { NULL };
	kdr_result *r = NULL;
	kdr_options *settings = NULL;
	int64_t values[N];
	char *names[] = { "u", "v", "w", "?" };
	kdr_labels known = { .n = N, .values = values, .names = names, .count = K + 1 };
	kdr_status st = KDR_OK;
	for (int i = 0; i < N; i++)
		values[i] = i % 7 == 0 ? m->classes[1][i] : K;
	for (int s = 0; s < SETS && st == KDR_OK; s++)
		st = make(ctx, m, s, rank, &sets[s]);
	if (st == KDR_OK)
		st = kdr_options_new(ctx, m->method, &settings);
	if (st == KDR_OK && kdri_options_has(settings, "max_iter") && m->bridges)
		st = kdr_options_set(ctx, settings, "max_iter", "5");
	kdri_enter(ctx);
	st = kdri_leave(ctx, st);
	const kdr_transfer_sets all = { .size = sizeof(kdr_transfer_sets),
		                        .sources = sets,
		                        .nsources = 1,
		                        .targets = sets + 1,
		                        .ntargets = 1,
		                        .bridges = sets + 2,
		                        .nbridges = m->bridges };
	const kdr_job_options options = { .size = sizeof(kdr_job_options),
		                          .method = m->method,
		                          .settings = settings,
		                          .known = m->known ? &known : NULL,
		                          .probabilities = m->probabilities };
	if (st == KDR_OK)
		st = kdr_transfer(ctx, &all, &options, &r);
	if (st == KDR_OK) {
		kdri_enter(ctx);
		st = kdri_leave(ctx, kdri_together(ctx) ? kdri_result_gather(ctx, r) : KDR_OK);
	}
	m->st[rank] = st;
	snprintf(m->error[rank], sizeof m->error[rank], "%s", kdr_context_error(ctx));
	if (st == KDR_OK)
		keep(ctx, m, r);
	kdr_result_free(r);
	kdr_options_free(settings);
	for (int s = 0; s < SETS; s++)
		kdr_data_free(sets[s]);
}

static void run(moved *m, const moved *how, const int *cut, const kdr_allocator *const *allocators)
{
	set_up(m);
	m->method = how->method;
	m->bridges = how->bridges;
	m->probabilities = how->probabilities;
	m->known = how->known;
	m->cut = cut;
	crew_run(cut[0], work, m, allocators);
}

static void transfer__rows_on_ranks__that_of_one_process(void **state)
{
	(void)state;
	moved *one = malloc(sizeof *one), *many = malloc(sizeof *many), *trials = calloc(5, sizeof *trials);
	trials[0] = (moved){ .method = "logreg", .probabilities = true };
	trials[1] = (moved){ .method = "svm", .probabilities = true };
	trials[2] = (moved){ .method = "nmtf", .probabilities = true, .known = true };
	trials[3] = (moved){ .method = "ttl", .bridges = 2 };
	trials[4] = (moved){ .method = "ttl", .bridges = 2, .probabilities = true, .known = true };
	for (int i = 0; i < 5; i++) {
		run(one, &trials[i], cuts[0], NULL);
		if (one->st[0] != KDR_OK)
			fail_msg("%s: %s", one->method, one->error[0]);
		for (int c = 1; c < CUTS; c++) {
			run(many, &trials[i], cuts[c], NULL);
			for (int r = 0; r < cuts[c][0]; r++)
				if (many->st[r] != KDR_OK)
					fail_msg("%s, rank %d: %s", one->method, r, many->error[r]);
			assert_memory_equal(many->labels, one->labels, sizeof one->labels);
			assert_int_equal(many->held_out, one->held_out);
			assert_near(many->temperature, one->temperature, 1e-4 * (1 + one->temperature));
			assert_near(many->accuracy, one->accuracy, 1e-12);
			assert_near(many->loss, one->loss, 1e-6);
			for (int j = 0; j < N * K; j++)
				assert_near(many->probability[j], one->probability[j], 1e-5);
			assert_string_equal(many->chosen, one->chosen);
			for (int b = 0; b < 2; b++) {
				assert_near(many->back[b], one->back[b], 1e-12);
				assert_near(many->score[b], one->score[b], 1e-9);
			}
		}
		if (one->probabilities) { /* all but those of a class alone are held out once */
			assert_int_equal(one->held_out, N);
			assert_true(one->accuracy > 0.5 && one->accuracy < 1);
		}
		for (int j = 0; one->known && j < N; j += 7)
			assert_int_equal(one->labels[j], one->classes[1][j]);
	}
	free(one);
	free(many);
	free(trials);
}

static void transfer__one_rank_without_memory__all_say_so(void **state)
{
	(void)state;
	moved *m = malloc(sizeof *m);
	static const moved how = { .method = "ttl", .bridges = 2, .probabilities = true };
	int failed = 0;
	for (long allowed = 40;; allowed += 1 + allowed / 5) {
		failing fails = { .allowed = allowed };
		kdr_allocator bad = { failing_alloc, failing_realloc, failing_free, &fails };
		const kdr_allocator *allocators[] = { NULL, &bad, NULL };
		run(m, &how, cuts[2], allocators);
		assert_int_equal(fails.live, 0);
		for (int r = 0; r < 3; r++)
			assert_int_equal(m->st[r], m->st[1]);
		if (m->st[1] == KDR_OK)
			break;
		failed++;
		assert_int_equal(m->st[1], KDR_ERR_MEMORY);
		assert_non_null(strstr(m->error[0], "rank 1: "));
	}
	assert_true(failed > 5);
	free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(transfer__rows_on_ranks__that_of_one_process),
		cmocka_unit_test(transfer__one_rank_without_memory__all_say_so),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
