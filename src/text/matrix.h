/* The counts of one task, and the data set made from them. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_TEXT_MATRIX_H
#define KDRI_TEXT_MATRIX_H

#include "text/text.h"

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
 * two stems is added to `words` as "word (language)". Free *out with kdri_terms_free, *form with kdri_free. forms.c */
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

#endif
