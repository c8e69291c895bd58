"""The writer of a worker: what it is handed goes to the owner of the run's file, many at a time.

A caller goes on when the owner has committed, as with a file of one's own. Messages stay in order,
and one is under way at a time: the longer it takes, the more the next one carries.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from contextvars import ContextVar
from typing import NamedTuple

from videoautoarena.memory.records.errors import StoreError
from videoautoarena.memory.store.shares import Mirror
from videoautoarena.memory.store.writer import Row, Statement, Writes

GATHER_S = 0.02
"""How long a message waits for more: a message costs 2 ms of CPU, a call takes seconds."""
ENOUGH = 32
"""So many writes are sent at once, without waiting for more."""
MOST = 512
"""Writes in one message."""


class Claim(NamedTuple):
    """The right to write about a unit, for as long as nobody claims it anew."""

    unit: str
    epoch: int


CLAIM: ContextVar[Claim] = ContextVar("claim")
"""For what the task is at work that runs now."""


class Write(NamedTuple):
    """Statements that are applied all or none, and by which right."""

    claim: Claim
    statements: tuple[Statement, ...]


Send = Callable[[Sequence[Write]], Awaitable[Sequence[bool]]]
"""Hands writes over and returns, once they are committed, which of the claims still held."""


class CutOff(StoreError):
    """Somebody else plays what was being written about."""


class _Waiting(NamedTuple):
    write: Write
    future: asyncio.Future[None]
    is_applied: bool
    """The mirror has it already."""


class ForwardingWriter(Writes):
    """Sends writes to the owner of a file; `run` must be under way in the same event loop."""

    def __init__(self, mirror: Mirror, send: Send) -> None:
        self._mirror = mirror
        self._send = send
        self._waiting: list[_Waiting] = []
        self._some = asyncio.Event()
        self._enough = asyncio.Event()
        self._is_sending = False
        self.handed_in = 0
        """How many writes so far."""
        self.delivered = 0
        """How many of these, from the first on, the owner has answered for."""

    @property
    def is_idle(self) -> bool:
        """Whether all that was handed in is committed."""
        return not (self._waiting or self._is_sending)

    async def write_all(self, *statements: Statement) -> None:
        """Return once the owner has committed them; CutOff where the claim no longer holds.

        None at all: once it has committed all that was handed in before.
        """
        await self._hand_in(statements)

    def write_each_now(self, sql: str, rows: Iterable[Row]) -> None:
        """Apply here at once, and hand in; an event loop must not stand still."""
        kept = [tuple(row) for row in rows]
        self._mirror.apply([(sql, kept)])
        self._hand_in([(sql, kept)], is_applied=True)

    def write_soon(self, sql: str, *rows: Row) -> None:
        """Hand in, and wait for nothing."""
        self._hand_in([(sql, rows)])

    def write_with_each(self, sql: str, row: Callable[[], Row]) -> None:  # noqa: ARG002
        """Refuse: the owner alone counts its commits."""
        raise StoreError("a worker keeps no account of its own of a run")

    def close(self) -> None:
        """Let whoever waits know that nothing more is sent."""
        for _, future, _ in self._waiting:
            if not future.done():
                future.set_exception(StoreError("the worker has ended"))
        self._waiting.clear()

    def _hand_in(
        self, statements: Iterable[Statement], *, is_applied: bool = False
    ) -> asyncio.Future[None]:
        kept = tuple((sql, [tuple(row) for row in rows]) for sql, rows in statements)
        future = asyncio.get_running_loop().create_future()
        # Not everybody waits for it: what comes of it is then nobody's business.
        future.add_done_callback(lambda one: one.cancelled() or one.exception())
        self._waiting.append(_Waiting(Write(CLAIM.get(), kept), future, is_applied))
        self.handed_in += 1
        self._some.set()
        if len(self._waiting) >= ENOUGH:
            self._enough.set()
        return future

    async def run(self) -> None:
        """Send what is handed in, until cancelled."""
        while True:
            await self._some.wait()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._enough.wait(), GATHER_S)
            batch = self._waiting[:MOST]
            self._waiting = self._waiting[MOST:]
            self._is_sending = True
            try:
                await self._deliver(batch)
                self.delivered += len(batch)
            finally:
                self._is_sending = False
            if not self._waiting:
                self._some.clear()
            if len(self._waiting) < ENOUGH:
                self._enough.clear()

    async def _deliver(self, batch: Sequence[_Waiting]) -> None:
        try:
            held = await self._send([one.write for one in batch])
        except StoreError as error:
            for _, future, _ in batch:
                if not future.done():
                    future.set_exception(error)
            return
        for (write, future, is_applied), is_held in zip(batch, held, strict=True):
            if is_held and not is_applied:
                self._mirror.apply(write.statements)
            if future.done():
                continue
            if is_held:
                future.set_result(None)
            else:
                future.set_exception(CutOff(f"{write.claim.unit} is played by somebody else"))
