/* East Asian character sets in a build without iconv: not supported. SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "text/text.h"

kdr_status kdri_recode_check(kdr_context *ctx, kdri_charset from)
{
	char what[80];
	snprintf(what, sizeof what, "a text appears to be encoded in %s", kdri_charset_name(from));
	return kdri_absent(ctx, what, "iconv", "convert it to UTF-8 first");
}

/* Never reached: the check comes first. */
// NOLINTNEXTLINE(readability-non-const-parameter): the signature of the one that converts
bool kdri_recode_text(kdri_charset from, const char *text, size_t length, char *out, size_t *written)
{
	(void)from;
	(void)text;
	(void)length;
	(void)out;
	*written = 0;
	return false;
}
