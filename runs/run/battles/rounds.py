"""The rounds of a run side by side: how hard they were, who did well, what went wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import mean
from types import MappingProxyType

from pydantic import ConfigDict

from videoautoarena.memory.records.records import (
    DECIDED,
    DIFFICULTY_SCALES,
    TIES,
    Battle,
    DifficultyScale,
    Evolution,
    PublishedRecord,
    Record,
)
from videoautoarena.runs.run.rundir.reader import RunReader
from videoautoarena.runs.run.rundir.weaknesses import read_looks

Themes = Mapping[str, str]
"""A recorded weakness to its theme; a weakness that is left out is a theme of its own."""
NO_THEMES: Themes = MappingProxyType({})
NO_ORIGIN = "none"
"""The origin of battles that never had a question."""


class Difficulty(Record):
    """How hard the questions of a round are, by the grader's overall grade."""

    values: tuple[float, ...]
    """Grades of its evolved questions, in the order of their battles."""
    mean: float | None


class Gate(Record):
    """What became of attempts to make a harder question."""

    passed: int
    refused: int


class Points(Record):
    """What a model took of its decided battles, a tie being half a point."""

    share: float
    n: int


class RunRound(PublishedRecord):
    """One round of a run, of the battles that count."""

    model_config = ConfigDict(title="Round")

    round: int
    """Number of the round, from 0."""
    battles: int
    """Number of its battles."""
    difficulty: Difficulty
    """Overall grades of its evolved questions: `values` in the order of their battles, and their
    `mean` or null."""
    before: tuple[float, ...]
    """Overall grade of the question before, of each attempt that passed."""
    standards: dict[DifficultyScale, float] | None
    """Mean [grade](#a-grade) by standard of the proposals that passed; null if none did."""
    origin: dict[str, int]
    """Origin of the question to number of battles; `none`: without a question."""
    gate: Gate
    """Attempts at a harder question that `passed`, and that were `refused`."""
    verdicts: dict[str, int]
    """Verdict to number."""
    points: dict[str, Points]
    """Model to `share` of the points of its `n` decided battles, a tie half a point."""
    themes: dict[str, int]
    """Theme of recorded weaknesses to the number of battles looked at that showed it in either
    answer, grouped by words as in [a profile](#profiles)."""
    looked_at: int
    """Battles in whose answers faults were looked for, to make these questions."""


@dataclass
class _Sum:
    """Sums over the battles of one round, without their texts."""

    battles: int = 0
    graded: list[float] = field(default_factory=list)
    passed: list[Evolution] = field(default_factory=list)
    refused: int = 0
    origins: Counter[str] = field(default_factory=Counter)
    verdicts: Counter[str] = field(default_factory=Counter)
    points: dict[str, list[float]] = field(default_factory=dict)
    shown: set[tuple[str, str]] = field(default_factory=set)
    """Pairs of battle and theme."""
    looked_at: set[str] = field(default_factory=set)

    def add(self, battle: Battle, themes: Themes) -> None:
        self.battles += 1
        self.origins[battle.origin or NO_ORIGIN] += 1
        self.verdicts[battle.verdict] += 1
        if battle.difficulty is not None:
            self.graded.append(battle.difficulty)
        for attempt in battle.evolution:
            self._look(attempt, themes)
        if battle.verdict in DECIDED:
            for seat, model in (("a", battle.model_a), ("b", battle.model_b)):
                won = 0.5 if battle.verdict in TIES else float(battle.verdict == seat)
                self.points.setdefault(model or "?", []).append(won)

    def _look(self, attempt: Evolution, themes: Themes) -> None:
        if attempt.accepted:
            self.passed.append(attempt)
        self.refused += not attempt.accepted
        self.looked_at.add(attempt.battle)
        for weakness in (*attempt.weaknesses_a, *attempt.weaknesses_b):
            # A set: a battle that was looked at twice, or shows a theme in both answers, counts
            # once.
            self.shown.add((attempt.battle, themes.get(weakness, weakness)))

    def round(self, number: int) -> RunRound:
        return RunRound(
            round=number,
            battles=self.battles,
            difficulty=Difficulty(values=tuple(self.graded), mean=_mean(self.graded)),
            before=tuple(attempt.old.overall for attempt in self.passed),
            standards=_standards(self.passed),
            origin=_counts(self.origins),
            gate=Gate(passed=len(self.passed), refused=self.refused),
            verdicts=_counts(self.verdicts),
            points={
                model: Points(share=round(mean(won), 6), n=len(won))
                for model, won in sorted(self.points.items())
            },
            themes=_counts(Counter(theme for _, theme in self.shown)),
            looked_at=len(self.looked_at),
        )


def rounds_in(run: RunReader) -> list[RunRound]:
    """Return the rounds of a run; their themes are those of its models' profiles."""
    return rounds_of(run.battles, themes=read_looks(run.battles).theme_of)


def rounds_of(battles: Iterable[Battle], *, themes: Themes = NO_THEMES) -> list[RunRound]:
    """Return the rounds of battles that count, the first round first; `battles` is read once."""
    sums: dict[int, _Sum] = {}
    for battle in battles:
        sums.setdefault(battle.round, _Sum()).add(battle, themes)
    return [sums[number].round(number) for number in sorted(sums)]


def _standards(passed: Sequence[Evolution]) -> dict[DifficultyScale, float] | None:
    if not passed:
        return None
    return {
        name: round(mean(getattr(one.new, name) for one in passed), 6) for name in DIFFICULTY_SCALES
    }


def _mean(values: Sequence[float]) -> float | None:
    return round(mean(values), 6) if values else None


def _counts(found: Counter[str]) -> dict[str, int]:
    """Return counts, the most frequent first, and equal ones by name."""
    return dict(sorted(found.items(), key=lambda one: (-one[1], one[0])))
