"""The shapes of a bench folder, and the one way its bytes are written.

A bench is three files. `manifest.json` names the two others with their digests and ends in a digest
of itself, `bench`, so that a removed entry is noticed like a changed byte. Everything is ASCII
JSON: a path that is no valid UTF-8 travels as escaped surrogates.
"""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from memory.digests import canonical_json, digest
from memory.records import SCHEMA, Origin, Seats

MANIFEST, QUESTIONS, CARD = "manifest.json", "questions.jsonl", "card.md"
FILES = (QUESTIONS, CARD)
"""What the manifest must name, no more and no less."""

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Count = Annotated[int, Field(ge=0, le=2**53)]
QID_LENGTH = 16


class Shape(BaseModel):
    """A part of a bench; refuses unknown keys, guesses no types and knows no NaN."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, allow_inf_nan=False, populate_by_name=True
    )


class JudgeVerdict(Shape):
    """What one judge said from one seating, in terms of seat a and seat b."""

    judge: str
    seats: Seats
    verdict: Literal["a", "b", "tie", "tie_good", "tie_bad", "abstain", "failed"]


class BenchQuestion(Shape):
    """One line of questions.jsonl: a question with the answer that won and the one that lost."""

    schema_version: int = Field(default=SCHEMA, alias="schema", serialization_alias="schema")
    qid: str
    """First 16 hex digits of the digest of everything that makes the question its own."""
    video_id: str
    persona: str
    persona_index: int
    question: str
    selected_answer: str
    rejected_answer: str
    selected_model: str
    rejected_model: str
    selected_seat: Literal["a", "b"]
    """"a" when the selected answer was read first in the first judging."""
    battle: str
    round: int
    origin: Origin
    duration_s: float
    category: str
    difficulty: float | None
    judge_verdicts: list[JudgeVerdict]

    def own_qid(self) -> str:
        """Return the qid that belongs to this content."""
        parts = (
            self.battle,
            self.video_id,
            self.persona,
            self.question,
            self.selected_answer,
            self.rejected_answer,
        )
        return digest_of(parts)[:QID_LENGTH]


class SealedFile(Shape):
    """One file of the folder, as it must be."""

    sha256: Digest
    bytes: Count


class BenchVideo(Shape):
    """One video that is asked about, known by its content."""

    sha256: Digest
    path: str
    """Relative to the folder of videos."""
    size_bytes: Count
    duration_s: float
    width_px: int
    height_px: int
    fps: float
    codec: str


class Generator(Shape):
    """What wrote the bench."""

    name: str
    version: str


class BenchManifest(Shape):
    """manifest.json, without its own digest."""

    schema_version: int = Field(default=SCHEMA, alias="schema", serialization_alias="schema")
    generator: Generator
    run: dict[str, JsonValue]
    """The facts of the run it was frozen from: seed, cast, sampling, digests of prompts."""
    files: dict[str, SealedFile]
    videos: dict[str, BenchVideo]
    count: Count


def digest_of(value: Any) -> Digest:
    """Return the sha256 of the canonical JSON of `value`; NaN raises ValueError."""
    return digest(canonical_json(value))


def manifest_bytes(manifest: dict[str, Any]) -> bytes:
    """Return manifest.json as it stands on disk; there is exactly one way to write each."""
    text = json.dumps(manifest, sort_keys=True, indent=2, allow_nan=False)
    return (text + "\n").encode("ascii")


def sealed(manifest: BenchManifest) -> dict[str, Any]:
    """Return the manifest with its own digest in it, under `bench`."""
    rest = manifest.model_dump(by_alias=True)
    return {**rest, "bench": digest_of(rest)}


def question_bytes(questions: list[BenchQuestion]) -> bytes:
    """Return questions.jsonl as it stands on disk."""
    lines = (json.dumps(q.model_dump(by_alias=True), allow_nan=False) for q in questions)
    return "".join(f"{line}\n" for line in lines).encode("ascii")


def sealed_file(content: bytes) -> SealedFile:
    """Return the entry of a file that holds `content`."""
    return SealedFile(sha256=digest(content), bytes=len(content))
