"""The page of a set of dialogues in a browser: it shows its figures, bars nobody, asks nobody."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.browser import NARROW, WIDE, Browser
from tests.support.played import invoke
from tests.support.played_dialogues import OWN, Talked, play_dialogues
from tests.support.traps import NAME, TRAPS
from videoautoarena.runs.bench.dialogues.score import score_dialogues

pytestmark = pytest.mark.slow
LONG = "provider:Qwen2.5-VL-72B-Instruct-with-a-name-that-goes-on-2026-01"
FIRST = ".dialogues > details > summary"
REPLY = ".reply summary"


def page_of(folder: Path, to: Path) -> Path:
    done = invoke("report", folder, "--to", to)
    assert done.exit_code == 0, (done.output, done.exception)
    return to


def test_a_page_shows_every_figure_fits_any_window_and_bars_nobody(
    browser: Browser, tmp_path: Path
) -> None:
    models = (LONG, "openai:thorough", f"openai:thorough{OWN}")
    bench = play_dialogues(tmp_path / "set", Talked(models=models))
    file = page_of(bench.folder, tmp_path / "page.html")
    found: dict[str, list[str]] = {}
    with browser.looking(WIDE, bypass_csp=True) as page:
        page.goto(file)
        page.see("main h1")
        told = page.text("main")
        scores = score_dialogues(bench)
        figures = [row.overall for row in scores.models]
        figures += [one.figure for row in scores.models for one in (*row.abilities, *row.parts)]
        figures += [row.twin.figure for row in scores.models if row.twin]
        values = [one.value for one in figures if one is not None and one.value is not None]
        assert [x for x in values if f"{x:.1f}" not in told] == []
        assert page.count(".scores .constant") == 4
        assert page.texts(".contents a") == [
            "Scores", "By ability", "Turns, length, scenes", "History", "Dialogues", "Methods",
        ]  # fmt: skip
        page.click(FIRST)
        page.see(".turn")
        assert page.count(".turn") == 5
        assert page.count(".checklist .met, .checklist .unmet") > 2 * 5 * 2
        page.click(REPLY)
        assert "I think." in page.text(".dialogues")
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
    hostile = "".join(trap for trap in TRAPS if len(trap) < 400 and "\ud800" not in trap)
    talked = Talked(models=(NAME, f"{NAME}{OWN}", "__proto__"), videos=2, text=hostile, judge=NAME)
    bench = play_dialogues(tmp_path / "set", talked)
    file = page_of(bench.folder, tmp_path / "page.html")
    for size in (WIDE, NARROW):
        with browser.looking(size) as page:
            page.goto(file)
            page.see("main h1")
            page.click(FIRST)
            page.see(".turn")
            page.click(REPLY)
            assert page.evaluate("() => window.__ran ?? null") is None
            assert page.count("main img, main iframe, main style, main form, main base") == 0
            assert page.surplus() <= 0
            assert NAME.partition("\u202e")[0] in page.text("main")
            assert "<script>window.__ran=1</script>" in page.text(".turn")
            assert len(page.requests()) <= 2
