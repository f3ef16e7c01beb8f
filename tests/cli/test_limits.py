"""Little address space, terminals that go away, names that terminals would obey."""
import gzip
import os
import resource
import signal
import struct
import subprocess
import time
import unittest
import zipfile

from harness import BLOBS_A, KINDRED, CliTest

try:
    import h5py
    import numpy
    import scipy.io
except ImportError:
    h5py = None

SANITIZED = bool(os.environ.get("KINDRED_SANITIZE"))


@unittest.skipIf(SANITIZED, "sanitizers need address space, and run before the program can")
class AddressSpace(CliTest):
    def test_never_hangs(self):
        # OpenBLAS tries for ever to get a buffer if there is no memory for one.
        path = self.write("a.csv", BLOBS_A)
        outcomes = set()
        for mb in (20, 45, 60, 80, 100, 120, 150, 180, 220, 260, 400, 800):
            limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (mb << 20, mb << 20))
            for args in (["--version"], ["cluster", "-m", "ncut", "-k", "2", "--set", "neighbors=3", path]):
                done = subprocess.run([KINDRED, *args], capture_output=True, text=True, timeout=100, preexec_fn=limit)
                self.assertIn(done.returncode, (0, 1, 127), (mb, done.stderr))
                self.assertEqual(len(done.stderr.splitlines()), 1 if done.returncode else 0, (mb, done.stderr))
                outcomes.add(done.returncode == 0)
        self.assertEqual(outcomes, {True, False})

    def test_idle_threads_sleep_and_blas_has_one(self):
        # The libraries read these as they are loaded: the program starts itself again with them, and only then.
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("OMP_", "GOMP_", "OPENBLAS_"))}
        blas = [] if "blas: builtin" in self.run_kindred("version", "-v").stdout else ["OPENBLAS_NUM_THREADS=1"]
        for given, expected in (({}, ["OMP_WAIT_POLICY=passive", *blas]),
                                ({"OMP_WAIT_POLICY": "active"}, ["OMP_WAIT_POLICY=active", *blas])):
            run = subprocess.Popen([KINDRED, "inspect", "--format", "csv", "-"], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**environment, **given})
            try:
                for _ in range(200):
                    with open(f"/proc/{run.pid}/environ", "rb") as f:
                        there = f.read().decode(errors="replace").split("\0")
                    if all(e in there for e in expected):
                        break
                    time.sleep(.05)
                for e in expected:
                    self.assertIn(e, there)
            finally:
                run.communicate(b"1,2\n3,4\n", timeout=60)
            self.assertEqual(run.returncode, 0)


class Unpacked(CliTest):
    """Small files that unpack to much."""
    def archive(self, name, member, content, claimed):
        """An archive whose only member claims to unpack to so many bytes."""
        with zipfile.ZipFile(self.path(name), "w", zipfile.ZIP_DEFLATED) as f:
            f.writestr(member, content)
        with open(self.path(name), "r+b") as f:
            raw = f.read()
            f.seek(raw.rindex(b"PK\1\2") + 24)
            f.write(struct.pack("<I", claimed))

    def test_claims(self):
        for name, member in (("a.npz", "X.npy"), ("a.xlsx", "xl/workbook.xml")):
            self.archive(name, member, os.urandom(2 << 20), 2 * 10**9)
            error = self.fails("inspect", name, code=3, says=["2.1 MB unpack to at least 2000.00 MB, and 1000.00 MB are allowed", "--max-unpacked"])
            self.assertIn(f"{name}:{member[:-4] if name == 'a.npz' else member}", error)
            self.assertNotIn("allowed", self.fails("inspect", "--max-unpacked", "2G", name, code=3, says=name))

    @unittest.skipUnless(h5py, "h5py or SciPy is missing")
    def test_limit(self):
        table = numpy.zeros((500, 20))
        table[::7] = 1
        numpy.savez_compressed(self.path("a.npz"), table)
        scipy.io.savemat(self.path("a.mat"), {"X": table}, do_compression=True)
        with h5py.File(self.path("a.h5"), "w") as f:
            f.create_dataset("X", data=table, compression="gzip")
        numpy.savetxt(self.path("a.csv"), table, fmt="%g", delimiter=",")
        with open(self.path("a.csv"), "rb") as f, gzip.open(self.path("b.csv.gz"), "wb") as to:
            to.write(f.read() * 4)
        with open(self.path("a.npy.gz"), "wb") as to, gzip.open(to, "wb") as to:
            numpy.save(to, table)
        for name in ("a.npz", "a.mat", "a.h5", "b.csv.gz", "a.npy.gz"):
            self.run_kindred("inspect", name)
            self.fails("inspect", "--max-unpacked", "50K", name, code=3, says=[name, "0.05 MB are allowed; if you trust the file, set --max-unpacked"])
            self.run_kindred("inspect", "--max-unpacked", "100K", name)
        with h5py.File(self.path("b.h5"), "w") as f:
            f.create_dataset("X", shape=(200000, 1000), dtype="f8", chunks=(1000, 1000), compression="gzip")
            f["random"] = numpy.random.default_rng(1).random(700000).reshape(-1)
        self.fails("inspect", "b.h5:/X", code=3, says=["b.h5:/X: 5.6", "MB unpack to at least 1600.00 MB, and 1000.00 MB are allowed"])
        self.run_kindred("inspect", "--max-unpacked", "1.5M", "a.csv")  # not compressed


@unittest.skipUnless(os.path.exists("/proc/self/status"), "waiting is observed in /proc")
class Endless(CliTest):
    """Input that never ends, or never begins."""
    def test_a_line_without_an_end(self):
        for before, line, args in (("", 1, ["inspect", "-"]), ("a,b\\n1,2\\n", 3, ["cluster", "-k", "2", "-o", "out", "-"])):
            ones = subprocess.Popen(["sh", "-c", f"printf '{before}'; tr '\\0' 1 </dev/zero"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            done = subprocess.run([KINDRED, *args, "--format", "csv"], stdin=ones.stdout, cwd=self.dir, capture_output=True, text=True, timeout=100)
            ones.stdout.close()
            ones.wait()
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn(f"line {line} is longer than 256 MB; this is probably not a text file with data", done.stderr)
            self.assertEqual(os.listdir(self.dir), [])

    def waits(self, run):
        """Whether the run handles SIGINT and sleeps."""
        with open(f"/proc/{run.pid}/status") as f:
            status = dict(line.split(":", 1) for line in f)
        return int(status["SigCgt"], 16) & 1 << signal.SIGINT - 1 and status["State"].split()[0] == "S"

    def test_an_interrupt_while_it_waits_for_data(self):
        os.mkfifo(self.path("f.csv"))
        writer = os.open(self.path("f.csv"), os.O_RDWR)  # which writes nothing
        for path, opened in (("-", True), ("f.csv", True), ("f.csv", False)):
            if not opened and writer is not None:
                os.close(writer)
                writer = None
            run = subprocess.Popen([KINDRED, "cluster", "-k", "2", "--format", "csv", "-o", "out", path], cwd=self.dir,
                                   stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            asleep = 0
            while run.poll() is None and asleep < 5:
                time.sleep(.05)
                asleep = asleep + 1 if self.waits(run) else 0
            for _ in range(2):  # the third would end any program at once; the second is for a signal before the wait
                if run.poll() is None:
                    run.send_signal(signal.SIGINT)
                try:
                    run.wait(10)
                except subprocess.TimeoutExpired:
                    pass
            self.assertEqual(run.poll(), 130, path)
            run.stdin.close()
            self.assertIn("interrupted", run.stderr.read())
            run.stderr.close()
            self.assertEqual(os.listdir(self.dir), ["f.csv"])


@unittest.skipIf(SANITIZED, "sanitizers need memory of their own")
class Columns(CliTest):
    """Sparse data with more columns than fit into memory: errors are reported with little memory."""
    def peak(self, *args, code, says):
        limit = lambda: resource.setrlimit(resource.RLIMIT_DATA, (4 << 30, 4 << 30))
        run = subprocess.Popen([KINDRED, *map(str, args)], cwd=self.dir, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               preexec_fn=limit)
        printed = run.stdout.read()
        run.stdout.close()
        _, status, usage = os.wait4(run.pid, 0)
        run.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(run.returncode, code, printed)
        self.assertLess(usage.ru_maxrss, 100 << 10, printed)  # kilobytes
        for piece in says:
            self.assertIn(piece, printed)

    def test_three_entries_in_two_thousand_million_columns(self):
        header = "%%MatrixMarket matrix coordinate real general\n"
        self.write("huge.mtx", header + "3 2147483647 3\n1 1 1\n2 5 1\n3 2147483647 2\n")
        self.write("a.mtx", header + "4 5 4\n1 1 1\n2 2 1\n3 1 2\n4 5 2\n")
        self.run_kindred("cluster", "-q", "-m", "kmeans", "-k", 2, "-o", "a", "--save-model", "m.h5", "a.mtx")
        for command in (["cluster", "-m", "kmeans", "-k", 2, "-o", "out"], ["cluster", "-k", 2, "-o", "out"],
                        ["cluster", "-m", "ncut", "-k", 2, "-o", "out"], ["embed"], ["relate", "a.mtx"],
                        ["predict", "--model", "m.h5"]):
            self.peak(*command, "--max-memory", "1G", "huge.mtx", code=1,
                      says=["huge has 2147483647 columns, 3 of them with values", "--max-memory"])
        self.peak("inspect", "huge.mtx", code=0, says=["2147483647"])

    def test_the_check_keeps_the_limit(self):
        entries = "".join(f"{i + 1} {1 + i * 16007 % (1 << 24)} {1 + i % 3}\n" for i in range(1000))
        self.write("wide.mtx", f"%%MatrixMarket matrix coordinate real general\n1000 {1 << 24} 1000\n{entries}")
        for method in ("kmeans", "auto", "ncut"):
            self.peak("cluster", "-m", method, "-k", 2, "--max-memory", "300M", "-o", "out", "wide.mtx", code=1,
                      says=["wide has 16777216 columns, 1000 of them"])


class Signals(CliTest):
    def handles(self, pid, number):
        with open(f"/proc/{pid}/status") as f:
            caught = next(line for line in f if line.startswith("SigCgt:"))
        return int(caught.split()[1], 16) >> (number - 1) & 1

    def test_terminal_gone_and_sigterm_keep_the_best_so_far(self):
        for number in (signal.SIGHUP, signal.SIGTERM):
            self.run_kindred("generate", "--tasks", 1, "-n", 3000, "-o", "data", "--force")
            run = subprocess.Popen([KINDRED, "cluster", "-m", "kmeans", "-k", "40", "--set", "n_init=1000000", "-o",
                                    "out", "--force", "data/task1.csv"], cwd=self.dir, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
            while run.poll() is None and not self.handles(run.pid, number):
                time.sleep(.05)
            time.sleep(1)
            run.send_signal(number)
            _, err = run.communicate(timeout=60)
            self.assertEqual(run.returncode, 130, err)
            self.assertEqual(self.result()["stop"], "cancelled")

    def test_signals_ignored_at_the_start_stay_ignored(self):
        for number in (signal.SIGHUP, signal.SIGINT):
            run = subprocess.Popen([KINDRED, "inspect", "--format", "csv", "-"], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   preexec_fn=lambda number=number: signal.signal(number, signal.SIG_IGN))
            while run.poll() is None and not self.handles(run.pid, signal.SIGTERM):
                time.sleep(.05)
            time.sleep(.1)
            self.assertFalse(self.handles(run.pid, number))
            run.send_signal(number)
            run.communicate(b"1,2\n3,4\n", timeout=60)
            self.assertEqual(run.returncode, 0)


class Stages(CliTest):
    """The record that bench/stages.py reads (cli/session.c)."""

    def test_every_stage_ends_on_its_thread(self):
        self.run_kindred("generate", "--tasks", 2, "-k", 3, "-n", 150, "-d", 5, "--to", "npy", "-q", "-o", "data")
        env = {**os.environ, "KINDRED_STAGES": self.path("stages.csv")}
        self.run_kindred("cluster", "-k", 3, "--threads", 2, "-q", "-o", "out", "data/task1.npy", "data/task2.npy", env=env)
        seen, stages, known = [], {}, {"0"}
        for line in self.read("stages.csv").splitlines():
            thread, what, clock, processor, stage = line.split(",", 4)
            self.assertGreaterEqual(float(processor), 0)
            self.assertGreater(float(clock), 0)
            if what == "start":
                known.add(f"{thread}.{stage}")
                continue
            self.assertIn(thread, known)
            if what == "begin":
                stages.setdefault(thread, []).append(stage)
                seen.append(stage)
            else:
                self.assertEqual((what, stages[thread].pop()), ("end", stage))
        self.assertEqual([s for s in stages.values() if s], [])
        for stage in ("read", "preparation", "fit", "auto", "graph", "members", "k-means", "vote", "noise tests", "feature tests"):
            self.assertIn(stage, seen)

    def test_a_file_that_cannot_be_opened_changes_nothing(self):
        self.run_kindred("generate", "--tasks", 1, "-k", 3, "-n", 50, "-d", 5, "--to", "npy", "-q", "-o", "data")
        done = self.run_kindred("cluster", "-m", "kmeans", "-k", 3, "-q", "-o", "out", "data/task1.npy", env={**os.environ, "KINDRED_STAGES": self.path("no/such/folder")})
        self.assertEqual(done.stderr, "")


class Names(CliTest):
    def test_not_utf8_still_makes_json(self):
        self.write("a.csv", BLOBS_A)
        name = b"caf\xe9\xff\xc3\xa9"
        os.rename(self.path("a.csv"), os.path.join(self.dir.encode(), name + b".csv"))
        subprocess.run([KINDRED, "cluster", "-m", "kmeans", "-k", "2", "-o", "out", "--report", name + b".csv"],
                       cwd=self.dir, check=True, capture_output=True)
        with open(self.path("out/result.json"), encoding="utf-8") as f:  # strict
            self.assertIn("caf\ufffd\ufffd\u00e9", f.read())
        self.assertEqual(self.result()["tasks"][0]["name"], "caf\ufffd\ufffd\u00e9")
        with open(self.path("out/report.html"), encoding="utf-8") as f:
            f.read()

    def test_control_characters_do_not_reach_the_terminal(self):
        name = "a\x1b[31mred\x07\xc2\x9bx"
        done = self.run_kindred("inspect", name + ".csv", code=3)
        self.assertNotIn("\x1b", done.stderr)
        self.write("a.csv", BLOBS_A)
        done = self.run_kindred("cluster", "-m", "kmeans", "-k", 2, "-o", "out", name + "=a.csv")
        self.assertNotIn("\x1b", done.stdout)
        self.assertNotIn("\x07", done.stdout)
        self.assertNotIn("\x9b", done.stdout)
        self.assertIn("a\\x1b[31mred\\x07", done.stdout)
        self.assertIn(name, self.result()["tasks"][0]["name"])
        for args in (["inspect", name + "=a.csv"], ["relate", name + "=a.csv", "b=a.csv"]):
            done = self.run_kindred(*args)
            self.assertNotIn("\x1b", done.stdout)
            self.assertIn("a\\x1b[31mred\\x07", done.stdout)
        self.write(name + ".csv", BLOBS_A)
        for stem in ("a", name):
            self.write(stem + ".labels", "".join(f"\x1b[3{i % 2}m\n" for i in range(20)))
        for args in (["evaluate", "a.labels", "a.labels"], ["methods", name], ["predict", "--model", name, "a.csv"]):
            done = self.run_kindred(*args, code=None)
            self.assertNotIn("\x1b", done.stdout + done.stderr)
            self.assertIn("\\x1b" if "a.labels" in args else "red", done.stdout + done.stderr)
        with open(self.path("out/result.json"), "rb") as f:  # JSON for a terminal, too
            self.assertNotIn(b"\xc2\x9b", f.read())
        done = self.run_kindred("cluster", "-k", 2, "--frob\x1b[2J", "a.csv", code=2)
        self.assertNotIn("\x1b", done.stderr)


class Outputs(CliTest):
    def cluster(self, *args, **kwargs):
        return self.run_kindred("cluster", "-m", "kmeans", "-k", 2, *args, self.path("a.csv"), **kwargs)

    def setUp(self):
        super().setUp()
        self.write("a.csv", BLOBS_A)

    def test_folders_on_the_way_are_made(self):
        self.cluster("-o", "deep/er/out", "--save-model", "also/deep/m.h5", "--arrays", "and/arrays")
        self.assertEqual(self.result("deep/er/out/result.json")["tasks"][0]["n"], 20)
        self.assertTrue(os.path.exists(self.path("also/deep/m.h5")))
        self.assertTrue(os.listdir(self.path("and/arrays")))
        self.run_kindred("convert", "a.csv", "new/folder/a.npy")
        self.run_kindred("predict", "--model", "also/deep/m.h5", "-o", "p/q/labels", "a.csv")

    def test_what_cannot_be_written_is_known_before_the_work(self):
        self.write("file", "")
        self.write("a.csv", "x,y\n" + "".join(f"{i * i % 997},{i * i * i % 991}\n" for i in range(3000)))
        for bad in (["-o", "file/x"], ["-o", "file"], ["-o", "out", "--save-model", "file/m.h5"],
                    ["-o", "out", "--save-model", "out"], ["-o", "out", "--arrays", "file/x"],
                    ["-o", "out", "n" * 250 + "=a.csv"]):
            # A run of hours, if it began.
            done = self.cluster("--set", "n_init=1000000", "--set", "tol=0", *bad, code=None, timeout=60)
            self.assertIn(done.returncode, (1, 2), (bad, done.stderr))
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.write("a.csv", BLOBS_A)
        self.cluster("-o", "out", "--arrays", "arrays", "--force")
        done = self.cluster("-o", "other", "--arrays", "arrays", code=2)
        self.assertIn("already exists", done.stderr)
        self.assertEqual(self.leftovers(), [])

    def test_one_that_fails_at_the_end_leaves_the_others(self):
        # The model outgrows the limit on files' sizes; nothing else does.
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (12000, 12000))
        done = self.cluster("-o", "out", "--save-model", "m.h5", code=1, preexec_fn=limit)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn("m.h5", done.stderr)
        self.assertNotRegex(done.stderr, "this build of kindred has no HDF5")
        self.assertEqual(len(self.read("out/a.labels").splitlines()), 20)
        self.assertEqual(self.result()["method"], "kmeans")
        self.assertFalse(os.path.exists(self.path("m.h5")))
        self.assertEqual(self.leftovers(), [])

    def test_full_disk_is_one_line(self):
        if SANITIZED:
            self.skipTest("the sanitizer writes too")
        for size in (0, 100, 1000, 2000, 4000):
            limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
            done = self.run_kindred("convert", "a.csv", "x.h5", code=1, preexec_fn=limit)
            self.assertEqual(len(done.stderr.splitlines()), 1, (size, done.stderr))
            self.assertEqual(self.leftovers(), [])


if __name__ == "__main__":
    unittest.main()
