"""Tables of outcomes as Markdown, LaTeX, CSV and JSON; paired tests and summaries. SPDX-License-Identifier: BSD-3-Clause

A plan with `summary` ends with one table: a line for each group of tables and one for all, a column for each row, and how far the row of the
summary is below each of `against` on the table where the difference is worst. The values are means of the first score.
"""
from __future__ import annotations

import csv
import io
import math
from typing import Any, Iterable

from ._plan import Plan, Row
from ._run import Line, Outcome

FORMATS = {"md": "bench.md", "csv": "bench.csv", "latex": "bench.tex"}  # and their file names


def _sum(values: Iterable[float]) -> float:
    """One value after the other, so that the last digits do not depend on the version of Python or NumPy."""
    total = 0.0
    for value in values:
        total += value
    return total


def _mean(values: list[float]) -> float:
    return _sum(values) / len(values) if values else math.nan


def each_repeat(out: Outcome, line: Line, score: int, task: int | None) -> list[float]:
    """The values of a score in all repeats: of one data set, or the mean over all of them (None)."""
    return [_mean(values.tolist()) if task is None else float(values[task]) for values in line.values[:out.repeats, score]]


def summarise(out: Outcome, line: Line, score: int, task: int | None) -> tuple[float, float]:
    """Mean and standard deviation (n - 1) over the repeats that did not fail."""
    values = [v for v in each_repeat(out, line, score, task) if not math.isnan(v)]
    mean = _mean(values)
    if len(values) < 2:
        return mean, 0.0 if values else math.nan
    return mean, math.sqrt(_sum((v - mean) ** 2 for v in values) / (len(values) - 1))


def _beta_fraction(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function by its continued fraction (Lentz) [DLMF 8.17.22], for x < (a + 1) / (a + b + 2)."""
    tiny = 1e-300
    c, d = 1.0, 1 - (a + b) * x / (a + 1)
    d = 1 / (d if abs(d) > tiny else tiny)
    h = d
    for m in range(1, 1000):
        for step in (m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)), -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))):
            d, c = 1 + step * d, 1 + step / c
            d, c = 1 / (d if abs(d) > tiny else tiny), c if abs(c) > tiny else tiny
            h *= d * c
        if abs(d * c - 1) < 1e-15:
            break
    return math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)) * h / a


def paired_p(out: Outcome, one: Line, other: Line) -> float:
    """The two-sided p-value of a paired t-test on the first score, mean over data sets; NaN for fewer than two repeats."""
    pairs = zip(each_repeat(out, one, 0, None), each_repeat(out, other, 0, None))
    values = [d for d in (a - b for a, b in pairs) if not math.isnan(d)]
    if len(values) < 2:
        return math.nan
    mean, free = _mean(values), len(values) - 1
    error = math.sqrt(_sum((v - mean) ** 2 for v in values) / free / len(values))
    if error == 0:
        return 1.0 if mean == 0 else 0.0
    a, b, x = free / 2, .5, free / (free + (mean / error) ** 2)
    if not 0 < x < 1:
        return 0.0 if x <= 0 else 1.0
    return _beta_fraction(a, b, x) if x < (a + 1) / (a + b + 2) else 1 - _beta_fraction(b, a, 1 - x)


def _shown(out: Outcome) -> list[Line]:
    """The lines of the table: all or, with `pick`, that of each row with the best mean of the first score."""
    lines = [line for line in out.lines if line.runs or not out.some]
    if not out.table.pick:
        return lines
    def first_score(line: Line) -> float:
        mean = summarise(out, line, 0, None)[0]
        return -math.inf if math.isnan(mean) else mean
    return [max((line for line in lines if line.row == row), key=first_score) for row in sorted({line.row for line in lines})]


def _base(out: Outcome) -> Line | None:
    """The line that the others are compared with, if there is one."""
    return next((line for line in _shown(out) if out.table.paired == out.table.rows[line.row].name), None)


_LATEX = str.maketrans({"±": "$\\pm$", "\\": "\\textbackslash{}", "~": "\\~{}", "^": "\\^{}", "<": "$<$", ">": "$>$", "|": "$|$",
                        **{c: "\\" + c for c in "&%$#_{}"}})


def _sheet(format: str, title: str, above: str, words: int, rows: list[list[str]], below: str = "") -> str:
    """A table with text above and below. The first row is the header, and its first `words` columns are not numbers."""
    if format == "md":
        line = "|" + "---|" * words + "---:|" * (len(rows[0]) - words)
        cells = ["| " + " ".join(f"{cell} |" if cell or i < words else "|" for i, cell in enumerate(row)) for row in rows]
        return f"## {title}\n\n{above}\n" + "\n".join([cells[0], line, *cells[1:]]) + "\n\n" + below
    cells = [" & ".join(cell.translate(_LATEX) for cell in row) + " \\\\" for row in rows]
    return (f"\\begin{{table}}\n\\caption{{{title.translate(_LATEX)}}}\n{above.translate(_LATEX)}\n\\begin{{tabular}}{{{'l' * words}{'r' * (len(rows[0]) - words)}}}\n\\hline\n"
            + "\n".join([cells[0], "\\hline", *cells[1:]]) + "\n\\hline\n\\end{tabular}\n\\end{table}\n\n" + below.translate(_LATEX))


def _number(value: float, format: str, missing: str = "") -> str:
    return missing if math.isnan(value) else f"{value:{format}}"


def _published(row: Row, score: str, task: int) -> str:
    """ "paper 0.85, study 0.9": the references of a row."""
    found = ((label, values[score][task]) for label, values in row.references.items())
    return ", ".join(f"{label} {value:.3g}" for label, value in found if value is not None)


def _notes(out: Outcome) -> str:
    table = out.table
    text = f"{table.note}\n\n" if table.note else ""
    text += f"Mean ± standard deviation of {out.repeats} repeat{'s' * (out.repeats != 1)}"
    if out.repeats < table.repeats:
        text += f" (stopped before all {table.repeats})"
    if table.sample:
        text += f"; at most {table.sample} samples per data set, drawn again for each"
    if table.random_start:
        text += "; all methods of a repeat start from the same random labels"
    text += ".\n"
    if table.pick:
        text += f"For each grid, the setting with the best {table.scores[0]}: CHOSEN BY THE KNOWN CLASSES, as in the papers.\n"
    if table.paired:
        text += f"p: two-sided paired t-test of {table.scores[0]} against '{table.paired}', not corrected for the number of rows.\n"
    return text


def _failures(out: Outcome) -> str:
    lines = (line for line in out.lines if line.failed)
    return "".join(f"{', '.join(filter(None, (out.table.rows[line.row].name, line.setting)))}: {line.failed} of {line.runs} runs failed: "
                   f"{line.error}\n\n" for line in lines)


def _columns(out: Outcome) -> list[tuple[int, str, int | None, str]]:
    """(number and name of the score, number and name of the data set) of each column; the last of several data sets is their mean."""
    tasks: Iterable[tuple[int | None, str]] = [*enumerate(out.tasks), *([(None, "mean")] if len(out.tasks) > 1 else [])]
    return [(s, score, t, task) for s, score in enumerate(out.table.scores) for t, task in tasks]


def _csv(out: Outcome, header: bool) -> str:
    """One line per row, data set and score."""
    text, table = io.StringIO(), out.table
    writer = csv.writer(text, lineterminator="\n")
    if header:
        writer.writerow(["table", "row", "setting", "data_set", "score", "mean", "std", "repeats", "failed", "seconds", "references"])
    for line in _shown(out):
        for s, score, t, task in _columns(out):
            mean, deviation = summarise(out, line, s, t)
            writer.writerow([table.title, table.rows[line.row].name, line.setting, task, score, _number(mean, ".17g"), _number(deviation, ".17g"),
                             out.repeats, line.failed, f"{line.seconds_per_run:.6g}" if line.runs else "",
                             "" if t is None else _published(table.rows[line.row], score, t)])
    return text.getvalue()


def table_text(out: Outcome, format: str, first: bool) -> str:
    """A table. The first one of a CSV file has the header."""
    if format == "csv":
        return _csv(out, first)
    settings, base, columns = any(line.setting for line in out.lines), _base(out), _columns(out)
    rows = [["method", *(["setting"] if settings else []), *(f"{task} {score}" for _, score, _, task in columns), *(["p"] if base else []), "seconds"]]
    for line in _shown(out):
        row, cells = out.table.rows[line.row], []
        for s, score, t, _ in columns:
            mean, deviation = summarise(out, line, s, t)
            published = "" if t is None else _published(row, score, t)
            cells.append(("-" if math.isnan(mean) else f"{mean:.3f} ± {deviation:.3f}") + (f" ({published})" if published else ""))
        p = [_number(math.nan if line is base else paired_p(out, line, base), ".1e")] if base else []
        rows.append([row.name, *([line.setting] if settings else []), *cells, *p, f"{line.seconds_per_run:.3g}"])
    return _sheet(format, out.table.title, _notes(out), 2 if settings else 1, rows, _failures(out))


def finite(value: float) -> float | None:
    """The value for JSON, which has no NaN and no infinity."""
    return value if math.isfinite(value) else None


def _statistics(out: Outcome, line: Line, score: int, task: int | None) -> dict[str, Any]:
    mean, deviation = summarise(out, line, score, task)
    return {"mean": finite(mean), "std": finite(deviation)}


def table_json(out: Outcome) -> dict[str, Any]:
    """All values of a table, for bench.json."""
    table, base, shown, rows = out.table, _base(out), _shown(out), []
    for line in out.lines:
        row = table.rows[line.row]
        entry: dict[str, Any] = {"name": row.name, "method": row.method or "", "setting": line.setting, "shown": any(line is s for s in shown),
                                 "seconds": line.seconds_per_run, "failed": line.failed}
        if base and line is not base:
            entry["p"] = finite(paired_p(out, line, base))
        if row.references:
            entry["references"] = row.references
        entry["means"] = {score: _statistics(out, line, s, None) for s, score in enumerate(table.scores)}
        entry["scores"] = {score: [{"task": task, **_statistics(out, line, s, t), "values": [finite(v) for v in each_repeat(out, line, s, t)]}
                                   for t, task in enumerate(out.tasks)] for s, score in enumerate(table.scores)}
        rows.append(entry)
    return {"title": table.title, "repeats": out.repeats, "picked_on_truth": table.pick,
            "notes": [line for line in _notes(out).split("\n") if line], "tasks": out.tasks, "rows": rows}


def row_means(out: Outcome) -> list[float]:
    """The mean of the first score of each row; of a grid, that of its last setting."""
    found = {line.row: summarise(out, line, 0, None)[0] for line in out.lines}
    return [found.get(r, math.nan) for r in range(len(out.table.rows))]


def summary_text(plan: Plan, means: dict[int, list[float]], format: str) -> str:
    """All tables of a plan in one; `means` has the row_means() of each table that was run, by its number."""
    names = [row.name for row in plan.tables[0].rows]
    own, others = names.index(str(plan.summary)), [names.index(name) for name in plan.against]
    groups = list(dict.fromkeys(table.group for table in plan.tables))
    rows = [["collection", "tables", *names, *(f"worst against {name}" for name in plan.against)]]
    for title, group in [*((g, g) for g in groups), ("all", None)]:
        found = [values for t, values in means.items() if group in (None, plan.tables[t].group)]
        columns = [[v for v in column if not math.isnan(v)] for column in zip(*found)]
        gaps = [[d for d in (values[own] - values[other] for values in found) if not math.isnan(d)] for other in others]
        if found:
            rows.append([title, str(len(found)), *(_number(_mean(column), ".3f", "-") for column in columns),
                         *(_number(min(gap, default=math.nan), "+.3f", "-") for gap in gaps)])
    above = f"Means of {plan.tables[0].scores[0]} over tables; worst: the lowest difference of '{plan.summary}' minus the other on one table.\n"
    return _sheet(format, plan.title, above, 1, rows)
