"""What the roles reply that remember scenes, write dialogues, and check them.

Lists that answer something listed have one entry for each, in the same order.
"""

from __future__ import annotations

from functools import cache
from typing import Annotated, Literal

from pydantic import Field, create_model

from videoautoarena.agents.prompting.contracts import Reply, Text
from videoautoarena.agents.prompting.task_contracts import YesNo

Share = Annotated[float, Field(ge=0.0, le=1.0)]


class SceneCaptionerReply(Reply):
    """One scene in a sentence or two, and what it is about in a few words."""

    caption: Text
    theme: Text


class SceneMergerReply(Reply):
    """Whether each neighbouring pair of scenes belongs together."""

    together: tuple[YesNo, ...]


class RegionReply(Reply):
    """Where something is in one frame: shares of the picture."""

    time_s: float = Field(ge=0)
    left: Share
    top: Share
    right: Share
    bottom: Share


class FoundObjectReply(Reply):
    """One thing or being in a scene."""

    name: Text
    description: Text
    regions: tuple[RegionReply, ...]


class ObjectFinderReply(Reply):
    objects: tuple[FoundObjectReply, ...]


class ObjectMatcherReply(Reply):
    """Whether each pair that was shown is one and the same thing."""

    same: tuple[YesNo, ...]


class FitnessReply(Reply):
    """How well a clip serves one ability."""

    analysis: Text
    score: Annotated[int, Field(ge=1, le=6)]


class FitnessRaterReply(Reply):
    """The same of all six."""

    object_reference: FitnessReply
    memory_recall: FitnessReply
    content_summary: FitnessReply
    answer_refusal: FitnessReply
    topic_shifting: FitnessReply
    proactive_interaction: FitnessReply


class RoundReply(Reply):
    """One round of a dialogue as it was written."""

    user: Text
    assistant: Text
    """The reference answer."""
    scored: YesNo
    about: Literal["video", "elsewhere"] = "video"
    refers_to: int | None = Field(default=None, ge=1)
    """Number of the earlier round that this one goes back to."""
    objects: tuple[Text, ...] = ()
    """Ids of the bank that it is about."""
    explicit: str = ""
    """The user's words with every reference named in full."""
    others: tuple[Text, ...] = ()
    """The same for each other thing that the reference could be taken for."""


class DialogistReply(Reply):
    rounds: tuple[RoundReply, ...]


class CheckReply(Reply):
    """One question to be answered yes or no of an answer."""

    question: Text
    answer: YesNo


class ChecklistMakerReply(Reply):
    items: Annotated[tuple[CheckReply, ...], Field(min_length=1, max_length=5)]


class ValidatedReply(Reply):
    """What a reference says to one item, and which earlier item it says again."""

    analysis: Text
    answer: Literal["yes", "no", "open"]
    repeats: int | None = Field(default=None, ge=1)


class ChecklistValidatorReply(Reply):
    items: tuple[ValidatedReply, ...]


class AnswererReply(Reply):
    """An answer in free words."""

    answer: Text


class MarkedReply(Reply):
    """What an answer says to one item."""

    analysis: Text
    answer: YesNo


class ChecklistMarkerReply(Reply):
    items: tuple[MarkedReply, ...]


@cache
def checklist_marker_reply(items: int) -> type[ChecklistMarkerReply]:
    """Return what a marking by so many items is held to."""
    held = Annotated[tuple[MarkedReply, ...], Field(min_length=items, max_length=items)]
    return create_model("ChecklistMarkerReply", __base__=ChecklistMarkerReply, items=(held, ...))


@cache
def checklist_validator_reply(items: int) -> type[ChecklistValidatorReply]:
    """Return what a validation of so many items is held to."""
    held = Annotated[tuple[ValidatedReply, ...], Field(min_length=items, max_length=items)]
    return create_model(
        "ChecklistValidatorReply", __base__=ChecklistValidatorReply, items=(held, ...)
    )


@cache
def scene_merger_reply(pairs: int) -> type[SceneMergerReply]:
    """Return what a merging of scenes with so many neighbouring pairs is held to."""
    held = Annotated[tuple[YesNo, ...], Field(min_length=pairs, max_length=pairs)]
    return create_model("SceneMergerReply", __base__=SceneMergerReply, together=(held, ...))


@cache
def object_matcher_reply(pairs: int) -> type[ObjectMatcherReply]:
    """Return what a matching of so many pairs is held to."""
    held = Annotated[tuple[YesNo, ...], Field(min_length=pairs, max_length=pairs)]
    return create_model("ObjectMatcherReply", __base__=ObjectMatcherReply, same=(held, ...))
