"""Whether calls wait since a server refuses them for now, said once when it begins and once after.

A refusal that a second or two makes good is no news. One that holds a call for longer is, and lasts
until every call that was refused has come to its end and none was refused for a while: a server
that takes three calls a minute is one wait, not twenty. Knows no call; the loop's clock counts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

LEAST_S = 10.0
"""How long a call has to wait in all before anybody hears of it."""
FIRST_CALM_S = 10.0
LONGEST_CALM_S = 160.0
"""For how long nothing is refused before a wait is over: twice as long after each one."""


@dataclass(frozen=True, slots=True)
class Wait:
    """News of a server that refuses calls for now."""

    address: str
    state: Literal["waiting", "over"]
    seconds: float
    """Until it is asked again; once that is over, how long calls waited."""
    fault: str = ""
    """Machine word of the refusal that was heard last, such as `http-429`."""
    reason: str = ""
    """What the server said with it; from elsewhere, on one printable line."""


@dataclass
class _Server:
    """What is known of one address."""

    pending: set[str] = field(default_factory=set)
    """Keys of calls that were refused and have not ended."""
    since_s: float | None = None
    """Since when calls are refused; None while none is."""
    until_s: float = 0.0
    """When the last of those ended."""
    said: Wait | None = None
    calm_s: float = FIRST_CALM_S
    alarm: asyncio.TimerHandle | None = None


class Waits:
    """Waits at the servers of one process."""

    def __init__(self, on_wait: Callable[[Wait], None] = lambda _wait: None) -> None:
        self._on_wait = on_wait
        self._servers: dict[str, _Server] = {}

    def refused(self, wait: Wait, call: str, *, before_s: float) -> None:
        """Take note that a call is to wait, and how long it has waited before."""
        now_s = asyncio.get_running_loop().time()
        server = self._servers.setdefault(wait.address, _Server())
        server.pending.add(call)
        if server.alarm is not None:
            server.alarm.cancel()
            server.alarm = None
        if server.since_s is None:
            server.since_s = now_s
        if server.said is None and before_s + wait.seconds >= LEAST_S:
            server.said = wait
            self._on_wait(wait)

    def ended(self, address: str, call: str) -> None:
        """Take note that a call has come to its end, however it did."""
        server = self._servers.get(address)
        if server is None or call not in server.pending:
            return
        server.pending.discard(call)
        if server.pending:
            return
        loop = asyncio.get_running_loop()
        server.until_s = loop.time()
        if server.said is None:
            server.since_s = None
        else:
            server.alarm = loop.call_later(server.calm_s, self._over, server)

    def close(self) -> None:
        """End every wait, since nothing is sent any more."""
        for server in self._servers.values():
            if server.pending:
                server.until_s = asyncio.get_running_loop().time()
                server.pending.clear()
            self._over(server)

    def _over(self, server: _Server) -> None:
        if server.alarm is not None:
            server.alarm.cancel()
            server.alarm = None
        said = server.said
        since_s = server.since_s
        server.said = server.since_s = None
        if said is not None and since_s is not None:
            server.calm_s = min(2 * server.calm_s, LONGEST_CALM_S)
            waited_s = server.until_s - since_s
            self._on_wait(Wait(said.address, "over", waited_s, said.fault, said.reason))
