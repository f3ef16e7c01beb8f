#!/usr/bin/python3
"""The archive for Windows, under wine. Usage: tests/packages/windows.py [--suite] [ARCHIVE.zip [KINDRED]]

Without an archive, tools/package/windows.sh makes one. KINDRED is a program for this system, whose labels and files the others are
compared with (default: the environment's KINDRED, or build/ci/cli/kindred). With --suite, the tests of tests/cli are run
as well. Without wine, or on a processor other than x86-64, only the tests that read the archive are run, and the others are listed
as skipped. JOBS is the number of files of tests/cli that run at a time (default 1). Ends with status 77 if the compiler is missing."""
import concurrent.futures
import glob
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NATIVE = os.environ.get("KINDRED", os.path.join(ROOT, "build/ci/cli/kindred"))
WINE = os.path.join(ROOT, "tools/wine.sh")
COMPILER = "x86_64-w64-mingw32-gcc-posix"
STAGE = None  # the unpacked archive
NO_WINE = None  # why programs of the archive cannot be run here
HDF5 = True  # False: the archive was made here with PARTS=OFF or without a network, and lacks the libraries that are downloaded
# Threads wait for each other through a process of wine, which takes minutes on a busy machine. One test has several threads.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Those of tests/cli that are run with --suite, and which of their tests cannot pass.
SUITE = ["bad_input", "cluster", "transfer", "formats", "data", "limits", "commands", "models", "tables", "samples", "auto", "into", "known",
         "labelling", "levels", "relabel", "relate", "texts", "units", "vectorize"]
CANNOT = {
    "test_a_pipe_is_read_twice": "/dev/stdin is a file of Linux",
    "test_closed_standard_descriptors": "wine does not start without its streams",
    "test_control_characters_do_not_reach_the_terminal": "names of files cannot contain control characters",
    "test_full_disk": "/dev/full is a file of Linux",
    "test_full_disk_is_one_line": "/dev/full is a file of Linux",
    "test_idle_threads_sleep_and_blas_has_one": "OpenMP and BLAS are part of the program",
    "test_never_hangs": "limits of address space are those of Linux",
    "test_one_that_fails_at_the_end_leaves_the_others": "limits of file sizes are those of Linux",
    "test_progress_on_a_terminal_only": "the console of wine 8 does not understand control sequences, although it accepts their mode",
    "test_signals_ignored_at_the_start_stay_ignored": "signals are those of Linux",
    "test_terminal_gone_and_sigterm_keep_the_best_so_far": "signals are those of Linux",
}


def run(program, *arguments, code=0, folder=None, stdin=None, timeout=900):
    done = subprocess.run([*program, *map(str, arguments)], cwd=folder, input=stdin, capture_output=True, timeout=timeout)
    assert code is None or done.returncode == code, (arguments, done.returncode, done.stdout[-500:], done.stderr[-1000:])
    return done


def needs_hdf5(test):
    def checked(self):
        if not HDF5:
            self.skipTest("the program has no HDF5")
        test(self)
    return checked


class Windows(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.exe = [WINE, os.path.join(STAGE, "kindred.exe")]

    def setUp(self):
        if NO_WINE and not self._testMethodName.startswith("test_archive"):
            self.skipTest(NO_WINE)
        self.dir = tempfile.mkdtemp(prefix="kindred-windows-")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)

    def path(self, *parts):
        return os.path.join(self.dir, *parts)

    def write(self, name, content):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "wb") as f:
            f.write(content if isinstance(content, bytes) else content.encode())
        return self.path(name)

    def read(self, name):
        with open(self.path(name), "rb") as f:
            return f.read()

    def windows(self, *arguments, **more):
        return run(self.exe, *arguments, folder=self.dir, **more)

    def native(self, *arguments, **more):
        return run([NATIVE], *arguments, folder=self.dir, **more)

    def same_files(self, one, other, ending):
        """Every file with this ending that the one folder has is in the other too, with the same bytes."""
        names = sorted(n for n in os.listdir(self.path(one)) if n.endswith(ending))
        self.assertTrue(names)
        for name in names:
            self.assertEqual(self.read(os.path.join(one, name)), self.read(os.path.join(other, name)), name)

    def refused(self, code, says, *arguments):
        done = self.windows(*arguments, code=code)
        lines = done.stderr.decode().splitlines()
        self.assertEqual(len(lines), 1, lines)
        self.assertTrue(lines[0].startswith("kindred: "), lines)
        self.assertIn(says, lines[0])
        return lines[0]

    # --- the program ---------------------------------------------------------------------------------

    def test_version_names_the_parts(self):
        text = self.windows("version", "-v").stdout.decode()
        for line in ("blas: builtin", "zlib: yes", "openmp: yes", "iconv: no: ", "kernels: products chosen at run time"):
            self.assertIn("\n" + line, text)
        self.assertNotIn("\r", text)
        for part in ("hdf5", "expat", "utf8proc", "stemmer", "libsvm") if HDF5 else ():
            self.assertIn("\n%s: yes" % part, text)

    def test_demo_gives_the_labels_of_this_system(self):
        self.windows("demo", "-o", "w")
        self.native("demo", "-o", "n")
        self.same_files("n/result", "w/result", ".labels")
        self.assertIn(b"<html", self.read("w/result/report.html")[:2000])

    def test_methods_give_the_labels_of_this_system(self):
        self.native("generate", "-q", "--clusters", 3, "--samples", 150, "--dimensions", 12, "-o", "data")
        files = ["data/task1.csv", "data/task2.csv"]
        for method in ("kmeans", "lssmtc", "mbc", "ncut", "snmf", "mixture", "auto"):
            for program, out in ((self.native, "n-"), (self.windows, "w-")):
                program("cluster", "-q", "-m", method, "-k", 3, "-o", out + method, *files)
            self.same_files("n-" + method, "w-" + method, ".labels")
        for method in ("auto", "logreg", "gfhf", "forest", "lssttc"):
            for program, out in ((self.native, "n-"), (self.windows, "w-")):
                program("transfer", "-q", "-m", method, "--source", files[0], "--labels", "data/task1.labels", "--target", files[1],
                        "-o", out + method + "-t")
            self.same_files("n-" + method + "-t", "w-" + method + "-t", ".labels")

    def test_without_a_temporary_folder_the_current_one_serves(self):
        self.write("a.csv", "x,y\n1,2\n3,4\n")
        command = r"set TMP=Z:\absent&& set TEMP=Z:\absent&& Z:%s convert a.csv b.npy" % self.exe[1].replace("/", "\\")
        done = run([WINE], "cmd", "/c", command, folder=self.dir)
        self.assertEqual(sorted(os.listdir(self.dir)), ["a.csv", "b.npy", "features.txt"], done.stderr)

    def test_threads_do_not_change_the_result(self):
        self.native("generate", "-q", "--samples", 400, "-o", "data")
        for threads in (1, 4):
            self.windows("cluster", "-q", "-k", 3, "--threads", threads, "-o", "t%d" % threads, "data/task1.csv", "data/task2.csv")
        self.same_files("t1", "t4", ".labels")

    # --- readers and writers -----------------------------------------------------------------------------

    def test_formats_are_read_and_written_as_on_this_system(self):
        self.native("generate", "-q", "--samples", 50, "--dimensions", 5, "-o", "data")
        for ending in ("csv", "tsv", "csv.gz", "mtx", "mtx.gz", "svm", "npy", "npz") + ("h5",) * HDF5:
            for program, out in ((self.native, "n/x."), (self.windows, "w/x.")):
                program("convert", "-q", "data/task1.csv", out + ending, "--force")
                program("convert", "-q", out + ending, out[0] + "/back-" + ending + ".npy", "--force")
            if not ending.endswith("z"):  # compressed by another version of zlib
                self.assertEqual(self.read("n/x." + ending), self.read("w/x." + ending), ending)
            self.assertEqual(self.read("n/back-%s.npy" % ending), self.read("w/back-%s.npy" % ending), ending)

    @needs_hdf5
    def test_models_are_exchanged_with_this_system(self):
        self.native("generate", "-q", "--samples", 60, "-o", "data")
        labels = []
        for program, name in ((self.native, "n.h5"), (self.windows, "\u6a21\u578b.h5")):
            program("transfer", "-q", "-m", "logreg", "--source", "data/task1.csv", "--labels", "data/task1.labels",
                    "--target", "data/task2.csv", "--save-model", name, "-o", "out", "--force")
            labels += [other("predict", "-q", "--model", name, "data/task2.csv").stdout for other in (self.native, self.windows)]
        self.assertEqual(len(labels[0].split()), 60)
        self.assertEqual(labels, labels[:1] * 4)

    @needs_hdf5
    def test_annotated_data_are_read_and_labelled(self):
        try:
            import anndata
            import numpy
        except ImportError:
            self.skipTest("anndata is not installed")
        x = numpy.random.default_rng(1).normal(size=(60, 5)) + numpy.repeat(numpy.eye(5)[:2] * 9, 30, axis=0)
        anndata.AnnData(x.astype("float32")).write_h5ad(self.path("cells-\u00fc.h5ad"), compression="gzip")
        for program, out in ((self.native, "n"), (self.windows, "w")):
            program("cluster", "-q", "-k", 2, "-m", "kmeans", "--write-h5ad", out + ".h5ad", "-o", out, "cells-\u00fc.h5ad")
        self.same_files("n", "w", ".labels")
        one, other = (anndata.read_h5ad(self.path(out + ".h5ad")).obs for out in "nw")
        self.assertEqual(list(one["kindred"]), list(other["kindred"]))

    @needs_hdf5
    def test_workbooks_are_read(self):
        try:
            import openpyxl
        except ImportError:
            self.skipTest("openpyxl is not installed")
        book = openpyxl.Workbook()
        for i in range(40):
            book.active.append([i % 2 * 9 + i * .01, i % 2 * 8])
        book.save(self.path("b.xlsx"))
        for program, out in ((self.native, "n"), (self.windows, "w")):
            program("cluster", "-q", "-k", 2, "-m", "kmeans", "-o", out, "b.xlsx")
        self.same_files("n", "w", ".labels")

    def test_line_ends_of_windows_change_nothing(self):
        text = "name,x,y,class\n" + "".join("s%d,%g,%g,%s\n" % (i, i % 2 * 9 + i * .01, i % 2 * 8, "ab"[i % 2]) for i in range(30))
        self.write("unix.csv", text)
        self.write("dos.csv", text.replace("\n", "\r\n"))
        self.write("marked.csv", b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
        for name in ("unix", "dos", "marked"):
            self.windows("cluster", "-q", "-k", 2, "--id-column", "name", "--label-column", "class", "-o", name, "d=%s.csv" % name)
        self.same_files("unix", "dos", ".labels")
        self.same_files("unix", "dos", "samples.csv")
        self.same_files("unix", "marked", "samples.csv")
        self.assertNotIn(b"\r", self.read("dos/result.json"))

    def test_folders_of_texts_are_listed(self):
        for kind, word in (("ships", "harbour sail mast anchor"), ("cooking", "flour oven butter salt")):
            for i in range(6):
                self.write("texts/%s/%d.txt" % (kind, i), (word + " ") * (i + 1) + "and the rest\r\n")
        self.write("texts/ships/inner/deep-\u00fc.txt", "sail anchor mast\n")
        for program, out in ((self.native, "n"), (self.windows, "w")):
            program("vectorize", "-q", "texts", "-o", out)
        self.same_files("n", "w", "features.txt")

    def test_streamed_data_give_the_same_labels(self):
        self.native("generate", "-q", "--samples", 3000, "--dimensions", 20, "-o", "data")
        self.native("convert", "-q", "data/task1.csv", "data/x.npy")
        for name in ("task1.csv", "x.npy"):
            for program, out, how in ((self.native, "n", "--no-stream"), (self.windows, "w", "--stream")):
                program("cluster", "-q", "-m", "kmeans", "-k", 3, how, "--force", "-o", out, "d=data/" + name)
            self.same_files("n", "w", ".labels")

    def test_standard_input_and_output_are_bytes(self):
        self.native("generate", "-q", "--samples", 40, "-o", "data")
        done = self.windows("cluster", "-q", "-k", 2, "-m", "kmeans", "--format", "csv", "-", stdin=self.read("data/task1.csv"))
        self.assertTrue(done.stdout.startswith(b"{"))
        self.assertNotIn(b"\r", done.stdout)
        self.native("convert", "-q", "data/task1.csv", "data/x.npy")
        done = self.windows("inspect", "--format", "npy", "-", stdin=self.read("data/x.npy"))
        self.assertIn(b"40", done.stdout)

    # --- file names -------------------------------------------------------------------------------------

    def test_names_are_unicode(self):
        folder = "\u00dcbung \u2013 \u6570\u636e"
        self.native("generate", "-q", "--samples", 40, "-o", "data")
        os.makedirs(self.path(folder))
        shutil.copy(self.path("data/task1.csv"), self.path(folder, "\u03b1 \u03b2 \U0001f600.csv"))
        self.windows("cluster", "-q", "-k", 2, "-o", folder + "/\u7d50\u679c", folder + "/\u03b1 \u03b2 \U0001f600.csv")
        self.assertTrue(os.path.exists(self.path(folder, "\u7d50\u679c", "\u03b1 \u03b2 \U0001f600.labels")))
        line = self.refused(3, "\u00e4\u00f6\u00fc.csv", "cluster", "-k", 2, "\u00e4\u00f6\u00fc.csv")
        self.assertIn("No such file", line)

    def test_drive_letters_and_backslashes(self):
        self.native("generate", "-q", "--samples", 40, "-o", "data")
        drive = "Z:" + self.dir.replace("/", "\\")
        for file, out in ((drive + "\\data\\task1.csv", drive + "\\a\\b"), ("data\\task1.csv", "c\\d"), ("./data/task1.csv", "e/f")):
            self.windows("cluster", "-q", "-k", 2, "-m", "kmeans", "--report", "-o", out, file)
        for out in ("a/b", "c/d", "e/f"):
            self.assertEqual(self.read(out + "/task1.labels"), self.read("a/b/task1.labels"))
            self.assertTrue(os.path.exists(self.path(out, "report.html")))
        self.windows("report", "-q", drive + "\\a\\b\\result.json", "--force")
        self.windows("cluster", "-q", "-k", 2, "-m", "kmeans", "--score", "-o", "g", "data\\task1.csv")
        self.windows("cluster", "-q", "-k", 2, "-m", "kmeans", "-o", "h", "other=" + drive + "\\data\\task1.csv")
        self.assertTrue(os.path.exists(self.path("h/other.labels")))

    def test_long_paths(self):
        self.native("generate", "-q", "--samples", 40, "-o", "data")
        deep = "/".join(["d" * 60] * 5)
        self.windows("convert", "-q", "data/task1.csv", deep + "/x.npy")
        self.windows("inspect", "-q", "Z:" + self.path(deep, "x.npy").replace("/", "\\"))

    def test_wildcards_are_expanded(self):
        self.native("generate", "-q", "--samples", 40, "-o", "data")
        self.windows("cluster", "-q", "-k", 2, "-m", "kmeans", "-o", "out", "data\\*.csv")
        self.assertEqual(sorted(n for n in os.listdir(self.path("out")) if n.endswith(".labels")),
                         sorted(n for n in os.listdir(self.path("data")) if n.endswith(".labels")))

    def test_names_that_files_cannot_have_are_refused(self):
        self.native("generate", "-q", "--samples", 40, "-o", "data")
        self.refused(2, "not valid as the name", "cluster", "-k", 2, "-o", "out", "a:b=data/task1.csv")
        rows = "".join("%s,%d,%d\n" % ("a:b" if i % 2 else "c?d", i % 4, i) for i in range(24))
        self.write("groups.csv", "who,x,y\n" + rows)
        self.windows("cluster", "-q", "-k", 2, "-m", "kmeans", "--task-column", "who", "-o", "split", "groups.csv")
        self.assertEqual(sorted(n for n in os.listdir(self.path("split")) if n.endswith(".labels")), ["a_b.labels", "c_d.labels"])

    # --- output and bad input ------------------------------------------------------------------------------

    def test_existing_files_are_replaced_only_with_force(self):
        self.native("generate", "-q", "--samples", 40, "-o", "data")
        self.write("x.npy", "old")
        self.refused(2, "already exists", "convert", "-q", "data/task1.csv", "x.npy")
        self.assertEqual(self.read("x.npy"), b"old")
        self.windows("convert", "-q", "--force", "data/task1.csv", "x.npy")
        self.native("convert", "-q", "data/task1.csv", "y.npy")
        self.assertEqual(self.read("x.npy"), self.read("y.npy"))
        self.assertEqual([n for n in os.listdir(self.dir) if ".tmp-" in n], [])

    def test_bad_input_is_one_line_and_a_status(self):
        self.write("broken.csv", "x,y\n1,2\n3\n4,5\n")
        self.write("broken.npy", b"\x93NUMPY\x01\x00\xff\xff")
        self.write("broken.csv.gz", b"\x1f\x8b\x08\x00rubbish")
        os.mkdir(self.path("folder.csv"))
        self.refused(3, "line 3", "cluster", "-k", 2, "broken.csv")
        self.refused(3, "broken.npy", "cluster", "-k", 2, "broken.npy")
        self.refused(3, "gzip", "cluster", "-k", 2, "broken.csv.gz")
        self.refused(3, "folder.csv", "cluster", "-k", 2, "folder.csv")
        self.refused(3, "absent.csv", "cluster", "-k", 2, "absent.csv")
        self.refused(2, "did you mean", "clutser", "x.csv")
        if not HDF5:
            return
        self.write("broken.h5ad", b"\x89HDF\r\n\x1a\n" + bytes(90))
        self.refused(3, "HDF5", "cluster", "-k", 2, "broken.h5ad")

    def test_interrupt_keeps_the_best_result(self):
        self.native("generate", "-q", "--samples", 2000, "--dimensions", 50, "-o", "data")
        process = subprocess.Popen([*self.exe, "cluster", "--progress", "-k", "20", "-m", "kmeans", "--set", "n_init=1000000", "-o", "out",
                                    "data/task1.csv"], cwd=self.dir, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        shown = b""
        while b"kmeans" not in shown:  # the work has begun
            shown += process.stderr.read(1)
            self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=120)
        self.assertEqual(process.returncode, 130)
        self.assertEqual(self.read("out/task1.labels").count(b"\n"), 2000)

    # --- the library ----------------------------------------------------------------------------------------

    def link_example(self):
        run([COMPILER], "-std=c17", "-Wall", "-Wextra", "-Werror", "-I", os.path.join(STAGE, "include"), os.path.join(STAGE, "cluster.c"),
            "-L", os.path.join(STAGE, "lib"), "-lkindred", "-o", self.path("cluster.exe"))

    def test_archive_links_with_a_program(self):
        self.link_example()
        text = run(["x86_64-w64-mingw32-objdump"], "-p", self.path("cluster.exe")).stdout.decode()
        self.assertIn("DLL Name: libkindred.dll", text)

    def test_a_program_uses_the_library(self):
        self.link_example()
        shutil.copy(os.path.join(STAGE, "libkindred.dll"), self.dir)
        done = run([WINE, self.path("cluster.exe")], folder=self.dir)
        self.assertEqual(done.stdout.decode().replace("\r", ""), "a: 0 0 0 1 1 1\nb: 0 0 1 1\n")

    def test_archive_exports_only_what_is_promised(self):
        text = run(["x86_64-w64-mingw32-objdump"], "-p", os.path.join(STAGE, "libkindred.dll")).stdout.decode()
        table = text[text.index("[Ordinal/Name Pointer] Table"):]
        names = sorted(line.split()[-1] for line in table.split("\n")[1:] if line.startswith("\t[") or line.strip().startswith("["))
        with open(os.path.join(ROOT, "src/exports.txt")) as f:
            self.assertEqual(names, sorted(f.read().split()))

    def test_archive_needs_nothing_but_windows(self):
        for name in ("kindred.exe", "libkindred.dll"):
            text = run(["x86_64-w64-mingw32-objdump"], "-p", os.path.join(STAGE, name)).stdout.decode()
            needed = sorted({line.split()[-1].lower() for line in text.split("\n") if "DLL Name:" in line})
            self.assertIn("kernel32.dll", needed)
            self.assertLessEqual(set(needed), {"kernel32.dll", "msvcrt.dll", "shell32.dll", "psapi.dll", "advapi32.dll", "user32.dll"}, name)


def run_suite(folder):
    """The tests of the command line that can pass; True if they do."""
    program = os.path.join(folder, "kindred")
    with open(program, "w") as f:
        f.write('#!/bin/sh\nexec %s %s "$@"\n' % (WINE, os.path.join(STAGE, "kindred.exe")))
    os.chmod(program, 0o755)
    environment = dict(os.environ, KINDRED=program, KINDRED_CANNOT=" ".join(CANNOT), KINDRED_TEST_TIMEOUT="900",
                       PYTHONDONTWRITEBYTECODE="1")

    def run_file(name):
        return subprocess.run(["/usr/bin/python3", os.path.join(ROOT, "tests/cli/test_%s.py" % name)], env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    failed = []
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS", "1"))) as pool:
        for name, done in zip(SUITE, pool.map(run_file, SUITE)):
            print("tests/cli/test_%s.py: %s" % (name, ", ".join(re.findall(r"^(?:Ran |OK|FAILED).*", done.stdout, flags=re.M))), flush=True)
            if done.returncode:
                print(done.stdout[-5000:], flush=True)
                failed += [(name, one) for one in re.findall(r"^(?:FAIL|ERROR): (\w+)", done.stdout, flags=re.M) or ["status %d" % done.returncode]]
    for name, one in failed:
        print("FAILED: tests/cli/test_%s.py: %s" % (name, one))
    return not failed


def run_tests(*options):
    options = [*options, *(a for a in sys.argv[1:] if a.startswith("-") and a != "--suite")]
    return unittest.main(argv=[sys.argv[0], *options], exit=False).result.wasSuccessful()


def main():
    global NATIVE, STAGE, HDF5, NO_WINE
    arguments = [a for a in sys.argv[1:] if not a.startswith("-")]
    if not shutil.which(COMPILER):
        print("skipped: the compiler for Windows is missing (Debian: gcc-mingw-w64-x86-64-posix)")
        sys.exit(77)
    if platform.machine() != "x86_64":
        NO_WINE = "wine runs programs for x86-64 on x86-64 only, and this machine is " + platform.machine()
    elif not shutil.which("wine"):
        NO_WINE = "wine is missing (Debian: wine64 wine)"
    folder = tempfile.mkdtemp(prefix="kindred-windows-")
    try:
        if arguments:
            archive = arguments[0]
        else:
            if subprocess.run([os.path.join(ROOT, "tools/package/windows.sh"), folder]).returncode:
                sys.exit(1)
            archive = glob.glob(os.path.join(folder, "*.zip"))[0]
        NATIVE = os.path.abspath(arguments[1] if len(arguments) > 1 else NATIVE)
        with zipfile.ZipFile(archive) as z:
            z.extractall(folder)
        STAGE = os.path.join(folder, os.path.basename(archive)[:-4])
        if NO_WINE:
            print("skipped: tests/cli with kindred.exe: " + NO_WINE)
            sys.exit(not run_tests("-v"))
        # The services of wine, which the first program starts, inherit its streams, and whoever reads these waits for them. So a
        # program without streams runs until the end, and another one shows that the services are ready.
        exe = os.path.join(STAGE, "kindred.exe")
        keeper = subprocess.Popen([WINE, exe, "cluster", "-k", "2", "--format", "csv", "-"], stdin=subprocess.PIPE,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        subprocess.run([WINE, exe, "version"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        HDF5 = bool(arguments) or b"hdf5: yes" in run([WINE, exe], "version", "-v").stdout
        passed = run_tests()
        if "--suite" in sys.argv:
            passed = run_suite(folder) and passed
        keeper.stdin.close()
        keeper.wait(60)
        sys.exit(0 if passed else 1)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


main()
