/* kdr_vectorize: from corpora to count matrices over one vocabulary. SPDX-License-Identifier: BSD-3-Clause
 *
 * Documents are read in order, in batches of a few megabytes. A batch is cut into chunks of fixed size,
 * which become tables of terms side by side (chunk.c), and these are merged in their order: terms get
 * their numbers, documents their (term, count) pairs. When all is read the columns are chosen, and each
 * task's pairs become a CSR matrix by two counting passes over its columns, in O(entries). Memory: the
 * pairs (8 bytes each), the different terms, and the result. */
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
	kdri_stemmer **stemmers; /* one a thread; NULL: none */
	int threads;
	int32_t *number; /* of each local term of the chunk being merged */
	int64_t number_room;
	kdri_counts *tasks;        /* one a corpus */
	int64_t task_count, total; /* documents expected; 0: unknown */
	batch batch;
	kdr_text_stats stats;
	double *sizes; /* bytes of the files of each corpus; NULL: not known */
	double before; /* of the corpora that are done */
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
	o->min_df = o->min_df ? o->min_df : 1;
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
	KDRI_TRY(check_range(ctx, "tokens", (double)o->tokens, 0, KDR_TOKENS_ASCII));
	if (o->stemmer && strcmp(o->stemmer, "none") == 0)
		o->stemmer = NULL;
	if (o->stemmer)
		KDRI_TRY(kdri_stemmer_check(ctx, o->stemmer));
done:
	return st;
}

/* --- batches ------------------------------------------------------------------------------------ */

/* The chunk's terms get their numbers, its documents their rows. */
static kdr_status merge_chunk(kdr_context *ctx, job *j, kdri_counts *task, const kdri_chunk *c)
{
	kdr_status st = KDR_OK;
	KDRI_TRY(KDRI_ROOM(ctx, &j->number, &j->number_room, c->term_count));
	for (int64_t i = 0; i < c->term_count; i++) {
		const kdri_local_term *t = &c->terms[i];
		const char *text = c->tokens.text + t->offset;
		if (j->options.vocabulary)
			j->number[i] = kdri_terms_find(j->terms, text, t->length, t->hash);
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

/* A batch is done, and so many bytes have been read in all: the second one tells. */
static kdr_status vectorize_check_memory(kdr_context *ctx, job *j, double read)
{
	if (++j->batches != 2 || !j->sizes)
		return KDR_OK;
	vectorize_estimate(j, read);
	return j->only ? KDR_OK : kdri_memory_allows(ctx, stage, &j->estimate);
}

static kdr_status vectorize_flush(kdr_context *ctx, job *j, kdri_counts *task)
{
	kdr_status st = KDR_OK;
	batch *b = &j->batch;
	if (b->count == 0)
		return KDR_OK;
	for (int64_t d = 0; d < b->count; d++)
		b->raw[d].text = b->text + b->offset[d];
	KDRI_TRY(kdri_chunks_run(ctx, &j->options, j->stopwords, j->stemmers, b->raw, b->chunks,
	                         b->chunk_count));
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

/* The next document would need a chunk more than there are. */
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

/* --- the whole ---------------------------------------------------------------------------------- */

static void job_free(kdr_context *ctx, job *j)
{
	if (!j)
		return;
	kdri_terms_free(ctx, j->stopwords);
	kdri_terms_free(ctx, j->terms);
	for (int i = 0; j->stemmers && i < j->threads; i++)
		kdri_stemmer_free(ctx, j->stemmers[i]);
	kdri_free(ctx, j->stemmers);
	kdri_free(ctx, j->number);
	for (int64_t t = 0; j->tasks && t < j->task_count; t++)
		kdri_counts_free(ctx, &j->tasks[t]);
	kdri_free(ctx, j->tasks);
	kdri_free(ctx, j->sizes);
	kdri_free(ctx, j->batch.text);
	kdri_free(ctx, j->batch.raw);
	kdri_free(ctx, j->batch.offset);
	for (int i = 0; i < BATCH_CHUNKS; i++)
		kdri_chunk_free(ctx, &j->batch.chunks[i]);
	kdri_free(ctx, j);
}

static kdr_status make_stemmers(kdr_context *ctx, job *j)
{
	kdr_status st = KDR_OK;
	if (!j->options.stemmer)
		return KDR_OK;
	j->threads = ctx->threads;
	KDRI_TRY(kdri_calloc(ctx, &j->stemmers, j->threads, sizeof(kdri_stemmer *)));
	for (int i = 0; i < j->threads; i++)
		KDRI_TRY(kdri_stemmer_new(ctx, j->options.stemmer, &j->stemmers[i]));
done:
	return st;
}

/* How much there is to read, where all corpora tell. */
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

static kdr_status job_new(kdr_context *ctx, int64_t count, const kdr_text_options *options, job **out)
{
	kdr_status st;
	job *j = NULL;
	if (count < 1)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT,
		                 "no documents were given; one task at least is needed");
	KDRI_TRY(KDRI_NEW0(ctx, &j, 1));
	KDRI_TRY(KDRI_TAKE(ctx, kdr_text_options, options, &j->options));
	kdri_text_resolve(&j->options);
	KDRI_TRY(vectorize_check(ctx, &j->options));
	KDRI_TRY(KDRI_NEW0(ctx, &j->tasks, count));
	j->task_count = count;
	KDRI_TRY(kdri_stopwords(ctx, &j->options, &j->stopwords));
	KDRI_TRY(make_stemmers(ctx, j));
	KDRI_TRY(j->options.vocabulary ? kdri_vocabulary_read(ctx, j->options.vocabulary, &j->terms)
	                               : kdri_terms_new(ctx, &j->terms));
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
	KDRI_TRY(job_new(ctx, count, options, &j));
	j->only = true;
	KDRI_TRY(read_all(ctx, j, corpora, count));
	if (!j->sizes) {
		st = kdri_fail(ctx, KDR_ERR_UNSUPPORTED,
		               "the size of the texts is not known (standard input): there is no estimate");
		goto done;
	}
	if (!j->estimated)
		vectorize_estimate(j, j->before); /* few: all of them are read */
	*out = j->estimate;
done:
	job_free(ctx, j);
	return st;
}

kdr_status kdr_vectorize(kdr_context *ctx, const kdr_corpus *corpora, int64_t count,
                         const kdr_text_options *options, kdr_data **out, kdr_text_stats *stats)
{
	kdr_status st;
	job *j = NULL;
	kdr_data **made = NULL;
	kdri_term_columns columns = { NULL, NULL, 0 };
	KDRI_NEED(ctx, corpora && out);
	KDRI_TRY(job_new(ctx, count, options, &j));
	KDRI_TRY(kdri_calloc(ctx, &made, count, sizeof(kdr_data *)));
	KDRI_TRY(read_all(ctx, j, corpora, count));
	if (j->stats.documents == 0) {
		st = kdri_fail(ctx, KDR_ERR_DATA, "%s: holds no documents", corpora[0].path);
		goto done;
	}
	j->stats.terms = j->terms->count;
	KDRI_TRY(j->options.vocabulary ? kdri_term_columns_all(ctx, j->terms, &columns)
	                               : kdri_term_columns_select(ctx, j->terms, j->stats.documents,
	                                                          &j->options, &columns));
	if (columns.count == 0) {
		st = kdri_fail(
		        ctx, KDR_ERR_DATA,
		        "no term is left of %lld in %lld documents; widen min_df, max_df or the lengths",
		        (long long)j->stats.terms, (long long)j->stats.documents);
		goto done;
	}
	for (int64_t t = 0; t < count; t++)
		KDRI_TRY(kdri_counts_finish(ctx, &corpora[t], &j->tasks[t], j->terms, &columns, &j->options,
		                            &made[t], &j->stats.dropped));
	memcpy(out, made, (size_t)count * sizeof(kdr_data *));
	memset(made, 0, (size_t)count * sizeof(kdr_data *));
	if (stats)
		*stats = j->stats;
done:
	for (int64_t t = 0; made && t < count; t++)
		kdr_data_free(made[t]);
	kdri_free(ctx, made);
	kdri_term_columns_free(ctx, &columns);
	job_free(ctx, j);
	return st;
}
