"""A set that is made by watching: what was ordered, what came of it, and its folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypedDict

from videoautoarena.memory.records.remedies import option
from videoautoarena.runs.bench.format.schema import (
    Kind,
    TaskItem,
)
from videoautoarena.runs.bench.score.shortcuts import Shortcuts
from videoautoarena.runs.formats.record_json import keyed, record_json
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.jobs.paid_job import JobPlan
from videoautoarena.runs.making.tasks.drafting import WritingOrder
from videoautoarena.runs.making.tasks.watched_items import WATCHER, Fall, fallen_words
from videoautoarena.runs.making.tasks.watching import WatchWish
from videoautoarena.runs.run.rundir.reader import counted


@dataclass(frozen=True)
class WatchOrder(WritingOrder):
    """What is written of which folder by whom, and where it goes."""

    wish: WatchWish = WatchWish()  # noqa: RUF009 - frozen


class KindCount(NamedTuple):
    """How many items of a kind there are."""

    kind: str
    wanted: int
    made: int


class FailedCall(NamedTuple):
    """A call that failed for good."""

    kind: str
    video: str
    """Its path."""
    reason: str


@dataclass(frozen=True)
class Watched:
    """A set that was written, was there, or would be written."""

    SHOWN: ClassVar = (
        "folder", "bench", "examiner", "items", "wanted", "tasks", "videos", "fallen", "failures",
        "was_there", "plan", "shortcuts",
    )  # fmt: skip

    folder: Path
    """Where it lies."""
    examiner: str
    """`provider:model`."""
    bench: str | None
    """Its digest; None if it is not finished, or only planned."""
    wanted: int
    """Items that were asked for."""
    tasks: tuple[KindCount, ...]
    """One for each kind: `kind`, `wanted`, `made`."""
    videos: int
    """Videos that they are about."""
    least: int = 0
    """The fewest items of which a set is made."""
    fallen: Counter[Fall] = field(default_factory=Counter)
    """Why items fell, to how many: `repeated`, `length`, `options`, `points`, `moment` (form),
    `key`, `place`, `names`, `unshown` (the second ask), `failed` (of which there was none)."""
    failures: tuple[FailedCall, ...] = field(default=(), metadata=keyed("failed"))
    """`kind`, `video` and `reason` of each call that failed for good."""
    was_there: bool = False
    """The folder held this set already."""
    plan: JobPlan | None = None
    """Only with `--plan`: `lines` to `basis` as in [a plan](#a-plan), `known` (parts of
    which nothing is left) and `notices`."""
    shortcuts: Shortcuts | None = None
    """[What its text gives away](#what-a-set-gives-away); None if nothing has options."""

    @property
    def items(self) -> int:
        """Items in it."""
        return sum(one.made for one in self.tasks)

    @property
    def is_short(self) -> bool:
        """Whether there are too few of them."""
        return self.items < self.least

    def as_json(self) -> dict[str, Any]:
        """Return it in the shape of `arena tasks make --json`, of what was watched."""
        return record_json(self)

    def as_lines(self) -> list[str]:
        """Return it as lines for a person."""
        shown = safe(str(self.folder))
        kinds = ", ".join(
            f"{made} {kind}" + (f" of {wanted}" if made < wanted else "")
            for kind, wanted, made in self.tasks
        )
        if self.plan is not None:
            wanted = ", ".join(f"{one.wanted} {one.kind}" for one in self.tasks)
            about = (
                f"{counted(self.wanted, 'item')} ({wanted}) about {counted(self.videos, 'video')}"
            )
            return [f"{shown} would have {about}", *self.plan.as_lines()]
        verb = "already holds this set" if self.was_there else "made"
        whole = f"{counted(self.items, 'item')} of {self.wanted}"
        lines = [
            f"{shown} {verb}: {whole}, bench {(self.bench or '')[:12]}",
            f"{kinds}; written and checked by {safe(self.examiner)}",
        ]
        if self.fallen:
            lines.append(f"dropped: {fallen_words(self.fallen)}")
        return [*lines, *(self.shortcuts.as_lines() if self.shortcuts else ())]


def shortfall(watched: Watched) -> str:
    """Return in a line how many items came of how many that were asked for, and why."""
    short = ", ".join(
        f"{made} of {wanted} {kind}" for kind, wanted, made in watched.tasks if made < wanted
    )
    dropped = f" ({fallen_words(watched.fallen)})" if watched.fallen else ""
    help_ = "ask for fewer"
    if watched.items:
        take = option("at_most", True)
        help_ += f", or repeat with {take} to take what there is; nothing is paid again"
    return (
        f"{safe(watched.examiner)} gives {watched.items} of {watched.wanted} items: {short}; "
        f"{watched.fallen.total()} dropped{dropped}; {help_}"
    )


def kind_of(entries: Sequence[TaskItem]) -> Kind:
    """Return the kind of a set of these items."""
    kinds = {item.is_choice for item in entries}
    return "tasks" if len(kinds) > 1 else "choice" if True in kinds else "generation"


class WatchedSelection(TypedDict):
    """What `selection` of the manifest says of items that an examiner wrote."""

    maker: str
    """Version of the rules."""
    examiner: str
    """`provider:model`."""
    kinds: list[str]
    """Kinds of items that were asked for."""
    n: int
    """Items that were asked for."""
    seed: int
    """Seed of all draws."""
    fallen: dict[str, int]
    """Why items fell, to how many."""
    failed: int
    """Calls that failed for good."""


def selection_of(wish: WatchWish, watched: Watched) -> WatchedSelection:
    """Return what the manifest says of how the items came about."""
    return {
        "maker": WATCHER,
        "examiner": watched.examiner,
        "kinds": list(wish.kinds),
        "n": watched.wanted,
        "seed": wish.seed,
        "fallen": dict(sorted(watched.fallen.items())),
        "failed": len(watched.failures),
    }
