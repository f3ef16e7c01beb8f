"""--names: what a person calls clusters, in every file of a result, in models, and what is refused."""
import csv
import json
import os
import pathlib
import re
import unittest

from harness import CliTest

try:
    import anndata
    import numpy
except ImportError:
    anndata = None
try:
    import openpyxl
except ImportError:
    openpyxl = None


class Names(CliTest):
    def tables(self):
        """Two tables of three groups each, with columns that give titles."""
        for name, n in (("a", 30), ("b", 24)):
            lines = [f"{name}{i},{20 + 20 * (i % 3) + i % 4 * .1:.1f},{(1000, 5000, 2500)[i % 3] + i % 5},{'xyz'[i % 3]}" for i in range(n)]
            self.write(f"{name}.csv", "id,age,income,city\n" + "\n".join(lines) + "\n")
        self.write("names.csv", 'number,name\n0,"poor, young"\n2,old\n')

    def column(self, path, column):
        with open(self.path(path), newline="", encoding="utf-8") as f:
            return [row[column] for row in csv.DictReader(f)]

    def named(self, labels, **more):
        """The names of labels: given ones, else the title."""
        names = {"0": "poor, young", "2": "old", **more}
        return [names.get(label, self.title) for label in labels]

    def cluster(self, *more, k="3", out="out"):
        self.run_kindred("cluster", "-q", "-k", k, "--names", "names.csv", "-o", out, *more, "a.csv", "b.csv")
        result = json.loads(self.read(f"{out}/result.json"))
        self.title = {c["number"]: c.get("title", "") for c in result["tasks"][0]["clusters"]}[1]
        return result

    def test_every_output_has_the_names(self):
        self.tables()
        result = self.cluster("--save-model", "m.h5", "--write-table", "t.csv", "--report")
        self.assertEqual(result["tasks"][0]["names"], ["poor, young", None, "old"])
        self.assertEqual([c.get("name") for c in result["tasks"][1]["clusters"]], ["poor, young", None, "old"])
        labels = self.column("out/a.samples.csv", "cluster")
        self.assertEqual(set(labels), {"0", "1", "2"})
        self.assertTrue(self.title)
        self.assertEqual(self.column("out/a.samples.csv", "name"), self.named(labels))
        self.assertEqual(self.column("t-a.csv", "cluster_name"), self.named(labels))
        self.assertIn("poor, young", self.read("out/report.html"))
        # new samples, and a further data set
        self.run_kindred("predict", "-q", "--model", "m.h5", "--task", "a", "-o", "p.txt", "--write-table", "pt.csv", "b.csv")
        labels = self.column("p.samples.csv", "cluster")
        self.assertEqual(self.column("p.samples.csv", "name"), self.named(labels))
        self.assertEqual(self.column("pt.csv", "cluster_name"), self.named(labels))
        self.write("more.csv", "1=middle\n")
        self.run_kindred("predict", "-q", "--model", "m.h5", "--task", "a", "--names", "more.csv", "-o", "p2.txt", "b.csv")
        self.assertEqual(self.column("p2.samples.csv", "name"), self.named(labels, **{"1": "middle"}))
        self.run_kindred("cluster", "-q", "--into", "m.h5", "--names", "more.csv", "--save-model", "m2.h5", "-o", "into", "c=b.csv")
        self.assertEqual(self.column("into/c.samples.csv", "name"), self.named(self.column("into/c.samples.csv", "cluster"), **{"1": "middle"}))
        self.run_kindred("predict", "-q", "--model", "m2.h5", "--task", "c", "-o", "p3.txt", "b.csv")
        self.assertEqual(self.column("p3.samples.csv", "name"), self.named(self.column("p3.samples.csv", "cluster"), **{"1": "middle"}))

    @unittest.skipIf(anndata is None, "anndata is needed")
    def test_anndata_has_categories_with_names(self):
        self.tables()
        self.write("names.csv", "0,1\n2,old\n")  # a name that is the number of another cluster
        self.cluster("--write-h5ad", "x.h5ad")
        labels = self.result()["tasks"][0]["labels"]
        found = anndata.read_h5ad(self.path("x-a.h5ad")).obs["kindred"]
        self.assertEqual(list(found.cat.categories), ["1", "1 (1)", "old"])
        self.assertEqual(list(found), [["1", "1 (1)", "old"][label] for label in labels])

    @unittest.skipIf(anndata is None, "anndata is needed")
    def test_anndata_has_matches_and_a_common_representation(self):
        rng = numpy.random.default_rng(1)
        rates, kinds = rng.lognormal(0, 1, 200), []
        for batch in ("A", "B"):
            kind = rng.choice([0, 1, 2] if batch == "A" else [0, 1, 3], 150)
            mean = numpy.tile(rates * rng.lognormal(0, .5, 200), (150, 1))
            for z in range(4):
                mean[numpy.ix_(kind == z, range(30 * z, 30 * z + 30))] *= 8
            cells = anndata.AnnData(rng.poisson(mean).astype("float32"))
            cells.obs_names = [f"{batch}{i}" for i in range(150)]
            cells.obs["batch"], cells.obs["kind"] = batch, [f"T{z}" for z in kind]
            kinds.append(cells)
        anndata.concat(kinds).write_h5ad(self.path("x.h5ad"))
        self.write("names.csv", "0,zero\n1,one\n")
        self.run_kindred("cluster", "-q", "-k", 3, "--batch-key", "batch", "--names", "names.csv", "--write-h5ad", "y.h5ad", "-o", "out", "x.h5ad")
        y, result = anndata.read_h5ad(self.path("y.h5ad")), self.result()
        shared = y.obsm["X_kindred_rep"]
        self.assertEqual(shared.shape, (300, 50))
        near = numpy.argsort(((shared[:, None] - shared[None]) ** 2).sum(2))[:, 1:16]
        kind = numpy.array(y.obs["kind"])
        self.assertGreater((kind[near] == kind[:, None]).mean(), .98)
        one, = (m["quality"] for m in result["correspondence"] if m["from"] == "A")
        labels = result["tasks"][0]["labels"] + result["tasks"][1]["labels"]
        both = set(result["tasks"][0]["labels"]) & set(result["tasks"][1]["labels"])
        numpy.testing.assert_allclose(y.obs["kindred_match"], [one[z] if z in both else numpy.nan for z in labels])
        # relabel writes the same columns, and other names
        self.write("more.csv", "0,null\n2,two\n")
        self.run_kindred("relabel", "-q", "--names", "more.csv", "--write-h5ad", "z.h5ad", "--key-added", "neu", "-o", "new", "out/result.json")
        z = anndata.read_h5ad(self.path("z.h5ad")).obs
        self.assertEqual(list(z.columns), ["batch", "kind", "neu", "neu_confidence", "neu_second", "neu_match"])
        names = {"zero": "null", "2": "two"}
        for column in ("", "_second"):
            self.assertEqual([names.get(name, name) for name in y.obs[f"kindred{column}"]], list(z[f"neu{column}"]))
        numpy.testing.assert_array_equal(y.obs["kindred_match"], z["neu_match"])
        self.fails("relabel", "--names", "more.csv", "--write-h5ad", "w.h5ad", "--key-added", "a/b", "-o", "w", "out/result.json", code=2, says="the key 'a/b'")
        # a method with a space of its own
        self.run_kindred("cluster", "-q", "-m", "lssmtc", "-k", 3, "--batch-key", "batch", "--write-h5ad", "h.h5ad", "--arrays", "h", "-o", "h", "x.h5ad")
        shared = numpy.vstack([numpy.load(self.path(f"h/embedding.{batch}.npy")) for batch in ("A", "B")])
        numpy.testing.assert_array_equal(anndata.read_h5ad(self.path("h.h5ad")).obsm["X_kindred_rep"], shared)
        # a class that the source lacks
        anndata.read_h5ad(self.path("x.h5ad"))[:150].write_h5ad(self.path("old.h5ad"))
        anndata.read_h5ad(self.path("x.h5ad"))[150:].write_h5ad(self.path("new.h5ad"))
        self.run_kindred("transfer", "-q", "--label-column", "kind", "--source", "old.h5ad", "--target", "new.h5ad", "--write-h5ad", "t.h5ad", "-o", "t")
        t = anndata.read_h5ad(self.path("t.h5ad"))
        with open(self.path("t/target.samples.csv")) as f:
            ranks = [float(row["unlike_source"]) for row in csv.DictReader(f)]
        numpy.testing.assert_allclose(t.obs["kindred_unlike_source"], ranks, atol=1e-6)
        self.assertEqual((min(ranks), max(ranks)), (0, 1))
        self.assertEqual(t.obsm["X_kindred_rep"].shape, (150, 50))
        self.assertNotIn("kindred_match", t.obs)
        self.write("edits.json", '{"format": "kindred-edits", "version": 1, "edits": [{"do": "rename", "cluster": "T0", "name": "null"}]}\n')
        self.run_kindred("relabel", "-q", "--write-h5ad", "r.h5ad", "-o", "r", "t/result.json", "edits.json")
        r = anndata.read_h5ad(self.path("r.h5ad")).obs
        self.assertEqual(list(r["kindred_unlike_source"]), list(t.obs["kindred_unlike_source"]))
        self.assertEqual(list(r["kindred"]), ["null" if name == "T0" else name for name in t.obs["kindred"]])

    def test_relabel_renames_results_and_models(self):
        self.tables()
        self.cluster("--save-model", "m.h5")
        self.write("other.csv", "0;old\n2;poor\n")  # one name changes its cluster
        self.run_kindred("relabel", "-q", "--names", "other.csv", "--model", "m.h5", "-o", "new", "out/result.json")
        after = json.loads(self.read("new/result.json"))
        self.assertEqual(after["tasks"][0]["names"], ["old", None, "poor"])
        self.assertEqual(after["edited"]["edits"][0], {"do": "rename", "cluster": 0, "name": "old"})
        labels = self.column("new/a.samples.csv", "cluster")
        self.assertEqual(self.column("new/a.samples.csv", "name"), self.named(labels, **{"0": "old", "2": "poor"}))
        self.run_kindred("predict", "-q", "--model", "new/m.h5", "--task", "b", "-o", "p.txt", "b.csv")
        self.assertEqual(set(self.column("p.samples.csv", "name")), {"old", "poor", self.title})
        # edits of the report do the same; a model cannot merge clusters
        head = '{"format": "kindred-edits", "version": 1, "edits": [%s]}\n'
        self.write("edits.json", head % '{"do": "rename", "cluster": 1, "name": "middle"}')
        self.run_kindred("relabel", "-q", "--model", "m.h5", "-o", "new2", "out/result.json", "edits.json")
        self.run_kindred("predict", "-q", "--model", "new2/m.h5", "--task", "b", "-o", "p2.txt", "b.csv")
        self.assertEqual(set(self.column("p2.samples.csv", "name")), {"poor, young", "middle", "old"})
        self.write("edits.json", head % '{"do": "merge", "cluster": 1, "into": 0}')
        self.fails("relabel", "--model", "m.h5", "-o", "new3", "out/result.json", "edits.json", code=2, says="not merged clusters")
        self.fails("relabel", "--names", self.write("n.txt", "9,x\n"), "-o", "new3", "out/result.json", code=3, says="out/result.json has no cluster 9")
        self.fails("relabel", "--names", self.write("n.txt", "1,old\n"), "-o", "new3", "out/result.json", code=3, says="clusters 2 and 1 would have the same name, 'old'")
        self.fails("relabel", "--names", "n.txt", "-o", "new3", "out/result.json", "edits.json", code=2, says="no EDITS.json")

    def test_levels_and_cut(self):
        self.tables()
        self.cluster("-m", "kmeans", "--pooled", k="2-4")
        for k in (2, 3, 4):
            self.run_kindred("cut", "-q", "-k", k, "-o", f"cut{k}", "out/result.json")
            names = self.column(f"cut{k}/a.samples.csv", "name")
            labels = self.column(f"cut{k}/a.samples.csv", "cluster")
            self.assertEqual(names, [{"0": "poor, young", "2": "old"}.get(label, "") for label in labels])
        self.write("other.csv", "0,first\n")
        self.run_kindred("relabel", "-q", "--names", "other.csv", "-o", "new", "out/result.json")
        self.run_kindred("cut", "-q", "-k", 2, "-o", "cut5", "new/result.json")
        self.assertEqual(self.column("cut5/a.samples.csv", "name"), ["first" if label == "0" else "" for label in self.column("cut5/a.samples.csv", "cluster")])

    def rows(self, path):
        with open(self.path(path), newline="", encoding="utf-8") as f:
            return list(csv.DictReader(f))

    def test_relabel_and_cut_write_tables(self):
        self.tables()
        self.cluster("--write-table", "t.csv", k="2-4")
        self.write("other.csv", "0,first\n")
        for out, source in (("new", "out"), ("again", "new")):
            self.run_kindred("relabel", "-q", "--names", "other.csv", "--write-table", f"{out}.csv", "-o", out, f"{source}/result.json")
            for name in "ab":
                was, now = self.rows(f"t-{name}.csv"), self.rows(f"{out}-{name}.csv")
                self.assertEqual([dict(row, cluster_name="first" if row["cluster"] == "0" else row["cluster_name"]) for row in was], now)
        head = '{"format": "kindred-edits", "version": 1, "edits": [%s]}\n'
        self.write("edits.json", head % '{"do": "merge", "cluster": 1, "into": 0}')
        self.run_kindred("relabel", "-q", "--write-table", "m.csv", "--write-columns", "label,confidence", "-o", "merged", "out/result.json", "edits.json")
        for name in "ab":
            now = self.rows(f"m-{name}.csv")
            self.assertEqual(list(now[0])[-3:], ["city", "cluster", "cluster_confidence"])
            self.assertEqual([row["cluster"] for row in now], self.column(f"merged/{name}.samples.csv", "cluster"))
        for k in (2, 4):
            self.run_kindred("cut", "-q", "-k", k, "--write-table", f"cut{k}.csv", "-o", f"cut{k}", "new/result.json")
            for name in "ab":
                now, own = self.rows(f"cut{k}-{name}.csv"), self.rows(f"cut{k}/{name}.samples.csv")
                for column, title in (("cluster", "cluster"), ("second", "cluster_second"), ("name", "cluster_name")):
                    self.assertEqual([row[column] for row in own], [row[title] for row in now])
        # nothing is written if something is wrong
        for command in (("relabel", "--names", "other.csv"), ("cut", "-k", 2)):
            bad = (*command, "-o", "bad", "out/result.json")
            for name in ("x.xlsx", "x.npy"):
                self.fails(*bad, "--write-table", name, code=2, says=f"x-a{name[1:]}: the input is a text table; use a name that ends in .csv")
            self.fails(*bad, "--write-table", "x.csv", "--write-columns", "label,size", code=2, says="'size' is not valid")
            self.fails(*bad, "--write-columns", "label", code=2, says="no effect without --write-table")
            self.fails(*bad, "--write-table", "t.csv", code=2, says="t-a.csv: already exists")
        result = json.loads(self.read("out/result.json"))
        for wrong in ({"rows": 1}, {"format": "csv", "rows": 30, "encoding": "x", "delimiter": ","}, {"format": "csv", "rows": 1, "encoding": "utf-8", "delimiter": ","},
                      {"format": "csv", "rows": 30, "encoding": "utf-8", "delimiter": ",", "row_of_sample": [31] * 30}):
            result["tasks"][0]["table"] = wrong
            self.write("wrong.json", json.dumps(result, indent=1))
            self.fails("cut", "-k", 2, "--write-table", "w.csv", "-o", "w", "wrong.json", code=3, says="'table' does not describe a table")
        for task in result["tasks"]:
            del task["table"]
        self.write("wrong.json", json.dumps(result))
        self.fails("relabel", "--names", "other.csv", "--write-table", "w.csv", "-o", "w", "wrong.json", code=2, says="no data set was read from a CSV")
        self.assertFalse([name for name in ("bad/a.labels", "w/a.labels", "w-a.csv") if os.path.exists(self.path(name))])

    def test_tables_of_parts_and_skipped_rows(self):
        """One file with two data sets, Latin-1, and rows without a label."""
        lines = ["ort;größe;wert;zu"] + [f"{'NS'[i % 2]};{5 * (i % 3) + i % 4 * .1:.1f};{i % 3 * 7 + i % 5 * .1:.1f};{i % 2}" for i in range(60)]
        lines[8] = "N;;1;0"
        with open(self.path("t.csv"), "wb") as f:
            f.write(("\r\n".join(lines) + "\r\n").encode("latin-1"))
        self.run_kindred("cluster", "-q", "-k", "2-3", "--missing", "drop-row", "--task-column", "ort", "--write-table", "w.csv", "-o", "out", "t.csv")
        self.write("names.csv", "0,Größe\n")
        self.run_kindred("relabel", "-q", "--names", "names.csv", "--write-table", "r.csv", "-o", "new", "out/result.json")
        was, now = (pathlib.Path(self.path(name)).read_bytes().decode("latin-1").split("\r\n") for name in ("w.csv", "r.csv"))
        self.assertEqual([len(was), now[0], now[8]], [len(now), was[0], was[8]])
        self.assertEqual(now[8], "N;;1;0;;;;")
        for old, new in zip(was[1:-1], now[1:-1]):
            a, b = old.split(";"), new.split(";")
            self.assertEqual([a[:5], a[6:]], [b[:5], b[6:]])
            self.assertEqual(b[5], "Größe" if b[4] == "0" else a[5])

    def workbook(self, path, **sizes):
        book = openpyxl.Workbook()
        for title, n in sizes.items():
            sheet = book.create_sheet(title)
            sheet.append(["id", "age", "income"])
            for i in range(n):
                sheet.append([f"{title}{i}", 20 + 20 * (i % 3) + i % 4 * .1, (1000, 5000, 2500)[i % 3] + i % 5])
        book.create_sheet("Notes").append(["unchanged"])
        book.remove(book.worksheets[0])
        book.save(self.path(path))

    def sheets(self, path):
        return {sheet.title: list(sheet.values) for sheet in openpyxl.load_workbook(self.path(path))}

    @unittest.skipIf(openpyxl is None, "openpyxl is needed")
    def test_sheets_of_a_workbook_stay_one_workbook(self):
        self.workbook("two.xlsx", Nord=30, Süd=24)
        self.tables()
        sheets = self.sheets
        before = sheets("two.xlsx")
        self.write("names.csv", "0,poor\n")
        two = ("nord=two.xlsx:Nord", "süd=two.xlsx:Süd")
        self.run_kindred("cluster", "-q", "-k", 3, "--names", "names.csv", "--write-table", "out.xlsx", "--save-model", "m.h5", "-o", "out", *two)
        self.run_kindred("relabel", "-q", "--names", "names.csv", "--write-table", "new.xlsx", "-o", "new", "out/result.json")
        for path in ("out.xlsx", "new.xlsx"):
            after = sheets(path)
            self.assertEqual([list(after), after["Notes"]], [["Nord", "Süd", "Notes"], [("unchanged",)]])
            for title, name in (("Nord", "nord"), ("Süd", "süd")):
                self.assertEqual([row[:3] for row in after[title]], before[title])
                self.assertEqual(after[title][0][3:], ("cluster", "cluster_name", "cluster_confidence", "cluster_second"))
                self.assertEqual([str(row[3]) for row in after[title][1:]], self.column(f"out/{name}.samples.csv", "cluster"))
                self.assertEqual({row[4] for row in after[title][1:] if row[3] == 0}, {"poor"})
        # a workbook among other files, whose sheets are not neighbours
        self.run_kindred("cluster", "-q", "-k", 3, "--write-table", "mixed.xlsx", "-o", "mixed", two[0], "third=new.xlsx:Nord", two[1])
        self.assertEqual([len(rows[0]) for rows in sheets("mixed-two.xlsx").values()], [7, 7, 1])
        self.assertEqual([len(rows[0]) for rows in sheets("mixed-third.xlsx").values()], [11, 7, 1])
        self.fails("relabel", "--names", "names.csv", "--write-table", "new.csv", "-o", "bad", "out/result.json", code=2, says="the input is an Excel file")
        # only the target's sheet is labelled
        self.write("classes.txt", "".join("pqr"[i % 3] + "\n" for i in range(30)))
        self.run_kindred("transfer", "-q", "--source", two[0], "--labels", "classes.txt", "--target", two[1], "--write-table", "t.xlsx", "-o", "t")
        self.assertEqual([rows[0][3:4] for rows in sheets("t.xlsx").values()], [(), ("class",), ()])

    @unittest.skipIf(openpyxl is None, "openpyxl is needed")
    def test_sheets_are_data_sets_with_their_names(self):
        self.workbook("two.xlsx", Nord=30, Süd=24)
        self.workbook("three.xlsx", Nord=30)
        two = ("two.xlsx:Nord", "two.xlsx:Süd")

        def names(path):
            return [t["name"] for t in self.result(path)["tasks"]]

        self.run_kindred("cluster", "-q", "-k", "2-4", "--write-table", "out.xlsx", "-o", "out", *two, "three.xlsx:Nord")
        self.assertEqual(names("out/result.json"), ["Nord", "Süd", "three"])
        self.run_kindred("cluster", "-q", "-k", 3, "-o", "one", two[1], "x=" + two[0])  # the other one has a name
        self.assertEqual(names("one/result.json"), ["two", "x"])
        self.assertEqual(re.findall(r"^(\S+) \(", self.run_kindred("inspect", *two).stdout, re.M), ["Nord", "Süd"])
        # every command gives its workbooks the same names
        self.write("names.csv", "0,poor\n")
        self.run_kindred("relabel", "-q", "--names", "names.csv", "--write-table", "new.xlsx", "-o", "new", "out/result.json")
        self.run_kindred("cut", "-q", "-k", 3, "--write-table", "cut.xlsx", "-o", "cut", "out/result.json")
        for start in ("out", "new", "cut"):
            self.assertEqual([list(self.sheets(f"{start}-{name}.xlsx")) for name in ("two", "three")], [["Nord", "Süd", "Notes"], ["Nord", "Notes"]], start)
        # both targets are sheets, and stay one workbook
        self.write("classes.txt", "".join("pqr"[i % 3] + "\n" for i in range(30)))
        self.run_kindred("transfer", "-q", "--source", "three.xlsx:Nord", "--labels", "classes.txt", "--target", two[0], "--target", two[1],
                         "--write-table", "t.xlsx", "-o", "t")
        self.assertEqual([rows[0][3:4] for rows in self.sheets("t.xlsx").values()], [("class",), ("class",), ()])
        self.assertEqual(self.column("t/Süd.samples.csv", "id")[0], "Süd0")

    @unittest.skipIf(openpyxl is None, "openpyxl is needed")
    def test_workbooks_of_one_name_get_the_names_of_data_sets(self):
        for folder in ("jan", "feb"):
            os.mkdir(self.path(folder))
            self.workbook(f"{folder}/two.xlsx", Nord=30, Süd=24)
        self.run_kindred("cluster", "-q", "-k", 3, "--write-table", "out.xlsx", "-o", "out",
                         *(f"{name}={path}" for name, path in zip("abcd", ("jan/two.xlsx:Nord", "jan/two.xlsx:Süd", "feb/two.xlsx:Nord", "feb/two.xlsx:Süd"))))
        self.write("names.csv", "0,poor\n")
        self.run_kindred("relabel", "-q", "--names", "names.csv", "--write-table", "new.xlsx", "-o", "new", "out/result.json")
        for start in ("out", "new"):
            self.assertEqual([len(rows[0]) for name in "ac" for rows in self.sheets(f"{start}-{name}.xlsx").values()], [7, 7, 1] * 2)

    def test_a_file_that_is_given_twice_has_a_copy_for_each(self):
        """Each has all rows, so that one copy would have the results of one of them only."""
        self.tables()
        for name, shift in (("i", 0), ("j", 1)):
            self.write(name, "".join(f"{(i + shift) % 3}\n" for i in range(30)))
        run = ("cluster", "-q", "-m", "kmeans", "-k", 3, "--columns", "age,income", "--id-column", "id")
        self.run_kindred(*run, "--init", "i,j", "--write-table", "t.csv", "--write-h5ad", "t.h5ad", "-o", "out", "x=a.csv", "y=a.csv")
        labels = [self.column(f"t-{name}.csv", "cluster") for name in "xy"]
        self.assertEqual([self.column(f"out/{name}.samples.csv", "cluster") for name in "xy"], labels)
        self.assertNotEqual(*labels)
        self.assertFalse(os.path.exists(self.path("t-a.csv")))
        if anndata:
            self.assertEqual([list(anndata.read_h5ad(self.path(f"t-{name}.h5ad")).obs["kindred"]) for name in "xy"], labels)
        # relabel and cut have the same rule
        kept, gone = sorted(set(labels[1]))[:2]
        self.write("edits.json", '{"format": "kindred-edits", "version": 1, "edits": [{"do": "merge", "task": "y", "cluster": %s, "into": %s}]}' % (gone, kept))
        self.run_kindred("relabel", "-q", "--write-table", "r.csv", "-o", "new", "out/result.json", "edits.json")
        self.assertEqual(self.column("r-x.csv", "cluster"), labels[0])
        self.assertEqual(self.column("r-y.csv", "cluster"), [kept if label == gone else label for label in labels[1]])
        # split twice: two copies, of two data sets each
        self.run_kindred(*run[:-2], "--task-column", "city", "--write-table", "s.csv", "-o", "split", "x=a.csv", "b.csv", "y=a.csv")
        self.assertEqual(sorted(name for name in os.listdir(self.dir) if name.startswith("s-")), ["s-b.csv", "s-x-x.csv", "s-y-x.csv"])

    def test_names_of_data_sets_are_names_of_files_everywhere(self):
        self.tables()
        line = "a\nb.csv"
        for name in ("A.csv", "Con.csv", "lpt1.x.csv", line):
            self.write(name, self.read("a.csv"))
        self.fails("cluster", "-k", 2, "-o", "out", "a.csv", "A.csv", code=2, says=["'a' and 'A'", "case", "NAME=FILE"])
        self.fails("embed", "-o", "out", "a.csv", "A.csv", code=2, says="case")
        self.run_kindred("cluster", "-q", "-k", 2, "a.csv", "A.csv")  # no files
        for name in ("Con.csv", "lpt1.x.csv", "AUX=a.csv"):
            self.fails("cluster", "-k", 2, "-o", "out", name, code=2, says=["device", "NAME=FILE"])
        self.run_kindred("cluster", "-q", "-k", 2, "-o", "out", "context=a.csv", "com=A.csv")
        self.assertIn("is not valid", self.run_kindred("cluster", "-k", 2, "-o", "out", line, code=2).stderr)
        self.write("t.csv", 'where,x\n"p\nq",1\n"p\nq",2\nr,3\nr,5\n')
        self.run_kindred("cluster", "-q", "-k", 1, "--task-column", "where", "-o", "split", "t.csv")
        self.assertEqual([t["name"] for t in self.result("split/result.json")["tasks"]], ["p_q", "r"])

    def test_names_from_a_pipe(self):
        self.tables()
        self.run_kindred("cluster", "-q", "-k", 3, "--names", "/dev/stdin", "-o", "out", "a.csv", stdin="0,first\n")
        self.assertEqual(self.column("out/a.samples.csv", "name")[0], "first")
        for n, names in enumerate(("/dev/stdin", "-")):
            self.run_kindred("relabel", "-q", "--names", names, "-o", f"new{n}", "out/result.json", stdin="0,second\n")
            self.assertEqual(self.column(f"new{n}/a.samples.csv", "name")[0], "second")

    def test_bad_files_are_refused_before_the_job(self):
        self.tables()
        for text, code, words in (("0,x\n0,y\n", 3, "cluster 0 has two names: 'x' and 'y'"), ("0,x\n1,x\n", 3, "clusters 0 and 1 have the same name, 'x'"),
                                  ("0,x\n1,\n", 3, "the name of cluster 1 is empty"), ("0,x\nmany,y\n", 3, "line 2: 'many,y' is not the number of a cluster and its name"),
                                  ("0,x,y\n", 3, "put a name with commas between quotation marks"), ("-1,x\n", 3, "line 1: '-1,x' is not the number"),
                                  ("number,name\n", 3, "has no names of clusters"), ("0," + "x" * 201 + "\n", 3, "more than 200 characters")):
            with self.subTest(text=text):
                self.write("bad.csv", text)
                self.fails("cluster", "-k", 3, "--names", "bad.csv", "-o", "out", "a.csv", code=code, says=words)
                self.fails("relabel", "--names", "bad.csv", "-o", "out", "none.json", code=code, says=words)
        self.fails("cluster", "-k", 3, "--names", "none.csv", "-o", "out", "a.csv", code=3, says="none.csv")
        self.fails("transfer", "--names", "names.csv", "-o", "out", "a.csv", "b.csv", code=2, says="transfer has no option '--names'")

    def test_numbers_that_no_cluster_has_are_a_warning(self):
        self.tables()
        self.write("names.csv", "0,first\n7,x\n9,y\n")
        done = self.run_kindred("cluster", "-m", "kmeans", "-k", 3, "--names", "names.csv", "-o", "out", "a.csv")
        self.assertIn("names.csv: there is no cluster 7, 9: the clusters are 0, 1, 2", done.stdout + done.stderr)
        self.assertEqual(self.column("out/a.samples.csv", "name")[0], "first")

    def test_known_classes_are_names_and_stay_in_the_model(self):
        self.tables()
        self.write("known.txt", "".join(f"{'pqr'[i % 3]}\n" if i < 9 else "?\n" for i in range(30)))
        self.run_kindred("cluster", "-q", "-k", 3, "--known", "known.txt", "--save-model", "m.h5", "-o", "out", "a.csv")
        self.run_kindred("predict", "-q", "--model", "m.h5", "-o", "p.txt", "b.csv")
        self.assertEqual(self.column("p.samples.csv", "name"), ["pqr"[i % 3] for i in range(24)])
        self.write("names.csv", "1,p\n")
        self.fails("cluster", "-q", "-k", 3, "--known", "known.txt", "--names", "names.csv", "-o", "out2", "a.csv", code=3, says="would have the same name, 'p'")

    def test_a_quote_that_is_not_closed(self):
        """In every file of short lines: an error, and no byte behind the line is read."""
        self.tables()
        self.write("known.labels", "u\nv\n" * 15)
        for command, option, text, says in (
                (["cluster", "-k", 3, "a.csv"], "--names", '0,"first\n', "is not the number of a cluster and its name"),
                (["cluster", "-k", 3, "-m", "kmeans", "a.csv"], "--known", 'a0,"u\n' * 2, "known labels"),
                (["transfer", "--source", "a.csv", "--labels", "known.labels", "--target", "b.csv"], "--target-labels", 'row;"id\n', "known label")):
            self.write("torn", text * 3)
            self.fails(*command, option, "torn", code=3, says=says)


if __name__ == "__main__":
    unittest.main()
