/* Vectors: sums, combinations of columns, order statistics. SPDX-License-Identifier: BSD-3-Clause
 *
 * Sums run in eight lanes: entry i is added to lane i mod 8, and the lanes are added as a tree at the end.
 * Eight doubles fill one AVX-512 register, two of AVX2 or four of NEON, and since the association is
 * written out, every one of them gives the same bits. */
#include "matrix/linalg.h"

enum { LANES = 8 };

static inline double sum_lanes(const double *s)
{
	return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

/* 2 flops for 16 bytes: bound by memory as soon as x and y leave the cache. */
KDRI_KERNEL
double kdri_dot(const double *restrict x, const double *restrict y, int64_t n)
{
	double s[LANES] = { 0 };
	int64_t i = 0;
	for (; i + LANES <= n; i += LANES) {
#pragma omp simd
		for (int l = 0; l < LANES; l++)
			s[l] += x[i + l] * y[i + l];
	}
	for (int l = 0; i < n; i++, l++)
		s[l] += x[i] * y[i];
	return sum_lanes(s);
}

KDRI_KERNEL
double kdri_nrm2sq(const double *x, int64_t n)
{
	double s[LANES] = { 0 };
	int64_t i = 0;
	for (; i + LANES <= n; i += LANES) {
#pragma omp simd
		for (int l = 0; l < LANES; l++)
			s[l] += x[i + l] * x[i + l];
	}
	for (int l = 0; i < n; i++, l++)
		s[l] += x[i] * x[i];
	return sum_lanes(s);
}

/* Compilers keep the order of comparisons as they do that of sums: so this too is written in lanes. */
KDRI_KERNEL
double kdri_least(const double *x, int64_t n)
{
	double s[LANES];
	int64_t i = 0;
	for (int l = 0; l < LANES; l++)
		s[l] = INFINITY;
	for (; i + LANES <= n; i += LANES) {
#pragma omp simd
		for (int l = 0; l < LANES; l++)
			s[l] = x[i + l] < s[l] ? x[i + l] : s[l];
	}
	for (; i < n; i++)
		s[0] = KDRI_MIN(x[i], s[0]);
	for (int l = 1; l < LANES; l++)
		s[0] = KDRI_MIN(s[l], s[0]);
	return s[0];
}

KDRI_KERNEL
double kdri_greatest(const double *x, int64_t n)
{
	double s[LANES];
	int64_t i = 0;
	for (int l = 0; l < LANES; l++)
		s[l] = -INFINITY;
	for (; i + LANES <= n; i += LANES) {
#pragma omp simd
		for (int l = 0; l < LANES; l++)
			s[l] = x[i + l] > s[l] ? x[i + l] : s[l];
	}
	for (; i < n; i++)
		s[0] = KDRI_MAX(x[i], s[0]);
	for (int l = 1; l < LANES; l++)
		s[0] = KDRI_MAX(s[l], s[0]);
	return s[0];
}

KDRI_KERNEL
void kdri_axpy(double alpha, const double *restrict x, double *restrict y, int64_t n)
{
#pragma omp simd
	for (int64_t i = 0; i < n; i++)
		y[i] += alpha * x[i];
}

/* Sums and combinations of columns. */

enum { SERIAL_WORK = 1 << 15 };

void kdri_vectors_add(int64_t chunks, int64_t m, const double *partial, double *out)
{
	for (int64_t j = 0; j < m; j++) {
		double sum = 0;
		for (int64_t c = 0; c < chunks; c++)
			sum += partial[c * m + j];
		out[j] = sum;
	}
}

void kdri_vectors_dot(kdr_context *ctx, int64_t rows, int64_t m, const double *a, const double *b,
                      double *partial, double *out)
{
	int64_t chunks = kdri_chunks(rows);
#pragma omp parallel for num_threads(kdri_team(ctx)) if (rows * m > SERIAL_WORK)
	for (int64_t c = 0; c < chunks; c++) {
		double *sum = partial + c * m;
		memset(sum, 0, (size_t)m * sizeof *sum);
		for (int64_t i = kdri_chunk_begin(rows, chunks, c); i < kdri_chunk_begin(rows, chunks, c + 1);
		     i++)
			for (int64_t j = 0; j < m; j++)
				sum[j] += a[i * m + j] * (b ? b[i * m + j] : 1);
	}
	kdri_vectors_add(chunks, m, partial, out);
}

void kdri_vectors_combine(kdr_context *ctx, int64_t rows, int64_t m, const double *scale, const double *alpha,
                          const double *x, double *y)
{
#pragma omp parallel for num_threads(kdri_team(ctx)) if (rows * m > SERIAL_WORK)
	for (int64_t i = 0; i < rows; i++)
		for (int64_t j = 0; j < m; j++)
			y[i * m + j] =
			        (scale ? scale[j] * y[i * m + j] : y[i * m + j]) + alpha[j] * x[i * m + j];
}

/* Order statistics by quickselect: O(n) on average.
 *
 * The pivot is the median of first, middle and last, so that sorted input is not a bad case. Entries equal to the
 * pivot are divided between both sides, so that many equal entries are not one either.
 *
 * If only the value is needed, a sample gives two values between which it probably lies, a pass without branches
 * keeps the entries between them, about a third, and so on [Floyd & Rivest 1975]. Quickselect spends most of its time
 * on mispredicted branches: it takes 8 ns per entry, this algorithm 1 ns. */

static void select_swap(double *a, double *b)
{
	double c = *a;
	*a = *b;
	*b = c;
}

double kdri_select(double *v, int64_t n, int64_t k)
{
	int64_t low = 0, high = n - 1;
	while (low < high) {
		int64_t middle = low + (high - low) / 2, i = low, j = high;
		if (v[middle] < v[low])
			select_swap(&v[middle], &v[low]);
		if (v[high] < v[low])
			select_swap(&v[high], &v[low]);
		if (v[high] < v[middle])
			select_swap(&v[high], &v[middle]);
		double pivot = v[middle];
		while (i <= j) {
			while (v[i] < pivot)
				i++;
			while (pivot < v[j])
				j--;
			if (i <= j)
				select_swap(&v[i++], &v[j--]);
		}
		/* low..j <= pivot, i..high >= pivot, what lies between equals it */
		if (k <= j)
			high = j;
		else if (k >= i)
			low = i;
		else
			break;
	}
	return v[k];
}

/* How many entries are below `low`, and how many up to `high`. */
KDRI_KERNEL
static void count_entries(const double *v, int64_t n, double low, double high, int64_t *below, int64_t *upto)
{
	int64_t a = 0, b = 0;
#pragma omp simd reduction(+ : a, b)
	for (int64_t i = 0; i < n; i++) {
		a += v[i] < low;
		b += v[i] <= high;
	}
	*below = a;
	*upto = b;
}

/* Values between which the one at position k lies if the sample is representative. */
static void guess_bounds(const double *v, int64_t n, int64_t k, double *low, double *high)
{
	enum { SAMPLE = 32 };
	double sample[SAMPLE], share = (double)k / (double)n;
	double middle = share * SAMPLE, margin = 1 + 3 * sqrt(SAMPLE * share * (1 - share));
	int64_t first = (int64_t)floor(middle - margin), last = (int64_t)ceil(middle + margin);
	for (int64_t i = 0; i < SAMPLE; i++) {
		double x = v[i * n / SAMPLE];
		int64_t at = i;
		for (; at > 0 && sample[at - 1] > x; at--)
			sample[at] = sample[at - 1];
		sample[at] = x;
	}
	*low = first < 0 ? -INFINITY : sample[first];
	*high = last >= SAMPLE ? INFINITY : sample[last];
}

/* Reduces v to fewer entries that include its values at positions first .. last, which is `first` or the next.
 * Returns their number; *before is the number of removed entries that precede them. */
static int64_t narrow(double *v, int64_t n, int64_t first, int64_t last, int64_t *before)
{
	enum { FEW = 96 };
	*before = 0;
	while (n > FEW) {
		double low, high;
		int64_t below, upto, kept = 0;
		guess_bounds(v, n, last - *before, &low, &high);
		count_entries(v, n, low, high, &below, &upto);
		if (first - *before < below || last - *before >= upto)
			break;
		if (low == high) { /* many equal entries, including the requested ones */
			*before = first;
			v[0] = v[last - first] = low;
			return last - first + 1;
		}
		if (upto - below > n / 2)
			break;
		for (int64_t i = 0; i < n; i++) {
			double x = v[i];
			v[kept] = x;
			kept += (x >= low) & (x <= high);
		}
		*before += below;
		n = kept;
	}
	return n;
}

double kdri_nth(double *v, int64_t n, int64_t k)
{
	int64_t before, left = narrow(v, n, k, k, &before);
	return kdri_select(v, left, k - before);
}

double kdri_median(double *v, int64_t n)
{
	int64_t before, first = (n - 1) / 2, left = narrow(v, n, first, n / 2, &before);
	double upper = kdri_select(v, left, n / 2 - before), lower = upper;
	if (n % 2 == 0) {
		lower = v[0];
		for (int64_t i = 1; i < n / 2 - before; i++)
			lower = v[i] > lower ? v[i] : lower;
	}
	return (lower + upper) / 2;
}
