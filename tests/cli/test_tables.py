"""Tables as people have them: columns of all kinds, missing values, dialects."""
import gzip
import json
import os
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
        self.fails("convert", "u.csv", "o.npy", code=3, says=["u.csv", "line 2", "column 1 (d)", "day or month", "'d:dmy'"])
        self.assertEqual(days("1/3/2021", "4/5/2021", options=("--columns", "d:dmy")), [0, 64])

    def test_text_among_numbers_is_an_error(self):
        self.write("a.csv", "x,y\n" + "".join(f"{i * .5},{i % 4}\n" for i in range(30)) + "oops,2\n")
        self.fails("convert", "a.csv", "o.npy", code=3,
                   says=["a.csv", "line 32", "column 1 (x)", "'oops' is not a number, as 30 other cells", "--na 'oops'"])
        self.run_kindred("convert", "-q", "a.csv", "o.npy", "--na", "oops", "--missing", "drop-row")

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
                   says=["m.csv", "line 3, column 2 (x)", "2 cells", "x (1), y (1)", "--missing zero, mean, median"])
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

    def test_a_category_that_is_missing(self):
        self.write("k.csv", "x,k\n1,a\n2,a\n3,b\n4,N/A\n5,b\n6,a\n9,b\n")
        self.assertEqual(self.table("k.csv", "--missing", "zero")[1][3], ["4", "0", "0"])
        self.assertEqual(self.table("k.csv", "--missing", "mean")[1][3], ["4", "0.5", "0.5"])
        self.fails("convert", "k.csv", "o.npy", code=3, says=["line 5", "column 2 (k)", "--missing"])

    def test_empty_columns_are_left_out(self):
        self.write("e.csv", "x,nothing,y\n1,,2\n3,,4\n")
        self.assertEqual(self.table("e.csv")[0], ["x", "y"])


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

    def test_bytes_that_are_no_utf8_far_into_the_file(self):
        rows = "".join(f"{i % 7},k{i % 3},{'x' * 400}\n" for i in range(50000))
        self.write("far.csv", b"x,k,pad\n" + rows.encode() + b"3,k\xe9,x\n" * 2)
        self.assertIn("k=ké", self.table("far.csv", "--columns", "x,k")[0])

    def test_a_pipe_is_read_twice(self):
        done = self.run_kindred("inspect", "--format", "csv", "--json", "-", stdin=PEOPLE)
        self.assertEqual(json.loads(done.stdout)["tasks"][0]["cols"], 7)


if __name__ == "__main__":
    unittest.main()
