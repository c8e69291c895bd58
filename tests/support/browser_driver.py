"""A browser at the other end of a pipe: `.venv-browser/bin/python browser_driver.py CHROMIUM`.

Playwright lives in an environment of its own, so this file imports nothing of ours. Each line of
standard input is a JSON object that names a page, a method of Playwright's page and its arguments;
each line of output is what came back, or why not. What a page must not do is kept by page: errors
and warnings of its console, breaches of its policy, dialogs, windows, and requests that leave this
machine.
"""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, CDPSession, ConsoleMessage, Error, sync_playwright

ARGUMENTS = (
    *("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"),
    # No name is ever looked up; only addresses of this machine can be reached.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    # Memory that a page used a moment ago is counted exactly, not in steps.
    *("--enable-precise-memory-info", "--js-flags=--expose-gc"),
)
LOCAL = ("file:", "blob:", "data:", "about:", "http://127.0.0.1:")
PATIENCE_MS = 60_000
REPORTS = """
addEventListener('securitypolicyviolation', (event) => {
  console.error(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`);
});
"""


class Watched:
    """A page, and what it did that it must not do."""

    def __init__(self, browser: Browser, options: dict[str, Any]) -> None:
        self._context = browser.new_context(**options)
        self._context.set_default_timeout(PATIENCE_MS)
        self._context.add_init_script(REPORTS)
        self.page = self._context.new_page()
        self._protocol: CDPSession | None = None
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.downloads: dict[str, str] = {}
        self._context.on("page", lambda other: self.complaints.append(f"window: {other.url}"))
        self._context.on("request", lambda request: self._request(request.url))
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        self.page.on("dialog", self._dialog)
        self.page.on("websocket", lambda socket: self._request(socket.url))
        self.page.on("download", self._download)

    def _console(self, message: ConsoleMessage) -> None:
        if message.text.startswith("policy: "):
            self.complaints.append(message.text[:300])
        elif message.type in ("error", "warning"):
            where = message.location["url"].partition("?")[0]
            # A browser asks for that by itself.
            if where.endswith("/favicon.ico"):
                return
            self.complaints.append(f"{message.type}: {message.text[:300]} ({where[-60:]})")

    def _request(self, url: str) -> None:
        self.requests.append(url[:300])
        if not url.startswith(LOCAL):
            self.complaints.append(f"request: {url[:300]}")

    def _dialog(self, dialog: Any) -> None:
        self.complaints.append(f"dialog: {dialog.message[:300]}")
        dialog.dismiss()

    def _download(self, download: Any) -> None:
        data = Path(download.path()).read_bytes()
        self.downloads[download.suggested_filename] = base64.b64encode(data).decode()

    def call(self, name: str, args: list[Any], options: dict[str, Any]) -> Any:
        """Return what a method returns; one of ours, of Playwright's page, or of the protocol."""
        if name in ("complaints", "requests", "downloads"):
            return getattr(self, name)
        if name == "close":
            return self._context.close()
        if name == "protocol":
            self._protocol = self._protocol or self._context.new_cdp_session(self.page)
            return self._protocol.send(*args)
        if name == "cookies":
            return self._context.cookies()
        method: Callable[..., Any] = reduce(getattr, name.split("."), self.page)
        return method(*args, **options)


def say(**reply: Any) -> None:
    """Write a line; of a value that JSON does not know, None."""
    sys.stdout.write(json.dumps(reply, default=lambda _: None) + "\n")
    sys.stdout.flush()


def main(chromium: str) -> None:
    """Do what each line says until there is none."""
    pages: dict[int, Watched] = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=list(ARGUMENTS), headless=True
        )
        say(value=browser.version)
        for line in sys.stdin:
            told = json.loads(line)
            number = told["page"]
            name = told["call"]
            if name == "open":
                pages[number] = Watched(browser, told["options"])
                say(value=None)
                continue
            try:
                say(value=pages[number].call(name, told["args"], told["options"]))
            except Error as error:
                say(error=f"{name}{told['args']}: {error.message}")
            if name == "close":
                del pages[number]
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1])
