"""Clusters in the user's units, and the input table with a column of labels (--write-table)."""
import csv
import datetime
import json
import unittest

try:
    import openpyxl
    import openpyxl.styles
except ImportError:
    openpyxl = None

from harness import CliTest

NUMBERS = [(1 + i % 3 / 10, 20 + i % 4) if i % 2 else (9 + i % 3 / 10, 60 + i % 4) for i in range(12)]


def clusters():
    """Labels of NUMBERS: rows alternate, and clusters are numbered by first appearance."""
    return [i % 2 for i in range(12)]


class Units(CliTest):
    def make(self):
        """Two groups: rich people with a business plan who joined late, and others."""
        rows = ["income,age,plan,letter,joined"]
        for i in range(40):
            rich = i % 4 == 0
            income = "" if i == 8 else (90000 + 10 * i if rich else 1000 + i)
            plan = ("business" if i != 4 else "basic") if rich else ("basic" if i % 3 else "plus")
            rows.append(f"{income},{60 + i % 3 if rich else 30 + i % 5},{plan},{int(rich)},2021-{'09' if rich else '02'}-{1 + i % 9:02d}")
        self.write("p.csv", "\n".join(rows) + "\n")
        table = list(csv.DictReader(rows))
        return [r for r in table if r["letter"] == "1"], [r for r in table if r["letter"] == "0"]

    def test_decimals_of_a_mean(self):
        self.write("x.csv", "weight,other\n" + "".join(
            f"{(19.46 if i % 2 else 10.23) + (i % 5 - 2) / 100},{i % 2 * 50 + i % 3}\n" for i in range(40)))
        text = self.run_kindred("cluster", "-m", "kmeans", "-k", 2, "-o", "out", "x.csv").stdout
        self.assertIn("weight 19.5", text)

    def test_means_shares_and_dates_are_those_of_the_file(self):
        rich, others = self.make()
        mean = lambda rows, c: sum(float(r[c]) for r in rows if r[c]) / sum(1 for r in rows if r[c])
        for options in ((), ("-m", "kmeans", "--scale", "standard", "--missing", "mean")):
            text = self.run_kindred("cluster", "-v", *options, "-k", 2, "-o", "out", "--force", "p.csv").stdout
            cluster = self.result()["tasks"][0]["clusters"][0]  # the first row is rich
            self.assertEqual(cluster["size"], len(rich))
            found = {f["name"]: f for f in cluster["features"]}
            for column in ("income", "age"):  # not on a log scale, not standardised; missing and filled cells are skipped
                self.assertAlmostEqual(found[column]["mean_inside"], mean(rich, column), delta=1e-6)
                self.assertAlmostEqual(found[column]["mean_outside"], mean(others, column), delta=1e-6)
                self.assertEqual(found[column]["kind"], "number")
            self.assertEqual((found["income"]["inside"], found["age"]["inside"]), ("90,000", "61"))
            business = found["plan=business"]
            self.assertEqual((business["column"], business["category"], business["kind"], business["inside"]), ("plan", "business", "share", "90 %"))
            self.assertAlmostEqual(business["share_inside"], .9)
            self.assertEqual(business["share_outside"], 0)
            self.assertEqual((found["letter"]["inside"], found["letter"]["outside"], found["letter"]["text"]), ("100 %", "0 %", "letter 100 % (others 0 %)"))
            self.assertEqual(found["joined"]["inside"][:8], "2021-09-")
            self.assertEqual(found["joined"]["outside"][:8], "2021-02-")
            self.assertLessEqual(len(cluster["described"]), 4)
            self.assertEqual(cluster["description"], ", ".join(cluster["features"][i]["text"] for i in cluster["described"]))
            parts = [f'{cluster["features"][i]["text"]} ({cluster["features"][i]["effect"]:+.1f})' for i in cluster["described"]]
            self.assertIn("\n  p 0: " + ", ".join(parts) + "\n", text)
            columns = [f.get("column", f["name"]) for f in (cluster["features"][i] for i in cluster["described"])]
            self.assertEqual(len(columns), len(set(columns)))  # a column of the table is named once
            with open(self.path("out/features.csv")) as f:
                rows = {r["feature"]: r for r in csv.DictReader(f) if r["cluster"] == "0"}
            self.assertAlmostEqual(float(rows["income"]["mean_inside"]), mean(rich, "income"), delta=1e-6)
            self.assertEqual(rows["joined"]["mean_inside"], found["joined"]["inside"])
            self.assertEqual((rows["plan=business"]["column"], rows["plan=business"]["category"]), ("plan", "business"))
            self.assertEqual((rows["age"]["column"], rows["age"]["category"]), ("age", ""))

    def test_predict_describes_in_the_same_units(self):
        rich, others = self.make()
        self.run_kindred("cluster", "-q", "-k", 2, "-o", "out", "--save-model", "m.h5", "p.csv")
        self.run_kindred("predict", "-q", "--model", "m.h5", "-o", "new.labels", "p.csv", "--write-table", "new.csv")
        with open(self.path("new.csv")) as f:
            self.assertEqual([r["cluster"] for r in csv.DictReader(f)], self.read("new.labels").split())

    def test_a_category_that_one_table_lacks_is_named_once(self):
        rows = [f"{'uvw'[i % 3]},{i * 7 % 5},{i % 2 * 9 + i % 3}" for i in range(12)]
        self.write("a.csv", "branch,x,y\n" + "\n".join(rows) + "\n")
        self.write("b.csv", "x,y\n" + "\n".join(r[2:] for r in rows) + "\n")
        for options in ((), ("-m", "kmeans")):
            done = self.run_kindred("cluster", *options, "-q", "-k", 2, "a.csv", "b.csv")
            warnings = [w for w in json.loads(done.stdout)["warnings"] if "has no feature" in w]
            self.assertEqual(len(warnings), 1)
            self.assertIn("data set b has no feature 'branch', which data set a has", warnings[0])


class WriteTable(CliTest):
    def table(self, separator=",", end="\n", header="name,x,y", decimal=".", last="", quote=""):
        cell = lambda v: quote + str(v).replace(".", decimal) + quote
        lines = [header.replace(",", separator) + last] if header else []
        for i, (x, y) in enumerate(NUMBERS):
            lines.append(separator.join((f"{quote}row {i}{quote}", cell(x), cell(y))) + last)
        return end.join(lines) + end

    def check(self, name, content, options=(), labels=None, separator=",", end="\n", last="", title="cluster", encoding="utf-8", header=1, before=""):
        """The file comes back with a cell more on each line and nothing else."""
        content = before + content
        self.write(name, content.encode(encoding))
        self.run_kindred("cluster", "-q", "-m", "kmeans", "-k", 2, "-o", "out", "--force", "--write-table", "back.csv", "--write-columns", "label",
                         *options, name)
        lines, labels = content.split(end), list(clusters() if labels is None else labels)
        out, at = [], 0
        for line in lines:
            text = line[:len(line) - len(last)] if last else line
            if not text.strip("\ufeff ") or text.startswith("sep="):
                out.append(line)
                continue
            cell = title if header and at == 0 else labels[at - header]
            out.append(f"{text}{separator}{cell}{last}")
            at += 1
        with open(self.path("back.csv"), "rb") as f:
            self.assertEqual(f.read(), end.join(out).encode(encoding))

    def test_dialects_come_back(self):
        self.check("plain.csv", self.table())
        self.check("crlf.csv", self.table(end="\r\n"), end="\r\n")
        self.check("mac.csv", self.table(end="\r"), end="\r")
        self.check("semicolon.csv", self.table(";", decimal=","), separator=";")
        self.check("tabs.tsv", self.table("\t"), separator="\t")
        self.check("quoted.csv", self.table(header='"name","x","y"', quote='"'))
        self.check("last.csv", self.table(";", last=";"), separator=";", last=";")
        self.check("bar.csv", self.table("|"), separator="|")
        self.check("bare.csv", self.table(header=""), header=0)
        self.check("open.csv", self.table()[:-1])  # no newline at the end
        self.check("blank.csv", self.table().replace("\nrow 5", "\n\nrow 5") + "\n\n")
        self.check("sep.csv", self.table(";"), separator=";", before="sep=;\n")
        self.check("taken.csv", self.table(header="cluster,x,y"), ("--id-column", "cluster"), title="cluster_2")
        text = self.table(header="Größe,x,y").replace("row", "Straße")
        self.check("utf8.csv", text)
        self.check("mark.csv", text, before="\ufeff")
        self.check("latin.csv", text, encoding="cp1252")
        for encoding in ("utf-16-le", "utf-16-be"):
            self.check("wide.csv", text, before="\ufeff", encoding=encoding)

    def test_rows_that_are_dropped_have_an_empty_cell(self):
        text = self.table().replace("row 4,9.1,60", "row 4,,60")
        self.assertIn("row 4,,60", text)
        labels = clusters()
        labels[4] = ""
        self.check("holes.csv", text, ("--missing", "drop-row"), labels=labels)

    def test_a_quoted_newline_stays_inside_its_cell(self):
        text = self.table().replace("row 2,", '"row\n2, ""so""",')
        self.write("q.csv", text)
        self.run_kindred("cluster", "-q", "-m", "kmeans", "-k", 2, "-o", "out", "--write-table", "back.csv", "q.csv")
        with open(self.path("back.csv"), newline="") as f:
            rows = list(csv.DictReader(f))
        self.assertEqual(rows[2]["name"], 'row\n2, "so"')
        self.assertEqual([int(r["cluster"]) for r in rows], clusters())

    def test_several_inputs_and_one_that_is_split(self):
        self.write("a.csv", self.table())
        self.write("b.csv", self.table())
        text = self.run_kindred("cluster", "-m", "kmeans", "-k", 2, "-o", "out", "--write-table", "t.csv", "a.csv", "second=b.csv").stdout
        self.assertIn("written: t-a.csv\nwritten: t-second.csv\n", text)
        with open(self.path("t-a.csv")) as a, open(self.path("t-second.csv")) as b:  # k-means relates no clusters: other numbers
            self.assertEqual([int(r["cluster"]) + 2 for r in csv.DictReader(a)], [int(r["cluster"]) for r in csv.DictReader(b)])
        lines = self.table().splitlines()
        self.write("all.csv", "\n".join([lines[0] + ",region"] + [f"{line},{'nw'[i % 3 == 0]}" for i, line in enumerate(lines[1:])]) + "\n")
        self.run_kindred("cluster", "-q", "-m", "kmeans", "--pooled", "-k", 2, "-o", "split", "--task-column", "region", "--write-table", "s.csv", "all.csv")
        with open(self.path("s.csv")) as f:
            rows = list(csv.DictReader(f))
        self.assertEqual([r["name"] for r in rows], [f"row {i}" for i in range(12)])
        self.assertEqual([r["cluster"] for r in rows], [str(v) for v in clusters()])

    def test_transfer_writes_the_classes_of_the_target(self):
        rows = [f"{i % 2 * 9 + i % 3},{i % 2 * 5 - i % 4},{'yes, please' if i % 2 else 'no'}" for i in range(30)]
        self.write("s.csv", "x,y,class\n" + "\n".join(r.replace("yes, please", '"yes, please"') for r in rows) + "\n")
        self.write("t.csv", "x,y\n" + "\n".join(r.rsplit(",", 2 if "please" in r else 1)[0] for r in rows) + "\n")
        self.run_kindred("transfer", "-q", "-m", "logreg", "--source", "s.csv", "--label-column", "class", "--target", "t.csv", "-o", "out", "--write-table", "back.csv")
        with open(self.path("back.csv")) as f:
            found = list(csv.DictReader(f))
        self.assertEqual([r["class"] for r in found], self.read("out/target.labels").splitlines())
        self.assertIn('"yes, please"', self.read("back.csv"))

    @unittest.skipUnless(openpyxl, "no openpyxl")
    def test_a_workbook_comes_back_as_one(self):
        book = openpyxl.Workbook()
        other = book.active
        other.title = "notes"
        other["B2"] = "<stays & stays>"
        sheet = book.create_sheet("people")
        sheet.append(["name", "x", "joined", "y", "cluster"])
        for i, (x, y) in enumerate(NUMBERS):
            sheet.append([f"row {i}", None if i == 4 else x, datetime.date(2021, 3, 1 + i % 3), y, i * 7 % 5])
        sheet.insert_rows(8)  # an empty one
        sheet["F3"].font = openpyxl.styles.Font(bold=True)  # a format without a value, beyond the last column
        sheet["G1"] = "total"
        sheet["G2"] = "=B2+D2"
        book.save(self.path("b.xlsx"))
        self.run_kindred("cluster", "-q", "-m", "kmeans", "-k", 2, "--columns", "x,y", "--missing", "drop-row", "-o", "out", "--write-table", "back.xlsx", "b.xlsx:people")
        back = openpyxl.load_workbook(self.path("back.xlsx"))
        self.assertEqual(back.sheetnames, ["notes", "people"])
        self.assertEqual(back["notes"]["B2"].value, "<stays & stays>")
        before, after = [[c.value for c in row] for row in sheet.iter_rows()], [[c.value for c in row] for row in back["people"].iter_rows()]
        dated = lambda rows: [[v.date() if isinstance(v, datetime.datetime) else v for v in row] for row in rows]
        self.assertEqual(dated([row[:7] for row in after]), dated(before))
        self.assertEqual(back["people"]["G2"].value, "=B2+D2")
        labels = clusters()
        labels[4] = None
        self.assertEqual([row[7] for row in after], ["cluster_2"] + labels[:6] + [None] + labels[6:])
        self.run_kindred("cluster", "-q", "-m", "kmeans", "-k", 2, "--columns", "x,y", "--missing", "drop-row", "-o", "again", "back.xlsx:people")
        self.assertEqual(self.result("again/result.json")["tasks"][0]["labels"], self.result()["tasks"][0]["labels"])
        self.fails("cluster", "-m", "kmeans", "-k", 2, "-o", "no", "--columns", "x,y", "--missing", "mean", "--write-table", "t.csv", "b.xlsx:people", code=2, says=["t.csv", ".xlsx"])

    @unittest.skipUnless(openpyxl, "no openpyxl")
    def test_classes_of_a_workbook_are_text(self):
        book = openpyxl.Workbook()
        book.active.append(["x", "y"])
        for i in range(20):
            book.active.append([i % 2 * 9 + i % 3, i % 4])
        book.save(self.path("t.xlsx"))
        self.write("s.csv", "x,y,kind\n" + "".join(f"{i % 2 * 9 + i % 3},{i % 4},{'a < b & c' if i % 2 else 'no'}\n" for i in range(20)))
        self.run_kindred("transfer", "-q", "-m", "logreg", "--source", "s.csv", "--label-column", "kind", "--target", "t.xlsx", "-o", "out", "--write-table", "back.xlsx")
        rows = [[c.value for c in row] for row in openpyxl.load_workbook(self.path("back.xlsx")).active.iter_rows()]
        self.assertEqual(rows[0], ["x", "y", "class", "class_confidence", "class_second"])
        self.assertTrue(all(0 < r[3] <= 1 and r[4] in ("a < b & c", "no") and r[4] != r[2] for r in rows[1:]))
        self.assertEqual([r[2] for r in rows[1:]], ["a < b & c" if i % 2 else "no" for i in range(20)])

    def test_columns(self):
        self.write("a.csv", self.table())
        for last in ("", ";"):
            self.write("l.csv", self.table(";", last=last))
            self.run_kindred("cluster", "-q", "-m", "kmeans", "-k", 2, "-o", "out", "--force", "--save-model", "m.h5", "--write-table", "t.csv", "l.csv")
            with open(self.path("t.csv"), newline="") as f:
                rows = list(csv.DictReader(f, delimiter=";"))
            task = self.result()["tasks"][0]
            titles = {c["number"]: c["title"] for c in task["clusters"]}
            self.assertEqual([int(r["cluster"]) for r in rows], task["labels"])
            self.assertEqual([r["cluster_name"] for r in rows], [titles[label] for label in task["labels"]])
            self.assertEqual([r["cluster_confidence"] for r in rows], [f"{c:.3f}" for c in task["confidence"]])
            self.assertEqual([int(r["cluster_second"]) for r in rows], task["second"])
        # A model remembers the names of its clusters, whatever the new samples are.
        few = "\n".join(self.table(";").splitlines()[:4]) + "\n"
        self.write("few.csv", few)
        self.run_kindred("predict", "-q", "--model", "m.h5", "-o", "p.labels", "--write-table", "p.csv", "--write-columns", "name,label", "few.csv")
        with open(self.path("p.csv"), newline="") as f:
            found = list(csv.DictReader(f, delimiter=";"))
        self.assertEqual(list(found[0])[-2:], ["cluster_name", "cluster"])
        self.assertEqual([r["cluster_name"] for r in found], [titles[int(r["cluster"])] for r in found])
        self.assertTrue(all(r["cluster_name"] for r in found))
        for wrong, says in (("label,nam", "'nam' is not valid"), ("label,label", "twice"), ("", "empty")):
            self.fails("cluster", "-m", "kmeans", "-k", 2, "-o", "no", "--write-table", "x.csv", "--write-columns", wrong, "a.csv", code=2, says=["columns to write", says])
        self.fails("cluster", "-m", "kmeans", "-k", 2, "-o", "no", "--write-columns", "label", "a.csv", code=2, says="--write-table")

    def test_refusals_come_before_the_work(self):
        self.write("a.csv", self.table())
        run = ("cluster", "-q", "-m", "kmeans", "-k", 2, "-o", "out")
        self.fails(*run, "--write-table", "t.npy", "a.csv", code=2, says=["t.npy", ".csv"])
        self.fails(*run, "--write-table", "t.csv", "--format", "csv", "-", code=2, says="standard input", stdin=self.table())
        self.run_kindred("convert", "-q", "a.csv", "a.npy")
        self.fails(*run, "--write-table", "t.csv", "a.npy", code=2, says="not a CSV, TSV or Excel file")
        self.write("t.csv", "mine")
        self.fails(*run, "--write-table", "t.csv", "a.csv", code=2, says="--force")
        self.assertEqual(self.read("t.csv"), "mine")


if __name__ == "__main__":
    unittest.main()
