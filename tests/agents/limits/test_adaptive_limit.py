"""The gate: what it learns from replies and refusals, and what a server's weather costs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.weather import Spell, Weather, endure
from videoautoarena.agents.limits.rate_limit import TUNING, AdaptiveLimit, Outcome, SentTry
from videoautoarena.agents.limits.scheduler import Scheduler
from videoautoarena.agents.models.registry import Model
from videoautoarena.memory.records.records import CallLimits

LIMITED = Weather(concurrent=32, a_minute=600, hint_s=1.0)
STORM = Weather(concurrent=32, a_minute=600, hint_s=89.0, storms=((20.0, 40.0),))


def refuse(gate: AdaptiveLimit, times: int, *, now_s: float = 0.0) -> None:
    for _ in range(times):
        gate.leave(gate.enter(now_s), "refused", now_s)


def round_of(gate: AdaptiveLimit, now_s: float, *, latency_s: float = 1.0) -> None:
    """Fill every place, find one more wanted, and let all calls come back."""
    tickets = [gate.enter(now_s) for _ in range(gate.free)]
    gate.opens_at(now_s)
    for ticket in tickets:
        gate.leave(ticket, "taken", now_s + latency_s)


def test_places_double_with_every_round_until_the_first_refusal() -> None:
    gate = AdaptiveLimit(256)
    places = []
    for second in range(5):
        places.append(gate.places)
        round_of(gate, second)
    assert places == [16, 32, 64, 128, 256]


def test_a_gate_that_nobody_fills_does_not_grow() -> None:
    gate = AdaptiveLimit(256)
    for second in range(100):
        gate.leave(gate.enter(second), "taken", second + 1)
    assert gate.places == TUNING.start_places


def test_a_refusal_among_many_calls_costs_a_tenth_of_the_places() -> None:
    gate = AdaptiveLimit(32)
    round_of(gate, 0)
    tickets = [gate.enter(1) for _ in range(32)]
    gate.leave(tickets[0], "refused", 1.05)
    assert gate.places == 28


@pytest.mark.parametrize(("used", "kept"), [(16, 15), (20, 19), (32, 31), (40, 38.8)])
def test_after_a_refusal_all_used_places_but_one_or_three_in_a_hundred_come_back_at_once(
    used: int, kept: float
) -> None:
    gate = AdaptiveLimit(64)
    gate.limit = used
    round_of(gate, 0)
    gate.limit = used
    tickets = [gate.enter(1) for _ in range(used)]
    gate.leave(tickets[0], "refused", 1.05)
    for ticket in tickets[1:]:
        gate.leave(ticket, "unknown", 2)
    round_of(gate, 3)
    assert gate.limit == pytest.approx(kept)
    for second in range(4, 9):
        round_of(gate, second)
    # What was refused is tried again after some rounds of replies.
    assert gate.limit == pytest.approx(kept + 1)


def test_refusals_of_calls_sent_at_once_are_one_refusal() -> None:
    one = AdaptiveLimit(32)
    many = AdaptiveLimit(32)
    for gate, refusals in ((one, 1), (many, 16)):
        for ticket in [gate.enter(0) for _ in range(16)][:refusals]:
            gate.leave(ticket, "refused", 0.1)
    assert one.limit == many.limit


def test_a_storm_leaves_one_place_and_short_breaths() -> None:
    gate = AdaptiveLimit(64)
    refuse(gate, 2000)
    assert gate.places == 1
    assert 0.0 < gate.opens_at(0.0) <= 2.0


def test_after_a_storm_places_come_back_in_a_few_rounds() -> None:
    gate = AdaptiveLimit(64)
    round_of(gate, 0)
    refuse(gate, 30, now_s=1)
    for second in range(10, 15):
        round_of(gate, second)
    assert gate.places >= 15


def test_a_storm_before_all_else_proves_no_limit_and_every_round_brings_a_place_more() -> None:
    fresh = AdaptiveLimit(64)
    limited = AdaptiveLimit(64)
    refuse(limited, 1)
    round_of(limited, 1)
    for gate in (fresh, limited):
        refuse(gate, 30, now_s=2)
        for second in range(10, 30):
            round_of(gate, second)
    assert fresh.places >= 30 > 20 >= limited.places


@pytest.mark.slow
def test_who_is_refused_from_the_start_loses_little_whatever_the_latencies() -> None:
    weather = replace(STORM, storms=((0.0, 3.0),))
    assert min(endure(weather, seed=seed, until_s=120.0).share for seed in range(3)) >= 0.85


def test_one_refusal_at_a_time_above_a_limit_is_no_noise() -> None:
    gate = AdaptiveLimit(64)
    places = []
    for second in range(60):
        tickets = [gate.enter(second) for _ in range(gate.free)]
        gate.opens_at(second)
        is_above = len(tickets) > 28
        for number, ticket in enumerate(tickets):
            refused = is_above and number == 0
            gate.leave(ticket, "refused" if refused else "taken", second + (0.1 if refused else 1))
        places.append(gate.places)
    assert min(places[5:]) >= 22
    assert sorted(places[-20:])[10] >= 28
    assert gate.noise.share == 0.0


def test_slow_answers_end_growth_and_never_cut() -> None:
    gate = AdaptiveLimit(64)
    for second in range(100):
        round_of(gate, second)
    for second in range(100, 200):
        round_of(gate, second, latency_s=30.0)
    assert gate.places == 64


def test_a_server_that_answers_ever_slower_is_not_sent_ever_more() -> None:
    gate = AdaptiveLimit(1000)
    for second in range(100):
        round_of(gate, second, latency_s=max(1.0, gate.places / 32))
    assert gate.places < 128


@given(st.integers(1, 64), st.lists(st.tuples(st.sampled_from(["taken", "refused", "unknown"]))))
def test_a_gate_is_never_shut_for_good_and_never_above_its_ceiling(
    ceiling: int, outcomes: list[tuple[Outcome]]
) -> None:
    gate = AdaptiveLimit(ceiling)
    now_s = 0.0
    for (outcome,) in outcomes:
        now_s = max(now_s, gate.opens_at(now_s))
        gate.leave(gate.enter(now_s), outcome, now_s + 1.0)
        assert 1 <= gate.places <= ceiling
        assert gate.opens_at(now_s + 1.0) <= now_s + 1.0 + 2.0
    assert gate.under_way == 0


def test_a_call_of_before_the_storm_does_not_end_it() -> None:
    gate = AdaptiveLimit(64)
    early: list[SentTry] = [gate.enter(0) for _ in range(4)]
    refuse(gate, 8)
    gate.leave(early[0], "taken", 1)
    assert gate.places == 1


def adaptive_limit_of(
    turns: Scheduler, model: str = "openai:x", **settings: Any
) -> AdaptiveLimit | None:
    return turns.queue_of(Model(alias="a", model=model, **settings)).gate


def test_models_behind_one_address_and_key_share_a_gate() -> None:
    turns = Scheduler(8)
    here = {"base_url": "http://here/v1"}
    assert adaptive_limit_of(turns, **here) is adaptive_limit_of(turns, "openai:y", **here)
    assert adaptive_limit_of(turns, **here) is not adaptive_limit_of(
        turns, base_url="http://there/v1"
    )
    assert adaptive_limit_of(turns, **here) is not adaptive_limit_of(turns, key_env="OTHER", **here)
    assert adaptive_limit_of(turns, "offline:hawk") is None


SHARES: dict[str, tuple[Weather, float, float]] = {
    "32 at once": (Weather(concurrent=32, hint_s=1.0), 100.0, 0.95),
    "32 at once, 600 a minute": (LIMITED, 200.0, 0.9),
    "the same by windows": (
        Weather(concurrent=32, a_minute=600, window=True, hint_s=5.0),
        130.0,
        0.93,
    ),
    "a storm": (STORM, 150.0, 0.85),
    "the storm, nobody hints": (replace(STORM, hint_s=None), 300.0, 0.92),
    "refused from the start": (replace(STORM, storms=((0.0, 3.0),)), 150.0, 0.9),
    "slow drift": (
        Weather(concurrent=32, hint_s=1.0, latency_s=lambda now_s: 2 + 4 * now_s / 150),
        150.0,
        0.95,
    ),
}
"""The weather, for how long, and the least share of what there is to have."""

FAST = ("a storm",)
"""A limit, a rate and a storm amid a run; the others are slow."""


@pytest.fixture(
    scope="module",
    params=[pytest.param(name, marks=() if name in FAST else pytest.mark.slow) for name in SHARES],
)
def spell(request: pytest.FixtureRequest) -> tuple[Spell, float]:
    weather, until_s, bound = SHARES[request.param]
    return endure(weather, seed=5, until_s=until_s), bound


def test_the_gate_gets_most_of_what_a_server_has_to_give(spell: tuple[Spell, float]) -> None:
    fared, bound = spell
    assert fared.share >= bound
    assert fared.failed == 0


def test_few_tries_are_wasted_on_refusals(spell: tuple[Spell, float]) -> None:
    assert spell[0].refused < 0.07


def test_a_storm_of_five_minutes_loses_no_call() -> None:
    weather = Weather(concurrent=8, hint_s=89.0, storms=((10.0, 310.0),))
    assert endure(weather, until_s=330.0, lineages=16).failed == 0


def test_a_hint_holds_up_nobody_once_the_server_takes_calls_again() -> None:
    weather = Weather(concurrent=8, hint_s=89.0, storms=((10.0, 15.0),))
    fared = endure(weather, until_s=60.0, lineages=12)
    assert sum(1 for done_s in fared.sky.done if 20 <= done_s < 60) >= 0.9 * 8 / 2 * 40


def test_who_was_told_to_wait_waits_while_nothing_shows_that_it_is_over() -> None:
    weather = Weather(hint_s=50.0, storms=((0.0, 20.0),))
    assert endure(weather, until_s=100.0, lineages=1).sky.sent[:2] == [0.0, 50.05]


def test_a_stated_rate_is_kept_without_one_refusal() -> None:
    limits = CallLimits(requests_per_minute=600, concurrency=32)
    weather = Weather(concurrent=32, a_minute=600, bucket=3)
    fared = endure(weather, until_s=60.0, model={"limits": limits})
    assert fared.refused == 0.0
    assert fared.share >= 0.97
