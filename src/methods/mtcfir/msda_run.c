/* Marginalised stacked denoising autoencoders (mSDA). SPDX-License-Identifier: BSD-3-Clause
 *
 * [CXWS12] M. Chen, Z. Xu, K. Weinberger, F. Sha: Marginalized denoising autoencoders for domain adaptation.
 * ICML 2012; as used by [ZZL19], see mtcfir.c.
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
 * Features that are equal in all samples stay equal in every layer, and the only sums over features in a layer are
 * those of the terms of Xc Delta^-1. m_j equal features can therefore be replaced by one, with
 *
 *   (E4)  Delta_j / m_j instead of Delta_j,   and m_j h_j h_j' in the Gram matrix of the layer
 *
 * Both are one Cholesky factorisation of the smaller side. Features that are zero in all samples would make
 * Q singular; they stay zero, and their Delta is set to 1.
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
		                    .single = kdri_precision_single(options, samples) };
}

/* --- statistics --------------------------------------------------------------------------------------- */

/* tanh beyond it hardly moves. */
static const double saturation = 0.99;

/* Sums and sums of squares of the columns of the training rows, while they are sparse. */
static kdr_status sparse_moments(kdri_msda *w, double *sum, double *squares)
{
	kdr_status st;
	const kdr_csr *x = &w->x->as.csr;
	int64_t d = w->d, chunks = kdri_chunks(w->n);
	double *sums = NULL;
	KDRI_TRY(KDRI_NEW0(w->ctx, &sums, 2 * d * chunks));
#pragma omp parallel for num_threads(kdri_team(w->ctx)) schedule(dynamic)
	for (int64_t c = 0; c < chunks; c++) {
		int64_t end = x->rowptr[kdri_chunk_begin(w->n, chunks, c + 1)];
		for (int64_t p = x->rowptr[kdri_chunk_begin(w->n, chunks, c)]; p < end; p++) {
			sums[2 * d * c + x->col[p]] += x->val[p];
			sums[2 * d * c + d + x->col[p]] += x->val[p] * x->val[p];
		}
	}
	for (int64_t j = 0; j < d; j++) {
		sum[j] = squares[j] = 0;
		for (int64_t c = 0; c < chunks; c++) {
			sum[j] += sums[2 * d * c + j];
			squares[j] += sums[2 * d * c + d + j];
		}
	}
done:
	kdri_free(w->ctx, sums);
	return st;
}

/* Those of the input of the next layer. *saturated: the fraction of its entries that are saturated. */
static kdr_status find_statistics(kdri_msda *w, double *saturated)
{
	kdr_status st = KDR_OK;
	int64_t count = 0, wide = kdri_panels_span(&w->h);
	if (w->sparse)
		KDRI_TRY(sparse_moments(w, w->mean, w->square));
	for (int64_t j = 0; j < w->d && !w->sparse; j += wide) {
		kdri_block part;
		int64_t beyond;
		KDRI_TRY(kdri_panels_load(&w->h, 0, j, w->n, KDRI_MIN(wide, w->d - j), &part));
		KDRI_OP(w->ctx, w->dev, moments, part, saturation, w->mean + j, w->square + j, &beyond);
		count += beyond;
	}
	for (int64_t j = 0; j < w->d; j++) {
		w->mean[j] /= (double)w->n;
		w->delta[j] = w->square[j] > vanishing ? w->p * w->q * w->square[j] + w->ridge : 1;
		w->delta[j] /= w->copies ? w->copies[j] : 1; /* (E4) */
	}
	*saturated = (double)count / ((double)w->n * (double)w->d);
done:
	return st;
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

kdr_status kdri_msda_keep(const kdri_msda *w, kdri_block map)
{
	if (!w->map)
		return KDR_OK;
	KDRI_DO(kdri_block_fetch(w->ctx, map, w->map, map.cols));
	memcpy(w->bias, w->offset, (size_t)w->d * sizeof *w->bias);
	return KDR_OK;
}

kdr_status kdri_msda_recall(const kdri_msda *w, kdri_block map)
{
	memcpy(w->offset, w->bias, (size_t)w->d * sizeof *w->bias);
	return kdri_block_send(w->ctx, map, w->map, map.cols);
}

/* K += h diag(copies) h', a block of columns at a time. */
static kdr_status add_weighted(kdr_context *ctx, kdri_block gram, const kdri_panels *h, const double *copies)
{
	enum { WIDTH = 1024 };
	kdr_status st;
	double root[WIDTH];
	int64_t wide = KDRI_MIN(WIDTH, kdri_panels_span(h));
	kdri_block room = { 0 };
	KDRI_TRY(kdri_block_new(ctx, h->dev, h->rows, wide, gram.single, &room));
	for (int64_t j = 0; j < h->d; j += wide) {
		int64_t cols = KDRI_MIN(wide, h->d - j);
		kdri_block in, part = kdri_block_part(room, 0, 0, h->rows, cols);
		for (int64_t c = 0; c < cols; c++)
			root[c] = sqrt(copies[j + c]);
		KDRI_TRY(kdri_panels_load(h, 0, j, h->rows, cols, &in));
		KDRI_OP(ctx, h->dev, centre, in, root, 0, root, part);
		KDRI_OP(ctx, h->dev, syrk, false, 1, part, 1, gram); /* (E4) */
	}
done:
	kdri_block_free(ctx, &room);
	return st;
}

kdr_status kdri_msda_add_gram(kdr_context *ctx, kdri_block gram, int64_t layer, const kdr_mat *x,
                              const kdri_panels *h, const double *copies)
{
	kdr_status st = KDR_OK;
	kdri_own xt = { .view = kdr_mat_from_dense(NULL, 0, 0) };
	kdri_sparse rows = { 0 };
	if (h && copies && layer > 0)
		return add_weighted(ctx, gram, h, copies);
	for (int64_t j = 0, wide = h ? kdri_panels_span(h) : 0; h && j < h->d; j += wide) {
		kdri_block part;
		KDRI_TRY(kdri_panels_load(h, 0, j, h->rows, KDRI_MIN(wide, h->d - j), &part));
		KDRI_OP(ctx, h->dev, syrk, false, 1, part, layer > 0 || j > 0, gram);
	}
	if (h)
		return KDR_OK;
	KDRI_TRY(kdri_mat_transpose(ctx, x, &xt));
	KDRI_TRY(kdri_sparse_of(ctx, gram.dev, &x->as.csr, &xt.view.as.csr, &rows));
	KDRI_OP(ctx, gram.dev, gram, &rows, false, copies, gram);
done:
	kdri_sparse_free(ctx, &rows);
	kdri_own_free(ctx, &xt);
	return st;
}

kdr_status kdri_msda_warn(kdr_context *ctx, const kdri_msda_info *info, kdr_result *result)
{
	if (info->saturated <= 0.5)
		return KDR_OK;
	return kdri_result_warn(
	        ctx, result,
	        "%.0f%% of the learnt features are at their bounds -1 and 1; the layers need values of about 0 to 1 (use --scale minmax)",
	        100 * info->saturated);
}

kdr_status kdri_msda_room(kdri_msda *w, int64_t rows, int64_t cols)
{
	return w->room.data ? KDR_OK
	                    : kdri_block_new(w->ctx, w->dev, rows, cols, w->h.all.single || w->h.room.single,
	                                     &w->room);
}

/* h as the data are. */
static kdr_status fill_h(kdri_msda *w)
{
	const kdr_dense *x = &w->x->as.dense;
	if (!w->h.host)
		return kdri_block_send(w->ctx, w->h.all, x->data, x->stride);
	for (int64_t i = 0; i < w->m; i++)
		memcpy(w->h.host + i * w->d, x->data + i * x->stride, (size_t)w->d * sizeof *x->data);
	return KDR_OK;
}

static kdr_status msda_run_start(kdri_msda *w, const kdri_msda_options *o)
{
	kdr_context *ctx = w->ctx;
	KDRI_DO(KDRI_NEW(ctx, &w->mean, w->d));
	KDRI_DO(KDRI_NEW(ctx, &w->square, w->d));
	KDRI_DO(KDRI_NEW(ctx, &w->delta, w->d));
	KDRI_DO(KDRI_NEW(ctx, &w->offset, w->d));
	if (w->sparse) {
		kdr_mat trained = *w->x;
		trained.as.csr.rows = w->n;
		KDRI_DO(kdri_mat_transpose(ctx, &trained, &w->xt));
		KDRI_DO(kdri_sparse_of(ctx, w->dev, &w->x->as.csr, &w->xt.view.as.csr, &w->rows));
	}
	KDRI_DO(kdri_panels_new(ctx, w->dev, w->m, w->d, o->single, kdri_msda_side(o, w->n, w->d),
	                        w->sparse ? 2 : 1, &w->h));
	if (!w->sparse)
		KDRI_DO(fill_h(w));
	return KDR_OK;
}

/* (E1), as (E2) or as (E3) */
static kdr_status learn_layer(kdri_msda *w, const kdri_msda_options *o, int64_t layer)
{
	if (o->kept) {
		int64_t side = kdri_msda_side(o, w->n, w->d);
		w->map = o->kept->map + (layer - 1) * side * side;
		w->bias = o->kept->bias + (layer - 1) * w->d;
		w->known = o->kept->known;
	}
	return by_features(o, w->n, w->d) ? kdri_msda_by_features(w) : kdri_msda_by_samples(w);
}

kdr_status kdri_msda_run(kdr_context *ctx, kdri_device *dev, const kdr_mat *x, int64_t train,
                         const kdri_msda_options *o, kdri_layer_fn *use, void *user, kdri_msda_info *info)
{
	kdr_status st;
	double saturated;
	kdri_msda w = { .ctx = ctx,
		        .dev = dev,
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
	KDRI_TRY(msda_run_start(&w, o));
	KDRI_TRY(use(ctx, user, 0, w.sparse ? x : NULL, w.sparse ? NULL : &w.h));
	for (int64_t layer = 1; layer <= o->layers; layer++) {
		if (kdri_iteration(ctx, stage, layer, o->layers, NAN))
			break;
		KDRI_TRY(find_statistics(&w, &saturated));
		if (layer > 1)
			info->saturated = fmax(info->saturated, saturated);
		KDRI_TRY(learn_layer(&w, o, layer));
		w.sparse = false;
		info->layers = layer;
		if (layer == o->layers) {
			KDRI_TRY(find_statistics(&w, &saturated));
			info->saturated = fmax(info->saturated, saturated);
		}
		KDRI_TRY(use(ctx, user, layer, NULL, &w.h));
	}
	info->flops = w.flops;
done:
	kdri_free(ctx, w.mean);
	kdri_free(ctx, w.square);
	kdri_free(ctx, w.delta);
	kdri_free(ctx, w.offset);
	kdri_sparse_free(ctx, &w.rows);
	kdri_own_free(ctx, &w.xt);
	kdri_panels_free(&w.h);
	kdri_block_free(ctx, &w.room);
	return st;
}
