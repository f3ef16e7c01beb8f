/* Marginalised stacked denoising autoencoders (mSDA). SPDX-License-Identifier: BSD-3-Clause
 *
 * [CXWS12] M. Chen, Z. Xu, K. Weinberger, F. Sha: Marginalized denoising autoencoders for domain adaptation.
 * ICML 2012; as used by [ZZL19], which says more in mtcfir.c.
 *
 * A layer is the linear map that best restores samples x (in R^d) from copies of which each feature was set
 * to zero with probability p, in the limit of infinitely many copies, followed by tanh. A constant feature,
 * never corrupted, gives it a bias. With X (n x d), xbar the mean sample, Xc = X - 1 xbar', q = 1 - p,
 * s_j = sum_i x_ij^2 and Delta = diag(p q s + ridge), the normal equations W = E[P] E[Q]^-1 [ZZL19, eqs. 4-6]
 * become, with the bias eliminated (which centres the data),
 *
 *   (E1)  W = q Xc'Xc (q^2 Xc'Xc + Delta)^-1,   b = xbar - q W xbar,   h(x) = tanh(W x + b)
 *
 * Writing Q = q^2 Xc'Xc + Delta, q^2 Xc'Xc = Q - Delta gives the form of msda_features.c,
 *
 *   (E2)  W = (I - Delta Q^-1) / q
 *
 * and the Woodbury identity that of msda_samples.c, for fewer samples than features,
 *
 *   (E3)  G = q^2 Xc Delta^-1 Xc',   R = (I + G)^-1,   Delta Q^-1 Xc' = Xc' R
 *
 * Features that are equal in all samples stay so in every layer, and all that a layer sums over features are the terms of
 * Xc Delta^-1. So m_j equal features may be one, with
 *
 *   (E4)  Delta_j / m_j in the place of Delta_j,   and m_j h_j h_j' in the Gram matrix of the layer
 *
 * Both are one Cholesky factorisation of the smaller side. Features that are zero in all samples would make
 * Q singular; they stay zero: their Delta is taken as 1.
 *
 * n  n       p  p      s      square     Delta  delta
 * d  d       q  q      xbar   mean       h      h          m  copies
 */
#include "api/method.h"
#include "methods/mtcfir/msda_work.h"

const char *const kdri_precision_names[] = { "auto", "double", "single", NULL };
enum { PRECISION_AUTO, PRECISION_DOUBLE, PRECISION_SINGLE };

static const char stage[] = "features";
static const double vanishing = 1e-280; /* squares that products would lose: as good as zeros */

bool kdri_precision_single(const kdr_options *options, int64_t samples)
{
	int precision = kdri_opt_choice(options, "precision");
	return precision == PRECISION_SINGLE || (precision == PRECISION_AUTO && kdri_single_above(samples));
}

kdri_msda_options kdri_msda_options_of(const kdr_options *options, int64_t samples)
{
	return (kdri_msda_options){ .layers = kdri_opt_int(options, "layers"),
		                    .noise = kdri_opt_real(options, "noise"),
		                    .ridge = kdri_opt_real(options, "ridge"),
		                    .floats = kdri_precision_single(options, samples) };
}

void kdri_msda_put(const kdri_block *h, int64_t i, int64_t j, int64_t count, double *v)
{
	if (!h->floats)
		kdri_tanh(v, count);
	kdri_block_write(h, i, j, count, v);
	if (h->floats)
		kdri_tanhf((float *)h->data + i * h->stride + j, count);
}

/* --- statistics --------------------------------------------------------------------------------------- */

/* tanh beyond it hardly moves. */
static const double saturation = 0.99;

/* The sums over the rows of a chunk: of the entries, then of their squares. Returns how many are saturated. */
static int64_t sum_chunk(const kdri_msda *w, int64_t begin, int64_t end, double *sum)
{
	int64_t saturated = 0;
	double *squares = sum + w->d;
	memset(sum, 0, (size_t)(2 * w->d) * sizeof *sum);
	for (int64_t i = begin; i < end; i++) {
		if (w->sparse) {
			const kdr_csr *x = &w->x->as.csr;
			for (int64_t p = x->rowptr[i]; p < x->rowptr[i + 1]; p++) {
				sum[x->col[p]] += x->val[p];
				squares[x->col[p]] += x->val[p] * x->val[p];
			}
			continue;
		}
		kdri_block row = kdri_block_part(&w->h, i, 0, 1, w->d);
		kdri_row_add_moments(&row, sum, squares);
		saturated += kdri_row_count_beyond(&row, saturation);
	}
	return saturated;
}

/* Those of the input of the next layer. Returns the share of its entries that are saturated. */
static double find_statistics(kdri_msda *w)
{
	int64_t d = w->d, chunks = kdri_chunks(w->n), count = 0;
#pragma omp parallel for num_threads(w->ctx->threads) schedule(dynamic) reduction(+ : count)
	for (int64_t c = 0; c < chunks; c++)
		count += sum_chunk(w, kdri_chunk_begin(w->n, chunks, c),
		                   kdri_chunk_begin(w->n, chunks, c + 1), w->sums + 2 * d * c);
	for (int64_t j = 0; j < d; j++) {
		double sum = 0, square = 0;
		for (int64_t c = 0; c < chunks; c++) {
			sum += w->sums[2 * d * c + j];
			square += w->sums[2 * d * c + d + j];
		}
		w->mean[j] = sum / (double)w->n;
		w->square[j] = square;
		w->delta[j] = square > vanishing ? w->p * w->q * square + w->ridge : 1;
		w->delta[j] /= w->copies ? w->copies[j] : 1; /* (E4) */
	}
	return (double)count / ((double)w->n * (double)d);
}

void kdri_msda_centre(const kdri_msda *w, int64_t row, int64_t col, double shift, const double *scale,
                      const kdri_block *to)
{
	const double *mean = w->mean + col, *own = scale ? scale + col : NULL;
#pragma omp parallel for num_threads(w->ctx->threads) schedule(static) if (to->rows * to->cols > 1 << 14)
	for (int64_t i = 0; i < to->rows; i++) {
		kdri_block in = kdri_block_part(&w->h, row + i, col, 1, to->cols);
		kdri_block out = kdri_block_part(to, i, 0, 1, to->cols);
		kdri_row_centre(&in, mean, shift, own, &out);
	}
}

/* --- the layers --------------------------------------------------------------------------------------- */

static bool by_features(const kdri_msda_options *o, int64_t train, int64_t d)
{
	return o->side == KDRI_SIDE_FEATURES || (o->side == KDRI_SIDE_SMALLER && d <= train);
}

int64_t kdri_msda_side(const kdri_msda_options *o, int64_t train, int64_t d)
{
	return by_features(o, train, d) ? d : train;
}

void kdri_msda_keep(const kdri_msda *w, const double *map, int64_t side)
{
	if (!w->map)
		return;
	memcpy(w->map, map, (size_t)(side * side) * sizeof *map);
	memcpy(w->bias, w->offset, (size_t)w->d * sizeof *w->bias);
}

void kdri_msda_recall(const kdri_msda *w, double *map, int64_t side)
{
	memcpy(map, w->map, (size_t)(side * side) * sizeof *map);
	memcpy(w->offset, w->bias, (size_t)w->d * sizeof *w->bias);
}

/* K += h diag(copies) h', a block of columns at a time. */
static kdr_status add_weighted(kdr_context *ctx, const kdri_block *gram, const kdri_block *h,
                               const double *copies)
{
	enum { WIDTH = 1024 };
	kdr_status st;
	double root[WIDTH];
	kdri_block room = { 0 };
	KDRI_TRY(kdri_block_new(ctx, h->rows, KDRI_MIN(WIDTH, h->cols), h->floats, &room));
	for (int64_t j = 0; j < h->cols; j += WIDTH) {
		kdri_block part = kdri_block_part(&room, 0, 0, h->rows, KDRI_MIN(WIDTH, h->cols - j));
		for (int64_t c = 0; c < part.cols; c++)
			root[c] = sqrt(copies[j + c]);
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
		for (int64_t i = 0; i < h->rows; i++) {
			kdri_block in = kdri_block_part(h, i, j, 1, part.cols),
			           to = kdri_block_part(&part, i, 0, 1, part.cols);
			kdri_row_centre(&in, root, 0, root, &to);
		}
		KDRI_TRY(kdri_block_syrk(ctx, false, 1, &part, 1, gram)); /* (E4) */
	}
done:
	kdri_block_free(ctx, &room);
	return st;
}

kdr_status kdri_msda_add_gram_of(kdr_context *ctx, const kdri_block *gram, int64_t layer, const kdr_mat *x,
                                 const kdri_block *h, const double *copies)
{
	kdr_status st;
	kdri_own xt = { .view = kdr_mat_from_dense(NULL, 0, 0) };
	if (h && copies && layer > 0)
		return add_weighted(ctx, gram, h, copies);
	if (h)
		return kdri_block_syrk(ctx, false, 1, h, layer > 0, gram);
	KDRI_TRY(kdri_mat_transpose(ctx, x, &xt));
	KDRI_TRY(kdri_sparse_gram(ctx, &x->as.csr, &xt.view.as.csr, copies, gram));
done:
	kdri_own_free(ctx, &xt);
	return st;
}

kdr_status kdri_msda_add_gram(kdr_context *ctx, void *user, int64_t layer, const kdr_mat *x,
                              const kdri_block *h)
{
	return kdri_msda_add_gram_of(ctx, user, layer, x, h, NULL);
}

/* The layer, the matrix it is learnt by, and a block of rows or columns, in single precision or double; sparse columns. */
double kdri_msda_bytes(const kdri_extent *x, double train, const kdri_msda_options *o)
{
	const bool features = by_features(o, (int64_t)train, (int64_t)x->d);
	const double size = o->floats ? 4 : 8, h = size * x->n * x->d, side = features ? x->d : train,
	             others = x->n - train;
	if (o->layers == 0)
		return x->dense ? h : 0;
	return h + 8 * side * side + (x->dense ? 0 : 12 * x->entries) +
	       (features ? 0 : 2 * size * others * train) +
	       KDRI_MIN(h, KDRI_MAX(features ? KDRI_MSDA_SCRATCH : 0,
	                            KDRI_MSDA_BLOCK * size * (features ? x->d : x->n)));
}

kdr_status kdri_msda_warn(kdr_context *ctx, const kdri_msda_info *info, kdr_result *result)
{
	if (info->saturated <= 0.5)
		return KDR_OK;
	return kdri_result_warn(
	        ctx, result,
	        "%.0f%% of the features learnt are at their bounds -1 and 1: values of about 0 to 1 suit the layers (--scale minmax)",
	        100 * info->saturated);
}

kdr_status kdri_msda_room(kdri_msda *w, int64_t rows, int64_t cols)
{
	return w->room.data ? KDR_OK : kdri_block_new(w->ctx, rows, cols, w->h.floats, &w->room);
}

static kdr_status msda_run_start(kdri_msda *w, bool floats)
{
	kdr_status st;
	kdr_context *ctx = w->ctx;
	KDRI_TRY(KDRI_NEW(ctx, &w->mean, w->d));
	KDRI_TRY(KDRI_NEW(ctx, &w->square, w->d));
	KDRI_TRY(KDRI_NEW(ctx, &w->delta, w->d));
	KDRI_TRY(KDRI_NEW(ctx, &w->offset, w->d));
	KDRI_TRY(KDRI_NEW(ctx, &w->sums, 2 * w->d * kdri_chunks(w->n)));
	if (w->sparse) {
		kdr_mat trained = *w->x;
		trained.as.csr.rows = w->n;
		KDRI_TRY(kdri_mat_transpose(ctx, &trained, &w->xt));
	}
	KDRI_TRY(kdri_block_new(ctx, w->m, w->d, floats, &w->h));
	for (int64_t i = 0; i < w->m && !w->sparse; i++)
		kdri_block_write(&w->h, i, 0, w->d, w->x->as.dense.data + i * w->x->as.dense.stride);
done:
	return st;
}

kdr_status kdri_msda_run(kdr_context *ctx, const kdr_mat *x, int64_t train, const kdri_msda_options *o,
                         kdri_layer_fn *use, void *user, kdri_msda_info *info)
{
	kdr_status st;
	kdri_msda w = { .ctx = ctx,
		        .p = o->noise,
		        .q = 1 - o->noise,
		        .ridge = o->ridge,
		        .copies = o->copies,
		        .n = train,
		        .m = kdr_mat_rows(x),
		        .d = kdr_mat_cols(x),
		        .x = x,
		        .xt.view = kdr_mat_from_dense(NULL, 0, 0),
		        .sparse = x->kind == KDR_MAT_CSR };
	*info = (kdri_msda_info){ 0 };
	if (w.sparse && o->layers == 0) /* nothing dense is needed */
		return use(ctx, user, 0, x, NULL);
	KDRI_TRY(msda_run_start(&w, o->floats));
	KDRI_TRY(use(ctx, user, 0, w.sparse ? x : NULL, w.sparse ? NULL : &w.h));
	for (int64_t layer = 1; layer <= o->layers; layer++) {
		if (kdri_iteration(ctx, stage, layer, o->layers, NAN))
			break;
		double saturated = find_statistics(&w);
		if (layer > 1)
			info->saturated = fmax(info->saturated, saturated);
		if (o->kept) {
			int64_t side = kdri_msda_side(o, w.n, w.d);
			w.map = o->kept->map + (layer - 1) * side * side;
			w.bias = o->kept->bias + (layer - 1) * w.d;
			w.known = o->kept->known;
		}
		/* (E1), as (E2) or as (E3) */
		KDRI_TRY(by_features(o, w.n, w.d) ? kdri_msda_by_features(&w) : kdri_msda_by_samples(&w));
		w.sparse = false;
		info->layers = layer;
		if (layer == o->layers)
			info->saturated = fmax(info->saturated, find_statistics(&w));
		KDRI_TRY(use(ctx, user, layer, NULL, &w.h));
	}
	info->flops = w.flops;
done:
	kdri_free(ctx, w.mean);
	kdri_free(ctx, w.square);
	kdri_free(ctx, w.delta);
	kdri_free(ctx, w.offset);
	kdri_free(ctx, w.sums);
	kdri_own_free(ctx, &w.xt);
	kdri_block_free(ctx, &w.h);
	kdri_block_free(ctx, &w.room);
	return st;
}
