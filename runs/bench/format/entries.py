"""Lines of questions.jsonl: a question with two answers, a task with a key, a dialogue."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    SerializerFunctionWrapHandler,
    model_serializer,
)

from videoautoarena.memory.records.digests import canonical_json, digest
from videoautoarena.memory.records.records import Origin, Seats

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Count = Annotated[int, Field(ge=0, le=2**53)]
Length = Annotated[float, Field(ge=0)]
Stretch = Annotated[tuple[Length, Length], Field(strict=False)]
"""From when to when, in seconds; JSON knows lists alone."""
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
    """Models with a verdict and without."""
    failed: Count
    """Lost to a bad answer, gave none, or were found no better."""
    void: Count
    """Without a verdict."""


class Entry(Shape, ABC):
    """One line of questions.jsonl, of whatever kind."""

    left_out: ClassVar[tuple[str, ...]] = ()
    """Fields that are not written where they are None."""

    @model_serializer(mode="wrap")
    def _without_gaps(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        data: dict[str, Any] = handler(self)
        gaps = [name for name in self.left_out if data.get(name) is None]
        return {name: value for name, value in data.items() if name not in gaps}

    schema_version: Literal[2] = Field(default=2, alias="schema", serialization_alias="schema")
    qid: str
    """Of what was made here 16 hex digits, as `own_qid`; of an import its own, which is no path."""
    video_id: str
    """Key into the manifest's `videos`."""

    @abstractmethod
    def own_qid(self) -> str:
        """Return the qid that belongs to this content."""

    @property
    def cluster(self) -> str:
        """What intervals take for one piece of evidence: the video."""
        return self.video_id


class Item(Entry):
    """A question with the answer that won and the one that lost.

    What may be null is not known where it was imported.
    """

    persona: str
    question: str
    selected_answer: str
    rejected_answer: str
    chosen_by: Literal["judge", "labels", "source", "nobody"]
    """Who selected: a run's judges, most of its labels, or whoever made what was imported. Of a
    hard question nobody where no answer was found better than a bad one: then both are bad."""
    persona_index: int | None = None
    selected_model: str | None = None
    rejected_model: str | None = None
    selected_seat: Literal["a", "b"] | None = None
    """"a" when the selected answer was read first in the first judging."""
    battle: str | None = None
    round: int | None = None
    origin: Origin | None = None
    duration_s: Length | None = None
    category: str | None = None
    topic: str | None = None
    """The three words that stand for its cluster of questions; null where none was looked for."""
    question_categories: list[str] | None = None
    """What the run's classifier called it; left out where its question was not tagged."""
    difficulty: float | None = None
    votes: Votes | None = None
    """Of people; null where none of them labelled it."""
    hard: Hardness | None = None
    """Of a question that was called both bad and asked again; else not written."""
    judge_verdicts: list[JudgeVerdict] = Field(default_factory=list)
    extra: dict[str, JsonValue] = Field(default_factory=dict)
    """Keys of an imported item that mean nothing here, as they were."""
    facts: dict[str, str] | None = None
    """What the run's file of facts said of the video, by column; not there where it said nothing.
    Anybody's words, which no model is shown."""
    language: str | None = None
    """The code of what it asks in (ISO 639-1), as the run drew it; not there where it drew
    none."""
    left_out: ClassVar[tuple[str, ...]] = ("question_categories", "hard", "facts", "language")
    """Fields that are not written where they are None, as in sets made before there were any."""

    def own_qid(self) -> str:
        """Return the qid that belongs to this content of a run."""
        asked = (self.battle, self.video_id, self.persona, self.question)
        return digest_of((*asked, self.selected_answer, self.rejected_answer))[:QID_LENGTH]


class TaskItem(Entry):
    """A question with a right answer: one of several options, or a text to be scored by.

    An item without an answer is asked and comes out unscored.
    """

    task: str
    """What it belongs to, such as `needle`; accuracies are means over tasks."""
    question: str
    options: list[str] = Field(default_factory=list)
    """In the order in which they are shown; empty where the answer is free text."""
    answer: str | None = None
    """The text of the right option, or the reference for free text; null where it is not known."""
    points: list[str] = Field(default_factory=list)
    """What an answer in free text has to hold, one by one."""
    split: str | None = None
    """Which part of a published set it is from, such as `dev`; figures of two are never mixed."""
    duration_s: Length | None = None
    category: str | None = None
    made: dict[str, JsonValue] = Field(default_factory=dict)
    """How a made item came about: what stands where in its video, and the seed."""
    extra: dict[str, JsonValue] = Field(default_factory=dict)
    """Keys of an imported item that mean nothing here, as they were."""

    @property
    def cluster(self) -> str:
        """The video, or the first of those that it was cut together from."""
        match self.made.get("ground"):
            case [{"video": str(source)}, *_]:
                return source
        return self.video_id

    @property
    def ladder(self) -> str | None:
        """What items have in common that are one item at several lengths; None of any other."""
        return self._made("ladder", str)

    @property
    def background_s(self) -> int | None:
        """How many seconds of ground it was made with, where that is said."""
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
        """The places of the right option: several where it is repeated, none where it lacks."""
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
    reference: str
    checklist: list[Check] = Field(default_factory=list)
    is_about_video: bool = True
    """False of a round that leaves it."""
    refers_to: int | None = None
    """Number of the earlier round that it goes back to, from 1."""
    objects: list[str] = Field(default_factory=list)
    """Ids of the video's bank of objects that it is about."""
    made: dict[str, JsonValue] = Field(default_factory=dict)
    """How it was made and checked; of a refusal twin `denials` are the numbers, from 1, of items
    that are met by saying that the thing is not there."""
    extra: dict[str, JsonValue] = Field(default_factory=dict)
    """Keys of an imported round that mean nothing here, as they were."""

    @property
    def is_scored(self) -> bool:
        """Whether an answer to it counts."""
        return bool(self.checklist)


class DialogueItem(Entry):
    """A dialogue about a video or some stretches of it; each scored round is asked by itself."""

    ability: Ability
    event: str | None = None
    """What it is called among those of its video where it was imported."""
    spans: list[Stretch] = Field(default_factory=list)
    """Stretches of the video that it is about, in seconds; empty for the whole video."""
    is_cross_scene: bool | None = None
    """Whether it goes over several scenes; null where nobody says."""
    rounds: list[Round]
    duration_s: Length | None = None
    """Of the video."""
    category: str | None = None
    made: dict[str, JsonValue] = Field(default_factory=dict)
    """How it came about: by whom, from which scenes and objects, and the seed."""
    extra: dict[str, JsonValue] = Field(default_factory=dict)
    """Keys of an imported dialogue that mean nothing here, as they were."""

    def own_qid(self) -> str:
        """Return the qid that belongs to this content."""
        said = [
            [one.user, one.reference, [[item.text, item.expected] for item in one.checklist]]
            for one in self.rounds
        ]
        return digest_of([self.video_id, self.ability, self.spans, said])[:QID_LENGTH]

    @property
    def cluster(self) -> str:
        """The video, or that of which it is a clip."""
        whole = self.made.get("video")
        return whole if isinstance(whole, str) else self.video_id
