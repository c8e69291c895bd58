"""How answers to tasks are scored: the end of each item, and means over tasks with intervals."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np

from videoautoarena.agents.prompting.contracts import READINGS
from videoautoarena.agents.roles.choose import OptionChoice, read_choice, read_published
from videoautoarena.agents.roles.mark import LEAST, MOST
from videoautoarena.memory.records.errors import BadInput, WrongArgument
from videoautoarena.memory.records.records import Record
from videoautoarena.memory.records.remedies import option, step
from videoautoarena.runs.bench.format.points import videos_of
from videoautoarena.runs.bench.format.reader import OpenBench
from videoautoarena.runs.bench.format.results import DialogueResult, TaskLine, TaskResult
from videoautoarena.runs.bench.format.schema import Entry, TaskItem
from videoautoarena.runs.formats.battle_table import quoted
from videoautoarena.runs.formats.words import in_full
from videoautoarena.scoring.intervals.proportions import Share
from videoautoarena.scoring.questions.scores import (
    TaskMeans,
    measure_accuracy,
    measure_scores,
    measure_tasks,
)
from videoautoarena.scoring.ratings.differences import PairedLead, measure_lead

R = TypeVar("R", TaskResult, DialogueResult)
End = Literal["right", "wrong", "unreadable", "forfeit", "scored", "unscored", "void"]
_SCALES = 2
"""Scales that free text is marked on."""
_NUMBERS = 4
"""Decimals of figures."""


class ScoreFigure(Record):
    """A mean and its 95 % interval, clustered by video; None if nothing tells it."""

    value: float | None
    low: float | None
    high: float | None
    n: int


class ItemEnd(NamedTuple):
    """How one item ended for one model."""

    end: End
    points: float | None
    """0 or 1 for a choice, 2 to 10 for free text; None if it does not count."""
    place: int | None = None
    """The option that was chosen."""
    reason: str | None = None


def ended(
    item: TaskItem, line: TaskLine, *, reading: int = READINGS, as_published: bool = False
) -> ItemEnd:
    """Return how an item ended: a reply is read here, strictly, whenever scores are made."""
    if line.end == "void":
        return ItemEnd("void", None, reason=line.reason)
    if item.answer is None:
        chosen = (
            _chosen(item, line, reading, as_published) if item.is_choice else OptionChoice(None)
        )
        return ItemEnd("unscored", None, chosen.place, "no answer is known")
    if not item.is_choice:
        if line.end == "unscored":
            # MLVU's scorer counts what it cannot read as 0; here a failed marking is no low mark.
            return ItemEnd("unscored", 0.0 if as_published else None, reason=line.reason)
        if line.end == "forfeit":
            # No answer earns what the worst one does, since the scale has no 0.
            return ItemEnd("forfeit", 0.0 if as_published else LEAST, reason=line.reason)
        if len(line.scores) != _SCALES:
            return ItemEnd(
                "unscored", 0.0 if as_published else None, reason="not marked on two scales"
            )
        # As MLVU does: two scales of 1 to 5 add up to 2 to 10.
        return ItemEnd("scored", sum(line.scores.values()))
    if line.end == "forfeit" or line.response is None:
        return ItemEnd("forfeit", 0.0, reason=line.reason)
    chosen = _chosen(item, line, reading, as_published)
    # Two of MLVU's needle items have a key that is none of their options.
    if not item.keys and not as_published:
        return ItemEnd("unscored", None, chosen.place, "the key is none of the options")
    if chosen.place is None:
        return ItemEnd("unreadable", 0.0, reason=chosen.reason)
    # By text and not by place: a right option that is repeated is right wherever it stands.
    is_right = item.options[chosen.place] == item.answer
    return ItemEnd("right" if is_right else "wrong", float(is_right), chosen.place)


def _chosen(item: TaskItem, line: TaskLine, reading: int, as_published: bool) -> OptionChoice:
    said = line.response or ""
    if as_published:
        return read_published(said, item.options)
    return read_choice(said, item.options, ending=line.ending, reading=reading)


def marked_by(bench: OpenBench[Any], results: Sequence[R], judge: str | None) -> list[R]:
    """Return the results that a judge marked, by default of all judges; BadInput if there is none.

    What nobody had to mark is among those of every judge.
    """
    judges = sorted({one.judge for one in results if one.judge})
    if judge is not None and (judge := in_full(judge, judges)) not in judges:
        there = ", ".join(map(quoted, judges)) or "none"
        raise BadInput(f"{quoted(judge)} marked nothing on {bench.folder}; there is {there}")
    found = [one for one in results if judge is None or one.judge in (judge, None)]
    if not found:
        raise BadInput(f"{bench.folder} has no results; make some with {step('bench run')}")
    return found


def results_of(bench: OpenBench[Any], results: Sequence[R], model: str) -> list[R]:
    """Return the results of a model, one for each judge; BadInput if it has none."""
    model = in_full(model, (one.model for one in results))
    mine = [one for one in results if one.model == model]
    if not mine:
        there = ", ".join(map(quoted, dict.fromkeys(one.model for one in results))) or "none"
        raise BadInput(f"{quoted(model)} has no result on {bench.folder}; there is {there}")
    return mine


def two_results(bench: OpenBench[Any], results: Sequence[R], a: str, b: str) -> list[R]:
    """Return the one result of each of two models; BadInput if one has several."""
    names = [one.model for one in results]
    first = in_full(a, names)
    if first == in_full(b, names):
        raise WrongArgument(f"{quoted(first)} is compared with itself; name two models")
    found = list[R]()
    for name in (a, b):
        mine = results_of(bench, results, name)
        if len(mine) > 1:
            judges = ", ".join(quoted(one.judge or "nobody") for one in mine)
            raise BadInput(
                f"{quoted(mine[0].model)} was marked by {judges}; pick one with {option('judge')}"
            )
        found.append(mine[0])
    return found


def points_of(items: Sequence[TaskItem], result: TaskResult) -> dict[str, float]:
    """Return the points of each item that counts, by qid."""
    ends = ended_items(items, result)
    return {qid: end.points for qid, end in ends.items() if end.points is not None}


def ended_items(
    items: Sequence[TaskItem], result: TaskResult, *, as_published: bool = False
) -> dict[str, ItemEnd]:
    """Return how each item ended for which a result has a line, by qid."""
    lines = {line.qid: line for line in result.lines}
    return {
        item.qid: ended(item, lines[item.qid], reading=result.reading, as_published=as_published)
        for item in items
        if item.qid in lines
    }


def measured(items: Sequence[TaskItem], points: Mapping[str, float]) -> TaskMeans | None:
    """Return the means of points by qid, tasks in the order of their names; None without points."""
    asked = {item.qid: item for item in items if item.qid in points}
    if not asked:
        return None
    names = sorted({item.task for item in asked.values()})
    tasks = np.array([names.index(item.task) for item in asked.values()], dtype=np.int64)
    videos = videos_of(asked, asked)
    values = [points[qid] for qid in asked]
    # Points are of one kind of item alone, so that the first tells for all.
    if not next(iter(asked.values())).is_choice:
        found = measure_scores(values, tasks, videos)
        # By the published rules a score may be 0, below the scale.
        least = min(LEAST, *values)
        figures = tuple(_within(one, least) for one in found.tasks)
        return found._replace(tasks=figures, mean=_within(found.mean, least))
    # Whoever guesses meets a right option as often as it stands among the others.
    chance = [max(1, len(item.keys)) / len(item.options) for item in asked.values()]
    return measure_tasks(values, tasks, videos, chance=chance)


def _within(score: Share, least: float) -> Share:
    """Return a mean score with its bounds kept on the scale of scores."""
    return Share(score.value, max(score.low, least), min(score.high, MOST), score.n)


class Weights(NamedTuple):
    """What makes the mean over tasks of a mean over items, in which each task counts alike."""

    each: list[float]
    """Weight of each item: size of the smallest task over that of its own; at most 1."""
    scale: float
    """What the mean of weighted figures is to be multiplied by."""


def weights_of(tasks: Sequence[str]) -> Weights:
    """Return the weights of items by their tasks; all are 1 if tasks are equally large."""
    sizes = Counter(tasks)
    least = min(sizes.values())
    # By one over the size of its task, so that the mean over items is the mean over tasks; the
    # smallest task weighs 1, since figures are compared from 0 to 1.
    each = [least / sizes[task] for task in tasks]
    return Weights(each, len(tasks) / (len(sizes) * least))


class ItemGap(NamedTuple):
    """How far one model lies above another on shared items, each kind with the same weight."""

    a: float
    """The mean of the first."""
    b: float
    """The mean of the second."""
    difference: ScoreFigure
    better: float | None
    """Probability that the first is the better one; None with one video."""
    videos: int


def measure_gap(
    items: Sequence[Entry],
    kinds: Sequence[str],
    points: Sequence[Mapping[str, float]],
    *,
    unit: float = 100.0,
    most: float = 1.0,
) -> ItemGap:
    """Return how far the first model lies above the second, paired by item.

    Args:
        items: those that count for both.
        kinds: what each item belongs to, such as its task.
        points: those of both models by qid, 0 to `most`.
        unit: what a point is printed as.
        most: the most that one item earns.
    """
    weights = weights_of(kinds)
    one, other = (
        # `measure_lead` takes figures from 0 to 1; the scale is put back below.
        [w * mine[item.qid] / most for item, w in zip(items, weights.each, strict=True)]
        for mine in points
    )
    asked = {item.qid: item for item in items}
    scale = unit * most * weights.scale
    lead = measure_lead(one, other, videos_of(asked, asked))
    return ItemGap(
        a=round(scale * sum(one) / len(one), 4),
        b=round(scale * sum(other) / len(other), 4),
        difference=lead_figure(lead, scale, most=unit * most),
        better=None if math.isnan(lead.better) else round(lead.better, 6),
        videos=len({item.cluster for item in items}),
    )


def lead_figure(lead: PairedLead, scale: float, *, most: float) -> ScoreFigure:
    """Return a lead times `scale` as it is printed, with bounds from -`most` to `most`."""
    value, low, high = (_known(min(max(scale * x, -most), most)) for x in lead[:3])
    return ScoreFigure(value=value, low=low, high=high, n=lead.n)


def descending(figure: ScoreFigure | None) -> float:
    """Return what puts the highest figures first, and what has none last."""
    return math.inf if figure is None or figure.value is None else -figure.value


def figure_of(share: Share, scale: float) -> ScoreFigure:
    """Return a share or mean as it is printed, times `scale`."""
    value, low, high = (_known(scale * x) for x in share[:3])
    return ScoreFigure(value=value, low=low, high=high, n=share.n)


def percent(value: float) -> float | None:
    """Return a share as a percentage; None for NaN."""
    return _known(100.0 * value)


def _known(value: float) -> float | None:
    # A bound that falls below 0 by the last digit of a sum is 0, and not -0.
    return None if math.isnan(value) else round(value, _NUMBERS) + 0.0


PARTS = 5
"""Parts of a video, equally long, by which positions are told apart."""


class PositionCell(ScoreFigure):
    """The accuracy on some needles, in percent."""

    right: int


class Positions(Record):
    """The accuracy of a model on needles by where they lie, and in how much background."""

    lengths: tuple[int, ...]
    """Seconds of background, ascending."""
    cells: tuple[tuple[PositionCell | None, ...], ...]
    """A row for each fifth of the video that a needle's middle lies in, from the first, with a cell
    for each length: `right` of `n`, in percent `value`, `low` and `high`; null without needles."""
    by_position: tuple[PositionCell | None, ...]
    """Cells over all lengths."""
    by_length: tuple[PositionCell | None, ...]
    """Cells over all positions."""


def positions_of(items: Sequence[TaskItem], points: Mapping[str, float]) -> Positions | None:
    """Return the accuracy by position and length from points by qid; None if no place is known."""
    asked = [
        (item, *place)
        for item in items
        if item.qid in points and (place := place_of(item)) is not None
    ]
    lengths = sorted({length for _, _, length in asked})

    def cell(part: int | None, length: int | None) -> PositionCell | None:
        some = [one for one, at, of in asked if part in (None, at) and length in (None, of)]
        if not some:
            return None
        by_qid = {item.qid: item for item in some}
        values = [points[qid] for qid in by_qid]
        share = measure_accuracy(values, videos_of(by_qid, by_qid))
        right = sum(value == 1.0 for value in values)
        return PositionCell(right=right, **figure_of(share, 100.0).model_dump())

    if not asked:
        return None
    parts = range(PARTS)
    return Positions(
        lengths=tuple(lengths),
        cells=tuple(tuple(cell(part, length) for length in lengths) for part in parts),
        by_position=tuple(cell(part, None) for part in parts),
        by_length=tuple(cell(None, length) for length in lengths),
    )


def place_of(item: TaskItem) -> tuple[int, int] | None:
    """Return the part of the video that a needle's middle lies in, and seconds of background.

    None for an item that is no needle, or that does not say where it lies.
    """
    match item.made:
        case {
            "kind": "needle",
            "background_s": int(length),
            "probes": [{"at_s": int(at) | float(at), "lasts_s": int(lasts) | float(lasts)}],
        }:
            whole = item.duration_s
            if not whole or not (0 <= at <= whole and 0 <= lasts <= whole):
                return None
            # A middle at the very end would else be in a part behind the last.
            return min(int(PARTS * (at + lasts / 2) / whole), PARTS - 1), length
    return None
