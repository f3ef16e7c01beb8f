"""Significance tests over many data sets, Markdown tables, and small SVG figures. SPDX-License-Identifier: BSD-3-Clause

The tests follow Demsar, Statistical comparisons of classifiers over multiple data sets, JMLR 7, 2006. Scores are a list of data sets, each a list
with one score per method; larger is better. They need SciPy; the figures need nothing."""

import math
from xml.sax.saxutils import escape

COLOURS = ["#1b6ca8", "#c2571a", "#3a7d44", "#8e44ad", "#b03a5b", "#6b6b6b"]
STYLE = 'font-family="sans-serif" font-size="12"'


# --- significance --------------------------------------------------------------------------------------------------------


def mean_ranks(scores):
    """The mean rank of each method, 1 for the best; ties share their ranks."""
    from scipy import stats

    ranks = [stats.rankdata([-v for v in block]) for block in scores]
    return [sum(r[m] for r in ranks) / len(ranks) for m in range(len(scores[0]))]


def friedman(ranks, n):
    """Friedman's chi-squared from mean ranks on n data sets (without a correction for ties, as in the paper), Iman and Davenport's F and its p."""
    from scipy import stats

    k = len(ranks)
    chi2 = 12 * n / (k * (k + 1)) * (sum(r * r for r in ranks) - k * (k + 1) ** 2 / 4)
    rest = n * (k - 1) - chi2
    f = (n - 1) * chi2 / rest if rest > 0 else math.inf
    return chi2, f, float(stats.f.sf(f, k - 1, (k - 1) * (n - 1)))


def critical_difference(k, n, alpha=.05):
    """Nemenyi's: mean ranks of k methods on n data sets that differ by less may be chance."""
    from scipy import stats

    return float(stats.studentized_range.ppf(1 - alpha, k, math.inf)) / math.sqrt(2) * math.sqrt(k * (k + 1) / (6 * n))


def holm(ps):
    """p values corrected for their number by Holm's steps."""
    order = sorted(range(len(ps)), key=lambda i: ps[i])
    out, largest = [0.0] * len(ps), 0.0
    for place, i in enumerate(order):
        largest = max(largest, min(1.0, (len(ps) - place) * ps[i]))
        out[i] = largest
    return out


def against(scores, one):
    """Method `one` against each other: (method, mean difference, p of Wilcoxon's signed-rank test, the same after Holm)."""
    from scipy import stats

    found = []
    for m in (m for m in range(len(scores[0])) if m != one):
        differences = [block[one] - block[m] for block in scores]
        p = float(stats.wilcoxon(differences).pvalue) if any(differences) else 1.0
        found.append((m, sum(differences) / len(differences), p))
    return [(m, d, p, c) for (m, d, p), c in zip(found, holm([f[2] for f in found]))]


# --- tables --------------------------------------------------------------------------------------------------------------


def short(value, sign=False):
    """0.812, +0.012; zero has no minus sign"""
    return (("%+.3f" if sign else "%.3f") % value).replace("-0.000", "+0.000")


def markdown(head, rows, left=1):
    """A table whose first `left` columns are text."""
    lines = ["| %s |" % " | ".join(map(str, r)) for r in rows]
    return [("| %s |" % " | ".join(head)).replace("|  |", "| |"), "|" + "---|" * left + "---:|" * (len(head) - left)] + lines


# --- figures -------------------------------------------------------------------------------------------------------------


def ticks(low, high):
    """Round numbers between two, four to eight of them."""
    span = high - low or 1
    step = 10.0 ** -9
    while span / step > 8:
        for factor in (2, 2.5, 2):
            step *= factor
            if span / step <= 8:
                break
    first = -(-low // step)
    return [round((first + i) * step, 10) for i in range(int((high - first * step) / step + 1e-9) + 1)]


def head(width, height, title):
    return [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            f'role="img" {STYLE}>', f"<title>{escape(title)}</title>", f'<rect width="{width}" height="{height}" fill="#ffffff"/>']


def curves(title, xlabel, ylabel, series, even=False):
    """series: {name: [(x, y, deviation)]}; even: values of x at equal distances. One polyline each, bars of one deviation."""
    width, height, left, right, top, bottom = 560, 300, 56, 16, 34, 46 + 18 * ((len(series) + 1) // 2)
    xs = sorted({x for points in series.values() for x, _, _ in points})
    lows = [y - d for points in series.values() for _, y, d in points]
    highs = [y + d for points in series.values() for _, y, d in points]
    low, high = min(lows), max(highs)
    pad = .06 * (high - low) or .05
    low, high = low - pad, high + pad
    span = xs[-1] - xs[0] or 1

    def at_x(x):
        share = xs.index(x) / max(len(xs) - 1, 1) if even else (x - xs[0]) / span
        return left + 12 + share * (width - left - right - 24)

    def at_y(y):
        return top + (high - y) / (high - low) * (height - top - bottom)

    out = head(width, height, title)
    out.append(f'<text x="{left}" y="20" font-weight="bold">{escape(title)}</text>')
    for y in ticks(low, high):
        out.append(f'<line x1="{left}" x2="{width - right}" y1="{at_y(y):.1f}" y2="{at_y(y):.1f}" stroke="#dddddd"/>')
        out.append(f'<text x="{left - 6}" y="{at_y(y) + 4:.1f}" text-anchor="end">{y:g}</text>')
    for x in xs if len(xs) <= 12 else ticks(xs[0], xs[-1]):
        out.append(f'<text x="{at_x(x):.1f}" y="{height - bottom + 16}" text-anchor="middle">{x:g}</text>')
    out.append(f'<text x="{(left + width - right) / 2:.0f}" y="{height - bottom + 34}" text-anchor="middle">{escape(xlabel)}</text>')
    out.append(f'<text transform="translate(14 {(top + height - bottom) / 2:.0f}) rotate(-90)" text-anchor="middle">{escape(ylabel)}</text>')
    for i, (name, points) in enumerate(series.items()):
        colour = COLOURS[i % len(COLOURS)]
        line = " ".join(f"{at_x(x):.1f},{at_y(y):.1f}" for x, y, _ in points)
        out.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for x, y, d in points if len(points) <= 30 else []:
            if d > 0:
                out.append(f'<line x1="{at_x(x):.1f}" x2="{at_x(x):.1f}" y1="{at_y(y - d):.1f}" y2="{at_y(y + d):.1f}" stroke="{colour}"/>')
            out.append(f'<circle cx="{at_x(x):.1f}" cy="{at_y(y):.1f}" r="3" fill="{colour}"/>')
        x, y = left + (i % 2) * 250, height - 18 * ((len(series) + 1) // 2) + 18 * (i // 2) + 4
        out.append(f'<line x1="{x}" x2="{x + 20}" y1="{y}" y2="{y}" stroke="{colour}" stroke-width="2"/>')
        out.append(f'<text x="{x + 26}" y="{y + 4}">{escape(name)}</text>')
    return "\n".join(out + ["</svg>"]) + "\n"


def critical(title, names, ranks, difference):
    """Methods on the line of mean ranks, the best at the left; bars join those that differ by less than `difference`."""
    order = sorted(range(len(names)), key=lambda i: ranks[i])
    half = (len(names) + 1) // 2
    groups = []
    for a in range(len(order)):
        b = max(i for i in range(len(order)) if ranks[order[i]] - ranks[order[a]] < difference)
        if b > a and not any(g[0] <= a and b <= g[1] for g in groups):
            groups.append((a, b))
    left, axis = 40 + 7 * (8 + max(map(len, names))), 60
    width = 2 * left + 360
    start = axis + 14 + 9 * len(groups)
    height = start + 22 * half + 12
    low, high = 1, len(names)

    def at(rank):
        return left + (rank - low) / (high - low) * (width - 2 * left)

    out = head(width, height, title)
    out.append(f'<line x1="{at(low)}" x2="{at(high)}" y1="{axis}" y2="{axis}" stroke="#222222"/>')
    for rank in range(low, high + 1):
        out.append(f'<line x1="{at(rank):.1f}" x2="{at(rank):.1f}" y1="{axis - 5}" y2="{axis}" stroke="#222222"/>')
        out.append(f'<text x="{at(rank):.1f}" y="{axis - 9}" text-anchor="middle">{rank}</text>')
    out.append(f'<line x1="{at(low)}" x2="{at(low) + (at(2) - at(1)) * difference:.1f}" y1="22" y2="22" stroke="#222222" stroke-width="2"/>')
    out.append(f'<text x="{at(low)}" y="15">critical difference {difference:.2f}</text>')
    for place, i in enumerate(order):
        first = place < half
        y = start + 22 * (place if first else len(order) - 1 - place) + 12
        x = left - 12 if first else width - left + 12
        out.append(f'<polyline points="{at(ranks[i]):.1f},{axis} {at(ranks[i]):.1f},{y} {x},{y}" fill="none" stroke="#888888"/>')
        out.append(f'<text x="{x - 4 if first else x + 4}" y="{y + 4}" text-anchor="{"end" if first else "start"}">'
                   f"{escape(names[i])} ({ranks[i]:.2f})</text>")
    for level, (a, b) in enumerate(groups):
        y = axis + 9 + 9 * level
        out.append(f'<line x1="{at(ranks[order[a]]) - 3:.1f}" x2="{at(ranks[order[b]]) + 3:.1f}" y1="{y}" y2="{y}" stroke="{COLOURS[0]}" stroke-width="4"/>')
    return "\n".join(out + ["</svg>"]) + "\n"
