"""What was paid for, or may have been, is not forgotten when its call is stopped."""

from __future__ import annotations

import asyncio

import pytest

from tests.support.asking import REMOTE, Pages, Script, Status, load_bytes, request_of, run
from tests.support.virtual import run_virtual
from videoautoarena.agents.calls.ask import Asker
from videoautoarena.agents.calls.clients import OutgoingCall, ReceivedReply
from videoautoarena.agents.limits.estimates import Estimates
from videoautoarena.agents.transport.deadlines import StandstillTimeout
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import Intent, Lost, Price


class Slow(Script):
    """Clients that take so many seconds."""

    def __init__(self, seconds: float) -> None:
        super().__init__(lambda _: "words")
        self._seconds = seconds

    async def send(self, sending: OutgoingCall) -> ReceivedReply:
        await asyncio.sleep(self._seconds)
        return await super().send(sending)


@pytest.mark.parametrize(
    ("fault", "wait_s", "tries"),
    [
        (TimeoutError("nothing came back"), 1.0, 1),
        (TimeoutError("nothing came back"), 4.0, 2),
        (Status(429), 1.0, 0),
        (None, 0.5, 1),
        (None, 5.0, 0),
    ],
)
def test_tries_of_a_stopped_call_that_may_have_been_charged_are_not_forgotten(
    fault: Exception | None, wait_s: float, tries: int
) -> None:
    priced = REMOTE.with_settings(price=Price(input_usd=0, output_usd=1_000_000))
    journal = Pages()
    slow = Slow(1.0)
    script = slow if fault is None else Script(lambda _: fault)

    async def stopped() -> list[Lost]:
        asker = Asker(journal, load_bytes, make_client=script, pause=lambda _s: asyncio.sleep(3))
        call = asyncio.create_task(asker.ask(priced, request_of()))
        await asyncio.sleep(wait_s)
        asker.drain()
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        open_ = journal.intents
        usd = [intent.usd or 0.0 for intent in open_]
        return [Lost(len(open_), sum(usd), sum(i.tokens for i in open_))] if open_ else []

    most = Estimates().most(priced, request_of())
    assert most.usd is not None
    found = run_virtual(stopped())
    assert found == ([Lost(tries, most.usd * tries, most.tokens * tries)] if tries else [])
    assert len(journal.rows) == (1 if wait_s == 5.0 else 0)


def test_a_call_that_ends_has_all_its_tries_in_its_row() -> None:
    script = Script([TimeoutError("nothing came back"), "words"])
    journal = Pages()
    asker = Asker(journal, load_bytes, make_client=script, pause=lambda _s: asyncio.sleep(0))
    run(asker.ask(REMOTE, request_of()))
    assert ([len(row.attempts) for row in journal.rows.values()], journal.intents) == ([1], [])


def test_a_call_whose_client_cannot_be_set_up_leaves_no_intent() -> None:
    script = Script([BadInput("openai:gpt-4o cannot be set up")])
    journal = Pages()
    asker = Asker(journal, load_bytes, make_client=script)
    with pytest.raises(BadInput, match="cannot be set up"):
        run(asker.ask(REMOTE, request_of()))
    assert (journal.intents, journal.rows) == ([], {})


def test_a_call_that_is_stopped_while_its_intent_is_written_leaves_none() -> None:
    class Busy(Pages):
        async def intend(self, intent: Intent) -> None:
            await super().intend(intent)
            await asyncio.get_running_loop().create_future()

    journal = Busy()
    script = Script(["words"])

    async def stopped() -> None:
        asker = Asker(journal, load_bytes, make_client=script)
        call = asyncio.create_task(asker.ask(REMOTE, request_of()))
        await asyncio.sleep(0.01)
        assert journal.intents
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)

    run(stopped())
    assert (journal.intents, script.seen) == ([], [])


def test_what_a_stop_cut_off_stays_listed_though_its_call_is_made_again() -> None:
    late = StandstillTimeout("no reply was there yet after the machine slept for 3600 s")
    script = Script([TimeoutError("nothing came back"), late, "words"])
    journal = Pages()
    asker = Asker(journal, load_bytes, make_client=script, pause=lambda _s: asyncio.sleep(0))
    run(asker.ask(REMOTE, request_of()))
    assert [(one.attempt, one.is_left_over) for one in journal.intents] == [(2, True)]
    (row,) = journal.rows.values()
    assert [attempt.kind for attempt in row.attempts] == ["timeout", "stopped"]
    assert row.attempts[1].reason == str(late)
