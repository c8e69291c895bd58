"""Playing one part of a watched set: a kind of items about one video, written and checked again.

Nothing is decided here that the journal does not say again: to repeat a part costs nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pydantic import JsonValue

from videoautoarena.agents.models.registry import Model
from videoautoarena.agents.prompting.contracts import OptionCheckerReply
from videoautoarena.agents.roles.prompter import Prompter
from videoautoarena.agents.roles.write_tasks import (
    CHECKERS,
    WRITERS,
    TaskCheck,
    TaskProposal,
    WatchedKind,
    Watcher,
    WrittenTasks,
)
from videoautoarena.memory.records.digests import derive
from videoautoarena.memory.records.errors import BadInput, CallFailed, UnusableVideo
from videoautoarena.memory.records.records import Video
from videoautoarena.memory.records.remedies import option
from videoautoarena.runs.bench.format.schema import TaskItem
from videoautoarena.runs.jobs.paid_job import JobTally
from videoautoarena.runs.making.tasks.watched_items import (
    WATCHED,
    Draft,
    Fall,
    WatchedAsks,
    drafted,
    entry_of,
    find_fault,
    settled,
    written_json,
)
from videoautoarena.runs.run.rundir.context import all_done
from videoautoarena.runs.run.rundir.frames import RunFrames
from videoautoarena.runs.run.rundir.reader import counted

ASKS = 3
"""The most asks for items of one kind about one video; again only if some fell."""
MOST: Mapping[WatchedKind, int] = {"topic": 8, "plot": 8, "scene": 8, "summary": 1}
"""The most items of a kind about one video."""


@dataclass(frozen=True)
class WatchWish:
    """What is to be written."""

    kinds: tuple[WatchedKind, ...] = WATCHED
    n: int | None = None
    """Items in all, dealt to kinds and videos in turn; None for one of each kind a video."""
    seed: int = 0


class TaskPart(NamedTuple):
    """Items of one kind about one video, which are asked for at once."""

    kind: WatchedKind
    video: Video
    wanted: int

    @property
    def scope(self) -> str:
        """Scope of its calls; those of a second ask begin with it."""
        return f"tasks-{self.kind}-{self.video.id}"


def deal(wish: WatchWish, videos: Sequence[Video]) -> list[TaskPart]:
    """Return how many items of each kind are wanted of each video; BadInput if n is too high.

    Kinds take turns, and in each kind the videos do, in an order drawn by the seed.
    """
    ordered = sorted(videos, key=lambda video: derive(wish.seed, "watched", video.sha256))
    if not ordered:
        raise BadInput("no video of the folder can be used; pass one that holds some")
    count = len(wish.kinds) * len(ordered) if wish.n is None else wish.n
    room = sum(MOST[kind] for kind in wish.kinds) * len(ordered)
    if count > room:
        each = ", ".join(f"{MOST[kind]} {kind}" for kind in wish.kinds)
        raise BadInput(
            f"{option('n')} is {count}, and of {counted(len(ordered), 'video')} there are {room} "
            "items at "
            f"most ({each} a video); ask for fewer or add videos"
        )
    dealt = Counter[tuple[WatchedKind, int]]()
    lap = 0
    while dealt.total() < count:
        for number, kind in enumerate(wish.kinds):
            # Another kind begins with another video, so that few items are about many videos.
            start = number * len(ordered) // len(wish.kinds)
            place = (start + lap) % len(ordered)
            if lap // len(ordered) < MOST[kind] and dealt.total() < count:
                dealt[kind, place] += 1
        lap += 1
    return [
        TaskPart(kind, video, dealt[kind, place])
        for place, video in enumerate(ordered)
        for kind in wish.kinds
        if dealt[kind, place]
    ]


@dataclass
class PartOutcome:
    """What came of one part."""

    part: TaskPart
    items: list[TaskItem] = field(default_factory=list)
    fallen: Counter[Fall] = field(default_factory=Counter)
    failures: dict[str, str] = field(default_factory=dict)
    """Scope of each call that failed for good, or id of a video without frames, to the reason."""


@dataclass(kw_only=True)
class WatchTally(JobTally):
    """How parts went in one process."""

    outcomes: list[PartOutcome] = field(default_factory=list)

    @property
    def pieces(self) -> int:
        """Items that stay."""
        return sum(len(one.items) for one in self.outcomes)

    @property
    def fallen(self) -> Counter[Fall]:
        """Why other items were dropped, and how many."""
        return sum((one.fallen for one in self.outcomes), Counter[Fall]())


@dataclass(frozen=True)
class Watching:
    """Writes and checks the items of a set through a prompter."""

    prompter: Prompter
    examiner: Model
    run_frames: RunFrames
    seed: int

    async def play(self, part: TaskPart) -> PartOutcome:
        """Return what came of a part: a call an ask, one more an item, each twice if repaired."""
        outcome = PartOutcome(part)
        try:
            frames = await self.run_frames.frames(part.video.id)
        except UnusableVideo as why:
            outcome.failures[part.video.id] = f"no frames: {why}"
            return outcome
        watcher = Watcher(self.prompter, self.examiner, frames)
        known: list[TaskProposal] = []
        for ask in range(ASKS):
            lacking = part.wanted - len(outcome.items)
            try:
                written = await watcher.write(
                    part.kind,
                    count=lacking,
                    asked=[one.question for one in known],
                    slot=part.scope,
                    ask=ask,
                )
            except CallFailed as failure:
                outcome.failures[part.scope] = str(failure)
                break
            await self._take(watcher, outcome, written, known)
            # An examiner that gives fewer than were wanted has no more to give.
            if len(written.proposals) < lacking or len(outcome.items) == part.wanted:
                break
        return outcome

    async def _take(
        self,
        watcher: Watcher,
        outcome: PartOutcome,
        written: WrittenTasks,
        known: list[TaskProposal],
    ) -> None:
        """Have what was written checked, and keep what stays."""
        part = outcome.part
        drafts = list[Draft]()
        for said in written.proposals:
            draft = drafted(part.kind, said, part.video, seed=self.seed)
            fault = find_fault(draft, part.video, known)
            # Also what is about to fall: the next ask is told of it, so that it does not come
            # again.
            known.append(said)
            if fault is None:
                drafts.append(draft)
            else:
                outcome.fallen[fault] += 1
        checks = await all_done(self._check(watcher, outcome, draft) for draft in drafts)
        for draft, checked in zip(drafts, checks, strict=True):
            if checked is None:
                outcome.fallen["failed"] += 1
                continue
            final = settled(draft, checked)
            if isinstance(final, TaskProposal):
                made = self._made(draft, written, checked)
                outcome.items.append(entry_of(draft, final, part.video, made))
            else:
                outcome.fallen[final] += 1

    async def _check(
        self, watcher: Watcher, outcome: PartOutcome, draft: Draft
    ) -> TaskCheck | None:
        scope = f"{outcome.part.scope}:{draft.digest}"
        said = draft.proposal
        try:
            if draft.options:
                return await watcher.check_options(said.question, draft.options, slot=scope)
            return await watcher.check_points(said, slot=scope)
        except CallFailed as failure:
            outcome.failures[scope] = str(failure)
            return None

    def _made(self, draft: Draft, written: WrittenTasks, checked: TaskCheck) -> WatchedAsks:
        """Return how an item came about: by whom, from which frames, and what both asks said."""
        prompts = self.prompter.prompts
        examiner = self.examiner
        roles = WRITERS[draft.kind], CHECKERS[draft.kind]
        said = checked.reply.model_dump(mode="json")
        if isinstance(checked.reply, OptionCheckerReply):
            said["chosen"] = dict(zip("ABCD", draft.options, strict=True)).get(said["answer"])
        return {
            "seed": self.seed,
            "examiner": examiner.resolved,
            "parameters": dict(examiner.keyed(roles[0])),
            "prompts": {role: prompts.digests[role] for role in roles},
            "contracts": prompts.contracts,
            "reading": prompts.reading,
            "written": {**written_json(draft.proposal), "frames_s": _rounded(written.times)},
            "checked": {**said, "frames_s": _rounded(checked.times)},
        }


def _rounded(times: Sequence[float]) -> list[JsonValue]:
    return [round(time_s, 3) for time_s in times]
