#!/usr/bin/env python3
"""Writes the data sets of the README's example, early.csv and late.csv, from the archive of 20 Newsgroups. SPDX-License-Identifier: BSD-3-Clause

usage: newsgroups.py ARCHIVE [DRAW]

ARCHIVE is 20news-bydate.tar.gz from http://qwone.com/~jason/20Newsgroups. early.csv gets 400 posts of four newsgroups, in random order, and late.csv
40 posts of the following weeks. The columns are the group and the text: the subject and the first 500 characters that are not quoted. Another DRAW (a
number; 0 by default) selects other posts."""
import csv
import random
import sys
import tarfile

GROUPS = ["rec.autos", "rec.sport.baseball", "sci.space", "talk.politics.mideast"]


def posts(archive, part):
    """(group, text) of every post of a part, train or test."""
    with tarfile.open(archive) as tar:
        for member in sorted(tar, key=lambda m: m.name):
            folder, group, *rest = member.name.lstrip("./").split("/")
            if rest and rest[0] and folder.endswith(part) and group in GROUPS:
                yield group, beginning(tar.extractfile(member).read().decode("latin-1"))


def beginning(post):
    """The subject and the first 500 characters that are not quoted."""
    head, _, body = post.partition("\n\n")
    subject = next((line[9:] for line in head.split("\n") if line.startswith("Subject: ")), "")
    own = [line for line in body.split("\n") if not line.lstrip().startswith((">", "|", ":")) and not line.rstrip().endswith("writes:")]
    return f"{subject}\n" + "\n".join(own).strip()[:500]


def main(archive, draw="0"):
    choice = random.Random(int(draw))
    for name, part, count in (("early.csv", "train", 400), ("late.csv", "test", 40)):
        with open(name, "w", encoding="utf-8", newline="") as f:
            csv.writer(f).writerows([("group", "text"), *choice.sample(list(posts(archive, part)), count)])


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(*sys.argv[1:])
