/* The first words of a document, for display. SPDX-License-Identifier: BSD-3-Clause */
#include "core/utf8.h"
#include "text/text.h"

/* Invisible characters, and characters that change the direction of text, which could disguise the following text. */
static bool is_blank(uint32_t c)
{
	return c <= 0x20 || (c >= 0x7f && c <= 0xa0) || c == 0x61c || (c >= 0x2000 && c <= 0x200f) ||
	       (c >= 0x2028 && c <= 0x202f) || (c >= 0x2060 && c <= 0x206f) || c == 0x3000 || c == 0xfeff;
}

size_t kdri_excerpt(const char *text, size_t length, char *out)
{
	size_t used = 0;
	bool gap = false, more = false;
	for (int characters = 0; length > 0 && !more;) {
		uint32_t c;
		size_t n = kdri_utf8_at(text, length, &c);
		if (n == 0 || is_blank(c)) {
			gap = used > 0;
			n = n ? n : 1;
		} else if (characters + gap >= KDRI_EXCERPT) {
			more = true;
		} else {
			if (gap) {
				out[used++] = ' ';
				characters++;
			}
			memcpy(out + used, text, n);
			used += n;
			characters++;
			gap = false;
		}
		text += n;
		length -= n;
	}
	if (more) {
		memcpy(out + used, "\xE2\x80\xA6", 3); /* an ellipsis */
		used += 3;
	}
	out[used] = '\0';
	return used;
}
