"""What a file keeps of its own accord is always what follows from its battles and calls."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.runfiles import battle, call, frames, slot, video
from tests.support.small_runs import put_back
from videoautoarena.memory.records.errors import StoreError
from videoautoarena.memory.records.outlines import Outlines
from videoautoarena.memory.records.records import Attempt, Battle, CallEnds, CallRow, Judging
from videoautoarena.memory.store.migrations import VIEWS, VIEWS_OF_ENDS
from videoautoarena.memory.store.store import Store

ODD = ("", "plain", "nul \x00 within", "é 😀", "lone \udc80", "\\u0000", "two\nlines")


def decided(ordinal: int, **changes: Any) -> Battle:
    said = {
        "model_a": "hawk",
        "model_b": "owl",
        "answer_a": "one",
        "answer_b": "two",
        "verdict": "a",
        "reason": None,
        "verdicts": (Judging(judge="j", seats="ab", verdict="a"),),
    }
    place = {"persona": slot(ordinal).persona, "round": slot(ordinal).round}
    return battle(slot(ordinal).id).model_copy(update=said | place | changes)


def follows(path: Path) -> bool:
    """Return whether all that is kept is what a look at all bodies comes to."""
    with closing(sqlite3.connect(path)) as file:
        for name, rows in (VIEWS | VIEWS_OF_ENDS).items():
            which = " WHERE calls != 0" if name in ("sent", "call_ends") else ""
            kept = sorted(file.execute(f"SELECT * FROM {name}{which}"), key=str)
            if kept != sorted(file.execute(rows), key=str):
                return False
    return True


async def put(store: Store, *battles: Battle) -> None:
    for one in battles:
        await store.put_battle(one)


def test_a_battle_is_in_outline_as_soon_as_it_is_there(store: Store) -> None:
    asyncio.run(put(store, decided(1), decided(0, verdict="tie", language="de")))
    first, second = store.outlines()
    assert (first.verdict, first.language, second.verdict) == ("tie", "de", "a")
    assert second.verdicts == (("j", "ab", "a"),)
    assert (second.length_a, second.round) == (3, slot(1).round)


def test_a_battle_that_is_written_twice_has_one_outline(store: Store) -> None:
    asyncio.run(put(store, decided(0), decided(0, verdict="b")))
    assert [one.verdict for one in store.outlines()] == ["a"]


@pytest.mark.parametrize("text", ODD)
def test_an_answer_is_as_long_as_it_is_read(store: Store, text: str) -> None:
    asyncio.run(put(store, decided(0, answer_a=text, reason=text or None)))
    (one,) = store.outlines()
    (whole,) = store.each_battle()
    assert one.length_a == len(whole.answer_a or "")
    assert list(store.each_fields(store.outlines().numbers["ordinal"], ["answer_a"])) == [
        [whole.answer_a]
    ]


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM battles WHERE rowid = 1",
        "UPDATE battles SET body = json_set(body, '$.verdict', 'b') WHERE rowid = 1",
        "UPDATE battles SET body = 'no JSON' WHERE rowid = 2",
        "DELETE FROM calls WHERE place = 1",
        "UPDATE calls SET body = json_set(body, '$.frames', 3)",
        "DELETE FROM frames",
        "UPDATE frames SET body = '{\"frames\": [1, 2, 3]}'",
    ],
)
def test_whoever_changes_a_file_changes_what_it_keeps(
    store: Store, path: Path, change: str
) -> None:
    async def fill() -> None:
        of = video().id
        await store.put_frames(frames())
        for name in ("one", "two"):
            row = call(name, scope=f"{of}-p1-r0").model_copy(update={"frames": 2})
            await store.journal.record(row)
        await put(store, decided(0), decided(1))

    asyncio.run(fill())
    with closing(sqlite3.connect(path)) as file, file:
        ((sent,),) = file.execute("SELECT sum(calls) FROM sent")
        file.execute(change)
    assert sent == 2
    assert follows(path)


def test_calls_about_a_video_count_whenever_its_frames_come(store: Store, path: Path) -> None:
    async def fill() -> None:
        scope = f"{video().id}-p1-r0"
        await store.journal.record(call(scope=scope).model_copy(update={"frames": 2}))
        assert store.journal.sent_frames() == []
        await store.put_frames(frames())

    asyncio.run(fill())
    (one,) = store.journal.sent_frames()
    assert (one.frames, one.shown, one.calls) == (2, len(frames().frames), 1)
    assert follows(path)


def ended(name: str, **changes: Any) -> CallRow:
    """Return a contestant's call that ended in some way."""
    scope = f"{video().id}-p1-r0"
    row = call(name, scope=scope).model_copy(update={"alias": "hawk", "frames": 2})
    nonce = row.nonce.model_copy(update={"role": "contestant"})
    return row.model_copy(update={"nonce": nonce, **changes})


LATE = Attempt(kind="timeout", reason="TimeoutError: ", waited_s=1.0)
BUSY = Attempt(kind="http-429", reason="slow down", waited_s=1.0)


def test_calls_are_counted_by_how_they_ended(store: Store, path: Path) -> None:
    trial = call("trial", scope="trial:x")

    async def fill() -> None:
        for row in (
            ended("one", ending="length"),
            ended("two", ending="LENGTH", attempts=(BUSY,)),
            ended("three", reply=None, failure="no", failure_kind="timeout", attempts=(LATE, LATE)),
            ended("four", frames=0),
            trial,
        ):
            await store.journal.record(row)

    asyncio.run(fill())
    assert set(store.journal.ends()) == {
        CallEnds("hawk", "contestant", True, "length", "", False, False, 2),
        CallEnds("hawk", "contestant", False, "", "timeout", True, False, 1),
        CallEnds("hawk", "contestant", True, "", "", False, True, 1),
    }
    assert follows(path)


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM calls WHERE place = 1",
        "UPDATE calls SET body = json_set(body, '$.ending', 'stop')",
        "UPDATE calls SET body = 'no JSON' WHERE place = 1",
        "UPDATE calls SET scope = 'trial:x'",
    ],
)
def test_whoever_changes_calls_changes_how_they_are_counted(
    store: Store, path: Path, change: str
) -> None:
    async def fill() -> None:
        for name in ("one", "two"):
            await store.journal.record(ended(name, ending="length"))

    asyncio.run(fill())
    before = store.journal.ends()
    with closing(sqlite3.connect(path)) as file, file:
        file.execute(change)
    assert store.journal.ends() != before
    assert follows(path)


@pytest.mark.parametrize("mark", ["<think>", "[THINK]", "[/think]", "◁think▷", "<|channel|>"])
def test_a_battle_that_may_hold_a_mark_of_thought_is_found_again(store: Store, mark: str) -> None:
    marked = decided(1, answer_b=f"\x00 It is red. {mark}")
    asyncio.run(put(store, decided(0), marked))
    assert [one.id for one in store.each_marked()] == [marked.id]


def test_a_body_that_is_none_is_said_to_be_unreadable(store: Store, path: Path) -> None:
    asyncio.run(put(store, decided(0)))
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("UPDATE battles SET body = '{}'")
    with pytest.raises(StoreError, match="Battle that cannot be read"):
        store.outlines()


def test_a_file_of_an_older_layout_says_the_same_and_is_filled_when_written(
    store: Store, path: Path
) -> None:
    asyncio.run(put(store, decided(0), decided(2, verdict="void", reason="lost", answer_a=None)))
    kept = list(store.outlines())
    store.close()
    with closing(sqlite3.connect(path)) as file, file:
        put_back(file, 7)
    before = path.read_bytes()
    with Store.open(path, write=False) as old:
        assert list(old.outlines()) == kept
    assert path.read_bytes() == before
    with Store.open(path, write=True) as new:
        assert list(new.outlines()) == kept
    assert follows(path)


NAMES = st.sampled_from(["hawk", "owl", "mole"])
ENDS = st.sampled_from(["a", "b", "tie", "tie_bad", "split", "void", "forfeit_a"])
BALLOTS = st.lists(
    st.builds(
        Judging,
        judge=st.sampled_from(["j", "k ü"]),
        seats=st.sampled_from(["ab", "ba"]),
        verdict=st.sampled_from(["a", "b", "tie", "abstain", "failed"]),
    ),
    max_size=3,
).map(tuple)
TEXTS = st.one_of(st.none(), st.text(max_size=8))
CHANGES = st.fixed_dictionaries(
    {
        "model_a": st.one_of(st.none(), NAMES),
        "model_b": NAMES,
        "verdict": ENDS,
        "verdicts": BALLOTS,
        **dict.fromkeys(("answer_a", "answer_b", "reason"), TEXTS),
        "language": st.sampled_from([None, "de", "zh"]),
    }
)


@settings(max_examples=8, deadline=None)
@given(st.lists(CHANGES, min_size=1, max_size=3))
def test_what_the_file_keeps_is_what_the_records_say(
    tmp_path_factory: pytest.TempPathFactory, changes: list[dict[str, Any]]
) -> None:
    path = tmp_path_factory.mktemp("run") / "run.sqlite"
    with Store.create(path, {}) as store:
        store.add_videos([video()])
        store.add_slots([slot(k) for k in range(3)])
        asyncio.run(put(store, *(decided(k, **change) for k, change in enumerate(changes))))
        assert list(store.outlines()) == list(Outlines.of(store.each_battle()))
