/* Matrix Market: header and coordinate files. SPDX-License-Identifier: BSD-3-Clause
 *
 * Slices of a window are parsed in parallel. As long as entries are in order of rows and columns without duplicates, as
 * SciPy writes them, columns and values are at their final places, and row pointers follow from each window while it
 * is in the cache: nothing is read twice, and pages that are touched for the first time, which threads wait for, are
 * those of the result. From the first entry that is not in order (10x Genomics writes by columns), rows of entries are
 * stored, too (16 bytes per entry, 1.33 times the result); at the end all are sorted in place, and duplicates are added
 * up. Explicit zeros are dropped, so that nnz counts what is not zero.
 *
 * The header is not trusted: memory is allocated for what the file can contain, whatever it declares. A matrix may have
 * at most 2^31 - 1 rows and columns, and more than 4 million rows only with at least one entry for every 64. */
#include "io/matrices/mtx_array.h"

enum { FREE_ROWS = 1 << 22, ROWS_PER_ENTRY = 64 };

typedef struct triples {
	int32_t *row, *col;
	double *val;
	int64_t count, room;
	int64_t *begin; /* row pointers of the entries before `base`; NULL if they are not in order */
	int64_t base,
	        row_room; /* row[0] belongs to entry `base`: those of a window while entries are in order */
	uint64_t last;    /* the key of the last entry, with rows from 1 on; 0: none */
} triples;

/* What a slice contains. Keys are row + 1 in the upper half, column in the lower; 0: no entries. */
typedef struct part {
	int64_t count, seen; /* entries, and their lines */
	uint64_t first, last;
	bool ordered;
	kdri_mtx_problem problem;
} part;

/* --- header ----------------------------------------------------------------------------------- */

/* Copies the next word of a line to `word` (truncated to fit); empty at the end of the line. */
static const char *next_word(const char *p, char word[32])
{
	int n = 0;
	p = kdri_skip_blanks(p);
	for (; !strchr(" \t\r\n", *p); p++)
		if (n < 31)
			word[n++] = *p;
	word[n] = '\0';
	return p;
}

static bool is(const char *text, const char *word)
{
	return kdri_same_word(text, strlen(text), word);
}

static kdr_status parse_banner(kdr_context *ctx, const char *path, const char *line, kdri_mtx_header *h)
{
	char banner[32], object[32], format[32], field[32], symmetry[32];
	const char *p = next_word(line, banner);
	p = next_word(p, object);
	p = next_word(p, format);
	p = next_word(p, field);
	next_word(p, symmetry);
	if (!is(banner, "%%matrixmarket"))
		return kdri_fail(
		        ctx, KDR_ERR_FORMAT,
		        "%s: line 1 is not a Matrix Market header; it must begin with '%%%%MatrixMarket matrix'",
		        path);
	if (!is(object, "matrix"))
		return kdri_fail(ctx, KDR_ERR_UNSUPPORTED,
		                 "%s: contains a Matrix Market '%s'; only 'matrix' is supported", path,
		                 object);
	h->array = is(format, "array");
	h->pattern = is(field, "pattern");
	if (!h->array && !is(format, "coordinate"))
		return kdri_fail(
		        ctx, KDR_ERR_FORMAT,
		        "%s: Matrix Market format '%s' is not valid; coordinate and array are supported",
		        path, format);
	if (is(field, "complex") || is(symmetry, "hermitian"))
		return kdri_fail(ctx, KDR_ERR_UNSUPPORTED, "%s: complex matrices are not supported", path);
	if (!is(field, "real") && !is(field, "double") && !is(field, "integer") &&
	    !is(field, "unsigned-integer") && (!h->pattern || h->array))
		return kdri_fail(ctx, KDR_ERR_FORMAT,
		                 "%s: Matrix Market field '%s' is not valid; real, integer%s are supported",
		                 path, field, h->array ? "" : " and pattern");
	if (is(symmetry, "general"))
		h->symmetry = KDRI_MTX_GENERAL;
	else if (is(symmetry, "symmetric"))
		h->symmetry = KDRI_MTX_SYMMETRIC;
	else if (is(symmetry, "skew-symmetric"))
		h->symmetry = KDRI_MTX_SKEW;
	else
		return kdri_fail(
		        ctx, KDR_ERR_FORMAT,
		        "%s: Matrix Market symmetry '%s' is not valid; general, symmetric and skew-symmetric are supported",
		        path, symmetry);
	return KDR_OK;
}

static kdr_status parse_sizes(kdr_context *ctx, const char *path, int64_t number, const char *p,
                              const char *end, kdri_mtx_header *h)
{
	int64_t *sizes[] = { &h->rows, &h->cols, &h->declared };
	int count = h->array ? 2 : 3;
	for (int i = 0; i < count; i++) {
		p = kdri_parse_int(kdri_skip_blanks(p), end, sizes[i]);
		if (!p || (!kdri_is_blank(*p) && !kdri_at_newline(p)) || *sizes[i] < 0)
			return kdri_fail(ctx, KDR_ERR_FORMAT,
			                 "%s: line %lld must give the sizes: rows columns%s", path,
			                 (long long)number, h->array ? "" : " entries");
	}
	if (!kdri_mtx_line_end(p))
		return kdri_fail(ctx, KDR_ERR_FORMAT, "%s: line %lld has more than %d sizes", path,
		                 (long long)number, count);
	if ((h->rows < 1 && !h->may_be_empty) || h->cols < 1)
		return kdri_fail(ctx, KDR_ERR_DATA, "%s: the matrix is empty (%lld x %lld)", path,
		                 (long long)h->rows, (long long)h->cols);
	if (h->rows > INT32_MAX || h->cols > INT32_MAX)
		return kdri_fail(
		        ctx, KDR_ERR_SIZE,
		        "%s: a matrix of %lld x %lld is too large; at most 2147483647 rows and columns are supported",
		        path, (long long)h->rows, (long long)h->cols);
	if (h->symmetry != KDRI_MTX_GENERAL && h->rows != h->cols)
		return kdri_fail(
		        ctx, KDR_ERR_FORMAT,
		        "%s: the matrix has %lld x %lld entries, but a symmetric matrix must be square", path,
		        (long long)h->rows, (long long)h->cols);
	if (h->array && h->symmetry == KDRI_MTX_GENERAL)
		h->declared = h->rows * h->cols; /* below 2^62 */
	else if (h->array)
		h->declared = h->rows * (h->symmetry == KDRI_MTX_SYMMETRIC ? h->rows + 1 : h->rows - 1) / 2;
	return KDR_OK;
}

static kdr_status read_header(kdr_context *ctx, kdri_window *w, kdri_mtx_header *h)
{
	kdr_status st = KDR_OK;
	size_t whole;
	const char *path = kdri_input_path(w->in);
	KDRI_TRY(kdri_window_lines(ctx, w, &whole));
	if (whole == 0) {
		st = kdri_fail(ctx, KDR_ERR_FORMAT, "%s: the file is empty; a Matrix Market header is needed",
		               path);
		goto done;
	}
	for (;;) {
		const char *line = w->data + w->begin, *end = w->data + whole;
		const char *next = (const char *)memchr(line, '\n', (size_t)(end - line)) + 1;
		bool sizes = w->line > 0 && !kdri_mtx_skip(kdri_skip_blanks(line));
		if (w->line == 0)
			KDRI_TRY(parse_banner(ctx, path, line, h));
		else if (sizes)
			KDRI_TRY(parse_sizes(ctx, path, w->line + 1, line, next, h));
		w->line++;
		w->begin += (size_t)(next - line);
		if (sizes)
			goto done;
		if (w->begin < whole)
			continue;
		KDRI_TRY(kdri_window_lines(ctx, w, &whole));
		if (whole == 0) {
			st = kdri_fail(ctx, KDR_ERR_FORMAT,
			               "%s: the file ends before the line with the sizes", path);
			goto done;
		}
	}
done:
	return st;
}

/* --- entries ---------------------------------------------------------------------------------- */

/* A number of up to 18 digits, without a sign; NULL if there is none. */
static inline const char *parse_index(const char *p, int64_t *value)
{
	const char *start = p;
	int64_t v = 0;
	for (; (unsigned char)(*p - '0') < 10 && p - start < 18; p++)
		v = v * 10 + (*p - '0');
	*value = v;
	return p > start && (unsigned char)(*p - '0') >= 10 ? p : NULL;
}

/* The entry at p. Returns the start of the next line, or NULL with `problem` set. */
static inline const char *parse_entry(const kdri_mtx_header *h, const char *p, const char *end, int64_t *i,
                                      int64_t *j, double *v, kdri_mtx_problem *problem)
{
	const char *line = p, *q = parse_index(p, i);
	enum kdri_mtx_trouble what = KDRI_MTX_NO_INDEX;
	if (!q || !kdri_is_blank(*q))
		goto bad;
	what = KDRI_MTX_OUTSIDE;
	if (*i < 1 || *i > h->rows)
		goto bad;
	what = KDRI_MTX_NO_INDEX;
	p = kdri_skip_blanks(q);
	q = parse_index(p, j);
	if (!q)
		goto bad;
	what = KDRI_MTX_OUTSIDE;
	if (*j < 1 || *j > h->cols)
		goto bad;
	p = q;
	if (h->pattern) {
		*v = 1;
	} else {
		what = KDRI_MTX_NO_VALUE;
		p = kdri_skip_blanks(p);
		q = kdri_parse_double(p, end, v);
		if (!q || p == q)
			goto bad;
		what = KDRI_MTX_NOT_FINITE;
		if (!h->keep_nonfinite && *v - *v != 0)
			goto bad;
		p = q;
	}
	what = KDRI_MTX_TEXT_AFTER;
	q = kdri_mtx_line_end(p);
	if (!q)
		goto bad;
	what = KDRI_MTX_UPPER;
	if (h->symmetry == KDRI_MTX_SKEW && *i == *j && *v != 0)
		goto bad;
	return q;
bad:
	*problem = (kdri_mtx_problem){ what, line, kdri_skip_blanks(p) };
	return NULL;
}

/* Entry `at`. */
static inline void put_entry(const triples *t, int64_t at, int64_t row, int64_t col, double v, part *found)
{
	const uint64_t key = (uint64_t)(row + 1) << 32 | (uint64_t)col;
	t->row[at - t->base] = (int32_t)row;
	t->col[at] = (int32_t)col;
	t->val[at] = v;
	found->first = found->count++ ? found->first : key;
	found->ordered = found->ordered && key > found->last;
	found->last = key;
}

/* Entries of one slice into the arrays from `at` on. */
static part mtx_parse_slice(const kdri_mtx_header *h, const kdri_slice *s, const triples *t, int64_t at)
{
	part found = { .ordered = true };
	int64_t i, j;
	double v;
	for (const char *p = s->begin; p < s->end;) {
		p = kdri_skip_blanks(p);
		if (kdri_mtx_skip(p)) {
			p = (const char *)memchr(p, '\n', (size_t)(s->end - p)) + 1;
			continue;
		}
		p = parse_entry(h, p, s->end, &i, &j, &v, &found.problem);
		if (!p)
			break;
		found.seen++;
		if (v == 0)
			continue;
		if (i > h->keep.first && i <= h->keep.last)
			put_entry(t, at + found.count, i - 1 - h->keep.first, j - 1, v, &found);
		if (h->symmetry != KDRI_MTX_GENERAL && i != j && j > h->keep.first && j <= h->keep.last)
			put_entry(t, at + found.count, j - 1 - h->keep.first, i - 1,
			          h->symmetry == KDRI_MTX_SKEW ? -v : v, &found);
	}
	return found;
}

/* Room for `more` entries of a window that ends at `whole`. */
static kdr_status mtx_make_room(kdr_context *ctx, const kdri_window *w, const kdri_mtx_header *h,
                                size_t whole, int64_t more, triples *t)
{
	const int64_t need = t->count + more;
	if (need > t->room) {
		int64_t each = h->symmetry == KDRI_MTX_GENERAL ? 1 : 2,
		        room = h->keep.last - h->keep.first < h->rows ? need + need / 2
		                                                      : kdri_window_foresee(w, whole, need);
		if (room / each > h->declared)
			room = h->declared * each;
		room = KDRI_MAX(room, need);
		KDRI_DO(KDRI_GROW_RESULT(ctx, &t->col, room));
		KDRI_DO(KDRI_GROW_RESULT(ctx, &t->val, room));
		t->room = room;
	}
	const int64_t rows = t->begin ? more : t->room;
	if (rows > t->row_room) {
		KDRI_DO(KDRI_GROW_RESULT(ctx, &t->row, rows));
		t->row_room = rows;
	}
	return KDR_OK;
}

static void mtx_move(const triples *t, int64_t to, int64_t from, int64_t count)
{
	if (to == from)
		return;
	memmove(t->row + to - t->base, t->row + from - t->base, (size_t)count * sizeof *t->row);
	memmove(t->col + to, t->col + from, (size_t)count * sizeof *t->col);
	memmove(t->val + to, t->val + from, (size_t)count * sizeof *t->val);
}

/* Whether a window's entries follow those before in order. */
static bool mtx_ordered(const part *parts, uint64_t last)
{
	for (int i = 0; i < KDRI_SLICES; i++) {
		if (parts[i].count && (!parts[i].ordered || parts[i].first <= last))
			return false;
		last = parts[i].count ? parts[i].last : last;
	}
	return true;
}

/* Rows after that of key `before`, up to row `to`, begin at entry p. */
static inline void begin_rows(int64_t *begin, uint64_t before, int64_t to, int64_t p)
{
	for (int64_t r = (int64_t)(before >> 32); r <= to; r++)
		begin[r] = p;
}

/* The row pointers of a window's entries, of which slice i has those from at[i] on. */
static void mtx_fill_begin(const kdr_context *ctx, triples *t, const part *parts, const int64_t *at)
{
	uint64_t before[KDRI_SLICES];
	(void)ctx; /* without OpenMP */
	for (int i = 0; i < KDRI_SLICES; i++) {
		before[i] = t->last;
		t->last = parts[i].count ? parts[i].last : t->last;
	}
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic)
	for (int i = 0; i < KDRI_SLICES; i++) {
		const int32_t *row = t->row + at[i] - t->base;
		for (int64_t p = 0; p < parts[i].count; p++)
			if (p == 0)
				begin_rows(t->begin, before[i], row[0], at[i]);
			else if (row[p] > row[p - 1])
				begin_rows(t->begin, (uint64_t)(row[p - 1] + 1) << 32, row[p], at[i] + p);
	}
}

/* From now on each entry has its row: those before `base` from the row pointers, the others from the window. */
static kdr_status mtx_keep_rows(kdr_context *ctx, triples *t)
{
	int32_t *row = NULL;
	const int64_t last =
	        (int64_t)(t->last >> 32) - 1; /* the row of the last entry, which is unfinished */
	KDRI_DO(KDRI_NEW(ctx, &row, t->room));
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static)
	for (int64_t r = 0; r <= last; r++)
		for (int64_t p = t->begin[r], end = r < last ? t->begin[r + 1] : t->base; p < end; p++)
			row[p] = (int32_t)r;
	memcpy(row + t->base, t->row, (size_t)(t->count - t->base) * sizeof *row);
	KDRI_FREE(ctx, t->row, t->begin);
	t->row = row;
	t->row_room = t->room;
	t->begin = NULL;
	t->base = 0;
	return KDR_OK;
}

/* Moves the entries of the slices together, slice i to at[i]. */
static kdr_status mtx_gather(kdr_context *ctx, const kdri_window *w, const kdri_mtx_header *h,
                             const kdri_slice *slices, part *parts, triples *t, int64_t *at, int64_t *total)
{
	const int64_t start = t->count, each = h->symmetry == KDRI_MTX_GENERAL ? 1 : 2;
	for (int i = 0; i < KDRI_SLICES; i++) {
		kdri_mtx_problem *problem = &parts[i].problem;
		*total += parts[i].seen;
		if (problem->what == KDRI_MTX_FINE && *total > h->declared)
			*problem = (kdri_mtx_problem){ KDRI_MTX_TOO_MANY, slices[i].begin, slices[i].begin };
		if (problem->what != KDRI_MTX_FINE)
			return kdri_mtx_report(ctx, w, h, problem);
		at[i] = t->count;
		mtx_move(t, at[i], start + each * slices[i].first, parts[i].count);
		t->count += parts[i].count;
	}
	return KDR_OK;
}

static kdr_status read_entries(kdr_context *ctx, kdri_window *w, const kdri_mtx_header *h, triples *t)
{
	kdr_status st = KDR_OK;
	kdri_slice slices[KDRI_SLICES];
	part parts[KDRI_SLICES];
	int64_t at[KDRI_SLICES], total = 0;
	const int64_t each = h->symmetry == KDRI_MTX_GENERAL ? 1 : 2;
	size_t whole;
	for (;;) {
		KDRI_TRY(kdri_window_lines(ctx, w, &whole));
		if (whole == 0)
			break;
		int64_t lines = kdri_slices_cut(ctx, w->data + w->begin, w->data + whole, slices);
		KDRI_TRY(mtx_make_room(ctx, w, h, whole, each * lines, t));
		t->base = t->begin ? t->count : 0;
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic)
		for (int i = 0; i < KDRI_SLICES; i++)
			parts[i] = mtx_parse_slice(h, &slices[i], t, t->count + each * slices[i].first);
		KDRI_TRY(mtx_gather(ctx, w, h, slices, parts, t, at, &total));
		if (t->begin && !mtx_ordered(parts, t->last))
			KDRI_TRY(mtx_keep_rows(ctx, t));
		if (t->begin)
			mtx_fill_begin(ctx, t, parts, at);
		w->line += lines;
		w->begin = whole;
	}
	if (total < h->declared)
		st = kdri_mtx_short(ctx, w, h, total);
done:
	return st;
}

/* Sorts entries that were not in order. Sums of duplicates can exceed the largest number. */
static kdr_status mtx_sort(kdr_context *ctx, const char *path, const kdri_mtx_header *h, triples *t)
{
	kdr_status st;
	KDRI_TRY(kdri_entries_to_rows(ctx, h->keep.last - h->keep.first, h->cols, &t->count, t->row, t->col,
	                              t->val, &t->begin));
	int64_t bad = t->count;
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) reduction(min : bad)
	for (int64_t p = 0; p < t->count; p++)
		if (t->val[p] - t->val[p] != 0)
			bad = KDRI_MIN(bad, p);
	if (bad < t->count && !h->keep_nonfinite)
		st = kdri_fail(ctx, KDR_ERR_DATA,
		               "%s: the entries of row %d, column %d add up to more than the largest number",
		               path, t->row[bad] + 1, t->col[bad] + 1);
done:
	return st;
}

static kdr_status read_coordinates(kdr_context *ctx, kdri_window *w, const kdri_mtx_header *h, kdr_data *data)
{
	kdr_status st;
	triples t = { 0 };
	const int64_t rows = h->keep.last - h->keep.first;
	const char *path = kdri_input_path(w->in);
	if (rows <= FREE_ROWS) /* more rows need entries before memory is allocated for them */
		KDRI_TRY(KDRI_NEW(ctx, &t.begin, rows + 1));
	KDRI_TRY(mtx_make_room(ctx, w, h, w->end, 1, &t));
	KDRI_TRY(read_entries(ctx, w, h, &t));
	if (h->rows > FREE_ROWS && h->rows / ROWS_PER_ENTRY > h->declared) {
		st = kdri_fail(
		        ctx, KDR_ERR_SIZE,
		        "%s: declares %lld rows, but only %lld entries; at most %d rows per entry are allowed",
		        path, (long long)h->rows, (long long)h->declared, ROWS_PER_ENTRY);
		goto done;
	}
	kdri_window_close(ctx, w);
	if (t.begin)
		begin_rows(t.begin, t.last, rows, t.count);
	else
		KDRI_TRY(mtx_sort(ctx, path, h, &t));
	kdri_free(ctx, t.row);
	t.row = NULL;
	KDRI_TRY(KDRI_GROW(ctx, &t.col, t.count));
	KDRI_TRY(KDRI_GROW(ctx, &t.val, t.count));
	data->kind = KDR_MAT_CSR;
	data->rows = rows;
	data->cols = h->cols;
	data->rowptr = t.begin;
	data->col = t.col;
	data->val = t.val;
	t = (triples){ 0 };
done:
	KDRI_FREE(ctx, t.row, t.col, t.val, t.begin);
	return st;
}

kdr_status kdri_mtx_read(kdr_context *ctx, kdri_input *in, const kdr_read_options *options, kdr_data *data)
{
	kdr_status st;
	kdri_window w = { 0 };
	kdri_mtx_header h = { 0 };
	h.may_be_empty = kdri_may_be_empty(options);
	KDRI_TRY(kdri_window_open(ctx, in, &w));
	KDRI_TRY(read_header(ctx, &w, &h));
	h.keep_nonfinite = options && options->keep_nonfinite;
	h.keep = kdri_range_of(options, h.rows);
	if (h.array && options && options->parts > 0) {
		st = kdri_fail(ctx, KDR_ERR_UNSUPPORTED,
		               "%s: a dense (array) file cannot be read in parts; convert it to .npy",
		               kdri_input_path(in));
		goto done;
	}
	KDRI_TRY(kdri_range_note(ctx, options, h.keep, h.rows, data));
	KDRI_TRY(h.array ? kdri_mtx_read_array(ctx, &w, &h, data) : read_coordinates(ctx, &w, &h, data));
done:
	kdri_window_close(ctx, &w);
	return st;
}

static const char *const endings[] = { ".mtx", ".mtx.gz", NULL };

const kdri_format kdri_format_mtx = {
	.id = "mtx",
	.endings = endings,
	.parse = kdri_mtx_read,
	.write = kdri_mtx_write,
	.help = "Matrix Market, sparse (coordinate) or dense (array)",
	.parts = true,
};
