#!/usr/bin/python3
"""Frame times of the report's page while its map is moved. SPDX-License-Identifier: BSD-3-Clause

usage: bench/page_frames.py [--kindred PATH] [--samples N,N,...] [--features N] [--tasks N] [--keep FOLDER]

Writes a result with N samples, two data sets by default and 200 sparse features, makes its page, opens it in headless Chromium without a
GPU and prints, for dragging the map with the mouse in several states (plain, with a selection, coloured by a feature, with a filter): the
median and the 95th percentile of the time between frames, and the processor time that the page's main thread needs for a frame, which does
not depend on other programs. Also prints the size of the page, when its map appears, and how long it takes to
select with a lasso and to find what sets a selection apart. Needs chromium, chromium-driver and python3-selenium."""
import argparse
import base64
import json
import pathlib
import random
import shutil
import subprocess
import tempfile

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

# Moves the map by a few pixels in each of 90 frames.
DRAG = """
const done = arguments[0], c = document.querySelector('.panel canvas'), r = c.getBoundingClientRect(), times = [];
const send = (kind, k) => c.dispatchEvent(new PointerEvent(kind, {pointerId: 1, clientX: r.left + r.width / 2 + 60 * Math.sin(k / 8), clientY: r.top + r.height / 2 + 40 * Math.cos(k / 8), bubbles: true}));
c.setPointerCapture = () => {};
let last = null, k = 0;
send('pointerdown', 0);
const frame = (now) => {
  if (last !== null) times.push(now - last);
  last = now;
  if (times.length === 90) { send('pointerup', k); done(times); return; }
  send('pointermove', ++k);
  requestAnimationFrame(frame);
};
requestAnimationFrame(frame);
"""
# Draws a lasso around the left half of the first panel: milliseconds until the selection is drawn and described.
LASSO = """
const done = arguments[0], c = document.querySelector('.panel canvas'), r = c.getBoundingClientRect(), start = performance.now();
document.querySelector('input[name=shape][value=lasso]').click();
c.setPointerCapture = () => {};
const send = (kind, x, y) => c.dispatchEvent(new PointerEvent(kind, {pointerId: 1, clientX: r.left + x * r.width, clientY: r.top + y * r.height, bubbles: true}));
send('pointerdown', 0.02, 0.02);
for (const [x, y] of [[0.5, 0.02], [0.5, 0.98], [0.02, 0.98], [0.02, 0.04]]) send('pointermove', x, y);
send('pointerup', 0.02, 0.04);
document.querySelector('input[name=shape][value=move]').click();
requestAnimationFrame(() => requestAnimationFrame(() => {
  const drawn = performance.now() - start;
  const wait = () => document.querySelector('#selected .features') ? done([drawn, performance.now() - start]) : setTimeout(wait, 5);
  wait();
}));
"""


def write_result(path, n, tasks, features):
    rng = random.Random(n)

    def values(f, labels):
        pairs, gap = bytearray(), 0
        for c in labels:
            if gap < 255 and rng.random() > (0.4 if c == f % 12 else 0.04):
                gap += 1
            else:
                pairs += bytes((gap, rng.randrange(1, 255)))
                gap = 0
        return {"name": f"feature {f}", "low": 0, "high": 9, "fill": 0, "codes": base64.b64encode(pairs).decode()}

    def task(t):
        labels = [rng.randrange(12) for _ in range(n // tasks)]
        return {"name": f"set{t}", "n": len(labels), "d": 5000, "k": 12, "labels": labels, "confidence": [round(rng.random(), 3) for _ in labels],
                "ids": [f"sample-{t}-{i:06}" for i in range(len(labels))],
                "embedding": {"x": [min(65535, max(0, int(rng.gauss(5000 * (c + 1), 2500)))) for c in labels], "y": [min(65535, max(0, int(rng.gauss(32000, 9000)))) for _ in labels]},
                "values": [values(f, labels) for f in range(features)]}
    path.write_text(json.dumps({"kindred": "0", "command": "cluster", "method": "kmeans", "tasks": [task(t) for t in range(tasks)]}))


def processor_time(web):
    """Milliseconds of the main thread so far."""
    return 1000 * next(m["value"] for m in web.execute_cdp_cmd("Performance.getMetrics", {})["metrics"] if m["name"] == "TaskDuration")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kindred", default="build/release/cli/kindred")
    parser.add_argument("--samples", default="20000,200000")
    parser.add_argument("--features", type=int, default=200)
    parser.add_argument("--tasks", type=int, default=2)
    parser.add_argument("--keep", help="folder for the pages (default: they are removed)")
    args = parser.parse_args()
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--window-size=1400,1000"):
        options.add_argument(flag)
    web = webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)
    web.set_script_timeout(120)
    web.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
    print("| samples | page | map appears | state | frame, median | frame, 95 % | processor time per frame |\n|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="kindred-frames-") as temporary:
        folder = pathlib.Path(args.keep or temporary)
        for n in map(int, args.samples.split(",")):
            result, page = folder / f"frames{n}.json", folder / f"frames{n}.html"
            write_result(result, n, args.tasks, args.features)
            subprocess.run([args.kindred, "report", "-q", "--force", "-o", page, result], check=True)
            web.get("file://" + str(page.resolve()))
            web.execute_script("document.querySelector('.panel canvas').scrollIntoView({block: 'center', behavior: 'instant'})")
            seen = web.execute_script("return performance.getEntriesByName('map')[0].startTime")
            states = [("plain", ""), ("coloured by a feature", "const s = document.getElementById('colour-field'); s.selectedIndex = 3; s.dispatchEvent(new Event('change'))"),
                      ("a cluster selected", "document.querySelector('input[name=mode]').click(); document.querySelector('#legend button').click()"),
                      ("a filter", "const b = document.querySelector('.filter input'); b.value = '0.5'; b.dispatchEvent(new Event('change'))")]
            for state, script in states:
                web.execute_script(script)
                web.execute_async_script("setTimeout(arguments[0], 1500)")
                before = processor_time(web)
                times = sorted(web.execute_async_script(DRAG))
                used = (processor_time(web) - before) / len(times)
                print(f"| {n:,} | {page.stat().st_size / 1e6:.1f} MB | {seen:.0f} ms | {state} | {times[45]:.1f} ms | {times[85]:.1f} ms | {used:.1f} ms |", flush=True)
            web.execute_script("[...document.querySelectorAll('#filters button')].find((b) => b.textContent === 'Remove all filters').click(); [...document.querySelectorAll('.selectionbar button')].pop().click()")
            web.execute_async_script("setTimeout(arguments[0], 500)")
            drawn, described = web.execute_async_script(LASSO)
            print(f"{n:,} samples: a lasso is drawn after {drawn:.0f} ms, and what sets the selection apart is shown after {described:.0f} ms", flush=True)
    web.quit()


if __name__ == "__main__":
    main()
