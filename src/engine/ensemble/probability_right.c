/* Estimated probabilities of being right, from agreement. SPDX-License-Identifier: BSD-3-Clause
 *
 *   (E1)  p_i = s(B0 + B1 l(A) + B2 (l(a_i) - l(A)) + B3 ln k),    l(p) = ln(p / (1 - p)),    s(x) = 1 / (1 + exp(-x))
 *   (E2)  q_zl = s(C0 + C1 cos(u_z, u_l) + C2 ln k + C3 [d < 200])
 *   (E3)  t_zl = s(F0 + F1 cos(u_z, u_l) + F2 e)
 *
 *   a_i   agreement of the members about sample i, 0 to 1; A its mean over the data set
 *   k     number of clusters
 *   p_i   estimated chance that sample i has the class with which its cluster is matched, one to one
 *   u_z   the difference of cluster z from its data set's mean; q_zl the chance that clusters z and l have the same
 *         majority class; d the number of columns: with few of them, unrelated clusters often point the same way
 *   t_zl  the same for tables; e the lower of both tables' estimated ARI, which is small in noise
 *
 * Members that agree can be wrong together: on average their agreement is 0.15 higher than the proportion of samples
 * that are right. All constants are fitted by maximum likelihood to the collections of docs/notes/statements.md, each
 * run weighing the same: B by bench/statements.py fit, which also prints what C and F would be now. Their cases include
 * shuffled columns, whose matches all count as wrong, with a third of the weight. The page reports how often they are right. (E1) and (E2) are not used
 * for tables. The vote's own confidence in classes is right as often as it says (docs/notes/statements.md). */
#include "engine/ensemble/probability_right.h"

#include <math.h>

static const double B0 = 0.15, B1 = 0.76, B2 = 0.40, B3 = -0.50, C0 = 0.72, C1 = 6.12, C2 = -1.54, C3 = -2.38;
static const double F0 = -5.03, F1 = 4.83, F2 = 3.77;
enum { FEW_COLUMNS = 200 };
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

double kdri_match_right(double cosine, int64_t k, int64_t columns)
{
	/* (E2) */
	return logistic(C0 + C1 * cosine + C2 * log((double)k) + C3 * (columns < FEW_COLUMNS));
}

double kdri_table_match_right(double cosine, double estimate)
{
	return logistic(F0 + F1 * cosine + F2 * estimate); /* (E3) */
}
