"""A server that is gone: the run waits for it, then stops with nothing void, and goes on."""

from __future__ import annotations

import json
import shutil
import socket
import threading
import time
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import click
import pytest

from tests.support.clips import draw_folder
from tests.support.loopback import Loopback, serving
from tests.support.small_runs import battles_of, play, play_again
from tests.support.typed import Terminal
from tests.support.whole_runs import KEY, ROSTER, battles, write_config
from videoautoarena.agents.limits import outages
from videoautoarena.runs.api.simulate import Finished
from videoautoarena.runs.cli.program import options
from videoautoarena.runs.cli.program.ending import ending


class Ground:
    """One clip, two rounds, and a port where a server is, or is not."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.port = free_port()
        self.clips = draw_folder(place / "clips", 1, seconds=2)
        self.config = place / "arena.toml"
        with self.served() as server:
            write_config(self.config, "openai", server)
        self.typed: dict[str, Any] = {"config": self.config, "models": ROSTER, "judge": ("judge",)}
        self.typed |= {"examiner": "examiner"}

    def served(self) -> AbstractContextManager[Loopback]:
        number = len(list(self.place.glob("log*")))
        return serving(self.place / f"log{number}", port=self.port)

    def play(
        self, out: str, *, said: list[str] | None = None, **flags: Any
    ) -> tuple[Finished, list[str]]:
        said = [] if said is None else said
        found = play(self.clips, self.place / out, said=said, **{**self.typed, **flags})
        return found, said


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOPBACK_KEY", KEY)


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Ground:
    """A ground with a run that nothing disturbed."""
    ground = Ground(tmp_path_factory.mktemp("ground"))
    with pytest.MonkeyPatch.context() as env, ground.served():
        env.setenv("LOOPBACK_KEY", KEY)
        ground.play("calm")
    return ground


@pytest.mark.slow
def test_a_run_whose_server_is_gone_stops_with_exit_code_five_and_goes_on(
    ground: Ground, capsys: pytest.CaptureFixture[str]
) -> None:
    address = f"127.0.0.1:{ground.port}"
    gone, said = ground.play("run", patience=0.0)
    assert gone.gone is not None
    assert (gone.gone.address, gone.settled, gone.voids, gone.interrupted) == (address, 0, 0, False)
    assert any(f"for {address}: it cannot be reached" in line for line in said)
    assert any(line.startswith(f"{address} could not be reached for ") for line in said)
    command = click.command()(options.AS_JSON(lambda: ending(gone, ground.place / "run")))
    assert command.main(["--json"], standalone_mode=False) == 5
    told = capsys.readouterr()
    assert json.loads(told.out)["gone"] == address
    assert "nothing is lost" in told.err
    assert f"because {address} could not be reached (ConnectionRefusedError: " in told.err
    with ground.served():
        done, said = ground.play("run")
    assert (done.settled, done.gone, ending(done, ground.place / "run")) == (
        done.total,
        None,
        0,
    )
    assert battles(ground.place / "run") == battles(ground.place / "calm")
    assert play_again(ground.place / "run").differences == []


def test_a_server_that_comes_late_costs_no_battle(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outages, "FIRST_GAP_S", 0.05)
    late = threading.Event()
    lines = list[str]()

    def come() -> None:
        while not any("cannot be reached" in line for line in lines) and not late.is_set():
            time.sleep(0.01)
        with ground.served():
            late.wait()

    server = threading.Thread(target=come)
    server.start()
    try:
        found, said = ground.play("late", said=lines)
    finally:
        late.set()
        server.join()
    assert (found.settled, found.voids, found.gone) == (found.total, 0, None)
    assert [line for line in said if " is back after " in line]


def test_every_command_that_calls_models_stops_so(
    ground: Ground, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    terminal = Terminal(capsys)
    run = Path(shutil.copytree(ground.place / "calm", tmp_path / "run"))
    bench = tmp_path / "bench"
    assert terminal.arena("freeze", run, "--to", bench).code == 0
    videos = ("--videos", ground.clips, "--config", ground.config, "--patience", "0")
    lines = (
        ("resume", run, "--retry-failed", *videos[:2], *videos[-2:]),
        ("rejudge", run, "--judge", "examiner", *videos),
        ("audit", run, "--trials", "repeat", *videos),
        ("bench", "run", bench, "--model", "hawk", "--judge", "judge", *videos),
    )
    before = battles_of(run)
    codes = {line[:2]: terminal.arena(*line).code for line in lines}
    assert list(codes.values()) == [0, 5, 5, 5]
    assert battles_of(run) == before
