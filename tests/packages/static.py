#!/usr/bin/python3
"""The programs without dependencies. Usage: tests/packages/static.py [--suite] [ARCHIVE.tar.gz [KINDRED]]

Without an archive, tools/package/static.sh makes one for this machine. KINDRED is a program whose labels the others are compared
with (default: the environment's KINDRED, or build/ci/cli/kindred). With --suite, the tests of tests/cli are run as well. Programs
for another processor run under qemu, and the golden tests are compiled and run as well. Ends with status 77 if qemu is missing."""
import glob
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NATIVE = os.environ.get("KINDRED", os.path.join(ROOT, "build/ci/cli/kindred"))
SUITE = ["bad_input", "cluster", "transfer", "formats", "limits", "commands", "models"]
GOLDEN = ["test_lss_golden", "test_mbc_golden", "test_mtcfir_golden"]
# Under qemu, these tests of tests/cli would see the environment, the memory and the signals of qemu itself.
CANNOT = "test_idle_threads_sleep_and_blas_has_one test_never_hangs test_signals_ignored_at_the_start_stay_ignored"
STAGE = None  # the unpacked archive
QEMU = None  # for another architecture


def run(*arguments, code=0, **more):
    done = subprocess.run(list(map(str, arguments)), capture_output=True, text=True, timeout=900, **more)
    assert done.returncode == code, (arguments, done.returncode, done.stdout[-2000:], done.stderr[-2000:])
    return done.stdout


class Static(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="kindred-static-")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.program = os.path.join(STAGE, "bin/kindred")

    def in_empty_root(self, *arguments):
        """Runs the program where there is nothing else: no loader, no libraries, no /proc, no /tmp."""
        if subprocess.run(["unshare", "-r", "true"], capture_output=True).returncode:
            self.skipTest("no user namespaces")
        if not os.path.exists(os.path.join(self.dir, "kindred")):  # a process that reads HDF5 may still run it
            shutil.copy(self.program, self.dir)
        command = ["/kindred"]
        if QEMU:
            shutil.copy(QEMU, os.path.join(self.dir, "qemu"))
            command = ["/qemu", "/kindred"]
        return run("unshare", "-r", "chroot", self.dir, *command, *arguments)

    def test_it_needs_no_library(self):
        text = run("readelf", "-d", "-l", self.program)
        self.assertNotIn("NEEDED", text)
        self.assertNotIn("INTERP", text)

    def test_version_names_the_parts(self):
        text = self.in_empty_root("version", "-v")
        for line in ("blas: builtin", "openmp: yes", "zlib: yes", "hdf5: yes", "expat: yes", "utf8proc: yes", "iconv: no: "):
            self.assertIn("\n" + line, text)

    def test_demo_gives_the_usual_labels_in_an_empty_root(self):
        self.in_empty_root("demo", "-o", "/demo")
        run(NATIVE, "demo", "-o", os.path.join(self.dir, "usual"))
        names = [n for n in os.listdir(os.path.join(self.dir, "usual/result")) if n.endswith(".labels")]
        self.assertTrue(names)
        for name in names:
            with open(os.path.join(self.dir, "usual/result", name)) as one, open(os.path.join(self.dir, "demo/result", name)) as other:
                self.assertEqual(one.read(), other.read(), name)

    def test_models_are_saved_and_used_in_an_empty_root(self):
        self.in_empty_root("generate", "-q", "-n", 60, "-o", "/data")
        self.in_empty_root("transfer", "-q", "-m", "logreg", "--source", "/data/task1.csv", "--labels", "/data/task1.labels",
                           "--target", "/data/task2.csv", "--save-model", "/model.h5", "-o", "/out")
        labels = self.in_empty_root("predict", "-q", "--model", "/model.h5", "/data/task2.csv")
        self.assertEqual(len(labels.split()), 60)

    def test_manual_and_completions_are_there(self):
        with open(os.path.join(ROOT, "cli/main.c")) as f:
            commands = re.findall(r"&cli_(\w+)", re.search(r"cli_commands\[\] = {[^}]*}", f.read()).group())
        pages = os.listdir(os.path.join(STAGE, "share/man/man1"))
        self.assertEqual(sorted(pages), sorted(["kindred.1"] + ["kindred-%s.1" % c for c in commands]))
        for page in pages:
            with open(os.path.join(STAGE, "share/man/man1", page)) as f:
                self.assertTrue(f.read().startswith(".TH"), page)
        self.assertEqual(sorted(os.listdir(os.path.join(STAGE, "share/completions"))), ["_kindred", "kindred.bash", "kindred.fish"])
        run("bash", "-n", os.path.join(STAGE, "share/completions/kindred.bash"))

    def test_golden_numbers_on_this_architecture(self):
        if not QEMU:
            self.skipTest("the build of this machine has them")
        build = os.path.join(ROOT, "build/static-" + STAGE.rpartition("-")[2])
        if not os.path.isdir(build):
            self.skipTest("no build folder")
        run("cmake", "-B", build, "-DKINDRED_TESTS=ON", "-DKINDRED_CMOCKA=OFF", "-DCMAKE_EXE_LINKER_FLAGS=-static", cwd=ROOT)
        run("cmake", "--build", build, "-j", os.environ.get("JOBS", "2"), "--target", *GOLDEN)
        for name in GOLDEN:
            run(QEMU, os.path.join(build, "tests", name), cwd=os.path.join(build, "tests"))


def run_suite(folder):
    """The tests of the command line; True if all pass."""
    program = os.path.join(STAGE, "bin/kindred")
    if QEMU:
        program = os.path.join(folder, "kindred")
        with open(program, "w") as f:
            f.write('#!/bin/sh\nexec %s %s "$@"\n' % (QEMU, os.path.join(STAGE, "bin/kindred")))
        os.chmod(program, 0o755)
    environment = dict(os.environ, KINDRED=program, PYTHONDONTWRITEBYTECODE="1", OMP_WAIT_POLICY="passive", KINDRED_CANNOT=CANNOT if QEMU else "")
    failed = [name for name in SUITE
              if subprocess.run(["/usr/bin/python3", os.path.join(ROOT, "tests/cli/test_%s.py" % name)], env=environment).returncode]
    print("tests/cli with %s: %s" % (os.path.basename(STAGE), "failed: " + ", ".join(failed) if failed else "passed: " + ", ".join(SUITE)))
    return not failed


def main():
    global NATIVE, STAGE, QEMU
    arguments = [a for a in sys.argv[1:] if not a.startswith("-")]
    folder = tempfile.mkdtemp(prefix="kindred-static-")
    try:
        if arguments:
            archive = arguments[0]
        else:
            here = platform.machine().replace("aarch64", "arm64")
            if subprocess.run([os.path.join(ROOT, "tools/package/static.sh"), folder, here]).returncode:
                sys.exit(1)
            archive = glob.glob(os.path.join(folder, "*.tar.gz"))[0]
        NATIVE = os.path.abspath(arguments[1] if len(arguments) > 1 else NATIVE)
        processor = os.path.basename(archive)[:-len(".tar.gz")].rpartition("-")[2].replace("arm64", "aarch64")
        if processor != platform.machine():
            QEMU = shutil.which("qemu-%s-static" % processor)
            if not QEMU:
                print("skipped: qemu is missing (Debian: qemu-user-static)")
                sys.exit(77)
        shutil.unpack_archive(archive, folder)
        STAGE = os.path.join(folder, os.path.basename(archive)[:-len(".tar.gz")])
        done = unittest.main(argv=sys.argv[:1] + [a for a in sys.argv[1:] if a.startswith("-") and a != "--suite"], exit=False)
        passed = done.result.wasSuccessful() and ("--suite" not in sys.argv or run_suite(folder))
        sys.exit(0 if passed else 1)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


main()
