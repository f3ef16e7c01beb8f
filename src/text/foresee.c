/* What vectorizing texts will take. SPDX-License-Identifier: BSD-3-Clause
 *
 * Texts differ more than machines do (words, markup, stems, terms of two words), so the first of them tell: two batches are read as
 * all will be, some 8 MB. The first makes room for tables; what the second took a byte goes for the others. Of B bytes of files, b of
 * them read, with p pairs of document and term, r documents and t different terms:
 *
 *   (E1)  pairs = p B / b,   documents = r B / b
 *   (E2)  terms = t (B / b)^(1/2)                        [H. S. Heaps: Information Retrieval, 1978]
 *
 * All corpora are taken to be like what was read. Memory: the pairs of all tasks, and of the one whose matrix is being made its entries
 * by column and by row (matrix.c); names of documents and terms. */
#include "text/text.h"

/* Bytes of a pair, an entry of a matrix, one on its way there, a document, a term; of the tables that batches need. */
static const double a_pair = sizeof(kdri_pair), an_entry = 12, on_the_way = 16, a_document = 300,
                    a_term = 140, tables = 3e7;
/* Seconds of a pair's way into the matrix: it waits for memory, which is as slow on most machines. */
static const double a_move = 5e-8;

void kdri_text_estimate(const kdri_text_sample *s, const double *bytes, int64_t count, kdr_estimate *out)
{
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
	*out = (kdr_estimate){ .seconds =
		                       s->seconds + KDRI_MAX(all - s->read, 0) * s->a_byte + a_move * pairs,
		               .bytes = pairs * most + s->documents * times * a_document +
		                        s->terms * sqrt(times) * a_term + tables }; /* (E2) */
}
