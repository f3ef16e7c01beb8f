"""A run that is asked to stop ends soon: processor time from the signal to the end, which other work on the machine does not lengthen."""
import os
import signal
import subprocess
import time
import unittest

from harness import KINDRED, CliTest

SOON = 2  # seconds; half of that is usual at most


def processor_time(pid):
    with open(f"/proc/{pid}/stat") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Cancel(CliTest):
    def stop(self, after, *args):
        """SIGTERM after so much work; what was used from there on, or None where the run had ended."""
        run = subprocess.Popen([KINDRED, *map(str, args), "--threads", "1", "-o", "out", "--force"], cwd=self.dir,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        while run.poll() is None and processor_time(run.pid) < after:
            time.sleep(.02)
        if run.poll() is not None:
            self.assertEqual(run.returncode, 0, run.communicate()[1])
            return None
        before = processor_time(run.pid)
        run.send_signal(signal.SIGTERM)
        _, status, used = os.wait4(run.pid, 0)
        run.returncode = os.waitstatus_to_exitcode(status)
        text = run.stderr.read()
        run.stderr.close()
        self.assertIn(run.returncode, (0, 130), text)
        return used.ru_utime + used.ru_stime - before

    def stops(self, *args):
        """Stops a run early, later and late; how often it was still running."""
        for i, after in enumerate((.4, 1, 2)):
            took = self.stop(after, *args)
            if took is None:
                return i
            self.assertLess(took, SOON, f"{args[:3]}, after {after} s")
        return 3

    def test_every_long_run_ends_soon(self):
        self.run_kindred("generate", "--design", "topics", "--tasks", 2, "-k", 5, "-n", "2500,1800", "--words", 4000,
                         "--length", 60, "-q", "-o", "data")
        tasks = ["data/task1.mtx", "data/task2.mtx"]
        seen = 0
        for method in ("auto", "ncut", "pca-kmeans", "asi", "lssmtc", "snmf", "mbc", "mtcfir"):
            seen += self.stops("cluster", "-m", method, "-k", 5, *tasks)
        for method in ("auto-transfer", "lssttc", "trec", "forest", "self-training", "nmtf"):
            seen += self.stops("transfer", "-m", method, "--source", tasks[0], "--labels", "data/task1.labels",
                               "--target", tasks[1])
        # A run that was stopped while it learnt features reports what its labels are.
        self.assertIsNotNone(self.stop(.6, "cluster", "-m", "mtcfir", "-k", 5, *tasks))
        self.assertRegex(" ".join(self.result()["warnings"]), "stopped: 2 of 2 data sets .* not reliable")
        seen += self.stops("cluster", "-m", "kmeans", "--features-from", "msda", "-k", 5, *tasks)
        self.assertGreater(seen, 12)


    def test_a_long_text(self):
        words = " ".join(f"w{i * 7919 % 300007}" for i in range(400000))
        self.write("long.csv", f'text,n\n"{words} {" ".join([words] * 11)}",1\n"short one",2\n')
        took = self.stop_reading(.4, "inspect", "--text-column", "text", "long.csv")
        if took is not None:
            self.assertLess(took, SOON / 4)

    def stop_reading(self, after, *args):
        run = subprocess.Popen([KINDRED, *args, "--threads", "1"], cwd=self.dir, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        while run.poll() is None and processor_time(run.pid) < after:
            time.sleep(.02)
        before = processor_time(run.pid)
        run.send_signal(signal.SIGTERM)
        text = run.stderr.read()
        _, status, used = os.wait4(run.pid, 0)
        run.stderr.close()
        run.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(run.returncode, 130, text)
        return used.ru_utime + used.ru_stime - before

    def test_reading_keeps_the_time_limit(self):
        """Where it is all of the work."""
        os.mkdir(self.path("folder"))
        for i in range(4):
            self.write(f"folder/{i}.txt", "some words")
        self.write("a.csv", "x,y\n" + "1,2\n3,4\n" * 10)
        for args in (("inspect", "folder"), ("vectorize", "-o", "out", "folder"), ("inspect", "a.csv")):
            self.fails(*args, "--time-limit", "0.000001", code=3, says=["stopped", "the time limit (--time-limit) was reached"])
        self.assertFalse(os.path.exists(self.path("out")))


if __name__ == "__main__":
    unittest.main()
