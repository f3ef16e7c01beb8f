/* mSDA as a step before any method: features learnt on all tasks together. SPDX-License-Identifier: BSD-3-Clause
 *
 * [CXWS12] M. Chen, Z. Xu, K. Weinberger, F. Sha: Marginalized denoising autoencoders for domain adaptation. ICML 2012.
 *
 *   (E1)  Z = [h^0, h^1, .., h^g],   h^0 = the samples, h^i = layer i
 *
 * Z, which has (g + 1) d columns, is stored here, because any method may follow; mtcfir only needs its products and does
 * not store it. The option --features-from msda of the program runs it before a method.
 *
 * Z   features        g   layers        p   noise */
/* Marginalised stacked denoising autoencoders (mSDA).
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
 *   (E2)  W = q Xc'Xc (q^2 Xc'Xc + Delta)^-1,   b = xbar - q W xbar,   h(x) = tanh(W x + b)
 *
 * Writing Q = q^2 Xc'Xc + Delta, q^2 Xc'Xc = Q - Delta gives the form of msda_layers.c,
 *
 *   (E3)  W = (I - Delta Q^-1) / q
 *
 * and the Woodbury identity that of msda_layers.c, for fewer samples than features,
 *
 *   (E4)  G = q^2 Xc Delta^-1 Xc',   R = (I + G)^-1,   Delta Q^-1 Xc' = Xc' R
 *
 * Features that are equal in all samples stay equal in every layer, and the only sums over features in a layer are
 * those of the terms of Xc Delta^-1. m_j equal features can therefore be replaced by one, with
 *
 *   (E5)  Delta_j / m_j instead of Delta_j,   and m_j h_j h_j' in the Gram matrix of the layer
 *
 * Both are one Cholesky factorisation of the smaller side. Features that are zero in all samples would make
 * Q singular; they stay zero, and their Delta is set to 1.
 *
 * n  n       p  p      s      square     Delta  delta
 * d  d       q  q      xbar   mean       h      h          m  copies
 */
#include "api/method.h"
#include "methods/common/tasks.h"
#include "methods/mtcfir/mtcfir.h"

/* A tall matrix on a device, complete or one panel at a time.
 *
 * On the processor panels only bound the scratch that layers need: they are as large as makes about KDRI_MSDA_SCRATCH
 * bytes of rows, or 8 MB of columns. On an accelerator they are as large as its memory allows. */

enum { LEAST_WIDE = 256, MOST_WIDE = 8192 };
static const int64_t scratch_by_columns = 8 << 20;

/* Minimum number of rows or columns of a panel on the CPU; approximate bytes of a panel of rows there. */
enum { KDRI_MSDA_BLOCK = 1024, KDRI_MSDA_SCRATCH = 64 << 20 };

static kdr_status panels_here(kdri_panels *p, bool single)
{
	int64_t size = single ? (int64_t)sizeof(float) : (int64_t)sizeof(double);
	p->wide = KDRI_MIN(p->d, KDRI_MAX(KDRI_MSDA_BLOCK, scratch_by_columns / (size * p->rows)));
	p->high =
	        KDRI_MIN(p->rows, KDRI_MAX(KDRI_MSDA_BLOCK, KDRI_MSDA_SCRATCH / (size * KDRI_MAX(p->d, 1))));
	p->most = INT64_MAX;
	return kdri_block_new(p->ctx, p->dev, p->rows, p->d, single, &p->all);
}

static kdr_status panels_there(kdri_panels *p, bool single, int64_t side, int scratch)
{
	int64_t n = p->rows, d = p->d, size;
	double room = 0.85 * (double)p->dev->room(p->dev), all = (double)n * (double)kdri_stride(d);
	double tall = (double)kdri_stride(KDRI_MAX(n, d));
	double least = tall * (double)KDRI_MIN(LEAST_WIDE, KDRI_MIN(n, d));
	/* Inverting takes about as much as the matrix, a median of distances up to 1000 x 1000. */
	double few = (double)KDRI_MIN(n, 1000);
	double spare = room / 8 - (double)side * (double)side - few * few;
	bool fits = spare > all + scratch * least;
	double most = fits ? (spare - all) / scratch : spare / (scratch + 1);
	most = KDRI_MIN(most, KDRI_MAX(least, (double)kdri_stride(n) * MOST_WIDE));
	p->most = (int64_t)KDRI_MAX(KDRI_MIN(most, all), tall);
	int64_t wide = KDRI_MAX(1, p->most / KDRI_MAX(kdri_stride(n), 1));
	p->wide = KDRI_MIN(KDRI_MIN(d, MOST_WIDE), wide < 128 ? wide : wide / 32 * 32);
	p->high = KDRI_MAX(1, KDRI_MIN(n, p->most / KDRI_MAX(kdri_stride(d), 1)));
	if (fits)
		return kdri_block_new(p->ctx, p->dev, n, d, single, &p->all);
	KDRI_DO(kdri_mul(p->ctx, n, d, &size));
	KDRI_DO(KDRI_NEW(p->ctx, &p->host, size));
	return kdri_block_new(p->ctx, p->dev, 1, p->most, single, &p->room);
}

/* Entries are not set. `side`: of the square matrix that layers also need; `scratch`: the number of panels they need.
 * panels_free accepts the result of a failed call. */
static kdr_status panels_new(kdr_context *ctx, kdri_device *dev, int64_t rows, int64_t d, bool single,
                             int64_t side, int scratch, kdri_panels *out)
{
	*out = (kdri_panels){ .ctx = ctx, .dev = dev, .rows = rows, .d = d };
	return kdri_is_cpu(dev) ? panels_here(out, single) : panels_there(out, single, side, scratch);
}

static void panels_free(kdri_panels *p)
{
	if (!p->ctx)
		return;
	kdri_block_free(p->ctx, &p->all);
	kdri_block_free(p->ctx, &p->room);
	kdri_free(p->ctx, p->host);
}

kdri_block kdri_panels_view(const kdri_panels *p, int64_t row, int64_t col, int64_t rows, int64_t cols)
{
	kdri_block view = p->room;
	if (!p->host)
		return kdri_block_part(p->all, row, col, rows, cols);
	view.rows = rows;
	view.cols = cols;
	view.stride = kdri_stride(cols);
	return view;
}

kdr_status kdri_panels_load(const kdri_panels *p, int64_t row, int64_t col, int64_t rows, int64_t cols,
                            kdri_block *out)
{
	*out = kdri_panels_view(p, row, col, rows, cols);
	return p->host ? kdri_block_send(p->ctx, *out, p->host + row * p->d + col, p->d) : KDR_OK;
}

kdr_status kdri_panels_store(const kdri_panels *p, int64_t row, int64_t col, kdri_block view)
{
	return p->host ? kdri_block_fetch(p->ctx, view, p->host + row * p->d + col, p->d) : KDR_OK;
}

const char *const kdri_precision_names[] = { "auto", "double", "single", NULL };
enum { PRECISION_AUTO, PRECISION_DOUBLE, PRECISION_SINGLE };

static const char stage[] = "features";
static const double vanishing = 1e-280; /* squares that products would lose: as good as zeros */

/* Whether products of this many samples use single precision by default. */
static bool single_above(int64_t samples)
{
	return samples > 4096;
}

bool kdri_precision_single(const kdr_options *options, int64_t samples)
{
	int precision = kdri_opt_choice(options, "precision");
	return precision == PRECISION_SINGLE || (precision == PRECISION_AUTO && single_above(samples));
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
	int64_t count = 0, wide = kdri_panels_span(&w->h);
	if (w->sparse)
		KDRI_DO(sparse_moments(w, w->mean, w->square));
	for (int64_t j = 0; j < w->d && !w->sparse; j += wide) {
		kdri_block part;
		int64_t beyond;
		KDRI_DO(kdri_panels_load(&w->h, 0, j, w->n, KDRI_MIN(wide, w->d - j), &part));
		KDRI_DO_OP(w->ctx, w->dev, moments, part, saturation, w->mean + j, w->square + j, &beyond);
		count += beyond;
	}
	for (int64_t j = 0; j < w->d; j++) {
		w->mean[j] /= (double)w->n;
		w->delta[j] = w->square[j] > vanishing ? w->p * w->q * w->square[j] + w->ridge : 1;
		w->delta[j] /= w->copies ? w->copies[j] : 1; /* (E5) */
	}
	*saturated = (double)count / ((double)w->n * (double)w->d);
	return KDR_OK;
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
		KDRI_OP(ctx, h->dev, syrk, false, 1, part, 1, gram); /* (E5) */
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
	KDRI_DO(panels_new(ctx, w->dev, w->m, w->d, o->single, kdri_msda_side(o, w->n, w->d),
	                   w->sparse ? 2 : 1, &w->h));
	if (!w->sparse)
		KDRI_DO(fill_h(w));
	return KDR_OK;
}

/* (E2), as (E3) or as (E4) */
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
	KDRI_FREE(ctx, w.mean, w.square, w.delta, w.offset);
	kdri_sparse_free(ctx, &w.rows);
	kdri_own_free(ctx, &w.xt);
	panels_free(&w.h);
	kdri_block_free(ctx, &w.room);
	return st;
}

/* Layers of mSDA in a model.
 *
 * A layer is kept in the form in which it was learnt. By features this is the map itself, h = tanh(x W' + b). By samples
 * the map also needs the layer's input, (E17) and (E18) of msda_layers.c, which is computed from the samples in the
 * model, layer after layer; R is kept because it is more expensive to compute than products. */

/* Three layers of 3,300 features, or samples if fewer: more would make model files that are awkward to pass on, and
 * what follows from the samples in the model can be learnt from them again. */
static const double most_bytes = 256.0 * 1024 * 1024;

double kdri_layers_bytes(const kdri_msda_options *o, int64_t train, int64_t d)
{
	double side = (double)kdri_msda_side(o, train, d);
	double bytes = 8 * (double)o->layers * (side * side + (double)d);
	return bytes <= most_bytes ? bytes : 0;
}

kdr_status kdri_layers_keep(kdr_context *ctx, kdr_result *result, int64_t train, int64_t d,
                            kdri_layers *layers, kdri_msda_options *o)
{
	int64_t side = kdri_msda_side(o, train, d);
	bool kept = kdri_layers_bytes(o, train, d) > 0;
	KDRI_DO(kdri_result_number(ctx, result, "layers_kept", kept ? (double)o->layers : 0));
	if (!kept)
		return KDR_OK;
	*layers = (kdri_layers){ .known = false };
	KDRI_DO(kdri_result_array(ctx, result, "layers", -1, KDR_FLOAT64, 3,
	                          (int64_t[]){ o->layers, side, side }, &layers->map));
	KDRI_DO(kdri_result_array(ctx, result, "layer_bias", -1, KDR_FLOAT64, 2, (int64_t[]){ o->layers, d },
	                          &layers->bias));
	o->kept = layers;
	return KDR_OK;
}

kdr_status kdri_layers_find(kdr_context *ctx, const kdr_result *fitted, int64_t train, int64_t d,
                            kdri_layers *layers, kdri_msda_options *o)
{
	int64_t side = kdri_msda_side(o, train, d);
	kdr_array map = kdr_result_array(fitted, "layers", -1),
	          bias = kdr_result_array(fitted, "layer_bias", -1);
	if (o->layers == 0 || (!map.data && !bias.data))
		return KDR_OK;
	if (!map.data || map.ndim != 3 || map.shape[0] != o->layers || map.shape[1] != side ||
	    map.shape[2] != side)
		return kdri_fail(ctx, KDR_ERR_DATA, "the model's layers are not %lld x %lld x %lld numbers",
		                 (long long)o->layers, (long long)side, (long long)side);
	if (!bias.data || bias.ndim != 2 || bias.shape[0] != o->layers || bias.shape[1] != d)
		return kdri_fail(ctx, KDR_ERR_DATA,
		                 "the model's biases of layers are not %lld x %lld numbers",
		                 (long long)o->layers, (long long)d);
	*layers = (kdri_layers){ (double *)map.data, (double *)bias.data, .known = true };
	o->kept = layers;
	return KDR_OK;
}

static const kdr_option_desc options_table[] = {
	KDRI_OPTIONS_MSDA,
	KDRI_OPTION_PRECISION,
	{ .name = NULL },
};

static const kdr_field_desc fields_table[] = {
	KDRI_ARRAY("features", KDR_FLOAT64, "n x (layers + 1) d",
	           "the features of the samples, followed by the output of each layer", .per_task = true),
	{ .name = NULL },
};

static const char *const references_table[] = {
	"M. Chen, Z. Xu, K. Weinberger, F. Sha: Marginalized denoising autoencoders for domain adaptation. ICML 2012. [CXWS12]",
	NULL,
};

/* A fit at work. */
typedef struct work {
	const kdri_stack *stack;
	const kdri_msda_options *options;
	double **z; /* where the layers go: of each task, in the result */
	int64_t wide;
	kdri_msda_info info;
} work;

/* Rows i.. of task t from the output of a layer: their columns in Z. */
static double *place_of(const work *w, int64_t t, int64_t i, int64_t layer)
{
	return w->z[t] + (i - w->stack->begin[t]) * w->wide + layer * kdr_mat_cols(&w->stack->x); /* (E1) */
}

static kdr_status put_layer(kdr_context *ctx, void *user, int64_t layer, const kdr_mat *x,
                            const kdri_panels *h)
{
	const work *w = user;
	for (int64_t t = 0; t < w->stack->ntasks; t++)
		for (int64_t i = w->stack->begin[t], end = w->stack->begin[t + 1], rows; i < end; i += rows) {
			kdri_block part;
			double *to = place_of(w, t, i, layer);
			rows = h ? KDRI_MIN(h->high, end - i) : 1;
			for (int64_t p = h ? 0 : x->as.csr.rowptr[i]; !h && p < x->as.csr.rowptr[i + 1]; p++)
				to[x->as.csr.col[p]] = x->as.csr.val[p];
			if (!h)
				continue;
			KDRI_DO(kdri_panels_load(h, i, 0, rows, h->d, &part));
			KDRI_DO(kdri_block_fetch(ctx, part, to, w->wide));
		}
	return KDR_OK;
}

static kdr_status msda_compute(kdr_context *ctx, kdri_device *dev, void *user)
{
	work *w = user;
	const kdr_mat *x = &w->stack->x;
	return kdri_msda_run(ctx, dev, x, kdr_mat_rows(x), w->options, put_layer, w, &w->info);
}

static kdr_status msda_fit(kdr_context *ctx, const kdr_problem *problem, const kdr_options *options,
                           kdr_result *result)
{
	kdr_status st;
	kdri_stack stack = { .own.view = kdr_mat_from_dense(NULL, 0, 0) };
	work w = { .stack = &stack };
	KDRI_TRY(kdri_stack_new(ctx, problem, &stack));
	int64_t n = stack.begin[stack.ntasks], d = kdr_mat_cols(&stack.x);
	kdri_msda_options o = kdri_msda_options_of(options, n);
	w.options = &o;
	w.wide = (o.layers + 1) * d;
	KDRI_TRY(KDRI_NEW(ctx, &w.z, stack.ntasks));
	for (int64_t t = 0; t < stack.ntasks; t++)
		KDRI_TRY(kdri_result_array(ctx, result, "features", t, KDR_FLOAT64, 2,
		                           (int64_t[]){ stack.begin[t + 1] - stack.begin[t], w.wide },
		                           &w.z[t]));
	bool before = ctx->abandon;
	ctx->abandon = true; /* a layer that is not done stays zero, like those after it */
	st = kdri_compute(ctx, (double)o.layers * 4 * (double)n * (double)d * (double)KDRI_MIN(n, d),
	                  msda_compute, &w);
	ctx->abandon = before;
	bool stopped = ctx->cancelled || ctx->timed_out;
	KDRI_TRY(st == KDR_ERR_NUMERIC && stopped ? KDR_OK : st);
	KDRI_TRY(kdri_msda_warn(ctx, &w.info, result));
	kdri_result_stop(result, stopped ? kdri_stop_reason(ctx) : KDR_STOP_CONVERGED, w.info.layers);
done:
	kdri_stack_free(ctx, &stack);
	kdri_free(ctx, w.z);
	return st;
}

const kdri_algo kdri_algo_msda = {
	.info = { .id = "msda",
	          .class_name = "MSDA",
	          .title = "Marginalised stacked denoising autoencoders",
	          .summary =
	                  "learns features that are robust to noise on all data sets together; a step before other methods (--features-from msda)",
	          .objective =
	                  "each layer minimises the expected error of reconstructing values of which a fraction p is set to 0, in closed form; not recorded\n"
	                  "E sum_i |x_i - W x~_i - b|^2\n"
	                  "x_i    sample i of all data sets, or its output of the layer before\n"
	                  "x~_i   the same with each value set to 0 with probability p (option noise)\n"
	                  "W, b   weights and constant of the layer; its output is tanh(W x + b)",
	          .steps =
	                  "1. W from the expected products of the corrupted samples: one linear system per layer\n"
	                  "2. the features are the samples and the outputs of all layers, side by side (array features)",
	          .use = "A step before another method (--features-from msda) if words of the target are rare in the source.",
	          .cost = "n d^2 + d^3 operations per layer, or those of the n x n form if there are fewer samples than features.",
	          .family = KDR_FAMILY_FEATURES,
	          .flags = KDR_ALGO_JOINT,
	          .options = options_table,
	          .fields = fields_table,
	          .references = references_table },
	.fit = msda_fit,
};
