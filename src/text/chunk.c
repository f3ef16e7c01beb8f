/* Chunks of documents, processed in parallel. SPDX-License-Identifier: BSD-3-Clause
 *
 * Nothing is allocated inside the parallel region. A chunk that runs out of memory reports what it needs, gets twice as
 * much outside of the region, and starts again. The memory is kept, so that this happens only a few times. */
#include "text/text.h"

/* Documents read together, and a sample of all. */

enum { CHUNK_BYTES = 1 << 17, CHUNK_DOCUMENTS = 512 };

kdr_status kdri_batch_add(kdr_context *ctx, kdri_batch *b, const kdri_document *d)
{
	KDRI_DO(KDRI_ROOM(ctx, &b->text, &b->room, b->used + (int64_t)d->length));
	if (b->count == b->documents_room) {
		int64_t room = 2 * b->documents_room + CHUNK_DOCUMENTS;
		KDRI_DO(KDRI_GROW(ctx, &b->raw, room));
		KDRI_DO(KDRI_GROW(ctx, &b->offset, room));
		b->documents_room = room;
	}
	kdri_chunk *c = b->chunk_count > 0 ? &b->chunks[b->chunk_count - 1] : NULL;
	if (!c || c->count == CHUNK_DOCUMENTS || b->chunk_bytes >= CHUNK_BYTES) {
		c = &b->chunks[b->chunk_count++];
		c->first = b->count;
		c->count = 0;
		b->chunk_bytes = 0;
	}
	if (d->length > 0)
		memcpy(b->text + b->used, d->text, d->length);
	b->raw[b->count].length = d->length;
	b->offset[b->count++] = b->used;
	b->used += (int64_t)d->length;
	b->chunk_bytes += (int64_t)d->length;
	c->count++;
	return KDR_OK;
}

bool kdri_batch_full(const kdri_batch *b)
{
	return b->chunk_count == KDRI_BATCH_CHUNKS &&
	       (b->chunks[KDRI_BATCH_CHUNKS - 1].count == CHUNK_DOCUMENTS || b->chunk_bytes >= CHUNK_BYTES);
}

/* Documents with fewer characters beyond ASCII are judged together. */
enum { FEW_CHARACTERS = 16 };

/* The character sets of the documents that are not UTF-8. */
static void find_charsets(kdri_batch *b)
{
	kdri_charset_counts together = { 0 };
	int64_t short_ones = 0;
	for (int pass = 0; pass < 2; pass++) {
		const kdri_charset common = kdri_charset_find(&together);
		for (int64_t d = 0; d < b->count; d++) {
			kdri_raw *r = &b->raw[d];
			kdri_charset_counts counts = { 0 };
			r->charset = pass == 0 ? KDRI_CHARSET_NONE : r->charset;
			if ((pass == 1 && (short_ones == 0 || common == KDRI_CHARSET_NONE || r->charset)) ||
			    kdri_utf8_valid(r->text, r->length))
				continue;
			kdri_charset_count(r->text, r->length, &counts);
			const bool few = counts.of[KDRI_GB18030].pairs < FEW_CHARACTERS;
			if (pass == 0 && !few)
				r->charset = kdri_charset_find(&counts);
			if (pass == 1 && few && counts.of[common].errors == 0)
				r->charset = common;
			if (pass == 0 && few) {
				short_ones++;
				kdri_charset_count(r->text, r->length, &together);
			}
		}
	}
}

kdr_status kdri_batch_place(kdr_context *ctx, kdri_batch *b)
{
	kdr_status st = KDR_OK;
	bool seen[KDRI_CHARSETS] = { true };
	for (int64_t d = 0; d < b->count; d++)
		b->raw[d].text = b->text + b->offset[d];
	find_charsets(b);
	for (int64_t d = 0; d < b->count && st == KDR_OK; d++)
		if (!seen[b->raw[d].charset]) {
			seen[b->raw[d].charset] = true;
			st = kdri_recode_check(ctx, b->raw[d].charset);
		}
	return st;
}

void kdri_batch_clear(kdri_batch *b)
{
	b->count = b->used = b->chunk_count = 0;
}

void kdri_batch_free(kdr_context *ctx, kdri_batch *b)
{
	KDRI_FREE(ctx, b->text, b->raw, b->offset);
	for (int i = 0; i < KDRI_BATCH_CHUNKS; i++)
		kdri_chunk_free(ctx, &b->chunks[i]);
}

/* --- a sample ------------------------------------------------------------------------------------- */

/* Documents of each corpus that are inspected, and bytes of each; fewer if there are many corpora. */
enum { SAMPLE_DOCUMENTS = 200, SAMPLE_BYTES = 1 << 14, LEAST_DOCUMENTS = 20, LEAST_BYTES = 1 << 10 };
/* The sample is spread over this part of a file, because files are often sorted. */
enum { SURVEY_BYTES = 1 << 24 };

/* The number of documents that the sample of a corpus is chosen from. */
static kdr_status count_documents(kdr_context *ctx, const kdr_corpus *what, const kdri_corpus_roles *roles,
                                  int64_t *out)
{
	kdr_status st;
	kdri_corpus *corpus = NULL;
	kdri_document d;
	bool more = true;
	KDRI_TRY(kdri_corpus_open(ctx, what, roles, &corpus));
	*out = kdri_corpus_total(corpus);
	for (int64_t n = 0; what->kind != KDR_CORPUS_FOLDER && kdri_corpus_read(corpus) < SURVEY_BYTES; n++) {
		KDRI_TRY(kdri_corpus_next(ctx, corpus, &d, &more));
		if (!more)
			break;
		*out = n + 1;
	}
done:
	kdri_corpus_close(ctx, corpus);
	return st;
}

/* The bytes of a document that are kept: at most `most`, and complete characters. */
static size_t cut_length(const kdri_document *d, size_t most)
{
	size_t n = KDRI_MIN(d->length, most);
	for (; n < d->length && n > most - 3; n--)
		if (((unsigned char)d->text[n] & 0xc0) != 0x80)
			break;
	return n;
}

kdr_status kdri_batch_sample(kdr_context *ctx, kdri_batch *b, const kdr_corpus *corpora, int64_t count,
                             const kdri_corpus_roles *roles)
{
	kdr_status st = KDR_OK;
	kdri_corpus *corpus = NULL;
	kdri_document d;
	bool more = true;
	const int64_t room = (int64_t)KDRI_BATCH_CHUNKS * CHUNK_BYTES,
	              each = KDRI_MAX(KDRI_MIN(room / LEAST_BYTES / count, SAMPLE_DOCUMENTS),
	                              LEAST_DOCUMENTS),
	              bytes = KDRI_MAX(KDRI_MIN(room / (each * count), SAMPLE_BYTES), LEAST_BYTES);
	for (int64_t t = 0, total; t < count && !kdri_batch_full(b); t++) {
		if (!kdri_corpus_can_reopen(&corpora[t]))
			continue;
		KDRI_TRY(count_documents(ctx, &corpora[t], roles, &total));
		KDRI_TRY(kdri_corpus_open(ctx, &corpora[t], roles, &corpus));
		for (int i = 0; i < each && !kdri_batch_full(b); i++) {
			KDRI_TRY(kdri_corpus_next(ctx, corpus, &d, &more));
			if (!more)
				break;
			d.length = cut_length(&d, (size_t)bytes);
			KDRI_TRY(kdri_batch_add(ctx, b, &d));
			if (total > each)
				KDRI_TRY(kdri_corpus_skip(ctx, corpus,
				                          (i + 1) * total / each - i * total / each - 1));
		}
		kdri_corpus_close(ctx, corpus);
		corpus = NULL;
	}
	KDRI_TRY(kdri_batch_place(ctx, b));
done:
	kdri_corpus_close(ctx, corpus);
	return st;
}

enum {
	WANTS_TOKENS = 1,
	WANTS_TERMS = 2,
	WANTS_PAIRS = 4,
	WANTS_UNICODE = 8,
	WANTS_MEMORY = 16,
	WANTS_STOP = 32
};

static kdr_status grow_tokens(kdr_context *ctx, kdri_tokens *t, int64_t bytes)
{
	KDRI_DO(KDRI_GROW(ctx, &t->text, bytes));
	t->text_room = bytes;
	KDRI_DO(KDRI_GROW(ctx, &t->start, bytes / 4 + 2));
	t->room = bytes / 4 + 2;
	return KDR_OK;
}

static kdr_status grow_terms(kdr_context *ctx, kdri_chunk *c, int64_t slots)
{
	KDRI_DO(KDRI_GROW(ctx, &c->slots, slots));
	c->slot_count = slots;
	KDRI_DO(KDRI_GROW(ctx, &c->terms, slots / 2));
	c->term_room = slots / 2;
	return KDR_OK;
}

static kdr_status grow_pairs(kdr_context *ctx, kdri_chunk *c, int64_t room)
{
	kdr_status st = KDRI_GROW(ctx, &c->pairs, room);
	if (st == KDR_OK)
		c->pair_room = room;
	return st;
}

/* Room for a first attempt, and what one document needs at most. */
static kdr_status chunk_prepare(kdr_context *ctx, const kdri_raw *raw, kdri_chunk *c)
{
	size_t total = 0, longest = 0;
	for (int64_t d = c->first; d < c->first + c->count; d++) {
		total += raw[d].length;
		longest = KDRI_MAX(longest, raw[d].length);
	}
	int64_t decoded = 3 * (int64_t)longest + 1;
	if (decoded > c->plain_room) {
		KDRI_DO(KDRI_GROW(ctx, &c->plain, decoded));
		KDRI_DO(KDRI_GROW(ctx, &c->visible, 2 * decoded));
		c->plain_room = decoded;
	}
	if (c->count > c->pair_end_room) {
		KDRI_DO(KDRI_GROW(ctx, &c->pair_end, c->count));
		KDRI_DO(KDRI_GROW(ctx, &c->excerpts, c->count * KDRI_EXCERPT_ROOM));
		KDRI_DO(KDRI_GROW(ctx, &c->language, c->count));
		c->pair_end_room = c->count;
	}
	if ((int64_t)total / 2 > c->tokens.text_room || c->tokens.room == 0)
		KDRI_DO(grow_tokens(ctx, &c->tokens, (int64_t)total / 2 + 64));
	if (c->slot_count == 0)
		KDRI_DO(grow_terms(ctx, c, 1 << 13));
	if (c->pair_room == 0)
		KDRI_DO(grow_pairs(ctx, c, 1 << 13));
	c->done = false;
	return KDR_OK;
}

static kdr_status chunk_enlarge(kdr_context *ctx, kdri_chunk *c)
{
	if (c->wants & WANTS_MEMORY)
		return kdri_fail(ctx, KDR_ERR_MEMORY, "out of memory while converting a document to UTF-8");
	if (c->wants & WANTS_STOP)
		return kdri_fail(ctx, KDR_ERR_READ, "reading was stopped in the middle of a text");
	if (c->wants & WANTS_UNICODE)
		return kdri_absent(ctx, "a document with characters beyond ASCII", "utf8proc",
		                   "use tokens=ascii to count only words of a-z and A-Z");
	if (c->wants & WANTS_TOKENS) {
		if (c->tokens.text_room > UINT32_MAX / 4)
			return kdri_fail(ctx, KDR_ERR_SIZE, "a document has more than 4 GB of tokens");
		KDRI_DO(grow_tokens(ctx, &c->tokens, 2 * c->tokens.text_room));
	}
	if (c->wants & WANTS_TERMS) {
		if (c->slot_count > INT32_MAX / 2)
			return kdri_fail(ctx, KDR_ERR_SIZE, "a document has more than 2^29 different terms");
		KDRI_DO(grow_terms(ctx, c, 2 * c->slot_count));
	}
	if (c->wants & WANTS_PAIRS)
		KDRI_DO(grow_pairs(ctx, c, 2 * c->pair_room));
	return KDR_OK;
}

/* Counts a term of the document whose pairs begin at first_pair. */
static bool count_term(kdri_chunk *c, int64_t first_pair, uint32_t offset, uint32_t length)
{
	const char *text = c->tokens.text;
	uint32_t hash = kdri_term_hash(text + offset, length);
	int64_t mask = c->slot_count - 1, s = (int64_t)hash & mask;
	kdri_local_term *term = NULL;
	for (; c->slots[s] >= 0; s = (s + 1) & mask) {
		term = &c->terms[c->slots[s]];
		if (term->hash == hash && term->length == length &&
		    memcmp(text + term->offset, text + offset, length) == 0)
			break;
		term = NULL;
	}
	if (!term) {
		if (c->term_count == c->term_room) {
			c->wants |= WANTS_TERMS;
			return false;
		}
		c->slots[s] = (int32_t)c->term_count;
		term = &c->terms[c->term_count++];
		*term = (kdri_local_term){ offset, length, hash, 0, -1 };
	}
	if (term->last >= first_pair) {
		c->pairs[term->last].count++;
		return true;
	}
	if (c->pair_count == c->pair_room) {
		c->wants |= WANTS_PAIRS;
		return false;
	}
	term->df++;
	term->last = c->pair_count;
	c->pairs[c->pair_count++] = (kdri_pair){ (int32_t)(term - c->terms), 1 };
	return true;
}

/* The text of a document that will be tokenised, in c->plain, c->visible or where it lies. */
static const char *visible_text(const kdr_text_options *o, const kdri_raw *raw, kdri_chunk *c, size_t *length)
{
	const char *text = raw->text;
	size_t n = raw->length, begin = 0, subject = 0;
	char *free_buffer = c->visible;
	if (raw->charset != KDRI_CHARSET_NONE) {
		if (!kdri_recode_text(raw->charset, text, n, c->plain, &n))
			c->wants |= WANTS_MEMORY;
		text = c->plain;
	} else if (!kdri_utf8_valid(text, n)) {
		n = kdri_decode_1252(text, n, c->plain);
		text = c->plain;
		c->not_utf8++;
	}
	if (o->strip_mail) {
		subject = kdri_mail_strip(text, n, o->keep_subject, &begin, free_buffer);
		if (subject > 0) {
			memcpy(free_buffer + subject, text + begin, n - begin);
			text = free_buffer;
			n = subject + n - begin;
			free_buffer += n;
		} else {
			text += begin;
			n -= begin;
		}
	}
	if (o->strip_html) {
		n = kdri_html_strip(text, n, free_buffer);
		text = free_buffer;
	}
	*length = n;
	return text;
}

static void work(const kdr_text_options *o, const kdri_terms *stopwords, const kdri_languages *languages,
                 const kdri_raw *raw, kdri_chunk *c)
{
	c->tokens.text_used = c->tokens.count = 0;
	c->tokens.start[0] = 0;
	c->term_count = c->pair_count = c->not_utf8 = 0;
	c->wants = 0;
	memset(c->slots, 0xff, (size_t)c->slot_count * sizeof *c->slots);
	for (int64_t d = 0; d < c->count; d++) {
		size_t length;
		const char *text = visible_text(o, &raw[c->first + d], c, &length);
		if (c->wants)
			return;
		kdri_excerpt(text, length, c->excerpts + d * KDRI_EXCERPT_ROOM);
		int64_t first_token = c->tokens.count, first_pair = c->pair_count;
		memset(c->tokens.hits, 0, sizeof c->tokens.hits);
		kdri_tokenise_result r = kdri_tokenise(o, stopwords, languages ? languages->words : NULL,
		                                       text, length, &c->tokens);
		if (r != KDRI_TOKENS_DONE) {
			c->wants |= r == KDRI_TOKENS_FULL      ? WANTS_TOKENS
			            : r == KDRI_TOKENS_STOPPED ? WANTS_STOP
			                                       : WANTS_UNICODE;
			return;
		}
		const uint32_t *start = c->tokens.start;
		for (int64_t i = first_token; i < c->tokens.count; i++) {
			if (i % KDRI_RUNS_BETWEEN == KDRI_RUNS_BETWEEN - 1 &&
			    kdri_text_stops(c->tokens.ctx)) {
				c->wants |= WANTS_STOP;
				return;
			}
			for (int64_t n = o->ngram_min; n <= o->ngram_max && i + n <= c->tokens.count; n++)
				if (!count_term(c, first_pair, start[i], start[i + n] - 1 - start[i]))
					return;
		}
		c->pair_end[d] = c->pair_count;
		c->language[d] = languages ? (int8_t)kdri_languages_of_text(languages, c->tokens.hits) : -1;
	}
	c->token_count = c->tokens.count;
	c->done = true;
}

kdr_status kdri_chunks_run(kdr_context *ctx, const kdr_text_options *options, const kdri_terms *stopwords,
                           const kdri_languages *languages, const kdri_raw *raw, kdri_chunk *chunks,
                           int64_t count)
{
	kdr_status st;
	bool again;
	for (int64_t i = 0; i < count; i++) {
		KDRI_TRY(chunk_prepare(ctx, raw, &chunks[i]));
		chunks[i].tokens.ctx = ctx;
	}
	do {
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic, 1)
		for (int64_t i = 0; i < count; i++)
			if (!chunks[i].done)
				work(options, stopwords, languages, raw, &chunks[i]);
		again = false;
		for (int64_t i = 0; i < count; i++)
			if (!chunks[i].done) {
				KDRI_TRY(chunk_enlarge(ctx, &chunks[i]));
				again = true;
			}
	} while (again);
	st = KDR_OK;
done:
	return st;
}

void kdri_chunk_free(kdr_context *ctx, kdri_chunk *c)
{
	KDRI_FREE(ctx, c->plain, c->visible, c->excerpts, c->language, c->tokens.text, c->tokens.start,
	          c->terms, c->slots, c->pairs, c->pair_end);
	*c = (kdri_chunk){ 0 };
}
