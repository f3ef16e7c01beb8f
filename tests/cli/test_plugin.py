"""Where the program searches for the device plug-in, with the stand-in that the tests build."""
import os
import shutil
import subprocess
import unittest

from harness import KINDRED, CliTest

FAKE = os.environ.get("KINDRED_FAKE_PLUGIN")
FILE = "libkindred_cuda.so"


@unittest.skipUnless(FAKE, "the stand-in plug-in was not built")
class PluginTest(CliTest):
    def setUp(self):
        super().setUp()
        os.makedirs(self.path("bin"))
        self.program = shutil.copy(KINDRED, self.path("bin/kindred"))

    def put(self, folder, content=None):
        """The stand-in in a separate folder of the test, or a file that is not a plug-in."""
        os.makedirs(self.path(folder), exist_ok=True)
        if content is None:
            shutil.copy(os.path.join(FAKE, FILE), self.path(folder))
        else:
            self.write(os.path.join(folder, FILE), content)

    def devices(self, program=None, **variables):
        environment = {k: v for k, v in os.environ.items() if k != "KINDRED_PLUGINS"}
        environment.update(variables)
        done = subprocess.run([program or self.program, "version", "-v"], cwd=self.dir, env=environment, capture_output=True,
                              text=True, timeout=60)
        return "".join(line for line in done.stdout.splitlines(True) if line.startswith("device: "))

    def folder(self, **kwargs):
        """The folder of the plug-in that was loaded."""
        text = self.devices(**kwargs)
        self.assertRegex(text, r"^device: cuda:0 fake in .*, 0 calls\n$")
        return os.path.relpath(text.split(" in ")[1].rsplit(",", 1)[0], os.path.realpath(self.dir))

    def test_no_plugin(self):
        self.assertEqual(self.devices(), f"device: cpu only: {FILE} was not found\n")

    def test_search_order(self):
        self.put("lib")
        self.assertEqual(self.folder(), "lib")
        self.put("bin")
        self.assertEqual(self.folder(), "bin")
        self.put("a")
        self.put("b")
        self.assertEqual(self.folder(KINDRED_PLUGINS=f"{self.path('none')}:{self.path('b')}:{self.path('a')}"), "b")

    def test_file_that_cannot_be_loaded(self):
        self.put("bin", "no library")
        text = self.devices()
        self.assertIn("cpu only: ", text)
        self.assertIn(os.path.join("bin", FILE), text)
        self.put("lib")
        self.assertEqual(self.folder(), "lib")

    def test_program_by_bare_name_or_link(self):
        self.put("lib")
        self.assertEqual(self.folder(program="kindred", PATH=self.path("bin") + ":" + os.environ["PATH"]), "lib")
        os.makedirs(self.path("elsewhere"))
        os.symlink(self.program, self.path("elsewhere/kindred"))
        self.assertEqual(self.folder(program=self.path("elsewhere/kindred")), "lib")
        # The current folder is no place to load code from.
        shutil.rmtree(self.path("lib"))
        self.put(".")
        self.assertIn("was not found", self.devices(program="kindred", PATH=self.path("bin") + ":" + os.environ["PATH"]))

    def cluster(self, device, **variables):
        """Exit status and standard error of a job on the stand-in, which is opened while the table is read."""
        with open(self.path("t.csv"), "w", encoding="ascii") as f:
            f.writelines(f"{i % 3 * 10 + i / 100},{i % 3 * -5},{i * i % 7}\n" for i in range(90))
        self.put("lib")
        environment = {k: v for k, v in os.environ.items() if k != "KINDRED_PLUGINS"}
        done = subprocess.run([self.program, "cluster", "-m", "kmeans", "-k", "3", "--device", device, "-o", f"out-{device}", "t.csv"],
                              cwd=self.dir, env={**environment, **variables}, capture_output=True, text=True, timeout=120)
        return done.returncode, done.stderr

    def test_opened_while_data_are_read(self):
        for device in ("cpu", "cuda", "auto"):
            self.assertEqual(self.cluster(device)[0], 0)
            self.assertEqual(self.read(f"out-{device}/t.labels"), self.read("out-cpu/t.labels"))

    def test_device_that_cannot_be_opened(self):
        code, errors = self.cluster("cuda", KINDRED_DEVICE_BROKEN="1")
        self.assertNotEqual(code, 0)
        self.assertIn("device 'cuda:0' is not available: the stand-in is broken; use --device 'auto'", errors)
        self.assertEqual(self.cluster("auto", KINDRED_DEVICE_BROKEN="1")[0], 0)


if __name__ == "__main__":
    unittest.main()
