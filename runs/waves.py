"""Waves: which slots are played side by side, and what is known once all of a wave are settled.

A wave is a (generation, block, round); waves stand in that order, counted from 0. Whoever looks at
results looks at whole waves only, so that nothing depends on which battle ended first. Of each
battle no more is kept than who met and how it ended.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from graph.state import base_of
from memory.records import TIES, Battle, Slot
from memory.slots import Ints as Numbers
from memory.slots import Slots
from memory.store import Ending, Store
from runs.slots import Lineup, guests_among, numbered, places_of
from scoring.cells import Cells, Ints, count_cells
from scoring.mix import mix_weights

LAG = 2
"""A slot of wave k is drawn by the waves up to k - 2: the wave before may still be under way."""
_REMEMBERED = 64
"""Waves whose weights are kept; no more than a few are drawn from at any time."""
_HALVES = {"a": 2, "b": 0} | dict.fromkeys(TIES, 1)
_PLACE, _VIDEO, _FIRST, _SECOND, _HALF_POINTS = range(5)
_NOBODY = -1


class Wave(NamedTuple):
    """Slots that are drawn by the same results."""

    generation: int
    block: int
    round: int


class Waves:
    """The waves of a run and the results in them.

    A slot is settled here when it has a battle, or when it never will: it was superseded before it
    was played. Within one event loop.
    """

    def __init__(self, slots: Iterable[Slot], models: Sequence[str]) -> None:
        """Take every slot a run has, and its models in roster order."""
        slots = Slots.of(slots)
        # What newcomers made of stored answers is no part of any wave.
        slots = slots.where(~guests_among(slots))
        parts = (slots.generations, slots.columns.block, slots.rounds)
        ordered = np.lexsort((slots.columns.ordinal, *parts[::-1]))
        self._slots = slots = slots.where(ordered)
        self.order, self._wave = _numbered_waves([part[ordered] for part in parts])
        self._models = {model: index for index, model in enumerate(models)}
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
    def of(cls, store: Store, models: Sequence[str]) -> Waves:
        """Return the waves of a run as its file has them."""
        waves = cls(store.slots(), models)
        for ending in store.each_ending():
            waves.note(ending)
        return waves

    @property
    def settled(self) -> int:
        """How many waves are settled, up to the first that is not."""
        return self._settled

    def wave_of(self, slot: str) -> int:
        """Return the wave in which a place was first to be played.

        What is played again is drawn as it was, or would have been, the first time.
        """
        row = self._slots.find(base_of(slot))
        if row is None:
            raise KeyError(slot)
        return int(self._wave[row])

    def waves_of(self, slots: Slots) -> Numbers:
        """Return the same for many, none of which is a guest's."""
        return self._wave[self._slots.rows_like(slots, base_of)]

    def basis_of(self, slot: str) -> int | None:
        """Return the latest wave that the draw of a slot looks at; None before there is one."""
        wave = self.wave_of(slot)
        return wave - LAG if wave >= LAG else None

    def note(self, ending: Ending) -> None:
        """Take note of a battle, and let those go on who waited for its wave."""
        row = self._slots.find(ending.id)
        if row is None:
            return
        a, b = (self._models.get(model or "", _NOBODY) for model in (ending[1], ending[2]))
        halves = _HALVES.get(ending.verdict or "", _NOBODY)
        if _NOBODY not in (a, b, halves) and a != b:
            self._rows[row, _FIRST:] = a, b, halves
        if self._is_open[row]:
            self._is_open[row] = False
            self._left[self._wave[row]] -= 1
            self._go_on()

    def is_settled(self, wave: int) -> bool:
        """Return whether a wave and all before it are settled."""
        return wave < self._settled

    async def until_settled(self, wave: int) -> None:
        """Return once a wave and all before it are settled."""
        if not self.is_settled(wave):
            await self._waiting.setdefault(wave, asyncio.Event()).wait()

    def cells(self, wave: int, models: int) -> Cells:
        """Return the decided battles of the waves up to this one, clustered by video.

        Of each place the latest slot among them counts, played or not. Once the waves are settled
        this is the same however the run came there.

        Args:
            wave: counted from 0.
            models: how many of the roster count, the first ones.
        """
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
        """Return how likely each pair is to be drawn by the waves up to `basis`, in millionths.

        They are weighed as if battles were independent, as in the simulations of `scoring/power.py`
        by which the rule was measured: the few videos of the first waves tell no error.
        """
        known = self._weights.get((basis, models))
        if known is None:
            while len(self._weights) >= _REMEMBERED:
                self._weights.pop(next(iter(self._weights)))
            cells = replace(self.cells(basis, models), parts=None)
            known = self._weights[basis, models] = mix_weights(cells)
        return known

    def _go_on(self) -> None:
        while self._settled < len(self.order) and not self._left[self._settled]:
            self._settled += 1
        for wave in [wave for wave in self._waiting if wave < self._settled]:
            self._waiting.pop(wave).set()


def ending_of(battle: Battle) -> Ending:
    """Return how a battle ended."""
    return Ending(battle.id, battle.model_a, battle.model_b, battle.verdict)


def _numbered_waves(parts: Sequence[Numbers]) -> tuple[list[Wave], Numbers]:
    """Return the waves in their order and each slot's number among them, from slots in order."""
    generation, block, round_ = parts
    is_new = np.ones(len(generation), dtype=np.bool_)
    is_new[1:] = np.any([part[1:] != part[:-1] for part in parts], axis=0)
    first = np.flatnonzero(is_new)
    told = (part[first].tolist() for part in (generation, block, round_))
    number = np.cumsum(is_new, dtype=np.int32) - np.int32(1)
    return [Wave(*wave) for wave in zip(*told, strict=True)], number
