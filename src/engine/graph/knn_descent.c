/* Nearest neighbours of many samples, approximately. SPDX-License-Identifier: BSD-3-Clause
 *
 * Where all n (n - 1) products are too many: a neighbour of a neighbour is likely a neighbour [W. Dong, C.
 * Moses, K. Li: Efficient k-nearest neighbor graph construction for generic similarity measures, WWW 2011].
 *
 *   start    TREES random trees: a level halves each node at the median of a random projection, down to leaves
 *            of at most LEAF samples; all pairs within a leaf meet. Sparse rows that share rare columns meet RARE others
 *            each by these, and in one tree: projections tell little of them
 *   descend  each sample meets the neighbours of its neighbours, and of those it is a neighbour of, unless
 *            they met before; until hardly a list changes
 *
 * A round reads the lists of the last one and writes new ones, each sample its own: the answer depends on the
 * seed and not on threads. Samples are visited leaf by leaf: those of one leaf meet much the same others, whose rows are
 * then in the cache. Lists are longer than wanted by SPARE, which is what makes the descent go far.
 *
 * Scores are those of knn.c, cosine (E1, E4) and distance (E2); a row is spread over a dense vector, so that a
 * product costs one pass over the other row. Recall is measured: SAMPLED samples against all others. */
#include "engine/graph/knn.h"
#include "engine/graph/knn_rare.h"

#include <stdlib.h>
enum {
	TREES = 4,
	RARE = 32,
	LEAF = 48,
	SPARE = 6,
	LEAST = 16,
	ROUNDS = 12,
	SAMPLED = 128,
	CHUNK = 64,
	ROWS_BETWEEN_LOOKS = 4096,
	MOST_EXPECTED = 1024 /* bytes of a row */
};
/* Of the lists' entries changed: the end. A round of sparse rows takes longer than to find as many by rare columns. */
static const double settled = 0.002, settled_sparse = 0.2;

typedef struct entry {
	double score;
	int32_t index;
	bool is_new; /* came in the last round */
} entry;

typedef struct search {
	const kdr_mat *x;
	int64_t n, length; /* of a list */
	bool cosine;
	const double *factor; /* cosine: 1 / |x_j - m|; else |x_j|^2 / 2 */
	const double *shift;  /* <x_j, m>, or NULL */
	double square;
	entry *list, *next; /* n x length, best first; index -1: none */
	int32_t *back;      /* n x length: who has the sample in their list, nearest first */
	int32_t *backs;     /* how many */
	double *spread;     /* a row for each thread */
	int32_t *met;       /* n for each thread: the last sample that met it */
	int32_t *order;     /* n: samples as they are visited */
	int32_t *others;    /* whom a sample meets, for each thread */
	int32_t *rare;      /* n x RARE, or NULL: whom samples meet in rare columns */
} search;

/* Lists of its neighbours and of those it is a neighbour of, and these. */
static int64_t others_of(const search *q)
{
	return q->length * (2 * q->length + 1);
}

/* --- products -------------------------------------------------------------------------------------------- */

/* Row i of sparse data into a vector of zeros, or out of it again. */
static void spread_row(const search *q, int64_t i, double *to, bool clear)
{
	if (q->x->kind != KDR_MAT_CSR)
		return;
	const kdr_csr *a = &q->x->as.csr;
	for (int64_t p = a->rowptr[i]; p < a->rowptr[i + 1]; p++)
		to[a->col[p]] = clear ? 0 : a->val[p];
}

static double score(const search *q, int64_t i, int64_t j, const double *spread)
{
	double product = 0;
	if (q->x->kind == KDR_MAT_DENSE) {
		const kdr_dense *a = &q->x->as.dense;
		product = kdri_dot(a->data + i * a->stride, a->data + j * a->stride, a->cols);
	} else {
		const kdr_csr *a = &q->x->as.csr;
		for (int64_t p = a->rowptr[j]; p < a->rowptr[j + 1]; p++)
			product += a->val[p] * spread[a->col[p]];
	}
	if (!q->cosine)
		return product - q->factor[j];
	if (q->shift)
		product += q->square - (q->shift[i] + q->shift[j]);
	return product * q->factor[i] * q->factor[j];
}

/* Of equal scores the lower index is better. */
static bool knn_descent_better(double s, int64_t j, const entry *than)
{
	return than->index < 0 || s > than->score || (s == than->score && j < than->index);
}

static void knn_descent_offer(entry *list, int64_t length, double s, int64_t j)
{
	int64_t at = length - 1;
	if (!knn_descent_better(s, j, &list[at]))
		return;
	for (; at > 0 && knn_descent_better(s, j, &list[at - 1]); at--)
		list[at] = list[at - 1];
	list[at] = (entry){ s, (int32_t)j, true };
}

static bool is_in(const entry *list, int64_t length, int64_t j)
{
	for (int64_t p = 0; p < length; p++)
		if (list[p].index == j)
			return true;
	return false;
}

/* --- trees ------------------------------------------------------------------------------------------------- */

typedef struct projected {
	double value;
	int32_t index;
} projected;

static int knn_descent_by_value(const void *a, const void *b)
{
	const projected *x = a, *y = b;
	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static int64_t levels_of(int64_t n)
{
	int64_t levels = 0;
	for (; n > LEAF; n = (n + 1) / 2)
		levels++;
	return levels;
}

/* Sorts nodes of one level by the projection that belongs to it; halves of a node are the next level's. */
static void split_level(kdr_context *ctx, int64_t n, int64_t level, int64_t levels, const double *projection,
                        projected *order)
{
	int64_t nodes = (int64_t)1 << level;
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic, 1)
	for (int64_t node = 0; node < nodes; node++) {
		int64_t begin = kdri_chunk_begin(n, nodes, node), end = kdri_chunk_begin(n, nodes, node + 1);
		for (int64_t p = begin; p < end; p++)
			order[p].value = projection[(int64_t)order[p].index * levels + level];
		qsort(order + begin, (size_t)(end - begin), sizeof *order, knn_descent_by_value);
	}
}

static void meet_leaf(const search *q, const projected *leaf, int64_t size, double *spread)
{
	for (int64_t a = 0; a < size; a++) {
		int64_t i = leaf[a].index;
		entry *list = q->list + i * q->length;
		spread_row(q, i, spread, false);
		for (int64_t b = 0; b < size; b++) {
			int64_t j = leaf[b].index;
			if (a != b && !is_in(list, q->length, j))
				knn_descent_offer(list, q->length, score(q, i, j, spread), j);
		}
		spread_row(q, i, spread, true);
	}
}

static kdr_status plant_tree(kdr_context *ctx, const search *q, int64_t tree)
{
	kdr_status st;
	int64_t n = q->n, d = kdr_mat_cols(q->x), levels = levels_of(n), size;
	int64_t leaves = (int64_t)1 << levels;
	double *direction = NULL, *projection = NULL;
	projected *order = NULL;
	kdri_rng rng = kdri_rng_stream(ctx->seed, "neighbour trees", (uint64_t)tree);
	KDRI_TRY(kdri_mul(ctx, n, KDRI_MAX(levels, 1), &size));
	KDRI_TRY(KDRI_NEW(ctx, &projection, size));
	KDRI_TRY(kdri_mul(ctx, d, KDRI_MAX(levels, 1), &size));
	KDRI_TRY(KDRI_NEW(ctx, &direction, size));
	KDRI_TRY(KDRI_NEW(ctx, &order, n));
	for (int64_t p = 0; p < d * levels; p++)
		direction[p] = kdri_rng_normal(&rng);
	if (levels > 0)
		KDRI_TRY(kdri_mat_mul(ctx, q->x, direction, levels, levels, projection, levels));
	for (int64_t i = 0; i < n; i++) {
		order[i].index = (int32_t)i;
		for (int64_t l = 0; l < levels && q->cosine; l++)
			projection[i * levels + l] *= q->factor[i];
	}
	for (int64_t level = 0; level < levels; level++)
		split_level(ctx, n, level, levels, projection, order);
	for (int64_t p = 0; p < n; p++)
		q->order[p] = order[p].index;
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic, 1)
	for (int64_t leaf = 0; leaf < leaves; leaf++) {
		int64_t begin = kdri_chunk_begin(n, leaves, leaf);
		meet_leaf(q, order + begin, kdri_chunk_begin(n, leaves, leaf + 1) - begin,
		          q->spread + kdri_thread() * d);
	}
done:
	kdri_free(ctx, direction);
	kdri_free(ctx, projection);
	kdri_free(ctx, order);
	return st;
}

/* --- rare columns ------------------------------------------------------------------------------------------- */

/* Whom samples meet in rare columns, where most of them meet enough. */
static kdr_status find_rare(kdr_context *ctx, search *q)
{
	kdr_status st;
	int64_t size;
	double filled = 0;
	KDRI_TRY(kdri_mul(ctx, q->n, RARE, &size));
	KDRI_TRY(KDRI_NEW(ctx, &q->rare, size));
	KDRI_TRY(kdri_knn_rare(ctx, q->x, q->cosine ? q->factor : NULL, RARE, q->rare, &filled));
	if (filled < 0.5) {
		kdri_free(ctx, q->rare);
		q->rare = NULL;
	}
done:
	return st;
}

static void meet_rare(kdr_context *ctx, const search *q)
{
	int64_t d = kdr_mat_cols(q->x);
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic, CHUNK)
	for (int64_t r = 0; r < q->n; r++) {
		int64_t i = q->order[r];
		double *spread = q->spread + kdri_thread() * d;
		entry *list = q->list + i * q->length;
		spread_row(q, i, spread, false);
		for (int64_t p = 0; p < RARE && q->rare[i * RARE + p] >= 0; p++) {
			int64_t j = q->rare[i * RARE + p];
			if (!is_in(list, q->length, j))
				knn_descent_offer(list, q->length, score(q, i, j, spread), j);
		}
		spread_row(q, i, spread, true);
	}
}

/* --- descent ------------------------------------------------------------------------------------------------ */

/* The nearest of those that have each sample in their lists. */
static void turn_round(search *q)
{
	memset(q->backs, 0, (size_t)q->n * sizeof *q->backs);
	for (int64_t rank = 0; rank < q->length; rank++)
		for (int64_t i = 0; i < q->n; i++) {
			int64_t j = q->list[i * q->length + rank].index;
			if (j >= 0 && q->backs[j] < q->length)
				q->back[j * q->length + q->backs[j]++] = (int32_t)i;
		}
}

/* Says that row j will be needed soon: rows lie anywhere, and waiting for them would be most of the time. */
static inline void expect(const search *q, int64_t j)
{
#ifdef __GNUC__
	enum { LINE = 64 };
	if (q->x->kind == KDR_MAT_DENSE) {
		const char *row = (const char *)(q->x->as.dense.data + j * q->x->as.dense.stride);
		for (int64_t at = 0; at < 8 * q->x->as.dense.cols && at < MOST_EXPECTED; at += LINE)
			__builtin_prefetch(row + at);
	} else {
		const kdr_csr *a = &q->x->as.csr;
		const int64_t begin = a->rowptr[j], count = a->rowptr[j + 1] - begin;
		for (int64_t at = 0; at < 8 * count && at < MOST_EXPECTED; at += LINE)
			__builtin_prefetch((const char *)(a->val + begin) + at);
		for (int64_t at = 0; at < 4 * count && at < MOST_EXPECTED; at += LINE)
			__builtin_prefetch((const char *)(a->col + begin) + at);
	}
#else
	(void)q;
	(void)j;
#endif
}

/* Whom sample i meets through its neighbour j: pairs that are both old have met before. */
static int64_t knn_descent_gather(const search *q, int64_t i, int64_t j, bool is_new, int32_t *met,
                                  int32_t *others, int64_t count)
{
	const entry *list = q->list + j * q->length;
	for (int64_t p = 0; p < q->length; p++) {
		int64_t other = list[p].index;
		if (other < 0 || met[other] == (int32_t)i || !(is_new || list[p].is_new))
			continue;
		met[other] = (int32_t)i;
		others[count++] = (int32_t)other;
	}
	return count;
}

/* The new list of sample i; returns how many of it are new. */
static int64_t descend_row(const search *q, int64_t i, double *spread, int32_t *met, int32_t *others)
{
	enum { AHEAD = 6 };
	const entry *own = q->list + i * q->length;
	entry *to = q->next + i * q->length;
	int64_t changed = 0, count = 0;
	memcpy(to, own, (size_t)q->length * sizeof *to);
	met[i] = (int32_t)i;
	for (int64_t p = 0; p < q->length; p++) {
		to[p].is_new = false;
		if (own[p].index >= 0)
			met[own[p].index] = (int32_t)i;
	}
	spread_row(q, i, spread, false);
	for (int64_t p = 0; p < q->length; p++)
		if (own[p].index >= 0)
			count = knn_descent_gather(q, i, own[p].index, own[p].is_new, met, others, count);
	for (int64_t p = 0; p < q->backs[i]; p++) {
		int64_t j = q->back[i * q->length + p];
		if (met[j] != (int32_t)i) {
			met[j] = (int32_t)i;
			others[count++] = (int32_t)j;
		}
		count = knn_descent_gather(q, i, j, false, met, others, count);
	}
	for (int64_t p = 0; p < KDRI_MIN(AHEAD, count); p++)
		expect(q, others[p]);
	for (int64_t p = 0; p < count; p++) {
		if (p + AHEAD < count)
			expect(q, others[p + AHEAD]);
		knn_descent_offer(to, q->length, score(q, i, others[p], spread), others[p]);
	}
	spread_row(q, i, spread, true);
	for (int64_t p = 0; p < q->length; p++)
		changed += to[p].is_new;
	return changed;
}

static bool knn_descent_descend(kdr_context *ctx, search *q, int64_t round)
{
	int64_t changed = 0, d = kdr_mat_cols(q->x);
	turn_round(q);
	memset(q->met, -1, (size_t)ctx->threads * (size_t)q->n * sizeof *q->met);
	bool stop = false;
	int64_t done = 0;
	while (done < q->n && !stop) {
		const int64_t end = KDRI_MIN(q->n, done + ROWS_BETWEEN_LOOKS);
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic, CHUNK) reduction(+ : changed)
		for (int64_t p = done; p < end; p++)
			changed += descend_row(q, q->order[p], q->spread + kdri_thread() * d,
			                       q->met + kdri_thread() * q->n,
			                       q->others + kdri_thread() * others_of(q));
		done = end;
		stop = kdri_iteration(ctx, "neighbours", round, ROUNDS, NAN);
	}
	/* Stopped half-way: the rest keeps what it has. */
	for (int64_t p = done; p < q->n; p++)
		memcpy(q->next + q->order[p] * q->length, q->list + q->order[p] * q->length,
		       (size_t)q->length * sizeof *q->next);
	entry *old = q->list;
	q->list = q->next;
	q->next = old;
	double end = q->rare ? settled_sparse : settled;
	return (double)changed > end * (double)q->n * (double)q->length && !stop;
}

/* --- recall ------------------------------------------------------------------------------------------------- */

static double knn_descent_measure(kdr_context *ctx, const search *q, int64_t k, double *best)
{
	int64_t rows = KDRI_MIN(SAMPLED, q->n), found = 0, d = kdr_mat_cols(q->x);
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic, 1) reduction(+ : found)
	for (int64_t r = 0; r < rows; r++) {
		int64_t i = kdri_chunk_begin(q->n, rows, r);
		double *spread = q->spread + kdri_thread() * d, *top = best + r * k;
		const entry *list = q->list + i * q->length;
		for (int64_t p = 0; p < k; p++)
			top[p] = -INFINITY;
		spread_row(q, i, spread, false);
		for (int64_t j = 0; j < q->n; j++) {
			double s = j == i ? -INFINITY : score(q, i, j, spread);
			int64_t at = k - 1;
			if (!(s > top[at]))
				continue;
			for (; at > 0 && s > top[at - 1]; at--)
				top[at] = top[at - 1];
			top[at] = s;
		}
		spread_row(q, i, spread, true);
		for (int64_t p = 0; p < k; p++)
			found += list[p].index >= 0 && list[p].score >= top[k - 1];
	}
	return rows * k > 0 ? (double)found / ((double)rows * (double)k) : 1;
}

/* --- the whole ---------------------------------------------------------------------------------------------- */

static void search_free(kdr_context *ctx, search *q)
{
	kdri_free(ctx, q->list);
	kdri_free(ctx, q->next);
	kdri_free(ctx, q->back);
	kdri_free(ctx, q->backs);
	kdri_free(ctx, q->spread);
	kdri_free(ctx, q->met);
	kdri_free(ctx, q->order);
	kdri_free(ctx, q->others);
	kdri_free(ctx, q->rare);
}

static kdr_status search_new(kdr_context *ctx, search *q)
{
	kdr_status st;
	int64_t size, each;
	KDRI_TRY(kdri_mul(ctx, q->n, q->length, &size));
	KDRI_TRY(KDRI_NEW(ctx, &q->list, size));
	KDRI_TRY(KDRI_NEW(ctx, &q->next, size));
	KDRI_TRY(KDRI_NEW(ctx, &q->back, size));
	KDRI_TRY(KDRI_NEW(ctx, &q->backs, q->n));
	KDRI_TRY(KDRI_NEW(ctx, &q->order, q->n));
	KDRI_TRY(kdri_mul(ctx, ctx->threads, kdr_mat_cols(q->x), &each));
	KDRI_TRY(KDRI_NEW0(ctx, &q->spread, each));
	KDRI_TRY(kdri_mul(ctx, ctx->threads, q->n, &each));
	KDRI_TRY(KDRI_NEW(ctx, &q->met, each));
	KDRI_TRY(KDRI_NEW(ctx, &q->others, ctx->threads * others_of(q)));
	for (int64_t p = 0; p < size; p++)
		q->list[p] = (entry){ 0, -1, false };
done:
	return st;
}

/* What scores need, from the squared norms of rows. */
static void prepare_factors(const search *q, double *factor)
{
	for (int64_t i = 0; i < q->n; i++) {
		if (!q->cosine) {
			factor[i] /= 2;
			continue;
		}
		double left = q->shift ? factor[i] - 2 * q->shift[i] + q->square : factor[i];
		factor[i] = left > 1e-14 * (factor[i] + q->square) ? 1 / sqrt(left) : 0;
	}
}

kdr_status kdri_knn_descent(kdr_context *ctx, const kdr_mat *x, int64_t k, kdri_metric metric,
                            const kdri_knn_shift *shift, kdri_knn *out, double *recall)
{
	kdr_status st;
	int64_t n = kdr_mat_rows(x), size;
	double *factor = NULL, *best = NULL;
	kdri_knn knn = { .rows = n, .k = k };
	search q = { .x = x,
		     .n = n,
		     .length = KDRI_MIN(KDRI_MAX(k + SPARE, LEAST), n - 1),
		     .cosine = metric == KDRI_METRIC_COSINE,
		     .shift = shift ? shift->products : NULL,
		     .square = shift ? shift->square : 0 };
	if (k < 1 || k >= n || n > INT32_MAX)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT,
		                 "%lld neighbours of %lld samples: 1 to %lld are allowed", (long long)k,
		                 (long long)n, (long long)n - 1);
	KDRI_TRY(kdri_mul(ctx, n, k, &size));
	KDRI_TRY(KDRI_NEW(ctx, &knn.index, size));
	KDRI_TRY(KDRI_NEW(ctx, &knn.value, size));
	KDRI_TRY(KDRI_NEW(ctx, &factor, n));
	KDRI_TRY(KDRI_NEW(ctx, &best, SAMPLED * k));
	KDRI_TRY(kdri_mat_row_norms(ctx, x, factor));
	prepare_factors(&q, factor);
	q.factor = factor;
	KDRI_TRY(search_new(ctx, &q));
	if (x->kind == KDR_MAT_CSR)
		KDRI_TRY(find_rare(ctx, &q));
	for (int64_t tree = 0; tree < (q.rare ? 1 : TREES); tree++)
		KDRI_TRY(plant_tree(ctx, &q, tree));
	if (q.rare)
		meet_rare(ctx, &q);
	for (int64_t round = 0; round < ROUNDS; round++)
		if (!knn_descent_descend(ctx, &q, round))
			break;
	*recall = knn_descent_measure(ctx, &q, k, best);
	for (int64_t i = 0; i < n; i++)
		for (int64_t p = 0; p < k; p++) {
			const entry *e = &q.list[i * q.length + p];
			knn.index[i * k + p] = e->index;
			/* A score by distance is (|x_i|^2 - |x_i - x_j|^2) / 2. */
			knn.value[i * k + p] = q.cosine ? e->score : KDRI_MAX(2 * (factor[i] - e->score), 0);
		}
	*out = knn;
	knn = (kdri_knn){ 0 };
done:
	search_free(ctx, &q);
	kdri_knn_free(ctx, &knn);
	kdri_free(ctx, factor);
	kdri_free(ctx, best);
	return st;
}

/* Lists twice, who has a row in them; order, factor, met; projections, or who meets in rare columns. */
double kdri_knn_descent_bytes(const kdri_extent *x, double k, int threads)
{
	const double length = KDRI_MAX(k + SPARE, LEAST), levels = (double)levels_of((int64_t)x->n);
	return x->n * ((2 * sizeof(entry) + 4) * length + 16 + 4 * threads + 8 * levels + sizeof(projected) +
	               4 * RARE) +
	       8 * x->d * (threads + levels);
}
