/* Text to matrices: documents, tokens, one vocabulary over all tasks. SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef KINDRED_TEXT_H
#define KINDRED_TEXT_H

#include <stdbool.h>

#include "kindred/context.h"
#include "kindred/data.h"
#include "kindred/fit.h"

typedef enum kdr_corpus_kind {
	KDR_CORPUS_FOLDER, /* every file below is a document, the first sub-folder on its path its class */
	KDR_CORPUS_LINES,  /* every line of a file is a document */
	KDR_CORPUS_TABLE,  /* a column of a CSV or TSV file */
	KDR_CORPUS_JSON    /* a field of each line's JSON object */
} kdr_corpus_kind;

/* One task's documents. Files may be gzipped; "-" is standard input (not for folders). Hidden files
 * and folders (a leading dot) are passed over. */
typedef struct kdr_corpus {
	const char *name; /* NULL: the folder's name, or the file's stem */
	const char *path;
	kdr_corpus_kind kind;
	const char *text_field;  /* table: name or 1-based number; JSON: name. NULL: "text" */
	const char *label_field; /* the class, likewise; NULL: none */
	char delimiter;          /* table: 0: a tab where the name says .tsv or .tab, else a comma */
	kdr_header header;       /* table; find out: yes unless both columns are numbers */
} kdr_corpus;

typedef enum kdr_token_class {
	KDR_TOKENS_LETTERS, /* runs of Unicode letters with their combining marks */
	KDR_TOKENS_ASCII    /* runs of a-z and A-Z; everything else separates */
} kdr_token_class;

/* How documents become columns. Start from kdr_text_options_init; zero and NULL mean the default. */
typedef struct kdr_text_options {
	bool strip_html;        /* drop tags, comments, scripts and styles; decode entities */
	bool strip_mail;        /* drop mail, news or HTTP headers, up to the first blank line */
	bool keep_subject;      /* with strip_mail: keep what the Subject says */
	bool keep_case;         /* no Unicode case folding */
	kdr_token_class tokens; /* default KDR_TOKENS_LETTERS */
	int64_t min_length;     /* of a token in characters, before stemming; default 2 */
	int64_t max_length;     /* default 40, at most 255 */
	const char *stopwords;  /* NULL or "none"; "english", built in; else a file, one word a line */
	const char *stemmer;    /* NULL or "none"; else a name of kdr_stemmer_names, such as "porter" */
	int64_t ngram_min;      /* default 1 */
	int64_t ngram_max;      /* default 1, at most 3 */
	int64_t min_df;         /* keep terms of at least so many documents; default 1 */
	double min_df_share;    /* ... of at least this share of all documents; default 0 */
	int64_t max_df;         /* keep terms of at most so many documents; 0: no limit */
	double max_df_share;    /* ... of at most this share of all documents; default 1 */
	int64_t max_features;   /* keep the N terms of the highest document frequency; 0: all */
	bool binary;            /* 1 for each term a document holds, not how often */
	const char *vocabulary; /* a features.txt: its lines are the columns, in its order; the limits on
	                           document frequency and max_features are then not used */
	bool drop_empty;        /* leave out documents without any term of the vocabulary */
} kdr_text_options;
KDR_API void kdr_text_options_init(kdr_text_options *options);

/* What was met on the way; of all tasks together. */
typedef struct kdr_text_stats {
	int64_t documents; /* read */
	int64_t dropped;   /* left out because empty */
	int64_t not_utf8;  /* not valid UTF-8, read as Windows-1252 (Latin-1) instead */
	int64_t bytes;     /* of documents, as read */
	int64_t tokens;    /* after length limits and stop words */
	int64_t terms;     /* different ones, before the vocabulary was cut */
} kdr_text_stats;

/* Counts the terms of `count` corpora over one vocabulary. out[t] gets a sparse data set with feature
 * names, row ids (relative path, or line number) and, where known, classes. Columns are in decreasing
 * document frequency over all tasks, ties in byte order; the result depends neither on the number of
 * threads nor on the order in which the system lists a folder. `options` and `stats` may be NULL.
 * On failure, or when stopped, `out` is untouched. */
KDR_API kdr_status kdr_vectorize(kdr_context *ctx, const kdr_corpus *corpora, int64_t count,
                                 const kdr_text_options *options, kdr_data **out, kdr_text_stats *stats);

/* Memory that kdr_vectorize needs, from the first two batches of texts (about 8 MB), which are read as all will be. */
KDR_EXPERIMENTAL KDR_API kdr_status kdr_estimate_bytes_vectorize(kdr_context *ctx, const kdr_corpus *corpora,
                                                                 int64_t count,
                                                                 const kdr_text_options *options,
                                                                 kdr_estimate *out);

/* The stemmers there are, in byte order, ending with NULL. */
KDR_API const char *const *kdr_stemmer_names(void);
/* The built-in English stop words, in byte order. */
KDR_API const char *const *kdr_stopwords_english(int64_t *count);

#endif
