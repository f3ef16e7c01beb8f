/* How many bytes vectorizing texts needs. SPDX-License-Identifier: BSD-3-Clause
 *
 * Texts differ in words, markup and terms of two words, so the first batches, about 8 MB, are read in the same way as
 * all. With B bytes of files, b of them read, p pairs of document and term, r documents and t different terms:
 *
 *   (E1)  pairs = p B / b,   documents = r B / b
 *   (E2)  terms = t (B / b)^(1/2)                        [H. S. Heaps: Information Retrieval, 1978]
 *
 * The peak memory includes the pairs of the remaining tasks, the matrices of the finished ones and, for the current
 * task, its entries by column and by row (matrix.c). */
#include "text/text.h"

double kdri_chunk_bytes(const kdri_chunk *c)
{
	return (double)(3 * c->plain_room + c->tokens.text_room + 4 * c->tokens.room + 4 * c->slot_count) +
	       (double)sizeof(kdri_local_term) * (double)c->term_room +
	       (double)sizeof(kdri_pair) * (double)c->pair_room +
	       (double)c->pair_end_room * (9 + KDRI_EXCERPT_ROOM);
}

void kdri_text_estimate(const kdri_text_sample *s, const double *bytes, int64_t count, kdr_estimate *out)
{
	static const double a_pair = sizeof(kdri_pair), an_entry = 12, on_the_way = 16;
	double all = 0, most = 0, done = 0;
	for (int64_t t = 0; t < count; t++)
		all += bytes[t];
	const double times = KDRI_MAX(all / KDRI_MAX(s->read, 1), 1), pairs = s->pairs * times; /* (E1) */
	for (int64_t t = 0; t < count; t++) {
		double share = all > 0 ? bytes[t] / all : 1;
		most = KDRI_MAX(most,
		                done * an_entry + (1 - done) * a_pair + share * (on_the_way + an_entry));
		done += share;
	}
	*out = (kdr_estimate){ .bytes = pairs * most + s->document_bytes * times +
		                        s->term_bytes * sqrt(times) + s->batch_bytes }; /* (E2) */
}
