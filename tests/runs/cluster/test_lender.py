"""What workers share: nobody gets more than there is, and what the dead had comes back by time."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.lending import (
    HOST,
    LEASE_S,
    Clock,
    busy,
    capped_run,
    config,
    is_open,
    lending,
    opened,
    run,
)
from videoautoarena.agents.limits.scheduler import PlaceDemand
from videoautoarena.runs.cluster.lender import Lender, limits_in, shared


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return capped_run(tmp_path)


@pytest.mark.skipif(not hasattr(time, "CLOCK_BOOTTIME"), reason="no other clock counts sleep")
def test_a_lease_runs_on_while_the_machine_sleeps(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = time.clock_gettime
    slept_s = 0.0

    def asleep(clock: int) -> float:
        return read(clock) + slept_s * (clock == time.CLOCK_BOOTTIME)

    async def live() -> None:
        nonlocal slept_s
        lender = Lender(str(path), config(), concurrency=12, lease_s=LEASE_S)
        await lender.begin()
        await lender.enlist("a", "node")
        assert await lender.renew("a", "node", busy(0, 1)) is not None
        slept_s = LEASE_S + 1
        assert await lender.renew("a", "node", busy(0, 1)) is None

    monkeypatch.setattr(time, "clock_gettime", asleep)
    run(live())


def test_places_are_parted_equally_and_the_rest_goes_to_who_can_use_it() -> None:
    many = PlaceDemand(0, 100)
    assert shared(12, many, wants=[many, many], held=0) == 4
    assert shared(12, many, wants=[PlaceDemand(1, 0), PlaceDemand(1, 0)], held=2) == 10
    assert shared(12, PlaceDemand(0, 1), wants=[many, many], held=8) == 1
    assert shared(12, many, wants=[many], held=12) == 0


@given(
    st.integers(1, 40),
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 30)), min_size=1, max_size=6),
    st.lists(st.integers(0, 5), min_size=1, max_size=60),
)
def test_no_more_than_there_is_is_ever_lent_whoever_asks_when(
    capacity: int, wants: list[tuple[int, int]], order: list[int]
) -> None:
    asked = [PlaceDemand(*one) for one in wants]
    held = [0] * len(asked)
    for turn in order:
        mine = turn % len(asked)
        others = [one for place, one in enumerate(asked) if place != mine]
        held[mine] = shared(capacity, asked[mine], wants=others, held=sum(held) - held[mine])
        assert sum(held) <= capacity


def test_a_worker_that_is_silent_for_a_lease_has_nothing_any_more(path: Path) -> None:
    clock = Clock()

    async def live() -> None:
        lender = lending(path, clock)
        await lender.begin()
        for name in ("a", "b"):
            await lender.enlist(name, "node")
            assert await lender.renew(name, "node", busy(0, 100))
        clock.now_s += LEASE_S - 1
        lease = await lender.renew("a", "node", busy(6, 100))
        assert lease is not None
        assert lease.loan.total <= 6
        assert not await lender.is_gone("b")
        clock.now_s += 2
        assert await lender.is_gone("b")
        assert await lender.renew("b", "node", busy(0, 1)) is None
        lease = await lender.renew("a", "node", busy(6, 100))
        assert lease is not None
        assert lease.loan.total == lease.loan.places[HOST] == 12

    run(live())


def test_a_new_life_lends_nothing_until_what_the_old_one_lent_has_run_out(path: Path) -> None:
    clock = Clock()

    async def live() -> None:
        lender = lending(path, clock)
        first = await lender.renew("a", "node", busy(3, 9))
        assert first is not None
        assert first.loan.total == 0
        assert not await lender.is_gone("b")
        clock.now_s += LEASE_S / 2
        await lender.renew("a", "node", busy(3, 9))
        clock.now_s += LEASE_S
        # It may still announce a try that the earlier life lent to.
        unsure = await lender.renew("a", "node", busy(3, 9))
        assert unsure is not None
        assert unsure.loan.total == 0
        assert not await is_open(lender)
        await lender.renew("a", "node", busy(3, 9, lender.boot))
        await opened(lender)
        later = await lender.renew("a", "node", busy(3, 9, lender.boot))
        assert later is not None
        assert later.loan.total == 12
        assert await lender.is_gone("b")
        assert await lender.renew("b", "node", busy(1, 1)) is None

    run(live())


def test_a_new_life_begins_at_once_where_all_that_live_were_heard_of(path: Path) -> None:
    async def live() -> None:
        lender = lending(path, Clock())
        await lender.renew("a", "node", busy(0, 1))
        await lender.roll(["a", "b"])
        lease = await lender.renew("b", "node", busy(0, 1))
        assert lease is not None
        assert lease.loan.total == 0
        await lender.roll(["a", "b"])
        lease = await lender.renew("b", "node", busy(0, 1, lender.boot))
        assert lease is not None
        assert lease.loan.total == 0, "a has not said that it knows of this life"
        assert not await is_open(lender)
        await lender.renew("a", "node", busy(0, 1, lender.boot))
        await opened(lender)
        lease = await lender.renew("b", "node", busy(0, 1, lender.boot))
        assert lease is not None
        assert lease.loan.total > 0

    run(live())


def test_a_new_life_waits_a_whole_lease_and_more_for_whom_the_old_one_may_have_lent_to(
    path: Path,
) -> None:
    clock = Clock()

    async def live() -> None:
        lender = lending(path, clock)
        for _ in range(3):
            lease = await lender.renew("a", "node", busy(0, 9, lender.boot))
            assert lease is not None
            # Nobody has heard of b, which may be sending.
            await lender.roll(["a", "b"])
            assert not await is_open(lender)
            clock.now_s += LEASE_S / 2
        await lender.renew("a", "node", busy(0, 9, lender.boot))
        assert await is_open(lender)

    run(live())


def test_an_endpoint_takes_no_more_than_it_says_of_all_workers_together(path: Path) -> None:
    async def live() -> None:
        lender = lending(path, Clock(), concurrency=3)
        await lender.begin()
        for name in ("a", "b"):
            await lender.enlist(name, "node")
        lent = {}
        for _ in range(3):
            for name in ("a", "b"):
                lease = await lender.renew(name, "node", busy(lent.get(name, 0), 50))
                assert lease is not None
                lent[name] = lease.loan.places[HOST]
                assert sum(lent.values()) <= 3

    run(live())


def test_rates_are_parted_and_scant_ones_are_one_workers_alone(path: Path) -> None:
    async def shares(**limits: Any) -> list[tuple[int, float]]:
        lender = lending(path, Clock(), **limits)
        await lender.begin()
        found = []
        for name in ("a", "b"):
            await lender.enlist(name, "node")
        for name in ("a", "b"):
            lease = await lender.renew(name, "node", busy(0, 5))
            assert lease is not None
            found.append((lease.loan.places[HOST], lease.loan.rates[HOST]))
        return found

    assert [share for _, share in run(shares(requests_per_minute=600))] == [0.5, 0.5]
    (first, whole), (second, _) = run(shares(requests_per_minute=6))
    assert first > 0
    assert whole == 1.0
    assert second == 0


def test_an_idle_worker_keeps_nobody_from_a_scant_endpoint(path: Path) -> None:
    async def lent() -> list[int]:
        lender = lending(path, Clock(), requests_per_minute=6)
        await lender.begin()
        found = []
        for name in ("idle", "busy"):
            await lender.enlist(name, "node")
        for name, wants in (("idle", busy(0, 0)), ("busy", busy(0, 3))) * 2:
            lease = await lender.renew(name, "node", wants)
            assert lease is not None
            found.append(lease.loan.places[HOST])
        return found

    assert run(lent())[-2:] == [0, 3]


def test_a_smaller_loan_frees_nothing_before_it_was_heard_of(path: Path) -> None:
    async def live() -> None:
        lender = lending(path, Clock(), concurrency=8)
        await lender.begin()
        for name in ("a", "b"):
            await lender.enlist(name, "node")
        all_ = busy(0, 100)
        waiting = busy(0, 100)
        await lender.renew("b", "node", busy(0, 0))
        first = await lender.renew("a", "node", all_)
        assert first is not None
        # It has little to do for a moment, and begins all that it was lent before it hears of less.
        less = await lender.renew("a", "node", busy(1, 0))
        other = await lender.renew("b", "node", waiting)
        assert less is not None
        assert other is not None
        assert less.loan.total < first.loan.total
        assert first.loan.total + other.loan.total <= 8
        await lender.renew("a", "node", busy(less.loan.total, 0))
        other = await lender.renew("b", "node", waiting)
        assert other is not None
        assert other.loan.total > 8 - first.loan.total

    run(live())


def test_what_is_under_way_beyond_a_smaller_loan_is_lent_to_nobody_else(path: Path) -> None:
    async def live() -> None:
        lender = lending(path, Clock())
        await lender.begin()
        for name in ("a", "b"):
            await lender.enlist(name, "node")
        await lender.renew("a", "node", busy(0, 100))
        for _ in range(3):
            other = await lender.renew("b", "node", busy(0, 100))
            less = await lender.renew("a", "node", busy(12, 100))
        assert less is not None
        assert less.loan.total < 12
        assert other is not None
        assert (other.loan.total, other.loan.places[HOST]) == (0, 0)

    run(live())


def test_who_is_given_up_is_given_no_more_time_though_it_is_well(path: Path) -> None:
    clock = Clock()

    async def live() -> None:
        lender = lending(path, clock)
        await lender.begin()
        await lender.enlist("a", "node")
        assert await lender.renew("a", "node", busy(1, 0)) is not None
        assert not await lender.is_gone("a")
        assert await lender.renew("a", "node", busy(1, 0)) is None
        clock.now_s += 2 * LEASE_S
        assert await lender.is_gone("a")

    run(live())


def test_who_comes_late_waits_a_minute_at_an_endpoint_with_rates(path: Path) -> None:
    clock = Clock()

    async def live() -> None:
        lender = lending(path, clock, requests_per_minute=600)
        await lender.begin()
        await lender.enlist("a", "node")
        for _ in range(4):
            clock.now_s += LEASE_S / 2
            await lender.renew("a", "node", busy(1, 5))
        await lender.enlist("late", "node")
        lease = await lender.renew("late", "node", busy(0, 5))
        assert lease is not None
        assert lease.loan.places[HOST] == 0
        for _ in range(13):
            clock.now_s += LEASE_S / 2
            await lender.renew("a", "node", busy(1, 5))
            lease = await lender.renew("late", "node", busy(0, 5))
        assert lease is not None
        assert lease.loan.places[HOST] > 0

    run(live())


def test_the_limits_of_a_place_are_the_least_that_any_of_its_models_states() -> None:
    assert limits_in(config(concurrency=3), 16)[HOST].places == 3
    assert limits_in(config(), 16)[HOST].places == 16
    assert not limits_in(config(), 16)[HOST].is_rated
