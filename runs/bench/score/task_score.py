"""Scores on tasks that have a right answer: accuracy by task, and the means over tasks.

M-Avg is the mean of the accuracies of tasks of choice, G-Avg that of the scores of free text; a
mean over items is another figure. What nobody answered is not right; what has no key or could not
be marked is unscored, and counted. Parts of a published set are never put together.

Source: MLVU, M-Avg, G-Avg and the groups of its tasks.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from videoautoarena.agents.roles.choose import Chosen, read_choice, read_published
from videoautoarena.agents.roles.mark import LEAST
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import Published, Record
from videoautoarena.runs.bench.format.points import videos_of
from videoautoarena.runs.bench.format.reader import OpenBench
from videoautoarena.runs.bench.format.results import TaskLine, TaskResult, read_tasks
from videoautoarena.runs.bench.format.schema import TaskItem
from videoautoarena.runs.text.battle_table import quoted
from videoautoarena.runs.text.words import in_full
from videoautoarena.scoring.fitting.counts import Ints
from videoautoarena.scoring.intervals.proportions import Share
from videoautoarena.scoring.tasks.averages import Tasks, measure_scores, measure_tasks

GROUPS = {
    "topic": "holistic", "anomaly": "holistic", "summary": "holistic",
    "needle": "single detail", "ego": "single detail", "plot": "single detail",
    "scene": "single detail", "sports": "single detail", "tutorial": "single detail",
    "order": "multi detail", "count": "multi detail",
}  # fmt: skip
"""Of each task of MLVU; others are in none."""
End = Literal["right", "wrong", "unreadable", "forfeit", "scored", "unscored", "void"]
_NUMBERS = 4
"""Decimals of figures."""


class Figure(Record):
    """A mean and its 95 % interval, clustered by video; None where nothing says it."""

    value: float | None
    low: float | None
    high: float | None
    n: int


class TaskFigure(Record):
    """What a model came to on one task."""

    task: str
    group: str | None
    kind: Literal["choice", "generation"]
    figure: Figure
    """Accuracy in percent of items of choice; of free text the mean score, 2 to 10."""
    chance: float | None
    """What guessing comes to, in percent."""
    counts: dict[str, int]
    """Items by how they ended."""


class TaskScore(Record):
    """What a model came to on one part of a set."""

    model: str
    judge: str | None
    how: Literal["run", "import"]
    max_frames: int | None
    view: str
    m_avg: Figure | None
    """None where there is no choice in it."""
    g_avg: Figure | None
    """None where there is no free text in it."""
    groups: dict[str, Figure]
    """The mean of the accuracies of the tasks of choice in it."""
    tasks: tuple[TaskFigure, ...]
    counts: dict[str, int]
    missing: int
    """Items that it was not asked."""


class TaskBoard(Record):
    """Scores on one part of a set, best first."""

    split: str | None
    """Such as `dev`; None where the set says none."""
    items: int
    videos: int
    keyless: int
    """Items without a known answer."""
    chance: float | None
    """M-Avg of guessing, in percent."""
    models: tuple[TaskScore, ...]


class TaskScores(Published):
    """Scores on a set of tasks."""

    bench: str
    as_published: bool
    stand_ins: bool
    boards: tuple[TaskBoard, ...]
    """One a part of the set."""


class Ended(NamedTuple):
    """How one item ended for one model."""

    end: End
    points: float | None
    """0 or 1 of choice, 2 to 10 of free text; None where it does not count."""
    place: int | None = None
    """The option that was chosen."""
    reason: str | None = None


def score_tasks(bench: OpenBench[TaskItem], results: Sequence[TaskResult] | None = None, *,
                judge: str | None = None, as_published: bool = False) -> TaskScores:  # fmt: skip
    """Return the scores of results on a set, or BadInput where there are none.

    Args:
        bench: what was asked.
        results: of its models; those that lie in it where none are given.
        judge: only free text that this one marked.
        as_published: by MLVU's own rules: a reply is one letter before the first bracket, a key
            that is no option is wrong, and what was not marked counts 0.
    """
    found = wanted_results(bench, judge) if results is None else list(results)
    parts = dict.fromkeys(item.split for item in bench.items)
    boards = tuple(
        _board([item for item in bench.items if item.split == split], split, found, as_published)
        for split in parts
    )
    stand_ins = bool(found) and all(one.is_stand_in for one in found)
    return TaskScores(
        bench=bench.bench, as_published=as_published, stand_ins=stand_ins, boards=boards
    )


def wanted_results(bench: OpenBench[Any], judge: str | None) -> list[TaskResult]:
    """Return the results on tasks, by one judge where it is named; BadInput of none."""
    results = read_tasks(bench)
    judges = sorted({one.judge for one in results if one.judge})
    if judge is not None and (judge := in_full(judge, judges)) not in judges:
        there = ", ".join(map(quoted, judges)) or "none"
        raise BadInput(f"{quoted(judge)} marked nothing on {bench.folder}; there is {there}")
    found = [one for one in results if judge is None or one.judge in (judge, None)]
    if not found:
        raise BadInput(f"{bench.folder} has no results; make some with arena bench run")
    return found


def ended(item: TaskItem, line: TaskLine, *, as_published: bool = False) -> Ended:
    """Return how an item ended: a reply is read here, strictly, whenever scores are made."""
    if line.end == "void":
        return Ended("void", None, reason=line.reason)
    if item.answer is None:
        chosen = _chosen(item, line, as_published) if item.is_choice else Chosen(None)
        return Ended("unscored", None, chosen.place, "no answer is known")
    if not item.is_choice:
        return _marked(line, as_published)
    if line.end == "forfeit" or line.response is None:
        return Ended("forfeit", 0.0, reason=line.reason)
    chosen = _chosen(item, line, as_published)
    if not item.keys and not as_published:
        return Ended("unscored", None, chosen.place, "the key is none of the options")
    if chosen.place is None:
        return Ended("unreadable", 0.0, reason=chosen.reason)
    is_right = item.options[chosen.place] == item.answer
    return Ended("right" if is_right else "wrong", float(is_right), chosen.place)


def _chosen(item: TaskItem, line: TaskLine, as_published: bool) -> Chosen:
    said = line.response or ""
    if as_published:
        return read_published(said, item.options)
    return read_choice(said, item.options, ending=line.ending)


def _marked(line: TaskLine, as_published: bool) -> Ended:
    if line.end == "unscored":
        return Ended("unscored", 0.0 if as_published else None, reason=line.reason)
    if line.end == "forfeit":
        return Ended("forfeit", 0.0 if as_published else LEAST, reason=line.reason)
    return Ended("scored", sum(line.scores.values()))


def _board(
    items: Sequence[TaskItem], split: str | None, results: Sequence[TaskResult], published: bool
) -> TaskBoard:
    chances = measured(items, {item.qid: 0.0 for item in items if item.is_choice and item.answer})
    rows = [_score(items, one, published) for one in results]
    rows.sort(key=lambda row: (_last(row.m_avg), _last(row.g_avg), row.model, row.judge or ""))
    return TaskBoard(
        split=split,
        items=len(items),
        videos=len({item.video_id for item in items}),
        keyless=sum(item.answer is None for item in items),
        chance=_percent(chances.chance) if chances else None,
        models=tuple(rows),
    )


def _last(figure: Figure | None) -> float:
    return math.inf if figure is None or figure.value is None else -figure.value


def _score(items: Sequence[TaskItem], result: TaskResult, published: bool) -> TaskScore:
    lines = {line.qid: line for line in result.lines}
    ends = {i.qid: ended(i, lines[i.qid], as_published=published) for i in items if i.qid in lines}
    points = {qid: end.points for qid, end in ends.items() if end.points is not None}
    choice = {i.qid: points[i.qid] for i in items if i.is_choice and i.qid in points}
    free = {i.qid: points[i.qid] for i in items if not i.is_choice and i.qid in points}
    chosen, marked = measured(items, choice), measured(items, free)
    frames = result.facts.get("max_frames")
    return TaskScore(
        model=result.model,
        judge=result.judge,
        how=result.how,
        max_frames=frames if isinstance(frames, int) else None,
        view=str(result.facts.get("view", "whole")),
        m_avg=_figure(chosen.mean, 100.0) if chosen else None,
        g_avg=_figure(marked.mean, 1.0) if marked else None,
        groups=dict(_groups(items, choice)),
        tasks=(*_figures(items, ends, choice, chosen), *_figures(items, ends, free, marked)),
        counts=dict(Counter(end.end for end in ends.values())),
        missing=len(items) - len(ends),
    )


def measured(items: Sequence[TaskItem], points: Mapping[str, float]) -> Tasks | None:
    """Return what points by qid come to, tasks by their names; None of none."""
    asked = {item.qid: item for item in items if item.qid in points}
    if not asked:
        return None
    tasks, videos = _tasks(asked), videos_of(asked, asked)
    values = [points[qid] for qid in asked]
    if not next(iter(asked.values())).is_choice:
        return measure_scores(values, tasks, videos)
    chance = [max(1, len(item.keys)) / len(item.options) for item in asked.values()]
    return measure_tasks(values, tasks, videos, chance=chance)


def _tasks(asked: Mapping[str, TaskItem]) -> Ints:
    names = sorted({item.task for item in asked.values()})
    return np.array([names.index(item.task) for item in asked.values()], dtype=np.int64)


def _groups(items: Sequence[TaskItem], points: Mapping[str, float]) -> Iterator[tuple[str, Figure]]:
    for group in dict.fromkeys(GROUPS.values()):
        mine = [item for item in items if GROUPS.get(item.task) == group and item.qid in points]
        if found := measured(mine, points):
            yield group, _figure(found.mean, 100.0)


def _figures(
    items: Sequence[TaskItem],
    ends: Mapping[str, Ended],
    points: Mapping[str, float],
    found: Tasks | None,
) -> Iterator[TaskFigure]:
    names = sorted({item.task for item in items if item.qid in points})
    for place, task in enumerate(names if found else ()):
        assert found is not None
        mine = [item for item in items if item.task == task and item.qid in ends]
        is_choice = next(item.is_choice for item in mine if item.qid in points)
        mine = [item for item in mine if item.is_choice == is_choice]
        chance = found.chances[place]
        yield TaskFigure(
            task=task,
            group=GROUPS.get(task),
            kind="choice" if is_choice else "generation",
            figure=_figure(found.tasks[place], 100.0 if is_choice else 1.0),
            chance=_percent(chance) if is_choice else None,
            counts=dict(Counter(ends[item.qid].end for item in mine)),
        )


def _figure(share: Share, scale: float) -> Figure:
    value, low, high = (_known(scale * x) for x in share[:3])
    return Figure(value=value, low=low, high=high, n=share.n)


def _percent(value: float) -> float | None:
    return _known(100.0 * value)


def _known(value: float) -> float | None:
    return None if math.isnan(value) else round(value, _NUMBERS)
