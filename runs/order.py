"""Which battles a capped run spends its money on first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from agents.course import Course
from agents.money import summed
from graph.state import base_of
from memory.slots import Longs, Mask, Slots
from memory.store import Store
from runs.config import RunConfig
from runs.plan import plan_of
from runs.planning import guests_left, work_left
from runs.schedule import numbers_of_visits
from runs.slots import Lineup, guests_among, numbered


def course_of(
    config: RunConfig, store: Store, *, in_waves: bool, guests_only: bool = False
) -> Course:
    """Return the battles that are left: video by video as a run takes them, round by round.

    In a run that waits for waves they stand wave by wave instead, so that no battle that is begun
    waits for one behind it. What comes before a video's first question is part of the first battle
    about it. Battles over stored answers come last, or alone: nothing is put by for others then.
    """
    lineup = Lineup(store.slots())
    is_left = ~lineup.slots.among(store.settled_ids())
    if guests_only:
        is_left &= guests_among(lineup.slots)
    plan = plan_of(config, (guests_left if guests_only else work_left)(config, store))
    tokens = sum(line.input_tokens + line.output_tokens for line in plan.lines)
    count = max(1, int(is_left.sum()))
    return Course(
        Places(lineup, is_left, in_waves=in_waves),
        summed((plan.usd or 0.0) / count, round(tokens / count)),
    )


class Places(Mapping[str, int]):
    """The places of slots by the scopes of their calls, those of their videos among them."""

    def __init__(self, lineup: Lineup, is_left: Mask, *, in_waves: bool) -> None:
        """Take the slots that count, and which of them have a place."""
        rows = np.flatnonzero(is_left)
        left = lineup.slots.where(rows)
        order = _order(left, in_waves=in_waves)
        self._lineup = lineup
        self._places = np.full(len(lineup.slots), -1, dtype=np.int32)
        self._places[rows[order]] = np.arange(len(left))
        films, first = np.unique(left.columns.video[order], return_index=True)
        self._videos = {left.videos[film]: int(k) for film, k in zip(films, first, strict=True)}

    def __getitem__(self, scope: str) -> int:
        if (place := self._videos.get(scope)) is not None:
            return place
        row = self._lineup.find(scope)
        if row is None or self._places[row] < 0:
            raise KeyError(scope)
        return int(self._places[row])

    def __iter__(self) -> Iterator[str]:
        yield from self._videos
        for row in np.flatnonzero(self._places >= 0):
            yield base_of(self._lineup.slots.id(int(row)))

    def __len__(self) -> int:
        return len(self._videos) + int((self._places >= 0).sum())


def _order(left: Slots, *, in_waves: bool) -> Longs:
    """Return the rows of slots in the order in which money is spent on them."""
    of_guest, ordinal = guests_among(left), left.columns.ordinal
    if in_waves:
        keys = [left.generations, left.columns.block, left.rounds]
    else:
        in_turn = np.lexsort((ordinal, left.columns.block, left.generations))
        visits = np.empty(len(left), dtype=np.int32)
        visits[in_turn] = numbered(numbers_of_visits(left)[in_turn])
        keys = [visits]
    keys = [np.where(of_guest, 0, key) for key in keys]
    return np.lexsort((ordinal, *reversed(keys), of_guest))
