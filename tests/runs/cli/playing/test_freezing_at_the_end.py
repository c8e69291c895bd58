"""`simulate --freeze`: a place that is taken is told in time, and never hides how a run ended."""

from __future__ import annotations

import asyncio
import json
import signal
from pathlib import Path

import pytest

import videoautoarena as va
from tests.support.clips import draw_folder
from tests.support.typed import Terminal
from videoautoarena.runs.api.simulate import OpenRuns
from videoautoarena.runs.run.config.run_request import RunRequest

CAST = "offline:hawk,offline:mole,offline:parrot"


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return draw_folder(tmp_path_factory.mktemp("ground") / "clips", 1, seconds=2)


def test_a_folder_that_holds_something_else_is_refused_before_the_run(
    clips: Path, tmp_path: Path, terminal: Terminal
) -> None:
    out = tmp_path / "out"
    taken = tmp_path / "taken"
    taken.mkdir()
    (taken / "notes.txt").write_text("mine")
    for place in (taken, out):
        words = ("--videos", clips, "--rounds", "1", "--out", out, "--freeze", place)
        refused = terminal.simulate(*words, "--models", CAST)
        assert refused.code == 1
        assert not out.exists()
    with pytest.raises(va.BadInput, match="holds something else"):
        va.simulate(clips, out=out, rounds=1, freeze=taken, quiet=True)


def test_a_run_that_goes_on_is_frozen_too(clips: Path, tmp_path: Path, terminal: Terminal) -> None:
    out = tmp_path / "out"
    words = ("--videos", clips, "--rounds", "1", "--out", out, "--models", CAST)
    assert terminal.simulate(*words).code == 0
    taken = terminal.arena("resume", out, "--freeze", out)
    assert (taken.code, "is the folder of the run" in taken.err) == (1, True)
    done = terminal.arena("resume", out, "--freeze", tmp_path / "bench", "--json")
    assert done.code == 0
    assert json.loads(done.out)["bench"] == str(tmp_path / "bench")
    assert len(va.open_bench(tmp_path / "bench")) > 0


def test_how_a_run_ended_is_told_though_its_set_is_another_one(
    clips: Path, tmp_path: Path, terminal: Terminal
) -> None:
    out = tmp_path / "out"
    words = ("--videos", clips, "--out", out, "--models", CAST, "--freeze", tmp_path / "bench")
    assert terminal.simulate(*words, "--rounds", "1").code == 0
    more = terminal.simulate(*words, "--rounds", "2", "--json")
    assert more.code == 1
    assert "done: 6 battles settled" in more.err
    assert "not frozen: " in more.err
    assert (json.loads(more.out)["settled"], json.loads(more.out)["bench"]) == (6, None)
    with pytest.raises(va.BadInput, match="holds something else"):
        va.simulate(
            clips, out=out, models=CAST.split(","), rounds=2, freeze=tmp_path / "bench", quiet=True
        )


def test_a_run_that_is_cut_off_while_it_is_frozen_was_interrupted(
    clips: Path, tmp_path: Path, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def cut_off(_door: object, request: RunRequest, *_rest: object) -> dict[str, str]:
        assert (request.out / "run.sqlite").is_file()
        for _ in range(2):
            signal.raise_signal(signal.SIGINT)
            await asyncio.sleep(0.05)
        raise AssertionError("nothing has cut it off")

    monkeypatch.setattr(OpenRuns, "freeze", cut_off)
    words = ("--videos", clips, "--out", tmp_path / "out", "--models", CAST, "--rounds", "1")
    ended = terminal.simulate(*words, "--freeze", tmp_path / "bench")
    assert ended.code == 130
    assert "interrupted with 3 of 3 battles settled" in ended.err
