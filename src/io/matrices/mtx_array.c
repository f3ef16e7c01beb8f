/* Matrix Market: messages, dense matrices, and writing. SPDX-License-Identifier: BSD-3-Clause
 *
 * The size of a plain file limits the number of its values, so that the matrix is allocated at once and values are
 * written directly to their rows. Values from a pipe or a compressed file are collected first and then transposed, which
 * takes twice the memory, but never more than the file really contains. */
#include "io/matrices/mtx_array.h"

kdr_status kdri_mtx_report(kdr_context *ctx, const kdri_window *w, const kdri_mtx_header *h,
                           const kdri_mtx_problem *x)
{
	const char *path = kdri_input_path(w->in);
	long long line = w->line + kdri_count_byte(w->data + w->begin, x->line, '\n') + 1;
	int length = 0;
	while (length < 40 && !strchr(" \t\r\n", x->at[length]))
		length++;
	switch (x->what) {
	case KDRI_MTX_NO_INDEX:
		return kdri_fail(
		        ctx, KDR_ERR_FORMAT,
		        "%s: line %lld: '%.*s' is not an index; a row number and a column number are needed",
		        path, line, length, x->at);
	case KDRI_MTX_OUTSIDE:
		return kdri_fail(
		        ctx, KDR_ERR_FORMAT,
		        "%s: line %lld: index %.*s is outside the matrix of %lld x %lld (indices begin with 1)",
		        path, line, length, x->at, (long long)h->rows, (long long)h->cols);
	case KDRI_MTX_NOT_FINITE:
		return kdri_fail(ctx, KDR_ERR_DATA, "%s: line %lld: %.*s is not a finite number", path, line,
		                 length, x->at);
	case KDRI_MTX_TEXT_AFTER:
		return kdri_fail(ctx, KDR_ERR_FORMAT, "%s: line %lld: unexpected '%.*s' after the value",
		                 path, line, length, x->at);
	case KDRI_MTX_UPPER:
		return kdri_fail(
		        ctx, KDR_ERR_FORMAT,
		        "%s: line %lld: entry on the diagonal of a skew-symmetric matrix, which must be zero and is not stored",
		        path, line);
	case KDRI_MTX_TOO_MANY:
		return kdri_fail(ctx, KDR_ERR_FORMAT, "%s: has more than the declared %lld %s", path,
		                 (long long)h->declared, h->array ? "values" : "entries");
	default:
		return kdri_fail(ctx, KDR_ERR_FORMAT, "%s: line %lld: '%.*s' is not a number", path, line,
		                 length, x->at);
	}
}

kdr_status kdri_mtx_short(kdr_context *ctx, const kdri_window *w, const kdri_mtx_header *h, int64_t found)
{
	return kdri_fail(ctx, KDR_ERR_FORMAT, "%s: declares %lld %s, found %lld", kdri_input_path(w->in),
	                 (long long)h->declared, h->array ? "values" : "entries", (long long)found);
}

typedef struct place {
	int64_t i, j;
} place;

/* The position in the matrix of the value with index `t` in the file. */
static place mtx_array_place_of(const kdri_mtx_header *h, int64_t t)
{
	if (h->symmetry == KDRI_MTX_GENERAL)
		return (place){ t % h->rows, t / h->rows };
	int64_t skip = h->symmetry == KDRI_MTX_SKEW, j = 0;
	for (; t >= h->rows - j - skip; j++)
		t -= h->rows - j - skip;
	return (place){ j + skip + t, j };
}

static inline void mtx_array_put(const kdri_mtx_header *h, double *x, place *at, double v)
{
	x[at->i * h->cols + at->j] = v;
	if (h->symmetry != KDRI_MTX_GENERAL && at->i != at->j)
		x[at->j * h->cols + at->i] = h->symmetry == KDRI_MTX_SKEW ? -v : v;
	if (++at->i == h->rows) {
		at->j++;
		at->i = h->symmetry == KDRI_MTX_GENERAL     ? 0
		        : h->symmetry == KDRI_MTX_SYMMETRIC ? at->j
		                                            : at->j + 1;
	}
}

static int64_t count_values(const kdri_slice *s)
{
	int64_t n = 0;
	for (const char *p = s->begin; p < s->end;
	     p = (const char *)memchr(p, '\n', (size_t)(s->end - p)) + 1)
		n += !kdri_mtx_skip(kdri_skip_blanks(p));
	return n;
}

/* The values of one slice, the first of which has index `t`: written to `x` at their positions, or consecutively to
 * `line` if that is given. */
static void mtx_array_parse_slice(const kdri_mtx_header *h, const kdri_slice *s, int64_t t, double *x,
                                  double *line, kdri_mtx_problem *problem)
{
	place at = { 0, 0 };
	double v;
	if (s->begin < s->end && t < h->declared)
		at = mtx_array_place_of(h, t);
	for (const char *p = s->begin; p < s->end; t++) {
		p = kdri_skip_blanks(p);
		if (kdri_mtx_skip(p)) {
			p = (const char *)memchr(p, '\n', (size_t)(s->end - p)) + 1;
			t--;
			continue;
		}
		const char *q = kdri_parse_double(p, s->end, &v), *next = q ? kdri_mtx_line_end(q) : NULL;
		enum kdri_mtx_trouble what = t >= h->declared                   ? KDRI_MTX_TOO_MANY
		                             : !q                               ? KDRI_MTX_NO_VALUE
		                             : !h->keep_nonfinite && v - v != 0 ? KDRI_MTX_NOT_FINITE
		                             : !next                            ? KDRI_MTX_TEXT_AFTER
		                                                                : KDRI_MTX_FINE;
		if (what != KDRI_MTX_FINE) {
			*problem =
			        (kdri_mtx_problem){ what, p,
				                    what == KDRI_MTX_TEXT_AFTER ? kdri_skip_blanks(q) : p };
			return;
		}
		if (line)
			*line++ = v;
		else
			mtx_array_put(h, x, &at, v);
		p = next;
	}
}

/* Reads all values to their positions in `x` or, if that is NULL, consecutively to *line, which grows. */
static kdr_status read_values(kdr_context *ctx, kdri_window *w, const kdri_mtx_header *h, double *x,
                              double **line)
{
	kdr_status st = KDR_OK;
	kdri_slice slices[KDRI_SLICES];
	kdri_mtx_problem problems[KDRI_SLICES];
	int64_t first[KDRI_SLICES], count = 0, room = 0;
	size_t whole;
	for (;;) {
		KDRI_TRY(kdri_window_lines(ctx, w, &whole));
		if (whole == 0)
			break;
		int64_t lines = kdri_slices_cut(ctx, w->data + w->begin, w->data + whole, slices);
		int64_t before = count;
		memset(problems, 0, sizeof problems);
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic)
		for (int i = 0; i < KDRI_SLICES; i++)
			first[i] = count_values(&slices[i]);
		for (int i = 0; i < KDRI_SLICES; i++) {
			int64_t values = first[i];
			first[i] = count;
			count += values;
		}
		if (!x && (count > room || !*line)) {
			room = KDRI_MAX(count, before + before / 2);
			KDRI_TRY(KDRI_GROW(ctx, line, room));
		}
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic)
		for (int i = 0; i < KDRI_SLICES; i++)
			mtx_array_parse_slice(h, &slices[i], first[i], x, x ? NULL : *line + first[i],
			                      &problems[i]);
		for (int i = 0; i < KDRI_SLICES; i++)
			if (problems[i].what != KDRI_MTX_FINE) {
				st = kdri_mtx_report(ctx, w, h, &problems[i]);
				goto done;
			}
		w->line += lines;
		w->begin = whole;
	}
	if (count < h->declared)
		st = kdri_mtx_short(ctx, w, h, count);
done:
	return st;
}

kdr_status kdri_mtx_read_array(kdr_context *ctx, kdri_window *w, const kdri_mtx_header *h, kdr_data *data)
{
	kdr_status st;
	double *x = NULL, *line = NULL;
	int64_t size = kdri_input_size(w->in);
	bool plain = size >= 0 && !kdri_input_compressed(w->in);
	/* Two bytes a value at least. */
	if (plain && h->declared > size / 2 + 1) {
		st = kdri_fail(ctx, KDR_ERR_FORMAT,
		               "%s: declares %lld values, more than a file of %lld bytes can contain",
		               kdri_input_path(w->in), (long long)h->declared, (long long)size);
		goto done;
	}
	if (plain)
		KDRI_TRY(KDRI_NEW0(ctx, &x, h->rows * h->cols));
	KDRI_TRY(read_values(ctx, w, h, x, &line));
	if (!plain) {
		place at = h->declared > 0 ? mtx_array_place_of(h, 0) : (place){ 0, 0 };
		kdri_window_close(ctx, w);
		KDRI_TRY(KDRI_NEW0(ctx, &x, h->rows * h->cols));
		for (int64_t t = 0; line && t < h->declared; t++)
			mtx_array_put(h, x, &at, line[t]);
	}
	data->kind = KDR_MAT_DENSE;
	data->rows = h->rows;
	data->cols = h->cols;
	data->dense = x;
	x = NULL;
done:
	KDRI_FREE(ctx, line, x);
	return st;
}

/* Matrix Market: writing.
 *
 * Sparse matrices are written as coordinates, row by row; dense ones as an array, column by column as the format
 * requires. The field is "integer" if every value is an integer, so that readers can keep the type. */

static bool all_integers(const double *values, int64_t count)
{
	for (int64_t i = 0; i < count; i++)
		if (!(fabs(values[i]) < 0x1p53 && values[i] == floor(values[i])))
			return false;
	return true;
}

static kdr_status put_coordinates(kdr_context *ctx, kdri_output *out, const kdr_data *d)
{
	char text[80];
	int64_t nnz = d->rowptr[d->rows];
	KDRI_DO(kdri_output_printf(ctx, out,
	                           "%%%%MatrixMarket matrix coordinate %s general\n%lld %lld %lld\n",
	                           all_integers(d->val, nnz) ? "integer" : "real", (long long)d->rows,
	                           (long long)d->cols, (long long)nnz));
	for (int64_t i = 0; i < d->rows; i++) {
		int lead = kdri_print_double((double)(i + 1), text);
		text[lead++] = ' ';
		for (int64_t p = d->rowptr[i]; p < d->rowptr[i + 1]; p++) {
			int n = lead + kdri_print_double((double)d->col[p] + 1, text + lead);
			text[n++] = ' ';
			n += kdri_print_double(d->val[p], text + n);
			text[n++] = '\n';
			KDRI_DO(kdri_output_write(ctx, out, text, (size_t)n));
		}
	}
	return KDR_OK;
}

static kdr_status put_array(kdr_context *ctx, kdri_output *out, const kdr_data *d)
{
	char text[32];
	KDRI_DO(kdri_output_printf(ctx, out, "%%%%MatrixMarket matrix array %s general\n%lld %lld\n",
	                           all_integers(d->dense, d->rows * d->cols) ? "integer" : "real",
	                           (long long)d->rows, (long long)d->cols));
	for (int64_t j = 0; j < d->cols; j++)
		for (int64_t i = 0; i < d->rows; i++) {
			int n = kdri_print_double(d->dense[i * d->cols + j], text);
			text[n++] = '\n';
			KDRI_DO(kdri_output_write(ctx, out, text, (size_t)n));
		}
	return KDR_OK;
}

kdr_status kdri_mtx_write(kdr_context *ctx, const char *path, const kdr_data *d, bool force)
{
	kdr_status st;
	kdri_output *out = NULL;
	KDRI_TRY(kdri_output_open(ctx, path, force, &out));
	KDRI_TRY(d->kind == KDR_MAT_DENSE ? put_array(ctx, out, d) : put_coordinates(ctx, out, d));
done:
	return kdri_output_finish(ctx, out, st);
}
