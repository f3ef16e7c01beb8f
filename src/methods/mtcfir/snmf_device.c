/* Symmetric non-negative factorisation on a device. SPDX-License-Identifier: BSD-3-Clause
 *
 * The steps of snmf_steps.c, with M, Y, N = M Y and D there; Y'Y, which is small, comes here for the objective and goes
 * back with what lies between two starts set to 0. Equations are those of snmf_steps.c. */
#include "methods/mtcfir/snmf_device.h"

#include "methods/mtcfir/snmf_runs.h"

typedef struct work {
	kdri_device *dev;
	const kdr_mat *sparse;
	kdri_dcsr m;
	kdri_dmat dense;
	kdri_dmat y[2], n[2], d; /* rows x ld, of each state */
	kdri_dmat gram;
	kdri_buf *sums;
	double *one, *other; /* rows x k */
} work;

static int64_t snmf_device_width(int64_t slots, int64_t k)
{
	return slots * k;
}

/* A view of ld columns on a buffer that was made for more. */
static kdri_dmat shaped(const kdri_snmf_runs *w, kdri_dmat a)
{
	return (kdri_dmat){ a.buf, 0, w->rows, w->ld, w->ld };
}

static kdri_dmat small(const kdri_snmf_runs *w)
{
	return (kdri_dmat){ ((work *)w->user)->gram.buf, 0, w->ld, w->ld, w->ld };
}

/* Columns of a start. */
static kdri_dmat columns(const kdri_snmf_runs *w, kdri_dmat a, int64_t slot)
{
	return kdri_dmat_part(shaped(w, a), 0, slot * w->k, w->rows, w->k);
}

static kdr_status snmf_device_multiply(kdri_snmf_runs *w, int which, double *gram, double *products)
{
	kdr_status st;
	work *v = w->user;
	kdri_device *dev = v->dev;
	kdri_dmat y = shaped(w, v->y[which]), n = shaped(w, v->n[which]);
	if (v->sparse)
		KDRI_DTRY(w->ctx, dev, dev->multiply(dev, v->m, y, false, n));
	else
		KDRI_DTRY(w->ctx, dev, dev->gemm(dev, false, false, 1, v->dense, y, 0, n, KDRI_SHARP_DOUBLE));
	KDRI_DTRY(w->ctx, dev, dev->gemm(dev, true, false, 1, y, y, 0, small(w), KDRI_SHARP_DOUBLE));
	KDRI_DTRY(w->ctx, dev, dev->column_dots(dev, y, n, v->sums));
	KDRI_TRY(kdri_dmat_get(w->ctx, dev, small(w), gram, w->ld));
	KDRI_TRY(kdri_dbuf_get(w->ctx, dev, v->sums, products, w->ld, sizeof *products));
done:
	return st;
}

static kdr_status snmf_device_step(kdri_snmf_runs *w, int which, const double *gram)
{
	kdr_status st;
	work *v = w->user;
	kdri_device *dev = v->dev;
	kdri_dmat y = shaped(w, v->y[which]), d = shaped(w, v->d);
	KDRI_TRY(kdri_dmat_put(w->ctx, dev, small(w), gram, w->ld));
	KDRI_DTRY(w->ctx, dev, dev->gemm(dev, false, false, 1, y, small(w), 0, d, KDRI_SHARP_DOUBLE));
	KDRI_DTRY(w->ctx, dev,
	          dev->ratio_step(dev, y, shaped(w, v->n[which]), d, false,
	                          shaped(w, v->y[!which]))); /* (E2) */
done:
	return st;
}

static kdr_status step_carefully(kdri_snmf_runs *w, int which, int64_t slot)
{
	work *v = w->user;
	return kdri_device_status(w->ctx, v->dev,
	                          v->dev->ratio_step(v->dev, columns(w, v->y[which], slot),
	                                             columns(w, v->n[which], slot), columns(w, v->d, slot),
	                                             true, columns(w, v->y[!which], slot)));
}

static kdr_status hand_in(kdri_snmf_runs *w, int which, int64_t slot, double *y)
{
	work *v = w->user;
	return kdri_dmat_get(w->ctx, v->dev, columns(w, v->y[which], slot), y, w->k);
}

static kdr_status snmf_device_same(kdri_snmf_runs *w, int64_t slot, bool *out)
{
	kdr_status st;
	work *v = w->user;
	KDRI_TRY(hand_in(w, 0, slot, v->one));
	KDRI_TRY(hand_in(w, 1, slot, v->other));
	*out = memcmp(v->one, v->other, (size_t)(w->rows * w->k) * sizeof *v->one) == 0;
done:
	return st;
}

/* Nothing lies between the columns of starts. */
static kdr_status snmf_device_clear(kdri_snmf_runs *w, int which, int64_t ld)
{
	(void)w, (void)which, (void)ld;
	return KDR_OK;
}

static kdr_status snmf_device_move(kdri_snmf_runs *w, int which, int64_t slot, int64_t place, int64_t ld)
{
	kdr_status st;
	work *v = w->user;
	kdri_dmat y = { v->y[!which].buf, place * w->k, w->rows, w->k, ld },
	          n = { v->n[!which].buf, place * w->k, w->rows, w->k, ld };
	KDRI_DTRY(w->ctx, v->dev, v->dev->copy(v->dev, columns(w, v->y[which], slot), y));
	KDRI_DTRY(w->ctx, v->dev, v->dev->copy(v->dev, columns(w, v->n[which], slot), n));
done:
	return st;
}

static const kdri_snmf_place there = { snmf_device_width, snmf_device_multiply, snmf_device_step,
	                               step_carefully,    snmf_device_same,     hand_in,
	                               snmf_device_clear, snmf_device_move };

/* |M|^2 of a matrix that is there. */
static kdr_status find_square(kdri_snmf_runs *w)
{
	kdr_status st;
	work *v = w->user;
	double *each = NULL;
	kdri_buf *sums = NULL;
	KDRI_TRY(KDRI_NEW(w->ctx, &each, w->rows));
	KDRI_TRY(kdri_dbuf_new(w->ctx, v->dev, w->rows, sizeof *each, &sums));
	KDRI_DTRY(w->ctx, v->dev, v->dev->row_sums(v->dev, v->dense, 1, 0, sums));
	KDRI_TRY(kdri_dbuf_get(w->ctx, v->dev, sums, each, w->rows, sizeof *each));
	for (int64_t i = 0; i < w->rows; i++)
		w->square += each[i];
done:
	v->dev->release(v->dev, sums);
	kdri_free(w->ctx, each);
	return st;
}

static kdr_status snmf_device_open_work(kdri_snmf_runs *w, const double *starts, int64_t runs)
{
	kdr_status st;
	work *v = w->user;
	KDRI_TRY(KDRI_NEW(w->ctx, &v->one, w->rows * w->k));
	KDRI_TRY(KDRI_NEW(w->ctx, &v->other, w->rows * w->k));
	if (v->sparse)
		KDRI_TRY(kdri_dcsr_of(w->ctx, v->dev, &v->sparse->as.csr, &v->m));
	else
		KDRI_TRY(find_square(w));
	KDRI_TRY(kdri_dmat_new(w->ctx, v->dev, w->rows, w->ld, &v->d));
	KDRI_TRY(kdri_dmat_new(w->ctx, v->dev, w->ld, w->ld, &v->gram));
	KDRI_TRY(kdri_dbuf_new(w->ctx, v->dev, w->ld, sizeof(double), &v->sums));
	for (int which = 0; which < 2; which++) {
		KDRI_TRY(kdri_dmat_new(w->ctx, v->dev, w->rows, w->ld, &v->y[which]));
		KDRI_TRY(kdri_dmat_new(w->ctx, v->dev, w->rows, w->ld, &v->n[which]));
	}
	for (int64_t q = 0; q < runs; q++) /* (E3) */
		KDRI_TRY(kdri_dmat_put(w->ctx, v->dev, columns(w, v->y[0], q), starts + q * w->rows * w->k,
		                       w->k));
done:
	return st;
}

kdr_status kdri_snmf_device(kdr_context *ctx, kdri_device *dev, const kdr_mat *sparse, kdri_dmat dense,
                            double square, const double *starts, int64_t runs, const kdri_snmf_options *o,
                            kdri_snmf_result *results)
{
	kdr_status st;
	work v = { .dev = dev, .sparse = sparse, .dense = dense };
	kdri_snmf_runs w = { .ctx = ctx, .place = &there, .user = &v, .square = square, .k = o->k };
	w.rows = sparse ? kdr_mat_rows(sparse) : dense.rows;
	KDRI_TRY(kdri_snmf_runs_open(&w, runs));
	KDRI_TRY(snmf_device_open_work(&w, starts, runs));
	KDRI_TRY(kdri_snmf_runs_go(&w, runs, o, results));
done:
	kdri_snmf_runs_close(&w, runs);
	kdri_free(ctx, v.one);
	kdri_free(ctx, v.other);
	dev->release(dev, v.sums);
	kdri_dmat_free(dev, &v.d);
	kdri_dmat_free(dev, &v.gram);
	kdri_dcsr_free(dev, &v.m);
	for (int which = 0; which < 2; which++) {
		kdri_dmat_free(dev, &v.y[which]);
		kdri_dmat_free(dev, &v.n[which]);
	}
	return st;
}
