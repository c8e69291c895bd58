"""Which of two models is better on tasks, and how sure that is: item by item."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, Protocol

from videoautoarena.memory.records.errors import BadInput, WrongArgument
from videoautoarena.memory.records.records import Published, Record
from videoautoarena.runs.bench.format.points import videos_of
from videoautoarena.runs.bench.format.reader import OpenBench
from videoautoarena.runs.bench.format.results import TaskResult
from videoautoarena.runs.bench.format.schema import TaskItem
from videoautoarena.runs.bench.score.compare import SURE, TOO_FEW
from videoautoarena.runs.bench.score.task_points import (
    Figure,
    lead_figure,
    points_of,
    weights_of,
)
from videoautoarena.runs.bench.score.task_score import wanted_results
from videoautoarena.runs.rundir.reader import counted
from videoautoarena.runs.text.battle_table import quoted
from videoautoarena.runs.text.terminal import safe
from videoautoarena.runs.text.words import in_full
from videoautoarena.scoring.ratings.differences import measure_lead

Kind = Literal["choice", "generation"]
AVERAGES: Mapping[Kind, tuple[str, str, float, float]] = {
    "choice": ("M-Avg", "points", 100.0, 1.0),
    "generation": ("G-Avg", "of 10", 1.0, 10.0),
}
"""Name, unit, what one is printed as, and the most of one item."""


class Gap(Record):
    """How far the first model lies above the second on items of one kind that both answered."""

    split: str | None
    kind: Kind
    a: float
    b: float
    """The average of each, over the same items."""
    difference: Figure
    better: float | None
    """The chance that the first is the better one."""
    items: dict[str, int]
    """On how many items which of them is higher."""
    videos: int


class TaskComparison(Published):
    """How two models fared on tasks that count for both."""

    bench: str
    models: tuple[str, str]
    gaps: tuple[Gap, ...]
    """One a part of the set and kind of task."""
    left_out: int
    """Items that do not count for both."""

    def as_lines(self) -> list[str]:
        """Return it as lines for a person, safe to print."""
        lines = [line for gap in self.gaps for line in _lines(gap, self.models)]
        if self.left_out:
            lines.append(
                f"note: {counted(self.left_out, 'item')} left out, since they do not count for both"
            )
        return lines


def compare_tasks(
    bench: OpenBench[TaskItem], a: str, b: str, *, judge: str | None = None
) -> TaskComparison:
    """Return how two models fared on a set of tasks, or BadInput; free text by one judge."""
    results = wanted_results(bench, judge)
    names = [one.model for one in results]
    a, b = in_full(a, names), in_full(b, names)
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
    _, _, unit, most = AVERAGES[kind]
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


def _lines(gap: Gap, models: tuple[str, str]) -> Iterator[str]:
    name, unit, _, _ = AVERAGES[gap.kind]
    first, second = map(safe, models)
    part = f"{safe(gap.split)}, " if gap.split else ""
    digits = 1 if gap.kind == "choice" else 2
    yield f"{part}{name}: {first} {gap.a:.{digits}f}, {second} {gap.b:.{digits}f}"
    yield (
        f"items: {first} higher on {gap.items['a_higher']}, level on {gap.items['level']}, "
        f"{second} higher on {gap.items['b_higher']}"
    )
    yield sentence(gap, (first, second), unit=unit, digits=digits)
    if gap.videos < TOO_FEW:
        yield f"note: only {counted(gap.videos, 'video')}: too few to generalise"


class Held(Protocol):
    """One model held against another."""

    @property
    def difference(self) -> Figure:
        """How far the first lies above the second."""

    @property
    def better(self) -> float | None:
        """The chance that the first is the better one."""

    @property
    def videos(self) -> int:
        """Over how many videos."""


def sentence(gap: Held, names: tuple[str, str], *, unit: str, digits: int, of: str = "item") -> str:
    """Return who is better in one sentence; `names` are safe to print."""
    found = gap.difference
    on = f"over {counted(found.n, of)} about {counted(gap.videos, 'video')}"
    if gap.better is None or found.value is None or found.low is None or found.high is None:
        return f"One video is not enough to separate {names[0]} and {names[1]}."
    if found.value == 0:
        return f"{names[0]} and {names[1]} have the same score {on}."
    turned = found.value < 0
    ahead, behind = (names[1], names[0]) if turned else names
    low, high = (-found.high, -found.low) if turned else (found.low, found.high)
    chance = max(gap.better, 1.0 - gap.better)
    by = (
        f"{abs(found.value):.{digits}f} {unit} ({low:.{digits}f} to {high:.{digits}f} at 95 %) {on}"
    )
    sure = "over 99.9 %" if chance > 0.9995 else f"{100 * chance:.1f} %"
    if chance > SURE:
        return f"{ahead} is better than {behind}, by {by}; P(better) {sure}."
    return f"{ahead} is ahead of {behind} by {by}, not significantly: P(better) {sure}."
