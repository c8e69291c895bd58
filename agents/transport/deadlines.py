"""How long one try may take, where the process or the machine may stand still meanwhile.

After Ctrl-Z and `fg`, every timer that ran out meanwhile fires in the first turn of the event loop,
while answers that lie in the sockets take several turns to be read: calls that were answered would
be cut off and paid for again. So a heartbeat looks how late it is, and a deadline that has passed
is looked at again before anything is cancelled. Only clocks are read here; nothing is sent.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from weakref import WeakKeyDictionary

BEAT_S = 0.25
"""Time between two beats, while any try is under way."""
LEAST_STALL_S = 0.25
"""Least delay of a beat that shows that the loop stood still."""
READ_S = 1.0
"""How long sockets are read after a stall before a try is cut off."""
MOST_READ_S = 4.0
"""Most that one try grows by such reading: a loop that stalls all the time earns no more."""
LEAST_SLEEP_S = 5.0
"""Least sleep after which a machine's connections are taken to be lost."""
WAKE_S = 5.0
"""How long what may still come over them is waited for: the other side keeps sending it again."""
LONGEST_STOP_S = 3600.0
"""Added to the time-outs of clients that we cannot look into, so that ours decides."""


class StandstillTimeout(TimeoutError):
    """A try that was cut off since its process stood still, or its machine slept."""


def boot_s() -> float:
    """Return seconds that go on while the process, or the whole machine, is stopped."""
    # Only Linux has a clock of the first name.
    clock = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
    return time.clock_gettime(clock)


def asleep_s() -> float:
    """Return for how long this machine has slept since some time, where its clocks tell.

    A process that is stopped between the two readings makes it less, never more.
    """
    boot = boot_s()
    return boot - time.monotonic()


class Pulse:
    """The heartbeat of one event loop: tells the deadlines in it how long it stood still."""

    def __init__(self) -> None:
        self._stood_still_s = 0.0
        self._open: set[Deadline] = set()
        self._seen_s = 0.0
        self._asleep_s = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def enter(self, deadline: Deadline) -> None:
        """Look after a deadline from now on."""
        if self._timer is None:
            self._seen_s = asyncio.get_running_loop().time()
            self._asleep_s = asleep_s()
            self._beat()
        else:
            # What was before is none of its business.
            self.look()
        self._open.add(deadline)

    def leave(self, deadline: Deadline) -> None:
        """Look after a deadline no more."""
        self._open.discard(deadline)
        if self._timer is not None and not self._open:
            self.look()
            self._timer.cancel()
            self._timer = None

    def stood_still_s(self) -> float:
        """Return for how long the loop stood still until now: in all, while a try was under way."""
        self.look()
        return self._stood_still_s

    def look(self) -> None:
        """Tell every deadline what has happened since the last look, if anything has."""
        if self._timer is None:
            # Nobody has looked for long, and nobody has to be told.
            return
        now_s = asyncio.get_running_loop().time()
        stall_s = now_s - self._seen_s - BEAT_S
        asleep = asleep_s()
        slept_s = asleep - self._asleep_s
        self._seen_s = now_s
        # A reading that came out too small must not make the next one look like a sleep.
        self._asleep_s = max(asleep, self._asleep_s)
        if stall_s >= LEAST_STALL_S:
            self._stood_still_s += stall_s
            for deadline in self._open:
                deadline.stood_still(stall_s, now_s)
        if slept_s >= LEAST_SLEEP_S:
            for deadline in self._open:
                deadline.slept(slept_s, now_s)

    def _beat(self) -> None:
        self.look()
        self._timer = asyncio.get_running_loop().call_later(BEAT_S, self._beat)


_pulses: WeakKeyDictionary[asyncio.AbstractEventLoop, Pulse] = WeakKeyDictionary()


def pulse() -> Pulse:
    """Return the heartbeat of the loop that runs."""
    loop = asyncio.get_running_loop()
    one = _pulses.get(loop)
    if one is None:
        one = _pulses[loop] = Pulse()
    return one


class Deadline:
    """When one try is cut off; moves where its loop stood still.

    It grows by as long as that was, by at most one more `timeout_s` in all, and it does not come
    before sockets were read for `READ_S` more, `MOST_READ_S` in all. What is read after a sleep is
    read within `WAKE_S`.
    """

    def __init__(self, timeout_s: float, cut: asyncio.Timeout) -> None:
        self._loop = asyncio.get_running_loop()
        self._cut = cut
        self._pulse = pulse()
        self._may_grow_s = timeout_s
        self._may_read_s = min(timeout_s, MOST_READ_S)
        self.why = ""
        """What happened to this machine that cuts it off; empty if its server is late."""
        self._pulse.enter(self)
        self.due_s = self._loop.time() + timeout_s
        self._timer = self._loop.call_at(self.due_s, self._come)

    def stood_still(self, stall_s: float, now_s: float) -> None:
        """Take note that the loop did nothing for so long until now."""
        # What is shorter than the reading behind it cuts nobody off.
        if stall_s > max(self._may_grow_s, READ_S):
            self.why = f"the process stood still for {stall_s:.0f} s"
        more_s = min(stall_s, self._may_grow_s)
        self._may_grow_s -= more_s
        grown_s = self.due_s + more_s
        read_s = now_s + min(READ_S, self._may_read_s)
        self._may_read_s -= max(0.0, read_s - max(grown_s, now_s))
        self._move(max(grown_s, read_s))

    def slept(self, slept_s: float, now_s: float) -> None:
        """Take note that the machine slept for so long until now."""
        self.why = f"the machine slept for {slept_s:.0f} s"
        self._move(min(self.due_s, now_s + WAKE_S))

    def close(self) -> None:
        """Let it never come."""
        self._timer.cancel()
        self._pulse.leave(self)

    def _move(self, due_s: float) -> None:
        self.due_s = due_s
        self._timer.cancel()
        self._timer = self._loop.call_at(due_s, self._come)

    def _come(self) -> None:
        due_s = self.due_s
        # It may be the first to run after a stall, before the beat that is due as well.
        self._pulse.look()
        # A busy loop may come here again while what it cut off is still ending.
        if self.due_s == due_s and not self._cut.expired():
            self._cut.reschedule(due_s)


_is_set: ContextVar[bool] = ContextVar("is_set", default=False)


def has_deadline() -> bool:
    """Return whether what runs here is cut off by a deadline, so that clients need none."""
    return _is_set.get()


@asynccontextmanager
async def deadline(timeout_s: float) -> AsyncIterator[Deadline]:
    """Cut off what is done in the block after so long.

    Raises:
        StandstillTimeout: it had not ended soon after a stop that was longer than it could grow.
        TimeoutError: it took too long for any other reason.
    """
    token = _is_set.set(True)
    one: Deadline | None = None
    try:
        async with asyncio.timeout(None) as cut:
            one = Deadline(timeout_s, cut)
            yield one
    except TimeoutError:
        if one is not None and one.why and cut.expired():
            raise StandstillTimeout(f"no reply was there yet after {one.why}") from None
        raise
    finally:
        if one is not None:
            one.close()
        _is_set.reset(token)
