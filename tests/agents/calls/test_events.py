"""What is told of a call while a run goes on."""

from __future__ import annotations

import pytest

from tests.agents.calls.test_ask import Bench
from tests.support.asking import REMOTE, request_of
from videoautoarena.agents.calls.ask import CallEvent
from videoautoarena.agents.calls.clients import ReceivedReply
from videoautoarena.memory.records.records import Price, Usage


def test_a_call_that_was_paid_for_earlier_is_told_without_tokens_cost_or_time() -> None:
    used = Usage(input_tokens=1000, output_tokens=500)
    price = Price(input_usd=1, output_usd=4)
    model = REMOTE.with_settings(price=price)
    bench = Bench(ReceivedReply("words", used))
    bench.ask(model)
    ((key, row),) = bench.journal.rows.items()
    assert (row.usage, row.cost_usd) == (used, pytest.approx(0.003))
    bench.journal.rows[key] = row.model_copy(update={"latency_s": 1.5})
    bench.ask(model)
    assert bench.asker.recall(model, request_of()) is not None
    finished, *recalled = bench.events[1:]
    assert (finished.usage, finished.cost_usd) == (row.usage, row.cost_usd)
    assert recalled == [CallEvent("recalled", "r", row.nonce, text="words")] * 2
