#!/usr/bin/python3
"""Makes docs/pictures/report.png, the picture of the report in README.md. SPDX-License-Identifier: BSD-3-Clause

usage: tools/screenshot.py [KINDRED]

Runs `kindred demo` with the program KINDRED (default build/release/cli/kindred), opens the report in Chromium and saves
the map and the beginning of the clusters, at twice the resolution, as a PNG file of at most 256 colours.
Needs chromium, chromium-driver, python3-selenium and python3-numpy. Run it again after a change to the report."""
import base64
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
PICTURE = ROOT / "docs" / "pictures" / "report.png"
WIDTH, SCALE, MOST_BYTES = 1040, 2, 200_000

# From the top of the map to the end of the first list of features of the clusters.
CLIP = """
const map = document.querySelector('.panels').closest('section'), list = document.querySelector('.card ul.features');
return [map.getBoundingClientRect().top + scrollY, list.getBoundingClientRect().bottom + scrollY];
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


def main():
    kindred = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/release/cli/kindred").resolve()
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(flag)
    with tempfile.TemporaryDirectory(prefix="kindred-screenshot-") as folder:
        subprocess.run([kindred, "demo", "-o", "demo"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        web = webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)
        web.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                            {"width": WIDTH, "height": 1200, "deviceScaleFactor": SCALE, "mobile": False})
        web.get("file://%s/demo/result/report.html" % folder)
        top, bottom = web.execute_script(CLIP)
        clip = {"x": 0, "y": top - 12, "width": WIDTH, "height": bottom - top + 20, "scale": 1}
        image = web.execute_cdp_cmd("Page.captureScreenshot", {"format": "png", "clip": clip, "captureBeyondViewport": True})
        web.get("about:blank")  # the report loads no images
        width, height, pixels = web.execute_async_script(PIXELS, image["data"])
        web.quit()
    pixels = np.frombuffer(base64.b64decode(pixels), dtype=np.uint8).reshape(-1, 4)[:, :3]
    image = indexed_png(width, height, pixels)
    if len(image) >= MOST_BYTES:
        sys.exit("the picture has %d bytes, at most %d are allowed" % (len(image), MOST_BYTES))
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_bytes(image)
    print("%s: %d kB" % (PICTURE.relative_to(ROOT), len(image) // 1000))


if __name__ == "__main__":
    main()
