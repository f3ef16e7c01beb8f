/* The passes over panels on each kind of machine, against plain loops over rows. SPDX-License-Identifier: BSD-3-Clause */
#include "methods/ttl/trifactor_rows.c" /* all its kernels, not only those for this machine */
#include "unit.h"

typedef void pass_fn(const kdri_tri_pass *, int64_t, int64_t, const kdri_tri_sums *, double *);
typedef struct machine {
	int bits, lanes;
	pass_fn *pass[3];
} machine;
static const machine machines[] = {
#ifdef KDR_HAVE_TARGET_CLONES
	{ 512, 8, { run_pass1_512, run_pass2_512, run_pass3_512 } },
	{ 256, 4, { run_pass1_256, run_pass2_256, run_pass3_256 } },
#endif
	{ 0, 0, { run_pass1_base, run_pass2_base, run_pass3_base } },
};
enum { MACHINES = sizeof machines / sizeof machines[0], M = 40, C = 9, P = 11, Q = 3 * P };

/* F by rows, and what the passes make of it. */
typedef struct plain {
	double f[M][Q], h[2][M][C];
	double num1[P * C], den1[P * C], num2[2][P * C], den2[2][P * C], columns[Q], gram[2][C * C];
} plain;

typedef struct setting {
	double at[C * Q], b[2][M * C], s[2][C * C], scale[Q], f[(M + LANES) * Q], h[2][M * C];
	kdri_tri_pass pass;
} setting;

static double drawn(kdri_rng *rng)
{
	return kdri_rng_below(rng, 4) ? kdri_rng_uniform(rng) : 0;
}

static void set_up(kdri_rng *rng, setting *t, plain *p)
{
	int64_t m = 1 + kdri_rng_below(rng, M), c = 1 + kdri_rng_below(rng, C),
	        p1 = 1 + kdri_rng_below(rng, P), p2 = kdri_rng_below(rng, P + 1), q = p1 + 2 * p2;
	*t = (setting){ 0 };
	*p = (plain){ 0 };
	t->pass = (kdri_tri_pass){ .at = t->at,
		                   .b = { t->b[0], t->b[1] },
		                   .s = { t->s[0], t->s[1] },
		                   .scale = t->scale,
		                   .weight = { 0.3, 1.7 },
		                   .f = t->f,
		                   .h = { t->h[0], t->h[1] },
		                   .m = m,
		                   .c = c,
		                   .p1 = p1,
		                   .p2 = p2,
		                   .q = q,
		                   .steps = (unsigned)kdri_rng_below(rng, KDRI_TRI_ALL + 1) };
	for (int64_t i = 0; i < c * q; i++)
		t->at[i] = drawn(rng);
	for (int64_t j = 0; j < q; j++)
		t->scale[j] = 0.5 + kdri_rng_uniform(rng);
	for (int l = 0; l < 2; l++) {
		for (int64_t i = 0; i < m * c; i++)
			t->b[l][i] = drawn(rng);
		for (int64_t i = 0; i < c; i++)
			for (int64_t k = 0; k <= i; k++)
				t->s[l][i * c + k] = t->s[l][k * c + i] = drawn(rng);
	}
	for (int64_t i = 0; i < m; i++)
		for (int64_t j = 0; j < q; j++)
			t->f[(i / LANES * q + j) * LANES + i % LANES] = p->f[i][j] = drawn(rng);
}

/* (E1) of row i: h of data set l. */
static void row_h(const setting *t, const plain *p, int64_t i, int l, double *h)
{
	const kdri_tri_pass *a = &t->pass;
	for (int64_t k = 0; k < a->c; k++) {
		h[k] = 0;
		for (int64_t j = 0; j < a->q; j++)
			if (j < a->p1 || (j >= own(a, l) && j < own(a, l) + a->p2))
				h[k] += p->f[i][j] * t->at[k * a->q + j];
	}
}

static void row_hs(const setting *t, const plain *p, int64_t i, int l, double *hs)
{
	double h[C];
	row_h(t, p, i, l, h);
	for (int64_t k = 0; k < t->pass.c; k++) {
		hs[k] = 0;
		for (int64_t e = 0; e < t->pass.c; e++)
			hs[k] += h[e] * t->s[l][e * t->pass.c + k];
	}
}

static void step_plain(const setting *t, double *f, int64_t j, const double *num, const double *den)
{
	double top = 0, bottom = 0;
	for (int64_t k = 0; k < t->pass.c; k++) {
		top += num[k] * t->at[k * t->pass.q + j];
		bottom += den[k] * t->at[k * t->pass.q + j];
	}
	f[j] = bottom > least ? f[j] * (top / bottom) : f[j];
}

/* All three passes, one row after another. */
static void run_plain(const setting *t, plain *p)
{
	const kdri_tri_pass *a = &t->pass;
	int64_t c = a->c;
	for (int64_t i = 0; i < a->m; i++) {
		double u[C], v[C], hs[2][C], *f = p->f[i];
		for (int64_t k = 0; k < c; k++)
			u[k] = a->weight[0] * t->b[0][i * c + k] + a->weight[1] * t->b[1][i * c + k];
		for (int round = 0; round < 2; round++) {
			row_hs(t, p, i, 0, hs[0]);
			row_hs(t, p, i, 1, hs[1]);
			for (int64_t k = 0; k < c; k++)
				v[k] = a->weight[0] * hs[0][k] + a->weight[1] * hs[1][k];
			if (round == 1)
				break;
			for (int64_t j = 0; j < a->p1 && (a->steps & KDRI_TRI_F1); j++)
				step_plain(t, f, j, u, v); /* (E2) */
			for (int l = 0; l < 2; l++) {
				row_hs(t, p, i, l, hs[l]);
				for (int64_t j = 0;
				     j < a->p2 && (a->steps & (l ? KDRI_TRI_F2B : KDRI_TRI_F2A)); j++)
					step_plain(t, f, own(a, l) + j, t->b[l] + i * c, hs[l]); /* (E3) */
			}
		}
		for (int64_t j = 0; j < a->q; j++)
			p->columns[j] += f[j];
		for (int64_t k = 0; k < c; k++) {
			for (int64_t j = 0; j < a->p1; j++) {
				p->num1[j * c + k] += f[j] * u[k];
				p->den1[j * c + k] += f[j] * v[k];
			}
			for (int l = 0; l < 2; l++)
				for (int64_t j = 0; j < a->p2; j++) {
					p->num2[l][j * c + k] += f[own(a, l) + j] * t->b[l][i * c + k];
					p->den2[l][j * c + k] += f[own(a, l) + j] * hs[l][k];
				}
		}
		for (int64_t j = 0; j < a->q; j++)
			f[j] *= t->scale[j];
		for (int l = 0; l < 2; l++) {
			row_h(t, p, i, l, p->h[l][i]);
			for (int64_t k = 0; k < c * c; k++)
				p->gram[l][k] += p->h[l][i][k / c] * p->h[l][i][k % c];
		}
	}
}

static void same_sums(const double *room, int lanes, int64_t at, int64_t count, const double *expected)
{
	for (int64_t i = 0; i < count; i++) {
		double sum = 0;
		for (int r = 0; r < lanes; r++)
			sum += room[(at + i) * lanes + r];
		assert_near(sum, expected[i], 1e-11 * (1 + fabs(expected[i])));
	}
}

static void passes__on_each_machine__do_what_plain_loops_do(void **state)
{
	(void)state;
	kdri_rng rng = kdri_rng_stream(1, "test_trifactor_rows", 0);
	static setting t, now;
	static plain p;
	for (int round = 0; round < 150; round++) {
		set_up(&rng, &t, &p);
		run_plain(&t, &p);
		const kdri_tri_pass *a = &t.pass;
		int64_t c = a->c, panels = (a->m + LANES - 1) / LANES;
		kdri_tri_sums sums = kdri_tri_sums_of(c, a->p1, a->p2);
		double *room = malloc((size_t)(sums.size * LANES) * sizeof *room);
		for (int i = 0; i < MACHINES; i++) {
			if (machines[i].bits > kdri_machine())
				continue;
			int lanes = machines[i].lanes ? machines[i].lanes : lanes_base();
			now = t;
			now.pass.f = now.f;
			now.pass.h[0] = now.h[0];
			now.pass.h[1] = now.h[1];
			memset(room, 0, (size_t)(sums.size * LANES) * sizeof *room);
			for (int k = 0; k < 3; k++)
				machines[i].pass[k](&now.pass, 0, panels, &sums, room);
			same_sums(room, lanes, sums.columns, a->q, p.columns);
			same_sums(room, lanes, sums.num1, a->p1 * c, p.num1);
			same_sums(room, lanes, sums.den1, a->p1 * c, p.den1);
			for (int l = 0; l < 2; l++) {
				same_sums(room, lanes, sums.num2[l], a->p2 * c, p.num2[l]);
				same_sums(room, lanes, sums.den2[l], a->p2 * c, p.den2[l]);
				same_sums(room, lanes, sums.gram[l], c * c, p.gram[l]);
				for (int64_t r = 0; r < a->m * c; r++)
					assert_near(now.h[l][r], p.h[l][r / c][r % c], 1e-11);
			}
			for (int64_t r = 0; r < a->m; r++)
				for (int64_t j = 0; j < a->q; j++)
					assert_near(now.f[(r / LANES * a->q + j) * LANES + r % LANES],
					            p.f[r][j], 1e-11 * (1 + p.f[r][j]));
		}
		free(room);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(
		passes__on_each_machine__do_what_plain_loops_do) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
