/* Rows on several ranks: the steps of auto that look at all of them, and leading directions of many columns. */
#include "engine/graph/views.h"
#include "tests/unit/failing.h"
#include "tests/unit/ranks.h"
#include "tests/unit/unit.h"

enum { MOST_FIELDS = 60 };
enum { TASKS = 2, CUTS = 6, K = 4, MOST_N = 1130, MOST_D = 3040, EACH = 30 };

/* How many rows of 100 the ranks have; ranks without any among them. */
static const int cuts[CUTS][5] = { { 1, 100 },       { 2, 50, 50 },         { 3, 34, 1, 65 },
	                           { 3, 0, 100, 0 }, { 4, 25, 25, 25, 25 }, { 4, 2, 0, 97, 1 } };

/* Samples of K kinds: texts of EACH words, most of which are of the kind's own, or dense rows. */
typedef struct samples {
	int64_t n[TASKS], d;
	bool sparse;
	int64_t rowptr[TASKS][MOST_N + 1];
	int32_t col[TASKS][MOST_N * EACH];
	double val[TASKS][MOST_N * EACH], *dense[TASKS];
} samples;

static void draw_words(samples *s, int t, kdri_rng *rng, bool *used)
{
	int64_t at = 0;
	for (int64_t i = 0; i < s->n[t]; i++) {
		memset(used, 0, (size_t)s->d);
		for (int w = 0; w < EACH; w++) {
			int64_t own = i % K * (s->d / K) + kdri_rng_below(rng, KDRI_MIN(s->d / K, 60));
			used[kdri_rng_below(rng, 4) ? own : kdri_rng_below(rng, s->d)] = true;
		}
		for (int64_t j = 0; j < s->d; j++)
			if (used[j]) {
				s->col[t][at] = (int32_t)j;
				s->val[t][at++] = 1 + (double)kdri_rng_below(rng, 3);
			}
		s->rowptr[t][i + 1] = at;
	}
}

static samples *samples_new(int64_t n, int64_t d, bool sparse)
{
	samples *s = calloc(1, sizeof *s);
	bool *used = malloc((size_t)d);
	s->d = d;
	s->sparse = sparse;
	for (int t = 0; t < TASKS; t++) {
		kdri_rng rng = kdri_rng_stream(11, "samples", (uint64_t)t);
		s->n[t] = n + 20 * t;
		s->dense[t] = malloc((size_t)(s->n[t] * d) * sizeof(double));
		for (int64_t p = 0; p < s->n[t] * d; p++)
			s->dense[t][p] = 3 * (p % d % K == p / d % K) + 0.2 * t + kdri_rng_normal(&rng);
		if (sparse)
			draw_words(s, t, &rng, used);
	}
	free(used);
	return s;
}

static void samples_free(samples *s)
{
	for (int t = 0; t < TASKS; t++)
		free(s->dense[t]);
	free(s);
}

static int64_t cut_at(const samples *s, const int *cut, int t, int rank)
{
	int sum = 0;
	for (int r = 0; r < rank; r++)
		sum += cut[r + 1];
	return s->n[t] * sum / 100;
}

/* The rows of task t that a rank has; rowptr: room for them. */
static kdr_mat part_of(const samples *s, const int *cut, int t, int rank, int64_t *rowptr)
{
	int64_t first = cut_at(s, cut, t, rank), rows = cut_at(s, cut, t, rank + 1) - first;
	int64_t begin = s->rowptr[t][first];
	for (int64_t i = 0; i <= rows; i++)
		rowptr[i] = s->rowptr[t][first + i] - begin;
	return s->sparse ? kdr_mat_from_csr(rows, s->d, rowptr, s->col[t] + begin, s->val[t] + begin)
	                 : kdr_mat_from_dense(s->dense[t] + first * s->d, rows, s->d);
}

static const int whole[] = { 1, 100 };

/* --- views -------------------------------------------------------------------------------------------------- */

typedef struct seen {
	const samples *s;
	const int *cut;
	kdr_status st[MOST_RANKS];
	bool cosine, centred, both, together;
	int64_t width[TASKS], directions;
	double *leading[TASKS], *centred_rows[TASKS], *shared[TASKS]; /* of all rows */
} seen;

static double *keep(const kdr_mat *x, double *to, int64_t first)
{
	int64_t d = kdr_mat_cols(x);
	for (int64_t i = 0; i < kdr_mat_rows(x); i++)
		memcpy(to + (first + i) * d, x->as.dense.data + i * x->as.dense.stride,
		       (size_t)d * sizeof *to);
	return to;
}

static void look(kdr_context *ctx, int rank, void *user)
{
	seen *f = user;
	static const int64_t k[TASKS] = { K, K };
	const kdri_views_options o = {
		.together = true, .by_itself = true, .neighbors = 5, .searched = 5, .later = true
	};
	int64_t *rowptr[TASKS];
	kdr_task tasks[TASKS] = { 0 };
	kdri_views v = { 0 };
	kdr_status st;
	for (int t = 0; t < TASKS; t++) {
		rowptr[t] = malloc((MOST_N + 1) * sizeof(int64_t));
		tasks[t].x = part_of(f->s, f->cut, t, rank, rowptr[t]);
	}
	const kdr_problem problem = { .size = sizeof(kdr_problem), .tasks = tasks, .ntasks = TASKS };
	kdri_enter(ctx);
	KDRI_TRY(kdri_views_new(ctx, &problem, &o, &v));
	KDRI_TRY(kdri_views_directions(ctx, &v, k, true));
	for (int t = 0; t < TASKS; t++) {
		int64_t first = cut_at(f->s, f->cut, t, rank);
		kdr_mat leading = kdri_views_of(&v, KDRI_VIEW_LEADING, t),
		        shared = kdri_views_of(&v, KDRI_VIEW_SHARED, t),
		        centred = kdri_views_of(&v, KDRI_VIEW_CENTRED, t);
		keep(&leading, f->leading[t], first);
		if (rank == 0)
			f->width[t] = v.tasks[t].width;
		keep(&shared, f->shared[t], first);
		keep(&centred, f->centred_rows[t], first);
	}
	if (rank == 0) {
		f->cosine = v.tasks[0].cosine;
		f->centred = v.tasks[0].centred;
		f->both = v.tasks[1].both;
		f->together = v.options.together;
		f->directions = v.directions;
	}
done:
	f->st[rank] = kdri_leave(ctx, st);
	kdri_views_free(ctx, &v);
	for (int t = 0; t < TASKS; t++)
		free(rowptr[t]);
}

static seen *seen_new(const samples *s, const int *cut)
{
	seen *f = calloc(1, sizeof *f);
	f->s = s;
	f->cut = cut;
	for (int t = 0; t < TASKS; t++) {
		f->leading[t] = calloc(MOST_N * 128, sizeof(double));
		f->shared[t] = calloc(MOST_N * 128, sizeof(double));
		f->centred_rows[t] = calloc(MOST_N * 128, sizeof(double));
	}
	return f;
}

static void seen_free(seen *f)
{
	for (int t = 0; t < TASKS; t++) {
		free(f->leading[t]);
		free(f->shared[t]);
		free(f->centred_rows[t]);
	}
	free(f);
}

/* Lengths and angles of rows do not depend on the directions' signs. */
static void nearly_equal(const double *a, const double *b, int64_t n, int64_t d, double tolerance)
{
	double largest = 0;
	for (int64_t i = 0; i < n; i++)
		largest = KDRI_MAX(largest, kdri_nrm2sq(a + i * d, d));
	assert_true(largest > 0);
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = i % 7; j < n; j += 7) {
			double x = kdri_dot(a + i * d, a + j * d, d), y = kdri_dot(b + i * d, b + j * d, d);
			if (fabs(x - y) > tolerance * largest)
				fail_msg("rows %lld and %lld: %.17g and %.17g of %g", (long long)i,
				         (long long)j, x, y, largest);
		}
}

static void views__rows_on_ranks__those_of_one_process(void **state)
{
	(void)state;
	static const struct {
		int64_t n, d;
		bool sparse;
	} kinds[] = { { 120, 12, false }, { 60, 100, false }, { 80, 400, true }, { 3, 40, true } };
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		samples *s = samples_new(kinds[i].n, kinds[i].d, kinds[i].sparse);
		seen *one = seen_new(s, whole);
		kdr_context *ctx = unit_context();
		kdr_context_set_threads(ctx, 1);
		look(ctx, 0, one);
		kdr_context_free(ctx);
		assert_int_equal(one->st[0], KDR_OK);
		for (int c = 0; c < CUTS; c++) {
			seen *many = seen_new(s, cuts[c]);
			crew_run(cuts[c][0], look, many, NULL);
			for (int r = 0; r < cuts[c][0]; r++)
				assert_int_equal(many->st[r], KDR_OK);
			assert_true(many->cosine == one->cosine && many->centred == one->centred &&
			            many->both == one->both && many->together == one->together);
			assert_int_equal(many->directions, one->directions);
			for (int t = 0; t < TASKS; t++) {
				assert_int_equal(many->width[t], one->width[t]);
				int64_t shared = KDRI_MIN(2 * K, one->directions);
				nearly_equal(one->leading[t], many->leading[t], s->n[t], one->width[t], 1e-9);
				nearly_equal(one->shared[t], many->shared[t], s->n[t], shared, 1e-9);
				nearly_equal(one->centred_rows[t], many->centred_rows[t], s->n[t],
				             one->directions, 1e-7);
			}
			seen_free(many);
		}
		seen_free(one);
		samples_free(s);
	}
}

/* --- methods ----------------------------------------------------------------------------------------------- */

typedef struct trial {
	const char *method;
	const char *set[6]; /* name, value */
	bool unknown, init; /* k; labels to start from */
	int64_t most_k;     /* of a range; 0: one number */
} trial;

typedef struct fitted {
	const samples *s;
	const int *cut;
	const trial *how;
	int patience[MOST_RANKS]; /* events after which a rank wants to stop; 0: never */
	double limit[MOST_RANKS]; /* seconds; 0: none */
	/* results for all rows */
	kdr_status st[MOST_RANKS];
	kdr_stop stop[MOST_RANKS];
	char error[MOST_RANKS][512];
	char field[MOST_FIELDS][512]; /* method_fields and warnings */
	double number[MOST_FIELDS];
	int fields;
	int64_t k[MOST_RANKS];
	int64_t labels[TASKS][MOST_N + 20 * TASKS], moved[TASKS][MOST_N + 20 * TASKS];
	double objective, related, matched, confidence[TASKS][MOST_N + 20 * TASKS];
} fitted;

static int lose_patience(void *user, const kdr_event *event)
{
	int *left = user;
	(void)event;
	return *left > 0 && --*left == 0;
}

/* The results of auto besides labels. */
static void keep_answers(fitted *f, int rank, const kdr_result *r)
{
	for (int t = 0; t < TASKS; t++) {
		int64_t first = cut_at(f->s, f->cut, t, rank), n = cut_at(f->s, f->cut, t, rank + 1) - first;
		kdr_array a = kdr_result_array(r, "confidence", t), m = kdr_result_array(r, "moved", t);
		if (a.data)
			memcpy(f->confidence[t] + first, a.data, (size_t)n * sizeof(double));
		if (m.data)
			memcpy(f->moved[t] + first, m.data, (size_t)n * sizeof(int64_t));
	}
	if (rank > 0)
		return;
	int64_t n;
	const double *trace = kdr_result_objective(r, &n);
	kdr_array quality = kdr_result_array(r, "match_quality", 0);
	for (int64_t i = 0; i < kdr_result_field_count(r) && f->fields < MOST_FIELDS; i++) {
		const char *text = NULL;
		double number = 0;
		const char *name = kdr_result_field_at(r, i, &number, &text);
		if (strcmp(name, "ranks") == 0 || strcmp(name, "exchanges") == 0 ||
		    strcmp(name, "bytes_sent") == 0)
			continue;
		f->number[f->fields] = text ? 0 : number;
		snprintf(f->field[f->fields++], sizeof f->field[0], "%s: %s", name, text ? text : "");
	}
	for (int64_t i = 0; i < kdr_result_warning_count(r) && f->fields < MOST_FIELDS; i++)
		snprintf(f->field[f->fields++], sizeof f->field[0], "%s", kdr_result_warning_at(r, i));
	f->objective = n ? trace[n - 1] : 0;
	f->related = kdr_result_relatedness(r) ? kdr_result_relatedness(r)[1] : 0;
	f->matched = quality.data ? ((const double *)quality.data)[quality.shape[1]] : 0;
}

/* What a rank has found. */
static void keep_result(fitted *f, int rank, const kdr_result *result)
{
	for (int t = 0; t < TASKS; t++) {
		int64_t n;
		const int64_t *labels = kdr_result_labels(result, t, &n);
		memcpy(f->labels[t] + cut_at(f->s, f->cut, t, rank), labels, (size_t)n * sizeof *labels);
	}
	f->k[rank] = kdr_result_k(result, 1);
	f->stop[rank] = kdr_result_stop(result);
	keep_answers(f, rank, result);
}

static void fit_rows(kdr_context *ctx, int rank, void *user)
{
	fitted *f = user;
	int64_t *rowptr[TASKS];
	kdr_task tasks[TASKS] = { 0 };
	kdr_options *options = NULL;
	kdr_result *result = NULL;
	kdr_status st;
	int64_t init[TASKS][MOST_N];
	kdr_context_set_progress(ctx, lose_patience, &f->patience[rank]);
	kdr_context_set_time_limit(ctx, f->limit[rank]);
	for (int t = 0; t < TASKS; t++) {
		rowptr[t] = malloc((MOST_N + 1) * sizeof(int64_t));
		for (int64_t i = 0; i < MOST_N; i++)
			init[t][i] = (cut_at(f->s, f->cut, t, rank) + i) % K;
		tasks[t] = (kdr_task){ .name = t ? "b" : "a",
			               .init = f->how->init ? init[t] : NULL,
			               .k = f->how->unknown ? 0 : K,
			               .x = part_of(f->s, f->cut, t, rank, rowptr[t]) };
	}
	const kdr_problem problem = { .size = sizeof(kdr_problem), .tasks = tasks, .ntasks = TASKS };
	kdri_enter(ctx);
	KDRI_TRY(kdr_options_new(ctx, f->how->method, &options));
	for (int i = 0; i < 6 && f->how->set[i]; i += 2)
		KDRI_TRY(kdr_options_set(ctx, options, f->how->set[i], f->how->set[i + 1]));
	KDRI_TRY(kdr_fit(ctx, f->how->method, &problem, options, &result));
	keep_result(f, rank, result);
done:
	f->st[rank] = kdri_leave(ctx, st);
	snprintf(f->error[rank], sizeof f->error[rank], "%s", kdr_context_error(ctx));
	kdr_result_free(result);
	kdr_options_free(options);
	for (int t = 0; t < TASKS; t++)
		free(rowptr[t]);
}

/* *one: the results of one process. */
static void compare_cuts(const samples *s, const trial *how, crew_work *work, int first_cut, int last_cut,
                         fitted *one)
{
	kdr_context *ctx = unit_context();
	kdr_context_set_threads(ctx, 1);
	*one = (fitted){ .s = s, .cut = whole, .how = how };
	work(ctx, 0, one);
	kdr_context_free(ctx);
	if (one->st[0] != KDR_OK)
		fail_msg("%s: %s", how->method, one->error[0]);
	for (int c = first_cut; c <= last_cut; c++) {
		fitted *many = calloc(1, sizeof *many);
		*many = (fitted){ .s = s, .cut = cuts[c], .how = how };
		crew_run(cuts[c][0], work, many, NULL);
		for (int r = 0; r < cuts[c][0]; r++)
			if (many->st[r] != KDR_OK)
				fail_msg("%s, cut %d, rank %d: %s", how->method, c, r, many->error[r]);
		if (memcmp(one->labels, many->labels, sizeof one->labels) != 0)
			fail_msg("%s: other labels with cut %d", how->method, c);
		for (int r = 0; r < cuts[c][0]; r++)
			assert_int_equal(many->k[r], one->k[0]);
		assert_memory_equal(one->moved, many->moved, sizeof one->moved);
		assert_int_equal(many->fields, one->fields);
		for (int i = 0; i < one->fields; i++) {
			assert_string_equal(many->field[i], one->field[i]);
			if (fabs(many->number[i] - one->number[i]) > 1e-6 * (1 + fabs(one->number[i])))
				fail_msg("%s, cut %d: %s is %.9g, expected %.9g", how->method, c,
				         one->field[i], many->number[i], one->number[i]);
		}
		assert_near(many->objective, one->objective, 1e-9 * (1 + fabs(one->objective)));
		assert_near(many->related, one->related, 1e-9);
		assert_near(many->matched, one->matched, 1e-9);
		for (int t = 0; t < TASKS; t++) {
			for (int64_t i = 0; i < s->n[t]; i++)
				assert_near(many->confidence[t][i], one->confidence[t][i], 1e-9);
		}
		free(many);
	}
}

static void same_for_cuts(const samples *s, const trial *how, int first_cut, int last_cut)
{
	fitted *one = calloc(1, sizeof *one);
	compare_cuts(s, how, fit_rows, first_cut, last_cut, one);
	free(one);
}

/* One process has all directions of so few rows, ranks the leading ones of so many columns. */
static void directions__of_many_columns__same_labels(void **state)
{
	(void)state;
	static const trial trials[] = {
		{ .method = "pca-kmeans", .set = { "energy", "0.3", "n_init", "1" } },
		{ .method = "lssmtc", .set = { "energy", "0.3", "n_init", "1", "l", "3" } },
	};
	samples *s = samples_new(60, MOST_D, true);
	for (int i = 0; i < unit_turns(2); i++)
		same_for_cuts(s, &trials[i], 2 + i, 2 + i);
	samples_free(s);
}

/* --- auto -------------------------------------------------------------------------------------------------- */

static void auto__rows_on_ranks__that_of_one_process(void **state)
{
	(void)state;
	static const struct {
		int64_t n, d;
		bool sparse;
		trial how;
	} trials[] = {
		{ 260,
		  9,
		  false,
		  { .method = "auto", .set = { "graph", "landmarks", "landmarks", "60", "seeds", "1" } } },
		{ 200,
		  300,
		  true,
		  { .method = "auto", .set = { "graph", "landmarks", "landmarks", "50", "seeds", "2" } } },
		{ 150,
		  90,
		  false,
		  { .method = "auto", .set = { "graph", "landmarks", "seeds", "1", "centre", "auto" } } },
		{ 80,
		  9,
		  false,
		  { .method = "auto", .set = { "graph", "landmarks", "seeds", "1" }, .init = true } },
		{ 80,
		  9,
		  false,
		  { .method = "auto", .set = { "graph", "landmarks", "k_max", "5" }, .unknown = true } },
		{ 70,
		  200,
		  true,
		  { .method = "auto",
		    .set = { "graph", "landmarks", "same_k", "false", "k_max", "4" },
		    .unknown = true } },
		{ 5, 3, false, { .method = "auto", .set = { "graph", "landmarks" } } },
	};
	for (int i = (int)(sizeof trials / sizeof trials[0]) - 1; i >= 0; i -= UNIT_SANITIZED ? 2 : 1) {
		samples *s = samples_new(trials[i].n, trials[i].d, trials[i].sparse);
		int cut = 2 * (i % 3);
		same_for_cuts(s, &trials[i].how, cut, cut + 1); /* a third of them each */
		samples_free(s);
	}
}

/* Whatever a rank is doing when it is asked to stop, or its time is over: all ranks stop with a result. */
static void auto__one_rank_wants_to_stop__all_do(void **state)
{
	(void)state;
	static const trial how = { .method = "auto", .set = { "graph", "landmarks", "landmarks", "40" } };
	samples *s = samples_new(150, 9, false);
	for (int turn = 0; turn < 10; turn += UNIT_SANITIZED ? 3 : 1) {
		fitted *f = calloc(1, sizeof *f);
		*f = (fitted){ .s = s, .cut = cuts[2], .how = &how };
		if (turn < 6)
			f->patience[1] = 1 + 8 * turn * turn;
		for (int r = 0; r < 3 && turn >= 6; r++)
			f->limit[r] = 0.003 * (turn - 5) * (turn - 5) * (r + 1);
		crew_run(3, fit_rows, f, NULL);
		for (int r = 0; r < 3; r++) {
			if (f->st[r] != KDR_OK)
				fail_msg("turn %d, rank %d: %s", turn, r, f->error[r]);
			assert_int_equal(f->stop[r], f->stop[0]);
		}
		if (turn < 3)
			assert_int_equal(f->stop[0], KDR_STOP_CANCELLED);
		for (int t = 0; t < TASKS; t++)
			for (int64_t i = 0; i < s->n[t]; i++)
				assert_in_range(f->labels[t][i], 0, K - 1);
		free(f);
	}
	samples_free(s);
}

static void auto__one_rank_without_memory__all_say_so(void **state)
{
	(void)state;
	static const trial how = { .method = "auto",
		                   .set = { "graph", "landmarks", "landmarks", "20", "seeds", "1" } };
	samples *s = samples_new(40, 9, false);
	int failed = 0;
	for (long allowed = 2;;
	     allowed += 1 + allowed / (UNIT_SANITIZED ? 2 : 4)) { /* the first two: a context and its ranks */
		failing fails = { .allowed = allowed };
		kdr_allocator bad = { failing_alloc, failing_realloc, failing_free, &fails };
		const kdr_allocator *allocators[] = { NULL, &bad, NULL };
		fitted *f = calloc(1, sizeof *f);
		*f = (fitted){ .s = s, .cut = cuts[2], .how = &how };
		crew_run(3, fit_rows, f, allocators);
		assert_int_equal(fails.live, 0);
		bool well = f->st[1] == KDR_OK;
		assert_int_equal(f->st[0], f->st[1]);
		assert_int_equal(f->st[2], f->st[1]);
		if (!well) {
			failed++;
			assert_non_null(strstr(f->error[0], "rank 1: "));
			assert_string_equal(f->error[0], f->error[2]);
		}
		free(f);
		if (well)
			break;
	}
	assert_true(failed > 10);
	samples_free(s);
}

static void auto__neighbours_on_several_ranks__refused(void **state)
{
	(void)state;
	static const trial how = { .method = "auto", .set = { "graph", "neighbours" } };
	samples *s = samples_new(40, 9, false);
	fitted *f = calloc(1, sizeof *f);
	*f = (fitted){ .s = s, .cut = cuts[1], .how = &how };
	crew_run(2, fit_rows, f, NULL);
	assert_int_equal(f->st[0], KDR_ERR_UNSUPPORTED);
	assert_int_equal(f->st[1], KDR_ERR_UNSUPPORTED);
	assert_non_null(strstr(f->error[0], "graph=landmarks"));
	free(f);
	samples_free(s);
}

/* --- runs alone, and clusters that are carried over ------------------------------------------------------------- */

/* kdr_cluster. The first data set is small, so that it takes over clusters of the second one. */
static void cluster_rows(kdr_context *ctx, int rank, void *user)
{
	fitted *f = user;
	int64_t *rowptr[TASKS];
	kdr_data *data[TASKS] = { NULL };
	kdr_options *options = NULL;
	kdr_result *result = NULL;
	kdr_job_options o;
	kdr_status st;
	kdr_job_options_init(&o);
	o.k = f->how->unknown ? 0 : K;
	o.k_to = f->how->most_k;
	kdr_context_set_progress(ctx, lose_patience, &f->patience[rank]);
	kdr_context_set_time_limit(ctx, f->limit[rank]);
	for (int t = 0; t < TASKS; t++)
		rowptr[t] = malloc((MOST_N + 1) * sizeof(int64_t));
	kdri_enter(ctx);
	for (int t = 0; t < TASKS; t++) {
		kdr_mat x = part_of(f->s, f->cut, t, rank, rowptr[t]);
		KDRI_TRY(kdr_data_new(ctx, t ? "b" : "a", &x, NULL, &data[t]));
	}
	KDRI_TRY(kdr_options_new(ctx, "auto", &options));
	KDRI_TRY(kdr_options_set(ctx, options, "graph", "landmarks"));
	for (int i = 0; i < 6 && f->how->set[i]; i += 2)
		KDRI_TRY(kdr_options_set(ctx, options, f->how->set[i], f->how->set[i + 1]));
	o.settings = options;
	KDRI_TRY(kdr_cluster(ctx, data, TASKS, &o, &result));
	keep_result(f, rank, result);
	const kdr_sharing sharing = kdr_result_sharing(result, 0);
	if (rank == 0 && f->fields < MOST_FIELDS) {
		f->number[f->fields] = isnan(sharing.apart) ? -1 : sharing.apart;
		snprintf(f->field[f->fields++], sizeof f->field[0], "%s, %s, %d",
		         sharing.from ? sharing.from : "none", sharing.reason, (int)sharing.moved);
	}
done:
	f->st[rank] = kdri_leave(ctx, st);
	snprintf(f->error[rank], sizeof f->error[rank], "%s", kdr_context_error(ctx));
	kdr_result_free(result);
	kdr_options_free(options);
	for (int t = 0; t < TASKS; t++) {
		kdr_data_free(data[t]);
		free(rowptr[t]);
	}
}

/* units: columns of a table, in different units. */
static samples *small_and_large(int64_t small, int64_t large, int64_t d, bool sparse, bool units)
{
	static const double unit[] = { 1, 30, 0.02 };
	samples *s = samples_new(large, d, sparse);
	for (int t = 0; t < TASKS && units; t++)
		for (int64_t p = 0; p < s->n[t] * d; p++)
			s->dense[t][p] *= unit[p % d % 3];
	s->n[0] = small;
	s->n[1] = large;
	return s;
}

/* The last field says what data set a has from b. */
static bool shares(const fitted *f, const char *how)
{
	return f->fields > 0 && strncmp(f->field[f->fields - 1], how, strlen(how)) == 0;
}

static void cluster__runs_alone_on_ranks__those_of_one_process(void **state)
{
	(void)state;
	static const struct {
		int64_t small, large, d;
		bool sparse, units;
		const char *says;
		trial how;
	} trials[] = {
		{ 48, 240, 9, false, false, "b, ", { .set = { "seeds", "1" } } },
		{ 60, 1100, 40, true, false, "b, ", { .set = { "seeds", "1" } } },
		{ 48,
		  240,
		  9,
		  false,
		  false,
		  "none, transfer was switched off, 0",
		  { .set = { "seeds", "1", "transfer", "0" } } },
		{ 48,
		  240,
		  9,
		  false,
		  false,
		  "b, ",
		  { .set = { "seeds", "1", "k_max", "5" }, .unknown = true } },
		{ 48,
		  120,
		  200,
		  true,
		  false,
		  "none, transfer was switched off, 0",
		  { .set = { "transfer", "0", "k_max", "5" }, .unknown = true } },
		{ 48, 120, 9, false, true, "none, clusters of tables", { .set = { "seeds", "1" } } },
		{ 48,
		  120,
		  9,
		  false,
		  true,
		  "none, transfer was switched off, 0",
		  { .set = { "transfer", "0" } } },
		{ 48,
		  120,
		  200,
		  true,
		  false,
		  "none, transfer was switched off, 0",
		  { .set = { "seeds", "1", "transfer", "0" }, .most_k = K + 1 } },
		{ 48,
		  120,
		  9,
		  false,
		  false,
		  "none, clusters are not carried over with",
		  { .set = { "seeds", "1" }, .most_k = K + 1 } },
	};
	for (int i = 0; i < (int)(sizeof trials / sizeof trials[0]); i += UNIT_SANITIZED ? 2 : 1) {
		samples *s = small_and_large(trials[i].small, trials[i].large, trials[i].d, trials[i].sparse,
		                             trials[i].units);
		trial how = trials[i].how;
		fitted *one = calloc(1, sizeof *one);
		how.method = "auto";
		compare_cuts(s, &how, cluster_rows, 1 + i % 4, 2 + i % 4, one);
		if (!shares(one, trials[i].says))
			fail_msg("trial %d: %s", i, one->field[one->fields - 1]);
		free(one);
		samples_free(s);
	}
}

static void cluster__one_rank_fails__all_say_so(void **state)
{
	(void)state;
	static const trial how = { .method = "auto", .set = { "landmarks", "20", "seeds", "1" } };
	samples *s = small_and_large(40, 160, 9, false, false);
	int failed[2] = { 0 };
	for (int who = 0; who < 2; who++) /* rank 0 does more than others */
		for (long allowed = 2;; allowed += 1 + allowed / (UNIT_SANITIZED ? 2 : 5)) {
			failing fails = { .allowed = allowed };
			kdr_allocator bad = { failing_alloc, failing_realloc, failing_free, &fails };
			const kdr_allocator *allocators[] = { NULL, NULL, NULL };
			fitted *f = calloc(1, sizeof *f);
			*f = (fitted){ .s = s, .cut = cuts[2], .how = &how };
			allocators[who] = &bad;
			crew_run(3, cluster_rows, f, allocators);
			assert_int_equal(fails.live, 0);
			const bool well = f->st[1] == KDR_OK;
			for (int r = 0; r < 3; r++) {
				assert_int_equal(f->st[r], f->st[1]);
				assert_string_equal(f->error[r], f->error[2]);
			}
			failed[who] += !well;
			free(f);
			if (well)
				break;
		}
	assert_true(failed[0] > 20 && failed[1] > 20);
	samples_free(s);
}

static void cluster__one_rank_wants_to_stop__all_do(void **state)
{
	(void)state;
	static const trial how = { .method = "auto", .set = { "landmarks", "40", "seeds", "1" } };
	static const trial apart = { .method = "auto",
		                     .set = { "landmarks", "40", "seeds", "1", "transfer", "0" } };
	samples *s = small_and_large(40, 160, 9, false, false);
	for (int turn = 0; turn < 12; turn += UNIT_SANITIZED ? 3 : 1) {
		fitted *f = calloc(1, sizeof *f);
		*f = (fitted){ .s = s, .cut = cuts[2], .how = turn < 8 ? &how : &apart };
		if (turn < 8)
			f->patience[turn % 2] = 1 + 9 * turn * turn;
		for (int r = 0; r < 3 && turn >= 8; r++)
			f->limit[r] = 0.02 * (turn - 7) * (turn - 7) * (r + 1);
		crew_run(3, cluster_rows, f, NULL);
		for (int r = 0; r < 3; r++) {
			if (f->st[r] != f->st[0])
				fail_msg("turn %d, rank %d: %s", turn, r, f->error[r]);
			assert_int_equal(f->stop[r], f->stop[0]);
		}
		free(f);
	}
	samples_free(s);
}

/* --- preprocessing chosen by the data -------------------------------------------------------------------------- */

typedef struct looks {
	const double *x; /* n x d */
	int64_t n, d;
	const int *cut;
	kdr_status st[MOST_RANKS];
	kdr_data_kind kind[MOST_RANKS];
} looks;

static void find_recipe(kdr_context *ctx, int rank, void *user)
{
	looks *f = user;
	int sum = 0;
	for (int r = 0; r < rank; r++)
		sum += f->cut[r + 1];
	int64_t first = f->n * sum / 100, last = f->n * (sum + f->cut[rank + 1]) / 100;
	kdr_mat x = kdr_mat_from_dense(f->x + first * f->d, last - first, f->d);
	kdr_data *data = NULL;
	kdr_recipe recipe = { 0 };
	f->st[rank] = kdr_data_new(ctx, "x", &x, NULL, &data);
	if (f->st[rank] == KDR_OK)
		f->st[rank] = kdr_recipe_find(ctx, &data, 1, &recipe);
	f->kind[rank] = recipe.kind;
	kdr_data_free(data);
}

/* Entry (i, j) of samples that look like `kind`. */
static double looks_like(kdr_data_kind kind, kdri_rng *rng, int64_t i, int64_t j)
{
	double v = kdri_rng_normal(rng);
	switch (kind) {
	case KDR_DATA_DENSE: return fabs(v);
	case KDR_DATA_SPARSE: return kdri_rng_below(rng, 20) ? 0 : fabs(v);
	case KDR_DATA_MEASUREMENTS: return v;
	case KDR_DATA_UNITS: return v * (j == 0 ? 100 : 1);
	case KDR_DATA_WORDS: return kdri_rng_below(rng, 20) ? 0 : ceil(fabs(v));
	case KDR_DATA_MOLECULES:
		return i == 0 && j == 0 ? 9000 : kdri_rng_below(rng, 3) ? 0 : ceil(60 * fabs(v));
	default: return ceil(2 * fabs(v)); /* histograms */
	}
}

static void recipe__rows_on_ranks__that_of_all_rows(void **state)
{
	(void)state;
	enum { ROWS = 150 };
	static double x[ROWS * 100];
	for (int kind = KDR_DATA_DENSE; kind <= KDR_DATA_HISTOGRAMS; kind++) {
		int64_t d = kind == KDR_DATA_MEASUREMENTS || kind == KDR_DATA_UNITS ? 4 : 100;
		kdri_rng rng = kdri_rng_stream(4, "looks", (uint64_t)kind);
		for (int64_t i = 0; i < ROWS; i++)
			for (int64_t j = 0; j < d; j++)
				x[i * d + j] = looks_like((kdr_data_kind)kind, &rng, i, j);
		for (int c = 0; c < CUTS; c++) {
			looks f = { .x = x, .n = ROWS, .d = d, .cut = cuts[c] };
			crew_run(cuts[c][0], find_recipe, &f, NULL);
			for (int r = 0; r < cuts[c][0]; r++) {
				assert_int_equal(f.st[r], KDR_OK);
				assert_int_equal(f.kind[r], kind);
			}
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(views__rows_on_ranks__those_of_one_process),
		cmocka_unit_test(directions__of_many_columns__same_labels),
		cmocka_unit_test(auto__rows_on_ranks__that_of_one_process),
		cmocka_unit_test(auto__one_rank_wants_to_stop__all_do),
		cmocka_unit_test(auto__one_rank_without_memory__all_say_so),
		cmocka_unit_test(auto__neighbours_on_several_ranks__refused),
		cmocka_unit_test(cluster__runs_alone_on_ranks__those_of_one_process),
		cmocka_unit_test(cluster__one_rank_fails__all_say_so),
		cmocka_unit_test(cluster__one_rank_wants_to_stop__all_do),
		cmocka_unit_test(recipe__rows_on_ranks__that_of_all_rows),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
