"""A bench of a tagged run says what kind each question is, and can be drawn evenly over that."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.support.played import battle, invoke, play, put_tags, slot, video
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import QuestionCategory
from videoautoarena.runs.bench.format.reader import open_bench

FILM = video()


def tagged(out: Path, named: dict[int, tuple[QuestionCategory, ...]]) -> Path:
    """Lay a run of 12 questions, of which those at some places are of some categories."""
    played = [battle(slot(FILM, k), question=f"Question {k} of {k * k}?") for k in range(12)]
    play(out, played)

    kinds = {(FILM.id, f"Question {k} of {k * k}?"): names for k, names in named.items()}
    put_tags(out, kinds)
    return out


def test_a_draw_over_kinds_of_question_takes_the_rare_ones_first(tmp_path: Path) -> None:
    kinds: dict[int, tuple[QuestionCategory, ...]] = {k: ("advice",) for k in range(9)} | {
        9: ("advice", "code"),
        10: ("code",),
        11: (),
    }
    out = tagged(tmp_path / "run", kinds)
    told = invoke(
        "freeze", out, "--to", tmp_path / "b", "--size", 5, "--by", "question-category", "--json"
    )
    assert told.exit_code == 0, told.output
    items = open_bench(tmp_path / "b").items
    drawn = Counter(tuple(item.question_categories or ()) for item in items)
    assert drawn == {("advice", "code"): 1, ("code",): 1, (): 1, ("advice",): 2}
    counts = json.loads((tmp_path / "b" / "manifest.json").read_text())["counts"]
    assert counts["question_categories"] == {"advice": 3, "code": 2, "none of these": 1}
    assert invoke("bench", "verify", tmp_path / "b").exit_code == 0


def test_a_bench_of_a_run_without_tags_says_nothing_of_kinds(tmp_path: Path) -> None:
    out = tagged(tmp_path / "run", {})
    assert invoke("freeze", out, "--to", tmp_path / "b").exit_code == 0
    assert b"question_categories" not in (tmp_path / "b" / "questions.jsonl").read_bytes()
    assert b"question_categories" not in (tmp_path / "b" / "manifest.json").read_bytes()


def test_a_draw_over_kinds_needs_tags(tmp_path: Path) -> None:
    out = tagged(tmp_path / "run", {})
    told = invoke("freeze", out, "--to", tmp_path / "b", "--size", 5, "--by", "question-category")
    assert isinstance(told.exception, BadInput)
    assert "arena categories tag" in str(told.exception)


def test_an_untagged_question_is_in_an_unknown_part(tmp_path: Path) -> None:
    out = tagged(tmp_path / "run", {0: ("code",)})
    assert invoke("freeze", out, "--to", tmp_path / "b").exit_code == 0
    counts = json.loads((tmp_path / "b" / "manifest.json").read_text())["counts"]
    assert counts["question_categories"] == {"code": 1, "unknown": 11}


def test_parquet_holds_kinds_where_there_are_any(tmp_path: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    for name, kinds in (("with", {0: ("code",)}), ("without", {})):
        out = tagged(tmp_path / name, kinds)
        assert invoke("freeze", out, "--to", tmp_path / f"b-{name}", "--parquet").exit_code == 0
        columns = pq.read_table(tmp_path / f"b-{name}" / "test.parquet").column_names
        assert ("question_categories" in columns) == bool(kinds)


def test_the_card_names_kinds_in_words(tmp_path: Path) -> None:
    out = tagged(tmp_path / "run", {0: ("text_on_screen",)})
    assert invoke("freeze", out, "--to", tmp_path / "b").exit_code == 0
    card = (tmp_path / "b" / "card.md").read_text()
    assert "| text on screen | 1 |" in card
    assert "text\\_on" not in card
