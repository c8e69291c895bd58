"""Playing an open run: every unsettled slot, until done or interrupted."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple, Protocol

from videoautoarena.agents.calls.ask import Asker
from videoautoarena.agents.limits.budget import CappedBudget
from videoautoarena.agents.limits.caps import SpendCaps
from videoautoarena.agents.limits.outages import PATIENCE_S, Outage
from videoautoarena.agents.limits.prices import NOTHING, MoneyAndTokens
from videoautoarena.graph.context import Arena, always
from videoautoarena.graph.slot_ids import base_of
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
from videoautoarena.runs.console.progress.interrupts import until_done
from videoautoarena.runs.console.progress.local_state import KeptWaits
from videoautoarena.runs.run.config.stopping_rule import (
    NO_CAPS,
    RuleReading,
    keep_met,
    kept_caps,
    kept_rule,
)
from videoautoarena.runs.run.inputs.facts import stored_facts
from videoautoarena.runs.run.inputs.users import personas_of
from videoautoarena.runs.run.rundir.budget import Budget
from videoautoarena.runs.run.rundir.call_facts import FactCount
from videoautoarena.runs.run.rundir.context import Calling, asker_of, assemble
from videoautoarena.runs.run.rundir.failures import Faulty, Forfeits
from videoautoarena.runs.run.rundir.frames import RunFrames
from videoautoarena.runs.run.rundir.opener import Opened
from videoautoarena.runs.run.rundir.reader import RunReader, damage, run_file
from videoautoarena.runs.run.rundir.slots import Lineup, Tally, newcomers_among
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
from videoautoarena.runs.tournament.schedule import (
    Ahead,
    Visit,
    blocks_of,
    one_after_another,
    play_blocks,
)
from videoautoarena.video.sampling.cache import FrameCache
from videoautoarena.video.workers.decoders import Decoders


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
    needed: MoneyAndTokens = NOTHING
    """If a cap stopped it, the least cap under which the next call would fit."""
    spent: CallTotals = NO_CALLS
    """What the whole run has spent, in all its processes."""
    outlook: Outlook = NOTHING_LEFT
    """What is left, and the latest reading of the run's stopping rule."""

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


class Engine(Protocol):
    """Plays a run elsewhere than in this process, such as on a cluster."""

    async def play(
        self, run: Opened, out: Path, *, limits: Limits, listeners: Listeners, newcomers_only: bool
    ) -> Early:
        """Play every unsettled slot of a run whose file nobody has open for writing."""


@dataclass(frozen=True)
class Limits:
    """Settings that are no part of a run and may change whenever it is continued."""

    concurrency: int = 16
    """Model calls under way at once."""
    max_void: float = 0.05
    """Share of void slots that is accepted."""
    caps: SpendCaps = NO_CAPS
    """The caps that were requested; others stay as they stand in the run."""
    patience_s: float = PATIENCE_S
    """How long an endpoint is waited for that cannot be reached."""
    engine: Engine | None = None
    """What plays the run; None: this process."""


Play = Coroutine[object, object, Finished]
"""A run that is open; await it to play every unsettled slot.

What comes before the first call is done outside the event loop, where Ctrl-C works at once.
"""


async def play_run(
    run: Opened, out: Path, *, limits: Limits, listeners: Listeners, newcomers_only: bool = False
) -> Finished:
    """Play every unsettled slot, or those of newcomers over stored answers, and close the run.

    An interrupt lets calls under way finish, a second one stops.
    """
    early = Early()
    store = run.store
    try:
        lineup = Lineup(store.slots())
        said = listeners.say
        alarm = FailureAlarm(
            out,
            said,
            # `store` is looked up when this is called: with an engine it is opened anew.
            lambda: _count_forfeits(store),
            accepted=limits.max_void,
            key_of=lambda alias: run.config.model_of(alias).key_source,
        )
        listeners = Listeners(said, all_of(listeners.hear, alarm.hear))
        caps = kept_caps(store)
        slots = lineup.slots.without(store.settled_ids())
        if slots := slots.where(newcomers_among(slots)) if newcomers_only else slots:
            listeners.hear(_beginning(run, out, caps))
            if limits.engine is None:
                early = await _play_here(run, slots, limits, listeners, newcomers_only)
            else:
                store.close()
                # Others write it now; what is read of it here is what they have committed.
                store = Store.open(run_file(out), write=False)
                early = await limits.engine.play(
                    run, out, limits=limits, listeners=listeners, newcomers_only=newcomers_only
                )
                store.close()
                store = Store.open(run_file(out), write=True)
            keep_met(store, early.met)
            address = early.gone.address if early.gone else ""
            listeners.hear(
                RunEnded(early.is_stopped, early.is_capped, store.journal.spent(), address)
            )
        for line in damage(store):
            listeners.say(line)
        forfeits = _count_forfeits(store)
        return Finished(
            total=len(lineup.slots),
            settled=forfeits.verdicts.total(),
            voids=forfeits.verdicts["void"],
            interrupted=early.is_stopped and not early.is_capped and early.gone is None,
            max_void=limits.max_void,
            is_capped=early.is_capped,
            gone=early.gone,
            faulty=forfeits.faulty(limits.max_void),
            caps=caps,
            needed=early.needed,
            spent=store.journal.spent(),
            outlook=look_ahead(store),
        )
    finally:
        store.close()


async def _play_here(
    run: Opened, slots: Slots, limits: Limits, listeners: Listeners, newcomers_only: bool
) -> Early:
    """Play slots in this process."""
    store = run.store
    in_waves = kept_rule(store).rule is not None or run.config.pairing == "mix"
    spend_order = partial(
        spend_order_of, run.config, store, in_waves=in_waves, newcomers_only=newcomers_only
    )
    budget = Budget.of(store, run.config, spend_order=spend_order)
    store.sessions.begin()
    waits = KeptWaits(store, os.getpid())
    listeners = replace(listeners, hear=all_of(listeners.hear, waits.hear))
    async with playing(run, budget, limits=limits, hear=listeners.hear) as game:
        stopped = await _play_all(game, slots, listeners)
    asker = game.asker
    met = None
    if game.watch is not None:
        # Until here it was read only when a slot asked for
        # its turn, as none does after the last waves.
        game.watch.look()
        met = game.watch.met
    cap = budget.spend_cap
    return Early(
        stopped,
        is_capped=stopped and asker.is_broke,
        gone=asker.lost if stopped else None,
        needed=cap.needed if isinstance(cap, CappedBudget) else NOTHING,
        met=met,
    )


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
        spent=run.store.journal.spent(),
        facts=FactCount.of(run.store),
    )


@dataclass(frozen=True)
class RunInProgress:
    """A run under way."""

    arena: Arena
    asker: Asker
    slots: Slots
    """Every slot."""
    watch: Watch | None
    """Present where a rule may stop the run."""
    guests: NewcomerDraws
    ahead: Ahead

    def is_over(self) -> bool:
        """Return whether no video that was not asked for by now will be needed."""
        is_met = self.watch is not None and self.watch.met is not None
        return is_met or self.asker.is_draining


@asynccontextmanager
async def playing(
    run: Opened, budget: Budget, *, limits: Limits, hear: Hear
) -> AsyncIterator[RunInProgress]:
    """Yield a run that is ready to be played; close its decoders and clients afterwards."""
    store = run.store
    config = run.config
    if isinstance(cap := budget.spend_cap, CappedBudget):
        hear = all_of(partial(_free_money, cap), hear)
    videos = {video.id: video for video in store.videos()}
    slots = store.slots()
    async with Decoders(FrameCache()) as decoders:
        run_frames = RunFrames(
            store, decoders, files=run.files, sampling=config.sampling, videos=videos
        )
        calling = Calling(store, config, run_frames.jpegs)
        asker = asker_of(calling, budget, pace=limits, hear=hear)
        waves = Waves.of(store, config.models)
        rule = kept_rule(store).rule
        watch = rule and Watch(rule, config, waves, lambda reading: hear(RuleRead(reading)))
        guests = NewcomerDraws(config, store)
        lineup = Lineup(slots)
        # Before anything is played: a draw stands in the file before anybody acts on it.
        await write_draws(store, guests, lineup.slots.where(newcomers_among(lineup.slots)))
        draws = WrittenDraws(Draws(config, slots, waves, guests), store)
        ahead = Ahead(run_frames.foresee)
        heard = _Heard(run_frames, draws, store, waves, ahead, hear)
        known = stored_facts(store)
        common = assemble(
            config, asker, prompts=run.prompts, videos=videos, lineup=lineup, facts=known
        )
        try:
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
            yield RunInProgress(arena, asker, slots, watch, guests, ahead)
        finally:
            await asker.aclose()


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


async def _play_all(game: RunInProgress, slots: Slots, listeners: Listeners) -> bool:
    """Play all blocks; return whether an interrupt or a cap ended them early."""
    from videoautoarena.graph.tournament import play

    async def go_and_play(visit: Visit) -> None:
        def is_wanted(slot: str) -> bool:
            is_of_it = game.slots.called(slot).generation <= visit.generation
            return game.arena.wanted(slot) and is_of_it

        await play(replace(game.arena, wanted=is_wanted), visit.video)

    async def play_them() -> None:
        of_newcomer = newcomers_among(slots)
        blocks = blocks_of(slots.where(~of_newcomer))
        turns = dict.fromkeys(visit.video for block in blocks for visit in block)
        async with game.ahead.over(list(turns), game.is_over):
            await play_blocks(blocks, one_after_another(go_and_play))
        await play_newcomers(game.arena, slots.where(of_newcomer), game.guests.source_of)

    return await until_done(game.asker, play_them(), listeners)
