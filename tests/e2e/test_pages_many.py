"""Thousands of battles in one file: what does not grow with them, and what must not wait."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.browser import NARROW, Browser
from tests.support.page_times import visit
from tests.support.reports import Shown, cursor, first_battle, listed, open_list, report_of
from tests.support.shown_runs import Shape, write_season

pytestmark = pytest.mark.slow
MOST_MB = 18
"""Of memory that the page keeps; it is 11 as a rule, and 20 with 10,000 battles."""


@pytest.fixture(scope="module")
def many(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Shown:
    place = tmp_path_factory.mktemp("many")
    return report_of(write_season(place / "out", Shape(videos=200)), place / "report.html")


def test_the_first_figure_waits_for_no_battle_and_little_is_kept(
    browser: Browser, many: Shown
) -> None:
    with browser.looking() as page:
        took = visit(page, many.file)
        assert took.first_ms < took.ready_ms
        assert took.rows < 60
        assert took.heap_mb < MOST_MB


def test_any_of_thousands_of_rows_is_reached_and_opens(browser: Browser, many: Shown) -> None:
    with browser.looking(NARROW) as page:
        open_list(page, many)
        last = len(many.battles)
        assert listed(page) == last == 2400
        page.evaluate("() => scrollTo(0, document.body.scrollHeight)")
        page.wait(f"() => document.querySelector('[aria-posinset=\"{last}\"]') !== null")
        page.click(f"[aria-posinset='{last}'] a")
        page.see(".answers .answer")
        assert page.hash() == f"#battle={many.battles[-1].id}"
        page.back()
        page.see(f"[aria-posinset='{last}']")
        assert cursor(page) == last


def test_a_search_among_thousands_finds_the_one(browser: Browser, many: Shown) -> None:
    with browser.looking() as page:
        open_list(page, many)
        page.press("/")
        page.wait("() => document.activeElement.id === 'search'")
        page.type(many.battles[1777].id)
        assert listed(page) == 1
        assert first_battle(page) == many.battles[1777].id


def test_of_a_split_report_only_what_is_looked_at_is_loaded(
    browser: Browser, tmp_path: Path
) -> None:
    """Files beside it are loaded from file:// as well."""
    out = write_season(tmp_path / "out", Shape(videos=90, rounds=4))
    shown = report_of(out, tmp_path / "report.html", "--thumbs", 0, "--split")
    with browser.looking() as page:
        page.goto(shown.file, f"#battle={shown.battles[500].id}")
        page.see(".answers .answer")
        open_list(page, shown)
        assert listed(page) == len(shown.battles) == 1080
        loaded = {url.rpartition("/")[2] for url in page.requests() if url.endswith(".js")}
        assert loaded == {"index.js", "videos.js", "part-2.js"}
