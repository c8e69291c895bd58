"""What plays, scores, compares and checks a frozen set, by its kind.

`arena bench` asks `scoring_of` and nothing else, so that a new kind is a new entry of `SCORINGS`,
and the shape of its items in `ITEMS` of `runs.bench.format.schema`. What an entry needs is imported
when it is asked for: scores are printed without what plays.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.remedies import option, step
from videoautoarena.runs.formats.battle_table import quoted

if TYPE_CHECKING:
    from videoautoarena.runs.analysis.leaderboard.agreement import GivenBoard
    from videoautoarena.runs.bench.format.reader import OpenBench
    from videoautoarena.runs.bench.format.schema import Kind
    from videoautoarena.runs.bench.play.plan import BenchPlan
    from videoautoarena.runs.bench.play.rules import Rules
    from videoautoarena.runs.bench.play.runner import BenchOrder, Ran
    from videoautoarena.runs.bench.score.anchor_score import WantedScores
    from videoautoarena.runs.jobs.paid_job import JobAudience


class PrintedReport(Protocol):
    """What a command prints as JSON."""

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON-ready values."""


class SetScoring(ABC):
    """How sets of one kind are played and scored."""

    unchecked = "holds tasks", "bench probe", "says what they give away"
    """What a set of a kind is that `check` is not for, the command to use instead, and for what."""

    async def plan(self, bench: OpenBench[Any], asked: BenchOrder) -> BenchPlan:
        """Return what it would take to play one; nobody is called, and nothing is written."""
        from videoautoarena.runs.bench.play.runner import plan_bench

        return await plan_bench(bench, asked, rules=self.rules())

    async def run(self, bench: OpenBench[Any], asked: BenchOrder, audience: JobAudience) -> Ran:
        """Play one, or what of it is not played yet, and write the results when all of it is."""
        from videoautoarena.runs.bench.play.runner import run_bench

        return await run_bench(bench, asked, rules=self.rules(), audience=audience)

    @abstractmethod
    def rules(self) -> Rules:
        """Return how one is played."""

    @abstractmethod
    def score(self, bench: OpenBench[Any], wanted: WantedScores) -> PrintedReport:
        """Return the scores of all results on one."""

    @abstractmethod
    def played(self, bench: OpenBench[Any], ran: Ran) -> PrintedReport:
        """Return the scores of what was just played, whether it was written or not."""

    @abstractmethod
    def rated(self, bench: OpenBench[Any]) -> list[dict[str, Any]]:
        """Return `model`, `score`, `low` and `high` of each model, by one judge; or BadInput."""

    @abstractmethod
    def compare(
        self, bench: OpenBench[Any], a: str, b: str, *, judge: str | None, anchor: str | None
    ) -> PrintedReport:
        """Return which of two models is better on one."""

    def check(
        self,
        bench: OpenBench[Any],
        *,
        run: Path | None,  # noqa: ARG002 - of the kinds that can be checked
        judge: str | None,  # noqa: ARG002
    ) -> PrintedReport:
        """Return whether one measures what it should; BadInput of a kind that has its own way."""
        holds, command, instead = self.unchecked
        raise BadInput(f"{bench.folder} {holds}; {step(command)} {instead}")


class PreferenceSets(SetScoring):
    """How questions with an answer that won and one that lost are played and scored."""

    def rules(self) -> Rules:
        """Return that answers are held against both references, or an anchor."""
        from videoautoarena.runs.bench.play.rules import PreferenceRules

        return PreferenceRules()

    def score(self, bench: OpenBench[Any], wanted: WantedScores) -> PrintedReport:
        """Return the scores of all results on one, against the references and each anchor."""
        from videoautoarena.runs.bench.score.anchor_score import score_bench

        if wanted.as_published:
            raise BadInput(
                "preferences are scored as published anyway; leave "
                f"{option('as_published', True)} out"
            )
        return score_bench(bench, wanted)

    def played(self, bench: OpenBench[Any], ran: Ran) -> PrintedReport:
        """Return the scores of what was just played; those of an anchor alone as its board."""
        from videoautoarena.runs.bench.score.anchor_score import score_results

        return score_results(bench, ran.results)

    def rated(self, bench: OpenBench[Any]) -> list[dict[str, Any]]:
        """Return the averages against both references."""
        from videoautoarena.runs.bench.score.score import build_scores, results_by

        results = results_by(bench, None)
        _refuse_several(bench, (one.judge for one in results), "ruled")
        board = build_scores(bench, results)
        names = {"model": "model", "score": "average", "low": "low", "high": "high"}
        return [{name: row[key] for name, key in names.items()} for row in board["models"]]

    def compare(
        self, bench: OpenBench[Any], a: str, b: str, *, judge: str | None, anchor: str | None
    ) -> PrintedReport:
        """Return which of two models is better, against the references or an anchor."""
        from videoautoarena.runs.bench.score.compare import compare

        return compare(bench, a, b, judge=judge, anchor=anchor)

    def check(self, bench: OpenBench[Any], *, run: Path | None, judge: str | None) -> PrintedReport:
        """Return what length and constants score, and whether a run's order is found again."""
        from videoautoarena.runs.bench.score.validity import check

        return check(bench, run=run, judge=judge)


class KeyedSets(SetScoring):
    """How sets whose items say what is right are played and scored."""

    key: str
    """What their items have, as a sentence."""
    parts: str
    """By what they are scored, as a sentence."""

    @abstractmethod
    def scores(self, bench: OpenBench[Any], results: Any = None, **how: Any) -> PrintedReport:
        """Return the scores of results on one, by default of those that lie in its folder."""

    @abstractmethod
    def compared(self, bench: OpenBench[Any], a: str, b: str, judge: str | None) -> PrintedReport:
        """Return which of two models is better, item by item."""

    def score(self, bench: OpenBench[Any], wanted: WantedScores) -> PrintedReport:
        """Return the scores of all results on one, part by part."""
        if wanted.anchor is not None or wanted.way.style:
            raise BadInput(
                f"{self.key}; {option('anchor')} and {option('style', True)} are for preferences"
            )
        if wanted.by is not None or wanted.of != "judged":
            raise BadInput(
                f"{self.parts}, all of them; leave {option('by')} and {option('of')} out"
            )
        return self.scores(
            bench, judge=wanted.judge, as_published=wanted.as_published, margin=wanted.margin
        )

    def played(self, bench: OpenBench[Any], ran: Ran) -> PrintedReport:
        """Return the scores of what was just played."""
        return self.scores(bench, ran.results)

    def compare(
        self, bench: OpenBench[Any], a: str, b: str, *, judge: str | None, anchor: str | None
    ) -> PrintedReport:
        """Return which of two models is better, item by item."""
        if anchor is not None:
            raise BadInput(f"{self.key}; {option('anchor')} is for preferences")
        return self.compared(bench, a, b, judge)


class TaskSets(KeyedSets):
    """How tasks with a right answer are played and scored."""

    key = "tasks have a key"
    parts = "tasks are scored by task"

    def rules(self) -> Rules:
        """Return that an answer is read, or marked by its key."""
        from videoautoarena.runs.bench.play.tasks import TaskRules

        return TaskRules()

    def scores(self, bench: OpenBench[Any], results: Any = None, **how: Any) -> PrintedReport:
        """Return accuracies by task, M-Avg and G-Avg, of each part of the set."""
        from videoautoarena.runs.bench.score.task_score import score_tasks

        return score_tasks(bench, results, **how)

    def compared(self, bench: OpenBench[Any], a: str, b: str, judge: str | None) -> PrintedReport:
        """Return which of two models is better, item by item."""
        from videoautoarena.runs.bench.score.task_score import compare_tasks

        return compare_tasks(bench, a, b, judge=judge)

    def rated(self, bench: OpenBench[Any]) -> list[dict[str, Any]]:
        """Return M-Avg of each model that saw the whole video; of free text alone G-Avg."""
        from videoautoarena.runs.bench.score.task_score import score_tasks

        boards = score_tasks(bench).boards
        if len(boards) > 1:
            parts = ", ".join(quoted(board.split or "") for board in boards)
            raise BadInput(
                f"{bench.folder} has several parts ({parts}), which are never put together"
            )
        # Whoever was shown less than the whole was a probe of the set and is no contestant.
        rows = [row for row in boards[0].models if row.view == "whole"]
        by_choice = {row.model: row.m_avg for row in rows if row.m_avg}
        # Choices are read without a judge; only free text needs the same marker for all.
        if not by_choice:
            _refuse_several(bench, (row.judge or "nobody" for row in rows), "marked")
        # One board has one scale: percent where anything is chosen, else scores of 2 to 10.
        figures = by_choice or {row.model: row.g_avg for row in rows if row.g_avg}
        return [
            {"model": model, "score": one.value, "low": one.low, "high": one.high}
            for model, one in figures.items()
        ]


class DialogueSets(KeyedSets):
    """How dialogues are played and scored."""

    key = "dialogues have checklists"
    parts = "dialogues are scored by ability"
    unchecked = "holds dialogues", "bench score", "shows what constants score"

    def rules(self) -> Rules:
        """Return that each scored round is asked, and its reply held against a checklist."""
        from videoautoarena.runs.bench.dialogues.rules import DialogueRules

        return DialogueRules()

    def scores(self, bench: OpenBench[Any], results: Any = None, **how: Any) -> PrintedReport:
        """Return accuracies by ability and their mean, beside what constants score."""
        from videoautoarena.runs.bench.dialogues.score import score_dialogues

        return score_dialogues(bench, results, **how)

    def compared(self, bench: OpenBench[Any], a: str, b: str, judge: str | None) -> PrintedReport:
        """Return which of two models is better, dialogue by dialogue."""
        from videoautoarena.runs.bench.dialogues.score import compare_dialogues

        return compare_dialogues(bench, a, b, judge=judge)

    def rated(self, bench: OpenBench[Any]) -> list[dict[str, Any]]:
        """Return the mean over abilities of each model that was sent the golden history."""
        from videoautoarena.runs.bench.dialogues.score import score_dialogues

        rows = [row for row in score_dialogues(bench).models if row.history == "golden"]
        _refuse_several(bench, (row.judge for row in rows), "marked")
        return [
            {"model": row.model, "score": one.value, "low": one.low, "high": one.high}
            for row in rows
            if (one := row.overall)
        ]


def _refuse_several(bench: OpenBench[Any], judges: Iterable[str], did: str) -> None:
    """Raise BadInput for scores by several judges, which no one board holds."""
    if len(names := sorted(set(judges))) > 1:
        raise BadInput(
            f"several judges {did} on {bench.folder}: {', '.join(map(quoted, names))}; "
            f"print a score by one of them with arena bench score {option('judge', 'J')} --json"
        )


# One for three kinds: whether an item has options is asked item by item.
_TASKS = TaskSets()
SCORINGS: dict[Kind, SetScoring] = {
    "preference": PreferenceSets(),
    "choice": _TASKS,
    "generation": _TASKS,
    "tasks": _TASKS,
    "dialogue": DialogueSets(),
}


def is_bench(place: Path) -> bool:
    """Return whether a folder is a frozen set, and no run."""
    from videoautoarena.runs.bench.format.schema import MANIFEST

    return (place / MANIFEST).is_file()


def read_any_board(place: Path) -> GivenBoard:
    """Return the board of a run, a file, or the results on a bench; or BadInput."""
    from videoautoarena.runs.analysis.leaderboard.agreement import board_of_rows, read_board
    from videoautoarena.runs.bench.format.reader import open_bench

    if not is_bench(place):
        return read_board(place)
    bench = open_bench(place)
    return board_of_rows(str(place), scoring_of(bench).rated(bench))


def scoring_of(bench: OpenBench[Any]) -> SetScoring:
    """Return how a bench is played and scored; only what has an entry can be opened."""
    return SCORINGS[bench.manifest.kind]
