/* Character sets of East Asia to UTF-8, through iconv. SPDX-License-Identifier: BSD-3-Clause */
#include "text/text.h"

#include <errno.h>
#include <iconv.h>

/* The supersets that are in use, by the names that iconv has for them. */
static const char *const names[] = { "", "GB18030", "CP950", "CP932", "CP949", "EUC-JP" };

kdr_status kdri_recode_check(kdr_context *ctx, kdri_charset from)
{
	iconv_t with = iconv_open("UTF-8", names[from]);
	if (with == (iconv_t)-1) /* NOLINT(performance-no-int-to-ptr): so iconv says it */
		return kdri_fail(
		        ctx, KDR_ERR_UNSUPPORTED,
		        "texts appear to be encoded in %s, which iconv cannot convert on this machine; convert them to UTF-8 "
		        "first",
		        kdri_charset_name(from));
	(void)iconv_close(with);
	return KDR_OK;
}

bool kdri_recode_text(kdri_charset from, const char *text, size_t length, char *out, size_t *written)
{
	iconv_t with = iconv_open("UTF-8", names[from]);
	char *in = (char *)text, *to = out;
	size_t left = length, room = 3 * length;
	if (with == (iconv_t)-1) /* NOLINT(performance-no-int-to-ptr): so iconv says it */
		return false;
	while (left > 0 && iconv(with, &in, &left, &to, &room) == (size_t)-1) {
		if (errno == E2BIG || left == 0 || room < 3)
			break;
		const size_t n = kdri_utf8_put(0xfffd, to); /* a byte that is no character */
		to += n;
		room -= n;
		in++;
		left--;
	}
	(void)iconv_close(with);
	*written = (size_t)(to - out);
	return true;
}
