"""The one way out to a model: every call has a key, is made once in effect, and leaves a row.

A call that the journal knows is answered from it. Any other waits for its turn at the gate, is
sent, tried again where that can help, and written down before its reply goes on.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import KW_ONLY, dataclass, field
from typing import Literal, NamedTuple, Protocol

from agents.clients import ChatClient, Client, Load, Received, Sending
from agents.contracts import SYSTEM
from agents.estimates import Estimates, may_be_charged
from agents.layout import fragment
from agents.models import Model
from agents.prices import REFUSED, Cost, cost_of
from agents.retry import MOST_TRIES, Fault, fault_of, pause_s, sound, told, without_keys
from memory.digests import canonical_json
from memory.errors import (
    ArenaError,
    CallFailed,
    EmptyReply,
    FramesChanged,
    FramesLost,
    JournalMiss,
    ProviderFailed,
    Refusal,
    UnusableVideo,
)
from memory.records import SCHEMA, Attempt, CallRow, Frames, Nonce, Role, Usage

NO_USAGE = Usage()
_SYSTEM_JSON = canonical_json(SYSTEM)


@dataclass(frozen=True, slots=True)
class Request:
    """One deliberate ask."""

    role: Role
    text: str
    frames: Frames | None
    nonce: Nonce
    prompt: str = ""
    """Digest of the prompt file."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to a call; its texts may come from a model and are not escaped."""

    kind: Literal["started", "retry", "finished", "recalled"]
    alias: str
    nonce: Nonce
    fault: str | None = None
    """Machine word of what went wrong: of a try, or for good."""
    seconds: float = 0.0
    """The pause before the next try, or how long the last one took."""
    usage: Usage = NO_USAGE
    cost_usd: float | None = None
    """What a finished call cost; None where it is unknown, or was paid for earlier."""
    text: str = ""
    """The reply, or why there is none; of a call that is finished or recalled."""


class Journal(Protocol):
    """What is kept of calls."""

    def find(self, key: str) -> CallRow | None:
        """Return the row of a finished call."""

    async def record(self, row: CallRow) -> None:
        """Return when the row is safe on disk."""


class Hold(Protocol):
    """Money set aside for one call under way."""


class Purse(Protocol):
    """What may be spent."""

    async def hold(self, model: Model, request: Request) -> Hold | None:
        """Set aside what a call may cost at most, once there is enough; None: the cap is reached.

        Waits while calls under way hold what is missing, since most cost less than they may.
        """

    async def renew(self, hold: Hold, fault: str) -> bool:
        """Set as much aside for another try, and count what the last one may have cost.

        Waits like `hold`; False where the cap is reached.
        """

    def settle(self, hold: Hold, row: CallRow | None) -> None:
        """Take what a call did cost and free the rest; None: it was never sent, or cut off."""


class Boundless:
    """A purse without a bottom."""

    async def hold(self, model: Model, request: Request) -> Hold | None:  # noqa: ARG002
        """Return at once."""
        return self

    async def renew(self, hold: Hold, fault: str) -> bool:  # noqa: ARG002
        """Return at once."""
        return True

    def settle(self, hold: Hold, row: CallRow | None) -> None:
        """Count nothing."""


class _Outcome(NamedTuple):
    """How a call ended after all its tries."""

    received: Received | None
    fault: Fault | None
    attempts: tuple[Attempt, ...]
    latency_s: float


def _ignore(_event: Event) -> None:
    """Let an event pass."""


@dataclass
class Asker:
    """Makes calls; one for a whole run, within one event loop."""

    journal: Journal
    load: Load
    _: KW_ONLY
    seed: int = 0
    concurrency: int = 8
    """Most tries under way at once; pauses between them hold no place."""
    on_event: Callable[[Event], None] = _ignore
    is_replay: bool = False
    """Answer from the journal alone."""
    make_client: Callable[[Model, Load], Client] = ChatClient
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep
    purse: Purse = field(default_factory=Boundless)
    """When it is empty the run drains, and `is_broke` tells why."""
    estimates: Estimates = field(default_factory=Estimates)
    """What tries may cost; learns from every call."""
    is_broke: bool = field(default=False, init=False)
    _clients: dict[Model, Client] = field(default_factory=dict, init=False, repr=False)
    _in_flight: set[str] = field(default_factory=set, init=False, repr=False)
    _gate: asyncio.Semaphore = field(init=False, repr=False)
    _under_way: int = field(default=0, init=False, repr=False)
    is_draining: bool = field(default=False, init=False)
    drained: asyncio.Event = field(default_factory=asyncio.Event, init=False, repr=False)
    """Set once `drain` was called and the last call under way has come back."""

    def __post_init__(self) -> None:
        """Open the gate."""
        self._gate = asyncio.Semaphore(self.concurrency)

    async def ask(self, model: Model, request: Request) -> str:
        """Return the model's reply, from the journal where it is there. At most one paid call.

        Raises as `ask_row` does.
        """
        return (await self.ask_row(model, request)).reply or ""

    async def ask_row(self, model: Model, request: Request) -> CallRow:
        """Return the row of the model's reply, from the journal where it is there.

        Raises:
            EmptyReply: it said nothing.
            Refusal: its provider says that it refused.
            ProviderFailed: the call failed for good; recorded, so that it fails so ever after.
            JournalMiss: a replay came to a call that was never recorded.
            RuntimeError: a call with the same key is under way.
        """
        key = journal_key(model, request)
        row = self.journal.find(key)
        if row is not None:
            self.on_event(_told("recalled", model, row))
            return _replied(row)
        if self.is_replay:
            nonce = request.nonce
            place = f"{nonce.role} in {nonce.scope}"
            raise JournalMiss(f"no call of {place} was recorded in these words with these frames")
        if key in self._in_flight:
            raise RuntimeError(f"two calls under way share the key of {request.nonce!r}")
        self._in_flight.add(key)
        try:
            row = await self._make(key, model, request)
        finally:
            self._in_flight.discard(key)
        return _replied(row)

    def recall(self, model: Model, request: Request) -> CallRow | None:
        """Return what the journal holds of an ask; None where it failed or was never made."""
        row = self.journal.find(journal_key(model, request))
        if row is None or row.reply is None:
            return None
        self.on_event(_told("recalled", model, row))
        return row

    @property
    def under_way(self) -> int:
        """How many tries have been sent and have not come back."""
        return self._under_way

    def drain(self) -> None:
        """Send nothing more; calls under way are finished, all others wait until cancelled."""
        self.is_draining = True
        if not self._under_way:
            self.drained.set()

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        """Hold one of the places at the gate; while draining nobody gets one."""
        async with self._gate:
            if self.is_draining:
                await asyncio.get_running_loop().create_future()
            self._under_way += 1
            try:
                yield
            finally:
                self._under_way -= 1
                if self.is_draining and not self._under_way:
                    self.drained.set()

    async def aclose(self) -> None:
        """Close all connections."""
        while self._clients:
            await self._clients.popitem()[1].aclose()

    async def _make(self, key: str, model: Model, request: Request) -> CallRow:
        hold = await self.purse.hold(model, request)
        if hold is None:
            await self._go_broke()
        row = None
        try:
            outcome = await self._try(key, model, request, hold)
            row = self._costed(model, request, _row(key, model, request, outcome))
            await self.journal.record(row)
        finally:
            self.purse.settle(hold, row)
        self.on_event(_told("finished", model, row))
        return row

    async def _go_broke(self) -> None:
        """Drain, since the cap is reached, and never come back."""
        self.is_broke = True
        self.drain()
        await asyncio.get_running_loop().create_future()

    def _costed(self, model: Model, request: Request, row: CallRow) -> CallRow:
        """Return a row with the most it may have cost where nobody says what it did."""
        self.estimates.learn(model, request.frames, row.usage)
        if row.cost_usd is not None:
            return row
        most = self.estimates.most(model, request).usd
        return row.model_copy(update={"may_have_cost_usd": most})

    async def _try(self, key: str, model: Model, request: Request, hold: Hold) -> _Outcome:
        sending = Sending(key, request.role, request.text, request.frames)
        attempts: list[Attempt] = []
        while True:
            tries = len(attempts) + 1
            async with self._turn():
                if tries == 1:
                    self.on_event(Event("started", model.alias, request.nonce))
                started = time.monotonic()
                got = await self._send(model, sending)
                took_s = time.monotonic() - started
            if isinstance(got, Received):
                return _Outcome(got, None, tuple(attempts), took_s)
            if not got.is_transient or tries == MOST_TRIES:
                return _Outcome(None, got, tuple(attempts), took_s)
            wait_s = pause_s(self.seed, key, tries=tries, hint_s=got.hint_s)
            attempts.append(
                Attempt(
                    kind=got.kind,
                    reason=got.reason,
                    waited_s=wait_s,
                    may_have_cost_usd=self.estimates.risk_usd(model, request, got.kind),
                )
            )
            self.on_event(
                Event("retry", model.alias, request.nonce, fault=got.kind, seconds=wait_s)
            )
            await self.pause(wait_s)
            if not await self.purse.renew(hold, got.kind):
                await self._go_broke()

    async def _send(self, model: Model, sending: Sending) -> Received | Fault:
        """Return what came back of one try, or what went wrong with the provider."""
        if model not in self._clients:
            self._clients[model] = self.make_client(model, self.load)
        try:
            return await self._clients[model].send(sending)
        except (FramesChanged, UnusableVideo) as lost:
            return Fault("frames", told(str(lost)), False)
        except ArenaError:
            raise
        except Exception as error:
            fault = None if model.is_offline else fault_of(error, key_env=model.key_env)
            if fault is None:
                raise
            return fault


def journal_key(model: Model, request: Request) -> str:
    """Return the sha256 of everything that makes this call what it is.

    That is the canonical JSON of [schema, provider, model id, sampling parameters, system text,
    frames as [(label, digest) ...], role text, nonce]. Where the model is served, time-outs,
    retries and the roster's name for it are no part of it.
    """
    nonce = request.nonce
    parts = (
        str(SCHEMA),
        canonical_json(model.provider),
        canonical_json(model.name),
        canonical_json(model.sampling(request.role)),
        _SYSTEM_JSON,
        fragment(request.frames),
        canonical_json(request.text),
        canonical_json([nonce.scope, nonce.role, nonce.generation, nonce.ordinal]),
    )
    return hashlib.sha256(f"[{','.join(parts)}]".encode()).hexdigest()


def _told(kind: Literal["finished", "recalled"], model: Model, row: CallRow) -> Event:
    """Return the event of a call that has ended; one from the journal took no time and no token."""
    text, fault = row.reply or row.failure or "", row.failure_kind
    if kind == "recalled":
        return Event(kind, model.alias, row.nonce, fault=fault, text=text)
    return Event(
        kind,
        model.alias,
        row.nonce,
        fault=fault,
        seconds=row.latency_s,
        usage=row.usage,
        cost_usd=row.cost_usd,
        text=text,
    )


def _replied(row: CallRow) -> CallRow:
    """Return a row that holds a reply, or raise its failure as it was raised the first time."""
    if row.reply is not None:
        return row
    raise _failure(row.failure or "", row.failure_kind or "failed")


def _failure(reason: str, kind: str) -> CallFailed:
    known = {"frames": FramesLost, "empty": EmptyReply, "refusal": Refusal}
    return known[kind](reason) if kind in known else ProviderFailed(reason, kind=kind)


def _row(key: str, model: Model, request: Request, outcome: _Outcome) -> CallRow:
    received, fault = outcome.received, outcome.fault
    reply, failure, kind = None, None, None
    if fault is not None:
        failure, kind = fault.reason, fault.kind
    elif received is not None and received.text.strip():
        # The reply stands in the row as it will be replayed, so a key must not get that far.
        reply = without_keys(sound(received.text), *([model.key_env] if model.key_env else []))
    elif received is not None and received.refusal.strip():
        failure, kind = told(received.refusal, key_env=model.key_env), "refusal"
    else:
        failure, kind = _empty(received), "empty"
    cost = _cost(model, outcome)
    return CallRow(
        key=key,
        nonce=request.nonce,
        model=model.resolved,
        alias=model.alias,
        endpoint=model.endpoint,
        prompt=request.prompt,
        reply=reply,
        failure=failure,
        failure_kind=kind,
        usage=received.usage if received else NO_USAGE,
        cost_usd=cost.usd,
        cost_from=cost.source,
        served_by=received.served_by if received else None,
        ending=(told(received.ending) or None) if received else None,
        frames=len(request.frames.frames) if request.frames else 0,
        text_chars=len(request.text),
        latency_s=round(outcome.latency_s, 4),
        attempts=outcome.attempts,
    )


def _cost(model: Model, outcome: _Outcome) -> Cost:
    """Return what the last try cost; a failed one costs nothing only where nobody was at work."""
    if outcome.received is not None:
        return cost_of(model, outcome.received.usage, outcome.received.cost_usd)
    if outcome.fault is not None and not may_be_charged(outcome.fault.kind):
        return Cost(0.0, REFUSED)
    return cost_of(model, NO_USAGE)


def _empty(received: Received | None) -> str:
    ending = told(received.ending) if received else ""
    return f"the reply holds no text ({ending})" if ending else "the reply holds no text"
