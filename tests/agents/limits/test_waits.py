"""A wait at a server that refuses calls is said once when it begins and once when it is over."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from tests.support.virtual import run_virtual
from videoautoarena.agents.limits.outages import FIRST_CALM_S, LEAST_S, ServerWait, ServerWaits

HOST = "host:1"
Story = Callable[["Told"], Awaitable[None]]


@dataclass
class Told:
    """What is heard of the waits of one process."""

    heard: list[tuple[str, float, float]] = field(default_factory=list)
    """State, seconds, and when."""
    before: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.waits = ServerWaits(self._hear)

    def _hear(self, wait: ServerWait) -> None:
        self.heard.append((wait.state, wait.seconds, asyncio.get_running_loop().time()))

    async def refuse(self, call: str, pause_s: float) -> None:
        """Refuse a call, and let its pause pass."""
        before_s = self.before.get(call, 0.0)
        wait = ServerWait(HOST, "waiting", pause_s, "http-429", "slow down")
        self.waits.refused(wait, call, before_s=before_s)
        self.before[call] = before_s + pause_s
        await asyncio.sleep(pause_s)


def told(story: Story) -> list[tuple[str, float, float]]:
    """Return what is heard of a story, with ten minutes behind its end."""
    found = Told()

    async def live() -> None:
        await story(found)
        await asyncio.sleep(600)
        found.waits.close()

    run_virtual(live())
    return found.heard


def test_a_refusal_that_a_second_makes_good_is_no_news() -> None:
    async def story(found: Told) -> None:
        for number in range(100):
            await found.refuse(f"call {number}", 1.0)
            found.waits.ended(HOST, f"call {number}")

    assert told(story) == []


def test_a_long_wait_is_said_at_once_and_its_end_with_how_long_calls_waited() -> None:
    async def story(found: Told) -> None:
        await found.refuse("call", 40.0)
        await found.refuse("call", 50.0)
        found.waits.ended(HOST, "call")

    assert told(story) == [("waiting", 40.0, 0.0), ("over", 90.0, 90.0 + FIRST_CALM_S)]


def test_short_pauses_that_add_up_are_a_long_wait() -> None:
    async def story(found: Told) -> None:
        for _ in range(30):
            await found.refuse("call", 2.0)
        found.waits.ended(HOST, "call")

    (state, _, at_s), over = told(story)
    assert (state, at_s) == ("waiting", LEAST_S - 2.0)
    assert over[:2] == ("over", 60.0)


def test_a_server_that_takes_a_few_calls_a_minute_for_an_hour_is_said_in_few_lines() -> None:
    async def story(found: Told) -> None:
        for number in range(180):
            await found.refuse(f"call {number}", 20.0)
            found.waits.ended(HOST, f"call {number}")

    assert [state for state, *_ in told(story)] == ["waiting", "over"]


def test_waits_that_come_again_and_again_are_joined_after_longer_and_longer_calm() -> None:
    async def story(found: Told) -> None:
        for number in range(60):
            await found.refuse(f"call {number}", 30.0)
            found.waits.ended(HOST, f"call {number}")
            await asyncio.sleep(30)

    assert len(told(story)) <= 6


def test_a_wait_is_over_where_nothing_more_is_sent() -> None:
    async def live() -> Told:
        found = Told()
        task = asyncio.create_task(found.refuse("call", 600.0))
        await asyncio.sleep(5)
        found.waits.close()
        task.cancel()
        return found

    assert run_virtual(live()).heard[-1][:2] == ("over", 5.0)
