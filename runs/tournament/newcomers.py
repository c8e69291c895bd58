"""Guest slots: where newcomers meet stored answers, what they borrow from, and their draws.

Everything follows from the run's seed, the newcomer and the battles that are there when it is
added. The slots are one generation after all that exist; past battles are drawn without
replacement, by the order of sha256(seed, newcomer, battle).
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from functools import cached_property
from heapq import nsmallest
from typing import NamedTuple

from videoautoarena.graph.context import Arena
from videoautoarena.graph.slot_ids import joining_of, newcomer_id, place_of
from videoautoarena.memory.records.digests import derive, unit_interval
from videoautoarena.memory.records.errors import StoreError
from videoautoarena.memory.records.records import DECIDED, Battle, Borrowed, Draw, Slot
from videoautoarena.memory.records.slots import Slots
from videoautoarena.memory.store.store import Ending, Store
from videoautoarena.runs.run.config.run_config import RunConfig
from videoautoarena.runs.run.rundir.slots import Lineup, newcomers_among, next_generation

AT_ONCE = 256
"""Guest slots under way; most of them wait for a call."""


class Past(NamedTuple):
    """A decided battle that counts: its slot, and how it ended."""

    slot: Slot
    ending: Ending


def past_battles(store: Store, *, before: int | None = None) -> Iterator[Past]:
    """Yield the decided battles `before` a generation in slot order, without newcomers'."""
    slots = store.slots()
    slots = slots.where(~newcomers_among(slots))
    if before is not None:
        slots = slots.where(slots.generations < before)
    standing = Lineup(slots).slots
    for ending in store.each_ending():
        if ending.verdict is None:
            # Whoever reads it whole says what is wrong with it.
            store.battle(ending.id)
        if ending.verdict in DECIDED and (row := standing.find(ending.id)) is not None:
            yield Past(standing[row], ending)


def newcomer_slots(
    newcomer: str, count: int, *, seed: int, past: Iterable[Past], existing: Slots
) -> list[Slot]:
    """Return `count` slots for a newcomer, or fewer, over `past` battles that it is not in."""
    open_to = (one for one in past if newcomer not in (one.ending.model_a, one.ending.model_b))
    chosen = nsmallest(
        count, open_to, key=lambda one: derive(seed, "guest", newcomer, one.ending.id)
    )
    generation = next_generation(existing)
    return [
        one.slot.model_copy(
            update={
                "id": newcomer_id(place_of(one.slot.id), generation),
                "generation": generation,
                "ordinal": len(existing) + number,
            }
        )
        for number, one in enumerate(sorted(chosen, key=lambda one: one.slot.ordinal))
    ]


class NewcomerDraws:
    """What stands in the draws of a run's guest slots."""

    def __init__(self, config: RunConfig, store: Store) -> None:
        self._config = config
        self._store = store
        self._newcomers = {g: name for name, added in config.guests.items() for g in added}
        self._shares: dict[int, Mapping[str, float]] = {}

    def source_of(self, slot: str) -> Battle:
        """Return the battle a guest slot borrows from, as it was when added; or StoreError."""
        current = self._lineup.current(place_of(slot), before=joining_of(slot))
        battle = self._store.battle(current)
        if battle is None or battle.answer_a is None or battle.answer_b is None:
            raise StoreError(
                f"the run lacks the stored answers for slot {slot}; was its file changed?"
            )
        return battle

    def of(self, slot: str) -> Draw:
        """Return the draw of a guest slot; where one stands in the run, with its propensity."""
        source = self.source_of(slot)
        generation = joining_of(slot)
        place = newcomer_id(place_of(slot), generation)
        newcomer = self._newcomers.get(generation)
        if newcomer is None:
            raise StoreError(f"the run's settings name no newcomer for slot {slot}")
        keeps_a = self._u("guest side", place) < 0.5
        kept = (source.model_a if keeps_a else source.model_b) or ""
        written = self._store.draw(place)
        return Draw(
            slot=slot,
            model_a=kept if keeps_a else newcomer,
            model_b=newcomer if keeps_a else kept,
            propensity=self._share(generation, kept) if written is None else written.propensity,
            swap=self._config.swap == "all" or self._u("swap", place) < float(self._config.swap),
            borrowed=Borrowed(battle=source.id, seat="a" if keeps_a else "b"),
        )

    @cached_property
    def _lineup(self) -> Lineup:
        return Lineup(self._store.slots())

    def _share(self, generation: int, kept: str) -> float:
        """How likely a model's answer was to be the one that is met, in whole millionths."""
        if generation not in self._shares:
            newcomer = self._newcomers[generation]
            seats = Counter(
                name or ""
                for _, ending in past_battles(self._store, before=generation)
                if newcomer not in (ending.model_a, ending.model_b)
                for name in (ending.model_a, ending.model_b)
            )
            self._shares[generation] = {
                name: round(count / seats.total(), 6) for name, count in seats.items()
            }
        return self._shares[generation][kept]

    def _u(self, what: str, key: str) -> float:
        return unit_interval(self._config.seed, what, key)


async def write_draws(store: Store, draws: NewcomerDraws, slots: Iterable[Slot]) -> None:
    """Write down who is met in slots that have no draw yet, before anybody acts on it."""

    async def write(slot: Slot) -> None:
        if store.draw(slot.id) is None:
            await store.put_draw(draws.of(slot.id))

    await _each(write, slots)


async def play_newcomers(
    arena: Arena, slots: Iterable[Slot], source_of: Callable[[str], Battle]
) -> None:
    """Play guest slots side by side; the first exception ends all others."""
    from videoautoarena.graph.newcomer import play_newcomer

    async def play(slot: Slot) -> None:
        await play_newcomer(arena, slot.id, source_of(slot.id))

    await _each(play, slots)


async def _each(work: Callable[[Slot], Awaitable[None]], slots: Iterable[Slot]) -> None:
    """Do something with each slot in order, with so many at once; no others are looked at."""
    left = iter(slots)

    async def go_on() -> None:
        for slot in left:
            await work(slot)

    tasks = [asyncio.ensure_future(go_on()) for _ in range(AT_ONCE)]
    try:
        await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise
