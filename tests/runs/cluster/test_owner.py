"""The one writer: what workers send counts once, and only while they may send it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

import pytest

from tests.support.played import manifest
from tests.support.runfiles import battle, call, intent, slot, video
from videoautoarena.memory.records.errors import RunLocked, StoreError
from videoautoarena.memory.records.records import Nonce
from videoautoarena.memory.store.shares import (
    CLAIM,
    CutOff,
    ForwardingWriter,
    Mirror,
    Unit,
    UnitClaim,
)
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.cluster.jobs import Job
from videoautoarena.runs.cluster.owner import Owner, RunOwner
from videoautoarena.runs.run.config.run_config import RunConfig

T = TypeVar("T")
SLOT = slot()
UNIT = Unit(video().id, (video().id,))
JOB = Job(UNIT, "", 0)


def run(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "run.sqlite"
    with Store.create(file, manifest()) as store:
        store.add_videos([video()])
        store.add_slots([SLOT])
    return file


class Desk:
    """A worker's store, whose writes go to an owner; messages can be sent again."""

    def __init__(self, owner: Owner, name: str = "w") -> None:
        self.owner = owner
        self.name = name
        self.number = 0
        self.mirror = Mirror()
        self.sent: list[tuple[int, Any]] = []
        self.writer = ForwardingWriter(self.mirror, self.send)
        self.store = Store(self.mirror, self.writer, None, is_alone=False)

    async def send(self, writes: Any) -> Any:
        self.number += 1
        self.sent.append((self.number, writes))
        return await self.owner.deliver(self.name, self.number, writes)

    async def __aenter__(self) -> Desk:
        claimed = await self.owner.claim(JOB, self.name)
        assert claimed is not None
        self.claim = claimed.claim
        CLAIM.set(claimed.claim)
        self.going = asyncio.ensure_future(self.writer.run())
        return self

    async def __aexit__(self, *raised: object) -> None:
        self.going.cancel()
        self.store.close()


def scoped(name: str = "one") -> Any:
    nonce = Nonce(scope=SLOT.id, role="judge", ordinal=2)
    return call(name).model_copy(update={"nonce": nonce})


def test_what_a_worker_writes_is_in_the_file_and_in_its_own_memory(path: Path) -> None:
    async def live() -> None:
        owner = Owner(str(path))
        async with Desk(owner) as desk:
            await desk.store.journal.record(scoped())
            assert desk.store.journal.find(scoped().key) == scoped()
        await owner.close()

    run(live())
    with Store.open(path, write=False) as store:
        assert store.journal.find(scoped().key) == scoped()


def test_a_message_that_comes_again_changes_nothing_even_in_another_life(path: Path) -> None:
    async def live() -> None:
        owner = Owner(str(path))
        async with Desk(owner) as desk:
            await desk.store.journal.intend(intent()._replace(nonce=scoped().nonce))
            number, writes = desk.sent[-1]
            assert await owner.deliver("w", number, writes) == [True]
            await owner.close()
            owner = Owner(str(path))
            assert await owner.deliver("w", number, writes) == [True]
            await owner.close()

    run(live())
    with Store.open(path, write=False) as store:
        assert len(store.journal.intents()) == 1


def test_who_claims_a_unit_takes_it_from_whoever_had_it(path: Path) -> None:
    async def live() -> None:
        owner = Owner(str(path))
        async with Desk(owner) as first:
            await first.store.journal.intend(intent()._replace(nonce=scoped().nonce))
            claimed = await owner.claim(JOB, "other")
            assert claimed is not None
            assert claimed.claim.epoch == first.claim.epoch + 1
            with pytest.raises(CutOff):
                await first.store.journal.record(scoped())
            assert first.store.journal.find(scoped().key) is None
        await owner.close()

    run(live())
    with Store.open(path, write=False) as store:
        assert store.journal.find(scoped().key) is None
        assert [one.is_left_over for one in store.journal.intents()] == [True]


def test_only_who_has_the_claim_draws_asks_for_a_turn_and_settles(path: Path) -> None:
    async def live() -> None:
        owner = RunOwner(str(path), RunConfig.of_manifest(manifest()))
        lost, kept = [await owner.claim(JOB, name) for name in ("lost", "other")]
        assert lost is not None
        assert kept is not None
        assert await owner.draw(lost.claim, SLOT.id) is None
        assert await owner.turn(lost.claim, SLOT.id) is None
        assert not await owner.settle(lost.claim, battle(SLOT.id))
        assert not owner._store.has_battle(SLOT.id)
        assert await owner.draw(kept.claim, SLOT.id) is not None
        assert await owner.turn(kept.claim, SLOT.id)
        assert await owner.settle(kept.claim, battle(SLOT.id))
        assert owner._store.has_battle(SLOT.id)
        await owner.close()

    run(live())


def test_an_owner_that_begins_anew_leaves_calls_under_way_alone(path: Path) -> None:
    async def live() -> None:
        owner = Owner(str(path))
        async with Desk(owner) as desk:
            await desk.store.journal.intend(intent("one")._replace(nonce=scoped().nonce))
            await owner.close()
            desk.owner = owner = Owner(str(path))
            await desk.store.journal.record(scoped())
        await owner.close()

    run(live())
    with Store.open(path, write=False) as store:
        assert not store.journal.intents()
        assert store.journal.find(scoped().key) == scoped()


def test_a_worker_that_is_cut_off_gets_nothing_and_gives_nothing(path: Path) -> None:
    async def live() -> None:
        owner = Owner(str(path))
        async with Desk(owner) as desk:
            await owner.cut_off("w")
            assert await owner.claim(JOB, "w") is None
            with pytest.raises(CutOff):
                await desk.store.put_battle(battle(SLOT.id))
        await owner.close()

    run(live())
    with Store.open(path, write=False) as store:
        assert not store.battles()


def test_what_is_handed_in_together_goes_in_one_message_in_its_order(path: Path) -> None:
    async def live() -> None:
        owner = Owner(str(path))
        async with Desk(owner) as desk:
            names = [f"call {number}" for number in range(40)]
            await asyncio.gather(*(desk.store.journal.record(scoped(name)) for name in names))
            assert len(desk.sent) <= 2
            assert max(len(writes) for _, writes in desk.sent) >= 32
        await owner.close()
        with Store.open(path, write=False) as store:
            assert [row.key for row in store.journal.calls()] == [scoped(n).key for n in names]

    run(live())


def test_a_share_holds_what_is_of_its_unit_and_no_more(path: Path) -> None:
    async def live() -> None:
        owner = Owner(str(path))
        owner._store.put_files({f"subtitles/{video().id}": "mine", "subtitles/other": "not mine"})
        async with Desk(owner) as desk:
            await desk.store.journal.record(scoped())
            await owner._store.put_battle(battle(SLOT.id))
        await owner._store.journal.record(call("of another"))
        claimed = await owner.claim(JOB, "w2")
        await owner.close()
        assert claimed is not None
        mirror = Mirror()
        mirror.add(claimed.share)
        with Store(mirror, None, None) as store:
            assert [row.key for row in store.journal.calls()] == [scoped().key]
            assert [file.text for file in store.files()] == ["mine"]
            assert store.battle(SLOT.id) == battle(SLOT.id)
            mirror.forget(UNIT)
            assert not store.journal.calls()
            assert not store.files()
            assert store.battle(SLOT.id) is None

    run(live())


def test_two_owners_of_a_file_are_refused_in_one_line(path: Path) -> None:
    owner = Owner(str(path))
    with pytest.raises(RunLocked, match="is being run by process"):
        Owner(str(path))
    run(owner.close())


def test_what_is_handed_in_is_delivered_once_the_owner_has_answered_and_not_before() -> None:
    async def live() -> None:
        answering = asyncio.Event()

        async def send(writes: Any) -> list[bool]:
            await answering.wait()
            return [True] * len(writes)

        writer = ForwardingWriter(Mirror(), send)
        CLAIM.set(UnitClaim(UNIT.name, 1))
        going = asyncio.ensure_future(writer.run())
        writing = asyncio.ensure_future(writer.write_all())
        while not writer._is_sending:
            await asyncio.sleep(0)
        assert (writer.handed_in, writer.delivered, writer.is_idle) == (1, 0, False)
        answering.set()
        await writing
        await asyncio.sleep(0)
        assert (writer.handed_in, writer.delivered, writer.is_idle) == (1, 1, True)
        going.cancel()

    run(live())


def test_a_worker_counts_no_commits_of_its_own() -> None:
    with pytest.raises(StoreError, match="no account"):
        ForwardingWriter(Mirror(), None).write_with_each("", tuple)  # type: ignore[arg-type]
