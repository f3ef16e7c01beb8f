/* A tall matrix on a device, complete or one panel at a time. SPDX-License-Identifier: BSD-3-Clause
 *
 * On the processor panels only bound the scratch that layers need: they are as large as makes about KDRI_MSDA_SCRATCH
 * bytes of rows, or 8 MB of columns. On an accelerator they are as large as its memory allows. */
#include "methods/mtcfir/msda_panels.h"

enum { LEAST_WIDE = 256, MOST_WIDE = 8192 };
static const int64_t scratch_by_columns = 8 << 20;

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

kdr_status kdri_panels_new(kdr_context *ctx, kdri_device *dev, int64_t rows, int64_t d, bool single,
                           int64_t side, int scratch, kdri_panels *out)
{
	*out = (kdri_panels){ .ctx = ctx, .dev = dev, .rows = rows, .d = d };
	return kdri_is_cpu(dev) ? panels_here(out, single) : panels_there(out, single, side, scratch);
}

void kdri_panels_free(kdri_panels *p)
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
