"""What a model gains by more frames, and what it loses in longer films.

A sweep is accuracy against frames and dollars, and what is enough. The items of a ladder differ in
their length alone, so each is held against itself at the shortest; and since the rungs of one item
stand on one ground, their cluster is one and the same.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from videoautoarena.memory.records.records import Record
from videoautoarena.runs.bench.format.points import videos_of
from videoautoarena.runs.bench.format.results import RoundLine, TaskLine, TaskResult
from videoautoarena.runs.bench.format.schema import Entry, TaskItem
from videoautoarena.runs.bench.score.task_points import (
    ScoreFigure,
    figure_of,
    lead_figure,
    measured,
    points_of,
    weights_of,
)
from videoautoarena.scoring.questions.scores import choose_cheapest, measure_accuracy
from videoautoarena.scoring.ratings.differences import measure_lead

MARGIN = 2.0
"""Points of accuracy that are as good, in percent."""
_DIGITS = 8
"""Decimals of dollars an item."""


class SweepSetting(Record):
    """The score of a model with one number of frames, over the items that all its settings have."""

    frames: int
    """Most frames it was sent."""
    accuracy: ScoreFigure
    """M-Avg in percent, over the items that all settings have."""
    usd: float | None
    """Dollars an item, or a scored round; null if the cost of any answer is unknown."""
    behind: ScoreFigure
    """How far it lies above the best, in points, paired by item, each task as much."""


class Sweep(Record):
    """What a model gains by more frames."""

    split: str | None
    """The part of the set."""
    model: str
    """`provider:model`; of dialogues also `(own history)`, and `, marked by` whom where several
    judges did."""
    settings: tuple[SweepSetting, ...]
    """Settings by frames, ascending."""
    best: int
    """Frames of the best."""
    cheapest: int
    """Frames of the cheapest whose difference from the best has a 95 % bound above -`margin`."""
    margin: float
    """Margin in points."""
    by: Literal["dollars", "frames"]
    """What is cheap: `dollars`, or `frames` where no dollars are known."""

    @property
    def is_cheap(self) -> bool:
        """Whether no setting costs less than the best."""
        best = next(one for one in self.settings if one.frames == self.best)
        return all(self._cost(best) <= self._cost(one) for one in self.settings)

    def _cost(self, setting: SweepSetting) -> float:
        return setting.frames if self.by == "frames" else setting.usd or 0.0


def sweeps_of(
    items: Sequence[TaskItem], results: Sequence[TaskResult], *, split: str | None, margin: float
) -> Iterator[Sweep]:
    """Yield a sweep for each model that answered choices with several numbers of frames."""
    of_model = defaultdict[str, dict[int, TaskResult]](dict)
    for one in results:
        # Players of a sweep have names of their own; facts say which model they are.
        model = one.facts.get("model")
        frames = one.max_frames
        # With clips chosen for the question a number of frames means something else.
        is_plain = one.facts.get("view") == "whole" and "retrieval" not in one.facts
        if isinstance(model, str) and frames is not None and is_plain:
            # Results by several judges hold the same choices, so that any of them tells.
            of_model[model][frames] = one
    for model, found in of_model.items():
        if len(found) > 1 and (sweep := _sweep(items, found, margin)) is not None:
            yield sweep.model_copy(update={"split": split, "model": model})


def _sweep(items: Sequence[TaskItem], found: dict[int, TaskResult], margin: float) -> Sweep | None:
    order = sorted(found)
    points = {frames: points_of(items, found[frames]) for frames in order}
    asked = {
        item.qid: item
        for item in items
        if item.is_choice and all(item.qid in points[frames] for frames in order)
    }
    if not asked:
        return None
    usd = {frames: usd_of(found[frames].lines, set(asked)) for frames in order}

    def accuracy(mine: Mapping[str, float]) -> ScoreFigure | None:
        known = measured(list(asked.values()), mine)
        return figure_of(known.mean, 100.0) if known else None

    tasks = [item.task for item in asked.values()]
    played = {frames: PlayedSetting(points[frames], usd[frames]) for frames in order}
    return measure_sweep(SweepItems(asked, tasks, accuracy), played, margin=margin)


class SweepItems(NamedTuple):
    """What several settings are held against each other on."""

    asked: Mapping[str, Entry]
    """Items by qid that count for all settings."""
    tasks: Sequence[str]
    """The task that each item belongs to; all tasks have the same weight."""
    accuracy: Callable[[Mapping[str, float]], ScoreFigure | None]
    """Turns points by qid into the accuracy, in percent."""


class PlayedSetting(NamedTuple):
    """The points and the cost of one setting."""

    points: Mapping[str, float]
    """Points by qid, 0 to 1."""
    usd: float | None
    """The mean cost of an answer; None if unknown."""


def measure_sweep(
    swept: SweepItems, played: Mapping[int, PlayedSetting], *, margin: float
) -> Sweep:
    """Return what a model gains by more frames, by their number; whose sweep it is stays open."""
    asked = swept.asked
    order = sorted(played)
    usd = {frames: played[frames].usd for frames in order}
    points = {frames: played[frames].points for frames in order}
    # Where all is free, dollars tell no setting from another, and frames are what is saved.
    is_priced = all(cost is not None for cost in usd.values()) and any(usd.values())
    costs = [(usd[frames] or 0.0) if is_priced else float(frames) for frames in order]
    weights = weights_of(swept.tasks)
    rows = [
        [points[frames][qid] * w for qid, w in zip(asked, weights.each, strict=True)]
        for frames in order
    ]
    # The rows are weighted, so the margin is brought to their scale.
    within = margin / 100.0 / weights.scale
    choice = choose_cheapest(rows, costs, videos_of(asked, asked), margin=within)
    settings = []
    for place, frames in enumerate(order):
        settings.append(
            SweepSetting(
                frames=frames,
                accuracy=swept.accuracy({qid: points[frames][qid] for qid in asked}) or _NOTHING,
                usd=usd[frames],
                behind=lead_figure(choice.leads[place], 100.0 * weights.scale, most=100.0),
            )
        )
    return Sweep(
        split=None,
        model="",
        settings=tuple(settings),
        best=order[choice.best],
        cheapest=order[choice.cheapest],
        margin=margin,
        by="dollars" if is_priced else "frames",
    )


_NOTHING = ScoreFigure(value=None, low=None, high=None, n=0)


def usd_of(lines: Sequence[TaskLine | RoundLine], asked: Container[str]) -> float | None:
    """Return the mean cost of an answer; None if that of any is unknown."""
    costs = [line.usd for line in lines if line.qid in asked and line.end == "answered"]
    known = [cost for cost in costs if cost is not None]
    if len(known) < len(costs) or not known:
        return None
    return round(sum(known) / len(known), _DIGITS)


Rungs = Mapping[int, TaskItem]
"""The items of one ladder, by their seconds of ground."""


class LadderRung(Record):
    """The accuracy of a model at one length, over the items that it was asked at all of them."""

    seconds: int
    """Seconds of ground."""
    accuracy: ScoreFigure
    """In percent, over items."""
    change: ScoreFigure
    """How far that lies above the shortest, in points, paired by item; 0 of the shortest."""


class LengthLadder(Record):
    """What a model loses with length."""

    model: str
    """Its name."""
    task: str | None
    """Null for all together."""
    items: int
    """Items that count for it at every length, each once."""
    clusters: int
    """First videos of their grounds, which intervals know."""
    rungs: tuple[LadderRung, ...]
    """The shortest first."""


def ladders_of(items: Sequence[TaskItem], results: Sequence[TaskResult]) -> Iterator[LengthLadder]:
    """Yield what each model loses on the ladders of a set: of all tasks, then of each of several.

    A model that free text of was marked by several judges chose its options once.
    """
    ladders = _ladders(items)
    for model, result in {one.model: one for one in results}.items():
        points = points_of(items, result)
        # With an item that lacks a length, other items would be compared there than elsewhere.
        whole = [one for one in ladders if all(item.qid in points for item in one.values())]
        tasks = sorted({_task(one) for one in whole})
        for task in (None, *(tasks if len(tasks) > 1 else ())):
            mine = [one for one in whole if task in (None, _task(one))]
            if mine:
                lengths = list(mine[0])
                firsts = {one[lengths[0]].qid: one[lengths[0]] for one in mine}
                clusters = videos_of(firsts, firsts)
                rows = {seconds: [points[one[seconds].qid] for one in mine] for seconds in lengths}
                rungs = []
                for seconds in lengths:
                    accuracy = figure_of(measure_accuracy(rows[seconds], clusters), 100.0)
                    change = ScoreFigure(value=0.0, low=0.0, high=0.0, n=len(mine))
                    if seconds != lengths[0]:
                        lead = measure_lead(rows[seconds], rows[lengths[0]], clusters)
                        change = lead_figure(lead, 100.0, most=100.0)
                    rungs.append(LadderRung(seconds=seconds, accuracy=accuracy, change=change))
                yield LengthLadder(
                    model=model,
                    task=task,
                    items=len(mine),
                    clusters=len(set(clusters.tolist())),
                    rungs=tuple(rungs),
                )


def _ladders(items: Sequence[TaskItem]) -> list[Rungs]:
    """Return the ladders that have every length of the set, each as its items by length."""
    found = defaultdict[str, dict[int, TaskItem]](dict)
    for item in items:
        if item.is_choice and item.ladder and item.background_s is not None:
            found[item.ladder][item.background_s] = item
    lengths = sorted({seconds for one in found.values() for seconds in one})
    whole = [one for one in found.values() if len(one) == len(lengths) > 1]
    # In ascending order: whoever compares lengths takes the first for the shortest.
    return [{seconds: one[seconds] for seconds in lengths} for one in whole]


def _task(rungs: Rungs) -> str:
    return next(iter(rungs.values())).task
