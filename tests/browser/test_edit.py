"""Finishing a result in the report: edit, levels, label next, take away, summary for slides."""
import csv
import io
import json
import pathlib
import time
import unittest

from harness import EVIL, ActionChains, Keys, PageTest, main, run
from test_explore import CONTRAST


class Edit(PageTest):
    def setUp(self):
        self.downloads = self.dir / "downloads"
        self.downloads.mkdir(exist_ok=True)
        for file in self.downloads.iterdir():
            file.unlink()
        self.web.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(self.downloads)})

    def fresh(self, page, width=1200):
        """Opens a page without what an earlier test left in the browser."""
        self.open(page, width)
        self.js("localStorage.clear()")
        self.open(page, width)

    def result(self, page):
        return json.loads((pathlib.Path(page).parent / "result.json").read_text())

    def button(self, words, within="#page"):
        self.assertTrue(self.js("""const b = [...document.querySelectorAll(`${arguments[1]} button`)].find((e) => e.textContent === arguments[0]);
          if (!b || b.disabled) return false; b.click(); return true""", words, within), words)
        self.frames()

    def put(self, selector, words):
        self.js("const e = document.querySelector(arguments[0]); e.value = arguments[1]; e.dispatchEvent(new Event('change'))", selector, words)

    def saved(self, name):
        """The text of a file that the page saves."""
        for _ in range(100):
            if (self.downloads / name).exists():
                return (self.downloads / name).read_text()
            time.sleep(.1)
        self.fail(f"{name} is not saved: {[f.name for f in self.downloads.iterdir()]}")

    def edits(self):
        return self.js("return [...document.querySelectorAll('#edit .edits li')].map((e) => e.textContent)")

    def legend(self):
        return self.js("return [...document.querySelectorAll('#legend li')].map((e) => e.textContent.trim())")

    def rename(self, cluster, name):
        self.choose("#edit-cluster", cluster)
        self.put("#edit-name", name)
        self.button("Rename", "#edit")

    def select_by(self, kind, value):
        self.choose("#by-kind", kind)
        self.choose("#by-value", value)
        self.button("Select", "#selection")

    # --- 6: edit ----------------------------------------------------------------------------------------

    def test_edits_change_the_page_are_kept_saved_and_applied(self):
        page = self.cluster("c")
        before = self.result(page)
        self.fresh(page)
        self.rename("Cluster 0", "animals")
        self.assertEqual(self.legend()[0], "animals")
        self.assertIn("animals", self.text("#clusters"))
        self.assertIn("animals", self.text("#across"))
        self.choose("#edit-cluster", "Cluster 2")
        self.choose("#edit-into", "Cluster 1")
        self.button("Merge", "#edit")
        self.assertEqual(self.legend(), ["animals", "cluster 1"])
        self.assertEqual(self.js("return document.querySelectorAll('.card[id^=cluster-]').length"), 2)
        self.assertTrue(self.js("return document.querySelectorAll('#cluster-1 .features li').length > 0"))  # of the samples that it has now
        self.select_by("task", "task2")
        self.put("#sample-note", "all of\nthem")
        self.button("Add note", "#edit")
        self.button("Mark as wrong", "#edit")
        self.assertEqual(self.legend(), ["animals", "cluster 1"])
        self.choose("#edit-cluster", "Cluster 1")
        self.put("#edit-note", "two in one")
        self.button("Save note", "#edit")
        self.assertIn("two in one", self.text("#cluster-1"))
        done = self.edits()
        self.assertEqual(len(done), 5)
        self.button("Undo", "#edit")
        self.assertEqual(len(self.edits()), 4)
        self.assertNotIn("two in one", self.text("#cluster-1"))
        self.js("document.activeElement.blur()")
        ActionChains(self.web).key_down(Keys.CONTROL).send_keys("y").key_up(Keys.CONTROL).perform()
        self.frames()
        self.assertEqual(self.edits(), done)
        ActionChains(self.web).key_down(Keys.CONTROL).send_keys("z").key_up(Keys.CONTROL).perform()
        self.frames()
        self.assertEqual(len(self.edits()), 4)
        self.button("Redo", "#edit")
        self.check_geometry("edits")
        for scheme in ("light", "dark"):
            self.size(1200, media=[("prefers-color-scheme", scheme)])
            self.assertEqual(self.js(CONTRAST, "#edit *, #map .legend *"), [], scheme)
        self.button("Save edits", "#edit")
        text = self.saved("edits.json")
        self.open(page)  # they are kept
        self.assertEqual(self.edits(), done)
        self.assertEqual(self.legend(), ["animals", "cluster 1"])
        (self.dir / "edits.json").write_text(text)
        run("relabel", "--report", "--force", "-q", "-o", self.dir / "edited", self.dir / "c" / "result.json", self.dir / "edits.json")
        after = self.result(self.dir / "edited" / "report.html")
        for old, new in zip(before["tasks"], after["tasks"]):
            self.assertEqual(new["labels"], [1 if label == 2 else label for label in old["labels"]])
        self.assertEqual(after["tasks"][1]["wrong"], list(range(50)))
        self.fresh(self.dir / "edited" / "report.html")
        self.assertEqual(self.edits(), done)  # those that it was made with
        self.assertEqual(self.legend(), ["animals", "cluster 1"])
        self.assertIn("two in one", self.text("#cluster-1"))
        self.quiet("edits")

    def test_a_click_on_the_title_of_a_card_renames_it(self):
        self.fresh(self.cluster("c"))
        title = self.text("#cluster-1 .title")
        self.assertRegex(self.text("#cluster-1 h3"), r"match \d+ %")
        self.js("document.querySelector('#cluster-1 .title button').click()")
        name = self.web.switch_to.active_element
        self.assertEqual(name.get_property("value"), title)  # the proposal can be kept
        name.send_keys(Keys.ESCAPE)
        self.assertEqual([self.text("#cluster-1 .title"), self.edits()], [title, []])
        self.js("document.querySelector('#cluster-1 .title button').click()")
        name = self.web.switch_to.active_element
        name.clear()
        name.send_keys(EVIL[0], Keys.ENTER)
        self.frames()
        self.assertIn(EVIL[0], self.legend())
        self.assertIn(EVIL[0], self.text("#cluster-1 h3"))
        self.assertEqual(len(self.edits()), 1)
        self.js("document.querySelector('#cluster-0 .title button').click()")  # a name without letters
        name = self.web.switch_to.active_element
        name.clear()
        name.send_keys(" ", Keys.ENTER)
        self.assertIn("not possible", self.text("#cluster-0 .wrong"))

    def test_damaged_edits_are_refused_by_line(self):
        page = self.cluster("c")
        self.fresh(page)
        mark = self.js("return JSON.parse(document.getElementById('data').textContent).fingerprint")
        head = '{"format": "kindred-edits", "version": 1,\n"result": ' + json.dumps(mark) + ',\n"edits": ['
        for text, says in ((head, "line 3"), (head + '\n{"do": "merge", "cluster": 7, "into": 1}]}', "line 4: edit 1, merge: there is no cluster 7"),
                           (head + '{"do": "wrong", "task": "task1", "samples": [60]}]}', "line 3: edit 1, wrong: sample 60 is out of range"),
                           (head.replace(json.dumps(mark), '"x"') + "]}", "line 2: these are edits of another result"), ("[1]", "line 1: not an edits file"),
                           (head + '\n{"do": "rename", "cluster": 0, "name": ' + json.dumps(EVIL[5]) + "}]}", "line 4: edit 1, rename: 'name' has 10000 characters")):
            (self.dir / "bad.json").write_text(text)
            self.web.find_element("css selector", "#edit-file").send_keys(str(self.dir / "bad.json"))
            for _ in range(50):
                if says in self.text("#edit-wrong"):
                    break
                time.sleep(.1)
            self.assertIn(says, self.text("#edit-wrong"))
            self.assertEqual(self.edits(), [])
        good = [{"do": "rename", "cluster": c, "name": EVIL[c]} for c in range(3)] + [{"do": "note", "cluster": 0, "text": EVIL[0] + EVIL[3]},
                                                                                       {"do": "note", "task": "task1", "samples": [0], "text": EVIL[1]}]
        (self.dir / "good.json").write_text(head + "\n" + ",\n".join(map(json.dumps, good)) + "]}")
        self.web.find_element("css selector", "#edit-file").send_keys(str(self.dir / "good.json"))
        for _ in range(50):
            if len(self.edits()) == 5:
                break
            time.sleep(.1)
        self.assertEqual(len(self.edits()), 5)
        self.assertIsNone(self.js("return window.ran === undefined ? null : window.ran"))
        self.assertIn(EVIL[0], self.text("#clusters"))
        self.check_geometry("hostile edits")
        self.quiet("hostile edits")

    def test_impossible_edits_say_why(self):
        self.fresh(self.cluster("c"))
        self.button("Mark as wrong", "#edit")
        self.assertIn("Select samples first", self.text("#edit-wrong"))
        self.choose("#edit-cluster", "Cluster 1")
        self.choose("#edit-into", "Cluster 1")
        self.button("Merge", "#edit")
        self.assertIn("two different", self.text("#edit-wrong"))
        self.rename("Cluster 1", "   ")
        self.assertIn("empty", self.text("#edit-wrong"))
        self.rename("Cluster 1", "same")
        self.rename("Cluster 2", "same")
        self.assertIn("merge the two", self.text("#edit-wrong"))
        self.assertEqual(len(self.edits()), 1)

    def test_classes_are_edited(self):
        page = self.transfer("t")
        self.fresh(page)
        first, second = self.legend()[:2]
        self.rename(first, "zero")
        self.choose("#edit-cluster", second)
        self.choose("#edit-into", "zero")
        self.button("Merge", "#edit")
        self.assertEqual(self.legend()[0], "zero")
        self.assertNotIn(second, self.legend())
        self.button("Save edits", "#edit")
        (self.dir / "edits.json").write_text(self.saved("edits.json"))
        run("relabel", "--force", "-q", "-o", self.dir / "edited", self.dir / "t" / "result.json", self.dir / "edits.json")
        self.assertNotIn(second, (self.dir / "edited" / "target.labels").read_text().split())

    # --- 7: levels --------------------------------------------------------------------------------------

    def test_map_cards_and_counterparts_follow_the_slider(self):
        out = self.dir / "levels"
        run("cluster", "-k", "2-5", "--report", "-q", "-o", out, *self.tasks[:2])
        result = json.loads((out / "result.json").read_text())
        levels = result["levels"]
        main_level = [level["k"] for level in levels].index(result["level"])
        self.fresh(out / "report.html")
        cards = "return [...document.querySelectorAll('.card[id^=cluster-]')].map((e) => [...e.querySelectorAll('.part h4 small')].map((s) => parseInt(s.textContent)))"
        for at in [i for i in (1, 0, 2, 3) if i != main_level]:
            self.js("const s = document.getElementById('level'); s.value = arguments[0]; s.dispatchEvent(new Event('input'))", at)
            self.frames()
            tasks = levels[at]["tasks"]
            sizes = [[task["sizes"][c] for task in tasks if c < len(task["sizes"]) and task["sizes"][c]] for c in range(max(len(t["sizes"]) for t in tasks))]
            self.assertEqual(sorted(self.js(cards)), sorted(s for s in sizes if s))
            self.assertEqual(len(self.legend()), sum(1 for s in sizes if s))
            nodes = self.js("return document.querySelectorAll('#across .flow g.node').length")
            self.assertEqual(nodes, sum(s > 0 for task in levels[at]["tasks"] for s in task["sizes"]))
            self.assertIn("Move the slider there to edit", self.text("#edit"))
            self.assertTrue(self.js("return document.querySelectorAll('#clusters .features li').length > 0"))
        self.js("const s = document.getElementById('level'); s.value = arguments[0]; s.dispatchEvent(new Event('input'))", main_level)
        self.frames()
        self.assertEqual(sum(map(sum, self.js(cards))), 110)
        self.rename(self.js("return [...document.querySelector('#edit-cluster').options].pop().value"), "fifth")
        self.assertIn("fifth", self.text("#clusters"))
        self.quiet("levels")
        self.check_geometry("levels")
        separate = self.dir / "separate"  # numbers of different data sets have nothing in common
        run("cluster", "-m", "kmeans", "-k", "2-3", "--report", "-q", "-o", separate, *self.tasks[:2])
        self.fresh(separate / "report.html")
        self.js("const s = document.getElementById('level'); s.value = 0; s.dispatchEvent(new Event('input'))")
        self.frames()
        self.assertEqual(len(self.js(cards)), 4)

    # --- 8: label next ----------------------------------------------------------------------------------

    def test_queue_with_one_key_per_class_is_saved_for_the_next_run(self):
        page = self.transfer("asked", "--ask", 5)
        target = self.result(page)["tasks"][-1]
        self.fresh(page)
        truth = (self.data / "task2.labels").read_text().split()
        names = self.js("return [...document.querySelectorAll('#label .class')].map((e) => e.textContent.replace(/^\\S+ /, ''))")
        self.assertEqual(sorted(names), sorted(set(truth)))
        self.js("document.getElementById('label-card').focus()")
        for row in target["ask"][:3]:
            self.assertIn(f"row {row + 1}", self.text("#label-card dd"))
            self.assertNotIn("known class", self.text("#label-card"))
            ActionChains(self.web).send_keys("1234567890"[names.index(truth[row])]).perform()
            self.frames()
        ActionChains(self.web).send_keys(Keys.ARROW_RIGHT, Keys.ARROW_LEFT, Keys.ARROW_LEFT, Keys.BACKSPACE).perform()
        self.frames()
        self.assertIn("2 labels given", self.text("#label-card"))
        self.open(page)  # they are kept
        self.assertIn("2 labels given", self.text("#label-card"))
        self.assertIn("--target-labels target.answers.csv", self.text("#label .command"))
        self.check_geometry("label next")
        self.assertEqual(self.js(CONTRAST, "#label *"), [])
        self.button("Save labels", "#label")
        text = self.saved("target.answers.csv")
        given = list(csv.DictReader(io.StringIO(text)))
        self.assertEqual({int(r["row"]) - 1: r["class"] for r in given}, {row: truth[row] for row in target["ask"][:2]})
        (self.dir / "answers.csv").write_text(text)
        run("transfer", "-q", "--force", "-o", self.dir / "next", "--source", self.tasks[0], "--labels", self.data / "task1.labels", "--target", self.tasks[1],
            "--target-labels", self.dir / "answers.csv")
        labels = (self.dir / "next" / "target.labels").read_text().split()
        self.assertEqual([labels[row] for row in target["ask"][:2]], [truth[row] for row in target["ask"][:2]])
        self.quiet("label next")

    def test_queue_without_ask_goes_by_confidence(self):
        page = self.transfer("t")
        target = self.result(page)["tasks"][-1]
        self.fresh(page)
        least = min(range(len(target["labels"])), key=lambda i: (round(target["confidence"][i], 3), i))
        self.assertIn(f"row {least + 1}", self.text("#label-card dd"))
        self.button("Show on the map", "#label")
        self.assertIn("1 sample", self.text("#selected-count"))
        self.open(self.cluster("c"))
        self.assertNotIn("label", self.sections())

    # --- 9: take away -----------------------------------------------------------------------------------

    def test_selection_map_and_tables_are_saved(self):
        page = self.cluster("c")
        tasks = self.result(page)["tasks"]
        self.fresh(page)
        self.button("Selected samples (CSV)", "#take")
        self.assertIn("Select samples first", self.text("#take-said"))
        self.select_by("cluster", "cluster 1")
        self.button("Selected samples (CSV)", "#take")
        rows = list(csv.DictReader(io.StringIO(self.saved("selection.csv"))))
        self.assertEqual([(r["data_set"], int(r["row"]) - 1) for r in rows], [(t["name"], i) for t in tasks for i, c in enumerate(t["labels"]) if c == 1])
        self.assertEqual({r["cluster"] for r in rows}, {"cluster 1"})
        self.button("Map (SVG)", "#take")
        picture = self.saved("task1-map.svg")
        parsed = self.js("""const d = new DOMParser().parseFromString(arguments[0], 'image/svg+xml');
          return [d.querySelector('parsererror') === null, d.querySelectorAll('svg svg path').length, [...d.querySelectorAll('text')].map((t) => t.textContent)]""", picture)
        self.assertEqual(parsed, [True, 150, ["task1", "task2", "task3", "cluster 0", "cluster 1", "cluster 2"]])
        self.button("Map (PNG)", "#take")
        for _ in range(100):
            if (self.downloads / "task1-map.png").exists():
                break
            time.sleep(.1)
        self.assertTrue((self.downloads / "task1-map.png").read_bytes().startswith(b"\x89PNG"))
        self.js("const d = document.querySelector('#clusters details'); d.open = true")
        self.frames()
        shown = self.js("return document.querySelectorAll('#clusters details tbody tr').length")
        self.js("document.querySelector('#clusters details .csv').click()")
        rows = list(csv.DictReader(io.StringIO(self.saved("features-of-the-clusters.csv"))))
        self.assertGreater(len(rows), shown)  # all pages
        self.assertEqual(len(rows), sum(len(c["features"]) for t in tasks for c in t["clusters"]))
        self.assertEqual(list(rows[0]), ["Data set", "Cluster", "Feature", "Effect", "Mean inside", "Mean outside"])
        self.assertEqual(self.js("return document.querySelectorAll('table').length - document.querySelectorAll('.scroll .csv').length"), 0)
        self.check_geometry("take away")
        self.quiet("take away")

    def test_a_link_opens_the_view_again(self):
        page = self.cluster("c")
        self.fresh(page)
        self.js("document.querySelector('input[value=truth]').click()")
        self.select_by("task", "task2")
        self.js("const c = document.querySelector('.panel canvas'); c.focus(); for (const key of ['+', 'ArrowRight']) c.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}))")
        time.sleep(.6)
        self.frames()
        link = self.js("return location.hash")
        self.assertRegex(link, "^#view&colour=truth&.*zoom=1.4&select=1%3A0-49$")
        self.web.get("about:blank")
        self.web.get("file://" + str(page) + link)
        self.frames(4)
        self.assertEqual(self.js("return document.querySelector('input[name=mode]:checked').value"), "truth")
        self.assertIn("50 samples", self.text("#selected-count"))
        time.sleep(.6)
        self.assertEqual(self.js("return location.hash"), link)
        self.button("Link to this view", "#take")
        self.assertTrue(self.js("return document.querySelector('#take-said input').value").endswith(link))
        for bad in ("#view&zoom=x&colour=__proto__&select=9:1-3;0:x&level=99&x=1e9", "#view&colour=%E0%A4%A", "#view&search=" + "%3Cimg%20src=x%20onerror=window.ran=1%3E"):
            self.web.get("about:blank")
            self.web.get("file://" + str(page) + bad)
            self.assertEqual(self.js("return document.documentElement.dataset.ready"), "1")
            self.assertIsNone(self.js("return window.ran === undefined ? null : window.ran"))
            self.quiet(bad)

    # --- 10: tell ---------------------------------------------------------------------------------------

    def test_summary_for_slides_is_one_screen_with_five_sentences(self):
        for page in (self.cluster("c"), self.transfer("t")):
            self.fresh(page)
            names = self.legend()
            for width, height in ((1280, 720), (1920, 1080), (360, 700)):
                self.size(width, height)
                self.js("document.getElementById('slides-button').focus()")
                ActionChains(self.web).send_keys(Keys.ENTER).perform()
                self.frames()
                told = self.js("return [...document.querySelectorAll('#slides .five li')].map((e) => e.textContent)")
                self.assertEqual(len(told), 5)
                self.assertTrue(all(s.endswith(".") for s in told), told)
                self.assertEqual(sorted(n.lower() for n in self.js("return [...document.querySelectorAll('#slides .who')].map((e) => e.textContent)")), sorted(n.lower() for n in names))
                self.assertTrue(self.js("const c = document.querySelector('#slides canvas'), d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data, s = new Set(); for (let i = 0; i < d.length; i += 4) s.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]); return s.size > 5"))
                if width > 360:
                    self.assertLessEqual(self.js("const s = document.getElementById('slides'); return s.scrollHeight - s.clientHeight"), 0, width)
                self.assertLessEqual(self.js("const s = document.getElementById('slides'); return s.scrollWidth - s.clientWidth"), 0, width)
                self.assertEqual(self.js(CONTRAST, "#slides *"), [])
                ActionChains(self.web).send_keys(Keys.ESCAPE).perform()
                self.assertIsNone(self.text("#slides"))
                self.assertEqual(self.js("return document.activeElement.id"), "slides-button")
            self.quiet("slides")


if __name__ == "__main__":
    main()
