"""What a task set gives away: shortcut probes of its items of choice, and its defects.

Each task is probed on its own, and each split of it, since that is how it is answered and scored.
Items of one ladder share their text, so that one of them stands for all.
Where keys were drawn, as in a set that was made here, probes that learn are held against draws.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from videoautoarena.memory.records.errors import BadInput, need_package
from videoautoarena.runs.bench.format.reader import OpenBench
from videoautoarena.runs.bench.format.schema import DIALOGUE, MADE, TASK_KINDS, TaskItem
from videoautoarena.runs.formats.record_json import record_json
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.run.rundir.reader import counted
from videoautoarena.scoring.shortcuts.items import NO_OPTION, Item, find_defects
from videoautoarena.scoring.shortcuts.probes import DRAWS, ProbeResult, probe_items

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
    """Of them: those whose answer the probes found are more likely to name than not."""
    results: tuple[ProbeResult, ...]
    """One a probe."""


class Defect(NamedTuple):
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
    """Of the set."""
    choice: int
    """Of those, items with options, at every length."""
    parts: tuple[Probed, ...]
    """One a task and split."""
    leaks: dict[str, float]
    """qid to how likely the probes found name the right option; 1 / options where none was
    found."""
    defects: tuple[Defect, ...]
    """Each `flaw` and its `qids`, a list of those that repeat each other or of one."""

    @property
    def keyed(self) -> int:
        """Of those, items with a known answer and two options or more, a ladder counted once."""
        return sum(part.keyed for part in self.parts)

    @property
    def given_away(self) -> int:
        """Of those, items with a leak above one half."""
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
    """Return what items give away; `is_made` where their keys were drawn and may be drawn again."""
    groups = defaultdict[tuple[str, str | None], list[list[TaskItem]]](list)
    choice = [item for item in items if item.is_choice]
    if choice:
        need_probes()
    for rungs in _ladders(choice):
        groups[rungs[0].task, rungs[0].split].append(rungs)
    parts = list[Probed]()
    leaks = dict[str, float]()
    for (task, split), members in groups.items():
        asked = [_item(rungs[0]) for rungs in members]
        report = probe_items(asked, draws=DRAWS if is_made else 0)
        away = int(report.given_away.sum())
        parts.append(Probed(task, split, report.n, away, report.results))
        for rungs, leak in zip(members, report.leak.tolist(), strict=True):
            if np.isfinite(leak):
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
        # Only what is the same to the letter: a mark alone would hide what repeats.
        text = (item.task, item.split or "", item.question, item.answer or "", *item.options)
        found[(place,) if item.ladder is None else (item.ladder, *text)].append(item)
    return list(found.values())


def _item(item: TaskItem) -> Item:
    key = None if item.answer is None else min(item.keys, default=NO_OPTION)
    return Item(item.question, tuple(item.options), key, item.task, item.video_id)


def _defects(items: Sequence[TaskItem]) -> Iterator[Defect]:
    found = defaultdict[str, list[tuple[str, ...]]](list)
    for is_choice in (True, False):
        some = [item for item in items if item.is_choice is is_choice]
        for flaw, places in find_defects([_item(item) for item in some]):
            if is_choice or flaw == _OF_TEXT:
                found[flaw].append(tuple(some[place].qid for place in places))
    for kind, qids in found.items():
        yield Defect(kind, tuple(qids))


def _head(part: Probed) -> str:
    of = f" ({safe(part.split)})" if part.split is not None else ""
    chance = 100 * part.results[0].chance
    return f"{safe(part.task)}{of}, {counted(part.keyed, 'item')}, chance {chance:.1f} %"
