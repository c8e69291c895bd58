"""What a task set gives away: shortcut probes of its items of choice, and its defects.

Each task is probed on its own, and each split of it, since that is how it is answered and scored.
Items of one ladder share their text, so that one of them stands for all.
Where keys were drawn, as in a set that was made here, probes that learn are held against draws.

Asked probes are models that are shown less than the whole video, or another. Whoever sees no
frames should be at chance; where that is not so, the items give their answers away. One frame and
shuffled frames say what a task needs: a foreign moment is found in any order.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, ClassVar, NamedTuple

import numpy as np
from pydantic import JsonValue

from videoautoarena.memory.records.errors import BadInput, need_package
from videoautoarena.memory.records.records import PublishedRecord, Record
from videoautoarena.runs.bench.format.reader import OpenBench
from videoautoarena.runs.bench.format.results import VIEWS, TaskResult, View, read_tasks
from videoautoarena.runs.bench.format.schema import DIALOGUE, MADE, TASK_KINDS, TaskItem
from videoautoarena.runs.bench.score.task_points import (
    ScoreFigure,
    ended,
    figure_of,
    measured,
    percent,
    points_of,
)
from videoautoarena.runs.formats.record_json import SPREAD, record_json, value_json
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.run.rundir.reader import counted
from videoautoarena.scoring.questions.items import (
    GIVEN_AWAY,
    NO_OPTION,
    ChoiceItem,
    find_defects,
    measure_tails,
)
from videoautoarena.scoring.questions.probes import DRAWS, ProbeResult, probe_items

NAMED = 3
"""Items of a defect that are named to people; the rest is counted."""
_MEANINGS = {
    "found": "found: it is right more often than chance, so the video is not needed",
    "balanced too exactly": "balanced too exactly: it is right so rarely that its options can be "
    "ruled out",
}
_ALARMS = tuple(_MEANINGS)
_OF_TEXT = "video and question repeat"
"""The one defect that an item to be answered in words can have."""


class Probed(NamedTuple):
    """What the items of choice of one task, and of one split, give away."""

    task: str
    """Its name."""
    split: str | None
    """Part of the set, or None."""
    keyed: int
    """Items with a key and at least two options; the others cannot be probed."""
    given_away: int
    """Items among them whose answer the probes found are more likely to name than not."""
    results: tuple[ProbeResult, ...]
    """One for each probe."""


class DefectiveItems(NamedTuple):
    """A kind of defect, and the items that have it: of what repeats, those that are alike."""

    flaw: str
    qids: tuple[tuple[str, ...], ...]

    @property
    def first(self) -> str:
        """The first of its items for people, safe to print, and how many more there are."""
        firsts = [" = ".join(map(safe, alike[:NAMED])) for alike in self.qids[:NAMED]]
        more = len(self.qids) - len(firsts)
        return ", ".join(firsts) + (f" and {more:,} more" if more else "")


@dataclass(frozen=True)
class Shortcuts:
    """What a set gives away without its videos, and what is wrong with its items."""

    SHOWN: ClassVar = (
        "bench", "questions", "choice", "keyed", "given_away", "parts", "leaks", "defects",
    )  # fmt: skip

    bench: str | None
    """The set's digest; None in what an import prints."""
    questions: int
    """Items of the set."""
    choice: int
    """Items among them with options, at every length."""
    parts: tuple[Probed, ...]
    """One a task and split."""
    leaks: dict[str, float]
    """qid to how likely the probes found name the right option; 1 / options where none was
    found."""
    defects: tuple[DefectiveItems, ...]
    """Each `flaw` and its `qids`, a list of those that repeat each other or of one."""

    @property
    def keyed(self) -> int:
        """Items of choice with a known answer and two options or more, a ladder counted once."""
        return sum(part.keyed for part in self.parts)

    @property
    def given_away(self) -> int:
        """Items among these with a leak above one half."""
        return sum(part.given_away for part in self.parts)

    def to_json(self) -> dict[str, Any]:
        """Return it in the shape of `arena bench probe --json`."""
        return record_json(self)

    def as_lines(self) -> list[str]:
        """Return what was found as lines for a card, safe to print."""
        lines = [self._headline()]
        for part in self.parts:
            found = [one for one in part.results if one.reading in _ALARMS]
            if found:
                shown = (f"{one.probe} {100 * one.share:.1f} % ({one.reading})" for one in found)
                lines.append(f"{_head(part)}: {', '.join(shown)}")
        return [
            *lines,
            *(f"{len(one.qids):,} x {one.flaw}: {one.first}" for one in self.defects),
        ]

    def explained(self) -> Iterator[str]:
        """Yield what the words of alarms mean, where there are any."""
        readings = {one.reading for part in self.parts for one in part.results}
        meanings = [_MEANINGS[name] for name in _ALARMS if name in readings]
        if meanings:
            yield f"a probe picks an option by text alone; {'; '.join(meanings)}"

    def _headline(self) -> str:
        if not self.choice:
            return "no item has options, so there are no shortcuts to look for"
        if not self.keyed:
            of = counted(self.choice, "item")
            return f"{of} of choice without a key: their shortcuts cannot be known"
        many = counted(self.keyed, "item")
        return f"text alone gives away the right option of {self.given_away:,} of {many}"


def need_probes() -> None:
    """Raise MissingExtra where items of choice cannot be probed."""
    need_package("sklearn", "to probe items of choice for shortcuts needs scikit-learn", "text")


def probe_set(
    items: Sequence[TaskItem], *, bench: str | None = None, is_made: bool = False
) -> Shortcuts:
    """Return what items give away; `is_made` if their keys were drawn and may be drawn again."""
    groups = defaultdict[tuple[str, str | None], list[list[TaskItem]]](list)
    choice = [item for item in items if item.is_choice]
    if choice:
        need_probes()
    for rungs in _ladders(choice):
        # In MLVU what was right elsewhere in a task picks 91 % of needles, and 37 % of plot items:
        # put together, one task would hide behind the other.
        groups[rungs[0].task, rungs[0].split].append(rungs)
    parts = list[Probed]()
    leaks = dict[str, float]()
    for (task, split), members in groups.items():
        asked = [_item(rungs[0]) for rungs in members]
        # Only keys that were drawn can be drawn again, which is what probes that learn are held
        # against.
        report = probe_items(asked, draws=DRAWS if is_made else 0)
        away = int(report.given_away.sum())
        parts.append(Probed(task, split, report.n, away, report.results))
        for rungs, leak in zip(members, report.leak.tolist(), strict=True):
            # NaN for what has no key or fewer than two options: it was not probed.
            if np.isfinite(leak):
                # All rungs have one text, and so they give away the same.
                leaks |= {item.qid: leak for item in rungs}
    return Shortcuts(
        bench=bench,
        questions=len(items),
        choice=len(choice),
        parts=tuple(parts),
        leaks=leaks,
        defects=tuple(_defects([rungs[0] for rungs in _ladders(items)])),
    )


def probe_bench(bench: OpenBench[Any]) -> Shortcuts:
    """Return what a task set gives away; BadInput of a bench whose questions have no key."""
    manifest = bench.manifest
    if manifest.kind not in TASK_KINDS:
        other = "score" if manifest.kind == DIALOGUE else "check"
        raise BadInput(
            f"{bench.folder} is a set of kind {manifest.kind}; only tasks with options have "
            f"shortcuts to probe, see arena bench {other}"
        )
    return probe_set(bench.items, bench=bench.bench, is_made=manifest.source.kind == MADE)


def _ladders(items: Sequence[TaskItem]) -> list[list[TaskItem]]:
    """Return the items that are one item at several lengths together; most stand alone."""
    found = defaultdict[tuple[str | int, ...], list[TaskItem]](list)
    for place, item in enumerate(items):
        # Texts must be equal, too: by the mark alone a set could hide items that repeat.
        text = (item.task, item.split or "", item.question, item.answer or "", *item.options)
        found[(place,) if item.ladder is None else (item.ladder, *text)].append(item)
    return list(found.values())


def _item(item: TaskItem) -> ChoiceItem:
    # A key that is no option is a defect to be named; only an unknown one is no key.
    key = None if item.answer is None else min(item.keys, default=NO_OPTION)
    return ChoiceItem(item.question, tuple(item.options), key, item.task, item.video_id)


def _defects(items: Sequence[TaskItem]) -> Iterator[DefectiveItems]:
    found = defaultdict[str, list[tuple[str, ...]]](list)
    for is_choice in (True, False):
        some = [item for item in items if item.is_choice is is_choice]
        for flaw, places in find_defects([_item(item) for item in some]):
            if is_choice or flaw == _OF_TEXT:
                found[flaw].append(tuple(some[place].qid for place in places))
    for kind, qids in found.items():
        yield DefectiveItems(kind, tuple(qids))


def _head(part: Probed) -> str:
    of = f" ({safe(part.split)})" if part.split is not None else ""
    chance = 100 * part.results[0].chance
    return f"{safe(part.task)}{of}, {counted(part.keyed, 'item')}, chance {chance:.1f} %"


# The level of the probes of text, at which at most two clean sets in a hundred alarm.
FOUND = 0.001
"""One-sided, exact: below it an accuracy is above chance."""
# One frame and shuffled ones are of the video: to know answers from them is no fault of a set.
WITHOUT: tuple[View, ...] = ("blind", "other")
"""Views from which nobody should know an answer."""


class AskedProbe(Record):
    """The accuracy of one model on one task by one view."""

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
    """How likely guessing is to be right as often, or more often; one-sided and exact."""


class AskedProbes(PublishedRecord):
    """The accuracy of models on a set when they are shown less than the whole."""

    bench: str
    probes: tuple[AskedProbe, ...]
    """One for each split, task, model and view."""
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


class TextShortcutGap(Record):
    """M-Avg of a model on items of choice, and on those that text alone does not give away."""

    split: str | None
    """Part of the set, or None."""
    model: str
    """Its name."""
    every: ScoreFigure
    """M-Avg in percent, on every item."""
    rest: ScoreFigure | None
    """M-Avg on those that are not given away; None if all are."""


@dataclass(frozen=True)
class SetProbes:
    """What a set gives away: by its text alone, and to those who were asked without the video."""

    SHOWN: ClassVar = ("text", "asked", "asked_found", "scores")

    text: Shortcuts = field(metadata=SPREAD)
    asked: AskedProbes
    """The accuracy of models by view; empty if none was asked."""
    scores: tuple[TextShortcutGap, ...]
    """What is given away is worth to each model; empty if nothing is."""

    @property
    def asked_found(self) -> tuple[AskedProbe, ...]:
        """Those of them that know answers without the video."""
        return self.asked.found

    def to_json(self) -> dict[str, Any]:
        """Return it in the shape of `arena bench probe --json`."""
        return {**record_json(self), "asked": value_json(self.asked.probes)}


def probe_all(bench: OpenBench[Any]) -> SetProbes:
    """Return all that is known of what a set gives away; BadInput of one without keys."""
    text = probe_bench(bench)
    scores = _apart(bench, text) if text.given_away else ()
    return SetProbes(text, read_asked(bench), tuple(scores))


def _apart(bench: OpenBench[TaskItem], text: Shortcuts) -> Iterator[TextShortcutGap]:
    # An import does not say what its models were shown and is taken at its word.
    results = [one for one in _once(bench) if _view(one) == "whole" or one.how == "import"]
    for split, result in product(dict.fromkeys(item.split for item in bench.items), results):
        mine = [item for item in bench.items if item.is_choice and item.split == split]
        points = points_of(mine, result)
        # What was not probed is held to give nothing away.
        kept = {qid: one for qid, one in points.items() if text.leaks.get(qid, 0.0) <= GIVEN_AWAY}
        every = measured(mine, points)
        rest = measured(mine, kept)
        if every is not None:
            yield TextShortcutGap(
                split=split,
                model=result.model,
                every=figure_of(every.mean, 100.0),
                rest=figure_of(rest.mean, 100.0) if rest else None,
            )


def _probes(bench: OpenBench[TaskItem], results: Sequence[TaskResult]) -> Iterator[AskedProbe]:
    asked = {_seen(result) for result in results if _view(result) in VIEWS}
    for result in results:
        view = _view(result)
        # Of several numbers of frames only the one with which other views were played is compared.
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
            # The rungs of a ladder have one text and are one piece of evidence.
            _, alone = np.unique([item.ladder or item.qid for item, _ in each], return_index=True)
            # A right option that is repeated is met by chance as often as it stands there.
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
