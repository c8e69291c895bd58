"""Watching a run's waves for a rule that may stop it.

A rule looks at whole waves only (`runs/waves.py`), each in turn: a slot is played unless the rule
was met by the waves up to two before it. So what is played follows from seed, videos and models, as
everything else does.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from memory.slots import Slots
from memory.store import Store
from runs.config import RunConfig
from runs.slots import Lineup, Tally, guests_among
from runs.until import Reading, Rule, kept_rule
from runs.waves import LAG, Waves
from scoring.stopping import measure_separation


def read_rule(config: RunConfig, waves: Waves, rule: Rule, wave: int) -> Reading:
    """Return what a rule sees in the battles up to a wave, which must be settled."""
    models = config.roster(waves.order[wave].generation)
    cells = waves.cells(wave, len(models))
    battles = round(float(cells.battles.sum()))
    if rule.kind == "battles":
        return Reading(rule, wave, battles, battles >= rule.size)
    found = measure_separation(cells)
    pair = None if found.pair is None else (models[found.pair[0]], models[found.pair[1]])
    return Reading(
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
    """Looks at a run's waves as they are settled, and says which slots are still played."""

    def __init__(
        self, rule: Rule, config: RunConfig, waves: Waves, told: Callable[[Reading], None]
    ) -> None:
        """Take a rule, what it looks at, and who is told what it saw last."""
        self.rule = rule
        self._config = config
        self._waves = waves
        self._told = told
        self._looked = 0
        self.latest: Reading | None = None
        """Of the last wave that was looked at; it is the one that met the rule, if any did."""

    @property
    def met(self) -> Reading | None:
        """The first reading that meets the rule."""
        return self.latest if self.latest and self.latest.is_met else None

    async def turn(self, slot: str) -> bool:
        """Return whether a slot is played, once that can be told."""
        last = self._waves.wave_of(slot) - LAG
        while self.met is None and self._looked <= last:
            await self._waves.until_settled(self._looked)
            self.look()
        return self.met is None or self.met.wave > last

    def look(self) -> None:
        """Look at all waves that were settled since, up to the first that meets the rule."""
        before = self._looked
        while self.met is None and self._looked < self._waves.settled:
            self.latest = read_rule(self._config, self._waves, self.rule, self._looked)
            self._looked += 1
        if self.latest and self._looked > before:
            self._told(self.latest)


class Outlook(NamedTuple):
    """What is left of a run, and what its rule says of that."""

    left: int
    """Slots that are not settled."""
    due: int
    """Those of them that would be played now."""
    rule: Rule | None = None
    reading: Reading | None = None
    """Of the wave that met the rule, else of the latest; None where there is no rule, or no wave
    is settled."""

    @property
    def is_stopped(self) -> bool:
        """Whether a rule is all that keeps slots from being played."""
        return self.left > 0 and self.due == 0


NOTHING_LEFT = Outlook(0, 0)


def look_ahead(store: Store) -> Outlook:
    """Return what is left of a run; with a rule that was not met yet its waves are looked at."""
    kept, count = kept_rule(store), Tally.of(store).left
    if kept.rule is None or (kept.met and not count):
        return Outlook(count, count, kept.rule, kept.met)
    config = RunConfig.of_manifest(store.manifest())
    waves, reading = Waves.of(store, config.models), kept.met
    if reading is None:
        watch = Watch(kept.rule, config, waves, lambda _reading: None)
        watch.look()
        reading = watch.latest
    left = Lineup(store.slots()).slots.without(store.settled_ids())
    return Outlook(len(left), _due(left, waves, reading), kept.rule, reading)


def _due(left: Slots, waves: Waves, reading: Reading | None) -> int:
    """Return how many slots are played still, those of newcomers whatever a rule says."""
    if reading is None or not reading.is_met:
        return len(left)
    of_guest, last = guests_among(left), reading.wave + LAG
    return int(of_guest.sum() + (waves.waves_of(left.where(~of_guest)) < last).sum())


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
