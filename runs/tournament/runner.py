"""Playing an open run: every unsettled slot, until done or interrupted."""

from __future__ import annotations

import asyncio
import os
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    contextmanager,
)
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar
from weakref import WeakValueDictionary

from videoautoarena.agents.calls.ask import Asker
from videoautoarena.agents.limits.budget import CappedBudget
from videoautoarena.agents.limits.caps import SpendCaps
from videoautoarena.agents.limits.outages import PATIENCE_S, Outage
from videoautoarena.agents.limits.prices import NANO, NOTHING, MoneyAndTokens
from videoautoarena.graph.context import Arena, BlockQueue, LiveRun, Visit, always
from videoautoarena.graph.slot_ids import PERSONAS, base_of
from videoautoarena.memory.records.records import Battle, Draw, VideoFrames
from videoautoarena.memory.records.slots import Slots
from videoautoarena.memory.store.journal import NO_CALLS, CallTotals
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.console.progress.events import (
    BattleSettled,
    FailureAlarm,
    Hear,
    Listeners,
    PairDrawn,
    RuleRead,
    RunBegun,
    RunEnded,
    RunEvent,
    VideoWatched,
    all_of,
)
from videoautoarena.runs.console.progress.interrupts import (
    InFlight,
    announce,
    until_drained,
)
from videoautoarena.runs.console.progress.local_state import KeptWaits
from videoautoarena.runs.console.progress.otlp import SpanRecorder
from videoautoarena.runs.rating.leaderboard import RatedLeaderboard
from videoautoarena.runs.run.config.run_request import RunRequest
from videoautoarena.runs.run.config.stopping_rule import (
    NO_CAPS,
    RuleReading,
    keep_capped,
    keep_met,
    kept_caps,
    kept_rule,
)
from videoautoarena.runs.run.inputs.facts import stored_facts
from videoautoarena.runs.run.inputs.users import FILE as USERS
from videoautoarena.runs.run.inputs.users import personas_of
from videoautoarena.runs.run.rundir.budget import Budget, cap_use, possibly_paid
from videoautoarena.runs.run.rundir.call_facts import FactCount
from videoautoarena.runs.run.rundir.context import Calling, answered_before, asker_of, assemble
from videoautoarena.runs.run.rundir.failures import UNUSABLE, Faulty, Forfeits
from videoautoarena.runs.run.rundir.frames import RunFrames
from videoautoarena.runs.run.rundir.opener import Opened
from videoautoarena.runs.run.rundir.reader import SUBTITLES, RunReader, damage, run_file
from videoautoarena.runs.run.rundir.slots import Lineup, Tally, newcomers_among
from videoautoarena.runs.run.rundir.spending import CapUse
from videoautoarena.runs.run.rundir.waves import (
    NOTHING_LEFT,
    Outlook,
    Watch,
    Waves,
    ending_of,
    look_ahead,
)
from videoautoarena.runs.tournament.draws import (
    Draws,
    NewcomerDraws,
    WrittenDraws,
    play_newcomers,
    write_draws,
)
from videoautoarena.runs.tournament.forecast import spend_order_of
from videoautoarena.runs.tournament.past_calls import remember_calls
from videoautoarena.runs.tournament.schedule import (
    Ahead,
    blocks_of,
)
from videoautoarena.video.sampling.cache import FrameCache
from videoautoarena.video.workers.decoders import Decoders

T = TypeVar("T")


@dataclass(frozen=True)
class Finished:
    """The state of a run when its process is done."""

    total: int
    settled: int
    voids: int
    interrupted: bool
    max_void: float
    is_capped: bool = False
    """Whether a cap stopped it."""
    gone: Outage | None = None
    """The endpoint that was waited for in vain, if that stopped it."""
    faulty: tuple[Faulty, ...] = ()
    """Contestants that forfeit more often than the user accepts."""
    caps: SpendCaps = NO_CAPS
    needed: SpendCaps = NO_CAPS
    """If a cap stopped it, the least caps under which the next call would fit."""
    spent: CallTotals = NO_CALLS
    """What the whole run has spent, in all its processes, and may have in `lost`."""
    cap_use: CapUse | None = None
    """How much of its caps is used; None without one."""
    outlook: Outlook = NOTHING_LEFT
    """What is left, and the latest reading of the run's stopping rule."""
    board: RatedLeaderboard | None = None
    """The models rated; None where no battle is decided, or the run was cut off."""
    bench: Path | None = None
    """The frozen set, where one was asked for and all was played."""
    unfrozen: str | None = None
    """Why that set could not be made; None if it was, or was not asked for."""

    @property
    def is_stopped(self) -> bool:
        """Whether a rule was met before all slots were played."""
        return self.outlook.is_stopped

    @property
    def reading(self) -> RuleReading | None:
        """The latest reading of the run's stopping rule."""
        return self.outlook.reading

    @property
    def void_share(self) -> float:
        """Voids among settled slots, 0 to 1."""
        return self.voids / self.settled if self.settled else 0.0

    @property
    def too_many_voids(self) -> bool:
        """Whether more slots are void than the user accepts."""
        return self.void_share > self.max_void


class Early(NamedTuple):
    """Why a run ended before everything was played, if it did."""

    is_stopped: bool = False
    is_capped: bool = False
    gone: Outage | None = None
    """An endpoint that was waited for in vain."""
    needed: MoneyAndTokens = NOTHING
    """The least cap under which the next call would fit."""
    met: RuleReading | None = None
    """The reading that met the stopping rule."""


class PlayedGame(LiveRun, Protocol):
    """A run that is being played, and what can be asked of it."""

    @property
    def calls(self) -> InFlight:
        """What makes its calls."""

    async def end(self) -> Early:
        """Return why the game ended before all was played, if it did."""


class Engine(Protocol):
    """Plays a run elsewhere than in this process, such as on a cluster."""

    def playing(
        self, run: Opened, out: Path, *, limits: Limits, listeners: Listeners, newcomers_only: bool
    ) -> AbstractAsyncContextManager[PlayedGame]:
        """Yield the game of a run whose file nobody has open for writing."""


@dataclass(frozen=True)
class Limits:
    """Settings that are no part of a run and may change whenever it is continued."""

    concurrency: int = 16
    """Model calls under way at once."""
    max_void: float = 0.05
    """Share of void slots that is accepted."""
    patience_s: float = PATIENCE_S
    """How long an endpoint is waited for that cannot be reached."""
    engine: Engine | None = None
    """What plays the run; None: this process."""


class Aside(Protocol):
    """Does what stands still for a while, such as reading a run's file."""

    async def __call__(self, work: Callable[..., T], /, *values: object) -> T:
        """Return what `work` returns for these values."""


async def at_once(work: Callable[..., T], /, *values: object) -> T:
    """Do work where the event loop is: a command has that for itself.

    Each thread keeps the memory that it once took, some 100 MB where a run has 750,000 slots.
    """
    return work(*values)


class RunSession:
    """One process's work on a run that is open for writing, from its opening to how it ended."""

    def __init__(
        self,
        run: Opened,
        out: Path,
        *,
        limits: Limits,
        listeners: Listeners,
        newcomers_only: bool = False,
        request: RunRequest | None = None,
        shares_loop: bool = False,
    ) -> None:
        self.out = out
        self.aside: Aside = asyncio.to_thread if shares_loop else at_once
        """Does what would stop the event loop, in a thread where others use that."""
        self.request = request or RunRequest(out=out)
        """What the run is asked to be."""
        self.finished: Finished | None = None
        """How it ended; None until it has."""
        self.board: RatedLeaderboard | None = None
        self.is_begun = False
        self.holders = 0
        """How many work on it just now."""
        self._idle_since_s = time.monotonic()
        self._run = run
        self._store = run.store
        self._limits = limits
        self._alarm = FailureAlarm(
            out,
            listeners.say,
            # The store is looked up when this is called: with an engine it is opened anew.
            lambda: _count_forfeits(self._store),
            accepted=limits.max_void,
            key_of=lambda alias: run.config.model_of(alias).key_source,
        )
        self._spans = SpanRecorder(run.config, "tournament", listeners.say)
        hear = all_of(listeners.hear, self._alarm.hear, self._spans.hear)
        self.listeners = Listeners(listeners.say, hear)
        self._newcomers_only = newcomers_only
        self._opening = asyncio.Lock()
        self._game: PlayedGame | None = None
        self._undo = AsyncExitStack()
        self._is_draining = False
        self._before = run.store.journal.last_place()
        """Place of the last call that was recorded before it began."""

    @property
    def under_way(self) -> int:
        """How many tries have been sent and have not come back."""
        return self._game.calls.under_way if self._game else 0

    @property
    def is_broke(self) -> bool:
        """Whether a cap is reached."""
        return self._game is not None and self._game.calls.is_broke

    @property
    def idle_s(self) -> float:
        """Since how many seconds nobody has worked on it."""
        return 0.0 if self.holders else time.monotonic() - self._idle_since_s

    @contextmanager
    def held(self) -> Iterator[None]:
        """Count as one who works on it."""
        self.holders += 1
        try:
            yield
        finally:
            self.holders -= 1
            self._idle_since_s = time.monotonic()

    def drain(self) -> None:
        """Send no further call; those under way are finished."""
        self._is_draining = True
        if self._game:
            self._game.calls.drain()

    async def begin(self) -> dict[str, int]:
        """Say that the run begins; return how many slots it has, and how many are left."""
        self.is_begun = True
        with self.held():
            counts, begun = await self.aside(self._look)
            if counts["left"]:
                await self.aside(self._spans.open)
        if counts["left"]:
            self.listeners.hear(begun)
        return counts

    def _look(self) -> tuple[dict[str, int], RunBegun]:
        self._alarm.count()
        lineup = Lineup(self._store.slots())
        left = lineup.slots.without(self._store.settled_ids())
        newcomers = len(left.where(newcomers_among(left)))
        counts = {
            "slots": len(lineup.slots),
            "left": newcomers if self._newcomers_only else len(left),
            "newcomers": newcomers,
        }
        return counts, _beginning(self._run, self.out, kept_caps(self._store))

    @asynccontextmanager
    async def playing(self) -> AsyncIterator[PlayedGame]:
        """Yield the run's game: it begins with whoever comes first, and lasts until `end`."""
        with self.held():
            async with self._opening:
                if self._game is None:
                    await self.aside(self._spans.open)
                    self._game = await self._undo.enter_async_context(self._begun_game())
                    announce(self._game.calls, self.listeners)
                    if self._is_draining:
                        self._game.calls.drain()
            yield self._game

    @asynccontextmanager
    async def _begun_game(self) -> AsyncIterator[PlayedGame]:
        if self._limits.engine is None:
            async with _played_here(
                self._run,
                limits=self._limits,
                listeners=self.listeners,
                newcomers_only=self._newcomers_only,
                aside=self.aside,
            ) as game:
                yield game
            return
        # Others write the file meanwhile; what is read of it here is what they have committed.
        await self._reopen(write=False)
        try:
            async with self._limits.engine.playing(
                self._run,
                self.out,
                limits=self._limits,
                listeners=self.listeners,
                newcomers_only=self._newcomers_only,
            ) as game:
                yield game
        finally:
            await self._reopen(write=True)

    async def _reopen(self, *, write: bool) -> None:
        def reopen() -> Store:
            self._store.close()
            return Store.open(run_file(self.out), write=write)

        self._store = await self.aside(reopen)

    async def end(self, *, is_cut_off: bool = False) -> Finished:
        """End the game, if it began, and close the run; return how it ended."""
        with self.held():
            return self.finished or await self._end(is_cut_off=is_cut_off)

    async def _end(self, *, is_cut_off: bool) -> Finished:
        was_played = self._game is not None
        early = await self._game.end() if self._game else Early()
        if is_cut_off:
            early = early._replace(is_stopped=True)
        await self._undo.aclose()
        # What it knows of all slots is not to be in memory beside what rating takes.
        self._game = None
        finished, lines, ended = await self.aside(self._finish, early)
        self.finished = finished
        if was_played:
            self.listeners.hear(ended)
        for line in lines:
            self.listeners.say(line)
        await self.close()
        return finished

    def _finish(self, early: Early) -> tuple[Finished, list[str], RunEnded]:
        store = self._store
        keep_met(store, early.met)
        caps = kept_caps(store)
        journal = store.journal
        config = self._run.config
        spent = journal.spent()._replace(lost=possibly_paid(config, journal))
        needed = SpendCaps(early.needed.nano / NANO, early.needed.tokens)
        keep_capped(store, needed if early.is_capped else None)
        forfeits = _count_forfeits(store)
        finished = Finished(
            total=len(Lineup(store.slots()).slots),
            settled=forfeits.verdicts.total(),
            voids=forfeits.verdicts["void"],
            interrupted=early.is_stopped and not early.is_capped and early.gone is None,
            max_void=self._limits.max_void,
            is_capped=early.is_capped,
            gone=early.gone,
            faulty=forfeits.faulty(self._limits.max_void),
            caps=caps,
            needed=needed,
            spent=spent,
            cap_use=cap_use(config, journal) if caps else None,
            outlook=look_ahead(store),
        )
        address = early.gone.address if early.gone else ""
        ended = RunEnded(early.is_stopped, early.is_capped, spent, address)
        unkept = remember_calls(store.journal, self._run.config, after=self._before)
        return finished, [*damage(store), *([unkept] if unkept else [])], ended

    def leave(self) -> None:
        """Close a run that nobody has begun to play."""
        self._store.close()

    async def close(self) -> None:
        """Close the run, wherever it stands; again is harmless."""
        try:
            await self._undo.aclose()
        finally:
            await self.aside(self._store.close)
            await self._spans.close()


def files_about(video: str) -> tuple[str, ...]:
    """Return the names of a run's texts about one video that are read while it is played."""
    return f"{UNUSABLE}{video}", f"{SUBTITLES}{video}", f"{USERS}/{video}"


def _count_forfeits(store: Store) -> Forfeits:
    return Forfeits.of(store, superseded=Tally.of(store).superseded)


def _beginning(run: Opened, out: Path, caps: SpendCaps) -> RunBegun:
    stored = RunReader(out, run.store)
    config = run.config
    return RunBegun(
        out=out,
        seed=config.seed,
        rounds=config.rounds,
        models=tuple(config.models),
        examiner=config.examiner,
        judges=tuple(config.judges),
        videos={video.id: video.path for video in run.store.videos()},
        slots=stored.slots,
        battles=stored.battles,
        caps=caps,
        spent=run.store.journal.spent()._replace(lost=possibly_paid(config, run.store.journal)),
        facts=FactCount.of(run.store),
    )


@dataclass
class RunInProgress:
    """A run that is played in this process."""

    arena: Arena
    asker: Asker
    store: Store
    slots: Slots
    """Every slot."""
    watch: Watch | None
    """Present where a rule may stop the run."""
    guests: NewcomerDraws
    ahead: Ahead
    budget: Budget
    queue: BlockQueue
    newcomers: Slots
    """Those of newcomers that are left."""
    aside: Aside
    is_stopped: bool = False
    """Whether something was left when no more calls were sent."""
    holders: Counter[str] = field(default_factory=Counter)
    """How many play a video just now."""
    held: set[str] = field(default_factory=set)
    """The videos that are in memory."""
    # Weak, so that a lock lives only while somebody holds it or waits for it.
    holding: WeakValueDictionary[str, asyncio.Lock] = field(default_factory=WeakValueDictionary)

    @property
    def calls(self) -> Asker:
        """What makes its calls."""
        return self.asker

    @asynccontextmanager
    async def visiting(self, visit: Visit) -> AsyncIterator[Arena]:
        """Yield the arena in which a video is played as far as its visit goes."""

        def is_wanted(slot: str) -> bool:
            is_of_it = self.slots.called(slot).generation <= visit.generation
            return self.arena.wanted(slot) and is_of_it

        video = visit.video
        rounds = range(self.arena.rules.rounds)
        slots = [self.arena.slot(video, persona, n) for persona in PERSONAS for n in rounds]
        async with self.queue.turn_of(video), self._held(video, slots):
            yield replace(self.arena, wanted=is_wanted)

    @asynccontextmanager
    async def _held(self, video: str, slots: Iterable[str]) -> AsyncIterator[None]:
        """Keep what the run's file holds of a video in memory, so that no read stops the loop."""
        self.holders[video] += 1
        try:
            # Whoever comes second waits, too: of what it writes while the file is read, memory
            # would know nothing, and a call that is paid for would be made again.
            async with self.holding.setdefault(video, asyncio.Lock()):
                if video not in self.held:
                    scopes = {slot: base_of(slot) for slot in slots}
                    await self.aside(self.store.hold, video, scopes, files_about(video))
                    self.held.add(video)
            yield
        finally:
            self.holders[video] -= 1
            if not self.holders[video]:
                del self.holders[video]
                self.held.discard(video)
                self.store.release(video)

    async def meet_newcomers(self) -> None:
        """Play the slots of newcomers over stored answers."""
        by_video: dict[str, list[str]] = {}
        for slot in self.newcomers:
            by_video.setdefault(slot.video, []).append(slot.id)
        await play_newcomers(
            self.arena,
            self.newcomers,
            self.guests.source_of,
            lambda video: self._held(video, by_video[video]),
        )

    async def until_drained(self, work: Awaitable[object]) -> None:
        """Await work whose calls are all the game's; cancel it once no call is sent any more."""
        self.is_stopped |= await until_drained(self.asker, work)

    async def end(self) -> Early:
        """Return why the game ended before all was played, if it did."""
        met = None
        if self.watch is not None:
            # Until here it was read only when a slot asked for
            # its turn, as none does after the last waves.
            self.watch.look()
            met = self.watch.met
        cap = self.budget.spend_cap
        return Early(
            self.is_stopped,
            is_capped=self.is_stopped and self.asker.is_broke,
            gone=self.asker.lost if self.is_stopped else None,
            needed=cap.needed if isinstance(cap, CappedBudget) else NOTHING,
            met=met,
        )

    def is_over(self) -> bool:
        """Return whether no video that was not asked for by now will be needed."""
        is_met = self.watch is not None and self.watch.met is not None
        return is_met or self.asker.is_draining


@asynccontextmanager
async def _played_here(
    run: Opened, *, limits: Limits, listeners: Listeners, newcomers_only: bool, aside: Aside
) -> AsyncIterator[RunInProgress]:
    """Yield a run that is ready to be played in this process."""
    store = run.store

    def begin() -> Budget:
        in_waves = kept_rule(store).rule is not None or run.config.pairing == "mix"
        spend_order = partial(
            spend_order_of, run.config, store, in_waves=in_waves, newcomers_only=newcomers_only
        )
        store.sessions.begin()
        return Budget.of(store, run.config, spend_order=spend_order)

    budget = await aside(begin)
    waits = KeptWaits(store, os.getpid())
    hear = all_of(listeners.hear, waits.hear)
    async with playing(
        run, budget, limits=limits, hear=hear, newcomers_only=newcomers_only, aside=aside
    ) as game:
        turns = dict.fromkeys(visit.video for block in game.queue.blocks for visit in block)
        async with game.ahead.over(list(turns), game.is_over):
            yield game


@asynccontextmanager
async def playing(
    run: Opened,
    budget: Budget,
    *,
    limits: Limits,
    hear: Hear,
    newcomers_only: bool = False,
    aside: Aside = at_once,
) -> AsyncIterator[RunInProgress]:
    """Yield a run that is ready to be played; close its decoders and clients afterwards."""
    store = run.store
    config = run.config
    if isinstance(cap := budget.spend_cap, CappedBudget):
        hear = all_of(partial(_free_money, cap), hear)
    async with Decoders(FrameCache()) as decoders:

        def ready() -> RunInProgress:
            videos = {video.id: video for video in store.videos()}
            slots = store.slots()
            run_frames = RunFrames(
                store, decoders, files=run.files, sampling=config.sampling, videos=videos
            )
            calling = Calling(store, config, run_frames.jpegs)
            asker = asker_of(calling, budget, pace=limits, hear=hear)
            asker.proven = answered_before(store, config)
            waves = Waves.of(store, config.models)
            rule = kept_rule(store).rule
            watch = rule and Watch(rule, config, waves, lambda reading: hear(RuleRead(reading)))
            guests = NewcomerDraws(config, store)
            lineup = Lineup(slots)
            draws = WrittenDraws(Draws(config, slots, waves, guests), store)
            ahead = Ahead(run_frames.foresee)
            heard = _Heard(run_frames, draws, store, waves, ahead, hear)
            known = stored_facts(store)
            common = assemble(
                config, asker, prompts=run.prompts, videos=videos, lineup=lineup, facts=known
            )
            arena = common(
                frames=heard.frames,
                draw=heard.draw,
                settle=heard.settle,
                settled=store.battle,
                # Slots that were superseded stay as they are.
                wanted=lineup.ids.__contains__,
                turn=watch.turn if watch else always,
                brought=partial(personas_of, store),
            )
            left = lineup.slots.without(store.settled_ids())
            is_newcomer = newcomers_among(left)
            blocks = [] if newcomers_only else blocks_of(left.where(~is_newcomer))
            return RunInProgress(
                arena,
                asker,
                store,
                slots,
                watch,
                guests,
                ahead,
                budget,
                BlockQueue(blocks),
                left.where(is_newcomer),
                aside,
            )

        game = await aside(ready)
        try:
            # Before anything is played: a draw stands in the file before anybody acts on it.
            await write_draws(store, game.guests, game.newcomers, aside)
            yield game
        finally:
            await game.asker.aclose()


@dataclass(frozen=True)
class _Heard:
    """Frames, draws and battles of a run, each of which is passed on as an event."""

    run_frames: RunFrames
    draws: WrittenDraws
    store: Store
    waves: Waves
    ahead: Ahead
    hear: Hear
    watched: set[str] = field(default_factory=set)

    async def frames(self, video: str) -> VideoFrames:
        if video not in self.watched:
            self.watched.add(video)
            self.hear(VideoWatched(video))
            self.ahead.note(video)
        return await self.run_frames.frames(video)

    async def draw(self, slot: str) -> Draw:
        drawn = await self.draws(slot)
        self.hear(PairDrawn(drawn))
        return drawn

    async def settle(self, battle: Battle) -> None:
        # Committed before anybody hears of it, or a kill could take back what was shown or drawn
        # on.
        await self.store.put_battle(battle)
        self.hear(BattleSettled(battle))
        self.waves.note(ending_of(battle))


def _free_money(spend_cap: CappedBudget, event: RunEvent) -> None:
    """Tell a cap about a battle that needs no more money."""
    if isinstance(event, BattleSettled):
        spend_cap.end(base_of(event.battle.id))
