/* kdr_vectorize: from corpora to count matrices over one vocabulary. SPDX-License-Identifier: BSD-3-Clause
 *
 * Documents are read in order, in batches of a few megabytes. A batch is split into chunks of fixed size, which become
 * tables of terms in parallel (chunk.c), and these are merged in their order: terms get their numbers, documents their
 * (term, count) pairs. When all is read the columns are chosen, and each task's pairs become a CSR matrix by two
 * counting passes over its columns, in O(entries). Memory: the pairs (8 bytes each), the different terms, and the
 * result. */
#include "text/text.h"

#include "io/io.h"

static const char stage[] = "vectorize";

typedef struct job {
	kdr_text_options options;
	const kdri_corpus_roles *roles; /* may be NULL */
	kdri_terms *stopwords, *terms;
	kdri_languages languages; /* detected, or those of the stemmers */
	int64_t texts[KDRI_LANGUAGES];
	char language_list[KDRI_LANGUAGES_ROOM];
	const char *stemmers[KDRI_LANGUAGES];
	int stemmer_count;
	kdri_terms *keys;  /* fixed columns: the lookup names; NULL: their names */
	int32_t *column;   /* of each key */
	kdri_terms *fixed; /* fixed columns that are looked up when the languages of all texts are known */
	kdri_stemmer *stemmer; /* fixed columns; NULL: none */
	char *stem, *stem_list;
	int64_t stem_room;
	int32_t *number; /* of each local term of the chunk being merged */
	int64_t number_room;
	kdri_counts *tasks;        /* one a corpus */
	int64_t task_count, total; /* documents expected; 0: unknown */
	kdri_batch batch;
	kdr_text_stats stats;
	int64_t recoded[KDRI_CHARSETS]; /* documents in each */
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
	return kdri_fail(ctx, KDR_ERR_OPTION, "%s: use a number from %.15g to %.15g (got %g)", name, min, max,
	                 value);
}

static kdr_status vectorize_check(kdr_context *ctx, const kdr_text_options *o)
{
	KDRI_DO(check_range(ctx, "min_length", (double)o->min_length, 1, 255));
	KDRI_DO(check_range(ctx, "max_length", (double)o->max_length, (double)o->min_length, 255));
	KDRI_DO(check_range(ctx, "ngram_min", (double)o->ngram_min, 1, 3));
	KDRI_DO(check_range(ctx, "ngram_max", (double)o->ngram_max, (double)o->ngram_min, 3));
	KDRI_DO(check_range(ctx, "min_df", (double)o->min_df, 0, 1e15));
	KDRI_DO(check_range(ctx, "max_df", (double)o->max_df, 0, 1e15));
	KDRI_DO(check_range(ctx, "min_df_share", o->min_df_share, 0, 1));
	KDRI_DO(check_range(ctx, "max_df_share", o->max_df_share, 0, 1));
	KDRI_DO(check_range(ctx, "max_features", (double)o->max_features, 0, INT32_MAX - 1));
	KDRI_DO(check_range(ctx, "tokens", (double)o->tokens, 0, KDR_TOKENS_LETTERS));
	if (o->vocabulary && o->terms)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT,
		                 "the columns are specified twice, as vocabulary and as terms");
	return KDR_OK;
}

/* The stemmers, and the languages that texts are distinguished by. */
static kdr_status vectorize_stemmers(kdr_context *ctx, job *j)
{
	kdr_text_options *o = &j->options;
	if (o->stemmer && strcmp(o->stemmer, "none") == 0)
		o->stemmer = NULL;
	if (o->stemmer && strchr(o->stemmer, ',')) {
		if (!kdri_languages_parse(o->stemmer, &j->languages))
			return kdri_language_unknown(ctx, "stemmer", o->stemmer, "none, auto, one stemmer");
		for (j->stemmer_count = 0; j->stemmer_count < j->languages.count; j->stemmer_count++)
			j->stemmers[j->stemmer_count] = kdri_language_name(j->languages.of[j->stemmer_count]);
	} else if (o->stemmer) {
		j->stemmers[j->stemmer_count++] = o->stemmer;
	}
	for (int i = 0; i < j->stemmer_count; i++)
		KDRI_DO(kdri_stemmer_check(ctx, j->stemmers[i]));
	return kdri_languages_prepare(ctx, &j->languages);
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
	if (j->stemmer) {
		KDRI_DO(kdri_stem_term(ctx, j->stemmer, text, length, &j->stem, &j->stem_room, &length));
		text = j->stem;
		hash = kdri_term_hash(text, length);
	}
	*out = kdri_terms_find(j->keys ? j->keys : j->terms, text, length, hash);
	if (j->keys && *out >= 0)
		*out = j->column[*out];
	return KDR_OK;
}

/* The chunk's terms get their numbers, its documents their rows. */
static kdr_status merge_chunk(kdr_context *ctx, job *j, kdri_counts *task, const kdri_chunk *c)
{
	KDRI_DO(KDRI_ROOM(ctx, &j->number, &j->number_room, c->term_count));
	for (int64_t i = 0; i < c->term_count; i++) {
		const kdri_local_term *t = &c->terms[i];
		const char *text = c->tokens.text + t->offset;
		if (has_fixed_columns(j) && !j->fixed)
			KDRI_DO(find_term(ctx, j, text, t->length, t->hash, &j->number[i]));
		else
			KDRI_DO(kdri_terms_add(ctx, j->terms, text, t->length, t->hash, &j->number[i]));
		if (j->number[i] >= 0)
			j->terms->terms[j->number[i]].df += t->df;
	}
	KDRI_DO(kdri_counts_append(ctx, task, c, j->number));
	j->stats.tokens += c->token_count;
	j->stats.not_utf8 += c->not_utf8;
	return KDR_OK;
}

static kdr_status vectorize_flush(kdr_context *ctx, job *j, kdri_counts *task)
{
	kdr_status st = KDR_OK;
	kdri_batch *b = &j->batch;
	if (b->count == 0)
		return KDR_OK;
	KDRI_TRY(kdri_batch_place(ctx, b));
	for (int64_t d = 0; d < b->count; d++)
		j->recoded[b->raw[d].charset]++;
	KDRI_TRY(kdri_chunks_run(ctx, &j->options, j->stopwords, j->languages.words ? &j->languages : NULL,
	                         b->raw, b->chunks, b->chunk_count));
	for (int64_t i = 0; i < b->chunk_count; i++)
		KDRI_TRY(merge_chunk(ctx, j, task, &b->chunks[i]));
	kdri_batch_clear(b);
	if (kdri_iteration(ctx, stage, j->stats.documents, j->total, NAN) && ctx->writing == 0)
		st = kdri_fail(ctx, KDR_ERR_READ, "stopped after %lld documents",
		               (long long)j->stats.documents);
done:
	return st;
}

static kdr_status read_corpus(kdr_context *ctx, job *j, kdri_corpus *corpus, kdri_counts *task)
{
	kdri_document d;
	bool more;
	for (;;) {
		KDRI_DO(kdri_corpus_next(ctx, corpus, &d, &more));
		if (!more)
			break;
		if (kdri_text_stops(ctx))
			return kdri_fail(ctx, KDR_ERR_READ, "stopped after %lld documents",
			                 (long long)j->stats.documents);
		KDRI_DO(kdri_counts_document(ctx, task, &d));
		KDRI_DO(kdri_batch_add(ctx, &j->batch, &d));
		j->stats.documents++;
		j->stats.bytes += (int64_t)d.length;
		if (kdri_batch_full(&j->batch))
			KDRI_DO(vectorize_flush(ctx, j, task));
	}
	KDRI_DO(vectorize_flush(ctx, j, task));
	task->dialect = kdri_corpus_dialect(corpus);
	return KDR_OK;
}

/* --- all steps ---------------------------------------------------------------------------------- */

static void job_free(kdr_context *ctx, job *j)
{
	if (!j)
		return;
	kdri_terms_free(ctx, j->stopwords);
	kdri_terms_free(ctx, j->terms);
	kdri_terms_free(ctx, j->keys);
	kdri_terms_free(ctx, j->fixed);
	kdri_terms_free(ctx, j->languages.words);
	kdri_free(ctx, j->column);
	kdri_stemmer_free(ctx, j->stemmer);
	KDRI_FREE(ctx, j->stem, j->stem_list, j->number);
	for (int64_t t = 0; j->tasks && t < j->task_count; t++)
		kdri_counts_free(ctx, &j->tasks[t]);
	kdri_batch_free(ctx, &j->batch);
	KDRI_FREE(ctx, j->tasks, j);
}

static kdr_status add_key(kdr_context *ctx, job *j, const char *text, size_t length, int32_t column)
{
	int32_t id;
	const int64_t before = j->keys->count;
	kdr_status st = kdri_terms_add(ctx, j->keys, text, length, kdri_term_hash(text, length), &id);
	if (st == KDR_OK && id == before)
		j->column[id] = column;
	return st;
}

/* A term represents its stem: the listed one, or that of the first language. A term from a file may also be a stem itself, or
 * come from another language. */
static kdr_status fix_stems(kdr_context *ctx, job *j)
{
	kdr_status st;
	const bool file = j->options.vocabulary != NULL;
	bool *listed = NULL;
	const int64_t count = j->terms->count;
	KDRI_TRY(kdri_terms_new(ctx, &j->keys));
	KDRI_TRY(KDRI_NEW(ctx, &j->column, (j->stemmer_count + 1) * count));
	KDRI_TRY(KDRI_NEW0(ctx, &listed, count));
	/* Adds the stems listed in the options; `listed` marks their columns. */
	for (const char *p = j->options.stems; p && *p;) {
		const size_t n = strcspn(p, "\t");
		const int32_t column = kdri_terms_find(j->terms, p, n, kdri_term_hash(p, n));
		p += n + (p[n] != '\0');
		const size_t m = strcspn(p, "\t");
		if (column >= 0 && !listed[column]) {
			listed[column] = true;
			KDRI_TRY(add_key(ctx, j, p, m, column));
		}
		p += m + (p[m] != '\0');
	}
	for (int pass = file ? -1 : 0; pass < (file ? j->stemmer_count : 1); pass++) {
		kdri_stemmer_free(ctx, j->stemmer);
		j->stemmer = NULL;
		KDRI_TRY(kdri_stemmer_new(ctx, j->stemmers[KDRI_MAX(pass, 0)], &j->stemmer));
		for (int32_t i = 0; i < count; i++) {
			const kdri_term *t = &j->terms->terms[i];
			const char *text = j->terms->text + t->offset;
			size_t n = t->length;
			if (listed[i])
				continue;
			if (pass >= 0) {
				KDRI_TRY(kdri_stem_term(ctx, j->stemmer, text, n, &j->stem, &j->stem_room,
				                        &n));
				text = j->stem;
			}
			KDRI_TRY(add_key(ctx, j, text, n, i));
		}
	}
done:
	kdri_free(ctx, listed);
	return st;
}

/* Columns that are fixed beforehand. */
static kdr_status fix_columns(kdr_context *ctx, job *j)
{
	const kdr_text_options *o = &j->options;
	int32_t id;
	size_t n;
	if (o->vocabulary) {
		KDRI_DO(kdri_vocabulary_read(ctx, o->vocabulary, &j->terms));
	} else {
		KDRI_DO(kdri_terms_new(ctx, &j->terms));
		for (int64_t i = 0; i < o->nterms; i++) {
			n = strlen(o->terms[i]);
			KDRI_DO(kdri_terms_add(ctx, j->terms, o->terms[i], n, kdri_term_hash(o->terms[i], n),
			                       &id));
			if (id != i)
				return kdri_fail(ctx, KDR_ERR_ARGUMENT, "terms: '%.60s' occurs twice",
				                 o->terms[i]);
		}
	}
	if (o->stemmer)
		KDRI_DO(fix_stems(ctx, j));
	if (j->stemmer_count > 1) {
		j->fixed = j->terms;
		j->terms = NULL;
		KDRI_DO(kdri_terms_new(ctx, &j->terms));
	}
	return KDR_OK;
}

/* --- settings chosen from the texts ---------------------------------------------------------------- */

static bool is_auto(const kdr_text_options *o, const char *value)
{
	return value ? strcmp(value, "auto") == 0 : o->detect;
}

static bool have_stemmers(const kdri_languages *languages)
{
	int found = 0;
	for (const char *const *name = kdri_stemmer_names(); *name; name++)
		for (int i = 0; i < languages->count; i++)
			found += strcmp(*name, kdri_language_name(languages->of[i])) == 0;
	return found > 0 && found == languages->count;
}

/* Completes the options by what the texts are: their language, mail, HTML. */
static kdr_status vectorize_detect(kdr_context *ctx, job *j, const kdr_corpus *corpora, int64_t count)
{
	kdr_text_options *o = &j->options,
	                 plain = { .max_length = 40, .min_length = 1, .ngram_min = 1, .ngram_max = 1 };
	kdri_batch *b = &j->batch;
	const bool stop = is_auto(o, o->stopwords), stem = is_auto(o, o->stemmer);
	int64_t mail = 0, html = 0;
	if (!o->detect && !stop && !stem)
		return KDR_OK;
	KDRI_DO(kdri_batch_sample(ctx, b, corpora, count, j->roles));
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
	KDRI_DO(kdri_chunks_run(ctx, &plain, NULL, NULL, b->raw, b->chunks, b->chunk_count));
	KDRI_DO(kdri_languages_find(ctx, b->chunks, b->chunk_count, &j->languages));
	kdri_languages_list(&j->languages, ",", j->language_list, sizeof j->language_list);
	if (stop)
		o->stopwords = j->languages.count > 0 ? j->language_list : NULL;
	if (stem)
		o->stemmer = have_stemmers(&j->languages) ? j->language_list : NULL;
	kdri_batch_clear(b);
	return KDR_OK;
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
	char languages[20 * KDRI_LANGUAGES + 40] = "texts";
	size_t used = 5;
	for (int i = 0; i < j->languages.count; i++) {
		const char *name = kdri_language_name(j->languages.of[i]);
		if (j->languages.words)
			used += (size_t)kdri_snprintf(languages + used, sizeof languages - used, "%s%lld",
			                              i ? ", " : ": ", (long long)j->texts[i]);
		used += (size_t)kdri_snprintf(languages + used, sizeof languages - used, "%s %c%s",
		                              j->languages.words ? "" : " in", name[0] - 32, name + 1);
	}
	kdri_snprintf(out, room, "%s (%s%s)", languages,
	              j->stopwords ? "stop words removed" : "no stop words removed",
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

static kdr_status read_all(kdr_context *ctx, job *j, const kdr_corpus *corpora, int64_t count)
{
	kdr_status st;
	kdri_corpus **opened = NULL;
	kdri_stage_start(ctx, stage, 0);
	KDRI_TRY(kdri_calloc(ctx, &opened, count, sizeof(kdri_corpus *)));
	/* All are opened before any is read: a wrong name shows at once, and totals are known. */
	for (int64_t t = 0; t < count; t++) {
		KDRI_TRY(kdri_corpus_open(ctx, &corpora[t], j->roles, &opened[t]));
		j->total += kdri_corpus_total(opened[t]);
	}
	for (int64_t t = 0; t < count; t++)
		if (corpora[t].kind != KDR_CORPUS_FOLDER)
			j->total = 0;
	for (int64_t t = 0; t < count; t++) {
		KDRI_TRY(read_corpus(ctx, j, opened[t], &j->tasks[t]));
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
                          const kdri_corpus_roles *roles, const kdr_text_options *options, job **out)
{
	kdr_status st;
	job *j = NULL;
	if (count < 1)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT,
		                 "no documents were given; at least one data set is needed");
	KDRI_TRY(KDRI_NEW0(ctx, &j, 1));
	j->roles = roles;
	KDRI_TRY(KDRI_TAKE(ctx, kdr_text_options, options, &j->options));
	kdri_text_resolve(&j->options);
	KDRI_TRY(vectorize_detect(ctx, j, corpora, count));
	KDRI_TRY(vectorize_check(ctx, &j->options));
	KDRI_TRY(vectorize_stemmers(ctx, j));
	KDRI_TRY(KDRI_NEW0(ctx, &j->tasks, count));
	j->task_count = count;
	for (int64_t t = 0; roles && roles->task && t < count; t++)
		KDRI_TRY(kdri_terms_new(ctx, &j->tasks[t].tasks)); /* even if no document names one */
	KDRI_TRY(kdri_stopwords(ctx, &j->options, &j->stopwords));
	KDRI_TRY(has_fixed_columns(j) ? fix_columns(ctx, j) : kdri_terms_new(ctx, &j->terms));
	*out = j;
	j = NULL;
done:
	job_free(ctx, j);
	return st;
}

/* The column of each stem, where the columns are fixed. */
static kdr_status find_columns(kdr_context *ctx, const job *j, const kdri_terms *stems,
                               kdri_term_columns *columns)
{
	KDRI_DO(kdri_term_columns_all(ctx, j->fixed, columns));
	KDRI_DO(KDRI_GROW(ctx, &columns->of_term, stems->count));
	for (int64_t i = 0; i < stems->count; i++) {
		const kdri_term *t = &stems->terms[i];
		const int32_t key = kdri_terms_find(j->keys, stems->text + t->offset, t->length, t->hash);
		columns->of_term[i] = key < 0 ? -1 : j->column[key];
	}
	return KDR_OK;
}

/* The columns, and the name of each: term name[i] of *names. */
static kdr_status choose_columns(kdr_context *ctx, job *j, kdri_term_columns *columns, kdri_terms **stems,
                                 int32_t **name)
{
	kdr_status st;
	int32_t *form = NULL;
	const kdri_terms *terms = j->terms;
	const bool fixed = has_fixed_columns(j);
	if (j->fixed || (!fixed && j->options.stemmer)) {
		KDRI_TRY(kdri_stems_merge(ctx, j->stemmers, j->stemmer_count, j->terms, j->tasks,
		                          j->task_count, stems, &form));
		terms = *stems;
	}
	if (j->fixed) {
		KDRI_TRY(find_columns(ctx, j, *stems, columns));
	} else if (fixed) {
		KDRI_TRY(kdri_term_columns_all(ctx, terms, columns));
	} else {
		kdr_text_options *o = &j->options;
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
	j->stats.terms = j->fixed ? j->fixed->count : terms->count;
	KDRI_TRY(KDRI_NEW(ctx, name, columns->count));
	for (int64_t i = 0; i < columns->count; i++)
		(*name)[i] = form && j->options.detect && !fixed ? form[columns->term[i]] : columns->term[i];
done:
	kdri_free(ctx, form);
	return st;
}

/* Compares the texts of data set t by vectors. Those of new texts are found by words, not by stems. */
static kdr_status use_vectors(kdr_context *ctx, const job *j, kdri_embedding *embedding, int64_t t,
                              kdr_data *data)
{
	kdr_text_options o = j->options;
	KDRI_DO(kdri_embedding_give(ctx, embedding, t, data));
	kdri_free(ctx, data->texts);
	data->texts = NULL;
	o.stemmer = o.stems = NULL;
	o.ngram_min = o.ngram_max = 1;
	return kdri_text_settings_write(ctx, &o, j->stopwords, &data->texts);
}

kdr_status kdri_vectorize(kdr_context *ctx, const kdr_corpus *corpora, int64_t count,
                          const kdri_corpus_roles *roles, const kdr_text_options *options, kdr_data **out,
                          kdr_text_stats *stats)
{
	kdr_status st;
	job *j = NULL;
	kdr_data **made = NULL;
	kdri_term_columns columns = { NULL, NULL, 0 };
	kdri_terms *stems = NULL;
	int32_t *name = NULL;
	kdri_embedding embedding = { 0 };
	kdri_vectors *given = roles ? roles->vectors : NULL;
	char note[800];
	KDRI_NEED(ctx, corpora && out);
	KDRI_TRY(job_new(ctx, corpora, count, roles, options, &j));
	KDRI_TRY(kdri_calloc(ctx, &made, count, sizeof(kdr_data *)));
	KDRI_TRY(read_all(ctx, j, corpora, count));
	if (j->stats.documents == 0)
		KDRI_FAIL(ctx, KDR_ERR_DATA, "%s: contains no documents", corpora[0].path);
	for (int64_t t = 0; j->languages.words && t < count; t++)
		kdri_counts_languages(&j->tasks[t], j->languages.count, j->texts);
	if (given || j->options.vectors)
		KDRI_TRY(kdri_embedding_new(ctx, j->options.vectors, given, &j->options, j->terms, j->tasks,
		                            count, &embedding));
	KDRI_TRY(choose_columns(ctx, j, &columns, &stems, &name));
	if (columns.count == 0)
		KDRI_FAIL(
		        ctx, KDR_ERR_DATA,
		        "no term remains of %lld in %lld documents; lower min_df, raise max_df or widen the range of term lengths",
		        (long long)j->stats.terms, (long long)j->stats.documents);
	const kdri_terms *names = has_fixed_columns(j)          ? (j->fixed ? j->fixed : j->terms)
	                          : stems && !j->options.detect ? stems
	                                                        : j->terms;
	if (stems && !j->fixed) {
		KDRI_TRY(kdri_stems_list(ctx, j->stemmers[0], names, name, stems, &columns, &j->stem_list));
		j->options.stems = j->stem_list;
	}
	describe_texts(j, note, sizeof note);
	for (int e = KDRI_GB18030; e < KDRI_CHARSETS; e++)
		if (j->recoded[e] > 0 && !j->options.detect)
			kdri_warning(ctx, "%lld of %lld documents are not UTF-8: read as %s",
			             (long long)j->recoded[e], (long long)j->stats.documents,
			             kdri_charset_name((kdri_charset)e));
	for (int64_t t = 0; t < count; t++) {
		KDRI_TRY(kdri_counts_finish(ctx, &corpora[t], &j->tasks[t], names, name, &columns,
		                            &j->options, &made[t], &j->stats.dropped));
		KDRI_TRY(kdri_text_settings_write(ctx, &j->options, j->stopwords, &made[t]->texts));
		if (embedding.rows)
			KDRI_TRY(use_vectors(ctx, j, &embedding, t, made[t]));
		if (embedding.note[0])
			KDRI_TRY(kdri_strdup(ctx, embedding.note, &made[t]->compared));
		if (j->options.detect || j->languages.words)
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
	kdri_embedding_free(ctx, &embedding);
	kdri_term_columns_free(ctx, &columns);
	kdri_terms_free(ctx, stems);
	kdri_free(ctx, name);
	job_free(ctx, j);
	return st;
}

kdr_status kdr_vectorize(kdr_context *ctx, const kdr_corpus *corpora, int64_t count,
                         const kdr_text_options *options, kdr_data **out, kdr_text_stats *stats)
{
	KDRI_NEED(ctx, corpora && out);
	return kdri_vectorize(ctx, corpora, count, NULL, options, out, stats);
}
