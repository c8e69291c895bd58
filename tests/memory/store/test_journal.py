from __future__ import annotations

import asyncio
import json
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.runfiles import call, intent, video
from videoautoarena.memory.records.digests import read_body, write_body
from videoautoarena.memory.records.errors import StoreError
from videoautoarena.memory.records.records import (
    Attempt,
    CallRow,
    Intent,
    SkippedFile,
    UnansweredTries,
    Usage,
)
from videoautoarena.memory.store import journal
from videoautoarena.memory.store.journal import NO_CALLS
from videoautoarena.memory.store.store import Store


def test_a_recorded_call_is_found_by_its_key(store: Store) -> None:
    asyncio.run(store.journal.record(call()))
    assert store.journal.find(call().key) == call()


def test_a_call_that_was_not_recorded_is_not_found(store: Store) -> None:
    assert store.journal.find("nobody") is None


def test_everything_about_a_call_comes_back(store: Store) -> None:
    row = call().model_copy(
        update={
            "usage": Usage(input_tokens=12, cached_tokens=3),
            "cost_usd": 0.1,
            "latency_s": 1 / 3,
            "attempts": (Attempt(kind="http-429", reason="slow down", waited_s=2.5),),
        }
    )
    asyncio.run(store.journal.record(row))
    assert store.journal.find(row.key) == row


def test_a_failure_for_good_is_a_row_too(store: Store) -> None:
    row = call(reply=None).model_copy(update={"failure": "refused", "failure_kind": "http-400"})
    asyncio.run(store.journal.record(row))
    assert store.journal.find(row.key) == row


def test_another_reply_under_a_recorded_key_changes_nothing(store: Store) -> None:
    asyncio.run(store.journal.record(call(reply="first")))
    asyncio.run(store.journal.record(call(reply="second")))
    assert [row.reply for row in store.journal.calls()] == ["first"]


def test_calls_come_in_the_order_in_which_they_were_recorded(store: Store) -> None:
    rows = [call(name, scope=scope) for name, scope in [("z", "v"), ("a", "w"), ("m", "v")]]

    async def record_all() -> None:
        for row in rows:
            await store.journal.record(row)

    asyncio.run(record_all())
    assert store.journal.calls() == rows
    assert store.journal.calls("v") == [rows[0], rows[2]]


def test_many_calls_are_gone_through_whole_and_in_order(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "_ROWS_AT_ONCE", 128)
    rows = [call(f"{number:03}") for number in range(300)]

    async def record_all() -> None:
        await asyncio.gather(*map(store.journal.record, rows))

    asyncio.run(record_all())
    assert store.journal.calls() == rows
    taken = [(one.scope, one.input_tokens) for one in store.journal.each_taken()]
    assert taken == [(row.nonce.scope, row.usage.input_tokens) for row in rows]


def test_a_run_that_is_read_records_no_call(store: Store, path: Path) -> None:
    asyncio.run(store.journal.record(call()))
    with Store.open(path, write=False) as reading:
        assert reading.journal.find(call().key) == call()
        with pytest.raises(StoreError, match="opened for reading"):
            asyncio.run(reading.journal.record(call("other")))


@pytest.mark.parametrize("reply", ["'; DROP TABLE calls; --", "\x00\x1b[2J", "{}%s{0}", "\udcff"])
def test_a_hostile_reply_is_only_text(store: Store, reply: str) -> None:
    asyncio.run(store.journal.record(call(reply=reply)))
    found = store.journal.find(call().key)
    assert found is not None
    assert found.reply == reply


@given(st.text(), st.floats(allow_nan=False, allow_infinity=False))
def test_a_body_comes_back_as_it_was(reply: str, latency_s: float) -> None:
    row = call(reply=reply).model_copy(update={"latency_s": latency_s})
    for defaults in (True, False):
        assert read_body(CallRow, write_body(row, defaults=defaults)) == row


def test_a_try_that_tells_no_cost_is_written_as_short_as_ever() -> None:
    body = (
        '{"alias":"a","attempts":[{"kind":"timeout","may_have_cost_usd":0.5,"reason":"slow",'
        '"waited_s":1.5},{"kind":"http-429","may_have_cost_usd":0.0,"reason":"","waited_s":2.0}],'
        '"endpoint":"h","key":"k","model":"m","nonce":{"role":"judge","scope":"v"},"prompt":"",'
        '"reply":"yes"}'
    )
    row = read_body(CallRow, body)
    assert {attempt.cost_usd for attempt in row.attempts} == {None}
    assert write_body(row, defaults=False) == body


def test_what_tries_before_the_last_one_tell_is_part_of_what_was_spent(store: Store) -> None:
    usage = Usage(input_tokens=10, output_tokens=1)
    tried = Attempt(kind="empty", reason="", waited_s=1.0, usage=usage, cost_usd=0.25)
    unknown = Attempt(kind="timeout", reason="", waited_s=1.0, may_have_cost_usd=8.0)
    tries = (tried, unknown, tried)
    told: dict[str, object] = {"model": "openai:a", "usage": usage, "attempts": tries}
    rows = [
        call("one").model_copy(update={**told, "cost_usd": 0.5}),
        call("two").model_copy(update=told),
        call("three").model_copy(update={**told, "model": "offline:a", "cost_usd": 0.0}),
        call("four").model_copy(update={"model": "openai:a", "cost_usd": 1.0}),
    ]
    for row in rows:
        asyncio.run(store.journal.record(row))
    assert store.journal.spent(besides="offline:*")[:5] == (3, 2.5, 1, 60, 6)
    assert store.journal.spent()[:5] == (4, 3.0, 1, 90, 9)
    assert [row.total_usd for row in rows] == [1.0, None, 0.5, 1.0]


def test_a_row_is_not_made_longer_by_what_nobody_said_or_a_column_says(
    store: Store, path: Path
) -> None:
    asyncio.run(store.journal.record(call()))
    with closing(sqlite3.connect(path)) as file:
        (body,) = file.execute("SELECT body FROM calls").fetchone()
    assert "reply" in json.loads(body)
    assert not {"failure", "attempts", "cost_usd", "usage"} & json.loads(body).keys()
    assert not {"key", "nonce", "model"} & json.loads(body).keys()


@given(st.binary().map(lambda name: name.decode("utf-8", "surrogateescape")))
def test_a_path_that_is_no_utf8_comes_back_as_it_was(path: str) -> None:
    skipped = SkippedFile(path=path, reason="no video")
    assert read_body(SkippedFile, write_body(skipped).encode().decode()) == skipped


@pytest.mark.parametrize("body", ["", "{", '{"path": 1}', '{"path": "a", "reason": "b", "x": 1}'])
def test_a_body_of_something_else_is_refused(body: str) -> None:
    with pytest.raises(StoreError, match="the run holds a"):
        read_body(SkippedFile, body)


def test_a_body_is_canonical() -> None:
    body = write_body(video("é.mp4"))
    assert body.startswith('{"codec":"h264","duration_s":12.5,')
    assert '"path":"é.mp4"' in body


def intend(store: Store, *intents: Intent) -> None:
    for one in intents:
        asyncio.run(store.journal.intend(one))


def test_what_is_about_to_be_sent_stands_until_its_call_is_recorded(store: Store) -> None:
    intend(store, intent("one"), intent("one", attempt=2), intent("two"))
    assert store.journal.intents() == [intent("one"), intent("one", attempt=2), intent("two")]
    asyncio.run(store.journal.record(call("one")))
    assert store.journal.intents() == [intent("two")]


def test_what_cost_nothing_for_sure_is_taken_back(store: Store) -> None:
    intend(store, intent("one"), intent("one", attempt=2))
    store.journal.withdraw(intent("one").key, 1)
    # A write that is waited for comes after it.
    store.put_file("after", "")
    assert store.journal.intents() == [intent("one", attempt=2)]


def test_a_try_that_cost_nothing_takes_back_none_before_it(store: Store) -> None:
    intend(store, intent("one"), intent("one", attempt=2))
    store.journal.withdraw(intent("one").key, 2)
    store.put_file("after", "")
    assert store.journal.intents() == [intent("one")]


def test_what_a_process_left_over_stands_for_ever(store: Store, path: Path) -> None:
    intend(store, intent("one"))
    store.close()
    with Store.open(path, write=True) as again:
        assert again.journal.intents() == [intent("one")._replace(is_left_over=True)]
        intend(again, intent("one"))
        assert again.journal.lost() == UnansweredTries(2, 1.0, 200)
        assert again.journal.lost(in_flight=False) == UnansweredTries(1, 0.5, 100)
        asyncio.run(again.journal.record(call("one")))
        again.journal.withdraw(intent("one").key, 1)
    with Store.open(path, write=False) as at_last:
        assert at_last.journal.intents() == [intent("one")._replace(is_left_over=True)]


def test_a_try_that_a_stop_cut_off_stands_for_ever(store: Store) -> None:
    intend(store, intent("one"), intent("two"), intent("one", attempt=2))
    store.journal.leave_over(intent("one").key, 1)
    intend(store, intent("one", attempt=3))
    left_over = intent("one")._replace(is_left_over=True)
    more = [intent("one", attempt=2), intent("one", attempt=3)]
    assert store.journal.intents() == [left_over, intent("two"), *more]
    asyncio.run(store.journal.record(call("one")))
    assert store.journal.intents() == [left_over, intent("two")]


def test_what_was_cut_off_stands_though_its_call_is_made_again_and_recorded(store: Store) -> None:
    intend(store, intent("one"), intent("one", attempt=2), intent("two"), intent("one"))
    cut_off = [intent("one", attempt=n)._replace(is_left_over=True) for n in (1, 2)]
    assert store.journal.intents() == [*cut_off, intent("two"), intent("one")]
    asyncio.run(store.journal.record(call("one")))
    assert store.journal.intents() == [*cut_off, intent("two")]


def test_what_tries_may_have_cost_is_summed_apart_from_calls(path: Path) -> None:
    with Store.create(path, {}) as store:
        assert store.journal.lost() == UnansweredTries()
        intend(store, intent("1", usd=0.5), intent("2", usd=None, tokens=1))
        intend(store, intent("3", model="offline:hawk", usd=9.0, tokens=9))
    with Store.open(path, write=False) as store:
        told = store.journal.spent(besides="offline:*")
        assert (told.lost, told.calls, told.usd) == (UnansweredTries(2, 0.5, 101), 0, 0.0)
        with pytest.raises(StoreError, match="opened for reading"):
            intend(store, intent())
        with pytest.raises(StoreError, match="opened for reading"):
            store.journal.withdraw(intent().key, 1)


def test_what_an_older_version_lost_still_counts(path: Path) -> None:
    with Store.create(path, {}):
        pass
    with closing(sqlite3.connect(path)) as file:
        row = ("openai:a", 2, 0.25, 10)
        file.execute("INSERT INTO lost (model, tries, usd, tokens) VALUES (?, ?, ?, ?)", row)
        file.commit()
    with Store.open(path, write=True) as store:
        intend(store, intent("1", usd=0.5))
        assert store.journal.lost() == UnansweredTries(3, 0.75, 110)


def test_answered_calls_are_counted_by_scope_alias_and_role(store: Store) -> None:
    rows = [
        call("one"),
        call("two"),
        call("three", scope="w"),
        call("four", reply=None),
        call("five").model_copy(update={"alias": "other"}),
        call("six").model_copy(
            update={"nonce": call().nonce.model_copy(update={"role": "grader"})}
        ),
    ]
    for row in rows:
        asyncio.run(store.journal.record(row))
    assert Counter(store.journal.each_answered()) == {
        ("v-p1-r0", "judge", "grader"): 1,
        ("v-p1-r0", "judge", "judge"): 2,
        ("v-p1-r0", "other", "judge"): 1,
        ("w", "judge", "judge"): 1,
    }


def test_a_run_without_a_call_came_to_nothing(store: Store) -> None:
    nothing = (0, 0.0, 0, 0, 0, (0, 0.0, 0))
    assert tuple(store.journal.spent()) == nothing == tuple(NO_CALLS)
