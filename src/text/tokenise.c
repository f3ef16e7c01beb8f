/* Text to tokens. SPDX-License-Identifier: BSD-3-Clause
 *
 * A token is a run of Unicode letters (general categories L*) with the marks that follow them (M*), case
 * folded and put into composed form (NFC), so that one word has one spelling however it was typed:
 * "STRASSE" and "Straße", final and other sigma, precomposed and combining accents. Invisible characters
 * inside a word (soft hyphen, joiners) are dropped; the zero-width space separates. Scripts without spaces
 * (Chinese, Japanese, Thai) give one token a run: cut them into words beforehand.
 * Order of the steps: fold, length limits, stop words, stem. */
#include "text/text.h"

#include <utf8proc.h>

/* Characters of a folded run; the longest token allowed has 255, and a longer run is dropped. */
enum { RUN_MAX = 1024, ZERO_WIDTH_SPACE = 0x200b };

static bool is_ascii_letter(unsigned char c)
{
	return (unsigned)((c | 32) - 'a') < 26;
}

/* How a character beyond ASCII behaves: starts a word, goes on with one, or separates. */
typedef enum role { SEPARATES, CONTINUES, STARTS } role;

static role role_of(utf8proc_int32_t c)
{
	const utf8proc_property_t *property = utf8proc_get_property(c);
	switch (property->category) {
	case UTF8PROC_CATEGORY_LU:
	case UTF8PROC_CATEGORY_LL:
	case UTF8PROC_CATEGORY_LT:
	case UTF8PROC_CATEGORY_LM:
	case UTF8PROC_CATEGORY_LO: return STARTS;
	case UTF8PROC_CATEGORY_MN:
	case UTF8PROC_CATEGORY_MC:
	case UTF8PROC_CATEGORY_ME: return CONTINUES;
	default: return property->ignorable && c != ZERO_WIDTH_SPACE ? CONTINUES : SEPARATES;
	}
}

static utf8proc_int32_t character_at(const char *p, const char *end, int *bytes)
{
	utf8proc_int32_t c;
	utf8proc_ssize_t n = utf8proc_iterate((const utf8proc_uint8_t *)p, end - p, &c);
	*bytes = n > 0 ? (int)n : 1;
	return n > 0 ? c : 0;
}

/* The next run at or after *p: [*begin, *p). False at the end of the text. */
static bool next_run(const char **p, const char *end, bool ascii_only, const char **begin, bool *ascii)
{
	const char *q = *p;
	int bytes = 1;
	*ascii = true;
	for (; q < end; q += bytes) {
		bytes = 1;
		if (is_ascii_letter((unsigned char)*q))
			break;
		if (!ascii_only && (unsigned char)*q >= 0x80 &&
		    role_of(character_at(q, end, &bytes)) == STARTS) {
			*ascii = false;
			break;
		}
	}
	*begin = q;
	if (q >= end) {
		*p = end;
		return false;
	}
	for (q += bytes; q < end; q += bytes) {
		bytes = 1;
		if (is_ascii_letter((unsigned char)*q))
			continue;
		if (ascii_only || (unsigned char)*q < 0x80 ||
		    role_of(character_at(q, end, &bytes)) == SEPARATES)
			break;
		*ascii = false;
	}
	*p = q;
	return true;
}

/* Folds and composes a run that is not plain ASCII, in place of `run`; returns its bytes, 0 if it is too
 * long (or empty: nothing but invisible characters). */
static size_t fold_run(bool lowercase, const char *text, size_t length, utf8proc_int32_t *run)
{
	utf8proc_option_t how =
	        UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_IGNORE | (lowercase ? UTF8PROC_CASEFOLD : 0);
	/* Every character gives at least one, but for the ignored: a far longer run cannot fit. */
	if (length > 16 * RUN_MAX)
		return 0;
	utf8proc_ssize_t n = utf8proc_decompose((const utf8proc_uint8_t *)text, (utf8proc_ssize_t)length, run,
	                                        RUN_MAX, how);
	if (n <= 0 || n > RUN_MAX)
		return 0;
	n = utf8proc_reencode(run, n, how); /* in place: needs room for one more */
	return n > 0 ? (size_t)n : 0;
}

static size_t lower_ascii(bool lowercase, const char *text, size_t length, char *out)
{
	for (size_t i = 0; i < length; i++)
		out[i] = lowercase ? (char)(text[i] | 32) : text[i];
	return length;
}

size_t kdri_fold_word(bool lowercase, const char *text, size_t length, char *out, size_t room)
{
	utf8proc_int32_t run[RUN_MAX + 1];
	size_t n = fold_run(lowercase, text, length, run);
	if (n > room)
		return 0;
	memcpy(out, run, n);
	return n;
}

static int64_t count_characters(const char *text, size_t length)
{
	int64_t n = 0;
	for (size_t i = 0; i < length; i++)
		n += ((unsigned char)text[i] & 0xc0) != 0x80;
	return n;
}

kdri_tokenise_result kdri_tokenise(const kdr_text_options *o, const kdri_terms *stopwords,
                                   kdri_stemmer *stemmer, const char *text, size_t length, kdri_tokens *out)
{
	const char *p = text, *end = text + length, *begin;
	bool ascii;
	utf8proc_int32_t run[RUN_MAX + 1];
	while (next_run(&p, end, o->tokens == KDR_TOKENS_ASCII, &begin, &ascii)) {
		char *word = (char *)run;
		size_t n = (size_t)(p - begin);
		if (ascii) {
			if ((int64_t)n < o->min_length || (int64_t)n > o->max_length)
				continue;
			lower_ascii(!o->keep_case, begin, n, word);
		} else {
			n = fold_run(!o->keep_case, begin, n, run);
			int64_t characters = count_characters(word, n);
			if (n == 0 || characters < o->min_length || characters > o->max_length)
				continue;
		}
		uint32_t hash = stopwords || stemmer ? kdri_term_hash(word, n) : 0;
		if (stopwords && kdri_terms_find(stopwords, word, n, hash) >= 0)
			continue;
		const char *term = word;
		if (stemmer) {
			term = kdri_stem(stemmer, word, &n, hash);
			if (!term)
				return KDRI_TOKENS_NO_MEMORY;
			if (n == 0)
				continue;
		}
		if (out->count + 2 > out->room || out->text_used + (int64_t)n + 1 > out->text_room)
			return KDRI_TOKENS_FULL;
		memcpy(out->text + out->text_used, term, n);
		out->text_used += (int64_t)n;
		out->text[out->text_used++] = ' ';
		out->start[++out->count] = (uint32_t)out->text_used;
	}
	return KDRI_TOKENS_DONE;
}
