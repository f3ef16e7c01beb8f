/* Symmetric non-negative factorisation on a device. SPDX-License-Identifier: BSD-3-Clause
 *
 * The steps of snmf_steps.c, with M, Y, N = M Y and D there; Y'Y, which is small, comes here for the objective and goes
 * back with what lies between two starts set to 0. Equations are those of snmf_steps.c. */
#include "algo/mtcfir/snmf_device.h"

typedef struct state {
	kdri_dmat y, n;    /* rows x ld: start s has columns s k .. s k + k - 1 */
	double *gram;      /* ld x ld, here */
	double *objective; /* slots */
} state;

typedef struct work {
	kdr_context *ctx;
	kdri_device *dev;
	const kdr_mat *sparse;
	kdri_dcsr m;
	kdri_dmat dense, d, gram;
	kdri_buf *sums;
	double square;
	int64_t rows, k, slots, ld;
	int64_t *run;
	bool *flag;
	double *products; /* ld */
	double *here;     /* rows x k */
	state now, next;
	kdri_snmf_result *results;
} work;

/* A view of ld columns on a buffer that was made for more. */
static kdri_dmat shaped(const work *w, kdri_dmat a)
{
	return (kdri_dmat){ a.buf, 0, w->rows, w->ld, w->ld };
}

static kdri_dmat small(const work *w)
{
	return (kdri_dmat){ w->gram.buf, 0, w->ld, w->ld, w->ld };
}

/* N, Y'Y and (E1) of s->y. */
static kdr_status evaluate(work *w, state *s)
{
	kdr_status st;
	kdri_device *dev = w->dev;
	int64_t k = w->k, ld = w->ld;
	kdri_dmat y = shaped(w, s->y), n = shaped(w, s->n);
	if (w->sparse)
		KDRI_DTRY(w->ctx, dev, dev->multiply(dev, w->m, y, false, n));
	else
		KDRI_DTRY(w->ctx, dev, dev->gemm(dev, false, false, 1, w->dense, y, 0, n, KDRI_SHARP_DOUBLE));
	KDRI_DTRY(w->ctx, dev, dev->gemm(dev, true, false, 1, y, y, 0, small(w), KDRI_SHARP_DOUBLE));
	KDRI_DTRY(w->ctx, dev, dev->column_dots(dev, y, n, w->sums));
	KDRI_TRY(kdri_dmat_get(w->ctx, dev, small(w), s->gram, ld));
	KDRI_TRY(kdri_dbuf_get(w->ctx, dev, w->sums, w->products, ld, sizeof *w->products));
	for (int64_t slot = 0; slot < w->slots; slot++) {
		double product = 0, square = 0;
		for (int64_t a = slot * k; a < (slot + 1) * k; a++) {
			double *row = s->gram + a * ld;
			product += w->products[a];
			square += kdri_nrm2sq(row + slot * k, k);
			memset(row, 0, (size_t)(slot * k) * sizeof *row);
			memset(row + (slot + 1) * k, 0, (size_t)(ld - (slot + 1) * k) * sizeof *row);
		}
		s->objective[slot] = KDRI_MAX(0, w->square - 2 * product + square);
	}
done:
	return st;
}

/* Columns of a start. */
static kdri_dmat columns(const work *w, kdri_dmat a, int64_t slot)
{
	return kdri_dmat_part(shaped(w, a), 0, slot * w->k, w->rows, w->k);
}

/* One iteration of all starts at work: next from now. */
static kdr_status advance(work *w)
{
	kdr_status st;
	kdri_device *dev = w->dev;
	bool again = false;
	double rounding = 1e-13 * w->square;
	KDRI_TRY(kdri_dmat_put(w->ctx, dev, small(w), w->now.gram, w->ld));
	KDRI_DTRY(w->ctx, dev,
	          dev->gemm(dev, false, false, 1, shaped(w, w->now.y), small(w), 0, shaped(w, w->d),
	                    KDRI_SHARP_DOUBLE));
	KDRI_DTRY(w->ctx, dev,
	          dev->ratio_step(dev, shaped(w, w->now.y), shaped(w, w->now.n), shaped(w, w->d), false,
	                          shaped(w, w->next.y))); /* (E2) */
	KDRI_TRY(evaluate(w, &w->next));
	for (int64_t slot = 0; slot < w->slots; slot++) {
		w->flag[slot] = w->next.objective[slot] > w->now.objective[slot] + rounding;
		w->results[w->run[slot]].careful += w->flag[slot];
		again = again || w->flag[slot];
		if (w->flag[slot])
			KDRI_DTRY(w->ctx, dev,
			          dev->ratio_step(dev, columns(w, w->now.y, slot), columns(w, w->now.n, slot),
			                          columns(w, w->d, slot), true, columns(w, w->next.y, slot)));
	}
	if (again)
		KDRI_TRY(evaluate(w, &w->next));
done:
	return st;
}

static kdr_status get_columns(const work *w, kdri_dmat y, int64_t slot, double *to)
{
	return kdri_dmat_get(w->ctx, w->dev, columns(w, y, slot), to, w->k);
}

/* Whether a step changed nothing; `here` is room. */
static kdr_status same(const work *w, int64_t slot, bool *out)
{
	kdr_status st;
	double *other = NULL;
	KDRI_TRY(KDRI_NEW(w->ctx, &other, w->rows * w->k));
	KDRI_TRY(get_columns(w, w->now.y, slot, other));
	KDRI_TRY(get_columns(w, w->next.y, slot, w->here));
	*out = memcmp(other, w->here, (size_t)(w->rows * w->k) * sizeof *other) == 0;
done:
	kdri_free(w->ctx, other);
	return st;
}

static void swap(work *w)
{
	state old = w->now;
	w->now = w->next;
	w->next = old;
}

/* Takes `next` for `now`; flags the starts that have ended. *least: the least objective. */
static kdr_status accept(work *w, double tol, double *least)
{
	kdr_status st = KDR_OK;
	*least = INFINITY;
	for (int64_t slot = 0; slot < w->slots; slot++) {
		kdri_snmf_result *r = &w->results[w->run[slot]];
		double before = w->now.objective[slot], after = w->next.objective[slot];
		w->flag[slot] = before - after <= tol * before;
		if (tol == 0)
			KDRI_TRY(same(w, slot, &w->flag[slot]));
		r->trace[r->iterations++] = after;
		*least = KDRI_MIN(*least, after);
	}
	swap(w);
done:
	return st;
}

/* Starts that are flagged hand in their Y and leave; the others move together. */
static kdr_status retire(work *w, kdr_stop stop)
{
	kdr_status st = KDR_OK;
	kdri_device *dev = w->dev;
	int64_t k = w->k, left = 0, place = 0;
	for (int64_t slot = 0; slot < w->slots; slot++)
		left += !w->flag[slot];
	if (left == w->slots)
		return KDR_OK;
	int64_t ld = KDRI_MAX(left, 1) * k, old = w->ld;
	memset(w->next.gram, 0, (size_t)(ld * ld) * sizeof *w->next.gram);
	for (int64_t slot = 0; slot < w->slots; slot++) {
		if (w->flag[slot]) {
			kdri_snmf_result *r = &w->results[w->run[slot]];
			KDRI_TRY(KDRI_NEW(w->ctx, &r->y, w->rows * k));
			KDRI_TRY(get_columns(w, w->now.y, slot, r->y));
			r->stop = stop;
			continue;
		}
		kdri_dmat y = columns(w, w->now.y, slot), n = columns(w, w->now.n, slot);
		KDRI_DTRY(w->ctx, dev,
		          dev->copy(dev, y, (kdri_dmat){ w->next.y.buf, place * k, w->rows, k, ld }));
		KDRI_DTRY(w->ctx, dev,
		          dev->copy(dev, n, (kdri_dmat){ w->next.n.buf, place * k, w->rows, k, ld }));
		for (int64_t a = 0; a < k; a++)
			memcpy(w->next.gram + (place * k + a) * ld + place * k,
			       w->now.gram + (slot * k + a) * old + slot * k, (size_t)k * sizeof(double));
		w->next.objective[place] = w->now.objective[slot];
		w->run[place++] = w->run[slot];
	}
	swap(w);
	w->slots = left;
	w->ld = ld;
done:
	return st;
}

static kdr_status retire_all(work *w, kdr_stop stop)
{
	for (int64_t slot = 0; slot < w->slots; slot++)
		w->flag[slot] = true;
	return retire(w, stop);
}

static kdr_status iterate(work *w, const kdri_snmf_options *o)
{
	kdr_status st;
	int64_t room = 0;
	double least;
	KDRI_TRY(evaluate(w, &w->now));
	for (int64_t slot = 0; slot < w->slots; slot++)
		w->results[w->run[slot]].start = w->now.objective[slot];
	for (int64_t it = 0; it < o->max_iter && w->slots > 0; it++) {
		if (it == room) {
			room = KDRI_MIN(o->max_iter, KDRI_MAX(64, 2 * room));
			for (int64_t slot = 0; slot < w->slots; slot++)
				KDRI_TRY(KDRI_GROW(w->ctx, &w->results[w->run[slot]].trace, room));
		}
		KDRI_TRY(advance(w));
		KDRI_TRY(accept(w, o->tol, &least));
		if (o->stage && kdri_iteration(w->ctx, o->stage, it + 1, o->max_iter, least))
			KDRI_TRY(retire_all(w, kdri_stop_reason(w->ctx)));
		else
			KDRI_TRY(retire(w, KDR_STOP_CONVERGED));
	}
	KDRI_TRY(retire_all(w, KDR_STOP_MAX_ITER));
done:
	return st;
}

static kdr_status state_new(const work *w, state *s)
{
	kdr_status st;
	KDRI_TRY(kdri_dmat_new(w->ctx, w->dev, w->rows, w->ld, &s->y));
	KDRI_TRY(kdri_dmat_new(w->ctx, w->dev, w->rows, w->ld, &s->n));
	KDRI_TRY(KDRI_NEW0(w->ctx, &s->gram, w->ld * w->ld));
	KDRI_TRY(KDRI_NEW(w->ctx, &s->objective, w->slots));
done:
	return st;
}

static void state_free(const work *w, state *s)
{
	kdri_dmat_free(w->dev, &s->y);
	kdri_dmat_free(w->dev, &s->n);
	kdri_free(w->ctx, s->gram);
	kdri_free(w->ctx, s->objective);
}

/* |M|^2 of a matrix that is there. */
static kdr_status find_square(work *w)
{
	kdr_status st;
	double *each = NULL;
	kdri_buf *sums = NULL;
	KDRI_TRY(KDRI_NEW(w->ctx, &each, w->rows));
	KDRI_TRY(kdri_dbuf_new(w->ctx, w->dev, w->rows, sizeof *each, &sums));
	KDRI_DTRY(w->ctx, w->dev, w->dev->row_sums(w->dev, w->dense, 1, 0, sums));
	KDRI_TRY(kdri_dbuf_get(w->ctx, w->dev, sums, each, w->rows, sizeof *each));
	for (int64_t i = 0; i < w->rows; i++)
		w->square += each[i];
done:
	w->dev->release(w->dev, sums);
	kdri_free(w->ctx, each);
	return st;
}

static kdr_status open_work(work *w, const double *starts, int64_t runs)
{
	kdr_status st;
	int64_t size;
	KDRI_TRY(kdri_mul(w->ctx, w->rows, w->ld, &size));
	KDRI_TRY(KDRI_NEW0(w->ctx, &w->results, runs));
	KDRI_TRY(KDRI_NEW(w->ctx, &w->run, runs));
	KDRI_TRY(KDRI_NEW(w->ctx, &w->flag, runs));
	KDRI_TRY(KDRI_NEW(w->ctx, &w->products, w->ld));
	KDRI_TRY(KDRI_NEW(w->ctx, &w->here, w->rows * w->k));
	if (w->sparse)
		KDRI_TRY(kdri_dcsr_of(w->ctx, w->dev, &w->sparse->as.csr, &w->m));
	else
		KDRI_TRY(find_square(w));
	KDRI_TRY(kdri_dmat_new(w->ctx, w->dev, w->rows, w->ld, &w->d));
	KDRI_TRY(kdri_dmat_new(w->ctx, w->dev, w->ld, w->ld, &w->gram));
	KDRI_TRY(kdri_dbuf_new(w->ctx, w->dev, w->ld, sizeof(double), &w->sums));
	KDRI_TRY(state_new(w, &w->now));
	KDRI_TRY(state_new(w, &w->next));
	for (int64_t q = 0; q < runs; q++) {
		w->run[q] = q; /* (E3) */
		KDRI_TRY(kdri_dmat_put(w->ctx, w->dev, columns(w, w->now.y, q), starts + q * w->rows * w->k,
		                       w->k));
	}
done:
	return st;
}

kdr_status kdri_snmf_device(kdr_context *ctx, kdri_device *dev, const kdr_mat *sparse, kdri_dmat there,
                            double square, const double *starts, int64_t runs, const kdri_snmf_options *o,
                            kdri_snmf_result *results)
{
	kdr_status st;
	work w = { .ctx = ctx, .dev = dev, .sparse = sparse, .dense = there, .square = square, .k = o->k };
	w.rows = sparse ? kdr_mat_rows(sparse) : there.rows;
	w.slots = runs;
	w.ld = runs * o->k;
	KDRI_TRY(open_work(&w, starts, runs));
	KDRI_TRY(iterate(&w, o));
	for (int64_t q = 0; q < runs; q++) {
		results[q] = w.results[q];
		w.results[q] = (kdri_snmf_result){ 0 };
	}
done:
	for (int64_t q = 0; q < runs && w.results; q++)
		kdri_snmf_free(ctx, &w.results[q]);
	kdri_free(ctx, w.results);
	kdri_free(ctx, w.run);
	kdri_free(ctx, w.flag);
	kdri_free(ctx, w.products);
	kdri_free(ctx, w.here);
	dev->release(dev, w.sums);
	kdri_dmat_free(dev, &w.d);
	kdri_dmat_free(dev, &w.gram);
	kdri_dcsr_free(dev, &w.m);
	state_free(&w, &w.now);
	state_free(&w, &w.next);
	return st;
}
