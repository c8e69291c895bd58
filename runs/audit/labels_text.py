"""Labels of a run on a terminal and as JSON: by whom, how many, how far people and judges agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.text import Text

from videoautoarena.memory.records.records import DECIDED, SCHEMA
from videoautoarena.memory.store.votes import Cast, Ranking, Vote
from videoautoarena.runs.audit.checks import with_checks
from videoautoarena.runs.audit.human_agreement import (
    TIE,
    Spoken,
    calibrate,
    compare,
    judge_labels,
    spoken_of,
)
from videoautoarena.runs.rating.finding import Finding, raise_alarms, share_json
from videoautoarena.runs.rating.question_ranking import PLACES, QuestionRanking, rank_sources
from videoautoarena.runs.rundir.reader import Run, counted
from videoautoarena.runs.text.tables import plain_grid
from videoautoarena.runs.text.terminal import safe
from videoautoarena.scoring.intervals.proportions import Share

if TYPE_CHECKING:
    from rich.console import RenderableType

_LONGEST_NAME = 30


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
    agreed: Share
    """With the judge."""
    skipped: int
    superseded: int

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON-ready values."""
        return {**vars(self), "agreed": share_json(self.agreed)}


@dataclass(frozen=True)
class LabelReport:
    """Who labelled how much, and how far people and judges agree."""

    labels: int
    """Those that count, of battles that do."""
    battles: int
    left_out: int
    sample: SampleCount
    votes: VoteCount
    labellers: tuple[Labeller, ...]
    findings: tuple[Finding, ...]
    calibration: tuple[dict[str, Any], ...]
    ranking: QuestionRanking | None
    """None where nobody ranked questions."""

    def to_json(self) -> dict[str, Any]:
        """Return it as `arena labels show --json` prints it."""
        return {
            "schema": SCHEMA,
            "labels": self.labels,
            "battles": self.battles,
            "left_out": self.left_out,
            "sample": vars(self.sample),
            "votes": vars(self.votes),
            "labellers": [one.to_json() for one in self.labellers],
            "findings": [finding.to_json() for finding in self.findings],
            "calibration": list(self.calibration),
            "ranking": self.ranking.to_json() if self.ranking else None,
        }


def show_labels(run: Run) -> LabelReport:
    """Return who labelled how much, and how far people and judges agree."""
    evidence = run.store.evidence
    spoken, every, cast = spoken_of(run), evidence.labels(), evidence.votes.cast(Vote)
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
            agreed=mine.agreement().share,
            skipped=votes.skipped,
            superseded=votes.superseded,
        )


def render_labels(report: LabelReport) -> RenderableType:
    """Return a report of labels for a console of 80 columns or more."""
    shown = report.to_json()
    head = [Text(line) for line in _head(shown)]
    ranking = _ranking(shown["ranking"]) if shown["ranking"] else []
    if not shown["labels"]:
        return Group(*head, *ranking)
    findings = [Text(f"- {finding['sentence']}") for finding in shown["findings"]]
    below: list[RenderableType] = []
    if shown["calibration"]:
        below = [Text(""), _gaps(shown["calibration"]), Text(_ABOUT_GAPS)]
    people = _people(shown["labellers"])
    return Group(*head, Text(""), people, Text(""), *findings, *below, *ranking)


def _people(labellers: Sequence[dict[str, Any]]) -> RenderableType:
    titles = ("labeller", "labels", "ties", "cannot tell", "agrees with the judge")
    people = plain_grid(*titles, gap=2)
    for row in labellers:
        counts = (str(row[name]) for name in ("labels", "ties", "skipped"))
        people.add_row(Text(_brief(row["labeller"])), *counts, percent(row["agreed"]))
    return people


def _gaps(calibration: Sequence[dict[str, Any]]) -> RenderableType:
    titles = ("rating gap", "labels", "judge agrees", "people pick better", "expected")
    gaps = plain_grid(*titles, gap=2)
    for row in calibration:
        to = "and more" if row["gap_to"] is None else f"to {row['gap_to']:.0f}"
        gaps.add_row(
            f"{row['gap_from']:.0f} {to}",
            str(row["agreed"]["n"]),
            percent(row["agreed"]),
            percent(row["better"]),
            f"{100 * row['expected']:.0f} %",
        )
    return gaps


def _ranking(ranking: dict[str, Any]) -> list[RenderableType]:
    rankings, videos = (counted(ranking[name], name[:-1]) for name in ("rankings", "videos"))
    skipped = f"; {ranking['skipped']} could not be ranked" if ranking["skipped"] else ""
    head = Text(f"Questions: {rankings} on {videos}{skipped}.")
    if not ranking["sources"]:
        return [Text(""), head]
    most = len(ranking["sources"][0]["places"])
    table = plain_grid("questions of", "n", *(f"{place} %" for place in PLACES[:most]), gap=2)
    for row in ranking["sources"]:
        table.add_row(Text(_brief(row["source"])), str(row["n"]), *map(_place, row["places"]))
    return [Text(""), head, table]


def _place(share: dict[str, Any]) -> str:
    """Return a share as short as four of them fit in a line: `40 (21-62)`."""
    value, low, high = (100 * share[name] for name in ("value", "low", "high"))
    return f"{value:.0f} ({low:.0f}-{high:.0f})"


def _brief(name: str) -> str:
    flat = safe(name)
    return flat if len(flat) <= _LONGEST_NAME else f"{flat[: _LONGEST_NAME - 3]}..."


_ABOUT_GAPS = (
    "Without ties. Gaps are between the judge's ratings; expected: how often "
    "people should prefer the higher-rated model."
)


def percent(share: dict[str, Any]) -> str:
    """Return a share with its interval: `72 % (64 to 79)`."""
    if share["value"] is None:
        return "-"
    low, high = 100 * share["low"], 100 * share["high"]
    return f"{100 * share['value']:.0f} % ({low:.0f} to {high:.0f})"


def _head(shown: dict[str, Any]) -> list[str]:
    sample, lines = shown["sample"], []
    if not shown["labels"]:
        lines.append("No labels yet; arena annotate and arena labels import add them.")
    else:
        people = sum(row["labels"] > 0 for row in shown["labellers"])
        lines.append(
            f"{counted(shown['labels'], 'label')} of {counted(shown['battles'], 'battle')} by "
            f"{people} {'person' if people == 1 else 'people'}."
        )
    votes = shown["votes"]
    if votes["cast"]:
        cast = counted(votes["cast"], "vote")
        said = f"{votes['skipped']} could not tell, {votes['superseded']} taken back"
        lines.append(f"{cast} cast in sessions: {said}.")
    if votes["named"]:
        lines.append(f"In {counted(votes['named'], 'battle')} an answer may name its maker.")
    if shown["left_out"]:
        lines.append(f"{counted(shown['left_out'], 'label')} of superseded battles left out.")
    drawn = f"{sample['drawn']} of {counted(sample['decided'], 'decided battle')}"
    lines.append(
        f"Drawn at random: {drawn}, {sample['labelled']} of them labelled."
        if sample["drawn"]
        else "No battles were drawn at random yet; arena labels sample draws some."
    )
    return lines
