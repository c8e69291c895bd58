"""Pages of runs of every size, in both themes, on desk and phone: all fit, none bars anybody."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.browser import NARROW, WIDE, Browser, Page
from tests.support.reports import Shown, asking, report_of
from tests.support.shown_runs import Shape, write_season

pytestmark = pytest.mark.slow
SHAPES = {
    "two models": Shape(models=2, videos=12),
    "forty models": Shape(models=40, videos=40),
    "one video": Shape(videos=1),
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


def stands(page: Page, shown: Shown, fragment: str) -> None:
    """Open a page and wait until all of it is there."""
    page.goto(shown.file, fragment)
    page.see("main")
    page.wait("() => !document.querySelector('.loading')")
    page.settle()


@pytest.fixture(scope="module")
def season(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Shown:
    """A run with long names in which everything happens that can."""
    place = tmp_path_factory.mktemp("season")
    return report_of(write_season(place / "out", Shape()), place / "report.html")


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["desk", "phone"])
def test_axe_finds_nothing_on_any_page_in_any_theme(
    browser: Browser, season: Shown, demo: Shown, size: tuple[int, int]
) -> None:
    found: dict[str, list[str]] = {}
    with browser.looking(size, bypass_csp=True) as page:
        states = [(season, fragment) for fragment in pages_of(season)]
        states += [(demo, "#report"), (demo, f"#battle={demo.battles[7].id}")]
        for shown, fragment in states:
            stands(page, shown, fragment)
            found[f"{fragment}, light"] = page.violations()
            page.turn("dark")
            found[f"{fragment}, dark"] = page.violations(*OF_THEMES)
            page.turn("light")
        page.press("?")
        found["keys"] = page.violations()
    assert {state: what for state, what in found.items() if what} == {}


def test_axe_finds_nothing_in_the_open_filters_of_a_phone(browser: Browser, season: Shown) -> None:
    with browser.looking(NARROW, "dark", bypass_csp=True) as page:
        stands(page, season, asking(model=season.ranked[0], verdict="won"))
        page.click("text=Filters")
        assert page.violations() == []
        assert page.surplus() <= 0


@pytest.mark.parametrize("name", SHAPES)
def test_pages_of_a_run_of_any_size_fit_their_window(
    browser: Browser, tmp_path: Path, name: str
) -> None:
    shown = report_of(write_season(tmp_path / "out", SHAPES[name]), tmp_path / "report.html")
    wide: list[str] = []
    with browser.looking() as page:
        for fragment in pages_of(shown):
            stands(page, shown, fragment)
            for width, height in (WIDE, NARROW):
                page.ask("set_viewport_size", {"width": width, "height": height})
                page.settle()
                assert page.surplus() <= 0, f"{fragment} at {width}"
                assert len(page.text("main")) > 20, fragment
    assert wide == []
