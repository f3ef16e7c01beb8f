/* Text to matrices: documents, tokens, one vocabulary for all data sets. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KINDRED_TEXT_H
#define KINDRED_TEXT_H

#include <stdbool.h>

#include "kindred/context.h"
#include "kindred/data.h"
#include "kindred/fit.h"

typedef enum kdr_corpus_kind {
	KDR_CORPUS_FOLDER, /* every file below is a document; the first sub-folder on its path is its class */
	KDR_CORPUS_LINES,  /* every line of a file is a document */
	KDR_CORPUS_TABLE,  /* a column of a CSV or TSV file */
	KDR_CORPUS_JSON    /* a field of the JSON object on each line */
} kdr_corpus_kind;

/* The documents of one data set. Files may be gzipped; "-" is standard input (not for folders). Hidden files and folders
 * (with a leading dot) are skipped. Frozen. */
typedef struct kdr_corpus {
	const char *name; /* NULL: the folder's name, or the file's stem */
	const char *path;
	kdr_corpus_kind kind;
	const char *text_field;  /* table: name or number, from 1; JSON: name. NULL: "text" */
	const char *label_field; /* the class, likewise; NULL: none */
	char delimiter;    /* table: 0 means a tab for .tsv and .tab files, else detected among , ; tab | */
	kdr_header header; /* table; automatic detection: yes unless both columns are numbers */
} kdr_corpus;

typedef enum kdr_token_class {
	KDR_TOKENS_WORDS, /* runs of Unicode letters, their combining marks and digits, with at least one letter ("covid19", "3G"); names
	                       such as C++ and C#; emojis. URLs and e-mail addresses are removed. In Chinese, Japanese and Thai, pairs
	                       of neighbouring characters */
	KDR_TOKENS_ASCII, /* runs of a-z and A-Z; everything else separates */
	KDR_TOKENS_RUNS,  /* as LETTERS, but runs in all scripts, for texts that have been cut into words */
	KDR_TOKENS_LETTERS /* runs of Unicode letters with their combining marks; in Chinese, Japanese and Thai, pairs of
	                        neighbouring characters */
} kdr_token_class;

/* How documents become columns. Zero and NULL mean the default. */
typedef struct kdr_text_options {
	size_t size;
	bool strip_html;        /* remove tags, comments, scripts and styles; decode entities */
	bool strip_mail;        /* remove mail, news or HTTP headers, up to the first blank line */
	bool keep_subject;      /* with strip_mail: keep the text of the Subject */
	bool keep_case;         /* no Unicode case folding */
	kdr_token_class tokens; /* default KDR_TOKENS_WORDS */
	int64_t min_length;     /* of a token in characters, before stemming; default 2 */
	int64_t max_length;     /* default 40, at most 255 */
	const char *
	        stopwords; /* NULL or "none"; "auto": of the detected languages; else names of the 15 languages and files with
	                             one word per line, separated by commas: "english,german" */
	const char *
	        stemmer; /* NULL or "none"; "auto": of the detected languages; a Snowball stemmer such as "porter" or "english";
	                             or languages separated by commas: each text gets the stemmer of its language, and the
	                             most frequent one of its data set if the language is uncertain */
	int64_t ngram_min;    /* default 1 */
	int64_t ngram_max;    /* default 1, at most 3 */
	int64_t min_df;       /* keep terms that occur in at least N documents; default 1 */
	double min_df_share;  /* ... in at least this share of all documents; default 0 */
	int64_t max_df;       /* keep terms that occur in at most N documents; 0: no limit */
	double max_df_share;  /* ... in at most this share of all documents; default 1 */
	int64_t max_features; /* keep the N terms with the highest document frequency; 0: all */
	bool binary;          /* 1 for each term of a document instead of its count */
	const char *
	        vocabulary; /* a features.txt whose lines are the columns, in this order; the limits on document
	                           frequency and max_features are then not used */
	bool drop_empty;    /* skip documents without any term of the vocabulary */
	bool detect; /* choose what is not specified from the texts, as kdr_read_tasks does: stopwords and stemmer "auto"; strip_mail
	                  (with keep_subject) and strip_html if most documents have headers or tags; min_df 2, and 3 from 1,000
	                  documents on (1 below 20). Columns are called by the most frequent word of each stem */
	bool keep_mail; /* detect: never strip_mail */
	bool keep_html; /* detect: never strip_html */
	const char *const *
	        terms; /* the columns, in this order, as `vocabulary` does; with a stemmer each stands for its stem */
	int64_t nterms;
	const char *
	        stems; /* with `terms` and several languages: a term, a tab, its stem, a tab and so on, for terms whose stem is
	                        not that of the first language. Models have it */
	const char *
	        vectors; /* a file of word vectors as text (word2vec, GloVe, fastText .vec; may be gzipped) or NULL: if texts are short,
	                      rows are means of the vectors of their words, weighted by idf, and the counts explain them
	                      (kdr_data_explain) */
} kdr_text_options;
KDR_DEFINE_INIT(kdr_text_options)

/* Sets one option by its name on the command line and a text, such as ("min-df", "5%") or ("strip-mail", "1"). The text must outlive
 * `options`. Cost: O(1). */
KDR_API kdr_status kdr_text_options_set(kdr_context *ctx, kdr_text_options *options, const char *name,
                                        const char *value);

/* Statistics of all documents together. Frozen. */
typedef struct kdr_text_stats {
	int64_t documents; /* read */
	int64_t dropped;   /* skipped because they are empty */
	int64_t not_utf8;  /* not valid UTF-8, and read as Windows-1252 (Latin-1) instead */
	int64_t bytes;     /* of the documents as read */
	int64_t tokens;    /* after length limits and stop words */
	int64_t terms;     /* distinct terms, before the vocabulary was limited */
} kdr_text_stats;

/* Counts the terms of `count` corpora over one vocabulary. out[t] gets a sparse data set with feature names, row names (relative
 * path, or line number) and, if known, classes. Columns are in decreasing order of document frequency over all data sets, ties
 * in byte order; the result does not depend on the number of threads or on the order in which the system lists a folder.
 * `options` and `stats` may be NULL. Free each out[t] with kdr_data_free.
 * Cost: O(bytes + terms log terms) time, O(nnz + terms) memory. */
KDR_API kdr_status kdr_vectorize(kdr_context *ctx, const kdr_corpus *corpora, int64_t count,
                                 const kdr_text_options *options, kdr_data **out, kdr_text_stats *stats);

#endif
