/* Eigenvectors of a tridiagonal matrix: divide and conquer. SPDX-License-Identifier: BSD-3-Clause
 *
 * [Cuppen, Numerische Mathematik 36, 1981; Gu and Eisenstat, SIAM J. Matrix Analysis and Applications 16, 1995.] T is cut into two halves,
 *
 *   (E1)  T = diag(T1, T2) + rho u u', u = (0 .. 1, s .. 0)', rho = |e|, s the sign of e, the entry at which it is
 *         cut
 *
 * and with their eigenvectors Q and eigenvalues D, T = Q (D + rho z z') Q', z = Q' u. Entries of z that are
 * negligible leave their eigenpair unchanged, and for two equal eigenvalues a rotation makes one of the entries zero:
 * these pairs are deflated. For the remaining pairs, the eigenvalues x_j are the roots of the secular equation
 *, which are exact for another z,
 *
 *   (E2)  z_i^2 = prod over j of (x_j - d_i) / prod over j != i of (d_j - d_i),   up to rho
 *
 * whose eigenvectors z_i / (d_i - x_j) are orthogonal to rounding. They are multiplied by Q, whose halves are zero where they belong
 * to the other half of T. Pieces of LEAF rows and fewer are solved by the QL method with implicit shifts.
 *
 * Eigenvectors are rows. Memory: n^2 in addition to the n^2 of the result, which first stores the differences d_i -
 * x_j and then the vectors. */
/* The eigenvalues of a diagonal matrix plus one of rank one.
 *
 * Eigenvalue j of diag(d) + rho z z', d ascending and rho > 0, is the root between d_j and d_j+1 (after the last:
 * within rho ||z||^2) of
 *
 *   (E3)  f(x) = 1 + psi(x) + phi(x),   psi(x) = sum over i <= j of w_i / (d_i - x),  phi the same over i > j,  w_i = rho z_i^2
 *
 * which increases there from -oo to oo. x = d_o + t is measured from the nearer of the two poles, o, so that the
 * differences d_i - x, from which the eigenvectors are computed, are as accurate as t. From a guess, f is replaced by
 *
 *   (E4)  c + s / (d_j - x) + S / (d_j+1 - x)
 *
 * with the derivative of psi in the second and that of phi in the third term. Its root is the next guess [the middle way of Li,
 * Solving secular equations stably and efficiently, LAPACK working note 89, 1993]. A guess outside of the interval in which the
 * root is known to lie is replaced by its middle. For the last root both poles are on the same side. */
#include <float.h>

#include "matrix/builtin/builtin.h"

enum { LANES = 8, MOST_STEPS = 200 };

static inline double sum_lanes(const double *s)
{
	return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

/* out[0] += sum of w_i / delta_i and out[1] += sum of w_i / delta_i^2, with delta_i = gap_i - t. */
KDRI_KERNEL
static void pole_sums(int64_t n, const double *restrict gap, const double *restrict w, double t,
                      double *restrict delta, double *out)
{
	double s[LANES] = { 0 }, q[LANES] = { 0 };
	int64_t i = 0;
	for (; i + LANES <= n; i += LANES) {
#pragma omp simd
		for (int l = 0; l < LANES; l++) {
			double apart = gap[i + l] - t, part = w[i + l] / apart;
			delta[i + l] = apart;
			s[l] += part;
			q[l] += part / apart;
		}
	}
	for (int l = 0; i < n; i++, l++) {
		delta[i] = gap[i] - t;
		s[l] += w[i] / delta[i];
		q[l] += w[i] / delta[i] / delta[i];
	}
	out[0] = sum_lanes(s);
	out[1] = sum_lanes(q);
}

/* f and what its model needs, at d_o + t. */
typedef struct point {
	double f, slope, error; /* error: what rounding does to f */
	double psi[2], phi[2];  /* values and derivatives */
} point;

static point evaluate(int64_t k, int64_t left, const double *gap, const double *w, double t, double *delta)
{
	point p;
	pole_sums(left, gap, w, t, delta, p.psi);
	pole_sums(k - left, gap + left, w + left, t, delta + left, p.phi);
	p.f = 1 + p.psi[0] + p.phi[0]; /* (E3) */
	p.slope = p.psi[1] + p.phi[1];
	p.error = DBL_EPSILON * (8 * (1 + fabs(p.psi[0]) + fabs(p.phi[0])) + fabs(t) * p.slope);
	return p;
}

/* The step from a point to the root of (E4), whose poles are at distance d1 and d2. */
static double model_step(const point *p, double d1, double d2, bool last)
{
	double c = p->f - d1 * p->psi[1] - d2 * p->phi[1], a = (d1 + d2) * p->f - d1 * d2 * p->slope,
	       b = d1 * d2 * p->f;
	double root = sqrt(fabs(a * a - 4 * b * c));
	if (last)
		return a >= 0 ? (a + root) / (2 * fabs(c)) : 2 * b / (a - root);
	return a <= 0 ? (a - root) / (2 * c) : 2 * b / (a + root);
}

/* The first guess between two poles: f with the terms of all other poles at their value in the middle, `rest`. */
static double first_guess(double gap, double rest, double w1, double w2, bool from_left)
{
	double a = (from_left ? 1 : -1) * rest * gap + w1 + w2, b = (from_left ? w1 : w2) * gap;
	double root = sqrt(fabs(a * a - (from_left ? 4 : -4) * rest * b));
	double t = a > 0 ? 2 * b / (a + root) : (from_left ? 1 : -1) * (a - root) / (2 * rest);
	return from_left ? t : -fabs(t);
}

/* Eigenvalue j of k of diag(d) + z z', with d ascending and w_i = z_i^2 > 0; delta_i is set to d_i
 * minus the eigenvalue, accurate to a few units in the last place. gap: space for k numbers. */
static double secular_root(int64_t k, const double *d, const double *w, int64_t j, double *gap, double *delta)
{
	const bool last = j == k - 1;
	const int64_t left = last ? k - 1 : j + 1;
	int64_t origin = j;
	double low = 0, high = 0, t;
	if (k == 1) {
		delta[0] = -w[0];
		return d[0] + w[0];
	}
	for (int64_t i = 0; i < k; i++)
		gap[i] = d[i] - d[j];
	if (last) {
		for (int64_t i = 0; i < k; i++)
			high += w[i];
		high *= 1 + 4 * DBL_EPSILON;
		t = high / 2;
	} else {
		double between = gap[j + 1];
		point middle = evaluate(k, left, gap, w, between / 2, delta);
		double rest = middle.f - 2 * (w[j + 1] - w[j]) / between;
		high = between / 2;
		if (middle.f < 0) {
			origin = j + 1;
			for (int64_t i = 0; i < k; i++)
				gap[i] = d[i] - d[origin];
			low = -between / 2;
			high = 0;
		}
		t = first_guess(between, rest, w[j], w[j + 1], origin == j);
	}
	for (int step = 0; step < MOST_STEPS; step++) {
		if (!(t > low && t < high))
			t = low + (high - low) / 2;
		if (t == 0 || t == low || t == high) /* no number is left between the ends */
			t = low == 0 ? high : low;
		point p = evaluate(k, left, gap, w, t, delta);
		if (fabs(p.f) <= p.error || t == low || t == high)
			break;
		*(p.f < 0 ? &low : &high) = t;
		double move = model_step(&p, delta[left - 1], delta[left], last);
		if (!(p.f * move < 0))
			move = -p.f / p.slope;
		if (t + move == t)
			break;
		t += move;
		if (step > 20 && step % 3 == 0) /* the model is of no use here */
			t = NAN;
	}
	return d[origin] + t;
}

enum { LEAF = 32, MOST_TURNS = 60, POLL_ROWS = 256 };

/* Which half of the rows of Q an eigenvector has entries in. */
enum { UPPER, BOTH, LOWER, DEFLATED };

/* --- small matrices --------------------------------------------------------------------------------------- */

static void rotate_rows(int64_t n, double *restrict x, double *restrict y, double c, double s)
{
	for (int64_t i = 0; i < n; i++) {
		double v = y[i];
		y[i] = s * x[i] + c * v;
		x[i] = c * x[i] - s * v;
	}
}

static void swap_rows(int64_t n, double *restrict x, double *restrict y)
{
	for (int64_t i = 0; i < n; i++) {
		double v = x[i];
		x[i] = y[i];
		y[i] = v;
	}
}

/* One QL step on rows first .. last, which do not fall apart. */
static void ql_step(int64_t n, int64_t first, int64_t last, double *d, double *e, double *z, int64_t ld)
{
	double g = (d[first + 1] - d[first]) / (2 * e[first]), r = hypot(g, 1), s = 1, c = 1, p = 0;
	g = d[last] - d[first] + e[first] / (g + copysign(r, g));
	for (int64_t i = last - 1; i >= first; i--) {
		double f = s * e[i], b = c * e[i];
		r = hypot(f, g);
		e[i + 1] = r;
		if (r == 0) {
			d[i + 1] -= p;
			e[last] = 0;
			return;
		}
		s = f / r;
		c = g / r;
		g = d[i + 1] - p;
		r = (d[i] - g) * s + 2 * c * b;
		p = s * r;
		d[i + 1] = g + p;
		g = c * r - b;
		rotate_rows(n, z + i * ld, z + (i + 1) * ld, c, s);
	}
	d[first] -= p;
	e[first] = g;
	e[last] = 0;
}

/* 0, or the number of an eigenvalue, counted from 1, that was not found. e has n entries, the last of which is overwritten. */
static int ql(int64_t n, double *d, double *e, double *z, int64_t ld)
{
	e[n - 1] = 0;
	for (int64_t first = 0; first < n; first++)
		for (int turn = 0;; turn++) {
			int64_t last = first;
			while (last < n - 1 &&
			       fabs(e[last]) > DBL_EPSILON / 2 * (fabs(d[last]) + fabs(d[last + 1])) &&
			       fabs(e[last]) > DBL_MIN)
				last++;
			if (last == first)
				break;
			if (turn == MOST_TURNS)
				return (int)first + 1;
			ql_step(n, first, last, d, e, z, ld);
		}
	for (int64_t i = 0; i < n; i++) {
		int64_t least = i;
		for (int64_t j = i + 1; j < n; j++)
			if (d[j] < d[least])
				least = j;
		if (least != i) {
			double value = d[i];
			d[i] = d[least];
			d[least] = value;
			swap_rows(n, z + i * ld, z + least * ld);
		}
	}
	return 0;
}

/* --- two halves ------------------------------------------------------------------------------------------- */

/* The merging of the halves [0, m) and [m, n) of a matrix. The i-th smallest of the k pairs that are not deflated is
 * row row[i] of z, and place[i] is its position among them when sorted by kind: UPPER, BOTH, LOWER. */
typedef struct halves {
	int64_t n, m, ld, k, count[4];
	double *d, *z;
	double *kept, *weight, *entry; /* d_i, rho z_i^2 and z_i of those that are not deflated */
	double *placed, *product;      /* d_i and (E2) by place */
	double *gap, *delta, *value;
	int64_t *order, *row, *place, *kind;
	double *work;
} halves;

static halves halves_of(const kdri_tridiagonal *p, int64_t at, int64_t n, int64_t m)
{
	double *v = p->vectors;
	int64_t *index = p->index;
	const int64_t all = p->n;
	return (halves){ .n = n,
		         .m = m,
		         .ld = p->n,
		         .d = p->d + at,
		         .z = p->z + at * p->n + at,
		         .kept = v,
		         .weight = v + all,
		         .entry = v + 2 * all,
		         .placed = v + 3 * all,
		         .product = v + 4 * all,
		         .gap = v + 5 * all,
		         .delta = v + 6 * all,
		         .value = v + 7 * all,
		         .order = index,
		         .row = index + all,
		         .place = index + 2 * all,
		         .kind = index + 3 * all,
		         .work = p->work };
}

/* Deflates; `entry` has z for all rows before and for those that are kept, in order, after. */
static void deflate(halves *h, double rho, double *z)
{
	double most = 0;
	int64_t before = -1; /* the row kept last, which the next may be rotated with */
	for (int64_t i = 0; i < h->n; i++)
		most = KDRI_MAX(most, KDRI_MAX(fabs(h->d[i]), fabs(z[i])));
	const double tol = 8 * (DBL_EPSILON / 2) * most;
	h->k = 0;
	for (int64_t i = 0; i < h->n; i++) {
		int64_t row = h->order[i];
		h->kind[row] = row < h->m ? UPPER : LOWER;
		if (rho * fabs(z[row]) <= tol) {
			h->kind[row] = DEFLATED;
			continue;
		}
		if (before >= 0) {
			double length = hypot(z[row], z[before]), c = z[row] / length,
			       s = -z[before] / length, apart = h->d[row] - h->d[before];
			if (fabs(apart * c * s) <= tol) {
				double lower = h->d[before], upper = h->d[row];
				z[row] = length;
				z[before] = 0;
				if (h->kind[row] != h->kind[before])
					h->kind[row] = BOTH;
				h->kind[before] = DEFLATED;
				rotate_rows(h->n, h->z + before * h->ld, h->z + row * h->ld, c, -s);
				h->d[before] = lower * c * c + upper * s * s;
				h->d[row] = lower * s * s + upper * c * c;
				h->k--;
			}
		}
		h->row[h->k++] = row;
		before = row;
	}
}

/* Sorts the kept pairs by kind and copies the halves of their vectors that are not zero into `work`: first those of the upper
 * half (UPPER and BOTH), then those of the lower one (BOTH and LOWER). Returns the remaining part of `work`. */
static double *pack(halves *h, double rho, const double *z)
{
	int64_t begin[4] = { 0 }, below = h->n - h->m;
	memset(h->count, 0, sizeof h->count);
	for (int64_t i = 0; i < h->k; i++)
		h->count[h->kind[h->row[i]]]++;
	begin[BOTH] = h->count[UPPER];
	begin[LOWER] = begin[BOTH] + h->count[BOTH];
	double *upper = h->work, *lower = upper + begin[LOWER] * h->m;
	for (int64_t i = 0; i < h->k; i++) {
		int64_t row = h->row[i], kind = h->kind[row], at = begin[kind]++;
		const double *from = h->z + row * h->ld;
		h->place[i] = at;
		h->kept[i] = h->placed[at] = h->d[row];
		h->entry[i] = z[row];
		h->weight[i] = rho * z[row] * z[row];
		if (kind != LOWER)
			memcpy(upper + at * h->m, from, (size_t)h->m * sizeof *from);
		if (kind != UPPER)
			memcpy(lower + (at - h->count[UPPER]) * below, from + h->m,
			       (size_t)below * sizeof *from);
	}
	return lower + (h->k - h->count[UPPER]) * below;
}

/* Row j of z: the eigenvector of root j in the order of places; its eigenvalue in `value`. */
static void solve_secular(halves *h)
{
	const int64_t k = h->k;
	for (int64_t p = 0; p < k; p++)
		h->product[p] = 1;
	for (int64_t j = 0; j < k; j++) {
		double *row = h->z + j * h->ld;
		h->value[j] = secular_root(k, h->kept, h->weight, j, h->gap, h->delta);
		for (int64_t i = 0; i < k; i++)
			row[h->place[i]] = h->delta[i];
		int64_t own = h->place[j];
		double mine = h->product[own] * row[own], at = h->kept[j];
		for (int64_t p = 0; p < k; p++) /* (E2); 0 / 0 at its own place */
			h->product[p] *= row[p] / (h->placed[p] - at);
		h->product[own] = mine;
	}
	for (int64_t i = 0; i < k; i++) {
		int64_t p = h->place[i];
		h->product[p] = copysign(sqrt(fabs(h->product[p])), h->entry[i]);
	}
	for (int64_t j = 0; j < k; j++) {
		double *row = h->z + j * h->ld;
		for (int64_t p = 0; p < k; p++)
			row[p] = h->product[p] / row[p];
		double length = sqrt(kdri_nrm2sq(row, k));
		for (int64_t p = 0; p < k; p++)
			row[p] /= length;
	}
}

static bool look_up(const kdri_tridiagonal *p, int64_t done)
{
	return p->n > KDRI_EIGEN_WHOLE && kdri_iteration(p->ctx, "eigenvectors", done, p->n, NAN);
}

/* Columns to .. to + cols - 1 of the first k rows of z: their entries from .. from + inner - 1 times `half` (inner x cols). */
static kdr_status multiply_half(const kdri_tridiagonal *p, halves *h, int64_t from, int64_t inner,
                                const double *half, int64_t to, int64_t cols, double *room)
{
	for (int64_t j = 0; j < h->k; j++)
		memcpy(room + j * inner, h->z + j * h->ld + from, (size_t)inner * sizeof *room);
	for (int64_t j = 0; j < h->k; j += POLL_ROWS) {
		if (look_up(p, j))
			return kdri_eigen_stopped(p->ctx);
		kdri_dgemm(false, false, KDRI_MIN(POLL_ROWS, h->k - j), cols, inner, 1, room + j * inner,
		           inner, half, cols, 0, h->z + j * h->ld + to, h->ld);
	}
	return KDR_OK;
}

/* Sorts the rows of z and d by ascending d. `room`: space for a row. */
static void sort_rows(halves *h, double *room)
{
	/* The k roots ascend; the deflated rows are few runs, and sorted by insertion. */
	int64_t *order = h->order, *deflated = h->row;
	const int64_t k = h->k, n = h->n;
	for (int64_t i = k; i < n; i++) {
		int64_t at = i - k;
		for (; at > 0 && h->d[deflated[at - 1]] > h->d[i]; at--)
			deflated[at] = deflated[at - 1];
		deflated[at] = i;
	}
	for (int64_t i = 0, a = 0, b = 0; i < n; i++)
		order[i] = b == n - k || (a < k && h->d[a] <= h->d[deflated[b]]) ? a++ : deflated[b++];
	for (int64_t start = 0; start < n; start++) { /* each cycle of the permutation */
		int64_t to = start;
		double value = h->d[start];
		if (order[start] == start)
			continue;
		memcpy(room, h->z + start * h->ld, (size_t)n * sizeof *room);
		for (int64_t from = order[to]; from != start; from = order[to]) {
			memcpy(h->z + to * h->ld, h->z + from * h->ld, (size_t)n * sizeof *room);
			h->d[to] = h->d[from];
			order[to] = to;
			to = from;
		}
		memcpy(h->z + to * h->ld, room, (size_t)n * sizeof *room);
		h->d[to] = value;
		order[to] = to;
	}
}

static kdr_status merge_halves(const kdri_tridiagonal *p, int64_t at, int64_t n, int64_t m, double e)
{
	halves all = halves_of(p, at, n, m), *h = &all;
	double *z = h->delta, rho = 2 * fabs(e); /* z is used up before delta is needed */
	for (int64_t i = 0; i < n; i++)
		z[i] = (i < m ? h->z[i * h->ld + m - 1] : copysign(1, e) * h->z[i * h->ld + m]) * sqrt(0.5);
	/* order: rows by ascending d; both halves are sorted already. */
	int64_t a = 0, b = h->m;
	for (int64_t i = 0; i < h->n; i++)
		h->order[i] = b == h->n || (a < h->m && h->d[a] <= h->d[b]) ? a++ : b++;
	deflate(h, rho, z);
	double *room = pack(h, rho, z), *upper = h->work;
	const double *lower = upper + (h->count[UPPER] + h->count[BOTH]) * m;
	/* Moves the deflated rows after the first k, whose vectors have been copied. */
	int64_t free = h->k;
	for (int64_t row = 0; row < h->k; row++)
		if (h->kind[row] == DEFLATED) {
			while (h->kind[free] == DEFLATED)
				free++;
			memcpy(h->z + free * h->ld, h->z + row * h->ld, (size_t)h->n * sizeof *h->z);
			h->d[free] = h->d[row];
			h->kind[free] = DEFLATED;
		}
	solve_secular(h);
	/* The lower half first: what it overwrites, columns from m on, the upper half does not need. */
	KDRI_DO(multiply_half(p, h, h->count[UPPER], h->count[BOTH] + h->count[LOWER], lower, m, n - m,
	                      room));
	KDRI_DO(multiply_half(p, h, 0, h->count[UPPER] + h->count[BOTH], upper, 0, m, room));
	memcpy(h->d, h->value, (size_t)h->k * sizeof *h->d);
	sort_rows(h, h->gap);
	return KDR_OK;
}

static kdr_status solve_part(const kdri_tridiagonal *p, int64_t at, int64_t n, int *info)
{
	const int64_t m = n / 2;
	if (n <= LEAF) {
		int failed = ql(n, p->d + at, p->e + at, p->z + at * p->n + at, p->n);
		*info = failed ? (int)at + failed : 0;
		return KDR_OK;
	}
	const double e = p->e[at + m - 1]; /* (E1) */
	p->d[at + m - 1] -= fabs(e);
	p->d[at + m] -= fabs(e);
	KDRI_DO(solve_part(p, at, m, info));
	if (*info == 0)
		KDRI_DO(solve_part(p, at + m, n - m, info));
	if (*info == 0)
		KDRI_DO(merge_halves(p, at, n, m, e));
	return KDR_OK;
}

kdr_status kdri_tridiagonal_solve(const kdri_tridiagonal *p, int *info)
{
	memset(p->z, 0, (size_t)(p->n * p->n) * sizeof *p->z);
	for (int64_t i = 0; i < p->n; i++)
		p->z[i * p->n + i] = 1;
	*info = 0;
	return solve_part(p, 0, p->n, info);
}
