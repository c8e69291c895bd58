"""The state of a run by its events: what is in flight, what was settled, what calls cost.

It holds no terminal and reads no file; the live console draws it.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from videoautoarena.agents.calls.ask import CallEvent
from videoautoarena.agents.limits.caps import SpendCaps
from videoautoarena.agents.limits.outages import Outage, ServerWait
from videoautoarena.agents.transport.faults import UNREACHED
from videoautoarena.graph.slot_ids import PERSONAS, base_of, is_newcomer, lineage_id
from videoautoarena.memory.records.records import Attempt, Battle, Role, Slot
from videoautoarena.memory.records.slots import Slots
from videoautoarena.memory.store.journal import CallTotals
from videoautoarena.runs.console.progress import events
from videoautoarena.runs.console.progress.local_state import Machines
from videoautoarena.runs.run.config.stopping_rule import NO_CAPS, RuleReading
from videoautoarena.runs.run.rundir.call_facts import FactCount
from videoautoarena.runs.run.rundir.slots import Lineup, lineages_of, newcomers_among

_OPEN = -1
KEPT_WHOLE = 60
"""The latest battles whose texts are kept: more than any terminal shows."""
TIMED = 6
"""Battles that must be settled before the rest is estimated."""


class SnapshotBattle(NamedTuple):
    """How a battle ended, without its texts."""

    id: str
    video: str
    model_a: str | None
    model_b: str | None
    verdict: str


@dataclass(slots=True)
class CallUnderWay:
    """A call under way."""

    role: Role
    alias: str
    since_s: float
    paused_until_s: float = 0.0
    """When it is tried again after a failure, in the clock's seconds."""
    awaits_server: bool = False
    """Whether its server could not be reached, and it is sent again once it can."""


@dataclass(slots=True)
class LineageUnderWay:
    """A lineage under way, or a video whose users are still being invented (`persona` 0)."""

    video: str
    persona: int = 0
    round: int = 0
    pair: tuple[str, str] | None = None
    voices: dict[int | str, CallUnderWay] = field(default_factory=dict)
    after: Role | None = None
    """The role that spoke last."""
    since_s: float = 0.0
    """When something last happened to it, in the clock's seconds."""


class RunSnapshot:
    """The state of a run; `clock` returns seconds that never go back."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self.began_s = self.heard_s = clock()
        """When its process began, and when its first event came, in the clock's seconds."""
        self.run: events.RunBegun | None = None
        self.draining: int | None = None
        self.ended: bool | None = None
        """Whether it was interrupted; None while it runs."""
        self.flights: dict[str, LineageUnderWay] = {}
        self.latest: deque[Battle] = deque(maxlen=KEPT_WHOLE)
        self.verdicts: Counter[str] = Counter()
        self.calls = self.recalled = self.failed = self.retries = 0
        self.tokens_in = self.tokens_out = 0
        self.usd = 0.0
        """Known cost of the whole run in dollars."""
        self.unknown = 0
        """Calls of unknown cost."""
        self.lost_usd = 0.0
        """The most that tries of unknown cost can have cost, which caps count too."""
        self.is_capped = False
        """Whether a cap stops it, or has."""
        self.gone = ""
        """The address of an endpoint that was waited for in vain, which stops it, or has."""
        self.awaited: dict[str, float] = {}
        """Address that cannot be reached to when that began."""
        self.refusing: dict[str, tuple[float, str]] = {}
        """Address that refuses calls for now to when that began, and the fault."""
        self.facts = FactCount()
        """Facts of its calls and answers."""
        self.reading: RuleReading | None = None
        """The latest reading of its stopping rule."""
        self.machines: Machines | None = None
        """State of the cluster's machines; None if no cluster plays it."""
        self.fresh = 0
        self._lineup = Lineup(())
        self._endings = SlotEndings(self._lineup.slots)
        self._open: Counter[str] = Counter()

    def hear(self, event: events.RunEvent) -> None:
        """Note an event."""
        match event:
            case CallEvent():
                self._call(event)
            case events.RunBegun():
                self._begin(event)
            case events.VideoWatched(video):
                self.flights.setdefault(video, LineageUnderWay(video, since_s=self.clock()))
            case events.PairDrawn(draw):
                if flight := self._flight(draw.slot):
                    flight.pair = (draw.model_a, draw.model_b)
            case events.BattleSettled(battle):
                self.fresh += 1
                self.facts.add_answers(battle)
                self._settle(battle)
            case events.RuleRead(reading):
                self.reading = reading
            case Machines():
                self.machines = event
            case ServerWait(address, "waiting", fault=fault):
                self.refusing[address] = (self.clock(), fault)
            case ServerWait(address):
                self.refusing.pop(address, None)
            case Outage(address, "waiting"):
                self.awaited[address] = self.clock()
            case Outage(address):
                self.awaited.pop(address, None)
                self._stop_waiting()
            case events.CallsDraining(calls, is_capped, gone):
                self.draining = calls
                self.is_capped = is_capped
                self.gone = gone
            case events.RunEnded(interrupted, is_capped, spent, gone):
                self.ended = interrupted
                self.is_capped = is_capped
                self.gone = gone
                if spent is not None:
                    self._take(spent)
                self.flights.clear()

    @property
    def total(self) -> int:
        """How many slots the run has."""
        return len(self._lineup.slots)

    @property
    def done(self) -> int:
        """How many slots are settled."""
        return self.verdicts.total()

    @property
    def voids(self) -> int:
        """How many slots are void."""
        return self.verdicts["void"]

    @property
    def forfeits(self) -> int:
        """How many battles were forfeit."""
        return self.verdicts["forfeit_a"] + self.verdicts["forfeit_b"]

    @property
    def speaking(self) -> int:
        """How many calls are under way."""
        return sum(not voice.awaits_server for voice in self._voices())

    @property
    def elapsed_s(self) -> float:
        """Seconds for which its process has been playing."""
        return self.clock() - self.began_s

    @property
    def left_s(self) -> float | None:
        """Seconds left at the pace so far; None if it is too early, or the run is ending."""
        if self.fresh < TIMED or self.ended is not None or self.draining is not None:
            return None
        # By the pace since the first event here: a follower may have come late.
        return (self.clock() - self.heard_s) / self.fresh * (self.total - self.done)

    @property
    def caps(self) -> SpendCaps:
        """The caps on the whole run."""
        return self.run.caps if self.run else NO_CAPS

    @property
    def usd_in_all(self) -> float | None:
        """Dollars of the whole run at the rate so far; None if too early, or costs are unknown."""
        if self.done < TIMED or self.unknown:
            return None
        return self.usd / self.done * self.total

    def _voices(self) -> Iterator[CallUnderWay]:
        return (voice for flight in self.flights.values() for voice in flight.voices.values())

    def _stop_waiting(self) -> None:
        if not self.awaited:
            for voice in self._voices():
                voice.awaits_server = False

    def battles(self) -> list[SnapshotBattle]:
        """Return how the settled battles ended, in stored order."""
        return list(self._endings)

    def _begin(self, run: events.RunBegun) -> None:
        self.run = run
        self.heard_s = self.clock()
        self.began_s = self.heard_s - run.played_s
        self._lineup = Lineup(run.slots)
        # A follower gives no sum, since it passes on every call itself.
        if run.spent.calls:
            self._take(run.spent)
        if run.facts is not None:
            self.facts = run.facts.copy()
        # Heard again when the run has grown, or some of it is played again.
        self._open = _lineages(self._lineup.slots)
        self._endings = SlotEndings(self._lineup.slots)
        self.verdicts = Counter()
        self.latest.clear()
        for battle in run.battles:
            self._settle(battle)

    def _take(self, spent: CallTotals) -> None:
        """Replace figures by those of the run's file, which has also what was committed unheard."""
        self.calls = spent.calls
        self.usd = spent.usd
        self.unknown = spent.unknown
        self.lost_usd = spent.lost.usd or 0.0
        self.tokens_in = spent.input_tokens
        self.tokens_out = spent.output_tokens

    def _settle(self, battle: Battle) -> None:
        row = self._lineup.slots.find(battle.id)
        if row is None or not self._endings.note(row, battle):
            return
        slot = self._lineup.slots[row]
        self.verdicts[battle.verdict] += 1
        self.latest.append(battle)
        lineage = _lineage(slot)
        # Slots of newcomers were not counted as open.
        if not is_newcomer(slot.id):
            self._open[lineage] -= 1
        if not self._open[lineage]:
            self.flights.pop(lineage, None)
        elif lineage in self.flights:
            self.flights[lineage] = LineageUnderWay(
                slot.video, slot.persona, slot.round + 1, after="judge", since_s=self.clock()
            )
        if not self._has_open(slot.video):
            self.flights.pop(slot.video, None)

    def _has_open(self, video: str) -> bool:
        """Return whether a lineage of a video has slots left."""
        return any(self._open[lineage_id(video, persona)] for persona in PERSONAS)

    def _flight(self, scope: str) -> LineageUnderWay | None:
        """Return the lineage that a call or a draw belongs to; None if its slot is settled.

        None, too, for a call about a settled video, or one of a trial or a tag.
        """
        row = self._lineup.find(base_of(scope))
        # A scope that names no slot is a video's: its examiner, its personas, its embeddings; or
        # that of a job about the run, which no lineage is called like.
        if row is None:
            if not self._has_open(scope):
                return None
            return self.flights.setdefault(scope, LineageUnderWay(scope, since_s=self.clock()))
        slot = self._lineup.slots[row]
        # Once a lineage of it speaks, the video is no longer being read. Asked of settled slots,
        # too: a follower passes on all calls from the first one on.
        self.flights.pop(slot.video, None)
        if self._endings.has(row):
            return None
        flight = self.flights.setdefault(_lineage(slot), LineageUnderWay(slot.video, slot.persona))
        flight.round = slot.round
        return flight

    def _call(self, event: CallEvent) -> None:
        if event.kind == "learnt":
            return
        if event.kind in ("finished", "recalled"):
            self._count(event)
        flight = self._flight(event.nonce.scope)
        if flight is None:
            return
        place = f"{event.nonce.role}{event.nonce.ordinal}"
        now = self.clock()
        flight.since_s = now
        if event.kind == "started":
            flight.voices[place] = CallUnderWay(event.nonce.role, event.alias, now)
        elif event.kind == "retry":
            self.retries += 1
            if place in flight.voices:
                flight.voices[place].paused_until_s = now + event.seconds
                flight.voices[place].awaits_server = event.fault == UNREACHED
        else:
            flight.voices.pop(place, None)
            flight.after = event.nonce.role

    def _count(self, event: CallEvent) -> None:
        self.failed += event.fault is not None
        # Its cost stands among those of earlier processes, which came with `RunBegun`.
        if event.kind == "recalled":
            self.recalled += 1
            return
        self.calls += 1
        self.facts.add(events.end_of(event))
        tries: tuple[CallEvent | Attempt, ...] = (*event.attempts, event)
        for attempt in tries:
            self.tokens_in += attempt.usage.input_tokens or 0
            self.tokens_out += attempt.usage.output_tokens or 0
            self.usd += attempt.cost_usd or 0.0
            if attempt.cost_usd is None:
                self.lost_usd += attempt.may_have_cost_usd or 0.0
        # Of the last try alone, as status counts it.
        self.unknown += event.cost_usd is None


class SlotEndings:
    """How the battles of a run's slots ended, in twelve bytes each."""

    def __init__(self, slots: Slots) -> None:
        self._slots = slots
        self._names: dict[str | None, int] = {}
        self._codes = np.full((len(slots), 3), _OPEN, dtype=np.int32)

    def has(self, row: int) -> bool:
        """Return whether the slot in a row is settled."""
        return bool(self._codes[row, 2] != _OPEN)

    def note(self, row: int, battle: Battle) -> bool:
        """Note the battle in a row, and return whether it is new."""
        if self.has(row):
            return False
        names = (battle.model_a, battle.model_b, battle.verdict)
        self._codes[row] = [self._names.setdefault(name, len(self._names)) for name in names]
        return True

    def __iter__(self) -> Iterator[SnapshotBattle]:
        names = list(self._names)
        videos = self._slots.videos
        for row in np.flatnonzero(self._codes[:, 2] != _OPEN).tolist():
            a, b, verdict = (names[name] for name in self._codes[row])
            video = videos[self._slots.columns.video[row]]
            yield SnapshotBattle(self._slots.id(row), video, a, b, verdict or "")


def _lineages(slots: Slots) -> Counter[str]:
    """Return the number of slots of each lineage, without those of newcomers."""
    slots = slots.where(~newcomers_among(slots))
    _, first, counts = np.unique(lineages_of(slots), return_index=True, return_counts=True)
    names = (_lineage(slots[row]) for row in first.tolist())
    return Counter(dict(zip(names, counts.tolist(), strict=True)))


def _lineage(slot: Slot) -> str:
    """Return the name of a slot's lineage, or of a newcomer's slot itself."""
    return base_of(slot.id) if is_newcomer(slot.id) else lineage_id(slot.video, slot.persona)
