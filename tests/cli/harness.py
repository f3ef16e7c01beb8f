"""What the command-line tests share: run the program, make files, read results."""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from parts import PartsTest  # noqa: E402

KINDRED = os.environ.get("KINDRED", "kindred")
TIMEOUT = int(os.environ.get("KINDRED_TEST_TIMEOUT", "120"))  # seconds
CANNOT = os.environ.get("KINDRED_CANNOT", "").split()  # tests that cannot pass with this program
# The program leaves ignored signals ignored; background jobs of a shell start these tests with SIGINT ignored, and nohup with SIGHUP.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)


class CliTest(PartsTest):
    def setUp(self):
        if self._testMethodName in CANNOT:
            self.skipTest("cannot pass with this program")
        self.dir = tempfile.mkdtemp(prefix="kindred-cli-")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.dir, name)

    def write(self, name, content):
        mode = "wb" if isinstance(content, bytes) else "w"
        with open(self.path(name), mode) as f:
            f.write(content)
        return self.path(name)

    def read(self, name):
        with open(self.path(name)) as f:
            return f.read()

    def change_model(self, name):
        """Opens a model file for changes, without its checksum, so that they reach the checks behind that."""
        import h5py
        f = h5py.File(self.path(name), "r+")
        f.attrs.pop("checksum", None)
        return f

    def run_kindred(self, *args, code=0, stdin=None, timeout=TIMEOUT, **kwargs):
        """Runs it in the test's own folder and checks the exit status (None: any)."""
        done = subprocess.run([KINDRED, *map(str, args)], cwd=self.dir, input=stdin, capture_output=True, text=True,
                              timeout=timeout, **kwargs)
        self.assertIn(done.returncode, [done.returncode if code is None else code], f"kindred {args}\nstdout: {done.stdout}\nstderr: {done.stderr}")
        return done

    def fails(self, *args, code, says, stdin=None, **kwargs):
        """It fails with one line on standard error that contains every piece of `says`, and nothing on stdout."""
        done = self.run_kindred(*args, code=code, stdin=stdin, **kwargs)
        self.assertEqual(done.stdout, "")
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertTrue(done.stderr.startswith("kindred: "), done.stderr)
        for piece in says if isinstance(says, (list, tuple)) else [says]:
            self.assertIn(piece, done.stderr)
        return done.stderr

    def result(self, name="out/result.json"):
        def refuse(token):
            raise ValueError(f"{token} in result.json")
        with open(self.path(name)) as f:
            return json.load(f, parse_constant=refuse)

    def leftovers(self):
        """Files that look half-written."""
        found = []
        for root, _, files in os.walk(self.dir):
            found += [os.path.join(root, f) for f in files if ".tmp-" in f]
        return found


BLOBS_A = "x,y\n" + "".join(f"{i % 2 * 10 + i % 3 * .1},{i % 2 * 10 - i % 5 * .1}\n" for i in range(20))
BLOBS_B = "y,x\n" + "".join(f"{i % 2 * 10 + i % 3 * .1},{i % 2 * 10 - i % 5 * .1}\n" for i in range(12))
