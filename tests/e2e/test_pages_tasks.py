"""The page of a task set in a browser: it shows its figures, bars nobody, and asks nobody."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.browser import NARROW, WIDE, Browser
from tests.support.hostile_sets import hostile_set
from tests.support.played import invoke
from tests.support.played_sets import Played, play_set
from tests.support.traps import NAME
from videoautoarena.runs.bench.score.task_score import score_tasks

pytestmark = pytest.mark.slow
LONG = "provider:Qwen2.5-VL-72B-Instruct-with-a-name-that-goes-on-2026-01"


def page_of(folder: Path, to: Path) -> Path:
    done = invoke("report", folder, "--to", to)
    assert done.exit_code == 0, (done.output, done.exception)
    return to


def test_a_page_shows_every_figure_fits_any_window_and_bars_nobody(
    browser: Browser, tmp_path: Path
) -> None:
    played = Played(models=(LONG,), splits=("dev", "test"), frames=(4, 64), needles=24)
    bench = play_set(tmp_path / "set", played)
    file = page_of(bench.folder, tmp_path / "page.html")
    found: dict[str, list[str]] = {}
    with browser.looking(WIDE, bypass_csp=True) as page:
        page.goto(file)
        page.see("main h1")
        told = page.text("main")
        boards = score_tasks(bench).boards
        values = [row.m_avg.value for of in boards for row in of.models if row.m_avg]
        assert [x for x in values if f"{x or 0:.1f}" not in told] == []
        maps = [row for of in boards for row in of.models]
        assert page.count("table.needles") == len(maps)
        known = [row.positions for row in maps if row.positions]
        cells = [cell for one in known for line in (*one.cells, one.by_position) for cell in line]
        assert page.count("table.needles tbody .none") == sum(cell is None for cell in cells)
        assert page.count(".enough-ring") == 2 * len(played.splits)
        assert page.texts(".contents a")[:2] == ["Scores · dev", "By task · dev"]
        for size in (WIDE, NARROW):
            page.resize(size)
            assert page.surplus() <= 0, size
            found[str(size)] = page.violations()
        page.turn("dark")
        found["dark"] = page.violations("color-contrast")
        assert [one for one in page.requests() if not one.startswith(("file:", "about:"))] == []
    assert {state: what for state, what in found.items() if what} == {}


def test_text_that_is_out_to_do_harm_is_shown_and_does_none(
    browser: Browser, tmp_path: Path
) -> None:
    file = page_of(hostile_set(tmp_path / "set").folder, tmp_path / "page.html")
    for size in (WIDE, NARROW):
        with browser.looking(size) as page:
            page.goto(file)
            page.see("main h1")
            assert page.evaluate("() => window.__ran ?? null") is None
            assert page.count("main img, main iframe, main style, main form, main base") == 0
            assert page.surplus() <= 0
            assert NAME.partition("\u202e")[0] in page.text("main")
            assert "<script>window.__ran=1</script>" in page.text("main")
            assert len(page.requests()) <= 2
