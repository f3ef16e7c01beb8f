/* One tree of a forest: ranks, splits, growth. SPDX-License-Identifier: BSD-3-Clause
 *
 * A tree splits its rows in two, and the parts again, until a part is pure, too small or deep enough. With the weights W_c of
 * the classes in a part, W their sum,
 *
 *   (E1)  Gini impurity  G = 1 - sum_c (W_c / W)^2
 *   (E2)  the split (feature, threshold) is the one that most lowers  W_left G_left + W_right G_right,  that is, has the largest
 *         sum_c W_left,c^2 / W_left + sum_c W_right,c^2 / W_right;  thresholds lie halfway between neighbouring values       [B01]
 *   (E3)  extremely random: one threshold of each feature, uniform between its least and largest value                  [GEW06]
 *   (E4)  importance of a feature: sum over its splits of W G - W_left G_left - W_right G_right, as a share; mean over the trees
 *
 * At each split features are drawn without replacement until the requested number has been tried and one of them was
 * not constant. Rows without a value are sent left or right, whichever is better by (E2); with (E3) the side is
 * random. If no row of a part lacks a value, the larger side is used.
 *
 * Values are replaced by their ranks once, 16 bits each, so that a node finds (E2) by counting rows of each rank, or, if it has
 * few rows, by sorting ranks: O(rows) or O(rows log rows) per feature, and never a comparison of doubles. Features of more
 * than 65,534 different values are cut into that many groups of equal size. */
#include "engine/forest/forest.h"

#include "matrix/linalg.h"

#include <stdlib.h>

enum { MOST_RANKS = 65534, MISSING = 65535, FEW = 48 };

/* Whether to stop. Ranks must stop together: they do so between trees. */
static bool forest_leave_off(kdr_context *ctx, const char *stage, int64_t at, int64_t count)
{
	return !ctx->comm && kdri_leave_off(ctx, stage, at, count);
}

/* --- ranks ----------------------------------------------------------------------------------------------------------- */

typedef struct cell {
	double value;
	int64_t row;
} cell;

static int by_cell_value(const void *a, const void *b)
{
	double x = ((const cell *)a)->value, y = ((const cell *)b)->value;
	return (x > y) - (x < y);
}

void kdri_ranks_free(kdr_context *ctx, kdri_ranks *r)
{
	for (int64_t j = 0; j < r->d; j++) {
		KDRI_FREE(ctx, r->value ? r->value[j] : NULL, r->cut ? r->cut[j] : NULL);
	}
	KDRI_FREE(ctx, r->value, r->cut, r->rank, r->count);
}

/* Ranks of one feature, whose values are in `column`; `cells` has room for all rows. Zeros, most cells of word counts, are sorted as
 * one cell. */
static void rank_feature(const double *column, int64_t n, cell *cells, uint16_t *rank, double *values,
                         double *cuts, int64_t *count)
{
	int64_t count_cells = 0, zeros = 0, distinct = 0, at = -1;
	for (int64_t i = 0; i < n; i++) {
		double v = column[i];
		if (isnan(v))
			rank[i] = MISSING;
		else if (v != 0)
			cells[count_cells++] = (cell){ v, i };
		else if (zeros++ == 0)
			cells[count_cells++] = (cell){ 0, i };
	}
	qsort(cells, (size_t)count_cells, sizeof *cells, by_cell_value);
	for (int64_t i = 0; i < count_cells; i++)
		distinct += i == 0 || cells[i].value > cells[i - 1].value;
	const int64_t present = count_cells + KDRI_MAX(zeros - 1, 0),
	              each = distinct <= MOST_RANKS ? 1 : (present + MOST_RANKS - 1) / MOST_RANKS;
	uint16_t of_zero = 0;
	for (int64_t i = 0, place = 0, first = 0; i < count_cells; i++) { /* place: among all present cells */
		bool another = i == 0 || (cells[i].value > cells[i - 1].value && place - first >= each);
		if (another && i > 0) {
			double halfway = values[at] + (cells[i].value - values[at]) / 2;
			cuts[at] = halfway < cells[i].value ? halfway : values[at];
		}
		if (another) {
			at++;
			first = place;
		}
		rank[cells[i].row] = (uint16_t)at;
		values[at] = cells[i].value;
		if (cells[i].value == 0)
			of_zero = (uint16_t)at;
		place += cells[i].value == 0 ? zeros : 1;
	}
	for (int64_t i = 0; i < n && zeros > 1; i++)
		if (column[i] == 0)
			rank[i] = of_zero;
	*count = at + 1;
}

/* Column j of the rows, where place[i] is the row's number among them, or -1. `turned` is x' of a sparse x. */
static void load_column(const kdr_mat *x, const kdr_csr *turned, const int64_t *rows, const int64_t *place,
                        int64_t n, int64_t j, double *column)
{
	if (x->kind == KDR_MAT_DENSE) {
		for (int64_t i = 0; i < n; i++)
			column[i] = x->as.dense.data[rows[i] * x->as.dense.stride + j];
		return;
	}
	memset(column, 0, (size_t)n * sizeof *column);
	for (int64_t p = turned->rowptr[j]; p < turned->rowptr[j + 1]; p++)
		if (place[turned->col[p]] >= 0)
			column[place[turned->col[p]]] = turned->val[p];
}

kdr_status kdri_ranks_new(kdr_context *ctx, const kdr_mat *x, const int64_t *rows, int64_t n, kdri_ranks *r)
{
	kdr_status st;
	cell *cells = NULL;
	double *values = NULL; /* n each: a column, different values, cuts */
	int64_t size, *place = NULL, d = kdr_mat_cols(x);
	kdri_own turned = { .view = kdr_mat_from_dense(NULL, 0, 0) };
	*r = (kdri_ranks){ .n = n, .d = d };
	KDRI_TRY(kdri_mul(ctx, n, d, &size));
	KDRI_TRY(KDRI_NEW0(ctx, &r->rank, size));
	KDRI_TRY(KDRI_NEW(ctx, &r->count, d));
	KDRI_TRY(KDRI_NEW0(ctx, &r->value, d));
	KDRI_TRY(KDRI_NEW0(ctx, &r->cut, d));
	KDRI_TRY(KDRI_NEW(ctx, &cells, n));
	KDRI_TRY(KDRI_NEW0(ctx, &values, 3 * n));
	if (x->kind == KDR_MAT_CSR) {
		KDRI_TRY(kdri_mat_transpose(ctx, x, &turned));
		KDRI_TRY(KDRI_NEW(ctx, &place, kdr_mat_rows(x)));
		for (int64_t i = 0; i < kdr_mat_rows(x); i++)
			place[i] = -1;
		for (int64_t i = 0; i < n; i++)
			place[rows[i]] = i;
	}
	for (int64_t j = 0; j < d; j++) {
		double *different = values + n, *cuts = values + 2 * n;
		/* Features that are not ranked before it is time to stop count as constant. */
		r->count[j] = 1;
		different[0] = cuts[0] = 0;
		if (j == 0 || !forest_leave_off(ctx, "ranks", j, d)) {
			load_column(x, &turned.view.as.csr, rows, place, n, j, values);
			rank_feature(values, n, cells, r->rank + j * n, different, cuts, &r->count[j]);
		}
		KDRI_TRY(KDRI_NEW(ctx, &r->value[j], r->count[j]));
		KDRI_TRY(KDRI_NEW(ctx, &r->cut[j], r->count[j]));
		memcpy(r->value[j], different, (size_t)r->count[j] * sizeof *different);
		memcpy(r->cut[j], cuts, (size_t)r->count[j] * sizeof *cuts);
		r->most = KDRI_MAX(r->most, r->count[j]);
	}
done:
	kdri_own_free(ctx, &turned);
	KDRI_FREE(ctx, place, cells, values);
	return st;
}

/* --- one tree ------------------------------------------------------------------------------------------------------------ */

typedef struct part {
	int64_t begin, end, depth, node; /* rows of the tree's list; the node they belong to */
} part;

typedef struct split {
	double score; /* (E2) */
	int64_t feature;
	int64_t rank; /* rows up to it go left */
	double threshold;
	bool missing_left;
} split;

/* What growing a tree needs; one for each thread. */
struct kdri_grower {
	const kdri_ranks *r;
	const int32_t *label; /* n */
	const double *weight; /* n */
	int64_t classes;
	const kdri_forest_options *o;
	kdri_rng rng;
	int64_t tries;                /* features at each split */
	int32_t *list;                /* rows of the tree, those of a part together */
	int32_t *spare;               /* n */
	double *bag;                  /* n: weight of each row in this tree */
	int32_t *feature;             /* d, in random order as far as drawn */
	uint32_t *key, *other;        /* n: for sorting */
	double *tally;                /* most ranks x classes */
	int32_t *rows_of;             /* most ranks */
	double *all, *left, *lacking; /* classes */
	part *stack;
	int64_t depth; /* parts on the stack */
	/* the tree */
	kdri_forest_node *node;
	int64_t nodes, node_room, leaves, leaf_room;
	double *share, *importance;
};

void kdri_grower_free(kdr_context *ctx, kdri_grower *g)
{
	if (!g)
		return;
	KDRI_FREE(ctx, g->list, g->spare, g->bag, g->feature, g->key, g->other, g->tally, g->rows_of, g->all,
	          g->left, g->lacking, g->stack, g->node, g->share, g->importance, g);
}

kdr_status kdri_grower_new(kdr_context *ctx, const kdri_ranks *r, const int32_t *label, const double *weight,
                           int64_t classes, const kdri_forest_options *o, kdri_grower **out)
{
	kdr_status st;
	kdri_grower *g = NULL;
	int64_t n = r->n, d = r->d, c = classes, size;
	KDRI_TRY(KDRI_NEW0(ctx, &g, 1));
	*g = (kdri_grower){ .r = r, .label = label, .weight = weight, .classes = classes, .o = o };
	g->tries = KDRI_MAX(1, (int64_t)(o->features > 0 ? o->features * (double)d : sqrt((double)d)));
	KDRI_TRY(kdri_mul(ctx, KDRI_MAX(g->r->most, 1), c, &size));
	KDRI_TRY(KDRI_NEW(ctx, &g->list, n));
	KDRI_TRY(KDRI_NEW(ctx, &g->spare, n));
	KDRI_TRY(KDRI_NEW(ctx, &g->bag, n));
	KDRI_TRY(KDRI_NEW(ctx, &g->feature, d));
	KDRI_TRY(KDRI_NEW(ctx, &g->key, n));
	KDRI_TRY(KDRI_NEW(ctx, &g->other, n));
	KDRI_TRY(KDRI_NEW0(ctx, &g->tally, size));
	KDRI_TRY(KDRI_NEW0(ctx, &g->rows_of, KDRI_MAX(g->r->most, 1)));
	KDRI_TRY(KDRI_NEW(ctx, &g->all, c));
	KDRI_TRY(KDRI_NEW(ctx, &g->left, c));
	KDRI_TRY(KDRI_NEW(ctx, &g->lacking, c));
	KDRI_TRY(KDRI_NEW(ctx, &g->stack, n + 2));
	KDRI_TRY(KDRI_NEW0(ctx, &g->importance, d));
	/* A tree of leaves of one row has fewer than 2 n nodes. */
	g->node_room = 2 * n;
	g->leaf_room = n;
	KDRI_TRY(kdri_mul(ctx, g->leaf_room, c, &size));
	KDRI_TRY(KDRI_NEW(ctx, &g->node, g->node_room));
	KDRI_TRY(KDRI_NEW(ctx, &g->share, size));
	*out = g;
	g = NULL;
done:
	kdri_grower_free(ctx, g);
	return st;
}

/* W (1 - G) of (E1): sum_c w_c^2 / sum_c w_c; 0 for nothing. */
static double purity(const double *w, int64_t classes)
{
	double sum = 0, squares = 0;
	for (int64_t c = 0; c < classes; c++) {
		sum += w[c];
		squares += w[c] * w[c];
	}
	return sum > 0 ? squares / sum : 0;
}

static double purity_of_rest(const double *all, const double *left, int64_t classes)
{
	double sum = 0, squares = 0;
	for (int64_t c = 0; c < classes; c++) {
		double w = all[c] - left[c];
		sum += w;
		squares += w * w;
	}
	return sum > 0 ? squares / sum : 0;
}

/* Keys in increasing order of their upper 16 bits: ranks. */
static uint32_t *sort_keys(kdri_grower *g, int64_t m)
{
	uint32_t *a = g->key, *b = g->other;
	if (m <= FEW) {
		for (int64_t i = 1; i < m; i++) {
			uint32_t key = a[i];
			int64_t j = i;
			for (; j > 0 && a[j - 1] > key; j--)
				a[j] = a[j - 1];
			a[j] = key;
		}
		return a;
	}
	for (int shift = 16; shift < 32; shift += 8) {
		int64_t count[257] = { 0 };
		for (int64_t i = 0; i < m; i++)
			count[(a[i] >> shift & 255) + 1]++;
		for (int i = 0; i < 256; i++)
			count[i + 1] += count[i];
		for (int64_t i = 0; i < m; i++)
			b[count[a[i] >> shift & 255]++] = a[i];
		uint32_t *swap = a;
		a = b;
		b = swap;
	}
	return a;
}

/* Whether a split after `rank` is better than the best so far: `rows` of the `present` rows are left of it, not
 * counting those without a value. */
static void consider(kdri_grower *g, int64_t feature, int64_t rank, double threshold, int64_t rows,
                     int64_t present, int64_t lacking, bool either, split *best)
{
	const int64_t c = g->classes, least = g->o->min_leaf;
	for (int side = lacking > 0 && either ? 0 : 1; side < 2;
	     side++) { /* 0: rows that lack a value go left, too */
		int64_t left = rows + (side == 0 ? lacking : 0), right = present + lacking - left;
		if (left < least || right < least)
			continue;
		for (int64_t k = 0; k < c && side == 0; k++)
			g->left[k] += g->lacking[k];
		double score = purity(g->left, c) + purity_of_rest(g->all, g->left, c); /* (E2) */
		for (int64_t k = 0; k < c && side == 0; k++)
			g->left[k] -= g->lacking[k];
		if (score > best->score)
			*best = (split){ .score = score,
				         .feature = feature,
				         .rank = rank,
				         .threshold = threshold,
				         .missing_left = lacking > 0 ? side == 0 : 2 * rows >= present };
	}
}

/* The rows of a part by their ranks of a feature: lowest and highest rank; rows without a value are added up in g->lacking. */
static int64_t look_at_ranks(kdri_grower *g, const part *p, const uint16_t *rank, int64_t *low, int64_t *high)
{
	int64_t lacking = 0;
	*low = MISSING;
	*high = -1;
	for (int64_t i = p->begin; i < p->end; i++) {
		int64_t r = rank[g->list[i]];
		if (r == MISSING) {
			if (lacking++ == 0)
				memset(g->lacking, 0, (size_t)g->classes * sizeof *g->lacking);
			g->lacking[g->label[g->list[i]]] += g->bag[g->list[i]];
			continue;
		}
		*low = KDRI_MIN(*low, r);
		*high = KDRI_MAX(*high, r);
	}
	return lacking;
}

/* (E2) by counting: every rank between the lowest and the highest is tried. */
static void scan_counts(kdri_grower *g, const part *p, int64_t feature, int64_t low, int64_t high,
                        int64_t lacking, split *best)
{
	const uint16_t *rank = g->r->rank + feature * g->r->n;
	const int64_t c = g->classes, present = p->end - p->begin - lacking;
	int64_t rows = 0;
	for (int64_t i = p->begin; i < p->end; i++) {
		int32_t row = g->list[i];
		if (rank[row] == MISSING)
			continue;
		g->rows_of[rank[row] - low]++;
		g->tally[(rank[row] - low) * c + g->label[row]] += g->bag[row];
	}
	memset(g->left, 0, (size_t)c * sizeof *g->left);
	for (int64_t r = low; r <= high; r++) {
		double *here = g->tally + (r - low) * c;
		if (g->rows_of[r - low] == 0)
			continue;
		rows += g->rows_of[r - low];
		for (int64_t k = 0; k < c; k++) {
			g->left[k] += here[k];
			here[k] = 0;
		}
		g->rows_of[r - low] = 0;
		if (r == high)
			break;
		int64_t next = r + 1;
		while (g->rows_of[next - low] == 0)
			next++;
		double cut = next == r + 1
		                     ? g->r->cut[feature][r]
		                     : g->r->value[feature][r] +
		                               (g->r->value[feature][next] - g->r->value[feature][r]) / 2;
		consider(g, feature, r, cut < g->r->value[feature][next] ? cut : g->r->value[feature][r],
		         rows, present, lacking, true, best);
	}
}

/* (E2) by sorting. */
static void scan_sorted(kdri_grower *g, const part *p, int64_t feature, int64_t lacking, split *best)
{
	const uint16_t *rank = g->r->rank + feature * g->r->n;
	const double *value = g->r->value[feature];
	const int64_t c = g->classes;
	int64_t m = 0;
	for (int64_t i = p->begin; i < p->end; i++)
		if (rank[g->list[i]] != MISSING)
			g->key[m++] = (uint32_t)rank[g->list[i]] << 16 | (uint32_t)(i - p->begin);
	const uint32_t *key = sort_keys(g, m);
	memset(g->left, 0, (size_t)c * sizeof *g->left);
	for (int64_t i = 0; i + 1 < m; i++) {
		int32_t row = g->list[p->begin + (key[i] & 65535)];
		int64_t r = key[i] >> 16, next = key[i + 1] >> 16;
		g->left[g->label[row]] += g->bag[row];
		if (r == next)
			continue;
		double cut = next == r + 1 ? g->r->cut[feature][r] : value[r] + (value[next] - value[r]) / 2;
		consider(g, feature, r, cut < value[next] ? cut : value[r], i + 1, m, lacking, true, best);
	}
}

/* (E3) */
static void try_random(kdri_grower *g, const part *p, int64_t feature, int64_t low, int64_t high,
                       int64_t lacking, split *best)
{
	const uint16_t *rank = g->r->rank + feature * g->r->n;
	const double *value = g->r->value[feature];
	double threshold = value[low] + kdri_rng_uniform(&g->rng) * (value[high] - value[low]);
	int64_t below = low, above = high, rows = 0; /* value[below] <= threshold < value[above] */
	if (!(threshold < value[high]))
		threshold = value[low];
	while (above - below > 1) {
		int64_t middle = below + (above - below) / 2;
		if (value[middle] <= threshold)
			below = middle;
		else
			above = middle;
	}
	memset(g->left, 0, (size_t)g->classes * sizeof *g->left);
	for (int64_t i = p->begin; i < p->end; i++) {
		int32_t row = g->list[i];
		if (rank[row] == MISSING || rank[row] > below)
			continue;
		g->left[g->label[row]] += g->bag[row];
		rows++;
	}
	int64_t present = p->end - p->begin - lacking;
	if (lacking > 0 && kdri_rng_below(&g->rng, 2) == 0) {
		split with = { .score = best->score };
		for (int64_t k = 0; k < g->classes; k++)
			g->left[k] += g->lacking[k];
		consider(g, feature, below, threshold, rows + lacking, present + lacking, 0, false, &with);
		with.missing_left = true;
		if (with.score > best->score)
			*best = with;
		return;
	}
	consider(g, feature, below, threshold, rows, present, lacking, false, best);
}

static split find_split(kdri_grower *g, const part *p)
{
	split best = { .score = -INFINITY };
	const int64_t d = g->r->d, m = p->end - p->begin;
	bool varied = false;
	for (int64_t tried = 0; tried < d && (tried < g->tries || !varied); tried++) {
		int64_t at = tried + kdri_rng_below(&g->rng, d - tried), low, high;
		int32_t feature = g->feature[at];
		g->feature[at] = g->feature[tried];
		g->feature[tried] = feature;
		int64_t lacking = look_at_ranks(g, p, g->r->rank + feature * g->r->n, &low, &high);
		if (high < 0 || (low == high && lacking == 0))
			continue;
		varied = true;
		if (low == high) { /* the rows differ only in whether they have a value */
			memset(g->left, 0, (size_t)g->classes * sizeof *g->left);
			for (int64_t k = 0; k < g->classes; k++)
				g->left[k] = g->all[k] - g->lacking[k];
			consider(g, feature, high, g->r->value[feature][high], m - lacking, m - lacking,
			         lacking, false, &best);
		} else if (g->o->random_splits) {
			try_random(g, p, feature, low, high, lacking, &best);
		} else if (m > 65536 || (high - low) * (g->classes + 1) <= 3 * m) {
			scan_counts(g, p, feature, low, high, lacking, &best);
		} else {
			scan_sorted(g, p, feature, lacking, &best);
		}
	}
	return best;
}

/* Moves the rows of the left child to the front and returns their number. */
static int64_t divide(kdri_grower *g, const part *p, const split *s)
{
	const uint16_t *rank = g->r->rank + s->feature * g->r->n;
	int64_t left = p->begin, others = 0;
	for (int64_t i = p->begin; i < p->end; i++) {
		int32_t row = g->list[i];
		if (rank[row] == MISSING ? s->missing_left : rank[row] <= s->rank)
			g->list[left++] = row;
		else
			g->spare[others++] = row;
	}
	memcpy(g->list + left, g->spare, (size_t)others * sizeof *g->list);
	return left - p->begin;
}

static void put_leaf(kdri_grower *g, const part *p)
{
	double sum = 0, *to = g->share + g->leaves * g->classes;
	for (int64_t c = 0; c < g->classes; c++)
		sum += g->all[c];
	for (int64_t c = 0; c < g->classes; c++)
		to[c] = g->all[c] / sum;
	g->node[p->node] = (kdri_forest_node){ .feature = -1, .child = g->leaves++ };
}

/* Splits a part, or makes it a leaf: also if it is time to stop. */
static void grow_part(kdri_grower *g, const part *p, bool stop)
{
	const int64_t m = p->end - p->begin;
	double sum = 0, most = 0;
	memset(g->all, 0, (size_t)g->classes * sizeof *g->all);
	for (int64_t i = p->begin; i < p->end; i++)
		g->all[g->label[g->list[i]]] += g->bag[g->list[i]];
	for (int64_t c = 0; c < g->classes; c++) {
		sum += g->all[c];
		most = KDRI_MAX(most, g->all[c]);
	}
	split s = { .score = -INFINITY };
	if (!stop && m >= KDRI_MAX(2, 2 * g->o->min_leaf) && most < sum &&
	    (g->o->max_depth == 0 || p->depth < g->o->max_depth))
		s = find_split(g, p);
	if (!(s.score > -INFINITY)) {
		put_leaf(g, p);
		return;
	}
	g->importance[s.feature] += s.score - purity(g->all, g->classes); /* (E4) */
	int64_t left = divide(g, p, &s), child = g->nodes;
	g->nodes += 2;
	g->node[p->node] = (kdri_forest_node){
		.threshold = s.threshold, .feature = s.feature, .child = child, .missing_left = s.missing_left
	};
	g->stack[g->depth++] = (part){ p->begin + left, p->end, p->depth + 1, child + 1 };
	g->stack[g->depth++] = (part){ p->begin, p->begin + left, p->depth + 1, child };
}

/* The tree of random stream t, in g. */
void kdri_grow(kdr_context *ctx, kdri_grower *g, int64_t t)
{
	const int64_t n = g->r->n;
	int64_t rows = 0;
	g->rng = kdri_rng_stream(ctx->seed, "forest", (g->o->stream << 20) + (uint64_t)t);
	memset(g->importance, 0, (size_t)g->r->d * sizeof *g->importance);
	for (int64_t j = 0; j < g->r->d; j++) /* what earlier trees drew must not matter */
		g->feature[j] = (int32_t)j;
	for (int64_t i = 0; i < n; i++)
		g->bag[i] = g->o->bootstrap ? 0 : g->weight[i];
	for (int64_t i = 0; i < n && g->o->bootstrap; i++) {
		int64_t row = kdri_rng_below(&g->rng, n);
		g->bag[row] += g->weight[row];
	}
	for (int64_t i = 0; i < n; i++)
		if (g->bag[i] > 0)
			g->list[rows++] = (int32_t)i;
	g->nodes = 1;
	g->leaves = 0;
	g->depth = 0;
	g->stack[g->depth++] = (part){ 0, rows, 0, 0 };
	while (g->depth > 0) {
		part p = g->stack[--g->depth];
		grow_part(g, &p, g->nodes > 1 && forest_leave_off(ctx, "trees", t, g->o->trees));
	}
	double sum = 0;
	for (int64_t j = 0; j < g->r->d; j++)
		sum += g->importance[j];
	for (int64_t j = 0; j < g->r->d && sum > 0; j++)
		g->importance[j] /= sum;
}

void kdri_tree_free(kdr_context *ctx, kdri_tree *t)
{
	KDRI_FREE(ctx, t->node, t->share, t->importance);
}

kdr_status kdri_tree_keep(kdr_context *ctx, const kdri_grower *g, kdri_tree *t)
{
	const size_t c = (size_t)g->classes;
	*t = (kdri_tree){ .nodes = g->nodes, .leaves = g->leaves };
	KDRI_DO(KDRI_NEW(ctx, &t->node, g->nodes));
	KDRI_DO(KDRI_NEW(ctx, &t->share, g->leaves * g->classes));
	KDRI_DO(KDRI_NEW(ctx, &t->importance, g->r->d));
	memcpy(t->node, g->node, (size_t)g->nodes * sizeof *t->node);
	memcpy(t->share, g->share, (size_t)g->leaves * c * sizeof *t->share);
	memcpy(t->importance, g->importance, (size_t)g->r->d * sizeof *t->importance);
	return KDR_OK;
}
