"""Progress bars for terminals and notebooks. SPDX-License-Identifier: BSD-3-Clause"""
import sys
import time


def _left(event):
    if not event["remaining"] >= 0:  # NaN: unknown
        return ""
    seconds = int(event["remaining"] + .5)
    word = f"{seconds} s" if seconds < 60 else f"{seconds // 60} min {seconds % 60} s" if seconds < 3600 else f"{seconds // 3600} h {seconds % 3600 // 60} min"
    return f"{'at most' if event['at_most'] else 'about'} {word} left"


class Bar:
    """A progress callback that draws: one line that is updated in a terminal, a bar in a notebook, otherwise a new line every few seconds.

    messages: also print the messages of the library, as `kindred -v` does."""

    WIDTH, TERMINAL, ELSEWHERE = 24, 0.1, 5.0  # characters; seconds between two drawings

    def __init__(self, messages=False, stream=None):
        self.messages, self.stream = messages, stream or sys.stderr
        self.drawn, self.shown, self.last = "", None, 0.0
        shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
        self.notebook = stream is None and type(shell).__name__ == "ZMQInteractiveShell"
        self.terminal = not self.notebook and hasattr(self.stream, "isatty") and self.stream.isatty()

    def __call__(self, event):
        if event["kind"] in ("message", "warning"):
            if self.messages and event["kind"] == "message":
                self.clear()
                print(f"kindred: {event['message']}", file=self.stream)
            return False
        now = time.monotonic()
        often = self.TERMINAL if self.terminal or self.notebook else self.ELSEWHERE
        if event["fraction"] >= 0 and now - self.last >= often:  # not NaN
            self.draw(event["counted"] or event["stage"], min(1.0, event["fraction"]), _left(event))
            self.last = now
        return False

    def draw(self, stage, fraction, left):
        if self.notebook:
            self.draw_html(stage, fraction, left)
            return
        full = int(self.WIDTH * fraction)
        line = f"{stage} {100 * fraction:3.0f}% |{'#' * full}{'-' * (self.WIDTH - full)}| {left}".rstrip()
        if self.terminal:
            print("\r" + line.ljust(len(self.drawn)), end="", file=self.stream, flush=True)
            self.drawn = line
        else:
            print(line, file=self.stream, flush=True)

    def draw_html(self, stage, fraction, left):
        from html import escape
        from IPython.display import HTML, display
        page = HTML(f'{escape(stage)} <progress max="1" value="{fraction:.3f}"></progress> {100 * fraction:.0f}% {escape(left)}')
        if self.shown is None:
            self.shown = display(page, display_id=True)
        else:
            self.shown.update(page)

    def clear(self):
        """Removes the drawing."""
        if self.drawn:
            print("\r" + " " * len(self.drawn) + "\r", end="", file=self.stream, flush=True)
            self.drawn = ""
        if self.shown is not None:
            from IPython.display import HTML
            self.shown.update(HTML(""))
            self.shown = None
