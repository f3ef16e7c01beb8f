/* Decides whether a member would take too much time compared with the others. SPDX-License-Identifier: BSD-3-Clause
 *
 * mtcfir learns features, so that its products involve all columns that are not empty; the other members only use stored
 * entries and products of samples. In multiplications, n_t samples in task t, n in all, d columns:
 *
 *   (E1)  joint  = n^2 (2.5 d + n / 4)                                       two dense layers, their kernels, inverses
 *   (E2)  others = sum_t 1000 k s n_t^2 + 5 s i_t ((8 + k) e_t + (4 + k) 128 n_t) / 2   snmf; k-means on e_t entries, on directions
 *
 * d counts columns that are not empty, and equal ones once if that halves their number (as in mtcfir). In (E2) snmf
 * is counted as if it formed all cosines, which it does not for words: the bound below was chosen with that count.
 * Here s is the number of seeds, i_t = 8 + log2 n_t that of iterations, and k is rounded up to a multiple of 8 in
 * k-means. snmf is counted if it is a member.
 *
 * Both grow at the same rate with the samples, so that (E1) / (E2) is about T d / (400 k s). A few tasks of any size
 * with a limited vocabulary stay within the bound, as do all data sets in docs/notes/auto.md (0.8 to 8.5); full
 * vocabularies of tens of thousands of words do not. A member that would take `most_times` as long as all others
 * together is skipped, unless it is fast anyway. The rule counts multiplications instead of seconds, so that the same
 * data have the same members on every machine. */
#include "methods/auto/proportion.h"

#include "core/internal.h"

static const double most_times = 10, soon = 5e10;
enum { SNMF_STEPS = 1000, STARTS = 5, DIRECTIONS = 128 };

void kdri_proportion_add(kdri_proportion *p, double n, double entries, double k, double seeds, double most)
{
	double iterations = 8 + log2(KDRI_MAX(n, 2.0)), lanes = 8 * ceil(k / 8), starts = STARTS * seeds;
	p->all += n;
	p->others += n <= most ? SNMF_STEPS * k * seeds * n * n : 0; /* (E2) */
	p->others += starts * iterations * entries * (8 + lanes) / 2;
	p->others += starts * iterations * n * DIRECTIONS * (4 + lanes) / 2;
}

double kdri_proportion_of(const kdri_proportion *p)
{
	double joint = p->all * p->all * (2.5 * p->used + p->all / 4); /* (E1) */
	return joint > soon && joint > most_times * p->others ? joint / p->others : 0;
}
