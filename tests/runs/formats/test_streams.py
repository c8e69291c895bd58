"""Streams that nobody reads, that are full or closed: no call is lost, and the exit code tells."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from io import BufferedWriter, TextIOWrapper
from pathlib import Path

import pytest

from tests.support.clips import draw_folder
from tests.support.lives import Life
from tests.support.loopback import serving
from tests.support.manners import Manners
from tests.support.screens import OnTerminal
from tests.support.small_runs import alter
from tests.support.typed import run
from tests.support.whole_runs import (
    battles,
    command,
    committed_keys,
    environment,
    write_config,
)
from videoautoarena.runs.bench.freeze.freeze import freeze
from videoautoarena.runs.console.progress.events import Listeners, nobody
from videoautoarena.runs.console.progress.follow import follow
from videoautoarena.runs.formats.terminal import Chatter, Results, ResultsLost, is_chatter_unread

FULL = "standard output cannot be written: No space left on device; free some space or redirect it"
GONE = "| true; exit ${PIPESTATUS[0]}"
"""A reader that is not there by the time anything is written, and the writer's own exit code."""


@dataclass(frozen=True)
class Ended:
    """How a line of shell ended, and what came out of it."""

    code: int
    out: str
    err: str


def shell(line: list[str], how: str) -> Ended:
    """Type a command into a shell with what stands behind it there."""
    typed = f"{shlex.join(line)} {how}"
    done = subprocess.run(["bash", "-c", typed], env=environment(), capture_output=True, text=True)
    return Ended(done.returncode, done.stdout, done.stderr)


@dataclass(frozen=True)
class Ground:
    """Two clips, the offline cast, and a run of them with a bench that nothing went wrong with."""

    place: Path

    def simulation(self, out: Path, *more: str) -> list[str]:
        config = self.place / "arena.toml"
        fixed = ("--rounds", "1", "--config", config, "--out", out)
        return command("simulate", "--videos", self.place / "videos", *fixed, *more)

    @property
    def out(self) -> Path:
        return self.place / "out"


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Ground:
    ground = Ground(tmp_path_factory.mktemp("ground"))
    draw_folder(ground.place / "videos", 2, seconds=3)
    write_config(ground.place / "arena.toml", "offline")
    run("simulate", *ground.simulation(ground.out)[1:])
    freeze(ground.out, ground.place / "bench")
    return ground


@pytest.mark.slow
def test_a_reader_that_goes_away_costs_no_call(ground: Ground, tmp_path: Path) -> None:
    with serving(tmp_path / "log") as server:
        config = write_config(tmp_path / "remote.toml", "openai", server)
        line = ground.simulation(tmp_path / "out", "--config", str(config))
        ended = shell(line, "2>&1 | head -1; exit ${PIPESTATUS[0]}")
        assert (ended.code, len(ended.out.splitlines())) == (0, 1)
        arrived = {row["key"] for row in server.events("arrived")}
    assert committed_keys(tmp_path / "out") == arrived
    assert battles(tmp_path / "out") == battles(ground.out)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "code", "last"),
    [
        pytest.param("2> /dev/full", 0, "", id="2-full"),
        pytest.param("--json <&- >&- 2>&-", 0, "", id="all-closed"),
        pytest.param("--plan --yes > /dev/full", 1, FULL, id="plan-full"),
    ],
)
def test_a_run_is_played_to_its_end(
    how: str, code: int, last: str, ground: Ground, tmp_path: Path
) -> None:
    ended = shell(ground.simulation(tmp_path / "out"), how)
    assert ended.code == code
    assert last in (ended.err.splitlines() or [""])[-1]
    assert "Traceback" not in ended.err
    assert battles(tmp_path / "out") == battles(ground.out)


@pytest.mark.slow
def test_a_trace_on_a_full_disk_ends_no_run_and_is_told_once(
    ground: Ground, tmp_path: Path
) -> None:
    ended = shell(ground.simulation(tmp_path / "out"), "--trace=/dev/full")
    told = "/dev/full cannot be written (No space left on device): the trace ends here"
    assert ended.err.count("cannot be written") == ended.err.count(told) == 1
    assert ended.code == 1
    assert ended.err.splitlines()[-1].startswith("done: 6 battles settled")
    assert "Traceback" not in ended.err
    assert battles(tmp_path / "out") == battles(ground.out)


def playing(ground: Ground, place: Path) -> dict[str, list[str]]:
    """Return commands that play over a copy of the run or of its bench, by name."""
    for name in ("out", "bench"):
        shutil.copytree(ground.place / name, place / name)
    alter(place / "out", "DELETE FROM battles WHERE id LIKE '%p1%'")
    out = place / "out"
    bench = place / "bench"
    videos = ground.place / "videos"
    return {
        "resume": command("arena", "resume", out),
        "add": command("arena", "add", out, "--model", "offline:parrot", "--battles", "3"),
        "bench": command("arena", "bench", "run", bench, "--videos", videos),
    }


def rows_in(place: Path) -> list[int]:
    """Return how much every SQLite file below a folder holds: of calls, and of battles."""
    counts = []
    for path in sorted(place.rglob("*.sqlite")):
        with closing(sqlite3.connect(path)) as file:
            for table in ("calls", "battles"):
                counts += file.execute(f"SELECT count(*) FROM {table}").fetchone()
    return counts


NOBODY = (f"2>&1 {GONE}", 0)
NO_ROOM = ("> /dev/full 2> /dev/full", 1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "how", "code"),
    [
        ("resume", *NOBODY),
        ("add", *NO_ROOM),
        ("bench", *NOBODY),
    ],
)
def test_every_command_that_plays_plays_on(
    name: str, how: str, code: int, ground: Ground, tmp_path: Path
) -> None:
    line = [*playing(ground, tmp_path)[name], "--json"]
    before = rows_in(tmp_path)
    assert shell(line, how).code == code
    played = rows_in(tmp_path)
    assert played != before
    assert json.loads(run(*map(os.path.basename, line[:1]), *line[1:]))
    assert rows_in(tmp_path) == played


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "how", "code", "err"),
    [
        ("leaderboard", "> /dev/full", 1, f"arena: {FULL}\n"),
        ("battles", GONE, 0, ""),
        ("export", ">&-", 0, ""),
    ],
)
def test_a_reading_command_ends_with_a_line_or_quietly(
    name: str, how: str, code: int, err: str, ground: Ground
) -> None:
    assert shell(command("arena", name, ground.out), how) == Ended(code, "", err)


def test_help_that_finds_no_room_is_one_line() -> None:
    assert shell(command("arena", "--help"), "> /dev/full").err == f"arena: {FULL}\n"


@pytest.mark.slow
def test_a_terminal_that_goes_away_ends_no_run(ground: Ground, tmp_path: Path) -> None:
    with serving(tmp_path / "log") as server:
        config = write_config(tmp_path / "remote.toml", "openai", server)
        line = ground.simulation(tmp_path / "out", "--config", str(config))
        with OnTerminal(line) as terminal:
            terminal.until(lambda: server.events("arrived"))
            terminal.hang_up()
            assert terminal.process.wait(120) == 0
    assert battles(tmp_path / "out") == battles(ground.out)


def unread(kind: Callable[..., Chatter | Results]) -> TextIOWrapper:
    """Return a stream into a pipe that nobody reads."""
    ours, theirs = os.pipe()
    os.close(ours)
    return TextIOWrapper(BufferedWriter(kind(theirs, "w")), write_through=True)


def test_a_run_whose_lines_nobody_reads_is_played_to_the_same_end(
    ground: Ground, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with unread(Chatter) as chatter:
        monkeypatch.setattr(sys, "stderr", chatter)
        run("simulate", *ground.simulation(tmp_path / "out")[1:])
        assert is_chatter_unread()
    assert battles(tmp_path / "out") == battles(ground.out)


def test_what_nobody_reads_is_noticed_once_or_not_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ResultsLost), unread(Results) as results:
        print("a result", file=results)
    with unread(Chatter) as chatter:
        monkeypatch.setattr(sys, "stderr", chatter)
        assert not is_chatter_unread()
        print("a word", file=chatter, flush=True)
        assert is_chatter_unread()


def test_chatter_that_finds_no_room_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    with TextIOWrapper(BufferedWriter(Chatter("/dev/full", "w"))) as chatter:
        monkeypatch.setattr(sys, "stderr", chatter)
        print("a word", file=chatter, flush=True)
        assert not is_chatter_unread()


def test_a_stream_that_is_full_for_a_moment_is_waited_for() -> None:
    ours, theirs = os.pipe()
    os.set_blocking(theirs, False)
    line = [sys.executable, "-c", "import sys; print(len(sys.stdin.read()))"]
    with subprocess.Popen(line, stdin=ours, stdout=subprocess.PIPE) as reader:
        os.close(ours)
        with TextIOWrapper(BufferedWriter(Chatter(theirs, "w"))) as chatter:
            chatter.write("x" * 1_000_000)
        assert reader.communicate()[0] == b"1000000\n"


@pytest.mark.slow
def test_nobody_follows_a_run_for_a_reader_that_is_gone(
    ground: Ground, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(tmp_path / "log", Manners(latency_s=(90, 90))) as server:
        config = write_config(tmp_path / "remote.toml", "openai", server)
        line = ground.simulation(tmp_path / "out", "--config", str(config))
        with Life(line) as life, unread(Chatter) as chatter:
            life.until(lambda: server.events("arrived"))
            print("a word", file=chatter, flush=True)
            monkeypatch.setattr(sys, "stderr", chatter)
            told = Listeners(lambda _line: None, nobody)
            end = asyncio.run(asyncio.wait_for(follow(tmp_path / "out", told), 60))
    assert end.startswith("no longer following: 0 of 6 battles settled; process")
