/* Documents read together, and a sample of all. SPDX-License-Identifier: BSD-3-Clause */
#include "text/text.h"

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
static kdr_status count_documents(kdr_context *ctx, const kdr_corpus *what, int64_t *out)
{
	kdr_status st;
	kdri_corpus *corpus = NULL;
	kdri_document d;
	bool more = true;
	KDRI_TRY(kdri_corpus_open(ctx, what, NULL, &corpus));
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

kdr_status kdri_batch_sample(kdr_context *ctx, kdri_batch *b, const kdr_corpus *corpora, int64_t count)
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
		KDRI_TRY(count_documents(ctx, &corpora[t], &total));
		KDRI_TRY(kdri_corpus_open(ctx, &corpora[t], NULL, &corpus));
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
