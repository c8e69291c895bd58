"""What plays, scores, compares and checks a frozen set, by its kind.

`arena bench` asks `scoring_of` and nothing else, so that a new kind is a new entry of `SCORINGS`,
and the shape of its items in `ITEMS` of `runs.bench.format.schema`. What an entry needs is imported
when it is asked for: scores are printed without what plays.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from videoautoarena.runs.bench.format.reader import OpenBench
    from videoautoarena.runs.bench.format.schema import Kind
    from videoautoarena.runs.bench.play.plan import BenchPlan
    from videoautoarena.runs.bench.play.runner import Asked, OnSettled, Ran
    from videoautoarena.runs.bench.score.anchor_score import Scores, WantedScores
    from videoautoarena.runs.bench.score.compare import Comparison
    from videoautoarena.runs.bench.score.validity import Validity
    from videoautoarena.runs.console.events import Listeners


class Scoring(ABC):
    """How sets of one kind are played, scored, compared, checked and exported."""

    exports: ClassVar[tuple[str, ...]]
    """Formats of others that they can be written in."""

    @abstractmethod
    async def plan(self, bench: OpenBench, asked: Asked) -> BenchPlan:
        """Return what it would take to play one; nobody is called, and nothing is written."""

    @abstractmethod
    async def run(
        self, bench: OpenBench, asked: Asked, *, listeners: Listeners, on_settled: OnSettled
    ) -> Ran:
        """Play one, or what of it is not played yet, and write the results when all of it is."""

    @abstractmethod
    def score(self, bench: OpenBench, wanted: WantedScores) -> Scores:
        """Return the scores of all results on one."""

    @abstractmethod
    def played(self, bench: OpenBench, ran: Ran) -> Scores:
        """Return the scores of what was just played, whether it was written or not."""

    @abstractmethod
    def compare(
        self, bench: OpenBench, a: str, b: str, *, judge: str | None, anchor: str | None
    ) -> Comparison:
        """Return which of two models is better on one."""

    @abstractmethod
    def check(self, bench: OpenBench, *, run: Path | None, judge: str | None) -> Validity:
        """Return whether one measures what it should."""


class Preference(Scoring):
    """Questions with an answer that won and one that lost: against both, or against an anchor."""

    exports = ("videoautobench", "inspect", "arena-hard")

    async def plan(self, bench: OpenBench, asked: Asked) -> BenchPlan:
        from videoautoarena.runs.bench.play.runner import plan_bench

        return await plan_bench(bench, asked)

    async def run(
        self, bench: OpenBench, asked: Asked, *, listeners: Listeners, on_settled: OnSettled
    ) -> Ran:
        from videoautoarena.runs.bench.play.runner import run_bench

        return await run_bench(bench, asked, listeners=listeners, on_settled=on_settled)

    def score(self, bench: OpenBench, wanted: WantedScores) -> Scores:
        from videoautoarena.runs.bench.score.anchor_score import score_bench

        return score_bench(bench, wanted)

    def played(self, bench: OpenBench, ran: Ran) -> Scores:
        from videoautoarena.runs.bench.score.anchor_score import score_results

        return score_results(bench, ran.results)

    def compare(
        self, bench: OpenBench, a: str, b: str, *, judge: str | None, anchor: str | None
    ) -> Comparison:
        from videoautoarena.runs.bench.score.compare import compare

        return compare(bench, a, b, judge=judge, anchor=anchor)

    def check(self, bench: OpenBench, *, run: Path | None, judge: str | None) -> Validity:
        from videoautoarena.runs.bench.score.validity import check

        return check(bench, run=run, judge=judge)


SCORINGS: dict[Kind, Scoring] = {"preference": Preference()}


def scoring_of(bench: OpenBench) -> Scoring:
    """Return how a bench is played and scored; only what has an entry can be opened."""
    return SCORINGS[bench.manifest.kind]
