"""When a try is cut off, by the clock of a loop or of a machine that stood still."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from typing import Any

import httpx
import pytest

from tests.support.virtual import VirtualLoop, run_virtual
from videoautoarena.agents.transport import deadlines
from videoautoarena.agents.transport.deadlines import (
    BEAT_S,
    MOST_READ_S,
    READ_S,
    WAKE_S,
    Deadline,
    StandstillTimeout,
    asleep_s,
    boot_s,
    deadline,
    pulse,
)
from videoautoarena.agents.transport.transport import SplicingTransport

LIMIT_S = 8.0


def now_s() -> float:
    return asyncio.get_running_loop().time()


def stand_still(seconds: float) -> None:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop)
    loop.stand_still(seconds)


async def never() -> None:
    await asyncio.get_running_loop().create_future()


def cut_off(*stops: tuple[float, float], limit_s: float = LIMIT_S) -> tuple[float, str]:
    """Return when a try that hears nothing is cut off, and why; stops are begins and lengths."""

    async def wait() -> tuple[float, str]:
        loop = asyncio.get_running_loop()
        for begin_s, length_s in stops:
            loop.call_at(begin_s, stand_still, length_s)
        try:
            async with deadline(limit_s):
                await never()
        except TimeoutError as error:
            return now_s(), type(error).__name__ + str(error)
        raise AssertionError

    return run_virtual(wait())


async def waited_in_vain() -> None:
    """Make a try that nothing comes of."""
    async with deadline(LIMIT_S):
        await never()


def test_a_try_is_cut_off_at_its_time() -> None:
    assert cut_off() == (LIMIT_S, "TimeoutError")


@pytest.mark.parametrize("stop_s", [75.0, 400.0])
@pytest.mark.parametrize("began_s", [0.1, 3.0, 7.9])
def test_after_a_long_stop_sockets_are_read_for_a_second_more(
    began_s: float, stop_s: float
) -> None:
    at_s, why = cut_off((began_s, stop_s))
    assert at_s == pytest.approx(began_s + stop_s + READ_S, abs=BEAT_S)
    assert why.startswith(
        "StandstillTimeoutno reply was there yet after the process stood still for "
    )
    assert int(why.split()[-2]) == pytest.approx(stop_s, abs=1)


def test_a_stop_before_the_first_beat_is_seen_as_well() -> None:
    assert cut_off((0.05, 75.0), limit_s=0.2)[0] == pytest.approx(75.05 + 0.2, abs=0.01)


def test_a_short_stop_makes_it_as_much_longer_and_is_no_stop() -> None:
    at_s, why = cut_off((2.0, 3.0))
    assert (at_s, why) == (pytest.approx(LIMIT_S + 3, abs=BEAT_S), "TimeoutError")


@pytest.mark.parametrize("stops", [((1.0, 3.0), (5.0, 3.0), (9.0, 3.0)), ((1.0, 6.0), (8.0, 6.0))])
def test_of_all_stops_it_grows_by_as_much_as_it_was_at_most(
    stops: tuple[tuple[float, float], ...],
) -> None:
    assert cut_off(*stops)[0] == pytest.approx(2 * LIMIT_S, abs=0.01)


@pytest.mark.parametrize("limit_s", [1.0, LIMIT_S, 300.0])
def test_a_loop_that_stalls_again_and_again_is_not_read_for_ever(limit_s: float) -> None:
    working_s = 0.3
    stall_s = 1.0
    at_s, why = cut_off(
        *[(place * (working_s + stall_s), stall_s) for place in range(800)], limit_s=limit_s
    )
    most_read_s = (MOST_READ_S / READ_S) * (stall_s + working_s)
    assert at_s <= 2 * limit_s + most_read_s + READ_S
    # Its server had all that time, and this process never stood still for long.
    assert why == "TimeoutError"


def test_what_comes_within_that_second_counts() -> None:
    async def heard() -> str:
        async with deadline(LIMIT_S):
            asyncio.get_running_loop().call_at(4.0, stand_still, 75.0)
            await asyncio.sleep(79.0 - BEAT_S + READ_S / 2)
            for _ in range(50):
                await asyncio.sleep(0)
        return "words"

    assert run_virtual(heard()) == "words"


def test_a_try_that_begins_behind_a_stop_has_its_own_time() -> None:
    async def both() -> float:
        waiting = asyncio.create_task(waited_in_vain())
        await asyncio.sleep(1)
        # Nobody has looked at the clock since.
        stand_still(75.0)
        began_s = now_s()
        with pytest.raises(TimeoutError):
            async with deadline(LIMIT_S):
                await never()
        await asyncio.gather(waiting, return_exceptions=True)
        return now_s() - began_s

    assert run_virtual(both()) == LIMIT_S


@pytest.fixture
def sleep(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Let the machine have slept for so long, by a clock that goes on meanwhile."""
    read = boot_s
    slept_s = 0.0

    def doze(seconds: float) -> None:
        nonlocal slept_s
        slept_s += seconds

    monkeypatch.setattr(deadlines, "boot_s", lambda: read() + slept_s)
    return doze


def slept(sleep: Callable[[float], None], seconds: float, *, limit_s: float) -> tuple[float, str]:
    async def wait() -> tuple[float, str]:
        asyncio.get_running_loop().call_at(3.0, sleep, seconds)
        try:
            async with deadline(limit_s):
                await never()
        except TimeoutError as error:
            return now_s(), type(error).__name__ + str(error)
        raise AssertionError

    return run_virtual(wait())


def test_what_a_machine_waited_for_as_it_slept_is_not_waited_for(
    sleep: Callable[[float], None],
) -> None:
    at_s, why = slept(sleep, 3600.0, limit_s=300.0)
    assert at_s == pytest.approx(3.0 + WAKE_S, abs=BEAT_S)
    assert why == "StandstillTimeoutno reply was there yet after the machine slept for 3600 s"


def test_a_sleep_makes_no_try_longer(sleep: Callable[[float], None]) -> None:
    assert slept(sleep, 3600.0, limit_s=4.0)[0] == 4.0


def test_a_moment_of_sleep_breaks_no_connection(sleep: Callable[[float], None]) -> None:
    assert slept(sleep, 2.0, limit_s=300.0) == (300.0, "TimeoutError")


@pytest.mark.skipif(not hasattr(time, "CLOCK_BOOTTIME"), reason="no other clock counts sleep")
def test_a_sleep_shows_where_the_system_counts_it(monkeypatch: pytest.MonkeyPatch) -> None:
    read = time.clock_gettime
    before_s = asleep_s()
    monkeypatch.setattr(
        time, "clock_gettime", lambda clock: read(clock) + 60 * (clock == time.CLOCK_BOOTTIME)
    )
    assert asleep_s() - before_s == pytest.approx(60, abs=1)


def test_a_machine_without_such_a_clock_never_slept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(time, "CLOCK_BOOTTIME", raising=False)
    monkeypatch.setattr(time, "clock_gettime", lambda _clock: time.monotonic())
    assert cut_off(limit_s=30.0) == (30.0, "TimeoutError")
    assert cut_off((3.0, 75.0))[0] == pytest.approx(78.0 + READ_S, abs=BEAT_S)


def test_who_is_cancelled_is_cancelled() -> None:
    async def stop() -> bool:
        task = asyncio.create_task(waited_in_vain())
        await asyncio.sleep(1)
        stand_still(75.0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return pulse()._timer is None

    assert run_virtual(stop())


def test_a_time_out_of_something_else_stays_what_it_is() -> None:
    async def raise_one() -> None:
        async with deadline(LIMIT_S) as one:
            one.why = "the process stood still for 75 s"
            raise TimeoutError("of a client")

    with pytest.raises(TimeoutError, match="of a client") as raised:
        run_virtual(raise_one())
    assert not isinstance(raised.value, StandstillTimeout)


def test_no_heart_beats_where_nothing_is_under_way() -> None:
    async def beats() -> list[Any]:
        async with deadline(LIMIT_S) as one:
            assert isinstance(one, Deadline)
            during = pulse()._timer
        return [during is None, pulse()._timer]

    assert run_virtual(beats()) == [False, None]


@pytest.mark.parametrize(
    ("stop_s", "has_deadline", "sent"), [(75.0, True, 2), (0.0, True, 1), (75.0, False, 1)]
)
def test_a_connection_that_a_stop_kept_from_being_made_is_made_again(
    stop_s: float, has_deadline: bool, sent: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[httpx.Request] = []

    async def send(request: httpx.Request, **_: object) -> httpx.Response:
        seen.append(request)
        if len(seen) == 1:
            stand_still(stop_s)
            raise httpx.ConnectTimeout("the timer of a stopped process", request=request)
        return httpx.Response(200, request=request, content=b"words")

    async def call() -> bytes:
        transport = SplicingTransport("http://there.example/v1")
        client = httpx.AsyncClient(transport=transport)
        monkeypatch.setattr(
            transport._client(client.build_request("GET", "/"), "AsyncClient"), "send", send
        )
        async with deadline(LIMIT_S) if has_deadline else nullcontext():
            return (await client.get("http://there.example/v1")).content

    work: Callable[[], Awaitable[bytes]] = call
    if sent == 1:
        with pytest.raises(httpx.ConnectTimeout):
            run_virtual(work())
    else:
        assert run_virtual(work()) == b"words"
    assert len(seen) == sent
