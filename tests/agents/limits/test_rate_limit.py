"""Rates that are known beforehand: kept in every minute, and used to the full."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from videoautoarena.agents.limits.rate_limit import Pacer


def starts(
    pacer: Pacer, tokens: list[float], *, wanted_s: list[float] | None = None
) -> list[float]:
    """Start one request after the other as early as it may be; return when."""
    now_s = 0.0
    times = []
    for place, each in enumerate(tokens):
        now_s = max(now_s, wanted_s[place] if wanted_s else 0.0)
        now_s = pacer.ready_at(each, now_s)
        pacer.start(each, now_s)
        times.append(now_s)
    return times


def test_six_requests_a_minute_start_ten_seconds_apart() -> None:
    assert starts(Pacer(6, None), [0] * 4) == [0, 10, 20, 30]


def test_a_request_that_comes_late_saves_nothing_up() -> None:
    assert starts(Pacer(6, None), [0] * 3, wanted_s=[0, 100, 100]) == [0, 100, 110]


def test_tokens_space_requests_by_what_each_takes() -> None:
    assert starts(Pacer(None, 600), [100, 200, 100]) == [0, 10, 30]


def test_a_request_above_the_whole_limit_goes_alone() -> None:
    assert starts(Pacer(None, 100), [500, 10]) == [0, 300]


def test_what_took_less_than_expected_lets_the_next_go_sooner() -> None:
    pacer = Pacer(None, 600)
    started = pacer.start(300, 0)
    assert pacer.ready_at(100, 1) == 30
    pacer.correct(started, 50)
    assert pacer.ready_at(550, 1) == 5


def test_what_took_more_holds_the_next_up() -> None:
    pacer = Pacer(None, 600)
    pacer.correct(pacer.start(100, 0), 500)
    assert pacer.ready_at(100, 1) == 50


def test_what_was_started_a_minute_ago_counts_no_more() -> None:
    pacer = Pacer(None, 600)
    pacer.start(300, 0)
    pacer.start(10, pacer.ready_at(10, 60))
    assert pacer.ready_at(590, 60) == 61
    assert pacer.ready_at(591, 60) == 120


@pytest.mark.parametrize("took", [50, 900])
def test_a_minute_counts_what_was_taken_in_it_and_not_what_was_expected(took: float) -> None:
    pacer = Pacer(None, 600)
    pacer.correct(pacer.start(300, 0), took)
    begin_s = pacer.ready_at(10, 60)
    pacer.start(10, begin_s)
    assert pacer.ready_at(590, begin_s) == begin_s + 1
    assert pacer.ready_at(591, begin_s) == begin_s + 60


def test_what_is_said_of_a_request_of_an_earlier_minute_does_not_count_in_this_one() -> None:
    pacer = Pacer(None, 600)
    late = pacer.start(300, 0)
    pacer.start(10, pacer.ready_at(10, 60))
    pacer.correct(late, 310)
    assert pacer.ready_at(590, 60) == 62


def test_a_limit_that_is_lowered_counts_what_was_started_before() -> None:
    pacer = Pacer(60, None)
    for second in range(6):
        pacer.start(0, second)
    pacer.requests = 6
    assert pacer.ready_at(0, 6) == 60
    pacer.requests = 7
    assert pacer.ready_at(0, 6) == 6


def test_no_limit_is_no_wait() -> None:
    assert starts(Pacer(None, None), [1e9] * 5) == [0] * 5


@settings(max_examples=50)
@given(
    st.integers(1, 50),
    st.integers(100, 10_000),
    st.lists(st.tuples(st.floats(0, 200), st.integers(0, 3000)), min_size=1, max_size=80),
)
def test_no_minute_holds_more_than_its_limits(
    requests: int, tokens: int, asked: list[tuple[float, int]]
) -> None:
    asked.sort()
    sizes = [float(min(size, tokens)) for _, size in asked]
    times = starts(Pacer(requests, tokens), sizes, wanted_s=[when for when, _ in asked])
    for begin in times:
        within = [i for i, time_s in enumerate(times) if begin <= time_s < begin + 60 - 1e-6]
        assert len(within) <= requests
        assert sum(sizes[i] for i in within) <= tokens


@pytest.mark.parametrize(("requests", "tokens"), [(600, None), (None, 60_000), (600, 60_000)])
def test_a_limit_is_used_to_the_full(requests: float | None, tokens: float | None) -> None:
    assert starts(Pacer(requests, tokens), [100] * 601)[-1] == pytest.approx(60.0)
