"""The shapes of what a run gives to training: pairs of answers, and chats of its best models."""

from __future__ import annotations

from typing import Any, Literal

from videoautoarena.memory.records.records import Origin, PublishedRecord, Record, Seats

TrainingKind = Literal["preferences", "conversations"]
DIALECT = "https://json-schema.org/draft/2020-12/schema"


class SentFrames(Record):
    """The frames that an answer was made from."""

    times_s: tuple[float, ...]
    """Seconds from the first frame; empty for a model that was sent none."""
    digests: tuple[str, ...] | None
    """sha256 of the JPEG of each; null if the run has no frame at one of the times."""


class Ruled(Record):
    """What one judge said from one seating, in terms of seats a and b of the battle."""

    judge: str
    seats: Seats
    verdict: Literal["a", "b", "tie", "tie_good", "tie_bad", "abstain", "failed"]


class About(PublishedRecord):
    """What a row says of its video and of the user who asked."""

    video: str
    """Its id."""
    path: str
    """Path of the video, relative to the folder of videos."""
    sha256: str
    """sha256 of the video's file."""
    duration_s: float
    """Length of the video, in seconds."""
    category: str | None
    """Category of the video; null if unknown."""
    licence: str | None
    """Licence of the video, as its owner states it; null if nobody did."""
    persona: str
    """Who asked, in words."""
    persona_index: int
    """1 close to the content, 2 less close, 3 unrelated."""
    language: str | None
    """Code of the language that was asked in (ISO 639-1); null if unknown."""


class Preference(About):
    """A question with the answer that won and the one that lost."""

    battle: str
    """Its id."""
    round: int
    """From 0."""
    origin: Origin
    """Of the question: `first`, `evolved` or `fresh`."""
    prompt: str
    """The question; both models were given it and their frames, and nothing else."""
    categories: tuple[str, ...] | None
    """Of the question; null if it was not tagged."""
    chosen: str
    """The answer that won."""
    rejected: str
    """The one that lost."""
    chosen_model: str
    """Who gave the one that won."""
    rejected_model: str
    """Who gave the other."""
    chosen_frames: SentFrames
    """Frames it was made from."""
    rejected_frames: SentFrames
    """Likewise."""
    verdict: Literal["a", "b"]
    """Verdict of the judges: `a` or `b`."""
    chosen_seat: Literal["a", "b"]
    """Where the chosen answer stands in the battle."""
    chosen_by: Literal["judge", "labels"]
    """`judge`, or `labels` if people labelled it."""
    seats_agree: bool | None
    """Whether both seatings gave the same verdict; null if only one was judged."""
    judgings: tuple[Ruled, ...]
    """`judge`, `seats` and `verdict` of each [judging](#a-judging)."""


class Message(Record):
    """One message of a chat."""

    role: Literal["user", "assistant"]
    content: str


class Turn(Record):
    """Where a question and its answer are from, and how the answer fared."""

    battle: str
    """Its id."""
    round: int
    """From 0."""
    origin: Origin
    """Of the question: `first`, `evolved` or `fresh`."""
    rival: str
    """Who answered the same question."""
    outcome: Literal["won", "lost", "tie", "tie_good", "tie_bad", "split"]
    """`won`, `lost`, `tie`, `tie_good`, `tie_bad` or `split`."""
    categories: tuple[str, ...] | None
    """Of the question; null if it was not tagged."""
    frames: SentFrames
    """Frames the answer was made from, as [`chosen_frames`](#a-preference)."""


class Conversation(About):
    """All that one model answered one user of a video, in the order of the rounds."""

    lineage: str
    """`VIDEO-pPERSONA`."""
    model: str
    """Who answered."""
    rank: int | None
    """Rank by rating, 1 for the best; null where too few videos give one."""
    rank_best: int | None
    """Best rank it may have at 95 %; null if unknown."""
    rank_worst: int | None
    """Worst rank, likewise."""
    messages: tuple[Message, ...]
    """Question and answer in turn, by round, each question asked alone: `role` (`user` or
    `assistant`) and `content`."""
    turns: tuple[Turn, ...]
    """One for each question with its answer."""


ROWS: dict[TrainingKind, type[Preference] | type[Conversation]] = {
    "preferences": Preference,
    "conversations": Conversation,
}
"""What each line of such an export is."""


def rows_schema() -> dict[str, Any]:
    """Return the JSON Schema of those rows, each by the name of its export."""
    from pydantic.json_schema import models_json_schema

    kinds: list[tuple[type[PublishedRecord], Literal["serialization"]]] = [
        (kind, "serialization") for kind in ROWS.values()
    ]
    found, whole = models_json_schema(kinds, by_alias=True)
    return {"$schema": DIALECT, "properties": dict(zip(ROWS, found.values(), strict=True)), **whole}
