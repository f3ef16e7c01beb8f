/* Pairs of samples and the rule that decides which belong together. SPDX-License-Identifier: BSD-3-Clause
 *
 * A pair (i, j) is described by two numbers that do not depend on the features behind them [B19, section 2.4],
 *
 *   (E1)  p(i, j) = (s_i + s_j) / 2,   s the silhouettes averaged over the ensemble
 *   (E2)  h(i, j) = fraction of the runs in which i and j share a cluster
 *
 * and a rule f(p, h) is learnt from pairs whose classes are known: f > 0 where they are the same,
 *
 *   (E3)  z(i, j) = [y_i = y_j]
 *
 * Either a support vector machine, trained in pairs_svm.c, or logistic regression with a ridge of 1 / cost on the
 * weights, by Newton's method:
 *
 *   (E4)  f = sum_s a_s exp(-gamma ((p - p_s)^2 + (h - h_s)^2)) - rho,   gamma = 1 / (2 sigma^2)
 *   (E5)  f = w_p p + w_h h - rho
 *
 * [B19] V. Berikov: Heterogeneous transfer learning in ensemble clustering. 2019. */
#include "methods/trec/trec.h"

enum { NEWTON_STEPS = 100 };

/* --- pairs ------------------------------------------------------------------------------------- */

static double pairs_silhouette(const kdri_ensemble *e, int64_t i)
{
	return e->silhouette ? e->silhouette[i] : 0;
}

static void add_pair(const kdri_ensemble *e, const int64_t *classes, int64_t i, int64_t j, kdri_pairs *to)
{
	int64_t together = 0, at = to->count++;
	for (int64_t l = 0; l < e->runs; l++)
		together += e->label[l * e->n + i] == e->label[l * e->n + j];
	to->p[at] = (pairs_silhouette(e, i) + pairs_silhouette(e, j)) / 2; /* (E1) */
	to->h[at] = (double)together / (double)e->runs;                    /* (E2) */
	to->z[at] = classes[i] == classes[j];                              /* (E3) */
	to->same += to->z[at];
}

/* The first row of pair number t, counted (0,1), (0,2), ..., (0,n-1), (1,2), ...: the largest a with
 * a (2n - a - 1) / 2 <= t. */
static int64_t first_of_pair(int64_t n, int64_t t)
{
	int64_t low = 0, high = n - 2;
	while (low < high) {
		int64_t a = low + (high - low + 1) / 2;
		if (a * (2 * n - a - 1) / 2 <= t)
			low = a;
		else
			high = a - 1;
	}
	return low;
}

kdr_status kdri_pairs_add(kdr_context *ctx, const kdri_ensemble *e, const int64_t *classes,
                          const int64_t *rows, int64_t count, int64_t most, kdri_rng *rng, kdri_pairs *pairs)
{
	if (count < 2 || most < 1)
		return KDR_OK;
	int64_t total = 0;
	KDRI_DO(kdri_mul(ctx, count, count - 1, &total));
	total /= 2;
	int64_t taken = KDRI_MIN(total, most);
	pairs->room = pairs->count + taken;
	KDRI_DO(KDRI_GROW(ctx, &pairs->p, pairs->room));
	KDRI_DO(KDRI_GROW(ctx, &pairs->h, pairs->room));
	KDRI_DO(KDRI_GROW(ctx, &pairs->z, pairs->room));
	if (total <= most) {
		for (int64_t a = 0; a < count; a++)
			for (int64_t b = a + 1; b < count; b++)
				add_pair(e, classes, rows[a], rows[b], pairs);
	} else {
		/* Draws one of each total / taken consecutive pairs: they are spread out, and none is drawn twice. */
		for (int64_t s = 0; s < taken; s++) {
			int64_t step = total / taken, t = s * step + KDRI_MIN(s, total % taken);
			t += kdri_rng_below(rng, step);
			int64_t a = first_of_pair(count, t), b = t - a * (2 * count - a - 1) / 2 + a + 1;
			add_pair(e, classes, rows[a], rows[b], pairs);
		}
	}
	return KDR_OK;
}

void kdri_pairs_free(kdr_context *ctx, kdri_pairs *pairs)
{
	KDRI_FREE(ctx, pairs->p, pairs->h, pairs->z);
	*pairs = (kdri_pairs){ 0 };
}

/* --- logistic regression (E5) ------------------------------------------------------------------- */

/* Solves the symmetric positive definite 3 x 3 system a x = b by Cholesky, b becoming x. */
static bool solve3(double a[3][3], double b[3])
{
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j <= i; j++) {
			double sum = a[i][j];
			for (int k = 0; k < j; k++)
				sum -= a[i][k] * a[j][k];
			if (i == j && sum <= 0)
				return false;
			a[i][j] = i == j ? sqrt(sum) : sum / a[j][j];
		}
		for (int k = 0; k < i; k++)
			b[i] -= a[i][k] * b[k];
		b[i] /= a[i][i];
	}
	for (int i = 2; i >= 0; i--) {
		for (int k = i + 1; k < 3; k++)
			b[i] -= a[k][i] * b[k];
		b[i] /= a[i][i];
	}
	return true;
}

/* Loss and, where wanted, its gradient and Hessian at w = (w_p, w_h, -rho). */
static double logistic_loss(const kdri_pairs *pairs, const kdri_rule *rule, const double weight[2],
                            double ridge, const double w[3], double gradient[3], double hessian[3][3])
{
	double loss = ridge / 2 * (w[0] * w[0] + w[1] * w[1]);
	for (int a = 0; a < 3 && gradient; a++) {
		gradient[a] = a < 2 ? ridge * w[a] : 0;
		for (int b = 0; b < 3; b++)
			hessian[a][b] = a == b && a < 2 ? ridge : 0;
	}
	for (int64_t i = 0; i < pairs->count; i++) {
		double x[3] = { rule->scale_p * pairs->p[i], rule->scale_h * pairs->h[i], 1 };
		double f = w[0] * x[0] + w[1] * x[1] + w[2], y = pairs->z[i] ? 1 : -1, m = y * f,
		       c = weight[pairs->z[i]];
		loss += c * (m > 0 ? log1p(exp(-m)) : log1p(exp(m)) - m);
		double q = m > 0 ? exp(-m) / (1 + exp(-m)) : 1 / (1 + exp(m)); /* 1 / (1 + e^m) */
		for (int a = 0; a < 3 && gradient; a++) {
			gradient[a] -= c * y * q * x[a];
			for (int b = 0; b < 3; b++)
				hessian[a][b] += c * q * (1 - q) * x[a] * x[b];
		}
	}
	return loss;
}

/* Newton with halved steps: the loss is strictly convex in the weights, and falls in each step. */
static void train_logistic(const kdri_pairs *pairs, const kdri_rule_options *o, const double weight[2],
                           kdri_rule *rule)
{
	double w[3] = { 0 }, ridge = 1 / o->cost;
	for (int step = 0; step < NEWTON_STEPS; step++) {
		double gradient[3] = { 0 }, hessian[3][3] = { { 0 } }, next[3];
		double loss = logistic_loss(pairs, rule, weight, ridge, w, gradient, hessian), share = 1,
		       fall = 0;
		for (int a = 0; a < 3; a++)
			hessian[a][a] *= 1 + 1e-12; /* an unused meta-feature only has its ridge */
		double move[3] = { gradient[0], gradient[1], gradient[2] };
		if (!solve3(hessian, move))
			break;
		for (int halving = 0; halving < 34; halving++, share /= 2) {
			for (int a = 0; a < 3; a++)
				next[a] = w[a] - share * move[a];
			fall = loss - logistic_loss(pairs, rule, weight, ridge, next, NULL, NULL);
			if (fall >= 0)
				break;
		}
		if (!(fall >= 0))
			break;
		memcpy(w, next, sizeof w);
		if (fall <= 1e-14 * fabs(loss))
			break;
	}
	rule->weight_p = w[0];
	rule->weight_h = w[1];
	rule->rho = -w[2];
}

/* --- rules -------------------------------------------------------------------------------------- */

static double deviation(const double *x, int64_t n)
{
	double mean = 0, square = 0;
	for (int64_t i = 0; i < n; i++)
		mean += x[i] / (double)n;
	for (int64_t i = 0; i < n; i++)
		square += (x[i] - mean) * (x[i] - mean) / (double)n;
	return sqrt(square);
}

kdr_status kdri_rule_new(kdr_context *ctx, const kdri_pairs *pairs, const kdri_rule_options *o,
                         kdri_rule *out)
{
	kdr_status st = KDR_OK;
	kdri_rule rule = { .scale_p = o->meta != KDRI_META_COASSOCIATION,
		           .scale_h = o->meta != KDRI_META_SILHOUETTE,
		           .logistic = o->logistic,
		           .gamma = 1 / (2 * o->sigma * o->sigma) };
	double n = (double)pairs->count, same = (double)pairs->same, weight[2] = { 1, 1 };
	if (o->standardise) {
		double p = deviation(pairs->p, pairs->count), h = deviation(pairs->h, pairs->count);
		rule.scale_p /= p > 0 ? p : 1;
		rule.scale_h /= h > 0 ? h : 1;
	}
	if (pairs->same == 0 || pairs->same == pairs->count) {
		rule.rho = pairs->same == 0 ? 1 : -1; /* only one kind of pairs: always predict it */
	} else {
		if (o->balanced) {
			weight[0] = n / (2 * (n - same));
			weight[1] = n / (2 * same);
		}
		if (o->logistic)
			train_logistic(pairs, o, weight, &rule);
		else
			KDRI_TRY(kdri_rule_train_svm(ctx, pairs, o, weight, &rule));
	}
	*out = rule;
	rule = (kdri_rule){ 0 };
done:
	kdri_rule_free(ctx, &rule);
	return st;
}

void kdri_rule_free(kdr_context *ctx, kdri_rule *rule)
{
	KDRI_FREE(ctx, rule->p, rule->h, rule->coef);
	*rule = (kdri_rule){ 0 };
}

double kdri_rule_value(const kdri_rule *rule, double p, double h)
{
	double sum = 0;
	p *= rule->scale_p;
	h *= rule->scale_h;
	if (rule->logistic)
		return rule->weight_p * p + rule->weight_h * h - rule->rho; /* (E5) */
	for (int64_t s = 0; s < rule->count; s++) {
		double a = p - rule->p[s], b = h - rule->h[s];
		sum += rule->coef[s] * exp(-rule->gamma * (a * a + b * b)); /* (E4) */
	}
	return sum - rule->rho;
}

double kdri_rule_accuracy(kdr_context *ctx, const kdri_rule *rule, const kdri_pairs *pairs)
{
	int64_t right = 0;
#pragma omp parallel for num_threads(kdri_team(ctx)) reduction(+ : right) if (pairs->count > 64)
	for (int64_t i = 0; i < pairs->count; i++)
		right += (kdri_rule_value(rule, pairs->p[i], pairs->h[i]) > 0) == pairs->z[i];
	return pairs->count > 0 ? (double)right / (double)pairs->count : 0;
}

/* A rule for pairs, tabulated.
 *
 * All pairs of a target use the same rule f(p, h), and h has only L + 1 values. For each of them the rule is evaluated
 * along p once, and the points at which its sign changes are kept: a pair then only needs a few comparisons instead of a
 * kernel with thousands of support vectors.
 *
 * The sign is looked up on a grid, and each change found is narrowed by bisection to neighbouring numbers. A kernel of
 * width sigma cannot change its sign twice to any relevant degree within a small part of sigma: the grid has 16
 * points per sigma, at least 64 and at most 4096 in total. */

enum { LEAST_STEPS = 64, MOST_STEPS = 4096, STEPS_A_SIGMA = 16 };

static double grid_point(double low, double high, int64_t steps, int64_t s)
{
	return s == steps ? high : low + (high - low) * ((double)s / (double)steps);
}

/* Where the sign changes between a and b; its sign at a is `sign`. */
static double bisect(const kdri_rule *rule, double h, double a, double b, bool sign)
{
	for (;;) {
		double middle = a + (b - a) / 2;
		if (middle <= a || middle >= b)
			return a;
		if ((kdri_rule_value(rule, middle, h) > 0) == sign)
			a = middle;
		else
			b = middle;
	}
}

/* The cuts of one level into `cut`; their number. */
static int64_t level_cuts(const kdri_rule *rule, double h, double low, double high, int64_t steps,
                          bool *below, double *cut)
{
	int64_t count = 0;
	bool sign = *below = kdri_rule_value(rule, low, h) > 0;
	if (!(high > low) || rule->scale_p == 0)
		return 0;
	for (int64_t s = 1; s <= steps; s++) {
		double at = grid_point(low, high, steps, s);
		bool now = kdri_rule_value(rule, at, h) > 0;
		if (now != sign)
			cut[count++] = bisect(rule, h, grid_point(low, high, steps, s - 1), at, sign);
		sign = now;
	}
	return count;
}

static int64_t grid_steps(const kdri_rule *rule, double low, double high)
{
	/* sigma = (2 gamma)^-1/2 in the rule's own units. */
	double want = (high - low) * rule->scale_p * sqrt(2 * rule->gamma) * STEPS_A_SIGMA;
	return rule->logistic ? 1 : (int64_t)KDRI_MAX(LEAST_STEPS, KDRI_MIN(want, MOST_STEPS));
}

kdr_status kdri_pair_table_new(kdr_context *ctx, const kdri_rule *rule, int64_t runs, double low, double high,
                               kdri_pair_table *out)
{
	kdr_status st;
	kdri_pair_table t = { .levels = runs + 1 };
	int64_t steps = grid_steps(rule, low, high), size, *count = NULL;
	double *found = NULL;
	KDRI_TRY(kdri_mul(ctx, t.levels, steps, &size));
	KDRI_TRY(KDRI_NEW(ctx, &found, size));
	KDRI_TRY(KDRI_NEW0(ctx, &count, t.levels));
	KDRI_TRY(KDRI_NEW0(ctx, &t.below, t.levels));
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic, 1) if (rule->count * size > 1 << 14)
	for (int64_t l = 0; l < t.levels; l++)
		count[l] = level_cuts(rule, (double)l / (double)runs, low, high, steps, &t.below[l],
		                      found + l * steps);
	for (int64_t l = 0; l < t.levels; l++)
		t.width = KDRI_MAX(t.width, count[l]);
	KDRI_TRY(KDRI_NEW(ctx, &t.cut, t.levels * t.width));
	for (int64_t l = 0; l < t.levels; l++)
		for (int64_t c = 0; c < t.width; c++)
			t.cut[l * t.width + c] = c < count[l] ? found[l * steps + c] : INFINITY;
	*out = t;
	t = (kdri_pair_table){ 0 };
done:
	KDRI_FREE(ctx, found, count);
	kdri_pair_table_free(ctx, &t);
	return st;
}

void kdri_pair_table_free(kdr_context *ctx, kdri_pair_table *table)
{
	KDRI_FREE(ctx, table->below, table->cut);
	*table = (kdri_pair_table){ 0 };
}
