"""What longer films cost a model: accuracy by length of the same items, and its fall from there.

The items of a ladder differ in their length alone, so each is held against itself at the shortest;
and since the rungs of one item stand on one ground, their cluster is one and the same.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from videoautoarena.memory.records.records import Record
from videoautoarena.runs.bench.format.points import videos_of
from videoautoarena.runs.bench.format.results import TaskResult
from videoautoarena.runs.bench.format.schema import TaskItem
from videoautoarena.runs.bench.score.task_points import Figure, figure_of, points_of
from videoautoarena.runs.rundir.reader import counted
from videoautoarena.runs.text.terminal import safe
from videoautoarena.scoring.ratings.differences import measure_lead
from videoautoarena.scoring.tasks.averages import measure_accuracy

Rungs = Mapping[int, TaskItem]
"""The items of one ladder, by their seconds of ground."""


class Rung(Record):
    """What a model came to at one length, over the items that it was asked at all of them."""

    seconds: int
    """Of ground."""
    accuracy: Figure
    """In percent, over items."""
    change: Figure
    """How far that lies above the shortest, in points, paired by item; 0 of the shortest."""


class Ladder(Record):
    """What a model loses with length."""

    model: str
    task: str | None
    """None of all of them together."""
    items: int
    """Each counted once."""
    clusters: int
    """First videos of their grounds: what intervals know."""
    rungs: tuple[Rung, ...]
    """The shortest first."""

    def as_line(self) -> str:
        """Return it as a sentence that is safe to print."""
        first, *others = self.rungs
        said = [f"{_length(first)} {first.accuracy.value:.1f} %"]
        for rung in others:
            low, high = (_signed(x) for x in (rung.change.low, rung.change.high))
            said.append(
                f"{_length(rung)} {rung.accuracy.value:.1f} % "
                f"({_signed(rung.change.value)}, {low} to {high})"
            )
        of = counted(self.items, "item")
        return f"{safe(self.model)}, the same {of} at each length: {', '.join(said)}."


def ladders_of(items: Sequence[TaskItem], results: Sequence[TaskResult]) -> Iterator[Ladder]:
    """Yield what each model loses on the ladders of a set: of all tasks, then of each of several.

    A model that free text of was marked by several judges chose its options once.
    """
    ladders = _ladders(items)
    for model, result in {one.model: one for one in results}.items():
        points = points_of(items, result)
        whole = [one for one in ladders if all(item.qid in points for item in one.values())]
        tasks = sorted({_task(one) for one in whole})
        for task in (None, *(tasks if len(tasks) > 1 else ())):
            mine = [one for one in whole if task in (None, _task(one))]
            if mine:
                yield _ladder(model, task, mine, points)


def _ladders(items: Sequence[TaskItem]) -> list[Rungs]:
    """Return the ladders that have every length of the set, each as its items by length."""
    found = defaultdict[str, dict[int, TaskItem]](dict)
    for item in items:
        if item.is_choice and item.ladder and item.background_s is not None:
            found[item.ladder][item.background_s] = item
    lengths = sorted({seconds for one in found.values() for seconds in one})
    whole = [one for one in found.values() if len(one) == len(lengths) > 1]
    return [{seconds: one[seconds] for seconds in lengths} for one in whole]


def _task(rungs: Rungs) -> str:
    return next(iter(rungs.values())).task


def _ladder(
    model: str, task: str | None, ladders: Sequence[Rungs], points: Mapping[str, float]
) -> Ladder:
    lengths = list(ladders[0])
    firsts = {one[lengths[0]].qid: one[lengths[0]] for one in ladders}
    clusters = videos_of(firsts, firsts)
    rows = {seconds: [points[one[seconds].qid] for one in ladders] for seconds in lengths}
    rungs = []
    for seconds in lengths:
        accuracy = figure_of(measure_accuracy(rows[seconds], clusters), 100.0)
        change = Figure(value=0.0, low=0.0, high=0.0, n=len(ladders))
        if seconds != lengths[0]:
            lead = measure_lead(rows[seconds], rows[lengths[0]], clusters)
            known = [None if math.isnan(x) else round(100.0 * x, 4) for x in lead[:3]]
            change = Figure(value=known[0], low=known[1], high=known[2], n=len(ladders))
        rungs.append(Rung(seconds=seconds, accuracy=accuracy, change=change))
    return Ladder(
        model=model,
        task=task,
        items=len(ladders),
        clusters=len(set(clusters.tolist())),
        rungs=tuple(rungs),
    )


def _length(rung: Rung) -> str:
    minutes, rest = divmod(rung.seconds, 60)
    return f"{rung.seconds} s" if rest or not minutes else f"{minutes} min"


def _signed(value: float | None) -> str:
    return "unknown" if value is None else f"{value:+.1f}"
