/* Text in a build without utf8proc: ASCII alone. SPDX-License-Identifier: BSD-3-Clause
 *
 * Folding a few letters of our own would change results without a word; so the tokeniser refuses text beyond ASCII, unless
 * it was told to take nothing but a-z and A-Z. */
#include "text/text.h"

const bool kdri_unicode_known = false;

kdri_character_role kdri_character(const char *p, const char *end, int *bytes)
{
	(void)p;
	(void)end;
	*bytes = 1;
	return KDRI_SEPARATES;
}

size_t kdri_fold_run(bool lowercase, const char *text, size_t length, int32_t *run)
{
	return kdri_fold_word(lowercase, text, length, (char *)run, KDRI_RUN_MAX * sizeof *run);
}

size_t kdri_fold_word(bool lowercase, const char *text, size_t length, char *out, size_t room)
{
	if (length > room)
		return 0;
	for (size_t i = 0; i < length; i++)
		out[i] = lowercase && text[i] >= 'A' && text[i] <= 'Z' ? (char)(text[i] | 32) : text[i];
	return length;
}
