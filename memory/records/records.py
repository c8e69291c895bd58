"""The vocabulary: every word that travels between packages, as frozen pydantic records.

Times are seconds from the first frame, digests are lower-case sha256 hex, `a` and `b` always mean
the seat read first and second in the first judging of a battle.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, get_args

from pydantic import ConfigDict, Field

from videoautoarena.memory.records.calls import LONGEST_NAME as LONGEST_NAME
from videoautoarena.memory.records.calls import SCOUTS as SCOUTS
from videoautoarena.memory.records.calls import Attempt as Attempt
from videoautoarena.memory.records.calls import CallEnds as CallEnds
from videoautoarena.memory.records.calls import CallLimits as CallLimits
from videoautoarena.memory.records.calls import CallRow as CallRow
from videoautoarena.memory.records.calls import Intent as Intent
from videoautoarena.memory.records.calls import Learnt as Learnt
from videoautoarena.memory.records.calls import Lost as Lost
from videoautoarena.memory.records.calls import Name as Name
from videoautoarena.memory.records.calls import Nonce as Nonce
from videoautoarena.memory.records.calls import Price as Price
from videoautoarena.memory.records.calls import Record as Record
from videoautoarena.memory.records.calls import ReplyFormat as ReplyFormat
from videoautoarena.memory.records.calls import Role as Role
from videoautoarena.memory.records.calls import Sampling as Sampling
from videoautoarena.memory.records.calls import Sparse as Sparse
from videoautoarena.memory.records.calls import Structured as Structured
from videoautoarena.memory.records.calls import SystemRole as SystemRole
from videoautoarena.memory.records.calls import TokenField as TokenField
from videoautoarena.memory.records.calls import Usage as Usage
from videoautoarena.memory.records.standards import Standard

SCHEMA = 1
"""Version of every shape that other programs rely on."""

Origin = Literal["first", "evolved", "fresh"]
Seats = Literal["ab", "ba"]
Choice = Literal["a", "b", "tie", "tie_good", "tie_bad"]
DifficultyScale = Literal["instruction_following", "accuracy", "relevance", "helpfulness"]
DIFFICULTY_SCALES: tuple[DifficultyScale, ...] = get_args(DifficultyScale)
"""What a question is graded on besides overall; no standard of judges, though the paper calls them
the same."""
Verdict = Literal["a", "b", "tie", "tie_good", "tie_bad", "split", "void", "forfeit_a", "forfeit_b"]
DECIDED: frozenset[str] = frozenset({"a", "b", "tie", "tie_good", "tie_bad", "split"})
"""Verdicts that enter the ratings."""
TIES: frozenset[str] = frozenset({"tie", "tie_good", "tie_bad", "split"})
"""Decided verdicts that count half a win to each side."""

CATEGORIES = (
    "Movies", "Life Vlogs", "Geography", "History", "News Programs", "Art", "STEM",
    "Computer Science", "Cooking Recipes", "Travel Guides", "other",
)  # fmt: skip
"""The closed list of categories: VideoAutoArena's ten, plus "other"."""


class Published(Record):
    """A record that is printed as it is: its JSON begins with the version of its shape."""

    schema_version: int = Field(default=SCHEMA, alias="schema", serialization_alias="schema")
    """1."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON-ready values."""
        return self.model_dump(by_alias=True, mode="json")


class Video(Record):
    """One usable video file, known by its content."""

    id: Name
    """First 12 hex digits of `sha256`."""
    sha256: str
    """Of the file's bytes."""
    path: Name
    """Relative to the folder that was given; bytes that are no UTF-8 stand as surrogates."""
    size_bytes: int
    """Of the file."""
    duration_s: float
    """From the first frame to the end of the last."""
    width_px: int
    """As displayed: after rotation."""
    height_px: int
    """Likewise."""
    fps: float
    """Frames a second, counted."""
    codec: Name
    """As libav calls it."""
    rotation: int = 0
    """Degrees clockwise by which a player turns the stored picture: 0, 90, 180 or 270."""
    problems: tuple[str, ...] = ()
    """What is wrong with it though it can be used, a clause each."""


class Skipped(Record):
    """One file that was not used, and why."""

    path: Name
    reason: str


class Frame(Record):
    """One frame as the models see it: its time and the digest of its JPEG bytes."""

    time_s: float
    digest: str


class Cue(Record):
    """One subtitle, in one line; an instant where both times are equal."""

    start_s: float
    end_s: float
    text: str


class Subtitles(Record):
    """What stands beside one video as text, in the order of time, on the clock of its frames."""

    path: str
    """Relative to the folder of videos, like that of a video."""
    sha256: str
    """Of the file's bytes."""
    code: str
    """Of the fences around each stretch of it: from seed, video and all the cues."""
    cues: tuple[Cue, ...]


class Frames(Record):
    """The frames of one video that a run uses, in time order."""

    video: Name
    width_px: int
    height_px: int
    frames: tuple[Frame, ...]
    damaged: int = 0
    """How many frames stand behind damage that was reported, or show a neighbour instead."""
    approximate: int = 0
    """How many frames are shown that may not be the very ones of their times."""
    captions: tuple[Cue, ...] = ()
    """Text drawn into the picture, in runs that were begun when it was read; else empty."""
    subtitles: Subtitles | None = None
    """Cues of the stretches these frames stand for; they count as part of the frames."""


class Slot(Record):
    """One place for a battle: a lineage's round."""

    id: Name
    """`<video>-p<persona>-r<round>`, with `~g` behind it for a superseding generation."""
    generation: int
    ordinal: int
    """Place in the stored order of all slots, from 0."""
    video: Name
    persona: int
    round: int
    block: int


class Scene(Record):
    """A stretch of a video."""

    start_s: float
    end_s: float
    what: str


class Brief(Record):
    """The examiner's account of a video, for persona and questioner."""

    account: str
    category: str
    """One of CATEGORIES, or of those that a file of facts names; "unknown" where none was named."""
    scenes: tuple[Scene, ...] = ()


class VideoFacts(Record):
    """What somebody says of a video in a file of their own; data, and never believed by code."""

    title: str | None = None
    category: str | None = None
    language: str | None = None
    """As it stands in the file."""
    licence: str | None = None
    columns: dict[str, str] = Field(default_factory=dict)
    """Their own columns, header to cell; empty cells are left out."""


class Persona(Sparse):
    """One user of a video, invented or brought along."""

    left_out: ClassVar[tuple[str, ...]] = ("language",)

    index: int = Field(ge=1, le=3)
    """1 close to the content, 2 less close, 3 unrelated."""
    text: str
    language: str | None = None
    """The code of the language that this user asks in (ISO 639-1); None where none was drawn."""


class Grade(Record):
    """How hard a question is, 1.0 to 5.0 with one decimal, on four scales and overall."""

    instruction_following: float
    """How demanding the task is."""
    accuracy: float
    """How closely one must watch."""
    relevance: float
    """How much of the need it takes to meet."""
    helpfulness: float
    """How much understanding it takes."""
    overall: float
    """What the gate compares first."""

    @property
    def total(self) -> float:
        """The sum of the four scores, 4.0 to 20.0."""
        scores = [getattr(self, scale) for scale in DIFFICULTY_SCALES]
        return float(round(sum(scores), 1))


class Evolution(Record):
    """One attempt of the evolver to make a harder question, and what the grader said of it."""

    battle: Name
    """Id of the battle it started from."""
    pair: tuple[Name, Name]
    """Its two models."""
    faults_a: tuple[str, ...]
    """What was wrong with a's answer."""
    faults_b: tuple[str, ...]
    """With b's."""
    weaknesses_a: tuple[str, ...]
    """The general weaknesses behind a's faults."""
    weaknesses_b: tuple[str, ...]
    """Behind b's."""
    question: str
    """The proposal."""
    old: Grade
    """Grade of the question before it."""
    new: Grade
    """Grade of the proposal."""
    accepted: bool
    """Whether the gate let it pass."""


class Question(Record):
    """A question as it was put to both contestants."""

    text: str
    origin: Origin
    pair: tuple[str, str] | None = None
    """For an evolved question the pair whose faults it was made from."""
    difficulty: float | None = None
    """The overall grade of an evolved question; None when none was given."""


class Borrowed(Record):
    """A stored answer that a newcomer meets, instead of one that is given for the battle."""

    battle: Name
    """Id of the battle it was given in."""
    seat: Literal["a", "b"]
    """Where it stands, in that battle and in this one."""


class Draw(Sparse):
    """Who meets in a slot, decided before anybody answers."""

    left_out: ClassVar[tuple[str, ...]] = ("borrowed",)
    slot: Name
    model_a: Name
    model_b: Name
    propensity: float | None
    """Probability of the unordered pair; None where the pair was dealt, not drawn."""
    basis: int | None = None
    """The latest wave whose results were looked at; None for rules that look at none."""
    swap: bool = False
    """Judge this battle from both seatings."""
    borrowed: Borrowed | None = None
    """The answer that is not asked for again; only where a newcomer meets stored answers."""


class Answer(Record):
    """What a contestant said."""

    model: str
    text: str
    frames: tuple[float, ...]
    """Times in seconds of the frames it was sent."""


class Forfeit(Record):
    """A contestant that gave no answer; a record, not a loss."""

    model: str
    reason: str
    is_ours: bool = False
    """Its frames could not be sent, so the battle is void and nobody's forfeit."""


class Judging(Sparse):
    """One judge's view of a battle from one seating; what was not asked is not in its JSON."""

    judge: Name
    """Name of the judge."""
    seats: Seats
    """`ba` if it read model b's answer first."""
    verdict: Literal["a", "b", "tie", "tie_good", "tie_bad", "abstain", "failed"]
    """`a`, `b`, `tie_good`, `tie_bad`, `abstain` or `failed`, turned back to models a and b."""
    own_answer: str | None = None
    """The judge's own answer, written before comparing; absent under contract 1."""
    analyses: dict[Standard, str] | None = None
    """A text by each standard that was asked for, such as `accuracy`, verbatim, in the judge's
    seating."""
    standards: dict[Standard, Choice] | None = None
    """The same standards to `a`, `b` or `tie`, turned back; one the judge left open is absent. Not
    under contract 1."""
    reason: str | None = None
    """Why there is no verdict."""
    left_out: ClassVar[tuple[str, ...]] = ("own_answer", "standards")


class Battle(Sparse):
    """One settled slot, with everything that decided it. Holds no clock, cost, path or call key."""

    left_out: ClassVar[tuple[str, ...]] = ("borrowed", "language")
    schema_version: int = Field(default=SCHEMA, alias="schema", serialization_alias="schema")
    """Version of this shape."""
    id: Name
    """`VIDEO-pPERSONA-rROUND`, also the slot's; `~G` after it: played in place of a battle whose
    call failed; `+G`: a newcomer met a stored answer (G: generation of its slots)."""
    video: Name
    """First 12 hex digits of the file's sha256."""
    duration_s: float = Field(ge=0)
    """Of the video."""
    category: Name | None
    """One of eleven, or of the list that `videos.csv` names; `unknown` if the examiner named none
    of them; null if the video was never examined."""
    persona: int
    """1 close to the content, 2 less close, 3 unrelated; of [a user that was brought](#a-user)
    without an index its place alone."""
    persona_text: str | None
    """The user in words; null if none was invented."""
    round: int
    """From 0."""
    origin: Origin | None
    """`first`, `evolved` or `fresh`; null without a question."""
    question: str | None
    """As put to both; null likewise."""
    aimed_at: tuple[Name, Name] | None
    """Of an evolved question: the two models whose faults it was made from."""
    difficulty: float | None
    """Of an evolved question: its overall grade."""
    model_a: Name | None
    """Name in the roster; null if no model was drawn."""
    model_b: Name | None
    """Likewise."""
    answer_a: str | None
    """Null for a forfeit."""
    answer_b: str | None
    """Likewise."""
    frames_a: tuple[float, ...]
    """Times of the frames that it was sent."""
    frames_b: tuple[float, ...]
    """Likewise."""
    verdict: Verdict
    """`a`, `b`, `tie`, `tie_good`, `tie_bad`, `split`, `void`, `forfeit_a`, `forfeit_b`;
    `forfeit_a`: a gave no answer."""
    reason: str | None
    """Why it is void or forfeit."""
    verdicts: tuple[Judging, ...]
    """Every [judging](#a-judging)."""
    evolution: tuple[Evolution, ...]
    """The [attempts](#an-evolution) that led to this question; empty for a first one, or a fresh
    one that none came before."""
    prompts: dict[str, str]
    """Role to digest of its prompt file."""
    propensity: float | None
    """Probability of this unordered pair when drawn, in whole millionths; null where pairs are
    dealt."""
    basis: int | None
    """Latest wave, from 0, whose results that used; null in the first two waves and without
    `mix`."""
    borrowed: Borrowed | None = None
    """Only where a newcomer met a stored answer (`arena add`): the source `battle`, and the
    answer's `seat` there and here. Question, user, `origin` and `aimed_at` are the source's;
    `propensity` is that of the rival among the answers available."""
    language: Name | None = None
    """Only where the run draws languages: the code (ISO 639-1) of the one that was asked in."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)
