"""How far another judge agrees with a run."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from videoautoarena.agents.roles.judge import settle_verdict
from videoautoarena.memory.records.records import DECIDED, TIES, Battle, Judging
from videoautoarena.memory.store.evidence import Trial, standing_trials
from videoautoarena.runs.analysis.trials.trial import blind_on_trial
from videoautoarena.runs.formats.record_json import fields_json, record_json
from videoautoarena.runs.formats.words import in_full
from videoautoarena.runs.rating.finding import (
    UNKNOWN,
    Figure,
    Finding,
    Told,
    figure_json,
    figure_of,
)
from videoautoarena.runs.rating.fit import number_names, share_of
from videoautoarena.runs.rating.table import build
from videoautoarena.runs.run.rundir.reader import RunReader, blind_lines, marks, open_run
from videoautoarena.scoring.agreement.rank_agreement import correlate_orders, correlate_ranks
from videoautoarena.scoring.agreement.rater_agreement import RaterAgreement, agree

WORDS = ("a", "b", "tie")
"""Outcomes of a battle; ties of all kinds and splits are one."""


class Both(NamedTuple):
    """A battle as the run decided it, and as another judge does."""

    battle: Battle
    other: Battle
    """The same with the other judge's judgings and verdict."""


class Figures(NamedTuple):
    """How far two verdicts agree."""

    agreement: Figure
    kappa: Figure


class Confusion(NamedTuple):
    """Counts, shape (3, 3): the run's word down, the other judge's across."""

    words: Sequence[str]
    run_by_judge: Sequence[Sequence[int]]


class CorrelationBounds(NamedTuple):
    """A correlation with its interval; None where too few models are rated."""

    value: float | None
    low: float | None
    high: float | None


class Ranked(NamedTuple):
    """A model on both leaderboards."""

    model: str
    rating: float
    low: float | None
    high: float | None
    rank: int | None
    other_rating: float
    other_low: float | None
    other_high: float | None
    other_rank: int | None


class RejudgedBoards(NamedTuple):
    """Both leaderboards over the same battles, and how far their orders agree."""

    spearman: CorrelationBounds
    kendall: CorrelationBounds
    models: Sequence[Ranked]


def _finding(key: str, of: Figure, words: str, **told: Told) -> Finding:
    value, low, high = (math.nan if x is None else x for x in of[:3])
    return Finding(f"rejudge.{key}", value, low, high, of.n, words, told=told)


@dataclass(frozen=True)
class Rejudged:
    """How far another judge agrees with a run."""

    judge: str
    """Its name."""
    model: str | None
    """`provider:model`; None if it judged nothing."""
    judgings: int
    """How often it judged."""
    failed: int
    """Judgings that failed."""
    abstained: int
    """Judgings in which it abstained."""
    battles: int
    """Decided by both it and the run: the base of all that follows."""
    undecided: int
    """Left without a verdict by either."""
    agreement: Figure
    """Share with the same verdict, all ties being one."""
    kappa: Figure
    """Cohen's kappa, all ties being one."""
    without_ties: Figures
    """`agreement` and `kappa` where neither saw a tie."""
    longer_answer: Figure
    """Share of the battles without a tie whose winner by the run is the longer answer."""
    confusion: Confusion
    """`words`, and `run_by_judge`: counts, a row for each verdict of the run."""
    boards: RejudgedBoards
    """`spearman` and `kendall` (`value`, `low`, `high`) of the two leaderboards, and `models` with
    both: `rating`, `low`, `high`, `rank`, and the same after `other_`."""

    @property
    def findings(self) -> list[Finding]:
        """Findings on how far they agree; the one on all battles comes first."""
        return [*(self._agreed() if self.battles else [self._nothing()]), *self._lost()]

    def _nothing(self) -> Finding:
        words = "{judge} decided no battle that the run decided."
        return _finding("agreement", self.agreement, words, judge=self.judge)

    def _agreed(self) -> list[Finding]:
        clear = self.without_ties
        boards = self.boards
        words = (
            "Rank correlation of the two leaderboards of the same battles: Spearman "
            "{figure:coefficient_with_interval}, Kendall {kendall:coefficient_with_interval}, "
            "{n:model}."
        )
        if None in (boards.spearman.value, boards.kendall.value):
            words = "Too few rated models to compare the two orders."
        order = Figure(*boards.spearman, len(boards.models))
        return [
            _finding(
                *("agreement", self.agreement),
                "{judge} agrees with the run in {figure} of {n:battle}; without ties, the longer "
                "answer is the run's winner in {longer} of {compared}.",
                judge=self.judge,
                longer=self.longer_answer[:3],
                compared=self.longer_answer.n,
            ),
            _finding(
                *("kappa", self.kappa),
                "Cohen's kappa {figure:coefficient_with_interval}, without ties "
                "{clear:coefficient_with_interval}; zero is chance, one full agreement.",
                clear=clear.kappa[:3],
            ),
            _finding(
                *("without_ties", clear.agreement),
                "Without ties, they name the same winner in {figure} of {n}.",
            ),
            _finding("order", order, words, kendall=boards.kendall),
        ]

    def _lost(self) -> Iterator[Finding]:
        if self.undecided:
            words = "Left out: {n} without a verdict on either side."
            yield _finding("undecided", UNKNOWN._replace(n=self.undecided), words)
        if self.failed or self.abstained:
            words = "Of {n:judging} {failed} failed and {abstained} abstained."
            told = {"failed": self.failed, "abstained": self.abstained}
            yield _finding("lost", UNKNOWN._replace(n=self.judgings), words, **told)

    @property
    def sentence(self) -> str:
        """The first finding as a sentence."""
        return self.findings[0].sentence

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON-ready values."""
        return {**fields_json(self), "sentence": self.sentence}


@dataclass(frozen=True)
class RejudgeReport:
    """How far each of several other judges agrees with a run."""

    run: Mapping[str, Sequence[str]]
    """`judges`: those of the run."""
    warnings: Sequence[str]
    """Sentences that hold for every figure."""
    judges: Sequence[Rejudged]
    """One for each judge, as below."""

    def to_json(self) -> dict[str, Any]:
        """Return it as `arena rejudge --json` prints it."""
        return record_json(self)


def rejudged(folder: Path, judges: Sequence[str] = ()) -> RejudgeReport:
    """Return how far each judge that the battles of a run were put to again agrees with it.

    Args:
        folder: the run's.
        judges: names of those that are wanted; none named: all who judged any of it again.

    Raises:
        BadInput: no such folder, or no run in it.
    """
    with open_run(folder) as run:
        trials = [t for t in standing_trials(run.store.evidence.trials()) if t.kind == "rejudge"]
        there = tuple(dict.fromkeys(trial.judging.judge for trial in trials))
        wanted = [in_full(judge, [*there, *run.manifest["cast"]]) for judge in judges] or there
        blind = blind_on_trial(run.store, [t for t in trials if t.judging.judge in wanted])
        return RejudgeReport(
            {"judges": list(run.manifest["judges"])},
            list(dict.fromkeys([*marks(run.manifest), *blind_lines(blind)])),
            [_compare(run, judge, trials) for judge in wanted],
        )


def _compare(run: RunReader, judge: str, trials: Sequence[Trial]) -> Rejudged:
    mine = [trial for trial in trials if trial.judging.judge == judge]
    ended = Counter(trial.judging.verdict for trial in mine)
    anew = verdicts_anew(run, mine)
    shared = [p for p in anew if p.battle.verdict in DECIDED and p.other.verdict in DECIDED]
    found = agreement_of(shared)
    clear = [pair for pair in shared if "tie" not in (word_of(pair.battle), word_of(pair.other))]
    without = agreement_of(clear)
    # In characters, as in the audit of length.
    lengths = [(len(p.battle.answer_a or ""), len(p.battle.answer_b or "")) for p in clear]
    kept = [(p.battle, "a" if a > b else "b") for p, (a, b) in zip(clear, lengths, strict=True)
            if a != b]  # fmt: skip
    by_length = share_of([word_of(of) == word for of, word in kept], [of.video for of, _ in kept])
    roster = run.manifest["models"]
    one, two = (
        {row.model: row for row in build([pair[k] for pair in shared], roster).models
         if row.rating is not None} for k in (0, 1)
    )  # fmt: skip
    # Only models with a rating on both boards have an order on both.
    rated = [name for name in one if name in two]
    ratings = [
        np.array([board[name].rating for name in rated], dtype=np.float64) for board in (one, two)
    ]
    spearman, kendall = (
        CorrelationBounds(*map(figure_json, correlate(*ratings)))
        for correlate in (correlate_ranks, correlate_orders)
    )
    compared = ("rating", "low", "high", "rank")
    models = [
        Ranked(name, *(getattr(board[name], key) for board in (one, two) for key in compared))
        for name in rated
    ]
    return Rejudged(
        judge=judge,
        model=mine[0].model if mine else None,
        judgings=len(mine),
        failed=ended["failed"],
        abstained=ended["abstain"],
        battles=len(shared),
        undecided=len(anew) - len(shared),
        agreement=figure_of(found.share),
        kappa=figure_of(found.kappa),
        without_ties=Figures(figure_of(without.share), figure_of(without.kappa)),
        longer_answer=figure_of(by_length),
        confusion=Confusion(WORDS, confusion_of(shared)),
        boards=RejudgedBoards(spearman, kendall, models),
    )


def verdicts_anew(run: RunReader, trials: Sequence[Trial]) -> list[Both]:
    """Return the battles that count with what one judge makes of each, settled as the run does."""
    said: defaultdict[str, list[Judging]] = defaultdict(list)
    for trial in trials:
        said[trial.battle or ""].append(trial.judging)
    # Only under --swap all do both seatings decide; else the second one was for the audit alone.
    audit_only = run.manifest.get("swap") != "all"
    found = []
    for battle in run.battles:
        if judgings := sorted(said.get(battle.id, ()), key=lambda j: j.seats):
            verdict, reason = settle_verdict(judgings, audit_only=audit_only)
            changed = {"verdict": verdict, "reason": reason, "verdicts": tuple(judgings)}
            # A whole record, so that all that rates battles takes it.
            found.append(Both(battle, battle.model_copy(update=changed)))
    return found


def word_of(battle: Battle) -> str:
    """Return "a", "b" or "tie" of a decided battle."""
    return "tie" if battle.verdict in TIES else battle.verdict


def agreement_of(both: Sequence[Both]) -> RaterAgreement:
    """Return how far two verdicts on each battle agree, with videos as clusters."""
    run, other = (
        np.array([WORDS.index(word_of(pair[k])) for pair in both], dtype=np.int64) for k in (0, 1)
    )
    return agree(run, other, number_names([pair.battle.video for pair in both]))


def confusion_of(both: Sequence[Both]) -> list[list[int]]:
    """Return counts, shape (3, 3): the run's word down, the other judge's across."""
    table = np.zeros((len(WORDS), len(WORDS)), dtype=np.int64)
    for pair in both:
        table[WORDS.index(word_of(pair.battle)), WORDS.index(word_of(pair.other))] += 1
    return [[int(count) for count in row] for row in table]
