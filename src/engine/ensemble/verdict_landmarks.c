/* The vote on a graph of samples and landmarks. SPDX-License-Identifier: BSD-3-Clause
 *
 * W = Z L^-1 Z' as in engine/graph/landmarks_spectrum.c, Z the weights of the edges to landmarks after the votes. What the vote adds to W,
 * t co = t sum_m u_m B_m B_m' with the one-hot labels B_m, has the same form: a cluster c of partition m, of n_mc samples, is one
 * more column, to which each of its samples is joined by
 *
 *   (E1)  z_i,mc = t u_m n_mc
 *
 * because the column's sum is then t u_m n_mc^2, and it contributes z z / sum = t u_m to any two of them. The leading
 * eigenvectors of
 *
 *   (E2)  A = [Z, T] diag([Z, T]'1)^-1 [Z, T]',  T of (E1),  t = a hundredth of sum Z / sum_mc u_m n_mc^2
 *
 * are therefore those of a graph of m + sum_m k_m columns, which ranks add up as they do without the second part. If
 * there are too many columns, clusters are omitted: with thousands of them, the columns of Z connect the samples well
 * enough. */
#include "engine/ensemble/ballot.h"

#include "comm/rows.h"

/* Of both parts: their square is added up over the ranks. */
enum { MOST_COLUMNS = 4096 };
static const double tie_share = 0.01;

kdr_status kdri_ballot_of_landmarks(kdr_context *ctx, const kdri_ballot *b, const kdri_landmarks *l,
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

typedef struct ties {
	int64_t *parts; /* clusters of each partition, 0 if it does not vote */
	int64_t *begin; /* count + 1: its first column, from 0 on */
	int64_t *size;  /* n_mc, by column */
	double t;
} ties;

static void ties_free(kdr_context *ctx, ties *t)
{
	KDRI_FREE(ctx, t->parts, t->begin, t->size);
}

/* n_mc and t of all ranks. */
static kdr_status ties_new(kdr_context *ctx, const kdri_ballot *b, const kdr_csr *w, bool alone, ties *out)
{
	kdr_status st;
	ties t = { 0 };
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
	t.t = all > 0 ? (edges > 0 ? tie_share * edges : 1) / all : 0; /* (E2) */
	*out = t;
	t = (ties){ 0 };
done:
	ties_free(ctx, &t);
	return st;
}

/* [Z, T] of (E2). */
static kdr_status joined(kdr_context *ctx, const kdri_ballot *b, const kdr_csr *w, const ties *t,
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
			val[at++] = t->t * b->weight[m] * (double)t->size[c]; /* (E1) */
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
	ties t = { 0 };
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
