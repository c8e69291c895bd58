"""Calls gathered into batches, posted, and waited for over processes until each has its answer.

A batch is written down before it is posted. Where the answer to its POST is lost, the provider's
list is read until it tells whether the batch was taken; nothing of it is sent again before. Only a
key of the same account reads that list: it is the one in hand, or it sees the batch's witness. What
has a provider's name was taken, whatever any key sees of it.

What cannot be read ends the calls of its own batch alone, which stay as they are for another time.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple, Protocol, TypeVar
from uuid import uuid4

from videoautoarena.agents.batches.service import (
    UPLOAD_S,
    BatchPosting,
    BatchResult,
    BatchService,
    BatchStanding,
)
from videoautoarena.agents.batches.services import service_of
from videoautoarena.agents.calls.retry import fault_of
from videoautoarena.agents.models.registry import Model
from videoautoarena.agents.transport.exchange import KeptBody, RecordedAnswer
from videoautoarena.agents.transport.faults import UNREACHED, CallFault
from videoautoarena.agents.transport.redaction import redacted
from videoautoarena.memory.records.batches import BatchIntent, OpenBatch
from videoautoarena.memory.records.errors import ArenaError, BatchRefused
from videoautoarena.memory.records.records import Intent
from videoautoarena.memory.records.remedies import option

GATHER_S = 5.0
"""A batch is posted once no further call has come for so long, and none is being made."""
TELLING_S = 120.0
"""A batch that its provider's list does not hold so long after its POST was never taken."""
NOT_THERE = frozenset({"http-403", "http-404"})
"""Kinds of fault by which a provider says that a key sees nothing of a name."""
FIRST_LOOK_S = 10.0
LONGEST_LOOK_S = 300.0
"""Pauses between looks at a batch grow from the first to the longest."""
MOST_POSTS = 6
"""Times that a batch is posted, or looked for, before its calls are given up for now."""
AT_ONCE = 8
"""Bodies that are made at once: one may hold 20 MB of frames."""

T = TypeVar("T")
BatchEnd = Literal["answered", "expired", "cancelled", "missing", "never-taken"]


class BatchOutcome(NamedTuple):
    """What came of one call in a batch."""

    batch: str
    end: BatchEnd
    answer: RecordedAnswer | None = None


class KeptBatches(Protocol):
    """The batches of a run as they are kept on disk; see `memory.store.batches`."""

    keys: dict[str, str]

    async def intend(self, batch: BatchIntent) -> None:
        """Keep that a batch is about to be posted."""

    def witness_of(self, batch: str) -> str:
        """Return the witness of one whose POST was not answered; empty if it has none."""

    async def posted(self, batch: str, server_id: str) -> None:
        """Keep what the provider calls it."""

    async def note(self, batch: str, answered: int, *, is_ended: bool) -> None:
        """Keep how far it is."""

    async def withdraw(self, batch: str) -> None:
        """Take back one that was surely never taken."""

    async def lose(self, keys: set[str]) -> None:
        """Let calls be sent again that may have been paid for."""

    def open(self) -> list[OpenBatch]:
        """Return the batches with calls that have no row."""

    def calls_of(self, batch: str) -> list[Intent]:
        """Return the calls of a batch that have no row."""

    def server_ids(self) -> frozenset[str]:
        """Return what providers call the batches of the run."""


LaneKey = tuple[str, str, tuple[str, ...]]
"""Where calls can share a batch: `provider:model`, address, and the variables of the key."""


@dataclass(eq=False)
class _Spool:
    """Lines of a batch that is being gathered."""

    path: Path
    file: IO[bytes]
    intents: list[Intent] = field(default_factory=list)
    bytes: int = 0


@dataclass(eq=False)
class _Lane:
    """The calls of one model that go into batches together."""

    model: Model
    service: BatchService
    spool: _Spool | None = None
    arrivals: int = 0
    is_gathering: bool = False


@dataclass
class BatchQueue:
    """Gathers, posts and follows the batches of one process."""

    kept: KeptBatches
    _: KW_ONLY
    say: Callable[[str], None] = lambda _line: None
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep
    now_s: Callable[[], float] = time.time
    on_idle: Callable[[], None] = lambda: None
    """Called whenever something has ended that must not be cut off."""
    gives_up: bool = False
    """Whether calls are sent again whose batch this key does not see, though it may be paid for."""
    unaffordable: set[str] = field(default_factory=set)
    """Batches to be cancelled: the caps do not hold what they may still cost."""
    busy: int = field(default=0, init=False)
    """Batches that are being posted just now, and replies that are being read."""
    is_closed: bool = field(default=False, init=False)
    _lanes: dict[LaneKey, _Lane] = field(default_factory=dict, init=False)
    _waiting: dict[str, asyncio.Future[BatchOutcome]] = field(default_factory=dict, init=False)
    _arrived: dict[str, BatchOutcome] = field(default_factory=dict, init=False)
    """Ends of calls that nobody has asked for yet."""
    _consumed: set[str] = field(default_factory=set, init=False)
    """Calls whose end in their batch was handed out; the next batch they are in is another."""
    _unread: dict[str, BatchRefused] = field(default_factory=dict, init=False)
    """Why batches cannot be read in this process."""
    _followed: dict[str, int] = field(default_factory=dict, init=False)
    """Number of each batch that is followed, from 1."""
    _tasks: set[asyncio.Task[None]] = field(default_factory=set, init=False)
    _making: int = field(default=0, init=False)
    _room: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE), init=False)
    _folder: tempfile.TemporaryDirectory[str] | None = field(default=None, init=False)

    def holds(self, key: str) -> bool:
        """Return whether a call waits in a batch, posted by whatever process."""
        return key in self.kept.keys and key not in self._consumed

    async def ask(
        self, model: Model, intent: Intent, body: Callable[[], Awaitable[KeptBody]]
    ) -> BatchOutcome:
        """Return what came of a call, once its batch has ended; `body` makes what is sent.

        BatchRefused where the provider takes no batch, or the call's own cannot be read.
        """
        # A reply may have been the last that was read, and is asked for again.
        self.on_idle()
        lane = self._lane(model)
        key = intent.key
        if self.holds(key):
            outcome = self._arrived.pop(key, None)
            if outcome is None:
                unread = self._unread.get(self.kept.keys[key])
                if unread is not None:
                    raise unread
                future = self._future(key)
                self._follow_stored(lane, self.kept.keys[key])
                outcome = await future
        else:
            outcome = await self._gathered(lane, intent, body)
        self._consumed.add(key)
        return outcome

    async def _gathered(
        self, lane: _Lane, intent: Intent, body: Callable[[], Awaitable[KeptBody]]
    ) -> BatchOutcome:
        self._making += 1
        try:
            async with self._room:
                made = await body()
                pieces = lane.service.line(intent.key, made.pieces)
                size = sum(map(len, pieces))
                limits = lane.service.LIMITS
                if size > limits.bytes:
                    words = f"request too large: {size} bytes, and a batch takes {limits.bytes}"
                    refusal = f'{{"error":{{"message":"{words}","code":413}}}}'
                    return BatchOutcome("", "answered", RecordedAnswer(413, refusal.encode()))
                spool = lane.spool
                if spool is not None and (
                    spool.bytes + size > limits.bytes or len(spool.intents) >= limits.calls
                ):
                    self._cut(lane)
                future = self._future(intent.key)
                self._put(lane, intent, pieces, size)
        finally:
            self._making -= 1
        return await future

    def _put(self, lane: _Lane, intent: Intent, pieces: list[bytes], size: int) -> None:
        if lane.spool is None:
            if self._folder is None:
                self._folder = tempfile.TemporaryDirectory(prefix="videoautoarena-batch-")
            path = Path(self._folder.name) / f"{uuid4().hex}.jsonl"
            # Closed in `_cut`, or with all others in `aclose`.
            lane.spool = _Spool(path, path.open("wb"))
        spool = lane.spool
        for piece in pieces:
            spool.file.write(piece)
        spool.bytes += size
        spool.intents.append(intent)
        lane.arrivals += 1
        if not lane.is_gathering:
            lane.is_gathering = True
            self._spawn(self._gather(lane))

    def _future(self, key: str) -> asyncio.Future[BatchOutcome]:
        future: asyncio.Future[BatchOutcome] = asyncio.get_running_loop().create_future()
        self._waiting[key] = future
        return future

    def _lane(self, model: Model) -> _Lane:
        place: LaneKey = (model.resolved, model.url, model.key_names)
        if place not in self._lanes:
            self._lanes[place] = _Lane(model, service_of(model))
        return self._lanes[place]

    async def _gather(self, lane: _Lane) -> None:
        """Post what has gathered once nothing more comes."""
        seen = -1
        while seen != lane.arrivals or self._making:
            seen = lane.arrivals
            await self.pause(GATHER_S)
        lane.is_gathering = False
        if lane.spool is not None and not self.is_closed:
            self._cut(lane)

    def _cut(self, lane: _Lane) -> None:
        """Post the lines that have gathered as one batch."""
        spool = lane.spool
        if spool is None:
            return
        lane.spool = None
        spool.file.close()
        # An upload may take minutes.
        self.say(f"{lane.model.resolved}: posting a batch of {len(spool.intents):,} calls")
        self._spawn(self._post(lane, spool))

    async def _post(self, lane: _Lane, spool: _Spool) -> None:
        keys = [one.key for one in spool.intents]
        fault: CallFault | None = None
        for number in range(MOST_POSTS):
            if number:
                await self.pause(min(LONGEST_LOOK_S, FIRST_LOOK_S * 2**number))
            if self.is_closed:
                return
            batch = f"batch-{uuid4().hex}"
            with self._being_busy():
                server_id, fault = await self._post_once(lane, spool, batch)
            if fault is None:
                with self._ending_alone(batch):
                    # The key is the one that it was posted with.
                    server_id = server_id or await self._told(lane, batch, is_own=True)
                    if server_id is not None:
                        spool.path.unlink(missing_ok=True)
                        await self._follow(lane, batch, server_id)
                if server_id is not None or batch in self._unread:
                    return
            if fault is not None and not fault.is_transient:
                break
        why = fault.reason if fault else "it was taken none of the times it was posted"
        self._refuse(lane, keys, f"a batch of {len(keys)} calls was not taken: {why}")

    async def _post_once(
        self, lane: _Lane, spool: _Spool, batch: str
    ) -> tuple[str | None, CallFault | None]:
        """Return what the provider calls the batch, or why it was surely not taken; or neither."""
        uploaded = await self._tried(lane, lane.service.upload(batch, spool.path))
        if isinstance(uploaded, CallFault):
            return None, uploaded
        witness = await self._tried(lane, lane.service.witness(uploaded))
        if isinstance(witness, CallFault):
            return None, witness
        model = lane.model
        head = (batch, model.maker.batches, model.resolved, model.endpoint, self.now_s())
        await self.kept.intend(BatchIntent(*head, tuple(spool.intents), witness))
        self._consumed -= {one.key for one in spool.intents}
        taken = await self._tried(lane, lane.service.post(batch, uploaded, spool.path))
        if isinstance(taken, CallFault):
            if not _is_refused(taken):
                return None, None
            await self.kept.withdraw(batch)
            return None, taken
        await self.kept.posted(batch, taken)
        return taken, None

    async def _tried(self, lane: _Lane, work: Awaitable[T]) -> T | CallFault:
        """Return what a request to the provider gave, or what went wrong with it."""
        try:
            return await work
        except ArenaError:
            raise
        except Exception as error:
            fault = fault_of(error, key_env=lane.model.key_env)
            # A bug of ours keeps its trace.
            if fault is None:
                raise
            return fault

    async def _told(self, lane: _Lane, batch: str, *, is_own: bool) -> str | None:
        """Return what the provider calls a batch that it may have taken; None: it is asked again.

        `is_own` says that it was posted with the key that the provider is asked with. BatchRefused
        where nothing tells.
        """
        calls = self.kept.calls_of(batch)
        (began_s,) = (one.began_at_s for one in self.kept.open() if one.id == batch)
        keys = frozenset(one.key for one in calls)
        self.say(
            f"{lane.model.resolved}: whether a batch of {len(keys)} calls was taken is not known; "
            "it may be paid for, so the provider's list is asked before anything is sent again"
        )
        # Its body may have been on the way until a moment ago, unless that is long past.
        is_past = self.now_s() - began_s > UPLOAD_S
        sent_s = began_s if is_past else self.now_s()
        looks = self._pauses()
        failed = 0
        while True:
            posting = BatchPosting(batch, began_s, keys, self.kept.server_ids())
            # Asked before the list: what is taken while it is read may not stand in it.
            is_late = self.now_s() - sent_s >= TELLING_S
            found = await self._tried(lane, lane.service.find(posting))
            if isinstance(found, CallFault):
                failed = self._failed(lane, found, failed, "the list of batches")
            elif found.server_id is not None:
                await self.kept.posted(batch, found.server_id)
                return found.server_id
            elif found.is_sure and is_late:
                seen = is_own or await self._sees_account(lane, batch)
                if seen is True:
                    await self.kept.withdraw(batch)
                    return None
                if seen is False:
                    what = f"whether a batch of {len(keys):,} calls was taken"
                    self._give_up(lane, f"{what} cannot be told with this key")
                    await self._lose(batch, keys)
                    return None
                failed = self._failed(lane, seen, failed, "what was uploaded for a batch")
            else:
                failed = 0
            await self.pause(next(looks))

    async def _sees_account(self, lane: _Lane, batch: str) -> bool | CallFault:
        """Return whether this key is of the account that a batch was posted to, as far as known."""
        witness = self.kept.witness_of(batch)
        if not witness:
            return False
        fault = await self._tried(lane, lane.service.look_at(witness))
        if fault is None:
            return True
        return False if fault.kind in NOT_THERE else fault

    def _give_up(self, lane: _Lane, what: str) -> None:
        """Return if calls whose batch this key does not see are sent again; else BatchRefused."""
        if not self.gives_up:
            raise BatchRefused(
                f"{lane.model.resolved}: {what}: another account may hold it; repeat the command "
                f"with the key that it was posted with, or with {option('retry_failed', True)} to "
                "send its calls again, which may pay for them twice",
                model=lane.model.resolved,
                may_be_paid=True,
            )

    @contextmanager
    def _ending_alone(self, batch: str) -> Iterator[None]:
        """Let an error of reading a batch end its own calls alone."""
        try:
            yield
        except BatchRefused as refused:
            self._unread[batch] = refused
            self._fail(refused, [key for key, its in self.kept.keys.items() if its == batch])

    def _follow_stored(self, lane: _Lane, batch: str) -> None:
        """Follow a batch that another process has posted, if nobody does."""
        if batch in self._followed:
            return
        self._followed[batch] = len(self._followed) + 1
        (found,) = (one for one in self.kept.open() if one.id == batch)
        self._spawn(self._go_on(lane, found))

    async def _go_on(self, lane: _Lane, found: OpenBatch) -> None:
        keys = {one.key for one in self.kept.calls_of(found.id)}
        with self._ending_alone(found.id):
            server_id = found.server_id or await self._told(lane, found.id, is_own=False)
            if server_id is None:
                self._never_taken(found.id, keys)
            else:
                await self._follow(lane, found.id, server_id)

    def _never_taken(self, batch: str, keys: Collection[str]) -> None:
        """Let those who wait for calls of a batch that is withdrawn ask again."""
        for key in self._waiting.keys() & keys:
            self._deliver(key, BatchOutcome(batch, "never-taken"))

    async def _follow(self, lane: _Lane, batch: str, server_id: str) -> None:
        """Look at a batch until it has ended, and hand out what came of its calls."""
        self._followed.setdefault(batch, len(self._followed) + 1)
        calls = self.kept.calls_of(batch)
        keys = {one.key for one in calls}
        (total,) = (one.calls for one in self.kept.open() if one.id == batch)
        number = self._followed[batch]
        what = f"{total:,} calls of {lane.model.resolved}"
        self.say(f"batch {number} of {len(self._followed)}: {what} are at their provider")
        looks = self._pauses()
        failed = 0
        before: int | None = None
        if batch in self.unaffordable:
            await self._cancel(lane, batch, server_id)
        while True:
            found = await self._tried(lane, _looked_at(lane.service, server_id))
            if isinstance(found, CallFault) and found.kind in NOT_THERE:
                self._give_up(lane, f"a batch of {total:,} calls is not there for this key")
                found = BatchStanding(True), []
            if isinstance(found, CallFault):
                failed = self._failed(lane, found, failed, f"a batch of {total:,} calls")
                await self.pause(next(looks))
                continue
            failed = 0
            standing, results = found
            if standing.is_ended:
                break
            if standing.answered is not None and standing.answered != before:
                before = standing.answered
                await self.kept.note(batch, before, is_ended=False)
                said = f"{before:,} of {total:,} answered"
                self.say(f"batch {number} of {len(self._followed)}: {said}")
            await self.pause(next(looks))
        await self.kept.note(batch, len(results), is_ended=True)
        self.say(f"batch {number} of {len(self._followed)}: ended with {len(results):,} results")
        await self._hand_out(lane, batch, keys, standing, results)

    async def _hand_out(
        self,
        lane: _Lane,
        batch: str,
        keys: set[str],
        standing: BatchStanding,
        results: list[BatchResult],
    ) -> None:
        reason = redacted(standing.failure, key_env=lane.model.key_env)
        if standing.failure and not results:
            # The whole of it was refused: no call of it was begun.
            await self.kept.withdraw(batch)
            why = f"a batch of {len(keys)} calls failed: {reason}"
            if not standing.may_pass:
                self._refuse(lane, list(keys), why)
                return
            self.say(f"{lane.model.resolved}: {why}; it is posted again")
            # Such as too many tokens waiting: others have to end first.
            await self.pause(LONGEST_LOOK_S)
            self._never_taken(batch, keys)
            return
        missing = set(keys)
        for one in results:
            # Whatever else a file of results holds was not asked for, or came twice.
            if one.key in missing:
                missing.discard(one.key)
                self._deliver(one.key, BatchOutcome(batch, one.end, one.answer))
        if standing.lacking != "missing":
            for key in missing:
                self._deliver(key, BatchOutcome(batch, standing.lacking))
        elif missing:
            self.say(
                f"{lane.model.resolved}: {len(missing):,} of {len(keys):,} calls are missing in "
                "the results of their batch; they may have been paid for, and are asked again"
            )
            await self._lose(batch, missing)

    async def _lose(self, batch: str, keys: Collection[str]) -> None:
        """Have calls asked again that may have been paid for."""
        await self.kept.lose(set(keys))
        for key in keys:
            self._deliver(key, BatchOutcome(batch, "missing"))

    async def _cancel(self, lane: _Lane, batch: str, server_id: str) -> None:
        self.say(f"{lane.model.resolved}: a batch is cancelled, since the cap does not hold it")
        self.unaffordable.discard(batch)
        # It may have ended by itself; what ended counts in either case.
        await self._tried(lane, lane.service.cancel(server_id))

    def _failed(self, lane: _Lane, fault: CallFault, failed: int, what: str) -> int:
        """Return how often in a row a look has failed now; BatchRefused after too many."""
        if failed + 1 >= MOST_POSTS or not fault.is_transient:
            raise BatchRefused(
                f"{lane.model.resolved}: {what} cannot be read: {fault.reason}; nothing of it is "
                "sent again; repeat the command later, with the key that it was posted with",
                model=lane.model.resolved,
                may_be_paid=True,
            )
        return failed + 1

    def _deliver(self, key: str, outcome: BatchOutcome) -> None:
        future = self._waiting.pop(key, None)
        if future is None:
            self._arrived[key] = outcome
        elif not future.done():
            future.set_result(outcome)

    def _refuse(self, lane: _Lane, keys: list[str], why: str) -> None:
        model = lane.model.resolved
        self._fail(BatchRefused(f"{model}: {why}", model=model), keys)

    def _fail(self, error: BaseException, keys: list[str]) -> None:
        for key in keys:
            future = self._waiting.pop(key, None)
            if future is not None and not future.done():
                future.set_exception(error)

    @staticmethod
    def _pauses() -> Any:
        pause_s = FIRST_LOOK_S
        while True:
            yield pause_s
            pause_s = min(LONGEST_LOOK_S, pause_s * 1.5)

    def _being_busy(self) -> _Busy:
        return _Busy(self)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        def ended(task: asyncio.Task[None]) -> None:
            self._tasks.discard(task)
            error = None if task.cancelled() else task.exception()
            if error is not None:
                # Whoever waits hears of it; nobody else would.
                self._fail(error, list(self._waiting))

        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(ended)

    async def settled(self) -> None:
        """Return once nobody waits for a batch."""
        while self._waiting:
            await asyncio.wait(list(self._waiting.values()))
            # Whoever waited goes first, and may ask again.
            await asyncio.sleep(0)

    def close(self) -> None:
        """Post nothing more; batches that are with their provider stay there."""
        self.is_closed = True

    async def aclose(self) -> None:
        """Let go of files and connections; batches that are with their provider stay there."""
        self.close()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        for lane in self._lanes.values():
            if lane.spool is not None:
                lane.spool.file.close()
            await lane.service.aclose()
        self._lanes.clear()
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None


async def _looked_at(
    service: BatchService, server_id: str
) -> tuple[BatchStanding, list[BatchResult]]:
    """Return how far a batch is, and its results once it has ended."""
    standing = await service.standing(server_id)
    if not standing.is_ended:
        return standing, []
    return standing, [one async for one in service.results(server_id)]


class _Busy:
    """Counts a batch that is being posted."""

    def __init__(self, queue: BatchQueue) -> None:
        self._queue = queue

    def __enter__(self) -> None:
        self._queue.busy += 1

    def __exit__(self, *_: object) -> None:
        self._queue.busy -= 1
        self._queue.on_idle()


def _is_refused(fault: CallFault) -> bool:
    """Return whether a batch whose POST ended in this fault was surely not taken."""
    refused = fault.kind.startswith("http-4") and fault.kind not in ("http-408", "http-409")
    return refused or fault.kind in (UNREACHED, "quota", "too-large", "content-filter")
