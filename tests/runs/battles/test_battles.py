"""Every battle of a run can be listed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.played import battle, invoke, lineage, manifest, play, slot, video
from videoautoarena.memory.records.records import Battle
from videoautoarena.runs.text.tables import cells


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return play(tmp_path / "out", lineage(video()))


def test_a_line_says_who_beat_whom_in_which_round_over_what(out: Path) -> None:
    first = invoke("battles", out, width=120).output.splitlines()[0]
    asked = "What is in the pan in round 0?"
    assert " ".join(first.split()) == f"{video().id}-p1-r0 clip.mp4 12.5 s hawk beat owl {asked}"


def test_a_list_is_as_wide_as_the_terminal_and_names_the_file_without_its_folders(
    tmp_path: Path,
) -> None:
    films = [video(b"1", path="far/away/" + "名前" * 20 + ".mp4"), video(b"2", duration_s=4000.0)]
    talk = {"question": "What is this and that? " * 9, "model_a": "openai:gpt-4o"}
    battles = [battle(slot(film, k), **talk) for film in films for k in range(2)]
    battles.append(battle(slot(films[1], 2), verdict="void", reason="nobody knows why " * 9))
    settings = manifest(models=["openai:gpt-4o", "owl"])
    out = play(tmp_path / "out", battles, videos=films, settings=settings)
    for width in (72, 80, 133):
        lines = invoke("battles", out, width=width).output.splitlines()
        assert max(map(cells, lines)) == width
        assert all("away" not in line and "gpt-4o beat owl" in line for line in lines[:4])
        assert "clip.mp4" in lines[2]
        assert "1:06:40" in lines[2]


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
        ("split", "hawk and owl split: the two orders disagree"),
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
