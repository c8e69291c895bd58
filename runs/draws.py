"""Who meets in a slot: drawn from the seed and the slot's id alone, and written down first.

Nothing here depends on which battle ended when, so a run draws the same pairs at any concurrency.
"""

from __future__ import annotations

from collections.abc import Mapping

from graph.state import base_of
from memory.digests import unit_interval
from memory.errors import StoreError
from memory.records import Draw, Slot
from memory.store import Store
from runs.config import RunConfig
from scoring.pairing import count_pairs, deal, find_place, pick_uniform, take_seats


class Draws:
    """Draws pairs for the slots of one run."""

    def __init__(self, config: RunConfig, slots: Mapping[str, Slot]) -> None:
        self._config = config
        self._slots = slots
        self._decks: dict[int, list[float]] = {}

    def of(self, slot_id: str) -> Draw:
        """Return the draw of a slot; the same place always gets the same one.

        What is played again is drawn as it was the first time: chance has no second go.
        """
        slot, models = self._slots[base_of(slot_id)], self._config.models
        pair, propensity = self._pair(slot)
        seats = take_seats(pair, len(models), u=self._u("seats", self._seat_key(slot)))
        return Draw(
            slot=slot_id,
            model_a=models[seats.a],
            model_b=models[seats.b],
            propensity=propensity,
            swap=self._swapped(slot),
        )

    def _pair(self, slot: Slot) -> tuple[int, float | None]:
        n = len(self._config.models)
        if self._config.pairing == "round-robin":
            return deal(slot.ordinal, n, keys=self._deck(find_place(slot.ordinal, n).deck)), None
        key = _lineage(slot) if self._config.pairing == "keep-pair" else slot.id
        return pick_uniform(self._u("pair", key), n)

    def _deck(self, deck: int) -> list[float]:
        if deck not in self._decks:
            cards = range(count_pairs(len(self._config.models)))
            self._decks[deck] = [self._u("deck", f"{deck}-{card}") for card in cards]
        return self._decks[deck]

    def _seat_key(self, slot: Slot) -> str:
        return _lineage(slot) if self._config.rules.fixed_seats else slot.id

    def _swapped(self, slot: Slot) -> bool:
        if self._config.swap == "all":
            return True
        return self._u("swap", slot.id) < self._config.swap

    def _u(self, what: str, key: str) -> float:
        return unit_interval(self._config.seed, what, key)


class WrittenDraws:
    """Draws that stand in the run's file before anybody acts on them."""

    def __init__(self, draws: Draws, store: Store, *, read_only: bool = False) -> None:
        self._draws = draws
        self._store = store
        self._read_only = read_only

    async def __call__(self, slot_id: str) -> Draw:
        """Return the draw of a slot; one that was written earlier must be the same.

        Raises:
            StoreError: the file holds another draw for this slot.
        """
        draw, written = self._draws.of(slot_id), self._store.draw(slot_id)
        if written is None and not self._read_only:
            await self._store.put_draw(draw)
        elif written != draw:
            raise StoreError(
                f"the run holds {_told(written)} for slot {slot_id}, where its seed gives "
                f"{_told(draw)}; its file was changed, or another version made it"
            )
        return draw


def _told(draw: Draw | None) -> str:
    if draw is None:
        return "no draw"
    swap = ", swapped" if draw.swap else ""
    return f"the draw {draw.model_a} against {draw.model_b} ({draw.propensity}{swap})"


def _lineage(slot: Slot) -> str:
    return f"{slot.video}-p{slot.persona}"
