"""Pages in a real browser, as a test opens them: keys, clicks, what is seen, and pictures."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any, Literal

import pytest

ROOT = Path(__file__).parents[2]
ENVIRONMENT = ROOT / ".venv-browser"
DRIVER = Path(__file__).with_name("browser_driver.py")
CHROMIUMS = ("chromium", "chromium-browser", "google-chrome")
WIDE = (1440, 900)
NARROW = (390, 844)
Theme = Literal["light", "dark"]
SETTLED = """async () => {
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  await frame(); await frame();
  await Promise.all(document.getAnimations().map((one) => one.finished.catch(() => null)));
  await frame();
}"""
"""Becomes true when what was asked for is drawn and has stopped moving."""


AXE = """async (rules) => {
  const only = rules.length ? { runOnly: { type: "rule", values: rules } } : {};
  const found = await axe.run(document, { resultTypes: ["violations"], ...only });
  const why = (node) => node.any[0]?.message ?? node.failureSummary;
  const where = (node) => `${node.target.join(" ")}: ${why(node)}`;
  return found.violations.flatMap((one) =>
    one.nodes.slice(0, 5).map((node) => `${one.impact} ${one.id}: ${where(node)}`));
}"""


class BrowserError(AssertionError):
    """What the browser was asked for did not happen."""


def chromium() -> str | None:
    """Return the browser of this machine."""
    return next(filter(None, map(shutil.which, CHROMIUMS)), None)


def lacking() -> str | None:
    """Return what pages cannot be opened without here."""
    if not (ENVIRONMENT / ".installed").exists():
        return "make slow makes .venv-browser"
    return None if chromium() else f"no browser: none of {', '.join(CHROMIUMS)} is installed"


def require() -> None:
    """Skip the test where pages cannot be opened, or fail it where CI is set."""
    reason = lacking()
    if reason and os.environ.get("CI"):
        pytest.fail(reason)
    if reason:
        pytest.skip(reason)


class Browser:
    """A browser that runs as long as it is needed; pages of it know nothing of one another."""

    def __init__(self) -> None:
        """Start it."""
        line = [ENVIRONMENT / "bin" / "python", DRIVER, chromium()]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(line, stdin=pipe, stdout=pipe, text=True)
        self._numbers = count()
        self.version: str = self._heard()

    def ask(self, page: int, call: str, *args: Any, **options: Any) -> Any:
        """Return what a method of Playwright's page returns, by its dotted name."""
        told = {"page": page, "call": call, "args": args, "options": options}
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(told) + "\n")
        self._process.stdin.flush()
        return self._heard()

    def _heard(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise BrowserError(f"the browser is gone: {self._process.wait()}")
        reply = json.loads(line)
        if "error" in reply:
            raise BrowserError(reply["error"])
        return reply["value"]

    def page(self, size: tuple[int, int] = WIDE, theme: Theme = "light", **options: Any) -> Page:
        """Return a page in a context of its own; options as Playwright names them."""
        width, height = size
        number = next(self._numbers)
        window = {"viewport": {"width": width, "height": height}, "color_scheme": theme}
        self.ask(number, "open", **window, **options)
        return Page(self, number)

    @contextmanager
    def looking(
        self, size: tuple[int, int] = WIDE, theme: Theme = "light", **options: Any
    ) -> Iterator[Page]:
        """Give a page, which must have done nothing that it must not do."""
        page = self.page(size, theme, **options)
        try:
            yield page
            found = page.complaints()
            assert found == [], found
        finally:
            page.close()

    def close(self) -> None:
        """End it."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


class Page:
    """One page; selectors are Playwright's."""

    def __init__(self, browser: Browser, number: int) -> None:
        """Take where it is and which."""
        self._browser = browser
        self._number = number

    def ask(self, call: str, *args: Any, **options: Any) -> Any:
        """Return what a method of Playwright's page returns."""
        return self._browser.ask(self._number, call, *args, **options)

    def goto(self, address: str | Path, fragment: str = "") -> Page:
        """Open an address or a file anew, and wait until it stands still."""
        url = address.as_uri() if isinstance(address, Path) else address
        self.ask("goto", "about:blank")
        self.ask("goto", url + fragment)
        self.settle()
        return self

    def settle(self) -> None:
        """Wait until what was asked for is drawn."""
        self.evaluate(SETTLED)

    def evaluate(self, function: str, argument: Any = None) -> Any:
        """Return what a function in JavaScript returns."""
        return self.ask("evaluate", function, argument)

    def wait(self, function: str, argument: Any = None) -> None:
        """Wait until a function in JavaScript returns something true."""
        self.ask("wait_for_function", function, arg=argument)

    def see(self, selector: str) -> None:
        """Wait until something is there to be seen."""
        self.ask("wait_for_selector", selector)

    def press(self, *keys: str) -> None:
        """Press keys one after another."""
        for key in keys:
            self.ask("keyboard.press", key)
        self.settle()

    def type(self, text: str) -> None:
        """Type a text where the cursor is."""
        self.ask("keyboard.type", text)
        self.settle()

    def click(self, selector: str) -> None:
        """Click the first that fits."""
        self.ask("click", f"{selector} >> nth=0")
        self.settle()

    def back(self) -> None:
        """Go back."""
        self.ask("go_back")
        self.settle()

    def forward(self) -> None:
        """Go forward."""
        self.ask("go_forward")
        self.settle()

    def hash(self) -> str:
        """What stands behind the address."""
        return str(self.evaluate("() => decodeURIComponent(location.hash)"))

    def count(self, selector: str) -> int:
        """How many fit."""
        return int(self.evaluate("(css) => document.querySelectorAll(css).length", selector))

    def text(self, selector: str) -> str:
        """The text of the first that fits."""
        return str(self.ask("text_content", f"{selector} >> nth=0")).strip()

    def texts(self, selector: str) -> list[str]:
        """The texts of all that fit."""
        function = "(css) => [...document.querySelectorAll(css)].map((one) => one.textContent)"
        return [str(text).strip() for text in self.evaluate(function, selector)]

    def violations(self, *rules: str) -> list[str]:
        """What axe-core finds, of any level, by all of its rules or by these alone.

        The page must have been opened with `bypass_csp`.
        """
        if not self.evaluate("() => 'axe' in window"):
            (axe,) = ENVIRONMENT.glob("lib/python*/site-packages/axe_playwright_python/axe.min.js")
            self.ask("add_script_tag", path=str(axe))
        return list(self.evaluate(AXE, rules))

    def turn(self, theme: Theme) -> None:
        """Ask for the other theme, as the system does."""
        self.ask("emulate_media", color_scheme=theme)
        self.settle()

    def resize(self, size: tuple[int, int]) -> None:
        """Give the window another size."""
        self.ask("set_viewport_size", {"width": size[0], "height": size[1]})
        self.settle()

    def surplus(self) -> int:
        """By how many pixels the page is wider than its window."""
        return int(self.evaluate("() => document.documentElement.scrollWidth - innerWidth"))

    def complaints(self) -> list[str]:
        """What the page did that it must not do."""
        return sorted(set(self.ask("complaints")))

    def requests(self) -> list[str]:
        """Every address it asked for."""
        return list(self.ask("requests"))

    def downloads(self) -> dict[str, bytes]:
        """What came down, by name."""
        return {name: base64.b64decode(data) for name, data in self.ask("downloads").items()}

    def shoot(self, to: Path, *, whole: bool = True) -> Path:
        """Write a picture of the page, or of what the window shows of it."""
        to.parent.mkdir(parents=True, exist_ok=True)
        self.ask("screenshot", path=str(to), full_page=whole)
        return to

    def close(self) -> None:
        """Close it and forget all it kept."""
        self.ask("close")
