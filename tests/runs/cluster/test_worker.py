"""Workers that play a run without a file of their own."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.support.asking import Pages, load_bytes
from tests.support.clips import draw_folder
from tests.support.clustered import InOneLoop
from tests.support.lending import Clock
from tests.support.one_loop import LEASE_S
from tests.support.played import manifest
from tests.support.runfiles import battle
from tests.support.small_runs import TRIO, battles_of, play, play_again
from tests.support.whole_runs import battles
from videoautoarena.agents.calls.ask import Asker
from videoautoarena.agents.limits.scheduler import LimitLoan
from videoautoarena.agents.prompting.prompts import PromptSet
from videoautoarena.memory.records.errors import StoreError
from videoautoarena.memory.store.shares import CLAIM, CutOff, ForwardingWriter, Mirror, UnitClaim
from videoautoarena.memory.store.store import Store
from videoautoarena.memory.store.writer import Writer
from videoautoarena.runs.api.add import AddRequest, add
from videoautoarena.runs.api.simulate import simulate
from videoautoarena.runs.cli.program.ending import run_async
from videoautoarena.runs.cluster.fence import Fence
from videoautoarena.runs.cluster.jobs import Lease, WorkerSetup
from videoautoarena.runs.cluster.worker import Worker, elsewhere
from videoautoarena.runs.run.config.run_config import RunConfig
from videoautoarena.runs.run.config.run_request import RunRequest
from videoautoarena.runs.run.rundir.reader import RUN_FILE

CLIPS = 3
CLAIMED = UnitClaim("0123456789ab", 1)


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return draw_folder(tmp_path_factory.mktemp("ground") / "clips", CLIPS, seconds=2)


def clustered(clips: Path, out: Path, engine: InOneLoop, **flags: Any) -> Any:
    typed = RunRequest(**{"models": TRIO, "rounds": 1, "block": 2, **flags})
    return run_async(
        simulate(
            typed.model_copy(update={"videos": clips, "out": out}),
            say=lambda _line: None,
            engine=engine,
        )
    )


@pytest.fixture(scope="module")
def alone(clips: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("alone")
    play(clips, out, block=2, rounds=1)
    return out


def test_three_workers_come_to_the_battles_of_one_process(
    clips: Path, alone: Path, tmp_path: Path
) -> None:
    engine = InOneLoop()
    finished = clustered(clips, tmp_path / "run", engine)
    assert (finished.settled, finished.total, finished.voids) == (CLIPS * 3, CLIPS * 3, 0)
    assert battles(tmp_path / "run") == battles(alone)
    assert len(set(engine.played)) > 1
    assert not play_again(tmp_path / "run").differences


@pytest.mark.slow
def test_a_lost_worker_leaves_its_videos_to_others(
    clips: Path, alone: Path, tmp_path: Path
) -> None:
    def lose(engine: InOneLoop, count: int) -> None:
        if count == 1:
            engine.lose("w1")

    clustered(clips, tmp_path / "run", InOneLoop(at_battle=lose))
    assert battles(tmp_path / "run") == battles(alone)
    with Store.open(tmp_path / "run" / RUN_FILE, write=False) as store:
        assert max(store.shares.epochs().values()) > 1


@pytest.mark.slow
def test_an_owner_that_begins_anew_knows_all_that_it_was_told(
    clips: Path, alone: Path, tmp_path: Path
) -> None:
    def die(engine: InOneLoop, count: int) -> None:
        if count in (2, 4, 7):
            engine.begin_owner_anew()

    clustered(clips, tmp_path / "run", InOneLoop(at_battle=die))
    assert battles(tmp_path / "run") == battles(alone)


@pytest.mark.slow
def test_a_full_disk_on_the_head_is_one_line_and_the_same_command_goes_on(
    clips: Path, alone: Path, tmp_path: Path
) -> None:
    def fill(engine: InOneLoop, count: int) -> None:
        if count == 5:
            writing = engine.owner._store._writer
            assert isinstance(writing, Writer)
            pages = writing._connection.execute("PRAGMA page_count").fetchone()[0]
            writing._connection.execute(f"PRAGMA max_page_count = {pages}")

    with pytest.raises(StoreError, match=r"full.*; check the disk, then continue"):
        clustered(clips, tmp_path / "run", InOneLoop(at_battle=fill))
    assert 5 <= len(battles(tmp_path / "run")) < len(battles(alone))
    clustered(clips, tmp_path / "run", InOneLoop())
    assert battles(tmp_path / "run") == battles(alone)


@pytest.mark.slow
def test_newcomers_meet_stored_answers_on_workers_too(
    clips: Path, alone: Path, tmp_path: Path
) -> None:
    for name, engine in (("here", None), ("there", InOneLoop())):
        shutil.copytree(alone, tmp_path / name)
        request = AddRequest(out=tmp_path / name, model="offline:owl", battles=5, videos=clips)
        run_async(add(request, say=lambda _line: None, hear=lambda _event: None, engine=engine))
    assert battles(tmp_path / "there") == battles(tmp_path / "here")
    assert len(battles_of(tmp_path / "there")) == CLIPS * 3 + 5


@pytest.mark.slow
def test_languages_and_a_stopping_rule_hold_on_workers(clips: Path, tmp_path: Path) -> None:
    flags = {"languages": ("en", "de"), "until": "battles=4", "block": 1, "rounds": 2}
    play(clips, tmp_path / "here", **flags)
    finished = clustered(clips, tmp_path / "there", InOneLoop(), **flags)
    assert battles(tmp_path / "there") == battles(tmp_path / "here")
    assert finished.is_stopped


@pytest.mark.slow
def test_a_run_that_one_process_began_goes_on_with_workers(
    clips: Path, alone: Path, tmp_path: Path
) -> None:
    for name in ("run", "here"):
        shutil.copytree(alone, tmp_path / name)
    clustered(clips, tmp_path / "run", InOneLoop(), rounds=2)
    play(clips, tmp_path / "here", block=2, rounds=2)
    assert battles(tmp_path / "run") == battles(tmp_path / "here")


@dataclass
class Head:
    """Stands for an owner whose answer to a message waits until it may come."""

    holds: bool = True
    may_answer: asyncio.Event = field(default_factory=asyncio.Event)
    asked: list[str] = field(default_factory=list)

    async def __call__(self, method: str, *values: Any) -> Any:
        self.asked.append(method)
        await self.may_answer.wait()
        return [self.holds] * len(values[-1]) if method == "deliver" else self.holds


@asynccontextmanager
async def working(head: Head, ended: list[str]) -> AsyncIterator[Worker]:
    """Yield a worker that has set up nothing but its writer and asker."""
    setup = WorkerSetup(RunConfig.of_manifest(manifest()), PromptSet.load(), 1.0)
    fence = Fence(on_end=lambda: ended.append("over"))
    worker = Worker("w", "node", setup, head, head, fence, LEASE_S)
    worker._mirror = Mirror()
    worker._asker = Asker(Pages(), load_bytes)
    worker._writer = ForwardingWriter(worker._mirror, worker._send)
    CLAIM.set(CLAIMED)
    going = asyncio.ensure_future(worker._writer.run())
    yield worker
    going.cancel()


def test_a_worker_knows_a_new_lender_once_all_that_it_announced_before_is_in_the_file() -> None:
    async def live() -> None:
        head = Head()
        async with working(head, []) as worker:
            writing = asyncio.ensure_future(worker._writer.write_all())
            await asyncio.sleep(0)
            worker._belong_to("second")
            assert worker._report().boot == ""
            head.may_answer.set()
            await writing
            await asyncio.sleep(0)
            assert worker._report().boot == "second"

    asyncio.run(live())


def test_a_battle_is_settled_once_all_that_was_handed_in_before_is_in_the_file() -> None:
    async def live() -> None:
        head = Head()
        head.may_answer.set()
        async with working(head, []) as worker:
            worker._writer.write_soon("DELETE FROM intents")
            await worker._settle(CLAIMED, battle("0123456789ab-p1-r0"))
        assert head.asked == ["deliver", "settle"]

    asyncio.run(live())


def test_a_worker_whose_writes_are_no_longer_taken_ends() -> None:
    async def live() -> None:
        head = Head(holds=False)
        ended = list[str]()
        head.may_answer.set()
        async with working(head, ended) as worker:
            with pytest.raises(CutOff):
                await worker._writer.write_all()
        assert ended == ["over"]

    asyncio.run(live())


def test_a_worker_believes_in_a_lease_from_when_it_asked_whenever_the_answer_comes() -> None:
    clock = Clock()

    async def slow(method: str, *_values: Any) -> Any:
        assert method == "renew"
        clock.now_s += LEASE_S
        return Lease(LEASE_S, LimitLoan(1, {}, {}), "first")

    async def live() -> None:
        ended = list[str]()
        async with working(Head(), ended) as worker:
            worker.lender = slow
            worker.fence.clock = clock
            staying = asyncio.ensure_future(worker._stay_alive())
            while not worker._boot:
                await asyncio.sleep(0)
            worker.fence.check()
            staying.cancel()
        assert ended == ["over"]

    asyncio.run(live())


def test_a_machine_that_would_call_another_address_is_told_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    base = RunConfig.of_manifest(manifest())
    one = base.cast["hawk"].model_copy(update={"model": "openai:one"})
    config = base.model_copy(update={"cast": {**base.cast, "hawk": one}})
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9000/v1")
    assert not list(elsewhere(config, ["hawk"], {"hawk": "127.0.0.1:9000"}))
    (line,) = elsewhere(config, ["hawk"], {"hawk": "models.example"})
    assert line.startswith("hawk would be called at 127.0.0.1:9000 and not at models.example")
    assert "OPENAI_BASE_URL" in line
