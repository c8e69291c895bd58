"""The roles that write tasks with a right answer from what a video shows, and check them again.

A task on the whole (topic) or on one moment (plot) has an answer and three wrong ones; a scene or a
summary has a reference and scoring points. Whoever checks sees the frames and the task, and neither
which option was meant nor what was said of its place.

Source: MLVU, topic reasoning, plotQA, sub-scene captioning and video summarization: what they ask
for; the prompts and the second ask are our own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from videoautoarena.agents.models.registry import Model
from videoautoarena.agents.prompting.contracts import (
    MomentReply,
    OptionCheckerReply,
    PlotWriterReply,
    PointCheckerReply,
    SceneWriterReply,
    SummaryItemReply,
    SummaryWriterReply,
    TopicReply,
    TopicWriterReply,
    point_checker_reply,
)
from videoautoarena.agents.prompting.fences import lettered
from videoautoarena.agents.prompting.layout import thinned
from videoautoarena.agents.roles.prompter import Prompter, Task
from videoautoarena.memory.records.digests import canonical_json
from videoautoarena.memory.records.records import CallRow, Role, VideoFrames

WatchedKind = Literal["topic", "plot", "scene", "summary"]
WRITERS: Mapping[WatchedKind, Role] = {
    "topic": "topic_writer",
    "plot": "plot_writer",
    "scene": "scene_writer",
    "summary": "summary_writer",
}
CHECKERS: Mapping[WatchedKind, Role] = {
    "topic": "option_checker",
    "plot": "option_checker",
    "scene": "point_checker",
    "summary": "point_checker",
}
_REPLIES: Mapping[WatchedKind, type[Any]] = {
    "topic": TopicWriterReply,
    "plot": PlotWriterReply,
    "scene": SceneWriterReply,
    "summary": SummaryWriterReply,
}

Moment = tuple[float, float]
"""Start and end in seconds."""


class TaskProposal(NamedTuple):
    """A task as it was written."""

    question: str
    answer: str
    """The right option, or the reference for free words."""
    wrong: tuple[str, ...] = ()
    points: tuple[str, ...] = ()
    moment: Moment | None = None
    """The moment that it is about; None: the whole video."""


class WrittenTasks(NamedTuple):
    """The tasks that one ask gave, and the frames it was made from."""

    proposals: tuple[TaskProposal, ...]
    times: tuple[float, ...]
    """Times of the frames that were seen, in seconds."""


class TaskCheck(NamedTuple):
    """What a second ask says of a task."""

    reply: OptionCheckerReply | PointCheckerReply
    times: tuple[float, ...]
    """Times of the frames that were seen, in seconds."""

    @property
    def moments(self) -> list[Moment]:
        """All that the task could be about; none if it is about the whole."""
        return [(one.start_s, one.end_s) for one in self.reply.moments]

    @property
    def has_names(self) -> bool:
        """Whether somebody is called by a name."""
        return self.reply.names == "yes"


@dataclass(frozen=True)
class Watcher:
    """A model that watches one video to write and to check tasks."""

    prompter: Prompter
    model: Model
    frames: VideoFrames

    async def write(
        self, kind: WatchedKind, *, count: int, asked: Sequence[str], slot: str, ask: int
    ) -> WrittenTasks:
        """Return at most `count` tasks unlike those `asked`. One model call, or two; CallFailed."""
        texts = {"asked": canonical_json(list(asked)) if asked else ""}
        if kind != "summary":
            texts["count"] = str(count)
        task = Task(WRITERS[kind], self.frames, scope=slot, ask=ask, texts=texts)
        read = await self.prompter.ask_read(self.model, task, _REPLIES[kind])
        every = tuple(_proposal(item) for item in read.reply.items)
        return WrittenTasks(every[:count], self._times(task.role, read.row))

    async def check_options(self, question: str, options: Sequence[str], *, slot: str) -> TaskCheck:
        """Return which option the frames bear out. One model call, or two; or CallFailed."""
        texts = {"question": question, "options": lettered(options)}
        return await self._checked("option_checker", OptionCheckerReply, texts, slot)

    async def check_points(self, proposal: TaskProposal, *, slot: str) -> TaskCheck:
        """Return which scoring points the frames show. One model call, or two; or CallFailed."""
        lines = [f"{n}. {point}" for n, point in enumerate(proposal.points, 1)]
        texts = {"question": proposal.question, "reference": proposal.answer}
        texts["points"] = "\n".join(lines)
        schema = point_checker_reply(len(proposal.points))
        return await self._checked("point_checker", schema, texts, slot)

    async def _checked(
        self,
        role: Role,
        schema: type[OptionCheckerReply] | type[PointCheckerReply],
        texts: Mapping[str, str],
        slot: str,
    ) -> TaskCheck:
        task = Task(role, self.frames, scope=slot, texts=texts)
        read = await self.prompter.ask_read(self.model, task, schema)
        return TaskCheck(read.reply, self._times(role, read.row))

    def _times(self, role: Role, row: CallRow) -> tuple[float, ...]:
        # Where the server found the request too large, it was sent with fewer of them.
        limit = self.model.frame_limit(role) if row.frames is None else row.frames
        return tuple(frame.time_s for frame in thinned(self.frames, limit).frames)


def _proposal(item: TopicReply | SummaryItemReply) -> TaskProposal:
    """Return a task with its blanks folded, so that each text keeps its line."""
    moment = (item.start_s, item.end_s) if isinstance(item, MomentReply) else None
    if isinstance(item, TopicReply):
        wrong = tuple(map(_folded, item.distractors))
        return TaskProposal(_folded(item.question), _folded(item.answer), wrong, moment=moment)
    points = tuple(map(_folded, item.points))
    return TaskProposal(_folded(item.question), _folded(item.reference), (), points, moment)


def _folded(text: str) -> str:
    return " ".join(text.split())
