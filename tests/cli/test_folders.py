"""Result folders: all files of a result appear together, and no input is ever replaced."""
import fcntl
import json
import os
import random
import resource
import signal
import stat
import subprocess
import threading
import unittest

from harness import BLOBS_A, BLOBS_B, KINDRED, CliTest

COMMON = ("cluster", "-m", "kmeans", "-k", 2, "-q")


def small():
    resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048))


class Folders(CliTest):
    def setUp(self):
        super().setUp()
        self.write("a.csv", BLOBS_A)
        self.write("b.csv", BLOBS_B)
        self.many = self.write("many.csv", "x,y\n" + "".join(f"{i % 7},{i % 5}\n" for i in range(400)))

    def content(self, folder="out"):
        """Every file of a folder, with the time of its last change."""
        found = {}
        for name in os.listdir(self.path(folder)):
            path = os.path.join(self.path(folder), name)
            with open(path, "rb") as f:
                found[name] = (os.stat(path).st_mtime_ns, f.read())
        return found

    def test_files_are_listed_and_those_of_an_earlier_result_removed(self):
        self.run_kindred(*COMMON, "-o", "out", "--report", "--arrays", "out", "--save-model", "out/m.h5", "--write-table", "./out/t.csv", "a.csv", "b.csv")
        self.assertEqual(sorted(self.result()["files"]), sorted(os.listdir(self.path("out"))))
        self.assertIn("t-b.csv", os.listdir(self.path("out")))
        self.write("out/mine.txt", "not kindred's")
        self.run_kindred(*COMMON, "-o", "out", "--force", "a.csv")
        self.assertEqual(sorted(self.result()["files"]), ["a.labels", "a.samples.csv", "features.csv", "result.json"])
        self.assertEqual(sorted(os.listdir(self.path("out"))), sorted(self.result()["files"] + ["mine.txt"]))

    def test_an_edited_list_removes_nothing_elsewhere(self):
        self.run_kindred(*COMMON, "-o", "out", "a.csv")
        os.mkdir(self.path("out/sub"))
        for name in ("victim", "out/sub/victim", "out/.hidden"):
            self.write(name, "x")
        r = self.result()
        r["files"] += ["../victim", "sub/victim", "sub", self.path("victim"), ".hidden", "..", "", "no\0thing", 5, None, "a.csv"]
        self.write("out/result.json", json.dumps(r))
        os.rename(self.path("a.csv"), self.path("out/a.csv"))  # listed, but read
        self.run_kindred(*COMMON, "-o", "out", "--force", "other=out/a.csv")
        for name in ("victim", "out/sub/victim", "out/.hidden", "out/a.csv"):
            self.assertTrue(os.path.exists(self.path(name)), name)
        self.assertNotIn("a.labels", os.listdir(self.path("out")))  # listed, and kindred's

    def test_a_result_json_of_another_program_is_replaced(self):
        for text in ("", "{}", '{"files": ["a.csv"', '{"kindred": "1", "files": {"a": 1}}', "[" * 10000):
            os.makedirs(self.path("out"), exist_ok=True)
            self.write("out/result.json", text)
            self.write("out/a.csv", "1")
            self.run_kindred(*COMMON, "-o", "out", "--force", "a.csv")
            self.assertTrue(os.path.exists(self.path("out/a.csv")))

    def test_generated_files_and_vectors_appear_together(self):
        self.run_kindred("generate", "-q", "--design", "topics", "--tasks", 2, "-n", "3,300", "-o", "made")
        self.write("one.csv", "text\n" + "a few words\n" * 4)
        self.write("two.csv", "text\n" + "".join(f"word{i} other{i} more{i}\n" * 2 for i in range(400)))
        vectors = ("vectorize", "-q", "--text-column", "text", "-o", "vectors", "one.csv", "two.csv")
        self.run_kindred(*vectors)
        for folder, command in (("made", ("generate", "-q", "--design", "topics", "--tasks", 2, "-n", "4,300", "--force", "-o", "made")),
                                ("vectors", (*vectors, "--min-df", 2, "--force"))):
            before = self.content(folder)
            self.fails(*command, code=1, says=["cannot write"], preexec_fn=small)
            self.assertEqual(self.content(folder), before, folder)

    def test_a_failed_write_leaves_the_earlier_result(self):
        self.run_kindred(*COMMON, "-o", "out", "--report", "a.csv")
        before = self.content()
        self.fails(*COMMON, "-o", "out", "--force", "--report", "a=many.csv", code=1, says=["cannot write", "the earlier result in out is unchanged"],
                   preexec_fn=small)
        self.assertEqual(self.content(), before)
        self.fails(*COMMON, "-o", "new", "a=many.csv", code=1, says=["cannot write", "nothing was written"], preexec_fn=small)
        self.assertFalse(os.path.exists(self.path("new")))
        self.write("edits.json", json.dumps({"format": "kindred-edits", "version": 1, "edits": []}))
        self.run_kindred("relabel", "-q", "-o", "edited", "--report", "out/result.json", "edits.json")
        before = self.content("edited")
        self.fails("relabel", "-q", "-o", "edited", "--report", "--force", "out/result.json", "edits.json", code=1, says="the earlier result in edited is unchanged",
                   preexec_fn=small)
        self.assertEqual(self.content("edited"), before)

    def test_one_failed_file_keeps_the_earlier_ones(self):
        """Without earlier files, a table that fails does not take the result with it."""
        self.write("other.csv", "x,y\n" + "".join(f"{i % 9}, {i % 3}\n" for i in range(30)))
        self.run_kindred(*COMMON, "-o", "out", "--write-table", "t.csv", "--save-model", "m.h5", "a=other.csv")
        before, model, table = self.content(), self.path("m.h5"), self.read("t.csv")
        changed = os.stat(model).st_mtime_ns
        fat = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (12000, 12000))  # a model is larger
        text = self.fails(*COMMON, "-o", "out", "--write-table", "t.csv", "--save-model", "m.h5", "--force", "a.csv", code=1,
                          says=["m.h5: cannot", "nothing was written, and the earlier files are unchanged"], preexec_fn=fat)
        self.assertEqual((self.content(), os.stat(model).st_mtime_ns, self.read("t.csv")), (before, changed, table), text)
        self.fails(*COMMON, "-o", "new", "--save-model", "n.h5", "a.csv", code=1, says=["n.h5: cannot", "the other outputs were written"],
                   preexec_fn=fat)
        self.assertEqual(sorted(os.listdir(self.path("new"))), ["a.labels", "a.samples.csv", "features.csv", "result.json"])
        # A device fails when its turn comes: before anything is replaced.
        os.symlink("/dev/full", self.path("full.csv"))
        self.fails(*COMMON, "-o", "out", "--write-table", "full.csv", "--force", "a.csv", code=1,
                   says=["full.csv: cannot write: No space left", "the earlier result in out is unchanged"])
        self.assertEqual(self.content(), before)

    def test_tables_after_a_stop(self):
        """The limit is that of the fit."""
        self.write("t.csv", "old")
        self.run_kindred(*COMMON, "-o", "out", "--force", "--time-limit", "0.000001", "--write-table", "t.csv", "a.csv")
        self.assertEqual(self.read("t.csv").splitlines()[0], "x,y,cluster,cluster_name,cluster_confidence,cluster_second")

    def test_what_is_no_regular_file_is_written_through(self):
        for name in ("link.csv", "pointing.csv"):
            os.symlink("target.csv", self.path(name))
        self.run_kindred("convert", "-q", "a.csv", "link.csv")  # to a file that does not exist
        self.fails("convert", "-q", "a.csv", "link.csv", code=2, says="already exists")
        self.run_kindred("convert", "-q", "b.csv", "pointing.csv", "--force")
        self.assertTrue(os.path.islink(self.path("link.csv")) and os.path.islink(self.path("pointing.csv")))
        self.assertEqual(self.read("target.csv").splitlines()[0], "y,x")
        os.mkfifo(self.path("pipe"))
        got = []
        reader = threading.Thread(target=lambda: got.append(self.read("pipe")))
        reader.start()
        self.run_kindred("convert", "-q", "--to", "csv", "b.csv", "pipe", "--force")
        reader.join(60)
        self.assertEqual(got, [self.read("target.csv")])
        self.assertTrue(stat.S_ISFIFO(os.stat(self.path("pipe")).st_mode))
        device = self.path("null")
        try:
            os.mknod(device, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        except PermissionError:
            device = "/dev/null"
        self.run_kindred("convert", "-q", "--to", "csv", "a.csv", device, "--force")
        self.assertTrue(stat.S_ISCHR(os.stat(device).st_mode))
        out = self.run_kindred("convert", "--to", "csv", "b.csv", "-")
        self.assertEqual((out.stdout, out.stderr), (self.read("target.csv"), ""))
        self.assertFalse(os.path.exists(self.path("-")))
        self.fails("convert", "b.csv", "-", code=2, says="--to")
        self.assertEqual(self.leftovers(), [])

    def test_a_second_run_on_a_folder_is_refused(self):
        """The system releases the lock of a run that was killed."""
        self.run_kindred(*COMMON, "-o", "out", "a.csv")
        before = self.content()
        folder = os.open(self.path("out"), os.O_RDONLY)
        fcntl.flock(folder, fcntl.LOCK_EX)
        self.fails(*COMMON, "-o", "out", "--force", "a.csv", code=1, says=["out: another run of kindred is writing to this folder", "another folder"])
        self.assertEqual(self.content(), before)
        os.close(folder)
        self.run_kindred(*COMMON, "-o", "out", "--force", "a.csv")
        # A run that waits for the reader of its table, which is longer than a pipe.
        self.write("long.csv", "x,y\n" + "".join(f"{i % 7},{i % 5}\n" for i in range(20000)))
        os.mkfifo(self.path("pipe.csv"))
        run = subprocess.Popen([KINDRED, *map(str, COMMON), "-o", "out", "--force", "--write-table", "pipe.csv", "long.csv"], cwd=self.dir)
        with open(self.path("pipe.csv"), "rb") as pipe:
            self.fails(*COMMON, "-o", "out", "--force", "a.csv", code=1, says="another run")
            self.assertEqual(pipe.read().count(b"\n"), 20001)
        self.assertEqual(run.wait(60), 0)
        self.run_kindred(*COMMON, "-o", "out", "--force", "--arrays", "out", "a.csv")

    def test_a_killed_run(self):
        """What a killed run has left is removed by the next one."""
        self.run_kindred(*COMMON, "-o", "out", "--report", "a=many.csv")
        for _ in range(10):
            run = subprocess.Popen([KINDRED, *map(str, COMMON), "-o", "out", "--force", "--report", "a=many.csv"], cwd=self.dir, stderr=subprocess.DEVNULL)
            try:
                run.wait(random.uniform(0, 0.06))
            except subprocess.TimeoutExpired:
                run.send_signal(signal.SIGKILL)
                run.wait()
            self.result()
        self.run_kindred(*COMMON, "-o", "out", "--force", "a.csv")
        self.assertEqual(self.leftovers(), [])
        self.assertEqual(sorted(os.listdir(self.path("out"))), sorted(self.result()["files"]))

    def test_temporary_files_of_running_and_other_processes_stay(self):
        """Only names of this machine and of processes that have ended count."""
        self.run_kindred(*COMMON, "-o", "out", "a.csv")
        kept = [".tmp-00000001-1-1", ".tmp-x", ".tmp-00000001-99-1x", "a.tmp-00000001-1-1"]
        for name in kept:
            self.write("out/" + name, "")
        self.run_kindred(*COMMON, "-o", "out", "--force", "a.csv")
        self.assertEqual(sorted(n for n in os.listdir(self.path("out")) if ".tmp-" in n), sorted(kept))

    def test_inputs_are_never_replaced(self):
        before = self.read("a.csv")
        os.link(self.path("a.csv"), self.path("linked.csv"))
        os.symlink("a.csv", self.path("symbolic.csv"))
        os.mkdir(self.path("d"))
        for name in ("a.csv", "./a.csv", "d/../a.csv", "linked.csv", "symbolic.csv", self.path("a.csv")):
            for option in ("--save-model", "--write-table"):
                self.fails(*COMMON, option, name, "--force", "a.csv", code=2, says=["was read", "another name"])
            self.fails("convert", "a.csv", name, "--force", code=2, says="was read")
        self.write("truth", "0\n1\n" * 10)
        self.fails(*COMMON, "--truth", "truth", "--save-model", "truth", "--force", "a.csv", code=2, says="was read")
        self.run_kindred(*COMMON, "--save-model", "m.h5", "-o", "first", "a.csv")
        self.fails("cluster", "--into", "m.h5", "--save-model", "m.h5", "--force", "b.csv", code=2, says="was read")
        self.fails("predict", "--model", "m.h5", "-o", "a.csv", "--force", "a.csv", code=2, says="was read")
        self.write("edits.json", json.dumps({"format": "kindred-edits", "version": 1, "edits": []}))
        self.fails("relabel", "-o", "first", "--force", "first/result.json", "edits.json", code=2, says="was read")
        self.assertEqual(self.read("a.csv"), before)

    def test_known_classes_are_never_replaced_nor_made_up(self):
        self.run_kindred(*COMMON, "-o", ".", "a.csv")
        self.fails(*COMMON, "-o", "out", "--score", "a.csv", code=3, says=["a.labels", "was written by kindred", "--truth"])
        self.run_kindred(*COMMON, "-o", ".", "--force", "a.csv")  # its own output
        self.write("b.labels", "x\n" * 12)
        self.fails(*COMMON, "-o", ".", "--force", "b.csv", code=2, says=["b.labels", "known classes"])
        self.assertEqual(self.read("b.labels"), "x\n" * 12)
        self.run_kindred(*COMMON, "-o", "out", "--score", "--save-model", "m.h5", "b.csv")
        self.write("edits.json", json.dumps({"format": "kindred-edits", "version": 1, "edits": []}))
        self.fails("relabel", "-o", ".", "--force", "out/result.json", "edits.json", code=2, says="known classes")
        self.fails("predict", "--model", "m.h5", "-o", ".", "--force", "b.csv", code=2, says="known classes")
        self.run_kindred("cluster", "-m", "kmeans", "-k", "2-3", "-q", "-o", "levels", "b.csv")
        self.fails("cut", "-k", 2, "-o", ".", "--force", "levels/result.json", code=2, says="known classes")
        self.assertEqual(self.read("b.labels"), "x\n" * 12)

    def test_cut_leaves_the_files_of_a_result(self):
        self.run_kindred("cluster", "-m", "kmeans", "-k", "2-4", "-q", "-o", "out", "a.csv")
        before = self.content()
        self.fails("cut", "-k", 3, "-o", "out", "--force", "out/result.json", code=2, says=["a.labels", "another folder"])
        self.assertEqual(self.content(), before)


if __name__ == "__main__":
    unittest.main()
