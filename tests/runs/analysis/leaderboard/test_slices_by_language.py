"""A board by language: told where nobody says it, and never read before its audit."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from tests.support.played import lineage, play, video
from videoautoarena.runs.analysis.leaderboard.board import slices_of
from videoautoarena.runs.views.results.forms import ReportView, marked_up
from videoautoarena.runs.views.results.slices import slices_report

ASKED = {
    "en": "How often does the cook lift the lid before she puts salt into the soup?",
    "de": "Wie oft hebt die Köchin den Deckel, bevor sie Salz in die Suppe gibt?",
    "?": "Why?",
}


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that nobody drew a language for: two it can be told of, and one of a word."""
    texts = {"answer_a": "It is lifted twice.", "answer_b": "Twice."}
    films = [video(b"film %d" % k, path=f"{k}.mp4") for k in range(len(ASKED))]
    played = [
        battle.model_copy(update={"question": question, **texts})
        for film, question in zip(films, ASKED.values(), strict=True)
        for battle in lineage(film)
    ]
    return play(tmp_path_factory.mktemp("told") / "out", played, videos=films)


def shown(out: Path) -> str:
    console = Console(file=StringIO(), width=100)
    console.print(ReportView(slices_report(slices_of(out, "language"))))
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def test_the_language_of_a_question_is_told_where_none_was_drawn(out: Path) -> None:
    assert [part.name for part in slices_of(out, "language").parts] == ["de", "en", "unknown"]


def test_the_judge_in_each_language_is_printed_before_the_board(out: Path) -> None:
    lines = shown(out).splitlines()
    assert lines[0].startswith("First, the judge in each language")
    board = next(k for k, line in enumerate(lines) if line.startswith("by language"))
    told = "\n".join(lines[:board])
    assert "In German (de), the answer read first won" in told
    assert "In English (en), the longer answer won" in told
    assert not any("In German" in line for line in lines[board:])


def test_json_holds_the_audit_before_the_slices(out: Path) -> None:
    found = slices_of(out, "language").to_json()
    assert list(found) == ["schema", "by", "audit", "slices"]
    assert found["audit"][0]["key"].startswith("language.")
    assert list(slices_of(out, "round").to_json()) == ["schema", "by", "slices", "audit"]
    json.dumps(found, allow_nan=False)


def test_so_it_is_where_the_board_is_pasted(out: Path) -> None:
    sliced = slices_of(out, "language")
    for form, table in (
        ("markdown", "| by language |"),
        ("latex", r"\toprule"),
        ("html", "<table>"),
    ):
        pasted = marked_up(slices_report(sliced), form)
        assert 0 <= pasted.index("First, the judge in each language") < pasted.index(table)
    assert "<p>- In German (de), the answer read first" in pasted


def test_a_run_in_one_language_says_that_there_is_nothing_to_compare(tmp_path: Path) -> None:
    one = [b.model_copy(update={"language": "en"}) for b in lineage(video())]
    out = play(tmp_path / "out", one)
    assert shown(out).startswith("Nothing is known of the judge by language")
