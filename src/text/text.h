/* Documents, tokens, vocabularies: what the files of text/ share. SPDX-License-Identifier: BSD-3-Clause
 *
 * A document passes through decoding -> mail -> html -> tokenise -> terms. The steps between bytes and tokens allocate
 * nothing (they run inside parallel regions) and bound their output by their input. */
#ifndef KDRI_TEXT_TEXT_H
#define KDRI_TEXT_TEXT_H

#include "core/internal.h"
#include "core/utf8.h"
#include "io/io.h"

/* --- html.c: headers ---------------------------------------------------------------------------- */

/* Leaves the body in text[*begin ..]. The Subject, if requested, is written to `subject` (room for `length` bytes);
 * returns its length. Text that does not begin with a header is treated as body. */
size_t kdri_mail_strip(const char *text, size_t length, bool keep_subject, size_t *begin, char *subject);

/* Whether a text begins with at least two fields that mail, news or HTTP headers have. */
bool kdri_mail_likely(const char *text, size_t length);

/* --- html.c, html.c: markup ----------------------------------------------------------------- */

/* Writes the visible text; `out` needs `length` bytes. Returns the number of bytes written. */
size_t kdri_html_strip(const char *text, size_t length, char *out);
/* Whether a text is a page of HTML, judged by its first 4 kB. */
bool kdri_html_likely(const char *text, size_t length);

/* --- recode.c, or text/absent_iconv.c -------------------------------------------------------------- */

/* KDR_OK if texts can be converted. */
kdr_status kdri_recode_check(kdr_context *ctx, kdri_charset from);
/* Writes UTF-8; `out` needs 3 x length bytes. Invalid bytes become U+FFFD. False: out of memory. */
bool kdri_recode_text(kdri_charset from, const char *text, size_t length, char *out, size_t *written);

/* --- tokenise.c: the first words, for people ------------------------------------------------------ */

/* Characters of an excerpt, and room for it: four bytes each at most, an ellipsis, and the end. */
enum { KDRI_EXCERPT = 120, KDRI_EXCERPT_ROOM = 4 * KDRI_EXCERPT + 4 };
/* Writes the beginning of valid UTF-8 on one line: runs of spaces, line breaks and invisible characters become one
 * space. Returns its length. */
size_t kdri_excerpt(const char *text, size_t length, char *out);

/* --- vocabulary.c: terms and their numbers ------------------------------------------------------ */

/* A set of strings, numbered in order of addition. Lookups may run in parallel. */
typedef struct kdri_term {
	uint64_t offset; /* into `text` */
	uint32_t length, hash;
	int64_t df; /* number of documents that contain it, counted by the caller */
} kdri_term;

typedef struct kdri_terms {
	char *text;
	kdri_term *terms;
	int32_t *slots; /* open addressing; -1: free */
	int64_t text_used, text_room, count, room, slot_count;
} kdri_terms;

uint32_t kdri_term_hash(const char *text, size_t length);
kdr_status kdri_terms_new(kdr_context *ctx, kdri_terms **out);
void kdri_terms_free(kdr_context *ctx, kdri_terms *terms);
/* -1: not found. */
int32_t kdri_terms_find(const kdri_terms *terms, const char *text, size_t length, uint32_t hash);
kdr_status kdri_terms_add(kdr_context *ctx, kdri_terms *terms, const char *text, size_t length, uint32_t hash,
                          int32_t *id);

/* The columns: which term is which, and their names. */
typedef struct kdri_term_columns {
	int32_t *of_term; /* column of each term, -1: none */
	int32_t *term;    /* term of each column */
	int64_t count;
} kdri_term_columns;
/* Selects terms by document frequency among `documents` documents and orders them. */
kdr_status kdri_term_columns_select(kdr_context *ctx, const kdri_terms *terms, int64_t documents,
                                    const kdr_text_options *options, kdri_term_columns *out);
/* All terms, in order of addition. */
kdr_status kdri_term_columns_all(kdr_context *ctx, const kdri_terms *terms, kdri_term_columns *out);
void kdri_term_columns_free(kdr_context *ctx, kdri_term_columns *columns);

/* --- detect.c -------------------------------------------------------------------------------- */

/* The prefix of a value of `stopwords` that is a list of words separated by spaces. */
#define KDRI_LISTED "words:"
/* The words to remove as specified by `options`; NULL for none. */
kdr_status kdri_stopwords(kdr_context *ctx, const kdr_text_options *options, kdri_terms **out);
/* Reads the terms of a features.txt, one per line. */
kdr_status kdri_vocabulary_read(kdr_context *ctx, const char *path, kdri_terms **out);

/* --- stem.c, or text/absent_stemmer.c ---------------------------------------------------------------- */

typedef struct kdri_stemmer kdri_stemmer;
/* Returns KDR_OK for the name of a stemmer; the error lists the available ones. */
kdr_status kdri_stemmer_check(kdr_context *ctx, const char *name);
/* A stemmer must not be used by two threads at the same time. */
kdr_status kdri_stemmer_new(kdr_context *ctx, const char *name, kdri_stemmer **out);
void kdri_stemmer_free(kdr_context *ctx, kdri_stemmer *stemmer);
/* The stem of a word of *length bytes; valid until the next call. NULL: out of memory. */
const char *kdri_stem(kdri_stemmer *stemmer, const char *word, size_t *length);
/* Writes the stems of the words of a term, separated by spaces, to *out of *room bytes, which grows. vocabulary.c */
kdr_status kdri_stem_term(kdr_context *ctx, kdri_stemmer *stemmer, const char *text, size_t length,
                          char **out, int64_t *room, size_t *written);

/* The number of languages that have stop words: languages.c. */
enum { KDRI_LANGUAGES = 15 };

/* Words that are processed before the next question. */
enum { KDRI_RUNS_BETWEEN = 1 << 15 };
/* Whether the caller wants to stop reading texts: for loops over their bytes, which may be many in one text. */
static inline bool kdri_text_stops(kdr_context *ctx)
{
	return ctx && ctx->writing == 0 && kdri_leave_off(ctx, "read", 0, 0);
}

/* --- tokenise.c --------------------------------------------------------------------------------- */

/* Tokens of one document after the other, each followed by one space: the n-gram of tokens i .. i+n-1
 * is the slice from start[i] to start[i + n] - 1. */
typedef struct kdri_tokens {
	char *text;
	uint32_t *start; /* count + 1 are set */
	int64_t text_used, text_room, count, room;
	int32_t hits[KDRI_LANGUAGES]; /* stop words of each language */
	kdr_context *ctx;             /* asked whether to stop; or NULL */
} kdri_tokens;

typedef enum kdri_tokenise_result {
	KDRI_TOKENS_DONE,
	KDRI_TOKENS_FULL,
	KDRI_TOKENS_NO_UNICODE, /* letters beyond ASCII, in a build without utf8proc */
	KDRI_TOKENS_STOPPED
} kdri_tokenise_result;

/* Appends the tokens of valid UTF-8, and adds to out->hits the stop words of `languages` (kdri_languages.words; NULL: not
 * counted). FULL: a larger `out` is needed. */
kdri_tokenise_result kdri_tokenise(const kdr_text_options *options, const kdri_terms *stopwords,
                                   const kdri_terms *languages, const char *text, size_t length,
                                   kdri_tokens *out);

/* --- tokenise.c: words that are not only letters ------------------------------------------------- */

/* Whether a term has nothing but emojis. */
bool kdri_only_emojis(const char *term);

/* --- unicode.c, or text/absent_utf8proc.c ------------------------------------------------------------- */

/* Whether letters beyond ASCII can be distinguished from other characters. */
extern const bool kdri_unicode_known;

/* The role of a character beyond ASCII: it separates words, continues a word, or starts a word. */
typedef enum kdri_character_role { KDRI_SEPARATES, KDRI_CONTINUES, KDRI_STARTS } kdri_character_role;
/* The role and the bytes of the character at p. */
kdri_character_role kdri_character(const char *p, const char *end, int *bytes);

/* Characters of a folded run; the longest token has 255 characters, and longer runs are dropped. */
enum { KDRI_RUN_MAX = 1024 };
/* Folds and composes a run that is not plain ASCII into `run` (room for KDRI_RUN_MAX + 1), as UTF-8; returns its bytes, 0
 * if it is too long (or empty: nothing but invisible characters). */
size_t kdri_fold_run(bool lowercase, const char *text, size_t length, int32_t *run);
/* One word as the tokeniser would spell it (case folded, composed). `room` of 4 x length + 8 always
 * does; returns its length. */
size_t kdri_fold_word(bool lowercase, const char *text, size_t length, char *out, size_t room);

/* --- corpus.c, corpus.c: documents one by one -------------------------------------------------- */

typedef struct kdri_document {
	const char *text; /* valid until the next document is read */
	size_t length;
	const char *id; /* its name, or the number of its line */
	size_t id_length;
	const char *label, *task; /* NULL: unknown, or not asked for */
	size_t label_length, task_length;
} kdri_document;

/* Columns of tables and fields of JSON lines beyond those of kdr_corpus: with the names of documents, and with the data set
 * that each belongs to. NULL: none. */
typedef struct kdri_corpus_roles {
	const char *id, *task;
	kdri_vectors *vectors; /* with options.terms, which are its words: of a model; or NULL */
	const char *skip_rows; /* of a table, as in kdr_read_options */
	const char *only; /* with task: other documents than those of this data set are skipped; or NULL */
} kdri_corpus_roles;
typedef struct kdri_corpus kdri_corpus;
/* `roles` may be NULL. */
kdr_status kdri_corpus_open(kdr_context *ctx, const kdr_corpus *what, const kdri_corpus_roles *roles,
                            kdri_corpus **out);
/* How a table is written, after its last document was read; nothing for other kinds. */
kdri_dialect kdri_corpus_dialect(const kdri_corpus *corpus);
/* *more is false after the last document. */
kdr_status kdri_corpus_next(kdr_context *ctx, kdri_corpus *corpus, kdri_document *document, bool *more);
/* Skips documents. */
kdr_status kdri_corpus_skip(kdr_context *ctx, kdri_corpus *corpus, int64_t count);
/* Whether it can be read a second time, as pipes cannot. */
bool kdri_corpus_can_reopen(const kdr_corpus *what);
int64_t kdri_corpus_total(const kdri_corpus *corpus); /* documents, 0 if not known yet */
/* Bytes of its files that have been read. */
int64_t kdri_corpus_read(const kdri_corpus *corpus);
/* The default name of the task: the name of the folder, or the stem of the file. */
kdr_status kdri_corpus_name(kdr_context *ctx, const kdr_corpus *what, char **out);
void kdri_corpus_close(kdr_context *ctx, kdri_corpus *corpus);

/* Lines of a file, or records that hold line breaks within quotes. */
typedef struct kdri_records kdri_records;
kdr_status kdri_records_open(kdr_context *ctx, const char *path, kdri_records **out);
/* Whether these are the rows of a sheet of a workbook, as CSV. */
bool kdri_is_book(const char *path);
/* delimiter 0: plain lines, else records with quoted fields. The record, without its line end, may
 * be changed in place and is valid until the next call; *line is where it begins, from 1. */
kdr_status kdri_records_next(kdr_context *ctx, kdri_records *records, char delimiter, char **record,
                             size_t *length, int64_t *line, bool *more);
void kdri_records_close(kdr_context *ctx, kdri_records *records);
/* Removes the quotes of the field at `begin` in place and returns its length. *next is the beginning of the following
 * field, NULL after the last. */
size_t kdri_record_field(char *begin, const char *end, char delimiter, char **field, char **next);

typedef struct kdri_chunk kdri_chunk;

/* --- languages.c ---------------------------------------------------------------------------------- */

/* The languages that have stop words, by number; NULL beyond the last. */
const char *kdri_language_name(int language);
/* The number of a language; -1: unknown. */
int kdri_language_number(const char *name, size_t length);
/* Adds the stop words of a language; bit `language` of their df is set. */
kdr_status kdri_language_words(kdr_context *ctx, int language, kdri_terms *to);

/* --- detect.c: the languages of texts --------------------------------------------------------------- */

/* The languages of a collection, the main one first. */
typedef struct kdri_languages {
	int count, of[KDRI_LANGUAGES];
	kdri_terms *
	        words; /* their stop words, marked by kdri_language_words; NULL: texts are not distinguished */
} kdri_languages;

/* Finds the languages of the documents in the chunks, judged by the fraction of stop words among their words. */
kdr_status kdri_languages_find(kdr_context *ctx, const kdri_chunk *chunks, int64_t count,
                               kdri_languages *out);
/* The languages of a list such as "english,german"; false if a part of it is unknown. */
bool kdri_languages_parse(const char *list, kdri_languages *out);
/* Writes such a list. `room` of KDRI_LANGUAGES_ROOM always does. */
enum { KDRI_LANGUAGES_ROOM = 12 * KDRI_LANGUAGES };
void kdri_languages_list(const kdri_languages *languages, const char *separator, char *out, size_t room);
/* Fails with a message that a name in the value of an option is unknown; `known` is what else may be given. */
kdr_status kdri_language_unknown(kdr_context *ctx, const char *option, const char *name, const char *known);
/* Makes `words`, if there are at least two languages. */
kdr_status kdri_languages_prepare(kdr_context *ctx, kdri_languages *languages);
/* The language of a text, as a position in `of`; -1: uncertain. */
int kdri_languages_of_text(const kdri_languages *languages, const int32_t *hits);

/* --- chunk.c: many documents side by side ------------------------------------------------------- */

typedef struct kdri_pair {
	int32_t term, count;
} kdri_pair;

typedef struct kdri_local_term {
	uint32_t offset, length, hash;
	int32_t df;
	int64_t last; /* pair of the last document that contains it */
} kdri_local_term;

/* A run of documents with its own tables, so that chunks can be processed in parallel. They are merged in their order,
 * so that the result does not depend on the number of threads. */
struct kdri_chunk {
	int64_t first, count;  /* documents */
	char *plain, *visible; /* one document: decoded; without headers and markup */
	int64_t plain_room;
	char *excerpts;   /* KDRI_EXCERPT_ROOM bytes per document */
	int8_t *language; /* of each document, see kdri_languages_of_text */
	kdri_tokens tokens;
	kdri_local_term *terms;
	int32_t *slots;
	int64_t term_count, term_room, slot_count;
	kdri_pair *pairs; /* local terms of each document in turn */
	int64_t *pair_end;
	int64_t pair_count, pair_room, pair_end_room;
	int64_t token_count, not_utf8;
	unsigned wants; /* the buffer that was too small */
	bool done;
};

typedef struct kdri_raw {
	const char *text;
	size_t length;
	kdri_charset charset; /* if it is not UTF-8; KDRI_CHARSET_NONE: Windows-1252 */
} kdri_raw;

/* Processes all chunks in parallel; chunk c has documents first .. first + count - 1 of `raw`. */
kdr_status kdri_chunks_run(kdr_context *ctx, const kdr_text_options *options, const kdri_terms *stopwords,
                           const kdri_languages *languages, const kdri_raw *raw, kdri_chunk *chunks,
                           int64_t count);
void kdri_chunk_free(kdr_context *ctx, kdri_chunk *chunk);

/* --- chunk.c: documents read together -------------------------------------------------------------- */

enum { KDRI_BATCH_CHUNKS = 32 };
typedef struct kdri_batch {
	char *text;
	int64_t used, room;
	kdri_raw *raw;
	int64_t *offset; /* into `text`: it may move while it grows */
	int64_t count, documents_room;
	kdri_chunk chunks[KDRI_BATCH_CHUNKS];
	int64_t chunk_count, chunk_bytes;
} kdri_batch;

kdr_status kdri_batch_add(kdr_context *ctx, kdri_batch *batch, const kdri_document *document);
/* The next document would need one chunk more than available. */
bool kdri_batch_full(const kdri_batch *batch);
/* Sets where the documents are, now that the text does not move any more, and what they are encoded in. */
kdr_status kdri_batch_place(kdr_context *ctx, kdri_batch *batch);
/* Fills the batch with documents from all corpora that can be read twice, and places them. */
kdr_status kdri_batch_sample(kdr_context *ctx, kdri_batch *batch, const kdr_corpus *corpora, int64_t count,
                             const kdri_corpus_roles *roles);
/* Removes the documents, but keeps the memory. */
void kdri_batch_clear(kdri_batch *batch);
void kdri_batch_free(kdr_context *ctx, kdri_batch *batch);

/* --- settings.c ----------------------------------------------------------------------------------- */

/* Sets the options of one "name=value" per line. Texts point into *storage, which is to be freed. */
kdr_status kdri_text_settings_read(kdr_context *ctx, const char *text, kdr_text_options *options,
                                   char **storage);
/* The options that determine the terms of a document, in this form; *out is to be freed. */
kdr_status kdri_text_settings_write(kdr_context *ctx, const kdr_text_options *options,
                                    const kdri_terms *stopwords, char **out);

/* kdr_vectorize with further columns; `roles` may be NULL: vectorize.c. */
kdr_status kdri_vectorize(kdr_context *ctx, const kdr_corpus *corpora, int64_t count,
                          const kdri_corpus_roles *roles, const kdr_text_options *options, kdr_data **out,
                          kdr_text_stats *stats);
/* Replaces zeros by the defaults in the public header: vectorize.c. */
void kdri_text_resolve(kdr_text_options *options);

/* The available stemmers in byte order, ending with NULL. */
const char *const *kdri_stemmer_names(void);

/* The counts of one task, and the data set made from them. */

typedef struct kdri_counts {
	int64_t rows, rows_room;
	char **ids, **excerpts;
	int32_t *labels;  /* number of the class, -1: unknown */
	int32_t *task_of; /* the same for the data set */
	int64_t *origin;  /* if rows are dropped: those of the file that remain */
	kdri_terms *classes, *tasks;
	kdri_dialect dialect;
	int8_t *language;   /* position in the list of languages, -1: uncertain */
	int64_t done, *end; /* rows that have their pairs: row i has those up to end[i] */
	kdri_pair *pairs;   /* sorted by term; counts in the order of the text */
	int64_t pair_count, pair_room;
} kdri_counts;

/* Adds a row: id and class. Its pairs are added later, with its chunk. */
kdr_status kdri_counts_document(kdr_context *ctx, kdri_counts *counts, const kdri_document *document);
/* Adds the pairs and excerpts of a chunk's documents. number[i] is the term of local term i, -1: none. */
kdr_status kdri_counts_append(kdr_context *ctx, kdri_counts *counts, const kdri_chunk *chunk,
                              const int32_t *number);
/* Sets uncertain languages to the most frequent one of the data set, and adds to texts[i] the documents in language i. */
void kdri_counts_languages(kdri_counts *counts, int languages, int64_t *texts);
/* Merges words with the same stem: afterwards the pairs of all tasks refer to terms of *out, whose df is set. Documents in
 * language i have stemmer i; with one stemmer, all have it. form[i] is the word that represents stem i; a word that represents
 * two stems is added to `words` as "word (language)". Free *out with kdri_terms_free, *form with kdri_free. vocabulary.c */
kdr_status kdri_stems_merge(kdr_context *ctx, const char *const *stemmers, int nstemmers, kdri_terms *words,
                            kdri_counts *tasks, int64_t count, kdri_terms **out, int32_t **form);
/* The columns whose stem is not what the stemmer makes of their names, as in kdr_text_options.stems; NULL if there are none. */
kdr_status kdri_stems_list(kdr_context *ctx, const char *stemmer, const kdri_terms *names,
                           const int32_t *name, const kdri_terms *stems, const kdri_term_columns *columns,
                           char **out);
/* Makes the data set, whose column j is named after term name[j] of `names`. Takes ids and excerpts from `counts` and
 * frees its pairs. */
kdr_status kdri_counts_finish(kdr_context *ctx, const kdr_corpus *what, kdri_counts *counts,
                              const kdri_terms *names, const int32_t *name, const kdri_term_columns *columns,
                              const kdr_text_options *options, kdr_data **out, int64_t *dropped);
void kdri_counts_free(kdr_context *ctx, kdri_counts *counts);

/* --- vectors.c: texts as means of word vectors ------------------------------------------------------- */

/* Reads the vectors of those words that are terms; their idf is that among `texts` texts. place[i] is the number of the vector of term i,
 * or -1. `fold`: terms are in lower case, and a word in another case counts if the file does not have it in theirs. */
kdr_status kdri_vectors_read(kdr_context *ctx, kdri_input *in, const kdri_terms *terms, bool fold,
                             int64_t texts, kdri_vectors **out, int32_t **place);

typedef struct kdri_embedding {
	kdri_vectors *vectors;
	double **rows;              /* of each data set; NULL: texts are compared by words */
	int64_t count, texts, none; /* data sets; texts, and those without a known word */
	char note[320];             /* for the user; "" if the vectors are those of a model */
} kdri_embedding;
/* Embeds the texts of `count` data sets by the vectors in a file, or by given ones, whose words are the terms. Call it before stems
 * are merged. */
kdr_status kdri_embedding_new(kdr_context *ctx, const char *path, kdri_vectors *given,
                              const kdr_text_options *options, const kdri_terms *terms,
                              const kdri_counts *tasks, int64_t count, kdri_embedding *out);
/* Makes the rows of data set t its matrix, and the counts its view. */
kdr_status kdri_embedding_give(kdr_context *ctx, kdri_embedding *embedding, int64_t t, kdr_data *data);
void kdri_embedding_free(kdr_context *ctx, kdri_embedding *embedding);

#endif
