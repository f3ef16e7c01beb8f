/* Chunks of documents, processed in parallel. SPDX-License-Identifier: BSD-3-Clause
 *
 * Nothing is allocated inside the parallel region. A chunk that runs out of memory reports what it needs, gets twice as
 * much outside of the region, and starts again. The memory is kept, so that this happens only a few times. */
#include "text/text.h"

enum { WANTS_TOKENS = 1, WANTS_TERMS = 2, WANTS_PAIRS = 4, WANTS_UNICODE = 8, WANTS_MEMORY = 16 };

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
			c->wants |= r == KDRI_TOKENS_FULL ? WANTS_TOKENS : WANTS_UNICODE;
			return;
		}
		const uint32_t *start = c->tokens.start;
		for (int64_t i = first_token; i < c->tokens.count; i++)
			for (int64_t n = o->ngram_min; n <= o->ngram_max && i + n <= c->tokens.count; n++)
				if (!count_term(c, first_pair, start[i], start[i + n] - 1 - start[i]))
					return;
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
	for (int64_t i = 0; i < count; i++)
		KDRI_TRY(chunk_prepare(ctx, raw, &chunks[i]));
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
