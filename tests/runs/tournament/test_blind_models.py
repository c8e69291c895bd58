"""Contestants without frames are named as such; referees without frames have to be allowed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.support.clips import draw_folder
from tests.support.small_runs import battles_of, play
from tests.support.typed import Terminal
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.bench.format.schema import CARD
from videoautoarena.runs.bench.freeze.freeze import freeze
from videoautoarena.runs.run.config.run_config import resolve
from videoautoarena.runs.run.config.run_request import RunRequest
from videoautoarena.runs.run.rundir.account import setup_of
from videoautoarena.runs.run.rundir.reader import RUN_FILE, open_run

ROSTER = ("offline:hawk", "offline:mole", "offline:blind")
TOML = """
[models.seer]
model = "offline:judge"
max_frames = 0

[models.asker]
model = "offline:examiner"
limits = { images_per_request = 0 }
"""
MARK = "seer refereed without seeing a frame: words alone were judged"
REFUSED = "add --allow-blind-referee"


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One clip and two runs over it, one of which has a blind judge; no test writes to them."""
    place = tmp_path_factory.mktemp("blind")
    videos = draw_folder(place / "videos", 1, seconds=2)
    play(videos, place / "out", models=ROSTER, rounds=1)
    (place / "arena.toml").write_text(TOML)
    judged = {"judge": ("seer",), "config": place / "arena.toml", "allow_blind_referee": True}
    play(videos, place / "judged", models=ROSTER, rounds=1, **judged)
    return place


@pytest.fixture
def judged(ground: Path, tmp_path: Path) -> Path:
    """The run with a blind judge, as one that was begun before anybody had to allow it."""
    out = Path(shutil.copytree(ground / "judged", tmp_path / "judged"))
    with Store.open(out / RUN_FILE, write=True) as store:
        manifest = store.manifest()
        assert manifest.pop("blind_referee") is True
        store.put_manifest(manifest)
    return out


def test_the_board_names_who_saw_no_frames(ground: Path, terminal: Terminal) -> None:
    rows = json.loads(terminal.arena("leaderboard", ground / "out", "--json").out)["models"]
    told = {row["model"]: "saw no frames" in row["flags"] for row in rows}
    assert told == {"offline:hawk": False, "offline:mole": False, "offline:blind": True}
    sliced = json.loads(
        terminal.arena("leaderboard", ground / "out", "--by", "origin", "--json").out
    )
    rows = [row for part in sliced["slices"] for row in part["models"]]
    assert all("saw no frames" in row["flags"] for row in rows if row["model"] == "offline:blind")


def test_status_audit_and_a_battle_name_who_saw_no_frames(ground: Path, terminal: Terminal) -> None:
    out = ground / "out"
    facts = json.loads(terminal.arena("status", out, "--json").out)["facts"]
    assert [one["model"] for one in facts if one["fact"] == "no-frames"] == ["offline:blind"]
    assert "offline:blind saw no frames" in terminal.arena("status", out).out
    audit = json.loads(terminal.arena("audit", out, "--json").out)["findings"]
    (found,) = [one for one in audit if one["key"].startswith("frames.")]
    assert (found["key"], found["alarm"]) == ("frames.none.offline:blind", False)
    assert found["sentence"].startswith("offline:blind saw no frames: ")
    battle = next(b for b in battles_of(out) if "offline:blind" in (b.model_a, b.model_b))
    assert "saw no frames" in terminal.arena("show", out, battle.id).out


def test_the_card_of_a_bench_names_who_saw_no_frames(ground: Path, tmp_path: Path) -> None:
    freeze(ground / "out", tmp_path / "bench")
    card = " ".join((tmp_path / "bench" / CARD).read_text().replace("\\", "").split())
    assert "offline:blind (saw no frames)" in card
    assert "refereed without" not in card
    shutil.copytree(ground / "out", tmp_path / "out")
    with Store.open(tmp_path / "out" / RUN_FILE, write=True) as store:
        manifest = store.manifest()
        manifest["cast"]["offline:judge"]["max_frames"] = 0
        store.put_manifest(manifest)
    freeze(tmp_path / "out", tmp_path / "other")
    assert (
        "offline:judge refereed without seeing a frame**" in (tmp_path / "other" / CARD).read_text()
    )


@pytest.mark.parametrize("words", [{"judge": ("seer",)}, {"examiner": "asker"}])
def test_a_referee_without_frames_is_refused_unless_allowed(
    tmp_path: Path, words: dict[str, object]
) -> None:
    (tmp_path / "arena.toml").write_text(TOML)
    flags = {"models": ROSTER, "config": tmp_path / "arena.toml", **words}
    with pytest.raises(BadInput) as refusal:
        resolve(RunRequest(**flags))  # type: ignore[arg-type]
    assert "add allow_blind_referee=True" in str(refusal.value)
    assert "\n" not in str(refusal.value)
    allowed = resolve(RunRequest(**flags, allow_blind_referee=True)).config  # type: ignore[arg-type]
    assert allowed.recorded()["blind_referee"] is True
    assert "blind_referee" not in resolve(RunRequest(models=ROSTER)).config.recorded()


def test_a_refused_run_ends_with_code_1_and_leaves_nothing(
    ground: Path, terminal: Terminal
) -> None:
    typed = ("--videos", ground / "videos", "--models", ",".join(ROSTER), "--judge", "seer")
    typed = (*typed, "--config", ground / "arena.toml", "--out", "new")
    for words in (typed, (*typed, "--plan")):
        said = terminal.simulate(*words)
        assert (said.code, said.err.count("\n")) == (1, 1)
        assert REFUSED in said.err
    assert not Path("new").exists()


def test_a_run_that_was_allowed_one_is_marked_wherever_it_is_shown(
    judged: Path, terminal: Terminal
) -> None:
    assert f"note: {MARK}" in terminal.arena("status", judged).out
    board = json.loads(terminal.arena("leaderboard", judged, "--json").out)
    assert MARK in board["settings"]["warnings"]
    assert MARK in json.loads(terminal.arena("audit", judged, "--json").out)["warnings"]
    with open_run(judged) as run:
        assert setup_of(run).blind_referee
    said = terminal.arena("report", judged, "--to", "page.html")
    assert said.code == 0
    assert MARK in Path("page.html").read_text()


def test_a_run_begun_with_one_goes_on_and_is_marked(
    judged: Path, ground: Path, terminal: Terminal
) -> None:
    assert MARK in terminal.arena("status", judged).out
    typed = ("--videos", ground / "videos", "--models", ",".join(ROSTER), "--judge", "seer")
    typed = (*typed, "--config", ground / "arena.toml", "--out", judged, "--rounds", "2")
    said = terminal.simulate(*typed, "--max-void", "1")
    assert said.code == 0, said.err
    assert MARK in said.err
    with Store.open(judged / RUN_FILE, write=False) as store:
        assert store.manifest()["blind_referee"] is True
        assert len(store.settled_ids()) == 6
    assert terminal.arena("resume", judged, "--max-void", "1").code == 0


def test_only_the_run_that_has_one_goes_on_with_it(
    ground: Path, terminal: Terminal, tmp_path: Path
) -> None:
    out = shutil.copytree(ground / "out", tmp_path / "out")
    typed = ("--videos", ground / "videos", "--models", ",".join(ROSTER), "--judge", "seer")
    said = terminal.simulate(*typed, "--config", ground / "arena.toml", "--out", out)
    assert said.code == 1
    assert REFUSED in said.err


def test_a_second_judge_of_a_run_has_to_see_too(
    ground: Path, terminal: Terminal, tmp_path: Path
) -> None:
    typed = ("--judge", "seer", "--config", ground / "arena.toml", "--plan")
    said = terminal.arena("rejudge", ground / "out", *typed)
    assert (said.code, REFUSED in said.err) == (1, True)
    assert terminal.arena("rejudge", ground / "out", *typed, "--allow-blind-referee").code == 0
    out = shutil.copytree(ground / "out", tmp_path / "out")
    said = terminal.arena("rejudge", out, *typed[:-1], "--allow-blind-referee", "--cases", "1")
    assert f"note: {MARK}" in " ".join(said.out.split())
    assert MARK in json.loads(terminal.arena("audit", out, "--json").out)["warnings"]
    # Its own blind judge was allowed when it was begun.
    assert terminal.arena("rejudge", ground / "judged", *typed).code == 0
