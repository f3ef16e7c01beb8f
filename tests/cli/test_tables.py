"""Tables as people have them: columns of all kinds, missing values, dialects."""
import gzip
import json
import unittest

from harness import CliTest

PEOPLE = """Nr,city,segment,height,joined,notes
1,Paris,a,1.5,2021-03-01,hello there
2,London,b,2.5,2021-03-02,foo
3,Paris,a,1.25,2021-03-08,bar
4,Rome,b,3.5,2021-04-01,bar
5,Paris,a,1.5,2021-03-01,baz
6,London,b,2.75,2021-05-01,baz
7,Rome,a,1.1,2021-03-11,qux
8,Rome,b,9,2021-03-15,quux
"""


class Tables(CliTest):
    def table(self, name, *options):
        """What a table is read as: the header and the rows of its conversion to plain CSV."""
        self.run_kindred("convert", "-q", "--force", *options, name, "read.csv")
        lines = [line.split(",") for line in self.read("read.csv").replace('"', "").splitlines()]
        return lines[0], lines[1:]

    def numbers(self, text, *options, name="n.csv"):
        """Rows of numbers that a text without names is read as."""
        self.write(name, text)
        self.run_kindred("convert", "-q", "--force", *options, name, "read.csv")
        rows = [line.split(",") for line in self.read("read.csv").splitlines()]
        if not rows[0][0].lstrip("-").replace(".", "").isdigit():
            rows = rows[1:]
        return [[float(x) for x in row] for row in rows]


class Columns(Tables):
    def test_each_column_is_taken_for_what_it_is(self):
        self.write("p.csv", PEOPLE)
        header, rows = self.table("p.csv")
        self.assertEqual(header, ["", "city=Paris", "city=London", "city=Rome", "segment=a", "segment=b", "height", "joined"])
        self.assertEqual([row[0] for row in rows], [str(i) for i in range(1, 9)])
        self.assertEqual(rows[3][1:], ["0", "0", "1", "0", "1", "3.5", "31"])

    def test_a_running_number_is_no_feature_unless_told(self):
        self.write("a.csv", "Nr,x,y\n" + "".join(f"{i + 1:03d},{i * i % 7},{i % 3}\n" for i in range(20)))
        header, rows = self.table("a.csv")
        self.assertEqual(header, ["", "x", "y"])
        self.assertEqual(rows[6][0], "007")  # as the file says, not as a number
        for told in ("+Nr", "Nr:number", "Nr,x,y"):
            self.assertEqual(self.table("a.csv", "--columns", told)[0], ["Nr", "x", "y"])
        # without a header, and from 0
        self.write("b.csv", "".join(f"{i},{i * i % 7},{i % 3}\n" for i in range(20)))
        self.run_kindred("convert", "-q", "--force", "b.csv", "out.csv")
        self.assertEqual(self.read("out.csv").splitlines()[1], '"0",0,0')
        self.run_kindred("convert", "-q", "--force", "--columns", "+1", "b.csv", "out.csv")
        self.assertEqual(self.read("out.csv").splitlines()[1], "1,1,1")

    def test_categories_by_position_may_all_have_their_own_names(self):
        for t, name in enumerate("pqrstuvw"):
            self.write(f"{name}.csv", f"{name}{t}\n" + "".join("red\n" if i % 2 else "blue\n" for i in range(10)))
        self.run_kindred("cluster", "-m", "kmeans", "-k", 2, "--features", "position", "--header", "-o", "out",
                         *(f"{name}.csv" for name in "pqrstuvw"))
        for t, task in enumerate(self.result()["tasks"]):
            self.assertEqual(task["labels"], [2 * t, 2 * t + 1] * 5)

    def test_wishes(self):
        self.write("p.csv", PEOPLE)
        self.assertEqual(self.table("p.csv", "--columns", "height,city:category,-Nr")[0],
                         ["city=Paris", "city=London", "city=Rome", "height"])
        self.assertEqual(self.table("p.csv", "--columns", "-city,-joined,segment:text")[0], ["", "height"])
        self.assertIn("notes=bar", self.table("p.csv", "--columns", "notes:category")[0])
        self.assertEqual(self.table("p.csv", "--columns", "notes:id")[1][0][0], "hello there")
        self.fails("inspect", "p.csv", "--columns", "hieght", code=3, says=["p.csv", "'hieght'", "height"])
        self.fails("inspect", "p.csv", "--columns", "city:colour", code=2, says=["'colour'", "category"])
        self.fails("convert", "p.csv", "o.npy", "--columns", "city:number", code=3,
                   says=["p.csv", "line 2", "column 2 (city)", "'Paris' is not a number", "--columns"])

    def test_ids_of_text_and_titles(self):
        self.write("a.csv", "kind,customer_id,x\n" + "".join(f"{'ab'[i % 2]},{(i * 37) % 101 + 500},{i % 4}\n" for i in range(12)))
        header, rows = self.table("a.csv")
        self.assertEqual(header, ["", "kind=a", "kind=b", "x"])
        self.assertEqual(rows[1][0], "537")
        # names that repeat are no names of rows
        self.write("b.csv", "city,x,y\nParis,1,2\nRome,2,1\nParis,0,4\nRome,2,2\n")
        self.assertEqual(self.table("b.csv")[0], ["city=Paris", "city=Rome", "x", "y"])

    def test_dates(self):
        def days(*cells, options=()):
            return [row[0] for row in self.numbers("d,x\n" + "".join(f"{c},{i * i % 5}\n" for i, c in enumerate(cells)), *options)]
        self.assertEqual(days("2020-02-28", "2020-03-01", "2019-02-28"), [365, 367, 0])
        self.assertEqual(days("1.3.2021", "15.03.2021"), [0, 14])
        self.assertEqual(days("1/3/2021", "15/3/2021"), [0, 14])
        self.assertEqual(days("3/1/2021", "3/15/2021"), [0, 14])
        self.assertEqual(days("1 Mar 2021", "March 15 2021", "16-Mar-2021"), [0, 14, 15])
        self.assertEqual(days("2021-03-01T12:00", "2021-03-02 00:00:00"), [.5, 1])
        self.assertEqual(days("2021-03-01T23:30-01:00", "3/1/2021 6:00 PM", options=("--columns", "d:mdy"))[1], .75 - 1 + 1)
        self.write("u.csv", "d,x\n1/3/2021,1\n4/5/2021,2\n")
        self.fails("convert", "u.csv", "o.npy", code=3, says=["u.csv", "line 2", "column 1 (d)", "day first or month first", "'d:dmy'"])
        self.assertEqual(days("1/3/2021", "4/5/2021", options=("--columns", "d:dmy")), [0, 64])

    def test_text_among_numbers_is_an_error(self):
        self.write("a.csv", "x,y\n" + "".join(f"{i * .5},{i % 4}\n" for i in range(30)) + "oops,2\n")
        self.fails("convert", "a.csv", "o.npy", code=3,
                   says=["a.csv", "line 32", "column 1 (x)", "'oops' is not a number, but 30 other cells", "--na 'oops'"])
        self.run_kindred("convert", "-q", "a.csv", "o.npy", "--na", "oops", "--missing", "drop-row")
        self.write("b.csv", "x,y\n1,2\n3,oops\n")
        self.fails("convert", "b.csv", "o.npy", code=3, says=["'oops' is not a number, but 1 other cell in this column is;"])
        self.write("c.csv", "x,y\n1,abc\n3,oops\n")
        self.fails("convert", "c.csv", "o.npy", "--columns", "x,y:number", code=3,
                   says=["'abc' is not a number, and no other cell is;"])

    def test_as_pandas_writes_it(self):
        import pandas as pd
        frame = pd.DataFrame({"name": [f"n {i}" for i in range(10)], "flag": [i % 3 == 0 for i in range(10)],
                              "when": pd.date_range("2022-01-01", periods=10, freq="36h"), "v": [i * .25 for i in range(10)],
                              "size": pd.Categorical(["S", "M"] * 5), "same": 3})
        for index in (True, False):
            frame.to_csv(self.path("f.csv"), index=index)
            header, rows = self.table("f.csv")
            self.assertEqual(header[1:], ["flag=True", "flag=False", "when", "v", "size=S", "size=M", "same"])
            self.assertEqual(rows[9][0], "9" if index else "n 9")
            self.assertEqual([float(r[3]) for r in rows], [1.5 * i for i in range(10)])


class Missing(Tables):
    TEXT = "id,x,y\nr1,1,10\nr2,,20\nr3,4,NA\nr4,7,60\n"

    def test_policies(self):
        self.write("m.csv", self.TEXT)
        self.fails("convert", "m.csv", "o.npy", code=3,
                   says=["m.csv", "line 3, column 2 (x)", "missing value", "(2 in total: x 1, y 1)", "--missing zero, mean, median"])
        for policy, want in (("zero", [[1, 10], [0, 20], [4, 0], [7, 60]]), ("mean", [[1, 10], [4, 20], [4, 30], [7, 60]]),
                             ("median", [[1, 10], [4, 20], [4, 20], [7, 60]]), ("drop-row", [[1, 10], [7, 60]])):
            rows = self.table("m.csv", "--missing", policy)[1]
            self.assertEqual([[float(x) for x in row[1:]] for row in rows], want, policy)
        self.write("c.csv", "x,y\n1,2\n3,?\n5,1\n")
        self.assertEqual(self.table("c.csv", "--missing", "drop-column"), (["x"], [["1"], ["3"], ["5"]]))
        self.fails("inspect", "m.csv", "--missing", "average", code=2, says="'average'")

    def test_tokens(self):
        for token in ("", "NA", "N/A", "#N/A", "NaN", "nan", "null", "NULL", "None", "?", "-", '""', '"NA"'):
            self.assertEqual(self.numbers(f"x,y\n1,2\n3,{token}\n5,1\n", "--missing", "zero"), [[1, 2], [3, 0], [5, 1]], token)
        self.assertEqual(self.numbers("x,y\n1,2\n3,-99\n5,.\n", "--missing", "zero", "--na", "-99", "--na", "."),
                         [[1, 2], [3, 0], [5, 0]])

    def test_transfer_fills_missing_cells_by_default(self):
        """With auto as with --missing mean; a method that needs numbers still refuses."""
        for name, label in (("a.csv", True), ("b.csv", False)):
            rows = ["u,v,kind" + ",y" * label]
            for i in range(80):
                u, v, kind = i % 2 * 4 + i * .01, i % 2 * -3 + i * .02, "pq"[i % 2]
                rows.append(f"{'' if i % 9 == 4 else u},{v},{'' if i % 7 == 3 else kind}" + f",{'no yes'.split()[i % 2]}" * label)
            self.write(name, "\n".join(rows) + "\n")
        args = ("--source", "a.csv", "--label-column", "y", "--target", "b.csv")
        got = [json.loads(self.run_kindred("transfer", "-q", *args, *more).stdout)["tasks"][-1]["labels"]
               for more in ((), ("--missing", "mean"))]
        self.assertEqual(got[0], got[1])
        self.assertGreater(sum(a == "no yes".split()[i % 2] for i, a in enumerate(got[0])), 76)
        self.fails("transfer", "-m", "logreg", *args, code=3, says=["a.csv", "missing value", "--missing"])

    def test_predict_finds_the_header_of_a_table_of_texts(self):
        """No number is below a name: the model has the names."""
        self.write("a.csv", "size,colour,y\n" + "s,red,1\nl,blue,2\n" * 5)
        self.write("b.csv", "size,colour\n" + "s,red\nl,blue\ns,red\n" * 2)
        self.run_kindred("transfer", "-q", "-m", "svm", "--source", "a.csv", "--label-column", "y", "--target", "b.csv", "--save-model",
                         "m.h5", "-o", "out")
        self.assertEqual(self.run_kindred("predict", "-q", "--model", "m.h5", "b.csv").stdout.split(), list("121121"))

    def test_a_category_that_is_missing(self):
        self.write("k.csv", "x,k\n1,a\n2,a\n3,b\n4,?\n5,b\n6,a\n9,b\n")
        self.assertEqual(self.table("k.csv", "--missing", "zero")[1][3], ["4", "0", "0"])
        self.assertEqual(self.table("k.csv", "--missing", "mean")[1][3], ["4", "0.5", "0.5"])
        self.fails("convert", "k.csv", "o.npy", code=3, says=["line 5", "column 2 (k)", "--missing"])

    def test_words_that_may_be_a_category(self):
        """None is a category if no cell is empty, or if it is frequent; otherwise it is missing."""
        def column(cells):
            self.write("w.csv", "x,k\n" + "".join(f"{i * i % 7}.5,{c}\n" for i, c in enumerate(cells)))
            return self.run_kindred("inspect", "w.csv").stdout
        for word in ("none", "None", "NULL", "NA", "n/a"):
            self.assertIn(f"'{word}' is one", column(["a", "b"] * 99 + [word]), word)  # no cell is empty
            self.assertIn(f"'{word}' is one", column(["a", "b"] * 60 + [word] * 3 + [""]), word)  # 3 of 124
            self.assertIn(f"'{word}' is missing (2)", column(["a", "b"] * 60 + [word] * 2 + [""]), word)
        for word in ("?", "-", "nan", "#N/A"):
            self.assertNotIn("is one", column(["a", "b"] * 60 + [word] * 9), word)
        self.assertNotIn("is one", column(["1", "2.5"] * 60 + ["none"] * 9))  # numbers
        done = self.run_kindred("convert", "--missing", "zero", "w.csv", "o.csv")
        column(["a", "b"] * 60 + ["none", ""])
        done = self.run_kindred("convert", "--missing", "zero", "--force", "w.csv", "o.csv")
        said = "column 'k': 'none' is treated as missing (1 of 122 cells); use --recode 'k:none=NEW' to make it a category"
        self.assertEqual(done.stderr.count(said), 1)
        self.assertIn("'none' is treated as missing (1 of 122 cells)", self.run_kindred("inspect", "--missing", "zero", "w.csv").stdout)
        done = self.run_kindred("cluster", "-k", 2, "-m", "kmeans", "--missing", "zero", "-o", "words", "w.csv")
        self.assertEqual((done.stdout + done.stderr).count(said), 1)
        with open(self.path("words/result.json")) as f:
            self.assertIn("w.csv: " + said, json.load(f)["warnings"])
        self.assertEqual(self.table("w.csv", "--missing", "zero", "--na", "none")[0], ["x", "k=a", "k=b"])
        self.assertEqual(self.table("w.csv", "--missing", "zero", "--recode", "k:none=c")[0], ["x", "k=a", "k=b", "k=c"])
        column(["yes", "none", "none"] * 30)
        self.assertEqual(self.table("w.csv")[0], ["x", "k=yes", "k=none"])

    def test_empty_columns_are_left_out(self):
        self.write("e.csv", "x,nothing,y\n1,,2\n3,,4\n")
        self.assertEqual(self.table("e.csv")[0], ["x", "y"])


class Recode(Tables):
    def test_values_are_replaced(self):
        self.write("k.csv", "x,k\n1,ja\n2,nein\n3,ja\n4,\n99,x y\n")
        head, rows = self.table("k.csv", "--missing", "zero", "--recode", "k:ja=yes", "--recode", "k:nein=no", "--recode", "k:=no", "--recode", "k:x y=no")
        self.assertEqual((head, [r[1:] for r in rows]), (["x", "k=yes", "k=no"], [["1", "0"], ["0", "1"], ["1", "0"], ["0", "1"], ["0", "1"]]))
        # numbers: to others, to missing values, and to a category
        self.assertEqual([r[0] for r in self.table("k.csv", "--missing", "zero", "--recode", "x:99=5", "--columns", "x")[1]], ["1", "2", "3", "4", "5"])
        self.assertEqual([r[0] for r in self.table("k.csv", "--missing", "zero", "--recode", "x:99=", "--columns", "x")[1]], ["1", "2", "3", "4", "0"])
        self.write("b.csv", "x,k\n1,1\n2,0\n3,1\n4.5,0\n")
        self.assertEqual(self.table("b.csv", "--recode", "k:1=yes", "--recode", "k:0=no")[0], ["x", "k=yes", "k=no"])
        # a file; quotes; the new names of columns
        self.write("r.csv", 'column,old,new\nk,ja,yes\n"k",nein,"no"\nk,x y,\n')
        self.assertEqual(self.table("k.csv", "--missing", "zero", "--recode", "r.csv")[0], ["x", "k=yes", "k=no"])
        self.write("q.csv", 'x,a:b\n1,u=v\n2,w\n3,w\n')
        self.assertEqual(self.table("q.csv", "--recode", '"a:b":"u=v"=z=')[0], ["x", "a:b=z=", "a:b=w"])
        self.assertEqual(self.table("q.csv", "--rename", "a:b=k", "--recode", "k:w=t")[0], ["x", "k=u=v", "k=t"])

    def test_many_rows_are_read_as_few(self):
        """Values that change are found in any part of a file that is read in parallel."""
        cells = ["b"] * 30000 + ["a", "c"] * 5
        self.write("m.csv", "x,k\n" + "".join(f"{i % 11}.25,{c}\n" for i, c in enumerate(cells)))
        for threads in (1, 4):
            head, rows = self.table("m.csv", "--threads", threads, "--recode", "k:c=a")
            self.assertEqual((head, sum(r[2] == "1" for r in rows)), (["x", "k=b", "k=a"], 10))

    def test_bad_recodes(self):
        self.write("k.csv", "x,k\n1,ja\n2,nein\n3,ja\n")
        for text, says in (("k:jaa=yes", ["no cell of column 'k' is 'jaa'"]), ("kk:ja=yes", ["no file has a column 'kk'", "'k'"]), ("ja=yes", ["COLUMN:OLD=NEW"]),
                           ("nowhere.csv", ["COLUMN:OLD=NEW"]), (":ja=yes", ["COLUMN:OLD=NEW"])):
            self.fails("convert", "--recode", text, "k.csv", "o.csv", code=None, says=says)
        self.fails("convert", "--recode", "k:ja=yes", "--recode", "k:ja=no", "k.csv", "o.csv", code=None, says=["two new values, 'yes' and 'no'"])
        self.write("r.csv", "k,ja\n")
        self.fails("convert", "--recode", "r.csv", "k.csv", "o.csv", code=None, says=["r.csv: line 1", "three columns"])
        self.write("x.mtx", "%%MatrixMarket matrix array real general\n1 1\n1\n")
        self.fails("convert", "--recode", "k:a=b", "x.mtx", "o.csv", code=2, says="--recode has no effect")


class Dialects(Tables):
    def test_delimiters(self):
        want = [[1, 2], [3, 4.5]]
        for d, told in ((",", ","), (";", ";"), ("\t", "tab"), ("|", "|")):
            text = f"1{d}2\n3{d}4.5\n"
            self.assertEqual(self.numbers(text), want, d)
            self.assertEqual(self.numbers(text, "--delimiter", told), want, d)
            self.assertEqual(self.numbers(f"sep={d}\r\n" + text.replace("\n", "\r\n")), want, d)
        self.assertEqual(self.numbers("1:2\n3:4.5\n", "--delimiter", ":"), want)
        self.fails("inspect", "n.csv", "--delimiter", "::", code=2, says="'::'")

    def test_numbers_as_people_write_them(self):
        self.assertEqual(self.numbers('a;b\n1.234,5;"12,5 %"\n7;3 %\n'), [[1234.5, 12.5], [7, 3]])
        self.assertEqual(self.numbers('a;b\n"$1,234.50";(3)\n$7;4\n'), [[1234.5, -3], [7, 4]])
        self.assertEqual(self.numbers("a;b\n1'000;2\n3;1 234,5\n"), [[1000, 2], [3, 1234.5]])
        self.assertEqual(self.numbers("a;b\n5 €;1\n-1.000.000 €;2\n"), [[5, 1], [-1000000, 2]])

    def test_decimal_commas_by_the_evidence_of_the_column(self):
        self.assertEqual(self.numbers("a;b\n1,5;2\n3,25;4\n"), [[1.5, 2], [3.25, 4]])
        # 1,234 alone is in doubt; another column settles it
        self.assertEqual(self.numbers("a;b\n1,234;0,5\n2,345;1,25\n"), [[1.234, .5], [2.345, 1.25]])
        self.assertEqual(self.numbers("a;b\n1,234;0.5\n2,345;1.25\n"), [[1234, .5], [2345, 1.25]])
        self.write("d.csv", "a;b\n1,234;1\n2,345;2\n")
        self.fails("convert", "d.csv", "o.npy", code=3, says=["d.csv", "line 2", "column 1 (a)", "'1,234'", "--decimal"])
        self.assertEqual(self.numbers("a;b\n1,234;1\n2,345;2\n", "--decimal", ","), [[1.234, 1], [2.345, 2]])
        self.assertEqual(self.numbers("a;b\n1,234;1\n2,345;2\n", "--decimal", "."), [[1234, 1], [2345, 2]])
        self.write("d.csv", "a;b\n1,5;1\n2.5;2\n")
        self.fails("convert", "d.csv", "o.npy", code=3, says=["line 3", "column 1 (a)", "'2.5'", "--decimal"])

    def test_a_last_row_of_totals_is_no_sample(self):
        note = "t.csv: the last row was skipped, because it appears to be the sum or mean of the others"
        for text, rows, header in (("region,a,b\nN,1,10\nS,2,20.5\nW,3,30\nTotal,6,60.5\n", 3, ["", "a", "b"]),
                                   ("year,a,b\n2020,1,10\n2021,2,25\n2022,3,30\nSumme,6,65\n", 3, ["year", "a", "b"]),
                                   ("c,a\nx,1\ny,2\nx,3\ny,5\nx,1\nMittelwert:,2.4\n", 5, ["c=x", "c=y", "a"]),
                                   ("a,b,c\n" + "".join(f"{i},{i * i},{i * 7 % 4}.5\n" for i in range(7)) + "21,91,14.5\n", 7, ["a", "b", "c"])):
            self.write("t.csv", text)
            self.assertIn(note, self.run_kindred("convert", "--force", "t.csv", "o.csv").stderr)
            names, cells = self.table("t.csv")
            self.assertEqual((names, len(cells)), (header, rows), text)
        for text in ("region,a,b\nN,1,10\nS,2,20.5\nW,3,30\nTotal,60,6\n", "region,a\nN,1\nS,2\nW,3\nE,6\n", "a,b,c\n1,0,0\n0,1,0\n0,0,1\n1,1,1\n"):
            self.write("t.csv", text)
            self.assertEqual(len(self.table("t.csv")[1]), 4, text)
        self.write("t.csv", "year,a\n2020,1\n2021,2\n2022,3\nTotal,99\n")
        self.fails("convert", "t.csv", "o.csv", code=3, says=["'Total' is not a number", "remove the row"])
        # the row keeps its place in what is written
        self.write("t.csv", "Bericht\n\nRegion;Umsatz;Menge\n" + "".join(f"R{i};{i % 2 * 9 + 1}.500;{i}\n" for i in range(8)) + "Summe;44.000;28\n")
        out = self.run_kindred("cluster", "-k", 2, "-m", "kmeans", "--thousands", ".", "--write-table", "w.csv", "-o", "out", "t.csv").stdout
        self.assertIn(note, out)
        self.assertEqual(self.result()["tasks"][0]["left_out"], [{"row": 9, "id": "Summe", "reason": "sum or mean of the other rows"}])
        lines = self.read("w.csv").splitlines()
        self.assertEqual(len(lines), 12)
        self.assertEqual(lines[-1].split(";")[:4], ["Summe", "44.000", "28", ""])

    def test_a_device_without_end_is_refused(self):
        self.fails("inspect", "--format", "csv", "/dev/urandom", code=3, says=["/dev/urandom: line", "zero byte"])

    def test_rows_above_the_header(self):
        table = "Region;Umsatz;Menge\nNord;1,5;3\nSüd;2,5;4\nWest;3,5;7\n"
        want = (["", "Umsatz", "Menge"], [["Nord", "1.5", "3"], ["Süd", "2.5", "4"], ["West", "3.5", "7"]])
        for above, rows in (("", 0), ("Umsatzbericht 2024\n", 1), ("Umsatzbericht\nStand: 31.12.2024\n\n", 3), ("Bericht 2024;;\n;;\n", 2),
                            ("Quelle;Amt\nJahr;2024\n;;\n", 3), (";Werte;\n", 1), ("a, b, c\nd, e\n", 2)):
            for options in ([], ["--skip-rows", "auto"], ["--skip-rows", str(rows)]):
                self.write("t.csv", above + table)
                self.assertEqual(self.table("t.csv", *options), want, (above, options))
            if rows:
                said = f"t.csv: {rows} row{'s were' if rows > 1 else ' was'} skipped, because the header appears to be in line {rows + 1}"
                self.assertIn(said, self.run_kindred("cluster", "-k", 2, "-m", "kmeans", "--force", "-o", "out", "t.csv").stdout)
                self.assertTrue(any(said in w for w in self.result()["warnings"]))
                self.assertIn("--skip-rows", self.run_kindred("inspect", "t.csv").stdout)
        # the line of an error is that of the file
        self.write("t.csv", "Bericht\n\n" + table + "Ost;x;1\nMitte;4,5;2\n")
        self.fails("convert", "t.csv", "o.csv", code=3, says=["line 7", "column 2 (Umsatz)", "'x'"])
        # with other options
        self.write("t.csv", "Bericht\n\nRegion;Umsatz;Menge\nNord;1.500;3\nSüd;2.500;4\n")
        self.fails("convert", "t.csv", "o.csv", code=3, says=["line 4", "--thousands"])
        for option in (["--thousands", "."], ["--decimal", ","]):
            for skip in ([], ["--skip-rows", "2"]):
                self.assertEqual(self.table("t.csv", *option, *skip), (["", "Umsatz", "Menge"], [["Nord", "1500", "3"], ["Süd", "2500", "4"]]))
        # what was above the header is copied with the table
        self.write("t.csv", "Bericht\n\n" + table)
        self.run_kindred("cluster", "-q", "-k", 2, "-m", "kmeans", "--force", "-o", "out", "--write-table", "w.csv", "t.csv")
        lines = self.read("w.csv").splitlines()
        self.assertEqual([lines[:2], lines[2].split(";")[:4]], [["Bericht", ""], ["Region", "Umsatz", "Menge", "cluster"]])
        self.assertEqual(len(lines), 6)
        # words in rows of data, and rows of units, are no header
        self.write("t.csv", "x,y\ncm,cm\n1,2\n3,4\n")
        self.fails("convert", "t.csv", "o.csv", code=3, says=["'x' is not a number"])
        self.assertEqual(self.table("t.csv", "--skip-rows", "1"), (["cm", "cm"], [["1", "2"], ["3", "4"]]))
        for skip, code in (("9", 3), ("-1", None), ("x", None)):
            self.fails("convert", "--skip-rows", skip, "t.csv", "o.csv", code=code, says=skip)

    def test_rows_above_a_header_of_texts(self):
        rows = "".join(f"{i};das Haus am See hat {'rote' if i % 2 else 'blaue'} Fenster {i}\n" for i in range(8))
        self.write("t.csv", "Umfrage\n\nnr;antwort\n" + rows)
        self.write("plain.csv", "nr;antwort\n" + rows)
        self.run_kindred("cluster", "-q", "-k", 2, "-m", "kmeans", "--text-column", "antwort", "-o", "plain", "plain.csv")
        for skip in ([], ["--skip-rows", "2"], ["--skip-rows", "auto"]):
            self.run_kindred("cluster", "-q", "-k", 2, "-m", "kmeans", "--text-column", "antwort", *skip, "--force", "-o", "out", "--write-table", "w.csv", "t.csv")
            self.assertEqual(self.result()["tasks"][0]["labels"], self.result("plain/result.json")["tasks"][0]["labels"])
            self.assertTrue(self.read("w.csv").startswith("Umfrage\n\nnr;antwort;cluster"))

    def test_header_above_numbers_in_quotes(self):
        self.write("q.csv", 'town,people\nRome,"2,761,632"\nOslo,"1,234,567"\n')
        self.assertEqual(self.table("q.csv"), (["", "people"], [["Rome", "2761632"], ["Oslo", "1234567"]]))
        self.write("q.csv", 'people,area\n"2,761,632","1,285"\n"1,234,567","2,454"\n')
        self.assertEqual(self.table("q.csv"), (["people", "area"], [["2761632", "1285"], ["1234567", "2454"]]))

    def test_points_that_may_separate_thousands(self):
        self.write("d.csv", "umsatz;menge\n1.234;5\n12.500;6\n45.120;7\n")
        self.fails("convert", "d.csv", "o.npy", code=3, says=["d.csv", "line 2", "column 1 (umsatz)", "'1.234'", "--decimal '.'", "--thousands '.'"])
        text = "umsatz;menge\n1.234;5\n12.500;6\n45.120;7\n"
        grouped, plain = [[1234, 5], [12500, 6], [45120, 7]], [[1.234, 5], [12.5, 6], [45.12, 7]]
        for options, want in ((["--thousands", "."], grouped), (["--decimal", ","], grouped), (["--decimal", "."], plain), (["--thousands", "none"], plain),
                              (["--thousands", "'"], plain)):
            self.assertEqual(self.numbers(text, *options), want, options)
        # the rest of the file decides: what another column needs, blanks or apostrophes, zeros that would have been left out, euros
        for text, want in (("a;b\n1.234;5,5\n2.500;6\n", [[1234, 5.5], [2500, 6]]), ("a;b\n1.234;5.5\n2.500;6\n", [[1.234, 5.5], [2.5, 6]]),
                           ("a;b\n1.234;0.125\n2.500;6\n", [[1.234, .125], [2.5, 6]]), ("a;b\n1.234;1'234\n2.500;6\n", [[1.234, 1234], [2.5, 6]]),
                           ("a;b\n1,234;1’234\n2,500;6\n", [[1.234, 1234], [2.5, 6]]), ("a;b\n450;1\n2.500;2\n", [[450, 1], [2500, 2]]),
                           ("a;b\n39.364 €;1\n1.234 €;2\n", [[39364, 1], [1234, 2]]), ("a;b\n1450;1\n2.345;2\n", [[1450, 1], [2.345, 2]]),
                           ("a,b\n1.234,5\n2.500,6\n", [[1.234, 5], [2.5, 6]]), ("a\tb\n1.234\t5\n2.500\t6\n", [[1.234, 5], [2.5, 6]])):
            self.assertEqual(self.numbers(text), want, text)
        for options, says in ((["--thousands", "x"], "'x' is not valid"), (["--thousands", ".", "--decimal", "."], "both decimals and thousands")):
            self.fails("convert", "d.csv", "o.npy", *options, code=None, says=says)

    def test_decisions_about_numbers_are_in_the_summary_and_the_result(self):
        rows = "".join(f"{i + 1}.{i:02d}0 €;{i % 3}\n" for i in range(30))
        self.write("e.csv", "preis;b\n" + rows)
        note = "column 1 (preis): '1.000 €' was read as 1000; use --decimal '.' if it is 1"
        self.assertIn(note, self.run_kindred("cluster", "-k", "2", "-m", "kmeans", "e.csv", "-o", "out", "--save-model", "m.h5").stdout)
        self.assertIn(note, self.result()["warnings"][0])
        self.assertIn("column 1 (preis): '1.000 €' was read as 1000\n      -> use --decimal '.' if it is 1\n", self.run_kindred("inspect", "e.csv").stdout)
        for command in (["convert", "e.csv", "c.csv"], ["predict", "--model", "m.h5", "e.csv"]):
            self.assertIn(note, self.run_kindred(*command).stderr)

    def test_quotes_trailing_delimiters_and_line_ends(self):
        want = [[1, 2], [3, 4.5]]
        self.assertEqual(self.table(self.write("q.csv", '"a","b"\n"1","2"\n"3","4.5"\n')), (["a", "b"], [["1", "2"], ["3", "4.5"]]))
        for text in ("a,b,\n1,2,\n3,4.5,\n", "a,b\n1,2,\n3,4.5,\n", "a,b,\n1,2\n3,4.5\n", "a,b\r1,2\r3,4.5\r", "a,b\r1,2\r3,4.5",
                     "a,b\r\n1,2\r\n3,4.5"):
            self.assertEqual(self.numbers(text), want, repr(text))

    def test_encodings(self):
        text = "größe;stadt\n1,5;Zürich\n2,5;Köln\n3,5;Zürich\n4;Köln\n"
        plain = self.table(self.write("a.csv", text.encode()))
        self.assertEqual(plain[0], ["größe", "stadt=Zürich", "stadt=Köln"])
        for data in (b"\xef\xbb\xbf" + text.encode(), text.encode("utf-16"), text.encode("utf-16-le"), text.encode("utf-16-be"),
                     b"\xfe\xff" + text.encode("utf-16-be"), text.encode("latin-1"), gzip.compress(text.encode("utf-16")),
                     text.replace("\n", "\r").encode("utf-16")):
            self.assertEqual(self.table(self.write("b.csv", data)), plain, data[:20])
        self.write("c.csv", text.encode("cp1252"))
        self.assertEqual(self.table("c.csv", "--encoding", "latin-1"), plain)
        self.fails("inspect", "c.csv", "--encoding", "ebcdic", code=2, says=["'ebcdic'", "latin-1"])
        # Assumptions are reported with the result; specified settings are not.
        self.write("c.csv", "größe,länge\n1,2\n3,4\n9,9\n".encode("latin-1"))
        for told, said in (((), True), (("--encoding", "latin-1"), False)):
            done = self.run_kindred("cluster", "-v", "-m", "kmeans", "-k", 2, "--force", "-o", "out", *told, "c.csv")
            self.assertEqual("read as Latin-1 (Windows-1252); use --encoding to specify another" in done.stdout, said, done.stdout)

    def test_bytes_that_are_no_utf8_far_into_the_file(self):
        rows = "".join(f"{i % 7},k{i % 3},{'x' * 400}\n" for i in range(50000))
        self.write("far.csv", b"x,k,pad\n" + rows.encode() + b"3,k\xe9,x\n" * 2)
        self.assertIn("k=ké", self.table("far.csv", "--columns", "x,k")[0])

    def test_a_pipe_is_read_twice(self):
        done = self.run_kindred("inspect", "--format", "csv", "--json", "-", stdin=PEOPLE)
        self.assertEqual(json.loads(done.stdout)["tasks"][0]["cols"], 7)
        done = self.run_kindred("inspect", "--format", "csv", "--json", "/dev/stdin", stdin=PEOPLE)
        self.assertEqual(json.loads(done.stdout)["tasks"][0]["cols"], 7)


class Jobs(Tables):
    """What cluster and predict do with such tables."""

    def cluster(self, *args, code=0):
        done = self.run_kindred("cluster", "-m", "kmeans", "-k", 2, "-o", "out", "--force", *args, code=code)
        return done.stdout, self.result()

    def test_the_summary_says_what_columns_were_taken_for(self):
        self.write("p.csv", PEOPLE)
        text, result = self.cluster("-v", "p.csv")
        for line in ("Nr: row names (consecutive numbers); use --columns '+Nr' to make it a feature", "city: category (3 different texts)",
                     "joined: date (days since 2021-03-01)",
                     "notes: text, skipped (6 different texts in 8 rows); use --text-column 'notes' to compare its words instead, or "
                     "--columns 'notes:category' to keep it"):
            self.assertIn("\n" + line + "\n", text)
            self.assertIn(line, result["tasks"][0]["notes"])
        self.assertEqual([c["kind"] for c in result["tasks"][0]["columns"]], ["id", "category", "category", "number", "date", "text"])
        self.assertEqual(result["tasks"][0]["ids"], [str(i) for i in range(1, 9)])
        wide = ",".join(f"t{i}" for i in range(12)) + ",x\n" + "".join(
            ",".join(f"w{r * 12 + c if r < 7 else c}" for c in range(12)) + f",{r}.5\n" for r in range(8))
        text, _ = self.cluster("-v", self.write("wide.csv", wide), "--id-column", "1")
        self.assertIn("11 columns: text, skipped: t1, t2, t3, t4, t5, t6 and 5 more\n", text)

    def test_constants_are_left_out_where_all_tasks_have_them(self):
        self.write("a.csv", "k,c,d,x\n" + "".join(f"{'uv'[i % 2]},7,1,{i % 5}\n" for i in range(8)))
        self.write("b.csv", "k,c,d,x\n" + "".join(f"{'uv'[i % 2]},7,{i % 3},{i % 4}\n" for i in range(8)))
        text, result = self.cluster("-v", "a.csv")
        self.assertIn("c: constant, skipped", text)
        self.assertEqual(result["tasks"][0]["d"], 3)
        text, result = self.cluster("-v", "a.csv", "b.csv")
        self.assertIn("\nc: constant, skipped\n", text)
        self.assertNotIn("d: constant", text)
        self.assertEqual(result["tasks"][0]["d"], 4)

    def test_a_category_weighs_like_one_number(self):
        import h5py
        rows = "".join(f"{'pqrs'[i % 4]},{i * 7 % 12}\n" for i in range(24))
        self.write("w.csv", "k,x\n" + rows)
        for scale, want in (("standard", (1, 1)), ("minmax", None), ("none", None)):
            self.cluster("w.csv", "--scale", scale, "--save-model", f"{scale}.h5")
            with h5py.File(self.path(f"{scale}.h5")) as f:
                divisor = dict(zip(f["prep/features"].asstr()[:], f["prep/divisor"][:]))
            if scale == "standard":  # four texts of share 1/4: their variances add up to 4 * 3/16
                self.assertAlmostEqual(divisor["k=p"] ** 2, .75)
                self.assertAlmostEqual(divisor["x"] ** 2, sum((v - 5.5) ** 2 for v in range(12)) / 12)
            else:
                self.assertAlmostEqual(divisor["k=p"] ** 2, 2)
                self.assertEqual(divisor["x"], 11 if scale == "minmax" else 1)

    def test_dates_and_categories_agree_across_tasks(self):
        self.write("a.csv", "day,k,x\n" + "".join(f"2021-01-{1 + 9 * (i % 2):02d},{'uv'[i % 2]},{i * i % 7}\n" for i in range(8)))
        self.write("c.csv", "x,k,day\n" + "".join(f"{i * i % 5},{'wv'[i % 2]},2021-01-10\n" for i in range(8)))
        text, result = self.cluster("-v", "--columns", "day,k", "--pooled", "a.csv", "c.csv")
        labels = [t["labels"] for t in result["tasks"]]
        self.assertIn("\nday: date (days since 2021-01-01)\n", text)  # one line, one origin for both
        self.assertEqual(labels[0], [0, 1] * 4)  # nine days apart
        self.assertEqual(labels[1], [1] * 8)     # all on the tenth, whatever that is in its own file
        with open(self.path("out/features.csv")) as f:
            self.assertIn("k=v", f.read())

    def test_predict_reads_as_the_fit_did(self):
        self.write("p.csv", PEOPLE)
        self.cluster("p.csv", "--scale", "standard", "--missing", "mean", "--save-model", "m.h5")
        fitted = self.read("out/p.labels").split()
        self.assertEqual(self.run_kindred("predict", "--model", "m.h5", "p.csv").stdout.split(), fitted)
        # one row: every column is constant, every text is different from all others; columns in another order
        lines = [line.split(",") for line in PEOPLE.splitlines()]
        for row in (1, 6, 8):
            for order in (range(6), (4, 2, 0, 5, 1, 3)):
                self.write("one.csv", "".join(",".join(line[c] for c in order) + "\n" for line in (lines[0], lines[row])))
                got = self.run_kindred("predict", "--model", "m.h5", "one.csv").stdout.split()
                self.assertEqual(got, [fitted[row - 1]], (row, order))
        # a text that the fit did not know, and a hole, filled by the mean of the fit
        self.write("new.csv", "Nr,city,segment,height,joined,notes\n7,Tokyo,a,,2021-03-11,x\n8,Rome,b,9,2021-03-15,y\n")
        done = self.run_kindred("predict", "--model", "m.h5", "new.csv")
        self.assertEqual(len(done.stdout.split()), 2)
        self.assertIn("fitted on: 'city=Tokyo'", done.stderr)
        self.fails("predict", "--strict", "--model", "m.h5", "new.csv", code=3, says="city=Tokyo")

    def test_the_mean_of_the_fit_fills_new_holes(self):
        rows = "".join(f"{10 * (i % 2) + i % 3},{5 * (i % 2)}\n" for i in range(20))
        self.write("a.csv", "x,y\n" + rows + "NA,1\n")
        self.cluster("a.csv", "--missing", "mean", "--save-model", "m.h5")
        import h5py
        with h5py.File(self.path("m.h5")) as f:
            fill = f["prep/fill"][:]
        want = sum(10 * (i % 2) + i % 3 for i in range(20)) / 20
        self.assertAlmostEqual(fill[0], want)
        # alone, the mean of the new file would be 0 and cluster of the zeros
        self.write("b.csv", "x,y\n0,0\n,5\n0,0\n")
        first, hole, _ = self.run_kindred("predict", "--model", "m.h5", "b.csv").stdout.split()
        self.assertNotEqual(first, hole)

    def test_the_mean_of_the_fit_fills_new_columns_without_a_value(self):
        self.write("a.csv", "x,y\n100,1\n101,2\n,1\n200,50\n201,51\n199,52\n")
        for policy in ("mean", "median"):
            self.cluster("a.csv", "--missing", policy, "--save-model", "m.h5")
            self.write("b.csv", "x,y\n,51\n100,1\n")
            want, other = self.run_kindred("predict", "--model", "m.h5", "b.csv").stdout.split()
            self.assertNotEqual(want, other)
            for text in ("x,y\n,51\n", "y\n51\n"):
                self.write("b.csv", text)
                done = self.run_kindred("predict", "--model", "m.h5", "b.csv")
                self.assertEqual(done.stdout.split(), [want], text)
                self.assertIn(f"filled with the {policy} of the fit", done.stderr)

    def test_the_shares_of_the_fit_fill_new_categories_without_a_value(self):
        # u and w are .5 each in the fit, so that a row without a value is as far from both: the number decides
        self.write("a.csv", "c,x\n" + "u,0\nw,1\n" * 4)
        self.cluster("a.csv", "--columns", "c:category,x", "--missing", "mean", "--save-model", "m.h5")
        for text in ("c,x\n,.55\nu,0\nw,1\n", "c,x\n,.55\nu,0\n", "c,x\n,.55\nw,1\n", "c,x\n,.55\n", "x\n.55\n"):
            for x, like in ((".55", "w,1"), (".45", "u,0")):
                self.write("one.csv", "c,x\n" + like + "\n")
                want = self.run_kindred("predict", "--model", "m.h5", "one.csv").stdout.split()[0]
                self.write("b.csv", text.replace(".55", x))
                got = self.run_kindred("predict", "--model", "m.h5", "b.csv").stdout.split()[0]
                self.assertEqual(got, want, (text, x))

    def test_rows_left_out_keep_truth_in_step(self):
        self.write("t.csv", "x,y\n0,0\n,1\n9,9\n9,8\n0,1\n")
        self.write("t.labels", "a\n?\nb\nb\na\n")
        text, result = self.cluster("-v", "t.csv", "--missing", "drop-row", "--score")
        self.assertEqual(result["tasks"][0]["metrics"]["acc"], 1)
        self.assertIn("1 row skipped: missing values", text)

    def test_drop_column_is_for_all_tasks(self):
        self.write("a.csv", "x,y,z\n1,2,3\n,5,1\n4,4,4\n")
        self.write("b.csv", "x,y,z\n1,2,2\n3,5,1\n4,4,9\n")
        _, result = self.cluster("a.csv", "b.csv", "--missing", "drop-column")
        self.assertEqual([t["d"] for t in result["tasks"]], [2, 2])

    def test_task_column(self):
        self.write("s.csv", "site,id,x,k\n" + "".join(f"{'AB'[i % 2]},r{i},{i % 4 * 3 + i % 3},{'uv'[i % 4 // 2]}\n" for i in range(24)))
        _, result = self.cluster("s.csv", "--task-column", "site")
        self.assertEqual([(t["name"], t["n"], t["d"]) for t in result["tasks"]], [("A", 12, 3), ("B", 12, 3)])
        self.assertEqual(result["tasks"][1]["ids"][0], "r1")


class Inspect(Tables):
    def test_the_whole_file_is_gone_through(self):
        self.write("bad.csv", "id,x,y,when\nr1,1,2,2021-01-01\nr2,abc,3,2021-01-02\nr3,5\nr4,6,,2021-01-04\nr5,1,inf,oops\nr6,2,4,2021-01-05\n")
        done = self.run_kindred("inspect", "bad.csv", code=3)
        for piece in ("line 4 has 2 fields, expected 4", "line 3, column 2 (x): 'abc' is not a number", "--na 'abc'",
                      "line 6, column 4 (when): 'oops' is not a date", "line 6, column 3 (y): 'inf' is not a number",
                      "line 5, column 3 (y): missing value", "--missing zero"):
            self.assertIn(piece, done.stdout)
        self.assertEqual(len(done.stderr.splitlines()), 1)
        found = json.loads(self.run_kindred("inspect", "--json", "bad.csv", code=3).stdout)["tasks"][0]["problems"]
        self.assertEqual(sum(p["fatal"] for p in found), 5)
        self.assertEqual({p.get("line") for p in found if p["fatal"]}, {3, 4, 5, 6})

    def test_what_is_in_order_is_said_as_well(self):
        self.write("p.csv", PEOPLE)
        report = json.loads(self.run_kindred("inspect", "--json", "p.csv").stdout)["tasks"][0]
        self.assertEqual([c["kind"] for c in report["columns"]], ["id", "category", "category", "number", "date", "text"])
        self.assertFalse(any(p["fatal"] for p in report["problems"]))
        text = self.run_kindred("inspect", self.write("d.csv", "a;b\n1,5 €;2\n2,5 €;3\n")).stdout
        self.assertIn("decimal comma, €", text)
        self.assertIn("--decimal", text)

    # --- columns that only some files have, and new names ----------------------------------------------------

    def two_tables(self):
        self.write("a.csv", "Annual Spend,age,Filiale\n" + "".join(f"{i % 2 * 50 + i},{20 + i * 3 % 40},B{i % 3}\n" for i in range(12)))
        self.write("b.csv", "annual_spend,age\n" + "".join(f"{i % 2 * 50 + i},{21 + i * 3 % 40}\n" for i in range(12)))

    def features(self, *args, command="cluster"):
        self.run_kindred(command, "-q", "-o", "out", "--force", *args)
        return [c["name"] for c in self.result()["tasks"][0]["columns"]], [t["d"] for t in self.result()["tasks"]]

    def test_columns_that_only_some_files_have(self):
        self.two_tables()
        common = ("cluster", "-q", "-m", "kmeans", "-k", 2, "-o", "out", "--force")
        self.run_kindred(*common, "--columns", "-Filiale", "a.csv", "b.csv")
        self.assertEqual(self.result()["tasks"][0]["d"], 3)  # age and both spellings
        self.run_kindred(*common, "--columns", "Filiale:text,age:category", "b.csv", "a.csv")
        self.fails(*common, "--columns", "-Filliale", "a.csv", "b.csv", code=3, says=["columns: no file has a column 'Filliale'", "'Filiale'?"])
        self.fails(*common, "--columns", "-Filliale", "a.csv", code=3, says=["a.csv", "'Filliale'"])
        out = self.run_kindred("inspect", "--columns", "-Filiale", "a.csv", "b.csv").stdout
        self.assertEqual(out.count("there is no column 'Filiale'"), 1)

    def test_rename(self):
        self.two_tables()
        common = ("-m", "kmeans", "-k", 2, "--columns", "-Filiale")
        self.assertEqual(self.features(*common, "--rename", "Annual Spend=annual_spend", "a.csv", "b.csv"),
                         (["annual_spend", "age", "Filiale"], [2, 2]))
        # Other options mean the new names; names can be exchanged; quotes hide an equals sign.
        self.write("c.csv", "x,y,p=q,r\n" + "".join(f"{i},{i * 7 % 5},{i * 3 % 4},{'uv'[i % 2]}\n" for i in range(2, 12)))
        names, _ = self.features("-m", "kmeans", "-k", 2, "--rename", "x=y", "--rename", "y=x", "--rename", '"p=q"=kind', "--label-column", "kind",
                                 "c.csv")
        self.assertEqual(names, ["y", "x", "kind", "r"])
        # A table of names: those that no file has do no harm, unless it is all of them.
        self.write("names.csv", 'old;new\n"Annual Spend";spend\nannual_spend;spend\nelsewhere;nowhere\n')
        self.assertEqual(self.features(*common, "--rename", "names.csv", "a.csv", "b.csv")[1], [2, 2])
        out = json.loads(self.run_kindred("relate", "--json", "--rename", "names.csv", "--columns", "-Filiale", "a.csv", "b.csv").stdout)
        self.assertEqual(out["pairs"][0]["overlap"], 1)
        self.run_kindred("embed", "-q", "--rename", "names.csv", "--columns", "-Filiale", "-o", "map", "a.csv", "b.csv")
        out = self.run_kindred("inspect", "--rename", "Annual Spend=annual_spend", "--columns", "-Filiale", "a.csv", "b.csv").stdout
        self.assertIn("2 feature names in common (of 2 and 2)", out)
        # A model has the new names, and predict gives them to a new file.
        self.run_kindred("cluster", "-q", *common, "--rename", "names.csv", "-o", "out", "--force", "--save-model", "m.h5", "b.csv", "a.csv")
        found = self.run_kindred("predict", "--model", "m.h5", "--task", "a", "--rename", "Annual Spend=spend", "a.csv")
        self.assertEqual(found.stdout, self.read("out/a.labels"))
        self.assertNotIn("spend", found.stderr)
        self.run_kindred("transfer", "-q", "--source", "a.csv", "--label-column", "branch", "--rename", "Filiale=branch", "--rename",
                         "annual_spend=Annual Spend", "--target", "b.csv", "-o", "moved")
        self.assertEqual({t["d"] for t in self.result("moved/result.json")["tasks"]}, {2})

    def test_rename_of_features_that_are_no_table(self):
        self.write("m.mtx", "%%MatrixMarket matrix coordinate real general\n3 2 4\n1 1 1\n2 2 3\n3 1 2\n3 2 1\n")
        self.write("features.txt", "Trp53\nActb\n")
        self.run_kindred("convert", "-q", "--rename", "Trp53=TP53", "m.mtx", "n.csv")
        self.assertEqual(self.read("n.csv").split("\n")[0], "TP53,Actb")
        self.fails("convert", "-q", "--rename", "Trp53=Actb", "m.mtx", "o.csv", code=3, says=["m.mtx", "'Trp53' and 'Actb'", "'Actb'"])

    def test_rename_that_cannot_be(self):
        self.two_tables()
        def refused(*args, code=3, says):
            self.fails("relate", *args, "a.csv", "b.csv", code=code, says=says)
        refused("--rename", "Annual Spend=x", "--rename", "age=x", says=["a.csv", "'Annual Spend' and 'age'", "'x'"])
        refused("--rename", "Annual Spend=age", says=["a.csv", "'Annual Spend' and 'age'"])
        refused("--rename", "Anual Spend=annual_spend", says=["rename: no file has a column 'Anual Spend'", "did you mean 'Annual Spend'?"])
        refused("--rename", "age=x", "--rename", "age=y", code=2, says=["'age' has two new names, 'x' and 'y'"])
        refused("--rename", "nothing", code=2, says=["'nothing' is neither OLD=NEW nor a file"])
        refused("--rename", "=x", code=2, says=["an old and a new name are needed"])
        refused("--rename", '"age=x', code=2, says=["neither OLD=NEW"])
        refused("--rename", self.write("three.csv", "age,x\na,b,c\n"), says=["three.csv: line 2: two columns are needed"])
        refused("--rename", self.write("none.csv", "p,q\nr,s\n"), says=["no file has a column with one of the 2 old names", "'p'"])

    # --- hints -------------------------------------------------------------------------------------------------

    def hints(self, a, b, *args):
        self.write("a.csv", a)
        self.write("b.csv", b)
        self.run_kindred("cluster", "-q", "-m", "kmeans", "-k", 2, "-o", "out", "--force", *args, "a.csv", "b.csv")
        return [w for w in self.result()["warnings"] if w.startswith("column")]

    def table(self, titles, row, n=30):
        return titles + "\n" + "".join(",".join(map(str, row(i))) + "\n" for i in range(n))

    def test_hint_of_names_that_are_almost_equal(self):
        a = self.table("Annual Spend,age,x-1", lambda i: (i % 7, 20 + i % 5, i % 3))
        b = self.table("annual_spend,age,X 1", lambda i: (i % 6, 21 + i % 5, i % 4))
        hint, = self.hints(a, b)
        for piece in ("'Annual Spend' of a and 'annual_spend' of b", "and 1 more pair", "--rename 'annual_spend=Annual Spend'"):
            self.assertIn(piece, hint)
        self.assertIn(hint, self.run_kindred("inspect", "a.csv", "b.csv").stdout)
        self.assertEqual(json.loads(self.run_kindred("inspect", "--json", "a.csv", "b.csv").stdout)["hints"], [hint])
        self.assertEqual(self.hints(a, b, "--rename", "annual_spend=Annual Spend", "--rename", "X 1=x-1"), [])
        self.assertEqual(self.hints(a, self.table("spend,age,x", lambda i: (i % 6, 21 + i % 5, i % 4))), [])

    def test_hint_of_other_units(self):
        a = self.table("rate,age", lambda i: (round(12 + i * 7 % 11 + .2, 1), 20 + i % 30))
        hint, = self.hints(a, self.table("rate,age", lambda i: (round(.1 + i * 5 % 13 / 100, 3), 25 + i % 30)))
        for piece in ("column 'rate'", "in a and", "in b", "unit", "percent"):
            self.assertIn(piece, hint)
        hint, = self.hints(a, self.table("age,rate", lambda i: (1000 * (20 + i % 30), 12 + i % 11)))
        self.assertIn("column 'age'", hint)
        self.assertNotIn("percent", hint)
        self.assertEqual(self.hints(a, self.table("rate,age", lambda i: (3 * (12 + i % 11), 20 + i % 30))), [])  # thrice is no other unit

    def test_hint_of_yes_and_no(self):
        def smokers(words):
            return self.table("smoker,age", lambda i: (words[i % 2], 20 + i % 7))
        for a, b, coded in ((("Y", "N"), ("yes", "no"), "Y/N in a and yes/no in b"), (("Y", "N"), (1, 0), "Y/N in a and 0/1 in b"),
                            ((0, 1), ("False", "True"), "0/1 in a and False/True in b")):
            hint, = self.hints(smokers(a), smokers(b))
            self.assertIn(f"column 'smoker' is coded {coded}", hint)
        self.assertEqual(self.hints(smokers(("Y", "N")), smokers(("N", "Y"))), [])
        self.assertEqual(self.hints(smokers(("red", "blue")), smokers(("green", "red"))), [])

    def test_digits_with_leading_zeros_are_a_category(self):
        codes = ("01067", "04103", "10115")
        self.write("t.csv", self.table("plz,age", lambda i: (codes[i % 3], 20 + i % 7)))
        self.run_kindred("convert", "-q", "t.csv", "plain.csv")
        self.assertEqual(self.read("plain.csv").split("\n")[:2], ["plz=01067,plz=04103,plz=10115,age", "1,0,0,20"])
        self.run_kindred("convert", "-q", "--columns", "plz:number", "t.csv", "numbers.csv")
        self.assertEqual(self.read("numbers.csv").split("\n")[:2], ["plz,age", "1067,20"])
        # In one place only, at the end; quoted; decimals are numbers, and so are tables of fixed width.
        self.write("u.csv", self.table("age,plz", lambda i: (20 + i % 7, '"09111"' if i == 29 else 10115 + i % 2)))
        self.run_kindred("convert", "-q", "u.csv", "plain.csv", "--force")
        self.assertEqual(self.read("plain.csv").split("\n")[0], "age,plz=10115,plz=10116,plz=09111")
        self.write("v.csv", "x,y\n00.5,01\n02.5,01.5\n")
        self.run_kindred("convert", "-q", "v.csv", "plain.csv", "--force")
        self.assertEqual(self.read("plain.csv"), "x,y\n0.5,1\n2.5,1.5\n")
        self.write("w.csv", "01,02\n03,04\n05,01\n")
        self.run_kindred("convert", "-q", "w.csv", "plain.csv", "--force")
        self.assertEqual(self.read("plain.csv"), "1,2\n3,4\n5,1\n")
        # A file whose codes have no zeros gives a message.
        hint, = self.hints(self.read("t.csv"), self.table("plz,age", lambda i: (10115 + i % 2, 20 + i % 7)))
        self.assertIn("'plz' is a category in a and a number in b: use --columns 'plz:category'", hint)
        self.assertEqual(self.hints(self.read("t.csv"), self.read("b.csv"), "--columns", "plz:category"), [])


if __name__ == "__main__":
    unittest.main()
