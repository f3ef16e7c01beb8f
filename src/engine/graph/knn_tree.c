/* Nearest neighbours among few columns, exactly. SPDX-License-Identifier: BSD-3-Clause
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
#include "engine/graph/knn_tree.h"

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
