"""CSV files that people open in a spreadsheet: formulas, titles, and the counts of the report."""
import csv
import io
import json
import re
import unittest

from harness import BLOBS_A, CliTest

IDS = ["=1+1", "+x", "-y", "@z", "\tt", "-5", "+3.5e2", "'=quoted", "plain", "a=b"]
SAFE = ["'=1+1", "'+x", "'-y", "'@z", "'\tt", "-5", "+3.5e2", "'=quoted", "plain", "a=b"]


class Cells(CliTest):
    def rows(self, name):
        return list(csv.DictReader(io.StringIO(self.read(name))))

    def setUp(self):
        super().setUp()
        text = io.StringIO()
        out = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)  # a tab is part of the text
        out.writerow(["id", "x", "y"])
        for i, name in enumerate(IDS):
            out.writerow([name, i % 2 * 10 + i % 3 * .1, i % 2 * 9 - i % 4 * .1])
        self.write("a.csv", text.getvalue())
        self.write("a.known", "=a\n-b\n" * 5)

    def test_samples(self):
        common = ("--id-column", "id", "-q", "-o", "out", "--force")
        for extra, ids in (((), SAFE), (("--raw-cells",), IDS)):
            self.run_kindred("cluster", "-m", "kmeans", "-k", "2-3", *common, *extra, "a.csv")
            self.assertEqual([r["id"] for r in self.rows("out/a.samples.csv")], ids)
            self.assertEqual(self.result()["tasks"][0]["ids"], IDS)
            self.run_kindred("cut", "-k", 3, "-q", "-o", "three", "--force", *extra, "out/result.json")
            self.assertEqual([r["id"] for r in self.rows("three/a.samples.csv")], ids)
            self.write("edits.json", json.dumps({"format": "kindred-edits", "version": 1, "edits": []}))
            self.run_kindred("relabel", "-q", "-o", "edited", "--force", *extra, "out/result.json", "edits.json")
            self.assertEqual([r["id"] for r in self.rows("edited/a.samples.csv")], ids)
            self.run_kindred("embed", *common, *extra, "a.csv")
            rows = self.rows("out/a.embedding.csv")
            self.assertEqual(list(rows[0]), ["id", "x", "y"])
            self.assertEqual([r["id"] for r in rows], ids)

    def test_classes(self):
        """The added column has an apostrophe, the cells of the input stay; answers to ask.csv are read with and without it."""
        common = ("transfer", "--id-column", "id", "-q", "--source", "a.csv", "--labels", "a.known", "--target", "a.csv")
        self.run_kindred(*common, "-o", "out", "--write-table", "t.csv", "--ask", 4)
        rows = self.rows("t.csv")
        self.assertEqual([r["id"] for r in rows], IDS)
        self.assertEqual({r["class"] for r in rows}, {"'=a", "'-b"})
        asked = self.rows("out/target.ask.csv")
        self.assertEqual([SAFE.index(r["id"]) + 1 for r in asked], [int(r["row"]) for r in asked])
        self.write("answers.csv", "row,id,class\n" + "".join(f"{r['row']},\"{r['id']}\",'=a\n" for r in asked))
        self.run_kindred(*common, "-o", "next", "--target-labels", "answers.csv")
        labels = self.read("next/target.labels").splitlines()
        self.assertEqual({labels[int(r["row"]) - 1] for r in asked}, {"=a"})
        self.run_kindred(*common, "-o", "raw", "--write-table", "raw.csv", "--raw-cells")
        self.assertEqual({r["class"] for r in self.rows("raw.csv")}, {"=a", "-b"})

    def test_needs_a_file(self):
        self.fails("cluster", "-m", "kmeans", "-k", 2, "--raw-cells", "a.csv", code=2, says=["--raw-cells", "--write-table"])

    def test_convert_keeps_ids(self):
        self.run_kindred("convert", "-q", "--id-column", "id", "a.csv", "b.csv")
        self.assertEqual([r[0] for r in csv.reader(io.StringIO(self.read("b.csv")))], ["", *IDS])

    def test_the_report_counts_what_the_table_has(self):
        self.write("b.csv", BLOBS_A)
        self.run_kindred("cluster", "-m", "kmeans", "-k", 2, "-q", "-o", "out", "b.csv")
        r = self.result()
        sure = ([0.49999, 0.4999999999, 0.5, 0.500001, 0.19996, 0.3, 0.123456, 0.99999, 1.0, 0.6] * 2)
        r["tasks"][0]["confidence"] = sure
        self.write("out/result.json", json.dumps(r))
        self.run_kindred("report", "-q", "-o", "page.html", "out/result.json")
        shown = json.loads("[" + re.search(r'"confidence":\[([^]]*)\]', self.read("page.html")).group(1) + "]")
        for limit in (.2, .4, .5, .6, .8, 1):
            self.assertEqual([v < limit for v in shown], [v < limit for v in sure], limit)
        self.assertEqual(shown[6], 0.123)


if __name__ == "__main__":
    unittest.main()
