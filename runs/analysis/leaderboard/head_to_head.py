"""The record of every pair of models, and what the ratings of the whole run promise of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from videoautoarena.memory.records.records import DECIDED, SCHEMA, TIES, Battle
from videoautoarena.runs.formats.record_json import fields_json
from videoautoarena.runs.rating.finding import Figure, figure_json, figure_of
from videoautoarena.runs.rating.leaderboard import Leaderboard, Row
from videoautoarena.runs.rating.method import SOLID_BATTLES, THIN, RatingMethod
from videoautoarena.runs.rating.table import Fought, answered, build, fought_of, points_of, wanted
from videoautoarena.scoring.fitting.bradley_terry import SCALE
from videoautoarena.scoring.intervals.proportions import Share, measure_share


@dataclass(frozen=True)
class Pair:
    """The head-to-head results of two models, of decided battles."""

    model: str
    """The better-rated of the two."""
    rival: str
    """The other."""
    battles: int
    """Decided between them."""
    videos: int
    """On so many."""
    wins: int
    """Of the model."""
    losses: int
    """Of the model."""
    ties: int
    """Splits included."""
    share: Figure
    """Points of the model, a tie half a point, as a share of a row."""
    expected: float | None
    """By the ratings of the whole run; None beside terms or Davidson's ties."""
    both_bad_share: Figure
    """As in a slice."""
    flags: tuple[str, ...]
    """`under 100 battles`; `unlike its ratings` if `expected` lies outside the interval."""


@dataclass(frozen=True)
class Pairs:
    """Every pair that met, and the leaderboard that says what was to be expected."""

    pairs: tuple[Pair, ...]
    board: Leaderboard

    def to_json(self) -> dict[str, Any]:
        """Return them as `arena leaderboard --by pair --json` prints them."""
        board = self.board.to_json()
        return {
            "schema": SCHEMA,
            "by": "pair",
            "pairs": [fields_json(pair) for pair in self.pairs],
            **{name: board[name] for name in ("components", "settings")},
        }


def build_pairs(battles: Collection[Battle], roster: Sequence[str], **given: Any) -> Pairs:
    """Return the record of every pair that met in a decided battle, the better-rated one first.

    Args:
        battles: those that count, in slot order.
        roster: every model of the run.
        given: as for `runs.rating.table.build`; its fit says what was to be expected.
    """
    board = build(battles, roster, **given)
    method: RatingMethod = given["method"]
    every = _met(answered(battles, method))
    met = _met(wanted(battles, method))
    rated = [row for row in board.models if row.rating is not None]
    # Ratings of equal style, or with ties apart: no share follows from those.
    is_expected = board.settings.ties != "davidson" and board.settings.terms is None
    pairs = (
        _pair(
            (first.model, second.model),
            met[key],
            expected=_expected(first, second) if is_expected else np.nan,
            bad=_both_bad(every[key]),
        )
        for first, second in combinations(rated, 2)
        if (key := frozenset((first.model, second.model))) in met
    )
    return Pairs(tuple(pairs), board)


def _met(battles: Collection[Battle]) -> Mapping[frozenset[str], Fought]:
    """Return the decided battles of each pair."""
    fought = fought_of(battles)
    fought = fought.where(fought.verdict.among(DECIDED))
    names = fought.models
    if not names:
        return {}
    places = {name: k for k, name in enumerate(names)}
    seats = [
        np.array([places.get(name, -1) for name in seat.values], dtype=np.int64)[seat.codes]
        for seat in (fought.model_a, fought.model_b)
    ]
    pair = np.minimum(*seats) * len(names) + np.maximum(*seats)
    order = np.argsort(pair, kind="stable")
    keys, first = np.unique(pair[order], return_index=True)
    return {
        frozenset(names[k] for k in divmod(key, len(names))): fought.where(rows)
        for key, rows in zip(keys.tolist(), np.split(order, first[1:]), strict=True)
    }


def _expected(first: Row, second: Row) -> float:
    """Return the share of points that ratings promise the first."""
    gap = (second.rating or 0.0) - (first.rating or 0.0)
    return float(1.0 / (1.0 + np.exp(gap / SCALE)))


def _pair(names: tuple[str, str], fought: Fought, *, expected: float, bad: Share) -> Pair:
    of_a = zip(fought.model_a.each(), map(points_of, fought.verdict.each()), strict=True)
    points = [of if model == names[0] else 1.0 - of for model, of in of_a]
    videos = fought.video.numbered()
    share = measure_share(points, videos)
    is_odd = not (np.isnan(expected) or share.low <= expected <= share.high)
    return Pair(
        model=names[0],
        rival=names[1],
        battles=len(points),
        videos=len(np.unique(videos)),
        wins=points.count(1.0),
        losses=points.count(0.0),
        ties=int(fought.verdict.among(TIES).sum()),
        share=figure_of(share),
        expected=figure_json(expected),
        both_bad_share=figure_of(bad),
        flags=(*[THIN] * (len(points) < SOLID_BATTLES), *[UNLIKE] * is_odd),
    )


UNLIKE = "unlike its ratings"


def both_bad(battles: Collection[Battle]) -> Share:
    """Return of how many of those that are decided the judge called both answers bad."""
    fought = fought_of(battles)
    return _both_bad(fought.where(fought.verdict.among(DECIDED)))


def _both_bad(decided: Fought) -> Share:
    return measure_share(decided.verdict.among(["tie_bad"]), decided.video.numbered())
