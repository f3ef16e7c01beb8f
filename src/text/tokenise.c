/* Text to tokens. SPDX-License-Identifier: BSD-3-Clause
 *
 * A token is a run of Unicode letters (general categories L*) with the marks that follow them (M*), case
 * folded and put into composed form (NFC), so that one word has one spelling however it was typed:
 * "STRASSE" and "Straße", final and other sigma, precomposed and combining accents. Invisible characters
 * inside a word (soft hyphen, joiners) are dropped; the zero-width space separates. Scripts without spaces
 * (Chinese, Japanese, Thai) give one token a run: cut them into words beforehand.
 * Order of the steps: fold, length limits, stop words. Stems come later, when all words are known: forms.c. */
#include "text/text.h"

static bool is_ascii_letter(unsigned char c)
{
	return (unsigned)((c | 32) - 'a') < 26;
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
		    kdri_character(q, end, &bytes) == KDRI_STARTS) {
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
		    kdri_character(q, end, &bytes) == KDRI_SEPARATES)
			break;
		*ascii = false;
	}
	*p = q;
	return true;
}

static size_t lower_ascii(bool lowercase, const char *text, size_t length, char *out)
{
	for (size_t i = 0; i < length; i++)
		out[i] = lowercase ? (char)(text[i] | 32) : text[i];
	return length;
}

static int64_t count_characters(const char *text, size_t length)
{
	int64_t n = 0;
	for (size_t i = 0; i < length; i++)
		n += ((unsigned char)text[i] & 0xc0) != 0x80;
	return n;
}

static bool is_ascii(const char *text, size_t length)
{
	unsigned char all = 0;
	for (size_t i = 0; i < length; i++)
		all |= (unsigned char)text[i];
	return all < 0x80;
}

kdri_tokenise_result kdri_tokenise(const kdr_text_options *o, const kdri_terms *stopwords, const char *text,
                                   size_t length, kdri_tokens *out)
{
	const char *p = text, *end = text + length, *begin;
	bool ascii;
	int32_t run[KDRI_RUN_MAX + 1];
	if (!kdri_unicode_known && o->tokens == KDR_TOKENS_LETTERS && !is_ascii(text, length))
		return KDRI_TOKENS_NO_UNICODE;
	while (next_run(&p, end, o->tokens == KDR_TOKENS_ASCII, &begin, &ascii)) {
		char *word = (char *)run;
		size_t n = (size_t)(p - begin);
		if (ascii) {
			if ((int64_t)n < o->min_length || (int64_t)n > o->max_length)
				continue;
			lower_ascii(!o->keep_case, begin, n, word);
		} else {
			n = kdri_fold_run(!o->keep_case, begin, n, run);
			int64_t characters = count_characters(word, n);
			if (n == 0 || characters < o->min_length || characters > o->max_length)
				continue;
		}
		if (stopwords && kdri_terms_find(stopwords, word, n, kdri_term_hash(word, n)) >= 0)
			continue;
		if (out->count + 2 > out->room || out->text_used + (int64_t)n + 1 > out->text_room)
			return KDRI_TOKENS_FULL;
		memcpy(out->text + out->text_used, word, n);
		out->text_used += (int64_t)n;
		out->text[out->text_used++] = ' ';
		out->start[++out->count] = (uint32_t)out->text_used;
	}
	return KDRI_TOKENS_DONE;
}
