"""A run's battles as others publish theirs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.played import (
    battle,
    evolution,
    invoke,
    judging,
    lineage,
    manifest,
    play,
    slot,
    video,
)
from videoautoarena.memory.records.records import DECIDED
from videoautoarena.runs.run.rundir.reader import open_run


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    films = [video(f"clip {k}".encode(), path=f"{k}.mp4") for k in range(4)]
    battles = [one for film in films for one in lineage(film)]
    # Nobody can answer for a video that was lost.
    battles[-1] = battle(slot(films[-1], 2), verdict="void", reason="frames changed")
    return play(tmp_path_factory.mktemp("played") / "out", battles, videos=films)


@pytest.mark.parametrize("form", ["fastchat", "videoautoarena"])
def test_what_is_exported_is_imported_and_rated_as_the_run(
    out: Path, tmp_path: Path, form: str
) -> None:
    there = tmp_path / "there.jsonl"
    lines = tmp_path / "lines.jsonl"
    words = ("export", out, "--what", "battles", "--format", form, "--to", there)
    assert invoke(*words).exit_code == 0
    assert f", {form}" in invoke("import", "battles", there, "--to", lines).stdout
    mine = json.loads(invoke("leaderboard", out, "--json").stdout)
    theirs = json.loads(invoke("rate", lines, "--json").stdout)
    figures = ("model", "rating", "low", "high", "wins", "losses", "ties")
    rated = [row for row in mine["models"] if row["battles"]]
    assert [[r[f] for f in figures] for r in theirs["models"]] == [
        [r[f] for f in figures] for r in rated
    ]


def test_only_decided_battles_are_there(out: Path) -> None:
    with open_run(out) as run:
        decided = [battle.id for battle in run.battles if battle.verdict in DECIDED]
        assert len(decided) < len(run.battles)
    text = invoke("export", out, "--what", "battles", "--format", "videoautoarena").stdout
    assert [json.loads(line)["qid"] for line in text.splitlines()] == decided


def test_calls_have_no_other_form(out: Path) -> None:
    assert invoke("export", out, "--format", "fastchat").exit_code == 2


def exported(out: Path) -> list[dict[str, Any]]:
    """Return the battles of a run as VideoAutoArena's own files have them."""
    text = invoke("export", out, "--what", "battles", "--format", "videoautoarena").stdout
    return [json.loads(line) for line in text.splitlines()]


def test_faults_stand_with_the_battle_in_which_they_were_found(out: Path) -> None:
    first, second, third = exported(out)[:3]
    assert first["Fault List A"] == "- misses the salt"
    assert first["Fault List B"] == "- sees a carrot"
    assert (first["Weakness List A"], first["Weakness List B"]) == ("- small things", "- colour")
    # The refused attempt came first; what was asked is the accepted one's.
    assert first["New Question"] == "When does the salt go in?"
    assert second["evol"]
    assert second["Fault List A"] == "- misses the salt"
    # Nothing is evolved from the last round.
    assert not any("List" in key or key == "New Question" for key in third)


def test_a_question_that_was_refused_is_not_the_next_one(tmp_path: Path) -> None:
    slots = [slot(video(), k) for k in range(2)]
    refused = evolution(slots[0].id, accepted=False).model_copy(
        update={"faults_a": ("two\nlines", "one"), "faults_b": ()}
    )
    fresh = battle(slots[1], origin="fresh", evolution=(refused,))
    first, _ = exported(play(tmp_path / "out", [battle(slots[0]), fresh]))
    assert "New Question" not in first
    assert (first["Fault List A"], first["Fault List B"]) == ("- two lines\n- one", "")


def judged(seats: str, **verdicts: str) -> Any:
    said = {name: f"{name} from {seats}" for name in ("accuracy", "relevance")}
    return judging(seats=seats, verdict="a", standards=verdicts, analyses=said)


def test_each_standard_has_the_words_of_who_read_a_first_and_the_verdict_of_the_panel(
    tmp_path: Path,
) -> None:
    both = (judged("ba", accuracy="b", relevance="a"), judged("ab", accuracy="a", relevance="tie"))
    run = play(tmp_path / "out", [battle(slot(video(), 0), verdicts=both)])
    (one,) = exported(run)
    assert (one["Accuracy"], one["Relevance"]) == ("accuracy from ab", "relevance from ab")
    # The other seating audits.
    assert (one["Accuracy Judge"], one["Relevance Judge"]) == ("A", "Tie")
    assert "Helpfulness" not in one
    assert list(one).index("Accuracy") < list(one).index("Overall Judge")
    every = play(
        tmp_path / "all", [battle(slot(video(), 0), verdicts=both)], settings=manifest(swap="all")
    )
    (one,) = exported(every)
    assert one["Accuracy Judge"] == "Tie"


def test_a_run_whose_judges_gave_no_standards_has_none_there(tmp_path: Path) -> None:
    plain = judging(analyses=None, standards=None)
    (one,) = exported(play(tmp_path / "out", [battle(slot(video(), 0), verdicts=(plain,))]))
    assert not {"Accuracy", "Accuracy Judge"} & set(one)


def test_words_that_swapped_seats_called_by_other_letters_are_left_out(tmp_path: Path) -> None:
    swapped = judged("ba", accuracy="a", relevance="a")
    fought = [battle(slot(video(), 0), verdicts=(swapped,))]
    (one,) = exported(play(tmp_path / "out", fought, settings=manifest(swap="all")))
    assert "Accuracy" not in one
    assert one["Accuracy Judge"] == "A"
