"""Every battle of a run can be listed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memory.records import Battle
from tests.support.played import battle, invoke, lineage, play, slot, video


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return play(tmp_path / "out", lineage(video()))


def test_a_line_says_who_beat_whom_in_which_round_over_what(out: Path) -> None:
    first = invoke("battles", out).output.splitlines()[0]
    asked = "What is in the pan in round 0?"
    assert " ".join(first.split()) == f"{video().id}-p1-r0 r0 hawk beat owl {asked}"


def test_the_second_seat_can_win_and_ties_say_of_which_kind(out: Path) -> None:
    _, second, third = invoke("battles", out).output.splitlines()
    assert "mole beat hawk" in second
    assert "hawk and owl tie, both good" in third


@pytest.mark.parametrize(
    ("verdict", "told"),
    [
        ("void", "void: frames changed"),
        ("forfeit_a", "hawk forfeits to owl: frames changed"),
        ("forfeit_b", "owl forfeits to hawk: frames changed"),
        ("split", "hawk and owl split: the seatings disagree"),
    ],
)
def test_a_line_says_why_nobody_won(tmp_path: Path, verdict: str, told: str) -> None:
    undecided = battle(slot(video(), 0), verdict=verdict, reason="frames changed")
    assert told in invoke("battles", play(tmp_path / "out", [undecided])).output


def test_json_lines_hold_everything_a_battle_holds(out: Path) -> None:
    lines = invoke("battles", out, "--jsonl").output.splitlines()
    assert [Battle.model_validate(json.loads(line)) for line in lines] == lineage(video())


def test_the_array_and_the_lines_hold_the_same(out: Path) -> None:
    lines = invoke("battles", out, "--jsonl").output.splitlines()
    assert json.loads(invoke("battles", out, "--json").output) == [json.loads(x) for x in lines]
    assert json.loads(lines[0])["schema"] == 1


def test_no_text_of_a_model_reaches_the_terminal_raw(tmp_path: Path) -> None:
    hostile = battle(slot(video(), 0), question="\x1b[2J\u202emoor\n\udcffx" * 9)
    out = play(tmp_path / "out", [hostile])
    shown = invoke("battles", out).output
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert json.loads(invoke("battles", out, "--jsonl").output)["question"] == hostile.question


def test_a_superseded_battle_is_not_listed(tmp_path: Path) -> None:
    places = [slot(video(), 0), slot(video(), 0, ordinal=1, generation=2)]
    out = play(tmp_path / "out", [battle(place) for place in places], slots=places)
    assert [line.split()[0] for line in invoke("battles", out).output.splitlines()] == [
        places[1].id
    ]


def test_a_run_without_battles_says_so_and_lists_none(tmp_path: Path) -> None:
    out = play(tmp_path / "out", [], slots=[slot(video(), 0)])
    assert invoke("battles", out).output == "no battle is settled yet\n"
    assert invoke("battles", out, "--jsonl").output == ""
    assert json.loads(invoke("battles", out, "--json").output) == []
