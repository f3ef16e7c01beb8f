/* libFuzzer target: any bytes as a file of word vectors. SPDX-License-Identifier: BSD-3-Clause */
#include "tests/fuzz/fuzz.h"
#include "text/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const words[] = { "a", "the", "red", "b\xc3\xa4r" };
	enum { WORDS = sizeof words / sizeof words[0] };
	kdr_context *ctx = fuzz_context();
	kdri_input *in = NULL;
	kdri_terms *terms = NULL;
	kdri_vectors *vectors = NULL;
	int32_t *place = NULL, id;
	FUZZ_CHECK(kdri_terms_new(ctx, &terms) == KDR_OK);
	for (int i = 0; i < WORDS; i++) {
		const size_t n = strlen(words[i]);
		FUZZ_CHECK(kdri_terms_add(ctx, terms, words[i], n, kdri_term_hash(words[i], n), &id) ==
		           KDR_OK);
	}
	if (fuzz_open(ctx, data, size, &in)) {
		const kdr_status st = kdri_vectors_read(ctx, in, terms, true, 10, &vectors, &place);
		FUZZ_CHECK((st == KDR_OK) == (vectors != NULL) &&
		           (st == KDR_OK || kdr_context_error(ctx)[0]));
	}
	for (int64_t i = 0; vectors && i < vectors->count * vectors->dim; i++)
		FUZZ_CHECK(isfinite(vectors->values[i]));
	for (int i = 0; vectors && i < WORDS; i++)
		FUZZ_CHECK(place[i] < 0 ||
		           (place[i] < vectors->count && strcmp(vectors->words[place[i]], words[i]) == 0));
	kdri_vectors_release(vectors);
	kdri_free(ctx, place);
	kdri_terms_free(ctx, terms);
	kdri_input_close(ctx, in);
	kdr_context_free(ctx);
	return 0;
}
