"""Schema 1 of a bench, which is still read: its shapes, and what they are in those of now."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, JsonValue

from memory.records import Origin
from runs.sealing import (
    RUN,
    BenchVideo,
    Count,
    Digest,
    Generator,
    Item,
    JudgeVerdict,
    Manifest,
    SealedFile,
    Shape,
    Source,
)


class FirstItem(Shape):
    """One line of questions.jsonl in schema 1."""

    schema_version: int = Field(default=1, alias="schema", serialization_alias="schema")
    qid: str
    video_id: str
    persona: str
    persona_index: int
    question: str
    selected_answer: str
    rejected_answer: str
    selected_model: str
    rejected_model: str
    selected_seat: Literal["a", "b"]
    battle: str
    round: int
    origin: Origin
    duration_s: float
    category: str
    difficulty: float | None
    judge_verdicts: list[JudgeVerdict]

    def as_item(self) -> Item:
        """Return it as an item of now; judges chose all of schema 1."""
        known = {name: getattr(self, name) for name in type(self).model_fields}
        del known["schema_version"]
        return Item.model_construct(**known, chosen_by="judge")


class FirstVideo(Shape):
    """One video that is asked about, known by its content."""

    sha256: Digest
    path: str
    size_bytes: Count
    duration_s: float
    width_px: int
    height_px: int
    fps: float
    codec: str

    def as_video(self) -> BenchVideo:
        """Return it as a video of now."""
        return BenchVideo.model_construct(**self.model_dump())


class FirstManifest(Shape):
    """manifest.json in schema 1, without its own digest."""

    schema_version: int = Field(default=1, alias="schema", serialization_alias="schema")
    generator: Generator
    run: dict[str, JsonValue]
    files: dict[str, SealedFile]
    videos: dict[str, FirstVideo]
    count: Count

    def as_manifest(self) -> Manifest:
        """Return it as a manifest of now."""
        return Manifest(
            generator=self.generator,
            source=Source(kind=RUN, format="videoautoarena"),
            run=self.run,
            files=self.files,
            videos={id_: video.as_video() for id_, video in self.videos.items()},
            count=self.count,
        )
