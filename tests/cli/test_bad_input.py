"""Bad input: one clear line, the right exit status, nothing half-written."""
import gzip
import math
import os
import random
import resource
import struct
import subprocess
import unittest

from harness import BLOBS_A, KINDRED, CliTest


class BadInput(CliTest):
    def cluster(self, *args, code, says, k=2, **kwargs):
        self.fails("cluster", "-m", "kmeans", "-k", k, "-o", "out", *args, code=code, says=says, **kwargs)
        self.assertFalse(os.path.exists(self.path("out")) and os.listdir(self.path("out")))
        self.assertEqual(self.leftovers(), [])

    def test_k_larger_than_n(self):
        path = self.write("a.csv", "1,2\n3,4\n5,6\n")
        for k in (4, 10**9):  # so many centres need more memory than there is, which is not the point
            self.cluster(path, k=k, code=2, says=[f"cannot form {k} clusters from 3 samples"])
            self.fails("cluster", "-k", k, "-o", "out", path, code=2, says=[f"cannot form {k} clusters from 3 samples"])

    def test_k_zero_negative_or_not_a_number(self):
        path = self.write("a.csv", BLOBS_A)
        for k in ("0", "-3", "two", "2.5", "", "99999999999999999999"):
            self.cluster(path, k=k, code=2, says=["-k", f"'{k}'", "whole number"])
        self.fails("cluster", "-m", "kmeans", path, code=2, says="cluster needs -k")
        self.fails("cluster", "-m", "kmeans", "-k", "2,2", path, code=2, says=["2 values", "1 data set"])

    def test_empty_file(self):
        for name in ("a.csv", "a.mtx", "a.npy", "a.tsv"):
            self.cluster(self.write(name, ""), code=3, says=[name, "empty"])

    def test_header_only(self):
        self.cluster(self.write("a.csv", "x,y\n"), code=3, says="a.csv")

    def test_ragged_csv(self):
        self.cluster(self.write("a.csv", "1,2\n3,4\n5\n"), code=3, says=["a.csv", "line 3", "1", "2"])

    def test_word_where_a_number_should_be(self):
        self.cluster(self.write("a.csv", "x,y\n1,2\n3,four\n"), code=3, says=["a.csv", "line 3", "four"])

    def test_nan_and_infinity(self):
        for bad in ("nan", "inf", "-Infinity", "NaN"):
            self.cluster(self.write("a.csv", f"x,y\n1,2\n3,{bad}\n5,6\n"), code=3, says=["a.csv", "3"])
        mtx = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 nan\n2 2 1\n"
        self.cluster(self.write("a.mtx", mtx), code=3, says="nan")

    def test_rows_are_those_of_the_file_and_have_their_id(self):
        rows = [f"c{i},{'ab'[i % 2]},{i + 1},{i * i % 7 + 1}" for i in range(20)]
        rows[2] = "c2,a,,4"  # skipped: it has a missing value
        rows[5] = "c5,b,-3,4"
        path = self.write("a.csv", "Sales by customer\n\nid,shop,x,y\n" + "\n".join(rows) + "\n")
        log1p = ["--missing", "drop-row", "--weight", "log1p", "--scale", "none", "--columns", "x,y,id:id", path]
        says = ["row 6 (id 'c5'), column 1 ('x') is -3: weight log1p needs values above -1"]
        self.cluster(*log1p, code=3, says=says)
        self.cluster(*log1p, "--task-column", "shop", code=3, says=["data set b: " + says[0]])
        self.fails("transfer", "-m", "nmtf", "--missing", "drop-row", "--scale", "none", "--columns", "x,y,id:id", "--source", path,
                   "--label-column", "shop", "--target", path, code=3,
                   says=["row 6 (id 'c5'), column 1 is -3, but method 'nmtf' needs values >= 0"])
        self.run_kindred("cluster", "-m", "kmeans", "-k", 2, "--missing", "zero", "--task-column", "shop", "-q", "--save-model", "m.h5", path)
        gap = self.write("gap.csv", "id,shop,x,y\nc0,a,1,1\nc1,,2,2\nc2,b,1,2\n")
        self.fails("predict", "--model", "m.h5", "--task-column", "shop", gap, code=3, says=["gap.csv: row 2 (id 'c1') has no value in the --task-column"])

    def test_rows_of_arrays_are_those_of_the_file(self):
        x = [float(i) for i in range(60)]
        x[12 * 3 + 1] = math.nan
        head = "{'descr': '<f8', 'fortran_order': False, 'shape': (20, 3), }".ljust(117) + "\n"
        self.write("z.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack("<60d", *x))
        self.write("z.ids", "".join(f"n{i}\n" for i in range(20)))
        self.cluster("z.npy", code=3, says=["data set z: row 13 (id 'n12'), column 2 is nan"])
        self.assertIn("the first in row 13 (id 'n12'), column 2", self.run_kindred("inspect", "z.npy", code=None).stdout)

    def test_bytes_that_are_no_text(self):
        for text in (b"x,y\n1,2\n3,\x004\n5,6\n", b"x,y\n1,2\n\x00\x01\xfe\x80,3\n"):
            self.cluster(self.write("a.csv", text), code=3, says=["a.csv", "line 3", "zero byte"])

    def test_number_of_a_million_digits(self):
        done = self.fails("cluster", "-m", "kmeans", "-k", 2, self.write("a.csv", "x,y\n" + "1" * 1000000 + ",2\n3,4\n"), code=3,
                          says=["line 2, column 1 (x)", "1111... is not a finite number"])
        self.assertNotIn("--na", done)  # which would take the whole of it

    def test_two_columns_of_one_name(self):
        path = self.write("a.csv", "x,x,y\n1,2,3\n4,5,6\n7,8,1\n")
        self.cluster(path, code=3, says=["columns 1 and 2", "'x'", "--features position"])
        self.assertIn("1 feature name occurs more than once", self.run_kindred("inspect", path).stdout)
        self.run_kindred("cluster", "-m", "kmeans", "-k", 2, "--features", "position", "-o", "placed", path)

    def test_format_that_nobody_told(self):
        self.cluster(self.write("data", BLOBS_A), code=3, says=["data", "one of: csv, tsv", "--format"])
        self.cluster("-", code=2, says=["standard input", "--format", "csv, tsv"])

    def test_option_that_is_no_number(self):
        path = self.write("a.csv", BLOBS_A)
        for value in ("many", "1.5"):
            self.cluster(path, "--set", f"n_init={value}", code=2, says=["n_init", value, "a whole number from 1 to 1000000"])
        self.cluster(path, "--set", "tol=x", code=2, says=["tol", "'x'", "a number from 0 to 1"])

    def test_one_sample(self):
        path = self.write("a.csv", "1,2\n")
        self.cluster(path, code=2, says="from 1 sample;")
        self.run_kindred("cluster", "-m", "kmeans", "-k", 1, "-o", "out", "--no-header", path)
        self.assertEqual(self.result()["tasks"][0]["labels"], [0])

    def test_all_samples_equal(self):
        path = self.write("a.csv", "x,y\n" + "1,2\n" * 6)
        self.run_kindred("cluster", "-m", "kmeans", "-k", 3, "-o", "out", path)
        r = self.result()
        self.assertTrue(r["warnings"])  # it says that there are fewer distinct samples than clusters
        self.assertEqual(r["objective"][-1], 0)

    def test_damaged_hdf5(self):
        # HDF5 itself crashes on some of these; the program never does. (tests/fuzz/h5_mutations.c has many more.)
        self.write("a.csv", BLOBS_A)
        self.run_kindred("convert", "a.csv", "a.h5")
        self.run_kindred("cluster", "-m", "kmeans", "-k", 2, "--save-model", "m.h5", "-o", "out", "a.csv")
        for name, args in (("a.h5", ["inspect", "bad.h5"]), ("m.h5", ["predict", "--model", "bad.h5", "a.csv"])):
            with open(self.path(name), "rb") as f:
                sound = f.read()
            chance = random.Random(name)
            for _ in range(25):
                bad = bytearray(sound)
                for _ in range(4):
                    bad[chance.randrange(len(bad))] = chance.choice((0, 1, 0x7f, 0xff))
                self.write("bad.h5", bytes(bad))
                done = self.run_kindred(*args, code=None)
                self.assertIn(done.returncode, (0, 3), done.stderr)
                self.assertEqual(len(done.stderr.splitlines()), 1 if done.returncode else 0, done.stderr)

    def test_closed_standard_descriptors(self):
        self.write("a.csv", BLOBS_A)
        self.run_kindred("convert", "a.csv", "a.h5")
        self.run_kindred("cluster", "-m", "kmeans", "-k", 2, "--save-model", "m.h5", "-o", "out", "a.h5")
        self.run_kindred("convert", "a.h5", "plain.csv")
        expected = self.run_kindred("predict", "--model", "m.h5", "a.h5").stdout
        for closed in ([0], [2], [0, 2], [0, 1, 2]):
            def close(closed=closed):
                for fd in closed:
                    os.close(fd)
            args = ["predict", "--model", "m.h5", "a.h5", "-v", "--force", "-o", "labels"]
            self.run_kindred(*args, preexec_fn=close)
            self.assertEqual(self.read("labels"), expected, closed)
            # Nor does an output file get what belongs on standard output or error.
            self.run_kindred("convert", "-v", "--force", "a.h5", "b.csv", preexec_fn=close, code=int(1 in closed))
            self.assertEqual(self.read("b.csv"), self.read("plain.csv"), closed)

    def test_directory_missing_file_no_permission(self):
        os.mkdir(self.path("d.csv"))
        self.cluster("d.csv", code=3, says=["d.csv", "directory"])
        self.cluster("none.csv", code=3, says=["none.csv", "No such file"])
        path = self.write("secret.csv", BLOBS_A)
        os.chmod(path, 0)
        if os.geteuid() != 0:
            self.cluster(path, code=3, says="ermission")

    def test_unknown_format(self):
        self.cluster(self.write("a.xyz", "1"), code=3, says=["a.xyz", "format"])

    def test_truncated_and_damaged_gzip(self):
        whole = gzip.compress(("x,y\n" + "".join(f"{i},{i * .37}\n" for i in range(5000))).encode())
        self.cluster(self.write("a.csv.gz", whole[:len(whole) // 2]), code=3, says=["a.csv.gz", "truncated"])
        damaged = whole[:200] + b"\xff" * 40 + whole[240:]
        self.cluster(self.write("b.csv.gz", damaged), code=3, says="b.csv.gz")

    def test_hostile_headers_fail_fast(self):
        limit = 1 << 31

        def small():
            if not os.environ.get("KINDRED_SANITIZE"):  # whose shadow memory takes terabytes of addresses
                resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        for sizes in ("4611686018427387904 2 1", "2 4611686018427387904 1", "3 3 4611686018427387904", "-1 3 1"):
            path = self.write("a.mtx", f"%%MatrixMarket matrix coordinate real general\n{sizes}\n1 1 1\n")
            self.cluster(path, code=3, says="a.mtx", timeout=20, preexec_fn=small)
        header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904, 4), }\n"
        npy = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + b"\0" * 64
        self.cluster(self.write("a.npy", npy), code=3, says="a.npy", timeout=20, preexec_fn=small)

    def test_output_folder_that_is_a_file_or_cannot_be_made(self):
        path = self.write("a.csv", BLOBS_A)
        self.write("file", "x")
        self.fails("cluster", "-m", "kmeans", "-k", 2, "-o", "file", path, code=2, says="file")
        self.fails("cluster", "-m", "kmeans", "-k", 2, "-o", "file/place", path, code=1, says="file/place")

    def test_full_disk(self):
        path = self.write("a.csv", BLOBS_A * 1 + "".join(f"{i},{i}\n" for i in range(2000)))

        def small():
            resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512))
        self.fails("cluster", "-m", "kmeans", "-k", 2, "-o", "out", path, code=1, says="cannot write", preexec_fn=small)
        self.assertFalse(os.path.exists(self.path("out")))
        self.assertEqual(self.leftovers(), [])

    @unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full")
    def test_full_standard_output(self):
        path = self.write("a.csv", BLOBS_A)
        for args in (["cluster", "-m", "kmeans", "-k", "2", path], ["inspect", path], ["convert", "--to", "csv", path, "-"]):
            with open("/dev/full", "w") as full:
                done = subprocess.run([KINDRED, *args], stdout=full, stderr=subprocess.PIPE, text=True)
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, "(standard output|-): .*No space left on device")

    def test_labels_of_the_wrong_length(self):
        path = self.write("a.csv", BLOBS_A)
        short = self.write("short", "0\n1\n")
        self.cluster("--truth", short, path, code=3, says=["short", "2", "20"])
        self.cluster("--init", short, path, code=3, says=["short", "2", "20"])
        self.cluster("--truth", f"{short},{short}", path, code=2, says="2 files for 1 data set")
        self.cluster("--init", self.write("big", "7\n" * 20), path, code=3, says=["initial label", "7", "0 to 1"])
        self.cluster("--init", self.write("words", "red\n" * 20), path, code=3, says="whole numbers")

    def test_tasks_that_do_not_fit_together(self):
        self.cluster("--features", "intersect", self.write("a.csv", "x,y\n1,2\n3,4\n"), self.write("b.csv", "u,v\n1,2\n3,4\n"),
                     code=3, says=["a", "b"])
        self.cluster(self.write("c.csv", "1,2\n3,4\n"), self.write("d.csv", "1,2,3\n4,5,6\n"), code=3, says=["c", "d", "2", "3"])
        os.mkdir(self.path("sub"))
        self.cluster("c.csv", self.write("sub/c.csv", "1,2\n3,4\n"), code=2, says=["two data sets", "'c'", "NAME=FILE"])

    def test_negative_counts_for_tfidf(self):
        self.cluster("--weight", "tfidf", self.write("a.csv", "x,y\n1,2\n-3,4\n"), code=3, says=["-3", "a"])


class BadArguments(CliTest):
    def test_nearest_names_are_suggested(self):
        path = self.write("a.csv", BLOBS_A)
        self.fails("clutser", code=2, says=["'clutser'", "cluster"])
        self.fails("cluster", "--sede", 3, code=2, says=["--sede", "--seed"])
        self.fails("cluster", "-m", "kmean", "-k", 2, path, code=2, says="kmeans")
        self.fails("cluster", "-m", "kmeans", "-k", 2, "--set", "n_inti=3", path, code=2, says=["n_inti", "n_init"])
        self.fails("cluster", "-m", "kmeans", "-k", 2, "--set", "start=foo", path, code=2, says=["foo", "kmeans++", "random"])
        self.fails("cluster", "-m", "kmeans", "-k", 2, "--set", "n_init=0", path, code=2, says=["n_init", "0", "from 1 to"])
        self.fails("cluster", "-m", "kmeans", "-k", 2, "--set", "n_init", path, code=2, says="NAME=VALUE")
        self.fails("cluster", "-m", "kmeans", "-k", 2, "--weight", "tfid", path, code=2, says=["tfid", "tfidf"])
        self.fails("methods", "kmeens", code=2, says="kmeans")
        self.fails("help", "clust", code=2, says="cluster")

    def test_values(self):
        for args in (("--seed", "x"), ("--threads", "0"), ("--time-limit", "-1"), ("--top-features", "0"), ("--seed",)):
            self.fails("cluster", "-m", "kmeans", "-k", 2, "none.csv", *args, code=2, says=args[0])
        self.fails("cluster", "-m", "kmeans", "-k", 2, code=2, says="needs at least one data file")
        self.fails("cluster", "-k", 2, "--quiet=yes", "a.csv", code=2, says="takes no value")
        self.fails("cluster", "-m", "kmeans", "-k", 2, "--report", self.write("a.csv", BLOBS_A), code=2, says="-o")
        self.fails("evaluate", "x", code=2, says="two files")
        self.fails("generate", code=2, says="-o DIR")
        self.fails("generate", "-o", "g", "--words", 10, code=2, says=["--words", "topics"])
        self.fails("report", code=2, says="RESULT.json")
        self.fails("predict", "x", code=2, says="--model")


if __name__ == "__main__":
    unittest.main()
