"""A worker that was given up does nothing more, whatever it was at."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import httpx
import pytest

from videoautoarena.agents.transport import transport
from videoautoarena.agents.transport.transport import SplicingTransport, guard_sending
from videoautoarena.runs.cluster.fence import SURE, Fence, Fenced, now_s

LEASE_S = 10.0


class Over(Exception):
    pass


class Away(Exception):
    pass


def over() -> None:
    raise Over


class Clock:
    now_s = 50.0

    def __call__(self) -> float:
        return self.now_s


def test_a_fence_stands_until_so_much_of_the_lease_has_passed_since_it_was_asked_for() -> None:
    clock = Clock()
    fence = Fence(clock=clock, on_end=over)
    fence.check()
    fence.extend(clock(), LEASE_S)
    clock.now_s += SURE * LEASE_S - 0.01
    fence.check()
    clock.now_s += 0.01
    with pytest.raises(Over):
        fence.check()


def test_a_lease_is_counted_from_when_it_was_asked_for_and_not_from_the_answer() -> None:
    clock = Clock()
    fence = Fence(clock=clock, on_end=over)
    fence.extend(clock() - 5, LEASE_S)
    clock.now_s += SURE * LEASE_S - 5 - 0.01
    fence.check()
    clock.now_s += 0.01
    with pytest.raises(Over):
        fence.check()


def test_an_answer_that_comes_late_shortens_no_lease() -> None:
    clock = Clock()
    fence = Fence(clock=clock, on_end=over)
    fence.extend(clock(), LEASE_S)
    fence.extend(clock() - 5, LEASE_S)
    clock.now_s += SURE * LEASE_S - 0.01
    fence.check()
    clock.now_s += 0.01
    with pytest.raises(Over):
        fence.check()


def test_the_clock_goes_on() -> None:
    assert now_s() <= now_s()


@pytest.mark.skipif(not hasattr(time, "CLOCK_BOOTTIME"), reason="no other clock counts sleep")
def test_a_machine_that_slept_through_a_lease_finds_it_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read = time.clock_gettime
    slept_s = 0.0

    def asleep(clock: int) -> float:
        return read(clock) + slept_s * (clock == time.CLOCK_BOOTTIME)

    monkeypatch.setattr(time, "clock_gettime", asleep)
    fence = Fence(on_end=over)
    fence.extend(fence.clock(), 600.0)
    fence.check()
    slept_s = 600.0
    with pytest.raises(Over):
        fence.check()


def test_a_call_to_the_head_is_made_again_while_nobody_is_there_and_only_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("videoautoarena.runs.cluster.fence.GAP_S", 0.0)
    tries: list[str] = []

    async def call(method: str, *_values: Any) -> str:
        tries.append(method)
        if len(tries) < 3:
            raise Away
        if method == "wrong":
            raise ValueError(method)
        return "done"

    fence = Fence(on_end=over)
    ask = Fenced(call, fence, is_away=lambda error: isinstance(error, Away))
    assert asyncio.run(ask("settle")) == "done"
    assert tries == ["settle"] * 3
    with pytest.raises(ValueError, match="wrong"):
        asyncio.run(ask("wrong"))


def test_a_worker_whose_lease_is_over_asks_nobody() -> None:
    clock = Clock()
    fence = Fence(clock=clock, on_end=over)
    fence.extend(clock(), LEASE_S)
    clock.now_s += LEASE_S

    async def call(_method: str, *_values: Any) -> None:
        raise AssertionError

    with pytest.raises(Over):
        asyncio.run(Fenced(call, fence, is_away=lambda _error: True)("deliver"))


def test_no_byte_of_a_body_goes_out_once_the_lease_is_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The connection is there, and its head was sent: that is where a process may stand still."""
    monkeypatch.setattr(transport, "_guards", [])
    clock = Clock()
    fence = Fence(clock=clock, on_end=over)
    fence.extend(clock(), LEASE_S)
    got = bytearray()

    async def send() -> None:
        done = asyncio.Event()

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            while chunk := await reader.read(65536):
                got.extend(chunk)
            writer.close()
            await writer.wait_closed()
            done.set()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        url = f"http://127.0.0.1:{port}"
        checks: list[int] = []

        def check() -> None:
            # The first look is before the connection, the second when the body begins.
            checks.append(1)
            clock.now_s += LEASE_S * (len(checks) > 1)
            fence.check()

        guard_sending(check)
        sending = SplicingTransport(url)
        with pytest.raises(Over):
            await sending.handle_async_request(httpx.Request("POST", url, content=b"paid for"))
        await sending.aclose()
        await done.wait()
        server.close()
        await server.wait_closed()
        assert len(checks) == 2

    asyncio.run(send())
    assert b"paid for" not in got
