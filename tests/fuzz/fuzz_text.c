/* Any bytes as a document: decoding, headers, markup, fields of tables, tokens and terms.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "text/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The first byte chooses the options, so that one corpus covers them all. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 1 || size > 1 << 16)
		return 0;
	unsigned flags = data[0];
	const char *text = (const char *)data + 1;
	size_t n = size - 1;
	kdr_text_options options;
	kdr_text_options_init(&options);
	kdri_text_resolve(&options);
	options.strip_mail = flags & 1;
	options.keep_subject = flags & 2;
	options.strip_html = flags & 4;
	options.tokens = flags & 8 ? KDR_TOKENS_ASCII : flags & 64 ? KDR_TOKENS_WORDS : KDR_TOKENS_LETTERS;
	options.keep_case = flags & 16;
	options.min_length = 1;
	options.max_length = flags & 32 ? 255 : 20;
	options.ngram_max = 1 + flags % 3;

	/* Exact sizes, so that a byte too many is seen. */
	char *decoded = malloc(3 * n + 1), *visible = malloc(3 * n + 1), *field, *next, *copy = malloc(n + 1);
	size_t length = kdri_decode_1252(text, n, decoded), begin;
	if (!kdri_utf8_valid(decoded, length) || length > 3 * n)
		abort();
	size_t subject = kdri_mail_strip(text, n, true, &begin, visible);
	if (begin > n || subject + (n - begin) > n)
		abort();
	if (kdri_html_strip(text, n, visible) > n)
		abort();
	if (n > 0)
		memcpy(copy, text, n);
	for (next = copy; next;)
		if (kdri_record_field(next, copy + n, ',', &field, &next) > n)
			abort();
	free(decoded);
	free(visible);
	free(copy);

	kdr_context *ctx = NULL;
	if (kdr_context_new(&ctx, NULL) != KDR_OK)
		abort();
	kdr_context_set_threads(ctx, 1);
	kdri_charset_counts counts = { 0 };
	kdri_charset_count(text, n, &counts);
	kdri_raw raw = { .text = text, .length = n, .charset = (kdri_charset)((flags >> 6) * KDRI_GB18030) };
	kdri_chunk chunk = { .first = 0, .count = 1 };
	if (kdri_chunks_run(ctx, &options, NULL, NULL, &raw, &chunk, 1) != KDR_OK)
		abort();
	for (int64_t i = 0; i < chunk.term_count; i++)
		if (!kdri_utf8_valid(chunk.tokens.text + chunk.terms[i].offset, chunk.terms[i].length))
			abort();
	kdri_chunk_free(ctx, &chunk);
	kdr_context_free(ctx);
	return 0;
}
