"""The one way out to a model: every call has a key, is made once in effect, and leaves a row.

A call that the journal knows is answered from it. Any other waits for its turn at the gate, is
sent, tried again where that can help, and written down before its reply goes on.
"""

from __future__ import annotations

import asyncio
import hashlib
import sys
from collections.abc import Awaitable, Callable, Collection
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, Literal, Protocol
from weakref import WeakValueDictionary

from videoautoarena.agents.calls.attempts import Attempts, CallEnding, Listener
from videoautoarena.agents.calls.clients import ChatClients, Client, Load, ReceivedReply
from videoautoarena.agents.limits.budget import CappedBudget
from videoautoarena.agents.limits.estimates import Estimates, may_be_charged
from videoautoarena.agents.limits.outages import Outage, ServerWait, ServerWaits
from videoautoarena.agents.limits.prices import (
    BATCH_SHARE,
    REFUSED,
    CallCost,
    SpendCap,
    SpendHold,
    cost_of,
)
from videoautoarena.agents.limits.scheduler import EndpointKey, LimitLoan, PlaceDemand, Scheduler
from videoautoarena.agents.models.registry import Model
from videoautoarena.agents.prompting.contracts import SYSTEM
from videoautoarena.agents.prompting.layout import Request, fragment, once
from videoautoarena.agents.transport.faults import STOPPED, CallFault
from videoautoarena.agents.transport.redaction import (
    is_words,
    redacted,
    reply_without_keys,
    sound,
)
from videoautoarena.memory.records.digests import canonical_json
from videoautoarena.memory.records.errors import (
    BatchRefused,
    CallFailed,
    ContentFiltered,
    EmptyReply,
    FramesLost,
    JournalMiss,
    ProviderFailed,
    Refusal,
)
from videoautoarena.memory.records.records import (
    SCHEMA,
    Attempt,
    CallRow,
    Intent,
    Nonce,
    Role,
    Usage,
    VideoFrames,
)

NO_USAGE = Usage()
_FAILURES: dict[str, type[CallFailed]] = {
    "frames": FramesLost,
    "empty": EmptyReply,
    "refusal": Refusal,
    "content-filter": ContentFiltered,
}


def replied(row: CallRow) -> CallRow:
    """Return a row that holds a reply, or raise its failure as it was raised the first time."""
    if row.reply is not None:
        return row
    reason = row.failure or ""
    kind = row.failure_kind or "failed"
    raise _FAILURES[kind](reason) if kind in _FAILURES else ProviderFailed(reason, kind=kind)


def row_of(key: str, model: Model, request: Request, ended: CallEnding) -> CallRow:
    """Return the row of a call: what came back, or why it failed for good."""
    received = ended.received
    fault = ended.fault
    reply = failure = kind = None
    if fault is not None:
        failure = fault.reason
        kind = fault.kind
    elif received is not None and received.text.strip():
        # The reply stands in the row as it will be replayed, so a key must not get that far.
        reply = reply_without_keys(sound(received.text), *filter(None, [model.key_env]))
    elif received is not None:
        failure = redacted(received.refusal, key_env=model.key_env)
        kind = "refusal"
    cost = _cost(model, ended)
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
        ending=_ending(received) if received else None,
        frames=len(request.frames.frames) if request.frames else 0,
        structured=ended.structured,
        text_chars=len(request.text),
        latency_s=round(ended.latency_s, 4),
        attempts=ended.attempts,
        batch=ended.batch,
    )


def _ending(received: ReceivedReply) -> str | None:
    """Return the provider's word for the end of a reply; None if it gave none."""
    said = received.ending
    # Nearly every reply ends in one that needs no look for keys: they are longer, and no words.
    return said if is_words(said) else redacted(said) or None


def _cost(model: Model, ended: CallEnding) -> CallCost:
    """Return the cost of the last try; a failed one is free only if no model worked on it."""
    if ended.received is not None:
        share = 1.0 if ended.batch is None else BATCH_SHARE
        return cost_of(model, ended.received.usage, ended.received.cost_usd, share=share)
    if ended.fault is not None and not may_be_charged(ended.fault.kind):
        return CallCost(0.0, REFUSED)
    return cost_of(model, NO_USAGE)


# Every key holds the same system text, so it is put into JSON once.
_SYSTEM_JSON = canonical_json(SYSTEM)


@dataclass(frozen=True, slots=True)
class CallEvent:
    """Something that happened to a call; its texts may come from a model and are not escaped."""

    kind: Literal["started", "retry", "finished", "recalled", "learnt"]
    alias: str
    nonce: Nonce
    fault: str | None = None
    """Machine word of what went wrong, with one try or for good."""
    seconds: float = 0.0
    """The pause before the next try, or how long the last one took."""
    usage: Usage = NO_USAGE
    cost_usd: float | None = None
    """What a finished call's last try cost; None if it is unknown, or was paid for earlier."""
    may_have_cost_usd: float | None = None
    """The most that a finished call's last try can have cost, where its cost is unknown."""
    attempts: tuple[Attempt, ...] = ()
    """The tries of a finished call before the last one."""
    text: str = ""
    """The reply of a finished or recalled call, or why it has none; in a `learnt` event, one line
    about what was learnt of the server."""
    node: str = ""
    """The machine of a cluster that it was made on."""
    ending: str | None = None
    """Why the reply of a finished call ended, in the provider's word; None if it gave none."""
    served_by: str | None = None
    """What the server calls the model that answered; None where it did not say."""
    key: str = ""
    """The journal's key of a finished call."""


class CallJournal(Protocol):
    """The journal as calls use it: rows of finished calls, intents of tries about to be sent."""

    def find(self, key: str, scope: str, /) -> CallRow | None:
        """Return the row of a finished call; `scope` is that of its nonce."""

    async def record(self, row: CallRow) -> None:
        """Return when the row is safe on disk."""

    async def intend(self, intent: Intent) -> None:
        """Return when it is safe on disk that a try is about to be sent."""

    def withdraw(self, key: str, attempt: int) -> None:
        """Take back the intent of a try that cost nothing for sure."""

    def leave_over(self, key: str, attempt: int) -> None:
        """Let the intent of a try stand for ever: its reply is lost, and its call is sent again."""

    def has_answered(self, endpoint: str) -> bool:
        """Return whether any finished call has a reply from an address."""


@dataclass
class Asker:
    """Makes calls; one for a whole run, within one event loop."""

    journal: CallJournal
    load: Load
    _: KW_ONLY
    seed: int = 0
    concurrency: int = 8
    """Most tries under way at once; pauses between them hold no place."""
    on_event: Callable[[CallEvent], None] = lambda _event: None
    is_replay: bool = False
    make_client: Callable[[Model, Load], Client] = field(default_factory=ChatClients)
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep
    most_tries: int = sys.maxsize
    """Tries of one call, however patient its faults would be met otherwise."""
    patience_s: float | None = None
    """How long an endpoint is waited for that cannot be reached and has answered before; then the
    run drains, and `lost` says why. None: each call fails for itself."""
    spend_cap: SpendCap = field(default_factory=SpendCap)
    """When it is empty the run drains, and `is_broke` is set."""
    estimates: Estimates = field(default_factory=Estimates)
    """What tries may cost; learns from every call."""
    on_outage: Callable[[Outage | ServerWait], None] = lambda _outage: None
    """Called when a server cannot be reached or has no room, and when that is over."""
    proven: Collection[str] | None = None
    """Addresses that have answered before; None: those that the journal knows."""
    is_broke: bool = field(default=False, init=False)
    lost: Outage | None = field(default=None, init=False)
    drained: asyncio.Event = field(default_factory=asyncio.Event, init=False, repr=False)
    """Set once `drain` was called and every call that was under way is recorded and announced."""
    _in_flight: set[str] = field(default_factory=set, init=False, repr=False)
    # Weak, so that a lock lives only while somebody holds it or waits for it.
    _locks: WeakValueDictionary[str, asyncio.Lock] = field(
        default_factory=WeakValueDictionary, init=False, repr=False
    )
    _recording: int = field(default=0, init=False, repr=False)
    _turns: Scheduler = field(init=False, repr=False)
    _tries: Attempts = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._turns = Scheduler(
            self.concurrency,
            self.pause,
            self.patience_s,
            self._has_answered,
            self._hear_outage,
        )
        self._tries = self._attempts()

    def _attempts(self) -> Attempts:
        return Attempts(
            self._turns,
            self.load,
            self.make_client,
            self.estimates,
            seed=self.seed,
            most_tries=self.most_tries,
            waits=ServerWaits(lambda wait: self.on_outage(wait)),
        )

    async def ask(self, model: Model, request: Request) -> str:
        """Return the model's reply, from the journal if it is there; raises as `ask_row` does."""
        return (await self.ask_row(model, request)).reply or ""

    async def ask_row(self, model: Model, request: Request) -> CallRow:
        """Return the row of the model's reply, from the journal if it is there.

        Raises:
            EmptyReply: it said nothing.
            Refusal: its provider says that it refused.
            ProviderFailed: the call failed for good; recorded, so that it fails so ever after.
            JournalMiss: a replay came to a call that was never recorded.
            RuntimeError: a call with the same key is under way.
        """
        key = journal_key(model, request)
        row = self.journal.find(key, request.nonce.scope)
        if row is not None:
            self.on_event(_event_of("recalled", model, row))
            return replied(row)
        # A replay sends nothing, so what was never recorded cannot be answered.
        if self.is_replay:
            nonce = request.nonce
            place = f"{nonce.role} in {nonce.scope}"
            raise JournalMiss(f"no call of {place} was recorded in these words with these frames")
        # A key under way twice would be paid for twice, and only one row of it be kept.
        if key in self._in_flight:
            raise RuntimeError(f"two calls under way share the key of {request.nonce!r}")
        self._in_flight.add(key)
        try:
            row = await self._make(key, model, request)
        finally:
            self._in_flight.discard(key)
        return replied(row)

    def in_turn(self, what: str) -> asyncio.Lock:
        """Return the lock held by whoever may ask the same, so that one of them makes the call."""
        return self._locks.setdefault(what, asyncio.Lock())

    def recall(self, model: Model, request: Request) -> CallRow | None:
        """Return the recorded row of an answered call; None if it failed or was never made."""
        row = self.journal.find(journal_key(model, request), request.nonce.scope)
        if row is None or row.reply is None:
            return None
        self.on_event(_event_of("recalled", model, row))
        return row

    @property
    def under_way(self) -> int:
        """How many tries have been sent and have not come back."""
        return self._turns.under_way

    @property
    def is_draining(self) -> bool:
        return self._turns.is_closed

    def drain(self) -> None:
        """Send nothing more; calls under way are finished, all others wait until cancelled."""
        self._turns.close()
        self._look_whether_drained()

    def _look_whether_drained(self) -> None:
        if self.is_draining and not self.under_way and not self._recording:
            self.drained.set()

    async def _hold(self, _key: str, model: Model, request: Request) -> SpendHold | None:
        """Return what is set aside for a call, once it is; None: the cap is reached."""
        return await self.spend_cap.hold(model, request)

    def announce(
        self, on_empty: Callable[[], None], on_outage: Callable[[Outage | ServerWait], None]
    ) -> None:
        """Have it said when the cap is reached, and when an endpoint is gone, full or back."""
        if isinstance(self.spend_cap, CappedBudget):
            self.spend_cap.on_empty = on_empty
        self.on_outage = on_outage

    def share_limits(self, on_waiting: Callable[[], None]) -> None:
        """Send only within what is lent from now on; call `on_waiting` when a try has to wait."""
        self._turns.on_waiting = on_waiting
        self._turns.lend(LimitLoan(0, {}, {}))

    def lend(self, loan: LimitLoan) -> None:
        """Send as many tries at once as are lent, until it is called again."""
        self._turns.lend(loan)

    def wants(self) -> tuple[PlaceDemand, dict[EndpointKey, PlaceDemand]]:
        """Return how many places could be used at once, in all and at each endpoint."""
        return self._turns.wants()

    async def aclose(self) -> None:
        await self._tries.aclose()

    async def _make(self, key: str, model: Model, request: Request) -> CallRow:
        # Money is set aside for the frames that will be sent, not for those the server refuses.
        fitted = self.estimates.limits.fitted(model, request)
        hold = await self._hold(key, model, fitted)
        if hold is None:
            await self._go_broke()
        row = None
        is_left_open = False
        try:
            call = _Call(self, key, model, request, hold)
            ended = await self._tries.make(key, model, request, call)
            sent = replace(request, frames=ended.frames)
            row = row_of(key, model, sent, ended)
            self.estimates.learn(model, sent.frames, row.usage)
            # A cost that nobody states is unknown and never zero: the row keeps the most it may be.
            if row.cost_usd is None:
                most = self.estimates.most(model, sent).usd
                row = row.model_copy(update={"may_have_cost_usd": most})
            # Counted, so that a run which drains does not end before this paid reply is on disk.
            self._recording += 1
            try:
                await self.journal.record(row)
                self.on_event(_event_of("finished", model, row))
            finally:
                self._recording -= 1
            return row
        except BatchRefused as refused:
            is_left_open = refused.may_be_paid
            raise
        finally:
            if is_left_open:
                self.spend_cap.lose(hold)
            else:
                self.spend_cap.settle(hold, row)
            self._look_whether_drained()

    def _has_answered(self, address: str) -> bool:
        if self.proven is None:
            return self.journal.has_answered(address)
        return address in self.proven

    def _hear_outage(self, outage: Outage) -> None:
        """Report an outage, and drain where an endpoint was waited for long enough."""
        # One that is given up while the last calls of others come in changes nothing any more.
        is_end = outage.state == "given-up" and not self.is_draining
        if is_end:
            self.lost = outage
        if is_end or not self.is_draining:
            self.on_outage(outage)
        if is_end:
            self.drain()

    async def _go_broke(self) -> None:
        """Drain, since the cap is reached, and wait until cancelled."""
        self.is_broke = True
        self.drain()
        # A call that failed here would make its slot void; one that waits until it is cancelled is
        # made when the run goes on under a higher cap.
        await asyncio.get_running_loop().create_future()


@dataclass(frozen=True)
class _Call(Listener):
    """A call under way, for the journal, the console and the cap on spending."""

    asker: Asker
    key: str
    model: Model
    request: Request
    hold: SpendHold

    @property
    def rank(self) -> int:
        return self.asker.spend_cap.rank(self.request.nonce)

    def started(self) -> None:
        self._emit("started")

    async def sending(self, attempt: int, sent: Request) -> None:
        if self.model.is_offline:
            # An offline try costs nothing, so no intent has to outlive a kill.
            return
        most = self.asker.estimates.most(self.model, sent)
        name = self.model.resolved
        intent = Intent(self.key, sent.nonce, name, attempt, most.usd, most.tokens)
        try:
            await self.asker.journal.intend(intent)
        except asyncio.CancelledError:
            # It may be on its way to the disk; what was never sent is not paid for.
            self.unsent(attempt)
            raise

    def unused(self) -> None:
        self.asker._look_whether_drained()

    def unsent(self, attempt: int) -> None:
        if not self.model.is_offline:
            self.asker.journal.withdraw(self.key, attempt)

    def failed(self, attempt: int, fault: CallFault, wait_s: float) -> None:
        self._emit("retry", fault=fault.kind, seconds=wait_s)
        if not may_be_charged(fault.kind):
            self.unsent(attempt)
        elif fault.kind == STOPPED and not self.model.is_offline:
            self.asker.journal.leave_over(self.key, attempt)
        self.unused()

    async def renewed(self, attempt: Attempt) -> None:
        if not await self.asker.spend_cap.renew(self.hold, attempt):
            await self.asker._go_broke()

    def is_funded(self, sent: Request) -> bool:
        return self.asker.spend_cap.is_enough(self.hold, self.model, sent)

    async def funded(self, sent: Request) -> None:
        cap = self.asker.spend_cap
        if not self.is_funded(sent) and not await cap.enlarge(self.hold, self.model, sent):
            await self.asker._go_broke()

    def suspended(self) -> None:
        self.asker.spend_cap.suspend(self.hold)

    def learnt(self, line: str) -> None:
        self._emit("learnt", text=line)

    def _emit(self, kind: Literal["started", "retry", "learnt"], **details: Any) -> None:
        self.asker.on_event(CallEvent(kind, self.model.alias, self.request.nonce, **details))


def journal_key(model: Model, request: Request) -> str:
    """Return the sha256 of everything that makes this call what it is.

    That is the canonical JSON of [schema, provider, model id, sampling parameters, system text,
    frames as [(label, digest) ...], role text, nonce]. Where the model is served, time-outs,
    retries and the roster's name for it are no part of it.
    """
    role = request.role
    frames = request.frames
    # All calls of a model in a role about the same frames begin alike.
    key = once(frames, (model, role), lambda: hashlib.sha256(_beginning(model, role, frames)))
    key = key.copy()
    nonce = request.nonce
    own = [nonce.scope, nonce.role, nonce.generation, nonce.ordinal]
    key.update(f"{canonical_json(request.text)},{canonical_json(own)}]".encode())
    return key.hexdigest()


def _beginning(model: Model, role: Role, frames: VideoFrames | None) -> bytes:
    """Return what is keyed up to the role's text."""
    parts = (
        str(SCHEMA),
        canonical_json(model.provider),
        canonical_json(model.name),
        canonical_json(model.keyed(role)),
        _SYSTEM_JSON,
        fragment(frames),
    )
    return f"[{','.join(parts)},".encode()


def _event_of(kind: Literal["finished", "recalled"], model: Model, row: CallRow) -> CallEvent:
    said: dict[str, Any] = {"fault": row.failure_kind, "text": row.reply or row.failure or ""}
    if kind == "finished":
        said |= {"usage": row.usage, "cost_usd": row.cost_usd, "attempts": row.attempts}
        said |= {"may_have_cost_usd": row.may_have_cost_usd}
        said |= {"seconds": row.latency_s, "ending": row.ending}
        said |= {"served_by": row.served_by, "key": row.key}
    return CallEvent(kind, model.alias, row.nonce, **said)
