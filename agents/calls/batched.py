"""Calls made in batches: the same keys, bodies, readings and rows, at a batch's price.

What a batch brings is read as an ordinary answer is. A call that expired, was cancelled or met an
error that may pass goes into the next batch, a bounded number of times.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count

from videoautoarena.agents.calls.ask import Asker
from videoautoarena.agents.calls.attempts import (
    Attempts,
    CallEnding,
    EarlierTries,
    Listener,
    outgoing,
    useless,
)
from videoautoarena.agents.calls.batch_queue import BatchOutcome, BatchQueue, KeptBatches
from videoautoarena.agents.calls.clients import BatchedClient, OutgoingCall, ReceivedReply
from videoautoarena.agents.calls.retry import fault_of, gives_up
from videoautoarena.agents.limits.budget import CallReserve, CappedBudget
from videoautoarena.agents.limits.prices import BATCH_SHARE, SpendHold, summed
from videoautoarena.agents.limits.server_limits import ShapedCall
from videoautoarena.agents.models.registry import Model
from videoautoarena.agents.prompting.layout import Request
from videoautoarena.agents.transport.faults import CallFault
from videoautoarena.agents.transport.redaction import redacted
from videoautoarena.agents.transport.splice import FrameBytes
from videoautoarena.memory.records.errors import ArenaError, FramesChanged, UnusableVideo
from videoautoarena.memory.records.records import Intent

MOST_BATCHES = 3
"""Batches that a call goes into before it has failed for good."""
_REASONS = {
    "expired": "the provider did not come to the call within the time of its batch",
    "cancelled": "the call's batch was cancelled before the provider came to it",
    "missing": "the results of the call's batch hold none of it",
}


@dataclass
class BatchedAttempts(Attempts):
    """Makes calls in batches where their provider takes any; all others as usual."""

    queue: BatchQueue = field(kw_only=True)
    is_batching: bool = field(kw_only=True)
    """Whether new calls go into batches; else only those that are in one already."""
    _batched: dict[Model, BatchedClient] = field(default_factory=dict)
    _shelf: FrameBytes | None = None

    async def aclose(self) -> None:
        """Close all connections."""
        await self.queue.aclose()
        while self._batched:
            await self._batched.popitem()[1].aclose()
        await super().aclose()

    async def _make(
        self, key: str, request: Request, listener: Listener, shaped: ShapedCall
    ) -> CallEnding:
        model = shaped.model
        before = EarlierTries()
        for number in count(1):
            is_held = self.queue.holds(key)
            if not (model.maker.batches and (self.is_batching or is_held)):
                return await super()._make(key, request, listener, shaped)
            if not is_held:
                if not listener.is_funded(request):
                    await listener.funded(request)
                await shaped.ready()
                request = shaped.fitted(request)
            if number == 1:
                listener.started()
            began_s = asyncio.get_running_loop().time()
            got, outcome = await self._once_in_batch(key, request, shaped)
            took_s = asyncio.get_running_loop().time() - began_s
            if got is None:
                # Its batch was never taken, so that this was no try.
                continue
            received = got if isinstance(got, ReceivedReply) else None
            fault = got if isinstance(got, CallFault) else useless(got)
            batch = outcome.batch or None
            ended = CallEnding(
                received,
                fault,
                tuple(before.all),
                took_s,
                request.frames,
                shaped.asked_for,
                batch,
            )
            if fault is None:
                return ended
            mended = None if received else shaped.mended(request, fault)
            if mended is None and (number >= MOST_BATCHES or gives_up(fault, before.own)):
                return ended._replace(fault=shaped.explained(fault))
            listener.failed(number, fault, 0.0)
            attempt = self._attempt(model, request, fault, 0.0, received, share=BATCH_SHARE)
            await listener.renewed(before.add(attempt))
            request = mended or request
        raise AssertionError  # it is counted without an end

    async def _once_in_batch(
        self, key: str, request: Request, shaped: ShapedCall
    ) -> tuple[ReceivedReply | CallFault | None, BatchOutcome]:
        model = shaped.model
        client = self._client_of(model)
        sending = outgoing(key, request, shaped)
        # Until its batch is known.
        outcome = BatchOutcome("", "never-taken")
        most = self.estimates.most(model, request)
        intent = Intent(key, request.nonce, model.resolved, 1, most.usd, most.tokens)
        try:
            outcome = await self.queue.ask(model, intent, lambda: client.body(sending))
            # Until its row is being written, so that work which ends does not leave it behind.
            self.queue.busy += 1
            try:
                got = await self._read(client, sending, outcome)
            finally:
                self.queue.busy -= 1
        except (FramesChanged, UnusableVideo) as lost:
            return CallFault("frames", redacted(str(lost)), is_local=True), outcome
        except ArenaError:
            raise
        except Exception as error:
            fault = fault_of(error, key_env=model.key_env, is_foreign=model.is_foreign)
            if fault is None:
                raise
            return fault, outcome
        if isinstance(got, ReceivedReply):
            shaped.took(request, got.usage, self.estimates.limit_of(model, request.role))
        return got, outcome

    async def _read(
        self, client: BatchedClient, sending: OutgoingCall, outcome: BatchOutcome
    ) -> ReceivedReply | CallFault | None:
        if outcome.answer is not None:
            return await client.read(sending, outcome.answer)
        if outcome.end == "never-taken":
            return None
        return CallFault(outcome.end, _REASONS[outcome.end], "transient")

    def _client_of(self, model: Model) -> BatchedClient:
        if model not in self._batched:
            self._shelf = self._shelf or FrameBytes(self.load)
            self._batched[model] = BatchedClient(model, self.load, self._shelf)
        return self._batched[model]


@dataclass
class BatchAsker(Asker):
    """Makes calls in batches; one for a whole job, within one event loop.

    Batches that an earlier process left at a provider are waited for, and never posted again. Their
    most is set aside from the start, and is no part of what was spent.
    """

    batches: KeptBatches = field(kw_only=True)
    is_batching: bool = field(default=True, kw_only=True)
    gives_up: bool = field(default=False, kw_only=True)
    """Whether calls are sent again whose batch this key does not see, though it may be paid for."""
    say: Callable[[str], None] = field(default=lambda _line: None, kw_only=True)
    _queue: BatchQueue = field(init=False, repr=False)
    _reserves: dict[str, CallReserve] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        self.estimates.is_batched = self.is_batching
        self._queue = BatchQueue(
            self.batches,
            say=self.say,
            pause=self.pause,
            on_idle=self._look_whether_drained,
            gives_up=self.gives_up,
        )
        super().__post_init__()
        self._reserve()

    def _attempts(self) -> Attempts:
        usual = super()._attempts()
        return BatchedAttempts(
            usual.turns,
            usual.load,
            usual.make_client,
            usual.estimates,
            seed=usual.seed,
            most_tries=usual.most_tries,
            waits=usual.waits,
            queue=self._queue,
            is_batching=self.is_batching,
        )

    @property
    def under_way(self) -> int:
        """How many tries have been sent by themselves, and batches are being posted."""
        return self._turns.under_way + self._queue.busy

    def drain(self) -> None:
        """Send nothing more; batches stay with their provider, to be read another time."""
        self._queue.close()
        super().drain()

    async def _go_broke(self) -> None:
        """Wait for the batches that are out, which the cap holds, then do as any asker."""
        self.is_broke = True
        await self._queue.settled()
        await super()._go_broke()

    def _reserve(self) -> None:
        """Set aside what open batches may cost; cancel the latest where the caps do not hold it."""
        cap = self.spend_cap
        if not isinstance(cap, CappedBudget):
            return
        for batch in self.batches.open():
            for one in self.batches.calls_of(batch.id):
                size = summed(one.usd, one.tokens)
                self._reserves[one.key] = cap.reserve(size)
            if not cap.holds_all:
                self._queue.unaffordable.add(batch.id)

    async def _hold(self, key: str, model: Model, request: Request) -> SpendHold | None:
        reserved = self._reserves.pop(key, None)
        if reserved is not None:
            return reserved
        return await super()._hold(key, model, request)
