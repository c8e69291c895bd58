"""What is held of a video in memory is what the run's file holds, whatever is written meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.support.runfiles import battle, call, draw, frames, slot, video
from videoautoarena.memory.store.store import Store

SLOT = slot().id
SCOPES = {SLOT: SLOT}


@contextmanager
def unread(store: Store, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Fail whoever looks into the file."""

    def refuse(*_: object) -> None:
        raise AssertionError("the file was read")

    with monkeypatch.context() as patched:
        patched.setattr(store._reader, "rows", refuse)
        yield


async def put_all(store: Store) -> None:
    await store.put_frames(frames())
    await store.put_draw(draw(SLOT))
    await store.journal.record(call())


def test_what_is_held_is_found_without_a_look_at_the_file(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    asyncio.run(put_all(store))
    store.put_file("note", "words")
    store.hold(video().id, {SLOT: call().nonce.scope}, ["note", "no note"])
    with unread(store, monkeypatch):
        assert store.frames(video().id) == frames()
        assert store.draw(SLOT) == draw(SLOT)
        assert store.battle(SLOT) is None
        assert store.journal.find(call().key, call().nonce.scope) == call()
        assert store.journal.find("another", call().nonce.scope) is None
        note = store.file("note")
        assert note is not None
        assert note.text == "words"
        assert store.file("no note") is None
    store.release(video().id)
    with unread(store, monkeypatch), pytest.raises(AssertionError, match="was read"):
        store.frames(video().id)
    assert store.frames(video().id) == frames()


def test_what_is_written_while_a_video_is_held_is_known(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.hold(video().id, {SLOT: call().nonce.scope}, ["note"])
    asyncio.run(put_all(store))
    store.put_file("note", "first")
    store.put_file("note", "second")
    with unread(store, monkeypatch):
        assert store.frames(video().id) == frames()
        assert store.draw(SLOT) == draw(SLOT)
        assert store.journal.find(call().key, call().nonce.scope) == call()
        note = store.file("note")
        assert note is not None
        assert note.text == "first"
    store.put_file("note", "third", replace=True)
    note = store.file("note")
    assert note is not None
    assert note.text == "third"


def test_a_slot_that_is_settled_meanwhile_takes_no_memory_and_is_found_in_the_file(
    store: Store,
) -> None:
    store.hold(video().id, SCOPES)
    asyncio.run(store.put_battle(battle(SLOT)))
    held = store._held[video().id]
    assert held.battles == {SLOT: None}
    assert store.battle(SLOT) == battle(SLOT)
    assert SLOT not in store.journal._held


def test_a_slot_that_was_settled_before_is_read_from_memory_until_its_lineage_goes_on(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    asyncio.run(store.put_battle(battle(SLOT)))
    store.hold(video().id, SCOPES)
    with unread(store, monkeypatch):
        assert store.battle(SLOT) == battle(SLOT)
    # Its calls are no longer asked for, so they are not in memory.
    assert SLOT not in store.journal._held
    asyncio.run(store.put_draw(draw(SLOT)))
    assert store._held[video().id].battles == {SLOT: None}
    assert store.battle(SLOT) == battle(SLOT)


def test_another_scope_is_looked_for_in_the_file(store: Store) -> None:
    store.hold(video().id, SCOPES)
    other = call(scope="trial:1")
    asyncio.run(store.journal.record(other))
    assert store.journal.find(other.key, "trial:1") == other
    assert store.journal.find(other.key) == other


def test_to_release_what_is_not_held_changes_nothing(store: Store) -> None:
    store.release("nobody")
    store.journal.release(["nobody"])
    assert store.frames(video().id) is None
