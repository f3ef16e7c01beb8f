/* Nearest neighbours by scanning all products, on any device; among few columns, by a tree. SPDX-License-Identifier: BSD-3-Clause
 *
 * Queries are processed in stripes, so that a scan can be stopped. The candidates are on the device or, if they do not
 * fit, are sent in parts one after the other, and the lists continue from part to part.
 *
 * Sparse rows are compared as in matrix/rows.c, with the lists of rows that contain each feature, one set of
 * lists per part. This takes one multiplication for each feature that a pair of rows shares; on an accelerator, each
 * takes about SPARSE times as long as one of a dense product. If rows are so full that this is more than the dense
 * products of all their columns, they are treated as dense rows. */
/* Nearest neighbours among few columns, exactly.
 *
 * If samples have few columns, computing all n (n - 1) distances is wasteful: a tree of boxes excludes most pairs at
 * once [J. H. Friedman, J. L. Bentley, R. A. Finkel: An algorithm for finding best matches in logarithmic expected time,
 * ACM TOMS 3:209-226, 1977]. A node is cut at the median of the column in which it is widest, down to leaves of at most
 * LEAF samples; each keeps the smallest box around its samples. With v_ij the squared distance,
 *
 *   (E1)  v_ij = sum_t (x_it - x_jt)^2
 *   (E2)  b_i  = sum_t max(low_t - x_it, x_it - high_t, 0)^2 <= v_ij    for every j in the box
 *
 * so that a box with b_i above the k-th smallest v found so far contains no neighbour of sample i. Both sums add the
 * columns in the same order, so that (E2) holds after rounding as well; of equal distances the lower index wins, as
 * in knn.c.
 *
 * In d columns a sample's neighbours are in about 2^d leaves: the tree is faster if there are many more leaves than
 * that. */
#include "comm/comm.h"
#include "engine/graph/knn.h"
#include "matrix/device_use.h"

/* CPU_TILE: rows that matrix/product.c takes at a time. CPU_STRIPE: the most rows of a thread between two polls. */
enum { CPU_STRIPE = 2048, CPU_TILE = 128, STRIPE = 1 << 16, SPARSE = 200 };

/* Multiplications of a thread in a stripe, if it has more than CPU_TILE rows for each: some tens of milliseconds. */
static const double dense_between_polls = 1 << 28, sparse_between_polls = 1 << 25;

kdr_status kdri_knn_products(kdr_context *ctx, const kdr_mat *x, double *out)
{
	kdr_status st = KDR_OK;
	int64_t n = kdr_mat_rows(x), d = kdr_mat_cols(x), *rows_with = NULL;
	double products = 0;
	if (x->kind == KDR_MAT_DENSE) {
		*out = (double)n * (double)n * (double)d;
		return KDR_OK;
	}
	KDRI_TRY(KDRI_NEW(ctx, &rows_with, d));
	kdri_mat_col_counts(ctx, x, rows_with);
	for (int64_t j = 0; j < d; j++)
		products += (double)rows_with[j] * (double)rows_with[j];
	*out = products;
done:
	kdri_free(ctx, rows_with);
	return st;
}

/* Multiplications of all pairs, and additions. */
typedef struct costs {
	double flops;
	bool spread; /* an accelerator treats sparse rows as dense ones */
} costs;

static kdr_status find_costs(kdr_context *ctx, const kdr_mat *x, costs *out)
{
	double n = (double)kdr_mat_rows(x), products;
	double dense = 2 * n * n * (double)kdr_mat_cols(x);
	*out = (costs){ dense, false };
	if (x->kind == KDR_MAT_DENSE)
		return KDR_OK;
	kdr_status st = kdri_knn_products(ctx, x, &products);
	if (st != KDR_OK)
		return st;
	/* Here a sum is read and written for each product, which takes about ten times as long as the flops
	 * counted. */
	out->flops = 20 * products;
	out->spread = dense < SPARSE * products;
	return KDR_OK;
}

typedef struct work {
	kdr_context *ctx;
	kdri_device *dev;
	const kdri_knn_scan *s;
	int64_t n, m;                /* number of queries and candidates */
	bool lists, spread;          /* sparse: by lists, or as dense rows */
	double per_stripe, per_part; /* bytes of the queries and of the candidates */
	int64_t stripe;              /* maximum number of queries at a time */
	bool whole;                  /* all candidates are on the device */
	kdri_tiles x;                /* these, or parts of them, unless compared by lists */
	kdri_sparse held;            /* the lists, if they are complete */
} work;

/* Number of queries at a time on the CPU: few enough that a scan of large data can be stopped soon, and a multiple of
 * the tile size, so that products do not depend on it. All ranks use the same number. */
static kdr_status scan_cpu_stripe(work *w)
{
	const kdr_mat *x = w->s->candidates;
	double each = (double)w->m * (double)kdr_mat_cols(x), most = dense_between_polls;
	w->stripe = CPU_STRIPE;
	if (kdri_together(w->ctx))
		return KDR_OK;
	if (x->kind == KDR_MAT_CSR) {
		KDRI_DO(kdri_knn_products(w->ctx, x, &each));
		each /= KDRI_MAX(1, (double)w->m);
		most = sparse_between_polls;
	}
	const double tiles = floor(KDRI_MIN(most / KDRI_MAX(1, each), CPU_STRIPE) / CPU_TILE);
	w->stripe = kdri_team(w->ctx) * CPU_TILE * (int64_t)KDRI_MAX(1, tiles);
	return KDR_OK;
}

static kdr_status scan_open(work *w)
{
	const kdr_mat *x = w->s->candidates;
	const double n = (double)w->n, m = (double)w->m, list = 12.0 * (double)w->s->nn.k;
	double room = 0.8 * (double)w->dev->room(w->dev), bytes = kdri_rows_bytes(x, w->spread, 0, w->m);
	KDRI_DO(scan_cpu_stripe(w));
	w->per_stripe = w->per_part = INFINITY;
	w->whole = true;
	if (!kdri_is_cpu(w->dev)) {
		room -= 16 * n + 16 * m; /* factors and shifts */
		if (w->lists)
			room -= 32 * (double)kdr_mat_cols(x); /* where lists begin and go on */
		/* The result lists take at most a quarter of the memory; the queries as much again, unless they are on
		 * the device already. */
		w->stripe = KDRI_MIN(KDRI_MIN(w->n, STRIPE), (int64_t)KDRI_MAX(1, room / 4 / list));
		room -= list * (double)w->stripe;
		w->whole = (w->lists ? 2 : 1) * bytes <= room;
		w->per_stripe = w->whole ? INFINITY : KDRI_MAX(0, room / 3);
		w->per_part = w->whole ? INFINITY : KDRI_MAX(0, room / (w->lists ? 3 : 2));
	}
	if (!w->lists)
		KDRI_DO(kdri_tiles_new(w->ctx, w->dev, x, w->spread, w->whole ? INFINITY : w->per_part,
		                       &w->x));
	else if (w->whole)
		KDRI_DO(kdri_sparse_of(w->ctx, w->dev, &x->as.csr, w->s->lists, &w->held));
	return KDR_OK;
}

/* Rows begin .. begin + rows - 1 of the queries; `own`: holds them, unless they are among the candidates on the device. */
static kdr_status scan_asking(work *w, int64_t begin, int64_t rows, kdri_tiles *own, kdri_drows *out)
{
	if (w->s->queries != w->s->candidates || !w->whole) {
		kdr_mat part = kdri_rows(w->s->queries, begin, begin + rows);
		KDRI_DO(kdri_tiles_new(w->ctx, w->dev, &part, w->spread, INFINITY, own));
		return kdri_tiles_get(w->ctx, w->dev, own, 0, out);
	}
	if (w->lists) {
		*out = (kdri_drows){ .sparse = true, .csr = kdri_sparse_rows(&w->held, begin, begin + rows) };
	} else {
		KDRI_DO(kdri_tiles_get(w->ctx, w->dev, &w->x, 0, out));
		out->dense = kdri_block_part(out->dense, begin, 0, rows, out->dense.cols);
	}
	out->begin = begin;
	out->rows = rows;
	return KDR_OK;
}

/* Compares with rows from .. end - 1 by their lists, which are made for the purpose. */
static kdr_status scan_lists(work *w, kdri_drows queries, int64_t from, int64_t end, const kdri_nn *nn)
{
	kdr_status st;
	kdri_own turned = { .view = kdr_mat_from_dense(NULL, 0, 0) };
	kdri_sparse lists = { 0 };
	kdr_mat part = kdri_rows(w->s->candidates, from, end);
	KDRI_TRY(kdri_mat_transpose(w->ctx, &part, &turned));
	KDRI_TRY(kdri_sparse_of(w->ctx, w->dev, &part.as.csr, &turned.view.as.csr, &lists));
	const kdri_drows others = { .begin = from, .rows = end - from, .sparse = true, .csr = lists };
	KDRI_OP(w->ctx, w->dev, neighbours, queries, others, nn);
done:
	kdri_sparse_free(w->ctx, &lists);
	kdri_own_free(w->ctx, &turned);
	return st;
}

/* The neighbours of rows begin .. begin + rows - 1. */
static kdr_status scan_stripe(work *w, int64_t begin, int64_t rows)
{
	kdr_status st;
	const kdri_nn *all = &w->s->nn;
	kdri_tiles own = { 0 };
	kdri_drows queries, others = { .rows = w->m, .sparse = true, .csr = w->held };
	kdri_nn nn = *all;
	nn.own_factor += begin;
	nn.own_shift = all->own_shift ? all->own_shift + begin : NULL;
	nn.myself = w->s->queries == w->s->candidates ? begin : -w->n;
	nn.index += begin * nn.k;
	nn.best += begin * nn.k;
	nn.held += begin;
	KDRI_TRY(scan_asking(w, begin, rows, &own, &queries));
	for (int64_t from = 0, end, t = 0; from < w->m; from = end, t++) {
		bool parts = w->lists && !w->whole;
		if (!w->lists)
			KDRI_TRY(kdri_tiles_get(w->ctx, w->dev, &w->x, t, &others));
		end = parts ? kdri_rows_within(w->s->candidates, false, from, w->per_part)
		            : from + others.rows;
		nn.from = from;
		nn.fresh = from == 0;
		nn.factor = all->factor + from;
		nn.shift = all->shift ? all->shift + from : NULL;
		if (parts)
			KDRI_TRY(scan_lists(w, queries, from, end, &nn));
		else
			KDRI_OP(w->ctx, w->dev, neighbours, queries, others, &nn);
	}
done:
	kdri_tiles_free(w->ctx, &own);
	return st;
}

/* On an accelerator what compares with nothing makes no neighbour: then a list may lack some, and the processor decides. */
static bool lists_lack(const work *w, int64_t begin, int64_t end)
{
	const kdri_nn *nn = &w->s->nn;
	for (int64_t p = begin * nn->k; p < end * nn->k && !kdri_is_cpu(w->dev); p++)
		if (nn->index[p] < 0)
			return true;
	return false;
}

typedef struct job {
	const kdri_knn_scan *s;
	bool spread;
	int64_t done;
} job;

static kdr_status scan_all(kdr_context *ctx, kdri_device *dev, void *user)
{
	kdr_status st;
	job *j = user;
	const kdri_knn_scan *s = j->s;
	work w = { .ctx = ctx,
		   .dev = dev,
		   .s = s,
		   .n = kdr_mat_rows(s->queries),
		   .m = kdr_mat_rows(s->candidates) };
	bool lack = false, stop = false;
	w.spread = !kdri_is_cpu(dev) && j->spread;
	w.lists = s->candidates->kind == KDR_MAT_CSR && !w.spread;
	j->done = 0;
	KDRI_TRY(scan_open(&w));
	while (j->done < s->turns && !stop && !lack) {
		int64_t begin = KDRI_MIN(w.n, j->done), end = begin;
		if (begin < w.n) {
			end = KDRI_MIN(w.n, begin + w.stripe);
			end = KDRI_MIN(end, kdri_rows_within(s->queries, w.spread, begin, w.per_stripe));
			KDRI_TRY(scan_stripe(&w, begin, end - begin));
		}
		lack = lists_lack(&w, begin, end);
		if (lack)
			break;
		s->finish(ctx, s->user, begin, end);
		/* Ranks use the CPU, and run as many rounds as the rank with the most rows. */
		j->done = kdri_is_cpu(dev) ? KDRI_MIN(s->turns, j->done + w.stripe) : end;
		stop = kdri_iteration(ctx, "neighbours", j->done, s->turns, NAN);
	}
done:
	kdri_tiles_free(ctx, &w.x);
	kdri_sparse_free(ctx, &w.held);
	return lack ? scan_all(ctx, &kdri_cpu, user) : st;
}

kdr_status kdri_knn_scan_rows(kdr_context *ctx, const kdri_knn_scan *s, bool device, int64_t *done)
{
	job j = { .s = s };
	costs c = { 0 };
	if (s->nn.k < 1) {
		*done = s->turns;
		return KDR_OK;
	}
	device = device && s->nn.k <= KDRI_NN_MOST && kdr_mat_cols(s->candidates) > 0;
	if (device)
		KDRI_DO(find_costs(ctx, s->candidates, &c));
	j.spread = c.spread;
	KDRI_DO(device ? kdri_compute(ctx, c.flops, scan_all, &j) : scan_all(ctx, &kdri_cpu, &j));
	*done = j.done;
	return KDR_OK;
}

enum { LEAF = 16, MOST_COLUMNS = 12, LEAVES_BETWEEN_LOOKS = 1024, DEEPEST = 40 };

typedef struct tree {
	int64_t n, d, k, levels;
	int32_t *order; /* n: the samples, leaf by leaf */
	double *rows;   /* n x d, in that order */
	double *box;    /* low and high of each node: node 1 is all, those of node p are 2 p and 2 p + 1 */
	int32_t *index; /* n x k, the answer */
	double *value;
} tree;

bool kdri_knn_tree_pays(const kdr_mat *x)
{
	const double n = (double)kdr_mat_rows(x), d = (double)kdr_mat_cols(x);
	return x->kind == KDR_MAT_DENSE && d >= 1 && d <= MOST_COLUMNS && n / (4 * LEAF) >= exp2(d) &&
	       n <= INT32_MAX;
}

/* Where node `at` of those on a level begins; halves of a node are nodes of the next. */
static int64_t begin_of(const tree *q, int64_t level, int64_t at)
{
	return at * q->n >> level;
}

/* --- the tree ---------------------------------------------------------------------------------------------- */

static const double *row_of(const kdr_mat *x, int64_t i)
{
	return x->as.dense.data + i * x->as.dense.stride;
}

static void fit_box(const tree *q, const kdr_mat *x, int64_t begin, int64_t end, double *box)
{
	double *low = box, *high = box + q->d;
	for (int64_t p = begin; p < end; p++) {
		const double *row = row_of(x, q->order[p]);
		for (int64_t t = 0; t < q->d; t++) {
			low[t] = p == begin ? row[t] : KDRI_MIN(low[t], row[t]);
			high[t] = p == begin ? row[t] : KDRI_MAX(high[t], row[t]);
		}
	}
}

static bool knn_tree_before(const kdr_mat *x, int64_t column, int32_t a, int32_t b)
{
	double va = row_of(x, a)[column], vb = row_of(x, b)[column];
	return va < vb || (va == vb && a < b);
}

/* Partitions order[begin .. end) so that the samples before `middle` are the smallest ones: Hoare's FIND. */
static void select_middle(const kdr_mat *x, int64_t column, int32_t *order, int64_t begin, int64_t end,
                          int64_t middle)
{
	int64_t left = begin, right = end - 1;
	while (left < right) {
		int32_t pivot = order[left + (right - left) / 2];
		int64_t i = left, j = right;
		while (i <= j) {
			while (knn_tree_before(x, column, order[i], pivot))
				i++;
			while (knn_tree_before(x, column, pivot, order[j]))
				j--;
			if (i > j)
				break;
			int32_t swap = order[i];
			order[i++] = order[j];
			order[j--] = swap;
		}
		if (middle <= j)
			right = j;
		else if (middle >= i)
			left = i;
		else
			return;
	}
}

static void split_node(const tree *q, const kdr_mat *x, int64_t level, int64_t at)
{
	int64_t node = ((int64_t)1 << level) + at, widest = 0;
	double *box = q->box + node * 2 * q->d;
	int64_t begin = begin_of(q, level, at), end = begin_of(q, level, at + 1);
	fit_box(q, x, begin, end, box);
	if (level == q->levels)
		return;
	for (int64_t t = 1; t < q->d; t++)
		if (box[q->d + t] - box[t] > box[q->d + widest] - box[widest])
			widest = t;
	select_middle(x, widest, q->order, begin, end, begin_of(q, level + 1, 2 * at + 1));
}

static kdr_status knn_tree_grow(kdr_context *ctx, tree *q, const kdr_mat *x)
{
	int64_t size;
	while (q->n >> q->levels > LEAF)
		q->levels++;
	KDRI_DO(KDRI_NEW(ctx, &q->order, q->n));
	KDRI_DO(kdri_mul(ctx, q->n, q->d, &size));
	KDRI_DO(KDRI_NEW(ctx, &q->rows, size));
	KDRI_DO(kdri_mul(ctx, (int64_t)4 << q->levels, q->d, &size));
	KDRI_DO(KDRI_NEW(ctx, &q->box, size));
	for (int64_t i = 0; i < q->n; i++)
		q->order[i] = (int32_t)i;
	for (int64_t level = 0; level <= q->levels; level++)
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic, 1)
		for (int64_t at = 0; at < (int64_t)1 << level; at++)
			split_node(q, x, level, at);
	for (int64_t p = 0; p < q->n; p++)
		memcpy(q->rows + p * q->d, row_of(x, q->order[p]), (size_t)q->d * sizeof *q->rows);
	return KDR_OK;
}

/* --- the search -------------------------------------------------------------------------------------------- */

/* (E2) */
static double box_distance(const tree *q, const double *row, int64_t node)
{
	const double *low = q->box + node * 2 * q->d, *high = low + q->d;
	double sum = 0;
	for (int64_t t = 0; t < q->d; t++) {
		double off = row[t] < low[t] ? low[t] - row[t] : row[t] > high[t] ? row[t] - high[t] : 0;
		sum += off * off;
	}
	return sum;
}

static void knn_tree_offer(const tree *q, int32_t *index, double *value, int64_t *held, double v, int32_t j)
{
	int64_t at = *held < q->k ? (*held)++ : q->k - 1;
	for (; at > 0 && (value[at - 1] > v || (value[at - 1] == v && index[at - 1] > j)); at--) {
		value[at] = value[at - 1];
		index[at] = index[at - 1];
	}
	value[at] = v;
	index[at] = j;
}

/* Searches a leaf's samples for neighbours of the sample at position p of the order. */
static void visit_leaf(const tree *q, int64_t p, int64_t leaf, int32_t *index, double *value, int64_t *held)
{
	const double *row = q->rows + p * q->d;
	int64_t end = begin_of(q, q->levels, leaf + 1);
	for (int64_t other = begin_of(q, q->levels, leaf); other < end; other++) {
		const double *b = q->rows + other * q->d;
		double v = 0, worst = *held < q->k ? INFINITY : value[q->k - 1];
		for (int64_t t = 0; t < q->d; t++)
			v += (row[t] - b[t]) * (row[t] - b[t]); /* (E1) */
		if (other != p &&
		    (*held < q->k || v < worst || (v == worst && q->order[other] < index[q->k - 1])))
			knn_tree_offer(q, index, value, held, v, q->order[other]);
	}
}

static void search(const tree *q, int64_t p)
{
	const double *row = q->rows + p * q->d;
	int32_t *index = q->index + (int64_t)q->order[p] * q->k;
	double *value = q->value + (int64_t)q->order[p] * q->k, bound[DEEPEST * 2];
	int64_t stack[DEEPEST * 2], top = 0, held = 0, leaves = (int64_t)1 << q->levels;
	stack[top] = 1;
	bound[top++] = 0;
	while (top > 0) {
		int64_t node = stack[--top];
		if (held == q->k && bound[top] > value[q->k - 1])
			continue;
		if (node >= leaves) {
			visit_leaf(q, p, node - leaves, index, value, &held);
			continue;
		}
		double left = box_distance(q, row, 2 * node), right = box_distance(q, row, 2 * node + 1);
		bool first = left <= right; /* the nearer one is visited next */
		stack[top] = 2 * node + first;
		bound[top++] = first ? right : left;
		stack[top] = 2 * node + !first;
		bound[top++] = first ? left : right;
	}
}

kdr_status kdri_knn_tree(kdr_context *ctx, const kdr_mat *x, int64_t k, kdri_knn *out)
{
	kdr_status st;
	tree q = { .n = kdr_mat_rows(x), .d = kdr_mat_cols(x), .k = k };
	int64_t size, leaves, done = 0;
	KDRI_TRY(kdri_mul(ctx, q.n, k, &size));
	KDRI_TRY(KDRI_NEW(ctx, &q.index, size));
	KDRI_TRY(KDRI_NEW0(ctx, &q.value, size));
	for (int64_t p = 0; p < size; p++)
		q.index[p] = -1;
	KDRI_TRY(knn_tree_grow(ctx, &q, x));
	leaves = (int64_t)1 << q.levels;
	while (done < leaves) {
		int64_t end = KDRI_MIN(leaves, done + LEAVES_BETWEEN_LOOKS);
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic, 16)
		for (int64_t leaf = done; leaf < end; leaf++)
			for (int64_t p = begin_of(&q, q.levels, leaf); p < begin_of(&q, q.levels, leaf + 1);
			     p++)
				search(&q, p);
		done = end;
		if (kdri_iteration(ctx, "neighbours", begin_of(&q, q.levels, done), q.n, NAN))
			break;
	}
	*out = (kdri_knn){ q.n, k, q.index, q.value };
	q.index = NULL;
	q.value = NULL;
done:
	KDRI_FREE(ctx, q.order, q.rows, q.box, q.index, q.value);
	return st;
}
