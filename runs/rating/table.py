"""Builds the table of a run: decided battles are rated, everything else is counted."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import compress
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from videoautoarena.memory.records.outlines import Outlines, TextColumn, seen_in
from videoautoarena.memory.records.records import DECIDED, TIES
from videoautoarena.runs.rating.fit import (
    Bouts,
    RatedBouts,
    best_first,
    lead_in,
    matrices_of,
    rate_bouts,
    row_of,
    settings_of,
)
from videoautoarena.runs.rating.leaderboard import RatedLeaderboard
from videoautoarena.runs.rating.method import USUAL, BattleTotals, RateableBattle, RatingMethod
from videoautoarena.scoring.fitting.counts import Floats, Ints
from videoautoarena.scoring.texts.refusals import is_refusal
from videoautoarena.scoring.texts.style import FEATURES, compare_styles, count_style

if TYPE_CHECKING:
    from videoautoarena.runs.rating.behaviour import ContestantCall, Seat


B = TypeVar("B", bound=RateableBattle)
N = TypeVar("N", np.int64, np.float64)
Mask = NDArray[np.bool_]


def build(
    battles: Collection[RateableBattle],
    roster: Sequence[str],
    *,
    method: RatingMethod = USUAL,
    stand_ins: bool = False,
    warnings: Iterable[str] = (),
    asked: Mapping[Seat, ContestantCall] | None = None,
    weights: Mapping[str, float] | None = None,
    rater: Callable[[Bouts, RatingMethod], RatedBouts] = rate_bouts,
) -> RatedLeaderboard:
    """Return the leaderboard of `battles`.

    Decided battles are rated, ties and splits as half a win to each; forfeits and voids are only
    counted. Ranks hold within a component: models that battles join.

    Args:
        battles: those that count, in slot order.
        roster: every model of the run, also one without a battle.
        method: how they are rated, where it is not the usual way.
        stand_ins: the run's models are offline ones, and the table says so.
        warnings: further sentences to stand in the settings.
        asked: what the journal knows of contestants' calls; with it rows say how models behaved,
            whatever the method leaves out.
        weights: how much each battle counts, by its id; None where all count alike.
        rater: what makes ratings of the decided battles, which it gets in their order.

    Raises:
        BadInput: the method's anchor is no model of the run.
    """
    # What reads a run opens stores, which cost more to import than a file of battles to rate.
    from videoautoarena.runs.run.rundir.reader import STAND_INS

    fought = fought_of(battles)
    # The roster first: a model without a battle has its row, and equal ratings stand in its order.
    names = list(dict.fromkeys([*roster, *fought.models]))
    is_kept, left_out = _sift(battles, fought, method)
    kept = fought.where(is_kept)
    decided = is_kept & fought.verdict.among(DECIDED)
    met = some_of(battles, decided), fought.where(decided)
    bouts = _bouts(*met, names, method=method, weights=weights)
    totals = count_verdicts(kept.verdict.counts())
    found = Counter[str]()
    for verdict, seat in (("forfeit_a", kept.model_a), ("forfeit_b", kept.model_b)):
        found.update(seat.where(kept.verdict.among([verdict])).counts())
    board = tabulate(rater(bouts, method), forfeits=found, totals=totals)
    settings = replace(
        board.settings,
        without={reason: left_out[reason] for reason in method.without} or None,
        stand_ins=stand_ins,
        warnings=(*[STAND_INS] * stand_ins, *warnings, *board.settings.warnings),
    )
    rows = board.models
    # Imported only here: who rates a file of battles has no journal, and need not load what reads
    # one.
    if asked is not None:
        from videoautoarena.runs.rating.behaviour import measure_behaviour

        behaviour = measure_behaviour(battles, [row.model for row in rows], asked)
        rows = tuple(replace(row, behaviour=behaviour[row.model]) for row in rows)
    return replace(board, models=rows, settings=settings)


class BattleColumns(NamedTuple):
    """Who met, how it ended and about which video, one row a battle."""

    model_a: TextColumn
    model_b: TextColumn
    verdict: TextColumn
    video: TextColumn

    def where(self, rows: Mask | Ints) -> BattleColumns:
        """Return the rows that a mask or their places name."""
        return BattleColumns(*(column.where(rows) for column in self))

    @property
    def models(self) -> list[str]:
        """All models that met, in the order in which they first come, model_a before model_b."""
        return seen_in(self.model_a, self.model_b)


def fought_of(battles: Collection[RateableBattle]) -> BattleColumns:
    """Return battles as columns; those of a run are in outline already."""
    outlines: Outlines | None = getattr(battles, "outlines", None)
    if outlines is None and isinstance(battles, Outlines):
        outlines = battles
    if outlines is not None:
        return BattleColumns(*(outlines.texts[name] for name in BattleColumns._fields))
    return BattleColumns(
        *(TextColumn.of([getattr(of, name) for of in battles]) for name in BattleColumns._fields)
    )


def some_of(battles: Collection[B], rows: Mask) -> Collection[B]:
    """Return the battles of a mask; those of a run are not read for that."""
    if (where := getattr(battles, "where", None)) is not None:
        found: Collection[B] = where(rows)
        return found
    return list(compress(battles, rows.tolist()))


def tabulate(
    rated: RatedBouts, *, forfeits: Mapping[str, int], totals: BattleTotals
) -> RatedLeaderboard:
    """Return ratings as a leaderboard, the best model first, the unrated last."""
    ratings = rated.ratings
    names = rated.bouts.names
    groups = [best_first(ratings, group) for group in ratings.components]
    order = [k for group in groups for k in group]
    order += sorted(set(range(len(names))) - set(order))
    rows = {names[k]: row_of(rated, k, forfeits=forfeits.get(names[k], 0)) for k in order}
    return RatedLeaderboard(
        models=tuple(rows.values()),
        components=tuple(tuple(names[k] for k in group) for group in groups),
        settings=settings_of(rated, totals),
        pairs=matrices_of(rated) if rated.method.pairs else None,
        leads=tuple(lead_in(rated, k) for k in range(len(groups))),
    )


def count_verdicts(verdicts: Mapping[str, int]) -> BattleTotals:
    """Return how many battles ended in which way, from how often each verdict fell."""
    return BattleTotals(
        battles=sum(verdicts.values()),
        decided=sum(verdicts.get(v, 0) for v in DECIDED),
        ties=sum(verdicts.get(v, 0) for v in TIES),
        splits=verdicts.get("split", 0),
        forfeits=verdicts.get("forfeit_a", 0) + verdicts.get("forfeit_b", 0),
        voids=verdicts.get("void", 0),
    )


def wanted(battles: Collection[B], method: RatingMethod) -> Collection[B]:
    """Return the battles that the method leaves in."""
    return some_of(battles, _sift(battles, fought_of(battles), method)[0])


def answered(battles: Collection[B], method: RatingMethod) -> Collection[B]:
    """Return the battles that figures beside the fit count: all, or those without a refusal."""
    if "refusals" not in method.without:
        return battles
    return some_of(battles, ~_refused(battles, fought_of(battles)))


def _sift(
    battles: Collection[RateableBattle], fought: BattleColumns, method: RatingMethod
) -> tuple[Mask, Counter[str]]:
    """Return which battles the method leaves in, and how many it leaves out for each reason."""
    kept = np.ones(len(battles), dtype=np.bool_)
    left_out = Counter[str]()
    for why in dict.fromkeys(method.without):
        hit = fought.verdict.among(TIES) if why == "ties" else _refused(battles, fought)
        left_out[why] = int((kept & hit).sum())
        kept &= ~hit
    return kept, left_out


def _refused(battles: Collection[RateableBattle], fought: BattleColumns) -> Mask:
    """Return which decided battles have an answer that is a refusal."""
    found = fought.verdict.among(DECIDED)
    # Of decided battles alone, since each text has to be read from the file of the run.
    found[found] = [
        any(is_refusal(text) for text in pair if text)
        for pair in answers_of(some_of(battles, found))
    ]
    return found


Pair = tuple[str | None, str | None]


def answers_of(battles: Collection[RateableBattle]) -> Iterator[Pair]:
    """Yield both answers of every battle; from a run nothing else is read."""
    if (answers := getattr(battles, "answers", None)) is not None:
        yield from answers()
        return
    for battle in battles:
        yield getattr(battle, "answer_a", None), getattr(battle, "answer_b", None)


def _bouts(
    battles: Collection[RateableBattle],
    decided: BattleColumns,
    names: Sequence[str],
    *,
    method: RatingMethod,
    weights: Mapping[str, float] | None,
) -> Bouts:
    place = {name: k for k, name in enumerate(names)}
    a, b = (
        np.array([place.get(name or "", -1) for name in seat.values], dtype=np.int64)
        for seat in (decided.model_a, decided.model_b)
    )
    points = np.array([points_of(verdict) for verdict in decided.verdict.values], dtype=np.float64)
    return Bouts(
        names,
        _coded(a, decided.model_a),
        _coded(b, decided.model_b),
        _coded(points, decided.verdict),
        # In the order in which seeded draws have always taken them.
        decided.video.by_last(),
        _styles(battles) if method.style else None,
        FEATURES,
        None if weights is None else np.array([weights[id_] for id_ in _ids(battles)]),
    )


def _coded(values: NDArray[N], column: TextColumn) -> NDArray[N]:
    """Return, for every battle, the value that stands for its text in a column."""
    return values[column.codes] if len(values) else values


def _styles(battles: Collection[RateableBattle]) -> Floats:
    """Return how the answers of each battle differ, with one pair of texts in memory at a time."""
    counts = array("d")
    for pair in answers_of(battles):
        for answer in pair:
            counts.extend(count_style(answer or ""))
    both = np.array(counts).reshape(-1, 2, len(FEATURES))
    return compare_styles(both[:, 0], both[:, 1])


def _ids(battles: Collection[RateableBattle]) -> Iterator[str]:
    outlines: Outlines | None = getattr(battles, "outlines", None)
    if outlines is not None:
        return outlines.ids()
    return (getattr(battle, "id", "") for battle in battles)


def points_of(verdict: str) -> float:
    """Return the points that a decided verdict gives model a: 1, 0.5 or 0."""
    return 0.5 if verdict in TIES else float(verdict == "a")
