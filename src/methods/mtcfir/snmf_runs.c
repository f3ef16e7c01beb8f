/* Several starts of a symmetric factorisation, in step. SPDX-License-Identifier: BSD-3-Clause
 *
 * Equations are those of snmf_steps.c. */
#include "methods/mtcfir/snmf_runs.h"

kdr_status kdri_snmf_runs_open(kdri_snmf_runs *w, int64_t runs)
{
	kdr_status st;
	int64_t size;
	w->slots = runs;
	w->ld = w->place->width(runs, w->k);
	KDRI_TRY(kdri_mul(w->ctx, w->rows, w->ld, &size));
	KDRI_TRY(KDRI_NEW0(w->ctx, &w->results, runs));
	KDRI_TRY(KDRI_NEW(w->ctx, &w->run, runs));
	KDRI_TRY(KDRI_NEW(w->ctx, &w->flag, runs));
	KDRI_TRY(KDRI_NEW(w->ctx, &w->products, w->ld));
	for (int which = 0; which < 2; which++) {
		KDRI_TRY(KDRI_NEW0(w->ctx, &w->gram[which], w->ld * w->ld));
		KDRI_TRY(KDRI_NEW(w->ctx, &w->objective[which], runs));
	}
	for (int64_t q = 0; q < runs; q++)
		w->run[q] = q;
done:
	return st;
}

void kdri_snmf_runs_close(kdri_snmf_runs *w, int64_t runs)
{
	for (int64_t q = 0; q < runs && w->results; q++)
		kdri_snmf_free(w->ctx, &w->results[q]);
	kdri_free(w->ctx, w->results);
	kdri_free(w->ctx, w->run);
	kdri_free(w->ctx, w->flag);
	kdri_free(w->ctx, w->products);
	for (int which = 0; which < 2; which++) {
		kdri_free(w->ctx, w->gram[which]);
		kdri_free(w->ctx, w->objective[which]);
	}
}

/* N, Y'Y and (E1) of a state. */
static kdr_status snmf_runs_evaluate(kdri_snmf_runs *w, int which)
{
	kdr_status st;
	int64_t k = w->k, ld = w->ld;
	KDRI_TRY(w->place->multiply(w, which, w->gram[which], w->products));
	for (int64_t slot = 0; slot < w->slots; slot++) {
		double product = 0, square = 0;
		for (int64_t a = slot * k; a < (slot + 1) * k; a++) {
			double *row = w->gram[which] + a * ld;
			product += w->products[a];
			square += kdri_nrm2sq(row + slot * k, k);
			memset(row, 0, (size_t)(slot * k) * sizeof *row);
			memset(row + (slot + 1) * k, 0, (size_t)(ld - (slot + 1) * k) * sizeof *row);
		}
		w->objective[which][slot] = KDRI_MAX(0, w->square - 2 * product + square);
	}
done:
	return st;
}

/* One iteration of all starts at work. */
static kdr_status snmf_runs_advance(kdri_snmf_runs *w, bool single)
{
	kdr_status st;
	bool again = false;
	int now = w->now, next = !now;
	/* J is a difference of sums of the size of |M|^2: this much of a rise is rounding. */
	double rounding = (single ? 1e-8 : 1e-13) * w->square;
	KDRI_TRY(w->place->step(w, now, w->gram[now])); /* (E2) */
	KDRI_TRY(snmf_runs_evaluate(w, next));
	for (int64_t slot = 0; slot < w->slots; slot++) {
		w->flag[slot] = w->objective[next][slot] > w->objective[now][slot] + rounding;
		w->results[w->run[slot]].careful += w->flag[slot];
		again = again || w->flag[slot];
		if (w->flag[slot])
			KDRI_TRY(w->place->step_carefully(w, now, slot));
	}
	if (again)
		KDRI_TRY(snmf_runs_evaluate(w, next));
done:
	return st;
}

/* What came stands; flags the starts that have ended. *least: the least objective. */
static kdr_status accept(kdri_snmf_runs *w, double tol, double *least)
{
	kdr_status st = KDR_OK;
	*least = INFINITY;
	for (int64_t slot = 0; slot < w->slots; slot++) {
		kdri_snmf_result *r = &w->results[w->run[slot]];
		double before = w->objective[w->now][slot], after = w->objective[!w->now][slot];
		w->flag[slot] = before - after <= tol * before;
		if (tol == 0)
			KDRI_TRY(w->place->same(w, slot, &w->flag[slot]));
		r->trace[r->iterations++] = after;
		*least = KDRI_MIN(*least, after);
	}
	w->now = !w->now;
done:
	return st;
}

/* Starts that are flagged hand in their Y and leave; the others move together. */
static kdr_status retire(kdri_snmf_runs *w, kdr_stop stop)
{
	kdr_status st = KDR_OK;
	int now = w->now, next = !now;
	int64_t k = w->k, left = 0, to = 0;
	for (int64_t slot = 0; slot < w->slots; slot++)
		left += !w->flag[slot];
	if (left == w->slots)
		return KDR_OK;
	int64_t ld = w->place->width(KDRI_MAX(left, 1), k);
	memset(w->gram[next], 0, (size_t)(ld * ld) * sizeof *w->gram[next]);
	KDRI_TRY(w->place->clear(w, next, ld));
	for (int64_t slot = 0; slot < w->slots; slot++) {
		if (w->flag[slot]) {
			kdri_snmf_result *r = &w->results[w->run[slot]];
			KDRI_TRY(KDRI_NEW(w->ctx, &r->y, w->rows * k));
			KDRI_TRY(w->place->hand_in(w, now, slot, r->y));
			r->stop = stop;
			continue;
		}
		KDRI_TRY(w->place->move(w, now, slot, to, ld));
		for (int64_t a = 0; a < k; a++)
			memcpy(w->gram[next] + (to * k + a) * ld + to * k,
			       w->gram[now] + (slot * k + a) * w->ld + slot * k, (size_t)k * sizeof(double));
		w->objective[next][to] = w->objective[now][slot];
		w->run[to++] = w->run[slot];
	}
	w->now = next;
	w->slots = left;
	w->ld = ld;
done:
	return st;
}

static kdr_status retire_all(kdri_snmf_runs *w, kdr_stop stop)
{
	for (int64_t slot = 0; slot < w->slots; slot++)
		w->flag[slot] = true;
	return retire(w, stop);
}

kdr_status kdri_snmf_runs_go(kdri_snmf_runs *w, int64_t runs, const kdri_snmf_options *o,
                             kdri_snmf_result *results)
{
	kdr_status st;
	int64_t room = 0;
	double least;
	KDRI_TRY(snmf_runs_evaluate(w, w->now));
	for (int64_t slot = 0; slot < w->slots; slot++)
		w->results[w->run[slot]].start = w->objective[w->now][slot];
	for (int64_t it = 0; it < o->max_iter && w->slots > 0; it++) {
		if (it == room) {
			room = KDRI_MIN(o->max_iter, KDRI_MAX(64, 2 * room));
			for (int64_t slot = 0; slot < w->slots; slot++)
				KDRI_TRY(KDRI_GROW(w->ctx, &w->results[w->run[slot]].trace, room));
		}
		KDRI_TRY(snmf_runs_advance(w, o->single));
		KDRI_TRY(accept(w, o->tol, &least));
		if (o->stage && kdri_iteration(w->ctx, o->stage, it + 1, o->max_iter, least))
			KDRI_TRY(retire_all(w, kdri_stop_reason(w->ctx)));
		else
			KDRI_TRY(retire(w, KDR_STOP_CONVERGED));
	}
	KDRI_TRY(retire_all(w, KDR_STOP_MAX_ITER));
	for (int64_t q = 0; q < runs; q++) {
		results[q] = w->results[q];
		w->results[q] = (kdri_snmf_result){ 0 };
	}
done:
	return st;
}
