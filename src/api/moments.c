/* Means and covariances of clusters, which a model keeps instead of samples. SPDX-License-Identifier: BSD-3-Clause
 *
 * With the mean m_z of the n_z samples of cluster z, their variances v_zj in each column j, and the eigenvalues l_r and unit
 * eigenvectors w_r of their covariance:
 *
 *     (E1)  b_zr = sqrt(l_r) w_r for the R largest: all if there are at most 64 columns, otherwise up to 20
 *     (E2)  s_zj = v_zj - sum_r b_zrj^2, at least 0: the covariance is B_z' B_z + diag(s_z)
 *     (E3)  a sample: x_j = m_zj + sum_r g_r b_zrj + h_j sqrt(s_zj), with independent standard normal g and h
 *
 * Texts and other data with few values other than 0 have no directions. A sample of them keeps 0 where a word is absent:
 *
 *     (E4)  x_j = q_j / m_zj with probability m_zj^2 / q_j, else 0, where q_j = v_zj + m_zj^2; mean and variance are m_zj and v_zj
 *
 * Categories of tables have no directions either: a level is drawn with its frequency. Values are missing as often as they were.
 * Clusters of fewer than 10 samples get the covariance of all clusters of the data set, of deviations from their means.
 * docs/notes/into.md measures what data sets gain when they are added to samples that were drawn so. */
#include "api/moments.h"

#include "api/remembered.h"
#include "matrix/linalg.h"
#include "prepare/prep.h"

enum { FULL = 64, DIRECTIONS = 20, SMALL = 10, SAMPLES = 512, NUMBERS_MOST = 1 << 20 };

void kdri_moments_free(const kdr_allocator *a, kdri_moments *m)
{
	if (!m)
		return;
	KDRI_FREE_WITH(a, m->draws, m->mean, m->variance, m->missing, m->direction, m);
}

kdr_status kdri_moments_room(kdr_context *ctx, int64_t k, int64_t d, int64_t rank, bool missing,
                             kdri_moments **out)
{
	kdr_status st;
	kdri_moments *m = NULL;
	int64_t size, all;
	KDRI_TRY(kdri_mul(ctx, k, d, &size));
	KDRI_TRY(kdri_mul(ctx, size, rank, &all));
	KDRI_TRY(KDRI_NEW0(ctx, &m, 1));
	m->k = k;
	m->d = d;
	m->rank = rank;
	KDRI_TRY(KDRI_NEW0(ctx, &m->draws, k));
	KDRI_TRY(KDRI_NEW0(ctx, &m->mean, size));
	KDRI_TRY(KDRI_NEW0(ctx, &m->variance, size));
	if (missing)
		KDRI_TRY(KDRI_NEW0(ctx, &m->missing, size));
	if (rank > 0)
		KDRI_TRY(KDRI_NEW0(ctx, &m->direction, all));
	*out = m;
	m = NULL;
done:
	kdri_moments_free(&ctx->allocator, m);
	return st;
}

kdr_status kdri_moments_copy(kdr_context *ctx, const kdri_moments *from, const int64_t *now, int64_t k,
                             kdri_moments **out)
{
	const int64_t d = from->d, all = from->rank * d;
	const size_t row = (size_t)d * sizeof(double);
	KDRI_DO(kdri_moments_room(ctx, k, d, from->rank, from->missing != NULL, out));
	(*out)->sparse = from->sparse;
	for (int64_t z = 0; z < from->k; z++) {
		const int64_t l = now ? now[z] : z;
		if (from->draws[z] == 0)
			continue;
		(*out)->draws[l] = from->draws[z];
		memcpy((*out)->mean + l * d, from->mean + z * d, row);
		memcpy((*out)->variance + l * d, from->variance + z * d, row);
		if (from->missing)
			memcpy((*out)->missing + l * d, from->missing + z * d, row);
		if (from->rank > 0)
			memcpy((*out)->direction + l * all, from->direction + z * all,
			       (size_t)from->rank * row);
	}
	return KDR_OK;
}

/* What kind of column j is; numbers without a table. */
static kdri_table_kind kind_of(const kdr_prep *prep, int64_t j)
{
	return prep && prep->column_kind ? (kdri_table_kind)prep->column_kind[prep->kept ? prep->kept[j] : j]
	                                 : KDRI_TABLE_NUMBER;
}

/* --- from samples ----------------------------------------------------------------------------------------- */

/* Samples of each cluster, and whether values are missing or mostly 0. */
static void moments_count(const kdr_mat *x, const int64_t *labels, int64_t *size, bool *missing, bool *sparse)
{
	int64_t nonzero = 0;
	for (int64_t i = 0; i < kdr_mat_rows(x); i++) {
		const kdri_entries row = kdri_row_entries(x, i);
		for (int64_t p = 0; p < row.count; p++) {
			nonzero += row.val[p] != 0;
			*missing = *missing || isnan(row.val[p]);
		}
		if (labels[i] >= 0)
			size[labels[i]]++;
	}
	*sparse = !kdri_stored_dense((double)nonzero, (double)kdr_mat_rows(x), (double)kdr_mat_cols(x));
}

/* Means, variances and fractions of missing values. Values that are 0 are counted, so that it does not matter whether they are stored.
 * `other`: k x d numbers. */
static void moments_columns(const kdr_mat *x, const int64_t *labels, const int64_t *size, int64_t *other,
                            kdri_moments *m)
{
	const int64_t d = m->d;
	for (int pass = 0; pass < 2; pass++) {
		double *sum = pass == 0 ? m->mean : m->variance;
		for (int64_t i = 0; i < kdr_mat_rows(x); i++) {
			const kdri_entries row = kdri_row_entries(x, i);
			for (int64_t p = 0; labels[i] >= 0 && p < row.count; p++) {
				const int64_t at = labels[i] * d + kdri_entry_column(&row, p);
				const double v = row.val[p], apart = v - m->mean[at];
				other[at] += pass == 0 && v != 0;
				if (isnan(v))
					m->missing[at] += pass == 0;
				else if (v != 0)
					sum[at] += pass == 0 ? v : apart * apart;
			}
		}
		for (int64_t at = 0; at < m->k * d; at++) {
			const int64_t own = size[at / d];
			const double n = (double)own - (m->missing ? m->missing[at] : 0);
			if (pass == 1)
				sum[at] += (double)(own - other[at]) * m->mean[at] * m->mean[at];
			sum[at] = n > 0 ? sum[at] / n : 0;
		}
	}
	for (int64_t at = 0; m->missing && at < m->k * d; at++) {
		const int64_t own = size[at / d];
		m->missing[at] = own > 0 ? m->missing[at] / (double)own : 0;
	}
}

/* The rows of cluster z, or of all clusters if it is negative, at most SAMPLES spread over them, as deviations from the means of
 * their clusters. Missing values and categories are 0. */
static int64_t moments_deviations(const kdr_mat *x, const int64_t *labels, const kdr_prep *prep, int64_t z,
                                  int64_t size, const kdri_moments *m, double *out)
{
	int64_t seen = 0, taken = 0;
	const int64_t wanted = KDRI_MIN(size, SAMPLES);
	for (int64_t i = 0; i < kdr_mat_rows(x); i++) {
		if (labels[i] < 0 || (z >= 0 && labels[i] != z))
			continue;
		/* row `seen` of `size` is the next of those taken */
		if ((seen++ + 1) * wanted / size <= taken)
			continue;
		const kdri_entries row = kdri_row_entries(x, i);
		double *to = out + taken++ * m->d;
		for (int64_t j = 0; j < m->d; j++)
			to[j] = -m->mean[labels[i] * m->d + j];
		for (int64_t p = 0; p < row.count; p++)
			to[kdri_entry_column(&row, p)] += row.val[p];
		for (int64_t j = 0; j < m->d; j++)
			if (isnan(to[j]) || kind_of(prep, j) != KDRI_TABLE_NUMBER)
				to[j] = 0;
	}
	return taken;
}

/* (E1): the leading directions of n rows of deviations. */
static kdr_status moments_directions(kdr_context *ctx, const double *rows, int64_t n, const kdri_moments *m,
                                     double *out)
{
	kdr_status st;
	const int64_t d = m->d, side = KDRI_MIN(n, d);
	const bool columns = d <= n;
	double *a = NULL, *value = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &a, side * side));
	KDRI_TRY(KDRI_NEW(ctx, &value, side));
	for (int64_t i = 0; !columns && i < n; i++)
		for (int64_t j = 0; j <= i; j++)
			a[i * n + j] = a[j * n + i] = kdri_dot(rows + i * d, rows + j * d, d) / (double)n;
	for (int64_t i = 0; columns && i < n; i++)
		for (int64_t u = 0; u < d; u++)
			kdri_axpy(rows[i * d + u] / (double)n, rows + i * d, a + u * d, d);
	KDRI_TRY(kdri_eigh(ctx, side, a, side, value));
	for (int64_t r = 0; r < KDRI_MIN(m->rank, side); r++) {
		const int64_t at = side - 1 - r;
		double *to = out + r * d;
		for (int64_t i = 0; i < side && value[at] > 0; i++)
			if (columns)
				to[i] = sqrt(value[at]) * a[i * side + at];
			else
				kdri_axpy(a[i * side + at] / sqrt((double)n), rows + i * d, to, d);
	}
done:
	KDRI_FREE(ctx, a, value);
	return st;
}

/* Directions of every cluster, and variances less them. */
static kdr_status moments_covariances(kdr_context *ctx, const kdr_mat *x, const int64_t *labels,
                                      const int64_t *size, const kdr_prep *prep, kdri_moments *m)
{
	kdr_status st;
	const int64_t k = m->k, d = m->d;
	double *rows = NULL, *pooled = NULL, *all = NULL;
	int64_t n = 0, most, numbers;
	for (int64_t z = 0; z < k; z++)
		n += size[z];
	most = KDRI_MIN(n, SAMPLES);
	KDRI_TRY(kdri_mul(ctx, most, d, &numbers));
	KDRI_TRY(KDRI_NEW(ctx, &rows, m->rank > 0 ? numbers : 0));
	KDRI_TRY(KDRI_NEW0(ctx, &pooled, d));
	KDRI_TRY(KDRI_NEW0(ctx, &all, m->rank * d));
	for (int64_t z = 0; n > 0 && z < k; z++)
		kdri_axpy((double)size[z] / (double)n, m->variance + z * d, pooled, d);
	if (m->rank > 0 && n > 0) {
		const int64_t taken = moments_deviations(x, labels, prep, -1, n, m, rows);
		KDRI_TRY(moments_directions(ctx, rows, taken, m, all));
	}
	for (int64_t z = 0; z < k; z++) {
		double *b = m->rank > 0 ? m->direction + z * m->rank * d : NULL, *s = m->variance + z * d;
		if (size[z] < SMALL) {
			memcpy(s, pooled, (size_t)d * sizeof *s);
			if (b)
				memcpy(b, all, (size_t)(m->rank * d) * sizeof *b);
		} else if (b) {
			const int64_t taken = moments_deviations(x, labels, prep, z, size[z], m, rows);
			KDRI_TRY(moments_directions(ctx, rows, taken, m, b));
		}
		for (int64_t r = 0; b && r < m->rank; r++) /* (E2) */
			for (int64_t j = 0; j < d; j++)
				s[j] -= b[r * d + j] * b[r * d + j];
		for (int64_t j = 0; j < d; j++)
			s[j] = KDRI_MAX(s[j], 0);
	}
done:
	KDRI_FREE(ctx, rows, pooled, all);
	return st;
}

kdr_status kdri_moments_new(kdr_context *ctx, const kdr_data *data, const int64_t *labels, int64_t k,
                            int64_t most, const kdr_prep *prep, kdri_moments **out)
{
	kdr_status st;
	const kdr_mat x = kdr_data_mat(data);
	const int64_t d = data->cols;
	int64_t *size = NULL, *other = NULL, rank, numbers;
	bool missing = false, sparse;
	kdri_moments *m = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &size, k));
	KDRI_TRY(kdri_mul(ctx, k, d, &numbers));
	KDRI_TRY(KDRI_NEW0(ctx, &other, numbers));
	moments_count(&x, labels, size, &missing, &sparse);
	sparse = sparse && !(prep && prep->column_kind);
	rank = d <= FULL ? d : KDRI_MIN(DIRECTIONS, NUMBERS_MOST / d / KDRI_MAX(k, 1));
	KDRI_TRY(kdri_moments_room(ctx, k, d, sparse ? 0 : rank, missing, &m));
	m->sparse = sparse;
	kdri_remember_quotas(size, k, KDRI_MIN(most, KDRI_DRAWS_MOST), m->draws);
	moments_columns(&x, labels, size, other, m);
	KDRI_TRY(moments_covariances(ctx, &x, labels, size, prep, m));
	*out = m;
	m = NULL;
done:
	kdri_moments_free(&ctx->allocator, m);
	KDRI_FREE(ctx, size, other);
	return st;
}

/* --- samples ------------------------------------------------------------------------------------------------ */

/* (E4): returns how many values other than 0 a row has. It has one or more, if the cluster has. */
static int64_t draw_words(const kdri_moments *m, int64_t z, kdri_rng *rng, int32_t *col, double *val)
{
	const double *mean = m->mean + z * m->d, *variance = m->variance + z * m->d;
	int64_t n = 0, likely = -1;
	double most = 0;
	for (int64_t j = 0; j < m->d; j++) {
		if (mean[j] == 0)
			continue;
		const double q = variance[j] + mean[j] * mean[j], p = mean[j] * mean[j] / q;
		likely = p > most ? j : likely;
		most = KDRI_MAX(most, p);
		if (kdri_rng_uniform(rng) < p) {
			col[n] = (int32_t)j;
			val[n++] = q / mean[j];
		}
	}
	if (n == 0 && likely >= 0) {
		col[0] = (int32_t)likely;
		val[n++] = (variance[likely] + mean[likely] * mean[likely]) / mean[likely];
	}
	return n;
}

/* A category from column u on: one of its levels with their frequencies, or none; returns where the next column begins. */
static int64_t draw_level(const kdri_moments *m, const kdr_prep *prep, int64_t z, int64_t u, kdri_rng *rng,
                          double *x)
{
	const double *mean = m->mean + z * m->d;
	double left = kdri_rng_uniform(rng);
	int64_t end = u;
	bool found = false;
	for (; end < m->d && kind_of(prep, end) == KDRI_TABLE_LEVEL &&
	       prep->group[prep->kept ? prep->kept[end] : end] == prep->group[prep->kept ? prep->kept[u] : u];
	     end++) {
		x[end] = !found && left < mean[end];
		found = found || left < mean[end];
		left -= mean[end];
	}
	return end;
}

/* (E3) and columns of tables. */
static void draw_numbers(const kdri_moments *m, const kdr_prep *prep, int64_t task, int64_t z, kdri_rng *rng,
                         double *x)
{
	const int64_t d = m->d;
	const double *mean = m->mean + z * d, *variance = m->variance + z * d;
	memcpy(x, mean, (size_t)d * sizeof *x);
	for (int64_t r = 0; r < m->rank; r++)
		kdri_axpy(kdri_rng_normal(rng), m->direction + (z * m->rank + r) * d, x, d);
	for (int64_t j = 0; j < d; j++) {
		const kdri_table_kind kind = kind_of(prep, j);
		if (kind == KDRI_TABLE_LEVEL) {
			j = draw_level(m, prep, z, j, rng, x) - 1;
			continue;
		}
		const double normal = kdri_rng_normal(rng);
		x[j] += sqrt(variance[j]) * normal;
		if (kind == KDRI_TABLE_TWO) {
			const int64_t at =
			        (prep->fit_each ? task : 0) * prep->cols + (prep->kept ? prep->kept[j] : j);
			const double low = prep->low[at], high = prep->high[at];
			x[j] = kdri_rng_uniform(rng) * (high - low) < mean[j] - low ? high : low;
		}
		if (m->missing && kdri_rng_uniform(rng) < m->missing[z * d + j])
			x[j] = NAN;
	}
}

static void draw_norm(kdr_norm norm, double *val, int64_t n)
{
	double sum = 0;
	for (int64_t p = 0; p < n; p++)
		sum += norm == KDR_NORM_L1 ? fabs(val[p]) : val[p] * val[p];
	sum = norm == KDR_NORM_L1 ? sum : sqrt(sum);
	for (int64_t p = 0; norm != KDR_NORM_NONE && sum > 0 && p < n; p++)
		val[p] /= sum;
}

kdr_status kdri_moments_draw(kdr_context *ctx, const kdri_moments *m, const kdr_prep *prep, const char *name,
                             int64_t task, kdr_data **out)
{
	kdr_status st;
	kdr_data *made = NULL;
	const kdr_norm norm = prep ? prep->options.norm : KDR_NORM_NONE;
	kdri_rng rng = kdri_rng_stream(ctx->seed, "moments", (uint64_t)task);
	int64_t n = 0, i = 0, size, room = 0;
	for (int64_t z = 0; z < m->k; z++)
		n += m->draws[z];
	KDRI_TRY(kdri_mul(ctx, n, m->d, &size));
	KDRI_TRY(kdri_data_new(ctx, name, "", &made));
	made->rows = n;
	made->cols = m->d;
	made->kind = m->sparse ? KDR_MAT_CSR : KDR_MAT_DENSE;
	KDRI_TRY(KDRI_NEW(ctx, &made->labels, n));
	if (m->sparse)
		KDRI_TRY(KDRI_NEW0(ctx, &made->rowptr, n + 1));
	else
		KDRI_TRY(KDRI_NEW(ctx, &made->dense, size));
	for (int64_t z = 0; z < m->k; z++)
		for (int64_t c = 0; c < m->draws[z]; c++, i++) {
			made->labels[i] = z;
			if (!m->sparse) {
				draw_numbers(m, prep, task, z, &rng, made->dense + i * m->d);
				draw_norm(norm, made->dense + i * m->d, m->d);
				continue;
			}
			const int64_t begin = made->rowptr[i];
			if (begin + m->d > room) {
				room = 2 * room + m->d;
				KDRI_TRY(KDRI_GROW(ctx, &made->col, room));
				KDRI_TRY(KDRI_GROW(ctx, &made->val, room));
			}
			made->rowptr[i + 1] =
			        begin + draw_words(m, z, &rng, made->col + begin, made->val + begin);
			draw_norm(norm, made->val + begin, made->rowptr[i + 1] - begin);
		}
	*out = made;
	made = NULL;
done:
	kdr_data_free(made);
	return st;
}
