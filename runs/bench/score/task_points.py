"""What answers to tasks come to: how each item ended, and means over tasks with their intervals."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np

from videoautoarena.agents.prompting.contracts import READINGS
from videoautoarena.agents.roles.choose import Chosen, read_choice, read_published
from videoautoarena.agents.roles.mark import LEAST, MOST
from videoautoarena.memory.records.records import Record
from videoautoarena.runs.bench.format.points import videos_of
from videoautoarena.runs.bench.format.results import TaskLine, TaskResult
from videoautoarena.runs.bench.format.schema import TaskItem
from videoautoarena.scoring.intervals.proportions import Share
from videoautoarena.scoring.ratings.differences import Lead
from videoautoarena.scoring.tasks.averages import Tasks, measure_scores, measure_tasks

End = Literal["right", "wrong", "unreadable", "forfeit", "scored", "unscored", "void"]
_SCALES = 2
"""That free text is marked on."""
_NUMBERS = 4
"""Decimals of figures."""


class Figure(Record):
    """A mean and its 95 % interval, clustered by video; None where nothing says it."""

    value: float | None
    low: float | None
    high: float | None
    n: int


class Ended(NamedTuple):
    """How one item ended for one model."""

    end: End
    points: float | None
    """0 or 1 of choice, 2 to 10 of free text; None where it does not count."""
    place: int | None = None
    """The option that was chosen."""
    reason: str | None = None


def ended(
    item: TaskItem, line: TaskLine, *, reading: int = READINGS, as_published: bool = False
) -> Ended:
    """Return how an item ended: a reply is read here, strictly, whenever scores are made."""
    if line.end == "void":
        return Ended("void", None, reason=line.reason)
    if item.answer is None:
        chosen = _chosen(item, line, reading, as_published) if item.is_choice else Chosen(None)
        return Ended("unscored", None, chosen.place, "no answer is known")
    if not item.is_choice:
        if line.end == "unscored":
            return Ended("unscored", 0.0 if as_published else None, reason=line.reason)
        if line.end == "forfeit":
            return Ended("forfeit", 0.0 if as_published else LEAST, reason=line.reason)
        if len(line.scores) != _SCALES:
            return Ended(
                "unscored", 0.0 if as_published else None, reason="not marked on two scales"
            )
        return Ended("scored", sum(line.scores.values()))
    if line.end == "forfeit" or line.response is None:
        return Ended("forfeit", 0.0, reason=line.reason)
    chosen = _chosen(item, line, reading, as_published)
    if not item.keys and not as_published:
        return Ended("unscored", None, chosen.place, "the key is none of the options")
    if chosen.place is None:
        return Ended("unreadable", 0.0, reason=chosen.reason)
    is_right = item.options[chosen.place] == item.answer
    return Ended("right" if is_right else "wrong", float(is_right), chosen.place)


def _chosen(item: TaskItem, line: TaskLine, reading: int, as_published: bool) -> Chosen:
    said = line.response or ""
    if as_published:
        return read_published(said, item.options)
    return read_choice(said, item.options, ending=line.ending, reading=reading)


def points_of(items: Sequence[TaskItem], result: TaskResult) -> dict[str, float]:
    """Return what each item brought that counts, by qid."""
    ends = ended_items(items, result)
    return {qid: end.points for qid, end in ends.items() if end.points is not None}


def ended_items(
    items: Sequence[TaskItem], result: TaskResult, *, as_published: bool = False
) -> dict[str, Ended]:
    """Return how each item ended that a result has a line of, by qid."""
    lines = {line.qid: line for line in result.lines}
    return {
        item.qid: ended(item, lines[item.qid], reading=result.reading, as_published=as_published)
        for item in items
        if item.qid in lines
    }


def measured(items: Sequence[TaskItem], points: Mapping[str, float]) -> Tasks | None:
    """Return what points by qid come to, tasks by their names; None of none."""
    asked = {item.qid: item for item in items if item.qid in points}
    if not asked:
        return None
    names = sorted({item.task for item in asked.values()})
    tasks = np.array([names.index(item.task) for item in asked.values()], dtype=np.int64)
    videos = videos_of(asked, asked)
    values = [points[qid] for qid in asked]
    if not next(iter(asked.values())).is_choice:
        found = measure_scores(values, tasks, videos)
        least = min(LEAST, *values)
        figures = tuple(_within(one, least) for one in found.tasks)
        return found._replace(tasks=figures, mean=_within(found.mean, least))
    chance = [max(1, len(item.keys)) / len(item.options) for item in asked.values()]
    return measure_tasks(values, tasks, videos, chance=chance)


def _within(score: Share, least: float) -> Share:
    """Return a mean score whose bounds, where there are any, lie on the scale of scores."""
    return Share(score.value, max(score.low, least), min(score.high, MOST), score.n)


class Weights(NamedTuple):
    """What makes the mean over tasks of a mean over items, in which each task counts alike."""

    each: list[float]
    """Of each item: 1 over the size of its task, times the size of the smallest; at most 1."""
    scale: float
    """What the mean of weighted figures is to be multiplied by."""


def weights_of(tasks: Sequence[str]) -> Weights:
    """Return the weights of items by their tasks; all are 1 where there are as many of each."""
    sizes = Counter(tasks)
    least = min(sizes.values())
    each = [least / sizes[task] for task in tasks]
    return Weights(each, len(tasks) / (len(sizes) * least))


def lead_figure(lead: Lead, scale: float, *, most: float) -> Figure:
    """Return a lead times `scale` as it is printed, with bounds from -`most` to `most`."""
    value, low, high = (_known(min(max(scale * x, -most), most)) for x in lead[:3])
    return Figure(value=value, low=low, high=high, n=lead.n)


def figure_of(share: Share, scale: float) -> Figure:
    """Return a share or mean as it is printed, times `scale`."""
    value, low, high = (_known(scale * x) for x in share[:3])
    return Figure(value=value, low=low, high=high, n=share.n)


def percent(value: float) -> float | None:
    """Return a share as a percentage, None where there is none."""
    return _known(100.0 * value)


def _known(value: float) -> float | None:
    # A bound that falls below 0 by the last digit of a sum is 0, and not -0.
    return None if math.isnan(value) else round(value, _NUMBERS) + 0.0
