/* Word vectors: short texts as means of the vectors of their words. SPDX-License-Identifier: BSD-3-Clause
 *
 * A text of few words shares none of them with most others, although they mean the same. Text i becomes
 *     (E1)  x_i = sum_w c_iw idf_w v_w / sum_w c_iw idf_w,     idf_w = log((1 + n) / (1 + df_w)) + 1
 * over the words w that have a vector. Longer texts are compared better by their words: docs/notes/embeddings.md.
 *
 * c_iw  how often word w occurs in text i   v_w  vector of w
 * n     texts of all data sets              df   texts with w
 *
 * The file is read once, through a window. Of lines whose word does not occur in the texts, only the number of fields is checked. */
#include "text/text.h"

#include "io/text.h"

#include <stdlib.h>

/* Texts are compared by vectors if the median number of known words is below this. */
enum { WORDS_ENOUGH = 11 };

typedef struct reader {
	kdri_input *in;
	const kdri_terms *terms;
	bool fold;      /* texts are in lower case */
	int64_t dim;    /* 0: not known yet */
	int64_t header; /* words according to the first line; -1: it is none */
	int64_t line, words, repeated;
	int64_t found, value_room, term_room;
	double *values; /* found x dim */
	int32_t *term;  /* of each that was found */
	int32_t *place; /* of each term among them, or -1 */
	bool *spelled;  /* of each term: its vector has its own spelling */
} reader;

/* --- lines ---------------------------------------------------------------------------------------------- */

static const char *field_end(const char *p, const char *end)
{
	while (p < end && !kdri_is_blank(*p))
		p++;
	return p;
}

static const char *next_field(const char *p, const char *end)
{
	while (p < end && kdri_is_blank(*p))
		p++;
	return p;
}

static int64_t count_fields(const char *p, const char *end)
{
	int64_t n = 0;
	for (p = next_field(p, end); p < end; p = next_field(field_end(p, end), end))
		n++;
	return n;
}

static kdr_status not_text(kdr_context *ctx, const reader *r)
{
	return kdri_fail(
	        ctx, KDR_ERR_FORMAT,
	        "%s: line %lld is not text; word vectors are read as text (word2vec text, GloVe, fastText .vec), not in a binary format",
	        kdri_input_path(r->in), (long long)r->line);
}

static bool is_number(const char *p, const char *end, double *value)
{
	return kdri_parse_double(p, end, value) == end && end > p;
}

/* The first line of word2vec and fastText files: the numbers of words and of dimensions. */
static bool take_header(reader *r, const char *p, const char *end)
{
	int64_t words, dim;
	const char *next = kdri_parse_int(p, end, &words);
	if (!next || next == end || count_fields(p, end) != 2 ||
	    kdri_parse_int(next_field(next, end), end, &dim) != end || words < 0 || dim < 1)
		return false;
	r->header = words;
	r->dim = dim;
	return true;
}

/* Some files have words with blanks; no word of the texts is one. */
static kdr_status check_fields(kdr_context *ctx, const reader *r, const char *p, const char *end,
                               bool *has_blanks)
{
	const int64_t numbers = count_fields(p, end) - 1;
	double value;
	*has_blanks = false;
	if (numbers == r->dim)
		return KDR_OK;
	if (memchr(p, '\0', (size_t)(end - p)))
		return not_text(ctx, r);
	if (numbers > r->dim) {
		for (int64_t i = numbers - r->dim; i > 0; i--)
			p = next_field(field_end(p, end), end);
		*has_blanks = !is_number(p, field_end(p, end), &value);
	}
	if (*has_blanks)
		return KDR_OK;
	return kdri_fail(
	        ctx, KDR_ERR_FORMAT, "%s: line %lld has %lld number%s after its word, expected %lld %s",
	        kdri_input_path(r->in), (long long)r->line, (long long)numbers, numbers == 1 ? "" : "s",
	        (long long)r->dim, r->header >= 0 ? "by its first line" : "as in line 1");
}

static kdr_status parse_values(kdr_context *ctx, const reader *r, const char *p, const char *end, double *out)
{
	for (int64_t j = 0; j < r->dim; j++) {
		p = next_field(p, end);
		const char *field = p;
		p = kdri_parse_double(p, end, &out[j]);
		if (!p || (p < end && !kdri_is_blank(*p)) || !isfinite(out[j]))
			return kdri_fail(ctx, KDR_ERR_FORMAT,
			                 "%s: line %lld: number %lld is '%.*s'; a finite number is expected",
			                 kdri_input_path(r->in), (long long)r->line, (long long)j + 1,
			                 (int)KDRI_MIN(field_end(field, end) - field, 40), field);
	}
	return KDR_OK;
}

/* The term that a word is, as spelled or, if texts are in lower case, in lower case; -1: none. */
static int32_t find_word(const reader *r, const char *word, size_t length, bool *spelled)
{
	char folded[256];
	int32_t id = kdri_terms_find(r->terms, word, length, kdri_term_hash(word, length));
	*spelled = id >= 0;
	if (id >= 0 || !r->fold || 4 * length + 8 > sizeof folded)
		return id;
	const size_t n = kdri_fold_word(true, word, length, folded, sizeof folded);
	return kdri_terms_find(r->terms, folded, n, kdri_term_hash(folded, n));
}

/* One line without its end. */
static kdr_status read_line(kdr_context *ctx, reader *r, const char *p, const char *end)
{
	bool has_blanks = false, spelled;
	r->line++;
	while (end > p && (kdri_is_blank(end[-1]) || end[-1] == '\r'))
		end--;
	if (r->line == 1 && take_header(r, p, end))
		return KDR_OK;
	if (p == end || kdri_is_blank(*p)) /* empty, or its word is a blank */
		return KDR_OK;
	if (r->dim == 0) {
		if (memchr(p, '\0', (size_t)(end - p)))
			return not_text(ctx, r);
		r->dim = count_fields(p, end) - 1;
		if (r->dim == 0)
			return kdri_fail(ctx, KDR_ERR_FORMAT,
			                 "%s: line %lld is '%.*s'; a word and its numbers are expected",
			                 kdri_input_path(r->in), (long long)r->line,
			                 (int)KDRI_MIN(end - p, 40), p);
	}
	const char *rest = field_end(p, end);
	if (kdri_count_byte(rest, end, ' ') != r->dim)
		KDRI_DO(check_fields(ctx, r, p, end, &has_blanks));
	r->words++;
	const int32_t id = has_blanks ? -1 : find_word(r, p, (size_t)(rest - p), &spelled);
	if (id < 0)
		return KDR_OK;
	int32_t at = r->place[id];
	if (at >= 0 && spelled == r->spelled[id])
		r->repeated += spelled;
	if (at >= 0 && (r->spelled[id] || !spelled))
		return KDR_OK;
	if (at < 0) {
		KDRI_DO(KDRI_ROOM(ctx, &r->values, &r->value_room, (r->found + 1) * r->dim));
		KDRI_DO(KDRI_ROOM(ctx, &r->term, &r->term_room, r->found + 1));
	}
	at = at < 0 ? (int32_t)r->found : at;
	KDRI_DO(parse_values(ctx, r, rest, end, r->values + at * r->dim));
	r->term[at] = id;
	r->place[id] = at;
	r->spelled[id] = spelled;
	r->found += at == r->found;
	return KDR_OK;
}

static kdr_status read_lines(kdr_context *ctx, reader *r)
{
	kdr_status st;
	kdri_window w = { 0 };
	size_t whole;
	KDRI_TRY(kdri_window_open(ctx, r->in, &w));
	for (;;) {
		KDRI_TRY(kdri_window_lines(ctx, &w, &whole));
		if (whole == 0)
			break;
		while (w.begin < whole) {
			const char *p = w.data + w.begin, *end = memchr(p, '\n', whole - w.begin);
			KDRI_TRY(read_line(ctx, r, p, end));
			w.begin += (size_t)(end - p) + 1;
		}
		w.line = r->line;
	}
done:
	kdri_window_close(ctx, &w);
	return st;
}

/* --- vectors ---------------------------------------------------------------------------------------------- */

static kdr_status check_found(kdr_context *ctx, const reader *r)
{
	const char *path = kdri_input_path(r->in);
	if (r->words == 0)
		return kdri_fail(ctx, KDR_ERR_FORMAT,
		                 "%s: has no word vectors; each line needs a word and its numbers", path);
	if (r->found == 0)
		return kdri_fail(
		        ctx, KDR_ERR_DATA,
		        "%s: none of its %lld words occurs in the texts; use vectors of the language of the texts",
		        path, (long long)r->words);
	if (r->repeated > 0)
		kdri_warning(ctx, "%s: %lld word%s of the texts occur%s again; the first vector is used",
		             path, (long long)r->repeated, r->repeated == 1 ? "" : "s",
		             r->repeated == 1 ? "s" : "");
	if (r->header >= 0 && r->header != r->words)
		kdri_warning(ctx, "%s: has %lld words, but %lld by its first line; is it complete?", path,
		             (long long)r->words, (long long)r->header);
	return KDR_OK;
}

/* The vectors that were found, with the weights of their words among `texts` texts. */
static kdr_status make_vectors(kdr_context *ctx, reader *r, int64_t texts, kdri_vectors **out)
{
	kdr_status st;
	kdri_vectors *v = NULL;
	KDRI_TRY(kdri_vectors_new(ctx, r->found, r->dim, &v));
	for (int64_t i = 0; i < r->found; i++) {
		const kdri_term *t = &r->terms->terms[r->term[i]];
		KDRI_TRY(kdri_strndup(ctx, r->terms->text + t->offset, t->length, &v->words[i]));
		v->idf[i] = log((1 + (double)texts) / (1 + (double)t->df)) + 1;
	}
	memcpy(v->values, r->values, (size_t)(r->found * r->dim) * sizeof *v->values);
	*out = v;
	v = NULL;
done:
	kdri_vectors_release(v);
	return st;
}

kdr_status kdri_vectors_read(kdr_context *ctx, kdri_input *in, const kdri_terms *terms, bool fold,
                             int64_t texts, kdri_vectors **out, int32_t **place)
{
	kdr_status st;
	reader r = { .in = in, .terms = terms, .fold = fold, .header = -1 };
	KDRI_TRY(KDRI_NEW(ctx, &r.place, terms->count));
	KDRI_TRY(KDRI_NEW0(ctx, &r.spelled, terms->count));
	for (int64_t i = 0; i < terms->count; i++)
		r.place[i] = -1;
	KDRI_TRY(read_lines(ctx, &r));
	KDRI_TRY(check_found(ctx, &r));
	KDRI_TRY(make_vectors(ctx, &r, texts, out));
	*place = r.place;
	r.place = NULL;
done:
	KDRI_FREE(ctx, r.values, r.term, r.place, r.spelled);
	return st;
}

/* --- texts ------------------------------------------------------------------------------------------------ */

/* How many words of each text have a vector; returns the median. */
static double median_known(const kdri_counts *tasks, int64_t count, const int32_t *place, double *known,
                           int64_t *none)
{
	int64_t n = 0;
	for (int64_t t = 0; t < count; t++)
		for (int64_t i = 0, p = 0; i < tasks[t].rows; i++, n++)
			for (known[n] = 0; p < tasks[t].end[i]; p++)
				if (place[tasks[t].pairs[p].term] >= 0)
					known[n] += tasks[t].pairs[p].count;
	for (int64_t i = 0; i < n; i++)
		*none += known[i] == 0;
	qsort(known, (size_t)n, sizeof *known, kdri_compare_doubles);
	return (known[(n - 1) / 2] + known[n / 2]) / 2;
}

/* (E1); texts without a known word stay zero. */
static kdr_status embed_texts(kdr_context *ctx, const kdri_vectors *v, const int32_t *place, bool binary,
                              const kdri_counts *c, double **out)
{
	int64_t size;
	double *x = NULL;
	KDRI_DO(kdri_mul(ctx, c->rows, v->dim, &size));
	KDRI_DO(KDRI_NEW0(ctx, &x, size));
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static)
	for (int64_t i = 0; i < c->rows; i++) {
		double *row = x + i * v->dim, total = 0;
		for (int64_t p = i > 0 ? c->end[i - 1] : 0; p < c->end[i]; p++) {
			const int32_t w = place[c->pairs[p].term];
			if (w < 0)
				continue;
			const double weight = (binary ? 1 : c->pairs[p].count) * v->idf[w];
			total += weight;
			for (int64_t j = 0; j < v->dim; j++)
				row[j] += weight * v->values[w * v->dim + j];
		}
		for (int64_t j = 0; j < v->dim && total > 0; j++)
			row[j] /= total;
	}
	*out = x;
	return KDR_OK;
}

/* Says how texts are compared, and why. */
static void embedding_note(kdri_embedding *e, const kdri_terms *terms, double median)
{
	int64_t words = 0;
	for (int64_t i = 0; i < terms->count; i++)
		words += !memchr(terms->text + terms->terms[i].offset, ' ', terms->terms[i].length);
	if (e->rows)
		kdri_snprintf(
		        e->note, sizeof e->note,
		        "word vectors, because the median text has %g word%s with a vector (from %d on, words are better); without a vector: %lld of %lld words, %lld of %lld texts",
		        median, median == 1 ? "" : "s", WORDS_ENOUGH, (long long)(words - e->vectors->count),
		        (long long)words, (long long)e->none, (long long)e->texts);
	else
		kdri_snprintf(
		        e->note, sizeof e->note,
		        "words, because the median text has %g words with a vector (below %d, vectors are better)",
		        median, WORDS_ENOUGH);
}

kdr_status kdri_embedding_new(kdr_context *ctx, const char *path, kdri_vectors *given,
                              const kdr_text_options *options, const kdri_terms *terms,
                              const kdri_counts *tasks, int64_t count, kdri_embedding *out)
{
	kdr_status st;
	kdri_input *in = NULL;
	kdri_embedding e = { .count = count };
	int32_t *place = NULL;
	double *known = NULL, median = 0;
	for (int64_t t = 0; t < count; t++)
		e.texts += tasks[t].rows;
	if (given) { /* its words are the terms */
		e.vectors = kdri_vectors_share(given);
		KDRI_TRY(KDRI_NEW(ctx, &place, terms->count));
		for (int32_t i = 0; i < terms->count; i++)
			place[i] = i;
	} else {
		KDRI_TRY(kdri_input_open(ctx, path, &in));
		KDRI_TRY(kdri_vectors_read(ctx, in, terms, !options->keep_case, e.texts, &e.vectors, &place));
	}
	KDRI_TRY(KDRI_NEW(ctx, &known, e.texts));
	median = median_known(tasks, count, place, known, &e.none);
	if (given || median < WORDS_ENOUGH) {
		KDRI_TRY(kdri_calloc(ctx, &e.rows, count, sizeof(double *)));
		for (int64_t t = 0; t < count; t++)
			KDRI_TRY(embed_texts(ctx, e.vectors, place, options->binary, &tasks[t], &e.rows[t]));
	}
	if (!given)
		embedding_note(&e, terms, median);
	*out = e;
	e = (kdri_embedding){ 0 };
done:
	kdri_embedding_free(ctx, &e);
	kdri_input_close(ctx, in);
	KDRI_FREE(ctx, place, known);
	return st;
}

kdr_status kdri_embedding_give(kdr_context *ctx, kdri_embedding *e, int64_t t, kdr_data *d)
{
	kdr_status st;
	kdr_data *view = NULL;
	double *x = e->rows[t];
	const int64_t dim = e->vectors->dim;
	KDRI_TRY(kdr_data_view(ctx, d, NULL, &view));
	for (int64_t i = 0; d->origin && i < d->rows; i++) /* without texts that were dropped */
		memmove(x + i * dim, x + d->origin[i] * dim, (size_t)dim * sizeof *x);
	kdri_free(ctx, view->texts_note);
	view->texts_note = NULL;
	view->borrowed = false; /* it takes over the counts */
	kdri_strings_free(&d->allocator, d->features, d->cols);
	d->features = NULL;
	d->rowptr = NULL;
	d->col = NULL;
	d->val = NULL;
	d->kind = KDR_MAT_DENSE;
	d->cols = dim;
	d->dense = x;
	e->rows[t] = NULL;
	d->vectors = kdri_vectors_share(e->vectors);
	d->view = view;
done:
	return st;
}

void kdri_embedding_free(kdr_context *ctx, kdri_embedding *e)
{
	for (int64_t t = 0; e->rows && t < e->count; t++)
		kdri_free(ctx, e->rows[t]);
	kdri_free(ctx, e->rows);
	kdri_vectors_release(e->vectors);
	*e = (kdri_embedding){ 0 };
}
