"""The shapes of a bench folder, the one way its bytes are written, and its counts by slice.

A bench is a manifest and the files it names. `manifest.json` holds the digest of every one of them
and ends in a digest of itself, `bench`, so that a removed entry is noticed like a changed byte.
Everything but what people read is ASCII JSON: a path that is no valid UTF-8 travels as escaped
surrogates.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, TypedDict, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
)

from videoautoarena.memory.records.digests import canonical_json, digest
from videoautoarena.memory.records.records import LeavesOut, Origin, Seats
from videoautoarena.scoring.texts.traits import BUCKET_NAMES, bucket

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
# Beyond 2**53 readers that take numbers for doubles, such as browsers, lose digits.
Count = Annotated[int, Field(ge=0, le=2**53)]
Length = Annotated[float, Field(ge=0)]
Stretch = Annotated[tuple[Length, Length], Field(strict=False)]
"""Start and end in seconds; not strict, since JSON knows lists alone."""
# 64 bits: that two of 10,000 questions share a qid has a chance of 3 in a million million.
QID_LENGTH = 16
Known = TypeVar("Known")


def digest_of(value: Any) -> Digest:
    """Return the sha256 of the canonical JSON of `value`; NaN raises ValueError."""
    return digest(canonical_json(value))


class Shape(BaseModel):
    """A part of a bench; refuses unknown keys, guesses no types and knows no NaN."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, allow_inf_nan=False, populate_by_name=True
    )


class Authorship(TypedDict):
    """Which model wrote what was made, and how it was asked, as `made` of a line says it."""

    seed: int
    """Seed of all draws."""
    examiner: str
    """`provider:model` that wrote, checked and tried it."""
    parameters: dict[str, Any]
    """How its calls were sampled."""
    prompts: dict[str, str]
    """Role to digest of its prompt."""
    contracts: int
    """Number of the forms of reply."""
    reading: int
    """Number of the way in which replies are read."""


class JudgeVerdict(Shape):
    """What one judge said from one seating, in terms of seat a and seat b."""

    judge: str
    seats: Seats
    verdict: Literal["a", "b", "tie", "tie_good", "tie_bad", "abstain", "failed"]


class Votes(Shape):
    """How many people said what of one battle."""

    selected: Count
    rejected: Count
    tie: Count


class Hardness(Shape):
    """How the models fared that were asked a question whose two answers were both called bad."""

    asked: Count
    """Models that were asked, whether a verdict came of it or not."""
    failed: Count
    """Models that lost to a bad answer, gave none, or were found no better."""
    void: Count
    """Without a verdict."""


class Entry(LeavesOut, Shape, ABC):
    """One line of questions.jsonl, of whatever kind."""

    # Under an alias: `schema` is the name of a method of pydantic's BaseModel.
    schema_version: Literal[2] = Field(default=2, alias="schema", serialization_alias="schema")
    """Version of this shape."""
    qid: str
    """Its id: 16 hex digits of its content if it was made here; in an import the id of its source,
    or task and place."""
    video_id: str
    """Key into the manifest's `videos`."""

    @abstractmethod
    def own_qid(self) -> str:
        """Return the qid that belongs to this content."""

    @property
    def cluster(self) -> str:
        """The video: items of one are one piece of evidence for intervals."""
        return self.video_id


class Item(Entry):
    """A question with the answer that won and the one that lost.

    What may be null is not known where it was imported.
    """

    persona: str
    """The user in words."""
    question: str
    """As asked."""
    selected_answer: str
    """The one that won."""
    rejected_answer: str
    """The one that lost."""
    chosen_by: Literal["judge", "labels", "source", "nobody"]
    """`judge`, `labels` (people, by majority), `source` (the maker of what was imported), or
    `nobody` (of a hard question: both answers are bad)."""
    persona_index: int | None = None
    """1 to 3."""
    selected_model: str | None = None
    """Who gave the one that won."""
    rejected_model: str | None = None
    """Who gave the other."""
    selected_seat: Literal["a", "b"] | None = None
    """`a` if read first in the first judging."""
    battle: str | None = None
    """Id of the battle."""
    round: int | None = None
    """From 0."""
    origin: Origin | None = None
    """`first`, `evolved` or `fresh`."""
    duration_s: Length | None = None
    """Of the video."""
    category: str | None = None
    """Of the video."""
    topic: str | None = None
    """Three words for its cluster of questions, if clusters were made."""
    question_categories: list[str] | None = None
    """What the run's [classifier](#a-tag) called its question; only where it was tagged."""
    difficulty: float | None = None
    """Overall grade of an evolved question, else null."""
    votes: Votes | None = None
    """How many people said `selected`, `rejected` and `tie`, if any."""
    hard: Hardness | None = None
    """How the models fared that were [asked again](#a-hard-question); only of such a question:
    `asked`, with a verdict or without; `failed`, lost to a bad answer, gave none, or were found no
    better; `void`, without a verdict."""
    judge_verdicts: list[JudgeVerdict] = Field(default_factory=list)
    """`judge`, `seats` and `verdict` of every judging."""
    extra: dict[str, JsonValue] = Field(default_factory=dict)
    """Keys of an imported item that mean nothing here, unchanged."""
    facts: dict[str, str] | None = None
    """What `videos.csv` said of the video, column to cell; only where it said something. Slices and
    `counts` call its columns `column:NAME`."""
    language: str | None = None
    """Code of the language that it asks in (ISO 639-1); only of runs that draw languages."""
    left_out: ClassVar[tuple[str, ...]] = ("question_categories", "hard", "facts", "language")
    """Fields that are not written where they are None, as in sets made before there were any."""

    def own_qid(self) -> str:
        """Return the qid that belongs to this content of a run."""
        # Names of models are no part of it: that one was renamed shows in the counts.
        asked = (self.battle, self.video_id, self.persona, self.question)
        return digest_of((*asked, self.selected_answer, self.rejected_answer))[:QID_LENGTH]

    def reference(self, against: str) -> str:
        """Return the answer that a model's is judged against: `selected` or `rejected`."""
        return self.selected_answer if against == "selected" else self.rejected_answer


class TaskItem(Entry):
    """A question with a right answer: one of several options, or a text to be scored by.

    An item without an answer is asked and comes out unscored.
    """

    task: str
    """What it belongs to, such as `needle`."""
    question: str
    """As asked."""
    options: list[str] = Field(default_factory=list)
    """In the order shown; empty if the answer is free text."""
    answer: str | None = None
    """Text of the right option, or the reference for free text; null if it is not known."""
    points: list[str] = Field(default_factory=list)
    """What an answer in free text has to hold."""
    split: str | None = None
    """Part of a published set, such as `dev`."""
    duration_s: Length | None = None
    """Of the video."""
    category: str | None = None
    """Of the video."""
    made: dict[str, JsonValue] = Field(default_factory=dict)
    """How a made item came about."""
    extra: dict[str, JsonValue] = Field(default_factory=dict)
    """Keys of an imported item that mean nothing here, unchanged."""

    @property
    def cluster(self) -> str:
        """The video, or the first of those that it was cut together from."""
        # `made` is free JSON that anybody may have written, so its shape is looked at.
        match self.made.get("ground"):
            case [{"video": str(source)}, *_]:
                return source
        return self.video_id

    @property
    def ladder(self) -> str | None:
        """A name shared by the items that are one item at several lengths; None for any other."""
        return self._made("ladder", str)

    @property
    def background_s(self) -> int | None:
        """How many seconds of ground it was made with; None if it does not say."""
        return self._made("background_s", int)

    def _made(self, name: str, of: type[Known]) -> Known | None:
        value = self.made.get(name)
        return value if isinstance(value, of) else None

    @property
    def is_choice(self) -> bool:
        """Whether one of several options is right."""
        return bool(self.options)

    @property
    def keys(self) -> frozenset[int]:
        """The places of the right option: several if it is repeated, none if it is missing."""
        # Published sets have such items: MLVU's dev set repeats options in 16 of them.
        right = (place for place, text in enumerate(self.options) if text == self.answer)
        return frozenset(right)

    def own_qid(self) -> str:
        """Return the qid that belongs to this content."""
        asked = (self.video_id, self.task, self.question)
        return digest_of([*asked, self.options, self.answer, self.points])[:QID_LENGTH]


Ability = Literal[
    "object_reference",
    "memory_recall",
    "content_summary",
    "answer_refusal",
    "topic_shifting",
    "proactive_interaction",
    "refusal_twin",
]
ABILITIES: tuple[Ability, ...] = (
    "object_reference", "memory_recall", "content_summary", "answer_refusal", "topic_shifting",
    "proactive_interaction",
)  # fmt: skip
"""The six of MT-Video-Bench, in its order; their plain mean is the score."""
TWIN: Literal["refusal_twin"] = "refusal_twin"
"""Asked like an answer refusal, of what is there: whoever refuses all of them fails here."""


def spoken(name: str) -> str:
    """Return what an ability is called for people."""
    return name.replace("_", " ")


class Check(Shape):
    """A question about an answer, and what of a right answer is to be said to it."""

    text: str
    expected: Literal["yes", "no"]


class Round(Shape):
    """What the user says and how the reference answers it; scored where it has a checklist."""

    user: str
    """What the user says."""
    reference: str
    """How the reference answers it."""
    checklist: list[Check] = Field(default_factory=list)
    """Each with `text` and what is `expected`, `yes` or `no`; empty if the round is context and
    not scored."""
    is_about_video: bool = True
    """False of a round that leaves it."""
    refers_to: int | None = None
    """Number of the earlier round that it goes back to, from 1."""
    objects: list[str] = Field(default_factory=list)
    """Ids of the video's bank of objects that it is about."""
    made: dict[str, JsonValue] = Field(default_factory=dict)
    """How it was made and [checked](#a-made-dialogue)."""
    extra: dict[str, JsonValue] = Field(default_factory=dict)
    """Keys of an imported round that mean nothing here, unchanged."""

    @property
    def is_scored(self) -> bool:
        """Whether an answer to it counts."""
        return bool(self.checklist)


class DialogueItem(Entry):
    """A dialogue about a video or some stretches of it; each scored round is asked by itself."""

    ability: Ability
    """One of the six of MT-Video-Bench, or `refusal_twin`, which asks like an answer refusal of
    what is there."""
    event: str | None = None
    """What it is called among the dialogues of its video, in an import."""
    spans: list[Stretch] = Field(default_factory=list)
    """Stretches of the video that it is about, from and to in seconds; empty for all of it."""
    is_cross_scene: bool | None = None
    """Whether it goes over several scenes; null if unknown."""
    rounds: list[Round]
    """In their order."""
    duration_s: Length | None = None
    """Of the video."""
    category: str | None = None
    """Of the video."""
    made: dict[str, JsonValue] = Field(default_factory=dict)
    """How it came about; of an import `video`, where `video_id` is a clip of it."""
    extra: dict[str, JsonValue] = Field(default_factory=dict)
    """Keys of an imported dialogue that mean nothing here; `mtqa` and `checklist`, the whole
    records, where they were written in another way than `arena bench export` writes them."""

    def own_qid(self) -> str:
        """Return the qid that belongs to this content."""
        said = [
            [one.user, one.reference, [[item.text, item.expected] for item in one.checklist]]
            for one in self.rounds
        ]
        # What is played and scored, and nothing of how it was made: `made` and `extra` may differ.
        return digest_of([self.video_id, self.ability, self.spans, said])[:QID_LENGTH]

    @property
    def cluster(self) -> str:
        """The video, or that of which it is a clip."""
        whole = self.made.get("video")
        return whole if isinstance(whole, str) else self.video_id


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
"""What counts say for items that do not tell their part."""


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
    """sha256 of its bytes."""
    path: str | None = None
    """Relative to the folder of videos; below `videos` in the bench where it holds copies."""
    size_bytes: Count | None = None
    """Size of the file."""
    duration_s: Length | None = None
    """Length from the first frame to the end of the last."""
    width_px: Count | None = None
    """Width as displayed."""
    height_px: Count | None = None
    """Height likewise."""
    fps: Length | None = None
    """Frames a second, counted."""
    codec: str | None = None
    """Codec as the container names it."""
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
    """Digest of the battles of the run and how they ended, or of the bytes of the imported file."""
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
    """Licence as it was given, or null."""
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
    # Preferences are older than kinds: they are written without one, so that digests of existing
    # benches stay.
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
    # `sealed` adds the digest of the manifest to what the class holds, and always writes the
    # version.
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
        # A field with a default is optional to pydantic, but every line has this one.
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
"""The most parts of a column that are counted; one with more tells single videos, not groups."""


def columns_of(items: Sequence[Entry]) -> list[str]:
    """Return the columns of facts that items have, titles aside; in the order of their names."""
    # A title tells one video from all others, and makes no group.
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
        # Items of every kind have a length, whereas most other traits belong to some kinds alone.
        length: float | None = getattr(item, name + "_s")
        return UNKNOWN if length is None else bucket(length)
    value = getattr(item, name, None)
    return UNKNOWN if value is None else str(value)


def parts_of(item: Entry, name: str) -> list[str]:
    """Return every part of a slice that an item is in, each once."""
    if name != QUESTION_CATEGORY:
        return [part_of(item, name)]
    found: list[str] | None = getattr(item, name, None)
    # An empty list was tagged and fits no category; None was never tagged.
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
    # A part may be any text of a file, and int() raises ValueError beyond 4,300 digits.
    return (int(part), "") if part.isdecimal() and len(part) < 9 else (2**53, part)
