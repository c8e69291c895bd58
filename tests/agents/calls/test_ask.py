"""One call: its key, its row, its tries, and what never happens to it."""

from __future__ import annotations

import asyncio
import gc
import hashlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.asking import (
    MODEL,
    REMOTE,
    Line,
    Pages,
    Script,
    Status,
    frames_of,
    load_bytes,
    request_of,
    run,
)
from tests.support.virtual import run_virtual
from videoautoarena.agents.calls.ask import Asker, CallEvent, journal_key
from videoautoarena.agents.calls.clients import OutgoingCall, ReceivedReply
from videoautoarena.agents.models.registry import Model
from videoautoarena.agents.prompting.contracts import SYSTEM
from videoautoarena.memory.records import errors
from videoautoarena.memory.records.digests import canonical_json
from videoautoarena.memory.records.errors import (
    BadInput,
    EmptyReply,
    FramesChanged,
    FramesLost,
    ProviderFailed,
)
from videoautoarena.memory.records.records import SCHEMA, CallRow, VideoFrames


class Bench:
    """An asker with a script, a journal and a clock that does not tick."""

    def __init__(self, *lines: Line, journal: Pages | None = None, **settings: Any) -> None:
        self.script = Script(lines)
        self.journal = journal or Pages()
        self.events: list[CallEvent] = []
        self.waited: list[float] = []
        self.asker = Asker(
            self.journal,
            load_bytes,
            make_client=self.script,
            on_event=self.events.append,
            pause=self.pause,
            **settings,
        )

    async def pause(self, seconds: float) -> None:
        self.waited.append(seconds)

    def ask(self, model: Model = MODEL, text: str = "Look.") -> str:
        return run(self.asker.ask(model, request_of(text)))


def test_a_key_is_the_digest_of_the_canonical_json_of_all_parts() -> None:
    frames = frames_of(2)
    request = request_of("Sag, «warum»?\n", frames=frames)
    parts = [
        SCHEMA,
        "offline",
        "hawk",
        {},
        SYSTEM,
        [["t=0.00s", frames.frames[0].digest], ["t=0.50s", frames.frames[1].digest]],
        "Sag, «warum»?\n",
        ["0123456789ab-p1-r0", "contestant", 0, 0],
    ]
    expected = hashlib.sha256(canonical_json(parts).encode()).hexdigest()
    assert journal_key(MODEL, request) == expected


@given(st.text(), st.text())
def test_two_texts_share_a_key_only_if_they_are_equal(one: str, other: str) -> None:
    keys = journal_key(MODEL, request_of(one)), journal_key(MODEL, request_of(other))
    assert (keys[0] == keys[1]) == (one == other)


def test_moving_a_server_changes_no_key() -> None:
    moved = Model(
        alias="other", model="openai:gpt-4o", base_url="http://elsewhere/v1", timeout_s=1.0
    )
    assert journal_key(REMOTE, request_of()) == journal_key(moved, request_of())


def test_a_sampling_parameter_changes_the_key() -> None:
    warm = Model(alias="r", model="openai:gpt-4o", parameters={"temperature": 1.0})
    assert journal_key(REMOTE, request_of()) != journal_key(warm, request_of())


def test_a_text_with_a_lone_surrogate_has_a_key() -> None:
    assert len(journal_key(MODEL, request_of("\udc80"))) == 64


def test_frames_are_told_apart_after_their_place_in_memory_was_reused() -> None:
    keys = set()
    gc.freeze()  # what the tests before left behind need not be searched twenty times
    for number in range(20):
        keys.add(journal_key(MODEL, request_of(frames=frames_of(3, video=f"{number:012d}"))))
        gc.collect()
    gc.unfreeze()
    assert len(keys) == 20


def test_a_finished_call_is_answered_from_the_journal() -> None:
    bench = Bench("once")
    assert (bench.ask(), bench.ask(), len(bench.script.seen)) == ("once", "once", 1)
    assert [event.kind for event in bench.events] == ["started", "finished", "recalled"]
    assert [event.text for event in bench.events] == ["", "once", "once"]


def test_a_row_tells_what_was_sent_where_and_what_it_took() -> None:
    bench = Bench("words")
    bench.ask()
    (row,) = bench.journal.rows.values()
    told = (row.model, row.alias, row.endpoint, row.prompt, row.reply, row.cost_usd)
    assert told == ("offline:hawk", "m", "in-process", "p" * 64, "words", 0.0)
    assert row.usage.input_tokens == 3


def test_what_a_remote_call_cost_is_unknown_and_never_free() -> None:
    bench = Bench("words")
    bench.ask(REMOTE)
    assert [row.cost_usd for row in bench.journal.rows.values()] == [None]


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 529])
def test_a_passing_fault_is_tried_again(status: int) -> None:
    bench = Bench(Status(status), "words")
    assert bench.ask(REMOTE) == "words"
    (row,) = bench.journal.rows.values()
    assert [attempt.kind for attempt in row.attempts] == [f"http-{status}"]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_a_lasting_fault_is_not_tried_again(status: int) -> None:
    bench = Bench(Status(status))
    with pytest.raises(ProviderFailed) as caught:
        bench.ask(REMOTE)
    assert caught.value.kind == f"http-{status}"


def test_six_tries_are_the_most() -> None:
    bench = Bench(*[TimeoutError()] * 6)
    with pytest.raises(ProviderFailed) as caught:
        bench.ask(REMOTE)
    assert (caught.value.kind, len(bench.script.seen), len(bench.waited)) == ("timeout", 6, 5)


def test_pauses_grow_and_are_the_same_in_every_run() -> None:
    benches = [Bench(*[ConnectionError()] * 5, "words") for _ in range(2)]
    for bench in benches:
        bench.ask(REMOTE)
    assert benches[0].waited == benches[1].waited
    assert all(2**i / 2 <= waited <= 2**i for i, waited in enumerate(benches[0].waited))


def test_a_server_says_how_long_to_wait() -> None:
    bench = Bench(Status(429, {"retry-after": "7"}), Status(503, {"retry-after": "900"}), "words")
    bench.ask(REMOTE)
    assert bench.waited == [7.0, 120.0]


def test_a_failure_for_good_is_recorded_and_raised_again_as_it_was() -> None:
    bench = Bench(Status(400))
    told = []
    for _ in range(2):
        with pytest.raises(ProviderFailed) as caught:
            bench.ask(REMOTE)
        told.append((type(caught.value), str(caught.value), caught.value.kind))
    assert told[0] == told[1]
    assert len(bench.script.seen) == 1


@pytest.mark.parametrize(
    ("error", "cost"), [(Status(401), (0.0, "refused")), (TimeoutError("late"), (None, None))]
)
def test_a_call_that_failed_cost_nothing_only_where_nobody_can_have_worked_on_it(
    error: Exception, cost: tuple[float | None, str | None]
) -> None:
    bench = Bench(*[error] * 6)
    with pytest.raises(ProviderFailed):
        bench.ask(REMOTE)
    (row,) = bench.journal.rows.values()
    assert (row.cost_usd, row.cost_from) == cost


@pytest.mark.parametrize("silence", ["", "  \n\t"])
def test_silence_three_times_is_recorded_as_an_empty_reply(silence: str) -> None:
    bench = Bench(*[silence] * 3)
    for _ in range(2):
        with pytest.raises(EmptyReply, match="no text"):
            bench.ask()
    (row,) = bench.journal.rows.values()
    assert (row.failure_kind, [a.kind for a in row.attempts]) == ("empty", ["empty"] * 2)


def test_a_reply_that_no_file_could_hold_is_made_sound() -> None:
    bench = Bench("so \ud83d far, \ud83d\ude00 good")
    assert bench.ask().encode() == "so \ufffd far, 😀 good".encode()


@pytest.mark.parametrize("error", [errors.UnusableVideo("dark"), FramesChanged("other pictures")])
def test_lost_frames_are_recorded_and_lost_ever_after(error: Exception) -> None:
    bench = Bench(error)
    for _ in range(2):
        with pytest.raises(FramesLost, match=str(error)):
            bench.ask()
    assert len(bench.script.seen) == 1


def test_the_arenas_own_errors_pass_through_and_leave_no_row() -> None:
    bench = Bench(BadInput("no key"))
    with pytest.raises(BadInput, match="no key"):
        bench.ask()
    assert not bench.journal.rows


def test_draining_finishes_what_is_under_way_and_starts_nothing() -> None:
    bench = Bench("under way", "too late", concurrency=1)

    async def drained() -> tuple[str, bool]:
        first, second = (
            asyncio.create_task(bench.asker.ask(MODEL, request_of(text))) for text in "ab"
        )
        await asyncio.sleep(0)
        bench.asker.drain()
        await bench.asker.drained.wait()
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await second
        return await first, len(bench.script.seen) == 1

    assert run(drained()) == ("under way", True)


class SlowPages(Pages):
    """A journal whose disk takes its time."""

    async def record(self, row: CallRow) -> None:
        await asyncio.sleep(10)
        await super().record(row)


def test_an_asker_is_drained_when_what_came_back_is_written_down_and_told() -> None:
    bench = Bench("one", "two", journal=SlowPages())

    async def drained() -> tuple[float, int, list[str]]:
        calls = [asyncio.create_task(bench.asker.ask(MODEL, request_of(text))) for text in "ab"]
        await asyncio.sleep(1)
        bench.asker.drain()
        await bench.asker.drained.wait()
        at_s = asyncio.get_running_loop().time()
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        return at_s, len(bench.journal.rows), [event.kind for event in bench.events]

    assert run_virtual(drained()) == (10.0, 2, ["started"] * 2 + ["finished"] * 2)


@pytest.mark.parametrize("when", ["sent", "written down"])
def test_a_call_that_is_cancelled_in_a_drain_is_waited_for_no_longer(when: str) -> None:
    async def drained() -> bool:
        asker = Asker(SlowPages(), load_bytes, make_client=Slow(1.0))
        call = asyncio.create_task(asker.ask(MODEL, request_of()))
        await asyncio.sleep(0.5 if when == "sent" else 5)
        asker.drain()
        was_drained = asker.drained.is_set()
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        return not was_drained and asker.drained.is_set()

    assert run_virtual(drained())


class Slow(Script):
    """Clients that take so many seconds."""

    def __init__(self, seconds: float) -> None:
        super().__init__(lambda _: "words")
        self._seconds = seconds

    async def send(self, sending: OutgoingCall) -> ReceivedReply:
        await asyncio.sleep(self._seconds)
        return await super().send(sending)


def test_draining_an_idle_asker_is_over_at_once() -> None:
    bench = Bench()
    bench.asker.drain()
    assert bench.asker.drained.is_set()


def test_a_bug_is_no_failure_of_a_model() -> None:
    bench = Bench(ZeroDivisionError(), TypeError())
    for model in (REMOTE, MODEL):
        with pytest.raises((ZeroDivisionError, TypeError)):
            bench.ask(model)
    assert not bench.journal.rows


def test_a_replay_names_the_call_it_misses_and_sends_nothing() -> None:
    bench = Bench("words", is_replay=True)
    with pytest.raises(errors.JournalMiss, match="contestant in 0123456789ab-p1-r0"):
        bench.ask()
    assert not bench.script.seen


def test_a_replay_answers_from_the_journal() -> None:
    played = Bench("words")
    played.ask()
    assert Bench(journal=played.journal, is_replay=True).ask() == "words"


def test_two_calls_under_way_never_share_a_key() -> None:
    bench = Bench("one", "two")

    async def twice() -> list[str | BaseException]:
        asks = [bench.asker.ask(MODEL, request_of()) for _ in range(2)]
        return await asyncio.gather(*asks, return_exceptions=True)

    first, second = run(twice())
    assert first == "one"
    assert isinstance(second, RuntimeError)


def test_equal_prompts_with_other_ordinals_are_samples_of_their_own() -> None:
    bench = Bench("one", "two")

    async def twice() -> list[str]:
        asks = [bench.asker.ask(MODEL, request_of(ordinal=i)) for i in (0, 2)]
        return await asyncio.gather(*asks)

    assert run(twice()) == ["one", "two"]


def test_a_cancelled_call_leaves_no_row_and_can_be_made_again() -> None:
    bench = Bench("never heard", "words")

    async def cancelled() -> str:
        first = asyncio.create_task(bench.asker.ask(MODEL, request_of()))
        await asyncio.sleep(0)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        assert not bench.journal.rows
        return await bench.asker.ask(MODEL, request_of())

    assert run(cancelled()) == "never heard"


def test_the_gate_limits_what_is_under_way() -> None:
    bench = Bench(*["words"] * 20, concurrency=3)

    async def many() -> None:
        await asyncio.gather(*[bench.asker.ask(MODEL, request_of(ordinal=i)) for i in range(20)])

    run(many())
    assert bench.script.most_busy == 3


def test_the_gate_serves_first_come_first() -> None:
    bench = Bench(*["words"] * 9, concurrency=1)

    async def many() -> None:
        await asyncio.gather(*[bench.asker.ask(MODEL, request_of(str(i))) for i in range(9)])

    run(many())
    assert [sending.text for sending in bench.script.seen] == [str(i) for i in range(9)]


def test_a_pause_holds_no_place_at_the_gate() -> None:
    script = Script([Status(503), "second", "first"])
    resting = asyncio.Event()

    async def rest(_seconds: float) -> None:
        await resting.wait()

    async def both() -> tuple[str, str]:
        asker = Asker(Pages(), load_bytes, concurrency=1, make_client=script, pause=rest)
        slow = asyncio.create_task(asker.ask(REMOTE, request_of("slow")))
        await asyncio.sleep(0)
        quick = await asker.ask(REMOTE, request_of("quick"))
        resting.set()
        return await slow, quick

    assert run(both()) == ("first", "second")


def test_a_retry_is_told_with_its_kind_and_pause() -> None:
    bench = Bench(Status(429, {"retry-after": "2"}), "words")
    bench.ask(REMOTE)
    assert [(e.kind, e.fault, e.alias) for e in bench.events] == [
        ("started", None, "r"),
        ("retry", "http-429", "r"),
        ("finished", None, "r"),
    ]
    assert bench.events[1].seconds == 2.0


def test_no_frames_at_all_are_an_empty_list_in_the_key() -> None:
    none = VideoFrames(video="0123456789ab", width_px=1, height_px=1, frames=())
    assert journal_key(MODEL, request_of(frames=none)) == journal_key(MODEL, request_of())
