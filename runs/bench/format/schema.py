"""The shapes of a bench folder, the one way its bytes are written, and its counts by slice.

A bench is a manifest and the files it names. `manifest.json` holds the digest of every one of them
and ends in a digest of itself, `bench`, so that a removed entry is noticed like a changed byte.
Everything but what people read is ASCII JSON: a path that is no valid UTF-8 travels as escaped
surrogates.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, JsonValue

from videoautoarena.memory.records.digests import digest
from videoautoarena.runs.bench.format.entries import QID_LENGTH as QID_LENGTH
from videoautoarena.runs.bench.format.entries import Count as Count
from videoautoarena.runs.bench.format.entries import DialogueItem as DialogueItem
from videoautoarena.runs.bench.format.entries import Digest as Digest
from videoautoarena.runs.bench.format.entries import Entry as Entry
from videoautoarena.runs.bench.format.entries import Hardness as Hardness
from videoautoarena.runs.bench.format.entries import Item as Item
from videoautoarena.runs.bench.format.entries import JudgeVerdict as JudgeVerdict
from videoautoarena.runs.bench.format.entries import Length
from videoautoarena.runs.bench.format.entries import Shape as Shape
from videoautoarena.runs.bench.format.entries import TaskItem as TaskItem
from videoautoarena.runs.bench.format.entries import Votes as Votes
from videoautoarena.runs.bench.format.entries import digest_of as digest_of
from videoautoarena.scoring.texts.traits import BUCKET_NAMES, bucket

BENCH_SCHEMA = 2
"""Version of the manifest and of the questions; no other is read."""
MANIFEST = "manifest.json"
QUESTIONS = "questions.jsonl"
CARD = "card.md"
PARQUET = "test.parquet"
README = "README.md"
FILES = (QUESTIONS, CARD)
"""What every manifest must name."""
DERIVED = (PARQUET, README)
"""What it may name beside: made from the questions on request, for `datasets` and its like."""
VIDEOS, RESULTS = "videos", "results"
"""Folders: copies of the videos, which are sealed; and scores of models, which are not."""

Kind = Literal["preference", "choice", "generation", "tasks", "dialogue"]
"""`tasks` are items of choice and of generation in one set."""
PREFERENCE: Kind = "preference"
TASK_KINDS: tuple[Kind, ...] = ("choice", "generation", "tasks")
RUN: Literal["run"] = "run"
IMPORT: Literal["import"] = "import"
MADE: Literal["made"] = "made"
QUESTION_CATEGORY = "question_categories"
NO_CATEGORY = "none of these"
UNKNOWN = "unknown"
"""What stands in counts for what an item does not say."""


class SealedFile(Shape):
    """One file of the folder, as it must be."""

    sha256: Digest
    bytes: Count


class BenchSubtitles(Shape):
    """The subtitles that count as part of a video's frames."""

    path: str
    sha256: Digest


class BenchVideo(Shape):
    """One video that is asked about; what an import does not know is null."""

    sha256: Digest | None = None
    """Of its bytes."""
    path: str | None = None
    """Relative to the folder of videos; below `videos` in the bench where it holds copies."""
    size_bytes: Count | None = None
    """Of the file."""
    duration_s: Length | None = None
    """From the first frame to the end of the last."""
    width_px: Count | None = None
    """As displayed."""
    height_px: Count | None = None
    """Likewise."""
    fps: Length | None = None
    """Frames a second, counted."""
    codec: str | None = None
    """As the container names it."""
    subtitles: BenchSubtitles | None = None
    """`path` and `sha256` of those sent with its frames, or null."""


class Generator(Shape):
    """What wrote the bench."""

    name: str
    version: str


class Source(Shape):
    """What the bench was made from."""

    kind: Literal["run", "import", "made"]
    format: str
    """`videoautoarena`, or the name of the format that was imported."""
    digest: Digest | None = None
    """Of the battles of the run and how they ended, or of the bytes of the imported file."""
    layout: dict[str, JsonValue] | None = None
    """How an imported file was written where its items do not say it; it is exported like that."""


class Manifest(Shape):
    """manifest.json, without its own digest."""

    schema_version: Literal[2] = Field(default=2, alias="schema", serialization_alias="schema")
    """Version of this shape."""
    kind: Kind = PREFERENCE
    """What its items ask for: `choice`, `generation`, `tasks` (both) or `dialogue`; not written of
    questions with two answers."""
    generator: Generator
    """`name` and `version` of the writer."""
    source: Source
    """`kind` (`run`, `import` or `made`), `format`, and `digest` of the run's battles and their
    ends, or of the imported file or files; `layout` of an import: how that file was written, of
    tasks `files` with `name`, `sha256` and number of `items`."""
    run: dict[str, JsonValue] = Field(default_factory=dict)
    """Settings of the run that tell of no machine; empty if imported."""
    selection: dict[str, JsonValue] = Field(default_factory=dict)
    """What was asked for and what each step left out; `language`, `turns` and `only_licence` if
    asked for, the last with `licence_videos` (how many were taken and left out); `borrowed` and
    `without_answer` if any."""
    licence: str | None = None
    """As given, or null."""
    counts: dict[str, dict[str, Count]] = Field(default_factory=dict)
    """Slice, such as `duration`, to the number of questions in each part."""
    files: dict[str, SealedFile]
    """Name of each other file to `sha256` and `bytes`."""
    videos: dict[str, BenchVideo]
    """Video id to [what the file was](#a-video-of-a-bench)."""
    with_videos: bool = False
    """Whether the folder `videos` holds a copy of each, named by its id."""
    count: Count
    """Number of questions."""


DIALOGUE: Kind = "dialogue"
ITEMS: dict[Kind, type[Entry]] = {
    PREFERENCE: Item,
    **dict.fromkeys(TASK_KINDS, TaskItem),
    DIALOGUE: DialogueItem,
}
"""The shape of an item, by the kinds that this version reads."""


def manifest_bytes(manifest: dict[str, Any]) -> bytes:
    """Return manifest.json as it stands on disk; there is exactly one way to write each."""
    text = json.dumps(manifest, sort_keys=True, indent=2, allow_nan=False)
    return (text + "\n").encode("ascii")


def sealed(manifest: Manifest) -> dict[str, Any]:
    """Return the manifest with its own digest in it, under `bench`."""
    is_first = manifest.kind == PREFERENCE
    rest = manifest.model_dump(by_alias=True, exclude={"kind"} if is_first else None)
    return {**rest, "bench": digest_of(rest)}


def question_bytes(items: Sequence[Entry]) -> bytes:
    """Return questions.jsonl as it stands on disk."""
    lines = (json.dumps(item.model_dump(by_alias=True), allow_nan=False) for item in items)
    return "".join(f"{line}\n" for line in lines).encode("ascii")


def sealed_file(content: bytes) -> SealedFile:
    """Return the entry of a file that holds `content`."""
    return SealedFile(sha256=digest(content), bytes=len(content))


DIALECT = "https://json-schema.org/draft/2020-12/schema"
DIGEST = {"pattern": "^[0-9a-f]{64}$", "type": "string"}


def schemas() -> dict[str, dict[str, Any]]:
    """Return the schemas by the names of their files."""
    manifest = Manifest.model_json_schema()
    manifest["properties"] = {**manifest["properties"], "bench": DIGEST}
    manifest["required"] = [*manifest["required"], "schema", "bench"]
    lines: dict[str, type[Entry]] = {
        "bench-question.schema.json": Item,
        "bench-task.schema.json": TaskItem,
        "bench-dialogue.schema.json": DialogueItem,
    }
    found = {"bench-manifest.schema.json": {"$schema": DIALECT, **manifest}}
    for name, shape in lines.items():
        line = shape.model_json_schema()
        line["required"] = [*line["required"], "schema"]
        found[name] = {"$schema": DIALECT, **line}
    return found


def write_schemas(folder: Path) -> None:
    """Write each schema into a folder, which is there."""
    for name, schema in schemas().items():
        (folder / name).write_text(json.dumps(schema, indent=2) + "\n", encoding="utf-8")


SLICES = {
    "task": "by task",
    "ability": "by ability",
    "split": "by split",
    "round": "by round",
    "duration": "by duration",
    "category": "by category",
    "language": "by language",
    "topic": "by topic of the question",
    QUESTION_CATEGORY: "by category of the question, of which it may have several",
    "origin": "by origin of the question",
    "chosen_by": "by who selected the answer",
    "selected_model": "selected answers by model",
    "rejected_model": "rejected answers by model",
}
"""Names, and what they are called for people."""


COLUMN = "column:"
"""Before the name of a column of facts, where those of slices stand."""
MOST_COUNTED = 30
"""Parts of a column that are counted; one with more says something of each video."""


def columns_of(items: Sequence[Entry]) -> list[str]:
    """Return the columns of facts that items have, titles aside; in the order of their names."""
    return sorted({name for item in items for name in _facts(item)} - {"title"})


def _facts(item: Entry) -> dict[str, str]:
    return item.facts or {} if isinstance(item, Item) else {}


def part_of(item: Entry, name: str) -> str:
    """Return the part of a slice that an item is in; UNKNOWN where it does not say.

    `name` is one of SLICES, or that of a column of facts behind COLUMN.
    """
    if name.startswith(COLUMN):
        return _facts(item).get(name.removeprefix(COLUMN), UNKNOWN)
    if name == "duration":
        length: float | None = getattr(item, name + "_s")
        return UNKNOWN if length is None else bucket(length)
    value = getattr(item, name, None)
    return UNKNOWN if value is None else str(value)


def parts_of(item: Entry, name: str) -> list[str]:
    """Return every part of a slice that an item is in, each once."""
    if name != QUESTION_CATEGORY:
        return [part_of(item, name)]
    found: list[str] | None = getattr(item, name, None)
    return [UNKNOWN] if found is None else list(dict.fromkeys(found)) or [NO_CATEGORY]


def counts_of(items: Sequence[Entry]) -> dict[str, dict[str, int]]:
    """Return the number of items in each part, by slice, where anything is known of it."""
    counted = {}
    for name in (*SLICES, *(f"{COLUMN}{column}" for column in columns_of(items))):
        counts = Counter(part for item in items for part in parts_of(item, name))
        if name.startswith(COLUMN) and len(counts) > MOST_COUNTED:
            continue
        if set(counts) - {UNKNOWN}:
            order = BUCKET_NAMES if name == "duration" else sorted(counts, key=_by_number)
            named = [*(part for part in order if part != UNKNOWN), UNKNOWN]
            counted[name] = {part: counts[part] for part in named if counts[part]}
    return counted


def _by_number(part: str) -> tuple[int, str]:
    return (int(part), "") if part.isdecimal() and len(part) < 9 else (2**53, part)
