"""A command reads the folder of videos once, and opens a run for writing once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.support.clips import draw_folder
from tests.support.typed import Terminal
from videoautoarena.memory.store.connection import RunLock
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.api.simulate import resume, simulate
from videoautoarena.runs.run.config.run_request import RunRequest
from videoautoarena.runs.run.rundir.reader import lock_file
from videoautoarena.video.folder import find

SMALL = ("--rounds", "1", "--models", "offline:hawk,offline:mole,offline:parrot")


@pytest.fixture
def clips(tmp_path: Path) -> Path:
    return draw_folder(tmp_path / "clips", 1, seconds=2)


@pytest.fixture
def probed(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each file was really looked into."""
    counts = Counter[str]()
    ask = find.ask

    def counting(want: str, fields: dict[str, Any], **more: Any) -> dict[str, Any]:
        counts[fields["name"]] += 1
        return ask(want, fields, **more)

    monkeypatch.setattr(find, "ask", counting)
    return counts


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The files of runs that were opened for writing."""
    files = list[Path]()
    open_ = Store.open

    def counting(path: Path, *, write: bool, fsync: bool = False) -> Store:
        files.extend([path] if write else [])
        return open_(path, write=write, fsync=fsync)

    monkeypatch.setattr(Store, "open", counting)
    return files


def test_a_plan_that_is_carried_out_reads_each_file_once(
    terminal: Terminal, clips: Path, probed: Counter[str]
) -> None:
    (clips / "broken.mp4").write_bytes(b"no video")
    for _ in ("begun", "continued"):
        probed.clear()
        said = terminal.simulate("--videos", clips, *SMALL, "--plan", "--yes")
        assert said.code == 0
        assert "skipped broken.mp4" in said.err
        assert probed == dict.fromkeys((file.name for file in clips.iterdir()), 1)


def test_a_run_that_goes_on_is_opened_for_writing_once(
    terminal: Terminal, clips: Path, opened: list[Path]
) -> None:
    assert terminal.simulate("--videos", clips, *SMALL).code == 0
    assert opened == []
    assert terminal.simulate("--videos", clips, "--rounds", "2", *SMALL[2:]).code == 0
    assert len(opened) == 1
    assert terminal.arena("resume", "arena-out").code == 0
    assert len(opened) == 2


@pytest.mark.parametrize("how", ["simulate", "resume"])
def test_a_run_that_could_not_go_on_is_free_for_the_next_command(
    terminal: Terminal, clips: Path, tmp_path: Path, how: str
) -> None:
    assert terminal.simulate("--videos", clips, *SMALL).code == 0
    empty = tmp_path / "empty"
    empty.mkdir()
    refused = (
        terminal.simulate("--videos", empty, *SMALL)
        if how == "simulate"
        else terminal.arena("resume", "arena-out", "--videos", empty)
    )
    assert refused.code == 1
    assert "contains no usable video" in refused.err
    assert terminal.arena("resume", "arena-out").code == 0


def test_a_run_that_cannot_be_told_of_is_closed(tmp_path: Path, clips: Path) -> None:
    out = tmp_path / "out"

    def say(line: str) -> None:
        if line.startswith(("starting", "continuing")):
            raise BrokenPipeError

    def begin() -> object:
        return simulate(
            RunRequest(videos=clips, out=out, rounds=1, models=tuple(SMALL[3].split(","))), say=say
        )

    def go_on() -> object:
        return resume(RunRequest(out=out, videos=clips), say=say)

    for command in (begin, begin, go_on):
        # What was raised holds the frames, and with them whatever was left open.
        with pytest.raises(BrokenPipeError) as raised:
            command()
        assert raised.tb
        RunLock(lock_file(out)).release()
