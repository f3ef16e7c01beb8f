#!/usr/bin/python3
"""Makes the pictures of the report: docs/pictures/report.png in README.md and explore-*.png in docs/explore.md.
SPDX-License-Identifier: BSD-3-Clause

usage: tools/screenshot.py [KINDRED [NAME...]]

Runs the example of README.md, whose archive is in KINDRED_DATA, and the commands of docs/explore.md with the program KINDRED (default build/release/cli/kindred), opens the reports in
Chromium, does what the page describes and saves parts of them as PNG files of at most 256 colours. With NAMEs only these pictures are made,
such as `explore-select`. Needs chromium, chromium-driver, python3-selenium and python3-numpy. Run it again after a change to the report."""
import base64
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

import numpy as np
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

ROOT = pathlib.Path(__file__).resolve().parents[1]
PICTURES = ROOT / "docs" / "pictures"
WIDTH, MOST_BYTES = 1040, 200_000

ARCHIVE = pathlib.Path(os.environ.get("KINDRED_DATA") or ROOT.parent / "shared" / "data") / "raw" / "20news-bydate-8groups.tar.xz"

# From the maps to the words of the clusters in the first data set, without the tools of the map.
CLIP = """
const panels = document.querySelector('.panels'), section = panels.closest('section'), list = document.querySelector('.card ul.features');
for (const e of section.children) if (e.tagName !== 'H2' && !e.contains(panels)) e.style.display = 'none';
for (const e of panels.parentElement.children) if (e.tagName !== 'H2' && e !== panels) e.style.display = 'none';
return [section.getBoundingClientRect().top + scrollY, list.getBoundingClientRect().bottom + scrollY];
"""
# The pixels of a PNG image, as base64.
PIXELS = """
const [data, done] = arguments, image = new Image();
image.onload = () => {
  const canvas = document.createElement('canvas');
  canvas.width = image.width;
  canvas.height = image.height;
  const context = canvas.getContext('2d');
  context.drawImage(image, 0, 0);
  const reader = new FileReader();
  reader.onload = () => done([image.width, image.height, reader.result.split(',')[1]]);
  reader.readAsDataURL(new Blob([context.getImageData(0, 0, image.width, image.height).data]));
};
image.src = 'data:image/png;base64,' + data;
"""


def indexed_png(width, height, pixels):
    """A PNG file of 256 colours: the most frequent ones of those that differ in the upper 5 bits."""
    colours, inverse, counts = np.unique(pixels, axis=0, return_inverse=True, return_counts=True)
    order, palette, buckets = np.argsort(-counts), [], set()
    for colour in colours[order]:
        bucket = tuple(colour >> 3)
        if bucket not in buckets and len(palette) < 256:
            buckets.add(bucket)
            palette.append(colour)
    palette = np.array(palette, dtype=np.int64)
    nearest = np.array([np.argmin(((palette - colour) ** 2).sum(axis=1)) for colour in colours.astype(np.int64)], dtype=np.uint8)
    rows = nearest[inverse.reshape(-1)].reshape(height, width)
    rows = np.hstack([np.zeros((height, 1), dtype=np.uint8), rows])  # filter 0 in front of each row

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)) +
            chunk(b"PLTE", palette.astype(np.uint8).tobytes()) + chunk(b"IDAT", zlib.compress(rows.tobytes(), 9)) + chunk(b"IEND", b""))


# What is done on the page of docs/explore.md before each picture, and from which element to which it reaches.
CHOOSE = """const choose = (id, words) => { const s = document.getElementById(id); s.value = [...s.options].find((o) => o.textContent === words).value; s.dispatchEvent(new Event('change')); };
const press = (id, words) => [...document.querySelectorAll(`#${id} button`)].find((b) => b.textContent === words).click();
const click = (selector) => document.querySelector(selector).click();
const within = (values) => values.forEach(([key, from, to]) => { const [a, b] = document.querySelectorAll(`.filter[data-key="${key}"] input`); a.value = from; b.value = to; a.dispatchEvent(new Event('change')); });
"""
EXPLORE = {
    "explore-search": ("const s = document.getElementById('search'); s.value = 'task3 \"cluster 1\"'; s.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter'}))", ".search", ".panels"),
    "explore-select": ("click('input[name=shape][value=lasso]')", "#map .tools", ".panels"),
    "explore-selection": ("click('#legend button')", "#selection", "#selection"),
    "explore-compare": ("choose('group-a', 'cluster 1'); choose('group-b', 'cluster 2')", "#compare", "#compare"),
    "explore-colour": ("choose('colour-field', 'number2')", ".switch", ".panels"),
    "explore-filter": ("document.getElementById('filters').open = true; within([['confidence', '0.8', '1'], ['feature:number2', '20000', '25748']])", ".panels", "#filtered"),
}
EXPLORE.update({
    "explore-edit": ("choose('edit-cluster', 'Cluster 1'); const n = document.getElementById('edit-name'); n.value = 'high values'; n.dispatchEvent(new Event('change')); press('edit', 'Rename'); "
                     "choose('edit-cluster', 'Cluster 3'); choose('edit-into', 'Cluster 0'); press('edit', 'Merge')", "#edit", "#edit"),
    "explore-take": ("click('#legend button')", "#take", "#take"),
    "explore-levels": ("const s = document.getElementById('level'); s.value = 1; s.dispatchEvent(new Event('input'))", "#levels", "#levels svg"),
    "explore-label": ("", "#label", "#label"),
    "explore-slides": ("click('#slides-button')", "#slides", "#slides .picture"),
})
OTHER = {"explore-levels": "levels", "explore-label": "labelled"}  # folders of the reports that are not in out
LASSO = [(0.1, 0.55), (0.35, 0.5), (0.55, 0.7), (0.5, 0.95), (0.2, 0.97), (0.06, 0.8)]


def browser():
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(flag)
    return webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)


def save(web, name, top, bottom):
    """The page from `top` to `bottom` as a picture."""
    clip = {"x": 0, "y": top - 12, "width": WIDTH, "height": bottom - top + 20, "scale": 1}
    image = web.execute_cdp_cmd("Page.captureScreenshot", {"format": "png", "clip": clip, "captureBeyondViewport": True})
    web.get("about:blank")  # the report loads no images
    width, height, pixels = web.execute_async_script(PIXELS, image["data"])
    pixels = np.frombuffer(base64.b64decode(pixels), dtype=np.uint8).reshape(-1, 4)[:, :3]
    image = indexed_png(width, height, pixels)
    if len(image) >= MOST_BYTES:
        sys.exit("%s has %d bytes, at most %d are allowed" % (name, len(image), MOST_BYTES))
    PICTURES.mkdir(exist_ok=True)
    (PICTURES / name).with_suffix(".png").write_bytes(image)
    print("%s.png: %d kB" % (name, len(image) // 1000))


def show(web, page, scale):
    web.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": WIDTH, "height": 1200, "deviceScaleFactor": scale, "mobile": False})
    web.get("file://%s" % page)


def draw_lasso(web):
    """With the mouse: the button stays down, so that the line can be seen."""
    web.execute_script("document.querySelector('.panel canvas').scrollIntoView({block: 'center', behavior: 'instant'})")
    left, top, width, height = web.execute_script("const r = document.querySelector('.panel canvas').getBoundingClientRect(); return [r.left, r.top, r.width, r.height]")
    for i, (x, y) in enumerate(LASSO):
        place = {"x": left + x * width, "y": top + y * height}
        if i == 0:
            web.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": "mousePressed", "button": "left", "clickCount": 1, **place})
        web.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": "mouseMoved", "button": "left", "buttons": 1, **place})


def main():
    kindred = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/release/cli/kindred").resolve()
    names = sys.argv[2:] or ["report", *EXPLORE]
    web = browser()
    with tempfile.TemporaryDirectory(prefix="kindred-screenshot-") as folder:
        quiet = {"cwd": folder, "check": True, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        if "report" in names:
            subprocess.run([sys.executable, ROOT / "examples/newsgroups.py", ARCHIVE], **quiet)
            subprocess.run([kindred, "cluster", "-k", "4", "--text-column", "text", "--label-column", "group", "--report", "-q", "-o", "posts", "early.csv", "late.csv"], **quiet)
            show(web, folder + "/posts/report.html", 2)
            save(web, "report", *web.execute_script(CLIP))
        if set(names) & set(EXPLORE):
            subprocess.run([kindred, "generate", "--design", "tables", "--tasks", "3", "-k", "4", "-n", "400", "--seed", "2", "-q", "-o", "customers"], **quiet)
            subprocess.run([kindred, "cluster", "-k", "4", "--report", "-q", "-o", "out"] + ["customers/task%d.csv" % t for t in (1, 2, 3)], **quiet)
        if "explore-levels" in names:
            subprocess.run([kindred, "cluster", "-k", "2-5", "--report", "-q", "-o", "levels", "customers/task1.csv", "customers/task2.csv"], **quiet)
        if "explore-label" in names:
            subprocess.run([kindred, "transfer", "--source", "customers/task1.csv", "--labels", "customers/task1.labels", "--target", "customers/task2.csv", "--ask", "10", "--report", "-q",
                            "-o", "labelled"], **quiet)
        for name in [n for n in EXPLORE if n in names]:
            script, first, last = EXPLORE[name]
            show(web, f"{folder}/{OTHER.get(name, 'out')}/report.html", 1)
            web.execute_script(CHOOSE + script)
            if name == "explore-select":
                draw_lasso(web)
            web.execute_async_script("setTimeout(arguments[0], 800)")
            web.execute_script("document.querySelectorAll('.selectionbar').forEach((e) => e.remove())")
            save(web, name, *web.execute_script("const at = (s) => document.querySelector(s).getBoundingClientRect(); return [at(arguments[0]).top + scrollY, at(arguments[1]).bottom + scrollY]", first, last))
    web.quit()


if __name__ == "__main__":
    main()
