/* One partition from an ensemble. SPDX-License-Identifier: BSD-3-Clause
 *
 * With B (n x M) the one-hot labels of all L runs side by side, M = k_1 + ... + k_L, the co-association
 * matrix is H = B B' / L, its degrees D = diag(H 1), and spectral clustering [Ng, Jordan & Weiss 2001] needs the
 * leading eigenvectors of D^-1/2 H D^-1/2 = W W', W = D^-1/2 B / sqrt L. H has rank M, so [B19, step 2 of EC] they
 * come from the small Gram matrix:
 *     (E1)  d_i = (1/L) sum_l |cluster of i in run l|
 *     (E2)  G = W'W,  G_ab = (1/L) sum over i in both a and b of 1 / d_i
 *     (E3)  G V = V diag(lambda),  U = W V diag(lambda)^-1/2: the eigenvectors wanted
 *     (E4)  row i of U = (L d_i)^-1/2 sum_l row (l, label) of V diag(lambda)^-1/2
 * The factor (L d_i)^-1/2 cancels when the row is scaled to unit length, so that a row of the embedding is the sum of
 * L rows of a table. Eigenvectors whose values are zero up to rounding count as zero.
 *
 * Work: n L^2 / 2 additions for (E2), M^3 for (E3), n L k for (E4), in addition to L runs of k-means that cost n m k
 * per iteration each. Memory: n (L + k) and M^2; never n x n.
 *
 * Each block of G for a pair of runs is summed by one thread, exactly (comm/exact.h): the same bits for any number of threads.
 * Rows may be held by several ranks (comm/comm.h), each with the labels of its own. Sizes of clusters, G and the counts
 * below are then those of all rows, and exact for any distribution of the rows. Therefore V is the same on every
 * rank, and each rank computes the rows of U for its own labels. 2 M^2 numbers are exchanged for G; M k and M for the
 * counts.
 *
 * Agreement of a partition with the ensemble, from the counts T_l(a, c) of rows in cluster a of run l and
 * cluster c of the partition:
 *     (E5)  stability_i = ((1/L) sum_l T_l(label_l(i), c_i) - 1) / (n_c - 1)
 *     (E6)  score = (1/L) sum_l NMI(run l, partition), over the geometric mean of the entropies
 * (E5) is the mean of h_ij over the other samples j of i's cluster. */
#include "engine/ensemble/consensus.h"

#include "comm/rows.h"
#include "engine/metrics/metrics.h"
#include "matrix/linalg.h"

/* ALL_BELOW: all eigenpairs are found up to this many columns, since Lanczos may miss copies of a multiple
 * eigenvalue (1 has as many copies as H has blocks). STARTS_ON: restarts of the last k-means are tried on that many
 * random rows, and only the best one continues with all rows. */
enum { ROWS = 4096, ALL_BELOW = 1024, STARTS_ON = 1 << 15 };
static const double rank_tol = 1e-12;

/* --- (E1), (E2) ------------------------------------------------------------------------------- */

/* 1 / (L d_i) into w, in the two parts that exact sums are made of. */
static kdr_status inverse_degrees(kdr_context *ctx, const kdri_ensemble *e, kdri_exact *w)
{
	kdr_status st;
	int64_t *size = NULL, all;
	double largest = 0;
	KDRI_TRY(KDRI_NEW0(ctx, &size, e->offset[e->runs]));
	for (int64_t l = 0; l < e->runs; l++)
		for (int64_t i = 0; i < e->n; i++)
			size[e->offset[l] + e->label[l * e->n + i]]++;
	KDRI_TRY(kdri_part(ctx, e->n, NULL, &all));
	KDRI_TRY(kdri_sum_int(ctx, size, e->offset[e->runs]));
#pragma omp parallel for num_threads(kdri_team(ctx)) reduction(max : largest) if (e->n > ROWS)
	for (int64_t i = 0; i < e->n; i++) {
		int64_t sum = 0; /* L d_i, an integer */
		for (int64_t l = 0; l < e->runs; l++)
			sum += size[e->offset[l] + e->label[l * e->n + i]]; /* (E1) */
		w[i].high = 1 / (double)sum;
		largest = KDRI_MAX(largest, w[i].high);
	}
	KDRI_TRY(kdri_max(ctx, &largest, 1));
	double big = kdri_exact_big(largest, all), small = big * kdri_exact_ratio(all);
	for (int64_t i = 0; i < e->n; i++) {
		kdri_exact parts = { 0, 0 };
		kdri_exact_add(&parts, big, small, w[i].high);
		w[i] = parts;
	}
done:
	kdri_free(ctx, size);
	return st;
}

/* The blocks (l, 0) .. (l, l) of G. Rows in pieces, so that a piece of all labels stays in the cache. */
static void gram_line(const kdri_ensemble *e, int64_t l, const kdri_exact *w, kdri_exact *g)
{
	int64_t m = e->offset[e->runs];
	for (int64_t begin = 0; begin < e->n; begin += ROWS) {
		int64_t end = KDRI_MIN(e->n, begin + ROWS);
		const int32_t *a = e->label + l * e->n;
		for (int64_t r = 0; r <= l; r++) {
			const int32_t *b = e->label + r * e->n;
			kdri_exact *to = g + e->offset[l] * m + e->offset[r];
			for (int64_t i = begin; i < end; i++) { /* (E2) */
				kdri_exact *cell = to + a[i] * m + b[i];
				cell->high += w[i].high;
				cell->low += w[i].low;
			}
		}
	}
}

static kdr_status gram(kdr_context *ctx, const kdri_ensemble *e, const kdri_exact *w, double *g)
{
	kdr_status st;
	int64_t m = e->offset[e->runs];
	kdri_exact *sums = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &sums, m * m));
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic, 1) if (e->n * e->runs > ROWS)
	for (int64_t l = e->runs - 1; l >= 0; l--) /* the longest first */
		gram_line(e, l, w, sums);
	KDRI_TRY(kdri_sum(ctx, &sums[0].high, 2 * m * m));
	for (int64_t a = 0; a < m; a++)
		for (int64_t b = 0; b <= a; b++)
			g[b * m + a] = g[a * m + b] = sums[a * m + b].high + sums[a * m + b].low;
done:
	kdri_free(ctx, sums);
	return st;
}

/* --- (E3), (E4) ------------------------------------------------------------------------------- */

/* The largest `count` eigenpairs of g (m x m, lost), descending. */
static kdr_status eigenpairs(kdr_context *ctx, double *g, int64_t m, int64_t count, double *values,
                             double *vectors)
{
	kdr_status st;
	double *all = NULL;
	if (m > ALL_BELOW && count < m / 4) {
		kdr_mat mat = kdr_mat_from_dense(g, m, m);
		kdri_op op = kdri_op_mat(&mat);
		op.apply_t = NULL;
		return kdri_eigsh(ctx, &op, count, KDRI_LARGEST, 1e-12, values, vectors);
	}
	KDRI_TRY(KDRI_NEW(ctx, &all, m));
	KDRI_TRY(kdri_eigh(ctx, m, g, m, all));
	for (int64_t j = 0; j < count; j++) {
		values[j] = all[m - 1 - j];
		for (int64_t a = 0; a < m; a++)
			vectors[a * count + j] = g[a * m + m - 1 - j];
	}
done:
	kdri_free(ctx, all);
	return st;
}

kdr_status kdri_consensus_spectrum(kdr_context *ctx, const kdri_ensemble *e, int64_t count, double *values,
                                   double *table)
{
	kdr_status st;
	int64_t m = e->offset[e->runs], size;
	double *g = NULL;
	kdri_exact *w = NULL;
	KDRI_TRY(kdri_mul(ctx, m, m, &size));
	KDRI_TRY(KDRI_NEW(ctx, &g, size));
	KDRI_TRY(KDRI_NEW(ctx, &w, e->n));
	KDRI_TRY(inverse_degrees(ctx, e, w));
	KDRI_TRY(gram(ctx, e, w, g));
	KDRI_TRY(eigenpairs(ctx, g, m, count, values, table));
	for (int64_t j = 0; j < count; j++) {
		double scale = values[j] > rank_tol ? 1 / sqrt(values[j]) : 0;
		for (int64_t a = 0; a < m; a++)
			table[a * count + j] *= scale; /* (E3) */
	}
done:
	KDRI_FREE(ctx, w, g);
	return st;
}

void kdri_consensus_embed(kdr_context *ctx, const kdri_ensemble *e, const double *table, int64_t count,
                          int64_t k, double *out)
{
#pragma omp parallel for num_threads(kdri_team(ctx)) if (e->n * k > ROWS)
	for (int64_t i = 0; i < e->n; i++) {
		double *row = out + i * k, square = 0;
		for (int64_t j = 0; j < k; j++)
			row[j] = 0;
		for (int64_t l = 0; l < e->runs; l++) {
			const double *from = table + (e->offset[l] + e->label[l * e->n + i]) * count;
			for (int64_t j = 0; j < k; j++)
				row[j] += from[j]; /* (E4) */
		}
		for (int64_t j = 0; j < k; j++)
			square += row[j] * row[j];
		double scale = square > 0 ? 1 / sqrt(square) : 0;
		for (int64_t j = 0; j < k; j++)
			row[j] *= scale;
	}
}

int64_t kdri_consensus_gap(const double *values, int64_t count, int64_t most)
{
	int64_t best = 1;
	double widest = -1;
	for (int64_t k = 2; k <= most && k <= count; k++) {
		double gap = values[k - 1] - (k < count ? values[k] : 0);
		if (gap > widest) {
			widest = gap;
			best = k;
		}
	}
	return best;
}

/* --- (E5), (E6) ------------------------------------------------------------------------------- */

kdr_status kdri_consensus_agreement(kdr_context *ctx, const kdri_ensemble *e, const int64_t *labels,
                                    int64_t k, double *stability, double *score)
{
	kdr_status st;
	int64_t *t = NULL, *size = NULL, cells, m = e->offset[e->runs];
	KDRI_TRY(kdri_mul(ctx, m, k, &cells));
	KDRI_TRY(KDRI_NEW0(ctx, &t, cells));
	KDRI_TRY(KDRI_NEW0(ctx, &size, k));
	for (int64_t i = 0; i < e->n; i++)
		size[labels[i]]++;
#pragma omp parallel for num_threads(kdri_team(ctx)) if (e->n * e->runs > ROWS)
	for (int64_t l = 0; l < e->runs; l++)
		for (int64_t i = 0; i < e->n; i++)
			t[(e->offset[l] + e->label[l * e->n + i]) * k + labels[i]]++;
	KDRI_TRY(kdri_sum_int(ctx, t, cells));
	KDRI_TRY(kdri_sum_int(ctx, size, k));
#pragma omp parallel for num_threads(kdri_team(ctx)) if (e->n > ROWS)
	for (int64_t i = 0; i < (stability ? e->n : 0); i++) {
		int64_t sum = 0, others = size[labels[i]] - 1;
		for (int64_t l = 0; l < e->runs; l++)
			sum += t[(e->offset[l] + e->label[l * e->n + i]) * k + labels[i]];
		stability[i] = others > 0 ? (double)(sum - e->runs) / ((double)e->runs * (double)others)
		                          : 1; /* (E5) */
	}
	if (score) {
		double sum = 0, nmi;
		for (int64_t l = 0; l < e->runs; l++) {
			KDRI_TRY(kdri_nmi_counts(ctx, t + e->offset[l] * k, e->offset[l + 1] - e->offset[l],
			                         k, &nmi));
			sum += nmi;
		}
		*score = sum / (double)e->runs; /* (E6) */
	}
done:
	KDRI_FREE(ctx, t, size);
	return st;
}

/* --- all steps -------------------------------------------------------------------------------- */

/* k-means of the embedding. With more than STARTS_ON rows, the starts are compared on a sample of them. */
static kdr_status cluster_rows(kdr_context *ctx, const double *embedding, int64_t n, int64_t width, int64_t k,
                               const kdri_consensus_options *options, kdri_kmeans_result *out)
{
	kdr_status st;
	kdr_mat x = kdr_mat_from_dense(embedding, n, width);
	kdri_kmeans_options o = kdri_kmeans_defaults(k);
	kdri_kmeans_result first = { 0 };
	int64_t *rows = NULL, begin, all, mine = 0;
	kdri_own part = { 0 };
	o.n_init = options->n_init;
	o.max_iter = options->max_iter;
	o.tol = options->tol;
	o.stream = ((uint64_t)1 << 43) + options->stream;
	o.init_labels = options->init;
	KDRI_TRY(kdri_part(ctx, n, &begin, &all));
	if (all > STARTS_ON && k <= STARTS_ON && !options->init && o.n_init > 1) {
		KDRI_TRY(KDRI_NEW(ctx, &rows, STARTS_ON));
		kdri_rng rng = kdri_rng_stream(ctx->seed, "consensus.rows", options->stream);
		for (int64_t i = 0; i < STARTS_ON;
		     i++) { /* one of each all / STARTS_ON rows, if it is here */
			int64_t row = kdri_chunk_begin(all, STARTS_ON, i) +
			              kdri_rng_below(&rng, all / STARTS_ON) - begin;
			if (row >= 0 && row < n)
				rows[mine++] = row;
		}
		KDRI_TRY(kdri_mat_take(ctx, &x, rows, mine, &part));
		KDRI_TRY(kdri_kmeans(ctx, &part.view, NULL, &o, &first));
		o.init_centres = first.centres;
	}
	KDRI_TRY(kdri_kmeans(ctx, &x, NULL, &o, out));
done:
	kdri_free(ctx, rows);
	kdri_own_free(ctx, &part);
	kdri_kmeans_free(ctx, &first);
	return st;
}

kdr_status kdri_consensus_new(kdr_context *ctx, const kdri_ensemble *e, const kdri_consensus_options *o,
                              kdri_consensus *out)
{
	kdr_status st;
	kdri_consensus c = { 0 };
	double *table = NULL, *embedding = NULL;
	int64_t m = e->offset[e->runs], most, all, size;
	KDRI_TRY(kdri_part(ctx, e->n, NULL, &all));
	most = KDRI_MIN(KDRI_MIN(o->most, m), all);
	c.count = KDRI_MIN(KDRI_MAX(o->k, most) + 1, m);
	KDRI_TRY(kdri_mul(ctx, m, c.count, &size));
	KDRI_TRY(KDRI_NEW(ctx, &c.values, c.count));
	KDRI_TRY(KDRI_NEW(ctx, &table, size));
	KDRI_TRY(kdri_consensus_spectrum(ctx, e, c.count, c.values, table));
	c.suggested = kdri_consensus_gap(c.values, c.count, most);
	c.k = o->k > 0 ? o->k : c.suggested;
	/* Fewer columns than clusters: all of them are used; the partition is what they can distinguish. */
	int64_t width = KDRI_MIN(c.k, c.count);
	KDRI_TRY(kdri_mul(ctx, e->n, width, &size));
	KDRI_TRY(KDRI_NEW(ctx, &embedding, size));
	kdri_consensus_embed(ctx, e, table, c.count, width, embedding);
	KDRI_TRY(cluster_rows(ctx, embedding, e->n, width, c.k, o, &c.kmeans));
	KDRI_TRY(KDRI_NEW(ctx, &c.stability, e->n));
	KDRI_TRY(kdri_consensus_agreement(ctx, e, c.kmeans.labels, c.k, c.stability, &c.score));
	*out = c;
	c = (kdri_consensus){ 0 };
done:
	KDRI_FREE(ctx, table, embedding);
	kdri_consensus_free(ctx, &c);
	return st;
}

void kdri_consensus_free(kdr_context *ctx, kdri_consensus *c)
{
	KDRI_FREE(ctx, c->values, c->stability);
	kdri_kmeans_free(ctx, &c->kmeans);
	*c = (kdri_consensus){ 0 };
}
