"""The console tells what was spent of what, over the whole run and not this process alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.support.played import battle, slot, video
from videoautoarena.agents.calls.ask import CallEvent
from videoautoarena.agents.limits.caps import SpendCaps
from videoautoarena.memory.records.records import Attempt, Nonce, UnansweredTries, Usage
from videoautoarena.memory.store.journal import CallTotals
from videoautoarena.runs.console.progress.events import (
    BattleSettled,
    CallsDraining,
    RunBegun,
    RunEnded,
)
from videoautoarena.runs.console.progress.screen import ScreenSize, budget, has_budget, picture
from videoautoarena.runs.console.progress.snapshot import RunSnapshot
from videoautoarena.runs.formats.terminal_text import ASCII, TerminalLine


def standing(caps: SpendCaps, spent: CallTotals | None = None, *, slots: int = 24) -> RunSnapshot:
    stands = RunSnapshot(clock=lambda: 0.0)
    stands.hear(
        RunBegun(
            out=Path("out"),
            seed=0,
            rounds=slots,
            models=("hawk", "owl"),
            examiner="e",
            judges=("e",),
            videos={video().id: "a.mp4"},
            slots=[slot(video(), round_) for round_ in range(slots)],
            battles=[],
            caps=caps,
            spent=spent or CallTotals(),
        )
    )
    return stands


def call(cost: float | None) -> CallEvent:
    nonce = Nonce(scope=video().id, role="examiner")
    return CallEvent(
        "finished", "e", nonce, usage=Usage(input_tokens=9, output_tokens=1), cost_usd=cost
    )


def told(stands: RunSnapshot, width: int = 79) -> str:
    return budget(stands, TerminalLine(width, ASCII)).plain


def test_earlier_processes_count_and_the_end_is_told_at_the_rate_so_far() -> None:
    stands = standing(SpendCaps(2.0), CallTotals(10, 0.5, 0, 900, 100))
    stands.hear(call(0.25))
    for round_ in range(6):
        stands.hear(BattleSettled(battle(slot(video(), round_))))
    assert told(stands) == "cost $0.7500 of $2.00 | about $3.00 in total | $0.1250 per battle"


def test_what_came_back_empty_before_a_reply_is_counted_with_it() -> None:
    stands = standing(SpendCaps(2.0))
    usage = Usage(input_tokens=9, output_tokens=1)
    tried = Attempt(kind="empty", reason="", waited_s=1.0, usage=usage, cost_usd=0.5)
    stands.hear(replace(call(0.25), attempts=(tried, tried)))
    assert (stands.calls, stands.tokens_in, stands.tokens_out, stands.usd) == (1, 27, 3, 1.25)


def test_an_unknown_cost_is_not_free() -> None:
    stands = standing(SpendCaps())
    stands.hear(call(None))
    assert told(stands) == "cost unknown"
    stands.hear(call(0.5))
    assert told(stands) == "cost $0.5000 | 1 call of unknown cost"


def test_what_is_possibly_paid_stands_beside_what_is_known() -> None:
    lost = UnansweredTries(2, 0.25, 900)
    stands = standing(SpendCaps(2.0), CallTotals(10, 0.5, 0, 900, 100, lost))
    cut = Attempt(kind="connection", reason="", waited_s=1.0, may_have_cost_usd=0.125)
    refused = Attempt(kind="http-429", reason="", waited_s=1.0, may_have_cost_usd=0.0)
    stands.hear(replace(call(0.25), attempts=(cut, refused)))
    assert told(stands) == "cost $0.7500 of $2.00 | up to $0.3750 more possibly paid"


def test_a_cap_on_tokens_is_told_with_what_was_taken() -> None:
    stands = standing(SpendCaps(None, 5_000), CallTotals(3, 0.0, 3, 900, 100))
    assert told(stands) == "cost unknown | 1k of 5k tokens"


def test_a_run_of_stand_ins_tells_nothing_of_money() -> None:
    stands = standing(SpendCaps())
    stands.hear(call(0.0))
    assert not has_budget(stands)


def test_draining_for_the_cap_is_told_apart_from_an_interrupt() -> None:
    stands = standing(SpendCaps(2.0))
    size = ScreenSize(79, 22, ASCII)
    stands.hear(CallsDraining(3, is_capped=True))
    assert any(
        "cap reached: 0 calls to finish" in line.plain for line in picture(stands, None, size)
    )
    stands.hear(RunEnded(True, is_capped=True))
    assert any("stopped at the cap" in line.plain for line in picture(stands, None, size))
