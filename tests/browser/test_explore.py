"""Exploring a report: search, select, compare, colour by anything, filters. By mouse, touch and keyboard."""
import json
import unittest

from harness import EVIL, ActionChains, Keys, PageTest, main, run

# Texts whose contrast with what is behind them is below AA: 4.5, or 3 if they are large.
CONTRAST = """
const rgb = (s) => { const m = s.match(/[\\d.]+/g).map(Number); return s.startsWith('color(srgb') ? [...m.slice(0, 3).map((v) => 255 * v), m.length > 3 ? m[3] : 1] : [m[0], m[1], m[2], m.length > 3 ? m[3] : 1]; };
const light = (c) => { const [r, g, b] = c.map((v) => { v /= 255; return v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; }); return .2126 * r + .7152 * g + .0722 * b; };
const behind = (e) => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c[3] === 1) return c; } return [255, 255, 255, 1]; };
const out = [];
for (const e of document.querySelectorAll(arguments[0])) {
  if (!e.offsetParent || e.closest('.unseen, [disabled], .faded') || ![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim())) continue;
  const s = getComputedStyle(e), a = light(rgb(s.color).slice(0, 3)), b = light(behind(e).slice(0, 3)), ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
  if (ratio < (parseFloat(s.fontSize) >= 24 ? 3 : 4.5)) out.push(e.textContent.slice(0, 30) + ' ' + ratio.toFixed(2));
}
return out.slice(0, 5);
"""


class Explore(PageTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        rows = [f"p{i:03},{20 + i % 10 + 30 * (i % 2)},{900 + 11 * (i % 17) + 2000 * (i % 2)},202{1 + i % 2}-0{1 + i % 9}-10,{'ab'[i % 2]}" for i in range(120)]
        (cls.dir / "people.csv").write_text("id,age,income,joined,plan\n" + "\n".join(rows) + "\n")
        run("cluster", "-k", 2, "--id-column", "id", "--report", "-q", "-o", cls.dir / "people", cls.dir / "people.csv")

    def people(self):
        self.open(self.dir / "people" / "report.html")
        return json.loads((self.dir / "people" / "result.json").read_text())["tasks"][0]

    def result(self, page):
        return json.loads((page.parent / "result.json").read_text())

    def selected(self):
        """How many samples the panel says are selected."""
        self.frames()
        words = self.text("#selected-count")
        return 0 if words.startswith("Nothing") else int(words.split(" sample")[0].replace(",", ""))

    def click(self, selector):
        self.js("document.querySelector(arguments[0]).click()", selector)

    def type(self, selector, words):
        self.js("const e = document.querySelector(arguments[0]); e.focus(); e.value = ''", selector)
        ActionChains(self.web).send_keys(words).perform()

    def search(self, words):
        self.type("#search", words)
        ActionChains(self.web).send_keys(Keys.ENTER).perform()
        self.frames()
        return self.text("#search-count")

    # --- 1: search --------------------------------------------------------------------------------------

    def test_search_finds_samples_and_features_and_selects_them(self):
        page = self.cluster("c")
        self.open(page)
        task = self.result(page)["tasks"][0]
        before = self.js("return document.querySelector('.panel canvas').toDataURL()")
        strong = task["strongest"]
        name = strong["names"][0]
        wanted = sum(name in [s["names"][j] for j in index] for t in self.result(page)["tasks"] for s in [t["strongest"]] for index in s["index"])
        self.assertIn(f"{wanted} sample", self.search(name))
        self.assertNotEqual(self.js("return document.querySelector('.panel canvas').toDataURL()"), before)
        self.assertIn(name, self.text("#search-results table"))
        self.assertIn(f"Colour by {name}", self.text("#search-results"))
        self.js("[...document.querySelectorAll('#search-results .legend button')][0].click()")
        self.assertEqual(self.js("return document.querySelector('input[name=mode]:checked').value"), "field")
        self.search(name)
        self.click("#search-select")
        self.assertEqual(self.selected(), wanted)
        self.assertEqual(self.search("no such thing"), "0 samples and 0 features found.")
        ActionChains(self.web).send_keys(Keys.ESCAPE).perform()
        self.assertTrue(self.js("return document.getElementById('search-count').hidden"))
        self.quiet("search")

    # --- 2: select --------------------------------------------------------------------------------------

    def test_rectangle_lasso_add_subtract_invert(self):
        page = self.cluster("c")
        self.open(page)
        n = [t["n"] for t in self.result(page)["tasks"]]
        box = lambda: self.js("const c = document.querySelector('.panel canvas'); c.scrollIntoView({block: 'center', behavior: 'instant'}); const r = c.getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]")
        self.click("input[name=shape][value=rectangle]")
        (left, top, right, bottom), points = box(), self.points()
        x, y, _ = min(points, key=lambda p: abs(p[0] - (left + right) / 2) + abs(p[1] - (top + bottom) / 2))
        inside = sum(abs(px - x) <= 40 and abs(py - y) <= 40 for px, py, _ in points)
        self.drag((x - 40, y - 40), (x, y), (x + 40, y + 40))
        self.assertEqual(self.selected(), inside)
        middle = (left + right) / 2
        half = sum(px < middle for px, _, _ in self.points())
        self.click("input[name=shape][value=lasso]")
        self.drag((left + 4, top + 4), (middle, top + 4), (middle, bottom - 4), (left + 4, bottom - 4), (left + 4, top + 20))
        self.assertAlmostEqual(self.selected(), half, delta=2)
        kept = self.selected()
        self.click("input[name=how][value=add]")
        self.drag((middle, top + 4), (right - 4, top + 4), (right - 4, bottom - 4), (middle, bottom - 4), (middle, top + 20))
        self.assertEqual(self.selected(), n[0])
        self.click("input[name=how][value=subtract]")
        self.drag((left + 4, top + 4), (middle, top + 4), (middle, bottom - 4), (left + 4, bottom - 4), (left + 4, top + 20))
        self.assertEqual(self.selected(), n[0] - kept)
        self.js("[...document.querySelectorAll('#selection button')].find((b) => b.textContent === 'Invert').click()")
        self.assertEqual(self.selected(), sum(n) - n[0] + kept)
        self.click("input[name=how][value=replace]")
        self.click("#everywhere")
        self.drag((left + 4, top + 4), (right - 4, top + 4), (right - 4, bottom - 4), (left + 4, bottom - 4), (left + 4, top + 20))
        self.assertEqual(self.selected(), sum(n))
        self.quiet("lasso")

    def test_what_sets_a_cluster_apart_is_what_the_result_says(self):
        page = self.cluster("alone", "--no-transfer")
        self.open(page)
        result = self.result(page)
        for number in range(2):
            self.choose("#by-kind", "data set")
            self.choose("#by-value", "task1")
            self.click("input[name=how][value=replace]")
            self.click("#selection button[type=submit]")
            self.choose("#by-kind", "cluster")
            for other in [c for c in range(self.js("return document.querySelector('#by-value').options.length"))]:
                name = self.js("return document.querySelector('#by-value').options[arguments[0]].textContent", other)
                if name not in (f"cluster {number}", f"task1 {number}"):
                    self.choose("#by-value", name)
                    self.click("input[name=how][value=subtract]")
                    self.click("#selection button[type=submit]")
            cluster = result["tasks"][0]["clusters"][number]
            self.assertEqual(self.selected(), cluster["size"])
            self.js("document.querySelector('#selected .features').parentElement.querySelector('details').open = true")
            self.frames()
            rows = self.js("return [...document.querySelectorAll('#selected table[aria-label=\"Features that distinguish the selection\"] tbody tr')].map((r) => [...r.children].map((c) => c.textContent))")
            shown = {r[0]: r[1] for r in rows}
            for f in cluster["features"][:5]:
                self.assertAlmostEqual(float(shown[f["name"]].replace("−", "-")), f["effect"], delta=0.03)
            self.assertEqual(rows[0][0], max(cluster["features"], key=lambda f: abs(f["effect"]))["name"])

    def test_click_on_clusters_classes_data_sets_and_ranges(self):
        page = self.cluster("c")
        self.open(page)
        tasks = self.result(page)["tasks"]
        self.click("#legend button")
        one = self.selected()
        self.assertIn("cluster 0", self.text("#selected-count"))
        self.js("document.querySelectorAll('#legend button')[1].dispatchEvent(new MouseEvent('click', {shiftKey: true, bubbles: true}))")
        two = self.selected()
        self.assertGreater(two, one)
        self.js("document.querySelectorAll('#legend button')[1].dispatchEvent(new MouseEvent('click', {altKey: true, bubbles: true}))")
        self.assertEqual(self.selected(), one)
        for mode, want in (("truth", sum(t["truth"].count("c0") for t in tasks)), ("task", tasks[0]["n"])):
            self.click(f"input[name=mode][value={mode}]")
            self.click("#legend button")
            self.assertEqual(self.selected(), want)
        self.choose("#by-kind", "confidence")
        for where, words in (("#by-from", "0.5"), ("#by-to", "0.95")):
            self.type(where, words)
        ActionChains(self.web).send_keys(Keys.ENTER).perform()
        self.assertEqual(self.selected(), sum(0.5 <= round(v, 3) <= 0.95 for t in tasks for v in t["confidence"]))
        self.type("#by-to", "0.1")
        ActionChains(self.web).send_keys(Keys.ENTER).perform()
        self.assertIn("Use two numbers", self.text("#selection .wrong"))
        self.js("[...document.querySelectorAll('#selected details')].pop().open = true")
        self.frames()
        self.assertIn("row ", self.text("#selected table[aria-label='Selected samples']"))
        self.quiet("clicks")
        self.check_geometry("selection")

    def test_select_with_keys_and_fingers(self):
        page = self.cluster("c")
        self.open(page)
        n = self.result(page)["tasks"][0]["n"]
        self.js("document.querySelector('.panel canvas').focus()")
        ActionChains(self.web).send_keys("n", "s").perform()
        self.assertEqual(self.selected(), 1)
        ActionChains(self.web).send_keys("v").perform()
        self.assertEqual(self.selected(), n)
        self.assertIn("selected", self.text("#live"))
        ActionChains(self.web).send_keys("i").perform()
        self.assertEqual(self.selected(), sum(t["n"] for t in self.result(page)["tasks"]) - n)
        ActionChains(self.web).send_keys(Keys.ESCAPE).perform()
        self.assertEqual(self.selected(), 0)
        self.web.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True})
        self.click("input[name=shape][value=rectangle]")
        x0, y0, x1, y1 = self.js("const c = document.querySelector('.panel canvas'); c.scrollIntoView({block: 'center', behavior: 'instant'}); const r = c.getBoundingClientRect(); return [r.left + 2, r.top + 2, r.right - 2, r.bottom - 2]")
        touch = lambda kind, *at: self.web.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y} for x, y in at]})
        touch("touchStart", (x0, y0))
        for f in (0.3, 0.6, 1):
            touch("touchMove", (x0 + f * (x1 - x0), y0 + f * (y1 - y0)))
        touch("touchEnd")
        self.web.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": False})
        self.assertEqual(self.selected(), n)

    # --- 3: compare -------------------------------------------------------------------------------------

    def test_compare_two_clusters_and_selections(self):
        page = self.cluster("c")
        self.open(page)
        self.choose("#group-a", "cluster 0")
        self.choose("#group-b", "cluster 1")
        self.assertIn("0 samples are in both groups", self.text("#overlap"))
        self.assertEqual(self.js("return document.querySelectorAll('#compared .card').length"), 2)
        first = self.js("const li = document.querySelector('#compared > div > .features li'); return [li.querySelector('.word').textContent, li.querySelector('.num').textContent]")
        self.choose("#group-a", "cluster 1")
        self.choose("#group-b", "cluster 0")
        again = self.js("const li = document.querySelector('#compared > div > .features li'); return [li.querySelector('.word').textContent, li.querySelector('.num').textContent]")
        self.assertEqual(first[0], again[0])
        self.assertEqual(first[1].lstrip("−"), again[1].lstrip("−"))
        self.assertNotEqual(first[1], again[1])
        self.js("document.querySelector('#compared details').open = true")
        self.frames()
        self.assertIn("Mean, A", self.text("#compared table[aria-label='Features that differ between the groups']"))
        self.click("#legend button")
        self.js("[...document.querySelectorAll('#selection button')].find((b) => b.textContent === 'Keep as group A').click()")
        self.assertIn("The groups are equal.", self.text("#compared"))
        self.assertIn("Jaccard index 1.00", self.text("#overlap"))
        self.choose("#group-b", "")
        self.assertIn("Choose group B", self.text("#compared"))
        self.choose("#group-b", "data set: task1")
        self.assertIn("Samples in both groups are excluded", self.text("#compared"))
        self.quiet("compare")
        self.check_geometry("compare")

    # --- 4: colour --------------------------------------------------------------------------------------

    def test_colour_by_features_numbers_and_dates(self):
        self.people()
        pictures = set()
        for name, words in (("income", "900"), ("age", "20"), ("joined", "2021-01-10"), ("plan=a", "yes")):
            self.choose("#colour-field", name)
            self.frames()
            self.assertEqual(self.js("return document.querySelector('input[name=mode]:checked').value"), "field")
            self.assertIn(words, self.text("#legend"))
            pictures.add(self.js("return document.querySelector('.panel canvas').toDataURL()"))
            self.assertIn(f"Coloured by {name}", self.text("#live"))
        self.assertEqual(len(pictures), 4)
        self.choose("#colour-field", "age")
        self.click("#legend button")
        first = self.selected()
        self.assertGreater(first, 0)
        self.js("document.querySelector('.panel canvas').focus()")
        ActionChains(self.web).send_keys("n").perform()
        self.assertIn("age", self.text("#live"))
        self.quiet("colours")
        self.check_geometry("colours")

    # --- 5: filters -------------------------------------------------------------------------------------

    def test_brushing_filters_the_map_and_the_tables(self):
        task = self.people()
        self.js("document.getElementById('filters').open = true; [...document.querySelectorAll('#map > details')].pop().open = true")
        self.frames()
        keys = self.js("return [...document.querySelectorAll('.filter')].map((f) => f.dataset.key)")
        for key in ("confidence", "size", "feature:age", "feature:income", "feature:joined"):
            self.assertIn(key, keys)
        self.assertEqual(self.js("return [...document.querySelectorAll('.filter[data-key=\"feature:age\"] rect title')].map((t) => parseInt(t.textContent.split(': ')[1])).reduce((a, b) => a + b)"), task["n"])
        x, y, w = self.js("const s = document.querySelector('.filter[data-key=\"feature:age\"] svg'); s.scrollIntoView({block: 'center', behavior: 'instant'}); const r = s.getBoundingClientRect(); return [r.left, r.top + 30, r.width]")
        before = self.js("return document.querySelector('.panel canvas').toDataURL()")
        self.drag((x + 1, y), (x + w * 0.3, y), (x + w * 0.45, y))
        self.frames()
        self.assertIn("60 of 120 samples shown: age 20 to", self.text("#filtered"))
        self.assertNotEqual(self.js("return document.querySelector('.panel canvas').toDataURL()"), before)
        self.assertIn("of 60", self.js("return [...document.querySelectorAll('#map > details')].pop().querySelector('.pages').textContent"))
        income = self.js("return [...document.querySelectorAll('.filter[data-key=\"feature:income\"] rect title')].map((t) => parseInt(t.textContent.split(': ')[1])).reduce((a, b) => a + b)")
        self.assertEqual(income, 60)
        self.js("document.querySelector('.panel canvas').focus()")
        ActionChains(self.web).send_keys("v").perform()
        self.assertEqual(self.selected(), 60)
        boxes = "document.querySelectorAll('.filter[data-key=\"feature:joined\"] input')"
        for i, words in enumerate(("2021-01-01", "2021-12-31")):
            self.js(f"const e = {boxes}[arguments[0]]; e.value = arguments[1]; e.dispatchEvent(new Event('change'))", i, words)
        self.assertIn("joined 2021-01-10 to 2021-12-31", self.text("#filtered"))
        self.js(f"const e = {boxes}[0]; e.value = 'soon'; e.dispatchEvent(new Event('change'))")
        self.assertIn("Use dates such as", self.text(".filter[data-key='feature:joined'] .wrong"))
        self.js("[...document.querySelectorAll('#filters button')].find((b) => b.textContent === 'Remove all filters').click()")
        self.assertEqual(self.text("#filtered"), "")
        self.assertEqual(self.selected(), 60)
        self.choose("#filter-field", "plan=a")
        self.js("[...document.querySelectorAll('#filters button')].find((b) => b.textContent === 'Add').click()")
        self.assertIn("feature:plan=a", self.js("return [...document.querySelectorAll('.filter')].map((f) => f.dataset.key)"))
        self.quiet("filters")
        self.check_geometry("filters")

    # --- all of them ------------------------------------------------------------------------------------

    def test_hostile_names_are_text_everywhere(self):
        cells = ['"' + name.replace('"', '""') + '"' for name in EVIL[:4]]
        rows = [",".join(str((i * (j + 3)) % 7 + (5 if i % 2 else 0)) for j in range(4)) + f",{cells[i % 3]},{cells[i % 2]}" for i in range(40)]
        (self.dir / "evil.csv").write_text(",".join(cells) + ",id,kind\n" + "\n".join(rows) + "\n")
        out = self.dir / "evil"
        run("cluster", "-k", 2, "-q", "--report", "--score", "--id-column", "id", "--label-column", "kind", "-o", out, self.dir / "evil.csv")
        self.open(out / "report.html")
        self.search("<img")
        self.assertIn("<img src=x", self.text("#search-results"))
        self.click("#search-select")
        self.assertGreater(self.selected(), 0)
        for value in self.js("return [...document.querySelector('#colour-field').options].map((o) => o.value)"):
            self.choose("#colour-field", value)
        for value in self.js("return [...document.querySelector('#by-kind').options].map((o) => o.value)"):
            self.choose("#by-kind", value)
            self.click("#selection button[type=submit]")
        for i, name in enumerate("ab"):
            self.js("const s = document.getElementById(arguments[0]); s.selectedIndex = s.options.length - 1 - arguments[1]; s.dispatchEvent(new Event('change'))", f"group-{name}", i)
        self.search("</script><script>window.ran=2</script> ' \" \\ (")
        self.js("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
        self.frames()
        self.assertIsNone(self.js("return window.ran === undefined ? null : window.ran"))
        self.assertEqual(self.js("return document.querySelectorAll('#page img, #page script, #page svg[onload]').length"), 0)
        self.assertNotIn("\u202e", self.js("return document.body.textContent"))
        self.quiet("hostile names")
        self.js("document.querySelectorAll('details').forEach((d) => { d.open = false; })")
        self.check_geometry("hostile names")

    def test_contrast_widths_and_words_for_screen_readers(self):
        self.open(self.cluster("c"))
        self.js("document.getElementById('filters').open = true")
        self.click("#legend button")
        self.choose("#group-a", "cluster 0")
        self.choose("#group-b", "cluster 1")
        self.search("a")
        for scheme in ("light", "dark"):
            self.size(1200, media=[("prefers-color-scheme", scheme)])
            self.frames()
            self.assertEqual(self.js(CONTRAST, "#map *, #selection *, #compare *, .selectionbar *"), [], scheme)
        for width in (360, 2560):
            self.size(width)
            self.frames()
            self.assertLessEqual(self.js("return document.documentElement.scrollWidth - innerWidth"), 0, width)
        names = self.js("return [...document.querySelectorAll('button, input, select, canvas, svg[role=img], [role=region], [role=group]')].filter((e) => !(e.getAttribute('aria-label') || e.textContent.trim() || (e.labels && e.labels.length))).map((e) => e.outerHTML.slice(0, 80))")
        self.assertEqual(names, [])

    def test_groups_sizes_and_search_follow_edits(self):
        """After two clusters have been merged, no list, size or search result shows the old ones."""
        page = self.cluster("merged")
        self.open(page)
        n = sum(t["n"] for t in self.result(page)["tasks"])
        before = self.js("return [...document.querySelector('#group-a').options].map((o) => o.textContent)")
        self.assertIn("cluster 2", before)
        self.choose("#edit-cluster", "Cluster 2")
        self.choose("#edit-into", "Cluster 1")
        self.js("[...document.querySelectorAll('#edit button')].find((b) => b.textContent === 'Merge').click()")
        self.frames()
        self.assertNotIn("cluster 2", self.js("return [...document.querySelector('#group-a').options].map((o) => o.textContent)"))
        self.assertEqual(self.search('"cluster 2"'), "0 samples and 0 features found.")
        self.assertEqual(self.js("return [...document.querySelectorAll('.filter[data-key=size] rect title')].map((t) => parseInt(t.textContent.split(': ')[1])).reduce((a, b) => a + b)"), n)
        self.quiet("merged")

    def test_pages_without_values_or_map_still_select(self):
        out = self.dir / "bare"
        run("cluster", "-m", "kmeans", "-k", 3, "--report", "--report-features", 0, "-q", "-o", out, *self.tasks)
        self.open(out / "report.html")
        self.click("#legend button")
        self.assertGreater(self.selected(), 0)
        self.assertIn("no values of features", self.text("#selected"))
        run("cluster", "-m", "kmeans", "-k", 3, "-q", "--force", "-o", out, *self.tasks)
        run("report", "-q", "--force", out / "result.json")
        self.open(out / "report.html")
        self.click("#clusters button.key")
        self.assertGreater(self.selected(), 0)
        self.quiet("bare")


if __name__ == "__main__":
    main()
