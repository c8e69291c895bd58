"""The paid job: models asked about many items, each paid for once, whatever ends the process.

A job says what its items are, what calls one takes, how it is played through a prompter and where
its outcome is kept. Plan, caps, resume, progress and a good end at an interrupt come from here.
What a process before paid for stands in the journal: recall is the same play over an asker that
calls nobody, and an item that was cut off is played again and pays for its missing calls alone.
"""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Annotated, Any, ClassVar, Generic, NamedTuple, TypeVar

from pydantic import Field, TypeAdapter

from videoautoarena.agents.calls.ask import Asker
from videoautoarena.agents.calls.clients import Load
from videoautoarena.agents.limits.caps import SpendCaps
from videoautoarena.agents.limits.outages import PATIENCE_S
from videoautoarena.agents.limits.prices import BATCH_SHARE
from videoautoarena.agents.models.registry import Model, check_keys
from videoautoarena.agents.prompting.prompts import PromptSet
from videoautoarena.agents.roles.prompter import Prompter
from videoautoarena.memory.records.errors import BadInput, BatchRefused, CallFailed, JournalMiss
from videoautoarena.memory.records.records import Role, UnansweredTries, VideoFrames
from videoautoarena.memory.records.remedies import option
from videoautoarena.memory.store.journal import NO_TRIES
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.console.progress.events import Listeners, Say, nobody, pass_on
from videoautoarena.runs.console.progress.interrupts import until_done
from videoautoarena.runs.console.progress.listeners import OnProgress, progress
from videoautoarena.runs.console.progress.otlp import recorded
from videoautoarena.runs.formats.record_json import record_json
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.run.config.disclosure import judges_notice
from videoautoarena.runs.run.config.run_config import RunConfig
from videoautoarena.runs.run.config.stopping_rule import NO_CAPS, keep_caps, kept_caps, merged_caps
from videoautoarena.runs.run.rundir.budget import check_caps
from videoautoarena.runs.run.rundir.context import (
    Calling,
    EarlyEnd,
    draining_asker,
    no_frames,
    work_off,
)
from videoautoarena.runs.run.rundir.frames import WHOLE, RunFrames, Spans
from videoautoarena.runs.run.rundir.reader import counted, has_subtitles
from videoautoarena.runs.tournament.past_calls import KnownCalls, PastCalls, remember_calls
from videoautoarena.runs.tournament.plan import (
    SAMPLE,
    Line,
    LineCosts,
    PrefixReads,
    chance_variance,
    estimated,
    prefix_reads,
    slower,
)
from videoautoarena.runs.tournament.plan_text import plan_cost_words, takes_words

AT_WORK = 2
"""Items in hand for each call that may be under way: the next one is worded meanwhile."""
MOST_FAILED = 0.05
"""Share of calls that may fail before a job counts as failed, like voids in a run."""
Item = TypeVar("Item")
Outcome = TypeVar("Outcome")


@dataclass(frozen=True, kw_only=True)
class JobOrder:
    """How models are to be asked, as it was typed; a kind of job adds what it asks about."""

    config: Path | None = None
    videos: Path | None = None
    """Where the videos are, if they moved."""
    concurrency: int = 16
    patience_s: float = PATIENCE_S
    """How long an endpoint is waited for that cannot be reached."""
    caps: SpendCaps = NO_CAPS
    retry_failed: bool = False
    """Ask again where a call failed, or lies in a batch that its provider does not know."""
    batch: bool = False
    """Hand calls over in batches, which take hours and cost half."""
    trust: str | None = None
    """The digest of what is agreed to of the run's file."""


@dataclass(kw_only=True)
class JobTally(EarlyEnd):
    """How a job went in one process."""

    unit: str = "item"
    """What one item is called for a person."""
    total: int = 0
    """Items that were left when the process began."""
    known: int = 0
    """Other items, of which nothing was left."""
    done: int = 0
    asides: Counter[str] = field(default_factory=Counter)
    """What else came of items that are done, in a word: `unreadable`, `abstained`, `dropped`."""
    lost: UnansweredTries = NO_TRIES
    """What tries of unknown cost may have cost, of all processes."""
    failures: Counter[str] = field(default_factory=Counter)
    """Why calls failed for good; may hold a provider's words."""

    def count(self, failure: str | None = None, aside: str | None = None) -> None:
        """Count one more item that is done: why it failed, or what else came of it."""
        self.done += 1
        if failure is not None:
            self.failures[failure] += 1
        elif aside is not None:
            self.asides[aside] += 1

    @property
    def failed(self) -> int:
        """How many calls failed for good."""
        return self.failures.total()

    def as_json(self) -> dict[str, Any]:
        """Return what `SHOWN` names, as `--json` prints it."""
        return record_json(self)

    @property
    def is_whole(self) -> bool:
        """Whether nothing is left."""
        return self.done == self.total

    @property
    def pieces(self) -> int:
        """How many pieces came of it, as a person counts them."""
        return self.done

    def reasons(self, what: str = "failed") -> Iterator[str]:
        """Yield the most frequent reasons of failed calls as lines, safe to print."""
        # They may be a provider's words, of any length.
        for reason, count in self.failures.most_common(3):
            yield safe(f"{what}, {count}: {reason[:300]}")

    @property
    def is_failing(self) -> bool:
        """Whether more calls failed for good than are accepted."""
        return self.failed > MOST_FAILED * max(1, self.done)

    @property
    def so_far(self) -> str:
        """How it went and how many items are left, in a few words."""
        return f"{self.in_words}, {self.total - self.done:,} left"

    @property
    def in_words(self) -> str:
        """How it went, in a few words."""
        others = [*self.asides.items(), ("failed", self.failed)]
        words = [f"{count:,} {word}" for word, count in others if count]
        return ", ".join([counted(self.pieces, self.unit), *words])


OnDone = Callable[[JobTally], None]
"""Hears after every item how all of them went so far."""


@dataclass(frozen=True)
class JobAudience:
    """Who hears of a job."""

    say: Say
    is_quiet: bool = False
    """Whether it is not shown how far the job is."""

    @property
    def listeners(self) -> Listeners:
        """Those who hear its lines; of its calls nobody does."""
        return Listeners(self.say, nobody)

    def progress(self, total: int | None = None) -> AbstractContextManager[OnProgress]:
        """Return a context that yields what shows how far something of `total` pieces is."""
        return progress(self.say, is_quiet=self.is_quiet, total=total)

    @contextmanager
    def job_progress(self, total: int | None = None) -> Iterator[OnDone]:
        """Yield what hears of every item, of `total` if known, and shows how far the job is."""
        with self.progress(total) as on_progress:
            yield lambda tally: on_progress(tally.done, tally.total, tally.in_words)


NOBODY = JobAudience(lambda _line: None, is_quiet=True)


class ExpectedCalls(NamedTuple):
    """Calls of one model in one role that an item takes."""

    alias: str
    role: Role
    expected: float
    at_most: int
    """Transport retries aside."""
    frames: float = math.inf
    """Frames that a call is expected to carry, where that is fewer than the most."""
    known: int = 0
    """Calls among them that the journal has."""
    videos: tuple[str, ...] = ()
    """Ids of those whose frames are sent."""


@dataclass(frozen=True)
class JobPlan(LineCosts):
    """What a job will take, before anything is sent."""

    lines: tuple[Line, ...]
    known: int
    """How many of these are known and cost nothing."""
    notices: tuple[str, ...]
    """What leaves the machine."""
    at_once: int = 1
    """Calls under way at once."""
    caps: SpendCaps = NO_CAPS
    """The caps that would hold."""
    is_batched: bool = False
    """Whether they go out in batches, whose answers come when their provider likes."""

    @property
    def calls(self) -> float:
        """Calls expected, transport retries aside."""
        return sum(line.calls for line in self.lines)

    @property
    def most_calls(self) -> int:
        """The most calls, transport retries aside."""
        return sum(line.most_calls for line in self.lines)

    @property
    def calls_at_most(self) -> Mapping[str, int]:
        """Model to the most calls it may cost, transport retries aside."""
        most = Counter[str]()
        for line in self.lines:
            most[line.alias] += line.most_calls
        # The plus drops models that are called no more, so that no plan and no notice names them.
        return +most

    @property
    def duration_s(self) -> float | None:
        """How long it is expected to take; None for stand-ins alone, for batches and nobody."""
        if self.is_batched:
            return None
        lines = [line for line in self.lines if not line.is_offline]
        return sum(line.seconds for line in lines) / self.at_once if lines else None

    def to_json(self) -> dict[str, Any]:
        """Return it in the shape of `plan` in `arena tasks make --json`."""
        return {
            "lines": [line.to_json() for line in self.lines],
            "calls": round(self.calls, 1),
            "calls_at_most": self.most_calls,
            "cost_usd": self.cost_usd,
            "expected_usd": self.expected_usd,
            "bound90_usd": self.bound90_usd,
            "cap_usd": self.cap_usd,
            "basis": self.basis,
            "duration_s": None if self.duration_s is None else round(self.duration_s),
            "duration_bound90_s": None
            if self.duration_s is None
            else round(self.duration_s * slower(self.lines)),
            "known": self.known,
            "notices": list(self.notices),
        }

    def cost_words(self) -> str:
        """Return what follows the number of calls: their cost, where somebody bills them."""
        if not self.most_calls or all(line.is_offline for line in self.lines):
            return ""
        beside = f", {IN_BATCHES}" if self.is_batched else ""
        return f"; {plan_cost_words(self)}{beside}"

    @property
    def known_words(self) -> str:
        """What follows the number of items: how many of them are known."""
        return f", {self.known:,} of them known" if self.known else ""

    def as_json(self) -> dict[str, Any]:
        """Return what `SHOWN` names, as `--plan --json` prints it."""
        return record_json(self)

    def headlines(self) -> Iterator[str]:
        """Yield how many calls it takes, what they cost, and how long."""
        if not self.lines:
            yield "nothing is left to be called"
            return
        yield (f"about {self.calls:,.0f} calls of {safe(self.lines[0].alias)}{self.cost_words()}")
        if self.duration_s is not None:
            yield takes_words(self.duration_s, self.at_once)

    def as_lines(self) -> Iterator[str]:
        """Yield it as lines for a person, safe to print."""
        yield from self.headlines()
        yield from map(safe, self.notices)


IN_BATCHES = "in batches at half the usual price, where what follows from each other may take days"


def in_batches(line: Line) -> Line:
    """Return a line of a plan at the price of batches."""
    return line if line.is_offline else line.at_share(BATCH_SHARE)


def plan_lines(
    config: RunConfig,
    calls: Iterable[ExpectedCalls],
    store: Store | None,
    *,
    at_once: int = 1,
    shares_frames: bool = False,
) -> tuple[Line, ...]:
    """Return what calls will take beyond those that are known, a line for each model and role.

    With `shares_frames` all calls about a video show the same frames of it, which caches may have.
    """
    calls = list(calls)
    seen = KnownCalls.of(store.journal.latest(SAMPLE) if store else [], PastCalls.read())
    shown = {video for one in calls for video in one.videos}
    videos = len(shown) or len(calls)
    alike: dict[tuple[str, Role, float], ExpectedCalls] = {}
    chances = Counter[tuple[str, Role, float]]()
    for one in calls:
        # What a call takes follows from model, role and frames, so calls alike in these are sized
        # once.
        kind = (one.alias, one.role, one.frames)
        was = alike.get(kind, one._replace(expected=0.0, at_most=0, known=0))
        alike[kind] = was._replace(
            expected=was.expected + one.expected,
            at_most=was.at_most + one.at_most,
            known=was.known + one.known,
        )
        # What stands behind whole calls, such as .02 of a repair, comes by chance.
        chances[kind] += one.expected % 1  # type: ignore[assignment]

    def sized(reads: PrefixReads) -> dict[tuple[str, Role], Line]:
        found: dict[tuple[str, Role], Line] = {}
        for kind, one in alike.items():
            # Repairs make the journal know more calls than were expected; that makes no other call
            # cheaper.
            expected = max(one.expected - one.known, 0.0)
            line = Line(
                one.alias,
                one.role,
                expected,
                max(one.at_most - one.known, 0),
                calls_variance=chance_variance(min(chances[kind], expected)),
            )
            line = estimated(
                config,
                line,
                seen,
                videos=videos,
                frames=one.frames,
                reads=reads,
            )
            before = found.get((one.alias, one.role))
            found[one.alias, one.role] = line if before is None else before.plus(line)
        return found

    bare = sized({}).values()
    if not shares_frames:
        return tuple(bare)
    busy_s = sum(line.seconds for line in bare) / at_once
    return tuple(sized(prefix_reads(config, bare, videos=max(videos, 1), busy_s=busy_s)).values())


def answered_in(store: Store | None) -> Counter[tuple[str, str]]:
    """Return how many calls a journal has answers to, by the head of their scope and their role."""
    rows = store.journal.each_answered() if store else ()
    return Counter((scope.partition(":")[0], role) for scope, _, role in rows)


def settle_caps(store: Store | None, config: RunConfig, typed: SpendCaps, *, write: bool) -> None:
    """Let caps hold from now on, or BadInput if they cannot be kept; those typed last count."""
    caps = merged_caps(kept_caps(store) if store is not None else NO_CAPS, typed)
    check_caps(config, caps)
    if write and store is not None:
        keep_caps(store, caps)


_GENERATIONS = "generations"
"""Name in a file of calls of how often each scope was asked again, since a call of it failed."""
_COUNTS = TypeAdapter(dict[str, Annotated[int, Field(ge=0, le=1_000_000)]])


class Generations:
    """How often each scope was asked again; what had succeeded stays known."""

    def __init__(self, store: Store | None, counts: Mapping[str, int] | None = None) -> None:
        """Read them from the file of calls; or take these, which the journal itself tells."""
        # Counts that the journal tells are kept by it already, so they are written nowhere.
        self._store = store if counts is None else None
        kept = self._store.file_as(_COUNTS, _GENERATIONS) if self._store is not None else counts
        self._counts = dict(kept or {})

    def __call__(self, scope: str) -> Sequence[int]:
        """Return the generations of a scope, ascending; the last is the one that asks."""
        return range(self._counts.get(scope, 0) + 1)

    def add(self, scopes: Iterable[str]) -> None:
        """Let these scopes ask again, and write it down first."""
        for scope in scopes:
            self._counts[scope] = self._counts.get(scope, 0) + 1
        if self._store is not None:
            self._store.put_file(_GENERATIONS, json.dumps(self._counts), replace=True)


_SCOPES = TypeAdapter(set[str])


class FailedScopes:
    """The scopes of calls that failed for good, kept in the file of calls under a name."""

    def __init__(self, store: Store, name: str = "failed") -> None:
        self._store = store
        self._name = name
        self.scopes = store.file_as(_SCOPES, name) or set()

    def add(self, scope: str) -> None:
        """Take note of one as it fails."""
        if scope not in self.scopes:
            self.keep({*self.scopes, scope})

    def keep(self, scopes: Iterable[str]) -> None:
        """Take note of these and no others."""
        self.scopes = set(scopes)
        self._store.put_file(self._name, json.dumps(sorted(self.scopes)), replace=True)

    def ask_again(self) -> None:
        """Let all of them be asked again."""
        # In this order a death between the two lines asks under one generation more, and forgets no
        # failure.
        Generations(self._store).add(sorted(self.scopes))
        self.keep(())


def at_generation(prompter: Prompter, generation: int) -> Prompter:
    """Return a prompter that asks, in this generation, what no earlier one has an answer to."""
    return replace(prompter, generations=lambda _scope: range(generation + 1))


class KnownFrames(RunFrames):
    """Frames that were looked at before; asking for any others raises JournalMiss."""

    async def frames(self, video: str, spans: Spans = WHOLE) -> VideoFrames:
        """Return a video's frames, or UnusableVideo; JournalMiss where nobody has looked at it."""
        if not (self.has(video, spans) or self.is_quarantined(video)):
            raise JournalMiss(f"nobody has looked at the frames of {video}")
        return await super().frames(video, spans)


class Recalled(NamedTuple, Generic[Item, Outcome]):
    """What the journal says of items."""

    known: list[tuple[Item, Outcome]]
    failed: list[Item]
    """Items with a call that failed for good, if `play` raises CallFailed for it."""
    left: list[Item]


@dataclass(kw_only=True)
class PaidJob(ABC, Generic[Item, Outcome]):
    """Asks models about items through one journal."""

    AT_WORK: ClassVar = AT_WORK
    SHARES_FRAMES: ClassVar = False
    """Whether all its calls about a video show the same frames of it."""
    IS_BATCHED: ClassVar = True
    """Whether its calls go into batches where these are asked for."""
    ROLE: ClassVar[Role | None] = None
    """The role of all calls, if they share one; it decides how many frames a call carries."""
    store: Store | None
    """Has the journal and the caps; None if nothing was begun and it is only planned."""
    config: RunConfig
    """Has every model that may be called in its cast, with the prices that hold now."""
    prompts: PromptSet
    order: JobOrder
    load: Load = no_frames
    """The way to frames."""
    generations: Callable[[str], Sequence[int]] = lambda _scope: (0,)
    """Scope to its generations, as a prompter takes them."""
    tally: JobTally = field(default_factory=JobTally)
    left: Sequence[Item] = ()
    """Items of which something is left."""

    def items(self) -> Sequence[Item]:
        """Return what is to be played; what is known may be among it, and calls nobody."""
        return self.left

    @abstractmethod
    def forecast(self, item: Item, /) -> Iterable[ExpectedCalls]:
        """Yield the calls that an item takes, expected and at most; none where all is known."""

    @abstractmethod
    async def play(self, item: Item, prompter: Prompter, /) -> Outcome:
        """Return what comes of an item, or CallFailed; from an asker that recalls, JournalMiss."""

    @abstractmethod
    async def keep(self, item: Item, outcome: Outcome, /) -> None:
        """Write down what came of an item, and count it."""

    async def begin(self) -> None:
        """Raise BadInput if what playing needs is missing: found out later, it costs calls."""

    def expected(self) -> list[ExpectedCalls]:
        """Return the calls that are left, those among them that several items share."""
        return [one for item in self.items() for one in self.forecast(item)]

    def plan(self) -> JobPlan:
        """Return what is left to be called, and what of it leaves the machine."""
        calls = self.expected()
        # Items that are known throughout keep no worker busy, so they must not shorten the
        # estimate.
        open_ = sum(any(True for _ in self.forecast(item)) for item in self.items())
        at_once = max(1, min(self.order.concurrency, open_))
        lines = plan_lines(
            self.config,
            calls,
            self.store,
            at_once=at_once,
            shares_frames=self.SHARES_FRAMES,
        )
        if self.is_batching:
            lines = tuple(map(in_batches, lines))
        kept = NO_CAPS if self.store is None else kept_caps(self.store)
        caps = merged_caps(kept, self.order.caps)
        plan = JobPlan(lines, self.tally.known, (), at_once, caps, self.is_batching)
        most = plan.calls_at_most
        notices = judges_notice(
            self.config,
            most,
            videos=len({video for one in calls for video in one.videos}),
            has_subtitles=self.store is not None and has_subtitles(self.store),
            answering={one.alias for one in calls if one.role == "contestant"},
            reading=most.keys() - {one.alias for one in calls if one.frames},
            role=self.ROLE,
        )
        return replace(plan, notices=tuple(notices))

    @property
    def is_batching(self) -> bool:
        """Whether its calls go out in batches."""
        return self.order.batch and self.IS_BATCHED

    @property
    def open_store(self) -> Store:
        """The file of calls, of a job that is to be played."""
        if self.store is None:
            raise RuntimeError("a job was to be played without a file for its calls")
        return self.store

    @cached_property
    def answered(self) -> Counter[tuple[str, str]]:
        """How many calls the journal has answers to, as `answered_in` counts them."""
        return answered_in(self.store)

    async def recall(self, items: Iterable[Item]) -> Recalled[Item, Outcome]:
        """Return what the journal knows of items; nobody is called."""
        found = Recalled[Item, Outcome]([], [], [])
        if self.store is None:
            found.left.extend(items)
            return found
        # A replaying asker raises JournalMiss where it would have to call; the key of a request
        # holds digests of frames, so nothing is decoded.
        asker = Asker(self.store.journal, no_frames, seed=self.config.seed, is_replay=True)
        prompter = self.prompter(asker)
        for item in items:
            try:
                found.known.append((item, await self.play(item, prompter)))
            except JournalMiss:
                found.left.append(item)
            except CallFailed:
                found.failed.append(item)
        return found

    def prompter(self, asker: Asker) -> Prompter:
        """Return what items are played through."""
        return Prompter(asker, self.prompts, self.config.seed, generations=self.generations)

    async def run(self, audience: JobAudience) -> None:
        """Say what it takes, then play what is left; at an interrupt or a cap, as much as ended.

        BadInput for a model that lacks a key, or as `begin` does.
        """
        for line in self.plan().as_lines():
            audience.say(line)
        items = self.items()
        self.tally.total = len(items)
        if not items:
            return
        # Keys are asked for of models that are still called: what is known is recalled without any.
        names = dict.fromkeys(one.alias for item in items for one in self.forecast(item))
        check_keys(map(self.config.model_of, names))
        if self.is_batching:
            refuse_unbatched(map(self.config.model_of, names), audience.listeners.say)
        await self.begin()
        calling = Calling(self.open_store, self.config, self.load)
        with audience.job_progress(self.tally.total) as on_done:
            await self._play_all(items, calling, audience.listeners, on_done)

    async def _play_all(
        self, items: Sequence[Item], calling: Calling, listeners: Listeners, on_done: OnDone
    ) -> None:
        def player(asker: Asker) -> Callable[[Item], Awaitable[None]]:
            prompter = self.prompter(asker)

            async def play(item: Item) -> None:
                try:
                    outcome = await self.play(item, prompter)
                except CallFailed as why:
                    self.tally.count(str(why))
                else:
                    await self.keep(item, outcome)
                on_done(self.tally)

            return play

        await play_each(
            items,
            player,
            calling,
            order=self.order,
            tally=self.tally,
            listeners=listeners,
            at_work=self.AT_WORK,
            is_batching=self.is_batching,
        )


def refuse_unbatched(models: Iterable[Model], say: Say) -> None:
    """Raise BadInput for a model whose provider takes no batches; say which run here."""
    asked = list(models)
    for model in asked:
        if not model.is_offline and not model.maker.batches:
            raise BadInput(
                f"{model.alias!a}: {model.provider} takes no batches; leave out "
                f"{option('batch', True)}"
            )
    here = [safe(model.alias) for model in asked if model.is_offline]
    if here:
        say(
            f"{option('batch', True)}: asked as usual, since they run on this machine: "
            f"{', '.join(here)}"
        )


async def play_each(
    items: Sequence[Item],
    player: Callable[[Asker], Callable[[Item], Awaitable[None]]],
    calling: Calling,
    *,
    order: JobOrder,
    tally: JobTally,
    listeners: Listeners,
    at_work: int = AT_WORK,
    as_sent: bool = False,
    is_batching: bool = False,
) -> None:
    """Play items in their order, several at once; `player` turns an asker into what plays one item.

    What the calls took is kept for plans to come, `as_sent` as `measured_kinds` has it.

    An interrupt, a cap and a server that is gone let calls under way finish, a batch that cannot be
    read leaves its items for another time; `tally` says of it.
    Batches stay with their provider then, and are read when the same is played again.
    """
    journal = calling.store.journal
    before = journal.last_place()
    # All at once, so that each batch is as large as it can be.
    workers = len(items) if is_batching else min(len(items), at_work * order.concurrency)
    async with recorded(listeners, calling.config, tally.unit) as heard:
        asker = draining_asker(
            calling,
            tally,
            pace=order,
            hear=partial(pass_on, listeners=heard),
            is_batching=is_batching,
            gives_up=order.retry_failed,
            say=lambda line: listeners.say(safe(line)),
        )
        play = player(asker)

        async def play_unless_left(item: Item) -> None:
            try:
                await play(item)
            except BatchRefused as refused:
                # Items of other models, and of other batches, are none the worse for it.
                tally.leave(refused)

        try:
            work = work_off(items, play_unless_left, workers=workers)
            stopped = await until_done(asker, work, heard)
        finally:
            await asker.aclose()
    if journal.batches.keys:
        left = counted(len(journal.batches.keys), "call")
        listeners.say(f"{left} left in batches at the provider: repeat the command to read them")
    tally.end(asker, stopped=stopped)
    if lost := remember_calls(journal, calling.config, after=before, as_sent=as_sent):
        listeners.say(lost)
