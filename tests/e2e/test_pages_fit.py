"""Pages of runs of every size, in both themes, on desk and phone: all fit, none bars anybody."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.browser import NARROW, WIDE, Browser, Page, Theme
from tests.support.reports import Shown, asking, report_of
from tests.support.shown_runs import Shape, write_season

pytestmark = pytest.mark.slow
SHAPES = {
    "two models, one video": Shape(models=2, videos=1),
    "forty models": Shape(models=40, videos=20),
    "a thousand videos": Shape(videos=1000, personas=1, rounds=1),
    "one battle": Shape(most=1),
    "no battle": Shape(most=0),
}
OF_THEMES = ("color-contrast", "link-in-text-block")
"""What axe looks at that a theme can change."""


def pages_of(shown: Shown) -> Iterator[str]:
    """Give the address of every kind of page, and of what a page is like at times."""
    yield from ("#report", "#battles", "#models", "#battle=none", asking(q="none"))
    if shown.ranked:
        yield f"#model={shown.ranked[-1]}"
    rare = [one for one in shown.battles if len(one.verdicts) > 1 or one.verdict == "void"]
    evolved = [one for one in shown.battles if len(one.evolution) > 1]
    for battle in {one.id: one for one in (*shown.battles[:1], *rare[:2], *evolved[:1])}:
        yield f"#battle={battle}"


def stands(page: Page, fragment: str) -> None:
    """Turn an open report to a page and wait until all of it is there."""
    page.evaluate("(hash) => { location.hash = hash; }", fragment)
    page.settle()
    page.see("main")
    page.wait("() => !document.querySelector('.loading')")
    page.settle()


@pytest.fixture(scope="module")
def season(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Shown:
    """A run with long names in which everything happens that can."""
    place = tmp_path_factory.mktemp("season")
    return report_of(write_season(place / "out", Shape(videos=5)), place / "report.html")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_on_any_page_at_a_desk_in_any_theme(
    browser: Browser, season: Shown, theme: Theme
) -> None:
    found: dict[str, list[str]] = {}
    with browser.looking(theme=theme, bypass_csp=True) as page:
        page.goto(season.file)
        for fragment in pages_of(season):
            stands(page, fragment)
            found[fragment] = page.violations(*([] if theme == "light" else OF_THEMES))
        page.press("?")
        found["keys"] = page.violations()
    assert {state: what for state, what in found.items() if what} == {}


def test_axe_finds_nothing_on_a_page_of_each_kind_on_a_phone(
    browser: Browser, season: Shown
) -> None:
    kinds = {fragment.partition("=")[0]: fragment for fragment in pages_of(season)}
    found: dict[str, list[str]] = {}
    with browser.looking(NARROW, bypass_csp=True) as page:
        page.goto(season.file)
        for fragment in kinds.values():
            stands(page, fragment)
            found[fragment] = page.violations()
    assert {state: what for state, what in found.items() if what} == {}


def test_axe_finds_nothing_where_pages_have_pictures(browser: Browser, demo: Shown) -> None:
    with browser.looking(bypass_csp=True) as page:
        page.goto(demo.file)
        for fragment in ("#report", f"#battle={demo.battles[7].id}"):
            stands(page, fragment)
            assert page.violations() == []


def test_axe_finds_nothing_in_the_open_filters_of_a_phone(browser: Browser, season: Shown) -> None:
    with browser.looking(NARROW, "dark", bypass_csp=True) as page:
        page.goto(season.file, asking(model=season.ranked[0], verdict="won"))
        page.click("text=Filters")
        assert page.violations() == []
        assert page.surplus() <= 0


@pytest.mark.parametrize("name", SHAPES)
def test_pages_of_a_run_of_any_size_fit_their_window(
    browser: Browser, tmp_path: Path, name: str
) -> None:
    shown = report_of(write_season(tmp_path / "out", SHAPES[name]), tmp_path / "report.html")
    with browser.looking() as page:
        page.goto(shown.file)
        for fragment in pages_of(shown):
            stands(page, fragment)
            assert len(page.text("main")) > 20, fragment
            for size in (WIDE, NARROW):
                page.resize(size)
                assert page.surplus() <= 0, f"{fragment} at {size[0]}"
