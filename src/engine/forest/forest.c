/* Forests of classification trees. SPDX-License-Identifier: BSD-3-Clause
 *
 * [B01] L. Breiman: Random forests. Machine Learning 45:5-32, 2001.
 * [GEW06] P. Geurts, D. Ernst, L. Wehenkel: Extremely randomized trees. Machine Learning 63:3-42, 2006.
 *
 * A forest is the mean of many trees (tree.c), each grown on rows drawn with replacement, or on all, with a random choice of
 * features at each split. If classes are to be balanced,
 *
 *   (E1)  a row of class c weighs n / (classes n_c) times its given weight.
 *
 * Every tree has its own random stream, so that threads may grow them in any order. */
#include "engine/forest/forest.h"

#include "matrix/linalg.h"

/* --- all trees --------------------------------------------------------------------------------------------------------------- */

kdri_forest_options kdri_forest_defaults(void)
{
	return (kdri_forest_options){ .trees = 100, .bootstrap = true, .balanced = true, .min_leaf = 5 };
}

void kdri_forest_free(kdr_context *ctx, kdri_forest *f)
{
	KDRI_FREE(ctx, f->root, f->node, f->share, f->importance);
	*f = (kdri_forest){ 0 };
}

/* Concatenates the trees. */
static kdr_status join_trees(kdr_context *ctx, const kdri_tree *trees, int64_t count, int64_t d,
                             int64_t classes, kdri_forest *f)
{
	int64_t nodes = 0, leaves = 0;
	*f = (kdri_forest){ .trees = count, .classes = classes, .features = d };
	for (int64_t t = 0; t < count; t++) {
		f->nodes += trees[t].nodes;
		f->leaves += trees[t].leaves;
	}
	KDRI_DO(KDRI_NEW(ctx, &f->root, count));
	KDRI_DO(KDRI_NEW(ctx, &f->node, f->nodes));
	KDRI_DO(KDRI_NEW(ctx, &f->share, f->leaves * classes));
	KDRI_DO(KDRI_NEW0(ctx, &f->importance, d));
	for (int64_t t = 0; t < count; t++) {
		const kdri_tree *from = &trees[t];
		f->root[t] = nodes;
		for (int64_t i = 0; i < from->nodes; i++) {
			kdri_forest_node node = from->node[i];
			node.child += node.feature < 0 ? leaves : nodes;
			f->node[nodes + i] = node;
		}
		memcpy(f->share + leaves * classes, from->share,
		       (size_t)(from->leaves * classes) * sizeof *f->share);
		kdri_axpy(1 / (double)count, from->importance, f->importance, d);
		nodes += from->nodes;
		leaves += from->leaves;
	}
	return KDR_OK;
}

/* Rows that have a class, those classes, and what each row weighs: (E1). */
static kdr_status take_rows(kdr_context *ctx, const int64_t *labels, const double *weights, int64_t rows,
                            int64_t classes, bool balanced, int64_t **out, int32_t **label, double **weight,
                            int64_t *count)
{
	kdr_status st;
	int64_t n = 0, *of = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &of, classes));
	KDRI_TRY(KDRI_NEW(ctx, out, rows));
	KDRI_TRY(KDRI_NEW(ctx, label, rows));
	KDRI_TRY(KDRI_NEW(ctx, weight, rows));
	for (int64_t i = 0; i < rows; i++)
		if (labels[i] >= 0) {
			(*label)[n] = (int32_t)labels[i];
			(*weight)[n] = weights ? weights[i] : 1;
			(*out)[n++] = i;
			of[labels[i]]++;
		}
	for (int64_t i = 0; i < n && balanced; i++)
		(*weight)[i] *= (double)n / ((double)classes * (double)of[(*label)[i]]);
	*count = n;
done:
	kdri_free(ctx, of);
	return st;
}

kdr_status kdri_forest_fit(kdr_context *ctx, const kdr_mat *x, const int64_t *labels, const double *weights,
                           int64_t classes, const kdri_forest_options *o, kdri_forest *out)
{
	kdr_status st;
	int64_t *rows = NULL, n, done_trees = 0, ready = 0;
	int32_t *label = NULL;
	double *weight = NULL;
	kdri_ranks r = { 0 };
	kdri_tree *trees = NULL;
	kdri_grower **growers = NULL;
	const int64_t threads = KDRI_MIN(ctx->threads, o->trees);
	KDRI_TRY(take_rows(ctx, labels, weights, kdr_mat_rows(x), classes, o->balanced, &rows, &label,
	                   &weight, &n));
	if (n < 1 || n > INT32_MAX)
		KDRI_FAIL(ctx, KDR_ERR_DATA, "a forest needs 1 to %d labelled rows, but there are %lld",
		          INT32_MAX, (long long)n);
	KDRI_TRY(kdri_ranks_new(ctx, x, rows, n, &r));
	KDRI_TRY(KDRI_NEW0(ctx, &trees, o->trees));
	KDRI_TRY(KDRI_NEW0(ctx, &growers, threads));
	while (done_trees < o->trees) { /* the team grows when jobs beside this one end */
		const int64_t now = KDRI_MIN(KDRI_MIN(kdri_team(ctx), threads), o->trees - done_trees);
		for (; ready < now; ready++)
			KDRI_TRY(kdri_grower_new(ctx, &r, label, weight, classes, o, &growers[ready]));
#pragma omp parallel for num_threads(now) schedule(static, 1) if (now > 1)
		for (int64_t w = 0; w < now; w++)
			kdri_grow(ctx, growers[w], done_trees + w);
		for (int64_t w = 0; w < now; w++)
			KDRI_TRY(kdri_tree_keep(ctx, growers[w], &trees[done_trees++]));
		if (o->stage && kdri_iteration(ctx, o->stage, done_trees, o->trees, NAN))
			break;
	}
	KDRI_TRY(join_trees(ctx, trees, done_trees, r.d, classes, out));
done:
	for (int64_t w = 0; w < ready; w++)
		kdri_grower_free(ctx, growers[w]);
	for (int64_t t = 0; trees && t < o->trees; t++)
		kdri_tree_free(ctx, &trees[t]);
	KDRI_FREE(ctx, growers, trees);
	kdri_ranks_free(ctx, &r);
	KDRI_FREE(ctx, rows, label, weight);
	return st;
}

/* --- new rows ------------------------------------------------------------------------------------------------------------------ */

static const double *leaf_of(const kdri_forest *f, int64_t t, const double *row)
{
	const kdri_forest_node *node = &f->node[f->root[t]];
	while (node->feature >= 0) {
		double v = row[node->feature];
		bool left = isnan(v) ? node->missing_left != 0 : v <= node->threshold;
		node = &f->node[node->child + !left];
	}
	return f->share + node->child * f->classes;
}

/* Row i of x, in full. */
static const double *whole_row(const kdr_mat *x, int64_t i, double *room)
{
	if (x->kind == KDR_MAT_DENSE)
		return x->as.dense.data + i * x->as.dense.stride;
	memset(room, 0, (size_t)x->as.csr.cols * sizeof *room);
	for (int64_t p = x->as.csr.rowptr[i]; p < x->as.csr.rowptr[i + 1]; p++)
		room[x->as.csr.col[p]] = x->as.csr.val[p];
	return room;
}

kdr_status kdri_forest_predict(kdr_context *ctx, const kdri_forest *f, const kdr_mat *x, double *p)
{
	kdr_status st;
	const int64_t c = f->classes, n = kdr_mat_rows(x), d = kdr_mat_cols(x), chunks = kdri_chunks(n);
	double *room = NULL;
	if (d != f->features)
		return kdri_fail(ctx, KDR_ERR_DATA,
		                 "the data have %lld columns, but the forest was trained on %lld",
		                 (long long)d, (long long)f->features);
	KDRI_TRY(KDRI_NEW(ctx, &room, x->kind == KDR_MAT_CSR ? ctx->threads * d : 0));
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic, 1) if (n > KDRI_BLOCK)
	for (int64_t k = 0; k < chunks; k++)
		for (int64_t i = kdri_chunk_begin(n, chunks, k); i < kdri_chunk_begin(n, chunks, k + 1);
		     i++) {
			const double *row = whole_row(x, i, room + kdri_thread() * d);
			double *to = p + i * c;
			memset(to, 0, (size_t)c * sizeof *to);
			for (int64_t t = 0; t < f->trees; t++)
				kdri_axpy(1 / (double)f->trees, leaf_of(f, t, row), to, c);
		}
done:
	kdri_free(ctx, room);
	return st;
}

kdr_status kdri_forest_check(kdr_context *ctx, const kdri_forest *f)
{
	bool sound = f->trees > 0 && f->classes > 0;
	for (int64_t t = 0; t < f->trees && sound; t++)
		sound = f->root[t] >= 0 && f->root[t] < f->nodes;
	for (int64_t i = 0; i < f->nodes && sound; i++) {
		const kdri_forest_node *n = &f->node[i];
		/* Children come after their parents, so that every path ends. */
		sound = n->feature < 0 ? n->child >= 0 && n->child < f->leaves
		                       : n->feature < f->features && n->child > i && n->child + 1 < f->nodes;
	}
	return sound ? KDR_OK
	             : kdri_fail(ctx, KDR_ERR_DATA,
	                         "the trees of the model are damaged: invalid links between nodes");
}
