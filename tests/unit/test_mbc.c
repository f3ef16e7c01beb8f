/* mbc and bregman: what must hold for any tasks. The golden cases are in test_mbc_golden.c. */
#include "tests/unit/unit.h"

#include "engine/kmeans/kmeans.h"
#include "methods/mbc/mbc.h"

enum { MOST = 5 };
static const char *const divergences[] = { "sqeuclidean", "mahalanobis", "kl", "is" };

/* Random tasks around shared centres; positive, so that every divergence takes them. */
typedef struct tasks {
	int64_t count, d;
	double *x[MOST];
	int64_t *rowptr[MOST], *init[MOST];
	int32_t *col[MOST];
	kdr_task list[MOST];
} tasks;

static void make(tasks *p, uint64_t seed, int64_t count, int64_t d, bool sparse)
{
	kdri_rng rng = kdri_rng_stream(seed, "test_mbc", 0);
	*p = (tasks){ .count = count, .d = d };
	for (int64_t t = 0; t < count; t++) {
		int64_t n = 3 + kdri_rng_below(&rng, 60), k = 1 + kdri_rng_below(&rng, KDRI_MIN(n, 6));
		p->x[t] = calloc((size_t)(n * d), sizeof(double));
		p->rowptr[t] = malloc((size_t)(n + 1) * sizeof(int64_t));
		p->col[t] = malloc((size_t)(n * d) * sizeof(int32_t));
		p->init[t] = malloc((size_t)n * sizeof(int64_t));
		p->rowptr[t][0] = 0;
		for (int64_t i = 0; i < n; i++) {
			int64_t c = kdri_rng_below(&rng, 4);
			/* Some labels are never used: empty clusters at the start. */
			p->init[t][i] = kdri_rng_below(&rng, kdri_rng_below(&rng, 3) ? k : (k + 1) / 2);
			p->rowptr[t][i + 1] = (i + 1) * d;
			for (int64_t f = 0; f < d; f++) {
				p->x[t][i * d + f] = 0.05 + kdri_rng_uniform(&rng) + 3 * (double)(f % 4 == c);
				p->col[t][i * d + f] = (int32_t)f;
			}
		}
		static const char *const names[] = { "a", "b", "c", "d", "e" };
		p->list[t] =
		        (kdr_task){ .name = names[t],
			            .x = sparse ? kdr_mat_from_csr(n, d, p->rowptr[t], p->col[t], p->x[t])
			                        : kdr_mat_from_dense(p->x[t], n, d),
			            .k = k,
			            .init = p->init[t] };
	}
}

static void release(tasks *p)
{
	for (int64_t t = 0; t < p->count; t++) {
		free(p->x[t]);
		free(p->rowptr[t]);
		free(p->col[t]);
		free(p->init[t]);
	}
}

static void drop_init(tasks *p)
{
	for (int64_t t = 0; t < p->count; t++)
		p->list[t].init = NULL;
}

/* Options as name, value, ..., NULL. */
static kdr_status try_fit(kdr_context *ctx, const char *method, const tasks *p, kdr_result **out, ...)
{
	kdr_options *o = NULL;
	kdr_problem problem = { .size = sizeof(kdr_problem), .tasks = p->list, .ntasks = p->count };
	assert_ok(ctx, kdr_options_new(ctx, method, &o));
	va_list list;
	va_start(list, out);
	for (const char *name; (name = va_arg(list, const char *));)
		assert_ok(ctx, kdr_options_set(ctx, o, name, va_arg(list, const char *)));
	va_end(list);
	kdr_status st = kdr_fit(ctx, method, &problem, o, out);
	kdr_options_free(o);
	return st;
}

#define assert_fit(ctx, method, p, out, ...) assert_ok(ctx, try_fit(ctx, method, p, out, __VA_ARGS__, NULL))

static const double *array(const kdr_result *r, const char *name, int64_t task)
{
	const double *data = kdr_result_array(r, name, task).data;
	if (!data)
		fail_msg("no array %s of task %lld", name, (long long)task);
	return data;
}

static double field(const kdr_result *r, const char *name)
{
	for (int64_t i = 0; i < kdr_result_field_count(r); i++) {
		double value;
		const char *unused;
		if (strcmp(kdr_result_field_at(r, i, &value, &unused), name) == 0)
			return value;
	}
	return NAN;
}

static void assert_same_labels(const kdr_result *a, const kdr_result *b, const char *what)
{
	for (int64_t t = 0; t < kdr_result_ntasks(a); t++) {
		int64_t n;
		const int64_t *x = kdr_result_labels(a, t, &n), *y = kdr_result_labels(b, t, &n);
		if (memcmp(x, y, (size_t)n * sizeof *x) != 0)
			fail_msg("labels of task %lld differ: %s", (long long)t, what);
	}
}

/* --- descent ------------------------------------------------------------------------------------------ */

static void sweeps__random_tasks__every_step_descends(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	static const char *const lambdas[] = { "0", "0.1", "0.5", "3", "100" };
	for (uint64_t seed = 0; seed < 60; seed++)
		for (int v = 0; v < 4; v++)
			for (int walk = 0; walk < 2; walk++) {
				tasks p;
				kdr_result *r = NULL;
				make(&p, seed, 1 + (int64_t)(seed % 5), 2 + (int64_t)(seed % 7), seed % 2);
				assert_fit(ctx, "mbc", &p, &r, "divergence", divergences[v], "lambda",
				           lambdas[seed % 5], "tol", "0", "max_iter", "40", "u_step",
				           walk ? "geodesic" : "exact", "alone", "false");
				const double *steps = array(r, "steps", -1);
				double last = field(r, "objective_start");
				for (int64_t i = 0; i < 3 * kdr_result_iterations(r); i++) {
					assert_true(isfinite(steps[i]) && steps[i] >= 0);
					if (steps[i] > last + 1e-11 * (1 + fabs(last)))
						fail_msg("%s, seed %d: step %lld rises from %.17g to %.17g",
						         divergences[v], (int)seed, (long long)i, last,
						         steps[i]);
					last = steps[i];
				}
				kdr_result_free(r);
				release(&p);
			}
	kdr_context_free(ctx);
}

/* The objective from its definition alone: labels, centroids and relations of the result. */
static double direct(const tasks *p, const kdr_result *r, const kdri_divergence *v, double lambda)
{
	double sum = 0;
	for (int64_t t = 0; t < p->count; t++) {
		int64_t n;
		const int64_t *labels = kdr_result_labels(r, t, &n);
		const double *c = array(r, "centroids", t);
		for (int64_t i = 0; i < n; i++)
			sum += v->between(p->x[t] + i * p->d, c + labels[i] * p->d, p->d) / (double)n;
	}
	for (int64_t i = 0; i < kdr_result_correspondence_count(r); i++) {
		kdr_correspondence m = kdr_result_correspondence_at(r, i);
		const double *a = array(r, "centroids", m.from), *b = array(r, "centroids", m.to);
		for (int64_t z = 0; z < m.rows; z++)
			for (int64_t l = 0; l < m.cols; l++)
				sum += (v->symmetric ? 2 : 1) * lambda / (double)(p->count - 1) *
				       m.matrix[z * m.cols + l] *
				       v->between(a + z * p->d, b + l * p->d, p->d);
	}
	return sum;
}

static void objective__last_value__is_its_definition(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	for (uint64_t seed = 0; seed < 20; seed++)
		for (int v = 0; v < 4; v++) {
			tasks p;
			kdr_result *r = NULL;
			int64_t n;
			if (v == KDRI_MAHALANOBIS || v == KDRI_KL)
				continue; /* the samples of the model are not the data's: the golden cases do
				           */
			make(&p, seed, 1 + (int64_t)(seed % 4), 5, false);
			assert_fit(ctx, "mbc", &p, &r, "divergence", divergences[v], "lambda", "0.7", "tol",
			           "1e-14", "max_iter", "500");
			const double *j = kdr_result_objective(r, &n);
			/* At the end the last W and the recomputed one give the same value. */
			assert_near(direct(&p, r, &kdri_divergences[v], 0.7), j[n - 1], 1e-9 * j[n - 1]);
			kdr_result_free(r);
			release(&p);
		}
	kdr_context_free(ctx);
}

static void relations__every_pair__have_their_marginals(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	for (uint64_t seed = 0; seed < 20; seed++)
		for (int v = 0; v < 4; v++) {
			tasks p;
			kdr_result *r = NULL;
			make(&p, seed, 2 + (int64_t)(seed % 4), 4, false);
			assert_fit(ctx, "mbc", &p, &r, "divergence", divergences[v]);
			int64_t pairs = p.count * (p.count - 1) / (kdri_divergences[v].symmetric ? 2 : 1);
			assert_int_equal(kdr_result_correspondence_count(r), pairs);
			for (int64_t i = 0; i < pairs; i++) {
				kdr_correspondence m = kdr_result_correspondence_at(r, i);
				for (int64_t z = 0; z < m.rows; z++) {
					double sum = 0;
					for (int64_t l = 0; l < m.cols; l++) {
						assert_true(m.matrix[z * m.cols + l] >= 0);
						sum += m.matrix[z * m.cols + l];
					}
					assert_near(sum, 1 / (double)m.rows, 1e-12);
				}
				for (int64_t l = 0; l < m.cols; l++) {
					double sum = 0;
					for (int64_t z = 0; z < m.rows; z++)
						sum += m.matrix[z * m.cols + l];
					assert_near(sum, 1 / (double)m.cols, 1e-12);
				}
			}
			kdr_result_free(r);
			release(&p);
		}
	kdr_context_free(ctx);
}

/* --- lambda = 0 ------------------------------------------------------------------------------------------
 */

/* A sweep is stopped between two pairs of tasks; the report on the pairs is complete. */
static void sweeps__no_time__are_left_early_with_all_relations(void **state)
{
	(void)state;
	for (int v = 0; v < 4; v++) {
		kdr_context *ctx = unit_context();
		tasks p;
		kdr_result *r = NULL;
		make(&p, 70, 4, 5, false);
		kdr_context_set_time_limit(ctx, 1e-9);
		assert_ok(ctx, try_fit(ctx, "mbc", &p, &r, "divergence", divergences[v], NULL));
		assert_int_equal(kdr_result_stop(r), KDR_STOP_TIME);
		const double *steps = kdr_result_array(r, "steps", -1).data;
		assert_true(steps[0] == steps[1] && steps[1] == steps[2]);
		assert_true(kdr_result_correspondence_count(r) > 0);
		for (int64_t i = 0; i < kdr_result_correspondence_count(r); i++) {
			const kdr_correspondence c = kdr_result_correspondence_at(r, i);
			double sum = 0;
			for (int64_t j = 0; j < c.rows * c.cols; j++)
				sum += c.matrix[j];
			assert_float_equal(sum, 1, 1e-9);
		}
		kdr_result_free(r);
		release(&p);
		kdr_context_free(ctx);
	}
}

static void lambda_zero__any_divergence__equals_bregman(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	for (uint64_t seed = 0; seed < 20; seed++)
		for (int v = 0; v < 4; v++) {
			tasks p;
			kdr_result *joint = NULL, *alone = NULL;
			/* mbc pools the covariance over the tasks, bregman has one for each. */
			make(&p, seed, v == KDRI_MAHALANOBIS ? 1 : 3, 4, false);
			assert_fit(ctx, "mbc", &p, &joint, "divergence", divergences[v], "lambda", "0", "tol",
			           "0", "max_iter", "200");
			assert_fit(ctx, "bregman", &p, &alone, "divergence", divergences[v], "tol", "0",
			           "max_iter", "200");
			assert_same_labels(joint, alone, divergences[v]);
			for (int64_t t = 0; t < p.count; t++)
				assert_near(array(joint, "local_loss", -1)[t],
				            array(alone, "local_loss", -1)[t], 1e-12);
			if (p.count > 1)
				for (int64_t t = 0; t < p.count; t++)
					assert_near(array(joint, "local_loss", -1)[t],
					            array(joint, "local_loss_alone", -1)[t], 1e-12);
			kdr_result_free(joint);
			kdr_result_free(alone);
			release(&p);
		}
	kdr_context_free(ctx);
}

/* Was some cluster without samples after any of the sweeps? */
static bool ever_empty(kdr_context *ctx, const tasks *p, int64_t sweeps)
{
	bool empty = false;
	for (int64_t i = 1; i <= sweeps; i++) {
		kdr_result *r = NULL;
		char most[16];
		snprintf(most, sizeof most, "%d", (int)i);
		assert_fit(ctx, "mbc", p, &r, "lambda", "0", "tol", "0", "max_iter", most);
		empty |= kdr_result_warning_count(r) > 0;
		kdr_result_free(r);
	}
	return empty;
}

static void lambda_zero__squared_euclidean__equals_kmeans(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	int compared = 0;
	for (uint64_t seed = 0; seed < 60; seed++) {
		tasks p;
		kdr_result *r = NULL;
		make(&p, seed, 1, 4, seed % 2);
		int64_t n = kdr_mat_rows(&p.list[0].x), k = p.list[0].k;
		for (int64_t i = 0; i < n; i++)
			p.init[0][i] = i % k;
		assert_fit(ctx, "mbc", &p, &r, "lambda", "0", "tol", "0", "max_iter", "300");
		kdri_kmeans_options o = kdri_kmeans_defaults(k);
		kdri_kmeans_result km = { 0 };
		o.init_labels = p.init[0];
		o.tol = 0;
		assert_ok(ctx, kdri_kmeans(ctx, &p.list[0].x, NULL, &o, &km));
		const int64_t *labels = kdr_result_labels(r, 0, &n);
		bool full = !ever_empty(ctx, &p, kdr_result_iterations(r));
		/* k-means moves a sample into a cluster that has emptied; here it stays empty. */
		if (full) {
			assert_memory_equal(labels, km.labels, (size_t)n * sizeof *labels);
			assert_near(array(r, "local_loss", -1)[0], km.objective / (double)n, 1e-12);
			const double *c = array(r, "centroids", 0);
			for (int64_t i = 0; i < k * p.d; i++)
				assert_near(c[i], km.centres[i], 1e-12);
			compared++;
		}
		kdri_kmeans_free(ctx, &km);
		kdr_result_free(r);
		release(&p);
	}
	assert_true(compared > 40);
	kdr_context_free(ctx);
}

/* --- centroids -------------------------------------------------------------------------------------------
 */

static void random_point(kdri_rng *rng, int64_t d, bool simplex, double *p)
{
	double sum = 0;
	for (int64_t f = 0; f < d; f++)
		sum += p[f] = exp(3 * kdri_rng_normal(rng));
	for (int64_t f = 0; f < d && simplex; f++)
		p[f] /= sum;
}

static void centroid__exact__no_feasible_point_nearby_is_better(void **state)
{
	(void)state;
	kdri_rng rng = kdri_rng_stream(5, "centroid", 0);
	for (int round = 0; round < unit_turns(200); round++)
		for (int v = 0; v < 4; v++) {
			enum { D = 20 };
			const kdri_divergence *div = &kdri_divergences[v];
			int64_t d = 1 + kdri_rng_below(&rng, D);
			double left[D], right[D], c[D], near[D], room[4 * D];
			random_point(&rng, d, div->simplex, left);
			random_point(&rng, d, div->simplex, right);
			if (round % 5 == 0 && div->simplex && d > 2) {
				left[1] += left[0]; /* a zero on the left has its own formula */
				left[0] = 0;
			}
			kdri_two_point pull = { exp(4 * kdri_rng_normal(&rng)),
				                exp(4 * kdri_rng_normal(&rng)),
				                left,
				                right,
				                d,
				                room,
				                NULL };
			div->centroid(&pull, c);
			double sum = 0, best = kdri_two_point_value(div, &pull, c);
			for (int64_t f = 0; f < d; f++)
				sum += c[f];
			if (div->simplex)
				assert_near(sum, 1, 1e-12);
			assert_true(isfinite(best));
			for (int i = 0; i < 1000; i++) {
				double step = pow(10, -6 * kdri_rng_uniform(&rng)), total = 0;
				for (int64_t f = 0; f < d; f++)
					total += near[f] = c[f] * exp(step * kdri_rng_normal(&rng));
				for (int64_t f = 0; f < d && div->simplex; f++)
					near[f] /= total;
				double value = kdri_two_point_value(div, &pull, near);
				if (value < best - 1e-12 * (pull.a + pull.b + best))
					fail_msg("%s: %.17g beats %.17g", div->name, value, best);
			}
			if (left[0] == 0)
				continue; /* the geodesic cannot leave there */
			/* Its best point is no better either. */
			kdri_geodesic_centroid(div, &pull, near);
			double walked = kdri_two_point_value(div, &pull, near);
			if (walked < best - 1e-12 * (pull.a + pull.b + best))
				fail_msg("%s: %.17g on the geodesic beats %.17g (a %g, b %g, d %d)",
				         div->name, walked, best, pull.a, pull.b, (int)d);
		}
}

/* A point of the simplex whose entries lie up to e^-range apart, some of them 0. */
static void wide_point(kdri_rng *rng, int64_t d, double range, bool zeros, double *p)
{
	double sum = 0;
	for (int64_t f = 0; f < d; f++) {
		bool none = zeros && f > 0 && kdri_rng_below(rng, 4) == 0;
		sum += p[f] = none ? 0 : exp(-range * kdri_rng_uniform(rng));
	}
	for (int64_t f = 0; f < d; f++)
		p[f] /= sum;
}

static void kl_centroid__any_start__the_same_stationary_point(void **state)
{
	(void)state;
	enum { D = 700 };
	static double left[D], right[D], c[D], other[D], room[4 * D];
	kdri_rng rng = kdri_rng_stream(9, "centroid", 0);
	const kdri_divergence *kl = &kdri_divergences[KDRI_KL];
	for (int round = 0; round < unit_turns(300); round++) {
		int64_t d = 1 + kdri_rng_below(&rng, D);
		double range = round % 3 ? 20 : 200, a = exp(5 * kdri_rng_normal(&rng)), start = NAN;
		wide_point(&rng, d, range, round % 2, left);
		wide_point(&rng, d, range, false, right);
		kdri_two_point pull = { a, 1, left, right, d, room, &start };
		kl->centroid(&pull, c);
		/* a (1 - left / c) + ln(c / right) is the same for all coordinates. */
		double first = 0, sum = 0, tau = start;
		for (int64_t f = 0; f < d; f++) {
			if (c[f] < 1e-300) { /* too small for all its digits */
				assert_true(log(right[f]) - tau < -690);
				continue;
			}
			double slope = log(c[f] / right[f]) - (left[f] > 0 ? a * left[f] / c[f] : 0);
			sum += c[f];
			first = first != 0 ? first : slope;
			assert_near(slope, first, 1e-12 * (1 + a + fabs(slope) + a * left[f] / c[f]));
		}
		assert_near(sum, 1, 1e-13);
		double starts[] = { tau, tau + 1e-3, tau - 0.4, tau + 3, a, a + 100, tau - 60, INFINITY };
		for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
			start = starts[i];
			kl->centroid(&pull, other);
			assert_near(start, tau, 1e-11 * (1 + fabs(tau)));
			for (int64_t f = 0; f < d; f++)
				assert_near(other[f], c[f], 1e-11 * c[f]);
		}
	}
}

static void divergence__table__is_a_bregman_divergence(void **state)
{
	(void)state;
	kdri_rng rng = kdri_rng_stream(6, "divergence", 0);
	for (int round = 0; round < unit_turns(500); round++)
		for (int v = 0; v < 4; v++) {
			enum { D = 6 };
			const kdri_divergence *div = &kdri_divergences[v];
			double p[D], q[D], m[D], gq[D], gm[D], back[D], by = 0;
			assert_string_equal(div->name, kdri_divergence_names[v]);
			random_point(&rng, D, div->simplex, p);
			random_point(&rng, D, div->simplex, q);
			random_point(&rng, D, div->simplex, m);
			/* The three-point identity, which holds for these alone:
			 * d(p || q) = d(p || m) + d(m || q) - <grad q - grad m, p - m>. */
			div->gradient(q, D, gq);
			div->gradient(m, D, gm);
			for (int f = 0; f < D; f++)
				by += (gq[f] - gm[f]) * (p[f] - m[f]);
			double pq = div->between(p, q, D), pm = div->between(p, m, D),
			       mq = div->between(m, q, D);
			assert_near(pq, pm + mq - by, 1e-9 * (pq + pm + mq + fabs(by)));
			assert_near(div->between(p, p, D), 0, 1e-12 * (1 + pq));
			div->inverse(gq, D, back);
			for (int f = 0; f < D; f++)
				assert_near(back[f], q[f], 1e-12 * (1 + q[f]));
			double sum = 0;
			for (int f = 0; f < D; f++)
				sum += div->term(p[f], q[f]);
			assert_near(pq, sum, 1e-12 * (1 + pq));
		}
}

/* --- data
 * ---------------------------------------------------------------------------------------------------- */

static void fit__dense_and_sparse__same_result(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	for (uint64_t seed = 0; seed < 20; seed++)
		for (int v = 0; v < 4; v++)
			for (int random = 0; random < 2; random++) {
				tasks p, q;
				kdr_result *a = NULL, *b = NULL;
				int64_t n, m;
				make(&p, seed, 2, 5, false);
				make(&q, seed, 2, 5, true);
				/* Zeros, where a divergence has a use for them. */
				for (int64_t t = 0; t < 2 && v != KDRI_MAHALANOBIS; t++) {
					int64_t at = 0, rows = kdr_mat_rows(&p.list[t].x);
					for (int64_t i = 0; i < rows; i++) {
						q.rowptr[t][i] = at;
						for (int64_t f = 0; f < 5; f++) {
							double *x = &p.x[t][i * 5 + f];
							if (*x < 0.5)
								*x = 0;
							if (*x > 0) {
								q.x[t][at] = *x;
								q.col[t][at++] = (int32_t)f;
							}
						}
					}
					q.rowptr[t][rows] = at;
				}
				if (random)
					drop_init(&p), drop_init(&q);
				static const char *const start[] = { "kmeans++", "random" };
				assert_fit(ctx, "mbc", &p, &a, "divergence", divergences[v], "floor", "0.01",
				           "start", start[seed % 2], "n_init", "2");
				assert_fit(ctx, "mbc", &q, &b, "divergence", divergences[v], "floor", "0.01",
				           "start", start[seed % 2], "n_init", "2");
				assert_same_labels(a, b, divergences[v]);
				const double *x = kdr_result_objective(a, &n),
				             *y = kdr_result_objective(b, &m);
				assert_int_equal(n, m);
				for (int64_t i = 0; i < n; i++)
					assert_near(x[i], y[i], 1e-9 * (1 + x[i]));
				kdr_result_free(a);
				kdr_result_free(b);
				release(&p);
				release(&q);
			}
	kdr_context_free(ctx);
}

static void fit__threads_and_runs__same_bits(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	enum { N = 3000, D = 40, K = 12 };
	double *x = malloc(sizeof(double) * 2 * N * D);
	kdri_rng rng = kdri_rng_stream(9, "threads", 0);
	for (int64_t i = 0; i < 2 * N * D; i++)
		x[i] = 0.1 + kdri_rng_uniform(&rng) + 2 * (double)(i % D == i / D % 7);
	tasks p = { .count = 2, .d = D };
	for (int64_t t = 0; t < 2; t++)
		p.list[t] = (kdr_task){ .name = t ? "b" : "a",
			                .x = kdr_mat_from_dense(x + t * N * D, N, D),
			                .k = K - t };
	for (int v = 0; v < 4; v++) {
		kdr_result *one = NULL, *many = NULL;
		int64_t n, m;
		kdr_context_set_threads(ctx, 1);
		assert_fit(ctx, "mbc", &p, &one, "divergence", divergences[v], "n_init", "2", "max_iter",
		           "15");
		kdr_context_set_threads(ctx, 3);
		assert_fit(ctx, "mbc", &p, &many, "divergence", divergences[v], "n_init", "2", "max_iter",
		           "15");
		assert_same_labels(one, many, divergences[v]);
		const double *a = kdr_result_objective(one, &n), *b = kdr_result_objective(many, &m);
		assert_int_equal(n, m);
		assert_memory_equal(a, b, (size_t)n * sizeof *a);
		kdr_result_free(one);
		kdr_result_free(many);
	}
	free(x);
	kdr_context_free(ctx);
}

static void s_nmi__same_samples__is_reported(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	tasks p;
	kdr_result *r = NULL;
	make(&p, 3, 2, 4, false);
	kdr_task first = p.list[0];
	p.list[1] = first;
	p.list[1].name = "b";
	assert_fit(ctx, "mbc", &p, &r, "lambda", "0.5");
	/* The same samples from the same start have the same partition. */
	assert_near(field(r, "s_nmi.a.b"), 1, 1e-12);
	assert_near(field(r, "d_m_uniform.a.b"), 0, 1e-6);
	kdr_result_free(r);
	release(&p);
	make(&p, 4, 2, 4, false);
	r = NULL;
	assert_fit(ctx, "mbc", &p, &r, "lambda", "0.5");
	assert_true(isnan(field(r, "s_nmi.a.b")));
	kdr_result_free(r);
	release(&p);
	kdr_context_free(ctx);
}

/* --- predict
 * ------------------------------------------------------------------------------------------------- */

static void predict__fitted_samples__keep_the_nearest_centroid(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	for (uint64_t seed = 0; seed < 10; seed++)
		for (int v = 0; v < 4; v++) {
			tasks p;
			kdr_result *r = NULL;
			kdr_options *o = NULL;
			make(&p, seed, 2, 4, seed % 2);
			drop_init(&p);
			assert_fit(ctx, "mbc", &p, &r, "divergence", divergences[v], "tol", "0", "max_iter",
			           "500");
			assert_ok(ctx, kdr_options_new(ctx, "mbc", &o));
			assert_ok(ctx, kdr_options_set(ctx, o, "divergence", divergences[v]));
			for (int64_t t = 0; t < 2; t++) {
				int64_t n, labels[64];
				const int64_t *fitted = kdr_result_labels(r, t, &n);
				assert_ok(ctx,
				          kdri_algo_find("mbc")->predict(ctx, r, o, t, &p.list[t].x, labels));
				if (kdr_result_stop(r) == KDR_STOP_CONVERGED)
					assert_memory_equal(labels, fitted, (size_t)n * sizeof *labels);
			}
			kdr_options_free(o);
			kdr_result_free(r);
			release(&p);
		}
	kdr_context_free(ctx);
}

/* --- bad input
 * ------------------------------------------------------------------------------------------------ */

static void assert_refused(kdr_context *ctx, const tasks *p, const char *divergence, const char *name,
                           const char *value, const char *words)
{
	kdr_result *r = NULL;
	kdr_status st = try_fit(ctx, "mbc", p, &r, "divergence", divergence, name, value, NULL);
	assert_int_not_equal(st, KDR_OK);
	assert_null(r);
	if (!strstr(kdr_context_error(ctx), words))
		fail_msg("'%s' does not say '%s'", kdr_context_error(ctx), words);
}

static void fit__outside_the_domain__names_the_entry(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	tasks p;
	make(&p, 1, 2, 4, false);
	double keep = p.x[1][2 * 4 + 3];
	p.x[1][2 * 4 + 3] = 0;
	assert_refused(ctx, &p, "is", "tol", "0",
	               "data set b: row 3, column 4 is 0, but divergence is needs values > 0");
	assert_refused(ctx, &p, "kl", "smooth", "0",
	               "data set b: row 3, column 4 is 0, but divergence kl needs");
	p.x[1][2 * 4 + 3] = -1;
	assert_refused(ctx, &p, "is", "tol", "0", "row 3, column 4 is -1");
	assert_refused(ctx, &p, "kl", "tol", "0",
	               "row 3, column 4 is -1, but divergence kl needs values >= 0");
	p.x[1][2 * 4 + 3] = keep;
	for (int64_t f = 0; f < 4; f++)
		p.x[0][4 + f] = 0;
	assert_refused(ctx, &p, "kl", "tol", "0", "data set a: row 2 sums to 0");
	for (int64_t t = 0; t < 2; t++)
		for (int64_t i = 0; i < kdr_mat_rows(&p.list[t].x) * 4; i++)
			p.x[t][i] = 2;
	assert_refused(ctx, &p, "mahalanobis", "tol", "0", "variance of the samples is 0");
	int64_t n = kdr_mat_rows(&p.list[0].x);
	p.list[0].k = n + 1;
	assert_refused(ctx, &p, "sqeuclidean", "tol", "0", "cannot form");
	release(&p);
	/* A sparse row that leaves out a column has a zero there. */
	make(&p, 1, 1, 4, true);
	p.rowptr[0][kdr_mat_rows(&p.list[0].x)]--;
	char words[64];
	snprintf(words, sizeof words, "row %lld, column 4 is 0", (long long)kdr_mat_rows(&p.list[0].x));
	assert_refused(ctx, &p, "is", "tol", "0", words);
	release(&p);
	kdr_context_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sweeps__random_tasks__every_step_descends),
		cmocka_unit_test(objective__last_value__is_its_definition),
		cmocka_unit_test(relations__every_pair__have_their_marginals),
		cmocka_unit_test(sweeps__no_time__are_left_early_with_all_relations),
		cmocka_unit_test(lambda_zero__any_divergence__equals_bregman),
		cmocka_unit_test(lambda_zero__squared_euclidean__equals_kmeans),
		cmocka_unit_test(centroid__exact__no_feasible_point_nearby_is_better),
		cmocka_unit_test(kl_centroid__any_start__the_same_stationary_point),
		cmocka_unit_test(divergence__table__is_a_bregman_divergence),
		cmocka_unit_test(fit__dense_and_sparse__same_result),
		cmocka_unit_test(fit__threads_and_runs__same_bits),
		cmocka_unit_test(s_nmi__same_samples__is_reported),
		cmocka_unit_test(predict__fitted_samples__keep_the_nearest_centroid),
		cmocka_unit_test(fit__outside_the_domain__names_the_entry),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
