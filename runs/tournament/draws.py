"""Who meets in a slot: drawn from the seed and the slot's id, and written down first.

`mix` also looks at results, and waits until those of the waves up to two before are whole
(`runs/run/rundir/waves.py`). Nothing here depends on which battle ended when, so a run draws the
same pairs at any concurrency.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from functools import cached_property
from heapq import nsmallest
from typing import NamedTuple

from videoautoarena.graph.context import Arena
from videoautoarena.graph.slot_ids import (
    base_of,
    is_newcomer,
    joining_of,
    newcomer_id,
    place_of,
    slot_id,
)
from videoautoarena.memory.records.digests import derive, unit_interval
from videoautoarena.memory.records.errors import StoreError
from videoautoarena.memory.records.records import DECIDED, Battle, Draw, Slot, StoredAnswer
from videoautoarena.memory.records.slots import Slots
from videoautoarena.memory.store.store import BattleEnding, Store
from videoautoarena.runs.run.config.run_config import RunConfig
from videoautoarena.runs.run.rundir.slots import Lineup, newcomers_among, next_generation
from videoautoarena.runs.run.rundir.waves import Waves
from videoautoarena.scoring.design.pairing import (
    DrawnPair,
    count_pairs,
    deal,
    find_place,
    pick_uniform,
    pick_weighted,
    take_seats,
)

AT_ONCE = 256
"""Slots of newcomers that are under way at once; most of them wait for a call."""


class Past(NamedTuple):
    """A decided battle that counts: its slot, and how it ended."""

    slot: Slot
    ending: BattleEnding


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
    """Return at most `count` slots for a newcomer, over `past` battles without it."""
    open_to = (one for one in past if newcomer not in (one.ending.model_a, one.ending.model_b))
    # The smallest hashes are a draw without replacement that follows from the seed, and no more
    # than `count` of all past battles are in memory.
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
    """The draws of a run's slots of newcomers."""

    def __init__(self, config: RunConfig, store: Store) -> None:
        self._config = config
        self._store = store
        self._newcomers = {g: name for name, added in config.guests.items() for g in added}
        self._shares: dict[int, Mapping[str, float]] = {}

    def source_of(self, slot: str) -> Battle:
        """Return the battle that a newcomer's slot borrows from, as it stood when it was added.

        Raises:
            StoreError: the run holds no such battle with both answers.
        """
        current = self._lineup.current(place_of(slot), before=joining_of(slot))
        battle = self._store.battle(current)
        if battle is None or battle.answer_a is None or battle.answer_b is None:
            raise StoreError(
                f"the run lacks the stored answers for slot {slot}; was its file changed?"
            )
        return battle

    def of(self, slot: str) -> Draw:
        """Return the draw of a newcomer's slot; one that is written down keeps its propensity."""
        source = self.source_of(slot)
        generation = joining_of(slot)
        # By place and not by slot: played again after a failure it meets the same answer in the
        # same seat.
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
            borrowed=StoredAnswer(battle=source.id, seat="a" if keeps_a else "b"),
        )

    @cached_property
    def _lineup(self) -> Lineup:
        return Lineup(self._store.slots())

    def _share(self, generation: int, kept: str) -> float:
        """Return the probability that a model's answer was the one met, in whole millionths."""
        if generation not in self._shares:
            newcomer = self._newcomers[generation]
            seats = Counter(
                name or ""
                for _, ending in past_battles(self._store, before=generation)
                if newcomer not in (ending.model_a, ending.model_b)
                for name in (ending.model_a, ending.model_b)
            )
            self._shares[generation] = {
                # Whole millionths, as in every draw: any machine comes to the same figure.
                name: round(count / seats.total(), 6)
                for name, count in seats.items()
            }
        return self._shares[generation][kept]

    def _u(self, what: str, key: str) -> float:
        return unit_interval(self._config.seed, what, key)


async def write_draws(
    store: Store,
    draws: NewcomerDraws,
    slots: Iterable[Slot],
    aside: Callable[[Callable[[str], Draw | None], str], Awaitable[Draw | None]],
) -> None:
    """Write down the draws of slots that have none yet, before anybody acts on them.

    `aside` does what reads the run's file.
    """

    def missing(slot: str) -> Draw | None:
        return draws.of(slot) if store.draw(slot) is None else None

    async def write(slot: Slot) -> None:
        if (draw := await aside(missing, slot.id)) is not None:
            await store.put_draw(draw)

    await _each(write, slots)


async def play_newcomers(
    arena: Arena,
    slots: Iterable[Slot],
    source_of: Callable[[str], Battle],
    holding: Callable[[str], AbstractAsyncContextManager[None]] = lambda _video: nullcontext(),
) -> None:
    """Play slots of newcomers side by side; the first exception ends all others.

    `holding` takes a video while slots about it are played.
    """
    from videoautoarena.graph.newcomer import play_newcomer

    async def play(slot: Slot) -> None:
        async with holding(slot.video):
            await play_newcomer(arena, slot.id, source_of(slot.id))

    await _each(play, slots)


async def _each(work: Callable[[Slot], Awaitable[None]], slots: Iterable[Slot]) -> None:
    """Await `work` for each slot in order, `AT_ONCE` at a time; no later ones are looked at."""
    # One iterator for all of them: each takes the next slot that nobody has, and no more tasks are
    # made than work at once.
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
        # Waited for, so that none of them is still at work when the exception is heard.
        await asyncio.gather(*tasks, return_exceptions=True)
        raise


class Draws:
    """Draws pairs for the slots of one run, among the models that play in a slot's generation."""

    def __init__(
        self,
        config: RunConfig,
        slots: Iterable[Slot],
        waves: Waves,
        guests: NewcomerDraws | None = None,
    ) -> None:
        self._config = config
        self._slots = Slots.of(slots)
        self._waves = waves
        self._guests = guests
        self._decks: dict[tuple[int, int], list[float]] = {}

    async def until_known(self, slot: str) -> None:
        """Wait until everything that the draw of a slot looks at is settled."""
        basis = self.basis_of(slot)
        if basis is not None:
            await self._waves.until_settled(basis)

    def is_known(self, slot: str) -> bool:
        """Return whether everything that the draw of a slot looks at is settled."""
        basis = self.basis_of(slot)
        return basis is None or self._waves.is_settled(basis)

    def basis_of(self, slot: str) -> int | None:
        """Return the latest wave that the draw of a slot looks at; None if it looks at none."""
        if is_newcomer(slot) or self._config.pairing != "mix":
            return None
        return self._waves.basis_of(slot)

    def of(self, slot: str) -> Draw:
        """Return the draw of a slot, which must be known; the same place always gets the same one.

        A slot that is played again is drawn as it was the first time.
        """
        if self._guests is not None and is_newcomer(slot):
            return self._guests.of(slot)
        place = self._slots.called(base_of(slot))
        basis = self.basis_of(slot)
        config = self._config
        first = place
        if config.pairing == "keep-pair":
            # A pair that is kept gets nobody who joined later.
            first = self._slots.called(slot_id(place.video, place.persona, 0))
        models = config.roster(first.generation)
        pick = self._pick(place, len(models), basis)
        # The paper keeps the seats of a lineage along with its pair.
        seated = _lineage(place) if config.rules.fixed_seats else place.id
        seats = take_seats(pick.pair, len(models), u=self._u("seats", seated))
        return Draw(
            slot=slot,
            model_a=models[seats.a],
            model_b=models[seats.b],
            # Dealt in turn, a pair has no probability that `--reweight` could divide by.
            propensity=None if config.pairing == "round-robin" else pick.propensity,
            basis=basis,
            swap=config.swap == "all" or self._u("swap", place.id) < config.swap,
        )

    def _pick(self, slot: Slot, n: int, basis: int | None) -> DrawnPair:
        if self._config.pairing == "round-robin":
            deck = find_place(slot.ordinal, n).deck
            if (deck, n) not in self._decks:
                cards = range(count_pairs(n))
                self._decks[deck, n] = [self._u("deck", f"{deck}-{card}") for card in cards]
            return DrawnPair(deal(slot.ordinal, n, keys=self._decks[deck, n]), 1.0)
        drawn_by = _lineage(slot) if self._config.pairing == "keep-pair" else slot.id
        u = self._u("pair", drawn_by)
        return (
            pick_uniform(u, n) if basis is None else pick_weighted(u, self._waves.weights(basis, n))
        )

    def _u(self, what: str, key: str) -> float:
        return unit_interval(self._config.seed, what, key)


class WrittenDraws:
    """Draws that stand in the run's file before anybody acts on them."""

    def __init__(self, draws: Draws, store: Store, *, read_only: bool = False) -> None:
        self._draws = draws
        self._store = store
        self._read_only = read_only

    async def __call__(self, slot: str) -> Draw:
        """Return the draw of a slot; StoreError if the file has another, or lacks its basis."""
        if self._read_only and not self._draws.is_known(slot):
            raise StoreError(
                f"the draw of slot {slot} is based on wave {self._draws.basis_of(slot)}, of which "
                "a battle is missing; the run's file was changed"
            )
        await self._draws.until_known(slot)
        draw = self._draws.of(slot)
        written = self._store.draw(slot)
        if written is None and not self._read_only:
            await self._store.put_draw(draw)
        elif written != draw:
            by = "its seed gives" if draw.basis is None else "its seed and battles give"
            raise StoreError(
                f"the run holds {_in_words(written)} for slot {slot}, where {by} "
                f"{_in_words(draw)}; its file was changed, or another version made it"
            )
        return draw


def _in_words(draw: Draw | None) -> str:
    if draw is None:
        return "no draw"
    swap = ", swapped" if draw.swap else ""
    return f"the draw {draw.model_a} against {draw.model_b} ({draw.propensity}{swap})"


def _lineage(slot: Slot) -> str:
    return f"{slot.video}-p{slot.persona}"
