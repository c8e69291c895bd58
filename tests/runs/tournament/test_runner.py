"""What a run tells is on disk before it is told, and before anything follows from it."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.support.asking import MODEL, REMOTE, Script, load_bytes, request_of
from tests.support.clips import draw_folder
from tests.support.runfiles import battle, video
from tests.support.small_runs import TRIO
from tests.support.witness import kept_from_writing, stored
from videoautoarena.agents.calls.ask import Asker, CallEvent, journal_key
from videoautoarena.agents.prompting.prompts import PromptSet
from videoautoarena.memory.records.digests import write_body
from videoautoarena.memory.records.records import Slot
from videoautoarena.runs.api.simulate import simulate
from videoautoarena.runs.cli.program.ending import run_async
from videoautoarena.runs.console.progress.events import (
    BattleSettled,
    Hear,
    PairDrawn,
    RunEvent,
    nobody,
)
from videoautoarena.runs.run.config.run_config import resolve
from videoautoarena.runs.run.config.run_request import RunRequest
from videoautoarena.runs.run.rundir.budget import Budget
from videoautoarena.runs.run.rundir.opener import Opened, OpenOptions, begin
from videoautoarena.runs.tournament.runner import Finished, Limits, RunInProgress, playing
from videoautoarena.video.folder.find import Findings


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Opened]:
    """Begin a run of one video and one round, that may stop after a battle."""
    config = resolve(RunRequest(models=TRIO, rounds=1)).config
    found = Findings([video()], [], [])
    open_options = OpenOptions(until="battles=1")
    ready = begin(
        tmp_path,
        config,
        prompts=PromptSet.load(),
        found=found,
        folder=tmp_path,
        open_options=open_options,
    )
    with ready.store:
        yield ready


class Ears:
    """Hears of a run, and looks each time whether its file tells it, too."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.heard = Counter[str]()
        self.settled = set[str]()

    def __call__(self, event: RunEvent) -> None:
        self.heard[type(event).__name__] += 1
        if isinstance(event, BattleSettled):
            assert stored(self.out, "battles", event.battle.id) == write_body(event.battle)
            self.settled.add(event.battle.id)
        elif isinstance(event, PairDrawn):
            assert stored(self.out, "draws", event.draw.slot) == write_body(event.draw)
        elif isinstance(event, CallEvent) and event.nonce.role == "contestant":
            assert stored(self.out, "draws", event.nonce.scope) is not None


def until_idle(
    work: Callable[[RunInProgress], Awaitable[None]], ready: Opened, hear: Hear
) -> RunInProgress:
    """Put a run together, do something with it, and return it."""

    async def do() -> RunInProgress:
        budget = Budget.of(ready.store, ready.config)
        async with playing(ready, budget, limits=Limits(1), hear=hear) as game:
            await work(game)
        return game

    return asyncio.run(do())


async def turn_often() -> None:
    """Let everybody go on who does not wait for the disk."""
    for _ in range(50):
        await asyncio.sleep(0)


def test_battles_and_draws_are_on_disk_when_anybody_hears_of_them(tmp_path: Path) -> None:
    videos = draw_folder(tmp_path / "videos", 2, seconds=2)
    out = tmp_path / "out"
    ears = Ears(out)
    flags = RunRequest(models=TRIO, rounds=2, block=1, until="battles=999")
    run_async(
        simulate(
            flags.model_copy(update={"videos": videos, "out": out}),
            say=lambda _line: None,
            hear=ears,
        )
    )
    assert (ears.heard["BattleSettled"], ears.heard["PairDrawn"]) == (12, 12)
    assert ears.heard["RuleRead"] > 0
    assert len(ears.settled) == 12


def test_a_battle_is_heard_of_and_counted_when_its_write_has_come_back(
    run: Opened, tmp_path: Path
) -> None:
    slots = [slot.id for slot in run.store.slots()]
    ears = Ears(tmp_path)

    async def settle_all(game: RunInProgress) -> None:
        assert game.watch is not None
        with kept_from_writing(tmp_path):
            tasks = [asyncio.ensure_future(game.arena.settle(battle(slot))) for slot in slots]
            await turn_often()
            game.watch.look()
            assert (game.watch.latest, ears.heard, game.arena.settled(slots[0])) == (None, {}, None)
        await asyncio.gather(*tasks)
        game.watch.look()
        assert game.watch.latest is not None

    until_idle(settle_all, run, ears)
    assert ears.heard == {"BattleSettled": 3, "RuleRead": 1}


def test_nobody_goes_on_with_a_draw_before_its_write_has_come_back(
    run: Opened, tmp_path: Path
) -> None:
    slot: Slot = run.store.slots()[0]
    ears = Ears(tmp_path)

    async def draw(game: RunInProgress) -> None:
        with kept_from_writing(tmp_path):
            task = asyncio.ensure_future(game.arena.draw(slot.id))
            await turn_often()
            assert (task.done(), ears.heard) == (False, {})
        drawn = await task
        assert stored(tmp_path, "draws", slot.id) == write_body(drawn)
        assert await game.arena.draw(slot.id) == drawn

    until_idle(draw, run, ears)
    assert ears.heard == {"PairDrawn": 2}


async def settle(task: asyncio.Task[str]) -> bool:
    """Return whether a call has come back once everybody has had many turns."""
    await turn_often()
    return task.done()


def test_no_try_that_may_be_paid_is_sent_before_its_write_has_come_back(
    run: Opened, tmp_path: Path
) -> None:
    script = Script(["words"])
    asker = Asker(run.store.journal, load_bytes, make_client=script)

    async def ask() -> None:
        with kept_from_writing(tmp_path):
            task = asyncio.create_task(asker.ask(REMOTE, request_of()))
            assert not await settle(task)
            assert not script.seen
        assert await task == "words"

    asyncio.run(ask())
    assert len(script.seen) == 1


def test_no_reply_is_given_or_told_before_its_write_has_come_back(
    run: Opened, tmp_path: Path
) -> None:
    heard: list[str] = []
    asker = Asker(
        run.store.journal,
        load_bytes,
        make_client=Script(["words"]),
        on_event=lambda event: heard.append(event.kind),
    )

    async def ask() -> None:
        with kept_from_writing(tmp_path):
            task = asyncio.create_task(asker.ask(MODEL, request_of()))
            assert not await settle(task)
            assert heard == ["started"]
        assert await task == "words"

    asyncio.run(ask())
    assert heard == ["started", "finished"]
    assert stored(tmp_path, "calls", journal_key(MODEL, request_of())) is not None


@pytest.mark.parametrize(
    ("settled", "voids", "share", "too_many"),
    [(0, 0, 0.0, False), (20, 1, 0.05, False), (20, 2, 0.1, True), (4, 4, 1.0, True)],
)
def test_more_voids_than_the_accepted_share_are_too_many(
    settled: int, voids: int, share: float, too_many: bool
) -> None:
    ended = Finished(total=20, settled=settled, voids=voids, interrupted=False, max_void=0.05)
    assert (ended.void_share, ended.too_many_voids) == (share, too_many)


class Closing(Script):
    """Clients whose closing is seen through by whoever ends the run, or not at all."""

    closed_by: asyncio.Task[None] | None = None

    async def aclose(self) -> None:
        await turn_often()
        self.closed_by = asyncio.current_task()


def test_connections_are_closed_when_a_run_is_over(
    run: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = Closing(["words"])
    monkeypatch.setattr(
        "videoautoarena.runs.run.rundir.context.Asker", partial(Asker, make_client=script)
    )

    ends: list[asyncio.Task[None] | None] = []

    async def ask(game: RunInProgress) -> None:
        await game.asker.ask(MODEL, request_of())
        assert script.closed_by is None
        ends.append(asyncio.current_task())

    until_idle(ask, run, nobody)
    assert ends == [script.closed_by]


def test_whoever_plays_a_video_beside_another_waits_until_it_is_in_memory(run: Opened) -> None:
    """Else what the second one writes while the file is read would be missing in memory."""
    said = list[str]()

    async def play() -> None:
        reading = asyncio.Event()

        async def aside(work: Callable[..., Any], /, *values: object) -> Any:
            if said:
                await reading.wait()
            return work(*values)

        async def hold(name: str) -> None:
            async with game._held(video().id, slots):
                said.append(name)
                await asyncio.sleep(0)

        budget = Budget.of(run.store, run.config)
        async with playing(run, budget, limits=Limits(), hear=nobody, aside=aside) as game:
            slots = [one.id for one in run.store.slots()]
            said.append("begun")
            both = asyncio.gather(hold("first"), hold("second"))
            await turn_often()
            assert said == ["begun"]
            reading.set()
            await both
            assert sorted(said) == ["begun", "first", "second"]
            assert not game.held
            assert not game.holders

    asyncio.run(play())


def test_what_nobody_says_is_sixteen_calls_at_once_and_five_voids_in_a_hundred() -> None:
    assert Limits() == Limits(concurrency=16, max_void=0.05)
