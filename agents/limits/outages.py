"""Whether an endpoint can be reached, and how long it is waited for where it cannot.

A call that was refused a connection cost nothing, and the next one would fare no better. So the
endpoint is left alone but for single calls that look whether it is back; all others wait. An
`EndpointWatch` knows no waiting and no clock: the time is passed in.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

Contact = Literal["reached", "unreached", "broken", "unknown"]
"""What a try shows of a server: it answered; nobody was there; the connection broke; nothing."""

PATIENCE_S = 900.0
"""How long an endpoint is waited for that has answered before."""
UNPROVEN_S = 30.0
"""How long an endpoint is waited for that has never answered: its address may be wrong."""
FIRST_GAP_S = 1.0
LONGEST_GAP_S = 20.0
"""Longest pause between two looks; a server that is back waits no longer for its calls."""
LONGEST_LOOK_S = 60.0
"""Longest time from one look to the end of the next; after more the process had stood still."""


@dataclass(frozen=True, slots=True)
class Outage:
    """News of an endpoint that cannot be reached."""

    address: str
    state: Literal["waiting", "over", "given-up"]
    seconds: float
    """How long it will be waited for at most; once that is over, how long it was."""
    reason: str = ""
    """Why the first call could not reach it, on one printable line; words from outside."""


@dataclass
class EndpointWatch:
    """What is known of one address, which is host and port."""

    address: str
    patience_s: float | None
    """How long it is waited for; None: not at all, and each call fails for itself."""
    has_answered: Callable[[str], bool]
    """Whether an address answered in processes before this one."""
    on_outage: Callable[[Outage], None]
    _is_proven: bool = False
    """Something came back in this process."""
    _since_s: float | None = None
    """When it was first found gone; None while it is there."""
    _until_s: float = 0.0
    _last_s: float = 0.0
    """When it was found gone last."""
    _next_s: float = 0.0
    _looks: int = 0
    _is_looked_at: bool = False
    """Whether a call that looks is under way."""
    _reason: str = ""

    def opens_at(self, now_s: float) -> float:
        """Return when the next call may go; infinity while one looks whether it is back."""
        if self._since_s is None:
            return now_s
        return float("inf") if self._is_looked_at else max(now_s, self._next_s)

    def enter(self) -> bool:
        """Let a call go, and return whether it looks if the endpoint is back."""
        self._is_looked_at = self._since_s is not None
        return self._is_looked_at

    def leave(self, contact: Contact, now_s: float, *, is_look: bool, reason: str = "") -> bool:
        """Learn from how a call ended; return whether it is to wait, since nobody was there."""
        self._is_proven = self._is_proven or contact == "reached"
        if self.patience_s is None:
            return False
        if is_look:
            self._is_looked_at = False
            return self._looked(contact, now_s)
        if contact == "unreached" and self._since_s is None:
            self._begin(now_s, self.patience_s, reason)
        return contact == "unreached"

    def _looked(self, contact: Contact, now_s: float) -> bool:
        since_s = self._since_s
        # A look that a stop of this process cut off tells nothing of the endpoint.
        if since_s is None or contact == "unknown":
            return False
        if contact == "reached":
            self._since_s = None
            self.on_outage(Outage(self.address, "over", now_s - since_s))
            return False
        # Broken counts as gone here: a server that starts up may take connections before it
        # answers.
        self._looks += 1
        # Nobody waited for it meanwhile.
        self._until_s += max(0.0, now_s - self._last_s - LONGEST_LOOK_S)
        self._last_s = now_s
        if now_s >= self._until_s:
            self.on_outage(Outage(self.address, "given-up", now_s - since_s, self._reason))
        # The last look is when patience ends, and never later.
        self._next_s = min(now_s + self._gap_s(), max(now_s, self._until_s))
        return True

    def _begin(self, now_s: float, patience_s: float, reason: str) -> None:
        is_proven = self._is_proven or self.has_answered(self.address)
        most_s = patience_s if is_proven else min(patience_s, UNPROVEN_S)
        self._since_s = now_s
        self._until_s = now_s + most_s
        self._looks = 0
        self._last_s = now_s
        self._next_s = min(now_s + self._gap_s(), self._until_s)
        self._reason = reason
        self.on_outage(Outage(self.address, "waiting", most_s, reason))

    def _gap_s(self) -> float:
        # No float holds 2 to the power of the looks of a long night.
        return min(LONGEST_GAP_S, FIRST_GAP_S * 2.0 ** min(self._looks, 30))


LEAST_S = 10.0
"""How long a call has to wait in all before anybody hears of it."""
FIRST_CALM_S = 10.0
LONGEST_CALM_S = 160.0
"""How long nothing may be refused before a wait is over; doubles after each wait up to this."""


@dataclass(frozen=True, slots=True)
class ServerWait:
    """News of a server that refuses calls for now."""

    address: str
    state: Literal["waiting", "over"]
    seconds: float
    """Time until it is asked again; once the wait is over, how long calls waited."""
    fault: str = ""
    """Machine word of the refusal that was heard last, such as `http-429`."""
    reason: str = ""
    """What the server said with it, on one printable line; words from outside."""


@dataclass
class _WaitingServer:
    """What is known of one address that refuses calls."""

    pending: set[str] = field(default_factory=set)
    """Keys of calls that were refused and have not ended."""
    since_s: float | None = None
    """Since when calls are refused; None while none is."""
    until_s: float = 0.0
    """When the last of the refused calls ended."""
    said: ServerWait | None = None
    calm_s: float = FIRST_CALM_S
    alarm: asyncio.TimerHandle | None = None


class ServerWaits:
    """Tells of waits at servers that refuse calls; one for a process."""

    def __init__(self, on_wait: Callable[[ServerWait], None] = lambda _wait: None) -> None:
        self._on_wait = on_wait
        self._servers: dict[str, _WaitingServer] = {}

    def refused(self, wait: ServerWait, call: str, *, before_s: float) -> None:
        """Take note that a call is to wait, and how long it has waited before."""
        now_s = asyncio.get_running_loop().time()
        server = self._servers.setdefault(wait.address, _WaitingServer())
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
        """Take note that a call has ended, in whatever way."""
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

    def _over(self, server: _WaitingServer) -> None:
        if server.alarm is not None:
            server.alarm.cancel()
            server.alarm = None
        said = server.said
        since_s = server.since_s
        server.said = server.since_s = None
        if said is not None and since_s is not None:
            # Longer each time, so that a server which takes a few calls a minute for an hour is
            # told of in few lines.
            server.calm_s = min(2 * server.calm_s, LONGEST_CALM_S)
            waited_s = server.until_s - since_s
            self._on_wait(ServerWait(said.address, "over", waited_s, said.fault, said.reason))
