"""The shapes of what a run gives to training: pairs of answers, and chats of its best models."""

from __future__ import annotations

from typing import Any, Literal

from videoautoarena.memory.records.records import Origin, Published, Record, Seats

TrainingKind = Literal["preferences", "conversations"]
DIALECT = "https://json-schema.org/draft/2020-12/schema"


class SentFrames(Record):
    """The frames that an answer was made from."""

    times_s: tuple[float, ...]
    """In seconds from the first frame; empty of a model that was sent none."""
    digests: tuple[str, ...] | None
    """sha256 of each one's JPEG; None where the run holds no such frame at a time."""


class Ruled(Record):
    """What one judge said from one seating, in terms of seats a and b of the battle."""

    judge: str
    seats: Seats
    verdict: Literal["a", "b", "tie", "tie_good", "tie_bad", "abstain", "failed"]


class About(Published):
    """What a row says of its video and of the user who asked."""

    video: str
    """First 12 hex digits of `sha256`."""
    path: str
    """Relative to the folder of videos."""
    sha256: str
    duration_s: float
    category: str | None
    """Of the video."""
    licence: str | None
    """Of the video, as its owner states it; None where nobody did."""
    persona: str
    persona_index: int
    """1 close to the content, 2 less close, 3 unrelated."""
    language: str | None
    """Code of the language that was asked in; None where nobody told."""


class Preference(About):
    """A question with the answer that won and the one that lost."""

    battle: str
    round: int
    origin: Origin
    prompt: str
    """The question; it is all that both models were given beside their frames."""
    categories: tuple[str, ...] | None
    """Of the question; None where it was not tagged."""
    chosen: str
    rejected: str
    chosen_model: str
    rejected_model: str
    chosen_frames: SentFrames
    rejected_frames: SentFrames
    verdict: Literal["a", "b"]
    """How the judges ended the battle."""
    chosen_seat: Literal["a", "b"]
    chosen_by: Literal["judge", "labels"]
    """`labels` where people labelled the battle: the majority of them chose."""
    seats_agree: bool | None
    """Whether both seatings came to one verdict; None where there was one alone."""
    judgings: tuple[Ruled, ...]


class Message(Record):
    """One message of a chat."""

    role: Literal["user", "assistant"]
    content: str


class Turn(Record):
    """Where a question and its answer are from, and how the answer fared."""

    battle: str
    round: int
    origin: Origin
    rival: str
    """Who answered the same question."""
    outcome: Literal["won", "lost", "tie", "tie_good", "tie_bad", "split"]
    categories: tuple[str, ...] | None
    frames: SentFrames


class Conversation(About):
    """All that one model answered one user of a video, in the order of the rounds."""

    lineage: str
    """`<video>-p<persona>`."""
    model: str
    rank: int
    """By rating, 1 the best."""
    rank_best: int | None
    rank_worst: int | None
    """The ranks that it may have; None where they are not known."""
    messages: tuple[Message, ...]
    """Question and answer in turn. Each question was asked alone, without those before it."""
    turns: tuple[Turn, ...]
    """Of each question and answer."""


ROWS: dict[TrainingKind, type[Preference] | type[Conversation]] = {
    "preferences": Preference,
    "conversations": Conversation,
}
"""What each line of such an export is."""


def rows_schema() -> dict[str, Any]:
    """Return the JSON Schema of those rows, each by the name of its export."""
    from pydantic.json_schema import models_json_schema

    kinds: list[tuple[type[Published], Literal["serialization"]]] = [
        (kind, "serialization") for kind in ROWS.values()
    ]
    found, whole = models_json_schema(kinds, by_alias=True)
    return {"$schema": DIALECT, "properties": dict(zip(ROWS, found.values(), strict=True)), **whole}
