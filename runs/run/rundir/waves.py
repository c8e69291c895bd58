"""Waves of slots played side by side, and the rule that may stop a run after one.

A wave is a (generation, block, round); waves stand in that order, counted from 0. Draws and rules
look at whole waves only, so that nothing depends on which battle ended first: a slot is played
unless the rule was met by the waves up to two before it. Of each battle no more is kept than who
met and how it ended.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from videoautoarena.graph.slot_ids import base_of
from videoautoarena.memory.records.records import TIES, Battle, Slot
from videoautoarena.memory.records.slots import Ints as Numbers
from videoautoarena.memory.records.slots import Slots
from videoautoarena.memory.store.store import BattleEnding, Store
from videoautoarena.runs.run.config.stopping_rule import RuleReading, StoppingRule, kept_rule
from videoautoarena.runs.run.rundir.slots import Lineup, Tally, newcomers_among, numbered, places_of
from videoautoarena.scoring.fitting.counts import Cells, Ints, count_cells

if TYPE_CHECKING:
    from videoautoarena.runs.run.config.run_config import RunConfig

LAG = 2
"""A slot of wave k is drawn by the waves up to k - 2: the wave before may still be under way."""
_REMEMBERED = 64
"""The most waves whose weights are kept; only a few are drawn from at any time."""
# Points of the first model in halves, so that a tie is a whole number, too.
_HALVES = {"a": 2, "b": 0} | dict.fromkeys(TIES, 1)
_PLACE, _VIDEO, _FIRST, _SECOND, _HALF_POINTS = range(5)
_NOBODY = -1


class Wave(NamedTuple):
    """Slots whose pairs are drawn by the same results."""

    generation: int
    block: int
    round: int


class Waves:
    """The waves of a run and the results in them, within one event loop.

    A slot is settled here when it has a battle, or never will: it was superseded before it was
    played.
    """

    def __init__(self, slots: Iterable[Slot], models: Sequence[str]) -> None:
        """Take every slot a run has, and its models in roster order."""
        slots = Slots.of(slots)
        # What newcomers made of stored answers is no part of any wave.
        slots = slots.where(~newcomers_among(slots))
        parts = (slots.generations, slots.columns.block, slots.rounds)
        # lexsort sorts by its last key first.
        ordered = np.lexsort((slots.columns.ordinal, *parts[::-1]))
        self._slots = slots = slots.where(ordered)
        self.order, self._wave = _numbered_waves([part[ordered] for part in parts])
        self._models = {model: index for index, model in enumerate(models)}
        # Twenty bytes a slot, whatever was said in its battle.
        self._rows = np.full((len(slots), 5), _NOBODY, dtype=np.int32)
        self._rows[:, _PLACE] = numbered(places_of(slots))
        self._rows[:, _VIDEO] = numbered(slots.columns.video)
        self._is_open = slots.among(Lineup(slots).ids)
        self._left = np.bincount(self._wave[self._is_open], minlength=len(self.order))
        self._settled = 0
        self._waiting: dict[int, asyncio.Event] = {}
        self._weights: dict[tuple[int, int], Ints] = {}
        self._go_on()

    @classmethod
    def of(cls, store: Store, models: Sequence[str], slots: Iterable[Slot] | None = None) -> Waves:
        """Return the waves of a run as its file has them, or those of some of its `slots`."""
        waves = cls(store.slots() if slots is None else slots, models)
        for ending in store.each_ending():
            waves.note(ending)
        return waves

    @property
    def settled(self) -> int:
        """How many waves are settled before the first that is not."""
        return self._settled

    def wave_of(self, slot: str) -> int:
        """Return the wave of a place's first slot, by which it is drawn."""
        row = self._slots.find(base_of(slot))
        if row is None:
            raise KeyError(slot)
        return int(self._wave[row])

    def waves_of(self, slots: Slots) -> Numbers:
        """Return the waves of many slots, none of which is a newcomer's."""
        return self._wave[self._slots.rows_like(slots, base_of)]

    def basis_of(self, slot: str) -> int | None:
        """Return the latest wave that the draw of a slot looks at; None for the first waves."""
        wave = self.wave_of(slot)
        return wave - LAG if wave >= LAG else None

    def note(self, ending: BattleEnding) -> None:
        """Note the end of a battle, and wake those who wait for its wave."""
        row = self._slots.find(ending.id)
        if row is None:
            return
        a, b = (self._models.get(model or "", _NOBODY) for model in (ending[1], ending[2]))
        halves = _HALVES.get(ending.verdict or "", _NOBODY)
        # A changed file may let a model meet itself: that settles the slot and counts nowhere.
        if _NOBODY not in (a, b, halves) and a != b:
            self._rows[row, _FIRST:] = a, b, halves
        # Once for each slot that counts: a superseded battle keeps no wave waiting.
        if self._is_open[row]:
            self._is_open[row] = False
            self._left[self._wave[row]] -= 1
            self._go_on()

    def is_settled(self, wave: int) -> bool:
        """Return whether a wave and all before it are settled."""
        return wave < self._settled

    async def until_settled(self, wave: int) -> None:
        """Wait until a wave and all before it are settled."""
        if not self.is_settled(wave):
            await self._waiting.setdefault(wave, asyncio.Event()).wait()

    def cells(self, wave: int, models: int) -> Cells:
        """Return the decided battles of the waves up to this one, clustered by video.

        The latest slot of each place among them counts, played or not. Once these waves are settled
        the result does not depend on the course of the run. The first `models` of the roster count.
        """
        # Rows stand in the order of their waves.
        rows = self._rows[: np.searchsorted(self._wave, wave, side="right")]
        # Among equals numpy finds the first, which is the latest from behind.
        _, last = np.unique(rows[::-1, _PLACE], return_index=True)
        rows = rows[len(rows) - 1 - last]
        rows = rows[rows[:, _FIRST] != _NOBODY]
        return count_cells(
            rows[:, _FIRST],
            rows[:, _SECOND],
            outcome=rows[:, _HALF_POINTS] / 2,
            models=models,
            cluster=rows[:, _VIDEO],
        )

    def weights(self, basis: int, models: int) -> Ints:
        """Return the probability of each pair by the waves up to `basis`, in millionths.

        Battles are weighed as if they were independent, as where the rule was measured
        (`scoring/design/power.py`): the few videos of the first waves give no error.
        """
        from videoautoarena.scoring.design.pairing import mix_weights

        if (basis, models) not in self._weights:
            while len(self._weights) >= _REMEMBERED:
                self._weights.pop(next(iter(self._weights)))
            cells = replace(self.cells(basis, models), parts=None)
            self._weights[basis, models] = mix_weights(cells)
        return self._weights[basis, models]

    def _go_on(self) -> None:
        while self._settled < len(self.order) and not self._left[self._settled]:
            self._settled += 1
        for wave in [wave for wave in self._waiting if wave < self._settled]:
            self._waiting.pop(wave).set()


def ending_of(battle: Battle) -> BattleEnding:
    """Return who met in a battle and how it ended."""
    return BattleEnding(battle.id, battle.model_a, battle.model_b, battle.verdict)


def _numbered_waves(parts: Sequence[Numbers]) -> tuple[list[Wave], Numbers]:
    """Return the waves in order and the wave of each slot; slots have to be in order."""
    generation, block, round_ = parts
    is_new = np.ones(len(generation), dtype=np.bool_)
    is_new[1:] = np.any([part[1:] != part[:-1] for part in parts], axis=0)
    first = np.flatnonzero(is_new)
    on_reading = (part[first].tolist() for part in (generation, block, round_))
    number = np.cumsum(is_new, dtype=np.int32) - np.int32(1)
    return [Wave(*wave) for wave in zip(*on_reading, strict=True)], number


def read_rule(config: RunConfig, waves: Waves, rule: StoppingRule, wave: int) -> RuleReading:
    """Return the reading of a rule by the battles up to a wave, which must be settled."""
    from videoautoarena.scoring.design.stopping import measure_separation

    models = config.roster(waves.order[wave].generation)
    cells = waves.cells(wave, len(models))
    battles = round(float(cells.battles.sum()))
    if rule.kind == "battles":
        return RuleReading(rule, wave, battles, battles >= rule.size)
    found = measure_separation(cells)
    pair = None if found.pair is None else (models[found.pair[0]], models[found.pair[1]])
    return RuleReading(
        rule,
        wave,
        battles,
        found.is_separated if rule.kind == "separated" else found.width <= rule.size,
        ratio=_finite(abs(found.ratio)) if pair else None,
        bound=_finite(found.bound),
        pair=pair,
        width=_finite(found.width),
    )


class Watch:
    """Reads a rule whenever a wave is settled, and says which slots are still played."""

    def __init__(
        self,
        rule: StoppingRule,
        config: RunConfig,
        waves: Waves,
        on_reading: Callable[[RuleReading], None],
    ) -> None:
        """Take a rule, the waves it looks at, and a function for its latest reading."""
        self.rule = rule
        self._config = config
        self._waves = waves
        self._on_reading = on_reading
        self._looked = 0
        self.latest: RuleReading | None = None
        """The reading of the last wave that was looked at; it met the rule if any did."""

    @property
    def met(self) -> RuleReading | None:
        """The first reading that meets the rule."""
        return self.latest if self.latest and self.latest.is_met else None

    async def turn(self, slot: str) -> bool:
        """Wait until it is known whether a slot is played, and return it."""
        last = self._waves.wave_of(slot) - LAG
        # Wave by wave and not the latest one: where a run stops must not depend on which battle
        # ended first, nor on how often anybody looked.
        while self.met is None and self._looked <= last:
            await self._waves.until_settled(self._looked)
            self.look()
        return self.met is None or self.met.wave > last

    def look(self) -> None:
        """Read the rule for all waves settled since, up to the first that meets it."""
        before = self._looked
        while self.met is None and self._looked < self._waves.settled:
            self.latest = read_rule(self._config, self._waves, self.rule, self._looked)
            self._looked += 1
        if self.latest and self._looked > before:
            self._on_reading(self.latest)


class Outlook(NamedTuple):
    """What is left of a run, and how much of that its rule lets be played."""

    left: int
    """Slots that are not settled."""
    due: int
    """Slots among them that would be played now."""
    rule: StoppingRule | None = None
    reading: RuleReading | None = None
    """The reading that met the rule, else the latest; None without a rule or a settled wave."""

    @property
    def is_stopped(self) -> bool:
        """Whether a rule is all that keeps slots from being played."""
        return self.left > 0 and self.due == 0


NOTHING_LEFT = Outlook(0, 0)


def look_ahead(store: Store) -> Outlook:
    """Return what is left of a run; a rule that was not met yet is read for its waves."""
    kept = kept_rule(store)
    count = Tally.of(store).left
    # Most runs: no wave has to be read.
    if kept.rule is None or (kept.met and not count):
        return Outlook(count, count, kept.rule, kept.met)
    from videoautoarena.runs.run.config.run_config import RunConfig

    config = RunConfig.of_manifest(store.manifest())
    waves = Waves.of(store, config.models)
    reading = kept.met
    if reading is None:
        watch = Watch(kept.rule, config, waves, lambda _reading: None)
        watch.look()
        reading = watch.latest
    left = Lineup(store.slots()).slots.without(store.settled_ids())
    due = len(left)
    if reading is not None and reading.is_met:
        # Newcomers play whatever a rule says.
        of_newcomer = newcomers_among(left)
        last = reading.wave + LAG
        due = int(of_newcomer.sum() + (waves.waves_of(left.where(~of_newcomer)) < last).sum())
    return Outlook(len(left), due, kept.rule, reading)


def _finite(number: float) -> float | None:
    # JSON knows no infinity.
    return number if math.isfinite(number) else None
