"""What models come to on choices when they are shown less than the whole video, or another.

Whoever sees no frames, or those of another video, should be at chance; where that is not so, the
items give their answers away. One frame and shuffled frames say what a task needs: a foreign moment
is found in any order, an order of events is not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, ClassVar

import numpy as np
from pydantic import JsonValue

from videoautoarena.memory.records.records import Published, Record
from videoautoarena.runs.bench.format.reader import OpenBench
from videoautoarena.runs.bench.format.results import VIEWS, TaskResult, View, read_tasks
from videoautoarena.runs.bench.format.schema import TaskItem
from videoautoarena.runs.bench.score.shortcuts import Shortcuts, probe_bench
from videoautoarena.runs.bench.score.task_points import (
    Figure,
    ended,
    figure_of,
    measured,
    percent,
    points_of,
)
from videoautoarena.runs.formats.record_json import SPREAD, record_json, value_json
from videoautoarena.scoring.shortcuts.chance import measure_tails
from videoautoarena.scoring.shortcuts.leaks import GIVEN_AWAY

FOUND = 0.001
"""One-sided, exact: below it an accuracy is above chance."""
WITHOUT: tuple[View, ...] = ("blind", "other")
"""Views from which nobody should know an answer."""


class AskedProbe(Record):
    """What one model came to on one task by one view."""

    split: str | None
    """Part of the set, or None."""
    task: str
    """Its name."""
    model: str
    """Its name, whatever it was shown."""
    view: View
    """`blind`, `one` frame, `shuffled` frames, those of an `other` video, or `whole` where it was
    played with as many frames, too."""
    n: int
    """Items that it answered."""
    accuracy: float | None
    """In percent; an answer that cannot be read is wrong."""
    chance: float | None
    """In percent."""
    p: float
    """How likely guessing comes to as much, or more; one-sided and exact."""


class AskedProbes(Published):
    """What models come to on a set when they are shown less than the whole."""

    bench: str
    probes: tuple[AskedProbe, ...]
    """By split, task, model and view."""
    found: tuple[AskedProbe, ...]
    """Those that know answers without the video."""


def _once(bench: OpenBench[TaskItem]) -> list[TaskResult]:
    """Return a result a model; its options were chosen once, whoever marked its free text."""
    return list({one.model: one for one in read_tasks(bench)}.values())


def read_asked(bench: OpenBench[TaskItem]) -> AskedProbes:
    """Return what the results on a set say by view; those that saw the whole stand beside."""
    found = sorted(
        _probes(bench, _once(bench)), key=lambda one: (one.split or "", one.task, one.model)
    )
    known = [one for one in found if one.view in WITHOUT and one.p < FOUND]
    return AskedProbes(bench=bench.bench, probes=tuple(found), found=tuple(known))


class Apart(Record):
    """What a model came to on items of choice, and on those that text alone does not give away."""

    split: str | None
    """Part of the set, or None."""
    model: str
    """Its name."""
    every: Figure
    """M-Avg in percent, on every item."""
    rest: Figure | None
    """M-Avg on those that are not given away; None where all are."""


@dataclass(frozen=True)
class Probes:
    """What a set gives away: by its text alone, and to those who were asked without the video."""

    SHOWN: ClassVar = ("text", "asked", "asked_found", "scores")

    text: Shortcuts = field(metadata=SPREAD)
    asked: AskedProbes
    """What models came to by view; empty where none was asked."""
    scores: tuple[Apart, ...]
    """Where anything is given away: what that is worth to each model."""

    @property
    def asked_found(self) -> tuple[AskedProbe, ...]:
        """Those of them that know answers without the video."""
        return self.asked.found

    def to_json(self) -> dict[str, Any]:
        """Return it in the shape of `arena bench probe --json`."""
        return {**record_json(self), "asked": value_json(self.asked.probes)}


def probe_all(bench: OpenBench[Any]) -> Probes:
    """Return all that is known of what a set gives away; BadInput of one without keys."""
    text = probe_bench(bench)
    scores = _apart(bench, text) if text.given_away else ()
    return Probes(text, read_asked(bench), tuple(scores))


def _apart(bench: OpenBench[TaskItem], text: Shortcuts) -> Iterator[Apart]:
    results = [one for one in _once(bench) if _view(one) == "whole" or one.how == "import"]
    for split, result in product(dict.fromkeys(item.split for item in bench.items), results):
        mine = [item for item in bench.items if item.is_choice and item.split == split]
        points = points_of(mine, result)
        kept = {qid: one for qid, one in points.items() if text.leaks.get(qid, 0.0) <= GIVEN_AWAY}
        every = measured(mine, points)
        rest = measured(mine, kept)
        if every is not None:
            yield Apart(
                split=split,
                model=result.model,
                every=figure_of(every.mean, 100.0),
                rest=figure_of(rest.mean, 100.0) if rest else None,
            )


def _probes(bench: OpenBench[TaskItem], results: Sequence[TaskResult]) -> Iterator[AskedProbe]:
    asked = {_seen(result) for result in results if _view(result) in VIEWS}
    for result in results:
        view = _view(result)
        # Of a sweep only the whole with as many frames stands beside the other views.
        if result.facts.get("model") is None or _seen(result) not in asked or view is None:
            continue
        parts = defaultdict[tuple[str | None, str], list[tuple[TaskItem, float]]](list)
        for line in result.lines:
            item = bench.by_qid[line.qid]
            points = ended(item, line, reading=result.reading).points if item.is_choice else None
            if points is not None:
                parts[item.split, item.task].append((item, points))
        for (split, task), each in parts.items():
            named = {"split": split, "task": task, "model": _name(result), "view": view}
            offered = np.array([len(item.options) for item, _ in each], dtype=np.int64)
            keys = np.array([max(1, len(item.keys)) for item, _ in each], dtype=np.int64)
            right = np.array([points for _, points in each])
            # One text is one piece of evidence, at however many lengths it stands.
            _, alone = np.unique([item.ladder or item.qid for item, _ in each], return_index=True)
            # An option that is right twice is met as often as two that are pointed at.
            tails = measure_tails(right[alone].astype(np.int64), keys[alone], offered[alone])
            yield AskedProbe(
                **named,
                n=len(each),
                accuracy=percent(float(right.mean())),
                chance=percent(float((keys / offered).mean())),
                p=tails.above,
            )


def _name(result: TaskResult) -> str:
    """Return its player's name without what is said there of what it was shown."""
    frames = result.facts.get("max_frames")
    view = result.facts.get("view")
    shown = next((said for one, said in VIEWS.items() if one == view), f"{frames} frames")
    return result.model.removesuffix(f" ({shown})")


def _seen(result: TaskResult) -> tuple[str, JsonValue]:
    """Return whose it is, and how many frames it may be sent."""
    return _name(result), result.facts.get("max_frames")


def _view(result: TaskResult) -> View | None:
    found = result.facts.get("view")
    return next((view for view in ("whole", *VIEWS) if view == found), None)
