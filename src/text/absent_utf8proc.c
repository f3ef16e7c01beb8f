/* Text in a build without utf8proc: only ASCII. SPDX-License-Identifier: BSD-3-Clause
 *
 * Folding only some letters would change results silently. Text beyond ASCII is therefore an error, unless only a-z and
 * A-Z were requested. */
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
