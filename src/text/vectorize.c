/* kdr_vectorize: from corpora to count matrices over one vocabulary. SPDX-License-Identifier: BSD-3-Clause
 *
 * Documents are read in order, in batches of a few megabytes. A batch is split into chunks of fixed size, which become
 * tables of terms in parallel (chunk.c), and these are merged in their order: terms get their numbers, documents their
 * (term, count) pairs. When all is read the columns are chosen, and each task's pairs become a CSR matrix by two
 * counting passes over its columns, in O(entries). Memory: the pairs (8 bytes each), the different terms, and the
 * result. */
#include "text/text.h"

#include "io/io.h"
#include "text/matrix.h"

enum { BATCH_CHUNKS = 32, CHUNK_BYTES = 1 << 17, CHUNK_DOCUMENTS = 512 };

static const char stage[] = "vectorize";

typedef struct batch {
	char *text;
	int64_t used, room;
	kdri_raw *raw;
	int64_t *offset; /* into `text`: it may move while it grows */
	int64_t count, documents_room;
	kdri_chunk chunks[BATCH_CHUNKS];
	int64_t chunk_count, chunk_bytes;
} batch;

typedef struct job {
	kdr_text_options options;
	kdri_terms *stopwords, *terms;
	const char *language;  /* detected; NULL: none */
	kdri_terms *keys;      /* fixed columns: the lookup names; NULL: their names */
	int32_t *column;       /* of each key */
	kdri_stemmer *stemmer; /* fixed columns; NULL: none */
	char *stem;
	int64_t stem_room;
	int32_t *number; /* of each local term of the chunk being merged */
	int64_t number_room;
	kdri_counts *tasks;        /* one a corpus */
	int64_t task_count, total; /* documents expected; 0: unknown */
	batch batch;
	kdr_text_stats stats;
	int64_t recoded[KDRI_CHARSETS]; /* documents in each */
	double *sizes;                  /* bytes of the files of each corpus; NULL: not known */
	double before;                  /* of the corpora that are done */
	int64_t batches;
	bool estimated, only; /* only: an estimate is all that is wanted */
	kdr_estimate estimate;
} job;

void kdri_text_resolve(kdr_text_options *o)
{
	o->min_length = o->min_length ? o->min_length : 2;
	o->max_length = o->max_length ? o->max_length : KDRI_MAX(40, o->min_length);
	o->ngram_min = o->ngram_min ? o->ngram_min : 1;
	o->ngram_max = o->ngram_max ? o->ngram_max : o->ngram_min;
	o->min_df = o->min_df || o->detect ? o->min_df : 1;
	o->max_df_share = o->max_df_share != 0 ? o->max_df_share : 1;
}

/* --- arguments -------------------------------------------------------------------------------- */

static kdr_status check_range(kdr_context *ctx, const char *name, double value, double min, double max)
{
	/* Written so that NaN fails too. */
	if (value >= min && value <= max)
		return KDR_OK;
	return kdri_fail(ctx, KDR_ERR_OPTION, "%s: %g is outside [%g, %g]", name, value, min, max);
}

static kdr_status vectorize_check(kdr_context *ctx, kdr_text_options *o)
{
	kdr_status st;
	KDRI_TRY(check_range(ctx, "min_length", (double)o->min_length, 1, 255));
	KDRI_TRY(check_range(ctx, "max_length", (double)o->max_length, (double)o->min_length, 255));
	KDRI_TRY(check_range(ctx, "ngram_min", (double)o->ngram_min, 1, 3));
	KDRI_TRY(check_range(ctx, "ngram_max", (double)o->ngram_max, (double)o->ngram_min, 3));
	KDRI_TRY(check_range(ctx, "min_df", (double)o->min_df, 0, 1e15));
	KDRI_TRY(check_range(ctx, "max_df", (double)o->max_df, 0, 1e15));
	KDRI_TRY(check_range(ctx, "min_df_share", o->min_df_share, 0, 1));
	KDRI_TRY(check_range(ctx, "max_df_share", o->max_df_share, 0, 1));
	KDRI_TRY(check_range(ctx, "max_features", (double)o->max_features, 0, INT32_MAX - 1));
	KDRI_TRY(check_range(ctx, "tokens", (double)o->tokens, 0, KDR_TOKENS_RUNS));
	if (o->vocabulary && o->terms)
		KDRI_FAIL(ctx, KDR_ERR_ARGUMENT,
		          "the columns are specified twice, as vocabulary and as terms");
	if (o->stemmer && strcmp(o->stemmer, "none") == 0)
		o->stemmer = NULL;
	if (o->stemmer)
		KDRI_TRY(kdri_stemmer_check(ctx, o->stemmer));
done:
	return st;
}

/* --- batches ------------------------------------------------------------------------------------ */

static bool has_fixed_columns(const job *j)
{
	return j->options.vocabulary || j->options.terms;
}

/* The column of a word where the columns are fixed; -1: none. */
static kdr_status find_term(kdr_context *ctx, job *j, const char *text, size_t length, uint32_t hash,
                            int32_t *out)
{
	kdr_status st = KDR_OK;
	if (j->stemmer) {
		KDRI_TRY(kdri_stem_term(ctx, j->stemmer, text, length, &j->stem, &j->stem_room, &length));
		text = j->stem;
		hash = kdri_term_hash(text, length);
	}
	*out = kdri_terms_find(j->keys ? j->keys : j->terms, text, length, hash);
	if (j->keys && *out >= 0)
		*out = j->column[*out];
done:
	return st;
}

/* The chunk's terms get their numbers, its documents their rows. */
static kdr_status merge_chunk(kdr_context *ctx, job *j, kdri_counts *task, const kdri_chunk *c)
{
	kdr_status st = KDR_OK;
	KDRI_TRY(KDRI_ROOM(ctx, &j->number, &j->number_room, c->term_count));
	for (int64_t i = 0; i < c->term_count; i++) {
		const kdri_local_term *t = &c->terms[i];
		const char *text = c->tokens.text + t->offset;
		if (has_fixed_columns(j))
			KDRI_TRY(find_term(ctx, j, text, t->length, t->hash, &j->number[i]));
		else
			KDRI_TRY(kdri_terms_add(ctx, j->terms, text, t->length, t->hash, &j->number[i]));
		if (j->number[i] >= 0)
			j->terms->terms[j->number[i]].df += t->df;
	}
	KDRI_TRY(kdri_counts_append(ctx, task, c, j->number));
	j->stats.tokens += c->token_count;
	j->stats.not_utf8 += c->not_utf8;
done:
	return st;
}

/* The memory of all texts, from those that have been read. */
static void vectorize_estimate(job *j, double read)
{
	const batch *b = &j->batch;
	const double terms = (double)j->terms->count, length = (double)j->terms->text_used;
	kdri_text_sample s = { .read = read,
		               .batch_bytes =
		                       (double)b->room + (double)b->documents_room * (8 + sizeof *b->raw) };
	for (int64_t i = 0; i < BATCH_CHUNKS; i++)
		s.batch_bytes += kdri_chunk_bytes(&b->chunks[i]);
	/* Terms with their slots and columns, and as names of the columns of each task. */
	s.term_bytes = terms * (sizeof(kdri_term) + 12 + 8) + length +
	               (double)j->task_count * (terms * (1 + sizeof(char *)) + length);
	for (int64_t t = 0; t < j->task_count; t++) {
		const kdri_counts *c = &j->tasks[t];
		s.pairs += (double)c->pair_count;
		s.document_bytes +=
		        (double)c->done * (4 * 8 + 4); /* id, excerpt, where it ends, row; class */
		for (int64_t i = 0; i < c->done; i++)
			s.document_bytes += (double)(strlen(c->ids[i]) + strlen(c->excerpts[i]) + 2);
	}
	kdri_text_estimate(&s, j->sizes, j->task_count, &j->estimate);
	j->estimated = true;
}

/* A batch is complete, and `read` bytes have been read in total: the second batch gives the estimate. */
static kdr_status vectorize_check_memory(kdr_context *ctx, job *j, double read)
{
	if (++j->batches != 2 || !j->sizes)
		return KDR_OK;
	vectorize_estimate(j, read);
	return j->only ? KDR_OK : kdri_memory_allows(ctx, stage, &j->estimate);
}

/* Documents with fewer characters beyond ASCII are judged together. */
enum { FEW_CHARACTERS = 16 };

/* The character sets of the documents that are not UTF-8. */
static void find_charsets(batch *b)
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

/* Where the documents are, now that the text does not move any more, and what they are written in. */
static kdr_status batch_place(kdr_context *ctx, batch *b)
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

static kdr_status vectorize_flush(kdr_context *ctx, job *j, kdri_counts *task)
{
	kdr_status st = KDR_OK;
	batch *b = &j->batch;
	if (b->count == 0)
		return KDR_OK;
	KDRI_TRY(batch_place(ctx, b));
	for (int64_t d = 0; d < b->count; d++)
		j->recoded[b->raw[d].charset]++;
	KDRI_TRY(kdri_chunks_run(ctx, &j->options, j->stopwords, b->raw, b->chunks, b->chunk_count));
	for (int64_t i = 0; i < b->chunk_count; i++)
		KDRI_TRY(merge_chunk(ctx, j, task, &b->chunks[i]));
	b->count = b->used = b->chunk_count = 0;
	if (kdri_iteration(ctx, stage, j->stats.documents, j->total, NAN))
		st = kdri_fail(ctx, KDR_ERR_READ, "stopped after %lld documents",
		               (long long)j->stats.documents);
done:
	return st;
}

static kdr_status add_document(kdr_context *ctx, batch *b, const kdri_document *d)
{
	kdr_status st = KDR_OK;
	KDRI_TRY(KDRI_ROOM(ctx, &b->text, &b->room, b->used + (int64_t)d->length));
	if (b->count == b->documents_room) {
		int64_t room = 2 * b->documents_room + CHUNK_DOCUMENTS;
		KDRI_TRY(KDRI_GROW(ctx, &b->raw, room));
		KDRI_TRY(KDRI_GROW(ctx, &b->offset, room));
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
done:
	return st;
}

/* The next document would need one chunk more than available. */
static bool is_full(const batch *b)
{
	return b->chunk_count == BATCH_CHUNKS &&
	       (b->chunks[BATCH_CHUNKS - 1].count == CHUNK_DOCUMENTS || b->chunk_bytes >= CHUNK_BYTES);
}

static kdr_status read_corpus(kdr_context *ctx, job *j, kdri_corpus *corpus, kdri_counts *task)
{
	kdr_status st;
	kdri_document d;
	bool more;
	for (;;) {
		KDRI_TRY(kdri_corpus_next(ctx, corpus, &d, &more));
		if (!more)
			break;
		KDRI_TRY(kdri_counts_document(ctx, task, &d));
		KDRI_TRY(add_document(ctx, &j->batch, &d));
		j->stats.documents++;
		j->stats.bytes += (int64_t)d.length;
		if (is_full(&j->batch)) {
			KDRI_TRY(vectorize_flush(ctx, j, task));
			KDRI_TRY(
			        vectorize_check_memory(ctx, j, j->before + (double)kdri_corpus_read(corpus)));
			if (j->only && j->estimated)
				return KDR_OK;
		}
	}
	KDRI_TRY(vectorize_flush(ctx, j, task));
done:
	return st;
}

/* --- all steps ---------------------------------------------------------------------------------- */

static void job_free(kdr_context *ctx, job *j)
{
	if (!j)
		return;
	kdri_terms_free(ctx, j->stopwords);
	kdri_terms_free(ctx, j->terms);
	kdri_terms_free(ctx, j->keys);
	kdri_free(ctx, j->column);
	kdri_stemmer_free(ctx, j->stemmer);
	KDRI_FREE(ctx, j->stem, j->number);
	for (int64_t t = 0; j->tasks && t < j->task_count; t++)
		kdri_counts_free(ctx, &j->tasks[t]);
	KDRI_FREE(ctx, j->tasks, j->sizes, j->batch.text, j->batch.raw, j->batch.offset);
	for (int i = 0; i < BATCH_CHUNKS; i++)
		kdri_chunk_free(ctx, &j->batch.chunks[i]);
	kdri_free(ctx, j);
}

/* Columns that are fixed beforehand. A term represents its stem; a term from a file may also be a stem itself. */
static kdr_status fix_columns(kdr_context *ctx, job *j)
{
	kdr_status st;
	const kdr_text_options *o = &j->options;
	int32_t id;
	size_t n;
	if (o->vocabulary) {
		KDRI_TRY(kdri_vocabulary_read(ctx, o->vocabulary, &j->terms));
	} else {
		KDRI_TRY(kdri_terms_new(ctx, &j->terms));
		for (int64_t i = 0; i < o->nterms; i++) {
			n = strlen(o->terms[i]);
			KDRI_TRY(kdri_terms_add(ctx, j->terms, o->terms[i], n, kdri_term_hash(o->terms[i], n),
			                        &id));
			if (id != i)
				KDRI_FAIL(ctx, KDR_ERR_ARGUMENT, "terms: '%.60s' occurs twice", o->terms[i]);
		}
	}
	if (!o->stemmer)
		goto done;
	KDRI_TRY(kdri_stemmer_new(ctx, o->stemmer, &j->stemmer));
	KDRI_TRY(kdri_terms_new(ctx, &j->keys));
	KDRI_TRY(KDRI_NEW(ctx, &j->column, 2 * j->terms->count));
	for (int pass = o->vocabulary ? 0 : 1; pass < 2; pass++)
		for (int32_t i = 0; i < j->terms->count; i++) {
			const kdri_term *t = &j->terms->terms[i];
			const char *text = j->terms->text + t->offset;
			int64_t before = j->keys->count;
			n = t->length;
			if (pass == 1) {
				KDRI_TRY(kdri_stem_term(ctx, j->stemmer, text, n, &j->stem, &j->stem_room,
				                        &n));
				text = j->stem;
			}
			KDRI_TRY(kdri_terms_add(ctx, j->keys, text, n, kdri_term_hash(text, n), &id));
			if (id == before)
				j->column[id] = i;
		}
done:
	return st;
}

/* --- settings chosen from the texts ---------------------------------------------------------------- */

/* Documents of each corpus that are inspected, and bytes of each. */
enum { SAMPLE_DOCUMENTS = 200, SAMPLE_BYTES = 1 << 14 };

/* Fills the batch with documents from all corpora that can be read twice. */
static kdr_status sample_texts(kdr_context *ctx, batch *b, const kdr_corpus *corpora, int64_t count)
{
	kdr_status st = KDR_OK;
	kdri_corpus *corpus = NULL;
	kdri_document d;
	bool more = true;
	for (int64_t t = 0; t < count && !is_full(b); t++) {
		if (!kdri_corpus_can_reopen(&corpora[t]))
			continue;
		KDRI_TRY(kdri_corpus_open(ctx, &corpora[t], &corpus));
		const int64_t step = kdri_corpus_total(corpus) / SAMPLE_DOCUMENTS;
		for (int i = 0; i < SAMPLE_DOCUMENTS && !is_full(b); i++) {
			KDRI_TRY(kdri_corpus_next(ctx, corpus, &d, &more));
			if (!more)
				break;
			if (d.length > SAMPLE_BYTES)
				for (d.length = SAMPLE_BYTES; d.length > SAMPLE_BYTES - 3; d.length--)
					if (((unsigned char)d.text[d.length] & 0xc0) != 0x80)
						break;
			KDRI_TRY(add_document(ctx, b, &d));
			kdri_corpus_skip(corpus, step - 1);
		}
		kdri_corpus_close(ctx, corpus);
		corpus = NULL;
	}
	KDRI_TRY(batch_place(ctx, b));
done:
	kdri_corpus_close(ctx, corpus);
	return st;
}

static bool is_auto(const kdr_text_options *o, const char *value)
{
	return value ? strcmp(value, "auto") == 0 : o->detect;
}

static const char *stemmer_of(const char *language)
{
	const char *const *names = kdri_stemmer_names();
	for (int i = 0; language && names[i]; i++)
		if (strcmp(names[i], language) == 0)
			return names[i];
	return NULL;
}

/* Completes the options by what the texts are: their language, mail, HTML. */
static kdr_status vectorize_detect(kdr_context *ctx, job *j, const kdr_corpus *corpora, int64_t count)
{
	kdr_status st = KDR_OK;
	kdr_text_options *o = &j->options,
	                 plain = { .max_length = 40, .min_length = 1, .ngram_min = 1, .ngram_max = 1 };
	batch *b = &j->batch;
	const bool stop = is_auto(o, o->stopwords), stem = is_auto(o, o->stemmer);
	int64_t mail = 0, html = 0;
	int language;
	if (!o->detect && !stop && !stem)
		return KDR_OK;
	KDRI_TRY(sample_texts(ctx, b, corpora, count));
	for (int64_t i = 0; i < b->count; i++) {
		mail += kdri_mail_likely(b->raw[i].text, b->raw[i].length);
		html += kdri_html_likely(b->raw[i].text, b->raw[i].length);
	}
	if (o->detect && !o->keep_mail && !o->strip_mail && 2 * mail > b->count)
		o->strip_mail = o->keep_subject = true;
	if (o->detect && !o->keep_html && !o->strip_html && 2 * html > b->count)
		o->strip_html = true;
	plain.tokens = kdri_unicode_known ? o->tokens : KDR_TOKENS_ASCII;
	plain.strip_mail = o->strip_mail;
	plain.keep_subject = o->keep_subject;
	plain.strip_html = o->strip_html;
	KDRI_TRY(kdri_chunks_run(ctx, &plain, NULL, b->raw, b->chunks, b->chunk_count));
	KDRI_TRY(kdri_language_find(ctx, b->chunks, b->chunk_count, &language));
	j->language = kdri_language_name(language);
	if (stop)
		o->stopwords = j->language;
	if (stem)
		o->stemmer = stemmer_of(j->language);
	b->count = b->used = b->chunk_count = 0;
done:
	return st;
}

/* Rare words give little information about other documents, but few documents have only rare words. */
static int64_t least_documents(int64_t documents)
{
	return documents < 20 ? 1 : documents < 1000 ? 2 : 3;
}

/* A summary for the user. */
static void describe_texts(const job *j, char *out, size_t room)
{
	const kdr_text_options *o = &j->options;
	const bool stop = j->stopwords != NULL;
	char language[40] = "";
	if (j->language)
		kdri_snprintf(language, sizeof language, " in %c%s", j->language[0] - 32, j->language + 1);
	kdri_snprintf(out, room, "texts%s (%s%s)", language,
	              stop ? "stop words removed" : "no stop words removed",
	              o->stemmer ? ", words counted by stem" : "");
	if (o->strip_mail)
		kdri_list_add(out, room, "headers removed%s", o->keep_subject ? " except the Subject" : "");
	if (o->strip_html)
		kdri_list_add(out, room, "HTML tags removed");
	if (!has_fixed_columns(j) && o->min_df > 1)
		kdri_list_add(out, room, "words in fewer than %lld documents removed", (long long)o->min_df);
	for (int e = KDRI_GB18030; e < KDRI_CHARSETS; e++)
		if (j->recoded[e] > 0)
			kdri_list_add(out, room, "%lld of %lld read as %s", (long long)j->recoded[e],
			              (long long)j->stats.documents, kdri_charset_name((kdri_charset)e));
	if (j->stats.not_utf8 > 0)
		kdri_list_add(out, room, "%lld of %lld not UTF-8: read as Windows-1252",
		              (long long)j->stats.not_utf8, (long long)j->stats.documents);
}

/* The number of bytes to read, if known for all corpora. */
static kdr_status measure_files(kdr_context *ctx, job *j, kdri_corpus *const *opened)
{
	kdr_status st = KDR_OK;
	for (int64_t t = 0; t < j->task_count; t++)
		if (kdri_corpus_size(opened[t]) < 0)
			return KDR_OK;
	KDRI_TRY(KDRI_NEW(ctx, &j->sizes, j->task_count));
	for (int64_t t = 0; t < j->task_count; t++)
		j->sizes[t] = (double)kdri_corpus_size(opened[t]);
done:
	return st;
}

static kdr_status read_all(kdr_context *ctx, job *j, const kdr_corpus *corpora, int64_t count)
{
	kdr_status st;
	kdri_corpus **opened = NULL;
	kdri_stage_start(ctx, stage, 0);
	KDRI_TRY(kdri_calloc(ctx, &opened, count, sizeof(kdri_corpus *)));
	/* All are opened before any is read: a wrong name shows at once, and totals are known. */
	for (int64_t t = 0; t < count; t++) {
		KDRI_TRY(kdri_corpus_open(ctx, &corpora[t], &opened[t]));
		j->total += kdri_corpus_total(opened[t]);
	}
	for (int64_t t = 0; t < count; t++)
		if (corpora[t].kind != KDR_CORPUS_FOLDER)
			j->total = 0;
	KDRI_TRY(measure_files(ctx, j, opened));
	for (int64_t t = 0; t < count && !(j->only && j->estimated); t++) {
		KDRI_TRY(read_corpus(ctx, j, opened[t], &j->tasks[t]));
		j->before += j->sizes ? j->sizes[t] : 0;
		kdri_corpus_close(ctx, opened[t]);
		opened[t] = NULL;
	}
done:
	kdri_stage_end(ctx, stage);
	for (int64_t t = 0; opened && t < count; t++)
		kdri_corpus_close(ctx, opened[t]);
	kdri_free(ctx, opened);
	return st;
}

static kdr_status job_new(kdr_context *ctx, const kdr_corpus *corpora, int64_t count,
                          const kdr_text_options *options, job **out)
{
	kdr_status st;
	job *j = NULL;
	if (count < 1)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT,
		                 "no documents were given; at least one data set is needed");
	KDRI_TRY(KDRI_NEW0(ctx, &j, 1));
	KDRI_TRY(KDRI_TAKE(ctx, kdr_text_options, options, &j->options));
	kdri_text_resolve(&j->options);
	KDRI_TRY(vectorize_detect(ctx, j, corpora, count));
	KDRI_TRY(vectorize_check(ctx, &j->options));
	KDRI_TRY(KDRI_NEW0(ctx, &j->tasks, count));
	j->task_count = count;
	KDRI_TRY(kdri_stopwords(ctx, &j->options, &j->stopwords));
	KDRI_TRY(has_fixed_columns(j) ? fix_columns(ctx, j) : kdri_terms_new(ctx, &j->terms));
	*out = j;
	j = NULL;
done:
	job_free(ctx, j);
	return st;
}

kdr_status kdr_estimate_bytes_vectorize(kdr_context *ctx, const kdr_corpus *corpora, int64_t count,
                                        const kdr_text_options *options, kdr_estimate *out)
{
	kdr_status st;
	job *j = NULL;
	KDRI_NEED(ctx, corpora && out);
	KDRI_TRY(job_new(ctx, corpora, count, options, &j));
	j->only = true;
	KDRI_TRY(read_all(ctx, j, corpora, count));
	if (!j->sizes)
		KDRI_FAIL(ctx, KDR_ERR_UNSUPPORTED,
		          "the size of the texts is unknown (standard input), so memory cannot be estimated");
	if (!j->estimated)
		vectorize_estimate(j, j->before); /* few: all of them are read */
	*out = j->estimate;
done:
	job_free(ctx, j);
	return st;
}

/* The columns, and the name of each: term name[i] of *names. */
static kdr_status choose_columns(kdr_context *ctx, job *j, kdri_term_columns *columns, kdri_terms **stems,
                                 int32_t **name)
{
	kdr_status st;
	int32_t *form = NULL;
	const kdri_terms *terms = j->terms;
	if (has_fixed_columns(j)) {
		KDRI_TRY(kdri_term_columns_all(ctx, terms, columns));
	} else {
		kdr_text_options *o = &j->options;
		if (o->stemmer) {
			KDRI_TRY(kdri_stems_merge(ctx, o->stemmer, terms, j->tasks, j->task_count, stems,
			                          &form));
			terms = *stems;
		}
		const bool choose = o->min_df == 0 && o->min_df_share == 0;
		if (choose)
			o->min_df = least_documents(j->stats.documents);
		KDRI_TRY(kdri_term_columns_select(ctx, terms, j->stats.documents, o, columns));
		if (choose && columns->count == 0 && o->min_df > 1) {
			o->min_df = 1;
			kdri_term_columns_free(ctx, columns);
			KDRI_TRY(kdri_term_columns_select(ctx, terms, j->stats.documents, o, columns));
		}
	}
	j->stats.terms = terms->count;
	KDRI_TRY(KDRI_NEW(ctx, name, columns->count));
	for (int64_t i = 0; i < columns->count; i++)
		(*name)[i] = form && j->options.detect ? form[columns->term[i]] : columns->term[i];
done:
	kdri_free(ctx, form);
	return st;
}

kdr_status kdr_vectorize(kdr_context *ctx, const kdr_corpus *corpora, int64_t count,
                         const kdr_text_options *options, kdr_data **out, kdr_text_stats *stats)
{
	kdr_status st;
	job *j = NULL;
	kdr_data **made = NULL;
	kdri_term_columns columns = { NULL, NULL, 0 };
	kdri_terms *stems = NULL;
	int32_t *name = NULL;
	char note[400];
	KDRI_NEED(ctx, corpora && out);
	KDRI_TRY(job_new(ctx, corpora, count, options, &j));
	KDRI_TRY(kdri_calloc(ctx, &made, count, sizeof(kdr_data *)));
	KDRI_TRY(read_all(ctx, j, corpora, count));
	if (j->stats.documents == 0)
		KDRI_FAIL(ctx, KDR_ERR_DATA, "%s: contains no documents", corpora[0].path);
	KDRI_TRY(choose_columns(ctx, j, &columns, &stems, &name));
	if (columns.count == 0)
		KDRI_FAIL(
		        ctx, KDR_ERR_DATA,
		        "no term remains of %lld in %lld documents; lower min_df, raise max_df or widen the range of term lengths",
		        (long long)j->stats.terms, (long long)j->stats.documents);
	describe_texts(j, note, sizeof note);
	for (int e = KDRI_GB18030; e < KDRI_CHARSETS; e++)
		if (j->recoded[e] > 0 && !j->options.detect)
			kdri_warning(ctx, "%lld of %lld documents are not UTF-8: read as %s",
			             (long long)j->recoded[e], (long long)j->stats.documents,
			             kdri_charset_name((kdri_charset)e));
	for (int64_t t = 0; t < count; t++) {
		KDRI_TRY(kdri_counts_finish(ctx, &corpora[t], &j->tasks[t],
		                            stems && !j->options.detect ? stems : j->terms, name, &columns,
		                            &j->options, &made[t], &j->stats.dropped));
		KDRI_TRY(kdri_text_settings_write(ctx, &j->options, j->stopwords, &made[t]->texts));
		if (j->options.detect)
			KDRI_TRY(kdri_strdup(ctx, note, &made[t]->texts_note));
	}
	memcpy(out, made, (size_t)count * sizeof(kdr_data *));
	memset(made, 0, (size_t)count * sizeof(kdr_data *));
	if (stats)
		*stats = j->stats;
done:
	for (int64_t t = 0; made && t < count; t++)
		kdr_data_free(made[t]);
	kdri_free(ctx, made);
	kdri_term_columns_free(ctx, &columns);
	kdri_terms_free(ctx, stems);
	kdri_free(ctx, name);
	job_free(ctx, j);
	return st;
}
