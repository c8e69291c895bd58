"""Text that is out to do harm stands in every field of a run, and is no more than text."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pytest

from tests.support.browser import NARROW, WIDE, Browser, Page
from tests.support.reports import Shown, report_of
from tests.support.traps import NAME, TRAPS, write_hostile

pytestmark = pytest.mark.slow
PAGES = ("#report", "#battles", "#models", f"#model={quote(NAME)}", "#model=__proto__")
ADDRESSES = (
    "#battle=<img src=x onerror=window.__ran=30>",
    "#battles?q=<script>&video=%00&model=__proto__&round=constructor",
    "#battles?sort=constructor&verdict=hasOwnProperty&seats=__proto__",
    "#model=%E0%A4%A",
    "#model=constructor",
    "#report/constructor",
    "#report/<img src=x onerror=window.__ran=31>",
    f"#model={quote('<script>window.__ran=32</script>' * 300)}",
)
LIVE = ("a[href^='javascript:']", "a[href^='data:']", "a[href^='http']", "main form", "base")
LIVE += tuple(f"main {tag}" for tag in ("script", "iframe", "style", "img", "object", "link"))


@pytest.fixture(scope="module")
def hostile(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Shown:
    place = tmp_path_factory.mktemp("hostile")
    return report_of(write_hostile(place), place / "report.html")


def is_harmless(page: Page, where: str) -> None:
    """Fail where anything ran, came alive or stands out of the window at any size."""
    assert page.evaluate("() => window.__ran ?? null") is None, where
    assert page.evaluate("() => Object.prototype.polluted ?? null") is None, where
    for selector in LIVE:
        assert page.count(selector) == 0, f"{where}: {selector}"
    for size in (NARROW, WIDE):
        page.resize(size)
        assert page.surplus() <= 0, f"{where} at {size[0]}"


@pytest.mark.parametrize("fragment", [*PAGES, *ADDRESSES])
def test_pages_show_hostile_text_and_do_nothing_of_it(
    browser: Browser, hostile: Shown, fragment: str
) -> None:
    with browser.looking() as page:
        page.goto(hostile.file, fragment)
        page.see("main")
        is_harmless(page, fragment)
        assert set(page.requests()) <= {"about:blank", page.requests()[0]}


def test_battles_show_hostile_text_and_do_nothing_of_it(browser: Browser, hostile: Shown) -> None:
    assert len(hostile.battles) >= len(TRAPS)
    with browser.looking() as page:
        page.goto(hostile.file, "#battles")
        for battle in hostile.battles:
            page.evaluate("(id) => { location.hash = `#battle=${id}`; }", battle.id)
            page.see(f".crumbs code:text-is('{battle.id}')")
            page.see(".answers .answer >> nth=1")
            is_harmless(page, battle.id)


def test_the_text_of_traps_stands_in_the_page_as_it_was_written(
    browser: Browser, hostile: Shown
) -> None:
    with browser.looking() as page:
        for trap in ("<script>window.__ran=1</script>", "]]>", "<style>*{display:none}</style>"):
            page.goto(hostile.file, f"#battle={hostile.battles[TRAPS.index(trap)].id}")
            page.see(".answers")
            assert trap in page.text("h1.question")
            assert trap in page.text(".answer-a")
            assert trap in page.text(".persona")
        page.goto(hostile.file, f"#battle={hostile.battles[6].id}")
        assert "U+202E" in page.text("h1.question")
        assert "\u202e" not in page.text("main")


def test_nobody_is_asked_for_anything_on_the_way_to_a_link(
    browser: Browser, hostile: Shown
) -> None:
    """An address that a model wrote is shown; a click on it leads nowhere."""
    with browser.looking() as page:
        for trap in (TRAPS[2], TRAPS[9], TRAPS[20]):
            id_ = hostile.battles[TRAPS.index(trap)].id
            page.goto(hostile.file, f"#battle={id_}")
            page.see(".answers")
            for place in range(page.count(".answer-a .md *")):
                page.ask("click", f".answer-a .md * >> nth={place}", force=True)
            assert page.hash() == f"#battle={id_}"
            is_harmless(page, trap)


def test_the_report_says_no_path_of_this_machine(hostile: Shown, tmp_path: Path) -> None:
    text = hostile.file.read_text()
    assert str(hostile.out.parent) not in text
    assert "models.example" not in text
