from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from tests.support.runfiles import intent
from videoautoarena.memory.records.batches import BatchIntent
from videoautoarena.memory.records.records import CallRow, Intent, UnansweredTries
from videoautoarena.memory.store.store import Store

CALLS = tuple(intent()._replace(key=key, usd=0.5, tokens=10) for key in ("k1", "k2", "k3"))
BATCH = BatchIntent("b1", "openai", "openai:gpt-4o", "api.openai.com", 9.0, CALLS)


def run(*steps: Coroutine[Any, Any, None]) -> None:
    async def each() -> None:
        for step in steps:
            await step

    asyncio.run(each())


def row_of(call: Intent) -> CallRow:
    return CallRow(
        key=call.key,
        nonce=call.nonce,
        model=call.model,
        alias="m",
        endpoint="api.openai.com",
        prompt="",
        reply="yes",
        batch="b1",
    )


def test_a_batch_stands_with_all_its_calls_before_it_is_posted(path: Path) -> None:
    with Store.create(path, {}) as store:
        run(store.journal.batches.intend(BATCH))
    with Store.open(path, write=True) as store:
        (found,) = store.journal.batches.open()
        assert (found.id, found.state, found.server_id, found.open) == ("b1", "intended", None, 3)
        assert (found.usd, found.tokens) == (1.5, 30)
        assert store.journal.batches.keys == dict.fromkeys(("k1", "k2", "k3"), "b1")
        assert [one.key for one in store.journal.batches.calls_of("b1")] == ["k1", "k2", "k3"]


def test_calls_of_a_batch_may_have_been_paid_for_until_each_has_a_row(path: Path) -> None:
    with Store.create(path, {}) as store:
        journal = store.journal
        run(journal.batches.intend(BATCH), journal.batches.posted("b1", "batch_9"))
        assert journal.lost() == UnansweredTries(3, 1.5, 30)
        run(journal.record(row_of(CALLS[0])))
        assert journal.lost() == UnansweredTries(2, 1.0, 20)
        assert journal.batches.open()[0].open == 2
        run(journal.record(row_of(CALLS[1])), journal.record(row_of(CALLS[2])))
        assert (journal.lost(), journal.batches.open()) == (UnansweredTries(), [])
        assert journal.batches.server_ids() == {"batch_9"}


def test_a_call_that_leaves_its_batch_and_is_sent_by_itself_leaves_no_trace(path: Path) -> None:
    with Store.create(path, {}) as store:
        journal = store.journal
        run(journal.batches.intend(BATCH), journal.intend(CALLS[0]))
        run(journal.record(row_of(CALLS[0])))
        assert (journal.intents(), sorted(journal.batches.keys)) == ([], ["k2", "k3"])


def test_a_batch_that_was_surely_not_taken_leaves_nothing(path: Path) -> None:
    with Store.create(path, {}) as store:
        batches = store.journal.batches
        run(batches.intend(BATCH), batches.withdraw("b1"))
        assert (batches.open(), batches.keys, store.journal.lost().tries) == ([], {}, 0)


def test_a_witness_is_kept_for_as_long_as_nobody_has_heard_of_its_batch(path: Path) -> None:
    told = [BATCH._replace(id=name, witness="file-1", calls=()) for name in ("b1", "b2", "b3")]
    with Store.create(path, {}) as store:
        batches = store.journal.batches
        run(*map(batches.intend, told), batches.posted("b1", "batch_9"), batches.withdraw("b2"))
        assert [batches.witness_of(one.id) for one in told] == ["", "", "file-1"]


def test_a_call_moves_to_the_batch_that_asks_it_again(path: Path) -> None:
    again = BATCH._replace(id="b2", calls=CALLS[:1])
    with Store.create(path, {}) as store:
        batches = store.journal.batches
        run(batches.intend(BATCH), batches.intend(again))
        assert [(one.id, one.open) for one in batches.open()] == [("b1", 2), ("b2", 1)]
        assert batches.keys["k1"] == "b2"


def test_calls_that_a_batch_lost_are_counted_for_ever_and_sent_again(path: Path) -> None:
    with Store.create(path, {}) as store:
        journal = store.journal
        run(journal.batches.intend(BATCH), journal.batches.lose(["k1"]))
        assert [(one.key, one.is_left_over) for one in journal.intents()] == [("k1", True)]
        assert journal.batches.keys == {"k2": "b1", "k3": "b1"}


def test_opening_a_file_again_does_not_leave_its_batches_over(path: Path) -> None:
    with Store.create(path, {}) as store:
        run(store.journal.batches.intend(BATCH))
    with Store.open(path, write=True) as store:
        assert store.journal.intents() == []
        assert store.journal.batches.open()[0].open == 3
