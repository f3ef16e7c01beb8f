/* A window that moves over a text file, and its slices. SPDX-License-Identifier: BSD-3-Clause */
#include "io/text.h"

#include "core/system.h"

/* For each two threads, up to MOST: large enough that they rarely wait for each other, small enough that most memory is
 * that of the result. */
enum { WINDOW = 1 << 22, MOST = 1 << 24 };

kdr_status kdri_window_open(kdr_context *ctx, kdri_input *in, kdri_window *w)
{
	int64_t size = kdri_input_size(in);
	size_t room = (size_t)KDRI_MIN(MOST, WINDOW * (int64_t)KDRI_MAX(1, ctx->threads / 2));
	*w = (kdri_window){ .in = in };
	if (size >= 0 && size < (int64_t)room - 2 && !kdri_input_compressed(in))
		room = (size_t)size + 2; /* one for a newline at the end, one to see that it is the end */
	kdr_status st = KDRI_GROW_RESULT(ctx, &w->data, (int64_t)room);
	if (st == KDR_OK)
		w->room = room;
	return st;
}

void kdri_window_close(kdr_context *ctx, kdri_window *w)
{
	kdri_free(ctx, w->data);
	w->data = NULL;
}

kdr_status kdri_window_fill(kdr_context *ctx, kdri_window *w)
{
	kdr_status st = KDR_OK;
	size_t got;
	if (w->last)
		return st;
	memmove(w->data, w->data + w->begin, w->end - w->begin);
	w->end -= w->begin;
	w->begin = 0;
	bool plain = w->recode.from == KDRI_UTF8 && !w->recode.returns;
	if (w->end + 1 + (plain ? 0 : 64) >= w->room) { /* room for some characters */
		if (w->room >= KDRI_LINE_MOST)
			return kdri_line_too_long(ctx, w->in, w->line + 1);
		KDRI_TRY(KDRI_GROW(ctx, &w->data, (int64_t)(2 * w->room)));
		w->room *= 2;
	}
	size_t want = w->room - 1 - w->end;
	if (plain)
		KDRI_TRY(kdri_input_read(ctx, w->in, w->data + w->end, want, &got));
	else
		KDRI_TRY(kdri_recode_read(ctx, &w->recode, w->in, w->data + w->end, want, &got));
	w->end += got;
	if (plain ? got < want : w->recode.end) {
		w->last = true;
		w->added = w->end > 0 && w->data[w->end - 1] != '\n';
		if (w->added)
			w->data[w->end++] = '\n';
	}
	if (kdri_iteration(ctx, "read", kdri_input_consumed(w->in), KDRI_MAX(kdri_input_size(w->in), 0), NAN))
		st = kdri_fail(ctx, KDR_ERR_READ, "%s: reading was stopped", kdri_input_path(w->in));
done:
	return st;
}

kdr_status kdri_window_lines(kdr_context *ctx, kdri_window *w, size_t *whole)
{
	kdr_status st = KDR_OK;
	if (!w->last)
		KDRI_TRY(kdri_window_fill(ctx, w));
	for (;;) {
		size_t i = w->end;
		while (i > w->begin && w->data[i - 1] != '\n')
			i--;
		if (i > w->begin || w->last) {
			*whole = i > w->begin ? i : 0;
			return st;
		}
		KDRI_TRY(kdri_window_fill(ctx, w));
	}
done:
	return st;
}

int64_t kdri_window_foresee(const kdri_window *w, size_t whole, int64_t count)
{
	int64_t size = kdri_input_size(w->in);
	int64_t seen = kdri_input_consumed(w->in) - (int64_t)(w->end - whole);
	double more = 1.5;
	if (w->last)
		return count;
	if (size > 0 && seen > 0 && !kdri_input_compressed(w->in))
		more = KDRI_MAX((double)size / (double)seen * 1.02, 1.05);
	double all = (double)count * more + 1024;
	return all < 0x1p62 ? (int64_t)all : count;
}

kdr_status kdri_grow_result(kdr_context *ctx, void *inout, int64_t count, size_t size)
{
	void *at;
	kdr_status st = kdri_realloc(ctx, inout, count, size);
	if (st != KDR_OK)
		return st;
	memcpy(&at, inout, sizeof at);
	kdri_large_pages(at, (size_t)count * size);
	return KDR_OK;
}

int64_t kdri_count_byte(const char *begin, const char *end, char byte)
{
	int64_t total = 0;
	while (begin < end) {
		const char *stop = end - begin > 128 ? begin + 128 : end;
		unsigned char n = 0; /* of at most 128: sixteen fit a vector register */
		for (; begin < stop; begin++)
			n += *begin == byte;
		total += n;
	}
	return total;
}

int64_t kdri_slices_count(const kdr_context *ctx, kdri_slice *slices)
{
	int64_t lines = 0;
	(void)ctx; /* without OpenMP */
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic)
	for (int i = 0; i < KDRI_SLICES; i++)
		slices[i].lines = kdri_count_byte(slices[i].begin, slices[i].end, '\n');
	for (int i = 0; i < KDRI_SLICES; i++) {
		slices[i].first = lines;
		lines += slices[i].lines;
	}
	return lines;
}

int64_t kdri_slices_cut(const kdr_context *ctx, const char *begin, const char *end, kdri_slice *slices)
{
	const char *p = begin;
	for (int i = 0; i < KDRI_SLICES; i++) {
		const char *cut = begin + (end - begin) * (i + 1) / KDRI_SLICES;
		slices[i].begin = p;
		if (cut > p && i + 1 < KDRI_SLICES) {
			cut = memchr(cut - 1, '\n', (size_t)(end - cut) + 1);
			p = cut + 1;
		} else if (i + 1 == KDRI_SLICES) {
			p = end;
		}
		slices[i].end = p;
	}
	return kdri_slices_count(ctx, slices);
}
