"""embed: two-dimensional coordinates of the samples of all tasks."""
import csv
import io
import unittest

from harness import BLOBS_A, BLOBS_B, CliTest


class Embed(CliTest):
    def setUp(self):
        super().setUp()
        self.write("a.csv", BLOBS_A)
        self.write("b.csv", BLOBS_B)

    def points(self, name):
        return [(float(r["x"]), float(r["y"])) for r in csv.DictReader(io.StringIO(self.read(name)))]

    def test_files_of_all_tasks(self):
        said = self.run_kindred("embed", "-o", "out", "a.csv", "second=b.csv").stdout
        self.assertIn("preprocessing: ", said)
        self.assertIn("written: out/a.embedding.csv\nwritten: out/second.embedding.csv\n", said)
        a, b = self.points("out/a.embedding.csv"), self.points("out/second.embedding.csv")
        self.assertEqual((len(a), len(b)), (20, 12))
        for points in (a, b):  # two groups, by turns
            nearest = [min((j for j in range(len(points)) if j != i),
                           key=lambda j: (points[i][0] - points[j][0]) ** 2 + (points[i][1] - points[j][1]) ** 2)
                       for i in range(len(points))]
            self.assertTrue(all(i % 2 == j % 2 for i, j in enumerate(nearest)), nearest)
        self.fails("embed", "-o", "out", "a.csv", code=2, says=["a.embedding.csv", "--force"])
        self.run_kindred("embed", "--force", "-q", "-o", "out", "a.csv")
        self.assertEqual(self.leftovers(), [])

    def test_same_seed_same_coordinates_on_any_number_of_threads(self):
        self.run_kindred("embed", "-q", "-o", "one", "--threads", "1", "a.csv", "b.csv")
        self.run_kindred("embed", "-q", "-o", "two", "--threads", "3", "a.csv", "b.csv")
        self.run_kindred("embed", "-q", "-o", "other", "--seed", "2", "a.csv", "b.csv")
        self.assertEqual(self.read("one/b.embedding.csv"), self.read("two/b.embedding.csv"))
        self.assertNotEqual(self.read("one/b.embedding.csv"), self.read("other/b.embedding.csv"))

    def test_data_without_clusters_do_not_collapse(self):
        self.run_kindred("generate", "--design", "topics", "--words", "100", "--length", "30", "-n", "60,50", "--seed",
                         "3", "-q", "-o", "d")
        self.run_kindred("embed", "-q", "-o", "out", "d/task1.mtx", "d/task2.mtx")
        for name, count in (("task1", 60), ("task2", 50)):
            self.assertGreater(len(set(self.points(f"out/{name}.embedding.csv"))), 0.9 * count)

    def test_standard_output_and_ids(self):
        self.write("c.csv", 'id,u,v\n"a,1",1,2\nb,3,4\nc,9,9\n')
        lines = list(csv.reader(io.StringIO(self.run_kindred("embed", "--id-column", "id", "c.csv").stdout)))
        self.assertEqual(lines[0], ["task", "id", "x", "y"])
        self.assertEqual([line[:2] for line in lines[1:]], [["c", "a,1"], ["c", "b"], ["c", "c"]])
        self.run_kindred("embed", "-q", "--id-column", "id", "-o", "out", "c.csv")
        self.assertIn('"a,1",', self.read("out/c.embedding.csv"))

    def test_array_and_directions(self):
        self.run_kindred("embed", "-q", "--to", "npy", "--layout", "directions", "-o", "out", "a.csv")
        with open(self.path("out/a.embedding.npy"), "rb") as f:
            header = f.read(128)
        self.assertIn(b"'shape': (20, 2)", header)

    def test_misuse(self):
        self.fails("embed", code=2, says="needs at least one")
        self.fails("embed", "--layout", "round", "a.csv", code=2, says=["round", "forces", "directions"])
        self.fails("embed", "--neighbors", "0", "a.csv", code=2, says=["neighbors", "0"])
        self.fails("embed", "none.csv", code=3, says="none.csv")


if __name__ == "__main__":
    unittest.main()
