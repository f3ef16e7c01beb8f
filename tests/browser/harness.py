"""What tests of the report in a browser share: Debian's Chromium, driven by Selenium."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys
except ImportError:
    webdriver = ActionChains = Keys = None

KINDRED = os.environ.get("KINDRED", "kindred")
CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
EVIL = ["<img src=x onerror=window.ran=1>", "</script><script>window.ran=2</script>", "'\"><svg onload=window.ran=3>",
        "\u202egnp.exe", "tab\there", "L" * 10000]
WIDTHS = (360, 800, 1600)

# Pieces of text and marks that lie over each other, and what sticks out of the page.
GEOMETRY = """
const wide = document.documentElement.scrollWidth - innerWidth, over = [];
const boxes = [...document.querySelectorAll('h1,h2,h3,p,li,figure,.card,.scroll,fieldset,details,nav a,.legend li')]
  .filter((e) => e.offsetParent !== null && !e.closest('details:not([open]) > :not(summary)') && !e.closest('.tip') && e.textContent.trim() && !e.classList.contains('unseen') && !e.closest('.unseen'))
  .map((e) => [e, e.getBoundingClientRect()]).filter(([, r]) => r.width > 1 && r.height > 1);
for (let i = 0; i < boxes.length; i++) for (let j = i + 1; j < boxes.length; j++) {
  const [a, ra] = boxes[i], [b, rb] = boxes[j];
  if (a.contains(b) || b.contains(a)) continue;
  const x = Math.min(ra.right, rb.right) - Math.max(ra.left, rb.left), y = Math.min(ra.bottom, rb.bottom) - Math.max(ra.top, rb.top);
  if (x > 1.5 && y > 1.5) over.push(a.tagName + ':' + a.textContent.slice(0, 30) + ' / ' + b.tagName + ':' + b.textContent.slice(0, 30));
}
const texts = [...document.querySelectorAll('svg')].flatMap((s) => {
  const t = [...s.querySelectorAll('text')].filter((e) => e.textContent).map((e) => [e, e.getBoundingClientRect()]).slice(0, 200), out = [];
  for (let i = 0; i < t.length; i++) for (let j = i + 1; j < t.length; j++) {
    const ra = t[i][1], rb = t[j][1], x = Math.min(ra.right, rb.right) - Math.max(ra.left, rb.left), y = Math.min(ra.bottom, rb.bottom) - Math.max(ra.top, rb.top);
    if (x > 2 && y > 3) out.push(t[i][0].textContent + ' / ' + t[j][0].textContent);
  }
  return out;
});
return {wide, over: over.slice(0, 5), texts: texts.slice(0, 5)};
"""


def bench(*args):
    """python -m kindred.bench, with the package of the same build."""
    python = pathlib.Path(KINDRED).resolve().parents[1] / "venv" / "bin" / "python"
    subprocess.run([python, "-m", "kindred.bench", *map(str, args)], capture_output=True, check=True)


def run(*args, code=0):
    done = subprocess.run([KINDRED, *map(str, args)], capture_output=True, text=True)
    assert code is None or done.returncode == code, (args, done.stdout, done.stderr)
    return done


class PageTest(unittest.TestCase):
    """A browser, small data sets, and what a person does with the mouse."""
    @classmethod
    def setUpClass(cls):
        cls.dir = pathlib.Path(tempfile.mkdtemp(prefix="kindred-page-"))
        options = webdriver.ChromeOptions()
        options.binary_location = CHROMIUM
        for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        cls.web = webdriver.Chrome(service=Service(DRIVER), options=options)
        cls.data = cls.dir / "data"
        run("generate", "--design", "topics", "--tasks", 3, "-k", 3, "-n", "60,50,40", "--words", 200, "--length", 30, "--seed", 3,
            "-q", "-o", cls.data)
        cls.tasks = [cls.data / f"task{t}.mtx" for t in (1, 2, 3)]

    @classmethod
    def tearDownClass(cls):
        cls.web.quit()
        shutil.rmtree(cls.dir, ignore_errors=True)

    def size(self, width, height=900, media=()):
        self.web.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                 {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
        self.web.execute_cdp_cmd("Emulation.setEmulatedMedia",
                                 {"features": [{"name": name, "value": value} for name, value in media]})

    def open(self, page, width=1200):
        self.size(width)
        self.web.get("file://" + str(page))
        self.assertEqual(self.js("return document.documentElement.dataset.ready"), "1", page)
        self.quiet(page)

    def quiet(self, what):
        self.assertEqual([line["message"] for line in self.web.get_log("browser")], [], what)

    def js(self, script, *args):
        return self.web.execute_script(script, *args)

    def sections(self):
        return self.js("return [...document.querySelectorAll('#page > section')].map((s) => s.id)")

    def check_geometry(self, what):
        for width in WIDTHS:
            self.size(width)
            found = self.js(GEOMETRY)
            self.assertLessEqual(found["wide"], 0, (what, width))
            self.assertEqual((found["over"], found["texts"]), ([], []), (what, width))

    def cluster(self, name, *args):
        out = self.dir / name
        if not out.exists():
            run("cluster", "-k", 3, "--score", "--report", "-q", "-o", out, *args, *self.tasks)
        return out / "report.html"

    def transfer(self, name, *args):
        out = self.dir / name
        command = ["transfer", "--report", "-q", "-o", out, "--source", self.tasks[0], "--labels", self.data / "task1.labels",
                   "--target", self.tasks[1], "--truth", self.data / "task2.labels", *args]
        if not out.exists() and run(*command, code=None).returncode:
            run(*command, "--force", "--bridge", self.tasks[2])
        return out / "report.html"

    def points(self, panel=0):
        """Where the points of a panel are on the screen, from the page's own data."""
        return self.js("""const t = JSON.parse(document.getElementById('data').textContent).tasks[arguments[0]], c = document.querySelectorAll('.panel canvas')[arguments[0]];
          c.scrollIntoView({block: 'center', behavior: 'instant'});
          const r = c.getBoundingClientRect(), s = Math.min(c.clientWidth, c.clientHeight) * 0.94 / 65535;
          return t.embedding.x.map((x, i) => [r.left + r.width / 2 + (x - 65535 / 2) * s, r.top + r.height / 2 - (t.embedding.y[i] - 65535 / 2) * s, t.labels[i]]);""", panel)

    def move(self, x, y, kind="mouseMoved", **more):
        self.web.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": kind, "x": x, "y": y, **more})

    def drag(self, *places):
        """Presses the left button at the first place, moves through the others and releases it."""
        (x, y), *rest = places
        self.move(x, y)
        self.move(x, y, "mousePressed", button="left", clickCount=1)
        for x, y in rest:
            self.move(x, y, button="left", buttons=1)
        self.move(x, y, "mouseReleased", button="left", clickCount=1)

    def frames(self, n=2):
        """Waits until the page has drawn, and for work that it has put off."""
        for _ in range(n):
            self.web.execute_async_script("const done = arguments[0]; requestAnimationFrame(() => setTimeout(done, 0))")

    def text(self, selector):
        return self.js("const e = document.querySelector(arguments[0]); return e && e.textContent", selector)

    def choose(self, selector, value):
        """Chooses an option of a list by its value or its words."""
        self.assertTrue(self.js("""const s = document.querySelector(arguments[0]), o = [...s.options].find((e) => e.value === arguments[1] || e.textContent === arguments[1]);
          if (!o) return false; s.value = o.value; s.dispatchEvent(new Event('change')); return true""", selector, value), (selector, value))


def main():
    if not (webdriver and CHROMIUM and DRIVER):
        print("skipped: no Chromium, its driver or Selenium (Debian: chromium chromium-driver python3-selenium)")
        sys.exit(77)
    unittest.main()
