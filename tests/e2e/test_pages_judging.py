"""What a report says of the judge is what was decided before it was drawn."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.runs.analysis.audit.test_audit import biased
from tests.support.browser import Browser
from tests.support.played import invoke, play, video
from tests.support.reports import report_of

pytestmark = pytest.mark.slow
CHECKS = """() => Object.fromEntries([...document.querySelectorAll('#judge .check-row[role=row]')]
  .map((row) => [row.querySelector('.of-words').textContent.trim(),
    row.querySelector('.of-value small').textContent.trim()]))"""


def split_by_order(out: Path, times: int) -> Path:
    """Play battles whose judge takes what it reads first, each on a video of its own."""
    return play(out, biased(times), videos=[video(bytes([k])) for k in range(times)])


@pytest.mark.parametrize("times", [30, 4])
def test_a_check_is_an_alarm_or_on_too_few_cases_where_the_audit_says_so(
    browser: Browser, tmp_path: Path, times: int
) -> None:
    out = split_by_order(tmp_path / "out", times)
    shown = report_of(out, tmp_path / "report.html")
    found = json.loads(invoke("audit", out, "--json").stdout)["findings"]
    decided = {
        one["sentence"]: "alarm" if one["alarm"] else "too few to tell" * one["too_few"]
        for one in found
        if one["value"] is not None
    }
    with browser.looking() as page:
        page.goto(shown.file)
        page.see("#judge")
        assert page.evaluate(CHECKS) == decided
        assert page.complaints() == []
    for sentence, doubt in decided.items():
        assert sentence.endswith("Too few to tell.") == (doubt == "too few to tell")


def test_the_alarm_that_stands_first_under_a_board_is_at_the_top_of_its_report(
    browser: Browser, tmp_path: Path
) -> None:
    out = split_by_order(tmp_path / "out", 30)
    shown = report_of(out, tmp_path / "report.html")
    board = " ".join(invoke("leaderboard", out).stdout.split())
    with browser.looking() as page:
        page.goto(shown.file)
        said = page.text(".banner p >> nth=0").replace("\xa0", " ")
        others = page.text(".banner a")
        assert said.startswith("AUDIT ALARM: ")
        assert said.removesuffix(others).strip() in board
        assert others in board
        page.click(".banner a")
        assert page.hash() == "#report/judge"
        assert page.complaints() == []
