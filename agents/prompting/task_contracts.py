"""What the roles reply that write tasks from what they watch, and that check them again."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Literal

from pydantic import Field, create_model

from videoautoarena.agents.prompting.contracts import Reply, Text, plain, spelled

YesNo = Annotated[Literal["yes", "no"], spelled({"yes": "yes", "no": "no"})]


class MomentReply(Reply):
    """Where something is in the video, in seconds."""

    start_s: float = Field(ge=0)
    end_s: float = Field(ge=0)


class TopicReply(Reply):
    """A question with its right answer and three wrong ones."""

    question: Text
    answer: Text
    distractors: tuple[Text, Text, Text]


class PlotReply(MomentReply, TopicReply):
    """The same, of one moment."""


class SummaryItemReply(Reply):
    """A task for an answer in free words, with all that a good one holds."""

    question: Text
    reference: Text
    points: tuple[Text, ...]


class SceneItemReply(MomentReply, SummaryItemReply):
    """The same, of one moment."""


class TopicWriterReply(Reply):
    """As many items as were wanted, or fewer."""

    items: tuple[TopicReply, ...]


class PlotWriterReply(Reply):
    items: tuple[PlotReply, ...]


class SceneWriterReply(Reply):
    items: tuple[SceneItemReply, ...]


class SummaryWriterReply(Reply):
    items: tuple[SummaryItemReply, ...]


_ANSWERS = ("A", "B", "C", "D", "none", "several")


class OptionCheckerReply(Reply):
    """Which option the frames bear out, and what the question may be about."""

    analysis: Text
    moments: tuple[MomentReply, ...]
    """All that the question could be about; none where it is about the whole."""
    answer: Annotated[
        Literal["A", "B", "C", "D", "none", "several"],
        spelled({plain(answer): answer for answer in _ANSWERS}),
    ]
    names: YesNo
    """Whether a person is called by a name."""


class ShownReply(Reply):
    """Whether the frames show all that a text says."""

    analysis: Text
    shown: YesNo


class PointCheckerReply(Reply):
    """The same of each scoring point in its order, and of the reference."""

    moments: tuple[MomentReply, ...]
    points: tuple[ShownReply, ...]
    reference: ShownReply
    names: YesNo


@cache
def point_checker_reply(points: int) -> type[PointCheckerReply]:
    """Return what a check of so many scoring points is held to."""
    held = Annotated[tuple[ShownReply, ...], Field(min_length=points, max_length=points)]
    return create_model("PointCheckerReply", __base__=PointCheckerReply, points=(held, ...))
