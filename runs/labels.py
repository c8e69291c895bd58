"""What people said of a run's battles, beside what its judges said."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import combinations, pairwise
from typing import Any, NamedTuple

import numpy as np

from memory.evidence import Label, Sample
from memory.records import DECIDED, TIES, Battle
from runs.findings import tell_share
from runs.leaderboard import build, points_of
from runs.leaderboard_method import Rated
from runs.leaderboard_style import count_style
from runs.reading import Run
from scoring.bradley_terry import SCALE
from scoring.cells import Ints
from scoring.raters import MISSING, Agreement, agree, krippendorff
from scoring.shares import Share

A, B, TIE = 0, 1, 2
"""Codes of a word; both kinds of tie and a split are one."""
CLOSE = 0.1
"""Answers whose lengths differ by no more than this share of the longer are matched."""
GAPS = (0.0, 50.0, 100.0, 200.0, 400.0, math.inf)
"""Rating gaps between which calibration is told."""


class Spoken(NamedTuple):
    """A label and the battle it is of, which was decided and counts."""

    label: Label
    battle: Battle


def spoken_of(run: Run) -> list[Spoken]:
    """Return the labels of a run that count, in the order in which they were added."""
    labels = run.store.evidence.labels()
    return join_labels(labels, run.each_battle if labels else ())


def join_labels(labels: Sequence[Label], battles: Iterable[Battle]) -> list[Spoken]:
    """Return the labels of those battles that were decided, each with its battle."""
    wanted = {label.battle for label in labels}
    decided = {
        battle.id: battle for battle in battles if battle.id in wanted and battle.verdict in DECIDED
    }
    return [Spoken(of, decided[of.battle]) for of in labels if of.battle in decided]


def chances(samples: Sequence[Sample]) -> dict[str, float]:
    """Return how likely each battle was to be drawn by one draw or another; others are left out."""
    missed: dict[str, float] = {}
    for sample in samples:
        for id_ in sample.of:
            missed[id_] = missed.get(id_, 1.0) * (1.0 - sample.chance)
    return {id_: 1.0 - chance for id_, chance in missed.items()}


def mean_points(spoken: Iterable[Spoken]) -> dict[str, float]:
    """Return what people give model a of each labelled battle, the mean where several did."""
    given: dict[str, list[float]] = {}
    for label, _ in spoken:
        given.setdefault(label.battle, []).append(points_of(label.verdict))
    return {id_: float(np.mean(points)) for id_, points in given.items()}


class Compared(NamedTuple):
    """Words of people and of judges on the same battles, one for each label, as codes."""

    people: Ints
    judge: Ints
    video: Ints
    longer: Ints
    """Whose answer is the longer, in words and signs; TIE where neither is."""
    is_matched: Ints
    """1 where the two lengths are within CLOSE of each other."""

    def among(self, rows: Any) -> Compared:
        """Return some of the rows."""
        return Compared(*(column[rows] for column in self))

    @property
    def without_ties(self) -> Compared:
        """Those where both said who is better."""
        return self.among((self.people != TIE) & (self.judge != TIE))

    def agreement(self) -> Agreement:
        """Return how far judges agree with people, clustered by video."""
        return agree(self.judge, self.people, self.video)


def compare(spoken: Sequence[Spoken]) -> Compared:
    """Return labels beside the verdicts on their battles."""
    lengths = {
        battle.id: (count_style(battle.answer_a or "")[0], count_style(battle.answer_b or "")[0])
        for battle in {battle.id: battle for _, battle in spoken}.values()
    }
    pairs = [lengths[battle.id] for _, battle in spoken]
    return Compared(
        np.array([code_of(label.verdict) for label, _ in spoken], dtype=np.int64),
        np.array([code_of(battle.verdict) for _, battle in spoken], dtype=np.int64),
        _numbered([battle.video for _, battle in spoken]),
        np.array([TIE if a == b else A if a > b else B for a, b in pairs], dtype=np.int64),
        np.array([abs(a - b) <= CLOSE * max(a, b) for a, b in pairs], dtype=np.int64),
    )


def code_of(verdict: str) -> int:
    """Return the code of a decided verdict or of a label."""
    return TIE if verdict in TIES else A if verdict == "a" else B


def people_agree(spoken: Sequence[Spoken]) -> tuple[Share, Share]:
    """Return how often two people say the same of a battle, and Krippendorff's alpha of all."""
    labellers = {of.label.labeller: k for k, of in enumerate(spoken)}
    place = {name: k for k, name in enumerate(labellers)}
    battles = list(dict.fromkeys(of.battle.id for of in spoken))
    row = {id_: k for k, id_ in enumerate(battles)}
    ratings = np.full((len(battles), max(len(place), 1)), MISSING)
    video = np.zeros(len(battles), dtype=np.int64)
    numbers = _numbered([of.battle.video for of in spoken])
    for of, number in zip(spoken, numbers, strict=True):
        ratings[row[of.battle.id], place[of.label.labeller]] = code_of(of.label.verdict)
        video[row[of.battle.id]] = number
    first, second, where = _pairs_of(ratings)
    pairs = agree(first, second, video[where])
    return pairs.share, krippendorff(ratings, video)


def _pairs_of(ratings: Ints) -> tuple[Ints, Ints, Ints]:
    """Every two words on one battle, and the row of that battle."""
    pairs = [
        (one, two, row)
        for row, words in enumerate(ratings)
        for one, two in combinations(words[words != MISSING].tolist(), 2)
    ]
    first, second, where = np.array(pairs, dtype=np.int64).reshape(-1, 3).T
    return first, second, where


def calibrate(battles: Sequence[Rated], spoken: Sequence[Spoken]) -> list[dict[str, Any]]:
    """Return, for gaps between two models' ratings, how far judges and ratings are right.

    Ties of either side are left out. In each row `agreed` is how often a label says what the judge
    said, `better` how often it is for the model that the judges' ratings put above, and `expected`
    how often it should be by the mean of those ratings. Rows without a label are left out.
    """
    table = build(battles, ())
    rating = {row["model"]: row["rating"] for row in table["models"]}
    home = {name: k for k, names in enumerate(table["components"]) for name in names}
    compared, gaps = compare(spoken), np.empty(len(spoken))
    for k, (_, battle) in enumerate(spoken):
        a, b = battle.model_a or "", battle.model_b or ""
        gaps[k] = rating[a] - rating[b] if home[a] == home[b] else np.nan
    rows = []
    for low, high in pairwise(GAPS):
        inside = (np.abs(gaps) >= low) & (np.abs(gaps) < high)
        inside &= (compared.people != TIE) & (compared.judge != TIE) & (gaps != 0.0)
        if not inside.any():
            continue
        part, gap = compared.among(inside), gaps[inside]
        above = np.where(gap > 0, A, B)
        rows.append(
            {
                "gap_from": low,
                "gap_to": None if math.isinf(high) else high,
                "gap": round(float(np.abs(gap).mean()), 1),
                "agreed": tell_share(part.agreement().share),
                "better": tell_share(agree(above, part.people, part.video).share),
                "expected": round(float((1 / (1 + np.exp(-np.abs(gap) / SCALE))).mean()), 6),
            }
        )
    return rows


def _numbered(names: Sequence[str]) -> Ints:
    place = {name: k for k, name in enumerate(dict.fromkeys(names))}
    return np.array([place[name] for name in names], dtype=np.int64)
