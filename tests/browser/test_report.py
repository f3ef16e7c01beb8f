"""The report in a real browser. Skipped (77) where Chromium or Selenium is absent.

Every section for the result of every registered method and for bench, without a message of the console; hover, switch,
highlight, keyboard; names that would like to run; geometry at three widths; printing."""
import base64
import json
import math
import random
import subprocess

from harness import EVIL, ActionChains, Keys, PageTest, bench, main, run


class Page(PageTest):
    # --- levels -----------------------------------------------------------------------------------------

    def test_slider_and_tree_of_several_numbers_of_clusters(self):
        out = self.dir / "levels"
        run("cluster", "-m", "kmeans", "-k", "2-5", "--report", "-q", "-o", out, *self.tasks[:2])
        levels = json.loads((out / "result.json").read_text())["levels"]
        self.open(out / "report.html")
        self.assertIn("levels", self.sections())
        circles = self.js("return document.querySelectorAll('.tree circle').length")
        self.assertEqual(circles, sum(size > 0 for level in levels for task in level["tasks"] for size in task["sizes"]))
        self.assertEqual(self.js("return document.querySelector('output[for=level]').textContent"), "k = 5")
        self.js("const s = document.getElementById('level'); s.value = 1; s.dispatchEvent(new Event('input'))")
        self.assertEqual(self.js("return document.querySelector('output[for=level]').textContent"), "k = 3")
        self.assertEqual(self.js("return document.querySelector('input[name=mode]:checked').value"), "level")
        self.assertEqual(self.js("return document.querySelectorAll('#legend li').length"), 6)  # three of each data set
        self.assertEqual(self.js("return document.querySelectorAll('.tree .level.chosen').length"), 2)
        splits = sum(len(task["splits"]) for task in levels[1]["tasks"])
        self.assertEqual(self.js("return document.querySelectorAll('#levels [aria-live] li').length"), splits)
        self.quiet("slider")
        self.check_geometry("levels")

    def test_suggested_level_of_ranges_that_differ(self):
        out = self.dir / "ranges"
        run("cluster", "-m", "kmeans", "-k", "2-4,6-7", "--report", "-q", "-o", out, *self.tasks[:2])
        level = json.loads((out / "result.json").read_text())["level"]
        self.open(out / "report.html")
        self.assertEqual(self.js("return document.querySelector('output[for=level]').textContent"), f"k = {level}")

    def test_samples_without_a_label(self):
        texts = ["late delivery parcel", "parcel lost late", "", "nice app login", "login app easy", "😀"]
        path = self.dir / "empty.csv"
        path.write_text("nr,body\n" + "".join(f"{i},{t}\n" for i, t in enumerate(texts * 2)), encoding="utf-8")
        out = self.dir / "empty"
        said = run("cluster", "-k", "2-3", "--report", "-o", out, "--text-column", "body", path, f"b={path}").stdout
        self.open(out / "report.html")
        for name in ("empty", "b"):
            sure = next(line.split()[2] for line in said.splitlines() if line.startswith(name + " "))
            self.assertIn(f"{sure} ({name})", self.text("#answer"))
        self.assertIn("none 4", self.js("return document.querySelector('.sizes').textContent"))
        self.assertIn("4 texts without known words have no label", self.text("#answer"))
        self.quiet("samples without a label")

    # --- every method ---------------------------------------------------------------------------------

    def test_every_method_has_every_section(self):
        for method in json.loads(run("methods", "--json").stdout):
            name = method.get("called") or method["id"]
            with self.subTest(method["id"]):
                if method["family"] == "transfer":
                    page = self.transfer("m-" + method["id"], "-m", name)
                    wanted = {"answer", "map", "clusters", "how"}
                elif method["family"] == "cluster":
                    page = self.cluster("m-" + method["id"], "-m", name)
                    wanted = {"answer", "map", "clusters", "how"}
                else:
                    page = self.cluster("m-" + method["id"], "-m", "kmeans", "--features-from", name)
                    wanted = {"answer", "map", "clusters", "how"}
                self.open(page)
                self.assertLessEqual(wanted, set(self.sections()))
                self.assertGreater(self.js("return document.querySelectorAll('.panel canvas').length"), 0)
                # every option and field is explained
                empty = self.js("""return [...document.querySelectorAll('#how table')].filter((t) => [...t.querySelectorAll('thead th')].pop().textContent === 'Meaning')
                  .flatMap((t) => [...t.querySelectorAll('tbody tr')]).filter((r) => !r.lastChild.textContent.trim()).map((r) => r.textContent)""")
                self.assertEqual(empty, [])

    def test_bench(self):
        out = self.dir / "bench"
        bench("--methods", "kmeans,lssmtc", "--grid", "lambda=0.1,0.5,0.9", "--repeats", 2, "-q", "-o", out, *self.tasks[:2])
        run("report", "-q", "-o", out / "report.html", out / "bench.json")
        self.open(out / "report.html")
        self.assertEqual(self.sections(), ["bench-0"])
        text = self.js("return document.getElementById('bench-0').textContent")
        for piece in ("±", "Results over the grid", "lssmtc"):
            self.assertIn(piece, text)
        self.check_geometry("bench")

    def test_bench_has_the_figures_of_its_table(self):
        out = self.dir / "figures"
        table = {"title": "figures", "note": "A note.", "data": [str(t) for t in self.tasks[:2]], "repeats": 4, "start": "random", "paired": "k-means", "scores": ["acc", "v_measure"],
                 "rows": [{"name": "k-means", "method": "kmeans", "set": {"n_init": 1}, "references": {"paper": {"acc": [0.5, 0.25]}}}, {"method": "snmf"}]}
        (self.dir / "figures.json").write_text(json.dumps({"title": "t", "tables": [table]}))
        bench("-q", "--plan", self.dir / "figures.json", "-o", out)
        printed = [line.strip("| ").split("|") for line in (out / "bench.md").read_text().splitlines() if line.startswith("| ")][1:]
        for strip in (False, True):  # the last: a result of a version that did not write means
            whole = json.loads((out / "bench.json").read_text())
            for row in whole["tables"][0]["rows"] if strip else []:
                del row["means"]
            (self.dir / "bench.json").write_text(json.dumps(whole))
            run("report", "-q", "--force", "-o", out / "report.html", self.dir / "bench.json")
            self.open(out / "report.html")
            shown = self.js("return [...document.querySelectorAll('#bench-0 table')][0].querySelectorAll('tbody tr').length && "
                            "[...[...document.querySelectorAll('#bench-0 table')][0].querySelectorAll('tbody tr')].map((r) => [...r.children].map((c) => c.textContent.trim()))")
            self.assertEqual([[c.strip() for c in line[:8]] for line in printed], [line[:8] for line in shown])
            self.assertIn("(paper 0.25)", shown[0][2])
            for piece in ("A note.", "paired t-test"):
                self.assertIn(piece, self.js("return document.getElementById('bench-0').textContent"))

    # --- sections ---------------------------------------------------------------------------------------

    def test_sections_of_clusters_and_k(self):
        out = self.dir / "k"
        run("cluster", "-k", "auto", "--score", "--report", "-q", "-o", out, *self.tasks)
        self.open(out / "report.html")
        self.assertEqual(self.sections(), ["answer", "map", "levels", "clusters", "selection", "compare", "markers", "across", "trust", "edit", "take", "k", "how"])
        self.assertEqual(self.js("return document.querySelectorAll('#k svg.chart').length"), 9)  # gap, modularity, agreement
        self.check_choice(out, lambda fields, task: fields["k_next"])
        self.assertIn("Matching clusters", self.js("return document.getElementById('across').textContent"))
        self.assertIn("Relatedness of the data sets", self.js("return document.getElementById('across').textContent"))
        self.js("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
        self.web.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
        pictures = self.js("return [...document.querySelectorAll('#page figure, #page .flow')].map((f) => f.closest('section')).filter((s) => !s.querySelector('table')).length")
        self.assertEqual(pictures, 0)  # a table behind every picture
        self.js("document.querySelectorAll('details').forEach((d) => { d.open = false; })")
        self.check_geometry("clusters")

    def check_choice(self, out, next_of):
        """Every curve of k is marked at the chosen number and at the runner-up, which really have the highest scores."""
        result = json.loads((out / "result.json").read_text())
        marks = self.js("return [...document.querySelectorAll('#k svg.chart')].map((s) => [...s.querySelectorAll('text.strong')].map((t) => t.textContent))")
        want = [[f"k = {t['k']}", f"next: {next_of(result['method_fields'], t['name']):.0f}"] for t in result["tasks"] if "k_curves" in t]
        self.assertEqual(marks, [w for w in want for _ in range(3)])
        for t in result["tasks"]:
            self.assertEqual(set(t.get("k_curves", {"from": 2})) - {"from"}, {"eigengap", "modularity", "agreement"} if "k_curves" in t else set())

    def cards(self):
        """Of each card: its title, its colour and shape, and the data sets in it."""
        return self.js("""return [...document.querySelectorAll('#clusters .card')].map((c) => [c.querySelector('h3').textContent.trim(),
          c.querySelector('.mark path').style.fill + c.querySelector('.mark path').getAttribute('d'),
          [...c.querySelectorAll('h4')].map((h) => h.firstChild.textContent).join(' ')])""")

    def test_clusters_without_a_counterpart_have_their_own_name_colour_and_card(self):
        # clustered separately: nothing corresponds
        page = self.cluster("separately", "-m", "kmeans")
        self.open(page)
        cards = self.cards()
        self.assertEqual(sorted((title, names) for title, _, names in cards), [(f"Cluster {c}", f"task{1 + c // 3}") for c in range(9)])
        self.assertEqual(len({look for _, look, _ in cards}), 9)
        # one list of clusters
        page = self.cluster("pooled", "-m", "kmeans", "--pooled")
        self.open(page)
        self.assertEqual([(title, names) for title, _, names in self.cards()], [(f"Cluster {c}", "task1 task2 task3") for c in range(3)])
        # cluster 0 of all, and 1 of the first two; the third's 1 and everybody's 2 have no counterpart
        result = json.loads((page.parent / "result.json").read_text())
        result["shared_clusters"] = False
        shares = {(0, 1): [1, 1, 0], (0, 2): [1, 0, 0], (1, 2): [1, 0, 0]}
        result["correspondence"] = [{"from": f"task{a + 1}", "to": f"task{b + 1}", "matrix": [[d[i] * (i == j) for j in range(3)] for i in range(3)]}
                                    for (a, b), d in shares.items()]
        (self.dir / "partly.json").write_text(json.dumps(result))
        run("report", self.dir / "partly.json", "-o", self.dir / "partly.html")
        self.open(self.dir / "partly.html")
        cards = self.cards()
        self.assertEqual([(title, names) for title, _, names in cards], [("Cluster 0", "task1 task2 task3"), ("Cluster 1", "task1 task2"),
                         ("task1 2", "task1"), ("task2 2", "task2"), ("task3 1", "task3"), ("task3 2", "task3")])
        self.assertEqual(len({look for _, look, _ in cards}), 6)
        legend = self.js("return [...document.querySelectorAll('#map .legend li')].map((e) => e.textContent.trim())")
        self.assertEqual(sorted(legend), sorted(["cluster 0", "cluster 1", "task1 2", "task2 2", "task3 1", "task3 2"]))
        self.assertEqual(self.js("return [...document.querySelectorAll('#across .node')].map((e) => e.getAttribute('aria-label').replace(/:.*/, ''))"),
                         ["Cluster 0 of task1", "Cluster 1 of task1", "task1 2 of task1", "Cluster 0 of task2", "Cluster 1 of task2", "task2 2 of task2",
                          "Cluster 0 of task3", "task3 1 of task3", "task3 2 of task3"])
        self.check_geometry("partly")

    def test_bars_have_one_scale_and_means_the_units_of_the_file(self):
        rows = [f"{2000 + 10 * (i % 5) if i % 3 else 90000 + i},{20 + i % 4 + 30 * (i % 3 == 0)},{'abc'[i % 3]}" for i in range(90)]
        (self.dir / "people.csv").write_text("income,age,plan\n" + "\n".join(rows) + "\n")
        run("cluster", "-q", "-k", 3, "--report", "-o", self.dir / "people", self.dir / "people.csv")
        self.open(self.dir / "people" / "report.html")
        bars = self.js("return [...document.querySelectorAll('.features li')].map((e) => [parseFloat(e.querySelector('.strip > span').style.width), e.querySelector('.num').textContent])")
        effects = [abs(float(text.replace("\u2212", "-"))) for _, text in bars]
        for (width, _), effect in zip(bars, effects):
            self.assertAlmostEqual(width / 100, effect / max(effects), delta=.08)
        self.assertEqual(max(width for width, _ in bars), 100)
        sentences = self.js("return [...document.querySelectorAll('.description')].map((e) => e.textContent)")
        self.assertEqual(len(sentences), 3)
        self.assertTrue(any("plan = a 100 % (others 0 %)" in s and "income 90,000" in s for s in sentences), sentences)

    def test_a_k_for_each(self):
        out = self.dir / "each"
        run("cluster", "-k", "auto,3,auto", "--report", "-q", "-o", out, *self.tasks)
        self.open(out / "report.html")
        self.assertEqual(self.js("return [...document.querySelectorAll('#k h3')].map((h) => h.textContent)"), ["task1", "task3"])
        self.check_choice(out, lambda fields, task: fields[f"k_next.{task}"])
        scores = []  # (E3) of find_k.c
        for t in json.loads((out / "result.json").read_text())["tasks"][::2]:
            unit = [[(v - min(c)) / (max(c) - min(c)) for v in c] for c in (t["k_curves"]["eigengap"], t["k_curves"]["modularity"])]
            scores.append([k for _, k in sorted((-a - b, i + 2) for i, (a, b) in enumerate(zip(*unit)))][:2])
        fields = json.loads((out / "result.json").read_text())
        self.assertEqual(scores, [[t["k"], fields["method_fields"][f"k_next.{t['name']}"]] for t in fields["tasks"][::2]])
        self.check_geometry("a k for each")

    def test_quality_and_probabilities(self):
        out = self.dir / "quality"
        run("cluster", "-m", "kmeans", "-k", 3, "--quality", "--report", "-q", "-o", out, *self.tasks)
        self.open(out / "report.html")
        text = self.js("return document.getElementById('trust').textContent")
        for piece in ("Silhouette", "Davies-Bouldin", "Stability", "not whether they are meaningful"):
            self.assertIn(piece, text)
        self.check_geometry("quality")
        self.open(self.transfer("probable", "--probabilities"))
        text = self.js("return document.getElementById('trust').textContent")
        for piece in ("Probabilities", "Calibrated on", "for guessing"):
            self.assertIn(piece, text)
        self.check_geometry("probabilities")

    def test_relate(self):
        out = self.dir / "relate"
        run("relate", "-q", "-o", out, *self.tasks)
        run("report", "-q", out / "result.json")
        self.open(out / "report.html")
        self.assertEqual(self.sections(), ["answer", "pairs", "how"])
        text = self.js("return document.getElementById('pairs').textContent")
        pair = json.loads((out / "result.json").read_text())["pairs"][0]
        for piece in ("A-distance", "task1 – task2", f"{pair['a_distance']:.2f}", f"{pair['overlap']:.2f}", "Complexity"):
            self.assertIn(piece, text)
        self.assertEqual(self.js("return document.querySelectorAll('#pairs .heat').length"), 27)
        self.check_geometry("relate")

    def test_the_command_is_the_one_that_was_given(self):
        out = self.dir / "it's a run"
        run("cluster", "-m", "kmeans", "-k", 3, "--norm", "l2", "--report", "-q", "-o", out, *self.tasks)
        self.open(out / "report.html")
        line = self.js("return document.querySelector('.command code').textContent")
        words = subprocess.run(["sh", "-c", line.replace("kindred ", "printf '%s|' ", 1)], capture_output=True, text=True, check=True).stdout
        self.assertEqual(words.split("|")[:-1], ["cluster", "-m", "kmeans", "-k", "3", "--norm", "l2", "--report", "-q", "-o", str(out), *map(str, self.tasks)])

    def test_first_words_of_texts(self):
        texts = self.dir / "texts"
        for i in range(24):
            kind = ("ship", "harbour", "sail") if i % 2 else ("wheat", "harvest", "field")
            (texts / kind[0]).mkdir(parents=True, exist_ok=True)
            (texts / kind[0] / f"{i:02}.txt").write_text(f"{EVIL[i % 4]}  {kind[0]} {kind[1]}\n\n{kind[2]} " * (1 + i % 3) + "é" * 200)
        out = self.dir / "words"
        run("cluster", "-k", 2, "--report", "-q", "-o", out, texts)
        task = json.loads((out / "result.json").read_text())["tasks"][0]
        self.assertEqual(task["excerpts"]["rows"], list(range(24)))
        self.assertTrue(all(len(t) <= 121 and "\n" not in t and "\u202e" not in t for t in task["excerpts"]["texts"]))
        self.open(out / "report.html")
        self.assertIsNone(self.js("return window.ran === undefined ? null : window.ran"))
        shown = self.js("return [...document.querySelectorAll('#clusters .excerpt')].map((e) => e.textContent)")
        self.assertEqual(len(shown), 12)  # three typical and three doubtful of two clusters
        self.assertTrue(set(shown) <= set(task["excerpts"]["texts"]), shown)
        x, y, _ = self.points()[0]
        self.move(x - 30, y - 30)
        self.move(x, y)
        self.assertIn("begins “", self.js("return document.querySelector('.panel .tip').innerText"))
        self.check_geometry("texts")

    def test_texts_explain_embeddings(self):
        """Cards, search, hover, colours and tables have the words of the texts, not the columns that samples are compared by."""
        words = (("ship", "harbour", "sail"), ("wheat", "harvest", "field"))
        rows = [[10 * (i % 2) + math.sin(i), math.cos(3 * i), 5 * (i % 2)] for i in range(30)]
        (self.dir / "emb.csv").write_text("e1,e2,e3\n" + "".join(",".join(f"{v:.4f}" for v in row) + "\n" for row in rows))
        (self.dir / "body.csv").write_text("body\n" + "".join(f"the {words[i % 2][i % 3]} and {words[i % 2][(i + 1) % 3]} of number{i}\n" for i in range(30)))
        out = self.dir / "explained"
        run("cluster", "-k", 2, "--report", "-q", "-o", out, self.dir / "emb.csv", "--explain", self.dir / "body.csv", "--text-column", "body", "--min-df", 1)
        self.open(out / "report.html")
        self.assertIn("are explained by ", self.text("body"))
        names = self.js("return [...document.querySelectorAll('#clusters ul.features li')].map((e) => e.textContent)")
        self.assertTrue(any("harbour" in n for n in names) and any("harvest" in n for n in names), names)
        self.assertFalse([n for n in names if n.startswith("e1")])
        self.js("const e = document.querySelector('#search'); e.focus(); e.value = 'number17'; e.dispatchEvent(new Event('input'))")
        ActionChains(self.web).send_keys(Keys.ENTER).perform()
        self.frames()
        self.assertTrue(self.text("#search-count").startswith("1 sample"), self.text("#search-count"))
        ActionChains(self.web).send_keys(Keys.ESCAPE).perform()
        x, y, _ = self.points()[0]
        self.move(x - 30, y - 30)
        self.move(x, y)
        tip = self.js("return document.querySelector('.panel .tip').innerText")
        self.assertRegex(tip, "begins “the (ship|harbour|sail|wheat|harvest|field) and .* of number")
        self.check_geometry("explained")

    def test_markers_are_dots(self):
        """A dot for each feature and cluster: its area is the share of samples, its lightness the mean."""
        out = self.cluster("dots", "-m", "kmeans")
        self.open(out)
        found = json.loads((out.parent / "result.json").read_text())["tasks"][0]["markers"]
        self.assertEqual(self.js("return document.querySelectorAll('#markers figure').length"), 3)
        dots = self.js("""return [...document.querySelector('#markers figure').querySelectorAll('g.node')].map((g) => [...g.querySelectorAll('.dot')].map((d) =>
          [Number(d.getAttribute('r')), getComputedStyle(d).fill.match(/[0-9]+/g).map(Number).reduce((a, b) => a + b), d.textContent]))""")
        self.assertEqual([len(c) for c in dots], [len(found["features"])] * 3)
        for i, name in enumerate(found["features"]):
            for c in range(3):
                self.assertAlmostEqual(dots[c][i][0], 10 * found["share"][c][i] ** .5, places=1)
                self.assertIn(name, dots[c][i][2])
            by_mean = sorted(range(3), key=lambda c: found["mean"][c][i])
            self.assertEqual([dots[c][i][1] for c in by_mean], sorted((dots[c][i][1] for c in range(3)), reverse=True))
        text = self.js("return document.getElementById('markers').textContent")
        self.assertIn("exploratory, because the clusters were found in the same data", text)
        self.js("document.querySelector('#markers g.node').focus()")
        ActionChains(self.web).send_keys(Keys.ENTER).perform()
        self.assertEqual(self.js("return document.querySelector('#markers g.node').getAttribute('aria-pressed')"), "true")
        self.assertIn("highlighted", self.js("return document.getElementById('live').textContent"))
        self.js("document.querySelector('#markers details').open = true")
        self.web.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
        self.assertIn("Adjusted p (exploratory)", self.js("return document.querySelector('#markers table').textContent"))
        self.check_geometry("markers")

    def test_sections_of_transfer(self):
        self.open(self.transfer("t"))
        text = self.js("return document.getElementById('trust').textContent")
        for piece in ("Confusion matrix", "Confidence: target", "Samples to check first", "fraction right"):
            self.assertIn(piece, text)
        self.check_geometry("transfer")

    def test_result_without_coordinates_says_how_to_get_them(self):
        out = self.dir / "plain"
        run("cluster", "-m", "kmeans", "-k", 3, "-q", "-o", out, *self.tasks)
        run("report", "-q", out / "result.json")
        self.open(out / "report.html")
        self.assertIn("--report", self.js("return document.getElementById('map').textContent"))

    # --- what a person does -----------------------------------------------------------------------------

    def test_hover_click_and_switch(self):
        self.open(self.cluster("c"))
        x, y, label = self.points()[0]
        self.move(x - 30, y - 30)
        self.move(x, y)
        tip = self.js("const t = document.querySelector('.panel .tip'); return t.hidden ? null : t.innerText")
        self.assertIsNotNone(tip)
        for piece in ("row ", "cluster", "known class", "confidence", "strongest"):
            self.assertIn(piece, tip)
        self.move(x, y, "mousePressed", button="left", clickCount=1)
        self.move(x, y, "mouseReleased", button="left", clickCount=1)
        chosen = self.js("return [...document.querySelectorAll('[data-cluster][aria-pressed=true]')].map((e) => e.dataset.cluster)")
        self.assertGreaterEqual(len(chosen), 2)  # in the legend, in its card, in the flow
        self.assertEqual(len(set(chosen)), 1)
        before = self.js("return document.querySelector('.panel canvas').toDataURL()")
        for mode in ("truth", "task", "confidence", "moved"):
            self.js("document.querySelector(`input[value=${arguments[0]}]`).click()", mode)
            self.web.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
            now = self.js("return document.querySelector('.panel canvas').toDataURL()")
            self.assertNotEqual(now, before, mode)
            before = now
        self.quiet("switches")

    def test_keyboard_reaches_everything(self):
        self.open(self.cluster("c"))
        reached = set()
        self.js("document.body.focus()")
        for _ in range(150):
            ActionChains(self.web).send_keys(Keys.TAB).perform()
            what = self.js("const e = document.activeElement; return e.closest('section') ? e.tagName.toLowerCase() : ''")
            reached.add(what)
        for tag in ("canvas", "button", "input", "summary", "g"):
            self.assertIn(tag, reached)
        self.js("document.querySelector('.panel canvas').focus()")
        picture = self.js("return document.querySelector('.panel canvas').toDataURL()")
        for key in (Keys.ARROW_RIGHT, "+", "n"):
            ActionChains(self.web).send_keys(key).perform()
        self.web.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
        self.assertNotEqual(self.js("return document.querySelector('.panel canvas').toDataURL()"), picture)
        self.assertIn("row ", self.js("return document.getElementById('live').textContent"))
        ActionChains(self.web).send_keys(Keys.ENTER).perform()
        self.assertIn("highlighted", self.js("return document.getElementById('live').textContent"))
        names = self.js("return [...document.querySelectorAll('button, input, canvas, svg[role=img], [role=button], [role=region]')].filter((e) => !(e.ariaLabel || e.getAttribute('aria-label') || e.textContent.trim() || (e.labels && e.labels.length))).length")
        self.assertEqual(names, 0)  # screen readers have a word for each

    def test_names_that_would_run_are_text(self):
        header = ",".join('"' + name.replace('"', '""') + '"' for name in EVIL[:5]) + ",id,kind"
        rows = [",".join(str((i * (j + 3)) % 7 + (5 if i % 2 else 0)) for j in range(5)) + f',"{EVIL[i % 3].replace(chr(34), chr(34) * 2)}",'
                f'"{EVIL[i % 2].replace(chr(34), chr(34) * 2)}"' for i in range(40)]
        (self.dir / "evil.csv").write_text("\n".join([header] + rows) + "\n")
        out = self.dir / "evil"
        run("cluster", "-k", 2, "-q", "--report", "--score", "--id-column", "id", "--label-column", "kind", "-o", out,
            f"{EVIL[0].replace('=', '').replace('/', '')}=" + str(self.dir / "evil.csv"))
        text = json.loads((out / "result.json").read_text())
        text["warnings"] = EVIL
        text["method"] = EVIL[1]
        text["tasks"][0]["advice"] = EVIL
        text["tasks"][0]["name"] = EVIL[5]
        text["options"][EVIL[0]] = EVIL[1]
        text["method_fields"][EVIL[0]] = EVIL[2]
        (self.dir / "evil.json").write_text(json.dumps(text))
        for page, source in ((out / "report.html", None), (self.dir / "evil.html", self.dir / "evil.json")):
            if source:
                run("report", "-q", "-o", page, source)
            self.open(page)
            self.assertIsNone(self.js("return window.ran === undefined ? null : window.ran"))
            self.assertEqual(self.js("return document.querySelectorAll('#page img, #page script, #page svg[onload]').length"), 0)
            self.assertNotIn("\u202e", self.js("return document.body.textContent"))
        self.assertIn("<img src=x", self.js("return document.body.textContent"))
        self.check_geometry("hostile names")

    def test_dark_light_and_print(self):
        self.open(self.cluster("c"))
        colours = []
        for scheme in ("light", "dark"):
            self.size(1200, media=[("prefers-color-scheme", scheme)])
            colours.append(self.js("return getComputedStyle(document.body).backgroundColor"))
        self.assertNotEqual(*colours)
        pdf = base64.b64decode(self.web.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})["data"])
        self.assertTrue(pdf.startswith(b"%PDF"))
        self.assertGreater(len(pdf), 20000)
        self.quiet("print")

    # --- many samples -------------------------------------------------------------------------------------

    def many(self, n, tasks, features):
        """A result with all that a report of n samples can hold, and long names."""
        rng, out, at = random.Random(n), self.dir / f"many{n}.json", n // tasks
        classes = [f"known class number {c}" for c in range(12)]

        def values(t, f, labels):
            """Counts that are mostly zero, and more frequent in one cluster."""
            pairs, gap = bytearray(), 0
            for c in labels:
                if gap < 255 and rng.random() > (0.4 if c == f % 12 else 0.04):
                    gap += 1
                else:
                    pairs += bytes((gap, rng.randrange(1, 255)))
                    gap = 0
            return {"name": f"feature {f}", "low": 0, "high": 9, "fill": 0, "codes": base64.b64encode(pairs).decode()}

        def task(t):
            labels = [rng.randrange(12) for _ in range(at)]
            side = {"x": [min(65535, max(0, int(rng.gauss(6000 * (c + 1), 4000)))) for c in labels],
                    "y": [min(65535, max(0, int(rng.gauss(30000, 9000)))) for _ in labels]}
            task = {"name": f"task{t}", "n": at, "d": features, "k": 12, "labels": labels, "embedding": side,
                    "ids": [f"sample-{t}-{i:06}-of-many" for i in range(at)],
                    "confidence": [rng.random() for _ in labels], "second": [rng.randrange(12) for _ in labels],
                    "truth": [classes[rng.randrange(12)] for _ in labels], "moved": [rng.randrange(2) for _ in labels],
                    "before": [rng.randrange(12) for _ in labels],
                    "clusters": [{"number": c, "size": 1, "features": [], "typical": [c], "doubtful": [c + 12]} for c in range(12)]}
            task["values"] = [values(t, f, labels) for f in range(200)]
            if features:
                task["strongest"] = {"names": [f"ENSG{j:011}" for j in range(features)],
                                     "index": [[rng.randrange(features) for _ in range(3)] for _ in labels]}
            return task

        out.write_text(json.dumps({"kindred": "0", "command": "cluster", "method": "kmeans", "tasks": [task(t) for t in range(tasks)]}))
        run("report", "-q", "-o", out.with_suffix(".html"), out)
        return out.with_suffix(".html")

    def check_speed(self, page):
        """Prints when the map appears and how long frames take while it is moved; no time is asserted."""
        self.open(page)
        seen = self.js("return performance.getEntriesByName('map')[0].startTime")
        self.web.set_script_timeout(120)
        frames = sorted(self.web.execute_async_script("""
          const done = arguments[arguments.length - 1], c = document.querySelector('.panel canvas');
          c.scrollIntoView({block: 'center', behavior: 'instant'});
          const key = (k) => c.dispatchEvent(new KeyboardEvent('keydown', {key: k, bubbles: true, cancelable: true})), times = [];
          let last = null, i = 0;
          const frame = (now) => {
            if (last !== null) times.push(now - last);
            last = now;
            if (times.length === 60) { done(times); return; }
            i++;
            key(i % 20 === 0 ? (i % 40 ? '+' : '-') : i % 2 ? 'ArrowRight' : 'ArrowLeft');
            requestAnimationFrame(frame);
          };
          requestAnimationFrame(frame);"""))
        print(f"{page.name}: {page.stat().st_size / 1e6:.2f} MB, map after {seen:.0f} ms, "
              f"frames of {frames[30]:.1f} ms in the median and {frames[57]:.1f} ms at 95 %")
        drawn = self.js("""const c = document.querySelector('.panel canvas'), d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
          let n = 0; for (let i = 3; i < d.length; i += 4) n += d[i] > 0; return n""")
        self.assertGreater(drawn, 1000)
        x, y, _ = self.points()[0]
        self.move(x - 30, y - 30)
        self.move(x, y)
        self.assertIn("cluster", self.js("return document.querySelector('.panel .tip').innerText"))

    def test_twenty_thousand_samples(self):
        page = self.many(20000, 1, 20000)
        self.assertLess(page.stat().st_size, 3000000)
        self.check_speed(page)

    def test_two_hundred_thousand_samples(self):
        page = self.many(200000, 2, 0)
        self.assertLess(page.stat().st_size, 20000000)
        self.check_speed(page)
        self.js("[...document.querySelectorAll('#map > details')].pop().open = true")
        self.web.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
        self.assertIn("of 200", self.js("return [...document.querySelectorAll('#map > details')].pop().querySelector('.pages').textContent"))


if __name__ == "__main__":
    main()
