"""docs/notes/reproduction.md and its figures: the papers' tables next to ours. SPDX-License-Identifier: BSD-3-Clause

bench/docs.py writes and checks the page, and the table of verdicts in docs/reproduction.md. The rows come from bench/results/papers.csv and
papers-records.csv (bench/papers.py). The list of tables and the papers' scores come from the presets' plans (bench/plans). The comments under the tables,
and the papers' values that are not scores, come from bench/papers.json; a comment on a table begins with one of VERDICTS. None of our figures is
entered by hand, and rows that were not run are marked."""

import math

import common
import figures as fig
import papers

PAPERS = {
    "GZ09": "Gu and Zhou 2009: learning the shared subspace (LSSMTC, LSSTTC)",
    "ZZ10": "Zhang and Zhang 2010: multitask Bregman clustering (MBC)",
    "TSZY15": "Tan, Song, Zhong and Yang 2015: transitive transfer learning (TTL)",
    "ZZL19": "Zhang, Zhang and Liu 2019: feature and instance transfer (MTCFIR)",
    "B19": "Berikov 2019: ensemble clustering with transfer (TrEC)",
}
METHODS = {"GZ09": ["LSSMTC", "LSSTTC"], "ZZ10": ["MBC"], "TSZY15": ["TTL"], "ZZL19": ["MTCFIR"], "B19": ["trec"]}  # each paper's own method
VERDICTS = ["Reproduced in part", "Reproduced", "Not reproduced", "Better than in the paper"]  # the longer one of two first


def mean_std(values):
    values = [v for v in values if v is not None]
    if not values:
        return None
    mean = sum(values) / len(values)
    return mean, math.sqrt(sum((v - mean) ** 2 for v in values) / (len(values) - 1)) if len(values) > 1 else 0.0


class Row:
    """A row of a table: the plan's, and what was measured."""

    def __init__(self, plan, found):
        self.name, self.plan, self.found = plan["name"], plan, found
        if found and not self.of_this_plan():
            self.found = None

    def of_this_plan(self):
        """Whether what was measured has the method and as many settings as the plan."""
        settings = math.prod(len(v) for v in self.plan.get("grid", {}).values())
        return self.plan.get("method") == self.found["method"] and len(self.found["lines"]) == settings

    def lines(self):
        return self.found["lines"] if self.found else []

    def score(self, line, score, task):
        """(mean, std) over repeats of a score on a task; task None: of the mean over tasks."""
        tasks = line["scores"].get(score)
        if not tasks:
            return None
        if task is not None:
            return mean_std(tasks[task])
        repeats = [[t[r] for t in tasks] for r in range(len(tasks[0]))]
        return mean_std([sum(r) / len(r) for r in repeats if None not in r])

    def best(self, score):
        """The line whose mean of the score is best, as "pick": "truth" shows it."""
        best = None
        for line in self.lines():
            value = self.score(line, score, None)
            if value and (best is None or value[0] > self.score(best, score, None)[0]):
                best = line
        return best

    def paper(self, score, task):
        figures = self.plan.get("references", {}).get("paper", {}).get(score)
        return figures[task] if figures else None


class Table:
    def __init__(self, preset, plan, rows):
        self.preset, self.plan, self.title = preset, plan, plan["title"]
        self.key = preset + "/" + papers.slug(self.title)
        self.scores = plan.get("scores", ["acc", "nmi"])
        self.rows = [Row({"name": r.get("method"), **r}, rows.get((preset, self.title, r.get("name", r.get("method"))))) for r in plan["rows"]]
        peers = sorted((key[2] for key, r in rows.items() if key[:2] == (preset, self.title) and r["method"] == "peer"), key=papers.slug)
        self.rows += [Row({"name": name, "method": "peer"}, rows[preset, self.title, name]) for name in peers]
        self.tasks = next((r.found["tasks"] for r in self.rows if r.found), None)

    def done(self):
        wanted = [r for r in self.rows if "missing" not in r.plan]
        return sum(r.found is not None for r in wanted), len(wanted)


def figure(v, signed=False):
    return f"{v:+.3f}" if signed else f"{v:.3f}"


def cell(row, line, score, task):
    """Our value ± standard deviation (the paper's, the difference)."""
    paper = row.paper(score, task) if task is not None else None
    ours = row.score(line, score, task) if line else None
    if "missing" in row.plan:
        text = "–"
    elif not row.found:
        text = "not run"
    else:
        text = f"**{figure(ours[0])}** ± {figure(ours[1])}" if ours else "failed"
    if paper is not None:
        text += f" ({figure(paper)}" + (f", {figure(ours[0] - paper, True)})" if ours else ")")
    return text


def setting(line):
    return f"`{line['setting']}`" if line and line["setting"] else ""


def write_table(out, table):
    """One row per method, one column for each score of each data set."""
    papers_own = [r.plan.get("references", {}).get("paper", {}).get(table.scores[0], []) for r in table.rows]
    tasks = table.tasks or [f"task {i + 1}" for i in range(max(map(len, papers_own)) or 1)]
    columns = [*enumerate(tasks)] + [(None, "mean")] * (len(tasks) > 1)
    rows = []
    for row in table.rows:
        line = row.best(table.scores[0])
        rows.append([row.name, *(cell(row, line, s, t) for s in table.scores for t, _ in columns), setting(line)])
    head, rule, *lines = fig.markdown(["method", *(f"{name} {s}" for s in table.scores for _, name in columns), "setting"], rows)
    out += [head, rule.removesuffix("---:|") + "---|", *lines, ""]


def write_matrix(out, tables):
    """Tables of one data set and one score with the same rows: one line each."""
    score, names, rows = tables[0].scores[0], list(dict.fromkeys(r.name for t in tables for r in t.rows)), []
    sums = {n: [] for n in names}
    for t in tables:
        found, cells = {r.name: r for r in t.rows}, []
        for name in names:
            row = found.get(name)
            line = row.best(score) if row else None
            ours = row.score(line, score, 0) if line else None
            cells.append(cell(row, line, score, 0) if row else "")
            sums[name] += [(ours[0] if ours else None, row.paper(score, 0))] if row else []
        rows.append([t.title, *cells])
    means = []
    for pairs in sums.values():
        ours, paper = zip(*pairs)
        means.append((f"**{figure(sum(ours) / len(ours))}**" if None not in ours else "–") + (f" ({figure(sum(paper) / len(paper))})" if None not in paper else ""))
    out += [*fig.markdown([score, *names], [*rows, ["mean", *means]]), ""]


def verdict(tables, sentence):
    """The comment under a table, and how many of its rows were run."""
    done, wanted = (sum(t.done()[i] for t in tables) for i in (0, 1))
    if not sentence:
        return f"*{done} of {wanted} rows have been run: no verdict yet.*"
    return sentence + (f" *({done} of {wanted} rows have been run.)*" if done < wanted else "")


def write_curve(out, table, figures, name):
    """Each score, averaged over data sets, against the option."""
    option, before = table.plan["curve"], len(out)
    for score in table.scores:
        series = {}
        for row, line in ((row, line) for row in table.rows for line in row.lines()):
            text, value = line["setting"] or row.name, row.score(line, score, None)
            if value and f"{option} = " in text:
                x = float(text.split(f"{option} = ")[1].split(",")[0])
                series.setdefault(row.name if line["setting"] else table.rows[0].plan["method"], []).append((x, *value))
        if series:
            file = f"{papers.slug(table.key)}-{score}.svg"
            figures[file] = fig.curves(table.title, option, f"{score}, mean over data sets", {n: sorted(points) for n, points in series.items()}, even=True)
            out += [f"![{table.title}: {score}]({name}/{file})", ""]
    out += ["not run", ""] if len(out) == before else []


def record(table, name, what, setting=None):
    """The values a row recorded at that setting, or at its best one."""
    row = next((r for r in table.rows if r.name == name and r.found), None)
    line = row and (row.best(table.scores[0]) if setting is None else next((x for x in row.lines() if x["setting"] == setting), None))
    return line and line["record"].get(what)


def write_alpha(out, tables, words):
    """[ZZL19] tables 6 to 11: how much each data set uses the others, scaled so that its own weight is 1."""
    for key, paper in words["alpha"].items():
        table = next((t for t in tables if t.key == key), None)
        found, n = table and record(table, "MTCFIR", "relatedness"), len(paper["paper"])

        def one(t, s):
            ours = f"**{figure(found[t * n + s] / found[t * n + t])}**" if found else "not run"
            return f"{ours} ({paper['paper'][t][s]:g}" + (f", [{paper['ideal'][t][s]:g}])" if "ideal" in paper else ")")

        out += [f"{table.title if table else key}: our value (the paper's{', [ideal from shared classes]' * ('ideal' in paper)})", "",
                *fig.markdown(["data set", *(f"uses {s + 1}" for s in range(n))], [[t + 1, *(one(t, s) for s in range(n))] for t in range(n)]), ""]


def write_mmd(out, tables, words):
    """[ZZL19] table 12: mean squared discrepancy of pairs of data sets before and after the features are learnt."""
    rows = []
    for key, (before, after) in words["mmd"].items():
        table = next((t for t in tables if t.key == key), None)
        for kernel in ("linear", "gauss"):
            found, ours = table and record(table, "MTCFIR", "mmd2_" + kernel), ["not run"] * 3
            if found:
                n = math.isqrt(len(found) // 2)
                first, last = (mean_std([found[w * n * n + i * n + j] for i in range(n) for j in range(i)])[0] for w in (0, 1))
                ours = [f"**{first:.4f}**", f"**{last:.4f}**", f"**{first / last:.2f}**"]
            rows.append([table.title if table else key, kernel, *(f"{own} ({paper})" for own, paper in zip(ours, (before, after, f"{before / after:.2f}")))])
    out += [*fig.markdown(["data", "kernel", "before: ours (the paper's)", "after: ours (the paper's)", "ratio: ours (the paper's)"], rows, 2), ""]


def write_emd(out, tables, words):
    """[ZZ10] table 4: the distance of matched clusters, separately (lambda = 0 in the curve) and together."""
    by_key, rows = {t.key: t for t in tables}, []
    for title, (ind, mbc, true) in words["d_m"].items():
        means, cells = [], []
        for key, setting in ((f"zz10-curves/{papers.slug(title + ': MBC over lambda')}", "lambda = 0"), (f"zz10/{papers.slug(title)}", "")):
            value = mean_std((record(by_key[key], "MBC", "d_m_uniform.X1.X2", setting) if key in by_key else None) or [])
            means.append(value and value[0])
            cells.append(f"**{value[0]:.4f}** ± {value[1]:.4f}" if value else "–" if key not in by_key else "not run")
        ratio = f"**{figure(means[1] / means[0])}**" if None not in means else "–"
        rows.append([title, *cells, ratio, f"{ind:g}", f"{mbc:g}", figure(mbc / ind), f"{true:g}"])
    out += [*fig.markdown(["data", "separately (lambda = 0)", "MBC", "ratio", "paper: IND", "paper: MBC", "paper: ratio", "paper: true classes"], rows), ""]


def write_convergence(out, tables, words, figures, name):
    series = {}
    for label, (key, row) in words["convergence"].items():
        table = next((t for t in tables if t.key == key), None)
        found = table and record(table, row, "objective")
        if found:
            series[label] = [(i + 1, v / found[0], 0.0) for i, v in enumerate(found[:100])]
    if not series:
        out += ["not run", ""]
        return
    figures["convergence.svg"] = fig.curves("The objective after each iteration, as a fraction of the first", "iteration", "objective", series)
    out += [f"![convergence]({name}/convergence.svg)", ""]


def write_bridges(out):
    """Accuracy by choice of bridge, from bench/results/transfer-bridges.csv; the first bridge of each pair is the one that kindred uses."""
    pairs, groups, rows = {}, {}, []
    for r in common.read_csv(common.RESULTS / "transfer-bridges.csv"):
        pairs.setdefault((r["collection"], r["pair"]), []).append(float(r["acc"]))
    for (collection, _), acc in pairs.items():
        for group in (collection, "all"):
            groups.setdefault(group, []).append((acc[0], sum(acc) / len(acc), max(acc)))
    for group in [g for g in groups if g != "all"] + ["all"]:
        own, best, highest = zip(*groups[group])
        rows.append([group, len(own), f"**{figure(sum(own) / len(own))}**", *(figure(sum(v) / len(v)) for v in (best, highest)),
                     f"{sum(a == b for a, b in zip(own, highest))} of {len(own)}"])
    out += [*fig.markdown(["collection", "pairs", "kindred's choice", "mean of all bridges", "best bridge (known afterwards)", "kindred's choice is the best"], rows), ""]


def write_significance(out, tables, words, figures, name):
    """Significance tests over all data sets that each of these methods was run on."""
    wanted, blocks = words["compared"], []
    for table in (t for t in tables if t.key in words["compared_on"] and t.tasks):
        rows = [next((r for r in table.rows if r.name in names and r.found), None) for names in wanted.values()]
        for t in range(len(table.tasks)) if None not in rows else ():
            values = [r.score(r.best(table.scores[0]), "nmi", t) for r in rows]
            blocks += [[v[0] for v in values]] if None not in values else []
    out += [f"This section compares the NMI of {len(wanted)} methods with default options on the {len(blocks)} data sets that all of them were run on. "
            f"`bench/papers.json` lists the tables.", ""]
    if len(blocks) < 6:
        out += ["not run: fewer than six data sets have all rows", ""]
        return
    names, ranks = list(wanted), fig.mean_ranks(blocks)
    chi2, f, p = fig.friedman(ranks, len(blocks))
    cd = fig.critical_difference(len(names), len(blocks))
    one = names.index(words["compared_one"])
    figures["critical-difference.svg"] = fig.critical("Mean ranks of methods", names, ranks, cd)
    out += [f"Friedman test: chi-squared {chi2:.1f}, F {f:.2f}, p {p:.1e}. Mean ranks that differ by less than {cd:.2f} may differ by chance (Nemenyi test at 0.05).",
            "", f"![mean ranks]({name}/critical-difference.svg)", "",
            *fig.markdown([f"{names[one]} compared with", "mean difference", "p (Wilcoxon signed-rank test)", "p (Holm correction)"],
                          [[names[m], figure(d, True), f"{pair:.1e}", f"{corrected:.1e}"] for m, d, pair, corrected in fig.against(blocks, one)]), ""]


def verdict_of(sentence):
    """The verdict that a comment begins with."""
    found = next((v for v in VERDICTS if sentence.startswith(v)), None)
    if found is None:
        raise ValueError(f"bench/papers.json: this comment begins with none of {', '.join(VERDICTS)}: {sentence[:60]}")
    return found.lower()


def verdicts():
    """The table of docs/reproduction.md: one line for each table of a paper."""
    sentences, plans, out = papers.words()["sentences"], papers.plans(), ["| paper | table | command | result |", "|---|---|---|---|"]
    for paper in PAPERS:
        for preset in sorted((n for n, plan in plans.items() if plan.get("paper") == paper), key=lambda n: plans[n]["title"]):
            keys = {t["title"]: f"{preset}/{papers.slug(t['title'])}" for t in plans[preset]["tables"] if "curve" not in t}
            found = {title: verdict_of(sentences[key]) for title, key in keys.items() if key in sentences}
            if keys and preset in sentences:
                found[""] = verdict_of(sentences[preset])
            titles = {v: [t for t, x in found.items() if x == v] for v in dict.fromkeys(found.values())}
            result = "; ".join(v if len(titles) == 1 else f"{v}: {', '.join(t)}" for v, t in titles.items())
            if found:
                out.append(f"| [{paper}] | {plans[preset]['title'].replace(f'[{paper}] ', '', 1)} | `python -m kindred.bench {preset}` | {result} |")
    return out


def auto_compared(rows):
    """How auto compares with the papers' own methods, for docs/reproduction.md: the first score to three digits, averaged over data sets."""
    count, without = {"higher": 0, "equal": 0, "lower": 0}, 0
    for preset, plan in papers.plans().items():
        for table in (Table(preset, t, rows) for t in plan["tables"] if "curve" not in t):
            found = {r.name: r for r in table.rows if r.found}
            both = [found.get("auto (ours)"), next((found[m] for m in METHODS[plan["paper"]] if m in found), None)]
            values = [r and r.score(r.best(table.scores[0]), table.scores[0], None) for r in both]
            if None in values:
                without += 1
                continue
            difference = round(values[0][0], 3) - round(values[1][0], 3)
            count["higher" if difference > 0 else "lower" if difference < 0 else "equal"] += 1
    return [f"The first score of `auto` is higher than that of the paper's own method in {count['higher']} tables, equal in {count['equal']} and lower in {count['lower']}. "
            f"The other {without} tables have no row for `auto`."]


def page(rows, name):
    """The page, and the figures it shows, from papers.load()."""
    words, plans = papers.words(), papers.plans()
    figures, everything, waiting = {}, [], []
    presets = {n: [Table(n, t, rows) for t in plan["tables"]] for n, plan in plans.items()}
    for tables in presets.values():
        everything += tables
    done = [t.done() for t in everything]
    seconds = sum(r.found["seconds"] for t in everything for r in t.rows if r.found and r.plan["method"] != "peer")
    out = [words["head"].strip(), "",
           f"{sum(d[0] for d in done)} of {sum(d[1] for d in done)} rows have been run. Those of `python -m kindred.bench all` took {seconds / 60:.0f} minutes of processor time, "
           f"which is {seconds / 120:.0f} minutes on two cores. {words['machines']}", ""]
    for paper, title in PAPERS.items():
        out += [f"## [{paper}] {title}", ""]
        of_paper = [n for n, plan in plans.items() if plan.get("paper") == paper]
        for preset in sorted(of_paper, key=lambda n: ("curve" in plans[n]["tables"][0], plans[n]["title"])):
            plan = plans[preset]
            tables = [t for t in presets[preset] if t.done()[0]]
            waiting += [f"{preset}: {t.title}" for t in presets[preset] if t not in tables]
            if not tables:
                continue
            out += [f"### {plan['title'].replace(f'[{paper}] ', '', 1)}", "", f"`python -m kindred.bench {preset}`", ""]
            notes = [t.plan["note"] for t in tables if "note" in t.plan]
            single = all(len(t.scores) == 1 and "curve" not in t.plan and not t.plan.get("data") and "generate" not in t.plan for t in tables)
            if single:
                out += [" ".join(notes), ""] if notes else []
                write_matrix(out, tables)
            for t in tables if not single else []:
                out += [f"**{t.title}.** {t.plan.get('note', '')}".strip(), ""]
                if "curve" in t.plan:
                    write_curve(out, t, figures, name)
                else:
                    write_table(out, t)
                if "curve" not in t.plan:
                    out += [verdict([t], words["sentences"].get(t.key)), ""]
            if single or preset in words["sentences"]:
                out += [verdict(tables, words["sentences"].get(preset)), ""]
        if paper == "ZZL19":
            out += ["### Tables 6 to 11: relatedness", ""]
            write_alpha(out, everything, words)
            out += [words["sentences"]["alpha"], "", "### Table 12: discrepancy of data sets before and after", ""]
            write_mmd(out, everything, words)
            out += [words["sentences"]["mmd"], ""]
        if paper == "TSZY15":
            out += ["### Choice of the bridge", "", "`bench/transfer.py bridges`", "",
                    "The table shows the accuracy of `ttl` over the bridge that kindred uses, averaged over all bridges, and over the best one.", ""]
            write_bridges(out)
            out += [words["sentences"]["bridges"], ""]
        if paper == "ZZ10":
            out += ["### Table 4: the distance of matched clusters", ""]
            write_emd(out, everything, words)
            out += [words["sentences"]["d_m"], ""]
    out += ["## Convergence", ""]
    write_convergence(out, everything, words, figures, name)
    out += ["## All data sets together", ""]
    write_significance(out, everything, words, figures, name)
    out += ["## Methods that kindred does not have", ""]
    out += [f"- **{m['name']}** ({m['from']}). {m['why']}" for m in words["missing"]] + [""]
    if waiting:
        out += ["## Tables that have not been run", "", "; ".join(waiting) + ".", ""]
    return "\n".join(out).rstrip() + "\n", figures
