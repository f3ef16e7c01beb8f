/* Votes on the edges of a graph. SPDX-License-Identifier: BSD-3-Clause
 *
 * With partitions m = 1..M of weight u_m,
 *
 *   (E1)  co_ij = sum_m u_m [m puts i and j together] / sum_m u_m
 *
 * Only edges of the graph are evaluated, so that nothing is n x n. */
/* The vote on a graph of samples and landmarks.
 *
 * W = Z L^-1 Z' as in engine/graph/landmarks.c, Z the weights of the edges to landmarks after the votes. What the vote adds to W,
 * t co = t sum_m u_m B_m B_m' with the one-hot labels B_m, has the same form: a cluster c of partition m, of n_mc samples, is one
 * more column, to which each of its samples is joined by
 *
 *   (E2)  z_i,mc = t u_m n_mc
 *
 * because the column's sum is then t u_m n_mc^2, and it contributes z z / sum = t u_m to any two of them. The leading
 * eigenvectors of
 *
 *   (E3)  A = [Z, T] diag([Z, T]'1)^-1 [Z, T]',  T of (E2),  t = a hundredth of sum Z / sum_mc u_m n_mc^2
 *
 * are therefore those of a graph of m + sum_m k_m columns, which ranks add up as they do without the second part. If
 * there are too many columns, clusters are omitted: with thousands of them, the columns of Z connect the samples well
 * enough. */
/* The partition that a ballot votes for.
 *
 * With the votes co_ij of ballot.c, (E1), and a graph w of nearest neighbours,
 *
 *   (E5)  W_ij = w_ij (0.05 + co_ij)^2 on the edges of w
 *   (E6)  A = W + t co,  t such that the second part has a hundredth of the first's weight
 *   (E7)  Y = the k leading eigenvectors of D^-1/2 A D^-1/2, D = diag(A 1); rows to unit length; k-means
 *   (E8)  agreement_i = sum_j w_ij a_ij / sum_j w_ij,  a_ij = co_ij if the answer puts i and j together,
 *         1 - co_ij if not
 *
 * The square makes edges that most partitions cut nearly vanish, and the 0.05 keeps the graph connected if all of
 * them do: a partition in one cluster adds the same to all edges, one in singletons nothing, and neither moves the
 * answer.
 *
 * DEVIATION: the rule as first measured has W alone. A few samples that are one another's neighbours, for example
 * copies of one page, are then a separate component of the graph and use up one of k eigenvectors: on 400 documents
 * of two classes the answer was these few against all others (NMI .03, where k-means had .77). co joins every sample
 * to similar ones, with or without edges. A hundredth of the weight is hardly more than needed for this, and a higher
 * weight is worse if the graph is good. How it was chosen: docs/notes/auto.md.
 *
 * co is n x n but of rank at most sum_m k_m: with the one-hot labels B_m, co = sum_m u_m B_m B_m' / sum_m u_m
 * is applied to a vector by adding its entries within each cluster and returning the sums to the members, O(n M). The
 * eigenvectors are computed by the block solver (matrix/ritz.c), which finds all copies of the eigenvalue 1 if
 * members agree, preconditioned with the levels of W (spectrum.c) with the degrees of A.
 *
 * On a graph of samples and landmarks j is a landmark in (E5) and (E8), with the votes and the answer of the sample it is;
 * (E6) and (E7) are then computed by ties to landmarks. */
#include "comm/comm.h"
#include "engine/ensemble/vote.h"
#include "engine/graph/spectrum.h"
#include "engine/kmeans/kmeans.h"
#include "matrix/kept.h"
#include "matrix/ritz.h"

void kdri_ballot_free(kdr_context *ctx, kdri_ballot *b)
{
	KDRI_FREE(ctx, b->label, b->weight, b->transfer, b->member);
	*b = (kdri_ballot){ 0 };
}

kdr_status kdri_ballot_new(kdr_context *ctx, int64_t n, int64_t count, kdri_ballot *out)
{
	kdr_status st;
	kdri_ballot b = { .n = n, .count = count };
	int64_t size;
	KDRI_TRY(kdri_mul(ctx, n, count, &size));
	KDRI_TRY(KDRI_NEW0(ctx, &b.label, size));
	KDRI_TRY(KDRI_NEW0(ctx, &b.weight, count));
	KDRI_TRY(KDRI_NEW0(ctx, &b.transfer, count));
	KDRI_TRY(KDRI_NEW0(ctx, &b.member, count));
	*out = b;
	b = (kdri_ballot){ 0 };
done:
	kdri_ballot_free(ctx, &b);
	return st;
}

void kdri_ballot_edges(kdr_context *ctx, const kdri_ballot *b, const kdr_csr *graph, const int32_t *theirs,
                       bool alone, double *co)
{
	double total = 0;
	for (int64_t m = 0; m < b->count; m++)
		total += kdri_ballot_votes(b, m, alone) ? b->weight[m] : 0;
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) if (b->n > KDRI_BLOCK)
	for (int64_t i = 0; i < b->n; i++)
		for (int64_t p = graph->rowptr[i]; p < graph->rowptr[i + 1]; p++) {
			const int32_t *x = b->label + i * b->count,
			              *y = theirs + (int64_t)graph->col[p] * b->count;
			double sum = 0;
			for (int64_t m = 0; m < b->count; m++)
				sum += x[m] == y[m] && kdri_ballot_votes(b, m, alone) ? b->weight[m] : 0;
			co[p] = total > 0 ? sum / total : 0; /* (E1) */
		}
}

/* --- for other numbers of clusters ------------------------------------------------------------------------ */

static const char kept_size[] = "ballot", kept_label[] = "ballot.label", kept_weight[] = "ballot.weight",
                  kept_transfer[] = "ballot.transfer", kept_member[] = "ballot.member";

static uint64_t ballot_key(int fit, int64_t task)
{
	return (uint64_t)task * 2 + (uint64_t)fit;
}

kdr_status kdri_ballot_keep(kdr_context *ctx, int64_t task, const kdri_ballot *b)
{
	const uint64_t key = ballot_key(kdri_fits_before(ctx), task);
	const int64_t size[3] = { b->n, b->count, b->best };
	const size_t count = (size_t)b->count;
	KDRI_DO(kdri_kept_put(ctx, kept_label, key, b->label, (size_t)b->n * count * sizeof *b->label));
	KDRI_DO(kdri_kept_put(ctx, kept_weight, key, b->weight, count * sizeof *b->weight));
	KDRI_DO(kdri_kept_put(ctx, kept_transfer, key, b->transfer, count * sizeof *b->transfer));
	KDRI_DO(kdri_kept_put(ctx, kept_member, key, b->member, count * sizeof *b->member));
	return kdri_kept_put(ctx, kept_size, key, size, sizeof size);
}

/* The ballot of one fit; out->count 0: none. */
static kdr_status ballot_of_fit(kdr_context *ctx, int fit, int64_t task, kdri_ballot *out)
{
	kdr_status st = KDR_OK;
	const uint64_t key = ballot_key(fit, task);
	kdri_ballot b = { 0 };
	int64_t size[3];
	if (!kdri_kept_find(ctx, kept_size, key, size, sizeof size))
		return KDR_OK;
	KDRI_TRY(kdri_ballot_new(ctx, size[0], size[1], &b));
	b.best = size[2];
	const size_t count = (size_t)b.count;
	if (kdri_kept_find(ctx, kept_label, key, b.label, (size_t)b.n * count * sizeof *b.label) &&
	    kdri_kept_find(ctx, kept_weight, key, b.weight, count * sizeof *b.weight) &&
	    kdri_kept_find(ctx, kept_transfer, key, b.transfer, count * sizeof *b.transfer) &&
	    kdri_kept_find(ctx, kept_member, key, b.member, count * sizeof *b.member)) {
		*out = b;
		b = (kdri_ballot){ 0 };
	}
done:
	kdri_ballot_free(ctx, &b);
	return st;
}

kdr_status kdri_ballot_kept(kdr_context *ctx, int64_t task, kdri_ballot *out)
{
	kdr_status st = KDR_OK;
	kdri_ballot part[KDRI_COMPLETE_FITS] = { { 0 } }, b = { 0 };
	int64_t count = 0;
	for (int f = 0; f < KDRI_COMPLETE_FITS; f++) {
		KDRI_TRY(ballot_of_fit(ctx, f, task, &part[f]));
		count += part[f].count;
	}
	if (count == 0)
		goto done;
	KDRI_TRY(kdri_ballot_new(ctx, KDRI_MAX(part[0].n, part[1].n), count, &b));
	for (int64_t f = 0, m = 0; f < KDRI_COMPLETE_FITS; f++)
		for (int64_t q = 0; q < part[f].count; q++, m++) {
			for (int64_t i = 0; i < b.n; i++)
				b.label[i * count + m] = part[f].label[i * part[f].count + q];
			b.weight[m] = part[f].weight[q];
			b.transfer[m] = part[f].transfer[q];
			b.member[m] = part[f].member[q];
		}
	*out = b;
	b = (kdri_ballot){ 0 };
done:
	for (int f = 0; f < KDRI_COMPLETE_FITS; f++)
		kdri_ballot_free(ctx, &part[f]);
	kdri_ballot_free(ctx, &b);
	return st;
}

/* Labels of the layout of ballot->label in which each cluster has the number of the cluster of `labels`, of k, that most of its samples
 * are in: partitions into other numbers of clusters can then be compared with `labels`. Free *out. */
static kdr_status ballot_align(kdr_context *ctx, const kdri_ballot *b, const int64_t *labels, int64_t k,
                               int32_t **out)
{
	kdr_status st;
	int64_t most = 0, *counts = NULL;
	int32_t *to = NULL, *aligned = NULL;
	for (int64_t p = 0; p < b->n * b->count; p++)
		most = KDRI_MAX(most, b->label[p] + 1);
	KDRI_TRY(KDRI_NEW(ctx, &counts, most * k));
	KDRI_TRY(KDRI_NEW(ctx, &to, most));
	KDRI_TRY(KDRI_NEW(ctx, &aligned, b->n * b->count));
	for (int64_t m = 0; m < b->count; m++) {
		memset(counts, 0, (size_t)(most * k) * sizeof *counts);
		for (int64_t i = 0; i < b->n; i++)
			counts[b->label[i * b->count + m] * k + labels[i]]++;
		for (int64_t c = 0; c < most; c++) {
			to[c] = 0;
			for (int32_t z = 1; z < k; z++)
				to[c] = counts[c * k + z] > counts[c * k + to[c]] ? z : to[c];
		}
		for (int64_t i = 0; i < b->n; i++)
			aligned[i * b->count + m] = to[b->label[i * b->count + m]];
	}
	*out = aligned;
	aligned = NULL;
done:
	KDRI_FREE(ctx, counts, to, aligned);
	return st;
}

/* Of both parts: their square is added up over the ranks. */
enum { MOST_COLUMNS = 4096 };
static const double tie_share = 0.01;

/* The labels of the landmarks, landmarks x count, on all ranks. */
static kdr_status ballot_of_landmarks(kdr_context *ctx, const kdri_ballot *b, const kdri_landmarks *l,
                                      int32_t **out)
{
	kdr_status st;
	int64_t size, *wide = NULL;
	int32_t *labels = NULL;
	KDRI_TRY(kdri_mul(ctx, l->count, b->count, &size));
	KDRI_TRY(KDRI_NEW0(ctx, &wide, size));
	KDRI_TRY(KDRI_NEW(ctx, &labels, size));
	for (int64_t a = 0; a < l->count; a++)
		for (int64_t m = 0; m < b->count && l->here[a] >= 0; m++)
			wide[a * b->count + m] = b->label[l->here[a] * b->count + m];
	KDRI_TRY(kdri_sum_int(ctx, wide, size));
	for (int64_t p = 0; p < size; p++)
		labels[p] = (int32_t)wide[p];
	*out = labels;
	labels = NULL;
done:
	KDRI_FREE(ctx, wide, labels);
	return st;
}

typedef struct landmark_ties {
	int64_t *parts; /* clusters of each partition, 0 if it does not vote */
	int64_t *begin; /* count + 1: its first column, from 0 on */
	int64_t *size;  /* n_mc, by column */
	double t;
} landmark_ties;

static void ties_free(kdr_context *ctx, landmark_ties *t)
{
	KDRI_FREE(ctx, t->parts, t->begin, t->size);
}

/* n_mc and t of all ranks. */
static kdr_status ties_new(kdr_context *ctx, const kdri_ballot *b, const kdr_csr *w, bool alone,
                           landmark_ties *out)
{
	kdr_status st;
	landmark_ties t = { 0 };
	double edges = 0, all = 0;
	int64_t count;
	KDRI_TRY(KDRI_NEW0(ctx, &t.parts, b->count));
	KDRI_TRY(KDRI_NEW0(ctx, &t.begin, b->count + 1));
	for (int64_t m = 0; m < b->count; m++)
		for (int64_t i = 0; i < b->n && kdri_ballot_votes(b, m, alone); i++)
			t.parts[m] = KDRI_MAX(t.parts[m], b->label[i * b->count + m] + 1);
	KDRI_TRY(kdri_max_int(ctx, t.parts, b->count));
	for (int64_t m = 0; m < b->count; m++)
		t.begin[m + 1] = t.begin[m] + t.parts[m];
	if (w->cols + t.begin[b->count] > MOST_COLUMNS) {
		memset(t.parts, 0, (size_t)b->count * sizeof *t.parts);
		memset(t.begin, 0, (size_t)(b->count + 1) * sizeof *t.begin);
	}
	KDRI_TRY(KDRI_NEW0(ctx, &t.size, t.begin[b->count]));
	for (int64_t i = 0; i < b->n; i++)
		for (int64_t m = 0; m < b->count; m++)
			if (t.parts[m] > 0)
				t.size[t.begin[m] + b->label[i * b->count + m]]++;
	KDRI_TRY(kdri_sum_int(ctx, t.size, t.begin[b->count]));
	for (int64_t m = 0; m < b->count; m++)
		for (int64_t c = t.begin[m]; c < t.begin[m + 1]; c++)
			all += b->weight[m] * (double)t.size[c] * (double)t.size[c];
	KDRI_TRY(kdri_part(ctx, w->rowptr[w->rows], NULL, &count));
	KDRI_TRY(kdri_rows_sum(ctx, NULL, w->val, w->rowptr[w->rows], count, &edges));
	t.t = all > 0 ? (edges > 0 ? tie_share * edges : 1) / all : 0; /* (E3) */
	*out = t;
	t = (landmark_ties){ 0 };
done:
	ties_free(ctx, &t);
	return st;
}

/* [Z, T] of (E3). */
static kdr_status joined(kdr_context *ctx, const kdri_ballot *b, const kdr_csr *w, const landmark_ties *t,
                         kdri_own *out)
{
	kdr_status st;
	int64_t *rowptr = NULL, voters = 0, size;
	int32_t *col = NULL;
	double *val = NULL;
	for (int64_t m = 0; m < b->count; m++)
		voters += t->parts[m] > 0;
	KDRI_TRY(kdri_mul(ctx, b->n, voters, &size));
	size += w->rowptr[w->rows];
	KDRI_TRY(KDRI_NEW(ctx, &rowptr, b->n + 1));
	KDRI_TRY(KDRI_NEW(ctx, &col, size));
	KDRI_TRY(KDRI_NEW(ctx, &val, size));
	rowptr[0] = 0;
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) if (b->n > KDRI_BLOCK)
	for (int64_t i = 0; i < b->n; i++) {
		int64_t at = w->rowptr[i] + i * voters;
		for (int64_t p = w->rowptr[i]; p < w->rowptr[i + 1]; p++) {
			col[at] = w->col[p];
			val[at++] = w->val[p];
		}
		for (int64_t m = 0; m < b->count; m++) {
			if (t->parts[m] == 0)
				continue;
			int64_t c = t->begin[m] + b->label[i * b->count + m];
			col[at] = (int32_t)(w->cols + c);
			val[at++] = t->t * b->weight[m] * (double)t->size[c]; /* (E2) */
		}
		rowptr[i + 1] = at;
	}
	*out = kdri_own_csr(b->n, w->cols + t->begin[b->count], &rowptr, &col, &val);
done:
	KDRI_FREE(ctx, rowptr, col, val);
	return st;
}

kdr_status kdri_verdict_embed(kdr_context *ctx, const kdri_ballot *b, const kdr_csr *w, bool alone, int64_t k,
                              double *rows)
{
	kdr_status st;
	landmark_ties t = { 0 };
	kdri_own all = { .view = kdr_mat_from_dense(NULL, 0, 0) };
	kdri_spectrum s = { 0 };
	KDRI_TRY(ties_new(ctx, b, w, alone, &t));
	KDRI_TRY(joined(ctx, b, w, &t, &all));
	KDRI_TRY(kdri_landmarks_spectrum(ctx, &all.view, k, &s));
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) if (b->n > KDRI_BLOCK)
	for (int64_t i = 0; i < b->n; i++) {
		double length = sqrt(kdri_nrm2sq(s.vectors + i * k, k));
		for (int64_t j = 0; j < k; j++)
			rows[i * k + j] = length > 0 ? s.vectors[i * k + j] / length : 0;
	}
done:
	ties_free(ctx, &t);
	kdri_own_free(ctx, &all);
	kdri_spectrum_free(ctx, &s);
	return st;
}

static const double least_vote = 0.05, verdict_tie_share = 0.01;

/* --- A ------------------------------------------------------------------------------------------------------ */

typedef struct votes {
	const kdri_ballot *b;
	bool alone;
	kdr_mat w;        /* (E5) */
	double tie;       /* t u_m / sum u is the weight of partition m in (E6) */
	int64_t most;     /* clusters of a partition, at most */
	kdri_laplacian l; /* of W, with the degrees of A */
} votes;

static double weight_of(const votes *v, int64_t m)
{
	return v->alone && v->b->transfer[m] ? 0 : v->b->weight[m] * v->tie;
}

/* Sums over clusters of the rows of x: sums[m][cluster][k], in chunks whose sums are added in order. */
static void verdict_add_up(kdr_context *ctx, const votes *v, const double *x, int64_t k, int64_t each,
                           double *sums)
{
	const kdri_ballot *b = v->b;
	int64_t chunks = kdri_chunks(b->n), size = b->count * each;
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic, 1) if (b->n > KDRI_BLOCK)
	for (int64_t c = 0; c < chunks; c++)
		for (int64_t i = kdri_chunk_begin(b->n, chunks, c); i < kdri_chunk_begin(b->n, chunks, c + 1);
		     i++)
			for (int64_t m = 0; m < b->count; m++) {
				double *to = sums + c * size + m * each + b->label[i * b->count + m] * k;
				for (int64_t j = 0; j < k; j++)
					to[j] += x[i * k + j];
			}
	for (int64_t c = 1; c < chunks; c++)
		kdri_axpy(1, sums + c * size, sums, size);
	for (int64_t m = 0; m < b->count; m++)
		for (int64_t p = m * each; p < (m + 1) * each; p++)
			sums[p] *= weight_of(v, m);
}

/* y (n x k) += t co x */
static kdr_status add_ties(kdr_context *ctx, const votes *v, const double *x, int64_t k, double *y,
                           int64_t ldy)
{
	kdr_status st;
	const kdri_ballot *b = v->b;
	double *sums = NULL;
	int64_t each, size;
	KDRI_TRY(kdri_mul(ctx, v->most, k, &each));
	KDRI_TRY(kdri_mul(ctx, b->count * kdri_chunks(b->n), each, &size));
	KDRI_TRY(KDRI_NEW0(ctx, &sums, size));
	verdict_add_up(ctx, v, x, k, each, sums);
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) if (b->n > KDRI_BLOCK)
	for (int64_t i = 0; i < b->n; i++)
		for (int64_t m = 0; m < b->count; m++) {
			const double *from = sums + m * each + b->label[i * b->count + m] * k;
			for (int64_t j = 0; j < k; j++)
				y[i * ldy + j] += from[j];
		}
done:
	kdri_free(ctx, sums);
	return st;
}

/* Y = -D^-1/2 A D^-1/2 X: the solver searches the lowest eigenvalues. */
static kdr_status verdict_apply(kdr_context *ctx, const kdri_op *op, const double *x, int64_t k, int64_t ldx,
                                double *y, int64_t ldy)
{
	kdr_status st;
	const votes *v = op->data;
	double *scaled = NULL;
	int64_t size;
	KDRI_TRY(kdri_mul(ctx, op->cols, k, &size));
	KDRI_TRY(KDRI_NEW(ctx, &scaled, size));
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) if (op->rows > KDRI_BLOCK)
	for (int64_t i = 0; i < op->cols; i++)
		for (int64_t j = 0; j < k; j++)
			scaled[i * k + j] = -x[i * ldx + j] / v->l.root[i];
	KDRI_TRY(kdri_mat_mul(ctx, &v->w, scaled, k, k, y, ldy));
	KDRI_TRY(add_ties(ctx, v, scaled, k, y, ldy));
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) if (op->rows > KDRI_BLOCK)
	for (int64_t i = 0; i < op->rows; i++)
		for (int64_t j = 0; j < k; j++)
			y[i * ldy + j] /= v->l.root[i];
done:
	kdri_free(ctx, scaled);
	return st;
}

static kdr_status verdict_solve(kdr_context *ctx, const kdri_op *op, const double *x, int64_t k, int64_t ldx,
                                double *y, int64_t ldy)
{
	const votes *v = op->data;
	const kdri_op inverse = { op->rows, op->cols, kdri_laplacian_solve, NULL, &v->l };
	return kdri_laplacian_solve(ctx, &inverse, x, k, ldx, y, ldy);
}

/* t of (E6), and the degrees of A: 1 for a sample that has neither edges nor votes. */
static kdr_status degrees(kdr_context *ctx, votes *v, double *degree)
{
	kdr_status st;
	const kdri_ballot *b = v->b;
	double *ones = NULL, *ties = NULL, edges = 0, all = 0;
	KDRI_TRY(KDRI_NEW(ctx, &ones, b->n));
	KDRI_TRY(KDRI_NEW0(ctx, &ties, b->n));
	for (int64_t i = 0; i < b->n; i++)
		ones[i] = 1;
	KDRI_TRY(kdri_mat_mul(ctx, &v->w, ones, 1, 1, degree, 1));
	v->tie = 1;
	KDRI_TRY(add_ties(ctx, v, ones, 1, ties, 1));
	for (int64_t i = 0; i < b->n; i++) {
		edges += degree[i];
		all += ties[i];
	}
	v->tie = all > 0 ? (edges > 0 ? verdict_tie_share * edges : 1) / all : 0;
	for (int64_t i = 0; i < b->n; i++) {
		degree[i] += v->tie * ties[i];
		degree[i] = degree[i] > 0 ? degree[i] : 1;
	}
done:
	KDRI_FREE(ctx, ones, ties);
	return st;
}

/* (E7) up to k-means: unit rows, n x k. */
static kdr_status verdict_embed(kdr_context *ctx, votes *v, int64_t k, double *rows)
{
	kdr_status st;
	double *values = NULL, *degree = NULL;
	bool converged;
	int64_t n = v->b->n;
	KDRI_TRY(KDRI_NEW(ctx, &values, k));
	KDRI_TRY(KDRI_NEW(ctx, &degree, n));
	KDRI_TRY(degrees(ctx, v, degree));
	KDRI_TRY(kdri_laplacian_new(ctx, &v->w, degree, false, k, &v->l));
	const kdri_op op = { n, n, verdict_apply, NULL, v }, inverse = { n, n, verdict_solve, NULL, v };
	const kdri_ritz_options o = {
		.count = k, .tol = 1e-8, .gap_tol = 1e-4, .precondition = v->l.levels ? &inverse : NULL
	};
	KDRI_TRY(kdri_ritz_lowest(ctx, &op, &o, values, rows, &converged));
	for (int64_t i = 0; i < n; i++) {
		double length = sqrt(kdri_nrm2sq(rows + i * k, k));
		for (int64_t j = 0; j < k; j++)
			rows[i * k + j] = length > 0 ? rows[i * k + j] / length : 0;
	}
done:
	kdri_laplacian_free(ctx, &v->l);
	KDRI_FREE(ctx, values, degree);
	return st;
}

/* --- the answer ------------------------------------------------------------------------------------------------ */

/* (E8). A sample without edges has no neighbours to agree about. theirs: the answers of the columns. */
static void verdict_agreement(kdr_context *ctx, const kdr_csr *graph, const double *co, const int64_t *labels,
                              const int64_t *theirs, double *out)
{
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) if (graph->rows > KDRI_BLOCK)
	for (int64_t i = 0; i < graph->rows; i++) {
		double sum = 0, total = 0;
		for (int64_t p = graph->rowptr[i]; p < graph->rowptr[i + 1]; p++) {
			sum += graph->val[p] * (labels[i] == theirs[graph->col[p]] ? co[p] : 1 - co[p]);
			total += graph->val[p];
		}
		out[i] = total > 0 ? KDRI_MIN(sum / total, 1) : 0;
	}
}

void kdri_verdict_free(kdr_context *ctx, kdri_verdict *v)
{
	KDRI_FREE(ctx, v->labels, v->agreement);
	*v = (kdri_verdict){ 0 };
}

/* Too late for one rank is too late for all. */
static kdr_status out_of_time(kdr_context *ctx, const kdri_ballot *b, bool *out)
{
	*out = b->count > 0 && (ctx->cancelled || ctx->timed_out || kdri_late(ctx));
	return kdri_any(ctx, out);
}

/* Partitions into more than k clusters are joined in any way, because a level that was stopped early is dropped. */
static void take_best(const kdri_ballot *b, int64_t k, int64_t *labels)
{
	for (int64_t i = 0; i < b->n; i++)
		labels[i] = b->label[i * b->count + b->best] % k;
}

static const char kept_width[] = "vote.width", kept_rows[] = "vote.rows";

/* The first k columns of the rows that a vote on the same graph has found for more clusters; false: there are none. */
static kdr_status take_kept_rows(kdr_context *ctx, uint64_t key, int64_t n, int64_t k, double *rows,
                                 bool *out)
{
	kdr_status st = KDR_OK;
	int64_t width, size;
	double *all = NULL;
	*out = false;
	if (!kdri_kept_find(ctx, kept_width, key, &width, sizeof width) || width < k)
		return KDR_OK;
	KDRI_TRY(kdri_mul(ctx, n, width, &size));
	KDRI_TRY(KDRI_NEW(ctx, &all, size));
	if (!kdri_kept_find(ctx, kept_rows, key, all, (size_t)size * sizeof *all))
		goto done;
	for (int64_t i = 0; i < n; i++) {
		const double length = sqrt(kdri_nrm2sq(all + i * width, k));
		for (int64_t j = 0; j < k; j++)
			rows[i * k + j] = length > 0 ? all[i * width + j] / length : 0;
	}
	*out = true;
done:
	kdri_free(ctx, all);
	return st;
}

static kdr_status keep_rows(kdr_context *ctx, uint64_t key, int64_t n, int64_t k, const double *rows)
{
	KDRI_DO(kdri_kept_put(ctx, kept_rows, key, rows, (size_t)(n * k) * sizeof *rows));
	return kdri_kept_put(ctx, kept_width, key, &k, sizeof k);
}

/* (E7) up to k-means. Partitions with other numbers of clusters are the same for every k, so that the eigenvectors for the largest k contain
 * those for the others (matrix/kept.h). */
static kdr_status find_rows(kdr_context *ctx, votes *v, const kdri_verdict_options *o, double *rows)
{
	const uint64_t key = o->other_k && kdri_keeps(ctx) ? kdri_mat_hash(&v->w, ctx->seed) : 0;
	bool found = false;
	if (o->other_k)
		KDRI_DO(take_kept_rows(ctx, key, v->b->n, o->k, rows, &found));
	if (found)
		return KDR_OK;
	KDRI_DO(o->landmarks ? kdri_verdict_embed(ctx, v->b, &v->w.as.csr, o->alone, o->k, rows)
	                     : verdict_embed(ctx, v, o->k, rows));
	if (o->other_k)
		KDRI_DO(keep_rows(ctx, key, v->b->n, o->k, rows));
	return KDR_OK;
}

static kdr_status verdict_cluster(kdr_context *ctx, votes *v, const kdri_verdict_options *o, int64_t *labels)
{
	kdr_status st;
	kdri_kmeans_result means = { 0 };
	double *rows = NULL;
	int64_t n = v->b->n, size;
	bool late;
	KDRI_TRY(kdri_mul(ctx, n, o->k, &size));
	KDRI_TRY(out_of_time(ctx, v->b, &late));
	if ((v->b->count == 1 && !o->other_k) || late) {
		take_best(v->b, o->k, labels);
		goto done;
	}
	KDRI_TRY(KDRI_NEW(ctx, &rows, size));
	st = find_rows(ctx, v, o, rows);
	if (st == KDR_ERR_NUMERIC && (ctx->cancelled || ctx->timed_out) && v->b->count > 0) {
		take_best(v->b, o->k, labels);
		st = KDR_OK;
		goto done;
	}
	KDRI_TRY(st);
	kdr_mat x = kdr_mat_from_dense(rows, n, o->k);
	kdri_kmeans_options options = kdri_kmeans_defaults(o->k);
	options.n_init = o->n_init;
	options.max_iter = o->max_iter;
	options.init_labels = o->init;
	KDRI_TRY(kdri_kmeans(ctx, &x, NULL, &options, &means)); /* (E7) */
	memcpy(labels, means.labels, (size_t)n * sizeof *labels);
	KDRI_TRY(out_of_time(ctx, v->b, &late));
	if (late) /* a complete partition is better than an incomplete one */
		take_best(v->b, o->k, labels);
done:
	kdri_kmeans_free(ctx, &means);
	kdri_free(ctx, rows);
	return st;
}

/* co of (E8), if partitions have other numbers of clusters than the answer: a finer one that separates i and j does not contradict an
 * answer that joins them, but is no full agreement either. The mean of co and of co after each cluster was joined to the
 * cluster of the answer that most of its samples are in. */
static kdr_status compare_aligned(kdr_context *ctx, const kdri_ballot *b, const kdr_csr *g,
                                  const kdri_verdict_options *o, const int64_t *labels, double *co)
{
	kdr_status st;
	kdri_ballot aligned = *b;
	double *joined = NULL;
	int32_t *own = NULL, *theirs = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &joined, g->rowptr[b->n]));
	KDRI_TRY(ballot_align(ctx, b, labels, o->k, &own));
	aligned.label = own;
	if (o->landmarks)
		KDRI_TRY(ballot_of_landmarks(ctx, &aligned, o->landmarks, &theirs));
	kdri_ballot_edges(ctx, &aligned, g, theirs ? theirs : own, o->alone, joined);
	for (int64_t p = 0; p < g->rowptr[b->n]; p++)
		co[p] = (co[p] + joined[p]) / 2;
done:
	KDRI_FREE(ctx, joined, own, theirs);
	return st;
}

kdr_status kdri_verdict_new(kdr_context *ctx, const kdri_ballot *b, const kdr_mat *graph,
                            const kdri_verdict_options *o, kdri_verdict *out)
{
	kdr_status st;
	const kdr_csr *g = &graph->as.csr;
	kdri_verdict answer = { 0 };
	votes v = { .b = b, .alone = o->alone };
	double *co = NULL, *weighted = NULL;
	int32_t *theirs = NULL;
	int64_t *answers = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &answer.labels, b->n));
	KDRI_TRY(KDRI_NEW(ctx, &answer.agreement, b->n));
	KDRI_TRY(KDRI_NEW(ctx, &co, g->rowptr[b->n]));
	KDRI_TRY(KDRI_NEW(ctx, &weighted, g->rowptr[b->n]));
	if (o->landmarks)
		KDRI_TRY(ballot_of_landmarks(ctx, b, o->landmarks, &theirs));
	kdri_ballot_edges(ctx, b, g, theirs ? theirs : b->label, o->alone, co);
	for (int64_t p = 0; p < g->rowptr[b->n]; p++)
		weighted[p] = g->val[p] * (least_vote + co[p]) * (least_vote + co[p]); /* (E5) */
	v.w = kdr_mat_from_csr(b->n, g->cols, g->rowptr, g->col, weighted);
	for (int64_t p = 0; p < b->n * b->count; p++)
		v.most = KDRI_MAX(v.most, b->label[p] + 1);
	KDRI_TRY(verdict_cluster(ctx, &v, o, answer.labels));
	if (o->known)
		KDRI_TRY(kdri_steer(ctx, o->known, b, o->alone, &v.w, o->k, answer.labels));
	if (o->landmarks) {
		KDRI_TRY(KDRI_NEW(ctx, &answers, o->landmarks->count));
		KDRI_TRY(kdri_landmarks_share(ctx, o->landmarks, answer.labels, 1, answers));
		KDRI_TRY(kdri_landmarks_ncut(ctx, &v.w, answer.labels, o->k, &answer.ncut));
	} else {
		KDRI_TRY(kdri_ncut_value(ctx, &v.w, answer.labels, o->k, &answer.ncut));
	}
	if (o->other_k)
		KDRI_TRY(compare_aligned(ctx, b, g, o, answer.labels, co));
	verdict_agreement(ctx, g, co, answer.labels, answers ? answers : answer.labels, answer.agreement);
	*out = answer;
	answer = (kdri_verdict){ 0 };
done:
	KDRI_FREE(ctx, co, weighted, theirs, answers);
	kdri_verdict_free(ctx, &answer);
	return st;
}
