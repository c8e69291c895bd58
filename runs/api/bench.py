"""Frozen benches as `import videoautoarena` offers them: questions, results and scores."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from videoautoarena.memory.records.errors import WrongArgument
from videoautoarena.runs.api.results import Board, Json, Markup, Records, drawn

if TYPE_CHECKING:
    from videoautoarena.runs.bench.format.reader import OpenBench
    from videoautoarena.runs.bench.format.results import Anchored, Result
    from videoautoarena.runs.bench.format.schema import Item, Manifest
    from videoautoarena.runs.bench.score.anchor_score import Scores as Known

Of = Literal["judged", "decided", "all"]
By = Literal["duration", "category", "topic"]
_LISTED = ("qid", "video_id", "question", "selected_answer", "rejected_answer")


def open_bench(path: str | os.PathLike[str]) -> Bench:
    """Return the frozen bench in a folder; its files are read once, its videos not at all.

    Raises:
        BadInput: there is none, or something in it is not as it was frozen.
    """
    from videoautoarena.runs.bench.format.reader import open_bench as opened

    return Bench(opened(Path(path)))


class Bench:
    """A bench as it was frozen. No method calls a model, and nothing is written."""

    def __init__(self, opened: OpenBench) -> None:
        self._opened = opened

    @property
    def folder(self) -> Path:
        """Where the bench lies."""
        return self._opened.folder

    @property
    def digest(self) -> str:
        """The bench's digest of itself: two with one digest are the same, byte for byte."""
        return self._opened.bench

    @property
    def manifest(self) -> Manifest:
        """What the bench says of itself (source, videos, counts, files), as a frozen record."""
        return self._opened.manifest

    @property
    def items(self) -> Records[Item]:
        """The questions, each with the answer that won and the one that lost, as frozen records."""
        return Records(self._opened.items, "questions", shown=_LISTED)

    @property
    def results(self) -> list[Result | Anchored]:
        """What models came to on it by now: rulings against the two references and an anchor.

        Raises:
            BadInput: a file that is no result, or one on another bench.
        """
        from videoautoarena.runs.bench.format.results import read_anchored, read_results

        return [*read_results(self._opened), *read_anchored(self._opened)]

    def score(
        self,
        *,
        of: Of = "judged",
        by: By | None = None,
        judge: str | None = None,
        anchor: str | None = None,
    ) -> Scores:
        """Return the scores of all models that were judged on it, as `arena bench score` does.

        Args:
            of: the questions that are the whole: those `judged`, those `decided` against both
                references, or `all` of the bench.
            by: a trait of the questions, for the scores of each part as well.
            judge: only what this judge said.
            anchor: only what was held against this model's answers.

        Raises:
            BadInput: nothing was judged, or not by this judge or against this anchor.
        """
        from videoautoarena.runs.bench.kinds.scorings import scoring_of
        from videoautoarena.runs.bench.score.anchor_score import WantedScores

        _refuse("of", of, ("judged", "decided", "all"))
        _refuse("by", by, ("duration", "category", "topic", None))
        wanted = WantedScores(of=of, by=by, judge=judge, anchor=anchor)
        return Scores(scoring_of(self._opened).score(self._opened, wanted))

    def __len__(self) -> int:
        return len(self._opened.items)

    def __repr__(self) -> str:
        return f"<Bench of {len(self)} questions in {str(self.folder)!r}>"


def _refuse(name: str, value: object, allowed: Sequence[object]) -> None:
    if value not in allowed:
        there = ", ".join(str(one) for one in allowed if one is not None)
        raise WrongArgument(f"{name} cannot be {value!r}; there are {there}")


class Scores(Board):
    """The scores of models on a bench, best first, in percent with 95 % intervals.

    A row holds `model`, `judge`, `vs_selected`, `vs_rejected`, their `average` with its bounds
    `low` and `high`, and the number `n` of questions behind them. What was held against an anchor
    stands in `anchored`: a board a judge and anchor.
    """

    _found: Known

    @property
    def anchored(self) -> list[Json]:
        """The boards of what was held against anchors, as JSON-ready values."""
        return list(self.to_json().get("anchored", []))

    @property
    def rows(self) -> list[Json]:
        """A row a model and judge; where all was held against an anchor, a row of those boards."""
        if self._json["models"]:
            return list(self.to_json()["models"])
        return [
            {"anchor": board["anchor"], "judge": board["judge"], **row}
            for board in self.anchored
            for row in board["models"]
        ]

    def to_text(self) -> str:
        from videoautoarena.runs.bench.score.anchor_text import render_each

        return drawn(*render_each(self._found))

    def to_markup(self, form: Markup) -> str:
        """Return it for pasting: `markdown`, `latex`, `html` or `csv`; every cell is harmless.

        As CSV it is one table: that of the references where there are any.
        """
        from videoautoarena.runs.bench.score.anchor_text import pasted_anchored
        from videoautoarena.runs.bench.score.score_text import pasted_scores

        board, anchored = self._found.board, self._found.anchored
        parts = [pasted_scores(board, form)] if board["models"] else []
        if anchored and (form != "csv" or not parts):
            parts.append(pasted_anchored(anchored, form))
        return "\n\n".join(parts)
