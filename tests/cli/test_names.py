"""--names: what a person calls clusters, in every file of a result, in models, and what is refused."""
import csv
import json
import unittest

from harness import CliTest

try:
    import anndata
except ImportError:
    anndata = None


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
                (["cluster", "-k", 3, "-m", "kmeans", "a.csv"], "--must-link", 'a0,"a3\n', "is not two ids"),
                (["cluster", "-k", 3, "-m", "kmeans", "a.csv"], "--known", 'a0,"u\n' * 2, "known labels"),
                (["transfer", "--source", "a.csv", "--labels", "known.labels", "--target", "b.csv"], "--target-labels", 'row;"id\n', "known label")):
            self.write("torn", text * 3)
            self.fails(*command, option, "torn", code=3, says=says)


if __name__ == "__main__":
    unittest.main()
