"""A run's battles as others publish theirs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.played import battle, invoke, lineage, play, slot, video
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
