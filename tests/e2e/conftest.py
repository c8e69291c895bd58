"""One browser for all tests that open pages, and the reports that several of them look at."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import browser as browsers
from tests.support.browser import Browser
from tests.support.reports import Shown
from tests.support.whole_runs import command, end_well


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A browser; without one the test is skipped, or fails where CI is set."""
    browsers.require()
    found = Browser()
    yield found
    found.close()


@pytest.fixture(scope="session")
def demo(browser: Browser, sample_clips: Path) -> Shown:
    """The run of `make demo`, and its report with pictures, played once for all workers."""
    out = sample_clips.parent / "demo" / "out"
    with out.parent.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (out / "report.html").exists():
            end_well(command("arena", "demo", "--out", out, "--clips", sample_clips, "--quiet"))
    return Shown(out, out / "report.html")
