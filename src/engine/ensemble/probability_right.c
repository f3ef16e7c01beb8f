/* Estimated probabilities of being right, from agreement. SPDX-License-Identifier: BSD-3-Clause
 *
 *   (E1)  p_i = s(B0 + B1 l(A) + B2 (l(a_i) - l(A)) + B3 ln k),    l(p) = ln(p / (1 - p)),    s(x) = 1 / (1 + exp(-x))
 *   (E2)  q_zl = s(C0 + C1 cos(u_z, u_l))
 *   (E3)  r_i = s(D0 + D1 l(c_i))
 *
 *   a_i   agreement of the members about sample i, 0 to 1; A its mean over the data set
 *   k     number of clusters
 *   p_i   estimated chance that sample i has the class with which its cluster is matched, one to one
 *   u_z   the difference of cluster z from its data set's mean; q_zl the chance that clusters z and l have the same
 *         majority class
 *
 *   c_i   confidence of the vote on the class of sample i of a table; r_i the chance that the class is right
 *
 * Members that agree can be wrong together: on average their agreement is 0.15 higher than the proportion of samples
 * that are right. B and D are fitted by maximum likelihood to the collections of docs/notes/statements.md, each data
 * set weighing the same (bench/statements.py fit); the page reports how well they predict a held-out collection. C
 * lies between what fits these collections and what was measured on thirty others, where matches are right less
 * often. (E1) is not used for clusters of tables, and (E3) is not used for classes of other data. */
#include "engine/ensemble/probability_right.h"

#include <math.h>

static const double B0 = -1.03, B1 = 1.33, B2 = 0.44, B3 = -0.29, C0 = -1.25, C1 = 3.6, D0 = -0.37, D1 = 0.59;
static const double least = 0.01, most = 0.99; /* limits of agreement, since votes give no more certainty */

static double logit(double p)
{
	p = fmin(fmax(p, least), most);
	return log(p / (1 - p));
}

static double logistic(double x)
{
	return 1 / (1 + exp(-x));
}

double kdri_probability_right(double agreement, double mean, int64_t k)
{
	if (k < 2)
		return 1;
	/* (E1) */
	return logistic(B0 + B1 * logit(mean) + B2 * (logit(agreement) - logit(mean)) + B3 * log((double)k));
}

double kdri_table_class_right(double confidence)
{
	return logistic(D0 + D1 * logit(confidence)); /* (E3) */
}

double kdri_match_right(double cosine)
{
	return logistic(C0 + C1 * cosine); /* (E2) */
}
