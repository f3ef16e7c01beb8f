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
/* The distance of two partitions of the same samples.
 *
 *     (E8)  d_M = min sum_zl w_zl |u_z - v_l|^2,   sum_l w_zl = p_z,   sum_z w_zl = q_l,   w >= 0
 * [Zhang & Zhang, AAAI 2010, eq. 8]: the earth mover's distance between the clusters' means u and v. Clusters have equal
 * weights (p_z = 1/K) or are weighted by size (p_z = n_z/n). Unlike the scores, it takes into account whether different
 * clusters are close to each other. */
#include "comm/comm.h"
#include "engine/metrics/metrics.h"
#include "matrix/linalg.h"

/* Two partitions of the same samples: compact labels and the contingency table.
 *
 * Everything is O(n) for any labels. Labels within a range of the order of n are counted in a table;
 * others, and cells of large contingency tables, are sorted by digits. */

enum { DIGIT_BITS = 11, BUCKETS = 1 << DIGIT_BITS };

/* A table with more cells than this (512 MB) is an error, because it would be unreadable. */
static const int64_t most_dense_cells = (int64_t)1 << 26;

/* Sorts keys in place, and moves `tag` (may be NULL) with them. Least significant digit first; digits
 * that all keys share are skipped. key2 and tag2 are scratch of the same size. */
static void radix_sort(uint64_t *key, int64_t *tag, uint64_t *key2, int64_t *tag2, int64_t n,
                       uint64_t largest)
{
	uint64_t *from = key, *to = key2;
	int64_t *tag_from = tag, *tag_to = tag2;
	for (int shift = 0; shift < 64 && largest >> shift; shift += DIGIT_BITS) {
		int64_t start[BUCKETS] = { 0 };
		for (int64_t i = 0; i < n; i++)
			start[from[i] >> shift & (BUCKETS - 1)]++;
		if (start[from[0] >> shift & (BUCKETS - 1)] == n)
			continue;
		int64_t sum = 0;
		for (int b = 0; b < BUCKETS; b++) {
			int64_t size = start[b];
			start[b] = sum;
			sum += size;
		}
		for (int64_t i = 0; i < n; i++) {
			int64_t at = start[from[i] >> shift & (BUCKETS - 1)]++;
			to[at] = from[i];
			if (tag)
				tag_to[at] = tag_from[i];
		}
		uint64_t *k = from;
		from = to;
		to = k;
		int64_t *t = tag_from;
		tag_from = tag_to;
		tag_to = t;
	}
	if (from != key) {
		memcpy(key, from, (size_t)n * sizeof *key);
		if (tag)
			memcpy(tag, tag_from, (size_t)n * sizeof *tag);
	}
}

/* Labels in low .. low + range: rank by a table of the range. */
static kdr_status compact_by_table(kdr_context *ctx, const int64_t *labels, int64_t n, int64_t low,
                                   int64_t range, int64_t *codes, int64_t **values, int64_t *count)
{
	kdr_status st;
	int64_t *rank = NULL, *distinct = NULL, found = 0;
	KDRI_TRY(KDRI_NEW0(ctx, &rank, range + 1));
	for (int64_t i = 0; i < n; i++)
		rank[labels[i] - low] = 1;
	for (int64_t r = 0; r <= range; r++)
		found += rank[r];
	KDRI_TRY(KDRI_NEW(ctx, &distinct, found));
	found = 0;
	for (int64_t r = 0; r <= range; r++)
		if (rank[r]) {
			rank[r] = found;
			distinct[found++] = low + r;
		}
	for (int64_t i = 0; i < n; i++)
		codes[i] = rank[labels[i] - low];
	*count = found;
	if (values) {
		*values = distinct;
		distinct = NULL;
	}
done:
	KDRI_FREE(ctx, rank, distinct);
	return st;
}

/* Labels anywhere: sort (label, sample), then number the runs. */
static kdr_status compact_by_sort(kdr_context *ctx, const int64_t *labels, int64_t n, int64_t low,
                                  uint64_t range, int64_t *codes, int64_t **values, int64_t *count)
{
	kdr_status st;
	uint64_t *key = NULL, *key2 = NULL;
	int64_t *tag = NULL, *tag2 = NULL, *distinct = NULL, found = 1;
	KDRI_TRY(KDRI_NEW(ctx, &key, n));
	KDRI_TRY(KDRI_NEW(ctx, &key2, n));
	KDRI_TRY(KDRI_NEW(ctx, &tag, n));
	KDRI_TRY(KDRI_NEW(ctx, &tag2, n));
	for (int64_t i = 0; i < n; i++) {
		key[i] = (uint64_t)labels[i] - (uint64_t)low; /* no signed overflow, and the same order */
		tag[i] = i;
	}
	radix_sort(key, tag, key2, tag2, n, range);
	for (int64_t i = 1; i < n; i++)
		found += key[i] != key[i - 1];
	KDRI_TRY(KDRI_NEW(ctx, &distinct, found));
	found = 0;
	for (int64_t i = 0; i < n; i++) {
		if (i == 0 || key[i] != key[i - 1])
			distinct[found++] = labels[tag[i]];
		codes[tag[i]] = found - 1;
	}
	*count = found;
	if (values) {
		*values = distinct;
		distinct = NULL;
	}
done:
	KDRI_FREE(ctx, key, key2, tag, tag2, distinct);
	return st;
}

kdr_status kdri_labels_compact(kdr_context *ctx, const int64_t *labels, int64_t n, int64_t *codes,
                               int64_t **values, int64_t *count)
{
	if (n < 1)
		return kdri_fail(ctx, KDR_ERR_DATA, "got labels of %lld samples; at least one is needed",
		                 (long long)n);
	int64_t low = labels[0], high = labels[0];
	for (int64_t i = 1; i < n; i++) {
		low = KDRI_MIN(low, labels[i]);
		high = KDRI_MAX(high, labels[i]);
	}
	uint64_t range = (uint64_t)high - (uint64_t)low;
	if (range <= 4 * (uint64_t)n + BUCKETS)
		return compact_by_table(ctx, labels, n, low, (int64_t)range, codes, values, count);
	return compact_by_sort(ctx, labels, n, low, range, codes, values, count);
}

kdr_status kdri_labels_compact_all(kdr_context *ctx, const int64_t *labels, int64_t n, int64_t *codes,
                                   int64_t **values, int64_t *count)
{
	kdr_status st;
	int64_t *sizes = NULL, *names = NULL, most = 0, k = 0;
	if (!kdri_together(ctx))
		return kdri_labels_compact(ctx, labels, n, codes, values, count);
	for (int64_t i = 0; i < n; i++)
		most = KDRI_MAX(most, labels[i] + 1);
	KDRI_TRY(kdri_max_int(ctx, &most, 1));
	KDRI_TRY(KDRI_NEW0(ctx, &sizes, most));
	KDRI_TRY(KDRI_NEW(ctx, &names, most));
	for (int64_t i = 0; i < n; i++)
		sizes[labels[i]]++;
	KDRI_TRY(kdri_sum_int(ctx, sizes, most));
	for (int64_t c = 0; c < most; c++)
		if (sizes[c] > 0) {
			names[k] = c;
			sizes[c] = k++;
		}
	for (int64_t i = 0; i < n; i++)
		codes[i] = sizes[labels[i]];
	*values = names;
	*count = k;
	names = NULL;
done:
	KDRI_FREE(ctx, sizes, names);
	return st;
}

/* --- the table ------------------------------------------------------------------------------ */

void kdri_table_free(kdr_context *ctx, kdri_table *t)
{
	KDRI_FREE(ctx, t->row_label, t->col_label, t->row_total, t->col_total, t->rowptr, t->col, t->count);
	*t = (kdri_table){ 0 };
}

/* Cells from a dense count: for tables of no more cells than a few times the samples. */
static kdr_status cells_by_count(kdr_context *ctx, const int64_t *a, const int64_t *b, kdri_table *t)
{
	kdr_status st;
	int64_t *dense = NULL, all = t->rows * t->cols;
	KDRI_TRY(KDRI_NEW0(ctx, &dense, all));
	for (int64_t i = 0; i < t->n; i++)
		dense[a[i] * t->cols + b[i]]++;
	for (int64_t c = 0; c < all; c++)
		t->cells += dense[c] > 0;
	KDRI_TRY(KDRI_NEW(ctx, &t->col, t->cells));
	KDRI_TRY(KDRI_NEW(ctx, &t->count, t->cells));
	int64_t p = 0;
	for (int64_t r = 0; r < t->rows; r++) {
		for (int64_t c = 0; c < t->cols; c++)
			if (dense[r * t->cols + c]) {
				t->col[p] = c;
				t->count[p++] = dense[r * t->cols + c];
			}
		t->rowptr[r + 1] = p;
	}
done:
	kdri_free(ctx, dense);
	return st;
}

/* Cells from the sorted list of (row, column) pairs, one number a pair. */
static kdr_status cells_by_sort(kdr_context *ctx, const int64_t *a, const int64_t *b, int64_t most,
                                kdri_table *t)
{
	kdr_status st;
	uint64_t *key = NULL, *key2 = NULL, cols = (uint64_t)t->cols;
	KDRI_TRY(KDRI_NEW(ctx, &key, t->n));
	KDRI_TRY(KDRI_NEW(ctx, &key2, t->n));
	for (int64_t i = 0; i < t->n; i++)
		key[i] = (uint64_t)a[i] * cols + (uint64_t)b[i];
	radix_sort(key, NULL, key2, NULL, t->n, (uint64_t)most - 1);
	t->cells = 1;
	for (int64_t i = 1; i < t->n; i++)
		t->cells += key[i] != key[i - 1];
	KDRI_TRY(KDRI_NEW(ctx, &t->col, t->cells));
	KDRI_TRY(KDRI_NEW(ctx, &t->count, t->cells));
	int64_t p = 0;
	for (int64_t i = 0; i < t->n; p++) {
		int64_t first = i;
		while (i < t->n && key[i] == key[first])
			i++;
		t->col[p] = (int64_t)(key[first] % cols);
		t->count[p] = i - first;
		t->rowptr[key[first] / cols + 1] = p + 1;
	}
done:
	KDRI_FREE(ctx, key, key2);
	return st;
}

kdr_status kdri_table_new(kdr_context *ctx, const int64_t *a, const int64_t *b, int64_t n, kdri_table *out)
{
	kdr_status st;
	kdri_table t = { .n = n };
	int64_t *row = NULL, *col = NULL, all = 0;
	KDRI_TRY(KDRI_NEW(ctx, &row, KDRI_MAX(n, 0)));
	KDRI_TRY(KDRI_NEW(ctx, &col, KDRI_MAX(n, 0)));
	KDRI_TRY(kdri_labels_compact(ctx, a, n, row, &t.row_label, &t.rows));
	KDRI_TRY(kdri_labels_compact(ctx, b, n, col, &t.col_label, &t.cols));
	KDRI_TRY(kdri_mul(ctx, t.rows, t.cols, &all));
	KDRI_TRY(KDRI_NEW0(ctx, &t.row_total, t.rows));
	KDRI_TRY(KDRI_NEW0(ctx, &t.col_total, t.cols));
	KDRI_TRY(KDRI_NEW0(ctx, &t.rowptr, t.rows + 1));
	KDRI_TRY(all / 4 <= n + BUCKETS ? cells_by_count(ctx, row, col, &t)
	                                : cells_by_sort(ctx, row, col, all, &t));
	for (int64_t r = 0; r < t.rows; r++)
		for (int64_t p = t.rowptr[r]; p < t.rowptr[r + 1]; p++) {
			t.row_total[r] += t.count[p];
			t.col_total[t.col[p]] += t.count[p];
		}
	*out = t;
	t = (kdri_table){ 0 };
done:
	KDRI_FREE(ctx, row, col);
	kdri_table_free(ctx, &t);
	return st;
}

/* The same from counts, rows x cols of them, row by row. Refuses a table of zeros. */
static kdr_status table_counts(kdr_context *ctx, const int64_t *counts, int64_t rows, int64_t cols,
                               kdri_table *out)
{
	kdr_status st;
	kdri_table t = { 0 };
	int64_t *code = NULL, p = 0;
	KDRI_TRY(KDRI_NEW0(ctx, &code, cols)); /* samples in a column, then its place + 1, or 0 */
	for (int64_t c = 0; c < rows * cols; c++) {
		t.n += counts[c];
		t.cells += counts[c] > 0;
		code[c % cols] += counts[c];
	}
	if (t.n < 1)
		KDRI_FAIL(ctx, KDR_ERR_DATA, "the contingency table has no samples; at least one is needed");
	KDRI_TRY(KDRI_NEW(ctx, &t.row_label, rows));
	KDRI_TRY(KDRI_NEW(ctx, &t.col_label, cols));
	KDRI_TRY(KDRI_NEW(ctx, &t.row_total, rows));
	KDRI_TRY(KDRI_NEW(ctx, &t.col_total, cols));
	KDRI_TRY(KDRI_NEW0(ctx, &t.rowptr, rows + 1));
	KDRI_TRY(KDRI_NEW(ctx, &t.col, t.cells));
	KDRI_TRY(KDRI_NEW(ctx, &t.count, t.cells));
	for (int64_t c = 0; c < cols; c++)
		if (code[c] > 0) {
			t.col_label[t.cols] = c;
			t.col_total[t.cols++] = code[c];
			code[c] = t.cols;
		}
	for (int64_t r = 0; r < rows; r++) {
		int64_t sum = 0;
		for (int64_t c = 0; c < cols; c++)
			if (counts[r * cols + c] > 0) {
				t.col[p] = code[c] - 1;
				t.count[p++] = counts[r * cols + c];
				sum += counts[r * cols + c];
			}
		if (sum > 0) {
			t.row_label[t.rows] = r;
			t.row_total[t.rows++] = sum;
			t.rowptr[t.rows] = p;
		}
	}
	*out = t;
	t = (kdri_table){ 0 };
done:
	kdri_free(ctx, code);
	kdri_table_free(ctx, &t);
	return st;
}

kdr_status kdr_contingency(kdr_context *ctx, const int64_t *labels, const int64_t *truth, int64_t n,
                           int64_t **counts, int64_t **clusters, int64_t *nclusters, int64_t **classes,
                           int64_t *nclasses)
{
	kdr_status st;
	kdri_table t = { 0 };
	int64_t *dense = NULL;
	KDRI_NEED(ctx, labels && truth && counts && clusters && nclusters && classes && nclasses);
	KDRI_TRY(kdri_table_new(ctx, labels, truth, n, &t));
	if (t.rows > most_dense_cells / t.cols)
		KDRI_FAIL(
		        ctx, KDR_ERR_SIZE,
		        "a contingency table of %lld clusters x %lld classes is too large; at most %lld cells are supported",
		        (long long)t.rows, (long long)t.cols, (long long)most_dense_cells);
	KDRI_TRY(KDRI_NEW0(ctx, &dense, t.rows * t.cols));
	for (int64_t r = 0; r < t.rows; r++)
		for (int64_t p = t.rowptr[r]; p < t.rowptr[r + 1]; p++)
			dense[r * t.cols + t.col[p]] = t.count[p];
	*counts = dense;
	*clusters = t.row_label;
	*nclusters = t.rows;
	*classes = t.col_label;
	*nclasses = t.cols;
	dense = t.row_label = t.col_label = NULL;
done:
	kdri_free(ctx, dense);
	kdri_table_free(ctx, &t);
	return st;
}

typedef struct side {
	int64_t k, *code, *size;
	double *mean; /* k x d */
} side;

static void side_free(kdr_context *ctx, side *s)
{
	KDRI_FREE(ctx, s->code, s->size, s->mean);
}

static kdr_status emd_side_new(kdr_context *ctx, const kdr_mat *x, const int64_t *labels, side *s)
{
	int64_t n = kdr_mat_rows(x), d = kdr_mat_cols(x), room;
	KDRI_DO(KDRI_NEW(ctx, &s->code, n));
	KDRI_DO(kdri_labels_compact(ctx, labels, n, s->code, NULL, &s->k));
	KDRI_DO(kdri_mul(ctx, s->k, d, &room));
	KDRI_DO(KDRI_NEW0(ctx, &s->size, s->k));
	KDRI_DO(KDRI_NEW0(ctx, &s->mean, room));
	for (int64_t i = 0; i < n; i++) {
		double *sum = s->mean + s->code[i] * d;
		s->size[s->code[i]]++;
		if (x->kind == KDR_MAT_DENSE)
			kdri_axpy(1, x->as.dense.data + i * x->as.dense.stride, sum, d);
		else
			for (int64_t p = x->as.csr.rowptr[i]; p < x->as.csr.rowptr[i + 1]; p++)
				sum[x->as.csr.col[p]] += x->as.csr.val[p];
	}
	for (int64_t z = 0; z < s->k; z++)
		for (int64_t f = 0; f < d; f++)
			s->mean[z * d + f] /= (double)s->size[z];
	return KDR_OK;
}

kdr_status kdr_emd(kdr_context *ctx, const kdr_mat *x, const int64_t *labels, const int64_t *truth,
                   double *uniform, double *proportional)
{
	kdr_status st;
	side a = { 0 }, b = { 0 };
	double *cost = NULL, *flow = NULL, *p = NULL, *q = NULL, value[2] = { 0 };
	if (!ctx || !x || !labels || !truth)
		return KDR_ERR_ARGUMENT;
	int64_t n = kdr_mat_rows(x), d = kdr_mat_cols(x), room;
	if (n < 1)
		return kdri_fail(ctx, KDR_ERR_DATA, "there are no samples; at least one is needed");
	KDRI_TRY(kdri_mat_check_finite(ctx, x, "emd"));
	KDRI_TRY(emd_side_new(ctx, x, labels, &a));
	KDRI_TRY(emd_side_new(ctx, x, truth, &b));
	KDRI_TRY(kdri_mul(ctx, a.k, b.k, &room));
	KDRI_TRY(KDRI_NEW(ctx, &cost, room));
	KDRI_TRY(KDRI_NEW(ctx, &flow, room));
	KDRI_TRY(KDRI_NEW(ctx, &p, a.k));
	KDRI_TRY(KDRI_NEW(ctx, &q, b.k));
	for (int64_t z = 0; z < a.k; z++)
		for (int64_t l = 0; l < b.k; l++) {
			double sum = 0;
			for (int64_t f = 0; f < d; f++) {
				double e = a.mean[z * d + f] - b.mean[l * d + f];
				sum += e * e;
			}
			cost[z * b.k + l] = sum;
		}
	for (int by_size = 0; by_size < 2; by_size++) { /* (E8), in integer units: exact marginals */
		for (int64_t z = 0; z < a.k; z++)
			p[z] = by_size ? (double)a.size[z] : (double)b.k;
		for (int64_t l = 0; l < b.k; l++)
			q[l] = by_size ? (double)b.size[l] : (double)a.k;
		KDRI_TRY(kdri_transport(ctx, cost, a.k, b.k, p, q, flow, NULL, NULL, &value[by_size]));
		value[by_size] /= by_size ? (double)n : (double)a.k * (double)b.k;
	}
	if (uniform)
		*uniform = value[0];
	if (proportional)
		*proportional = value[1];
done:
	side_free(ctx, &a);
	side_free(ctx, &b);
	KDRI_FREE(ctx, cost, flow, p, q);
	return st;
}

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
	KDRI_TRY(table_counts(ctx, counts, rows, cols, &t));
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
	return scores_evaluate(ctx, table_counts(ctx, counts, rows, cols, &t), &t, out);
}

kdr_status kdr_evaluate(kdr_context *ctx, const int64_t *labels, const int64_t *truth, int64_t n,
                        kdr_scores *out)
{
	kdri_table t = { 0 };
	KDRI_NEED(ctx, labels && truth && out);
	return scores_evaluate(ctx, kdri_table_new(ctx, labels, truth, n, &t), &t, out);
}
