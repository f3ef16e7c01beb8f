/* What mtcfir does with a Gram matrix, on a device. SPDX-License-Identifier: BSD-3-Clause
 *
 * The equations of consistent.c, a block of rows at a time where n x n numbers have no room beside V. A block of distances stays
 * there: its order statistics give each row's limit, and what is below it comes here, where (E5) makes weights of it. */
#include "methods/mtcfir/pool_device.h"

#include "matrix/select.h"
#include "methods/mtcfir/gram_mmd.h"

/* n numbers from or to the diagonal. */
static kdri_dmat diagonal_of(kdri_dmat v)
{
	return (kdri_dmat){ v.buf, v.at, v.rows, 1, v.stride + 1 };
}

kdr_status kdri_there_median(kdr_context *ctx, const kdri_gram_there *v, double *out)
{
	enum { MOST = 1000 };
	kdr_status st;
	int64_t n = v->k.rows, m = KDRI_MIN(n, MOST), *index = NULL;
	kdri_buf *places = NULL;
	kdri_dmat some = { 0 };
	kdri_block here = { 0 };
	KDRI_TRY(KDRI_NEW(ctx, &index, m));
	for (int64_t a = 0; a < m; a++)
		index[a] = a * n / m;
	KDRI_TRY(kdri_dbuf_new(ctx, v->dev, m, sizeof *index, &places));
	KDRI_TRY(kdri_dbuf_put(ctx, v->dev, places, index, m, sizeof *index));
	KDRI_TRY(kdri_dmat_new(ctx, v->dev, m, m, &some));
	KDRI_TRY(kdri_block_new(ctx, m, m, false, &here));
	KDRI_DTRY(ctx, v->dev, v->dev->take(v->dev, v->k, places, some));
	KDRI_TRY(kdri_dmat_get(ctx, v->dev, some, here.data, m));
	KDRI_TRY(kdri_gram_median(ctx, &here, out));
done:
	v->dev->release(v->dev, places);
	kdri_dmat_free(v->dev, &some);
	kdri_block_free(ctx, &here);
	kdri_free(ctx, index);
	return st;
}

kdr_status kdri_there_mmd(kdr_context *ctx, const kdri_gram_there *v, const int64_t *begin, int64_t ntasks,
                          double sigma, double *out)
{
	kdr_status st;
	kdri_device *dev = v->dev;
	int64_t n = begin[ntasks];
	double *square = NULL, *sums = NULL, factor = sigma > 0 ? 1 / (2 * sigma * sigma) : 0;
	kdri_dmat squares = { 0 };
	KDRI_TRY(KDRI_NEW(ctx, &square, n));
	KDRI_TRY(KDRI_NEW0(ctx, &sums, ntasks * ntasks));
	KDRI_TRY(kdri_dmat_get(ctx, dev, diagonal_of(v->k), square, 1));
	KDRI_TRY(kdri_dmat_of(ctx, dev, square, 1, n, n, &squares));
	for (int64_t t = 0; t < ntasks; t++)
		for (int64_t s = 0; s <= t; s++) {
			int64_t rows = begin[t + 1] - begin[t], cols = begin[s + 1] - begin[s];
			kdri_dmat part = kdri_dmat_part(v->k, begin[t], begin[s], rows, cols);
			if (s == t)
				KDRI_DTRY(ctx, dev, dev->mirror(dev, part));
			KDRI_DTRY(ctx, dev,
			          dev->kernel_sum(dev, part, kdri_dmat_part(squares, 0, begin[t], 1, rows),
			                          kdri_dmat_part(squares, 0, begin[s], 1, cols), factor,
			                          &sums[t * ntasks + s]));
		}
	kdri_mmd_of_sums(begin, ntasks, sums, out);
done:
	kdri_dmat_free(dev, &squares);
	kdri_free(ctx, square);
	kdri_free(ctx, sums);
	return st;
}

kdr_status kdri_there_similarity(kdr_context *ctx, const kdri_gram_there *v, kdri_similarity similarity,
                                 double sigma)
{
	kdr_status st;
	kdri_device *dev = v->dev;
	int64_t n = v->k.rows;
	double *square = NULL, factor = sigma > 0 ? 1 / (2 * sigma * sigma) : 0;
	kdri_dmat each = { 0 };
	KDRI_TRY(KDRI_NEW(ctx, &square, n));
	KDRI_TRY(kdri_dmat_get(ctx, dev, diagonal_of(v->k), square, 1));
	KDRI_DTRY(ctx, dev, dev->mirror(dev, v->k));
	if (similarity == KDRI_SIMILARITY_GAUSS) {
		KDRI_TRY(kdri_dmat_of(ctx, dev, square, 1, n, n, &each));
		KDRI_DTRY(ctx, dev, dev->gauss(dev, v->k, each, each, factor));
		for (int64_t i = 0; i < n; i++)
			square[i] = 1;
	} else {
		for (int64_t i = 0; i < n; i++)
			square[i] = square[i] > 0 ? 1 / sqrt(square[i]) : 0;
		KDRI_TRY(kdri_dmat_of(ctx, dev, square, 1, n, n, &each));
		KDRI_DTRY(ctx, dev, dev->affine(dev, v->k, each.buf, each.buf, 1, 0));
		for (int64_t i = 0; i < n; i++)
			square[i] = square[i] > 0;
	}
	KDRI_TRY(kdri_dmat_put(ctx, dev, diagonal_of(v->k), square, 1));
done:
	kdri_dmat_free(dev, &each);
	kdri_free(ctx, square);
	return st;
}

kdr_status kdri_there_clip(kdr_context *ctx, kdri_device *dev, kdri_dmat v)
{
	kdr_status st;
	kdri_dmat zeros = { 0 };
	KDRI_TRY(kdri_dmat_new(ctx, dev, 1, v.rows, &zeros));
	KDRI_DTRY(ctx, dev, dev->fill(dev, zeros, 0));
	/* max(0, 0 + 0 - 2 (-v / 2)) */
	KDRI_DTRY(ctx, dev, dev->affine(dev, v, NULL, NULL, -0.5, 0));
	KDRI_DTRY(ctx, dev, dev->distances(dev, v, zeros, zeros));
done:
	kdri_dmat_free(dev, &zeros);
	return st;
}

kdr_status kdri_there_relate(kdr_context *ctx, const kdri_gram_there *v, const int64_t *begin, int64_t ntasks,
                             const int64_t *neighbours, double *eps, double *alpha)
{
	const double tolerance = 1e-12; /* of (E2) of consistent.c */
	kdr_status st = KDR_OK;
	kdri_device *dev = v->dev;
	kdri_buf *nth = NULL;
	double *column = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &column, begin[ntasks]));
	KDRI_TRY(kdri_dbuf_new(ctx, dev, begin[ntasks], sizeof *column, &nth));
	for (int64_t t = 0; t < ntasks; t++) {
		int64_t n = begin[t + 1] - begin[t], place = KDRI_MAX(0, n - 1 - neighbours[t]);
		KDRI_DTRY(ctx, dev,
		          dev->row_nth(dev, kdri_dmat_part(v->k, begin[t], begin[t], n, n), place, -1, nth));
		KDRI_TRY(kdri_dbuf_get(ctx, dev, nth, column, n, sizeof *column));
		eps[t] = kdri_median(column, n); /* (E1) of consistent.c */
		for (int64_t s = 0; s < ntasks; s++) {
			int64_t m = begin[s + 1] - begin[s], count = 0;
			KDRI_DTRY(ctx, dev,
			          dev->count_from(dev, kdri_dmat_part(v->k, begin[t], begin[s], n, m),
			                          eps[t] - tolerance, &count));
			alpha[t * ntasks + s] = (double)count / ((double)n * (double)m);
		}
	}
done:
	dev->release(dev, nth);
	kdri_free(ctx, column);
	return st;
}

/* --- weights of neighbours ---------------------------------------------------------------------------------------- */

typedef struct work {
	kdr_context *ctx;
	const kdri_gram_there *v;
	const int64_t *begin;
	int64_t ntasks, task, n, neighbours, block;
	const double *alpha;
	kdri_dmat c, norms;     /* block x n; 1 x n: C and D of (E3) */
	kdri_buf *nth, *starts; /* block */
	double *norm;           /* n, here */
	double *least, *bound;  /* block */
	int64_t *rowptr;
	int32_t *col;
	double *val;
} work;

static kdri_dmat part_of(const work *w, int64_t row, int64_t rows, int64_t s)
{
	return kdri_dmat_part(w->v->k, w->begin[w->task] + row, w->begin[s], rows,
	                      w->begin[s + 1] - w->begin[s]);
}

static kdr_status pool_device_find_norms(work *w)
{
	kdr_status st = KDR_OK;
	for (int64_t s = 0; s < w->ntasks; s++)
		KDRI_DTRY(w->ctx, w->v->dev,
		          w->v->dev->row_sums(w->v->dev, part_of(w, 0, w->n, s), w->alpha[s], s > 0,
		                              w->norms.buf));
	KDRI_TRY(kdri_dmat_get(w->ctx, w->v->dev, w->norms, w->norm, w->n));
done:
	return st;
}

/* Rows begin.. of A of (E3) of consistent.c. */
static kdr_status find_distances(work *w, int64_t begin, int64_t rows, kdri_dmat to)
{
	kdr_status st = KDR_OK;
	kdri_device *dev = w->v->dev;
	kdri_sharp sharp = w->v->single ? KDRI_SHARP_SINGLE : KDRI_SHARP_DOUBLE;
	for (int64_t s = 0; s < w->ntasks; s++) {
		kdri_dmat all = part_of(w, 0, w->n, s);
		if (rows == w->n)
			KDRI_DTRY(w->ctx, dev, dev->syrk(dev, false, w->alpha[s], all, s > 0, to, sharp));
		else
			KDRI_DTRY(w->ctx, dev,
			          dev->gemm(dev, false, true, w->alpha[s], part_of(w, begin, rows, s), all,
			                    s > 0, to, sharp));
	}
	if (rows == w->n)
		KDRI_DTRY(w->ctx, dev, dev->mirror(dev, to));
	KDRI_DTRY(w->ctx, dev,
	          dev->distances(dev, to, kdri_dmat_part(w->norms, 0, begin, 1, rows), w->norms));
done:
	return st;
}

/* Distances that make no difference for row i. */
static double tie_of(const work *w, int64_t i)
{
	return (w->v->single ? 2e-6 : 1e-12) * w->norm[i];
}

/* B_2 and B_{l+2}, and the limit below which weights are not 0: (E4) of consistent.c. */
static kdr_status find_limits(work *w, int64_t begin, int64_t rows, kdri_dmat a)
{
	kdr_status st;
	kdri_device *dev = w->v->dev;
	double *limit = NULL;
	KDRI_TRY(KDRI_NEW(w->ctx, &limit, rows));
	KDRI_DTRY(w->ctx, dev, dev->row_nth(dev, a, 0, begin, w->nth));
	KDRI_TRY(kdri_dbuf_get(w->ctx, dev, w->nth, w->least, rows, sizeof *w->least));
	KDRI_DTRY(w->ctx, dev, dev->row_nth(dev, a, KDRI_MIN(w->neighbours, w->n - 2), begin, w->nth));
	KDRI_TRY(kdri_dbuf_get(w->ctx, dev, w->nth, w->bound, rows, sizeof *w->bound));
	for (int64_t r = 0; r < rows; r++) {
		double tie = tie_of(w, begin + r);
		bool tied = w->bound[r] - w->least[r] <= tie;
		limit[r] = tied ? nextafter(w->bound[r] + tie, INFINITY) : w->bound[r];
	}
	KDRI_TRY(kdri_dbuf_put(w->ctx, dev, w->nth, limit, rows, sizeof *limit));
done:
	kdri_free(w->ctx, limit);
	return st;
}

/* Row pointers of these rows, and entries: distances, then the weights of (E5) of consistent.c. */
static kdr_status get_entries(work *w, int64_t begin, int64_t rows, kdri_dmat a)
{
	kdr_status st;
	kdri_device *dev = w->v->dev;
	int64_t *start = NULL, first = w->rowptr[begin], count = 0;
	kdri_buf *col = NULL, *val = NULL;
	KDRI_TRY(KDRI_NEW(w->ctx, &start, rows));
	KDRI_DTRY(w->ctx, dev, dev->pick(dev, a, begin, w->nth, w->starts, NULL, NULL));
	KDRI_TRY(kdri_dbuf_get(w->ctx, dev, w->starts, start, rows, sizeof *start));
	for (int64_t r = 0; r < rows; r++) {
		int64_t here = start[r];
		start[r] = count;
		count += here;
		w->rowptr[begin + r + 1] = first + count;
	}
	KDRI_TRY(KDRI_GROW(w->ctx, &w->col, first + count));
	KDRI_TRY(KDRI_GROW(w->ctx, &w->val, first + count));
	KDRI_TRY(kdri_dbuf_new(w->ctx, dev, count, sizeof *w->col, &col));
	KDRI_TRY(kdri_dbuf_new(w->ctx, dev, count, sizeof *w->val, &val));
	KDRI_TRY(kdri_dbuf_put(w->ctx, dev, w->starts, start, rows, sizeof *start));
	KDRI_DTRY(w->ctx, dev, dev->pick(dev, a, begin, w->nth, w->starts, col, val));
	KDRI_TRY(kdri_dbuf_get(w->ctx, dev, col, w->col + first, count, sizeof *w->col));
	KDRI_TRY(kdri_dbuf_get(w->ctx, dev, val, w->val + first, count, sizeof *w->val));
	for (int64_t r = 0; r < rows; r++) {
		double range = w->bound[r] - w->least[r];
		bool tied = range <= tie_of(w, begin + r);
		for (int64_t p = w->rowptr[begin + r]; p < w->rowptr[begin + r + 1]; p++)
			w->val[p] = tied ? 1 : (w->bound[r] - w->val[p]) / range;
	}
done:
	dev->release(dev, col);
	dev->release(dev, val);
	kdri_free(w->ctx, start);
	return st;
}

static kdr_status pool_device_open_work(work *w)
{
	kdr_status st;
	kdri_device *dev = w->v->dev;
	double room = 0.6 * (double)dev->room(dev) / 8 - 4 * (double)w->n;
	w->block = (int64_t)KDRI_MAX(1, KDRI_MIN((double)w->n, room / (double)w->n));
	/* In single sharpness the products take as much again. */
	if (w->v->single)
		w->block = KDRI_MAX(1, w->block < w->n ? w->block / 2 : w->block);
	KDRI_TRY(kdri_dmat_new(w->ctx, dev, w->block, w->n, &w->c));
	KDRI_TRY(kdri_dmat_new(w->ctx, dev, 1, w->n, &w->norms));
	KDRI_TRY(kdri_dbuf_new(w->ctx, dev, w->block, sizeof(double), &w->nth));
	KDRI_TRY(kdri_dbuf_new(w->ctx, dev, w->block, sizeof(int64_t), &w->starts));
	KDRI_TRY(KDRI_NEW(w->ctx, &w->norm, w->n));
	KDRI_TRY(KDRI_NEW(w->ctx, &w->least, w->block));
	KDRI_TRY(KDRI_NEW(w->ctx, &w->bound, w->block));
	KDRI_TRY(KDRI_NEW0(w->ctx, &w->rowptr, w->n + 1));
done:
	return st;
}

kdr_status kdri_there_consistent(kdr_context *ctx, const kdri_gram_there *v, const int64_t *begin,
                                 int64_t ntasks, int64_t task, const double *alpha, int64_t neighbours,
                                 kdri_consistent *out)
{
	kdr_status st;
	work w = { .ctx = ctx,
		   .v = v,
		   .begin = begin,
		   .ntasks = ntasks,
		   .task = task,
		   .n = begin[task + 1] - begin[task],
		   .neighbours = neighbours,
		   .alpha = alpha };
	KDRI_TRY(pool_device_open_work(&w));
	KDRI_TRY(pool_device_find_norms(&w));
	for (int64_t i = 0; i < w.n; i += w.block) {
		int64_t rows = KDRI_MIN(w.block, w.n - i);
		kdri_dmat a = kdri_dmat_part(w.c, 0, 0, rows, w.n);
		KDRI_TRY(find_distances(&w, i, rows, a));
		KDRI_TRY(find_limits(&w, i, rows, a));
		KDRI_TRY(get_entries(&w, i, rows, a));
	}
	KDRI_TRY(kdri_consistent_of(ctx, w.n, w.rowptr, w.col, w.val, out));
	w.rowptr = NULL;
	w.col = NULL;
	w.val = NULL;
done:
	kdri_dmat_free(v->dev, &w.c);
	kdri_dmat_free(v->dev, &w.norms);
	v->dev->release(v->dev, w.nth);
	v->dev->release(v->dev, w.starts);
	kdri_free(ctx, w.norm);
	kdri_free(ctx, w.least);
	kdri_free(ctx, w.bound);
	kdri_free(ctx, w.rowptr);
	kdri_free(ctx, w.col);
	kdri_free(ctx, w.val);
	return st;
}
