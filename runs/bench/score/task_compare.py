"""Which of two models is better on tasks, and how sure that is: item by item."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal

from videoautoarena.memory.records.errors import BadInput, WrongArgument
from videoautoarena.memory.records.records import Published, Record
from videoautoarena.runs.bench.format.points import videos_of
from videoautoarena.runs.bench.format.reader import OpenBench
from videoautoarena.runs.bench.format.results import TaskResult
from videoautoarena.runs.bench.format.schema import TaskItem
from videoautoarena.runs.bench.score.task_points import (
    Figure,
    lead_figure,
    points_of,
    weights_of,
)
from videoautoarena.runs.bench.score.task_score import wanted_results
from videoautoarena.runs.formats.battle_table import quoted
from videoautoarena.runs.formats.words import in_full
from videoautoarena.scoring.ratings.differences import measure_lead

Kind = Literal["choice", "generation"]
UNITS: Mapping[Kind, tuple[float, float]] = {"choice": (100.0, 1.0), "generation": (1.0, 10.0)}
"""What an average is printed as, and the most of one item."""


class Gap(Record):
    """How far the first model lies above the second on items of one kind that both answered."""

    split: str | None
    """The part of the set."""
    kind: Kind
    """`choice` or `generation`."""
    a: float
    """Average of the first, over tasks."""
    b: float
    """Of the second."""
    difference: Figure
    """`value`, `low` and `high` (95 %, paired by item, clustered by video) on `n` items."""
    better: float | None
    """The chance that the first is the better one."""
    items: dict[str, int]
    """On how many which is higher: `a_higher`, `level`, `b_higher`."""
    videos: int
    """Videos that they are about."""


class TaskComparison(Published):
    """How two models fared on tasks that count for both."""

    bench: str
    """Its digest."""
    models: tuple[str, str]
    """The first, then the second."""
    gaps: tuple[Gap, ...]
    """One a part of the set and kind of task."""
    left_out: int
    """Items that do not count for both."""


def compare_tasks(
    bench: OpenBench[TaskItem], a: str, b: str, *, judge: str | None = None
) -> TaskComparison:
    """Return how two models fared on a set of tasks, or BadInput; free text by one judge."""
    results = wanted_results(bench, judge)
    names = [one.model for one in results]
    a = in_full(a, names)
    b = in_full(b, names)
    if a == b:
        raise WrongArgument(f"{quoted(a)} is compared with itself; name two models")
    points = [points_of(bench.items, _pick(bench, results, name)) for name in (a, b)]
    both = [item for item in bench.items if all(item.qid in one for one in points)]
    if not both:
        raise BadInput(f"{quoted(a)} and {quoted(b)} share no scored item on {bench.folder}")
    parts = dict.fromkeys((item.split, item.is_choice) for item in both)
    gaps = tuple(
        _gap([item for item in both if (item.split, item.is_choice) == part], points)
        for part in parts
    )
    return TaskComparison(
        bench=bench.bench, models=(a, b), gaps=gaps, left_out=len(bench.items) - len(both)
    )


def _pick(bench: OpenBench[TaskItem], results: Sequence[TaskResult], name: str) -> TaskResult:
    mine = [one for one in results if one.model == name]
    if not mine:
        there = ", ".join(map(quoted, dict.fromkeys(one.model for one in results)))
        raise BadInput(f"{quoted(name)} has no result on {bench.folder}; there is {there}")
    if len(mine) > 1:
        judges = ", ".join(quoted(one.judge or "nobody") for one in mine)
        raise BadInput(f"{quoted(name)} was marked by {judges}; pick one with --judge")
    return mine[0]


def _gap(items: Sequence[TaskItem], points: Sequence[Mapping[str, float]]) -> Gap:
    kind: Kind = "choice" if items[0].is_choice else "generation"
    unit, most = UNITS[kind]
    weights = weights_of([item.task for item in items])
    one, other = (
        [w * mine[item.qid] / most for item, w in zip(items, weights.each, strict=True)]
        for mine in points
    )
    asked = {item.qid: item for item in items}
    scale = unit * most * weights.scale
    lead = measure_lead(one, other, videos_of(asked, asked))
    signs = Counter((x > y) - (x < y) for x, y in zip(one, other, strict=True))
    return Gap(
        split=items[0].split,
        kind=kind,
        a=round(scale * sum(one) / len(one), 4),
        b=round(scale * sum(other) / len(other), 4),
        difference=lead_figure(lead, scale, most=unit * most),
        better=None if math.isnan(lead.better) else round(lead.better, 6),
        items={"a_higher": signs[1], "level": signs[0], "b_higher": signs[-1]},
        videos=len({item.cluster for item in items}),
    )
