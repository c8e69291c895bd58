"""Pairs of words on one battle: a judge's from both seats, asked again, or beside a person's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from videoautoarena.memory.records.records import DECIDED, TIES, Battle
from videoautoarena.memory.store.evidence import Label, Trial
from videoautoarena.runs.rating.fit import number_names
from videoautoarena.runs.rating.leaderboard import RatedLeaderboard
from videoautoarena.scoring.fitting.counts import Floats
from videoautoarena.scoring.intervals.proportions import Share, measure_share

LEAST = 20
"""Pairs of words of a kind, below which nothing is measured."""
_A_POINT = 15
_MOST_POINTS = 5
SWAPPED = "seats swapped"
REPEATED = "asked again"
LABELLED = "people’s labels"
KINDS = (SWAPPED, REPEATED, LABELLED)


class Echo(NamedTuple):
    """Two words on one battle."""

    kind: str
    battle: Battle
    is_same: bool
    """Both for a, both for b, or both a tie of any kind."""


class Echoes(NamedTuple):
    """Shares of equal words of a kind, by the gap between the two models' ratings."""

    kind: str
    gaps: Floats
    """Mean gap of each point."""
    shares: Sequence[Share]
    n: int


def find_echoes(
    battles: Sequence[Battle], *, trials: Iterable[Trial] = (), labels: Iterable[Label] = ()
) -> Iterator[Echo]:
    """Yield every pair of words on a battle: from both seats, asked again, and a person's."""
    known = {battle.id: battle for battle in battles}
    for battle in battles:
        for one, two in combinations(battle.verdicts, 2):
            if one.judge == two.judge and one.seats != two.seats:
                yield from _echo(SWAPPED, battle, one.verdict, two.verdict)
    for trial in trials:
        again = trial.judging
        first = known.get(trial.battle or "")
        if trial.kind == "repeat" and first is not None:
            for one in first.verdicts:
                if one.judge == again.judge and one.seats == again.seats:
                    yield from _echo(REPEATED, first, one.verdict, again.verdict)
    for label in labels:
        if (of := known.get(label.battle)) is not None and of.verdict in DECIDED:
            yield from _echo(LABELLED, of, of.verdict, label.verdict)


def measure_echoes(board: RatedLeaderboard, echoes: Iterable[Echo]) -> list[Echoes]:
    """Return the shares of each kind with enough pairs about models of the largest group."""
    group = board.components[0] if board.components else ()
    ratings = {row.model: row.rating or 0.0 for row in board.models if row.model in group}
    kinds: dict[str, list[Echo]] = {kind: [] for kind in KINDS}
    for echo in echoes:
        # Only models of one scale have a gap.
        if {echo.battle.model_a, echo.battle.model_b} <= set(ratings):
            kinds[echo.kind].append(echo)
    return [_measured(kind, found, ratings) for kind, found in kinds.items() if len(found) >= LEAST]


def _echo(kind: str, battle: Battle, one: str, two: str) -> Iterator[Echo]:
    if one in DECIDED and two in DECIDED:
        is_same = one == two or (one in TIES and two in TIES)
        yield Echo(kind, battle, is_same)


def _measured(kind: str, echoes: Sequence[Echo], ratings: Mapping[str, float]) -> Echoes:
    gaps = np.array([
        abs(ratings[echo.battle.model_a or ""] - ratings[echo.battle.model_b or ""])
        for echo in echoes
    ])  # fmt: skip
    order = np.argsort(gaps, kind="stable")
    hits = np.array([echo.is_same for echo in echoes], dtype=np.float64)
    videos = number_names([echo.battle.video for echo in echoes])
    points = min(max(len(echoes) // _A_POINT, 1), _MOST_POINTS)
    # Equally many pairs a point, so that no interval is much wider than the others.
    parts = np.array_split(order, points)
    return Echoes(
        kind,
        np.array([gaps[part].mean() for part in parts]),
        [measure_share(hits[part], videos[part]) for part in parts],
        len(echoes),
    )
