#!/usr/bin/env python3
"""Runs ctest and lists, at the end, every test that was skipped or has skipped a part, with the reason.

Usage: tools/tests.py BUILD [OPTION OF CTEST...]. The status is that of ctest. SPDX-License-Identifier: BSD-3-Clause"""
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

# What a test prints: "skipped: REASON", "FILE:LINE: skipped: REASON", or the last line of unittest.
REASON = re.compile(r"^(?:\S+: )?skipped(?: from here on)?: (.*)$|^OK \((?:.*, )?skipped=(\d+)\)$", re.M)


def reasons(case):
    """The different reasons in the output of a test."""
    text = case.findtext("system-out") or ""
    found = dict.fromkeys(why.strip() if why else "%s parts; run it with --verbose" % count for why, count in REASON.findall(text))
    if not found and case.find("skipped") is not None:
        return ["it gives no reason"] if case.get("status") == "notrun" else []
    return list(found)


def main():
    with tempfile.TemporaryDirectory() as folder:
        record = os.path.join(folder, "tests.xml")
        status = subprocess.call(["ctest", "--test-dir", sys.argv[1], "--output-on-failure", "--output-junit", record, "--test-output-size-passed", "1000000", *sys.argv[2:]])
        cases = list(xml.parse(record).iter("testcase")) if os.path.exists(record) else []
    skipped = [(case.get("name"), why) for case in cases for why in reasons(case)]
    if skipped:
        print("\nSkipped, with the reason (make setup-check installs what Debian and Ubuntu have):")
        for name, why in sorted(skipped):
            print("  %s: %s" % (name, why))
    return status


if __name__ == "__main__":
    sys.exit(main())
