/* SVMlight / LIBSVM: reading. SPDX-License-Identifier: BSD-3-Clause
 *
 * A line is "label index:value index:value ... # comment"; "qid:n" after the label is skipped. The first line determines
 * whether there are labels. Indices count from 1, or from 0 if a 0 occurs anywhere. They may come in any order, but not
 * twice. Explicit zeros are dropped, though the largest index of all still sets the number of columns. Blank lines are
 * skipped. */
#include <stdio.h>

#include "io/text.h"

enum trouble { FINE, NO_PAIR, INDEX, NO_VALUE, NOT_FINITE, TWICE, SEVERAL, LABEL_MISSING, LABEL_EXTRA };

typedef struct problem {
	enum trouble what;
	const char *line, *at;
} problem;

typedef struct note {
	uint32_t label, length; /* where the label begins, from the window's data */
} note;

typedef struct rows {
	int64_t *size; /* entries of each row */
	int64_t count, row_room;
	int32_t *col; /* indices as written */
	double *val;
	int64_t entries, entry_room;
	note *notes;
	int64_t note_room;
	int64_t *labels;
	kdri_names classes;
	int64_t low, high;
} rows;

/* What one slice found. */
typedef struct part {
	int64_t colons, first; /* pairs at most, and those of the slices before */
	int64_t rows, entries;
	int64_t low, high; /* smallest and largest index */
	problem bad;
} part;

static inline bool at_end(const char *p)
{
	return *p == '#' || kdri_at_newline(p);
}

static inline bool at_token_end(const char *p)
{
	return kdri_is_blank(*p) || at_end(p);
}

static const char *token_end(const char *p)
{
	while (!at_token_end(p) && *p != '\n')
		p++;
	return p;
}

static bool is_qid(const char *p)
{
	return strncmp(p, "qid:", 4) == 0;
}

/* One pair at p; NULL with *what and *at set if it is none. */
static inline const char *parse_pair(const char *p, const char *end, int64_t *index, double *value,
                                     enum trouble *what, const char **at)
{
	const char *start = p;
	int64_t k = 0;
	*at = p;
	for (; (unsigned char)(*p - '0') < 10 && p - start < 18; p++)
		k = k * 10 + (*p - '0');
	*what = NO_PAIR;
	if (p == start || *p != ':')
		return NULL;
	*what = INDEX;
	if (k >= INT32_MAX)
		return NULL;
	*at = ++p;
	*what = NO_VALUE;
	p = kdri_parse_double(p, end, value);
	if (!p || !at_token_end(p))
		return NULL;
	*what = NOT_FINITE;
	if (*value - *value != 0)
		return NULL;
	*what = FINE;
	*index = k;
	return p;
}

/* The pairs of one line from p on. Returns where the line ends, or NULL with here->bad set. */
static const char *parse_pairs(const char *line, const char *p, const char *end, int32_t *col, double *val,
                               int64_t *count, part *here)
{
	int64_t n = 0, index = 0;
	bool sorted = true;
	for (p = kdri_skip_blanks(p); !at_end(p); p = kdri_skip_blanks(p)) {
		enum trouble what;
		const char *at;
		double value = 0;
		if (is_qid(p)) {
			p = token_end(p);
			continue;
		}
		p = parse_pair(p, end, &index, &value, &what, &at);
		if (!p) {
			here->bad = (problem){ what, line, at };
			return NULL;
		}
		here->low = KDRI_MIN(here->low, index);
		here->high = KDRI_MAX(here->high, index);
		/* Zeros are kept until duplicates have been searched. */
		sorted &= n == 0 || index > col[n - 1];
		col[n] = (int32_t)index;
		val[n++] = value;
	}
	if (!sorted) {
		kdri_entries_sort_row(n, col, val);
		for (int64_t i = 1; i < n; i++)
			if (col[i] == col[i - 1]) {
				here->bad = (problem){ TWICE, line, line };
				return NULL;
			}
	}
	*count = 0;
	for (int64_t i = 0; i < n; i++)
		if (val[i] != 0) {
			col[*count] = col[i];
			val[(*count)++] = val[i];
		}
	return p;
}

static void svmlight_parse_slice(const kdri_slice *s, bool labelled, const rows *r, const char *base,
                                 part *here)
{
	int64_t row = r->count + s->first;
	int32_t *col = r->col + r->entries + here->first;
	double *val = r->val + r->entries + here->first;
	for (const char *p = s->begin; p < s->end;) {
		const char *line = kdri_skip_blanks(p);
		p = line;
		if (!at_end(p)) {
			const char *stop = token_end(p);
			bool label = !memchr(p, ':', (size_t)(stop - p));
			bool several = label && memchr(p, ',', (size_t)(stop - p));
			note *n = &r->notes[s->first + here->rows];
			if (several || label != labelled) {
				here->bad = (problem){ several    ? SEVERAL
					               : labelled ? LABEL_MISSING
					                          : LABEL_EXTRA,
					               line, p };
				return;
			}
			*n = (note){ (uint32_t)(p - base), (uint32_t)(stop - p) };
			int64_t *size = &r->size[row + here->rows];
			p = parse_pairs(line, label ? stop : p, s->end, col + here->entries,
			                val + here->entries, size, here);
			if (!p)
				return;
			here->entries += *size;
			here->rows++;
		}
		p = (const char *)memchr(p, '\n', (size_t)(s->end - p)) + 1;
	}
}

static kdr_status svmlight_report(kdr_context *ctx, const kdri_window *w, const problem *x)
{
	static const char *const words[] = {
		[NO_PAIR] = "is not an index:value pair",
		[INDEX] = "is an index above 2147483646",
		[NO_VALUE] = "is not a number",
		[NOT_FINITE] = "is not a finite number",
		[SEVERAL] = "has several labels; one per line is allowed",
		[LABEL_MISSING] = "is not a label, but the first line has one",
		[LABEL_EXTRA] = "is a label, but the first line has none",
	};
	const char *path = kdri_input_path(w->in);
	long long line = w->line + kdri_count_byte(w->data + w->begin, x->line, '\n') + 1;
	kdr_status status = x->what == NOT_FINITE ? KDR_ERR_DATA
	                    : x->what == SEVERAL  ? KDR_ERR_UNSUPPORTED
	                                          : KDR_ERR_FORMAT;
	int length = (int)KDRI_MIN(token_end(x->at) - x->at, 40);
	if (x->what == TWICE)
		return kdri_fail(ctx, status, "%s: line %lld: an index occurs twice", path, line);
	return kdri_fail(ctx, status, "%s: line %lld: '%.*s' %s", path, line, length, x->at, words[x->what]);
}

static kdr_status svmlight_make_room(kdr_context *ctx, const kdri_window *w, size_t whole, int64_t lines,
                                     int64_t pairs, bool labelled, rows *r)
{
	if (lines > r->note_room) {
		KDRI_DO(KDRI_GROW(ctx, &r->notes, lines));
		r->note_room = lines;
	}
	if (r->count + lines > r->row_room || !r->size) {
		int64_t room = kdri_window_foresee(w, whole, r->count + lines);
		KDRI_DO(KDRI_GROW(ctx, &r->size, room + 1));
		if (labelled)
			KDRI_DO(KDRI_GROW(ctx, &r->labels, room));
		r->row_room = room;
	}
	if (r->entries + pairs > r->entry_room || !r->col) {
		int64_t room = kdri_window_foresee(w, whole, r->entries + pairs);
		KDRI_DO(KDRI_GROW_RESULT(ctx, &r->col, room));
		KDRI_DO(KDRI_GROW_RESULT(ctx, &r->val, room));
		r->entry_room = room;
	}
	return KDR_OK;
}

/* Closes the gaps that blank lines and zeros left before part `s`, and keeps its labels. */
static kdr_status take_part(kdr_context *ctx, const kdri_window *w, const kdri_slice *s, const part *p,
                            int64_t row_start, int64_t entry_start, bool labelled, rows *r)
{
	memmove(r->size + r->count, r->size + row_start + s->first, (size_t)p->rows * sizeof *r->size);
	memmove(r->col + r->entries, r->col + entry_start + p->first, (size_t)p->entries * sizeof *r->col);
	memmove(r->val + r->entries, r->val + entry_start + p->first, (size_t)p->entries * sizeof *r->val);
	for (int64_t i = 0; labelled && i < p->rows; i++) {
		const note *n = &r->notes[s->first + i];
		KDRI_DO(kdri_names_add(ctx, &r->classes, w->data + n->label, n->length,
		                       &r->labels[r->count + i]));
	}
	r->count += p->rows;
	r->entries += p->entries;
	r->low = KDRI_MIN(r->low, p->low);
	r->high = KDRI_MAX(r->high, p->high);
	return KDR_OK;
}

static kdr_status read_window(kdr_context *ctx, kdri_window *w, size_t whole, bool labelled, rows *r)
{
	kdr_status st;
	kdri_slice slices[KDRI_SLICES];
	part parts[KDRI_SLICES] = { 0 };
	int64_t pairs = 0, row_start = r->count, entry_start = r->entries;
	int64_t lines = kdri_slices_cut(ctx, w->data + w->begin, w->data + whole, slices);
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic)
	for (int i = 0; i < KDRI_SLICES; i++) {
		parts[i].low = INT64_MAX;
		parts[i].colons = kdri_count_byte(slices[i].begin, slices[i].end, ':');
	}
	for (int i = 0; i < KDRI_SLICES; i++) {
		parts[i].first = pairs;
		pairs += parts[i].colons;
	}
	KDRI_TRY(svmlight_make_room(ctx, w, whole, lines, pairs, labelled, r));
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic)
	for (int i = 0; i < KDRI_SLICES; i++)
		svmlight_parse_slice(&slices[i], labelled, r, w->data, &parts[i]);
	for (int i = 0; i < KDRI_SLICES; i++) {
		if (parts[i].bad.what != FINE) {
			st = svmlight_report(ctx, w, &parts[i].bad);
			goto done;
		}
		KDRI_TRY(take_part(ctx, w, &slices[i], &parts[i], row_start, entry_start, labelled, r));
	}
	w->line += lines;
	w->begin = whole;
done:
	return st;
}

/* Whether the first line that is not empty begins with a label; true if all are empty. */
static bool has_label(const char *p, const char *end)
{
	while (p < end) {
		p = kdri_skip_blanks(p);
		if (!at_end(p))
			return !memchr(p, ':', (size_t)(token_end(p) - p));
		p = (const char *)memchr(p, '\n', (size_t)(end - p)) + 1;
	}
	return true;
}

static kdr_status svmlight_hand_over(kdr_context *ctx, const char *path, bool labelled, rows *r,
                                     kdr_data *data)
{
	bool integers;
	int64_t base = r->low == 0 ? 0 : 1, sum = 0;
	if (r->count == 0)
		return kdri_fail(ctx, KDR_ERR_DATA, "%s: the file has no rows", path);
	if (r->low == INT64_MAX)
		return kdri_fail(ctx, KDR_ERR_DATA,
		                 "%s: the file has no features; index:value pairs are needed", path);
	if (labelled)
		KDRI_DO(kdri_names_sort_integers(ctx, &r->classes, r->labels, r->count, &integers));
	KDRI_DO(KDRI_GROW(ctx, &r->size, r->count + 1));
	KDRI_DO(KDRI_GROW(ctx, &r->col, r->entries));
	KDRI_DO(KDRI_GROW(ctx, &r->val, r->entries));
	for (int64_t p = 0; p < r->entries; p++)
		r->col[p] -= (int32_t)base;
	for (int64_t i = 0; i <= r->count; i++) {
		int64_t size = i < r->count ? r->size[i] : 0;
		r->size[i] = sum;
		sum += size;
	}
	data->kind = KDR_MAT_CSR;
	data->rows = r->count;
	data->cols = r->high + 1 - base;
	data->rowptr = r->size;
	data->col = r->col;
	data->val = r->val;
	data->labels = r->labels;
	data->classes = r->classes.names;
	data->nclasses = r->classes.count;
	r->size = r->labels = NULL;
	r->col = NULL;
	r->val = NULL;
	r->classes.names = NULL;
	return KDR_OK;
}

kdr_status kdri_svmlight_read(kdr_context *ctx, kdri_input *in, const kdr_read_options *options,
                              kdr_data *data)
{
	(void)options;
	kdr_status st;
	kdri_window w = { 0 };
	rows r = { .low = INT64_MAX };
	bool labelled = true;
	size_t whole;
	KDRI_TRY(kdri_window_open(ctx, in, &w));
	for (;;) {
		KDRI_TRY(kdri_window_lines(ctx, &w, &whole));
		if (whole == 0)
			break;
		if (r.count == 0)
			labelled = has_label(w.data + w.begin, w.data + whole);
		KDRI_TRY(read_window(ctx, &w, whole, labelled, &r));
	}
	KDRI_TRY(svmlight_hand_over(ctx, kdri_input_path(in), labelled, &r, data));
done:
	KDRI_FREE(ctx, r.size, r.col, r.val, r.notes, r.labels);
	kdri_names_free(ctx, &r.classes);
	kdri_window_close(ctx, &w);
	return st;
}

static const char *const endings[] = { ".svmlight", ".svmlight.gz", ".libsvm", ".libsvm.gz",
	                               ".svm",      ".svm.gz",      NULL };

const kdri_format kdri_format_svmlight = {
	.id = "svmlight",
	.endings = endings,
	.parse = kdri_svmlight_read,
	.write = kdri_svmlight_write,
	.help = "SVMlight or LIBSVM, sparse, with labels",
	.holds = KDR_HOLDS_LABELS,
};

/* SVMlight / LIBSVM: writing.
 *
 * Indices are one-based and zeros are omitted. The label is the name of the class, 0 if the data have no classes, "?" if
 * that of a row is unknown. If the last column is empty, the first row gets an explicit zero there, which keeps the
 * number of columns. */

static bool last_column_used(const kdr_data *d)
{
	for (int64_t i = 0; i < d->rows; i++)
		if (d->kind == KDR_MAT_DENSE
		            ? d->dense[(i + 1) * d->cols - 1] != 0
		            : d->rowptr[i + 1] > d->rowptr[i] && d->col[d->rowptr[i + 1] - 1] == d->cols - 1)
			return true;
	return false;
}

static kdr_status put_pair(kdr_context *ctx, kdri_output *out, int64_t column, double value)
{
	char text[64];
	int n = 1;
	text[0] = ' ';
	n += kdri_print_double((double)(column + 1), text + n);
	text[n++] = ':';
	n += kdri_print_double(value, text + n);
	return kdri_output_write(ctx, out, text, (size_t)n);
}

kdr_status kdri_svmlight_write(kdr_context *ctx, const char *path, const kdr_data *d, bool force)
{
	kdr_status st;
	kdri_output *out = NULL;
	for (int64_t c = 0; d->labels && c < d->nclasses; c++)
		if (d->classes[c][0] == '\0' || strpbrk(d->classes[c], " \t\r\n#:,"))
			return kdri_fail(
			        ctx, KDR_ERR_UNSUPPORTED,
			        "%s: class '%s' cannot be written; a label in this format must be one word without '#', ':' and ','",
			        path, d->classes[c]);
	KDRI_TRY(kdri_output_open(ctx, path, force, &out));
	bool widen = !last_column_used(d);
	for (int64_t i = 0; i < d->rows; i++) {
		const char *label = !d->labels ? "0" : d->labels[i] < 0 ? "?" : d->classes[d->labels[i]];
		KDRI_TRY(kdri_output_write(ctx, out, label, strlen(label)));
		if (d->kind == KDR_MAT_DENSE) {
			for (int64_t j = 0; j < d->cols; j++)
				if (d->dense[i * d->cols + j] != 0)
					KDRI_TRY(put_pair(ctx, out, j, d->dense[i * d->cols + j]));
		} else {
			for (int64_t p = d->rowptr[i]; p < d->rowptr[i + 1]; p++)
				KDRI_TRY(put_pair(ctx, out, d->col[p], d->val[p]));
		}
		if (widen && i == 0)
			KDRI_TRY(put_pair(ctx, out, d->cols - 1, 0));
		KDRI_TRY(kdri_output_write(ctx, out, "\n", 1));
	}
done:
	return kdri_output_finish(ctx, out, st);
}
