"""The judges of a run against the people who labelled its battles, as figures and as a report."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any, NamedTuple

import numpy as np

from videoautoarena.memory.records.records import DECIDED, TIES, Battle
from videoautoarena.memory.records.standards import STANDARDS, Standard
from videoautoarena.memory.store.evidence import (
    BattleVote,
    CastVote,
    Label,
    LabelSample,
    RankingVote,
)
from videoautoarena.runs.analysis.audit.checks import with_checks
from videoautoarena.runs.analysis.audit.evidence import AuditInput, below, finding, unknown
from videoautoarena.runs.formats.record_json import record_json
from videoautoarena.runs.rating.finding import Figure, Finding, figure_of, raise_alarms
from videoautoarena.runs.rating.fit import number_names
from videoautoarena.runs.rating.method import RateableBattle
from videoautoarena.runs.rating.question_ranking import QuestionRanking, rank_sources
from videoautoarena.runs.rating.table import build, points_of
from videoautoarena.runs.run.rundir.reader import RunReader
from videoautoarena.scoring.agreement.rater_agreement import (
    MISSING,
    RaterAgreement,
    agree,
    krippendorff,
)
from videoautoarena.scoring.fitting.bradley_terry import SCALE
from videoautoarena.scoring.fitting.counts import Ints
from videoautoarena.scoring.intervals.proportions import Share, measure_excess
from videoautoarena.scoring.texts.style import count_style

A, B, TIE = 0, 1, 2
"""Codes of a verdict; both kinds of tie and a split are one."""
CLOSE = 0.1
"""Answers match in length if they differ by no more than this share of the longer one."""
GAPS = (0.0, 50.0, 100.0, 200.0, 400.0, math.inf)
"""Rating gaps between which calibration is measured."""


class LabelledBattle(NamedTuple):
    """A label and the battle it is of, which was decided and counts."""

    label: Label
    battle: Battle


def spoken_of(run: RunReader) -> list[LabelledBattle]:
    """Return the labels of a run that count, in the order in which they were added."""
    labels = run.store.evidence.labels()
    found = map(run.battles.find, dict.fromkeys(label.battle for label in labels))
    return join_labels(labels, [battle for battle in found if battle is not None])


def join_labels(labels: Sequence[Label], battles: Iterable[Battle]) -> list[LabelledBattle]:
    """Return the labels of those battles that were decided, each with its battle."""
    wanted = {label.battle for label in labels}
    decided = {
        battle.id: battle for battle in battles if battle.id in wanted and battle.verdict in DECIDED
    }
    return [LabelledBattle(of, decided[of.battle]) for of in labels if of.battle in decided]


def chances(samples: Sequence[LabelSample]) -> dict[str, float]:
    """Return how likely each battle was to be drawn by one draw or another; others are left out."""
    missed = defaultdict[str, float](lambda: 1.0)
    for sample in samples:
        for id_ in sample.of:
            # Each draw takes from what earlier ones left, so the chances of being missed multiply.
            missed[id_] *= 1.0 - sample.chance
    return {id_: 1.0 - chance for id_, chance in missed.items()}


def mean_points(spoken: Iterable[LabelledBattle]) -> dict[str, float]:
    """Return the points that people give model a in each labelled battle, the mean of several."""
    given = defaultdict[str, list[float]](list)
    for label, _ in spoken:
        given[label.battle].append(points_of(label.verdict))
    return {id_: float(np.mean(points)) for id_, points in given.items()}


class Calibration(NamedTuple):
    """How far judges and ratings are right between two gaps of two models' ratings."""

    gap_from: float
    """Smallest gap, in points."""
    gap_to: float | None
    """Largest; None: it has no end."""
    gap: float
    """Mean gap, in points."""
    agreed: Figure
    """Share of labels that say what the judge said, ties of either side left out."""
    better: Figure
    """Share of labels for the model that the judges' ratings put above."""
    expected: float
    """How large `better` should be by those ratings, on average."""


class LabelComparison(NamedTuple):
    """Words of people and of judges on the same battles, one for each label, as codes."""

    people: Ints
    judge: Ints
    video: Ints
    longer: Ints
    """Whose answer is the longer, in words and signs; TIE where neither is."""
    is_matched: Ints
    """1 where the two lengths are within CLOSE of each other."""

    def among(self, rows: Any) -> LabelComparison:
        """Return some of the rows."""
        return LabelComparison(*(column[rows] for column in self))

    @property
    def without_ties(self) -> LabelComparison:
        """The rows in which people and judge both named a winner."""
        return self.among((self.people != TIE) & (self.judge != TIE))

    def agreement(self) -> RaterAgreement:
        """Return how far judges agree with people, clustered by video."""
        return agree(self.judge, self.people, self.video)


def compare(spoken: Sequence[LabelledBattle]) -> LabelComparison:
    """Return labels beside the verdicts on their battles."""
    lengths = {
        # Once a battle, however many people labelled it.
        battle.id: (count_style(battle.answer_a or "")[0], count_style(battle.answer_b or "")[0])
        for battle in {battle.id: battle for _, battle in spoken}.values()
    }
    pairs = [lengths[battle.id] for _, battle in spoken]
    return LabelComparison(
        np.array([code_of(label.verdict) for label, _ in spoken], dtype=np.int64),
        np.array([code_of(battle.verdict) for _, battle in spoken], dtype=np.int64),
        number_names([battle.video for _, battle in spoken]),
        np.array([TIE if a == b else A if a > b else B for a, b in pairs], dtype=np.int64),
        np.array([abs(a - b) <= CLOSE * max(a, b) for a, b in pairs], dtype=np.int64),
    )


def code_of(verdict: str) -> int:
    """Return the code of a decided verdict or of a label."""
    return TIE if verdict in TIES else A if verdict == "a" else B


def people_agree(
    spoken: Sequence[LabelledBattle], standard: Standard | None = None
) -> tuple[Share, Share]:
    """Return how often two people say the same of a battle, and Krippendorff's alpha of all.

    With a standard, what they said by that one alone, which all of these labels have.
    """
    labellers = {of.label.labeller: k for k, of in enumerate(spoken)}
    place = {name: k for k, name in enumerate(labellers)}
    battles = list(dict.fromkeys(of.battle.id for of in spoken))
    row = {id_: k for k, id_ in enumerate(battles)}
    ratings = np.full((len(battles), max(len(place), 1)), MISSING)
    video = np.zeros(len(battles), dtype=np.int64)
    numbers = number_names([of.battle.video for of in spoken])
    for of, number in zip(spoken, numbers, strict=True):
        word = of.label.standards[standard] if standard else of.label.verdict
        ratings[row[of.battle.id], place[of.label.labeller]] = code_of(word)
        video[row[of.battle.id]] = number
    first, second, where = _pairs_of(ratings)
    pairs = agree(first, second, video[where])
    return pairs.share, krippendorff(ratings, video)


def _pairs_of(ratings: Ints) -> tuple[Ints, Ints, Ints]:
    """Return every two verdicts on one battle, and the row of that battle."""
    pairs = [
        (one, two, row)
        for row, words in enumerate(ratings)
        for one, two in combinations(words[words != MISSING].tolist(), 2)
    ]
    # Reshaped, since without a pair the array would have one dimension.
    first, second, where = np.array(pairs, dtype=np.int64).reshape(-1, 3).T
    return first, second, where


def calibrate(
    battles: Collection[RateableBattle], spoken: Sequence[LabelledBattle]
) -> list[Calibration]:
    """Return, for gaps between two models' ratings, how far judges and ratings are right.

    Ties of either side are left out, and so are rows without a label.
    """
    board = build(battles, ())
    rating = {row.model: row.rating or 0.0 for row in board.models}
    home = {name: k for k, names in enumerate(board.components) for name in names}
    compared = compare(spoken)
    gaps = np.empty(len(spoken))
    for k, (_, battle) in enumerate(spoken):
        a = battle.model_a or ""
        b = battle.model_b or ""
        # Groups that never met have scales of their own: no gap leads from one to another.
        gaps[k] = rating[a] - rating[b] if home[a] == home[b] else np.nan
    rows = []
    for low, high in pairwise(GAPS):
        inside = (np.abs(gaps) >= low) & (np.abs(gaps) < high)
        # Of equal ratings neither model is above; a gap that is NaN lies inside no bounds.
        inside &= (compared.people != TIE) & (compared.judge != TIE) & (gaps != 0.0)
        if not inside.any():
            continue
        part = compared.among(inside)
        gap = gaps[inside]
        above = np.where(gap > 0, A, B)
        rows.append(
            Calibration(
                gap_from=low,
                gap_to=None if math.isinf(high) else high,
                gap=round(float(np.abs(gap).mean()), 1),
                agreed=figure_of(part.agreement().share),
                better=figure_of(agree(above, part.people, part.video).share),
                # Bradley and Terry's chance that the better-rated wins.
                expected=round(float((1 / (1 + np.exp(-np.abs(gap) / SCALE))).mean()), 6),
            )
        )
    return rows


_NOBODY = "No battle that counts has a human label, so agreement with people is unknown."


def audit_labels(given: AuditInput) -> list[Finding]:
    """Return how far the judges of a run agree with the people who labelled its battles."""
    spoken = join_labels(given.labels, given.find(of.battle for of in given.labels).values())
    if given.is_brief:
        # The one figure about labels that can raise an alarm.
        return list(_length_gain(compare(spoken).without_ties)) if spoken else []
    return judge_labels(spoken, seats_count=given.manifest.get("swap") == "all")


def judge_labels(spoken: Sequence[LabelledBattle], *, seats_count: bool) -> list[Finding]:
    """Return how far judges agree with people, and people with each other.

    Each label is held against the verdict on its battle, which is that of all judges together, with
    videos as clusters. An alarm is about a judge that is surely right less often than the longer
    answer.
    """
    if not spoken:
        return [unknown("labels.agreement", _NOBODY)]
    every = compare(spoken)
    return [
        *_agreement(every),
        *_length(every.without_ties),
        *_people(spoken),
        *_standards(spoken, seats_count=seats_count),
    ]


def _agreement(every: LabelComparison) -> Iterator[Finding]:
    found = every.agreement()
    clear = every.without_ties
    yield finding(
        "labels.agreement",
        found.share,
        f"Judge and people agree in {_OF} (a tie is a verdict of its own).",
    )
    yield finding(
        "labels.kappa",
        found.kappa,
        f"Cohen's kappa is {_beyond_chance(found.kappa)}; zero is chance, one full agreement.",
    )
    if not len(clear.people):
        return
    found = clear.agreement()
    yield finding(
        "labels.agreement_without_ties",
        found.share,
        f"Without ties they agree in {_OF}.",
    )
    yield finding(
        "labels.kappa_without_ties",
        found.kappa,
        f"Without ties, Cohen's kappa is {_beyond_chance(found.kappa)}.",
    )


def _length(clear: LabelComparison) -> Iterator[Finding]:
    """Yield agreement by length of the answers; `clear` holds labels and verdicts without ties."""
    matched = clear.among(clear.is_matched == 1)
    if len(matched.people):
        share = matched.agreement().share
        yield finding(
            "labels.length_matched",
            share,
            "Between answers of about equal length (within {within:share}), they agree in "
            f"{_OF}.",
            within=CLOSE,
        )
    uneven = clear.among(clear.longer != TIE)
    if not len(uneven.people):
        return
    judge = uneven.agreement().share
    length = agree(uneven.longer, uneven.people, uneven.video).share
    gain = _gain(uneven)
    word = "no better than" if gain.value <= 0.0 else "which must beat"
    yield finding(
        "labels.length_only",
        length,
        "The judge agrees with people in {judge} of {n:label} on {videos:video} on answers of "
        f"different length, {word} always picking the longer one: {{figure}}.",
        judge=judge,
    )
    yield from _length_gain(clear)


def _gain(uneven: LabelComparison) -> Share:
    return measure_excess(
        uneven.judge == uneven.people, uneven.longer == uneven.people, uneven.video
    )


def _length_gain(clear: LabelComparison) -> Iterator[Finding]:
    uneven = clear.among(clear.longer != TIE)
    if not len(uneven.people):
        return
    gain = _gain(uneven)
    yield finding(
        "labels.length_gain",
        gain,
        "On the same {n:label} the judge is {figure:share_gap_with_interval} percentage points "
        "better than picking the longer answer; below zero is worse.",
        crosses=below(gain, 0.0),
    )


def _people(spoken: Sequence[LabelledBattle]) -> Iterator[Finding]:
    share, alpha = people_agree(spoken)
    if not alpha.n:
        return
    people = len({of.label.labeller for of in spoken})
    yield finding(
        "labels.people",
        share,
        "Two people agree with each other in {figure} of {n:pair} on {videos:video}; a judge that "
        "agrees with people as often is as good as a person.",
    )
    yield finding(
        "labels.krippendorff",
        alpha,
        "Krippendorff's alpha of {people} people on {n:battle} that two or more labelled is "
        f"{_beyond_chance(alpha)}.",
        people=people,
    )


def _standards(spoken: Sequence[LabelledBattle], *, seats_count: bool) -> Iterator[Finding]:
    """Yield how far each standard decides what people say, and how far the judge agrees on it.

    The judge was asked about standards from contract 2 on.
    """
    # Roles bring all that calls models with them, which a run without such labels never needs.
    from videoautoarena.agents.roles.judge import settle_standard

    for name, standard in STANDARDS.items():
        mine = [of for of in spoken if name in of.label.standards]
        if not mine:
            continue
        overall = np.array([code_of(of.label.verdict) for of in mine])
        word = np.array([code_of(of.label.standards[name]) for of in mine])
        share = agree(word, overall, compare(mine).video).share
        yield finding(
            f"labels.{name}",
            share,
            f"People's verdicts by {standard.words} alone match their overall verdicts in {_OF}.",
        )
        yield from _people_by(name, mine)
        both = [
            (of, verdict)
            for of in mine
            for verdict in [settle_standard(of.battle.verdicts, name, audit_only=not seats_count)]
            if verdict in DECIDED
        ]
        if not both:
            continue
        judge = np.array([code_of(verdict) for _, verdict in both])
        people = np.array([code_of(of.label.standards[name]) for of, _ in both])
        share = agree(judge, people, compare([of for of, _ in both]).video).share
        yield finding(
            f"labels.judge_{name}",
            share,
            f"By {standard.words} alone, judge and people agree in {_OF}.",
        )


def _people_by(name: Standard, mine: Sequence[LabelledBattle]) -> Iterator[Finding]:
    """Yield how often two people agree by one standard, if any two labelled a battle by it."""
    share, _ = people_agree(mine, name)
    if share.n:
        yield finding(
            f"labels.people_{name}",
            share,
            f"By {STANDARDS[name].words} alone, two people agree in {{figure}} of {{n:pair}} on "
            "{videos:video}.",
        )


_OF = "{figure} of {n:label} on {videos:video}"


def _beyond_chance(found: Share) -> str:
    if math.isnan(found.value):
        return "undefined, since all verdicts are the same"
    return "{figure:coefficient_with_interval}"


@dataclass(frozen=True)
class SampleCount:
    """How much of the random draw is labelled."""

    drawn: int
    labelled: int
    decided: int


@dataclass(frozen=True)
class VoteCount:
    """Votes on battles that people cast in labelling sessions."""

    cast: int
    skipped: int
    """Standing votes of people who could not tell."""
    superseded: int
    """Votes that were taken back."""
    named: int
    """Battles voted on in which an answer may name its maker."""


@dataclass(frozen=True)
class Labeller:
    """What one person labelled."""

    labeller: str
    labels: int
    ties: int
    agreed: Figure
    """Share of labels that agree with the judge."""
    skipped: int
    superseded: int


@dataclass(frozen=True)
class LabelReport:
    """Who labelled how much, and how far people and judges agree."""

    labels: int
    """Labels that count."""
    battles: int
    """Battles with such a label."""
    left_out: int
    """Labels of battles superseded since."""
    sample: SampleCount
    """`drawn` at random, `labelled` of them, and all `decided` battles."""
    votes: VoteCount
    """Votes on battles in sessions of `arena annotate`: all that were `cast`, standing ones
    `skipped` since the person could not tell, those `superseded` since they were taken back, and
    battles `named`, in which an answer may say who made it."""
    labellers: tuple[Labeller, ...]
    """By person, most labels first: `labeller`, `labels`, `ties`, `agreed` with the judge,
    `skipped` and `superseded` votes."""
    findings: tuple[Finding, ...]
    """[As those of an audit](#a-finding)."""
    calibration: tuple[Calibration, ...]
    """By gap between two models' ratings, see below; rows without a label are left out."""
    ranking: QuestionRanking | None
    """Questions [ranked without their sources](#ranked-questions); None without any."""

    def to_json(self) -> dict[str, Any]:
        """Return it as `arena labels show --json` prints it."""
        return record_json(self)


def show_labels(run: RunReader) -> LabelReport:
    """Return who labelled how much, and how far people and judges agree."""
    evidence = run.store.evidence
    spoken = spoken_of(run)
    every = evidence.labels()
    cast = evidence.votes.cast(BattleVote)
    verdicts = run.store.verdicts()
    decided = {id_ for id_ in run.settled if verdicts[id_] in DECIDED}
    # Some that were drawn may have been superseded since.
    drawn = {id_ for sample in evidence.samples() for id_ in sample.drawn} & decided
    labelled = {of.battle.id for of in spoken}
    said = judge_labels(spoken, seats_count=run.manifest.get("swap") == "all")
    return LabelReport(
        labels=len(spoken),
        battles=len(labelled),
        left_out=len(every) - len(spoken),
        sample=SampleCount(len(drawn), len(drawn & labelled), len(decided)),
        votes=_votes(cast),
        labellers=tuple(_labellers(spoken, cast)),
        findings=tuple(with_checks(raise_alarms(said))),
        calibration=tuple(calibrate(run.battles, spoken)) if spoken else (),
        ranking=rank_sources(evidence.votes.cast(RankingVote)),
    )


def _votes(cast: Sequence[CastVote[BattleVote]]) -> VoteCount:
    standing = [one.vote for one in cast if not one.is_superseded]
    return VoteCount(
        cast=len(cast),
        skipped=sum(vote.verdict is None for vote in standing),
        superseded=len(cast) - len(standing),
        named=len({vote.battle for vote in standing if vote.named}),
    )


def _labellers(
    spoken: Sequence[LabelledBattle], cast: Sequence[CastVote[BattleVote]]
) -> Iterator[Labeller]:
    counts = Counter(of.label.labeller for of in spoken)
    voters = dict.fromkeys((one.vote.labeller for one in cast), 0)
    # Who only skipped battles has no label, and is listed all the same.
    for name in sorted(voters | counts, key=lambda name: (-counts[name], name)):
        mine = compare([of for of in spoken if of.label.labeller == name])
        votes = _votes([one for one in cast if one.vote.labeller == name])
        yield Labeller(
            labeller=name,
            labels=counts[name],
            ties=int((mine.people == TIE).sum()),
            agreed=figure_of(mine.agreement().share),
            skipped=votes.skipped,
            superseded=votes.superseded,
        )
