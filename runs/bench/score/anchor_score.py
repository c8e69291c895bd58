"""Scoring models against an anchor: what share of games each would win, by Bradley-Terry.

A question counts where both seatings have a verdict. Each is a game, and one of much better or much
worse as many as `weight` says; equal answers are half a game to both. Questions about one video
stand together in every interval.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from typing import Any, Literal, NamedTuple

import numpy as np

from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.remedies import option
from videoautoarena.runs.bench.format.points import (
    LEADS,
    WEIGHT,
    by_question,
    games_of,
    groups_of,
    is_read,
    shares_of,
    videos_of,
)
from videoautoarena.runs.bench.format.reader import OpenBench
from videoautoarena.runs.bench.format.results import Anchored, Comparison, Result
from videoautoarena.runs.bench.format.schema import Item
from videoautoarena.runs.bench.score.leads import (
    NOBODY,
    ModelPlaces,
    SetRanking,
    rank_on_items,
    ranking_of,
)
from videoautoarena.runs.bench.score.score import (
    FEW,
    FEW_VIDEOS,
    JUDGED_BLIND,
    PARTIAL,
    VOIDS,
    Board,
    Of,
    anchored_by,
    build_scores,
    count_items,
    difference,
    results_by,
    sliced,
)
from videoautoarena.runs.formats.battle_table import quoted
from videoautoarena.runs.formats.record_json import SPREAD, fields_json
from videoautoarena.runs.rating.finding import Finding
from videoautoarena.runs.rating.fit import by_feature, identified_of, worth_of
from videoautoarena.runs.rating.leaderboard import FittedTerms
from videoautoarena.runs.run.rundir.reader import SAW_NONE
from videoautoarena.scoring.fitting.bradley_terry import MEAN, SCALE
from videoautoarena.scoring.fitting.counts import Floats, Ints, count_cells, count_rows
from videoautoarena.scoring.ratings.covariates import Identification
from videoautoarena.scoring.ratings.differences import AnchorGaps, measure_gaps, to_win_rates
from videoautoarena.scoring.texts.style import FEATURES, compare_styles, measure_styles, standardise

Intervals = Literal["clustered", "bootstrap"]
ROUNDS = 1000
ONE_SIDED = "one-sided"
Questions = Mapping[str, list[Comparison]]
"""The comparisons of each question, by qid."""


@dataclass(frozen=True)
class AnchorScoring:
    """How games become scores."""

    weight: float = WEIGHT
    """Games that a verdict of much better counts as, from 1."""
    style: bool = False
    """Take out what the style of answers is worth."""
    intervals: Intervals = "clustered"
    seed: int = 0


@dataclass(frozen=True)
class WantedScores:
    """Which scores a person wants to see, and how they are made."""

    of: Of = "judged"
    by: str | None = None
    judge: str | None = None
    anchor: str | None = None
    way: AnchorScoring = AnchorScoring()
    as_published: bool = False
    """Whether tasks are scored by the rules of whoever published them."""
    margin: float = 2.0
    """Points of accuracy on tasks that are as good, for the cheapest of several settings."""


@dataclass(frozen=True)
class AnchorScores:
    """The scores of models on a bench, against the references and against each anchor."""

    board: Board
    anchored: list[Board]
    audit: Sequence[Finding] | None = None
    """What is known of the judge in each language; None if no board is by language."""

    @property
    def holds_both(self) -> bool:
        """Whether there are scores against references and against an anchor."""
        return bool(self.anchored and self.board["models"])

    def to_json(self) -> dict[str, Any]:
        """Return it in the shape of `arena bench score --json`."""
        found = {**self.board, "anchored": self.anchored} if self.anchored else self.board
        if self.audit is None:
            return found
        # First what is known of the judge in each language, then boards by language.
        head = {name: found[name] for name in ("schema", "bench")}
        return {**head, "audit": [one.to_json() for one in self.audit], **found}


def score_bench(bench: OpenBench, wanted: WantedScores) -> AnchorScores:
    """Return the scores of the results that are wanted; BadInput if there are none."""
    held = anchored_by(bench, judge=wanted.judge, anchor=wanted.anchor)
    anchored = build_anchored(bench, held, wanted.way, by=wanted.by)
    results = list[Result]()
    if wanted.anchor is None:
        results = results_by(bench, wanted.judge, may_be_none=bool(anchored))
    board = build_scores(bench, results, of=wanted.of, by=wanted.by)
    if anchored and not results:
        board["stand_ins"] = all(one["stand_ins"] for one in anchored)
    if wanted.by != "language":
        return AnchorScores(board, anchored)
    from videoautoarena.runs.bench.score.validity import languages_of

    return AnchorScores(board, anchored, languages_of(bench, [*results, *held]))


def score_results(bench: OpenBench, results: Sequence[object]) -> AnchorScores:
    """Return the scores of results that need not be written."""
    held = [one for one in results if isinstance(one, Anchored)]
    plain = [one for one in results if isinstance(one, Result)]
    return AnchorScores(build_scores(bench, plain), build_anchored(bench, held))


@dataclass(frozen=True)
class AnchorRow:
    """The score of a model against an anchor."""

    model: str
    """Its name."""
    how: str
    """`run` or `import`."""
    figures: AnchorFigures = field(metadata=SPREAD)
    share: float | None
    """Share of its games won, in percent, each question once."""
    n: int
    """Questions that count."""
    videos: int
    """Videos they are about."""
    much_better: int
    """Judgings that said so."""
    better: int
    """Likewise."""
    same: int
    """Likewise."""
    worse: int
    """Likewise."""
    much_worse: int
    """Likewise."""
    void: int
    """Questions left out since a judging is void or lacking."""
    missing: int
    """Questions not judged at all."""
    split: int
    """Questions at which each seating preferred another answer."""
    flags: list[str]
    """`partial`, `voids`, `few videos`, `saw no frames` and `judged without frames` as in
    [a score](#a-score); `one-sided`: points between it and others went only
    one way."""
    places: ModelPlaces = field(default=ModelPlaces(), metadata=SPREAD)


@dataclass(frozen=True)
class AnchorFigures:
    """What a model is worth by the fit; None without a question that counts."""

    score: float | None = None
    """Expected share of games won against the anchor, in percent; None without a question that
    counts."""
    low: float | None = None
    """Lower end of its 95 % interval."""
    high: float | None = None
    """Upper end."""
    rating: float | None = None
    """The same as a rating, the anchor having 1000."""
    rating_low: float | None = None
    """Lower end; None with one video."""
    rating_high: float | None = None
    """Upper end; likewise."""


class _Games(NamedTuple):
    """All games that count, one by one."""

    model: Ints
    """Shape (games,), places among the results."""
    points: Floats
    weight: Floats
    """1 on average."""
    video: Ints
    style: Floats | None
    """Shape (games, features)."""


def build_anchored(
    bench: OpenBench,
    results: Sequence[Anchored],
    way: AnchorScoring | None = None,
    *,
    by: str | None = None,
) -> list[Board]:
    """Return a board for each judge and anchor, best first; BadInput if `style` lacks texts."""
    way = way or AnchorScoring()
    return [
        {
            "judge": judge,
            "anchor": anchor,
            **count_items(bench.items),
            **{name: getattr(way, name) for name in ("weight", "style", "intervals")},
            "stand_ins": all(one.is_stand_in for one in group),
            **sliced(bench, by, partial(_board, group=group, way=way)),
        }
        for (judge, anchor), group in groups_of(results)
    ]


def _board(asked: Mapping[str, Item], group: Sequence[Anchored], way: AnchorScoring) -> Board:
    found = [
        {qid: ones for qid, ones in by_question(one).items() if qid in asked and is_read(ones)}
        for one in group
    ]
    # A model of which no question counts has no place in the fit, and no score.
    rated = [k for k, questions in enumerate(found) if questions]
    gaps = None
    terms = None
    ranking = NOBODY
    if rated:
        games = _games(asked, [(group[k], found[k]) for k in rated], way)
        gaps, terms = _gaps(games, models=len(rated), way=way)
        is_controlled = terms is not None and terms.control is not None and terms.control.identified
        ranking = _ranking(
            asked, group, found, rated, gaps=gaps, weight=way.weight, is_controlled=is_controlled
        )
    place = {k: at for at, k in enumerate(rated)}
    rows = [
        _row(asked, result, found[k], gaps=gaps, at=place.get(k), weight=way.weight)
        for k, result in enumerate(group)
    ]
    shares = [shares_of(result, weight=way.weight) for result in group]
    order = sorted(
        range(len(group)),
        key=lambda k: (
            rows[k].figures.score is None,
            -(rows[k].figures.score or 0.0),
            rows[k].model,
        ),
    )
    board: Board = {
        "models": [
            fields_json(replace(rows[k], places=ranking.places.get(rows[k].model, ModelPlaces())))
            for k in order
        ],
        "lead": ranking.lead_json(),
        "anchor_ranks": ranking.places.get(group[0].anchor, ModelPlaces())._asdict(),
        "differences": [
            {"a": group[j].model, "b": group[k].model, **difference(asked, shares[j], shares[k])}
            for j, k in combinations(order, 2)
        ],
        "seats": _seats(found),
    }
    if terms is not None:
        board["terms"] = fields_json(terms)
    return board


def _ranking(
    asked: Mapping[str, Item],
    group: Sequence[Anchored],
    found: Sequence[Questions],
    rated: Sequence[int],
    *,
    gaps: AnchorGaps,
    weight: float,
    is_controlled: bool,
) -> SetRanking:
    """Return who leads of the models and the anchor, which is level with itself everywhere.

    From the shares won of the same questions; where style is controlled for, from the fit.
    """
    names = [*(group[k].model for k in rated), group[0].anchor]
    if is_controlled:
        return ranking_of(names, gaps.gap, gaps.errors, gaps.lead, videos=gaps.clusters)
    points: dict[str, Mapping[str, float]] = {}
    for k in rated:
        shares = shares_of(group[k], weight=weight)
        points[group[k].model] = {qid: shares[qid] for qid in found[k]}
    # Against itself the anchor would win half of the games of every question.
    points[names[-1]] = {qid: 0.5 for mine in points.values() for qid in mine}
    means = dict(zip(names, map(float, to_win_rates(gaps.gap)), strict=True))
    return rank_on_items(asked, points, means=means)


def _games(
    asked: Mapping[str, Item], found: Sequence[tuple[Anchored, Questions]], way: AnchorScoring
) -> _Games:
    model = []
    points = []
    weight = []
    qids = []
    texts: list[tuple[str | None, str | None]] = []
    for k, (_, questions) in enumerate(found):
        for qid, comparisons in questions.items():
            for game in games_of(comparisons, weight=way.weight):
                model.append(k)
                points.append(game.points)
                weight.append(game.weight)
                qids.append(qid)
                texts.append((comparisons[0].response, comparisons[0].anchor_response))
    heavy = np.array(weight)
    return _Games(
        np.array(model, dtype=np.int64),
        np.array(points),
        # Scaled to 1 on average: heavy verdicts would else pass for more games than were judged.
        heavy / heavy.mean(),
        videos_of(asked, qids),
        _styles(texts, found) if way.style else None,
    )


def _styles(
    texts: Sequence[tuple[str | None, str | None]], found: Sequence[tuple[Anchored, Questions]]
) -> Floats:
    for result, questions in found:
        lacking = sum(
            one.response is None or one.anchor_response is None
            for comparisons in questions.values()
            # Both seatings judge the same two answers, so the first tells for both.
            for one in comparisons[:1]
        )
        if lacking:
            raise BadInput(
                f"{quoted(result.model)} has {lacking} judgings without both answers, "
                f"whose style is unknown; leave out {option('style', True)}"
            )
    # Each text is measured once: an answer of the anchor stands beside those of all models.
    known = {text: k for k, text in enumerate(dict.fromkeys(t for pair in texts for t in pair))}
    counts = measure_styles(str(text) for text in known)
    mine, theirs = ([known[pair[side]] for pair in texts] for side in (0, 1))
    return compare_styles(counts[mine], counts[theirs])


def _gaps(
    games: _Games, *, models: int, way: AnchorScoring
) -> tuple[AnchorGaps, FittedTerms | None]:
    """Return the gaps to the anchor, and what style is worth if it was to be taken out.

    Where the games do not tell style from strength it is left in.
    """
    fought: dict[str, Any] = {
        "a": games.model,
        # The anchor has the last place, behind all models.
        "b": np.full(len(games.model), models, dtype=np.int64),
        "outcome": games.points,
        "models": models + 1,
        "cluster": games.video,
        "weight": games.weight,
    }
    draw = {"rounds": ROUNDS if way.intervals == "bootstrap" else 0, "seed": way.seed}
    terms = None
    if games.style is not None:
        x, units = standardise(games.style)
        # A feature that never varies tells nothing of games.
        beside = measure_gaps(count_rows(**fought, x=x[:, units > 0]), models, **draw)
        worth = [] if beside.terms is None else worth_of(beside.terms.gamma, beside.halves)
        control = beside.control or Identification(0.0, 1.0)
        terms = FittedTerms(None, by_feature(FEATURES, units, worth), None, identified_of(control))
        if control.holds:
            return beside, terms
    return measure_gaps(count_cells(**fought), models, **draw), terms


def _row(
    asked: Mapping[str, Item],
    result: Anchored,
    found: Questions,
    *,
    gaps: AnchorGaps | None,
    at: int | None,
    weight: float,
) -> AnchorRow:
    mine = {qid: ones for qid, ones in by_question(result).items() if qid in asked}
    verdicts = Counter(one.verdict for ones in mine.values() for one in ones)
    shares = [s for qid, s in shares_of(result, weight=weight).items() if qid in found]
    videos = len({asked[qid].video_id for qid in found})
    void = len(mine) - len(found)
    missing = len(asked) - len(mine)
    flags = {
        PARTIAL: bool(missing),
        VOIDS: bool(void),
        FEW: videos < FEW_VIDEOS,
        ONE_SIDED: gaps is not None and at is not None and bool(gaps.one_sided[at]),
        SAW_NONE: result.is_blind,
        JUDGED_BLIND: result.is_judged_blind,
    }
    return AnchorRow(
        model=result.model,
        how=result.how,
        figures=_figures(gaps, at),
        share=100 * sum(shares) / len(shares) if shares else None,
        n=len(found),
        videos=videos,
        much_better=verdicts["much_better"],
        better=verdicts["better"],
        same=verdicts["same"],
        worse=verdicts["worse"],
        much_worse=verdicts["much_worse"],
        void=void,
        missing=missing,
        split=sum(is_split(comparisons) for comparisons in found.values()),
        flags=[flag for flag, holds in flags.items() if holds],
    )


def _figures(gaps: AnchorGaps | None, at: int | None) -> AnchorFigures:
    if gaps is None or at is None:
        return AnchorFigures()
    nats = np.array([gaps.gap[at], gaps.low[at], gaps.high[at]])
    shares = 100 * to_win_rates(nats)
    ratings = MEAN + SCALE * nats
    # With one video bounds are infinite, which JSON cannot say.
    known = [float(rating) if math.isfinite(rating) else None for rating in ratings]
    return AnchorFigures(*map(float, shares), *known)


def is_split(comparisons: Sequence[Comparison]) -> bool:
    """Return whether each seating found another answer better: whoever stood there won, or lost."""
    leads = [LEADS[one.verdict] for one in comparisons]
    return min(leads) < 0 < max(leads)


def _seats(found: Sequence[Questions]) -> Board:
    """Return how judges took the seats: with no bias the first read wins half of the decided."""
    pairs = [ones for questions in found for ones in questions.values() if len(ones) == 2]
    # From `ba` the candidate was read first, so its lead is one of the first seat.
    leads = [
        LEADS[one.verdict] * (1 if one.seats == "ba" else -1) for pair in pairs for one in pair
    ]
    signs = [{np.sign(LEADS[one.verdict]) for one in pair} for pair in pairs]
    return {
        "questions": len(pairs),
        "same": sum(len(sign) == 1 for sign in signs),
        "split": sum(is_split(pair) for pair in pairs),
        "first": sum(lead > 0 for lead in leads),
        "second": sum(lead < 0 for lead in leads),
    }
