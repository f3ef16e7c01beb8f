"""Comparing methods over many data sets, after Demsar (Statistical comparisons of classifiers over multiple data sets, JMLR 7, 2006).

Scores are a list of blocks (data sets), each a list of one score a method; larger is better. Needs SciPy."""

import math

from scipy import stats


def mean_ranks(scores):
    """The mean rank of each method, 1 the best; ties share theirs."""
    ranks = [stats.rankdata([-v for v in block]) for block in scores]
    return [sum(r[m] for r in ranks) / len(ranks) for m in range(len(scores[0]))]


def friedman(ranks, n):
    """Friedman's chi-squared by mean ranks on n data sets (without a correction for ties, as in the paper), Iman and Davenport's F and its p."""
    k = len(ranks)
    chi2 = 12 * n / (k * (k + 1)) * (sum(r * r for r in ranks) - k * (k + 1) ** 2 / 4)
    rest = n * (k - 1) - chi2
    f = (n - 1) * chi2 / rest if rest > 0 else math.inf
    return chi2, f, float(stats.f.sf(f, k - 1, (k - 1) * (n - 1)))


def critical_difference(k, n, alpha=.05):
    """Nemenyi's: mean ranks of k methods on n data sets that differ by less may be chance."""
    return float(stats.studentized_range.ppf(1 - alpha, k, math.inf)) / math.sqrt(2) * math.sqrt(k * (k + 1) / (6 * n))


def holm(ps):
    """p values corrected for their number, by Holm's steps."""
    order = sorted(range(len(ps)), key=lambda i: ps[i])
    out, largest = [0.0] * len(ps), 0.0
    for place, i in enumerate(order):
        largest = max(largest, min(1.0, (len(ps) - place) * ps[i]))
        out[i] = largest
    return out


def against(scores, one):
    """Of method `one` against each other: (method, mean difference, p of Wilcoxon's signed-rank test, the same after Holm)."""
    others = [m for m in range(len(scores[0])) if m != one]
    found = []
    for m in others:
        differences = [block[one] - block[m] for block in scores]
        p = float(stats.wilcoxon(differences).pvalue) if any(differences) else 1.0
        found.append((m, sum(differences) / len(differences), p))
    return [(m, d, p, c) for (m, d, p), c in zip(found, holm([f[2] for f in found]))]
