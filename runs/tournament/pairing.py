"""Who meets in a slot: drawn from the seed and the slot's id, and written down first.

`mix` also looks at results, and waits until those of the waves up to two before are whole
(`runs/run/rundir/waves.py`). Nothing here depends on which battle ended when, so a run draws the
same pairs at any concurrency.
"""

from __future__ import annotations

from collections.abc import Iterable

from videoautoarena.graph.slot_ids import base_of, is_newcomer, slot_id
from videoautoarena.memory.records.digests import unit_interval
from videoautoarena.memory.records.errors import StoreError
from videoautoarena.memory.records.records import Draw, Slot
from videoautoarena.memory.records.slots import Slots
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.run.config.run_config import RunConfig
from videoautoarena.runs.run.rundir.waves import Waves
from videoautoarena.runs.tournament.newcomers import NewcomerDraws
from videoautoarena.scoring.design.pairing import (
    Pick,
    count_pairs,
    deal,
    find_place,
    pick_uniform,
    pick_weighted,
    take_seats,
)


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
        """Return once there is all that the draw of a slot looks at."""
        basis = self.basis_of(slot)
        if basis is not None:
            await self._waves.until_settled(basis)

    def is_known(self, slot: str) -> bool:
        """Return whether there is all that the draw of a slot looks at."""
        basis = self.basis_of(slot)
        return basis is None or self._waves.is_settled(basis)

    def basis_of(self, slot: str) -> int | None:
        """Return the latest wave that the draw of a slot looks at; None where it looks at none."""
        if is_newcomer(slot) or self._config.pairing != "mix":
            return None
        return self._waves.basis_of(slot)

    def of(self, slot: str) -> Draw:
        """Return the draw of a slot, which must be known; the same place always gets the same one.

        What is played again is drawn as it was the first time: chance has no second go.
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
        seated = _lineage(place) if config.rules.fixed_seats else place.id
        seats = take_seats(pick.pair, len(models), u=self._u("seats", seated))
        return Draw(
            slot=slot,
            model_a=models[seats.a],
            model_b=models[seats.b],
            propensity=None if config.pairing == "round-robin" else pick.propensity,
            basis=basis,
            swap=config.swap == "all" or self._u("swap", place.id) < config.swap,
        )

    def _pick(self, slot: Slot, n: int, basis: int | None) -> Pick:
        if self._config.pairing == "round-robin":
            deck = find_place(slot.ordinal, n).deck
            if (deck, n) not in self._decks:
                cards = range(count_pairs(n))
                self._decks[deck, n] = [self._u("deck", f"{deck}-{card}") for card in cards]
            return Pick(deal(slot.ordinal, n, keys=self._decks[deck, n]), 1.0)
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
        """Return the draw of a slot; StoreError where the file has another, or lacks its basis."""
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
