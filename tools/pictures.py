#!/usr/bin/python3
"""Draws the pictures of docs/concepts.md: docs/pictures/*.svg. SPDX-License-Identifier: BSD-3-Clause

usage: tools/pictures.py

Every picture has its own background and two sets of colours, so that it can be read in light and dark mode.
tests/claims/links.py checks that the files are up to date."""
import math
import pathlib
import random

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "docs" / "pictures"
WIDTH, HEIGHT = 560, 170
# Names of colours: (light, dark). Clusters also differ in shape.
COLOURS = {"paper": ("#ffffff", "#1b1f24"), "ink": ("#1c2024", "#e6e9ec"), "soft": ("#5b6570", "#a3adb8"), "line": ("#c9d1d9", "#444c56"),
           "box": ("#f6f8fa", "#252b32"), "none": ("#8b949e", "#8b949e"), "a": ("#0072b2", "#56a9e0"), "b": ("#d55e00", "#f0853c"),
           "c": ("#00805d", "#3fc79b"), "d": ("#a8518a", "#e08dc0")}


class Picture:
    def __init__(self, title):
        self.title, self.parts = title, []

    def add(self, text):
        self.parts.append(text)

    def text(self, x, y, words, colour="ink", anchor="middle", weight="normal", size=13):
        self.add('<text x="%g" y="%g" class="%s" text-anchor="%s" font-weight="%s" font-size="%g">%s</text>'
                 % (x, y, colour, anchor, weight, size, words.replace("&", "&amp;").replace("<", "&lt;")))

    def box(self, x, y, width, height, colour="box"):
        self.add('<rect x="%g" y="%g" width="%g" height="%g" rx="6" class="%s edge"/>' % (x, y, width, height, colour))

    def line(self, x1, y1, x2, y2, dashed=False, arrow=False, colour="soft"):
        self.add('<line x1="%g" y1="%g" x2="%g" y2="%g" class="stroke-%s"%s%s/>' % (
            x1, y1, x2, y2, colour, ' stroke-dasharray="4 4"' if dashed else "", ' marker-end="url(#arrow)"' if arrow else ""))

    def mark(self, x, y, kind, size=4.5, opacity=1.0):
        """A sample: a circle, square, triangle or diamond by its cluster; grey circles have none."""
        fade = '' if opacity == 1 else ' fill-opacity="%g"' % opacity
        if kind in ("a", "none"):
            self.add('<circle cx="%.1f" cy="%.1f" r="%g" class="%s"%s/>' % (x, y, size, kind, fade))
        else:
            corners = {"b": [(-1, -1), (1, -1), (1, 1), (-1, 1)], "c": [(0, -1.2), (1.2, 1), (-1.2, 1)], "d": [(0, -1.4), (1.4, 0), (0, 1.4), (-1.4, 0)]}
            points = " ".join("%.1f,%.1f" % (x + dx * size * 0.95, y + dy * size * 0.95) for dx, dy in corners[kind])
            self.add('<polygon points="%s" class="%s"%s/>' % (points, kind, fade))

    def panel(self, x, title, width=150, y=34, height=118):
        self.text(x + width / 2, y - 10, title, weight="bold")
        self.box(x, y, width, height)

    def svg(self):
        def rules(which):
            fill = "".join(".%s{fill:%s}.stroke-%s{stroke:%s;stroke-width:1.6}" % (n, c[which], n, c[which]) for n, c in COLOURS.items())
            return fill + ".edge{stroke:%s}" % COLOURS["line"][which]
        return ('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" font-family="sans-serif">\n'
                '<title>%s</title>\n<style>%s@media(prefers-color-scheme:dark){%s}</style>\n'
                '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
                '<path d="M0 0L8 4L0 8z" class="soft"/></marker></defs>\n'
                '<rect x="0.5" y="0.5" width="%g" height="%g" rx="8" class="paper edge"/>\n%s\n</svg>\n'
                % (WIDTH, HEIGHT, WIDTH, HEIGHT, self.title, rules(0), rules(1), WIDTH - 1, HEIGHT - 1, "\n".join(self.parts)))


def group(seed, x, y, count, spread=13):
    """Points around a centre that do not cover each other."""
    draw, found = random.Random(seed), []
    while len(found) < count:
        angle, radius = draw.uniform(0, 2 * math.pi), spread * math.sqrt(draw.uniform(0, 2.2))
        point = x + radius * math.cos(angle), y + radius * math.sin(angle)
        if all(math.dist(point, other) > 9 for other in found):
            found.append(point)
    return found


def data_set():
    p = Picture("A data set is a table: one row per sample, one column per feature")
    p.text(255, 26, "north.csv", weight="bold")
    left, top, wide, high = 120, 38, 90, 24
    cells = [["height", "width", "weight"], ["1.2", "3.1", "0.7"], ["1.0", "2.9", "0.8"], ["5.2", "0.4", "2.6"], ["5.0", "0.5", "2.4"]]
    p.box(left, top, 3 * wide, 5 * high)
    p.add('<rect x="%d" y="%d" width="%d" height="%d" class="a" fill-opacity="0.22"/>' % (left, top + 2 * high, 3 * wide, high))
    p.add('<rect x="%d" y="%d" width="%d" height="%d" class="b" fill-opacity="0.22"/>' % (left + 2 * wide, top, wide, 5 * high))
    for i, row in enumerate(cells):
        for j, cell in enumerate(row):
            p.text(left + (j + 0.5) * wide, top + i * high + 17, cell, weight="normal" if i else "bold")
    p.text(left - 12, top + 2 * high + 17, "sample", "a", "end", "bold")
    p.text(left + 3 * wide + 12, top + 2 * high + 17, "feature", "b", "start", "bold")
    return p


def related():
    p = Picture("Related data sets have similar groups; an unrelated one has not")
    shapes = (("north", 1, ((40, 40), (112, 46), (66, 94)), 9), ("south: related to north", 2, ((48, 36), (116, 54), (60, 90)), 4))
    for at, (name, seed, centres, count) in enumerate(shapes):
        x = 30 + at * 175
        p.panel(x, name)
        for k, (cx, cy) in enumerate(centres):
            for point in group(10 * seed + k, x + cx, 34 + cy, count, 12):
                p.mark(*point, "none")
    p.panel(380, "west: unrelated")
    for i in range(17):
        p.mark(395 + i * 7.5, 50 + 40 * math.sin(i * 0.7) ** 2 + i * 3, "none")
    return p


def relatedness():
    p = Picture("Relatedness is a number from 0 to 1")
    left, right, y = 90, 470, 84
    p.line(left, y, right, y)
    for value in (0, 0.35, 1):
        x = left + value * (right - left)
        p.line(x, y - 6, x, y + 6)
        p.text(x, y + 22, "%g" % value, "soft")
    p.text(left + 0.175 * (right - left), y + 42, "little in common", "soft", size=12)
    p.text(right + 6, y + 42, "as close as its own samples", "soft", "end", size=12)
    for value, name, kind in ((0.83, "north to south: 0.83", "a"), (0.15, "north to west: 0.15", "b")):
        x = left + value * (right - left)
        p.mark(x, y, kind, 6)
        p.text(x, y - 16, name, kind, weight="bold")
    return p


CENTRES = (("a", 42, 40), ("b", 112, 46), ("c", 70, 94))


def cluster():
    p = Picture("Clustering puts similar samples into one cluster")
    for x, title, done in ((90, "samples", False), (320, "clusters 0, 1 and 2", True)):
        p.panel(x, title)
        for k, (kind, cx, cy) in enumerate(CENTRES):
            for point in group(30 + k, x + cx, 34 + cy, 8, 11):
                p.mark(*point, kind if done else "none")
    p.line(250, 93, 308, 93, arrow=True)
    return p


def counterpart():
    p = Picture("Clusters of two data sets that belong together are counterparts and have the same number")
    for x, title, last, seed in ((50, "north", "c", 40), (360, "south", "d", 50)):
        p.panel(x, title)
        for k, (kind, cx, cy) in enumerate(CENTRES):
            for point in group(seed + k, x + cx + (0 if last == "c" or k < 2 else 8), 34 + cy, 6, 10):
                p.mark(*point, last if k == 2 else kind)
    for k, kind in enumerate("ab"):
        p.line(206, 64 + 26 * k, 354, 64 + 26 * k, dashed=True, colour=kind)
        p.text(280, 59 + 26 * k, "%d = %d" % (k, k), kind, weight="bold")
    p.text(280, 126, "north 2 and south 2:", "soft", size=12)
    p.text(280, 142, "no counterpart", "soft", size=12)
    return p


def labels():
    p = Picture("A class is a known group with a name; a cluster is a group that kindred found")
    p.text(150, 26, "known classes", weight="bold")
    p.text(410, 26, "clusters found", weight="bold")
    rows = (("page 1", "course", "0", "a"), ("page 2", "course", "0", "a"), ("page 3", "staff", "1", "b"), ("page 4", "staff", "0", "a"))
    p.box(60, 38, 180, 116)
    p.box(320, 38, 180, 116)
    for i, (name, known, number, kind) in enumerate(rows):
        y = 62 + i * 27
        p.text(76, y, name, "soft", "start")
        p.text(224, y, known, "ink", "end", "bold")
        p.text(336, y, name, "soft", "start")
        p.mark(440, y - 4, kind)
        p.text(484, y, number, "ink", "end", "bold")
    p.line(250, 96, 310, 96, dashed=True)
    p.text(280, 88, "score", "soft", size=12)
    return p


def transfer():
    p = Picture("Transfer labels the samples of the target from the labelled source")
    for x, title, seed, shift, count in ((20, "source: labelled", 60, 0, 7), (205, "target: no labels", 70, 7, 5), (390, "target: predicted", 70, 7, 5)):
        p.panel(x, title)
        for k, (kind, cx, cy) in enumerate((("a", 48, 58), ("b", 108, 60))):
            for point in group(seed + k, x + cx + (shift if k == 0 else -shift), 34 + cy + shift, count, 13):
                p.mark(*point, "none" if "no labels" in title else kind)
    p.line(173, 93, 201, 93, arrow=True)
    p.line(358, 93, 386, 93, arrow=True)
    return p


def bridge():
    p = Picture("A bridge shares features with the source and with the target")
    for x, title, words, kinds in ((20, "source: book reviews", ("great", "author", "plot"), ("ink", "soft", "a")),
                                   (205, "bridge: film reviews", ("great", "plot", "works"), ("ink", "a", "b")),
                                   (390, "target: kitchen ware", ("great", "works", "blade"), ("ink", "b", "soft"))):
        p.panel(x, title)
        for i, (word, kind) in enumerate(zip(words, kinds)):
            p.text(x + 75, 66 + i * 32, word, kind, weight="bold" if kind in "ab" else "normal", size=15)
    p.line(117, 122, 256, 96, dashed=True, colour="a")
    p.line(308, 122, 434, 96, dashed=True, colour="b")
    return p


def confidence():
    p = Picture("Samples near the border of two clusters have a lower confidence")
    p.panel(60, "confidence per sample", 260)
    for k, (kind, cx) in enumerate((("a", 130), ("b", 250))):
        for x, y in group(80 + k, cx, 93, 11, 19):
            p.mark(x, y, kind)
    for x, y, kind, opacity in ((181, 84, "a", 0.4), (196, 106, "b", 0.35), (186, 124, "a", 0.4)):
        p.mark(x, y, kind, opacity=opacity)
    p.line(206, 106, 378, 106, dashed=True)
    p.text(386, 110, "0.55: on the border", "soft", "start")
    p.line(272, 72, 378, 72, dashed=True)
    p.text(386, 76, "0.97: clear", "soft", "start")
    return p


def vote():
    p = Picture("Several methods cluster the same samples; the vote decides")
    rows = (("k-means", "aabbb"), ("normalised cut", "aaabb"), ("shared directions", "aabbb"))
    p.text(190, 28, "samples", "soft", "end", size=12)
    p.box(225 + 2 * 50 - 17, 14, 34, 148)
    for i in range(5):
        p.text(225 + i * 50, 28, str(i + 1), "soft", size=12)
    for j, (name, votes) in enumerate(rows):
        p.text(190, 56 + j * 28, name, "ink", "end")
        for i, kind in enumerate(votes):
            p.mark(225 + i * 50, 52 + j * 28, kind, 6)
    p.line(60, 126, 500, 126)
    p.text(190, 150, "result", "ink", "end", "bold")
    for i, kind in enumerate("aabbb"):
        p.mark(225 + i * 50, 146, kind, 6)
    return p


PICTURES = {"data-set": data_set, "related": related, "relatedness": relatedness, "cluster": cluster, "counterpart": counterpart, "labels": labels,
            "transfer": transfer, "bridge": bridge, "confidence": confidence, "vote": vote}


def drawn():
    """{path: text} of every picture."""
    return {FOLDER / (name + ".svg"): make().svg() for name, make in PICTURES.items()}


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for path, text in drawn().items():
        path.write_text(text, encoding="utf-8")
        print(path.name)
