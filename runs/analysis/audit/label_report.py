"""Labels of a run: by whom, how many, how far people and judges agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from videoautoarena.memory.records.records import DECIDED
from videoautoarena.memory.store.votes import Cast, Ranking, Vote
from videoautoarena.runs.analysis.audit.checks import with_checks
from videoautoarena.runs.analysis.audit.human_agreement import (
    TIE,
    Calibration,
    Spoken,
    calibrate,
    compare,
    judge_labels,
    spoken_of,
)
from videoautoarena.runs.formats.record_json import record_json
from videoautoarena.runs.rating.finding import Figure, Finding, figure_of, raise_alarms
from videoautoarena.runs.rating.question_ranking import QuestionRanking, rank_sources
from videoautoarena.runs.run.rundir.reader import Run


@dataclass(frozen=True)
class SampleCount:
    """How far the random draw is labelled."""

    drawn: int
    labelled: int
    decided: int


@dataclass(frozen=True)
class VoteCount:
    """What became of votes on battles that people cast in labelling sessions."""

    cast: int
    skipped: int
    """Standing ones of people who could not tell."""
    superseded: int
    """Those that were taken back."""
    named: int
    """Battles voted on of which an answer may name its maker."""


@dataclass(frozen=True)
class Labeller:
    """What one person labelled."""

    labeller: str
    labels: int
    ties: int
    agreed: Figure
    """With the judge."""
    skipped: int
    superseded: int


@dataclass(frozen=True)
class LabelReport:
    """Who labelled how much, and how far people and judges agree."""

    labels: int
    """Labels that count."""
    battles: int
    """Battles they are of."""
    left_out: int
    """Labels of battles superseded since."""
    sample: SampleCount
    """`drawn` at random, `labelled` of them, and all `decided` battles."""
    votes: VoteCount
    """On battles in sessions of `arena annotate`: all that were `cast`, standing ones `skipped`
    since the person could not tell, `superseded` since they were taken back, and battles with an
    answer that may be `named`: say who made it."""
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


def show_labels(run: Run) -> LabelReport:
    """Return who labelled how much, and how far people and judges agree."""
    evidence = run.store.evidence
    spoken = spoken_of(run)
    every = evidence.labels()
    cast = evidence.votes.cast(Vote)
    verdicts = run.store.verdicts()
    decided = {id_ for id_ in run.settled if verdicts[id_] in DECIDED}
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
        ranking=rank_sources(evidence.votes.cast(Ranking)),
    )


def _votes(cast: Sequence[Cast[Vote]]) -> VoteCount:
    standing = [one.vote for one in cast if not one.is_superseded]
    return VoteCount(
        cast=len(cast),
        skipped=sum(vote.verdict is None for vote in standing),
        superseded=len(cast) - len(standing),
        named=len({vote.battle for vote in standing if vote.named}),
    )


def _labellers(spoken: Sequence[Spoken], cast: Sequence[Cast[Vote]]) -> Iterator[Labeller]:
    counts = Counter(of.label.labeller for of in spoken)
    voters = dict.fromkeys((one.vote.labeller for one in cast), 0)
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
