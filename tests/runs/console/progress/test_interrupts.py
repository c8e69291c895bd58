"""Ctrl-C and SIGTERM: what is paid is kept, nothing more is sent, and the next line says how on."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage

from tests.support.asking import Pages, load_bytes
from tests.support.clips import draw_folder
from tests.support.lives import Life
from tests.support.loopback import Loopback, ask_offline, serving
from tests.support.manners import Manners, Mishap
from tests.support.typed import Terminal, run
from tests.support.whole_runs import KEY, battles, command, committed_keys, write_config
from videoautoarena.agents.calls.ask import Asker
from videoautoarena.memory.store.connection import Shutdown
from videoautoarena.runs.console.progress import interrupts
from videoautoarena.runs.console.progress.events import Listeners
from videoautoarena.runs.console.progress.interrupts import _interrupts, heard, interrupt, worked

SLOW = Manners(latency_s=(0.5, 0.5))
ENDLESS = Manners(latency_s=(90, 90))
LATER = Manners(mishaps=(Mishap("status", times=999, status=429, retry_after=100),))


@dataclass(frozen=True)
class Ground:
    """Two clips, and the battles of a run over them that nobody interrupted."""

    videos: Path
    battles: dict[str, str]


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Ground:
    place = tmp_path_factory.mktemp("ground")
    videos = draw_folder(place / "videos", 2, seconds=3)
    config = write_config(place / "arena.toml", "offline")
    run("simulate", *simulation(videos, config, place / "out")[1:])
    return Ground(videos, battles(place / "out"))


@pytest.fixture(autouse=True)
def hearing() -> Iterator[None]:
    """Let commands hear what nohup, or a shell for what runs in its background, has ignored."""
    before = signal.signal(signal.SIGHUP, lambda *_: None)
    before_int = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGHUP, before)
    signal.signal(signal.SIGINT, before_int)


def simulation(videos: Path, config: Path, out: Path) -> list[str]:
    fixed = ("--rounds", "1", "--config", config, "--concurrency", "4")
    return command("simulate", "--videos", videos, "--out", out, *fixed)


def over_http(ground: Ground, place: Path, server: Loopback) -> Life:
    config = write_config(place / "arena.toml", "openai", server)
    traced = f"--trace={place / 'trace'}"
    return Life([*simulation(ground.videos, config, place / "out"), traced])


def told_calls(trace: Path) -> int:
    """Return how many calls a trace tells the end of."""
    events = [json.loads(line)["event"] for line in trace.read_text().splitlines()]
    return events.count("finished")


def arrived(server: Loopback) -> list[dict[str, Any]]:
    return server.events("arrived")


def last_before_answers(server: Loopback, said_at: float) -> bool:
    """Return whether nothing arrived after the first answer that followed a moment."""
    told = server.after(len(arrived(server)))
    answers = [row["at"] for row in told if row["event"] == "sent" and row["at"] > said_at]
    return all(row["at"] < answers[0] for row in arrived(server))


def test_sigterm_keeps_what_is_paid_and_the_same_command_goes_on_from_there(
    ground: Ground, tmp_path: Path, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = itertools.count(1)

    def interrupting(name: str, messages: Sequence[BaseMessage]) -> AIMessage:
        if next(asked) == 6:
            os.kill(os.getpid(), signal.SIGTERM)
        return ask_offline(name, messages)

    with serving(tmp_path / "log", Manners(latency_s=(0.1, 0.1)), brain=interrupting) as server:
        config = write_config(tmp_path / "arena.toml", "openai", server)
        line = simulation(ground.videos, config, tmp_path / "out")[1:]
        monkeypatch.setenv("LOOPBACK_KEY", KEY)
        said = terminal.simulate(*line)
        paid = committed_keys(tmp_path / "out")
        assert len(paid) == len(arrived(server)) < 20
    assert said.code == 130
    assert "stopping: finishing " in said.err
    assert f"to continue: arena resume {tmp_path / 'out'}" in said.err.splitlines()[-1]
    with serving(tmp_path / "again") as server:
        write_config(tmp_path / "arena.toml", "openai", server)
        run("simulate", *line)
        assert not paid & {row["key"] for row in arrived(server)}
    assert battles(tmp_path / "out") == ground.battles


@pytest.mark.slow
def test_calls_under_way_are_finished_and_kept_and_nothing_new_is_sent(
    ground: Ground, tmp_path: Path
) -> None:
    with (
        serving(tmp_path / "log", SLOW) as server,
        over_http(ground, tmp_path, server) as life,
    ):
        life.until(lambda: len(arrived(server)) >= 6)
        life.interrupt()
        life.until(life.has_said("stopping: finishing "))
        stopping_at = arrived(server)[-1]["at"]
        assert life.end() == 130
        assert last_before_answers(server, stopping_at)
        assert committed_keys(tmp_path / "out") == {row["key"] for row in arrived(server)}
        assert told_calls(tmp_path / "trace") == len(arrived(server))
    assert f"to continue: arena resume {tmp_path / 'out'}" in life.last_line
    assert (life.noise, life.children) == ([], [])


@pytest.mark.slow
def test_a_second_interrupt_stops_at_once(ground: Ground, tmp_path: Path) -> None:
    with (
        serving(tmp_path / "log", ENDLESS) as server,
        over_http(ground, tmp_path, server) as life,
    ):
        life.until(lambda: arrived(server))
        life.interrupt()
        life.until(life.has_said("interrupt again to stop at once"))
        life.interrupt()
        assert life.end() == 130
    assert "arena resume" in life.last_line
    assert (life.noise, life.children) == ([], [])


@pytest.mark.slow
def test_a_second_hang_up_cuts_no_call_off(ground: Ground, tmp_path: Path) -> None:
    with (
        serving(tmp_path / "log", SLOW) as server,
        over_http(ground, tmp_path, server) as life,
    ):
        life.until(lambda: len(arrived(server)) >= 6)
        life.interrupt(signal.SIGHUP)
        life.until(life.has_said("stopping"))
        life.interrupt(signal.SIGHUP)
        assert life.end() == 130
        assert committed_keys(tmp_path / "out") == {row["key"] for row in arrived(server)}


@pytest.mark.slow
def test_under_nohup_a_hang_up_is_ignored(ground: Ground, tmp_path: Path) -> None:
    with serving(tmp_path / "log") as server:
        config = write_config(tmp_path / "arena.toml", "openai", server)
        line = simulation(ground.videos, config, tmp_path / "out")
        with Life(["nohup", *line]) as life:
            life.until(lambda: arrived(server))
            life.interrupt(signal.SIGHUP)
            assert life.end() == 0
    assert battles(tmp_path / "out") == ground.battles


def test_one_interrupt_while_a_cap_drains_a_run_cuts_no_call_off() -> None:
    said: list[str] = []

    async def interrupted_twice() -> bool:
        asker = Asker(Pages(), load_bytes)
        asker.is_broke = True
        asker.drain()
        main: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        with _interrupts(asker, main, Listeners(said.append, lambda _event: None)):
            signal.raise_signal(signal.SIGINT)
            while not said:
                await asyncio.sleep(0)
            was_cut_off = main.cancelled()
            signal.raise_signal(signal.SIGINT)
            while not main.cancelled():
                await asyncio.sleep(0)
        return was_cut_off

    assert not asyncio.run(asyncio.wait_for(interrupted_twice(), 60))
    assert "interrupt again to stop at once" in said[0]


@pytest.mark.parametrize("is_waited_for", [True, False])
def test_a_loop_that_hears_nothing_is_left_at_once_unless_something_paid_for_is_under_way(
    monkeypatch: pytest.MonkeyPatch, is_waited_for: bool
) -> None:
    now = itertools.count(step=10)
    said = list[str]()
    ending = Shutdown(lambda: float(next(now)))
    monkeypatch.setattr(interrupts, "SHUTDOWN", ending)

    async def stand_still() -> list[bool]:
        with heard({signal.SIGTERM: lambda: said.append("heard")}, is_waited_for=asked):
            signal.raise_signal(signal.SIGTERM)
            first = ending.is_overdue()
            signal.raise_signal(signal.SIGTERM)
            again = ending.is_overdue()
            while len(said) < 2:
                await asyncio.sleep(0)
            after = ending.is_overdue()
            signal.raise_signal(signal.SIGTERM)
            return [first, again, after, ending.is_overdue()]

    def asked() -> bool:
        return is_waited_for

    before = signal.getsignal(signal.SIGTERM)
    found = asyncio.run(asyncio.wait_for(stand_still(), 60))
    assert found == [not is_waited_for, True, False, not is_waited_for]
    assert not ending.is_overdue()
    assert signal.getsignal(signal.SIGTERM) == before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_what_a_shell_has_ignored_stays_ignored_and_sigterm_is_heard(
    number: signal.Signals,
) -> None:
    heard_of = list[signal.Signals]()
    signal.signal(number, signal.SIG_IGN)

    async def run() -> None:
        handlers = {each: partial(heard_of.append, each) for each in (number, signal.SIGTERM)}
        with heard(handlers):
            signal.raise_signal(number)
            signal.raise_signal(signal.SIGTERM)
            while signal.SIGTERM not in heard_of:
                await asyncio.sleep(0)

    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        asyncio.run(asyncio.wait_for(run(), 60))
    finally:
        signal.signal(signal.SIGTERM, before)
    assert heard_of == [signal.SIGTERM]
    assert signal.getsignal(number) == signal.SIG_IGN


@pytest.mark.parametrize("is_main", [True, False])
def test_of_several_runs_in_one_loop_each_hears_a_signal_and_the_last_restores_the_handlers(
    is_main: bool,
) -> None:
    heard_of = list[str]()

    async def work(name: str, begun: asyncio.Event, until: asyncio.Event) -> None:
        with heard({signal.SIGINT: partial(heard_of.append, name)}):
            begun.set()
            await until.wait()

    def raised(thread: int) -> bool:
        if not is_main:
            return interrupt(thread)
        signal.raise_signal(signal.SIGINT)
        return True

    async def both() -> None:
        place = threading.get_ident()
        begun, ended = [asyncio.Event(), asyncio.Event()], [asyncio.Event(), asyncio.Event()]
        tasks = []
        for name, one, end in zip("ab", begun, ended, strict=True):
            tasks.append(asyncio.create_task(work(name, one, end)))
            await one.wait()
        # In the order in which they began, and not the other way round.
        for left, end, task in zip(("ab", "b"), ended, tasks, strict=True):
            assert raised(place)
            while sorted(heard_of) != sorted(left):
                await asyncio.sleep(0)
            heard_of.clear()
            end.set()
            await task
        assert is_main or not interrupt(place)

    before = signal.getsignal(signal.SIGINT)
    with ThreadPoolExecutor(1) as pool:
        run_it = partial(asyncio.run, asyncio.wait_for(both(), 60))
        run_it() if is_main else pool.submit(run_it).result()
    assert signal.getsignal(signal.SIGINT) == before


def test_an_interrupt_before_anything_is_paid_for_ends_work_in_a_thread_at_once() -> None:
    heard_of = list[str]()

    async def work() -> None:
        # As while a set is read, before anything hears interrupts.
        os.kill(os.getpid(), signal.SIGINT)
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            heard_of.append("cancelled")
            raise
        heard_of.append("paid")

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            worked(work())
    finally:
        signal.signal(signal.SIGINT, before)
    assert heard_of == ["cancelled"]


@pytest.mark.parametrize("under_way", [0, 3])
def test_calls_under_way_are_what_a_loop_that_hears_nothing_is_waited_for(
    monkeypatch: pytest.MonkeyPatch, under_way: int
) -> None:
    now = itertools.count(step=10)
    ending = Shutdown(lambda: float(next(now)))
    monkeypatch.setattr(interrupts, "SHUTDOWN", ending)
    monkeypatch.setattr(Asker, "under_way", under_way)

    async def stand_still() -> list[bool]:
        said = list[str]()
        found = list[bool]()
        main: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        listeners = Listeners(said.append, lambda _event: None)
        with _interrupts(Asker(Pages(), load_bytes), main, listeners):
            signal.raise_signal(signal.SIGINT)
            found.append(ending.is_overdue())
            while not said:
                await asyncio.sleep(0)
            # It drains by now: nobody is to wait for a second one.
            signal.raise_signal(signal.SIGINT)
            return [*found, ending.is_overdue()]

    found = asyncio.run(asyncio.wait_for(stand_still(), 60))
    assert found == [under_way == 0, True]


@pytest.mark.slow
def test_a_pause_before_a_retry_holds_no_exit_up(ground: Ground, tmp_path: Path) -> None:
    with (
        serving(tmp_path / "log", LATER) as server,
        over_http(ground, tmp_path, server) as life,
    ):
        life.until(lambda: len(server.events("sent")) >= 2)
        life.interrupt()
        assert life.end() == 130
    assert committed_keys(tmp_path / "out") == set()
    assert life.noise == []


@pytest.mark.slow
def test_a_run_is_interrupted_while_it_decodes(tmp_path: Path) -> None:
    videos = draw_folder(tmp_path / "videos", 1, seconds=600)
    config = write_config(tmp_path / "arena.toml", "offline")
    begun = tmp_path / "out" / "run.sqlite"
    with Life(simulation(videos, config, tmp_path / "out")) as life:
        life.until(lambda: begun.exists() and is_reading(life, videos / "clip00.mp4"))
        life.interrupt()
        assert life.end() == 130
    assert "0 of 3 battles settled" in life.said
    assert (life.noise, life.children) == ([], [])


@pytest.fixture
def huge(tmp_path: Path) -> Path:
    """Return a clip that takes minutes to read to its end, and no room on the disk."""
    path = draw_folder(tmp_path / "videos", 1, seconds=3) / "clip00.mp4"
    os.truncate(path, 1 << 40)
    return path


@pytest.mark.slow
def test_looking_for_videos_is_interrupted_at_once(huge: Path, tmp_path: Path) -> None:
    with Life(command("simulate", "--videos", huge.parent, "--out", tmp_path / "out")) as life:
        life.until(lambda: is_reading(life, huge))
        life.interrupt(signal.SIGTERM)
        assert life.end() == 130
    assert life.said.strip() == (
        "arena: interrupted, and nothing is lost; to continue, repeat the command"
    )
    assert not (tmp_path / "out").exists()


def is_reading(life: Life, path: Path) -> bool:
    """Return whether a process of its own has the file open."""
    return any(str(path) in _open_files(pid) for pid in life.children)


def _open_files(pid: int) -> list[str]:
    # A file may be closed, and a process end, between the listing and the look.
    try:
        return [os.path.realpath(file) for file in Path(f"/proc/{pid}/fd").iterdir()]
    except OSError:
        return []


@pytest.mark.slow
def test_samples_not_yet_begun_are_called_off(tmp_path: Path) -> None:
    with Life(command("arena", "samples", tmp_path / "clips")) as life:
        life.until(lambda: len(life.children) > 1)
        # A terminal sends it to the workers, too.
        os.killpg(life.process.pid, signal.SIGINT)
        assert life.end() == 130
    assert "to continue, repeat the command" in life.last_line
    assert len(list((tmp_path / "clips").iterdir())) < 12
    assert (life.noise, life.children) == ([], [])
