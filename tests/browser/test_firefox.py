"""The report in Firefox, driven by npm's puppeteer-core over WebDriver BiDi (Debian has no geckodriver).

puppeteer-core is installed in the build folder. Skipped (77) where node, npm or Firefox is absent, or the package cannot be installed."""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from harness import KINDRED, run

FIREFOX, NODE, NPM = shutil.which("firefox-esr") or shutil.which("firefox"), shutil.which("node"), shutil.which("npm")
MODULES = pathlib.Path(KINDRED).resolve().parents[1] / "puppeteer"


class Firefox(unittest.TestCase):
    def test_explore(self):
        with tempfile.TemporaryDirectory(prefix="kindred-firefox-") as folder:
            data, out = pathlib.Path(folder) / "data", pathlib.Path(folder) / "out"
            run("generate", "--design", "topics", "--tasks", 2, "-k", 3, "-n", "60,50", "--words", 200, "--length", 30, "--seed", 3, "-q", "-o", data)
            run("cluster", "-m", "kmeans", "-k", "2-3", "--report", "-q", "-o", out, data / "task1.mtx", data / "task2.mtx")
            done = subprocess.run([NODE, pathlib.Path(__file__).with_name("firefox.mjs"), MODULES, FIREFOX, out / "report.html"], capture_output=True, text=True, timeout=300)
            self.assertEqual(done.returncode, 0, done.stderr)
            seen = json.loads(done.stdout.splitlines()[-1])
        self.assertEqual((seen["messages"], seen["ready"]), ([], "1"), seen)
        self.assertLessEqual(seen["wide"], 0)
        self.assertIn("samples and 0 features found", seen["search"])
        self.assertIn("60 samples of 110 (rectangle)", seen["selected"])
        self.assertGreater(seen["apart"], 0)
        self.assertIn("0 samples are in both groups", seen["overlap"])
        self.assertGreater(seen["legend"], 1)
        self.assertGreater(seen["drawn"], 100)
        self.assertIn("samples shown: confidence 0.5", seen["filtered"])
        self.assertIn("animals", seen["renamed"])
        self.assertEqual((seen["undone"], seen["level"], seen["sentences"]), (0, 2, 5), seen)
        self.assertIn("level=0", seen["link"])


if __name__ == "__main__":
    if not (FIREFOX and NODE and NPM):
        print("skipped: no Firefox, node or npm (Debian: firefox-esr nodejs npm)")
        sys.exit(77)
    if not (MODULES / "node_modules" / "puppeteer-core").exists():
        MODULES.mkdir(parents=True, exist_ok=True)
        if subprocess.run([NPM, "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", MODULES, "puppeteer-core@24"], capture_output=True).returncode:
            print("skipped: npm cannot install puppeteer-core")
            sys.exit(77)
    unittest.main()
