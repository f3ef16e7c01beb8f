/* Scores of one partition (clusters) against another (classes). SPDX-License-Identifier: BSD-3-Clause
 *
 * n_ij samples are in cluster i and class j, a_i = sum_j n_ij, b_j = sum_i n_ij, n = sum_ij n_ij.
 *
 * (E1) H(a) = sum_i a_i/n ln(n/a_i), H(b) likewise
 * (E2) I = sum_ij n_ij/n ln(n n_ij / (a_i b_j))
 * (E3) nmi = I / mean(H(a), H(b)): geometric, arithmetic or largest. Both partitions trivial (one
 *      part each): 1; one of them: 0
 * (E4) homogeneity = I / H(b), completeness = I / H(a), 1 where the entropy is 0; v-measure is their
 *      harmonic mean
 * (E5) over ordered pairs of samples: tp = sum n_ij^2 - n together in both, fp = sum a_i^2 - sum n_ij^2
 *      in the cluster alone, fn = sum b_j^2 - sum n_ij^2 in the class alone, tn the rest;
 *      ari = 2 (tp tn - fn fp) / ((tp + fn)(fn + tn) + (tp + fp)(fp + tn)), 1 if fp = fn = 0
 * (E6) purity = 1/n sum_i max_j n_ij
 * (E7) acc = 1/n max over one-to-one maps m of sum_i n_{i,m(i)}; clusters without a class are wrong
 *
 * The conventions for trivial partitions are those of scikit-learn. */
#include "engine/metrics/metrics.h"

static double entropy(const int64_t *part, int64_t parts, double n) /* (E1) */
{
	kdri_neumaier h = { 0 };
	for (int64_t i = 0; i < parts; i++)
		kdri_neumaier_add(&h, (double)part[i] / n * log(n / (double)part[i]));
	return kdri_neumaier_value(&h);
}

/* The logarithm of a quotient near 1 is small and exact to its last digits only because the products
 * are rounded once each; differences of logarithms would lose them. */
static double mutual_information(const kdri_table *t) /* (E2) */
{
	kdri_neumaier s = { 0 };
	double n = (double)t->n;
	for (int64_t i = 0; i < t->rows; i++)
		for (int64_t p = t->rowptr[i]; p < t->rowptr[i + 1]; p++) {
			double count = (double)t->count[p], a = (double)t->row_total[i],
			       b = (double)t->col_total[t->col[p]];
			kdri_neumaier_add(&s, count / n * log(n * count / (a * b)));
		}
	return kdri_neumaier_value(&s);
}

static void information_scores(const kdri_table *t, kdr_scores *s)
{
	double n = (double)t->n;
	double ha = entropy(t->row_total, t->rows, n), hb = entropy(t->col_total, t->cols, n);
	bool trivial_a = t->rows == 1, trivial_b = t->cols == 1;
	double shared = 0;
	if (!trivial_a && !trivial_b) /* 0 <= I <= H in exact arithmetic */
		shared = KDRI_MAX(0, KDRI_MIN(mutual_information(t), KDRI_MIN(ha, hb)));
	if (trivial_a || trivial_b) {
		s->nmi = s->nmi_arithmetic = s->nmi_max = trivial_a && trivial_b;
	} else { /* (E3) */
		s->nmi = KDRI_MIN(1, shared / sqrt(ha * hb));
		s->nmi_arithmetic = KDRI_MIN(1, shared / (0.5 * (ha + hb)));
		s->nmi_max = shared / KDRI_MAX(ha, hb);
	}
	double h = trivial_b ? 1 : shared / hb, c = trivial_a ? 1 : shared / ha; /* (E4) */
	s->homogeneity = h;
	s->completeness = c;
	s->v_measure = h + c > 0 ? 2 * h * c / (h + c) : 0;
}

/* Squares of counts are exact integers; n^2 was checked to fit. */
static double adjusted_rand(const kdri_table *t) /* (E5) */
{
	int64_t cells = 0, rows = 0, cols = 0;
	for (int64_t p = 0; p < t->cells; p++)
		cells += t->count[p] * t->count[p];
	for (int64_t i = 0; i < t->rows; i++)
		rows += t->row_total[i] * t->row_total[i];
	for (int64_t j = 0; j < t->cols; j++)
		cols += t->col_total[j] * t->col_total[j];
	if (rows == cells && cols == cells)
		return 1;
	double tp = (double)(cells - t->n), fp = (double)(rows - cells), fn = (double)(cols - cells),
	       tn = (double)(t->n * t->n - rows - (cols - cells));
	return 2 * (tp * tn - fn * fp) / ((tp + fn) * (fn + tn) + (tp + fp) * (fp + tn));
}

static double purity(const kdri_table *t) /* (E6) */
{
	int64_t kept = 0;
	for (int64_t i = 0; i < t->rows; i++) {
		int64_t most = 0;
		for (int64_t p = t->rowptr[i]; p < t->rowptr[i + 1]; p++)
			most = KDRI_MAX(most, t->count[p]);
		kept += most;
	}
	return (double)kept / (double)t->n;
}

kdr_status kdri_nmi(kdr_context *ctx, const int64_t *a, const int64_t *b, int64_t n, double *out)
{
	kdr_status st;
	kdri_table t = { 0 };
	kdr_scores s;
	KDRI_TRY(kdri_table_new(ctx, a, b, n, &t));
	information_scores(&t, &s);
	*out = s.nmi;
done:
	kdri_table_free(ctx, &t);
	return st;
}

kdr_status kdri_nmi_counts(kdr_context *ctx, const int64_t *counts, int64_t rows, int64_t cols, double *out)
{
	kdr_status st;
	kdri_table t = { 0 };
	kdr_scores s;
	KDRI_TRY(kdri_table_counts(ctx, counts, rows, cols, &t));
	information_scores(&t, &s);
	*out = s.nmi;
done:
	kdri_table_free(ctx, &t);
	return st;
}

/* All scores of a table, which it frees; `st`: whether it could be made. */
static kdr_status scores_evaluate(kdr_context *ctx, kdr_status st, kdri_table *t, kdr_scores *out)
{
	int64_t covered = 0, pairs;
	if (st != KDR_OK)
		goto done;
	KDRI_TRY(kdri_mul(ctx, t->n, t->n, &pairs)); /* (E5) */
	KDRI_TRY(kdri_match(ctx, t, &covered));
	kdr_scores s = { .n = t->n, .clusters = t->rows, .classes = t->cols };
	s.acc = (double)covered / (double)t->n; /* (E7) */
	s.ari = adjusted_rand(t);
	s.purity = purity(t);
	information_scores(t, &s);
	*out = s;
done:
	kdri_table_free(ctx, t);
	return st;
}

kdr_status kdri_evaluate_counts(kdr_context *ctx, const int64_t *counts, int64_t rows, int64_t cols,
                                kdr_scores *out)
{
	kdri_table t = { 0 };
	return scores_evaluate(ctx, kdri_table_counts(ctx, counts, rows, cols, &t), &t, out);
}

kdr_status kdr_evaluate(kdr_context *ctx, const int64_t *labels, const int64_t *truth, int64_t n,
                        kdr_scores *out)
{
	kdri_table t = { 0 };
	KDRI_NEED(ctx, labels && truth && out);
	return scores_evaluate(ctx, kdri_table_new(ctx, labels, truth, n, &t), &t, out);
}
