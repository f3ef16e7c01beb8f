"""report: a page of a result, and how it is opened."""
import os
import signal
import unittest

from harness import CliTest


class Report(CliTest):
    def setUp(self):
        super().setUp()
        self.write("result.json", '{"kindred": "0", "command": "cluster", "method": "kmeans", "tasks": []}')
        os.mkdir(self.path("bin"))

    def browser(self, name, code=0):
        """A program that notes what it was asked to open."""
        path = self.write(f"bin/{name}", f'#!/bin/sh\nprintf "%s" "$1" > "{self.dir}/opened.$(basename "$0")"\nexit {code}\n')
        os.chmod(path, 0o755)
        return path

    def open(self, *args, display=":7", browser=None):
        env = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")}
        env["PATH"] = self.path("bin") + ":/usr/bin:/bin" if os.path.isdir("/bin") else self.path("bin")
        env.update({"DISPLAY": display} if display else {})
        env.update({"BROWSER": browser} if browser else {})
        return self.run_kindred("report", "--open", "--force", *args, "result.json", env=env)

    def opened(self, name):
        path = self.path(f"opened.{name}")
        return self.read(path) if os.path.exists(path) else None

    def test_the_default_browser_gets_the_page(self):
        self.browser("xdg-open")
        done = self.open()
        self.assertEqual((self.opened("xdg-open"), done.stderr), ("report.html", ""))
        self.open("-o", "-odd name.html")
        self.assertEqual(self.opened("xdg-open"), "./-odd name.html")
        self.assertTrue(os.path.exists(self.path("-odd name.html")))

    def test_another_where_the_first_fails(self):
        for name, code in (("xdg-open", 3), ("x-www-browser", 0)):
            self.browser(name, code)
        self.assertEqual(self.open().stderr, "")
        self.assertEqual([self.opened(n) for n in ("xdg-open", "x-www-browser")], ["report.html"] * 2)

    def test_a_browser_named_by_the_environment_is_first(self):
        self.browser("xdg-open")
        own = self.browser("mine")
        for display in (":7", None):
            self.assertEqual(self.open(display=display, browser=own).stderr, "")
            self.assertEqual((self.opened("mine"), self.opened("xdg-open")), ("report.html", None))
            os.remove(self.path("opened.mine"))

    def test_one_that_goes_on_running_is_not_waited_for(self):
        path = self.write("bin/slow", f'#!/bin/sh\necho $$ > "{self.dir}/pid"\nsleep 60 && touch "{self.dir}/ended"\n')
        os.chmod(path, 0o755)
        self.open(browser=path)
        self.assertFalse(os.path.exists(self.path("ended")))
        os.kill(int(self.read("pid")), signal.SIGTERM)

    def test_no_browser_is_said_plainly(self):
        self.browser("xdg-open")
        said = self.open(display=None).stderr
        self.assertEqual(len(said.splitlines()), 1, said)
        for piece in ("no browser could be started", "DISPLAY is not set", "open report.html"):
            self.assertIn(piece, said)
        self.assertIsNone(self.opened("xdg-open"))
        for name in ("xdg-open", "x-www-browser", "sensible-browser"):
            self.browser(name, 4)
        self.assertIn("no browser could be started; open report.html", self.open().stderr)
        self.assertTrue(os.path.exists(self.path("report.html")))


if __name__ == "__main__":
    unittest.main()
