#!/usr/bin/env python3
"""Measures how long a job runs without checking whether it should stop. SPDX-License-Identifier: BSD-3-Clause

usage: polls.py METHOD K FILE...                                    cluster (METHOD relate: kindred.relate; K 0: the method chooses)
       polls.py METHOD 0 SOURCE SOURCE.labels TARGET [BRIDGE...]    transfer

Run it with the interpreter that has the package. It runs the job on one thread twice. The first run is complete and finds the longest period of
processor time between two events. The second run answers the event before that period with "stop" and measures the time until the job ends."""

import sys
import time

import kindred
from kindred import _session


class Watch:
    """Stands for Session.event, so that every job is watched."""

    def __init__(self, stop=None):
        self.stop, self.stopped, self.events = stop, None, 0
        self.last, self.longest = (time.process_time(), "the beginning"), (0, -1, "", "")

    def look(self, name):
        now = time.process_time()
        self.longest = max(self.longest, (now - self.last[0], self.events - 1, self.last[1], name))
        self.last = now, name

    def __call__(self, event):
        self.look(f"{_session.text(event.stage)} {_session._KINDS[event.kind]} {event.iteration}")
        stop = self.stop is not None and self.events >= self.stop
        if stop and self.stopped is None:
            self.stopped = time.process_time()
        self.events += 1
        return stop

    def __str__(self):
        return "longest period %.3f s, from '%s' to '%s'" % (self.longest[0], *self.longest[2:])


def run(method, k, files, watch):
    _session.Session.event = lambda self, event: watch(event)
    if method == "relate":
        kindred.relate(files)
    elif len(files) > 1 and ".labels" in files[1]:
        classes = open(files[1], encoding="utf-8").read().removesuffix("\n").split("\n")
        kindred.transfer([files[0]], [classes], [files[2]], method=method, bridges=files[3:], threads=1)
    else:
        kindred.cluster(files, int(k) or "auto", method, threads=1)
    watch.look("the end")


def main(method, k, *files):
    start, complete = time.process_time(), Watch()
    run(method, k, files, complete)
    print(f"{method}: {time.process_time() - start:.2f} s, {complete.events} events; {complete}")
    cut = Watch(complete.longest[1])
    if cut.stop >= 0:
        try:
            run(method, k, files, cut)
        except (Exception, KeyboardInterrupt):
            pass  # a job without a result so far ends with an error
        print(f"{method}: stopped at the event before it: {time.process_time() - cut.stopped:.3f} s to the end, {cut}")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) > 3 else __doc__)
