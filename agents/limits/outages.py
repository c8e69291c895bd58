"""Whether an endpoint can be reached, and how long it is waited for where it cannot.

A call that was refused a connection cost nothing, and the next one would fare no better. So the
endpoint is left alone but for single calls that look whether it is back; all others wait. An
`Endpoint` knows no waiting and no clock: the time is passed in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Contact = Literal["reached", "unreached", "broken", "unknown"]
"""What a try shows: something came back; no connection was made; it was made and broke; nothing."""

PATIENCE_S = 900.0
"""How long an endpoint is waited for that has answered before."""
UNPROVEN_S = 30.0
"""And one that never has: its address may be wrong."""
FIRST_GAP_S = 1.0
LONGEST_GAP_S = 20.0
"""Between two looks whether it is back: what a server is kept waiting at most once it is."""
LONGEST_LOOK_S = 60.0
"""From one look to the end of the next; where it was more, this process or machine stood still."""


@dataclass(frozen=True, slots=True)
class Outage:
    """News of an endpoint that cannot be reached."""

    address: str
    state: Literal["waiting", "over", "given-up"]
    seconds: float
    """How long it will be waited for at most; once that is over, how long it was."""
    reason: str = ""
    """What the first call met that could not reach it; from elsewhere, on one printable line."""


@dataclass
class Endpoint:
    """What is known of one address, which is host and port."""

    address: str
    patience_s: float | None
    """How long it is waited for; None: never, and each call fares for itself."""
    has_answered: Callable[[str], bool]
    """Whether it ever has, in processes before this one."""
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
    """Such a call is under way."""
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
        if since_s is None or contact == "unknown":
            return False
        if contact == "reached":
            self._since_s = None
            self.on_outage(Outage(self.address, "over", now_s - since_s))
            return False
        self._looks += 1
        # Nobody waited for it meanwhile.
        self._until_s += max(0.0, now_s - self._last_s - LONGEST_LOOK_S)
        self._last_s = now_s
        if now_s >= self._until_s:
            self.on_outage(Outage(self.address, "given-up", now_s - since_s, self._reason))
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
        return min(LONGEST_GAP_S, FIRST_GAP_S * 2.0**self._looks)
