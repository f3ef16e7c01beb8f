"""Idle threads sleep in every environment. SPDX-License-Identifier: BSD-3-Clause"""
import os
import subprocess
import sys
import unittest

FITS = """
import os, sys, time, numpy as np, kindred
if "libgomp" not in open("/proc/self/maps").read():
    sys.exit(9)
x = np.random.default_rng(0).random((4000, 20))
me, idle = str(os.getpid()), 0
def others():
    return sum(int(open(f"/proc/self/task/{t}/schedstat").read().split()[0]) for t in os.listdir("/proc/self/task") if t != me)
for _ in range(20):
    kindred.KMeans(n_clusters=5, threads=2, n_init=2).fit(x)
    before = others()
    time.sleep(0.005)
    idle += others() - before
print(idle)
"""


def idle(policy):
    """Processor time, in ns, that the worker threads take between fits."""
    env = {name: value for name, value in os.environ.items() if name not in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "OMP_NUM_THREADS")}
    done = subprocess.run([sys.executable, "-c", FITS], env={**env, **policy}, capture_output=True, text=True)
    if done.returncode == 9:
        raise unittest.SkipTest("another OpenMP library")
    return int(done.stdout)


class Threads(unittest.TestCase):
    @unittest.skipUnless(os.path.exists("/proc/self/schedstat"), "needs Linux's /proc")
    def test_idle_threads_do_not_spin(self):
        """By default libgomp spins for milliseconds, about as long as the pause between the fits."""
        self.assertLess(4 * idle({}), idle({"OMP_WAIT_POLICY": "active"}))


if __name__ == "__main__":
    unittest.main()
