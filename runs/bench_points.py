"""What rulings are worth, question by question: the rule of VideoAutoBench."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from memory.errors import BadInput
from runs.benches import OpenBench
from runs.names import in_full
from runs.rate_columns import quoted
from runs.results import Against, Result
from scoring.cells import Ints

WORTH: dict[Against, dict[str, float]] = {
    "selected": {"win": 1.0, "tie": 0.5, "loss": 0.0},
    "rejected": {"win": 1.0, "tie": 0.0, "loss": 0.0},
}
"""To tie with the answer that lost is no better than to lose to it."""


class Points(NamedTuple):
    """Of one question, 0 to 1."""

    selected: float
    rejected: float

    @property
    def average(self) -> float:
        """What counts."""
        return (self.selected + self.rejected) / 2.0


def points_of(result: Result) -> dict[str, Points]:
    """Return the points of a model by qid, where both references have a ruling.

    Where a reference was judged from both seats its points are the mean of both.
    """
    found = defaultdict[str, dict[Against, list[float]]](lambda: {"selected": [], "rejected": []})
    for ruling in result.rulings:
        worth = WORTH[ruling.against].get(ruling.verdict)
        if worth is not None:
            found[ruling.qid][ruling.against].append(worth)
    return {
        qid: Points(*(sum(given[k]) / len(given[k]) for k in ("selected", "rejected")))
        for qid, given in found.items()
        if all(given.values())
    }


def videos_of(bench: OpenBench, qids: Sequence[str]) -> Ints:
    """Return for each question a number that stands for its video."""
    video = {item.qid: item.video_id for item in bench.items}
    places = {name: k for k, name in enumerate(dict.fromkeys(video[qid] for qid in qids))}
    return np.array([places[video[qid]] for qid in qids], dtype=np.int64)


def judge_of(bench: OpenBench, results: Sequence[Result], judge: str | None) -> str:
    """Return by whom results are looked at: the one who was named, else the only one.

    Raises:
        BadInput: no result, none by that judge, or several judges and none named.
    """
    judges = list(dict.fromkeys(result.judge for result in results))
    if not judges:
        raise BadInput(f"{bench.folder} has no results; make some with arena bench run")
    if judge is None and len(judges) == 1:
        return judges[0]
    there = ", ".join(map(quoted, judges))
    if judge is None:
        raise BadInput(f"several judges ruled on {bench.folder}: {there}; pick one with --judge")
    if (named := in_full(judge, judges)) not in judges:
        raise BadInput(f"{quoted(judge)} ruled nothing on {bench.folder}; there is {there}")
    return named
