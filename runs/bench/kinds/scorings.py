"""What plays, scores, compares and checks a frozen set, by its kind.

`arena bench` asks `scoring_of` and nothing else, so that a new kind is a new entry of `SCORINGS`,
and the shape of its items in `ITEMS` of `runs.bench.format.schema`. What an entry needs is imported
when it is asked for: scores are printed without what plays.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from videoautoarena.runs.bench.format.reader import OpenBench
    from videoautoarena.runs.bench.format.schema import Kind
    from videoautoarena.runs.bench.play.plan import BenchPlan
    from videoautoarena.runs.bench.play.runner import Asked, OnSettled, Ran
    from videoautoarena.runs.bench.score.anchor_score import Scores, WantedScores
    from videoautoarena.runs.bench.score.compare import Comparison
    from videoautoarena.runs.bench.score.validity import Validity
    from videoautoarena.runs.console.events import Listeners


class Preference:
    """How questions are played and scored that have an answer that won and one that lost."""

    exports = ("videoautobench", "inspect", "arena-hard")
    """Formats of others that they can be written in."""

    async def plan(self, bench: OpenBench, asked: Asked) -> BenchPlan:
        """Return what it would take to play one; nobody is called, and nothing is written."""
        from videoautoarena.runs.bench.play.rules import PreferenceRules
        from videoautoarena.runs.bench.play.runner import plan_bench

        return await plan_bench(bench, asked, rules=PreferenceRules())

    async def run(
        self, bench: OpenBench, asked: Asked, *, listeners: Listeners, on_settled: OnSettled
    ) -> Ran:
        """Play one, or what of it is not played yet, and write the results when all of it is."""
        from videoautoarena.runs.bench.play.rules import PreferenceRules
        from videoautoarena.runs.bench.play.runner import run_bench

        rules = PreferenceRules()
        return await run_bench(
            bench, asked, rules=rules, listeners=listeners, on_settled=on_settled
        )

    def score(self, bench: OpenBench, wanted: WantedScores) -> Scores:
        """Return the scores of all results on one, against the references and each anchor."""
        from videoautoarena.runs.bench.score.anchor_score import score_bench

        return score_bench(bench, wanted)

    def played(self, bench: OpenBench, ran: Ran) -> Scores:
        """Return the scores of what was just played, whether it was written or not."""
        from videoautoarena.runs.bench.score.anchor_score import score_results

        return score_results(bench, ran.results)

    def compare(
        self, bench: OpenBench, a: str, b: str, *, judge: str | None, anchor: str | None
    ) -> Comparison:
        """Return which of two models is better on one."""
        from videoautoarena.runs.bench.score.compare import compare

        return compare(bench, a, b, judge=judge, anchor=anchor)

    def check(self, bench: OpenBench, *, run: Path | None, judge: str | None) -> Validity:
        """Return whether one measures what it should."""
        from videoautoarena.runs.bench.score.validity import check

        return check(bench, run=run, judge=judge)


SCORINGS: dict[Kind, Preference] = {"preference": Preference()}


def scoring_of(bench: OpenBench) -> Preference:
    """Return how a bench is played and scored; only what has an entry can be opened."""
    return SCORINGS[bench.manifest.kind]
